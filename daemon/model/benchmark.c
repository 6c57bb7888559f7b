/* benchmark.c - parser of `benchmarks:` items, and their rule. */
#include "model/model.h"

#include <stdio.h>

static bool lies_in(const char *inner, const char *outer)
{
	size_t n = strlen(outer);

	return strncmp(inner, outer, n) == 0 && (inner[n] == '\0' || inner[n] == '/');
}

static void read_artifacts(struct yaml *y, struct yaml_node *list, struct benchmark *b)
{
	b->n_artifacts = manifest_read_list(y, list, true, b->artifact[0], sizeof b->artifact[0], BENCHMARK_ARTIFACTS_MAX, 0);
	for (int i = 0; i < b->n_artifacts; i++) {
		if (strcmp(b->artifact[i], ".") == 0)
			yaml_mistake(
				y, yaml_item(y, list, i), "is everything; leave artifacts out, or name what the benchmark reads");
		for (int k = 0; k < b->n_artifacts && b->artifact[i][0]; k++)
			if (k != i && b->artifact[k][0] && lies_in(b->artifact[i], b->artifact[k]) &&
				(strcmp(b->artifact[i], b->artifact[k]) != 0 || k < i))
				yaml_mistake(y, yaml_item(y, list, i), "is in %s, which is another one", b->artifact[k]);
	}
}

/* Read which time decides. Other formats have only one time. */
static void read_time(struct yaml *y, struct yaml_node *time, struct benchmark *b)
{
	char text[16] = "";

	manifest_read_text(y, time, false, text, sizeof text);
	if (!text[0])
		return;
	if (strcmp(text, "real") != 0 && strcmp(text, "cpu") != 0)
		yaml_mistake(y, time, "`%s` is not a time; use real or cpu", text);
	else if (b->reader[0] && !format_has_times(format_from_name(b->reader)))
		yaml_mistake(y, time, "is for google-benchmark, which writes two; %s has one time", b->reader);
	else
		snprintf(b->time, sizeof b->time, "%s", strcmp(text, "real") == 0 ? "real" : "cpu");
}

static void read_reader(struct yaml *y, struct yaml_node *node, struct benchmark *b)
{
	struct yaml_node *reader = yaml_get(y, node, "reader"), *unit = yaml_get(y, node, "unit");
	double ms, tflops;
	const char *suffix;

	if (!reader)
		yaml_mistake(y, node, "reader is missing; use one of " FORMAT_NAMES);
	manifest_read_text(y, reader, false, b->reader, sizeof b->reader);
	if (b->reader[0] && format_from_name(b->reader) == FORMAT_N)
		yaml_mistake(y, reader, "`%.24s` is not a format that is read; use one of " FORMAT_NAMES, b->reader);
	manifest_read_text(y, unit, false, b->unit, sizeof b->unit);
	if (b->unit[0] && unit_convert(1, b->unit, &ms, &tflops, &suffix))
		yaml_mistake(y, unit, "`%.16s` is not a unit; use ms, us, ns, s, TFLOPS or GB/s", b->unit);
	read_time(y, yaml_get(y, node, "time"), b);
}

void benchmark_read(struct yaml *y, struct yaml_node *node, const char *name, struct benchmark *out)
{
	*out = (struct benchmark){ .threshold_pct = 1.5, .timeout_s = 300, .budget_s = 600, .gpu = true };
	cost_limits_default(&out->costs);
	if (!name[0] || strlen(name) >= sizeof out->name ||
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(name))
		yaml_mistake(y, node, "\"%.32s\" is not a name of a benchmark; use 1 to %zu of a-z 0-9 _ -", name,
			sizeof out->name - 1);
	else
		snprintf(out->name, sizeof out->name, "%s", name);
	if (!yaml_is_map(node)) {
		yaml_mistake(y, node, "must be a mapping with command and reader");
		return;
	}
	struct yaml_node *command = yaml_get(y, node, "command");
	int64_t pairs = 0;

	if (!command)
		yaml_mistake(y, node, "command is missing, as in [python3, bench.py]");
	out->n_command = manifest_read_list(y, command, false, out->command[0], sizeof out->command[0], BENCHMARK_ARGS_MAX, 0);
	out->n_outputs = manifest_read_list(
		y, yaml_get(y, node, "outputs"), true, out->output[0], sizeof out->output[0], BENCHMARK_OUTPUTS_MAX, 0);
	read_artifacts(y, yaml_get(y, node, "artifacts"), out);
	read_reader(y, node, out);
	yaml_double(y, yaml_get(y, node, "threshold_pct"), 0.1, 99, &out->threshold_pct);
	cost_limits_read(y, yaml_get(y, node, "costs"), &out->costs);
	yaml_seconds(y, yaml_get(y, node, "timeout_s"), 1, 86400, &out->timeout_s);
	yaml_seconds(y, yaml_get(y, node, "budget_s"), 1, 86400, &out->budget_s);
	yaml_int(y, yaml_get(y, node, "pairs"), BENCHMARK_INTERLEAVE_MIN, BENCHMARK_INTERLEAVE_MAX, &pairs);
	out->pairs = (int)pairs;
	yaml_bool(y, yaml_get(y, node, "gpu"), &out->gpu);
	out->fork = out->gpu;
	yaml_bool(y, yaml_get(y, node, "fork"), &out->fork);
	yaml_finish(y, node);
}

void benchmark_rule(const struct benchmark *b, int n_cells, struct rule *out)
{
	rule_default(out, n_cells);
	out->programs = true;
	out->runs_max = BENCHMARK_RUNS_MAX;
	out->pairs_min = out->pairs_max = BENCHMARK_PAIRS;
	out->pairs_short = 0;
	out->half_width_dense_pct = out->half_width_sparse_pct = b->threshold_pct / 2;
}

void benchmark_cell(const struct benchmark *b, const char *key, double flops, struct cell *out)
{
	*out = (struct cell){ .family = BENCHMARK_FAMILY, .threshold_pct = b->threshold_pct, .flops = flops };
	snprintf(out->key, sizeof out->key, "%s", key);
	snprintf(out->case_key, sizeof out->case_key, "%s", key);
	snprintf(out->group, sizeof out->group, "%.15s", b->name);
	out->decide = SERIES_PROCESS;
	out->direction = DIRECTION_FORWARD;
}
