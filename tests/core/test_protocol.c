/* Protocol 1: every message survives writing and reading; what is wrong is refused by the key that is wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/protocol/protocol.h"

#define OID            "0123456789abcdef0123456789abcdef01234567"
#define SHA256         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define COPY(to, text) snprintf((to), sizeof(to), "%s", (text))

/* Write `in`, read it into `out`, write that again: the two lines must be equal. */
static void round_trip(const struct msg *in, struct msg *out)
{
	struct fw_err err = { 0 };
	struct buf first, second;

	buf_init(&first, PROTOCOL_LINE_MAX);
	buf_init(&second, PROTOCOL_LINE_MAX);
	protocol_write(&first, in);
	assert_false(first.failed);
	assert_int_equal(first.data[first.len - 1], '\n');
	assert_null(memchr(first.data, '\n', first.len - 1));
	if (protocol_parse(first.data, first.len, out, &err))
		fail_msg("%s: %.300s", err.text, first.data);
	assert_int_equal(out->t, in->t);
	protocol_write(&second, out);
	assert_string_equal(first.data, second.data);
	buf_fini(&first);
	buf_fini(&second);
}

static struct cell a_cell(bool sparse)
{
	struct cell c = {
		.direction = sparse ? DIRECTION_BACKWARD : DIRECTION_FORWARD,
		.threshold_pct = 1.5,
		.attention = { .mask = sparse ? FW_BLOCKS : FW_CAUSAL,
			.seqlen = 1024,
			.nhq = 8,
			.nhk = 2,
			.headdim = 64,
			.dtype = FW_BF16,
			.n_seqs = 1,
			.seed = UINT64_MAX },
	};

	c.attention.length[0] = 1024;
	if (sparse) {
		c.attention.block = 64;
		c.attention.sparsity_ratio = 0.3;
	}
	case_name(&c);
	return c;
}

static void hello(void **state)
{
	struct msg in = { .t = MSG_HELLO, .u.hello = { .protocol = 1, .n_devices = 2 } }, out;
	struct msg_device *d = in.u.hello.device;

	(void)state;
	COPY(in.u.hello.version, "0.1.0");
	COPY(in.u.hello.isolation, "bwrap");
	in.u.hello.place = (struct msg_place){ .host = "gpu1", .user = "flopwatch-run", .is_system = true };
	COPY(in.u.hello.place.runner, "/opt/it's here/flopwatch-runner");
	COPY(in.u.hello.place.modules, "/var/cache/flopwatch-worker/modules");
	in.u.hello.n_read_only = 1;
	COPY(in.u.hello.read_only[0], "/opt/conda");
	COPY(d[0].kind, "cuda");
	COPY(d[0].uuid, "GPU-12345678-1234-1234-1234-123456789abc");
	COPY(d[0].name, "NVIDIA H200");
	d[0].power_limit_w = 700;
	d[0].cores = 132;
	d[0].memory_bytes = INT64_C(150754820096);
	COPY(d[1].kind, "cpu");
	COPY(d[1].uuid, "cpu-ab12");
	COPY(d[1].name, "line\nbreak \033[31m");
	round_trip(&(struct msg){ .t = MSG_PING }, &out);
	struct fw_err err = { 0 };
	struct buf line;

	buf_init(&line, 4096);
	protocol_write(&line, &in);
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), 0);
	assert_int_equal(out.u.hello.n_devices, 2);
	assert_string_equal(out.u.hello.place.runner, "/opt/it's here/flopwatch-runner");
	assert_string_equal(out.u.hello.place.modules, "/var/cache/flopwatch-worker/modules");
	assert_true(out.u.hello.place.is_system && strcmp(out.u.hello.place.user, "flopwatch-run") == 0);
	assert_int_equal(out.u.hello.n_read_only, 1);
	assert_string_equal(out.u.hello.read_only[0], "/opt/conda");
	assert_true(out.u.hello.device[0].memory_bytes == INT64_C(150754820096));
	assert_string_equal(out.u.hello.device[0].uuid, d[0].uuid);
	assert_string_equal(out.u.hello.device[1].name, "line break  [31m"); /* nothing that moves a cursor gets through */
	msg_fini(&out);
	buf_fini(&line);
}

