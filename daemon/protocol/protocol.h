/** protocol.h - messages between daemon, worker, runner and interleaved programs. */
#ifndef PROTOCOL_PROTOCOL_H
#define PROTOCOL_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"
#include "model/model.h"
#include "stats/stats.h"

/* ---- tried: Configurations that a provider reports to have tried before it chose one: unverified, they decide nothing. ---- */

enum { TRIED_MAX = 64, TRIED_OF_MAX = 1 << 24 }; /* limits of the list and of the number of tried configurations */

struct tried_config {
	char config[160];
	double ms; /* of a call; 0 not timed */
};

struct tried {
	int of, n;                   /* number tried; number in the list */
	struct tried_config *config; /* config[n], the fastest first, then those without a time; owned */
};

void tried_sort(struct tried *t);
void tried_fini(struct tried *t);

/** Write {"of":8,"list":[{"config":"TILE=0","ms":0.5}]}; null: none. A time of null is unknown. */
void tried_write(struct jsonw *j, const struct tried *t);

/*
 * ---- reported_kernels ----
 * Triton kernels that a benchmark program reports to have launched in a call of a cell: unverified, they decide nothing.
 */

enum { REPORTED_KERNELS_MAX = 16 };

/** A kernel with one configuration. Numbers -1 and texts "": not reported. */
struct reported_kernel {
	char name[128];
	char config[256];       /* that an autotuner chose: "BLOCK_N=128,num_warps=8"; "": none was searched for */
	char code_sha256[65];   /* of its PTX without lines of debuggers */
	char source_sha256[65]; /* of its syntax tree and all configurations of its autotuner, without functions that it calls */
	int num_warps, num_stages, registers, spills, launches;
	int64_t shared_bytes;
};

struct reported_kernels {
	int of, n;                      /* number of different kernels; number in the list */
	struct reported_kernel *kernel; /* kernel[n] in the order of their first launches; owned */
};

void reported_kernels_fini(struct reported_kernels *k);
/** Append a kernel, `of` it of all; beyond REPORTED_KERNELS_MAX it is dropped. */
void reported_kernels_add(struct reported_kernels *k, const struct reported_kernel *kernel, int of);
/** Return whether both lists have the same kernels with the same configurations and code. */
bool reported_kernels_equal(const struct reported_kernels *a, const struct reported_kernels *b);

/** Worker to daemon: the kernels of one side. */
struct msg_reported_kernels {
	int cell;
	enum role role;
	int processes;                /* timed processes that reported kernels; 0: only the one that listed the cells did */
	int unlike;                   /* of these, those with other kernels than the first */
	struct reported_kernels list; /* owned by the message */
};

/** Write {"processes":4,"unlike":0,"of":1,"list":[{"kernel":"matmul",..}]}; null: `m` is NULL. */
void reported_kernels_write(struct jsonw *j, const struct msg_reported_kernels *m);

/*
 * ---- evidence ----
 * Evidence of a profile of two builds: counters of each kernel, differences of machine code, effect of a configuration. Most of
 * it comes from processes that run branch code, so it has no effect on verdicts.
 */

enum {
	EVIDENCE_CELLS_MAX = 3,     /* of one profile, unless all cells of a suite are requested */
	EVIDENCE_SUITE_MAX = 128,   /* in that case */
	EVIDENCE_REPEATS = 2,       /* processes of each role: base, target, target, base */
	EVIDENCE_KERNELS_MAX = 256, /* of one call */
	EVIDENCE_VALUES_MAX = 128,
	EVIDENCE_OPCODES_MAX = 12,
	EVIDENCE_HUNKS_MAX = 16 << 10, /* bytes */
	EVIDENCE_STALLS_MAX = 8192,    /* instructions of one kernel */
	EVIDENCE_HOT_MAX = 16,
	EVIDENCE_REASON_SIZE = 24,
	EVIDENCE_INSTRUCTION_SIZE = 96,
	EVIDENCE_NAME_SIZE = 256
};

struct evidence_value {
	char metric[80]; /* name in the GPU's tools: "dram__bytes_read.sum" */
	double value;
};

struct msg_kernel {
	int cell;
	enum role role;
	int repeat;                      /* 0 or 1: process of this role */
	int n;                           /* position in the order of a call */
	char phase[16];                  /* "run", "prepare", ... */
	char kernel[EVIDENCE_NAME_SIZE]; /* demangled if possible; "memset" and "memcpy" for such nodes */
	char code_sha256[65];            /* of its compiled code; "" unknown */
	char symbol_sha256[65];          /* runner to worker: of its mangled name; "" unknown */
	int sm;                          /* architecture of its code: 90; 0 unknown */
	double ms;                       /* below 0: unknown */
	int grid[3], block[3], registers, local_bytes, shared_bytes;
	int ctas_per_sm;
	int n_values;
	struct evidence_value *value; /* value[n_values], each metric once; owned by the message */
};

struct evidence_stall {
	uint32_t offset; /* bytes from the start of its function */
	int samples;
	char reason[EVIDENCE_REASON_SIZE]; /* reason of most of them: "gmma"; "selected": not waiting */
	int of_reason;                     /* number of samples with that reason */
};

