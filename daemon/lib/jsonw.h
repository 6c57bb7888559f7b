/**
 * jsonw.h - writes JSON into a buf; the only JSON writer (reading is jansson's).
 *
 * Commas and nesting are kept by the writer. Strings may hold any bytes: invalid UTF-8 becomes U+FFFD, so that the output is
 * always valid. Doubles are the shortest of %.15g, %.16g, %.17g that read back equal; a value that is not finite is null.
 */
#ifndef LIB_JSONW_H
#define LIB_JSONW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

struct jsonw {
	struct buf *out;
	unsigned depth;
	bool need_comma[32];
	bool after_key;
};

void jsonw_init(struct jsonw *j, struct buf *out);
void jsonw_object(struct jsonw *j);
void jsonw_object_end(struct jsonw *j);
void jsonw_array(struct jsonw *j);
void jsonw_array_end(struct jsonw *j);
void jsonw_key(struct jsonw *j, const char *key);
/** NULL writes null. */
void jsonw_string(struct jsonw *j, const char *text);
void jsonw_bytes(struct jsonw *j, const void *data, size_t len);
void jsonw_int(struct jsonw *j, int64_t v);
void jsonw_double(struct jsonw *j, double v);
/** Seven significant digits: for figures that people read, where the rest is noise. */
void jsonw_figure(struct jsonw *j, double v);
/** %.9g, so that the float32 reads back bit for bit. */
void jsonw_float(struct jsonw *j, float v);
void jsonw_bool(struct jsonw *j, bool v);
void jsonw_null(struct jsonw *j);
/** Text that already is one JSON value. */
void jsonw_raw(struct jsonw *j, const char *text, size_t len);

/**
 * Keys that are literals of ours and need no escapes, with their values: for long lists, whose keys are most of what is written. As in
 * jsonw_key and what follows it; `text` needs no escapes either. After jsonw_literal any value may follow.
 */
#define jsonw_literal(j, key)             (jsonw_piece(j, ",\"" key "\":", sizeof(",\"" key "\":") - 1), (j)->after_key = true)
#define jsonw_literal_figure(j, key, v)   (jsonw_literal(j, key), jsonw_next_figure(j, v))
#define jsonw_literal_plain(j, key, text) (jsonw_literal(j, key), jsonw_next_plain(j, text))
/** `piece`: comma, quoted key, colon. Use those above. */
static inline void jsonw_piece(struct jsonw *j, const char *piece, size_t len)
{
	if (j->need_comma[j->depth]) {
		buf_append(j->out, piece, len);
		return;
	}
	j->need_comma[j->depth] = true;
	buf_append(j->out, piece + 1, len - 1);
}
void jsonw_next_figure(struct jsonw *j, double v);
void jsonw_next_plain(struct jsonw *j, const char *text);

/* key and value in one call */
void jsonw_kv_string(struct jsonw *j, const char *key, const char *text);
void jsonw_kv_int(struct jsonw *j, const char *key, int64_t v);
void jsonw_kv_double(struct jsonw *j, const char *key, double v);
void jsonw_kv_figure(struct jsonw *j, const char *key, double v);
void jsonw_kv_bool(struct jsonw *j, const char *key, bool v);
void jsonw_kv_null(struct jsonw *j, const char *key);

#endif
