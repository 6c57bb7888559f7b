/* ncu.c - Nsight Compute with the same metrics; its kernel replay saves and restores memory itself. */
#include "worker/internal.h"

enum { OUTPUT_MAX = 16 << 20, NAMES_SIZE = 8192, CELL_MAX = 64 << 10, VERSION_MS = 10000, ARGS_MAX = 24 };

struct tool {
	char path[4096], name[64]; /* name: "ncu 2025.3.1" */
	char metrics[NAMES_SIZE];
};

struct table {
	struct buffered_process *process;
	int n_kernels;
	int node[EVIDENCE_KERNELS_MAX]; /* node of kernel i; ncu does not count copies and fills as launches */
	int launches;
	bool differs;
};

static bool is_ours(const char *metric)
{
	for (int i = 0; i < METRICS; i++)
		if (strcmp(metric_names[i], metric) == 0)
			return true;
	return false;
}

static int take_value(void *arg, const struct ncu_value *v, struct fw_err *err)
{
	struct table *t = arg;
	(void)err;
	t->launches = v->launch + 1;
	if (v->launch >= t->n_kernels)
		return 0;
	struct msg_kernel *k = &t->process->kernel[t->node[v->launch]];
	t->differs = t->differs || memcmp(k->grid, v->grid, sizeof k->grid) != 0;
	if (v->kind != MARKS_NUMBER || !is_ours(v->metric) || k->n_values == METRICS)
		return 0;
	if (!k->value)
		k->value = mem_alloc_zero(METRICS, sizeof *k->value);
	for (int i = 0; i < k->n_values; i++)
		if (strcmp(k->value[i].metric, v->metric) == 0)
			return 0;
	snprintf(k->value[k->n_values].metric, sizeof k->value[0].metric, "%s", v->metric);
	k->value[k->n_values++].value = v->value;
	if (strcmp(v->metric, "gpu__time_duration.sum") == 0)
		k->ms = v->value * 1e-6; /* base units: ns */
	return 0;
}

static void forget_values(struct buffered_process *p)
{
	for (int i = 0; i < p->n; i++) {
		free(p->kernel[i].value);
		p->kernel[i].value = NULL;
		p->kernel[i].n_values = 0;
		p->kernel[i].ms = -1;
	}
}

/* Extract the error message of ncu. */
static void write_error(const char *text, char *why, size_t size)
{
	const char *line = strstr(text, "==ERROR==");
	if (strstr(text, "ERR_NVGPUCTRPERM")) {
		snprintf(why, size,
			"the driver shows counters to administrators only (ERR_NVGPUCTRPERM): load it with "
			"NVreg_RestrictProfilingToAdminUsers=0 (/etc/modprobe.d), then reboot (see "
			"doc/troubleshooting.md#counters)");
		return;
	}
	if (line)
		line += sizeof "==ERROR==" - 1;
	snprintf(why, size, "%.*s", line ? (int)strcspn(line + strspn(line, " "), "\r\n") : 16,
		line ? line + strspn(line, " ") : "printed no table");
}

static bool ncu_take(struct buffered_process *p, const char *text, size_t len, char *why, size_t size)
{
	struct table t = { .process = p };
	struct fw_err err = { 0 };
	for (int i = 0; i < p->n; i++)
		if (p->kernel[i].grid[0] > 0)
			t.node[t.n_kernels++] = i;
	bool good = ncu_table_each(text, len, "its output", '.', NULL, take_value, &t, &err) == 0;
	if (!good && t.launches == 0)
		write_error(text, why, size);
	else if (!good)
		snprintf(why, size, "%.300s", err.text);
	else if (t.launches != t.n_kernels || t.differs)
		snprintf(why, size, "counted %d launches, but the call has %d%s", t.launches, t.n_kernels,
			t.launches == t.n_kernels ? ", of other sizes" : "");
	good = good && t.launches == t.n_kernels && !t.differs;
	if (!good)
		forget_values(p);
	return good;
}

static bool find_tool(struct tool *t)
{
	struct fw_err err = { 0 };
	struct proc_exit how;
	struct buf output;
	if (!cudatool_find("ncu", t->path, sizeof t->path))
		return false;
	size_t used = 0;
	for (int i = 0; i < METRICS; i++)
		used += (size_t)snprintf(t->metrics + used, sizeof t->metrics - used, "%s%s", i ? "," : "", metric_names[i]);
	buf_init(&output, 4096);
	const char *argv[] = { t->path, "--version", NULL };
	bool known = proc_run(&(struct proc_spec){ .argv = argv }, NULL, &output, NULL, VERSION_MS, &how, &err) == 0;
	const char *version = known ? strstr(output.data, "Version ") : NULL;
	snprintf(t->name, sizeof t->name, "ncu%s%.*s", version ? " " : "", version ? (int)strcspn(version + 8, " \r\n(") : 0,
		version ? version + 8 : "");
	buf_fini(&output);
	return true;
}