/* A cell alone, as people hand it to the runner. */
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
	assert_memory_equal(&out.attention, &in.attention, sizeof in.attention);
	assert_int_equal(protocol_parse_cell("{\"key\":\"attention/x\"}", 21, &out, &err), -1);
	assert_non_null(strstr(err.text, "cell.mask: "));
	err_clear(&err);
	assert_int_equal(protocol_parse_cell("{", 1, &out, &err), -1);
	assert_non_null(strstr(err.text, "not JSON"));
	buf_fini(&text);
}

static void fill_job(struct msg_job *job, struct cell *cells)
{
	job->job = 12;
	job->attempt = 2;
	COPY(job->nonce, "5f2c");
	COPY(job->kind, "change");
	COPY(job->device, "cpu-ab12");
	job->seed = UINT64_C(18446744073709551557);
	job->n_subjects = 2;
	for (int i = 0; i < 2; i++) {
		struct msg_subject *s = &job->subject[i];

		COPY(s->role, i ? "target" : "base");
		COPY(s->commit, OID);
		s->n_inputs = 1;
		COPY(s->input[0].path, "kernels");
		COPY(s->input[0].oid, OID);
		manifest_default(&s->build);
	}
	COPY(job->subject[1].provider, "hopper.v1");
	job->cell = cells;
	job->n_cells = 2;
	rule_default(&job->rule, 2);
	job->limits = (struct msg_limits){ 900, 300, 300, 600.5, 120, 1 << 20 };
}

static void job(void **state)
{
	struct cell cells[] = { a_cell(false), a_cell(true) };
	struct msg_job body = { 0 };
	struct msg in = { .t = MSG_JOB, .u.job = &body }, out;

	(void)state;
	fill_job(&body, cells);
	cells[0].attention.n_seqs = 2;
	cells[0].attention.length[0] = 1000;
	cells[0].attention.length[1] = 24;
	cells[1].tau0 = 0.004;
	cells[1].blind_pct = 27.9;
	case_name(&cells[0]);
	round_trip(&in, &out);
	assert_true(out.u.job->cell[0].tau0 == 0 && out.u.job->cell[0].blind_pct == 0);
	assert_true(out.u.job->cell[1].tau0 == 0.004 && out.u.job->cell[1].blind_pct == 27.9);
	assert_true(out.u.job->seed == body.seed);
	assert_string_equal(out.u.job->subject[1].role, "target");
	assert_string_equal(out.u.job->subject[1].provider, "hopper.v1");
	assert_string_equal(out.u.job->subject[0].build.command[1], "DEVICE={device}");
	assert_string_equal(out.u.job->subject[0].build.output[0], "build/{device}/libattention.so");
	assert_true(out.u.job->subject[0].build.timeout_s == 900);
	assert_string_equal(out.u.job->cell[0].mask, "varlen_causal");
	assert_int_equal(out.u.job->cell[0].attention.length[1], 24);
	assert_string_equal(out.u.job->cell[1].key, cells[1].key);
	assert_string_equal(out.u.job->cell[1].case_key, cells[1].case_key);
	assert_true(out.u.job->cell[1].attention.seed == UINT64_MAX);
	assert_true(out.u.job->cell[1].attention.sparsity_ratio == 0.3);
	assert_true(out.u.job->rule.k == 3.5 && out.u.job->rule.confirm);
	assert_true(out.u.job->limits.budget_s == 600.5);
	msg_fini(&out);
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
		struct benchmark *b = &body->subject[i].run;

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
		body->subject[i].build.n_command = 0; /* nothing to build */
	}
	round_trip(&in, &out);
	assert_int_equal(out.u.job->n_cells, 0);
	assert_memory_equal(&out.u.job->subject[1].run, &body->subject[1].run, sizeof body->subject[1].run);
	assert_int_equal(out.u.job->subject[0].build.n_command, 0);
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

