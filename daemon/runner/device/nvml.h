/**
 * nvml.h - the driver's monitoring library, loaded when it is there. Needs no CUDA toolkit; what cannot be read is unknown.
 */
#ifndef RUNNER_DEVICE_NVML_H
#define RUNNER_DEVICE_NVML_H

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
	int64_t reasons; /* core/protocol/device_check.h names the bits */
	int64_t ecc;     /* memory errors since the driver was loaded that were not corrected */
};

/** Load the library once. Returns 0, or -1 when it is absent; every other function then answers "unknown". */
int nvml_open(void);
/**
 * UUIDs of what computes here: whole GPUs ("GPU-...") and, of one that is cut, its instances ("MIG-...") in its place. Shape:
 * uuid[max]. Returns their number; 0 where the driver cannot say.
 */
int nvml_list(char (*uuid)[NVML_UUID_SIZE], int max);
/** Driver version. Shape: out[size]; "" unknown. */
void nvml_driver(char *out, size_t size);
/** VBIOS of the GPU with this UUID, or whose instance that is; "" unknown. Shape: out[size]. */
void nvml_vbios(const char *uuid, char *out, size_t size);
/**
 * Read the GPU with this UUID. Takes some 10 ms on an H200. Of an instance: temperature, clock and errors are its GPU's; power and
 * energy, which all instances draw together, are unknown.
 */
void nvml_read(const char *uuid, struct nvml_reading *out);
/** SM clock while at least half of the driver's last look at it saw a kernel; -1: none did, or unknown. Units: MHz. Takes less than 1 ms. */
double nvml_busy_mhz(const char *uuid);
/** What it is held to, an instance as its GPU. Units: W, MHz; -1 unknown. */
void nvml_limits(const char *uuid, double *power_w, double *sm_mhz);
/** Processes with a compute context on it, but for the servers of MPS, whose clients are listed too. Shape: pid[max]. Returns their number, -1 unknown. */
int nvml_compute_pids(const char *uuid, unsigned *pid, int max);
/**
 * The caller, process `own`, among those listed after it made its context: a pid namespace may give it another number. 0: which
 * one it is cannot be told. Shape: before[n_before], after[n_after]; a negative number is an unknown list.
 */
unsigned nvml_own_pid(unsigned own, const unsigned *before, int n_before, const unsigned *after, int n_after);

/** Energy used since the driver was loaded; -1 unknown, as that of an instance. Units: J. Takes 3 to 7 ms on an H200. */
double nvml_energy_j(const char *uuid);
/** The last XID that the driver reported for it since the call before, not for another instance of its GPU; 0 none. The first call begins to listen. */
int nvml_xid(const char *uuid);

#ifdef __cplusplus
}
#endif
#endif
