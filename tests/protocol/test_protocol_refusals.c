/* Invalid messages of protocol 1 are refused with the name of the wrong key; unknown additional keys are accepted. */
#include "attention_cell.h"
#include "protocol_lines.h"

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
	refuse("[]", "is not a JSON object");
	refuse("7", "not JSON");
	refuse("{}", "t: is missing");
	refuse("{\"t\":3}", "t: is missing");
	refuse("{\"t\":\"shutdown\"}", "t: \"shutdown\" is not a message of protocol 1");
	refuse("{\"t\":\"a\\nb\"}", "t: \"?\"");
}

static void wrong_records(void **state)
{
	(void)state;
	refuse("{\"t\":\"hello\",\"protocol\":1,\"isolation\":\"none\",\"location\":{\"host\":\"a\",\"user\":\"b\",\"runner\":\"/"
	       "r\\n\",\"modules\":\"/m\"},"
	       "\"devices\":[]}",
		"hello.location.runner: ");
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
	refuse("{\"t\":\"build\",\"role\":\"x\",\"state\":\"start\"}",
		"build.role: must be one of \"base\" \"target\" \"reference\" \"device\" \"worker\"");
	refuse("{\"t\":\"fault\",\"cell\":0,\"role\":\"peer:x\",\"class\":\"crash\"}", "fault.role: must be one of");
	refuse("{\"t\":\"fault\",\"cell\":0,\"role\":\"\",\"class\":\"crash\"}", "fault.role: must be one of");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":400,\"ok\":true,\"class\":\"\",\"input_sha256\":\"" SHA256 "\"}",
		"check.cell: 400 is outside");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":0,\"ok\":true,\"class\":\"wrong\",\"input_sha256\":\"" SHA256 "\"}",
		"must be empty if ok is true");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":0,\"ok\":false,\"class\":\"\",\"input_sha256\":\"\"}",
		"must not be empty if ok is false");
	refuse("{\"t\":\"check\",\"role\":\"base\",\"cell\":0,\"ok\":true,\"class\":\"\",\"input_sha256\":\"\"}",
		"check.input_sha256: must be 64");
	refuse("{\"t\":\"run\",\"run\":1,\"set\":3,\"seed\":\"1\",\"cells\":[]}", "run.set");
	refuse("{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":1,\"cells\":[]}", "run.seed: must be a decimal string");
	refuse("{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":\"18446744073709551616\",\"cells\":[]}", "run.seed");
	refuse("{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":\"-1\",\"cells\":[]}", "run.seed");
	refuse("{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":\"1\",\"cells\":[1.5]}", "run.cells: item 0");
	refuse("{\"t\":\"at\",\"run\":1,\"cell\":0,\"role\":\"base\",\"step\":\"sleep\"}", "at.step");
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
	refuse("{\"t\":\"done\",\"gpu_s\":1,\"sustained_runs\":\"forward\"}", "done.sustained_runs");
	refuse("{\"t\":\"done\",\"gpu_s\":1,\"sustained_runs\":[\"forward\",\"sideways\"]}",
		"done.sustained_runs: item 1 must be a direction");
}

#define CELL_OF(inputs)                                                                                                          \
	"{\"t\":\"cell\",\"run\":1,\"set\":1,\"cell\":0,\"series\":\"device\",\"phase\":\"\",\"input_sha256\":\"" inputs "\""    \
	","
#define CELL CELL_OF(SHA256)

static void wrong_samples(void **state)
{
	(void)state;
	refuse(CELL_OF("") "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]}}", "cell.input_sha256: must be 64");
	refuse(CELL "\"order\":\"\",\"n\":2,\"ms\":{\"base\":[1]}}", "cell.ms: must have an array of n numbers");
	refuse(CELL "\"order\":\"\",\"n\":0,\"ms\":{\"base\":[]}}", "cell.n: 0 is outside 1..256");
	refuse(CELL "\"order\":\"\",\"n\":257,\"ms\":{\"base\":[]}}", "cell.n");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{}}", "cell.ms: must have 1 to 6 roles");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"a\":[1],\"b\":[1],\"c\":[1],\"d\":[1],\"e\":[1],\"f\":[1],\"g\":[1]}}",
		"must have 1 to 6 roles");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[0]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1e-60]}}", "cell.ms: item 0"); /* 0 as a float */
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[-1]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1e300]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[\"1\"]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[null]}}", "cell.ms: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"a role with spaces\":[1]}}", "has an unknown role");
	refuse(CELL "\"order\":\"AC\",\"n\":1,\"ms\":{\"base\":[1],\"target\":[1]}}", "cell.order: letter C is not a side");
	refuse(CELL "\"order\":\"AAB\",\"n\":1,\"ms\":{\"base\":[1],\"target\":[1]}}", "cell.order: letter A appears 2 times");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"mhz\":{\"base\":[1,2]}}", "cell.mhz");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"mhz\":{\"base\":[-1]}}", "cell.mhz: item 0");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"host_us\":[1]}", "cell.host_us: must be an object");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"device_check\":{\"power_w\":\"hot\"}}",
		"cell.device_check.power_w");
	refuse("{\"t\":\"state\",\"what\":\"idle\",\"ok\":true,\"device_check\":[]}", "state.device_check: must be an object");
	refuse(CELL "\"order\":\"\",\"n\":1,\"ms\":{\"base\":[1]},\"redo\":-1}", "cell.redo");
}

