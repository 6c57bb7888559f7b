/** stalls.h - parser and writer of warp stalls (evidence.h). */
#ifndef PROTOCOL_STALLS_H
#define PROTOCOL_STALLS_H

#include "protocol/protocol.h"
#include "lib/field.h"

/** Read the record of one kernel. Own: the caller frees m->line, also after a failure. Err: ERR_PROTOCOL with the key. */
int protocol_stalls_read(struct fields *f, struct msg_stalls *m);
void protocol_stalls_put(struct jsonw *j, const struct msg_stalls *m);

/** Read the object at `key`, if any. Err: as above. */
int protocol_stalls_read_hot(struct fields *f, const char *key, struct evidence_hot *h);
/** Write it as one JSON object: {"samples":N,"lines":[[offset,samples,reason,of_reason,text],...]}. */
void protocol_stalls_put_hot(struct jsonw *j, const struct evidence_hot *h);

#endif
