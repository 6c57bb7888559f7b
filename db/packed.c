/* packed.c - LZ4 frames: texts are compressed once at a high level and decompressed whole at every read. */
#include "db/internal.h"

#include <lz4frame.h>

enum { LEVEL = 9 /* of 12; higher levels take longer to save 1 % */ };
enum { BLOCK_BYTES = 64 << 10 /* of a frame that pack writes: lz4's default */ };

int pack(const void *data, size_t len, struct buf *out, struct fw_err *err)
{
	/* checksums of compressed blocks cost a tenth of a checksum of the text */
	const LZ4F_preferences_t how = { .frameInfo = { .contentSize = len, .blockChecksumFlag = LZ4F_blockChecksumEnabled },
		.compressionLevel = LEVEL };
	size_t capacity = LZ4F_compressFrameBound(len, &how);
	char *at = buf_reserve(out, capacity);
	if (!at)
		return err_set(err, ERR_FULL, "%zu bytes to compress do not fit in memory", len);
	size_t got = LZ4F_compressFrame(at, capacity, data, len, &how);
	if (LZ4F_isError(got))
		return err_set(err, ERR_INTERNAL, "lz4 cannot compress %zu bytes: %s", len, LZ4F_getErrorName(got));
	buf_grown(out, got);
	return 0;
}

/*
 * Decompress the frame at `data` into `whole` bytes at `to`, which has `capacity` bytes. Returns an error text, NULL none. The context
 * stays: its buffers are a fourth of a megabyte, which the system would clear again for every page.
 */
static const char *read_frame(const void *data, size_t len, char *to, size_t whole, size_t capacity)
{
	static LZ4F_dctx *frame;
	const LZ4F_decompressOptions_t how = { .stableDst = 1 }; /* `to` is not moved, so lz4 copies nothing for the next block */
	size_t got = capacity, left = frame ? 0 : LZ4F_createDecompressionContext(&frame, LZ4F_VERSION);
	if (LZ4F_isError(left)) {
		frame = NULL;
		return LZ4F_getErrorName(left);
	}
	LZ4F_resetDecompressionContext(frame); /* of the frame before it, which may have been damaged */
	left = LZ4F_decompress(frame, to, &got, data, &len, &how);
	return LZ4F_isError(left) ? LZ4F_getErrorName(left) : left != 0 || got != whole ? "another length" : NULL;
}

int unpack(const void *data, size_t len, size_t whole, struct buf *out, struct fw_err *err)
{
	/* lz4 decompresses into `out` directly where a whole block fits, else into an internal buffer, and copies */
	size_t blocks = (whole + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES,
	       capacity = out->max - out->len < blocks ? whole : blocks;
	if (whole == 0)
		return 0;
	char *at = buf_reserve(out, capacity);
	if (!at)
		return err_set(err, ERR_FULL, "%zu compressed bytes do not fit in memory", whole);
	const char *why = read_frame(data, len, at, whole, capacity);
	if (why)
		return err_set(err, ERR_INVALID, "a compressed text is damaged (%s); restore a backup", why);
	buf_grown(out, whole);
	return 0;
}
