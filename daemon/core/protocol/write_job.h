/** write_job.h - writing of what a worker or a runner is asked to do: job, run, and the rule they carry. For write.c; the counterpart of job.h. */
#ifndef CORE_PROTOCOL_WRITE_JOB_H
#define CORE_PROTOCOL_WRITE_JOB_H

#include "base/jsonw.h"
#include "core/protocol/protocol.h"

/** Members of the object that is open. */
void protocol_put_job(struct jsonw *j, const struct msg_job *m);
void protocol_put_run(struct jsonw *j, const struct msg_run *m);
/** An object. */
void protocol_put_rule(struct jsonw *j, const struct rule *r);

/** A number of 64 bits as text, because readers of JSON lose bits. */
void protocol_put_u64(struct jsonw *j, const char *key, uint64_t v);
/** A list of numbers. Shape: v[n]. */
void protocol_put_ints(struct jsonw *j, const char *key, const int *v, int n);
/** A list of texts. Shape: rows[n][size]. */
void protocol_put_texts(struct jsonw *j, const char *key, const char *rows, size_t size, int n);

#endif
