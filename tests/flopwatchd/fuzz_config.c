/*
 * fuzz_config.c - arbitrary bytes as flopwatchd.yml: it is read, or refused with lines that name the file. The globs of a
 * repository that is read are matched with hostile names of branches.
 *
 * As a test it replays the files and folders given as arguments (etc/flopwatchd.yml and tests/data/fuzz/config by default).
 *
 * Attacks: daemon/flopwatchd/config daemon/lib daemon/model
 */
#include <sys/mman.h>

#include "flopwatchd/config/config.h"
#include "fuzz_replay.h"

enum { MISTAKES_MAX = 1 << 20 };

static void see_setting(void *arg, const char *name, const char *value, int line)
{
	int *last = arg;
	must(name[0] && line >= *last && !strpbrk(name, "\n\r\033") && !strpbrk(value, "\n\r\033"), "a setting is no clean line");
	*last = line;
}

static void check(const struct config *c)
{
	static const char *const names[] = { "main", "a%FF/b", "%2E%2E", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "[%5D" };
	char why[400];
	int line = 0;

	config_settings_each(c, see_setting, &line);
	for (int i = 0; i < c->n_repos; i++) {
		must(config_repo_find(c, c->repo[i].name) == i, "a repository that is not found");
		for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
			branch_patterns_watch(&c->repo[i], names[n], names[n]);
		for (int n = 0; n < c->repo[i].n_branches; n++)
			must(!branch_pattern_is_wrong(c->repo[i].branch[n], why, sizeof why), "a pattern that can match nothing");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	char path[64];
	struct fw_err err = { 0 };
	struct buf mistakes;
	struct config *c = NULL;

	if (file < 0)
		file = memfd_create("flopwatchd.yml", MFD_CLOEXEC);
	must(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size, "no file");
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	buf_init(&mistakes, MISTAKES_MAX);
	if (config_read(path, &c, &mistakes, &err) == 0) {
		must(c && err.code == ERR_NONE && mistakes.len == 0, "an accepted file left an error");
		check(c);
		config_free(c);
	} else {
		must(!c && err.code != ERR_NONE && err.text[0], "a refused file has no error");
		must(!mistakes.failed && !strpbrk(mistakes.data, "\r\033"), "a mistake is no clean line");
		for (const char *line = mistakes.data; *line; line += strcspn(line, "\n"), line += *line == '\n')
			must(strncmp(line, path, strlen(path)) == 0, "a mistake without a place");
	}
	buf_fini(&mistakes);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "etc/flopwatchd.yml", "tests/data/fuzz/config", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
