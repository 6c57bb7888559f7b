/* notifications.c - list notifications, and send one again. */
#include "cli/internal.h"

static void print_notifications(const json_t *items)
{
	static const char *const titles[] = { ">notification", "kind", "to", "state", ">attempts", "~written", "~last error" };
	struct table t;
	table_init(&t, 7, titles);
	size_t i;
	json_t *d;
	json_array_foreach(items, i, d)
	{
		table_cell(&t, "%lld", value_integer(d, "id"));
		table_cell(&t, "%s", value_text(d, "kind"));
		table_cell(&t, "%s", value_text(d, "target"));
		table_cell(&t, "%s", value_text(d, "state"));
		table_cell(&t, "%zu", json_array_size(json_object_get(d, "log")));
		table_cell(&t, "%.19s", value_text(d, "created_at"));
		table_cell(&t, "%s", value_text(d, "last_error"));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

int verb_notifications(struct client *c, const struct options *o)
{
	struct buf path;
	buf_init(&path, 4096);
	buf_printf(&path, "/api/v1/notifications?limit=%d", o->limit ? o->limit : 50);
	client_query(&path, "state", o->state);
	int status = verb_show(c, o, &path, print_notifications, NULL);
	buf_fini(&path);
	return status;
}

int verb_redeliver(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	return client_post_step(c, "notifications", o->arg[0], "redeliver", "", NULL, &err) == 0 ? EXIT_OK : verb_fail(&err);
}
