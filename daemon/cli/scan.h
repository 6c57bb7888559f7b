/**
 * probe.h - what lies in a checkout: programs that time something, and the files that build them. Reads; runs nothing.
 *
 * A program is known by what it includes or imports. Folders that hold what was built, and hidden ones, are not looked into.
 */
#ifndef CLI_SCAN_H
#define CLI_SCAN_H

#include <stdbool.h>

#include "lib/buf.h"
#include "lib/err.h"

enum { SCAN_PROGRAMS_MAX = 32, SCAN_BUILDERS_MAX = 32, SCAN_SUITES_MAX = 8, SCAN_PATH_SIZE = 256 };

enum probe_kind {
	SCAN_MODULE,       /* a shared object with fw_entry */
	SCAN_KIT_C,        /* a program with flopwatch.h */
	SCAN_KIT_GOOGLE,   /* Google Benchmark with flopwatch_benchmark.h */
	SCAN_KIT_PYTHON,   /* a script that imports flopwatch */
	SCAN_TIMED_PYTHON, /* a script that times with Triton's or PyTorch's own functions */
	SCAN_LINES_PYTHON, /* a script that prints a JSON object a cell */
	SCAN_GOOGLE,
	SCAN_NVBENCH,
	SCAN_HYPERFINE /* a script of the shell around hyperfine */
};

struct scan_program {
	enum probe_kind kind;
	char path[SCAN_PATH_SIZE]; /* relative to the root */
	const char *why;           /* what it was known by: "includes flopwatch.h" */
	char output[128];          /* the file that it writes, as it says itself; "" none */
	bool uses_gpu;
	struct buf text;
};

/** A file that says how something is built: Makefile, CMakeLists.txt, setup.py. */
struct scan_builder {
	char dir[SCAN_PATH_SIZE]; /* relative to the root, "." the root itself */
	char name[32];
	struct buf text;
};

struct scan {
	char root[4096];
	int n_programs, n_builders, n_suites;
	struct scan_program program[SCAN_PROGRAMS_MAX];
	struct scan_builder builder[SCAN_BUILDERS_MAX];
	char suite[SCAN_SUITES_MAX][64];                /* of etc/suites or .flopwatch/suites */
	char result[SCAN_PATH_SIZE], result_format[24]; /* a file that a benchmark once wrote; "" none */
	bool is_cut;                                    /* there is more than is looked at */
};

/** Look. Own: scan_free, also after an error. Err: `root` cannot be read. */
int scan_at(struct scan *l, const char *root, struct fw_err *err);
void scan_free(struct scan *l);

/** The file `name` of folder `dir`, NULL none. */
const struct scan_builder *scan_builder(const struct scan *l, const char *dir, const char *name);
/** Whether `path`, relative to the root, is there. */
bool scan_is_there(const struct scan *l, const char *path);

/** Folder of `path`: "bench" of "bench/sums.c", "." of "sums.c". Shape: dir[size]. */
void scan_dir(const char *path, char *dir, size_t size);
/** `name` in folder `dir`, without "./" in front. Shape: out[size]. */
void scan_join(const char *dir, const char *name, char *out, size_t size);

#endif
