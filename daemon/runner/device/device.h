/**
 * device.h - what the runner needs of a device; cpu.c, cuda.cu and sim.c provide it.
 *
 * A device owns one context and one stream. Times come from it as float32 milliseconds between two marks on its stream.
 * `sim` computes on the CPU but takes its times from the work that a module reports and the noise of a recorded trace; its
 * clocks, also the host's, are its own, so that a run on it is the same on every machine.
 */
#ifndef RUNNER_DEVICE_DEVICE_H
#define RUNNER_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/protocol/protocol.h"
#include "kernels/fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/**
 * What a call does to device sim: its work, and what else a fixture says about itself (sim_traits.h). Zeros: nothing special.
 * A slow call takes `slow_factor` times as long; `slow_share` of all calls are slow. What is done once takes
 * `once_factor` times as long.
 */
struct device_work {
	double flops, power_w, host_us, slow_share, slow_factor, once_factor;
};

/** A setting, or memory that is in use beside our own. Within `slack` of its old value it has not changed. */
struct device_setting {
	const char *name;
	int64_t value, slack;
	bool can_set;
};

enum { DEVICE_SETTINGS_MAX = 8 };

/** One node of a captured phase, as struct msg_node tells it. Strings are the caller's. */
struct device_node {
	const char *kernel; /* for people */
	const char *symbol; /* as the compiler mangled it; NULL: no kernel, or unknown */
	int sm;             /* what its code was compiled for: 90; 0 unknown */
	int grid[3], block[3], registers, local_bytes, shared_bytes;
	int ctas_per_sm; /* blocks of it that fit on a multiprocessor together; 0 unknown */
	bool is_kernel;  /* else the system copies, fills or calls the host */
};
typedef void device_node_fn(void *arg, const struct device_node *node);

/** Slots of marks and of stamps, and the bytes of a redzone. */
enum { DEVICE_MARKS_MAX = 1024, DEVICE_STAMPS_MAX = DEVICE_MARKS_MAX / 2, DEVICE_REDZONE_BYTES = 4096 };

/** The byte at offset `i` of every redzone. */
static inline unsigned char device_redzone_byte(size_t i)
{
	return (unsigned char)(0xc3u ^ (unsigned)(i * 29u));
}

struct device_ops {
	enum device_kind kind;
	int32_t abi_device; /* enum fw_device that providers must have */
	bool clocks;        /* mhz of a call is known */
	bool queues;        /* enqueue returns before the work is done */

	/** Describe device `index`. Err: ERR_NOT_FOUND no such device; anything else: it is there and does not work. */
	int (*describe)(int index, struct msg_device *out, struct fw_err *err);
	/** Own: close. `seed` is that of the run; only sim uses it. */
	int (*open)(int index, uint64_t seed, struct device **out, struct fw_err *err);
	/** Accepts NULL. */
	void (*close)(struct device *);
	/** What plan gets as `index`: CUDA ordinal, or number of CPU threads. */
	int (*plan_index)(const struct device *);

	/** A buffer between two redzones; 4 KiB aligned; the zone behind it begins at its last byte + 1. Own: release. */
	int (*alloc)(struct device *, size_t bytes, void **out, struct fw_err *err);
	/** The memory may be kept for a later alloc. Accepts NULL. */
	void (*release)(struct device *, void *);
	/** Wait, then look at both redzones of every live buffer. Err: ERR_INVALID, the first damaged buffer in `*which`; zones are repaired. */
	int (*guards)(struct device *, void **which, struct fw_err *err);

	/** Copies that wait for the stream first, and end before they return. */
	int (*upload)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	int (*download)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	/** Wait, then sum up every byte with its place: equal sums mean equal contents. Units: bytes is a multiple of 2. */
	int (*checksum)(struct device *, const void *data, size_t bytes, uint64_t *sum, struct fw_err *err);

	/* All of these are asynchronous on the stream. */
	/** Elements [0, n) of inputs_stream(seed, tensor) as bf16. */
	int (*fill_inputs)(struct device *, void *to, uint64_t seed, uint32_t tensor, size_t n, struct fw_err *err);
	/** Every byte `value`. */
	int (*fill_bytes)(struct device *, void *to, int value, size_t bytes, struct fw_err *err);
	int (*copy)(struct device *, void *to, const void *from, size_t bytes, struct fw_err *err);
	/** Write over twice the last-level cache. */
	int (*scrub)(struct device *, struct fw_err *err);

