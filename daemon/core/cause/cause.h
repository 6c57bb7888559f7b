/**
 * cause.h - why a kernel became slower, or faster: what counters, machine code, configurations and the comparison itself say, each in the
 * milliseconds that it accounts for. Pure; it reads nothing and decides no verdict.
 *
 * What a class of evidence predicts is in a file of its own (node, given, pipe, spill, shared, traffic, launch, stall, machinecode).
 * It counts where it is larger than three times what equal processes differ by, and explains at most what its kernel lost. Evidence
 * that stands closer to the code comes before what follows from it: more products before the loads that feed them, more instructions before
 * the waits for them.
 */
#ifndef CORE_CAUSE_CAUSE_H
#define CORE_CAUSE_CAUSE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	CAUSE_KERNELS_MAX = 256, /* of a side's call; later ones are not looked at */
	CAUSE_REPEATS = 2,
	CAUSE_MAX = 12, /* that are worth telling */
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
	CAUSE_EXPONENTIALS, /* and what else the special function units do */
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
	CAUSE_MACHINE_CODE, /* it differs, and nothing above says how that matters */
	CAUSE_NOT_EXPLAINED,
	CAUSE_KINDS
};

/** As in rows and JSON: "tensor_instructions". Shape: ends with NULL. */
extern const char *const cause_kind_names[CAUSE_KINDS + 1];

enum cause_confidence {
	CAUSE_EXACT,    /* counted or timed, not predicted */
	CAUSE_MEASURED, /* predicted from counters */
	CAUSE_FOLLOWS,  /* seen in the counters too, and what stands before it already explains it */
	CAUSE_SEEN,     /* there is a difference; what it costs is not known */
	CAUSE_OPEN,     /* of CAUSE_NOT_EXPLAINED */
	CAUSE_CONFIDENCES
};

/** "exact" "measured" "follows" "seen" "open". Shape: ends with NULL. */
extern const char *const cause_confidence_names[CAUSE_CONFIDENCES + 1];

struct cause_value {
	const char *metric;
	double value;
};

/** One node of one call in one process. Texts may be NULL; numbers below 0 (`registers`, `local_bytes`, ...: also 0) are not known. */
struct cause_kernel {
	bool of_target;
	int repeat; /* which process of its side, from 0 */
	int n;      /* place in launch order */
	const char *phase, *name, *code;
	double ms;
	int grid[3], block[3], registers, local_bytes, shared_bytes, ctas_per_sm;
	size_t n_values;
	const struct cause_value *value;
};

struct cause_opcode {
	const char *opcode;
	long base, target; /* times that it stands in the code */
};

/** -1 unknown. */
struct cause_takes {
	int registers, local_bytes, shared_bytes, ctas_per_sm;
};

/** What differs in one kernel's machine code: `what` is "same", "renamed", "rescheduled", "changed", "added", "removed" or "differs". */
struct cause_code {
	const char *base, *target, *what; /* names; "" where one side has none */
	size_t n_opcodes;
	const struct cause_opcode *opcode;
	struct cause_takes base_takes, target_takes;
};

/** What the assembler complained of while it built one side and not, or less, while it built the other. */
struct cause_diagnostic {
	bool is_worse;            /* of the target; else of the base */
	bool is_serial, is_spill; /* what it is about; another kind explains nothing */
	const char *code;         /* "C7512"; "" none */
	const char *kernel, *what;
};

struct cause_device {
	int sms;
	double mhz, dram_gb_s, l2_gb_s; /* measured, or what its maker says; 0: usual ones are taken (rates.h) */
};

struct cause_evidence {
	double base_ms, target_ms; /* of the verdict: medians of a call */
	double noise_ms;           /* half the width of the difference's interval; 0 unknown */
	double clock_ms;           /* part of the difference that another clock makes; 0 none, or not known */
	double host_ms;            /* part of it that is the host's; likewise */
	bool is_counted;           /* the values below were asked for; else machine code and times are all there is */
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
	char kernel[CAUSE_NAME_SIZE]; /* shortened for people; "" of the call as a whole */
	double explained_ms;          /* signed as of_ms; 0 where the confidence is CAUSE_SEEN; of CAUSE_OPEN what is left */
	double of_ms;                 /* target less base */
	char sentence[CAUSE_SENTENCE_SIZE];
};

/**
 * The causes, strongest first; how many there are. None where the two sides do not differ by more than their noise. Where less than half
 * is explained the last one is CAUSE_NOT_EXPLAINED, with the rest. The order of the evidence does not matter. Sums of explained_ms leave
 * out those that follow, and what is open. Shape: out[room]; CAUSE_MAX is enough.
 */
size_t cause_rank(const struct cause_evidence *e, struct cause *out, size_t room);

#endif
