/* summary.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

enum { CELLS_SHOWN = 5, SUBJECT_SIZE = 600 };

/* A cell of one of the comparisons. */
struct shown {
	const json_t *cell, *comparison;
	enum verdict verdict;
	double change_pct; /* that decides; NAN unknown */
};

struct summary {
	struct client *c;
	const json_t *verdict, *comparisons;
	const json_t *worst;         /* the comparison with the first of the cells, else the first comparison */
	json_t *alerts;              /* live ones of the repository; NULL not read */
	const json_t *alert, *older; /* of the commit, and of an older push of its branch; NULL none */
	char subject[SUBJECT_SIZE], why[32];
	struct finding finding;
	double least_slowdown_pct, least_gain_pct; /* the smallest change of the cells that changed; NAN none */
	bool is_variant_only;                      /* no comparison concerns the commit as it is */
	bool has_profile;
	struct shown *cell;
	int n_cells; /* cells that are not unchanged, or whose host time grew, the worst first */
};

/* ---- cells ------------------------------------------------------------------------------------------------------------- */

/* The series that decides: the cell itself, its sustained runs or its mean. */
static const json_t *deciding(const json_t *cell)
{
	enum decider by = decider_from_name(value_text(cell, "decided_by"));
	return by == DECIDER_MEAN             ? json_object_get(cell, "mean")
	       : by == DECIDER_SUSTAINED_RUNS ? json_object_get(cell, "sustained")
					      : cell;
}

static bool is_obstacle(enum verdict v)
{
	return v == VERDICT_FAILED || v == VERDICT_REJECTED || v == VERDICT_NOT_COMPARABLE;
}

/* The class of failures; "" once two differ. */
static void take_class(struct summary *s, const json_t *cell)
{
	const char *class = value_text(cell, "failure");
	if (s->finding.failed++ == 0)
		snprintf(s->why, sizeof s->why, "%s", class);
	else if (strcmp(s->why, class) != 0)
		s->why[0] = '\0';
}

static void take_cell(struct summary *s, const json_t *comparison, const json_t *cell)
{
	struct finding *f = &s->finding;
	struct shown one = { cell, comparison, value_verdict(cell), value_number(deciding(cell), "change_pct") };
	bool absent = verdict_is_absence(one.verdict);
	char host[EXPLAIN_SIZE];
	f->cells += !absent;
	f->regressions += one.verdict == VERDICT_REGRESSION;
	f->improvements += one.verdict == VERDICT_IMPROVEMENT;
	f->undecided += one.verdict == VERDICT_UNDECIDED;
	f->close += one.verdict == VERDICT_UNDECIDED && verdict_is_close(value_text(cell, "reason"));
	f->unchanged += one.verdict == VERDICT_UNCHANGED;
	f->removed += one.verdict == VERDICT_REMOVED;
	f->added += one.verdict == VERDICT_ADDED;
	if (is_obstacle(one.verdict))
		take_class(s, cell);
	if (one.verdict == VERDICT_REGRESSION)
		s->least_slowdown_pct = fmax(s->least_slowdown_pct, one.change_pct);
	if (one.verdict == VERDICT_IMPROVEMENT)
		s->least_gain_pct = fmin(s->least_gain_pct, one.change_pct);
	if (one.verdict == VERDICT_REGRESSION && !(one.change_pct >= f->worst_pct))
		f->worst_pct = one.change_pct;
	if (one.verdict == VERDICT_IMPROVEMENT && !(one.change_pct <= f->best_pct))
		f->best_pct = one.change_pct;
	footnotes_host_time(cell, host);
	if (!*host &&
		(absent || one.verdict == VERDICT_UNCHANGED || one.verdict == VERDICT_IDENTICAL || one.verdict == VERDICT_NONE))
		return;
	s->cell = mem_grow_one(s->cell, (size_t)s->n_cells, sizeof *s->cell);
	s->cell[s->n_cells++] = one;
}

static int by_urgency(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (isnan(x->change_pct) || isnan(y->change_pct))
		return isnan(x->change_pct) - isnan(y->change_pct);
	int order = (x->change_pct > y->change_pct) - (x->change_pct < y->change_pct);
	return x->verdict == VERDICT_IMPROVEMENT ? -order : order;
}

