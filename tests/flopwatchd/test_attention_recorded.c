/*
 * Attention's history before families existed: tests/data/attention/history.txt contains what flopwatch stored of these results,
 * and displayed of each cell, at f4fe411. After an upgrade the old rows have the same keys and the same values.
 */
#include "judge_run.h"

#include <fcntl.h>

#include "db/db.h"
#include "model/model.h"

#define RECORDED "tests/data/attention/history.txt"

enum { TEXT_MAX = 1 << 20, PUSHES = 5, FIRST_MS = 1000000, HOUR_MS = 3600000 };

static void read_file(const char *path, struct buf *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("%s is missing", path);
	buf_init(text, TEXT_MAX);
	assert_int_equal(buf_read_fd(text, fd), 0);
	close(fd);
}

/* An empty result of a push with the cells of an installed suite. */
static struct result *result_of(struct fixture *f, const char *path, unsigned target)
{
	struct result *r = fixture_result(f, "main", 1, target, 1);
	struct buf text;
	struct suite s;
	read_file(path, &text);
	ok(suite_parse(text.data, text.len, path, &s, &err));
	buf_fini(&text);
	free(r->plan.request.cell);
	r->plan.request.cell = s.cell;
	r->plan.request.n_cells = s.n_cells;
	s.cell = NULL;
	snprintf(r->plan.suite_name, sizeof r->plan.suite_name, "%s", s.name);
	suite_fini(&s);
	r->plan.is_upstream = true; /* so that it is part of a history */
	snprintf(r->plan.upstream_branch, sizeof r->plan.upstream_branch, "main");
	return r;
}

/* Rounded to digits that are equal with every mathematical library. */
static void number(struct buf *out, double value)
{
	buf_printf(out, " %.9g", value);
}

static void put_cell(struct buf *out, const struct store_cell *c)
{
	const double figures[] = { c->flops, c->threshold_pct, c->m, c->m_raw, c->m_code, c->se, c->se_clock, c->beta,
		c->base_median_ms, c->target_median_ms, c->change_pct, c->ci_low_pct, c->ci_high_pct, c->mde_pct, c->decided_m,
		c->decided_se, c->decided_pct, c->held_ms };
	buf_printf(out, "%s %s %s %lld %s %d %d %s", c->key, c->group, c->direction, (long long)c->size, c->input_sha, c->runs,
		c->samples, verdict_name(c->verdict));
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
		number(out, figures[i]);
	buf_puts(out, "\n");
}

/* Judge a push with every third cell slower by `shift` and the others a little slower, and print the stored rows. */
static void push(struct fixture *f, struct buf *out, const char *path, unsigned target, double shift)
{
	struct result *r = result_of(f, path, target);
	int n = r->plan.request.n_cells;
	double *shifts = calloc((size_t)n, sizeof *shifts);
	assert_non_null(shifts);
	for (int i = 0; i < n; i++)
		shifts[i] = i % 3 ? 0.0003 * target : shift;
	fixture_measured(r, shifts);
	free(shifts);
	struct judge_outcome done = judged(f, r, FIRST_MS + (int64_t)target * HOUR_MS);
	buf_printf(out, "comparison %lld of %s: %s\n", (long long)done.comparison, path, verdict_name(done.verdict));
	for (int i = 0; i < n; i++) {
		struct store_cell c = cell_of(f, done.comparison, i);
		put_cell(out, &c);
	}
}

static void put_point(void *arg, const struct view_point *p)
{
	struct buf *out = arg;
	const double figures[] = { p->base_median_ms, p->median_ms, p->tflops, p->change_pct, p->ci_low_pct, p->ci_high_pct,
		p->held_tflops, p->reference_change_pct, p->reference_ci_low_pct, p->reference_ci_high_pct };
	buf_printf(out, "  %lld %.7s %s %s", (long long)p->comparison, p->commit + 33, p->device, verdict_name(p->verdict));
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
		number(out, figures[i]);
	buf_puts(out, "\n");
}

static void put_change(void *arg, const struct store_change *c)
{
	buf_printf(arg, "  %s %s %s from %.7s to %.7s:", c->kind, c->origin, c->state, c->before_sha + 33, c->commit_sha + 33);
	number(arg, c->change_pct);
	buf_puts(arg, "\n");
}

/* The displayed values of the cell. */
static void put_history(struct fixture *f, struct buf *out, const char *key)
{
	struct view_scope of = { .repo = "kernels", .branch = "main", .cell = key };
	buf_printf(out, "history of %s\n", key);
	ok(view_history(f->db, &of, 2 * PUSHES, put_point, out, &err));
	ok(view_changes(f->db, &of, put_change, out, &err));
}

/* Fails at the first line that differs. */
static void compare_lines(const char *got, const char *want)
{
	for (int line = 1; *got || *want; line++) {
		int n = (int)strcspn(got, "\n"), m = (int)strcspn(want, "\n");
		if (n != m || memcmp(got, want, (size_t)n) != 0)
			fail_msg(RECORDED ":%d:\n  is now %.*s\n  was    %.*s", line, n, got, m, want);
		got += n + (got[n] != 0);
		want += m + (want[m] != 0);
	}
}

static void recorded_rows_and_histories_are_unchanged(void **state)
{
	static const double shift[PUSHES] = { 0, 0.004, -0.002, 0.08, 0.07 };
	struct fixture *f = *state;
	struct buf now, before;
	buf_init(&now, TEXT_MAX);
	for (unsigned i = 0; i < PUSHES; i++)
		push(f, &now, "etc/suites/demo.yaml", 2 + i, shift[i]);
	push(f, &now, "etc/suites/ffa-smoke.yaml", 2 + PUSHES, 0.03);
	struct result *last = result_of(f, "etc/suites/demo.yaml", 3 + PUSHES);
	for (int i = 0; i < last->plan.request.n_cells; i++)
		put_history(f, &now, last->plan.request.cell[i].key);
	result_free(last);
	assert_false(now.failed);
	read_file(RECORDED, &before);
	compare_lines(now.data, before.data);
	buf_fini(&before);
	buf_fini(&now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(recorded_rows_and_histories_are_unchanged, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
