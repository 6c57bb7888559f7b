/* files.c - documented in internal.h. */
#include "cli/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int files_read_text(const char *path, struct buf *text, struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s", path);
	int result = buf_read_fd(text, fd) != 0 ? err_sys(err, "%s", path) : 0;
	close(fd);
	return result;
}

/* An option that only one format supports is an error with others, never ignored. */
static int check_options(const char *path, const char *format, const struct options *o, struct fw_err *err)
{
	const struct {
		const char *option, *format, *why;
		bool given;
	} rules[] = {
		{ "--unit", "triton", "whose columns may have none", o->unit != NULL },
		{ "--results", "triton", "whose columns may have none", o->results != NULL },
		{ "--metric", "ncu", "which has more than times", o->metric != NULL },
		{ "--kernel", "ncu", "which names kernels", o->kernel != NULL },
		{ "--ids", "ncu", "which numbers kernel launches", o->ids != NULL },
		{ "--launches", "ncu", "which lists kernel launches", o->launches > 0 },
		{ "--warmup", "ncu", "which lists kernel launches", o->warmup > 0 },
	};

	if (o->time && !format_has_times(format_from_name(format)))
		return err_set(
			err, ERR_INVALID, "%s: --time is for google-benchmark, which writes two; %s has one time", path, format);
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (rules[i].given && strcmp(format, rules[i].format) != 0)
			return err_set(err, ERR_INVALID, "%s: %s is for %s, %s; this file is read as %s", path, rules[i].option,
				rules[i].format, rules[i].why, format);
	if (o->ids && o->ids[strspn(o->ids, "0123456789,-")])
		return err_set(err, ERR_INVALID, "--ids %.60s: write numbers and ranges, as in 3-5,9", o->ids);
	return 0;
}

/* Write the names in a table's first line: the user sees which ones were not recognised. */
static void first_names(const struct buf *text, char *out, size_t size)
{
	size_t n = strcspn(text->data, "\r\n");
	char line[160];

	snprintf(line, sizeof line, "%.*s", (int)(n < 120 ? n : 120), text->data);
	reading_show(line, out, size);
}

/* The format of a text; NULL with `err`: no known format. */
static const char *format_of(const struct buf *text, const char *path, const struct options *o, struct fw_err *err)
{
	const char *format = o->format ? o->format : reading_guess(text->data, text->len, path);
	char names[200];

	if (format)
		return format;
	if (text->len == 0) {
		err_set(err, ERR_INVALID, "%s: is empty", path);
	} else if (memchr(text->data, 0, text->len) || (text->len >= 2 && (unsigned char)text->data[0] >= 0xfe)) {
		err_set(err, ERR_INVALID, "%s: is not UTF-8 text; UTF-16 becomes it by iconv -f UTF-16 -t UTF-8", path);
	} else if (memchr(text->data, ',', text->len) && text->data[0] != '{' && text->data[0] != '[') {
		first_names(text, names, sizeof names);
		err_set(err, ERR_INVALID,
			"%s:1: is not a known table: %s. Formats that are read are " FORMAT_NAMES
			"; name the format with --format (--format triton reads any table of sizes and times)",
			path, names);
	} else {
		err_set(err, ERR_INVALID, "%s: has an unknown format; name it with --format: " FORMAT_NAMES, path);
	}
	return NULL;
}

/* other` NULL: there is no second file. */
static int parse(const char *path, const char *format, const struct buf *text, const struct buf *other, bool traffic,
	bool name_device, const struct options *o, struct reading *out, struct fw_err *err)
{
	const struct reading_options how = { .format = format,
		.unit = o->unit ? o->unit : "",
		.time = o->time ? o->time : "",
		.name_device = name_device,
		.results = o->results,
		.metrics = o->metric,
		.traffic = traffic,
		.kernel = o->kernel,
		.ids = o->ids,
		.launches = o->launches,
		.warmup = o->warmup,
		.other = other ? other->data : NULL,
		.other_len = other ? other->len : 0 };
	return reading_parse(&how, text->data, text->len, path, out, err);
}

/* The format of a text that was read from `path`, and whether the options fit it. */
static int choose_format(
	const char *path, const struct options *o, const struct buf *text, const char **format, struct fw_err *err)
{
	*format = format_of(text, path, o, err);
	return *format ? check_options(path, *format, o, err) : -1;
}

/* A file's text and its format. */
static int load(const char *path, const struct options *o, struct buf *text, const char **format, struct fw_err *err)
{
	buf_init(text, READING_BYTES_MAX + 1);
	if (files_read_text(path, text, err) != 0)
		return -1;
	return choose_format(path, o, text, format, err);
}

