/*
 * fuzz_sass.c - arbitrary bytes as output of a disassembler: reads stay inside it, and the differences of two functions add up.
 *
 * As a test it runs the inputs under tests/data/fuzz/sass, and each of them with a hundred changes (fixed seed).
 *
 * Attacks: daemon/profile daemon/lib
 */
#include "fuzz_replay.h"
#include "model/model.h"
#include "profile/profile.h"

enum { CHANGES = 100, PAIRS_MAX = 6 };

static void check_string(const struct sass *s, uint32_t at)
{
	must(at < s->strings.len && memchr(s->strings.data + at, 0, s->strings.len - at) != NULL, "a string beyond its end");
}

static void check_delta(const struct sass *s, const struct sass_function *a, const struct sass_function *b)
{
	struct sassdelta d;
	struct fw_err err = { 0 };
	size_t removed = 0, added = 0, i = 0, j = 0;
	must(sassdelta_make(&d, s, a, s, b, &err) == 0, "no difference");
	for (size_t h = 0; h < d.n_hunks; h++) {
		const struct sassdelta_hunk *at = &d.hunk[h];
		must(at->base_from >= i && at->target_from >= j && at->base_from - i == at->target_from - j,
			"hunks out of order");
		for (; i < at->base_from; i++, j++)
			must(strcmp(sass_string(s, s->instruction[a->first + i].plain),
				     sass_string(s, s->instruction[b->first + j].plain)) == 0,
				"unlike instructions side by side");
		i += at->base_n;
		j += at->target_n;
		removed += at->base_n;
		added += at->target_n;
	}
	must(d.is_aligned && i <= a->n && j <= b->n, "hunks beyond the end");
	must(a->n - removed == b->n - added, "what is left is not the same on both sides");
	must(d.kind != SASSDELTA_CHANGED || (d.removed == removed && d.added == added), "other counts than hunks");
	must((d.kind == SASSDELTA_RENAMED) == (d.n_hunks == 0), "the same order with a difference, or another without");
	must(d.kind == SASSDELTA_CHANGED || d.n_opcodes == 0, "the same instructions with other opcodes");
	must(a != b || d.kind == SASSDELTA_RENAMED, "a function is not like itself");
	sassdelta_fini(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sass s;
	struct fw_err err = { 0 };
	int pairs = 0;
	must(sass_parse(&s, (const char *)data, size, &err) == 0, "small enough, and refused");
	for (size_t f = 0; f < s.n_functions; f++) {
		check_string(&s, s.function[f].symbol);
		must(sass_string(&s, s.function[f].symbol)[0] != '\0', "a function without a symbol");
		must(s.function[f].first + s.function[f].n <= s.n_instructions, "instructions of nobody");
		must(sass_find(&s, sass_string(&s, s.function[f].symbol)) != NULL, "a function that is not found");
	}
	for (size_t i = 0; i < s.n_instructions; i++) {
		check_string(&s, s.instruction[i].text);
		check_string(&s, s.instruction[i].opcode);
		check_string(&s, s.instruction[i].plain);
	}
	for (size_t a = 0; a < s.n_functions; a++)
		for (size_t b = 0; b < s.n_functions && pairs < PAIRS_MAX; b++, pairs++)
			check_delta(&s, &s.function[a], &s.function[b]);
	sass_fini(&s);
#ifndef FUZZ_SEARCH
	static bool is_changed;
	uint64_t random = size + 1;
	uint8_t *copy = malloc(size + 1);
	must(copy != NULL, "out of memory");
	for (int i = 0; !is_changed && size > 0 && i < CHANGES; i++) {
		static const char marks[] = "/*0;\n\t .@RPUL_x";
		memcpy(copy, data, size);
		for (int k = 0; k <= i % 8; k++) {
			random = inputs_mix(random);
			copy[random % size] = (uint8_t)marks[(random >> 40) % (sizeof marks - 1)];
		}
		is_changed = true;
		LLVMFuzzerTestOneInput(copy, size - random % 16 % size);
		is_changed = false;
	}
	free(copy);
#endif
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/sass", NULL };
	return fuzz_replay_main(argc, argv, folders);
}
#endif
