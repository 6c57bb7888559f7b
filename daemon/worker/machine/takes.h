/** takes.h - what a kernel takes of a multiprocessor, in words and in JSON. */
#ifndef WORKER_MACHINE_TAKES_H
#define WORKER_MACHINE_TAKES_H

#include "base/jsonw.h"
#include "core/machine/resources.h"

/** "13 registers, 4096 B shared, 0 B stack, 540 B constants, 2560 B code, at most 256 threads, 2 CTAs/SM (threads)". */
void takes_text(struct buf *out, int sm, const struct resources *r);
/** Keys and values of the object at hand; null where the file does not say. */
void takes_json(struct jsonw *j, int sm, const struct resources *r);

#endif
