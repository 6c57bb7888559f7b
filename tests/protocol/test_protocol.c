/* Protocol 1: every message survives writing and reading. */
#include "attention_cell.h"
#include "protocol_lines.h"

#include <math.h>

static void hello(void **state)
{
	struct msg in = { .t = MSG_HELLO, .u.hello = { .protocol = 1, .n_devices = 2 } }, out;
	struct msg_device *d = in.u.hello.device;

	(void)state;
	COPY(in.u.hello.version, "0.1.0");
	COPY(in.u.hello.isolation, "bwrap");
	in.u.hello.location = (struct msg_location){ .host = "gpu1", .user = "flopwatch-run", .is_system = true };
	COPY(in.u.hello.location.runner, "/opt/it's here/flopwatch-runner");
	COPY(in.u.hello.location.modules, "/var/cache/flopwatch-worker/modules");
	in.u.hello.n_read_only = 1;
	COPY(in.u.hello.read_only[0], "/opt/conda");
	d[0].kind = DEVICE_CUDA;
	COPY(d[0].uuid, "GPU-12345678-1234-1234-1234-123456789abc");
	COPY(d[0].name, "NVIDIA H200");
	d[0].power_limit_w = 700;
	d[0].cores = 132;
	d[0].memory_bytes = INT64_C(150754820096);
	d[1].kind = DEVICE_CPU;
	COPY(d[1].uuid, "cpu-ab12");
	COPY(d[1].name, "line\nbreak \033[31m");
	round_trip(&(struct msg){ .t = MSG_PING }, &out);
	struct fw_err err = { 0 };
	struct buf line;

	buf_init(&line, 4096);
	protocol_write(&line, &in);
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), 0);
	assert_int_equal(out.u.hello.n_devices, 2);
	assert_false(out.u.hello.builds_only);
	assert_string_equal(out.u.hello.location.runner, "/opt/it's here/flopwatch-runner");
	assert_string_equal(out.u.hello.location.modules, "/var/cache/flopwatch-worker/modules");
	assert_true(out.u.hello.location.is_system && strcmp(out.u.hello.location.user, "flopwatch-run") == 0);
	assert_int_equal(out.u.hello.n_read_only, 1);
	assert_string_equal(out.u.hello.read_only[0], "/opt/conda");
	assert_true(out.u.hello.device[0].memory_bytes == INT64_C(150754820096));
	assert_string_equal(out.u.hello.device[0].uuid, d[0].uuid);
	assert_string_equal(out.u.hello.device[1].name, "line break  [31m"); /* no cursor movement gets through */
	msg_fini(&out);

	in.u.hello.builds_only = true;
	buf_clear(&line);
	protocol_write(&line, &in);
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), 0);
	assert_true(out.u.hello.builds_only);
	msg_fini(&out);
	buf_fini(&line);
}

/* A single cell, as a user passes it to the runner. */
static void one_cell(void **state)
{
	struct cell in = a_cell(false), out;
	struct fw_err err = { 0 };
	struct jsonw j;
	struct buf text;

	(void)state;
	buf_init(&text, 4096);
	jsonw_init(&j, &text);
	protocol_put_cell(&j, &in);
	assert_int_equal(protocol_parse_cell(text.data, text.len, &out, &err), 0);
	assert_string_equal(out.key, in.key);
	assert_memory_equal(attention_of(&out), attention_of(&in), sizeof(struct attention_case));
	for (int pattern = 0; pattern < PATTERNS; pattern++) {
		in = a_cell(true);
		attention_of(&in)->pattern = (enum pattern)pattern;
		attention_of(&in)->sparsity_ratio = 0.5;
		case_name(&in);
		buf_clear(&text);
		jsonw_init(&j, &text);
		protocol_put_cell(&j, &in);
		assert_int_equal(protocol_parse_cell(text.data, text.len, &out, &err), 0);
		assert_string_equal(out.key, in.key);
		assert_int_equal(attention_of(&out)->pattern, pattern);
	}
	assert_int_equal(protocol_parse_cell("{\"key\":\"attention/x\"}", 21, &out, &err), -1);
	assert_non_null(strstr(err.text, "cell.family: "));
	err_clear(&err);
	assert_int_equal(protocol_parse_cell("{", 1, &out, &err), -1);
	assert_non_null(strstr(err.text, "not JSON"));
	buf_fini(&text);
}

