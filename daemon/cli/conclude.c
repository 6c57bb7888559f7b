/* conclude.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

/* Combined result of the comparisons. */
struct sum {
	struct client *c;
	const struct options *o;
	json_t *comparisons;  /* bodies */
	bool lost;            /* a cell regressed, other than against a peer */
	bool only_with_peers; /* all of them are against peers, so that no alert exists */
	int peer_status;      /* being slower than a peer is not an alert; a peer without comparable cells gives no result */
};

/* Whether any cell was compared. */
static bool has_pair(const json_t *comparison)
{
	size_t i;
	json_t *cell;
	json_array_foreach(json_object_get(comparison, "cells"), i, cell)
	{
		enum verdict verdict = value_verdict(cell);
		if (!verdict_is_absence(verdict) && verdict != VERDICT_NOT_COMPARABLE && verdict != VERDICT_REJECTED)
			return true;
	}
	return false;
}

/* Whether --json prints more than the body of the only comparison. */
static bool adds_to_json(const struct options *o, const json_t *accepted, bool alone)
{
	return !alone || o->export || json_is_object(accepted);
}

/*
 * The body of the only comparison, or the verdict with those of several; the acceptance, and the user who accepted, are added to
 * the former. `files`: of --export, NULL: none.
 */
static void print_json(const struct sum *s, const json_t *verdict, bool alone, json_t *files)
{
	json_t *accepted = json_object_get(verdict, "accepted");
	json_t *all = json_copy(alone ? json_array_get(s->comparisons, 0) : (json_t *)verdict);
	if (!alone)
		json_object_set(all, "comparisons", s->comparisons);
	if (alone && json_is_object(accepted)) {
		json_object_set(
			all, "commit_verdict", json_object_get(json_array_get(json_object_get(verdict, "suites"), 0), "verdict"));
		json_object_set(all, "accepted", accepted);
	}
	if (files)
		json_object_set(all, "files", files);
	verb_print_json(all);
	json_decref(all);
}

/* Fetch a comparison and add it to the combined result. With --json a single one is printed as it is. */
static int take(struct sum *s, const json_t *suite, const json_t *accepted, bool alone, struct fw_err *err)
{
	char path[64];
	struct buf body;
	long long comparison = value_integer(suite, "comparison"), n_accepted = value_integer(suite, "accepted");
	snprintf(path, sizeof path, "/api/v1/comparisons/%lld", comparison);
	buf_init(&body, 64 << 20);
	int result = client_get_raw(s->c, path, &body, err);
	json_t *value = result == 0 ? json_loadb(body.data, body.len, 0, NULL) : NULL;
	if (result == 0 && !value)
		result = err_set(err, ERR_PROTOCOL, "the comparison is not JSON");
	if (result == 0) {
		enum verdict verdict = value_verdict(value);
		enum jobkind kind = jobkind_from_name(value_text(value, "kind"));
		bool is_with_peer = jobkind_is_side_by_side(kind) && kind != JOBKIND_ENVIRONMENT;
		if (s->o->json && !adds_to_json(s->o, accepted, alone))
			printf("%s\n", body.data);
		if (!is_with_peer)
			s->lost = s->lost || value_integer(value, "regressions") > n_accepted ||
				  (verdict == VERDICT_REGRESSION && !n_accepted);
		else if (verdict == VERDICT_FAILED || !has_pair(value))
			s->peer_status = verb_status_of_verdict(verdict);
		s->only_with_peers = s->only_with_peers && is_with_peer;
		json_array_append(s->comparisons, value);
	}
	json_decref(value);
	buf_fini(&body);
	return result;
}

/* Why a suite has no comparison. */
static void explain(const json_t *suite, bool alone, char *text, size_t size)
{
	const char *name = value_text(suite, "suite");
	snprintf(text, size, "%s%sJ%lld is %s: %s", alone ? "" : name, alone || !*name ? "" : ": ", value_integer(suite, "job"),
		value_text(suite, "state"), value_text(suite, "state_why"));
}

static void print_suite(const json_t *suite, bool first)
{
	enum verdict verdict = value_verdict(suite);
	const char *name = value_text(suite, "suite");
	double reported = value_number(suite, verdict == VERDICT_IMPROVEMENT ? "best_pct" : "worst_pct");
	printf("%s", first ? ": " : ", ");
	plain_print(stdout, *name ? name : "the plan");
	printf(" %s", verdict != VERDICT_NONE ? verdict_name(verdict) : "not measured");
	if ((verdict == VERDICT_REGRESSION || verdict == VERDICT_IMPROVEMENT) && !isnan(reported))
		printf(" %+.2f %%", reported);
}

