/** sandbox.h - the trust boundary: bubblewrap, unpacking, building, the cache, the connection to the daemon. */
#ifndef WORKER_SANDBOX_SANDBOX_H
#define WORKER_SANDBOX_SANDBOX_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/lib.h"
#include "model/model.h"
#include "profile/profile.h"
#include "protocol/protocol.h"

/*
 * ---- beneath ----
 * openat below an untrusted folder, without following symbolic links.
 *
 * beneath_open opens one component after the other with O_NOFOLLOW. openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS would do
 * the same in one call, but systemd's RestrictSUIDSGID, which applies to the workers, makes every openat2 fail with ENOSYS
 * because it cannot check the mode in its arguments.
 */

/**
 * Open the relative `path` below the folder `root`. "." and empty components are ignored; without components, `root` itself is
 * opened. No component, including the last, may be a symbolic link. `flags`: of openat, without O_CREAT; O_CLOEXEC and O_NOFOLLOW
 * are added. Returns a descriptor, or -1 with errno: ELOOP for a link, EXDEV for ".." and an absolute path, else that of openat.
 * Own: close.
 */
int beneath_open(int root, const char *path, int flags);

/*
 * ---- cache ----
 * Files that a worker stores between jobs: builds/<key> (the hash of a module), modules/<sha256>.so, names/<sha256>.so (the same
 * module with symbols and line numbers), checks/<key>; and the work folders of builds.
 *
 * Every file is written under a temporary name, synced and renamed, so a crash leaves a complete file or none. Workers that share
 * a cache use locks: one for each build slot, and one for the measurements on each device.
 */

struct cache {
	char dir[PATH_MAX];
	int fd;                                         /* of dir; -1: closed */
	int builds_fd, modules_fd, names_fd, checks_fd; /* of the folders in it */
};

/**
 * Open the cache; create it if missing. `dir` NULL: the first of $CACHE_DIRECTORY, $XDG_CACHE_HOME/flopwatch,
 * /var/cache/flopwatch-worker for root, ~/.cache/flopwatch. Root may use another user's cache only if `dir` names it. Own:
 * cache_close. Err: the unusable folder and its owner; all descriptors are closed.
 */
int cache_open(struct cache *c, const char *dir, struct fw_err *err);
/** Close all descriptors. */
void cache_close(struct cache *c);

/**
 * Append the file `name` of builds_fd or checks_fd to `out`, and mark it as used. Returns 1; 0 if it is missing or unreadable.
 */
int cache_get(int folder_fd, const char *name, struct buf *out);
/** Store a file; it replaces one of the same name. Returns 0, or -1. */
int cache_put(int folder_fd, const char *name, const void *data, size_t len, struct fw_err *err);
/** Remove a file, if it exists. */
void cache_forget(int folder_fd, const char *name);

/**
 * Store a copy of `fd` (from offset 0) as modules/<sha256>.so. Returns 0, or -1. Shape: sha256[HASH_HEX], out. Err: ERR_INVALID
 * if it is larger than `max_bytes`.
 */
int cache_put_module(const struct cache *c, int fd, int64_t max_bytes, char sha256[HASH_HEX], struct fw_err *err);
/** Open a cached module and mark it as used; -1 if missing. Own: close. */
int cache_open_module(const struct cache *c, const char *sha256);
/** Store `fd` as the unstripped copy of module `sha256`, unless it is larger than `max_bytes`. Ignores failures. */
void cache_put_names(const struct cache *c, const char *sha256, int fd, int64_t max_bytes);
/** Open the unstripped copy of a module; -1 if missing. Own: close. */
int cache_open_names(const struct cache *c, const char *sha256);

/**
 * Try to take the lock `name`. Returns its descriptor, which releases it when closed; -1 with ERR_BUSY if another process holds
 * it.
 */
int cache_lock(const struct cache *c, const char *name, struct fw_err *err);
/**
 * Lock the first free one of `n` build slots, each with separate work folders; `*slot` receives its number. Returns as
 * cache_lock.
 */
int cache_lock_slot(const struct cache *c, int n, int *slot, struct fw_err *err);
/**
 * Take the lock that all concurrent builds share. `*alone`: no other build runs, and none can start before cache_lock_share.
 * Returns as cache_lock.
 */