static void run(void **state)
{
	struct cell cells[] = { a_cell(true) };
	int index[] = { 17 };
	struct msg_pin pin = { .cell = 17, .subject = 0, .config = "TILE=\"3\" a" };
	struct msg_run body = { .launch = 3,
		.set = 2,
		.seed = 99,
		.n_subjects = 1,
		.n_cells = 1,
		.cell = cells,
		.index = index,
		.n_pins = 1,
		.pin = &pin };
	struct msg in = { .t = MSG_RUN, .u.run = &body }, out;

	(void)state;
	COPY(body.mode, "launch");
	COPY(body.device, "cuda:0");
	COPY(body.subject[0].role, "peer:cudnn");
	COPY(body.subject[0].module, "/proc/self/fd/10");
	rule_default(&body.rule, 1);
	body.warm_s = 1.5;
	body.cell_warm_s = 0.1;
	body.phases = true;
	round_trip(&in, &out);
	assert_int_equal(out.u.run->index[0], 17);
	assert_true(out.u.run->phases);
	assert_false(out.u.run->calls);
	assert_string_equal(out.u.run->subject[0].module, "/proc/self/fd/10");
	assert_string_equal(out.u.run->subject[0].role, "peer:cudnn");
	assert_true(out.u.run->warm_s == 1.5);
	assert_int_equal(out.u.run->n_pins, 1);
	assert_int_equal(out.u.run->pin[0].cell, 17);
	assert_string_equal(out.u.run->pin[0].config, pin.config);
	msg_fini(&out);
	pin.subject = 1; /* there is none */
	struct buf line;
	struct fw_err err = { 0 };

	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &in);
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), -1);
	assert_non_null(strstr(err.text, "run.pins[0].subject: "));
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
		.u.build = { .role = "base", .state = "ok", .duration_ms = 1200, .module_sha256 = SHA256 } },
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
	/* a log that would not fit a line arrives as its end */
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
	struct msg failed = { .t = MSG_BUILD, .u.build = { .role = "target", .state = "failed", .exit = 2, .detail = "exit 2" } };

	round_trip(&failed, &out);
	assert_int_equal(out.u.build.exit, 2);
	assert_string_equal(out.u.build.module_sha256, "");
	msg_fini(&out);
}

static void records(void **state)
{
	struct msg check = { .t = MSG_CHECK,
		.u.check = {
			.role = "target", .cell = 3, .failure = "wrong", .error_ratio = 3.25, .detail = "worst O[17,3,64]" } };
	struct msg at = { .t = MSG_AT, .u.at = { .launch = 2, .cell = -1, .role = "base", .step = "load" } };
	struct msg work = { .t = MSG_WORK,
		.u.work = { .role = "base",
			.cell = 1,
			.provider = "cpu",
			.config = "B=64",
			.flops_issued = 1.5e15,
			.bytes_moved = -1,
			.phases = 63 } };
	struct msg node = { .t = MSG_NODE,
		.u.node = { .role = "base",
			.phase = "run",
			.kernel = "_Z3fwdv",
			.grid = { 1, 2, 3 },
			.block = { 128, 1, 1 },
			.registers = 168,
			.sm = 90,
			.symbol_sha256 = SHA256,
			.code_sha256 = SHA256 } };
	struct msg fault = { .t = MSG_FAULT,
		.u.fault = { .cell = -1, .role = "worker", .failure = "timeout", .detail = "stalled" } };
	struct msg audit = { .t = MSG_AUDIT, .u.audit = { .cell = 7, .role = "target", .calls = 36, .done = true, .ms = 12.25 } };
	struct msg done = { .t = MSG_DONE, .u.done = { .gpu_s = 12.5, .wall_s = 30.125, .cancelled = true } };
	struct msg_launch body = { .launch = 4, .set = 2, .seed = 99, .n_cells = 2, .cell = { 0, 399 } };
	struct msg launch = { .t = MSG_LAUNCH, .u.launch = &body }, out;

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
	round_trip(&launch, &out);
	assert_int_equal(out.u.launch->cell[1], 399);
	msg_fini(&out);
	round_trip(&(struct msg){ .t = MSG_CANCEL }, &out);
}

