/**
 * bench.h - one comparison on one device while it runs: subjects, cells, what is known of each cell, and where records go.
 *
 * serve fills it from a job and sends records to the daemon; compare fills it from its arguments and prints a table. Checks,
 * runs and the sequential procedure in between know only this.
 */
#ifndef WORKER_BENCH_BENCH_H
#define WORKER_BENCH_BENCH_H

#include <limits.h>

#include "core/verdict/cell_verdict.h"
#include "core/protocol/protocol.h"
#include "worker/build/cache.h"
#include "worker/box/oomkills.h"
#include "worker/box/peer.h"
#include "worker/box/sandbox.h"

/** Take one record. Err: -1 ends the job. */
typedef int bench_emit_fn(void *arg, const struct msg *m, struct fw_err *err);

struct bench_subject {
	enum role role;
	char provider[48];
	char config[160]; /* that a person wants of it, in every cell; "": it chooses */
	char sha256[HASH_HEX];
	char file[PATH_MAX];     /* what people call it */
	int fd;                  /* sealed module; closed by bench_fini */
	struct kernelcode *code; /* of that module, once it was asked for; freed by bench_fini */
	bool code_read;
	bool dropped; /* a further subject that failed: no longer part of runs */
};

/** Timings of one run. Shape: values holds base_ms, target_ms, base_mhz, target_mhz of n each. */
struct bench_run {
	int process_run, set, n;
	bool clocks;
	float *values;
};

/** The first thing that went wrong with one side. */
struct bench_failure {
	enum role role;
	char failure[16]; /* "": nothing */
	char detail[512];
};

/** A configuration that a subject's provider is handed: what it searched for at its check, or what a person wants of it. */
struct bench_pin {
	int subject, cell;
	char config[160];
};

enum { BENCH_NOTES_MAX = 32 };

enum bench_side { BENCH_BASE, BENCH_TARGET, BENCH_OUTSIDE /* the worker or the device */, BENCH_SIDES };

/** A call of a module with no other loaded. */
struct bench_alone {
	double ms, mhz; /* mhz: the clock that it ran at; 0 unknown */
};

struct bench_cell {
	bool open; /* accepted on both sides and not failed since: may be timed */
	bool judged;
	struct bench_failure problem[BENCH_SIDES];
	bool target_passed;                         /* its check */
	char check_inputs[BENCH_OUTSIDE][HASH_HEX]; /* of the sides' checks: runs have to name those of the base; "" unknown */
	struct bench_alone alone[BENCH_OUTSIDE];    /* of base and target: as their checks have it */
	struct msg_work work[BENCH_OUTSIDE]; /* likewise what they said of it, without what they tried; provider "": nothing */
	int n_runs;
	struct bench_run process_run[STATS_RUNS_MAX]; /* of the series that decides */
	int n_sustained_runs;
	struct bench_run sustained_run[STATS_RUNS_MAX]; /* series sustained */
	int n_void_sustained_runs;                      /* that the device's readings void */
	int leans; /* sustained runs in which target drew more power, less those in which base did */
	struct cell_finding found;
	int discarded; /* runs whose times the device's readings void, or that were lost to neither side */
	int voided;    /* the former alone */
	int ends;      /* of the process, in runs that end well where the base is beside a copy of itself */
	int kills;     /* of the process in the target's calls, by a signal of somebody else */
};

struct bench {
	struct peer *peer;
	const struct sandbox *sandbox;
	const struct cache *cache;               /* NULL: acceptance is not cached */
	void (*oom_kills)(struct oomkills *out); /* NULL: oomkills_read */
	bench_emit_fn *emit;
	void *emit_arg;
	char runner[PATH_MAX];
	char runner_sha[HASH_HEX];
	struct msg_device device;
	int n_subjects;
	struct bench_subject subject[PROTOCOL_SUBJECTS_MAX];
	int base, target; /* their positions */
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
	sentinel_set looked_elsewhere; /* classes of cells that have no sentinel here */
	sentinel_set asked;            /* whose cells run in sustained runs, whatever pairs say of them */
	sentinel_set sustained_runs;   /* whose cells do, because power draw differs: those, and what is found */
	bool set_begun[3];
	bool over;   /* no further run will come */
	bool lost;   /* the device is broken: nothing runs on it any more */
	int n_noted; /* notes passed on, each once */
	char noted[BENCH_NOTES_MAX][64];
	bool guarded;     /* health_check_device_check has read the device before, */
	int ecc;          /* and this many memory errors were counted then */
	int idle_looks;   /* at who else is on the device, so far */
	int runs;         /* so far */
	double gpu_s;     /* the device was held for */
	double started_s; /* monotonic */
};

