/*
 * cublaslt.c - provider "cublaslt": NVIDIA's matrix products behind the kernel ABI, as a peer for comparison.
 *
 * bf16 in all directions, e4m3 with a scale per tensor or per row in forward; both e4m3 operands are quantised by our own
 * kernels, so that only the product differs. The library's heuristic chooses the kernel, as for all users who do not search.
 */
#include "linear/contract.h"
#include "linear/cublaslt/cublaslt_product.h"
#include "linear/providers.h"
#include "linear/quantise/quantise.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

struct fw_plan {
	struct cublaslt_product of;
	struct cublaslt_request request;
	int processors;
	bool bound;
	const void *a_data, *b_data;
	void *d_data;
	struct quantise_source x, w;
	unsigned char *x_q, *w_q, *partial, *scratch;
	float *x_scale, *w_scale;
	int64_t x_scale_at, partial_at, scratch_at, workspace_bytes, w_scale_at, persist_bytes;
	char config[64];
	char error[CONTRACT_TEXT_BYTES];
};

static int can(const struct fw_problem *problem, char *why, size_t size)
{
	const int status = contract_linear_unblocked(problem, why, size);
	if (status != FW_OK)
		return status;
	const struct fw_linear_shape s = contract_linear(problem);
	const bool forward = problem->direction == FW_FORWARD;
	const bool fp8 = s.x.dtype == FW_E4M3 && s.w.dtype == FW_E4M3 && s.x.scaling == s.w.scaling &&
			 (s.x.scaling == FW_LINEAR_BY_TENSOR || s.x.scaling == FW_LINEAR_BY_ROW);
	if (s.prologue)
		return contract_refuse(FW_UNSUPPORTED, why, size, "cuBLASLt has no layer normalisation");
	if (s.activation && s.activation != FW_LINEAR_RELU)
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "of the activations cuBLASLt has only relu; its gelu is another one");
	if (fp8 ? !forward || s.bias : !contract_is_plain(&s.x) || !contract_is_plain(&s.w) || !contract_is_plain(&s.dy))
		return contract_refuse(FW_UNSUPPORTED, why, size,
			"only bf16, and in forward without bias e4m3 of both operands with equal scaling by tensor or row");
	if (s.m % (fp8 ? 1 : 8) || s.n % 8 || s.k % (fp8 ? 16 : 8))
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "n and k must be multiples of 8, m too in bf16, k of 16 in e4m3");
	return cublaslt_api(why, size) ? FW_OK : FW_UNSUPPORTED;
}

/* Query the library on device `index`; the current device is restored. */
static int query_device(struct fw_plan *p, int index, int wanted)
{
	int previous = 0;
	cudaError_t e = cudaGetDevice(&previous);
	if (e == cudaSuccess)
		e = cudaSetDevice(index);
	if (e == cudaSuccess)
		e = cudaDeviceGetAttribute(&p->processors, cudaDevAttrMultiProcessorCount, index);
	if (e != cudaSuccess)
		return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "device %d: %s", index, cudaGetErrorString(e));
	const int status = cublaslt_product_make(&p->of, cublaslt_api(NULL, 0), &p->request, wanted);
	contract_refuse(status, p->error, sizeof p->error, "%s", p->of.error);
	cudaSetDevice(previous);
	(void)cudaGetLastError();
	return status;
}

static void destroy(struct fw_plan *p)
{
	if (p)
		cublaslt_product_free(&p->of);
	free(p);
}

