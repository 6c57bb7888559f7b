/**
 * choose.cu - which problems have a kernel, the properties of that kernel, and the layout of the workspace.
 */
#include "plan.h"

static bool is_e4m3(const struct fw_linear_operand *o)
{
	return o->dtype == FW_E4M3 && (o->scaling == FW_LINEAR_BY_TENSOR || o->scaling == FW_LINEAR_BY_ROW);
}

/* W in fewer bits with X in bf16. */
static bool is_weight_only(const struct fw_linear_shape *s)
{
	const struct fw_linear_operand *w = &s->w;
	if (!contract_is_plain(&s->x))
		return false;
	if (w->dtype == FW_I4)
		return w->scaling == FW_LINEAR_BY_GROUP && w->flags == FW_LINEAR_ASYMMETRIC && s->k % w->group == 0 &&
		       (w->group == 32 || w->group == 64 || w->group == 128 || w->group == 256);
	return (w->dtype == FW_I8 || w->dtype == FW_E4M3) && w->scaling == FW_LINEAR_BY_ROW;
}

static bool is_plain(const struct fw_linear_shape *s, int direction)
{
	return (direction == FW_DGRAD || contract_is_plain(&s->x)) && (direction == FW_WGRAD || contract_is_plain(&s->w)) &&
	       (direction == FW_FORWARD || contract_is_plain(&s->dy));
}

int plan_can(const struct fw_problem *problem, char *why, size_t size)
{
	const int status = contract_linear_unblocked(problem, why, size);
	if (status != FW_OK)
		return status;
	const struct fw_linear_shape s = contract_linear(problem);
	const bool forward = problem->direction == FW_FORWARD, plain = is_plain(&s, problem->direction);
	const bool e4m3 = is_e4m3(&s.x) && is_e4m3(&s.w);
	if (!plain && s.w.dtype == FW_I4 && s.w.group > 0 && s.k % s.w.group)
		return contract_refuse(FW_UNSUPPORTED, why, size, "k = %d is not a multiple of the group of %d", s.k, s.w.group);
	if (!plain && !(forward && (e4m3 || is_weight_only(&s))))
		return contract_refuse(FW_UNSUPPORTED, why, size,
			"only bf16, and in forward e4m3 of both operands or W in 8 or 4 bits, groups of 32 to 256");
	const int multiple = !plain && e4m3 ? 16 : 8;
	if (s.k % multiple || s.n % 8)
		return contract_refuse(FW_UNSUPPORTED, why, size,
			"rows must be multiples of 16 bytes: k of %d elements, n of 8, not k %d, n %d", multiple, s.k, s.n);
	return FW_OK;
}

/* The properties of the kernel that the problem needs. */
static struct gemm_needs needs_of(const struct fw_plan *p, bool is_fast)
{
	const enum gemm_operands operands = p->form != WEIGHT_MULTIPLIED ? GEMM_BF16 : is_fast ? GEMM_E4M3 : GEMM_E4M3_PRECISE;
	const bool is_scaled = p->form == WEIGHT_MULTIPLIED || (p->form == WEIGHT_EXPANDED && p->kind != QUANTISE_I4);
	const enum gemm_finishes finishes = p->shape.bias || p->shape.activation || operands == GEMM_E4M3_PRECISE ? GEMM_ALL
					    : is_scaled                                                           ? GEMM_SCALES
														  : GEMM_PLAIN;
	return { operands, p->direction == FW_WGRAD, p->direction != FW_FORWARD, finishes, p->depth };
}

static void lay_out(struct fw_plan *p, int processors)
{
	const struct fw_linear_shape *s = &p->shape;
	const int64_t x_values = (int64_t)s->m * s->k, w_values = (int64_t)s->n * s->k;
	int64_t at = 0;
	p->x.rows = s->m;
	p->w.rows = s->n;
	p->x.columns = p->w.columns = s->k;
	p->x.processors = p->w.processors = processors;
	p->x.power_of_two = s->x.flags & FW_LINEAR_POWER_OF_TWO;
	p->w.power_of_two = s->w.flags & FW_LINEAR_POWER_OF_TWO;
	p->product.job.left_step = s->x.scaling == FW_LINEAR_BY_ROW;
	p->product.job.right_step = s->w.scaling == FW_LINEAR_BY_ROW;
	p->normal_at = at;
	at = contract_align(at + (s->prologue ? x_values * 2 : 0));
	p->x_q_at = at;
	at = contract_align(at + (p->form == WEIGHT_MULTIPLIED ? x_values : 0));
	p->x_scale_at = at;
	at = contract_align(at + (p->form == WEIGHT_MULTIPLIED ? (int64_t)s->m * 4 : 0));
	p->partial_at = at;
	at = contract_align(at + (p->form == WEIGHT_MULTIPLIED ? quantise_tensor_bytes(&p->x) : 0));
	p->expanded_at = at;
	p->workspace_bytes = contract_align(at + (p->form == WEIGHT_EXPANDED ? w_values * 2 : 0));
	if (p->form == WEIGHT_PLAIN)
		return;
	p->w_scale_at = contract_align(p->kind == QUANTISE_I4 ? w_values / 2 : w_values);
	p->persist_bytes = contract_align(p->w_scale_at + (p->kind == QUANTISE_I4 ? w_values / s->w.group : (int64_t)s->n) * 4);
}

int plan_choose(struct fw_plan *p, const char *config, bool is_fast, int processors)
{
	const struct gemm_needs needs = needs_of(p, is_fast);
	const int status = gemm_choose(&p->product, &needs, config, processors, p->error);
	lay_out(p, processors);
	return status;
}
