/** job.h - plan of a job, its results, and the judgement of each cell. */
#ifndef FLOPWATCHD_JOB_JOB_H
#define FLOPWATCHD_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/watch/watch.h"
#include "lib/lib.h"
#include "model/model.h"
#include "protocol/protocol.h"
#include "stats/stats.h"
#include "verdict/verdict.h"

/*
 * ---- plan ----
 * The worker's request to compare two commits. Suite, thresholds and the list of suites come from the base commit. Each side's
 * own manifest defines only its inputs and its build.
 */

/** The content of a job. `request.side[0]` is the base, `[1]` the target, `[2]` the reference commit if it is neither. */
struct plan {
	struct msg_job request; /* as sent, except job, attempt, nonce, seed and device; the plan owns request.cell */
	char base_how[16];      /* merge-base first-parent last-judged last-off-peak given self */
	char suite_name[64];    /* "ffa" */
	char suite_sha[65];     /* of the resolved cells, before cells_glob applies */
	char suite_origin[256]; /* "installed" or "<repo>@<commit>" */
	/* position of the base's provider, as a message prefix; "": requested by a user, or no provider */
	char provider_position[1024];
	int shard;              /* shard of the suite, set before plan_suite; 0: the cells that a push measures */
	struct suite_size size; /* of the suite; zeros for a benchmark */
	struct cost_limits costs;
	struct buf suite_text;      /* the file as read */
	bool is_upstream;           /* the target is an upstream commit, measured for the history */
	char upstream_branch[1024]; /* percent-encoded; "" unless is_upstream */
	char reference[65];         /* reference commit of that history; "": none yet */
	bool identical;             /* equal input oids and builds on both sides, no named provider, and not a selfcheck */
	bool dropped;               /* the target no longer has the base's benchmark: its row is removed */
};

void plan_init(struct plan *p);
void plan_fini(struct plan *p);

/**
 * Read a commit's manifest from its .flopwatch.yaml (requested as a blob); without a file, use the defaults. Err: ERR_INVALID.
 */
int plan_manifest(const struct gitread_commit *c, struct manifest *out, struct fw_err *err);
/**
 * Write the two possible paths of suite `name` in the base's tree; the first existing one applies. Shape:
 * path[2][MANIFEST_TEXT_SIZE].
 */
void plan_suite_paths(const char *name, char path[2][MANIFEST_TEXT_SIZE]);
/** Read suite `name` and its file name from a commit's tree, else from the installed suites. Returns 1, 0 not found, -1. */
int plan_find_suite(const struct config *config, const struct gitread_commit *c, const char *name, struct buf *text,
	char file[1024], bool *installed, struct fw_err *err);
/** Fill side `i`: role, commit, inputs, build. Err: ERR_INVALID an input is missing from the commit, or invalid. */
int plan_side(
	struct plan *p, int i, enum role role, const struct gitread_commit *c, const struct manifest *m, struct fw_err *err);
/**
 * Fill cells, rule, limits and suite_* from suite `name` of the base's tree, else of config->suites_dir. Err: ERR_NOT_FOUND;
 * ERR_INVALID the suite has mistakes, or no cell matches `cells_glob`.
 */
int plan_suite(struct plan *p, const struct config *config, const char *repo, const struct gitread_commit *base, const char *name,
	const char *cells_glob, struct fw_err *err);
/**
 * As plan_suite, for benchmark `name` of the base's manifest; its run determines the cells. Each side has its own command,
 * outputs and reader; threshold, limits and GPU use are the base's. Sets `dropped` if the target no longer has the benchmark.
 */
void plan_benchmark(struct plan *p, const struct config *config, const char *repo, const struct benchmark *base,
	const struct manifest *target);
/**
 * Fill the command of side `i` from its own manifest; the base's settings judge the results. Call it after plan_benchmark,
 * which fills base and target. Err: ERR_INVALID the manifest has no such benchmark.
 */
int plan_side_benchmark(struct plan *p, int i, const struct manifest *own, struct fw_err *err);
bool plan_is_benchmark(const struct plan *p);
/** Return the kind of the plan: a job that compares a commit with itself is a selfcheck, unless its own kind includes that. */
enum jobkind plan_kind(const struct store_job *job, const char *base_sha, const char *base_how);
/** True if a user requested a provider or configuration for a side: equal modules may then behave differently. */
bool plan_is_named(const struct plan *p);
void plan_compare(struct plan *p);
/** True if a worker must run the job; false if the result is known without a run. Benchmarks have no profile. */
bool plan_needs_worker(const struct plan *p);