/* ---- the finding ------------------------------------------------------------------------------------------------------- */

static const char *name_of_side(const json_t *comparison, const char *role, char out[16])
{
	const json_t *side = json_object_get(comparison, role);
	const char *name = value_text(side, "name");
	if (*name && !oid_is_whole(name))
		return name;
	snprintf(out, 16, "%.12s", value_text(side, "commit"));
	return out;
}

/* The configuration or the provider that was requested for a side; "" none. */
static const char *setting_of(const json_t *comparison, const char *role)
{
	const json_t *side = json_object_get(comparison, role);
	return *value_text(side, "pinned") ? value_text(side, "pinned") : value_text(side, "provider");
}

/* The branch, else the name of the target; next to a peer or another setting, with the base. */
static void name_subject(struct summary *s)
{
	const json_t *first = json_array_get(s->comparisons, 0);
	const char *branch = value_branch(s->verdict);
	char commit[16];
	const char *name = *branch ? branch : name_of_side(first, "target", commit);
	const char *base = setting_of(first, "base"), *target = setting_of(first, "target");
	if (!s->is_variant_only)
		snprintf(s->subject, sizeof s->subject, "%.500s", name);
	else if (jobkind_from_name(value_text(first, "kind")) == JOBKIND_ENVIRONMENT)
		snprintf(s->subject, sizeof s->subject, "%.250s in the environment of the target", name);
	else
		snprintf(s->subject, sizeof s->subject, "%.200s%s%.150s next to %.150s", name, *target ? " with " : "", target,
			*base ? base : "the default");
}

/* The benchmark that the commit adds, if it is all that was measured. */
static const char *new_suite(const json_t *comparisons)
{
	const json_t *first = json_array_get(comparisons, 0);
	bool is_new = json_array_size(comparisons) == 1 && json_is_true(json_object_get(first, "new"));
	return is_new ? value_text(first, "suite") : "";
}

static void take_comparisons(struct summary *s)
{
	size_t i, k;
	json_t *comparison, *cell;
	s->finding = (struct finding){
		.worst_pct = NAN, .best_pct = NAN, .why = s->why, .subject = s->subject, .new_suite = new_suite(s->comparisons)
	};
	s->least_slowdown_pct = s->least_gain_pct = NAN;
	s->is_variant_only = true;
	json_array_foreach(s->comparisons, i, comparison)
	{
		s->is_variant_only =
			s->is_variant_only && jobkind_is_side_by_side(jobkind_from_name(value_text(comparison, "kind")));
		s->finding.is_quick = s->finding.is_quick || json_is_true(json_object_get(comparison, "quick"));
		json_array_foreach(json_object_get(comparison, "cells"), k, cell) take_cell(s, comparison, cell);
	}
	if (s->n_cells)
		qsort(s->cell, (size_t)s->n_cells, sizeof *s->cell, by_urgency);
	s->worst = s->n_cells ? s->cell[0].comparison : json_array_get(s->comparisons, 0);
	s->finding.verdict = value_verdict(s->verdict);
	if (s->finding.verdict == VERDICT_NONE)
		s->finding.verdict = value_verdict(s->worst);
	s->finding.accepted =
		s->finding.verdict == VERDICT_UNDECIDED ? s->finding.regressions : 0; /* else it were a regression */
	s->finding.least_pct = s->finding.verdict == VERDICT_IMPROVEMENT ? s->least_gain_pct : s->least_slowdown_pct;
	name_subject(s);
}

/* The alert of the commit, and the worst one of an older commit of its branch. */
static void find_alerts(struct summary *s)
{
	const char *commit = value_text(s->verdict, "commit"), *repo = value_text(s->verdict, "repo");
	long long comparison = value_integer(s->worst, "id");
	json_t *older = json_array(), *alert;
	size_t i;
	json_array_foreach(s->alerts, i, alert)
	{
		if (strcmp(value_text(alert, "target"), commit) != 0 && value_integer(alert, "comparison") < comparison)
			json_array_append(older, alert);
		else if (strcmp(value_text(alert, "target"), commit) == 0 && !s->alert)
			s->alert = alert;
	}
	s->older = alert_slowest(older, repo, value_text(s->verdict, "branch"));
	json_decref(older);
}

