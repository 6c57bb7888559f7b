/** packed.h - compression of long texts with LZ4 (lz4frame.h is included in packed.c alone). */
#ifndef DB_STORE_PACKED_H
#define DB_STORE_PACKED_H

#include "lib/buf.h"
#include "lib/err.h"

enum { PACKED_MAX_BYTES = 16 << 20 };

/** Append `data`, compressed. Err: ERR_FULL it does not fit into `out`. */
int pack(const void *data, size_t len, struct buf *out, struct fw_err *err);
/** Append the decompressed `data`, `whole` bytes. Err: ERR_INVALID it is damaged, ERR_FULL it does not fit into `out`. */
int unpack(const void *data, size_t len, size_t whole, struct buf *out, struct fw_err *err);

#endif
