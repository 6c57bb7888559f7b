/* peer.c - comparisons with peers: the list and the request. */

#include "web/api/internal.h"

static void peer_row(void *arg, const struct view_peer *row)
{
	jsonw_format(arg,
		"{ comparison=%lld job=%lld repo=%s suite=%s provider=%s commit=%s subject?=%s device=%s verdict=%s current=%i cells=%d timed=%d geomean_pct=%g finished_at=%lld{time} }",
		(long long)row->comparison, (long long)row->job, row->repo, row->suite, row->provider, row->commit, row->subject,
		row->device, verdict_name(row->verdict), row->current, row->cells, row->timed, row->geomean_pct,
		(long long)row->finished_at);
}

int api_peers(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	if (answer_repo(site->db, r, err) != 0 || answer_device(site->db, r, err) != 0)
		return -1;
	answer_items_begin(response, &j);
	return answer_items_end(
		&j, view_peers(site->db, http_query(r, "repo"), http_query(r, "device"), VIEW_LIMIT_DEFAULT, peer_row, &j, err));
}

static int peer_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct job_request request = { 0 };
	int64_t jobs[SITE_PEERS_MAX];
	int n = 0;
	json_t *root = write_take_request(r, response, "repo target provider suite device cells", NULL, &request);
	if (!root)
		return -1;
	int result = site->act->peer(site->control, &request, jobs, &n, err);
	if (result == 0)
		answer_new_jobs(response, jobs, n);
	json_decref(root);
	return result;
}

int api_peer_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return idempotent_run(site, r, response, peer_post, err);
}
