/* Watching: real repositories, real pushes, a real loop and database; the resulting jobs, tips, events and errors. */
/* Left to `make check`: starts our programs, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "gitrepo.h"

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/watch/internal.h"
#include "flopwatchd/watch/watch.h"
#include "lib/lib.h"

/* Ends a test that would hang; no assertion depends on it. */
enum { DEVICE_CHECK_MS = 180000, TICK_MS = 5 };

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" /* a commit that no repository has */

static struct loop *loop;
static struct db *db;
static struct watch *watch;
static struct config config;
static int new_jobs;

static void on_new_job(void *arg)
{
	(void)arg;
	new_jobs++;
}

static int setup(void **state)
{
	char path[PATH_MAX + 16];
	struct fw_err err = { 0 };

	if (gitrepo_setup(state) != 0)
		return -1;
	log_open("test_watch", LOG_ERROR);
	memset(&config, 0, sizeof config);
	snprintf(config.state_dir, sizeof config.state_dir, "%.400s/state", gitrepo_root);
	config.queue_max = 1000;
	new_jobs = 0;
	watch = NULL;
	if (mkdir(config.state_dir, 0700) < 0)
		return -1;
	snprintf(path, sizeof path, "%s/state/db", gitrepo_root);
	if (loop_new(&loop, &err) != 0 || db_open(path, false, &db, &err) != 0 || migrate(db, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	watch_stop(watch);
	loop_free(loop);
	db_close(db);
	return gitrepo_teardown(state);
}

/* Add root/`dir` (or file://root/dir) to the configuration; branches `glob`. */
static void add_repo(const char *name, const char *dir, bool remote, const char *glob)
{
	struct config_repo *r = &config.repo[config.n_repos++];

	snprintf(r->name, sizeof r->name, "%s", name);
	snprintf(r->url, sizeof r->url, "%s%.400s/%.300s", remote ? "file://" : "", gitrepo_root, dir);
	r->is_local = !remote;
	snprintf(r->upstream, sizeof r->upstream, "main");
	r->n_branches = 1;
	snprintf(r->branch[0], sizeof r->branch[0], "%s", glob);
	r->poll_ms = 3600000; /* so that only inotify and triggers cause a fetch */
	r->fetch_timeout_ms = 60000;
}

static void begin(void)
{
	struct fw_err err = { 0 };

	if (watch_start(loop, &config, db, on_new_job, NULL, &watch, &err) != 0)
		fail_msg("%s", err.text);
}

/* ---- queries of the database ---- */

static int64_t number(const char *sql, const char *value)
{
	struct fw_err err = { 0 };
	struct stmt *s = db_stmt(db, sql, &err);
	int64_t n = -1;

	if (!s)
		fail_msg("%s", err.text);
	if (value)
		stmt_text(s, ":v", value);
	if (stmt_step(s, &err) == 1)
		n = row_int(s, 0);
	stmt_reset(s);
	return n;
}

static const char *text(const char *sql, const char *value)
{
	static char found[4096];
	struct fw_err err = { 0 };
	struct stmt *s = db_stmt(db, sql, &err);

	if (!s)
		fail_msg("%s", err.text);
	if (value)
		stmt_text(s, ":v", value);
	found[0] = '\0';
	if (stmt_step(s, &err) == 1)
		snprintf(found, sizeof found, "%s", row_text(s, 0));
	stmt_reset(s);
	return found;
}

static int64_t jobs(void)
{
	return number("SELECT count(*) FROM job", NULL);
}

static const char *repo_state(const char *name)
{
	return text("SELECT state FROM repo WHERE name = :v", name);
}

/* ---- running the loop until something is true ---- */

static struct {
	const char *sql;
	int64_t wanted;
	int64_t until_ns;
	bool late;
} goal;

static void check_goal(void *arg)
{
	(void)arg;
	goal.late = clock_mono_ns() > goal.until_ns;
	if (goal.late || number(goal.sql, NULL) == goal.wanted)
		loop_stop(loop);
	else
		loop_after(loop, TICK_MS, check_goal, NULL, NULL);
}

static void run_until(const char *sql, int64_t wanted)
{
	struct fw_err err = { 0 };

	goal.sql = sql;
	goal.wanted = wanted;
	goal.until_ns = clock_mono_ns() + (int64_t)DEVICE_CHECK_MS * 1000000;
	loop_after(loop, 0, check_goal, NULL, NULL);
	assert_int_equal(loop_run(loop, &err), 0);
	if (goal.late)
		fail_msg("never happened: %s = %lld (is %lld); repo errors: %s", sql, (long long)wanted,
			(long long)number(sql, NULL), text("SELECT group_concat(error) FROM repo", NULL));
}

#define RUN_UNTIL_JOBS(n) run_until("SELECT count(*) FROM job", n)

/* ---- tests ---- */

static void first_sight_queues_upstream_first(void **state)
{
	char main_sha[65];

	(void)state;
	gitrepo_checkout("co");
	snprintf(main_sha, sizeof main_sha, "%s", GIT("co", "rev-parse", "HEAD"));
	GIT("co", "checkout", "-qb", "a-topic");
	gitrepo_commit("co", "two");
	GIT("co", "checkout", "-qb", "other/x");
	gitrepo_commit("co", "three");
	GIT(".", "clone", "-q", "--bare", "co", "bare.git");
	add_repo("kernels", "bare.git", false, "a-*");
	begin();
	RUN_UNTIL_JOBS(2);
	assert_int_equal(new_jobs, 1);
	assert_string_equal(text("SELECT branch FROM job ORDER BY id", NULL), "main");
	assert_string_equal(text("SELECT target_sha FROM job ORDER BY id", NULL), main_sha);
	assert_string_equal(text("SELECT branch FROM job ORDER BY id DESC", NULL), "a-topic");
	assert_string_equal(text("SELECT origin || state || kind FROM job ORDER BY id DESC", NULL), "pushqueuedcompare");
	assert_int_equal(number("SELECT count(*) FROM branch_tip WHERE gone = 0", NULL), 3);
	assert_int_equal(number("SELECT watched FROM branch_tip WHERE name = 'a-topic'", NULL), 1);
	assert_int_equal(number("SELECT watched FROM branch_tip WHERE name = 'other/x'", NULL), 0);
	assert_int_equal(number("SELECT count(*) FROM event WHERE kind = 'job.queued'", NULL), 2);
	assert_int_equal(number("SELECT count(*) FROM event WHERE kind = 'branch.moved'", NULL), 3);
	assert_int_equal(number("SELECT count(*) FROM job_log", NULL), 2);
	assert_string_equal(repo_state("kernels"), "ok");
}

static void pushes_are_noticed_and_supersede(void **state)
{
	char second[65], third[65];

	(void)state;
	gitrepo_checkout("co");
	GIT(".", "clone", "-q", "--bare", "co", "bare.git");
	GIT("co", "remote", "add", "origin", "../bare.git");
	add_repo("kernels", "bare.git", false, "*");
	begin();
	RUN_UNTIL_JOBS(1);
	/* a branch in a new folder of refs/heads */
	GIT("co", "checkout", "-qb", "feature/deep/x");
	snprintf(second, sizeof second, "%s", gitrepo_commit("co", "two"));
	GIT("co", "push", "-q", "origin", "HEAD");
	RUN_UNTIL_JOBS(2);
	assert_string_equal(text("SELECT target_sha FROM job WHERE branch = 'feature/deep/x'", NULL), second);
	snprintf(third, sizeof third, "%s", gitrepo_commit("co", "three"));
	GIT("co", "push", "-q", "origin", "HEAD");
	RUN_UNTIL_JOBS(3);
	assert_string_equal(text("SELECT state FROM job WHERE target_sha = :v", second), "superseded");
	assert_string_equal(text("SELECT state FROM job WHERE target_sha = :v", third), "queued");
	assert_string_equal(text("SELECT state FROM job WHERE branch = 'main'", NULL), "queued");
	assert_int_equal(number("SELECT count(*) FROM job_log WHERE line LIKE '1 older queued job of%'", NULL), 1);
	/* a force-push back to a commit with a job: nothing new to measure, and the queued job is no longer needed */
	GIT("co", "push", "-qf", "origin", "main:refs/heads/feature/deep/x");
	run_until("SELECT count(*) FROM job WHERE state = 'superseded'", 2);
	assert_int_equal(jobs(), 3);
	GIT("co", "push", "-q", "origin", ":feature/deep/x");
	run_until("SELECT gone FROM branch_tip WHERE name = 'feature/deep/x'", 1);
	assert_int_equal(number("SELECT count(*) FROM event WHERE kind = 'branch.gone'", NULL), 1);
	/* and again under the same name */
	GIT("co", "push", "-q", "origin", "HEAD:feature/deep/x");
	run_until("SELECT gone FROM branch_tip WHERE name = 'feature/deep/x'", 0);
}

static void a_deleted_branch_cancels_its_queued_job(void **state)
{
	(void)state;
	gitrepo_checkout("co");
	GIT("co", "checkout", "-qb", "topic");
	gitrepo_commit("co", "two");
	GIT(".", "clone", "-q", "--bare", "co", "bare.git");
	add_repo("kernels", "bare.git", false, "*");
	begin();
	RUN_UNTIL_JOBS(2);
	GIT("bare.git", "update-ref", "-d", "refs/heads/topic");
	run_until("SELECT count(*) FROM job WHERE state = 'target_missing'", 1);
	assert_string_equal(text("SELECT branch FROM job WHERE state = 'target_missing'", NULL), "topic");
	assert_string_equal(text("SELECT state FROM job WHERE branch = 'main'", NULL), "queued");
}

/* A second branch at a commit waits for the first one's job. It gets a job of its own when that ends with its branch. */
static void a_commit_stays_queued_for_its_other_branch(void **state)
{
	char first[65];

	(void)state;
	gitrepo_checkout("co");
	GIT("co", "checkout", "-qb", "topic");
	snprintf(first, sizeof first, "%s", gitrepo_commit("co", "two"));
	GIT(".", "clone", "-q", "--bare", "co", "bare.git");
	add_repo("kernels", "bare.git", false, "*");
	begin();
	RUN_UNTIL_JOBS(2);
	number("UPDATE job SET plan = 1 WHERE branch = 'topic'", NULL);
	GIT("bare.git", "update-ref", "refs/heads/release", first);
	run_until("SELECT count(*) FROM branch_tip WHERE name = 'release'", 1);
	assert_int_equal(jobs(), 2);
	/* the first branch moves on */
	GIT("co", "remote", "add", "origin", "../bare.git");
	gitrepo_commit("co", "three");
	GIT("co", "push", "-q", "origin", "topic");
	run_until("SELECT count(*) FROM job WHERE branch = 'release' AND state = 'queued'", 1);
	assert_string_equal(text("SELECT target_sha FROM job WHERE branch = 'release'", NULL), first);
	assert_string_equal(text("SELECT state FROM job WHERE target_sha = :v AND branch = 'topic'", first), "superseded");
	/* the second one is renamed */
	number("UPDATE job SET plan = 1 WHERE branch = 'release'", NULL);
	GIT("bare.git", "update-ref", "refs/heads/v2", first);
	run_until("SELECT count(*) FROM branch_tip WHERE name = 'v2'", 1);
	assert_int_equal(number("SELECT count(*) FROM job WHERE branch = 'v2'", NULL), 0);
	GIT("bare.git", "update-ref", "-d", "refs/heads/release");
	run_until("SELECT count(*) FROM job WHERE branch = 'v2' AND state = 'queued'", 1);
	assert_string_equal(text("SELECT target_sha FROM job WHERE branch = 'v2'", NULL), first);
}

static void checkouts_worktrees_and_packed_refs(void **state)
{
	(void)state;
	gitrepo_checkout("co");
	GIT("co", "worktree", "add", "-q", "../tree", "-b", "side");
	add_repo("checkout", "co", false, "*");
	add_repo("worktree", "tree", false, "*");
	begin();
	RUN_UNTIL_JOBS(2); /* main of each; side points at the same commit */
	gitrepo_commit("tree", "two");
	RUN_UNTIL_JOBS(4);
	GIT("co", "pack-refs", "--all");
	gitrepo_commit("co", "three");
	RUN_UNTIL_JOBS(6);
	assert_int_equal(number("SELECT count(DISTINCT branch) FROM job", NULL), 2);
	/* only packed-refs changes */
	GIT("co", "pack-refs", "--all");
	GITREPO_RUN("co", "sed", "-i", "/refs.heads.side$/d", ".git/packed-refs");
	run_until("SELECT count(*) FROM job WHERE state = 'target_missing'", 2);
}

static void bad_repositories_show_their_error_and_the_others_go_on(void **state)
{
	(void)state;
	gitrepo_checkout("good");
	GIT(".", "init", "-q", "--bare", "empty.git");
	gitrepo_checkout("corrupt");
	gitrepo_write("corrupt/.git/config", "[core\nnonsense");
	gitrepo_checkout("lost");
	GITREPO_RUN("lost", "rm", "-rf", ".git/objects");
	GITREPO_RUN("lost", "mkdir", ".git/objects");
	add_repo("missing", "nowhere", false, "*");
	add_repo("empty", "empty.git", false, "*");
	add_repo("corrupt", "corrupt", false, "*");
	add_repo("lost", "lost", false, "*");
	add_repo("remote", "nowhere.git", true, "*");
	add_repo("good", "good", false, "*");
	begin();
	run_until("SELECT count(*) FROM repo WHERE state = 'error'", 5);
	RUN_UNTIL_JOBS(1);
	assert_string_equal(repo_state("good"), "ok");
	assert_non_null(
		strstr(text("SELECT error FROM repo WHERE name = :v", "missing"), "no git repository there; check the path"));
	assert_non_null(strstr(text("SELECT error FROM repo WHERE name = :v", "corrupt"), "open repository"));
	assert_non_null(strstr(text("SELECT error FROM repo WHERE name = :v", "empty"), "has no branches"));
	assert_non_null(strstr(text("SELECT error FROM repo WHERE name = :v", "lost"), "branch main: its commit is missing"));
	/* a repaired repository recovers by itself; the trigger only saves the wait */
	gitrepo_checkout("nowhere");
	gitrepo_write("corrupt/.git/config", "[core]\n\tbare = false\n");
	GIT("good", "push", "-q", "../empty.git", "main");
	watch_trigger(watch, "missing");
	watch_trigger(watch, "corrupt");
	watch_trigger(watch, "nobody");
	RUN_UNTIL_JOBS(4);
	assert_string_equal(repo_state("empty"), "ok");
	assert_string_equal(repo_state("missing"), "ok");
	assert_string_equal(repo_state("lost"), "error");
}

static void look_at(const char *name, int64_t look, struct watch_check_result *out)
{
	int64_t until_ns = clock_mono_ns() + (int64_t)DEVICE_CHECK_MS * 1000000;

	while (watch_check_result(watch, name, look, out) == WATCH_CHECK_OPEN && clock_mono_ns() < until_ns)
		run_until("SELECT 1", 1);
	assert_int_equal(watch_check_result(watch, name, look, out), WATCH_CHECK_ENDED);
}

static void a_fetch_names_the_branches_that_it_holds_back(void **state)
{
	struct watch_check_result looked;

	(void)state;
	gitrepo_checkout("co");
	GIT("co", "branch", "bad");
	add_repo("kernels", "co", false, "*");
	begin();
	look_at("kernels", watch_trigger(watch, "kernels"), &looked);
	assert_string_equal(looked.held, "");
	gitrepo_write("co/.git/refs/heads/bad", A "\n");
	look_at("kernels", watch_trigger(watch, "kernels"), &looked);
	assert_string_equal(looked.error, "");
	assert_string_equal(looked.held, "bad\n");
	GIT("co", "update-ref", "-d", "refs/heads/bad");
	look_at("kernels", watch_trigger(watch, "kernels"), &looked);
	assert_string_equal(looked.held, "");
}

static void a_number_of_another_start_is_unknown(void **state)
{
	struct watch_check_result looked;
	int64_t number_before;

	(void)state;
	gitrepo_checkout("co");
	add_repo("kernels", "co", false, "*");
	begin();
	number_before = watch_trigger(watch, "kernels");
	assert_int_equal(watch_check_result(watch, "kernels", number_before, &looked), WATCH_CHECK_OPEN);
	assert_int_equal(watch_check_result(watch, "kernels", number_before + 1, &looked), WATCH_CHECK_UNKNOWN);
	assert_int_equal(watch_check_result(watch, "kernels", number_before - 1, &looked), WATCH_CHECK_UNKNOWN);
	assert_int_equal(watch_check_result(watch, "nobody", number_before, &looked), WATCH_CHECK_UNKNOWN);
	look_at("kernels", number_before, &looked);
	watch_stop(watch);
	begin();
	assert_int_equal(watch_check_result(watch, "kernels", number_before, &looked), WATCH_CHECK_UNKNOWN);
	look_at("kernels", watch_trigger(watch, "kernels"), &looked);
	assert_int_equal(watch_check_result(watch, "kernels", number_before, &looked), WATCH_CHECK_UNKNOWN);
	assert_string_equal(looked.error, "");
}

static void a_replaced_repository_is_watched_again(void **state)
{
	(void)state;
	gitrepo_checkout("co");
	add_repo("kernels", "co", false, "*");
	begin();
	RUN_UNTIL_JOBS(1);
	GITREPO_RUN(".", "rm", "-rf", "co");
	run_until("SELECT count(*) FROM repo WHERE state = 'error'", 1);
	gitrepo_checkout("co");
	gitrepo_commit("co", "new history");
	watch_trigger(watch, "kernels");
	RUN_UNTIL_JOBS(2);
	gitrepo_commit("co", "noticed again");
	RUN_UNTIL_JOBS(3);
	assert_string_equal(repo_state("kernels"), "ok");
}

/* The folder's own name counts, not that of a parent with the same name. */
static void heads_made_again_are_watched_below_a_path_like_them(void **state)
{
	(void)state;
	gitrepo_checkout("x/refs/heads/co");
	add_repo("kernels", "x/refs/heads/co", false, "*");
	begin();
	RUN_UNTIL_JOBS(1);
	GIT("x/refs/heads/co", "pack-refs", "--all");
	GITREPO_RUN("x/refs/heads/co", "rm", "-rf", ".git/refs/heads");
	GITREPO_RUN("x/refs/heads/co", "mkdir", ".git/refs/heads");
	gitrepo_commit("x/refs/heads/co", "in the new folder");
	RUN_UNTIL_JOBS(2);
	gitrepo_commit("x/refs/heads/co", "noticed");
	RUN_UNTIL_JOBS(3);
}

static void remotes_are_mirrored(void **state)
{
	char sha[65];

	(void)state;
	gitrepo_checkout("co");
	GIT(".", "clone", "-q", "--bare", "co", "bare.git");
	add_repo("remote", "bare.git", true, "*");
	begin();
	RUN_UNTIL_JOBS(1);
	assert_string_equal(GIT("state/mirrors/remote.git", "rev-parse", "main"), GIT("co", "rev-parse", "main"));
	GIT("co", "checkout", "-qb", "topic");
	snprintf(sha, sizeof sha, "%s", gitrepo_commit("co", "two"));
	GIT("co", "push", "-q", "../bare.git", "topic");
	watch_trigger(watch, "remote");
	RUN_UNTIL_JOBS(2);
	assert_string_equal(text("SELECT target_sha FROM job ORDER BY id DESC", NULL), sha);
	GIT("co", "commit", "-q", "--amend", "-m", "rewritten");
	GIT("co", "push", "-qf", "../bare.git", "topic");
	watch_trigger(watch, "remote");
	RUN_UNTIL_JOBS(3);
	assert_string_equal(text("SELECT state FROM job WHERE target_sha = :v", sha), "superseded");
	/* the commit that was pushed away can still be read */
	GIT("state/mirrors/remote.git", "cat-file", "-e", sha);
}

static void hostile_names_are_passed_unchanged(void **state)
{
	static const char *const names[] = { "-x", "a\"b", "it's", "<b>&amp;", "50%", "a..", "x/-/y",
		"\xe2\x80\xae"
		"abc",
		"\xff\xfe", "a;$(id)" };
	char packed[20000], sha[65], longer[1100];
	size_t i, used;

	(void)state;
	gitrepo_checkout("co");
	snprintf(sha, sizeof sha, "%s", gitrepo_commit("co", "two"));
	used = (size_t)snprintf(packed, sizeof packed, "# pack-refs with: peeled fully-peeled\n");
	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], "a..") != 0) /* git itself refuses that one */
			used += (size_t)snprintf(packed + used, sizeof packed - used, "%s refs/heads/%s\n", sha, names[i]);
	memset(longer, 'l', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	snprintf(packed + used, sizeof packed - used, "%s refs/heads/%s\n", sha, longer);
	gitrepo_write("co/.git/packed-refs", packed);
	add_repo("kernels", "co", false, "*");
	begin();
	run_until("SELECT count(*) FROM branch_tip WHERE gone = 0", 10);
	assert_int_equal(number("SELECT count(*) FROM branch_tip WHERE name = '%FF%FE'", NULL), 1);
	assert_string_equal(text("SELECT display FROM branch_tip WHERE name = '%FF%FE'", NULL), "\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(text("SELECT display FROM branch_tip WHERE name = '%E2%80%AEabc'", NULL), "\\u202eabc");
	assert_int_equal(number("SELECT count(*) FROM branch_tip WHERE name = '-x'", NULL), 1);
	assert_non_null(strstr(text("SELECT error FROM repo", NULL), "too long"));
	assert_int_equal(jobs(), 1);
}

static void globs(void **state)
{
	struct config_repo r = { .n_branches = 2, .branch = { "release-*", "perf/*" } };

	(void)state;
	assert_true(branch_patterns_watch(&r, "release-1", "release-1"));
	assert_true(branch_patterns_watch(&r, "perf/a/b", "perf/a/b"));
	assert_true(branch_patterns_watch(&r, "perf/%FF", "perf/?"));
	assert_false(branch_patterns_watch(&r, "main", "main"));
	assert_false(branch_patterns_watch(&r, "xrelease-1", "xrelease-1"));
}

/* Patterns like those of GitHub's workflows: the last pattern that matches a branch decides. */
static void globs_that_exclude(void **state)
{
	struct config_repo r = { .n_branches = 3, .branch = { "*", "!wip/*", "wip/keep" } };

	(void)state;
	assert_true(branch_patterns_watch(&r, "feature", "feature"));
	assert_false(branch_patterns_watch(&r, "wip/x", "wip/x"));
	assert_false(branch_patterns_watch(&r, "wip/%FF", "wip/?"));
	assert_true(branch_patterns_watch(&r, "wip/keep", "wip/keep"));
	assert_true(branch_patterns_watch(&r, "!wip", "!wip"));
	r = (struct config_repo){ .n_branches = 2, .branch = { "!wip/*", "*" } };
	assert_true(branch_patterns_watch(&r, "wip/x", "wip/x"));
	r = (struct config_repo){ .n_branches = 1, .branch = { "\\!wip" } };
	assert_true(branch_patterns_watch(&r, "%21wip", "!wip"));
	assert_false(branch_patterns_watch(&r, "wip", "wip"));
}

/* Syntax of other pattern languages, which git allows in no branch name. */
static void patterns_that_match_nothing(void **state)
{
	static const char *const wrong[] = { "^wip/", "re:wip", "~main", "-wip/*", "/wip.*/", "refs/heads/main",
		"!refs/heads/main", "", "!", "!!wip", "!^x", "main:dev", "a..b", "two words", "@{u}" };
	static const char *const right[] = { "*", "!wip/*", "[^w]*", "[!w]*", "feature/{a,b}", "\\!wip", "v1.?", "a-b",
		"release/**", "caf\xc3\xa9", "(x|y)" };
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_true(branch_pattern_is_wrong(wrong[i], why, sizeof why));
		assert_non_null(strstr(why, "a leading `!` excludes"));
	}
	for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
		assert_false(branch_pattern_is_wrong(right[i], why, sizeof why));
}

