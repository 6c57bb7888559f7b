/* One comparison: the sentence, both sides, what differs around them, the tables, the sums. */
#include <stdio.h>

#include "model/model.h"
#include "verdict/verdict.h"
#include "web/answer/answer.h"
#include "web/html/html.h"
#include "web/page/internal.h"

/* A list of the body; NULL when it is empty or missing. Own: json_decref. */
static json_t *open_list(struct jsonr_span span)
{
	json_t *list = span.len > 2 ? jsonr_tree(span.text, span.len) : NULL;
	if (json_array_size(list) > 0)
		return list;
	json_decref(list);
	return NULL;
}

/* What was noted while it ran. */
static void notes(struct buf *out, const struct comparison *c)
{
	size_t i;
	const json_t *note;
	json_t *list = open_list(c->notes);
	if (!list)
		return;
	emit_rawf(out, "<details class=card id=notes><summary>%zu note%s of the run</summary><ul>", json_array_size(list),
		json_array_size(list) == 1 ? "" : "s");
	json_array_foreach(list, i, note)
	{
		emit_raw(out, "<li>");
		emit_text(out, comparison_text(note, "role"));
		emit_raw(out, " ");
		emit_text(out, comparison_text(note, "cell"));
		emit_raw(out, " ");
		emit_text(out, comparison_text(note, "text"));
		emit_raw(out, "</li>");
	}
	emit_raw(out, "</ul></details>\n");
	json_decref(list);
}

/* What the target has more of than time, a sentence a kind, with the cell where it grew most. */
static void cost(struct buf *out, const struct comparison *c, const json_t *cost)
{
	const json_t *cells = json_object_get(cost, "cells"), *most = json_array_get(cells, 0);
	char text[320];
	cost_text(comparison_text(cost, "what"), json_array_size(cells), comparison_number(most, "base"),
		comparison_number(most, "target"), text, sizeof text);
	emit_raw(out, "<p>Besides its time ");
	emit_text(out, text);
	emit_raw(out, ", in ");
	const char *key = comparison_text(most, "cell");
	bool is_linked = false;
	for (int i = 0; i < c->n_cells && !is_linked; i++) {
		is_linked = strcmp(c->cell[i].key, key) == 0;
		if (is_linked)
			emit_rawf(out, "<a href=\"?open=%d#c%d\" data-cell=c%d>", i, i, i);
	}
	emit_text(out, key);
	emit_raw(out, is_linked ? "</a>.</p>\n" : ".</p>\n");
}

static void costs(struct buf *out, const struct comparison *c)
{
	size_t i;
	const json_t *one;
	json_t *list = open_list(c->costs);
	if (!list)
		return;
	emit_raw(out, "<section id=costs class=said>");
	json_array_foreach(list, i, one) cost(out, c, one);
	emit_raw(out, "</section>\n");
	json_decref(list);
}

static int count(const struct comparison *c, enum verdict verdict)
{
	int n = 0;
	for (int i = 0; i < c->n_cells; i++)
		n += c->cell[i].verdict == verdict;
	return n;
}

static void request_counter(struct buf *out, const struct comparison *c, const struct comparison_view *view)
{
	emit_rawf(out, "<nav class=tabs aria-label=\"Cells by verdict\"><a href=\"/comparisons/%lld\"%s>all %d</a>",
		(long long)c->id, *view->show ? "" : " aria-current=true", c->n_cells);
	for (unsigned v = 0; v < VERDICT_NONE; v++) {
		const char *name = verdict_name((enum verdict)v);
		int n = count(c, (enum verdict)v);
		if (!n)
			continue;
		emit_rawf(out, "<a href=\"/comparisons/%lld?show=%s\"%s>", (long long)c->id, name,
			strcmp(view->show, name) == 0 ? " aria-current=true" : "");
		layout_name(out, verdict_word(c->kind, (enum verdict)v));
		emit_rawf(out, " %d</a>", n);
	}
	emit_raw(out, "</nav>\n");
}

static void tools(struct buf *out, const struct comparison *c, const struct comparison_view *view)
{
	char id[24];
	snprintf(id, sizeof id, "%lld", (long long)c->job);
	emit_raw(out, "<div class=tools>");
	request_counter(out, c, view);
	emit_rawf(out,
		"<form class=filter action=\"/comparisons/%lld\"><input type=search name=q data-filter placeholder=\"filter cells\" "
		"aria-label=\"Filter cells\" value=\"",
		(long long)c->id);
	emit_attribute(out, view->find);
	emit_rawf(out,
		"\"><button>Filter</button></form><div class=row><a class=button href=\"/api/v1/comparisons/%lld.csv\">CSV</a><a class=button "
		"href=\"/api/v1/comparisons/%lld.md\" title=\"to paste into a review\">Markdown</a><a class=button "
		"href=\"/api/v1/comparisons/%lld\">JSON</a>",
		(long long)c->id, (long long)c->id, (long long)c->id);
	layout_button(out, "jobs", id, "retry", "Measure again");
	if (c->around->previous)
		emit_rawf(out, "<a rel=prev href=\"/comparisons/%lld\">\u2190 comparison %lld</a>",
			(long long)c->around->previous, (long long)c->around->previous);
	if (c->around->next)
		emit_rawf(out, "<a rel=next href=\"/comparisons/%lld\">comparison %lld \u2192</a>", (long long)c->around->next,
			(long long)c->around->next);
	emit_raw(out, "</div></div>\n");
}

