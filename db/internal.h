/** internal.h - declarations that the files of this folder share. */
#ifndef DB_INTERNAL_H
#define DB_INTERNAL_H

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "db/db.h"
#include "lib/lib.h"

/*
 * ---- carry_json ----
 * Converts stored JSON for carry_over.c: replaces names that changed since commit 91174416.
 *
 * Numbers, spaces and the order of keys do not change, so that only renamed keys and values differ. Pure.
 */

/** Whether a second set of runs timed the cell `key`, which bodies of 91174416 do not state. */
typedef bool carry_confirmed_fn(void *arg, const char *key, size_t len);

/**
 * Append `text` with the current names. `confirmed` (NULL: it is no body of a comparison) is called for cells without that value.
 * False: it is no JSON, or does not fit into `out`, which then holds a prefix.
 */
bool carry_json(const char *text, size_t len, carry_confirmed_fn *confirmed, void *arg, struct buf *out);

/* ---- carry_tables: The statements with which carry_over.c fills the current tables from the old ones. ---- */

struct carry_table {
	const char *name; /* of the current table */
	const char *sql;  /* one statement; `main` is the new database, `old` the old one */
};

/** Run in this order, with foreign keys off; the last entry has name NULL. */
extern const struct carry_table carry_tables[];

/*
 * ---- cell_columns ----
 * Lists of a cell's columns, from which its INSERT, UPDATE and SELECT are made.
 *
 * Each list applies a macro to every column. A value is bound by the name of its column, and a column is read as row_double(s,
 * CELL_m) from a statement that begins with CELL_SELECT.
 */

/* clang-format off */

/** Columns from the plan and the suite. */
#define CELL_GIVEN(X)                                                                                                            \
	X(n) X(key) X(suite_group) X(title) X(size) X(direction) X(series) X(input_sha) X(flops) X(bytes)                          \
	X(threshold_pct) X(tau0) X(nu0) X(underpowered_pct)
/** Columns of cell_shape, shared by all comparisons. */
#define CELL_FORM(X) X(shape) X(line) X(pieces) X(baseline)
/** Position in the history. */
#define CELL_PLACED(X) X(baseline_period) X(held_ms)
/** Results of judging, except the verdict. */
#define CELL_FOUND(X)                                                                                                            \
	X(m) X(m_raw) X(m_code) X(se) X(se_clock) X(beta) X(runs) X(samples) X(base_median_ms) X(target_median_ms)           \
	X(change_pct) X(ci_low_pct) X(ci_high_pct) X(mde_pct) X(mean_m) X(mean_se) X(slow_base) X(slow_target) X(slow_longer)    \
	X(failure) X(reason) X(flags) X(decided_by) X(decided_m) X(decided_se) X(decided_pct)

/** Doubles in `point`, one column with all values of the history page: reading it costs as much as one column. */
#define CELL_POINT(X)                                                                                                            \
	X(flops) X(held_ms) X(reference_change_pct) X(reference_ci_low_pct) X(reference_ci_high_pct) X(base_median_ms) X(change_pct)      \
	X(ci_low_pct) X(ci_high_pct)

#define CELL_OWN(X)     CELL_GIVEN(X) CELL_PLACED(X) X(verdict) CELL_FOUND(X)
#define CELL_COLUMNS(X) CELL_OWN(X) CELL_FORM(X)

#define CELL_NAME(column)   ", " #column
#define CELL_VALUE(column)  ", :" #column
#define CELL_SET(column)    ", " #column " = :" #column
#define CELL_NUMBER(column) CELL_##column,
#define POINT_NUMBER(column) POINT_##column,

/** Insert a cell of `comparison p`; CELL_FORM_INSERT comes first. */
#define CELL_INSERT                                                                                                              \
	"INSERT INTO cell (comparison, repo, branch, target_sha, device, confirmed_on, finished_at, point, cell_shape" CELL_OWN(CELL_NAME) ") "      \
	"SELECT p.id, p.repo, iif(:branch = '', p.branch, :branch), p.target_sha, coalesce(:device, p.device), :confirmed_on, p.finished_at, :point, "             \
	"(SELECT id FROM cell_shape WHERE shape = :shape AND line = :line AND pieces = :pieces AND baseline = :baseline)"              \
	CELL_OWN(CELL_VALUE) " "
#define CELL_FORM_INSERT                                                                                                         \
	"INSERT OR IGNORE INTO cell_shape (shape, line, pieces, baseline) VALUES (:shape, :line, :pieces, :baseline)"
