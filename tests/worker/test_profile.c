/*
 * A profile from the worker's side: four processes and what is believed of them, ncu where they cannot count, machine code always, and the
 * target with its base's configuration. Runner, ncu and nvdisasm are scripts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>

#include "attention_cell.h"
#include "cubin_write.h"
#include "tmp_folder.h"
#include "worker/box/procs.h"
#include "worker/box/sealed.h"
#include "worker/profile/ncu.h"
#include "worker/profile/ncu_stalls.h"
#include "worker/profile/profile.h"

enum { CELLS = 2, RECORDS_MAX = 600 };

static struct scene {
	struct tmp_folder folder;
	struct sandbox sandbox;
	struct peer peer;
	struct cell cell[CELLS];
	struct bench bench;
	struct fw_err err;
	int n;
	char *record[RECORDS_MAX]; /* lines, as they were sent */
	char cancel_at[40];        /* text of a record at which the daemon calls the job off */
} scene;

/* ---- modules ----------------------------------------------------------------------------------------------------------- */

static void add_function(struct elf_write *w, const char *symbol, char code)
{
	char name[100], body[256];
	memset(body, code, sizeof body);
	snprintf(name, sizeof name, ".text.%s", symbol);
	int text = elf_add(w, name, SHT_PROGBITS, 0, body, sizeof body);
	int entry = elf_symbol(w, symbol, STT_FUNC, text);
	((Elf64_Sym *)(void *)w->symbols.data)[entry].st_other = 0x10;
}

/* "same" is the same in both, "core" is not; each has a kernel of a shape of its own, of one name for people. */
static int add_module(enum role role, bool is_new)
{
	struct elf_write w;
	struct buf file;
	uint32_t flags = 90 << 8;
	char sha[HASH_HEX];
	buf_init(&file, 1 << 20);
	elf_begin(&w);
	add_function(&w, "same", 's');
	add_function(&w, "core", is_new ? 'C' : 'c');
	add_function(&w, is_new ? "shape_64" : "shape_128", is_new ? 'X' : 'x');
	elf_add(&w, ".label", SHT_PROGBITS, 0, is_new ? "this is new" : "this is old", 12);
	elf_end(&w, &file);
	file.data[EI_ABIVERSION] = 8;
	memcpy(file.data + offsetof(Elf64_Ehdr, e_flags), &flags, sizeof flags);
	int fd = sealed_once(role_name(role), file.data, file.len, &scene.err);
	hash_hex(file.data, file.len, sha);
	buf_fini(&file);
	return fd < 0 ? -1 : bench_subject(&scene.bench, role, "", "libattention.so", fd, sha, &scene.err);
}

static const char old_text[] = "\t.section\t.text.core,\"ax\"\n/*0000*/ HGMMA.64x128x16.F32.BF16 R4, R2 ;\n/*0010*/ EXIT ;\n"
			       "\t.section\t.text.shape_128,\"ax\"\n/*0000*/ MOV R1, R2 ;\n/*0010*/ EXIT ;\n";
static const char new_text[] =
	"\t.section\t.text.core,\"ax\"\n/*0000*/ HGMMA.64x128x16.F32.BF16 R4, R2 ;\n/*0010*/ HGMMA.64x128x16.F32.BF16 R4, R2 ;\n"
	"/*0020*/ EXIT ;\n"
	"\t.section\t.text.shape_64,\"ax\"\n/*0000*/ MOV R1, R2 ;\n/*0010*/ FADD R1, R1, 1 ;\n/*0020*/ EXIT ;\n";

/* ---- the runner -------------------------------------------------------------------------------------------------------- */

