/** job.h - parser of tasks for a worker or runner: job, run, and their rule. For protocol.c. */
#ifndef PROTOCOL_JOB_H
#define PROTOCOL_JOB_H

#include <jansson.h>

#include "protocol/protocol.h"

/** Fill out->u.job. Own: on success msg_fini's, on -1 freed. */
int protocol_job_read(json_t *object, struct msg *out, struct fw_err *err);
/** Fill out->u.run. Own: as above. */
int protocol_job_read_run(json_t *object, struct msg *out, struct fw_err *err);
/** Read one cell of either. Err: ERR_PROTOCOL naming `where` and the key. */
int protocol_job_read_cell(json_t *object, const char *where, struct cell *out, struct fw_err *err);
/** Read a rule. Err: ERR_PROTOCOL naming `where` and the key. */
int protocol_job_read_rule(json_t *object, const char *where, struct rule *out, struct fw_err *err);

#endif
