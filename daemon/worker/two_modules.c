/* two_modules.c - see two_modules.h. */
#include "worker/two_modules.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "worker/box/sealed.h"

enum { SUITE_BYTES_MAX = 1 << 20 };

int two_modules_suite(const char *path, const char *glob, struct suite *suite, struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;
	struct buf text;

	if (fd < 0)
		return err_sys(err, "suite %s", path);
	buf_init(&text, SUITE_BYTES_MAX);
	result = buf_read_fd(&text, fd);
	close(fd);
	if (result != 0 || text.failed)
		result = err_set(err, ERR_INVALID, "suite %s cannot be read", path);
	else
		result = suite_parse(text.data, text.len, path, suite, err);
	buf_fini(&text);
	if (result == 0 && glob && suite_filter(suite, glob) == 0) {
		suite_fini(suite);
		return err_set(err, ERR_INVALID, "no cell of %s matches \"%s\"", path, glob);
	}
	return result;
}

int two_modules_add(
	struct bench *b, enum role role, const char *provider, const char *config, const char *path, struct fw_err *err)
{
	char sha[HASH_HEX];
	int fd = sealed_open(path, sha, err);
	int result = fd < 0 ? -1 : bench_subject(b, role, provider, fd, sha, err);

	for (int i = 0; *config && i < b->n_cells && result == 0; i++)
		result = bench_pin(b, b->n_subjects - 1, i, config, err);
	return result;
}

int two_modules_chose(enum role role, const char *cell, const char *config, const char *chosen, struct fw_err *err)
{
	if (!*config || strcmp(config, chosen) == 0)
		return 0;
	return err_set(err, ERR_INVALID, "%s: its provider was handed the configuration `%s` for %s and chose `%s`",
		role_name(role), config, cell, chosen);
}
