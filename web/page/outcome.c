/* The result of a comparison at the top of another page: its worst cell, why, and what to do. */

#include "web/page/internal.h"

static void take(void *arg, const struct view_comparison *row)
{
	struct outcome *o = arg;
	o->comparison = row->id;
	o->job = row->job;
	o->kind = row->kind;
	o->verdict = row->verdict;
	o->finished_at = row->finished_at;
	snprintf(o->base_how, sizeof o->base_how, "%s", row->base_how);
	snprintf(o->repo, sizeof o->repo, "%s", row->repo);
	snprintf(o->branch, sizeof o->branch, "%s", row->branch);
	snprintf(o->target, sizeof o->target, "%s", row->target);
	snprintf(o->subject, sizeof o->subject, "%s", row->subject);
}

int outcome_read(struct db *db, int64_t comparison, struct outcome *o, struct fw_err *err)
{
	*o = (struct outcome){ .verdict = VERDICT_NONE };
	buf_init(&o->cause, 1 << 14);
	if (view_comparison(db, comparison, take, o, err) != 0 || reported_read(db, comparison, NULL, &o->headline, err) != 0)
		return -1;
	o->effective = o->verdict;
	if (o->verdict == VERDICT_REGRESSION) {
		struct store_accepted accepted;
		if (store_accepted_of(db, comparison, &accepted, err) != 0)
			return -1;
		o->effective = accepted.verdict;
	}
	bool has_cause = headline_cause(&o->cause, &o->headline, o->verdict);
	struct buf unused; /* receives the cause of the alert if the headline has one already */
	buf_init(&unused, 1 << 14);
	int result = alarm_cause(db, has_cause ? &unused : &o->cause, comparison, &o->alert, err);
	buf_fini(&unused);
	return result != 0 ? result : view_repeat(db, comparison, &o->repeat, err);
}

void outcome_fini(struct outcome *o)
{
	buf_fini(&o->cause);
}

void outcome_subject(struct buf *out, const struct outcome *o)
{
	buf_printf(out, "%.10s", o->target);
	if (!*o->branch)
		return;
	buf_puts(out, " of ");
	branch_text(out, o->branch);
}

void outcome_sentence(struct buf *out, const char *subject, const struct outcome *o)
{
	if (jobkind_is_side_by_side(o->kind))
		buf_printf(out, "%s: %s", subject, verdict_label(o->kind, o->verdict));
	else
		headline_sentence(out, subject, &o->headline, o->effective);
}

/* ---- next step ----------------------------------------------------------------------------------------------------- */

/* Return whether a push can change the result: not for jobs that the daemon queued itself, nor for two implementations. */
static bool is_of_push(enum jobkind kind)
{
	return !jobkind_is_upkeep(kind) && !jobkind_is_side_by_side(kind);
}

void step_draw_repeat(struct buf *out, const struct view_repeat *r)
{
	if (r->state == JOBSTATE_QUEUED)
		emit_format(out, "queued as %lld{job}", (long long)r->job);
	else
		emit_format(out, "it is measured again as %lld{job} (%-s)", (long long)r->job, jobstate_name(r->state));
}

/* Draw the step while the daemon measures again itself. */
static void draw_wait_step(struct buf *out, const struct step *s)
{
	emit_raw(out, "wait for the next result: ");
	step_draw_repeat(out, &s->repeat);
}

static void draw_again_step(struct buf *out, const struct step *s)
{
	if (s->repeat.job)
		draw_wait_step(out, s);
	else
		emit_format(out, "nothing; measure %lld{job} again if its result is needed", (long long)s->job);
}

static void draw_regression_step(struct buf *out, const struct step *s)
{
	if (s->alert.id && alertstate_is_live(s->alert.state))
		emit_format(out, "push a fix, or answer %lld{alert} " ALARM_ANSWERS, (long long)s->alert.id);
	else if (s->alert.id)
		emit_format(out, "nothing, %lld{alert} is %s", (long long)s->alert.id, alertstate_name(s->alert.state));
	else if (jobkind_is_side_by_side(s->kind))
		emit_raw(out, "nothing, this result is for information");
	else if (!is_of_push(s->kind) || s->kind == JOBKIND_SELFCHECK) /* a commit was compared with itself */
		draw_again_step(out, s);
	else
		emit_raw(out, s->is_quick ? "a quick comparison does not confirm a regression: compare again without the option "
					    "quick"
					  : "push a fix");
}

static void draw_fix_step(struct buf *out, const struct step *s)
{
	long long job = (long long)s->job;
	emit_raw(out, "fix the cause and push again");
	if (s->verdict != VERDICT_REJECTED)
		emit_format(out, "; %lld{job} has the log", job);
	if (s->repeat.job) {
		emit_raw(out, "; ");
		step_draw_repeat(out, &s->repeat);
	} else if (s->verdict == VERDICT_REJECTED) {
		emit_format(out, ", or measure %lld{job} again if the device caused it", job);
	} else {
		emit_raw(out, "; if the machine caused it, measure again");
	}
}

static void draw_failure_step(struct buf *out, const struct step *s)
{
	if (!is_of_push(s->kind))
		draw_again_step(out, s);
	else if (s->verdict == VERDICT_NOT_COMPARABLE)
		emit_raw(out, "see the reason in the row of each cell; if the base is broken, compare with another commit");
	else
		draw_fix_step(out, s);
}

