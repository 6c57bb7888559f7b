/* packed.c - texts as frames of LZ4: bodies are packed once, slowly, and unpacked whole at every read. */
#include "db/sqlite/packed.h"

#include <lz4frame.h>

enum { LEVEL = 9 /* of 12; those above take longer to save one byte in a hundred */ };

int pack(const void *data, size_t len, struct buf *out, struct fw_err *err)
{
	/* what lies on the disk is checked before it is unpacked, which costs a tenth of checking the text */
	const LZ4F_preferences_t how = { .frameInfo = { .contentSize = len, .blockChecksumFlag = LZ4F_blockChecksumEnabled },
		.compressionLevel = LEVEL };
	size_t room = LZ4F_compressFrameBound(len, &how);
	char *at = buf_room(out, room);
	if (!at)
		return err_set(err, ERR_FULL, "%zu bytes to be packed do not fit in memory", len);
	size_t got = LZ4F_compressFrame(at, room, data, len, &how);
	if (LZ4F_isError(got))
		return err_set(err, ERR_INTERNAL, "lz4 does not pack %zu bytes: %s", len, LZ4F_getErrorName(got));
	buf_grown(out, got);
	return 0;
}

/* The first frame at `data`, into `whole` bytes. Returns what is the matter, NULL nothing. */
static const char *read_frame(const void *data, size_t len, char *to, size_t whole)
{
	LZ4F_dctx *frame;
	size_t got = whole, left = LZ4F_createDecompressionContext(&frame, LZ4F_VERSION);
	if (LZ4F_isError(left))
		return LZ4F_getErrorName(left);
	left = LZ4F_decompress(frame, to, &got, data, &len, NULL);
	const char *why = LZ4F_isError(left) ? LZ4F_getErrorName(left) : left != 0 || got != whole ? "another length" : NULL;
	LZ4F_freeDecompressionContext(frame);
	return why;
}

int unpack(const void *data, size_t len, size_t whole, struct buf *out, struct fw_err *err)
{
	if (whole == 0)
		return 0;
	char *at = buf_room(out, whole);
	if (!at)
		return err_set(err, ERR_FULL, "%zu packed bytes do not fit in memory", whole);
	const char *why = read_frame(data, len, at, whole);
	if (why)
		return err_set(err, ERR_INVALID, "a packed text is damaged (%s); restore a backup", why);
	buf_grown(out, whole);
	return 0;
}