static void job(void **state)
{
	struct cell cells[] = { a_cell(false), a_cell(true) };
	struct msg_job body = { 0 };
	struct msg in = { .t = MSG_JOB, .u.job = &body }, out;

	(void)state;
	fill_job(&body, cells);
	attention_of(&cells[0])->n_seqs = 2;
	attention_of(&cells[0])->length[0] = 1000;
	attention_of(&cells[0])->length[1] = 24;
	cells[1].tau0 = 0.004;
	cells[1].underpowered_pct = 27.9;
	case_name(&cells[0]);
	body.sentinels_elsewhere = sentinel_class(&cells[1]);
	body.sustained_runs = sentinel_direction(DIRECTION_BACKWARD) | sentinel_direction(DIRECTION_ONCE);
	round_trip(&in, &out);
	assert_int_equal(out.u.job->sentinels_elsewhere, sentinel_class(&cells[1]));
	assert_int_equal(out.u.job->sustained_runs, body.sustained_runs);
	assert_true(out.u.job->cell[0].tau0 == 0 && out.u.job->cell[0].underpowered_pct == 0);
	assert_true(out.u.job->cell[1].tau0 == 0.004 && out.u.job->cell[1].underpowered_pct == 27.9);
	assert_true(out.u.job->seed == body.seed);
	assert_int_equal(out.u.job->side[1].role, ROLE_TARGET);
	assert_string_equal(out.u.job->side[1].provider, "hopper.v1");
	assert_string_equal(out.u.job->side[0].build.command[1], "DEVICE={device}");
	assert_string_equal(out.u.job->side[0].build.output[0], "build/{device}/libattention.so");
	assert_true(out.u.job->side[0].build.timeout_s == 900);
	assert_string_equal(out.u.job->cell[0].title, "varlen causal");
	assert_int_equal(attention_of(&out.u.job->cell[0])->length[1], 24);
	assert_string_equal(out.u.job->cell[1].key, cells[1].key);
	assert_string_equal(out.u.job->cell[1].case_key, cells[1].case_key);
	assert_true(out.u.job->cell[1].seed == UINT64_MAX);
	assert_true(attention_of(&out.u.job->cell[1])->sparsity_ratio == 0.3);
	assert_true(out.u.job->rule.k == 3.5 && out.u.job->rule.confirm);
	assert_true(out.u.job->limits.budget_s == 600.5);
	msg_fini(&out);
}

static void tools(void **state)
{
	struct cell cells[] = { a_cell(false), a_cell(true) };
	struct msg_job body = { 0 };
	struct msg in = { .t = MSG_JOB, .u.job = &body }, out;
	struct toolchain_override *base = &body.side[0].tools, *target = &body.side[1].tools;
	struct fw_err err = { 0 };
	struct buf line;

	(void)state;
	fill_job(&body, cells);
	body.kind = JOBKIND_ENVIRONMENT;
	COPY(base->module, SHA256);
	COPY(base->made_by, "nvcc 12.9.86 gcc 12.2.0");
	COPY(target->dir, "/usr/local/cuda-13.0");
	COPY(target->flags, "-Xptxas -O2");
	round_trip(&in, &out);
	assert_int_equal(out.u.job->kind, JOBKIND_ENVIRONMENT);
	assert_memory_equal(&out.u.job->side[0].tools, base, sizeof *base);
	assert_memory_equal(&out.u.job->side[1].tools, target, sizeof *target);
	msg_fini(&out);
	static const struct {
		const char *dir, *flags, *said;
	} bad[] = { { "opt/cuda", "", "job.sides[1].tools.dir: is no absolute and plain path; e.g. /usr/local/cuda-12.9" },
		{ "/opt/../etc", "", "job.sides[1].tools.dir: is no absolute and plain path; e.g. /usr/local/cuda-12.9" },
		{ "/opt/a b", "", "job.sides[1].tools.dir: holds a letter that no folder of a toolchain has" },
		{ "/", "", "job.sides[1].tools.dir: is the whole machine; name the folder of the toolchain in it" },
		{ "", "-O2 $(reboot)", "job.sides[1].tools.flags: hold a letter that may not be there" },
		{ "", "O2", "job.sides[1].tools.flags: do not begin with -; e.g. -O2" } };
	buf_init(&line, PROTOCOL_LINE_MAX);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		COPY(target->dir, bad[i].dir);
		COPY(target->flags, bad[i].flags);
		buf_clear(&line);
		protocol_write(&line, &in);
		assert_int_equal(protocol_parse(line.data, line.len, &out, &err), -1);
		assert_string_equal(err.text, bad[i].said);
		err_clear(&err);
	}
	buf_fini(&line);
}

