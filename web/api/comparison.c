/* comparison.c - comparisons: lists, stored bodies, CSV tables; and the compared commits. */

#include "web/api/internal.h"

#include <math.h>

/* ---- lists --------------------------------------------------------------------------------------------------------- */

static void list_row(void *arg, const struct view_comparison *row)
{
	struct answer_list *list = arg;
	if (answer_list_take(list, row->id, row->finished_at, NULL))
		comparison_row_write(&list->j, row);
}

int api_comparisons(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct answer_list list;
	char branch[BRANCH_KEY_MAX];
	struct view_filter filter = { .repo = http_query(r, "repo"), .branch = scope_branch(r, branch) };
	if (answer_choice(r, "verdict", ANSWER_VERDICTS, &filter.verdict, err) != 0 ||
		answer_list_begin(site->db, r, response, &list, &filter.before, err) != 0 ||
		answer_list_seek(site->db, &list, VIEW_LIST_COMPARISONS, &filter.before, err) != 0)
		return -1;
	int result;
	do {
		filter.limit = list.rows;
		result = view_comparisons(site->db, &filter, list_row, &list, err);
	} while (result == 0 && answer_list_more(&list, &filter.before));
	return answer_list_end(r, response, &list, result);
}

/* ---- comparison ---------------------------------------------------------------------------------------------------- */

enum { VERSION_MIN = 10 }; /* digits of a body's hash in ?v= */

/* Read the stored body; if the client has it, only its size, without decompression. */
static int read_body(
	struct db *db, struct http_request *r, struct http_response *response, int64_t id, char etag[65], struct fw_err *err)
{
	size_t len = 0;
	bool has_tag = http_header(r, "If-None-Match") != NULL;
	int result = has_tag ? view_body_tag(db, id, &len, etag, err) : view_body(db, id, &response->body, etag, err);
	if (result != 0)
		return -1;
	snprintf(response->etag, sizeof response->etag, "\"%s\"", etag);
	if (!has_tag)
		return 0;
	if (!http_knows(r, response->etag))
		return view_body(db, id, &response->body, etag, err);
	response->spared = len;
	return 0;
}

static int send_body(struct site *site, struct http_request *r, struct http_response *response, int64_t id, struct fw_err *err)
{
	char etag[65];
	if (read_body(site->db, r, response, id, etag, err) != 0)
		return -1;
	response->type = "application/json; charset=utf-8";
	/* a verdict may be computed again from stored samples, so only an address with the hash of the body is immutable */
	const char *version = http_query(r, "v");
	if (version && strlen(version) >= VERSION_MIN && strncmp(etag, version, strlen(version)) == 0)
		response->cache = "private, max-age=31536000, immutable";
	return 0;
}

int api_comparison(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	enum answer_format format = answer_format_wanted(r);
	if (format != ANSWER_JSON)
		return (format == ANSWER_CSV ? api_comparison_csv : api_comparison_md)(site, r, response, err);
	int64_t id = answer_path_id(r, "comparison", err);
	return id < 0 ? -1 : send_body(site, r, response, id, err);
}

/* Find the full hash for ?base= or ?target=. Shape: sha[65]. */
static int find_side(struct db *db, int64_t repo_id, const char *repo, const char *text, char *sha, struct fw_err *err)
{
	struct answer_commit found;
	if (answer_find_commit(db, repo_id, repo, text, &found, err) != 0)
		return -1;
	if (found.n > 1)
		return err_set(
			err, ERR_INVALID, "%d branches or commits of %s match %s: add more characters", found.n, repo, text);
	snprintf(sha, 65, "%s", found.n ? found.sha : text);
	return found.n || oid_is_whole(text)
		       ? 0
		       : err_set(err, ERR_NOT_FOUND, "no branch or commit of %s matches %s: push it first", repo, text);
}

int api_compare(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *repo = http_query(r, "repo"), *base = http_query(r, "base"), *target = http_query(r, "target");
	char base_sha[65], target_sha[65];
	int64_t id, repo_id;
	if (!repo || !base || !target)
		return err_set(err, ERR_INVALID, "repo, base and target are required, base and target as branches or commits");
	if (view_repo_id(site->db, repo, &repo_id, err) != 0 || find_side(site->db, repo_id, repo, base, base_sha, err) != 0 ||
		find_side(site->db, repo_id, repo, target, target_sha, err) != 0 ||
		view_compare(site->db, repo, base_sha, target_sha, http_query(r, "suite"), &id, err) != 0)
		return -1;
	return send_body(site, r, response, id, err);
}

/* ---- CSV ----------------------------------------------------------------------------------------------------------- */

/* A CSV table that is being written; `c` has the peers of the cells. */
struct csv_output {
	struct buf *out;
	const struct comparison *c;
	int n, n_peers;
	const char *peer[COMPARISON_PEERS_MAX];
};

/* Write four columns for each peer. */
static void csv_peers(struct csv_output *t, int n)
{
	for (int i = 0; i < t->n_peers; i++) {
		const struct comparison_peer *peer = n < t->c->n_cells ? comparison_peer(&t->c->cell[n], t->peer[i]) : NULL;
		csv_number(t->out, peer ? peer->target_pct : NAN);
		csv_number(t->out, peer ? peer->ci_low_pct : NAN);
		csv_number(t->out, peer ? peer->ci_high_pct : NAN);
		csv_format(t->out, ",%s", peer ? peer->basis : "");
	}
}

