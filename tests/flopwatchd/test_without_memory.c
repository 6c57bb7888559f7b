/* A file that the daemon could not read for lack of memory is read again later: no error names a line of it, or calls it too large. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "flopwatchd/job/job.h"

#define SHA   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define AGAIN ": out of memory; free memory on this machine and try again"

enum { EVENTS_MAX = 100 };

static bool has_no_memory, has_no_parser;
static int events_left = -1; /* -1: all */

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __real_yaml_parser_initialize(yaml_parser_t *parser);
int __wrap_yaml_parser_initialize(yaml_parser_t *parser);
int __real_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);
int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event);

void *__wrap_realloc(void *old, size_t size)
{
	return has_no_memory ? NULL : __real_realloc(old, size);
}

int __wrap_yaml_parser_initialize(yaml_parser_t *parser)
{
	return has_no_parser ? 0 : __real_yaml_parser_initialize(parser);
}

int __wrap_yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
	if (events_left < 0 || events_left-- > 0)
		return __real_yaml_parser_parse(parser, event);
	parser->error = YAML_MEMORY_ERROR;
	return 0;
}

static void is_shortage(const struct fw_err *err, const char *text)
{
	assert_string_equal(err->text, text);
	assert_int_equal(err->code, ERR_FULL);
	assert_true(err->is_shortage);
}

static struct gitread_commit *commit_with(const char *path, const char *blob)
{
	struct gitread_commit *c = mem_alloc_zero(1, sizeof *c);
	snprintf(c->commit.sha, sizeof c->commit.sha, "%s", SHA);
	snprintf(c->blob[0].path, sizeof c->blob[0].path, "%s", path);
	buf_init(&c->blob[0].text, 1 << 16);
	buf_puts(&c->blob[0].text, blob);
	c->blob[0].present = true;
	c->n_blobs = 1;
	return c;
}

static void a_manifest(void **state)
{
	(void)state;
	static const char text[] = "commit aaaaaaaaaaaa: cannot read .flopwatch.yaml" AGAIN;
	struct gitread_commit *c = commit_with(".flopwatch.yaml", "flopwatch: 1\nsuites: [own]\n");
	struct manifest m;
	struct fw_err err = { 0 };
	int n = 0;
	has_no_parser = true;
	assert_int_equal(plan_manifest(c, &m, &err), -1);
	is_shortage(&err, text);
	has_no_parser = false;
	for (int result = -1; result != 0 && n < EVENTS_MAX; n++) {
		err_clear(&err);
		events_left = n;
		result = plan_manifest(c, &m, &err);
		if (result != 0)
			is_shortage(&err, text);
	}
	assert_in_range(n, 8, EVENTS_MAX - 1);
	assert_string_equal(m.suite[0], "own");
	events_left = -1;
	gitread_commit_free(c);
}

/* Without memory for the list of its mistakes, a wrong manifest has none that could be reported. */
static void mistakes(void **state)
{
	(void)state;
	struct gitread_commit *c = commit_with(".flopwatch.yaml", "flopwatch: 1\nsuite: own\n");
	struct manifest m;
	struct fw_err err = { 0 };
	has_no_memory = true;
	events_left = -1;
	struct yaml *y = yaml_new(c->blob[0].text.data, c->blob[0].text.len, "f");
	yaml_mistake(y, yaml_root(y), "is wrong");
	assert_true(yaml_is_out_of_memory(y));
	assert_int_equal(yaml_mistakes(y), 1);
	yaml_free(y);
	has_no_memory = false;
	assert_int_equal(plan_manifest(c, &m, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_false(err.is_shortage);
	gitread_commit_free(c);
}

static void a_configuration(void **state)
{
	(void)state;
	char path[] = "/tmp/fw-without-XXXXXX", text[128];
	static const char content[] = "state_dir: /tmp/none\nrepos: [{name: a, url: /tmp/a.git}]\n";
	struct config *config = NULL;
	struct buf mistakes;
	struct fw_err err = { 0 };
	int fd = mkstemp(path), n = 0;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, sizeof content - 1), sizeof content - 1);
	close(fd);
	snprintf(text, sizeof text, "cannot read the configuration %s" AGAIN, path);
	buf_init(&mistakes, 1 << 16);
	has_no_memory = true;
	assert_int_equal(config_read(path, &config, &mistakes, &err), -1);
	has_no_memory = false;
	is_shortage(&err, text);
	for (int result = -1; result != 0 && n < EVENTS_MAX; n++) {
		err_clear(&err);
		events_left = n;
		result = config_read(path, &config, &mistakes, &err);
		if (result != 0)
			is_shortage(&err, text);
		assert_int_equal(mistakes.len, 0);
	}
	assert_in_range(n, 10, EVENTS_MAX - 1);
	events_left = -1;
	config_free(config);
	buf_fini(&mistakes);
	unlink(path);
}

