/**
 * fw_kernel.h - C ABI 2 between flopwatch-runner and a kernel library.
 * The computation is defined by a kernel family. Each family has its own header, fw_NAME.h (such as fw_attention.h), with its
 * number, the sizes of a problem, its buffers and its phases. This header is common to all families.
 * A kernel library is a shared object with one exported function, fw_entry(), which returns a table of providers: implementations
 * that solve the same problem ("hopper", "hopper.v1", "cpu"). The runner opens the library with dlopen (a script may use ctypes)
 * and drives every provider through the same five steps:
 *
 *     can()      does the provider solve this problem?
 *     plan()     choose a configuration; report the phases and the workspace size                  (untimed)
 *     bind()     store addresses                                                                   (untimed)
 *     enqueue()  run the work, or some of its phases, on the given stream                          (timed)
 *     count()    report the work that is actually done on given inputs                                (untimed)
 * Ownership: the runner owns device, context, stream, every buffer, the inputs, the count of useful FLOPs, the clock and the
 * verdict. The library owns only its plans. Libraries of several builds are loaded into one process, so a library must not change
 * process-wide or device-wide state: no device limits, no L2 windows, no resets, no signal handlers or timers, no priorities, no
 * exit, no threads or processes that outlive a call. The runner restores such state if it differs after a call. The contents of
 * every input may change between calls on the same plan.
 * All calls come from one thread. The header is C99 and C++. Structs only grow at their end; each begins with struct_size. Fields
 * beyond a smaller struct_size are read as 0 and are not written. Every int function returns an enum fw_status.
 * ABI 1 had only attention, with a pointer to its sizes where `shape` is now. If fw_entry(2) returns NULL, the runner calls
 * fw_entry(1) and uses the structs of ABI 1.
 */
#ifndef FW_KERNEL_H
#define FW_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FW_ABI 2u

/**
 * FW_UNSUPPORTED: the provider does not solve the problem; this is never counted as a failure of the branch. FW_INVALID: the
 * caller broke the contract. FW_FAILED: a runtime failure, such as no memory or a launch that the device refused.
 */
enum fw_status { FW_OK = 0, FW_UNSUPPORTED = 1, FW_INVALID = 2, FW_FAILED = 3 };

/** On FW_CPU the stream is NULL and enqueue returns when the work is done. */
enum fw_device { FW_CPU = 1, FW_CUDA = 2 };
/**
 * FW_DGRAD and FW_WGRAD are the two halves of a backward pass, in families that split it; FW_TOTAL is a forward and the whole
 * backward in one call.
 */
enum fw_direction { FW_FORWARD = 1, FW_BACKWARD = 2, FW_DGRAD = 3, FW_WGRAD = 4, FW_TOTAL = 5 };
enum fw_dtype { FW_BF16 = 1, FW_F16, FW_F32, FW_E4M3, FW_E5M2, FW_I8, FW_I4, FW_I32, FW_U32 };

/**
 * Phases of one call are bits, numbered in the order in which they run and named by the family, at most six. A library declares
 * the phases it has (fw_info.phases) and accepts any subset.
 */
enum fw_phases { FW_ALL = 63 };

/** FW_DETERMINISTIC: equal inputs must give equal bits. */
enum fw_problem_flag { FW_DETERMINISTIC = 1, FW_FAST_ACCUM = 2 };

/**
 * Properties of a provider. Plans are never timed.
 *   FW_JIT    compiles in plan. Compiled code is not cached between processes; code outside the library's file is not compared
 *             with the base's
 *   FW_TUNES  searches in plan. It searches when it is checked. The configuration it chose is passed back to it (fw_info.config)
 *             in every process that times it, so that all runs use the same one; the library must then use it. A
 *             configuration is 1 to 158 printable bytes. The tried configurations and their times are reported in
 *             fw_info.candidate
 *   FW_SYNCS  enqueue synchronises. It is not captured into a graph, so its kernels are not listed; its time includes the wait
 */
enum fw_provider_flag { FW_JIT = 1, FW_TUNES = 2, FW_SYNCS = 4 };

/** Own: the runner; valid from bind until the next bind or destroy. */
struct fw_tensor {
	void *data;        /* device address (host address on FW_CPU); NULL: not used by this problem */
	int64_t stride[3]; /* elements; outermost first; all 0: row-major */
	int32_t dtype;     /* enum fw_dtype */
	int32_t flags;     /* 0 */
};

/** Sizes only: `shape` is the struct of the family's header, which also begins with a struct_size. */
struct fw_problem {
	uint32_t struct_size;
	int32_t family;    /* defined by the family's header: FW_ATTENTION, ... */
	int32_t direction; /* enum fw_direction */
	int32_t flags;     /* enum fw_problem_flag */
	const void *shape;
	uint32_t shape_size; /* bytes of *shape */
};

struct fw_plan; /* defined by the library */

/** A configuration that plan tried. This struct does not grow. */
struct fw_candidate {
	const char *config;
	double ms; /* time of a call; 0: not timed, because the configuration does not run or plan times nothing */
};

