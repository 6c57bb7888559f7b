/* Peers: what was measured beside them, and asking for it. */
#include <stdio.h>
#include <string.h>

#include "db/store_peer.h"
#include "web/answer.h"
#include "web/api.h"
#include "web/idempotent.h"
#include "web/site.h"
#include "web/write.h"

enum { TEXT_MAX = 255 };

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
	jsonw_kv_string(j, "verdict", row->verdict);
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
	answer_items_begin(response, &j);
	if (view_peers(site->db, http_query(r, "repo"), http_query(r, "device"), VIEW_LIMIT_DEFAULT, peer_row, &j, &err) != 0)
		answer_error(r, response, &err);
	else
		answer_items_end(&j);
}

/* A key that no request has, or one of another type; NULL: none. */
static const char *read_wish(json_t *root, struct site_request *wish)
{
	static const char *const known[] = { "repo", "target", "provider", "suite", "device", "cells" };
	const char *key, *wrong = NULL;
	json_t *value;
	json_object_foreach(root, key, value)
	{
		bool found = false;
		for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
			found |= strcmp(key, known[i]) == 0;
		if (!found)
			wrong = key;
	}
	*wish = (struct site_request){ .repo = write_text(root, "repo", TEXT_MAX, &wrong),
		.target = write_text(root, "target", TEXT_MAX, &wrong),
		.base_provider = write_text(root, "provider", TEXT_MAX, &wrong),
		.suite = write_text(root, "suite", TEXT_MAX, &wrong),
		.device_kind = write_text(root, "device", TEXT_MAX, &wrong),
		.cells_glob = write_text(root, "cells", TEXT_MAX, &wrong) };
	return wrong;
}

void api_peer_post(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct site_request wish;
	int64_t jobs[SITE_PEERS_MAX];
	char detail[200];
	int n = 0;
	if (idempotent_replay(site, r, response))
		return;
	json_t *root = write_read(r, response);
	if (!root)
		return;
	const char *wrong = read_wish(root, &wish);
	if (wrong) {
		snprintf(detail, sizeof detail,
			"key %.60s is not known, of another type or too long; known: repo, target, provider, suite, device, "
			"cells (texts)",
			wrong);
		answer_problem(r, response, 400, detail);
	} else if (site->act.peer(site->act.arg, &wish, jobs, &n, &err) != 0) {
		answer_error(r, response, &err);
	} else {
		answer_new_jobs(response, jobs, n);
		idempotent_keep(site, r, response);
	}
	json_decref(root);
}
