/**
 * evidence.h - evidence of a profile about two builds: counters of each kernel, differences of machine code, effect of a
 * configuration. Most of it comes from processes that run branch code, so it decides no verdict.
 */
#ifndef PROTOCOL_EVIDENCE_H
#define PROTOCOL_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/tried.h"
#include "model/role.h"

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
	EVIDENCE_ACTIVITY, /* kernel times: by the driver's tracer, else of kernels that are alone in their phase */
	EVIDENCE_CODE,     /* machine code only */
	EVIDENCE_PATHS
};

/** "range" "ncu" "activity" "code". Shape: ends with NULL. */
extern const char *const evidence_path_names[EVIDENCE_PATHS + 1];

/** End of a cell's profile; from the runner to the worker, of one process. */
struct msg_profile {
	int cell;
	enum evidence_path path;
	char why[400]; /* one sentence: why no better path; "" for range */
	char tool[64];
	int passes;           /* replays of a call; 0: no counters */
	char stalls_why[200]; /* why stalls are unknown; "" known, or nothing was counted either */
	char base_config[160], target_config[160];
	double gpu_s;
	bool tunes;                            /* runner to worker: the configuration was searched for */
	struct tried base_tried, target_tried; /* owned by the message */
};

#endif
