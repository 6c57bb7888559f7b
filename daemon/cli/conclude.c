/* conclude.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

#include "model/model.h"

/* Combined result of the comparisons. */
struct sum {
	struct client *c;
	const struct options *o;
	json_t *comparisons; /* bodies */
	bool lost;           /* a cell regressed, other than against a peer */
	bool beside_peers;   /* all of them are against peers, so that no alert exists */
	int peer_status;     /* being slower than a peer is not an alert; a peer without comparable cells gives no result */
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

/* The body contains the measurements; the acceptance, and the user who accepted, are added to it. */
static void print_accepted_json(const json_t *comparison, const json_t *suite, const json_t *accepted)
{
	json_t *all = json_copy((json_t *)comparison);
	json_object_set(all, "commit_verdict", json_object_get(suite, "verdict"));
	json_object_set(all, "accepted", (json_t *)accepted);
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
		bool beside_peer = jobkind_is_side_by_side(kind) && kind != JOBKIND_ENVIRONMENT;
		if (s->o->json && alone && json_is_object(accepted))
			print_accepted_json(value, suite, accepted);
		else if (s->o->json && alone)
			printf("%s\n", body.data);
		if (!beside_peer)
			s->lost = s->lost || value_integer(value, "regressions") > n_accepted ||
				  (verdict == VERDICT_REGRESSION && !n_accepted);
		else if (verdict == VERDICT_FAILED || !has_pair(value))
			s->peer_status = verb_status_of_verdict(verdict);
		s->beside_peers = s->beside_peers && beside_peer;
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

int conclude(struct client *c, const struct options *o, const json_t *verdict, struct fw_err *err)
{
	const json_t *suites = json_object_get(verdict, "suites");
	const json_t *accepted = json_object_get(verdict, "accepted");
	bool alone = json_array_size(suites) == 1;
	struct sum s = { .c = c, .o = o, .comparisons = json_array(), .beside_peers = true };
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
	} else if (result == 0 && !alone && o->json) {
		json_t *all = json_copy((json_t *)verdict);
		json_object_set(all, "comparisons", s.comparisons);
		verb_print_json(all);
		json_decref(all);
	} else if (result == 0 && !o->json) {
		print_all(&s, verdict, alone);
	}
	json_decref(s.comparisons);
	if (result != 0)
		return -1;
	if (s.beside_peers)
		return s.peer_status;
	return s.lost ? EXIT_REGRESSION : verb_status_of_verdict(value_verdict(verdict));
}
