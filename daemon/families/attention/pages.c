/* pages.c - pages of K and V in an order drawn by the seed. tests/support/inputs.py is an independent second implementation. */
#include "families/attention/attention.h"

#include "model/model.h"

static int32_t pages_of(const struct attention_case *a, int32_t keys)
{
	return a->page ? (keys + a->page - 1) / a->page : 0;
}

int32_t attention_pages(const struct attention_case *a)
{
	int32_t sum = 0;

	for (int i = 0; i < a->n_seqs; i++)
		sum += pages_of(a, a->length[i]);
	return sum;
}

int32_t attention_page_entries(const struct attention_case *a)
{
	return pages_of(a, attention_longest(a));
}

/* Shape: page[n]. */
static void shuffle(uint64_t seed, int32_t n, int32_t *page)
{
	uint64_t row = inputs_mix(inputs_stream(seed, PATTERN_STREAM));

	for (int32_t i = 0; i < n; i++)
		page[i] = i;
	for (int32_t j = 0; j < n; j++) {
		int32_t other = j + (int32_t)(inputs_mix(row + (uint64_t)j * INPUTS_INCREMENT) % (uint64_t)(n - j));
		int32_t chosen = page[other];

		page[other] = page[j];
		page[j] = chosen;
	}
}

void attention_page_table(const struct attention_case *a, uint64_t seed, int32_t *table)
{
	int32_t entries = attention_page_entries(a), n = attention_pages(a), used = 0;
	int32_t *page = mem_alloc_zero((size_t)n, sizeof *page);

	shuffle(seed ^ a->mask_twist, n, page);
	memset(table, 0, (size_t)a->n_seqs * (size_t)entries * sizeof *table);
	for (int i = 0; i < a->n_seqs; i++) {
		int32_t count = pages_of(a, a->length[i]);

		memcpy(table + (int64_t)i * entries, page + used, (size_t)count * sizeof *table);
		used += count;
	}
	free(page);
}
