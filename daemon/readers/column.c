/* column.c - terms and units in column names. Terms are separated by punctuation; case does not matter. */
#include "readers/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

enum { WORD_SIZE = 64 };

static bool next_word(const char **at, char word[WORD_SIZE])
{
	size_t n = 0;

	while (**at && !isalnum((unsigned char)**at))
		++*at;
	for (; isalnum((unsigned char)**at); ++*at)
		if (n + 1 < WORD_SIZE)
			word[n++] = (char)tolower((unsigned char)**at);
	word[n] = '\0';
	return n > 0;
}

static const char *find(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (strcmp(*list, word) == 0)
			return *list;
	return NULL;
}

static const char *any_word(const char *name, const char *const *list)
{
	char word[WORD_SIZE];
	const char *found;

	while (next_word(&name, word))
		if ((found = find(list, word)))
			return found;
	return NULL;
}

static const char *const comparing[] = { "ratio", "ratios", "speedup", "speedups", "spdp", "over", "div", "vs", "versus",
	"relative", "rel", "gain", "improvement", "stddev", "stdev", "std", "cv", "variance", "var", "rsd", "noise", "diff",
	"difference", "delta", "sem", "percent", "percentage", "pct", "perc", NULL };
static const char *const counting[] = { "calls", "call", "ncalls", "numcalls", "count", "counts", "instances", "instance",
	"iterations", "iters", "runs", "rounds", "samples", "launches", "invocations", "repeats", "repetitions", "reps", "error",
	"err", "errors", "registers", "regs", "bytes", "occupancy", "efficiency", "util", "utilization", "utilisation", "share",
	"rank", "index", "idx", "id", "seed", "version", "threads", "blocks", "warps", "hits", "misses", "cycles", "memory",
	"mem", "power", "temp", "temperature", "clock", "mhz", "ghz", "watts", "mib", "gib", "mb", "num", NULL };
static const char *const rates[] = { "flops", "tflops", "gflops", "mflops", "bandwidth", "throughput", "gbps", "qps", "tops",
	NULL };

const char *column_compares(const char *name)
{
	return strchr(name, '%') ? "%" : any_word(name, comparing);
}

const char *column_counts(const char *name, const char *unit)
{
	const char *word = column_compares(name);

	word = word ? word : any_word(name, counting);
	return word || unit_to_ms(unit) == 0 ? word : any_word(name, rates);
}

bool column_is_subject(const char *name)
{
	static const char *const words[] = { "triton", "torch", "pytorch", "cublas", "cublaslt", "cudnn", "cutlass", "naive",
		"native", "ref", "reference", "baseline", "eager", "compile", "compiled", "inductor", "fused", "unfused", "flash",
		"flashattn", "flashinfer", "fa2", "fa3", "fla", "liger", "xformers", "sdpa", "jax", "numpy", "cupy", "thrust",
		"cub", "apex", "te", "vllm", "rocblas", "mkl", "onednn", "ours", NULL };

	return any_word(name, words) != NULL;
}

bool column_is_size(const char *name)
{
	static const char *const words[] = { "length", "lengths", "seq", "ctx", "context", "batch", "bs", "heads", "head",
		"nheads", "hidden", "token", "tokens", "row", "rows", "col", "cols", "column", "columns", "channels", "features",
		"expert", "experts", "topk", "group", "groups", "grid", "width", "height", "depth", "degree", "sparsity",
		"density", "dropout", "dtype", "mode", "shape", "elements", "numel", "nnz", "bits", "vocab", "layers", "world",
		"gpus", "nodes", "stride", "kernel", "window", "stages", "nhead", "hq", "hk", "hkv", "nelements", "dimension",
		"problem", NULL };
	static const char *const ends[] = { "len", "lens", "dim", "dims", "size", "sizes" };
	char word[WORD_SIZE] = "", last[WORD_SIZE] = "";
	const char *at = name;
	bool first = true, counted = false, ended = false;

	if (column_is_subject(name))
		return false;
	while (next_word(&at, word)) {
		counted = counted || (first && (strcmp(word, "n") == 0 || strcmp(word, "num") == 0));
		first = false;
		memcpy(last, word, sizeof last);
	}
	for (size_t i = 0, n = strlen(last); i < sizeof ends / sizeof ends[0]; i++)
		ended = ended || (n >= strlen(ends[i]) && strcmp(last + n - strlen(ends[i]), ends[i]) == 0);
	return (strlen(name) <= 2 && isalpha((unsigned char)name[0])) || counted || ended || find(words, last);
}

