/* config_settings.c - settings of a configuration file as text for a page, with their lines; secrets only as "set". */
#include "flopwatchd/config/internal.h"

enum { NAME_SIZE = 256, DEPTH_MAX = 6 };

/* Keys that name a file with a secret. */
static bool is_secret(const char *key)
{
	static const char *const keys[] = { "secret_file", "token_file", "password_file", "client_secret_file", "ssh_key", "key",
		"key_file" };
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* The path of a receiver's address is often its password. */
static int shown_length(const char *name, const char *key, const char *value)
{
	const char *host = strstr(value, "://");
	if (strncmp(name, "webhooks", 8) != 0 || strcmp(key, "url") != 0 || !host)
		return (int)strlen(value);
	return (int)(host + 3 - value + (ptrdiff_t)strcspn(host + 3, "/?#"));
}

static void write_value(struct yaml *y, struct buf *out, const char *name, const char *key, struct yaml_node *n)
{
	const char *value = "";
	if (yaml_is_null(n) || yaml_string(y, n, &value) != 0)
		return;
	if (is_secret(key))
		buf_puts(out, *value ? "set" : "not set");
	else
		buf_append(out, value, (size_t)shown_length(name, key, value));
}

static bool has_only_values(struct yaml *y, struct yaml_node *list)
{
	for (int i = 0; i < yaml_count(list); i++) {
		struct yaml_node *n = yaml_item(y, list, i);
		if (yaml_is_map(n) || yaml_is_list(n))
			return false;
	}
	return true;
}

static void write_node(struct yaml *y, struct buf *out, const char *name, const char *key, struct yaml_node *n, int depth)
{
	char inner[NAME_SIZE];
	bool is_map = yaml_is_map(n);
	if (depth > DEPTH_MAX)
		return;
	if (is_map || (yaml_is_list(n) && !has_only_values(y, n))) {
		for (int i = 0; i < yaml_count(n); i++) {
			const char *under = key;
			struct yaml_node *item = is_map ? yaml_pair(y, n, i, &under) : yaml_item(y, n, i);
			if (is_map)
				snprintf(inner, sizeof inner, "%s%s%s", name, *name ? "." : "", under);
			else
				snprintf(inner, sizeof inner, "%s[%d]", name, i);
			write_node(y, out, inner, under, item, depth + 1);
		}
		return;
	}
	buf_printf(out, "%d", yaml_position(n).line);
	buf_append(out, "", 1);
	buf_append(out, name, strlen(name) + 1);
	if (yaml_is_list(n))
		for (int i = 0; i < yaml_count(n); i++) {
			buf_puts(out, i ? ", " : "");
			write_value(y, out, name, key, yaml_item(y, n, i));
		}
	else
		write_value(y, out, name, key, n);
	buf_append(out, "", 1);
}

void config_settings_write(struct yaml *y, struct buf *out)
{
	struct yaml_node *root = yaml_root(y);
	if (root)
		write_node(y, out, "", "", root, 0);
}

void config_settings_each(const struct config *c, config_setting_fn *each, void *arg)
{
	const char *at = c->settings.data, *end = at + c->settings.len;
	while (at && at < end) {
		const char *name = at + strlen(at) + 1, *value = name + strlen(name) + 1;
		each(arg, name, value, atoi(at));
		at = value + strlen(value) + 1;
	}
}
