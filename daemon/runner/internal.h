/** internal.h - declarations that the files of this folder share. */
#ifndef RUNNER_INTERNAL_H
#define RUNNER_INTERNAL_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernels/fw_kernel.h"
#include "lib/lib.h"
#include "model/model.h"
#include "profile/profile.h"
#include "protocol/protocol.h"
#include "runner/activity_abi.h"
#include "runner/cupti_abi.h"
#include "runner/runner.h"
#include "runner/sampling_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cupti: NVIDIA's library for GPU counters, loaded on first use: a runner must start, and time, without it. ---- */

/** Its functions; all are set once cupti_open has returned 0. They return a code for cupti_check. */
struct cupti {
	int (*version)(uint32_t *out);
	int (*initialize)(struct cupti_plain *);
	int (*finish)(struct cupti_plain *);
	int (*chip)(struct cupti_chip *);
	int (*availability)(struct cupti_availability *);
	int (*host_open)(struct cupti_host *);
	int (*host_close)(struct cupti_host_end *);
	int (*metric)(struct cupti_metric *);
	int (*add_metrics)(struct cupti_metrics *);
	int (*config_size)(struct cupti_config_size *);
	int (*config)(struct cupti_config *);
	int (*passes)(struct cupti_passes *);
	int (*values)(struct cupti_values *);
	int (*enable)(struct cupti_enable *);
	int (*disable)(struct cupti_on *);
	int (*counter_size)(struct cupti_counter_size *);
	int (*counter_image)(struct cupti_counter_image *);
	int (*set)(struct cupti_setting *);
	int (*start)(struct cupti_on *);
	int (*stop)(struct cupti_stop *);
	int (*decode)(struct cupti_decode *);
	int (*info)(struct cupti_info *);
};

struct cupti_sampling {
	int (*enable)(struct sampling_on *);
	int (*disable)(struct sampling_on *);
	int (*start)(struct sampling_on *);
	int (*stop)(struct sampling_on *);
	int (*count)(struct sampling_count *);
	int (*names)(struct sampling_names *);
	int (*set)(struct sampling_setting *);
	int (*get)(struct sampling_get *);
};

struct cupti_activity {
	int (*callbacks)(activity_lend_fn *, activity_back_fn *);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush)(uint32_t how);
	int (*next)(uint8_t *buffer, size_t valid, void **record);
};

/** Load it, once a process. Err: ERR_UNSUPPORTED it is missing or too old, with the package to install. Own: never freed. */
int cupti_open(const struct cupti **out, struct fw_err *err);
/** Load the sampler's functions, which older versions have too. */
int cupti_sampling_open(const struct cupti_sampling **out, struct fw_err *err);
int cupti_activity_open(const struct cupti_activity **out, struct fw_err *err);
/** Write "CUPTI 130001". Shape: out[size]. */
void cupti_name(const struct cupti *c, char *out, size_t size);

/** Return 0 for code 0, else -1 and an error with the cause of a function's code and the remedy. Err: ERR_UNSUPPORTED. */
int cupti_check(int code, const char *function, struct fw_err *err);

/*
 * ---- activity ----
 * Start and end of each kernel of a call, from the driver's tracer, which needs no privilege.
 *
 * There is one tracer per process: the library's callbacks do not identify it.
 */

enum { ACTIVITY_KERNELS_MAX = 512 };

struct activity {
	const struct cupti_activity *cupti;
	bool is_on;
	int n; /* if above ACTIVITY_KERNELS_MAX, the rest was dropped */
	struct activity_seen {
		uint64_t start_ns, end_ns;
		int grid[3];
	} kernel[ACTIVITY_KERNELS_MAX]; /* by start */
};

/*
 * ---- hoststate ----
 * Process state that a module can change besides its device: signal handlers, blocked signals, timers, the
 * measuring thread's cores and priority, limits, system call filters, children.
 *
 * A snapshot is the required state; hoststate_set_back restores it and reports differences. Without a difference that takes
 * some ten microseconds, so it can follow every timed call.
 */

enum { HOSTSTATE_SIGNALS = 65, HOSTSTATE_TIMERS_MAX = 16, HOSTSTATE_LIMITS = RLIM_NLIMITS };

struct hoststate {
	struct sigaction handler[HOSTSTATE_SIGNALS]; /* [signal number] */
	sigset_t blocked;
	int n_timers; /* armed timers of the process, with or without handle */
	int timer[HOSTSTATE_TIMERS_MAX];
	cpu_set_t cores;
	int policy, priority, nice;
	int huge_pages, store_bypass; /* prctl: transparent huge pages are off; speculative store bypass */
	int no_new_privs, adopts;     /* prctl: no new privileges; orphans become its children */
	int filters;                  /* seccomp filters of the calling thread; below 0: number unknown */
	int timer_slack;              /* prctl; ns */
	struct rlimit limit[HOSTSTATE_LIMITS];
};

void hoststate_take(struct hoststate *s);
enum hoststate_end { HOSTSTATE_STAYS, HOSTSTATE_RESTORED, HOSTSTATE_HARMLESS /* it stays, but slows no call; `s` has it now */ };
/** Report one difference, such as "its handler of signal 14". */
typedef void hoststate_changed_fn(void *arg, const char *what, enum hoststate_end end);
/** Compare with `s`, restore what differs, and report each difference. */
void hoststate_set_back(struct hoststate *s, hoststate_changed_fn *changed, void *arg);

/** Make orphaned descendants children of this process, so that none is hidden. Call once, before any module is loaded. */
void hoststate_adopt(void);
/** End every child that still runs or sleeps. Returns the pid of one; 0 none. Children that exited stay zombies. */
pid_t hoststate_end_children(void);

/*
 * ---- own_code ----
 * Whether a module changed the runner's table of imported functions, its code or that of its libraries: then the runner's clock,
 * copies or records could be another's.
 *
 * Imports are compared between a call's end and its mark, so that a replaced clock is seen; code that changes itself back before
 * the next comparison is not.
 */

struct failure;

/* Scope of the comparison: the addresses of imported functions, 0.2 us; all constant tables, 11 us; all code too, 0.3 ms. */
enum own_code_depth { OWN_CODE_IMPORTS, OWN_CODE_TABLES, OWN_CODE_ALL };

/** Take the sums of this process's objects. Call it before any module is loaded. */
void own_code_take(void);
/** Note that code of a side runs: a change that is found later may be its own. */
void own_code_ran(enum role role);
/**
 * Return 0 if nothing has changed, or no sums were taken, else -1 with failure "forged" and f->lost: later calls would run the
 * changed code. Of changed code f->by is the side that ran since the last comparison of all code; of several the target, since the
 * base ran alone before. If only single bytes became breakpoints, as a debugger or a probe of the kernel sets them, the failure is
 * "unsure", of no side: a module may set them too, so nothing is decided.
 */
int own_code_check(enum own_code_depth depth, struct failure *f);

/*
 * ---- record ----
 * The runner's records: protocol lines on one descriptor, 3 in a real run.
 *
 * Each record is written at once and whole: none is missing if the process dies. Standard output belongs to branch code
 * and is never used here.
 */

struct records {
	int fd; /* -1: records are dropped */
	int run;
	char signature[SIGNATURE_KEY + 1]; /* "" none */
	unsigned long long n;
	struct buf line;
	bool failed; /* the reader is gone */
	bool waits;  /* a socket, on which the worker answers record_request_inspection */
};

/** Use descriptor `fd`, and close it on exec. Err: ERR_IO it is not open. Own: records_fini; the descriptor stays open. */
int records_init(struct records *r, int fd, int run, struct fw_err *err);
/** Sign each further line with this key (protocol/signature.c), so that lines written by branch code are detected. */
void records_signature(struct records *r, const char *signature);
void records_fini(struct records *r);

/** Report the current step, before every step in which branch code could die. `role` ROLE_NONE: no single side. */
void record_at(struct records *r, int cell, enum role role, const char *step);
/**
 * Request that the worker compare this process and its children from outside, and wait for it. `role`: the side whose code is
 * done; ROLE_NONE before any module is loaded, for the baseline. Only if records go to a socket, as from a worker.
 */