static void samples(void **state)
{
	float base[] = { 1.1f, 0.3333333f, 3e-5f }, target[] = { 1.25f, 16777217.0f, 2.5f }, clock[] = { 1650.5f, 0, 1999 };
	struct msg_cell body = {
		.launch = 1, .set = 1, .cell = 5, .n_subjects = 2, .n = 3, .series = "device", .input_sha256 = SHA256
	};
	struct msg in = { .t = MSG_CELL, .u.cell = &body }, out;

	(void)state;
	COPY(body.role[0], "base");
	COPY(body.role[1], "target");
	COPY(body.order, "ABBAAB");
	body.ms[0] = base;
	body.ms[1] = target;
	body.mhz[1] = clock;
	body.guard = (struct msg_guard){
		.power_w = 690.5, .temp_c = -1, .sm_mhz = 1650, .reasons = 4, .foreign = 0, .regime = "power_limited"
	};
	round_trip(&in, &out);
	assert_memory_equal(out.u.cell->ms[0], base, sizeof base); /* bit for bit */
	assert_memory_equal(out.u.cell->ms[1], target, sizeof target);
	assert_null(out.u.cell->mhz[0]);
	assert_memory_equal(out.u.cell->mhz[1], clock, sizeof clock);
	assert_null(out.u.cell->host_us[0]);
	assert_string_equal(out.u.cell->order, "ABBAAB");
	assert_string_equal(out.u.cell->role[1], "target");
	assert_int_equal(out.u.cell->guard.reasons, 4);
	assert_true(out.u.cell->guard.power_w == 690.5);
	msg_fini(&out);
}

/* Of a module's, the worker knows which inputs were checked. */
static void bursts_of_a_program_name_no_inputs(void **state)
{
	float ms[] = { 1.5f, 1.25f };
	struct msg_cell body = { .launch = 1, .set = 1, .cell = 5, .n_subjects = 2, .n = 2, .series = "sustained" };
	struct msg in = { .t = MSG_CELL, .u.cell = &body }, out;

	(void)state;
	COPY(body.role[0], "base");
	COPY(body.role[1], "target");
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
	assert_int_equal(protocol_parse_rule("{\"version\":4}", 13, &out, &err), -1);
	assert_string_equal(err.text, "rule.version: 4 is outside 1..3");
	buf_fini(&text);

	/* a rule of before says nothing of clocks: its own scatter for every cell, and what is known of branches today */
	static const char before[] =
		"{\"version\":2,\"tau0\":0.0025,\"nu0\":6,\"k\":3.5,\"se_max\":0.003,\"launches_ok_min\":2,"
		"\"launches_regression_min\":4,\"launches_max\":12,\"pairs_min\":4,\"pairs_max\":32,\"pair_budget_s\":0.4,"
		"\"beta_min\":-1.1,\"half_width_dense_pct\":0.4,\"half_width_sparse_pct\":0.6,\"confirm\":true}";
	assert_int_equal(protocol_parse_rule(before, sizeof before - 1, &out, &err), 0);
	assert_true(out.tau0_clocked == out.tau0 && out.nu0 == 6 && out.placement == 0);
	assert_memory_equal(&out.clock, &in.clock, sizeof out.clock);
}

