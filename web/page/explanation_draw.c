/* explanation_draw.c - documented in internal.h. */
#include "web/page/internal.h"

#include <math.h>

enum { PROFILE_CELLS_MAX = 3 };

/* Data of one screen; some hundred kB, so not on the stack. */
struct explanation_view {
	struct explanation explanation, peer[SCREEN_PEERS_MAX];
	struct screen_facts facts;
};

static void take_info(void *arg, const char *info_json)
{
	struct screen_facts *f = arg;
	json_t *info = json_loads(info_json, 0, NULL);

	f->peak_tflops = comparison_number(info, "peak_tflops");
	f->dram_gb_s = f->device.dram_gb_s = comparison_number(info, "peak_gb_s");
	f->device.sms = (int)json_integer_value(json_object_get(info, "cores"));
	json_decref(info);
}

/* Read profiles of the same cell against peers. */
static int read_peers(struct db *db, const struct comparison_cell *cell, struct explanation_view *x, struct fw_err *err)
{
	for (int i = 0; i < cell->n_peers && x->facts.n_peers < SCREEN_PEERS_MAX; i++) {
		const struct explanation_source of = { .comparison = cell->peer[i].comparison, .key = cell->key };
		struct explanation *peer = &x->peer[x->facts.n_peers];
		int found = of.comparison ? explanation_read(db, &of, peer, err) : 0;

		if (found < 0)
			return -1;
		if (found == 0) {
			explanation_fini(peer);
			memset(peer, 0, sizeof *peer);
			continue;
		}
		x->facts.peer[x->facts.n_peers].provider = cell->peer[i].provider;
		x->facts.peer[x->facts.n_peers++].explanation = peer;
	}
	return 0;
}

/* Read what screens show besides the profile. `c` and `cell` NULL: the facts about the profiled cell are unknown. */
static int read_facts(struct db *db, const struct comparison *c, const struct comparison_cell *cell, struct explanation_view *x,
	struct fw_err *err)
{
	x->facts = (struct screen_facts){ .base_tflops = NAN, .target_tflops = NAN, .peak_tflops = NAN, .dram_gb_s = NAN };
	if (!c)
		return 0;
	if (view_device_info(db, c->environment.device, take_info, &x->facts, err) != 0)
		return -1;
	if (!cell)
		return 0;
	x->facts.base_tflops = cell->base_tflops;
	x->facts.target_tflops = cell->target_tflops;
	x->facts.device.mhz = cell->target_mhz;
	return read_peers(db, cell, x, err);
}

static void forget(struct explanation_view *x)
{
	for (int i = 0; i < SCREEN_PEERS_MAX; i++)
		explanation_fini(&x->peer[i]);
	explanation_fini(&x->explanation);
	free(x);
}

int explanation_draw_cell(
	struct db *db, struct buf *out, const struct comparison *c, const struct comparison_cell *cell, struct fw_err *err)
{
	const struct explanation_source of = { .comparison = c->id, .key = cell->key };
	char stamp[EXPLANATION_STAMP_SIZE];

	if (explanation_stamp(db, c->id, stamp, err) != 0)
		return -1;
	if (!*stamp) /* most comparisons have no profile, and struct explanation_view is large */
		return 0;
	struct explanation_view *x = mem_alloc_zero(1, sizeof *x);
	int found = explanation_read(db, &of, &x->explanation, err), result = found < 0 ? -1 : 0;

	if (found == 1 && (result = read_facts(db, c, cell, x, err)) == 0) {
		emit_raw(out, "<section class=whys><h3>Why</h3>");
		screen_draw(out, &x->explanation, &x->facts);
		emit_raw(out, "</section>\n");
	} else if (found == 0 && x->explanation.head.profile && x->explanation.head.state != JOBSTATE_DONE) {
		screen_line(out, &x->explanation);
	}
	forget(x);
	return result;
}

struct of_profile {
	int64_t id;
	int n_cells;
};

/* Draw the nth cell of an alert's profile, the largest regression first. 1; 0 there are no more cells; -1. */
static int alert_cell(struct db *db, struct buf *out, int64_t alert, int n, const struct comparison *c, struct of_profile *all,
	struct fw_err *err)
{
	const struct explanation_source of = { .alert = alert, .n = n };
	struct explanation_view *x = mem_alloc_zero(1, sizeof *x);

	int found = explanation_read(db, &of, &x->explanation, err);
	const struct comparison_cell *cell = found == 1 && c ? comparison_find(c, x->explanation.key) : NULL;

	*all = (struct of_profile){ x->explanation.head.profile, x->explanation.n_cells };
	if (found == 1 && read_facts(db, c, cell, x, err) != 0)
		found = -1;
	if (found == 1) {
		emit_format(out, "<details class=whys id=\"why-%lld-%d\"><summary>Why, in %s</summary>", (long long)alert, n,
			x->explanation.key);
		screen_draw(out, &x->explanation, &x->facts);
		emit_raw(out, "</details>\n");
	}
	forget(x);
	return found;
}

int explanation_draw_alert(struct db *db, struct buf *out, int64_t alert, int64_t comparison, struct fw_err *err)
{
	struct view_around around;
	struct comparison c;
	struct fw_err missing = { 0 };
	struct of_profile all = { 0, 0 };
	int found = 1;
	bool begun = comparison && view_around(db, comparison, &around, &missing) == 0;
	bool has = begun && comparison_read(db, comparison, &around, &c, &missing) == 0;

	for (int n = 0; n < PROFILE_CELLS_MAX && found == 1; n++)
		found = alert_cell(db, out, alert, n, has ? &c : NULL, &all, err);
	if (found == 1 && all.n_cells > PROFILE_CELLS_MAX)
		emit_rawf(out, "<p>%d more cells are in <a href=\"/api/v1/profiles/%lld.md\">profile %lld</a>.</p>\n",
			all.n_cells - PROFILE_CELLS_MAX, (long long)all.id, (long long)all.id);
	if (begun)
		comparison_free(&c);
	return found < 0 ? -1 : 0;
}

int explanation_draw_line(struct db *db, struct buf *out, int64_t alert, const struct comparison *c, struct fw_err *err)
{
	struct explanation explanation;
	int found = 0;

	if (alert) {
		found = explanation_read_line(db, alert, &explanation, err);
		if (found == 1)
			screen_line(out, &explanation);
		explanation_fini(&explanation);
	}
	if (found == 0 && c)
		emit_format(out, "%s{?<p class=why><b>Why:</b> *.</p>\n}", comparison_unprofiled(c));
	return found < 0 ? -1 : 0;
}

int explanation_draw_line_of(struct db *db, struct buf *out, int64_t alert, int64_t comparison, struct fw_err *err)
{
	struct comparison c;
	struct fw_err missing = { 0 };
	size_t before = out->len;
	int result = explanation_draw_line(db, out, alert, NULL, err);

	if (result != 0 || out->len != before || !comparison)
		return result;
	if (comparison_read(db, comparison, NULL, &c, &missing) == 0)
		result = explanation_draw_line(db, out, 0, &c, err);
	comparison_free(&c);
	return result;
}