/**
 * Store a plan that needs a worker, except fields that may change before the job is sent. In a transaction. Err: the database.
 */
int plan_store(struct db *db, int64_t job, const struct plan *p, struct fw_err *err);
/**
 * Read the plan of a resolved job into `p`, which must be in the state of plan_init. Base and target are read as stored; cells,
 * rule and limits follow the current configuration and installed suites. Err: ERR_NOT_FOUND no plan, or no such suite;
 * ERR_INVALID mistakes in the suite; ERR_PROTOCOL no worker could read the job.
 */
int plan_read(struct db *db, const struct config *config, const struct store_job *job, struct plan *p, struct fw_err *err);

/** Compute SHA-256 over a side's input paths and oids, its build command and outputs, and the device kind. Shape: hex[65]. */
void plan_inputs_hash(const struct msg_side *s, enum device_kind kind, char hex[65]);

/*
 * ---- profiled ----
 * The worker's messages in a job of kind profile: kernels with counters, differences in machine code, effects of configurations.
 * They come from processes that run a branch's code, so each number is checked against the request, each item is accepted once,
 * and the amount is limited.
 */

/** Limits over all cells: kernels times processes, values, functions. The second set applies to a whole suite. */
enum { PROFILED_KERNELS_MAX = 3072, PROFILED_VALUES_MAX = 32768, PROFILED_CODES_MAX = 96 };
enum { PROFILED_SUITE_KERNELS_MAX = 16384, PROFILED_SUITE_VALUES_MAX = 262144, PROFILED_SUITE_CODES_MAX = 1024 };

struct profiled {
	int n_kernels, n_values, n_codes, n_with, n_ends;
	struct msg_kernel *kernel; /* one for each position, process and side */
	struct msg_code **code;
	struct msg_counterfactual *with; /* at most one for each cell */
	struct msg_profile *end;         /* at most one for each cell; a cell without one was not profiled */
};

/**
 * Add a message about one of `n_cells` cells: kernel, code, counterfactual or profile; other kinds are ignored. Own: takes over
 * the memory of `m`. Err: ERR_PROTOCOL an unknown cell, a repeated item, a message after the end of its cell; ERR_FULL too much
 * data.
 */
int profiled_add(struct profiled *p, struct msg *m, int n_cells, struct fw_err *err);
void profiled_fini(struct profiled *p);

/** Return NULL if the cell has none. */
const struct msg_profile *profiled_end(const struct profiled *p, int cell);
const struct msg_counterfactual *profiled_with(const struct profiled *p, int cell);

/*
 * ---- result ----
 * All data of one job while it runs: the request, the worker, the results. A session fills it from the worker's messages. Nothing
 * is stored before the worker sends done; then the judge stores the whole result in one transaction. A job whose sides have equal
 * inputs gets a result without a worker (`identical_by`).
 */

struct result {
	struct plan plan; /* owned */
	int64_t started_at, ended_at;

	/* the measuring worker and device; device.uuid is "" if nothing ran */
	struct msg_device device;
	int64_t device_id;     /* row; 0: none */
	int64_t *cell_device;  /* rows of a split job's devices, by cell; NULL: all on device_id. Owned */
	int64_t *confirmed_on; /* rows of the confirming devices, by cell, 0 none; NULL: none confirmed. Owned */
	char isolation[8];     /* "bwrap" "none" */
	char worker_version[32];

	/* "", "tree" (nothing was built), "module" (equal builds), "comment" (programs that differ only in comments or layout) */
	char identical_by[8];
	char same_why[sizeof((struct msg_same *)0)->why]; /* of "comment": a phrase that names the files; else "" */
	bool is_named; /* a benchmark whose rows are unknown: its only cell has the benchmark's name */

	/* last message about each side's build; build[i].role is ROLE_NONE without one */
	struct msg_build build[PROTOCOL_SIDES_MAX];

