/** control_inside.h - functions shared by control.c and control_profile.c. */
#ifndef FLOPWATCHD_CONTROL_INSIDE_H
#define FLOPWATCHD_CONTROL_INSIDE_H

#include "db/job.h"
#include "flopwatchd/control.h"

/* control.c */

/** Fill `job` from a request. Err: as control_enqueue. */
int control_read_request(struct control *c, const struct job_request *r, struct store_job *job, struct fw_err *err);
/** Read a device kind, or one device by its UUID. */
int control_read_device(struct control *c, const char *text, struct store_job *job, struct fw_err *err);
/** Check that `more` jobs fit into the queue; ERR_FULL. Inside the transaction that queues them. */
int control_find_room(struct control *c, int more, struct fw_err *err);

/* control_profile.c */

/** Queue the ended profile job `row` again. */
int control_profile_again(struct control *c, struct store_job *row, int64_t *new_job, struct fw_err *err);

#endif