static char held[4096]; /* branches that the last apply() held back */

static struct branch_tips_result apply(const char *lines, int queue_max)
{
	struct fw_err err = { 0 };
	struct branch_tips_result result;
	struct buf b;
	int64_t id;

	if (config.n_repos == 0)
		add_repo("r", "x", false, "*");
	assert_int_equal(store_repo_put(db, "r", "/x", true, "main", &id, &err), 0);
	buf_init(&b, 1 << 20);
	buf_puts(&b, lines);
	if (branch_tips_apply(db, &config.repo[0], id, queue_max, &b, 1000, &result, &err) != 0)
		snprintf(result.problem, sizeof result.problem, "%s: %.400s", err_name(err.code), err.text);
	snprintf(held, sizeof held, "%s", result.held.data);
	buf_fini(&result.held);
	buf_fini(&b);
	return result;
}

#define B              "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C              "cccccccccccccccccccccccccccccccccccccccc"
#define TIP(name, sha) "{\"name\":\"" name "\",\"display\":\"" name "\",\"commit\":\"" sha "\"}\n"

/* The daemon answers no request while it stores branches, so that those of a large repository take several checks, main in the first. */
static void many_branches_take_several_checks(void **state)
{
	enum { N = 2500 };
	struct buf lines;
	int checks = 0, jobs = 0;

	(void)state;
	buf_init(&lines, 1 << 20);
	for (int i = 0; i < N; i++)
		buf_printf(&lines, "{\"name\":\"a%04d\",\"display\":\"a%04d\",\"commit\":\"%040x\"}\n", i, i, i + 1);
	buf_puts(&lines, TIP("main", A));
	for (bool again = true; again && checks < 10; checks++) {
		struct branch_tips_result result = apply(lines.data, 2 * N);

		again = result.again;
		jobs += result.jobs;
		assert_string_equal(result.problem, "");
		assert_int_equal(again, held[0] != '\0'); /* those that follow do not appear up to date */
		assert_int_equal(number("SELECT count(*) FROM job WHERE target_sha = :v", A), 1);
	}
	assert_int_equal(checks, 3);
	assert_int_equal(jobs, N + 1);
	assert_true(apply(TIP("main", A), 2 * N).again);
	assert_true(apply(TIP("main", A), 2 * N).again);
	assert_int_equal(number("SELECT count(*) FROM branch_tip WHERE gone = 0", NULL), N + 1 - 2000);
	assert_false(apply(TIP("main", A), 2 * N).again);
	assert_int_equal(number("SELECT count(*) FROM branch_tip WHERE gone = 0", NULL), 1);
	buf_fini(&lines);
}

