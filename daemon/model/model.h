/** model.h - jobs, suites, manifests, benchmarks, cells, families, and every closed list of names. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/fw_kernel.h"
#include "lib/lib.h"
#include "stats/stats.h"

/* ---- alertkind: Kinds of alerts: a commit's regression, or a device for which jobs wait. ---- */

enum alertkind {
	ALERTKIND_REGRESSION,
	ALERTKIND_DRIFT,   /* the history became slower in small steps */
	ALERTKIND_FAILING, /* cells fail, or nothing can be measured */
	ALERTKIND_MISSING, /* cells disappeared */
	ALERTKIND_DEVICE_OFFLINE,
	ALERTKIND_QUARANTINED,
	ALERTKIND_ENVIRONMENT, /* cells became slower by another compiler, library, driver or setting */
	ALERTKIND_COST,        /* a cost besides time grew: memory, error, energy... */
	ALERTKIND_N
};

const char *alertkind_name(enum alertkind v);
/** Return ALERTKIND_N for an unknown name. */
enum alertkind alertkind_from_name(const char *name);

/* ---- alertstate: States of an alert: it lasts until it is resolved, or until a user decides. ---- */

enum alertstate {
	ALERTSTATE_OPEN,
	ALERTSTATE_ACKNOWLEDGED, /* a user works on it */
	ALERTSTATE_ACCEPTED,     /* the regression is intended */
	ALERTSTATE_RESOLVED,     /* it ended */
	ALERTSTATE_INVALID,      /* a user declared it false */
	ALERTSTATE_N
};

const char *alertstate_name(enum alertstate v);
/** Return ALERTSTATE_N for an unknown name. */
enum alertstate alertstate_from_name(const char *name);
bool alertstate_is_live(enum alertstate v);

/*
 * ---- cost ----
 * Values of a cell besides its time, of which more is worse. The first COST_JUDGED have a limit: growth beyond it opens an alert
 * of kind cost, and each has a history.
 */

enum cost {
	COST_MEMORY,   /* workspace of a call, as the module requests it; of a program the memory that it reports */
	COST_ERROR,    /* largest error of a result, relative to that of the plain data type */
	COST_FIRST,    /* time of plan, bind and first call, which includes tuning */
	COST_ENERGY,   /* of a call in sustained runs */
	COST_HOST,     /* host time of enqueue, of a program of a call */
	COST_LAUNCHES, /* kernels of a call */
	COST_JUDGED,
	COST_LOCAL_BYTES = COST_JUDGED, /* local memory of all kernels, where registers spill */
	COST_FLOPS_ISSUED,
	COST_UNREPEATABLE, /* 1: two calls with the same inputs give different bits */
	COST_N
};

/** Limits where a suite or benchmark sets none. Units: percent. */
enum {
	COST_LIMIT_MEMORY = 1,
	COST_LIMIT_ERROR = 50, /* each side is checked at its own secret positions */
	COST_LIMIT_FIRST = 50, /* of the base in the check of another job, which is cached */
	COST_LIMIT_ENERGY = 3,
	COST_LIMIT_HOST = 10,
	COST_LIMIT_LAUNCHES = 0
};
/** Growth of one cost. */
struct cost_kind {
	const char *name, *unit;   /* "memory", "bytes" */
	const char *base, *target; /* names of its metrics, one for each side; NULL: not stored */
	double limit_pct, least;   /* growth that does not count: up to so much of the base, and up to so many units */
};
extern const struct cost_kind cost_kinds[COST_N];
enum { COST_OFF = -1 };
/** Limits of a suite or benchmark. Units: percent of growth; COST_OFF: no alert. */
struct cost_limits {
	double pct[COST_JUDGED];
};

/** Return COST_N for an unknown name. */
enum cost cost_from_name(const char *name);
void cost_limits_default(struct cost_limits *out);
/** Read `costs:`, a mapping of names to percents or `off`; missing names keep their limit. Mistakes go into `y`. */
void cost_limits_read(struct yaml *y, struct yaml_node *node, struct cost_limits *out);
/** Return whether `target` is more than `base` by more than `limit_pct` percent and by more than the least growth. NAN: false. */
bool cost_grows(enum cost c, double base, double target, double limit_pct);

/* ---- direction: The computation of one call of a case. A family lists its directions. ---- */

enum direction {
	DIRECTION_FORWARD = FW_FORWARD,
	DIRECTION_BACKWARD = FW_BACKWARD,
	DIRECTION_DGRAD = FW_DGRAD,
	DIRECTION_WGRAD = FW_WGRAD,
	DIRECTION_TOTAL = FW_TOTAL,
	DIRECTION_ONCE, /* for modules a forward: the work that is done once, as long as the weights stay (fw_info.once) */
	DIRECTIONS
};

/** As in keys, lines and files: "forward" "backward" "dgrad" "wgrad" "total" "once". Shape: from DIRECTION_FORWARD on. */
extern const char *const direction_names[DIRECTIONS];
const char *direction_name(enum direction d);

/*
 * ---- reader ----
 * Functions with which a family reads a suite file: lists of numbers and names with their mistakes, and storage for cases.
 *
 * Names, thresholds, seed and directions belong to the suite, and are read before.
 */

enum { READER_LIST_MAX = 32 };

struct reader {
	struct yaml *y;
	/** Add one case in every direction of the suite. Mistakes are reported at `at`, once. */
	void (*add)(struct reader *r, struct yaml_node *at, const void *shape);
	void *arg;          /* argument of add: the suite's */
	uint64_t seed;      /* of the suite's inputs and masks */
	const char *folder; /* folder of a local suite, where the files that it names are; NULL: it may name none */
};

void reader_add(struct reader *r, struct yaml_node *at, const void *shape);

/**
 * Read a list of 1 to `max` integers up to `most`. Returns their number, 0 after a mistake or without a list. Shape: out[max].
 */
int reader_ints(struct reader *r, struct yaml_node *list, int max, int64_t most, int32_t *out);
/** Read a list of 1 to READER_LIST_MAX numbers between 0 and 1. As reader_ints. */
int reader_shares(struct reader *r, struct yaml_node *list, double *out);
/** Return the index of a name in `choices` (NULL after the last); -1 and a mistake with `hint` if it is not in the list. */
int reader_choice(struct yaml *y, struct yaml_node *n, const char *const *choices, const char *hint);
/** Add a mistake at `map` if `value` is missing. */
void reader_require(struct yaml *y, const struct yaml_node *map, const struct yaml_node *value, const char *key);

/*
 * ---- family ----
 * A family of problems that differ in their shape. All code about one kind of kernel is in daemon/families/NAME/, behind the
 * struct below; the definition of a correct result is in its reference*.c.
 *
 * Families are found by their folders: NAME/ defines `const struct family family_NAME`. doc/families.md explains how to write
 * one.
 *
 * A shape is the family's own struct, of plain values without pointers, so that it can be copied and compared. A family owns
 * nothing else and decides nothing: its functions only describe shapes.
 */

