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
 * `serve` fills it from a job and sends the records to the daemon; `compare` fills it from its arguments and prints a table.
 * Checks, runs and the sequential procedure depend only on this state.
 */

/** Receive one record. Own: `m` is borrowed. Err: -1 ends the job. */
typedef int bench_emit_fn(void *arg, const struct msg *m, struct fw_err *err);

struct bench_side {
	enum role role;
	char provider[PEERS_PROVIDER_SIZE]; /* "": the module's default */
	char config[160];                   /* requested by the user for every cell; "": by the cell, or the provider chooses */
	char unfit[160];                    /* terms of a requested configuration that the last note reported as ignored */
	char sha256[HASH_HEX];              /* of the module */
	char file[PATH_MAX];                /* file name for messages */
	int fd;                             /* sealed module; closed by bench_fini */
	struct kernelcode *code;            /* of that module, read on first use; freed by bench_fini */
	bool code_read;                     /* reading was tried; `code` is NULL if it failed */
	bool dropped;                       /* neither base nor target, and it failed: excluded from runs */
};

/** Timings of one cell in one run. */
struct bench_run {
	int run, set, n; /* n: pairs */
	bool clocks;     /* the clocks are known */
	float *values;   /* base_ms[n], target_ms[n], base_mhz[n], target_mhz[n]; freed by bench_fini */
};

struct bench_failure {
	enum role role;
	char failure[16]; /* "": none */
	char detail[512];
};

/** A configuration for a side's provider in one cell: found by its search in the check, or requested by the user or the suite. */
struct bench_pin {
	int side, cell;
	char config[160]; /* "": the provider's own choice */
	bool is_request;  /* requested by the user or the suite, until a process has reported the configuration that it ran */
};

enum { BENCH_NOTES_MAX = 32 };

/** Origin of a failure. BENCH_OUTSIDE: the worker or the device. */
enum bench_origin { BENCH_BASE, BENCH_TARGET, BENCH_OUTSIDE, BENCH_ORIGINS };

/** Time of a call while no other module is loaded. */
struct bench_alone {
	double ms, mhz; /* 0: unknown; mhz: clock during the call */
};

struct bench_cell {
	bool open;   /* both sides passed their checks, and no failure followed: the cell may be timed */
	bool judged; /* `found` is valid */
	struct bench_failure problem[BENCH_ORIGINS];
	bool target_passed; /* the target passed its check */
	/* results of the checks of base and target */
	char check_inputs[BENCH_OUTSIDE][HASH_HEX]; /* hashes of the inputs; runs must report that of the base; "": unknown */
	struct bench_alone alone[BENCH_OUTSIDE];
	char launches[BENCH_OUTSIDE][HASH_HEX]; /* hashes of the launched kernels (launches_add) */
	struct msg_work work[BENCH_OUTSIDE];    /* work records, without the tried configurations; provider "": none */
	int n_runs;
	struct bench_run run[STATS_RUNS_MAX]; /* run[n_runs], of the deciding series */
	int n_sustained_runs;
	struct bench_run sustained_run[STATS_RUNS_MAX]; /* series sustained */
	int n_void_sustained_runs;                      /* discarded because of device readings */
	int side_balance; /* sustained runs in which the target used more energy or was slower, minus those of the base */
	struct cell_finding found; /* current judgement */
	int discarded;             /* runs without a result because of device readings, or of a failure of neither side */
	int voided;                /* those among them that device readings invalidated */
	int ends;                  /* early ends of the process in runs whose control run (control) ended well */
	int kills;                 /* kills of the process in the target's calls, by a signal from outside */
};

struct bench {
	struct peer *peer;
	const struct sandbox *sandbox;
	const struct cache *cache;               /* NULL: checks are not cached */
	void (*oom_kills)(struct oomkills *out); /* a test's replacement of oomkills_read; NULL: none */
	bench_emit_fn *emit;                     /* receives all records */
	void *emit_arg;
	char runner[PATH_MAX]; /* path of flopwatch-runner */
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
	bool selfcheck;                   /* time equal modules, too */
	sentinel_set sentinels_elsewhere; /* classes whose sentinel another worker measures */
	sentinel_set requested;           /* classes whose cells have sustained runs whatever their pairs show */
	sentinel_set sustained_runs;      /* classes with sustained runs: those requested, and those whose power draw differs */
	bool set_begun[3];                /* by set: it has a run */
	bool over;                        /* no further run follows: judge the cells finally */
	bool lost;                        /* the device is broken: no further runs */
	int n_noted;                      /* notes sent; each is sent once */
	char noted[BENCH_NOTES_MAX][64];  /* noted[n_noted]: their beginnings */
	bool is_ecc_known;                /* ecc was read */
	int ecc;                          /* memory errors at the last reading; see is_ecc_known */
	int idle_checks;                  /* checks for other processes on the device, so far */
	int runs;                         /* so far */
	double gpu_s;                     /* time during which the device was held */
	double step_s[DEVICE_STEPS];      /* components of gpu_s; timed calls count as `between` or `program` until bench_steps */
	double calls_s;                   /* sum of all times that were sent */
	double started_s;                 /* monotonic */
	int64_t timed_until_ns;           /* monotonic: end of the last runner process if it timed calls, else 0 */
};

/** Initialise without sides. Own: borrows `cells`; bench_fini. Err: there is no runner program. */
int bench_init(struct bench *b, const struct cell *cells, int n_cells, struct fw_err *err);
/** Free the state and close the modules. Accepts a zeroed struct. */
void bench_fini(struct bench *b);
/**
 * Add a side with the sealed module `fd`; messages name it `file`. Own: takes over `fd`, also on failure. Err: too many sides.
 */
int bench_add_side(
	struct bench *b, enum role role, const char *provider, const char *file, int fd, const char *sha256, struct fw_err *err);
/** Set the requested configuration of the last side in every cell; "": the one that each cell requests, if any. */
void bench_request_config(struct bench *b, const char *config);
/** Find base and target after all sides were added. Err: a side is missing. */
int bench_ready(struct bench *b, struct fw_err *err);
/** Return whether there is nothing to time: base and target are the same module with the same provider, and not a selfcheck. */
bool bench_identical(const struct bench *b);

/** Store the configuration that a provider found by searching, which replaces an earlier one; later processes use it. */
void bench_pin(struct bench *b, int side, int cell, const char *config);

/**
 * Handle the configuration that a process reports to have run: if it was requested or searched for, later processes use it. A
 * note names requested terms that the provider ignored, once for each side and each set of terms. Err: that of bench_emit_fn.
 */
int bench_take_config(struct bench *b, int side, int cell, const char *config, bool is_searched, struct fw_err *err);

/** Return the configuration for a side's provider in a cell; "": it chooses. Own: valid until the next bench_pin. */
const char *bench_pinned(const struct bench *b, int side, int cell);

/**
 * Find the hash of a kernel's code in the sealed module; "" if it cannot be read. A hash that the runner reports is never used,
 * because branch code could forge it.
 */
