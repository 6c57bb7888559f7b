/**
 * bench.h - state of one comparison on one device: subjects, cells, results of each cell, and the sink of records.
 *
 * serve fills it from a job and sends records to the daemon; compare fills it from its arguments and prints a table. Checks,
 * runs and the sequential procedure depend on this state only.
 */
#ifndef WORKER_BENCH_H
#define WORKER_BENCH_H

#include <limits.h>

#include "verdict/cell_verdict.h"
#include "protocol/protocol.h"
#include "worker/sandbox/cache.h"
#include "worker/sandbox/oomkills.h"
#include "worker/sandbox/peer.h"
#include "worker/sandbox/sandbox.h"

/** Take one record. Err: -1 ends the job. */
typedef int bench_emit_fn(void *arg, const struct msg *m, struct fw_err *err);

struct bench_subject {
	enum role role;
	char provider[48];
	char config[160]; /* configuration requested by the user, for every cell; "": the provider chooses */
	char sha256[HASH_HEX];
	char file[PATH_MAX];     /* file name for messages */
	int fd;                  /* sealed module; closed by bench_fini */
	struct kernelcode *code; /* of that module, read on first use; freed by bench_fini */
	bool code_read;
	bool dropped; /* an additional subject that failed: excluded from runs */
};

/** Timings of one run. Shape: values holds base_ms, target_ms, base_mhz, target_mhz of n each. */
struct bench_run {
	int process_run, set, n;
	bool clocks;
	float *values;
};

struct bench_failure {
	enum role role;
	char failure[16]; /* "": none */
	char detail[512];
};

/** A configuration that a subject's provider receives: found by its search at the check, or requested by the user. */
struct bench_pin {
	int subject, cell;
	char config[160];
};

enum { BENCH_NOTES_MAX = 32 };

enum bench_side { BENCH_BASE, BENCH_TARGET, BENCH_OUTSIDE /* the worker or the device */, BENCH_SIDES };

/** Time of a call with no other module loaded. */
struct bench_alone {
	double ms, mhz; /* mhz: clock during the call; 0 unknown */
};

struct bench_cell {
	bool open; /* accepted on both sides and not failed since: may be timed */
	bool judged;
	struct bench_failure problem[BENCH_SIDES];
	bool target_passed; /* in its check */
	char check_inputs[BENCH_OUTSIDE]
			 [HASH_HEX]; /* input hashes of the sides' checks: runs must report those of the base; "" unknown */
	struct bench_alone alone[BENCH_OUTSIDE]; /* of base and target, from their checks */
	struct msg_work
		work[BENCH_OUTSIDE]; /* work records of their checks, without the tried configurations; provider "": none */
	int n_runs;
	struct bench_run process_run[STATS_RUNS_MAX]; /* of the series that decides */
	int n_sustained_runs;
	struct bench_run sustained_run[STATS_RUNS_MAX]; /* series sustained */
	int n_void_sustained_runs;                      /* discarded because of device readings */
	int leans; /* sustained runs in which target drew more power, minus those in which base did */
	struct cell_finding found;
	int discarded; /* runs discarded because of device readings, or lost through neither side */
	int voided;    /* only those discarded because of device readings */
	int ends;      /* early ends of the process, in runs that end well where the base runs against a copy of itself */
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
	int n_subjects;
	struct bench_subject subject[PROTOCOL_SUBJECTS_MAX];
	int base, target; /* positions in subject[] */
	int n_cells;
	const struct cell *cells; /* borrowed */
	struct bench_cell *cell;  /* cell[n_cells] */
	int n_pins;
	struct bench_pin *pin; /* pin[n_pins]; freed by bench_fini */
	struct rule rule;
	struct msg_limits limits;
	uint64_t seed;
	bool quick;
	bool selfcheck;                /* equal modules are timed too */
	sentinel_set looked_elsewhere; /* classes of cells whose sentinel runs elsewhere */
	sentinel_set requested;        /* classes whose cells run in sustained runs, whatever pairs show */
	sentinel_set sustained_runs;   /* classes in sustained runs: those requested, and those whose power draw differs */
	bool set_begun[3];
	bool over;   /* no further run follows */
	bool lost;   /* the device is broken: nothing more runs on it */
	int n_noted; /* notes sent, each once */
	char noted[BENCH_NOTES_MAX][64];
	bool guarded;     /* health_check_device_check has read the device before */
	int ecc;          /* memory errors at that reading */
	int idle_looks;   /* checks for other processes on the device, so far */
	int runs;         /* so far */
	double gpu_s;     /* time during which the device was held */
	double started_s; /* monotonic */
};

/** Initialise without subjects, for cells `cells`. Err: out of memory, no runner program. Own: bench_fini. */
int bench_init(struct bench *b, const struct cell *cells, int n_cells, struct fw_err *err);
void bench_fini(struct bench *b);
/** Add a subject, named `file` in messages; takes over `fd`. */
int bench_subject(
	struct bench *b, enum role role, const char *provider, const char *file, int fd, const char *sha256, struct fw_err *err);
/** Pass this configuration to the last subject in every cell, unless it is "". Err: out of memory. */
int bench_hand(struct bench *b, const char *config, struct fw_err *err);
/** Find base and target, after all subjects were added. Err: a side is missing. */
int bench_ready(struct bench *b, struct fw_err *err);
/**
 * Return whether base and target are the same module with the same choice of provider, and this is no selfcheck: nothing to
 * time.
 */
bool bench_identical(const struct bench *b);

/** Store the configuration that a provider found by searching, replacing an earlier one; later calls receive it. */
int bench_pin(struct bench *b, int subject, int cell, const char *config, struct fw_err *err);

/** Return the configuration for a subject's provider in a cell; "": it chooses. Own: the bench's, until the next bench_pin. */
const char *bench_pinned(const struct bench *b, int subject, int cell);

/**
 * Return the hash of a kernel's code in the sealed module; "" if it cannot be read there. The worker never takes this hash from
 * a runner.
 */
void bench_code(struct bench_subject *s, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

int bench_send(struct bench *b, const struct msg *m, struct fw_err *err);
/**
 * Record a failure of a cell, close the cell, and send a fault record. Cell -1: all cells; if neither side caused it, cells
 * with times stay open.
 */
int bench_fault(struct bench *b, int cell, enum role role, const char *failure, const char *detail, struct fw_err *err);
/** Record a failure as bench_fault does, without sending: the runner's record was forwarded. */
void bench_note(struct bench *b, int cell, enum role role, const char *failure, const char *detail);

/** Return which side begins the current run, as a number from 1 on for order_first: random in the first run, then the next. */
int bench_turn(const struct bench *b);
/** Return the position of a role among the subjects of a record; -1 none. */
int bench_role(const struct msg_cell *m, enum role role);
bool bench_decides(const struct bench *b, const struct msg_cell *m);
/** Append the timings of a record to a list, or replace those of the same run. Shape: list[STATS_RUNS_MAX]. */
int bench_keep(struct bench_run *list, int *n, const struct msg_cell *m, struct fw_err *err);
/** Store the timings of a `cell` record of the deciding series. Returns 1 stored; 0 discarded because of device readings. */
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

#endif