enum {
	FAMILY_SHAPE_BYTES = 1408, /* maximum size of a shape */
	FAMILY_ABI_BYTES = 128,    /* and of its struct in the kernel ABI */
	FAMILY_KEY_SIZE = 160,
	FAMILY_TITLE_SIZE = 96,
	FAMILY_SLOTS_MAX = 16,
	FAMILY_PHASES_MAX = 6,
	FAMILY_GROUPS_MAX = 5
};

/** The metric of speed that is displayed for a cell. */
enum family_metric { METRIC_TFLOPS, METRIC_GBPS, METRIC_US };

/** A table of a comparison. */
struct family_group {
	const char *name, *title;
	bool is_irregular; /* its runs are noisier: wider intervals are still a result */
	bool is_by_bytes;  /* its cells are bound by memory: their speed is in GB/s, whatever the family's metric */
};

/** Names of a case. */
struct family_label {
	char key[FAMILY_KEY_SIZE];      /* readable, stable, and parsed by no code: histories are stored under it */
	char group[16];                 /* one of the family's groups */
	char title[FAMILY_TITLE_SIZE];  /* of its row, without text common to the whole table and without the size: "causal" */
	int64_t size;                   /* the one number that grows along a line of cases, 0 none: tokens, rows */
	char line[FAMILY_TITLE_SIZE];   /* common name of cells whose times lie on one line over their pieces; "" none */
	double pieces;                  /* pieces of work: unmasked blocks */
	char baseline[FAMILY_KEY_SIZE]; /* key of the case to compare with, if a suite has both; "" none */
};

/** The source of a buffer's contents in a direction. */
enum slot_use {
	SLOT_UNUSED = 0,
	SLOT_INPUT,
	SLOT_OUTPUT,
	SLOT_FORWARD /* an input written by the forward of the same case */
};

/** How an input is filled, and how it changes from call to call. */
enum slot_fill {
	SLOT_DRAWN, /* by model/inputs.c, bf16 or the same values in f16 */
	SLOT_LAID   /* written by the family on the host; a module gets it for count() */
};
enum slot_change {
	SLOT_STAYS,
	SLOT_ROLLS,        /* by rows and a part of one, or by elements if rows are few, in every call */
	SLOT_ROLLS_FIRST,  /* as SLOT_ROLLS; the one to change if only one can; work done once does not depend on it */
	SLOT_ROLLS_FORWARD /* as SLOT_ROLLS if no slot is SLOT_FORWARD; else it is rolled for the forward */
};

/**
 * A mask counted in tokens: over the heads that have separate masks, key heads of a block mask, query heads of a token mask.
 * Tiles are MASK_TILE queries x MASK_TILE keys of one sequence and head, whatever the mask's own blocks.
 */
struct mask_counts {
	int64_t pairs, pairs_kept;           /* of a query and a key of its sequence */
	int64_t rows, rows_empty;            /* queries; those without a key */
	int64_t tiles, tiles_masked;         /* those without a kept pair */
	int64_t common_tiles, common_masked; /* tiles of one head; those masked in all heads and sequences. 0: only one of them */
};

enum { MASK_TILE = 64 };

struct family_slot {
	const char *name;  /* "dQ" */
	const char *words; /* name of a slot that is no tensor, "sequence offsets"; NULL: `name` */
	enum slot_fill fill;
};

struct family {
	int32_t number; /* as defined in its kernels/fw_NAME.h */
	const char *name;
	size_t shape_bytes, abi_bytes; /* of its struct here and in the kernel ABI */
	bool is_default;               /* the family of a manifest that names no module; exactly one family */
	enum family_metric metric;
	enum direction direction[DIRECTIONS]; /* supported directions; ends with 0 */
	int n_on_request;                     /* number of last directions that are measured only if a suite names them */
	struct family_group group[FAMILY_GROUPS_MAX + 1]; /* ends with a NULL name */
	const char *phase[FAMILY_PHASES_MAX];             /* names, lowest bit first */
	uint32_t main_phase;                              /* the phase that takes most of the time */
	int n_slots;
	const struct family_slot *slot; /* slot[n_slots], numbered as in the kernel ABI */

	/* A suite file. */
	/**
	 * Read the family's own keys of a suite and add each case (reader_add). Returns false after a mistake that hides others.
	 */
	bool (*read)(struct reader *r, struct yaml_node *root);
	const char *keys; /* keys that contain cases, for the message about a suite without cases: "dense or block_sparse" */
	/**
	 * Append the suite that measures the same as a public suite's configuration of this family; settings without an
	 * equivalent become comments. Mistakes are collected in `y`; then nothing is appended. `name` NULL: the name of the
	 * configuration. NULL: the family reads no public suite.
	 */
	void (*import)(struct yaml *y, struct yaml_node *root, const char *name, struct buf *out);

	/* A shape. */
	int (*check)(const void *shape, enum direction d, struct fw_err *err); /* with a message that a user can act on */
	/** Check whether any implementation can compute it; otherwise the case is unsupported for this reason. NULL: yes. */
	int (*fits)(const void *shape, enum direction d, struct fw_err *err);
	void (*label)(const void *shape, struct family_label *out);
	/** Write its members in a fixed order: with braces around them, the canonical JSON. */
	void (*write)(const void *shape, struct jsonw *j);
	void (*parse)(struct fields *f, void *shape);
	/** Append data for the hash of a suite that no key shows; NULL: the canonical JSON. */
	void (*digest)(const void *shape, uint64_t seed, struct buf *out);
	double (*flops)(const void *shape, enum direction d); /* useful FLOPs of a call; 0 if they are meaningless */
	double (*bytes)(
		const void *shape, enum direction d); /* minimum bytes that every implementation moves; NULL: every buffer once */
	int32_t (*multiplied)(const void *shape,
		enum direction d); /* enum fw_dtype of the multiplied operands, which selects the peak; NULL: bf16 */