/* `body` is Python, run once per process that profiles: run, role, repeat, counters, cells; say(t, ...), kernel(cell, n, symbol, ...), end(cell, ...). */
static const char runner_head[] =
	"#!/usr/bin/env python3\n"
	"import hashlib, hmac, json, os, sys, time\n"
	"here = os.path.dirname(os.path.abspath(__file__))\n"
	"def log(what): open(here + '/runs', 'a').write(what + '\\n')\n"
	"if sys.argv[1:2] == ['--capture']:\n"
	"    print('what the runner says'); sys.exit(0)\n"
	"run = json.loads(sys.stdin.readline())\n"
	"out, number = os.fdopen(3, 'w', buffering=1), 0\n"
	"def say(t, **more):\n"
	"    global number\n"
	"    text = '%d %s' % (number, json.dumps({'t': t, **more}))\n"
	"    number += 1\n"
	"    out.write(hmac.new(run['seal'].encode(), text.encode(), 'sha256').hexdigest()[:32] + ' ' + text + '\\n')\n"
	"if run['mode'] in ('idle', 'canary', 'guard'):\n"
	"    say('state', what=run['mode'], ok=True, detail=''); sys.exit(0)\n"
	"if run['mode'] == 'launch':\n"
	"    log('launch ' + ' '.join(s['role'] for s in run['subjects']) + ' ' + ' '.join(p['config'] for p in run['pins']))\n"
	"    for c in run['cells']:\n"
	"        say('cell', launch=run['launch'], set=run['set'], cell=c['i'], series='device', phase='', input_sha256='0' * 64, n=4, order='',\n"
	"            ms={'base': [1, 1, 1, 1], 'target': [1.5, 1.5, 1.5, 9], 'anchor': [1.25] * 4}, redo=0)\n"
	"    sys.exit(0)\n"
	"role, repeat, counters = run['subjects'][0]['role'], run['repeat'], run['counters']\n"
	"cells = [c['i'] for c in run['cells']]\n"
	"config = 'TILE=3 PARTS=2' if role == 'base' else 'TILE=3 PARTS=1'\n"
	"if not run['samples']: log('%s %d %s %s' % (role, repeat, 'counters' if counters else 'kernels', cells))\n"
	"def kernel(cell, n, symbol, name, values={}, **more):\n"
	"    say('kernel', **{'cell': cell, 'role': role, 'repeat': repeat, 'n': n, 'phase': 'run', 'kernel': name, 'code': '',\n"
	"        'symbol_sha256': hashlib.sha256(symbol.encode()).hexdigest(), 'sm': 90, 'ms': 1, 'grid': [132, 1, 1], 'block': [128, 1, 1],\n"
	"        'registers': 168, 'local_bytes': 0, 'shared_bytes': 1024, 'ctas_per_sm': 1, 'values': values, **more})\n"
	"def kernels(cell, values):\n"
	"    say('at', launch=0, cell=cell, role=role, step='count')\n"
	"    kernel(cell, 0, 'same', 'same()', values)\n"
	"    kernel(cell, 1, 'core', 'core()', values)\n"
	"    kernel(cell, 2, 'shape_64' if role == 'target' else 'shape_128', 'shape<64>()' if role == 'target' else 'shape<128>()', values)\n"
	"    if role == 'target': kernel(cell, 3, 'extra', 'extra()', values)\n"
	"def end(cell, path, why='', **more):\n"
	"    say('profile', cell=cell, path=path, why=why, tool='CUPTI 130001', passes=10 if path == 'range' else 0, gpu_s=0.5,\n"
	"        base_config=config if role == 'base' else '', target_config=config if role == 'target' else '', **more)\n"
	"counted = {'dram__bytes_read.sum': 100 + repeat}\n"
	"def seen(cell, symbol, samples, *lines):\n"
	"    say('stalls', cell=cell, role=role, symbol_sha256=hashlib.sha256(symbol.encode()).hexdigest(), samples=samples, lines=lines)\n"
	"if run['samples']:\n"
	"    try: body = open(here + '/sample').read()\n"
	"    except OSError: body = 'for c in cells: end(c, \"code\", \"nobody samples here\")\\n'\n"
	"    else: log('%s samples %s' % (role, cells))\n"
	"    exec(body); sys.exit(0)\n";

static void runner(const char *body)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_puts(&text, runner_head);
	buf_puts(&text, body);
	assert_int_equal(tmp_folder_write(&scene.folder, "flopwatch-runner", text.data, 0755), 0);
	buf_fini(&text);
}

static const char *runs(void)
{
	static char text[4096];
	return tmp_folder_read(&scene.folder, "runs", text, sizeof text);
}

/* ---- the scene --------------------------------------------------------------------------------------------------------- */

static int keep(void *arg, const struct msg *m, struct fw_err *err)
{
	struct scene *s = arg;
	struct buf line;
	(void)err;
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, m);
	assert_true(s->n < RECORDS_MAX && !line.failed);
	if (s->cancel_at[0] && strstr(line.data, s->cancel_at))
		raise(SIGTERM);
	s->record[s->n++] = line.data;
	return 0;
}

