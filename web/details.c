/*
 * details.c - metrics are stored by name ("phase.run.base_ms", "base.error_ratio"), so that new ones need no new page: each
 * becomes a row with a value for each side. Phases and kernels are named by the module, so their names are foreign text.
 */
#include "web/details.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/store_view.h"
#include "web/emit.h"
#include "web/layout.h"

enum { ROWS_MAX = 64, NODES_MAX_BYTES = 4 << 20 };

struct row {
	char name[64], unit[16];
	double base, target, change_pct;
};

struct rows {
	struct row row[ROWS_MAX];
	int n;
};

static struct row *row_of(struct rows *rows, const char *name, size_t len)
{
	for (int i = 0; i < rows->n; i++)
		if (strlen(rows->row[i].name) == len && memcmp(rows->row[i].name, name, len) == 0)
			return &rows->row[i];
	if (rows->n == ROWS_MAX || len >= sizeof rows->row[0].name)
		return NULL;
	struct row *row = &rows->row[rows->n++];
	*row = (struct row){ .base = NAN, .target = NAN, .change_pct = NAN };
	memcpy(row->name, name, len);
	return row;
}

/* "<name>.base_<unit>", "<name>.change_pct", or "base.<name>". */
static void take_metric(void *arg, const char *name, const char *unit, double value)
{
	const char *dot = strrchr(name, '.');
	if (!dot)
		return;
	bool base = strncmp(name, "base.", 5) == 0, target = strncmp(name, "target.", 7) == 0;
	struct row *row = base || target ? row_of(arg, dot + 1, strlen(dot + 1)) : row_of(arg, name, (size_t)(dot - name));
	if (!row)
		return;
	if (base || (!target && strncmp(dot, ".base_", 6) == 0))
		row->base = value;
	else if (target || strncmp(dot, ".target_", 8) == 0)
		row->target = value;
	else if (strcmp(dot, ".change_pct") == 0)
		row->change_pct = value;
	if (strcmp(dot, ".change_pct") != 0)
		snprintf(row->unit, sizeof row->unit, "%s", unit);
}

static void figure(struct buf *out, double v)
{
	if (isfinite(v))
		emit_rawf(out, "<td class=n>%.5g</td>", v);
	else
		emit_raw(out, "<td class=n>\u2013</td>");
}

static void draw_rows(struct buf *out, const struct rows *rows)
{
	static const char *const columns[] = { "", ">Base", ">Target", "Unit", ">Change" };
	layout_table(out, 5, columns);
	for (int i = 0; i < rows->n; i++) {
		const struct row *row = &rows->row[i];
		emit_raw(out, "<tr><th scope=row>");
		emit_text(out, row->name);
		emit_raw(out, "</th>");
		figure(out, row->base);
		figure(out, row->target);
		emit_raw(out, "<td>");
		emit_text(out, row->unit);
		emit_raw(out, "</td><td class=n>");
		layout_change(out, row->change_pct);
		emit_raw(out, "</td></tr>\n");
	}
	layout_table_end(out);
}

/* "registers 168 -> 172" for what differs; a side that has no such kernel says so. */
static void draw_change(struct buf *out, const json_t *change)
{
	static const char *const numbers[] = { "registers", "local_bytes", "shared_bytes" };
	const json_t *base = json_object_get(change, "base"), *target = json_object_get(change, "target");
	const char *phase = json_string_value(json_object_get(change, "phase"));
	const char *kernel = json_string_value(json_object_get(change, "kernel"));
	emit_raw(out, "<li>");
	emit_text(out, phase ? phase : "");
	emit_raw(out, " <code>");
	emit_text(out, kernel ? kernel : "");
	emit_raw(out, "</code>");
	if (!json_is_object(base) || !json_is_object(target)) {
		emit_raw(out, json_is_object(base) ? " is gone" : " is new");
	} else {
		for (int i = 0; i < 3; i++) {
			json_int_t a = json_integer_value(json_object_get(base, numbers[i]));
			json_int_t b = json_integer_value(json_object_get(target, numbers[i]));
			if (a != b)
				emit_rawf(out, " %s %lld \u2192 %lld", numbers[i], (long long)a, (long long)b);
		}
		if (!json_equal(json_object_get(base, "grid"), json_object_get(target, "grid")))
			emit_raw(out, " another grid");
		if (!json_equal(json_object_get(base, "block"), json_object_get(target, "block")))
			emit_raw(out, " another block");
	}
	emit_raw(out, "</li>\n");
}

static void draw_changes(struct buf *out, const json_t *changes)
{
	const json_t *list = json_object_get(changes, "changed");
	json_int_t n = json_integer_value(json_object_get(changes, "changes"));
	size_t i;
	json_t *change;
	emit_rawf(out, "<p>Compiled kernels that differ: %lld of %lld</p><ul>", (long long)n,
		(long long)json_integer_value(json_object_get(changes, "base")));
	json_array_foreach(list, i, change) draw_change(out, change);
	emit_raw(out, "</ul>\n");
}

int details_cell(struct buf *out, struct db *db, int64_t cell, struct fw_err *err)
{
	struct rows rows = { .n = 0 };
	struct fw_err why = { 0 };
	struct buf nodes;
	if (view_metrics(db, "cell", cell, take_metric, &rows, err) != 0)
		return -1;
	buf_init(&nodes, NODES_MAX_BYTES);
	int found = view_artifact(db, "cell", cell, "nodes_changed", &nodes, &why);
	json_t *changes = found == 0 ? json_loadb(nodes.data, nodes.len, 0, NULL) : NULL;
	buf_fini(&nodes);
	if (found != 0 && why.code != ERR_NOT_FOUND)
		return err_set(err, why.code, "%s", why.text);
	if (rows.n || changes) {
		emit_raw(out, "<details><summary>phases and figures</summary>");
		if (rows.n)
			draw_rows(out, &rows);
		if (changes)
			draw_changes(out, changes);
		emit_raw(out, "</details>");
	}
	json_decref(changes);
	return 0;
}