	/* A problem of that shape. */
	/**
	 * Return the phases that depend only on weights and do not count as time of a call if the provider agrees; NULL: none.
	 */
	uint32_t (*once)(const void *shape, enum direction d);
	int32_t (*flags)(const void *shape, enum direction d); /* enum fw_problem_flag; NULL: none */
	void (*abi)(const void *shape, enum direction d,
		void *out); /* writes the kernel ABI's struct, out[abi_bytes]; NULL: the shape itself */
	enum slot_use (*use)(const void *shape, enum direction d, int slot);
	/**
	 * Return how an input of the direction changes. An input that only the forward reads changes as in the forward, if the
	 * direction needs the forward.
	 */
	enum slot_change (*change)(const void *shape, enum direction d, int slot);
	/** Set strides and type of a used slot; returns its bytes. */
	size_t (*lay_out)(const void *shape, int slot, struct fw_tensor *t);
	/**
	 * Fill a SLOT_LAID slot. Shape: out[bytes of lay_out]. NULL if there is no such slot. Err: a file of the shape cannot be
	 * read, or is not the one that the suite named.
	 */
	int (*lay)(const void *shape, uint64_t seed, int slot, void *out, struct fw_err *err);
	/** Return the path of a file that `lay` reads, "" if it reads none; NULL: no shape has one. */
	const char *(*file)(const void *shape);
	/** True if there is another problem of these sizes, which a plan does not know; NULL: none. */
	bool (*has_second)(const void *shape);
	const char *second_words; /* "another mask of the same size" */
	/** Convert the shape into that problem; called again with the next `attempt` while the laid slots are unchanged. */
	void (*second)(void *shape, int attempt);
	/**
	 * Count the work that the laid slots keep, and the total, from the buffers themselves; NULL: all. Shape: laid[n_slots].
	 */
	int64_t (*kept)(const void *shape, const void *const *laid, int64_t *of);
	/** Count a mask in tokens; `out` stays 0 without a mask. NULL: the family has no masks. Shape: laid[n_slots]. */
	void (*count_mask)(const void *shape, const void *const *laid, struct mask_counts *out);
};

/** Return NULL for an unknown name. */
const struct family *family_find(const char *name);
/** List all families, in alphabetical order; NULL behind the last. */
const struct family *family_at(int i);
/** Return the family of a manifest that names no module. */
const struct family *family_default(void);
/** Return the table of that name of any family; NULL: none. */
const struct family_group *family_group(const char *name);
/** True if cells of that table are noisier than others. */
bool family_group_is_irregular(const char *name);
/** Return "dQ" for a slot, "run" for a bit of the phases. */
const char *family_slot_name(const struct family *f, int slot);
const char *family_phase_name(const struct family *f, uint32_t phase);
/** True if a direction of this shape uses results of the forward. */
bool family_needs_forward(const struct family *f, const void *shape, enum direction d);
/** Append the canonical JSON of a shape. Own: `out` is the caller's, and grows. */
void family_json(const struct family *f, const void *shape, struct buf *out);
/** "bf16" */
const char *family_dtype_name(int32_t dtype);
/** Bytes of an element. */
size_t family_element_bytes(int32_t dtype);

/* ---- series: Ways of timing a cell; the times of one way are a series. ---- */

enum series {
	SERIES_DEVICE,    /* device time of a call */
	SERIES_CALL,      /* from an idle stream, host time included */
	SERIES_PHASE,     /* one phase of a call */
	SERIES_SUSTAINED, /* sustained runs, in which each side stabilises at the clock of its own power draw */
	SERIES_PROCESS,   /* reported by a benchmark program */
	SERIES_N
};

/** As in lines, rows and pages: "device" "call" "phase" "sustained" "process". Shape: ends with NULL. */
extern const char *const series_names[SERIES_N + 1];

const char *series_name(enum series series);
/** Return SERIES_DEVICE for an unknown name, and for "". */
enum series series_from_name(const char *name);

/*
 * ---- case ----
 * A case (a shape of a family, with its data), a direction, their names and their useful FLOPs.
 *
 * Keys are readable and stable; no code parses them. "attention/dense/causal/s8192/hq64/hk8/d128/bf16" is a case, with "/forward"
 * it is a cell.
 */

enum {
	CASE_KEY_SIZE = FAMILY_KEY_SIZE,
	CELL_CONFIG_SIZE = 64,
	CELL_TITLE_SIZE = FAMILY_TITLE_SIZE + 2 + CELL_CONFIG_SIZE /* with ", " and the configuration */
};

union shape {
	unsigned char bytes[FAMILY_SHAPE_BYTES];
	max_align_t aligned;
};

/** Self-contained: all data that the runner needs to create the inputs. */
struct cell {
	char key[CASE_KEY_SIZE]; /* case key + "/" + direction; with a configuration: case key + "/ISA=v3,TILE=2/" + direction */
	char case_key[CASE_KEY_SIZE];
	char baseline[CASE_KEY_SIZE]; /* key of the baseline cell, if the suite has both; "" none */
	char family[16];              /* "attention" */
	char group[16];               /* "dense" or "block_sparse": its table */
	char title[CELL_TITLE_SIZE];  /* "causal", "banded, keep 0.1, block 64": row name there, without the size */
	char line[CELL_TITLE_SIZE];   /* common line of a plot, for cells that differ only in their number of pieces; "" none */
	int64_t size;                 /* 0: none */
	double pieces;
	enum direction direction;
	double threshold_pct;          /* minimum reduction of throughput that is a regression */
	double flops;                  /* of a call of a benchmark program (family "command"); 0 unknown */
	enum series decide;            /* the deciding series: call, if host time counts */
	double tau0;                   /* learned noise of runs, log ratio; 0: the rule's */
	double nu0;                    /* degrees of freedom of tau0; 0: tau0 is a prior in addition to pairs */
	double underpowered_pct;       /* smallest regression that noisy equal builds allow to detect; 0: the threshold */
	uint64_t seed;                 /* of the inputs */
	char config[CELL_CONFIG_SIZE]; /* configuration that the suite requests for both sides, "ISA=v3 TILE=2"; "": none */
	union shape shape;
};

/** Return its family; NULL for a benchmark program. */
const struct family *case_family(const struct cell *c);

/**
 * Fill keys, group, title and size from `c->family`, `c->shape`, `c->direction` and `c->config`. A key that does not fit is cut;
 * case_check reports it.
 */
void case_name(struct cell *c);

/** Return the useful FLOPs of one call, for a benchmark program as reported. NAN unknown. */
double case_flops(const struct cell *c);

/** Return the minimum bytes of any implementation: each input read and each output written once. */
double case_bytes(const struct cell *c);

enum family_metric case_metric(const struct cell *c);

/** Return whether its runs are noisier than others', by its table. */
bool case_is_irregular(const struct cell *c);

/** Convert to the kernel ABI. Shape: `shape` has the family's abi_bytes. Own: `out` points at `shape`. */
void case_problem(const struct cell *c, void *shape, struct fw_problem *out);

/** Reject impossible sizes with a message that names the fault (heads that do not divide, a block that does not fit, ...). */
int case_check(const struct cell *c, struct fw_err *err);

/* ---- format: Formats of benchmark results that daemon/readers reads. ---- */

