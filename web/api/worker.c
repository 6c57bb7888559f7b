/* Workers: who measures for the daemon, and why one does not. */
#include "web/answer/answer.h"
#include "web/api/api.h"

static void worker_row(void *arg, const struct worker_status *w)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "name", w->name);
	jsonw_kv_string(j, "state", w->state);
	answer_text(j, "why", w->why);
	answer_text(j, "version", w->version);
	answer_text(j, "device", w->device);
	answer_id(j, "job", w->job);
	jsonw_kv_int(j, "slot", w->slot);
	answer_text(j, "allocation", w->allocation);
	answer_text(j, "to", w->aim);
	answer_id(j, "position", w->position);
	jsonw_key(j, "read_only");
	jsonw_array(j);
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
