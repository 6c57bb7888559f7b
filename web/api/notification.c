/* notification.c - notifications: the list with all attempts, redelivery, and test messages. */

#include "web/api/internal.h"

struct reading {
	struct answer_list list;
	struct site *site;
};

static void attempt_row(void *arg, const struct store_attempt *row)
{
	jsonw_format(arg, "{ at=%lld{time} duration_ms=%lld status?=%d error?=%s }", (long long)row->at,
		(long long)row->duration_ms, row->status, row->error);
}

static void notification_row(void *arg, const struct view_notification *row)
{
	struct reading *reading = arg;
	struct jsonw *j = &reading->list.j;
	struct fw_err err = { 0 };
	if (!answer_list_take(&reading->list, row->id, row->created_at, NULL))
		return;
	jsonw_object(j);
	jsonw_format(j,
		"id=%lld message_id=%s kind=%s target=%s state=%s attempts=%d created_at=%lld{time} next_at=%lld{time} last_error?=%s payload=%s{json}",
		(long long)row->id, row->message_id, row->kind, row->target, row->state, row->attempts,
		(long long)row->created_at, (long long)(strcmp(row->state, "waiting") == 0 ? row->next_at : 0), row->last_error,
		row->payload);
	jsonw_kv_array(j, "log");
	if (view_attempts(reading->site->db, row->id, attempt_row, j, &err) != 0)
		j->out->failed = true;
	jsonw_array_end(j);
	jsonw_object_end(j);
}

int api_notifications(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct reading reading = { .site = site };
	const char *state;
	int64_t before;
	if (answer_choice(r, "state", ANSWER_NOTIFICATION_STATES, &state, err) != 0 ||
		answer_list_begin(site->db, r, response, &reading.list, &before, err) != 0 ||
		answer_list_seek(site->db, &reading.list, VIEW_LIST_NOTIFICATIONS, &before, err) != 0)
		return -1;
	int result;
	do
		result = view_notifications(site->db, state, before, reading.list.rows, notification_row, &reading, err);
	while (result == 0 && answer_list_more(&reading.list, &before));
	return answer_list_end(r, response, &reading.list, result);
}

int api_redeliver(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t id = answer_path_id(r, "notification", err);
	if (id < 0 || site->act->redeliver(site->control, id, err) != 0)
		return -1;
	if (!write_back_to(r, response, "/notifications"))
		answer_state(response, id, "waiting");
	return 0;
}

int api_receiver_test(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t id;
	if (!site->act->test_receiver)
		return err_set(err, ERR_UNSUPPORTED, "this server sends no messages");
	if (site->act->test_receiver(site->control, http_segment(r, 0), &id, err) != 0)
		return -1;
	answer_state(response, id, "waiting");
	return 0;
}
