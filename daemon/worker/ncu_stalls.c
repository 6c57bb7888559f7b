/*
 * ncu_stalls.c - stall samples by ncu. The instructions of a launch are consecutive; the samples of repeated launches of a kernel
 * are added up.
 */
#include "worker/internal.h"

struct table {
	const struct buffered_process *process;
	struct buffered_stalls *out;
	int n_kernels, node[EVIDENCE_KERNELS_MAX]; /* node of launch i; ncu does not count copies and fills as launches */
	int launch;                                /* current launch; -1 none */
	bool is_taken;
	struct msg_stalls one;
};

/* Finish a launch: store it if it is the first of its kernel. */
static int finish(struct table *t, struct fw_err *err)
{
	int result = 0;
	for (int i = 0; i < t->out->n; i++)
		t->is_taken = t->is_taken || strcmp(t->out->kernel[i].symbol_sha256, t->one.symbol_sha256) == 0;
	if (t->one.n > 0 && !t->is_taken)
		result = buffered_add_stalls(t->out, &t->one, err);
	free(t->one.line);
	t->one = (struct msg_stalls){ 0 };
	t->is_taken = false;
	return result;
}

static int take(void *arg, const struct ncu_stall *s, struct fw_err *err)
{
	struct table *t = arg;
	if (s->launch >= t->n_kernels)
		return 0;
	if (s->launch != t->launch) {
		if (finish(t, err) != 0)
			return -1;
		t->launch = s->launch;
		t->one.line = mem_alloc_zero(EVIDENCE_STALLS_MAX, sizeof *t->one.line);
		memcpy(t->one.symbol_sha256, t->process->kernel[t->node[s->launch]].symbol_sha256, sizeof t->one.symbol_sha256);
	}
	bool is_next = t->one.n == 0 || s->offset > t->one.line[t->one.n - 1].offset;
	if (t->one.n == EVIDENCE_STALLS_MAX || !is_next)
		return 0;
	struct evidence_stall *line = &t->one.line[t->one.n++];
	*line = (struct evidence_stall){ .offset = s->offset, .samples = s->samples, .of_reason = s->of_reason };
	snprintf(line->reason, sizeof line->reason, "%s", s->reason);
	t->one.samples += s->samples;
	return 0;
}

bool ncu_stalls_take(
	const struct buffered_process *p, const char *text, size_t len, struct buffered_stalls *out, char *why, size_t size)
{
	struct table t = { .process = p, .out = out, .launch = -1 };
	struct fw_err err = { 0 };
	int launches = 0;
	for (int i = 0; i < p->n; i++)
		if (p->kernel[i].grid[0] > 0)
			t.node[t.n_kernels++] = i;
	bool good = ncu_source_each(text, len, "its output", take, &t, &launches, &err) == 0 && finish(&t, &err) == 0;
	free(t.one.line);
	if (!good)
		snprintf(why, size, "%.300s", err.text);
	else if (launches != t.n_kernels)
		snprintf(why, size, "sampled %d launches, but the call has %d", launches, t.n_kernels);
	good = good && launches == t.n_kernels;
	if (!good)
		buffered_clear_stalls(out);
	return good;
}

/* Returns 1 if sampled, 0 if not, with a reason; -1 on error. */
static int sample(struct buffered *k, struct buffered_cell *c, int side, struct fw_err *err)
{
	static const char *const options[] = { "--page", "source", "--section", "SourceCounters", NULL };
	char why[BUFFERED_WHY_SIZE - 20] = "";
	struct buf output;
	int result = ncu_run(k, c, side, options, &output, why, sizeof why, err);
	if (result == 1)
		result = ncu_stalls_take(&c->process[side][0], output.data, output.len, &c->stalls[side], why, sizeof why);
	if (result == 0)
		snprintf(c->stalls_why, sizeof c->stalls_why, "ncu: %s", why);
	buf_fini(&output);
	return result;
}

int ncu_stalls(struct buffered *k, struct fw_err *err)
{
	for (int i = 0; i < k->n; i++) {
		struct buffered_cell *c = &k->cell[i];
		int result = 1;
		if (!buffered_is_counted(c) || strncmp(c->process[0][0].tool, "ncu", 3) != 0 || k->bench->lost)
			continue;
		for (int side = 0; side < BUFFERED_SIDES && result == 1; side++)
			result = sample(k, c, side, err);
		if (result < 0)
			return -1;
		for (int side = 0; side < BUFFERED_SIDES && result == 0; side++)
			buffered_clear_stalls(&c->stalls[side]); /* samples of one side only are useless */
	}
	return 0;
}
