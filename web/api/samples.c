/* samples.c - the archive of single times: months with their state, and their files, from any byte on. */
#include "web/api/internal.h"

struct months {
	struct jsonw j;
	char folder[512];
};

/* List a month. Only the bytes in the database are checked: later ones may be an incomplete write. */
static void month_row(void *arg, const struct archive_position *last)
{
	struct months *m = arg;
	struct fw_err err = { 0 };
	char mark[17] = "";
	bool is_whole = archive_check(m->folder, last, &err) == 0 && archive_mark(m->folder, last->month, mark, &err) == 0;
	jsonw_format(&m->j, "{ month=%s bytes=%lld mark?=%s state=%s why?=%s }", last->month,
		(long long)last->offset + last->bytes, mark, is_whole ? "ok" : "damaged", err.text);
}

int api_samples(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	struct months m;
	if (archived_folder(site->db, m.folder, sizeof m.folder, err) != 0)
		return -1;
	answer_items_begin(response, &m.j);
	return answer_items_end(&m.j, archived_each(site->db, month_row, &m, err));
}

struct wanted {
	const char *month;
	int64_t bytes; /* 0: no such month */
};

static void find_month(void *arg, const struct archive_position *last)
{
	struct wanted *w = arg;
	if (strcmp(last->month, w->month) == 0)
		w->bytes = last->offset + last->bytes;
}

/* Parse "bytes=100-". Returns 0 for other ranges: HTTP allows to answer them with the whole file. */
static int64_t first_wanted(const char *range)
{
	static const char begin[] = "bytes=";
	size_t len = range ? strlen(range) : 0;
	char number[24];
	if (len < sizeof begin || strncmp(range, begin, sizeof begin - 1) != 0 || range[len - 1] != '-' || len > sizeof number)
		return 0;
	snprintf(number, sizeof number, "%.*s", (int)(len - sizeof begin), range + sizeof begin - 1);
	int64_t at = answer_number(number);
	return at > 0 ? at : 0;
}

int api_samples_month(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct wanted w = { .month = http_segment(r, 0) };
	char folder[512];
	int64_t at = first_wanted(http_header(r, "Range"));
	if (archived_each(site->db, find_month, &w, err) != 0 || archived_folder(site->db, folder, sizeof folder, err) != 0)
		return -1;
	if (w.bytes == 0)
		return err_set(err, ERR_NOT_FOUND, "no single times of this month are archived");
	if (at >= w.bytes)
		return answer_problem(r, response, 416, "the file is shorter");
	if (archive_path(folder, w.month, response->file, sizeof response->file, err) != 0)
		return -1;
	response->status = at > 0 ? 206 : 200;
	response->file_at = at;
	response->file_bytes = w.bytes - at;
	response->type = "application/zstd";
	return 0;
}
