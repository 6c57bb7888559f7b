/**
 * fw_kernel.h - C ABI 2 between flopwatch-runner and a kernel library.
 *
 * What is computed is said by a family, in a header of its own: fw_attention.h has its number, the sizes of a problem, its buffers
 * and its phases, and so has fw_NAME.h of every other. This one is common to all.
 *
 * A kernel library is a shared object with one exported function, fw_entry(), which returns a table of providers: ways to
 * compute the same problem ("hopper", "hopper.v1", "cpu"). The runner opens the library with dlopen (a script may use
 * ctypes) and drives every provider through the same five steps:
 *
 *     can()      is this problem one you solve?
 *     plan()     choose a configuration; say which phases exist and how much workspace they need   (untimed)
 *     bind()     remember addresses                                                                (untimed)
 *     enqueue()  do the work, or some phases of it, on the given stream                            (timed)
 *     count()    report what is really computed on given inputs                                    (untimed)
 *
 * Who owns what: the runner owns device, context, stream, every buffer, the inputs, the count of useful FLOPs, the clock
 * and the verdict. The library owns its plans and nothing else. Libraries of several builds live in one process, so a
 * library must not touch process-wide or device-wide state: no device limits, no L2 windows, no resets, no signal handlers or
 * timers, no priorities, no exit, no threads or processes that outlive a call. What is found changed after a call is set back.
 * Every input may hold something else in the next call on the same plan.
 *
 * All calls come from one thread. The header is C99 and C++. Structs only grow at their end; each begins with struct_size,
 * and what a smaller struct_size leaves out reads as 0, or is not written. Every int function returns an enum fw_status.
 *
 * ABI 1 knew attention alone and had a pointer to its sizes where `shape` is now. A library that answers fw_entry(2) with NULL is
 * asked for 1, and handed what ABI 1 had.
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
 * FW_UNSUPPORTED is a fair answer and never the branch's fault; FW_INVALID means the caller broke the contract; FW_FAILED is what
 * neither can help: no memory, a launch that the device refused.
 */
enum fw_status { FW_OK = 0, FW_UNSUPPORTED = 1, FW_INVALID = 2, FW_FAILED = 3 };

/** On FW_CPU the stream is NULL and enqueue returns when the work is done. */
enum fw_device { FW_CPU = 1, FW_CUDA = 2 };
/** FW_DGRAD and FW_WGRAD are the two halves of a backward that has such; FW_TOTAL a forward and its whole backward in one call. */
enum fw_direction { FW_FORWARD = 1, FW_BACKWARD = 2, FW_DGRAD = 3, FW_WGRAD = 4, FW_TOTAL = 5 };
enum fw_dtype { FW_BF16 = 1, FW_F16, FW_F32, FW_E4M3, FW_E5M2, FW_I8, FW_I4, FW_I32, FW_U32 };

/**
 * Parts of one call are bits, numbered in the order they run and named by the family, which has at most six. A library declares
 * the ones it has (fw_info.phases) and accepts any subset.
 */
enum fw_phases { FW_ALL = 63 };

/** FW_DETERMINISTIC: equal inputs must give equal bits. */
enum fw_problem_flag { FW_DETERMINISTIC = 1, FW_FAST_ACCUM = 2 };

/**
 * What a provider does that others do not. No plan is ever on the clock.
 *   FW_JIT    compiles in plan. Nothing that it compiled is kept from one process to the next; code that is not
 *             in the library's file is not compared with the base's
 *   FW_TUNES  searches in plan. It searches when it is checked; what it found is handed back to it (fw_info.config) in every process
 *             that times it, so that all launches run one configuration, of 1 to 158 printable bytes, and it must then choose that one.
 *             What it tried, and what that took, it tells by fw_info.candidate
 *   FW_SYNCS  enqueue synchronises. It is not captured into a graph, so its kernels are not listed; waiting is part of its time
 */
enum fw_provider_flag { FW_JIT = 1, FW_TUNES = 2, FW_SYNCS = 4 };

/** Own: the runner's; valid from bind until the next bind or destroy. */
struct fw_tensor {
	void *data;        /* device address (host address on FW_CPU); NULL: not used by this problem */
	int64_t stride[3]; /* elements; outermost first; all 0: row-major */
	int32_t dtype;     /* enum fw_dtype */
	int32_t flags;     /* 0 */
};

/** Sizes only: `shape` is the struct of the family's header, which begins with a struct_size too. */
struct fw_problem {
	uint32_t struct_size;
	int32_t family;    /* as its header defines it: FW_ATTENTION, ... */
	int32_t direction; /* enum fw_direction */
	int32_t flags;     /* enum fw_problem_flag */
	const void *shape;
	uint32_t shape_size; /* bytes of *shape */
};

struct fw_plan; /* the library's own */