static void programs(void **state)
{
	struct msg_job *body = calloc(1, sizeof *body);
	struct msg in = { .t = MSG_JOB, .u.job = body }, out;
	struct msg_found *found = calloc(1, sizeof *found);

	(void)state;
	assert_true(body && found);
	fill_job(body, NULL);
	body->n_cells = 0; /* they are known when it has run */
	for (int i = 0; i < 2; i++) {
		struct benchmark *b = &body->side[i].benchmark;

		*b = (struct benchmark){
			.name = "sums", .n_command = 2, .n_outputs = 1, .reader = "google-benchmark", .gpu = true
		};
		COPY(b->command[0], "./bench");
		COPY(b->command[1], "out.json");
		COPY(b->output[0], "out.json");
		b->n_artifacts = 2;
		COPY(b->artifact[0], "bench");
		COPY(b->artifact[1], "data/{device}");
		COPY(b->unit, "GB/s");
		COPY(b->time, "cpu");
		b->threshold_pct = 2.5;
		b->timeout_s = 60;
		b->budget_s = 120;
		b->pairs = 240;
		b->fork = true;
		body->side[i].build.n_command = 0; /* nothing to build */
	}
	round_trip(&in, &out);
	assert_int_equal(out.u.job->n_cells, 0);
	assert_memory_equal(&out.u.job->side[1].benchmark, &body->side[1].benchmark, sizeof body->side[1].benchmark);
	assert_int_equal(out.u.job->side[0].build.n_command, 0);
	msg_fini(&out);
	free(body);
	found->n = 2;
	COPY(found->cell[0].key, "sum/4096");
	COPY(found->cell[1].key, "sum/[threads=4]/\xc3\xa9");
	found->cell[1].flops = 1.5e12;
	in = (struct msg){ .t = MSG_FOUND, .u.found = found };
	round_trip(&in, &out);
	assert_memory_equal(out.u.found, found, sizeof *found);
	msg_fini(&out);
	free(found);
}

