/* Open alerts as bars at the top of pages: branch, slowdown, cells, cause, age, and a link to the form that answers the alert. */

#include "web/page/internal.h"

#include <math.h>

/* ---- cause --------------------------------------------------------------------------------------------------------- */

struct cause_search {
	struct db *db;
	struct buf *out;
	bool is_found;
	struct alarm_id alert;
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

/* Write the phase and the kernel that became slower, of the alert's first group, if no profile names the cause. */
static void write_phase(struct buf *out, const char *groups_json)
{
	json_t *groups = json_loads(groups_json, 0, NULL);
	const json_t *group = json_array_get(groups, 0);
	const char *phase = comparison_text(group, "phase"), *kernel = comparison_text(group, "kernel");
	if (*phase || *kernel)
		emit_format(
			out, "cause unknown; slower: %s{?phase *}%-s%s{?kernel *}", phase, *phase && *kernel ? ", " : "", kernel);
	json_decref(groups);
}

/* Why the cost of the first cell, which grew most, grew. */
static void write_cost_why(struct buf *out, const char *cells_json)
{
	json_t *cells = json_loads(cells_json, 0, NULL);
	emit_text(out, comparison_text(json_array_get(cells, 0), "why"));
	json_decref(cells);
}

static void cause_of(void *arg, const struct view_alert *row)
{
	struct cause_search *s = arg;
	s->alert = (struct alarm_id){ row->id, row->state };
	if (view_profile_of(s->db, row->id, 0, take_profile, s, s->err) < 0) {
		s->result = -1;
		return;
	}
	if (s->is_found)
		return;
	if (row->kind == ALERTKIND_COST)
		write_cost_why(s->out, row->cells_json);
	else
		write_phase(s->out, row->groups_json);
	s->is_found = true;
}

int alarm_cause(struct db *db, struct buf *out, int64_t comparison, struct alarm_id *alert, struct fw_err *err)
{
	struct cause_search s = { .db = db, .out = out, .err = err };
	struct view_around around = { .alert = 0 };
	*alert = (struct alarm_id){ .id = 0 };
	if (comparison && view_around(db, comparison, &around, err) != 0)
		return -1;
	if (around.alert && view_alert(db, around.alert, cause_of, &s, err) != 0)
		return -1;
	*alert = s.alert;
	return s.result;
}

static void draw_line(struct buf *out, const struct buf *cause, const struct alarm_id *alert)
{
	if (cause->len)
		emit_format(out, "<span class=\"why cause\">%-s</span>", cause->data);
	if (alert->id && alertstate_is_live(alert->state))
		emit_rawf(out, "<a href=\"/alerts/%lld#answer\">Answer A%lld</a> " ALARM_ANSWERS, (long long)alert->id,
			(long long)alert->id);
	else if (alert->id)
		emit_format(out, "<small>%lld{alert} %s</small>", (long long)alert->id, alertstate_name(alert->state));
	out->failed |= cause->failed;
}

int alarm_line(struct db *db, struct buf *out, int64_t comparison, int64_t job, enum verdict verdict, struct fw_err *err)
{
	struct buf cause;
	struct alarm_id alert;
	struct view_repeat repeat = { .job = 0 };
	if (verdict == VERDICT_UNDECIDED && view_repeat(db, comparison, &repeat, err) != 0)
		return -1;
	if (repeat.job)
		step_draw_repeat(out, &repeat);
	else if (verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED || verdict == VERDICT_UNDECIDED)
		emit_format(out, "<a href=\"/jobs/%lld\">%-s J%lld</a>", (long long)job,
			verdict == VERDICT_UNDECIDED ? "Measure again:" : "Log of", (long long)job);
	if (verdict != VERDICT_REGRESSION)
		return 0;
	buf_init(&cause, 1 << 14);
	int result = alarm_cause(db, &cause, comparison, &alert, err);
	draw_line(out, &cause, &alert);
	buf_fini(&cause);
	return result;
}

int alarm_line_of_commit(struct db *db, struct buf *out, const char *repo, const char *commit, struct fw_err *err)
{
	struct buf cause;
	struct cause_search s = { .db = db, .out = &cause, .err = err };
	buf_init(&cause, 1 << 14);
	int result = view_alert_of(db, repo, commit, cause_of, &s, err) != 0 ? -1 : s.result;
	draw_line(out, &cause, &s.alert);
	buf_fini(&cause);
	return result;
}

/* ---- bar ----------------------------------------------------------------------------------------------------------- */

/* Count the cells of an alert. `least_pct` receives their smallest slowdown, NAN if unknown. */
static int count_cells(const struct view_alert *row, double *least_pct)
{
	json_t *cell, *cells = json_loads(row->cells_json, 0, NULL);
	size_t i;
	*least_pct = NAN;
	json_array_foreach(cells, i, cell) *least_pct = fmax(*least_pct, comparison_number(cell, "change_pct"));
	int n = (int)json_array_size(cells);
	json_decref(cells);
	return n;
}

void alarm_finding(struct buf *out, const struct view_alert *row, const struct headline *headline)
{
	bool is_slower = (row->kind == ALERTKIND_REGRESSION || row->kind == ALERTKIND_DRIFT) && isfinite(row->worst_pct);
	struct buf branch;
	buf_init(&branch, FINDING_BYTES);
	branch_text(&branch, row->branch);
	if (is_slower) {
		char text[FINDING_SIZE];
		double least_pct;
		int n = count_cells(row, &least_pct);
		struct finding f = { .subject = branch.len ? branch.data : "",
			.verdict = VERDICT_REGRESSION,
			.cells = headline->comparison ? headline->cells : 0,
			.regressions = n,
			.worst_pct = row->worst_pct,
			.least_pct = least_pct,
			.why = "" };
		finding_text(&f, text);
		buf_puts(out, text);
	} else {
		buf_printf(out, "%s%s%s", branch.len ? branch.data : "", branch.len ? ": " : "",
			*row->title ? row->title : alertkind_name(row->kind));
	}
	out->failed |= branch.failed;
	buf_fini(&branch);
}

const char *alarm_step(enum alertkind kind)
{
	static const char *const step[ALERTKIND_N] = {
		[ALERTKIND_REGRESSION] = "push a fix",
		[ALERTKIND_DRIFT] = "find the pushes that made it slower in the history of its cells, push a fix",
		[ALERTKIND_FAILING] = "fix the failure and push",
		[ALERTKIND_MISSING] = "push the missing cells again",
		[ALERTKIND_DEVICE_OFFLINE] = "start the device's worker",
		[ALERTKIND_QUARANTINED] = "check the device's temperature, power and other processes",
		[ALERTKIND_ENVIRONMENT] = "go back to the previous compiler, library, driver or setting",
		[ALERTKIND_COST] = "push a fix",
	};
	return step[kind];
}

static int draw_bar(
	struct alarms *a, const struct view_alert *row, const char *finding, const struct headline *headline, struct fw_err *err)
{
	struct buf cause;
	struct cause_search s = { .db = a->site->db, .out = &cause, .err = err };
	bool is_first = a->bars.len == 0; /* the first bar has the text that explains the buttons of all */
	bool is_printed = a->title && *finding && strncmp(a->title, finding, strlen(finding)) == 0;
	emit_format(&a->bars, "<li class=\"banner alarm\"><div>%s{?<b>*</b>}<span class=why>", is_printed ? "" : finding);
	/* the tables show the verdicts of later pushes; an environment change has no push */
	bool has_push = *row->target && row->kind != ALERTKIND_ENVIRONMENT, has_worst = headline->comparison;
	char culprit[65], subject[160];
	if (has_push && culprits_single(row->culprits_json, culprit, subject) && strcmp(culprit, row->target) != 0)
		emit_format(&a->bars, "since %s{commit} %s", culprit, subject);
	else if (has_push)
		emit_format(&a->bars, "push %s{commit} %s", row->target, row->subject);
	if (has_worst)
		emit_format(&a->bars, "%-sworst: <a href=\"/comparisons/%lld?open=%d#c%d\">%s{case %s %lld} %s</a>",
			has_push ? "; " : "", (long long)headline->comparison, headline->n, headline->n, headline->key,
			headline->title, (long long)headline->size, headline->direction);
	buf_init(&cause, 1 << 14);
	cause_of(&s, row);
	emit_format(&a->bars,
		"%-s%-s; what to do: %-s, or answer%-s"
		"</span></div>%lld{time}<a class=button href=\"/alerts/%lld\">Answer A%lld</a></li>\n",
		(has_push || has_worst) && cause.len ? "; " : "", cause.data ? cause.data : "", alarm_step(row->kind),
		is_first ? " " ALARM_ANSWERS : "", (long long)row->opened_at, (long long)row->id, (long long)row->id);
	a->bars.failed |= cause.failed;
	buf_fini(&cause);
	return s.result;
}

struct reading {
	struct alarms *alarms;
	int n, result;
	struct fw_err *err;
};

static void take_alert(void *arg, const struct view_alert *row)
{
	struct reading *reading = arg;
	struct alarms *a = reading->alarms;
	struct headline headline;
	struct buf finding;
	if (reading->result != 0)
		return;
	buf_init(&finding, 1 << 15);
	reading->result = reported_read(a->site->db, row->comparison, NULL, &headline, reading->err);
	if (reading->result == 0) {
		alarm_finding(&finding, row, &headline);
		if (reading->n == 0)
			buf_append(&a->finding, finding.data, finding.len);
		a->drawn[reading->n++] = row->id;
		reading->result = a->is_title ? 0 : draw_bar(a, row, finding.data, &headline, reading->err);
	}
	a->bars.failed |= finding.failed;
	buf_fini(&finding);
}

int alarms_read(struct alarms *a, struct fw_err *err)
{
	struct reading reading = { .alarms = a, .err = err };
	memset(a->drawn, 0, sizeof a->drawn);
	buf_init(&a->bars, 1 << 18);
	buf_init(&a->finding, 1 << 15);
	int result =
		view_alarms(a->site->db, a->repo, a->branch, a->is_title ? 1 : ALARMS_DRAWN, take_alert, &reading, &a->n, err);
	return result != 0 ? -1 : reading.result;
}

void alarms_title(struct buf *out, const struct alarms *a, int failed)
{
	int more = a->n - 1;
	buf_append(out, a->finding.data, a->finding.len);
	if (more > 0)
		buf_printf(out, failed ? "; %d more alert%s" : ", and %d more open alert%s", more, more == 1 ? "" : "s");
	if (failed)
		buf_printf(out, "%s %d branch%s failed", more > 0 ? "," : ";", failed, failed == 1 ? "" : "es");
	out->failed |= a->finding.failed;
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

bool alarms_contain(const struct alarms *a, int64_t alert)
{
	for (int i = 0; alert && i < ALARMS_DRAWN; i++)
		if (a->drawn[i] == alert)
			return true;
	return false;
}

void alarms_fini(struct alarms *a)
{
	buf_fini(&a->bars);
	buf_fini(&a->finding);
}

/* ---- slow branches ------------------------------------------------------------------------------------------------- */

static void take_slow(void *arg, const struct view_slow_branch *row)
{
	struct slow_branches *all = arg;
	all->list = mem_grow_one(all->list, (size_t)all->n, sizeof *all->list);
	struct slow_branch *slow = &all->list[all->n++];
	*slow = (struct slow_branch){ .alert = row->alert, .state = row->state, .worst_pct = row->worst_pct };
	snprintf(slow->repo, sizeof slow->repo, "%s", row->repo);
	snprintf(slow->branch, sizeof slow->branch, "%s", row->branch);
	snprintf(slow->target, sizeof slow->target, "%s", row->target);
}

int slow_branches_read(struct db *db, struct slow_branches *out, struct fw_err *err)
{
	*out = (struct slow_branches){ .list = NULL };
	return view_slow_branches(db, take_slow, out, err);
}

static int by_branch(const void *key, const void *element)
{
	const struct view_branch *row = key;
	const struct slow_branch *slow = element;
	int order = strcmp(row->repo, slow->repo);
	return order ? order : strcmp(row->name, slow->branch);
}

const struct slow_branch *slow_branch_of(const struct slow_branches *all, const struct view_branch *row)
{
	if (all->n == 0 || row->verdict == VERDICT_FAILED || row->verdict == VERDICT_REJECTED)
		return NULL;
	const struct slow_branch *slow = bsearch(row, all->list, (size_t)all->n, sizeof *slow, by_branch);
	bool is_less = slow && !(slow->worst_pct < row->worst_pct) && isfinite(row->worst_pct);
	if (slow && row->verdict == VERDICT_REGRESSION && (is_less || strcmp(slow->target, row->compared) == 0))
		return NULL;
	return slow;
}

const char *slow_branch_newest(enum verdict newest)
{
	switch (newest) {
	case VERDICT_UNCHANGED:
	case VERDICT_IDENTICAL:
		return "changed nothing";
	case VERDICT_IMPROVEMENT:
		return "is faster";
	case VERDICT_REGRESSION:
		return "has a smaller slowdown";
	case VERDICT_ACCEPTED:
		return "has another slowdown, which is accepted";
	case VERDICT_UNDECIDED:
		return "is undecided";
	case VERDICT_NONE:
		return "has no verdict yet";
	default:
		return "could not be compared";
	}
}

struct slow_search {
	struct cause_search cause;
	int n;
	double least_pct;
	int64_t comparison;
	char since[65];
};

static void take_slow_alert(void *arg, const struct view_alert *row)
{
	struct slow_search *s = arg;
	s->n = count_cells(row, &s->least_pct);
	s->comparison = row->comparison;
	char subject[160];
	if (!culprits_single(row->culprits_json, s->since, subject))
		snprintf(s->since, sizeof s->since, "%s", row->target);
	if (s->cause.out)
		cause_of(&s->cause, row);
}

int slow_branch_finding(struct db *db, const struct slow_branch *slow, const char *subject, enum verdict newest,
	struct buf *finding, struct buf *cause, int *n, struct fw_err *err)
{
	struct slow_search s = { .cause = { .db = db, .out = cause, .err = err } };
	struct headline headline;
	char text[FINDING_SIZE];
	if (view_alert(db, slow->alert, take_slow_alert, &s, err) != 0 || s.cause.result != 0)
		return -1;
	*n = s.n;
	if (!finding)
		return 0;
	if (reported_read(db, s.comparison, NULL, &headline, err) != 0)
		return -1;
	finding_text(&(struct finding){ .subject = subject,
			     .verdict = VERDICT_REGRESSION,
			     .cells = headline.cells,
			     .regressions = s.n,
			     .worst_pct = slow->worst_pct,
			     .least_pct = s.least_pct,
			     .why = "" },
		text);
	buf_printf(finding, "%s since %.10s; the newest push %s", text, s.since, slow_branch_newest(newest));
	return 0;
}

static void draw_since(void *arg, const struct view_alert *row)
{
	struct buf *out = arg;
	char culprit[65], subject[160];
	bool is_known = culprits_single(row->culprits_json, culprit, subject);
	emit_format(out, "since %s{commit} %s", is_known ? culprit : row->target, is_known ? subject : row->subject);
}

int slow_branch_since(struct db *db, struct buf *out, const struct slow_branch *slow, struct fw_err *err)
{
	return view_alert(db, slow->alert, draw_since, out, err) != 0 ? -1 : 0;
}

struct worst_search {
	char *cell;
	int64_t comparison;
};

static void take_worst(void *arg, const struct view_alert *row)
{
	struct worst_search *s = arg;
	json_t *cell, *cells = json_loads(row->cells_json, 0, NULL);
	double worst_pct = NAN;
	size_t i;
	json_array_foreach(cells, i, cell)
	{
		double pct = comparison_number(cell, "change_pct");
		if (isnan(pct) || worst_pct <= pct)
			continue;
		worst_pct = pct;
		snprintf(s->cell, 256, "%s", comparison_text(cell, "cell"));
		s->comparison = json_integer_value(
			json_object_get(cell, "comparison")); /* the cell may be of another suite than the alert */
	}
	if (!s->comparison)
		s->comparison = row->comparison;
	json_decref(cells);
}

int slow_branch_worst(struct db *db, const struct slow_branch *slow, char cell[256], int64_t *comparison, struct fw_err *err)
{
	struct worst_search s = { .cell = cell };
	cell[0] = '\0';
	if (view_alert(db, slow->alert, take_worst, &s, err) != 0)
		return -1;
	*comparison = s.comparison;
	return 0;
}

void slow_branches_fini(struct slow_branches *all)
{
	free(all->list);
}