/** Runner to worker: samples of one kernel's warps, and their stall reasons. */
struct msg_stalls {
	int cell;
	enum role role;
	char symbol_sha256[65]; /* as in msg_kernel */
	long long samples;      /* of the whole kernel */
	int n;
	struct evidence_stall *line; /* line[n], by offset; owned by the message */
};

struct evidence_hot {
	long long samples; /* of the whole kernel; 0: not sampled */
	int n;
	struct {
		struct evidence_stall stall;
		char text[EVIDENCE_INSTRUCTION_SIZE]; /* the instruction; "" unknown */
	} line[EVIDENCE_HOT_MAX];                     /* most samples first */
};

/** Multiprocessor resources of a kernel; -1 unknown. */
struct evidence_takes {
	int registers, local_bytes, shared_bytes, ctas_per_sm;
};

enum evidence_code {
	EVIDENCE_CODE_SAME,
	EVIDENCE_CODE_RENAMED,     /* the same instructions, with other registers and labels */
	EVIDENCE_CODE_RESCHEDULED, /* the same instructions in another order */
	EVIDENCE_CODE_CHANGED,
	EVIDENCE_CODE_ADDED,
	EVIDENCE_CODE_REMOVED,
	EVIDENCE_CODE_DIFFERS, /* the hash differs; instructions could not be compared */
	EVIDENCE_CODES
};

/** "same" "renamed" "rescheduled" "changed" "added" "removed" "differs". Shape: ends with NULL. */
extern const char *const evidence_code_names[EVIDENCE_CODES + 1];

struct msg_code {
	int cell;
	char base[EVIDENCE_NAME_SIZE], target[EVIDENCE_NAME_SIZE]; /* the kernel on each side; "" if missing */
	enum evidence_code what;
	struct evidence_takes base_takes, target_takes;
	int n_opcodes;
	struct {
		char opcode[48];
		int base, target;           /* number of occurrences */
	} opcode[EVIDENCE_OPCODES_MAX];     /* with different counts, the largest difference first */
	char hunks[EVIDENCE_HUNKS_MAX + 1]; /* text */
	struct evidence_hot hot[2];         /* base, target */
};

/** The target timed with the configuration of the base, against both unchanged sides. */
struct msg_counterfactual {
	int cell;
	char config[160];                   /* the base's */
	double base_ms, target_ms, with_ms; /* medians of interleaved calls in one process */
};

enum evidence_path {
	EVIDENCE_RANGE,    /* counters by the range profiler in the runner */
	EVIDENCE_NCU,      /* counters by ncu around it */
	EVIDENCE_ACTIVITY, /* kernel times: by the driver's tracer, or of the only kernel of a phase */
	EVIDENCE_CODE,     /* machine code only */
	EVIDENCE_PATHS
};

/** "range" "ncu" "activity" "code". Shape: ends with NULL. */
extern const char *const evidence_path_names[EVIDENCE_PATHS + 1];

/** End of a cell's profile; from the runner to the worker, of one process. */
struct msg_profile {
	int cell;
	enum evidence_path path;
	char why[400]; /* one sentence: why no better path was used; "" for range */
	char tool[64];
	int passes;           /* replays of a call; 0: no counters */
	char stalls_why[200]; /* why stalls are unknown; "" known, or nothing was counted either */
	char base_config[160], target_config[160];
	double gpu_s;
	bool tunes;                            /* runner to worker: the configuration was searched for */
	struct tried base_tried, target_tried; /* owned by the message */
};

/** Whether a cell has sustained runs in a run, and which side's is the first. */
enum sustained_order { SUSTAINED_NONE, SUSTAINED_BASE_FIRST, SUSTAINED_TARGET_FIRST };

/*
 * ---- sentinel ----
 * Classes of cells by power draw: the regular or the irregular cells of one direction. One cell of a class, the sentinel, has
 * sustained runs on behalf of all others. It is the longest whose sides launch different kernels, since equal ones draw the same
 * power unless their parameters differ (doc/trust.md, known gaps). If a comparison uses several devices, the sentinel of each class
 * runs on one of them.
 */

typedef unsigned sentinel_set;

sentinel_set sentinel_class(const struct cell *c);
sentinel_set sentinel_direction(enum direction d);

/*
 * ---- signature ----
 * Authentication of the runner's lines against lines that branch code writes into the same channel.
 *
 * A signed line is "MAC NUMBER {record}": HMAC-SHA-256 over "NUMBER {record}", truncated to SIGNATURE_MAC digits, with a key that
 * only worker and runner know; numbers count from 0. A reader of such lines cannot forge another one.
 */

/** Hex digits of a key, and of a line's MAC; maximum bytes before a signed record. */
enum { SIGNATURE_KEY = 32, SIGNATURE_MAC = 32, SIGNATURE_ROOM = SIGNATURE_MAC + 24 };

/**
 * Compute the MAC of `text`, "NUMBER {record}" without LF, as hex. `key`: SIGNATURE_KEY hex digits. Shape: mac[SIGNATURE_MAC +
 * 1].
 */
void signature_make(const char *key, const char *text, size_t len, char *mac);
/** Return the record in a signed line with this number; NULL: the signature is wrong. Own: points into `line`. */
const char *signature_open(const char *key, unsigned long long number, const char *line, size_t len);

