/**
 * nvml.h - the driver's monitoring library, loaded when it is there. Needs no CUDA toolkit; what cannot be read is unknown.
 */
#ifndef RUNNER_NVML_H
#define RUNNER_NVML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NVML_PIDS_MAX = 64 };

/** Limit reasons of a GPU's clocks, as the driver numbers them. */
enum {
	NVML_REASON_POWER_CAP = 0x4,
	NVML_REASON_HW_SLOWDOWN = 0x8,
	NVML_REASON_SW_THERMAL = 0x20,
	NVML_REASON_HW_THERMAL = 0x40,
	NVML_REASON_POWER_BRAKE = 0x80
};

/** One reading. Units in the names; -1: unknown. */
struct nvml_reading {
	double power_w, power_limit_w, temp_c, sm_mhz, sm_max_mhz;
	int64_t reasons; /* -1: unknown */
};

/** Load the library once. Returns 0, or -1 when it is absent; every other function then answers "unknown". */
int nvml_open(void);
/** Driver version. Shape: out[size]; "" unknown. */
void nvml_driver(char *out, size_t size);
/** Read the GPU with this UUID ("GPU-..."). */
void nvml_read(const char *uuid, struct nvml_reading *out);
/** Processes with a compute context on it. Shape: pid[max]. Returns their number, -1 unknown. */
int nvml_compute_pids(const char *uuid, unsigned *pid, int max);

#ifdef __cplusplus
}
#endif
#endif
