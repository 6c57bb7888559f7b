/*
 * fuzz_yaml.c - the two YAML files that a branch may contain, its manifest and its suite, as arbitrary bytes.
 *
 * As a test it reads good files and mutates them, a fixed number of times from a fixed seed; a finding aborts. To search, in
 * bash:
 *   clang-14 -g -O1 -std=c17 -D_GNU_SOURCE -DFUZZ_SEARCH -fsanitize=fuzzer,address,undefined -Idaemon -I. -Itests \
 *     -o build/fuzz_yaml tests/model/fuzz_yaml.c daemon/{base,core}/[a-z]*.c -ljansson -lyaml -lnettle -lm
 *   mkdir -p build/corpus-yaml && build/fuzz_yaml -max_len=4096 build/corpus-yaml etc/suites
 */
#include "fuzz_replay.h"
#include "lib/lib.h"
#include "model/model.h"

static void check_refusal(const struct fw_err *err)
{
	must(err->code != ERR_NONE && err->text[0], "a refused file has no error");
	must(!strpbrk(err->text, "\n\r\033"), "an error is no clean line");
}

static void check_manifest(const char *text, size_t len)
{
	static struct manifest m;
	struct fw_err err = { 0 };
	int i;

	if (manifest_parse(text, len, "m.yaml", &m, &err) != 0) {
		check_refusal(&err);
		return;
	}
	must(m.n_inputs <= MANIFEST_LIST_MAX && m.build.n_command <= MANIFEST_LIST_MAX, "a list is out of range");
	for (i = 0; i < m.n_inputs; i++)
		must(m.input[i][0] != '/' && strcmp(m.input[i], "..") != 0 && strncmp(m.input[i], "../", 3) != 0 &&
				!strstr(m.input[i], "/../"),
			"an input leaves the tree");
}

static void check_suite(const char *text, size_t len)
{
	static struct suite s;
	struct fw_err err = { 0 };
	int i;

	if (suite_parse(text, len, "s.yaml", &s, &err) != 0) {
		check_refusal(&err);
		return;
	}
	must(s.n_cells >= 0 && s.n_cells <= SUITE_CELLS_MAX, "the cells are out of range");
	for (i = 0; i < s.n_cells; i++)
		must(case_check(&s.cell[i], &err) == 0, "an impossible cell is accepted");
	suite_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_manifest((const char *)data, size);
	check_suite((const char *)data, size);
	return 0;
}

#ifndef FUZZ_SEARCH
enum { ROUNDS = 4000, ROOM = 8192 };

static const char manifest_text[] =
	"flopwatch: 1\ninputs: [kernels, \"third party\"]\n"
	"build:\n  dir: kernels\n  command: [make, \"DEVICE={device}\"]\n  outputs:\n"
	"    attention: build/{device}/libattention.so\n  timeout_s: 600\nsuites: [ffa]\n"
	"benchmarks: {sums: {command: [./b, o], reader: nvbench, outputs: [o], unit: ms, gpu: true}}\n";
static const char suite_text[] = "suite: s\nfamily: attention\ncommon: {nhq: 4, nhk: 2, headdim: 64, dtype: bf16}\n"
				 "dense: {seqlens: [256], masks: [full, causal, varlen_full]}\n"
				 "block_sparse: {seqlens: [512], sparsity_ratios: [0.5], block_sizes: [64]}\n"
				 "varlen: {full: [100, 156], causal: [56, 200]}\ndirections: [forward, backward]\nseed: 42\n"
				 "threshold_pct: 1.5\nthresholds: [{cell: \"*/varlen_*/*\", pct: 2.5}]\nbudget_s: 60\n";

/* Tokens that are meaningful to the reader. */
static const char *const pieces[] = { "[", "]", "{", "}", ": ", "- ", "\n", "\n  ", "&a ", "*a", "!!str ", "---\n", "\"", "'",
	"|\n", "-1", "1e308", "99999999999999999999", "nan", "..", "../", "/", "null", "~", "true", "\xff", "\xef\xbb\xbf", "%",
	"#", "? ", "0" };

static unsigned seed = 2026;

static size_t below(size_t n)
{
	return n ? (size_t)rand_r(&seed) % n : 0;
}

/* One mutation: overwrite a byte, truncate, insert a token, repeat a range. Shape: text[ROOM]. */
static size_t mutate(char *text, size_t len)
{
	size_t at = below(len + 1), n;
	const char *piece = pieces[below(sizeof pieces / sizeof pieces[0])];

	switch (below(4)) {
	case 0:
		if (at < len)
			text[at] = (char)below(256);
		return len;
	case 1:
		n = below(len - at < 40 ? len - at + 1 : 40);
		memmove(text + at, text + at + n, len - at - n);
		return len - n;
	case 2:
		n = strlen(piece);
		break;
	default:
		piece = text + below(at + 1);
		n = below(64);
		if (piece + n > text + len)
			n = (size_t)(text + len - piece);
		break;
	}
	if (len + n > ROOM)
		return len;
	char copy[64];

	memcpy(copy, piece, n);
	memmove(text + at + n, text + at, len - at);
	memcpy(text + at, copy, n);
	return len + n;
}

static void run(const char *good, size_t good_len)
{
	static char text[ROOM];
	int round;

	for (round = 0; round < ROUNDS; round++) {
		size_t len = good_len, changes = 1 + below(6);
		uint8_t *copy;

		memcpy(text, good, len);
		while (changes--)
			len = mutate(text, len);
		/* an exact copy, so that a sanitizer sees a read beyond its end */
		copy = malloc(len ? len : 1);
		must(copy != NULL, "out of memory");
		memcpy(copy, text, len);
		LLVMFuzzerTestOneInput(copy, len);
		free(copy);
	}
}

int main(void)
{
	static struct manifest m;
	static struct suite s;
	struct fw_err err = { 0 };

	/* mutations of input that is refused as a whole would test little */
	must(manifest_parse(manifest_text, sizeof manifest_text - 1, "m.yaml", &m, &err) == 0, err.text);
	must(suite_parse(suite_text, sizeof suite_text - 1, "s.yaml", &s, &err) == 0, err.text);
	suite_fini(&s);
	printf("ok 1 - the files that are mutated are good\n");
	fflush(stdout);
	run(manifest_text, sizeof manifest_text - 1);
	printf("ok 2 - %d mutated manifests\n", ROUNDS);
	fflush(stdout);
	run(suite_text, sizeof suite_text - 1);
	printf("ok 3 - %d mutated suites\n1..3\n", ROUNDS);
	return 0;
}
#endif
