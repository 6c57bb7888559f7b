/* A profile whose runner is a script, for the tests of how the worker evaluates it: two cells, two modules of which one kernel
 * differs. */
#ifndef TESTS_PROFILE_SCENE_H
#define TESTS_PROFILE_SCENE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attention_cell.h"
#include "cubin_write.h"
#include "tmp_folder.h"
#include "worker/internal.h"
#include "worker/sandbox/sandbox.h"

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
	char cancel_at[40];        /* text of a record at which the daemon cancels the job */
} scene;

/* ---- modules ----------------------------------------------------------------------------------------------------------- */

static inline void add_function(struct elf_write *w, const char *symbol, char code)
{
	char name[100], body[256];
	memset(body, code, sizeof body);
	snprintf(name, sizeof name, ".text.%s", symbol);
	int text = elf_add(w, name, SHT_PROGBITS, 0, body, sizeof body);
	int entry = elf_symbol(w, symbol, STT_FUNC, text);
	((Elf64_Sym *)(void *)w->symbols.data)[entry].st_other = 0x10;
}

/* "same" is the same in both, "core" is not; each has a kernel with a different shape but the same readable name. */
static inline int add_module(enum role role, bool is_new)
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
	return fd < 0 ? -1 : bench_add_side(&scene.bench, role, "", "libattention.so", fd, sha, &scene.err);
}

static const char old_text[] = "\t.section\t.text.core,\"ax\"\n/*0000*/ HGMMA.64x128x16.F32.BF16 R4, R2 ;\n/*0010*/ EXIT ;\n"
			       "\t.section\t.text.shape_128,\"ax\"\n/*0000*/ MOV R1, R2 ;\n/*0010*/ EXIT ;\n";
static const char new_text[] =
	"\t.section\t.text.core,\"ax\"\n/*0000*/ HGMMA.64x128x16.F32.BF16 R4, R2 ;\n/*0010*/ HGMMA.64x128x16.F32.BF16 R4, R2 ;\n"
	"/*0020*/ EXIT ;\n"
	"\t.section\t.text.shape_64,\"ax\"\n/*0000*/ MOV R1, R2 ;\n/*0010*/ FADD R1, R1, 1 ;\n/*0020*/ EXIT ;\n";

/* ---- the runner -------------------------------------------------------------------------------------------------------- */

/*
 * `body` is Python, run once per profiling process: run, role, repeat, counters, cells; say(t, ...), kernel(cell, n, symbol,
 * ...), end(cell, ...).
 */
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
	"    out.write(hmac.new(run['signature'].encode(), text.encode(), 'sha256').hexdigest()[:32] + ' ' + text + '\\n')\n"
	"if run['mode'] in ('idle', 'health_check', 'device_check'):\n"
	"    say('state', what=run['mode'], ok=True, detail=''); sys.exit(0)\n"
	"if run['mode'] == 'time':\n"
	"    log('run ' + ' '.join(s['role'] for s in run['sides']) + ' ' + ' '.join(p['config'] for p in run['pins']))\n"
	"    for c in run['cells']:\n"
	"        say('cell', run=run['run'], set=run['set'], cell=c['i'], series='device', phase='', input_sha256='0' * 64, n=4, order='',\n"
	"            ms={'base': [1, 1, 1, 1], 'target': [1.5, 1.5, 1.5, 9], 'reference': [1.25] * 4}, redo=0)\n"
	"    sys.exit(0)\n"
	"role, repeat, counters = run['sides'][0]['role'], run['repeat'], run['counters']\n"
	"cells = [c['i'] for c in run['cells']]\n"
	"config = 'TILE=3 PARTS=2' if role == 'base' else 'TILE=3 PARTS=1'\n"
	"if not run['samples']: log('%s %d %s %s' % (role, repeat, 'counters' if counters else 'kernels', cells))\n"
	"def kernel(cell, n, symbol, name, values={}, **more):\n"
	"    say('kernel', **{'cell': cell, 'role': role, 'repeat': repeat, 'n': n, 'phase': 'run', 'kernel': name, 'code': '',\n"
	"        'symbol_sha256': hashlib.sha256(symbol.encode()).hexdigest(), 'sm': 90, 'ms': 1, 'grid': [132, 1, 1], 'block': [128, 1, 1],\n"
	"        'registers': 168, 'local_bytes': 0, 'shared_bytes': 1024, 'ctas_per_sm': 1, 'values': values, **more})\n"
	"def kernels(cell, values):\n"
	"    say('at', run=0, cell=cell, role=role, step='count')\n"
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

static inline void runner(const char *body)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_puts(&text, runner_head);
	buf_puts(&text, body);
	assert_int_equal(tmp_folder_write(&scene.folder, "flopwatch-runner", text.data, 0755), 0);
	buf_fini(&text);
}

static inline const char *runs(void)
{
	static char text[4096];
	return tmp_folder_read(&scene.folder, "runs", text, sizeof text);
}

/* ---- the scene --------------------------------------------------------------------------------------------------------- */

static inline int keep(void *arg, const struct msg *m, struct fw_err *err)
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

static inline int set_up(void **state)
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
	b->limits = (struct msg_limits){ .check_s = 30, .run_s = 30, .budget_s = 600, .wait_s = 5 };
	return add_module(ROLE_BASE, false) != 0 || add_module(ROLE_TARGET, true) != 0 ? -1 : bench_ready(b, &scene.err);
}

static inline int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < scene.n; i++)
		free(scene.record[i]);
	bench_fini(&scene.bench);
	peer_fini(&scene.peer);
	tmp_folder_close(&scene.folder);
	return 0;
}

static inline int profile(enum evidence_path best)
{
	static const int list[CELLS] = { 0, 1 };
	return profile_run(&scene.bench, list, CELLS, best, &scene.err);
}

/* The n-th record that holds all of these texts (NULL-ended); NULL. */
static inline const char *find(int n, ...)
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

#endif