void record_request_inspection(struct records *r, int cell, enum role role);
/** Report a failure. `cell` -1: no single cell. `detail` is cut to fit. */
void record_fault(struct records *r, int cell, enum role role, const char *failure, const char *detail);
/** Report information that decides nothing. `cell` -1: no single cell; `role` ROLE_NONE: no side caused it. */
void record_note(struct records *r, int cell, enum role role, const char *text);
/** Send any other record. */
void record_send(struct records *r, const struct msg *m);

/*
 * ---- module ----
 * A kernel library and its provider for a problem.
 *
 * All data of a library is checked before use: ABI number, sizes of its tables, names, missing functions.
 */

enum { MODULE_PROVIDERS_MAX = 32 };

struct module {
	void *handle; /* of dlopen */
	uint32_t abi; /* FW_ABI, or 1 */
	int n;
	struct fw_provider provider[MODULE_PROVIDERS_MAX]; /* copies; members that the library's table lacks are 0 */
};

/**
 * Load a shared object with RTLD_LOCAL and all symbols bound. `path` may be /proc/self/fd/N. Falls back to ABI 1. Err:
 * ERR_INVALID it does not load, has no fw_entry, another ABI or a broken table. Own: module_close.
 */
int module_open(struct module *m, const char *path, struct fw_err *err);
void module_close(struct module *m);

/** Call can, plan or count of a provider with the problem in its ABI. Err: FW_UNSUPPORTED its ABI has no such problem. */
int module_can(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, char *why, size_t why_size);
int module_plan(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	int index, struct fw_plan **plan, struct fw_info *info, char *why, size_t why_size);
int module_count(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	const struct fw_io *host, struct fw_work *work);

/**
 * Find the provider `name`, or for "" the first that supports the problem on this kind of device. Returns NULL with `err`:
 * ERR_UNSUPPORTED with every provider's reason, ERR_NOT_FOUND no provider has that name.
 */
const struct fw_provider *module_choose(
	const struct module *m, const char *name, int32_t abi_device, const struct fw_problem *problem, struct fw_err *err);

/*
 * ---- device ----
 * Interface between the runner and a device; cpu.c (also the simulated one) and cuda.cu implement it.
 *
 * A device owns one context and one stream. It gives times as float32 milliseconds between two marks on its stream. `sim`
 * computes on the CPU but makes its times from the work that a module reports and the noise of a recorded trace; all of its
 * clocks are simulated, so a run on it is the same on every machine.
 */

struct device;

/**
 * Effect of a call on device sim: its work, and the traits of a test module (side.c). Zeros: no traits. A share
 * `slow_share` of all calls takes `slow_factor` times as long. Work that is done once takes `once_factor` times as long.
 */
struct device_work {
	double flops, power_w, host_us, slow_share, slow_factor, once_factor;
};

/** A setting, or foreign memory in use. Within `slack` of its old value it is unchanged. */
struct device_setting {
	const char *name;
	int64_t value, slack;
	bool can_set;
};

enum { DEVICE_SETTINGS_MAX = 8 };

/** One node of a captured phase, as in struct msg_node. Strings are the caller's. */
struct device_node {
	const char *kernel; /* readable name */
	const char *symbol; /* mangled; NULL: no kernel, or unknown */
	int sm;             /* architecture of its code: 90; 0 unknown */
	int grid[3], block[3], registers, local_bytes, shared_bytes;
	int ctas_per_sm; /* blocks that fit on a multiprocessor together; 0 unknown */
	bool is_kernel;  /* else a copy, a fill or a host function */
};
typedef void device_node_fn(void *arg, const struct device_node *node);

/** Number of slots of marks and of stamps, and bytes of a redzone. */
enum { DEVICE_MARKS_MAX = 1024, DEVICE_STAMPS_MAX = DEVICE_MARKS_MAX / 2, DEVICE_REDZONE_BYTES = 4096 };

/** Return the byte at offset `i` of every redzone. */
static inline unsigned char device_redzone_byte(size_t i)
{
	return (unsigned char)(0xc3u ^ (unsigned)(i * 29u));
}

struct device_ops {
	enum device_kind kind;
	int32_t abi_device; /* enum fw_device that providers must have */
	bool clocks;        /* a call's mhz is known */
	bool queues;        /* enqueue returns before the work is done */

	/** Describe device `index`. Err: ERR_NOT_FOUND no such device; other codes: it exists and does not work. */
	int (*describe)(int index, struct msg_device *out, struct fw_err *err);
	/** Open a device. Own: close. `seed` is that of the run; only sim uses it. */
	int (*open)(int index, uint64_t seed, struct device **out, struct fw_err *err);
	void (*close)(struct device *);
	/** Return the `index` argument of plan: CUDA ordinal, or number of CPU threads. */
	int (*plan_index)(const struct device *);

	/** Allocate a buffer between two redzones, 4 KiB aligned; the second zone follows its last byte. Own: release. */
	int (*alloc)(struct device *, size_t bytes, void **out, struct fw_err *err);
	/** Free a buffer, or cache it for a later alloc. Accepts NULL. */
	void (*release)(struct device *, void *);
	/**
	 * Wait, then check both redzones of every live buffer. Err: ERR_INVALID, the first damaged buffer in `*which`; zones
	 * are repaired.
	 */
	int (*guards)(struct device *, void **which, struct fw_err *err);

	/** Copies that wait for the stream first, and end before they return. */
	int (*upload)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	int (*download)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	/** Wait, then sum up every byte with its position: equal sums mean equal contents. Units: bytes is a multiple of 2. */
	int (*checksum)(struct device *, const void *data, size_t bytes, uint64_t *sum, struct fw_err *err);

	/*
	 * Searches and copies that would otherwise read a whole tensor over the bus. NULL where host memory is the device's own.
	 * Each waits for the stream first, and ends before it returns.
	 */
	/** Find the first NaN or infinite element among `n` of bf16, or of fp32 if `is_fp32`; `*index` -1: none. */
	int (*find_nonfinite)(struct device *, const void *data, size_t n, bool is_fp32, int64_t *index, struct fw_err *err);
	/** Find the largest magnitude among `n` elements of bf16. NaN counts as the largest. */
	int (*find_largest)(struct device *, const void *data, size_t n, float *largest, struct fw_err *err);
	/**
	 * Copy `rows` rows of `width` bytes, `pitch` bytes apart, to the host. Units: width and pitch are multiples of 2. Shape:
	 * to[rows][width].
	 */
	int (*download_rows)(
		struct device *, void *to, const void *from, size_t pitch, size_t width, size_t rows, struct fw_err *err);

	/* All of these are asynchronous on the stream. */
	/** Fill elements [0, n) with inputs_stream(seed, tensor) as bf16. */
	int (*fill_inputs)(struct device *, void *to, uint64_t seed, uint32_t tensor, size_t n, struct fw_err *err);
	/** Fill every byte with `value`. */
	int (*fill_bytes)(struct device *, void *to, int value, size_t bytes, struct fw_err *err);
	int (*copy)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	/** Overwrite twice the last-level cache. */
	int (*scrub)(struct device *, struct fw_err *err);

	/** Return the driver's context, for tools that read counters, and the number of its device. NULL: no such context. */
	void *(*context)(struct device *, int *driver_index);
	/** Return the `stream` argument of enqueue: cudaStream_t, or NULL. */
	void *(*stream)(struct device *);
	/** Mark a moment on the stream in `slot` (0 .. DEVICE_MARKS_MAX - 1). */
	int (*mark)(struct device *, int slot, struct fw_err *err);
	/** Stamp the clocks of every SM: before a call (end 0) and after it (end 1), in `slot` (0 .. DEVICE_STAMPS_MAX - 1). */
	int (*stamp)(struct device *, int slot, int end, struct fw_err *err);
	/** Wait until the stream has passed a mark. */
	int (*wait_mark)(struct device *, int slot, struct fw_err *err);
	/** Return whether wait_mark would return at once. NULL: it always would. */
	bool (*passed_mark)(struct device *, int slot);
	/** Wait until the stream is done. Err: ERR_INVALID a kernel failed; this process cannot use the device after that. */
	int (*wait)(struct device *, struct fw_err *err);
	/**
	 * Wait for the stream, then for other work of this process: other streams; on a CPU, other threads for a moment.
	 * `*late_us`: how long that took after the stream was done. Err: as wait.
	 */
	int (*settle)(struct device *, double *late_us, struct fw_err *err);
	/** Return the ms between two marks. Requires wait. */
	float (*elapsed_ms)(struct device *, int from_slot, int to_slot);
	/** Return the mean SM clock between the stamps of `slot`; 0 unknown. Requires wait. */
	float (*clock_mhz)(struct device *, int slot);
	/** Return the host clock; sim's own advances with its work. Units: us, any origin. */
	double (*host_us)(struct device *);
	/** sim only (NULL elsewhere): advance the clocks by a call's time on the device and on the host. */
	void (*work)(struct device *, const struct device_work *);

