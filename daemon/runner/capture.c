/* capture.c - calls of one side in one cell, and no other work that a profiler would record. */
#include "runner/internal.h"

/* ---- profiled: Detection of a profiler by the environment, the memory map and the tracer. ---- */

extern char **environ;

/* Variables that profilers set in processes that they start; a name that ends in _ is a prefix. */
static const struct {
	const char *name, *who;
} variables[] = {
	{ "NV_NSIGHT_INJECTION_", "ncu" }, /* port, transport */
	{ "NV_COMPUTE_PROFILER_", "ncu" },
	{ "NSYS_PROFILING_SESSION_ID", "nsys" },
	{ "NVPROF_ID", "nvprof" },
	{ "CUDA_INJECTION64_PATH", "a CUDA injection" },
};

/* Substrings of names of libraries that profilers, tracers and sanitizers load into a process. */
static const struct {
	const char *part, *who;
} libraries[] = {
	{ "sanitizer-collection", "compute-sanitizer" },
	{ "libToolsInjection", "nsys" },
	{ "libcuda-injection", "ncu" },
	{ "libTreeLauncher", "an Nsight tool" },
	{ "libInterceptorInjection", "an Nsight tool" },
	{ "libcuinj", "nvprof" },
	{ "vgpreload_", "valgrind" },
};

enum { LIBRARIES = sizeof libraries / sizeof libraries[0], VARIABLES = sizeof variables / sizeof variables[0] };

static bool by_variable(char *what, size_t size)
{
	for (int k = 0; k < VARIABLES; k++)
		for (char **e = environ; *e; e++) {
			size_t len = strcspn(*e, "="), wanted = strlen(variables[k].name);
			bool all = variables[k].name[wanted - 1] == '_';
			if (strncmp(*e, variables[k].name, wanted) != 0 || (!all && len != wanted) || !(*e)[len] ||
				!(*e)[len + 1])
				continue;
			snprintf(what, size, "%s (%.*s)", variables[k].who, (int)len, *e);
			return true;
		}
	return false;
}