void bench_code(struct bench_side *s, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

/** Pass a record to b->emit, and count its times. */
int bench_send(struct bench *b, const struct msg *m, struct fw_err *err);
/** Add time during which the device was held. Units: s. */
void bench_add_held_time(struct bench *b, enum device_step step, double seconds);
/** Write the times of the steps for which the device was held so far. Units: s. Shape: out[DEVICE_STEPS]. */
void bench_steps(const struct bench *b, double *out);
/**
 * Record a failure of a cell, close the cell, and send a fault record. Cell -1: all cells; those with times then have no failure
 * recorded if neither side caused it.
 */
int bench_fault(struct bench *b, int cell, enum role role, const char *failure, struct fw_err *err, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
/** Send a note. Cell -1: no single cell. */
int bench_send_note(struct bench *b, int cell, enum role role, struct fw_err *err, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/** Send the `run` record of run b->runs with the cells that it times. Shape: list[n]. */
int bench_announce(struct bench *b, const int *list, int n, int set, uint64_t seed, struct fw_err *err);
/** Record a failure as bench_fault, without sending it, because the runner's record was forwarded. */
void bench_note(struct bench *b, int cell, enum role role, const char *failure, const char *detail);

/** Return the counter `rotation` of the current run for order_first: a random one at least 1, incremented by each run. */
int bench_rotation(const struct bench *b);
/** Return the position of a role among the sides of a record; -1: none. */
int bench_role(const struct msg_cell *m, enum role role);
/** Return whether the record is of the series that decides its cell. */
bool bench_decides(const struct bench *b, const struct msg_cell *m);
/** Append the timings of a record to a list, or replace those of the same run. Shape: list[STATS_RUNS_MAX]. Err: ERR_PROTOCOL. */
int bench_store_run(struct bench_run *list, int *n, const struct msg_cell *m, struct fw_err *err);
/** Store the timings of a `cell` record of the deciding series. Returns 1; 0 if device readings invalidate them; -1 on error. */
int bench_add(struct bench *b, const struct msg_cell *m, struct fw_err *err);
/** Judge a cell by its runs so far. */
void bench_judge(struct bench *b, int cell);
/** Judge all cells finally, as the daemon does: no further run follows. */
void bench_end(struct bench *b);
/** Continue after bench_end: judge all cells again, with runs that follow. */
void bench_continue(struct bench *b);
/**
 * Whether the verdict of a cell comes from its times. That is also so if the cell gets no further run because the device's readings
 * discarded too many: a module could cause such readings, so its times need the same verification.
 */
bool bench_is_timed(const struct bench *b, int cell);
/** Return whether set 1 is so noisy that all allowed runs would leave the cell undecided. `*se`: expected standard error. */
bool bench_is_hopeless(const struct bench *b, int cell, double *se);
/** Return the failure that prevents a cell's verdict; NULL: none. A failure of both sides counts as the base's. */
const struct bench_failure *bench_failure(const struct bench *b, int cell);
/** Return the verdict of a cell; a failure takes precedence over measurements. */
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
 * cache stores results by module, provider, cell, device and runner. Crashes and timeouts are not cached, because the machine may
 * have caused them.
 */

/** Check all sides in all cells, send the records, and close the cells that fail. Err: cancelled, no runner. */
int acceptance_run(struct bench *b, struct fw_err *err);

/**
 * Check one side in one cell without the cache and without sending records, to find out whether it fails alone. Returns 1 if it
 * failed, with class and reason in `failure` and `detail`; 0 if not; -1 on error.
 */
int acceptance_solo(struct bench *b, int side, int cell, char failure[16], char detail[512], struct fw_err *err);

/*
 * ---- alone ----
 * Comparison of both sides' times alone with their times in pairs.
 *
 * A target can slow the base down in their common process, by a thread, a signal or another process, and so appear faster or hide
 * a regression. The check of each side times a call while no other module is loaded. If the base is much slower in pairs than
 * these times explain, both sides run alone, in the order A B B A, in the current state of the machine. If all these rounds
 * contradict the pairs by more than the errors of both, the cell is rejected ("slowed"). On a busy machine the errors are large,
 * so the cell is not rejected.
 */

/** ALONE_MORE: more rounds are needed. */
enum alone_result { ALONE_SAME, ALONE_MORE, ALONE_SLOWED };
enum { ALONE_ROUNDS = 6 }; /* rounds that a rejection needs */

/** Times of one round of the alternation: each side alone, and both in pairs. Shape: by enum bench_origin. */
struct alone_round {
	struct bench_alone alone[BENCH_OUTSIDE], paired[BENCH_OUTSIDE];
};

/**
 * Return the excess: ln of (target alone / base alone) / (target / base in pairs). Above 0: pairs show the target too fast. If
 * all clocks are known, the result is the smaller of that by time and that by cycles: a clock that differs between processes
 * changes only the former.
 */
double alone_excess(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/** Return the excess in one round; if clocks are unknown, at most the excess over the pairs of that round. Pure. */
double alone_round_excess(const struct alone_round *t, const struct estimate *pairs);
/** Return whether the times alone in both checks are a reason for runs alone. Pure. */
bool alone_suspects(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs);
/**
 * Classify the excesses of `n` rounds. `se`: standard error of the pairs. One round without excess gives ALONE_SAME. Shape:
 * round[n].
 */
enum alone_result alone_judge(const double *round, int n, double se);

/**
 * Test every timed cell. A slowed base is a fault of the target. Does nothing on sim or for equal modules. Err: cancelled, no
 * runner.
 */
int alone_run(struct bench *b, struct fw_err *err);

/*
 * ---- audit_confirms ----
 * Verification of a gain by batches of calls that are timed with two clocks: the device's and the worker's. Pure.
 *
 * A short and a long batch of one side give a slope by each clock: the time of one additional call. It includes the copy of the
 * inputs and the launch, about 20 us on a GPU, which pairs exclude. Therefore the base's excess over its time in pairs is
 * subtracted from both sides; otherwise the gain of a short call would disappear. A gain is confirmed if the medians of one
 * audit's slopes confirm it. It is contradicted if the slopes of all audits together contradict it by AUDIT_ERRORS standard
 * errors: a busy machine disturbs batches at random, so a single median is weak evidence.
 */

enum {
	AUDIT_PAIRS = 5, /* short and long batches of a side in one audit */
	AUDIT_TRIES = 6  /* audits of a cell */
};

#define AUDIT_CLOCK_SHARE 0.8   /* minimum ratio of the device's time to the worker's */
#define AUDIT_GAIN_SHARE  0.5   /* minimum share of a gain, as a log ratio, by the worker's clock */
#define AUDIT_SLACK_MS    0.005 /* host time between launches of a batch, for each call */
#define AUDIT_OVERHEAD_MS 0.1   /* maximum time of copy and launch, for each call */
#define AUDIT_ERRORS      3.0   /* standard errors */

/** One batch: number of calls, its time by the worker's clock (wall) and by the device's clock. */
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
	int n[2]; /* batches of each side so far */
	struct audit_batch batch[2][AUDIT_PAIRS][2];
};

/** Slopes of all audits of one cell. Shape: [base, target][n]. Units: ms of a call. */
struct audit_pool {
	int n;
	double wall[2][AUDIT_TRIES * AUDIT_PAIRS], device[2][AUDIT_TRIES * AUDIT_PAIRS];
};

/** Return whether one audit confirms a gain; if not, `why` receives the reason. Shape: why[size]. */
bool audit_confirms(const struct audit *a, const struct audit_claim *claim, char *why, size_t size);

/** Add the slopes of an audit; an incomplete audit adds none. */
void audit_pool_add(struct audit_pool *pool, const struct audit *a);

/** Return whether the slopes contradict the gain. An empty pool does: a target that lets no audit end is rejected. */
bool audit_contradicts(const struct audit_pool *pool, const struct audit_claim *claim);

/*
 * ---- audit ----
 * Repeated measurement of large gains by a clock outside the runner process.
 *
 * Branch code in the runner can forge the clock there, but not the worker's clock. For each go byte the runner makes a batch of K
 * or 3K calls of one side; the worker measures the time from go to done. A busy machine can fail an audit by chance, while a
 * forged clock always fails, so there are up to AUDIT_TRIES audits, each after the first follows another run. These runs count
 * like all others, so a gain that existed only while the machine was idle disappears.
 */

/** Improvements from this size on are audited. */
#define AUDIT_CHANGE_PCT 20.0

/**
 * Audit every cell with a large improvement. A contradicted gain becomes a fault of the target with class "clock"; a gain that is
 * neither confirmed nor contradicted becomes a fault of no side with class "unsure". Does nothing on sim. Err: cancelled, no
 * runner.
 */
int audit_run(struct bench *b, struct fw_err *err);

/* ---- buffered: Records of a profile's processes, stored until the worker knows which of them to send. ---- */

enum { BUFFERED_SIDES = 2, BUFFERED_WHY_SIZE = 400 };

/** Records of one process for one cell. */
struct buffered_process {
	bool is_there;   /* its kernels are known */
	bool is_counted; /* so are their counters */
	bool is_timed;   /* so are their times, without counters */
	int passes;      /* replays of a call for the counters */
	int n;
	struct msg_kernel *kernel; /* kernel[n], with their values */
	char config[160], tool[64];
};

/** Warp stalls of one side: a record for each sampled kernel. */
struct buffered_stalls {
	int n;
	struct msg_stalls *kernel; /* kernel[n], with their lines */
};

/** Records of one cell. */
struct buffered_cell {
	int cell; /* index in the bench */
	struct buffered_process process[BUFFERED_SIDES][EVIDENCE_REPEATS];
	char why[BUFFERED_WHY_SIZE]; /* reasons why counters are unknown; "": they are known */
	bool is_hung;                /* the kernels do not end while they are counted */
	struct buffered_stalls stalls[BUFFERED_SIDES];
	char stalls_why[BUFFERED_WHY_SIZE]; /* reasons why stalls are unknown; "": they are known, or were not requested */
	double gpu_s;                       /* time for which the device was held */
	struct tried tried[BUFFERED_SIDES]; /* from the process that searched; freed by buffered_free */
	bool has_swap;
	struct msg_counterfactual swap;
};

struct buffered {
	struct bench *bench;
	int n;
	struct buffered_cell cell[EVIDENCE_CELLS_MAX];
};

/** Prepare for `n` cells of the bench. Own: buffered_free, which also frees the added records. */
void buffered_init(struct buffered *k, struct bench *b, const int *cell, int n);
void buffered_free(struct buffered *k);

/** Return the records of a cell of the bench; NULL: it is not profiled. */
struct buffered_cell *buffered_find(struct buffered *k, int cell);
/** Add a `kernel` record of a process. Own: takes over the kernel's values. Err: more than EVIDENCE_KERNELS_MAX. */
int buffered_kernel(struct buffered_process *p, struct msg_kernel *kernel, struct fw_err *err);
/** Copy the kernels of `from` without their values, as those of process `repeat`. */
void buffered_copy(struct buffered_process *to, const struct buffered_process *from, int repeat);
/** Add the stalls of one kernel. Own: takes over the lines. Err: more than EVIDENCE_KERNELS_MAX. */
int buffered_add_stalls(struct buffered_stalls *s, struct msg_stalls *stalls, struct fw_err *err);
/** Free the stalls of one side. */
void buffered_clear_stalls(struct buffered_stalls *s);
/** Free the records of one process. */
void buffered_clear(struct buffered_process *p);
/** Append a reason to c->why, unless it has that reason already. */
void buffered_why(struct buffered_cell *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Return whether all four processes counted the cell. */
bool buffered_is_counted(const struct buffered_cell *c);
/** Return whether all four processes timed its kernels. */
bool buffered_is_timed(const struct buffered_cell *c);

/*
 * ---- runner_child ----
 * One flopwatch-runner process: started in its sandbox with the sealed modules, read record by record, ended at its deadline, and
 * classified by its last step if it dies.
 */

enum { RUNNER_STOP = 2 };

/**
 * Receive one record (at, check, work, node, cell, kernel, profile or fault), which the function may change. Returns 0;
 * RUNNER_STOP to end the process, which is not a failure (`stopped`). Own: `m` is borrowed. Err: -1 ends the process.
 */
typedef int runner_record_fn(void *arg, struct msg *m, struct fw_err *err);

struct runner_task {
	enum task_mode mode; /* TASK_IDLE and later ones have neither sides nor cells */
	int run, set;
	int pass; /* as in msg_task */
	uint64_t seed;
	int rotation; /* mode time: determines the side that begins (bench_rotation); 0: random */
	int n_sides;
	int side[PROTOCOL_SIDES_MAX]; /* positions in the bench */
	int n_cells;
	const int *cell; /* positions in the bench */
	bool phases, calls, only_sustained_runs;
	const enum sustained_order *sustained; /* sustained[n_cells]; NULL: no cell has sustained runs */
	double deadline_s;                     /* after the start */
	int repeat;                            /* mode profile: number of the process within its role */
	bool counters;                         /* mode profile: read counters */
	bool samples;     /* mode profile: only sample warp stalls, which needs the same permissions as counters */
	int go_fd;        /* mode audit: descriptor from which the runner reads go bytes */
	int copy_fd;      /* mode time: copy of the base's module, which replaces the target; 0: none */
	bool takes_kills; /* report a kill by another process in `killed`, instead of as an error */
	runner_record_fn *record;
	void *arg;
};

/** End of a runner process. `failure` is "" if it exited with 0; it may still have sent faults, or too few records. */
struct runner_end {
	enum task_mode mode; /* of the task */
	char failure[16];    /* "crash" "timeout" "protocol" "device" */
	enum role role;      /* from the last `at` record; ROLE_WORKER: there was none */
	int cell;            /* from the last `at` record; -1: none */
	char detail[512];
	double wall_s;
	int records;  /* number of received records */
	bool lost;    /* the device's context failed */
	bool stopped; /* the receiver of the records ended it */
	bool killed;  /* ended by SIGKILL or SIGTERM from outside, but not by the out-of-memory killer */
};

/**
 * Run one process. Adds its wall time to the bench. Err: -1 if cancelled, if it cannot start, if the machine ended it (out of
 * memory, a kill unless the task takes kills), or if the callback failed.
 */
int runner_child_run(struct bench *b, const struct runner_task *t, struct runner_end *end, struct fw_err *err);

/** Classify a process that ended before it sent all records as a crash, unless it already has a failure. */
void runner_end_early(struct runner_end *end);

/**
 * Run a tool of this machine that starts the runner. `argv` is its command line up to the runner, `runner_argv` the runner's
 * options, both NULL-terminated. The runner opens module k of the task as /proc/self/fd/(10 + k). `out` receives stdout and
 * stderr, `how` the exit. Adds the wall time to the bench. Err: -1 if cancelled or if it cannot start.
 */
int runner_child_under(struct bench *b, const struct runner_task *t, const char *const *argv, const char *const *runner_argv,
	struct buf *out, struct proc_exit *how, struct fw_err *err);

/**
 * Start a runner that runs concurrently with another program. Uses only mode, run, pass and seed of the task. The runner loads no
 * branch code, so its records are not signed; they arrive on the non-blocking `*fd`. Own: proc_end, close.
 */
int runner_child_start_concurrent(struct bench *b, const struct runner_task *t, struct proc *child, int *fd, struct fw_err *err);

/**
 * List the devices that the runner finds. `isolated`: inside the sandbox, as for jobs. Returns their number, or -1. Shape:
 * out[max].
 */
int runner_child_devices(const struct sandbox *s, bool isolated, struct msg_device *out, int max, struct fw_err *err);

/*
 * ---- clocks ----
 * Clock of the device while a benchmark program runs, read from the driver by a separate process.
 *
 * It is the mean clock of a process, not that of single calls, and explains differences between processes that ran at different
 * clocks. Without a driver the clock is unknown.
 */

struct clocks {
	struct proc runner;
	int fd; /* -1: no sampling */
	struct lines lines;
	bool has_begun; /* the first sample has arrived */
	double sum_mhz;
	int n;
};

/**
 * Start sampling, and wait for the first sample. `process`: number of earlier processes of this run. Own: clocks_end. Err:
 * cancelled.
 */
int clocks_begin(struct clocks *c, struct bench *b, int process, struct fw_err *err);
/** Read the samples so far; call several times a second. `arg`: struct clocks. Returns 0. */
int clocks_take(void *arg, struct fw_err *err);
/** Stop sampling. Returns the mean clock under load; 0: unknown. Units: MHz. */
double clocks_end(struct clocks *c);

/* ---- collect: The runner processes of a profile. Each counts the kernels of one side in all cells. ---- */

/** Return the deadline of one process, also if its kernels do not end: 30 s, or that of a run if it is shorter. Units: s. */
double collect_deadline_s(const struct bench *b);

/**
 * Run processes base, target, target, base over the cells. A cell that one process cannot count gets the reason, and the next
 * processes skip it. Err: cancelled, no runner.
 */
int collect_counters(struct buffered *k, struct fw_err *err);
/** Run process `repeat` of each side without counters, for cells whose counters and kernels are still unknown. Err: as above. */
int collect_kernels(struct buffered *k, int repeat, struct fw_err *err);
/**
 * Sample warp stalls by instruction, in one process of each side, for the cells that the runner counted on both sides. A cell
 * without samples gets the reason. Err: cancelled, no runner.
 */
int collect_stalls(struct buffered *k, struct fw_err *err);

/*
 * ---- command ----
 * Comparison of two benchmark programs.
 *
 * First each side runs once, which warms caches, tests both programs, and lists their rows: the cells. Then each run has four
 * processes, A B B A or B A A B depending on its seed, whose medians are two pairs of each cell; with a reference commit six
 * processes, A B C C B A. A pair consists of processes, because noise between processes dominates. Verdicts follow the same rule
 * as those of modules.
 */

/** Return whether a job measures benchmark programs. */
bool command_is(const struct msg_job *request);
/** Write build_context.sides of this worker: a prefix with its process id. */
void command_sides(char out[64]);
/** Remove the program folders of ended workers from the cache. Call with the build lock. */
void command_sweep(const struct cache *cache);
/** Remove the program folders of a job. */
void command_clear(const struct build_context *c, const struct msg_job *request);

/**
 * List the cells and time them until all are decided or the budget is spent. Own: `*cells` become the bench's cells; the caller
 * frees them after bench_fini. Err: cancelled, or an error of the worker.
 */
int command_measure(
	struct bench *b, const struct build_context *c, const struct msg_job *request, struct cell **cells, struct fw_err *err);

/* ---- two_modules: Arguments of `compare` and `profile`: a suite's cells, and two shared objects. ---- */

struct two_modules_options {
	const char *suite, *base, *target;           /* files */
	const char *provider_base, *provider_target; /* "": the module's default */
	const char *config_base, *config_target;     /* for every cell; "": the provider chooses */
	const char *device;                          /* as in hardware_find */
	const char *cells;                           /* glob of cell keys; NULL: all */
	bool quick, json;
	double budget_s; /* 0: the suite's */
	enum sandbox_want sandbox;
	int n_shown; /* folders that the modules may read */
	const char *const *shown;
};

/** What to do with both modules. `suite`: name of the suite. `arg` is passed to both functions. */
struct two_modules_task {
	int (*run)(struct bench *b, const struct two_modules_options *o, const char *suite, void *arg, struct fw_err *err);
	bench_emit_fn *emit;
	void *arg;
};

/**
 * Read the cells of the suite that match the glob, open the sandbox, find the device, and run the task on a bench of both
 * modules. Returns the result of its `run`. Err: ERR_INVALID if no cell matches; errors of the sandbox and the device.
 */
int two_modules_run(const struct two_modules_options *o, const struct two_modules_task *t, struct fw_err *err);

/*
 * ---- compare_alone ----
 * `flopwatch-worker compare`: checks, measures and judges two modules of the command line, without a daemon.
 */

/**
 * Compare and print. Returns the exit status: 0 no regression, 3 regression, 7 undecided or nothing to compare, 1 a side failed
 * or could not be measured; -1 with `err` if nothing was measured.
 */
int compare_alone_run(const struct two_modules_options *o, struct fw_err *err);

/*
 * ---- control ----
 * Control run after a run that ended early: the base against a copy of itself, over one cell.
 *
 * The control run makes the same calls and needs as much memory, so if it ends well and runs with the target do not, the target
 * is the cause.
 */

/** Make the control run. Returns 1 if it ended well; 0 if not, with class and reason in `failure` and `detail`; -1 on error. */
int control_run(struct bench *b, int cell, char failure[16], char detail[512], struct fw_err *err);

/*
 * ---- crash_location ----
 * Source position of a crash, from the lines that flopwatch-runner prints in a crash (runner/crash.c).
 *
 * Branch code runs in that process, so the lines are unverified: they explain a crash but do not determine the side at fault.
 */

enum { CRASH_LOCATION_FRAMES_MAX = 4, CRASH_LOCATION_SIZE = 320 };

struct crash_location {
	int n;
	struct {
		int module; /* position among the sides of the task */
		unsigned long long offset;
	} frame[CRASH_LOCATION_FRAMES_MAX]; /* innermost first */
};

/** Move those lines from the last output of a process, `words`, to `p`. */
void crash_location_parse(struct crash_location *p, struct output_tail *words);
/**
 * Write "sum_rows (kernel.c:42), called from run (kernel.c:80)", or as much of it as is known; "": nothing. eu-addr2line finds
 * functions and lines, addr2line only functions, in the unstripped module, inside the sandbox. `side`: positions of the task's
 * sides in the bench. Shape: side[n], out[CRASH_LOCATION_SIZE].
 */
void crash_location_format(const struct bench *b, const int *side, int n, const struct crash_location *p, char *out);

/* ---- cudatool: Search for programs of NVIDIA's toolkit on this machine. ---- */

/**
 * Find a program such as "nvdisasm" or "ncu": in PATH, next to the nvcc in PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin.
 * Returns whether it exists. Shape: path[size].
 */
bool cudatool_find(const char *program, char *path, size_t size);

/* ---- modulecode: All compiled functions of a module, sorted for the comparison of two builds, with their instructions. ---- */

struct modulecode_function {
	int sm;       /* architecture: 90 */
	char *symbol; /* as in the file */
	char *steady; /* without components that depend on the source file: the same in both modules */
	char code_sha256[HASH_HEX];
	struct resources resources;
	size_t piece; /* index of its cubin */
};

struct modulecode {
	size_t n, n_pieces;
	struct modulecode_function *function; /* function[n], sorted by modulecode_order */
	struct modulecode_piece *piece;       /* piece[n_pieces]: cubins */
	const struct sandbox *sandbox;        /* in which the disassembler runs */
};

/**
 * Read the module or cubin at `path`. The disassembler runs in `sandbox`; NULL: in none, for files of the user. Own:
 * modulecode_free; borrows `sandbox`. Err: unreadable file or content.
 */
int modulecode_open(const char *path, const struct sandbox *sandbox, struct modulecode **out, struct fw_err *err);
/** Accepts NULL. */
void modulecode_free(struct modulecode *m);

/** Compare two functions by architecture and steady symbol. Returns a number below, equal to or above 0. */
int modulecode_order(const struct modulecode_function *a, const struct modulecode_function *b);

/**
 * Find the instructions of a function. Runs the disassembler at path `nvdisasm` once for each cubin. Own: both results point into
 * `m`. Err: -1 if it failed for that cubin, or did not print this function.
 */
int modulecode_sass(struct modulecode *m, const struct modulecode_function *f, const char *nvdisasm, const struct sass **sass,
	const struct sass_function **function, struct fw_err *err);

/* ---- sassdiff: Comparison of the compiled functions of two modules. ---- */

enum sassdiff_verdict {
	SASSDIFF_SAME,        /* the code has the same hash */
	SASSDIFF_RENAMED,     /* the same instructions in the same order, with other registers, labels, scheduling or data */
	SASSDIFF_RESCHEDULED, /* the same instructions in another order */
	SASSDIFF_CHANGED,
	SASSDIFF_DIFFERS, /* the hash differs; the instructions could not be compared */
	SASSDIFF_ADDED,
	SASSDIFF_REMOVED
};

struct sassdiff_pair {
	enum sassdiff_verdict verdict;
	const struct modulecode_function *base, *target; /* NULL: missing */
	/* only if the instructions were compared: the difference, and the code of base and target */
	struct sassdelta delta;
	const struct sass *sass[2];
	const struct sass_function *code[2];
};

struct sassdiff {
	struct modulecode *base, *target;
	size_t n;
	struct sassdiff_pair *pair; /* pair[n] */
	char note[1100];            /* why instructions were not compared; "": they were, or did not need to be */
};

/**
 * Compare the modules or cubins in two files; `sandbox` as for modulecode_open. Own: sassdiff_fini, also after -1. Err:
 * unreadable file or content.
 */
int sassdiff_make(struct sassdiff *d, const char *base, const char *target, const struct sandbox *sandbox, struct fw_err *err);
/** Free the comparison. Accepts a zeroed struct. */
void sassdiff_fini(struct sassdiff *d);

/** Return the text of a verdict: "same code", "rescheduled", ... */
const char *sassdiff_verdict_name(enum sassdiff_verdict v);
/** Return whether both sides have the same functions with the same code. */
bool sassdiff_is_same(const struct sassdiff *d);

/* ---- difference: Differences in the machine code of a cell's kernels, read from the sealed modules. ---- */

struct difference {
	bool is_there; /* `diff` is valid */
	struct sassdiff diff;
	char (*symbol[BUFFERED_SIDES])[HASH_HEX]; /* symbol[side][i]: SHA-256 of the symbol of function i */
	char note[BUFFERED_WHY_SIZE];             /* unreadable code, with the reason; "": none */
};

/**
 * Compare the modules of base and target. Unreadable code is no error. Own: difference_close, also after -1. Err: out of memory.
 */
int difference_open(struct difference *d, const struct bench *b, struct fw_err *err);
/** Free the comparison. Accepts a zeroed struct. */
void difference_close(struct difference *d);

/** Send a `code` record for each kernel that a side launches in this cell. Err: that of bench_emit_fn. */
int difference_send(struct difference *d, struct bench *b, const struct buffered_cell *c, struct fw_err *err);

/*
 * ---- hardware ----
 * The devices of a worker. The runner lists them, since only the runner loads CUDA. The worker adds the compiler versions of each
 * kind, and may disable the sandbox if the GPU does not work inside.
 */

/**
 * Fill `hello` with version, isolation and devices. `kind`: "auto" all but sim; "cuda" "cpu" "sim" those; "cuda:0" or a uuid one
 * device. `tools_dir`: folder of compilers that precede the system's; "": none. If `want` is SANDBOX_AUTO, the sandbox is
 * disabled if a GPU works only outside. Err: no runner, or no such device.
 */
int hardware_hello(struct sandbox *s, enum sandbox_want want, const char *kind, const char *tools_dir, struct msg_hello *hello,
	struct fw_err *err);
/**
 * Fill `hello` of a worker that only builds. `kind`: "cuda" "cpu" "sim"; this machine need not have such a device. Err: another
 * kind.
 */
int hardware_builder(
	const struct sandbox *s, const char *kind, const char *tools_dir, struct msg_hello *hello, struct fw_err *err);
/** Find a device by `name`: a uuid, "cuda:0", "cuda"; "auto": the first. Returns NULL with `err`, which lists all devices. */
const struct msg_device *hardware_find(const struct msg_hello *hello, const char *name, struct fw_err *err);
/** Find out where, and as which user, a user can run modules of this cache manually. Unknown members are "". */
void hardware_location(const char *cache_dir, struct msg_location *out);

/* ---- health_check: Probes of the device: whether it works, and whether other processes use it. ---- */

/**
 * Run a small computation with a known result on the device, and compare the times of its repetitions; try up to three times.
 * Returns 1 if it passed; 0 if it failed, with the reason in `state`; -1 on error.
 */
int health_check_run(struct bench *b, struct msg_state *state, struct fw_err *err);
/**
 * Test the device after a process that may have left it broken. If it is broken, report a fault of class "lost", close every cell
 * and set b->lost, which prevents further runs. Err: cancelled, no runner.
 */
int health_check_after(struct bench *b, const struct runner_end *end, struct fw_err *err);
/** Report the device as broken if this XID of the driver means broken hardware. `xid` 0: none. */
int health_check_xid(struct bench *b, int xid, struct fw_err *err);

/** Return whether device readings are possible: the device is a GPU, or a test injects them. */
bool health_check_can_report(const struct bench *b);
/**
 * Return the number of memory errors since the last reading; 0 at the first. `errors`: the driver's count since its start.
 * `is_read`: a probe reported it; otherwise nothing changes, and the next reading counts from the last one.
 */
int health_check_new_errors(struct bench *b, int errors, bool is_read);
/**
 * Read the device's state in a process that does not use the device; all unknown without a driver. Call before and after a
 * benchmark program is timed. `pass`: number of discarded attempts. out->ecc counts from the last reading.
 */
int health_check_device_check(struct bench *b, int pass, struct msg_device_check *out, struct fw_err *err);
/**
 * Wait until no other process uses the device; notes report the wait. Returns 1 if it is free; 0 after msg_limits.wait_s, when
 * every open cell gets a fault; -1 on error.
 */
int health_check_wait_idle(struct bench *b, struct fw_err *err);

/* ---- sassdiff_print: Differences of two modules as text (a table and hunks), or as one JSON object. ---- */

enum { SASSDIFF_NOTE_SIZE = 64 };
/** Write a note on the instruction at `address` of a side (0 base, 1 target), or leave it "". Shape: note[SASSDIFF_NOTE_SIZE]. */
typedef void sassdiff_note_fn(void *arg, int side, uint32_t address, char *note);
/**
 * Append the hunks of one pair whose instructions were compared, with up to `lines_max` lines of code, each with its note, and
 * after a hunk the next few instructions that have notes. `note` NULL: no notes. Returns the number of lines in all hunks.
 */
size_t sassdiff_print_hunks(
	const struct sassdiff_pair *p, size_t lines_max, sassdiff_note_fn *note, void *note_arg, struct buf *out);

/** Compare two files, and append the text or JSON. Returns 1 if the code is the same, 0 if not, -1 on error. */
int sassdiff_show(const char *base, const char *target, bool as_json, struct buf *out, struct fw_err *err);

/* ---- hot: Warp stalls of a kernel as notes on its machine code: "12.3 % gmma". ---- */

struct hot_sides {
	const struct msg_stalls *of[2]; /* base, target; NULL: none */
};

/* ---- image: The software of the worker's machine that can change times and builds: distribution and C library. ---- */

/**
 * Format "debian 12.5, glibc 2.36" from the text of /etc/os-release and, on Debian, of /etc/debian_version ("": none). Shape:
 * out[size].
 */
void image_text(const char *os_release, const char *point_release, char *out, size_t size);
/** Format the same for this machine. */
void image_describe(char *out, size_t size);

/*
 * ---- interleave_list ----
 * A run of one interleaved program, without turns of other sides, which lists its cells, their order and properties, and the time
 * of a call.
 */

/** A cell as its program reports it. A number of 0 and a text of "" are not reported. */
struct interleave_reported {
	char key[CASE_KEY_SIZE];
	double ms;       /* shortest call except the first; of a single call its time */
	double first_ms; /* first call of the process */
	double flops, bytes, memory_bytes;
	char output[96], config[160], unprimed[96];
	struct reported_kernels kernels;                /* owned by the list */
	char failure[16], detail[INTERLEAVE_TEXT_SIZE]; /* class and reason if it has no times; "": it has */
};

struct interleave_list {
	bool can_interleave; /* the program sent hello */
	int n;
	struct interleave_reported *cell; /* cell[n] in the order in which the program reached them */
	bool is_cut;                      /* it ended in so many cells that it was not started again: later cells are missing */
	/* internal */
	bool is_granted;          /* the last answer was a turn */
	int deaths;               /* number of cells in whose turns it ended */
	int calls, untimed, late; /* of this cell: all calls; those without a time; late ones */
	int capacity;             /* of `cell` */
	double spent_ms;          /* in calls of this cell except the first */
	bool is_slow_to_begin;    /* the first call took so long that no warm-up call follows */
};

struct interleave_child;
struct command_failure;

void interleave_list_fini(struct interleave_list *l);
/**
 * Handle a line of the program and answer it (an interleave_line_fn). `list`: struct interleave_list, starts zeroed. Err: too
 * many cells.
 */
int interleave_list_take(void *list, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err);
/**
 * Record the end of a program as the failure of one cell: that in whose turn it ended, or that it failed before it ended without
 * another turn. Returns whether there is such a cell; then the program can be started again with the same list, which omits the
 * cell.
 */
bool interleave_list_end(struct interleave_list *l, const struct interleave_side *side, const struct command_failure *problem);
/**
 * Convert the list to a reading, as if read from an output file. Own: reading_fini. Err: more cells than a benchmark may have.
 */
int interleave_list_reading(const struct interleave_list *l, struct reading *out, struct fw_err *err);
/** Return the program's report of a cell; NULL: none. */
const struct interleave_reported *interleave_list_find(const struct interleave_list *l, const char *key);

/** Why a process has no times. */
struct command_failure {
	char failure[16]; /* "crash" "timeout" "abi" (its output cannot be read) ... */
	char detail[512];
	struct output_tail words; /* its last output */
};

/*
 * ---- interleave_parent ----
 * The process of a side that has imported its Python modules, does not use the device, and forks a child for each run.
 *
 * Between two runs it waits for the worker's next request, and all other processes of its sandbox are ended. Base and target have
 * separate parents in separate sandboxes.
 */

enum { INTERLEAVE_CHILD_FDS = 4, INTERLEAVE_CHILD_PIDS = 1024, INTERLEAVE_PARENT_PIDS = 64 };

/** Zeroed: no process. */
struct interleave_parent {
	struct proc proc;
	int lines_fd, out_fd, err_fd;
	bool is_busy; /* it has not reported the end of its child */
	int n_pids;   /* processes when it was ready, with those of its sandbox and shells */
	pid_t pid[INTERLEAVE_PARENT_PIDS];
};

/** End all processes except parents that wait for a request and have all their processes. Shape: parent[n]. */
void interleave_parents_prune(struct interleave_parent *parent, int n);
/** End all parents. Shape: parent[n]. */
void interleave_parents_end(struct interleave_parent *parent, int n);

/*
 * ---- interleave_child ----
 * One program of an interleaved session or a check: its start, its lines, its end. The callback receives only lines that the
 * protocol allows at that moment; any other line ends the program, with the reason in `problem`.
 */

struct interleave_child;
/** Receive a line. Err: -1 ends the program, with the error as its problem. */
typedef int interleave_line_fn(void *arg, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err);

struct interleave_child {
	const struct msg_side *side;
	struct interleave_side protocol;
	bool runs;                      /* started, and not known to have ended */
	bool is_list;                   /* it only lists its cells, or is not interleaved */
	struct command_failure problem; /* why it was ended; failure "": it was not */
	int64_t since_ns;               /* start of its deadline: its start, or the last answer to it */
	interleave_line_fn *on_line;    /* NULL: not interleaved, so the process gets no socket */
	void *arg;
	struct interleave_parent *parent;     /* may fork this run, and then remains for the next one; NULL: no forks */
	struct buf *printed;                  /* receives standard output; NULL: `words` does */
	char why_fresh[INTERLEAVE_TEXT_SIZE]; /* why it forks no runs; "": not reported */
	/* internal */
	struct proc proc;
	int lines_fd, out_fd, err_fd;
	struct lines lines;
	struct output_tail words;
	int n_pids;
	pid_t pid[INTERLEAVE_CHILD_PIDS];
	double cpu_s[INTERLEAVE_CHILD_PIDS]; /* processor time of each when the program became idle; below 0: it had ended */
	long newest;                         /* procs_newest when the processes were listed */
	int64_t next_list_ns;                /* time of the next list that reads all processes of the machine */
	long threads_max;                    /* limit for all of them, so that the other side can start some; 0: none */
	bool has_crowded;                    /* it exceeded the limit */
	int64_t next_check_ns;               /* time of the next check of disk and processes */
	int n_parent_pids;                   /* processes of its parent */
	pid_t parent_pid[INTERLEAVE_PARENT_PIDS];
	bool has_ended; /* its parent reported its end */
	struct proc_exit how;
};

/*
 * ---- program_process ----
 * One process of a benchmark program: its run in the sandbox and its parsed output. Old output files are removed first, so that
 * all output is that of this process.
 */

struct command_clock {
	int process; /* number of earlier processes of this run */
	double mhz;  /* result: mean clock; 0: unknown */
};

/**
 * Run side `s` once, as a whole process. Returns 1 with its output in `out`; 0 if the side is at fault, see `problem`; -1 if
 * cancelled, or on an error of the worker. Adds the wall time to the bench. `clock` receives the device's clock; NULL: it is not
 * read. Own: reading_fini of `out`.
 */
int command_run_side(struct bench *b, const struct build_context *c, const struct msg_side *s, struct command_clock *clock,
	struct reading *out, struct command_failure *problem, struct fw_err *err);

struct command;

/** The first process of each side. Shape: by side. */
struct command_check {
	int ran[INTERLEAVE_SIDES_MAX];                /* 1: `reading` has its output or list; 0: see `problem` */
	struct reading reading[INTERLEAVE_SIDES_MAX]; /* own: reading_fini */
	struct command_failure problem[INTERLEAVE_SIDES_MAX];
	char why_fresh[INTERLEAVE_SIDES_MAX][INTERLEAVE_TEXT_SIZE]; /* why its runs cannot be forked; "": not reported */
};

/**
 * Run all sides once, at the same time, because no time of these processes is used. A side runs again, alone, if it failed
 * because the sides share the device or the machine, or if it ended in a turn, then without the cell of that turn. A program that
 * uses the interleave protocol fills its list in `m`, and may remain as the parent of its runs. Adds the wall time to the bench.
 * Err: -1 if cancelled, or on an error of the worker.
 */
int command_check(struct command *m, struct command_check *out, struct fw_err *err);

/*
 * ---- program_run ----
 * One run of benchmark programs: two rounds of processes, the second in reverse order, with device readings around each round on
 * a GPU.
 */

enum { COMMAND_BASE, COMMAND_TARGET, COMMAND_REFERENCE, COMMAND_SIDES_MAX };

/** Calls of a cell in whole processes. */
struct command_calls {
	int calls; /* all */
	int cut;   /* those excluded as warm-up */
};

struct command {
	struct bench *bench;
	const struct build_context *build;
	int n_sides; /* 3 with a reference commit, else 2 */
	const struct msg_side *side[COMMAND_SIDES_MAX];
	struct interleave_list list[COMMAND_SIDES_MAX]; /* of each interleaved program, from command_check */
	bool forks;                                     /* programs may fork their runs */
	struct interleave_parent parent[COMMAND_SIDES_MAX];
	struct command_calls *calls; /* calls[n_cells] while whole processes are measured, else NULL */
};

/**
 * Find the sides of a job; a reference commit is included only if it was built. Own: borrows the job. Err: base or target is
 * missing.
 */
int command_open(struct command *m, const struct msg_job *request, struct fw_err *err);
/** Send an `at` record: this step of the side begins. */
int command_report(struct command *m, int side, const char *step, struct fw_err *err);
/** Exclude the reference commit from further runs, and send a note with the reason. Does nothing if it is excluded already. */
int command_drop_reference(struct command *m, const char *why, struct fw_err *err);
/** Report that a side's process has no times as the fault of that side, or exclude the reference commit. */
int command_failed(struct command *m, int side, const struct command_failure *problem, struct fw_err *err);
/**
 * Check whether a side's reading has a time of a cell. Returns 1 if so; 0 after reporting a fault: the benchmark's message, that
 * the cell was skipped, or that it is missing, with class `absent`. Err: -1 if cancelled.
 */
int command_timed(struct command *m, int side, int cell, const struct reading *r, const char *absent, struct fw_err *err);
/**
 * Make one run over `n` cells and judge them. A round that device readings invalidate is repeated, up to three times and while
 * budget is left; if no repetition is valid, the run is discarded. Shape: list[n]. Err: -1 if cancelled, or on an error of the
 * worker.
 */
int command_measure_run(struct command *m, const int *list, int n, int set, struct fw_err *err);

/*
 * ---- interleave ----
 * Measurement of interleaved programs: runs, each with one or more sessions, until every cell is decided. Pairs are judged like
 * those of modules; the worker's clock verifies the reported times.
 */

/** Return whether base and target use the interleave protocol, according to their lists. */
bool command_can_interleave(const struct command *m);
/** Check whether the list of a side's program has times of a cell. Returns 1 if so; 0 after reporting a fault; -1 on error. */
int interleave_listed(struct command *m, int side, int cell, struct fw_err *err);
/**
 * Measure the open cells. Returns 1; 0, with a note, if base and target do not fit on the device together, so that the caller
 * must time whole processes. Err: -1 if cancelled, or on an error of the worker.
 */
int interleave_measure(struct command *m, struct fw_err *err);

/*
 * ---- compiled ----
 * Caches of Triton, Python and the driver's compiler, which are stored for later jobs with the same commit as the same side. They
 * contain code only, no choices that were measured. A side never gets the caches of another side or commit.
 */

/** Move the stored caches of this commit and side, if any, into the program's folder. Call before the first run. */
void compiled_take(const struct build_context *c, const struct msg_side *s);
/** Move them back to the worker's cache, if they are not too large. Call when all processes of the program have ended. */
void compiled_store(const struct build_context *c, const struct msg_side *s);

/* ---- program: Start of a benchmark program: command line, sandbox, environment. ---- */

enum { PROGRAM_INTERLEAVE_FD = 3 /* descriptor of the interleave socket in the program */ };

/** Arguments of proc_spawn. It points into itself: do not move the struct. */
struct program {
	struct proc_spec spec;
	struct sandbox_argv words;
	struct sandbox_environment environment;
	char job[PATH_MAX + 160], cwd[PATH_MAX + 160 + MANIFEST_TEXT_SIZE], path[PATH_MAX + 32];
	char device[96], libraries[4096];
};

/** PROGRAM_FORKED: interleaved, and may fork its runs. */
enum program_use { PROGRAM_WHOLE, PROGRAM_INTERLEAVED, PROGRAM_FORKED };

/**
 * Prepare the start of side `s`. Unless `use` is PROGRAM_WHOLE, its environment names the socket, which the caller adds to
 * p->spec as descriptor PROGRAM_INTERLEAVE_FD. Err: too many arguments.
 */
int program_prepare(struct program *p, const struct bench *b, const struct build_context *c, const struct msg_side *s,
	enum program_use use, struct fw_err *err);
/** End of the message about a program that exceeded its `timeout_s`: how to change the limit. */
extern const char program_timeout_remedy[];

/**
 * Return whether this side's program has filled the disk of the cache. Then it must be ended, since builds and the daemon may
 * need that disk; `text` receives the reason.
 */
bool program_fills_disk(const struct build_context *c, const struct msg_side *s, char text[256]);
/** Fill `t` with a failure of the program: class `failure`, reason `what`, and its last output. Returns 0. */
int program_blame(struct command_failure *t, const struct output_tail *w, const char *failure, const char *what);
/** Evaluate the exit of the program. Returns 1 if it ended well; 0 if it is at fault, see `t`; -1 if another cause ended it. */
int program_end(const struct build_context *c, const struct msg_side *s, const struct proc_exit *how, const struct output_tail *w,
	struct command_failure *t, struct fw_err *err);

/* ---- interleave_child: functions. ---- */

/**
 * Start side `s`, forked by its parent if that waits for a request. A program that cannot start gets a problem instead of an
 * error. Own: interleave_child_end. Err: an error of the worker or the machine.
 */
int interleave_child_start(struct interleave_child *c, const struct bench *b, const struct build_context *build,
	const struct msg_side *s, struct fw_err *err);
/** Fill in the descriptors to poll. Shape: fd[INTERLEAVE_CHILD_FDS]; -1: unused. */
void interleave_child_poll(const struct interleave_child *c, struct pollfd *fd);
/**
 * After that poll, read the program's lines and check whether it has ended. Err: another process ended it, or the machine is out
 * of memory, so no side is at fault.
 */
int interleave_child_attend(struct interleave_child *c, const struct pollfd *fd, const struct bench *b,
	const struct build_context *build, struct fw_err *err);
/** Grant the program a turn. */
void interleave_child_go(struct interleave_child *c, const struct interleave_go *go);
/** Tell the program that the cell has no further turn. */
void interleave_child_next(struct interleave_child *c);
/** Record as its problem that the program did not do `what` within `limit_s`. */
void interleave_child_late(struct interleave_child *c, const char *what, double limit_s);
/**
 * Check ten times a second whether the program has filled the disk of the cache or has too many threads; record this as its
 * problem.
 */
void interleave_child_watch(struct interleave_child *c, const struct build_context *build);
/**
 * List the program's processes, unless no process was started on the machine since the last list. More threads than threads_max
 * are recorded as its problem.
 */
void interleave_child_count(struct interleave_child *c);
/** Return whether all listed processes have a single thread. */
bool interleave_child_is_single(const struct interleave_child *c);
/** Bind all threads of the program to these cores, except those of its parent. */
void interleave_child_pin(const struct interleave_child *c, const cpu_set_t *cores);
/** Store the processor time of each process, when the program becomes idle. */
void interleave_child_snapshot(struct interleave_child *c);
/**
 * Return the processor time that the program used since it became idle, `idle_s` ago. A process that was started or ended
 * meanwhile counts with all of `idle_s`, because its time is not known. Units: s.
 */
double interleave_child_background_s(struct interleave_child *c, double idle_s);
/** Return the time for which its threads were runnable and waited for a core; reads one file per thread. Units: s. */
double interleave_child_queued_s(const struct interleave_child *c);
/**
 * End the program and close all descriptors. After a run without a problem its parent remains in c->parent. Accepts a program
 * that was never started.
 */
void interleave_child_end(struct interleave_child *c);

/*
 * ---- interleave_session ----
 * A session: the programs of all sides run concurrently over some cells, and take turns to make calls.
 *
 * A cell begins when all sides have reached it; then pairs A B B A B A A B follow. If a program dies, hangs or violates the
 * protocol, the session ends; earlier pairs remain valid.
 */

/** A sustained run in progress. Every `stride`-th of its `n` calls is stored in `calls`. */
struct interleave_sustained {
	int n, stride;
	struct sustained_calls *calls;
};

/** One cell of a session: parameters and results. Shape: by side. */
struct interleave_cell {
	int cell; /* index in the bench */
	const char *key;
	int warm, pairs;  /* warm-up calls of a turn; requested pairs */
	double alone_ms;  /* estimated time of a call */
	double budget_ms; /* after twice this time, on a busy machine, fewer pairs are enough */
	enum sustained_order sustained;
	/* results */
	bool reached, missed; /* all sides reached it; a side skipped it */
	int n;                /* pairs */
	int cut, untimed;     /* pairs that were repeated because of an interrupted call; because of a call without a time */
	int late_pairs;       /* pairs that were repeated because of a late call */
	int calls[INTERLEAVE_SIDES_MAX], late[INTERLEAVE_SIDES_MAX]; /* calls of all pairs; late ones */
	int primed, host_bound;                                /* primed calls; those that took the host longer than the device */
	double spin_us[INTERLEAVE_SIDES_MAX];                  /* requested by each side; 0: its calls are not primed */
	struct reported_kernels kernels[INTERLEAVE_SIDES_MAX]; /* of the process; owned by the creator of the session */
	float ms[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX], mhz[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX],
		host_us[INTERLEAVE_SIDES_MAX][STATS_PAIRS_MAX];
	struct interleave_turns seen[INTERLEAVE_SIDES_MAX]; /* turns as the worker observed them */
	int n_sustained;                                    /* recorded sustained calls of a side */
	struct sustained_calls sustained_calls[2];          /* base, target */
	int failed_side;                                    /* side that failed the cell; -1: none */
	char failure[16], detail[INTERLEAVE_TEXT_SIZE];     /* class and reason */
	int n_turns;                                        /* turns of all pairs, with repeated ones */
	double turns_s, calls_s;                            /* length of these turns; reported time of their calls */
	double pairs_s, sustained_runs_s;                   /* time of the session for pairs; for sustained runs */
};

struct interleave_session {
	struct bench *bench;
	const struct build_context *build;
	int n_sides;
	const struct msg_side *side[INTERLEAVE_SIDES_MAX];
	struct interleave_parent *parent; /* parent[INTERLEAVE_SIDES_MAX], which fork the runs; NULL: fresh processes */
	int n;
	int first;                    /* the side that begins */
	uint64_t seed;                /* of the run */
	struct interleave_cell *cell; /* cell[n] */
	/* results */
	int failure_side;               /* side that ended the session early; -1: none */
	int failure_cell;               /* index in the bench of the cell in whose turn it did; -1: none */
	struct command_failure problem; /* of that side */
	bool is_memory_full;            /* the sides do not fit on the device together */
	double all_s, start_s;          /* duration of the session; of its start, until all programs reached the first cell */
	/* internal */
	int64_t began_ns, started_ns;
	struct interleave_child child[INTERLEAVE_SIDES_MAX];
	struct {
		int side, n, cut, late; /* n: calls; cut, late: interrupted ones, late ones */
		int64_t done_ns;
		float ms, mhz, host_us; /* of the last call */
		double sum_ms, repeats, idle_us, all_s;
	} turn;                                     /* the current turn */
	struct interleave_sustained *sustained_run; /* in progress; NULL: none */
	struct interleave_cell *at;                 /* current cell; NULL: none */
	bool is_pinned;
	struct interleave_wait wait[INTERLEAVE_SIDES_MAX]; /* by side, in its turns */
};

/** Return the side of turn `k` in pair `pair`, in the same order as calls of modules (order.c). */
int interleave_session_side(const struct interleave_session *s, int pair, int k);
/**
 * Run the session. Adds the wall time to the bench: as step `start` until all programs have reached the first cell, then as
 * `program`. Err: cancelled, or an error of the worker or the machine.
 */
int interleave_session_run(struct interleave_session *s, struct fw_err *err);

/* ---- interleave_record: Checks of a session's results for a cell, and their records. ---- */

enum interleave_result {
	INTERLEAVE_ERROR = -1,
	INTERLEAVE_FAULTY,           /* a fault of the cell was sent */
	INTERLEAVE_ACCEPTED,         /* the times can be recorded */
	INTERLEAVE_REFERENCE_FAULTY, /* the reference commit invalidates the pairs: measure base and target without it */
	INTERLEAVE_DISCARDED         /* first impossible times of a side: another session decides */
};
/**
 * Compare the reports of all sides in a cell with the worker's observations in this session and earlier ones. `evidence`: of the
 * cell, by side. `why` receives the reason for a rejection. Shape: why[INTERLEAVE_TEXT_SIZE].
 */
enum interleave_result interleave_judge(struct command *m, const struct interleave_session *s, const struct interleave_cell *c,
	struct interleave_evidence *evidence, char *why, struct fw_err *err);
/**
 * Return the number of calls of a turn in which a gain must show: all, or only the timed one if calls are primed, since a warm-up
 * call may wait for the host.
 */
int interleave_shown_calls(const struct interleave_cell *c);
/**
 * Close a cell as `unsure` if more than a fifth of a side's calls were late. `calls`, `late`: of all runs, by side. Returns 1 if
 * so, 0 if not, -1 on error.
 */
int interleave_judge_late(struct command *m, int cell, const int *calls, const int *late, struct fw_err *err);
/**
 * Verify a gain after the last run, by turns of `calls` calls. If the worker's clock does not confirm it, the cell is neither an
 * improvement nor a fault: it is closed as `unsure`, with a record. Err: -1.
 */
int interleave_judge_gain(struct command *m, int cell, const struct interleave_evidence *evidence, int calls, struct fw_err *err);
/** Judge a cell by its pairs and sustained runs, and send these. Err: -1. */
int interleave_record(struct command *m, const struct interleave_session *s, const struct interleave_cell *c, int set,
	const struct msg_device_check *device_check, int redo, struct fw_err *err);
/** Send the reports in the programs' lists: first call, memory, configuration, differing outputs, reason for unprimed calls. */
int interleave_report_lists(struct command *m, struct fw_err *err);

/** Kernels of one side in one cell over all timed processes. Starts zeroed. */
struct interleave_kernels {
	int processes, unlike;        /* as in msg_reported_kernels */
	struct reported_kernels list; /* of the first process; owned */
};

/** Add the kernels of a timed process. Own: takes over the list of `from`, and clears it. */
void interleave_kernels_add(struct interleave_kernels *k, struct reported_kernels *from);
/**
 * Send the kernels that a side reported for a cell: those of its timed processes, else those of the process that listed the
 * cells. Sends nothing if there are none. Err: -1.
 */
int interleave_report_kernels(struct command *m, int side, int cell, const struct interleave_kernels *k, struct fw_err *err);

/*
 * ---- c_form ----
 * Form of a C, C++ or CUDA source without comments and layout. Sources with the same form have the same tokens, so they compile
 * to the same code. Pure.
 */

/**
 * Append the form of `text`: each sequence of blanks and comments becomes one blank, or one line end at the start and end of a
 * preprocessor directive. Returns false if there is none: the text depends on line numbers, is ambiguous (an unterminated
 * literal, a spliced comment, control characters), or `out` is full.
 */
bool c_form(const char *text, size_t len, struct buf *out);

/*
 * ---- comments ----
 * Detection of benchmark programs that differ only in comments or layout, so that both execute the same code and need not be
 * measured.
 *
 * Only Python files may differ, and C sources whose builds produced equal files. An interpreter in the sandbox compares the
 * syntax trees of Python files (comments.py); without one, programs are measured as usual. Docstrings must be equal, since
 * programs can read them. A program that reads the comments in its sources is not detected.
 */

/**
 * Compare base and target after both builds and before any run. Returns 1 if they differ only in comments or layout, with a
 * phrase in `text` that names the files; 0 if not, with "" in `text`, or a note if the only other difference is in files that the
 * builds wrote. Shape: text[size]. Err: -1 if cancelled, without an interpreter, or on an error of the worker.
 */
int comments_compare(const struct build_context *c, const struct msg_side *base, const struct msg_side *target, char *text,
	size_t size, struct fw_err *err);

/* ---- kernels: `flopwatch-worker kernels`, which lists the GPU kernels in a module. ---- */

/** Append a line for each kernel of the module or cubin at `path`, or one JSON object. Err: unreadable file or content. */
int kernels_list(const char *path, bool as_json, struct buf *out, struct fw_err *err);

/*
 * ---- measure ----
 * Sequential procedure: runs over the open cells, judged after each run, until every cell is decided or the budget is spent.
 *
 * Set 1 decides. Set 2, runs with separate seeds, must confirm a possible regression. A decided cell whose interval is wide, or
 * whose slow calls may have become more frequent, gets more runs while budget is left, and set 2 if slow calls increase the mean
 * too much. A doubtful result is verified (alone, audit): the base is slower than alone, or the gain is large. If that reopens a
 * cell, runs continue.
 */

/** Time all open cells, send the records, and store the judgements in the bench's cells. Err: cancelled, no runner. */
int measure_run(struct bench *b, struct fw_err *err);

/** Choose the cells of the next run and its set. Returns their number, 0 if no run is needed. Pure. Shape: list[n_cells]. */
int measure_next(const struct bench *b, int *list, int *set);
/**
 * Plan the next run, as measure_next: first for undecided cells, then for sustained runs (`*only_sustained`), then for wide
 * intervals.
 */
int measure_plan(const struct bench *b, int *list, int *set, bool *only_sustained);

/* ---- ncu: Counters from Nsight Compute, which starts `flopwatch-runner --capture`, if the runner cannot read them. ---- */

/**
 * Count the cells whose kernels are known but not their counters, in processes base, target, target, base. A failure is added to
 * the cell's reasons. Err: cancelled, out of memory.
 */
int ncu_counters(struct buffered *k, struct fw_err *err);

/**
 * Profile one call of a side with ncu. `options` (NULL-terminated) select counters and output format. Returns 1 with ncu's output
 * in `output`; 0 if ncu is missing, failed or took too long, see `why`. Shape: why[size]. Own: buf_fini of `output`, always. Err:
 * -1 if cancelled or out of memory.
 */
int ncu_run(struct buffered *k, struct buffered_cell *c, int side, const char *const *options, struct buf *output, char *why,
	size_t size, struct fw_err *err);

/* ---- ncu_stalls: Warp stalls from Nsight Compute, for cells that only ncu could count. ---- */

/**
 * Sample the cells that ncu counted on both sides, in one process of each side. A failure is added to the cell's reasons. Err:
 * cancelled, out of memory.
 */
int ncu_stalls(struct buffered *k, struct fw_err *err);

/**
 * Parse ncu's output of one call, in which launch i must be kernel i of `p`. Returns false if the launches differ or there is no
 * table, see `why`. Shape: text[len], why[size]. Own: buffered_clear_stalls of `out`.
 */
bool ncu_stalls_take(
	const struct buffered_process *p, const char *text, size_t len, struct buffered_stalls *out, char *why, size_t size);

/*
 * ---- outside ----
 * The runner's processes, as the worker finds them. Branch code can hide processes from the runner, but not from the worker.
 * While the runner waits, the worker compares its processes after a call with those before a module was loaded.
 */

enum { OUTSIDE_WHY_SIZE = 200, OUTSIDE_PIDS_MAX = 256 };

/** A process, and the seccomp state of its first thread. */
struct outside_process {
	pid_t pid;
	int filters, no_new_privs; /* -1: unknown */
};

/** The processes at one moment. Starts zeroed. Shape: process[n]. */
struct outside {
	int n;
	struct outside_process *process;
};

/** Record the process `root` and its descendants. Own: outside_end. */
void outside_begin(struct outside *o, pid_t root);
/**
 * Find new processes and new system call filters. Returns the failure class, "escaped" or "slowed", with the reason in `why`;
 * NULL: nothing new, or nothing was recorded. Shape: why[OUTSIDE_WHY_SIZE].
 */
const char *outside_compare(const struct outside *o, pid_t root, char *why);
/** Free the record, and zero it. */
void outside_end(struct outside *o);

/*
 * ---- kernel_run ----
 * One run: a process that times all sides call by call over some cells. Its timings are stored, judged and sent. If the process
 * dies, its current cell fails; each side is checked alone to find the one at fault.
 */

/** Cells of a run and its options. Shape: cell[n], sustained[n]. */
struct run_order {
	int n, set;
	const int *cell;
	const enum sustained_order *sustained; /* NULL: no cell has sustained runs */
	bool only_sustained_runs;
};

/** Make one run. Returns 1 with results; 0 without, with the last reason in `why`; -1 on error. Shape: why[size]. */
int measure_one_run(struct bench *b, const struct run_order *o, char *why, size_t size, struct fw_err *err);

/**
 * Return whether another side than the one in the fault record may have caused a failure: the record names no side, or the base,
 * which passed its check.
 */
bool run_suspects(const struct msg_fault *f);
/**
 * Find the side that caused a failure of cell f->cell, by one check of each side alone, and send the fault. `was_lost`: the
 * process lost the device. Returns 0, or -1 on error.
 */
int run_blame(struct bench *b, const struct msg_fault *f, bool was_lost, struct fw_err *err);
/**
 * Handle a process that ended in the base's call, or by a signal from outside, while the target was loaded: the target may be the
 * cause. The control run decides. Only two such ends make a fault, so that neither a rare crash of the base nor a single kill by
 * another process rejects the target. Returns 0, or -1 on error.
 */
int run_blame_end(struct bench *b, int cell, const struct runner_end *end, struct fw_err *err);

/**
 * Count a discarded run of a cell. After DEVICE_CHECK_DISCARDED_MAX of them the cell gets no more runs, and a fault with `reason`
 * if it has no valid run. Returns 0, or -1 on error.
 */
int run_void(struct bench *b, int cell, const char *reason, struct fw_err *err);

/*
 * ---- profile ----
 * Evidence for the cause of a difference between two builds: counters of every kernel on both sides, machine code, and the effect
 * of a configuration. Changes no verdict.
 */

/**
 * Profile up to EVIDENCE_CELLS_MAX cells of the bench, which has base and target, and send for each its `kernel`, `code` and
 * `counterfactual` records and finally its `profile` record. `best`: the first path to try, EVIDENCE_RANGE for the best available
 * one. Missing counters are no error: the `profile` record has the reason. Shape: cell[n]. Err: cancelled, no runner.
 */
int profile_run(struct bench *b, const int *cell, int n, enum evidence_path best, struct fw_err *err);

/* ---- profile_alone: `flopwatch-worker profile`: differences of two modules of the command line, without a daemon. ---- */

/** Profile two modules and print the result. `path`: the first path to try. Returns the exit status 0, or -1 with `err`. */
int profile_alone_run(const struct two_modules_options *o, enum evidence_path path, struct fw_err *err);

/**
 * Print, as one `profile` line, whether the device's counters can be read inside the sandbox: `flopwatch-worker probe
 * --counters`. Returns the exit status 0, or -1 with `err`.
 */
int profile_alone_probe(const struct two_modules_options *o, struct fw_err *err);

/* ---- profile_report: Text of `flopwatch-worker profile`: kernels, counters of both sides, machine code. ---- */

struct profile_report {
	int n_kernels, n_codes;
	struct msg_kernel *kernel; /* kernel[n_kernels] with their values; owned */
	struct msg_code *code;     /* code[n_codes]; owned */
	bool has_swap;
	struct msg_counterfactual swap;
	struct msg_profile end;
};

/* ---- report: A finished bench as text, or as JSON in the format of the API's comparisons. ---- */

/** Return the comparison's verdict: the first in verdict order among its cells. */
enum verdict report_verdict(const struct bench *b);
/**
 * Print a table for each group of cells, a summary line, and warnings for cells beyond their threshold or without result. Returns
 * 0; -1 if `out` failed.
 */
int report_text(const struct bench *b, const char *suite, FILE *out);
/** Print the bench as JSON. Returns 0; -1 if `out` failed. */
int report_json(const struct bench *b, const char *suite, FILE *out);

/* ---- report_work: Output of `compare` other than times: bytes a second, memory, and work skipped by masks. ---- */

/** Append tables of the cells with a `work` record, with separate columns for claims and observations. */
void report_work_text(const struct bench *b, struct buf *out);
/** Write "work" and "over_baseline" of a cell as members of the open object. */
void report_work_json(const struct bench *b, int cell, struct jsonw *j);

/* ---- roofline: Lower bound of a call's time on a device. ---- */

/**
 * Return the larger of useful FLOPs / peak and bytes / bandwidth, less a tenth for the uncertainty of the device's data; 0:
 * unknown. Bytes that may remain in the last-level cache do not count. Units: ms.
 */
double roofline_floor_ms(const struct msg_device *d, const struct cell *c);

/*
 * ---- serve ----
 * Jobs over standard input and output: hello, job, trees, builds, checks, runs, done. When serve_run returns, for any reason
 * (done, cancel, end of input, an invalid line), all started processes have ended and the work folder is removed.
 */

struct serve_options {
	const char *cache;  /* folder; NULL: the default, see cache_open */
	const char *device; /* as `kind` of hardware_hello */
	enum sandbox_want sandbox;
	bool build_only;       /* a job ends with its builds; no device is used */
	int build_jobs;        /* concurrent builds in this cache, at least 1 */
	const char *tools_dir; /* folder of compilers that precede the system's; "": none */
	int n_shown;           /* folders that branch code may read */
	const char *shown[READONLY_MAX];
};

/**
 * Serve one job, or more if the daemon cancels one for another. `in`, `out`: descriptors of the connection. Returns 0 if the job
 * was done or cancelled, else -1.
 */
int serve_run(const struct serve_options *o, int in, int out, struct fw_err *err);
/** Write the hello line to the descriptor `out`. */
int serve_probe(const struct serve_options *o, int out, struct fw_err *err);

/*
 * ---- sustain ----
 * Selection of the cells with sustained runs.
 *
 * The sentinel of each class (protocol/sentinel.c) has sustained runs in the first run. If in two runs its sides stabilise at
 * different clocks or use different energy, all cells of the direction have sustained runs, until their sustained change is
 * judged. So does any cell whose clocks in pairs differ between the sides by more than chance and by enough to hide a regression.
 */

/**
 * Store a `cell` record of series sustained, judge the cell again, and determine whether its direction needs sustained runs.
 * Returns 1 if stored, 0 if device readings invalidate it, -1 on error.
 */
int sustain_add(struct bench *b, const struct msg_cell *m, struct fw_err *err);
/**
 * Return whether a cell has sustained runs in the next run of `set`, and the side that begins: base and target alternately, over
 * both sets.
 */
enum sustained_order sustain_order(const struct bench *b, int cell, int set);
/** Return the maximum time of the sustained runs on an undisturbed device. Shape: sustained[n]; NULL: none. Units: s. */
double sustain_s(const enum sustained_order *sustained, int n);
/**
 * Choose the cells and the set of a run with only sustained runs. Returns their number; 0: none needed. Pure. Shape:
 * list[n_cells].
 */
int sustain_next(const struct bench *b, int *list, int *set);

/* ---- swap: The counterfactual: the target timed with the configuration of the base. ---- */

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

/* ---- trees: Sources of a job's sides, requested from the daemon and stored as archives until the builds are done. ---- */

/**
 * Request each input of builds that are not cached once, and wait for it. `*folder` is a descriptor of the folder with the
 * archives; -1: none was needed. Own: close `*folder`, also after -1. Err: the daemon disconnected, or sent another message; a
 * tree is too large.
 */
int trees_fetch(struct peer *peer, const struct cache *cache, const struct build_context *c, const struct msg_job *request,
	int *folder, struct fw_err *err);
/** Open the archive of `oid` (a build_tree_fn). `arg`: int, the folder's descriptor. Own: close. Err: it was not received. */
int trees_open(void *arg, const char *oid, struct fw_err *err);

/* ---- trial_build: A test of builds on this machine with a program of a few lines. ---- */

/** Build a module in the sandbox, load it, and print one line of JSON. Leaves no files. Err: the failed step and its output. */
int trial_build(enum sandbox_want want, struct fw_err *err);

#endif
