/* cost_why.c - why a cost besides time grew, from what the runner recorded of both sides' calls. */
#include "flopwatchd/record/internal.h"

#include <math.h>

enum { KERNELS_NAMED = 2, TEXT_BYTES = 2048 };

/** One cell of a result. `base` and `target`: NULL if that side was not checked. */
struct subject {
	const struct result *r;
	int cell;
	const struct msg_work *base, *target;
	struct buf *out;
};

/* ---- provider, configuration, plan ------------------------------------------------------------------------------------- */

static bool find_choice(const struct subject *s)
{
	char choice[CONFIG_DELTA_SIZE];
	char chosen[RESULT_CHOICE_SIZE];
	for (int i = 0; i < REPORTED_KERNELS_MAX; i++)
		if (result_other_choice(s->r, s->cell, i, chosen)) {
			buf_puts(s->out, chosen);
			return true;
		}
	if (!s->base || !s->target)
		return false;
	if (strcmp(s->base->provider, s->target->provider) != 0) {
		buf_printf(s->out, "the target runs provider %s instead of %s", s->target->provider, s->base->provider);
		return true;
	}
	config_choice_text(s->base->config, s->target->config, choice);
	if (choice[0])
		buf_printf(s->out, "the target runs with %s", choice);
	return choice[0] != '\0';
}

/** Name the step that has more than half of the growth of the first call. */
static bool find_step(const struct subject *s)
{
	char values[COST_VALUES_SIZE];
	if (!s->base || !s->target || !(s->base->plan_ms > 0) || !(s->target->plan_ms > 0))
		return false;
	double base = s->base->plan_ms, target = s->target->plan_ms;
	bool is_plan = 2 * (target - base) >= s->target->first_ms - s->base->first_ms;
	if (!is_plan) {
		base = s->base->first_ms - base;
		target = s->target->first_ms - target;
	}
	cost_values("first", target, " instead of ", base, values, sizeof values);
	buf_printf(s->out, "%s %s", is_plan ? "the plan takes" : "bind and first call after the plan take", values);
	if (is_plan && s->target->tried.of > s->base->tried.of)
		buf_printf(s->out, ", and tries %d instead of %d configurations", s->target->tried.of, s->base->tried.of);
	return true;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------------- */

static bool is_like(const struct subject *s, const struct msg_node *node, enum role role, const struct msg_node *like)
{
	return node->cell == s->cell && node->role == role && strcmp(node->kernel, like->kernel) == 0 &&
	       strcmp(node->phase, like->phase) == 0;
}

/** Return the node of `role` with the same name, phase and rank among its like as node `k`; NULL none. */
static const struct msg_node *counterpart(const struct subject *s, int k, enum role role)
{
	const struct msg_node *of = &s->r->node[k];
	int rank = 0;
	for (int i = 0; i < k; i++)
		rank += is_like(s, &s->r->node[i], of->role, of);
	for (int i = 0; i < s->r->n_nodes; i++)
		if (is_like(s, &s->r->node[i], role, of) && rank-- == 0)
			return &s->r->node[i];
	return NULL;
}

static void put_kernel(struct buf *out, const struct msg_node *node)
{
	char name[CAUSE_NAME_SIZE];
	sentence_kernel(node->kernel, name);
	buf_printf(out, "%s%s%s%s", name, node->phase[0] ? " (" : "", node->phase, node->phase[0] ? ")" : "");
}

/** Write the kernels that only one side launches: "zero (fill), reduce (run) and 2 more". Returns their number. */
static int list_unpaired(const struct subject *s, enum role role, struct buf *out)
{
	enum role other = role == ROLE_BASE ? ROLE_TARGET : ROLE_BASE;
	int n = 0;
	for (int k = 0; k < s->r->n_nodes; k++) {
		const struct msg_node *node = &s->r->node[k];
		if (node->cell != s->cell || node->role != role || counterpart(s, k, other))
			continue;
		if (n++ >= KERNELS_NAMED)
			continue;
		buf_puts(out, n > 1 ? ", " : "");
		put_kernel(out, node);
	}
	if (n > KERNELS_NAMED)
		buf_printf(out, " and %d more", n - KERNELS_NAMED);
	return n;
}

static bool find_launches(const struct subject *s)
{
	struct buf more, fewer;
	bool has_graphs =
		isfinite(result_launches(s->r, ROLE_BASE, s->cell)) && isfinite(result_launches(s->r, ROLE_TARGET, s->cell));
	buf_init(&more, TEXT_BYTES);
	buf_init(&fewer, TEXT_BYTES);
	int n_more = has_graphs ? list_unpaired(s, ROLE_TARGET, &more) : 0;
	int n_fewer = has_graphs ? list_unpaired(s, ROLE_BASE, &fewer) : 0;
	if (n_more && n_fewer)
		buf_printf(s->out, "a call launches %s instead of %s", more.data, fewer.data);
	else if (n_more)
		buf_printf(s->out, "a call also launches %s", more.data);
	else if (n_fewer)
		buf_printf(s->out, "a call no longer launches %s", fewer.data);
	buf_fini(&fewer);
	buf_fini(&more);
	return n_more || n_fewer;
}

static void put_resource(struct buf *out, const char *unit, int base, int target)
{
	if (base != target)
		buf_printf(out, ", with %d instead of %d %s", target, base, unit);
}

/** Name the first kernel of the target whose code or grid differs from the base's kernel of that name. */
static bool find_kernel(const struct subject *s)
{
	for (int k = 0; k < s->r->n_nodes; k++) {
		const struct msg_node *t = &s->r->node[k];
		bool is_targets = t->cell == s->cell && t->role == ROLE_TARGET;
		const struct msg_node *b = is_targets ? counterpart(s, k, ROLE_BASE) : NULL;
		if (!b)
			continue;
		bool has_other_code = !result_same_code(b, t) || b->registers != t->registers || b->local_bytes != t->local_bytes;
		if (has_other_code) {
			buf_puts(s->out, "the machine code of ");
			put_kernel(s->out, t);
			buf_puts(s->out, " differs");
			put_resource(s->out, "registers a thread", b->registers, t->registers);
			put_resource(s->out, "bytes of local memory", b->local_bytes, t->local_bytes);
			return true;
		}
		if (memcmp(b->grid, t->grid, sizeof b->grid) != 0) {
			put_kernel(s->out, t);
			buf_printf(s->out, " runs in %d x %d x %d blocks instead of %d x %d x %d", t->grid[0], t->grid[1],
				t->grid[2], b->grid[0], b->grid[1], b->grid[2]);
			return true;
		}
	}
	return false;
}

/** More work of a call, as the modules report it. */
static bool find_claims(const struct subject *s)
{
	enum { LEAST_PCT = 1 };
	if (!s->base || !s->target)
		return false;
	const struct {
		double base, target;
		const char *what;
	} claims[] = { { s->base->flops_issued, s->target->flops_issued, "arithmetic" },
		{ s->base->bytes_moved, s->target->bytes_moved, "moved bytes" } };
	for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
		double more_pct = 100 * (claims[i].target / claims[i].base - 1);
		if (!(claims[i].base > 0) || !(more_pct > LEAST_PCT))
			continue;
		buf_printf(s->out, "a call of the target reports %.3g %% more %s", more_pct, claims[i].what);
		return true;
	}
	return false;
}

