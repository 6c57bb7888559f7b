/** protocol.h - messages between daemon, worker, runner and interleaved programs. */
#ifndef PROTOCOL_PROTOCOL_H
#define PROTOCOL_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"
#include "model/model.h"
#include "stats/stats.h"

/*
 * ---- tried ----
 * Configurations that a provider reports to have tried before it chose one. The reports are unverified and have no effect on
 * verdicts.
 */

enum {
	TRIED_MAX = 64,         /* configurations in a list */
	TRIED_OF_MAX = 1 << 24, /* reported number of tried configurations */
};

struct tried_config {
	char config[160];
	double ms; /* time of a call; 0: not timed */
};

struct tried {
	int of, n;                   /* configurations tried; those in the list */
	struct tried_config *config; /* config[n], the fastest first, then those without a time; owned, see tried_fini */
};

/** Sort the list by time; configurations without a time come last. */
void tried_sort(struct tried *t);
void tried_fini(struct tried *t);

/** Write {"of":8,"list":[{"config":"TILE=0","ms":0.5}]}, or null if the list is empty. "ms" is null if not timed. */
void tried_write(struct jsonw *j, const struct tried *t);

/*
 * ---- reported_kernels ----
 * Triton kernels that a benchmark program reports to have launched in a call of a cell. The reports are unverified and have no
 * effect on verdicts.
 */

enum { REPORTED_KERNELS_MAX = 16 }; /* in a list */

/** A kernel with one configuration. A number of -1 and a text of "" are not reported. */
struct reported_kernel {
	char name[128];
	char config[256];       /* the autotuner's choice: "BLOCK_N=128,num_warps=8"; "": the kernel has no autotuner */
	char code_sha256[65];   /* of its PTX without debug lines */
	char source_sha256[65]; /* of its syntax tree and all configurations of its autotuner, without called functions */
	int num_warps, num_stages, registers, spills, launches; /* registers and spills of a thread; launches in one call */
	int64_t shared_bytes;                                   /* shared memory of a block */
};

struct reported_kernels {
	int of, n;                      /* different kernels; those in the list */
	struct reported_kernel *kernel; /* kernel[n] in the order of their first launches; owned, see reported_kernels_fini */
};

/** Free the list and zero the struct. */
void reported_kernels_fini(struct reported_kernels *k);
/** Append a copy of a kernel, or drop it beyond REPORTED_KERNELS_MAX. `of`: reported number of different kernels. */
void reported_kernels_add(struct reported_kernels *k, const struct reported_kernel *kernel, int of);
/** Return whether both lists have the same kernels with the same configurations and code. */
bool reported_kernels_equal(const struct reported_kernels *a, const struct reported_kernels *b);

/** Worker to daemon: the kernels that one side reports for a cell. */
struct msg_reported_kernels {
	int cell;
	enum role role;
	int processes;                /* timed processes that reported kernels; 0: only the process that listed the cells did */
	int unlike;                   /* those among them that reported other kernels than the first one */
	struct reported_kernels list; /* owned by the message */
};

/** Write {"processes":4,"unlike":0,"of":1,"list":[{"kernel":"matmul",..}]}, or null if `m` is NULL. */
void reported_kernels_write(struct jsonw *j, const struct msg_reported_kernels *m);

/*
 * ---- evidence ----
 * Evidence from a profile of two builds: counters of each kernel, differences in machine code, effect of a configuration. Most
 * of it comes from processes that run branch code, so it has no effect on verdicts.
 */

enum {
	EVIDENCE_CELLS_MAX = 3,        /* cells of one profile, unless a user requests all cells of a suite */
	EVIDENCE_SUITE_MAX = 128,      /* cells of such a profile */
	EVIDENCE_REPEATS = 2,          /* processes of each role, in the order base, target, target, base */
	EVIDENCE_KERNELS_MAX = 256,    /* kernels of one call */
	EVIDENCE_VALUES_MAX = 128,     /* counters of one kernel */
	EVIDENCE_OPCODES_MAX = 12,     /* opcodes with different counts */
	EVIDENCE_HUNKS_MAX = 16 << 10, /* bytes of a difference in machine code */
	EVIDENCE_STALLS_MAX = 8192,    /* sampled instructions of one kernel */
	EVIDENCE_HOT_MAX = 16,         /* most sampled instructions of one kernel */
	EVIDENCE_REASON_SIZE = 24,
	EVIDENCE_INSTRUCTION_SIZE = 96,
	EVIDENCE_NAME_SIZE = 256
};

/** A counter of one kernel. Units: the metric's. */
struct evidence_value {
	char metric[80]; /* name in NVIDIA's tools: "dram__bytes_read.sum" */
	double value;
};

/** One kernel of a call, from one process of a profile. */
struct msg_kernel {
	int cell;
	enum role role;
	int repeat;                      /* number of the process among those of its role: 0 or 1 */
	int n;                           /* position in the launch order of a call */
	char phase[16];                  /* "run", "prepare", ... */
	char kernel[EVIDENCE_NAME_SIZE]; /* name, demangled if possible; "memset" or "memcpy" for such a node */
	char code_sha256[65];            /* of its compiled code; "": unknown */
	char symbol_sha256[65];          /* runner to worker: of its mangled name; "": unknown */
	int sm;                          /* compute capability of its code: 90 for sm_90; 0: unknown */
	double ms;                       /* its duration; below 0: unknown */
	int grid[3], block[3];           /* x, y, z */
	int registers, local_bytes;      /* of a thread */
	int shared_bytes;                /* of a block */
	int ctas_per_sm;                 /* blocks that fit on a multiprocessor; 0: unknown */
	int n_values;
	struct evidence_value *value; /* value[n_values], each metric once; owned by the message */
};

/** Samples of warps at one instruction. */
struct evidence_stall {
	uint32_t offset; /* bytes from the start of its function */
	int samples;
	char reason[EVIDENCE_REASON_SIZE]; /* the most frequent stall: "gmma"; "selected": the warp issues, no stall */
	int of_reason;                     /* number of samples with that reason */
};

