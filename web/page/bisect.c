/* Bisects: the list, and one bisect with its measurements and culprits. */

#include "web/page/internal.h"

#include <math.h>

enum {
	ROWS = 50,
	ROWS_BYTES = 4 << 20,
	TITLE_BYTES = 512,
	FOUND_BYTES = 1 << 15,
	FINDING_SHOWN_BYTES = 400,
	CULPRIT_SUBJECT_BYTES = 80,
	CULPRITS_LISTED = 3,
	CELLS_LISTED = 64,
};

/* ---- data ---------------------------------------------------------------------------------------------------------- */

/* A comparison of two commits of the range, over the cells that the bisect measures. */
struct pair {
	int base_n, target_n, cells, bad; /* bad: slower or failed cells */
	int64_t comparison;
	enum verdict verdict; /* the worst one of these cells */
	double worst_pct;     /* NAN: unknown */
};

/* A bisect with the values that pages show: the slowdown, the cells, the remaining commits and the alert. */
struct found {
	struct db *db;
	const struct store_bisect *b;
	json_t *culprits;
	int n;                        /* culprits */
	struct headline worst;        /* the worst cell; comparison 0: unknown */
	int cells;                    /* slower or failed cells; 0: unknown */
	double change_pct;            /* the largest slowdown; NAN: unknown */
	struct alarm_id alert;        /* the alert that requested the bisect, else that of its culprit */
	int64_t comparison, alert_at; /* comparison of the worst cell; time of the alert; 0: none */
	struct pair *pair;
	int n_pairs, low, high; /* the culprit is one of the commits after `low` up to `high` */
};

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	for (const char *at = words; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		if (n == len && memcmp(at, word, n) == 0)
			return true;
		at += n;
	}
	return false;
}

static int count_words(const char *words)
{
	int n = 0;
	for (const char *at = words; *at; at += strspn(at, " ")) {
		n++;
		at += strcspn(at, " ");
	}
	return n;
}

static bool is_of_failures(const struct store_bisect *b)
{
	return strcmp(b->goal, "failing") == 0;
}

static void take_point(void *arg, const struct store_bisect_point *p)
{
	struct found *f = arg;
	if (*f->b->goal && *f->b->cells && !has_word(f->b->cells, p->key))
		return;
	if (f->n_pairs == 0 || f->pair[f->n_pairs - 1].comparison != p->comparison) {
		f->pair = mem_grow_one(f->pair, (size_t)f->n_pairs, sizeof *f->pair);
		f->pair[f->n_pairs++] = (struct pair){ .base_n = p->base_n,
			.target_n = p->target_n,
			.comparison = p->comparison,
			.verdict = VERDICT_NONE,
			.worst_pct = NAN };
	}
	struct pair *pair = &f->pair[f->n_pairs - 1];
	pair->cells++;
	pair->bad += p->verdict == (is_of_failures(f->b) ? VERDICT_FAILED : VERDICT_REGRESSION);
	pair->verdict = verdict_worse(pair->verdict, p->verdict);
	pair->worst_pct = fmin(pair->worst_pct, p->change_pct); /* ignores a NAN */
}

static bool is_decided(enum verdict verdict)
{
	return verdict == VERDICT_UNCHANGED || verdict == VERDICT_IDENTICAL || verdict == VERDICT_IMPROVEMENT;
}

/* Narrow the range of a single culprit by one comparison. Returns false if it adds no information. */
static bool narrow(struct found *f, const struct pair *p)
{
	int low = f->low, high = f->high;
	if (p->bad && p->base_n < high && p->target_n > low) {
		low = p->base_n > low ? p->base_n : low;
		high = p->target_n < high ? p->target_n : high;
	} else if (!p->bad && is_decided(p->verdict)) {
		if (p->base_n <= low && p->target_n > low && p->target_n < high)
			low = p->target_n;
		else if (p->target_n >= high && p->base_n > low && p->base_n < high)
			high = p->base_n;
	}
	bool is_new = low != f->low || high != f->high;
	f->low = low;
	f->high = high;
	return is_new;
}