	int n_checks, n_works, n_nodes, n_runs, n_cells, n_faults, n_notes, n_kernels;
	struct msg_check *check; /* in order of arrival; a later one for the same role and cell replaces the earlier one */
	struct msg_work *work;   /* as `check` */
	struct msg_node *node;   /* in order of the graph; new work of a role and cell replaces its nodes */
	struct msg_run **run;    /* run numbers are unique */
	struct msg_cell **cell;  /* timings: unique by run, cell, series, phase; a redo replaces */
	struct msg_fault *fault;
	struct msg_note *note;                /* the first RESULT_NOTES_MAX */
	struct msg_reported_kernels *kernels; /* of a program's cells, at most one of each role and cell */

	struct profiled profiled; /* of a job of kind profile */

	struct msg_done done; /* of the worker; zeros if nothing ran */
	size_t bytes;         /* memory used; limits the amount that a worker may send */
};

/** Start a result for `plan`. Own: takes over the plan's contents and leaves `plan` empty. */
struct result *result_new(struct plan *plan);
void result_free(struct result *r);

/**
 * Add one message of the worker: build, same, found, check, work, node, reported kernels, run, cell, kernel, code,
 * counterfactual, profile, fault, done; others are ignored. Own: takes over what `m` owns, and clears it there. Err:
 * ERR_PROTOCOL an index, role or number that the job does not have; ERR_FULL more than RESULT_BYTES_MAX.
 */
int result_add(struct result *r, struct msg *m, struct fw_err *err);
/** Give a benchmark without rows (not built, not run) one cell with its name, which stores the failure. */
int result_name_cell(struct result *r, struct fw_err *err);
/** True if the rows of a benchmark are unknown: it did not run, or the target ended early in the run that discovers them. */
bool result_rows_unknown(const struct result *r);
/** True if a side's provider was requested: its times show nothing about the commit with its default provider. */
bool result_names_provider(const struct result *r);
/** Store why a plan needs no worker, and add a cell for it. */
int result_unrun(struct result *r, struct fw_err *err);
/** Call it after done: adds a cell if there is none, and sets identical_by if both builds are known to run the same code. */
void result_end(struct result *r);

enum { RESULT_NOTES_MAX = 64 };

#define RESULT_BYTES_MAX (256u << 20)

/** Return the index of a role among the job's sides, -1 none. */
int result_side(const struct result *r, enum role role);
/** Return the check of (role, cell), NULL none. */
const struct msg_check *result_check(const struct result *r, enum role role, int cell);
/** Return the claims and observations of (role, cell), NULL none. */
const struct msg_work *result_work(const struct result *r, enum role role, int cell);
/** Return the number of kernels of a call of (role, cell). NAN without a graph: a CPU has none. */
double result_launches(const struct result *r, enum role role, int cell);
/** Return whether base and target are known to launch the same kernels in a call, with the same configuration. */
bool result_launches_equal(const struct result *r, int cell);
/** Return the kernels that a program reports for (role, cell), NULL none. */
const struct msg_reported_kernels *result_kernels(const struct result *r, enum role role, int cell);

enum { RESULT_CHOICE_SIZE = 800 };

/**
 * Write another choice of the autotuner in kernel `i` of those that the base's program reports for a cell: "the autotuner chose
 * BLOCK_N 64 instead of BLOCK_N 128 in matmul". False: the choices are equal, or there is no such kernel.
 */
bool result_other_choice(const struct result *r, int cell, int i, char out[RESULT_CHOICE_SIZE]);
/** Return the first fault of (cell, role): of that cell, or of no particular cell. NULL none. */
const struct msg_fault *result_fault(const struct result *r, enum role role, int cell);

/** Return the row of the device that timed a record in a job with several devices; 0: the job's only device. */
int64_t result_device(const struct result *r, const struct msg_cell *m);

/** True unless two kernels' compiled code is known to differ. */
bool result_same_code(const struct msg_node *a, const struct msg_node *b);

/*
 * ---- cell ----
 * The verdict of one cell: its failure if it has one, else the judgement of its timings. New results and results read from the
 * database take the same steps. Pure.
 */

/** Runs of one cell in one series, in order. A run does not count if its device checks void its times. */
struct judge_runs {
	int n;
	struct run_pairs pairs[STATS_RUNS_MAX];       /* ms NULL if only the estimate is stored */
	struct run_estimate estimate[STATS_RUNS_MAX]; /* set by judge_timings for runs with pairs */
	struct msg_device_check device_check[STATS_RUNS_MAX];
	const struct msg_cell *message[STATS_RUNS_MAX]; /* the source record; NULL when read back */
};

