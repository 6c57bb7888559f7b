/** sandbox.h - the trust boundary: bubblewrap, unpacking, building, the cache of builds. */
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
 * openat below an untrusted folder, without following links.
 *
 * beneath_open opens one component after the other with O_NOFOLLOW. openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS would do
 * the same in one call, but systemd's RestrictSUIDSGID, which applies to the workers, makes every openat2 fail with ENOSYS
 * because it cannot check the mode in its arguments.
 */

/**
 * Open `path` below the folder `root`. `path` is relative; "." and empty components are ignored; without components, `root`
 * itself is opened. No component, including the last, may be a symbolic link. `flags`: of openat, without O_CREAT; O_CLOEXEC and
 * O_NOFOLLOW are added. Returns a descriptor, or -1 with errno: ELOOP for a link, EXDEV for ".." and an absolute path, else that
 * of openat.
 */
int beneath_open(int root, const char *path, int flags);

/*
 * ---- cache ----
 * Files that a worker retains between jobs: builds/<key>, modules/<sha256>.so, names/<sha256>.so (the same with symbols
 * and lines), checks/<key>, and work folders.
 *
 * Every file is written under a temporary name, synced and renamed, so a crash leaves a complete file or none. Workers that share
 * a cache use locks: build slots, one for each source, and one per device for measurements.
 */

struct cache {
	char dir[PATH_MAX];
	int fd; /* of dir; -1: closed */
	int builds_fd, modules_fd, names_fd, checks_fd;
};

/**
 * Open the cache; create it if missing. `dir` NULL: the first of $CACHE_DIRECTORY, $XDG_CACHE_HOME/flopwatch,
 * /var/cache/flopwatch-worker for root, ~/.cache/flopwatch. Root may use another user's cache only if `dir` names it. Err: names
 * the unusable folder and its owner. Own: cache_close.
 */
int cache_open(struct cache *c, const char *dir, struct fw_err *err);
void cache_close(struct cache *c);

/** Read an entry of builds_fd or checks_fd into `out`, and mark it as used. Returns 1 if found, 0 if missing or unreadable. */
int cache_get(int folder_fd, const char *name, struct buf *out);
int cache_put(int folder_fd, const char *name, const void *data, size_t len, struct fw_err *err);
void cache_forget(int folder_fd, const char *name);

/**
 * Store a copy of `fd` (from offset 0) as modules/<sha256>.so. Err: ERR_FULL if it exceeds `max_bytes`. Shape: sha256[65].
 */
int cache_put_module(const struct cache *c, int fd, int64_t max_bytes, char sha256[HASH_HEX], struct fw_err *err);
/** Open a cached module and mark it as used; -1 if missing. Own: close. */
int cache_open_module(const struct cache *c, const char *sha256);
/** Store `fd` as the unstripped copy of module `sha256`, unless it exceeds `max_bytes`. */
void cache_put_names(const struct cache *c, const char *sha256, int fd, int64_t max_bytes);
/** Open the unstripped copy; -1 if missing. Own: close. */
int cache_open_names(const struct cache *c, const char *sha256);

/** Try to take lock `name`. Returns its descriptor (close to release), or -1 with ERR_BUSY while another process holds it. */
int cache_lock(const struct cache *c, const char *name, struct fw_err *err);
/** Lock one of `n` build slots, each with its own folders. Returns as cache_lock. */
int cache_lock_position(const struct cache *c, int n, int *position, struct fw_err *err);
/**
 * Join the concurrent builds. `*alone`: there is no other one, and none may start before cache_lock_share. Returns as cache_lock.
 */
int cache_lock_concurrent(const struct cache *c, bool *alone, struct fw_err *err);
int cache_lock_share(int fd, struct fw_err *err);
/** Remove the least recently used entries beyond `keep` per folder, and incomplete files. Requires that no build runs. */
void cache_trim(const struct cache *c, int keep);
/** The same for one folder, whose entries may be folders. Requires that no other process writes files into it. */
void cache_trim_folder(int folder_fd, int keep);

/*
 * ---- peer ----
 * The daemon at the other end of standard input and output.
 *
 * Every wait of the worker also polls the daemon's messages, because the daemon may cancel at any time. The daemon need not send
 * anything; end of input means cancel. The worker sends a ping every 10 s. Without a daemon the peer has no descriptors, and only
 * a signal (SIGINT, SIGTERM) cancels.
 */