/*
 * As the CLI: the reasons are those of verdict.c and job/cell.c. Measured again with the same budget, or as whole processes, such
 * cells end in the same way.
 */
static void draw_undecided_step(struct buf *out, const struct step *s)
{
	const char *reason = s->reason ? s->reason : "";
	if (s->repeat.job)
		draw_wait_step(out, s);
	else if (strstr(reason, VERDICT_BASE_WHOLE))
		emit_raw(out, "once the base is interleaved, too, calls are paired, which decides more");
	else if (strstr(reason, VERDICT_INTERLEAVE))
		emit_raw(out, "interleave the program (doc/howto/add-a-repository.md#an-interleaved-program)");
	else if (strstr(reason, "; the base's budget of "))
		emit_raw(out, "push a larger budget_s to the upstream branch, and start from there");
	else
		emit_format(out, "measure %lld{job} again; an opened cell shows what would decide it", (long long)s->job);
}

void step_draw(struct buf *out, const struct step *s)
{
	bool is_open = s->alert.id && alertstate_is_live(s->alert.state);
	bool is_branch = strcmp(s->base_how, "merge-base") == 0, is_given = strcmp(s->base_how, "given") == 0;
	switch (is_open ? VERDICT_REGRESSION : s->verdict) { /* drift can open an alert for an unchanged push */
	case VERDICT_REGRESSION:
		draw_regression_step(out, s);
		break;
	case VERDICT_IMPROVEMENT:
		emit_raw(out, is_branch && s->is_whole
				      ? "nothing to fix: merge it; later pushes are then compared with the faster commit"
			      : is_branch || is_given ? "nothing to fix here"
						      : "nothing; later pushes are compared with the faster commit");
		break;
	case VERDICT_UNCHANGED:
	case VERDICT_IDENTICAL:
		emit_raw(out, !is_branch ? "nothing" : s->is_whole ? "nothing to fix: merge it" : "nothing to fix here");
		break;
	case VERDICT_UNDECIDED:
		draw_undecided_step(out, s);
		break;
	case VERDICT_FAILED:
	case VERDICT_REJECTED:
	case VERDICT_NOT_COMPARABLE:
		draw_failure_step(out, s);
		break;
	default:
		emit_raw(out, "nothing, no cell was compared");
	}
}

void step_draw_failure(struct buf *out, enum jobkind kind, int64_t job, const char *why)
{
	struct step step = { .kind = kind, .verdict = VERDICT_FAILED, .base_how = "", .job = job };
	emit_format(out,
		"<div class=\"banner alarm\"><div>%s{verdict}%s{?<span class=why>Why: *</span>}<span class=why>What to do: ",
		verdict_name(VERDICT_FAILED), why);
	step_draw(out, &step);
	emit_raw(out, "</span></div></div>\n");
}

/* ---- box ----------------------------------------------------------------------------------------------------------- */

static struct step step_of(const struct outcome *o)
{
	return (struct step){ .kind = o->kind,
		.verdict = o->verdict,
		.base_how = o->base_how,
		.job = o->job,
		.alert = o->alert,
		.repeat = o->repeat,
		.is_quick = o->headline.is_quick,
		.reason = o->headline.reason,
		.is_whole = o->is_whole };
}

static bool is_bad(const struct outcome *o)
{
	bool is_answered = o->alert.id && !alertstate_is_live(o->alert.state);
	return (o->verdict == VERDICT_REGRESSION && !is_answered && !jobkind_is_side_by_side(o->kind)) ||
	       o->verdict == VERDICT_FAILED || o->verdict == VERDICT_REJECTED;
}

void outcome_draw(struct buf *out, const struct outcome *o)
{
	struct step step = step_of(o);
	long long id = (long long)o->comparison, alert = (long long)o->alert.id;
	bool is_open = alert && alertstate_is_live(o->alert.state);
	emit_format(out, "<div class=\"%-s alarm\"><div>%s{verdict} ", is_bad(o) ? "banner" : "card",
		verdict_label(o->kind, o->verdict));
	if (o->cell && strcmp(o->cell, o->headline.key) != 0)
		emit_format(out, "this cell <b>%f{decided %d}</b>; %-s of ", o->cell_change_pct, true,
			o->verdict == VERDICT_IMPROVEMENT ? "best" : "worst");
	headline_cells(out, &o->headline);
	if (verdict_is_change(o->verdict))
		emit_format(out, " <b>%f{decided %d}</b>", o->headline.change_pct, true);
	emit_format(out, "<span class=why>%s{commit} %s</span>", o->target, o->subject);
	if (o->cause.len)
		emit_format(out, "<span class=why>Why: %-s</span>", o->cause.data);
	else if (o->verdict == VERDICT_REGRESSION)
		emit_format(out, "<span class=why>Why: not known, %lld{comparison} shows both sides</span>", id);
	else if (o->verdict == VERDICT_IMPROVEMENT)
		emit_format(out, "<span class=why>Why: a gain is not profiled, %lld{comparison} shows both sides</span>", id);
	emit_raw(out, "<span class=why>What to do: ");
	step_draw(out, &step);
	emit_format(out, "</span></div>%lld{time}", (long long)o->finished_at);
	if (is_open)
		emit_rawf(out, "<a class=button href=\"/alerts/%lld#answer\">Answer A%lld</a>", alert, alert);
	emit_rawf(out, "<a class=button href=\"/comparisons/%lld\">Open C%lld</a></div>\n", id, id);
	out->failed |= o->cause.failed;
}
