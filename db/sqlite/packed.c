/* packed.c - one call of zlib each way: bodies are packed once and unpacked whole. */
#include "db/sqlite/packed.h"

#include <zlib.h>

int pack(const void *data, size_t len, struct buf *out, struct fw_err *err)
{
	uLongf room = compressBound((uLong)len);
	char *at = buf_room(out, room);
	if (!at)
		return err_set(err, ERR_FULL, "%zu bytes to be packed do not fit in memory", len);
	int r = compress2((Bytef *)at, &room, data, (uLong)len, Z_DEFAULT_COMPRESSION);
	if (r != Z_OK)
		return err_set(err, ERR_INTERNAL, "zlib does not pack %zu bytes (%d)", len, r);
	buf_grown(out, room);
	return 0;
}

int unpack(const void *data, size_t len, size_t whole, struct buf *out, struct fw_err *err)
{
	uLongf got = (uLongf)whole;
	if (whole == 0)
		return 0;
	char *at = buf_room(out, whole);
	if (!at)
		return err_set(err, ERR_FULL, "%zu packed bytes do not fit in memory", whole);
	int r = uncompress((Bytef *)at, &got, data, (uLong)len);
	if (r != Z_OK || got != whole)
		return err_set(err, ERR_INVALID, "a packed text is damaged (%d); restore a backup", r);
	buf_grown(out, whole);
	return 0;
}