struct peer {
	int in, out; /* -1: no daemon */
	struct lines lines;
	struct buf sending;
	int64_t next_ping_ns;
	bool cancelled;
	bool stays;        /* only the current job is cancelled: the daemon has another */
	struct fw_err why; /* reason of the cancel */
};

/** Make SIGTERM and SIGINT cancel, and SIGPIPE an error of write. Call once per process, before peer_init. */
void peer_signals(void);
/** Initialise; `in` and `out` -1: no daemon. The caller closes them. */
void peer_init(struct peer *p, int in, int out);
void peer_fini(struct peer *p);
/** Return whether the daemon cancelled the job in favour of another one and waits for a hello; if so, clear the cancel. */
bool peer_take_preemption(struct peer *p);

/**
 * Wait a moment for a signal to this process before another process's end is reported as its fault: a scheduler that ends an
 * allocation signals all its processes, in any order. Err: ERR_CANCELLED, there is one.
 */
int peer_await_signal(struct peer *p, struct fw_err *err);
/** Send one message. Err: the daemon is gone or has not read for 30 s; the job is then cancelled. */
int peer_send(struct peer *p, const struct msg *m, struct fw_err *err);
/** Wait for the next message. Own: msg_fini. Err: ERR_TIMEOUT after `timeout_ms`, ERR_CANCELLED, ERR_PROTOCOL. */
int peer_receive(struct peer *p, int64_t timeout_ms, struct msg *out, struct fw_err *err);
/** Write the `bytes` of payload that follow a tree line to `fd`. */
int peer_payload(struct peer *p, int64_t bytes, int64_t timeout_ms, int fd, struct fw_err *err);

/** Fill in the descriptor to poll (fd -1 without a daemon), and limit `*wait_ms`; for other poll loops. */
void peer_poll(const struct peer *p, struct pollfd *fd, int *wait_ms);
/**
 * After that poll, read pending data and send a ping when due. Err: ERR_CANCELLED when the job must end, from then on always.
 */
int peer_attend(struct peer *p, const struct pollfd *fd, struct fw_err *err);

/*
 * ---- sandbox ----
 * Isolation of branch code by bubblewrap.
 *
 * All namespaces are separate. Code inside has no network, no socket of other families (sandbox.c), no capability, cannot create
 * user namespaces (with a worker that is not root this needs bubblewrap 0.8), and is never the machine's root user. The system is
 * read-only, and only explicitly listed files of flopwatch are visible.
 *
 * There are two kinds: for builds (the work folder at /job, compilers, no GPU) and for the runner (flopwatch's programs, the
 * GPU's device nodes). A machine may forbid features that bubblewrap needs, so sandbox_open runs it once as a test.
 */

enum sandbox_want { SANDBOX_AUTO, SANDBOX_REQUIRED, SANDBOX_NONE };
enum { SANDBOX_ARGS_MAX = 640, SANDBOX_JOB_BYTES = 64 << 10 };

enum {
	SANDBOX_NOBODY = 65534,
	SANDBOX_PROCESSES_EXTRA = 200, /* processes beyond those of a build at which the limit is */
	SANDBOX_RUN_PROCESSES = 4096   /* of a run; several may be in progress, with a thread for each core */
};

struct sandbox {
	bool active;
	bool drops_root;      /* the worker is root, so code inside runs as SANDBOX_NOBODY, who must own the work folder */
	bool ends_namespaces; /* bubblewrap can forbid user namespaces inside; where root becomes nobody the seccomp filter does */
	bool keeps_counters;  /* the driver restricts counters to administrators and the worker is root: add CAP_PERFMON */
	char bwrap[PATH_MAX];
	char cuda[PATH_MAX];       /* CUDA toolkit folder with links resolved, if outside /usr; else "" */
	char why[256];             /* reason why it is not active, or why the user inside is the machine's root */
	char kit[PATH_MAX];        /* kit folder, readable inside; "" not found */
	char before[PATH_MAX + 8]; /* its headers that replace a library's; "" no such library is installed */
	int n_shown;               /* folders of this machine that all code inside may read */
	char shown[READONLY_MAX][READONLY_PATH_SIZE];
};