/** Runner to worker: samples of one kernel's warps, with the stall of each. */
struct msg_stalls {
	int cell;
	enum role role;
	char symbol_sha256[65]; /* as in msg_kernel */
	long long samples;      /* of the whole kernel */
	int n;
	struct evidence_stall *line; /* line[n], one for each instruction, by offset; owned by the message */
};

/** The most sampled instructions of a kernel. */
struct evidence_hot {
	long long samples; /* of the whole kernel; 0: not sampled */
	int n;
	struct {
		struct evidence_stall stall;
		char text[EVIDENCE_INSTRUCTION_SIZE]; /* the instruction as SASS; "": unknown */
	} line[EVIDENCE_HOT_MAX];                     /* line[n], most samples first */
};

/** Resources of a multiprocessor that a kernel uses, as in msg_kernel; -1: unknown. */
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
	EVIDENCE_CODE_DIFFERS, /* the hash differs; the instructions could not be compared */
	EVIDENCE_CODES
};

/** "same" "renamed" "rescheduled" "changed" "added" "removed" "differs". Shape: ends with NULL. */
extern const char *const evidence_code_names[EVIDENCE_CODES + 1];

/** Worker to daemon: difference in the machine code of one kernel. */
struct msg_code {
	int cell;
	char base[EVIDENCE_NAME_SIZE], target[EVIDENCE_NAME_SIZE]; /* name of the kernel on each side; "": missing */
	enum evidence_code what;
	struct evidence_takes base_takes, target_takes;
	int n_opcodes;
	struct {
		char opcode[48];
		int base, target;           /* occurrences in the code of each side */
	} opcode[EVIDENCE_OPCODES_MAX];     /* opcode[n_opcodes] with different counts, the largest difference first */
	char hunks[EVIDENCE_HUNKS_MAX + 1]; /* differing instructions as lines of text */
	struct evidence_hot hot[2];         /* base, target */
};

/** Time of the target with the configuration that the base chose, next to the times of both unchanged sides. */
struct msg_counterfactual {
	int cell;
	char config[160];                   /* the base's configuration */
	double base_ms, target_ms, with_ms; /* medians of interleaved calls in one process; with_ms: target with `config` */
};

enum evidence_path {
	EVIDENCE_RANGE,    /* counters, read in the runner with CUPTI's range profiler */
	EVIDENCE_NCU,      /* counters, read by ncu, which starts the runner */
	EVIDENCE_ACTIVITY, /* kernel times only: from CUPTI's activity records, or the time of a phase with one kernel */
	EVIDENCE_CODE,     /* machine code only */
	EVIDENCE_PATHS
};

/** "range" "ncu" "activity" "code". Shape: ends with NULL. */
extern const char *const evidence_path_names[EVIDENCE_PATHS + 1];

/** Last record of a cell's profile: from the runner for one process, from the worker for the whole profile. */
struct msg_profile {
	int cell;
	enum evidence_path path;
	char why[400];        /* one sentence: why no better path was used; "" for EVIDENCE_RANGE */
	char tool[64];        /* name and version: "CUPTI 130001" */
	int passes;           /* replays of a call; 0: no counters */
	char stalls_why[200]; /* why stalls are unknown; "": they are known, or the counters are unknown too */
	char base_config[160], target_config[160];
	double gpu_s;                          /* time for which the device was held */
	bool tunes;                            /* runner to worker: the provider found its configuration by searching */
	struct tried base_tried, target_tried; /* owned by the message */
};

/** Whether a run has sustained runs of a cell, and the side that begins them. */
enum sustained_order { SUSTAINED_NONE, SUSTAINED_BASE_FIRST, SUSTAINED_TARGET_FIRST };

/*
 * ---- sentinel ----
 * Classes of cells by power draw: the regular or the irregular cells of one direction. One cell of a class, the sentinel, has
 * sustained runs that represent the class. The sentinel is the longest cell whose sides launch different kernels, since equal
 * kernels draw the same power unless their parameters differ (doc/trust.md, known gaps). If a comparison uses several devices,
 * only one of them measures the sentinel of each class.
 */

/** A set of classes, one bit each. */
typedef unsigned sentinel_set;

/** Return the class of a cell, as a set of one. */
sentinel_set sentinel_class(const struct cell *c);
/** Return both classes of a direction. */
sentinel_set sentinel_direction(enum direction d);

/*
 * ---- signature ----
 * Authentication of the runner's lines: branch code in the runner's process can write to the same channel.
 *
 * A signed line is "MAC NUMBER {record}". MAC is the HMAC-SHA-256 of "NUMBER {record}", truncated to SIGNATURE_MAC digits, with a
 * key that only worker and runner know. Numbers count from 0, so branch code that reads such lines can neither forge nor repeat
 * one.
 */

enum {
	SIGNATURE_KEY = 32,                 /* hex digits of a key */
	SIGNATURE_MAC = 32,                 /* hex digits of a MAC */
	SIGNATURE_ROOM = SIGNATURE_MAC + 24 /* maximum bytes before a record */
};

/**
 * Compute the MAC of `text`, "NUMBER {record}" without LF, as hex. `key`: SIGNATURE_KEY hex digits. Shape: mac[SIGNATURE_MAC +
 * 1].
 */
void signature_make(const char *key, const char *text, size_t len, char *mac);
/**
 * Verify a signed line. Returns its record; NULL if MAC or number are wrong. Shape: line[len], without LF. Own: points into
 * `line`.
 */
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
#define PROTOCOL_BANNER_MAX (64u << 10)  /* maximum bytes before hello, such as an ssh banner; the daemon skips them */
#define PROTOCOL_LOG_MAX    (640u << 10) /* bytes of a build log that are sent, from its end; their base64 fits in a line */

