/* sentinel.c - classes of cells as bits and names. */
#include "protocol/internal.h"

enum { NAME_SIZE = 32 };

static sentinel_set bit_of(enum direction d, bool irregular)
{
	return 1u << (2 * (unsigned)d + irregular);
}

sentinel_set sentinel_class(const struct cell *c)
{
	return bit_of(c->direction, case_is_irregular(c));
}

sentinel_set sentinel_direction(enum direction d)
{
	return bit_of(d, false) | bit_of(d, true);
}

/* Return the n-th class and its name; 0 after the last. */
static sentinel_set nth(int n, char name[NAME_SIZE])
{
	enum direction d = (enum direction)(1 + n / 2);
	bool irregular = n % 2;

	if (d >= DIRECTIONS)
		return 0;
	snprintf(name, NAME_SIZE, "%s%s", direction_name(d), irregular ? " irregular" : "");
	return bit_of(d, irregular);
}

static sentinel_set of_name(const char *wanted)
{
	char name[NAME_SIZE];
	sentinel_set bit;

	for (int n = 0; (bit = nth(n, name)) != 0; n++)
		if (wanted && strcmp(name, wanted) == 0)
			return bit;
	return 0;
}

int protocol_read_classes(struct fields *f, const struct row *r, void *message)
{
	json_t *list = field_array(f, r->key, 0, 2 * (size_t)DIRECTIONS);
	sentinel_set *out = (sentinel_set *)(void *)((char *)message + r->offset);

	for (size_t i = 0; i < json_array_size(list); i++) {
		sentinel_set bit = of_name(json_string_value(json_array_get(list, i)));

		if (!bit)
			return field_fail(f, r->key, "item %zu must be a direction, with or without \" irregular\"", i);
		*out |= bit;
	}
	return list ? 0 : -1;
}

void protocol_write_classes(struct jsonw *j, const struct row *r, const void *message)
{
	sentinel_set bit, set = *(const sentinel_set *)(const void *)((const char *)message + r->offset);
	char name[NAME_SIZE];

	if (!set)
		return;
	jsonw_kv_array(j, r->key);
	for (int n = 0; (bit = nth(n, name)) != 0; n++)
		if (set & bit)
			jsonw_string(j, name);
	jsonw_array_end(j);
}
