/** takes.h - resources that a kernel uses of a multiprocessor, as text and JSON. */
#ifndef WORKER_TAKES_H
#define WORKER_TAKES_H

#include "lib/jsonw.h"
#include "profile/resources.h"

/** Append "13 registers, 4096 B shared, 0 B stack, 540 B constants, 2560 B code, at most 256 threads, 2 CTAs/SM (threads)". */
void takes_text(struct buf *out, int sm, const struct resources *r);
/** Write keys and values into the open object; null if the file has no value. */
void takes_json(struct jsonw *j, int sm, const struct resources *r);

#endif
