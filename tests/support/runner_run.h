/* runner_run.h - run a whole runner task inside a test: a `task` line in, its records out. */
#ifndef TESTS_RUNNER_RUN_H
#define TESTS_RUNNER_RUN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attention_cell.h"
#include "lib/lib.h"
#include "protocol/protocol.h"
#include "runner/internal.h"

enum { RUN_RECORDS_MAX = 2048 };

struct run_result {
	int status;
	struct buf text; /* all records as they were written */
	int n;
	struct msg record[RUN_RECORDS_MAX];
};

/* A case small enough for plain loops under a sanitizer. */
static inline struct cell small_cell(int32_t mask, enum direction direction, int n_seqs, const int32_t *length)
{
	struct cell c = { .direction = direction, .threshold_pct = 1.5 };
	struct attention_case *a = attention_of(&c);
	a->mask = mask;
	a->nhq = 2;
	a->nhk = 1;
	a->headdim = 16;
	a->dtype = FW_BF16;
	c.seed = 42;
	a->n_seqs = n_seqs;
	for (int i = 0; i < n_seqs; i++) {
		a->length[i] = length[i];
		a->seqlen += length[i];
	}
	if (mask == FW_BLOCKS) {
		a->block = 16;
		a->sparsity_ratio = 0.5;
	}
	snprintf(c.family, sizeof c.family, "attention");
	case_name(&c);
	return c;
}

/* A run of `n_modules` modules (base, target, reference commit) over cells; the caller may change it before run_task. */
static inline struct msg_task small_task(enum task_mode mode, const char *device, const char *const *module, int n_modules,
	struct cell *cell, int *index, int n_cells)
{
	static const enum role role[] = { ROLE_BASE, ROLE_TARGET, ROLE_REFERENCE };
	struct msg_task task = { .run = 1, .set = 1, .seed = 7, .n_sides = n_modules, .n_cells = n_cells, .cell = cell };
	task.mode = mode;
	snprintf(task.device, sizeof task.device, "%s", device);
	for (int i = 0; i < n_modules; i++) {
		task.side[i].role = role[i];
		snprintf(task.side[i].module, sizeof task.side[i].module, "build/tests/modules/%s.so", module[i]);
	}
	for (int i = 0; i < n_cells; i++)
		index[i] = 10 + i;
	task.index = index;
	rule_default(&task.rule, n_cells);
	task.rule.pair_budget_s = 0.01;
	task.warm_s = 0.002;
	task.cell_warm_s = 0.001;
	task.phases = task.calls = true;
	return task;
}

static inline void run_task(struct msg_task *task, struct run_result *out)
{
	struct msg m = { .t = MSG_TASK, .u.task = task };
	struct buf line;
	int in = memfd_create("in", 0), records = memfd_create("records", 0);

	memset(out, 0, sizeof *out);
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &m);
	if (in < 0 || records < 0 || line.failed || write(in, line.data, line.len) != (ssize_t)line.len ||
		lseek(in, 0, SEEK_SET) != 0)
		abort();
	out->status = task_run(in, records);
	buf_init(&out->text, 16u << 20);
	if (lseek(records, 0, SEEK_SET) != 0 || buf_read_fd(&out->text, records) != 0)
		abort();
	for (char *at = out->text.data, *end; (end = strchr(at, '\n')); at = end + 1) {
		struct fw_err err = { 0 };
		if (out->n == RUN_RECORDS_MAX || protocol_parse(at, (size_t)(end - at), &out->record[out->n], &err) != 0) {
			fprintf(stderr, "record %d: %s\n", out->n, err.text);
			abort();
		}
		out->n++;
	}
	close(in);
	close(records);
	buf_fini(&line);
}

static inline void run_result_fini(struct run_result *r)
{
	for (int i = 0; i < r->n; i++)
		msg_fini(&r->record[i]);
	buf_fini(&r->text);
}

/* The only record of this type and cell number that `role` sent; NULL when there is none. */
static inline const struct msg_check *find_check(const struct run_result *r, int cell)
{
	for (int i = 0; i < r->n; i++)
		if (r->record[i].t == MSG_CHECK && r->record[i].u.check.cell == cell)
			return &r->record[i].u.check;
	return NULL;
}

static inline const struct msg_cell *find_series(const struct run_result *r, int cell, enum series series, const char *phase)
{
	for (int i = 0; i < r->n; i++) {
		const struct msg_cell *c = r->record[i].u.cell;
		if (r->record[i].t == MSG_CELL && c->cell == cell && c->series == series && strcmp(c->phase, phase) == 0)
			return c;
	}
	return NULL;
}

#endif
