/* Profiles in the queue: they run last, yield to a push, never create a comparison, and are stored at their end. */
/* Left to `make check`: starts our programs, takes seconds. */
#include "fixture_daemon.h"

#include "db/db.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/schedule/schedule.h"

#define HELLO                                                                                                                    \
	"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\","     \
	"\"uuid\":\"sim-1\",\"name\":\"s\",\"driver\":\"\",\"toolkit\":\"x\"}]}'; read job || exit 0; "
#define IF_PROFILE "case $job in *'\"kind\":\"profile\"'*) "
#define DONE       "echo '{\"t\":\"done\",\"gpu_s\":2,\"wall_s\":3,\"cancelled\":false}'"
#define KERNEL                                                                                                                   \
	"echo '{\"t\":\"kernel\",\"cell\":0,\"role\":\"base\",\"repeat\":0,\"n\":0,\"phase\":\"run\",\"kernel\":\"forward\","    \
	"\"code\":\"\",\"ms\":1.5,\"grid\":[132,1,1],\"block\":[384,1,1],\"registers\":168,\"local_bytes\":0,"                   \
	"\"shared_bytes\":1024,\"ctas_per_sm\":1,\"values\":{\"dram__bytes_read.sum\":123.0}}'; "
#define CODE                                                                                                                     \
	"echo '{\"t\":\"code\",\"cell\":0,\"base\":\"forward\",\"target\":\"forward\",\"what\":\"changed\","                     \
	"\"opcodes\":[[\"HGMMA\",24,48]],\"hunks\":\"+ HGMMA\",\"base_takes\":{\"registers\":168},\"target_takes\":{}}'; "
#define END                                                                                                                      \
	"echo '{\"t\":\"profile\",\"cell\":0,\"path\":\"code\",\"why\":\"counters need a GPU\",\"tool\":\"\",\"passes\":0,"      \
	"\"base_config\":\"\",\"target_config\":\"\",\"gpu_s\":0.5}'; "
/* the target does not build: the shortest possible result of a push */
#define PUSH                                                                                                                     \
	"echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'; "                                                       \
	"echo '{\"t\":\"build\",\"role\":\"target\",\"state\":\"failed\",\"exit\":2,\"signal\":0,\"duration_ms\":5,"             \
	"\"modules\":{},\"toolchain\":\"x\",\"detail\":\"make: exit 2\",\"log_b64\":\"\"}'; " DONE

static struct queue *queue;
static char one[65], two[65];

static int setup(void **state)
{
	queue = NULL;
	if (fixture_setup(state) != 0)
		return -1;
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	fixture_commit("2", "topic", two);
	return 0;
}

static int teardown(void **state)
{
	queue_stop(queue);
	return fixture_teardown(state);
}

static void add_worker(const char *script)
{
	struct config_worker *w = &config->worker[config->n_workers++];
	char name[16], path[32];
	snprintf(name, sizeof name, "w%d", config->n_workers);
	snprintf(path, sizeof path, "%s.sh", name);
	gitrepo_write(path, script);
	snprintf(w->name, sizeof w->name, "%s", name);
	snprintf(w->command[0], sizeof w->command[0], "sh");
	snprintf(w->command[1], sizeof w->command[1], "%.400s/%s", gitrepo_root, path);
	w->n_command = 2;
}

static void begin(void)
{
	ok(queue_start(loop, config, db, NULL, NULL, &queue, &err));
}

/* Request a profile of topic against main. */
static int64_t request(const char *suite)
{
	struct store_job job = { .repo = repo_id, .origin = "api" };
	struct store_profile p = { .job = 0 };
	snprintf(job.base_sha, sizeof job.base_sha, "%s", one);
	snprintf(job.target_sha, sizeof job.target_sha, "%s", two);
	snprintf(job.suite, sizeof job.suite, "%s", suite);
	ok(db_begin(db, &err));
	ok(profile_request(db, &job, &p, "queued: requested by a user", clock_utc_ms(), &err));
	ok(db_commit(db, &err));
	return job.id;
}

#define STATE_IS(state) "SELECT count(*) FROM job WHERE kind = 'profile' AND state = '" state "'"

static void test_what_a_worker_found_is_stored(void **state)
{
	(void)state;
	add_worker(HELLO KERNEL CODE END DONE);
	request("tiny");
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(fixture_text("SELECT state || ' ' || path || ': ' || why || ' ' || gpu_s FROM profile_cell"),
		"done code: counters need a GPU 0.5");
	assert_string_equal(fixture_text("SELECT side || repeat || n || ' ' || kernel || ' ' || ms || ' [' || grid || '] ' || "
					 "registers FROM profile_kernel"),
		"base00 forward 1.5 [132 1 1] 168");
	assert_string_equal(
		fixture_text("SELECT m.name || ' ' || v.value FROM profile_value v JOIN metric_name m ON m.id = v.name"),
		"dram__bytes_read.sum 123.0");
	assert_string_equal(fixture_text("SELECT what || ' ' || opcodes || ' ' || hunks_len FROM profile_code"),
		"changed [[\"HGMMA\",24,48]] 7");
	assert_int_equal(fixture_number("SELECT count(*) FROM comparison"), 0);
	assert_int_equal(fixture_number("SELECT count(*) FROM outbox"), 0);
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'profile.done'"), 1);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line LIKE 'profile of attention/%'"), 1);
}

