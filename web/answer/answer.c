#include "web/answer/answer.h"

#include "web/html/html.h"

void answer_json(struct http_response *response, struct jsonw *j)
{
	response->type = "application/json; charset=utf-8";
	jsonw_init(j, &response->body);
}

/* Texts of refusals; the last row is for every other status. */
static const struct refusal {
	int status;
	const char *title, *detail; /* detail: used if the handler passes none; "": that of the last row */
} refusals[] = {
	{ 400, "The request is malformed", "a header, an escape or an argument of the request is malformed" },
	{ 401, "A signature or token is missing or wrong", "" },
	{ 403, "Not allowed", "writes are accepted from pages of this daemon and from programs, not from other sites" },
	{ 404, "Not found", "no such address; / is the overview and /api/v1/ the list of routes" },
	{ 405, "This address does not support this method", "see the Allow header for the methods of this address" },
	{ 406, "Not available in this format", "the Accept header excludes every format of this address" },
	{ 409, "Not possible in this state", "" },
	{ 413, "The request is too large", "the body is larger than this address accepts" },
	{ 415, "The type of the body is not supported", "" },
	{ 416, "The requested range is beyond the end", "" },
	{ 421, "The Host header is not a name of this daemon",
		"use the address and port that the daemon printed at its start, or a name listed under `names` in its "
		"configuration (see doc/troubleshooting.md#host-names)" },
	{ 422, "The request cannot be processed", "" },
	{ 429, "Too many requests", "wait for the seconds in Retry-After; requests_per_minute in flopwatchd.yml is the limit" },
	{ 503, "Not now", "too many requests at once; try again in a few seconds" },
	{ 0, "The daemon failed", "see the daemon's log" },
};
enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

static const struct refusal *refusal_of(int status)
{
	const struct refusal *row = refusals;
	while (row->status && row->status != status)
		row++;
	return row;
}

bool answer_is_form(const struct http_request *r)
{
	const char *type = http_header(r, "Content-Type");
	return type && strncmp(type, "application/x-www-form-urlencoded", 33) == 0;
}

bool answer_wants_page(const struct http_request *r)
{
	const char *accept = http_header(r, "Accept");
	return answer_is_form(r) && media_quality(accept, "text/html") > media_quality(accept, "application/json");
}

enum answer_format answer_format_wanted(const struct http_request *r)
{
	const char *accept = http_header(r, "Accept");
	double json = media_quality(accept, "application/json"), csv = media_quality(accept, "text/csv"),
	       markdown = media_quality(accept, "text/markdown");
	return csv > json && csv >= markdown ? ANSWER_CSV : markdown > json ? ANSWER_MARKDOWN : ANSWER_JSON;
}

static bool is_for_programs(const struct http_request *r)
{
	const char *path = http_path(r);
	if (strcmp(path, "/metrics") == 0 || strcmp(path, "/healthz") == 0)
		return true;
	return strncmp(path, "/api/", 5) == 0 && !answer_wants_page(r);
}

int answer_problem(struct http_request *r, struct http_response *response, int status, const char *detail)
{
	const char *title = refusal_of(status)->title;
	if (!detail || !*detail)
		detail = refusal_of(status)->detail;
	if (!*detail)
		detail = refusals[REFUSALS - 1].detail;
	response->status = status;
	response->stream = NULL;
	response->spared = 0;
	response->etag[0] = response->location[0] = response->link[0] = '\0';
	response->cache = NULL;
	buf_clear(&response->body);
	if (is_for_programs(r)) {
		struct jsonw j;
		answer_json(response, &j);
		response->type = "application/problem+json; charset=utf-8";
		jsonw_object(&j);
		jsonw_kv_string(&j, "type", "about:blank");
		jsonw_kv_string(&j, "title", title);
		jsonw_kv_int(&j, "status", status);
		jsonw_kv_string(&j, "detail", detail);
		jsonw_object_end(&j);
		return -1;
	}
	layout_begin(response, title, "", NULL);
	emit_format(&response->body,
		"<div class=\"empty bad\"><p class=lead>%s</p><p>Status %d. <a href=\"/\">Overview</a>, <a href=/help>"
		"help</a></p></div>",
		detail, status);
	layout_end(response, NULL, 0);
	return -1;
}