static void a_suite(void **state)
{
	(void)state;
	struct config *config = mem_alloc_zero(1, sizeof *config);
	struct gitread_commit *c = commit_with("etc/suites/own.yaml", "suite: own\n");
	struct buf text;
	char folder[] = "/tmp/fw-without-XXXXXX", path[128], file[1024], wanted[256];
	struct fw_err err = { 0 };
	bool installed;
	assert_non_null(mkdtemp(folder));
	snprintf(config->suites_dir, sizeof config->suites_dir, "%s", folder);
	snprintf(path, sizeof path, "%s/other.yaml", folder);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs("suite: other\n", f) >= 0);
	assert_int_equal(fclose(f), 0);
	buf_init(&text, 1 << 16);
	has_no_memory = true;
	assert_int_equal(plan_find_suite(config, c, "own", &text, file, &installed, &err), -1);
	is_shortage(&err, "cannot read etc/suites/own.yaml of commit aaaaaaaaaaaa" AGAIN);
	err_clear(&err);
	assert_int_equal(plan_find_suite(config, c, "other", &text, file, &installed, &err), -1);
	has_no_memory = false;
	snprintf(wanted, sizeof wanted, "cannot read the suite %s" AGAIN, path);
	is_shortage(&err, wanted);
	err_clear(&err);
	assert_int_equal(plan_find_suite(config, c, "other", &text, file, &installed, &err), 1);
	assert_string_equal(text.data, "suite: other\n");
	unlink(path);
	rmdir(folder);
	buf_fini(&text);
	gitread_commit_free(c);
	free(config);
}

static void an_answer_of_git(void **state)
{
	(void)state;
	struct gitread_commit *c = NULL;
	struct buf answer;
	struct fw_err err = { 0 };
	char name[64];
	buf_init(&answer, 1 << 16);
	buf_puts(&answer,
		"{\"commit\":\"" SHA "\",\"tree\":\"" SHA "\",\"parents\":[],\"blobs\":{\".flopwatch.yaml\":\"aGk=\"}}\n");
	has_no_memory = true;
	assert_int_equal(gitread_tree(&answer, &c, &err), -1);
	is_shortage(&err, "cannot read .flopwatch.yaml" AGAIN);
	err_clear(&err);
	assert_int_equal(gitread_encode("main", name, sizeof name, &err), -1);
	is_shortage(&err, "cannot encode the branch name main" AGAIN);
	has_no_memory = false;
	err_clear(&err);
	assert_int_equal(gitread_tree(&answer, &c, &err), 0);
	gitread_commit_free(c);
	buf_fini(&answer);
}

static struct fw_err child_error;

static void on_child(void *arg, const struct buf *out, const struct fw_err *failed)
{
	(void)out;
	has_no_memory = false;
	if (failed)
		child_error = *failed;
	loop_stop(arg);
}

static void the_output_of_a_child(void **state)
{
	(void)state;
	const char *args[] = { "-c", "echo one", NULL };
	struct child_spec spec = { .program = "sh", .args = args, .out_fd = -1, .out_max = 100 };
	struct loop *loop;
	struct fw_err err = { 0 };
	assert_int_equal(loop_new(&loop, &err), 0);
	if (child_start(loop, &spec, on_child, loop, NULL, &err) != 0)
		fail_msg("%s", err.text);
	has_no_memory = true;
	assert_int_equal(loop_run(loop, &err), 0);
	has_no_memory = false;
	is_shortage(&child_error, "cannot read the output of sh" AGAIN);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_manifest),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(a_configuration),
		cmocka_unit_test(a_suite),
		cmocka_unit_test(an_answer_of_git),
		cmocka_unit_test(the_output_of_a_child),
	};
	return cmocka_run_group_tests_name("without_memory", tests, NULL, NULL);
}
