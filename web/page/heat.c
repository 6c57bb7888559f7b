/* Heat map: every cell of a branch over its last comparisons, one square each. */
#include "web/page/internal.h"

#include <limits.h>
#include <math.h>

enum { COLUMNS_MAX = 40, MAPS_BYTES = 32 << 20 };

struct heat_cell {
	char key[256], title[CELL_TITLE_SIZE], direction[16];
	int64_t size;
	struct {
		double change_pct;
		enum verdict verdict;
	} at[COLUMNS_MAX];
};

struct heat {
	struct {
		int64_t id;
		char target[65], subject[160];
	} column[COLUMNS_MAX]; /* newest first */
	int n_columns, columns_max, cells_max;
	struct heat_cell *cell;      /* cell[n_cells] */
	int n_cells, capacity, next; /* next: index of the next row in the order of the suite */
	int n_left;                  /* cells without space */
};

static int cell_of(struct heat *h, const struct view_grid *row)
{
	if (h->next < h->n_cells && strcmp(h->cell[h->next].key, row->key) == 0)
		return h->next;
	for (int i = 0; i < h->n_cells; i++)
		if (strcmp(h->cell[i].key, row->key) == 0)
			return i;
	if (h->n_columns > 1) /* the newest comparison defines the list of cells */
		return -1;
	if (h->n_cells == h->cells_max) {
		h->n_left++;
		return -1;
	}
	if (h->n_cells == h->capacity) {
		h->capacity = h->capacity ? 2 * h->capacity : 64;
		h->cell = mem_grow(h->cell, (size_t)h->capacity, sizeof *h->cell);
	}
	int i = h->n_cells++;
	h->cell[i] = (struct heat_cell){ .size = 0 };
	snprintf(h->cell[i].key, sizeof h->cell[0].key, "%s", row->key);
	snprintf(h->cell[i].title, sizeof h->cell[0].title, "%s", row->title);
	snprintf(h->cell[i].direction, sizeof h->cell[0].direction, "%s", row->direction);
	h->cell[i].size = row->size;
	for (int k = 0; k < COLUMNS_MAX; k++)
		h->cell[i].at[k].verdict = VERDICT_NONE;
	return i;
}

static void take(void *arg, const struct view_grid *row)
{
	struct heat *h = arg;
	if (h->n_columns == 0 || h->column[h->n_columns - 1].id != row->comparison) {
		if (h->n_columns == h->columns_max)
			return;
		h->next = 0;
		h->column[h->n_columns].id = row->comparison;
		snprintf(h->column[h->n_columns].target, sizeof h->column[0].target, "%s", row->target);
		snprintf(h->column[h->n_columns++].subject, sizeof h->column[0].subject, "%s", row->subject);
	}
	int i = cell_of(h, row);
	if (i < 0)
		return;
	h->next = i + 1;
	h->cell[i].at[h->n_columns - 1].change_pct = row->change_pct;
	h->cell[i].at[h->n_columns - 1].verdict = row->verdict;
}

/*
 * The verdict determines the colour, the size its intensity; the sign or value is written in the square, so that the meaning
 * never depends on colour alone.
 */
static void draw_square(struct buf *out, enum verdict verdict, double pct, const char *column)
{
	static const struct {
		const char *class, *text;
	} signs[] = {
		[VERDICT_UNCHANGED] = { "", "\u00b7" },
		[VERDICT_IDENTICAL] = { "", "\u2261" },
		[VERDICT_REMOVED] = { "", "\u2296" },
		[VERDICT_ADDED] = { "", "\u2295" },
		[VERDICT_UNSUPPORTED] = { "", "\u2205" },
		[VERDICT_FAILED] = { "b3", "\u2715" },
		[VERDICT_REJECTED] = { "b3", "\u2715" },
		[VERDICT_NONE] = { "", "" },
	};
	double size = fabs(pct);
	const char *quote = *column ? "\"" : "";
	if (verdict == VERDICT_REGRESSION || verdict == VERDICT_IMPROVEMENT)
		emit_rawf(out, "<td class=%s%c%d%s%s>%s%.*f</td>", quote, verdict == VERDICT_REGRESSION ? 'b' : 'g',
			size < 2.5 ? 1
			: size < 6 ? 2
				   : 3,
			column, quote, pct < 0 ? "\u2212" : "+", size < 9.95 ? 1 : 0, size);
	else if (!signs[verdict].text)
		emit_rawf(out, "<td class=%sq%s%s>?</td>", quote, column, quote);
	else if (*signs[verdict].class || *column)
		emit_rawf(out, "<td class=%s%s%s%s>%s</td>", quote, signs[verdict].class, column, quote, signs[verdict].text);
	else
		emit_rawf(out, "<td>%s</td>", signs[verdict].text);
}