static void task(void **state)
{
	struct cell cells[] = { a_cell(true) };
	int index[] = { 17 };
	struct msg_pin pin = { .cell = 17, .side = 0, .config = "TILE=\"3\" a" };
	struct msg_task body = { .run = 3,
		.set = 2,
		.seed = 99,
		.rotation = 1,
		.n_sides = 1,
		.n_cells = 1,
		.cell = cells,
		.index = index,
		.n_pins = 1,
		.pin = &pin };
	struct msg in = { .t = MSG_TASK, .u.task = &body }, out;

	(void)state;
	body.mode = TASK_TIME;
	COPY(body.device, "cuda:0");
	body.side[0].role = ROLE_REFERENCE;
	COPY(body.side[0].module, "/proc/self/fd/10");
	rule_default(&body.rule, 1);
	body.warm_s = 1.5;
	body.cell_warm_s = 0.1;
	body.phases = true;
	round_trip(&in, &out);
	assert_int_equal(out.u.task->index[0], 17);
	assert_int_equal(out.u.task->rotation, 1);
	assert_true(out.u.task->phases);
	assert_false(out.u.task->calls);
	assert_string_equal(out.u.task->side[0].module, "/proc/self/fd/10");
	assert_int_equal(out.u.task->side[0].role, ROLE_REFERENCE);
	assert_true(out.u.task->warm_s == 1.5);
	assert_int_equal(out.u.task->n_pins, 1);
	assert_int_equal(out.u.task->pin[0].cell, 17);
	assert_string_equal(out.u.task->pin[0].config, pin.config);
	msg_fini(&out);
	pin.side = 1; /* there is none */
	struct buf line;
	struct fw_err err = { 0 };

	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &in);
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), -1);
	assert_non_null(strstr(err.text, "task.pins[0].side: "));
	buf_fini(&line);
}

static void trees(void **state)
{
	struct msg need = { .t = MSG_NEED, .u.need = { .n = 2, .oid = { OID, SHA256 } } };
	struct msg tree = { .t = MSG_TREE, .u.tree = { .oid = OID, .bytes = INT64_C(1) << 33 } }, out;

	(void)state;
	round_trip(&need, &out);
	assert_int_equal(out.u.need.n, 2);
	assert_string_equal(out.u.need.oid[1], SHA256);
	round_trip(&tree, &out);
	assert_true(out.u.tree.bytes == INT64_C(1) << 33);
}

static void build(void **state)
{
	struct msg in = { .t = MSG_BUILD,
		.u.build = { .role = ROLE_BASE, .state = "ok", .duration_ms = 1200, .module_sha256 = SHA256 } },
		   out;

	(void)state;
	buf_init(&in.u.build.log, 4u << 20);
	buf_append(&in.u.build.log, "gcc \0\xff\n", 7);
	COPY(in.u.build.toolchain, "gcc 12.2.0");
	round_trip(&in, &out);
	assert_string_equal(out.u.build.module_sha256, SHA256);
	assert_int_equal(out.u.build.log.len, 7);
	assert_memory_equal(out.u.build.log.data, "gcc \0\xff\n", 7);
	msg_fini(&out);
	/* a log that would not fit into a line arrives as its end */
	struct buf line;
	struct fw_err err = { 0 };
	char *much = malloc(2u << 20);

	assert_non_null(much);
	memset(much, 'x', 2u << 20);
	buf_append(&in.u.build.log, much, 2u << 20);
	buf_puts(&in.u.build.log, "the end");
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &in);
	assert_false(line.failed);
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), 0);
	assert_int_equal(out.u.build.log.len, PROTOCOL_LOG_MAX);
	assert_string_equal(out.u.build.log.data + PROTOCOL_LOG_MAX - 7, "the end");
	msg_fini(&out);
	buf_fini(&line);
	buf_fini(&in.u.build.log);
	free(much);
	/* started and failed builds name no module */
	struct msg failed = { .t = MSG_BUILD,
		.u.build = { .role = ROLE_TARGET, .state = "failed", .exit = 2, .detail = "exit 2" } };

	round_trip(&failed, &out);
	assert_int_equal(out.u.build.exit, 2);
	assert_string_equal(out.u.build.module_sha256, "");
	msg_fini(&out);
}

