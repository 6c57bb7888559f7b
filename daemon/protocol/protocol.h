/**
 * protocol.h - messages between daemon and worker (protocol 1) and between worker and runner: parser and writer.
 *
 * One LF-terminated JSON object a line, UTF-8, at most PROTOCOL_LINE_MAX bytes; unknown keys are ignored, an unknown "t" is an
 * error. The parser validates types, ranges and array lengths first; all directions share it, and it is fuzzed. doc/protocol.md
 * lists every message with an example.
 */
#ifndef PROTOCOL_PROTOCOL_H
#define PROTOCOL_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "lib/jsonw.h"
#include "model/case.h"
#include "protocol/sentinel.h"
#include "model/device_kind.h"
#include "model/jobkind.h"
#include "model/manifest.h"
#include "model/readonly.h"
#include "model/toolchain_override.h"
#include "model/role.h"
#include "model/run_mode.h"
#include "protocol/evidence.h"
#include "protocol/signature.h"
#include "protocol/tried.h"
#include "stats/stats.h"
#include "model/suite.h"

#define PROTOCOL_VERSION    1
#define PROTOCOL_LINE_MAX   (1u << 20)
#define PROTOCOL_BANNER_MAX (64u << 10)  /* bytes skipped before hello */
#define PROTOCOL_LOG_MAX    (640u << 10) /* sent bytes of a build log, from its end; their base64 fits a line */

#define PROTOCOL_BUILDER "build" /* the device of a worker that only builds */

enum { PROTOCOL_SUBJECTS_MAX = 6, PROTOCOL_SAMPLES_MAX = 256, PROTOCOL_DEVICES_MAX = 64 };

enum msg_type {
	MSG_HELLO,
	MSG_JOB,
	MSG_NEED,
	MSG_TREE,
	MSG_BUILD,
	MSG_CHECK,
	MSG_PROCESS_RUN,
	MSG_AT,
	MSG_FOUND,
	MSG_CELL,
	MSG_WORK,
	MSG_NODE,
	MSG_FAULT,
	MSG_DONE,
	MSG_PING,
	MSG_CANCEL,
	MSG_RUN,
	MSG_NOTE,
	MSG_STATE,
	MSG_HEALTH_CHECK,
	MSG_AUDIT,
	MSG_KERNEL,
	MSG_CODE,
	MSG_COUNTERFACTUAL,
	MSG_PROFILE,
	MSG_STALLS
};

struct msg_device {
	enum device_kind kind;
	char uuid[64];
	char name[96];
	char driver[48];
	char toolkit[TOOLCHAIN_TEXT_SIZE]; /* compiler versions that enter the build's cache key */
	char cudnn[24];                    /* version that modules load; "" none */
	char cublas[24];                   /* version that modules load; "" none */
	char image[64];                    /* the worker's system: "debian 12.5, glibc 2.36" */
	char vbios[32];                    /* "" unknown */
	int index;
	char pci[32];         /* bus address, "0000:1b:00.0"; "" none */
	double power_limit_w; /* 0: unknown */
	int cores;            /* SMs or CPU threads */
	int64_t memory_bytes, l2_bytes;
	double clock_max_mhz;
	double peak_tflops, peak_gb_s; /* upper bounds: dense bf16, and memory; 0: unknown */
};

/** Location of a worker's builds, for runs by hand. Texts "": unknown. */
struct msg_location {
	char host[64], user[33];
	bool is_system;                   /* a system account without login */
	char runner[1024], modules[1024]; /* paths: the program, and the folder of SHA256.so */
};

struct msg_hello {
	int protocol;
	char version[32];
	char isolation[8]; /* "bwrap" or "none" */
	bool builds_only;  /* no device is open: its one entry names the builds' target, with uuid PROTOCOL_BUILDER */
	struct msg_location location;
	int n_read_only;
	char read_only[READONLY_MAX][READONLY_PATH_SIZE]; /* folders of its machine that branch code may read */
	int n_devices;
	struct msg_device device[PROTOCOL_DEVICES_MAX];
};