/* One line about several suites. */
static void print_sum(const json_t *verdict)
{
	const json_t *suites = json_object_get(verdict, "suites");
	const char *word = value_text(verdict, "verdict");
	size_t i;
	json_t *suite;
	printf("commit %.12s  %zu suites  verdict: %s", value_text(verdict, "commit"), json_array_size(suites),
		*word ? word : "none");
	json_array_foreach(suites, i, suite) print_suite(suite, i == 0);
	putchar('\n');
}

/* The finding first, the next command last; with --long the tables of every comparison in between. */
static void print_all(const struct sum *s, const json_t *verdict, bool alone)
{
	const json_t *accepted = json_object_get(verdict, "accepted");
	size_t i;
	json_t *comparison;
	summary_begin(s->c, s->o, verdict, s->comparisons);
	json_array_foreach(s->comparisons, i, comparison) if (s->o->is_long) report_comparison(comparison, stdout);
	if (!alone)
		print_sum(verdict);
	if (json_is_object(accepted))
		plain_line(stdout, "A%lld was accepted by %s: %s", value_integer(accepted, "alert"), value_text(accepted, "by"),
			value_text(accepted, "reason"));
	summary_end(s->c, s->o, verdict, s->comparisons);
}

struct printed {
	const struct sum *s;
	const json_t *verdict;
	bool alone;
};

static void print_again(void *arg)
{
	const struct printed *p = arg;
	struct options all = *p->s->o;
	struct sum s = *p->s;
	all.is_long = true;
	s.o = &all;
	print_all(&s, p->verdict, p->alone);
}

/* Write the files of --export: all tables as text, and the CSV files of each comparison. `names`: as in export_to. */
static int export_all(const struct sum *s, const json_t *verdict, bool alone, json_t *names, struct fw_err *err)
{
	struct printed printed = { s, verdict, alone };
	const struct export_to to = { .dir = s->o->export, .names = names };
	size_t i;
	json_t *comparison;
	terminal_choose("never"); /* the screen has its output already */
	int result = export_output(to.dir, print_again, &printed, err);
	json_array_foreach(s->comparisons, i, comparison) if (result == 0 && export_suite(s->c, comparison, alone, &to, err) < 0)
		result = -1;
	return result;
}

int conclude(struct client *c, const struct options *o, const json_t *verdict, struct fw_err *err)
{
	const json_t *suites = json_object_get(verdict, "suites");
	const json_t *accepted = json_object_get(verdict, "accepted");
	bool alone = json_array_size(suites) == 1;
	struct sum s = { .c = c, .o = o, .comparisons = json_array(), .only_with_peers = true };
	char why[1024];
	size_t i;
	json_t *suite;
	int result = 0;
	json_array_foreach(suites, i, suite)
	{
		long long comparison = value_integer(suite, "comparison");
		if (comparison && result == 0) {
			result = take(&s, suite, accepted, alone, err);
			continue;
		}
		explain(suite, alone, why, sizeof why);
		if (!comparison && !alone)
			plain_line(stderr, "flopwatch: %s", why);
	}
	size_t n = json_array_size(s.comparisons);
	if (result == 0 && n == 0) {
		result = err_set(err, ERR_INVALID, "%s", alone ? why : "no suite was measured");
	} else if (result == 0 && !o->json) {
		print_all(&s, verdict, alone);
	}
	int status = s.lost ? EXIT_REGRESSION : verb_status_of_verdict(value_verdict(verdict));
	if (s.only_with_peers)
		status = s.peer_status;
	json_t *files = o->json && o->export ? json_array() : NULL;
	if (result == 0 && o->export && export_all(&s, verdict, alone, files, err) != 0) {
		int failed = verb_fail_here(err);
		status = status == EXIT_REGRESSION ? status : failed;
	}
	if (result == 0 && o->json && adds_to_json(o, accepted, alone))
		print_json(&s, verdict, alone, files);
	json_decref(files);
	json_decref(s.comparisons);
	return result == 0 ? status : -1;
}

bool conclude_has_ended_as(const json_t *verdict, enum jobstate state)
{
	const json_t *first = json_array_get(json_object_get(verdict, "suites"), 0);
	return jobstate_from_name(value_text(first, "state")) == state;
}