static void records(void **state)
{
	struct msg check = { .t = MSG_CHECK,
		.u.check = {
			.role = ROLE_TARGET, .cell = 3, .failure = "wrong", .error_ratio = 3.25, .detail = "worst O[17,3,64]" } };
	struct msg at = { .t = MSG_AT, .u.at = { .run = 2, .cell = -1, .role = ROLE_BASE, .step = "load" } };
	struct msg work = { .t = MSG_WORK,
		.u.work = { .role = ROLE_BASE,
			.cell = 1,
			.provider = "cpu",
			.config = "B=64",
			.flops_issued = 1.5e15,
			.bytes_moved = -1,
			.workspace_bytes = 4096,
			.persist_bytes = 512,
			.tensor_bytes = INT64_C(1) << 40,
			.mask_blocks = 800,
			.mask_kept = 80,
			.mask = { 8000, 800, 90, 10, 4, 3, 2, 1 },
			.phases = 63,
			.tried = { .of = 212, .n = 2, .config = (struct tried_config[]){ { "B=64", 0.5 }, { "B=32", 0 } } } } };
	struct msg node = { .t = MSG_NODE,
		.u.node = { .role = ROLE_BASE,
			.phase = "run",
			.kernel = "_Z3fwdv",
			.grid = { 1, 2, 3 },
			.block = { 128, 1, 1 },
			.registers = 168,
			.sm = 90,
			.symbol_sha256 = SHA256,
			.code_sha256 = SHA256 } };
	struct msg fault = { .t = MSG_FAULT,
		.u.fault = { .cell = -1, .role = ROLE_WORKER, .failure = "timeout", .detail = "stalled" } };
	struct msg audit = { .t = MSG_AUDIT,
		.u.audit = { .cell = 7, .role = ROLE_TARGET, .calls = 36, .done = true, .ms = 12.25 } };
	struct msg done = { .t = MSG_DONE,
		.u.done = { .gpu_s = 12.5,
			.wall_s = 30.125,
			.cancelled = true,
			.sustained_runs = sentinel_direction(DIRECTION_FORWARD) } };
	struct msg_run body = { .run = 4, .set = 2, .seed = 99, .n_cells = 2, .cell = { 0, 399 } };
	struct msg run = { .t = MSG_RUN, .u.run = &body }, out;

	(void)state;
	round_trip(&check, &out);
	assert_false(out.u.check.ok);
	assert_true(out.u.check.error_ratio == 3.25);
	assert_string_equal(out.u.check.failure, "wrong");
	round_trip(&at, &out);
	assert_int_equal(out.u.at.cell, -1);
	round_trip(&work, &out);
	assert_true(out.u.work.flops_issued == 1.5e15);
	assert_true(out.u.work.bytes_moved == -1);
	assert_memory_equal(&out.u.work.mask, &work.u.work.mask, sizeof out.u.work.mask);
	assert_int_equal(out.u.work.tried.of, 212);
	assert_int_equal(out.u.work.tried.n, 2);
	assert_string_equal(out.u.work.tried.config[0].config, "B=64");
	assert_true(out.u.work.tried.config[0].ms == 0.5 && out.u.work.tried.config[1].ms == 0);
	msg_fini(&out);
	round_trip(&node, &out);
	assert_int_equal(out.u.node.grid[2], 3);
	assert_int_equal(out.u.node.sm, 90);
	assert_string_equal(out.u.node.symbol_sha256, SHA256);
	assert_string_equal(out.u.node.code_sha256, SHA256);
	round_trip(&audit, &out);
	assert_int_equal(out.u.audit.calls, 36);
	assert_true(out.u.audit.done);
	assert_true(out.u.audit.ms == 12.25);
	round_trip(&fault, &out);
	assert_int_equal(out.u.fault.cell, -1);
	assert_string_equal(out.u.fault.failure, "timeout");
	round_trip(&done, &out);
	assert_true(out.u.done.cancelled && out.u.done.wall_s == 30.125);
	assert_int_equal(out.u.done.sustained_runs, sentinel_direction(DIRECTION_FORWARD));
	round_trip(&run, &out);
	assert_int_equal(out.u.run->cell[1], 399);
	msg_fini(&out);
	round_trip(&(struct msg){ .t = MSG_CANCEL }, &out);
}

