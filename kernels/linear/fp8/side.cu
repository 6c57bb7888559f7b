/**
 * side.cu - the memory of a side's copy, and which conversion makes it.
 */
#include "side.h"

#include "linear/hopper/gemm.h"

static int64_t round_up(int64_t value, int64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

/* Columns of the tensor in memory. */
static int32_t columns_of(const struct operand *o)
{
	return o->is_transposed ? o->rows : o->depth;
}

/* Whether rows of the tensor are quantised by one scale, which needs no tiles. */
static bool is_plain_copy(const struct operand *o)
{
	return !o->is_transposed && o->as.scaling != FW_LINEAR_BY_BLOCK;
}

int fp8_side_check(const struct operand *o, char *why, size_t size)
{
	if (o->as.dtype != FW_E4M3 && (o->as.dtype != FW_E5M2 || o->slot != FW_LINEAR_DY))
		return contract_refuse(FW_UNSUPPORTED, why, size, "only X and W in e4m3, and DY in e4m3 or e5m2");
	const int multiple = is_plain_copy(o) ? 16 : 8;
	if (columns_of(o) % multiple)
		return contract_refuse(
			FW_UNSUPPORTED, why, size, "rows must be multiples of %d elements, not %d", multiple, columns_of(o));
	return FW_OK;
}

static enum quantise_scope scope_of(const struct operand *o)
{
	if (o->as.scaling == FW_LINEAR_BY_BLOCK)
		return o->slot == FW_LINEAR_W ? QUANTISE_BLOCKS : QUANTISE_SPANS;
	return o->as.scaling == FW_LINEAR_BY_ROW ? QUANTISE_LINE : QUANTISE_TENSOR;
}

static int64_t place(int64_t *at, int64_t bytes)
{
	const int64_t here = *at;
	*at = contract_align(here + bytes);
	return here;
}

void fp8_side_make(struct fp8_side *s, const struct operand *o, int processors, int64_t *workspace_bytes, int64_t *persist_bytes)
{
	int64_t *const at = o->slot == FW_LINEAR_W ? persist_bytes : workspace_bytes;
	struct quantise_copy *const copy = &s->copy;
	s->of = *o;
	s->source.rows = o->is_transposed ? o->depth : o->rows;
	s->source.columns = columns_of(o);
	s->source.processors = processors;
	s->source.power_of_two = o->as.flags & FW_LINEAR_POWER_OF_TWO;
	copy->kind = o->as.dtype == FW_E5M2 ? QUANTISE_E5M2 : QUANTISE_E4M3;
	copy->scope = scope_of(o);
	copy->is_across = o->is_transposed;
	copy->pitch = is_plain_copy(o) ? o->depth : round_up(o->depth, FW_LINEAR_SCALE_BLOCK);
	copy->scale_pitch = copy->scope == QUANTISE_SPANS    ? round_up(o->rows, GEMM_SCALES_ROWS)
			    : copy->scope == QUANTISE_BLOCKS ? round_up(o->rows, FW_LINEAR_SCALE_BLOCK) / FW_LINEAR_SCALE_BLOCK
							     : 0;
	const int64_t scales = copy->scale_pitch ? operand_spans(o) * copy->scale_pitch : o->rows;
	s->values_at = place(at, o->rows * copy->pitch);
	s->scales_at = place(at, scales * (int64_t)sizeof(float));
	s->partial_at = place(workspace_bytes, quantise_copy_bytes(&s->source, copy));
}

void fp8_side_bind(struct fp8_side *s, const struct contract_matrix *tensor, unsigned char *workspace, unsigned char *persist)
{
	unsigned char *const memory = s->of.slot == FW_LINEAR_W ? persist : workspace;
	s->source.data = tensor->data;
	s->source.stride = tensor->stride;
	s->copy.values = memory + s->values_at;
	s->copy.scales = (float *)(memory + s->scales_at);
	s->copy.partial = (float *)(workspace + s->partial_at);
}

int fp8_side_enqueue(const struct fp8_side *s, void *stream)
{
	const struct quantise_copy *copy = &s->copy;
	if (!is_plain_copy(&s->of))
		return quantise_lines(&s->source, copy, stream);
	return copy->scope == QUANTISE_LINE
		       ? quantise_rows(&s->source, copy->kind, copy->values, copy->scales, stream)
		       : quantise_tensor(&s->source, copy->kind, copy->values, copy->scales, copy->partial, stream);
}

uint32_t fp8_side_phase(const struct fp8_side *s)
{
	return s->of.slot == FW_LINEAR_W ? FW_LINEAR_QUANTISE_WEIGHT : FW_LINEAR_QUANTISE_ACTIVATION;
}
