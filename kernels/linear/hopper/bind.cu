/**
 * bind.cu - builds tensor maps from addresses: of the inputs, or of the results of phases before the product.
 */
#include "plan.h"

/* Map of an operand of `rows` by depth; across: it is stored depth by `rows`. `tall`: rows of a load. */
static int make_operand(
	struct fw_plan *p, CUtensorMap *map, const struct contract_matrix *matrix, bool across, int rows, int tall)
{
	const bool is_bytes = p->form == WEIGHT_MULTIPLIED;
	const struct gemm_matrix stored = { matrix->data, across ? p->depth : rows, across ? rows : p->depth, is_bytes,
		matrix->stride * (is_bytes ? 1 : 2) };
	return gemm_map(map, &stored, across ? 64 : tall, p->error);
}

static int take(struct fw_plan *p, const struct fw_io *io, struct contract_matrix *x, struct contract_matrix *w,
	struct contract_matrix *dy, struct contract_matrix *out)
{
	const int64_t n = p->shape.n, k = p->shape.k;
	int status = FW_OK;
	if (p->direction != FW_DGRAD)
		status = contract_matrix(io, FW_LINEAR_X, "X", k, x, p->error);
	if (status == FW_OK && p->direction != FW_WGRAD)
		status = contract_matrix(io, FW_LINEAR_W, "W", k, w, p->error);
	if (status == FW_OK && p->direction != FW_FORWARD)
		status = contract_matrix(io, FW_LINEAR_DY, "DY", n, dy, p->error);
	if (status != FW_OK)
		return status;
	if (p->direction == FW_FORWARD)
		return contract_matrix(io, FW_LINEAR_Y, "Y", n, out, p->error);
	if (p->direction == FW_DGRAD)
		return contract_matrix(io, FW_LINEAR_DX, "DX", k, out, p->error);
	return contract_matrix(io, FW_LINEAR_DW, "DW", k, out, p->error);
}

/* Multiply the copies made of X and W. */
static void take_made(struct fw_plan *p, struct contract_matrix *x, struct contract_matrix *w)
{
	p->x.data = x->data;
	p->x.stride = x->stride;
	p->w.data = w->data;
	p->w.stride = w->stride;
	if (p->shape.prologue) {
		x->data = p->workspace + p->normal_at;
		x->stride = p->shape.k;
	}
	if (p->form == WEIGHT_PLAIN)
		return;
	if (p->form == WEIGHT_MULTIPLIED) {
		x->data = p->workspace + p->x_q_at;
		x->stride = p->shape.k;
		p->product.job.left_scale = (const float *)(p->workspace + p->x_scale_at);
	}
	w->data = p->form == WEIGHT_MULTIPLIED ? p->persist : p->workspace + p->expanded_at;
	w->stride = p->shape.k;
	if (p->kind != QUANTISE_I4)
		p->product.job.right_scale = (const float *)(p->persist + p->w_scale_at);
}

int plan_bind(struct fw_plan *p, const struct fw_io *io)
{
	struct contract_matrix x = { NULL, 0 }, w = x, dy = x, out = x, bias = x;
	if (!p)
		return FW_INVALID;
	p->bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "no slots");
	if ((p->workspace_bytes && !io->workspace) || (p->persist_bytes && !io->persist))
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "workspace or persist is missing");
	int status = take(p, io, &x, &w, &dy, &out);
	if (status == FW_OK && p->shape.bias)
		status = contract_matrix(io, FW_LINEAR_BIAS, "BIAS", p->shape.n, &bias, p->error);
	if (status != FW_OK)
		return status;
	p->workspace = (unsigned char *)io->workspace;
	p->persist = (unsigned char *)io->persist;
	p->product.job.bias = (const __nv_bfloat16 *)bias.data;
	take_made(p, &x, &w);
	const struct gemm_kernel *k = p->product.kernel;
	struct gemm_job *job = &p->product.job;
	const struct contract_matrix *left = p->direction == FW_FORWARD ? &x : &dy, *right = p->direction == FW_WGRAD ? &x : &w;
	const struct gemm_matrix result = { out.data, job->m, job->n, false, out.stride * 2 };
	status = make_operand(p, &job->left, left, k->left_across, job->m, GEMM_ROWS);
	if (status == FW_OK)
		status = make_operand(p, &job->right, right, k->right_across, job->n, k->width / k->cluster);
	if (status == FW_OK)
		status = gemm_map(&job->out, &result, GEMM_STORE_ROWS, p->error);
	p->bound = status == FW_OK;
	return status;
}
