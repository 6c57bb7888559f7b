/*
 * fuzz_reading.c - any bytes through every reader of foreign benchmarks; what is accepted must keep its promises.
 *
 * As a test it replays the files and folders given as arguments (the readers' samples and tests/data/fuzz/reading by default). To search,
 * in bash:
 *   clang-14 -g -O1 -std=c17 -D_GNU_SOURCE -DFUZZ_SEARCH -fsanitize=fuzzer,address,undefined -Idaemon -I. \
 *     -o build/fuzz_reading tests/fuzz_reading.c daemon/{base,core}/[a-z]*.c -ljansson -lyaml -lnettle -lm
 *   mkdir -p build/corpus && build/fuzz_reading -max_len=4096 build/corpus tests/data/readers tests/data/fuzz/reading
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "core/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void check(const struct reading *r)
{
	must(r->n_rows > 0 && r->n_rows <= READING_ROWS_MAX, "a reading without rows, or with too many");
	for (int i = 0; i < r->n_rows; i++) {
		const struct reading_row *row = &r->row[i];

		must(row->key[0] && strlen(row->key) < CASE_KEY_SIZE && !strpbrk(row->key, " \n\r\033"), "a key is not clean");
		must(reading_find(r, row->key) == row, "a key appears twice");
		must(row->n > 0 && row->median_ms > 0 && isfinite(row->median_ms), "a row without a time");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { "flopwatch", "ffa", "nvbench", "google-benchmark", "hyperfine", "triton",
		"torchao" };
	const char *guess = reading_guess((const char *)data, size);

	must(!guess || reading_known(guess), "an unknown format is guessed");
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		struct fw_err err = { 0 };
		struct reading r;

		if (reading_parse(formats[i], "GB/s", (const char *)data, size, "input", &r, &err) == 0) {
			must(err.code == ERR_NONE, "an accepted file left an error");
			check(&r);
			reading_fini(&r);
		} else {
			must(err.code == ERR_INVALID || err.code == ERR_INTERNAL, "a refused file has no error");
			must(err.text[0] != 0, "an error says nothing");
		}
	}
	return 0;
}

#ifndef FUZZ_SEARCH
static int failures, count;

/* Reaching the next line at all is what is tested: a finding aborts. */
static void replay_file(const char *path)
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
	count++;
	failures += !read;
	printf("%s %d - %s\n", read ? "ok" : "not ok", count, path);
	fflush(stdout);
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void replay(const char *path)
{
	struct dirent **entry;
	struct stat st;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		replay_file(path);
		return;
	}
	int n = scandir(path, &entry, visible, alphasort);

	for (int i = 0; i < n; i++) {
		char name[4096];

		snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
		replay_file(name);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	if (argc < 2) {
		replay("tests/data/readers");
		replay("tests/data/fuzz/reading");
	}
	printf("1..%d\n", count);
	return failures > 0 || count == 0;
}
#endif
