/* interleave_list.c - listing of a program's cells. */
#include "worker/internal.h"

#include <math.h>

enum {
	DEATHS_MAX = 8,
	CALLS = 4 /* calls of a cell; the first one is cold */,
	UNTIMED_MAX = 60 /* calls without a time, which are repeated */
};

#define SPENT_MS_MAX                                                                                                             \
	2000 /* no further call after this time, not counting the first call, which may include compilation or tuning */

void interleave_list_fini(struct interleave_list *l)
{
	for (int i = 0; i < l->n; i++)
		reported_kernels_fini(&l->cell[i].kernels);
	free(l->cell);
	*l = (struct interleave_list){ .n = 0 };
}

const struct interleave_reported *interleave_list_find(const struct interleave_list *l, const char *key)
{
	for (int i = 0; i < l->n; i++)
		if (strcmp(l->cell[i].key, key) == 0)
			return &l->cell[i];
	return NULL;
}

/* Start a cell, also one that the program has reached before. */
static int begin_cell(struct interleave_list *l, const char *key, bool *is_new, struct fw_err *err)
{
	// there are n cells: NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker)
	*is_new = l->n == 0 || strcmp(l->cell[l->n - 1].key, key) != 0;
	if (!*is_new)
		return 0;
	if (interleave_list_find(l, key)) {
		*is_new = false;
		l->calls = CALLS;
		return 0;
	}
	if (l->n == l->capacity) {
		if (l->n >= READING_ROWS_MAX)
			return err_set(err, ERR_PROTOCOL, "has more than %d cells", READING_ROWS_MAX);
		l->capacity = l->capacity ? 2 * l->capacity : 64;
		l->cell = mem_grow(l->cell, (size_t)l->capacity, sizeof *l->cell);
	}
	l->cell[l->n] = (struct interleave_reported){ .ms = 0 };
	snprintf(l->cell[l->n++].key, CASE_KEY_SIZE, "%s", key);
	l->calls = l->untimed = l->late = 0;
	l->spent_ms = 0;
	l->is_slow_to_begin = false;
	return 0;
}

static int answer(struct interleave_list *l, struct interleave_child *c, struct fw_err *err)
{
	bool is_new;

	if (begin_cell(l, c->protocol.key, &is_new, err) != 0)
		return -1;
	l->is_granted = l->calls < CALLS && l->spent_ms < SPENT_MS_MAX && !l->cell[l->n - 1].failure[0];
	if (l->is_granted)
		interleave_child_go(c, &(struct interleave_go){ .warm = l->calls > 0 && !l->is_slow_to_begin, .calls = 1 });
	else
		interleave_child_next(c);
	return 0;
}

static void take_fact(struct interleave_reported *cell, const struct interleave_line *line)
{
	switch (line->fact) {
	case INTERLEAVE_FLOPS:
		cell->flops = line->value;
		break;
	case INTERLEAVE_BYTES:
		cell->bytes = line->value;
		break;
	case INTERLEAVE_FIRST_MS:
		cell->first_ms = line->value;
		break;
	case INTERLEAVE_MEMORY_BYTES:
		cell->memory_bytes = line->value;
		break;
	case INTERLEAVE_OUTPUT:
		snprintf(cell->output, sizeof cell->output, "%.95s", line->text);
		break;
	case INTERLEAVE_CONFIG:
		snprintf(cell->config, sizeof cell->config, "%.159s", line->text);
		break;
	case INTERLEAVE_UNPRIMED:
		snprintf(cell->unprimed, sizeof cell->unprimed, "%.95s", line->text);
		break;
	case INTERLEAVE_KERNEL:
		reported_kernels_add(&cell->kernels, &line->kernel, line->kernels);
		break;
	}
}

/* End a cell whose calls have no times. */
static void give_up(const struct interleave_list *l, struct interleave_reported *cell)
{
	snprintf(cell->failure, sizeof cell->failure, "%s", l->late > 0 ? "unsure" : "reported");
	if (l->late > 0)
		snprintf(cell->detail, sizeof cell->detail, "could not be primed: %d of %d calls began before they were queued",
			l->late, l->untimed);
	else
		snprintf(cell->detail, sizeof cell->detail,
			"%d calls were interrupted so that none has a time: the machine is too busy", l->untimed);
}

int interleave_list_take(void *list, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err)
{
	struct interleave_list *l = list;
	struct interleave_reported *cell = l->n ? &l->cell[l->n - 1] : NULL;

	if (!cell && line->type != INTERLEAVE_HELLO && line->type != INTERLEAVE_TURN)
		return 0; /* bye: interleave_receive rejects other lines before the first turn */
	switch (line->type) {
	case INTERLEAVE_HELLO:
		l->can_interleave = true;
		return 0;
	case INTERLEAVE_TURN:
		return answer(l, c, err);
	case INTERLEAVE_DONE:
		if (line->ms <= 0) { /* an interrupted or late call without a time: repeat it */
			l->late += line->late;
			if (++l->untimed > UNTIMED_MAX && cell->ms <= 0 && !cell->failure[0])
				give_up(l, cell);
			l->calls += l->untimed > UNTIMED_MAX;
			return 0;
		}
		if (l->calls > 0)
			l->spent_ms += line->ms;
		else
			l->is_slow_to_begin = line->ms >= SPENT_MS_MAX;
		if (l->calls++ == 0)
			cell->first_ms = cell->first_ms > 0 ? cell->first_ms : line->ms;
		if (l->calls <= 2 || line->ms < cell->ms)
			cell->ms = line->ms;
		return 0;
	case INTERLEAVE_FACT:
		take_fact(cell, line);
		return 0;
	case INTERLEAVE_FAIL:
		snprintf(cell->failure, sizeof cell->failure, "%s", line->failure);
		snprintf(cell->detail, sizeof cell->detail, "%s", line->text);
		return 0;
	default:
		return 0;
	}
}

bool interleave_list_end(struct interleave_list *l, const struct interleave_side *side, const struct command_failure *problem)
{
	struct interleave_reported *cell = l->n ? &l->cell[l->n - 1] : NULL;

	if (!cell || !l->is_granted || strcmp(problem->failure, "crash") != 0 || (!interleave_holds(side) && !cell->failure[0]))
		return false;
	if (!cell->failure[0]) {
		snprintf(cell->failure, sizeof cell->failure, "%s", problem->failure);
		snprintf(cell->detail, sizeof cell->detail, "%.399s", problem->detail);
	}
	l->is_granted = false;
	l->is_cut = ++l->deaths == DEATHS_MAX;
	return true;
}

int interleave_list_reading(const struct interleave_list *l, struct reading *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	snprintf(out->format, sizeof out->format, "interleave");
	for (int i = 0; i < l->n; i++) {
		const struct interleave_reported *cell = &l->cell[i];
		const char *key = cell->key;
		double tflops = cell->flops > 0 && cell->ms > 0 ? cell->flops / (cell->ms * 1e9) : NAN;
		int result =
			cell->failure[0] || cell->ms <= 0
				? reading_fail(out, key, cell->failure[0] ? cell->detail : "no call was made", "interleave", err)
				: reading_add(out, key, cell->ms, tflops, "interleave", err);

		if (result != 0) {
			reading_fini(out);
			return -1;
		}
		if (!cell->failure[0] && cell->ms > 0)
			out->row[out->n_rows - 1].median_ms = cell->ms;
	}
	return 0;
}
