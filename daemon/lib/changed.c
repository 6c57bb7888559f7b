/* changed.c - text of an environment change. */
#include "lib/lib.h"

#include <stdio.h>

static const char *word_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "none";
}

void changed_text(const char *json, char *out, size_t size)
{
	json_t *list = json_loads(json, 0, NULL), *one;
	size_t used = 0, i;
	snprintf(out, size, "environment");
	json_array_foreach(list, i, one)
	{
		int n = snprintf(out + used, size - used, "%s%s %s to %s", used ? ", " : "", word_of(one, "what"),
			word_of(one, "from"), word_of(one, "to"));
		used += n > 0 ? (size_t)n : 0;
		if (used >= size)
			break;
	}
	json_decref(list);
}