#define SANDBOX_KIT_VARIABLE    "FLOPWATCH_KIT"
#define SANDBOX_BEFORE_VARIABLE "CPLUS_INCLUDE_PATH"

/** An argument vector under construction; it owns the strings that it allocates. */
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
/** Find bubblewrap and test it. Err: ERR_UNSUPPORTED if it is required but does not work; names the missing setting. */
int sandbox_open(struct sandbox *s, enum sandbox_want want, struct fw_err *err);
/**
 * Let all code inside read `n` folders of this machine, and test the result; requires sandbox_open. `cache` is the worker's
 * cache, which remains hidden; NULL: none. Err: ERR_INVALID a folder does not exist, may not be shown (model/readonly.c), or is
 * unreadable for the user inside.
 */
int sandbox_show(struct sandbox *s, const char *const *path, int n, const char *cache, struct fw_err *err);
/** Return whether all code inside may read `dir`: below /usr, or in a folder of sandbox_show. */
bool sandbox_shows(const struct sandbox *s, const char *dir);
/** Return "bwrap" or "none", the value in hello. */
const char *sandbox_isolation(const struct sandbox *s);

/**
 * Begin the vector for a build: `job_dir` (absolute) is mounted as /job, the command runs in `job_dir`/`dir`. Without isolation
 * only the number of processes is limited. Append the command with sandbox_arg, then call sandbox_end.
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
 * Return how many processes and threads one side of a comparison may have, so that the other one can start its own: root's worker
 * runs all sides as one user, whose number of them is limited. 0: no limit, since the sides have separate ones.
 */
long sandbox_threads_of_side(const struct sandbox *s);
/**
 * Begin the vector for a program of flopwatch: its folder (and ../lib of a bundle) is visible, with `gpu` also /dev/nvidia*. The
 * vector includes `program` as the first argument.
 */
void sandbox_run(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/**
 * Begin the vector for a process that reads the GPU's counters. With keeps_counters it runs as SANDBOX_NOBODY with only
 * CAP_PERFMON and without a user namespace, because the driver does not accept capabilities of one.
 */
void sandbox_count(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu);
/**
 * Begin the vector for another program of this machine that starts `program`. Its command line `argv` (NULL-terminated) precedes
 * `program`, and its folder is visible too.
 */
void sandbox_run_under(const struct sandbox *s, struct sandbox_argv *v, const char *const *argv, const char *program, bool gpu);
void sandbox_arg(struct sandbox_argv *v, const char *arg);
/** Terminate argv with NULL. Err: too many or too long arguments. */
int sandbox_end(struct sandbox_argv *v, struct fw_err *err);

/** Convert the exit status of bubblewrap, which reports signals as shells do, to that of the program inside. */
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
	char kit[PATH_MAX + 32], before[PATH_MAX + 32];
};
void sandbox_environment(const struct sandbox *s, const char *const *more, struct sandbox_environment *out);

/*
 * ---- build ----
 * The build of a side, which makes a module, named by its hash, from sources.
 *
 * The cache key covers all inputs that can change the result: the inputs' object names, the command, the device kind, the
 * compilers, the system, the isolation. A side may name an earlier module instead, which is never rebuilt. The key does not cover
 * external libraries. So if one side is an earlier module, the other side is built again if the cache has that same module for
 * it. On a miss the inputs are unpacked into <cache>/job or job-N (shown as /job in the sandbox), the command runs, names and
 * build ids are stripped so that equal sources have equal hashes, and the result is stored as <cache>/modules/<sha256>.so. A
 * failed build is a result, not an error: struct msg_build has the reason.
 */

