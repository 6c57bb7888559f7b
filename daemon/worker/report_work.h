/** report_work.h - output of `compare` besides times: bytes a second, memory, and work left out by masks. */
#ifndef WORKER_REPORT_WORK_H
#define WORKER_REPORT_WORK_H

#include "worker/bench.h"

/** Print tables of the cells with reports of either side; claims and measurements are separate columns. */
void report_work_text(const struct bench *b, struct buf *out);
/** Write "work" and "over_baseline" of a cell: members of the open object. */
void report_work_json(const struct bench *b, int cell, struct jsonw *j);

#endif