/** One side under test. In a job: sources to build. */
struct msg_subject {
	enum role role; /* of the side */
	char commit[65];
	int n_inputs;
	struct {
		char path[MANIFEST_TEXT_SIZE];
		char oid[65];
	} input[MANIFEST_LIST_MAX];
	struct manifest build;           /* only dir, command, outputs, timeout_s are used */
	char provider[48];               /* "": the module's default */
	char config[160];                /* configuration for the provider's plan of every cell; "": it chooses */
	struct toolchain_override tools; /* its toolchain, if not the worker's own */
	struct benchmark run;            /* a benchmark program that is measured instead of a module; run.name "": none */
};

struct msg_limits {
	double build_s, check_s, run_s, budget_s;
	double wait_s; /* wait for other processes to leave the device; default 600 */
	int64_t log_bytes;
};

struct msg_job {
	int64_t job;
	int attempt;
	char nonce[33];
	enum jobkind kind; /* not JOBKIND_IMPORT */
	char device[64];
	int n_beside;
	char beside[PROTOCOL_DEVICES_MAX]
		   [64]; /* devices that may have a concurrent job there, including its own; none: all of its kind */
	uint64_t seed;
	bool quick;                    /* one run per cell without confirmation: no reliable verdict */
	sentinel_set looked_elsewhere; /* classes of its cells whose sentinel another partition of the comparison runs */
	sentinel_set sustained_runs;   /* classes whose cells have sustained runs: their power draw is known to differ */
	int n_subjects;
	struct msg_subject subject[PROTOCOL_SUBJECTS_MAX];
	int n_cells;
	struct cell *cell; /* cell[n_cells]; owned by the message; none for benchmark programs */
	struct rule rule;
	struct msg_limits limits;
};

enum { PROTOCOL_NEED_MAX = 192 }; /* inputs of every subject */

struct msg_need {
	int n;
	char oid[PROTOCOL_NEED_MAX][65];
};
struct msg_tree {
	char oid[65];
	int64_t bytes;
};

struct msg_build {
	enum role role;
	char state[8];
	int exit, signal;
	int64_t duration_ms;
	char family[16];        /* of the module; "" for a benchmark program */
	char module_sha256[65]; /* "" unless ok or cached */
	char toolchain[TOOLCHAIN_TEXT_SIZE];
	struct buf log;   /* decoded from log_b64; owned by the message */
	char detail[256]; /* why it failed */
};

struct msg_check {
	enum role role;
	int cell;
	bool ok;
	char failure
		[16]; /* "" or "wrong" "oob" "crash" "timeout" "unsupported" "provider" (missing) "abi", or the class of a rejection */
	double error_ratio; /* error over the allowed error; < 1 is accepted; -1 unknown */
	double alone_ms;    /* shortest cold call alone in the check; 0 unknown */
	double alone_mhz;   /* its clock; 0 unknown */
	char repeats[8];    /* bitwise equality of two calls on the same inputs: "same" "differs"; "" unknown */
	char input_sha256[65];
	char detail[512]; /* the worst element, or the reason */
};

/** The rows of a benchmark program, which become the job's cells. */
struct msg_found {
	int n;
	struct {
		char key[CASE_KEY_SIZE];
		double flops; /* of a call; 0 unknown */
	} cell[JOB_CELLS_MAX];
};

struct msg_process_run {
	int process_run, set;
	uint64_t seed;
	int n_cells;
	int cell[JOB_CELLS_MAX];
};

struct msg_at {
	int process_run, cell; /* cell -1: no single cell */
	enum role role;
	char step
		[8]; /* "load" "plan" "check" "warm" "time" "phase" "count" "sample"; "look": waits for the worker's comparison */
};

struct msg_device_check {
	double power_w, temp_c, sm_mhz; /* -1: unknown */
	uint64_t reasons;               /* clock event reasons of NVML */
	int foreign;                    /* other processes on the device; -1: unknown */
	int xid, ecc;                   /* since the reading before: last XID, uncorrected memory errors; 0: none */
	double energy_j;                /* used while the times were taken; -1: unknown */
	char regime[16];                /* "boost" "power_limited" "" */
};