static void narrow_all(struct found *f)
{
	bool is_new = true;
	f->low = 0;
	f->high = f->b->commits;
	while (is_new && *f->b->goal) {
		is_new = false;
		for (int i = 0; i < f->n_pairs; i++)
			is_new = narrow(f, &f->pair[i]) || is_new;
	}
}

static void take_alert(void *arg, const struct view_alert *row)
{
	struct found *f = arg;
	f->alert = (struct alarm_id){ row->id, row->state };
	if (!f->b->alert)
		return;
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	f->cells = (int)json_array_size(cells);
	f->change_pct = row->worst_pct;
	f->alert_at = row->comparison;
	json_decref(cells);
}

/* Read the comparison's worst cell, unless the culprit has others. */
static int read_worst(struct found *f, const json_t *culprit, struct fw_err *err)
{
	const json_t *key, *cells = json_object_get(culprit, "cells");
	size_t i;
	bool is_of_culprit = json_array_size(cells) == 0;
	if (reported_read(f->db, f->comparison, NULL, &f->worst, err) != 0)
		return -1;
	json_array_foreach(cells, i, key) is_of_culprit |=
		json_is_string(key) && strcmp(json_string_value(key), f->worst.key) == 0;
	return is_of_culprit ? 0
			     : reported_read(f->db, f->comparison, json_string_value(json_array_get(cells, 0)), &f->worst, err);
}

/* Own: found_fini, also after an error. Err: the database's. */
static int read_found(struct db *db, const struct store_bisect *b, struct found *f, struct fw_err *err)
{
	*f = (struct found){ .db = db, .b = b, .change_pct = NAN };
	f->culprits = json_loads(b->culprits_json, 0, NULL);
	f->n = (int)json_array_size(f->culprits);
	const json_t *culprit = json_array_get(f->culprits, 0);
	int result = b->alert ? view_alert(db, b->alert, take_alert, f, err)
		     : f->n   ? view_alert_of(db, b->repo_name, comparison_text(culprit, "to"), take_alert, f, err)
			      : 0;
	f->comparison = json_integer_value(json_object_get(culprit, "comparison"));
	if (!f->comparison)
		f->comparison = b->comparison ? b->comparison : f->alert_at;
	if (result != 0 || read_worst(f, culprit, err) != 0 || store_bisect_points(db, b, take_point, f, err) != 0)
		return -1;
	narrow_all(f);
	if (f->n) {
		f->cells = (int)json_array_size(json_object_get(culprit, "cells"));
		f->change_pct = comparison_number(culprit, "change_pct");
	} else if (*b->goal && !b->alert) {
		f->cells = count_words(b->cells);
		f->change_pct = f->worst.change_pct;
	}
	return 0;
}

static void found_fini(struct found *f)
{
	free(f->pair);
	json_decref(f->culprits);
}

/* ---- title --------------------------------------------------------------------------------------------------------- */

/* Write "main", or without a branch the name of the repository. */
static void write_subject(struct buf *out, const struct store_bisect *b)
{
	if (*b->branch)
		branch_text(out, b->branch);
	else
		buf_puts(out, b->repo_name);
}

/* Write "2e2ac13ef8 forward: wider tiles made main up to 2.9 % slower in 8 cells". */
static void write_culprit(struct buf *out, const struct found *f)
{
	const json_t *culprit = json_array_get(f->culprits, 0);
	int commits = (int)json_integer_value(json_object_get(culprit, "commits"));
	if (commits > 1)
		buf_printf(out, "one of %d commits up to ", commits);
	const char *subject = comparison_text(culprit, "subject");
	buf_printf(out, "%.10s %.*s made ", comparison_text(culprit, "to"),
		(int)utf8_cut(subject, strlen(subject), CULPRIT_SUBJECT_BYTES), subject);
	write_subject(out, f->b);
	if (is_of_failures(f->b))
		buf_puts(out, " fail");
	else if (isfinite(f->change_pct))
		buf_printf(out, "%s %.1f %% slower", f->cells > 1 ? " up to" : "", fabs(f->change_pct));
	else
		buf_puts(out, " slower");
	if (f->cells)
		buf_printf(out, " in %d cell%s", f->cells, f->cells == 1 ? "" : "s");
	if (f->n > 1)
		buf_printf(out, ", and %d more culprit%s", f->n - 1, f->n == 2 ? "" : "s");
}

