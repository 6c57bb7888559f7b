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

void api_peers(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct jsonw j;
	if (answer_repo(site->db, r, response) != 0 || answer_device(site->db, r, response) != 0)
		return;
	answer_items_begin(response, &j);
	if (view_peers(site->db, http_query(r, "repo"), http_query(r, "device"), VIEW_LIMIT_DEFAULT, peer_row, &j, &err) != 0)
		answer_error(r, response, &err);
	else
		answer_items_end(&j);
}

static void peer_post(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_request request = { 0 };
	const struct write_key known[] = { { "repo", .text = &request.repo }, { "target", .text = &request.target },
		{ "provider", .text = &request.base_provider }, { "suite", .text = &request.suite },
		{ "device", .text = &request.device_kind }, { "cells", .text = &request.cells_glob }, { 0 } };
	int64_t jobs[SITE_PEERS_MAX];
	int n = 0;
	json_t *root = write_take(r, response, known);
	if (!root)
		return;
	if (site->act->peer(site->control, &request, jobs, &n, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		answer_new_jobs(response, jobs, n);
	}
	json_decref(root);
}

void api_peer_post(void *arg, struct http_request *r, struct http_response *response)
{
	idempotent_run(arg, r, response, peer_post);
}
