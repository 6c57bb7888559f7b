/**
 * runner_child.h - one flopwatch-runner process: started in its sandbox with the sealed modules, read record by record, ended
 * at its deadline, and, when it died, told apart by what it was doing last.
 */
#ifndef WORKER_BENCH_RUNNER_CHILD_H
#define WORKER_BENCH_RUNNER_CHILD_H

#include "base/proc.h"
#include "worker/bench/bench.h"

/** Take one record (at, check, work, node, cell, kernel, profile or fault), which belongs to the caller until it returns. Err: -1 ends the process. */
typedef int runner_record_fn(void *arg, struct msg *m, struct fw_err *err);

struct runner_task {
	enum run_mode mode; /* from RUN_IDLE on without subjects and cells */
	int process_run, set;
	int pass; /* guard: times that were void before; clocks: processes before this one */
	uint64_t seed;
	int turn; /* run: of who begins (bench_turn); 0 by chance */
	int n_subjects;
	int subject[PROTOCOL_SUBJECTS_MAX]; /* positions in the bench */
	int n_cells;
	const int *cell; /* positions in the bench */
	bool phases, calls, only_sustained_runs;
	const bool *sustained_run; /* sustained run[n_cells]: also in sustained runs; NULL none */
	int sustained_rounds;
	double deadline_s;
	int repeat;    /* profile: the how manieth process of its role */
	bool counters; /* profile: read counters */
	bool samples;  /* profile: only sample where warps wait, which takes the same rights */
	int go_fd;     /* audit: where the runner reads its goes */
	int copy_fd;   /* run: a copy of the base's module, which the second subject is and has the role of the target; 0 none */
	bool takes_kills; /* a process that a signal of somebody else ended is an end like others (`killed`), and no error */
	runner_record_fn *record;
	void *arg;
};

/** How it went. `failure` "" when the process ended by itself with 0 (it may have sent faults, or less than was due). */
struct runner_end {
	enum run_mode mode; /* of the task */
	char failure[16];   /* "crash" "timeout" "protocol" "device" */
	enum role role;     /* named by the last `at`; ROLE_WORKER when none was */
	int cell;           /* named by it, too; -1 none */
	char detail[512];
	double wall_s;
	int records; /* taken */
	bool lost;   /* the device's context was */
	bool killed; /* by a signal that no fault raises (SIGKILL, SIGTERM), and not for want of memory: by a process inside or outside the sandbox */
};

/**
 * Run one process. Adds its wall time to the bench. Err: -1 when cancelled, when it cannot be started, when the machine ended it (want of memory,
 * a kill unless the task takes kills), or the caller refused a record.
 */
int runner_child_run(struct bench *b, const struct runner_task *t, struct runner_end *end, struct fw_err *err);

/** It ended although more was due: that is a crash, too, where nothing else was seen. */
void runner_end_early(struct runner_end *end);

/**
 * Run another program of this machine around the runner: `argv` is what it is called with, up to the runner, and what the runner is called with
 * behind it, both NULL-ended. Module k of the task is /proc/self/fd/(10 + k) there. `out` gets what they print, errors too; `how` how it ended.
 * Adds its wall time to the bench. Err: -1 when cancelled or when it cannot be started.
 */
int runner_child_under(struct bench *b, const struct runner_task *t, const char *const *argv, const char *const *runner_argv,
	struct buf *out, struct proc_exit *how, struct fw_err *err);

/**
 * Start one that goes on beside something else: only mode, run, pass and seed of the task count. Its records are not sealed, since no branch
 * code is in it, and come on `*fd`, which never blocks. Own: proc_end, close.
 */
int runner_child_beside(struct bench *b, const struct runner_task *t, struct proc *child, int *fd, struct fw_err *err);

/**
 * Ask the runner which devices it sees. Shape: out[max]. Returns their number, -1 with `err`.
 * `isolated`: in the sandbox as it will run.
 */
int runner_child_devices(const struct sandbox *s, bool isolated, struct msg_device *out, int max, struct fw_err *err);

#endif