struct build_context {
	struct peer *peer;
	const struct cache *cache;
	const struct sandbox *sandbox;
	enum device_kind device; /* DEVICE_CUDA or DEVICE_CPU: the value of {device} */
	char tools_dir
		[TOOLCHAIN_OVERRIDE_DIR_SIZE]; /* folder of the preferred compilers for a side without its own; "" the system's */
	char toolchain[ROLES][TOOLCHAIN_TEXT_SIZE]; /* toolchain text of each role's side */
	char image[64];                             /* operating system of the worker */
	char earlier[HASH_HEX]; /* earlier module of one side, because of which the other is built again; "": none */
	double timeout_s;       /* upper limit; the manifest may set less */
	int64_t log_bytes;      /* stored bytes of the output */
	int64_t print_max;      /* output bytes beyond which it is ended; 0: 64 MiB */
	int process_max;        /* concurrent processes beyond which it is ended; 0: procs_build_max */
	char family[16];        /* required family of the module */
	int position;           /* slot of this build among concurrent builds */
	char sides[64];         /* benchmark programs are built and run in <cache>/<sides>-<role> */
};

/** Return a descriptor of an input's archive at offset 0 (closed by the build), or -1. */
typedef int build_tree_fn(void *arg, const char *oid, struct fw_err *err);

/** Describe each side's toolchain by running its compilers. `usual`: text of the worker's own toolchain. */
void build_tools(struct build_context *c, const struct msg_job *job, const char *usual);
void build_key(const struct build_context *c, const struct msg_side *s, char key[HASH_HEX]);

/**
 * Find a cached build. Returns 1 if `out` is "cached" with the module's hash and `*module_fd` is its sealed copy (own: close); 0
 * if it is not cached, or must be built again.
 */
int build_lookup(const struct build_context *c, const struct msg_side *s, struct msg_build *out, int *module_fd);

/** Write the path of a side's module, as in its manifest; "" if it names none. */
void build_output(const struct build_context *c, const struct msg_side *s, char *out, size_t size);

/** Return whether two benchmark programs are run in the same way: command line, folder, outputs and their format. */
bool build_runs_equally(const struct msg_side *a, const struct msg_side *b);

/** Write the folder, below the cache, in which a benchmark program is built and run. Shape: name[128]. */
void build_program_folder(const struct build_context *c, const struct msg_side *s, char name[128]);

/** Write the name of a folder of this build's slot: "job", or with concurrent builds "job-2". Shape: name[128]. */
void build_folder(const struct build_context *c, const char *what, char name[128]);

/**
 * Build. `out` becomes "ok" (then `*module_fd` is the sealed module) or "failed" with detail; the caller owns its log. The work
 * folder is removed, except that of a benchmark program (build_program_folder): then *module_fd is -1, and the hash covers all its files.
 * Err: -1 only if the build is not at fault: cancelled, a full disk, a missing tree.
 */
int build_make(const struct build_context *c, const struct msg_side *s, build_tree_fn *tree, void *arg, struct msg_build *out,
	int *module_fd, struct fw_err *err);

/*
 * ---- toolchain ----
 * Versions of the compilers as one text, for the description of a device and the cache key of every build.
 *
 * "gcc 12.2.0" for the CPU, "nvcc 13.0.88 gcc 12.2.0" for CUDA, with "ptxas 13.1.12" if it differs from its nvcc, "none"
 * without a compiler. " in DIR" and " with FLAGS" follow where a folder or flags were given.
 */

enum { TOOLCHAIN_PATH_SIZE = 640 };

/**
 * Run each compiler of that kind of device once. `dir` "": the system's; `flags` are only named. In the sandbox, since a user may
 * have chosen `dir`; `s` NULL: outside, for the worker's own `dir`. Shape: out[size].
 */
void toolchain_describe(
	const struct sandbox *s, enum device_kind kind, const char *dir, const char *flags, char *out, size_t size);
/** Write the PATH that puts the compilers of `dir` first. Shape: path[TOOLCHAIN_PATH_SIZE]. */
void toolchain_path(const char *dir, char *path);
/** Return whether `dir`, or bin in it, holds a compiler. */
bool toolchain_is_in(const char *dir);
bool toolchain_has_nvcc(const char *dir);
/** Extract the version number from the output of `nvcc --version` ("13.0.88"), "" if none. */
void toolchain_nvcc_version(const char *text, char *out, size_t size);

/*
 * ---- compilers ----
 * A side's own toolchain, which precedes the system's: a search path, and flags appended to each compiler call.
 *
 * nvcc reads such flags from an environment variable. gcc has no such variable, so a folder of the cache has a script with each
 * of its names, which starts the real compiler.
 */

