/*
 * archived.c - a frame has "FWS1", the number of rows, the comparison; a struct packed_row per row; then the first bytes of all
 * values, their second bytes and so on, because the upper bytes of neighbours are similar, which zstd compresses. Little-endian.
 */
#include "db/db.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS_MAX = 1 << 20, FLOAT = sizeof(float) };

static const char magic[4] = "FWS1";

struct packed_head {
	char magic[4];
	uint32_t n_rows;
	int64_t comparison;
};

struct packed_row {
	int64_t cell, run;
	uint32_t kind, n[ARCHIVED_TIMES];
};

struct archived_row {
	int64_t cell, run, kind;
	struct {
		size_t at;
		int n;
	} times[ARCHIVED_TIMES];
};

int archived_folder(struct db *db, char *folder, size_t size, struct fw_err *err)
{
	char parent[PATH_MAX];
	db_folder(db, parent, sizeof parent);
	return snprintf(folder, size, "%s/samples", parent) < (int)size
		       ? 0
		       : err_set(err, ERR_INVALID, "the path of the database is too long");
}

/* ---- moving ------------------------------------------------------------------------------------------------------------ */

static int read_rows(struct db *db, int64_t comparison, struct buf *rows, struct buf *floats, struct fw_err *err)
{
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT t.cell, t.run, t.kind, t.ms, t.mhz, t.host_us FROM cell c CROSS JOIN sample t ON t.cell = c.id WHERE "
		"c.comparison = :comparison AND (t.ms IS NOT NULL OR t.mhz IS NOT NULL OR t.host_us IS NOT NULL) ORDER BY "
		"t.cell, t.run, t.kind",
		"comparison=%ld", comparison);
	while ((result = stmt_step(s, err)) == 1) {
		struct packed_row row = { (int64_t)htole64((uint64_t)row_int(s, 0)), (int64_t)htole64((uint64_t)row_int(s, 1)),
			htole32((uint32_t)row_int(s, 2)), { 0 } };
		for (int i = 0; i < ARCHIVED_TIMES; i++) {
			size_t len;
			const void *data = row_blob(s, 3 + i, &len);
			row.n[i] = htole32((uint32_t)(len / FLOAT));
			buf_append(floats, data, len / FLOAT * FLOAT);
		}
		buf_append(rows, &row, sizeof row);
	}
	if (result == 0 && (rows->failed || floats->failed))
		return err_set(err, ERR_FULL, "the samples of C%lld do not fit in memory", (long long)comparison);
	return result;
}

/* Reorder the bytes of `n` values by their position in a value; join reverses it. */
static void split(const char *values, size_t n, char *planes)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < FLOAT; k++)
			planes[k * n + i] = values[i * FLOAT + k];
}

static void join(const char *planes, size_t n, char *values)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < FLOAT; k++)
			values[i * FLOAT + k] = planes[k * n + i];
}

/** Minimum length of the month's file by its rows; 0 none. */
static int read_end(struct db *db, const char *month, int64_t *end, struct fw_err *err)
{
	*end = 0;
	return stmt_optional(db_first_int(db, end, err,
		"SELECT frame_offset + bytes FROM archived WHERE month = :month ORDER BY frame_offset DESC LIMIT 1", "month=%s",
		month));
}

static int append(struct db *db, int64_t comparison, const struct buf *rows, const struct buf *floats,
	struct archive_position *position, struct fw_err *err)
{
	char folder[PATH_MAX];
	int64_t end;
	struct buf data;
	struct packed_head head = { .n_rows = htole32((uint32_t)(rows->len / sizeof(struct packed_row))),
		.comparison = (int64_t)htole64((uint64_t)comparison) };
	memcpy(head.magic, magic, sizeof magic);
	if (archived_folder(db, folder, sizeof folder, err) != 0 || read_end(db, position->month, &end, err) != 0)
		return -1;
	buf_init(&data, ARCHIVE_FRAME_MAX_BYTES);
	buf_append(&data, &head, sizeof head);
	buf_append(&data, rows->data, rows->len);
	char *planes = buf_reserve(&data, floats->len);
	int result = planes ? 0 : err_set(err, ERR_FULL, "the samples of C%lld do not fit in memory", (long long)comparison);
	if (result == 0) {
		split(floats->data, floats->len / FLOAT, planes);
		buf_grown(&data, floats->len);
		result = archive_append(folder, end, data.data, data.len, position, err);
	}
	buf_fini(&data);
	return result;
}

