/** packed.h - long texts in little room (lz4frame.h is included in packed.c alone). */
#ifndef DB_STORE_PACKED_H
#define DB_STORE_PACKED_H

#include "base/buf.h"
#include "base/err.h"

enum { PACKED_MAX_BYTES = 16 << 20 };

/** Append what `len` bytes become. Err: ERR_FULL it does not fit into `out`. */
int pack(const void *data, size_t len, struct buf *out, struct fw_err *err);
/** Append the `whole` bytes that were packed. Err: ERR_INVALID it is damaged, ERR_FULL they do not fit into `out`. */
int unpack(const void *data, size_t len, size_t whole, struct buf *out, struct fw_err *err);

#endif