/** The result of plan. Own: config and candidates live as long as the plan. */
struct fw_info {
	uint32_t struct_size;
	uint32_t phases;          /* phases of the family that exist for this problem */
	uint32_t once;            /* phases that depend on weights alone, 0 if the family has none. Timed calls run the others */
	uint32_t reserved;        /* 0 */
	uint64_t workspace_bytes; /* 256-aligned scratch; may be overwritten between two whole calls */
	uint64_t persist_bytes;   /* 256-aligned; preserved between calls */
	const char *config; /* "BLOCK_M=128 BLOCK_N=128 STAGES=2", shown next to results; passed to plan it fixes the choice */
	const struct fw_candidate *candidate; /* [n_candidates] tried, including the chosen one; only for display */
	uint64_t n_candidates;                /* 0: none tried, or not reported */
};

struct fw_io {
	uint32_t struct_size;
	uint32_t n_slots;
	const struct fw_tensor *slot; /* slot[n_slots], indexed by the family's slot enum */
	void *workspace;
	void *persist;
};

/**
 * The work of this configuration on given inputs, as claimed by the library. Shown next to the useful FLOPs, which the runner
 * counts.
 */
struct fw_work {
	uint32_t struct_size;
	uint32_t reserved;
	double flops_issued; /* multiplications and additions that are executed, including padding and masked elements */
	double bytes_moved;  /* that the kernels request from memory, cache hits included */
	int64_t tiles_total, tiles_skipped,
		tiles_partial; /* of the configuration: without a mask; skipped; masked element by element */
	int64_t blocks_kept; /* set blocks of a block mask, over all key heads, or pairs of a token mask, over all query heads */
};

struct fw_provider {
	uint32_t struct_size;
	int32_t device;   /* enum fw_device */
	int32_t family;   /* defined by the family's header */
	int32_t flags;    /* enum fw_provider_flag */
	const char *name; /* unique in the library, stable, at most 47 bytes; the first whose can() succeeds is the default */

	/** Whether the provider solves the problem. Err: FW_UNSUPPORTED with the reason in `why`, which may be NULL. */
	int (*can)(const struct fw_problem *, char *why, size_t why_size);

	/**
	 * Make a plan. May compile or search; allocates no device memory that outlives the call. `index`: CUDA ordinal, or number
	 * of CPU threads (0: all). `config`: NULL to choose, else the string of an earlier fw_info.
	 * Own: the caller owns the plan until destroy; problem and config are read during the call only.
	 * Err: FW_UNSUPPORTED the problem is not solved, or not with this config; FW_INVALID; FW_FAILED. `why` contains the
	 * reason, and no plan is made.
	 */
	int (*plan)(const struct fw_problem *, const char *config, int index, struct fw_plan **, struct fw_info *, char *why,
		size_t why_size);

	/**
	 * Store addresses and build tensor maps. Reads no buffer, launches nothing. May be called again with other addresses.
	 * Own: `io` is read during the call only; the memory it points to must stay valid until the next bind or destroy.
	 * Err: FW_INVALID a slot is missing, FW_UNSUPPORTED its strides are not supported; error() returns which, and the plan is
	 * not bound.
	 */
	int (*bind)(struct fw_plan *, const struct fw_io *);

	/**
	 * Enqueue the phases on `stream` (cudaStream_t). Neither allocates nor synchronises, so that it can be captured into a
	 * graph; FW_ALL may fuse phases. Phases that do not exist are skipped.
	 * Err: FW_INVALID bind was not called, or the inputs are not as planned; FW_FAILED a launch was refused. error() returns
	 * which.
	 */
	int (*enqueue)(struct fw_plan *, uint32_t phases, void *stream);

	/**
	 * Count the work on given inputs. NULL function: unknown.
	 * Shape: `host` has host copies of the slots that the work depends on (defined by the family), other slots NULL.
	 * Err: FW_UNSUPPORTED as plan; FW_INVALID a slot is missing; FW_FAILED. On error nothing is written.
	 */
	int (*count)(const struct fw_problem *, const char *config, const struct fw_io *host, struct fw_work *);

	/** Message of the plan's last failure, "" if none or if the plan is NULL. Own: the plan, until its next call. */
	const char *(*error)(const struct fw_plan *);

	/** Accepts NULL. */
	void (*destroy)(struct fw_plan *);
};

struct fw_module {
	uint32_t abi; /* FW_ABI */
	uint32_t struct_size;
	uint32_t n_providers;
	uint32_t reserved;
	const char *build; /* free text, only for display; without commit, date or path: equal sources must have equal hashes */
	const struct fw_provider *const *provider;
};

#define FW_EXPORT __attribute__((visibility("default")))

/** The only exported symbol. NULL: the library cannot serve `host_abi`. Own: the library (static data). */
FW_EXPORT const struct fw_module *fw_entry(uint32_t host_abi);

#ifdef __cplusplus
}
#endif
#endif
