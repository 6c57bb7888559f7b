/*
 * fuzz_yaml.c - the two YAML files that a branch may contain, its manifest and its suite, as arbitrary bytes; and the files that
 * families import as suites.
 *
 * As a test it replays files (tests/data/fuzz/yaml, etc/suites), and mutates good ones a fixed number of times from a fixed seed.
 *
 * Attacks: daemon/model daemon/families daemon/lib
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

/* An imported file without a mistake is a suite. */
static void check_import(const char *text, size_t len)
{
	static struct suite s;
	const struct family *f = family_find("linear");
	struct fw_err err = { 0 };
	struct yaml *y = yaml_new(text, len, "i.yaml");
	struct buf out;

	must(f && f->import && y, "a family that imports nothing");
	buf_init(&out, 1 << 20);
	if (!yaml_mistakes(y))
		f->import(y, yaml_root(y), "imported", &out);
	must(!out.failed, "an imported suite does not fit");
	if (!yaml_mistakes(y)) {
		if (suite_parse(out.data, out.len, "s.yaml", &s, &err) == 0)
			suite_fini(&s);
		else
			check_refusal(&err);
	}
	yaml_free(y);
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_import((const char *)data, size);
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

int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/yaml", "etc/suites", NULL };
	static struct manifest m;
	static struct suite s;
	struct fw_err err = { 0 };
	struct fuzz_replay f = { 0 };

	if (argc > 1)
		return fuzz_replay_main(argc, argv, folders);
	for (int i = 0; folders[i]; i++)
		fuzz_replay(&f, folders[i]);
	/* mutations of input that is refused as a whole would test little */
	must(manifest_parse(manifest_text, sizeof manifest_text - 1, "m.yaml", &m, &err) == 0, err.text);
	must(suite_parse(suite_text, sizeof suite_text - 1, "s.yaml", &s, &err) == 0, err.text);
	suite_fini(&s);
	printf("ok %d - the files that are mutated are good\n", ++f.count);
	fflush(stdout);
	run(manifest_text, sizeof manifest_text - 1);
	printf("ok %d - %d mutated manifests\n", ++f.count, ROUNDS);
	fflush(stdout);
	run(suite_text, sizeof suite_text - 1);
	printf("ok %d - %d mutated suites\n1..%d\n", f.count + 1, ROUNDS, f.count + 1);
	return f.failures > 0;
}
#endif