static void refuse(const char *line, const char *words)
{
	struct fw_err err = { 0 };
	struct msg m;

	if (protocol_parse(line, strlen(line), &m, &err) == 0)
		fail_msg("accepted: %s", line);
	assert_int_equal(err.code, ERR_PROTOCOL);
	assert_null(strchr(err.text, '\n'));
	if (!strstr(err.text, words))
		fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void no_message(void **state)
{
	(void)state;
	refuse("", "not JSON");
	refuse("{\"t\":\"ping\"", "not JSON at byte");
	refuse("{\"t\":\"ping\"} x", "not JSON");
	refuse("{\"t\":\"ping\",\"t\":\"done\"}", "not JSON");
	refuse("{\"t\":\"\xff\"}", "not JSON");
	refuse("[]", "no JSON object");
	refuse("7", "not JSON");
	refuse("{}", "t: is missing");
	refuse("{\"t\":3}", "t: is missing");
	refuse("{\"t\":\"shutdown\"}", "t: \"shutdown\" is no message of protocol 1");
	refuse("{\"t\":\"a\\nb\"}", "t: \"?\"");
}

static void wrong_records(void **state)
{
	(void)state;
	refuse("{\"t\":\"hello\",\"protocol\":1,\"isolation\":\"none\",\"place\":{\"host\":\"a\",\"user\":\"b\",\"runner\":\"/"
	       "r\\n\",\"modules\":\"/m\"},"
	       "\"devices\":[]}",
		"hello.place.runner: ");
	refuse("{\"t\":\"hello\",\"protocol\":1,\"isolation\":\"chroot\",\"devices\":[]}", "hello.isolation: must be one of");
	refuse("{\"t\":\"hello\",\"protocol\":\"1\",\"isolation\":\"none\",\"devices\":[]}",
		"hello.protocol: must be an integer");
	refuse("{\"t\":\"hello\",\"protocol\":1,\"isolation\":\"none\",\"devices\":[{\"kind\":\"tpu\"}]}",
		"hello.devices[0].kind");
	refuse("{\"t\":\"hello\",\"protocol\":1,\"isolation\":\"none\",\"devices\":[{\"kind\":\"cpu\",\"uuid\":\"a b\"}]}",
		"hello.devices[0].uuid");
	refuse("{\"t\":\"need\",\"trees\":[]}", "need.trees: has 0 items");
	refuse("{\"t\":\"need\",\"trees\":[\"HEAD\"]}", "need.trees: item 0");
	refuse("{\"t\":\"tree\",\"oid\":\"" OID "\",\"bytes\":-1}", "tree.bytes: -1 is outside");
	refuse("{\"t\":\"tree\",\"oid\":\"../x\",\"bytes\":1}", "tree.oid");
	refuse("{\"t\":\"build\",\"role\":\"base\",\"state\":\"ok\"}", "build.modules: is missing");
	refuse("{\"t\":\"build\",\"role\":\"base\",\"state\":\"ok\",\"modules\":{\"attention\":\"" OID "\"}}",
		"build.modules.attention");
	refuse("{\"t\":\"build\",\"role\":\"base\",\"state\":\"failed\",\"log_b64\":\"%%%\"}", "build.log_b64");
	refuse("{\"t\":\"build\",\"role\":\"base one\",\"state\":\"start\"}", "build.role");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":400,\"ok\":true,\"class\":\"\",\"input_sha256\":\"" SHA256 "\"}",
		"check.cell: 400 is outside");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":0,\"ok\":true,\"class\":\"wrong\",\"input_sha256\":\"" SHA256 "\"}",
		"must be empty when ok");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":0,\"ok\":false,\"class\":\"\",\"input_sha256\":\"\"}",
		"must be named when not ok");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":0,\"ok\":true,\"class\":\"\",\"input_sha256\":\"\"}",
		"check.input_sha256: must be 64");
	refuse("{\"t\":\"launch\",\"launch\":1,\"set\":3,\"seed\":\"1\",\"cells\":[]}", "launch.set");
	refuse("{\"t\":\"launch\",\"launch\":1,\"set\":1,\"seed\":1,\"cells\":[]}", "launch.seed: must be a decimal string");
	refuse("{\"t\":\"launch\",\"launch\":1,\"set\":1,\"seed\":\"18446744073709551616\",\"cells\":[]}", "launch.seed");
	refuse("{\"t\":\"launch\",\"launch\":1,\"set\":1,\"seed\":\"-1\",\"cells\":[]}", "launch.seed");
	refuse("{\"t\":\"launch\",\"launch\":1,\"set\":1,\"seed\":\"1\",\"cells\":[1.5]}", "launch.cells: item 0");
	refuse("{\"t\":\"at\",\"launch\":1,\"cell\":0,\"role\":\"base\",\"step\":\"sleep\"}", "at.step");
	refuse("{\"t\":\"node\",\"role\":\"base\",\"cell\":0,\"phase\":\"run\",\"grid\":[1,1],\"block\":[1,1,1]}", "node.grid");
	refuse("{\"t\":\"node\",\"role\":\"base\",\"cell\":0,\"phase\":\"run\",\"grid\":[1,1,1],\"block\":[1,-1,1]}",
		"node.block: item 1");
	refuse("{\"t\":\"node\",\"role\":\"base\",\"cell\":0,\"phase\":\"run\",\"grid\":[1,1,1],\"block\":[1,1,1],"
	       "\"code_sha256\":\"abc\"}",
		"node.code_sha256");
	refuse("{\"t\":\"fault\",\"cell\":null,\"role\":\"base\",\"class\":\"\",\"detail\":\"\"}", "fault.class");
	refuse("{\"t\":\"fault\",\"cell\":-2,\"role\":\"base\",\"class\":\"crash\"}", "fault.cell");
	refuse("{\"t\":\"done\",\"gpu_s\":-1}", "done.gpu_s");
	refuse("{\"t\":\"done\",\"gpu_s\":1e999}", "not JSON");
	refuse("{\"t\":\"done\",\"gpu_s\":1,\"cancelled\":\"yes\"}", "done.cancelled: must be true or false");
}

