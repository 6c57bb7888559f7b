/** internal.h - one job: build, check, measure, judge, profile. */
#ifndef WORKER_INTERNAL_H
#define WORKER_INTERNAL_H

#include "readers/readers.h"
#include "verdict/verdict.h"
#include "worker/sandbox/sandbox.h"

/*
 * ---- bench ----
 * State of one comparison on one device: sides, cells, results of each cell, and the receiver of records.
 *
 * serve fills it from a job and sends records to the daemon; compare fills it from its arguments and prints a table. Checks,
 * runs and the sequential procedure depend only on this state.
 */

/** Receive one record. Err: -1 ends the job. */
typedef int bench_emit_fn(void *arg, const struct msg *m, struct fw_err *err);

struct bench_side {
	enum role role;
	char provider[PEERS_PROVIDER_SIZE];
	char config[160]; /* configuration requested by the user, for every cell; "": the cell's, or the provider chooses */
	char unfit[160];  /* terms of a request that were last reported as left out */
	char sha256[HASH_HEX];
	char file[PATH_MAX];     /* file name for messages */
	int fd;                  /* sealed module; closed by bench_fini */
	struct kernelcode *code; /* of that module, read on first use; freed by bench_fini */
	bool code_read;
	bool dropped; /* an additional side that failed: excluded from runs */
};

/** Timings of one run. Shape: values holds base_ms, target_ms, base_mhz, target_mhz of n each. */
struct bench_run {
	int run, set, n;
	bool clocks;
	float *values;
};

struct bench_failure {
	enum role role;
	char failure[16]; /* "": none */
	char detail[512];
};

/** A configuration for a side's provider: found by its search in the check, or requested by the user or the suite. */
struct bench_pin {
	int side, cell;
	char config[160]; /* "": the provider's own choice */
	bool is_request;  /* requested by the user or the suite; resolved by the first process that plans the cell */
};

enum { BENCH_NOTES_MAX = 32 };

enum bench_origin { BENCH_BASE, BENCH_TARGET, BENCH_OUTSIDE /* the worker or the device */, BENCH_ORIGINS };

/** Time of a call without another loaded module. */
struct bench_alone {
	double ms, mhz; /* mhz: clock during the call; 0 unknown */
};

struct bench_cell {
	bool open; /* accepted on both sides and without a failure since: may be timed */
	bool judged;
	struct bench_failure problem[BENCH_ORIGINS];
	bool target_passed; /* in its check */
	char check_inputs[BENCH_OUTSIDE]
			 [HASH_HEX]; /* input hashes of the sides' checks: runs must report those of the base; "" unknown */
	struct bench_alone alone[BENCH_OUTSIDE]; /* of base and target, from their checks */
	char launches[BENCH_OUTSIDE][HASH_HEX];  /* hashes of the kernels that the sides launched in their checks */
	struct msg_work
		work[BENCH_OUTSIDE]; /* work records of their checks, without the tried configurations; provider "": none */
	int n_runs;
	struct bench_run run[STATS_RUNS_MAX]; /* of the series that decides */
	int n_sustained_runs;
	struct bench_run sustained_run[STATS_RUNS_MAX]; /* series sustained */
	int n_void_sustained_runs;                      /* discarded because of device readings */
	int side_balance; /* sustained runs in which the target drew more power or was slower, minus those in which the base did */
	struct cell_finding found;
	int discarded; /* runs without a result because of device readings, or because of a failure of neither side */
	int voided;    /* only those discarded because of device readings */
	int ends;      /* early ends of the process in runs that end well if the base runs against a copy of itself */
	int kills;     /* kills of the process in the target's calls, by a signal of another process */
};

struct bench {
	struct peer *peer;
	const struct sandbox *sandbox;
	const struct cache *cache;               /* NULL: checks are not cached */
	void (*oom_kills)(struct oomkills *out); /* NULL: oomkills_read */
	bench_emit_fn *emit;
	void *emit_arg;
	char runner[PATH_MAX];
	char runner_sha[HASH_HEX];
	struct msg_device device;
	int n_sides;
	struct bench_side side[PROTOCOL_SIDES_MAX];
	int base, target; /* positions in side[] */
	int n_cells;
	const struct cell *cells; /* borrowed */
	struct bench_cell *cell;  /* cell[n_cells] */
	int n_pins;
	struct bench_pin *pin; /* pin[n_pins]; freed by bench_fini */
	struct rule rule;
	struct msg_limits limits;
	uint64_t seed;
	bool quick;
	bool selfcheck;                   /* equal modules are timed too */
	sentinel_set sentinels_elsewhere; /* classes of cells whose sentinel runs elsewhere */
	sentinel_set requested;           /* classes whose cells have sustained runs independent of their pairs */
	sentinel_set sustained_runs;      /* classes with sustained runs: those requested, and those whose power draw differs */
	bool set_begun[3];
	bool over;   /* no further run follows */
	bool lost;   /* the device is broken: no further runs */
	int n_noted; /* notes sent, each once */
	char noted[BENCH_NOTES_MAX][64];
	bool guarded;                /* health_check_device_check has read the device before */
	int ecc;                     /* memory errors at that reading */
	int idle_checks;             /* checks for other processes on the device, so far */
	int runs;                    /* so far */
	double gpu_s;                /* time during which the device was held */
	double step_s[DEVICE_STEPS]; /* components of gpu_s; timed calls count as `between` or `program` until bench_steps */
	double calls_s;              /* sum of all times that were sent */
	double started_s;            /* monotonic */
	int64_t timed_until_ns;      /* monotonic: end of the last runner process if it timed calls, else 0 */
};

/** Initialise without sides, for cells `cells`. Err: no runner program. Own: bench_fini. */
int bench_init(struct bench *b, const struct cell *cells, int n_cells, struct fw_err *err);
void bench_fini(struct bench *b);
/** Add a side, named `file` in messages; takes over `fd`. */
int bench_add_side(
	struct bench *b, enum role role, const char *provider, const char *file, int fd, const char *sha256, struct fw_err *err);
/** Request this configuration of the last side in every cell; "": the configuration that each cell requests. */
void bench_request_config(struct bench *b, const char *config);
/** Find base and target after all sides were added. Err: a side is missing. */
int bench_ready(struct bench *b, struct fw_err *err);
/**
 * Return whether there is nothing to time: base and target are the same module with the same provider, and it is no selfcheck.
 */
bool bench_identical(const struct bench *b);

/** Store the configuration that a provider found by searching, replacing an earlier one; later calls receive it. */
void bench_pin(struct bench *b, int side, int cell, const char *config);

/**
 * Take the configuration that a process ran: later processes receive it if it was requested or searched for. A note names
 * requested terms whose key it does not have, once for each side and each set of terms. Err: the line to the daemon.
 */
int bench_take_config(struct bench *b, int side, int cell, const char *config, bool is_searched, struct fw_err *err);

/** Return the configuration for a side's provider in a cell; "": it chooses. Own: the bench's, until the next bench_pin. */
const char *bench_pinned(const struct bench *b, int side, int cell);

/**
 * Find the hash of a kernel's code in the sealed module; "" if it cannot be read. The worker never uses such a hash from a
 * runner.
 */
