/* routing.c - sizes of groups: even, drawn token by token, or given. */
#include "families/grouped/grouped.h"

/* Streams of inputs_stream that no tensor has. */
enum { ROUTING_STREAM = 0x6000, ORDER_STREAM = 0x6001 };
/* In a skewed routing the chance of the group of rank i (from 0) is proportional to 1 / (i + groups / 16). */
enum { CHANCE = 1 << 20, FLATNESS = 16 };

/* Sums of the groups' chances, from which a token draws. Shape: sums[groups]. */
static void make_chances(const struct grouped_case *a, uint64_t seed, uint32_t *sums)
{
	uint64_t order = inputs_stream(seed, ORDER_STREAM);
	int32_t flat = a->groups / FLATNESS > 1 ? a->groups / FLATNESS : 1;

	for (int32_t g = 0; g < a->groups; g++)
		sums[g] = a->routing == GROUPED_SKEWED ? (uint32_t)(CHANCE / (g + flat)) : 1;
	for (int32_t g = a->groups - 1; a->routing == GROUPED_SKEWED && g > 0; g--) { /* ranks in a drawn order */
		int32_t other = (int32_t)(inputs_mix(order + (uint64_t)g * INPUTS_INCREMENT) % (uint64_t)(g + 1));
		uint32_t chance = sums[g];

		sums[g] = sums[other];
		sums[other] = chance;
	}
	for (int32_t g = 1; g < a->groups; g++)
		sums[g] += sums[g - 1];
}

/* Return the group in whose share `value` lies. */
static int32_t group_of(const uint32_t *sums, int32_t groups, uint32_t value)
{
	int32_t low = 0, high = groups - 1;

	while (low < high) {
		int32_t middle = (low + high) / 2;

		if (value < sums[middle])
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void draw(const struct grouped_case *a, uint64_t seed, int32_t *out)
{
	uint32_t sums[FW_GROUPED_GROUPS_MAX];
	int32_t last[FW_GROUPED_GROUPS_MAX]; /* token that drew the group last */
	uint64_t stream = inputs_stream(seed, ROUTING_STREAM);

	make_chances(a, seed, sums);
	for (int32_t g = 0; g < a->groups; g++) {
		out[g] = 0;
		last[g] = -1;
	}
	for (int32_t t = 0; t < a->tokens; t++) {
		uint64_t token = inputs_mix(stream + (uint64_t)t * INPUTS_INCREMENT);

		for (int32_t found = 0, attempt = 0; found < a->top_k; attempt++) {
			uint64_t drawn = inputs_mix(token + (uint64_t)attempt * INPUTS_INCREMENT);
			int32_t g = group_of(sums, a->groups, (uint32_t)(drawn % sums[a->groups - 1]));

			if (last[g] == t)
				continue;
			last[g] = t;
			out[g]++;
			found++;
		}
	}
}

void grouped_sizes(const struct grouped_case *a, uint64_t seed, int32_t *out)
{
	int32_t sizes[FW_GROUPED_GROUPS_MAX];

	if (a->routing == GROUPED_UNIFORM || a->routing == GROUPED_SKEWED)
		draw(a, seed, sizes);
	for (int32_t g = 0; g < a->groups; g++) {
		if (a->routing == GROUPED_SIZES)
			sizes[g] = a->size[g];
		if (a->routing == GROUPED_BALANCED)
			sizes[g] = a->rows / a->groups + (g < a->rows % a->groups);
	}
	for (int32_t g = 0; g < a->groups; g++) /* turned: backwards, beginning at another group */
		out[g] = sizes[a->turned ? (a->groups - 1 - g + a->turned - 1) % a->groups : g];
}

int32_t grouped_used(const struct grouped_case *a, uint64_t seed)
{
	int32_t sizes[FW_GROUPED_GROUPS_MAX], used = 0;

	grouped_sizes(a, seed, sizes);
	for (int32_t g = 0; g < a->groups; g++)
		used += sizes[g] > 0;
	return used;
}