#define PROTOCOL_BUILDER "build" /* uuid in place of a device: the worker only builds */

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
	char toolkit[TOOLCHAIN_TEXT_SIZE]; /* versions of the compilers, a part of the cache key of builds */
	char cudnn[24];                    /* version of the library that modules load; "": none */
	char cublas[24];                   /* version of the library that modules load; "": none */
	char image[64];                    /* the worker's system: "debian 12.5, glibc 2.36" */
	char vbios[32];                    /* version; "": unknown */
	int index;                         /* position among the devices of its kind */
	char pci[32];                      /* bus address, "0000:1b:00.0"; "": none */
	double power_limit_w;              /* 0: unknown */
	int cores;                         /* multiprocessors (SMs) of a GPU, or threads of a CPU */
	int64_t memory_bytes, l2_bytes;    /* 0: unknown */
	double clock_max_mhz;              /* 0: unknown */
	double peak_tflops, peak_gb_s;     /* upper bounds of dense bf16 arithmetic and of memory bandwidth; 0: unknown */
};

/** Location of a worker's builds, for users who run them manually. Texts "": unknown. */
struct msg_location {
	char host[64], user[33];
	bool is_system;                   /* `user` is a system account without login */
	char runner[1024], modules[1024]; /* paths of flopwatch-runner and of the folder with <sha256>.so */
};

/** Worker to daemon: first message. The daemon rejects another `protocol` than PROTOCOL_VERSION. */
struct msg_hello {
	int protocol;
	char version[32];
	char isolation[8]; /* "bwrap" or "none" */
	bool builds_only;  /* the worker has no device: its one entry has the kind to build for, and uuid PROTOCOL_BUILDER */
	struct msg_location location;
	int n_read_only;
	char read_only[READONLY_MAX][READONLY_PATH_SIZE]; /* folders of its machine that branch code may read */
	int n_devices;
	struct msg_device device[PROTOCOL_DEVICES_MAX];
};

/** One side of a job: the sources to build, and the provider to measure. */
struct msg_side {
	enum role role;
	char commit[65]; /* object name; "": none */
	int n_inputs;
	struct msg_input {
		char path[MANIFEST_TEXT_SIZE]; /* relative to the work folder of the build */
		char oid[65];                  /* object name of a tree or blob */
	} input[MANIFEST_LIST_MAX];
	struct build build;
	bool untrusted;                     /* code of a fork: its builds have separate entries in the cache */
	char provider[PEERS_PROVIDER_SIZE]; /* "": the module's default */
	char config[160];                   /* configuration for every cell; "": the provider chooses */
	struct toolchain_override tools;    /* replaces the worker's toolchain for this side */
	struct benchmark benchmark;         /* a benchmark program that is measured instead of a module; name "": none */
};

/** Limits of a job. */
struct msg_limits {
	double build_s;    /* one build */
	double check_s;    /* one process of checks */
	double run_s;      /* one run, without its sustained runs */
	double budget_s;   /* device time of the job */
	double wait_s;     /* wait until no other process uses the device; default 600 */
	int64_t log_bytes; /* stored bytes of a build log */
};

/** Daemon to worker: one job. */
struct msg_job {
	int64_t job;       /* the daemon's number */
	int attempt;       /* from 1 */
	char nonce[33];    /* random, for each attempt */
	enum jobkind kind; /* not JOBKIND_IMPORT */
	char device[64];   /* uuid */
	int n_concurrent;
	/* uuids of the devices on that machine that may have jobs at the same time, with its own; none: all of its kind */
	char concurrent[PROTOCOL_DEVICES_MAX][64];
	uint64_t seed;
	bool quick;                       /* one run per cell without confirmation: no reliable verdict */
	sentinel_set sentinels_elsewhere; /* classes whose sentinel another shard of the comparison measures */
	sentinel_set sustained_runs;      /* classes with sustained runs of all cells: their power draw is known to differ */
	int n_sides;
	struct msg_side side[PROTOCOL_SIDES_MAX];
	int n_cells;
	struct cell *cell; /* cell[n_cells], owned by the message; none for benchmark programs */
	struct rule rule;
	struct msg_limits limits;
};

enum { PROTOCOL_NEED_MAX = 192 }; /* inputs of all sides together */

/** Worker to daemon: request for sources that its builds need. */
struct msg_need {
	int n;
	char oid[PROTOCOL_NEED_MAX][65];
};

/** Daemon to worker: answer to one requested object. `bytes` of a ustar archive follow the line. */
struct msg_tree {
	char oid[65];
	int64_t bytes;
};

/** Worker to daemon: start or result of one side's build. */
struct msg_build {
	enum role role;
	char state[8];    /* "start" "cached" "ok" "failed" */
	int exit, signal; /* end of the command: exit status; signal, 0: none */
	int64_t duration_ms;
	char family[16];                     /* of the module; "" for a benchmark program */
	char module_sha256[65];              /* "" unless ok or cached */
	char toolchain[TOOLCHAIN_TEXT_SIZE]; /* versions of the compilers */
	struct buf log;                      /* output, decoded from log_b64; owned by the message */
	char detail[256];                    /* reason of a failure */
};

/** Result of a check: one side's results in one cell against the reference. */
struct msg_check {
	enum role role;
	int cell;
	bool ok;
	/* "" or "wrong" "oob" "crash" "timeout" "unsupported" "provider" (missing) "abi", or the class of a rejection */
	char failure[16];
	double error_ratio;    /* largest error over the allowed one; below 1: accepted; -1: unknown */
	double alone_ms;       /* shortest cold call, with no other module loaded; 0: unknown */
	double alone_mhz;      /* clock of that call; 0: unknown */
	char repeats[8];       /* bitwise equality of two calls on the same inputs: "same" "differs"; "": unknown */
	char input_sha256[65]; /* of all inputs of the call; "" only if not ok */
	char detail[512];      /* the worst element, or the reason of the failure */
};

/** Worker to daemon: the rows of a benchmark program, which become the job's cells. */
struct msg_found {
	int n;
	struct msg_found_cell {
		char key[CASE_KEY_SIZE];
		double flops; /* of a call; 0: unknown */
	} cell[JOB_CELLS_MAX];
};

/** Worker to daemon: start of a run. */
struct msg_run {
	int run; /* number in the job */
	int set; /* 1 decides, 2 confirms */
	uint64_t seed;
	int n_cells;
	int cell[JOB_CELLS_MAX]; /* cell[n_cells]: numbers in the job */
};

