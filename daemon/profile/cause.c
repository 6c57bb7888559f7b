/*
 * cause.c - ranking of findings: all classes report, the strongest finding takes its share of the difference, then the next
 * takes its share of the rest.
 */
#include "profile/internal.h"

#include <math.h>
#include <stdlib.h>

#define DIFFERENCE_LEAST 0.001 /* of a time: less is no difference */
#define REPORT_LEAST     0.03  /* minimum share of the difference worth reporting */
#define FOLLOWS_BELOW    0.1   /* minimum unexplained share of a finding's own cost */
#define WAITS_BELOW      0.5   /* the same for a wait, which has many possible causes */
#define ENOUGH           0.5   /* of the difference */
#define KERNEL_LEAST     0.1   /* of the difference: no machine code causes are searched for kernels that changed by less */

const char *const cause_kind_names[CAUSE_KINDS + 1] = { "extra_node", "missing_node", "config", "clock", "host",
	"tensor_instructions", "exponentials", "instructions", "spills", "bank_conflicts", "shared_memory", "atomics", "l2_reads",
	"l2_writes", "dram_reads", "dram_writes", "grid", "occupancy", "imbalance", "barrier", "tensor_wait", "memory_wait",
	"shared_wait", "wait", "machine_code", "not_explained", NULL };

const char *const cause_confidence_names[CAUSE_CONFIDENCES + 1] = { "exact", "measured", "follows", "seen", "open", NULL };

struct ranking {
	const struct cause_evidence *e;
	struct pairing pairing;
	struct findings found;
	double left[PAIRING_MAX]; /* unexplained share of each kernel, in the direction of the difference */
	double of_ms, all_left;   /* of the difference, in its direction */
};

static size_t index_of(const struct ranking *r, const struct finding *f)
{
	return (size_t)(f->pair - r->pairing.pair);
}

/* Upper bound of a kernel's share in the difference: its slowdown plus its uncertainty. */
static double most_of(const struct ranking *r, const struct kernel_pair *p)
{
	if (!p->is_timed)
		return 0;
	return fmax(0, fmin(fabs(r->of_ms), p->change_ms * r->found.sign + p->slack_ms));
}

static void request_of_kernels(struct ranking *r, bool of_code)
{
	static find_fn *const classes[] = { pipe_find, spill_find, traffic_find, launch_find, wait_find };
	struct rates rates = rates_of(&r->e->device);

	for (size_t i = 0; i < r->pairing.n; i++) {
		const struct kernel_pair *p = &r->pairing.pair[i];
		struct analysis l = { .e = r->e, .pair = p, .code = pair_code(r->e, p), .sign = r->found.sign };

		r->left[i] = l.most_ms = most_of(r, p);
		if (!pair_is_whole(p))
			continue;
		if (of_code) {
			if (!p->is_timed || l.most_ms > KERNEL_LEAST * fabs(r->of_ms))
				machinecode_find(&l, &r->found);
			continue;
		}
		quantities_read(p, &rates, &l.quantity);
		stalls_read(p, &l.stalls);
		for (size_t k = 0; k < sizeof classes / sizeof classes[0]; k++)
			classes[k](&l, &r->found);
	}
}

static double unexplained_by_kernels(const struct ranking *r)
{
	double left = r->of_ms;

	for (size_t i = 0; i < r->pairing.n; i++)
		if (pair_is_whole(&r->pairing.pair[i]) && fabs(r->pairing.pair[i].change_ms) > r->pairing.pair[i].slack_ms)
			left -= r->pairing.pair[i].change_ms;
	return left;
}

static double bounded(const struct ranking *r, const struct finding *f)
{
	double most = fabs(r->of_ms);

	if (f->confidence == CAUSE_MEASURED && f->pair && pair_is_whole(f->pair))
		most = most_of(r, f->pair);
	return fmin(f->ms, most);
}

/* Strongest first. Ties follow the order of kinds, of the call and of texts, never that of the evidence. */
static int compare(const void *x, const void *y, void *context)
{
	const struct ranking *r = context;
	const struct finding *a = x, *b = y;
	bool seen_a = a->confidence == CAUSE_SEEN, seen_b = b->confidence == CAUSE_SEEN;
	double score_a = seen_a ? a->ms : a->weight * bounded(r, a), score_b = seen_b ? b->ms : b->weight * bounded(r, b);

	if (seen_a != seen_b)
		return seen_a ? 1 : -1;
	if (score_a != score_b)
		return score_a > score_b ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->pair != b->pair)
		return (uintptr_t)a->pair < (uintptr_t)b->pair ? -1 : 1;
	return strcmp(a->what, b->what);
}

/* True if two findings show the same: machine code and launch, or two views of one grid. */
static bool is_repeated(const struct findings *f, size_t at)
{
	const struct finding *of = &f->item[at];

	for (size_t i = 0; i < at; i++)
		if (f->item[i].kind == of->kind && f->item[i].pair == of->pair &&
			(of->confidence == CAUSE_SEEN || of->kind == CAUSE_GRID || of->kind == CAUSE_OCCUPANCY))
			return true;
	return false;
}

