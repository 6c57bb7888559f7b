/**
 * device.h - interface between the runner and a device; cpu.c, cuda.cu and sim.c implement it.
 *
 * A device owns one context and one stream. It gives times as float32 milliseconds between two marks on its stream. `sim`
 * computes on the CPU but makes its times from the work that a module reports and the noise of a recorded trace; all of its
 * clocks are simulated, so a run on it is the same on every machine.
 */
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "protocol/protocol.h"
#include "kernels/fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/**
 * Effect of a call on device sim: its work, and the traits of a test module (sim_traits.h). Zeros: no traits. A share
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
	/** Wait until the stream is done. Err: ERR_INVALID a kernel failed; the device is then lost to this process. */
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
	void (*look)(int index, struct msg_device_check *out, char *who, size_t size);
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

#ifdef __cplusplus
}
#endif
#endif