static bool has_step(const struct heat *h, int column)
{
	for (int i = 0; i < h->n_cells; i++)
		if (verdict_is_change(h->cell[i].at[column].verdict))
			return true;
	return false;
}

enum { PHONE_PUSHES = 7 }; /* the style sheet shows so many on a phone, and older ones with a change */

static void draw(struct buf *out, const struct heat *h, const char *repo, const char *branch, bool is_small)
{
	const char *class[COLUMNS_MAX]; /* CSS classes of the squares of a column, after a space */
	for (int k = 0; k < h->n_columns; k++)
		class[k] = k >= PHONE_PUSHES && has_step(h, k) ? " s" : "";
	emit_rawf(out,
		"<div class=scroll tabindex=0><table class=\"heat%s\"><caption%s>Change against the base, in %%; newest push "
		"right</caption><thead><tr><th scope=col>Cell</th>",
		is_small ? " small" : "", is_small ? " class=gone" : "");
	for (int k = h->n_columns - 1; k >= 0; k--)
		emit_format(out,
			"<th scope=col%-s title=\"%-.10s %s\"><a href=\"/comparisons/%lld\"><code>%-.7s</code> %s</a></th>",
			*class[k] ? " class=s" : "", h->column[k].target, h->column[k].subject, (long long)h->column[k].id,
			h->column[k].target, is_small ? "" : h->column[k].subject);
	emit_raw(out, "</tr></thead><tbody>\n");
	for (int i = 0; i < h->n_cells; i++) {
		emit_format(out,
			"<tr><th scope=row><a href=\"/history?cell=%s&amp;repo=%s&amp;branch=%s\">%s{case %s %lld}</a> "
			"<span class=dim>%s</span></th>",
			h->cell[i].key, repo, branch, h->cell[i].key, h->cell[i].title, (long long)h->cell[i].size,
			h->cell[i].direction);
		for (int k = h->n_columns - 1; k >= 0; k--)
			draw_square(out, h->cell[i].at[k].verdict, h->cell[i].at[k].change_pct, class[k]);
		emit_raw(out, "</tr>\n");
	}
	layout_table_end(out);
	if (h->n_left)
		emit_format(out, "<p>%d more cell%-s in %lld{comparison}.</p>\n", h->n_left, h->n_left == 1 ? "" : "s",
			(long long)h->column[0].id);
	emit_raw(out,
		"<p><small>Oldest push to the left. Numbers: change of speed of regressions and improvements, in %. "
		"\u00b7 unchanged, \u2261 identical, ? undecided, \u2715 failed, \u2296 removed, \u2295 added, \u2205 supported by neither "
		"side. A phone shows the last seven pushes, and older ones with a change.</small></p>\n");
}

/* Return whether a push can show a step: failed and undecided ones cannot. */
static bool is_measured(const struct heat *h, int column)
{
	for (int i = 0; i < h->n_cells; i++) {
		enum verdict v = h->cell[i].at[column].verdict;
		if (v == VERDICT_UNCHANGED || v == VERDICT_IDENTICAL || verdict_is_change(v))
			return true;
	}
	return false;
}

static void find_step(const struct heat *h, struct heat_found *found)
{
	int measured = 0;
	found->maps++;
	for (int k = 0; k < h->n_columns; k++) {
		if (has_step(h, k)) {
			if (h->column[k].id > found->step) {
				found->step = h->column[k].id;
				found->since = measured;
			}
			return;
		}
		measured += is_measured(h, k);
	}
	found->pushes = measured > found->pushes ? measured : found->pushes;
}

static void draw_head(struct buf *out, const struct heat *h, const char *repo, const char *branch, const char *suite)
{
	emit_format(out,
		"<h2>Cells of %s{branch} in suite %s<span class=w>, last%d{? *} push%-s</span> <a class=aside href=\"/heat?repo=%s&amp;branch=%s\">"
		"Heat map</a></h2>",
		branch, suite, h->n_columns == 1 ? 0 : h->n_columns, h->n_columns == 1 ? "" : "es", repo, branch);
}

static void remember_suite(void *arg, const char *suite)
{
	buf_append(arg, suite, strlen(suite) + 1);
}

