/* Causes: the first cause in profiles of planted regressions, no cause for equal modules, and properties of all answers. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <math.h>

#include "noise.h"
#include "profile/profile.h"
#include "profile_case.h"

static glob_t files;

static int find_files(void **state)
{
	(void)state;
	return glob("tests/data/profiles/*.jsonl", 0, NULL, &files);
}

static int forget_files(void **state)
{
	(void)state;
	globfree(&files);
	return 0;
}

static void show(const struct profile_case *c, const struct cause *of, size_t n)
{
	print_message("%s\n", c->file);
	for (size_t i = 0; i < n; i++)
		print_message("  %zu %-19s %-8s %8.4f  %s\n", i + 1, cause_kind_names[of[i].kind],
			cause_confidence_names[of[i].confidence], of[i].explained_ms, of[i].sentence);
}

/* Properties of every answer. */
static void is_sound(const struct cause_evidence *e, const struct cause *of, size_t n)
{
	double sum = 0, whole = e->target_ms - e->base_ms;

	assert_true(n <= CAUSE_MAX);
	for (size_t i = 0; i < n; i++) {
		assert_true(isfinite(of[i].explained_ms) && isfinite(of[i].of_ms));
		assert_true(of[i].explained_ms * whole >= 0 && fabs(of[i].explained_ms) <= fabs(whole) * (1 + 1e-9));
		assert_true(of[i].of_ms == whole);
		if (!of[i].sentence[0] || strstr(of[i].sentence, "nan") || strstr(of[i].sentence, "inf"))
			fail_msg("'%s'", of[i].sentence);
		assert_true((of[i].kind == CAUSE_NOT_EXPLAINED) == (of[i].confidence == CAUSE_OPEN));
		if (of[i].confidence == CAUSE_OPEN)
			assert_true(i == n - 1);
		if (of[i].confidence == CAUSE_EXACT || of[i].confidence == CAUSE_MEASURED)
			sum += fabs(of[i].explained_ms);
	}
	assert_true(sum <= fabs(whole) * (1 + 1e-9));
	/* below half nothing is claimed to be the explanation */
	if (n > 0)
		assert_true((sum < fabs(whole) / 2) == (of[n - 1].kind == CAUSE_NOT_EXPLAINED) || n == CAUSE_MAX);
}

static void has_named(const struct profile_case *c, const char *key, const struct cause *of, size_t n)
{
	double within = fmax(1, profile_case_number(c, "within")), explained = 0;
	const char *kernel = json_string_value(json_object_get(c->verdict, "kernel"));
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		found |= i < within && profile_case_has(c, key, cause_kind_names[of[i].kind]) &&
			 strncmp(of[i].kernel, kernel, strlen(kernel)) == 0;
		if (of[i].confidence == CAUSE_EXACT || of[i].confidence == CAUSE_MEASURED)
			explained += of[i].explained_ms / of[i].of_ms;
	}
	if (!found || (strcmp(key, "first") == 0 && explained < profile_case_number(c, "explains"))) {
		show(c, of, n);
		fail_msg("%s: %.0f %% explained, and '%s' says what had to be named", c->file, 100 * explained, key);
	}
}

static void planted_losses_are_named(void **state)
{
	struct cause of[CAUSE_MAX];

	(void)state;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct profile_case *c = profile_case_new(files.gl_pathv[i]);
		size_t n = cause_rank(&c->e, of, CAUSE_MAX);

		is_sound(&c->e, of, n);
		if (getenv("SHOW"))
			show(c, of, n);
		if (json_array_size(json_object_get(c->verdict, "first")) > 0)
			has_named(c, "first", of, n);
		else
			assert_true(n == 0 || (n == 1 && of[0].kind == CAUSE_NOT_EXPLAINED));
		profile_case_free(c);
	}
	assert_true(files.gl_pathc >= 12);
}

/* Without counters: times from an activity record, or not even those. */
static void machine_code_alone_names_what_it_can(void **state)
{
	struct cause of[CAUSE_MAX];
	int tried = 0;

	(void)state;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct profile_case *c = profile_case_new(files.gl_pathv[i]);

		c->e.is_counted = false;
		c->e.with_ms = 0;
		for (size_t k = 0; k < c->e.n_kernels; k++)
			c->kernel[k].n_values = 0;
		for (int timed = 1; timed >= 0; timed--) {
			for (size_t k = 0; !timed && k < c->e.n_kernels; k++)
				c->kernel[k].ms = -1;
			size_t n = cause_rank(&c->e, of, CAUSE_MAX);

			is_sound(&c->e, of, n);
			if (getenv("SHOW"))
				show(c, of, n);
			if (json_object_get(c->verdict, "from_code"))
				has_named(c, "from_code", of, n);
		}
		tried += json_object_get(c->verdict, "from_code") != NULL;
		profile_case_free(c);
	}
	assert_true(tried >= 5);
}