struct msg_cell {
	int process_run, set, cell, redo;
	enum series series;
	char phase[16]; /* "run", "prepare", ...; "" unless series is SERIES_PHASE */
	char input_sha256[65];
	int n_subjects;
	enum role role[PROTOCOL_SUBJECTS_MAX];
	int n;                                  /* samples of each subject */
	float *ms[PROTOCOL_SUBJECTS_MAX];       /* ms[s][n]; owned by the message */
	float *mhz[PROTOCOL_SUBJECTS_MAX];      /* mhz[s][n] or NULL */
	float *host_us[PROTOCOL_SUBJECTS_MAX];  /* host time of enqueue, or NULL */
	double energy_j[PROTOCOL_SUBJECTS_MAX]; /* of a call, series sustained; 0: unknown */
	char order[PROTOCOL_SUBJECTS_MAX * PROTOCOL_SAMPLES_MAX +
		   1]; /* subject of each call in time, "ABBAABBA.."; A is role[0]; "" unknown */
	struct msg_device_check device_check;
};

/** A module's claims for a cell, and the runner's observations. */
struct msg_work {
	enum role role;
	int cell;
	char provider[48], config[160];
	double flops_issued, bytes_moved; /* -1 unknown */
	int64_t tiles_total, tiles_skipped, tiles_partial, blocks_kept, workspace_bytes;
	int64_t persist_bytes,
		tensor_bytes;           /* observed: memory allocated for the module, and for the tensors of a call; 0 unknown */
	int64_t taken_bytes;            /* observed: other device memory of plan, bind and the first call; -1 unknown */
	int64_t mask_blocks, mask_kept; /* counted blocks of a mask, over all key heads; 0 none */
	uint32_t phases;
	bool tunes;         /* the configuration was searched for: later processes receive it */
	struct tried tried; /* owned by the message */
};

struct msg_node {
	enum role role;
	int cell;
	char phase[16];
	char kernel[256]; /* "memset" and "memcpy" for such nodes */
	int grid[3], block[3], registers, local_bytes, shared_bytes;
	int sm;                 /* architecture of its code: 90; 0 unknown */
	char symbol_sha256[65]; /* runner to worker: of its mangled name; "" unknown */
	char code_sha256[65];   /* worker to daemon: of its compiled code (profile/cubin.h); "" unknown */
};

struct msg_fault {
	int cell; /* -1: no single cell */
	enum role role;
	char failure
		[16]; /* "build" "abi" "unsupported" "crash" "wrong" "oob" "timeout" "device" "protocol" "reported", or of a rejection */
	char detail[512];
};

struct msg_cancel {
	bool stays; /* and send hello again, for another job; a worker that does not know this key exits */
};

struct msg_done {
	double gpu_s;
	double wall_s;
	bool cancelled;
	sentinel_set sustained_runs; /* classes whose cells have sustained runs, because power draw differs */
};

/** Information that decides nothing: a wait, leaked state of a module. */
struct msg_note {
	int cell;       /* -1: no single cell */
	enum role role; /* the side that caused it */
	char text[400];
};

struct msg_state {
	enum run_mode what; /* from RUN_IDLE on */
	bool ok;
	struct msg_device_check device_check;
	char detail[400]; /* its fault; "" when ok */
};

/** Daemon to worker instead of a job: test the device with a known computation. The answer is a state. */
struct msg_health_check {
	char device[64];
};

/** Runner to worker in an audit: a batch of calls is ready and waits for its go, or is done. */
struct msg_audit {
	int cell;
	enum role role;
	int calls;
	bool done;
	double ms; /* if done: device time of all its calls */
};

/** A configuration that a provider found by searching, passed back so that every process runs the same. */
struct msg_pin {
	int cell, subject; /* the cell's number in the job; position among the run's subjects */
	char config[160];
};