#define CELL_OF(inputs)                                                                                                          \
	"{\"t\":\"cell\",\"launch\":1,\"set\":1,\"cell\":0,\"series\":\"device\",\"phase\":\"\",\"input_sha256\":\"" inputs "\"" \
	","
#define CELL CELL_OF(SHA256)

static void wrong_samples(void **state)
{
	(void)state;
	refuse(CELL_OF("") "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]}}", "cell.input_sha256: must be 64");
	refuse(CELL "\"order\":\"\",\"n\":2,\"ms\":{\"base\":[1]}}", "cell.ms: must hold an array of n numbers");
	refuse(CELL "\"order\":\"\",\"n\":0,\"ms\":{\"base\":[]}}", "cell.n: 0 is outside 1..256");
	refuse(CELL "\"order\":\"\",\"n\":257,\"ms\":{\"base\":[]}}", "cell.n");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{}}", "cell.ms: must hold 1 to 6 roles");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"a\":[1],\"b\":[1],\"c\":[1],\"d\":[1],\"e\":[1],\"f\":[1],\"g\":[1]}}",
		"must hold 1 to 6 roles");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[0]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1e-60]}}", "cell.ms: item 0"); /* 0 as a float */
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[-1]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1e300]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[\"1\"]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[null]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"a role with spaces\":[1]}}", "holds a name that is no role");
	refuse(CELL "\"order\":\"AC\",\"n\":1,\"ms\":{\"base\":[1],\"target\":[1]}}",
		"cell.order: letter C stands for no subject");
	refuse(CELL "\"order\":\"AAB\",\"n\":1,\"ms\":{\"base\":[1],\"target\":[1]}}", "cell.order: letter A appears 2 times");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"mhz\":{\"base\":[1,2]}}", "cell.mhz");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"mhz\":{\"base\":[-1]}}", "cell.mhz: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"host_us\":[1]}", "cell.host_us: must be an object");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"guard\":{\"power_w\":\"hot\"}}", "cell.guard.power_w");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"redo\":-1}", "cell.redo");
}

