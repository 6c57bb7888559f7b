/*
 * fuzz_protocol.c - any bytes through the parser; what it accepts must survive writing and reading unchanged.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/protocol by default). To search, in bash:
 *   clang-14 -g -O1 -std=c17 -D_GNU_SOURCE -DFUZZ_SEARCH -fsanitize=fuzzer,address,undefined -Idaemon -I. \
 *     -o build/fuzz_protocol tests/fuzz_protocol.c daemon/{base,core}/[a-z]*.c -ljansson -lyaml -lnettle -lm
 *   mkdir -p build/corpus && build/fuzz_protocol -max_len=4096 build/corpus tests/data/fuzz/protocol
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static void rewrite(const struct msg *m)
{
	struct fw_err err = { 0 };
	struct buf first, second;
	struct msg again;

	buf_init(&first, PROTOCOL_LINE_MAX);
	buf_init(&second, PROTOCOL_LINE_MAX);
	protocol_write(&first, m);
	if (!first.failed) {
		must(memchr(first.data, '\n', first.len) == first.data + first.len - 1, "a message is more than one line");
		must(protocol_parse(first.data, first.len, &again, &err) == 0, "a written message is refused");
		must(again.t == m->t, "a written message is another one");
		protocol_write(&second, &again);
		must(first.len == second.len && memcmp(first.data, second.data, first.len) == 0,
			"a message changes when it is read again");
		msg_fini(&again);
	}
	buf_fini(&first);
	buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_err err = { 0 };
	struct rule rule;
	struct msg m;

	if (protocol_parse((const char *)data, size, &m, &err) == 0) {
		must(err.code == ERR_NONE, "an accepted line left an error");
		rewrite(&m);
		msg_fini(&m);
	} else {
		must(err.code == ERR_PROTOCOL || err.code == ERR_INTERNAL, "a refused line has no error");
		must(err.text[0] && !strpbrk(err.text, "\n\r\033"), "an error is no clean line");
	}
	err_clear(&err);
	if (protocol_parse_rule((const char *)data, size, &rule, &err) == 0)
		must(rule.launches_max >= 1 && rule.launches_max <= STATS_LAUNCHES_MAX / 2, "a rule is out of range");
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
	if (argc < 2)
		replay("tests/data/fuzz/protocol");
	printf("1..%d\n", count);
	return failures > 0 || count == 0;
}
#endif
