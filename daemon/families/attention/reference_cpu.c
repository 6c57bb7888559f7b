/*
 * The reference on the host: rows and keys have a file each; here is what is left, the search for NaN and Inf.
 */
#include "families/attention/internal.h"

enum { SCAN = 1 << 20 };

static int compute(const struct reference_plan *plan, const struct reference_io *io, struct reference *out, struct fw_err *err)
{
	if (attention_in(io->cell)->headdim > REFERENCE_HEADDIM_MAX)
		return err_set(err, ERR_UNSUPPORTED, "reference: headdim %d is above %d", attention_in(io->cell)->headdim,
			REFERENCE_HEADDIM_MAX);
	if (reference_rows_compute(plan, io, out, err))
		return -1;
	return io->cell->direction == DIRECTION_BACKWARD ? reference_keys_compute(plan, io, out, err) : 0;
}

/* ---- search for NaN and Inf -------------------------------------------------------------------------------------- */

static int64_t first_bad(int slot, const void *data, int64_t n)
{
	int64_t bad = n;
#pragma omp parallel for schedule(static) reduction(min : bad)
	for (int64_t i = 0; i < n; i++) {
		bool finite;
		if (slot == FW_LSE) {
			float x = ((const float *)data)[i];
			finite = x < INFINITY;
		} else {
			finite = (((const uint16_t *)data)[i] & 0x7f80u) != 0x7f80u;
		}
		if (!finite && i < bad)
			bad = i;
	}
	return bad < n ? bad : -1;
}

static int find_nonfinite(const struct reference_io *io, int slot, int64_t *index, struct fw_err *err)
{
	int64_t n = reference_slot_elements(io->cell, slot);
	*index = -1;
	if (io->host[slot]) {
		*index = first_bad(slot, io->host[slot], n);
		return 0;
	}
	void *part = malloc(SCAN * sizeof(float));
	int status = part ? 0 : err_set(err, ERR_FULL, "reference: out of memory");
	for (int64_t at = 0; status == 0 && *index < 0 && at < n; at += SCAN) {
		int64_t count = n - at < SCAN ? n - at : SCAN;
		status = reference_read(io, slot, at, (size_t)count, part, err);
		if (status == 0) {
			int64_t bad = first_bad(slot, part, count);
			*index = bad < 0 ? -1 : at + bad;
		}
	}
	free(part);
	return status;
}

const struct reference_ops reference_cpu = { .name = "cpu", .compute = compute, .find_nonfinite = find_nonfinite };