/* Every way to spoil a good job names its key. */
static void wrong_jobs(void **state)
{
	static const struct {
		const char *from, *to, *words;
	} cases[] = {
		{ "\"job\":12", "\"job\":-12", "job.job" },
		{ "\"nonce\":\"5f2c\"", "\"nonce\":\"\"", "job.nonce" },
		{ "\"kind\":\"change\"", "\"kind\":\"party\"", "job.kind" },
		{ "\"role\":\"target\"", "\"role\":\"base\"", "job.subjects: role base appears twice" },
		{ "\"path\":\"kernels\"", "\"path\":\"/etc\"", "job.subjects[0].inputs[0].path" },
		{ "\"path\":\"kernels\"", "\"path\":\"a/../../b\"", "job.subjects[0].inputs[0].path" },
		{ "\"oid\":\"0", "\"oid\":\"X", "job.subjects[0].inputs[0].oid" },
		{ "\"dir\":\"kernels\"", "\"dir\":\"..\"", "job.subjects[0].build.dir" },
		{ "\"command\":[\"make\"", "\"command\":[7", "job.subjects[0].build.command: item 0" },
		{ "build/{device}/libattention.so", "../../libc.so", "job.subjects[0].build.outputs" },
		{ "\"rule\":{", "\"rule\":[],\"x\":{", "job.rule: must be an object" },
		{ "\"tau0\":0.0025", "\"tau0\":0", "job.rule.tau0" },
		{ "\"pairs_min\":4", "\"pairs_min\":40", "job.rule.pairs_min: is above pairs_max" },
		{ "\"launches_max\":12", "\"launches_max\":1000", "job.rule.launches_max" },
		{ "\"budget_s\":600.5", "\"budget_s\":0", "job.limits.budget_s" },
		{ "\"headdim\":64", "\"headdim\":63", "job.cells[0].key: headdim 63" },
		{ "\"nhk\":2", "\"nhk\":3", "job.cells[0].key: nhq 8 is no multiple of nhk 3" },
		{ "\"seqlen\":1024", "\"seqlen\":2048", "job.cells[0].key: does not belong to these sizes" },
		{ "\"lengths\":[]", "\"lengths\":[1024,1]", "job.cells[0].key: the sequences hold 1025" },
		{ "\"lengths\":[]", "\"lengths\":[0]", "job.cells[0].lengths: item 0" },
		{ "\"sparsity_ratio\":0.3", "\"sparsity_ratio\":0.31", "job.cells[1].key" },
		{ "\"block\":64", "\"block\":1000", "job.cells[1].key: seqlen 1024 is no multiple" },
		{ "\"seed\":\"18446744073709551615\"", "\"seed\":\"x\"", "job.cells[0].seed" },
		{ "\"command\":[\"make\",\"DEVICE={device}\"]", "\"command\":[]", "job.subjects[0].build: has no command" },
		{ "\"inputs\":[", "\"run\":{\"name\":\"x\"},\"inputs\":[", "job.subjects[0].run.command: is missing" },
		{ "\"cells\":[", "\"cells\":[],\"more\":[", "job.cells: has 0 items" },
	};
	struct cell cells[] = { a_cell(false), a_cell(true) };
	struct msg_job *body = calloc(1, sizeof *body);
	struct msg in = { .t = MSG_JOB, .u.job = body };
	struct buf line;

	(void)state;
	assert_non_null(body);
	fill_job(body, cells);
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &in);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char *at = strstr(line.data, cases[i].from);
		struct buf bad;

		if (!at)
			fail_msg("no %s in %s", cases[i].from, line.data);
		buf_init(&bad, PROTOCOL_LINE_MAX);
		buf_append(&bad, line.data, (size_t)(at - line.data));
		buf_puts(&bad, cases[i].to);
		buf_puts(&bad, at + strlen(cases[i].from));
		refuse(bad.data, cases[i].words);
		buf_fini(&bad);
	}
	/* and every prefix of it is refused, too */
	for (size_t len = 0; len + 2 < line.len; len += 7) {
		struct fw_err err = { 0 };
		struct msg m;

		assert_int_equal(protocol_parse(line.data, len, &m, &err), -1);
	}
	buf_fini(&line);
	free(body);
}

static void unknown_keys_are_ignored(void **state)
{
	static const char line[] = "{\"t\":\"done\",\"gpu_s\":1,\"energy_j\":{\"deep\":[1,2,{}]}}";
	struct fw_err err = { 0 };
	struct msg m;

	(void)state;
	assert_int_equal(protocol_parse(line, strlen(line), &m, &err), 0);
	assert_true(m.u.done.gpu_s == 1);
	msg_fini(&m);
}

