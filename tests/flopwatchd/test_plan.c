/* The manifest and the suite that count, and conditions for equal sides. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flopwatchd/job/job.h"

#define SHA "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define OID "cccccccccccccccccccccccccccccccccccccccc"
#define SUITE                                                                                                                    \
	"suite: s\nfamily: attention\ncommon: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}\n"                                      \
	"dense: {seqlens: [64], masks: [full, causal]}\ndirections: [forward, backward]\nseed: 1\nbudget_s: 33\n"

static char folder[] = "/tmp/fw-plan-XXXXXX";
static struct config *config;

static int setup(void **state)
{
	(void)state;
	config = calloc(1, sizeof *config);
	if (!config || !mkdtemp(folder))
		return -1;
	snprintf(config->suites_dir, sizeof config->suites_dir, "%s", folder);
	config->build_s = 1;
	config->check_s = 2;
	config->run_s = 3;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	char path[128];
	snprintf(path, sizeof path, "%s/installed.yaml", folder);
	unlink(path);
	free(config);
	return rmdir(folder);
}

/* A commit with the given blobs and oids; base64 written by hand would be unreadable. */
static struct gitread_commit *commit_with(const char *blob_path, const char *blob, const char *input)
{
	struct gitread_commit *c = calloc(1, sizeof *c);
	assert_non_null(c);
	snprintf(c->commit.sha, sizeof c->commit.sha, "%s", SHA);
	if (blob) {
		snprintf(c->blob[0].path, sizeof c->blob[0].path, "%s", blob_path);
		buf_init(&c->blob[0].text, 1 << 16);
		buf_puts(&c->blob[0].text, blob);
		c->blob[0].present = true;
		c->n_blobs = 1;
	}
	snprintf(c->oid[0].path, sizeof c->oid[0].path, "%s", "kernels");
	snprintf(c->oid[0].oid, sizeof c->oid[0].oid, "%s", input);
	c->n_oids = 1;
	return c;
}

static void test_manifests(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct manifest m;
	struct gitread_commit *c = commit_with("", NULL, OID);
	assert_int_equal(plan_manifest(c, &m, &err), 0);
	assert_string_equal(m.input[0], "kernels");
	gitread_commit_free(c);
	c = commit_with(".flopwatch.yaml", "flopwatch: 1\nsuites: [own]\n", OID);
	assert_int_equal(plan_manifest(c, &m, &err), 0);
	assert_string_equal(m.suite[0], "own");
	gitread_commit_free(c);
	c = commit_with(".flopwatch.yaml", "flopwatch: 1\nsuite: own\n", OID);
	assert_int_equal(plan_manifest(c, &m, &err), -1);
	assert_string_equal(err.text, "commit aaaaaaaaaaaa: .flopwatch.yaml:2:1: suite: unknown key; did you mean `suites`?");
	gitread_commit_free(c);
}

static void test_a_side_needs_its_inputs(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct plan p;
	struct manifest m;
	plan_init(&p);
	manifest_default(&m);
	struct gitread_commit *c = commit_with(".flopwatch.yaml", "flopwatch: 1\n", OID);
	assert_int_equal(plan_side(&p, 1, ROLE_TARGET, c, &m, &err), 0);
	assert_int_equal(p.request.side[1].role, ROLE_TARGET);
	assert_string_equal(p.request.side[1].commit, SHA);
	assert_string_equal(p.request.side[1].input[0].oid, OID);
	assert_int_equal(p.request.n_sides, 2);
	snprintf(c->problem, sizeof c->problem, "kernels/x is a submodule");
	assert_int_equal(plan_side(&p, 1, ROLE_TARGET, c, &m, &err), -1);
	assert_string_equal(err.text, "commit aaaaaaaaaaaa: kernels/x is a submodule");
	err_clear(&err);
	c->problem[0] = c->oid[0].oid[0] = 0;
	assert_int_equal(plan_side(&p, 1, ROLE_TARGET, c, &m, &err), -1);
	assert_string_equal(
		err.text, "commit aaaaaaaaaaaa has no kernels, which its inputs name (see doc/troubleshooting.md#missing-input)");
	err_clear(&err);
	c->blob[0].present = false;
	assert_int_equal(plan_side(&p, 1, ROLE_TARGET, c, &m, &err), -1);
	assert_string_equal(err.text,
		"commit aaaaaaaaaaaa has neither .flopwatch.yaml, which defines the build and the benchmarks, nor "
		"kernels, which would be built without one (see doc/troubleshooting.md#no-manifest)");
	err_clear(&err);
	c->n_oids = 0;
	assert_int_equal(plan_side(&p, 1, ROLE_TARGET, c, &m, &err), -1);
	assert_int_equal(err.code, ERR_INTERNAL);
	gitread_commit_free(c);
	plan_fini(&p);
}

static void take_suite(struct plan *p, const struct gitread_commit *base, const char *name, const char *glob, const char *why)
{
	struct fw_err err = { 0 };
	int got = plan_suite(p, config, "repo", base, name, glob, &err);
	if (!why && got != 0)
		fail_msg("%s", err.text);
	if (why)
		assert_string_equal(err.text, why);
}