/* How far a value varies from one process to the next, where nothing changed. */
static double strays(const char *metric)
{
	if (strstr(metric, "inst_executed") || strstr(metric, "launched") || strstr(metric, "op_local"))
		return 0;
	if (strncmp(metric, "dram", 4) == 0 || strstr(metric, "stalled"))
		return 0.006;
	return strstr(metric, "duration") ? 0.004 : 0.0015;
}

/* The base's first process four times, as both sides. */
static void make_equal(struct profile_case *c, struct noise *noise)
{
	size_t n = 0;

	for (size_t i = 0; i < c->e.n_kernels; i++)
		if (!c->kernel[i].of_target && c->kernel[i].repeat == 0)
			c->kernel[n++] = c->kernel[i];
	c->e.n_kernels = n;
	c->e.n_codes = 0;
	c->e.target_config = c->e.base_config;
	c->e.with_ms = c->e.clock_ms = c->e.host_ms = 0;
	for (int copy = 1; copy < 4; copy++)
		for (size_t i = 0; i < n; i++) {
			struct cause_kernel *k = &c->kernel[c->e.n_kernels++];

			*k = c->kernel[i];
			k->of_target = copy % 2;
			k->repeat = copy / 2;
		}
	/* the values are still those of the file's arrays: copy each of them */
	for (size_t i = 0; i < c->e.n_kernels; i++) {
		struct cause_value *own = malloc((c->kernel[i].n_values + 1) * sizeof *own);

		assert_non_null(own);
		for (size_t v = 0; v < c->kernel[i].n_values; v++) {
			own[v] = c->kernel[i].value[v];
			own[v].value *= exp(strays(own[v].metric) * noise_normal(noise));
		}
		c->kernel[i].value = own;
	}
}

static void equal_modules_have_no_cause(void **state)
{
	struct cause of[CAUSE_MAX];
	int named = 0, tried = 0;

	(void)state;
	for (size_t i = 0; i < files.gl_pathc; i++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct profile_case *c = profile_case_new(files.gl_pathv[i]);
			struct noise noise = { .state = seed };

			make_equal(c, &noise);
			c->e.target_ms = c->e.base_ms + 0.9 * c->e.noise_ms;
			assert_int_equal(cause_rank(&c->e, of, CAUSE_MAX), 0);
			/* and where the verdict is wrong, no random difference becomes its reason */
			c->e.target_ms = 1.02 * c->e.base_ms;
			size_t n = cause_rank(&c->e, of, CAUSE_MAX);

			is_sound(&c->e, of, n);
			assert_true(n > 0 && of[n - 1].kind == CAUSE_NOT_EXPLAINED);
			tried++;
			named += n > 1;
			if (n > 1 && getenv("SHOW"))
				show(c, of, n);
			for (size_t k = 0; k < c->e.n_kernels; k++)
				free((void *)(uintptr_t)c->kernel[k].value);
			c->e.n_kernels = 0;
			for (size_t k = 0; k < PROFILE_CASE_LINES; k++)
				free(c->value[k]);
			profile_case_free(c);
		}
	assert_true(tried >= 20 * 12);
	assert_int_equal(named, 0);
}

static void shuffle(void *items, size_t n, size_t size, struct noise *noise)
{
	char *at = items, swap[512];

	assert_true(size <= sizeof swap);
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)(noise_uniform(noise) * (double)i);

		memcpy(swap, at + (i - 1) * size, size);
		memcpy(at + (i - 1) * size, at + j * size, size);
		memcpy(at + j * size, swap, size);
	}
}