/* ---- lines ------------------------------------------------------------------------------------------------------------- */

static void flags_cell(struct table *t, const json_t *cell)
{
	char words[128];
	report_flags(cell, words, sizeof words);
	table_cell(t, "%s", words);
}

/* Whether users accepted all slowdowns of a comparison, which the verdict of the commit counts for each suite. */
static bool is_accepted(const struct summary *s, const json_t *comparison)
{
	const json_t *suite;
	size_t i;
	json_array_foreach(json_object_get(s->verdict, "suites"), i, suite)
	{
		long long n = value_integer(suite, "accepted");
		if (value_integer(suite, "comparison") == value_integer(comparison, "id"))
			return n > 0 && n >= value_integer(comparison, "regressions");
	}
	return false;
}

static void print_cells(const struct summary *s)
{
	static const char *const titles[] = { "cell", ">change", "verdict", "~flags" };
	struct table t;
	int n = s->n_cells < CELLS_SHOWN ? s->n_cells : CELLS_SHOWN;
	bool has_flags = false;
	if (n == 0)
		return;
	for (int i = 0; i < n; i++) {
		char words[128];
		report_flags(s->cell[i].cell, words, sizeof words);
		has_flags = has_flags || *words;
	}
	table_init(&t, has_flags ? 4 : 3, titles);
	for (int i = 0; i < n; i++) {
		const struct shown *one = &s->cell[i];
		const char *failure = value_text(one->cell, "failure");
		enum jobkind kind = jobkind_from_name(value_text(one->comparison, "kind"));
		table_cell(&t, "%s", value_text(one->cell, "cell"));
		table_cell_if(&t, isfinite(one->change_pct), "%+.2f %%", one->change_pct);
		table_cell(&t, "%s%s%s%s", verdict_label(kind, one->verdict), *failure ? ": " : "", failure,
			one->verdict == VERDICT_REGRESSION && is_accepted(s, one->comparison) ? " (accepted)" : "");
		if (has_flags)
			flags_cell(&t, one->cell);
	}
	table_print(&t, stdout);
	table_fini(&t);
	if (s->n_cells > n)
		printf("  and %d more cell%s; --long prints all\n", s->n_cells - n, s->n_cells - n == 1 ? "" : "s");
}

/*
 * The undecided cells whose budget ended first: their number, that budget, and one that permits all runs of each, in whole 10 s;
 * 0: not known. n_hopeless: those that no number of runs of whole processes decides; n_waiting: the same, until the base is
 * interleaved, too.
 */
struct budget {
	int n, n_undecided, n_hopeless, n_waiting;
	double now_s, enough_s;
};

/* The budget in seconds that a reason of job/cell.c names; NAN: it did not end first. */
static double budget_in(const char *reason)
{
	static const char begin[] = "; the base's budget of ";
	const char *at = strstr(reason, begin);
	char *end;
	double budget_s = at ? strtod(at + sizeof begin - 1, &end) : NAN;
	return at && strncmp(end, " s ended first", 14) == 0 ? budget_s : NAN;
}

/* `of`: only the cells of that comparison; NULL: all. */
static struct budget find_budget(const struct summary *s, const json_t *of)
{
	struct budget b = { 0 };
	for (int i = 0; i < s->n_cells; i++) {
		const struct shown *one = &s->cell[i];
		double budget_s = budget_in(value_text(one->cell, "reason"));
		const json_t *rule = json_object_get(one->comparison, "rule");
		long long runs = value_integer(one->cell, "runs"), most = value_integer(rule, "runs_max");
		bool is_hopeless = strstr(value_text(one->cell, "reason"), VERDICT_INTERLEAVE) != NULL;
		bool waits = strstr(value_text(one->cell, "reason"), VERDICT_BASE_WHOLE) != NULL;
		if (of && one->comparison != of)
			continue;
		b.n_undecided += one->verdict == VERDICT_UNDECIDED;
		b.n_hopeless += one->verdict == VERDICT_UNDECIDED && is_hopeless;
		b.n_waiting += one->verdict == VERDICT_UNDECIDED && waits;
		if (one->verdict != VERDICT_UNDECIDED || isnan(budget_s))
			continue;
		b.n++;
		b.now_s = fmax(b.now_s, budget_s);
		if (json_is_true(json_object_get(rule, "confirm")) && !json_is_true(json_object_get(rule, "programs")))
			most *= 2; /* two sets of runs */
		if (runs > 0 && most > runs)
			b.enough_s = fmax(b.enough_s, 10 * ceil(budget_s * (double)most / (double)runs / 10));
	}
	return b;
}

