/* Machine code as a disassembler prints it: what is an instruction, which instructions count, and how two functions differ. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "profile/internal.h"
#include "profile/profile.h"

static void parse(struct sass *s, const char *text, size_t len)
{
	struct fw_err err = { 0 };
	if (sass_parse(s, text, len, &err) != 0)
		fail_msg("%s", err.text);
}

static void parse_file(struct sass *s, const char *path)
{
	struct buf text;
	buf_init(&text, 1 << 20);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && buf_read_fd(&text, fd) == 0);
	close(fd);
	parse(s, text.data, text.len);
	buf_fini(&text);
}

static const char *opcode(const struct sass *s, const struct sass_function *f, size_t i)
{
	assert_true(i < f->n);
	return sass_string(s, s->instruction[f->first + i].opcode);
}

/* An excerpt of the output of nvdisasm 13.0 for a kernel for an H200. */
static void nvdisasm_output_is_parsed(void **state)
{
	(void)state;
	struct sass s, hex;
	parse_file(&s, "tests/data/fuzz/sass/gemm.sass");
	parse_file(&hex, "tests/data/fuzz/sass/gemm-hex.sass");
	assert_int_equal(s.n_functions, 1);
	const struct sass_function *f = sass_find(&s, "_Z4gemmPK13__nv_bfloat16S1_Pfiii");
	const struct sass_function *g = sass_find(&hex, "_Z4gemmPK13__nv_bfloat16S1_Pfiii");
	assert_non_null(f);
	assert_non_null(g);
	assert_null(sass_find(&s, "_Z4gemm"));
	assert_string_equal(opcode(&s, f, 0), "LDC");
	assert_string_equal(sass_string(&s, s.instruction[f->first + 4].text), "@P0 BRA `(.L_x_0)");
	assert_string_equal(opcode(&s, f, 4), "BRA");
	assert_string_equal(opcode(&s, f, f->n - 1), "BRA"); /* and none of the NOPs that pad the last lines */
	assert_int_equal(s.instruction[f->first + f->n - 1].address, 0x3170);
	assert_int_equal(g->n, 14); /* with machine words next to them */
	for (size_t i = 0; i < g->n; i++)
		assert_string_equal(sass_string(&hex, hex.instruction[i].text), sass_string(&s, s.instruction[i].text));
	sass_fini(&s);
	sass_fini(&hex);
}

/* The plain form of one instruction of function "_Z4selfv". */
static void plain(const char *instruction, const char *wanted)
{
	struct sass s;
	char text[400];
	int n = snprintf(
		text, sizeof text, "\t.section\t.text._Z4selfv,\"ax\",@progbits\n        /*0040*/   %s ;\n", instruction);
	parse(&s, text, (size_t)n);
	assert_int_equal(s.n_instructions, 1);
	assert_string_equal(sass_string(&s, s.instruction[0].plain), wanted);
	sass_fini(&s);
}

static void numbers_that_only_name_do_not_count(void **state)
{
	(void)state;
	plain("@!P0 BRA `(.L_x_12)", "@!P BRA `(.L)");
	plain("@UP3 UIADD3 UR4, UP0, UR12, 0x1, URZ", "@UP UIADD3 UR, UP, UR, 0x1, URZ");
	plain("IADD3 R78, -R95.reuse, 0xff, R78", "IADD3 R, -R, 0xff, R");
	plain("STG.E.64 desc[UR6][R50.64+0x20], R56", "STG.E.64 desc[UR][R.64+0x20], R");
	plain("BSSY B0, 0x1f0", "BSSY B, .L");
	plain("BRA 0x260", "BRA .L");
	plain("CALL.REL.NOINC `($_Z4selfv$_Z5otheri)", "CALL.REL.NOINC `($@$_Z5otheri)");
	plain("MOV R20, 32@lo((_Z4selfv + .L_x_3@srel))", "MOV R, 32@lo((@ + .L@srel))");
}

static void numbers_that_do_something_count(void **state)
{
	(void)state;
	plain("LOP3.LUT R108, R2, 0xfffffffc, RZ, 0xc0, !PT", "LOP3.LUT R, R, 0xfffffffc, RZ, 0xc0, !PT");
	plain("LDC R1, c[0x0][0x28]", "LDC R, c[0x0][0x28]");
	plain("R2UR UR4, R9", "R2UR UR, R");
	plain("LDS.U.B32 R2, [R3+0x10]", "LDS.U.B32 R, [R+0x10]");
	plain("HMMA.16816.F32.BF16 R48, R12.reuse, R76, R48", "HMMA.16816.F32.BF16 R, R, R, R");
	plain("S2R R95, SR_TID.X", "S2R R, SR_TID.X");
	plain("MOV R1, _Z4selfvx", "MOV R, _Z4selfvx");
}

/* ---- differences ------------------------------------------------------------------------------------------------------ */

struct two {
	struct sass s;
	struct sassdelta d;
};

/* `a` and `b`: instructions, each ended by a newline. */
static void compare(struct two *t, const char *a, const char *b)
{
	struct fw_err err = { 0 };
	struct buf text;
	const char *const side[] = { a, b };
	buf_init(&text, 1 << 22);
	for (int f = 0; f < 2; f++) {
		buf_printf(&text, "\t.section\t.text.%c,\"ax\"\n", 'a' + f);
		for (const char *p = side[f]; *p; p += strcspn(p, "\n") + 1)
			buf_printf(&text, "/*%04x*/ %.*s ;\n", (unsigned)(p - side[f]), (int)strcspn(p, "\n"), p);
	}
	assert_false(text.failed);
	parse(&t->s, text.data, text.len);
	buf_fini(&text);
	if (sassdelta_make(&t->d, &t->s, sass_find(&t->s, "a"), &t->s, sass_find(&t->s, "b"), &err) != 0)
		fail_msg("%s", err.text);
}