static void test_the_suite_of_the_base_comes_first(void **state)
{
	(void)state;
	struct plan p;
	char why[256], path[128], whole[65];
	plan_init(&p);
	struct gitread_commit *c = commit_with("etc/suites/own.yaml", SUITE, OID);
	take_suite(&p, c, "own", "", NULL);
	assert_int_equal(p.request.n_cells, 4);
	assert_string_equal(p.suite_name, "own");
	assert_string_equal(p.suite_origin, "repo@" SHA);
	assert_string_equal(p.suite_text.data, SUITE);
	assert_true(p.request.limits.budget_s == 33 && p.request.limits.build_s == 1 && p.request.limits.run_s == 3);
	assert_int_equal(p.request.rule.version, 6);
	memcpy(whole, p.suite_sha, sizeof whole);
	take_suite(&p, c, "own", "*/causal/*", NULL);
	assert_int_equal(p.request.n_cells, 2);
	assert_string_equal(p.suite_sha, whole); /* of the whole suite, whichever cells are measured */
	take_suite(&p, c, "own", "nothing", "no cell of suite own matches nothing");
	take_suite(&p, c, "../own", "", "`../own` is not the name of a suite; e.g. ffa");
	snprintf(path, sizeof path, "%s/installed.yaml", folder);
	snprintf(why, sizeof why, "there is no suite installed: not at etc/suites/installed.yaml in base aaaaaaaaaaaa, and no %s",
		path);
	take_suite(&p, c, "installed", "", why);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(SUITE, f) >= 0);
	assert_int_equal(fclose(f), 0);
	take_suite(&p, c, "installed", "", NULL);
	assert_string_equal(p.suite_origin, "installed");
	gitread_commit_free(c);
	c = commit_with(".flopwatch/suites/own.yaml", "suite: s\nfamily: attention\ndense: 3\n", OID);
	struct fw_err err = { 0 };
	assert_int_equal(plan_suite(&p, config, "repo", c, "own", "", &err), -1);
	assert_memory_equal(err.text, ".flopwatch/suites/own.yaml of aaaaaaaaaaaa:", 43);
	gitread_commit_free(c);
	plan_fini(&p);
}

static void test_equal_inputs_are_identical(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct plan p;
	struct manifest m;
	plan_init(&p);
	manifest_default(&m);
	struct gitread_commit *c = commit_with("", NULL, OID);
	p.request.kind = JOBKIND_COMPARE;
	assert_int_equal(plan_side(&p, 0, ROLE_BASE, c, &m, &err), 0);
	assert_int_equal(plan_side(&p, 1, ROLE_TARGET, c, &m, &err), 0);
	plan_compare(&p);
	assert_true(p.identical);
	p.request.kind = JOBKIND_SELFCHECK;
	plan_compare(&p);
	assert_false(p.identical);
	p.request.kind = JOBKIND_COMPARE;
	snprintf(p.request.side[1].build.command[0], sizeof p.request.side[1].build.command[0], "ninja");
	plan_compare(&p);
	assert_false(p.identical);
	gitread_commit_free(c);
	plan_fini(&p);
}

/* A word that moves from one list of a benchmark to the next one changes what runs, so the sides are not identical. */
static void test_lists_of_a_benchmark_do_not_run_together(void **state)
{
	(void)state;
	struct plan p;
	struct benchmark *base, *target;
	plan_init(&p);
	p.request.kind = JOBKIND_COMPARE;
	p.request.n_sides = 2;
	base = &p.request.side[0].benchmark;
	target = &p.request.side[1].benchmark;
	*base = (struct benchmark){ .name = "sums", .n_command = 2, .reader = "flopwatch" };
	snprintf(base->command[0], sizeof base->command[0], "./sums");
	snprintf(base->command[1], sizeof base->command[1], "out.json");
	*target = *base;
	plan_compare(&p);
	assert_true(p.identical);
	target->n_command = target->n_outputs = 1;
	snprintf(target->output[0], sizeof target->output[0], "out.json");
	plan_compare(&p);
	assert_false(p.identical);
	*base = *target;
	plan_compare(&p);
	assert_true(p.identical);
	target->n_outputs = 0;
	target->n_artifacts = 1;
	snprintf(target->artifact[0], sizeof target->artifact[0], "out.json");
	plan_compare(&p);
	assert_false(p.identical);
	plan_fini(&p);
}

static void test_the_inputs_hash_covers_all_that_makes_a_build(void **state)
{
	(void)state;
	struct msg_side *s = calloc(1, sizeof *s);
	assert_non_null(s);
	char plain[65], other[65];
	s->n_inputs = 1;
	snprintf(s->input[0].path, sizeof s->input[0].path, "kernels");
	snprintf(s->input[0].oid, sizeof s->input[0].oid, "abc");
	struct manifest usual;
	manifest_default(&usual);
	s->build = usual.build;
	plan_inputs_hash(s, DEVICE_CPU, plain);
	snprintf(s->commit, sizeof s->commit, "another");
	plan_inputs_hash(s, DEVICE_CPU, other);
	assert_string_equal(plain, other);
	plan_inputs_hash(s, DEVICE_CUDA, other);
	assert_string_not_equal(plain, other);
	snprintf(s->input[0].oid, sizeof s->input[0].oid, "abd");
	plan_inputs_hash(s, DEVICE_CPU, other);
	assert_string_not_equal(plain, other);
	snprintf(s->input[0].oid, sizeof s->input[0].oid, "abc");
	snprintf(s->build.output[0], sizeof s->build.output[0], "elsewhere.so");
	plan_inputs_hash(s, DEVICE_CPU, other);
	assert_string_not_equal(plain, other);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifests),
		cmocka_unit_test(test_a_side_needs_its_inputs),
		cmocka_unit_test(test_the_suite_of_the_base_comes_first),
		cmocka_unit_test(test_equal_inputs_are_identical),
		cmocka_unit_test(test_lists_of_a_benchmark_do_not_run_together),
		cmocka_unit_test(test_the_inputs_hash_covers_all_that_makes_a_build),
	};
	return cmocka_run_group_tests_name("plan", tests, setup, teardown);
}
