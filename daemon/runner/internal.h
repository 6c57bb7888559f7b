/** internal.h - one run: devices, problems, sides, checks, timing, counters. */
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

/** Functions of its range profiler, all set after cupti_open. They return a code for cupti_check. */
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

/** Functions of its sampler, all set after cupti_sampling_open. They return a code for cupti_check. */
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

/** Functions of its tracer, all set after cupti_activity_open. They return a code for cupti_check. */
struct cupti_activity {
	int (*callbacks)(activity_lend_fn *, activity_back_fn *);
	int (*enable)(int kind);
	int (*disable)(int kind);
	int (*flush)(uint32_t how);
	int (*next)(uint8_t *buffer, size_t valid, void **record);
};

/**
 * Load the library once for the process. Own: never freed. Err: ERR_UNSUPPORTED if it is missing or too old, with the package to
 * install.
 */
int cupti_open(const struct cupti **out, struct fw_err *err);
/** Load the sampler's functions, which also older versions have. Own, Err: as cupti_open. */
int cupti_sampling_open(const struct cupti_sampling **out, struct fw_err *err);
/** Load the tracer's functions. Own, Err: as cupti_open. */
int cupti_activity_open(const struct cupti_activity **out, struct fw_err *err);
/** Write name and version: "CUPTI 130001". Shape: out[size]. */
void cupti_name(const struct cupti *c, char *out, size_t size);

/** Return 0 if `code` of `function` is 0, else -1. Err: ERR_UNSUPPORTED with the cause and the remedy. */
int cupti_check(int code, const char *function, struct fw_err *err);

/*
 * ---- activity ----
 * Start and end of each kernel of a call, from CUPTI's activity records, which need no privilege. A process has only one tracer,
 * because the library's callbacks do not identify it.
 */

enum { ACTIVITY_KERNELS_MAX = 512 };

struct activity {
	const struct cupti_activity *cupti;
	bool is_on;
	int n; /* traced kernels; those beyond ACTIVITY_KERNELS_MAX are not stored */
	struct activity_seen {
		uint64_t start_ns, end_ns;
		int grid[3];
	} kernel[ACTIVITY_KERNELS_MAX]; /* kernel[n], by start */
};

/*
 * ---- hoststate ----
 * State of the process that a module can change: signal handlers, blocked signals, timers, the measuring thread's cores and
 * priority, limits, system call filters, children.
 *
 * A snapshot is the required state. hoststate_set_back restores it and reports differences; if there are none, this takes about
 * ten microseconds, so it can follow every timed call.
 */

enum { HOSTSTATE_SIGNALS = 65, HOSTSTATE_TIMERS_MAX = 16, HOSTSTATE_LIMITS = RLIM_NLIMITS };

struct hoststate {
	struct sigaction handler[HOSTSTATE_SIGNALS]; /* by signal number */
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

/** Take a snapshot of the current state. */
void hoststate_take(struct hoststate *s);
/**
 * Outcome of a difference: it cannot be reverted; it was reverted; it remains but slows no call, and is now part of the snapshot.
 */
enum hoststate_end { HOSTSTATE_STAYS, HOSTSTATE_RESTORED, HOSTSTATE_HARMLESS };
/** Receive one difference. `what`: "its handler of signal 14". */
typedef void hoststate_changed_fn(void *arg, const char *what, enum hoststate_end end);
/** Compare the state with the snapshot `s`, revert differences, and call `changed` for each. */
void hoststate_set_back(struct hoststate *s, hoststate_changed_fn *changed, void *arg);

/** Make orphaned descendants children of this process, so that none is missed. Call once, before any module is loaded. */
void hoststate_adopt(void);
/**
 * Kill every child that has not exited. Returns the pid of one of them; 0: there was none. Children that exited remain zombies.
 */
pid_t hoststate_end_children(void);

/*
 * ---- own_code ----
 * Detection of a module that changes the runner's imported functions, its code or that of its libraries: the module could then
 * replace the runner's clock, copies or records.
 *
 * Imports are compared after a call returns and before its end is marked, so that a replaced clock is detected. A change that is
 * reverted before the next comparison is not.
 */

struct failure;

/** Scope of a comparison: the addresses of imported functions (0.2 us); all constant tables (11 us); also all code (0.3 ms). */
enum own_code_depth { OWN_CODE_IMPORTS, OWN_CODE_TABLES, OWN_CODE_ALL };

/** Compute the checksums of this process's code and tables. Call before any module is loaded. */
void own_code_take(void);
/** Record that code of a side runs, so that this side may have caused a change that is found later. */
void own_code_ran(enum role role);
/**
 * Return 0 if nothing has changed, or own_code_take was not called; else -1 with failure "forged" and f->lost, because later
 * calls would run the changed code. f->by is the side that ran since the last comparison of all code; of several the target,
 * since the base ran alone before. If only single bytes became breakpoints, as a debugger or a uprobe sets them, the failure is
 * "unsure", of no side: a module may set them too, so they are no evidence.
 */
int own_code_check(enum own_code_depth depth, struct failure *f);

/*
 * ---- record ----
 * The runner's records: lines of the protocol on one descriptor, 3 in a run of the worker. Each record is written immediately and
 * completely, so none is missing if the process dies. Standard output belongs to branch code.
 */

struct records {
	int fd; /* -1: records are dropped */
	int run;
	char signature[SIGNATURE_KEY + 1]; /* key; "": lines are not signed */
	unsigned long long n;              /* signed lines so far */
	struct buf line;
	bool failed; /* the reader has closed the descriptor */
	bool waits;  /* the descriptor is a socket, on which the worker answers record_request_inspection */
};

/** Write records to `fd`, which is closed on exec. Own: records_fini; the caller closes `fd`. Err: ERR_IO if `fd` is not open. */
int records_init(struct records *r, int fd, int run, struct fw_err *err);
/** Sign all further lines with this key (protocol/signature.c), so that the worker detects lines of branch code. */
void records_signature(struct records *r, const char *signature);
void records_fini(struct records *r);

/** Send an `at` record; call it before each step in which branch code could end the process. `role` ROLE_NONE: no single side. */
void record_at(struct records *r, int cell, enum role role, const char *step);
/**
 * Request that the worker compare this process and its children with their state before, and wait for its answer. `role`: the
 * side whose code has ended; ROLE_NONE: no module is loaded yet, so the worker records the state. Does nothing if records do not
 * go to a socket.
 */
void record_request_inspection(struct records *r, int cell, enum role role);
/** Send a `fault` record. `cell` -1: no single cell. A long `detail` is cut. */
void record_fault(struct records *r, int cell, enum role role, const char *failure, const char *detail);
/** Send a `note` record, which has no effect on verdicts. `cell` -1: no single cell; `role` ROLE_NONE: no side caused it. */
void record_note(struct records *r, int cell, enum role role, const char *text);
/** Send any other record. */
void record_send(struct records *r, const struct msg *m);

/*
 * ---- module ----
 * A module and its providers. All its data is checked before use: ABI number, sizes of its tables, names, missing functions.
 */

enum { MODULE_PROVIDERS_MAX = 32 };

struct module {
	void *handle; /* of dlopen */
	uint32_t abi; /* FW_ABI, or 1 */
	int n;
	struct fw_provider provider[MODULE_PROVIDERS_MAX]; /* provider[n], copies; members that the module's table lacks are 0 */
};

/**
 * Load a shared object with RTLD_LOCAL and all symbols bound. `path` may be /proc/self/fd/N. A module without FW_ABI may have ABI
 * 1. Own: module_close. Err: ERR_INVALID if it does not load, or has no fw_entry, another ABI or a broken table.
 */
int module_open(struct module *m, const char *path, struct fw_err *err);
void module_close(struct module *m);

/**
 * Call can, plan or count of a provider, with the problem in the module's ABI. Each returns the provider's status, or
 * FW_UNSUPPORTED if the module's ABI cannot describe the problem.
 */
int module_can(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, char *why, size_t why_size);
int module_plan(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	int index, struct fw_plan **plan, struct fw_info *info, char *why, size_t why_size);
int module_count(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	const struct fw_io *host, struct fw_work *work);

/**
 * Find the provider `name`; "": the first that supports the problem on this kind of device. Returns NULL with `err`:
 * ERR_UNSUPPORTED with the reason of each provider, ERR_NOT_FOUND if no provider has that name.
 */
const struct fw_provider *module_choose(
	const struct module *m, const char *name, int32_t abi_device, const struct fw_problem *problem, struct fw_err *err);

/*
 * ---- device ----
 * Interface between the runner and a device. cpu.c (devices cpu and sim) and cuda.cu implement it.
 *
 * A device has one context and one stream. Times are float32 milliseconds between two marks on the stream. `sim` computes on the
 * CPU, but its times follow from the work that a module reports and the noise of a recorded trace. All clocks of `sim` are
 * simulated, so a run on it is the same on every machine.
 */

struct device;

/**
 * Parameters of a call's time on device sim: its work, and properties of a test module (side.c), 0: none. The share `slow_share`
 * of all calls takes `slow_factor` times as long. Work that is done once takes `once_factor` times as long.
 */
struct device_work {
	double flops, power_w, host_us, slow_share, slow_factor, once_factor;
};

/** A setting of the device, or memory in use. It counts as unchanged within `slack` of its old value. */
struct device_setting {
	const char *name;
	int64_t value, slack;
	bool can_set; /* set_back can restore it */
};

enum { DEVICE_SETTINGS_MAX = 8 };

/** One node of a captured graph, see struct msg_node. Own: strings are borrowed. */
struct device_node {
	const char *kernel; /* demangled name */
	const char *symbol; /* mangled name; NULL: not a kernel, or unknown */
	int sm;             /* architecture of its code: 90; 0: unknown */
	int grid[3], block[3], registers, local_bytes, shared_bytes;
	int ctas_per_sm; /* blocks that fit on a multiprocessor; 0: unknown */
	bool is_kernel;  /* otherwise a copy, a memset or a host function */
};
/** Receive one node, in launch order. */
typedef void device_node_fn(void *arg, const struct device_node *node);

enum {
	DEVICE_MARKS_MAX = 1024,                  /* slots of marks */
	DEVICE_STAMPS_MAX = DEVICE_MARKS_MAX / 2, /* slots of stamps */
	DEVICE_REDZONE_BYTES = 4096
};

/** Return the byte at offset `i` of every redzone. */
static inline unsigned char device_redzone_byte(size_t i)
{
	return (unsigned char)(0xc3u ^ (unsigned)(i * 29u));
}

/** Functions of a device. Those that return int return 0, or -1 with `err`. */
struct device_ops {
	enum device_kind kind;
	int32_t abi_device; /* enum fw_device that providers must support */
	bool clocks;        /* clock_mhz is known */
	bool queues;        /* enqueue returns before the work is done */

