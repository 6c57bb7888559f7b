/**
 * mask.h - which keys a row sees and which rows see a key, as ranges of tokens.
 */
#ifndef FAMILIES_ATTENTION_REFERENCE_MASK_H
#define FAMILIES_ATTENTION_REFERENCE_MASK_H

#include "families/attention/reference.h"

/** Tokens [begin, end). */
struct reference_range {
	int32_t begin, end;
};

/** Most ranges that one row or key of this case can have. */
int reference_mask_room(const struct attention_case *a);

/** Keys that query token `row` sees under key head `kv_head`, rising. Shape: out[reference_mask_room]. Returns how many. */
int reference_mask_keys(const struct reference_io *io, int kv_head, int row, struct reference_range *out);

/** Query tokens that see key token `key`. */
int reference_mask_rows(const struct reference_io *io, int kv_head, int key, struct reference_range *out);

#endif
