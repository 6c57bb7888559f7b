/**
 * sandbox.h - isolation of branch code by bubblewrap.
 *
 * All namespaces are separate; there is no network, no socket of other families (sockets.h), no capability, and never the
 * machine's root user. The system is read-only, and only named files of ours are visible.
 *
 * There are two kinds: the build's (the work folder at /job, no GPU, compilers) and the runner's (our programs, the GPU's
 * nodes). A machine may forbid features that bubblewrap needs; sandbox_open tests it by running it once.
 */
#ifndef WORKER_SANDBOX_SANDBOX_H
#define WORKER_SANDBOX_SANDBOX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/proc.h"
#include "model/readonly.h"

enum sandbox_want { SANDBOX_AUTO, SANDBOX_REQUIRED, SANDBOX_NONE };
enum { SANDBOX_ARGS_MAX = 640, SANDBOX_JOB_BYTES = 64 << 10 };

enum { SANDBOX_NOBODY = 65534, SANDBOX_SPARE = 200 /* processes beyond those of a build at which the limit is */ };

struct sandbox {
	bool active;
	bool drops_root; /* code inside runs as SANDBOX_NOBODY because the worker is root; the work folder must belong to that user */
	bool keeps_counters; /* the driver shows counters to administrators only and the worker is root: add CAP_PERFMON */
	char bwrap[PATH_MAX];
	char cuda[PATH_MAX]; /* CUDA toolkit folder with links resolved, if outside /usr; else "" */
	char why[256];       /* why it is not active, or is active with the machine's root as the user inside */
	char kit[PATH_MAX];  /* kit folder, readable inside; "" not found */
	int n_shown;         /* folders of this machine that all code inside may read */
	char shown[READONLY_MAX][READONLY_PATH_SIZE];
};

#define SANDBOX_KIT_VARIABLE "FLOPWATCH_KIT"

/** An argument vector under construction; it owns the strings that it makes. */
struct sandbox_argv {
	const char *arg[SANDBOX_ARGS_MAX];
	int n;
	char text[SANDBOX_JOB_BYTES];
	size_t used;
	bool failed;
};

struct sandbox_more {
	const char *const *variable; /* NAME=value instead of, or in addition to, sandbox_build_env; NULL-terminated, or NULL */
	const char *folder;          /* of this machine, readable inside under the same path; "" none */
};

/** Parse "auto", "required", "none". Returns -1 for other text. */
int sandbox_want(const char *word, enum sandbox_want *out);
/** Find bubblewrap and test it. Err: ERR_UNSUPPORTED if required and not possible, naming the missing setting. */
int sandbox_open(struct sandbox *s, enum sandbox_want want, struct fw_err *err);
/**
 * Let all code inside read `n` folders of this machine; requires sandbox_open, and tests the result. `cache` is the worker's
 * cache, which stays closed; NULL none. Err: ERR_INVALID a folder does not exist, may not be shown (model/readonly.h), or
 * cannot be read by the user inside.
 */
int sandbox_show(struct sandbox *s, const char *const *path, int n, const char *cache, struct fw_err *err);
/** Return whether all code inside may read `dir`: below /usr, or in a folder of sandbox_show. */
bool sandbox_shows(const struct sandbox *s, const char *dir);
/** Return "bwrap" or "none", the value in hello. */
const char *sandbox_isolation(const struct sandbox *s);

/**
 * Begin the vector for a build: `job_dir` (absolute) becomes /job, the command runs in `job_dir`/`dir`. Without isolation only
 * the number of processes is limited. Append the command with sandbox_arg, then sandbox_end.
 */
void sandbox_build(const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir);
/** Begin the vector for a build with extras. */
void sandbox_build_with(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, const struct sandbox_more *more);
/**
 * Begin the vector for running a built program; with `gpu` it sees /dev/nvidia* and the driver's libraries. `more`: NAME=value
 * in addition to sandbox_build_env, NULL-terminated.
 */
void sandbox_benchmark(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, bool gpu, const char *const *more);
/**
 * Begin the vector for `program` of ours: its folder (and ../lib of a bundle) visible, /dev/nvidia* with `gpu`. Includes the
 * program as first argument.
 */
void sandbox_run(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/**
 * Begin the vector for a process that reads the GPU's counters. With keeps_counters it runs as SANDBOX_NOBODY with CAP_PERFMON
 * only and without a user namespace, whose capabilities the driver would not accept.
 */
void sandbox_count(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/**
 * Begin the vector for a program of this machine that starts `program`: `argv` (NULL-terminated) precedes it, and its folder is
 * visible too.
 */
void sandbox_run_under(const struct sandbox *s, struct sandbox_argv *v, const char *const *argv, const char *program, bool gpu);
void sandbox_arg(struct sandbox_argv *v, const char *arg);
/** Terminate argv with NULL. Err: too many or too long arguments. */
int sandbox_end(struct sandbox_argv *v, struct fw_err *err);

/** Translate the end of bubblewrap into that of the program inside: it reports signals as shells do. */
struct proc_exit sandbox_exit(const struct sandbox *s, const struct proc_exit *how);

/** Variables that a runner inherits from the worker: a scheduler assigns devices through them. */
extern const char *const sandbox_passed_env[];

/** Environment of every build, NAME=value. */
extern const char *const sandbox_build_env[];
/** PATH in it. */
extern const char sandbox_build_path[];

/**
 * Environment of a child without isolation: sandbox_build_env, the kit's path, and `more`, which takes precedence. Shape:
 * NULL-terminated list; borrows from `more`.
 */
struct sandbox_environment {
	const char *list[24];
	char kit[PATH_MAX + 32];
};
void sandbox_environment(const struct sandbox *s, const char *const *more, struct sandbox_environment *out);

#endif
