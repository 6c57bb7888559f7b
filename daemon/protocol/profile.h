/** profile.h - parser and writer of a profile's messages (evidence.h). For protocol.c, record.c and write.c. */
#ifndef PROTOCOL_PROFILE_H
#define PROTOCOL_PROFILE_H

#include "protocol/protocol.h"
#include "lib/field.h"

bool protocol_profile_is(enum msg_type t);

/**
 * Fill out->u for out->t, which is one of these. Own: protocol_profile_fini's, also after a failure. Err: ERR_PROTOCOL with the
 * key.
 */
int protocol_profile_read(struct fields *f, struct msg *out);
void protocol_profile_fini(struct msg *m);

/** Write keys and values after "t". */
void protocol_put_profile(struct jsonw *j, const struct msg *m);

#endif
