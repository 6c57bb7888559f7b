/* recognise.c - documented in internal.h. */
#include "cli/internal.h"

#include <ctype.h>

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
	{ SCAN_NVBENCH, "NVBENCH_BENCH(", NULL, "has benchmarks of nvbench" },
	{ SCAN_GOOGLE, "benchmark/benchmark.h", "BENCHMARK", "includes benchmark/benchmark.h" },
	{ SCAN_CATCH2, "catch_benchmark", "BENCHMARK", "has benchmarks of Catch2" },
	{ SCAN_CATCH2, "CATCH_CONFIG_ENABLE_BENCHMARKING", "BENCHMARK", "has benchmarks of Catch2" },
	{ SCAN_NONE, NULL, NULL, NULL },
};

static const struct sign python_signs[] = {
	{ SCAN_KIT_PYTHON, "\nimport flopwatch", NULL, "imports flopwatch, so calls are interleaved" },
	{ SCAN_KIT_PYTHON, "\nfrom flopwatch import", NULL, "imports flopwatch, so calls are interleaved" },
	{ SCAN_LINES_PYTHON, "\"cell\"", "\"ms\"", "prints JSON with \"cell\" and \"ms\"" },
	{ SCAN_NONE, NULL, NULL, NULL },
};

static const struct sign shell_signs[] = {
	{ SCAN_HYPERFINE, "hyperfine", "--export-json", "runs hyperfine with --export-json" },
	{ SCAN_NONE, NULL, NULL, NULL },
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

const char *recognise_call(const char *text, size_t len, const char *name)
{
	size_t n = strlen(name);
	const char *end = text + len;

	for (const char *at = text; n && (at = memmem(at, (size_t)(end - at), name, n)); at += n)
		if (at[n] == '(' && (at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')))
			return at;
	return NULL;
}

bool recognise_gpu(const char *text)
{
	static const char *const words[] = { "<<<", "cuda", "CUDA", "triton", "torch", "cupy", "nvbench", NULL };

	for (const char *const *w = words; *w; w++)
		if (strstr(text, *w))
			return true;
	return false;
}

/* The kit itself and files that never run alone. */
static bool is_other(const char *name)
{
	static const char *const names[] = { "flopwatch.py", "conftest.py", "setup.py", "__init__.py", NULL };

	for (const char *const *n = names; *n; n++)
		if (strcmp(name, *n) == 0)
			return true;
	return false;
}

static bool has(const char *text, const char *sign)
{
	/* a pattern for the beginning of a line also matches at the beginning of the file */
	return strstr(text, sign) || (*sign == '\n' && strncmp(text, sign + 1, strlen(sign + 1)) == 0);
}

void recognise_without_comments(const char *text, struct buf *out)
{
	while (*text) {
		if (strncmp(text, "//", 2) == 0) {
			text += strcspn(text, "\n");
		} else if (strncmp(text, "/*", 2) == 0) {
			const char *end = strstr(text + 2, "*/");

			buf_putc(out, ' ');
			text = end ? end + 2 : text + strlen(text);
		} else if (strncmp(text, "'\"'", 3) == 0) {
			buf_puts(out, "'\"'");
			text += 3;
		} else if (*text == '"') {
			buf_putc(out, *text++);
			while (*text && *text != '"' && *text != '\n') {
				if (*text == '\\' && text[1])
					buf_putc(out, *text++);
				buf_putc(out, *text++);
			}
			if (*text)
				buf_putc(out, *text++);
		} else {
			buf_putc(out, *text++);
		}
	}
}

bool recognise(struct scan_program *p)
{
	const char *slash = strrchr(p->path, '/'), *name = slash ? slash + 1 : p->path, *dot = strrchr(name, '.');
	const struct sign *sign = dot ? signs_of(dot) : NULL;
	const char *timer = sign == python_signs ? python_timer(p->text.data) : NULL;

	if (!sign || is_other(name))
		buf_clear(&p->text);
	if (!sign || p->text.len == 0)
		return false;
	p->uses_gpu = strcmp(dot, ".cu") == 0 || recognise_gpu(p->text.data);
	for (; sign->first; sign++)
		if (has(p->text.data, sign->first) && (!sign->second || has(p->text.data, sign->second)))
			break;
	if (sign->kind == SCAN_KIT_PYTHON || !timer) {
		p->kind = sign->kind;
		snprintf(p->why, sizeof p->why, "%s", sign->why ? sign->why : "");
	} else {
		p->kind = SCAN_TIMED_PYTHON;
		snprintf(p->why, sizeof p->why, "times with %s, which `python3 -m flopwatch` converts to cells", timer);
	}
	if (p->kind == SCAN_GOOGLE && !strstr(p->text.data, "BENCHMARK_MAIN"))
		snprintf(p->why, sizeof p->why,
			"includes benchmark/benchmark.h; without BENCHMARK_MAIN() whole processes are timed");
	if (p->kind == SCAN_HYPERFINE && !recognise_option(p->text.data, "--export-json", p->output, sizeof p->output))
		return false;
	return p->kind != SCAN_NONE;
}
