/** record.h - parser of reports of workers and runners: builds, checks, runs, timings, faults. For protocol.c. */
#ifndef PROTOCOL_RECORD_H
#define PROTOCOL_RECORD_H

#include <jansson.h>

#include "protocol/protocol.h"

/** Fill out->u for out->t, which is one of these messages. Own: on success msg_fini's, on -1 nothing is left allocated. */
int protocol_record_read(json_t *object, struct msg *out, struct fw_err *err);

#endif