static int set_up(void **state)
{
	char path[300];
	(void)state;
	memset(&scene, 0, sizeof scene);
	if (tmp_folder_open(&scene.folder) != 0)
		return -1;
	for (int i = 0; i < CELLS; i++) {
		scene.cell[i] = (struct cell){ .threshold_pct = 1.5, .direction = DIRECTION_FORWARD };
		set_attention(&scene.cell[i],
			&(struct attention_case){ .mask = i ? FW_CAUSAL : FW_FULL,
				.seqlen = 64,
				.nhq = 2,
				.nhk = 1,
				.headdim = 64,
				.dtype = FW_BF16,
				.n_seqs = 1,
				.length = { 64 } },
			1);
		case_name(&scene.cell[i]);
	}
	runner("");
	if (tmp_folder_write(&scene.folder, "nvdisasm",
		    "#!/bin/sh\nfor side in old new; do grep -q \"this is $side\" \"$2\" && exec cat \"${0%/*}/$side.sass\"; done; exit 8\n",
		    0755) != 0 ||
		tmp_folder_write(&scene.folder, "old.sass", old_text, 0644) != 0 ||
		tmp_folder_write(&scene.folder, "new.sass", new_text, 0644) != 0)
		return -1;
	snprintf(path, sizeof path, "%s:/usr/bin:/bin", scene.folder.path);
	setenv("PATH", path, 1);
	peer_init(&scene.peer, -1, -1);
	struct bench *b = &scene.bench;
	if (bench_init(b, scene.cell, CELLS, &scene.err) != 0)
		return -1;
	snprintf(b->runner, sizeof b->runner, "%s/flopwatch-runner", scene.folder.path);
	b->peer = &scene.peer;
	b->sandbox = &scene.sandbox;
	b->emit = keep;
	b->emit_arg = &scene;
	b->device.kind = DEVICE_CUDA;
	rule_default(&b->rule, CELLS);
	b->limits = (struct msg_limits){ .check_s = 30, .launch_s = 30, .budget_s = 600, .wait_s = 5 };
	return add_module(ROLE_BASE, false) != 0 || add_module(ROLE_TARGET, true) != 0 ? -1 : bench_ready(b, &scene.err);
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < scene.n; i++)
		free(scene.record[i]);
	bench_fini(&scene.bench);
	peer_fini(&scene.peer);
	tmp_folder_close(&scene.folder);
	return 0;
}

static int profile(enum evidence_path best)
{
	static const int list[CELLS] = { 0, 1 };
	return profile_run(&scene.bench, list, CELLS, best, &scene.err);
}

/* The n-th record that holds all of these texts (NULL-ended); NULL. */
static const char *find(int n, ...)
{
	for (int i = 0; i < scene.n; i++) {
		bool all = true;
		va_list texts;
		va_start(texts, n);
		for (const char *text; all && (text = va_arg(texts, const char *));)
			all = strstr(scene.record[i], text) != NULL;
		va_end(texts);
		if (all && n-- == 0)
			return scene.record[i];
	}
	return NULL;
}
#define HAS(...)     assert_non_null(find(0, __VA_ARGS__, NULL))
#define HAS_NOT(...) assert_null(find(0, __VA_ARGS__, NULL))

/* ---- tests ------------------------------------------------------------------------------------------------------------- */

static void each_side_is_counted_twice(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_string_equal(runs(),
		"base 0 counters [0, 1]\ntarget 0 counters [0, 1]\ntarget 1 counters [0, 1]\nbase 1 counters [0, 1]\n"
		"launch base target anchor TILE=3 PARTS=2 TILE=3 PARTS=2\n");
	HAS("\"t\":\"kernel\"", "\"cell\":1", "\"role\":\"target\"", "\"repeat\":1", "\"n\":2",
		"\"values\":{\"dram__bytes_read.sum\":101}");
	assert_null(find(14, "\"t\":\"kernel\"", "\"cell\":0", NULL)); /* 3 of base and 4 of target, twice */
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"", "\"why\":\"\"", "\"passes\":10", "\"tool\":\"CUPTI 130001\"",
		"\"base_config\":\"TILE=3 PARTS=2\"", "\"target_config\":\"TILE=3 PARTS=1\"", "\"gpu_s\":2");
	assert_non_null(strstr(scene.record[scene.n - 1], "\"t\":\"profile\"")); /* the last line of a cell */
	assert_non_null(strstr(scene.record[scene.n - 1], "\"cell\":1"));
	const char *core = find(0, "\"t\":\"kernel\"", "\"kernel\":\"core()\"", NULL);
	assert_null(strstr(core, "symbol_sha256")); /* its code's hash is what the worker read in the sealed module */
	assert_null(strstr(core, "\"code\":\"\""));
}

