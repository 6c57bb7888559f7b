/**
 * runner_child.h - one flopwatch-runner process: started in its sandbox with the sealed modules, read record by record, ended
 * at its deadline, and classified by its last step when it died.
 */
#ifndef WORKER_RUNNER_CHILD_H
#define WORKER_RUNNER_CHILD_H

#include "lib/proc.h"
#include "worker/bench.h"

/**
 * Take one record (at, check, work, node, cell, kernel, profile or fault); the callee may change it during the call. Err: -1
 * ends the process.
 */
typedef int runner_record_fn(void *arg, struct msg *m, struct fw_err *err);

struct runner_task {
	enum run_mode mode; /* modes from RUN_IDLE on have no subjects and cells */
	int process_run, set;
	int pass; /* device check: discarded times before; clocks: processes before this one */
	uint64_t seed;
	int turn; /* run: which side begins (bench_turn); 0 random */
	int n_subjects;
	int subject[PROTOCOL_SUBJECTS_MAX]; /* positions in the bench */
	int n_cells;
	const int *cell; /* positions in the bench */
	bool phases, calls, only_sustained_runs;
	const bool *sustained_run; /* sustained_run[n_cells]: cell has sustained runs too; NULL none */
	int sustained_rounds;
	double deadline_s;
	int repeat;       /* profile: number of the process within its role */
	bool counters;    /* profile: read counters */
	bool samples;     /* profile: only sample warp stalls, which needs the same permissions */
	int go_fd;        /* audit: descriptor from which the runner reads go messages */
	int copy_fd;      /* run: copy of the base's module, used as second subject in the role of the target; 0 none */
	bool takes_kills; /* a process ended by a signal of another process is an end like others (`killed`), no error */
	runner_record_fn *record;
	void *arg;
};

/** End of a runner. `failure` is "" when the process exited with 0 (it may have sent faults, or fewer records than due). */
struct runner_end {
	enum run_mode mode; /* of the task */
	char failure[16];   /* "crash" "timeout" "protocol" "device" */
	enum role role;     /* named by the last `at`; ROLE_WORKER without any */
	int cell;           /* named by the last `at`; -1 none */
	char detail[512];
	double wall_s;
	int records; /* records taken */
	bool lost;   /* the device's context was lost */
	bool killed; /* ended by SIGKILL or SIGTERM, which no fault raises, and not by the out-of-memory killer */
};

/**
 * Run one process. Adds its wall time to the bench. Err: -1 when cancelled, when it cannot start, when the machine ended it
 * (out of memory, a kill unless the task takes kills), or when the callback refused a record.
 */
int runner_child_run(struct bench *b, const struct runner_task *t, struct runner_end *end, struct fw_err *err);

/** Classify an end before all records were sent as a crash, unless another cause was seen. */
void runner_end_early(struct runner_end *end);

/**
 * Run another program of this machine around the runner. `argv` is its command line up to the runner, `runner_argv` the
 * runner's options, both NULL-terminated. Module k of the task is /proc/self/fd/(10 + k) there. `out` receives stdout and
 * stderr, `how` the end. Adds its wall time to the bench. Err: -1 when cancelled or when it cannot start.
 */
int runner_child_under(struct bench *b, const struct runner_task *t, const char *const *argv, const char *const *runner_argv,
	struct buf *out, struct proc_exit *how, struct fw_err *err);

/**
 * Start a runner that runs concurrently with another program: only mode, run, pass and seed of the task count. No branch code
 * is in it, so its records have no signature; they arrive on `*fd`, which never blocks. Own: proc_end, close.
 */
int runner_child_beside(struct bench *b, const struct runner_task *t, struct proc *child, int *fd, struct fw_err *err);

/**
 * List the devices that the runner sees. Shape: out[max]. Returns their number, -1 with `err`. `isolated`: in the sandbox as
 * for jobs.
 */
int runner_child_devices(const struct sandbox *s, bool isolated, struct msg_device *out, int max, struct fw_err *err);

#endif
