/* Diagnostics of NVIDIA's assembler: parsed from build logs, and the differences between two of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profile/profile.h"

static void read_text(struct ptxaslog *l, const char *text)
{
	struct fw_err err = { 0 };

	if (ptxaslog_read(l, text, strlen(text), &err) != 0)
		fail_msg("%s", err.text);
}

static void read_file(struct ptxaslog *l, const char *path)
{
	struct buf text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	buf_init(&text, 1 << 20);
	assert_true(fd >= 0 && buf_read_fd(&text, fd) == 0);
	close(fd);
	read_text(l, text.data);
	buf_fini(&text);
}

static const struct ptxaslog_function *function(const struct ptxaslog *l, int architecture, const char *symbol)
{
	for (size_t i = 0; i < l->n_functions; i++)
		if (l->function[i].architecture == architecture && strcmp(ptxaslog_symbol(l, l->function[i].symbol), symbol) == 0)
			return &l->function[i];
	return NULL;
}

/* "new serial C7512 [v2_backward_kernel<128, 128, 1>] wgmma is ..." */
static const char *line(const struct ptxas_change *c)
{
	static char text[600];

	snprintf(text, sizeof text, "%s %s %s [%s] %s", ptxas_change_names[c->how], ptxas_kind_names[c->kind], c->code, c->kernel,
		c->what);
	return text;
}

#define BACKWARD "_Z18v2_backward_kernelILi128ELi128EL7queries1EEv6v2_job"

/* Both were printed by ptxas 13.0 for kernels/attention/hopper/v2_backward.cu, unchanged and with 232 registers for a consumer's
 * thread. */
static void ptxas_output_is_parsed(void **state)
{
	struct ptxaslog l;

	(void)state;
	read_file(&l, "tests/data/ptxas/backward-232-registers.log");
	assert_int_equal(l.n_diagnostics, 6);
	assert_int_equal(l.n_functions, 24);
	assert_true(l.is_whole);
	assert_string_equal(l.diagnostic[0].code, "C7512");
	assert_string_equal(l.diagnostic[0].what, "wgmma is serialised because there are too few registers");
	assert_string_equal(ptxaslog_symbol(&l, l.diagnostic[0].symbol), BACKWARD);
	const struct ptxaslog_function *f = function(&l, 90, BACKWARD), *old = function(&l, 80, BACKWARD);

	assert_non_null(f);
	assert_int_equal(f->registers, 168);
	assert_int_equal(f->stack_bytes, 72);
	assert_int_equal(f->store_bytes, 104);
	assert_int_equal(f->load_bytes, 104);
	assert_non_null(old);
	assert_int_equal(old->registers, 4);
	assert_int_equal(old->store_bytes, 0);
	ptxaslog_fini(&l);
}

/* As kernels/check-ptxas.sh passes them on. */
static void a_source_may_stand_before_a_line(void **state)
{
	struct ptxaslog l;

	(void)state;
	read_text(&l, "v2.cu: ptxas info    : Compiling entry function '" BACKWARD "' for 'sm_90a'\n"
		      "v2.cu: ptxas info    : Function properties for " BACKWARD "\r\n"
		      "v2.cu:     64 bytes stack frame, 88 bytes spill stores, 92 bytes spill loads\n"
		      "v2.cu: ptxas info    : Used 168 registers, used 2 barriers, 64 bytes cumulative stack size\n");
	const struct ptxaslog_function *f = function(&l, 90, BACKWARD);

	assert_non_null(f);
	assert_int_equal(f->stack_bytes, 64);
	assert_int_equal(f->store_bytes, 88);
	assert_int_equal(f->load_bytes, 92);
	assert_int_equal(f->registers, 168);
	ptxaslog_fini(&l);
}

static void two_builds_differ_in_their_ptxas_logs(void **state)
{
	static struct ptxas_change c[PTXASDELTA_MAX];
	struct ptxaslog base, target;

	(void)state;
	read_file(&base, "tests/data/ptxas/backward.log");
	read_file(&target, "tests/data/ptxas/backward-232-registers.log");
	assert_int_equal(ptxasdelta(&base, &target, c, PTXASDELTA_MAX), 12);
	assert_string_equal(line(&c[0]),
		"new serial C7512 [v2_backward_kernel<128, 128, 1>] wgmma is serialised because there are too few registers");
	assert_string_equal(line(&c[6]),
		"more spills  [v2_backward_kernel<128, 128, 1>] spills of 104 bytes by stores and 104 by loads "
		"instead of 88 and 88, with 168 registers");
	assert_int_equal(c[6].architecture, 90);
	assert_int_equal(ptxasdelta(&target, &base, c, PTXASDELTA_MAX), 12);
	assert_string_equal(line(&c[0]),
		"gone serial C7512 [v2_backward_kernel<128, 128, 1>] wgmma is serialised because there are too few registers");
	assert_int_equal(c[6].how, PTXAS_FEWER);
	assert_int_equal(ptxasdelta(&base, &target, c, 2), 2);
	ptxaslog_fini(&base);
	ptxaslog_fini(&target);
}