static void test_the_suite_is_found_without_its_name(void **state)
{
	(void)state;
	gitrepo_write("w/.flopwatch.yaml", "flopwatch: 1\nsuites: [tiny, other]\n");
	gitrepo_write("w/etc/suites/other.yaml", FIXTURE_SUITE);
	fixture_commit("1", "two suites", one);
	fixture_commit("2", "slower", two);
	add_worker(HELLO CODE END DONE);
	request("");
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(fixture_text("SELECT suite || ' ' || base_how FROM job"), "tiny given");
	assert_int_equal(fixture_number("SELECT count(*) FROM job"), 1); /* one request, one suite */
}

static void test_the_largest_cell_of_each_table_and_direction(void **state)
{
	(void)state;
	gitrepo_write("w/etc/suites/big.yaml",
		"suite: big\nfamily: attention\ncommon: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}\n"
		"dense: {seqlens: [64, 128], masks: [full, causal]}\ndirections: [forward, backward]\nseed: 1\n");
	fixture_commit("1", "a larger suite", one);
	fixture_commit("2", "slower", two);
	add_worker(HELLO DONE);
	request("big");
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(
		fixture_text("SELECT group_concat(substr(key, 1, 26) || ' ' || state || ': ' || why, ', ') FROM profile_cell"),
		"attention/dense/full/s128/ failed: the worker sent no profile of the cell, attention/dense/full/s128/ failed: the worker sent no "
		"profile of the cell");
}

static void test_equal_sides_need_no_worker(void **state)
{
	(void)state;
	gitrepo_write("w/README", "words\n");
	fixture_commit("2", "words", one);
	GIT("w", "commit", "-q", "--allow-empty", "-m", "nothing");
	snprintf(two, sizeof two, "%.64s", GIT("w", "rev-parse", "HEAD"));
	request("");
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(fixture_text("SELECT state || ' [' || path || ']' FROM profile_cell"), "identical []");
	assert_int_equal(fixture_number("SELECT count(*) FROM comparison"), 0);
}

static void test_programs_are_not_profiled(void **state)
{
	(void)state;
	gitrepo_write("w/.flopwatch.yaml",
		"flopwatch: 1\ninputs: [kernels]\nbenchmarks:\n  gemm: {command: [cat, kernels/code], reader: flopwatch}\n");
	fixture_commit("3", "a program", one);
	fixture_commit("4", "a slower program", two);
	request("gemm");
	add_worker(HELLO "kill -9 $$");
	begin();
	fixture_until("SELECT count(*) FROM job WHERE state IN ('done', 'failed')");
	assert_string_equal(fixture_text("SELECT state || state_why FROM job"), "done");
	assert_string_equal(fixture_text("SELECT key || ' ' || state FROM profile_cell"), "gemm unsupported");
	assert_int_equal(fixture_number("SELECT count(*) FROM profile_cell WHERE why LIKE 'A program shows only its times%'"), 1);
}

static void test_a_push_goes_first(void **state)
{
	(void)state;
	request("tiny");
	fixture_push("topic", two);
	begin();
	fixture_until("SELECT count(*) = 2 FROM job WHERE base_how <> ''");
	add_worker(HELLO IF_PROFILE CODE END DONE ";; *) " PUSH ";; esac");
	queue_stop(queue);
	begin();
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT (SELECT started_at FROM job WHERE kind = 'profile') >= (SELECT ended_at FROM job "
					"WHERE kind = 'compare')"),
		1);
}

static void test_a_push_interrupts_a_profile(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		HELLO IF_PROFILE "[ -e %.100s/was ] || { touch %.100s/was; " KERNEL "exec cat > /dev/null; }; " KERNEL END DONE
				 ";; *) " PUSH ";; esac",
		gitrepo_root, gitrepo_root);
	add_worker(script);
	request("tiny");
	begin();
	fixture_until(STATE_IS("measuring"));
	struct store_job push = fixture_push("topic", two);
	queue_wake(queue);
	fixture_until("SELECT count(*) FROM comparison WHERE verdict = 'failed'");
	assert_int_equal(push.id, 2);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line = 'queued: preempted by J2'"), 1);
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT attempt FROM job WHERE kind = 'profile'"), 1); /* the first did not count */
	assert_int_equal(fixture_number("SELECT count(*) FROM profile_kernel"), 1);
}