/*
 * ---- protocol ----
 * Messages between daemon and worker (protocol 1) and between worker and runner: parser and writer.
 *
 * One LF-terminated JSON object a line, UTF-8, at most PROTOCOL_LINE_MAX bytes; unknown keys are ignored, an unknown "t" is an
 * error. The parser validates types, ranges and array lengths first; all directions share it, and it is fuzzed. doc/protocol.md
 * lists every message with an example.
 */

#define PROTOCOL_VERSION    1
#define PROTOCOL_LINE_MAX   (1u << 20)
#define PROTOCOL_BANNER_MAX (64u << 10)  /* bytes skipped before hello */
#define PROTOCOL_LOG_MAX    (640u << 10) /* sent bytes of a build log, from its end; their base64 fits a line */

#define PROTOCOL_BUILDER "build" /* the device of a worker that only builds */

enum { PROTOCOL_SIDES_MAX = 6, PROTOCOL_SAMPLES_MAX = 256, PROTOCOL_DEVICES_MAX = 64 };

enum msg_type {
	MSG_HELLO,
	MSG_JOB,
	MSG_NEED,
	MSG_TREE,
	MSG_BUILD,
	MSG_CHECK,
	MSG_RUN,
	MSG_AT,
	MSG_FOUND,
	MSG_CELL,
	MSG_WORK,
	MSG_NODE,
	MSG_FAULT,
	MSG_DONE,
	MSG_PING,
	MSG_CANCEL,
	MSG_TASK,
	MSG_NOTE,
	MSG_STATE,
	MSG_HEALTH_CHECK,
	MSG_AUDIT,
	MSG_KERNEL,
	MSG_CODE,
	MSG_COUNTERFACTUAL,
	MSG_PROFILE,
	MSG_SAME,
	MSG_REPORTED_KERNELS,
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

/** Location of a worker's builds, for manual runs. Texts "": unknown. */
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

/** One side of a comparison. In a job: sources to build. */
struct msg_side {
	enum role role; /* of the side */
	char commit[65];
	int n_inputs;
	struct msg_input {
		char path[MANIFEST_TEXT_SIZE];
		char oid[65];
	} input[MANIFEST_LIST_MAX];
	struct build build;
	bool untrusted;                     /* code of a fork: its builds have separate entries in the cache */
	char provider[PEERS_PROVIDER_SIZE]; /* "": the module's default */
	char config[160];                   /* configuration for the provider's plan of every cell; "": it chooses */
	struct toolchain_override tools;    /* its toolchain, if not the worker's own */
	struct benchmark benchmark;         /* a benchmark program that is measured instead of a module; name "": none */
};

struct msg_limits {
	double build_s, check_s, run_s, budget_s;
	double wait_s; /* limit of the wait until no other process uses the device; default 600 */
	int64_t log_bytes;
};

struct msg_job {
	int64_t job;
	int attempt;
	char nonce[33];
	enum jobkind kind; /* not JOBKIND_IMPORT */
	char device[64];
	int n_concurrent;
	char concurrent[PROTOCOL_DEVICES_MAX]
		       [64]; /* devices that may run concurrent jobs on that machine, including its own; none: all of its kind */
	uint64_t seed;
	bool quick;                       /* one run per cell without confirmation: no reliable verdict */
	sentinel_set sentinels_elsewhere; /* classes of its cells whose sentinel is in another partition of the comparison */
	sentinel_set sustained_runs;      /* classes whose cells have sustained runs: their power draw is known to differ */
	int n_sides;
	struct msg_side side[PROTOCOL_SIDES_MAX];
	int n_cells;
	struct cell *cell; /* cell[n_cells]; owned by the message; none for benchmark programs */
	struct rule rule;
	struct msg_limits limits;
};

enum { PROTOCOL_NEED_MAX = 192 }; /* inputs of every side */

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
	/* "" or "wrong" "oob" "crash" "timeout" "unsupported" "provider" (missing) "abi", or the class of a rejection */
	char failure[16];
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
	struct msg_found_cell {
		char key[CASE_KEY_SIZE];
		double flops; /* of a call; 0 unknown */
	} cell[JOB_CELLS_MAX];
};

struct msg_run {
	int run, set;
	uint64_t seed;
	int n_cells;
	int cell[JOB_CELLS_MAX];
};

struct msg_at {
	int run, cell; /* cell -1: no single cell */
	enum role role;
	char step[12]; /* "context" "load" "inputs" ... (record.c); "inspect": waits for the worker's comparison */
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
	int run, set, cell, redo;
	enum series series;
	char phase[16]; /* "run", "prepare", ...; "" unless series is SERIES_PHASE */
	char input_sha256[65];
	int n_sides;
	enum role role[PROTOCOL_SIDES_MAX];
	int n;                               /* samples of each side */
	float *ms[PROTOCOL_SIDES_MAX];       /* ms[s][n]; owned by the message */
	float *mhz[PROTOCOL_SIDES_MAX];      /* mhz[s][n] or NULL */
	float *host_us[PROTOCOL_SIDES_MAX];  /* host time of enqueue, or NULL */
	double energy_j[PROTOCOL_SIDES_MAX]; /* of a call, series sustained; 0: unknown */
	char order[PROTOCOL_SIDES_MAX * PROTOCOL_SAMPLES_MAX +
		   1]; /* side of each call in time, "ABBAABBA.."; A is role[0]; "" unknown */
	struct msg_device_check device_check;
};

