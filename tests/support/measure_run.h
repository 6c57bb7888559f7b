/* A bench whose runner is made of shell, for the tests of the worker's runs. */
#ifndef TESTS_MEASURE_RUN_H
#define TESTS_MEASURE_RUN_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "attention_cell.h"
#include "cubin_write.h"
#include "protocol/protocol.h"
#include "tmp_folder.h"
#include "worker/internal.h"
#include "worker/sandbox/sandbox.h"

enum { CELLS = 3 };

struct scene {
	struct tmp_folder folder;
	struct cache cache;
	struct sandbox sandbox;
	struct peer peer;
	struct cell cell[CELLS];
	struct bench bench;
	struct fw_err err;
	int runs, checks, faults; /* records seen */
	struct msg_fault fault;   /* the last one */
	struct msg_run run;
	int nodes;
	struct msg_node node[2]; /* of the target's cell 0, in order */
};

static inline int count(void *arg, const struct msg *m, struct fw_err *err)
{
	struct scene *s = arg;

	(void)err;
	s->runs += m->t == MSG_RUN;
	s->checks += m->t == MSG_CHECK;
	s->faults += m->t == MSG_FAULT;
	if (m->t == MSG_FAULT)
		s->fault = m->u.fault;
	if (m->t == MSG_RUN)
		s->run = *m->u.run;
	if (m->t == MSG_NODE && m->u.node.cell == 0 && m->u.node.role == ROLE_TARGET)
		s->node[s->nodes++ % 2] = m->u.node;
	return 0;
}

static inline int add_module(struct scene *s, enum role role, const char *content, size_t len)
{
	char sha[HASH_HEX];
	int fd = sealed_once(role_name(role), content, len, &s->err);

	hash_hex(content, len, sha);
	return fd < 0 ? -1 : bench_add_side(&s->bench, role, "", "libattention.so", fd, sha, &s->err);
}

static inline int add_side(struct scene *s, enum role role, const char *content)
{
	return add_module(s, role, content, strlen(content));
}

static inline int open_bench(struct scene *s)
{
	struct bench *b = &s->bench;

	if (bench_init(b, s->cell, CELLS, &s->err) != 0)
		return -1;
	snprintf(b->runner, sizeof b->runner, "%s/flopwatch-runner", s->folder.path);
	b->peer = &s->peer;
	b->sandbox = &s->sandbox;
	b->cache = &s->cache;
	b->emit = count;
	b->emit_arg = s;
	b->device.kind = DEVICE_SIM;
	rule_default(&b->rule, CELLS);
	b->limits = (struct msg_limits){ .check_s = 30, .run_s = 30, .budget_s = 600 };
	return 0;
}

static inline int start_bench(struct scene *s)
{
	struct bench *b = &s->bench;

	if (open_bench(s) != 0)
		return -1;
	return add_side(s, ROLE_BASE, "b") != 0 || add_side(s, ROLE_TARGET, "t") != 0 ? -1 : bench_ready(b, &s->err);
}

static inline int setup(void **state)
{
	static const int masks[CELLS] = { FW_FULL, FW_CAUSAL, FW_FULL };
	struct scene *s = calloc(1, sizeof *s);
	char path[4200];

	*state = s;
	if (!s || tmp_folder_open(&s->folder) != 0 || cache_open(&s->cache, s->folder.path, &s->err) != 0)
		return -1;
	procs_adopt();
	peer_init(&s->peer, -1, -1);
	for (int i = 0; i < CELLS; i++) {
		s->cell[i] = (struct cell){
			.family = "attention", .direction = i == 2 ? DIRECTION_BACKWARD : DIRECTION_FORWARD, .threshold_pct = 1.5
		};
		set_attention(&s->cell[i],
			&(struct attention_case){ .mask = masks[i],
				.seqlen = 64,
				.nhq = 2,
				.nhk = 1,
				.headdim = 64,
				.dtype = FW_BF16,
				.n_seqs = 1,
				.length = { 64 } },
			1);
		case_name(&s->cell[i]);
	}
	/* any program of that name is enough: each test writes its own */
	if (tmp_folder_write(&s->folder, "flopwatch-runner", "#!/bin/sh\n", 0755) != 0)
		return -1;
	snprintf(path, sizeof path, "%s:/usr/bin:/bin", s->folder.path);
	setenv("PATH", path, 1);
	return start_bench(s);
}

static inline int teardown(void **state)
{
	struct scene *s = *state;

	bench_fini(&s->bench);
	cache_close(&s->cache);
	peer_fini(&s->peer);
	tmp_folder_close(&s->folder);
	free(s);
	return 0;
}

/*
 * The runner of a test. `check` and `run` are shell, run once per cell $i; $role is the first role, $both is set when there are
 * two. Helpers: at ROLE STEP, pass (with $alone as the time of a call), wrong, timings TARGET_MS, single MS. In an audit a call
 * of base takes base_s seconds by any clock, one of target target_s.
 */
