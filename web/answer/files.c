/* files.c - documented in answer.h. */
#include "web/answer/answer.h"

/* Copy a text of the form. False: it is too long, or holds a zero byte. */
static bool take_text(const struct multipart_part *part, char *out, size_t size)
{
	if (part->len >= size || memchr(part->data, '\0', part->len))
		return false;
	memcpy(out, part->data, part->len);
	out[part->len] = '\0';
	return true;
}

/* The name without folders, which some browsers send, for messages; the field's name where it is empty or cannot be shown. */
static void take_name(const struct multipart_part *part, char *out, size_t size)
{
	const char *name = part->file;
	for (const char *at = name; *at; at++)
		if (*at == '/' || *at == '\\')
			name = at + 1;
	snprintf(out, size, "%s", *name && write_is_readable(name, "") ? name : part->name);
}

/* Store a part. NULL, or why it is refused. */
static const char *take_part(const struct multipart_part *part, struct site_files *out)
{
	static const char *const sides[] = { "base", "target" };
	for (int i = 0; i < 2; i++)
		if (strcmp(part->name, sides[i]) == 0) {
			if (out->file[i].data)
				return "occurs twice";
			out->file[i].data = part->data;
			out->file[i].len = part->len;
			take_name(part, out->file[i].name, sizeof out->file[i].name);
			return NULL;
		}
	if (strcmp(part->name, "format") == 0)
		return take_text(part, out->format, sizeof out->format) ? NULL : "is not a format";
	if (strcmp(part->name, "unit") == 0)
		return take_text(part, out->unit, sizeof out->unit) ? NULL : "is not a unit";
	if (strcmp(part->name, "metric") == 0)
		return take_text(part, out->metric, sizeof out->metric) ? NULL : "is too long";
	return "is unknown; known: base, target (files), format, unit, metric (texts)";
}

/* Check that both files are there and small enough. 0; -1 the refusal is written. */
static int check_sizes(const struct site_files *files, struct http_request *r, struct http_response *response)
{
	char detail[512];
	for (int i = 0; i < 2; i++)
		/* a browser sends an empty part without a name for a file that was not chosen */
		if (!files->file[i].data ||
			(files->file[i].len == 0 && strcmp(files->file[i].name, i ? "target" : "base") == 0)) {
			snprintf(
				detail, sizeof detail, "there is no %s file; choose two files of results", i ? "target" : "base");
			return answer_problem(r, response, 400, detail);
		}
	for (int i = 0; i < 2; i++)
		if (files->file[i].len > HTTP_UPLOAD_FILE_MAX) {
			snprintf(detail, sizeof detail, "%s has %.1f MiB; a file may have at most %d MiB", files->file[i].name,
				(double)files->file[i].len / (1 << 20), HTTP_UPLOAD_FILE_MAX >> 20);
			return answer_problem(r, response, 413, detail);
		}
	return 0;
}

/* "base results.json" and "target results.json" for two files of one name. */
static void name_sides(struct site_files *files)
{
	for (int i = 0; i < 2; i++) {
		char name[sizeof files->file[0].name];
		snprintf(name, sizeof name, "%s %.240s", i ? "target" : "base", files->file[i].name);
		memcpy(files->file[i].name, name, sizeof name);
	}
}

/* 0; -1 the refusal is written. */
static int read_form(struct http_request *r, struct http_response *response, struct site_files *out)
{
	const char *type = http_header(r, "Content-Type"), *wrong = NULL;
	struct multipart_part part;
	char detail[512];
	size_t len, at = 0;
	const char *body = http_body(r, &len);
	int result;
	if (!multipart_is(type))
		return answer_problem(
			r, response, 415, "send a form of type multipart/form-data with two files, base and target");
	do
		result = multipart_next(type, body, len, &at, &part);
	while (result == 1 && (wrong = take_part(&part, out)) == NULL);
	if (result < 0)
		return answer_problem(r, response, 400, "the body is not a valid form of type multipart/form-data");
	if (!wrong && check_sizes(out, r, response) != 0)
		return -1;
	if (!wrong && strcmp(out->file[0].name, out->file[1].name) == 0)
		name_sides(out);
	if (!wrong)
		return 0;
	snprintf(detail, sizeof detail, "field %s %s", part.name, wrong);
	return answer_problem(r, response, 400, detail);
}

int files_begin(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *later, struct fw_err *err)
{
	struct site_files files = { .client = site->needs_token ? http_who(r) : "" };
	if (read_form(r, response, &files) != 0 || site->act->compare_files(site->control, &files, r, err) != 0)
		return -1;
	response->later = later;
	return 0;
}

int files_take(struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *later,
	struct buf *json, struct fw_err *err)
{
	const struct buf *text;
	if (!response) {
		site->act->compare_files_finish(site->control, r);
		return 1;
	}
	int state = site->act->compared_files(site->control, r, &text, err);
	if (state > 0) {
		response->later = later;
		return state;
	}
	if (state == 0)
		buf_append(json, text->data, text->len);
	site->act->compare_files_finish(site->control, r);
	if (state < 0 && (err->code == ERR_INVALID || err->code == ERR_CRASHED))
		return answer_problem(r, response, 422, err->text);
	return state;
}
