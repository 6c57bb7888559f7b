/**
 * sentinel.h - classes of cells by power draw. One cell, the sentinel, has sustained runs for all of its class: the regular or
 * the irregular cells of one direction. If a comparison uses several devices, each class has its sentinel on one of them.
 */
#ifndef PROTOCOL_SENTINEL_H
#define PROTOCOL_SENTINEL_H

#include "lib/jsonw.h"
#include "model/case.h"
#include "lib/field.h"

typedef unsigned sentinel_set;

sentinel_set sentinel_class(const struct cell *c);
sentinel_set sentinel_direction(enum direction d);
/** Write "key":["forward","backward irregular"]; nothing for an empty set. */
void look_write(struct jsonw *j, const char *key, sentinel_set s);
/** Read a set; absent: none. Err: ERR_PROTOCOL with the key. */
int look_read(struct fields *f, const char *key, sentinel_set *out);

#endif
