/*
 * hot.c - stall samples by instruction. Addresses of nvdisasm and offsets of samples both count from the start of a function.
 */
#include "worker/internal.h"

#include <stdlib.h>

#define NOTED_SHARE 0.002
#define TRIFLE      0.02

const struct msg_stalls *hot_find(const struct buffered_stalls *s, const char *symbol_sha256)
{
	for (int i = 0; i < s->n && symbol_sha256[0]; i++)
		if (strcmp(s->kernel[i].symbol_sha256, symbol_sha256) == 0 && s->kernel[i].samples > 0)
			return &s->kernel[i];
	return NULL;
}

bool hot_matters(const struct buffered_stalls *s, const struct msg_stalls *kernel)
{
	double sum = 0;
	for (int i = 0; i < s->n; i++)
		sum += (double)s->kernel[i].samples;
	return (double)kernel->samples > TRIFLE * sum;
}

static int by_offset(const void *key, const void *line)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct evidence_stall *)line)->offset;
	return (a > b) - (a < b);
}

void hot_note(void *arg, int side, uint32_t address, char *note)
{
	const struct msg_stalls *s = ((const struct hot_sides *)arg)->of[side];
	const struct evidence_stall *line =
		s && s->n ? bsearch(&address, s->line, (size_t)s->n, sizeof *s->line, by_offset) : NULL;
	if (line && line->samples >= NOTED_SHARE * (double)s->samples)
		snprintf(note, SASSDIFF_NOTE_SIZE, "%.1f %% %s", 100.0 * line->samples / (double)s->samples, line->reason);
}

static const char *text_at(const struct sass *sass, const struct sass_function *code, uint32_t offset)
{
	for (size_t i = 0; sass && i < code->n; i++)
		if (sass->instruction[code->first + i].address == offset)
			return sass_string(sass, sass->instruction[code->first + i].text);
	return "";
}

void hot_fill(struct evidence_hot *h, const struct msg_stalls *kernel, const struct sass *sass, const struct sass_function *code)
{
	*h = (struct evidence_hot){ .samples = kernel->samples };
	for (int i = 0; i < kernel->n; i++) {
		int at = h->n;
		while (at > 0 && h->line[at - 1].stall.samples < kernel->line[i].samples)
			at--;
		if (at == EVIDENCE_HOT_MAX)
			continue;
		int moved = (h->n < EVIDENCE_HOT_MAX ? h->n : EVIDENCE_HOT_MAX - 1) - at;
		memmove(&h->line[at + 1], &h->line[at], (size_t)moved * sizeof h->line[0]);
		h->line[at].stall = kernel->line[i];
		h->n += h->n < EVIDENCE_HOT_MAX;
	}
	for (int i = 0; i < h->n; i++)
		snprintf(h->line[i].text, sizeof h->line[i].text, "%.95s", text_at(sass, code, h->line[i].stall.offset));
}