int answer_error(struct http_request *r, struct http_response *response, const struct fw_err *err)
{
	static const int status[] = { [ERR_NOT_FOUND] = 404,
		[ERR_INVALID] = 400,
		[ERR_CONFLICT] = 409,
		[ERR_BUSY] = 503,
		[ERR_FULL] = 503,
		[ERR_TIMEOUT] = 503,
		[ERR_IO] = 503,
		[ERR_DAMAGED] = 503 };
	bool is_known = (size_t)err->code < sizeof status / sizeof status[0] && status[err->code];
	return answer_problem(r, response, is_known ? status[err->code] : 500, err->text);
}

int answer_with(struct http_response *response, const char *format, ...)
{
	struct jsonw j;
	va_list args;
	va_start(args, format);
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_vformat(&j, format, &args);
	jsonw_object_end(&j);
	va_end(args);
	return 0;
}

void answer_state(struct http_response *response, int64_t id, const char *state)
{
	answer_with(response, "id=%lld state=%s", (long long)id, state);
}

void answer_new(struct http_response *response, const char *collection, int64_t id, const char *state)
{
	answer_state(response, id, state);
	response->status = 201;
	snprintf(response->location, sizeof response->location, "/api/v1/%s/%lld", collection, (long long)id);
}

void answer_new_jobs(struct http_response *response, const int64_t *jobs, int n)
{
	struct jsonw j;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_array(&j, "jobs");
	for (int i = 0; i < n; i++)
		jsonw_int(&j, jobs[i]);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	response->status = 201;
}

int64_t answer_number(const char *text)
{
	char *end;
	if (!text || *text < '0' || *text > '9')
		return -1;
	long long v = strtoll(text, &end, 10);
	return *end == '\0' && strlen(text) < 19 ? (int64_t)v : -1;
}

int64_t answer_id(const char *text, const char *what)
{
	return answer_number(text && *text == what[0] - 'a' + 'A' ? text + 1 : text); /* a small letter may begin a branch */
}

int64_t answer_path_id(struct http_request *r, const char *what, struct fw_err *err)
{
	int64_t id = answer_id(http_segment(r, 0), what);
	if (id < 0)
		err_set(err, ERR_NOT_FOUND, "the address of a%s %s needs its number, such as %c1",
			strchr("aeiou", what[0]) ? "n" : "", what, what[0] - 'a' + 'A');
	return id;
}

int answer_cursor(struct http_request *r, int64_t *before, struct fw_err *err)
{
	const char *cursor = http_query(r, "cursor");
	*before = cursor ? answer_number(cursor) : 0;
	return *before >= 0 ? 0 : err_set(err, ERR_INVALID, "cursor must be a next_cursor of this list");
}

int answer_choice(struct http_request *r, const char *name, const char *words, const char **value, struct fw_err *err)
{
	const char *given = http_query(r, name);
	*value = given && *given ? given : NULL;
	if (!*value)
		return 0;
	for (const char *word = words; *word; word += strcspn(word, " "), word += *word == ' ')
		if (strcspn(word, " ") == strlen(given) && strncmp(word, given, strlen(given)) == 0)
			return 0;
	return err_set(err, ERR_INVALID, "%s must be one of: %s", name, words);
}

/* ---- lists ------------------------------------------------------------------------------------------------------------ */

enum { SCAN_MAX = 10000 }; /* rows that a filter may read for one answer */

void answer_items_begin(struct http_response *response, struct jsonw *j)
{
	answer_json(response, j);
	jsonw_object(j);
	jsonw_kv_array(j, "items");
}

int answer_items_end(struct jsonw *j, int result)
{
	if (result != 0)
		return -1;
	jsonw_array_end(j);
	jsonw_kv_null(j, "next_cursor");
	jsonw_object_end(j);
	return 0;
}

int answer_repo(struct db *db, struct http_request *r, struct fw_err *err)
{
	const char *repo = http_query(r, "repo");
	int64_t id;
	return repo && *repo ? view_repo_id(db, repo, &id, err) : 0;
}

