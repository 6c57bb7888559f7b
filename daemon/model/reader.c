/* reader.c - documented in model.h. */
#include "model/model.h"

void reader_add(struct reader *r, struct yaml_node *at, const void *shape)
{
	r->add(r, at, shape);
}

int reader_ints(struct reader *r, struct yaml_node *list, int max, int64_t most, int32_t *out)
{
	int n = yaml_list(r->y, list, 1, max, "must be a list of 1 to %d numbers", max);

	for (int i = 0; i < n; i++) {
		int64_t v = 1;

		if (yaml_int(r->y, yaml_item(r->y, list, i), 1, most, &v))
			return 0;
		out[i] = (int32_t)v;
	}
	return n < 0 ? 0 : n;
}

int reader_shares(struct reader *r, struct yaml_node *list, double *out)
{
	int n = yaml_list(r->y, list, 1, READER_LIST_MAX, "must be a list of 1 to %d numbers", READER_LIST_MAX);

	for (int i = 0; i < n; i++)
		if (yaml_double(r->y, yaml_item(r->y, list, i), 0, 1, &out[i]))
			return 0;
	return n < 0 ? 0 : n;
}

int reader_choice(struct yaml *y, struct yaml_node *n, const char *const *choices, const char *hint)
{
	const char *text = NULL;

	if (yaml_string(y, n, &text) || !text)
		return -1;
	for (int i = 0; choices[i]; i++)
		if (strcmp(choices[i], text) == 0)
			return i;
	yaml_mistake(y, n, "\"%.40s\" is unknown; use %s", text, hint);
	return -1;
}

void reader_require(struct yaml *y, const struct yaml_node *map, const struct yaml_node *value, const char *key)
{
	if (!value)
		yaml_mistake(y, map, "%s is missing", key);
}
