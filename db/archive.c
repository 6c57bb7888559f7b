/* archive.c - appends a frame after the last whole one, flushes it, and then returns its position. */
#include "db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 3 /* of 19 */ };

static _Thread_local int64_t n_reads;

static const unsigned char head_magic[8] = { 0x50, 0x2a, 0x4d, 0x18,
	ARCHIVE_HEAD_BYTES - 8 }; /* magic and length of a skippable frame */
static const char head_words[] = "flopwatch samples ";

void archive_month(int64_t at_ms, char *month)
{
	time_t at = (time_t)(at_ms / 1000);
	struct tm tm = { .tm_year = 70, .tm_mon = 0 };
	gmtime_r(&at, &tm);
	snprintf(month, ARCHIVE_MONTH_SIZE, "%04u-%02u", (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100);
}

static bool is_month(const char *text)
{
	static const char form[] = "0000-00";
	for (size_t i = 0; i < sizeof form; i++)
		if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	return true;
}

/* Requests pass months, too: they must not leave the folder. */
static int check_month(const char *month, struct fw_err *err)
{
	return is_month(month) ? 0 : err_set(err, ERR_INVALID, "%.20s is not a month like 2026-10", month);
}

bool archive_month_of(const char *name, char *month)
{
	snprintf(month, ARCHIVE_MONTH_SIZE, "%s", name);
	return is_month(month) && strcmp(name + ARCHIVE_MONTH_SIZE - 1, ".zst") == 0;
}

int archive_path(const char *folder, const char *month, char *path, size_t size, struct fw_err *err)
{
	if (check_month(month, err) != 0)
		return -1;
	if (snprintf(path, size, "%s/%s.zst", folder, month) >= (int)size)
		return err_set(err, ERR_INVALID, "the path of the archive is too long: %.100s...", folder);
	return 0;
}

/* All kinds of damage have the same remedy. */
static int damaged(const char *path, int64_t at, const char *why, struct fw_err *err)
{
	return err_set(err, ERR_INVALID, "%s is damaged at byte %lld (%s); restore it from a backup", path, (long long)at, why);
}

static int gone(const char *path, struct fw_err *err)
{
	return err_set(err, ERR_NOT_FOUND, "%s is missing; restore it from a backup", path);
}

static int open_to_read(const char *path, struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return gone(path, err);
	if (fd < 0)
		err_sys(err, "cannot read %s", path);
	return fd;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

/** Append the content of the frame at `data` to `out`. Returns an error text, NULL none. */
static const char *unpack_frame(const void *data, size_t len, struct buf *out)
{
	size_t had = out->len;
	unsigned long long whole = ZSTD_getFrameContentSize(data, len);
	if (whole == ZSTD_CONTENTSIZE_ERROR || whole == ZSTD_CONTENTSIZE_UNKNOWN)
		return "no frame begins there";
	if (whole > ARCHIVE_FRAME_MAX_BYTES)
		return "a frame that is too large";
	char *to = buf_reserve(out, (size_t)whole);
	if (!to)
		return "no memory for it";
	size_t got = ZSTD_decompress(to, (size_t)whole, data, len);
	if (ZSTD_isError(got))
		return ZSTD_getErrorName(got);
	if (got != whole)
		return "another length";
	buf_grown(out, got);
	return out->len == had + got ? NULL : "no memory for it";
}

static int read_fully(int fd, char *to, size_t len, int64_t at)
{
	for (size_t n = 0; n < len;) {
		ssize_t got = pread(fd, to + n, len - n, at + (int64_t)n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -1 : 1;
		n += (size_t)got;
	}
	return 0;
}

int archive_read(const char *folder, const struct archive_position *position, struct buf *out, struct fw_err *err)
{
	char path[PATH_MAX];
	if (archive_path(folder, position->month, path, sizeof path, err) != 0)
		return -1;
	if (position->bytes <= 0 || position->bytes > ARCHIVE_FRAME_MAX_BYTES)
		return damaged(path, position->offset, "its position is invalid", err);
	int fd = open_to_read(path, err);
	if (fd < 0)
		return -1;
	struct buf packed;
	buf_init(&packed, ARCHIVE_FRAME_MAX_BYTES + 64);
	char *to = buf_reserve(&packed, (size_t)position->bytes);
	int got = to ? read_fully(fd, to, (size_t)position->bytes, position->offset) : -1, result = 0;
	if (!to)
		result = err_set(err, ERR_FULL, "no memory for a frame of %s", path);
	else if (got < 0)
		result = err_sys(err, "cannot read %s", path);
	else if (got > 0)
		result = damaged(path, position->offset, "it ends before", err);
	close(fd);
	if (result == 0) {
		const char *why = unpack_frame(to, (size_t)position->bytes, out);
		n_reads++;
		result = why ? damaged(path, position->offset, why, err) : 0;
	}
	buf_fini(&packed);
	return result;
}

int64_t archive_reads(void)
{
	return n_reads;
}

int archive_check(const char *folder, const struct archive_position *last, struct fw_err *err)
{
	char mark[17];
	struct buf out;
	buf_init(&out, ARCHIVE_FRAME_MAX_BYTES + 64);
	int result = archive_mark(folder, last->month, mark, err);
	if (result == 0)
		result = archive_read(folder, last, &out, err);
	buf_fini(&out);
	return result;
}

int archive_mark(const char *folder, const char *month, char *mark, struct fw_err *err)
{
	char path[PATH_MAX], head[ARCHIVE_HEAD_BYTES + 1];
	if (archive_path(folder, month, path, sizeof path, err) != 0)
		return -1;
	int fd = open_to_read(path, err);
	if (fd < 0)
		return -1;
	int got = read_fully(fd, head, ARCHIVE_HEAD_BYTES, 0);
	close(fd);
	if (got < 0)
		return err_sys(err, "cannot read %s", path);
	head[ARCHIVE_HEAD_BYTES] = '\0';
	const char *id = head + sizeof head_magic + sizeof head_words - 1;
	if (got > 0 || memcmp(head, head_magic, sizeof head_magic) != 0 || strspn(id, "0123456789abcdef") < 16)
		return damaged(path, 0, "it does not begin as one of ours", err);
	snprintf(mark, 17, "%.16s", id);
	return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

static int write_fully(int fd, const void *data, size_t len, int64_t at)
{
	for (size_t n = 0; n < len;) {
		ssize_t put = pwrite(fd, (const char *)data + n, len - n, at + (int64_t)n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return -1;
		n += (size_t)put;
	}
	return 0;
}

static int sync_folder(const char *path, struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "cannot open %s", path);
	int result = fsync(fd) != 0 ? err_sys(err, "cannot write %s to the disk", path) : 0;
	close(fd);
	return result;
}

/* Creates the folder, and the file unless the database refers to it. */
static int open_to_append(const char *folder, const char *path, bool is_known, struct fw_err *err)
{
	int fd = open(path, O_RDWR | (is_known ? 0 : O_CREAT) | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == ENOENT && is_known)
		return gone(path, err);
	if (fd < 0 && errno == ENOENT) {
		char parent[PATH_MAX];
		if (mkdir(folder, 0700) != 0 && errno != EEXIST)
			return err_sys(err, "cannot make the folder %s", folder);
		snprintf(parent, sizeof parent, "%s/..", folder);
		if (sync_folder(parent, err) != 0)
			return -1;
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	if (fd < 0)
		err_sys(err, "cannot write %s", path);
	return fd;
}

static int write_head(int fd, const char *folder, const char *path, const char *month, struct fw_err *err)
{
	char head[ARCHIVE_HEAD_BYTES + 1];
	uint64_t id;
	if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
		return err_sys(err, "no random number");
	memset(head, ' ', sizeof head);
	memcpy(head, head_magic, sizeof head_magic);
	int n = snprintf(head + sizeof head_magic, sizeof head - sizeof head_magic, "%s%016llx of %s", head_words,
		(unsigned long long)id, month);
	head[sizeof head_magic + (size_t)n] = ' ';
	head[ARCHIVE_HEAD_BYTES - 1] = '\n';
	if (ftruncate(fd, 0) != 0 || write_fully(fd, head, ARCHIVE_HEAD_BYTES, 0) != 0)
		return err_sys(err, "cannot write %s", path);
	return sync_folder(folder, err);
}

/* Length of the readable frames at the start of the `len` bytes. */
static size_t whole_frames(const char *data, size_t len)
{
	size_t at = 0;
	struct buf out;
	buf_init(&out, ARCHIVE_FRAME_MAX_BYTES + 64);
	while (at < len) {
		size_t n = ZSTD_findFrameCompressedSize(data + at, len - at);
		buf_clear(&out);
		if (ZSTD_isError(n) || unpack_frame(data + at, n, &out))
			break;
		at += n;
	}
	buf_fini(&out);
	return at;
}

/* Position of the next frame: after the whole frames beyond the stored `end`. */
static int find_end(int fd, const char *path, int64_t size, int64_t end, int64_t *at, struct fw_err *err)
{
	*at = end;
	if (size == end)
		return 0;
	char *map = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "cannot read %s", path);
	*at += (int64_t)whole_frames(map + end, (size_t)(size - end));
	munmap(map, (size_t)size);
	if (*at < size && ftruncate(fd, *at) != 0)
		return err_sys(err, "cannot write %s", path);
	return 0;
}

static int append_frame(int fd, const char *path, const struct buf *frame, int64_t at, struct fw_err *err)
{
	if (write_fully(fd, frame->data, frame->len, at) == 0 && fdatasync(fd) == 0)
		return 0;
	err_sys(err, "cannot write %s to the disk", path);
	if (ftruncate(fd, at) != 0)
		err_context(err, "and a piece of it stays");
	return -1;
}

static int append_to(int fd, const char *folder, const char *path, int64_t end, const struct buf *frame,
	struct archive_position *position, struct fw_err *err)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return err_sys(err, "cannot read %s", path);
	if (st.st_size < end)
		return damaged(path, st.st_size, "it ends there, and held more", err);
	if (end == 0 && st.st_size < ARCHIVE_HEAD_BYTES) {
		if (write_head(fd, folder, path, position->month, err) != 0)
			return -1;
		st.st_size = ARCHIVE_HEAD_BYTES;
	}
	if (find_end(fd, path, st.st_size, end > 0 ? end : ARCHIVE_HEAD_BYTES, &position->offset, err) != 0)
		return -1;
	position->bytes = (int64_t)frame->len;
	return append_frame(fd, path, frame, position->offset, err);
}

static int pack_frame(const void *data, size_t len, struct buf *out, struct fw_err *err)
{
	ZSTD_CCtx *c = ZSTD_createCCtx();
	size_t capacity = ZSTD_compressBound(len), got = 0;
	char *to = c && len <= ARCHIVE_FRAME_MAX_BYTES ? buf_reserve(out, capacity) : NULL;
	if (to && !ZSTD_isError(got = ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, LEVEL)) &&
		!ZSTD_isError(got = ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1)))
		got = ZSTD_compress2(c, to, capacity, data, len);
	ZSTD_freeCCtx(c);
	if (!to)
		return err_set(err, ERR_FULL, "%zu bytes to archive do not fit in memory", len);
	if (ZSTD_isError(got))
		return err_set(err, ERR_INTERNAL, "zstd cannot compress %zu bytes: %s", len, ZSTD_getErrorName(got));
	buf_grown(out, got);
	return 0;
}

int archive_append(
	const char *folder, int64_t end, const void *data, size_t len, struct archive_position *position, struct fw_err *err)
{
	char path[PATH_MAX];
	struct buf frame;
	if (archive_path(folder, position->month, path, sizeof path, err) != 0)
		return -1;
	buf_init(&frame, 2 * (size_t)ARCHIVE_FRAME_MAX_BYTES);
	int result = pack_frame(data, len, &frame, err);
	if (result == 0) {
		int fd = open_to_append(folder, path, end > 0, err);
		result = fd < 0 ? -1 : append_to(fd, folder, path, end, &frame, position, err);
		if (fd >= 0)
			close(fd);
	}
	buf_fini(&frame);
	return result;
}
