/** lib.h - errors, buffers, text, JSON, YAML, hashes, processes and the event loop. */
#ifndef LIB_LIB_H
#define LIB_LIB_H

#include <jansson.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * ---- mem ----
 * Memory of sizes that flopwatch itself chooses and bounds. If it is exhausted, the program writes "out of memory: N bytes" to
 * stderr and aborts: rows resume a job after a restart. Sizes from outside are allocated with malloc and checked. Own: free.
 */

void *mem_alloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));
/** Allocate `n` elements of `size` bytes (> 0), zeroed. */
void *mem_alloc_zero(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2), returns_nonnull));
/** Change to `n` elements of `size` bytes (> 0); new elements are undefined. `p` may be NULL. */
void *mem_grow(void *p, size_t n, size_t size) __attribute__((alloc_size(2, 3), returns_nonnull, warn_unused_result));
/** Reserve space for `n` + 1 elements of an array that only this function has grown: the capacity doubles at powers of two. */
void *mem_grow_one(void *p, size_t n, size_t size) __attribute__((returns_nonnull, warn_unused_result));
char *mem_copy_text(const char *text) __attribute__((malloc, returns_nonnull));
/**
 * For a program that does one task and that its caller can start again: from now on exhausted memory, also that of a buf or a YAML
 * document, ends it with this exit status and the line "PROGRAM: out of memory: N bytes; ...", instead of an abort or an error
 * that some caller may take for another. Own: borrows `program`.
 */
void mem_end_program(const char *program, int status);

/*
 * ---- buf ----
 * A growing byte buffer with a maximum and a sticky failure.
 *
 * Callers append without a check; the owner checks `failed` once at the end. A NUL always follows the last byte, so the data can
 * be read as a string if it contains no NUL itself.
 */

struct buf {
	char *data; /* never NULL after buf_init */
	size_t len; /* bytes */
	size_t cap; /* bytes allocated */
	size_t max; /* bytes; an append beyond it sets failed and changes nothing */
	bool failed;
	bool is_out_of_memory; /* why it failed, if not for `max` */
	bool is_optional;      /* its owner goes on without it: a failure without memory never ends the program */
};

/** Start empty. Units: `max` in bytes. */
void buf_init(struct buf *b, size_t max);
/** Return why it failed: "out of memory", or `too_large` if `max` was reached. */
const char *buf_why(const struct buf *b, const char *too_large);
/** End the program as mem_alloc does if it failed without memory: for a caller that cannot report an error. */
void buf_require_memory(const struct buf *b);
/** Free the memory; accepts a zeroed or finished buf. */
void buf_fini(struct buf *b);
/** Clear contents and failure; the memory stays allocated. */
void buf_clear(struct buf *b);
/** Append if the allocated space is too small. */
void buf_append_grow(struct buf *b, const void *data, size_t len);
/** Inline, so that a constant text takes a few moves: a page consists of thousands of them. */
static inline void buf_append(struct buf *b, const void *data, size_t len)
{
	if (b->failed || len >= b->cap - b->len) {
		buf_append_grow(b, data, len);
		return;
	}
	if (len)
		memcpy(b->data + b->len, data, len); // NOLINT(clang-analyzer-core.NonNullParamChecker): cap > len only with data
	b->len += len;
	b->data[b->len] = '\0';
}
/** Reserve `len` bytes after the last one, to be written in place; NULL if they do not fit. Then set the written length. */
char *buf_reserve_grow(struct buf *b, size_t len);
static inline char *buf_reserve(struct buf *b, size_t len)
{
	return b->failed || len >= b->cap - b->len ? buf_reserve_grow(b, len) : b->data + b->len;
}
/** As above if that much is already allocated, which is the usual case; NULL: append as usual. */
static inline char *buf_unused(struct buf *b, size_t len)
{
	return b->failed || len >= b->cap - b->len ? NULL : b->data + b->len;
}
static inline void buf_grown(struct buf *b, size_t len)
{
	b->len += len;
	b->data[b->len] = '\0';
}
static inline void buf_puts(struct buf *b, const char *text)
{
	buf_append(b, text, strlen(text));
}
static inline void buf_putc(struct buf *b, char c)
{
	buf_append(b, &c, 1);
}
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/** Discard the first `n` bytes. */
void buf_consume(struct buf *b, size_t n);
/** Read from `fd` until end of file or `max`. Err: -1 with errno; beyond max sets failed. */
int buf_read_fd(struct buf *b, int fd);
/** Base64 encoding of `len` bytes, and decoding. Err: buf_unbase64 returns -1 on an invalid character. */
void buf_base64(struct buf *b, const void *data, size_t len);
int buf_unbase64(struct buf *b, const char *text, size_t len);

/*
 * ---- branch ----
 * The two forms of a branch's name: the stored key, and the displayed text.
 *
 * The key is the name's bytes percent-encoded, except letters, digits and "-._~/", so that any name passes through JSON, CSV
 * and URLs. The text is UTF-8 without invisible characters.
 */

enum { BRANCH_KEY_MAX = 1024 };

/** Append the displayed text. An invalid escape stays unchanged. */
void branch_text(struct buf *out, const char *key);

/**
 * Return the key of a branch given by its key or its name: a text that cannot be a key (`100%`, `a+b`, `50%41`, whose key would
 * be 50A) is a name and is encoded. A branch whose name reads as a key of another (`100%25`) is found by its key only. Shape:
 * key[BRANCH_KEY_MAX]; a name that does not fit becomes "%", which is no branch's key.
 */
void branch_key(const char *given, char *key);

/* ---- changed: Environment changes of a device as one line, for titles, marks and tables. ---- */

/**
 * Format [{"what","from","to"}] as "gcc 12.2.0 to 12.3.0, driver 550.1 to 560.2"; an absent old value is "none". Shape:
 * out[size].
 */
void changed_text(const char *json, char *out, size_t size);

/*
 * ---- err ----
 * One error, owned by the caller, reported once.
 *
 * Every function that can fail returns 0 or -1 and takes a `struct fw_err *` last. The function that first detects the failure
 * writes the message. Its callers may prefix it with context but never replace it. The caller that does not return the error
 * reports it. There is no global last error.
 */