	/** Describe device `index`. Err: ERR_NOT_FOUND if it does not exist; other codes if it exists and does not work. */
	int (*describe)(int index, struct msg_device *out, struct fw_err *err);
	/** Open a device. `seed`: of the run; only sim uses it. Own: close. */
	int (*open)(int index, uint64_t seed, struct device **out, struct fw_err *err);
	void (*close)(struct device *);
	/** Return the `index` argument of plan: CUDA ordinal, or number of CPU threads. */
	int (*plan_index)(const struct device *);

	/** Allocate a buffer between two redzones, aligned to 4 KiB; the second redzone follows its last byte. Own: release. */
	int (*alloc)(struct device *, size_t bytes, void **out, struct fw_err *err);
	/** Free a buffer, or cache it for a later alloc. Accepts NULL. */
	void (*release)(struct device *, void *);
	/**
	 * Wait for the stream, then check both redzones of every allocated buffer. Err: ERR_INVALID with the first damaged
	 * buffer in `*which`; all redzones are repaired.
	 */
	int (*check_redzones)(struct device *, void **which, struct fw_err *err);

	/** Copy from or to host memory. Each waits for the stream first, and returns when it is done. */
	int (*upload)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	int (*download)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	/** Wait for the stream, then compute a checksum of all bytes with their positions. Units: `bytes` is a multiple of 2. */
	int (*checksum)(struct device *, const void *data, size_t bytes, uint64_t *sum, struct fw_err *err);

	/*
	 * Searches and copies on the device, so that no whole tensor is copied over the bus. NULL if the device uses host memory.
	 * Each waits for the stream first, and returns when it is done.
	 */
	/** Find the first NaN or infinite element among `n` elements of bf16, with `is_fp32` of fp32; `*index` -1: none. */
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
	/** Evict the last-level cache, by overwriting twice its size. */
	int (*scrub)(struct device *, struct fw_err *err);

	/** Return the driver's context, for reading counters, and the driver's number of the device; NULL: none. */
	void *(*context)(struct device *, int *driver_index);
	/** Return the `stream` argument of enqueue: cudaStream_t, or NULL. */
	void *(*stream)(struct device *);
	/** Mark a moment on the stream in `slot` (0 .. DEVICE_MARKS_MAX - 1). */
	int (*mark)(struct device *, int slot, struct fw_err *err);
	/**
	 * Store the cycle counter of every SM, before a call (end 0) and after it (end 1), in `slot` (0 .. DEVICE_STAMPS_MAX -
	 * 1).
	 */
	int (*stamp)(struct device *, int slot, int end, struct fw_err *err);
	/** Wait until the stream has passed a mark. */
	int (*wait_mark)(struct device *, int slot, struct fw_err *err);
	/** Return whether wait_mark would return immediately. NULL: it always would. */
	bool (*passed_mark)(struct device *, int slot);
	/** Wait until the stream is idle. Err: ERR_INVALID if a kernel failed: this process cannot use the device any more. */
	int (*wait)(struct device *, struct fw_err *err);
	/**
	 * Wait for the stream, then for other work of this process: other streams; on a CPU, for a limited time, other threads.
	 * `*late_us`: the time of the latter. Err: as wait.
	 */
	int (*wait_all)(struct device *, double *late_us, struct fw_err *err);
	/** Return the ms between two marks. Requires wait. */
	float (*elapsed_ms)(struct device *, int from_slot, int to_slot);
	/** Return the mean SM clock between both stamps of `slot`; 0: unknown. Requires wait. */
	float (*clock_mhz)(struct device *, int slot);
	/** Return the host's clock; that of sim advances with its work. Units: us, any origin. */
	double (*host_us)(struct device *);
	/** sim only (NULL elsewhere): advance the clocks by a call's time on the device and on the host. */
	void (*work)(struct device *, const struct device_work *);

	/**
	 * Capture the work of `enqueue(arg, stream)` into a graph, call `node` for its nodes, and discard it. A device without
	 * queue only calls `enqueue`. Err: ERR_INVALID if `enqueue` failed, allocated or synchronised.
	 */
	int (*capture)(struct device *, int (*enqueue)(void *arg, void *stream), void *arg, device_node_fn *node, void *node_arg,
		struct fw_err *err);