#define CELL_SELECT                                                                                                              \
	"SELECT id, comparison" CELL_COLUMNS(CELL_NAME) ", device, confirmed_on FROM cell "                                                         \
	"JOIN (SELECT id AS its_cell_shape, shape, line, pieces, baseline FROM cell_shape) ON its_cell_shape = cell_shape "

/** Row of the best cell of improvement `c`. */
#define CELL_BEST                                                                                                                \
	"(SELECT b.id FROM cell b WHERE b.comparison = c.id AND b.verdict = 'improvement' ORDER BY b.decided_pct DESC, b.n LIMIT 1) "

/* clang-format on */

enum { CELL_id, CELL_comparison, CELL_COLUMNS(CELL_NUMBER) CELL_device, CELL_confirmed_on };
/** Read every row of a statement that begins with CELL_SELECT. */
int cell_each(struct stmt *s, view_cell_fn *each, void *arg, struct fw_err *err);

enum {
	CELL_POINT(POINT_NUMBER) POINT_FIGURES,
	POINT_BASELINE_PERIOD_AT = 8 * POINT_FIGURES, /* four bytes, 0: none; then two of flags */
	POINT_FLAGS_AT = POINT_BASELINE_PERIOD_AT + 4,
	POINT_BYTES = POINT_FLAGS_AT + 2
};

static inline void point_put_whole(unsigned char *point, int at, size_t n_bytes, uint64_t v)
{
	v = htole64(v);
	memcpy(point + at, &v, n_bytes);
}

static inline uint64_t point_get_whole(const unsigned char *point, int at, size_t n_bytes)
{
	uint64_t v = 0;
	memcpy(&v, point + at, n_bytes);
	return le64toh(v);
}

static inline void point_put(unsigned char *point, int figure, double v)
{
	uint64_t bits;
	v = isfinite(v) ? v : NAN;
	memcpy(&bits, &v, sizeof bits);
	point_put_whole(point, 8 * figure, sizeof bits, bits);
}

static inline double point_get(const unsigned char *point, int figure)
{
	uint64_t bits = point_get_whole(point, 8 * figure, sizeof bits);
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

/* ---- change points ---- */

#define CHANGE_COLUMNS                                                                                                           \
	"SELECT c.id, c.repo, c.baseline_period, c.comparison, c.key, c.kind, c.origin, c.before_sha, c.commit_sha, "            \
	"c.step, c.state, c.tried, c.points, c.found_at, c.decided_at, c.alert, c.level, c.ended_at, c.job FROM "                \
	"change_point c "

/** Read every row of a statement that begins with CHANGE_COLUMNS. */
int change_each(struct stmt *s, view_change_fn *each, void *arg, struct fw_err *err);

/*
 * ---- branch_with ----
 * The branch of a commit, an expression: the upstream branch if it contains the commit, else that of the newest push of it, or with
 * it; NULL unknown. `repo` and `sha` are expressions.
 */

#define BRANCH_WITH(repo, sha)                                                                                                   \
	"coalesce((SELECT coalesce((SELECT b.name FROM branch_tip b WHERE b.repo = q.id AND b.display = q.upstream), "           \
	"q.upstream) FROM mainline m JOIN repo q ON q.id = m.repo WHERE m.repo = " repo " AND m.sha = " sha                      \
	" AND NOT m.dropped), (SELECT j.branch FROM job j WHERE j.repo = " repo " AND j.target_sha = " sha                       \
	" AND j.branch <> '' "                                                                                                   \
	"ORDER BY j.id DESC LIMIT 1), (SELECT j.branch FROM commit_range g JOIN job j ON j.repo = g.repo AND j.target_sha = "    \
	"g.target_sha AND j.branch <> '' WHERE g.repo = " repo " AND g.sha = " sha " ORDER BY j.id DESC LIMIT 1))"

/* ---- packed: Compression of long texts with LZ4 (lz4frame.h is included in packed.c alone). ---- */

enum { PACKED_MAX_BYTES = 16 << 20 };

/** Append `data`, compressed. Err: ERR_FULL it does not fit into `out`. */
int pack(const void *data, size_t len, struct buf *out, struct fw_err *err);
/** Append the decompressed `data`, `whole` bytes. Err: ERR_INVALID it is damaged, ERR_FULL it does not fit into `out`. */
int unpack(const void *data, size_t len, size_t whole, struct buf *out, struct fw_err *err);

#endif
