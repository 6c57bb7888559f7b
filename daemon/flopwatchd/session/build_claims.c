#include "flopwatchd/session/session.h"

#include <limits.h>

enum { BYTES_MAX = 1 << 20 };

/* 0 is no valid id; as first element it makes a test for the comma unnecessary. */
void build_claims_begin(struct buf *ids)
{
	buf_init(ids, BYTES_MAX);
	buf_puts(ids, "[0");
}

void build_claims_add(struct buf *ids, int64_t id)
{
	buf_printf(ids, ",%lld", (long long)id);
}

void build_claims_end(struct buf *ids)
{
	buf_putc(ids, ']');
}

/* True if slot `s`, unless it is down, measures jobs built for `w` or (`is_own` false) for another worker of its kind. */
static bool measures_builds_of(const struct slot *s, const struct config_worker *w, bool is_own)
{
	return s->worker->builds_separate && s->worker->device == w->device && !strcmp(s->worker->name, w->name) == is_own &&
	       !slot_is_down(s);
}

/* List the first jobs that a worker has built and that wait for its devices. Shape: out[most]. */
static int find_built(const struct slot_host *host, const struct config_worker *w, int most, struct store_job_position *out,
	int *n, struct fw_err *err)
{
	const struct store_cached_build_request request = { w->device, w->name, host->held(host->arg), "[]",
		STORE_CACHED_BUILD_THERE, 0 };
	return store_job_positions(host->txn->db, &request, most, out, n, err);
}

int build_claims_for(const struct slot_host *host, const struct config_worker *w, struct buf *ids, struct fw_err *err)
{
	struct store_job_position job[CONFIG_JOBS_MAX];
	const struct slot *s;
	int result = 0;
	for (int i = 0; result == 0 && (s = host->nth_slot(host->arg, i));) {
		const struct config_worker *of = s->worker;
		int n_slots = 0, n = 0;
		for (; s && s->worker == of; s = host->nth_slot(host->arg, ++i)) /* slots of one worker are adjacent */
			n_slots += measures_builds_of(s, w, false);
		if (n_slots)
			result = find_built(host, of, n_slots, job, &n, err);
		for (int k = 0; k < n; k++)
			build_claims_add(ids, job[k].id);
	}
	return result;
}

int build_claims_capacity(const struct slot_host *host, const struct config_worker *w, int *capacity, struct fw_err *err)
{
	struct store_job_position job[CONFIG_JOBS_MAX];
	const struct slot *s;
	int n_slots = 0, n_busy = 0, n_built = 0;
	bool is_alone = true;
	for (int i = 0; (s = host->nth_slot(host->arg, i)); i++) {
		is_alone = is_alone && !measures_builds_of(s, w, false);
		n_slots += measures_builds_of(s, w, true);
		n_busy += s->worker == w && s->job.id;
	}
	int result = is_alone ? 0 : find_built(host, w, n_slots, job, &n_built, err);
	*capacity = is_alone ? INT_MAX : n_slots > n_built + n_busy ? n_slots - n_built - n_busy : 0;
	return result;
}
