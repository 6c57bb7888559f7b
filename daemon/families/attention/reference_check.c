/* check.c - the reference of attention as the runner asks for it. */

#include "families/attention/internal.h"

struct expected {
	const struct check_io *from;
	struct reference_io io;
	const struct reference_ops *ops;
	struct reference_plan plan;
	struct reference reference;
};

static int read_slot(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err)
{
	const struct check_io *io = arg;

	if (!io->read)
		return err_set(err, ERR_INTERNAL, "the reference asks for a tensor that %s does not have", io->cell->key);
	return io->read(io->arg, slot, first, n, out, err);
}

static void close_expected(struct expected *e)
{
	if (!e)
		return;
	reference_fini(&e->reference);
	reference_plan_fini(&e->plan);
	free(e);
}

static struct expected *open_expected(const struct check_io *io, uint64_t seed, double visits, struct fw_err *err)
{
	struct expected *e = calloc(1, sizeof *e);

	if (!e) {
		err_set(err, ERR_FULL, "reference: out of memory");
		return NULL;
	}
	e->from = io;
	e->io = (struct reference_io){ .cell = io->cell,
		.cu = io->laid[FW_CU_Q],
		.block_bits = io->laid[FW_BLOCK_BITS],
		.read = read_slot,
		.arg = (void *)(uintptr_t)io };
	memcpy(e->io.host, io->host, sizeof e->io.host);
	memcpy(e->io.on_device, io->on_device, sizeof e->io.on_device);
	e->ops = &reference_cpu;
#ifdef FW_HAVE_CUDA
	if (io->on_device[FW_Q])
		e->ops = &reference_cuda;
#endif
	if (reference_plan_make(io->cell, seed, visits, &e->plan, err) == 0 &&
		reference_compute(e->ops, &e->plan, &e->io, &e->reference, err) == 0)
		return e;
	close_expected(e);
	return NULL;
}

static int compare(struct expected *e, struct accept_result *result, struct fw_err *err)
{
	return accept_check(&e->reference, e->ops, &e->io, result, err);
}

const struct family_check family_check_attention = { .open = open_expected, .compare = compare, .close = close_expected };