/* A line about all cells of each suite whose budget ended first. */
static void print_budget(const struct summary *s)
{
	bool has_several = json_array_size(s->comparisons) > 1;
	const json_t *comparison;
	size_t i;
	json_array_foreach(s->comparisons, i, comparison)
	{
		struct budget b = find_budget(s, comparison);
		const char *suite = value_text(comparison, "suite");
		if (b.n == 0)
			continue;
		printf("%d cell%s%s%s need%s more time than budget_s: %.0f; ", b.n, b.n == 1 ? "" : "s",
			has_several ? " of " : "", has_several ? suite : "", b.n == 1 ? "s" : "", b.now_s);
		if (b.enough_s > 0)
			printf("%.0f permits all their runs", b.enough_s);
		else
			fputs("raise it", stdout);
		puts("; the value of the base commit applies");
	}
}

/* Why the shown cells have no clear result, or that their host time grew: each text once, with the first cell. */
static void print_reasons(const struct summary *s)
{
	char reported[CELLS_SHOWN][400];
	int n = 0, n_budget = 0;
	for (int i = 0; i < s->n_cells && i < CELLS_SHOWN; i++) {
		const json_t *cell = s->cell[i].cell;
		char text[400];
		bool is_new = true;
		if (s->cell[i].verdict == VERDICT_UNDECIDED)
			footnotes_undecided(cell, text, sizeof text);
		else if (is_obstacle(s->cell[i].verdict))
			snprintf(text, sizeof text, "%s", value_text(cell, "reason"));
		else
			footnotes_host_time(cell, text);
		for (int k = 0; k < n; k++)
			is_new = is_new && strcmp(reported[k], text) != 0;
		if (!isnan(budget_in(text)) && n_budget++ > 0)
			continue; /* print_budget counts them */
		if (!*text || !is_new)
			continue;
		snprintf(reported[n++], sizeof reported[0], "%s", text);
		plain_line(stdout, "%s: %s", value_text(cell, "cell"), text);
	}
}

static const char *evidence_of(const json_t *cell)
{
	const json_t *flags = json_object_get(cell, "flags"), *flag;
	size_t i;
	json_array_foreach(flags, i, flag)
	{
		if (strcmp(json_string_value(flag), "overwhelming") == 0)
			return "chance produces this less than once in a million";
	}
	return json_is_true(json_object_get(cell, "confirmed")) ? "confirmed twice" : "seen in one set of runs";
}

/* The bound of the worst slowdown: the smallest slowdown that the interval of the deciding series allows. */
static void print_certainty(const struct summary *s)
{
	const struct shown *worst = s->cell;
	if (s->n_cells == 0 || worst->verdict != VERDICT_REGRESSION || s->finding.is_quick)
		return;
	double bound = value_number(deciding(worst->cell), "ci_high_pct");
	long long runs = value_integer(worst->cell, "runs"), all = value_integer(s->worst, "runs");
	char of[32] = ""; /* a cell that is decided early is not in the later runs */
	if (all > runs)
		snprintf(of, sizeof of, " of %lld", all);
	if (!isnan(bound))
		printf("%s: worst cell at least %.2f %% slower, threshold %.4g %% (%lld%s run%s)\n", evidence_of(worst->cell),
			-bound, value_number(worst->cell, "threshold_pct"), runs, of, (all > runs ? all : runs) == 1 ? "" : "s");
}

