/* The reason why a cost grew, from what both sides' calls have. */
#include "judge_run.h"

#include "flopwatchd/record/internal.h"

/* What one side's call has; zeros: provider "hopper", one kernel "attention" of known code. */
struct call {
	const char *provider, *config, *kernel[3], *code;
	double plan_ms, first_ms, flops, bytes;
	int tried, registers, local_bytes, grid;
	bool has_no_kernels;
};

static void add_nodes(struct result *r, enum role role, const struct call *c)
{
	int n = 0;
	for (int k = 0; !c->has_no_kernels && (k == 0 || (k < 3 && c->kernel[k])); k++) {
		struct msg m = { .t = MSG_NODE,
			.u.node = { .grid = { c->grid ? c->grid : 8, 2, 1 },
				.block = { 128, 1, 1 },
				.registers = c->registers,
				.local_bytes = c->local_bytes,
				.sm = 90 } };
		m.u.node.role = role;
		snprintf(m.u.node.phase, sizeof m.u.node.phase, "run");
		snprintf(m.u.node.kernel, sizeof m.u.node.kernel, "%s", c->kernel[k] ? c->kernel[k] : "attention");
		memset(m.u.node.code_sha256, c->code ? c->code[0] : 'a', 64);
		fixture_add(r, &m);
		n++;
	}
	assert_int_equal(n > 0, !c->has_no_kernels);
}

static void add_side(struct result *r, enum role role, const struct call *c)
{
	struct msg m = { .t = MSG_WORK,
		.u.work = { .plan_ms = c->plan_ms,
			.first_ms = c->first_ms,
			.taken_bytes = -1,
			.flops_issued = c->flops,
			.bytes_moved = c->bytes,
			.tried = { .of = c->tried } } };
	m.u.work.role = role;
	snprintf(m.u.work.provider, sizeof m.u.work.provider, "%s", c->provider ? c->provider : "hopper");
	snprintf(m.u.work.config, sizeof m.u.work.config, "%s", c->config ? c->config : "TILE=128");
	fixture_add(r, &m);
	add_nodes(r, role, c);
}

static void is_because(
	struct fixture *f, enum cost cost, const struct call *base, const struct call *target, const char *expected)
{
	char why[COST_WHY_SIZE];
	struct result *r = fixture_result(f, "topic", 1, 2, 1);
	add_side(r, ROLE_BASE, base);
	add_side(r, ROLE_TARGET, target);
	cost_why(r, cost, 0, why);
	result_free(r);
	assert_string_equal(why, expected);
}

static void another_choice_comes_first(void **state)
{
	const struct call base = { .provider = NULL };
	is_because(*state, COST_MEMORY, &base, &(struct call){ .config = "TILE=64", .code = "b" },
		"the target runs with TILE 64 instead of TILE 128");
	is_because(*state, COST_ENERGY, &base, &(struct call){ .provider = "cudnn" },
		"the target runs provider cudnn instead of hopper");
}

static void a_first_call_has_steps(void **state)
{
	const struct call base = { .plan_ms = 90, .first_ms = 400 };
	is_because(*state, COST_FIRST, &base, &(struct call){ .plan_ms = 2100, .first_ms = 2410 },
		"the plan takes 2.1 s instead of 90 ms");
	is_because(*state, COST_FIRST, &base,
		&(struct call){ .plan_ms = 2100, .first_ms = 2410, .tried = 24, .config = "TILE=64" },
		"the plan takes 2.1 s instead of 90 ms, and tries 24 instead of 0 configurations");
	is_because(*state, COST_FIRST, &base, &(struct call){ .plan_ms = 95, .first_ms = 2095 },
		"bind and first call after the plan take 2 s instead of 310 ms");
	/* an older worker does not report the plan */
	is_because(*state, COST_FIRST, &(struct call){ .first_ms = 400 }, &(struct call){ .first_ms = 2400 },
		"both sides launch the same kernels in the same grids, so the host or the choice of a configuration takes longer");
}