enum err_code {
	ERR_NONE = 0,
	ERR_INTERNAL, /* an internal error, or one that no caller distinguishes */
	ERR_INVALID,  /* input of a user or a peer is wrong */
	ERR_NOT_FOUND,
	ERR_CONFLICT, /* the object's state forbids it: it has ended, it already exists */
	ERR_BUSY,     /* temporary: retry later */
	ERR_TIMEOUT,
	ERR_IO,       /* the operating system refused */
	ERR_FULL,     /* a limit of flopwatch, no memory, or a full disk */
	ERR_PROTOCOL, /* a peer broke the protocol */
	ERR_UNSUPPORTED,
	ERR_DAMAGED, /* stored data cannot be read any more */
	ERR_CANCELLED,
	ERR_CRASHED /* a flopwatch program ended by its own fault: SIGSEGV, SIGABRT */
};

struct fw_err {
	enum err_code code;
	bool is_shortage; /* this process lacks memory or descriptors: no peer, file or branch is at fault, and a retry may succeed */
	char text[1024]; /* one line, without a newline */
};

/** Set code and message unless an error is already set. Returns -1, for use in `return err_set(...)`. `e` may be NULL. */
int err_set(struct fw_err *e, enum err_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** As err_set with ERR_IO (ERR_FULL for ENOSPC and EDQUOT, ERR_NOT_FOUND for ENOENT); appends ": " and the text of errno. */
int err_sys(struct fw_err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** As err_set with ERR_FULL, for an allocation that failed; appends ": out of memory" and what to do. */
int err_memory(struct fw_err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** True if errno `number` is a lack of memory or descriptors of this process or machine. */
bool err_is_shortage(int number);

/** Prefix the message with "context: ". Returns -1. */
int err_context(struct fw_err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* it reads one source at a time, and would follow paths on which these return 0 */
#define err_set(...)     ((err_set)(__VA_ARGS__), -1)
#define err_sys(...)     ((err_sys)(__VA_ARGS__), -1)
#define err_memory(...)  ((err_memory)(__VA_ARGS__), -1)
#define err_context(...) ((err_context)(__VA_ARGS__), -1)
#endif

/** Clear the error. */
void err_clear(struct fw_err *e);

/** Return the name of the code: "invalid", "not_found". */
const char *err_name(enum err_code code);

/*
 * ---- proc ----
 * The only way to start a child: argument vector, clean environment, listed descriptors, a pidfd.
 *
 * The child gets its own session and process group, default signal dispositions and an empty mask, only the listed descriptors,
 * only the given environment, and rlimits; it is killed when the parent dies. No shell is used. Deadlines are the caller's duty:
 * proc_run has one built in, loops watch the pidfd and a timer.
 */

struct proc_fd {
	int ours, child;
}; /* `ours` appears as descriptor `child`; not closed in the parent */

struct proc_spec {
	const char *const *argv; /* NULL-ended; argv[0] is searched in PATH if it contains no slash */
	const char *const *env;  /* NULL-ended "NAME=value"; NULL: only PATH, HOME, LANG=C.UTF-8 and TZ of the parent */
	const char *cwd;         /* NULL: the parent's */
	struct proc_fd fd[16];   /* 0, 1, 2 not listed become /dev/null */
	int n_fd;
	int64_t file_size_bytes;     /* RLIMIT_FSIZE; 0: no limit */
	int64_t address_space_bytes; /* RLIMIT_AS; 0: no limit; never for a CUDA process */
	int cpu_s;                   /* RLIMIT_CPU; 0: no limit */
	bool is_careful;             /* it changes data of others: it gets SIGTERM and is not killed, also when the parent dies */
	bool ends_with_parent;       /* a careful one gets SIGTERM when the parent dies */
	bool has_no_network;         /* it cannot create a socket, gain privileges, or read the memory of other processes */
	const cpu_set_t *cores;      /* cores that it may use; NULL: the parent's */
};

struct proc {
	pid_t pid; /* 0: none */
	int pidfd; /* -1: none */
	bool is_careful;
};

/** How a child ended: exit status, or the signal that killed it. */
struct proc_exit {
	int status; /* exit code, -1 after a signal */
	int signal; /* 0 after an exit */
	bool timed_out;
};

/** Exit statuses of flopwatch's programs in addition to 0 done, 1 error, 2 usage, for callers that distinguish errors. */
enum {
	PROC_EXIT_GONE = 3,  /* the requested object does not exist */
	PROC_EXIT_AGAIN = 75 /* the system refused; a retry may succeed (EX_TEMPFAIL of sysexits.h) */
};

/** Start a child. Own: on success `p` must end in proc_reap or proc_end; on -1 no process remains. */
int proc_spawn(const struct proc_spec *spec, struct proc *p, struct fw_err *err);
/** Return 1 and `how` if it has ended (the pidfd is closed), 0 if it is still running. Never blocks. */
int proc_reap(struct proc *p, struct proc_exit *how);
/** Signal the child's whole process group. */
void proc_signal(const struct proc *p, int signal);
/** Send SIGKILL to the group, or SIGTERM to a careful child, without waiting for it. */
void proc_stop(const struct proc *p);
/** Call proc_stop and wait for the child; after 2 s a careful one continues alone. Accepts a proc without a child. */
void proc_end(struct proc *p);
/**
 * Run to the end: write `in` (may be NULL), collect stdout and stderr (NULL: not collected, /dev/null; both may be the same buf),
 * kill the group at the deadline. Units: deadline_ms from now, 0 none. Output beyond a buf's max sets its `failed`. Err: -1 only
 * if the program could not be run, or its output could not be read.
 */
int proc_run(const struct proc_spec *spec, const struct buf *in, struct buf *out, struct buf *errors, int64_t deadline_ms,
	struct proc_exit *how, struct fw_err *err);
/** True if it was ended by a signal from outside, not by its own mistake: out of memory, or another process. */
bool proc_is_outside(const struct proc_exit *how);
/** Write "exit 2", "killed by SIGSEGV", "ran past its deadline". Shape: text[64]. */
void proc_describe(const struct proc_exit *how, char text[64]);
/**
 * Find one of flopwatch's programs: next to the running executable, else in ../bin, ../sbin or ../libexec/flopwatch from there,
 * else by PATH. Shape: path[size].
 */
int proc_sibling(const char *name, char *path, size_t size, struct fw_err *err);

/*
 * ---- loop ----
 * The daemon's single thread: epoll, timers, signals, children. Callbacks run one after another and must not block. A
 * callback may add, change or remove any source, including its own. The source of a timer or child is freed when its callback
 * returns: drop the pointer in the callback.
 */

enum { LOOP_CLOCK_SET_MS = 5000 }; /* smaller steps of the wall clock are corrections, not settings */

struct loop;
struct loop_source;

typedef void loop_fn(void *arg, uint32_t events); /* EPOLLIN ... */
typedef void loop_timer_fn(void *arg);
typedef int loop_clock_fn(void *arg, int64_t by_ms);
typedef void loop_child_fn(void *arg, const struct proc_exit *how);

int loop_new(struct loop **out, struct fw_err *err);
/** Accepts NULL. Running children get proc_end; no callback is called. */
void loop_free(struct loop *l);
/** Run until loop_stop. Err: the system cannot wait at all. */
int loop_run(struct loop *l, struct fw_err *err);
void loop_stop(struct loop *l);

/** Watch a descriptor; the loop does not close it. Own: `*out` (may be NULL) until loop_remove, which must precede close. */
int loop_watch(struct loop *l, int fd, uint32_t events, loop_fn *fn, void *arg, struct loop_source **out, struct fw_err *err);
/** Set the events of a watched descriptor; 0 pauses it. */
int loop_change(struct loop *l, struct loop_source *s, uint32_t events, struct fw_err *err);
/** Call `fn` once after `delay_ms`. Timers with the same deadline run in the order of creation. */
void loop_after(struct loop *l, int64_t delay_ms, loop_timer_fn *fn, void *arg, struct loop_source **out);
/**
 * Call `fn` when the child ends. Past `deadline_ms` (0: none) the child gets proc_stop, and `how->timed_out` is set. The rest of
 * its process group is killed when it ends. Own: takes over `p`, also on -1; the child is then killed.
 */
int loop_child(struct loop *l, struct proc p, int64_t deadline_ms, loop_child_fn *fn, void *arg, struct loop_source **out,
	struct fw_err *err);
/** Deliver a signal as a callback (signalfd); one callback a signal. Blocks it for the process. */
int loop_signal(struct loop *l, int signal, loop_timer_fn *fn, void *arg, struct fw_err *err);
/**
 * Call `fn` when the wall clock was set by LOOP_CLOCK_SET_MS or more, before any later callback. `by_ms`: the step, negative if
 * set back. If `fn` returns -1, it is called again in the next iteration with the whole step since.
 */
void loop_on_clock_set(struct loop *l, loop_clock_fn *fn, void *arg);
/** Remove a source; accepts NULL. A child gets proc_stop and is reaped without blocking and without its callback. */
void loop_remove(struct loop *l, struct loop_source *s);

/*
 * ---- child ----
 * A child program that runs next to the loop, and its output once it ended. Standard input, output and errors are
 * memory files: no pipe needs pumping, and the file size limit stops a child that prints without end.
 */

struct child;

/**
 * `out` is the child's output, empty if it went to a file. `failed` is NULL if it exited 0, else its last line of errors with a
 * code: ERR_NOT_FOUND for PROC_EXIT_GONE, ERR_BUSY for PROC_EXIT_AGAIN or a signal from outside, ERR_CRASHED, ERR_TIMEOUT,
 * ERR_INVALID where a retry cannot help.
 */
typedef void child_fn(void *arg, const struct buf *out, const struct fw_err *failed);

struct child_spec {
	const char *program;     /* a program of flopwatch, found by proc_sibling */
	const char *const *args; /* after the program's name, NULL-ended */
	const char *const *env;  /* as of proc_spec */
	const struct buf *in;    /* standard input; NULL: empty */
	int out_fd;              /* receives its output; -1: memory */
	size_t out_max;          /* bytes of output */
	bool writes_files;       /* writes other files too, so no file size limit applies */
	bool is_careful;         /* as of proc_spec, like the next three */
	bool has_no_network;
	int64_t address_space_bytes;
	int cpu_s;
	int64_t deadline_ms;
};

/**
 * Start a child. The loop calls `fn` once, later; the captured output is freed when `fn` returns. Err: -1 if the child cannot
 * start; `fn` is then never called.
 */
int child_start(struct loop *l, const struct child_spec *spec, child_fn *fn, void *arg, struct child **out, struct fw_err *err);
/** Stop the child (proc_stop) and drop the callback; accepts NULL. */
void child_cancel(struct child *c);

/* ---- clock: Monotonic time for durations, UTC for display and for times that must outlive the process. ---- */

/** Return CLOCK_MONOTONIC. Units: ns. */
int64_t clock_mono_ns(void);
/** Return CLOCK_BOOTTIME: monotonic, and continues while the machine sleeps. Units: ms. */
int64_t clock_boot_ms(void);
/** Return the wall clock; it jumps when it is set. Units: ms since 1970-01-01 UTC; the form of every `_at` column. */
int64_t clock_utc_ms(void);
/** Write "2026-11-21T02:46:00.123Z". Shape: text[32]. */
void clock_format(int64_t utc_ms, char text[32]);
/**
 * Parse a time of RFC 3339, "2026-11-21T02:46:00Z" or with an offset or a fraction, or a date: its midnight in UTC. A space may
 * replace 'T', and the '+' of an offset, which becomes a space in an unquoted query. Err: ERR_INVALID.
 */
int clock_parse(const char *text, int64_t *utc_ms, struct fw_err *err);

/* ---- cores: Separate cores for measuring and for serving, so that page requests do not disturb timed calls. ---- */

enum { CORES_TEXT = 512, CORES_SEPARATE_MIN = 4, CORES_JOBS_MAX = 64 };

struct cores {
	cpu_set_t measure, serve; /* both are all allowed cores if they are not separate */
	bool separate;
};

/**
 * Divide the cores that this process may use. `how`: "auto" leaves the first core with its hyperthreads to serve if there are at
 * least CORES_SEPARATE_MIN, and separates nothing if there are fewer; "shared" separates nothing; else the list of cores that
 * measure, as "2-7,10". Err: ERR_INVALID no such list, a core that this process may not use, none left to serve.
 */
int cores_plan(const char *how, struct cores *out, struct fw_err *err);

/** Restrict this process, and processes that it starts from now on, to `set`. Err: ERR_IO the system refuses. */
int cores_use(const cpu_set_t *set, struct fw_err *err);

/** Return the number of cores that this process may use. */
int cores_count(void);

/**
 * Divide `all` among `n` jobs that may run concurrently, and return the share of job `k` (from 0): whole cores with their
 * threads. `near[i]`: the cores near the device of job `i`, empty if unknown. Jobs share the cores near to them, and get no
 * others. No two jobs have a core in common, unless there are fewer cores than jobs: then these jobs have all of them. Shape:
 * near[n], n at most CORES_JOBS_MAX.
 */
void cores_share(const cpu_set_t *all, const cpu_set_t *near, int n, int k, cpu_set_t *out);

/** Find the cores near a device by its address on the PCI bus, "0000:1b:00.0"; empty if the system does not report them. */
void cores_near(const char *pci, cpu_set_t *out);

/** Read a list as "0,2-7" into a set. Returns false if it is no such list. */
bool cores_read(const char *text, cpu_set_t *set);

/** True if `text` is a valid argument of cores_plan on some machine. */
bool cores_is_plan(const char *text);

/** Write the set as a list: "0,2-7". Shape: text[CORES_TEXT]. */
void cores_text(const cpu_set_t *set, char text[CORES_TEXT]);

/*
 * ---- csv_read ----
 * Tables in RFC 4180: quoted cells, doubled quotes, LF or CRLF, newlines inside quotes.
 *
 * Reads one row at a time from the caller's text; a byte order mark and blank lines are skipped.
 */

enum { CSV_COLUMNS_MAX = 2048, CSV_ROW_BYTES_MAX = 64 << 10 };

struct csv {
	const char *text, *file;
	char separator; /* ','; a caller may set another after csv_init */
	size_t len, at;
	int line; /* of the row from csv_next, from 1 */
	int n;    /* cells of that row */
	const char *cell[CSV_COLUMNS_MAX];
	bool is_open; /* that row ends at the end of the text, without a newline or a closing quote */
	/* internal */
	int next_line;
	struct buf bytes;
};

/** Initialise. `file` names the text in messages. Own: borrows both; csv_fini frees the rest. */
void csv_init(struct csv *c, const char *text, size_t len, const char *file);
void csv_fini(struct csv *c);
/**
 * Read the next row: 1, 0 at the end, -1 with `err` (an open quote, too many columns, a NUL). Cells are NUL-terminated and
 * valid until the next call.
 */
int csv_next(struct csv *c, struct fw_err *err);

/* ---- csv_write: Table values that a user may open in a spreadsheet. ---- */

/**
 * Write a cell as in RFC 4180: quoted if it contains a comma, a quote or an end of line, with its quotes doubled, and otherwise
 * unchanged. For files that a program reads; all CSV output is written by this function.
 */
void csv_field(struct buf *out, const char *text);
/**
 * As above, for text that a branch may have written and that a user may open in a spreadsheet: hidden characters become visible,
 * and a cell that a spreadsheet would run as a formula gets a leading apostrophe. NULL: nothing.
 */
void csv_text(struct buf *out, const char *text);
/** Write a comma and the number, only the comma if the number is unknown. */
void csv_number(struct buf *out, double v);

/*
 * ---- decimal ----
 * Numbers in the format of printf, by integer arithmetic: pages and long lists consist mostly of numbers, and printf would take
 * most of the time of a response.
 */

/* Bytes of a number in the format of decimal_fixed or decimal_general; of any number as text with up to 9 decimals. */
enum { DECIMAL_MAX = 32, DECIMAL_TEXT_MAX = 352 };

/**
 * Write the same as "%.*f", without a NUL. Returns the number of characters, 0 for a number that only printf can format: a huge
 * or non-finite one. Shape: out[DECIMAL_MAX]; decimals 0 to 9.
 */
size_t decimal_fixed(char *out, double v, int decimals);
/** Write the same as snprintf with "%.*f", for any number. */
void decimal_text(char *out, size_t size, double v, int decimals);
/** Write the same as "%.*g" for numbers that need no exponent; digits 1 to 9. */
size_t decimal_general(char *out, double v, int digits);

/* ---- fd: Descriptors and small files as a whole. ---- */

/** Close a descriptor, if it is not negative, and set it to -1. */
void fd_close(int *fd);
/** Write all bytes, also after an interruption. Err: -1 with errno. */
int fd_write(int fd, const void *data, size_t len);
/** Read the beginning of a system file as text; "" if it cannot be read. Returns its length. Shape: text[size]. */
size_t fd_read_text(const char *path, char *text, size_t size);

/*
 * ---- field ----
 * Strict conversion of one JSON object's keys to C values.
 *
 * Every getter names a rejected key in `err` and records the failure, so a reader is a plain list of fields with one check at its
 * end. After a failure getters return harmless values. All values from a peer are read by this module.
 */

struct fields {
	json_t *object; /* borrowed */
	char where[64]; /* "job.cells[3]": prefix of the key in messages */
	struct fw_err *err;
	bool failed;
};

enum field_set {
	FIELD_IDENTIFIER, /* A-Z a-z 0-9 _ - . : + */
	FIELD_PATH,       /* printable without control characters; any UTF-8 */
	FIELD_HEX         /* 0-9 a-f */
};

/** Begin to read `object` (borrowed). A value other than an object is a failure. */
void field_begin(struct fields *f, json_t *object, struct fw_err *err, const char *where, ...)
	__attribute__((format(printf, 4, 5)));
/** Record "where.key: what". Returns -1. */
int field_fail(struct fields *f, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

bool field_has(const struct fields *f, const char *key);

/* Required values in a range, both ends included. */
int64_t field_int(struct fields *f, const char *key, int64_t min, int64_t max);
double field_double(struct fields *f, const char *key, double min, double max);
bool field_bool(struct fields *f, const char *key);
/** Read a 64-bit number written as a decimal string, since JSON readers lose bits. */
uint64_t field_u64(struct fields *f, const char *key);

/* The same, with a value for an absent (or null) key. */
int64_t field_int_or(struct fields *f, const char *key, int64_t min, int64_t max, int64_t absent);
double field_double_or(struct fields *f, const char *key, double min, double max, double absent);
bool field_bool_or(struct fields *f, const char *key, bool absent);

/** Read a required string of `set` characters, `min` to size - 1 bytes. Shape: out[size]. */
void field_token(struct fields *f, const char *key, enum field_set set, size_t min, char *out, size_t size);
/**
 * Read a required hex digest: 40 or 64 digits (git), or only 64 (`sha256`); empty allowed if `may_be_empty`. Shape: out[65].
 */
void field_digest(struct fields *f, const char *key, bool sha256, bool may_be_empty, char out[65]);
/** Read one of a NULL-terminated list of strings. Returns its index, -1 after a failure. Shape: out[size]; may be NULL. */
int field_choice(struct fields *f, const char *key, const char *const *choices, char *out, size_t size);
/** Read display text: control characters become spaces, long text is cut at a character. Absent: "". */
void field_text(struct fields *f, const char *key, char *out, size_t size);

/** Read display text of several lines: LF and tabs stay. */
void field_lines(struct fields *f, const char *key, char *out, size_t size);

/** Read an array of min..max items; NULL after a failure. Own: borrowed. */
json_t *field_array(struct fields *f, const char *key, size_t min, size_t max);
/** Read an object; NULL after a failure. Own: borrowed. */
json_t *field_object(struct fields *f, const char *key);

bool field_is(enum field_set set, const char *text);

/*
 * ---- filelock ----
 * A file that several processes may open but only one may own. The lock belongs to the descriptor, so it ends with its process in
 * any case.
 */

/** True if an open file is still the one at `path`: it was neither removed nor replaced by another. */
bool filelock_is_at(int fd, const char *path);

/**
 * Lock an open file and empty it, unless another process has it or it is no longer at `path`. On a file system without locks that
 * cannot be detected. Returns 1: this process owns it until it closes it, 0: another process owns it. Err: ERR_IO, ERR_FULL it
 * cannot be emptied.
 */
int filelock_claim(int fd, const char *path, struct fw_err *err);

/* ---- hash: SHA-256 and HMAC-SHA-256 by nettle, hex, and comparison in constant time. ---- */

#define HASH_HEX 65 /* 64 digits and NUL */

/** Compute the SHA-256 of `len` bytes in lower-case hex. */
void hash_hex(const void *data, size_t len, char hex[HASH_HEX]);
/** Compute it from the current offset of `fd` to the end. */
int hash_fd(int fd, char hex[HASH_HEX], struct fw_err *err);
/** Compute it for a file. */
int hash_file(const char *path, char hex[HASH_HEX], struct fw_err *err);
/** Compute HMAC-SHA-256 of `data` under `key`. */
void hash_hmac(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[32]);
/** Compute HMAC-SHA-1, the hash that OpenSSH uses for names in known_hosts. */
void hash_hmac_sha1(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[20]);
/** Compute SHA-256 as bytes. */
void hash_bytes(const void *data, size_t len, unsigned char digest[32]);
/** Compare in a time that does not depend on the position of a difference. */
bool hash_equal(const void *a, const void *b, size_t len);
/** Write `len` bytes in lower-case hex. Shape: hex[2 * len + 1]. */
void hash_to_hex(const void *data, size_t len, char *hex);

/*
 * ---- seal ----
 * Encryption of a secret that has to be stored: AES-256-GCM by nettle, with a random nonce.
 */

/**
 * Append base64 of the nonce, the tag and the ciphertext of `text`. The key is derived from `secret`; `about` names what the text
 * belongs to, and opening needs the same. Err: ERR_INTERNAL no random bytes.
 */
int seal_text(const char *secret, const char *about, const char *text, struct buf *out, struct fw_err *err);
/** Append the text. Err: ERR_INVALID sealed with another secret, for something else, or changed. */
int seal_open(const char *secret, const char *about, const char *sealed, struct buf *out, struct fw_err *err);

/** Incremental form. */
struct hash_state {
	unsigned long long opaque[32];
};
void hash_begin(struct hash_state *s);
void hash_update(struct hash_state *s, const void *data, size_t len);
/** Add a text with its NUL, so that "ab","c" and "a","bc" have different hashes. */
void hash_text(struct hash_state *s, const char *text);
void hash_end(struct hash_state *s, char hex[HASH_HEX]);

/*
 * ---- jsonr ----
 * Read JSON that flopwatch wrote: in place, where one pass over the text fills a struct, or as a tree.
 *
 * For texts that jsonw wrote and that are read often, such as a comparison's stored body. JSON of others is parsed by jansson,
 * which checks it completely. Here a text that is no JSON sets `failed`, and nothing is read beyond its end.
 */

/** A value as in the text, including quotes and brackets. Own: the text's. */
struct jsonr_span {
	const char *text;
	size_t len;
};

struct jsonr {
	const char *at, *end;
	char *buffer; /* buffer for texts, NUL-ended; they need at most the length of the JSON */
	bool failed;
};

enum jsonr_kind {
	JSONR_TEXT,   /* const char *; unchanged if the value is no text */
	JSONR_NUMBER, /* double; as above */
	JSONR_WHOLE,  /* int; as above */
	JSONR_ID,     /* int64_t; as above */
	JSONR_TRUE,   /* bool: true if the value is true */
	JSONR_LIST,   /* const char *: a list of texts, separated by spaces */
	JSONR_SPAN,   /* struct jsonr_span */
	JSONR_OBJECT, /* `inner` lists the fields read from it, at offsets in the same struct */
	JSONR_SKIP,   /* skipped; an entry in the list makes the search for the following keys faster */
	JSONR_NAME,   /* `name` gets the text and sets the named member; not called for other values */
	JSONR_OTHER   /* `read` reads the value */
};

/** The destination of a value. A list of fields in the order in which they are written is searched fastest. */
struct jsonr_field {
	const char *key;  /* set by JSONR_KEY, without characters that JSON escapes; NULL ends the list */
	size_t len;       /* of the key */
	const char *next; /* the key as it follows a value, when no white space does: comma, quoted key, colon */
	enum jsonr_kind kind;
	size_t offset; /* in the struct */
	const struct jsonr_field *inner;
	void (*name)(const char *text, void *into); /* `into` is the whole struct */
	void (*read)(struct jsonr *r, void *into);  /* reads or skips one value; `into` as above */
};

#define JSONR_KEY(name) .key = (name), .len = sizeof(name) - 1, .next = ",\"" name "\":"

/** Begin. Own: `buffer` has `len` bytes, and outlives every text that is read; NULL if no field is a text. */
void jsonr_init(struct jsonr *r, const char *text, size_t len, char *buffer);
/** Read an object into `into`; skips keys that are not in the list, and any other kind of value. */
void jsonr_object(struct jsonr *r, const struct jsonr_field *field, void *into);
/** Step into an array. Returns false if the value is none; it is skipped. Then call jsonr_item until it returns false. */
bool jsonr_array(struct jsonr *r);
/** True if another item follows; the caller must read or skip it before the next call. */
bool jsonr_item(struct jsonr *r);
/** Skip a value, and return its text. */
struct jsonr_span jsonr_value(struct jsonr *r);
/** Parse a value as a jansson tree, in a fifth of the time of jansson's parser. Own: json_decref. NULL: no JSON. */
json_t *jsonr_tree(const char *text, size_t len);

/*
 * ---- jsonw ----
 * Writes JSON into a buf; the only JSON writer (jansson reads JSON).
 *
 * The writer manages commas and nesting. Strings may contain any bytes: invalid UTF-8 becomes U+FFFD, so that the output is
 * always valid. Doubles are the shortest of %.15g, %.16g, %.17g that read back equal; a value that is not finite is null.
 */

struct jsonw {
	struct buf *out;
	unsigned depth;
	bool need_comma[32];
	bool after_key;
};

void jsonw_init(struct jsonw *j, struct buf *out);
void jsonw_open(struct jsonw *j, char bracket);
void jsonw_close(struct jsonw *j, char bracket);
#define jsonw_object(j)     jsonw_open(j, '{')
#define jsonw_object_end(j) jsonw_close(j, '}')
#define jsonw_array(j)      jsonw_open(j, '[')
#define jsonw_array_end(j)  jsonw_close(j, ']')
void jsonw_key(struct jsonw *j, const char *key);
/** NULL writes null. */
void jsonw_string(struct jsonw *j, const char *text);
void jsonw_bytes(struct jsonw *j, const void *data, size_t len);
void jsonw_int(struct jsonw *j, int64_t v);
void jsonw_double(struct jsonw *j, double v);
/** Write seven significant digits: for numbers that users read, where further digits are noise. */
void jsonw_figure(struct jsonw *j, double v);
/** Write %.9g, so that the float32 reads back bit for bit. */
void jsonw_float(struct jsonw *j, float v);
void jsonw_bool(struct jsonw *j, bool v);
void jsonw_null(struct jsonw *j);
/** Write text that already is one JSON value. */
void jsonw_raw(struct jsonw *j, const char *text, size_t len);

/**
 * Write literal keys that need no escapes, with their values: for long lists, where keys are most of the output. As jsonw_key and
 * the functions for values; `text` must need no escapes either. After jsonw_literal any value may follow.
 */
#define jsonw_literal(j, key)             (jsonw_piece(j, ",\"" key "\":", sizeof(",\"" key "\":") - 1), (j)->after_key = true)
#define jsonw_literal_figure(j, key, v)   (jsonw_literal(j, key), jsonw_next_figure(j, v))
#define jsonw_literal_plain(j, key, text) (jsonw_literal(j, key), jsonw_next_plain(j, text))
/** `piece`: comma, quoted key, colon. Called by the macros above. */
static inline void jsonw_piece(struct jsonw *j, const char *piece, size_t len)
{
	if (j->need_comma[j->depth]) {
		buf_append(j->out, piece, len);
		return;
	}
	j->need_comma[j->depth] = true;
	buf_append(j->out, piece + 1, len - 1);
}
void jsonw_next_figure(struct jsonw *j, double v);
void jsonw_next_plain(struct jsonw *j, const char *text);

/**
 * Write the items of `format`, which single spaces separate. `{` `}` `[` `]` begin and end objects and arrays; `null`; values:
 * %lld, %ld, %d integers, %i a bool, %g a figure, %f a double, %s a string (NULL: null). In an object `key=` precedes each:
 * "name=%s base={ ms=%g }". After `key?=` an empty string, 0 or false is written as null; after `key~=` it is omitted with its
 * key. %lld{time} is a time in ms, null if 0; %s{json} is JSON as it is; `key=%s{branch}` writes a branch by its key, and
 * `key_display` in its displayed form, both null for "".
 */
void jsonw_format(struct jsonw *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
void jsonw_vformat(struct jsonw *j, const char *format, va_list *args) __attribute__((format(printf, 2, 0)));

/* write key and value in one call */
void jsonw_kv_string(struct jsonw *j, const char *key, const char *text);
void jsonw_kv_int(struct jsonw *j, const char *key, int64_t v);
void jsonw_kv_double(struct jsonw *j, const char *key, double v);
void jsonw_kv_figure(struct jsonw *j, const char *key, double v);
void jsonw_kv_bool(struct jsonw *j, const char *key, bool v);
void jsonw_kv_null(struct jsonw *j, const char *key);
void jsonw_kv_object(struct jsonw *j, const char *key);
void jsonw_kv_array(struct jsonw *j, const char *key);

/*
 * ---- lines ----
 * Split a byte stream into LF-ended lines, with binary payloads between them.
 *
 * Pass the bytes from read() to lines_feed and call lines_next until there is no line. After a line that announces N bytes, call
 * lines_expect(N) and read the payload in pieces with lines_payload.
 */

struct lines {
	struct buf pending;
	size_t start;    /* first byte of pending not yet taken */
	size_t max_line; /* bytes */
	size_t payload;  /* bytes of payload still to come */
};

void lines_init(struct lines *l, size_t max_line);
void lines_fini(struct lines *l);
/** Add bytes. Err: ERR_PROTOCOL a line is longer than max_line. */
int lines_feed(struct lines *l, const void *data, size_t len, struct fw_err *err);
/** Return 1 and the line without its LF (NUL-ended, valid until the next call on `l`), 0 if none is complete. */
int lines_next(struct lines *l, char **line, size_t *len);
/** Expect the next `n` bytes as payload. */
void lines_expect(struct lines *l, size_t n);
/** Return the available payload bytes, at most the expected number; 0 if none. Valid until the next call on `l`. */
size_t lines_payload(struct lines *l, const char **data);

/*
 * ---- log ----
 * One `key=value` line per event on stderr.
 *
 * Lines begin with a journal priority ("<3>") if stderr is not a terminal. Values with spaces or control bytes are quoted and
 * escaped, so that one event is always one line with any branch name. Fixed keys: ev job repo branch commit cell dur_ms err. The
 * event name comes first, for grep: log_info("job.queued", "job=%lld repo=%s", id, log_quote(name)).
 */

enum log_level { LOG_DEBUG = 7, LOG_INFO = 6, LOG_WARNING = 4, LOG_ERROR = 3 };

/** Set the name of the program and the least urgent level that is printed. */
void log_open(const char *program, enum log_level least);

/** Write one event. The caller escapes `%s` values that may contain foreign bytes by log_quote. */
void log_event(enum log_level level, const char *event, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Escape `text` for a log value. Shape: at most 255 bytes, cut with "...". Own: one of eight rotating static buffers. */
const char *log_quote(const char *text);

#define log_debug(...)   log_event(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)    log_event(LOG_INFO, __VA_ARGS__)
#define log_warning(...) log_event(LOG_WARNING, __VA_ARGS__)
#define log_error(...)   log_event(LOG_ERROR, __VA_ARGS__)

/* ---- oid: Names of git's objects, as text: SHA-1 or SHA-256 in lower-case hex. Pure. ---- */

/** True for a complete name: 40 or 64 digits and nothing else. False for NULL. */
bool oid_is_whole(const char *text);
/** True for an abbreviated or complete name: `min` to 64 digits and nothing else; at least one. */
bool oid_is_prefix(const char *text, size_t min);

/*
 * ---- option ----
 * Long options of a program by a table, whose last row has no name. Each row has one of `flag`, `text`, `take` and `print`.
 */

enum { OPTION_NEXT = -1 };

struct option_row {
	const char *name;
	bool *flag;                    /* set to true; the option has no argument */
	const char **text;             /* set to its argument */
	int (*take)(const char *text); /* gets its argument; returns OPTION_NEXT, or the exit status of the program */
	const char *print;             /* printed on standard output, which ends the program; no argument */
};

/** Read the options; `optind` is then the index of the first other argument. Returns OPTION_NEXT, or the exit status. */
int option_read(int argc, char **argv, const struct option_row *row);

/* ---- percent: Bytes as %XX, as in URLs and in the names of branches. ---- */

/** Append letters, digits and the characters of `unescaped` unchanged, every other byte as %XX. */
void percent_encode(struct buf *out, const char *bytes, size_t len, const char *unescaped);

/** Return the byte of the escape %XX at `at` (any text); -1: there is none. */
int percent_byte(const char *at);

/** Decode %XX; a % that begins no escape stays unchanged. Shape: out[strlen(text) + 1]; a %00 ends it early. */
void percent_decode(const char *text, char *out);

/*
 * ---- regular ----
 * Opens files whose path a user or a repository chose: an object that is no regular file is refused, without waiting for it.
 *
 * A FIFO without a writer blocks a process that opens it for reading, and a device may have any effect.
 */

/**
 * Open a regular file for reading, following links. `what` precedes its path in errors: "the configuration ", or "". Own: the
 * descriptor. Err: -1; ERR_INVALID the object is not a regular file; its kind is named.
 */
int regular_open(const char *what, const char *path, struct fw_err *err);
/** Return the kind of another object: "a FIFO", "a folder"; NULL for a regular file. */
const char *regular_wrong(const struct stat *st);

/* ---- sd_notify: The service manager's protocol: READY, WATCHDOG, STOPPING over $NOTIFY_SOCKET. ---- */

/** Send `text` ("READY=1"); does nothing without $NOTIFY_SOCKET. */
void sd_notify(const char *text);
/** Interval of WATCHDOG=1; 0: none. Units: ms, half of the manager's limit. */
int64_t sd_notify_watchdog_ms(void);

/*
 * ---- secret ----
 * Files that contain a key, a token or a signing secret: only their owner may read them.
 *
 * Contents never appear in an error. A file that systemd passes as a credential grants access to its one reader by an access
 * control list, whose mask appears as the group's permission: in that case the list itself is checked.
 */

/**
 * Open a regular file that neither its group nor others may read or write. Own: the descriptor. Err: ERR_INVALID, with a remedy.
 */
int secret_open(const char *path, struct fw_err *err);
/** Read the first line, 8 bytes at least, without its end. Shape: text[size]. Err: as secret_open; `text` then is "". */
int secret_read(const char *path, char *text, size_t size, struct fw_err *err);

/* ---- similar: The known name that a user may have mistyped. ---- */

/** Return the edit distance of two names: letters to add, drop or change; 99 if one has more than 64. */
int similar_distance(const char *a, const char *b);

/* ---- unit: Display of rates and times: one unit for a whole table, and no number that rounds to 0. Pure. ---- */

enum { UNIT_FIGURE_SIZE = 32 };

struct unit {
	const char *name; /* "GFLOP/s" */
	double factor;    /* of TFLOP/s */
};

/**
 * Return TFLOP/s, GFLOP/s, MFLOP/s or kFLOP/s: the first in which the largest rate of a table is at least 1. `most_tflops` NAN
 * or 0: TFLOP/s.
 */
struct unit unit_of_rates(double most_tflops);
/** Return the larger of two rates; either may be NAN. */
double unit_max(double a, double b);

/**
 * Format a rate in its unit with at least three significant digits, from 10 on with one decimal. Shape: out[UNIT_FIGURE_SIZE].
 * "" if not finite.
 */
void unit_rate(struct unit unit, double tflops, char *out);
/** Format a time with at least four. Units: ms. */
void unit_ms(double ms, char *out);

/* ---- utf8: Reading UTF-8 that may be invalid, and detection of characters that hide or reorder displayed text. ---- */

#define UTF8_INVALID UINT32_MAX

/**
 * Decode the character at `text[0]`. Returns its number of bytes (at least 1 if len > 0); `*code` is UTF8_INVALID for a byte that
 * starts no valid character (overlong forms and surrogates are invalid).
 */
size_t utf8_next(const char *text, size_t len, uint32_t *code);
/** Return the number of bytes of `text`, at most `max`, that end with a whole character: `len` if all fit. */
size_t utf8_cut(const char *text, size_t len, size_t max);
/** True for control characters, characters that change the writing direction, and characters without width or ink. */
bool utf8_is_hidden(uint32_t code);
/**
 * Append `text` so that it is readable and has no effect: invalid bytes become U+FFFD, hidden characters a visible \x1b or
 * \u202e. Characters of `allowed` (ASCII, e.g. "\n\t") are not replaced.
 */
void utf8_show(struct buf *out, const char *text, size_t len, const char *allowed);

/*
 * ---- yaml ----
 * Typed reading of a YAML file by libyaml, for users: reports all mistakes at once, each with file:line:col.
 *
 * The reader requests the keys it knows; keys that it did not request are mistakes, with the nearest known key as suggestion. A
 * mistake is one line "file:line:col: key.path: what; what to do" in the document's `mistakes` buffer. The requested type defines
 * how a value is read: `no` is a string for yaml_string and an error for yaml_bool (only true and false are booleans); numbers
 * must be numbers to their last character; durations need a unit (ms s min h), percentages may have a %.
 */

struct yaml;      /* a document */
struct yaml_node; /* borrowed from its document */

/** Read a document. Always returns one; a syntax error is a mistake and its root is NULL. Err: NULL only if memory is out. */
struct yaml *yaml_new(const char *text, size_t len, const char *file);
#define yaml_free base_yaml_free /* libyaml exports a yaml_free, which would replace this one in its own code */
void yaml_free(struct yaml *y);
struct yaml_node *yaml_root(struct yaml *y);
/** Return its name, as given to yaml_new. Own: the document's. */
const char *yaml_file(const struct yaml *y);
/** Return the number of mistakes so far, and their lines ('\n'-ended). */
int yaml_mistakes(const struct yaml *y);
const char *yaml_mistake_text(const struct yaml *y);
/** True if memory was out, so that the mistakes say nothing about the document; there is at least one then. */
bool yaml_is_out_of_memory(const struct yaml *y);
/** Record that a reader of this document had no memory for a value. */
void yaml_set_out_of_memory(struct yaml *y);
/** Add a mistake at `node`. */
void yaml_mistake(struct yaml *y, const struct yaml_node *node, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Position of a value, for mistakes that are detected after the document is freed. From 1; 0 unknown. */
struct yaml_position {
	int line, column;
};
struct yaml_position yaml_position(const struct yaml_node *n);

/** Return a child of a mapping, NULL if absent; marks the key as requested. A `map` of NULL gives NULL. */
struct yaml_node *yaml_get(struct yaml *y, struct yaml_node *map, const char *key);
/** True if a mapping has this key, which remains unrequested: to detect another kind of file. */
bool yaml_has(const struct yaml_node *map, const char *key);
/** After all yaml_get calls on `map`: report keys that were not requested, and duplicates. */
void yaml_finish(struct yaml *y, struct yaml_node *map);
bool yaml_is_map(const struct yaml_node *n);
bool yaml_is_list(const struct yaml_node *n);
/** True for a key without a value, ~ or null. */
bool yaml_is_null(const struct yaml_node *n);
/**
 * Return the number of items of a list of `min` to `max`; -1 for NULL, and for other nodes, which add a mistake with this text.
 */
int yaml_list(struct yaml *y, struct yaml_node *n, int min, int max, const char *wrong, ...)
	__attribute__((format(printf, 5, 6)));
/** As above, for a mapping and its pairs. */
int yaml_map(struct yaml *y, struct yaml_node *n, int min, int max, const char *wrong, ...) __attribute__((format(printf, 5, 6)));
/** Return the number of items of a list (or pairs of a map). NULL and other nodes have 0. */
int yaml_count(const struct yaml_node *n);
struct yaml_node *yaml_item(struct yaml *y, struct yaml_node *list, int i);
/** Return the i-th pair of a mapping with any keys, and mark the key as requested. */
struct yaml_node *yaml_pair(struct yaml *y, struct yaml_node *map, int i, const char **key);

/* Typed values. A NULL node leaves *out unchanged and returns 0; an invalid one adds a mistake and returns -1. */
int yaml_string(struct yaml *y, struct yaml_node *n, const char **out); /* Own: the document's */
int yaml_int(struct yaml *y, struct yaml_node *n, int64_t min, int64_t max, int64_t *out);
int yaml_double(struct yaml *y, struct yaml_node *n, double min, double max, double *out);
int yaml_bool(struct yaml *y, struct yaml_node *n, bool *out);
int yaml_duration_ms(struct yaml *y, struct yaml_node *n, int64_t min_ms, int64_t max_ms, int64_t *out);
/** Read seconds; a bare number is accepted as seconds only here, for keys that end in _s. */
int yaml_seconds(struct yaml *y, struct yaml_node *n, double min, double max, double *out);
int yaml_percent(struct yaml *y, struct yaml_node *n, double min, double max, double *out);

#endif