enum format {
	FORMAT_FLOPWATCH,
	FORMAT_FFA,
	FORMAT_NVBENCH,
	FORMAT_GOOGLE_BENCHMARK,
	FORMAT_HYPERFINE,
	FORMAT_TRITON,
	FORMAT_TORCHAO,
	FORMAT_NCU,
	FORMAT_NSYS,
	FORMAT_CUTLASS,
	FORMAT_ROCPROF,
	FORMAT_HIPBLASLT,
	FORMAT_LIGER,
	FORMAT_PYTEST,
	FORMAT_ASV,
	FORMAT_CRITERION,
	FORMAT_JMH,
	FORMAT_LLAMA_BENCH,
	FORMAT_TRITONBENCH,
	FORMAT_TORCH_COMPARE,
	FORMAT_CATCH2,
	FORMAT_N
};

/** All formats, separated by ", ", for messages. */
#define FORMAT_NAMES                                                                                                             \
	"flopwatch, ffa, nvbench, google-benchmark, hyperfine, triton, torchao, ncu, nsys, cutlass, rocprof, "                   \
	"hipblaslt, liger, pytest-benchmark, asv, criterion, jmh, llama-bench, tritonbench, torch-compare, "                     \
	"catch2"

/** Return FORMAT_N for an unknown name. */
enum format format_from_name(const char *name);
/** Return whether the key `time` selects among several times of a format. */
bool format_has_times(enum format format);

/* ---- unit: Units of time and of rates, as benchmarks write them. ---- */

/** Return the ms of one `unit` of time, 0 for other units. "ns" "us" "ms" "s" and their usual spellings. */
double unit_to_ms(const char *unit);
/**
 * Convert a value in `unit`, which may be a rate: TFLOPS, GFLOPS, GB/s, TB/s and spellings of them. *ms becomes time per unit
 * of work for a rate, `suffix` the end of its key ("/per-GB"), "" for times; *tflops the rate in FLOPs, else NAN. -1 for an
 * unknown unit.
 */
int unit_convert(double value, const char *unit, double *ms, double *tflops, const char **suffix);

/*
 * ---- benchmark ----
 * A benchmark program: its command, output format, and rule.
 *
 * Its cells are unknown before it has run: every row of its output is one. A process is the unit of measurement: base and
 * target processes alternate A B B A, a process gives one time a cell (the median of its values), two such pairs are a run, and
 * the usual rule judges runs.
 */

enum {
	BENCHMARK_ARGS_MAX = 16,
	BENCHMARK_OUTPUTS_MAX = 4,
	BENCHMARK_ARTIFACTS_MAX = 8,
	BENCHMARK_TEXT_SIZE = 256,
	BENCHMARK_PAIRS = 2,
	BENCHMARK_RUNS_MAX = 32,      /* of a cell: each process has its own speed, which only more processes average */
	BENCHMARK_INTERLEAVE_MIN = 8, /* limits of a manifest's pairs in an interleaved session */
	BENCHMARK_INTERLEAVE_MAX = STATS_PAIRS_MAX
};

/** Family of the cells of such a benchmark. */
#define BENCHMARK_FAMILY "command"

struct benchmark {
	char name[64]; /* "": none */
	int n_command;
	char command[BENCHMARK_ARGS_MAX][BENCHMARK_TEXT_SIZE];   /* run in build.dir; "{device}" becomes cuda or cpu */
	int n_outputs;                                           /* 0: its standard output is read */
	char output[BENCHMARK_OUTPUTS_MAX][BENCHMARK_TEXT_SIZE]; /* files that it writes, relative to build.dir */
	int n_artifacts;                                         /* 0: it may read the whole folder, including sources */
	char artifact[BENCHMARK_ARTIFACTS_MAX]
		     [BENCHMARK_TEXT_SIZE]; /* files and folders that exist when it runs, relative to build.dir */
	char reader[24], unit[16];          /* format of readers/reading.c; unit "" unless a triton file needs it */
	char time[8];                       /* google-benchmark: "real" or "cpu"; "" real */
	double threshold_pct;               /* 1.5 */
	struct cost_limits costs;
	double timeout_s; /* of one process; 300 */
	double budget_s;  /* of a comparison; 600 */
	int pairs;        /* maximum for a cell in one interleaved session; 0 the default */
	bool gpu;         /* it may use the GPU of its device; true */
	bool fork;        /* one process that has imported its modules may fork its runs; as gpu */
};

/** Read one item of `benchmarks:`; mistakes go into `y`. */
void benchmark_read(struct yaml *y, struct yaml_node *node, const char *name, struct benchmark *out);

/**
 * Return the rule for `n_cells` cells of it: two pairs a run, up to 32 runs, and no runs for an interval narrower than half the
 * threshold.
 */
void benchmark_rule(const struct benchmark *b, int n_cells, struct rule *out);

/** Make the cell of a row. Units: flops of one call, 0 unknown. */
void benchmark_cell(const struct benchmark *b, const char *key, double flops, struct cell *out);

/* ---- device_kind: The kinds of devices that kernels run on. ---- */

enum device_kind {
	DEVICE_ANY, /* any kind */
	DEVICE_CUDA,
	DEVICE_CPU,
	DEVICE_SIM, /* simulated times, for demonstrations and tests */
	DEVICE_KINDS
};

/** As in lines, files and rows: "" "cuda" "cpu" "sim". Shape: ends with NULL. */
extern const char *const device_kind_names[DEVICE_KINDS + 1];

/** Return the name; "" for an invalid kind. */
const char *device_kind_name(enum device_kind kind);
/** Return DEVICE_KINDS for an unknown name. */
enum device_kind device_kind_from_name(const char *name);

/* ---- devicestate: States that decide whether a device gets jobs. ---- */

enum devicestate {
	DEVICESTATE_OK,
	DEVICESTATE_PAUSED,       /* by a user */
	DEVICESTATE_QUARANTINED,  /* it failed, and the jobs on it were not at fault */
	DEVICESTATE_HEALTH_CHECK, /* a user requested its return, and it is tested first */
	DEVICESTATE_ABSENT,
	DEVICESTATE_N
};

const char *devicestate_name(enum devicestate v);
/** Return DEVICESTATE_N for an unknown name. */
enum devicestate devicestate_from_name(const char *name);

/* ---- imported_results: Measured rows of a foreign benchmark, as submitted. ---- */

/** Rows measured elsewhere. `base_ms` 0: the target only. Times are medians; tflops 0: unknown. */
struct foreign_row {
	const char *cell;
	const char *failure; /* the benchmark's error for the target, which then has no time; NULL none */
	double base_ms, target_ms, base_tflops, target_tflops;
};
struct foreign_results {
	const char *repo, *branch, *commit, *base; /* branch and base NULL: none; full commit ids */
	const char *name;                          /* stored instead of a suite's name */
	int n;
	const struct foreign_row *row; /* row[n] */
};