/** All timings of one cell that determine its verdict and flags, and findings that its row does not store. */
struct judge_timed {
	struct judge_runs decides;        /* of the series that decides */
	struct judge_runs sustained_runs; /* series sustained */
	struct judge_runs call;           /* series call, unless it decides */
	struct judge_runs host;           /* host time of enqueue, in us instead of ms, if the device time decides */
	bool are_forked;                  /* a process that has imported its modules forks the runs */
	bool is_base_alone;               /* as in verdict_options */

	struct cell_finding found; /* the slow calls as counted before; used without samples */
};

/** Initialise without runs. */
void judge_timed_init(struct judge_timed *t);
/** Return the series that decides a cell: the device's, unless the suite or a benchmark sets another one. */
enum series judge_series(const struct result *r, int cell);

/**
 * Fill the estimates of `t` and, in `c`, all fields from `m` on. A cell without runs becomes undecided; a cell whose runs are all
 * void becomes rejected. Flags that need deleted samples retain their value in `c`.
 */
void judge_timings(const struct rule *rule, bool sparse, struct judge_timed *t, struct store_cell *c);

/**
 * Judge the mean by the cell's slow calls and those of its group, which the caller has pooled. Sets `c->tail` and `c->mean` and,
 * if the mean decides, the verdict with its values. Changes nothing if no calls were counted. Shape: group[MEAN_SETS].
 */
void judge_mean(const struct rule *rule, const struct judge_timed *t, const struct tail *group, struct store_cell *c);

/** Estimate the target's time against that of `role` over all valid runs. Returns false if they were not timed together. */
bool judge_estimate(const struct result *r, int cell, enum role role, struct estimate *out);

/**
 * Write the class of the failure due to which the target cannot run cell `i`, whatever the base does; "" none. Shape: class[16].
 */
void judge_target_class(const struct result *r, int i, char class[16]);

/** Judge cell `i` of a result: fills `c` (except ids) and `t`. */
void judge_cell(const struct result *r, int i, struct judge_timed *t, struct store_cell *c);

/** Return the median of a series over all runs of one side. `role`: ROLE_BASE or ROLE_TARGET. NAN: no values. */
enum judge_values { JUDGE_MS, JUDGE_MHZ, JUDGE_HOST_US };
double judge_median(
	const struct result *r, int cell, enum series series, const char *phase, enum role role, enum judge_values which);

/**
 * Compute the change of throughput in percent with its 95 % interval. All are NAN if a side has no times; the interval also for a
 * single run.
 */
struct judge_change {
	double change_pct, ci_low_pct, ci_high_pct;
};
/** Compute the paired change of one series (and phase), with the effect of clocks. Shape: all runs of the result. */
struct judge_change judge_change(const struct result *r, int cell, enum series series, const char *phase);

/*
 * ---- comparison_json ----
 * The JSON of one comparison, as stored and as served by the API. It is built once, from the rows that the job's transaction
 * wrote, and never per request.
 */

/** Append the JSON. Err: ERR_NOT_FOUND; ERR_FULL it does not fit into `out`. */
int body_comparison(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err);

/** Build the JSON and store it with its ETag (SHA-256). Inside the caller's transaction. */
int body_store(struct db *db, int64_t comparison, struct fw_err *err);

/*
 * ---- devicestate ----
 * A device's state: ok, paused, quarantined, health_check (a user requested its return, and it is checked first), absent. Each
 * change is one transaction with its event. No state resets a device.
 */

/** Set the state of a device and send the event "device.state" with {"device","state","why","who"}. Err: ERR_NOT_FOUND. */
int devicestate_set(
	struct txn *txn, const char *uuid, enum devicestate state, const char *why, const char *who, struct fw_err *err);
/** As devicestate_set, for changes by the daemon itself: a failure is logged and changes nothing. */
void devicestate_report(struct txn *txn, const char *uuid, enum devicestate state, const char *why);

/* ---- facts: Metrics and artifacts of a cell besides its verdict: phases, calls, clocks, checks, work, graph nodes. ---- */