static void crumbs(struct buf *out, const struct comparison *c)
{
	emit_raw(out, "<p class=\"dim crumbs\"><a href=\"/comparisons?repo=");
	emit_argument(out, c->repo);
	emit_raw(out, "\">");
	emit_text(out, c->repo);
	emit_raw(out, "</a>");
	if (*c->branch) {
		emit_raw(out, " / <a href=\"/comparisons?repo=");
		emit_argument(out, c->repo);
		emit_raw(out, "&amp;branch=");
		emit_argument(out, c->branch);
		emit_raw(out, "\">");
		layout_branch(out, c->branch);
		emit_raw(out, "</a>");
	}
	if (c->kind != JOBKIND_COMPARE) {
		emit_raw(out, ", a ");
		emit_text(out, jobkind_name(c->kind));
	}
	if (c->quick)
		emit_raw(out, ", a quick look");
	emit_raw(out, ": ");
	layout_commit(out, c->target.commit);
	emit_raw(out, " ");
	emit_text(out, c->target.subject);
	emit_raw(out, c->kind == JOBKIND_ENVIRONMENT  ? ", against itself in another environment</p>\n"
		      : comparison_is_side_by_side(c) ? ", against another implementation</p>\n"
						      : ", against ");
	if (comparison_is_side_by_side(c))
		return;
	layout_commit(out, c->base.commit);
	emit_raw(out, " ");
	emit_text(out, c->base.subject);
	emit_raw(out, "</p>\n");
}

/* Of a suite that is too large for a push, what this is of it. */
static void part(struct buf *out, const struct comparison *c)
{
	char text[240];
	if (!c->part.of)
		return;
	part_text(&(struct part_words){ c->part.number, c->part.of, c->n_cells, c->part.suite_cells, c->part.nights,
			  c->part.measured },
		text, sizeof text);
	emit_raw(out, "<p id=part class=dim>");
	emit_text(out, text);
	emit_raw(out, "</p>\n");
}

/* ---- the page --------------------------------------------------------------------------------------------------------- */

static const char *requested(struct http_request *r, const char *name)
{
	const char *value = http_query(r, name);
	return value ? value : "";
}

static bool is_plain(const struct comparison_view *view)
{
	return !*view->show && !*view->find && !*view->sort && !*view->open;
}

static int draw(struct site *site, struct http_response *response, int64_t id, const struct view_around *around,
	const struct comparison_view *view, struct fw_err *err)
{
	enum { USUAL_BYTES = 40 << 10 }; /* room at once, instead of growing to it by copies */
	struct comparison c;
	struct buf *out = &response->body;
	char title[64], data[64];
	int result = comparison_read(site->db, id, around, &c, err);
	if (result == 0) {
		snprintf(title, sizeof title, "Comparison %lld", (long long)id);
		snprintf(data, sizeof data, "/api/v1/comparisons/%lld", (long long)id);
		buf_room(out, USUAL_BYTES);
		layout_begin(response, title, "comparisons");
		layout_follow(out, "alert. job.done profile.");
		crumbs(out, &c);
		part(out, &c);
		result = comparison_lead(site->db, out, &c, err);
		comparison_spread(out, &c);
		costs(out, &c);
		tools(out, &c, view);
		if (result == 0 && (!*c.identical_by || !comparison_is_of_programs(
								&c))) { /* nobody ran the program, so nobody knows its rows */
			result = comparison_tables(out, &c, view, comparison_detail, site, err);
			comparison_setting(out, &c);
			notes(out, &c);
			comparison_summary(out, &c);
		} else {
			comparison_setting(out, &c);
			notes(out, &c);
		}
		layout_end_data(response, data);
	}
	comparison_free(&c);
	return result;
}

static int answer(struct site *site, struct http_request *r, struct http_response *response, int64_t id, struct fw_err *err)
{
	struct comparison_view view = { .show = requested(r, "show"),
		.find = requested(r, "q"),
		.sort = requested(r, "sort"),
		.open = requested(r, "open") };
	struct view_around around;
	char stamp[PAGE_STAMP_MAX], profile[WHY_STAMP_SIZE];
	if (view_around(site->db, id, &around, err) != 0 || why_stamp(site->db, id, profile, err) != 0)
		return -1;
	page_stamp(id, &around, profile, response->logged_in, stamp);
	if (!is_plain(&view))
		return draw(site, response, id, &around, &view, err);
	if (page_cache_get(site->pages, id, stamp, &response->body)) {
		response->type = "text/html; charset=utf-8";
	} else {
		if (draw(site, response, id, &around, &view, err) != 0)
			return -1;
		page_cache_put(site->pages, id, stamp, &response->body);
	}
	snprintf(response->etag, sizeof response->etag, "\"%s\"", stamp);
	return 0;
}

void page_comparison(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	int64_t id = answer_path_id(r, response, "comparison");
	if (id < 0)
		return;
	int result = db_look_begin(site->db, &err);
	if (result == 0) {
		result = answer(site, r, response, id, &err);
		db_look_end(site->db);
	}
	if (result != 0)
		answer_error(r, response, &err);
}