static void machine_code_says_what_differs(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"code\"", "\"base\":\"same()\"", "\"target\":\"same()\"", "\"what\":\"same\"");
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "\"what\":\"changed\"", "[\"HGMMA.64x128x16.F32.BF16\",1,2]",
		"\"registers\":168,\"local_bytes\":0,\"shared_bytes\":1024,\"ctas_per_sm\":1", "@@ -");
	/* another shape of the same kernel */
	HAS("\"t\":\"code\"", "\"base\":\"shape<128>()\"", "\"target\":\"shape<64>()\"", "\"what\":\"changed\"",
		"[\"FADD\",0,1]");
	HAS("\"t\":\"code\"", "\"base\":\"\"", "\"target\":\"extra()\"", "\"what\":\"added\"");
	assert_null(find(4, "\"t\":\"code\"", "\"cell\":0", NULL));
}

/* What the runner does that samples: Python. */
static void sampler(const char *body)
{
	assert_int_equal(tmp_folder_write(&scene.folder, "sample", body, 0644), 0);
}

#define COUNTED "config = 'TILE=3'\nfor c in cells: kernels(c, counted); end(c, 'range')\n"
#define SEEN                                                                                                                     \
	"for c in cells:\n"                                                                                                      \
	"    say('at', launch=0, cell=c, role=role, step='sample')\n"                                                            \
	"    seen(c, 'core', 1000, [0, 10, 'selected', 10], [16, 900, 'gmma', 800], [32, 90, 'barrier', 60])\n"                  \
	"    seen(c, 'same', 500, [48, 500, 'long_scoreboard', 500])\n"                                                          \
	"    end(c, 'code')\n"

static void warps_wait_beside_the_hunks(void **state)
{
	(void)state;
	runner(COUNTED);
	sampler(SEEN);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_non_null(strstr(runs(), "base 1 counters [0, 1]\nbase samples [0, 1]\ntarget samples [0, 1]\n"));
	/* the instruction that the target has more, and what its warps wait for there */
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "+ 0010  HGMMA.64x128x16.F32.BF16 R4, R2", "<- 90.0 % gmma", "  0020  EXIT",
		"<- 9.0 % barrier, before: 90.0 % gmma\\n"); /* the same instruction, behind it */
	HAS("\"t\":\"code\"", "\"base\":\"core()\"",
		"\"target_stalls\":{\"samples\":1000,\"lines\":[[16,900,\"gmma\",800,\"HGMMA.64x128x16.F32.BF16 R4, R2\"],"
		"[32,90,\"barrier\",60,\"EXIT\"],[0,10,\"selected\",10,\"HGMMA.64x128x16.F32.BF16 R4, R2\"]]}");
	/* a kernel whose code is the same is seen too; its disassembly has no such instruction */
	HAS("\"t\":\"code\"", "\"base\":\"same()\"", "\"what\":\"same\"",
		"\"base_stalls\":{\"samples\":500,\"lines\":[[48,500,\"long_scoreboard\",500,\"\"]]}");
	HAS_NOT("\"t\":\"code\"", "\"base\":\"shape<128>()\"", "_stalls");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"", "\"gpu_s\":3"); /* six processes */
	HAS_NOT("stalls_why");
	HAS_NOT("\"t\":\"stalls\"");
}

static void samples_that_cannot_be_had_cost_nothing_else(void **state)
{
	static const struct {
		const char *sampler, *why;
	} cases[] = {
		{ "for c in cells: end(c, 'code', 'libcupti has no cuptiPCSamplingEnable')\n",
			"\"stalls_why\":\"base: libcupti has no cuptiPCSamplingEnable\"" },
		{ "say('at', launch=0, cell=0, role=role, step='sample')\nif role == 'target': os.kill(os.getpid(), 11)\n" SEEN,
			"\"stalls_why\":\"target: crash: killed by SIGSEGV" },
		{ "sys.exit(0)\n", "\"stalls_why\":\"base: crash: it ended without a word\"" },
		{ "say('fault', cell=cells[0], role=role, **{'class': 'crash'}, detail='lost')\nfor c in cells[1:]: end(c, 'code', 'lost too')\n",
			"\"stalls_why\":\"base: crash: lost\"" },
	};
	(void)state;
	runner(COUNTED);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		sampler(cases[i].sampler);
		if (profile(EVIDENCE_RANGE) != 0)
			fail_msg("%s", scene.err.text);
		HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"range\"", "\"why\":\"\"", cases[i].why);
		HAS_NOT("_stalls\":{"); /* half of a comparison is none */
		HAS("\"t\":\"kernel\"", "\"cell\":0", "dram__bytes_read");
	}
}