void bench_code(struct bench_side *s, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

int bench_send(struct bench *b, const struct msg *m, struct fw_err *err);
/** Add time during which the device was held. Units: s. */
void bench_add_held_time(struct bench *b, enum device_step step, double seconds);
/** Write the times of the steps for which the device was held so far. Units: s. Shape: out[DEVICE_STEPS]. */
void bench_steps(const struct bench *b, double *out);
/**
 * Record a failure of a cell, close the cell, and send a fault record. Cell -1: all cells; if neither side caused the failure,
 * cells with times remain open.
 */
int bench_fault(struct bench *b, int cell, enum role role, const char *failure, struct fw_err *err, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
/** Send a note. */
int bench_send_note(struct bench *b, int cell, enum role role, struct fw_err *err, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/** Announce the run b->runs with the cells that it times. Shape: list[n]. */
int bench_announce(struct bench *b, const int *list, int n, int set, uint64_t seed, struct fw_err *err);
/** Record a failure as bench_fault does, without sending it, because the runner's record was forwarded. */
void bench_note(struct bench *b, int cell, enum role role, const char *failure, const char *detail);

/** Return the `turn` of the current run for order_first, at least 1: random in the first run, then incremented by each run. */
int bench_turn(const struct bench *b);
/** Return the position of a role among the sides of a record; -1 none. */
int bench_role(const struct msg_cell *m, enum role role);
bool bench_decides(const struct bench *b, const struct msg_cell *m);
/** Append the timings of a record to a list, or replace those of the same run. Shape: list[STATS_RUNS_MAX]. */
int bench_store_run(struct bench_run *list, int *n, const struct msg_cell *m, struct fw_err *err);
/** Store the timings of a `cell` record of the deciding series. Returns 1; 0 if device readings invalidate them. */
int bench_add(struct bench *b, const struct msg_cell *m, struct fw_err *err);
void bench_judge(struct bench *b, int cell);
void bench_end(struct bench *b);
/** Return whether set 1 is so noisy that all allowed runs would leave the cell undecided. `se`: expected standard error. */
bool bench_is_hopeless(const struct bench *b, int cell, double *se);
/** Return the failure that prevents a cell's verdict; NULL none. A failure of both sides counts as the base's. */
const struct bench_failure *bench_failure(const struct bench *b, int cell);
/** Return the verdict of a cell: a failure comes before measurements. */
enum verdict bench_verdict(const struct bench *b, int cell);
/** Decide a cell from its runs and the slow calls of all cells that run the same kernel. */
void bench_decide(const struct bench *b, int cell, struct cell_verdict *out);
/** Return the median of one side over all runs; 0 without runs. Units: ms. */
double bench_median_ms(const struct bench *b, int cell, bool target);

/*
 * ---- acceptance ----
 * Checks of every cell of every module, before any timing.
 *
 * Each runner process loads one module. If it dies, its current cell fails, and the next process checks the remaining cells. The
 * cache stores outcomes by (module, provider, cell, device, runner). Crashes and timeouts are not cached, because the machine may
 * have caused them.
 */

/** Check all sides on all cells; send the records and close the cells that fail. Err: cancelled, no runner. */
int acceptance_run(struct bench *b, struct fw_err *err);

/**
 * Check one side on one cell without the cache, to find out whether it fails alone. Returns 1 if it failed, with `failure`
 * and `detail`, 0 if not. Sends nothing. Shape: failure[16], detail[512].
 */
int acceptance_solo(struct bench *b, int side, int cell, char failure[16], char detail[512], struct fw_err *err);

/*
 * ---- alone ----
 * Comparison of both sides' times alone with their times in pairs.
 *
 * A target in the same process as its base can slow the base down, by a thread, a signal or another process, and so appear faster
 * or hide a regression. The check of each side, without any other module, times a call alone (stored with the outcome). If the
 * base is much slower in pairs than these times explain, both sides run alone, in turns A B B A, in the current state of the
 * machine. If all turns contradict the pairs by more than the errors of both, the cell is rejected ("slowed"). On a busy machine
 * the errors are large, so no side is accused.
 */

enum alone_result { ALONE_SAME, ALONE_MORE, ALONE_SLOWED };
enum { ALONE_TURNS = 6 };

/** Times of one turn of the alternation: each side alone, and both in pairs. Shape: by enum bench_origin. */
struct alone_turn {
	struct bench_alone alone[BENCH_OUTSIDE], paired[BENCH_OUTSIDE];
};

/**
 * Return ln of (target alone / base alone) / (ratio of the pairs): how much slower the target is alone. Uses the lower of the
 * results by time and, if all clocks are known, by cycles: a clock that differs between processes changes only one of them.
 */
double alone_excess(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/** Return the same for one turn; without clocks, the lower of it and the excess over the pairs of that turn. Pure. */
double alone_turn_excess(const struct alone_turn *t, const struct estimate *pairs);
/** Return whether the times of both checks justify runs alone. Pure. */
bool alone_suspects(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/**
 * Classify the excess of `n` turns over pairs with standard error `se`; one turn that agrees gives ALONE_SAME. Shape: turn[n].
 */
enum alone_result alone_judge(const double *turn, int n, double se);

/** Test every timed cell; a slowed base is a fault of the target. Does nothing on sim or for equal modules. */
int alone_run(struct bench *b, struct fw_err *err);

/*
 * ---- audit_confirms ----
 * Evaluation of a gain by batches timed with two clocks. Pure.
 *
 * Each pair of batches of one side, a short and a long one, gives a slope by either clock: the time of one additional call. It
 * includes the copy of the inputs and the launch, about 20 us on a GPU, which pairs exclude. The base's excess over its pairs is
 * therefore subtracted from both sides; otherwise the gain of a short call would disappear. A gain is confirmed if the medians of
 * one audit's slopes confirm it. It is contradicted if the slopes of all audits together contradict it by AUDIT_ERRORS standard
 * errors: a busy machine disturbs batches at random, so a single median is weak evidence.
 */

enum { AUDIT_PAIRS = 5, AUDIT_TRIES = 6 };

#define AUDIT_CLOCK_SHARE 0.8   /* minimum ratio of the device's time to the supervisor's */
#define AUDIT_GAIN_SHARE  0.5   /* minimum share of a gain, as a log ratio, by the supervisor's clock */
#define AUDIT_SLACK_MS    0.005 /* a call: host cost of back-to-back launches */
#define AUDIT_OVERHEAD_MS 0.1   /* a call: upper bound of copying and launching */
#define AUDIT_ERRORS      3.0

/** One batch: number of calls, time by the supervisor's clock, time by the device's clock. Units: ms. */
struct audit_batch {
	int calls;
	double wall_ms, device_ms;
};

/** The gain that the pairs report. */
struct audit_claim {
	double gain;    /* ln of the target's speedup */
	double base_ms; /* of a call of the base */
};

/** The batches of one cell. Shape: [base, target][pair][short, long]. */
struct audit {
	int n[2]; /* batches so far of each side */
	struct audit_batch batch[2][AUDIT_PAIRS][2];
};

/** Slopes of all audits of one cell. Shape: [base, target][n]. Units: ms a call. */
struct audit_pool {
	int n;
	double wall[2][AUDIT_TRIES * AUDIT_PAIRS], device[2][AUDIT_TRIES * AUDIT_PAIRS];
};

/** Return whether an audit confirms a gain; if not, `why` receives the reason. Shape: why[size]. */
bool audit_confirms(const struct audit *a, const struct audit_claim *claim, char *why, size_t size);

/** Add the slopes of an audit; an incomplete audit adds none. */
void audit_pool_add(struct audit_pool *pool, const struct audit *a);

/** Return whether the pooled slopes contradict the gain. An empty pool does: a target under which no audit ends is rejected. */
bool audit_contradicts(const struct audit_pool *pool, const struct audit_claim *claim);

/*
 * ---- audit ----
 * Repeated measurement of large gains by a clock outside the runner process.
 *
 * Branch code in the runner can forge the clock there, but not the worker's clock. On each go message the runner makes K or 3K
 * calls of one side, five pairs in total; the worker measures the time between go and done. A busy machine can fail an audit by
 * chance, while a forged clock always fails, so there are up to AUDIT_TRIES attempts, each except the first after another run.
 * These runs count like all others, so a gain that existed only while the machine was idle disappears.
 */

/** Improvements from this size on are audited. */
#define AUDIT_CHANGE_PCT 20.0

/**
 * Audit every cell with a large improvement. A contradicted gain becomes a fault of the target, class "clock"; a gain that is
 * neither confirmed nor contradicted becomes "unsure", a fault of no side. Does nothing on sim.
 */
int audit_run(struct bench *b, struct fw_err *err);

/* ---- buffered: Records of a profile's processes, stored until the worker knows which of them to send. ---- */

enum { BUFFERED_SIDES = 2, BUFFERED_WHY_SIZE = 400 };

struct buffered_process {
	bool is_there, is_counted, is_timed; /* the kernels are known; their counters too; or only their times */
	int passes, n;
	struct msg_kernel *kernel; /* kernel[n], with their values */
	char config[160], tool[64];
};

/** Warp stalls of one side: a record for each kernel that was sampled. */
struct buffered_stalls {
	int n;
	struct msg_stalls *kernel; /* kernel[n], with their lines */
};

struct buffered_cell {
	int cell; /* in the bench */
	struct buffered_process process[BUFFERED_SIDES][EVIDENCE_REPEATS];
	char why[BUFFERED_WHY_SIZE]; /* reasons why counters are unknown; "": they are known */
	bool is_hung;                /* counted kernels do not end */
	struct buffered_stalls stalls[BUFFERED_SIDES];
	char stalls_why[BUFFERED_WHY_SIZE]; /* reasons why stalls are unknown; "": they are known, or were not requested */
	double gpu_s;
	struct tried tried[BUFFERED_SIDES]; /* of the process that searched; owned */
	bool has_swap;
	struct msg_counterfactual swap;
};

struct buffered {
	struct bench *bench;
	int n;
	struct buffered_cell cell[EVIDENCE_CELLS_MAX];
};

/** Prepare for these cells of the bench. Own: buffered_free, also of the added kernels. */
void buffered_init(struct buffered *k, struct bench *b, const int *cell, int n);
void buffered_free(struct buffered *k);

struct buffered_cell *buffered_find(struct buffered *k, int cell);
/** Add a record of a process. Own: takes the values of the kernel. Err: more kernels than a call has. */
int buffered_kernel(struct buffered_process *p, struct msg_kernel *kernel, struct fw_err *err);
/** Copy the kernels of `from` without their values, as those of process `repeat`. */
void buffered_copy(struct buffered_process *to, const struct buffered_process *from, int repeat);
/** Add the stalls of one kernel. Own: takes the lines. Err: more kernels than a call has. */
int buffered_add_stalls(struct buffered_stalls *s, struct msg_stalls *stalls, struct fw_err *err);
void buffered_clear_stalls(struct buffered_stalls *s);
void buffered_clear(struct buffered_process *p);
/** Add a reason, unless it is there already. */
void buffered_why(struct buffered_cell *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Return whether all four processes counted the cell, or at least timed its kernels. */
bool buffered_is_counted(const struct buffered_cell *c);
bool buffered_is_timed(const struct buffered_cell *c);

/*
 * ---- runner_child ----
 * One flopwatch-runner process: started in its sandbox with the sealed modules, read record by record, ended at its deadline, and
 * classified by its last step if it dies.
 */

enum { RUNNER_STOP = 2 };

/**
 * Receive one record (at, check, work, node, cell, kernel, profile or fault); the callee may change it during the call. Returns 0,
 * or RUNNER_STOP to end the process, which is no failure (`stopped`). Err: -1 ends the process.
 */
typedef int runner_record_fn(void *arg, struct msg *m, struct fw_err *err);

struct runner_task {
	enum task_mode mode; /* modes from TASK_IDLE on have no sides and cells */
	int run, set;
	int pass; /* device check: discarded times before; clocks: processes before this one */
	uint64_t seed;
	int turn; /* run: determines the side that begins (bench_turn); 0: random */
	int n_sides;
	int side[PROTOCOL_SIDES_MAX]; /* positions in the bench */
	int n_cells;
	const int *cell; /* positions in the bench */
	bool phases, calls, only_sustained_runs;
	const enum sustained_order *sustained; /* sustained[n_cells]; NULL: no cell has sustained runs */
	double deadline_s;
	int repeat;       /* profile: number of the process within its role */
	bool counters;    /* profile: read counters */
	bool samples;     /* profile: only sample warp stalls, which needs the same permissions */
	int go_fd;        /* audit: descriptor from which the runner reads go messages */
	int copy_fd;      /* run: copy of the base's module, used as second side in the role of the target; 0 none */
	bool takes_kills; /* a signal of another process is a normal end (`killed`), no error */
	runner_record_fn *record;
	void *arg;
};

/** End of a runner. `failure` is "" if the process exited with 0 (it may have sent faults, or fewer records than expected). */
struct runner_end {
	enum task_mode mode; /* of the task */
	char failure[16];    /* "crash" "timeout" "protocol" "device" */
	enum role role;      /* named by the last `at`; ROLE_WORKER without any */
	int cell;            /* named by the last `at`; -1 none */
	char detail[512];
	double wall_s;
	int records;  /* number of received records */
	bool lost;    /* the device's context failed */
	bool stopped; /* the receiver of the records ended it */
	bool killed;  /* ended by SIGKILL or SIGTERM, which no fault raises, but not by the out-of-memory killer */
};

/**
 * Run one process. Adds its wall time to the bench. Err: -1 if cancelled, if it cannot start, if the machine ended it (out of
 * memory, a kill unless the task takes kills), or if the callback failed.
 */
int runner_child_run(struct bench *b, const struct runner_task *t, struct runner_end *end, struct fw_err *err);

/** Classify an end before all records were sent as a crash, unless another cause is known. */
void runner_end_early(struct runner_end *end);

/**
 * Run another program of this machine, which starts the runner. `argv` is its command line up to the runner, `runner_argv` the
 * runner's options, both NULL-terminated. The runner opens module k of the task as /proc/self/fd/(10 + k). `out` receives stdout
 * and stderr, `how` the end. Adds its wall time to the bench. Err: -1 if cancelled or if it cannot start.
 */
int runner_child_under(struct bench *b, const struct runner_task *t, const char *const *argv, const char *const *runner_argv,
	struct buf *out, struct proc_exit *how, struct fw_err *err);

/**
 * Start a runner that runs concurrently with another program; uses only mode, run, pass and seed of the task. It runs no branch
 * code, so its records have no signature; they arrive on `*fd`, which is non-blocking. Own: proc_end, close.
 */
int runner_child_start_concurrent(struct bench *b, const struct runner_task *t, struct proc *child, int *fd, struct fw_err *err);

/**
 * List the devices that the runner sees. Shape: out[max]. Returns their number, -1 with `err`. `isolated`: in the sandbox, as
 * for jobs.
 */
int runner_child_devices(const struct sandbox *s, bool isolated, struct msg_device *out, int max, struct fw_err *err);

/*
 * ---- clocks ----
 * Clock of the device while a benchmark program runs, read from the driver by a separate process.
 *
 * It is not the clock of single calls. It explains time differences between processes that ran at different clocks. If no driver
 * reports a clock, it is unknown, with no other effect.
 */

struct clocks {
	struct proc runner;
	int fd; /* -1: no sampling */
	struct lines lines;
	bool has_begun;
	double sum_mhz;
	int n;
};

/**
 * Start sampling; returns when samples arrive. `process`: number of earlier processes of this run. Err: cancelled. Own:
 * clocks_end.
 */
int clocks_begin(struct clocks *c, struct bench *b, int process, struct fw_err *err);
/** Read the samples so far; call several times a second. Shape: arg is a struct clocks. Err: none. */
int clocks_take(void *arg, struct fw_err *err);
/** Stop sampling. Returns the mean clock under load; 0 unknown. Units: MHz. */
double clocks_end(struct clocks *c);

/* ---- collect: The runner's processes of a profile. Each counts one side's calls of all cells and measures no times. ---- */

/** Return the time limit of one process, hung kernels included: 30 s, or less if a run has less. */
double collect_deadline_s(const struct bench *b);

/**
 * Run processes base, target, target, base over the cells. A cell that one process cannot count is skipped by the next, with a
 * reason. Err: cancelled, no runner.
 */
int collect_counters(struct buffered *k, struct fw_err *err);
/** Run process `repeat` without counters, for cells without counters and without the kernels of a side from that process. */
int collect_kernels(struct buffered *k, int repeat, struct fw_err *err);
/**
 * Sample warp stalls by instruction, in one process per side, for the cells that the runner counted on both sides. A cell without
 * samples gets a reason. Err: cancelled, no runner.
 */
int collect_stalls(struct buffered *k, struct fw_err *err);

/*
 * ---- command ----
 * Comparison of two benchmark programs.
 *
 * First each side runs once: this warms caches, tests both programs, and lists their rows, which become the cells. Then each run
 * has four processes, A B B A or B A A B depending on its seed, whose medians are two pairs per cell; with a reference commit six
 * processes, A B C C B A. Noise between processes dominates, so a pair consists of processes. Verdicts follow the usual rules.
 */

bool command_is(const struct msg_job *request);
/** Write a name for the folders of this worker's sides: build_context.sides. Shape: out[64]. */
void command_sides(char out[64]);
/** Remove folders of ended workers from the cache. Call with the build lock. */
void command_sweep(const struct cache *cache);
void command_clear(const struct build_context *c, const struct msg_job *request);

/**
 * Find the cells and time them until all are decided or the budget is spent. `*cells` become the bench's cells; the caller frees
 * them after the bench. Err: cancelled, or an error of the worker.
 */
int command_measure(
	struct bench *b, const struct build_context *c, const struct msg_job *request, struct cell **cells, struct fw_err *err);

/* ---- two_modules: Arguments of `compare` and `profile`: a suite's cells, and two shared objects. ---- */

struct two_modules_options {
	const char *suite, *base, *target;           /* files */
	const char *provider_base, *provider_target; /* "" the module's default */
	const char *config_base, *config_target;     /* passed to the provider's plan of every cell; "": it chooses */
	const char *device;                          /* "auto" */
	const char *cells;                           /* glob, NULL all */
	bool quick, json;
	double budget_s; /* 0: the suite's */
	enum sandbox_want sandbox;
	int n_shown; /* folders that the modules may read */
	const char *const *shown;
};

struct two_modules_task {
	int (*run)(struct bench *b, const struct two_modules_options *o, const char *suite, void *arg, struct fw_err *err);
	bench_emit_fn *emit;
	void *arg; /* of both */
};

/**
 * Read the suite (its cells that match the glob), open the sandbox, find the device, and run the task on a bench of both modules.
 * Returns the result of its `run`. Err: ERR_INVALID no cell matches; errors of the sandbox and the device.
 */
int two_modules_run(const struct two_modules_options *o, const struct two_modules_task *t, struct fw_err *err);

/*
 * ---- compare_alone ----
 * `flopwatch-worker compare`: checks, measures and judges two modules of the command line, without a daemon.
 */

/**
 * Run and print. Returns the exit status: 0 no regression, 3 regression, 7 undecided or nothing to compare, 1 a side is broken
 * or could not be measured; -1 with `err` if nothing was measured.
 */
int compare_alone_run(const struct two_modules_options *o, struct fw_err *err);

/*
 * ---- control ----
 * Control run after a run that ended early: the base against a copy of itself, over one cell.
 *
 * It makes the same calls and needs as much memory, so if the run ends well with the copy but not with the target, the target is
 * the cause.
 */

/**
 * Run the control. Returns 1 if it ended well; 0 if not, with the failure class and the reason; -1 on error. Shape:
 * failure[16], detail[512].
 */
int control_run(struct bench *b, int cell, char failure[16], char detail[512], struct fw_err *err);

/*
 * ---- crash_location ----
 * Source position of a crash, from the lines that flopwatch-runner prints in a crash (runner/crash.c).
 *
 * A process with branch code prints them, so they are unverified: they explain a crash but do not determine the side at fault.
 */

enum { CRASH_LOCATION_FRAMES_MAX = 4, CRASH_LOCATION_SIZE = 320 };

struct crash_location {
	int n;
	struct {
		int module; /* position among the sides of the task */
		unsigned long long offset;
	} frame[CRASH_LOCATION_FRAMES_MAX]; /* innermost first */
};

/** Remove those lines from the last output of a process. */
void crash_location_parse(struct crash_location *p, struct output_tail *words);
/**
 * Write "sum_rows (kernel.c:42), called from run (kernel.c:80)", or as much as is known. eu-addr2line gives functions and lines,
 * addr2line only functions, from the unstripped module, in the sandbox. `side` [n]: indices in the bench of the task's
 * sides. Shape: out[CRASH_LOCATION_SIZE], "" if nothing is known.
 */
void crash_location_format(const struct bench *b, const int *side, int n, const struct crash_location *p, char *out);

/* ---- cudatool: Search for programs of NVIDIA's toolkit on this machine. ---- */

/**
 * Find "nvdisasm", "ncu": in PATH, else next to the nvcc in PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin. Shape:
 * path[size].
 */
bool cudatool_find(const char *program, char *path, size_t size);

/* ---- modulecode: All compiled functions of a module, sorted for the comparison of two builds, with their instructions. ---- */

struct modulecode_function {
	int sm;
	char *symbol; /* as in the file */
	char *steady; /* without components that change with the file: the same in both modules */
	char code_sha256[HASH_HEX];
	struct resources resources;
	size_t piece;
};

struct modulecode {
	size_t n, n_pieces;
	struct modulecode_function *function; /* by architecture and steady symbol */
	struct modulecode_piece *piece;
	const struct sandbox *sandbox;
};

/**
 * Read the module or cubin at `path`. The disassembler runs in `sandbox`; NULL: in none, for files of the user. Own:
 * modulecode_free; borrows `sandbox`. Err: unreadable file or content.
 */
int modulecode_open(const char *path, const struct sandbox *sandbox, struct modulecode **out, struct fw_err *err);
/** Accepts NULL. */
void modulecode_free(struct modulecode *m);

/** Compare architecture and steady symbol: below, equal, above 0. */
int modulecode_order(const struct modulecode_function *a, const struct modulecode_function *b);

/**
 * Return the instructions of a function; runs the disassembler `nvdisasm` once per piece. Own: borrowed from `m`. Err: -1 it
 * failed for that piece, or did not print this function.
 */
int modulecode_sass(struct modulecode *m, const struct modulecode_function *f, const char *nvdisasm, const struct sass **sass,
	const struct sass_function **function, struct fw_err *err);

/* ---- sassdiff: Comparison of the compiled functions of two modules. ---- */

enum sassdiff_verdict {
	SASSDIFF_SAME,        /* the code has the same hash */
	SASSDIFF_RENAMED,     /* the same instructions in the same order: registers, labels, scheduling or data differ */
	SASSDIFF_RESCHEDULED, /* the same instructions in another order */
	SASSDIFF_CHANGED,
	SASSDIFF_DIFFERS, /* the hash differs; instructions could not be compared */
	SASSDIFF_ADDED,
	SASSDIFF_REMOVED
};

struct sassdiff_pair {
	enum sassdiff_verdict verdict;
	const struct modulecode_function *base, *target; /* NULL none */
	/* if instructions were compared: */
	struct sassdelta delta;
	const struct sass *sass[2];
	const struct sass_function *code[2];
};

struct sassdiff {
	struct modulecode *base, *target;
	size_t n;
	struct sassdiff_pair *pair;
	char note[1100]; /* reason why instructions were not compared; "": they were, or need not be */
};

/**
 * Compare the modules or cubins in two files; `sandbox` as for modulecode_open. Own: sassdiff_fini, also after -1. Err:
 * unreadable file or content.
 */
int sassdiff_make(struct sassdiff *d, const char *base, const char *target, const struct sandbox *sandbox, struct fw_err *err);
/** Free the comparison. Accepts a zeroed struct. */
void sassdiff_fini(struct sassdiff *d);

/** Return "same code", "rescheduled", ... */
const char *sassdiff_verdict_name(enum sassdiff_verdict v);
/** Return whether both sides have all functions with the same code. */
bool sassdiff_is_same(const struct sassdiff *d);

/* ---- difference: Differences in the machine code of a cell's kernels, read from the sealed modules. ---- */

struct difference {
	bool is_there;
	struct sassdiff diff;
	char (*symbol[BUFFERED_SIDES])[HASH_HEX]; /* of function i of base and target: SHA-256 of its symbol */
	char note[BUFFERED_WHY_SIZE];             /* unreadable code, and the reason; "": none */
};

/**
 * Compare the modules of base and target; `note` lists unreadable code. Own: difference_close, also after -1. Err: out of
 * memory.
 */
int difference_open(struct difference *d, const struct bench *b, struct fw_err *err);
/** Free the comparison. Accepts a zeroed struct. */
void difference_close(struct difference *d);

/** Send a `code` record for each kernel that a side launches in this cell. Err: that of bench_emit_fn. */
int difference_send(struct difference *d, struct bench *b, const struct buffered_cell *c, struct fw_err *err);

/*
 * ---- hardware ----
 * Devices of a worker, and selection of one.
 *
 * The runner lists them, since only it may load CUDA. The worker adds the compilers of each kind, and may disable the sandbox if
 * the GPU does not work inside.
 */

/**
 * Fill `hello` (version, isolation, devices of `kind`: "auto" all real ones, "cuda" "cpu" "sim" those, or one "cuda:0" or
 * uuid). `tools_dir`: folder of the preferred compilers, "" the system's. With `want` auto the sandbox is disabled when a GPU
 * is visible only outside. Err: no runner, or no such device.
 */
int hardware_hello(struct sandbox *s, enum sandbox_want want, const char *kind, const char *tools_dir, struct msg_hello *hello,
	struct fw_err *err);
/**
 * Fill `hello` of a worker that only builds for a `kind` of device ("cuda" "cpu" "sim"), which this machine may not have. Err:
 * another kind.
 */
int hardware_builder(
	const struct sandbox *s, const char *kind, const char *tools_dir, struct msg_hello *hello, struct fw_err *err);
/** Find the device `name` (uuid, "cuda:0", "cuda"; "auto": the first). Returns NULL with `err`, which lists the devices. */
const struct msg_device *hardware_find(const struct msg_hello *hello, const char *name, struct fw_err *err);
/** Write where, and as which user, modules of this cache can be run manually. Unknown members stay empty. */
void hardware_location(const char *cache_dir, struct msg_location *out);

/* ---- health_check: Probes of the device: whether it works, and whether other processes use it. ---- */

/**
 * Run a small computation with a known result on the device and compare its time with itself; repeat it twice on failure.
 * Returns 1 if it passed; 0 if it failed, with the reason in `state`; -1 on error.
 */
int health_check_run(struct bench *b, struct msg_state *state, struct fw_err *err);
/**
 * Test the device after a process that may have damaged it. If it is broken, report a fault of class "lost", close every cell
 * and set b->lost, which prevents further runs.
 */
int health_check_after(struct bench *b, const struct runner_end *end, struct fw_err *err);
/** Report the device as broken if this XID of the driver means broken hardware. 0: none. */
int health_check_xid(struct bench *b, int xid, struct fw_err *err);

/** Return whether the device's state can be read. */
bool health_check_can_report(const struct bench *b);
/**
 * Return the memory errors since the last reading; 0 at the first. `errors`: the driver's count since its start. `is_read`: a
 * probe reported it; else nothing is known, and the next reading counts from the last one.
 */
int health_check_new_errors(struct bench *b, int errors, bool is_read);
/**
 * Read the device's state in a process that does not use the device; unknown without a driver. Call before and after the times
 * of other programs. `pass`: number of discarded times before. Memory errors count since the last reading.
 */
int health_check_device_check(struct bench *b, int pass, struct msg_device_check *out, struct fw_err *err);
/**
 * Wait until no other process computes on the device, with notes on the progress. Returns 1 if it is free; 0 if the limit wait_s
 * was exceeded and every open cell got a fault; -1 on error.
 */
int health_check_wait_idle(struct bench *b, struct fw_err *err);

/* ---- sassdiff_print: Differences of two modules: a table and hunks as text, or one JSON object. ---- */

/**
 * Write a note on the instruction of a side (0 base, 1 target) at that address. Shape: note[SASSDIFF_NOTE_SIZE]; remains "" if
 * there is none.
 */
enum { SASSDIFF_NOTE_SIZE = 64 };
typedef void sassdiff_note_fn(void *arg, int side, uint32_t address, char *note);
/**
 * Print the hunks of one pair whose instructions were compared, up to `lines_max` lines of code, each with its `note` (NULL: no
 * notes), and after a hunk the next few instructions with notes. Returns the number of lines in the hunks.
 */
size_t sassdiff_print_hunks(
	const struct sassdiff_pair *p, size_t lines_max, sassdiff_note_fn *note, void *note_arg, struct buf *out);

/** Read both files, append the text or JSON. Returns 1 if the code is the same, 0 if not, -1 with the reason. */
int sassdiff_show(const char *base, const char *target, bool as_json, struct buf *out, struct fw_err *err);

/* ---- hot: Warp stalls of a kernel, as notes on its machine code, and the instructions with the most stalls. ---- */

/**
 * Write a note such as "12.3 % gmma" for instructions with at least two of a thousand samples (a sassdiff_note_fn). `arg`:
 * struct hot_sides.
 */
struct hot_sides {
	const struct msg_stalls *of[2]; /* base, target; NULL none */
};

/* ---- image: The software of the worker's machine that can change times and builds: distribution and C library. ---- */

/**
 * Format "debian 12.5, glibc 2.36" from the text of /etc/os-release and, on Debian, /etc/debian_version ("" none). Shape:
 * out[size].
 */
void image_text(const char *os_release, const char *point_release, char *out, size_t size);
/** Format the same for this machine. */
void image_describe(char *out, size_t size);

/*
 * ---- interleave_list ----
 * A run of one interleaved program alone, which lists its cells, their order and properties, and the time of a call. Compares
 * nothing.
 */

/** A cell as its program reports it. Numbers 0 and texts "": not reported. */
struct interleave_reported {
	char key[CASE_KEY_SIZE];
	double ms;       /* shortest call except the first; the first if it is the only one */
	double first_ms; /* of the very first call */
	double flops, bytes, memory_bytes;
	char output[96], config[160], unprimed[96];
	struct reported_kernels kernels;                /* owned by the list */
	char failure[16], detail[INTERLEAVE_TEXT_SIZE]; /* why it has no times */
};

struct interleave_list {
	bool can_interleave; /* it sent hello: it can be interleaved */
	int n;
	struct interleave_reported *cell; /* cell[n] in the order in which the program reached them */
	bool is_cut; /* it ended in so many cells that it is not started again: cells after those are missing */
	/* internal */
	bool is_granted; /* the last answer was a turn */
	int deaths;      /* cells in whose turns it ended */
	int calls, untimed, late, capacity;
	double spent_ms;       /* in calls of this cell except the first, */
	bool is_slow_to_begin; /* which took so long that no warm call follows */
};

struct interleave_child;
struct command_failure;

void interleave_list_fini(struct interleave_list *l);
/** Take a line of the program and answer it at once (an interleave_line_fn). `list`: starts zeroed. Err: too many cells. */
int interleave_list_take(void *list, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err);
/**
 * Assign the crash of a listing program to the cell in whose turn it ended, or that it failed and then ended before another turn.
 * Returns whether there is such a cell. The program can then be started again with the same list, which omits the cell.
 */
bool interleave_list_end(struct interleave_list *l, const struct interleave_side *side, const struct command_failure *problem);
/** Convert the list to a reading, as if from an output file. Own: reading_fini. Err: more cells than a benchmark may have. */
int interleave_list_reading(const struct interleave_list *l, struct reading *out, struct fw_err *err);
/** Return the program's data of a cell; NULL none. */
const struct interleave_reported *interleave_list_find(const struct interleave_list *l, const char *key);

/** Reason why a process gave no times. */
struct command_failure {
	char failure[16]; /* "crash" "timeout" "abi" (its output cannot be read) */
	char detail[512];
	struct output_tail words; /* its last output; n 0: none */
};

/*
 * ---- interleave_parent ----
 * The process of a side that has imported its modules and does not use the device: it forks a child for each run.
 *
 * Between two runs it waits for the worker's next request; all other processes of its sandbox are ended. Base and target have
 * separate parents in separate sandboxes.
 */

enum { INTERLEAVE_CHILD_FDS = 4, INTERLEAVE_CHILD_PIDS = 1024, INTERLEAVE_PARENT_PIDS = 64 };

/** Zeroed: no process. */
struct interleave_parent {
	struct proc proc;
	int lines_fd, out_fd, err_fd;
	bool is_busy; /* its child's end is not reported yet */
	int n_pids;   /* its processes when it was ready: with its sandbox and shells */
	pid_t pid[INTERLEAVE_PARENT_PIDS];
};

/**
 * End all processes of the runs, and every parent that does not wait for its next request or has lost a process. Shape: parent[n].
 */
void interleave_parents_settle(struct interleave_parent *parent, int n);
/** End all parents. */
void interleave_parents_end(struct interleave_parent *parent, int n);

/*
 * ---- interleave_child ----
 * One program of an interleaved session or a check: its start, its lines, its end.
 *
 * The callback receives only lines that the protocol allows at that moment. Any other line ends the program, with the reason in
 * its problem.
 */

struct interleave_child;
/** Receive a line. Err: the program is ended, with the error as its problem. */
typedef int interleave_line_fn(void *arg, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err);

struct interleave_child {
	const struct msg_side *side;
	struct interleave_side protocol;
	bool runs;                      /* started, and not known to have ended */
	bool is_list;                   /* lists its cells, or uses no turns at all */
	struct command_failure problem; /* reason why it accepts no more answers; failure "": it does */
	int64_t since_ns;               /* start of the deadline: start of the program, or the last answer to it */
	interleave_line_fn *on_line;    /* NULL: not interleaved, so that the process gets no socket */
	void *arg;
	struct interleave_parent *parent;     /* may fork the run, and remain there after it; NULL: a fresh process */
	struct buf *printed;                  /* receives standard output; NULL: it belongs to the last words */
	char why_fresh[INTERLEAVE_TEXT_SIZE]; /* why it forks no runs; "": not reported */
	/* internal */
	struct proc proc;
	int lines_fd, out_fd, err_fd;
	struct lines lines;
	struct output_tail words;
	int n_pids;
	pid_t pid[INTERLEAVE_CHILD_PIDS];
	double cpu_s[INTERLEAVE_CHILD_PIDS]; /* of each when it began to rest; below 0: it had ended */
	long newest;                         /* procs_newest when they were listed */
	long threads_max;                    /* of all of them: with more, the other side could not start any; 0: no limit */
	bool has_crowded;                    /* it had more */
	int64_t next_check_ns;               /* at disk and processes */
	int n_parent_pids;                   /* processes of its parent */
	pid_t parent_pid[INTERLEAVE_PARENT_PIDS];
	bool has_ended; /* its parent reported its end */
	struct proc_exit how;
};

/*
 * ---- program_process ----
 * One process of a benchmark program: its run in the sandbox and its parsed output.
 *
 * Old outputs are removed first, so that all outputs are those of this process.
 */

struct command_clock {
	int process; /* number of earlier processes of its run */
	double mhz;  /* 0: unknown */
};

/**
 * Run side `s` once, as a whole process. Returns 1 if `out` has its output (own: reading_fini); 0 if the side is at fault,
 * see `problem`; -1 if cancelled, or on an error of the worker. Adds its wall time to the bench. `clock` (else NULL) receives the
 * device's clock.
 */
int command_run_side(struct bench *b, const struct build_context *c, const struct msg_side *s, struct command_clock *clock,
	struct reading *out, struct command_failure *problem, struct fw_err *err);

struct command;

/** The first process of each side. Shape: by side. */
struct command_check {
	int ran[INTERLEAVE_SIDES_MAX]; /* 1: `reading` has its output or list; 0: the side is at fault, see `problem` */
	struct reading reading[INTERLEAVE_SIDES_MAX]; /* own: reading_fini */
	struct command_failure problem[INTERLEAVE_SIDES_MAX];
	char why_fresh[INTERLEAVE_SIDES_MAX][INTERLEAVE_TEXT_SIZE]; /* why its runs cannot be forked; "": not reported */
};

/**
 * Run all sides once, at the same time: no time of these processes is used. A side that fails because the sides share the device
 * or the machine runs once more, alone, and so does one that ends in a turn, without the cell of that turn. A program that uses the interleave protocol fills its list in `m`, and may remain as the
 * parent of its runs. Adds the wall time to the bench. Err: -1 cancelled, or an error of the worker.
 */
int command_check(struct command *m, struct command_check *out, struct fw_err *err);

/*
 * ---- program_run ----
 * One run of benchmark programs: two rounds of processes, the second in reverse order, with device readings around each round on
 * a GPU.
 */

enum { COMMAND_BASE, COMMAND_TARGET, COMMAND_REFERENCE, COMMAND_SIDES_MAX };

/** Number of calls of a cell in whole processes, and of those excluded as warm-up. */
struct command_settled {
	int calls, cut;
};

struct command {
	struct bench *bench;
	const struct build_context *build;
	int n_sides; /* 3 with a reference commit that runs */
	const struct msg_side *side[COMMAND_SIDES_MAX];
	struct interleave_list list[COMMAND_SIDES_MAX]; /* each interleaved program's list from its first run */
	bool forks;                                     /* programs may fork their runs */
	struct interleave_parent parent[COMMAND_SIDES_MAX];
	struct command_settled *settled; /* settled[n_cells] while whole processes are measured, else NULL */
};

/**
 * Find the sides of a job, with a reference commit only if it was built. Own: borrows the job. Err: base or target is missing.
 */
int command_open(struct command *m, const struct msg_job *request, struct fw_err *err);
int command_report(struct command *m, int side, const char *step, struct fw_err *err);
/** Continue without the reference commit, with a note of the reason. Does nothing if it is excluded already. */
int command_drop_reference(struct command *m, const char *why, struct fw_err *err);
/** Report a side's process without times as its fault. A failed reference commit is excluded from then on. */
int command_failed(struct command *m, int side, const struct command_failure *problem, struct fw_err *err);
/**
 * Check whether a side's reading has a time for a cell. Returns 1 if so; 0 if not, after reporting a fault: the benchmark's
 * message, else that the cell was skipped, else that it is missing, with class `absent`. Err: -1 cancelled.
 */
int command_timed(struct command *m, int side, int cell, const struct reading *r, const char *absent, struct fw_err *err);
/**
 * Make one run over the `n` listed cells and judge them. A round that device readings invalidate is repeated, up to three times
 * and while budget is left; if no repetition is valid, the run is discarded. Err: -1 cancelled, or an error of the worker.
 */
int command_measure_run(struct command *m, const int *list, int n, int set, struct fw_err *err);

/*
 * ---- interleave ----
 * Measurement of interleaved programs: runs of sessions until each cell is decided.
 *
 * Their pairs are judged like those of modules; the worker's clock decides whether the reported times are trusted.
 */

/** Return whether base and target support the interleave protocol, according to their lists. */
bool command_can_interleave(const struct command *m);
/** Check a side's cell in its program's list. Returns 1 if it has times; 0 if not, after reporting a fault; -1 on error. */
int interleave_listed(struct command *m, int side, int cell, struct fw_err *err);
/**
 * Measure the open cells. Returns 1; 0, with a note, if base and target do not fit on the device together and must run one after
 * the other. Err: -1 cancelled, or an error of the worker.
 */
int interleave_measure(struct command *m, struct fw_err *err);

/*
 * ---- compiled ----
 * Caches of Triton and of the driver's compiler, which a side of a commit finds again in later jobs: code, without choices that
 * were measured. A side never gets those of another side or commit.
 */

/** Move the caches of the last job with this commit and side into the program's folder. Call it before the first run. */
void compiled_take(const struct build_context *c, const struct msg_side *s);
/** Move them from there to the worker's cache, if they are not too large. Call it when no process of the program is left. */
void compiled_store(const struct build_context *c, const struct msg_side *s);

/* ---- program: Start of a benchmark program: command line, sandbox, environment. ---- */

enum { PROGRAM_INTERLEAVE_FD = 3 /* descriptor of the interleave socket in the program */ };

/** Arguments of proc_spawn. `spec` points to the other members: do not move the struct. */
struct program {
	struct proc_spec spec;
	struct sandbox_argv words;
	struct sandbox_environment environment;
	char job[PATH_MAX + 160], cwd[PATH_MAX + 160 + MANIFEST_TEXT_SIZE], path[PATH_MAX + 32];
	char device[96], libraries[4096];
};

enum program_use { PROGRAM_WHOLE, PROGRAM_INTERLEAVED, PROGRAM_FORKED /* interleaved; may fork its runs */ };

/**
 * Prepare side `s` for a start. Unless `use` is PROGRAM_WHOLE, its environment names the socket, which the caller puts on
 * descriptor PROGRAM_INTERLEAVE_FD. Err: too many arguments.
 */
int program_prepare(struct program *p, const struct bench *b, const struct build_context *c, const struct msg_side *s,
	enum program_use use, struct fw_err *err);
/* The end of the message of a program that ran past its `timeout_s`. */
extern const char program_timeout_remedy[];

/**
 * Return whether the disk of the cache is full, and files of this side's program have filled it: it must be ended, since builds and
 * the daemon may need that disk. `text` receives what it did.
 */
bool program_fills_disk(const struct build_context *c, const struct msg_side *s, char text[256]);
/** Fill `t` with a failure of the program and its last output. Returns 0. */
int program_blame(struct command_failure *t, const struct output_tail *w, const char *failure, const char *what);
/** Evaluate the end of the program. Returns 1 if it ended well; 0 if it is at fault, see `t`; -1 if not. */
int program_end(const struct build_context *c, const struct msg_side *s, const struct proc_exit *how, const struct output_tail *w,
	struct command_failure *t, struct fw_err *err);

/* ---- interleave_child: functions. ---- */

/**
 * Start side `s`, as a child of its parent if that waits for a request. Err: an error of the worker or the machine; a program
 * that cannot start has a problem instead. Own: interleave_child_end.
 */
int interleave_child_start(struct interleave_child *c, const struct bench *b, const struct build_context *build,
	const struct msg_side *s, struct fw_err *err);
/** Fill in the descriptors to poll. Shape: fd[INTERLEAVE_CHILD_FDS]; -1: unused. */
void interleave_child_poll(const struct interleave_child *c, struct pollfd *fd);
/**
 * After that poll, read the program's lines and check whether it ended. Err: it was ended from outside, or the machine is out of
 * memory: no side is at fault.
 */
int interleave_child_attend(struct interleave_child *c, const struct pollfd *fd, const struct bench *b,
	const struct build_context *build, struct fw_err *err);
/** Answer with a turn (interleave_write_go), or with the end of the cell (interleave_child_next). */
void interleave_child_go(struct interleave_child *c, const struct interleave_go *go);
void interleave_child_next(struct interleave_child *c);
/** Record the problem that the program did not do `what` within `limit_s`. */
void interleave_child_late(struct interleave_child *c, const char *what, double limit_s);
/** Record the problem that the program has filled the disk of the cache, or has too many threads. Looks ten times a second. */
void interleave_child_watch(struct interleave_child *c, const struct build_context *build);
/**
 * List the program's processes, unless none was started on the machine since the last list. Too many threads, which keep the other
 * side from starting its own, become its problem.
 */
void interleave_child_count(struct interleave_child *c);
bool interleave_child_is_single(const struct interleave_child *c);
void interleave_child_pin(const struct interleave_child *c, const cpu_set_t *cores);
/** The program begins to rest: store the processor time of each of its processes. */
void interleave_child_rest(struct interleave_child *c);
/**
 * Return the program's processor time since it began to rest, `rest_s` ago. A process that it started meanwhile, or that ended,
 * counts with the whole time: what it used is not known. Units: s.
 */
double interleave_child_rested_s(struct interleave_child *c, double rest_s);
/** Return the time for which its threads were runnable and waited for a core; reads one file per thread. Units: s. */
double interleave_child_queued_s(const struct interleave_child *c);
/**
 * End the program and close all descriptors; a parent whose run had no problem remains as c->parent. Accepts one that was never
 * started.
 */
void interleave_child_end(struct interleave_child *c);

/*
 * ---- interleave_session ----
 * A session of concurrent programs over some cells, in which only one program at a time makes calls.
 *
 * A cell begins when all sides have reached it; then pairs A B B A B A A B follow. A program that dies, hangs or breaks the
 * protocol ends the session; earlier pairs remain valid.
 */

/** A sustained run in progress: every `stride`-th of its `n` calls is stored. */
struct interleave_sustained {
	int n, stride;
	struct sustained_calls *calls;
};

/** One cell of a session: parameters and results. Shape: by side. */
struct interleave_cell {
	int cell; /* of the bench */
	const char *key;
	int warm, pairs;
	double alone_ms;  /* estimate of a call */
	double budget_ms; /* beyond twice this time, on a busy machine, fewer pairs are enough */
	enum sustained_order sustained;
	/* results */
	bool reached, missed; /* all sides reached it; a side did not */
	int n, cut, untimed;  /* pairs; pairs repeated because of an interrupt, or of a missing time, */
	int late_pairs;       /* or because the device began a call before it was queued */
	int calls[INTERLEAVE_SIDES_MAX], late[INTERLEAVE_SIDES_MAX]; /* of all pairs; those that began early */
	int primed, host_bound;                                /* primed calls; those that took the host longer than the device */
	double spin_us[INTERLEAVE_SIDES_MAX];                  /* requested by each side; 0: its calls are not primed */
	struct reported_kernels kernels[INTERLEAVE_SIDES_MAX]; /* of the process; owned by the creator of the session */
	float ms[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX], mhz[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX],
		host_us[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX];
	struct interleave_turns seen[INTERLEAVE_SIDES_MAX];
	int n_sustained; /* calls of a side */
	struct sustained_calls sustained_calls[2];
	int failed_side; /* -1 none */
	char failure[16], detail[INTERLEAVE_TEXT_SIZE];
	int n_turns;                      /* of all pairs, repeated ones included: */
	double turns_s, calls_s;          /* their duration, and the reported time of their calls */
	double pairs_s, sustained_runs_s; /* session time of pairs and sustained runs */
};

struct interleave_session {
	struct bench *bench;
	const struct build_context *build;
	int n_sides;
	const struct msg_side *side[INTERLEAVE_SIDES_MAX];
	struct interleave_parent *parent; /* parent[INTERLEAVE_SIDES_MAX] fork the runs; NULL: fresh processes */
	int n;
	int first;     /* the side that begins */
	uint64_t seed; /* of the run */
	struct interleave_cell *cell;
	/* outcome */
	int failure_side, failure_cell; /* side that ended it, -1: none; cell of the bench at that turn, -1: none */
	struct command_failure problem;
	bool is_memory_full;   /* the sides do not fit on the device together */
	double all_s, start_s; /* its duration; until all programs reached its first cell */
	/* internal */
	int64_t began_ns, started_ns;
	struct interleave_child child[INTERLEAVE_SIDES_MAX];
	struct {
		int side, n, cut, late;
		int64_t done_ns;
		float ms, mhz, host_us; /* of the last call */
		double sum_ms, repeats, idle_us, all_s;
	} turn;
	struct interleave_sustained *sustained_run; /* receives calls; NULL none */
	struct interleave_cell *at;                 /* current cell; NULL none */
	bool is_pinned;
	struct interleave_wait wait[INTERLEAVE_SIDES_MAX]; /* of the turn of a side */
};

/** Return the side of turn k in a pair, in the same order as calls of modules (order.c). */
int interleave_session_side(const struct interleave_session *s, int pair, int k);
/** Run the session. Adds its wall time to the bench: `start` until all programs reached its first cell, then `program`. Err: cancelled, or an error of the worker or the machine. */
int interleave_session_run(struct interleave_session *s, struct fw_err *err);

/* ---- interleave_record: Checks of a session's results for a cell, and their records. ---- */

enum interleave_result {
	INTERLEAVE_ERROR = -1,
	INTERLEAVE_FAULTY,           /* the cell's fault was sent */
	INTERLEAVE_ACCEPTED,         /* its times are to be recorded */
	INTERLEAVE_REFERENCE_FAULTY, /* the pairs with the reference commit are unusable: pair base and target without it */
	INTERLEAVE_DISCARDED         /* first impossible times of a side: discarded, another session decides */
};
/**
 * Compare the reports of all sides with the worker's observations in this session and before. `why` receives the reason for a
 * rejection. Shape: evidence[side] of the cell, why[INTERLEAVE_TEXT_SIZE].
 */
enum interleave_result interleave_judge(struct command *m, const struct interleave_session *s, const struct interleave_cell *c,
	struct interleave_evidence *evidence, char *why, struct fw_err *err);
/**
 * Return the calls of a turn that become shorter with a gain: of primed calls only the timed one, since the warm-up call before it
 * may wait for the host.
 */
int interleave_shown_calls(const struct interleave_cell *c);
/**
 * Close a cell as `unsure` if over a fifth of a side's calls were late. Returns 1 if so, else 0. Shape: by side, of all runs.
 * Err: -1.
 */
int interleave_judge_late(struct command *m, int cell, const int *calls, const int *late, struct fw_err *err);
/**
 * Verify a gain after the last run, by turns of `calls` calls. If the worker's clock does not confirm it, it is neither an
 * improvement nor a fault: the cell is closed as `unsure` and reported. Err: -1.
 */
int interleave_judge_gain(struct command *m, int cell, const struct interleave_evidence *evidence, int calls, struct fw_err *err);
/** Judge the cell by its pairs and any sustained runs, and send them. Err: -1. */
int interleave_record(struct command *m, const struct interleave_session *s, const struct interleave_cell *c, int set,
	const struct msg_device_check *device_check, int redo, struct fw_err *err);
/** Send the programs' reports from their lists: first calls, memory, configurations, differing outputs, calls not primed. */
int interleave_report_lists(struct command *m, struct fw_err *err);

/** Kernels of one side in one cell over all timed processes. Starts zeroed. */
struct interleave_kernels {
	int processes, unlike;        /* that reported kernels; of these, those with others than the first */
	struct reported_kernels list; /* of the first; owned */
};

/** Add the kernels of a timed process. Own: takes over the list of `from`, and clears it. */
void interleave_kernels_add(struct interleave_kernels *k, struct reported_kernels *from);
/**
 * Send the kernels of a side of a cell: of its timed processes, else of the process that listed the cells; nothing if none
 * reported any. Err: -1.
 */
int interleave_report_kernels(struct command *m, int side, int cell, const struct interleave_kernels *k, struct fw_err *err);

/*
 * ---- c_form ----
 * Form of a C, C++ or CUDA source without comments and layout: sources with the same form have the same tokens, so every compiler
 * makes the same code of them. Pure.
 */

/**
 * Append the form of `text`: each run of blanks and comments becomes one blank, or one line end at the begin and end of a
 * directive. Returns false if there is none: the text depends on its line numbers, or is unclear (an open literal, a spliced
 * comment, control characters), or `out` is full.
 */
bool c_form(const char *text, size_t len, struct buf *out);

/*
 * ---- comments ----
 * Comparison of two built benchmark programs that differ only in comments or layout: their runs would execute the same code.
 *
 * Only contents of Python files, and of C sources of builds that made equal files, may differ. An interpreter in the sandbox
 * compares the syntax trees of Python files (comments.py); without one, programs are measured as usual. Docstrings must be equal,
 * since programs can read them. A program that reads the comments of its own sources is not detected.
 */

/**
 * Compare base and target after both builds and before any run. Returns 1, with a phrase that names the files in `text`, if they
 * differ only in comments or layout; 0 if not, and then `text` is "", or a note that only files that the builds wrote differ
 * besides. Err: -1 cancelled, no interpreter, or an error of the worker. Shape: text[size].
 */
int comments_compare(const struct build_context *c, const struct msg_side *base, const struct msg_side *target, char *text,
	size_t size, struct fw_err *err);

/* ---- kernels: `flopwatch-worker kernels`: the GPU kernels in a module. ---- */

/** Append a line for each kernel of the module or cubin at `path`, or one JSON object. Err: unreadable file or content. */
int kernels_list(const char *path, bool as_json, struct buf *out, struct fw_err *err);

/*
 * ---- measure ----
 * Sequential procedure: runs over the open cells, judged after each run, until every cell is decided or the budget is spent.
 *
 * Set 1 decides. A possible regression must be confirmed by set 2, runs with separate seeds. A decided cell with a wide interval,
 * or possibly with more slow calls than before, gets more runs while budget is left, and set 2 if slow calls increase the mean
 * too much. A doubtful result (the base is slower than alone, or the target too fast) is verified; if that reopens the cell, runs
 * continue.
 */

/** Time all open cells. Sends records and stores judgements in the bench's cells. Err: cancelled, no runner. */
int measure_run(struct bench *b, struct fw_err *err);

/** Choose the cells of the next run and its set. Returns their number, 0 if no run is needed. Pure. Shape: list[n_cells]. */
int measure_next(const struct bench *b, int *list, int *set);
/** Plan the next run, as measure_next: for pairs, then for sustained runs, then only for width. */
int measure_plan(const struct bench *b, int *list, int *set, bool *only_sustained);

/* ---- ncu: Counters by Nsight Compute around `flopwatch-runner --capture`, if the runner cannot read them itself. ---- */

/**
 * Count the cells with kernels but without counters, in processes base, target, target, base. A failure is added to the cell's
 * reasons. Err: cancelled, out of memory.
 */
int ncu_counters(struct buffered *k, struct fw_err *err);

/**
 * Profile one call of a side with ncu; `options` (NULL-terminated) select the counters and the output. Returns 1 if `output` has
 * its output; 0 if ncu is missing or took too long, see `why`. Own: buf_fini of `output`, always. Shape: why[size]. Err: cancelled,
 * out of memory.
 */
int ncu_run(struct buffered *k, struct buffered_cell *c, int side, const char *const *options, struct buf *output, char *why,
	size_t size, struct fw_err *err);

/* ---- ncu_stalls: Warp stalls by Nsight Compute, for cells that only ncu could count. ---- */

/**
 * Sample the cells that ncu counted on both sides, one run per side. A failure is added to their reasons. Err: cancelled, out of
 * memory.
 */
int ncu_stalls(struct buffered *k, struct fw_err *err);

/**
 * Parse ncu's output of one call: launch i is kernel i of `p`. Returns false if the launches differ or there is no table; see
 * `why`. Own: buffered_clear_stalls. Shape: why[size].
 */
bool ncu_stalls_take(
	const struct buffered_process *p, const char *text, size_t len, struct buffered_stalls *out, char *why, size_t size);

/*
 * ---- outside ----
 * Processes of the runner, as the worker sees them.
 *
 * Branch code can hide processes from its own process, but not from the worker. The list before a module is loaded is compared
 * with the list after a call, while the runner waits.
 */

enum { OUTSIDE_WHY_SIZE = 200, OUTSIDE_PIDS_MAX = 256 };

/** A process, and the seccomp state of its first thread. */
struct outside_process {
	pid_t pid;
	int filters, no_new_privs; /* -1: unknown */
};

/** Starts zeroed. Shape: process[n]. */
struct outside {
	int n;
	struct outside_process *process;
};

/** Record `root` and its descendants. Own: outside_end. */
void outside_begin(struct outside *o, pid_t root);
/**
 * Find new processes and system call filters. Returns the failure class, "escaped" or "slowed"; NULL: nothing new, or nothing was
 * recorded. Shape: why[OUTSIDE_WHY_SIZE].
 */
const char *outside_compare(const struct outside *o, pid_t root, char *why);
void outside_end(struct outside *o);

/*
 * ---- kernel_run ----
 * One process that times both sides call by call over some cells; its timings are stored, judged and sent.
 *
 * If the process dies, its current cell fails, after one check of each side alone to find the side at fault.
 */

/** Cells of a run and their options. Shape: cell[n], sustained[n]. */
struct run_order {
	int n, set;
	const int *cell;
	const enum sustained_order *sustained; /* NULL: no cell has sustained runs */
	bool only_sustained_runs;
};

/** Run the process. Returns 1 with results, 0 without, -1 on error. `why`: the last reason for no result. Shape: why[size]. */
int measure_one_run(struct bench *b, const struct run_order *o, char *why, size_t size, struct fw_err *err);

/**
 * Return whether a side other than the one that the runner names may have caused a failure: it names no side, or the base, which
 * passed its check.
 */
bool run_suspects(const struct msg_fault *f);
/**
 * Find the side that caused a failure of cell f->cell, by one check of each side alone, and send the fault. Returns 0, or -1 on
 * error.
 */
int run_blame(struct bench *b, const struct msg_fault *f, bool was_lost, struct fw_err *err);
/**
 * Handle a process of both sides that ended in the base's call, or by a signal from outside: the target shares the process and
 * may have raised the signal. The control run of the base against its copy decides (program_run.c). Only two such ends make a
 * fault, so that neither a base with rare crashes nor a single kill by another process accuses the target. Returns 0, or -1 on
 * error.
 */
int run_blame_end(struct bench *b, int cell, const struct runner_end *end, struct fw_err *err);

/**
 * Count a discarded run of this cell, for `reason`. After the third one the cell gets no more runs; if it has no valid run, it is
 * unmeasured.
 */
int run_void(struct bench *b, int cell, const char *reason, struct fw_err *err);

/*
 * ---- profile ----
 * Explanation of a difference between two builds: counters of every kernel on both sides, machine code, and effect of a
 * configuration. Changes no verdict.
 */

/**
 * Profile up to EVIDENCE_CELLS_MAX cells of the bench, whose base and target exist, and send for each its `kernel`, `code`,
 * `counterfactual` and finally `profile` records. `best`: EVIDENCE_RANGE for the best available path, or a lower one to start
 * with. Missing counters are no error: the `profile` record reports them. Err: cancelled, no runner.
 */
int profile_run(struct bench *b, const int *cell, int n, enum evidence_path best, struct fw_err *err);

/* ---- profile_alone: `flopwatch-worker profile`: differences of two modules of the command line, without a daemon. ---- */

/** Run like compare; `path`: the best path of counting to try. Returns the exit status: 0 if printed, -1 with `err`. */
int profile_alone_run(const struct two_modules_options *o, enum evidence_path path, struct fw_err *err);

/**
 * Run `flopwatch-worker probe --counters`: print whether the device's counters can be read inside the sandbox, as one `profile`
 * line. Returns as above.
 */
int profile_alone_probe(const struct two_modules_options *o, struct fw_err *err);

/* ---- profile_report: Text of `flopwatch-worker profile`: kernels, counters of both sides, machine code. ---- */

struct profile_report {
	int n_kernels, n_codes;
	struct msg_kernel *kernel; /* with their values */
	struct msg_code *code;
	bool has_swap;
	struct msg_counterfactual swap;
	struct msg_profile end;
};

/* ---- report: A finished bench as text, or as the JSON of the API's comparisons. ---- */

/** Return the comparison's verdict: the first in verdict order among its cells. */
enum verdict report_verdict(const struct bench *b);
/** Print tables (dense, block-sparse), a summary line, and warnings for cells beyond their threshold or without result. */
int report_text(const struct bench *b, const char *suite, FILE *out);
int report_json(const struct bench *b, const char *suite, FILE *out);

/* ---- report_work: Output of `compare` other than times: bytes a second, memory, and work skipped by masks. ---- */

/** Print tables of the cells with reports of either side, with separate columns for claims and measurements. */
void report_work_text(const struct bench *b, struct buf *out);
/** Write "work" and "over_baseline" of a cell as members of the open object. */
void report_work_json(const struct bench *b, int cell, struct jsonw *j);

/* ---- roofline: Lower bound of a call's time on a device. ---- */

/**
 * Return the maximum of useful FLOPs over peak and bytes over bandwidth, less a tenth for the uncertainty of the device's data.
 * Bytes that may remain in the last-level cache do not count. Units: ms; 0: unknown.
 */
double roofline_floor_ms(const struct msg_device *d, const struct cell *c);

/*
 * ---- serve ----
 * One job over standard input and output: hello, job, trees, builds, checks, runs, done.
 *
 * When serve_run returns, for any reason (done, cancel, end of input, an invalid line), all started processes have ended and the
 * work folder is removed.
 */

struct serve_options {
	const char *cache;  /* NULL: the default path */
	const char *device; /* "auto" "cuda" "cpu" "sim" */
	enum sandbox_want sandbox;
	bool build_only;       /* a job ends with its builds; no device is used */
	int build_jobs;        /* concurrent builds in this cache; at least 1 */
	const char *tools_dir; /* folder of compilers that precede the system's; "" none */
	int n_shown;           /* folders that branch code may read */
	const char *shown[READONLY_MAX];
};

/** Serve one job. Returns 0 when it was done or cancelled, -1 with `err` otherwise. */
int serve_run(const struct serve_options *o, int in, int out, struct fw_err *err);
int serve_probe(const struct serve_options *o, int out, struct fw_err *err);

/*
 * ---- sustain ----
 * Selection of the cells with sustained runs.
 *
 * The sentinel of each class (protocol/sentinel.c) has a sustained run of each side in the first run. If in two runs the sides of a
 * sentinel stabilise at different clocks or use different energy, all cells of the direction have sustained runs, until their
 * sustained change is judged. So does any cell whose sides' clocks differ in pairs by more than chance and by enough to hide a
 * regression.
 */

/**
 * Store a `cell` record of series sustained, judge the cell again, and determine whether its direction needs sustained runs.
 * Returns 1 if stored, 0 if discarded.
 */
int sustain_add(struct bench *b, const struct msg_cell *m, struct fw_err *err);
/**
 * Return whether cell `cell` has sustained runs in the next run of `set`, and which side's is the first: each side's in turn,
 * whichever set a run is of.
 */
enum sustained_order sustain_order(const struct bench *b, int cell, int set);
/** Return the maximum time of the sustained runs on an undisturbed device. Units: s. Shape: sustained[n]; NULL: none. */
double sustain_s(const enum sustained_order *sustained, int n);
/**
 * Choose the cells and the set of a run with only sustained runs. Returns their number; 0: none needed. Pure. Shape:
 * list[n_cells].
 */
int sustain_next(const struct bench *b, int *list, int *set);

/* ---- swap: The counterfactual: the target timed with the configuration that its base chose. ---- */

/**
 * For cells whose sides chose different configurations, time base, target, and the target with the base's configuration,
 * interleaved, in one process without profiling tools. If the target rejects that configuration or runs another one, or if the
 * device is disturbed, a note gives the reason, and the cell has no counterfactual. Err: cancelled, no runner.
 */
int swap_run(struct buffered *k, struct fw_err *err);

/* ---- resources_text: Multiprocessor resources of a kernel, as text and JSON. ---- */

/** Append "13 registers, 4096 B shared, 0 B stack, 540 B constants, 2560 B code, at most 256 threads, 2 CTAs/SM (threads)". */
void resources_text(struct buf *out, int sm, const struct resources *r);
/** Write keys and values into the open object; null if the file has no value. */
void resources_json(struct jsonw *j, int sm, const struct resources *r);

/* ---- trees: Sources of a job's sides: requested if a build needs them, and stored as archives until the build is done. ---- */

/**
 * Request each input that is needed by a build that is not cached, once, and wait for it. `*folder` has the archives; -1: none
 * was requested. Err: the daemon disconnected, or sent another message; a tree is too large. Own: close `*folder`, also on -1.
 */
int trees_fetch(struct peer *peer, const struct cache *cache, const struct build_context *c, const struct msg_job *request,
	int *folder, struct fw_err *err);
/** Open the archive of `oid` (a build_tree_fn); `arg` points to the folder's descriptor. Own: close. Err: not received. */
int trees_open(void *arg, const char *oid, struct fw_err *err);

/* ---- trial_build: Test of builds on this machine: builds a program of a few lines and runs it in the sandbox. ---- */

/** Build a module, load it, and print one line of JSON. Leaves no files. Err: the failed step and its output. */
int trial_build(enum sandbox_want want, struct fw_err *err);

#endif