/* Its worker takes time to exit: what it has sent is stored although a push arrives meanwhile. */
static void test_an_ended_profile_does_not_yield(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		HELLO IF_PROFILE KERNEL END DONE "; while [ ! -e %.100s/go ]; do sleep 0.05; done;; *) " PUSH ";; esac",
		gitrepo_root);
	add_worker(script);
	request("tiny");
	begin();
	fixture_until("SELECT count(*) FROM job_log WHERE line LIKE 'measured%'");
	fixture_push("topic", two);
	queue_wake(queue);
	fixture_until("SELECT count(*) FROM job WHERE kind = 'compare' AND base_how <> ''");
	gitrepo_write("go", "");
	fixture_until("SELECT count(*) = 2 FROM job WHERE state = 'done'");
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line LIKE '%preempted by%'"), 0);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line LIKE 'sent to%'"), 2);
}

/* A push cannot use a paused device, so the job that runs there continues. */
static void test_on_a_paused_device_no_profile_yields(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		HELLO IF_PROFILE KERNEL "while [ ! -e %.100s/go ]; do sleep 0.05; done; " END DONE ";; *) " PUSH ";; esac",
		gitrepo_root);
	add_worker(script);
	request("tiny");
	begin();
	fixture_until(STATE_IS("measuring"));
	ok(db_script(db, "UPDATE device SET state = 'paused'", &err));
	fixture_push("topic", two);
	queue_wake(queue);
	fixture_until("SELECT count(*) FROM job WHERE kind = 'compare' AND base_how <> ''");
	gitrepo_write("go", "");
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line LIKE '%preempted by%'"), 0);
}

static void test_other_jobs_wait_for_a_profile(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		HELLO IF_PROFILE "touch %.100s/began; while [ ! -e %.100s/go ]; do sleep 0.05; done; " END DONE ";; *) " PUSH
				 ";; esac",
		gitrepo_root, gitrepo_root);
	add_worker(script);
	request("tiny");
	begin();
	fixture_until("SELECT count(*) FROM job_log WHERE line LIKE 'sent to%'");
	struct store_job search = {
		.repo = repo_id, .kind = JOBKIND_BISECT, .origin = "bisect", .base_how = "given", .priority = -5
	};
	snprintf(search.base_sha, sizeof search.base_sha, "%s", one);
	snprintf(search.target_sha, sizeof search.target_sha, "%s", two);
	snprintf(search.suite, sizeof search.suite, "tiny");
	ok(db_begin(db, &err));
	ok(store_job_insert(db, &search, clock_utc_ms(), &err));
	ok(db_commit(db, &err));
	queue_wake(queue);
	gitrepo_write("go", "");
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line LIKE '%preempted by%'"), 0);
	fixture_until("SELECT count(*) FROM job WHERE kind = 'bisect' AND state = 'done'");
}

static void test_another_free_device_takes_the_push(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		HELLO IF_PROFILE "while [ ! -e %.100s/go ]; do sleep 0.05; done; " END DONE ";; *) touch %.100s/go; " PUSH
				 ";; esac",
		gitrepo_root, gitrepo_root);
	add_worker(script);
	request("tiny");
	begin();
	fixture_until(STATE_IS("assigned"));
	queue_stop(queue);
	fixture_until("SELECT 1");
	ok(db_begin(db, &err));
	int back, failed;
	ok(store_job_recover(db, clock_utc_ms(), &back, &failed, &err));
	ok(db_commit(db, &err));
	assert_int_equal(back, 1);
	gitrepo_write("other", "");
	char other[4096], *at;
	snprintf(other, sizeof other, "%s", script);
	at = strstr(other, "sim-1");
	at[4] = '2';
	add_worker(other);
	begin();
	fixture_until("SELECT count(*) = 2 FROM device");
	fixture_until(STATE_IS("assigned"));
	fixture_push("topic", two);
	queue_wake(queue);
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line LIKE '%preempted by%'"), 0);
}

#define RAN(role, repeat, n, kernel, ms)                                                                                         \
	"echo '{\"t\":\"kernel\",\"cell\":0,\"role\":\"" role "\",\"repeat\":" repeat ",\"n\":" n                                \
	",\"phase\":\"run\",\"kernel\":\"" kernel "\",\"code\":\"\",\"ms\":" ms                                                  \
	",\"grid\":[1,1,1],\"block\":[1,1,1],\"values\":{}}'; "

