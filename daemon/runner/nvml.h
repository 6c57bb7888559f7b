/** nvml.h - the driver's monitoring library, loaded if present. Needs no CUDA toolkit; unreadable values are unknown. */
#ifndef RUNNER_NVML_H
#define RUNNER_NVML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { NVML_PIDS_MAX = 64, NVML_UUID_SIZE = 64 };

/** One reading. Units in the names; -1: unknown. */
struct nvml_reading {
	double power_w, temp_c, sm_mhz;
	double energy_j; /* since the driver was loaded */
	int64_t reasons; /* bits as in protocol/device_check.h */
	int64_t ecc;     /* uncorrected memory errors since the driver was loaded */
};

/** Load the library once. Returns 0, or -1 when it is absent; every other function then returns "unknown". */
int nvml_open(void);
/**
 * List UUIDs of computing devices: whole GPUs ("GPU-...") and, in place of a partitioned one, its instances ("MIG-..."). Shape:
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

#ifdef __cplusplus
}
#endif
#endif