/**
 * Store metrics and artifacts of cell `i` of the result for row `cell`. Names: "phase.<phase>.base_ms", ".target_ms",
 * ".change_pct"; "call.base_us"; "enqueue.base_us"; "clock.base_mhz"; "sustained.base_ms"; "energy.base_j"; "base.error_ratio";
 * "base.flops_issued" and the other counts of work. Artifacts: "nodes" (all graph nodes of both sides) and "nodes_changed"
 * (their numbers, and the kernels whose shape or registers differ). Inside the caller's transaction.
 */
int judge_facts(struct db *db, const struct result *r, int i, int64_t cell, struct fw_err *err);

/**
 * Energy of a call in the sustained runs of a cell that count and have it on both sides. Units: J, NAN none; a ratio of a run.
 */
struct sustained_energy {
	double base_j, target_j, least_ratio;
	int runs;
};
struct sustained_energy result_energy(const struct result *r, int cell);

/** Store "sustained.change_pct", ".ci_low_pct", ".ci_high_pct", ".runs", "slow_calls.base_pct". Call it after each judgement. */
int judge_facts_timed(struct db *db, int64_t cell, const struct judge_timed *t, struct fw_err *err);

/* ---- partition: The division of a plan's cells among several devices, and the plan of each partition. ---- */

enum { PLAN_PARTITIONS_MAX = 8 };

/** Make a plan with some cells of `whole` and its rule. Shape: cell[n], indices in `whole`. Own: plan_fini. */
void plan_copy_cells(const struct plan *whole, const int *cell, int n, struct plan *out);
/** Divide the cells among `n_partitions` devices with about equal FLOPs. Shape: partition_of[n_cells]. */
void plan_partition(const struct plan *whole, int n_partitions, int *partition_of);

/*
 * ---- groups ----
 * Groups of cells that run the same kernel: one direction of the dense or of the block-sparse cells. A group can show changes for
 * which a single cell has too few calls. Pure.
 */

enum { JUDGE_GROUPS_MAX = 16 * PLAN_PARTITIONS_MAX }; /* 16 for each device; cells beyond the limit form no group */

struct judge_groups {
	int n;
	struct {
		char group[16], direction[16];
		int64_t device; /* a kernel's behaviour on one device shows little about another */
		struct tail tail[MEAN_SETS];
	} of[JUDGE_GROUPS_MAX];
};

/** Add a judged cell. Start with n = 0. */
void judge_groups_add(struct judge_groups *g, const struct store_cell *c, const struct judge_timed *t);
void judge_groups_of_result(const struct result *r, struct judge_groups *g);
/** Judge the mean of a judged cell with its group. Call it after all cells were added. */
void judge_groups_mean(const struct judge_groups *g, const struct rule *rule, const struct judge_timed *t, struct store_cell *c);

/**
 * List the cells that need a second set of runs for a regression, as plan indices. Returns their number. Shape: cell[n_cells].
 */
int judge_groups_unconfirmed(const struct result *r, int *cell);

/* ---- lost: Regressions in the first set of runs, by estimator. Pure. ---- */

/** True if the first set of pairs shows a regression, confirmed or not: the cell needs no sustained runs. */
bool judge_pairs_show_slowdown(const struct result *r, int cell);

/** True if the first set of sustained runs shows a regression that another set must confirm. */
bool judge_sustained_runs_show_slowdown(const struct result *r, int cell);

/* ---- profile_cells: Cells to profile: the largest slowdown of each group and direction, and the largest of these. Pure. ---- */

enum { PROFILE_CELLS_GROUPS_MAX = 16 };

struct profile_cell {
	char key[CASE_KEY_SIZE], group[16], direction[16];
	double slowdown; /* larger slowdowns come first */
};

struct profile_cells {
	int n;
	struct profile_cell cell[PROFILE_CELLS_GROUPS_MAX];
};

/** Add a cell; a zeroed set is empty. A slowdown that is not finite ranks last. */
void profile_cells_add(struct profile_cells *c, const char *key, const char *group, const char *direction, double slowdown);
/** Reduce the set to the `most` largest slowdowns, in descending order. */
void profile_cells_choose(struct profile_cells *c, int most);
/**
 * Write the keys of the set, separated by single spaces, as in a job's row. Shape: text[size]; keys that do not fit are omitted.
 */
void profile_cells_text(const struct profile_cells *c, char *text, size_t size);