static void samples(void **state)
{
	float base[] = { 1.1f, 0.3333333f, 3e-5f }, target[] = { 1.25f, 16777217.0f, 2.5f }, clock[] = { 1650.5f, 0, 1999 };
	struct msg_cell body = {
		.run = 1, .set = 1, .cell = 5, .n_sides = 2, .n = 3, .series = SERIES_DEVICE, .input_sha256 = SHA256
	};
	struct msg in = { .t = MSG_CELL, .u.cell = &body }, out;

	(void)state;
	body.role[0] = ROLE_BASE;
	body.role[1] = ROLE_TARGET;
	COPY(body.order, "ABBAAB");
	body.ms[0] = base;
	body.ms[1] = target;
	body.mhz[1] = clock;
	body.device_check = (struct msg_device_check){
		.power_w = 690.5, .temp_c = -1, .sm_mhz = 1650, .reasons = 4, .foreign = 0, .regime = "power_limited"
	};
	round_trip(&in, &out);
	assert_memory_equal(out.u.cell->ms[0], base, sizeof base); /* bit for bit */
	assert_memory_equal(out.u.cell->ms[1], target, sizeof target);
	assert_null(out.u.cell->mhz[0]);
	assert_memory_equal(out.u.cell->mhz[1], clock, sizeof clock);
	assert_null(out.u.cell->host_us[0]);
	assert_string_equal(out.u.cell->order, "ABBAAB");
	assert_int_equal(out.u.cell->role[1], ROLE_TARGET);
	assert_int_equal(out.u.cell->device_check.reasons, 4);
	assert_true(out.u.cell->device_check.power_w == 690.5);
	msg_fini(&out);
}

/* For a module, the worker knows which inputs were checked. */
static void sustained_runs_of_a_program_name_no_inputs(void **state)
{
	float ms[] = { 1.5f, 1.25f };
	struct msg_cell body = { .run = 1, .set = 1, .cell = 5, .n_sides = 2, .n = 2, .series = SERIES_SUSTAINED };
	struct msg in = { .t = MSG_CELL, .u.cell = &body }, out;

	(void)state;
	body.role[0] = ROLE_BASE;
	body.role[1] = ROLE_TARGET;
	COPY(body.order, "ABBA");
	body.ms[0] = ms;
	body.ms[1] = ms;
	round_trip(&in, &out);
	assert_string_equal(out.u.cell->input_sha256, "");
	msg_fini(&out);
}

static void rules(void **state)
{
	struct rule in, out;
	struct fw_err err = { 0 };
	struct buf text, again;

	(void)state;
	rule_default(&in, 30);
	buf_init(&text, 4096);
	protocol_write_rule(&text, &in);
	assert_int_equal(protocol_parse_rule(text.data, text.len, &out, &err), 0);
	assert_true(out.k == 3.8 && out.confirm && out.tau0 == 0.0025);
	buf_init(&again, 4096);
	protocol_write_rule(&again, &out);
	assert_string_equal(text.data, again.data);
	buf_fini(&again);
	assert_memory_equal(&out.cover, &in.cover, sizeof out.cover);
	assert_true(out.cover.runs.nu0 > 0);
	assert_memory_equal(&out.interim, &in.interim, sizeof out.interim);
	assert_true(out.p_interim == 1e-6 && !out.programs && out.runs_pooled_max == 32);
	assert_int_equal(protocol_parse_rule("{\"version\":7}", 13, &out, &err), -1);
	assert_string_equal(err.text, "rule.version: 7 is outside 1..6");

	/* an earlier rule has no clocks: each cell's own noise, and what is known of branches today */
	static const char before[] =
		"{\"version\":2,\"tau0\":0.0025,\"nu0\":6,\"k\":3.5,\"se_max\":0.003,\"runs_ok_min\":2,"
		"\"runs_regression_min\":4,\"runs_max\":12,\"pairs_min\":4,\"pairs_max\":32,\"pair_budget_s\":0.4,"
		"\"beta_min\":-1.1,\"half_width_dense_pct\":0.4,\"half_width_sparse_pct\":0.6,\"confirm\":true}";
	assert_int_equal(protocol_parse_rule(before, sizeof before - 1, &out, &err), 0);
	assert_true(out.tau0_clocked == out.tau0 && out.nu0 == 6 && out.placement == 0 && out.pairs_short == 0);
	assert_int_equal(out.runs_pooled_max, 0);
	assert_memory_equal(&out.clock, &in.clock, sizeof out.clock);
	assert_true(out.p_interim == 0 && !out.programs && out.cover.runs.nu0 == 0); /* nor interim looks and intervals */
	static const char of_programs[] =
		"{\"version\":4,\"tau0\":0.0025,\"nu0\":3,\"k\":3.5,\"se_max\":0.003,\"runs_ok_min\":2,"
		"\"runs_regression_min\":4,\"runs_max\":12,\"pairs_min\":2,\"pairs_max\":2,\"pair_budget_s\":0.4,"
		"\"beta_min\":-1.1,\"half_width_dense_pct\":0.4,\"half_width_sparse_pct\":0.6,\"confirm\":true}";
	assert_int_equal(protocol_parse_rule(of_programs, sizeof of_programs - 1, &out, &err), 0);
	assert_true(out.p_interim == 0 && out.programs);

	/* a current one without interim looks has none */
	char *version = strstr(text.data, "\"interim\"");
	assert_non_null(version);
	version[1] = 'x';
	err_clear(&err);
	assert_int_equal(protocol_parse_rule(text.data, text.len, &out, &err), -1);
	assert_non_null(strstr(err.text, "interim"));
	buf_fini(&text);
}

