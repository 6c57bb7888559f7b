/* One comparison: the sentence, both sides, what differs around them, the tables, the sums. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/suite/peers.h"
#include "web/answer/answer.h"
#include "web/comparison/detail.h"
#include "web/comparison/peer.h"
#include "web/comparison/table.h"
#include "web/html/emit.h"
#include "web/html/layout.h"
#include "web/page/page.h"
#include "web/comparison/cache.h"
#include "web/answer/site.h"
#include "web/why/why.h"

/* ---- the sentence ----------------------------------------------------------------------------------------------------- */

static int count(const struct comparison *c, enum verdict verdict)
{
	int n = 0;
	for (int i = 0; i < c->n_cells; i++)
		n += c->cell[i].verdict == verdict;
	return n;
}

/** The figures of bursts or of the mean call, where those decided; NULL: the pairs did. */
static const json_t *decided(struct comparison_cell *cell)
{
	bool by_pairs = cell->decided_by == DECIDER_PAIRS;
	return by_pairs ? NULL : json_object_get(comparison_open(cell), decider_name(cell->decided_by));
}

/** The change that the verdict stands for. */
static double decided_pct(struct comparison_cell *cell)
{
	const json_t *other = decided(cell);
	return other ? comparison_number(other, "change_pct") : cell->change_pct;
}

/* Of the cells with this verdict the one that moved most. */
static struct comparison_cell *first_of(const struct comparison *c, enum verdict verdict)
{
	struct comparison_cell *most = NULL;
	for (int i = 0; i < c->n_cells; i++)
		if (c->cell[i].verdict == verdict && (!most || fabs(decided_pct(&c->cell[i])) > fabs(decided_pct(most))))
			most = &c->cell[i];
	return most;
}

static void name_cell(struct buf *out, const struct comparison *c, const struct comparison_cell *cell)
{
	emit_rawf(out, "<a href=\"#c%d\">", cell->n);
	layout_case(out, cell->key, cell->title, cell->size);
	emit_raw(out, " ");
	emit_text(out, cell->direction);
	emit_raw(out, "</a>");
	(void)c;
}

static void moved_cell(struct buf *out, const struct comparison *c, struct comparison_cell *cell)
{
	layout_change(out, decided_pct(cell));
	if (cell->decided_by == DECIDER_BURSTS)
		emit_raw(out, " in bursts, once clocks settle under its power draw,");
	if (cell->decided_by == DECIDER_MEAN) {
		emit_raw(out, " on average, since ");
		emit_text(out, comparison_text(decided(cell), "text"));
		emit_raw(out, ",");
	}
	emit_raw(out, " in ");
	name_cell(out, c, cell);
}

static void improvement_sentence(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *best = first_of(c, VERDICT_IMPROVEMENT);
	emit_rawf(out, "%d of %d cells are faster by more than their threshold, and none lost", count(c, VERDICT_IMPROVEMENT),
		c->n_cells);
	if (!best)
		return;
	emit_raw(out, "; the best is ");
	moved_cell(out, c, best);
}

static void regression_sentence(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *w = first_of(c, VERDICT_REGRESSION);
	emit_rawf(out, "%d of %d cells lost more than their threshold", count(c, VERDICT_REGRESSION), c->n_cells);
	if (!w)
		return;
	const char *cause = decided(w) ? NULL : comparison_cause(w);
	emit_raw(out, "; the worst is ");
	moved_cell(out, c, w);
	if (cause) {
		emit_raw(out, ", where phase <b>");
		emit_text(out, cause);
		emit_raw(out, "</b> moved");
	}
	if (w->borderline)
		emit_raw(out, " (borderline: decided by its sign at the last launch)");
}

/* Rows of which there was nothing to compare, after what is said of the others. */
static void absences(struct buf *out, const struct comparison *c)
{
	static const struct {
		enum verdict verdict;
		const char *text;
	} said[] = { { VERDICT_REMOVED, "removed" }, { VERDICT_ADDED, "added" },
		{ VERDICT_UNSUPPORTED, "done by neither side" } };
	int n_said = 0;
	if (comparison_is_beside(c))
		return;
	for (int i = 0; i < 3; i++) {
		int n = count(c, said[i].verdict);
		if (n)
			emit_rawf(out, "%s%d %s", n_said++ ? ", " : "; not compared: ", n, said[i].text);
	}
}