/** Toolchain settings of a build's sandbox; it points into itself, so do not move it. */
struct compilers {
	struct sandbox_more more;
	const char *list[6];
	char folder[PATH_MAX + 16];
	char path[PATH_MAX + TOOLCHAIN_PATH_SIZE + 32], behind[TOOLCHAIN_PATH_SIZE + 32],
		flags[TOOLCHAIN_OVERRIDE_FLAGS_SIZE + 32], home[TOOLCHAIN_OVERRIDE_DIR_SIZE + 16],
		cuda[TOOLCHAIN_OVERRIDE_DIR_SIZE + 16];
};

/** Fill `out` for compilers of `dir` ("" the system's) and `flags`. Err: a file of the cache cannot be written. */
int compilers_prepare(const struct cache *cache, enum device_kind kind, const char *dir, const char *flags, struct compilers *out,
	struct fw_err *err);
/** Check that builds can see `dir`, below /usr or in a readable folder, and that it holds a compiler. Err: ERR_INVALID. */
int compilers_check(const struct sandbox *s, const char *dir, struct fw_err *err);

/*
 * ---- kernelcode ----
 * Hashes and resources of a module's compiled kernels, by symbol and architecture.
 *
 * The worker reads them from the sealed file, outside the runner, so a module cannot falsify them. Modules may be hostile, so
 * time and memory are limited, and unreadable code is reported as unknown.
 */

/** Take one kernel, or another function with its own code, compiled for `sm` (90). Err: -1 stops. */
typedef int kernelcode_fn(void *arg, int sm, const struct cubin_function *f, struct fw_err *err);

/** Take one piece of device code, an ELF file, compiled for `sm`. Own: borrowed for the call. Err: -1 stops. */
typedef int kernelcode_piece_fn(void *arg, int sm, const void *elf, size_t len, struct fw_err *err);

/**
 * Visit all pieces of the module in `fd`, whose size must not change meanwhile. A module without device code has none. Pieces
 * that cannot be unpacked are skipped. Err: not an ELF file, broken containers, out of memory.
 */
int kernelcode_pieces(int fd, kernelcode_piece_fn *piece, void *arg, struct fw_err *err);

/** Visit all kernels in them; broken pieces are skipped. Err: as kernelcode_pieces. */
int kernelcode_each(int fd, kernelcode_fn *kernel, void *arg, struct fw_err *err);

struct kernelcode;

/** Store the kernels of kernelcode_each. Err: as there; too many kernels. Own: kernelcode_free. */
int kernelcode_open(int fd, struct kernelcode **out, struct fw_err *err);
/** Accepts NULL. */
void kernelcode_free(struct kernelcode *);

/**
 * Find the code hash of one kernel by the SHA-256 of its symbol and its architecture `sm` (90). Returns false if it is missing,
 * cannot be unpacked, or exists several times with different code.
 */
bool kernelcode_find(const struct kernelcode *k, const char *symbol_sha256, int sm, char code_sha256[HASH_HEX]);

/* ---- output_tail: The last output of a process, which often explains its exit. ---- */

enum { OUTPUT_TAIL_SIZE = 4096, OUTPUT_TAIL_QUOTE = 216 };

struct output_tail {
	char text[OUTPUT_TAIL_SIZE];
	size_t n;
};

void output_tail_add(struct output_tail *w, const char *data, size_t len);
/**
 * Return the line of text[size] that explains a failure best: an exception of Python, an error of a compiler, a failed assertion;
 * of several the last, or the first if `is_first`; else the last line. Without trailing spaces. `len` 0: there is none.
 */
const char *output_tail_find_cause(const char *text, size_t size, bool is_first, size_t *len);
/** Whether a line names an error, and is not just the last one. */
bool output_tail_is_error(const char *line, size_t len);
/**
 * Copy a line, made printable: "?" replaces control characters, invisible ones and bytes that are not UTF-8. Returns its length; it ends
 * between two characters. Shape: out[size].
 */
size_t output_tail_print(const char *line, size_t len, char *out, size_t size);
/** Quote that line, made printable, as the end of a message; "" if there is none. */
void output_tail_quote(const struct output_tail *w, char out[OUTPUT_TAIL_QUOTE]);
/** Return whether the device rejected the process because its memory is full or because it accepts only one process. */
bool output_tail_is_out_of_memory(const struct output_tail *w);