	/** Start or stop a profiler's range. */
	void (*profiler)(struct device *, bool start);
	/**
	 * Read power, temperature, clock and its limits, foreign processes, XIDs, memory errors. Unknown fields are unchanged.
	 */
	void (*device_check)(struct device *, struct msg_device_check *out);
	/**
	 * Read device `index`, which this process has not opened, so that all processes on it are foreign; `who` receives their
	 * names. Memory errors count from the driver's start. NULL: there is no driver. Shape: who[size].
	 */
	void (*read_idle)(int index, struct msg_device_check *out, char *who, size_t size);
	/** Return the SM clock of a device under load, open or not; -1: it has no load. NULL: there is no driver. */
	double (*busy_mhz)(const char *uuid);
	/** Return the energy counter; -1: unknown. NULL: there is no driver. Units: J, any origin. */
	double (*energy_j)(struct device *);
	/**
	 * Read settings that remain after a module's calls and affect the time of later calls. `quick`: only the first ones,
	 * which take little enough time for every call. Returns their number. Shape: out[DEVICE_SETTINGS_MAX].
	 */
	int (*settings)(struct device *, bool quick, struct device_setting *out);
	/**
	 * Return the device memory in use by any process, without the buffers of alloc; -1: unknown. NULL: there is no driver.
	 * May wait for the device, so never call it during timing. Units: bytes.
	 */
	int64_t (*taken_bytes)(struct device *);
	/** Restore setting `which` (index in `settings`) to `value`, if possible. */
	void (*set_back)(struct device *, int which, int64_t value);
};

/** Find a device by its name: "cuda:0", "cpu:0", "cpu", "sim:0" or a uuid. Err: ERR_NOT_FOUND lists all devices. */
int device_find(const char *name, const struct device_ops **ops, int *index, struct fw_err *err);
/** Receive a device that is not listed. `address`: "cuda:1". */
typedef void device_left_out_fn(const char *address, const char *why);
/**
 * List all devices, first cuda, then cpu, then sim. Calls `left_out` (NULL: none) for a device that cannot be described. Returns
 * their number. Shape: out[max].
 */
int device_list(struct msg_device *out, int max, device_left_out_fn *left_out);

extern const struct device_ops device_cpu;
extern const struct device_ops device_sim;
#ifdef FW_HAVE_CUDA
extern const struct device_ops device_cuda;
#endif

/*
 * ---- input_variant ----
 * Different inputs for each call, at no more cost than restoring them: copies from another offset of the masters.
 *
 * Each tensor that the family allows to change is rolled by a different number of rows, so every row of every result changes, and
 * no result or input of an earlier call can be reused. A tensor of few rows is rolled by elements, across its rows. The forward's
 * results that a backward reads belong to the inputs of that forward: the named ones, or those of a second forward with rolled
 * inputs.
 */

struct problem;
struct failure;

/**
 * Return how an input changes from call to call. If the cell needs a forward, an input that only the forward reads is
 * SLOT_ROLLS_FORWARD if the forward's other results remain valid after rolling it.
 */
enum slot_change variant_change(const struct problem *p, int slot);

/** Offsets of one set of inputs, by slot. All 0: the named inputs. */
struct input_variant {
	bool second;                    /* use the second forward's results */
	int32_t roll[FAMILY_SLOTS_MAX]; /* offset of the first element in the master, in steps */
	size_t shift[FAMILY_SLOTS_MAX]; /* additional bytes, less than a row, so that no row equals a row of the master */
	uint64_t sum[FAMILY_SLOTS_MAX]; /* checksums of these inputs, set by variant_sum */
};

/** Return the bytes of a step: a row, or less if there are too few rows. */
size_t variant_step(const struct problem *p, int slot);
enum { VARIANT_SHIFT_BYTES = 16 };
/**
 * Return the number of possible shifts of a slot, multiples of VARIANT_SHIFT_BYTES; 1: only 0, if a step is not a row or there is
 * one row.
 */
size_t variant_shifts(const struct problem *p, int slot);
/** Set all inputs. Asynchronous. */
int variant_inputs(struct problem *p, const struct input_variant *a, struct fw_err *err);
/** Set one input. Asynchronous. */
int variant_slot(struct problem *p, int slot, const struct input_variant *a, struct fw_err *err);
/** Set all inputs, wait, and store their checksums in `a`. */
int variant_sum(struct problem *p, struct input_variant *a, struct fw_err *err);

/** Let forward_run also run a second forward, with inputs as in `rolled`. Err: out of memory; then there is no second forward. */
int variant_add_second(struct problem *p, const struct input_variant *rolled, struct fw_err *err);

/*
 * ---- problem ----
 * One cell's tensors on a device: inputs with their masters, outputs, and data that the family lays out, such as masks.
 *
 * All sides of a run share the buffers. A side may write only to outputs. Inputs are restored from their masters before each
 * call, and their checksums show whether a call wrote to them.
 */

struct problem_slot {
	enum slot_use use;
	bool is_forwards; /* only the needed forward reads it */
	void *data;       /* the buffer that the sides use */
	void *master;     /* of an input: `data` is restored from here */
	void *second;     /* SLOT_FORWARD: master of the second forward's result; else NULL */
	void *laid;       /* SLOT_LAID: copy in host memory */
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
	struct fw_problem abi;         /* points to sizes */
	struct fw_problem forward_abi; /* the forward of the same case; points to forward_sizes */
	struct cell forward_cell;
	struct problem_slot slot[FAMILY_SLOTS_MAX];
	struct fw_tensor tensor[FAMILY_SLOTS_MAX];      /* arguments of bind */
	struct fw_tensor host_tensor[FAMILY_SLOTS_MAX]; /* arguments of count */
	struct input_variant named;                     /* named inputs of the cell, with checksums of the masters */
	struct input_variant second;                    /* inputs and results of the second forward, if a forward is needed */
	struct input_variant now;                       /* inputs as last set */
	bool needs_forward;                             /* some inputs are results of the forward */
	bool varied;                                    /* there is a second forward */
	char input_sha256[HASH_HEX];                    /* of the named inputs */
};

/**
 * Allocate and fill the tensors of a cell. If the cell needs a forward, the caller runs it (forward_run), which fills its
 * results. Own: problem_close, also after an error. Err: out of memory.
 */
int problem_open(
	struct problem *p, const struct device_ops *ops, struct device *dev, const struct cell *cell, struct fw_err *err);
void problem_close(struct problem *p);

/** Change to another problem of the same sizes, such as one with another mask. p->cell becomes that case. */
int problem_second(struct problem *p, struct fw_err *err);
/** Return whether the family has such a problem for this cell. */
bool problem_has_second(const struct problem *p);

/**
 * Return the blocks that the mask keeps; `*of` receives their total, 0 if there is no mask. `counts` receives the mask in tokens.
 */
int64_t problem_kept(const struct problem *p, int64_t *of, struct mask_counts *counts);
/** Return the bytes of the tensors that a call reads and writes. */
int64_t problem_tensor_bytes(const struct problem *p);

/** Restore the named inputs. Asynchronous. */
int problem_restore(struct problem *p, struct failure *f);
/** Fill every byte of every output; 0xff makes NaN of bf16 and fp32. Asynchronous. */
int problem_poison(struct problem *p, int value, struct failure *f);
/** Copy a forward's results to the masters of their slots: those of p->second, or of the named inputs. Asynchronous. */
int problem_copy_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait for the stream, and store the checksums of a forward's accepted results. */
int problem_sum_forward(struct problem *p, bool second, struct fw_err *err);
/** Wait for the stream, and find the first slot whose master has changed since it was filled or accepted; `*slot` -1: none. */
int problem_damaged(const struct problem *p, int *slot, struct fw_err *err);
/**
 * Wait for the stream, and find the first input that has changed since it was restored, or set by variant_sum; `*name` NULL:
 * none.
 */
int problem_modified(struct problem *p, const char **name, struct fw_err *err);
/** Wait for the stream, and compute one checksum over all outputs. */
int problem_outputs_sum(struct problem *p, uint64_t *sum, struct fw_err *err);
/** Return the name of the tensor at this address: "O", "block bits", ...; NULL: it is not one of this problem. */
const char *problem_name(const struct problem *p, const void *data);

/** Return the name of one phase, a bit of fw_info.phases: "run", "prepare", ... */
const char *problem_phase_name(const struct problem *p, uint32_t phase);

/** Fill the arguments for the family's check of results of the problem, or of its forward. Own: `io` borrows the problem. */
void problem_check_io(const struct problem *p, enum direction direction, struct check_io *io);

/*
 * ---- side ----
 * One module under test, and its plan for the current cell.
 *
 * Every failure of branch code becomes a struct failure: one of the protocol's classes and one line of text.
 */

/** A failure; `name` "": none. */
struct failure {
	char name[16]; /* "abi" "unsupported" "provider" "crash" "wrong" "oob" ..., or "device" if the device caused it */
	char detail[512];
	bool lost;    /* the device's context failed, or a module changed the process: no more calls can run in it */
	enum role by; /* the side that caused it; ROLE_NONE: the side of the call */
};

/** Set a failure unless one is set already. Returns -1. */
int failure_set(struct failure *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Set the failure of a device operation: "crash" if its context failed, else "device". Returns -1. */
int failure_device(struct failure *f, const struct problem *p, const struct fw_err *err);

struct side {
	enum role role;
	char provider_name[PEERS_PROVIDER_SIZE]; /* "": the module's default */
	const char *pin; /* configuration for plan, except of a needed forward; NULL: the provider chooses. Own: the caller's */
	bool is_request; /* a user requested `pin`: terms whose key the provider's configuration does not have are ignored */
	struct module module;
	bool loaded; /* `module` is open */

	/* of the current cell */
	struct problem *problem;
	const struct fw_problem *abi; /* the problem's abi or forward_abi */
	const struct fw_provider *provider;
	struct fw_plan *plan;
	uint32_t phases;
	uint32_t ahead, timed, behind; /* bit sets of phases: before a call's time begins, in its time, after it */
	size_t workspace_bytes, persist_bytes;
	void *workspace, *persist;
	struct fw_tensor tensor[FAMILY_SLOTS_MAX]; /* arguments of bind */
	char config[160];
	struct tried tried; /* of the provider's search; owned, until the next plan of the problem */
	bool has_work;      /* `work` is known */
	struct fw_work work;
	double flops;   /* issued; if unknown, the useful ones */
	bool pass_time; /* sim: enqueue only advances the clocks */
};

/** Load a module. Failures: "abi", or "device". Own: side_unload. */
int side_load(struct side *s, enum role role, const char *module, const char *provider, struct failure *f);
/** Free the plan and close the module. Accepts a zeroed side. */
void side_unload(struct side *s);

/**
 * Choose the provider, plan, and allocate the workspace. For a backward problem `direction` may be forward, to compute the inputs
 * that are results of the forward. Own: side_unplan, also after a failure.
 */
int side_plan(struct side *s, struct problem *p, enum direction direction, struct failure *f);
/** Free the plan and its workspace. */
void side_unplan(struct side *s);
/**
 * Plan again with the configuration that the first plan chose, and check that the provider uses it: other processes will request
 * it. Clears `pin`. Own: as side_plan.
 */
int side_plan_again(struct side *s, struct failure *f);
/** Fill work and flops by the provider's count for this problem. Takes host time, so side_plan calls it only on sim. */
void side_count(struct side *s);
/** Bind the problem's tensors to the plan. */
int side_bind(struct side *s, struct failure *f);
/** Enqueue these phases, a bit set. */
int side_enqueue(struct side *s, uint32_t phases, struct failure *f);
/**
 * Enqueue the phases before the timed ones, which are done once after inputs are set. Meanwhile all inputs on which they must not
 * depend have every byte set to `filler`.
 */
int side_ahead(struct side *s, int filler, struct failure *f);
/** Enqueue the timed phases. */
int side_timed(struct side *s, struct failure *f);
/** Enqueue the phases after the timed ones, which complete the result. */
int side_behind(struct side *s, struct failure *f);
/** Mark a moment on the stream in `slot`. */
int side_mark(struct side *s, int slot, struct failure *f);
/** Wait until the stream is idle. */
int side_wait(struct side *s, struct failure *f);
/** Check, after side_wait, that inputs and redzones are unchanged. */
int side_stayed_inside(struct side *s, struct failure *f);
/** Options of one call. */
struct side_way {
	const struct input_variant *inputs; /* with checksums; NULL: the named inputs */
	int poison, workspace_fill;         /* every byte of outputs and of the workspace is set to these */
	bool one_by_one;                    /* enqueue each phase separately */
	bool cold;                          /* evict the cache and stamp clocks in slot 0, as for timed calls */
};
/**
 * Make one whole call: set inputs, fill outputs and workspace, enqueue, wait, and check as side_stayed_inside. Marks 0 and 1
 * surround its work.
 */
int side_call(struct side *s, const struct side_way *way, struct failure *f);

/* ---- runner: State shared by all modes: the device, the loaded sides, random numbers, and the failure records. ---- */

/** Exit statuses besides 0 and 2. RUNNER_LOST: the device failed, and a fault record names the side. */
enum { RUNNER_ERROR = 1, RUNNER_LOST = 3 };

struct runner {
	const struct msg_task *task;
	struct records *records;
	const struct device_ops *ops;
	struct device *dev;
	int n_sides;
	struct side side[PROTOCOL_SIDES_MAX];               /* in the task's order; after a fault not `loaded` */
	uint64_t random;                                    /* state of runner_random */
	struct device_setting setting[DEVICE_SETTINGS_MAX]; /* setting[n_settings]: required values (leaked_state.c) */
	int n_settings;
	struct hoststate host;             /* snapshot from before any module was loaded */
	bool reported[PROTOCOL_SIDES_MAX]; /* by side: a change in its timed calls was reported */
	int64_t held[PROTOCOL_SIDES_MAX];  /* by side: bytes of device memory that it uses besides its buffers */
	bool lost;                         /* no more calls can run in this process */
	int at_cell;                       /* as in the last `at` record */
	enum role at_role;
};

/**
 * Open the device and load all sides, in a random order that depends on the seed. A module that does not load gets a fault
 * record, and its side is not `loaded`. Own: runner_close, also after an error. Err: the device is missing or has no memory.
 */
int runner_open(struct runner *r, const struct msg_task *task, struct records *records, struct fw_err *err);
void runner_close(struct runner *r);

/** Return a random number below `n`; the sequence depends on the task's seed. */
uint32_t runner_random(struct runner *r, uint32_t n);
/** Return a seed that no module can predict; on sim the task's, because a run there must be the same on every machine. */
uint64_t runner_secret(const struct runner *r);
/** Write the numbers 0..n-1 in a random order. Shape: order[n]. */
void runner_shuffle(struct runner *r, int *order, int n);

/** Set the side's `pin` for the cell at position `i`. Own: `pin` points into the task. */
void runner_pin(const struct runner *r, int i, struct side *side);

/** Send an `at` record. `i`: position in task->cell, -1: none, also below; `side` NULL: no single side. */
void runner_at(struct runner *r, int i, const struct side *side, const char *step);
/** Read the device for pass `pass` of cell `i`; sets r->lost if the device has failed. */
void runner_device_check(struct runner *r, int i, int pass, struct msg_device_check *out);
/** Send a `fault` record for a failure of a side (NULL: no single side) in cell `i`; sets r->lost if f->lost. */
void runner_fault(struct runner *r, int i, const struct side *side, const struct failure *f);
/** Send a `fault` record for an error of the runner in cell `i`; sets r->lost if the device has failed. */
void runner_error(struct runner *r, int i, const struct fw_err *err);

/* ---- audit: Batches of calls for a clock outside this process. ---- */

enum {
	MODE_AUDIT_GO_FD = 4, /* descriptor of the worker's go bytes, one for each batch */
	MODE_AUDIT_PAIRS = 5  /* pairs of batches of each side */
};

/**
 * For each cell and side make MODE_AUDIT_PAIRS pairs of batches, of about K and about 3K calls without a break; the sides
 * alternate. For each batch send a record `ready`, wait for the go byte, make the calls, send a record `done` with the time by
 * the device's clock, and check the last result. Returns the exit status.
 */
int mode_audit_run(struct runner *r);

/* ---- capture: Mode capture: calls of one cell between cudaProfilerStart and cudaProfilerStop, for ncu and nsys. ---- */

/** Arguments of `flopwatch-runner --capture`. */
struct capture_options {
	const char *cell; /* key of a cell of the suite, or a cell as JSON, which needs no suite */
	const char *module, *suite, *device, *provider;
	const char *config; /* for the provider; "": it chooses */
	int calls, warmup;  /* number of captured calls, and of calls before them */
	bool memory;        /* also print a line of JSON: the memory in use before, during and after the calls */
	bool trace;         /* also print a line of JSON: a trace of further calls */
};

/**
 * Make the calls and print one line on stdout; under a profiler it has no times. An error is one line on stderr. Returns the exit
 * status.
 */
int mode_capture_run(const struct capture_options *o);

/* ---- trace: A timeline of a few calls, phase by phase, on the host and on the device. ---- */

/**
 * Make five calls of a planned and bound side, with a mark after each phase, and print their timeline as one line of JSON in
 * Chrome's Trace Event Format. Because of the marks, a call takes longer than a timed one. Returns 0, or -1 with `f`.
 */
int trace_print(struct runner *r, struct side *u, const struct problem *p, const char *device, struct failure *f);

/*
 * ---- check ----
 * Mode check: test each side in each cell for right results and for the contract of the kernel ABI. Sends a `check` record for
 * each side and cell, and for each planned cell `work` and, on CUDA, `node` records.
 */

/** Check all cells of all loaded sides. Returns the exit status of the process. */
int mode_check_run(struct runner *r);

/* ---- schedule: Assignment of counters to replays of a call, by CUPTI's host API, which needs no GPU. ---- */

struct schedule {
	const struct cupti *cupti;
	void *host;
	size_t n_names;
	const char **name; /* name[n_names]: the requested metrics that this chip has. Own: the caller's strings */
	size_t config_bytes;
	uint8_t *config;
	int passes; /* replays of a call */
};

/**
 * Schedule those of `n` metrics that `chip` ("GH100") has. `availability`: counters of the actual device; NULL: all of the chip.
 * Own: schedule_close, also after -1; borrows `name`. Err: ERR_UNSUPPORTED with a message for the user.
 */
int schedule_open(struct schedule *s, const struct cupti *cupti, const char *chip, const uint8_t *availability,
	const char *const *name, size_t n, struct fw_err *err);
void schedule_close(struct schedule *s);

/*
 * ---- counter ----
 * Counters of each kernel of a call. The call is replayed as often as the counters need, and every kernel is a range, in launch
 * order.
 *
 * The caller makes the calls, each from the same state, since memory is not saved or restored here. Kernels are serialised
 * meanwhile, so times of such a call are meaningless.
 */

struct counter {
	const struct cupti *cupti;
	struct schedule schedule;
	bool is_initialized;
	void *profiler;
	size_t image_bytes, ranges; /* size of the counter image; ranges in it when decoded */
	uint8_t *image, *availability;
	bool is_done; /* every replay was made */
	int made;     /* replays so far */
};

/**
 * Prepare to read `n` metrics of up to `ranges_max` kernels in a driver context. `device`: the driver's number of the device.
 * Own: counter_close, also after -1; borrows `name`. Err: ERR_UNSUPPORTED with a message for the user.
 */
int counter_open(
	struct counter *c, void *context, int device, size_t ranges_max, const char *const *name, size_t n, struct fw_err *err);
/** Begin a replay: the next work on the context is counted. */
int counter_begin(struct counter *c, struct fw_err *err);
/** End a replay; its work must be done. Sets `is_done` after the last one. */
int counter_end(struct counter *c, struct fw_err *err);
/** Decode the counters after the last replay; sets `ranges`. Err: some are missing. */
int counter_decode(struct counter *c, struct fw_err *err);
/** Read the values of range `i` (of `ranges`), in the order of schedule.name. Shape: value[schedule.n_names]. */
int counter_read(const struct counter *c, size_t i, double *value, struct fw_err *err);
void counter_close(struct counter *c);

/* ---- counters: `flopwatch-runner --counters`: test whether a device's counters can be read, and name the remedy if not. ---- */

/**
 * Count one metric of one small kernel of the runner. `out` receives the path, EVIDENCE_RANGE or EVIDENCE_CODE, the reason, and
 * the tool.
 */
void counters_try(const struct device_ops *ops, struct device *dev, struct msg_profile *out);

/** Do the same for a device (NULL: the first that has a context) and print one `profile` line. Returns the exit status. */
int mode_counters_run(const char *device);

/*
 * ---- crash ----
 * Position of a crash in a module, printed by a signal handler.
 *
 * The handler prints one line on stderr for each frame in a module, innermost first: "flopwatch: crash in /proc/self/fd/10 at
 * 0x1a2b". The worker has the symbols and finds the source position. The process then ends by the same signal as without the
 * handler.
 */

/** Install the handler, with a separate stack for this thread. Call once, before any module is loaded. */
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
 * A line is one rule of terms NAME=VALUE. `at` (time idle health_check clocks; default time), `run`, `cell` and `pass` ("2", or
 * "1-3"; missing: always) select when it applies. The others are readings: reasons foreign xid ecc temp_c power_w sm_mhz, and
 * lost=1 for a failed context. No rule changes a time.
 */

enum device_check_at { DEVICE_CHECK_AT_TIME, DEVICE_CHECK_AT_IDLE, DEVICE_CHECK_AT_HEALTH_CHECK, DEVICE_CHECK_AT_CLOCKS };

/** Moment of a reading. `cell`: number in the job. `pass`: discarded attempts so far; at clocks earlier processes of the run. */
struct device_check_moment {
	enum device_check_at at;
	int run, cell, pass;
};

/** Write the readings of each rule that applies to `g`. Unknown terms are ignored. Returns whether the context failed. */
bool device_check_script_apply(const char *script, const struct device_check_moment *when, struct msg_device_check *g);

/* ---- forward: The forward call whose results are inputs of a backward problem. ---- */

/** Parameters for comparing a forward's results with their reference, see struct family_check. */
struct forward_check {
	uint64_t seed;
	double visits; /* of the first comparison; later ones use the minimum */
};

/**
 * Plan, bind, run and unplan the forward that a problem needs, and make its results the problem's inputs; twice if p->varied. A
 * wrong result is the failure "wrong". `check` NULL: results are not compared, in modes whose times have no effect on verdicts.
 * Returns 0, or -1 with `f`, whose text begins with "its forward: ".
 */
int forward_run(struct side *s, struct problem *p, const struct forward_check *check, struct failure *f);

/**
 * Wait for the device and check that all masters, with those of forward results, are unchanged. Failure: "oob", of an unknown
 * side.
 */
int forward_hold_inputs(const struct problem *p, struct failure *f);

/* ---- launched: Kernels of a call in order, and their phases, read from captured graphs. ---- */

struct launched {
	int n; /* nodes: kernels, copies and memsets */
	int n_kernels;
	bool is_cut;             /* there were more than EVIDENCE_KERNELS_MAX */
	struct msg_kernel *node; /* node[n], without counters */
	bool *is_kernel;         /* is_kernel[n] */
};

/**
 * List the kernels of side `u`, planned and bound, in cell position `i`. Own: launched_free, also after -1. Err: the call
 * cannot be captured.
 */
int launched_list(struct launched *l, struct runner *r, int i, struct side *u, struct fw_err *err);
void launched_free(struct launched *l);

/* ---- kerneltimes: Time of each kernel of a call from CUPTI's activity records, if counters are not available. ---- */

/**
 * Trace a few calls of a planned and bound side, in the cell at position `i`, and set `ms` of each of its kernels to the median.
 * Returns -1 with `err` and sets none if there are no times, or not those of the call's kernels; also with `f` if the call
 * failed.
 */
int kerneltimes_take(struct runner *r, int i, struct side *u, struct launched *l, struct failure *f, struct fw_err *err);

/*
 * ---- leaked_state ----
 * State that a module leaves changed in the shared process: device limits, persisting cache, rounding, threads, memory, signal
 * handlers, timers, priorities (hoststate.c).
 *
 * Each change is reported with its module in a `note` record and reverted if possible before the next module runs. A change that
 * cannot be reverted would affect the calls of other sides: it is the failure "slowed", and the process ends. A child process
 * that still runs could work outside the timed calls: it is the failure "escaped".
 */

/** Take a snapshot before one module runs alone, and before interleaved calls. */
void leaked_state_enter(struct runner *r);
/**
 * Report changes after one module ran alone. `end`: the side's plan is freed, so it must not use memory; before that its memory
 * is only recorded. At the end, and after loading, the worker compares processes, too. `i`: position in task->cell; -1: none.
 * Returns 0, or -1 with the failure of the side.
 */
int leaked_state_leave(struct runner *r, int i, const struct side *side, bool end, struct failure *f);
/** Report changes of the quick settings after a timed call is queued or done; each side is reported once. */
int leaked_state_between(struct runner *r, int i, const struct side *side, struct failure *f);

/* ---- meter: Power from the driver's energy counter. It advances in large steps, so only the time between steps is used. ---- */

/** First and last observed step of the counter. Initialise with METER_NEW. */
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

/** Load the library once. Returns 0; -1 if it is missing, so that all other functions return "unknown". */
int nvml_open(void);
/**
 * List the UUIDs of whole GPUs ("GPU-...") and of the instances of partitioned GPUs ("MIG-..."). Returns their number; 0 if the
 * driver does not report them. Shape: uuid[max].
 */
int nvml_list(char (*uuid)[NVML_UUID_SIZE], int max);
/** Write the version of the driver; "": unknown. Shape: out[size]. */
void nvml_driver(char *out, size_t size);
/** Write the VBIOS version of a GPU, or of an instance's GPU; "": unknown. Shape: out[size]. */
void nvml_vbios(const char *uuid, char *out, size_t size);
/**
 * Read a GPU. Takes about 10 ms on an H200. For an instance, temperature, clock and errors are those of its GPU; power and
 * energy, which all instances share, are unknown.
 */
void nvml_read(const char *uuid, struct nvml_reading *out);
/**
 * Return the SM clock if kernels ran for at least half of the driver's last sample period; -1: they did not, or unknown. Takes
 * less than 1 ms.
 */
double nvml_busy_mhz(const char *uuid);
/** Read the power limit and the maximum clock of a GPU; -1: unknown. */
void nvml_limits(const char *uuid, double *power_w, double *sm_mhz);
/**
 * List the processes with a compute context on a GPU, without MPS servers, because their clients are listed. Returns their
 * number; -1: unknown. Shape: pid[max].
 */
int nvml_compute_pids(const char *uuid, unsigned *pid, int max);
/**
 * Return the driver's pid of the calling process, whose pid in its namespace is `own`: the process that is listed only after the
 * caller created its context. 0: ambiguous. Shape: before[n_before], after[n_after]; a negative number is an unknown list.
 */
unsigned nvml_own_pid(unsigned own, const unsigned *before, int n_before, const unsigned *after, int n_after);

/** Return the energy used since the driver was loaded; -1: unknown, also for an instance. Takes 3 to 7 ms on an H200. */
double nvml_energy_j(const char *uuid);
/**
 * Return the last XID since the previous call that the driver reported for this GPU or instance; 0: none. The first call starts
 * to receive them.
 */
int nvml_xid(const char *uuid);

/*
 * ---- mig ----
 * Instances of partitioned GPUs (MIG), each measured as a separate device. A process can use only one instance, the first in
 * CUDA_VISIBLE_DEVICES. So each instance is described in a separate process, and a measuring process sets that variable before it
 * calls CUDA.
 */

/** UUIDs of the devices "cuda:0", "cuda:1", ... Shape: uuid[n]. */
struct mig_names {
	int n;
	char uuid[PROTOCOL_DEVICES_MAX][NVML_UUID_SIZE];
};

/**
 * List all GPUs and instances if at least one is an instance; n is 0 if all GPUs are whole, since CUDA then numbers them.
 * CUDA_VISIBLE_DEVICES, which a scheduler may set, limits the list.
 */
void mig_names(struct mig_names *out);

/** Describe device `index` of this process. Returns 0, or -1 with `err`. */
typedef int mig_describe_fn(int index, struct msg_device *out, struct fw_err *err);
/** Describe each device in a separate process; skip those that fail. Returns their number. Shape: out[max]. */
int mig_list(const struct mig_names *names, mig_describe_fn *describe, struct msg_device *out, int max);

/** Return the position of "cuda" (the first), "cuda:1" or a UUID; -1: none. */
int mig_find(const struct mig_names *names, const char *name);
/** Make device `which` device 0 of this process, which must not have called CUDA yet. Err: ERR_FULL. */
int mig_enter(const struct mig_names *names, int which, struct fw_err *err);
/** Write the UUID of this process's instance. Returns false if there is none, or several. Shape: uuid[size]. */
bool mig_own(char *uuid, int size);

/*
 * ---- mode_device ----
 * Device probes: modes idle, device_check, health_check and clocks. The process loads no branch code.
 *
 * idle: whether another process uses the device. device_check: this and all other readings, before and after benchmark programs
 * are timed. health_check: whether the device computes correctly, and equal work takes equal time. Each sends one `state` record.
 * clocks: the clock, repeatedly, until the process is ended.
 */

/**
 * Run mode idle or device_check: read the device without opening it, so that this process does not use it. Returns the exit
 * status.
 */
int mode_device_read_run(const struct msg_task *task, struct records *records);
/** Run mode health_check: open the device, compute a known result, compare times of equal work. Returns the exit status. */
int mode_health_check_run(const struct msg_task *task, struct records *records);

/**
 * Run mode clocks: send one record at the start, then every 20 ms the clock if the device has load, until the reader closes the
 * descriptor or this process is ended. Devices without a driver have one record, with the clock that a test injects. Returns the
 * exit status.
 */
int mode_clocks_run(const struct msg_task *task, struct records *records);

/*
 * ---- profile ----
 * Mode profile: the kernels of one side's call, and their counters. Kernels are serialised in such a process, so its times have
 * no effect on verdicts.
 */

/**
 * For each cell send a `kernel` record for each kernel of a call, in launch order, and a `profile` record that states how the
 * counters were read, or why they were not. Returns the exit status.
 */
int mode_profile_run(struct runner *r);

/*
 * ---- range ----
 * NVTX ranges that name the stages of a run for profilers; without NVTX's headers at build time the functions do nothing.
 *
 * All ranges are in the domain "flopwatch". A cell's range has the key as registered string, so tools can select it (`nsys -c
 * nvtx -p 'KEY@flopwatch'`, `ncu --nvtx --nvtx-include 'flopwatch@KEY/'`, where each / of the key is written \/). Its category is
 * the side, its payload identifies the call. A phase has a nested range of category "phase". Without a profiler a range takes a
 * few nanoseconds.
 */

/** One call. The range's payload is `run`, `pass`, `call` and `seed`. */
struct range_call {
	const char *cell; /* key */
	enum role role;
	uint32_t run, pass; /* pass 0: warm-up calls */
	uint32_t call;
	uint64_t seed;
};

/** Begin the range of a call. */
void range_cell(const struct range_call *call);
/** Begin the nested range of a phase, or a range outside of calls: "warm". */
void range_phase(const char *phase);
/** End the innermost range. */
void range_end(void);

/*
 * ---- sampler ----
 * Instructions and stalls of a kernel's warps: the GPU samples a warp of each scheduler at a fixed interval. Kernels are
 * serialised meanwhile, so times of such a call are meaningless.
 */

enum { SAMPLER_REASONS_MAX = 64 };

struct sampler_function {
	char *symbol;               /* mangled */
	size_t n;                   /* instructions, up to the last sampled one */
	uint32_t *count;            /* count[n][reasons]: number of samples */
	unsigned long long samples; /* sum of `count` */
};

struct sampler {
	const struct cupti_sampling *cupti;
	void *context;
	bool is_enabled;
	size_t n_names, reasons;                          /* number of stall reasons in the library; in `reason` */
	int of_index[SAMPLER_REASONS_MAX];                /* index in `reason` of the library's reason i; -1: none */
	char reason[SAMPLER_REASONS_MAX][STALLNAME_SIZE]; /* reason[reasons] */
	struct sampling_data got, unread;                 /* unread: samples that remain when the library stops; unused */
	size_t n;
	struct sampler_function *function; /* function[n] */
	unsigned long long dropped;        /* samples that the GPU could not store */
};

/* ---- prepare: The start state of each call of a profile. ---- */

/** Restore inputs, fill outputs, evict the cache, as before a timed call, and wait. Returns 0, or -1 with `f`. */
int prepare_call(struct runner *r, struct side *u, struct failure *f);

/* ---- verifier: Comparison of any number of results with a reference that is computed once. ---- */

struct verifier {
	const struct problem *problem;
	const struct family_check *check;
	struct check_io io; /* do not move the struct while it is open */
	struct expected *expected;
};

/**
 * Compute the reference of `p` for its current inputs. `seed`, `visits`: as in struct family_check. Own: verifier_close, also
 * after a failure; borrows `p`.
 */
int verifier_open(
	struct verifier *v, const struct problem *p, enum direction direction, uint64_t seed, double visits, struct failure *f);
void verifier_close(struct verifier *v);
/** Compare the problem's outputs with the reference. `after`: beginning of the message, "with its phases one by one: ", or "". */
int verifier_result(const struct verifier *v, const char *after, struct accept_result *result, struct failure *f);

/*
 * ---- spot_check ----
 * Checks of random calls during timing.
 *
 * Every timed call has different inputs (input_variant.c), so a result from a cache is wrong. A few calls of a pass are watched.
 * They are timed like all others, with inputs whose results are known. Their outputs are copied when the device reports that the
 * call is done, and must not change after all other work of the module has ended ("escaped"; such work alone is a fault if two
 * calls in a row have it). Their results must be right ("wrong"). Redzones, inputs, and the workspaces of other sides must be
 * unchanged ("oob").
 *
 * The runner needs a moment before and after a watched call, which a module could notice. So there are also copied calls, which
 * only their inputs distinguish: their outputs are copied on the stream, and compared after the pass.
 *
 * On a device with simulated times no call computes, and these functions do nothing.
 */

enum { SPOT_CHECK_BELONGINGS_MAX = 2 * PROTOCOL_SIDES_MAX, SPOT_CHECK_LATER_MAX = 4 };

/** The inputs that change from call to call. Known inputs are those of watched calls. */
enum spot_check_change {
	SPOT_CHECK_ANY,    /* all inputs that can change, with results of either forward */
	SPOT_CHECK_OTHER,  /* all inputs that can change; known inputs use the second forward */
	SPOT_CHECK_OTHERS, /* the same without the family's first inputs */
	SPOT_CHECK_FIRST   /* only the family's first inputs */
};

/** Copies of a call's outputs, by slot; NULL: none. */
struct spot_check_copy {
	void *data[FAMILY_SLOTS_MAX];
};

struct spot_check {
	struct runner *runner;
	struct problem *problem;
	bool active;       /* the device computes, so calls are checked */
	bool watching;     /* between spot_check_before and spot_check_after */
	bool binds;        /* calls start from an idle stream, directly after bind, as in series call */
	bool is_ambiguous; /* any side that ran since the last check may have caused a finding of spot_check_before */
	bool unnamed;      /* is_ambiguous, and no further call can show which side it was */
	enum spot_check_change change;
	struct input_variant known; /* inputs of `verifier` */
	struct verifier verifier;
	struct spot_check_copy copy;
	struct spot_check_later {
		bool has_space, is_taken; /* `copy` is allocated; it has the outputs of a call that is not checked yet */
		bool is_any; /* the inputs are drawn as those of all other calls, and their reference is computed later */
		struct input_variant any; /* these inputs */
		struct spot_check_copy copy;
	} * next,                                                /* the copied call that is made now, if is_any; else NULL */
		later[PROTOCOL_SIDES_MAX][SPOT_CHECK_LATER_MAX]; /* by position in runner->side */
	int n_belongings;                                        /* workspaces of the sides that do not run now */
	struct {
		const struct side *owner;
		const void *data;
		size_t bytes;
		uint64_t sum;
	} belonging[SPOT_CHECK_BELONGINGS_MAX];
};

/** Draw random inputs. */
void spot_check_draw(struct runner *r, const struct problem *p, enum spot_check_change change, struct input_variant *out);
/** Write the names of the changing tensors: "Q", "K and V". Shape: out[size]. */
void spot_check_names(const struct problem *p, enum spot_check_change change, char *out, size_t size);
/** Add a second forward with other inputs, if there is enough memory. Call before forward_run. */
void spot_check_vary(struct runner *r, struct problem *p);
/**
 * Choose the inputs of watched calls and compute their reference. `visits`: as in struct family_check. Own: spot_check_close,
 * also after a failure. Failure: "oob", of an unknown side, if a master has changed.
 */
int spot_check_open(struct spot_check *w, struct runner *r, struct problem *p, enum spot_check_change change, double visits,
	struct failure *f);
void spot_check_close(struct spot_check *w);

/**
 * Prepare to watch the next call, which is one of `u`: wait for the device, and record the state that `u` must not change.
 * Failure: "oob", of an unknown side, if a redzone or a master is damaged already; redzones are repaired.
 */
int spot_check_before(struct spot_check *w, const struct side *u, struct failure *f);
/**
 * Set the inputs of the next call: the known ones if it is watched, otherwise random ones. SPOT_CHECK_FIRST sets only the first
 * inputs. Asynchronous.
 */
int spot_check_set_inputs(struct spot_check *w, struct failure *f);
/**
 * Check the watched call, before any other use of the device. `when`: beginning of the message about a wrong result. Returns 0,
 * or -1 with the failure of `u`.
 */
int spot_check_after(struct spot_check *w, struct side *u, const char *when, struct failure *f);
/**
 * Allocate copies for `n` copied calls of each side, at most SPOT_CHECK_LATER_MAX. If there is too little memory, there are
 * fewer, and a note reports it. Own: spot_check_close.
 */
void spot_check_make_later(struct spot_check *w, int n);
/**
 * Make the next call, which is one of `u`, copied call `k`: it has the known inputs, or for one `k` inputs that are drawn like
 * those of all other calls. Returns false if copy `k` does not exist or is not checked yet.
 */
bool spot_check_later_before(struct spot_check *w, const struct side *u, int k);
/** Copy the results, directly after that call. Asynchronous. */
int spot_check_later_after(struct spot_check *w, const struct side *u, int k, struct failure *f);
/** Check all copied calls of `u`, whose copies can then be used again. `when`: beginning of the message about a wrong result. */
int spot_check_later_check(struct spot_check *w, const struct side *u, const char *when, struct failure *f);

/** Make one whole watched call that is not timed, with marks 0 and 1 and stamp 0. `cold`: evict the cache. */
int spot_check_call(struct spot_check *w, struct side *u, int poison, bool cold, const char *when, struct failure *f);

/* ---- stalls: Warp stalls of a call's kernels by instruction, in a process that only samples. ---- */

/** A planned and bound call, and its kernels. */
struct stalls_call {
	struct runner *runner;
	struct side *side;
	int i; /* position of the cell in task->cell */
	const struct launched *kernels;
	double call_ms; /* time of the call */
};

/**
 * Sample some calls, and send a `stalls` record for each sampled kernel. Returns -1 with `err`, a message for the user, if there
 * are no samples; also with `f` if the call failed.
 */
int stalls_take(const struct stalls_call *c, struct failure *f, struct fw_err *err);

/*
 * ---- timing ----
 * Passes of interleaved timed calls over the sides of one cell.
 *
 * In each round every side makes one call, in the order AB, BA, BA, AB, AB, BA, ... (order.c); base and target begin runs
 * alternately. With more sides the order rotates by one every second round, and every other round is backwards, so that a drift
 * that is linear over two rounds cancels. Every call is cold: it has different inputs, outputs filled with a random byte, and an
 * evicted cache. In a pass that may decide, two random calls of each side and its last one are watched, and two more are copied
 * (spot_check.c). All are made like the others. Of two rounds the first is copied, the last is watched.
 */

struct timing {
	struct runner *runner;
	struct problem *problem;
	int cell;                              /* position in task->cell */
	int n;                                 /* number of sides */
	struct side *side[PROTOCOL_SIDES_MAX]; /* side[n], planned and bound */
	int start;                             /* index of the side that begins round 0 */
	double pair_ms;                        /* device time of one round: of calls alone, then of the last warm-up round */
	bool has_opening;                      /* `opening` is valid */
	struct msg_device_check opening;       /* first reading of the first pass, taken during the warm-up */
	struct spot_check *spot_check;
	struct side *culprit; /* the side whose failure ended a pass; NULL: unknown */
};

/**
 * A reading of the device takes about 15 ms. It is taken during two calls of at least this length, so that the device is not
 * idle; for shorter calls it is taken during the warm-up.
 */
#define TIMING_UNSEEN_MS 20

enum { TIMING_AHEAD = 6 }; /* queued calls; two are enough for a host that is faster than the device */

/** Times of one pass. Shape: [side][round]. */
struct samples {
	float ms[PROTOCOL_SIDES_MAX][PROTOCOL_SAMPLES_MAX];
	float mhz[PROTOCOL_SIDES_MAX][PROTOCOL_SAMPLES_MAX];
	float host_us[PROTOCOL_SIDES_MAX][PROTOCOL_SAMPLES_MAX];
};

/** Return the index of the side with a role; -1: none. */
int timing_position(const struct timing *t, enum role role);
/**
 * Return the number of rounds that the rule's budget allows if a round takes `round_ms`: a multiple of 4, or the rule's fewest.
 */
int timing_rounds(const struct rule *r, double round_ms, int n_sides, const struct device_ops *ops);

/**
 * Warm up: make rounds that are not recorded, with the same idle times as timed rounds, until `until_us` on ops->host_us; at
 * least one unless the cell's calls are long.
 */
int timing_warm(struct timing *t, double until_us, struct failure *f);
/** Time series device: `rounds` rounds, between device readings, with at least two calls queued. Sends one record. */
int timing_device(struct timing *t, int rounds, struct failure *f);
/** Options of timing_call: watch all calls; measure as for a deciding series, with device readings and some watched calls. */
enum { TIMING_WATCHED = 1, TIMING_DECIDES = 2 };
/**
 * Time series call: the stream is idle before each call, and the host's clock times bind, enqueue and wait; stamps of the SM
 * clock are outside of that time. `how`: options, a bit set. Sends one record.
 */
int timing_call(struct timing *t, int rounds, unsigned how, struct failure *f);
/**
 * Time series phase: each timed phase separately between marks, less the time between two marks without work. Sends one record
 * for each phase.
 */
int timing_phase(struct timing *t, int rounds, struct failure *f);

/** Prepare a cold call before its time begins. Does not write buffers for a side with pass_time. */
int timing_cold(struct timing *t, struct side *u, struct failure *f);
/** Begin a call's NVTX range; range_end ends it. */
void timing_range(const struct timing *t, const struct side *u, int call);
/**
 * Send an `at` record before a call, unless the device has a queue: that would take time, and a failure may be of an earlier
 * call.
 */
void timing_report_at(struct timing *t, const struct side *u, const char *step);
/** Check after a call and its marks that the state of the process is unchanged. Returns 0, or -1 with `f` and t->culprit. */
int timing_leave(struct timing *t, struct side *u, struct failure *f);
/**
 * Rounds of the watched and copied calls of a pass, by side: one in each half; and the last round, in which all sides are
 * watched. Of two rounds the first is copied, the last is watched.
 */
struct timing_watch {
	int round[PROTOCOL_SIDES_MAX][2]; /* watched */
	int last;                         /* watched, of all sides */
	int later[PROTOCOL_SIDES_MAX][2]; /* copied */
};
/** Draw these rounds. */
void timing_choose_watched(struct timing *t, int rounds, struct timing_watch *out);
/** Return whether the call of side `who` in this round is watched. */
bool timing_is_watched(const struct timing *t, const struct timing_watch *w, int who, int round);
/** Prepare the call of side `who` in this round if it is copied. Returns its number `k`; -1: it is not copied. */
int timing_later_before(struct timing *t, const struct timing_watch *w, int who, int round);
/** Copy the results after that call and its marks. Returns 0, or -1 with `f` and t->culprit. */
int timing_later_after(struct timing *t, struct side *u, int k, struct failure *f);
/** Check all copied calls, after the pass. Returns 0, or -1 with `f` and t->culprit. */
int timing_later_check(struct timing *t, struct failure *f);
/** Check a watched call. `when`: beginning of the message. Returns 0, or -1 with `f` and t->culprit. */
int timing_finish_watched(struct timing *t, struct side *u, const char *when, struct failure *f);
/**
 * Set t->culprit to `u` if its call changed the runner's code or tables; other failures may be those of an earlier queued call.
 */
void timing_blame_forger(struct timing *t, struct side *u, const struct failure *f);
/** Make cold call `c`, between marks 2c and 2c + 1 and stamps c; `*host_us` receives the host's time of enqueue. */
int timing_one(struct timing *t, struct side *u, int c, float *host_us, struct failure *f);
struct timing_pass {
	int rounds;
	int redo;     /* discarded passes before this one */
	unsigned how; /* of series call: as in timing_call */
	struct msg_device_check device_check;
};
/** Make one pass: store the first reading in p->device_check, and the times in `x`. */
typedef int timing_pass_fn(struct timing *t, struct timing_pass *p, struct samples *x, struct failure *f);
/**
 * Make a pass between device readings; repeat it if the readings invalidate it, at most three times. p->device_check shows
 * whether the result is valid.
 */
int timing_make_pass(struct timing *t, timing_pass_fn *run, struct timing_pass *p, struct samples *x, struct failure *f);
/** Return `ms`, or the smallest positive float if it is 0. */
float timing_at_least(float ms);
/** Initialise a `cell` record without sides. */
void timing_begin_record(const struct timing *t, struct msg_cell *m, enum series series, const char *phase, int rounds);
/** Write m->order. `number`: by side, its position in the record; -1: it is not in the record. */
void timing_write_order(const struct timing *t, struct msg_cell *m, const int *number, int rounds);
/** Fill the record with the times of all sides, and send it. `mhz`, `host_us`: whether it has these. */
void timing_write_series(struct timing *t, struct msg_cell *m, struct samples *x, bool mhz, bool host_us);
/** Return -1 with `f` if a reading showed that the device's context has failed, else 0. */
int timing_lost(struct timing *t, struct failure *f);

/*
 * ---- sustained ----
 * Series sustained: calls of one side without a break, so that the clock stabilises under the power draw of that side.
 *
 * The calls of a pair have the same clock, so pairs give the ratio at equal clocks; sustained runs A B or B A give the ratio
 * under lasting load. Both sides first run interleaved, until the clock has dropped under load. Successive runs of a cell have
 * the opposite order, which cancels drift.
 */

/**
 * Make a sustained run of base and one of target, which must be among the sides, and repeat both if device readings invalidate
 * them. `busy_since_us`: start of the interleaved load, on ops->host_us. Sends one record. Returns 0, or -1 with `f`.
 */
int sustained_run(struct timing *t, bool target_first, double busy_since_us, struct failure *f);

/* ---- task: One whole runner process: read the `task` line, do it, report all results. ---- */

/**
 * Read one `task` line from `in_fd`, do it, and write records to `records_fd`. Returns the exit status: 0 all results were
 * reported, 1 error, 2 the line is not a valid task, 3 a kernel made the device fail, and a fault record names its side.
 */
int task_run(int in_fd, int records_fd);

/** Print the devices of this machine on stdout as a `hello` line. Returns the exit status. */
int task_list(void);

/* ---- time: Mode time: one run of all sides over all cells. ---- */

/** Time all cells, in random order. Returns the exit status. */
int mode_time_run(struct runner *r);

#ifdef __cplusplus
}
#endif

#endif
