/* Open alerts as bars at the top of pages: branch, loss, cells, cause, age, and the link to answer. */

#include "web/page/internal.h"

enum { ALARMS_READ = 100, ALARMS_DRAWN = 5 };

/* ---- the cause -------------------------------------------------------------------------------------------------------- */

struct cause_search {
	struct db *db;
	struct buf *out;
	bool is_found;
	int result;
	struct fw_err *err;
};

static void take_profile(void *arg, const struct view_profile *row)
{
	struct cause_search *s = arg;
	if (!*row->sentence)
		return;
	emit_text(s->out, row->sentence);
	s->is_found = true;
}

/* The phase that became slower, and its kernel, where the alert's groups name them. */
static void write_phase(struct buf *out, const char *groups_json)
{
	json_t *groups = json_loads(groups_json, 0, NULL);
	const json_t *group = json_array_get(groups, 0);
	emit_format(out, "%s{?phase *}%-s%s{?kernel *}", comparison_text(group, "phase"),
		*comparison_text(group, "phase") && *comparison_text(group, "kernel") ? ", " : "",
		comparison_text(group, "kernel"));
	json_decref(groups);
}

static void cause_of(void *arg, const struct view_alert *row)
{
	struct cause_search *s = arg;
	if (s->is_found || s->result != 0)
		return;
	if (view_profile_of(s->db, row->id, 0, take_profile, s, s->err) < 0) {
		s->result = -1;
		return;
	}
	if (s->is_found)
		return;
	write_phase(s->out, row->groups_json);
	s->is_found = true;
}

int alarm_cause(struct db *db, struct buf *out, const char *repo, const char *commit, struct fw_err *err)
{
	struct cause_search s = { .db = db, .out = out, .err = err };
	return view_alert_of(db, repo, commit, cause_of, &s, err) != 0 ? -1 : s.result;
}

/* ---- a bar ------------------------------------------------------------------------------------------------------------ */

/* In plain text: "ada/three-stages is 4.0 % slower in 6 of 20 cells"; of another kind of alert its title. */
static void write_finding(struct buf *out, const struct view_alert *row, const struct headline *headline)
{
	bool is_slower = (row->kind == ALERTKIND_REGRESSION || row->kind == ALERTKIND_DRIFT) && isfinite(row->worst_pct);
	if (!is_slower) {
		branch_text(out, row->branch);
		buf_printf(out, "%s%s", *row->branch ? ": " : "", *row->title ? row->title : alertkind_name(row->kind));
		return;
	}
	json_t *cells = json_loads(row->cells_json, 0, NULL);
	int n = (int)json_array_size(cells);
	json_decref(cells);
	branch_text(out, row->branch);
	buf_printf(out, " is %.1f\u00a0%% slower in %d", fabs(row->worst_pct), n);
	if (headline->comparison && headline->cells >= n)
		buf_printf(out, " of %d", headline->cells);
	buf_puts(out, n == 1 && !headline->comparison ? " cell" : " cells");
}

static int draw_bar(
	struct alarms *a, const struct view_alert *row, const char *finding, const struct headline *headline, struct fw_err *err)
{
	struct buf cause;
	struct cause_search s = { .db = a->site->db, .out = &cause, .err = err };
	emit_format(&a->bars, "<li class=\"banner alarm\"><div><b>%s</b><span class=why>", finding);
	if (headline->comparison)
		emit_format(&a->bars, "worst: <a href=\"/comparisons/%lld?open=%d#c%d\">%s{case %s %lld} %s</a>",
			(long long)headline->comparison, headline->n, headline->n, headline->key, headline->title,
			(long long)headline->size, headline->direction);
	buf_init(&cause, 1 << 14);
	cause_of(&s, row);
	emit_format(&a->bars, "%-s%-s</span></div>%lld{time}<a class=button href=\"/alerts/%lld\">Answer A%lld</a></li>\n",
		headline->comparison && cause.len ? "; " : "", cause.data ? cause.data : "", (long long)row->opened_at,
		(long long)row->id, (long long)row->id);
	a->bars.failed |= cause.failed;
	buf_fini(&cause);
	return s.result;
}

static bool is_wanted(const struct alarms *a, const struct view_alert *row)
{
	return (!a->repo || strcmp(row->repo, a->repo) == 0) && (!a->branch || strcmp(row->branch, a->branch) == 0);
}

struct reading {
	struct alarms *alarms;
	int result;
	struct fw_err *err;
};

static void take_alert(void *arg, const struct view_alert *row)
{
	struct reading *reading = arg;
	struct alarms *a = reading->alarms;
	struct headline headline;
	struct buf finding;
	if (reading->result != 0 || !is_wanted(a, row))
		return;
	buf_init(&finding, 1 << 15);
	reading->result = reported_read(a->site->db, row->comparison, NULL, &headline, reading->err);
	if (reading->result == 0) {
		write_finding(&finding, row, &headline);
		if (a->n++ < ALARMS_DRAWN)
			reading->result = draw_bar(a, row, finding.data ? finding.data : "", &headline, reading->err);
	}
	/* the title of a page names the largest slowdown, else the newest alert */
	bool is_worse = isfinite(row->worst_pct) && !(a->worst_pct <= row->worst_pct);
	if (reading->result == 0 && (a->n == 1 || is_worse)) {
		a->worst_pct = row->worst_pct;
		buf_clear(&a->finding);
		buf_append(&a->finding, finding.data, finding.len);
	}
	a->bars.failed |= finding.failed;
	buf_fini(&finding);
}

int alarms_read(struct alarms *a, struct fw_err *err)
{
	struct reading reading = { .alarms = a, .err = err };
	a->n = 0;
	a->worst_pct = NAN;
	buf_init(&a->bars, 1 << 18);
	buf_init(&a->finding, 1 << 15);
	return view_alerts(a->site->db, "open", 0, ALARMS_READ, take_alert, &reading, err) != 0 ? -1 : reading.result;
}

void alarms_draw(struct buf *out, const struct alarms *a)
{
	if (a->n == 0)
		return;
	emit_raw(out, "<ol class=alarms aria-label=\"Open alerts\">\n");
	buf_append(out, a->bars.data, a->bars.len);
	emit_raw(out, "</ol>\n");
	if (a->n > ALARMS_DRAWN)
		emit_rawf(out, "<p><a href=\"/alerts?state=open\">%d more open alert%s</a></p>\n", a->n - ALARMS_DRAWN,
			a->n - ALARMS_DRAWN == 1 ? "" : "s");
	out->failed |= a->bars.failed;
}

void alarms_fini(struct alarms *a)
{
	buf_fini(&a->bars);
	buf_fini(&a->finding);
}