static inline void runner_audited(struct scene *s, const char *check, const char *run, const char *base_s, const char *target_s)
{
	static const char signature[] =
		"import hmac, sys\n"
		"for line in sys.stdin:\n"
		"  print(hmac.new(sys.argv[1].encode(), line[:-1].encode(), 'sha256').hexdigest()[:32], flush=True)\n";
	struct buf b;

	assert_int_equal(tmp_folder_write(&s->folder, "seal.py", signature, 0644), 0);
	buf_init(&b, 1 << 16);
	buf_printf(&b,
		"#!/bin/bash\n"
		"read -r line\n"
		"[[ $line =~ '\"mode\":\"'([a-z]+) ]]; mode=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"run\":'([0-9]+) ]]; run=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"set\":'([0-9]+) ]]; set=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"role\":\"'([a-z]+) ]]; role=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"signature\":\"'([0-9a-f]+) ]]; key=${BASH_REMATCH[1]} number=0 inputs=%064d\n"
		"coproc sealer { exec python3 %s/seal.py $key; }\n"
		"say() { echo \"$number $1\" >&${sealer[1]}; read -r mac <&${sealer[0]}; echo \"$mac $number $1\" >&3; "
		"number=$((number + 1)); }\n"
		"echo $mode >>%s/runs\n"
		"[[ $line =~ '\"phases\":true' ]] && echo phases >>%s/runs\n"
		"at() { say "
		"\"{\\\"t\\\":\\\"at\\\",\\\"run\\\":$run,\\\"cell\\\":$i,\\\"role\\\":\\\"$1\\\",\\\"step\\\":\\\"$2\\\"}"
		"\"; }\n"
		"pass() { say "
		"\"{\\\"t\\\":\\\"check\\\",\\\"role\\\":\\\"$role\\\",\\\"cell\\\":$i,\\\"ok\\\":true,\\\"class\\\":\\\"\\\","
		"\\\"error_ratio\\\":0.5,\\\"alone_ms\\\":${alone:-0},\\\"input_sha256\\\":\\\"$inputs\\\"}\"; }\n"
		"wrong() { say "
		"\"{\\\"t\\\":\\\"check\\\",\\\"role\\\":\\\"$role\\\",\\\"cell\\\":$i,\\\"ok\\\":false,\\\"class\\\":"
		"\\\"wrong\\\",\\\"error_ratio\\\":9,\\\"input_sha256\\\":\\\"\\\",\\\"detail\\\":\\\"O[1]\\\"}\"; }\n"
		"fault() { say "
		"\"{\\\"t\\\":\\\"fault\\\",\\\"cell\\\":$i,\\\"role\\\":\\\"$1\\\",\\\"class\\\":\\\"$2\\\",\\\"detail\\\":"
		"\\\"as written\\\"}\"; }\n"
		"timings() { b=1.0 t=$1; say "
		"\"{\\\"t\\\":\\\"cell\\\",\\\"run\\\":$run,\\\"set\\\":$set,\\\"cell\\\":$i,\\\"series\\\":\\\"device\\\","
		"\\\"phase\\\":\\\"\\\",\\\"input_sha256\\\":\\\"$inputs\\\",\\\"order\\\":\\\"ABBAABBA\\\",\\\"n\\\":4,"
		"\\\"ms\\\":{"
		"\\\"base\\\":[$b,$b,$b,$b],"
		"\\\"target\\\":[$t,$t,$t,$t]},\\\"device_check\\\":{\\\"power_w\\\":-1,\\\"temp_c\\\":-1,\\\"sm_mhz\\\":-1,"
		"\\\"reasons\\\":${2:-0},"
		"\\\"foreign\\\":-1,\\\"regime\\\":\\\"\\\"},\\\"redo\\\":0}\"; }\n"
		"single() { say "
		"\"{\\\"t\\\":\\\"cell\\\",\\\"run\\\":$run,\\\"set\\\":$set,\\\"cell\\\":$i,\\\"series\\\":\\\"device\\\","
		"\\\"phase\\\":\\\"\\\",\\\"input_sha256\\\":\\\"$inputs\\\",\\\"order\\\":\\\"AAAA\\\",\\\"n\\\":4,\\\"ms\\\":{"
		"\\\"$role\\\":[$1,$1,$1,$1]},\\\"redo\\\":0}\"; echo alone $role >>%s/runs; }\n"
		"batch() { say \"{\\\"t\\\":\\\"audit\\\",\\\"cell\\\":$i,\\\"role\\\":\\\"$1\\\",\\\"calls\\\":$2,"
		"\\\"state\\\":\\\"ready\\\"}\"; read -r -n1 -u4 go; for ((c = 0; c < $2; c++)); do sleep $3; done; "
		"say \"{\\\"t\\\":\\\"audit\\\",\\\"cell\\\":$i,\\\"role\\\":\\\"$1\\\",\\\"calls\\\":$2,"
		"\\\"state\\\":\\\"done\\\",\\\"ms\\\":${2}000}\"; }\n"
		"batches() { for ((p = 0; p < 5; p++)); do for calls in 1 3; do batch base $calls %s; batch target $calls %s; done; "
		"done; }\n"
		"[[ $line =~ '\"role\":\"base\"'.*'\"role\":\"target\"' ]] && both=1\n"
		"for i in $(grep -oE '\"i\":[0-9]+' <<<\"$line\" | cut -d: -f2); do\n"
		"if [ $mode = audit ]; then batches; elif [ $mode = check ]; then at $role check\n%s\nelif [ -z \"$both\" ]; then at $role time\n%s\nelse at base "
		"time; at target time\n%s\nfi\n"
		"done\n",
		7, s->folder.path, s->folder.path, s->folder.path, s->folder.path, base_s, target_s, check, run, run);
	assert_int_equal(tmp_folder_write(&s->folder, "flopwatch-runner", b.data, 0755), 0);
	buf_fini(&b);
}

static inline void runner(struct scene *s, const char *check, const char *run)
{
	runner_audited(s, check, run, "0", "0");
}

static inline int runs_of(struct scene *s, const char *mode)
{
	char text[4096];
	const char *p = tmp_folder_read(&s->folder, "runs", text, sizeof text);
	int n = 0;

	for (; (p = strstr(p, mode)); p++)
		n++;
	return n;
}

static inline void check_all(struct scene *s)
{
	if (acceptance_run(&s->bench, &s->err) != 0)
		fail_msg("%s", s->err.text);
}

static inline void measure_all(struct scene *s)
{
	if (measure_run(&s->bench, &s->err) != 0)
		fail_msg("%s", s->err.text);
}

#endif
