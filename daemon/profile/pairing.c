/* pairing.c - longest common subsequence of two lists of nodes, then rules for the gaps. */
#include "profile/profile.h"

#include <math.h>

#define CYCLES     "gpc__cycles_elapsed.max"
#define DURATION   "gpu__time_duration.sum" /* ns */
#define TIME_FLOOR 0.001                    /* of a time: processes do not repeat it better */
#define NOISES     3

/* A side's nodes in launch order, from the process with most of them. */
struct side {
	size_t n;
	const struct cause_kernel *node[CAUSE_KERNELS_MAX];
};

static const char *text(const char *s)
{
	return s ? s : "";
}

const struct cause_kernel *pair_kernel(const struct kernel_pair *p, int side)
{
	return p->at[side][0] ? p->at[side][0] : p->at[side][1];
}

bool pair_is_whole(const struct kernel_pair *p)
{
	return pair_kernel(p, 0) && pair_kernel(p, 1);
}

const char *pair_name(const struct kernel_pair *p)
{
	const struct cause_kernel *k = pair_kernel(p, 1);

	return text((k ? k : pair_kernel(p, 0))->name);
}

const struct cause_code *pair_code(const struct cause_evidence *e, const struct kernel_pair *p)
{
	const struct cause_kernel *base = pair_kernel(p, 0), *target = pair_kernel(p, 1);

	for (size_t i = 0; i < e->n_codes; i++)
		if (strcmp(text(e->code[i].base), base ? text(base->name) : "") == 0 &&
			strcmp(text(e->code[i].target), target ? text(target->name) : "") == 0)
			return &e->code[i];
	return NULL;
}

static void insert(struct side *s, const struct cause_kernel *k)
{
	size_t i = s->n;

	for (size_t j = 0; j < s->n; j++)
		if (s->node[j]->n == k->n)
			return;
	if (s->n == CAUSE_KERNELS_MAX)
		return;
	for (s->n++; i > 0 && s->node[i - 1]->n > k->n; i--)
		s->node[i] = s->node[i - 1];
	s->node[i] = k;
}

static void side_of(const struct cause_evidence *e, bool of_target, struct side *out)
{
	struct side of[CAUSE_REPEATS] = { 0 };

	for (size_t i = 0; i < e->n_kernels; i++)
		if (e->kernel[i].of_target == of_target && e->kernel[i].repeat >= 0 && e->kernel[i].repeat < CAUSE_REPEATS)
			insert(&of[e->kernel[i].repeat], &e->kernel[i]);
	*out = of[1].n > of[0].n ? of[1] : of[0];
}

/* Length of a name without its template arguments: "void f<128, 3>(job)" is "void f". */
static size_t stem(const char *name)
{
	return strcspn(name, "<(");
}

enum likeness { SAME, LINKED, ALIKE, PLACED };

static bool alike(const struct cause_evidence *e, const struct cause_kernel *a, const struct cause_kernel *b, enum likeness how)
{
	const char *x = text(a->name), *y = text(b->name);

	if (strcmp(text(a->phase), text(b->phase)) != 0)
		return false;
	if (strcmp(x, y) == 0)
		return true;
	for (size_t i = 0; how >= LINKED && i < e->n_codes; i++)
		if (strcmp(text(e->code[i].base), x) == 0 && strcmp(text(e->code[i].target), y) == 0)
			return true;
	if (how >= ALIKE && stem(x) == stem(y) && strncmp(x, y, stem(x)) == 0)
		return true;
	return how == PLACED && strncmp(x, "mem", 3) != 0 && strncmp(y, "mem", 3) != 0;
}

/* Pair the same node of a side's other process: same position, same name. */
static void add_pair(
	const struct cause_evidence *e, struct pairing *out, const struct cause_kernel *base, const struct cause_kernel *target)
{
	struct kernel_pair *p = &out->pair[out->n++];
	const struct cause_kernel *of[2] = { base, target };

	*p = (struct kernel_pair){ 0 };
	for (size_t i = 0; i < e->n_kernels; i++) {
		const struct cause_kernel *k = &e->kernel[i], *like = of[k->of_target];

		if (like && k->n == like->n && k->repeat >= 0 && k->repeat < CAUSE_REPEATS &&
			strcmp(text(k->name), text(like->name)) == 0 && strcmp(text(k->phase), text(like->phase)) == 0)
			p->at[k->of_target][k->repeat] = k;
	}
}

