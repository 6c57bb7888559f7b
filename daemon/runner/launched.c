/*
 * launched.c - kernels of a captured call. The call is captured whole, as counters see it, and its phases one by one. If the
 * phases' nodes in order equal those of the whole, each node has a phase.
 */
#include "runner/internal.h"

struct capture {
	struct launched *list;
	struct side *side;
	uint32_t phases;
	struct msg_kernel common;
	struct failure failure;
};

static int enqueue(void *arg, void *stream)
{
	struct capture *c = arg;
	(void)stream;
	return side_enqueue(c->side, c->phases, &c->failure);
}

static void take_node(void *arg, const struct device_node *node)
{
	struct capture *c = arg;
	struct launched *l = c->list;
	if (l->n == EVIDENCE_KERNELS_MAX) {
		l->is_cut = true;
		return;
	}
	struct msg_kernel *k = &l->node[l->n];
	*k = c->common;
	k->n = l->n;
	k->sm = node->sm;
	memcpy(k->grid, node->grid, sizeof k->grid);
	memcpy(k->block, node->block, sizeof k->block);
	k->registers = node->registers;
	k->local_bytes = node->local_bytes;
	k->shared_bytes = node->shared_bytes;
	k->ctas_per_sm = node->ctas_per_sm;
	snprintf(k->kernel, sizeof k->kernel, "%s", node->kernel);
	if (node->symbol)
		hash_hex(node->symbol, strlen(node->symbol), k->symbol_sha256);
	l->is_kernel[l->n++] = node->is_kernel;
	l->n_kernels += node->is_kernel;
}

static void allocate(struct launched *l)
{
	*l = (struct launched){ .node = mem_alloc_zero(EVIDENCE_KERNELS_MAX, sizeof *l->node),
		.is_kernel = mem_alloc_zero(EVIDENCE_KERNELS_MAX, sizeof *l->is_kernel) };
}

static int capture(struct capture *c, struct runner *r, uint32_t phases, struct fw_err *err)
{
	c->phases = phases;
	if (r->ops->capture(r->dev, enqueue, c, take_node, c, err) == 0)
		return 0;
	return c->failure.name[0] ? err_context(err, "%.300s", c->failure.detail) : -1;
}

static bool is_same(const struct msg_kernel *a, const struct msg_kernel *b)
{
	return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->symbol_sha256, b->symbol_sha256) == 0 &&
	       memcmp(a->grid, b->grid, sizeof a->grid) == 0;
}

/* Set the phases of nodes whose phase is certain. */
static int name_phases(struct launched *l, struct runner *r, struct capture *c, struct fw_err *err)
{
	struct launched by_phase;
	int result = 0;
	allocate(&by_phase);
	c->list = &by_phase;
	for (uint32_t bit = 1; result == 0 && bit < FW_ALL; bit <<= 1) {
		if (!(c->side->phases & c->side->timed & bit))
			continue;
		snprintf(c->common.phase, sizeof c->common.phase, "%s", problem_phase_name(c->side->problem, bit));
		result = capture(c, r, bit, err);
	}
	bool is_certain = result == 0 && by_phase.n == l->n;
	for (int k = 0; is_certain && k < l->n; k++)
		is_certain = is_same(&l->node[k], &by_phase.node[k]);
	for (int k = 0; is_certain && k < l->n; k++)
		memcpy(l->node[k].phase, by_phase.node[k].phase, sizeof l->node[k].phase);
	launched_free(&by_phase);
	return result;
}

int launched_list(struct launched *l, struct runner *r, int i, struct side *u, struct fw_err *err)
{
	struct capture c = { .list = l,
		.side = u,
		.common = { .cell = r->task->index[i], .role = u->role, .repeat = r->task->repeat, .ms = -1 } };
	allocate(l);
	if (!r->ops->queues)
		return 0;
	if (u->provider->flags & FW_SYNCS)
		return err_set(err, ERR_UNSUPPORTED, "provider %.47s waits inside its calls, which therefore cannot be captured",
			u->provider->name);
	return capture(&c, r, u->timed, err) == 0 ? name_phases(l, r, &c, err) : -1;
}

void launched_free(struct launched *l)
{
	for (int k = 0; k < l->n; k++)
		free(l->node[k].value);
	free(l->node);
	free(l->is_kernel);
	*l = (struct launched){ 0 };
}