static void malformed_answers_write_no_rows(void **state)
{
	static const char *const bad[] = { "hello\n", "{}\n", "[]\n", "{\"name\":1}\n", TIP("main", "xyz"), TIP("", A),
		TIP("main", ""), "{\"name\":\"a\",\"name\":\"b\",\"display\":\"\",\"commit\":\"" A "\"}\n" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char lines[1000];

		snprintf(lines, sizeof lines, TIP("main", A) "%s", bad[i]);
		assert_memory_equal(apply(lines, 10).problem, "protocol: ", 10);
		assert_int_equal(number("SELECT count(*) FROM branch_tip WHERE gone = 0", NULL), 0);
		assert_int_equal(jobs(), 0);
	}
}

static void a_full_queue_is_reported_and_tried_again(void **state)
{
	struct branch_tips_result r;

	(void)state;
	r = apply(TIP("x", A) TIP("y", B) TIP("main", C), 2);
	assert_int_equal(r.jobs, 2);
	assert_int_equal(r.moved, 2);
	assert_non_null(strstr(r.problem, "branch y: the queue is full"));
	assert_string_equal(held, "y\n");
	assert_string_equal(text("SELECT branch FROM job ORDER BY id", NULL), "main");
	/* the same again: still full, no duplicates */
	r = apply(TIP("x", A) TIP("y", B) TIP("main", C), 2);
	assert_int_equal(r.jobs, 0);
	/* with free space in the queue it is added, although git has nothing new */
	r = apply(TIP("x", A) TIP("y", B) TIP("main", C), 3);
	assert_int_equal(r.jobs, 1);
	assert_string_equal(r.problem, "");
	assert_string_equal(held, "");
	r = apply(TIP("x", A) TIP("y", B) TIP("main", C), 3);
	assert_int_equal(r.jobs + r.moved + r.gone, 0);
}