struct sentence {
	struct db *db;
	struct buf *out;
};

/* Append the alert's finding: "ada/tiles is up to 4.0 % slower in 6 of 20 cells". */
static void take_finding(void *arg, const struct view_alert *row)
{
	struct sentence *s = arg;
	struct headline headline;
	struct fw_err err = { 0 };
	if (reported_read(s->db, row->comparison, NULL, &headline, &err) == 0)
		alarm_finding(s->out, row, &headline);
}

/* Write " searches the culprit: ada/tiles is up to 4.0 % slower in 6 of 20 cells", or without an alert a question. */
static void write_question(struct buf *out, const struct found *f)
{
	const struct store_bisect *b = f->b;
	struct buf finding;
	struct sentence sentence = { f->db, &finding };
	struct fw_err err = { 0 };
	buf_init(&finding, FOUND_BYTES);
	if (b->alert && view_alert(f->db, b->alert, take_finding, &sentence, &err) == 0 && finding.len) {
		buf_printf(out, " searches the culprit: %.*s", (int)utf8_cut(finding.data, finding.len, FINDING_SHOWN_BYTES),
			finding.data);
	} else {
		buf_printf(out, ": which commit after %.10s", b->good_sha);
		buf_printf(out, *b->goal ? " makes %.10s" : ", up to %.10s", b->bad_sha);
		if (*b->branch) {
			buf_puts(out, " of ");
			branch_text(out, b->branch);
		}
		buf_puts(out, !*b->goal ? "?" : is_of_failures(b) ? " fail?" : " slower?");
	}
	buf_fini(&finding);
}

/* Write the page's title: the culprit and its slowdown, the question while the bisect runs, or why it found no culprit. */
static void write_title(struct buf *out, const struct found *f)
{
	const struct store_bisect *b = f->b;
	buf_printf(out, "Bisect %lld", (long long)b->id);
	if (f->n) {
		buf_puts(out, ": ");
		write_culprit(out, f);
	} else if (!b->ended_at) {
		write_question(out, f);
	} else {
		buf_printf(out, "%s: %s", strcmp(b->state, "failed") == 0 ? " failed" : "",
			*b->state_why                        ? b->state_why
			: strcmp(b->state, "cancelled") == 0 ? "cancelled"
							     : "no culprit was found");
	}
}

/* ---- elements of the list and of the page -------------------------------------------------------------------------- */

/* Draw "8 cells, worst causal, 8192 forward". */
static void draw_cells(struct buf *out, const struct found *f)
{
	const struct headline *t = &f->worst;
	const char *key = json_string_value(json_array_get(json_object_get(json_array_get(f->culprits, 0), "cells"), 0));
	bool is_first = is_of_failures(f->b) || !t->comparison; /* the comparison of the other cells is unknown */
	if (!f->cells)
		return;
	emit_rawf(out, "%d cell%s%s", f->cells, f->cells == 1 ? "" : "s",
		!t->comparison && !key ? ""
		: f->cells == 1        ? ": "
		: is_first             ? ", the first is "
				       : ", worst ");
	if (t->comparison)
		emit_format(out, "<a href=\"/comparisons/%lld?open=%d#c%d\">%s{case %s %lld} %s</a>", (long long)t->comparison,
			t->n, t->n, t->key, t->title, (long long)t->size, t->direction);
	else if (key)
		emit_format(out, "<code>%s</code>", key);
}

/* Draw the remaining commits of a bisect without a culprit. */
static void draw_range(struct buf *out, const struct found *f)
{
	if (f->b->commits == 0)
		emit_raw(out, "its commits are not listed yet");
	else if (!*f->b->goal)
		emit_rawf(out, "%d commits; both ends are compared first", f->b->commits);
	else
		emit_rawf(out, "%d of %d commits can be the culprit", f->high - f->low, f->b->commits);
}