static void the_order_of_the_evidence_does_not_matter(void **state)
{
	struct noise noise = { .state = 3 };
	struct cause of[CAUSE_MAX], again[CAUSE_MAX];

	(void)state;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct profile_case *c = profile_case_new(files.gl_pathv[i]);
		size_t n = cause_rank(&c->e, of, CAUSE_MAX);

		for (int times = 0; times < 10; times++) {
			/* the file still frees the arrays of values, by their index */
			for (size_t k = 0; k < c->e.n_kernels; k++)
				shuffle((void *)(uintptr_t)c->kernel[k].value, c->kernel[k].n_values, sizeof(struct cause_value),
					&noise);
			shuffle(c->kernel, c->e.n_kernels, sizeof c->kernel[0], &noise);
			shuffle(c->code, c->e.n_codes, sizeof c->code[0], &noise);
			assert_int_equal(cause_rank(&c->e, again, CAUSE_MAX), n);
			for (size_t k = 0; k < n; k++)
				assert_string_equal(again[k].sentence, of[k].sentence);
		}
		profile_case_free(c);
	}
}

static void missing_and_invalid_numbers_are_skipped(void **state)
{
	static const double odd[] = { NAN, INFINITY, -INFINITY, -1, 0, 1e300, 5e-324 };
	struct noise noise = { .state = 5 };
	struct cause of[CAUSE_MAX];

	(void)state;
	for (int times = 0; times < 400; times++) {
		struct profile_case *c = profile_case_new(files.gl_pathv[(size_t)times % files.gl_pathc]);
		double missing = noise_uniform(&noise), wrong = noise_uniform(&noise) < 0.5 ? 0 : noise_uniform(&noise) / 4;

		for (size_t k = 0; k < c->e.n_kernels; k++) {
			struct cause_value *v = c->value[k];
			size_t kept = 0;

			for (size_t i = 0; i < c->kernel[k].n_values; i++)
				if (noise_uniform(&noise) > missing)
					v[kept++] = v[i];
			c->kernel[k].n_values = kept;
			for (size_t i = 0; i < kept; i++)
				if (noise_uniform(&noise) < wrong)
					v[i].value = odd[(size_t)(noise_uniform(&noise) * 7)];
			if (noise_uniform(&noise) < wrong)
				c->kernel[k].ms = odd[(size_t)(noise_uniform(&noise) * 7)];
			if (noise_uniform(&noise) < wrong / 4)
				c->kernel[k].name = c->kernel[k].phase = NULL;
			if (noise_uniform(&noise) < wrong / 4)
				c->kernel[k].n = (int)(noise_uniform(&noise) * 5) - 1;
		}
		if (noise_uniform(&noise) < 0.5)
			shuffle(c->kernel, c->e.n_kernels, sizeof c->kernel[0], &noise);
		/* a process that died early */
		size_t dropped = noise_uniform(&noise) < 0.3 ? (size_t)(noise_uniform(&noise) * (double)c->e.n_kernels) : 0,
		       all = c->e.n_kernels;

		c->e.n_kernels -= dropped;
		if (noise_uniform(&noise) < 0.3)
			c->e.device = (struct cause_device){ -1, NAN, INFINITY, -5 };
		if (noise_uniform(&noise) < 0.2)
			c->e.clock_ms = c->e.host_ms = c->e.noise_ms = NAN;
		size_t n = cause_rank(&c->e, of, CAUSE_MAX);

		is_sound(&c->e, of, n);
		assert_true(cause_rank(&c->e, of, 1) == (n > 0));
		c->e.n_kernels = all;
		profile_case_free(c);
	}
	assert_int_equal(cause_rank(&(struct cause_evidence){ .base_ms = NAN, .target_ms = 2 }, of, CAUSE_MAX), 0);
	assert_int_equal(cause_rank(&(struct cause_evidence){ .base_ms = 1, .target_ms = 2 }, of, CAUSE_MAX), 1);
	assert_int_equal(of[0].kind, CAUSE_NOT_EXPLAINED);
	assert_string_equal(of[0].sentence, "1 of the 1 ms that a call lost are not explained, and nothing was counted");
}

static void turn_round(struct profile_case *c, size_t at)
{
	struct cause_code *code = &c->code[at];
	const char *base = code->base;
	struct cause_takes takes = code->base_takes;

	code->base = code->target;
	code->target = base;
	code->base_takes = code->target_takes;
	code->target_takes = takes;
	if (strcmp(code->what, "added") == 0 || strcmp(code->what, "removed") == 0)
		code->what = strcmp(code->what, "added") == 0 ? "removed" : "added";
	for (size_t i = 0; i < code->n_opcodes; i++) {
		struct cause_opcode *o = (struct cause_opcode *)(uintptr_t)&code->opcode[i];
		long count = o->base;

		o->base = o->target;
		o->target = count;
	}
}