static int n_compared(const struct comparison *c)
{
	return c->n_cells - count(c, VERDICT_REMOVED) - count(c, VERDICT_ADDED) - count(c, VERDICT_UNSUPPORTED);
}

/* Measured by a program of its own, or elsewhere. */
static bool is_program(const struct comparison *c)
{
	return c->n_cells > 0 && comparison_is_program(&c->cell[0]);
}

/* The first sentence a person reads. */
static void sentence(struct buf *out, const struct comparison *c)
{
	emit_raw(out, "<p class=lead>");
	layout_verdict(out, verdict_word(c->kind, c->verdict));
	emit_raw(out, " ");
	if (comparison_is_beside(c))
		comparison_peer_sentence(out, c);
	else if (c->verdict == VERDICT_REGRESSION)
		regression_sentence(out, c);
	else if (*c->identical_by)
		emit_rawf(out, "Both sides %s, so nothing was timed",
			strcmp(c->identical_by, "tree") == 0 ? "are the same source tree"
			: is_program(c)                      ? "run the same files in the same way"
							     : "are the same compiled module");
	else if (c->verdict == VERDICT_UNCHANGED && c->kind == JOBKIND_SELFCHECK)
		emit_rawf(out, "Beside itself none of %d cells differs; no other commit was compared with it", n_compared(c));
	else if (c->verdict == VERDICT_UNCHANGED)
		emit_rawf(out, "None of %d cells lost more than its threshold", n_compared(c));
	else if (c->verdict == VERDICT_IMPROVEMENT)
		improvement_sentence(out, c);
	else if (c->verdict == VERDICT_UNDECIDED)
		emit_rawf(out, "%d of %d cells could not be decided within the budget; open one to see what would decide it",
			count(c, VERDICT_UNDECIDED), c->n_cells);
	else if (c->verdict == VERDICT_FAILED)
		emit_rawf(
			out, "%d of %d cells of the target failed, so they were not timed", count(c, VERDICT_FAILED), c->n_cells);
	else if (c->verdict == VERDICT_REJECTED)
		emit_rawf(out, "The measurement of %d of %d cells is not believed", count(c, VERDICT_REJECTED), c->n_cells);
	else if (c->verdict == VERDICT_NOT_COMPARABLE)
		emit_rawf(out, "%d of %d cells have nothing to be compared with; the reasons stand in their rows",
			count(c, VERDICT_NOT_COMPARABLE), c->n_cells);
	else
		emit_raw(out, "There is nothing that both sides do");
	absences(out, c);
	emit_raw(out, ".</p>\n");
}

/* ---- head ------------------------------------------------------------------------------------------------------------- */

static void fact(struct buf *out, const char *name, const char *value)
{
	if (!*value)
		return;
	emit_rawf(out, "<dt>%s</dt><dd>", name);
	emit_text(out, value);
	emit_raw(out, "</dd>");
}

static void side(struct buf *out, const struct comparison_side *side, const char *title, const char *how, bool program)
{
	emit_rawf(out, "<section class=card><h3>%s", title);
	if (*how) {
		emit_raw(out, " <small>found by ");
		emit_text(out, how);
		emit_raw(out, "</small>");
	}
	emit_raw(out, "</h3><p>");
	layout_commit(out, side->commit);
	emit_raw(out, " ");
	emit_text(out, side->subject);
	emit_raw(out, "</p><dl class=facts><dt>Author</dt><dd>");
	emit_text(out, *side->author ? side->author : "\u2013");
	emit_raw(out, "</dd>");
	if (!program || *side->build) {
		emit_rawf(out, "<dt>%s</dt><dd>", program ? "Program" : "Module");
		if (*side->module_sha256)
			layout_sha(out, side->module_sha256);
		else
			emit_raw(out, "\u2013");
		emit_raw(out, " ");
		emit_text(out, side->build);
		emit_raw(out, "</dd>");
	}
	fact(out, "Provider", side->provider);
	fact(out, "Pinned to", side->pinned);
	emit_raw(out, "</dl></section>\n");
}

static void beside_differs(struct buf *out, const struct comparison *c)
{
	bool provider = strcmp(c->base.provider, c->target.provider) != 0, pinned = *c->base.pinned || *c->target.pinned;
	bool alone = *c->base.module_sha256 && strcmp(c->base.module_sha256, c->target.module_sha256) == 0;
	emit_rawf(out, "%s%s%s%s", provider ? "the provider" : "", provider && pinned ? " and " : "",
		pinned ? "the configuration" : "", alone ? " alone" : ", source and module");
}