/* Draw the cause of the slowdown if a profile names one. Err: the database's. */
static int draw_cause(struct buf *out, const struct found *f, struct fw_err *err)
{
	struct alarm_id alert;
	size_t before = out->len;
	int result = alarm_cause(f->db, out, f->comparison, &alert, err);
	if (result == 0 && out->len == before && f->alert_at && f->alert_at != f->comparison)
		result = alarm_cause(f->db, out, f->alert_at, &alert, err);
	return result;
}

/* Estimate the number of jobs after the current one: each rules out about half of the commits. */
static int count_jobs(const struct found *f)
{
	int n = 0;
	for (int left = (f->high - f->low + 1) / 2; left > 1; left = (left + 1) / 2)
		n++;
	return n;
}

static int draw_wait(struct buf *out, const struct found *f, struct fw_err *err)
{
	const struct store_bisect *b = f->b;
	struct store_job job = { .state = JOBSTATE_N };
	int more = *b->goal ? count_jobs(f) : 0;
	if (b->job && store_job_get(f->db, b->job, &job, err) != 0)
		return -1;
	if (!b->job || jobstate_is_final(job.state)) {
		emit_raw(out, "nothing; the daemon chooses the next commits");
		return 0;
	}
	emit_format(out, "nothing; wait for %lld{job} (%-s)", (long long)b->job, jobstate_name(job.state));
	if (!*b->goal)
		emit_raw(out, ", which compares both ends");
	else if (more)
		emit_rawf(out, ", then about %d more job%s", more, more == 1 ? "" : "s");
	return 0;
}

/* Draw the user's next step, without a full stop. */
static int draw_step(struct buf *out, const struct found *f, struct fw_err *err)
{
	const struct store_bisect *b = f->b;
	if (!b->ended_at)
		return draw_wait(out, f, err);
	if (f->n && f->alert.id && alertstate_is_live(f->alert.state))
		emit_format(out, "push a fix, or <a href=\"/alerts/%lld#answer\">answer A%lld</a>", (long long)f->alert.id,
			(long long)f->alert.id);
	else if (f->n && f->alert.id)
		emit_format(out, "nothing, %lld{alert} is %-s", (long long)f->alert.id, alertstate_name(f->alert.state));
	else if (f->n)
		emit_raw(out, "push a fix of the culprit");
	else
		emit_raw(out, strcmp(b->state, "failed") == 0 ? "request it again, perhaps with other ends"
							      : "nothing, or request it again");
	return 0;
}

/* Draw the alert or the user that requested the bisect. */
static void draw_origin(struct buf *out, const struct store_bisect *b)
{
	const char *who = !*b->who ? "a user" : strcmp(b->who, "local") == 0 ? "a local user" : b->who;
	if (b->alert)
		emit_format(out, "for %lld{alert}", (long long)b->alert);
	else
		emit_format(out, "requested by %s", who);
}

/* ---- list ---------------------------------------------------------------------------------------------------------- */

enum outcome_of_bisect { FOUND, RUNNING, NONE, FAILED, CANCELLED, OUTCOMES };

struct drawing {
	struct db *db;
	struct buf *out;
	int n[OUTCOMES], rows, result;
	int64_t last;
	struct fw_err *err;
};

static enum outcome_of_bisect outcome_of(const struct found *f)
{
	return f->n                                    ? FOUND
	       : !f->b->ended_at                       ? RUNNING
	       : strcmp(f->b->state, "failed") == 0    ? FAILED
	       : strcmp(f->b->state, "cancelled") == 0 ? CANCELLED
						       : NONE;
}

