/* family_check.c - the generated table of families' checks, and reading of tensors. */
#include "runner/runner.h"

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

enum { READ_ELEMENTS = 1 << 14, SCAN_ELEMENTS = 1 << 22 };

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

int check_read(const struct check_io *io, int slot, int64_t first, size_t n, float *out, struct fw_err *err)
{
	int32_t dtype = dtype_of(io, slot);
	size_t width = family_element_bytes(dtype);
	unsigned char raw[READ_ELEMENTS * sizeof(float)];

	for (size_t done = 0, part; done < n; done += part) {
		part = n - done < READ_ELEMENTS ? n - done : READ_ELEMENTS;
		if (io->host[slot])
			memcpy(raw, (const char *)io->host[slot] + ((size_t)first + done) * width, part * width);
		else if (io->read(io->arg, slot, first + (int64_t)done, part, raw, err) != 0)
			return -1;
		for (size_t i = 0; i < part; i++) {
			uint16_t bits;

			if (dtype == FW_F32) {
				memcpy(&out[done + i], raw + i * width, width);
				continue;
			}
			memcpy(&bits, raw + i * width, sizeof bits);
			out[done + i] = inputs_bf16_to_float(bits);
		}
	}
	return 0;
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
	return (narrow & 0x7f80u) != 0x7f80u;
}

/* Position of the first non-finite element, `n` if all are finite. */
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
	struct fw_tensor t;
	size_t bytes = case_family(io->cell)->lay_out(io->cell->shape.bytes, slot, &t), width = family_element_bytes(t.dtype);
	int64_t n = (int64_t)(bytes / width);
	unsigned char *part = io->host[slot] ? NULL : malloc(SCAN_ELEMENTS * width);
	int result = io->host[slot] || part ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	*index = -1;
	for (int64_t at = 0; result == 0 && *index < 0 && at < n; at += SCAN_ELEMENTS) {
		int64_t count = n - at < SCAN_ELEMENTS ? n - at : SCAN_ELEMENTS;

		if (part)
			result = io->read(io->arg, slot, at, (size_t)count, part, err);
		const unsigned char *data = part ? part : (const unsigned char *)io->host[slot] + (size_t)at * width;
		int64_t bad = result == 0 ? first_bad(t.dtype, data, count) : count;

		*index = bad < count ? at + bad : -1;
	}
	free(part);
	return result;
}
