/**
 * probe.h - whose power draw is looked at. One cell is looked at for all of its class: those of one direction that are regular, or that
 * are not. Of a comparison whose cells stand on several devices each class is looked at on one of them.
 */
#ifndef CORE_PROTOCOL_SENTINEL_H
#define CORE_PROTOCOL_SENTINEL_H

#include "base/jsonw.h"
#include "core/case/case.h"
#include "core/text/field.h"

/** Classes, a bit each. */
typedef unsigned sentinel_set;

sentinel_set sentinel_class(const struct cell *c);
/** Both classes of a direction. */
sentinel_set sentinel_direction(enum direction d);
/** "key":["forward","backward irregular"]; nothing where there are none. */
void look_write(struct jsonw *j, const char *key, sentinel_set s);
/** Absent: none. Err: ERR_PROTOCOL with the key. */
int look_read(struct fields *f, const char *key, sentinel_set *out);

#endif