/* Own: the reference; NULL none. */
static json_t *find_profile(struct client *c, long long comparison)
{
	const struct member query[] = { { "comparison", .number = comparison }, { "limit", .number = 1 }, { 0 } };
	struct fw_err err = { 0 };
	json_t *answer = NULL, *found = NULL;
	if (client_get_query(c, "/api/v1/profiles", query, &answer, &err) == 0)
		found = json_incref(json_array_get(json_object_get(answer, "items"), 0));
	verb_warn_unknown("the profile is", &err);
	json_decref(answer);
	return found;
}

bool summary_unprofiled(const json_t *comparison, char out[SUMMARY_WHY_SIZE])
{
	const json_t *first = json_array_get(json_object_get(comparison, "cells"), 0);
	bool is_program = first && value_is_program(first);
	const char *base = value_text(json_object_get(comparison, "base"), "commit"),
		   *target = value_text(json_object_get(comparison, "target"), "commit");
	bool has_one = *base && strcmp(base, target) == 0;
	if (has_one && value_verdict(comparison) == VERDICT_FAILED)
		snprintf(out, SUMMARY_WHY_SIZE, "the commit fails by itself; flopwatch log J%lld has its output",
			value_integer(comparison, "job"));
	else if (has_one)
		snprintf(out, SUMMARY_WHY_SIZE, "both sides are one commit, so no change of the sources is the cause");
	else if (is_program && *value_text(comparison, "unprofiled"))
		snprintf(out, SUMMARY_WHY_SIZE, "%s", value_text(comparison, "unprofiled"));
	else if (is_program) /* a comparison of an earlier version, or an import */
		snprintf(out, SUMMARY_WHY_SIZE, "not known: no profile of a benchmark program was made; see git diff %.12s %.12s",
			base, target);
	else
		snprintf(out, SUMMARY_WHY_SIZE, "not known: no profile was made");
	return is_program;
}

/* Find the cause of a regression, and print it. */
static void print_why(struct summary *s)
{
	json_t *profile = NULL;
	const json_t *why = json_object_get(s->alert, "why");
	char text[SUMMARY_WHY_SIZE];
	if (s->finding.regressions == 0 || s->is_variant_only)
		return;
	if (!json_is_object(why))
		why = profile = find_profile(s->c, value_integer(s->worst, "id"));
	s->has_profile = *value_text(why, "answer");
	summary_unprofiled(s->worst, text);
	plain_line(stdout, "why: %s", s->has_profile ? value_text(why, "answer") : text);
	json_decref(profile);
}

static void print_numbers(const struct summary *s)
{
	const json_t *one = s->worst;
	double gpu_s = value_number(one, "gpu_s");
	bool alone = json_array_size(s->comparisons) == 1;
	if (s->alert) {
		bool is_missing = alert_is_missing(s->alert); /* not about the slowdowns above */
		printf("A%lld %s%s", value_integer(s->alert, "id"), value_text(s->alert, "state"),
			is_missing ? ": "
			: alone    ? "  "
				   : "\n");
		if (is_missing)
			plain_line(stdout, "%s", value_text(s->alert, "title"));
	}
	if (alone)
		plain_line(stdout, "C%lld  J%lld  %s  %s  %.12s..%.12s  %lld run%s, device held %.1f s", value_integer(one, "id"),
			value_integer(one, "job"), value_text(one, "repo"), value_text(one, "suite"),
			value_text(json_object_get(one, "base"), "commit"), value_text(json_object_get(one, "target"), "commit"),
			value_integer(one, "runs"), value_integer(one, "runs") == 1 ? "" : "s", isnan(gpu_s) ? 0 : gpu_s);
}

/* A slowdown of an older push, which the verdict of this one does not report. */
static void print_older(const struct summary *s)
{
	char text[FINDING_SIZE];
	if (!s->older)
		return;
	alert_finding(s->older, text);
	plain_line(stdout, "A%lld is %s: %s since %.10s", value_integer(s->older, "id"), value_text(s->older, "state"), text,
		value_text(s->older, "target"));
}

/* ---- the summary --------------------------------------------------------------------------------------------------------- */

