#include "flopwatchd/session/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	LOOK_FIRST_MS = 250,
	LOOK_MS = 3000,
	SEARCH_MS = 30000,
	REQUEST_MS = 30000,
	LIST_MAX = 16 << 20,
	GHOSTS_MAX = 64,
	PREFIX_SIZE = 40
};

/* The name comes last: names of other users' jobs may contain any text. */
#define COLUMNS "--format=%i|%T|%r|%j"

struct slurm {
	struct executors *all;
	const struct config_worker *worker;
	char prefix[PREFIX_SIZE]; /* prefix of all names that this daemon gives for this worker, also after a restart */
	unsigned run;             /* of the daemon */
	struct loop_source *timer, *search_timer;
	struct child *asking;
	bool searches; /* for allocations without an owner */
};

bool slurm_row_read(char *line, struct slurm_row *out)
{
	out->id = strsep(&line, "|");
	out->state = line ? strsep(&line, "|") : NULL;
	out->reason = line ? strsep(&line, "|") : NULL;
	out->name = line;
	return out->name && out->id[0];
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

static bool is_waiting(const struct slurm *s, const struct executor *e)
{
	return e->worker == s->worker && e->hooks && !e->runs;
}

static bool has_waiting(const struct slurm *s)
{
	for (const struct executor *e = s->all->first; e; e = e->next)
		if (is_waiting(s, e))
			return true;
	return false;
}

static void schedule_next(struct slurm *s)
{
	if (s->searches || has_waiting(s))
		schedule_query(s, LOOK_MS);
}

static void report_to_all(struct slurm *s, const char *reason)
{
	const struct executor_wait wait = { .id = "", .reason = reason };
	for (struct executor *e = s->all->first; e; e = e->next)
		if (is_waiting(s, e))
			e->hooks->pending(e->arg, &wait);
}

static void on_waiting(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct slurm *s = arg;
	struct slurm_row row;
	char *rest = out->data, *line;
	int position = 0;
	s->asking = NULL;
	if (failed)
		report_to_all(s, failed->text);
	while (!failed && rest && (line = strsep(&rest, "\n"))) {
		if (!slurm_row_read(line, &row))
			continue;
		position++;
		bool is_looked_at = strcmp(row.reason, "None") != 0;
		const struct executor_wait wait = { row.id, is_looked_at ? row.reason : "", position };
		for (struct executor *e = s->all->first; e; e = e->next)
			if (is_waiting(s, e) && !strcmp(e->name, row.name))
				e->hooks->pending(e->arg, &wait);
	}
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

static bool has_owner(const struct slurm *s, const char *name)
{
	for (const struct executor *e = s->all->first; e; e = e->next)
		if (!strcmp(e->name, name) && e->child)
			return true;
	return false;
}

static void on_cancelled(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct slurm *s = arg;
	(void)out;
	s->asking = NULL;
	if (failed)
		log_warning("slurm.cancel", "worker=%s err=%s", s->worker->name, log_quote(failed->text));
	schedule_next(s); /* check that they are gone */
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
		if (!slurm_row_read(line, &row) || strncmp(row.name, s->prefix, strlen(s->prefix)) != 0 || has_owner(s, row.name))
			continue;
		log_info("slurm.cancel", "worker=%s id=%s name=%s state=%s", s->worker->name, log_quote(row.id), row.name,
			row.state);
		args[++n] = row.id;
	}
	if (failed)
		report_to_all(s, failed->text);
	else if (n == 0)
		s->searches = false;
	else if (run_query(s, "scancel", args, on_cancelled, &err) == 0)
		return;
	if (has_waiting(s))
		schedule_query(s, LOOK_FIRST_MS);
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
	int result = s->searches ? query_own_allocations(s, &err) : has_waiting(s) ? query_pending(s, &err) : 0;
	if (result == 0)
		return;
	report_to_all(s, err.text);
	schedule_next(s);
}

void slurm_look(struct slurm *s)
{
	schedule_query(s, LOOK_FIRST_MS);
}

void slurm_search(struct slurm *s)
{
	s->searches = true;
	schedule_query(s, LOOK_FIRST_MS);
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
	struct hash_state h;
	char host[64] = "", sum[HASH_HEX];
	struct slurm *s = mem_alloc_zero(1, sizeof *s);
	s->all = x;
	s->worker = w;
	gethostname(host, sizeof host - 1);
	hash_begin(&h);
	hash_update(&h, host, strlen(host) + 1);
	hash_update(&h, x->config->state_dir, strlen(x->config->state_dir) + 1);
	hash_update(&h, w->name, strlen(w->name) + 1);
	hash_end(&h, sum);
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
	child_cancel(s->asking);
	free(s);
}