static void a_gain_has_the_same_causes(void **state)
{
	struct cause of[CAUSE_MAX];

	(void)state;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct profile_case *c = profile_case_new(files.gl_pathv[i]);
		double base_ms = c->e.base_ms;
		const char *config = c->e.base_config;

		c->e.base_ms = c->e.target_ms;
		c->e.target_ms = base_ms;
		c->e.base_config = c->e.target_config;
		c->e.target_config = config;
		c->e.with_ms = 0;
		for (size_t k = 0; k < c->e.n_kernels; k++)
			c->kernel[k].of_target = !c->kernel[k].of_target;
		for (size_t k = 0; k < c->e.n_codes; k++)
			turn_round(c, k);
		size_t n = cause_rank(&c->e, of, CAUSE_MAX);

		is_sound(&c->e, of, n);
		if (getenv("SHOW"))
			show(c, of, n);
		if (profile_case_has(c, "first", "extra_node"))
			assert_int_equal(of[0].kind, CAUSE_MISSING_NODE);
		else if (!profile_case_has(c, "first", "config") && json_array_size(json_object_get(c->verdict, "first")) > 0)
			assert_true(n > 0 && profile_case_has(c, "first", cause_kind_names[of[0].kind]));
		profile_case_free(c);
	}
}

/* The comparison knows these exactly; the rest of the difference is the kernel's. */
static void clock_and_host_explain_their_share(void **state)
{
	struct profile_case *c = profile_case_new("tests/data/profiles/08-barrier-a-step.jsonl");
	struct cause of[CAUSE_MAX];
	double whole = c->e.target_ms - c->e.base_ms;

	(void)state;
	c->e.clock_ms = 0.8 * whole;
	size_t n = cause_rank(&c->e, of, CAUSE_MAX);

	is_sound(&c->e, of, n);
	assert_int_equal(of[0].kind, CAUSE_CLOCK);
	assert_float_equal(of[0].explained_ms, 0.8 * whole, 1e-9);
	c->e.clock_ms = -0.5 * whole; /* it became faster: not a cause of a regression */
	c->e.host_ms = 0.7 * whole;
	n = cause_rank(&c->e, of, CAUSE_MAX);
	is_sound(&c->e, of, n);
	assert_int_equal(of[0].kind, CAUSE_HOST);
	for (size_t i = 0; i < n; i++)
		assert_int_not_equal(of[i].kind, CAUSE_CLOCK);
	profile_case_free(c);
}

static void a_configuration_has_its_cost(void **state)
{
	struct profile_case *c = profile_case_new("tests/data/profiles/06-other-parts.jsonl");
	struct cause of[CAUSE_MAX];

	(void)state;
	assert_true(cause_rank(&c->e, of, CAUSE_MAX) > 0);
	assert_non_null(strstr(of[0].sentence,
		"PARTS 2 -> 1: 0.217 of the 0.22 ms that a call lost; with the base's configuration the slowdown is gone; v2_backward_kernel"));
	c->e.with_ms = c->e.with_target_ms; /* it was tried, and changed nothing */
	size_t n = cause_rank(&c->e, of, CAUSE_MAX);

	for (size_t i = 0; i < n; i++)
		assert_int_not_equal(of[i].kind, CAUSE_CONFIG);
	profile_case_free(c);
}

/* ptxas's own messages about a kernel that became slower. */
static size_t rank_with(struct profile_case *c, const struct cause_diagnostic *said, struct cause *of)
{
	c->e.diagnostic = said;
	c->e.n_diagnostics = 1;
	size_t n = cause_rank(&c->e, of, CAUSE_MAX);

	is_sound(&c->e, of, n);
	return n;
}

static bool tells(const struct cause *of, size_t n, enum cause_kind kind, const char *words)
{
	for (size_t i = 0; i < n; i++)
		if (of[i].kind == kind && strstr(of[i].sentence, words))
			return true;
	return false;
}