int heat_draw(struct site *site, struct buf *out, const char *repo, const char *branch, const struct heat_size *size,
	struct heat_found *found, struct fw_err *err)
{
	struct buf suites; /* names, each with a final NUL */
	struct heat *h = mem_alloc_zero(1, sizeof *h);
	*found = (struct heat_found){ .maps = 0 };
	h->columns_max = size->columns;
	h->cells_max = size->cells ? size->cells : INT_MAX;
	buf_init(&suites, 1 << 16);
	int result = view_branch_suites(site->db, repo, branch, remember_suite, &suites, err);
	if (result == 0 && suites.failed)
		result = err_set(err, ERR_FULL, "the suites of branch %s do not fit on the heat map", branch);
	for (size_t at = 0; result == 0 && at < suites.len; at += strlen(suites.data + at) + 1) {
		const char *suite = suites.data + at;
		h->n_columns = h->n_cells = h->n_left = 0;
		result = view_grid(site->db, repo, branch, suite, size->columns, take, h, err);
		if (result != 0 || h->n_cells == 0)
			continue;
		if (size->is_small)
			draw_head(out, h, repo, branch, suite);
		else if (strlen(suite) + 1 < suites.len)
			emit_format(out, "<h2>%s</h2>", suite);
		draw(out, h, repo, branch, size->is_small);
		find_step(h, found);
	}
	buf_fini(&suites);
	free(h->cell);
	free(h);
	return result;
}

/* Write "6a99b2c3d4 of main is 2.9 % faster in 8 of 20 cells; no change in the 12 pushes since". */
static void write_title(struct buf *out, const char *branch, const struct heat_found *found, const struct outcome *step,
	const struct alarms *alarms)
{
	struct buf subject;
	if (!found->step && alarms->n) { /* the alert is of an older push */
		alarms_title(out, alarms, 0);
		return;
	}
	if (found->maps == 0) {
		buf_puts(out, "Heat map");
		return;
	}
	buf_init(&subject, FINDING_BYTES);
	if (found->step) {
		outcome_subject(&subject, step);
		outcome_sentence(out, subject.data, step);
	} else {
		branch_text(&subject, branch);
		buf_puts(out, subject.data);
	}
	if (found->step && found->since == 1)
		buf_puts(out, "; no change in the push since");
	else if (found->step && found->since)
		buf_printf(out, "; no change in the %d pushes since", found->since);
	else if (!found->step && found->pushes)
		buf_printf(out, ": no change in %d push%s", found->pushes, found->pushes == 1 ? "" : "es");
	out->failed |= subject.failed;
	buf_fini(&subject);
}

static int draw_form(struct site *site, struct buf *out, const struct scope *scope, struct fw_err *err)
{
	emit_raw(out, "<form class=filter action=/heat>");
	if (picker_repo(out, site->db, scope->repo, false, err) != 0 ||
		picker_branch(out, site->db, scope->repo, "branch", "Branch", scope->branch, NULL, err) != 0)
		return -1;
	emit_raw(out, "<button>Show</button></form>\n");
	return 0;
}

static int draw_page(struct site *site, struct http_response *response, const struct scope *scope, const struct buf *maps,
	const struct heat_found *found, struct fw_err *err)
{
	struct buf *out = &response->body, title;
	struct outcome step;
	struct alarms alarms = { .site = site, .repo = scope->repo, .branch = scope->branch };
	int result = alarms_read(&alarms, err);
	if (result == 0 && found->step)
		result = outcome_read(site->db, found->step, &step, err);
	bool has_step = result == 0 && found->step;
	buf_init(&title, FINDING_BYTES + 512);
	if (result == 0) {
		write_title(&title, scope->branch, found, &step, &alarms);
		layout_begin(response, title.data, "heat", "job.done");
		result = draw_form(site, out, scope, err);
		layout_live(out, "heat", "A comparison finished");
		if (found->step)
			outcome_draw(out, &step);
		else if (alarms.n)
			alarms_draw(out, &alarms);
		else if (found->pushes)
			emit_format(out,
				"<div class=\"card alarm\"><div>No cell became slower or faster by more than its threshold in %d push%-s of "
				"%s{branch}.<span class=why>What to do: nothing</span></div></div>\n",
				found->pushes, found->pushes == 1 ? "" : "es", scope->branch);
		buf_append(out, maps->data, maps->len);
		if (!found->maps)
			layout_empty(out, "", "No cell of this branch has been measured yet.",
				"Choose another branch, or push this one.");
		emit_raw(out, "</div>");
	}
	out->failed |= title.failed || maps->failed;
	if (has_step)
		outcome_fini(&step);
	alarms_fini(&alarms);
	buf_fini(&title);
	return layout_end(response, "/api/v1/comparisons", result);
}

int page_heat(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct scope scope;
	struct buf maps;
	struct heat_found found = { .maps = 0 };
	if (scope_offer(site, r, &scope, err) != 0)
		return -1;
	buf_init(&maps, MAPS_BYTES);
	int result = scope.repo[0] ? heat_draw(site, &maps, scope.repo, scope.branch,
					     &(struct heat_size){ .columns = COLUMNS_MAX }, &found, err)
				   : 0;
	if (result == 0)
		result = draw_page(site, response, &scope, &maps, &found, err);
	buf_fini(&maps);
	return result;
}