static void a_sampler_that_hangs_is_ended(void **state)
{
	(void)state;
	scene.bench.limits.launch_s = 10;
	runner(COUNTED);
	sampler("say('at', launch=0, cell=cells[0], role=role, step='sample')\nif cells[0] == 0: time.sleep(600)\n" SEEN);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"range\"",
		"\"stalls_why\":\"base: timeout: did not end within 10 s in step sample\"");
	HAS("\"t\":\"code\"", "\"cell\":1", "\"base\":\"core()\"", "<- 90.0 % gmma");
}

static void who_may_not_count_does_not_sample(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, {}); end(c, 'code', 'the driver shows counters to administrators only')\n");
	sampler(SEEN);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "samples"));
}

static void the_loss_is_looked_for_in_the_configuration(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"counterfactual\"", "\"cell\":0", "\"config\":\"TILE=3 PARTS=2\"", "\"base_ms\":1,", "\"target_ms\":1.5,",
		"\"with_ms\":1.25");
	HAS("\"t\":\"counterfactual\"", "\"cell\":1");
}

static void equal_configurations_need_no_such_run(void **state)
{
	(void)state;
	runner("config = 'TILE=3'\nfor c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "launch"));
	HAS_NOT("\"t\":\"counterfactual\"");
}

/* A target that refuses it leaves the launch without the third. */
static void a_configuration_that_is_refused_costs_only_its_run(void **state)
{
	(void)state;
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_puts(&text, runner_head);
	char *third = strstr(text.data, ", 'anchor': [1.25] * 4");
	assert_non_null(third);
	memset(third, ' ', strlen(", 'anchor': [1.25] * 4"));
	buf_puts(&text, "for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(tmp_folder_write(&scene.folder, "flopwatch-runner", text.data, 0755), 0);
	buf_fini(&text);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"");
	HAS_NOT("\"t\":\"counterfactual\"");
}

static void another_providers_configuration_is_not_tried(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, counted); end(c, 'range')\n");
	snprintf(scene.bench.subject[scene.bench.target].provider, sizeof scene.bench.subject[0].provider, "other");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "launch"));
}

static void a_configuration_that_was_searched_for_is_handed_back(void **state)
{
	(void)state;
	runner("for p in run.get('pins', []): log('pinned ' + p['config'])\n"
	       "config += ' SEEN=%d' % repeat if not run.get('pins') else ''\n"
	       "for c in cells: kernels(c, counted); end(c, 'range', tunes=True)\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_ptr_equal(
		strstr(runs(), "base 0 counters [0, 1]\ntarget 0 counters [0, 1]\n"
			       "target 1 counters [0, 1]\npinned TILE=3 PARTS=1 SEEN=0\npinned TILE=3 PARTS=1 SEEN=0\n"
			       "base 1 counters [0, 1]\npinned TILE=3 PARTS=2 SEEN=0\npinned TILE=3 PARTS=2 SEEN=0\nlaunch "),
		runs());
}

static void counters_that_are_refused_are_not_asked_for_again(void **state)
{
	(void)state;
	runner("for c in cells: kernels(c, {}); end(c, 'code', 'the driver shows counters to administrators only')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_ptr_equal(
		strstr(runs(),
			"base 0 counters [0, 1]\ntarget 0 kernels [0, 1]\ntarget 1 kernels [0, 1]\nbase 1 kernels [0, 1]\nlaunch"),
		runs());
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "administrators only", "\"passes\":0");
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "\"what\":\"changed\""); /* that is known all the same */
	HAS("\"t\":\"kernel\"", "\"role\":\"target\"", "\"ms\":-1", "\"values\":{}");
}

static void times_are_better_than_nothing(void **state)
{
	(void)state;
	runner("for c in cells:\n"
	       "    kernels(c, {}); end(c, 'activity' if c == 0 or role == 'base' else 'code', 'no libcupti')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"activity\"", "no libcupti");
	HAS("\"t\":\"kernel\"", "\"cell\":0", "\"role\":\"target\"", "\"repeat\":1", "\"ms\":1,");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"code\"");
	HAS_NOT("\"t\":\"kernel\"", "\"cell\":1", "\"ms\":1,"); /* of one side alone they say nothing */
}