int cache_lock_concurrent(const struct cache *c, bool *alone, struct fw_err *err);
/** Let other builds start, after cache_lock_concurrent with `*alone`. */
int cache_lock_share(int fd, struct fw_err *err);
/** Remove all but the `keep` most recently used files of each folder, and incomplete files. Call only if no build runs. */
void cache_trim(const struct cache *c, int keep);
/** Do the same for one folder, whose entries may be folders. Call only if no other process writes to it. */
void cache_trim_folder(int folder_fd, int keep);

/*
 * ---- peer ----
 * The connection to the daemon over standard input and output.
 *
 * Every wait of the worker also reads the daemon's messages, because the daemon may cancel the job at any time; end of input
 * cancels it, too. The worker sends a ping every 10 s. A worker without a daemon has no descriptors here, and only a signal
 * (SIGINT, SIGTERM, SIGHUP) cancels.
 */

struct peer {
	int in, out; /* -1: no daemon */
	struct lines lines;
	struct buf sending;
	int64_t next_ping_ns;
	bool cancelled;
	bool stays;        /* only the current job is cancelled: the daemon has another one */
	struct fw_err why; /* reason of the cancellation */
};

/** Handle SIGTERM, SIGINT and SIGHUP, which cancel the job, and ignore SIGPIPE. Call once, before peer_init. */
void peer_signals(void);
/** Initialise. `in` and `out` -1: no daemon. Own: the caller closes both. */
void peer_init(struct peer *p, int in, int out);
void peer_fini(struct peer *p);
/** Return whether the daemon cancelled the job for another one and waits for a hello; if so, clear the cancellation. */
bool peer_take_preemption(struct peer *p);

/**
 * Wait 0.1 s for a signal to this process. Call before the end of a child is reported as the child's fault: a scheduler that ends
 * an allocation signals all its processes, in any order. Err: ERR_CANCELLED if there is a signal.
 */
int peer_await_signal(struct peer *p, struct fw_err *err);
/**
 * Send one message. Does nothing without a daemon. Err: the daemon disconnected or has not read for 30 s; the job is then
 * cancelled.
 */
int peer_send(struct peer *p, const struct msg *m, struct fw_err *err);
/** Wait for the next message. Own: msg_fini. Err: ERR_TIMEOUT after `timeout_ms`, ERR_CANCELLED, ERR_PROTOCOL. */
int peer_receive(struct peer *p, int64_t timeout_ms, struct msg *out, struct fw_err *err);
/** Copy the `bytes` that follow a tree line to `fd`. Err: as peer_receive, or `fd` cannot be written. */
int peer_payload(struct peer *p, int64_t bytes, int64_t timeout_ms, int fd, struct fw_err *err);

/** Prepare a poll: fill in the descriptor (-1 without a daemon), and limit `*wait_ms`. */
void peer_poll(const struct peer *p, struct pollfd *fd, int *wait_ms);
/**
 * After that poll, read pending data and send a ping when due. Err: ERR_CANCELLED if the job must end, then at each later call.
 */
int peer_attend(struct peer *p, const struct pollfd *fd, struct fw_err *err);

/*
 * ---- sandbox ----
 * Isolation of branch code by bubblewrap.
 *
 * All namespaces are separate. Code inside has no network, no capability and no sockets of other families than sandbox.c allows,
 * cannot create user namespaces (if the worker is not root, this needs bubblewrap 0.8), and never runs as the machine's root. The
 * system is read-only, and only explicitly listed files of flopwatch are visible.
 *
 * There are two kinds: for builds (the work folder at /job, compilers, no GPU) and for the runner (flopwatch's programs, the
 * GPU's device nodes). A machine may forbid features that bubblewrap needs, so sandbox_open runs it as a test.
 */

enum sandbox_want { SANDBOX_AUTO, SANDBOX_REQUIRED, SANDBOX_NONE };
enum { SANDBOX_ARGS_MAX = 640, SANDBOX_JOB_BYTES = 64 << 10 };

enum {
	SANDBOX_NOBODY = 65534,        /* user and group id of nobody */
	SANDBOX_PROCESSES_EXTRA = 200, /* added to procs_build_max for the kernel's limit of processes */
	SANDBOX_RUN_PROCESSES = 4096   /* limit of a run; several may be in progress, with a thread for each core */
};