/* Pair nodes [a, a_end) and [b, b_end), of which no two match by `how`, by the next rule, then alone. */
static void pair_range(const struct cause_evidence *e, struct pairing *out, const struct side *base, size_t a, size_t a_end,
	const struct side *target, size_t b, size_t b_end, enum likeness how)
{
	size_t n = a_end - a, m = b_end - b;
	uint16_t longest[CAUSE_KERNELS_MAX + 1][CAUSE_KERNELS_MAX + 1];

	if (how > PLACED || n == 0 || m == 0 || (how == PLACED && n != m)) {
		for (; a < a_end; a++)
			add_pair(e, out, base->node[a], NULL);
		for (; b < b_end; b++)
			add_pair(e, out, NULL, target->node[b]);
		return;
	}
	for (size_t i = 0; i <= n; i++)
		longest[i][m] = 0;
	memset(longest[n], 0, sizeof longest[n]);
	for (size_t i = n; i-- > 0;)
		for (size_t j = m; j-- > 0;)
			if (alike(e, base->node[a + i], target->node[b + j], how))
				longest[i][j] = (uint16_t)(longest[i + 1][j + 1] + 1);
			else
				longest[i][j] = longest[i + 1][j] > longest[i][j + 1] ? longest[i + 1][j] : longest[i][j + 1];
	size_t from_a = a, from_b = b;

	for (size_t i = 0, j = 0; i < n && j < m && longest[i][j] > 0;) {
		if (longest[i][j] == longest[i + 1][j]) {
			i++;
		} else if (longest[i][j] == longest[i][j + 1]) {
			j++;
		} else {
			pair_range(e, out, base, from_a, a + i, target, from_b, b + j, how + 1);
			add_pair(e, out, base->node[a + i], target->node[b + j]);
			from_a = a + ++i;
			from_b = b + ++j;
		}
	}
	pair_range(e, out, base, from_a, a_end, target, from_b, b_end, how + 1);
}

static double time_of(const struct cause_kernel *k)
{
	if (!k)
		return NAN;
	double ns = amount_value(k, DURATION);

	return isfinite(k->ms) && k->ms >= 0 ? k->ms : ns / 1e6;
}

/* Mean of a side's processes, NAN unknown; raises `noise` to their difference. */
static double time_of_side(const struct kernel_pair *p, int side, double *noise)
{
	double a = time_of(p->at[side][0]), b = time_of(p->at[side][1]);

	if (!isnan(a) && !isnan(b))
		*noise = fmax(*noise, fabs(a - b));
	return isnan(a) ? b : isnan(b) ? a : (a + b) / 2;
}

/* Counted cycles compare both sides at one clock; times do not. */
static void time_pair(struct kernel_pair *p, double mhz)
{
	double noise = 0, base = time_of_side(p, 0, &noise), target = time_of_side(p, 1, &noise);
	struct amount cycles = amount_of(p, CYCLES);

	if (!pair_is_whole(p)) {
		p->base_ms = pair_kernel(p, 0) ? base : target;
		p->is_timed = !isnan(p->base_ms);
	} else if (cycles.is_known && cycles.base > 0) {
		p->cycles = cycles.base;
		p->base_ms = base > 0 ? base : cycles.base / (mhz * 1e3);
		p->change_ms = p->base_ms * (cycles.target / cycles.base - 1);
		noise = p->base_ms * cycles.noise / cycles.base;
		p->is_timed = true;
	} else if (!isnan(base) && !isnan(target)) {
		p->base_ms = base;
		p->cycles = base * mhz * 1e3;
		p->change_ms = target - base;
		p->is_timed = true;
	}
	if (!p->is_timed || !isfinite(p->base_ms) || !isfinite(p->change_ms))
		p->base_ms = p->change_ms = noise = 0;
	p->run_ms = p->base_ms;
	p->slack_ms = NOISES * fmax(noise, TIME_FLOOR * p->base_ms);
}

/* A kernel under a profiler takes another time than in a call: scale the base's sum to the base's time in the verdict. */
static double scale_of(const struct cause_evidence *e, const struct pairing *of)
{
	double sum = 0;

	for (size_t i = 0; i < of->n; i++)
		sum += pair_kernel(&of->pair[i], 0) ? of->pair[i].base_ms : 0;
	double scale = e->base_ms / sum;

	return isfinite(scale) && scale > 0.5 && scale < 2 ? scale : 1;
}

void pairing_make(const struct cause_evidence *e, struct pairing *out)
{
	struct side base, target;
	double mhz = rates_of(&e->device).mhz;

	out->n = 0;
	side_of(e, false, &base);
	side_of(e, true, &target);
	pair_range(e, out, &base, 0, base.n, &target, 0, target.n, SAME);
	for (size_t i = 0; i < out->n; i++)
		time_pair(&out->pair[i], mhz);
	double scale = scale_of(e, out);

	for (size_t i = 0; i < out->n; i++) {
		out->pair[i].base_ms *= scale;
		out->pair[i].change_ms *= scale;
		out->pair[i].slack_ms *= scale;
	}
}