/* Text is cut at a character, so that it stays UTF-8 and fits. */
static void long_text_is_cut(void **state)
{
	struct msg in = { .t = MSG_FAULT, .u.fault = { .cell = 0, .role = "base", .failure = "crash" } }, out;
	struct fw_err err = { 0 };
	struct buf line;

	(void)state;
	buf_init(&line, 8192);
	buf_puts(&line, "{\"t\":\"fault\",\"cell\":0,\"role\":\"base\",\"class\":\"crash\",\"detail\":\"x");
	for (int i = 0; i < 400; i++)
		buf_puts(&line, "\xe2\x82\xac");
	buf_puts(&line, "\"}");
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), 0);
	assert_int_equal(strlen(out.u.fault.detail), 1 + 3 * 170); /* 511 bytes are room, 511 = 1 + 3 * 170 */
	round_trip(&out, &in);
	buf_fini(&line);
}

/* A line that is too long is refused as a whole by writer and reader. */
static void too_long(void **state)
{
	struct cell *cells = calloc(SUITE_CELLS_MAX, sizeof *cells);
	struct msg_job *body = calloc(1, sizeof *body);
	struct msg in = { .t = MSG_JOB, .u.job = body }, out;
	struct fw_err err = { 0 };
	struct buf line;
	char *much = malloc(PROTOCOL_LINE_MAX + 2);

	(void)state;
	assert_true(cells && body && much);
	fill_job(body, cells);
	body->n_cells = SUITE_CELLS_MAX;
	for (int i = 0; i < SUITE_CELLS_MAX; i++) { /* the longest cells there can be still fit */
		cells[i] = a_cell(false);
		cells[i].attention.seqlen = 1000 * CASE_SEQS_MAX;
		cells[i].attention.n_seqs = CASE_SEQS_MAX;
		for (int s = 0; s < CASE_SEQS_MAX; s++)
			cells[i].attention.length[s] = 1000;
		case_name(&cells[i]);
	}
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &in);
	assert_false(line.failed);
	if (protocol_parse(line.data, line.len, &out, &err))
		fail_msg("%s", err.text);
	msg_fini(&out);
	for (int i = 0; i < PROTOCOL_SUBJECTS_MAX; i++) {
		for (int c = 0; c < MANIFEST_LIST_MAX; c++)
			memset(body->subject[i].build.command[c], '\1', MANIFEST_TEXT_SIZE - 1);
		body->subject[i].build.n_command = MANIFEST_LIST_MAX;
	}
	body->n_subjects = PROTOCOL_SUBJECTS_MAX;
	size_t before = line.len;

	protocol_write(&line, &in);
	assert_true(line.failed);
	assert_int_equal(line.len, before);
	memset(much, ' ', PROTOCOL_LINE_MAX + 2);
	memcpy(much, "{\"t\":\"ping\"}", 12);
	assert_int_equal(protocol_parse(much, PROTOCOL_LINE_MAX, &out, &err), 0);
	assert_int_equal(protocol_parse(much, PROTOCOL_LINE_MAX + 1, &out, &err), -1);
	assert_non_null(strstr(err.text, "is longer than"));
	buf_fini(&line);
	free(much);
	free(body);
	free(cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello),
		cmocka_unit_test(one_cell),
		cmocka_unit_test(job),
		cmocka_unit_test(programs),
		cmocka_unit_test(run),
		cmocka_unit_test(trees),
		cmocka_unit_test(build),
		cmocka_unit_test(records),
		cmocka_unit_test(samples),
		cmocka_unit_test(bursts_of_a_program_name_no_inputs),
		cmocka_unit_test(rules),
		cmocka_unit_test(no_message),
		cmocka_unit_test(wrong_records),
		cmocka_unit_test(wrong_samples),
		cmocka_unit_test(wrong_jobs),
		cmocka_unit_test(unknown_keys_are_ignored),
		cmocka_unit_test(long_text_is_cut),
		cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
