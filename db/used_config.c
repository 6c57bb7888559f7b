#include "db/db.h"

#include <stdio.h>
#include <stdlib.h>

enum { NODES_MAX_BYTES = 4 << 20 };

struct reported {
	const char *provider[USED_CONFIG_SIDES], *config[USED_CONFIG_SIDES];
};

#define SIDE(side)                                                                                                               \
	{                                                                                                                        \
		{ JSONR_KEY("provider"), .kind = JSONR_TEXT, .offset = offsetof(struct reported, provider[side]) },              \
			{ JSONR_KEY("config"), .kind = JSONR_TEXT, .offset = offsetof(struct reported, config[side]) },          \
		{                                                                                                                \
			.key = NULL                                                                                              \
		}                                                                                                                \
	}
static const struct jsonr_field base_side[] = SIDE(USED_CONFIG_BASE), target_side[] = SIDE(USED_CONFIG_TARGET);
static const struct jsonr_field sides[] = { { JSONR_KEY("base"), .kind = JSONR_OBJECT, .inner = base_side },
	{ JSONR_KEY("target"), .kind = JSONR_OBJECT, .inner = target_side }, { .key = NULL } };

static int read_report(const struct buf *text, struct used_config *out, struct fw_err *err)
{
	struct jsonr r;
	struct reported reported = { { "", "" }, { "", "" } };
	char *buffer = mem_alloc(text->len + 1);
	jsonr_init(&r, text->data, text->len, buffer);
	jsonr_object(&r, sides, &reported);
	for (int i = 0; i < USED_CONFIG_SIDES && !r.failed; i++) {
		snprintf(out->provider[i], sizeof out->provider[i], "%s", reported.provider[i]);
		snprintf(out->config[i], sizeof out->config[i], "%s", reported.config[i]);
	}
	free(buffer);
	return r.failed ? err_set(err, ERR_INTERNAL, "the stored provider and configuration of a cell cannot be read") : 0;
}

int used_config_read(struct db *db, int64_t cell, struct used_config *out, struct fw_err *err)
{
	struct buf text;
	struct fw_err why = { 0 };
	memset(out, 0, sizeof *out);
	buf_init(&text, NODES_MAX_BYTES);
	int result = view_artifact(db, "cell", cell, "nodes", &text, &why);
	if (result == 0)
		result = read_report(&text, out, err);
	else
		result = why.code == ERR_NOT_FOUND ? 0 : err_set(err, why.code, "%s", why.text);
	buf_fini(&text);
	return result;
}

int used_config_number(const char *config, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = strstr(config, name); at; at = strstr(at + len, name)) {
		if ((at > config && at[-1] != ' ') || at[len] != '=')
			continue;
		long value = strtol(at + len + 1, NULL, 10);
		return value > 0 && value < 1000000 ? (int)value : 0;
	}
	return 0;
}