bool column_is_statistic(const char *name)
{
	static const char *const words[] = { "benchmark", "command", "kernel", "process", "instances", "calls", "samples",
		"noise", "iterations", "total", "avg", "average", "med", "stddev", "skipped", "type", "api", "time", "host",
		"user", "system", NULL };

	return any_word(name, words) != NULL;
}

static bool is_known(const char *unit)
{
	double ms, tflops;
	const char *suffix;

	return unit[0] && unit_convert(1, unit, &ms, &tflops, &suffix) == 0;
}

static const char *find_bracket(const char *name, size_t n)
{
	static const char closing[] = ")]}", opening[] = "([{";
	const char *kind = n > 0 ? strchr(closing, name[n - 1]) : NULL;

	return kind && *kind ? strrchr(name, opening[kind - closing]) : NULL;
}

/* "triton_time_in_" becomes "triton_time". */
static void end_series(char *series)
{
	size_t n = strlen(series);

	for (int i = 0; i < 2; i++) {
		while (n > 0 && strchr(" _-,:/", series[n - 1]))
			n--;
		if (i == 0 && n > 3 && strncasecmp(series + n - 2, "in", 2) == 0 && strchr(" _-", series[n - 3]))
			n -= 2;
	}
	if (n > 0)
		series[n] = '\0';
}

/* "s" alone counts as seconds only next to a term for time. */
static bool is_about_time(const char *series)
{
	static const char *const words[] = { "time", "times", "latency", "duration", "elapsed", "runtime", "wall", NULL };

	return any_word(series, words) != NULL;
}

static void copy(char *out, size_t size, const char *from, size_t n)
{
	snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), from);
}

/* Find a unit after the last space, comma or underscore: "triton_us". NULL none. */
static const char *find_suffix(const char *name, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		char unit[COLUMN_UNIT_SIZE], series[WORD_SIZE * 4];

		if (!strchr(" _,-", name[i - 1]))
			continue;
		copy(unit, sizeof unit, name + i, n - i);
		copy(series, sizeof series, name, i - 1);
		if (!is_known(unit) || (tolower((unsigned char)unit[0]) == 's' && !is_about_time(series)))
			return NULL;
		return name + i;
	}
	return NULL;
}

bool column_has_brackets(const char *name)
{
	char series[WORD_SIZE * 4], unit[COLUMN_UNIT_SIZE];
	size_t n = strlen(name);

	while (n > 0 && name[n - 1] == ' ')
		n--;
	return column_split(name, series, sizeof series, unit) == COLUMN_TIME_OR_RATE && find_bracket(name, n);
}

enum column_unit column_split(const char *name, char *series, size_t size, char unit[COLUMN_UNIT_SIZE])
{
	size_t n = strlen(name);

	snprintf(series, size, "%s", name);
	unit[0] = '\0';
	while (n > 0 && name[n - 1] == ' ')
		n--;
	const char *open = find_bracket(name, n), *at = open ? open + 1 : NULL, *end = name + n - 1;

	if (open) {
		at += strncasecmp(at, "in ", 3) == 0 ? 3 : 0;
		while (at < end && *at == ' ')
			at++;
		while (end > at && end[-1] == ' ')
			end--;
		copy(unit, COLUMN_UNIT_SIZE, at, (size_t)(end - at));
		if (!is_known(unit))
			return COLUMN_OTHER_UNIT;
	} else {
		open = find_suffix(name, n);
		if (!open)
			return COLUMN_NO_UNIT;
		copy(unit, COLUMN_UNIT_SIZE, open, (size_t)(name + n - open));
	}
	if (open > name) {
		copy(series, size, name, (size_t)(open - name));
		end_series(series);
	}
	return COLUMN_TIME_OR_RATE;
}
