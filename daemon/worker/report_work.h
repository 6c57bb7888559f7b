/** report_work.h - what `compare` prints beside times: bytes a second, memory, and what masks leave out. */
#ifndef WORKER_REPORT_WORK_H
#define WORKER_REPORT_WORK_H

#include "worker/bench/bench.h"

/** Tables of the cells of which either side said something; claims and what was measured are told apart. */
void report_work_text(const struct bench *b, struct buf *out);
/** "work" and "over_baseline" of a cell: members of the object that is open. */
void report_work_json(const struct bench *b, int cell, struct jsonw *j);

#endif