struct sandbox {
	bool active;          /* bubblewrap works and is used */
	bool drops_root;      /* the worker is root, so code inside runs as SANDBOX_NOBODY, who must own the work folder */
	bool ends_namespaces; /* bubblewrap forbids user namespaces inside; with drops_root the seccomp filter does */
	bool keeps_counters;  /* the driver restricts counters to administrators, and the worker, as root, can add CAP_PERFMON */
	char bwrap[PATH_MAX];
	char cuda[PATH_MAX];       /* CUDA toolkit folder with links resolved, if outside /usr; else "" */
	char why[256];             /* why it is not active, or why code inside runs as the machine's root; "": neither */
	char kit[PATH_MAX];        /* folder of the kit, readable inside; "": not found */
	char before[PATH_MAX + 8]; /* folder of its headers that replace a library's; "": no such library is installed */
	int n_shown;               /* folders of this machine that all code inside may read */
	char shown[READONLY_MAX][READONLY_PATH_SIZE];
};

/* Environment variables with the folders `kit` and `before`. */
#define SANDBOX_KIT_VARIABLE    "FLOPWATCH_KIT"
#define SANDBOX_BEFORE_VARIABLE "CPLUS_INCLUDE_PATH"

/** An argument vector under construction. Shape: arg[n], then NULL. */
struct sandbox_argv {
	const char *arg[SANDBOX_ARGS_MAX]; /* point into `text` */
	int n;
	char text[SANDBOX_JOB_BYTES];
	size_t used; /* bytes of `text` */
	bool failed; /* an argument did not fit */
};

/** Extras of a build. */
struct sandbox_more {
	const char *const *variable; /* NAME=value, override or extend sandbox_build_env; NULL-terminated; NULL: none */
	const char *folder;          /* of this machine, readable inside under the same path; "": none */
};

/** Parse "auto", "required", "none". Returns 0; -1 for other text. */
int sandbox_want(const char *text, enum sandbox_want *out);
/**
 * Find bubblewrap and test it. Limits the system calls of this process for its whole life (sandbox.c). Err: ERR_UNSUPPORTED names
 * the missing setting if the sandbox is required and does not work, or if user nobody cannot run the runner.
 */
int sandbox_open(struct sandbox *s, enum sandbox_want want, struct fw_err *err);
/**
 * Let all code inside read `n` folders of this machine, and test this; requires sandbox_open. `cache`: path of the worker's
 * cache, which must remain hidden; NULL: none. Err: ERR_INVALID if a folder does not exist, may not be shown (model/readonly.c),
 * or is unreadable for the user inside.
 */
int sandbox_show(struct sandbox *s, const char *const *path, int n, const char *cache, struct fw_err *err);
/** Return whether all code inside may read `dir`: it is below /usr, the CUDA toolkit or a folder of sandbox_show. */
bool sandbox_shows(const struct sandbox *s, const char *dir);
/** Return "bwrap" or "none", the value in hello. */
const char *sandbox_isolation(const struct sandbox *s);

/**
 * Begin the vector for a build: the absolute `job_dir` is mounted as /job, and the command runs in `job_dir`/`dir`. Without
 * isolation only the number of processes is limited. Append the command with sandbox_arg, then call sandbox_end.
 */
void sandbox_build(const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir);
/** Begin the vector for a build, with extras. `more` NULL: none. */
void sandbox_build_with(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, const struct sandbox_more *more);
/**
 * Begin the vector for a built benchmark program, as sandbox_build; with `gpu` it sees /dev/nvidia* and the driver's libraries.
 * `more`: NAME=value, override or extend sandbox_build_env; NULL-terminated.
 */
void sandbox_benchmark(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, bool gpu, const char *const *more);
/**
 * Return how many processes and threads one side of a comparison may have, so that the other side can still start some: a worker
 * of root runs both sides as one user, and the kernel limits them for each user. 0: no limit.
 */
long sandbox_threads_of_side(const struct sandbox *s);
/**
 * Begin the vector for a program of flopwatch and append its path `program`. Its folder (and ../lib of a bundle) is visible; with
 * `gpu` also /dev/nvidia*.
 */
