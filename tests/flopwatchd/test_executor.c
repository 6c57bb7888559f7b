/* The executor, with programs that behave like srun, squeue and scancel: pending without limit, running, ended. */
/* Left to `make check`: takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flopwatchd/session/internal.h"
#include "flopwatchd/session/session.h"
#include "lib/lib.h"
#include "tmp_folder.h"

#define HELLO                                                                                                                    \
	"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\","     \
	"\"uuid\":\"sim-1\",\"name\":\"s\",\"driver\":\"\",\"toolkit\":\"\"}]}'\n"

enum { DEVICE_CHECK_MS = 180000, TICK_MS = 5 };

static struct tmp_folder tmp;
static const char *folder;
static struct loop *loop;
static struct config *config;
static struct executors *executors;
static struct session *session;
static struct fw_err err;

/* Events that the session reported. */
static struct {
	int n_pending, n_hello, n_end, position;
	char id[32], reason[300], why[1024];
	enum session_end how;
} reported;

static void script(const char *name, const char *text)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\ncd %s\n%s\n", folder, text);
	fclose(f);
	assert_int_equal(chmod(path, 0755), 0);
}

static bool is_there(const char *name)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

static void touch(const char *name)
{
	char path[400];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static int setup(void **state)
{
	(void)state;
	static char path[4096];
	assert_int_equal(tmp_folder_open(&tmp), 0);
	folder = tmp.path;
	log_open("test", LOG_ERROR - 1);
	snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
	setenv("PATH", path, 1);
	memset(&reported, 0, sizeof reported);
	config = calloc(1, sizeof *config);
	assert_non_null(config);
	snprintf(config->state_dir, sizeof config->state_dir, "%s", folder);
	snprintf(config->sandbox, sizeof config->sandbox, "none");
	config->hello_ms = 300000;
	struct config_worker *w = &config->worker[config->n_workers++];
	snprintf(w->name, sizeof w->name, "cluster");
	w->kind = WORKER_SLURM;
	w->device = DEVICE_SIM;
	snprintf(w->command[0], sizeof w->command[0], "worker");
	w->n_command = 1;
	snprintf(w->slurm.partition, sizeof w->slurm.partition, "gpu");
	/* waits until the test releases it, then executes the command; squeue shows its name */
	script("srun", "for word; do case $word in --job-name=*) name=${word#*=};; esac; done\n"
		       "trap 'echo TERM >term; rm -f queue; exit 1' TERM\n"
		       "echo \"17|PENDING|Resources|$name\" >queue; echo \"$@\" >requesting; mv requesting requested\n"
		       "until [ -e go ]; do sleep 0.02; done; rm -f queue; exec ./worker");
	script("squeue", "[ -e broken ] && { echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1; }\n"
			 "echo \"$@\" >>looked\n"
			 "echo '9|PENDING|Priority|somebody | else'; cat queue 2>/dev/null; exit 0");
	script("scancel", "echo \"$@\" >cancelling; mv cancelling cancelled; rm -f queue");
	script("worker", HELLO "cat >/dev/null");
	assert_int_equal(loop_new(&loop, &err), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	session_close(session);
	session = NULL;
	executors_free(executors);
	executors = NULL;
	loop_free(loop);
	free(config);
	tmp_folder_close(&tmp);
	return 0;
}

static void on_pending(void *arg, const struct executor_wait *wait)
{
	(void)arg;
	reported.n_pending++;
	reported.position = wait->position;
	snprintf(reported.id, sizeof reported.id, "%s", wait->id);
	snprintf(reported.reason, sizeof reported.reason, "%s", wait->reason);
}

static void on_hello(void *arg, const struct msg_hello *h)
{
	(void)arg, (void)h;
	reported.n_hello++;
}

static void on_word(void *arg, const struct msg *m)
{
	(void)arg, (void)m;
}

static void on_end(void *arg, enum session_end how, struct result *result, const char *why)
{
	(void)arg;
	assert_null(result);
	session = NULL;
	reported.n_end++;
	reported.how = how;
	snprintf(reported.why, sizeof reported.why, "%s", why);
}

static const struct session_hooks hooks = { on_pending, on_hello, on_word, on_end };

static void begin(void)
{
	executors = executors_new(loop, config);
}

static void submit(const char *node)
{
	if (session_open(executors, loop, config, &config->worker[0], node, &hooks, NULL, &session, &err) != 0)
		fail_msg("%s", err.text);
}

static bool (*goal)(void);
static int64_t until_ns;

static void look(void *arg)
{
	(void)arg;
	if (goal() || clock_mono_ns() > until_ns)
		loop_stop(loop);
	else
		loop_after(loop, TICK_MS, look, NULL, NULL);
}

#define UNTIL(state)                                                                                                             \
	do {                                                                                                                     \
		goal = state;                                                                                                    \
		until_ns = clock_mono_ns() + DEVICE_CHECK_MS * INT64_C(1000000);                                                 \
		loop_after(loop, 0, look, NULL, NULL);                                                                           \
		assert_int_equal(loop_run(loop, &err), 0);                                                                       \
		if (!goal())                                                                                                     \
			fail_msg("it never came to %s", #state);                                                                 \
	} while (0)

static bool has_reason(void)
{
	return reported.reason[0] && reported.position;
}
static bool was_requested(void)
{
	return is_there("requested");
}
static bool has_hello(void)
{
	return reported.n_hello > 0;
}
static bool has_ended(void)
{
	return reported.n_end > 0;
}
static bool has_term(void)
{
	return is_there("term");
}
static bool has_cancelled(void)
{
	return is_there("cancelled");
}
static bool is_unreachable(void)
{
	return strstr(reported.reason, "Unable to contact") != NULL;
}
static bool waited_long(void)
{
	static int64_t since_ns;
	if (!since_ns)
		since_ns = clock_mono_ns();
	return clock_mono_ns() - since_ns > INT64_C(1000000000);
}

static const char *content(const char *name)
{
	static char text[2048];
	char path[400];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = '\0';
	return text;
}

/* Enough lists to find a request lost. */
static bool has_lists(void)
{
	int n = 0;
	for (const char *at = content("looked"); (at = strstr(at, "--states=PENDING --sort")); at++)
		n++;
	return n > 3;
}

static void test_pending_has_a_reason_and_a_position(void **state)
{
	(void)state;
	begin();
	submit("");
	UNTIL(has_reason);
	assert_string_equal(reported.id, "17");
	assert_string_equal(reported.reason, "Resources");
	assert_int_equal(reported.position, 2); /* another job is before it */
	assert_non_null(strstr(content("looked"), "--partition=gpu"));
	assert_int_equal(reported.n_hello, 0);
	touch("go");
	UNTIL(has_hello);
	assert_int_equal(reported.n_end, 0);
}

static void test_pending_is_no_timeout(void **state)
{
	(void)state;
	config->hello_ms = 50;
	begin();
	submit("");
	UNTIL(was_requested);
	UNTIL(waited_long);
	assert_int_equal(reported.n_end, 0);
}

static void test_the_watchdog_counts_when_it_runs(void **state)
{
	(void)state;
	config->hello_ms = 50;
	script("worker", "echo Welcome; cat >/dev/null; sleep 1000");
	touch("go");
	begin();
	submit("");
	UNTIL(has_ended);
	assert_int_equal(reported.how, SESSION_LOST);
	assert_memory_equal(reported.why, "the worker sent nothing for ", 28);
}

static void test_a_pending_allocation_is_cancelled(void **state)
{
	(void)state;
	begin();
	submit("");
	UNTIL(was_requested);
	session_cancel(session);
	UNTIL(has_ended);
	assert_int_equal(reported.how, SESSION_CANCELLED);
	UNTIL(has_term);
}

static void test_srun_gets_the_resource_options(void **state)
{
	(void)state;
	struct config_slurm *s = &config->worker[0].slurm;
	snprintf(s->gres, sizeof s->gres, "gpu:h200:1");
	snprintf(s->account, sizeof s->account, "kernels");
	s->exclusive = true;
	s->time_ms = 30 * 60000;
	s->n_options = 1;
	snprintf(s->option[0], sizeof s->option[0], "--constraint=h200");
	begin();
	submit("node7");
	UNTIL(was_requested);
	assert_non_null(strstr(content("requested"),
		" --partition=gpu --gres=gpu:h200:1 --account=kernels --exclusive --time=30 --constraint=h200 --ntasks=1 --job-name="));
	assert_non_null(strstr(content("requested"), " --nodelist=node7 worker")); /* the last of equal options counts */
}

/* A worker reported it, and srun would read a list of nodes, or a file with one. */
static void test_only_a_node_is_requested(void **state)
{
	(void)state;
	static const char *const wrong[] = { "a,b", "node[1-9]", "/etc/passwd", "-x", "a b", "$(a)" };
	begin();
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(
			session_open(executors, loop, config, &config->worker[0], wrong[i], &hooks, NULL, &session, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.text, "is not the name of a node"));
	}
	submit("gpu-1.example.org");
	UNTIL(was_requested);
	assert_non_null(strstr(content("requested"), " --nodelist=gpu-1.example.org worker"));
}

static void test_a_controller_that_is_away(void **state)
{
	(void)state;
	touch("broken");
	begin();
	submit("");
	UNTIL(is_unreachable);
	assert_int_equal(reported.n_end, 0);
}

/* A controller that was restarted without its state knows no request, but srun waits for its answer without an end. */
static void test_a_request_that_the_controller_lost(void **state)
{
	(void)state;
	char path[400];
	begin();
	submit("");
	UNTIL(has_reason);
	snprintf(path, sizeof path, "%s/queue", folder);
	assert_int_equal(unlink(path), 0);
	UNTIL(has_ended);
	assert_int_equal(reported.how, SESSION_LOST);
	if (!strstr(reported.why, "; last line: Slurm no longer has the request"))
		fail_msg("%s", reported.why);
	assert_true(is_there("term"));
}

static void test_a_request_that_starts_is_not_lost(void **state)
{
	(void)state;
	script("squeue",
		"echo \"$@\" >>looked\n"
		"case \"$*\" in *RUNNING*) touch seen; [ -e queue ] && sed s/PENDING/CONFIGURING/ queue;; *) [ -e seen ] || cat queue;; esac; exit 0");
	begin();
	submit("");
	UNTIL(has_lists);
	assert_int_equal(reported.n_end, 0);
	touch("go");
	UNTIL(has_hello);
}

static void test_a_killed_srun_leaves_no_allocation(void **state)
{
	(void)state;
	script("srun", "for word; do case $word in --job-name=*) name=${word#*=};; esac; done\n"
		       "echo \"17|PENDING|Resources|$name\" >queue; touch requested; kill -9 $$");
	begin();
	submit("");
	UNTIL(has_ended);
	assert_int_equal(reported.how, SESSION_LOST);
	assert_string_equal(reported.why, "the worker ended before its hello (killed by SIGKILL)");
	UNTIL(has_cancelled);
	assert_string_equal(content("cancelled"), "--quiet 17\n");
}

/* Allocations that an earlier daemon had requested when it was killed together with its children. */
static void test_allocations_of_an_earlier_daemon_are_cancelled(void **state)
{
	(void)state;
	begin();
	submit("");
	UNTIL(has_reason);
	char text[400], path[400];
	snprintf(text, sizeof text, "%s", content("queue"));
	session_close(session);
	session = NULL;
	executors_free(executors);
	assert_true(is_there("term")); /* this process had time to clean up */
	snprintf(path, sizeof path, "%s/queue", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s21|RUNNING|None|flopwatch-of-others\n", text);
	fclose(f);
	begin();
	UNTIL(has_cancelled);
	assert_string_equal(content("cancelled"), "--quiet 17\n");
}

static bool has_failed_to_cancel(void)
{
	return is_there("refused");
}

/* While cancelling fails, the reasons of waiting requests are still reported. */
static void test_a_cancellation_that_fails(void **state)
{
	(void)state;
	begin();
	submit("");
	UNTIL(has_reason);
	char text[400], path[400];
	snprintf(text, sizeof text, "%s", content("queue"));
	session_close(session);
	session = NULL;
	executors_free(executors);
	snprintf(path, sizeof path, "%s/ghost", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s", text);
	fclose(f);
	script("squeue", "echo \"$@\" >>looked; cat ghost; cat queue 2>/dev/null; exit 0");
	script("scancel", "touch refused; echo 'scancel: error: Access/permission denied' >&2; exit 1");
	reported.reason[0] = '\0';
	begin();
	submit("");
	UNTIL(has_failed_to_cancel);
	UNTIL(has_reason);
	assert_string_equal(reported.reason, "Resources");
	script("scancel", "echo \"$@\" >cancelling; mv cancelling cancelled; rm -f ghost");
	UNTIL(has_cancelled); /* it is tried again */
	assert_string_equal(content("cancelled"), "--quiet 17\n");
}

static void test_pauses_grow(void **state)
{
	(void)state;
	assert_int_equal(executors_pause_ms(3000, 0, 30000), 3000);
	assert_int_equal(executors_pause_ms(3000, 1, 30000), 3000);
	assert_int_equal(executors_pause_ms(3000, 2, 30000), 6000);
	assert_int_equal(executors_pause_ms(3000, 4, 30000), 24000);
	assert_int_equal(executors_pause_ms(3000, 5, 30000), 30000);
	assert_int_equal(executors_pause_ms(3000, 2000000000, 30000), 30000);
}

static void check_manifest(const char *template, const char *node, const char *part)
{
	struct config_kubernetes k = { .image = "i", .n_selectors = 1, .selector = { "nvidia.com/gpu.product=H200" } };
	struct buf out;
	char path[400];
	buf_init(&out, 1 << 16);
	snprintf(path, sizeof path, "%s/template.json", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(template, f);
	fclose(f);
	snprintf(k.template, sizeof k.template, "%s", path);
	err = (struct fw_err){ 0 };
	int result = pods_manifest(&k, "owner", "name", node, &out, &err);
	const char *text = result == 0 ? out.data : err.text;
	if (!strstr(text, part))
		fail_msg("%s has no %s", text, part);
	buf_fini(&out);
}

static void test_manifests(void **state)
{
	(void)state;
#define BY_NAME "\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n-1\"]}]"
	check_manifest("{}", "", "\"nodeSelector\":{\"nvidia.com/gpu.product\":\"H200\"}");
	check_manifest("{\"spec\":{\"nodeSelector\":{\"pool\":\"a\"}}}", "",
		"\"nodeSelector\":{\"pool\":\"a\",\"nvidia.com/gpu.product\":\"H200\"}");
	check_manifest("{}", "n-1", "\"nodeSelectorTerms\":[{" BY_NAME "}]");
	/* every alternative of the template requires the node */
	check_manifest("{\"spec\":{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		       "{\"nodeSelectorTerms\":[{\"matchExpressions\":[]},{}]}}}}}",
		"n-1", "\"nodeSelectorTerms\":[{\"matchExpressions\":[]," BY_NAME "},{" BY_NAME "}]");
	check_manifest("{\"kind\":\"Deployment\"}", "", "template.json is not a pod, but Deployment");
	check_manifest("[]", "", "template.json is not a pod, but another object");
	check_manifest("{", "", "template.json is not JSON: line 1: ");
}

static void test_rows(void **state)
{
	(void)state;
	struct slurm_row row;
	char good[] = "12|PENDING|(Resources)|a|b", bad[] = "12|PENDING", none[] = "";
	assert_true(slurm_row_read(good, &row));
	assert_string_equal(row.id, "12");
	assert_string_equal(row.state, "PENDING");
	assert_string_equal(row.reason, "(Resources)");
	assert_string_equal(row.name, "a|b");
	assert_false(slurm_row_read(bad, &row));
	assert_false(slurm_row_read(none, &row));
	char array[] = "12_[1-3,5%2]|PENDING|None|a", option[] = "--user=ann|RUNNING|None|a", text[] = "1 2|RUNNING|None|a";
	assert_true(slurm_row_read(array, &row));
	assert_false(slurm_row_read(option, &row));
	assert_false(slurm_row_read(text, &row));
}

static void check_pod(const char *json, enum pod_step step, const char *reason)
{
	struct pod p;
	json_t *item = json_loads(json, 0, NULL);
	assert_non_null(item);
	assert_true(pod_read(item, &p));
	assert_string_equal(p.name, "p");
	assert_string_equal(p.reason, reason);
	assert_int_equal(p.step, step);
	json_decref(item);
}

#define POD(meta, status) "{\"metadata\":{\"name\":\"p\"" meta "},\"status\":{" status "}}"
#define CONTAINER(state)                                                                                                         \
	"\"containerStatuses\":[{\"name\":\"a-sidecar\",\"state\":{\"running\":{}}},{\"name\":\"worker\",\"state\":{" state "}}]"

static void test_pods(void **state)
{
	(void)state;
	struct pod p;
	json_t *none = json_object();
	assert_false(pod_read(none, &p));
	json_decref(none);
	check_pod(POD("", "\"phase\":\"Pending\""), POD_WAITS, "");
	check_pod(POD("", "\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
			  "\"Unschedulable\",\"message\":\"0/3 nodes\\nare available\"}]"),
		POD_WAITS, "Unschedulable: 0/3 nodes are available");
	check_pod(POD("", "\"phase\":\"Pending\"," CONTAINER("\"waiting\":{\"reason\":\"ContainerCreating\"}")), POD_WAITS, "");
	check_pod(POD("", "\"phase\":\"Pending\"," CONTAINER("\"waiting\":{\"reason\":\"ImagePullBackOff\",\"message\":\"m\"}")),
		POD_ENDED, "ImagePullBackOff: m");
	check_pod(POD("", "\"phase\":\"Running\"," CONTAINER("\"running\":{}")), POD_RUNS, "");
	check_pod(POD("", "\"phase\":\"Failed\",\"reason\":\"Evicted\",\"message\":\"memory\"," CONTAINER(
				  "\"terminated\":{\"reason\":\"Error\"}")),
		POD_ENDED, "Evicted: memory");
	check_pod(
		POD("", "\"phase\":\"Running\"," CONTAINER("\"terminated\":{\"reason\":\"OOMKilled\"}")), POD_ENDED, "OOMKilled");
	check_pod(POD(",\"deletionTimestamp\":\"t\"", "\"phase\":\"Running\"," CONTAINER("\"running\":{}")), POD_ENDED,
		"the pod was deleted");
	/* a node that is lost: its pods still run, as far as the server knows */
	check_pod(POD(",\"deletionTimestamp\":\"t\"",
			  "\"phase\":\"Running\",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":"
			  "\"DeletionByTaintManager\",\"message\":\"node is unreachable\"}]," CONTAINER("\"running\":{}")),
		POD_ENDED, "DeletionByTaintManager: node is unreachable");
	check_pod(POD("", "\"phase\":\"Succeeded\""), POD_ENDED, "the pod ended");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_pending_has_a_reason_and_a_position),
		CASE(test_pending_is_no_timeout),
		CASE(test_the_watchdog_counts_when_it_runs),
		CASE(test_a_pending_allocation_is_cancelled),
		CASE(test_srun_gets_the_resource_options),
		CASE(test_only_a_node_is_requested),
		CASE(test_a_controller_that_is_away),
		CASE(test_a_request_that_the_controller_lost),
		CASE(test_a_request_that_starts_is_not_lost),
		CASE(test_a_killed_srun_leaves_no_allocation),
		CASE(test_allocations_of_an_earlier_daemon_are_cancelled),
		CASE(test_a_cancellation_that_fails),
		CASE(test_manifests),
		cmocka_unit_test(test_pauses_grow),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_pods),
	};
	return cmocka_run_group_tests_name("executor", tests, NULL, NULL);
}