static void csv_row(void *arg, const struct store_cell *row)
{
	struct csv_output *t = arg;
	struct buf *out = t->out;
	char words[EXPLAIN_SIZE];
	csv_format(out, "%s,%s", row->key, verdict_name(row->verdict));
	csv_number(out, row->base_median_ms);
	csv_number(out, row->target_median_ms);
	csv_number(out, view_tflops(row->flops, row->base_median_ms));
	csv_number(out, view_tflops(row->flops, row->target_median_ms));
	csv_number(out, row->change_pct);
	csv_number(out, row->ci_low_pct);
	csv_number(out, row->ci_high_pct);
	csv_number(out, row->mde_pct);
	csv_format(out, ",%.6g,%d,%d,%d,%d,%s,%s,%s,%s", row->threshold_pct, row->runs, row->samples,
		(row->flags & FLAG_BORDERLINE) != 0, (row->flags & FLAG_TAIL) != 0, row->failure, row->reason,
		t->n < t->c->n_cells ? t->c->cell[t->n].base_config : "",
		t->n < t->c->n_cells ? t->c->cell[t->n].target_config : "");
	double code_pct = isfinite(row->m_code) ? stats_change_pct(row->m_code) : NAN;
	csv_number(out, code_pct);
	csv_number(out, row->change_pct - code_pct);
	csv_format(out, ",%s", decider_name(row->decider));
	csv_number(out, isfinite(row->mean.m) ? stats_change_pct(row->mean.m) : NAN);
	buf_putc(out, ',');
	explain_slow_calls(row->mean.share, row->mean.longer, words);
	csv_text(out, words);
	csv_peers(t, t->n++);
	buf_puts(out, "\r\n");
}

static void csv_head(struct csv_output *t)
{
	static const char *const columns[] = { "pct", "ci_low_pct", "ci_high_pct", "basis" };
	buf_puts(t->out, "cell,verdict,base_median_ms,target_median_ms,base_tflops,target_tflops,change_pct,ci_low_pct,"
			 "ci_high_pct,mde_pct,threshold_pct,runs,samples,borderline,tail,failure,reason,base_configuration,"
			 "target_configuration,code_pct,clock_pct,decided_by,mean_pct,slow_calls");
	for (int i = 0; i < t->n_peers; i++)
		for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
			buf_puts(t->out, ",of_"); /* provider names need no quotes in CSV */
			buf_puts(t->out, t->peer[i]);
			buf_putc(t->out, '_');
			buf_puts(t->out, columns[k]);
		}
	buf_puts(t->out, "\r\n");
}

int api_comparison_csv(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct comparison c;
	struct csv_output t = { .out = &response->body, .c = &c };
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0)
		return -1;
	response->type = "text/csv; charset=utf-8; header=present";
	int result = comparison_read(site->db, id, NULL, &c, err);
	if (result == 0) {
		t.n_peers = comparison_peers(&c, t.peer);
		csv_head(&t);
		result = view_cells(site->db, id, csv_row, &t, err);
	}
	comparison_free(&c);
	return result;
}

/* ---- commits ------------------------------------------------------------------------------------------------------- */

enum { COMMITS_MAX = 20 };

struct commit_reading {
	struct jsonw *j;
	int n;
	int64_t repo_id;
	char sha[66], repo[128];
};

static void commit_row(void *arg, const struct view_commit *row)
{
	struct commit_reading *reading = arg;
	struct jsonw *j = reading->j;
	reading->n++;
	snprintf(reading->sha, sizeof reading->sha, "%s", row->sha);
	snprintf(reading->repo, sizeof reading->repo, "%s", row->repo);
	reading->repo_id = row->repo_id;
	jsonw_format(j, "{ repo=%s sha=%s tree=%s first_parent?=%s author=%s subject=%s committed_at=%lld{time} }", row->repo,
		row->sha, row->tree, row->first_parent, row->author, row->subject, (long long)row->committed_at);
}

static int write_verdict(struct site *site, struct jsonw *j, const struct commit_reading *reading, struct fw_err *err)
{
	struct commit_verdict v;
	int result = store_commit_verdict(site->db, reading->repo_id, reading->sha, NULL, &v, err);
	commit_verdict_write(j, reading->repo, reading->sha, "", &v);
	commit_verdict_fini(&v);
	return result;
}

/* Answer {"commits":[all with the prefix],"verdict":{if there is only one},"comparisons":[of that one]}. */
int api_commit(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	struct commit_reading reading = { .j = &j };
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_array(&j, "commits");
	int result = view_commits(site->db, http_segment(r, 0), COMMITS_MAX, commit_row, &reading, err);
	jsonw_array_end(&j);
	if (result == 0 && reading.n == 0)
		result = err_set(err, ERR_NOT_FOUND, "no commit of a watched repository begins with these digits");
	jsonw_key(&j, "verdict");
	if (result == 0 && reading.n == 1)
		result = write_verdict(site, &j, &reading, err);
	else
		jsonw_null(&j);
	jsonw_kv_array(&j, "comparisons");
	if (result == 0 && reading.n == 1) {
		struct view_filter filter = { .repo = reading.repo, .target = reading.sha, .limit = VIEW_LIMIT_DEFAULT };
		result = view_comparisons(site->db, &filter, comparison_row_write, &j, err);
	}
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	return result;
}

int api_comparison_judge(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	bool changed;
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0 || site->act->judge(site->control, id, &changed, err) != 0)
		return -1;
	return answer_with(response, "id=%lld changed=%i", (long long)id, changed);
}