int answer_device(struct db *db, struct http_request *r, struct fw_err *err)
{
	const char *device = http_query(r, "device");
	enum devicestate state;
	int64_t id;
	return device && *device ? store_device_get(db, device, &id, &state, err) : 0;
}

int answer_list_begin(struct db *db, struct http_request *r, struct http_response *response, struct answer_list *list,
	int64_t *before, struct fw_err *err)
{
	const char *text = http_query(r, "limit");
	int64_t limit = text ? answer_number(text) : VIEW_LIMIT_DEFAULT;
	memset(list, 0, sizeof *list);
	if (limit < 1 || limit > VIEW_LIMIT_MAX)
		return err_set(err, ERR_INVALID, "limit must be a whole number from 1 to 500");
	if (answer_cursor(r, before, err) != 0 || period_read(r, &list->period, err) != 0 || answer_repo(db, r, err) != 0)
		return -1;
	list->repo = http_query(r, "repo");
	list->limit = (int)limit;
	list->rows = list->limit + 1;
	answer_items_begin(response, &list->j);
	return 0;
}

int answer_list_seek(struct db *db, const struct answer_list *list, enum view_list rows, int64_t *before, struct fw_err *err)
{
	int64_t end;
	if (!list->period.until)
		return 0;
	if (view_seek(db, rows, list->period.until + PERIOD_SLACK_MS, &end, err) != 0)
		return -1;
	if (!*before || end < *before)
		*before = end;
	return 0;
}

void answer_list_pass(struct answer_list *list, int64_t id)
{
	list->read++;
	list->seen = id;
}

bool answer_list_take(struct answer_list *list, int64_t id, int64_t at, const char *repo)
{
	bool wanted = (!repo || !list->repo || strcmp(repo, list->repo) == 0) && period_holds(&list->period, at);
	list->past |= at < list->period.since - PERIOD_SLACK_MS;
	answer_list_pass(list, id);
	if (list->n == list->limit) {
		list->more |= wanted;
		return false;
	}
	list->last = id;
	list->n += wanted;
	return wanted;
}

bool answer_list_more(struct answer_list *list, int64_t *before)
{
	if (list->read < list->rows || list->more || list->past)
		return false;
	list->scanned += list->read;
	list->read = 0;
	list->rows = VIEW_ROWS_MAX; /* the filter rejects most rows: read larger pages */
	list->cut = list->scanned >= SCAN_MAX;
	*before = list->seen;
	return !list->cut;
}

int answer_list_end(struct http_request *r, struct http_response *response, struct answer_list *list, int result)
{
	if (result != 0)
		return -1;
	jsonw_array_end(&list->j);
	if (list->more || list->cut) {
		int64_t from = list->more ? list->last : list->seen;
		char cursor[24];
		struct buf next;
		buf_init(&next, sizeof response->link - 16);
		layout_next_address(&next, r, from);
		snprintf(cursor, sizeof cursor, "%lld", (long long)from);
		jsonw_kv_string(&list->j, "next_cursor", cursor);
		if (!next.failed)
			snprintf(response->link, sizeof response->link, "<%s>; rel=\"next\"", next.data);
		buf_fini(&next);
	} else {
		jsonw_kv_null(&list->j, "next_cursor");
	}
	jsonw_object_end(&list->j);
	return 0;
}

/* `first` and the name of each state, separated by spaces; filled by the first call. */
static const char *join_states(char *out, size_t size, const char *first, int n, const char *(*name)(int state))
{
	if (out[0])
		return out;
	int at = snprintf(out, size, "%s", first);
	for (int i = 0; i < n; i++)
		at += snprintf(out + at, size - (size_t)at, "%s%s", at > 0 ? " " : "", name(i));
	return out;
}

static const char *job_state(int state)
{
	return jobstate_name((enum jobstate)state);
}

static const char *alert_state(int state)
{
	return alertstate_name((enum alertstate)state);
}

const char *answer_job_states(void)
{
	static char states[256];
	return join_states(states, sizeof states, "open", JOBSTATE_N, job_state);
}

const char *answer_alert_states(void)
{
	static char states[128];
	return join_states(states, sizeof states, "", ALERTSTATE_N, alert_state);
}
