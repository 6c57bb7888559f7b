/*
 * pods.c - the pods of a Kubernetes worker: create one, list those of this daemon, delete those without an owner. One list serves
 * all submissions. A pod's first process holds the pod and its devices while the worker runs in it (see pod_manifest.c).
 */
#include "flopwatchd/session/internal.h"

#include <jansson.h>
#include <sys/random.h>
#include <unistd.h>

enum {
	LIST_FIRST_MS = 250,
	LIST_MS = 3000,
	LIST_MOST_MS = 30000, /* between lists while they fail */
	SEARCH_MS = 300000,   /* also the most between deletions while they fail */
	REQUEST_MS = 30000,
	WHY_MS = 4000, /* less than a session's grace */
	STOP_MS = 5000,
	LIST_MAX = 16 << 20,
	GHOSTS_MAX = 64,
	SEARCHES = 3,
	MISSING_MAX = 3, /* lists without a pod that was created: it was deleted */
	OWNER_SIZE = 32
};

struct pods {
	struct executors *all;
	const struct config_worker *worker;
	char owner[OWNER_SIZE]; /* label of all pods of this daemon and worker, also after a restart */
	unsigned run;           /* of the daemon */
	struct loop_source *timer, *search_timer, *delete_timer; /* delete_timer: no pod is deleted before it */
	struct child *asking;
	int n_lists_failed, n_deletions_failed; /* consecutive ones */
	int searches; /* lists that are still to be read for pods without an owner: one whose creation was cancelled may come later */
};

