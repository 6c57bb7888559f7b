/**
 * cause.h - causes of a kernel's slowdown or speedup, from counters, machine code, configurations and the comparison, each with
 * the milliseconds that it accounts for. Pure; decides no verdict.
 *
 * Each class of evidence has a file (node, given, pipe, spill, shared, traffic, launch, stall, machinecode). A finding counts
 * if it is larger than three times the difference of equal processes, and explains at most its kernel's loss. Evidence closer
 * to the code precedes its consequences: more products before the loads that feed them, more instructions before the waits for
 * them.
 */
#ifndef PROFILE_CAUSE_H
#define PROFILE_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	CAUSE_KERNELS_MAX = 256, /* of a side's call; the rest is ignored */
	CAUSE_REPEATS = 2,
	CAUSE_MAX = 12, /* worth reporting */
	CAUSE_NAME_SIZE = 128,
	CAUSE_SENTENCE_SIZE = 400
};

enum cause_kind {
	CAUSE_EXTRA_NODE,
	CAUSE_MISSING_NODE,
	CAUSE_CONFIG,
	CAUSE_CLOCK,
	CAUSE_HOST,
	CAUSE_TENSOR_INSTRUCTIONS,
	CAUSE_EXPONENTIALS, /* and other work of the special function units */
	CAUSE_INSTRUCTIONS,
	CAUSE_SPILLS,
	CAUSE_BANK_CONFLICTS,
	CAUSE_SHARED_MEMORY,
	CAUSE_ATOMICS,
	CAUSE_L2_READS,
	CAUSE_L2_WRITES,
	CAUSE_DRAM_READS,
	CAUSE_DRAM_WRITES,
	CAUSE_GRID,
	CAUSE_OCCUPANCY,
	CAUSE_IMBALANCE,
	CAUSE_BARRIER,
	CAUSE_TENSOR_WAIT,
	CAUSE_MEMORY_WAIT,
	CAUSE_SHARED_WAIT,
	CAUSE_WAIT,
	CAUSE_MACHINE_CODE, /* it differs, with unknown effect */
	CAUSE_NOT_EXPLAINED,
	CAUSE_KINDS
};

/** As in rows and JSON: "tensor_instructions". Shape: ends with NULL. */
extern const char *const cause_kind_names[CAUSE_KINDS + 1];

enum cause_confidence {
	CAUSE_EXACT,    /* counted or timed */
	CAUSE_MEASURED, /* predicted from counters */
	CAUSE_FOLLOWS,  /* also in the counters, but explained by an earlier cause */
	CAUSE_SEEN,     /* a difference with unknown cost */
	CAUSE_OPEN,     /* of CAUSE_NOT_EXPLAINED */
	CAUSE_CONFIDENCES
};

extern const char *const cause_confidence_names[CAUSE_CONFIDENCES + 1];

struct cause_value {
	const char *metric;
	double value;
};

/**
 * One node of one call in one process. Texts may be NULL; numbers below 0 (`registers`, `local_bytes`, ...: also 0) are
 * unknown.
 */
struct cause_kernel {
	bool of_target;
	int repeat; /* process of its side, from 0 */
	int n;      /* position in launch order */
	const char *phase, *name, *code;
	double ms;
	int grid[3], block[3], registers, local_bytes, shared_bytes, ctas_per_sm;
	size_t n_values;
	const struct cause_value *value;
};

struct cause_opcode {
	const char *opcode;
	long base, target; /* number of occurrences in the code */
};

/** Resources of a kernel; -1 unknown. */
struct cause_takes {
	int registers, local_bytes, shared_bytes, ctas_per_sm;
};

/**
 * Differences in one kernel's machine code: `what` is "same", "renamed", "rescheduled", "changed", "added", "removed" or
 * "differs".
 */
struct cause_code {
	const char *base, *target, *what; /* names; "" if a side has none */
	size_t n_opcodes;
	const struct cause_opcode *opcode;
	struct cause_takes base_takes, target_takes;
};

/** A diagnostic of the assembler that only one side's build has, or has more often. */
struct cause_diagnostic {
	bool is_worse;            /* of the target; else of the base */
	bool is_serial, is_spill; /* its subject; other kinds explain nothing */
	const char *code;         /* "C7512"; "" none */
	const char *kernel, *what;
};

struct cause_device {
	int sms;
	double mhz, dram_gb_s, l2_gb_s; /* measured, or the vendor's values; 0: defaults of rates.h */
};

struct cause_evidence {
	double base_ms, target_ms; /* from the verdict: medians of a call */
	double noise_ms;           /* half the width of the difference's interval; 0 unknown */
	double clock_ms;           /* part of the difference due to another clock; 0 none, or unknown */
	double host_ms;            /* part of it due to the host; 0 none, or unknown */
	bool is_counted;           /* the values below were collected; else there are only machine code and times */
	const char *base_config, *target_config;
	double with_base_ms, with_target_ms, with_ms; /* both sides, and the target with the base's configuration; 0: not tried */
	struct cause_device device;
	size_t n_kernels, n_codes, n_diagnostics;
	const struct cause_kernel *kernel;
	const struct cause_code *code;
	const struct cause_diagnostic *diagnostic;
};

struct cause {
	enum cause_kind kind;
	enum cause_confidence confidence;
	char kernel[CAUSE_NAME_SIZE]; /* shortened; "" for the call as a whole */
	double explained_ms;          /* signed as of_ms; 0 for CAUSE_SEEN; the rest for CAUSE_OPEN */
	double of_ms;                 /* target minus base */
	char sentence[CAUSE_SENTENCE_SIZE];
};

/**
 * Rank the causes, strongest first; returns their number. None if both sides differ by no more than their noise. If less than
 * half is explained, the last one is CAUSE_NOT_EXPLAINED, with the rest. The order of the evidence does not matter. Sums of
 * explained_ms leave out CAUSE_FOLLOWS and CAUSE_OPEN. Shape: out[room]; CAUSE_MAX is enough.
 */
size_t cause_rank(const struct cause_evidence *e, struct cause *out, size_t room);

#endif
