/** config_worker.h - one entry of `workers`: its connection, allocations and devices. */
#ifndef FLOPWATCHD_CONFIG_CONFIG_WORKER_H
#define FLOPWATCHD_CONFIG_CONFIG_WORKER_H

#include "lib/yaml.h"
#include "flopwatchd/config/config.h"

/** Append an entry to c->worker, and after it a second one if its builds run in separate allocations. Mistakes go to `y`. */
void config_worker_read(struct yaml *y, struct yaml_node *map, struct config *c);

/** True if the worker requests an allocation for each job and has devices only while it has one. */
static inline bool config_worker_is_slurm(const struct config_worker *w)
{
	return w->kind == WORKER_SLURM;
}

/** True if the entry measures on this device of its machine: `devices` lists it, or is empty. */
bool config_worker_wants(const struct config_worker *w, enum device_kind kind, int index, const char *uuid);

bool config_worker_same(const struct config_worker *a, const struct config_worker *b);

#endif
