/* Alerts: the list and each one, with every change of state, and the changes that a person makes. */
#include <stdio.h>

#include "db/db.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

enum { REASON_MAX = 2000 }; /* bytes */

struct reading {
	struct answer_list list;
	struct site *site;
};

static void event_row(void *arg, const struct view_alert_event *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	answer_time(j, "at", row->at);
	jsonw_kv_string(j, "who", row->who);
	jsonw_kv_string(j, "state", alertstate_name(row->state));
	answer_text(j, "reason", row->reason);
	jsonw_object_end(j);
}

static void write_json(struct jsonw *j, const char *key, const char *text)
{
	jsonw_key(j, key);
	jsonw_raw(j, text, strlen(text));
}

static void put_alert(struct jsonw *j, struct site *site, const struct view_alert *row)
{
	struct fw_err err = { 0 };
	jsonw_object(j);
	jsonw_kv_int(j, "id", row->id);
	jsonw_kv_string(j, "kind", alertkind_name(row->kind));
	jsonw_kv_string(j, "state", alertstate_name(row->state));
	answer_text(j, "title", row->title);
	answer_text(j, "repo", row->repo);
	answer_branch(j, row->branch);
	answer_text(j, "target", row->target);
	answer_text(j, "subject", row->subject);
	answer_text(j, "author", row->author);
	answer_text(j, "device", row->device);
	answer_id(j, "comparison", row->comparison);
	answer_id(j, "bisect", row->bisect);
	jsonw_kv_figure(j, "worst_pct", row->worst_pct);
	write_json(j, "culprits", row->culprits_json);
	write_json(j, "groups", row->groups_json);
	write_json(j, "cells", row->cells_json);
	jsonw_key(j, "why");
	if (view_profile_why(site->db, row->id, 0, j, &err) != 0)
		j->out->failed = true;
	answer_time(j, "opened_at", row->opened_at);
	answer_time(j, "changed_at", row->changed_at);
	jsonw_key(j, "events");
	jsonw_array(j);
	if (view_alert_events(site->db, row->id, event_row, j, &err) != 0)
		j->out->failed = true;
	jsonw_array_end(j);
	jsonw_object_end(j);
}

static void list_row(void *arg, const struct view_alert *row)
{
	struct reading *reading = arg;
	if (answer_list_take(&reading->list, row->id, row->opened_at, row->repo))
		put_alert(&reading->list.j, reading->site, row);
}

void api_alerts(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct reading reading = { .site = site };
	const char *state;
	int64_t before;
	int result;
	if (answer_choice(r, response, "state", answer_alert_states(), &state) != 0 ||
		answer_list_begin(site->db, r, response, &reading.list, &before) != 0 ||
		answer_list_seek(site->db, r, response, &reading.list, VIEW_LIST_ALERTS, &before) != 0)
		return;
	do
		result = view_alerts(site->db, state, before, reading.list.rows, list_row, &reading, &err);
	while (result == 0 && answer_list_more(&reading.list, &before));
	answer_list_end(r, response, &reading.list, result, &err);
}

struct one {
	struct jsonw j;
	struct site *site;
};

static void one_row(void *arg, const struct view_alert *row)
{
	struct one *one = arg;
	put_alert(&one->j, one->site, row);
}

void api_alert(void *arg, struct http_request *r, struct http_response *response)
{
	struct one one = { .site = arg };
	struct fw_err err = { 0 };
	int64_t id = answer_path_id(r, response, "alert");
	if (id < 0)
		return;
	answer_json(response, &one.j);
	if (view_alert(one.site->db, id, one_row, &one, &err) != 0)
		answer_error(r, response, &err);
}

static void change(struct site *site, struct http_request *r, struct http_response *response, enum alertstate state)
{
	struct fw_err err = { 0 };
	int64_t id = answer_path_id(r, response, "alert");
	const char *reason = NULL, *back = NULL; /* back: the page whose button it was */
	const struct write_key known[] = { { "reason", .text = &reason, .text_max = REASON_MAX },
		{ answer_wants_page(r) ? "back" : NULL, .text = &back }, { 0 } };
	json_t *root = id < 0 ? NULL : write_take(r, response, known);
	if (!root)
		return;
	if (!write_is_readable(reason, "\r\n\t")) {
		answer_problem(r, response, 400, "reason holds a character that cannot be seen; write it in plain text");
	} else if (site->act->alert(site->control, id, state, http_who(r), reason ? reason : "", &err) != 0) {
		answer_error(r, response, &err);
	} else if (!write_back_to(r, response, back ? access_next(back) : "/alerts")) {
		answer_state(response, id, alertstate_name(state));
	}
	json_decref(root);
}

void api_alert_acknowledge(void *arg, struct http_request *r, struct http_response *response)
{
	change(arg, r, response, ALERTSTATE_ACKNOWLEDGED);
}

void api_alert_accept(void *arg, struct http_request *r, struct http_response *response)
{
	change(arg, r, response, ALERTSTATE_ACCEPTED);
}

void api_alert_resolve(void *arg, struct http_request *r, struct http_response *response)
{
	change(arg, r, response, ALERTSTATE_RESOLVED);
}

void api_alert_invalidate(void *arg, struct http_request *r, struct http_response *response)
{
	change(arg, r, response, ALERTSTATE_INVALID);
}