/*
 * ---- inputs ----
 * Inputs with the same bits on the CPU, on the GPU and in Python, without storing them.
 *
 * Element i of tensor t under a seed is a pure function: h = mix(stream(seed, t) + i * K), with mix the finaliser of splitmix64
 * and K its increment; the four 16-bit lanes of h summed, less 2 * 65535, times 2^-15, rounded to bf16 (nearest, ties to even).
 * That is close to a normal distribution with standard deviation 1.15, and exact in integers. Source: Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators" (OOPSLA 2014).
 */

#ifdef __CUDACC__
#define INPUTS_FN static __host__ __device__ __forceinline__
#else
#define INPUTS_FN static inline
#endif

#define INPUTS_INCREMENT 0x9e3779b97f4a7c15ULL /* K: 2^64 over the golden ratio */

/** Finaliser of splitmix64 after one increment: a bijection of 64 bits. */
INPUTS_FN uint64_t inputs_mix(uint64_t x)
{
	x += INPUTS_INCREMENT;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/** Return the contribution of 8 bytes at index `i` to a buffer's checksum; a shorter rest is padded with zeros. */
INPUTS_FN uint64_t inputs_summand(uint64_t bytes, uint64_t i)
{
	return inputs_mix(bytes + i * INPUTS_INCREMENT);
}

/** Return the start value of one tensor's stream. `tensor` is its slot number in the kernel ABI. */
INPUTS_FN uint64_t inputs_stream(uint64_t seed, uint32_t tensor)
{
	return inputs_mix(seed ^ ((uint64_t)tensor + 1) * 0xd1342543de82ef95ULL);
}

/** Return the bf16 bits of element `i` of a stream. */
INPUTS_FN uint16_t inputs_element(uint64_t stream, uint64_t i)
{
	uint64_t h = inputs_mix(stream + i * INPUTS_INCREMENT);
	int32_t sum = (int32_t)(h & 0xffff) + (int32_t)((h >> 16) & 0xffff) + (int32_t)((h >> 32) & 0xffff) + (int32_t)(h >> 48) -
		      2 * 65535;
	union {
		float f;
		uint32_t u;
	} v;
	v.f = (float)sum * (1.0f / 32768.0f); /* exact: 18 bits times a power of two */
	return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}

/** Fill elements [first, first + n) of a stream. Shape: out[n] bf16 bits. */
void inputs_fill(uint64_t seed, uint32_t tensor, uint64_t first, size_t n, uint16_t *out);

INPUTS_FN float inputs_bf16_to_float(uint16_t bits)
{
	union {
		float f;
		uint32_t u;
	} v;
	v.u = (uint32_t)bits << 16;
	return v.f;
}

INPUTS_FN float inputs_f16_to_float(uint16_t bits)
{
	union {
		float f;
		uint32_t u;
	} v;
	uint32_t magnitude = bits & 0x7fffu;
	if (magnitude >= 0x7c00u)
		v.u = 0x7f800000u | (magnitude & 0x3ffu) << 13;
	else if (magnitude < 0x400u)
		v.f = (float)magnitude * 5.9604644775390625e-8f; /* subnormal: units of 2^-24 */
	else
		v.u = (magnitude << 13) + 0x38000000u;
	v.u |= (uint32_t)(bits & 0x8000u) << 16;
	return v.f;
}

/** Round to the nearest f16, ties to even; from 65520 on to infinity. NaN stays NaN. */
INPUTS_FN uint16_t inputs_float_to_f16(float x)
{
	union {
		float f;
		uint32_t u;
	} v;
	v.f = x;
	uint32_t sign = v.u >> 16 & 0x8000u, magnitude = v.u & 0x7fffffffu;
	if (magnitude > 0x7f800000u)
		return (uint16_t)(sign | 0x7e00u);
	if (magnitude >= 0x477ff000u)
		return (uint16_t)(sign | 0x7c00u);
	if (magnitude < 0x38800000u) { /* subnormal: in 0.5 the last bit is 2^-24 */
		v.u = magnitude;
		v.f += 0.5f;
		return (uint16_t)(sign | (v.u - 0x3f000000u));
	}
	return (uint16_t)(sign | (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13);
}

/** Convert drawn bf16 in place to f16, which has each of their values. */
void inputs_to_f16(uint16_t *bits, size_t n);

/** Round to the nearest bf16, ties to even. NaN stays NaN. */
INPUTS_FN uint16_t inputs_float_to_bf16(float x)
{
	union {
		float f;
		uint32_t u;
	} v;
	v.f = x;
	if ((v.u & 0x7fffffffu) > 0x7f800000u)
		return (uint16_t)((v.u >> 16) | 0x40u);
	return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}

/* ---- job_request: A requested measurement, as submitted. ---- */

struct job_request {
	const char *repo;        /* name in the configuration */
	const char *target;      /* commit (40 or 64 digits, or at least 7 that are unambiguous here) or branch */
	const char *base;        /* as target; NULL or "": found by the rules */
	const char *suite;       /* NULL or "": as configured, else as in the manifest */
	const char *device_kind; /* NULL or "": any */
	const char *cells_glob;  /* NULL or "": all cells */
	const char *base_provider, *target_provider;   /* NULL or "": the module's default */
	const char *base_config, *target_config;       /* NULL or "": the provider chooses */
	const char *base_toolchain, *target_toolchain; /* folders of compilers; NULL or "": the worker's own */
	const char *base_flags, *target_flags;         /* flags appended to compiler calls; NULL or "": none */
	bool quick;
	bool every_cell;       /* profile: every matching cell instead of the three largest regressions */
	int alert, comparison; /* profile: take sides and worst cells from this alert or comparison; 0: as named above */
	const char *who;       /* user who requests it; NULL: unknown */
};

/* ---- jobkind: Purpose of a job and its comparison: determines the base, the notified users, and the next steps. ---- */

/*
 * ---- device_step ----
 * The activity for which a device is occupied. The device time of a comparison is the sum of its steps.
 */

/** X(constant, name) for each step, in the order of time. */
#define DEVICE_STEP_LIST(X)                                                                                                      \
	X(DEVICE_STEP_START, "start")         /* of a process and its sandbox */                                                 \
	X(DEVICE_STEP_CONTEXT, "context")     /* of CUDA */                                                                      \
	X(DEVICE_STEP_LOAD, "load")           /* of both modules */                                                              \
	X(DEVICE_STEP_INPUTS, "inputs")       /* allocated and filled */                                                         \
	X(DEVICE_STEP_FORWARD, "forward")     /* whose results backward cells use, with its check */                             \
	X(DEVICE_STEP_PLAN, "plan")           /* plan and bind of a module */                                                    \
	X(DEVICE_STEP_REFERENCE, "reference") /* fp64 results */                                                                 \
	X(DEVICE_STEP_CHECK, "check")         /* checks of calls outside and inside the timed passes */                          \
	X(DEVICE_STEP_WARM, "warm")           /* warm-up calls */                                                                \
	X(DEVICE_STEP_TIMED, "timed")         /* calls whose times are used */                                                   \
	X(DEVICE_STEP_BETWEEN, "between")     /* the rest of timed passes: cache displacement, inputs, device readings */        \
	X(DEVICE_STEP_SUSTAINED, "sustained") /* sustained runs: calls without pause, timed together */                          \
	X(DEVICE_STEP_END, "end")             /* freeing memory, end of the process */                                           \
	X(DEVICE_STEP_PROGRAM, "program")     /* benchmark programs, outside their timed calls */                                \
	X(DEVICE_STEP_SENTINEL, "sentinel")   /* known computations, readings, waiting until the device is idle */               \
	X(DEVICE_STEP_AUDIT, "audit")         /* batches of calls, timed outside the process */                                  \
	X(DEVICE_STEP_PROFILE, "profile")     /* counters and samples */

#define DEVICE_STEP_CONSTANT(step, name) step,
enum device_step { DEVICE_STEP_LIST(DEVICE_STEP_CONSTANT) DEVICE_STEPS };

extern const char *const device_step_names[DEVICE_STEPS + 1];
/** Return DEVICE_STEPS for an unknown name. */
enum device_step device_step_from_name(const char *name);
/**
 * Write the steps in one line, the longest first, as shares of their sum: "timed 48 %, warm 20 %, ...". Steps below 1 % are
 * summed as "rest". Units: s[DEVICE_STEPS] in seconds. "" if the sum is 0.
 */
void device_step_summary(const double s[DEVICE_STEPS], char *out, size_t size);

enum jobkind {
	JOBKIND_COMPARE,     /* effect of a commit */
	JOBKIND_SELFCHECK,   /* one commit against itself */
	JOBKIND_REFERENCE,   /* a history's reference commit, timed against the one before it */
	JOBKIND_VERIFY,      /* test of a change suspected in the history */
	JOBKIND_BACKFILL,    /* a commit without a point in the history */
	JOBKIND_CALIBRATE,   /* noise of equal builds */
	JOBKIND_BISECT,      /* a step of a bisect */
	JOBKIND_PEER,        /* a commit against a peer's provider */
	JOBKIND_IMPORT,      /* results measured elsewhere */
	JOBKIND_CONFIG,      /* a provider with a configuration requested by a user */
	JOBKIND_ENVIRONMENT, /* a commit built by one toolchain against itself built by another */
	JOBKIND_PROFILE,     /* cause of a regression: counters and machine code of both sides; no comparison */
	JOBKIND_N
};

extern const char *const jobkind_names[JOBKIND_N];
/** As in rows and JSON: "selfcheck"; "" for JOBKIND_N. */
const char *jobkind_name(enum jobkind kind);
/** Return JOBKIND_N for an unknown name. */
enum jobkind jobkind_from_name(const char *name);
/** Return whether a module is timed against itself. For other kinds equal modules are not timed. */
bool jobkind_is_itself(enum jobkind kind);
/**
 * Return whether it compares providers, configurations or toolchains, which shows nothing about a commit as it is: it sets no
 * commit's verdict, belongs to no history, and opens no alert of a commit.
 */
bool jobkind_is_side_by_side(enum jobkind kind);
/** Return whether it is the daemon's own work rather than pushed or requested: lists show such jobs separately. */
bool jobkind_is_upkeep(enum jobkind kind);

/*
 * ---- jobstate ----
 * States of a job and their transitions as one table.
 *
 * queued -> assigned -> building -> checking -> measuring -> done | failed | cancelled | superseded | target_missing. A job
 * whose worker disconnected returns to queued; final states never change.
 */

enum jobstate {
	JOBSTATE_QUEUED,
	JOBSTATE_ASSIGNED,
	JOBSTATE_BUILDING,
	JOBSTATE_CHECKING,
	JOBSTATE_MEASURING,
	JOBSTATE_DONE,
	JOBSTATE_FAILED,
	JOBSTATE_CANCELLED,
	JOBSTATE_SUPERSEDED,
	JOBSTATE_TARGET_MISSING,
	JOBSTATE_N
};

enum jobstate_event {
	JOBSTATE_ON_ASSIGN,
	JOBSTATE_ON_BUILD,
	JOBSTATE_ON_CHECK,
	JOBSTATE_ON_RUN,
	JOBSTATE_ON_DONE,
	JOBSTATE_ON_FAIL,
	JOBSTATE_ON_CANCEL,
	JOBSTATE_ON_WORKER_LOST,    /* with attempts left */
	JOBSTATE_ON_SUPERSEDE,      /* a newer tip of the branch */
	JOBSTATE_ON_TARGET_MISSING, /* its commit no longer exists */
	JOBSTATE_EVENTS
};

/** Return the state after `on`; `from` itself if the event changes nothing. */
enum jobstate jobstate_next(enum jobstate from, enum jobstate_event on);
/** False for JOBSTATE_N, which is no state. */
bool jobstate_is_final(enum jobstate s);
/** As in the database: "measuring". */
const char *jobstate_name(enum jobstate s);
/** Return JOBSTATE_N for an unknown name. */
enum jobstate jobstate_from_name(const char *name);

enum { JOBSTATE_ATTEMPTS_MAX = 3 };

/*
 * ---- peers ----
 * Providers of a repository's modules ("cudnn") to which its kernels are compared.
 *
 * Written PROVIDER, or PROVIDER@DEVICE if it exists on one kind of device only: [cudnn@cuda, naive].
 */

enum { PEERS_MAX = 8, PEERS_PROVIDER_SIZE = 48, PEERS_TEXT_SIZE = 512 };

struct peers {
	int n;
	struct {
		char provider[PEERS_PROVIDER_SIZE];
		enum device_kind device;
		struct yaml_position at; /* position in the file; none if read from a stored line */
	} of[PEERS_MAX];
};

/** Return whether `text` can be a provider's name: 1 to 47 of A-Z a-z 0-9 _ - . : + */
bool peers_is_provider(const char *text);

/** Read a list of peers, or a single one; an empty list is none. Absent leaves `out` unchanged. Mistakes go into `y`. */
void peers_read(struct yaml *y, struct yaml_node *node, struct peers *out);

/** Write the stored form: "cudnn@cuda naive". Shape: text[PEERS_TEXT_SIZE]. */
void peers_write(const struct peers *p, char *text);
/** Parse the stored form; invalid names are omitted. */
void peers_parse(const char *text, struct peers *out);

/** Return the position of a provider, -1 if missing. */
int peers_find(const struct peers *p, const char *provider);

/** Return the first peer at or after `i` that exists on this kind of device; p->n: none. */
int peers_next(const struct peers *p, int i, enum device_kind kind);

/*
 * ---- manifest ----
 * `.flopwatch.yaml` at a branch's root: inputs, build and outputs.
 *
 * It may also name benchmark programs:
 *   benchmarks: {vecsum: {command: [python3, bench.py], reader: flopwatch}}
 * With them the defaults are inputs [.], dir ., no build, and the benchmarks as suites.
 *
 * Without a file the defaults suit flopwatch's own repository: inputs [kernels], dir kernels, make DEVICE={device}, attention at
 * build/{device}/libattention.so, suites [ffa], peers [cudnn@cuda]. A file with a build or benchmarks has only the peers that it
 * names.
 */

enum { MANIFEST_LIST_MAX = 32, MANIFEST_TEXT_SIZE = 256, MANIFEST_BENCHMARKS_MAX = 64, MANIFEST_SUITES_MAX = 64 };

/** PATH of builds and benchmark programs in the sandbox. */
#define BUILD_PATH "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin"

/** The key `build`. A job has a copy for each side, so this has no lists of suites or benchmarks. */
struct build {
	char dir[MANIFEST_TEXT_SIZE];                        /* working folder of the command */
	int n_command;                                       /* 0: no build */
	char command[MANIFEST_LIST_MAX][MANIFEST_TEXT_SIZE]; /* argument vector; "{device}" becomes cuda, cpu or sim's cpu */
	int n_outputs;
	char family[8][16];                 /* "attention" */
	char output[8][MANIFEST_TEXT_SIZE]; /* path of the module, relative to dir */
	double timeout_s;                   /* default 900 */
};

struct manifest {
	int n_inputs;
	char input[MANIFEST_LIST_MAX][MANIFEST_TEXT_SIZE]; /* paths in the tree, relative, no ".." */
	struct build build;
	int n_suites; /* suites and benchmarks to measure */
	char suite[MANIFEST_SUITES_MAX][64];
	struct yaml_position suite_at[MANIFEST_SUITES_MAX]; /* position of each name in the file; none for defaults */
	int n_benchmarks;
	struct benchmark benchmark[MANIFEST_BENCHMARKS_MAX];
	struct peers peers; /* peers of the upstream branch */
};

/** Set the defaults above. */
void manifest_default(struct manifest *m);
/**
 * Parse; `text` NULL gives the defaults. Err: all mistakes, each with file:line:col, separated by " | ". Absolute paths and
 * ".." are mistakes.
 */
int manifest_parse(const char *text, size_t len, const char *file, struct manifest *out, struct fw_err *err);
const struct benchmark *manifest_benchmark(const struct manifest *m, const char *name);
/** True if `path` is relative and stays inside: no leading slash, no "..", no empty or "." component; "." alone is the root. */
bool manifest_path_ok(const char *path);
/** Replace "{device}" in `text`. Shape: out[size]. */
void manifest_expand(const char *text, const char *device, char *out, size_t size);

/**
 * Read a string into a field, or a list of strings into rows[max][size]; mistakes go into `y`. The list function returns the
 * number, or `n` if the list is absent.
 */
void manifest_read_text(struct yaml *y, struct yaml_node *n, bool path, char *out, size_t size);
int manifest_read_list(struct yaml *y, struct yaml_node *list, bool path, char *rows, size_t size, int max, int n);

/*
 * ---- readonly ----
 * Folders of a machine that branch code may read in addition to the system's. Folders with a toolchain (conda, a virtual
 * environment, a library) are permitted; folders with the system, a whole home, or keys are not. Pure: decided by the path only.
 */

enum { READONLY_MAX = 16, READONLY_PATH_SIZE = 512 };

/** Describe the fault of a path as a predicate; NULL none. Characters that a remote shell interprets are faults, too. */
const char *readonly_wrong(const char *path);
/** True if `inner` is `outer` or a folder in it. Both are absolute and plain. */
bool readonly_lies_in(const char *inner, const char *outer);

/* ---- role: The origin of a record: a side of a job, the device or the worker. ---- */

enum role {
	ROLE_NONE, /* no single side */
	ROLE_BASE,
	ROLE_TARGET,
	ROLE_REFERENCE, /* the reference commit of a history, timed with both sides */
	ROLE_DEVICE,
	ROLE_WORKER,
	ROLES
};

/** As in lines, rows and text: "" "base" "target" "reference" "device" "worker". Shape: ends with NULL. */
extern const char *const role_names[ROLES + 1];

const char *role_name(enum role role);
/** Return ROLES for an unknown name. */
enum role role_from_name(const char *name);

/*
 * ---- config ----
 * Terms of a provider's configuration: "BLOCK_M=128 STAGES=2", separated by spaces, commas or semicolons. Pure.
 */

/**
 * Return whether every term of `requested` ("STAGES=2") is in `chosen` ("BLOCK_M=128 STAGES=2"), in any order: a provider of a
 * later commit may have more keys.
 */
bool config_contains_all(const char *requested, const char *chosen);
/**
 * Write the terms of `requested` whose key is not in `own`, separated by spaces and cut to fit. Returns their number. Shape:
 * out[size].
 */
size_t config_unfit(const char *requested, const char *own, char *out, size_t size);
/**
 * Write `own` with the values of `requested` for the keys that both have. Returns false if it does not fit. Shape: out[size].
 */
bool config_fit(const char *requested, const char *own, char *out, size_t size);

/*
 * ---- rotation ----
 * The choice of the next shard of a large suite to measure off-peak. Pure.
 *
 * In each off-peak period first the shards that have waited longest, so that all are measured within the suite's nights; then
 * shards whose last comparison found a change, the newest first; then again those that have waited longest. With several suites
 * each gets its share before any gets more.
 */

/** A shard; shard[0] of a list is the suite's shard 1. */
struct rotation_shard {
	int64_t measured_at; /* 0: never */
	bool is_requested;   /* already requested for this commit */
	bool has_change;     /* its last comparison found a change, or failed */
};

/**
 * Return the index of the next shard, -1: none is left. `since_ms`: start of the off-peak period. Shape: shard[n]. Units: ms
 * since 1970.
 */
int rotation_next(const struct rotation_shard *shard, int n, int nights, int64_t since_ms);

/** Return whether the share of this off-peak period is unfinished. As rotation_next. */
bool rotation_is_behind(const struct rotation_shard *shard, int n, int nights, int64_t since_ms);

/* ---- task_mode: Kind of work of one runner process, and its name in the message `task`. ---- */

enum task_mode {
	TASK_CHECK,        /* check results of sides in cells */
	TASK_TIME,         /* time them */
	TASK_CAPTURE,      /* single calls, for a profiler; only from the command line */
	TASK_PROFILE,      /* read counters of each kernel of a call */
	TASK_AUDIT,        /* time them by the clock of the waiting process */
	TASK_IDLE,         /* from here on only probes of the device: do other processes use it? */
	TASK_DEVICE_CHECK, /* its readings */
	TASK_HEALTH_CHECK, /* does it compute and time correctly? */
	TASK_CLOCKS,       /* its clock, repeatedly */
	TASK_MODES
};

/**
 * "check" "time" "capture" "profile" "audit" "idle" "device_check" "health_check" "clocks". Shape: ends with NULL. Those from
 * TASK_IDLE on are also names of device probes.
 */
extern const char *const task_mode_names[TASK_MODES + 1];

/* ---- side_names: Names of a comparison's sides for names of files. Pure. ---- */

enum { SIDE_NAME_SIZE = 128 };

struct side_label {
	const char *name, *commit, *provider; /* "" none */
};

/**
 * Write the display name of each side, else the first digits of its commit, with the provider if one was requested, as a part of
 * a file's name. Equal names are made different by the target's commit, else by "again".
 */
void side_names(const struct side_label side[2], char name[2][SIDE_NAME_SIZE]);

/*
 * ---- suite ----
 * A suite file as a list of cells, in the order of the file: dense before block-sparse, each case forward then
 * backward. Also the constants of its rule.
 */

enum { SUITE_CELLS_MAX = 8192, JOB_CELLS_MAX = 400 /* of one comparison: larger suites are measured in shards (shard.c) */ };

struct suite {
	char name[64];
	char family[16];
	double threshold_pct; /* of cells without their own threshold */
	struct cost_limits costs;
	double budget_s; /* device seconds a comparison may use */
	int push_cells;  /* number of cells that a push measures, at least those of `always`; 0: all */
	int nights;      /* off-peak periods in which the others are measured */
	char *always;    /* globs of cells that every push measures, separated by spaces; NULL none */
	int n_cells;
	struct cell *cell; /* cell[n_cells] */
};

/**
 * Read and resolve a suite. Mistakes (unknown keys, impossible shapes) are collected, each with its position: `err` contains all
 * of them, separated by " | " and cut to fit, and `out` is then empty. Own: suite_fini frees.
 */
int suite_parse(const char *text, size_t len, const char *file, struct suite *out, struct fw_err *err);
/** As suite_parse, for the text of the local file `path`, which may name files in its own folder. */
int suite_parse_local(const char *text, size_t len, const char *path, struct suite *out, struct fw_err *err);
void suite_fini(struct suite *s);

/** Return whether a key matches one of `globs`, separated by spaces (fnmatch; '*' also crosses '/'). */
bool suite_matches(const char *key, const char *globs);
/** Remove cells whose key matches none of `globs`. Returns the number left. */
int suite_filter(struct suite *s, const char *globs);

/** Compute SHA-256 of the resolved cells: files that differ only in format hash alike. Shape: hex[65]. */
void suite_hash(const struct suite *s, char hex[65]);

/*
 * ---- shard ----
 * Shards of a suite with more cells than a push should wait for: shard 0 is measured on every push, the others one after the
 * other off-peak. Pure, and the same for the same suite everywhere.
 *
 * Shard 0 is sampled by hashes of the cells' keys, so that a new case changes little of the sample; the rest is divided in the
 * order of the file. A cell's shard includes its baseline cell, so that both are timed in the same runs.
 */

enum { SHARD_CELLS = 40 /* of an off-peak shard, without added baseline cells */ };

/** Return the number of shards, 1 or more: with 1 a push measures everything. */
int suite_count_shards(const struct suite *s);

struct suite_size {
	int cells, shards; /* of the whole suite, including shard 0 */
	int nights;        /* off-peak periods in which all are measured */
};
struct suite_size suite_size(const struct suite *s);
/** Reduce the suite to the cells of one shard. Err: ERR_NOT_FOUND there is no such shard; nothing changes. */
int suite_take_shard(struct suite *s, int shard, struct fw_err *err);
/**
 * Reduce the suite to the cells of one comparison: those that match `globs`, or without globs (NULL, "") those of a shard. Err:
 * ERR_INVALID none matches, or more than JOB_CELLS_MAX do; ERR_NOT_FOUND.
 */
int suite_choose(struct suite *s, const char *globs, int shard, struct fw_err *err);

struct shard_counts {
	int number, of;         /* 0 the push's shard; others off-peak */
	int cells, suite_cells; /* of the comparison, and of the whole suite */
	int nights, measured;   /* off-peak periods in which all shards are measured; number measured */
};
/** Write the description. Shape: text[size]; 240 bytes are enough. */
void shard_describe(const struct shard_counts *p, char *text, size_t size);

/*
 * ---- toolchain_override ----
 * Toolchain of a side if it is not its worker's own: another folder of compilers, flags, or an existing module instead of a
 * build. Pure: only the worker checks that the folder exists.
 */

enum { TOOLCHAIN_OVERRIDE_DIR_SIZE = 200, TOOLCHAIN_OVERRIDE_FLAGS_SIZE = 120, TOOLCHAIN_TEXT_SIZE = 400 };

struct toolchain_override {
	char dir[TOOLCHAIN_OVERRIDE_DIR_SIZE]; /* folder whose compilers, in it or in its bin, come first; "" the worker's own */
	char flags[TOOLCHAIN_OVERRIDE_FLAGS_SIZE]; /* flags appended to every compiler call; "" none */
	char module[65];                   /* SHA-256 of a module in the worker's cache, used instead of a build; "" build */
	char made_by[TOOLCHAIN_TEXT_SIZE]; /* the toolchain that built that module, as the worker reports it */
};

/** True if it changes nothing: the worker's own toolchain builds. */
bool toolchain_override_is_none(const struct toolchain_override *w);
bool toolchain_override_is_same(const struct toolchain_override *a, const struct toolchain_override *b);
/** Describe the fault of a folder, or of flags, as a predicate; NULL none. "" is valid. */
const char *toolchain_override_wrong_dir(const char *dir);
const char *toolchain_override_wrong_flags(const char *flags);

/* ---- worker: State of the workers, for status pages. ---- */

/** All texts are valid during the call. */
struct worker_status {
	const char *name;
	int slot;               /* index among its concurrent jobs, from 0 */
	const char *state;      /* "down" "starting" "free" "pending" "busy" */
	const char *aim;        /* use of its allocations: "build" "measure"; "" both, or it has none */
	const char *why;        /* reason why it is down, or its allocation is pending; "" else, or unknown */
	const char *allocation; /* the scheduler's id of a pending allocation; "" unknown, or none is pending */
	int position;           /* position in the scheduler's queue, from 1; 0 unknown */
	const char *version;    /* "" before its first hello */
	const char *device;     /* current device; "" none */
	int64_t job;
	int n_read_only; /* folders of its machine that branch code may read */
	const char (*read_only)[READONLY_PATH_SIZE];
};
typedef void worker_status_fn(void *to, const struct worker_status *worker);

/** Report a queued job that no device can run now: the reason and the remedy, in a line. */
typedef void worker_unschedulable_fn(void *to, int64_t job, const char *why);

#endif
