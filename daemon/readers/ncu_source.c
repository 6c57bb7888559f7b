/* ncu_source.c - parser of the source page. ncu 2025.3 has no column for waits on wgmma: they are only in the sum. */
#include "readers/readers.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/lib.h"

static const struct {
	const char *column, *reason;
} reasons[] = {
	{ "stall_barrier", "barrier" },
	{ "stall_branch_resolving", "branch_resolving" },
	{ "stall_dispatch", "dispatch_stall" },
	{ "stall_drain", "drain" },
	{ "stall_gmma", "gmma" },
	{ "stall_imc", "imc_miss" },
	{ "stall_lg", "lg_throttle" },
	{ "stall_long_sb", "long_scoreboard" },
	{ "stall_math", "math_pipe_throttle" },
	{ "stall_membar", "membar" },
	{ "stall_mio", "mio_throttle" },
	{ "stall_misc", "misc" },
	{ "stall_no_inst", "no_instruction" },
	{ "stall_not_selected", "not_selected" },
	{ "stall_selected", "selected" },
	{ "stall_short_sb", "short_scoreboard" },
	{ "stall_sleep", "sleeping" },
	{ "stall_tex", "tex_throttle" },
	{ "stall_wait", "wait" },
};
enum { REASONS = sizeof reasons / sizeof reasons[0], SELECTED = 14 };

struct table {
	int n, all, column[REASONS]; /* of the current header; -1 none */
	int launches;
	bool has_rows;
	uint64_t first; /* address of the kernel's first instruction */
};

static void read_header(struct table *t, const struct csv *c)
{
	t->n = c->n;
	t->all = -1;
	memset(t->column, -1, sizeof t->column);
	for (int i = 0; i < c->n; i++) {
		if (strcmp(c->cell[i], "Warp Stall Sampling (All Samples)") == 0)
			t->all = i;
		for (int r = 0; r < REASONS; r++)
			if (strcmp(c->cell[i], reasons[r].column) == 0)
				t->column[r] = i;
	}
	t->has_rows = false;
}

/* "12", or "1,234". */
static int count_of(const char *cell)
{
	long n = 0;
	for (; *cell && n < INT_MAX / 10; cell++)
		if (*cell >= '0' && *cell <= '9')
			n = 10 * n + (*cell - '0');
		else if (*cell != ',')
			return 0;
	return (int)n;
}

static int take_row(struct table *t, const struct csv *c, ncu_stall_fn *take, void *arg, struct fw_err *err)
{
	char *end;
	uint64_t address = strtoull(c->cell[0], &end, 16);
	if (end == c->cell[0] || *end)
		return 0;
	if (!t->has_rows)
		t->first = address;
	t->has_rows = true;
	struct ncu_stall s = { .launch = t->launches - 1, .offset = (uint32_t)(address - t->first), .reason = "other" };
	int named = 0, selected = 0;
	s.samples = count_of(c->cell[t->all]);
	for (int r = 0; r < REASONS; r++) {
		int n = t->column[r] >= 0 ? count_of(c->cell[t->column[r]]) : 0;
		named += n;
		if (r == SELECTED)
			selected = n;
		else if (n > s.of_reason) {
			s.of_reason = n;
			s.reason = reasons[r].reason;
		}
	}
	if (s.samples - named > s.of_reason) {
		s.of_reason = s.samples - named;
		s.reason = "other";
	}
	if (s.of_reason == 0) { /* it does not wait */
		s.of_reason = selected;
		s.reason = reasons[SELECTED].reason;
	}
	return s.samples > 0 && address >= t->first && address - t->first <= UINT32_MAX ? take(arg, &s, err) : 0;
}

static const char *find_table(const char *text, size_t len)
{
	static const char begin[] = "\"Kernel Name\",";
	for (const char *end = text + len; text && (size_t)(end - text) >= sizeof begin - 1;) {
		if (memcmp(text, begin, sizeof begin - 1) == 0)
			return text;
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		text = newline ? newline + 1 : NULL;
	}
	return NULL;
}

int ncu_source_each(
	const char *text, size_t len, const char *file, ncu_stall_fn *take, void *arg, int *launches, struct fw_err *err)
{
	const char *begin = find_table(text, len);
	struct table t = { .all = -1 };
	struct csv c;
	int got = 0, result = 0;
	bool has_samples = false;
	*launches = 0;
	if (!begin)
		return err_set(err, ERR_INVALID, "%s: holds no table of instructions", file);
	csv_init(&c, begin, len - (size_t)(begin - text), file);
	while (result == 0 && (got = csv_next(&c, err)) == 1) {
		if (strcmp(c.cell[0], "Kernel Name") == 0) {
			t.launches++;
			t.n = 0;
		} else if (strcmp(c.cell[0], "Address") == 0) {
			read_header(&t, &c);
			has_samples = has_samples || t.all >= 0;
		} else if (t.launches > 0 && c.n == t.n && t.all >= 0 && !c.is_open) {
			result = take_row(&t, &c, take, arg, err);
		}
	}
	csv_fini(&c);
	*launches = t.launches;
	if (result != 0 || got < 0)
		return -1;
	return has_samples ? 0 : err_set(err, ERR_INVALID, "%s: its instructions have no samples", file);
}