/** What remains if both sides run the same kernels in the same way. */
static bool find_rest(const struct subject *s, enum cost c)
{
	static const char *const rest[COST_N] = {
		[COST_MEMORY] = "so the plan requests more workspace for the same work",
		[COST_FIRST] = "so the host or the choice of a configuration takes longer",
		[COST_HOST] = "so enqueue itself takes longer",
		[COST_ERROR] = "so their arguments or the order of their sums differ",
		[COST_ENERGY] = "so their arguments, their data or the device differ",
	};
	if (rest[c] && result_launches_equal(s->r, s->cell)) {
		buf_printf(s->out, "both sides launch the same kernels in the same grids, %s", rest[c]);
		return true;
	}
	bool is_plan_alone = c == COST_MEMORY && s->base && s->target && s->target->provider[0] &&
			     !isfinite(result_launches(s->r, ROLE_TARGET, s->cell));
	if (is_plan_alone)
		buf_puts(s->out, "the plan requests more workspace with the same provider and configuration");
	return is_plan_alone;
}

/* ---- the sentence ------------------------------------------------------------------------------------------------------ */

void cost_why(const struct result *r, enum cost c, int cell, char out[COST_WHY_SIZE])
{
	struct buf text;
	const struct subject s = { .r = r,
		.cell = cell,
		.base = result_work(r, ROLE_BASE, cell),
		.target = result_work(r, ROLE_TARGET, cell),
		.out = &text };
	buf_init(&text, TEXT_BYTES);
	(void)((c == COST_FIRST && find_step(&s)) || find_choice(&s) || find_launches(&s) || find_kernel(&s) ||
		(c == COST_ENERGY && find_claims(&s)) || find_rest(&s, c));
	snprintf(out, COST_WHY_SIZE, "%s", text.data && !text.failed ? text.data : "");
	buf_fini(&text);
}
