/* trend_alert.c - cells and title of a history alert, and when they are rewritten. */
#include "flopwatchd/history/internal.h"

#include <stdio.h>

#include "db/db.h"
#include "flopwatchd/alert/alert.h"
#include "lib/lib.h"
#include "stats/stats.h"

enum { MESSAGE_MAX = 1 << 16 };

#define ROUNDING_PCT 0.005 /* the stored text of an alert has rounded figures */

static int write_cell(const struct store_change *c, const char *suite, struct buf *out, struct fw_err *err)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_array(&j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "cell", c->key);
	jsonw_kv_string(&j, "suite", suite);
	jsonw_kv_double(&j, "change_pct", stats_change_pct(c->step));
	jsonw_kv_bool(&j, "borderline", false);
	jsonw_object_end(&j);
	jsonw_array_end(&j);
	return out->failed ? err_set(err, ERR_FULL, "the alert's cell does not fit") : 0;
}

static bool is_same_range(const struct store_alert_said *said, const struct trend_range *range)
{
	return strcmp(said->from, range->from) == 0 && strcmp(said->to, range->to) == 0 && said->commits == range->commits &&
	       said->skipped == range->unmeasured &&
	       !(fabs(said->range_pct - range->change_pct) >= ROUNDING_PCT); /* NAN: other cells lost in the range as well */
}

/** True if the alert holds this loss and range already, or has no space for the cell. */
static bool is_reported(const struct store_change *c, const struct store_alert_said *said, const struct trend_range *range)
{
	if (c->alert != said->id)
		return false;
	if (isnan(said->change_pct))
		return said->is_full;
	return fabs(said->change_pct - stats_change_pct(c->step)) < ROUNDING_PCT && is_same_range(said, range);
}

/** The worst cell gives the title; a cell without a range replaces one with a range only after further loss. */
static bool keeps_title(const struct store_change *c, const struct store_alert_said *said, const struct trend_range *range)
{
	double pct = stats_change_pct(c->step);
	bool has_grown = pct < said->change_pct - ROUNDING_PCT;
	return said->others_pct < pct - ROUNDING_PCT || (said->to[0] && !range->to[0] && !has_grown);
}

int trend_alert(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	bool is_drift = strcmp(c->kind, "drift") == 0, is_new;
	struct store_alert a = { .repo = c->repo,
		.comparison = c->comparison,
		.kind = is_drift ? ALERTKIND_DRIFT : ALERTKIND_REGRESSION,
		.worst_pct = stats_change_pct(c->step) };
	struct store_baseline_period baseline_period;
	struct trend_range range;
	struct store_alert_said said;
	char title[256];
	struct buf cells, culprits;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", c->commit_sha);
	/* drift of several cells is one alert, at the commit of the first */
	if (is_drift && trend_name_open_drift(t, c, a.target_sha, err) < 0)
		return -1;
	if (store_baseline_period_get(t->db, c->baseline_period, &baseline_period, err) || trend_range(t, c, &range, err))
		return -1;
	int64_t accepted = 0;
	char upstream[sizeof a.branch];
	if (!is_drift && (store_repo_upstream_branch(t->db, c->repo, upstream, err) ||
				 store_accepted_step(
					 t->db, c->repo, upstream, c->commit_sha, baseline_period.suite, c->key, &accepted, err)))
		return -1;
	if (accepted) { /* a user already accepted this step, on whichever branch */
		c->alert = accepted;
		return store_change_update(t->db, c, err);
	}
	int is_open = store_alert_said(t->db, &a, baseline_period.suite, c->key, &said, err);
	if (is_open < 0 || (is_open && is_reported(c, &said, &range)))
		return is_open < 0 ? -1 : 0;
	buf_init(&cells, MESSAGE_MAX);
	buf_init(&culprits, MESSAGE_MAX);
	int result = write_cell(c, baseline_period.suite, &cells, err) ||
				     store_repo_upstream_branch(t->db, c->repo, a.branch, err) ||
				     trend_name(t, c, &range, &culprits, err)
			     ? -1
			     : 0;
	trend_title(c, &range, title, sizeof title);
	a.title = is_open && keeps_title(c, &said, &range) ? "" : title;
	a.cells_json = cells.data;
	a.culprits_json = culprits.data;
	if (result == 0)
		result = alert_open(t->db, t->config, &a, t->now_ms, &is_new, err);
	buf_fini(&cells);
	buf_fini(&culprits);
	c->alert = a.id;
	return result ? -1 : store_change_update(t->db, c, err);
}
