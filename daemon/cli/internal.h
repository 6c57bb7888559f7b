/** internal.h - the command line. */
#ifndef CLI_INTERNAL_H
#define CLI_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/lib.h"
#include "model/model.h"
#include "protocol/protocol.h"
#include "readers/readers.h"
#include "verdict/verdict.h"

/* ---- answers: What was looked at, how it is and what to do, as lines for people or as JSON. ---- */

enum health { OK, WARN, FAIL, HEALTH_N };

struct answer {
	char what[64], text[2048], advice[256]; /* advice: what to do; "" nothing */
	enum health health;
};

struct answers {
	int n;
	struct answer *answer; /* answer[n] */
};

/** Add one. Own: answers_fini frees. */
void answers_add(struct answers *a, enum health health, const char *what, const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void answers_fini(struct answers *a);
/** Parse "ok", "warn" or "fail"; HEALTH_N for any other word. */
enum health health_from_name(const char *name);
/** Print all of them on standard output; with `json` as {"ok", "checks"}. Whether none failed. */
bool answers_print(const struct answers *a, bool json);

/*
 * ---- client ----
 * Calls of the daemon's REST API.
 *
 * Err, the same for every call: ERR_IO the daemon cannot be reached; ERR_TIMEOUT it did not answer; ERR_NOT_FOUND, ERR_CONFLICT, ERR_INVALID,
 * ERR_BUSY, ERR_INTERNAL what it refused, with its own words; ERR_FULL the answer does not fit; ERR_PROTOCOL it makes no sense.
 */

struct client;

/**
 * `server` like "http://127.0.0.1:8451"; `token` is shown with every call, NULL none. Nothing is connected yet. Own: client_close.
 * Err: ERR_INVALID it is no address.
 */
int client_open(const char *server, const char *token, struct client **out, struct fw_err *err);
/** A second connection to the same daemon. Own: client_close. */
int client_again(const struct client *c, struct client **out, struct fw_err *err);
/** Give every further call up after so long. Units: ms, above 0. */
void client_hurry(struct client *c, long timeout_ms);
/** Its address, without a slash at the end. Own: the client's. */
const char *client_server(const struct client *c);
/** Accepts NULL. */
void client_close(struct client *c);

/** GET `path` (with its query) as JSON. Own: the caller's reference. */
int client_get(struct client *c, const char *path, json_t **out, struct fw_err *err);
/** Likewise a list as one page, however many the daemon cuts it into. */
int client_get_all(struct client *c, const char *path, json_t **out, struct fw_err *err);
/** GET raw bytes, appended to `out`. */
int client_get_raw(struct client *c, const char *path, struct buf *out, struct fw_err *err);
/** POST a JSON text ("" for none). `out` may be NULL. */
int client_post(struct client *c, const char *path, const char *body, json_t **out, struct fw_err *err);
/**
 * POST a JSON text to /api/v1/COLLECTION/ID/STEP: what a person does with one thing. `out` may be NULL. Err: ERR_INVALID too when
 * `id` is too long for an address.
 */
int client_post_step(struct client *c, const char *collection, const char *id, const char *step, const char *body, json_t **out,
	struct fw_err *err);
/** POST and write the answer into `fd` as it comes; a file may be larger than memory. */
int client_post_to_file(struct client *c, const char *path, int fd, struct fw_err *err);
/** GET what comes after the first `from` bytes and write it into `fd`, likewise. */
int client_get_to_file(struct client *c, const char *path, int64_t from, int fd, struct fw_err *err);

/** One event; `data` is its JSON. Nonzero ends the stream. */
typedef int stream_fn(void *arg, const char *kind, const json_t *data);
/** Called about once a second, also while nothing comes. Nonzero ends the stream. */
typedef int stream_idle_fn(void *arg);

/**
 * Follow /api/v1/events from now on until a callback ends it (0) or the daemon is gone (-1). *last is the id to go on from, 0: now;
 * it is kept up to date, so that a call after a daemon's restart misses nothing. Err: ERR_CONFLICT the daemon ended it, which it
 * does now and then: call again.
 */
int client_stream(struct client *c, long long *last, stream_fn *each, stream_idle_fn *idle, void *arg, struct fw_err *err);

/** A member of a request: its text, else its number, which is 0 only with `is_zero`, else true where `is_set`; else it is left out. */
struct member {
	const char *key, *text; /* key NULL ends a list */
	long long number;
	bool is_zero, is_set;
};
/** Append an object of these members. */
void client_write(struct buf *out, const struct member *members);
/** POST an object of these members. `out` may be NULL. */
int client_post_members(struct client *c, const char *path, const struct member *members, json_t **out, struct fw_err *err);

/** GET `path` with these members as its query. Err: ERR_INVALID also if that is too long. */
int client_get_query(struct client *c, const char *path, const struct member *query, json_t **out, struct fw_err *err);
/** GET PREFIX ID SUFFIX as JSON, the id percent-encoded. */
int client_get_at(struct client *c, const char *prefix, const char *id, const char *suffix, json_t **out, struct fw_err *err);

/** Append `text` percent-encoded as a query argument. */
void client_argument(struct buf *out, const char *text);
/** Append NAME=value to the query of `path`; nothing where `value` is NULL. */
void client_query(struct buf *path, const char *name, const char *value);

/* ---- blockers: Lines below the tables of status and jobs: the reasons why jobs are not queued or do not progress. ---- */

/**
 * Print a line on standard output where the daemon begins no job, and for each repository that cannot be read and each worker that is
 * down; nothing where all is well, and of what the daemon does not answer. `repo` NULL: all repositories.
 */
void blockers_broken(struct client *c, const char *repo);
/** Print why the jobs of `open`, a list of the API, do not move: workers and devices as they are, what a job waits for. */
void blockers_waiting(struct client *c, const json_t *open);

/* ---- command: An argument vector, built word by word. Pure. ---- */

enum { COMMAND_WORDS_MAX = 16, COMMAND_WORD_SIZE = 256 };

struct command {
	int n;
	char word[COMMAND_WORDS_MAX][COMMAND_WORD_SIZE];
	bool is_shell; /* a word of it needs the shell, as "$FLOPWATCH_KIT" does */
};

/** Add a word; what does not fit is cut, and no manifest is written that such a word does not survive. */
void command_add(struct command *c, const char *word);
bool command_is_same(const struct command *a, const struct command *b);
/** `c` as the shell would take it, behind what is in `out`. */
void command_put_shell(const struct command *c, struct buf *out);
/** `c` as a list of YAML. */
void command_put_yaml(const struct command *c, struct buf *out);
/** Quote one word so that YAML reads it as text. */
void command_put_word(const char *word, struct buf *out);

/*
 * ---- scan ----
 * What lies in a checkout: programs that time something, and the files that build them. Reads; runs nothing.
 *
 * A program is known by what it includes or imports. Folders that hold what was built, and hidden ones, are not looked into.
 */

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

/*
 * ---- propose ----
 * From what lies in a checkout to what its manifest should say, each line with its reason. Pure but for questions whether a file is there.
 */

enum { PROPOSE_BENCHMARKS_MAX = 4, PROPOSE_STEPS_MAX = 12, PROPOSE_NOTES_MAX = 12 };

struct propose_benchmark {
	char name[64], why[320];
	struct command command;
	const char *reader;
	char output[128];   /* "" it prints */
	char artifact[256]; /* "" the whole folder */
	bool uses_gpu;
};

struct proposal {
	char module[256]; /* the module's path, "" none: then there are benchmarks */
	char module_why[320];
	char suite[SCAN_SUITES_MAX][64];
	char suite_why[160];
	int n_suites;
	int n_steps; /* of the build */
	struct command step[PROPOSE_STEPS_MAX];
	char step_why[PROPOSE_STEPS_MAX][320];
	int n_benchmarks;
	struct propose_benchmark benchmark[PROPOSE_BENCHMARKS_MAX];
	int n_notes; /* for people: what was seen and not used, and what may be missing */
	char note[PROPOSE_NOTES_MAX][400];
};

/** False: nothing there that can be measured is known. The notes then say what was seen. */
bool propose(const struct scan *l, struct proposal *out);

/* ---- builder: How a program of a checkout is built: by the Makefile that knows it, by CMake, or by a compiler alone. ---- */

enum { BUILDER_STEPS_MAX = 2 };

struct builder_step {
	struct command command;
	char why[320];
};

/** Steps that build `program`, to be run at the root, and the file that it becomes. 0: none is known. Shape: step[BUILDER_STEPS_MAX]. */
int builder_find(
	const struct scan *l, const struct scan_program *program, struct builder_step *step, char file[COMMAND_WORD_SIZE]);
/** The step that builds extensions of the Python package at the root. False: there are none. */
bool builder_python(const struct scan *l, struct builder_step *step);

/* ---- verbs: The verbs of the command line; each returns the exit status of the program. ---- */

enum exit_status {
	EXIT_OK = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_REGRESSION = 3,
	EXIT_NOT_FOUND = 4,
	EXIT_UNREACHABLE = 5,
	EXIT_TIMEOUT = 6,
	EXIT_UNDECIDED = 7,
	EXIT_INTERRUPTED = 130
};

/** The parsed command line. */
struct options {
	const char *server, *token_file, *scope;
	const char *format, *unit, *time, *commit, *base;                          /* NULL: not given */
	const char *repo, *suite, *cells, *branch, *device, *state, *reason;       /* NULL: not given */
	const char *provider, *base_provider, *target_provider;                    /* NULL: not given */
	const char *base_config, *target_config;                                   /* NULL: not given */
	const char *base_toolchain, *target_toolchain, *base_flags, *target_flags; /* NULL: not given */
	const char *read_only;                                                     /* NULL: not given */
	const char *output;                                                        /* NULL: not given */
	const char *results, *metric, *kernel, *ids;                               /* of files; NULL: not given */
	const char *color;
	bool json, quick, progress, quiet, again, all, strict, browser, help, version;
	double threshold_pct; /* 0: not given */
	int timeout_s;        /* 0: none */
	int runs;             /* 0: the daemon's */
	int limit;
	int launches, warmup; /* of ncu files; 0: not given */
	int n_arg;
	char **arg; /* arg[n_arg], after the verb */
};

/** Print `err` of a call to the daemon as one line on stderr; the exit status that it deserves. */
int verb_fail(const struct fw_err *err);
/** The same for what failed on this side (a file, a program): always EXIT_ERROR. */
int verb_fail_here(const struct fw_err *err);
/** Print a line on stderr about arguments that are wrong: EXIT_USAGE. */
int verb_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Print an answer of the API as it is, for --json. */
void verb_print_json(const json_t *answer);
typedef void verb_print_fn(const json_t *answer);
/**
 * GET the list at `path` with this query and print it: as it is with --json, as the line `none` (NULL: no such line) if its items are empty,
 * else by `print`.
 */
int verb_show(struct client *c, const struct options *o, const char *path, const struct member *query, verb_print_fn *print,
	const char *none);
/** Whether an argument can be the number of an alert, a comparison and the like. */
bool verb_is_number(const char *text);
/** POST to /api/v1/COLLECTION/ID/STEP, whose answer is not printed. */
int verb_step(struct client *c, const char *collection, const char *id, const char *step);
/** Print the API's answer about a job that was just queued, or the error. Own: takes `job`. */
int verb_new_job(const struct options *o, int result, json_t *job, const struct fw_err *err);
/** POST `request` to `path` and print the jobs that were queued by it. */
int verb_request_jobs(struct client *c, const struct options *o, const char *path, const struct member *request);

/** Where a verdict leaves the program: 0, 1, 3 or 7. */
int verb_status_of_verdict(enum verdict verdict);

typedef int verb_fn(struct client *c, const struct options *o);
/* These need no daemon. */
verb_fn verb_init, verb_try, verb_suite, verb_help, verb_config;
verb_fn verb_compare, verb_submit, verb_wait, verb_bisect, verb_profile, verb_why, verb_calibrate, verb_peer, verb_judge;
verb_fn verb_status, verb_watch, verb_jobs, verb_log, verb_history, verb_alerts, verb_notifications, verb_devices, verb_open;
verb_fn verb_cancel, verb_retry, verb_redeliver, verb_pause, verb_resume, verb_token;
verb_fn verb_import, verb_export, verb_reproduce, verb_backup, verb_doctor, verb_completion;
/** compare on two files; needs no daemon. */
int verb_compare_files(const struct options *o);

/* ---- catalog: Every verb and option of the command line, once: the parser, --help, man pages and completions all read these tables. ---- */

/** What a word of the command line may be, for completion. CATALOG_REQUESTED: a name that the daemon knows, of the kind in `words` (completion.c). */
enum catalog_kind { CATALOG_NONE, CATALOG_FILE, CATALOG_WORDS, CATALOG_REQUESTED };

/** What an option leaves in struct options: const char *, int above 0, double above 0 and below 100, bool. */
enum catalog_holds { CATALOG_TEXT, CATALOG_COUNT, CATALOG_PERCENT, CATALOG_FLAG };

enum { CATALOG_OPTIONS_MAX = 56 }; /* with the end */

struct catalog_option {
	const char *name;  /* without the dashes */
	const char *value; /* "FILE"; NULL: it takes none */
	const char *what;  /* one line for people */
	enum catalog_kind kind;
	const char *words; /* with CATALOG_WORDS: separated by spaces; with CATALOG_REQUESTED: of which kind */
	bool everywhere;   /* every verb takes it */
	enum catalog_holds holds;
	size_t at; /* offset in struct options */
};

struct catalog_verb {
	const char *name;
	int min_arg, max_arg;
	verb_fn *run;
	const char *usage;   /* after "flopwatch "; further ways on further lines */
	const char *what;    /* one line */
	const char *more;    /* a paragraph or several, "" none */
	const char *options; /* names, separated by spaces, beside those that every verb takes */
	const char *example; /* lines "command  # what it does" */
	enum catalog_kind kind;
	const char *words; /* first arguments, with CATALOG_WORDS */
	const char *asks;  /* by argument, the kind of names that the daemon is asked for, "-" none: "- alerts"; NULL: nowhere */
};

/** NULL-ended by name: the entry after the last has no name. */
extern const struct catalog_verb catalog_verbs[];
extern const struct catalog_option catalog_options[];

/** Exact; NULL: none. */
const struct catalog_verb *catalog_find(const char *name);
/** The verb that `name` was probably meant to be; NULL: none is near. */
const struct catalog_verb *catalog_nearest(const char *name);
/** Whether the verb takes this option. */
bool catalog_takes(const struct catalog_verb *verb, const struct catalog_option *option);

/* ---- checkout: Which checkout and which repository a command means. ---- */

/** Cut `path` down to the checkout that it lies in. False: it is in none, and is now the top folder. */
bool checkout_climb(char *path);
/** The checkout around the current directory. Err: ERR_NOT_FOUND there is none. Shape: path[size]. */
int checkout_worktree(char *path, size_t size, struct fw_err *err);

/** The checkout around the current directory, and which watched repository is its own. */
struct checkout {
	char worktree[4096]; /* "" we are in none */
	char repo[256];      /* as the daemon calls it; "" we are in no checkout */
	char remote[256];    /* of the checkout, through which it is that repository; "" the daemon reads the checkout itself */
};

/**
 * Find the watched repository that the daemon reads from this checkout, or whose address one of its remotes has, however it is written. Outside
 * of a checkout all of `out` is "". Where remotes lead to several, it is the one that git pushes the current branch to, else the one that it
 * pulls it from, else that of origin. Err: ERR_NOT_FOUND the daemon does not watch the repository of this checkout, with the names of both;
 * ERR_CONFLICT none of these rules names one of several.
 */
int checkout_find(struct client *c, struct checkout *out, struct fw_err *err);
/** Whether it watches any, as 0; with --repo, which names the repository, always 0. Err: ERR_NOT_FOUND as above. */
int checkout_check(struct client *c, const struct options *o, struct fw_err *err);
/** Whether the checkout knows a commit of that branch of the watched repository that comes after `tip`, as after a push. */
bool checkout_has_newer(const struct checkout *here, const char *branch, const char *tip, char newer[65]);
/**
 * The repository that is meant: --repo, that of the checkout around us, the only one, or the only one with a branch or
 * commit `what` (NULL: none was named). Shape: name[size]. EXIT_OK, else a line was printed: EXIT_USAGE several are, EXIT_NOT_FOUND the
 * daemon does not watch the repository of the checkout around us.
 */
int checkout_repo(struct client *c, const struct options *o, const char *what, char *name, size_t size);
/** Always ERR_CONFLICT: which of `repos`, names separated by commas, is meant with `what`? */
int checkout_request_which(const char *what, const char *repos, struct fw_err *err);

/* ---- conclude: What came out, once all suites have ended: their tables, what all of them say, and the exit status for it. ---- */

/**
 * Print the comparisons of a verdict, and why suites have none. The exit status: that of a regression where any suite lost, else that of the
 * verdict. Err: -1 and why nothing was measured at all.
 */
int conclude(struct client *c, const struct options *o, const json_t *verdict, struct fw_err *err);

/* ---- config: The daemon's check whether the objects that a configuration names exist. ---- */

#define CONFIG_USUAL "/etc/flopwatch/flopwatchd.yml"

/** Add all of it. Units: minutes, where servers do not answer. Err: ERR_INVALID the first mistake in the file. */
int config_look(const char *file, struct answers *answers, struct fw_err *err);

/* ---- failures: Whether a repository's jobs all fail of late, and what of. ---- */

struct failures {
	int n;         /* newest jobs that ended, all of them failed */
	bool is_one;   /* of the same class, such as all in their build */
	long long job; /* the newest */
	char class[64];
	char text[256]; /* what the newest says of itself */
};

/* ---- files: Result files on this machine. ---- */

/** Loss of throughput that `compare` of two files reports without --threshold. */
#define FILES_THRESHOLD_PCT 1.5

/** Whether both are files here, so that `compare` means them and no branches. */
bool files_are(const char *a, const char *b);
/**
 * Whether a name that `compare` is given can only mean a file: by how it begins (/, ./, ../), or by the end that outputs of benchmarks have.
 * A branch may hold a slash.
 */
bool files_looks_like_one(const char *name);
/** Err: ERR_NOT_FOUND there is nothing of that name, ERR_INVALID it is a folder, or no regular file. */
int files_check(const char *path, struct fw_err *err);
/** Append all of a file. */
int files_read_text(const char *path, struct buf *text, struct fw_err *err);
/** A benchmark's output, of the format that the options name, else of the one that it looks like. Own: reading_fini. */
int files_read(const char *path, const struct options *o, struct reading *out, struct fw_err *err);
/**
 * Two outputs that are to be compared, like for like (reading_pair): `path[0]` is the base. `warnings` gets what keeps them from being so, a sentence
 * a line; *unpaired how many names both have and neither can be compared by. Err: ERR_INVALID, also where the two are of different formats. Own:
 * reading_fini of both, reading[2], after 0.
 */
int files_read_pair(const char *const path[2], const struct options *o, struct reading reading[2], struct buf *warnings,
	int *unpaired, struct fw_err *err);
/** The row of `in` that is the same case as `row` of `of`; NULL none. */
const struct reading_row *files_counterpart(const struct reading *of, const struct reading_row *row, const struct reading *in);
/** Print the sentences of files_read_pair. */
void files_print_warnings(const struct buf *warnings, FILE *to);
/** Say what a file holds and no table shows: rows that failed and notes, to `to`, and rows that were left out, to stderr. `to` NULL: nothing. Returns how many failed. */
int files_warn_of_timeless(const struct reading *r, const char *file, FILE *to);
/**
 * The same of two files that are compared, base first: what both say alike of a row is printed once. Returns how many rows failed in the second file
 * and did not fail for the same reason in the first. Shapes: reading[2], path[2].
 */
int files_warn_of_both(const struct reading reading[2], const char *const path[2], FILE *to);
/** Write `text` to a file next to `path`, then rename it to `path`. */
int files_write(const char *path, const struct buf *text, struct fw_err *err);

/* ---- follow: Wait for jobs, with progress on standard error, over restarts of the daemon. ---- */

/** When `o->timeout_s` from now is over, as clock_mono_ns tells; INT64_MAX without one. */
int64_t follow_deadline(const struct options *o);

/** How one that is followed stands. False: it has ended. Shape: text[size]. */
typedef bool follow_describe_fn(const json_t *one, char *text, size_t size);
/** Wait until bisect or profile `id`, which is in /api/v1/KINDs/, has ended. Own: *out is the caller's. Err: ERR_TIMEOUT. */
int follow_one(struct client *c, const struct options *o, const char *kind, long long id, follow_describe_fn *describe,
	json_t **out, struct fw_err *err);

/**
 * The verdict at `path` (what GET /api/v1/jobs/{id}/verdict or /commits/{sha}/verdict answers) once all of its suites have ended. Own: *out is
 * the caller's. Err: ERR_TIMEOUT, and those of client.c.
 */
int follow_verdict(struct client *c, const struct options *o, const char *path, int64_t end_ns, json_t **out, struct fw_err *err);

/* ---- footnotes: Text below the tables of a comparison on a terminal: how kernels ran, warnings, next steps. ---- */

/** Print the remarks on a comparison (the API's body), a line each. */
void footnotes_print(const json_t *comparison, FILE *out);

/* ---- help: Help texts generated from the catalog: --help, man pages, completions. ---- */

/** All verbs in a line each, with examples first. */
void help_all(FILE *out);
/** One verb: examples, usage, what it does, its options. */
void help_verb(const struct catalog_verb *verb, FILE *out);
/** The same as the source of a man page, flopwatch-VERB(1), for scdoc. */
void help_man(const struct catalog_verb *verb, FILE *out);

/* ---- outcome: A worker's messages about one trial: builds, checks, times, what failed. ---- */

enum { OUTCOME_NOTES_MAX = 16, OUTCOME_FAULTS_MAX = 16, OUTCOME_TEXT_SIZE = 560 };

struct outcome_cell {
	char key[CASE_KEY_SIZE];
	double flops;     /* NAN unknown */
	double bytes;     /* of what is shown by them; NAN else */
	double ms;        /* median of the run; NAN none */
	char failure[16]; /* "" none */
	char detail[512];
};

struct outcome {
	struct msg_device device; /* kind DEVICE_ANY: no hello came */
	bool is_sandboxed;
	char build_state[8]; /* of the target; "" not reached */
	char build_detail[256];
	double build_s;
	struct buf log; /* of the build */
	int n_cells;
	struct outcome_cell *cell;
	int n_notes, n_faults, n_left; /* n_left: notes and faults that did not fit */
	char note[OUTCOME_NOTES_MAX][OUTCOME_TEXT_SIZE];
	struct {
		char failure[16], detail[OUTCOME_TEXT_SIZE];
	} fault[OUTCOME_FAULTS_MAX]; /* of no cell in particular */
	int runs;
	double check_s, run_s; /* wall time until the first run after the build, and of it */
	int64_t built_ns, launched_ns;
	bool is_done;
};

void outcome_init(struct outcome *o);
void outcome_fini(struct outcome *o);
/** The requested cells. */
void outcome_cells(struct outcome *o, const struct cell *cell, int n);
/** Take note of a message. */
void outcome_receive(struct outcome *o, const struct msg *m);
/** Cells with a time, cells that are not supported, cells that failed. */
void outcome_count(const struct outcome *o, int *timed, int *unsupported, int *failed);

/*
 * ---- tree ----
 * The working tree as git would have it, asked of flopwatch-git: what is tracked or new and not ignored, as it stands now.
 *
 * It leaves what `compare BASE .` leaves: objects, and a ref that no branch shows. Nothing is committed.
 */

struct tree {
	char root[4096]; /* of the checkout */
	char commit[65]; /* that stands for the files */
	bool has_manifest;
	struct buf text; /* of .flopwatch.yaml; empty without one */
	struct manifest manifest;
	char oid[MANIFEST_LIST_MAX][65]; /* of the manifest's inputs */
};

/**
 * Read the checkout around `folder`. Own: tree_free, also after an error. Err: ERR_NOT_FOUND no checkout, or neither a manifest nor what the defaults build;
 * ERR_INVALID mistakes of the manifest, with their places, or an input that is not there.
 */
int tree_open(struct tree *t, const char *folder, struct fw_err *err);
void tree_free(struct tree *t);
/** The text of suite `name`: of the tree, else installed. `file` is its name in messages. Own: `out` is a buf. Err: ERR_NOT_FOUND. */
int tree_suite(const struct tree *t, const char *name, struct buf *out, char file[1024], struct fw_err *err);
/** The archive of an input, in a new file, at its beginning. -1 with err. Own: close. */
int tree_pack(const struct tree *t, const char *oid, struct fw_err *err);
/** Whether `path` would travel with a push: it is in the tree. */
bool tree_holds(const struct tree *t, const char *path);
/** The first file called `name` in the checkout, whether git knows it or not. Shape: path[size], relative. */
bool tree_find(const struct tree *t, const char *name, char *path, size_t size);

/* ---- hint: What to do about what failed, as far as the words of compilers, programs and Python, and a look at the checkout, say. ---- */

enum { HINTS_MAX = 8, HINT_SIZE = 480 };

struct hints {
	int n;
	char text[HINTS_MAX][HINT_SIZE];
};

/** `run`: the program that was measured; NULL a module. */
void hint_all(const struct tree *t, const struct outcome *o, const struct benchmark *run, struct hints *out);

/* ---- interrupt: Ctrl-C while waiting: the first prints which jobs continue in the daemon, the second ends the program. ---- */

/** From now on the first SIGINT is only counted; the second ends the program with status 130. */
void interrupt_arm(void);
/** Whether a first one came since the last call. */
bool interrupt_came(void);

/*
 * ---- makefile ----
 * Which rules a Makefile has, as far as its text alone says: variables that are plain words, targets, recipes. Pure.
 *
 * It does not evaluate conditions or functions: what they would give is left out, and nobody finds it.
 */

struct makefile;

/** Read. Own: makefile_free. NULL without memory. */
struct makefile *makefile_read(const char *text);
void makefile_free(struct makefile *m);

/** Whether DEVICE is one of its variables, which then selects the kind of device to build for. */
bool makefile_knows_device(const struct makefile *m);
/**
 * The target that builds a program called `stem` (or, with `source`, what a pattern rule makes of it), and the file that it becomes; "{device}" stands for $(DEVICE).
 * Shape: target[size], file[size].
 */
bool makefile_program(const struct makefile *m, const char *stem, const char *source, char *target, char *file, size_t size);
/** The first shared object that it builds. Shape: file[size]. */
bool makefile_module(const struct makefile *m, char *file, size_t size);
/** The first rule whose recipe holds `word`: its target and its recipe (borrowed). Shape: target[size]. */
bool makefile_recipe(const struct makefile *m, const char *word, char *target, size_t size, const char **recipe);

/* ---- plain: Foreign text for a terminal: what a branch, a build or a module wrote cannot move the cursor or hide a word. ---- */

/** Print one line's worth of text; line ends in it become visible too. */
void plain_print(FILE *out, const char *text);
/** Print a line that may contain foreign text. */
void plain_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Print a text of many lines: line ends and tabs stay. Err: ERR_FULL it is too large. */
int plain_print_lines(FILE *out, const char *text, size_t len, struct fw_err *err);

/* ---- recognise: Whether a source file is a benchmark, and of which kind, by what it includes or imports. Pure. ---- */

/** Whether files that end so may be one: ".cu". */
bool recognise_suffix(const char *suffix);
/** By p->path and p->text; fills kind, why, output, uses_gpu. */
bool recognise(struct scan_program *p);
/** The word behind `option` in `text`, after a space or "=": the file of "--export-json FILE". False: it is not there, or is made by the shell. Shape: out[size]. */
bool recognise_option(const char *text, const char *option, char *out, size_t size);

/* ---- remote: Whether two addresses name the same git repository, however each is written. Pure, but for links in local paths. ---- */

/**
 * Whether `a` and `b` name one repository: ssh://, https://, git:// and scp's HOST:PATH, with and without user, password, default port,
 * `.git` and slashes at the end; hosts in any case. Ports count where both use the same scheme. Local paths, also as file://, are the same
 * where their links lead to the same place, and a checkout and its .git folder are one.
 */
bool remote_is_same(const char *a, const char *b);

/* ---- report: A comparison on a terminal. ---- */

/**
 * Print a comparison (the API's body): head line, one table a group and direction, then a warning for every cell whose loss is
 * beyond its threshold or that has no verdict. Absent numbers are dashes.
 */
void report_comparison(const json_t *comparison, FILE *out);

/* ---- service: System objects that an installed service needs: units, users, groups, user namespaces. ---- */

/** Look below `root` ("" this system) and add what is there and what is missing; nothing where flopwatch is no service there. */
void service_look(struct answers *a, const char *root);

/* ---- session: One job given to a flopwatch-worker of this machine, in the daemon's place: the same worker, asked once. ---- */

struct session_request {
	const struct tree *tree;
	const char *device;    /* kind or uuid; NULL: the best that is here */
	const char *read_only; /* a folder that branch code may read; NULL none */
	struct msg_job *job;   /* as sent, but for device */
	bool is_shown;         /* what happens now, as one line on standard error */
};

/** Run it to its end. Err: the worker cannot be started, has no such device, or ended in the middle, with its last line. */
int session_run(const struct session_request *request, struct outcome *out, struct fw_err *err);

/* ---- table: Columns for a terminal. ---- */

enum { TABLE_COLUMNS_MAX = 12 };

/**
 * Rows of cells, aligned when printed. A column whose title begins with '>' is aligned to the right; one with '~' before that is
 * left out where the terminal is too narrow, the last such first.
 */
struct table {
	int n_column;
	struct buf cells; /* NUL-separated, row by row, titles first */
};

/** Shape: titles[n_column]. */
void table_init(struct table *t, int n_column, const char *const *titles);
/** Append one cell; after n_column cells a row is full. Hidden characters become visible. */
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Append one cell, "-" where its value is not known. */
void table_cell_if(struct table *t, bool is_known, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Append four significant digits, "-" where `v` is not finite. */
void table_figure(struct table *t, double v);
/**
 * Print all rows, aligned. On a terminal (terminal.c) they fit its width: columns are left out, then the widest text is cut;
 * verdicts and states are coloured there.
 */
void table_print(struct table *t, FILE *out);
void table_fini(struct table *t);

/** A column, whose cells are a row's text, integer or percentage of that key, what `text` returns, or what `cell` appends. */
struct column {
	const char *title, *key, *integer, *percent;
	int cut;        /* bytes of a text at the most, 0 all of it */
	int digits;     /* of a percentage */
	bool is_change; /* which has a sign */
	const char *(*text)(const json_t *row);
	void (*cell)(struct table *t, const json_t *row);
};
/** Print a table with a line for each of `rows`. Shape: column[n_column]. */
void table_print_rows(const json_t *rows, int n_column, const struct column *column, FILE *out);

/* ---- terminal: What the terminal can show: its width and whether colours are wanted. ---- */

/** --color: "auto", "always" or "never". Err: -1 another word. */
int terminal_choose(const char *when);
/** Columns of `out`; 0: it is no terminal, so nothing has to fit. COLUMNS counts where it is set. */
int terminal_width(FILE *out);
/** Whether to colour what goes to `out`: a terminal, TERM not dumb, NO_COLOR not set, unless --color says otherwise. */
bool terminal_colors(FILE *out);
/** The sequence that begins the colour of a verdict or state ("" none), which TERMINAL_PLAIN ends. Own: a constant. */
const char *terminal_tone(const char *word);
#define TERMINAL_BOLD  "\033[1m"
#define TERMINAL_PLAIN "\033[0m"

/*
 * ---- torchao ----
 * A comparison of linear layers in the columns of torchao's microbenchmarks, whose scripts then go on working.
 *
 * One file a side, and one more for cases that were also timed backward. Ours are compiled kernels: their times stand in the columns of compiled
 * models, and those of eager ones are 0, which there means not measured; so is a total that was not timed as one call, for a forward by itself
 * is that of inference. What failed is a row, with its reason in a last column.
 */

/** Append the file of a side ("base", "target") of a comparison as the API gives it. Returns its rows; 0: nothing is appended. */
int torchao_write(const json_t *comparison, const char *side, bool is_training, struct buf *out);

/* ---- trial_report: A trial as lines for people, or as JSON. ---- */

/** One trial, of a suite or of a benchmark. */
struct report {
	const char *name; /* of the suite or benchmark */
	const struct tree *tree;
	const struct outcome *outcome;
	const struct benchmark *run; /* NULL: modules */
	const struct rule *rule;
	double budget_s;
	const struct hints *hints;
};

void report_print(const struct report *r, bool is_quiet, FILE *out);
/** Own: json_decref. */
json_t *report_json(const struct report *r);

/* ---- value: Reading the daemon's answers: values by key, with a plain default where one is absent or null. ---- */

/** "" when absent. Own: `o`'s. */
const char *value_text(const json_t *o, const char *key);
/** NAN when absent. */
double value_number(const json_t *o, const char *key);
/** 0 when absent. */
long long value_integer(const json_t *o, const char *key);
/** VERDICT_NONE when absent. */
enum verdict value_verdict(const json_t *o);
/** By what its family shows a cell to be fast: "tflops", "gb_s"; NULL: there is its time alone to speak of. */
const char *value_rate(const json_t *cell);
/** Branch names have a form for people beside their key. */
const char *value_branch(const json_t *o);

/* ---- why: Printing a profile: what explains each cell's difference, and its kernels beside each other. ---- */

/** Print an answer of GET /api/v1/profiles/{id}; `cell` NULL: all of its cells. The exit status that it deserves. */
int why_print(const struct options *o, const json_t *profile, const char *cell);

/* ---- write: A proposal as the text of .flopwatch.yaml, with what was guessed and why beside each line. Pure. ---- */

enum { WRITE_WORD_MAX = 250 }; /* bytes of one word of a command that a manifest takes */

void write_manifest(const struct proposal *p, struct buf *out);
/** The build as one line of the shell. */
void write_shell(const struct proposal *p, struct buf *out);

#endif
