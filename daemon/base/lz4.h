/** lz4.h - unpack an LZ4 block, as compilers for GPUs pack device code. Sources of the format: its public description. */
#ifndef BASE_LZ4_H
#define BASE_LZ4_H

#include <stdbool.h>
#include <stddef.h>

/** Unpack `in` into exactly `out_len` bytes. False: it does not fill them exactly, or refers to what is not there. */
bool lz4_unpack(const void *in, size_t in_len, void *out, size_t out_len);

#endif