/* Draw the culprits or the remaining range, and the cells. */
static int list_finding(struct buf *out, const struct found *f, struct fw_err *err)
{
	struct buf cause;
	emit_format(out, "<td>%s{verdict} ", f->b->state);
	for (int i = 0; i < f->n && i < CULPRITS_LISTED; i++) {
		emit_raw(out, i ? "<br>and " : "culprit ");
		culprit_name(out, json_array_get(f->culprits, (size_t)i));
	}
	if (f->n > CULPRITS_LISTED)
		emit_rawf(out, "<br>and %d more", f->n - CULPRITS_LISTED);
	if (!f->n && !f->b->ended_at)
		draw_range(out, f);
	else if (!f->n)
		emit_text(out, *f->b->state_why ? f->b->state_why : "no culprit was found");
	emit_raw(out, "<span class=why>");
	draw_cells(out, f);
	emit_raw(out, "</span>");
	buf_init(&cause, 1 << 14);
	int result = draw_cause(&cause, f, err);
	if (cause.len)
		emit_format(out, "<span class=\"why cause\">%-s</span>", cause.data);
	out->failed |= cause.failed;
	buf_fini(&cause);
	emit_raw(out, "</td>");
	return result;
}

static int draw_line(struct drawing *d, const struct store_bisect *row, const struct found *f)
{
	struct buf *out = d->out;
	emit_format(out, "<tr><th scope=row><a href=\"/bisects/%lld\">Bisect %lld</a><span class=why>%s", (long long)row->id,
		(long long)row->id, row->repo_name);
	if (*row->branch)
		emit_format(out, " <a href=\"/branches?repo=%s&amp;branch=%s\"><b>%s{branch}</b></a>", row->repo_name,
			row->branch, row->branch);
	emit_raw(out, ", ");
	draw_origin(out, row);
	emit_raw(out, "</span></th>");
	if (list_finding(out, f, d->err) != 0)
		return -1;
	emit_format(out, "<td class=n>%f{decided %d}</td><td>", f->change_pct, true);
	int result = draw_step(out, f, d->err);
	emit_format(out,
		"</td><td class=w>%s{commit} \u2026 %s{commit}<span class=why>%d commit%-s, %d job%-s</span></td><td "
		"class=w>%lld{time}</td></tr>\n",
		row->good_sha, row->bad_sha, row->commits, row->commits == 1 ? "" : "s", row->n_jobs, row->n_jobs == 1 ? "" : "s",
		(long long)row->created_at);
	return result;
}

static void list_line(void *arg, const struct store_bisect *row)
{
	struct drawing *d = arg;
	struct found found;
	d->rows++;
	d->last = row->id;
	if (d->result != 0)
		return;
	d->result = read_found(d->db, row, &found, d->err);
	d->n[outcome_of(&found)]++;
	if (d->result == 0)
		d->result = draw_line(d, row, &found);
	found_fini(&found);
}

/* Write "Bisects: 2 found their culprit, 1 is running". */
static void write_list_title(struct buf *out, const struct drawing *d)
{
	static const struct {
		const char *one, *more;
	} words[OUTCOMES] = {
		[FOUND] = { "found its culprit", "found their culprits" },
		[RUNNING] = { "is running", "are running" },
		[NONE] = { "found no culprit", "found no culprit" },
		[FAILED] = { "failed", "failed" },
		[CANCELLED] = { "was cancelled", "were cancelled" },
	};
	bool any = false;
	buf_puts(out, d->rows ? "Bisects" : "Bisects: none yet");
	for (int i = 0; i < OUTCOMES; i++) {
		if (d->n[i])
			buf_printf(out, "%s%d %s", any ? ", " : ": ", d->n[i], d->n[i] == 1 ? words[i].one : words[i].more);
		any = any || d->n[i];
	}
}

