#include "flopwatchd/session/internal.h"

#include <ctype.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	QUERY_FIRST_MS = 250,
	QUERY_INTERVAL_MS = 3000,
	QUERY_INTERVAL_MAX_MS = 30000, /* between queries while they fail */
	CANCEL_MOST_MS = 300000,
	SEARCH_MS = 30000,
	REQUEST_MS = 30000,
	LIST_MAX = 16 << 20,
	GHOSTS_MAX = 64,
	MISSING_MAX = 3,          /* lists without a request that the controller had: it has lost it */
	MISSING_MAX_UNSEEN = 200, /* ten minutes of lists without a request that it never had: a plugin may rename it */
	PREFIX_SIZE = 40
};

/* The name comes last: names of other users' jobs may contain any text. */
#define COLUMNS "--format=%i|%T|%r|%j"

struct slurm {
	struct executors *all;
	const struct config_worker *worker;
	char prefix[PREFIX_SIZE]; /* prefix of all names that this daemon gives for this worker, also after a restart */
	unsigned run;             /* of the daemon */
	struct loop_source *timer, *search_timer, *cancel_timer; /* cancel_timer: nothing is cancelled before it */
	struct child *asking;
	int n_queries_failed, n_cancels_failed; /* consecutive ones */
	bool searches;                          /* for allocations without an owner */
};

bool slurm_row_read(char *line, struct slurm_row *out)
{
	out->id = strsep(&line, "|");
	out->state = line ? strsep(&line, "|") : NULL;
	out->reason = line ? strsep(&line, "|") : NULL;
	out->name = line;
	/* a line end in another user's job name begins a row of that user's choice, whose id becomes an argument */
	return out->name && isdigit((unsigned char)out->id[0]) && out->id[strspn(out->id, "0123456789_+[]-,%")] == '\0';
}

void slurm_name(const struct slurm *s, unsigned n, char name[EXECUTOR_NAME_SIZE])
{
	snprintf(name, EXECUTOR_NAME_SIZE, "%s%08x-%u", s->prefix, s->run, n);
}

static void on_timer(void *arg);

static void schedule_query(struct slurm *s, int64_t delay_ms)
{
	if (!s->timer && !s->asking)
		loop_after(s->all->loop, delay_ms, on_timer, s, &s->timer);
}

static int run_query(struct slurm *s, const char *program, const char *const *args, child_fn *fn, struct fw_err *err)
{
	const char *env[CONNECT_ENV_MAX];
	char text[CONNECT_ENV_MAX][CONNECT_ENV_TEXT];
	connect_environment(env, text);
	struct child_spec spec = {
		.program = program, .args = args, .env = env, .out_fd = -1, .out_max = LIST_MAX, .deadline_ms = REQUEST_MS
	};
	return child_start(s->all->loop, &spec, fn, s, &s->asking, err);
}

static void schedule_next(struct slurm *s)
{
	if (s->searches || executors_have_waiting(s->all, s->worker))
		schedule_query(s, executors_pause_ms(QUERY_INTERVAL_MS, s->n_queries_failed, QUERY_INTERVAL_MAX_MS));
}

static void note_query(struct slurm *s, const struct fw_err *failed)
{
	s->n_queries_failed = failed ? s->n_queries_failed + 1 : 0;
	if (failed)
		executors_report(s->all, s->worker, failed->text);
}

/* True if a request is not pending: its allocation may be starting, srun may be slow, or the controller has lost it. */
static bool has_missing(const struct slurm *s)
{
	for (const struct executor *e = s->all->first; e; e = e->next)
		if (executor_waits(e, s->worker) && e->n_missing > !e->is_listed)
			return true;
	return false;
}

/*
 * An srun whose request the controller has lost, e.g. with its state, waits for ever. End it, so that the slot requests again.
 * Call it after `n_missing` was set to 0 for each request in a complete list.
 */
static void end_lost(struct slurm *s)
{
	for (struct executor *e = s->all->first; e; e = e->next)
		if (executor_waits(e, s->worker) && e->n_missing >= (e->is_listed ? MISSING_MAX : MISSING_MAX_UNSEEN))
			executor_end_lost(e, "Slurm no longer has the request (slurmctld may have lost its state)");
}

static void on_waiting(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct slurm *s = arg;
	struct slurm_row row;
	char *rest = out->data, *line;
	int position = 0;
	s->asking = NULL;
	note_query(s, failed);
	for (struct executor *e = s->all->first; e && !failed; e = e->next)
		if (executor_waits(e, s->worker))
			e->n_missing++;
	while (!failed && rest && (line = strsep(&rest, "\n"))) {
		if (!slurm_row_read(line, &row))
			continue;
		position++;
		bool is_looked_at = strcmp(row.reason, "None") != 0;
		const struct executor_wait wait = { row.id, is_looked_at ? row.reason : "", position };
		for (struct executor *e = s->all->first; e; e = e->next)
			if (executor_waits(e, s->worker) && !strcmp(e->name, row.name)) {
				e->is_listed = true;
				e->n_missing = 0;
				e->hooks->pending(e->arg, &wait);
			}
	}
	s->searches = s->searches || has_missing(s);
	end_lost(s);
	schedule_next(s);
}