/** A module's claims for a cell, and the runner's observations. */
struct msg_work {
	enum role role;
	int cell;
	char provider[PEERS_PROVIDER_SIZE], config[160];
	double flops_issued, bytes_moved;                                                /* -1 unknown */
	int64_t tiles_total, tiles_skipped, tiles_partial, blocks_kept, workspace_bytes; /* -1 unknown */
	int64_t persist_bytes,
		tensor_bytes;           /* observed: memory allocated for the module, and for the tensors of a call; 0 unknown */
	double first_ms;                /* observed: of plan, bind and first call, with its inputs ready; -1 unknown */
	int64_t taken_bytes;            /* observed: other device memory of plan, bind and the first call; -1 unknown */
	int64_t mask_blocks, mask_kept; /* counted blocks of a mask, over all key heads, or pairs of a token mask; 0 none */
	struct mask_counts mask;        /* the same mask in tokens; 0 none, or from an older runner */
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
	char code_sha256[65];   /* worker to daemon: of its compiled code (profile/cubin.c); "" unknown */
};

/* ---- launches ---- */

#define LAUNCHES_UNKNOWN "-" /* hash of a call that launches a kernel without known code */

/**
 * Add a node to the hash of a call's launches, in their order. Equal hashes mean the same compiled code with the same grids and
 * resources; the values of the kernels' parameters are not part of it. Shape: `sha256` begins as "", and is LAUNCHES_UNKNOWN once
 * the code of a kernel is unknown.
 */
void launches_add(char sha256[65], const struct msg_node *node);
/** Return whether both sides are known to launch the same kernels; false if they launch none. */
bool launches_equal(const char *base_sha256, const char *target_sha256);

struct msg_fault {
	int cell; /* -1: no single cell */
	enum role role;
	/* "build" "abi" "unsupported" "crash" "wrong" "oob" "timeout" "device" "protocol" "reported", or of a rejection */
	char failure[16];
	char detail[512];
};

struct msg_cancel {
	bool stays; /* send hello again, for another job; a worker that does not know this key exits */
};

struct msg_done {
	double gpu_s;
	double wall_s;
	bool cancelled;
	sentinel_set sustained_runs; /* classes whose cells have sustained runs, because power draw differs */
	double step_s[DEVICE_STEPS]; /* shares of gpu_s; all 0: unknown */
};

/** Information without effect on verdicts: a wait, leaked state of a module. */
struct msg_note {
	int cell;       /* -1: no single cell */
	enum role role; /* the side that caused it */
	char text[400];
};

/** Two benchmark programs with different files execute the same code, so nothing is measured. */
struct msg_same {
	char why[400]; /* a phrase that names the files in which they differ */
};

struct msg_state {
	enum task_mode what; /* from TASK_IDLE on */
	bool ok;
	struct msg_device_check device_check;
	char detail[400]; /* its fault; "" when ok */
};

/** Daemon to worker, instead of a job: test the device with a known computation. The answer is a state message. */
struct msg_health_check {
	char device[64];
};

/** Runner to worker in an audit: a batch of calls is ready and waits for its go message, or is done. */
struct msg_audit {
	int cell;
	enum role role;
	int calls;
	bool done;
	double ms; /* if done: device time of all its calls */
};

/**
 * A configuration that a provider found by searching, or that a user requested, passed to processes so that all run the same one.
 */
struct msg_pin {
	int cell, side; /* the cell's number in the job; position among the run's sides */
	char config[160];
	bool is_request; /* by a user: terms whose key the provider's configuration does not have are left out */
};

