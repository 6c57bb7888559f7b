/* family_check.c - the generated table of families' checks, and reading of tensors. */
#include "runner/runner.h"

#include <math.h>

#define FAMILY(name) extern const struct family_check family_check_##name;
#include "families.h"
#undef FAMILY

#define FAMILY(name) { #name, &family_check_##name },
static const struct {
	const char *name;
	const struct family_check *check;
} table[] = {
#include "families.h"
};
#undef FAMILY

enum { READ_ELEMENTS = 1 << 20, SCAN_ELEMENTS = 1 << 22 };

const struct family_check *family_check_find(const char *name)
{
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].check;
	return NULL;
}

static int32_t dtype_of(const struct check_io *io, int slot)
{
	struct fw_tensor t;

	(void)case_family(io->cell)->lay_out(io->cell->shape.bytes, slot, &t);
	return t.dtype;
}

static void to_floats(int32_t dtype, const unsigned char *raw, size_t n, float *out)
{
	if (dtype == FW_F32) {
		memcpy(out, raw, n * sizeof *out);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint16_t bits;

		memcpy(&bits, raw + i * sizeof bits, sizeof bits);
		out[i] = dtype == FW_F16 ? inputs_f16_to_float(bits) : inputs_bf16_to_float(bits);
	}
}

int check_read_rows(const struct check_io *io, int slot, int64_t first, int64_t pitch, int64_t n, int64_t width, float *out,
	struct fw_err *err)
{
	int32_t dtype = dtype_of(io, slot);
	size_t bytes = family_element_bytes(dtype);
	int64_t chunk = width > READ_ELEMENTS ? 1 : READ_ELEMENTS / width;
	const unsigned char *host = io->host[slot];
	unsigned char *raw = NULL;
	int result = 0;

	if (chunk > n)
		chunk = n;
	if (!host && !(raw = malloc((size_t)(chunk * width) * bytes + 1)))
		return err_set(err, ERR_FULL, "reference: out of memory");
	for (int64_t at = 0, count; result == 0 && at < n; at += count) {
		int64_t from = first + at * pitch;

		count = n - at < chunk ? n - at : chunk;
		if (host) {
			count = 1;
			to_floats(dtype, host + (size_t)from * bytes, (size_t)width, out + at * width);
			continue;
		}
		if (pitch != width && io->read_rows) {
			result = io->read_rows(io->arg, slot, from, pitch, count, width, raw, err);
		} else {
			if (pitch != width)
				count = 1;
			result = io->read(io->arg, slot, from, (size_t)(count * width), raw, err);
		}
		if (result == 0)
			to_floats(dtype, raw, (size_t)(count * width), out + at * width);
	}
	free(raw);
	return result;
}

int check_read(const struct check_io *io, int slot, int64_t first, size_t n, float *out, struct fw_err *err)
{
	return check_read_rows(io, slot, first, (int64_t)n, 1, (int64_t)n, out, err);
}

int check_find_largest(const struct check_io *io, int slot, float *largest, struct fw_err *err)
{
	if (!io->host[slot] && io->find_largest && dtype_of(io, slot) != FW_F16) /* devices search bf16 and fp32 */
		return io->find_largest(io->arg, slot, largest, err);

	struct fw_tensor t;
	size_t bytes = case_family(io->cell)->lay_out(io->cell->shape.bytes, slot, &t);
	int64_t n = (int64_t)(bytes / family_element_bytes(t.dtype));
	float *chunk = calloc(READ_ELEMENTS, sizeof *chunk), most = 0;
	int result = chunk ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	for (int64_t at = 0; result == 0 && at < n; at += READ_ELEMENTS) {
		int64_t count = n - at < READ_ELEMENTS ? n - at : READ_ELEMENTS;

		result = check_read(io, slot, at, (size_t)count, chunk, err);
#pragma omp parallel for schedule(static) reduction(max : most)
		for (int64_t i = 0; i < count; i++)
			most = fmaxf(most, fabsf(chunk[i]));
	}
	free(chunk);
	*largest = most;
	return result;
}

static bool is_finite(int32_t dtype, const unsigned char *element)
{
	uint32_t wide;
	uint16_t narrow;

	if (dtype == FW_F32) {
		memcpy(&wide, element, sizeof wide);
		return (wide & 0x7f800000u) != 0x7f800000u;
	}
	memcpy(&narrow, element, sizeof narrow);
	uint16_t exponent = dtype == FW_F16 ? 0x7c00u : 0x7f80u;
	return (narrow & exponent) != exponent;
}

/* Return the index of the first non-finite element; `n` if all are finite. */
static int64_t first_bad(int32_t dtype, const unsigned char *data, int64_t n)
{
	size_t width = family_element_bytes(dtype);
	int64_t bad = n;
#pragma omp parallel for schedule(static) reduction(min : bad)
	for (int64_t i = 0; i < n; i++)
		if (!is_finite(dtype, data + (size_t)i * width) && i < bad)
			bad = i;
	return bad;
}

int check_find_nonfinite(const struct check_io *io, int slot, int64_t *index, struct fw_err *err)
{
	if (!io->host[slot] && io->find_nonfinite && dtype_of(io, slot) != FW_F16)
		return io->find_nonfinite(io->arg, slot, index, err);

	struct fw_tensor t;
	size_t bytes = case_family(io->cell)->lay_out(io->cell->shape.bytes, slot, &t), width = family_element_bytes(t.dtype);
	int64_t n = (int64_t)(bytes / width);
	unsigned char *chunk = io->host[slot] ? NULL : malloc(SCAN_ELEMENTS * width);
	int result = io->host[slot] || chunk ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	*index = -1;
	for (int64_t at = 0; result == 0 && *index < 0 && at < n; at += SCAN_ELEMENTS) {
		int64_t count = n - at < SCAN_ELEMENTS ? n - at : SCAN_ELEMENTS;

		if (chunk)
			result = io->read(io->arg, slot, at, (size_t)count, chunk, err);
		const unsigned char *data = chunk ? chunk : (const unsigned char *)io->host[slot] + (size_t)at * width;
		int64_t bad = result == 0 ? first_bad(t.dtype, data, count) : count;

		*index = bad < count ? at + bad : -1;
	}
	free(chunk);
	return result;
}