static void a_missing_upstream_branch_is_reported(void **state)
{
	struct branch_tips_result r;

	(void)state;
	r = apply(TIP("x", A), 10);
	assert_int_equal(r.jobs, 1);
	assert_string_equal(
		r.problem, "there is no branch main to compare others with; push it, or set `upstream` of this repository");
	assert_string_equal(apply(TIP("x", A) TIP("main", B), 10).problem, "");
	assert_string_equal(apply("", 10).problem, "");
}

#define PULL(number, head, more) "{\"pull\":" number ",\"head\":\"" head "\"" more "}\n"
#define COMMIT(sha)              ",\"commit\":\"" sha "\""

static void a_measured_request_stays_until_its_head_changes(void **state)
{
	struct fw_err err = { 0 };
	struct branch_tips_result r;
	int64_t id;

	(void)state;
	add_repo("r", "x", false, "*");
	snprintf(config.repo[0].pulls.refs, sizeof config.repo[0].pulls.refs, "pull");
	r = apply(TIP("main", A) PULL("7", B, ""), 9);
	assert_int_equal(r.moved, 1);
	assert_int_equal(store_repo_find(db, "r", &id, &err), 1);
	assert_int_equal(store_pull_approve(db, id, 7, B, "alice", 1, &err), 0);
	apply(TIP("main", A) PULL("7", B, ",\"problem\":\"it has conflicts\""), 9);
	assert_string_equal(text("SELECT problem FROM pull", NULL), "it has conflicts");
	apply(TIP("main", A) PULL("7", B, ""), 9); /* not its turn: the problem is still known */
	assert_string_equal(text("SELECT problem FROM pull", NULL), "it has conflicts");
	r = apply(TIP("main", A) PULL("7", B, COMMIT(C)), 9);
	assert_int_equal(r.jobs, 1);
	assert_string_equal(text("SELECT problem FROM pull", NULL), "");
	/* it is not fetched again, or it is one of more requests than are listed */
	r = apply(TIP("main", A) PULL("7", B, ""), 9);
	assert_int_equal(r.moved + r.gone, 0);
	r = apply(TIP("main", A) PULL("9", B, "") "{\"pulls_omitted\":3}\n", 9);
	assert_int_equal(r.moved + r.gone, 0);
	assert_string_equal(text("SELECT state FROM job WHERE target_sha = :v", C), "queued");
	r = apply(TIP("main", A) PULL("7", A, ""), 9);
	assert_int_equal(r.gone, 1);
	assert_string_equal(
		text("SELECT state_why FROM job WHERE target_sha = :v", C), "the request has another head, aaaaaaaaaaaa");
	apply(TIP("main", A) PULL("7", B, COMMIT(C)), 9);
	r = apply(TIP("main", A) PULL("9", B, ""), 9);
	assert_int_equal(r.gone, 1);
	assert_string_equal(
		text("SELECT state_why FROM job WHERE target_sha = :v ORDER BY id DESC", C), "the request was deleted");
}