static void lay_out(struct fw_plan *p)
{
	const struct fw_linear_shape *s = &p->request.shape;
	int64_t at = 0;
	if (p->request.is_fp8) {
		p->x.rows = s->m;
		p->w.rows = s->n;
		p->x.columns = p->w.columns = s->k;
		p->x.processors = p->w.processors = p->processors;
		p->x.power_of_two = s->x.flags & FW_LINEAR_POWER_OF_TWO;
		p->w.power_of_two = s->w.flags & FW_LINEAR_POWER_OF_TWO;
		p->x_scale_at = at = contract_align((int64_t)s->m * s->k);
		p->partial_at = at = contract_align(at + (int64_t)s->m * 4);
		const int64_t for_x = quantise_tensor_bytes(&p->x), for_w = quantise_tensor_bytes(&p->w);
		at = contract_align(at + (for_x > for_w ? for_x : for_w));
		p->w_scale_at = contract_align((int64_t)s->n * s->k);
		p->persist_bytes = contract_align(p->w_scale_at + (int64_t)s->n * 4);
	}
	p->scratch_at = at;
	p->workspace_bytes = contract_align(at + (int64_t)p->of.choice.workspace_bytes);
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	int status = can(problem, why, size);
	if (status != FW_OK)
		return status;
	if (!out || !info)
		return contract_refuse(FW_INVALID, why, size, "plan and info must not be NULL");
	const struct cublaslt_api *api = cublaslt_api(NULL, 0);
	size_t version = 0;
	int wanted = -1, used = 0;
	if (config && (sscanf(config, "CUBLASLT=%zu CHOICE=%d%n", &version, &wanted, &used) != 2 || config[used] || wanted < 0 ||
			      version != api->version()))
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "config \"%s\" is not one of cublaslt %zu", config, api->version());
	struct fw_plan *p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, size, "out of memory");
	p->request.shape = contract_linear(problem);
	p->request.direction = problem->direction;
	p->request.is_fp8 = p->request.shape.x.dtype == FW_E4M3;
	p->request.is_fast = problem->flags & FW_FAST_ACCUM;
	status = query_device(p, index, wanted);
	if (status != FW_OK) {
		contract_refuse(status, why, size, "%s", p->error);
		destroy(p);
		return status;
	}
	lay_out(p);
	snprintf(p->config, sizeof p->config, "CUBLASLT=%zu CHOICE=%d", api->version(), p->of.index);

	struct fw_info answer = { .phases = FW_LINEAR_RUN,
		.workspace_bytes = (uint64_t)p->workspace_bytes,
		.persist_bytes = (uint64_t)p->persist_bytes,
		.config = p->config };
	if (p->request.is_fp8) {
		answer.phases |= FW_LINEAR_QUANTISE_WEIGHT | FW_LINEAR_QUANTISE_ACTIVATION;
		answer.once = FW_LINEAR_QUANTISE_WEIGHT;
	}
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* Strides are part of the plan, so that only packed matrices are supported. */
static int take(struct fw_plan *p, const struct fw_io *io, int slot, const char *name, int64_t columns, void **data)
{
	struct contract_matrix matrix = { NULL, 0 };
	const int status = contract_matrix(io, slot, name, columns, &matrix, p->error);
	if (status != FW_OK)
		return status;
	if (matrix.stride != columns)
		return contract_refuse(FW_UNSUPPORTED, p->error, CONTRACT_TEXT_BYTES, "%s: only row-major matrices", name);
	*data = matrix.data;
	return FW_OK;
}