static void a_ptxas_difference_is_a_cause(void **state)
{
	struct cause of[CAUSE_MAX];
	struct profile_case *c = profile_case_new("tests/data/profiles/h200-2026-11-23-serial.jsonl");
	struct cause_diagnostic serial = { .is_worse = true,
		.is_serial = true,
		.code = "C7512",
		.kernel = "v2_backward_kernel<128, 128, 1>",
		.what = "wgmma is serialised because there are too few registers" };

	(void)state;
	assert_true(rank_with(c, &serial, of) > 0);
	assert_int_equal(of[0].kind, CAUSE_TENSOR_WAIT);
	assert_non_null(strstr(
		of[0].sentence, "instead of 4; ptxas reports C7512: wgmma is serialised because there are too few registers"));
	serial.kernel = "v2_backward_kernel<64, 128, 1>"; /* which this cell does not run */
	assert_false(tells(of, rank_with(c, &serial, of), CAUSE_TENSOR_WAIT, "C7512"));
	serial.kernel = "v2_backward_kernel<...>";
	serial.is_worse = false; /* it is gone: no reason for a regression */
	assert_false(tells(of, rank_with(c, &serial, of), CAUSE_TENSOR_WAIT, "C7512"));
	serial.is_worse = true;
	c->e.is_counted = false; /* without counters, without opcodes */
	c->e.n_codes = 0;
	for (size_t k = 0; k < c->e.n_kernels; k++)
		c->kernel[k].n_values = 0;
	assert_true(rank_with(c, &serial, of) > 0);
	assert_int_equal(of[0].kind, CAUSE_TENSOR_WAIT);
	assert_non_null(strstr(of[0].sentence, "one by one: ptxas reports C7512"));
	profile_case_free(c);

	struct cause_diagnostic spill = { .is_worse = true,
		.is_spill = true,
		.code = "",
		.kernel = "v2_forward_kernel<128>",
		.what = "spills of 64 bytes by stores and 64 by loads instead of none, with 168 registers" };

	c = profile_case_new("tests/data/profiles/h200-2026-11-23-spills.jsonl");
	assert_true(rank_with(c, &spill, of) > 0);
	assert_int_equal(of[0].kind, CAUSE_SPILLS);
	assert_non_null(strstr(of[0].sentence, "; ptxas: spills of 64 bytes by stores"));
	profile_case_free(c);
}

static void names_in_logs_are_those_of_profilers(void **state)
{
	static const struct {
		const char *kernel, *logged;
		bool is_same;
	} names[] = {
		{ "void v2_backward_kernel<128, 128, (queries)1>(v2_job)", "v2_backward_kernel<128, 128, 1>", true },
		{ "void v2_backward_kernel<128, 128, (queries)1>(v2_job)", "v2_backward_kernel<128, 64, 1>", false },
		{ "void v2_backward_kernel<128, 128, (queries)1>(v2_job)", "v2_backward_kernel<...>", true },
		{ "void v2_backward(v2_job)", "v2_backward_kernel<...>", false },
		{ "(anonymous namespace)::hidden(float*)", "hidden", true },
		{ "void a::b::f<c<int> >(float*, g<int>)", "a::b::f<c<int>>", true },
		{ "memset", "", false },
		{ "f(", "f", true },
		{ "f<(", "f<1>", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		assert_int_equal(diagnostic_names(names[i].kernel, names[i].logged), names[i].is_same);
}

static void kernels_have_short_names(void **state)
{
	static const char *const names[][2] = {
		{ "void v2_backward_kernel<128, 128, 1>(v2_job)", "v2_backward_kernel<128, 128, 1>" },
		{ "void (anonymous namespace)::fill<float>(float*, long)", "fill<float>" },
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul>>(int, float)",
			"vectorized_elementwise_kernel" },
		{ "void v2_backward_kernel<(int)128, (int)-1, (queries)1>(v2_job)", "v2_backward_kernel<128, -1, 1>" },
		{ "memset", "memset" },
		{ "k\xc3\xa4rn\x1b[2J", "k??rn?[2J" },
		{ "_Z3foov", "_Z3foov" },
		{ "", "" },
		{ "(", "(" },
		{ "<<<<", "<<<<" },
	};
	char out[CAUSE_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		sentence_kernel(names[i][0], out);
		assert_string_equal(out, names[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(planted_losses_are_named),
		cmocka_unit_test(machine_code_alone_names_what_it_can),
		cmocka_unit_test(equal_modules_have_no_cause),
		cmocka_unit_test(the_order_of_the_evidence_does_not_matter),
		cmocka_unit_test(missing_and_invalid_numbers_are_skipped),
		cmocka_unit_test(a_gain_has_the_same_causes),
		cmocka_unit_test(clock_and_host_explain_their_share),
		cmocka_unit_test(a_configuration_has_its_cost),
		cmocka_unit_test(a_ptxas_difference_is_a_cause),
		cmocka_unit_test(names_in_logs_are_those_of_profilers),
		cmocka_unit_test(kernels_have_short_names),
	};

	return cmocka_run_group_tests(tests, find_files, forget_files);
}
