/**
 * evidence.h - what a profile tells of two builds: counters of each kernel, what their machine code differs in, what a configuration
 * does. Testimony: most of it comes from processes that run a branch's code, so nothing of it decides a verdict.
 */
#ifndef CORE_PROTOCOL_EVIDENCE_H
#define CORE_PROTOCOL_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/protocol/tried.h"
#include "core/state/role.h"

enum {
	EVIDENCE_CELLS_MAX = 3,     /* of one profile, unless somebody wants every cell of a suite */
	EVIDENCE_SUITE_MAX = 128,   /* then */
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
	char metric[80]; /* as the GPU's tools name it: "dram__bytes_read.sum" */
	double value;
};

/** One kernel of one call. */
struct msg_kernel {
	int cell;
	enum role role;
	int repeat;                      /* 0 or 1: which process of this role */
	int n;                           /* place in run order of a call */
	char phase[16];                  /* "run", "prepare", ... */
	char kernel[EVIDENCE_NAME_SIZE]; /* demangled where it can be; "memset" and "memcpy" for such nodes */
	char code_sha256[65];            /* of its compiled code; "" unknown */
	char symbol_sha256[65];          /* runner to worker: of its mangled name; "" unknown */
	int sm;                          /* what its code was compiled for: 90; 0 unknown */
	double ms;                       /* below 0: unknown */
	int grid[3], block[3], registers, local_bytes, shared_bytes;
	int ctas_per_sm; /* 0 unknown */
	int n_values;
	struct evidence_value *value; /* value[n_values], each metric once; owned by the message */
};

/** Warps that were seen at one instruction. */
struct evidence_stall {
	uint32_t offset; /* bytes from the beginning of its function */
	int samples;
	char reason[EVIDENCE_REASON_SIZE]; /* what most of them waited for: "gmma"; "selected": for nothing */
	int of_reason;                     /* that many of them */
};

/** Runner to worker: where warps of one kernel were seen, and what they waited for there. */
struct msg_stalls {
	int cell;
	enum role role;
	char symbol_sha256[65]; /* as in msg_kernel */
	long long samples;      /* of the whole kernel */
	int n;
	struct evidence_stall *line; /* line[n], by offset; owned by the message */
};

/** The instructions of a kernel at which warps were seen most. */
struct evidence_hot {
	long long samples; /* of the whole kernel; 0: it was not sampled */
	int n;
	struct {
		struct evidence_stall stall;
		char text[EVIDENCE_INSTRUCTION_SIZE]; /* the instruction; "" unknown */
	} line[EVIDENCE_HOT_MAX];                     /* most samples first */
};

/** What a kernel takes of a multiprocessor; -1 unknown. */
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
	EVIDENCE_CODE_DIFFERS, /* its hash does; instructions could not be compared */
	EVIDENCE_CODES
};

/** "same" "renamed" "rescheduled" "changed" "added" "removed" "differs". Shape: ends with NULL. */
extern const char *const evidence_code_names[EVIDENCE_CODES + 1];

/** What the machine code of one kernel differs in. */
struct msg_code {
	int cell;
	char base[EVIDENCE_NAME_SIZE], target[EVIDENCE_NAME_SIZE]; /* the kernel on each side; "" it is not there */
	enum evidence_code what;
	struct evidence_takes base_takes, target_takes;
	int n_opcodes;
	struct {
		char opcode[48];
		int base, target;           /* how often it stands in the code */
	} opcode[EVIDENCE_OPCODES_MAX];     /* whose number differs, the biggest difference first */
	char hunks[EVIDENCE_HUNKS_MAX + 1]; /* lines for people */
	struct evidence_hot hot[2];         /* base, target */
};

/** The target timed with the configuration of the base, beside both as they are. */
struct msg_counterfactual {
	int cell;
	char config[160];                   /* the base's */
	double base_ms, target_ms, with_ms; /* medians of interleaved calls in one process */
};

enum evidence_path {
	EVIDENCE_RANGE,    /* counters by the range profiler in the runner */
	EVIDENCE_NCU,      /* counters by ncu around it */
	EVIDENCE_ACTIVITY, /* times of kernels alone: by the driver's tracer, else of those that are alone in their phase */
	EVIDENCE_CODE,     /* machine code alone */
	EVIDENCE_PATHS
};

/** "range" "ncu" "activity" "code". Shape: ends with NULL. */
extern const char *const evidence_path_names[EVIDENCE_PATHS + 1];

/** The end of a cell's profile; from the runner to the worker, of one process. */
struct msg_profile {
	int cell;
	enum evidence_path path;
	char why[400];        /* one sentence: why no better path; "" for range */
	char tool[64];        /* "CUPTI 130001"; "" none */
	int passes;           /* replays of a call; 0: no counters */
	char stalls_why[200]; /* why it is not known where warps wait; "" it is, or nothing was counted either */
	char base_config[160], target_config[160];
	double gpu_s;
	bool tunes;                            /* runner to worker: the configuration was searched for */
	struct tried base_tried, target_tried; /* owned by the message */
};

#endif