	/**
	 * Capture the stream work of `enqueue(arg, stream)` into a graph, report its nodes, discard it. A device without queue
	 * just calls it. Err: ERR_INVALID it failed, allocated or synchronised.
	 */
	int (*capture)(struct device *, int (*enqueue)(void *arg, void *stream), void *arg, device_node_fn *node, void *node_arg,
		struct fw_err *err);

	/** Start or stop a profiler's range. */
	void (*profiler)(struct device *, bool start);
	/** Read power, temperature, clock, limit reasons, foreign processes, XIDs, memory errors; skip unknown fields. */
	void (*device_check)(struct device *, struct msg_device_check *out);
	/**
	 * Read device `index`, which this process has not opened: all processes on it are foreign, `who` names them, and memory
	 * errors count from the driver's start. NULL: no driver to read.
	 */
	void (*read_idle)(int index, struct msg_device_check *out, char *who, size_t size);
	/** Return the SM clock of the device of this uuid, open or not, under load; -1: no load. NULL: no driver to read. */
	double (*busy_mhz)(const char *uuid);
	/** Return the energy used so far, any origin. -1: unknown. NULL: no driver to read. Units: J. */
	double (*energy_j)(struct device *);
	/**
	 * Read settings that outlive a module's calls and change the cost of later ones. `quick`: only the first ones, cheap
	 * enough for every call. Shape: out[DEVICE_SETTINGS_MAX]. Returns their number.
	 */
	int (*settings)(struct device *, bool quick, struct device_setting *out);
	/**
	 * Return the device memory in use besides the buffers of alloc, by any user. -1: unknown. NULL: no driver to read. May
	 * wait for the device, so never call it during timing.
	 */
	int64_t (*taken_bytes)(struct device *);
	/** Restore setting `which` if possible. */
	void (*set_back)(struct device *, int which, int64_t value);
};

/** Find "cuda:0", "cpu:0", "cpu", "sim:0" or a uuid. Err: ERR_NOT_FOUND, with the list of devices. */
int device_find(const char *name, const struct device_ops **ops, int *index, struct fw_err *err);
typedef void device_left_out_fn(const char *address, const char *why);
/**
 * List all devices, cuda before cpu before sim. Returns their number. Reports devices that cannot be described to `left_out`
 * (NULL: not).
 */
int device_list(struct msg_device *out, int max, device_left_out_fn *left_out);

extern const struct device_ops device_cpu;
extern const struct device_ops device_sim;
#ifdef FW_HAVE_CUDA
extern const struct device_ops device_cuda;
#endif

/*
 * ---- input_variant ----
 * Different inputs for each call at the cost of restoring them: rows from another offset of the masters.
 *
 * Each tensor that the family lets roll is rolled by its own number of rows, so every row of every result changes, and no
 * result or input copy of an earlier call is valid. A tensor of few rows is rolled by elements, across its rows. A forward's
 * results belong to the inputs of that forward: the named ones, or those of a second, rolled forward.
 */

struct problem;
struct failure;

/**
 * Return how an input changes from call to call. In a direction that needs a forward, an input that only the forward reads is
 * SLOT_ROLLS_FORWARD if rolling it leaves the forward's other results valid.
 */
enum slot_change variant_change(const struct problem *p, int slot);

/** Offsets of one set of inputs. Zeros: the named inputs. */
struct input_variant {
	bool second;                    /* use the second forward's results */
	int32_t roll[FAMILY_SLOTS_MAX]; /* offset of the first element in the master, in steps */
	size_t shift[FAMILY_SLOTS_MAX]; /* bytes in addition, less than a row: then no row is one of the master's */
	uint64_t sum[FAMILY_SLOTS_MAX]; /* checksums of these inputs, set by variant_sum */
};

/** Return the bytes of a step: a row, or part of one if there are too few rows. */
size_t variant_step(const struct problem *p, int slot);
/** Return the number of shifts of a slot, which are multiples of 16 bytes; 1: only 0, since a step is no row, or there is one row. */
size_t variant_shifts(const struct problem *p, int slot);
enum { VARIANT_SHIFT_BYTES = 16 };
/** Set all inputs. Asynchronous. */
int variant_inputs(struct problem *p, const struct input_variant *a, struct fw_err *err);
/** Set one input. Asynchronous. */
int variant_slot(struct problem *p, int slot, const struct input_variant *a, struct fw_err *err);
/** Set all inputs, wait, and store their checksums in `a`. */
int variant_sum(struct problem *p, struct input_variant *a, struct fw_err *err);

/**
 * Make forward_run run a second time with inputs rolled as in `rolled`. Err: out of memory; then there is no second forward.
 */
int variant_add_second(struct problem *p, const struct input_variant *rolled, struct fw_err *err);

/*
 * ---- problem ----
 * One cell's tensors on a device: inputs with their masters, outputs, and data laid out by the family.
 *
 * All sides of a run share the buffers. A side may only write outputs: inputs are restored before each call, and their
 * checksums show afterwards whether the last call wrote to them.
 */

struct problem_slot {
	enum slot_use use;
	bool is_forwards; /* an input of the needed forward that the cell's direction does not read */
	void *data;       /* the sides' copy */
	void *master;     /* inputs: restored from here */
	void *second;     /* SLOT_FORWARD: result of the second forward; else NULL */
	void *laid;       /* SLOT_LAID: host copy */
	size_t bytes;
};

struct problem {
	const struct device_ops *ops;
	struct device *dev;
	const struct family *family;
	struct cell cell;
	union {
		unsigned char bytes[FAMILY_ABI_BYTES];
		max_align_t aligned;
	} sizes, forward_sizes;        /* the family's structs of the kernel ABI */
	struct fw_problem abi;         /* points at sizes */
	struct fw_problem forward_abi; /* the same case forward */
	struct cell forward_cell;
	struct problem_slot slot[FAMILY_SLOTS_MAX];
	struct fw_tensor tensor[FAMILY_SLOTS_MAX];      /* arguments of bind */
	struct fw_tensor host_tensor[FAMILY_SLOTS_MAX]; /* arguments of count */
	struct input_variant named;                     /* named inputs of the cell, with checksums of the masters */
	struct input_variant second;                    /* inputs and results of the second forward, if a forward is needed */
	struct input_variant now;                       /* inputs as last set */
	bool needs_forward;                             /* some inputs are results of the forward */
	bool varied;                                    /* there is a second forward */
	char input_sha256[HASH_HEX];
};

/**
 * Allocate and fill. Inputs that are results of a forward are filled by problem_copy_forward after the caller has run one. Err:
 * out of memory. Own: problem_close, also after an error.
 */
int problem_open(
	struct problem *p, const struct device_ops *ops, struct device *dev, const struct cell *cell, struct fw_err *err);
void problem_close(struct problem *p);

/** Lay out another problem of the same sizes, such as another mask. `cell` becomes that case. */
int problem_second(struct problem *p, struct fw_err *err);
bool problem_has_second(const struct problem *p);

/**
 * Return the amount of work that the laid slots retain, and the total in `*of`, 0 if none is left out; and count the mask in
 * tokens.
 */
int64_t problem_kept(const struct problem *p, int64_t *of, struct mask_counts *counts);
/** Return the bytes of the tensors that a call reads and writes. */
int64_t problem_tensor_bytes(const struct problem *p);