/* Give a finding its share of the rest; return its confidence. */
static enum cause_confidence take(struct ranking *r, const struct finding *f, double *explained)
{
	bool of_kernel = f->confidence == CAUSE_MEASURED && f->pair && pair_is_whole(f->pair);
	double own = bounded(r, f), left = fmax(0, r->all_left);

	if (f->confidence == CAUSE_SEEN) {
		*explained = 0;
		return CAUSE_SEEN;
	}
	if (of_kernel)
		left = fmin(left, r->left[index_of(r, f)]);
	if (left < (f->weight <= WEIGHT_WAIT ? WAITS_BELOW : FOLLOWS_BELOW) * own) {
		*explained = own;
		return CAUSE_FOLLOWS;
	}
	*explained = fmin(own, left);
	r->all_left -= *explained;
	if (of_kernel)
		r->left[index_of(r, f)] -= *explained;
	return f->confidence;
}

static struct cause is_worth_reporting(
	const struct ranking *r, const struct finding *f, enum cause_confidence confidence, double explained)
{
	struct cause c = {
		.kind = f->kind, .confidence = confidence, .explained_ms = explained * r->found.sign, .of_ms = r->of_ms
	};

	if (f->pair)
		sentence_kernel(pair_name(f->pair), c.kernel);
	sentence_write(&c, f->what, f->pair && pair_is_whole(f->pair) ? f->pair->change_ms : 0);
	return c;
}

/* Explain the effect of a configuration that comes first by the strongest counter finding. */
static void explain_first(struct ranking *r, struct cause *first)
{
	char kernel[CAUSE_NAME_SIZE];

	if (first->kind != CAUSE_CONFIG || first->confidence != CAUSE_EXACT)
		return;
	for (size_t i = 0; i < r->found.n; i++) {
		const struct finding *f = &r->found.item[i];

		if (f->kind == CAUSE_CONFIG || f->kind == CAUSE_CLOCK || f->kind == CAUSE_HOST || !f->pair ||
			f->confidence == CAUSE_SEEN)
			continue;
		sentence_kernel(pair_name(f->pair), kernel);
		sentence_add_how(first, kernel, f->what);
		return;
	}
}

static size_t append(const struct cause *from, size_t n_from, enum cause_confidence least, enum cause_confidence most,
	struct cause *out, size_t n, size_t capacity)
{
	for (size_t i = 0; i < n_from && n < capacity; i++)
		if (from[i].confidence >= least && from[i].confidence <= most)
			out[n++] = from[i];
	return n;
}

static size_t rank_causes(struct ranking *r, struct cause *out, size_t capacity)
{
	struct cause all[FINDINGS_MAX];
	size_t n = 0, n_out = 0;
	double whole = fabs(r->of_ms);

	qsort_r(r->found.item, r->found.n, sizeof r->found.item[0], compare, r);
	for (size_t i = 0; i < r->found.n; i++) {
		const struct finding *f = &r->found.item[i];
		double explained;

		if (is_repeated(&r->found, i) || (f->confidence != CAUSE_SEEN && !(bounded(r, f) > r->found.least_ms)))
			continue;
		bool enough = r->all_left < (1 - ENOUGH) * whole;

		if (f->confidence == CAUSE_SEEN && enough)
			continue;
		enum cause_confidence confidence = take(r, f, &explained);

		all[n++] = is_worth_reporting(r, f, confidence, explained);
	}
	bool open = r->all_left > (1 - ENOUGH) * whole;

	if (capacity > CAUSE_MAX)
		capacity = CAUSE_MAX;
	capacity -= open && capacity > 0;
	n_out = append(all, n, CAUSE_EXACT, CAUSE_MEASURED, out, n_out, capacity);
	n_out = append(all, n, CAUSE_SEEN, CAUSE_SEEN, out, n_out, capacity);
	n_out = append(all, n, CAUSE_FOLLOWS, CAUSE_FOLLOWS, out, n_out, capacity);
	if (n_out > 0)
		explain_first(r, &out[0]);
	return n_out;
}

size_t cause_rank(const struct cause_evidence *e, struct cause *out, size_t capacity)
{
	struct ranking r = { .e = e, .of_ms = e->target_ms - e->base_ms };
	double whole = fabs(r.of_ms);

	if (capacity == 0 || !isfinite(whole) || !(e->base_ms > 0) || !(e->target_ms > 0) ||
		whole <= fmax(isfinite(e->noise_ms) ? e->noise_ms : 0, DIFFERENCE_LEAST * e->base_ms))
		return 0;
	r.all_left = whole;
	r.found.sign = r.of_ms > 0 ? 1 : -1;
	r.found.least_ms = REPORT_LEAST * whole;
	pairing_make(e, &r.pairing);
	configuration_find(e, &r.found);
	measured_share_find(e, &r.found);
	request_of_kernels(&r, false);
	node_find(&r.pairing, unexplained_by_kernels(&r), &r.found);
	request_of_kernels(&r, true);
	size_t n = rank_causes(&r, out, capacity);

	if (r.all_left <= (1 - ENOUGH) * whole)
		return n;
	out[n] = (struct cause){
		.kind = CAUSE_NOT_EXPLAINED, .confidence = CAUSE_OPEN, .explained_ms = r.all_left * r.found.sign, .of_ms = r.of_ms
	};
	sentence_write(&out[n], e->is_counted ? "" : ", and nothing was counted", 0);
	return n + 1;
}
