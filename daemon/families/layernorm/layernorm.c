/* layernorm.c - the family of layer normalisation: names, sizes and bytes of its cases. */
#include <stdio.h>

#include "kernels/fw_layernorm.h"
#include "model/model.h"

#define ELEMENTS_MAX INT64_C(0x7fffffff)
enum { COLUMNS_MAX = 1 << 20 };
#define EPSILON 1e-5f

static bool read_cases(struct reader *r, struct yaml_node *root)
{
	struct yaml_node *rows = yaml_get(r->y, root, "rows"), *columns = yaml_get(r->y, root, "columns");
	int32_t row[READER_LIST_MAX], column[READER_LIST_MAX];
	int n_rows = reader_ints(r, rows, READER_LIST_MAX, INT32_MAX, row);
	int n_columns = reader_ints(r, columns, READER_LIST_MAX, COLUMNS_MAX, column);

	reader_require(r->y, root, rows, "rows");
	reader_require(r->y, root, columns, "columns");
	for (int c = 0; c < n_columns; c++)
		for (int i = 0; i < n_rows; i++)
			reader_add(r, yaml_item(r->y, rows, i),
				&(struct fw_layernorm){ sizeof(struct fw_layernorm), row[i], column[c], EPSILON });
	return true;
}

static int check(const void *shape, enum direction d, struct fw_err *err)
{
	const struct fw_layernorm *a = shape;

	(void)d;
	if (a->columns < 8 || a->columns > COLUMNS_MAX || a->columns % 8 != 0)
		return err_set(err, ERR_INVALID, "columns %d must be a multiple of 8 in 8..%d", a->columns, COLUMNS_MAX);
	if (a->rows < 1 || (int64_t)a->rows * a->columns > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "rows %d x columns %d must be 1 to 2^31 - 1 elements", a->rows, a->columns);
	return 0;
}

static void label(const void *shape, struct family_label *out)
{
	const struct fw_layernorm *a = shape;

	snprintf(out->key, sizeof out->key, "layernorm/r%d/c%d/bf16", a->rows, a->columns);
	snprintf(out->group, sizeof out->group, "layernorm");
	snprintf(out->title, sizeof out->title, "%d columns", a->columns);
	out->size = a->rows;
}

static void write_shape(const void *shape, struct jsonw *j)
{
	const struct fw_layernorm *a = shape;

	jsonw_kv_int(j, "rows", a->rows);
	jsonw_kv_int(j, "columns", a->columns);
}

static void parse(struct fields *f, void *shape)
{
	struct fw_layernorm *a = shape;

	*a = (struct fw_layernorm){ sizeof *a, (int32_t)field_int(f, "rows", 1, INT32_MAX),
		(int32_t)field_int(f, "columns", 1, INT32_MAX), EPSILON };
}

static double flops(const void *shape, enum direction d)
{
	const struct fw_layernorm *a = shape;

	return (d == DIRECTION_FORWARD ? 7.0 : 14.0) * a->rows * a->columns;
}

static enum slot_use use(const void *shape, enum direction d, int slot)
{
	bool forward = d == DIRECTION_FORWARD;

	(void)shape;
	if (slot == FW_LAYERNORM_X || slot == FW_LAYERNORM_GAMMA)
		return SLOT_INPUT;
	if (slot == FW_LAYERNORM_MEAN || slot == FW_LAYERNORM_RSTD)
		return forward ? SLOT_OUTPUT : SLOT_FORWARD;
	if (forward != (slot < FW_LAYERNORM_DY))
		return SLOT_UNUSED;
	return slot == FW_LAYERNORM_BETA || slot == FW_LAYERNORM_DY ? SLOT_INPUT : SLOT_OUTPUT;
}

/* Backward's X belongs to its MEAN and RSTD; its GAMMA does not. */
static enum slot_change change(const void *shape, enum direction d, int slot)
{
	(void)shape;
	if (slot == (d == DIRECTION_FORWARD ? FW_LAYERNORM_X : FW_LAYERNORM_DY))
		return SLOT_ROLLS_FIRST;
	return slot == FW_LAYERNORM_X ? SLOT_ROLLS_FORWARD : SLOT_ROLLS;
}

static size_t lay_out(const void *shape, int slot, struct fw_tensor *t)
{
	const struct fw_layernorm *a = shape;

	if (slot == FW_LAYERNORM_MEAN || slot == FW_LAYERNORM_RSTD) {
		*t = (struct fw_tensor){ .stride = { 1, 0, 0 }, .dtype = FW_F32 };
		return (size_t)a->rows * 4;
	}
	bool is_matrix = slot == FW_LAYERNORM_X || slot == FW_LAYERNORM_Y || slot == FW_LAYERNORM_DY || slot == FW_LAYERNORM_DX;
	*t = (struct fw_tensor){ .stride = { is_matrix ? a->columns : 1, is_matrix, 0 }, .dtype = FW_BF16 };
	return (size_t)(is_matrix ? a->rows : 1) * (size_t)a->columns * 2;
}

static const struct family_slot slots[FW_LAYERNORM_SLOTS] = { { .name = "X" }, { .name = "gamma" }, { .name = "beta" },
	{ .name = "Y" }, { .name = "mean" }, { .name = "rstd" }, { .name = "dY" }, { .name = "dX" }, { .name = "dgamma" },
	{ .name = "dbeta" } };

const struct family family_layernorm = { .number = FW_LAYERNORM,
	.name = "layernorm",
	.shape_bytes = sizeof(struct fw_layernorm),
	.abi_bytes = sizeof(struct fw_layernorm),
	.metric = METRIC_GBPS,
	.direction = { DIRECTION_FORWARD, DIRECTION_BACKWARD },
	.group = { { "layernorm", "layer normalisation", false } },
	.phase = { "rows", "columns" },
	.main_phase = FW_LAYERNORM_ROWS,
	.n_slots = FW_LAYERNORM_SLOTS,
	.slot = slots,
	.read = read_cases,
	.keys = "rows and columns",
	.check = check,
	.label = label,
	.write = write_shape,
	.parse = parse,
	.flops = flops,
	.use = use,
	.change = change,
	.lay_out = lay_out };