/** Restore the named inputs. Asynchronous. */
int problem_restore(struct problem *p, struct failure *f);
/** Fill every byte of every output; 0xff makes NaN of bf16 and fp32. Asynchronous. */
int problem_poison(struct problem *p, int value, struct failure *f);
/** Make a forward's results the masters of their slots: for p->second, or the named inputs. Asynchronous. */
int problem_copy_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait, and store the checksums of an accepted forward's results. */
int problem_sum_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait; return the first slot whose master has changed since it was filled or accepted, -1 none. */
int problem_damaged(const struct problem *p, int *slot, struct fw_err *err);
/** Wait; return NULL if all inputs are as set (restored, or by variant_sum), else the name of the first changed one. */
int problem_modified(struct problem *p, const char **name, struct fw_err *err);
/** Wait; return one checksum over all outputs. */
int problem_outputs_sum(struct problem *p, uint64_t *sum, struct fw_err *err);
/** Return "O", "block bits", ... for a buffer's address; NULL: not this problem's. */
const char *problem_name(const struct problem *p, const void *data);

/** Return "run", "prepare", ... for one bit of the phases. */
const char *problem_phase_name(const struct problem *p, uint32_t phase);

/** Fill the family's arguments to check results, of the problem or of its forward. Own: borrows the problem. */
void problem_check_io(const struct problem *p, enum direction direction, struct check_io *io);

/*
 * ---- side ----
 * One module under test, and its plan for the current cell.
 *
 * Every failure of branch code becomes a struct failure: one of the protocol's classes and one line of text.
 */

/** A failure; `name` "": none. */
struct failure {
	char name[16]; /* "abi" "unsupported" "provider" "crash" "wrong" "oob", or "device" if the device itself refuses */
	char detail[512];
	bool lost;    /* the device's context failed, or the process is not as it was: nothing more can run in it */
	enum role by; /* the cause, if not the side of the call; ROLE_NONE: that side */
};

