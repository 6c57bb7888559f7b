/* Any two commits by branch or abbreviated hash: their comparison, or a button that requests one; a form for two files. */
#include "web/page/internal.h"

enum { OFFERED_MAX = 200 };

/* The user's input for one side, and the commit that it names. */
struct side {
	const char *label, *field, *requested;
	struct answer_commit found;
};

/* ---- form ---------------------------------------------------------------------------------------------------------- */

static void offer(void *arg, const char *name, const char *display, const char *subject)
{
	(void)name;
	layout_option(arg, display, subject, NULL);
}

static int form(struct db *db, struct buf *out, const char *repo, int64_t id, const struct side *side, struct fw_err *err)
{
	emit_raw(out, "<form class=filter action=/compare>");
	int result = picker_repo(out, db, repo, false, err);
	for (int i = 0; i < 2; i++)
		emit_format(out,
			"<label class=grow>%-s "
			"<input type=search name=%-s list=refs placeholder=\"branch or commit\" value=\"%s\"></label>",
			side[i].label, side[i].field, side[i].requested);
	emit_raw(out, "<button>Compare</button><datalist id=refs>");
	if (result == 0 && id)
		result = view_branch_names(db, id, OFFERED_MAX, offer, out, err);
	emit_raw(out, "</datalist></form>\n");
	return result;
}

/* ---- existing results ---------------------------------------------------------------------------------------------- */

static void report_unknown(struct buf *out, const struct side *s)
{
	emit_rawf(out, "<p class=\"banner warn\">%s: ", s->label);
	if (s->found.n > 1)
		emit_rawf(out, "%d commits or branches match ", s->found.n);
	else
		emit_raw(out, "no branch or commit matches ");
	emit_format(out, "<b>%s%-s", s->requested,
		s->found.n > 1 ? "</b>; add more characters.</p>\n"
			       : "</b>; a commit needs at least four digits and must have been pushed.</p>\n");
}

static void hidden(struct buf *out, const char *name, const char *value)
{
	emit_format(out, "<input type=hidden name=%-s value=\"%s\">", name, value);
}

/* ---- cost ---------------------------------------------------------------------------------------------------------- */

enum { RECENT = 20 };

struct recent_cost {
	float gpu_s[RECENT];
	int n, ahead;
};

static void take_cost(void *arg, const struct view_comparison *row)
{
	struct recent_cost *cost = arg;
	if (row->kind == JOBKIND_COMPARE && row->gpu_s > 0 && cost->n < RECENT)
		cost->gpu_s[cost->n++] = (float)row->gpu_s;
}

static void count_ahead(void *arg, const struct view_job *row)
{
	(void)row;
	((struct recent_cost *)arg)->ahead++;
}

/* Draw the usual device time of the repository's comparisons, and the number of queued and running jobs. */
static int draw_cost(struct db *db, struct buf *out, const char *repo, struct fw_err *err)
{
	const struct view_filter recent = { .repo = repo, .limit = RECENT };
	struct recent_cost cost = { .n = 0 };
	if (view_comparisons(db, &recent, take_cost, &cost, err) != 0 ||
		view_running(db, VIEW_ROWS_MAX, count_ahead, &cost, err) != 0 ||
		view_waiting(db, VIEW_ROWS_MAX, count_ahead, &cost, err) != 0)
		return -1;
	emit_raw(out, "<p id=cost>Cost: ");
	if (cost.n)
		emit_format(out, "about %f{duration} of a device, the median of the last %d comparisons here",
			stats_median(cost.gpu_s, cost.n), cost.n);
	else
		emit_raw(out, "not known, no comparison of this repository has used a device yet");
	emit_rawf(out, "; %d job%s ahead.</p>", cost.ahead, cost.ahead == 1 ? "" : "s");
	return 0;
}

static int offer_to_measure(struct db *db, struct buf *out, const char *repo, const struct side *side, struct fw_err *err)
{
	emit_raw(out, "<section class=card id=measure><h2>These two were not compared yet</h2><dl class=facts>");
	for (int i = 0; i < 2; i++)
		emit_format(out, "<dt>%-s</dt><dd>%s{commit} %s</dd>", side[i].label, side[i].found.sha, side[i].found.subject);
	emit_raw(out, "</dl><form method=post action=/api/v1/jobs>");
	hidden(out, "repo", repo);
	hidden(out, "base", side[0].found.sha);
	hidden(out, "target", side[1].found.sha);
	emit_raw(out,
		"<p class=row><label><input type=checkbox name=quick> quick: fewer runs, sets no commit status and opens no alert</label>"
		"<label>Cells <input name=cells placeholder=\"all, or a pattern: *backward\" maxlength=1000></label></p>");
	int result = draw_cost(db, out, repo, err);
	emit_raw(out, "<p><button>Measure them</button></p></form></section>\n");
	return result;
}

/* Redirect to the comparison of the two commits if there is one, else draw the page. */
static int answer(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct buf *out = &response->body;
	struct side side[2] = { { .label = "Base", .field = "base" }, { .label = "Target", .field = "target" } };
	struct scope scope;
	struct fw_err why = { 0 };
	const char *repo = scope.repo;
	int64_t id = 0, comparison;
	bool requested = true, known = true;
	if (scope_offer(site, r, &scope, err) != 0 || (*repo && view_repo_id(site->db, repo, &id, err) != 0))
		return -1;
	for (int i = 0; i < 2; i++) {
		side[i].requested = http_query(r, side[i].field) ? http_query(r, side[i].field) : "";
		if (id && answer_find_commit(site->db, id, repo, side[i].requested, &side[i].found, err) != 0)
			return -1;
		requested &= *side[i].requested != '\0';
		known &= side[i].found.n == 1;
	}
	if (requested && known &&
		view_compare(site->db, repo, side[0].found.sha, side[1].found.sha, NULL, &comparison, &why) == 0) {
		snprintf(response->location, sizeof response->location, "/comparisons/%lld", (long long)comparison);
		response->status = 303;
		return 0;
	}
	if (why.code && why.code != ERR_NOT_FOUND)
		return err_set(err, why.code, "%s", why.text);
	layout_begin(response, "Compare", "comparisons", NULL);
	if (form(site->db, out, repo, id, side, err) != 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (*side[i].requested && side[i].found.n != 1)
			report_unknown(out, &side[i]);
	int result = requested && known ? offer_to_measure(site->db, out, repo, side, err) : 0;
	compare_files_form(out);
	return layout_end(response, NULL, result);
}

int page_compare(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return answer(site, r, response, err);
}
