/**
 * cores.h - which cores measure and which serve, so that whoever looks at pages does not disturb what is being timed.
 */
#ifndef LIB_CORES_H
#define LIB_CORES_H

#include <sched.h>
#include <stdbool.h>

#include "lib/err.h"

enum { CORES_TEXT = 512, CORES_SEPARATE_MIN = 4, CORES_JOBS_MAX = 64 };

struct cores {
	cpu_set_t measure, serve; /* both all that is allowed where they are not apart */
	bool separate;
};

/**
 * Divide the cores that this process may use. `how`: "auto" leaves the first core with its hyperthreads to serve where there are at
 * least CORES_SEPARATE_MIN, and keeps nothing apart where there are fewer; "shared" keeps nothing apart; else the list of cores
 * that measure, as "2-7,10". Err: ERR_INVALID no such list, a core that is not ours, none left to serve.
 */
int cores_plan(const char *how, struct cores *out, struct fw_err *err);

/** Let this process, and what it starts from now on, use `set` alone. Err: ERR_IO the system refuses. */
int cores_use(const cpu_set_t *set, struct fw_err *err);

/** How many cores this process may use. */
int cores_count(void);

/**
 * Divide `all` among `n` jobs that may run at once, and take the share of the `k`th (from 0): whole cores with their threads. `near[i]`
 * are the cores that lie near the device of the `i`th, an empty set where that is not known: jobs share what is near to them, and take
 * of it alone. No two have a core in common, unless there are fewer than jobs: then these have all of it. Shape: near[n], n at most
 * CORES_JOBS_MAX.
 */
void cores_share(const cpu_set_t *all, const cpu_set_t *near, int n, int k, cpu_set_t *out);

/** The cores near a device, by its address on the PCI bus as "0000:1b:00.0"; empty where the system does not say. */
void cores_near(const char *pci, cpu_set_t *out);

/** Whether `text` could be given to cores_plan, on whatever machine. */
bool cores_is_plan(const char *text);

/** As a list: "0,2-7". Shape: text[CORES_TEXT]. */
void cores_text(const cpu_set_t *set, char text[CORES_TEXT]);

#endif