/*
 * ---- profile_request ----
 * Profile jobs, which search the cause of a slowdown. Inside the caller's transaction.
 */

/**
 * A requested profile is below a bisect, the lowest priority of jobs that users request. The profile of an alert is above pushes
 * that no client waits for, so that the alert soon has its cause, and below pushes that a client waits for. A job of priority
 * YIELDS or above preempts a running profile of lower priority.
 */
enum { PROFILE_PRIORITY = -6, PROFILE_PRIORITY_ALERT = 1, PROFILE_PRIORITY_YIELDS = 0 };

/** Copy sides, suite and device of a comparison into `job`; the caller sets cells, origin and names. */
void profile_request_like(const struct store_profile_of *of, struct store_job *job);
/**
 * Insert `job` and its profile `p`, which names the comparison to explain; sets both ids. `line`: the reason, for the job's log.
 */
int profile_request(
	struct db *db, struct store_job *job, struct store_profile *p, const char *line, int64_t now_ms, struct fw_err *err);

/* ---- record: Changes of a job: state, log line and event, in one transaction. ---- */

/** Set a job's state inside a transaction, with its event and (given a reason) a log line. Err: ERR_CONFLICT it has ended. */
int job_move(struct txn *txn, const struct store_job *job, enum jobstate to, const char *why, int64_t now_ms, struct fw_err *err);
/** Return the job to queued without counting the attempt. */
int job_release(struct txn *txn, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);
/** Store the reason why a queued job waits; a repeated reason is stored once. */
int job_wait(struct txn *txn, const struct store_job *job, const char *why, int64_t now_ms, struct fw_err *err);

/** Call job_move in a new transaction. */
int job_move_now(struct txn *txn, const struct store_job *job, enum jobstate to, const char *why, struct fw_err *err);

/* ---- result_join: Join the results of a split job's partitions, whose cells were measured on different devices. ---- */

/**
 * Add the results of a partition; its runs follow the existing ones. A fault of the partition's device affects only its cells
 * without times. `set`: 2 if all of its runs confirm, 0 unchanged. Shape: cell[n], indices in `whole` of the partition's cells.
 * Own: empties `partition`, which the caller still frees. Err: too large.
 */
int result_join(struct result *whole, struct result *partition, const int *cell, int n, int set, struct fw_err *err);
/** Discard timings and notes of some cells, which will be measured again. Shape: cell[n]. */
void result_forget(struct result *r, const int *cell, int n);

/*
 * ---- sentinels ----
 * Sentinel runs of a split job: the partition that measures the power draw of each class of cells, and the cells of other
 * partitions that are measured again because of the result. A sentinel run takes seconds that cannot be divided, so one partition
 * measures each class. If the power draw of both sides differs, cells that their own partition timed only in pairs are measured
 * again in sustained runs. That is rare, but never omitted.
 */

/** The partition of one device in a job, and its results. */
struct share {
	int n, *cell;                /* cell[n]: indices in the whole plan; owned by the code that filled it */
	sentinel_set elsewhere;      /* classes that other partitions measure */
	sentinel_set requested;      /* classes whose cells need sustained runs */
	sentinel_set sustained_runs; /* as reported: classes whose cells had sustained runs */
};

/**
 * Assign each class to one of at most PLAN_PARTITIONS_MAX partitions. Candidates have a cell at least half as long as the class's
 * longest one; the candidate with the fewest classes gets it. Pure.
 */
void sentinels_assign(const struct plan *whole, struct share *share, int n);
/**
 * Collect the cells to measure again: the sentinel runs of another partition require sustained runs for their direction, or did
 * not take place. Excludes cells that had sustained runs or failed. Pure. Shape: share[n], where the last one with a cell counts;
 * again->cell has capacity for every cell of the plan.
 */
void sentinels_find_missed(const struct result *whole, const struct share *share, int n, struct share *again);

/* ---- throttle: Device time during which the clocks were limited. ---- */

/**
 * Add the device time of a result's timed calls to the throttle reasons reported by the device checks around them. A check stores
 * the worse of its readings before and after, so the sum is an upper bound. `device`: the device of the comparison; times of
 * other devices do not count. Inside the caller's transaction.
 */
int judge_throttle(struct db *db, const struct result *r, int64_t device, struct fw_err *err);

#endif
