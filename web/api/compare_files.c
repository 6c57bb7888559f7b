/* compare_files.c - POST /api/v1/compare: two files of results side by side, as by `flopwatch compare FILE FILE --json`. */
#include "web/api/internal.h"

static int compared(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	int result = files_take(site, r, response, compared, &response->body, err);
	if (result != 0)
		return result < 0 ? -1 : 0;
	answer_json(response, &j);
	return 0;
}

int api_compare_files(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return files_begin(site, r, response, compared, err);
}