static void one_cell_may_be_counted_and_another_not(void **state)
{
	(void)state;
	runner("for c in cells:\n"
	       "    bad = c == 0 and role == 'target' and counters\n"
	       "    kernels(c, {} if bad else counted); end(c, 'code' if bad else 'range', 'the GPU counted 1 kernels' if bad else '')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "counted 1 kernels");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"");
	assert_non_null(strstr(runs(), "target 1 counters [1]\nbase 1 counters [1]\n"));
	/* half of a comparison is none */
	HAS_NOT("\"t\":\"kernel\"", "\"cell\":0", "dram__bytes_read");
}

static void a_process_that_dies_costs_its_cell(void **state)
{
	(void)state;
	runner("for c in cells:\n"
	       "    say('at', launch=0, cell=c, role=role, step='count')\n"
	       "    if c == 0 and role == 'target' and counters: os.kill(os.getpid(), 11)\n"
	       "    kernels(c, counted); end(c, 'range' if counters else 'code')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "target: crash: killed by SIGSEGV in step count");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"range\"");
	HAS("\"t\":\"kernel\"", "\"cell\":0", "\"role\":\"target\"", "\"kernel\":\"core()\"");
}

static void kernels_that_hang_when_they_are_counted_are_given_up(void **state)
{
	(void)state;
	scene.bench.limits.launch_s = 10; /* of which only the one that hangs takes all */
	runner("for c in cells:\n"
	       "    say('at', launch=0, cell=c, role=role, step='count')\n"
	       "    if c == 1 and counters: time.sleep(600)\n"
	       "    kernels(c, counted); end(c, 'range' if counters else 'code')\n");
	assert_int_equal(tmp_folder_write(&scene.folder, "ncu", "#!/bin/sh\necho ncu >>${0%/*}/runs\n", 0755), 0);
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"range\"");
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"code\"", "base: timeout: did not end within 10 s in step count",
		"kernels that wait for each other cannot be counted");
	HAS("\"t\":\"code\"", "\"cell\":1", "\"base\":\"core()\"", "\"what\":\"changed\"");
	assert_null(strstr(runs(), "ncu")); /* it runs them one by one, too */
}

static void a_side_that_never_runs_is_told(void **state)
{
	(void)state;
	runner("if role == 'target':\n    say('fault', cell=None, role=role, **{'class': 'abi'}, detail='no entry'); sys.exit(0)\n"
	       "for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":1", "\"path\":\"code\"", "target: abi: no entry");
}

static void whoever_forges_is_not_believed(void **state)
{
	(void)state;
	runner("if role == 'target':\n"
	       "    out.write('{\"t\":\"profile\",\"cell\":0,\"path\":\"range\",\"target_config\":\"forged\"}\\n'); time.sleep(600)\n"
	       "for c in cells: kernels(c, counted); end(c, 'range')\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"code\"", "forged: branch code wrote into the runner's records");
	HAS_NOT("\"target_config\":\"forged\"");
}

/* ---- ncu --------------------------------------------------------------------------------------------------------------- */

#define REFUSED "for c in cells: kernels(c, {}); end(c, 'code', 'no libcupti')\n"

/* What it is called with, then a table of so many launches for the role of the module. */
static void ncu(const char *table)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_printf(&text,
		"#!/usr/bin/env python3\n"
		"import os, sys\n"
		"a = sys.argv[1:]\n"
		"if a == ['--version']: print('NVIDIA (R) Nsight Compute\\nVersion 2025.3.1.0 (build 1)'); sys.exit(0)\n"
		"at = [i for i, x in enumerate(a) if x.endswith('/flopwatch-runner')][0]\n"
		"assert a[:at][0:6] == ['--profile-from-start', 'off', '--clock-control', 'none', '--cache-control', 'none'], a\n"
		"is_source = a[a.index('--page') + 1] == 'source' and 'SourceCounters' in a[:at]\n"
		"assert '--csv' in a[:at] and (is_source or 'dram__bytes_read.sum' in a[a.index('--metrics') + 1].split(',')), a\n"
		"assert a[at + 1] == '--capture' and a[at + 2].startswith('{') and a[at + 3:at + 5] == ['--module', '/proc/self/fd/10'], a\n"
		"is_new = b'this is new' in open('/proc/self/fd/10', 'rb').read()\n"
		"here = '%s'\n"
		"open(here + '/runs', 'a').write('%%s %%s\\n' %% ('source' if is_source else 'ncu', 'target' if is_new else 'base'))\n"
		"print('==PROF== Connected to process 1')\n"
		"os.system(a[at] + ' --capture x')\n"
		"def table(n, grid='(132, 1, 1)'):\n"
		"    print('\"ID\",\"Process ID\",\"Kernel Name\",\"Grid Size\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"launch__x\"')\n"
		"    print('\"\",\"\",\"\",\"\",\"byte\",\"ns\",\"\"')\n"
		"    for i in range(n): print('\"%%d\",\"1\",\"k\",\"%%s\",\"1,234,%%03d\",\"2,000,000\",\"5\"' %% (i, grid, i))\n"
		"def source(kernel, *rows):\n"
		"    print('\"Kernel Name\",\"%%s\",' %% kernel)\n"
		"    print('\"Address\",\"Source\",\"Warp Stall Sampling (All Samples)\",\"stall_barrier\",\"stall_selected\",\"stall_barrier (Not Issued)\"')\n"
		"    for i, r in enumerate(rows): print('\"%%s\",\"X\",\"%%d\",\"%%d\",\"%%d\",\"9\"' %% (hex(0x7f0000 + 16 * i), *r))\n"
		"if is_source:\n"
		"    try: exec(open(here + '/source').read())\n"
		"    except OSError: print('==ERROR== no such section')\n"
		"    sys.exit(0)\n"
		"%s",
		scene.folder.path, table);
	assert_int_equal(tmp_folder_write(&scene.folder, "ncu", text.data, 0755), 0);
	buf_fini(&text);
}