/** Start empty: no subjects, cells `cells`. Err: out of memory, no runner program. Own: bench_fini. */
int bench_init(struct bench *b, const struct cell *cells, int n_cells, struct fw_err *err);
void bench_fini(struct bench *b);
/** Add a subject, which people call `file`; takes over `fd`. */
int bench_subject(
	struct bench *b, enum role role, const char *provider, const char *file, int fd, const char *sha256, struct fw_err *err);
/** The subject that was added last is handed this configuration in every cell, unless it is "". Err: out of memory. */
int bench_hand(struct bench *b, const char *config, struct fw_err *err);
/** After all subjects: find base and target. Err: a side is missing. */
int bench_ready(struct bench *b, struct fw_err *err);
/** Base and target are the same module by its own choice of a provider, and this is no selfcheck: there is nothing to time. */
bool bench_identical(const struct bench *b);

/** Keep what a provider found by searching, in place of what was kept before: from now on it is handed back. */
int bench_pin(struct bench *b, int subject, int cell, const char *config, struct fw_err *err);

/** What a subject's provider is handed for a cell; "": it chooses. Own: the bench's, until the next bench_pin. */
const char *bench_pinned(const struct bench *b, int subject, int cell);

/** The hash of a kernel's code, which stands in the sealed module; "" where it cannot be read there. What a runner says of it is testimony. */
void bench_code(struct bench_subject *s, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

int bench_send(struct bench *b, const struct msg *m, struct fw_err *err);
/**
 * Note what went wrong with a cell, close it, and send a fault record. Cell -1: with all; what is neither side's then spares
 * cells that were timed.
 */
int bench_fault(struct bench *b, int cell, enum role role, const char *failure, const char *detail, struct fw_err *err);
/** As bench_fault without sending: the record came from the runner and was passed on. */
void bench_note(struct bench *b, int cell, enum role role, const char *failure, const char *detail);

/** Whose turn it is to begin the current run, as a number from 1 on for order_first: any in the first run, and then the next. */
int bench_turn(const struct bench *b);
/** Place of a role among the subjects of a record; -1 none. */
int bench_role(const struct msg_cell *m, enum role role);
/** Whether a record is of the series that decides its cell. */
bool bench_decides(const struct bench *b, const struct msg_cell *m);
/** Append the timings of a record to a list; a second one of the same run replaces the first. Shape: list[STATS_RUNS_MAX]. */
int bench_keep(struct bench_run *list, int *n, const struct msg_cell *m, struct fw_err *err);
/** Keep the timings of a `cell` record of the series that decides. 1 kept; 0 left out, for the device's readings void them. */
int bench_add(struct bench *b, const struct msg_cell *m, struct fw_err *err);
/** Judge a cell anew from its runs. */
void bench_judge(struct bench *b, int cell);
/** No further run will come: judge every cell by what there is. */
void bench_end(struct bench *b);
/** Whether runs of set 1 noise so much that all that the rule allows would leave the cell undecided. `se`: what its standard error would be. */
bool bench_is_hopeless(const struct bench *b, int cell, double *se);
/** What stands in the way of a cell's verdict; NULL nothing. What the target shares with its base is the base's. */
const struct bench_failure *bench_failure(const struct bench *b, int cell);
/** The word for a cell: what failed before what was measured. */
enum verdict bench_verdict(const struct bench *b, int cell);
/** What a cell's runs say, beside the slow calls of all cells that run the same kernel. */
void bench_decide(const struct bench *b, int cell, struct cell_verdict *out);
/** Median ms of one side over all runs; 0 without any. */
double bench_median_ms(const struct bench *b, int cell, bool target);

#endif
