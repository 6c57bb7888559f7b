/* why.c - see why.c. */
#include "web/page/internal.h"

#include <stdio.h>

#include "db/db.h"

static int read_kernels(struct cause_rows *r, struct fw_err *err)
{
	struct why *w = r->w;

	if (view_profile_kernels(r->db, r->cell, rows_take_kernel, r, err) != 0)
		return -1;
	for (size_t i = 0; i < w->evidence.n_kernels; i++)
		if (rows_read_values(r, i, err) != 0)
			return -1;
	pairing_make(&w->evidence, &w->pairing);
	return 0;
}

static void begin(struct why *w)
{
	memset(w, 0, sizeof *w);
	w->head.answer = w->head.base_provider = w->head.target_provider = "";
	w->key = w->state = w->why = w->path = w->tool = w->with_config = w->stalls_why = "";
	w->evidence.base_config = w->evidence.target_config = "";
	w->base_ms = w->target_ms = NAN;
}

int why_read_line(struct db *db, int64_t alert, struct why *out, struct fw_err *err)
{
	struct cause_rows r = { .db = db, .w = out };

	begin(out);
	return view_profile_of(db, alert, 0, rows_take_head, &r, err);
}

/* The head has that of all cells. */
static int read_answer(struct cause_rows *r, struct fw_err *err)
{
	const struct why_of *of = r->of;
	const char *key = of->key ? of->key : r->cell ? r->w->key : NULL;
	struct profile_answer answer;

	if (!key)
		return 0;
	if (profile_answer(r->db, r->w->head.profile, r->w->head.state, r->state_why, key, &answer, err) != 0)
		return -1;
	r->w->head.answer = rows_text(r, answer.text);
	return 0;
}

int why_read(struct db *db, const struct why_of *of, struct why *out, struct fw_err *err)
{
	struct cause_rows r = { .db = db, .w = out, .of = of };

	begin(out);
	int found = view_profile_of(db, of->alert, of->comparison, rows_take_head, &r, err);

	if (found <= 0)
		return found;
	if (view_profile_cells(db, out->head.profile, rows_take_cell, &r, err) != 0)
		return -1;
	if (read_answer(&r, err) != 0)
		return -1;
	if (!r.cell)
		return 0;
	if (view_profile_causes(db, r.cell, rows_take_cause, &r, err) != 0 || read_kernels(&r, err) != 0 ||
		view_profile_codes(db, r.cell, rows_take_code, &r, err) != 0 ||
		view_profile_diagnostics(db, out->head.profile, rows_take_diagnostic, &r, err) != 0)
		return -1;
	return 1;
}

void why_fini(struct why *w)
{
	rows_forget(w);
}

static void write_stamp(void *arg, const struct view_profile *row)
{
	snprintf(arg, WHY_STAMP_SIZE, "%lld %s %lld", (long long)row->id, jobstate_name(row->state), (long long)row->ended_at);
}

int why_stamp(struct db *db, int64_t comparison, char *out, struct fw_err *err)
{
	out[0] = '\0';
	return view_profile_of(db, 0, comparison, write_stamp, out, err) < 0 ? -1 : 0;
}
