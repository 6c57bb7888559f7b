/* recognise.c - documented in internal.h. */
#include "cli/internal.h"

static const char *const c_suffixes[] = { ".c", ".cc", ".cpp", ".cxx", ".cu", NULL };

/* Patterns of the kinds of files: both strings occur in the file, or the second is NULL. The first matching row is used. */
struct sign {
	enum probe_kind kind;
	const char *first, *second, *why;
};

static const struct sign c_signs[] = {
	{ SCAN_MODULE, "fw_entry", "struct fw_module", "exports fw_entry" },
	{ SCAN_KIT_GOOGLE, "flopwatch_benchmark.h", "FLOPWATCH_MAIN",
		"includes flopwatch_benchmark.h, so calls are interleaved" },
	{ SCAN_KIT_C, "flopwatch.h", "main(", "includes flopwatch.h, so calls are interleaved" },
	{ SCAN_NVBENCH, "nvbench/nvbench", "NVBENCH_BENCH", "includes nvbench" },
	{ SCAN_GOOGLE, "benchmark/benchmark.h", "BENCHMARK", "includes benchmark/benchmark.h" },
	{ SCAN_MODULE, NULL, NULL, NULL },
};

static const struct sign python_signs[] = {
	{ SCAN_KIT_PYTHON, "\nimport flopwatch", NULL, "imports flopwatch, so calls are interleaved" },
	{ SCAN_KIT_PYTHON, "\nfrom flopwatch import", NULL, "imports flopwatch, so calls are interleaved" },
	{ SCAN_TIMED_PYTHON, "triton", "do_bench", "times with triton.testing, which `python3 -m flopwatch` converts to cells" },
	{ SCAN_TIMED_PYTHON, "triton.testing", "perf_report",
		"times with triton.testing, which `python3 -m flopwatch` converts to cells" },
	{ SCAN_TIMED_PYTHON, "torch.utils.benchmark", "Timer",
		"times with torch.utils.benchmark, which `python3 -m flopwatch` converts to cells" },
	{ SCAN_LINES_PYTHON, "\"cell\"", "\"ms\"", "prints JSON with \"cell\" and \"ms\"" },
	{ SCAN_MODULE, NULL, NULL, NULL },
};

static const struct sign shell_signs[] = {
	{ SCAN_HYPERFINE, "hyperfine", "--export-json", "runs hyperfine with --export-json" },
	{ SCAN_MODULE, NULL, NULL, NULL },
};

static bool is_one_of(const char *suffix, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(suffix, *list) == 0)
			return true;
	return false;
}

static const struct sign *signs_of(const char *suffix)
{
	return is_one_of(suffix, c_suffixes)  ? c_signs
	       : strcmp(suffix, ".py") == 0   ? python_signs
	       : strcmp(suffix, ".sh") == 0   ? shell_signs
	       : strcmp(suffix, ".bash") == 0 ? shell_signs
					      : NULL;
}

bool recognise_suffix(const char *suffix)
{
	return signs_of(suffix) != NULL;
}

bool recognise_option(const char *text, const char *option, char *out, size_t size)
{
	size_t len = strlen(option);

	for (const char *at = text; (at = strstr(at, option)); at += len) {
		const char *word = at + len;

		if (*word != ' ' && *word != '=')
			continue;
		word += strspn(word, " =");
		if (*word == '"' || *word == '\'')
			word++;
		size_t n = strcspn(word, " \t\n\"'\\;&|),");

		if (n == 0 || n >= size || memchr(word, '$', n) || memchr(word, '{', n))
			continue;
		snprintf(out, size, "%.*s", (int)n, word);
		return true;
	}
	return false;
}

static bool says_gpu(const struct scan_program *p, const char *suffix)
{
	static const char *const words[] = { "<<<", "cuda", "CUDA", "triton", "torch", "cupy", "nvbench", NULL };

	if (strcmp(suffix, ".cu") == 0)
		return true;
	for (const char *const *w = words; *w; w++)
		if (strstr(p->text.data, *w))
			return true;
	return false;
}

/* Tests and the kit itself contain the same strings. */
static bool is_other(const char *name)
{
	return strncmp(name, "test_", 5) == 0 || strcmp(name, "flopwatch.py") == 0 || strcmp(name, "conftest.py") == 0;
}

static bool has(const char *text, const char *sign)
{
	/* a pattern for the beginning of a line also matches at the beginning of the file */
	return strstr(text, sign) || (*sign == '\n' && strncmp(text, sign + 1, strlen(sign + 1)) == 0);
}

bool recognise(struct scan_program *p)
{
	const char *slash = strrchr(p->path, '/'), *name = slash ? slash + 1 : p->path, *dot = strrchr(name, '.');
	const struct sign *sign = dot ? signs_of(dot) : NULL;

	if (!sign || is_other(name) || p->text.len == 0)
		return false;
	for (; sign->first; sign++)
		if (has(p->text.data, sign->first) && (!sign->second || has(p->text.data, sign->second)))
			break;
	if (!sign->first)
		return false;
	p->kind = sign->kind;
	p->why = sign->why;
	p->uses_gpu = says_gpu(p, dot);
	if (p->kind == SCAN_HYPERFINE && !recognise_option(p->text.data, "--export-json", p->output, sizeof p->output))
		return false;
	return true;
}
