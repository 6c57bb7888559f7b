/* control.c - requests of HTTP clients: validation, rows, and the wake-up of the module that acts. */
#include "flopwatchd/internal.h"

#include <ctype.h>

#include "flopwatchd/alert/alert.h"
#include "flopwatchd/history/history.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/notify/notify.h"
#include "flopwatchd/record/record.h"
#include "flopwatchd/schedule/schedule.h"
#include "flopwatchd/watch/watch.h"

enum {
	PRIORITY_REQUESTED = 10,
	PRIORITY_AWAITED = 2, /* above profiles of alerts */
	ABBREVIATION_MIN = 7,
	COVERED_MAX = 64,
	RULE_MAX = 1 << 16
};

static int find_repo(struct control *c, const char *name, int64_t *id, struct fw_err *err)
{
	if (config_repo_find(c->config, name) < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no repository %.100s", name);
	int found = store_repo_find(c->db, name, id, err);
	if (found == 0)
		return err_set(err, ERR_NOT_FOUND, "repository %s was not read yet; try again in a moment", name);
	return found == 1 ? 0 : -1;
}

/* Find a commit by hash, branch or abbreviated hash. `branch` gets the branch's encoded name, "" for a hash. */
static int find_commit(struct control *c, int64_t repo, const char *text, char sha[65], char branch[1024], struct fw_err *err)
{
	struct fw_err why = { 0 };
	bool gone = false;
	branch[0] = 0;
	if (oid_is_whole(text)) {
		snprintf(sha, 65, "%s", text);
		return 0;
	}
	/* encoded as in the API, or as typed by a user */
	branch_key(text, branch);
	for (int i = 0; i < 2; i++) {
		if (i == 1 && gitread_encode(text, branch, 1024, err) != 0)
			return -1;
		if (store_tip_get(c->db, repo, branch, sha, &gone, &why) == 0 && !gone)
			return 0;
		if (why.code != ERR_NOT_FOUND && why.code != ERR_NONE)
			return err_set(err, why.code, "%s", why.text);
		err_clear(&why);
	}
	branch[0] = 0;
	int got = oid_is_prefix(text, ABBREVIATION_MIN) ? store_commit_abbreviated(c->db, repo, text, sha, err) : 0;
	if (got == 0)
		return err_set(err, ERR_NOT_FOUND,
			"there is no branch or known commit %.100s (see doc/troubleshooting.md#no-commit)", text);
	return got == 1 ? 0 : -1;
}

static int copy_text(const char *what, const char *text, char *out, size_t size, struct fw_err *err)
{
	for (const char *p = text ? text : ""; *p; p++)
		if (iscntrl((unsigned char)*p) || *p == '\\')
			return err_set(err, ERR_INVALID, "%s holds an invalid character", what);
	if (text && strlen(text) >= size)
		return err_set(err, ERR_INVALID, "%s is longer than %zu bytes", what, size - 1);
	snprintf(out, size, "%s", text ? text : "");
	return 0;
}

static int check_kind(const struct control *c, enum device_kind kind, struct fw_err *err)
{
	if (kind == DEVICE_ANY || queue_measures(c->queue, kind))
		return 0;
	return err_set(err, ERR_INVALID,
		"no worker of this daemon measures on %s, so the job would never run; see `workers` of its configuration",
		device_kind_name(kind));
}

static int read_config(const char *key, const char *text, char *out, size_t size, struct fw_err *err)
{
	for (const char *p = text ? text : ""; *p; p++)
		if (iscntrl((unsigned char)*p))
			return err_set(err, ERR_INVALID, "%s holds a control character", key);
	if (text && strlen(text) >= size)
		return err_set(err, ERR_INVALID, "%s is longer than %zu bytes", key, size - 1);
	snprintf(out, size, "%s", text ? text : "");
	return 0;
}

/* Without a base both sides are the same commit. */
static void add_base(struct store_job *job)
{
	if (job->base_sha[0])
		return;
	snprintf(job->base_sha, sizeof job->base_sha, "%s", job->target_sha);
	snprintf(job->base_how, sizeof job->base_how, "given");
	job->branch[0] = 0;
}

/* A configuration that a user requested belongs to no commit, and neither does its verdict. */
static int read_configs(const struct job_request *r, struct store_job *job, struct fw_err *err)
{
	if (read_config("base_config", r->base_config, job->base_config, sizeof job->base_config, err) != 0 ||
		read_config("target_config", r->target_config, job->target_config, sizeof job->target_config, err) != 0)
		return -1;
	if (!job->base_config[0] && !job->target_config[0])
		return 0;
	bool is_same = !strcmp(job->base_config, job->target_config) && !strcmp(job->base_provider, job->target_provider);
	if (!job->base_sha[0] && is_same)
		return err_set(err, ERR_INVALID,
			"both sides would be the same commit in the same configuration; give a base, or two configurations");
	add_base(job);
	job->kind = JOBKIND_CONFIG;
	return 0;
}

/* A request with a provider is separate from the branch's own comparison. */
static int read_providers(const struct job_request *r, struct store_job *job, struct fw_err *err)
{
	const char *const names[] = { r->base_provider ? r->base_provider : "", r->target_provider ? r->target_provider : "" };
	for (int i = 0; i < 2; i++)
		if (names[i][0] && !peers_is_provider(names[i]))
			return err_set(err, ERR_INVALID,
				"`%.60s` is not the name of a provider, such as cudnn: it has 1 to %d of A-Z a-z 0-9 _ - . : +",
				names[i], PEERS_PROVIDER_SIZE - 1);
	snprintf(job->base_provider, sizeof job->base_provider, "%s", names[0]);
	snprintf(job->target_provider, sizeof job->target_provider, "%s", names[1]);
	if (!strcmp(names[0], names[1]) && !names[0][0])
		return 0;
	bool has_config = (r->base_config && r->base_config[0]) || (r->target_config && r->target_config[0]);
	if (!job->base_sha[0] && !has_config && !strcmp(names[0], names[1]))
		return err_set(err, ERR_INVALID,
			"both sides would be the same commit with the same provider; give a base, or two providers");
	if (!has_config)
		add_base(job);
	if (strcmp(names[0], names[1]) != 0)
		job->kind = JOBKIND_PEER;
	return 0;
}

static int read_toolchain(
	const char *side, const char *dir, const char *flags, struct toolchain_override *out, struct fw_err *err)
{
	const char *wrong = toolchain_override_wrong_dir(dir ? dir : "");
	if (wrong)
		return err_set(err, ERR_INVALID, "%s_toolchain %.200s %s", side, dir, wrong);
	wrong = toolchain_override_wrong_flags(flags ? flags : "");
	if (wrong)
		return err_set(err, ERR_INVALID, "%s_flags %s", side, wrong);
	snprintf(out->dir, sizeof out->dir, "%s", dir ? dir : "");
	snprintf(out->flags, sizeof out->flags, "%s", flags ? flags : "");
	return 0;
}

/* The effect of a toolchain shows nothing about the commit. */
static int read_tools(const struct job_request *r, struct store_job *job, struct fw_err *err)
{
	if (read_toolchain("base", r->base_toolchain, r->base_flags, &job->base_tools, err) != 0 ||
		read_toolchain("target", r->target_toolchain, r->target_flags, &job->target_tools, err) != 0)
		return -1;
	if (toolchain_override_is_none(&job->base_tools) && toolchain_override_is_none(&job->target_tools))
		return 0;
	add_base(job);
	bool is_same = toolchain_override_is_same(&job->base_tools, &job->target_tools) &&
		       !strcmp(job->base_sha, job->target_sha) && job->kind == JOBKIND_COMPARE;
	if (is_same)
		return err_set(
			err, ERR_INVALID, "both sides would be the same build of the same commit; give two toolchains, or flags");
	if (job->kind == JOBKIND_COMPARE)
		job->kind = JOBKIND_ENVIRONMENT;
	return 0;
}

/* Write the name of a side in pages and messages. A full hash is no name. */
static void copy_name(const char *text, char out[STORE_JOB_NAME_SIZE])
{
	bool fits = !oid_is_prefix(text, 40) && strlen(text) < STORE_JOB_NAME_SIZE;
	snprintf(out, STORE_JOB_NAME_SIZE, "%s", fits ? text : "");
}

int control_read_request(struct control *c, const struct job_request *r, struct store_job *job, struct fw_err *err)
{
	char ignored[1024], kind[8];
	if (!r->repo || !r->repo[0] || !r->target || !r->target[0])
		return err_set(err, ERR_INVALID, "a job needs a repo and a target");
	if (find_repo(c, r->repo, &job->repo, err) != 0 ||
		find_commit(c, job->repo, r->target, job->target_sha, job->branch, err) != 0)
		return -1;
	copy_name(r->target, job->target_name);
	if (r->base && r->base[0]) {
		if (find_commit(c, job->repo, r->base, job->base_sha, ignored, err) != 0)
			return -1;
		copy_name(r->base, job->base_name);
		snprintf(job->base_how, sizeof job->base_how, "given");
		job->branch[0] = 0; /* a separate request, not part of the branch's history */
	}
	if (copy_text("suite", r->suite, job->suite, sizeof job->suite, err) != 0 ||
		copy_text("device_kind", r->device_kind, kind, sizeof kind, err) != 0 ||
		copy_text("cells", r->cells_glob, job->cells_glob, sizeof job->cells_glob, err) != 0)
		return -1;
	if (strchr(job->suite, '/') || job->suite[0] == '.')
		return err_set(err, ERR_INVALID, "suite %s is not a valid name; e.g. ffa", job->suite);
	job->device_kind = device_kind_from_name(kind);
	if (job->device_kind == DEVICE_KINDS)
		return err_set(err, ERR_INVALID, "device_kind %s is not one of cuda, cpu, sim", kind);
	if (check_kind(c, job->device_kind, err) != 0)
		return -1;
	job->quick = r->quick;
	return read_providers(r, job, err) != 0 || read_configs(r, job, err) != 0 ? -1 : read_tools(r, job, err);
}

int control_check_queue(struct control *c, int more, struct fw_err *err)
{
	int64_t waiting;
	if (store_job_waiting(c->db, &waiting, err) != 0)
		return -1;
	if (waiting + more <= c->config->queue_max)
		return 0;
	return err_set(err, ERR_FULL, "%lld jobs wait already, and the limit is %d (limits.queue)", (long long)waiting,
		(int)c->config->queue_max);
}

static int insert_job(struct control *c, struct store_job *job, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	int64_t now = clock_utc_ms();
	if (txn_begin(txn, err) != 0)
		return -1;
	int result = control_check_queue(c, 1, err);
	if (result == 0)
		result = store_job_insert(c->db, job, now, err);
	if (result == 0)
		result = store_job_report(txn->db, job, "job.queued", JOBSTATE_QUEUED, NULL, now, err);
	if (result == 0)
		result = store_job_log(c->db, job->id, now, "queued: requested by a user", err);
	if (txn_end(txn, result, err) != 0)
		return -1;
	log_info("job.queued", "job=%lld repo=%s commit=%s", (long long)job->id, log_quote(job->repo_name), job->target_sha);
	queue_wake(c->queue);
	return 0;
}

int control_enqueue(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err)
{
	struct store_job job = { .kind = JOBKIND_COMPARE, .origin = "api", .priority = PRIORITY_REQUESTED };
	if (control_read_request(c, request, &job, err) != 0 || insert_job(c, &job, err) != 0)
		return -1;
	*id = job.id;
	return 0;
}

int control_read_device(struct control *c, const char *text, struct store_job *job, struct fw_err *err)
{
	enum devicestate state;
	int64_t id;
	if (!text || !*text)
		return 0;
	enum device_kind kind = device_kind_from_name(text);
	if (kind != DEVICE_KINDS) {
		job->device_kind = kind;
		return check_kind(c, kind, err);
	}
	if (copy_text("device", text, job->device_uuid, sizeof job->device_uuid, err) != 0)
		return -1;
	return store_device_get(c->db, job->device_uuid, &id, &state, err);
}

int control_calibrate(struct control *c, const struct job_request *request, int runs, int64_t *jobs, struct fw_err *err)
{
	struct store_job parameters = { .origin = "api", .priority = PRIORITY_REQUESTED };
	bool named = request->repo && request->repo[0];
	if (!named && c->config->n_repos != 1)
		return err_set(err, ERR_INVALID, "there are %d repositories; name one", c->config->n_repos);
	const char *name = named ? request->repo : c->config->repo[0].name;
	if (find_repo(c, name, &parameters.repo, err) != 0 ||
		copy_text("suite", request->suite, parameters.suite, sizeof parameters.suite, err) != 0 ||
		control_read_device(c, request->device_kind, &parameters, err) != 0)
		return -1;
	struct txn *txn = queue_txn(c->queue);
	const char *upstream = c->config->repo[config_repo_find(c->config, name)].upstream;
	if (txn_begin(txn, err) != 0)
		return -1;
	int result = control_check_queue(c, runs, err);
	for (int i = 0; i < runs && result == 0; i++) {
		struct store_job job = parameters;
		result = calibrate_enqueue(c->db, upstream, &job, clock_utc_ms(), err);
		if (result == 0)
			result = store_job_report(txn->db, &job, "job.queued", JOBSTATE_QUEUED, NULL, clock_utc_ms(), err);
		jobs[i] = job.id;
	}
	if (txn_end(txn, result, err) != 0)
		return -1;
	queue_wake(c->queue);
	return 0;
}

int control_forget(struct control *c, const struct job_request *request, const char *who, int *n, struct fw_err *err)
{
	struct store_job parameters = { .origin = "api" };
	struct txn *txn = queue_txn(c->queue);
	bool named = request->repo && request->repo[0];
	if (!named && c->config->n_repos != 1)
		return err_set(err, ERR_INVALID, "there are %d repositories; name one", c->config->n_repos);
	const char *name = named ? request->repo : c->config->repo[0].name;
	if (find_repo(c, name, &parameters.repo, err) != 0 ||
		copy_text("cells", request->cells_glob, parameters.cells_glob, sizeof parameters.cells_glob, err) != 0 ||
		control_read_device(c, request->device_kind, &parameters, err) != 0)
		return -1;
	if (parameters.device_kind != DEVICE_ANY)
		return err_set(err, ERR_INVALID, "device %s is a kind; name one device by its uuid",
			device_kind_name(parameters.device_kind));
	if (txn_begin(txn, err) != 0 ||
		txn_end(txn, store_noise_forget(c->db, parameters.repo, parameters.device_uuid, parameters.cells_glob, n, err),
			err) != 0)
		return -1;
	log_info("calibration.forgotten", "repo=%s cells=%s device=%s n=%d by=%s", log_quote(name),
		log_quote(parameters.cells_glob), log_quote(parameters.device_uuid), *n, log_quote(who));
	return 0;
}

static int read_named(struct control *c, const struct config_repo *repo, int64_t id, struct peers *out, struct fw_err *err)
{
	char branch[1024], words[512];
	if (gitread_encode(repo->upstream, branch, sizeof branch, err) != 0)
		return -1;
	int found = store_peer_named(c->db, id, branch, words, sizeof words, err);
	if (found == 1)
		peers_parse(words, out);
	return found < 0 ? -1 : 0;
}

static int choose_peers(struct control *c, const struct config_repo *repo, const struct job_request *r,
	const struct store_job *job, struct peers *out, struct fw_err *err)
{
	*out = repo->peers;
	if (job->base_provider[0]) {
		*out = (struct peers){ .n = 1 };
		snprintf(out->of[0].provider, sizeof out->of[0].provider, "%s", job->base_provider);
	} else if (!repo->has_peers && read_named(c, repo, job->repo, out, err) != 0) {
		return -1;
	}
	int n = 0;
	for (int i = 0; i < out->n; i++) { /* skip peers of device kinds that no worker has, e.g. [cudnn@cuda] without a GPU */
		if (out->of[i].device == DEVICE_ANY || queue_measures(c->queue, out->of[i].device))
			out->of[n++] = out->of[i];
	}
	if (n == 0 && out->n)
		return err_set(err, ERR_INVALID, "no worker of this daemon measures on %s, which is where peer %s is",
			device_kind_name(out->of[0].device), out->of[0].provider);
	out->n = n;
	if (out->n == 0)
		return err_set(err, ERR_INVALID,
			"no peers of %.100s are known; name one (--provider cudnn), or write `peers: [cudnn]` into its "
			".flopwatch.yaml or "
			"flopwatchd.yml",
			r->repo);
	return 0;
}

int control_peer(struct control *c, const struct job_request *request, int64_t *jobs, int *n, struct fw_err *err)
{
	struct job_request r = *request;
	struct store_job parameters = { .kind = JOBKIND_PEER, .origin = "api", .priority = PRIORITY_REQUESTED };
	struct txn *txn = queue_txn(c->queue);
	struct peers peers;
	if ((!r.repo || !r.repo[0]) && c->config->n_repos == 1)
		r.repo = c->config->repo[0].name;
	if (r.repo && r.repo[0] && find_repo(c, r.repo, &parameters.repo, err) != 0)
		return -1;
	int at = r.repo ? config_repo_find(c->config, r.repo) : -1;
	if (at >= 0 && (!r.target || !r.target[0]))
		r.target = c->config->repo[at].upstream;
	r.base = NULL;
	r.device_kind = NULL; /* may be one device, which control_read_request rejects */
	if (control_read_request(c, &r, &parameters, err) != 0 ||
		control_read_device(c, request->device_kind, &parameters, err) != 0 ||
		choose_peers(c, &c->config->repo[at], &r, &parameters, &peers, err) != 0)
		return -1;
	parameters.branch[0] = 0;
	if (txn_begin(txn, err) != 0)
		return -1;
	int64_t now = clock_utc_ms();
	int result = control_check_queue(c, peers.n, err);
	if (result == 0)
		result = peerjobs_request(c->db, &parameters, &peers, now, jobs, err);
	for (int i = 0; i < peers.n && result == 0; i++) {
		struct store_job job;
		result = store_job_get(c->db, jobs[i], &job, err);
		if (result == 0)
			result = store_job_report(txn->db, &job, "job.queued", JOBSTATE_QUEUED, NULL, now, err);
	}
	if (txn_end(txn, result, err) != 0)
		return -1;
	*n = peers.n;
	queue_wake(c->queue);
	return 0;
}

int control_cancel(struct control *c, int64_t job, const char *who, struct fw_err *err)
{
	char why[256];
	snprintf(why, sizeof why, "cancelled by %.200s", who);
	return queue_cancel(c->queue, job, why, err);
}

int control_raise_commit(struct control *c, int64_t repo, const char *target_sha, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	bool is_plain;
	if (store_job_is_plain(c->db, repo, target_sha, &is_plain, err) != 0)
		return -1;
	if (!is_plain) /* clients poll: write once */
		return 0;
	return txn_begin(txn, err) != 0 ? -1 : txn_end(txn, store_job_raise(c->db, repo, target_sha, PRIORITY_AWAITED, err), err);
}

int control_retry(struct control *c, int64_t job, int64_t *new_job, struct fw_err *err)
{
	struct store_job row;
	if (store_job_get(c->db, job, &row, err) != 0)
		return -1;
	if (!jobstate_is_final(row.state))
		return err_set(err, ERR_CONFLICT, "J%lld is still open: %s", (long long)job, jobstate_name(row.state));
	if (row.kind == JOBKIND_IMPORT)
		return err_set(err, ERR_CONFLICT, "J%lld holds imported results and cannot be measured again", (long long)job);
	if (config_repo_find(c->config, row.repo_name) < 0)
		return err_set(err, ERR_CONFLICT, "repository %s is no longer configured", row.repo_name);
	snprintf(row.origin, sizeof row.origin, "retry");
	if (row.kind == JOBKIND_PROFILE)
		return control_profile_again(c, &row, new_job, err);
	row.plan = 0;
	row.priority = PRIORITY_REQUESTED;
	if (insert_job(c, &row, err) != 0)
		return -1;
	*new_job = row.id;
	return 0;
}

int control_import(
	struct control *c, const struct foreign_results *results, int64_t *comparison, bool *is_new, struct fw_err *err)
{
	struct foreign_results f = *results;
	char branch[BRANCH_KEY_MAX] = "";
	int64_t repo;
	if (find_repo(c, f.repo, &repo, err) != 0)
		return -1;
	if (!oid_is_whole(f.commit) || (f.base && f.base[0] && !oid_is_whole(f.base)))
		return err_set(err, ERR_INVALID, "a commit needs its full hash: 40 hex digits, as git rev-parse prints them");
	if (!f.name[0] || strspn(f.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != strlen(f.name))
		return err_set(err, ERR_INVALID, "`%.60s` is not a valid name of results; use letters, digits, . _ -", f.name);
	if (f.branch && f.branch[0])
		branch_key(f.branch, branch);
	if (strcmp(branch, "%") == 0)
		return err_set(err, ERR_INVALID, "the branch name is longer than %d bytes when encoded", BRANCH_KEY_MAX - 1);
	f.branch = branch;
	return import_store(queue_txn(c->queue), repo, &f, comparison, is_new, err);
}

int control_bisect(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	struct store_job job = { .kind = JOBKIND_BISECT };
	struct store_bisect b = { .origin = "api" };
	if (!request->base || !request->base[0])
		return err_set(err, ERR_INVALID, "a bisect needs a good commit");
	if (control_read_request(c, request, &job, err) != 0)
		return -1;
	if (!strcmp(job.base_sha, job.target_sha))
		return err_set(err, ERR_INVALID, "good and bad are the same commit %.12s", job.base_sha);
	for (int i = 0; i < 2; i++) {
		const char *sha = i ? job.target_sha : job.base_sha;
		struct store_fork fork;
		int is_fork = store_pull_fork(c->db, job.repo, sha, &fork, err);
		if (is_fork)
			return is_fork < 0 ? -1
					   : err_set(err, ERR_INVALID,
						     "%.12s is a commit of a fork (pull request %d), whose other commits are not "
						     "approved",
						     sha, fork.number);
	}
	b.repo = job.repo;
	snprintf(b.good_sha, sizeof b.good_sha, "%s", job.base_sha);
	snprintf(b.bad_sha, sizeof b.bad_sha, "%s", job.target_sha);
	snprintf(b.suite, sizeof b.suite, "%s", job.suite);
	b.device_kind = job.device_kind;
	snprintf(b.cells, sizeof b.cells, "%s", job.cells_glob);
	snprintf(b.who, sizeof b.who, "%s", request->who ? request->who : "");
	if (txn_begin(txn, err) != 0)
		return -1;
	int result = control_check_queue(c, 1, err);
	if (result == 0)
		result = store_bisect_insert(c->db, &b, clock_utc_ms(), err);
	if (txn_end(txn, result, err) != 0)
		return -1;
	*id = b.id;
	return 0;
}

int control_bisect_cancel(struct control *c, int64_t id, const char *who, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	struct store_bisect b;
	struct fw_err ended = { 0 };
	char why[256];
	snprintf(why, sizeof why, "cancelled by %.200s", who);
	if (store_bisect_get(c->db, id, &b, err) != 0 || txn_begin(txn, err) != 0 ||
		txn_end(txn, store_bisect_state(c->db, id, "cancelled", why, clock_utc_ms(), err), err) != 0)
		return -1;
	if (b.job && queue_cancel(c->queue, b.job, why, &ended) != 0 && ended.code != ERR_CONFLICT)
		return err_set(err, ended.code, "%s", ended.text);
	return 0;
}

int control_pause(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	enum devicestate before;
	char why[256];
	int64_t id;
	if (store_device_get(c->db, uuid, &id, &before, err) != 0)
		return -1;
	bool broken = before == DEVICESTATE_QUARANTINED || before == DEVICESTATE_HEALTH_CHECK;
	if (broken && paused)
		return err_set(err, ERR_CONFLICT, "device %.64s is %s and gets no jobs", uuid, devicestate_name(before));
	if (before == DEVICESTATE_ABSENT && !paused)
		return err_set(err, ERR_CONFLICT, "device %.64s is absent: it gets jobs when a worker has it again", uuid);
	snprintf(why, sizeof why, "%s by %.200s", broken ? "health check requested" : paused ? "paused" : "resumed", who);
	enum devicestate to = broken ? DEVICESTATE_HEALTH_CHECK : paused ? DEVICESTATE_PAUSED : DEVICESTATE_OK;
	if (devicestate_set(txn, uuid, to, why, who, err) != 0)
		return -1;
	queue_wake(c->queue);
	return 0;
}

int control_judge(struct control *c, int64_t comparison, bool *changed, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	if (txn_begin(txn, err) != 0)
		return -1;
	return txn_end(txn, judge_again(c->db, comparison, changed, err), err);
}

/* Resolve other alerts about the same regressions: a user accepted the culprit's alert. */
static int resolve_covered(struct control *c, int64_t alert, int64_t now, struct fw_err *err)
{
	int64_t ids[COVERED_MAX];
	char why[64];
	int n = store_accepted_alerts(c->db, alert, ids, COVERED_MAX, err), result = n < 0 ? -1 : 0;
	snprintf(why, sizeof why, "accepted in A%lld", (long long)alert);
	for (int i = 0; i < n && result == 0; i++)
		result = alert_resolve(c->db, c->config, ids[i], 0, why, now, err);
	return result;
}

/* Update forge and notes: an accepted regression passes from now on. */
static int update_accepted(struct control *c, int64_t alert, int64_t now, struct fw_err *err)
{
	int64_t ids[COVERED_MAX];
	int n = store_accepted_comparisons(c->db, alert, ids, COVERED_MAX, err), result = n < 0 ? -1 : 0;
	struct buf rule;
	buf_init(&rule, RULE_MAX);
	for (int i = 0; i < n && result == 0; i++) {
		struct store_comparison comparison;
		struct store_job job;
		buf_clear(&rule);
		result = store_comparison_get(c->db, ids[i], &comparison, &rule, err) != 0 ||
					 store_job_get(c->db, comparison.job, &job, err) != 0 ||
					 status_verdict(c->db, c->config, &job, &comparison, now, err) != 0 ||
					 gitnote_enqueue(c->db, c->config, &job, &comparison, now, err) != 0
				 ? -1
				 : 0;
	}
	buf_fini(&rule);
	return result == 0 ? resolve_covered(c, alert, now, err) : result;
}

int control_alert(
	struct control *c, int64_t alert, enum alertstate state, const char *who, const char *reason, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	const int64_t now = clock_utc_ms();
	if (txn_begin(txn, err) != 0)
		return -1;
	int result = alert_change(c->db, c->config, alert, state, who, reason, now, err);
	if (result == 0 && state == ALERTSTATE_ACCEPTED)
		result = update_accepted(c, alert, now, err);
	return txn_end(txn, result, err);
}

int control_redeliver(struct control *c, int64_t notification, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	if (txn_begin(txn, err) != 0)
		return -1;
	return txn_end(txn, store_outbox_again(c->db, notification, clock_utc_ms(), err), err);
}

int control_approve(struct control *c, const char *repo, int number, const char *commit, const char *who, bool *is_allowed,
	struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	struct fw_err ignored = { 0 };
	int64_t id;
	int at = config_repo_find(c->config, repo);
	if (at < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no repository %.100s", repo);
	const struct config_pulls *pulls = &c->config->repo[at].pulls;
	if (!pulls->refs[0])
		return err_set(
			err, ERR_CONFLICT, "requests of %.100s are not watched; write pull_requests in flopwatchd.yml", repo);
	*is_allowed = false;
	for (int i = 0; i < pulls->n_approvers; i++)
		*is_allowed = *is_allowed || strcmp(pulls->approver[i], who) == 0;
	if (!*is_allowed) {
		log_warning("pull.refused", "repo=%s pull=%d commit=%s who=%s", log_quote(repo), number, commit, log_quote(who));
		return 0;
	}
	if (find_repo(c, repo, &id, err) != 0 || txn_begin(txn, err) != 0)
		return -1;
	int result = txn_end(txn, store_pull_approve(c->db, id, number, commit, who, clock_utc_ms(), err), err);
	if (result == 0)
		log_info("pull.approved", "repo=%s pull=%d commit=%s who=%s", log_quote(repo), number, commit, log_quote(who));
	/* fetch its commit; or the head that a user named before the daemon read it */
	(void)control_trigger(c, repo, NULL, &ignored);
	return result;
}

int control_test_receiver(struct control *c, const char *name, int64_t *notification, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	const int64_t now = clock_utc_ms();
	char at[32];
	struct buf payload;
	struct jsonw j;
	if (config_webhook_find(c->config, name) < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no receiver %.100s under `webhooks` of flopwatchd.yml", name);
	if (txn_begin(txn, err) != 0)
		return -1;
	buf_init(&payload, 1024);
	jsonw_init(&j, &payload);
	clock_format(now, at);
	jsonw_format(&j, "{ event=%s at=%s receiver=%s }", "test", at, name);
	int result = store_outbox_replace(c->db, "webhook", name, "test", payload.data, now, err);
	if (result == 0)
		result = store_outbox_newest(c->db, "webhook", name, "test", notification, err);
	buf_fini(&payload);
	return txn_end(txn, result, err);
}

int control_trigger(struct control *c, const char *repo, int64_t *fetch, struct fw_err *err)
{
	if (config_repo_find(c->config, repo) < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no repository %.100s", repo);
	if (!c->watch) /* the start failed and is retried automatically */
		return err_set(err, ERR_BUSY, "no repository is watched at the moment; see the log");
	int64_t number = watch_trigger(c->watch, repo);
	if (fetch)
		*fetch = number;
	return 0;
}

int control_fetch_result(struct control *c, const char *repo, int64_t fetch, bool *ended, const char **held, const char **error,
	struct fw_err *err)
{
	struct watch_check_result last;
	if (config_repo_find(c->config, repo) < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no repository %.100s", repo);
	if (!c->watch)
		return err_set(err, ERR_BUSY, "no repository is watched at the moment; see the log");
	enum watch_check_state state = watch_check_result(c->watch, repo, fetch, &last);
	if (state == WATCH_CHECK_UNKNOWN)
		return err_set(err, ERR_NOT_FOUND,
			"fetch %lld of %.100s is from before the daemon's start; request another fetch", (long long)fetch, repo);
	*ended = state == WATCH_CHECK_ENDED;
	*held = last.held;
	*error = last.error;
	return 0;
}

int control_secret(struct control *c, const char *repo, const char **secret, struct fw_err *err)
{
	int at = config_repo_find(c->config, repo);
	if (at < 0 || !c->config->repo[at].secret[0])
		return err_set(err, ERR_NOT_FOUND, "there is no webhook for %.100s", repo);
	*secret = c->config->repo[at].secret;
	return 0;
}

int control_forge_event(struct control *c, const char *repo, const char *body, size_t len, struct fw_err *err)
{
	struct txn *txn = queue_txn(c->queue);
	int at = config_repo_find(c->config, repo);
	if (at < 0)
		return err_set(err, ERR_NOT_FOUND, "there is no repository %.100s", repo);
	const struct config_repo *conf = &c->config->repo[at];
	if (!conf->pulls.refs[0] || (!conf->pulls.approve_by.label[0] && !conf->pulls.approve_by.comment[0]))
		return 0;
	if (approval_enqueue(c->db, conf, body, len, clock_utc_ms(), err) != 0)
		return -1;
	if (txn->on_event) /* it acts in the loop, after the caller's commit */
		txn->on_event(txn->arg);
	return 0;
}

int control_backup(struct control *c, struct fw_err *err)
{
	return backup_begin(c->backup, err);
}

int control_backup_take(struct control *c, char *path, size_t size, struct fw_err *err)
{
	return backup_take(c->backup, path, size, err);
}

void control_backup_discard(struct control *c)
{
	backup_discard(c->backup);
}

int control_compare_files(struct control *c, const struct site_files *files, const void *request, struct fw_err *err)
{
	return file_compare_begin(c->files, files, request, err);
}

int control_compared_files(struct control *c, const void *request, const struct buf **json, struct fw_err *err)
{
	return file_compare_take(c->files, request, json, err);
}

void control_compare_files_finish(struct control *c, const void *request)
{
	file_compare_finish(c->files, request);
}

static int check_provider(const struct control *c, struct fw_err *err)
{
	return c->oidc ? 0 : err_set(err, ERR_NOT_FOUND, "the configuration has no `oidc`");
}

int control_login_begin(struct control *c, const void *request, const char *client, struct fw_err *err)
{
	return check_provider(c, err) == 0 ? oidc_begin(c->oidc, request, client, err) : -1;
}

int control_login_address(struct control *c, const void *request, const char *next, struct site_login *out, struct fw_err *err)
{
	return check_provider(c, err) == 0 ? oidc_address(c->oidc, request, next, out, err) : -1;
}

int control_login_code(struct control *c, const void *request, const struct site_code *code, struct fw_err *err)
{
	return check_provider(c, err) == 0 ? oidc_exchange(c->oidc, request, code, err) : -1;
}

int control_login_user(struct control *c, const void *request, struct site_user *out, struct fw_err *err)
{
	return check_provider(c, err) == 0 ? oidc_user(c->oidc, request, out, err) : -1;
}

int control_log_out(struct control *c, int64_t token, const char *sealed, struct buf *location, struct fw_err *err)
{
	return check_provider(c, err) == 0 ? oidc_log_out(c->oidc, token, sealed, location, err) : -1;
}

bool control_is_logged_out(struct control *c, const char *state)
{
	return c->oidc && oidc_is_logged_out(c->oidc, state);
}

void control_login_finish(struct control *c, const void *request)
{
	oidc_finish(c->oidc, request);
}