/* The quantised copies are multiplied; their scales and the bias are part of the product's description. */
static int point(struct fw_plan *p, const void *x, const void *w, const void *bias)
{
	const struct cublaslt_api *api = p->of.api;
	int status = 0;
	if (p->request.is_fp8) {
		p->x.data = x;
		p->w.data = w;
		p->x.stride = p->w.stride = p->request.shape.k;
		p->a_data = p->w_q;
		p->b_data = p->x_q;
		status = api->product_set(p->of.product, CUBLASLT_SCALE_A, &p->w_scale, sizeof p->w_scale);
		if (status == 0)
			status = api->product_set(p->of.product, CUBLASLT_SCALE_B, &p->x_scale, sizeof p->x_scale);
	}
	if (status == 0 && bias)
		status = api->product_set(p->of.product, CUBLASLT_BIAS_POINTER, &bias, sizeof bias);
	return status == 0 ? FW_OK : contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "cuBLASLt: status %d", status);
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	p->bound = false;
	p->error[0] = '\0';
	if (!io || !io->slot)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "no slots");
	if ((p->workspace_bytes && !io->workspace) || (p->persist_bytes && !io->persist))
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "workspace or persist is missing");
	const bool forward = p->request.direction == FW_FORWARD, dgrad = p->request.direction == FW_DGRAD,
		   wgrad = p->request.direction == FW_WGRAD;
	const int64_t n = p->request.shape.n, k = p->request.shape.k;
	void *x = NULL, *w = NULL, *dy = NULL, *bias = NULL;
	int status = FW_OK;
	if (!dgrad)
		status = take(p, io, FW_LINEAR_X, "X", k, &x);
	if (status == FW_OK && !wgrad)
		status = take(p, io, FW_LINEAR_W, "W", k, &w);
	if (status == FW_OK && !forward)
		status = take(p, io, FW_LINEAR_DY, "DY", n, &dy);
	if (status == FW_OK && p->request.shape.bias)
		status = take(p, io, FW_LINEAR_BIAS, "BIAS", n, &bias);
	if (status == FW_OK && forward)
		status = take(p, io, FW_LINEAR_Y, "Y", n, &p->d_data);
	if (status == FW_OK && dgrad)
		status = take(p, io, FW_LINEAR_DX, "DX", k, &p->d_data);
	if (status == FW_OK && wgrad)
		status = take(p, io, FW_LINEAR_DW, "DW", k, &p->d_data);
	if (status != FW_OK)
		return status;
	p->a_data = wgrad ? x : w;
	p->b_data = forward ? x : dy;
	unsigned char *workspace = io->workspace, *persist = io->persist;
	p->x_q = workspace;
	p->x_scale = (float *)(void *)(workspace + p->x_scale_at);
	p->partial = workspace + p->partial_at;
	p->scratch = workspace + p->scratch_at;
	p->w_q = persist;
	p->w_scale = (float *)(void *)(persist + p->w_scale_at);
	status = point(p, x, w, bias);
	p->bound = status == FW_OK;
	return status;
}

static int quantise(struct fw_plan *p, const struct quantise_source *source, void *values, float *scales, void *stream)
{
	const int e = p->request.shape.x.scaling == FW_LINEAR_BY_ROW
			      ? quantise_rows(source, QUANTISE_E4M3, values, scales, stream)
			      : quantise_tensor(source, QUANTISE_E4M3, values, scales, p->partial, stream);
	if (e == cudaSuccess)
		return FW_OK;
	return contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "quantise: %s", cudaGetErrorString((cudaError_t)e));
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	const float one = 1.0f, zero = 0.0f;
	int status = FW_OK;
	if (!p)
		return FW_INVALID;
	if (!p->bound)
		return contract_refuse(FW_INVALID, p->error, CONTRACT_TEXT_BYTES, "enqueue before bind");
	p->error[0] = '\0';
	if (p->request.is_fp8 && phases & FW_LINEAR_QUANTISE_WEIGHT)
		status = quantise(p, &p->w, p->w_q, p->w_scale, stream);
	if (status == FW_OK && p->request.is_fp8 && phases & FW_LINEAR_QUANTISE_ACTIVATION)
		status = quantise(p, &p->x, p->x_q, p->x_scale, stream);
	if (status != FW_OK || !(phases & FW_LINEAR_RUN))
		return status;
	const int done =
		p->of.api->multiply(p->of.handle, p->of.product, &one, p->a_data, p->of.a, p->b_data, p->of.b, &zero, p->d_data,
			p->of.d, p->d_data, p->of.d, &p->of.choice.algorithm, p->scratch, p->of.choice.workspace_bytes, stream);
	return done == 0 ? FW_OK : contract_refuse(FW_FAILED, p->error, CONTRACT_TEXT_BYTES, "cuBLASLt: status %d", done);
}

static const char *error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

const struct fw_provider linear_cublaslt = {
	.struct_size = sizeof(struct fw_provider),
	.device = FW_CUDA,
	.family = FW_LINEAR,
	.name = "cublaslt",
	.can = can,
	.plan = plan,
	.bind = bind,
	.enqueue = enqueue,
	.count = NULL, /* the work inside cuBLASLt is unknown */
	.error = error,
	.destroy = destroy,
};