/* What both sides shared, and what differs: a verdict holds only where the first list is the whole environment. */
static void environment(struct buf *out, const struct comparison *c)
{
	const char *base = c->base.module_sha256, *target = c->target.module_sha256;
	double limit_w = c->environment.power_limit_w;
	emit_raw(out, "<section class=card><h3>Same for both sides</h3><dl class=facts>");
	fact(out, "Device", c->environment.name);
	fact(out, "Driver", c->environment.driver);
	fact(out, "Toolkit", c->environment.toolkit);
	fact(out, "cuDNN", c->environment.cudnn);
	if (limit_w > 0)
		emit_rawf(out, "<dt>Power limit</dt><dd>%.0f W</dd>", limit_w);
	fact(out, "Timing", c->environment.timing);
	fact(out, "Isolation", c->isolation);
	fact(out, "Suite", c->suite);
	if (!*c->environment.epoch)
		emit_raw(out, "<dt>Device</dt><dd>\u2013 nothing ran</dd>");
	emit_raw(out, "<dt>Differs</dt><dd>");
	if (*c->identical_by)
		emit_raw(out, "nothing");
	else if (comparison_is_beside(c))
		beside_differs(out, c);
	else if (*base && strcmp(base, target) == 0)
		emit_raw(out, is_program(c) ? "nothing: both sides run the same files in the same way"
					    : "nothing: both sides compiled to the same module");
	else if (is_program(c))
		emit_raw(out, *base ? "source and program" : "what was measured elsewhere");
	else
		emit_raw(out, "source and module");
	emit_raw(out, "</dd></dl></section>\n");
}

static void run_facts(struct buf *out, const struct comparison *c)
{
	const struct view_around *around = c->around;
	const char *at = c->finished_at;
	emit_rawf(out,
		"<section class=card><h3>Run</h3><dl class=facts><dt>Job</dt><dd><a href=\"/jobs/%lld\">%lld</a>, with builds "
		"and "
		"log</dd>",
		(long long)c->job, (long long)c->job);
	emit_raw(out, "<dt>Device held</dt><dd>");
	layout_duration(out, c->gpu_s);
	emit_raw(out, " of ");
	layout_duration(out, c->wall_s);
	emit_rawf(out, ", %d launches</dd><dt>Finished</dt><dd><time>%.10s %.5s</time> UTC</dd>", c->launches, at,
		strlen(at) > 15 ? at + 11 : "");
	if (around->alert) {
		emit_rawf(out, "<dt>Alert</dt><dd><a href=\"/alerts/%lld\">", (long long)around->alert);
		layout_verdict(out, alertstate_name(around->alert_state));
		emit_raw(out, "</a></dd>");
	}
	emit_raw(out, "<dt>Last push</dt><dd>");
	if (around->previous) {
		bool comparable = strcmp(around->previous_base, c->base.commit) == 0 ||
				  strcmp(around->previous_target, c->base.commit) == 0;
		const char *epoch = c->environment.epoch;
		emit_rawf(out, "<a href=\"/comparisons/%lld\">%lld</a> ", (long long)c->around->previous,
			(long long)c->around->previous);
		layout_verdict(out, verdict_name(around->previous_verdict));
		if (!comparable)
			emit_raw(out, "<br>had another base, so the two are not set against each other");
		if (*epoch && *around->previous_epoch && strcmp(epoch, around->previous_epoch) != 0)
			emit_raw(out, "<br><span class=warn>! measured in another environment</span>");
	} else {
		emit_raw(out, "\u2013 the first of this branch and suite");
	}
	emit_raw(out, "</dd></dl></section>\n");
}

