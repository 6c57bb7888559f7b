/* liger.c - CSV of Liger-Kernel's benchmarks. One file collects all kernels, providers, metrics and GPUs. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

struct columns {
	int kernel, provider, mode, metric, unit, x_name, x_value, median, config, gpu; /* config and gpu may be -1 */
	bool has_gpus;                                                                  /* several */
};

static int find_columns(const struct csv *c, const struct table_header *h, struct columns *t, struct fw_err *err)
{
	const struct {
		int *at;
		const char *name;
	} needed[] = { { &t->kernel, "kernel_name" }, { &t->provider, "kernel_provider" }, { &t->mode, "kernel_operation_mode" },
		{ &t->metric, "metric_name" }, { &t->unit, "metric_unit" }, { &t->x_name, "x_name" }, { &t->x_value, "x_value" },
		{ &t->median, "y_value_50" } };

	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if ((*needed[i].at = table_require_column(c, h, needed[i].name, err)) < 0)
			return -1;
	t->config = table_column(h, "extra_benchmark_config_str");
	t->gpu = table_column(h, "gpu_name");
	return 0;
}

/* Only if a file has several GPUs, their names belong to the names of rows. */
static bool has_gpus(const char *text, size_t len, const struct table_header *h, int gpu)
{
	struct fw_err ignored = { 0 };
	char first[TABLE_NAME_SIZE] = "";
	bool differ = false;
	struct csv c;

	csv_init(&c, text, len, "");
	if (gpu >= 0 && csv_next(&c, &ignored) == 1)
		while (!differ && table_next(&c, h, NULL, &ignored) == 1) {
			differ = first[0] && strncmp(first, c.cell[gpu], sizeof first - 1) != 0;
			snprintf(first, sizeof first, "%s", c.cell[gpu]);
		}
	csv_fini(&c);
	return differ;
}

static void put_config(char key[TABLE_KEY_SIZE], const char *cell)
{
	json_t *config = json_loads(cell, 0, NULL);

	if (json_is_object(config))
		object_put_parameters(key, config);
	else
		table_put(key, "config", cell);
	json_decref(config);
}

static int read_result(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *columns, struct fw_err *err)
{
	const struct columns *t = columns;
	char key[TABLE_KEY_SIZE];

	if (unit_to_ms(c->cell[t->unit]) == 0) {
		reading_note(out, "rows of the metric %.40s are left out: %.20s is not a unit of time", c->cell[t->metric],
			c->cell[t->unit]);
		return 0;
	}
	snprintf(key, sizeof key, "%.200s/%.200s/%.100s", c->cell[t->kernel], c->cell[t->provider], c->cell[t->mode]);
	if (strcmp(c->cell[t->metric], "speed") != 0)
		table_put(key, "metric", c->cell[t->metric]);
	table_put(key, c->cell[t->x_name], c->cell[t->x_value]);
	if (t->config >= 0)
		put_config(key, c->cell[t->config]);
	if (t->has_gpus)
		table_put(key, "gpu", c->cell[t->gpu]);
	return table_add(out, c, h, t->median, c->cell[t->unit], key, NAN, err);
}

int read_liger(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct table_header h;
	struct columns t;
	struct csv c;
	int result = -1;

	(void)how;
	csv_init(&c, text, len, file);
	if (table_header_read(&c, &h, err) == 0 && find_columns(&c, &h, &t, err) == 0) {
		t.has_gpus = has_gpus(text, len, &h, t.gpu);
		result = table_each(out, &c, &h, read_result, &t, err);
	}
	csv_fini(&c);
	return result;
}