static int run_for_comparison(struct stmt *s, int64_t comparison, struct fw_err *err)
{
	return stmt_run(stmt_bind(s, err, "comparison=%ld", comparison), err);
}

#define REMAINING                                                                                                                \
	"cell, run, kind, n, call_order, d, q, d_raw, z, z_q, beta, beta_q, power_w, temp_c, sm_mhz, reasons, "                  \
	"foreign_processes, xid, ecc, energy_j, regime"

/*
 * Shortened rows would leave their pages half empty for ever, since no row is inserted between them again. So delete the rows,
 * which frees their pages, and insert the remaining columns again.
 */
static int delete_times(struct db *db, int64_t comparison, struct fw_err *err)
{
	if (stmt_run(db_stmt(db, "CREATE TEMP TABLE IF NOT EXISTS remaining (" REMAINING ")", err), err) != 0 ||
		run_for_comparison(db_stmt(db,
					   "INSERT INTO remaining SELECT " REMAINING
					   " FROM sample WHERE cell IN (SELECT id FROM cell WHERE comparison = "
					   ":comparison)",
					   err),
			comparison, err) != 0 ||
		run_for_comparison(
			db_stmt(db, "DELETE FROM sample WHERE cell IN (SELECT id FROM cell WHERE comparison = :comparison)", err),
			comparison, err) != 0)
		return -1;
	struct stmt *s = db_stmt(
		db, "INSERT INTO sample (" REMAINING ") SELECT " REMAINING " FROM remaining ORDER BY cell, run, kind", err);
	if (stmt_run(s, err) != 0 || !(s = db_stmt(db, "DELETE FROM remaining", err)) || stmt_run(s, err) != 0)
		return -1;
	return run_for_comparison(db_stmt(db, "UPDATE comparison SET is_raw = 0 WHERE id = :comparison", err), comparison, err);
}

static int insert_position(struct db *db, int64_t comparison, const struct archive_position *position, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO archived (comparison, month, frame_offset, bytes) VALUES (:comparison, :month, :offset, :bytes)",
		"comparison=%ld month=%s offset=%ld bytes=%ld", comparison, position->month, position->offset, position->bytes);
}