static bool by_library(char *what, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;
	while (maps && !found && fgets(line, sizeof line, maps)) {
		const char *path = strchr(line, '/'), *name = path ? strrchr(path, '/') + 1 : "";
		for (int k = 0; k < LIBRARIES && !found; k++) {
			found = strstr(name, libraries[k].part) != NULL;
			if (found)
				snprintf(what, size, "%s (%.*s)", libraries[k].who, (int)strcspn(name, "\n"), name);
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool by_tracer(char *what, size_t size)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = 0;
	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (status)
		fclose(status);
	if (tracer > 0)
		snprintf(what, size, "process %d, which traces it", tracer);
	return tracer > 0;
}

/*
 * Search the environment, the memory map and the tracer of this process. Call it once the device is open, since drivers load
 * injected libraries. `what` receives the tool: "ncu (NV_NSIGHT_INJECTION_PORT_BASE)". Returns false if none was found. Shape:
 * what[size].
 */
static bool profiled_by(char *what, size_t size)
{
	return by_variable(what, size) || by_library(what, size) || by_tracer(what, size);
}

/* ---- capture ---- */

enum { SUITE_BYTES_MAX = 1 << 20, USAGE = 2 };

static int read_suite(const char *path, struct suite *out, struct fw_err *err)
{
	struct buf text;
	int result = -1, fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s", path);
	buf_init(&text, SUITE_BYTES_MAX);
	if (buf_read_fd(&text, fd) != 0 || text.failed)
		err_sys(err, "%s", path);
	else
		result = suite_parse_local(text.data, text.len, path, out, err);
	buf_fini(&text);
	close(fd);
	return result;
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

/* Enqueue a call: phase by phase for a profiler, else as in timing. */
static int enqueue(struct side *u, bool is_profiled, struct failure *f)
{
	if (!is_profiled)
		return side_timed(u, f);
	int result = 0;
	for (uint32_t bit = 1; bit < FW_ALL && result == 0; bit <<= 1) {
		if (!(u->phases & u->timed & bit))
			continue;
		range_phase(problem_phase_name(u->problem, bit));
		result = side_enqueue(u, bit, f);
		range_end();
	}
	return result;
}

/* Make cold calls one after the other, the measured ones inside the profiler's range. */
static int run_calls(struct runner *r, struct problem *p, const struct capture_options *o, float *ms, struct failure *f)
{
	struct side *u = &r->side[0];
	struct fw_err err = { 0 };
	char who[256];
	bool is_profiled = profiled_by(who, sizeof who);
	for (int i = 0; i < o->warmup + o->calls; i++) {
		if (i == o->warmup)
			r->ops->profiler(r->dev, true);
		if (problem_restore(p, f) != 0 || side_ahead(u, 0x55, f) != 0 || problem_poison(p, 0x55, f) != 0)
			return -1;
		if (r->ops->scrub(r->dev, &err) != 0 || r->ops->mark(r->dev, 0, &err) != 0)
			return failure_device(f, p, &err);
		struct range_call call = {
			.cell = p->cell.key, .role = u->role, .pass = 1, .call = (uint32_t)(i - o->warmup), .seed = p->cell.seed
		};
		if (i < o->warmup)
			range_phase("warm");
		else
			range_cell(&call);
		int result = enqueue(u, is_profiled, f);
		range_end();
		if (result != 0 || side_mark(u, 1, f) != 0 || side_wait(u, f) != 0)
			return -1;
		if (i >= o->warmup)
			ms[i - o->warmup] = r->ops->elapsed_ms(r->dev, 0, 1);
	}
	r->ops->profiler(r->dev, false);
	return 0;
}

static void print_result(const struct side *u, const struct cell *cell, const struct capture_options *o, float *ms)
{
	char who[256];
	printf("%s %s on %s: %d calls, ", cell->key, u->provider->name, o->device, o->calls);
	if (profiled_by(who, sizeof who)) {
		printf("no times: %s would distort them\n", who);
		return;
	}
	qsort(ms, (size_t)o->calls, sizeof *ms, compare_floats);
	float median = ms[o->calls / 2];
	printf("median %.6g ms, least %.6g ms, %.4g TFLOP/s\n", (double)median, (double)ms[0],
		case_flops(cell) / (double)median * 1e-9);
}

/* Memory in use. Units: bytes; -1: unknown. */
struct moment {
	const char *name;
	int64_t tensors, workspace, other; /* other: the module's own, and that of the driver and of other processes */
};

enum { BEFORE, PREPARED, PLANNED, AFTER, MOMENTS, MEMORY_TEXT_MAX = 16 << 10 };

static void read_moment(struct runner *r, const struct problem *p, const char *name, struct moment *out)
{
	const struct side *u = &r->side[0];
	bool has_plan = p && u->plan;
	*out = (struct moment){ .name = name,
		.tensors = p ? problem_tensor_bytes(p) : 0,
		.workspace = has_plan ? (int64_t)(u->workspace_bytes + u->persist_bytes) : 0,
		.other = r->ops->taken_bytes ? r->ops->taken_bytes(r->dev) : -1 };
}

static void print_memory(const struct cell *cell, const struct moment *moment)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, MEMORY_TEXT_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_format(&j, "cell=%s", cell->key);
	jsonw_kv_array(&j, "moments");
	for (int i = 0; i < MOMENTS; i++) {
		jsonw_object(&j);
		jsonw_format(&j, "moment=%s tensor_bytes=%lld workspace_bytes=%lld", moment[i].name, (long long)moment[i].tensors,
			(long long)moment[i].workspace);
		if (moment[i].other < 0)
			jsonw_kv_null(&j, "other_bytes");
		else
			jsonw_kv_int(&j, "other_bytes", moment[i].other);
		jsonw_object_end(&j);
	}
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	printf("%s\n", text.data);
	buf_fini(&text);
}

static int capture_cell(struct runner *r, const struct cell *cell, const struct capture_options *o, float *ms, struct failure *f)
{
	struct side *u = &r->side[0];
	struct fw_err err = { 0 };
	struct moment moment[MOMENTS];
	struct problem p;
	read_moment(r, NULL, "before", &moment[BEFORE]);
	int result = problem_open(&p, r->ops, r->dev, cell, &err);
	if (result != 0)
		failure_set(f, "device", "%.500s", err.text);
	if (result == 0 && p.needs_forward)
		result = forward_run(u, &p, NULL, f);
	if (result == 0)
		read_moment(r, &p, "inputs", &moment[PREPARED]);
	u->pin = o->config[0] ? o->config : cell->config[0] ? cell->config : NULL;
	u->is_request = true;
	if (result == 0)
		result = side_plan(u, &p, cell->direction, f);
	if (result == 0)
		result = side_bind(u, f);
	u->pass_time = result == 0 && r->ops->work;
	if (result == 0)
		read_moment(r, &p, "plan", &moment[PLANNED]);
	if (result == 0)
		result = run_calls(r, &p, o, ms, f);
	if (result == 0)
		read_moment(r, &p, "after", &moment[AFTER]);
	if (result == 0)
		print_result(u, cell, o, ms);
	if (result == 0 && o->memory)
		print_memory(cell, moment);
	if (result == 0 && o->trace)
		result = trace_print(r, u, &p, o->device, f);
	r->lost = f->lost;
	if (!r->lost) {
		side_unplan(u);
		problem_close(&p);
	}
	return result;
}

static int find_cell(const struct suite *suite, const char *key)
{
	for (int i = 0; i < suite->n_cells; i++)
		if (strcmp(suite->cell[i].key, key) == 0)
			return i;
	return -1;
}

static int with_cell(struct cell *cell, const struct capture_options *o)
{
	struct msg_task task = { .mode = TASK_CAPTURE, .n_sides = 1, .n_cells = 1, .cell = cell, .index = (int[]){ 0 } };
	struct records records;
	struct runner runner;
	struct failure f = { 0 };
	struct fw_err err = { 0 };
	int rc = RUNNER_ERROR;

	snprintf(task.device, sizeof task.device, "%s", o->device);
	task.side[0].role = ROLE_TARGET;
	snprintf(task.side[0].module, sizeof task.side[0].module, "%s", o->module);
	snprintf(task.side[0].provider, sizeof task.side[0].provider, "%s", o->provider);
	float *ms = calloc((size_t)o->calls, sizeof *ms);
	if (!ms || records_init(&records, -1, 0, &err) != 0) {
		free(ms);
		return rc;
	}
	if (runner_open(&runner, &task, &records, &err) != 0) {
		fprintf(stderr, "flopwatch-runner: %s\n", err.text);
	} else if (!runner.side[0].loaded) {
		struct module m;
		module_open(&m, o->module, &err); /* opened again for the error message */
		fprintf(stderr, "flopwatch-runner: %s\n", err.text);
		module_close(&m);
	} else if (capture_cell(&runner, cell, o, ms, &f) != 0) {
		fprintf(stderr, "flopwatch-runner: %s: %s: %s\n", cell->key, f.name, f.detail);
		rc = f.lost ? RUNNER_LOST : RUNNER_ERROR;
	} else {
		rc = 0;
	}
	runner_close(&runner);
	records_fini(&records);
	free(ms);
	return rc;
}

int mode_capture_run(const struct capture_options *o)
{
	struct suite suite;
	struct fw_err err = { 0 };
	if (o->cell[0] == '{') {
		struct cell cell;
		if (protocol_parse_cell(o->cell, strlen(o->cell), &cell, &err) == 0)
			return with_cell(&cell, o);
		fprintf(stderr, "flopwatch-runner: --capture: %s\n", err.text);
		return USAGE;
	}
	if (read_suite(o->suite, &suite, &err) != 0) {
		fprintf(stderr, "flopwatch-runner: %s\n", err.text);
		return USAGE;
	}
	int i = find_cell(&suite, o->cell), rc = USAGE;
	if (i < 0)
		fprintf(stderr, "flopwatch-runner: %s: no cell '%s'; the first of its %d is '%s'\n", o->suite, o->cell,
			suite.n_cells, suite.n_cells ? suite.cell[0].key : "");
	else
		rc = with_cell(&suite.cell[i], o);
	suite_fini(&suite);
	return rc;
}