/* Split standard input into both files, the first of `split` bytes. Shape: text[2]. Own: the caller frees both, also after a failure. */
static int read_both(const char *split, struct buf text[2], struct fw_err *err)
{
	struct buf all;
	const unsigned long long bytes = strtoull(split, NULL, 10);
	int result = 0;
	for (int i = 0; i < 2; i++)
		buf_init(&text[i], READING_BYTES_MAX + 1);
	buf_init(&all, 2 * (size_t)READING_BYTES_MAX + 1);
	if (buf_read_fd(&all, STDIN_FILENO) != 0) {
		result = err_sys(err, "standard input");
	} else if (all.failed) {
		result = err_set(err, ERR_INVALID, "standard input: is larger than two files of %d MiB", READING_BYTES_MAX >> 20);
	} else if (bytes > all.len) {
		result = err_set(
			err, ERR_INVALID, "standard input: has %zu bytes, fewer than the first file (%s)", all.len, split);
	} else {
		buf_append(&text[0], all.data, (size_t)bytes);
		buf_append(&text[1], all.data + bytes, all.len - (size_t)bytes);
	}
	buf_fini(&all);
	if (result == 0 && (text[0].failed || text[1].failed))
		result = err_set(err, ERR_INVALID, "standard input: the %s file is larger than %d MiB",
			text[0].failed ? "first" : "second", READING_BYTES_MAX >> 20);
	return result;
}

int files_read(const char *path, const struct options *o, struct reading *out, struct fw_err *err)
{
	const char *format;
	struct buf text;
	int result = load(path, o, &text, &format, err);
	if (result == 0)
		result = parse(path, format, &text, NULL, false, false, o, out, err);
	buf_fini(&text);
	return result;
}

/*
 * Read both files. If only one of them contains several cards, the card is added to the names of the other, so that its rows
 * match those of the same card.
 */
static int parse_both(const char *const path[2], const char *format, const struct buf text[2], bool traffic,
	const struct options *o, struct reading reading[2], struct fw_err *err)
{
	int result = 0;
	for (int i = 0; i < 2 && result == 0; i++)
		result = parse(path[i], format, &text[i], &text[!i], traffic, false, o, &reading[i], err);
	for (int i = 0; i < 2 && result == 0; i++)
		if (reading[i].n_devices == 1 && reading[!i].n_devices > 1) {
			reading_fini(&reading[i]);
			result = parse(path[i], format, &text[i], &text[!i], traffic, true, o, &reading[i], err);
		}
	return result;
}