	/** The context as the driver counts it, for tools that read its counters, and the number of its device. NULL: there is no such thing. */
	void *(*context)(struct device *, int *driver_index);
	/** The stream that enqueue gets: cudaStream_t, or NULL. */
	void *(*stream)(struct device *);
	/** Mark a moment on the stream with `slot` (0 .. DEVICE_MARKS_MAX - 1). */
	int (*mark)(struct device *, int slot, struct fw_err *err);
	/** Stamp the clocks of every SM: before a call (end 0) and after it (end 1), in `slot` (0 .. DEVICE_STAMPS_MAX - 1). */
	int (*stamp)(struct device *, int slot, int end, struct fw_err *err);
	/** Wait until the stream has passed a mark. */
	int (*wait_mark)(struct device *, int slot, struct fw_err *err);
	/** Whether wait_mark would return at once. NULL where it always would. */
	bool (*passed_mark)(struct device *, int slot);
	/** Wait until everything on the stream is done. Err: ERR_INVALID a kernel failed, in words; the device is then lost to this process. */
	int (*wait)(struct device *, struct fw_err *err);
	/**
	 * Wait until everything on the stream is done, then for what else this process has going on: other streams; on a CPU, other
	 * threads for a moment. `*late_us`: how long those were busy after the stream was done. Err: as wait.
	 */
	int (*settle)(struct device *, double *late_us, struct fw_err *err);
	/** After wait: ms between two marks. */
	float (*elapsed_ms)(struct device *, int from_slot, int to_slot);
	/** After wait: mean SM clock between the stamps of `slot`; 0 unknown. */
	float (*clock_mhz)(struct device *, int slot);
	/** The clock that host time is read from; sim's own moves with its work. Units: us, any origin. */
	double (*host_us)(struct device *);
	/** sim only (NULL elsewhere): pass the time that a call takes, on the device and on the host that enqueues it. */
	void (*work)(struct device *, const struct device_work *);

	/**
	 * Capture what `enqueue(arg, stream)` puts on the stream into a graph, report its nodes, throw it away. A device without
	 * queue just calls it. Err: ERR_INVALID it failed, allocated or synchronised.
	 */
	int (*capture)(struct device *, int (*enqueue)(void *arg, void *stream), void *arg, device_node_fn *node, void *node_arg,
		struct fw_err *err);

	/** Start and stop of a profiler's range. */
	void (*profiler)(struct device *, bool start);
	/** Power, temperature, clock, limit reasons, foreign processes, XIDs, memory errors; what is unknown is left as it is. */
	void (*device_check)(struct device *, struct msg_device_check *out);
	/**
	 * Readings of device `index`, which this process has not opened: all processes on it are foreign, `who` says which they are, and
	 * memory errors are counted from the driver's start. NULL: nobody can tell.
	 */
	void (*look)(int index, struct msg_device_check *out, char *who, size_t size);
	/** SM clock of the device of this uuid, which need not be open, while something computes on it; -1: nothing does. NULL: nobody can tell. */
	double (*busy_mhz)(const char *uuid);
	/** Energy used so far, any origin. -1: unknown. NULL: nobody can tell. Units: J. */
	double (*energy_j)(struct device *);
	/**
	 * Settings that outlive a module's calls and change what later ones cost. `quick`: only the first of them, which can be asked
	 * after every call. Shape: out[DEVICE_SETTINGS_MAX]. Returns their number.
	 */
	int (*settings)(struct device *, bool quick, struct device_setting *out);
	/**
	 * Memory of the device that is in use beside the buffers of alloc, whoever took it. -1: unknown. NULL: nobody can tell. It may wait for
	 * the device, so never while anything is timed.
	 */
	int64_t (*taken_bytes)(struct device *);
	/** Set setting `which` back. Nothing happens where that cannot be done. */
	void (*set_back)(struct device *, int which, int64_t value);
};

/** "cuda:0", "cpu:0", "cpu", "sim:0" or a uuid. Err: ERR_NOT_FOUND, saying which devices there are. */
int device_find(const char *name, const struct device_ops **ops, int *index, struct fw_err *err);
typedef void device_left_out_fn(const char *address, const char *why);
/** All devices present, cuda before cpu before sim. Returns their number. One that cannot be described is told to `left_out` (NULL: nobody). */
int device_list(struct msg_device *out, int max, device_left_out_fn *left_out);

extern const struct device_ops device_cpu;
extern const struct device_ops device_sim;
#ifdef FW_HAVE_CUDA
extern const struct device_ops device_cuda;
#endif

#ifdef __cplusplus
}
#endif
#endif