static void end(struct two *t)
{
	sassdelta_fini(&t->d);
	sass_fini(&t->s);
}

static void other_registers_are_a_renaming(void **state)
{
	(void)state;
	struct two t;
	compare(&t, "LDG R1, [R2]\nFADD R1, R1, R3\nBRA `(.L_x_1)\n", "LDG R9, [R4]\nFADD R9, R9, R8.reuse\nBRA `(.L_x_7)\n");
	assert_int_equal(t.d.kind, SASSDELTA_RENAMED);
	assert_int_equal(t.d.n_hunks, 0);
	end(&t);
}

static void another_order_is_a_schedule(void **state)
{
	(void)state;
	struct two t;
	compare(&t, "LDG R1, [R2]\nFADD R1, R1, R3\nEXIT\n", "FADD R1, R1, R3\nLDG R1, [R2]\nEXIT\n");
	assert_int_equal(t.d.kind, SASSDELTA_RESCHEDULED);
	assert_int_equal(t.d.removed + t.d.added, 0);
	assert_int_equal(t.d.n_opcodes, 0);
	assert_int_equal(t.d.n_hunks, 2);
	end(&t);
}

static void what_changed_is_counted_and_placed(void **state)
{
	(void)state;
	struct two t;
	compare(&t, "MOV R1, 0x1\nHGMMA R8\nLDG.E.128 R4, [R2]\nEXIT\n",
		"MOV R1, 0x1\nHGMMA R8\nHGMMA R8\nLDG.E R4, [R2]\nLDG.E R5, [R2+0x4]\nLDG.E R6, [R2+0x8]\nEXIT\n");
	assert_int_equal(t.d.kind, SASSDELTA_CHANGED);
	assert_true(t.d.is_aligned);
	assert_int_equal(t.d.removed, 1);
	assert_int_equal(t.d.added, 4);
	assert_int_equal(t.d.n_opcodes, 3);
	assert_string_equal(t.d.opcode[0].opcode, "LDG.E"); /* the most different first */
	assert_int_equal(t.d.opcode[0].base, 0);
	assert_int_equal(t.d.opcode[0].target, 3);
	assert_string_equal(t.d.opcode[1].opcode, "HGMMA");
	assert_string_equal(t.d.opcode[2].opcode, "LDG.E.128");
	assert_int_equal(t.d.n_hunks, 1);
	assert_int_equal(t.d.hunk[0].base_from, 2);
	assert_int_equal(t.d.hunk[0].base_n, 1);
	assert_int_equal(t.d.hunk[0].target_from, 2);
	assert_int_equal(t.d.hunk[0].target_n, 4);
	end(&t);
}

static void what_is_too_different_is_only_counted(void **state)
{
	(void)state;
	struct two t;
	struct buf a, b;
	buf_init(&a, 1 << 20);
	buf_init(&b, 1 << 20);
	for (int i = 0; i < 4000; i++) {
		buf_printf(&a, "MOV R1, 0x%x\n", i);
		buf_printf(&b, "MOV R1, 0x%x\nFADD R1, 0x%x\n", 3999 - i, i);
	}
	compare(&t, a.data, b.data);
	assert_int_equal(t.d.kind, SASSDELTA_CHANGED);
	assert_false(t.d.is_aligned);
	assert_int_equal(t.d.n_hunks, 0);
	assert_int_equal(t.d.removed, 0);
	assert_int_equal(t.d.added, 4000);
	end(&t);
	buf_fini(&a);
	buf_fini(&b);
}

/* Compared with the textbook table. */
static void alignment_matches_the_most_instructions(void **state)
{
	(void)state;
	uint64_t random = 7;
	for (int round = 0; round < 2000; round++) {
		uint32_t a[24], b[24];
		int table[25][25] = { { 0 } };
		bool matched_a[24] = { false }, matched_b[24] = { false };
		random = inputs_mix(random);
		size_t n = random % 25, m = random / 25 % 25, i = 0, j = 0, matched = 0;
		for (size_t k = 0; k < 24; k++) {
			random = inputs_mix(random);
			a[k] = (uint32_t)(random % 4);
			b[k] = (uint32_t)(random / 4 % 4);
		}
		for (size_t x = 1; x <= n; x++)
			for (size_t y = 1; y <= m; y++) {
				int left = table[x - 1][y], up = table[x][y - 1];
				table[x][y] = a[x - 1] == b[y - 1] ? table[x - 1][y - 1] + 1 : left > up ? left : up;
			}
		assert_true(sassalign_match(a, n, b, m, matched_a, matched_b));
		for (;; i++, j++, matched++) {
			while (i < n && !matched_a[i])
				i++;
			while (j < m && !matched_b[j])
				j++;
			if (i == n || j == m)
				break;
			assert_int_equal(a[i], b[j]);
		}
		assert_true(i == n && j == m);
		assert_int_equal(matched, table[n][m]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nvdisasm_output_is_parsed),
		cmocka_unit_test(numbers_that_only_name_do_not_count),
		cmocka_unit_test(numbers_that_do_something_count),
		cmocka_unit_test(other_registers_are_a_renaming),
		cmocka_unit_test(another_order_is_a_schedule),
		cmocka_unit_test(what_changed_is_counted_and_placed),
		cmocka_unit_test(what_is_too_different_is_only_counted),
		cmocka_unit_test(alignment_matches_the_most_instructions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