/* Every way to make a good job invalid reports its key. */
static void wrong_jobs(void **state)
{
	static const struct {
		const char *from, *to, *words;
	} cases[] = {
		{ "\"job\":12", "\"job\":-12", "job.job" },
		{ "\"nonce\":\"5f2c\"", "\"nonce\":\"\"", "job.nonce" },
		{ "\"kind\":\"compare\"", "\"kind\":\"party\"", "job.kind" },
		{ "\"role\":\"target\"", "\"role\":\"base\"", "job.sides: role base appears twice" },
		{ "\"path\":\"kernels\"", "\"path\":\"/etc\"", "job.sides[0].inputs[0].path" },
		{ "\"path\":\"kernels\"", "\"path\":\"a/../../b\"", "job.sides[0].inputs[0].path" },
		{ "\"oid\":\"0", "\"oid\":\"X", "job.sides[0].inputs[0].oid" },
		{ "\"dir\":\"kernels\"", "\"dir\":\"..\"", "job.sides[0].build.dir" },
		{ "\"command\":[\"make\"", "\"command\":[7", "job.sides[0].build.command: item 0" },
		{ "build/{device}/libattention.so", "../../libc.so", "job.sides[0].build.outputs" },
		{ "\"rule\":{", "\"rule\":[],\"x\":{", "job.rule: must be an object" },
		{ "\"tau0\":0.0025", "\"tau0\":0", "job.rule.tau0" },
		{ "\"pairs_min\":2,", "\"pairs_min\":40,", "job.rule.pairs_min: is above pairs_max" },
		{ "\"runs_max\":12", "\"runs_max\":1000", "job.rule.runs_max" },
		{ "\"budget_s\":600.5", "\"budget_s\":0", "job.limits.budget_s" },
		{ "\"headdim\":64", "\"headdim\":63", "job.cells[0].key: headdim 63" },
		{ "\"nhk\":2", "\"nhk\":3", "job.cells[0].key: nhq 8 is not a multiple of nhk 3" },
		{ "\"seqlen\":1024", "\"seqlen\":2048", "job.cells[0].key: does not match these sizes" },
		{ "\"lengths\":[]", "\"lengths\":[1024,1]", "job.cells[0].key: the sequences hold 1025" },
		{ "\"lengths\":[]", "\"lengths\":[0]", "job.cells[0].shape.lengths: item 0" },
		{ "\"sparsity_ratio\":0.3", "\"sparsity_ratio\":0.31", "job.cells[1].key" },
		{ "\"block\":64", "\"block\":1000", "job.cells[1].key: seqlen 1024 is not a multiple" },
		{ "\"seed\":\"18446744073709551615\"", "\"seed\":\"x\"", "job.cells[0].seed" },
		{ "\"command\":[\"make\",\"DEVICE={device}\"]", "\"command\":[]", "job.sides[0].build: has no command" },
		{ "\"inputs\":[", "\"benchmark\":{\"name\":\"x\"},\"inputs\":[", "job.sides[0].benchmark.command: is missing" },
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
	struct msg in = { .t = MSG_FAULT, .u.fault = { .cell = 0, .role = ROLE_BASE, .failure = "crash" } }, out;
	struct fw_err err = { 0 };
	struct buf line;

	(void)state;
	buf_init(&line, 8192);
	buf_puts(&line, "{\"t\":\"fault\",\"cell\":0,\"role\":\"base\",\"class\":\"crash\",\"detail\":\"x");
	for (int i = 0; i < 400; i++)
		buf_puts(&line, "\xe2\x82\xac");
	buf_puts(&line, "\"}");
	assert_int_equal(protocol_parse(line.data, line.len, &out, &err), 0);
	assert_int_equal(strlen(out.u.fault.detail), 1 + 3 * 170); /* 511 bytes of space, 511 = 1 + 3 * 170 */
	round_trip(&out, &in);
	buf_fini(&line);
}

/* A line that is too long is refused as a whole by writer and reader. */
static void too_long(void **state)
{
	struct cell *cells = calloc(JOB_CELLS_MAX, sizeof *cells);
	struct msg_job *body = calloc(1, sizeof *body);
	struct msg in = { .t = MSG_JOB, .u.job = body }, out;
	struct fw_err err = { 0 };
	struct buf line;
	char *much = malloc(PROTOCOL_LINE_MAX + 2);

	(void)state;
	assert_true(cells && body && much);
	fill_job(body, cells);
	body->n_cells = JOB_CELLS_MAX;
	for (int i = 0; i < JOB_CELLS_MAX; i++) { /* the longest possible cells still fit */
		cells[i] = a_cell(false);
		attention_of(&cells[i])->seqlen = 1000 * ATTENTION_SEQS_MAX;
		attention_of(&cells[i])->n_seqs = ATTENTION_SEQS_MAX;
		for (int s = 0; s < ATTENTION_SEQS_MAX; s++)
			attention_of(&cells[i])->length[s] = 1000;
		case_name(&cells[i]);
	}
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &in);
	assert_false(line.failed);
	if (protocol_parse(line.data, line.len, &out, &err))
		fail_msg("%s", err.text);
	msg_fini(&out);
	for (int i = 0; i < PROTOCOL_SIDES_MAX; i++) {
		for (int c = 0; c < MANIFEST_LIST_MAX; c++)
			memset(body->side[i].build.command[c], '\1', MANIFEST_TEXT_SIZE - 1);
		body->side[i].build.n_command = MANIFEST_LIST_MAX;
	}
	body->n_sides = PROTOCOL_SIDES_MAX;
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

#define KERNEL                                                                                                                   \
	"{\"t\":\"kernel\",\"cell\":0,\"role\":\"base\",\"repeat\":0,\"n\":0,\"phase\":\"\",\"code\":\"\",\"grid\":[1,1,1],"     \
	"\"block\":[1,1,1],"
#define CODE "{\"t\":\"code\",\"cell\":0,\"base\":\"\",\"target\":\"\",\"what\":\"changed\",\"hunks\":\"\","

static void wrong_profiles(void **state)
{
	struct fw_err err = { 0 };
	struct msg m;

	(void)state;
	assert_int_equal(
		protocol_parse(KERNEL "\"values\":{\"a.sum\":1}}", strlen(KERNEL "\"values\":{\"a.sum\":1}}"), &m, &err), 0);
	msg_fini(&m);
	refuse(KERNEL "\"values\":[]}", "kernel.values: must be an object");
	refuse(KERNEL "\"values\":{\"a b\":1}}", "kernel.values: has an invalid metric name");
	refuse(KERNEL "\"values\":{\"a.sum\":\"1\"}}", "kernel.values.a.sum: must be a number");
	refuse(KERNEL "\"values\":{\"a.sum\":1e31}}", "kernel.values.a.sum: 1e+31 is outside");
	refuse(KERNEL "\"ctas_per_sm\":-1,\"values\":{}}", "kernel.ctas_per_sm");
	refuse("{\"t\":\"kernel\",\"cell\":0,\"role\":\"reference\"}", "kernel.role: must be one of \"base\" \"target\"");
	refuse("{\"t\":\"kernel\",\"cell\":0,\"role\":\"base\",\"repeat\":2}", "kernel.repeat: 2 is outside");
	refuse("{\"t\":\"kernel\",\"cell\":0,\"role\":\"base\",\"repeat\":0,\"n\":256}", "kernel.n: 256 is outside");
	refuse(CODE "\"opcodes\":[[\"MOV\",1]]}", "code.opcodes: item 0 is not an array of a name");
	refuse(CODE "\"opcodes\":[[\"MOV R1\",1,2]]}", "code.opcodes: item 0 is not an array of a name");
	refuse(CODE "\"opcodes\":[[\"MOV\",1,-2]]}", "code.opcodes: item 0 has an invalid count");
	refuse(CODE "\"opcodes\":[1,2,3,4,5,6,7,8,9,10,11,12,13]}", "code.opcodes: has 13 items");
	refuse(CODE "\"base_takes\":{\"registers\":-2},\"opcodes\":[]}", "code.base_takes.registers");
	refuse("{\"t\":\"code\",\"cell\":0,\"what\":\"better\"}", "code.what: must be one of \"same\"");
	refuse("{\"t\":\"counterfactual\",\"cell\":0,\"config\":\"\",\"base_ms\":1,\"target_ms\":1}", "counterfactual.with_ms");
	refuse("{\"t\":\"profile\",\"cell\":0,\"path\":\"guess\"}", "profile.path: must be one of \"range\" \"ncu\"");
	refuse("{\"t\":\"profile\",\"cell\":400,\"path\":\"code\"}", "profile.cell: 400 is outside");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_message),
		cmocka_unit_test(wrong_records),
		cmocka_unit_test(wrong_profiles),
		cmocka_unit_test(wrong_samples),
		cmocka_unit_test(wrong_jobs),
		cmocka_unit_test(unknown_keys_are_ignored),
		cmocka_unit_test(long_text_is_cut),
		cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
