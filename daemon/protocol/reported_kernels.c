/* reported_kernels.c - list of kernels that a program reports. */
#include "protocol/internal.h"

void reported_kernels_fini(struct reported_kernels *k)
{
	free(k->kernel);
	*k = (struct reported_kernels){ 0 };
}

void reported_kernels_add(struct reported_kernels *k, const struct reported_kernel *kernel, int of)
{
	if (!k->kernel)
		k->kernel = mem_alloc_zero(REPORTED_KERNELS_MAX, sizeof *k->kernel);
	if (k->n < REPORTED_KERNELS_MAX)
		k->kernel[k->n++] = *kernel;
	k->of = of > k->n ? of : k->n;
}

bool reported_kernels_equal(const struct reported_kernels *a, const struct reported_kernels *b)
{
	if (a->n != b->n || a->of != b->of)
		return false;
	for (int i = 0; i < a->n; i++)
		if (strcmp(a->kernel[i].name, b->kernel[i].name) != 0 || strcmp(a->kernel[i].config, b->kernel[i].config) != 0 ||
			strcmp(a->kernel[i].code_sha256, b->kernel[i].code_sha256) != 0)
			return false;
	return true;
}

static const struct row kernel_rows[] = {
	{ ROW_TEXT(struct reported_kernel, name, "kernel", REQUIRED) },
	{ ROW_TEXT(struct reported_kernel, config, "config", SPARSE) },
	{ ROW_INT(struct reported_kernel, num_warps, "num_warps", SPARSE, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct reported_kernel, num_stages, "num_stages", SPARSE, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct reported_kernel, shared_bytes, "shared_bytes", SPARSE, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct reported_kernel, registers, "registers", SPARSE, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct reported_kernel, spills, "spills", SPARSE, -1, INT_MAX), .absent = -1 },
	{ ROW_INT(struct reported_kernel, launches, "launches", SPARSE, -1, INT_MAX), .absent = -1 },
	{ ROW_SHA256(struct reported_kernel, code_sha256, "code_sha256", SPARSE) },
	{ ROW_SHA256(struct reported_kernel, source_sha256, "source_sha256", SPARSE) },
	{ .key = NULL },
};

#define LIST struct msg_reported_kernels
#define KERNELS_ROWS                                                                                                             \
	{ ROW_INT(LIST, processes, "processes", REQUIRED, 0, INT_MAX) },                                                         \
		{ ROW_INT(LIST, unlike, "unlike", REQUIRED, 0, INT_MAX) },                                                       \
		{ ROW_INT(LIST, list.of, "of", REQUIRED, 0, INT_MAX) },                                                          \
	{                                                                                                                        \
		ROW_OWNED_LIST(LIST, list.kernel, list.n, "list", REQUIRED, 1, REPORTED_KERNELS_MAX, kernel_rows)                \
	}

const struct row protocol_reported_kernels_rows[] = {
	{ ROW_INT(LIST, cell, "cell", REQUIRED, 0, JOB_CELLS_MAX - 1) },
	{ ROW_ENUM(LIST, role, "role", REQUIRED, role_names, ROLE_BASE, ROLE_WORKER) },
	KERNELS_ROWS,
	{ .key = NULL },
};

static const struct row side_rows[] = { KERNELS_ROWS, { .key = NULL } };

void reported_kernels_write(struct jsonw *j, const struct msg_reported_kernels *m)
{
	if (m)
		table_write_object(j, side_rows, m);
	else
		jsonw_null(j);
}