/** Runner to worker: the step that begins now. It classifies a later crash or timeout. */
struct msg_at {
	int run, cell;  /* cell -1: no single cell */
	enum role role; /* the side whose code runs; ROLE_NONE: no module was loaded yet */
	char step[12];  /* "context" "load" "inputs" ... (record.c); "inspect": waits while the worker checks its processes */
};

/** State of the device, in one reading or between two (device_check_merge). */
struct msg_device_check {
	double power_w, temp_c, sm_mhz; /* -1: unknown */
	uint64_t reasons;               /* NVML's clock event reasons, see device_check_reason */
	int foreign;                    /* processes of other programs on the device; -1: unknown */
	int xid, ecc;                   /* since the reading before: last XID; uncorrected memory errors; 0: none */
	double energy_j;                /* used between two readings; in one reading the device's counter; -1: unknown */
	char regime[16];                /* the clock's limit: "boost" "power_limited"; "": unknown */
};

/** Runner or worker to daemon: the times of one cell in one run. */
struct msg_cell {
	int run, set, cell;
	int redo; /* earlier attempts in this run with discarded times */
	enum series series;
	char phase[16]; /* "run", "prepare", ...; "" unless series is SERIES_PHASE */
	char input_sha256[65];
	int n_sides;
	enum role role[PROTOCOL_SIDES_MAX];
	int n;                               /* samples of each side */
	float *ms[PROTOCOL_SIDES_MAX];       /* ms[s][n]; owned by the message, as are mhz and host_us */
	float *mhz[PROTOCOL_SIDES_MAX];      /* mhz[s][n], 0: unknown; NULL: all unknown */
	float *host_us[PROTOCOL_SIDES_MAX];  /* host_us[s][n]: host's time to queue the call, 0: unknown; NULL: all unknown */
	double energy_j[PROTOCOL_SIDES_MAX]; /* of a call, in series sustained; 0: unknown */
	/* side of each call in the order of time, "ABBAABBA..", A is role[0]; "": unknown */
	char order[PROTOCOL_SIDES_MAX * PROTOCOL_SAMPLES_MAX + 1];
	struct msg_device_check device_check;
};

/** Work of one side in a cell: the module's claims, and the runner's observations. */
struct msg_work {
	enum role role;
	int cell;
	char provider[PEERS_PROVIDER_SIZE], config[160];
	/* claims of the module (fw_kernel.h), -1: unknown */
	double flops_issued, bytes_moved;
	int64_t tiles_total, tiles_skipped, tiles_partial, blocks_kept, workspace_bytes;
	/* observations of the runner */
	int64_t persist_bytes;          /* memory of the module that persists between calls; 0: unknown */
	int64_t tensor_bytes;           /* tensors of a call; 0: unknown */
	double first_ms;                /* plan, bind and first call, with inputs ready; -1: unknown */
	double plan_ms;                 /* the plan's share of it, with the search for a configuration; 0: unknown */
	int64_t taken_bytes;            /* other device memory that plan, bind and first call used; -1: unknown */
	int64_t mask_blocks, mask_kept; /* blocks of a mask over all key heads, or pairs of a token mask; 0: no mask */
	struct mask_counts mask;        /* the same mask in tokens; 0: no mask, or an older runner */
	uint32_t phases;                /* bit set of the phases that the module has */
	bool tunes;                     /* the provider searched for its configuration: later processes receive it */
	struct tried tried;             /* owned by the message */
};

/** A kernel, memset or memcpy that a call launches: a node of its captured CUDA graph. Fields as in msg_kernel. */
struct msg_node {
	enum role role;
	int cell;
	char phase[16];
	char kernel[256];
	int grid[3], block[3], registers, local_bytes, shared_bytes;
	int sm;
	char symbol_sha256[65];
	char code_sha256[65]; /* worker to daemon: of its compiled code (profile/cubin.c); "": unknown */
};

/* ---- launches ---- */

#define LAUNCHES_UNKNOWN "-" /* hash of a call that launches a kernel of unknown code */

/**
 * Add a node to the hash of a call's launches, in launch order. Equal hashes mean the same compiled code with the same grids and
 * resources; the values of kernel parameters are not part of it. `sha256` starts as "", and is LAUNCHES_UNKNOWN once the code of
 * a kernel is unknown.
 */
void launches_add(char sha256[65], const struct msg_node *node);
/** Return whether both sides are known to launch the same kernels; false if they launch none. */
bool launches_equal(const char *base_sha256, const char *target_sha256);

/** Failure of one cell, or of the job. */
struct msg_fault {
	int cell;       /* -1: no single cell */
	enum role role; /* the side that caused it; ROLE_WORKER: no side */
	/*
	 * "build" "abi" "unsupported" "crash" "wrong" "oob" "timeout" "device" "protocol" "reported" ..., or the class of a
	 * rejection
	 */
	char failure[16];
	char detail[512];
};

/** Daemon to worker: end the job. */
struct msg_cancel {
	bool stays; /* then send hello again, for another job; an older worker ignores this key and exits */
};

/** Worker to daemon: end of the job. */
struct msg_done {
	double gpu_s;  /* time for which the device was held */
	double wall_s; /* time since the job arrived */
	bool cancelled;
	sentinel_set sustained_runs; /* classes with sustained runs of all cells, because their power draw differs */
	double step_s[DEVICE_STEPS]; /* shares of gpu_s; all 0: unknown */
};

/** Information without effect on verdicts, such as a wait, or leaked state of a module. */
struct msg_note {
	int cell;       /* -1: no single cell */
	enum role role; /* the side that caused it; ROLE_NONE, ROLE_WORKER: no side */
	char text[400];
};

/** Worker to daemon: two benchmark programs execute the same code, although files differ. Nothing is measured. */
struct msg_same {
	char why[400]; /* a phrase that names the files in which they differ */
};

/** Result of a device probe. */
struct msg_state {
	enum task_mode what; /* kind of probe: TASK_IDLE or later */
	bool ok;
	struct msg_device_check device_check;
	char detail[400]; /* reason of a failure; "" if ok */
};

/** Daemon to worker, instead of a job: test the device with a known computation. The worker answers with msg_state. */
struct msg_health_check {
	char device[64]; /* uuid */
};

