/** internal.h - what the files of this folder share. */
#ifndef PROTOCOL_INTERNAL_H
#define PROTOCOL_INTERNAL_H

#include <jansson.h>

#include "lib/lib.h"
#include "protocol/protocol.h"

/* ---- job: Parser of tasks for a worker or runner: job, run, and their rule. For protocol.c. ---- */

/** Fill out->u.job. Own: on success msg_fini's, on -1 freed. */
int protocol_job_read(json_t *object, struct msg *out, struct fw_err *err);
/** Fill out->u.run. Own: as above. */
int protocol_job_read_run(json_t *object, struct msg *out, struct fw_err *err);
/** Read one cell of either. Err: ERR_PROTOCOL naming `where` and the key. */
int protocol_job_read_cell(json_t *object, const char *where, struct cell *out, struct fw_err *err);
/** Read a rule. Err: ERR_PROTOCOL naming `where` and the key. */
int protocol_job_read_rule(json_t *object, const char *where, struct rule *out, struct fw_err *err);

/* ---- profile: Parser and writer of a profile's messages (protocol/protocol.h). For protocol.c, record.c and write.c. ---- */

bool protocol_profile_is(enum msg_type t);

/**
 * Fill out->u for out->t, which is one of these. Own: protocol_profile_fini's, also after a failure. Err: ERR_PROTOCOL with the
 * key.
 */
int protocol_profile_read(struct fields *f, struct msg *out);
void protocol_profile_fini(struct msg *m);

/** Write keys and values after "t". */
void protocol_put_profile(struct jsonw *j, const struct msg *m);

/* ---- record: Parser of reports of workers and runners: builds, checks, runs, timings, faults. For protocol.c. ---- */

/** Fill out->u for out->t, which is one of these messages. Own: on success msg_fini's, on -1 nothing is left allocated. */
int protocol_record_read(json_t *object, struct msg *out, struct fw_err *err);

/* ---- write_job: Writer of tasks for a worker or runner: job, run, and their rule. For write.c; counterpart of job.c. ---- */

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