int files_read_pair(const char *const path[2], const struct options *o, bool traffic, struct reading reading[2],
	struct buf *warnings, int *unpaired, struct fw_err *err)
{
	const char *format[2];
	struct buf text[2];
	int result = 0;
	memset(reading, 0, 2 * sizeof *reading);
	memset(text, 0, sizeof text);
	if (o->stdin_bytes)
		result = read_both(o->stdin_bytes, text, err);
	for (int i = 0; i < 2 && result == 0; i++)
		result = o->stdin_bytes ? choose_format(path[i], o, &text[i], &format[i], err)
					: load(path[i], o, &text[i], &format[i], err);
	if (result == 0 && strcmp(format[0], format[1]) != 0)
		result = err_set(err, ERR_INVALID, "%s is of format %s and %s of format %s; two of one format are compared",
			path[0], format[0], path[1], format[1]);
	if (result == 0)
		result = parse_both(path, format[0], text, traffic, o, reading, err);
	if (result == 0)
		result = reading_pair(&reading[0], path[0], &reading[1], path[1], warnings, unpaired, err);
	for (int i = 0; i < 2; i++) {
		buf_fini(&text[i]);
		if (result != 0)
			reading_fini(&reading[i]);
	}
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
	return S_ISREG(st.st_mode) ? 0 : err_set(err, ERR_INVALID, "%s is not a regular file", path);
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

/* ---- rows of the same case ------------------------------------------------------------------------------------------------ */

/* The key without the tile of the kernel: two builds may choose different tiles for a case. Shape: out[CASE_KEY_SIZE]. */
static void without_tile(const char *key, char out[CASE_KEY_SIZE])
{
	const char *tile = strstr(key, "/tile"), *end = tile ? strchr(tile + 1, '/') : NULL;
	snprintf(out, CASE_KEY_SIZE, "%.*s%s", end ? (int)(tile - key) : CASE_KEY_SIZE - 1, key, end ? end : "");
}

/*
 * The only row of `in` that is this case except for its tile, and has no row with the same key in `of`; NULL: none, or several.
 */
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

/* ---- rows that tables do not show ----------------------------------------------------------------------------------------- */

/*
 * Print omitted rows with their lines if the format has lines, else in one sentence. `names`: all files that omit them; the lines
 * are those of `file`.
 */
static void print_left(const struct reading *r, const char *file, const char *names)
{
	enum { PRINTED_MAX = 20 };
	char reported[600];
	int printed = 0;

	fflush(stdout); /* print the table before its warnings */
	for (int i = 0; i < r->n_left && printed < PRINTED_MAX; i++)
		if (r->left[i].line > 0) {
			fprintf(stderr, "WARNING %s:%d: %s was left out%s: %s\n", file, r->left[i].line, r->left[i].key,
				strcmp(file, names) == 0 ? "" : " of both files", r->left[i].why);
			printed++;
		}
	if (printed > 0) {
		fprintf(stderr, "WARNING %s: %d %s left out\n", names, r->n_left, r->n_left == 1 ? "row was" : "rows were");
		return;
	}
	reading_report_skipped(r, reported, sizeof reported);
	if (reported[0])
		fprintf(stderr, "WARNING %s: %s\n", names, reported);
}

int files_warn_of_timeless(const struct reading *r, const char *file, FILE *to)
{
	int n = 0;
	for (int i = 0; i < r->n_rows; i++)
		if (r->row[i].failure[0]) {
			n++;
			if (to)
				fprintf(to, "WARNING %s failed in %s: %s\n", r->row[i].key, file, r->row[i].failure);
		}
	if (to)
		print_left(r, file, file);
	for (int i = 0; i < r->n_notes && to; i++)
		fprintf(to, "NOTE %s: %s\n", file, r->note[i]);
	return n;
}

static bool fails_in_both(const struct reading *of, const struct reading_row *row, const struct reading *in)
{
	const struct reading_row *other = files_counterpart(of, row, in);
	return other && strcmp(row->failure, other->failure) == 0;
}

static bool is_skipped_in_both(const struct reading_skipped *left, const struct reading *in)
{
	const struct reading_skipped *other = reading_find_skipped(in, left->key);
	return other && strcmp(left->why, other->why) == 0;
}

static bool has_note(const struct reading *r, const char *note)
{
	for (int i = 0; i < r->n_notes; i++)
		if (strcmp(r->note[i], note) == 0)
			return true;
	return false;
}

/* Print the omitted rows of `r` that `other` also omits for the same reason, or those that it does not. */
static void print_left_part(const struct reading *r, const struct reading *other, bool alike, const char *file, const char *names)
{
	struct reading part = { .left = mem_alloc_zero((size_t)r->n_left + 1, sizeof *part.left) };
	for (int i = 0; i < r->n_left; i++)
		if (is_skipped_in_both(&r->left[i], other) == alike)
			part.left[part.n_left++] = r->left[i];
	print_left(&part, file, names);
	free(part.left);
}

int files_warn_of_both(const struct reading reading[2], const char *const path[2], FILE *to)
{
	int n = 0;
	struct buf both;
	buf_init(&both, 1 << 16);
	buf_puts(&both, path[0]);
	if (strcmp(path[0], path[1]) != 0)
		buf_printf(&both, " and %s", path[1]);
	for (int side = 0; side < 2; side++) {
		const struct reading *r = &reading[side], *other = &reading[!side];
		for (int i = 0; i < r->n_rows; i++) {
			const struct reading_row *row = &r->row[i];
			bool alike = row->failure[0] && fails_in_both(r, row, other);
			if (!row->failure[0] || (alike && side == 1))
				continue;
			n += side;
			if (to)
				fprintf(to, "WARNING %s failed in %s: %s\n", row->key, alike ? both.data : path[side],
					row->failure);
		}
		for (int i = 0; i < r->n_notes && to; i++) {
			bool alike = has_note(other, r->note[i]);
			if (!alike || side == 0)
				fprintf(to, "NOTE %s: %s\n", alike ? both.data : path[side], r->note[i]);
		}
	}
	if (to) {
		print_left_part(&reading[0], &reading[1], true, path[0], both.data);
		for (int side = 0; side < 2; side++)
			print_left_part(&reading[side], &reading[!side], false, path[side], path[side]);
	}
	buf_fini(&both);
	return n;
}
