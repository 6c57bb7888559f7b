/**
 * probe.h - what lies in a checkout: programs that time something, and the files that build them. Reads; runs nothing.
 *
 * A program is known by what it includes or imports. Folders that hold what was built, and hidden ones, are not looked into.
 */
#ifndef CLI_INIT_LOOK_H
#define CLI_INIT_LOOK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { LOOK_PROGRAMS_MAX = 32, LOOK_BUILDERS_MAX = 32, LOOK_SUITES_MAX = 8, LOOK_PATH_SIZE = 256 };

enum probe_kind {
	LOOK_MODULE,       /* a shared object with fw_entry */
	LOOK_KIT_C,        /* a program with flopwatch.h */
	LOOK_KIT_GOOGLE,   /* Google Benchmark with flopwatch_benchmark.h */
	LOOK_KIT_PYTHON,   /* a script that imports flopwatch */
	LOOK_TIMED_PYTHON, /* a script that times with Triton's or PyTorch's own functions */
	LOOK_LINES_PYTHON, /* a script that prints a JSON object a cell */
	LOOK_GOOGLE,
	LOOK_NVBENCH,
	LOOK_HYPERFINE /* a script of the shell around hyperfine */
};

struct look_program {
	enum probe_kind kind;
	char path[LOOK_PATH_SIZE]; /* relative to the root */
	const char *why;           /* what it was known by: "includes flopwatch.h" */
	char output[128];          /* the file that it writes, as it says itself; "" none */
	bool uses_gpu;
	struct buf text;
};

/** A file that says how something is built: Makefile, CMakeLists.txt, setup.py. */
struct look_builder {
	char dir[LOOK_PATH_SIZE]; /* relative to the root, "." the root itself */
	char name[32];
	struct buf text;
};

struct look {
	char root[4096];
	int n_programs, n_builders, n_suites;
	struct look_program program[LOOK_PROGRAMS_MAX];
	struct look_builder builder[LOOK_BUILDERS_MAX];
	char suite[LOOK_SUITES_MAX][64];                /* of etc/suites or .flopwatch/suites */
	char result[LOOK_PATH_SIZE], result_format[24]; /* a file that a benchmark once wrote; "" none */
	bool is_cut;                                    /* there is more than is looked at */
};

/** Look. Own: look_free, also after an error. Err: `root` cannot be read. */
int look_at(struct look *l, const char *root, struct fw_err *err);
void look_free(struct look *l);

/** The file `name` of folder `dir`, NULL none. */
const struct look_builder *look_builder(const struct look *l, const char *dir, const char *name);
/** Whether `path`, relative to the root, is there. */
bool look_is_there(const struct look *l, const char *path);

/** Folder of `path`: "bench" of "bench/sums.c", "." of "sums.c". Shape: dir[size]. */
void look_dir(const char *path, char *dir, size_t size);
/** `name` in folder `dir`, without "./" in front. Shape: out[size]. */
void look_join(const char *dir, const char *name, char *out, size_t size);

#endif