int archived_move(struct db *db, int64_t before, int *n, struct fw_err *err)
{
	int64_t comparison, finished_at;
	struct archive_position position;
	struct buf rows, floats;
	*n = 0;
	int found = db_first(db, err, (comparison, finished_at),
		"SELECT id, finished_at FROM comparison WHERE is_raw AND finished_at < :before ORDER BY finished_at LIMIT 1",
		"before=%ld", before);
	if (found != 1)
		return found;
	buf_init(&rows, ROWS_MAX * sizeof(struct packed_row));
	buf_init(&floats, ARCHIVE_FRAME_MAX_BYTES);
	archive_month(finished_at, position.month);
	int result = read_rows(db, comparison, &rows, &floats, err);
	if (result == 0 && rows.len > 0) /* imported and failed comparisons have no times */
		result = append(db, comparison, &rows, &floats, &position, err) != 0 ||
					 insert_position(db, comparison, &position, err) != 0
				 ? -1
				 : 0;
	if (result == 0)
		result = delete_times(db, comparison, err);
	*n = result == 0;
	buf_fini(&rows);
	buf_fini(&floats);
	return result;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

/** Read rows and values of a frame; false: it is no frame of this comparison. */
static bool take_frame(const struct buf *data, int64_t comparison, struct archived *out)
{
	struct packed_head head;
	size_t n_floats = 0, at = sizeof head;
	if (data->len < sizeof head)
		return false;
	memcpy(&head, data->data, sizeof head);
	size_t n_rows = le32toh(head.n_rows);
	if (memcmp(head.magic, magic, sizeof magic) != 0 || (int64_t)le64toh((uint64_t)head.comparison) != comparison ||
		n_rows > ROWS_MAX || data->len - at < n_rows * sizeof(struct packed_row))
		return false;
	for (size_t i = 0; i < n_rows; i++, at += sizeof(struct packed_row)) {
		struct packed_row packed;
		memcpy(&packed, data->data + at, sizeof packed);
		struct archived_row row = { (int64_t)le64toh((uint64_t)packed.cell), (int64_t)le64toh((uint64_t)packed.run),
			le32toh(packed.kind), { { 0, 0 } } };
		for (int k = 0; k < ARCHIVED_TIMES; k++) {
			row.times[k].at = n_floats;
			row.times[k].n = (int)le32toh(packed.n[k]);
			n_floats += le32toh(packed.n[k]);
		}
		buf_append(&out->rows, &row, sizeof row);
	}
	char *values = data->len - at == n_floats * FLOAT ? buf_reserve(&out->floats, n_floats * FLOAT) : NULL;
	if (!values || out->rows.failed)
		return false;
	join(data->data + at, n_floats, values);
	buf_grown(&out->floats, n_floats * FLOAT);
	out->n_rows = (int)n_rows;
	out->row = (struct archived_row *)(void *)out->rows.data;
	return true;
}

/* The last unpacked frame, between archived_read_begin and archived_read_end. */
struct cached_frame {
	struct archive_position position;
	int64_t comparison; /* 0: none yet */
	struct archived frame;
};

static void frame_init(struct archived *a)
{
	memset(a, 0, sizeof *a);
	buf_init(&a->rows, ROWS_MAX * sizeof(struct archived_row));
	buf_init(&a->floats, ARCHIVE_FRAME_MAX_BYTES);
}

static int read_frame(
	struct db *db, const struct archive_position *position, int64_t comparison, struct archived *out, struct fw_err *err)
{
	char folder[PATH_MAX];
	struct buf data;
	buf_init(&data, ARCHIVE_FRAME_MAX_BYTES + 64);
	int result = archived_folder(db, folder, sizeof folder, err);
	if (result == 0)
		result = archive_read(folder, position, &data, err);
	if (result == 0 && !take_frame(&data, comparison, out))
		result = err_set(err, ERR_INVALID,
			"%s/%s.zst holds something else than C%lld at byte %lld; restore it from a backup", folder,
			position->month, (long long)comparison, (long long)position->offset);
	buf_fini(&data);
	return result;
}

static void free_cached(void *what)
{
	struct cached_frame *k = what;
	archived_fini(&k->frame);
	free(k);
}

void archived_read_begin(struct db *db)
{
	struct cached_frame *k = mem_alloc_zero(1, sizeof *k);
	frame_init(&k->frame);
	db_attach(db, k, free_cached);
}

void archived_read_end(struct db *db)
{
	db_attach(db, NULL, NULL);
}

static bool is_at(const struct cached_frame *k, const struct archive_position *position, int64_t comparison)
{
	return k->comparison == comparison && strcmp(k->position.month, position->month) == 0 &&
	       k->position.offset == position->offset && k->position.bytes == position->bytes;
}

static int copy_cached(
	struct db *db, struct cached_frame *k, const struct archive_position *position, int64_t comparison, struct fw_err *err)
{
	if (is_at(k, position, comparison))
		return 0;
	archived_fini(&k->frame);
	frame_init(&k->frame);
	k->comparison = 0;
	if (read_frame(db, position, comparison, &k->frame, err) != 0)
		return -1;
	k->position = *position;
	k->comparison = comparison;
	return 0;
}

int archived_read(struct db *db, int64_t cell, struct archived *out, struct fw_err *err)
{
	struct archive_position position;
	struct cached_frame *k = db_attached(db);
	int64_t comparison;
	frame_init(out);
	int found = db_first(db, err, (comparison, position.month, position.offset, position.bytes),
		"SELECT a.comparison, a.month, a.frame_offset, a.bytes FROM cell c JOIN archived a ON a.comparison = c.comparison WHERE "
		"c.id = :cell",
		"cell=%ld", cell);
	if (found != 1)
		return found;
	if (!k)
		return read_frame(db, &position, comparison, out, err) == 0 ? 1 : -1;
	if (copy_cached(db, k, &position, comparison, err) != 0)
		return -1;
	*out = k->frame;
	out->is_cached = true;
	return 1;
}

void archived_fini(struct archived *a)
{
	if (a->is_cached)
		return;
	buf_fini(&a->rows);
	buf_fini(&a->floats);
}

/* The order of read_rows. */
static int by_key(const void *a, const void *b)
{
	const struct archived_row *x = a, *y = b;
	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

const float *archived_values(const struct archived *a, int64_t cell, int64_t run, int64_t kind, enum archived_times which, int *n)
{
	const struct archived_row key = { .cell = cell, .run = run, .kind = kind };
	const struct archived_row *row = a->n_rows ? bsearch(&key, a->row, (size_t)a->n_rows, sizeof key, by_key) : NULL;
	*n = row ? row->times[which].n : 0;
	return *n ? (const float *)(const void *)(a->floats.data + row->times[which].at * FLOAT) : NULL;
}

/* ---- months ------------------------------------------------------------------------------------------------------------ */

int archived_each(struct db *db, archived_fn *each, void *arg, struct fw_err *err)
{
	/* skips from month to month through the index, instead of reading all rows */
	struct stmt *s = db_stmt(db,
		"WITH RECURSIVE m(month) AS (SELECT min(month) FROM archived UNION ALL SELECT (SELECT min(month) FROM archived "
		"WHERE month > m.month) FROM m WHERE m.month IS NOT NULL) SELECT a.month, a.frame_offset, a.bytes FROM m JOIN archived a "
		"ON a.month = m.month AND a.frame_offset = (SELECT max(frame_offset) FROM archived WHERE month = m.month)",
		err);
	struct archive_position last;
	return stmt_each(s, err, each(arg, &last), last.month, last.offset, last.bytes);
}

int archived_forget(struct db *db, const char *before, char *month, int *n, struct fw_err *err)
{
	*n = 0;
	if (db_first_text(db, month, ARCHIVE_MONTH_SIZE, err, "SELECT min(month) FROM archived WHERE month < :before",
		    "before=%s", before) < 0)
		return -1;
	if (!month[0])
		return 0;
	*n = 1;
	return db_exec(db, err, "DELETE FROM archived WHERE month = :month", "month=%s", month);
}

int archived_stray(struct db *db, const char *before, char *month, struct fw_err *err)
{
	char folder[PATH_MAX];
	const struct dirent *file;
	int remembered = 1;
	if (archived_folder(db, folder, sizeof folder, err) != 0)
		return -1;
	DIR *dir = opendir(folder);
	if (!dir)
		return errno == ENOENT ? 0 : err_sys(err, "cannot read %s", folder);
	while (errno = 0, remembered == 1 && (file = readdir(dir)))
		if (archive_month_of(file->d_name, month) && strcmp(month, before) < 0)
			remembered = db_any(db, err, "SELECT 1 FROM archived WHERE month = :month LIMIT 1", "month=%s", month);
	if (remembered == 1 && errno != 0)
		remembered = err_sys(err, "cannot read %s", folder);
	closedir(dir);
	return remembered < 0 ? -1 : remembered == 0;
}