static void a_profile(void **state)
{
	struct evidence_value values[] = { { "dram__bytes_read.sum", 123456789012.0 }, { "gpu__time_duration.sum", 0.5 } };
	struct msg kernel = { .t = MSG_KERNEL,
		.u.kernel = { .cell = 2,
			.role = ROLE_TARGET,
			.repeat = 1,
			.n = 3,
			.phase = "run",
			.kernel = "void forward<128>(args)",
			.code_sha256 = SHA256,
			.sm = 90,
			.ms = 1.25,
			.grid = { 132, 1, 1 },
			.block = { 384, 1, 1 },
			.registers = 168,
			.ctas_per_sm = 1,
			.n_values = 2,
			.value = values } };
	struct msg_code body = { .cell = 1,
		.base = "forward",
		.target = "",
		.what = EVIDENCE_CODE_REMOVED,
		.base_takes = { 168, 0, 1024, 2 },
		.target_takes = { -1, -1, -1, -1 },
		.n_opcodes = 1,
		.opcode[0] = { "HGMMA.64x128x16.F32.BF16", 24, 48 },
		.hunks = "@@ -1,2 +1,1 @@\n-\tMOV R1, R2 ;\n" };
	struct msg code = { .t = MSG_CODE, .u.code = &body };
	struct msg swap = { .t = MSG_COUNTERFACTUAL,
		.u.counterfactual = {
			.cell = 0, .config = "TILE=3 PARTS=2", .base_ms = 1, .target_ms = 1.125, .with_ms = 1.0625 } };
	struct msg end = { .t = MSG_PROFILE,
		.u.profile = { .cell = 0,
			.path = EVIDENCE_CODE,
			.why = "counters are for administrators here",
			.tool = "CUPTI 130001",
			.base_config = "TILE=3",
			.target_config = "TILE=4",
			.gpu_s = 0.25,
			.target_tried = { .of = 1, .n = 1, .config = (struct tried_config[]){ { "TILE=4", 0.5 } } } } };
	struct msg out;

	(void)state;
	round_trip(&kernel, &out);
	assert_int_equal(out.u.kernel.n_values, 2);
	assert_string_equal(out.u.kernel.value[0].metric, "dram__bytes_read.sum");
	assert_true(out.u.kernel.value[0].value == 123456789012.0 && out.u.kernel.ms == 1.25);
	assert_int_equal(out.u.kernel.role, ROLE_TARGET);
	assert_int_equal(out.u.kernel.repeat, 1);
	assert_int_equal(out.u.kernel.block[0], 384);
	msg_fini(&out);
	round_trip(&code, &out);
	assert_int_equal(out.u.code->what, EVIDENCE_CODE_REMOVED);
	assert_string_equal(out.u.code->hunks, body.hunks); /* its lines stay lines */
	assert_int_equal(out.u.code->opcode[0].target, 48);
	assert_int_equal(out.u.code->base_takes.shared_bytes, 1024);
	assert_int_equal(out.u.code->target_takes.registers, -1);
	msg_fini(&out);
	round_trip(&swap, &out);
	assert_true(out.u.counterfactual.with_ms == 1.0625);
	round_trip(&end, &out);
	assert_int_equal(out.u.profile.path, EVIDENCE_CODE);
	assert_string_equal(out.u.profile.target_config, "TILE=4");
	assert_int_equal(out.u.profile.base_tried.n, 0);
	assert_string_equal(out.u.profile.target_tried.config[0].config, "TILE=4");
	msg_fini(&out);
}

