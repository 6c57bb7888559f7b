/** config_worker.h - one entry of `workers`: who measures, and by which way it is reached. */
#ifndef FLOPWATCHD_RUNTIME_CONFIG_WORKER_H
#define FLOPWATCHD_RUNTIME_CONFIG_WORKER_H

#include "base/yaml.h"
#include "flopwatchd/runtime/config.h"

/** Read an entry into c->worker[c->n_workers++], and behind it one for its builds where they are apart; mistakes are the document's. */
void config_worker_read(struct yaml *y, struct yaml_node *map, struct config *c);

/** Whether it asks a scheduler for each job, and has devices only while that gives it some. */
static inline bool config_worker_is_slurm(const struct config_worker *w)
{
	return w->kind == WORKER_SLURM;
}

/** Whether this device of its machine is one that it is to measure on: `devices` names it, or names none. */
bool config_worker_wants(const struct config_worker *w, enum device_kind kind, int index, const char *uuid);

bool config_worker_same(const struct config_worker *a, const struct config_worker *b);

#endif
