/* A test's own flopwatchd.yml: accepted, or refused with exactly these lines. Groups have make_folder and remove_folder. */
#ifndef TESTS_CONFIG_FILE_H
#define TESTS_CONFIG_FILE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flopwatchd/config/config.h"

static char folder[] = "/tmp/fw-config-XXXXXX";
static char path[128];

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? snprintf(path, sizeof path, "%s/f.yml", folder) < 0 : -1;
}

static inline int remove_folder(void **state)
{
	(void)state;
	char secret[160];
	snprintf(secret, sizeof secret, "%s/secret", folder);
	unlink(secret);
	unlink(path);
	return rmdir(folder);
}

static inline void write_file(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline struct config *good(const char *text)
{
	struct config *c = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes;
	buf_init(&mistakes, 65536);
	write_file(path, text);
	if (config_read(path, &c, &mistakes, &err) != 0)
		fail_msg("%s: %s", err.text, mistakes.data);
	buf_fini(&mistakes);
	return c;
}

/* `lines` without the "FILE:" prefix of each. */
static inline void bad(const char *text, const char *lines)
{
	struct config *c = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes, want;
	buf_init(&mistakes, 65536);
	buf_init(&want, 65536);
	write_file(path, text);
	assert_int_equal(config_read(path, &c, &mistakes, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_null(c);
	for (const char *line = lines; *line;) {
		size_t len = strcspn(line, "\n") + 1; /* every line ends in one */
		buf_printf(&want, "%s:", path);
		buf_append(&want, line, len);
		line += len;
	}
	assert_string_equal(mistakes.data, want.data);
	buf_fini(&mistakes);
	buf_fini(&want);
}

#endif
