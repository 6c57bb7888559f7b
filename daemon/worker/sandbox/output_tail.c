/* output_tail.c - the last bytes of a process's output, and the line in it that explains a failure. */
#include <ctype.h>

#include "worker/sandbox/sandbox.h"

void output_tail_add(struct output_tail *w, const char *data, size_t len)
{
	if (len > OUTPUT_TAIL_SIZE) {
		data += len - OUTPUT_TAIL_SIZE;
		len = OUTPUT_TAIL_SIZE;
	}
	if (w->n + len > OUTPUT_TAIL_SIZE) {
		size_t drop = w->n + len - OUTPUT_TAIL_SIZE;

		memmove(w->text, w->text + drop, w->n - drop);
		w->n -= drop;
	}
	memcpy(w->text + w->n, data, len);
	w->n += len;
}

static bool has(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word)) != NULL;
}

static bool begins(const char *line, size_t len, const char *word)
{
	return len >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

/* Return whether a line ends a Python traceback: "module.NameError: text", or "NameError" alone. */
static bool is_exception(const char *line, size_t len)
{
	static const char *const ends[] = { "Error", "Exception", "Interrupt", "Exit" };
	size_t n = 0;

	while (n < len && (isalnum((unsigned char)line[n]) || line[n] == '_' || line[n] == '.'))
		n++;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t size = strlen(ends[i]);

		if (n > size && memcmp(line + n - size, ends[i], size) == 0)
			return n == len || line[n] == ':';
	}
	return false;
}

/* Return how well a line explains a failure: 0 not at all, 3 best. pytest begins the lines of an error with "E   ". */
static int weigh_line(const char *line, size_t len)
{
	static const char *const begin[] = {
		"error: ", "Error: ", "ERROR: ", "fatal: ", "Fatal Python error: ", "terminate called"
	};
	static const char *const inside[] = { ": error: ", ": fatal error: ", ": undefined reference to ", ": Assertion `",
		"Assertion failed", "  what():  ", " panicked at ", "CUDA error", "HIP error" };
	bool is_pytest = begins(line, len, "E   ");
	size_t skip = is_pytest ? 1 : 0;

	while (is_pytest && skip < len && line[skip] == ' ')
		skip++;
	if (is_exception(line + skip, len - skip))
		return is_pytest ? 3 : 2;
	if (is_pytest)
		return has(line, len, "assert ") || has(line, len, ": error: ") ? 2 : 1;
	for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
		if (begins(line, len, begin[i]))
			return 1; /* weak evidence: tools such as pip print it and continue */
	for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
		if (has(line, len, inside[i]))
			return 2;
	return 0;
}

bool output_tail_is_error(const char *line, size_t len)
{
	return weigh_line(line, len) > 0;
}

const char *output_tail_find_cause(const char *text, size_t size, bool is_first, size_t *len)
{
	const char *found = text;
	int weight = -1;

	*len = 0;
	for (size_t at = 0, n; at < size; at += n + 1) {
		const char *line = text + at, *end = memchr(line, '\n', size - at);
		size_t shown = n = end ? (size_t)(end - line) : size - at;

		while (shown > 0 && isspace((unsigned char)line[shown - 1]))
			shown--;
		int own = shown ? weigh_line(line, shown) : -1;
		if (own < weight || own < 0 || (is_first && own == weight && own > 0))
			continue;
		weight = own;
		found = line;
		*len = shown;
	}
	return found;
}

size_t output_tail_print(const char *line, size_t len, char *out, size_t size)
{
	size_t n = 0, bytes;

	for (size_t i = 0; i < len; i += bytes) {
		uint32_t code;

		bytes = utf8_next(line + i, len - i, &code);
		if (code == UTF8_INVALID || utf8_is_hidden(code)) {
			if (n + 1 >= size)
				break;
			out[n++] = '?';
		} else if (n + bytes < size) {
			memcpy(out + n, line + i, bytes);
			n += bytes;
		} else {
			break;
		}
	}
	out[n] = '\0';
	return n;
}

void output_tail_quote(const struct output_tail *w, char out[OUTPUT_TAIL_QUOTE])
{
	char quoted[200];
	size_t len;
	const char *line = output_tail_find_cause(w->text, w->n, false, &len);
	size_t n = output_tail_print(line, len, quoted, sizeof quoted);

	snprintf(out, OUTPUT_TAIL_QUOTE, "%s%s%s", n ? "; last output: \"" : "", quoted, n ? "\"" : "");
}

bool output_tail_is_out_of_memory(const struct output_tail *w)
{
	/* in messages of CUDA and PyTorch */
	static const char *const words[] = { "out of memory", "OutOfMemory", "OUT_OF_MEMORY", "cudaErrorMemoryAllocation",
		"busy or unavailable", "DEVICE_UNAVAILABLE", "cudaErrorDevicesUnavailable" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (memmem(w->text, w->n, words[i], strlen(words[i])))
			return true;
	return false;
}