static void ncu_counts_where_the_runner_cannot(void **state)
{
	(void)state;
	runner(REFUSED);
	ncu("table(4 if is_new else 3)\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"ncu\"", "\"tool\":\"ncu 2025.3.1.0\"", "no libcupti");
	HAS("\"t\":\"kernel\"", "\"role\":\"base\"", "\"repeat\":1", "\"n\":2", "\"dram__bytes_read.sum\":1234002", "\"ms\":2");
	HAS("\"t\":\"kernel\"", "\"role\":\"target\"", "\"repeat\":0", "\"n\":3");
	HAS_NOT("launch__x"); /* the same names as elsewhere, and no others */
	assert_non_null(strstr(runs(), "ncu base\nncu target\nncu target\nncu base\n"));
}

/* What it prints of instructions: Python. */
static void source(const char *body)
{
	assert_int_equal(tmp_folder_write(&scene.folder, "source", body, 0644), 0);
}

static void ncu_samples_where_it_counted(void **state)
{
	(void)state;
	runner(REFUSED);
	ncu("table(4 if is_new else 3)\n");
	source("source('same()', (0, 0, 0), (5, 0, 5))\nsource('core()', (20, 1, 1), (900, 800, 1), (80, 0, 0))\n"
	       "source('shape', (0, 0, 0))\nif is_new: source('extra()', (0, 0, 0))\n");
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_non_null(strstr(runs(), "ncu base\nsource base\nsource target\n"));
	HAS("\"t\":\"code\"", "\"base\":\"core()\"", "+ 0010  HGMMA.64x128x16.F32.BF16 R4, R2", "<- 90.0 % barrier",
		"\"target_stalls\":{\"samples\":1000,\"lines\":[[16,900,\"barrier\",800,", "[32,80,\"other\",80,\"EXIT\"]");
	HAS("\"t\":\"code\"", "\"base\":\"same()\"", "\"lines\":[[16,5,\"selected\",5,\"\"]]");
	HAS("\"t\":\"profile\"", "\"cell\":0", "\"path\":\"ncu\"");
	HAS_NOT("stalls_why");
}

static void ncu_that_does_not_sample_says_why(void **state)
{
	static const struct {
		const char *source, *words;
	} cases[] = {
		{ "print('==ERROR== x')\n", "ncu: its output: holds no table of instructions" },
		{ "source('same()', (1, 1, 1))\n", "ncu: it sampled 1 launches where the call has 3" },
		{ "print('\"Kernel Name\",\"k\",'); print('\"Address\",\"Source\"')\n",
			"ncu: its output: its instructions have no samples" },
	};
	(void)state;
	runner(REFUSED);
	ncu("table(4 if is_new else 3)\n");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		source(cases[i].source);
		assert_int_equal(profile(EVIDENCE_RANGE), 0);
		HAS("\"t\":\"profile\"", "\"path\":\"ncu\"", "\"stalls_why\":\"", cases[i].words);
		HAS_NOT("_stalls\":{");
	}
}