/* ---- oomkills: Number of processes that the out-of-memory killer ended, on this machine and in this control group. ---- */

/** Counters at one moment; -1: not shown by the system. */
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
 * Processes leave their process group with setsid, and RLIMIT_NPROC does not limit root. Counting descendants detects a fork
 * bomb, and killing descendants leaves no process. procs_adopt makes orphans children of the worker, so that none escapes the
 * count.
 */

void procs_adopt(void);
/** Return the number of living descendants; -1 if /proc cannot be read. */
int procs_count(void);
/** List `root` and its living descendants. Shape: out[max]. Returns their number, at most max. */
int procs_below(pid_t root, pid_t *out, int max);
/** The same; *threads receives the number of threads of all of them. */
int procs_list(pid_t root, pid_t *out, int max, long *threads);
/**
 * Count as procs_count does; if there are more than `many`, give them the lowest priority, so that the worker does not starve.
 */
int procs_count_or_yield(int many);
/**
 * Return the number of concurrent processes of one build: enough for a parallel build, and not too many for this machine.
 */
int procs_build_max(void);
/** Return the number of threads on the machine; -1: unknown. Reads one small file: fast enough for 100 calls a second. */
int procs_threads(void);
/**
 * Return the number of the process or thread that was started last, in this pid namespace or one below: while it is the same, no
 * process is new. -1: unknown. As fast as procs_threads.
 */
long procs_newest(void);
enum { PROCS_SPARED_MAX = 256 };
/** Exclude `n` processes, at most PROCS_SPARED_MAX, from procs_end_all until the next call; n 0: none. */
void procs_spare(const pid_t *pid, int n);
/** Kill and reap all other descendants, for at most 3 s. Requires procs_adopt. Returns the minimum number that remains. */
int procs_end_all(void);

/*
 * ---- pump ----
 * Wait for one child: reads its output, handles the daemon's messages, enforces deadlines.
 *
 * When pump_run returns, for any reason (end, deadline, cancel, a reader that fails), the child and all processes that it started
 * have ended, and its descriptors are drained and closed.
 */

/** Take bytes of a stream. Err: -1 ends the child and the stream; the reader is not called again. */
typedef int pump_read_fn(void *arg, const char *data, size_t len, struct fw_err *err);

struct pump_stream {
	pump_read_fn *read;
	void *arg;
	int child_fd; /* descriptor number in the child */
	bool socket;  /* not a pipe, which a process could open through /proc to read the data */
	int fd;       /* set by pump_run */
};

struct pump {
	struct peer *peer;
	struct pump_stream stream[3];
	int n_streams;
	bool merge_stderr;                          /* stdout's stream also receives the child's stderr */
	int64_t deadline_ms;                        /* from now */
	int nice;                                   /* priority of the child; 0: the worker's */
	int (*tick)(void *arg, struct fw_err *err); /* called every tick_ms; -1 ends the child */
	int tick_ms;                                /* 0 means 100 */
	void *tick_arg;
	pid_t pid; /* of the child; set by pump_run */
};

/**
 * Start `spec` and wait for its end. `how` receives the end; timed_out if the deadline ended it. Err: -1 when it could not
 * start, was cancelled, or a reader or tick failed, with their error.
 */
int pump_run(struct pump *p, const struct proc_spec *spec, struct proc_exit *how, struct fw_err *err);
/** Wait `ms` without a child. Err: ERR_CANCELLED. */
int pump_sleep(struct peer *peer, int ms, struct fw_err *err);

/*
 * ---- disk_space ----
 * Free space on the disk of the cache, and whether a build used it up.
 *
 * A build starts only if its share of the disk is free in addition to a reserve. If the disk is full, a build that used more than
 * its share is at fault; otherwise another process filled the disk, and the build is repeated later. On small disks reserve and
 * share are fractions of the disk.
 */

struct disk_space {
	int64_t size_bytes, free_bytes;
	int64_t files, free_files; /* inodes; 0: the file system has no such limit */
};