/* Reasons of a container that waits for a change of its image or its configuration: its pod would hold devices meanwhile. */
static bool is_hopeless(const char *reason)
{
	static const char *const all[] = { "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName",
		"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff" };
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		if (!strcmp(reason, all[i]))
			return true;
	return false;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* Set "REASON: MESSAGE" from the two members, on one line. */
static void set_reason(struct pod *p, const json_t *of)
{
	const char *reason = text_of(of, "reason"), *message = text_of(of, "message");
	snprintf(p->reason, sizeof p->reason, "%s%s%s", reason, *reason && *message ? ": " : "", message);
	for (char *c = p->reason; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
}

static const json_t *find_condition(const json_t *status, const char *type, const char *value)
{
	const json_t *conditions = json_object_get(status, "conditions"), *one;
	size_t i;
	json_array_foreach(
		conditions, i, one) if (!strcmp(text_of(one, "type"), type) && !strcmp(text_of(one, "status"), value)) return one;
	return NULL;
}

/* The state of the worker's container; others may be in the pod, and the list is in the order of names. */
static const json_t *find_state(const json_t *status)
{
	const json_t *all = json_object_get(status, "containerStatuses"), *one;
	size_t i;
	json_array_foreach(all, i, one) if (!strcmp(text_of(one, "name"), PODS_CONTAINER)) return json_object_get(one, "state");
	return NULL;
}

/* The image is being fetched or the container made, as for every pod. */
static bool is_starting(const char *reason)
{
	return !strcmp(reason, "ContainerCreating") || !strcmp(reason, "PodInitializing");
}

bool pod_read(const json_t *item, struct pod *out)
{
	const json_t *meta = json_object_get(item, "metadata"), *status = json_object_get(item, "status");
	const json_t *state = find_state(status);
	const json_t *waiting = json_object_get(state, "waiting"), *terminated = json_object_get(state, "terminated");
	const json_t *unscheduled = find_condition(status, "PodScheduled", "False");
	const json_t *disrupted = find_condition(status, "DisruptionTarget", "True");
	const char *phase = text_of(status, "phase");
	*out = (struct pod){ .name = text_of(meta, "name"), .is_leaving = json_object_get(meta, "deletionTimestamp") != NULL };
	set_reason(out, status);
	if (disrupted)
		set_reason(out, disrupted);
	else if (!out->reason[0] && terminated)
		set_reason(out, terminated);
	else if (!out->reason[0] && waiting && !is_starting(text_of(waiting, "reason")))
		set_reason(out, waiting);
	else if (!out->reason[0] && unscheduled)
		set_reason(out, unscheduled);
	if (out->is_leaving && !out->reason[0])
		snprintf(out->reason, sizeof out->reason, "the pod was deleted");
	if (out->is_leaving || !strcmp(phase, "Failed") || !strcmp(phase, "Succeeded") || terminated ||
		is_hopeless(text_of(waiting, "reason")))
		out->step = POD_ENDED;
	else if (json_object_get(state, "running"))
		out->step = POD_RUNS;
	if (out->step == POD_ENDED && !out->reason[0])
		snprintf(out->reason, sizeof out->reason, "the pod ended");
	return out->name[0];
}

void pods_name(const struct pods *s, unsigned n, char name[EXECUTOR_NAME_SIZE])
{
	snprintf(name, EXECUTOR_NAME_SIZE, "%s-%08x-%u", s->owner, s->run, n);
}

/* ---- requests by kubectl ---- */

enum { WORDS_MAX = GHOSTS_MAX + 16 };

struct words {
	const char *argv[WORDS_MAX];
	char namespace[160], context[160], label[64];
	int n;
};

static void add_words(struct words *w, const char *const *words)
{
	for (int i = 0; words[i] && w->n < WORDS_MAX - 1; i++)
		w->argv[w->n++] = words[i];
	w->argv[w->n] = NULL;
}

/* The words after the program's name. Borrows `words`. */
static void begin_words(struct words *w, const struct pods *s, const char *const *words)
{
	const struct config_kubernetes *k = &s->worker->kubernetes;
	w->n = 0;
	snprintf(w->label, sizeof w->label, "--selector=" PODS_OWNER_LABEL "=%s", s->owner);
	snprintf(w->namespace, sizeof w->namespace, "--namespace=%s", k->namespace);
	snprintf(w->context, sizeof w->context, "--context=%s", k->context);
	add_words(w, (const char *const[]){ w->namespace, "--request-timeout=20s", k->context[0] ? w->context : NULL, NULL });
	add_words(w, words);
}

static int request(const struct pods *s, const struct words *w, const struct buf *in, int64_t deadline_ms, child_fn *fn,
	void *arg, struct child **out, struct fw_err *err)
{
	const char *env[CONNECT_ENV_MAX];
	char text[CONNECT_ENV_MAX][CONNECT_ENV_TEXT];
	connect_environment(env, text);
	struct child_spec spec = { .program = "kubectl",
		.args = w->argv,
		.env = env,
		.in = in,
		.out_fd = -1,
		.out_max = LIST_MAX,
		.writes_files = true, /* its cache of the server's resources */
		.deadline_ms = deadline_ms };
	return child_start(s->all->loop, &spec, fn, arg, out, err);
}

/* ---- create ---- */

static void on_created(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct executor *e = arg;
	(void)out;
	e->creating = NULL;
	if (failed && !e->runs) { /* the server may have made the pod before the answer was lost */
		executor_end_lost(e, failed->text);
		return;
	}
	e->is_listed = true;
	pods_poll(e->all->pods[e->worker - e->all->config->worker]);
}

int pods_create(struct pods *s, struct executor *e, const char *node, struct fw_err *err)
{
	struct words w;
	struct buf manifest;
	buf_init(&manifest, 1 << 20);
	begin_words(&w, s, (const char *const[]){ "create", "--validate=false", "--output=name", "--filename=-", NULL });
	int result = pods_manifest(&s->worker->kubernetes, s->owner, e->name, node, &manifest, err);
	if (result == 0)
		result = request(s, &w, &manifest, REQUEST_MS, on_created, e, &e->creating, err);
	buf_fini(&manifest);
	return result;
}

/* ---- the list ---- */

static void on_timer(void *arg);

static void schedule_list(struct pods *s, int64_t delay_ms)
{
	if (!s->timer && !s->asking)
		loop_after(s->all->loop, delay_ms, on_timer, s, &s->timer);
}

static void schedule_next(struct pods *s)
{
	if (s->searches || executors_have_waiting(s->all, s->worker))
		schedule_list(s, executors_pause_ms(LIST_MS, s->n_lists_failed, LIST_MOST_MS));
}

static void delete_again(void *arg)
{
	struct pods *s = arg;
	s->delete_timer = NULL;
	pods_search(s);
}

/* Pods whose deletion failed stay until a later one; lists for waiting submissions go on. */
static void postpone_deletion(struct pods *s, const char *why)
{
	int64_t pause_ms = executors_pause_ms(LIST_MS, ++s->n_deletions_failed, SEARCH_MS);
	log_warning("pod.delete", "worker=%s again_s=%lld err=%s", s->worker->name, (long long)pause_ms / 1000, log_quote(why));
	s->searches = 0;
	loop_after(s->all->loop, pause_ms, delete_again, s, &s->delete_timer);
}

static void on_deleted(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct pods *s = arg;
	(void)out;
	s->asking = NULL;
	if (failed)
		postpone_deletion(s, failed->text);
	else
		s->n_deletions_failed = 0;
	schedule_next(s); /* check that they are gone */
}

/* Update a submission from its pod. */
static void update(struct executor *e, const struct pod *p)
{
	const struct executor_wait wait = { p->name, p->reason, 0 };
	e->is_listed = true;
	e->n_missing = 0;
	if (p->step == POD_ENDED)
		executor_end_lost(e, p->reason);
	else if (p->step == POD_RUNS)
		executor_start(e);
	else
		e->hooks->pending(e->arg, &wait);
}

/* A pod that a user has deleted is in no list. */
static void end_missing(struct pods *s)
{
	for (struct executor *e = s->all->first, *next; e; e = next) {
		next = e->next;
		if (executor_waits(e, s->worker) && e->is_listed && ++e->n_missing > MISSING_MAX)
			executor_end_lost(e, "the pod was deleted");
	}
}

static void delete_ghosts(struct pods *s, const json_t *items)
{
	struct words w;
	struct fw_err err = { 0 };
	const json_t *item;
	struct pod p;
	size_t i;
	int n = 0;
	begin_words(&w, s, (const char *const[]){ "delete", "pods", "--wait=false", "--ignore-not-found", NULL });
	json_array_foreach(items, i, item)
	{
		if (n == GHOSTS_MAX || !pod_read(item, &p) || p.is_leaving || executors_find(s->all, p.name))
			continue;
		log_info("pod.delete", "worker=%s pod=%s", s->worker->name, log_quote(p.name));
		add_words(&w, (const char *const[]){ p.name, NULL });
		n++;
	}
	if (n && request(s, &w, NULL, REQUEST_MS, on_deleted, s, &s->asking, &err) != 0)
		postpone_deletion(s, err.text);
}

static void on_list(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct pods *s = arg;
	struct pod p;
	size_t i;
	const json_t *item;
	json_t *root = failed ? NULL : json_loadb(out->data ? out->data : "", out->len, 0, NULL);
	const json_t *items = json_object_get(root, "items");
	s->asking = NULL;
	if (!json_is_array(items)) {
		s->n_lists_failed++;
		executors_report(s->all, s->worker, failed ? failed->text : "kubectl printed no list of pods");
		json_decref(root);
		schedule_next(s);
		return;
	}
	s->n_lists_failed = 0;
	end_missing(s);
	json_array_foreach(items, i, item)
	{
		struct executor *e = pod_read(item, &p) ? executors_find(s->all, p.name) : NULL;
		if (e && executor_waits(e, s->worker))
			update(e, &p);
	}
	if (s->searches > 0)
		s->searches--;
	if (!s->delete_timer)
		delete_ghosts(s, items);
	json_decref(root);
	schedule_next(s);
}

static void on_timer(void *arg)
{
	struct pods *s = arg;
	struct words w;
	struct fw_err err = { 0 };
	s->timer = NULL;
	if (!s->searches && !executors_have_waiting(s->all, s->worker))
		return;
	begin_words(&w, s, (const char *const[]){ "get", "pods", w.label, "--output=json", NULL });
	if (request(s, &w, NULL, REQUEST_MS, on_list, s, &s->asking, &err) == 0)
		return;
	s->n_lists_failed++;
	executors_report(s->all, s->worker, err.text);
	schedule_next(s);
}

void pods_poll(struct pods *s)
{
	schedule_list(s, LIST_FIRST_MS);
}

void pods_search(struct pods *s)
{
	s->searches = SEARCHES;
	schedule_list(s, LIST_FIRST_MS);
}

/* ---- why a worker ended ---- */

static void on_why(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct executor *e = arg;
	struct pod p;
	json_t *item = failed ? NULL : json_loadb(out->data ? out->data : "", out->len, 0, NULL);
	e->asking = NULL;
	if (failed)
		executor_report_line(e, strstr(failed->text, "(NotFound)") ? "the pod was deleted" : failed->text);
	else if (pod_read(item, &p) && p.step == POD_ENDED)
		executor_report_line(e, p.reason);
	json_decref(item);
	executor_report_end(e);
}

int pods_query_reason(struct pods *s, struct executor *e, struct fw_err *err)
{
	struct words w;
	begin_words(&w, s, (const char *const[]){ "get", "pod", e->name, "--output=json", NULL });
	return request(s, &w, NULL, WHY_MS, on_why, e, &e->asking, err);
}

/* ---- begin and end ---- */

static void search_periodically(void *arg)
{
	struct pods *s = arg;
	s->search_timer = NULL;
	pods_search(s);
	loop_after(s->all->loop, SEARCH_MS, search_periodically, s, &s->search_timer);
}

void pods_new(struct executors *x, const struct config_worker *w, struct pods **out)
{
	struct pods *s = mem_alloc_zero(1, sizeof *s);
	char sum[HASH_HEX];
	s->all = x;
	s->worker = w;
	executors_hash(x, w, sum);
	snprintf(s->owner, sizeof s->owner, "flopwatch-%.12s", sum);
	if (getrandom(&s->run, sizeof s->run, GRND_NONBLOCK) != sizeof s->run)
		s->run = (unsigned)getpid();
	*out = s;
	search_periodically(s);
}

void pods_delete_all(struct pods *s)
{
	struct words w;
	const char *env[CONNECT_ENV_MAX];
	char text[CONNECT_ENV_MAX][CONNECT_ENV_TEXT];
	struct proc_exit how = { 0 };
	struct fw_err err = { 0 };
	connect_environment(env, text);
	begin_words(&w, s, (const char *const[]){ "delete", "pods", w.label, "--wait=false", NULL });
	const char *argv[WORDS_MAX + 1] = { "kubectl" };
	memcpy(argv + 1, w.argv, (size_t)(w.n + 1) * sizeof w.argv[0]);
	struct proc_spec spec = { .argv = argv, .env = env };
	if (proc_run(&spec, NULL, NULL, NULL, STOP_MS, &how, &err) != 0 || how.status != 0)
		log_warning("pod.delete", "worker=%s err=\"the next start deletes its pods\"", s->worker->name);
}

void pods_free(struct pods *s)
{
	if (!s)
		return;
	loop_remove(s->all->loop, s->timer);
	loop_remove(s->all->loop, s->search_timer);
	loop_remove(s->all->loop, s->delete_timer);
	child_cancel(s->asking);
	free(s);
}