/** Set a failure unless one is set already. Returns -1. */
int failure_set(struct failure *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Set the failure of a device operation: "crash" if its context failed, else "device". Returns -1. */
int failure_device(struct failure *f, const struct problem *p, const struct fw_err *err);

struct side {
	enum role role;
	char provider_name[PEERS_PROVIDER_SIZE]; /* "": the module's default */
	const char *pin; /* configuration for plan of the problem itself; NULL: it chooses. Own: the caller's */
	bool is_request; /* `pin` is a user's: its terms without a key in the provider's configuration are left out */
	struct module module;
	bool loaded;

	/* of the current cell */
	struct problem *problem;
	const struct fw_problem *abi; /* the problem's, forward or backward */
	const struct fw_provider *provider;
	struct fw_plan *plan;
	uint32_t phases;
	uint32_t ahead, timed, behind; /* phases done once, before a call's time begins; phases of a call; phases after it */
	size_t workspace_bytes, persist_bytes;
	void *workspace, *persist;
	struct fw_tensor tensor[FAMILY_SLOTS_MAX]; /* arguments of bind */
	char config[160];
	struct tried tried; /* from its search; owned, until the next plan for the problem itself */
	bool has_work;      /* count answered */
	struct fw_work work;
	double flops;   /* issued; useful ones if count has no answer */
	bool pass_time; /* sim: enqueue only advances time */
};

int side_load(struct side *s, enum role role, const char *module, const char *provider, struct failure *f);
/** Unplan and close the module. Accepts a zeroed side. */
void side_unload(struct side *s);

/**
 * Choose the provider, plan, allocate workspace. `direction` forward is also valid for a backward problem: it computes the
 * inputs that the problem starts from. Own: side_unplan, also after a failure.
 */
int side_plan(struct side *s, struct problem *p, enum direction direction, struct failure *f);
void side_unplan(struct side *s);
/**
 * Plan again with the configuration that the first plan chose, which must choose it again: shows that a search's result can be
 * used in other processes. Clears `pin`. Own: as side_plan.
 */
int side_plan_again(struct side *s, struct failure *f);
/** Request from the provider its work on this problem's mask: fills work and flops. Takes host time; plan does it on sim only. */
void side_count(struct side *s);
int side_bind(struct side *s, struct failure *f);
int side_enqueue(struct side *s, uint32_t phases, struct failure *f);
/**
 * Run the phases that are done once, after inputs are set, while the inputs that they must not depend on hold byte `filler`.
 */
int side_ahead(struct side *s, int filler, struct failure *f);
int side_timed(struct side *s, struct failure *f);
/** Enqueue the phases after the timed ones, to complete the result. */
int side_behind(struct side *s, struct failure *f);
/** Record a mark on the side's device. */
int side_mark(struct side *s, int slot, struct failure *f);
int side_wait(struct side *s, struct failure *f);
/** After a wait, check for writes to inputs and outside buffers. */
int side_stayed_inside(struct side *s, struct failure *f);
struct side_way {
	const struct input_variant *inputs; /* with checksums; NULL: the named inputs */
	int poison, workspace_fill;         /* bytes */
	bool one_by_one;                    /* one phase after the other instead of all at once */
	bool cold;                          /* as timed calls: displaced cache, clock stamps in slot 0 */
};
/**
 * Make one whole call: set inputs, fill outputs and workspace with bytes, enqueue, wait, check for stray writes. Marks 0 and 1
 * surround its work.
 */
int side_call(struct side *s, const struct side_way *way, struct failure *f);

/* ---- runner: State shared by all modes: the device, the loaded sides, random numbers, and the failure records. ---- */

/** Exit statuses of a run other than 0 and 2. RUNNER_LOST: a fault record reported the failed device. */
enum { RUNNER_ERROR = 1, RUNNER_LOST = 3 };

struct runner {
	const struct msg_task *task;
	struct records *records;
	const struct device_ops *ops;
	struct device *dev;
	int n_sides;
	struct side side[PROTOCOL_SIDES_MAX];               /* in the run's order; `loaded` false after a fault */
	uint64_t random;                                    /* state of runner_random */
	struct device_setting setting[DEVICE_SETTINGS_MAX]; /* before one module's code runs alone (leaked_state.c) */
	int n_settings;
	struct hoststate host;             /* before any module was loaded */
	bool reported[PROTOCOL_SIDES_MAX]; /* changes of a side in timed calls were reported */
	int64_t held[PROTOCOL_SIDES_MAX];  /* bytes that each side holds besides its requested buffers */
	bool lost;                         /* nothing more can run in this process */
	int at_cell;                       /* as in the last `at` record */
	enum role at_role;
};

/**
 * Open the device and load every side, in a random order by the seed. A module that does not load gets a fault record and
 * stays unloaded. Err: the device is missing or has no memory. Own: runner_close, also after an error.
 */
int runner_open(struct runner *r, const struct msg_task *task, struct records *records, struct fw_err *err);
void runner_close(struct runner *r);

/** Return the next number of the run's stream, below `n`. */
uint32_t runner_random(struct runner *r, uint32_t n);
/** Return an unpredictable seed; the task's if a run must be the same on every machine (sim). */
uint64_t runner_secret(const struct runner *r);
/** Make a random order of 0..n-1. Shape: order[n]. */
void runner_shuffle(struct runner *r, int *order, int n);

/** Set the pinned configuration of a side in cell position `i`. Own: the run's. */
void runner_pin(const struct runner *r, int i, struct side *side);

/** Report the current step. `i` is a position in task->cell (-1: none), `side` NULL: no single side. */
void runner_at(struct runner *r, int i, const struct side *side, const char *step);
/** Read the driver's state for pass `pass` of cell position `i`; records a failed device. */
void runner_device_check(struct runner *r, int i, int pass, struct msg_device_check *out);
/** Report a failure of a side (NULL: no single side) in cell position `i`; records a failed device. */
void runner_fault(struct runner *r, int i, const struct side *side, const struct failure *f);
/** Report an error of the runner itself in cell position `i`; records a failed device. */
void runner_error(struct runner *r, int i, const struct fw_err *err);

/* ---- audit: Batches of calls for a clock outside this process. ---- */

/** Descriptor of the supervisor's go, one byte a batch. */
enum { MODE_AUDIT_GO_FD = 4, MODE_AUDIT_PAIRS = 5 };

/**
 * For every cell and side make MODE_AUDIT_PAIRS times about K and about 3K calls back to back, sides interleaved: a
 * record `ready`, a wait for the go, the calls, a record `done` with the device's own time. Checks the last result of every
 * batch. Returns an exit status.
 */
int mode_audit_run(struct runner *r);

/* ---- capture: Mode capture: calls of one cell between cudaProfilerStart and cudaProfilerStop, for ncu and nsys. ---- */

/** Arguments of `flopwatch-runner --capture`. */
struct capture_options {
	const char *cell; /* key of a cell of the suite, or a cell as JSON, which needs no suite */
	const char *module, *suite, *device, *provider;
	const char *config; /* passed to the provider; "" it chooses */
	int calls, warmup;
	bool memory; /* print a line of JSON: the memory in use before, during and after the calls */
	bool trace;  /* print another: a trace of further calls */
};

/**
 * Make the calls and print one line on stdout, without times under a profiler. Returns the exit status; errors are one line on
 * stderr.
 */
int mode_capture_run(const struct capture_options *o);

/* ---- trace: A timeline of a few calls, phase by phase, on the host and on the device. ---- */

/**
 * Make five calls of a planned and bound side, with an event mark after each phase, and print their timeline as one line of
 * JSON in Chrome's Trace Event Format. Marks separate the phases, so a call takes longer than a timed one.
 */
int trace_print(struct runner *r, struct side *u, const struct problem *p, const char *device, struct failure *f);

/*
 * ---- check ----
 * Mode check: test every cell of a module for right results and for the contract of the kernel ABI.
 *
 * Writes a `check` record for each side and cell, and for each planned cell `work` and, on CUDA, `node` records.
 */

/** Check all cells of all loaded sides. Returns the exit status of the process. */
int mode_check_run(struct runner *r);

/* ---- schedule: Assignment of counters to replays by CUPTI's host half, which needs no GPU. ---- */

struct schedule {
	const struct cupti *cupti;
	void *host;
	size_t n_names;
	const char **name; /* name[n_names]: the requested ones that this chip has; texts are the caller's */
	size_t config_bytes;
	uint8_t *config;
	int passes; /* replays of a call */
};

/**
 * Schedule `n` metrics on `chip` ("GH100"), without those that the chip lacks. `availability`: counters of the actual device,
 * NULL for all of its kind. Own: schedule_close, also after -1; `name` must outlive it. Err: ERR_UNSUPPORTED with a message.
 */
int schedule_open(struct schedule *s, const struct cupti *cupti, const char *chip, const uint8_t *availability,
	const char *const *name, size_t n, struct fw_err *err);
void schedule_close(struct schedule *s);

/*
 * ---- counter ----
 * Counters of each kernel of a call: the call is replayed as often as the counters need, and every kernel is a
 * range, in launch order.
 *
 * The caller makes the calls, each from the same state; nothing here saves or restores memory. Kernels are serialised
 * meanwhile, so times of such a call are meaningless.
 */

struct counter {
	const struct cupti *cupti;
	struct schedule schedule;
	bool is_initialized;
	void *profiler;
	size_t image_bytes, ranges; /* of a decoded image */
	uint8_t *image, *availability;
	bool is_done; /* every replay was made */
	int made;     /* replays so far */
};

/**
 * Prepare to read `n` metrics of up to `ranges_max` kernels on a driver context. `device`: its number there. Own:
 * counter_close, also after -1. Err: ERR_UNSUPPORTED with a message for the user.
 */
int counter_open(
	struct counter *c, void *context, int device, size_t ranges_max, const char *const *name, size_t n, struct fw_err *err);
/** Begin a replay: the next work on the context is counted. */
int counter_begin(struct counter *c, struct fw_err *err);
/** End a replay whose work was waited for. Sets `is_done` after the last one. */
int counter_end(struct counter *c, struct fw_err *err);
/** Decode after the last replay; sets `ranges`. Err: some are missing. */
int counter_decode(struct counter *c, struct fw_err *err);
/** Read the values of range `i` (of `ranges`), in the order of schedule.name. Shape: value[schedule.n_names]. */
int counter_read(const struct counter *c, size_t i, double *value, struct fw_err *err);
void counter_close(struct counter *c);

/* ---- counters: `flopwatch-runner --counters`: test whether a device's counters can be read, and name the remedy if not. ---- */

/** Count one metric in one small kernel of ours. `out` receives the path "range" or "code", the reason, and the tool. */
void counters_try(const struct device_ops *ops, struct device *dev, struct msg_profile *out);

/**
 * Do the same for a named device, or the first with a context (NULL), and print one `profile` line. Returns the exit status.
 */
int mode_counters_run(const char *device);

/*
 * ---- crash ----
 * Position of a crash in a module, printed while the process dies.
 *
 * Prints one line on stderr for each frame in a module, innermost first: "flopwatch: crash in /proc/self/fd/10 at 0x1a2b". The
 * worker has the symbols and finds the source position. The process ends by the same signal as without the handler.
 */

/** Install the handler for this thread, and others whose stacks have space. Call once, before any module is loaded. */
void crash_watch(void);

/* ---- cublas_version: Version of the cuBLAS that modules on this machine would load. Needs no CUDA toolkit, and no GPU. ---- */

/** Write "13.1.0", or "" if there is none. Shape: out[size]. */
void cublas_version(char *out, size_t size);

/* ---- cudnn_version: Version of the cuDNN that modules on this machine would load. Needs no CUDA toolkit, and no GPU. ---- */

/** Write "9.13.0", or "" if there is none. Shape: out[size]. */
void cudnn_version(char *out, size_t size);

/*
 * ---- device_check_script ----
 * Readings that a test injects for devices sim and cpu, which have no driver.
 *
 * One rule per line, terms NAME=VALUE. `at` (time idle health_check clocks; default time), `run`, `cell` and `pass` select when
 * it applies ("2", or "1-3"; missing: always). The others are readings: reasons foreign xid ecc temp_c power_w sm_mhz, and
 * lost=1 for a failed context. No rule changes a time.
 */

enum device_check_at { DEVICE_CHECK_AT_TIME, DEVICE_CHECK_AT_IDLE, DEVICE_CHECK_AT_HEALTH_CHECK, DEVICE_CHECK_AT_CLOCKS };

/** Moment of a reading. `cell` is the job's number; `pass` counts redos from 0, for clocks processes of the run. */
struct device_check_moment {
	enum device_check_at at;
	int run, cell, pass;
};

/** Write the readings of every rule that applies into `g`. Returns whether the context failed. Unknown terms are ignored. */
bool device_check_script_apply(const char *script, const struct device_check_moment *when, struct msg_device_check *g);

/* ---- forward: The forward call that a backward problem starts from; its accepted results become inputs. ---- */

/** Comparison of a forward's results with their reference, see struct family_check. */
struct forward_check {
	uint64_t seed;
	double visits; /* of the first comparison; later ones use the fewest */
};

/**
 * Plan, bind, run and unplan the forward that a problem needs, and take its results as inputs; twice if the problem is varied.
 * A wrong result fails with "wrong". `check` NULL: results are not compared, for modes whose times decide nothing. Err: as
 * side.c, with "its forward: " in front.
 */
int forward_run(struct side *s, struct problem *p, const struct forward_check *check, struct failure *f);

/** Wait for the device and check that all masters, forward results included, are as accepted. Err: "oob", cause unknown. */
int forward_hold_inputs(const struct problem *p, struct failure *f);

/* ---- launched: Kernels of a call in order, and their phases, read from captured graphs. ---- */

struct launched {
	int n; /* nodes, kernels and others */
	int n_kernels;
	bool is_cut;             /* there were more than EVIDENCE_KERNELS_MAX */
	struct msg_kernel *node; /* node[n]; role, repeat and cell are set, values are not */
	bool *is_kernel;
};

/**
 * List the kernels of side `u`, planned and bound, in cell position `i`. Own: launched_free, also after -1. Err: the call
 * cannot be captured.
 */
int launched_list(struct launched *l, struct runner *r, int i, struct side *u, struct fw_err *err);
void launched_free(struct launched *l);

/* ---- kerneltimes: Time of each kernel of a call from the driver's tracer, if counters are not available. ---- */

/**
 * Trace a few calls of a planned and bound side, in cell position `i`, and set the median `ms` of each of its kernels.
 * Returns -1 with `err`: no times, or not those of the call's kernels, and none is set; with `f` (and `err`): the call failed.
 */
int kerneltimes_take(struct runner *r, int i, struct side *u, struct launched *l, struct failure *f, struct fw_err *err);

/*
 * ---- leaked_state ----
 * State that a module leaks into the shared process: device limits, persisting cache, rounding, threads,
 * memory, signal handlers, timers, priorities (hoststate.c).
 *
 * Each change is reported with its module in a `note` record and restored if possible before the next module runs. A permanent
 * change would affect the calls of others: "slowed", and the process ends, so that no other side is accused of it. A process left running works outside the timed calls: "escaped".
 */

/** Take a snapshot before one module runs alone, and before interleaved calls. */
void leaked_state_enter(struct runner *r);
/**
 * Report changes after one module ran alone. Memory is only counted, since a plan may hold some, until `end` states that the
 * side must hold none; then, and after loading, the worker compares processes too. `i` is a position in task->cell, -1 none.
 * Err: the side's fault.
 */
int leaked_state_leave(struct runner *r, int i, const struct side *side, bool end, struct failure *f);
/** Report changes after a timed call, done or queued: the quick settings, without memory. Once per side. */
int leaked_state_between(struct runner *r, int i, const struct side *side, struct failure *f);

/* ---- meter: Power from the driver's energy counter, which moves in coarse steps: between the first and the last step. ---- */

/** Observed steps of the counter. Initialise with METER_NEW. */
struct meter {
	double read_us, last_j, first_us, first_j, end_us, end_j;
	int steps;
};

#define METER_NEW                                                                                                                \
	{                                                                                                                        \
		.last_j = -1                                                                                                     \
	}

/* ---- nvml: The driver's monitoring library, loaded if present. Needs no CUDA toolkit; unreadable values are unknown. ---- */

enum { NVML_PIDS_MAX = 64, NVML_UUID_SIZE = 64 };

/** One reading. Units in the names; -1: unknown. */
struct nvml_reading {
	double power_w, temp_c, sm_mhz;
	double energy_j; /* since the driver was loaded */
	int64_t reasons; /* bits as in protocol/device_check.c */
	int64_t ecc;     /* uncorrected memory errors since the driver was loaded */
};

/** Load the library once. Returns 0, or -1 when it is absent; every other function then returns "unknown". */
int nvml_open(void);
/**
 * List UUIDs of computing devices: whole GPUs ("GPU-...") and, instead of a partitioned one, its instances ("MIG-..."). Shape:
 * uuid[max]. Returns their number; 0 if the driver does not report them.
 */
int nvml_list(char (*uuid)[NVML_UUID_SIZE], int max);
/** Write the driver version. Shape: out[size]; "" unknown. */
void nvml_driver(char *out, size_t size);
/** Write the VBIOS of the GPU of this UUID or instance; "" unknown. Shape: out[size]. */
void nvml_vbios(const char *uuid, char *out, size_t size);
/**
 * Read the GPU of this UUID. Takes some 10 ms on an H200. For an instance, temperature, clock and errors are its GPU's; power
 * and energy, which all instances share, are unknown.
 */
void nvml_read(const char *uuid, struct nvml_reading *out);
/**
 * Return the SM clock if the driver's last sample period had a kernel for at least half of its time; -1: not, or unknown.
 * Units: MHz. Takes less than 1 ms.
 */
double nvml_busy_mhz(const char *uuid);
/** Read the limits of the GPU. Units: W, MHz; -1 unknown. */
void nvml_limits(const char *uuid, double *power_w, double *sm_mhz);
/**
 * List processes with a compute context on it, without MPS servers, whose clients are listed too. Shape: pid[max]. Returns
 * their number, -1 unknown.
 */
int nvml_compute_pids(const char *uuid, unsigned *pid, int max);
/**
 * Find the caller, process `own`, among processes listed after it made its context: a pid namespace may change its number. 0:
 * ambiguous. Shape: before[n_before], after[n_after]; a negative number is an unknown list.
 */
unsigned nvml_own_pid(unsigned own, const unsigned *before, int n_before, const unsigned *after, int n_after);

/**
 * Return the energy used since the driver was loaded; -1 unknown, also for an instance. Units: J. Takes 3 to 7 ms on an H200.
 */
double nvml_energy_j(const char *uuid);
/**
 * Return the last XID that the driver reported for it, not for another instance of its GPU, since the previous call; 0 none.
 * The first call starts to listen.
 */
int nvml_xid(const char *uuid);

/*
 * ---- mig ----
 * Instances of partitioned GPUs (MIG), each measured as a separate device.
 *
 * CUDA shows a process one instance only, the first in CUDA_VISIBLE_DEVICES. So each instance is described in a separate
 * process, and a measuring process puts its device there before it calls CUDA.
 */

/** UUIDs of the available devices, in the order of "cuda:0", "cuda:1". */
struct mig_names {
	int n;
	char uuid[PROTOCOL_DEVICES_MAX][NVML_UUID_SIZE];
};

/**
 * List all GPUs and instances if at least one is an instance; n is 0 for whole GPUs only, which CUDA numbers itself.
 * CUDA_VISIBLE_DEVICES limits the list, as under a scheduler.
 */
void mig_names(struct mig_names *out);

/** Describe device `index` of this process. Returns 0, or -1 with `err`. */
typedef int mig_describe_fn(int index, struct msg_device *out, struct fw_err *err);
/** Describe each as the only device of a process; skip those that fail. Shape: out[max]. Returns their number. */
int mig_list(const struct mig_names *names, mig_describe_fn *describe, struct msg_device *out, int max);

/** Find "cuda", "cuda:1" or a UUID; -1 none. */
int mig_find(const struct mig_names *names, const char *name);
/** Make it device 0 of this process, which has not called CUDA yet. Err: ERR_FULL. */
int mig_enter(const struct mig_names *names, int which, struct fw_err *err);
/** Write the UUID of this process's instance. Shape: uuid[size]. Returns false for none or several. */
bool mig_own(char *uuid, int size);

/*
 * ---- mode_device ----
 * Modes idle, device_check, health_check and clocks: probes of the device without branch code in the process.
 *
 * idle: does another process compute on it? device_check: the same and all other readings, around times of other programs.
 * health_check: does it compute correctly, and does equal work take equal time? Each answers with one `state` record. clocks:
 * its clock, as long as the reader listens.
 */

/**
 * Modes idle and device_check: read a device that is not opened, so that this process is not on it. Returns the exit status of
 * the process.
 */
int mode_device_read_run(const struct msg_task *task, struct records *records);
/** Open the device, compute a known result, time the device against itself. Returns the exit status of the process. */
int mode_health_check_run(const struct msg_task *task, struct records *records);

/**
 * Write one record at the start, then the clock every 20 ms under load, until the reader is gone or this process is ended.
 * Devices without a driver have one record, with the clock that a test injects. Returns the exit status.
 */
int mode_clocks_run(const struct msg_task *task, struct records *records);

/*
 * ---- profile ----
 * Mode profile: the kernels of one side's call, and their counters. Kernels are serialised in such a process, so
 * its times decide nothing.
 */

/**
 * Write for every cell a record for each kernel of a call, in order, and one that states how its counters were read, or why not.
 * Returns an exit status.
 */
int mode_profile_run(struct runner *r);

/*
 * ---- range ----
 * Names of stages of a run for profilers, by NVTX if built with its headers, else nothing.
 *
 * All ranges are in domain "flopwatch". A cell's range has its key as registered string, so tools can select it (`nsys -c nvtx
 * -p 'KEY@flopwatch'`, `ncu --nvtx --nvtx-include 'flopwatch@KEY/'`, where each / of the key is written \/). Its category is
 * the side, its payload identifies the call. A phase has a nested range of category "phase". Without a profiler a range
 * takes a few nanoseconds.
 */

/** One call. The range's payload is `run`, `pass`, `call` and `seed`. */
struct range_call {
	const char *cell; /* key */
	enum role role;
	uint32_t run, pass; /* pass 0: warm-up calls */
	uint32_t call;
	uint64_t seed;
};

void range_cell(const struct range_call *call);
/** Begin a nested range, or one outside of a cell: "warm". */
void range_phase(const char *phase);
/** End the innermost range. */
void range_end(void);

/*
 * ---- sampler ----
 * Positions and stalls of a kernel's warps: the GPU samples a warp of each scheduler at a fixed interval. Kernels
 * are serialised meanwhile, so times of such a call are meaningless.
 */

enum { SAMPLER_REASONS_MAX = 64 };

struct sampler_function {
	char *symbol;               /* mangled */
	size_t n;                   /* instructions, up to the last sampled one */
	uint32_t *count;            /* count[n * reasons] */
	unsigned long long samples; /* sum */
};

struct sampler {
	const struct cupti_sampling *cupti;
	void *context;
	bool is_enabled;
	size_t n_names, reasons;           /* number in the library; number here */
	int of_index[SAMPLER_REASONS_MAX]; /* our index of the library's index i; -1 none */
	char reason[SAMPLER_REASONS_MAX][STALLNAME_SIZE];
	struct sampling_data got, unread; /* unread: samples that remain when the library stops; unused */
	size_t n;
	struct sampler_function *function; /* function[n] */
	unsigned long long dropped;
};

/* ---- settle: The state in which each call of a profile begins. ---- */

/** Restore inputs, poison outputs, displace the cache, as before a timed call, and wait. Returns -1 with `f`. */
int settle_state(struct runner *r, struct side *u, struct failure *f);

/* ---- verifier: A reference computed once for a problem and compared with any number of results. ---- */

struct verifier {
	const struct problem *problem;
	const struct family_check *check;
	struct check_io io; /* must not move while open */
	struct expected *expected;
};

/**
 * Compute the reference of `p` for its current inputs. `visits` as in struct family_check. Own: verifier_close, also after an
 * error.
 */
int verifier_open(
	struct verifier *v, const struct problem *p, enum direction direction, uint64_t seed, double visits, struct failure *f);
void verifier_close(struct verifier *v);
/** Compare the problem's outputs. `after` precedes the message: "with its phases one by one: ", or "". */
int verifier_result(const struct verifier *v, const char *after, struct accept_result *result, struct failure *f);

/*
 * ---- spot_check ----
 * Checks of random calls during timing.
 *
 * Every timed call has different inputs (input_variant.c), at no cost, so cached results are wrong. A few calls of a pass are
 * watched. They are timed like all others, on inputs with known results. Their outputs are copied when the device reports them
 * done, and must not change once all work that the module may have started elsewhere has ended ("escaped"; work outside the
 * call counts if two calls in a row have it). Their results must be right ("wrong": skipped, cached, partial, or computed only
 * when watched). Redzones, inputs, and the workspaces of other sides must be unchanged ("oob").
 *
 * A watched call takes a moment before and after, by which a module could recognise it. So there are also calls that only their
 * inputs distinguish: their outputs are copied on the stream, and compared after the timing.
 *
 * On a device with simulated times no call computes, and these functions do nothing.
 */

enum { SPOT_CHECK_BELONGINGS_MAX = 2 * PROTOCOL_SIDES_MAX, SPOT_CHECK_LATER_MAX = 4 };

/** Which inputs change from call to call. */
enum spot_check_change {
	SPOT_CHECK_ANY,    /* all that can; a forward's results are those of either forward */
	SPOT_CHECK_OTHER,  /* all that can; known inputs use the second forward */
	SPOT_CHECK_OTHERS, /* all that can but the first inputs; known inputs use the second forward */
	SPOT_CHECK_FIRST   /* the family's first inputs only */
};

/** Outputs of a call. NULLs: none. */
struct spot_check_copy {
	void *data[FAMILY_SLOTS_MAX];
};

struct spot_check {
	struct runner *runner;
	struct problem *problem;
	bool active;
	bool watching;     /* from spot_check_before to spot_check_after */
	bool binds;        /* calls start from an idle stream with bind right before them, as in series call */
	bool is_ambiguous; /* a finding of spot_check_before may be caused by any side since the last check */
	bool unnamed;      /* by any of them, and no further call can show by which */
	enum spot_check_change change;
	struct input_variant known; /* inputs of `verifier` */
	struct verifier verifier;
	struct spot_check_copy copy;
	struct spot_check_later {
		bool has_space, is_taken;
		bool is_any; /* its inputs are drawn as those of any unwatched call, and their reference is computed afterwards */
		struct input_variant any;
		struct spot_check_copy copy;
	} * next, /* of the call that is made now, if its inputs are drawn; else NULL */
		later[PROTOCOL_SIDES_MAX][SPOT_CHECK_LATER_MAX]; /* by position in runner->side */
	int n_belongings;                                        /* workspaces of the sides that do not run */
	struct {
		const struct side *owner;
		const void *data;
		size_t bytes;
		uint64_t sum;
	} belonging[SPOT_CHECK_BELONGINGS_MAX];
};

void spot_check_draw(struct runner *r, const struct problem *p, enum spot_check_change change, struct input_variant *out);
/** Write the names of the changing tensors: "Q", "K and V". Shape: out[size]. */
void spot_check_names(const struct problem *p, enum spot_check_change change, char *out, size_t size);
/** Add a second forward on other inputs if memory allows. Call before the forward of a problem. */
void spot_check_vary(struct runner *r, struct problem *p);
/**
 * Choose the inputs of watched calls and compute their reference, if the masters are as accepted. `visits` as in struct
 * family_check. Own: spot_check_close, also after an error. Err: "oob" if a master has changed, cause unknown.
 */
int spot_check_open(struct spot_check *w, struct runner *r, struct problem *p, enum spot_check_change change, double visits,
	struct failure *f);
void spot_check_close(struct spot_check *w);

/**
 * Prepare to watch the next call, of `u`: wait for the device, and record the state that `u` must not change. Err: "oob" if a
 * redzone, which is then repaired, or a master was damaged before, cause unknown.
 */
int spot_check_before(struct spot_check *w, const struct side *u, struct failure *f);
/**
 * Set the inputs of the next call: the known ones if it is watched, else random ones. SPOT_CHECK_FIRST sets the first inputs
 * only. Asynchronous.
 */
int spot_check_set_inputs(struct spot_check *w, struct failure *f);
/**
 * Check the watched call, before any other use of the device. `when` precedes the message of a wrong result. Err: the fault of
 * `u`.
 */
int spot_check_after(struct spot_check *w, struct side *u, const char *when, struct failure *f);
/**
 * Allocate copies for `n` calls of each side, at most SPOT_CHECK_LATER_MAX, whose results are copied at once and checked
 * later: the call itself does not wait. With less memory there are fewer, which is noted. Own: spot_check_close.
 */
void spot_check_make_later(struct spot_check *w, int n);
/**
 * Give the next call, of `u`, the known inputs, or for one `k` any inputs, which no module can know. Returns false if copy `k` does
 * not exist or holds an unchecked call.
 */
bool spot_check_later_before(struct spot_check *w, const struct side *u, int k);
/** Copy the results, right after that call. Asynchronous. */
int spot_check_later_after(struct spot_check *w, const struct side *u, int k, struct failure *f);
/** Check all copied calls of `u` and free their copies. `when` precedes the message of a wrong result. */
int spot_check_later_check(struct spot_check *w, const struct side *u, const char *when, struct failure *f);

/** Make one whole watched call between marks 0 and 1 and in stamp 0, which no run uses. `cold`: displace the cache. */
int spot_check_call(struct spot_check *w, struct side *u, int poison, bool cold, const char *when, struct failure *f);

/* ---- stalls: Warp stalls of a call's kernels by instruction, in a process that only samples. ---- */

/** A planned and bound call in cell position `i`, and its kernels. */
struct stalls_call {
	struct runner *runner;
	struct side *side;
	int i;
	const struct launched *kernels;
	double call_ms;
};

/**
 * Sample some calls, and write a record for each sampled kernel. Returns -1 with `err`: no samples, with a message for the
 * user; with `f` (and `err`): the call failed.
 */
int stalls_take(const struct stalls_call *c, struct failure *f, struct fw_err *err);

/*
 * ---- timing ----
 * Passes of interleaved timed calls over the sides of one cell.
 *
 * In each round every side calls once. Order: rounds go AB, BA, BA, AB, AB, BA, ...; the beginning side alternates from run
 * to run. With more sides the list rotates by one every second round, and every other round runs it backwards, so that any
 * drift linear over two rounds cancels. Every call is cold: different inputs, outputs filled with a random byte, cache
 * overwritten. Of each side two random calls of a pass that may decide, and the last one, are watched (spot_check.c); of two
 * more only the results are checked, later. They are made like all others. Of two rounds the last is watched, the other checked
 * later.
 */

struct timing {
	struct runner *runner;
	struct problem *problem;
	int cell; /* position in task->cell */
	int n;    /* sides that are timed, planned and bound */
	struct side *side[PROTOCOL_SIDES_MAX];
	int start;        /* side that begins round 0 */
	double pair_ms;   /* device time of one round: of the solo calls, then of the last warm-up round */
	bool has_opening; /* `opening` was read during the warm-up, for the first pass */
	struct msg_device_check opening;
	struct spot_check *spot_check;
	struct side *culprit; /* whose failure ended a pass; NULL: unknown */
};

/** A reading of the device takes some 15 ms: two calls of this length hide it. Before shorter ones it is part of the warm-up. */
#define TIMING_UNSEEN_MS 20

/** Calls in flight: two hide the host, more only deepen the queue. */
enum { TIMING_AHEAD = 6 };

/** One series in progress. Shape: [side][round]. */
struct samples {
	float ms[PROTOCOL_SIDES_MAX][PROTOCOL_SAMPLES_MAX];
	float mhz[PROTOCOL_SIDES_MAX][PROTOCOL_SAMPLES_MAX];
	float host_us[PROTOCOL_SIDES_MAX][PROTOCOL_SAMPLES_MAX];
};

/** Position of the side with a role; -1: none. */
int timing_position(const struct timing *t, enum role role);
/** Return the rounds that the rule's budget allows for a round of `round_ms`: a multiple of 4, or the rule's fewest. */
int timing_rounds(const struct rule *r, double round_ms, int n_sides, const struct device_ops *ops);

/**
 * Make unrecorded rounds, at the cell's own duty cycle, until `until_us` of the device's host clock. At least one unless the
 * cell is long.
 */
int timing_warm(struct timing *t, double until_us, struct failure *f);
/** Time series device: `rounds` rounds with at least two calls queued ahead, between device readings. Writes one record. */
int timing_device(struct timing *t, int rounds, struct failure *f);
/** How whole calls are timed: all watched; or some, between device readings, as for times that decide. */
enum { TIMING_WATCHED = 1, TIMING_DECIDES = 2 };
/**
 * Time series call: stream idle, host clock around bind, enqueue and wait, the SM clock between stamps outside of that. Writes
 * one record.
 */
int timing_call(struct timing *t, int rounds, unsigned how, struct failure *f);
/**
 * Time series phase: the phases of the call's time one by one between marks, minus an empty pair of marks. Writes one record a
 * phase.
 */
int timing_phase(struct timing *t, int rounds, struct failure *f);

/** Prepare a call before its time begins. A side that only lets time pass touches no buffer. */
int timing_cold(struct timing *t, struct side *u, struct failure *f);
/** Begin a call's range for profilers; range_end ends it. */
void timing_range(const struct timing *t, const struct side *u, int call);
/** Report the step before each call if calls die at once; with a queue that would cost time and blame the wrong call. */
void timing_report_at(struct timing *t, const struct side *u, const char *step);
/** Check after a call and its marks that the process state is unchanged. Returns -1 with `f`, and t->culprit. */
int timing_leave(struct timing *t, struct side *u, struct failure *f);
/**
 * Rounds of a side's watched calls: one in each half of a pass, and the last; and further ones in each half, whose results
 * are checked after the pass. Of two rounds the first has such calls, the second watched ones.
 */
struct timing_watch {
	int round[PROTOCOL_SIDES_MAX][2], last, later[PROTOCOL_SIDES_MAX][2];
};
void timing_choose_watched(struct timing *t, int rounds, struct timing_watch *out);
bool timing_is_watched(const struct timing *t, const struct timing_watch *w, int who, int round);
/** Return which of the two later checks this call has; it then has the known inputs. -1 none. */
int timing_later_before(struct timing *t, const struct timing_watch *w, int who, int round);
/** Copy the results after that call and its marks. Returns -1 with `f`, and t->culprit. */
int timing_later_after(struct timing *t, struct side *u, int k, struct failure *f);
int timing_later_check(struct timing *t, struct failure *f);
/** Finish a watched call. `when` precedes the message. Returns -1 with `f`, and t->culprit. */
int timing_finish_watched(struct timing *t, struct side *u, const char *when, struct failure *f);
/** Set t->culprit to `u` if its call changed what the runner uses; other failures may be those of an earlier queued call. */
void timing_blame_forger(struct timing *t, struct side *u, const struct failure *f);
/** Make one cold call, between marks 2c and 2c + 1 and in stamp c; `host_us` receives the host's time of enqueue. */
int timing_one(struct timing *t, struct side *u, int c, float *host_us, struct failure *f);
struct timing_pass {
	int rounds, redo; /* discarded passes before this one */
	unsigned how;     /* of series call */
	struct msg_device_check device_check;
};
typedef int timing_pass_fn(struct timing *t, struct timing_pass *p, struct samples *x, struct failure *f);
/**
 * Make a pass, with the first reading; repeat it while readings discard it, three times at most. A discarded result is marked
 * in p->device_check.
 */
int timing_guarded(struct timing *t, timing_pass_fn *run, struct timing_pass *p, struct samples *x, struct failure *f);
/** Return the time, or the least positive one if it rounds to zero. */
float timing_at_least(float ms);
void timing_begin_record(const struct timing *t, struct msg_cell *m, enum series series, const char *phase, int rounds);
/** Write m->order: sides of the record, in its own numbering. `number[r]` -1: side r is not in it. */
void timing_write_order(const struct timing *t, struct msg_cell *m, const int *number, int rounds);
void timing_write_series(struct timing *t, struct msg_cell *m, struct samples *x, bool mhz, bool host_us);
/** Return -1 with `f` if a reading showed that the device's context is gone. */
int timing_lost(struct timing *t, struct failure *f);

/*
 * ---- sustained ----
 * Series sustained: one side at a time for a while, so that each stabilises at the clock of its own power draw.
 *
 * Pairs share one clock and give the ratio at equal clocks; sustained runs A B or B A give the lasting ratio. Both sides run
 * interleaved first, until the clock has dropped under load. Successive runs of a cell have the opposite order, which cancels
 * drift.
 */

/**
 * Make a sustained run of base and one of target, which must be among the sides; device readings decide on a redo. Writes one
 * record. `busy_since_us`: start of the interleaved load, on the device's host clock.
 */
int sustained_run(struct timing *t, bool target_first, double busy_since_us, struct failure *f);

/* ---- task: One whole runner process: read the `task` line, do it, report all results. ---- */

/**
 * Read one `task` line from `in_fd`, write records to `records_fd`. Returns the exit status: 0 all was reported, 1 error, 2 the
 * line is no task, 3 a kernel made the device fail and a fault record names its side.
 */
int task_run(int in_fd, int records_fd);

/** Print the devices of this machine on stdout as a `hello` line. Returns the exit status. */
int task_list(void);

/* ---- time: Mode time: one run of all sides over all cells, cells in random order. ---- */

int mode_time_run(struct runner *r);

#ifdef __cplusplus
}
#endif

#endif
