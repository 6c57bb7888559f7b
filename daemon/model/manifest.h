/**
 * manifest.h - `.flopwatch.yaml` at a branch's root: inputs, build and outputs.
 *
 * It may also name benchmark programs:
 *   benchmarks: {vecsum: {command: [python3, bench.py], reader: flopwatch}}
 * With them the defaults are inputs [.], dir ., no build, and the benchmarks as suites.
 *
 * Without a file the defaults suit flopwatch's own repository: inputs [kernels], dir kernels, make DEVICE={device}, attention
 * at build/{device}/libattention.so, suites [ffa], peers [cudnn@cuda]. A file with a build or benchmarks has no peers but those
 * that it names.
 */
#ifndef MODEL_MANIFEST_H
#define MODEL_MANIFEST_H

#include "lib/yaml.h"
#include "model/benchmark.h"
#include "model/peers.h"

enum { MANIFEST_LIST_MAX = 32, MANIFEST_TEXT_SIZE = 256, MANIFEST_BENCHMARKS_MAX = 4 };

struct manifest {
	int n_inputs;
	char input[MANIFEST_LIST_MAX][MANIFEST_TEXT_SIZE];   /* paths in the tree, relative, no ".." */
	char dir[MANIFEST_TEXT_SIZE];                        /* working folder of the command */
	int n_command;                                       /* 0: no build */
	char command[MANIFEST_LIST_MAX][MANIFEST_TEXT_SIZE]; /* argument vector; "{device}" becomes cuda, cpu or sim's cpu */
	int n_outputs;
	char family[8][16];                 /* "attention" */
	char output[8][MANIFEST_TEXT_SIZE]; /* path of the module, relative to dir */
	int n_suites;
	char suite[8][64];
	struct yaml_position suite_at[8]; /* position of each name in the file; none for defaults */
	double timeout_s;                 /* of the build; default 900 */
	int n_benchmarks;
	struct benchmark benchmark[MANIFEST_BENCHMARKS_MAX];
	struct peers peers; /* peers of the upstream branch */
};

/** Set the defaults above. */
void manifest_default(struct manifest *m);
/**
 * Parse; `text` NULL gives the defaults. Err: all mistakes, each with file:line:col, separated by " | ". Absolute paths and
 * ".." are mistakes.
 */
int manifest_parse(const char *text, size_t len, const char *file, struct manifest *out, struct fw_err *err);
const struct benchmark *manifest_benchmark(const struct manifest *m, const char *name);
/**
 * Return whether `path` is relative and stays inside: no leading slash, no "..", no empty or "." component; "." alone is the
 * root.
 */
bool manifest_path_ok(const char *path);
/** Replace "{device}" in `text`. Shape: out[size]. */
void manifest_expand(const char *text, const char *device, char *out, size_t size);

/**
 * Read a string into a field, a list of strings into rows[max][size]; mistakes go into `y`. The list returns its number, `n`
 * when absent.
 */
void manifest_read_text(struct yaml *y, struct yaml_node *n, bool path, char *out, size_t size);
int manifest_read_list(struct yaml *y, struct yaml_node *list, bool path, char *rows, size_t size, int max, int n);

#endif
