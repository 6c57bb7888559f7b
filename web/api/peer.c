/* Peers: what was measured beside them, and asking for it. */
#include "db/db.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

static void peer_row(void *arg, const struct view_peer *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "comparison", row->comparison);
	jsonw_kv_int(j, "job", row->job);
	jsonw_kv_string(j, "repo", row->repo);
	jsonw_kv_string(j, "suite", row->suite);
	jsonw_kv_string(j, "provider", row->provider);
	jsonw_kv_string(j, "commit", row->commit);
	answer_text(j, "subject", row->subject);
	jsonw_kv_string(j, "device", row->device);
	jsonw_kv_string(j, "verdict", verdict_name(row->verdict));
	jsonw_kv_bool(j, "current", row->current);
	jsonw_kv_int(j, "cells", row->cells);
	jsonw_kv_int(j, "timed", row->timed);
	jsonw_kv_figure(j, "geomean_pct", row->geomean_pct);
	answer_time(j, "finished_at", row->finished_at);
	jsonw_object_end(j);
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
