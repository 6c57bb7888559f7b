/** write_job.h - writer of tasks for a worker or runner: job, run, and their rule. For write.c; counterpart of job.h. */
#ifndef PROTOCOL_WRITE_JOB_H
#define PROTOCOL_WRITE_JOB_H

#include "lib/jsonw.h"
#include "protocol/protocol.h"

void protocol_put_job(struct jsonw *j, const struct msg_job *m);
void protocol_put_run(struct jsonw *j, const struct msg_run *m);
void protocol_put_rule(struct jsonw *j, const struct rule *r);

/** Write a 64-bit number as text, because JSON readers lose bits. */
void protocol_put_u64(struct jsonw *j, const char *key, uint64_t v);
/** Write a list of numbers. Shape: v[n]. */
void protocol_put_ints(struct jsonw *j, const char *key, const int *v, int n);
/** Write a list of texts. Shape: rows[n][size]. */
void protocol_put_texts(struct jsonw *j, const char *key, const char *rows, size_t size, int n);

#endif