/* A list of the body; NULL when it is empty or missing. Own: json_decref. */
static json_t *open_list(struct jsonr_span span)
{
	json_t *list = span.len > 2 ? json_loadb(span.text, span.len, 0, NULL) : NULL;
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
	emit_rawf(out, "<details class=card id=notes><summary>%zu thing%s noted while it ran</summary><ul>",
		json_array_size(list), json_array_size(list) == 1 ? "" : "s");
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

/* What the target has more of than time: one line a kind, with the cell where it grew most. */
static void costs(struct buf *out, const struct comparison *c)
{
	size_t i;
	const json_t *cost;
	json_t *list = open_list(c->costs);
	if (!list)
		return;
	emit_raw(out, "<section class=card id=costs><h2>More than before, beside time</h2><ul>");
	json_array_foreach(list, i, cost)
	{
		const json_t *cells = json_object_get(cost, "cells"), *most = json_array_get(cells, 0);
		size_t n = json_array_size(cells);
		emit_raw(out, "<li>");
		emit_text(out, comparison_text(cost, "what"));
		emit_rawf(out, " in %zu cell%s, most: %.6g instead of %.6g ", n, n == 1 ? "" : "s",
			json_number_value(json_object_get(most, "target")), json_number_value(json_object_get(most, "base")));
		emit_text(out, comparison_text(cost, "unit"));
		emit_raw(out, " in ");
		emit_text(out, comparison_text(most, "cell"));
		emit_raw(out, "</li>");
	}
	emit_raw(out, "</ul></section>\n");
	json_decref(list);
}

static void tally(struct buf *out, const struct comparison *c, const struct comparison_view *view)
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
		for (const char *s = verdict_word(c->kind, (enum verdict)v); *s; s++)
			buf_putc(out, *s == '_' ? ' ' : *s);
		emit_rawf(out, " %d</a>", n);
	}
	emit_raw(out, "</nav>\n");
}

static void tools(struct buf *out, const struct comparison *c, const struct comparison_view *view)
{
	char id[24];
	snprintf(id, sizeof id, "%lld", (long long)c->job);
	emit_rawf(out,
		"<form class=filter action=\"/comparisons/%lld\"><label class=grow>Filter cells <input type=search name=q "
		"data-filter "
		"value=\"",
		(long long)c->id);
	emit_attribute(out, view->find);
	emit_rawf(out,
		"\"></label><button>Filter</button><a class=button href=\"/api/v1/comparisons/%lld.csv\">CSV</a><a class=button "
		"href=\"/api/v1/comparisons/%lld.md\" title=\"to paste into a review\">Markdown</a><a class=button "
		"href=\"/api/v1/comparisons/%lld\">JSON</a></form>",
		(long long)c->id, (long long)c->id, (long long)c->id);
	emit_raw(out, "<div class=row>");
	layout_button(out, "jobs", id, "retry", "Measure again");
	if (c->around->previous)
		emit_rawf(out, "<a rel=prev href=\"/comparisons/%lld\">\u2190 comparison %lld</a>",
			(long long)c->around->previous, (long long)c->around->previous);
	if (c->around->next)
		emit_rawf(out, "<a rel=next href=\"/comparisons/%lld\">comparison %lld \u2192</a>", (long long)c->around->next,
			(long long)c->around->next);
	emit_raw(out, "</div>\n");
}

static void crumbs(struct buf *out, const struct comparison *c)
{
	emit_raw(out, "<p class=dim><a href=\"/comparisons?repo=");
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
	if (c->kind != JOBKIND_CHANGE) {
		emit_raw(out, ", a ");
		emit_text(out, jobkind_name(c->kind));
	}
	if (c->quick)
		emit_raw(out, ", a quick look");
	emit_raw(out, "</p>\n");
}

/* ---- the page --------------------------------------------------------------------------------------------------------- */

static const char *asked(struct http_request *r, const char *name)
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
		sentence(out, &c);
		emit_raw(out, "<div class=cards>");
		side(out, &c.base, c.kind == JOBKIND_PEER ? "Peer" : "Base", comparison_is_beside(&c) ? "" : c.base_how,
			is_program(&c));
		side(out, &c.target, "Target", "", is_program(&c));
		environment(out, &c);
		run_facts(out, &c);
		comparison_peer_card(out, &c);
		emit_raw(out, "</div>\n");
		costs(out, &c);
		notes(out, &c);
		tools(out, &c, view);
		if (!*c.identical_by || !is_program(&c)) { /* nobody ran the program, so nobody knows its rows */
			tally(out, &c, view);
			result = comparison_tables(out, &c, view, comparison_detail, site, err);
			comparison_summary(out, &c);
		}
		layout_end_data(response, data);
	}
	comparison_free(&c);
	return result;
}

static int answer(struct site *site, struct http_request *r, struct http_response *response, int64_t id, struct fw_err *err)
{
	struct comparison_view view = {
		.show = asked(r, "show"), .find = asked(r, "q"), .sort = asked(r, "sort"), .open = asked(r, "open")
	};
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
