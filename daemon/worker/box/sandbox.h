/**
 * sandbox.h - where branch code runs: bubblewrap with every namespace of its own, no network, no sockets of other families (sockets.h), no
 * capabilities, never the machine's root, a system that
 * is read-only, and of our files only those that are named.
 *
 * Two kinds: the build's (the work folder at /job, no GPU, compilers) and the runner's (our programs, the GPU's nodes). A
 * machine may forbid what bubblewrap needs; sandbox_open finds out by using it once.
 */
#ifndef WORKER_BOX_SANDBOX_H
#define WORKER_BOX_SANDBOX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/proc.h"
#include "core/suite/readonly.h"

enum sandbox_want { SANDBOX_AUTO, SANDBOX_REQUIRED, SANDBOX_NONE };
enum { SANDBOX_ARGS_MAX = 640, SANDBOX_JOB_BYTES = 64 << 10 };

enum { SANDBOX_NOBODY = 65534, SANDBOX_SPARE = 200 /* processes beyond those of a build that it meets a wall at */ };

struct sandbox {
	bool active;
	bool drops_root; /* everything inside runs as SANDBOX_NOBODY, because we are root; the work folder must be given to it */
	bool keeps_counters; /* the driver shows a GPU's counters to administrators only, and we are root: who counts gets CAP_PERFMON */
	char bwrap[PATH_MAX];
	char cuda[PATH_MAX]; /* CUDA toolkit folder with links resolved, when it is outside /usr; "" else */
	char why[256];       /* what is missing: it is not active, or is and code inside has the machine's root as its user */
	char kit[PATH_MAX];  /* folder of the kit that programs may use, readable inside; "" none was found */
	int n_shown;         /* folders of this machine that everything inside may read */
	char shown[READONLY_MAX][READONLY_PATH_SIZE];
};

/** Tells builds and programs where the kit is. */
#define SANDBOX_KIT_VARIABLE "FLOPWATCH_KIT"

/** An argument vector under construction; strings that it makes live in it. */
struct sandbox_argv {
	const char *arg[SANDBOX_ARGS_MAX];
	int n;
	char text[SANDBOX_JOB_BYTES];
	size_t used;
	bool failed;
};

/** What a build has beside what every build has. */
struct sandbox_more {
	const char *const *variable; /* NAME=value in place of, or on top of, sandbox_build_env; NULL-ended, or NULL */
	const char *folder;          /* of this machine, readable inside under the same path; "" none */
};

/** "auto", "required", "none". Returns -1 for another word. */
int sandbox_want(const char *word, enum sandbox_want *out);
/** Find bubblewrap and try it. Err: ERR_UNSUPPORTED when required and not possible: one line that says which setting is missing. */
int sandbox_open(struct sandbox *s, enum sandbox_want want, struct fw_err *err);
/**
 * Let everything inside read `n` folders of this machine: after sandbox_open, and tried out. `cache` is our own folder, which stays closed; NULL
 * none. Err: ERR_INVALID one is not there, may not be shown (core/suite/readonly.h), or cannot be read by who runs inside.
 */
int sandbox_show(struct sandbox *s, const char *const *path, int n, const char *cache, struct fw_err *err);
/** Whether everything inside may read `dir`: it lies below /usr, or in a folder that is shown. */
bool sandbox_shows(const struct sandbox *s, const char *dir);
/** "bwrap" or "none", as hello says it. */
const char *sandbox_isolation(const struct sandbox *s);

/**
 * Begin the vector for a build: `job_dir` (absolute) becomes /job, the command runs in `job_dir`/`dir`. Without isolation only
 * the number of processes is limited. Append the command with sandbox_arg, then sandbox_end.
 */
void sandbox_build(const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir);
/** The same with more. */
void sandbox_build_with(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, const struct sandbox_more *more);
/**
 * As sandbox_build, for running what was built; with `gpu` it sees /dev/nvidia* and the driver's libraries. `more`: NAME=value on top of
 * sandbox_build_env, NULL-ended.
 */
void sandbox_benchmark(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, bool gpu, const char *const *more);
/** Begin the vector for `program` of ours: its folder (and ../lib of a bundle) visible, /dev/nvidia* when `gpu`. Includes the program as first argument. */
void sandbox_run(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/**
 * The same for a process that reads the GPU's counters. With keeps_counters it runs as SANDBOX_NOBODY without a user namespace, in which
 * the driver would not believe it, and of all capabilities has CAP_PERFMON.
 */
void sandbox_count(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/** That for a program of this machine that starts `program`: `argv` (NULL-ended) with it behind, and its folder visible, too. */
void sandbox_run_under(const struct sandbox *s, struct sandbox_argv *v, const char *const *argv, const char *program, bool gpu);
void sandbox_arg(struct sandbox_argv *v, const char *arg);
/** NULL-ended argv. Err: too many or too long arguments. */
int sandbox_end(struct sandbox_argv *v, struct fw_err *err);

/** How the program inside ended: bubblewrap passes signals on as shells do. */
struct proc_exit sandbox_exit(const struct sandbox *s, const struct proc_exit *how);

/** Names of variables that a runner gets as the worker has them: which devices are its own, when somebody else shares them out. */
extern const char *const sandbox_passed_env[];

/** Environment of every build, NAME=value. */
extern const char *const sandbox_build_env[];
/** PATH in it. */
extern const char sandbox_build_path[];

/** What a child gets where nothing isolates it: that, the place of the kit, and more, which is stronger. Shape: NULL-ended list; borrows from `more`. */
struct sandbox_environment {
	const char *list[24];
	char kit[PATH_MAX + 32];
};
void sandbox_environment(const struct sandbox *s, const char *const *more, struct sandbox_environment *out);

#endif