int ncu_run(struct buffered *k, struct buffered_cell *c, int side, const char *const *options, struct buf *output, char *why,
	size_t size, struct fw_err *err)
{
	struct bench *b = k->bench;
	int position = side ? b->target : b->base, n = 0;
	char path[4096], device[32];
	struct proc_exit how;
	struct buf cell;
	struct jsonw j;
	buf_init(output, OUTPUT_MAX);
	if (!cudatool_find("ncu", path, sizeof path)) {
		snprintf(why, size, "not installed");
		return 0;
	}
	buf_init(&cell, CELL_MAX);
	jsonw_init(&j, &cell);
	protocol_put_cell(&j, &b->cells[c->cell]);
	snprintf(device, sizeof device, "%s:%d", device_kind_name(b->device.kind), b->device.index);
	const char *argv[ARGS_MAX] = { path, "--profile-from-start", "off", "--clock-control", "none", "--cache-control", "none",
		"--csv", "--print-units", "base" };
	for (n = 10; *options && n < ARGS_MAX - 1;)
		argv[n++] = *options++;
	const char *runner_argv[] = { "--capture", cell.data, "--module", "/proc/self/fd/10", "--device", device, "--calls", "1",
		"--warmup", "1", "--provider", b->side[position].provider, "--config", bench_pinned(b, position, c->cell), NULL };
	double before_s = b->gpu_s;
	struct runner_task task = { .n_sides = 1, .side = { position }, .deadline_s = collect_deadline_s(b) };
	int result = runner_child_under(b, &task, argv, runner_argv, output, &how, err);
	c->gpu_s += b->gpu_s - before_s;
	if (result == 0 && how.timed_out)
		snprintf(why, size, "did not end within %g s", task.deadline_s);
	buf_fini(&cell);
	return result != 0 ? -1 : !how.timed_out;
}

/* Count one side with ncu. Returns 1; 0 if not counted, with the reason in `why`; -1 on error. */
static int count(struct buffered *k, struct buffered_cell *c, const struct tool *tool, int side, struct buffered_process *p,
	char *why, size_t size, struct fw_err *err)
{
	const char *const options[] = { "--page", "raw", "--metrics", tool->metrics, NULL };
	struct buf output;
	int result = ncu_run(k, c, side, options, &output, why, size, err);
	if (result == 1)
		result = ncu_take(p, output.data, output.len, why, size);
	buf_fini(&output);
	return result;
}

/* Count all four processes; if one fails, discard all. */
static int count_cell(struct buffered *k, struct buffered_cell *c, const struct tool *tool, struct fw_err *err)
{
	static const struct {
		int side, repeat;
	} order[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
	struct buffered_process got[BUFFERED_SIDES][EVIDENCE_REPEATS] = { 0 };
	char why[BUFFERED_WHY_SIZE] = "";
	int result = 1;
	for (size_t o = 0; o < sizeof order / sizeof order[0] && result == 1; o++) {
		int side = order[o].side, repeat = order[o].repeat;
		struct buffered_process *p = &got[side][repeat];
		buffered_copy(p, &c->process[side][0], repeat);
		result = count(k, c, tool, side, p, why, sizeof why, err);
		p->is_counted = result == 1;
		snprintf(p->tool, sizeof p->tool, "%s", tool->name);
	}
	if (result == 0)
		buffered_why(c, "ncu: %s", why);
	for (int side = 0; side < BUFFERED_SIDES; side++)
		for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++) {
			struct buffered_process *old = result == 1 ? &c->process[side][repeat] : &got[side][repeat];
			buffered_clear(old);
			if (result == 1)
				*old = got[side][repeat];
		}
	return result < 0 ? -1 : 0;
}

int ncu_counters(struct buffered *k, struct fw_err *err)
{
	struct tool *tool = NULL;
	int result = 0;
	for (int i = 0; i < k->n && result == 0; i++) {
		struct buffered_cell *c = &k->cell[i];
		if (buffered_is_counted(c))
			continue;
		if (k->bench->device.kind != DEVICE_CUDA || c->is_hung || k->bench->lost || c->process[0][0].n == 0 ||
			c->process[1][0].n == 0)
			continue;
		if (!tool) {
			tool = mem_alloc_zero(1, sizeof *tool);
			if (!find_tool(tool))
				break;
		}
		result = count_cell(k, c, tool, err);
	}
	free(tool);
	return result;
}
