/* One conversation with a worker, with shell scripts as workers: the good one, and one for each failure. */
/* Left to `make check`: takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flopwatchd/session/session.h"
#include "lib/lib.h"

#define HELLO                                                                                                                    \
	"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\","     \
	"\"uuid\":\"sim-1\",\"name\":\"s\",\"driver\":\"\",\"toolkit\":\"\"}]}'\n"
#define OID "0123456789012345678901234567890123456789"

static bool has_no_memory;

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
	return has_no_memory ? NULL : __real_realloc(old, size);
}

struct talk {
	struct loop *loop;
	struct executors *executors;
	struct session *session;
	struct config *config;
	bool send, cancel_on_word, stay_on_word;
	int hellos, words, ends;
	enum session_end how;
	char why[1024];
	enum device_kind kind;
	struct result *result;
};

static void make_plan(struct plan *p)
{
	plan_init(p);
	p->request.job = 12;
	p->request.attempt = 1;
	snprintf(p->request.nonce, sizeof p->request.nonce, "%032d", 7);
	p->request.kind = JOBKIND_COMPARE;
	snprintf(p->request.device, sizeof p->request.device, "sim-1");
	p->request.n_sides = 2;
	struct manifest usual;
	manifest_default(&usual);
	for (int i = 0; i < 2; i++) {
		struct msg_side *s = &p->request.side[i];
		s->role = i ? ROLE_TARGET : ROLE_BASE;
		snprintf(s->commit, sizeof s->commit, "%s", OID);
		s->n_inputs = 1;
		snprintf(s->input[0].path, sizeof s->input[0].path, "kernels");
		snprintf(s->input[0].oid, sizeof s->input[0].oid, "%s", OID);
		s->build = usual.build;
	}
	const char *suite = "suite: t\nfamily: attention\ncommon: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}\n"
			    "dense: {seqlens: [64], masks: [full]}\ndirections: [forward]\nseed: 1\n";
	struct suite s;
	struct fw_err err = { 0 };
	if (suite_parse(suite, strlen(suite), "t", &s, &err) != 0)
		fail_msg("%s", err.text);
	p->request.cell = s.cell;
	p->request.n_cells = s.n_cells;
	rule_default(&p->request.rule, s.n_cells);
	p->request.limits = (struct msg_limits){ 900, 300, 300, 600, 60, 1000 };
}

static void on_hello(void *arg, const struct msg_hello *h)
{
	struct talk *t = arg;
	struct fw_err err = { 0 };
	struct plan p;
	t->hellos++;
	t->kind = h->device[0].kind;
	if (!t->send) {
		session_cancel(t->session);
		return;
	}
	make_plan(&p);
	has_no_memory = true; /* the job is sent later: it is not one that no worker could read */
	assert_int_equal(session_send(t->session, &p, "/nowhere", &h->device[0], &err), -1);
	has_no_memory = false;
	assert_string_equal(err.text, "cannot write to worker w: out of memory; free memory on this machine and try again");
	assert_int_equal(err.code, ERR_FULL);
	err_clear(&err);
	assert_int_equal(session_send(t->session, &p, "/nowhere", &h->device[0], &err), 0);
	assert_null(p.request.cell);
	plan_fini(&p);
}

static void on_word(void *arg, const struct msg *m)
{
	struct talk *t = arg;
	(void)m;
	t->words++;
	if (t->cancel_on_word)
		session_cancel(t->session);
	if (t->stay_on_word)
		assert_true(session_stay(t->session));
	t->stay_on_word = false;
}

static void on_end(void *arg, enum session_end how, struct result *result, const char *why)
{
	struct talk *t = arg;
	t->ends++;
	t->how = how;
	t->result = result;
	snprintf(t->why, sizeof t->why, "%s", why);
	loop_stop(t->loop);
}

static const struct session_hooks hooks = { NULL, on_hello, on_word, on_end };

