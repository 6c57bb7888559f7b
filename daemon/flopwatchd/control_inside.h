/** control_inside.h - what control.c and control_profile.c share: a request read into a job, and room for it. */
#ifndef FLOPWATCHD_CONTROL_INSIDE_H
#define FLOPWATCHD_CONTROL_INSIDE_H

#include "db/store/job.h"
#include "flopwatchd/control.h"

/* control.c */

/** Fill `job` from what was asked. Err: as control_enqueue. */
int control_read_request(struct control *c, const struct job_request *r, struct store_job *job, struct fw_err *err);
/** A kind of device, or one device by its uuid. */
int control_read_device(struct control *c, const char *text, struct store_job *job, struct fw_err *err);
/** Whether `more` jobs may wait beside those that do; ERR_FULL. Inside the transaction that queues them. */
int control_find_room(struct control *c, int more, struct fw_err *err);

/* control_profile.c */

/** Queue a profile's job `row` once more; it has ended. */
int control_profile_again(struct control *c, struct store_job *row, int64_t *new_job, struct fw_err *err);

#endif