/* The longest possible record is one line. */
static void the_longest_profile_fits_a_line(void **state)
{
	struct msg_code *body = calloc(1, sizeof *body);
	struct msg code = { .t = MSG_CODE, .u.code = body }, out;

	(void)state;
	assert_non_null(body);
	memset(body->hunks, '\t', sizeof body->hunks - 1);
	memset(body->base, '"', sizeof body->base - 1);
	round_trip(&code, &out);
	assert_int_equal(strlen(out.u.code->hunks), EVIDENCE_HUNKS_MAX);
	msg_fini(&out);
	struct evidence_value *values = calloc(EVIDENCE_VALUES_MAX, sizeof *values);

	assert_non_null(values);
	for (int i = 0; i < EVIDENCE_VALUES_MAX; i++) {
		snprintf(values[i].metric, sizeof values[i].metric, "%076d.%d", 0, i % 100);
		values[i].metric[0] = (char)('a' + i / 100);
		values[i].value = 1.0 / (i + 3);
	}
	struct msg kernel = { .t = MSG_KERNEL,
		.u.kernel = { .role = ROLE_BASE, .n_values = EVIDENCE_VALUES_MAX, .value = values } };

	round_trip(&kernel, &out);
	assert_int_equal(out.u.kernel.n_values, EVIDENCE_VALUES_MAX);
	msg_fini(&out);
	free(values);
	free(body);
}

/* tests/data/protocol/lines.jsonl has every message with all its keys, and with as few as its writer writes. */
static void a_line_stays_as_it_is(void **state)
{
	bool seen[MSG_STALLS + 1] = { false };
	FILE *lines = fopen("tests/data/protocol/lines.jsonl", "r");
	struct fw_err err = { 0 };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	(void)state;
	assert_non_null(lines);
	while ((len = getline(&line, &size, lines)) > 0) {
		struct msg m;
		struct buf again;

		if (protocol_parse(line, (size_t)len, &m, &err) != 0)
			fail_msg("%s: %.300s", err.text, line);
		buf_init(&again, PROTOCOL_LINE_MAX);
		protocol_write(&again, &m);
		assert_string_equal(again.data, line);
		seen[m.t] = true;
		buf_fini(&again);
		msg_fini(&m);
	}
	for (size_t t = 0; t < sizeof seen / sizeof seen[0]; t++)
		if (!seen[t])
			fail_msg("no line of %s", protocol_name((enum msg_type)t));
	free(line);
	fclose(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello),
		cmocka_unit_test(one_cell),
		cmocka_unit_test(job),
		cmocka_unit_test(tools),
		cmocka_unit_test(programs),
		cmocka_unit_test(task),
		cmocka_unit_test(trees),
		cmocka_unit_test(build),
		cmocka_unit_test(records),
		cmocka_unit_test(samples),
		cmocka_unit_test(sustained_runs_of_a_program_name_no_inputs),
		cmocka_unit_test(rules),
		cmocka_unit_test(a_profile),
		cmocka_unit_test(the_longest_profile_fits_a_line),
		cmocka_unit_test(a_line_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
