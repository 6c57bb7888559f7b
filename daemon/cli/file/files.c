/* files.c - see files.h. */
#include "cli/file/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/reading/pair.h"

int files_read_text(const char *path, struct buf *text, struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s", path);
	int result = buf_read_fd(text, fd) != 0 ? err_sys(err, "%s", path) : 0;
	close(fd);
	return result;
}

static int read_file(
	const char *path, const char *format, const struct options *o, bool name_device, struct reading *out, struct fw_err *err)
{
	struct buf text;
	buf_init(&text, READING_BYTES_MAX + 1);
	int rc = files_read_text(path, &text, err);
	if (rc == 0 && !format)
		format = reading_guess(text.data, text.len, path);
	if (rc == 0 && !format)
		rc = err_set(err, ERR_INVALID, "%s: looks like no format that is read; say which with --format: " READING_FORMATS,
			path);
	if (rc == 0 && o->time && !reading_has_times(format))
		rc = err_set(
			err, ERR_INVALID, "%s: --time is for google-benchmark, which writes two; %s has one time", path, format);
	struct reading_how how = {
		.format = format, .unit = o->unit ? o->unit : "", .time = o->time ? o->time : "", .name_device = name_device
	};
	if (rc == 0)
		rc = reading_parse(&how, text.data, text.len, path, out, err);
	buf_fini(&text);
	return rc;
}

int files_read(const char *path, const char *format, const struct options *o, struct reading *out, struct fw_err *err)
{
	return read_file(path, format, o, false, out, err);
}

/* A file of one card beside one of several: its names say the card, too, so that they meet those of the same card. */
static int name_device(const char *path, const struct options *o, struct reading *r, struct fw_err *err)
{
	char format[sizeof r->format];
	memcpy(format, r->format, sizeof format);
	reading_fini(r);
	return read_file(path, format, o, true, r, err);
}

int files_read_pair(const char *const path[2], const struct options *o, struct reading reading[2], struct buf *warnings,
	int *unpaired, struct fw_err *err)
{
	int result = files_read(path[0], o->format, o, &reading[0], err);
	if (result != 0)
		return -1;
	if (files_read(path[1], o->format ? o->format : reading[0].format, o, &reading[1], err) != 0) {
		reading_fini(&reading[0]);
		return -1;
	}
	for (int i = 0; i < 2 && result == 0; i++)
		if (reading[i].n_devices == 1 && reading[!i].n_devices > 1)
			result = name_device(path[i], o, &reading[i], err);
	if (result == 0)
		result = reading_pair(&reading[0], path[0], &reading[1], path[1], warnings, unpaired, err);
	for (int i = 0; i < 2 && result != 0; i++)
		reading_fini(&reading[i]);
	return result;
}

bool files_are(const char *a, const char *b)
{
	struct stat s, t;
	return stat(a, &s) == 0 && S_ISREG(s.st_mode) && stat(b, &t) == 0 && S_ISREG(t.st_mode);
}

bool files_looks_like_one(const char *name)
{
	static const char *const ends[] = { ".json", ".jsonl", ".csv", ".tsv", ".txt", ".log", ".out", ".xml", ".md",
		".ncu-rep" };
	size_t len = strlen(name);
	if (*name == '/' || strncmp(name, "./", 2) == 0 || strncmp(name, "../", 3) == 0)
		return true;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (len > strlen(ends[i]) && strcmp(name + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

int files_check(const char *path, struct fw_err *err)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path,
			errno == ENOENT || errno == ENOTDIR ? "no such file" : strerror(errno));
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is a folder; name a file in it", path);
	return S_ISREG(st.st_mode) ? 0 : err_set(err, ERR_INVALID, "%s is no regular file", path);
}

int files_write(const char *path, const struct buf *text, struct fw_err *err)
{
	char part[4096];
	if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
		return err_set(err, ERR_INVALID, "%.60s... is too long a name", path);
	FILE *f = fopen(part, "we");
	if (!f)
		return err_sys(err, "cannot write %s", part);
	bool good = fwrite(text->data, 1, text->len, f) == text->len;
	good = fclose(f) == 0 && good;
	if (!good || rename(part, path) != 0) {
		err_sys(err, "cannot write %s", path);
		unlink(part);
		return -1;
	}
	return 0;
}

/* ---- which rows are one case -------------------------------------------------------------------------------------------- */

/* A key without the tile of the kernel that ran: two builds of a case may choose different ones. Shape: out[CASE_KEY_SIZE]. */
static void without_tile(const char *key, char out[CASE_KEY_SIZE])
{
	const char *tile = strstr(key, "/tile"), *end = tile ? strchr(tile + 1, '/') : NULL;
	snprintf(out, CASE_KEY_SIZE, "%.*s%s", end ? (int)(tile - key) : CASE_KEY_SIZE - 1, key, end ? end : "");
}

/* The only row of `in` that is this case but for its tile, and has no row of its own in `of`; NULL: none, or several. */
static const struct reading_row *by_case(const struct reading *in, const char *wanted, const struct reading *of)
{
	const struct reading_row *found = NULL;
	char bare[CASE_KEY_SIZE];
	for (int i = 0; i < in->n_rows; i++) {
		without_tile(in->row[i].key, bare);
		if (strcmp(bare, wanted) != 0 || reading_find(of, in->row[i].key))
			continue;
		if (found)
			return NULL;
		found = &in->row[i];
	}
	return found;
}

const struct reading_row *files_counterpart(const struct reading *of, const struct reading_row *row, const struct reading *in)
{
	const struct reading_row *found = reading_find(in, row->key);
	char bare[CASE_KEY_SIZE];
	if (found || strcmp(of->format, "ffa") != 0)
		return found;
	without_tile(row->key, bare);
	return by_case(of, bare, in) == row ? by_case(in, bare, of) : NULL;
}

void files_print_warnings(const struct buf *warnings, FILE *to)
{
	for (const char *at = warnings->data; *at; at = strchr(at, '\n') + 1)
		fprintf(to, "WARNING %.*s\n", (int)(strchr(at, '\n') - at), at);
}

int files_warn_of_timeless(const struct reading *r, const char *file, FILE *to)
{
	char told[600];
	int n = 0;
	for (int i = 0; i < r->n_rows; i++)
		if (r->row[i].failure[0]) {
			n++;
			if (to)
				fprintf(to, "WARNING %s failed in %s: %s\n", r->row[i].key, file, r->row[i].failure);
		}
	reading_tell_left(r, told, sizeof told);
	if (to && told[0])
		fprintf(to, "WARNING %s: %s\n", file, told);
	return n;
}