/* As ncu 2025.3.1 printed it on an H200, most rows left out. It has no column for waits for wgmma. */
static void a_table_of_instructions_is_read(void **state)
{
	static char text[16384];
	FILE *file = fopen("tests/data/readers/ncu-source.csv", "re");
	struct msg_kernel kernel[] = { { .grid = { 0 } }, { .grid = { 8, 1, 1 }, .symbol_sha256 = "lists" },
		{ .grid = { 132, 1, 1 }, .symbol_sha256 = "forward" } };
	const struct kept_process p = { .n = 3, .kernel = kernel };
	struct kept_stalls s = { 0 };
	char why[200] = "";
	(void)state;
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	if (!ncu_stalls_take(&p, text, strlen(text), &s, why, sizeof why))
		fail_msg("%s", why);
	assert_int_equal(s.n, 1); /* nobody was seen in the first */
	assert_string_equal(s.kernel[0].symbol_sha256, "forward");
	assert_int_equal(s.kernel[0].n, 5);
	const struct evidence_stall *l = s.kernel[0].line + 1;
	assert_int_equal(l[-1].offset, 0);
	assert_int_equal(l[0].offset, 0x5ad0);
	assert_int_equal(l[0].samples, 5447);
	assert_string_equal(l[0].reason, "other");
	assert_int_equal(l[0].of_reason, 5447 - (15 + 32 + 59 + 137));
	assert_int_equal(l[1].offset, 0x5bc0);
	assert_string_equal(l[1].reason, "barrier");
	assert_int_equal(l[1].of_reason, 9852);
	assert_string_equal(l[2].reason, "short_scoreboard");
	assert_string_equal(l[3].reason, "long_scoreboard");
	assert_int_equal(s.kernel[0].samples, l[-1].samples + l[0].samples + l[1].samples + l[2].samples + l[3].samples);
	kept_clear_stalls(&s);
}

static void ncu_that_fails_says_why(void **state)
{
	static const struct {
		const char *table, *words;
	} cases[] = {
		{ "print('==ERROR== ERR_NVGPUCTRPERM - The user does not have permission'); sys.exit(1)\n",
			"no libcupti; ncu: the driver shows counters to administrators only (ERR_NVGPUCTRPERM)" },
		{ "print('==ERROR== Failed to connect.'); sys.exit(1)\n", "ncu: Failed to connect." },
		{ "sys.exit(1)\n", "ncu: it printed no table" },
		{ "table(2)\n", "ncu: it counted 2 launches where the call has 3" },
		{ "table(3, '(1, 1, 1)')\n", "it counted 3 launches where the call has 3, of other sizes" },
	};
	(void)state;
	runner(REFUSED);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ncu(cases[i].table);
		assert_int_equal(profile(EVIDENCE_RANGE), 0);
		HAS("\"t\":\"profile\"", "\"path\":\"code\"", cases[i].words);
		HAS_NOT("\"values\":{\"");
	}
}

static void other_devices_have_no_ncu(void **state)
{
	(void)state;
	runner(REFUSED);
	ncu("table(3)\n");
	scene.bench.device.kind = DEVICE_SIM;
	assert_int_equal(profile(EVIDENCE_RANGE), 0);
	assert_null(strstr(runs(), "ncu"));
	HAS("\"t\":\"profile\"", "\"path\":\"code\"");
}

/* ---- who may end it ---------------------------------------------------------------------------------------------------- */

static void a_push_ends_it_at_once(void **state)
{
	(void)state;
	peer_signals();
	runner("kernels(cells[0], counted)\ntime.sleep(600)\n");
	snprintf(scene.cancel_at, sizeof scene.cancel_at, "\"step\":\"count\"");
	assert_int_equal(profile(EVIDENCE_RANGE), -1);
	assert_int_equal(scene.err.code, ERR_CANCELLED);
	HAS_NOT("\"t\":\"profile\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_side_is_counted_twice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(machine_code_says_what_differs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(warps_wait_beside_the_hunks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(samples_that_cannot_be_had_cost_nothing_else, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_sampler_that_hangs_is_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_may_not_count_does_not_sample, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_configuration_that_is_refused_costs_only_its_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_providers_configuration_is_not_tried, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_loss_is_looked_for_in_the_configuration, set_up, tear_down),
		cmocka_unit_test_setup_teardown(equal_configurations_need_no_such_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_configuration_that_was_searched_for_is_handed_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counters_that_are_refused_are_not_asked_for_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(times_are_better_than_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_cell_may_be_counted_and_another_not, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_dies_costs_its_cell, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kernels_that_hang_when_they_are_counted_are_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_side_that_never_runs_is_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(whoever_forges_is_not_believed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ncu_counts_where_the_runner_cannot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ncu_samples_where_it_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ncu_that_does_not_sample_says_why, set_up, tear_down),
		cmocka_unit_test(a_table_of_instructions_is_read),
		cmocka_unit_test_setup_teardown(ncu_that_fails_says_why, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_devices_have_no_ncu, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_push_ends_it_at_once, set_up, tear_down),
	};
	procs_adopt();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