void sandbox_run(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/**
 * Begin the vector, as sandbox_run, for a process that reads the GPU's counters. With keeps_counters it runs as SANDBOX_NOBODY
 * with only CAP_PERFMON and without a user namespace, because the driver ignores capabilities inside one.
 */
void sandbox_count(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/**
 * Begin the vector, as sandbox_count, for a tool of this machine that starts `program`. The tool's command line `argv`
 * (NULL-terminated) precedes `program`; its folder is visible, too.
 */
void sandbox_run_under(const struct sandbox *s, struct sandbox_argv *v, const char *const *argv, const char *program, bool gpu);
/** Append a copy of an argument; sandbox_end reports a failure. */
void sandbox_arg(struct sandbox_argv *v, const char *arg);
/** End the vector, which is then terminated by NULL. Err: too many or too long arguments. */
int sandbox_end(struct sandbox_argv *v, struct fw_err *err);

/** Convert the exit of bubblewrap, which reports signal N as status 128 + N, to that of the program inside. */
struct proc_exit sandbox_exit(const struct sandbox *s, const struct proc_exit *how);

/**
 * Names of the variables that a runner inherits from the worker, such as those by which a scheduler assigns devices.
 * NULL-terminated.
 */
extern const char *const sandbox_passed_env[];

/** Environment of every build, NAME=value; NULL-terminated. */
extern const char *const sandbox_build_env[];
/** Value of PATH in it. */
extern const char sandbox_build_path[];

/** Environment of a child without isolation. It points into itself: do not move the struct. */
struct sandbox_environment {
	const char *list[24]; /* NULL-terminated */
	char kit[PATH_MAX + 32], before[PATH_MAX + 32];
};
/**
 * Fill `out` with sandbox_build_env, the kit's variables, and `more` (NULL-terminated), which overrides the former. Own: borrows
 * `more`.
 */
void sandbox_environment(const struct sandbox *s, const char *const *more, struct sandbox_environment *out);

/*
 * ---- build ----
 * The build of one side: from its sources to a module, which is named by its hash, or to the folder of a benchmark program.
 *
 * The key of a cached build is a hash of all inputs that can change the result, except external libraries: the object names of
 * the sources, the command, the kind of device, the compilers, the system, the isolation; for a program also its lists of files and
 * the kit. If it is not cached, the sources are unpacked into <cache>/job or job-N (/job inside the sandbox), the command runs, and
 * symbols and build ids are stripped, so that equal sources make modules with equal hashes. The module is stored as <cache>/modules/<sha256>.so.
 *
 * A side may name an earlier module instead, which is never built again. If the other side's cached build is that same module, it
 * is built again, because external libraries may have changed since.
 *
 * A failed build is a result, not an error: struct msg_build has the reason.
 */

struct build_context {
	struct peer *peer;
	const struct cache *cache;
	const struct sandbox *sandbox;
	enum device_kind device;                     /* DEVICE_CUDA or DEVICE_CPU: the value of {device} */
	char tools_dir[TOOLCHAIN_OVERRIDE_DIR_SIZE]; /* compilers of sides without an override; "": the system's */
	char toolchain[ROLES][TOOLCHAIN_TEXT_SIZE];  /* compiler versions of each side (build_tools) */
	char image[64];                              /* operating system of the worker */
	char earlier[HASH_HEX];                      /* the earlier module that one side names; "": none */
	double timeout_s;                            /* maximum; the manifest may set less */
	int64_t log_bytes;                           /* maximum stored output */
	int64_t print_max;                           /* output in bytes beyond which the build is ended; 0: 64 MiB */
	int process_max;                             /* concurrent processes beyond which it is ended; 0: procs_build_max */
	char family[16];                             /* required family of the module */
	int slot;                                    /* build slot (cache_lock_slot) */
	char sides[64];                              /* benchmark programs are built and run in <cache>/<sides>-<role> */
};

/** Open the archive of an input at offset 0. Returns its descriptor, or -1 with `err`. Own: the build closes it. */
typedef int build_tree_fn(void *arg, const char *oid, struct fw_err *err);

/**
 * Fill `c->toolchain` and `c->earlier` for a job, by running each side's compilers. `usual`: versions of the worker's toolchain.
 */
void build_tools(struct build_context *c, const struct msg_job *job, const char *usual);
/** Compute the key of a side's cached build. */
void build_key(const struct build_context *c, const struct msg_side *s, char key[HASH_HEX]);

/**
 * Find a side's cached build. Returns 1 if it exists: `out` has state "cached" and the module's hash, `*module_fd` is a sealed
 * copy of the module; 0 if the side must be built: `out` has state "start". Own: close *module_fd; buf_fini of the log.
 */
int build_lookup(const struct build_context *c, const struct msg_side *s, struct msg_build *out, int *module_fd);

/** Write the path of a side's module as its manifest names it; "": it names none of this family. Shape: out[size]. */
void build_output(const struct build_context *c, const struct msg_side *s, char *out, size_t size);

/** Return whether two benchmark programs have the same command line, folder, outputs and output format. */
bool build_runs_equally(const struct msg_side *a, const struct msg_side *b);

/** Write the name of the folder in the cache in which a benchmark program is built and run. */
void build_program_folder(const struct build_context *c, const struct msg_side *s, char name[128]);

/** Write the name of a folder of this build slot: "job" in the first, "job-2" in the third. `what`: "job", "trees". */
void build_folder(const struct build_context *c, const char *what, char name[128]);

/**
 * Build a side. `out` receives the state "ok" (of a copied earlier build "cached"), or "failed" and the reason. `*module_fd` is
 * the sealed module; -1 for a benchmark program: its folder remains (build_program_folder), and the hash covers all its files.
 * Any other work folder is removed. Own: close *module_fd; buf_fini of the log. Err: -1 only if the build is not at fault:
 * cancelled, a disk that another process filled, a missing tree.
 */
int build_make(const struct build_context *c, const struct msg_side *s, build_tree_fn *tree, void *arg, struct msg_build *out,
	int *module_fd, struct fw_err *err);

/*
 * ---- toolchain ----
 * Versions of the compilers as one text, for the description of a device and the cache key of every build.
 *
 * "gcc 12.2.0" for the CPU, "nvcc 13.0.88 gcc 12.2.0" for CUDA, with "ptxas 13.1.12" after nvcc if its version differs, "none"
 * without a compiler. " in DIR" and " with FLAGS" are appended if the user requests a folder or flags.
 */

enum { TOOLCHAIN_PATH_SIZE = 640 };

/**
 * Write the versions, by running each compiler of that kind of device once. `dir` "": the system's; `flags` are only named. In the sandbox, since a user may
 * have chosen `dir`; `s` NULL: outside, for the worker's own `dir`. Shape: out[size].
 */
void toolchain_describe(
	const struct sandbox *s, enum device_kind kind, const char *dir, const char *flags, char *out, size_t size);
/** Write the PATH that puts the compilers of `dir` first. Shape: path[TOOLCHAIN_PATH_SIZE]. */
void toolchain_path(const char *dir, char *path);
/** Return whether `dir`, or `bin` in it, has a compiler. */
bool toolchain_is_in(const char *dir);
/** Return whether `dir`, or `bin` in it, has nvcc. */
bool toolchain_has_nvcc(const char *dir);
/** Extract the version "13.0.88" from the output of `nvcc --version` or `ptxas --version`; "": none. Shape: out[size]. */
void toolchain_nvcc_version(const char *text, char *out, size_t size);

/*
 * ---- compilers ----
 * A toolchain that precedes the system's: a search path, and flags that are appended to each compiler call.
 *
 * nvcc reads such flags from an environment variable. gcc has no such variable, so a folder of the cache contains a script for
 * each name of gcc, which starts the real compiler with the flags.
 */

/** Environment and folder for a build's sandbox. It points into itself: do not move the struct. */
struct compilers {
	struct sandbox_more more;
	const char *list[6];
	char folder[PATH_MAX + 16];
	char path[PATH_MAX + TOOLCHAIN_PATH_SIZE + 32], behind[TOOLCHAIN_PATH_SIZE + 32],
		flags[TOOLCHAIN_OVERRIDE_FLAGS_SIZE + 32], home[TOOLCHAIN_OVERRIDE_DIR_SIZE + 16],
		cuda[TOOLCHAIN_OVERRIDE_DIR_SIZE + 16];
};

/**
 * Fill `out` for the compilers of `dir` ("": the system's) and `flags` ("": none). Err: a script in the cache cannot be written.
 */
int compilers_prepare(const struct cache *cache, enum device_kind kind, const char *dir, const char *flags, struct compilers *out,
	struct fw_err *err);
/** Check that `dir` is visible to builds and has a compiler; "" passes. Err: ERR_INVALID. */
int compilers_check(const struct sandbox *s, const char *dir, struct fw_err *err);

/*
 * ---- kernelcode ----
 * Hashes and resources of a module's compiled kernels, by symbol and architecture.
 *
 * The worker reads them from the sealed file, outside the runner, so a module cannot falsify them. A module may be hostile, so
 * memory is limited, and unreadable code is unknown.
 */

/** Receive one kernel, or another function with separate code, compiled for `sm` (90). Own: `f` is borrowed. Err: -1 stops. */
typedef int kernelcode_fn(void *arg, int sm, const struct cubin_function *f, struct fw_err *err);

/** Receive one cubin, an ELF file with device code for `sm`. Shape: elf[len]. Own: `elf` is borrowed. Err: -1 stops. */
typedef int kernelcode_piece_fn(void *arg, int sm, const void *elf, size_t len, struct fw_err *err);

/**
 * Call `piece` for each cubin of the module `fd`, whose size must not change meanwhile. A module without device code has none.
 * Cubins that cannot be unpacked are skipped. Err: not an ELF file, a broken fatbin, out of memory, the error of `piece`.
 */
int kernelcode_pieces(int fd, kernelcode_piece_fn *piece, void *arg, struct fw_err *err);

/** Call `kernel` for each kernel of these cubins; broken cubins are skipped. Err: as kernelcode_pieces. */
int kernelcode_each(int fd, kernelcode_fn *kernel, void *arg, struct fw_err *err);

struct kernelcode;

/** Read the kernels of a module into a sorted list. Own: kernelcode_free. Err: as kernelcode_pieces; too many kernels. */
int kernelcode_open(int fd, struct kernelcode **out, struct fw_err *err);
/** Accepts NULL. */
void kernelcode_free(struct kernelcode *);

/**
 * Find the hash of one kernel's code, by the SHA-256 of its symbol and by its architecture `sm` (90). Returns false if the kernel
 * is missing, cannot be unpacked, or exists several times with different code.
 */
bool kernelcode_find(const struct kernelcode *k, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

/* ---- output_tail: The last output of a process, which often explains its exit. ---- */

enum {
	OUTPUT_TAIL_SIZE = 4096,
	OUTPUT_TAIL_QUOTE = 217 /* bytes of a quote with its NUL */
};

/** Starts zeroed. Shape: text[n]. */
struct output_tail {
	char text[OUTPUT_TAIL_SIZE];
	size_t n;
};

/** Append output; only the last OUTPUT_TAIL_SIZE bytes remain. */
void output_tail_add(struct output_tail *w, const char *data, size_t len);
/**
 * Return the line of text[size] that best explains a failure: a Python exception, a compiler error, a failed assertion. Of
 * several it is the last, or with `is_first` the first; if there is none, the last line that is not blank. `*len` receives its
 * length without trailing spaces; 0: the text has no such line. Own: points into `text`.
 */
const char *output_tail_find_cause(const char *text, size_t size, bool is_first, size_t *len);
/** Return whether a line describes an error. */
bool output_tail_is_error(const char *line, size_t len);
/**
 * Copy a line for display: "?" replaces control characters, invisible characters and bytes that are not UTF-8. A long line is cut
 * between two characters. Returns the length of the copy. Shape: line[len], out[size].
 */
size_t output_tail_print(const char *line, size_t len, char *out, size_t size);
/** Write `; last output: "LINE"`, the end of a message, with the line that output_tail_find_cause finds; "": no output. */
void output_tail_quote(const struct output_tail *w, char out[OUTPUT_TAIL_QUOTE]);
/** Return whether the device rejected the process, because its memory is full or because it accepts only one process. */
bool output_tail_is_out_of_memory(const struct output_tail *w);

/* ---- oomkills: Number of processes that the out-of-memory killer ended, on this machine and in this control group. ---- */

/** Counters at one moment; -1: not available. */
struct oomkills {
	long machine, group;
};

void oomkills_read(struct oomkills *out);
/** Return the value of `name` in lines of "NAME VALUE"; -1: no such line. */
long oomkills_count(const char *text, const char *name);

/*
 * ---- procs ----
 * All descendants of this process, found in /proc.
 *
 * A process can leave its process group with setsid, and RLIMIT_NPROC does not limit root. So the worker counts descendants to
 * detect a fork bomb, and kills descendants to leave no process.
 */

/** Make orphaned descendants children of this process, so that none is missing in the functions below. Call once. */
void procs_adopt(void);
/** Return the number of living descendants; -1 if /proc cannot be read. */
int procs_count(void);
/** List `root` and its living descendants. Returns their number, at most `max`. Shape: out[max]. */
int procs_below(pid_t root, pid_t *out, int max);
/** Do the same; `*threads` receives the number of threads of all of them, also beyond `max`. */
int procs_list(pid_t root, pid_t *out, int max, long *threads);
/** Whether `wanted` is in a list. Shape: pid[n]. */
bool procs_contain(const pid_t *pid, int n, pid_t wanted);
/**
 * Update a list of procs_list: drop the processes that have ended, add those with a number in (after, newest] whose parent is in the
 * list. It reads no other process, so it costs less than procs_list, and overlooks a process whose parent has left the list or whose
 * number is older. Returns the number of processes, at most `max`; with `max`, there may be more. Shape: pid[max].
 */
int procs_list_started(long after, long newest, pid_t *pid, int n, int max, long *threads);
/** Count as procs_count; if there are more than `many`, set their priority to the lowest, so that the worker does not starve. */
int procs_count_or_yield(int many);
/** Return the limit of concurrent processes of one build: enough for a parallel build, not too many for this machine. */
int procs_build_max(void);
/** Return the number of threads on the machine; -1: unknown. Reads one small file, so it may be called 100 times a second. */
int procs_threads(void);
/**
 * Return the id of the process or thread that was started last, in this pid namespace or one below; -1: unknown. As long as it
 * does not change, no process was started. As fast as procs_threads.
 */
long procs_newest(void);
enum { PROCS_SPARED_MAX = 256 };
/** Exclude `n` processes, at most PROCS_SPARED_MAX, from procs_end_all until the next call; n 0: none. */
void procs_spare(const pid_t *pid, int n);
/**
 * Kill and reap all descendants that are not excluded, for at most 3 s. Requires procs_adopt. Returns a lower bound of those
 * left.
 */
int procs_end_all(void);

/*
 * ---- pump ----
 * Run one child: read its output, handle the daemon's messages, enforce its deadline.
 *
 * When pump_run returns, for any reason (exit, deadline, cancellation, a reader that fails), the child and all processes that it
 * started have ended, and all streams are drained and closed.
 */

/** Receive bytes of a stream. Err: -1 ends the child and the stream; the reader is not called again. */
typedef int pump_read_fn(void *arg, const char *data, size_t len, struct fw_err *err);

struct pump_stream {
	pump_read_fn *read;
	void *arg;
	int child_fd; /* descriptor number in the child */
	bool socket;  /* use a socket instead of a pipe: another process could open a pipe through /proc and read it */
	int fd;       /* the worker's end; set by pump_run */
};

struct pump {
	struct peer *peer;
	struct pump_stream stream[3];
	int n_streams;
	bool merge_stderr;                          /* stdout's stream also receives the child's stderr */
	int64_t deadline_ms;                        /* after the start */
	int nice;                                   /* nice value of the child; 0: the worker's */
	int (*tick)(void *arg, struct fw_err *err); /* called every tick_ms; -1 ends the child; NULL: none */
	int tick_ms;                                /* 0: 100 */
	void *tick_arg;
	pid_t pid; /* of the child; set by pump_run */
};

/**
 * Start `spec` and wait for its end. `how` receives its exit, with timed_out if the deadline ended it. Err: -1 if it could not
 * start, if the job was cancelled, or if a reader or tick failed, with the error of that.
 */
int pump_run(struct pump *p, const struct proc_spec *spec, struct proc_exit *how, struct fw_err *err);
/** Wait `ms` without a child. Err: ERR_CANCELLED. */
int pump_sleep(struct peer *peer, int ms, struct fw_err *err);

/*
 * ---- disk_space ----
 * Free space on the disk of the cache, and the share of it that a build may use.
 *
 * A build starts only if its share of the disk is free in addition to a reserve. If the disk is full, a build that used more than
 * its share is at fault; otherwise another process filled the disk, and the build is repeated later. On a small disk reserve and
 * share are fractions of the disk.
 */

struct disk_space {
	int64_t size_bytes, free_bytes;
	int64_t files, free_files; /* inodes; 0: the file system has no such limit */
};

/** Read the free space of the file system of `fd`. Returns false if it is unknown. */
bool disk_space_read(int fd, struct disk_space *out);
/** Return whether less than the reserve is free. */
bool disk_space_is_low(const struct disk_space *r);
/** Disk usage of a folder. */
struct disk_usage {
	int64_t bytes, files;
	bool is_partial; /* a folder is too deep or cannot be read: the usage is a lower bound */
	bool has_links;  /* a file has several names: each counts an equal part of its bytes, and some may be elsewhere */
};
/** Return whether this usage exceeds a build's share, or may exceed it because it is a lower bound. */
bool disk_usage_exceeds_share(const struct disk_space *r, struct disk_usage by);
/** Check whether a build may start in the folder `dir`, opened as `fd`. Err: ERR_FULL with the free and the required space. */
int disk_space_check(int fd, const char *dir, struct fw_err *err);
/** Format "412 MiB and 7 files are free on the disk of /var/cache". Shape: text[size]. */
void disk_space_describe(const struct disk_space *r, const char *dir, char *text, int size);

/*
 * ---- sealed ----
 * A module as a sealed memfd, so that the loaded bytes are the hashed bytes, even if the file changes. The runner opens it as
 * /proc/self/fd/N.
 */

/**
 * Copy `fd` from offset 0 into a memfd, sealed against every change. Returns the memfd, or -1. `name`: for messages. Own: close.
 */
int sealed_copy(int fd, const char *name, char sha256[HASH_HEX], struct fw_err *err);
/** Copy the regular file at `path`, as sealed_copy. Own: close. */
int sealed_open(const char *path, char sha256[HASH_HEX], struct fw_err *err);
/**
 * Create a memfd with these bytes, at offset 0. Returns it, or -1. It is not sealed, so a child that inherits it can empty it for
 * all owners. Own: close.
 */
int sealed_once(const char *name, const void *data, size_t len, struct fw_err *err);

/*
 * ---- treediff ----
 * Files in which two built folders differ.
 */

enum { TREEDIFF_MAX = 64, TREEDIFF_PATH_SIZE = 512 };

struct treediff {
	int n;
	char path[TREEDIFF_MAX][TREEDIFF_PATH_SIZE]; /* path[n], relative to the folders, in byte order */
};

/**
 * List the regular files of both folders whose contents differ in a way that can affect execution (internal.h, loadable). Logs of
 * builds (workdir_is_build_log) are ignored. `base`, `target`: descriptors of the folders. Returns 1 if nothing else differs; 0
 * if an entry is missing on one side, or differs in kind or link target, or if more than TREEDIFF_MAX files differ: the list is
 * then incomplete. Err: -1 if a folder or file cannot be read.
 */
int treediff_find(int base, int target, struct treediff *out, struct fw_err *err);

/*
 * ---- workdir ----
 * The work folder of a build: creation, removal, usage, hash and copy.
 *
 * Removal uses descriptors, never follows a link, makes unreadable folders readable, and handles trees of any depth.
 */

/**
 * Remove the file or folder `name` in the folder `parent_fd`, with all contents. A missing one is no error. `err` NULL: ignored.
 */
int workdir_remove(int parent_fd, const char *name, struct fw_err *err);
/** Remove `name` and create it as an empty folder (mode 0700). Returns its descriptor, or -1. Own: close. */
int workdir_fresh(int parent_fd, const char *name, struct fw_err *err);
/** Return the disk usage of the folder `name`, to a depth of 32 folders. */
struct disk_usage workdir_usage(int parent_fd, const char *name);
/**
 * Compute the SHA-256 of names, kinds, executable bits and contents of all entries below the folder `fd`, in byte order of names.
 * Links are hashed, not followed; files are hashed by loadable_hash. Err: ERR_INVALID if the folder is too deep.
 */
int workdir_hash(int fd, char sha256[65], struct fw_err *err);
/**
 * Copy folder `from` to `to`, which is replaced, with links, times and permissions. Returns 0, or -1 without a copy, also if the
 * files have more than `max_bytes`.
 */
int workdir_copy(int from_parent, const char *from, int to_parent, const char *to, int64_t max_bytes);
/** Return whether a file has the time stamp of unpacked files, so that no build wrote it. */
bool workdir_is_unpacked(const struct stat *st);
/** Return whether a build wrote the file `name` as a log of CMake or Ninja: it contains times, and differs in each build. */
bool workdir_is_build_log(const char *name, const struct stat *st);
/** Compute the same of the files that a build wrote, except for its logs; "": there are none. */
int workdir_hash_made(int fd, char sha256[65], struct fw_err *err);
/** Change the owner of a tree to user and group `uid`. Requires root, and that only the worker has written to the tree so far. */
int workdir_give(const char *path, unsigned uid, struct fw_err *err);

#endif
