/** fuzz_replay.h - shared by the fuzzers: a finding ends the program, and files or folders of inputs are replayed as a test. */
#ifndef TESTS_FUZZ_REPLAY_H
#define TESTS_FUZZ_REPLAY_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/lib.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/** Called once before the inputs are read; only fuzzers that make their first inputs have it. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/** A finding: `good` is false. */
static inline void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "finding: %s\n", what);
	abort();
}

/** Add a first input to the folder $FUZZ_INPUTS of a search. */
static inline void fuzz_first_input(const char *name, const void *data, size_t len)
{
	const char *folder = getenv("FUZZ_INPUTS");
	char path[4096];

	if (!folder)
		return;
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, data, len) == (ssize_t)len && close(fd) == 0, "the first input cannot be written");
}

struct fuzz_replay {
	int failures, count;
};

/** Run one input. Reaching the next line is the test: a finding aborts. */
static inline void fuzz_replay_file(struct fuzz_replay *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct buf bytes;

	buf_init(&bytes, 4u << 20);
	bool read = fd >= 0 && buf_read_fd(&bytes, fd) == 0;

	if (fd >= 0)
		close(fd);
	if (read) {
		/* an exact copy, so that a sanitizer sees a read beyond its end */
		uint8_t *copy = malloc(bytes.len ? bytes.len : 1);

		must(copy != NULL, "out of memory");
		memcpy(copy, bytes.data, bytes.len);
		LLVMFuzzerTestOneInput(copy, bytes.len);
		free(copy);
	}
	buf_fini(&bytes);
	f->count++;
	f->failures += !read;
	printf("%s %d - %s\n", read ? "ok" : "not ok", f->count, path);
	fflush(stdout);
}

static inline int fuzz_replay_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/** Run a file, or all files of a folder in the order of their names. */
static inline void fuzz_replay(struct fuzz_replay *f, const char *path)
{
	struct dirent **entry;
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		fuzz_replay_file(f, path);
		return;
	}
	int n = scandir(path, &entry, fuzz_replay_visible, alphasort);

	for (int i = 0; i < n; i++) {
		char name[4096];

		snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
		fuzz_replay_file(f, name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

/** main: the files and folders of the command line, else `folders` (NULL-terminated). Returns the exit status. */
static inline int fuzz_replay_main(int argc, char **argv, const char *const *folders)
{
	struct fuzz_replay f = { 0 };

	for (int i = 1; i < argc; i++)
		fuzz_replay(&f, argv[i]);
	for (int i = 0; argc < 2 && folders[i]; i++)
		fuzz_replay(&f, folders[i]);
	printf("1..%d\n", f.count);
	return f.failures > 0 || f.count == 0;
}

#endif