/** Worker to runner, on the runner's standard input: the whole task of one process. */
struct msg_task {
	enum task_mode mode; /* modes from TASK_IDLE on have neither sides nor cells */
	char device[64];
	int run, set;
	int pass; /* mode device_check: discarded times of this run before; clocks: processes before this one */
	uint64_t seed;
	int turn;                          /* mode time: which side begins (order.c), advancing with each cell; 0: random */
	char signature[SIGNATURE_KEY + 1]; /* key of the signatures of the process's lines (signature.c); "": none */
	int n_sides;
	struct msg_task_side {
		enum role role;
		char module[128];
		char provider[PEERS_PROVIDER_SIZE];
	} side[PROTOCOL_SIDES_MAX];
	int n_cells;
	struct cell *cell; /* owned by the message */
	int *index;        /* index[n_cells]: their numbers in the job, used in every record */
	int n_pins;
	struct msg_pin *pin; /* owned by the message */
	struct rule rule;
	double warm_s, cell_warm_s;      /* 1.5 and 0.1 on a GPU */
	bool phases, calls;              /* also series phase and call */
	int calls_n, warmup_n;           /* mode capture */
	bool only_sustained_runs;        /* no series but sustained */
	int repeat;                      /* mode profile: number of the process within its role */
	bool counters;                   /* mode profile: read counters; else only name the kernels */
	bool samples;                    /* mode profile: only sample warp stalls */
	enum sustained_order *sustained; /* sustained[n_cells]: whether a cell also has series sustained; owned by the message */
	char guards[2048];               /* devices sim and cpu: readings that a test injects (runner/device_check_script.c) */
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
		struct msg_found *found; /* owned */
		struct msg_run *run;     /* owned */
		struct msg_at at;
		struct msg_cell *cell; /* owned */
		struct msg_work work;
		struct msg_node node;
		struct msg_fault fault;
		struct msg_done done;
		struct msg_cancel cancel;
		struct msg_task *task; /* owned */
		struct msg_note note;
		struct msg_state state;
		struct msg_health_check health_check;
		struct msg_audit audit;
		struct msg_kernel kernel;
		struct msg_code *code; /* owned */
		struct msg_counterfactual counterfactual;
		struct msg_profile profile;
		struct msg_stalls stalls;
		struct msg_same same;
		struct msg_reported_kernels reported_kernels;
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
/** Sum of all times of a record. Units: s. */
double msg_cell_seconds(const struct msg_cell *m);

/**
 * Append one line with its LF. Only the last PROTOCOL_LOG_MAX bytes of a build log are written. A line longer than
 * PROTOCOL_LINE_MAX is omitted and sets out->failed.
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

/** Write a job's sides as one JSON object without LF, for storage with its plan, and parse them. Err: ERR_PROTOCOL. */
void protocol_write_sides(struct buf *out, const struct msg_job *job);
int protocol_parse_sides(const char *text, size_t len, struct msg_job *out, struct fw_err *err);

/*
 * ---- device_check ----
 * Validity of times according to the device readings before and after them. Pure. Runner, worker and daemon share it, so that
 * they discard the same times.
 */

/** Limit reasons of a GPU's clocks, in the driver's numbering. A power cap is normal and never discards times. */
enum {
	DEVICE_CHECK_POWER_CAP = 0x4,
	DEVICE_CHECK_HW_SLOWDOWN = 0x8,
	DEVICE_CHECK_SW_THERMAL = 0x20,
	DEVICE_CHECK_HW_THERMAL = 0x40,
	DEVICE_CHECK_POWER_BRAKE = 0x80
};

struct device_check_reason {
	uint64_t bit;
	const char *name, *words; /* "sw_thermal", "software thermal" */
	bool limits;              /* reduces the clocks */
};
enum { DEVICE_CHECK_REASONS = 9 };
/** All of them, the worst first. */
extern const struct device_check_reason device_check_reason[DEVICE_CHECK_REASONS];

enum { DEVICE_CHECK_WHY_SIZE = 96 };
/** Discarded runs of a cell after which it gets no further run. */
enum { DEVICE_CHECK_DISCARDED_MAX = 3 };

/** Set all fields to unknown. */
void device_check_unknown(struct msg_device_check *g);
/** Combine two readings into the worse one, because either state may affect the times between them; energy is the difference. */
void device_check_merge(struct msg_device_check *g, const struct msg_device_check *after);
/**
 * Return whether this reading invalidates times: hardware slowdown, heat, power brake, another process, an XID, an ECC error.
 * `why` receives the reason, else "". Shape: why[DEVICE_CHECK_WHY_SIZE].
 */
bool device_check_discards(const struct msg_device_check *g, char why[DEVICE_CHECK_WHY_SIZE]);
/** Return whether an XID always means a broken device (fallen off the bus, firmware, links), so that no job may follow. */
bool device_check_xid_breaks(int xid);

/*
 * ---- interleave ----
 * Protocol between the worker and a benchmark program that is timed call by call (doc/interleave.md). Pure: no I/O, no clock.
 *
 * A program requests a turn for a cell, rests until the turn is granted, makes its calls, reports their times, and requests the
 * next turn. A turn lasts from `go` until the program rests again; meanwhile no other program computes.
 */

#define INTERLEAVE_VERSION 1
/** Environment variable with the descriptor of the program's socket. */
#define INTERLEAVE_VARIABLE "FLOPWATCH_INTERLEAVE"
/** Environment variable that lets a program fork its runs. */
#define INTERLEAVE_FORK_VARIABLE "FLOPWATCH_FORK"

enum {
	INTERLEAVE_LINE_MAX = 4096,
	INTERLEAVE_TEXT_SIZE = 400,
	INTERLEAVE_CALLS_MAX = 1 << 16, /* of one turn */
	INTERLEAVE_FACTS_MAX = 64,      /* lines of a program in one turn, except times */
	INTERLEAVE_SPIN_US_MAX = 10000  /* for which a device waits for its host */
};

enum interleave_message {
	INTERLEAVE_HELLO,
	INTERLEAVE_TURN,
	INTERLEAVE_DONE,
	INTERLEAVE_FACT,
	INTERLEAVE_FAIL,
	INTERLEAVE_BYE,
	INTERLEAVE_PARENT, /* of a process that forks a child for each run */
	INTERLEAVE_FRESH,  /* why it cannot; it is the run itself */
	INTERLEAVE_ENDED   /* of the parent: how its child ended */
};

enum interleave_fact {
	INTERLEAVE_FLOPS,
	INTERLEAVE_BYTES,
	INTERLEAVE_FIRST_MS,
	INTERLEAVE_MEMORY_BYTES,
	INTERLEAVE_OUTPUT,
	INTERLEAVE_CONFIG,
	INTERLEAVE_UNPRIMED,
	INTERLEAVE_KERNEL
};

struct interleave_line {
	enum interleave_message type;
	char text
		[INTERLEAVE_TEXT_SIZE]; /* hello: the program's name; fail, fresh: the reason; facts output, config, unprimed: the value */
	char key[CASE_KEY_SIZE]; /* turn: of the cell */
	double ms, host_us, mhz; /* done: of the call; ms 0: no time, and `cut` or `late`; host_us, mhz 0: unknown */
	double repeats;          /* done: calls that the program chose to make, with mean `ms`; 0: not reported, one */
	double idle_us;          /* done: time until the device answered before the call; 0: not reported */
	double spin_us;          /* done: time for which the device should wait for the next call; 0: not primed */
	bool cut;                /* done: an external interrupt during the call */
	bool late;               /* done: the device began a primed call before the host had queued it: no time */
	enum interleave_fact fact;
	struct reported_kernel kernel; /* fact kernel */
	int kernels;                   /* fact kernel: number of different kernels of the call */
	double value;                  /* fact: of the others */
	char failure[16];              /* fail: "wrong" "unsupported" "reported" */
	int status;                    /* ended: exit status; -1 by a signal, */
	int signal;                    /* which is this one */
};

/**
 * Parse one line, without its LF. Display text is cleaned, everything else must be exact; unknown tokens at the end of a `done`
 * line are ignored. Err: ERR_PROTOCOL with a predicate whose subject is "the benchmark"; `out` is undefined.
 */
int interleave_parse(const char *line, size_t len, struct interleave_line *out, struct fw_err *err);

/** Write the worker's welcome. `is_list`: only list the cells, compare nothing. */
void interleave_write_welcome(struct buf *out, bool is_list);
/** One turn: `warm` untimed calls, then `calls` timed ones, back to back if several. */
struct interleave_go {
	int warm, calls;
	bool is_single; /* a program that chooses repetitions must make each call once */
	double spin_us; /* the device waits at least this long for a timed call, at most INTERLEAVE_SPIN_US_MAX; 0: not reported */
};
void interleave_write_go(struct buf *out, const struct interleave_go *go);
void interleave_write_next(struct buf *out);
/** Request a run of a parent. */
void interleave_write_fork(struct buf *out);

enum interleave_state {
	INTERLEAVE_STARTING, /* no line yet, or only the reason why it forks no runs */
	INTERLEAVE_WAITING,  /* a parent: waits for the request of a run */
	INTERLEAVE_BUSY,     /* between cells: may compute, concurrently with others */
	INTERLEAVE_RESTING,  /* requested a turn and waits */
	INTERLEAVE_HOLDING,  /* has the turn and calls left */
	INTERLEAVE_AFTER,    /* has the turn, its calls are made */
	INTERLEAVE_GONE      /* sent bye */
};

/** State of one program, as its lines imply. Starts zeroed. */
struct interleave_side {
	enum interleave_state state;
	char key[CASE_KEY_SIZE]; /* of the last requested cell */
	int calls_left, facts;   /* of this turn */
	bool is_forked;          /* its lines are those of a child that the parent forked for this run */
};

/** Apply a line to the state. Err: ERR_PROTOCOL the line is not allowed now; do not trust further lines of the program. */
int interleave_receive(struct interleave_side *s, const struct interleave_line *line, struct fw_err *err);
void interleave_granted(struct interleave_side *s, int calls);
void interleave_sent_on(struct interleave_side *s);
/** Note that a waiting parent was sent the request of a run. */
void interleave_requested(struct interleave_side *s);
/** Return whether the program may compute. */
bool interleave_holds(const struct interleave_side *s);

/*
 * ---- order ----
 * Order of sides in a run of a cell. A power limit makes the clock oscillate in step with a run, so the side that begins runs
 * at other clocks than the others. Base and target therefore begin alternately, whatever other sides run with them.
 */

/** Range of a random `turn`: over this range every order of two to four sides is equally frequent. */
enum { ORDER_TURNS = 12 };

/**
 * Return which of `n` sides begins for the counter `turn`: if it is even, base comes before target, else after it; the other
 * sides rotate in the same way. Shape: base and target are indices of the n >= 2 sides.
 */
int order_first(int n, int base, int target, int turn);

/**
 * Return the `k`-th of `n` sides in round `round` of a run that `first` begins. Two sides: A B, B A, B A, A B, so that
 * neither a drift nor a period of two or four calls favours one. More sides: each is equally often at each position.
 */
int order_side(int n, int first, int round, int k);

/* ---- plan: Plan of an interleaved session: cells, pairs, warm-up calls. Pure. ---- */

enum {
	INTERLEAVE_SIDES_MAX = 3,
	INTERLEAVE_FORKED_RUNS_MAX = 8, /* of one parent */
	INTERLEAVE_PAIRS_MIN = 8,
	INTERLEAVE_PAIRS = 60 /* default */,
	INTERLEAVE_PAIRS_FIRST = 20 /* before the first run */
};

struct interleave_order {
	int n;
	const int *cell;
};

/**
 * Find the longest sequence of wanted cells that every side reaches in the same order: the cells of one session. It is empty only
 * if no wanted cell exists on all sides. Returns its length; -1 out of memory. Shape: side[n_sides], wanted[n_cells],
 * out[n_cells].
 */
int interleave_chain(const struct interleave_order *side, int n_sides, const bool *wanted, int n_cells, int *out);

/** Return the number of untimed calls before each timed call of a cell: 1, or 0 for long calls. Units: ms of a call. */
int interleave_warm(double call_ms);
/** Return the time limit for pairs of a cell in a session of `n_cells` cells with `most` pairs each; 0: INTERLEAVE_PAIRS. */
double interleave_budget_ms(int n_cells, int most);
/**
 * Return the pairs of a cell in one session of `n_cells` cells, a multiple of four from 8 to `most` (0: INTERLEAVE_PAIRS).
 * Units: `pair_ms`, of all turns of a pair.
 */
int interleave_pairs(double pair_ms, int n_cells, int most);

/** Cost of a cell's runs, and noise of its pairs. Starts zeroed. */
struct interleave_cost {
	int runs, pairs;
	double pairs_s, others_s; /* over all runs: time of pairs, and this cell's share of the other time */
	double variance;          /* sum over runs, of the log ratio of a pair */
};
/** Add a run of `n` pairs. Shape: base_ms[n], target_ms[n], > 0. Fewer than four pairs are ignored. */
void interleave_cost_add(
	struct interleave_cost *c, int n, double pairs_s, double others_s, const float *base_ms, const float *target_ms);
/**
 * Return the noise between the runs of a cell as a log ratio: `known`, or more if its runs vary by more than that and their pairs
 * explain. `se`: of the mean of all `runs`.
 */
double interleave_run_noise(const struct interleave_cost *c, double known, double se, int runs);
/**
 * Return the pairs of the next run: sqrt(c_run / c_pair) sd_pair / tau, a multiple of four from 8 to 60 and at most `most`. This
 * spends device time on runs if the noise between runs, `tau` (log ratio, > 0), dominates, and on pairs otherwise. Before the
 * first run: INTERLEAVE_PAIRS_FIRST.
 */
int interleave_pairs_wanted(const struct interleave_cost *c, double tau, int most);

/* ---- stalls: Writer of warp stalls. ---- */

/** Write one JSON object: {"samples":N,"lines":[[offset,samples,reason,of_reason,text],...]}. */
void protocol_stalls_put_hot(struct jsonw *j, const struct evidence_hot *h);

/*
 * ---- sustained ----
 * A sustained run of base and one of target: length, order, and recorded calls. Successive runs of a cell begin with either side
 * in turn.
 *
 * The clock of a GPU at its power limit oscillates around its stable value with a period of one second, by a tenth at first and
 * by a hundredth ten seconds later (tests/data/gpu/h100-2026-11-26-settle.txt). So a sustained run lasts one period, and its
 * recorded calls are spread evenly over it.
 */

#define SUSTAINED_S         1.0
#define SUSTAINED_SETTLES_S 0.2 /* initial time of it in which calls do not count */

enum { SUSTAINED_RECORDED_MAX = 32 };

/** Calls of one sustained run, spread evenly over it, in order. Units: ms, MHz. */
struct sustained_calls {
	int kept;
	float ms[SUSTAINED_RECORDED_MAX], mhz[SUSTAINED_RECORDED_MAX];
};

/** Select the same number of calls from each side, spread evenly, in place. Returns that number. Shape: side[2]. */
int sustained_gather(struct sustained_calls *side);
/** Write the order string of a record of `n` calls per side, A for side 0, if side `first` began. Shape: order[2 * n + 1]. */
void sustained_write_order(int n, int first, char *order);

/*
 * ---- trust ----
 * Comparison of a program's reports with the worker's observation of its turns. Pure.
 *
 * A turn is never shorter than the work in it, even on a busy machine. But load can distort a single session in any way, so a
 * side is accused only if two runs show the same.
 */

enum { INTERLEAVE_TURNS_MAX = 160, INTERLEAVE_SINGLE_MAX = 64, INTERLEAVE_WHY_SIZE = 300 };

/** The last turns of one side in one cell of a session. Shape: rings; idle_us 0: not reported. */
struct interleave_turns {
	int n, next;
	float ms[INTERLEAVE_TURNS_MAX];      /* as reported */
	float turn_ms[INTERLEAVE_TURNS_MAX]; /* from go to done, by the worker's clock */
	float idle_us[INTERLEAVE_TURNS_MAX];
	bool cut[INTERLEAVE_TURNS_MAX]; /* another process took the processor during it */
	bool chooses, repeats;          /* the side reports repetitions; it repeated a call */
	struct interleave_single {      /* last turns in which the worker requested single calls */
		int n, next;
		double repeats; /* repetitions of each call if constant; 0: no turn yet, below 0: not constant */
		float turn_ms[INTERLEAVE_SINGLE_MAX];
		bool cut[INTERLEAVE_SINGLE_MAX];
	} single;
	int too_long;                  /* number of turns with reported calls longer than the turn, */
	double reported_ms, actual_ms; /* and the reported and actual time of the worst of them */
	struct interleave_rest {
		double s;        /* total length of the turns of other sides, */
		double cpu_s;    /* processor time of this side in them, */
		double queued_s; /* and time that its threads waited for a core; 0: not read */
	} rest, watched;         /* all turns; turns in which the run queue was read */
};

/** One turn of one timed call, or of `repeats` calls with mean `ms`. */
struct interleave_one {
	double ms, turn_ms, idle_us;
	double repeats; /* 0: the program does not choose */
	bool cut;       /* another process took the processor during it */
};
void interleave_add_turn(struct interleave_turns *s, const struct interleave_one *turn);
/**
 * Record a turn with requested single calls. Its length shows the time of one call, even of a program that otherwise repeats
 * calls.
 */
void interleave_add_single(struct interleave_turns *s, const struct interleave_one *turn);
/** Record a turn of another kind with `ms` reported for all calls: it can only reveal impossible times. */
void interleave_bound(struct interleave_turns *s, double ms, double turn_ms);

/**
 * Return whether a session reports calls longer than their turns, with the reason in `why`. Shape: why[INTERLEAVE_WHY_SIZE].
 */
bool interleave_overstates(const struct interleave_turns *s, char *why);

enum { INTERLEAVE_HALVES = 2 };

/** One side in one cell over all runs: sums over even and odd sessions. Starts zeroed. */
struct interleave_evidence {
	struct interleave_turns half[INTERLEAVE_HALVES]; /* of all sessions */
	int sessions;
	struct interleave_turns timed[INTERLEAVE_HALVES]; /* of sessions whose times count */
	int timed_sessions;
};

void interleave_evidence_add(struct interleave_evidence *e, const struct interleave_turns *s);
/** Add a session whose times count, for interleave_gain. */
void interleave_evidence_add_times(struct interleave_evidence *e, const struct interleave_turns *s);
/**
 * Return the failure class, "clock" or "escaped", if interleave_overstates or interleave_overlaps is true in each half of the
 * runs, not necessarily the same one in both. NULL: not.
 */
const char *interleave_find_fault(const struct interleave_evidence *side, const struct interleave_evidence *other, char *why);
/** Return whether a side computes so much in others' turns that longer turns could lead to an accusation. */
bool interleave_may_overlap(const struct interleave_evidence *e);

/** Result of the worker's clock for a gain of the target. */
enum interleave_gain {
	INTERLEAVE_GAIN_NONE,        /* confirmed, or no gain large enough to verify is reported */
	INTERLEAVE_GAIN_UNCONFIRMED, /* not confirmed, without an accusation */
	INTERLEAVE_GAIN_MISSING      /* the gain does not exist */
};
/**
 * Verify a reported gain of the target of 20 % or more by the worker's clock. Turns of `calls` calls each, warm-up included, must
 * shrink by half of the gain, plus two standard errors. Changes that are small against the overhead of a turn are accepted. If
 * the base chooses its repetitions and a side repeats calls, turns of single calls must shrink instead; without such turns, or
 * with unequal repetitions in them, no gain is confirmed. If the base does not choose repetitions, the target must not either.
 * Lengths and times are means of the middle half, as in a verdict, so a few wrong times have no effect. A gain is missing only if
 * at least 20 uninterrupted turns per side, and each half of the runs separately, show by three standard errors that turns did
 * not shrink by half of the gain. `why` receives the reason unless INTERLEAVE_GAIN_NONE. Shape: why[INTERLEAVE_WHY_SIZE].
 */
enum interleave_gain interleave_gain(
	const struct interleave_evidence *base, const struct interleave_evidence *target, int calls, char *why);
/** Record the work of a side in another side's turn. `is_watched`: its run queue was read. */
void interleave_rest_note(struct interleave_turns *s, const struct interleave_rest *rest, bool is_watched);
/** Return whether a side computes enough in others' turns to justify reading its run queue, which takes a read per thread. */
bool interleave_is_restless(const struct interleave_turns *s);
/**
 * Return whether a side computes while the other one has the turn: by its processor time, or by a device that answers the other
 * side late. On a busy machine a thread that never rests gets a small share of a core and waits for one the rest of the time; the
 * sum of both times reveals it.
 */
bool interleave_overlaps(const struct interleave_turns *side, const struct interleave_turns *other, char *why);

/**
 * Time for which the threads of a side wait for a core, from a counter of the system: it confirms or refutes a reported
 * interrupt. It is read only for sides that have reported an interrupt before. Starts zeroed.
 */
struct interleave_wait {
	bool is_counted; /* the side has reported an interrupt before */
	double before_s; /* counter at the start of the turn; below 0: not read */
};
/** Handle the start of a turn. `queued_s`: the counter; unused unless is_counted. */
void interleave_wait_begin(struct interleave_wait *w, double queued_s);
/**
 * Handle the end of a turn of `turn_ms` with a reported interrupt. Returns whether the threads waited long enough in it. A turn
 * without a reading at its start does not count as interrupted; if the system has no counter (`queued_s` 0), the report is
 * accepted.
 */
bool interleave_wait_end(struct interleave_wait *w, double queued_s, double turn_ms);

#endif
