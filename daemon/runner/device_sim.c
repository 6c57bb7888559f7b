/*
 * device_sim.c - a device with a clock of its own, for tests of everything that times lead to.
 *
 * Modules compute on the CPU, but time passes only through work(): FLOPs at a fixed rate, times the noise of one recorded
 * call. The noise comes in runs of neighbouring calls, so that drift and outliers are those of a real GPU, and depends on the
 * launch's seed and the number of calls so far, never on whose call it is.
 */
#include "runner/device.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/inputs.h"
#include "runner/sim_trace.h"

enum { RUN_OF_CALLS = 64 }; /* neighbours in the trace that follow each other here too */

#define FLOPS_PER_NS 100.0 /* a call of the smoke suite takes milliseconds */
#define SCRUB_NS     1e6
#define LEAST_FLOPS  1000.0

struct device {
	struct device *host; /* device_cpu's; owns memory and computes */
	uint64_t seed;
	uint64_t calls;
	unsigned at;     /* place in the trace */
	double now_ns;   /* the only clock here */
	double call_mhz; /* of the last call */
	double mark_ns[DEVICE_MARKS_MAX];
	float stamp_mhz[DEVICE_STAMPS_MAX];
};

static int sim_describe(int index, struct msg_device *out, struct fw_err *err)
{
	if (index != 0)
		return err_set(err, ERR_NOT_FOUND, "no device sim:%d", index);
	if (device_cpu.describe(0, out, err) != 0)
		return -1;
	snprintf(out->kind, sizeof(out->kind), "sim");
	snprintf(out->uuid, sizeof(out->uuid), "sim-0");
	snprintf(out->name, sizeof(out->name), "simulated device");
	snprintf(out->toolkit, sizeof(out->toolkit), "cpu");
	out->clock_max_mhz = 1980;
	return 0;
}

static void sim_close(struct device *d)
{
	if (!d)
		return;
	device_cpu.close(d->host);
	free(d);
}

static int sim_open(int index, uint64_t seed, struct device **out, struct fw_err *err)
{
	if (index != 0)
		return err_set(err, ERR_NOT_FOUND, "no device sim:%d", index);
	struct device *d = calloc(1, sizeof(*d));
	if (!d)
		return err_set(err, ERR_FULL, "no memory for the simulated device");
	d->seed = seed;
	if (device_cpu.open(0, seed, &d->host, err) != 0) {
		sim_close(d);
		return -1;
	}
	/* One thread: sums in one order on every machine, and no barrier to wait at on a busy one. */
	omp_set_num_threads(1);
	*out = d;
	return 0;
}

static int sim_plan_index(const struct device *d)
{
	(void)d;
	return 1;
}

static int sim_alloc(struct device *d, size_t bytes, void **out, struct fw_err *err)
{
	return device_cpu.alloc(d->host, bytes, out, err);
}

static void sim_release(struct device *d, void *data)
{
	device_cpu.release(d->host, data);
}

static int sim_guards(struct device *d, void **which, struct fw_err *err)
{
	return device_cpu.guards(d->host, which, err);
}

static int sim_copy(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err)
{
	return device_cpu.copy(d->host, to, from, bytes, err);
}

static int sim_checksum(struct device *d, const void *data, size_t bytes, uint64_t *sum, struct fw_err *err)
{
	return device_cpu.checksum(d->host, data, bytes, sum, err);
}

static int sim_fill_inputs(struct device *d, void *to, uint64_t seed, uint32_t tensor, size_t n, struct fw_err *err)
{
	return device_cpu.fill_inputs(d->host, to, seed, tensor, n, err);
}

static int sim_fill_bytes(struct device *d, void *to, int value, size_t bytes, struct fw_err *err)
{
	return device_cpu.fill_bytes(d->host, to, value, bytes, err);
}

/* Nothing real needs displacing; the time passes so that a warm-up by time ends. */
static int sim_scrub(struct device *d, struct fw_err *err)
{
	(void)err;
	d->now_ns += SCRUB_NS;
	return 0;
}

static void *sim_stream(struct device *d)
{
	(void)d;
	return NULL;
}

static int sim_mark(struct device *d, int slot, struct fw_err *err)
{
	(void)err;
	d->mark_ns[slot] = d->now_ns;
	return 0;
}

static int sim_stamp(struct device *d, int slot, int end, struct fw_err *err)
{
	(void)err;
	if (end == 1)
		d->stamp_mhz[slot] = (float)d->call_mhz;
	return 0;
}

static int sim_wait_mark(struct device *d, int slot, struct fw_err *err)
{
	(void)d, (void)slot, (void)err;
	return 0;
}

static int sim_wait(struct device *d, struct fw_err *err)
{
	(void)d, (void)err;
	return 0;
}

static int sim_settle(struct device *d, double *late_us, struct fw_err *err)
{
	(void)d, (void)err;
	*late_us = 0;
	return 0;
}

static float sim_elapsed_ms(struct device *d, int from_slot, int to_slot)
{
	return (float)((d->mark_ns[to_slot] - d->mark_ns[from_slot]) * 1e-6);
}

static float sim_clock_mhz(struct device *d, int slot)
{
	return d->stamp_mhz[slot];
}

static double sim_host_us(struct device *d)
{
	return d->now_ns * 1e-3;
}

static void sim_work(struct device *d, double flops)
{
	if (d->calls % RUN_OF_CALLS == 0)
		d->at = (unsigned)(inputs_mix(d->seed + inputs_mix(d->calls)) % SIM_TRACE_CALLS);
	else
		d->at = (d->at + 1) % SIM_TRACE_CALLS;
	d->calls++;
	d->now_ns += fmax(flops, LEAST_FLOPS) / FLOPS_PER_NS * exp(sim_trace[d->at].log_e5 * 1e-5);
	d->call_mhz = sim_trace[d->at].mhz;
}

static int sim_capture(struct device *d, int (*enqueue)(void *arg, void *stream), void *arg, device_node_fn *node, void *node_arg,
	struct fw_err *err)
{
	return device_cpu.capture(d->host, enqueue, arg, node, node_arg, err);
}

static void sim_profiler(struct device *d, bool start)
{
	(void)d, (void)start;
}

static void sim_guard(struct device *d, struct msg_guard *out)
{
	*out = (struct msg_guard){ .power_w = -1, .temp_c = -1, .sm_mhz = d->call_mhz > 0 ? d->call_mhz : -1, .foreign = -1 };
}

const struct device_ops device_sim = {
	.kind = "sim",
	.abi_device = FW_CPU,
	.clocks = true,
	.describe = sim_describe,
	.open = sim_open,
	.close = sim_close,
	.plan_index = sim_plan_index,
	.alloc = sim_alloc,
	.release = sim_release,
	.guards = sim_guards,
	.upload = sim_copy,
	.download = sim_copy,
	.checksum = sim_checksum,
	.fill_inputs = sim_fill_inputs,
	.fill_bytes = sim_fill_bytes,
	.copy = sim_copy,
	.scrub = sim_scrub,
	.stream = sim_stream,
	.mark = sim_mark,
	.stamp = sim_stamp,
	.wait_mark = sim_wait_mark,
	.wait = sim_wait,
	.settle = sim_settle,
	.elapsed_ms = sim_elapsed_ms,
	.clock_mhz = sim_clock_mhz,
	.host_us = sim_host_us,
	.work = sim_work,
	.capture = sim_capture,
	.profiler = sim_profiler,
	.guard = sim_guard,
};