/** Worker to runner, on the runner's standard input: the whole task of one process. */
struct msg_run {
	enum run_mode mode; /* modes from RUN_IDLE on have neither subjects nor cells */
	char device[64];
	int process_run, set;
	int pass; /* mode device_check: discarded times of this run before; clocks: processes before this one */
	uint64_t seed;
	int turn;                          /* mode time: which side begins (order.h), advancing with each cell; 0: random */
	char signature[SIGNATURE_KEY + 1]; /* key of the signatures of the process's lines (signature.h); "": none */
	int n_subjects;
	struct {
		enum role role;
		char module[128];
		char provider[48];
	} subject[PROTOCOL_SUBJECTS_MAX];
	int n_cells;
	struct cell *cell; /* owned by the message */
	int *index;        /* index[n_cells]: their numbers in the job, used in every record */
	int n_pins;
	struct msg_pin *pin; /* owned by the message */
	struct rule rule;
	double warm_s, cell_warm_s; /* 1.5 and 0.1 on a GPU */
	bool phases, calls;         /* also series phase and call */
	int calls_n, warmup_n;      /* mode capture */
	bool only_sustained_runs;   /* no series but sustained */
	int sustained_rounds;       /* of series sustained: 1 is A B, 2 A B B A; 0: none */
	int repeat;                 /* mode profile: number of the process within its role */
	bool counters;              /* mode profile: read counters; else only name the kernels */
	bool samples;               /* mode profile: only sample warp stalls */
	bool *sustained_run;        /* sustained_run[n_cells]: also series sustained; owned by the message */
	char guards[2048];          /* devices sim and cpu: readings that a test injects (runner/device_check_script.h) */
};

struct msg {
	enum msg_type t;
	union {
		struct msg_hello hello;
		struct msg_job *job; /* owned */
		struct msg_need need;
		struct msg_tree tree;
		struct msg_build build;
		struct msg_check check;
		struct msg_found *found;             /* owned */
		struct msg_process_run *process_run; /* owned */
		struct msg_at at;
		struct msg_cell *cell; /* owned */
		struct msg_work work;
		struct msg_node node;
		struct msg_fault fault;
		struct msg_done done;
		struct msg_cancel cancel;
		struct msg_run *run; /* owned */
		struct msg_note note;
		struct msg_state state;
		struct msg_health_check health_check;
		struct msg_audit audit;
		struct msg_kernel kernel;
		struct msg_code *code; /* owned */
		struct msg_counterfactual counterfactual;
		struct msg_profile profile;
		struct msg_stalls stalls;
	} u;
};

const char *protocol_name(enum msg_type t);

/**
 * Parse one line, with or without its LF. Display text (detail, names, versions) is cleaned of control characters and cut to
 * its field; deciding fields must be exact. Err: ERR_PROTOCOL with the wrong key; `out` then needs no msg_fini. Own: msg_fini
 * frees.
 */
int protocol_parse(const char *line, size_t len, struct msg *out, struct fw_err *err);
void msg_fini(struct msg *m);

/**
 * Append one line with its LF. Only the last PROTOCOL_LOG_MAX bytes of a build log are written. A line that would exceed
 * PROTOCOL_LINE_MAX is left out and sets out->failed.
 */
void protocol_write(struct buf *out, const struct msg *m);

/** Write one cell as a JSON object, as in a job, and parse it. Err: ERR_PROTOCOL with the wrong key. */
void protocol_put_cell(struct jsonw *j, const struct cell *c);
int protocol_parse_cell(const char *text, size_t len, struct cell *out, struct fw_err *err);

void protocol_put_location(struct jsonw *j, const struct msg_location *p);

/** Write a reading as one JSON object, as in a record and with a stored sample. */
void protocol_put_device_check(struct jsonw *j, const struct msg_device_check *g);

/** Write a rule as one JSON object without LF, for storage with a result, and parse it. Err: ERR_PROTOCOL. */
void protocol_write_rule(struct buf *out, const struct rule *r);
int protocol_parse_rule(const char *text, size_t len, struct rule *out, struct fw_err *err);

#endif
