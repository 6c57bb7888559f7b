/* unschedulable.c - a worker's devices are those of its last hello; a worker without hello may have any. */
#include "flopwatchd/schedule/internal.h"

#include <stdio.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/plan/plan.h"
#include "flopwatchd/session/session.h"
#include "lib/lib.h"

enum { TEXT_BYTES = 1 << 20, WANT_SIZE = 512 };

struct headline {
	worker_unschedulable_fn *each;
	void *to;
};

static void write_devices(struct jsonw *j, const struct slot *s)
{
	enum device_kind kind = claim_kind(s->worker, &s->hello);
	for (int i = 0; i < s->hello.n_devices; i++)
		if (s->hello.device[i].kind == kind && claim_wants(s->worker, &s->hello.device[i]))
			jsonw_string(j, s->hello.device[i].uuid);
}

/* State of a slot whose devices are unknown now; NULL they are known. */
static const char *get_state(const struct slot *s)
{
	if (slot_is_down(s))
		return "down";
	if (config_worker_is_slurm(s->worker))
		return "on call";
	return s->has_hello ? NULL : "starting";
}

static void write_worker(struct jsonw *j, const struct slot *s)
{
	jsonw_object(j);
	jsonw_kv_string(j, "name", s->worker->name);
	jsonw_kv_string(j, "kind", device_kind_name(s->worker->device));
	jsonw_kv_string(j, "how", get_state(s));
	jsonw_object_end(j);
}

static void write_want(char want[WANT_SIZE], const struct find_unschedulable *row)
{
	if (*row->uuid)
		snprintf(want, WANT_SIZE, "device %s", row->uuid);
	else if (*row->model)
		snprintf(want, WANT_SIZE, "a device of the class %.150s%s%.100s%s%.150s", row->model,
			*row->driver ? ", driver " : "", row->driver, *row->toolkit ? ", " : "", row->toolkit);
	else if (*row->kind)
		snprintf(want, WANT_SIZE, "a device of kind %s", row->kind);
	else
		snprintf(want, WANT_SIZE, "a device");
}

static void report_job(void *arg, const struct find_unschedulable *row)
{
	struct headline *t = arg;
	char want[WANT_SIZE], why[2 * WANT_SIZE];
	write_want(want, row);
	if (*row->down)
		snprintf(why, sizeof why,
			"waits for %s, and worker %s, which may have it, is down: `flopwatch doctor` shows the cause (see "
			"doc/troubleshooting.md#no-device)",
			want, row->down);
	else
		snprintf(why, sizeof why,
			"waits for %s, which no worker has: add one that does to `workers`, or cancel the job (see "
			"doc/troubleshooting.md#no-device)",
			want);
	t->each(t->to, row->job, why);
}

int unschedulable_each(const struct slot_host *host, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err)
{
	struct headline t = { each, to };
	struct buf devices, workers;
	struct jsonw d, w;
	const struct slot *s;
	buf_init(&devices, TEXT_BYTES);
	buf_init(&workers, TEXT_BYTES);
	jsonw_init(&d, &devices);
	jsonw_init(&w, &workers);
	jsonw_array(&d);
	jsonw_array(&w);
	for (int i = 0; (s = host->nth_slot(host->arg, i)); i++) {
		if (s->worker->builds)
			continue;
		if (get_state(s))
			write_worker(&w, s);
		else
			write_devices(&d, s);
	}
	jsonw_array_end(&d);
	jsonw_array_end(&w);
	int result = find_unschedulable(host->txn->db, devices.data, workers.data, job, report_job, &t, err);
	buf_fini(&devices);
	buf_fini(&workers);
	return result;
}
