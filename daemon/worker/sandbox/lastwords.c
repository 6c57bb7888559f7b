/* lastwords.c - ring of the last output bytes. */
#include "worker/sandbox/sandbox.h"

void lastwords_keep(struct lastwords *w, const char *data, size_t len)
{
	if (len > LASTWORDS_KEPT) {
		data += len - LASTWORDS_KEPT;
		len = LASTWORDS_KEPT;
	}
	if (w->n + len > LASTWORDS_KEPT) {
		size_t drop = w->n + len - LASTWORDS_KEPT;

		memmove(w->text, w->text + drop, w->n - drop);
		w->n -= drop;
	}
	memcpy(w->text + w->n, data, len);
	w->n += len;
}

void lastwords_quote(const struct lastwords *w, char out[LASTWORDS_QUOTE])
{
	size_t end = w->n, start, n = 0;
	char said[200];

	while (end > 0 && (w->text[end - 1] == '\n' || w->text[end - 1] == ' '))
		end--;
	for (start = end; start > 0 && w->text[start - 1] != '\n';)
		start--;
	for (size_t i = start; i < end && n + 1 < sizeof said; i++)
		said[n++] = w->text[i] >= ' ' && w->text[i] < 127 ? w->text[i] : '?';
	said[n] = '\0';
	snprintf(out, LASTWORDS_QUOTE, "%s%s%s", n ? "; last words: \"" : "", said, n ? "\"" : "");
}

bool lastwords_of_no_room(const struct lastwords *w)
{
	/* messages of CUDA, its runtime and PyTorch */
	static const char *const words[] = { "out of memory", "OutOfMemory", "OUT_OF_MEMORY", "cudaErrorMemoryAllocation",
		"busy or unavailable", "DEVICE_UNAVAILABLE", "cudaErrorDevicesUnavailable" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (memmem(w->text, w->n, words[i], strlen(words[i])))
			return true;
	return false;
}