void summary_begin(struct client *c, const struct options *o, const json_t *verdict, const json_t *comparisons)
{
	struct summary s = { .c = c, .verdict = verdict, .comparisons = comparisons };
	char text[FINDING_SIZE];
	size_t i;
	json_t *comparison;
	take_comparisons(&s);
	finding_text(&s.finding, text);
	plain_line(stdout, "%s", text);
	if (!o->is_long) {
		print_cells(&s);
		print_reasons(&s);
		print_budget(&s);
		print_certainty(&s);
		json_array_foreach(comparisons, i, comparison)
			report_notes(comparison, report_is_base_known(comparisons, i), stdout);
	}
	free(s.cell);
}

void summary_finding(const json_t *comparison, char out[FINDING_SIZE])
{
	json_t *list = json_pack("[O]", comparison);
	struct summary s = { .verdict = comparison, .comparisons = list };
	take_comparisons(&s);
	finding_text(&s.finding, out);
	free(s.cell);
	json_decref(list);
}

/* One command that follows from the finding. */
static void print_next(const struct summary *s)
{
	const struct finding *f = &s->finding;
	long long id = value_integer(s->worst, "id"), job = value_integer(s->worst, "job");
	int n_lost = f->regressions - f->accepted;
	bool is_kernel = s->n_cells && !value_is_program(s->cell[0].cell);
	struct budget budget = find_budget(s, NULL);
	bool is_budget = budget.n > 0 && budget.n == budget.n_undecided; /* a retry would end in the same way */
	if (s->alert && (!s->has_profile || alert_is_missing(s->alert))) {
		alert_print_step(s->alert);
		return;
	}
	if (!s->alert && !f->is_quick && f->failed == 0 && n_lost == 0 && !s->is_variant_only && is_budget) {
		fputs("next: push a larger budget_s to the upstream branch, and start from there\n", stdout);
		return;
	}
	if (!s->alert && !f->is_quick && f->failed == 0 && n_lost == 0 && !s->is_variant_only && budget.n_hopeless > 0 &&
		budget.n_hopeless + budget.n == budget.n_undecided) {
		fputs("next: interleave the program: doc/howto/add-a-repository.md#an-interleaved-program; measured again as it is, "
		      "it would end in the same way\n",
			stdout);
		return;
	}
	if (!s->alert && !f->is_quick && f->failed == 0 && f->regressions == 0 && !s->is_variant_only && budget.n_waiting > 0 &&
		budget.n_waiting + budget.n == budget.n_undecided) {
		fputs("next: merge it: once the base is interleaved, too, calls are paired, which decides more\n", stdout);
		return;
	}
	fputs("next: flopwatch ", stdout);
	if (s->alert)
		printf("why A%lld\n", value_integer(s->alert, "id"));
	else if (f->is_quick)
		plain_line(stdout, "compare %.64s %.64s", value_text(json_object_get(s->worst, "base"), "commit"),
			value_text(json_object_get(s->worst, "target"), "commit"));
	else if (f->failed > 0)
		printf("log J%lld\n", job);
	else if (n_lost > 0 && is_kernel)
		printf("reproduce C%lld\n", id);
	else if (f->undecided > 0 && f->verdict <= VERDICT_UNDECIDED && !s->is_variant_only)
		printf("retry J%lld\n", job); /* not of a new benchmark, whose noise does not count */
	else if (s->older)
		printf("why A%lld\n", value_integer(s->older, "id"));
	else
		printf("open C%lld\n", id);
}

void summary_end(struct client *c, const struct options *o, const json_t *verdict, const json_t *comparisons)
{
	struct summary s = { .c = c, .verdict = verdict, .comparisons = comparisons };
	take_comparisons(&s);
	if (c && !s.is_variant_only && !s.finding.is_quick) {
		s.alerts = alert_live(c, value_text(verdict, "repo"));
		find_alerts(&s);
	}
	print_why(&s);
	if (!o->is_long || s.alert)
		print_numbers(&s);
	print_older(&s);
	print_next(&s);
	json_decref(s.alerts);
	free(s.cell);
}