/** A configuration that plan tried. This struct does not grow. */
struct fw_candidate {
	const char *config;
	double ms; /* of a call; 0: it was not timed, because it does not run, or because plan times nothing */
};

/** What plan decided. Own: config and candidates live as long as the plan. */
struct fw_info {
	uint32_t struct_size;
	uint32_t phases; /* those of the family that exist for this problem */
	uint32_t once;   /* phases that depend on weights alone, in families that have such, else 0. Timed calls run the others */
	uint32_t reserved;        /* 0 */
	uint64_t workspace_bytes; /* 256-aligned scratch; anyone may overwrite it between two whole calls */
	uint64_t persist_bytes;   /* 256-aligned; kept between calls */
	const char *config; /* "BLOCK_M=128 BLOCK_N=128 STAGES=2", shown beside figures; handed back to plan it pins the choice */
	const struct fw_candidate *candidate; /* [n_candidates] that were tried, with the chosen one; shown, never trusted */
	uint64_t n_candidates;                /* 0: none was, or they are not told */
};

struct fw_io {
	uint32_t struct_size;
	uint32_t n_slots;
	const struct fw_tensor *slot; /* slot[n_slots], indexed by the family's slot enum */
	void *workspace;
	void *persist;
};

/** What this configuration does on given inputs: the library's claim, shown beside the useful FLOPs, which are the runner's. */
struct fw_work {
	uint32_t struct_size;
	uint32_t reserved;
	double flops_issued; /* multiplications and additions of what is really multiplied, padding and masked elements included */
	double bytes_moved;  /* that the kernels ask memory for, whatever a cache keeps of it */
	int64_t tiles_total, tiles_skipped,
		tiles_partial; /* of the configuration: without a mask; left out; masked element by element */
	int64_t blocks_kept;   /* of a block mask, over all key heads */
};

struct fw_provider {
	uint32_t struct_size;
	int32_t device;   /* enum fw_device */
	int32_t family;   /* as its header defines it */
	int32_t flags;    /* enum fw_provider_flag */
	const char *name; /* unique in the library and stable; the first provider that can is the default */

	/** Whether the problem is solved here. Err: FW_UNSUPPORTED with the reason in `why`, which may be NULL. */
	int (*can)(const struct fw_problem *, char *why, size_t why_size);

	/**
	 * Make a plan. May compile or search; keeps no device memory. `index`: CUDA ordinal, or number of CPU threads (0: all).
	 * `config`: NULL to choose, else a text that an earlier fw_info carried.
	 * Own: the plan is the caller's until destroy; problem and config are read during the call only.
	 * Err: FW_UNSUPPORTED the problem, or not with this config; FW_INVALID; FW_FAILED. `why` says why, and there is no plan.
	 */
	int (*plan)(const struct fw_problem *, const char *config, int index, struct fw_plan **, struct fw_info *, char *why,
		size_t why_size);

	/**
	 * Take addresses (build tensor maps). Reads no buffer, launches nothing. May be called again with other addresses.
	 * Own: `io` is read during the call only; what it points to must last until the next bind or destroy.
	 * Err: FW_INVALID a slot is missing, FW_UNSUPPORTED its strides; error() says which, and the plan is not bound.
	 */
	int (*bind)(struct fw_plan *, const struct fw_io *);

	/**
	 * Put the phases on `stream` (cudaStream_t). Neither allocates nor synchronises, so that it can be captured into a graph;
	 * FW_ALL may fuse phases, and phases that do not exist are passed over.
	 * Err: FW_INVALID no bind came before, or the inputs are not as planned; FW_FAILED a launch was refused. error() says which.
	 */
	int (*enqueue)(struct fw_plan *, uint32_t phases, void *stream);

	/**
	 * The work on given inputs. NULL function: unknown.
	 * Shape: host copies of what the work depends on (the family says which slots) in `host`, other slots NULL.
	 * Err: FW_UNSUPPORTED as plan; FW_INVALID one of them is missing; FW_FAILED. Nothing is written then.
	 */
	int (*count)(const struct fw_problem *, const char *config, const struct fw_io *host, struct fw_work *);

	/** Last failure of this plan in words, "" if none or if the plan is NULL. Own: the plan's, until its next call. */
	const char *(*error)(const struct fw_plan *);

	/** Accepts NULL. */
	void (*destroy)(struct fw_plan *);
};

struct fw_module {
	uint32_t abi; /* FW_ABI */
	uint32_t struct_size;
	uint32_t n_providers;
	uint32_t reserved;
	const char *
		build; /* free text, shown, never trusted; no commit, date or path in it, or equal sources would not hash alike */
	const struct fw_provider *const *provider;
};

#define FW_EXPORT __attribute__((visibility("default")))

/** The only exported symbol. NULL: the library cannot serve `host_abi`. Own: static data of the library. */
FW_EXPORT const struct fw_module *fw_entry(uint32_t host_abi);

#ifdef __cplusplus
}
#endif
#endif