int page_bisects(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct buf rows, title;
	struct drawing d = { .db = site->db, .out = &rows, .err = err };
	int64_t before;
	if (answer_cursor(r, &before, err) != 0)
		return -1;
	buf_init(&rows, ROWS_BYTES);
	buf_init(&title, TITLE_BYTES);
	int result = view_bisects(site->db, before, ROWS, list_line, &d, err);
	result = result != 0 ? result : d.result;
	d.out = &response->body;
	write_list_title(&title, &d);
	layout_begin(response, title.data, "alerts", "bisect. job.queued job.state job.done alert.");
	layout_live(d.out, "bisects", "A bisect changed");
	layout_table(d.out, "Bisect|Finding|>Change|What to do|~Between|~Started");
	buf_append(d.out, rows.data, rows.len);
	layout_table_end(d.out);
	d.out->failed |= rows.failed || title.failed;
	buf_fini(&rows);
	buf_fini(&title);
	if (d.rows == 0)
		layout_empty(d.out, "", "No bisect yet.",
			"The daemon starts one for an alert with several commits; <code>flopwatch bisect GOOD "
			"BAD</code>.");
	layout_older(d.out, r, d.rows, ROWS, d.last);
	emit_raw(d.out, "</div>");
	return layout_end(response, "/api/v1/bisects", result);
}

/* ---- page of a bisect ---------------------------------------------------------------------------------------------- */

struct commit {
	char sha[65], subject[160];
};

struct page {
	struct site *site;
	struct http_response *response;
	struct commit *commit; /* commit[n_commits], the good end first */
	int n_commits, result;
	struct fw_err *err;
};

static void take_commit(void *arg, int n, const char *sha, const char *subject)
{
	struct page *page = arg;
	if (n != page->n_commits)
		return;
	page->commit = mem_grow_one(page->commit, (size_t)n, sizeof *page->commit);
	snprintf(page->commit[n].sha, sizeof page->commit[n].sha, "%s", sha);
	snprintf(page->commit[n].subject, sizeof page->commit[n].subject, "%s", subject);
	page->n_commits++;
}

/* Draw the first line of the box: the cells of a culprit and their slowdown, or the remaining range. */
static void draw_state(struct buf *out, const struct page *page, const struct found *f)
{
	const json_t *culprit = json_array_get(f->culprits, 0);
	emit_format(out, "%s{verdict} ", f->b->state);
	if (!f->n && !f->b->ended_at)
		draw_range(out, f);
	if (!f->n && !f->b->ended_at && f->high - f->low < f->b->commits && f->high < page->n_commits)
		emit_format(
			out, ": those after %s{commit}, up to %s{commit}", page->commit[f->low].sha, page->commit[f->high].sha);
	if (!f->n && !f->b->ended_at && f->cells)
		emit_raw(out, "; ");
	draw_cells(out, f);
	if (isfinite(f->change_pct))
		emit_format(out, " <b>%f{decided %d}</b>", f->change_pct, true);
	if (json_integer_value(json_object_get(culprit, "commits")) > 1) {
		emit_raw(out, "<span class=why>Culprit: ");
		culprit_name(out, culprit);
		emit_raw(out, "; the measurements do not show which</span>");
	}
}

static int draw_why(struct buf *out, const struct found *f, struct fw_err *err)
{
	struct buf text;
	buf_init(&text, 1 << 14);
	if (culprit_sure(&text, json_array_get(f->culprits, 0)))
		emit_format(out, "<span class=why>How sure: %-s</span>", text.data);
	out->failed |= text.failed;
	buf_fini(&text);
	buf_init(&text, 1 << 14);
	int result = draw_cause(&text, f, err);
	if (text.len)
		emit_format(out, "<span class=why>Why: %-s</span>", text.data);
	else if (f->worst.comparison && (f->n || !f->b->ended_at))
		emit_format(out, "<span class=why>Why: not known, %lld{comparison} shows both sides</span>",
			(long long)f->worst.comparison);
	out->failed |= text.failed;
	buf_fini(&text);
	return result;
}

/* Draw the command that requests the bisect again; without its ends if these could not be compared. */
static void draw_request(struct buf *out, const struct found *f)
{
	const struct store_bisect *b = f->b;
	bool has_bad_ends = strcmp(b->state, "failed") == 0 && !f->worst.comparison;
	char command[512];
	snprintf(command, sizeof command, "flopwatch bisect %.10s %.10s --repo %s%s%s", has_bad_ends ? "GOOD" : b->good_sha,
		has_bad_ends ? "BAD" : b->bad_sha, b->repo_name, *b->suite ? " --suite " : "", b->suite);
	layout_command(out, command);
}