static int query_pending(struct slurm *s, struct fw_err *err)
{
	char partition[160];
	snprintf(partition, sizeof partition, "--partition=%s", s->worker->slurm.partition);
	/* the whole partition in the order of the queue: the position is a line number */
	const char *args[] = { "--noheader", "--states=PENDING", "--sort=-p,i", COLUMNS,
		s->worker->slurm.partition[0] ? partition : NULL, NULL };
	return run_query(s, "squeue", args, on_waiting, err);
}

static void cancel_again(void *arg)
{
	struct slurm *s = arg;
	s->cancel_timer = NULL;
	slurm_search(s);
}

/* Allocations that could not be cancelled stay until a later attempt; queries for waiting submissions go on. */
static void postpone_cancel(struct slurm *s, const char *why)
{
	int64_t pause_ms = executors_pause_ms(QUERY_INTERVAL_MS, ++s->n_cancels_failed, CANCEL_MOST_MS);
	log_warning("slurm.cancel", "worker=%s again_s=%lld err=%s", s->worker->name, (long long)pause_ms / 1000, log_quote(why));
	s->searches = false;
	loop_after(s->all->loop, pause_ms, cancel_again, s, &s->cancel_timer);
}

static void on_cancelled(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct slurm *s = arg;
	(void)out;
	s->asking = NULL;
	if (failed)
		postpone_cancel(s, failed->text);
	else
		s->n_cancels_failed = 0;
	schedule_next(s); /* check that they are gone */
}

/* A request that is no longer pending, since its allocation is starting, is not missing. */
static void note_starting(struct slurm *s, const char *name)
{
	for (struct executor *e = s->all->first; e && name; e = e->next)
		if (executor_waits(e, s->worker) && !strcmp(e->name, name)) {
			e->is_listed = true;
			e->n_missing = 0;
		}
}

static void on_own_allocations(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct slurm *s = arg;
	struct fw_err err = { 0 };
	struct slurm_row row;
	const char *args[GHOSTS_MAX + 2] = { "--quiet" };
	char *rest = out->data, *line;
	int n = 0;
	s->asking = NULL;
	while (!failed && rest && n < GHOSTS_MAX && (line = strsep(&rest, "\n"))) {
		if (!slurm_row_read(line, &row))
			continue;
		const struct executor *owner = executors_find(s->all, row.name);
		if (strncmp(row.name, s->prefix, strlen(s->prefix)) != 0 || (owner && owner->child)) {
			note_starting(s, row.name);
			continue;
		}
		if (s->cancel_timer)
			continue;
		log_info("slurm.cancel", "worker=%s id=%s name=%s state=%s", s->worker->name, log_quote(row.id),
			log_quote(row.name), log_quote(row.state));
		args[++n] = row.id;
	}
	note_query(s, failed);
	if (n && run_query(s, "scancel", args, on_cancelled, &err) == 0)
		return;
	if (n)
		postpone_cancel(s, err.text);
	s->searches = s->searches && failed;
	if (!failed && executors_have_waiting(s->all, s->worker))
		schedule_query(s, QUERY_FIRST_MS);
	else
		schedule_next(s);
}

static int query_own_allocations(struct slurm *s, struct fw_err *err)
{
	static const char *const args[] = { "--noheader", "--me", "--states=PENDING,CONFIGURING,RUNNING,SUSPENDED", COLUMNS,
		NULL };
	return run_query(s, "squeue", args, on_own_allocations, err);
}

static void on_timer(void *arg)
{
	struct slurm *s = arg;
	struct fw_err err = { 0 };
	s->timer = NULL;
	int result = s->searches                                 ? query_own_allocations(s, &err)
		     : executors_have_waiting(s->all, s->worker) ? query_pending(s, &err)
								 : 0;
	if (result == 0)
		return;
	note_query(s, &err);
	schedule_next(s);
}

void slurm_poll(struct slurm *s)
{
	schedule_query(s, QUERY_FIRST_MS);
}

void slurm_search(struct slurm *s)
{
	s->searches = true;
	schedule_query(s, QUERY_FIRST_MS);
}

/* A controller that lost its state may restore cancelled allocations. */
static void search_periodically(void *arg)
{
	struct slurm *s = arg;
	s->search_timer = NULL;
	slurm_search(s);
	loop_after(s->all->loop, SEARCH_MS, search_periodically, s, &s->search_timer);
}

void slurm_new(struct executors *x, const struct config_worker *w, struct slurm **out)
{
	char sum[HASH_HEX];
	struct slurm *s = mem_alloc_zero(1, sizeof *s);
	s->all = x;
	s->worker = w;
	executors_hash(x, w, sum);
	snprintf(s->prefix, sizeof s->prefix, "flopwatch-%.12s-", sum);
	if (getrandom(&s->run, sizeof s->run, GRND_NONBLOCK) != sizeof s->run)
		s->run = (unsigned)getpid();
	*out = s;
	search_periodically(s);
}

void slurm_free(struct slurm *s)
{
	if (!s)
		return;
	loop_remove(s->all->loop, s->timer);
	loop_remove(s->all->loop, s->search_timer);
	loop_remove(s->all->loop, s->cancel_timer);
	child_cancel(s->asking);
	free(s);
}
