/* alert.c - alerts: the list, a single one with all changes of state, and changes by users. */
#include "web/api/internal.h"

enum { REASON_MAX = 2000 }; /* bytes */

struct reading {
	struct answer_list list;
	struct site *site;
};

static void event_row(void *arg, const struct view_alert_event *row)
{
	jsonw_format(arg, "{ at=%lld{time} who=%s state=%s reason?=%s }", (long long)row->at, row->who,
		alertstate_name(row->state), row->reason);
}

static void put_alert(struct jsonw *j, struct site *site, const struct view_alert *row)
{
	struct fw_err err = { 0 };
	jsonw_object(j);
	jsonw_format(j,
		"id=%lld kind=%s cost~=%s state=%s title?=%s repo?=%s branch=%s{branch} target?=%s subject?=%s author?=%s device?=%s comparison?=%lld bisect?=%lld worst_pct=%g culprits=%s{json} groups=%s{json} cells=%s{json}",
		(long long)row->id, alertkind_name(row->kind), row->kind == ALERTKIND_COST ? row->changed : "",
		alertstate_name(row->state), row->title, row->repo, row->branch, row->target, row->subject, row->author,
		row->device, (long long)row->comparison, (long long)row->bisect, row->worst_pct, row->culprits_json,
		row->groups_json, row->cells_json);
	jsonw_key(j, "why");
	if (view_profile_why(site->db, row->id, 0, j, &err) != 0)
		j->out->failed = true;
	jsonw_format(j, "opened_at=%lld{time} changed_at=%lld{time}", (long long)row->opened_at, (long long)row->changed_at);
	jsonw_kv_array(j, "events");
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

int api_alerts(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct reading reading = { .site = site };
	const char *state;
	int64_t before;
	int result;
	if (answer_choice(r, "state", answer_alert_states(), &state, err) != 0 ||
		answer_list_begin(site->db, r, response, &reading.list, &before, err) != 0 ||
		answer_list_seek(site->db, &reading.list, VIEW_LIST_ALERTS, &before, err) != 0)
		return -1;
	do
		result = view_alerts(site->db, state, before, reading.list.rows, list_row, &reading, err);
	while (result == 0 && answer_list_more(&reading.list, &before));
	return answer_list_end(r, response, &reading.list, result);
}

static void one_row(void *arg, const struct view_alert *row)
{
	struct reading *reading = arg;
	put_alert(&reading->list.j, reading->site, row);
}

int api_alert(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct reading one = { .site = site };
	int64_t id = answer_path_id(r, "alert", err);
	answer_json(response, &one.list.j);
	return id < 0 ? -1 : view_alert(site->db, id, one_row, &one, err);
}

int api_alert_change(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *verb = strrchr(http_path(r), '/') + 1;
	enum alertstate state = strcmp(verb, "acknowledge") == 0 ? ALERTSTATE_ACKNOWLEDGED
				: strcmp(verb, "accept") == 0    ? ALERTSTATE_ACCEPTED
				: strcmp(verb, "resolve") == 0   ? ALERTSTATE_RESOLVED
								 : ALERTSTATE_INVALID;
	int64_t id = answer_path_id(r, "alert", err);
	const char *reason = NULL, *back = NULL; /* back: the page with the pressed button */
	const struct write_key known[] = { { "reason", .text = &reason, .text_max = REASON_MAX },
		{ answer_wants_page(r) ? "back" : NULL, .text = &back }, { 0 } };
	json_t *root = id < 0 ? NULL : write_take(r, response, known);
	if (!root)
		return -1;
	int result = !write_is_readable(reason, "\r\n\t")
			     ? err_set(err, ERR_INVALID, "reason contains an invisible character; write plain text")
			     : site->act->alert(site->control, id, state, http_who(r), reason ? reason : "", err);
	if (result == 0 && !write_back_to(r, response, back ? access_next(back) : "/alerts"))
		answer_state(response, id, alertstate_name(state));
	json_decref(root);
	return result;
}
