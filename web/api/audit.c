/* audit.c - the audit log: requests of users that may have changed something. */
#include "web/api/internal.h"

static void audit_row(void *arg, const struct view_audit *row)
{
	struct answer_list *list = arg;
	if (answer_list_take(list, row->id, row->at, NULL))
		jsonw_format(&list->j, "{ id=%lld at=%lld{time} who=%s path=%s status=%d }", (long long)row->id,
			(long long)row->at, row->who, row->path, row->status);
}

int api_audit(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct answer_list list = { 0 };
	int64_t before;
	int result;
	if (answer_list_begin(site->db, r, response, &list, &before, err) != 0 ||
		answer_list_seek(site->db, &list, VIEW_LIST_AUDIT, &before, err) != 0)
		return -1;
	do
		result = view_audits(site->db, before, list.rows, audit_row, &list, err);
	while (result == 0 && answer_list_more(&list, &before));
	return answer_list_end(r, response, &list, result);
}