/* The target runs one more kernel: its description needs no measurement, and the alert and its webhook contain it. */
static void test_the_alert_gets_its_cause(void **state)
{
	(void)state;
	struct store_alert a = {
		.repo = repo_id, .branch = "topic", .kind = ALERTKIND_REGRESSION, .cells_json = "[]", .worst_pct = -30
	};
	struct store_job job = { .repo = repo_id, .origin = "alert", .suite = "tiny" };
	bool is_new;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", two);
	snprintf(job.base_sha, sizeof job.base_sha, "%s", one);
	snprintf(job.target_sha, sizeof job.target_sha, "%s", two);
	snprintf(config->webhook[0].name, sizeof config->webhook[0].name, "bot");
	config->n_webhooks = 1;
	ok(db_begin(db, &err));
	ok(store_alert_open(db, &a, 1, &is_new, &err));
	struct store_profile p = { .alert = a.id };
	ok(profile_request(db, &job, &p, "queued", 1, &err));
	ok(db_commit(db, &err));
	add_worker(HELLO RAN("base", "0", "0", "forward", "1.0") RAN("base", "1", "0", "forward", "1.0")
			RAN("target", "0", "0", "forward", "1.0") RAN("target", "0", "1", "memset", "0.5")
				RAN("target", "1", "0", "forward", "1.0") RAN("target", "1", "1", "memset", "0.5") END DONE);
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(
		fixture_text("SELECT code || ' ' || confidence || ' ' || round(explained_ms, 3) || ' of ' || round(of_ms, 3) "
			     "FROM cause ORDER BY rank"),
		"extra_node exact 0.5 of 0.5");
	assert_int_equal(
		fixture_number("SELECT count(*) FROM outbox WHERE target = 'bot' AND payload ->> 'event' = 'alert.explained' AND "
			       "payload ->> '$.why.sentence' = (SELECT sentence FROM cause WHERE rank = 0)"),
		1);
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'alert.explained'"), 1);
}

static void test_a_worker_that_is_lost(void **state)
{
	(void)state;
	add_worker(HELLO KERNEL "kill -9 $$");
	request("tiny");
	begin();
	fixture_until(STATE_IS("failed"));
	assert_int_equal(fixture_number("SELECT attempt FROM job"), 3);
	assert_int_equal(
		fixture_number("SELECT count(*) FROM profile_cell") + fixture_number("SELECT count(*) FROM profile_kernel"), 0);
}

static void test_unrequested_lines_fail_the_job(void **state)
{
	(void)state;
	static const struct {
		const char *said, *why;
	} cases[] = {
		{ KERNEL KERNEL, "%was sent twice%" },
		{ END KERNEL, "%whose profile has ended%" },
		{ "echo '{\"t\":\"profile\",\"cell\":1,\"path\":\"code\"}'; ", "%names cell 1 of 1%" },
		{ "echo '{\"t\":\"counterfactual\",\"cell\":0,\"config\":\"\",\"base_ms\":1e999,\"target_ms\":1,\"with_ms\":1}'; ",
			"%" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char script[4096], sql[256];
		snprintf(script, sizeof script, HELLO "%s" DONE, cases[i].said);
		config->n_workers = 0;
		add_worker(script);
		int64_t job = request("tiny");
		begin();
		snprintf(sql, sizeof sql, "SELECT count(*) FROM job WHERE id = %lld AND state = 'failed' AND state_why LIKE '%s'",
			(long long)job, cases[i].why);
		fixture_until(sql);
		queue_stop(queue);
		queue = NULL;
	}
	assert_int_equal(fixture_number("SELECT count(*) FROM profile_cell"), 0);
}

static void test_kernels_fail_a_push(void **state)
{
	(void)state;
	add_worker(HELLO KERNEL DONE);
	fixture_push("topic", two);
	begin();
	fixture_until(
		"SELECT count(*) FROM job WHERE state = 'failed' AND state_why LIKE '%kernel was sent for a job that is not a profile%'");
}

static void test_a_side_that_does_not_build(void **state)
{
	(void)state;
	add_worker(HELLO PUSH);
	request("tiny");
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(fixture_text("SELECT state || ': ' || why FROM profile_cell"),
		"failed: the build of target failed: make: exit 2");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(test_what_a_worker_found_is_stored),
		CASE(test_the_suite_is_found_without_its_name),
		CASE(test_the_largest_cell_of_each_table_and_direction),
		CASE(test_equal_sides_need_no_worker),
		CASE(test_programs_are_not_profiled),
		CASE(test_a_push_goes_first),
		CASE(test_a_push_interrupts_a_profile),
		CASE(test_an_ended_profile_does_not_yield),
		CASE(test_on_a_paused_device_no_profile_yields),
		CASE(test_other_jobs_wait_for_a_profile),
		CASE(test_another_free_device_takes_the_push),
		CASE(test_the_alert_gets_its_cause),
		CASE(test_a_worker_that_is_lost),
		CASE(test_unrequested_lines_fail_the_job),
		CASE(test_kernels_fail_a_push),
		CASE(test_a_side_that_does_not_build),
	};
	return cmocka_run_group_tests_name("profile queue", tests, NULL, NULL);
}