/** Runner to worker in an audit: a batch of calls is ready and waits for the worker's go byte, or is done. */
struct msg_audit {
	int cell;
	enum role role;
	int calls; /* in the batch */
	bool done;
	double ms; /* if done: time of the whole batch by the device's clock */
};

/** A configuration that a provider found by searching, or that a user requested: every later process of the job uses it. */
struct msg_pin {
	int cell, side; /* number of the cell in the job; position among the task's sides */
	char config[160];
	bool is_request; /* requested by a user: the runner omits terms whose key the provider's configuration does not have */
};

/** Worker to runner, on the runner's standard input: the whole task of one process. */
struct msg_task {
	enum task_mode mode; /* TASK_IDLE and later ones have neither sides nor cells */
	char device[64];     /* uuid, or "cuda:0" */
	int run, set;        /* as in msg_run; set 0: none */
	int pass;            /* mode device_check: discarded attempts of this run so far; clocks: earlier processes of this run */
	uint64_t seed;
	int rotation;                      /* mode time: counter for order_first, incremented by each cell; 0: random */
	char signature[SIGNATURE_KEY + 1]; /* key that signs the lines of this process (signature.c); "": unsigned lines */
	int n_sides;
	struct msg_task_side {
		enum role role;
		char module[128]; /* path: "/proc/self/fd/10" */
		char provider[PEERS_PROVIDER_SIZE];
	} side[PROTOCOL_SIDES_MAX];
	int n_cells;
	struct cell *cell; /* cell[n_cells]; owned by the message, as are index, pin and sustained */
	int *index;        /* index[n_cells]: their numbers in the job, used in every record */
	int n_pins;
	struct msg_pin *pin; /* pin[n_pins] */
	struct rule rule;
	double warm_s, cell_warm_s;      /* warm-up of the process and of each cell: 1.5 and 0.1 on a GPU */
	bool phases, calls;              /* measure also series phase and call */
	int calls_n, warmup_n;           /* mode capture: number of captured calls, and of calls before them */
	bool only_sustained_runs;        /* measure only series sustained */
	int repeat;                      /* mode profile: number of the process within its role */
	bool counters;                   /* mode profile: read counters; else only name the kernels */
	bool samples;                    /* mode profile: only sample warp stalls */
	enum sustained_order *sustained; /* sustained[n_cells]: whether a cell also has series sustained */
	char device_check_script[2048];  /* devices sim and cpu: readings that a test injects (runner/device_check_script.c) */
};

/** Any message. Free with msg_fini. */
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

/** Return the value of "t" for a type: "hello". */
const char *protocol_name(enum msg_type t);

/**
 * Parse one line, with or without its LF. Text for display (detail, names, versions) is cleaned of control characters and cut to
 * its member; every other value must be exact and within its bounds. Own: msg_fini of `out` after success. Err: ERR_PROTOCOL
 * names the wrong key.
 */
int protocol_parse(const char *line, size_t len, struct msg *out, struct fw_err *err);
/** Free the message's parts and zero it. */
void msg_fini(struct msg *m);
/** Return the sum of all times of a record. Units: s. */
double msg_cell_seconds(const struct msg_cell *m);

/**
 * Append one line with its LF. Only the last PROTOCOL_LOG_MAX bytes of a build log are written. A line longer than
 * PROTOCOL_LINE_MAX is omitted and sets out->failed.
 */
void protocol_write(struct buf *out, const struct msg *m);

/** Write one cell as a JSON object, as in a job. */
void protocol_put_cell(struct jsonw *j, const struct cell *c);
/** Parse such an object. Err: ERR_PROTOCOL names the wrong key. */
int protocol_parse_cell(const char *text, size_t len, struct cell *out, struct fw_err *err);

/** Write a location as one JSON object, as in hello. */
void protocol_put_location(struct jsonw *j, const struct msg_location *p);

/** Write a reading as one JSON object, as in a cell record. */
void protocol_put_device_check(struct jsonw *j, const struct msg_device_check *g);

/** Write a rule as one JSON object without LF, for storage with a result. */
void protocol_write_rule(struct buf *out, const struct rule *r);
/** Parse such an object. Err: ERR_PROTOCOL names the wrong key. */
int protocol_parse_rule(const char *text, size_t len, struct rule *out, struct fw_err *err);

/** Write a job's sides as one JSON object without LF, for storage with its plan. */
void protocol_write_sides(struct buf *out, const struct msg_job *job);
/** Parse such an object into the sides of `out`, which starts zeroed. Err: ERR_PROTOCOL names the wrong key. */
int protocol_parse_sides(const char *text, size_t len, struct msg_job *out, struct fw_err *err);

/*
 * ---- device_check ----
 * Validity of times by the device readings before and after them. Pure. Runner, worker and daemon share it, so they discard the
 * same times.
 */

/** Reasons why a GPU's clock is limited, as bits with NVML's values. A power cap is normal and never discards times. */
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
	bool limits;              /* reduces the clock */
};
enum { DEVICE_CHECK_REASONS = 9 };
/** All reasons that NVML reports, the worst first. */
extern const struct device_check_reason device_check_reason[DEVICE_CHECK_REASONS];

enum {
	DEVICE_CHECK_WHY_SIZE = 96,
	DEVICE_CHECK_DISCARDED_MAX = 3 /* discarded runs of a cell, after which it gets no further run */
};

/** Set all fields to unknown. */
void device_check_unknown(struct msg_device_check *g);
/**
 * Merge the reading after some times into `g`, the reading before them: the worse value of each field, because either state may
 * affect the times. The energy becomes the difference of both counters.
 */
void device_check_merge(struct msg_device_check *g, const struct msg_device_check *after);
/**
 * Return whether a merged reading invalidates the times: hardware slowdown, heat, power brake, another process, an XID, an ECC
 * error. `why` receives the reason, else "". Shape: why[DEVICE_CHECK_WHY_SIZE].
 */
bool device_check_discards(const struct msg_device_check *g, char why[DEVICE_CHECK_WHY_SIZE]);
/** Return whether an XID of the driver always means a broken device (off the bus, firmware, links), which must get no job. */
bool device_check_xid_breaks(int xid);

