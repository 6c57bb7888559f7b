/** profile.h - machine code, counters of kernels, and causes of a change; pure. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"

/*
 * ---- cause ----
 * Causes of a kernel's slowdown or speedup, from counters, machine code, configurations and the comparison, each with
 * the milliseconds that it accounts for. Pure; decides no verdict.
 *
 * Each class of evidence has a file (node, given, pipe, spill, shared, traffic, launch, stall, machinecode). A finding counts
 * if it is larger than three times the difference of equal processes, and explains at most its kernel's slowdown. Evidence closer
 * to the code precedes its consequences: more products before the loads that feed them, more instructions before the waits for
 * them.
 */

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
	double mhz, dram_gb_s, l2_gb_s; /* measured, or the vendor's values; 0: defaults of rates.c */
};

struct cause_evidence {
	double base_ms, target_ms; /* from the verdict: medians of a call */
	double noise_ms;           /* half the width of the difference's interval; 0 unknown */
	double clock_ms;           /* share of the difference due to another clock; 0 none, or unknown */
	double host_ms;            /* share of it due to the host; 0 none, or unknown */
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
 * explained_ms leave out CAUSE_FOLLOWS and CAUSE_OPEN. Shape: out[capacity]; CAUSE_MAX is enough.
 */
size_t cause_rank(const struct cause_evidence *e, struct cause *out, size_t capacity);

/*
 * ---- pairing ----
 * The nodes of a call on both sides, paired in launch order: by equal names, then by machine code, then by names
 * with other template arguments, then by position.
 */

enum { PAIRING_MAX = 2 * CAUSE_KERNELS_MAX };

/** A node; on one side only if the other's are NULL. */
struct kernel_pair {
	const struct cause_kernel *at[2][CAUSE_REPEATS]; /* base, target; NULL: that process has none */
	bool is_timed;                                   /* on every side that has it */
	double base_ms,
		change_ms;     /* in the verdict's milliseconds; base_ms is the target's for a node that only the target has */
	double slack_ms;       /* uncertainty of change_ms: three times the difference of equal processes */
	double cycles, run_ms; /* of the base, under the profiler */
};

struct pairing {
	size_t n;
	struct kernel_pair pair[PAIRING_MAX];
};

void pairing_make(const struct cause_evidence *e, struct pairing *out);
/** Return a side's kernel from any process; NULL none. `side` 0 base, 1 target. */
const struct cause_kernel *pair_kernel(const struct kernel_pair *p, int side);
bool pair_is_whole(const struct kernel_pair *p);
const char *pair_name(const struct kernel_pair *p);
/** Return the comparison of its machine code; NULL none. */
const struct cause_code *pair_code(const struct cause_evidence *e, const struct kernel_pair *p);

/* ---- amount: One metric of one kernel on both sides, with the difference of equal processes, and its text. ---- */

struct amount {
	bool is_known;              /* on both sides */
	double base, target, noise; /* means of the processes; the larger difference within one side */
};

/** Return a value of one kernel; NAN if missing, negative or no number. */
double amount_value(const struct cause_kernel *k, const char *metric);
struct amount amount_of(const struct kernel_pair *p, const char *metric);
/** Sum the known ones of some metrics. Shape: metric[] ends with NULL. */
struct amount amount_sum(const struct kernel_pair *p, const char *const metric[]);
/**
 * Return whether it changed by more than three times its noise, or three times `floor` (a share of the larger value) if that is
 * more.
 */
bool amount_differs(const struct amount *a, double floor);

enum { AMOUNT_SIZE = 120 };

/** Format "1.24 M", "12". Shape: out[AMOUNT_SIZE], as below. */
void amount_count(double n, char *out);
/** Format "1.24 GB". */
void amount_bytes(double bytes, char *out);
/** Format "12 % more tensor instructions (1.34 M instead of 1.20 M)", "3.0 times the ...", "2.1 M ... instead of none". */
void amount_increase(double base, double target, const char *noun, char *out);

/* ---- answer: The known cause of a cell's regression as one sentence, for pages, messages, CLI and review comments. ---- */

enum { CAUSE_ANSWER_SIZE = 1024 };

enum cause_cell { CAUSE_CELL_NONE, CAUSE_CELL_DONE, CAUSE_CELL_IDENTICAL, CAUSE_CELL_UNSUPPORTED, CAUSE_CELL_FAILED };
/** Parse a stored state: "done" "identical" "unsupported"; others: CAUSE_CELL_FAILED. */
enum cause_cell cause_cell_from_name(const char *text);

/** State of a profile and its result for one cell. Texts "": none. */
struct cause_known {
	bool is_pending, is_done;                /* of the profile; neither: it ended without a result */
	const char *profile_state, *profile_why; /* its state, and the reason if it has no result */
	enum cause_cell cell;                    /* CAUSE_CELL_NONE: the profile has no such cell */
	const char *why;
	bool is_counted;
	double base_ms, target_ms; /* times in the comparison; NAN unknown */
	/* the first cause other than "not explained" */
	const char *sentence, *confidence;
	bool is_open; /* less than half of the difference is explained */
};

/**
 * Write the text after "Why: ", without a full stop. A cause is named as the reason only if causes explain at least half of the
 * difference; else it is "known in part" or "also changed". Without a cause the sentence states why none is known, and never that
 * there is no difference. Text that does not fit is cut. Shape: out[CAUSE_ANSWER_SIZE].
 */
void cause_answer(const struct cause_known *k, char *out);

/* ---- config_delta: Differences of two configurations of a provider ("BLOCK_M=128 STAGES=2"), key by key. Pure. ---- */

enum { CONFIG_DELTA_MAX = 24, CONFIG_DELTA_TEXT = 64, CONFIG_DELTA_SIZE = 400 };

/** A changed key. An item without "=" is a key with the value "set". */
struct config_change {
	char key[CONFIG_DELTA_TEXT], base[CONFIG_DELTA_TEXT], target[CONFIG_DELTA_TEXT]; /* "": that side lacks the key */
};

/**
 * List keys with different values, in the base's order, then those that only the target has; the order of keys does not matter.
 */
size_t config_delta(const char *base, const char *target, struct config_change out[CONFIG_DELTA_MAX]);

/** Format the same: "TILE 3 -> 2, PARTS 2 -> 1, SPLIT none -> 4". "" without differences. Shape: out[CONFIG_DELTA_SIZE]. */
void config_delta_text(const char *base, const char *target, char out[CONFIG_DELTA_SIZE]);

/**
 * Format the target's choice: "TILE 2, PARTS 1 instead of TILE 3, PARTS 2", only keys that differ. "" without differences. Shape:
 * out[CONFIG_DELTA_SIZE].
 */
void config_choice_text(const char *base, const char *target, char out[CONFIG_DELTA_SIZE]);

/* ---- elf: The section table of a 64-bit little-endian ELF file. Files may be hostile: every offset is checked. ---- */

struct elf {
	const unsigned char *data;
	size_t len, table; /* bytes; start of the section table */
	size_t n_sections;
	const char *names; /* ends with a NUL */
	size_t names_len;
};

struct elf_section {
	const char *name; /* "" if unnamed */
	uint32_t type, link, info;
	uint64_t size;             /* bytes in memory */
	const unsigned char *data; /* bytes in the file; NULL: none */
	size_t len;                /* of data */
};

/** Open a file. Own: borrows `data`. Err: ERR_INVALID no such file, or its tables lie outside of it. */
int elf_open(struct elf *e, const void *data, size_t len, struct fw_err *err);
/** Read section `i`. Returns false if it does not exist or lies outside of the file. */
bool elf_section(const struct elf *e, size_t i, struct elf_section *out);
/** Return the string at `offset` of a string section; "" if none. */
const char *elf_string(const struct elf_section *strings, size_t offset);

/*
 * ---- resources ----
 * Multiprocessor resources of each function in device code, as the compiler recorded them.
 *
 * The file does not contain dynamic shared memory, the block size if no bound was compiled in, and the share of spills in the
 * stack (the compiler's log has it).
 */

/** Resources of a function; -1 unknown. */
struct resources {
	bool is_kernel; /* can be launched; else it is only called */
	bool is_block_fixed;
	int registers;                           /* of a thread */
	int barriers;                            /* of a block */
	int max_threads;                         /* of a block; all threads of a block if is_block_fixed */
	int64_t stack_bytes;                     /* of a thread, with called functions: local arrays and spills */
	int64_t shared_bytes;                    /* of a block, static; without the system's share */
	int64_t parameter_bytes, constant_bytes; /* all of its constant banks, including parameters */
	int64_t code_bytes;
};

/**
 * Read the resources of each text section. Shape: the result has `elf->n_sections` entries; those of other sections are
 * meaningless. Own: free. NULL: out of memory.
 */
struct resources *resources_read(const struct elf *elf);

/** Return the architecture in the header: 10 x major + minor. 0: no device code. */
int resources_architecture(const struct elf *elf);

/*
 * ---- cubin ----
 * Hash and resources of each compiled kernel in device code, to compare two builds kernel by kernel.
 *
 * The hash covers the instructions of the kernel and of every function that it calls, its compiler-made constants, the sizes of
 * its parameters and of its static shared and local memory, and the names that it refers to. It excludes its own name, other
 * kernels, debug information, the initial contents of __constant__ and __device__ variables, and numbers in names that change
 * with the file. A kernel that reads such variables contains their addresses, which change when its file gets others.
 */

/**
 * Return the symbol as users know it. Linked device code prefixes a file-private symbol with the file's name and a number of
 * its source, which change with the file; without them it can be demangled and found again. Own: `symbol`'s.
 */
const char *cubin_plain_symbol(const char *symbol);

void cubin_steady_symbol(const char *symbol, struct buf *out);

struct cubin_function {
	const char *symbol; /* mangled; borrowed for the call, like all members */
	char code_sha256[HASH_HEX];
	const struct resources *resources;
};

/** Take one function. Err: -1 stops. */
typedef int cubin_fn(void *arg, const struct cubin_function *f, struct fw_err *err);

/** Visit all functions with their own code, kernels and others. Err: ERR_INVALID no ELF file; ERR_FULL too much work. */
int cubin_read(const void *elf, size_t len, cubin_fn *function, void *arg, struct fw_err *err);

/* ---- diagnostic: The assembler's diagnostics about a kernel of the call. ---- */

/**
 * Return whether a profiler's and a log's name mean the same kernel, ignoring return type, parameters and types of constants.
 * "f<...>" matches any f.
 */
bool diagnostic_names(const char *kernel, const char *logged);

/**
 * Find a diagnostic of serial products or spills about that kernel that came with the slowdown (`sign` 1), or went with the gain
 * (-1). NULL none.
 */
const struct cause_diagnostic *diagnostic_of(
	const struct cause_evidence *e, const struct kernel_pair *p, double sign, bool of_serial);

/*
 * ---- fatbin ----
 * Device code of a CUDA module: entries of the containers in its section .nv_fatbin.
 *
 * NVIDIA does not document the layout; this reads the output of nvcc 11 to 13. Entries other than device code for a given
 * architecture (PTX) are skipped.
 */

enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

struct fatbin_entry {
	int sm; /* 10 x major + minor of its architecture: 90 */
	enum fatbin_packing packing;
	const void *data;
	size_t len, full_len; /* bytes; unpacked bytes */
};

/** Take one entry. Err: -1 stops. */
typedef int fatbin_fn(void *arg, const struct fatbin_entry *e, struct fw_err *err);

/**
 * Visit all entries of a module, in order; none without device code. A file of device code only is one entry. Err: ERR_INVALID
 * malformed.
 */
int fatbin_read(const void *module, size_t len, fatbin_fn *entry, void *arg, struct fw_err *err);

/*
 * ---- metric ----
 * GPU counters that explain a kernel's time, by the names of NVIDIA's tools.
 *
 * They are counts and sums: hit rates and shares are computed from them, since the ready-made ratios need extra replays.
 */

/** The first METRICS_BASIC take 4 replays of a call on an H100, all of them 11. */
enum { METRICS_BASIC = 38, METRICS = 64 };

/** Time and clocks, memory, pipes, occupancy, spills; then kinds of bank conflicts, and warp stalls. */
extern const char *const metric_names[METRICS];

/* ---- occupancy: Number of blocks of a kernel that fit on a multiprocessor, from its resources. ---- */

struct occupancy {
	int ctas;          /* on one multiprocessor */
	int warps;         /* of these blocks */
	const char *limit; /* the limiting resource: "registers", "shared memory", "warps", "blocks", "barriers" */
};

/**
 * Compute it for blocks of `r->max_threads` without dynamic shared memory. Returns false if the architecture is unknown here,
 * or block size or registers are unknown.
 */
bool occupancy_of(int sm, const struct resources *r, struct occupancy *out);

/*
 * ---- ptxaslog ----
 * Diagnostics of NVIDIA's assembler in a build's log: products made serial (C7510 to C7519), ignored setmaxnreg, and each
 * function's registers, stack and spills if `-Xptxas -v` or `-warn-spills` printed them.
 *
 * The log may contain any other text, also in the same line. Lines of two concurrent compilations are separated only if they are
 * whole and in sequence.
 */

enum { PTXASLOG_FUNCTIONS_MAX = 2048, PTXASLOG_DIAGNOSTICS_MAX = 512, PTXASLOG_WHAT_SIZE = 160 };

enum ptxas_kind {
	PTXAS_SERIAL,     /* wgmma waits for each product by itself */
	PTXAS_SETMAXNREG, /* warps retain the registers with which they began */
	PTXAS_SPILLS,     /* of functions: ptxaslog_function */
	PTXAS_OTHER,
	PTXAS_KINDS
};

/** "serial" "setmaxnreg" "spills" "other". Shape: ends with NULL. */
extern const char *const ptxas_kind_names[PTXAS_KINDS + 1];

struct ptxaslog_diagnostic {
	enum ptxas_kind kind;
	char code[8];                  /* "C7512"; "" none */
	size_t symbol;                 /* ptxaslog_symbol; of "" if the line names no function */
	char what[PTXASLOG_WHAT_SIZE]; /* "wgmma is serialised because there are too few registers" */
	int times;
};

/** Compilation result of one function for one architecture. -1: not printed. */
struct ptxaslog_function {
	size_t symbol;
	int architecture; /* 90 for sm_90a; 0 not printed */
	int registers;
	long stack_bytes, store_bytes, load_bytes; /* of a thread; of spills */
};

struct ptxaslog {
	bool is_whole; /* the log is not truncated */
	size_t n_diagnostics, n_functions;
	struct ptxaslog_diagnostic *diagnostic;
	struct ptxaslog_function *function;
	struct buf symbols;
};

/** Parse a log. Own: ptxaslog_fini, also after -1. Err: out of memory only; a log without ptxas lines gives an empty result. */
int ptxaslog_read(struct ptxaslog *l, const char *text, size_t len, struct fw_err *err);
void ptxaslog_fini(struct ptxaslog *l);

/** Return the symbol without the numbers of its file: equal in another build. */
const char *ptxaslog_symbol(const struct ptxaslog *l, size_t symbol);
const char *ptxaslog_mangled(const struct ptxaslog *l, size_t symbol);

/*
 * ---- symbolname ----
 * Readable form of a compiler's symbol: "_Z4gemmILi128ELb1EEvPf" becomes "gemm<128, true>".
 *
 * It reads names, namespaces and template arguments, which distinguish functions, in one pass and bounded memory, for any input.
 * Parameters and results are left out. Unknown components (substitutions, expressions) become arguments "<...>", or leave the
 * symbol as it is.
 */

enum { SYMBOLNAME_SIZE = 256 };

/** Convert without unnamed namespaces, cut to fit. Shape: out[SYMBOLNAME_SIZE]. */
void symbolname(const char *symbol, char *out);

/*
 * ---- ptxasdelta ----
 * Diagnostics of ptxas that only one of two builds has, function by function.
 *
 * Nothing is concluded from missing text: in a truncated log no diagnostic counts as missing, and registers and spills are
 * compared only if both builds printed them.
 */

enum { PTXASDELTA_WHAT_SIZE = 200, PTXASDELTA_MAX = 256 };

enum ptxas_change_kind { PTXAS_NEW, PTXAS_MORE, PTXAS_FEWER, PTXAS_GONE, PTXAS_CHANGES };

/** "new" "more" "fewer" "gone". Shape: ends with NULL. */
extern const char *const ptxas_change_names[PTXAS_CHANGES + 1];

struct ptxas_change {
	enum ptxas_change_kind how;
	enum ptxas_kind kind;
	char code[8];                    /* "C7512"; "" none */
	char kernel[SYMBOLNAME_SIZE];    /* readable name; "" if the line names none */
	int architecture;                /* 90 for sm_90a; 0 unknown */
	char what[PTXASDELTA_WHAT_SIZE]; /* "wgmma is serialised because ...", "spills of 104 bytes by stores and ..." */
};

/**
 * List serial products first, then setmaxnreg, spills and others; regressions before improvements. Returns their number. Shape:
 * out[capacity].
 */
size_t ptxasdelta(const struct ptxaslog *base, const struct ptxaslog *target, struct ptxas_change *out, size_t capacity);

/*
 * ---- rates ----
 * Rates of a GH100 per cycle, for the busy share of each unit.
 *
 * Sources: CUDA C++ Programming Guide, table "throughput of native arithmetic instructions", compute capability 9.0 (results
 * per cycle and multiprocessor: 128 FP32, 64 integer, 16 special functions); NVIDIA H100 white paper (4096 dense bf16
 * operations per cycle and multiprocessor, 4 schedulers, 32 load/store units, 128 bytes of shared memory per cycle). Unmeasured
 * devices: DRAM at 90 % of the vendor's value, as a copy reaches on an H200 (4.3 of 4.8 TB/s); L2 at 24 bytes per cycle and
 * multiprocessor (an attention kernel reached 5.1 TB/s), reductions in L2 at half of that (one reached 1.8 TB/s).
 */

#define RATES_TENSOR    (1.0 / 128) /* m64n256k16: 2 * 64 * 256 * 16 operations */
#define RATES_XU        0.5         /* warp instructions per cycle and multiprocessor, as below */
#define RATES_FMA       4.0
#define RATES_ALU       2.0
#define RATES_LSU       1.0
#define RATES_ISSUE     4.0
#define RATES_WAVEFRONT 1.0
#define RATES_SECTOR    32.0 /* bytes */

/** All rates; `sms` and `mhz` of an H200 if the device does not report them. */
struct rates {
	double sms, mhz;
	double dram_bytes, l2_bytes, reduce_bytes; /* of the device per millisecond */
};

struct rates rates_of(const struct cause_device *d);

/*
 * ---- sass ----
 * Machine code as printed by `nvdisasm -c` (or -c -hex): functions and their instructions.
 *
 * Each instruction is stored as printed and in a plain form without numbers of registers, predicates, barriers and labels, jump
 * targets and register cache hints: two builds that differ only in these have equal plain forms.
 */

struct sass_instruction {
	uint32_t address;             /* bytes from the start of its section */
	uint32_t text, opcode, plain; /* NUL-terminated strings: offsets in `strings` */
};

struct sass_function {
	uint32_t symbol; /* as above */
	size_t first, n; /* of the instructions */
};

struct sass {
	size_t n_functions, n_instructions;
	struct sass_function *function;
	struct sass_instruction *instruction;
	struct buf strings;
};

/** Read all functions of `text`. Unknown lines are skipped. Own: sass_fini, also after -1. Err: ERR_FULL. */
int sass_parse(struct sass *s, const char *text, size_t len, struct fw_err *err);
void sass_fini(struct sass *s);
/** Find a function by symbol; NULL: none. */
const struct sass_function *sass_find(const struct sass *s, const char *symbol);
const char *sass_string(const struct sass *s, uint32_t at);

/*
 * ---- sassdelta ----
 * Comparison of two instruction streams: the same instructions, in the same order, or the differing positions and
 * opcodes. Instructions with equal plain forms (sass.c) are equal.
 */

enum sassdelta_kind {
	SASSDELTA_RENAMED,     /* the same instructions in the same order */
	SASSDELTA_RESCHEDULED, /* the same in another order */
	SASSDELTA_CHANGED
};

/** Instructions [target_from, ...) replace [base_from, base_from + base_n); both count from the function's start. */
struct sassdelta_hunk {
	size_t base_from, base_n, target_from, target_n;
};

struct sassdelta_opcode {
	const char *opcode; /* with its modifiers; borrowed from either side */
	size_t base, target;
};

struct sassdelta {
	enum sassdelta_kind kind;
	size_t removed, added; /* number of instructions; moved ones are in neither if the kind is RESCHEDULED */
	bool is_aligned;       /* false: too different for hunks */
	size_t n_hunks, n_opcodes;
	struct sassdelta_hunk *hunk;
	struct sassdelta_opcode *opcode; /* with different counts, largest difference first */
};

/** Compare. Own: sassdelta_fini; `a` and `b` must outlive it. Err: ERR_FULL out of memory. */
int sassdelta_make(struct sassdelta *d, const struct sass *a, const struct sass_function *of_a, const struct sass *b,
	const struct sass_function *of_b, struct fw_err *err);
void sassdelta_fini(struct sassdelta *d);

/* ---- sentence: Causes as text. ---- */

/**
 * Shorten a kernel's name: without return type, namespaces and parameters, and without long template arguments. Shape:
 * out[CAUSE_NAME_SIZE].
 */
void sentence_kernel(const char *name, char *out);

/** Replace all but printable ASCII by "?", so that a cut at any byte stays text. */
void sentence_plain(char *text);

/** Format "2.1", "0.0456", "1234". Shape: out[16]. */
void sentence_ms(double ms, char *out);

/**
 * Write c->sentence from its other members. `what` is a predicate of the kernel, or a whole phrase without one; for
 * CAUSE_NOT_EXPLAINED it follows the numbers. `own_ms`: the kernel's slowdown, 0 unknown.
 */
void sentence_write(struct cause *c, const char *what, double own_ms);
/** Append the effect of a configuration, "; KERNEL reads ...". */
void sentence_add_how(struct cause *c, const char *kernel, const char *what);

/* ---- stallname: Names of warp stalls as in counters. The GPU's sampler names some of them differently. ---- */

enum { STALLNAME_SIZE = 24 };

/**
 * Translate "smsp__pcsamp_warps_issue_stalled_warpgroup_arrive" into "gmma". Returns false if the name is no stall, or counts a
 * subset of another stall again (samples at which no warp issued). Shape: out[STALLNAME_SIZE].
 */
bool stallname_of_sample(const char *sampled, char *out);

/* ---- stalls: Reasons for which warps do not issue, as shares of a kernel's time on both sides. ---- */

enum stall {
	STALL_BARRIER,
	STALL_BRANCH_RESOLVING,
	STALL_DISPATCH_STALL,
	STALL_DRAIN,
	STALL_GMMA,
	STALL_IMC_MISS,
	STALL_LG_THROTTLE,
	STALL_LONG_SCOREBOARD,
	STALL_MATH_PIPE_THROTTLE,
	STALL_MEMBAR,
	STALL_MIO_THROTTLE,
	STALL_MISC,
	STALL_NO_INSTRUCTION,
	STALL_NOT_SELECTED,
	STALL_SELECTED,
	STALL_SHORT_SCOREBOARD,
	STALL_SLEEPING,
	STALL_TEX_THROTTLE,
	STALL_WAIT,
	STALLS
};

/** As in the names of metrics: "long_scoreboard". Shape: ends with NULL. */
extern const char *const stall_names[STALLS + 1];

struct stalls {
	bool is_known;
	struct {
		double base, target; /* share of all */
		double ms;           /* additional wait of the kernel for this reason; 0 if noise, or growing like all waits */
	} of[STALLS];
};

void stalls_read(const struct kernel_pair *p, struct stalls *out);
/** Sum `ms` over the selected reasons that have the sign of `sign`. Shape: bit `1u << enum stall`. */
double stalls_sum(const struct stalls *s, unsigned which, double sign);

#endif