static void talk_to(struct talk *t, const char *script)
{
	struct fw_err err = { 0 };
	t->config = calloc(1, sizeof *t->config);
	assert_non_null(t->config);
	struct config_worker *w = &t->config->worker[0];
	snprintf(t->config->state_dir, sizeof t->config->state_dir, "/tmp");
	t->config->hello_ms = 300000;
	snprintf(w->name, sizeof w->name, "w");
	snprintf(w->command[0], sizeof w->command[0], "sh");
	snprintf(w->command[1], sizeof w->command[1], "-c");
	assert_true(strlen(script) < sizeof w->command[2]);
	snprintf(w->command[2], sizeof w->command[2], "%s", script);
	w->n_command = 3;
	assert_int_equal(loop_new(&t->loop, &err), 0);
	t->executors = executors_new(t->loop, t->config);
	if (session_open(t->executors, t->loop, t->config, w, "", &hooks, t, &t->session, &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(loop_run(t->loop, &err), 0);
	assert_int_equal(t->ends, 1);
	executors_free(t->executors);
	loop_free(t->loop);
	free(t->config);
}

static void expect_lost(const char *script, bool send, const char *why)
{
	struct talk t = { .send = send };
	talk_to(&t, script);
	assert_int_equal(t.how, SESSION_LOST);
	assert_null(t.result);
	assert_string_equal(t.why, why);
}

static void test_a_probe_ends_after_hello(void **state)
{
	(void)state;
	struct talk t = { 0 };
	talk_to(&t, "echo Welcome; echo; echo '{}'; " HELLO "cat >/dev/null");
	assert_int_equal(t.hellos, 1);
	assert_int_equal(t.kind, DEVICE_SIM);
	assert_int_equal(t.how, SESSION_CANCELLED);
}

static void test_a_job_is_sent_and_its_result_stored(void **state)
{
	(void)state;
	struct talk t = { .send = true };
	talk_to(&t, HELLO "read job; case $job in *'\"t\":\"job\",\"job\":12,'*) ;; *) exit 3;; esac\n"
			  "echo '{\"t\":\"ping\"}'\n"
			  "echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'\n"
			  "echo '{\"t\":\"done\",\"gpu_s\":1.5,\"wall_s\":2,\"cancelled\":false}'; exit 0");
	if (t.how != SESSION_DONE)
		fail_msg("%s", t.why);
	assert_int_equal(t.words, 2);
	assert_true(t.result->done.gpu_s == 1.5);
	assert_string_equal(t.result->build[0].state, "start");
	assert_string_equal(t.result->device.uuid, "sim-1");
	assert_true(t.result->ended_at >= t.result->started_at && t.result->started_at > 0);
	result_free(t.result);
}

static void test_cancelling_ends_a_worker_that_listens(void **state)
{
	(void)state;
	struct talk t = { .send = true, .cancel_on_word = true };
	talk_to(&t, HELLO "read job; echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'\n"
			  "read more; case $more in *cancel*) ;; *) exit 3;; esac; cat >/dev/null; exit 0");
	assert_int_equal(t.how, SESSION_CANCELLED);
	assert_int_equal(t.words, 1);
	assert_null(t.result);
}

#define SAYS_A_WORD     "read job; echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'\nread more; "
#define DONE(cancelled) "echo '{\"t\":\"done\",\"gpu_s\":1,\"wall_s\":2,\"cancelled\":'" cancelled "'}'\n"

static void test_a_persistent_worker_gets_another_job(void **state)
{
	(void)state;
	struct talk t = { .send = true, .stay_on_word = true };
	talk_to(&t, "h() {\n" HELLO
		    "}\nd() {\n" DONE("$1") "}\nh; " SAYS_A_WORD
					    "case $more in *stay*true*) ;; *) exit 3;; esac; d true; h; read job; d false");
	assert_int_equal(t.how, SESSION_DONE);
	assert_int_equal(t.hellos, 2);
	assert_int_equal(t.words, 2); /* messages about the first job's end are ignored */
	assert_non_null(t.result);
	assert_false(t.result->done.cancelled);
	result_free(t.result);
}

/* Like a worker that cannot stay for another job. */
static void test_a_persistent_worker_may_exit(void **state)
{
	(void)state;
	struct talk t = { .send = true, .stay_on_word = true };
	talk_to(&t, HELLO SAYS_A_WORD DONE("true") "exit 0");
	assert_int_equal(t.how, SESSION_LOST);
	assert_int_equal(t.hellos, 1);
	assert_null(t.result);
}

/* A worker that does not react: it gets SIGTERM before SIGKILL, so that it can release remote resources. */
static void test_an_unresponsive_worker_is_terminated(void **state)
{
	(void)state;
	char path[64], script[512];
	snprintf(path, sizeof path, "/tmp/fw-term-%d", (int)getpid());
	snprintf(script, sizeof script,
		HELLO "trap 'echo >%s; exit' TERM; read job; echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'\n"
		      "while :; do sleep 0.05; done",
		path);
	struct talk t = { .send = true, .cancel_on_word = true };
	talk_to(&t, script);
	assert_int_equal(t.how, SESSION_CANCELLED);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
}

static void test_workers_that_are_lost(void **state)
{
	(void)state;
	expect_lost("exit 3", true, "the worker ended before its hello (exit 3)");
	expect_lost("echo 'ssh: no such host' >&2; exit 255", true,
		"the worker ended before its hello (exit 255); last line: ssh: no such host");
	expect_lost(HELLO "read job; kill -9 $$", true, "the worker ended in the middle of the job (killed by SIGKILL)");
	expect_lost(HELLO "read job; exit 0", true, "the worker ended in the middle of the job");
	expect_lost(
		"echo '{\"t\":\"hello\",\"protocol\":2,\"version\":\"9\",\"isolation\":\"none\",\"devices\":[]}'; cat >/dev/null",
		true, "the worker (version 9) speaks protocol 2, this daemon 1; install the same version");
	expect_lost(HELLO "read job; echo '{\"t\":\"tree\",\"oid\":\"" OID "\",\"bytes\":1}'; cat >/dev/null", true,
		"the worker sent an unexpected message");
	expect_lost(HELLO HELLO "cat >/dev/null", true, "the worker sent an unexpected message");
	expect_lost(HELLO
		"read job; echo '{\"t\":\"need\",\"trees\":[\"1111111111111111111111111111111111111111\"]}'; cat >/dev/null",
		true, "the worker requested tree 1111111111111111111111111111111111111111, which the job does not name");
	expect_lost(HELLO "read job; echo '{\"t\":\"done\",\"gpu_s\":1,\"wall_s\":2,\"cancelled\":true}'; cat >/dev/null", true,
		"the worker cancelled the job without a request");
	expect_lost(HELLO "read job; echo '{\"t\":\"fault\",\"cell\":7,\"role\":\"base\",\"class\":\"crash\",\"detail\":\"\"}'; "
			  "cat >/dev/null",
		true, "fault names cell 7 of 1");
}

static void test_malformed_lines_are_named(void **state)
{
	(void)state;
	struct talk t = { .send = true };
	talk_to(&t, HELLO "read job; echo 'Segmentation fault'; cat >/dev/null");
	assert_int_equal(t.how, SESSION_LOST);
	assert_memory_equal(t.why, "the worker sent no valid message: ", 34);
}

static void test_a_banner_has_an_end(void **state)
{
	(void)state;
	expect_lost("head -c 70000 /dev/zero | tr '\\0' x; cat >/dev/null", true, "the worker did not send hello");
	expect_lost("yes | head -c 70000; cat >/dev/null", true, "the worker did not send hello");
}

static void test_workers_that_cannot_be_reached(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct talk t = { 0 };
	struct config *c = calloc(1, sizeof *c);
	assert_non_null(c);
	assert_int_equal(loop_new(&t.loop, &err), 0);
	t.executors = executors_new(t.loop, c);
	struct config_worker *w = &c->worker[0];
	snprintf(w->name, sizeof w->name, "gpu");
	snprintf(w->socket, sizeof w->socket, "/nowhere/worker.sock");
	assert_int_equal(session_open(t.executors, t.loop, c, w, "", &hooks, &t, &t.session, &err), -1);
	assert_string_equal(err.text, "worker gpu: cannot reach /nowhere/worker.sock: No such file or directory");
	err_clear(&err);
	w->socket[0] = 0;
	snprintf(w->command[0], sizeof w->command[0], "/nowhere/worker");
	w->n_command = 1;
	assert_int_equal(session_open(t.executors, t.loop, c, w, "", &hooks, &t, &t.session, &err), -1);
	assert_memory_equal(err.text, "worker gpu: ", 12);
	assert_int_equal(t.ends, 0);
	executors_free(t.executors);
	loop_free(t.loop);
	free(c);
}

static void test_closing_needs_no_hook(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct talk t = { 0 };
	struct config *c = calloc(1, sizeof *c);
	assert_non_null(c);
	assert_int_equal(loop_new(&t.loop, &err), 0);
	t.executors = executors_new(t.loop, c);
	struct config_worker *w = &c->worker[0];
	snprintf(w->command[0], sizeof w->command[0], "sleep");
	snprintf(w->command[1], sizeof w->command[1], "1000");
	w->n_command = 2;
	assert_int_equal(session_open(t.executors, t.loop, c, w, "", &hooks, &t, &t.session, &err), 0);
	session_close(t.session);
	session_close(NULL);
	executors_free(t.executors);
	loop_free(t.loop);
	assert_int_equal(t.ends, 0);
	free(c);
}

#define CASE(name) cmocka_unit_test(name)

int main(void)
{
	log_open("test_session", LOG_ERROR);
	const struct CMUnitTest tests[] = {
		CASE(test_a_probe_ends_after_hello),
		CASE(test_a_job_is_sent_and_its_result_stored),
		CASE(test_cancelling_ends_a_worker_that_listens),
		CASE(test_a_persistent_worker_gets_another_job),
		CASE(test_a_persistent_worker_may_exit),
		CASE(test_an_unresponsive_worker_is_terminated),
		CASE(test_workers_that_are_lost),
		CASE(test_malformed_lines_are_named),
		CASE(test_a_banner_has_an_end),
		CASE(test_workers_that_cannot_be_reached),
		CASE(test_closing_needs_no_hook),
	};
	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