/*
 * ---- interleave ----
 * Protocol between the worker and a benchmark program that is timed call by call (doc/interleave.md). Pure: no I/O, no clock.
 *
 * A program requests a turn for a cell, is idle until the worker grants the turn, makes its calls, reports their times, and
 * requests the next turn. A turn lasts from `go` until the next request; meanwhile no other program computes.
 */

#define INTERLEAVE_VERSION 1
/** Environment variable with the descriptor of the program's socket. */
#define INTERLEAVE_VARIABLE "FLOPWATCH_INTERLEAVE"
/** Environment variable that allows a program to fork its runs. */
#define INTERLEAVE_FORK_VARIABLE "FLOPWATCH_FORK"

enum {
	INTERLEAVE_LINE_MAX = 4096, /* bytes */
	INTERLEAVE_TEXT_SIZE = 400,
	INTERLEAVE_CALLS_MAX = 1 << 16, /* calls of one turn */
	INTERLEAVE_FACTS_MAX = 64,      /* `fact` and `fail` lines of a program in one turn */
	INTERLEAVE_SPIN_US_MAX = 10000  /* time for which the device waits for a primed call */
};

enum interleave_message {
	INTERLEAVE_HELLO,
	INTERLEAVE_TURN,
	INTERLEAVE_DONE,
	INTERLEAVE_FACT,
	INTERLEAVE_FAIL,
	INTERLEAVE_BYE,
	INTERLEAVE_PARENT, /* the process forks a child for each run */
	INTERLEAVE_FRESH,  /* the process is the run itself, and the reason why it forks none */
	INTERLEAVE_ENDED   /* from a parent: how its child ended */
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

/** One line of a program. A comment begins with the messages or facts that have the member; in others it is 0. */
struct interleave_line {
	enum interleave_message type;
	/* hello: the program's name; fail, fresh: the reason; facts output, config, unprimed: the value */
	char text[INTERLEAVE_TEXT_SIZE];
	char key[CASE_KEY_SIZE]; /* turn: the cell */
	double ms;               /* done: time of a call, a mean if `repeats` is above 1; 0: none, and `cut` or `late` is set */
	double host_us, mhz;     /* done: the host's time to queue the call, and its clock; 0: unknown */
	double repeats;          /* done: calls that the program chose to make; 0: not reported, one call */
	double idle_us;          /* done: time until the device answered before the call; 0: not reported */
	double spin_us;          /* done: time for which the device should wait for the next call; 0: the call was not primed */
	bool cut;                /* done: another process interrupted the call */
	bool late;               /* done: the device began the primed call before the host had queued all of it */
	enum interleave_fact fact;
	struct reported_kernel kernel; /* fact kernel */
	int kernels;                   /* fact kernel: number of different kernels of the call */
	double value;                  /* facts that are numbers */
	char failure[16];              /* fail: "wrong" "unsupported" "reported" */
	int status;                    /* ended: exit status; -1: ended by `signal` */
	int signal;
};

/**
 * Parse one line, without its LF. Text for display is cleaned, everything else must be exact; unknown names at the end of a
 * `done` line are ignored. Err: ERR_PROTOCOL with a predicate for the subject "the benchmark"; `out` is then undefined.
 */
int interleave_parse(const char *line, size_t len, struct interleave_line *out, struct fw_err *err);

/** Write the worker's welcome. `is_list`: the program only lists its cells. */
void interleave_write_welcome(struct buf *out, bool is_list);
/** Parameters of one turn: `warm` untimed calls, then `calls` timed ones without a break. */
struct interleave_go {
	int warm, calls;
	bool is_single; /* a program that chooses its repetitions must make each call once */
	double spin_us; /* minimum time for which the device waits for a primed call, up to INTERLEAVE_SPIN_US_MAX; 0: not sent */
};
/** Grant a turn. */
void interleave_write_go(struct buf *out, const struct interleave_go *go);
/** Tell the program that the cell has no further turn. */
void interleave_write_next(struct buf *out);
/** Request the next run from a parent. */
void interleave_write_fork(struct buf *out);

enum interleave_state {
	INTERLEAVE_STARTING, /* sent nothing yet, or only `fresh` */
	INTERLEAVE_WAITING,  /* a parent that waits for the request of a run */
	INTERLEAVE_BUSY,     /* between cells: may compute, concurrently with other programs */
	INTERLEAVE_RESTING,  /* requested a turn and is idle */
	INTERLEAVE_HOLDING,  /* has the turn and has calls left to make */
	INTERLEAVE_AFTER,    /* has the turn and has made its calls */
	INTERLEAVE_GONE      /* sent bye */
};

/** State of one program, derived from its lines and the worker's answers. Starts zeroed. */
struct interleave_side {
	enum interleave_state state;
	char key[CASE_KEY_SIZE]; /* of the last requested cell */
	int calls_left, facts;   /* in this turn: calls to make; `fact` and `fail` lines so far */
	bool is_forked;          /* the lines come from a child that the parent forked for this run */
};

/**
 * Apply a line of the program to its state. Err: ERR_PROTOCOL if the line is not allowed now, with a predicate as in
 * interleave_parse; the caller must end the program.
 */
int interleave_receive(struct interleave_side *s, const struct interleave_line *line, struct fw_err *err);
/** Record that the worker granted a turn of `calls` timed calls. */
void interleave_grant_turn(struct interleave_side *s, int calls);
/** Record that the worker ended the cell. */
void interleave_end_cell(struct interleave_side *s);
/** Record that the worker requested a run from a parent. */
void interleave_request_run(struct interleave_side *s);
/** Return whether the program has the turn. */
bool interleave_holds(const struct interleave_side *s);

/*
 * ---- order ----
 * Order of the sides in a run of a cell. Under a power limit the clock oscillates in step with the run, so the side that begins
 * has other clocks than the others. Therefore base and target begin alternately, also if other sides run with them.
 */

/** A random `rotation` is below this number: over this range every order of two to four sides is equally frequent. */
enum { ORDER_ROTATIONS = 12 };

/**
 * Return the index of the side that begins at counter `rotation`: base comes before target if `rotation` is even, else after it;
 * further sides rotate in the same way. `n`: number of sides, at least 2. `base`, `target`: their indices.
 */
int order_first(int n, int base, int target, int rotation);

/**
 * Return the index of the `k`-th of `n` sides in round `round` of a run that side `first` begins; all count from 0. Two sides: A
 * B, B A, B A, A B, so that neither drift nor a period of two or four calls favours a side. More sides: each is equally often at
 * each position.
 */
int order_side(int n, int first, int round, int k);

/* ---- plan: Plan of an interleaved session: cells, pairs, warm-up calls. Pure. ---- */

enum {
	INTERLEAVE_SIDES_MAX = 3,
	INTERLEAVE_FORKED_RUNS_MAX = 8, /* runs that one parent forks */
	INTERLEAVE_PAIRS_MIN = 8,       /* pairs of a cell in one run */
	INTERLEAVE_PAIRS = 60,          /* default maximum */
	INTERLEAVE_PAIRS_FIRST = 20     /* in the first run */
};

/** The cells of a program in the order in which it reaches them. Shape: cell[n], numbers of cells. */
struct interleave_order {
	int n;
	const int *cell;
};

/**
 * Find the cells of one session: the longest sequence of wanted cells that all sides reach in the same order. It is empty only if
 * no wanted cell exists on all sides. Returns its length; -1: out of memory. Shape: side[n_sides], wanted[n_cells], out[n_cells].
 */
int interleave_chain(const struct interleave_order *side, int n_sides, const bool *wanted, int n_cells, int *out);

/** Return the number of warm-up calls before each timed call of a cell: 1, or 0 for long calls. Units: `call_ms`, of a call. */
int interleave_warm(double call_ms);
/** Return the time limit for the pairs of a cell in a session of `n_cells` cells. `most`: its pairs; 0: INTERLEAVE_PAIRS. */
double interleave_budget_ms(int n_cells, int most);
/**
 * Return the number of pairs of a cell in a session of `n_cells` cells: as many as the time limit allows, a multiple of four from
 * INTERLEAVE_PAIRS_MIN to `most` (0: INTERLEAVE_PAIRS). Units: `pair_ms`, of all turns of a pair.
 */
int interleave_pairs(double pair_ms, int n_cells, int most);

/** Cost of a cell's runs, and noise of its pairs. Starts zeroed. */
struct interleave_cost {
	int runs, pairs;          /* so far */
	double pairs_s, others_s; /* sum over runs: time of this cell's pairs, and its share of all other time */
	double variance;          /* sum over runs: variance of the log ratio of a pair */
};
/** Add a run of `n` pairs; a run of fewer than four is ignored. Shape: base_ms[n], target_ms[n], all above 0. */
void interleave_cost_add(
	struct interleave_cost *c, int n, double pairs_s, double others_s, const float *base_ms, const float *target_ms);
/**
 * Return the noise between the runs of a cell, as a log ratio: `known`, or more if the runs vary more than `known` and the noise
 * of their pairs explain. `se`: standard error of the mean of all `runs`.
 */
double interleave_run_noise(const struct interleave_cost *c, double known, double se, int runs);
/**
 * Return the number of pairs of the next run: sqrt(c_run / c_pair) sd_pair / tau, a multiple of four from 8 to 60 and at most
 * `most`; in the first run INTERLEAVE_PAIRS_FIRST. c_run is the cost of a run without pairs, c_pair that of a pair, sd_pair its
 * noise, `tau` (log ratio, > 0) the noise between runs: if tau dominates, device time goes into more runs with fewer pairs.
 */
int interleave_pairs_wanted(const struct interleave_cost *c, double tau, int most);

/* ---- stalls ---- */

/** Write one JSON object: {"samples":N,"lines":[[offset,samples,reason,of_reason,text],...]}. */
void protocol_stalls_put_hot(struct jsonw *j, const struct evidence_hot *h);

/*
 * ---- sustained ----
 * Sustained runs: length, order, and recorded calls. Each run of a cell has one sustained run of base and one of target; base and
 * target begin alternately.
 *
 * The clock of a GPU at its power limit oscillates around its stable value with a period of one second, by a tenth at first and
 * by a hundredth ten seconds later (tests/data/gpu/h100-2026-11-26-settle.txt). So a sustained run lasts one period, and its
 * recorded calls are spread evenly over it.
 */

#define SUSTAINED_S        1.0 /* length */
#define SUSTAINED_WARMUP_S 0.2 /* initial time in which no call is recorded */

enum { SUSTAINED_RECORDED_MAX = 32 }; /* calls */

/** Recorded calls of one sustained run, in order. Shape: ms[n], mhz[n]. */
struct sustained_calls {
	int n; /* number of recorded calls */
	float ms[SUSTAINED_RECORDED_MAX], mhz[SUSTAINED_RECORDED_MAX];
};

/** Reduce both sides to the same number of calls, spread evenly. Returns that number. Shape: side[2]. */
int sustained_gather(struct sustained_calls *side);
/** Write msg_cell.order for `n` calls of each side. `first`: the side that began, 0 or 1. Shape: order[2 * n + 1]. */
void sustained_write_order(int n, int first, char *order);

/*
 * ---- trust ----
 * Comparison of a program's reports with the worker's observation of its turns. Pure.
 *
 * A turn is never shorter than the work in it, even on a busy machine. But load can distort a single session in any way, so a
 * side is rejected only if two disjoint halves of the runs show the same fault.
 */

enum {
	INTERLEAVE_TURNS_MAX = 160, /* stored turns of a side in a cell */
	INTERLEAVE_SINGLE_MAX = 64, /* stored turns of single calls */
	INTERLEAVE_WHY_SIZE = 300
};

/** The last turns of one side in one cell of a session. Shape: rings of `n` turns; the next one is stored at `next`. */
struct interleave_turns {
	int n, next;
	float ms[INTERLEAVE_TURNS_MAX];      /* time of a call, as reported */
	float turn_ms[INTERLEAVE_TURNS_MAX]; /* from go to done, by the worker's clock */
	float idle_us[INTERLEAVE_TURNS_MAX]; /* time until the device answered before the call; 0: not reported */
	bool cut[INTERLEAVE_TURNS_MAX];      /* another process interrupted the turn */
	bool chooses, repeats;               /* the side reports repetitions; it repeated a call */
	struct interleave_single {           /* the last turns in which the worker requested single calls; a ring */
		int n, next;
		double repeats; /* repetitions of each call if constant; 0: no turn yet; below 0: not constant */
		float turn_ms[INTERLEAVE_SINGLE_MAX];
		bool cut[INTERLEAVE_SINGLE_MAX];
	} single;
	int too_long;                  /* turns that are shorter than their reported calls */
	double reported_ms, actual_ms; /* reported calls and length of the worst of these turns */
	struct interleave_background {
		double s;        /* total length of the other sides' turns */
		double cpu_s;    /* processor time of this side in those turns */
		double queued_s; /* time for which its threads waited for a core in those turns; 0: not read */
	} background, watched;   /* all turns; only turns in which queued_s was read */
};

/** One turn of one timed call, or of `repeats` calls with mean `ms`. Members as in interleave_turns. */
struct interleave_one {
	double ms, turn_ms, idle_us;
	double repeats; /* 0: the program does not choose */
	bool cut;
};
/** Store a turn. */
void interleave_add_turn(struct interleave_turns *s, const struct interleave_one *turn);
/** Store a turn of single calls. Its length shows the time of one call, even if the program otherwise repeats calls. */
void interleave_add_single(struct interleave_turns *s, const struct interleave_one *turn);
/** Check a turn of several timed calls: only whether `ms`, the reported time of all calls, is longer than the turn. */
void interleave_bound(struct interleave_turns *s, double ms, double turn_ms);

/** Return whether a side reports calls longer than their turns; if so, `why` has the reason. Shape: why[INTERLEAVE_WHY_SIZE]. */
bool interleave_overstates(const struct interleave_turns *s, char *why);

enum { INTERLEAVE_HALVES = 2 };

/** One side in one cell over all runs: turns of the even and of the odd sessions. Starts zeroed. */
struct interleave_evidence {
	struct interleave_turns half[INTERLEAVE_HALVES]; /* all sessions */
	int sessions;
	struct interleave_turns timed[INTERLEAVE_HALVES]; /* sessions whose times are used for the verdict */
	int timed_sessions;
};

/** Add a session, for interleave_find_fault. */
void interleave_evidence_add(struct interleave_evidence *e, const struct interleave_turns *s);
/** Add a session whose times are used for the verdict, for interleave_gain. */
void interleave_evidence_add_times(struct interleave_evidence *e, const struct interleave_turns *s);
/**
 * Return the failure class of a side, "clock" or "escaped": each half of the runs must show interleave_overstates or
 * interleave_overlaps, not necessarily the same one. NULL: no fault. `why` receives the reason. Shape: why[INTERLEAVE_WHY_SIZE].
 */
const char *interleave_find_fault(const struct interleave_evidence *side, const struct interleave_evidence *other, char *why);
/** Return whether a side computes so much in other sides' turns that further runs could lead to its rejection. */
bool interleave_may_overlap(const struct interleave_evidence *e);

/** Verification of a reported gain of the target by the worker's clock. */
enum interleave_gain {
	INTERLEAVE_GAIN_NONE,        /* confirmed, or no reported gain is large enough to verify */
	INTERLEAVE_GAIN_UNCONFIRMED, /* neither confirmed nor refuted: the cell is undecided */
	INTERLEAVE_GAIN_MISSING      /* the gain does not exist: the cell is rejected */
};
/**
 * Verify a reported gain of 20 % or more by the worker's clock. `calls`: calls of a turn, warm-up included. `why` receives the
 * reason unless the result is INTERLEAVE_GAIN_NONE. Shape: why[INTERLEAVE_WHY_SIZE].
 *
 * A gain is confirmed if turns become shorter by half of it plus two standard errors. It is missing only if at least 20
 * uninterrupted turns per side, and each half of the runs separately, show by three standard errors that turns did not become
 * shorter by half of it. Gains that are small against the overhead of a turn are not verified. Lengths and times are means of the
 * middle half, as in a verdict, so a few wrong times have no effect.
 *
 * If the base chooses its repetitions and a side repeats calls, turns of single calls must become shorter instead; without such
 * turns, or with unequal repetitions in them, no gain is confirmed. If the base does not choose repetitions, the target must not
 * either.
 */
enum interleave_gain interleave_gain(
	const struct interleave_evidence *base, const struct interleave_evidence *target, int calls, char *why);
/** Add the work of a side in another side's turn. `is_watched`: work->queued_s was read. */
void interleave_add_background(struct interleave_turns *s, const struct interleave_background *work, bool is_watched);
/** Return whether a side computes enough in other sides' turns to read its waits for a core, which takes a file per thread. */
bool interleave_has_background(const struct interleave_turns *s);
/**
 * Return whether a side computes while the other one has the turn: by its processor time, or by a device that answers the other
 * side late. On a busy machine a thread that is never idle gets only a share of a core and waits for a core otherwise, so the sum
 * of both times reveals it. `why` receives the reason. Shape: why[INTERLEAVE_WHY_SIZE].
 */
bool interleave_overlaps(const struct interleave_turns *side, const struct interleave_turns *other, char *why);

/**
 * Verification of a reported interruption: the system's counter of the time for which a side's threads waited for a core. It is
 * read only for sides that have reported an interruption before. Starts zeroed.
 */
struct interleave_wait {
	bool is_counted; /* the side has reported an interruption before */
	double before_s; /* counter at the start of the turn; below 0: not read */
};
/** Begin a turn. `queued_s`: the counter; ignored unless is_counted. */
void interleave_wait_begin(struct interleave_wait *w, double queued_s);
/**
 * End a turn of `turn_ms` with a reported interruption. Returns whether the threads waited long enough to confirm it. A turn
 * whose start was not read does not count as interrupted; if the system has no counter (`queued_s` 0), the report is accepted.
 */
bool interleave_wait_end(struct interleave_wait *w, double queued_s, double turn_ms);

#endif