static int draw_box(struct page *page, const struct found *f)
{
	struct buf *out = &page->response->body;
	const struct store_bisect *b = f->b;
	const char *culprit = f->n ? comparison_text(json_array_get(f->culprits, 0), "to") : "";
	char id[24];
	snprintf(id, sizeof id, "%lld", (long long)b->id);
	emit_raw(out, "<div class=\"card alarm\"><div>");
	draw_state(out, page, f);
	int result = draw_why(out, f, page->err);
	emit_raw(out, "<span class=why>What to do: ");
	if (result == 0)
		result = draw_step(out, f, page->err);
	emit_format(out, "</span></div>%lld{time}", (long long)(b->ended_at ? b->ended_at : b->created_at));
	if (f->n && f->alert.id && alertstate_is_live(f->alert.state))
		emit_rawf(out, "<a class=button href=\"/alerts/%lld#answer\">Answer A%lld</a>", (long long)f->alert.id,
			(long long)f->alert.id);
	if (*culprit)
		emit_format(out, "<a class=button href=\"/commits/%s\">Open %s{sha}</a>", culprit, culprit);
	if (f->worst.comparison)
		emit_rawf(out, "<a class=button href=\"/comparisons/%lld\">Open C%lld</a>", (long long)f->worst.comparison,
			(long long)f->worst.comparison);
	if (!b->ended_at)
		layout_button(out, "bisects", id, "cancel", "Cancel");
	emit_raw(out, "</div>\n");
	if (f->n > 1)
		culprits_show(out, b->culprits_json);
	else if (!f->n && b->ended_at)
		draw_request(out, f);
	return result;
}

static const char *subject_of(const struct page *page, const char *sha)
{
	for (int i = 0; i < page->n_commits; i++)
		if (strcmp(page->commit[i].sha, sha) == 0)
			return page->commit[i].subject;
	return "";
}

static void draw_bisected_cells(struct buf *out, const struct store_bisect *b)
{
	char word[256];
	int n = 0;
	emit_rawf(out, "<dt>Bisected cells</dt><dd><details><summary>%d</summary>", count_words(b->cells));
	for (const char *at = b->cells; *at && n < CELLS_LISTED; at += strspn(at, " "), n++) {
		size_t len = strcspn(at, " ");
		snprintf(word, sizeof word, "%.*s", (int)len, at);
		emit_raw(out, n ? "<br>" : "");
		layout_cell_link(out, b->repo_name, b->branch, word);
		at += len;
	}
	emit_raw(out, "</details></dd>");
}

static void draw_facts(struct buf *out, const struct page *page, const struct store_bisect *b)
{
	emit_format(out, "<dl class=\"facts card\"><dt>Branch</dt><dd><a href=\"/repos/%s\">%s</a>", b->repo_name, b->repo_name);
	if (*b->branch)
		emit_format(
			out, " <a href=\"/branches?repo=%s&amp;branch=%s\">%s{branch}</a>", b->repo_name, b->branch, b->branch);
	emit_format(out, "</dd><dt>Good</dt><dd>%s{commit} %s</dd><dt>Bad</dt><dd>%s{commit} %s</dd>", b->good_sha,
		subject_of(page, b->good_sha), b->bad_sha, subject_of(page, b->bad_sha));
	emit_format(out, "<dt>Commits</dt><dd>%d{?* after the good one}%-s</dd><dt>Jobs</dt><dd>%d", b->commits,
		b->commits    ? ""
		: b->ended_at ? "not listed"
			      : "not listed yet",
		b->n_jobs);
	if (b->job && !b->ended_at)
		emit_format(out, ", waits for %lld{job}", (long long)b->job);
	emit_format(out, "</dd>%s{?<dt>Suite</dt><dd>*</dd>}", b->suite);
	if (*b->goal && *b->cells)
		draw_bisected_cells(out, b);
	emit_raw(out, "<dt>Started</dt><dd>");
	draw_origin(out, b);
	emit_format(out, ", %lld{time}</dd>", (long long)b->created_at);
	if (b->comparison)
		emit_format(out, "<dt>Both ends</dt><dd>%lld{comparison}</dd>", (long long)b->comparison);
	if (b->ended_at)
		emit_format(out, "<dt>Ended</dt><dd>%lld{time}</dd>", (long long)b->ended_at);
	emit_raw(out, "</dl>\n");
	if (!b->ended_at)
		emit_raw(out, "<p class=dim>The daemon measures commits between both ends; each measurement rules out about half "
			      "of those that are left.</p>\n");
}

