/* cublaslt_product.c - descriptors of the operands, scales and epilogue, and the choice of the heuristic. */
#include "linear/cublaslt/cublaslt_product.h"

enum { CHOICES = 8, SCRATCH_BYTES = 64 << 20 };

/* A, B, D in the order of the library; see cublaslt_product.h. */
static int describe(struct cublaslt_product *p, const struct cublaslt_request *w)
{
	const struct cublaslt_api *api = p->api;
	const bool forward = w->direction == FW_FORWARD, wgrad = w->direction == FW_WGRAD;
	const uint64_t m = (uint64_t)w->shape.m, n = (uint64_t)w->shape.n, k = (uint64_t)w->shape.k;
	const int type = w->is_fp8 ? CUBLASLT_E4M3 : CUBLASLT_BF16, bias_type = CUBLASLT_BF16;
	const int transpose_a = forward ? CUBLASLT_OP_T : CUBLASLT_OP_N;
	const int transpose_b = wgrad ? CUBLASLT_OP_T : CUBLASLT_OP_N;
	const int epilogue = (w->shape.activation == FW_LINEAR_RELU ? CUBLASLT_RELU
				     : w->shape.bias                ? 0
								    : CUBLASLT_PLAIN) |
			     (w->shape.bias ? CUBLASLT_BIAS : 0);
	int status = api->product_make(&p->product, CUBLASLT_COMPUTE_F32, CUBLASLT_F32);
	if (status == 0)
		status = api->product_set(p->product, CUBLASLT_TRANSPOSE_A, &transpose_a, sizeof transpose_a);
	if (status == 0)
		status = api->product_set(p->product, CUBLASLT_TRANSPOSE_B, &transpose_b, sizeof transpose_b);
	if (status == 0)
		status = api->product_set(p->product, CUBLASLT_EPILOGUE, &epilogue, sizeof epilogue);
	if (status == 0 && w->shape.bias)
		status = api->product_set(p->product, CUBLASLT_BIAS_TYPE, &bias_type, sizeof bias_type);
	if (status == 0 && w->is_fp8) {
		const int scale = w->shape.x.scaling == FW_LINEAR_BY_ROW ? CUBLASLT_SCALE_OUTER : CUBLASLT_SCALE_SCALAR;
		const signed char fast = w->is_fast;
		status = api->product_set(p->product, CUBLASLT_FAST_ACCUM, &fast, sizeof fast);
		if (status == 0)
			status = api->product_set(p->product, CUBLASLT_SCALE_MODE_A, &scale, sizeof scale);
		if (status == 0)
			status = api->product_set(p->product, CUBLASLT_SCALE_MODE_B, &scale, sizeof scale);
		void *const any = p->handle; /* the heuristic needs to know whether there are scales; bind sets their addresses */
		if (status == 0)
			status = api->product_set(p->product, CUBLASLT_SCALE_A, &any, sizeof any);
		if (status == 0)
			status = api->product_set(p->product, CUBLASLT_SCALE_B, &any, sizeof any);
	}
	if (status == 0) /* W (forward, dgrad) or X */
		status = api->layout_make(&p->a, type, k, wgrad ? m : n, (int64_t)k);
	if (status == 0) /* X, or DY */
		status = api->layout_make(&p->b, type, forward ? k : n, m, (int64_t)(forward ? k : n));
	if (status == 0) /* Y, DX, DW */
		status = api->layout_make(&p->d, CUBLASLT_BF16, forward ? n : k, wgrad ? n : m, (int64_t)(forward ? n : k));
	return status;
}

/* Take choice `wanted` of the heuristic's list, -1 for its first. */
static int choose(struct cublaslt_product *p, int wanted)
{
	struct cublaslt_choice list[CHOICES];
	const struct cublaslt_api *api = p->api;
	const size_t scratch = SCRATCH_BYTES;
	void *request = NULL;
	int found = 0;
	int status = api->request_make(&request);
	if (status == 0)
		status = api->request_set(request, CUBLASLT_PREFER_WORKSPACE, &scratch, sizeof scratch);
	if (status == 0)
		status = api->choose(p->handle, p->product, p->a, p->b, p->d, p->d, request, CHOICES, list, &found);
	if (request)
		api->request_drop(request);
	if (status != 0)
		return contract_refuse(
			FW_UNSUPPORTED, p->error, CONTRACT_TEXT_BYTES, "cuBLASLt has no kernel: status %d", status);
	p->index = wanted < 0 ? 0 : wanted;
	if (p->index >= found || list[p->index].state != 0)
		return contract_refuse(FW_UNSUPPORTED, p->error, CONTRACT_TEXT_BYTES, "cuBLASLt offers %d kernels, not number %d",
			found, p->index);
	p->choice = list[p->index];
	return FW_OK;
}

int cublaslt_product_make(
	struct cublaslt_product *p, const struct cublaslt_api *api, const struct cublaslt_request *request, int wanted)
{
	memset(p, 0, sizeof *p);
	p->api = api;
	int status = api->create(&p->handle);
	if (status == 0)
		status = describe(p, request);
	return status == 0 ? choose(p, wanted)
			   : contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "cuBLASLt: status %d", status);
}

void cublaslt_product_free(struct cublaslt_product *p)
{
	if (p->a)
		p->api->layout_drop(p->a);
	if (p->b)
		p->api->layout_drop(p->b);
	if (p->d)
		p->api->layout_drop(p->d);
	if (p->product)
		p->api->product_drop(p->product);
	if (p->handle)
		p->api->destroy(p->handle);
}
