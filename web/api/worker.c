/* worker.c - workers with their state and failures. */

#include "web/api/internal.h"

static void worker_row(void *arg, const struct worker_status *w)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_format(j, "name=%s state=%s why?=%s version?=%s device?=%s job?=%lld slot=%d allocation?=%s to?=%s position?=%d",
		w->name, w->state, w->why, w->version, w->device, (long long)w->job, w->slot, w->allocation, w->aim, w->position);
	jsonw_kv_array(j, "read_only");
	for (int i = 0; i < w->n_read_only; i++)
		jsonw_string(j, w->read_only[i]);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

int api_workers(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)err;
	struct jsonw j;
	(void)r;
	answer_items_begin(response, &j);
	if (site->act->workers)
		site->act->workers(site->control, worker_row, &j);
	return answer_items_end(&j, 0);
}