static void lines_that_name_no_kernel_count(void **state)
{
	struct ptxas_change c[4];
	struct ptxaslog base, target, twice;
	static const char *const ignored =
		"a.cu: ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.\n";
	char text[400];

	(void)state;
	read_text(&base, "");
	read_text(&target, ignored);
	snprintf(text, sizeof text, "%s%s", ignored, ignored);
	read_text(&twice, text);
	assert_int_equal(ptxasdelta(&base, &target, c, 4), 1);
	assert_string_equal(
		line(&c[0]), "new setmaxnreg C7508 [] setmaxnreg is ignored to maintain minimum register requirements");
	assert_int_equal(ptxasdelta(&target, &twice, c, 4), 1);
	assert_string_equal(line(&c[0]),
		"more setmaxnreg C7508 [] setmaxnreg is ignored to maintain minimum register requirements (2 times instead of 1)");
	assert_int_equal(ptxasdelta(&twice, &twice, c, 4), 0);
	ptxaslog_fini(&base);
	ptxaslog_fini(&target);
	ptxaslog_fini(&twice);
	read_file(&target, "tests/data/ptxas/setmaxnreg.log");
	assert_int_equal(target.n_diagnostics, 1);
	assert_string_equal(target.diagnostic[0].what, "setmaxnreg is ignored; unable to determine register count at entry");
	ptxaslog_fini(&target);
}

#define HEAD "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90a'\nptxas info    : Function properties for _Z1kPf\n"

static void missing_log_lines_are_no_difference(void **state)
{
	struct ptxas_change c[4];
	struct ptxaslog quiet, cut, spills, clean, other;

	(void)state;
	read_text(&quiet, "cc -o module.o\n");
	read_text(&cut, "ptxas info\n[... 4096 bytes left out ...]\n");
	read_text(&spills, HEAD
		"    8 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\nptxas info    : Used 24 registers, x\n"
		"ptxas warning : (C7510) wgmma.mma_async instructions are serialized due to a new reason in the function '_Z1kPf'\n");
	read_text(&clean, HEAD
		"    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 32 registers, x\n");
	/* another compilation's line in between: it is unknown which of them these belong to */
	read_text(&other, HEAD "cc -o other.o\n    8 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n");
	assert_int_equal(ptxasdelta(&quiet, &spills, c, 4), 1);
	assert_string_equal(line(&c[0]), "new serial C7510 [k] wgmma.mma_async instructions are serialized due to a new reason");
	assert_int_equal(ptxasdelta(&cut, &spills, c, 4), 0);
	assert_int_equal(ptxasdelta(&spills, &cut, c, 4), 0);
	assert_int_equal(ptxasdelta(&clean, &spills, c, 4), 2);
	assert_string_equal(line(&c[1]),
		"new spills  [k] spills of 8 bytes by stores and 4 by loads instead of none, with 24 registers instead of 32");
	assert_int_equal(other.n_functions, 1);
	assert_int_equal(other.function[0].store_bytes, -1);
	ptxaslog_fini(&quiet);
	ptxaslog_fini(&cut);
	ptxaslog_fini(&spills);
	ptxaslog_fini(&clean);
	ptxaslog_fini(&other);
}

/* Numbers that come from a file's contents do not make its kernels different ones. */
static void kernels_private_to_a_file_are_found_again(void **state)
{
	struct ptxas_change c[2];
	struct ptxaslog base, target;

	(void)state;
	read_text(&base, "ptxas info    : Function properties for _ZN35_GLOBAL__N__bf00ab20_4_a_cu__Z2goPf6hiddenEPf\n"
			 "    256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
	read_text(&target, "ptxas info    : Function properties for _ZN35_GLOBAL__N__12345678_4_a_cu__Z2goPf6hiddenEPf\n"
			   "    320 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
	assert_int_equal(ptxasdelta(&base, &target, c, 2), 1);
	assert_string_equal(c[0].what, "a stack frame of 320 bytes instead of 256");
	assert_string_equal(c[0].kernel, "hidden");
	ptxaslog_fini(&base);
	ptxaslog_fini(&target);
}

static void symbols_are_names(void **state)
{
	static const char *const names[][2] = {
		{ BACKWARD, "v2_backward_kernel<128, 128, 1>" },
		{ "_Z7ignoredILb1EfEvPT0_", "ignored<true, float>" },
		{ "_ZN35_GLOBAL__N__bf00ab20_4_a_cu__Z2goPf6hiddenEPf", "hidden" },
		{ "_ZN12_GLOBAL__N_16hiddenILin3EEEvPf", "hidden<-3>" },
		{ "_ZN3fmh4gemmILj2ELm3EE3runIPKN1a1bIiEEEEvv", "fmh::gemm<2u, 3ul>::run<a::b<int> const*>" },
		{ "_Z4packIJLi1ELi2EEEvv", "pack<1, 2>" },
		{ "_Z4gemmI13__nv_bfloat16S0_EvPT_PT0_", "gemm<...>" },
		{ "__nv_static_25__c65a33c0_4_s_cu__Z3go2Pf__Z2skPf", "sk" },
		{ "_ZL2skPf", "sk" },
		{ "plain_c", "plain_c" },
		{ "_Z", "_Z" },
		{ "_Z9short", "_Z9short" },
		{ "", "" },
	};
	char out[SYMBOLNAME_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		symbolname(names[i][0], out);
		assert_string_equal(out, names[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ptxas_output_is_parsed),
		cmocka_unit_test(a_source_may_stand_before_a_line),
		cmocka_unit_test(two_builds_differ_in_their_ptxas_logs),
		cmocka_unit_test(lines_that_name_no_kernel_count),
		cmocka_unit_test(missing_log_lines_are_no_difference),
		cmocka_unit_test(kernels_private_to_a_file_are_found_again),
		cmocka_unit_test(symbols_are_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