/** Read the free space of the file system of `fd`. Returns false if it is unknown. */
bool disk_space_read(int fd, struct disk_space *out);
bool disk_space_is_low(const struct disk_space *r);
struct disk_usage {
	int64_t bytes, files;
	bool is_partial; /* a folder is too deep or cannot be read, so there may be more */
	bool has_links;  /* a file has several names: its bytes are divided among them, and some may be elsewhere */
};
/** Return whether this usage exceeds a build's share, or may exceed it because it is only a part. */
bool disk_usage_exceeds_share(const struct disk_space *r, struct disk_usage by);
/** Check whether a build may start in folder `dir`, opened as `fd`. Err: ERR_FULL with the free space and the path. */
int disk_space_check(int fd, const char *dir, struct fw_err *err);
/** Format "412 MiB and 7 files are free on the disk of /var/cache". Shape: text[size]. */
void disk_space_describe(const struct disk_space *r, const char *dir, char *text, int size);

/*
 * ---- sealed ----
 * A module as a sealed memfd, so that the loaded bytes are the hashed bytes, even if the file changes. The runner opens it as
 * /proc/self/fd/N.
 */

/** Copy `fd` from offset 0. Returns the memfd, sealed against every change, and its hash. Own: close. */
int sealed_copy(int fd, const char *name, char sha256[HASH_HEX], struct fw_err *err);
/** Copy the file at `path`, as sealed_copy does. */
int sealed_open(const char *path, char sha256[HASH_HEX], struct fw_err *err);
/**
 * Create a memory file of these bytes, at offset 0. It is not sealed, so that a child can write it, or empty it for all owners.
 */
int sealed_once(const char *name, const void *data, size_t len, struct fw_err *err);

/*
 * ---- treediff ----
 * The files in which two built folders differ.
 */

enum { TREEDIFF_MAX = 64, TREEDIFF_PATH_SIZE = 512 };

struct treediff {
	int n;
	char path[TREEDIFF_MAX][TREEDIFF_PATH_SIZE]; /* relative to the folders, in the order of their bytes */
};

/**
 * List the regular files below both folders with contents that have different effects (loadable.c), except for logs of the build
 * (workdir_is_build_log). Returns 1 if the folders
 * are equal except for these; 0 if entries are missing, have other kinds or links, or more than TREEDIFF_MAX files differ: the
 * list is then incomplete. Err: -1 a folder or file cannot be read.
 */
int treediff_find(int base, int target, struct treediff *out, struct fw_err *err);

/*
 * ---- workdir ----
 * The work folder of a build: created empty, and removed with everything that the build left in it.
 *
 * Removal uses descriptors, never follows a link, makes unreadable folders readable, and handles trees of any depth.
 */

/** Remove `name` below the folder `parent_fd` with all contents. A missing folder is no error. */
int workdir_remove(int parent_fd, const char *name, struct fw_err *err);
/** Remove `name` and create it again (mode 0700). Returns a descriptor of it, -1 on failure. Own: close. */
int workdir_fresh(int parent_fd, const char *name, struct fw_err *err);
/** Return the disk usage below `name`, to a depth of 32 folders. */
struct disk_usage workdir_usage(int parent_fd, const char *name);
/**
 * Compute SHA-256 over names, kinds (including executable bits) and contents of all entries below the folder `fd`, in a fixed
 * order. Links are hashed, not followed; programs hash as in loadable.c.
 */
int workdir_hash(int fd, char sha256[65], struct fw_err *err);
/**
 * Copy folder `from` to `to`, which is made fresh, with links, times and permissions; at most `max_bytes` of files. Returns 0, or
 * -1 without a copy.
 */
int workdir_copy(int from_parent, const char *from, int to_parent, const char *to, int64_t max_bytes);
/** Return whether a file has the time stamp of unpacked files: no build wrote it. */
bool workdir_is_unpacked(const struct stat *st);
/** Return whether a build wrote it as a log of CMake or Ninja: times and random names, which differ in each build. */
bool workdir_is_build_log(const char *name, const struct stat *st);
/**
 * Compute the same over files that were not unpacked, or were written after unpacking, except for logs of the build; "" if there
 * are none.
 */
int workdir_hash_made(int fd, char sha256[65], struct fw_err *err);
/**
 * Make another user the owner of a tree that only the worker has written so far, with read and enter permissions (needs root).
 */
int workdir_give(const char *path, unsigned uid, struct fw_err *err);

#endif
