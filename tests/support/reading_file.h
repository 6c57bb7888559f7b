/**
 * reading_file.h - samples of foreign benchmarks in tests/data/readers, and the expected contents of their rows.
 */
#ifndef TESTS_READING_FILE_H
#define TESTS_READING_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/lib.h"
#include "readers/readers.h"

/** The text of a sample. Own: the caller frees. */
static inline void reading_file_load(const char *name, struct buf *text)
{
	char path[256];

	snprintf(path, sizeof path, "tests/data/readers/%s", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	buf_init(text, 1 << 20);
	assert_int_equal(buf_read_fd(text, fd), 0);
	close(fd);
}

/** The row of a key, of `n` values with median `ms`, within `share` of that. Never NULL. */
static inline const struct reading_row *reading_has_row(const struct reading *r, const char *key, int n, double ms, double share)
{
	const struct reading_row *row = reading_find(r, key);

	if (!row) {
		for (int i = 0; i < r->n_rows; i++)
			print_message("%s\n", r->row[i].key);
		fail_msg("there is no row %s", key);
	}
	assert_non_null(row);
	assert_int_equal(row->n, n);
	assert_float_equal(row->median_ms, ms, 1e-12 + share * ms);
	return row;
}

/** A row without a time, and the reason. */
static inline void reading_lacks(const struct reading *r, const char *key, const char *why)
{
	const char *reason = reading_why(r, key);

	if (!reason)
		fail_msg("nothing is said of %s", key);
	assert_string_equal(reason, why);
}

#endif