static int by_position(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	return x->target_n != y->target_n ? x->target_n - y->target_n
	       : x->base_n != y->base_n   ? x->base_n - y->base_n
					  : (x->comparison > y->comparison) - (x->comparison < y->comparison);
}

static void draw_commit(struct buf *out, const struct page *page, int n, bool with_subject)
{
	emit_rawf(out, "<span class=dim>%d</span> ", n);
	if (n < page->n_commits)
		emit_format(out, "%s{commit}%s{?<span class=why>*</span>}", page->commit[n].sha,
			with_subject ? page->commit[n].subject : "");
}

/* Draw every comparison of two commits of the range, over the cells of the bisect only. */
static void draw_measurements(struct buf *out, const struct page *page, const struct found *f)
{
	bool is_some = *f->b->goal && *f->b->cells;
	if (f->n_pairs == 0)
		return;
	qsort(f->pair, (size_t)f->n_pairs, sizeof *f->pair, by_position);
	emit_raw(out, "<h2>Measurements</h2><p>");
	if (is_some)
		emit_rawf(out, "Of each comparison only the cells that the bisect measures: %d. ", count_words(f->b->cells));
	emit_rawf(out, "Commit 0 is the good end, commit %d the bad one.</p>", f->b->commits);
	layout_table(
		out, is_of_failures(f->b) ? "Commit|~Against|Verdict|>Worst|>Failed" : "Commit|~Against|Verdict|>Worst|>Slower");
	for (int i = 0; i < f->n_pairs; i++) {
		const struct pair *p = &f->pair[i];
		emit_raw(out, "<tr><th scope=row class=wrap>");
		draw_commit(out, page, p->target_n, true);
		emit_raw(out, "</th><td class=w>");
		draw_commit(out, page, p->base_n, false);
		emit_format(out,
			"</td><td><a href=\"/comparisons/%lld\">%s{verdict}</a></td><td class=n>%f{decided %d}</td><td class=n>%d of "
			"%d</td></tr>\n",
			(long long)p->comparison, verdict_name(p->verdict), p->worst_pct, verdict_is_change(p->verdict), p->bad,
			p->cells);
	}
	layout_table_end(out);
}

static void draw_one(void *arg, const struct store_bisect *row)
{
	struct page *page = arg;
	struct buf *out = &page->response->body, title;
	struct found found;
	buf_init(&title, FINDING_BYTES + TITLE_BYTES);
	page->result = read_found(page->site->db, row, &found, page->err);
	if (page->result == 0) {
		write_title(&title, &found);
		layout_begin(page->response, title.data, "alerts", "bisect. job.done job.queued job.state alert.");
		layout_live(out, "bisect", "The bisect changed");
		page->result = draw_box(page, &found);
		draw_facts(out, page, row);
		draw_measurements(out, page, &found);
		emit_raw(out, "</div>");
	}
	out->failed |= title.failed;
	buf_fini(&title);
	found_fini(&found);
}

int page_bisect(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct page page = { .site = site, .response = response, .err = err };
	char data[64];
	int64_t id = answer_path_id(r, "bisect", err);
	if (id < 0)
		return -1;
	int result = view_bisect_commits(site->db, id, take_commit, &page, err) != 0 ||
				     view_bisect(site->db, id, draw_one, &page, err) != 0
			     ? -1
			     : page.result;
	free(page.commit);
	snprintf(data, sizeof data, "/api/v1/bisects/%lld", (long long)id);
	return result != 0 ? -1 : layout_end(response, data, 0);
}
