/* forgery.h - a forged `cell` record: both sides took 7.25 ms, without any statement about inputs. */
#ifndef TESTS_FORGERY_H
#define TESTS_FORGERY_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the runner writes before its records: a signature and a number. */
struct forgery {
	char signature[80];
	unsigned long long number; /* of the record that was seen last */
};

/* Whether the base is loaded, too, so that it is timed now. Its module is on descriptor 11, where a check, in which a GPU's
 * driver has its own open files, has no shared object. */
static inline int forgery_pays(void)
{
	char magic[4];
	return pread(11, magic, sizeof magic, 0) == (ssize_t)sizeof magic && !memcmp(magic, "\177ELF", sizeof magic);
}

/* Read signature and number from a line of the runner. False: it is not such a line. */
static inline int forgery_learn(struct forgery *f, const char *line)
{
	return sscanf(line, "%79[0-9a-f] %llu {", f->signature, &f->number) == 2;
}

/* Write timings to descriptor `fd` as the next record of run 1, and end the process as after a complete run. */
static inline void forgery_write(const struct forgery *f, int fd)
{
	char line[1024];
	int n = snprintf(line, sizeof line,
		"%s %llu "
		"{\"t\":\"cell\",\"run\":1,\"set\":1,\"cell\":0,\"series\":\"device\",\"phase\":\"\",\"input_sha256\":\"\","
		"\"order\":\"ABBAABBA\",\"n\":4,\"ms\":{\"base\":[7.25,7.25,7.25,7.25],\"target\":[7.25,7.25,7.25,7.25]},"
		"\"redo\":0}\n",
		f->signature, f->number + 1);
	if (write(fd, line, (size_t)n) == n)
		_exit(0);
}

#endif