static void jobs_of_users_remain(void **state)
{
	struct store_job j = { .branch = "x", .target_sha = A, .kind = JOBKIND_COMPARE, .origin = "api" };
	struct fw_err err = { 0 };

	(void)state;
	apply(TIP("x", B), 10);
	j.repo = number("SELECT id FROM repo", NULL);
	assert_int_equal(store_job_insert(db, &j, 1, &err), 0);
	apply("", 10);
	assert_string_equal(text("SELECT state FROM job WHERE origin = 'api'", NULL), "queued");
	assert_string_equal(text("SELECT state FROM job WHERE origin = 'push'", NULL), "target_missing");
}

static void unconfigured_repositories_are_removed(void **state)
{
	struct fw_err err = { 0 };
	int64_t id;

	(void)state;
	assert_int_equal(store_repo_put(db, "old", "/old", true, "main", &id, &err), 0);
	gitrepo_checkout("co");
	add_repo("kernels", "co", false, "*");
	begin();
	assert_string_equal(repo_state("old"), "gone");
	assert_string_equal(repo_state("kernels"), "new");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = { TEST(first_sight_queues_upstream_first), TEST(pushes_are_noticed_and_supersede),
		TEST(a_deleted_branch_cancels_its_queued_job), TEST(checkouts_worktrees_and_packed_refs),
		TEST(a_commit_stays_queued_for_its_other_branch), TEST(checkouts_worktrees_and_packed_refs),
		TEST(bad_repositories_show_their_error_and_the_others_go_on), TEST(a_fetch_names_the_branches_that_it_holds_back),
		TEST(a_number_of_another_start_is_unknown), TEST(a_replaced_repository_is_watched_again),
		TEST(heads_made_again_are_watched_below_a_path_like_them), TEST(remotes_are_mirrored),
		TEST(hostile_names_are_passed_unchanged), TEST(globs), TEST(globs_that_exclude),
		TEST(patterns_that_match_nothing), TEST(many_branches_take_several_checks), TEST(malformed_answers_write_no_rows),
		TEST(a_full_queue_is_reported_and_tried_again), TEST(a_missing_upstream_branch_is_reported),
		TEST(a_measured_request_stays_until_its_head_changes), TEST(jobs_of_users_remain),
		TEST(unconfigured_repositories_are_removed) };

	gitrepo_use_our_programs();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