static void other_kernels_are_named(void **state)
{
	const struct call base = { .kernel = { "attention" } };
	is_because(*state, COST_LAUNCHES, &base, &(struct call){ .kernel = { "attention", "void zero<float>(float*)" } },
		"a call also launches zero<float> (run)");
	is_because(*state, COST_HOST, &base, &(struct call){ .kernel = { "attention", "attention" } },
		"a call also launches attention (run)");
	is_because(*state, COST_ERROR, &base, &(struct call){ .kernel = { "fast_attention" } },
		"a call launches fast_attention (run) instead of attention (run)");
	is_because(*state, COST_MEMORY, &(struct call){ .kernel = { "attention", "reduce" } }, &base,
		"a call no longer launches reduce (run)");
	is_because(*state, COST_LAUNCHES, &base, &(struct call){ .kernel = { "a", "b", "c" } },
		"a call launches a (run), b (run) and 1 more instead of attention (run)");
}

static void kernels_of_equal_names_are_compared(void **state)
{
	const struct call base = { .registers = 128 };
	is_because(*state, COST_ERROR, &base, &(struct call){ .registers = 128, .code = "b" },
		"the machine code of attention (run) differs");
	is_because(*state, COST_ENERGY, &base, &(struct call){ .registers = 168, .local_bytes = 80, .code = "b" },
		"the machine code of attention (run) differs, with 168 instead of 128 registers a thread, with 80 instead of 0 bytes "
		"of local memory");
	is_because(*state, COST_ENERGY, &base, &(struct call){ .registers = 128, .grid = 16 },
		"attention (run) runs in 16 x 2 x 1 blocks instead of 8 x 2 x 1");
}

static void equal_kernels_leave_the_host(void **state)
{
	const struct call same = { .provider = NULL };
	is_because(*state, COST_HOST, &same, &same,
		"both sides launch the same kernels in the same grids, so enqueue itself takes longer");
	is_because(*state, COST_MEMORY, &same, &same,
		"both sides launch the same kernels in the same grids, so the plan requests more workspace for the same work");
	is_because(*state, COST_ERROR, &same, &same,
		"both sides launch the same kernels in the same grids, so their arguments or the order of their sums differ");
}

static void a_device_without_kernels_shows_little(void **state)
{
	const struct call none = { .has_no_kernels = true };
	is_because(
		*state, COST_MEMORY, &none, &none, "the plan requests more workspace with the same provider and configuration");
	is_because(*state, COST_ERROR, &none, &none, "");
	is_because(*state, COST_HOST, &none, &none, "");
}

static void add_reported(struct result *r, enum role role, const char *choice)
{
	struct msg m = { .t = MSG_REPORTED_KERNELS, .u.reported_kernels = { .processes = 1 } };
	struct reported_kernel kernel = { .name = "matmul", .num_warps = -1, .num_stages = -1, .registers = -1, .spills = -1 };
	m.u.reported_kernels.role = role;
	snprintf(kernel.config, sizeof kernel.config, "%s", choice);
	reported_kernels_add(&m.u.reported_kernels.list, &kernel, 1);
	fixture_add(r, &m);
}

static void a_program_has_the_choice_of_its_autotuner(void **state)
{
	char why[COST_WHY_SIZE];
	struct result *r = fixture_result(*state, "topic", 1, 2, 1);
	add_reported(r, ROLE_BASE, "BLOCK_N=128");
	add_reported(r, ROLE_TARGET, "BLOCK_N=64");
	cost_why(r, COST_HOST, 0, why);
	assert_string_equal(why, "the autotuner chose BLOCK_N 64 instead of BLOCK_N 128 in matmul");
	result_free(r);
}

static void more_work_uses_more_energy(void **state)
{
	const struct call base = { .has_no_kernels = true, .flops = 1e9, .bytes = 1e6 };
	is_because(*state, COST_ENERGY, &base, &(struct call){ .has_no_kernels = true, .flops = 1.25e9, .bytes = 1e6 },
		"a call of the target reports 25 % more arithmetic");
	is_because(*state, COST_ENERGY, &base, &(struct call){ .has_no_kernels = true, .flops = 1.005e9, .bytes = 2e6 },
		"a call of the target reports 100 % more moved bytes");
	is_because(*state, COST_ENERGY, &base, &base, "");
}

#define WHY_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WHY_TEST(another_choice_comes_first),
		WHY_TEST(a_first_call_has_steps),
		WHY_TEST(other_kernels_are_named),
		WHY_TEST(kernels_of_equal_names_are_compared),
		WHY_TEST(equal_kernels_leave_the_host),
		WHY_TEST(a_program_has_the_choice_of_its_autotuner),
		WHY_TEST(more_work_uses_more_energy),
		WHY_TEST(a_device_without_kernels_shows_little),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
