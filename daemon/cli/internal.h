/** internal.h - declarations of the command line. */
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

/* ---- alerts ---- */

struct client;

/** Write what an alert (the API's object) reports: "ada/three-stages is 4.0 % slower in 6 cells"; without a slowdown, its title. */
void alert_finding(const json_t *alert, char out[FINDING_SIZE]);
/**
 * The open and acknowledged alerts of a repository (NULL: of all); those that cannot be read are left out, with a
 * warning. Own: json_decref.
 */
json_t *alert_live(struct client *c, const char *repo);
/** Return the alert of a branch (its key) with the largest slowdown; NULL: none. Borrowed. */
json_t *alert_slowest(const json_t *alerts, const char *repo, const char *branch);
/** Print the two answers to an alert whose cause was shown, or is not known; after an answer, its page. */
void alert_print_next(long long alert, enum alertstate state);
/** True for an alert of cells that are no longer measured: accepting it accepts no slowdown. */
bool alert_is_missing(const json_t *alert);
/** As alert_print_next, for an alert of any kind. */
void alert_print_step(const json_t *alert);

/* ---- answers: Results of checks, each with its state and advice, as text or as JSON. ---- */

enum health { OK, WARN, FAIL, HEALTH_N };

struct answer {
	char what[64], text[2048], advice[256]; /* advice: what the user should do; "" nothing */
	enum health health;
};

struct answers {
	int n;
	struct answer *answer; /* answer[n] */
};

/** Append an answer. Own: answers_fini frees. */
void answers_add(struct answers *a, enum health health, const char *what, const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void answers_fini(struct answers *a);
/** Parse "ok", "warn" or "fail"; HEALTH_N for any other text. */
enum health health_from_name(const char *name);
/** Print all answers on standard output; with `json` as {"ok", "checks"}. Returns whether none failed. */
bool answers_print(const struct answers *a, bool json);

/*
 * ---- client ----
 * Calls of the daemon's REST API.
 *
 * Err, the same for every call: ERR_IO the daemon cannot be reached; ERR_TIMEOUT it did not answer; ERR_NOT_FOUND, ERR_CONFLICT,
 * ERR_INVALID, ERR_BUSY, ERR_INTERNAL the daemon refused the call, with its message; ERR_FULL the answer is too large, or this
 * machine lacks memory or descriptors (`is_shortage`); ERR_PROTOCOL the answer is malformed. A request beyond the limit per minute
 * (429) is sent again after the time that the daemon names, with a line on standard error, five times at most.
 */

/** Start libcurl, once. False: it did not start. */
bool client_start(void);
/**
 * Make a client of `server`, such as "http://127.0.0.1:8451"; `token` is sent with every call, NULL none. Does not connect yet.
 * Own: client_close.
 * Err: ERR_INVALID it is not an address.
 */
int client_open(const char *server, const char *token, struct client **out, struct fw_err *err);
/** Make a client that refuses every request with the first line of `why`, for a verb that needs no server. Own: client_close. */
void client_open_refusing(const char *why, struct client **out);
/** Trust the certificates in `ca_file` instead of the system's. Err: ERR_INVALID it cannot be read, or its path is too long. */
int client_trust(struct client *c, const char *ca_file, struct fw_err *err);
/** A second connection to the same daemon. Own: client_close. */
int client_reopen(const struct client *c, struct client **out, struct fw_err *err);
/** Set the timeout of all further calls, which are not sent again after 429. Units: ms, above 0. */
void client_set_timeout(struct client *c, long timeout_ms);
/** Address of the daemon, without a trailing slash. Own: the client. */
const char *client_server(const struct client *c);
/** HTTP status of the last answer; 0: there was none. */
long client_status(const struct client *c);
/** Accepts NULL. */
void client_close(struct client *c);

/** GET `path` (with its query) as JSON. Own: the caller owns the reference. */
int client_get(struct client *c, const char *path, json_t **out, struct fw_err *err);
/** GET a list as one array, over all of the daemon's pages. */
int client_get_all(struct client *c, const char *path, json_t **out, struct fw_err *err);
/** GET raw bytes, appended to `out`. */
int client_get_raw(struct client *c, const char *path, struct buf *out, struct fw_err *err);
/** POST a JSON text ("" for none). `out` may be NULL. */
int client_post(struct client *c, const char *path, const char *body, json_t **out, struct fw_err *err);
/**
 * POST a JSON text to /api/v1/COLLECTION/ID/STEP: a user's action on one object. `out` may be NULL. Err: ERR_INVALID also if `id`
 * is too long for an address.
 */
int client_post_step(struct client *c, const char *collection, const char *id, const char *step, const char *body, json_t **out,
	struct fw_err *err);
/** POST and write the answer to `fd` while it is received; a file may be larger than memory. */
int client_post_to_file(struct client *c, const char *path, int fd, struct fw_err *err);
/** GET the bytes after the first `from` and write them to `fd` while they are received. */
int client_get_to_file(struct client *c, const char *path, int64_t from, int fd, struct fw_err *err);

/** One event; `data` is its JSON. Nonzero ends the stream. */
typedef int stream_fn(void *arg, const char *kind, const json_t *data);
/** Called about once a second, also if there are no events. Nonzero ends the stream. */
typedef int stream_idle_fn(void *arg);

/**
 * Follow /api/v1/events from now on until a callback ends it (0) or the connection to the daemon is closed (-1). *last is the id
 * to continue from, 0: now; it is updated, so that a call after a daemon's restart misses nothing. Err: ERR_CONFLICT the daemon
 * ended the stream, which it does from time to time: call again.
 */
int client_stream(struct client *c, long long *last, stream_fn *each, stream_idle_fn *idle, void *arg, struct fw_err *err);

/**
 * A member of a request. Its value is `text` if set, else `number` (0 only with `is_zero`), else true if `is_set`; else the
 * member is omitted.
 */
struct member {
	const char *key, *text; /* key NULL ends a list */
	long long number;
	bool is_zero, is_set;
};
/** Append a JSON object of these members. */
void client_write(struct buf *out, const struct member *members);
/** POST a JSON object of these members. `out` may be NULL. */
int client_post_members(struct client *c, const char *path, const struct member *members, json_t **out, struct fw_err *err);

/** GET `path` with these members as its query. Err: ERR_INVALID also if the query is too long. */
int client_get_query(struct client *c, const char *path, const struct member *query, json_t **out, struct fw_err *err);
/**
 * GET the rows of the branches of that name, of `repo`; NULL: of all repositories. Err: ERR_NOT_FOUND there is no such repository.
 * Own: the caller owns the reference.
 */
int client_get_branches(struct client *c, const char *repo, const char *branch, json_t **out, struct fw_err *err);

/** GET PREFIX ID SUFFIX as JSON, the id percent-encoded. */
int client_get_at(struct client *c, const char *prefix, const char *id, const char *suffix, json_t **out, struct fw_err *err);

/** Append `text` percent-encoded as a query argument. */
void client_argument(struct buf *out, const char *text);
/** Append NAME=value to the query of `path`; nothing if `value` is NULL. */
void client_query(struct buf *path, const char *name, const char *value);

/* ---- blockers: Lines below the tables of status and jobs: the reasons why jobs are not queued or do not progress. ---- */

/**
 * Print a line on standard output if the daemon starts no jobs, and one for each unreadable repository and each disconnected
 * worker; nothing if there are none, or for a request that the daemon does not answer. `repo` NULL: all repositories.
 */
void blockers_broken(struct client *c, const char *repo);
/**
 * Print why the jobs of `open`, a list of the API, do not progress: states of workers and devices, and what each job waits for.
 */
void blockers_waiting(struct client *c, const json_t *open);

/* ---- command: An argument vector, built argument by argument. Pure. ---- */

enum { COMMAND_WORDS_MAX = 16, COMMAND_WORD_SIZE = 256 };

struct command {
	int n;
	char word[COMMAND_WORDS_MAX][COMMAND_WORD_SIZE];
	bool is_shell; /* an argument needs the shell, such as "$FLOPWATCH_KIT" */
};

/** Append an argument. An argument that is too long is truncated; a manifest cannot contain it then, and is not written. */
void command_add(struct command *c, const char *word);
bool command_is_same(const struct command *a, const struct command *b);
/** Append `c` to `out`, quoted for the shell. */
void command_put_shell(const struct command *c, struct buf *out);
/** Whether a shell and YAML read the word as it is, without quotes. */
bool command_is_plain(const char *word);
/** Append `c` to `out` as a YAML list. */
void command_put_yaml(const struct command *c, struct buf *out);
/** Quote one argument so that YAML reads it as a string. */
void command_put_word(const char *word, struct buf *out);

/*
 * ---- scan ----
 * Contents of a checkout: benchmark programs, and the files that build them. Only reads files; runs nothing.
 *
 * A program is recognised by what it includes or imports. Hidden folders and build folders are skipped.
 */

enum {
	SCAN_PROGRAMS_MAX = 128,
	SCAN_BUILDERS_MAX = 64,
	SCAN_SUITES_MAX = 8,
	SCAN_ENVIRONMENTS_MAX = 24,
	SCAN_SKIPPED_MAX = 96,
	SCAN_HELPERS_MAX = 256,
	SCAN_DISTRIBUTIONS_MAX = 32,
	SCAN_ABSENT_MAX = 64,
	SCAN_PATH_SIZE = 256,
	SCAN_TEXT_MAX = 256 << 10
};

enum probe_kind {
	SCAN_NONE,
	SCAN_MODULE,       /* a shared object that exports fw_entry */
	SCAN_KIT_C,        /* a program that includes flopwatch.h */
	SCAN_KIT_GOOGLE,   /* Google Benchmark with flopwatch_benchmark.h */
	SCAN_KIT_PYTHON,   /* a script that imports flopwatch */
	SCAN_TIMED_PYTHON, /* a script that times with Triton's or PyTorch's own functions */
	SCAN_LINES_PYTHON, /* a script that prints a JSON object per cell */
	SCAN_PYTEST,       /* tests with the fixture of pytest-benchmark */
	SCAN_GOOGLE,
	SCAN_NVBENCH,
	SCAN_CATCH2,
	SCAN_HYPERFINE /* a shell script that runs hyperfine */
};

struct scan_program {
	enum probe_kind kind;
	char path[SCAN_PATH_SIZE]; /* relative to the root */
	char why[192];             /* how it was recognised: "includes flopwatch.h" */
	char output[128];          /* the file that it writes, according to its source; "" none */
	bool uses_gpu;
	bool is_indirect;         /* a script that times with functions of another file of the checkout */
	struct command arguments; /* that a script requires, each with its first choice */
	char choices[400];        /* of those arguments, for people; "" none */
	char search[64];          /* folders with the script's packages, separated by ":"; "" none */
	char modules[1024];       /* that a script imports and the checkout does not have, separated by spaces */
	char packages[1024];      /* of the checkout, and modules, that a script imports: "src/rows bench/utils" */
	int n_absent;             /* modules that this machine does not have: see missing_search */
	const char *absent[16];   /* their names. Own: the scan */
	struct buf text;          /* without comments */
};

/** A file that is similar to a benchmark, and the reason why it cannot be proposed. */
struct scan_skipped {
	char path[SCAN_PATH_SIZE];
	char why[256];
};

/** A Python file that reads the metadata of an installed package, and fails if the package is not installed. */
struct scan_distribution {
	char path[SCAN_PATH_SIZE];
	char name[64]; /* of the package, as the file spells it */
};

/** A build file: Makefile, CMakeLists.txt, setup.py, pyproject.toml. */
struct scan_builder {
	char dir[SCAN_PATH_SIZE]; /* relative to the root, "." the root itself */
	char name[32];
	struct buf text;
};

struct scan {
	char root[4096];
	int n_programs, n_builders, n_suites, n_environments, n_left, n_distributions;
	struct scan_skipped left[SCAN_SKIPPED_MAX];
	char environment[SCAN_ENVIRONMENTS_MAX][SCAN_PATH_SIZE]; /* files of requirements, and lock files */
	struct scan_program program[SCAN_PROGRAMS_MAX];
	struct scan_builder builder[SCAN_BUILDERS_MAX];
	struct scan_distribution distribution[SCAN_DISTRIBUTIONS_MAX];
	char suite[SCAN_SUITES_MAX][64];                /* from etc/suites or .flopwatch/suites */
	char result[SCAN_PATH_SIZE], result_format[24]; /* an existing output file of a benchmark; "" none */
	bool is_cut;                                    /* there are more files than the scan reads */
	int n_absent;                                   /* modules that this machine does not have: see missing_search */
	char absent[SCAN_ABSENT_MAX][64];
	char python[256];   /* the Python that was queried for them; "" none */
	bool has_no_answer; /* it did not answer */
	int n_helpers;
	struct script_helper *helper[SCAN_HELPERS_MAX]; /* files that scripts import, read once; see script.c */
};

/** Scan the checkout at `root`. Own: scan_free, also after an error. Err: `root` cannot be read. */
int scan_at(struct scan *l, const char *root, struct fw_err *err);
void scan_free(struct scan *l);

/** The build file `name` of folder `dir`, NULL none. */
const struct scan_builder *scan_builder(const struct scan *l, const char *dir, const char *name);
/** Read a regular file of the checkout; empty if it cannot be read, is no text or is too long for a source. Own: buf_fini. */
void scan_read(const struct scan *l, const char *path, struct buf *out);
/** Whether `path`, relative to the root, exists. */
bool scan_is_there(const struct scan *l, const char *path);

/** Folder of `path`: "bench" of "bench/sums.c", "." of "sums.c". Shape: dir[size]. */
void scan_dir(const char *path, char *dir, size_t size);
/** name` in folder `dir`, without a leading "./". Shape: out[size]. */
void scan_join(const char *dir, const char *name, char *out, size_t size);

/** A step of a build. Steps with equal words before their targets can become one with all targets. */
struct builder_step {
	struct command command;
	int n_before_targets; /* number of words; 0: the step has no targets */
	char output[256];     /* the file that gets its standard output; "" none */
	char why[320];
};

/*
 * ---- propose ----
 * Proposes a manifest for a checkout, with a reason for each line. Pure except for checks whether a file exists.
 */

enum {
	PROPOSE_BENCHMARKS_MAX = MANIFEST_BENCHMARKS_MAX,
	PROPOSE_STEPS_MAX = 12,
	PROPOSE_REASONS_MAX = 32,
	PROPOSE_NOTES_MAX = 12,
	PROPOSE_SKIPPED_MAX = SCAN_SKIPPED_MAX + SCAN_PROGRAMS_MAX
};

struct propose_benchmark {
	char name[64], why[320];
	struct command command;
	const char *reader;
	char output[128];   /* "" it prints its results */
	char artifact[256]; /* "" the whole folder */
	char choices[400];  /* of required arguments; "" none */
	char modules[1024]; /* of Python that it imports, separated by spaces */
	char absent[200];   /* of those that others do not need either, and this machine does not have; "" none */
	bool uses_gpu, needs_nvcc;
};

/** A program that a manifest only lists. */
struct propose_more {
	char path[SCAN_PATH_SIZE];    /* its source */
	char file[COMMAND_WORD_SIZE]; /* that its build makes; "" a script */
};

struct proposal {
	char module[256]; /* the module's path; "" none: then there are benchmarks */
	char module_why[320];
	char suite[SCAN_SUITES_MAX][64];
	char suite_why[160];
	int n_suites;
	int n_steps; /* of the build */
	struct builder_step step[PROPOSE_STEPS_MAX];
	int n_reasons;
	char why[PROPOSE_REASONS_MAX][320]; /* reasons for the build */
	int n_benchmarks;                   /* the most certain first */
	struct propose_benchmark benchmark[PROPOSE_BENCHMARKS_MAX];
	int n_more; /* benchmarks that are like those, and not named without --all */
	struct propose_more more[SCAN_PROGRAMS_MAX];
	int n_left; /* files that are not proposed, with their reasons */
	struct scan_skipped left[PROPOSE_SKIPPED_MAX];
	char environment[320]; /* of Python, "" none is described */
	int n_notes;           /* for the user: what was found and not used, and what may be missing */
	char note[PROPOSE_NOTES_MAX][400];
	int n_missing; /* modules and programs that this machine does not have: see missing_find */
	char missing[PROPOSE_NOTES_MAX][400];
	bool lacks_modules; /* of Python */
};

/**
 * Propose a manifest, without `want_all` of a few benchmarks if there are many. False: nothing measurable was recognised. The
 * notes then contain what was found.
 */
bool propose(const struct scan *l, bool want_all, struct proposal *out);

/* ---- environment: The files of a checkout that describe the Python environment of its benchmarks. Pure. ---- */

/** Write a line about the requirements of benchmarks, with `is_tests` also of tests; "": there are none. Shape: line[size]. */
void environment_describe(const struct scan *l, bool is_tests, char *line, size_t size);

/*
 * ---- metadata ----
 * The metadata of the checkout's own Python package, which its code may read with importlib.metadata or pkg_resources. Only an
 * installed package has them, and a benchmark runs from the sources. Pure except for checks whether a file exists.
 */

enum { METADATA_STEPS = 2 };

struct metadata {
	char name[64];            /* of the package, as the project declares it */
	char dir[SCAN_PATH_SIZE]; /* the folder that contains the package, and where Python finds metadata */
	struct builder_step step[METADATA_STEPS];
};

/** Find what the build writes for `program`, a Python script. False: the script and the packages that it imports need no metadata. */
bool metadata_find(const struct scan *l, const struct scan_program *program, struct metadata *out);

/* ---- missing: Modules and programs that the commands of a proposal need and the sandbox of this machine does not have. ---- */

/**
 * Find the modules of all programs that this machine does not have. Runs the sandbox's python3, which searches the modules but
 * does not import them.
 */
void missing_search(struct scan *l);
/** Fill `p->missing`, from the modules that missing_search found. */
void missing_find(const struct scan *l, struct proposal *p);

/*
 * ---- builder: How a program of a checkout is built: by a Makefile with a rule for it, by CMake, or by the compiler directly.
 * ----
 */

enum { BUILDER_STEPS_MAX = 2 };

/**
 * Steps that build `program`, to be run at the root, and the file that they build. 0: no way is known. Shape:
 * step[BUILDER_STEPS_MAX].
 */
int builder_find(
	const struct scan *l, const struct scan_program *program, struct builder_step *step, char file[COMMAND_WORD_SIZE]);
/** The step that builds the extensions of the Python package at the root. False: there are none. */
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

/* ---- servers: The named servers of the user, $XDG_CONFIG_HOME/flopwatch/servers.yml. ---- */

enum { SERVERS_MAX = 32, SERVERS_PATH_SIZE = 512, SERVERS_TOKEN_SIZE = 200 };

struct server {
	char name[64], url[256];
	char token_file[SERVERS_PATH_SIZE], ca_file[SERVERS_PATH_SIZE]; /* "": none */
};

struct servers {
	char path[SERVERS_PATH_SIZE]; /* of the file, whether it exists or not */
	int n;
	struct server server[SERVERS_MAX];
	const struct server *usual; /* `default` of the file; NULL: none */
};

struct options;
struct catalog_verb;

/** Read the file; without it there are none. -1: `why` has every mistake, one a line with its position. Own: why is a buf. */
int servers_read(struct servers *all, struct buf *why);
/** NULL: there is none of this name. Own: `all`. */
const struct server *servers_find(const struct servers *all, const char *name);
/** Open a client with the token and certificates of the server. Err: ERR_INVALID e.g. others can read the token's file. */
int servers_open(const struct server *s, struct client **out, struct fw_err *err);
/** Run the verb on each server, under its name. Returns the first exit status that is not EXIT_OK. */
int servers_run(const struct servers *all, const struct catalog_verb *verb, const struct options *o);

/** The parsed command line. */
struct options {
	const char *server, *token_file, *ca_file, *scope, *expires;
	const char *format, *unit, *time, *commit, *base;                          /* NULL: not given */
	const char *repo, *suite, *cells, *branch, *device, *state, *reason;       /* NULL: not given */
	const char *provider, *base_provider, *target_provider;                    /* NULL: not given */
	const char *base_config, *target_config;                                   /* NULL: not given */
	const char *base_toolchain, *target_toolchain, *base_flags, *target_flags; /* NULL: not given */
	const char *read_only;                                                     /* NULL: not given */
	const char *output, *export;                                               /* NULL: not given */
	const char *results, *metric, *kernel, *ids, *stdin_bytes;                 /* for files; NULL: not given */
	const char *color;
	const struct servers *servers; /* the named ones */
	bool all_servers;
	bool json, is_long, build, quick, progress, quiet, again, all, strict, watch, help, version, history, zstd;
	double threshold_pct; /* 0: not given */
	int timeout_s;        /* 0: none */
	int runs;             /* 0: the daemon's default */
	int limit;
	int launches, warmup;  /* for ncu files and programs under ncu; 0: not given */
	const char *artefacts; /* folder for files of profilers; NULL: not given */
	int n_arg;
	char **arg; /* arg[n_arg], after the verb */
};

/** Print the error of a call to the daemon as one line on stderr. Returns its exit status. */
int verb_fail(const struct fw_err *err);
/** Print that a part of a list is unknown, such as "the alerts"; nothing where the daemon does not have it (ERR_NOT_FOUND). */
void verb_warn_unknown(const char *what, const struct fw_err *err);
/**
 * As verb_fail, after a search for an object by a name from the arguments: ERR_CONFLICT, several objects have that name, is
 * EXIT_USAGE.
 */
int verb_fail_of_name(const struct fw_err *err);
/** Print an error of this program (a file, a child process) in the same way: always EXIT_ERROR. */
int verb_fail_here(const struct fw_err *err);
/** Print a line on stderr about invalid arguments: EXIT_USAGE. */
int verb_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Print an answer of the API unchanged, for --json. */
void verb_print_json(const json_t *answer);
typedef void verb_print_fn(const json_t *answer);
/**
 * GET the list at `path` with this query and print it: unchanged with --json; else the line `none` (NULL: no line) if it is
 * empty, else with `print`.
 */
int verb_show(struct client *c, const struct options *o, const char *path, const struct member *query, verb_print_fn *print,
	const char *none);
/** Whether an argument is a valid number of an alert, a comparison or another object. */
bool verb_is_number(const char *text);
/**
 * The digits of an object's number with its letter, such as "C32" or "c32" for 'C' (comparison), 'J' (job), 'A' (alert); any
 * other text as it is. Own: `text`.
 */
const char *verb_id(const char *text, char letter);
/** POST to /api/v1/COLLECTION/ID/STEP; the answer is not printed. */
int verb_step(struct client *c, const char *collection, const char *id, const char *step);
/** Print the API's answer about a job that was just queued, or the error. Own: releases `job`. */
int verb_new_job(const struct options *o, int result, json_t *job, const struct fw_err *err);
/** POST `request` to `path` and print the jobs that it queued. */
int verb_request_jobs(struct client *c, const struct options *o, const char *path, const struct member *request);

/** Exit status for a verdict: 0, 1, 3 or 7. */
int verb_status_of_verdict(enum verdict verdict);

typedef int verb_fn(struct client *c, const struct options *o);
/* These need no daemon. */
verb_fn verb_init, verb_try, verb_suite, verb_help, verb_config;
verb_fn verb_compare, verb_submit, verb_ci, verb_wait, verb_bisect, verb_profile, verb_why, verb_calibrate, verb_peer, verb_judge;
verb_fn verb_status, verb_servers, verb_watch, verb_jobs, verb_log, verb_history, verb_alerts, verb_notifications, verb_audit,
	verb_devices, verb_open;
verb_fn verb_cancel, verb_retry, verb_approve, verb_redeliver, verb_notify, verb_pause, verb_resume, verb_token;
verb_fn verb_import, verb_export, verb_reproduce, verb_backup, verb_doctor, verb_completion;
/** Whether compare has two files. */
bool compare_is_local(const struct options *o);
/** compare for two files; needs no daemon. */
int verb_compare_files(const struct options *o);

/*
 * ---- catalog: Every verb and option of the command line: the parser, --help, man pages and completions all read these tables.
 * ----
 */

/**
 * Kind of an argument or a value, for completion. CATALOG_REQUESTED: a name of the kind in `words`, from the daemon
 * (completion.c).
 */
enum catalog_kind { CATALOG_NONE, CATALOG_FILE, CATALOG_CHOICES, CATALOG_REQUESTED };

/** Type of an option's member in struct options: const char *, int above 0, double above 0 and below 100, bool. */
enum catalog_holds { CATALOG_TEXT, CATALOG_COUNT, CATALOG_PERCENT, CATALOG_FLAG };

enum { CATALOG_OPTIONS_MAX = 58 }; /* including the end mark */

struct catalog_option {
	const char *name;  /* without the dashes */
	const char *value; /* "FILE"; NULL: it takes no value */
	const char *what;  /* one line of help */
	enum catalog_kind kind;
	const char *words; /* CATALOG_CHOICES: values separated by spaces; CATALOG_REQUESTED: the kind of names */
	bool everywhere;   /* all verbs accept it */
	enum catalog_holds holds;
	size_t at; /* offset in struct options */
};

struct catalog_verb {
	const char *name;
	int min_arg, max_arg;
	verb_fn *run;
	const char *usage;   /* after "flopwatch "; alternatives on further lines */
	const char *what;    /* one line */
	const char *more;    /* one or more paragraphs, "" none */
	const char *options; /* names separated by spaces, in addition to those that all verbs accept */
	const char *example; /* lines "command  # what it does" */
	enum catalog_kind kind;
	const char *words; /* values of the first argument, with CATALOG_CHOICES */
	/** Whether it runs without a server, and so ignores mistakes in servers.yml. NULL: it needs a server. */
	bool (*is_local)(const struct options *o);
	const char *completes; /* by argument, the kind of names that completion requests, "-" none: "- alerts"; NULL: none */
};

/** The entry after the last has the name NULL. */
extern const struct catalog_verb catalog_verbs[];
extern const struct catalog_option catalog_options[];

/** Find a verb by its exact name; NULL: none. */
const struct catalog_verb *catalog_find(const char *name);
/** The verb with the most similar name, for a hint after a typing error; NULL: no name is similar. */
const struct catalog_verb *catalog_nearest(const char *name);
/** Whether the verb accepts this option. */
bool catalog_takes(const struct catalog_verb *verb, const struct catalog_option *option);

/* ---- checkout: The checkout and the repository that a command refers to. ---- */

/**
 * Cut `path` down to the root of the checkout that contains it. False: no checkout contains it, and `path` is now the top folder.
 */
bool checkout_climb(char *path);
/** The checkout of the current directory. Err: ERR_NOT_FOUND there is none. Shape: path[size]. */
int checkout_worktree(char *path, size_t size, struct fw_err *err);

/** The address of the remote origin of a checkout, a path as an absolute one; "" none. Shape: url[size]. */
void checkout_origin(const char *worktree, char *url, size_t size);
/** The branch that others are merged into: the default branch of origin, else main, else the current one. Shape: branch[size]. */
void checkout_upstream(const char *worktree, char *branch, size_t size);

/** The checkout of the current directory, and its watched repository. */
struct checkout {
	char worktree[4096]; /* root of the checkout; "" none */
	char repo[256];      /* the repository's name in the daemon; "" outside of a checkout */
	char remote[256];    /* the remote of the checkout that matches the repository; "" the daemon reads the checkout itself */
};

/**
 * Find the watched repository of this checkout: the daemon reads it from the checkout itself, or its address is that of one of
 * the remotes, in any notation. Outside of a checkout all of `out` is "". If remotes match several repositories, the order is:
 * the one that git pushes the current branch to, the one that it pulls it from, the one of origin. Err: ERR_NOT_FOUND the daemon
 * does not watch the repository of this checkout; the message names both. ERR_CONFLICT none of these rules selects one of
 * several.
 */
int checkout_find(struct client *c, struct checkout *out, struct fw_err *err);
/**
 * Return 0 if the daemon watches a repository of this checkout, or with --repo, which names the repository. Err: ERR_NOT_FOUND as
 * above.
 */
int checkout_check(struct client *c, const struct options *o, struct fw_err *err);
/** The full hash of the commit that is checked out in `worktree`. Err: ERR_INVALID it has none, or git is missing. */
int checkout_head(const char *worktree, char sha[65], struct fw_err *err);
/** Find the commit that git reads `name` as, in a checkout. Err: ERR_NOT_FOUND. */
int checkout_commit(const char *worktree, const char *name, char sha[65], struct fw_err *err);
/** Whether the checkout contains a commit of that branch of the watched repository that comes after `tip`, as after a push. */
bool checkout_has_newer(const struct checkout *here, const char *branch, const char *tip, char newer[65]);
/** Whether the checkout has a branch of that name which was never pushed to the remote that the daemon reads. */
bool checkout_is_unpushed(const struct checkout *here, const char *branch);
/**
 * Whether no branch of any remote contains the commit, as far as this checkout knows: its branch was not pushed since. `branch`
 * gets the branch that is checked out. False where git may not know it: without a branch, as in CI, and before the first fetch
 * or push. Shape: branch[size].
 */
bool checkout_is_commit_unpushed(const struct checkout *here, const char *sha, char *branch, size_t size);
/**
 * Resolve "." for a daemon that reads `repo` from elsewhere, by the address of a remote of this checkout: `sha` gets the
 * commit that is checked out; "" if the daemon reads this checkout itself, or no remote has that address. Err: ERR_NOT_FOUND that
 * commit is not in the repository, or tracked files are uncommitted; the message names the command that pushes.
 */
int checkout_pushed(struct client *c, const char *repo, char sha[65], struct fw_err *err);
/**
 * The repository that a command refers to: --repo, that of the current checkout, the only one, or the only one with a branch or
 * commit `what` (NULL: none was given). Shape: name[size]. EXIT_OK, else a line was printed: EXIT_USAGE several match,
 * EXIT_NOT_FOUND the daemon does not watch the repository of the current checkout.
 */
int checkout_repo(struct client *c, const struct options *o, const char *what, char *name, size_t size);
/** Set ERR_CONFLICT: `what` is in several repositories; `repos` contains their names, separated by commas. */
int checkout_request_which(const char *what, const char *repos, struct fw_err *err);

/* ---- conclude: Results after all suites ended: their tables, the combined result, and its exit status. ---- */

/**
 * Print the comparisons of a verdict, and why suites have none. The exit status: that of a regression if any suite regressed,
 * else that of the verdict, but EXIT_ERROR if the files of --export are not written, which is printed. Err: -1 with the reason
 * why nothing was measured at all.
 */
int conclude(struct client *c, const struct options *o, const json_t *verdict, struct fw_err *err);
/** Whether the only job of a verdict, or the first one, has ended as `state`. */
bool conclude_has_ended_as(const json_t *verdict, enum jobstate state);

/* ---- config: The daemon's check whether the objects that a configuration names exist. ---- */

#define CONFIG_USUAL "/etc/flopwatch/flopwatchd.yml"

/** Append the results of all checks. Can take minutes if servers do not answer. Err: ERR_INVALID the first error in the file. */
int config_check_objects(const char *file, struct answers *answers, struct fw_err *err);

/* ---- export: Comparisons as files in the formats of other projects' benchmarks. ---- */

struct export_to {
	const char *dir, *file; /* file: of the only file; NULL: named after the sides, in `dir` */
	const char *format;     /* "ffa", "torchao"; NULL: all that have rows */
	bool is_alone;          /* only the target's results */
	json_t *names;          /* gets the paths; NULL: print them */
	const char *artefacts;  /* folder of artefacts_profile with the memory of the cells; NULL none */
};

/**
 * Write the files of a comparison (the API's body). Returns their number, 0: it has no rows in these formats. Err: -1;
 * ERR_INVALID a file cannot be written, so that verb_fail gives the other statuses to errors of the daemon only.
 */
int export_files(struct client *c, const json_t *comparison, const struct export_to *to, struct fw_err *err);
/** The same for one of several suites, in a folder of its name unless it `is_only`; a suite without rows is named on stderr. */
int export_suite(struct client *c, const json_t *comparison, bool is_only, const struct export_to *to, struct fw_err *err);
/** Mark an error of a file, so that verb_fail has the status of this program's errors and not of the daemon's. Returns -1. */
int export_fail_here(struct fw_err *err);
/** Write the tables of doc/export.md as CSV files into the folder arg[0]. Returns the exit status. */
int export_tables(struct client *c, const struct options *o);
/** Print `names` of export_to as the answer of --json. */
void export_print_names(json_t *names);
typedef void export_print_fn(void *arg);
/** Write everything that `print` prints on standard output to DIR/output.txt instead. */
int export_output(const char *dir, export_print_fn *print, void *arg, struct fw_err *err);

/* ---- files: Result files on this machine. ---- */

/** Regression of throughput in percent that `compare` of two files reports without --threshold. */
#define FILES_THRESHOLD_PCT 1.5

/** Whether both are existing files, so that `compare` compares files and not branches. */
bool files_are(const char *a, const char *b);
/**
 * Whether an argument of `compare` can only be a file, by its beginning (/, ./, ../) or by a suffix of benchmark outputs. A
 * branch name may contain a slash.
 */
bool files_looks_like_one(const char *name);
/** Check that a file exists. Err: ERR_NOT_FOUND it does not exist, ERR_INVALID it is a folder, or not a regular file. */
int files_check(const char *path, struct fw_err *err);
/** Append the contents of a file. */
int files_read_text(const char *path, struct buf *text, struct fw_err *err);
/** Read a benchmark's output, in the format that the options name, else in the detected one. Own: reading_fini. */
int files_read(const char *path, const struct options *o, struct reading *out, struct fw_err *err);
/**
 * Read two outputs for a comparison, from the files or, with --stdin, from standard input, with equal units and metrics (reading_pair): `path[0]` is the base. `warnings` gets
 * obstacles to that, a sentence per line; *unpaired the number of names that both have without a common metric. Err: ERR_INVALID,
 * also if the formats differ. Own: reading_fini of both, reading[2], after 0. `traffic`: of ncu files without --metric also the
 * metrics of memory traffic.
 */
int files_read_pair(const char *const path[2], const struct options *o, bool traffic, struct reading reading[2],
	struct buf *warnings, int *unpaired, struct fw_err *err);
/** The row of `in` for the same case as `row` of `of`; NULL none. */
const struct reading_row *files_counterpart(const struct reading *of, const struct reading_row *row, const struct reading *in);
/** Print the warnings of files_read_pair. */
void files_print_warnings(const struct buf *warnings, FILE *to);
/**
 * Print what tables do not show: failed rows and notes to `to`, omitted rows to stderr. `to` NULL: nothing. Returns how many rows
 * failed.
 */
int files_warn_of_timeless(const struct reading *r, const char *file, FILE *to);
/**
 * The same for two files that are compared, base first: what both contain alike about a row is printed once. Returns how many
 * rows failed in the second file and did not fail for the same reason in the first. Shapes: reading[2], path[2].
 */
int files_warn_of_both(const struct reading reading[2], const char *const path[2], FILE *to);
/** Write `text` to a file next to `path`, then rename it to `path`. */
int files_write(const char *path, const struct buf *text, struct fw_err *err);

/* ---- follow: Wait for jobs, with progress on standard error, also across restarts of the daemon. ---- */

/** End of `o->timeout_s` from now, in the time of clock_mono_ns; INT64_MAX without a timeout. */
int64_t follow_deadline(const struct options *o);

/** Describe the state of a followed object. False: it has ended. Shape: text[size]. */
typedef bool follow_describe_fn(const json_t *one, char *text, size_t size);
/** Wait until bisect or profile `id`, at /api/v1/KINDs/, has ended. Own: the caller owns *out. Err: ERR_TIMEOUT. */
int follow_one(struct client *c, const struct options *o, const char *kind, long long id, follow_describe_fn *describe,
	json_t **out, struct fw_err *err);

/**
 * Wait for the verdict at `path` (the answer of GET /api/v1/jobs/{id}/verdict or /commits/{sha}/verdict) until all of its suites
 * have ended. Own: the caller owns *out. Err: ERR_TIMEOUT, and those of client.c.
 */
int follow_verdict(struct client *c, const struct options *o, const char *path, int64_t end_ns, json_t **out, struct fw_err *err);

/* ---- footnotes: Text below the tables of a comparison on a terminal: how kernels ran, warnings, next steps. ---- */

/** Print the footnotes of a comparison (the API's body), a line each. */
void footnotes_print(const json_t *comparison, FILE *out);
/** Print those of them that limit every result of the comparison, a line each. */
void footnotes_notes(const json_t *comparison, FILE *out);
/** Write why a cell is undecided. Shape: out[size]. */
void footnotes_undecided(const json_t *cell, char *out, size_t size);

/** Write how much the host's time of a call grew, if the cell has that flag, else "". Shape: out[EXPLAIN_SIZE]. */
void footnotes_host_time(const json_t *cell, char *out);

/* ---- help: Help texts generated from the catalog: --help, man pages, completions. ---- */

/** Print all verbs, one per line, after some examples. */
void help_all(FILE *out);
/** Print the help of one verb: examples, usage, description, options. */
void help_verb(const struct catalog_verb *verb, FILE *out);
/** Print the same as the source of a man page, flopwatch-VERB(1), for scdoc. */
void help_man(const struct catalog_verb *verb, FILE *out);

/* ---- job_name: The job that the argument of a verb names. ---- */

enum { JOB_ID_SIZE = 32 };
enum job_wanted {
	JOB_NEWEST,   /* of a branch the newest job */
	JOB_ONLY_OPEN /* of a branch the only job that has not ended */
};

/**
 * Find the job that the first argument names: its number, with or without J, or a branch. *is_branch: it is not a number.
 * EXIT_OK, else a line was printed: EXIT_NOT_FOUND there is none, EXIT_USAGE several repositories have the branch, or several
 * open jobs, which the line names.
 */
int job_find(struct client *c, const struct options *o, enum job_wanted wanted, char id[JOB_ID_SIZE], bool *is_branch);

/* ---- outcome: A worker's messages about one trial: builds, checks, times, failures. ---- */

enum { OUTCOME_NOTES_MAX = 16, OUTCOME_FAULTS_MAX = 16, OUTCOME_TEXT_SIZE = 560 };

struct outcome_cell {
	char key[CASE_KEY_SIZE];
	double flops;     /* NAN unknown */
	double bytes;     /* NAN for cells that are not shown by bytes */
	double ms;        /* median of the run; NAN none */
	char failure[16]; /* "" none */
	char detail[512];
};

struct outcome {
	struct msg_device device;     /* kind DEVICE_ANY: no hello was received */
	struct msg_location location; /* of the worker's cache */
	bool is_sandboxed;
	char module_sha256[2][65]; /* of the base and of the target; "" not built */
	char build_state[8];       /* of the target; "" not reached */
	char build_detail[256];
	double build_s;
	struct buf log; /* of the build */
	int n_cells;
	struct outcome_cell *cell;
	int n_notes, n_faults, n_left; /* n_left: number of notes and failures that did not fit */
	char note[OUTCOME_NOTES_MAX][OUTCOME_TEXT_SIZE];
	struct {
		char failure[16], detail[OUTCOME_TEXT_SIZE];
	} fault[OUTCOME_FAULTS_MAX]; /* failures that belong to no cell */
	int runs;
	double check_s, run_s; /* wall time from the build to the first run, and of the runs */
	int64_t built_ns, launched_ns;
	bool is_done;
};

void outcome_init(struct outcome *o);
void outcome_fini(struct outcome *o);
/** Set the requested cells. */
void outcome_cells(struct outcome *o, const struct cell *cell, int n);
/** Record a message. */
void outcome_receive(struct outcome *o, const struct msg *m);
/** Count cells with a time, unsupported cells, failed cells. */
void outcome_count(const struct outcome *o, int *timed, int *unsupported, int *failed);

/*
 * ---- tree ----
 * The working tree as git sees it, read through flopwatch-git: files that are tracked, or new and not ignored, with their current
 * contents.
 *
 * It writes the same as `compare BASE .`: objects, and a ref that is on no branch. Nothing is committed.
 */

struct tree {
	char root[4096]; /* of the checkout */
	char commit[65]; /* represents the files */
	bool has_manifest;
	struct buf text; /* of .flopwatch.yaml; empty without one */
	struct manifest manifest;
	char oid[MANIFEST_LIST_MAX][65]; /* of the manifest's inputs */
};

/**
 * Read the checkout of `folder`. Own: tree_free, also after an error. Err: ERR_NOT_FOUND no checkout, or neither a manifest nor
 * files that the default build needs; ERR_INVALID errors in the manifest, with their positions, or a missing input.
 */
int tree_open(struct tree *t, const char *folder, struct fw_err *err);
/** The same for a commit of that checkout, by any name that git reads. */
int tree_open_commit(struct tree *t, const char *folder, const char *name, struct fw_err *err);
void tree_free(struct tree *t);
/**
 * Read suite `name`: from the tree, else the installed one. `file` is its name in messages. Own: `out` is a buf. Err:
 * ERR_NOT_FOUND.
 */
int tree_suite(const struct tree *t, const char *name, struct buf *out, char file[1024], struct fw_err *err);
/** Write the archive of an input to a new file. Returns its descriptor at position 0, or -1 with err. Own: close. */
int tree_pack(const struct tree *t, const char *oid, struct fw_err *err);
/** Whether a push would include `path`: it is in the tree. */
bool tree_holds(const struct tree *t, const char *path);
/** Find the first file called `name` in the checkout, tracked or not. Shape: path[size], relative. */
bool tree_find(const struct tree *t, const char *name, char *path, size_t size);

/*
 * ---- hint: Advice after failures, from the messages of compilers, programs and Python, and from the files of the checkout. ----
 */

enum { HINTS_MAX = 8, HINT_SIZE = 480 };

struct hints {
	int n;
	char text[HINTS_MAX][HINT_SIZE];
};

/** run`: the program that was measured; NULL for a module. */
void hint_all(const struct tree *t, const struct outcome *o, const struct benchmark *run, struct hints *out);
/**
 * Append advice if a comparison needs more device time than its budget: the key of the manifest, or of suite `suite` without `run`,
 * that selects rows, with one of them. Units: s.
 */
void hint_budget(const struct outcome *o, const struct benchmark *run, const char *suite, double least_s, double budget_s,
	struct hints *out);

/* ---- programs: Memory traffic of benchmark programs of the working tree, counted by Nsight Compute on this machine. ---- */

/** Find a program of Nsight in PATH, else in the usual folder of CUDA. Shape: path[size]. */
bool programs_find(const char *name, char *path, size_t size);
/** Write the last line that a program printed, for a message. Shape: out[size]. */
void programs_last_line(const struct buf *text, char *out, size_t size);
/** Whether the manifest has a benchmark whose name matches. */
bool programs_match(const struct tree *t, const char *glob);
/**
 * Run each matching benchmark (o->suite) under ncu, write profile_NAME.csv, ncu's own output, and traffic.csv to o->artefacts, and
 * print traffic for each program and kernel. Err: ERR_NOT_FOUND ncu is not installed; ERR_INVALID the number of calls is unknown,
 * or no kernel has so many launches; ERR_IO the program failed.
 */
int programs_profile(const struct tree *t, const struct options *o, struct fw_err *err);

/* ---- artefacts: Files of profilers for every cell of a suite of the working tree, or of two commits, made on this machine. ---- */

/**
 * Build both sides (o->arg: two commits; none: the working tree, with o->base_provider and o->target_provider), run every cell of
 * o->suite on both under ncu and nsys where these are installed, and write their files, memory and scripts to o->artefacts, a new
 * or empty folder. Prints what is missing, and a last line. Returns the exit status: EXIT_OK everything was written that installed
 * tools can write, EXIT_ERROR a tool failed for some cells or nothing was written, EXIT_USAGE, EXIT_NOT_FOUND, EXIT_UNDECIDED no
 * cell could run, EXIT_INTERRUPTED.
 */
int artefacts_profile(const struct options *o);
/** Write a text with other characters than letters, digits, `.` and `-` as `_`. Shape: out[size]. -1: it is cut. */
int artefacts_path_name(const char *text, char *out, size_t size);
/** Write the path of the memory of a cell ("json", or its picture, "svg") on a side. Shape: out[size]. False: it is too long. */
bool artefacts_memory_path(const char *folder, const char *side, const char *key, const char *suffix, char *out, size_t size);
/** The same for the timeline of its calls, in Chrome's Trace Event Format. */
bool artefacts_trace_path(const char *folder, const char *side, const char *key, char *out, size_t size);
/** Append the picture of the memory that flopwatch-runner --memory printed. */
void artefacts_picture(const json_t *memory, const char *side, struct buf *svg);

/* ---- interrupt: Ctrl-C while waiting: the first prints which jobs continue in the daemon, the second ends the program. ---- */

/** From now on the first SIGINT is only counted; the second ends the program with status 130. */
void interrupt_arm(void);
/** Whether a first SIGINT was received since the last call. */
bool interrupt_came(void);

/*
 * ---- makefile ----
 * The rules of a Makefile, as far as they follow from its text: variables with literal values, targets, recipes. Pure.
 *
 * It does not evaluate conditions or functions: targets that depend on them are not found.
 */

struct makefile;

/** Parse a Makefile. Own: makefile_free. NULL: no memory. */
struct makefile *makefile_read(const char *text);
void makefile_free(struct makefile *m);

/** Whether DEVICE is a variable of the Makefile, which then selects the kind of device to build for. */
bool makefile_knows_device(const struct makefile *m);
/**
 * The target that builds a program called `stem` (or, with `source`, the result of a pattern rule for it), and the file that it
 * builds; "{device}" represents $(DEVICE).
 * Shape: target[size], file[size].
 */
bool makefile_program(const struct makefile *m, const char *stem, const char *source, char *target, char *file, size_t size);
/** The first shared object that the Makefile builds. Shape: file[size]. */
bool makefile_module(const struct makefile *m, char *file, size_t size);
/** The first rule whose recipe contains `word`: its target and its recipe (borrowed). Shape: target[size]. */
bool makefile_recipe(const struct makefile *m, const char *word, char *target, size_t size, const char **recipe);

/*
 * ---- plain: Untrusted text on a terminal: text from a branch, a build or a module must not move the cursor or hide output. ----
 */

/** Print text that belongs on one line; line ends in it are made visible too. Without memory, '?' for all but printable ASCII. */
void plain_print(FILE *out, const char *text);
/** Print a line that may contain untrusted text. Without memory, as above, the beginning of a line of over 4 KiB. */
void plain_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Print a text of many lines: line ends and tabs are retained. Err: ERR_FULL it is too large. */
int plain_print_lines(FILE *out, const char *text, size_t len, struct fw_err *err);

/*
 * ---- python ----
 * Facts about a Python script, from its text: imports, required arguments, timers, whether it runs by itself. Pure.
 *
 * Statements are one a line, with their indentation and without comments and docstrings.
 */

enum { PYTHON_IMPORTS_MAX = 64, PYTHON_NEEDS_MAX = 8 };

/** A required argument without a default. */
struct python_need {
	char name[48];                /* "--kernel-name"; of a positional argument, its name */
	char first[64], choices[200]; /* the first and all of its choices; "" none are known */
};

struct python_script {
	bool has_guard;   /* if __name__ == "__main__" */
	bool has_work;    /* a statement outside of functions that runs something */
	bool has_fixture; /* a test with the parameter `benchmark` */
	bool is_relative; /* imports from its package */
	int n_imports, n_needs;
	char import[PYTHON_IMPORTS_MAX][128]; /* modules; of "from a import b" both a and a.b */
	struct python_need need[PYTHON_NEEDS_MAX];
};

/** Write the statements of `text`. */
void python_statements(const char *text, struct buf *out);
void python_read(const char *statements, struct python_script *out);
/** The module with the timer that is called, such as "triton.testing"; NULL none. Own: a constant. */
const char *python_timer(const char *statements);
/**
 * Names of the packages whose metadata `statements` read outside of try; "__name__" and "__package__" unchanged. Returns their
 * number. Shape: name[max].
 */
int python_distributions(const char *statements, char (*name)[64], int max);
/** Whether a function of `helper`, the statements of another file, is called that uses such a timer. */
bool python_calls_timer_of(const char *statements, const char *helper);

/* ---- script: Whether a Python script is a benchmark that one command runs, and what that command needs. ---- */

enum script_position { SCRIPT_ELSEWHERE, SCRIPT_BENCHMARKS, SCRIPT_TESTS };

/** Position of a file, by the names of its folders and its own. */
enum script_position script_position(const char *path);
/**
 * Complete `p`, recognised or not: kind, arguments, folders to search, modules. False: it cannot be proposed, with the reason;
 * `why` is "" if it is not similar to a benchmark. Shape: why[size].
 */
bool script_judge(struct scan *l, struct scan_program *p, char *why, size_t size);
/** Free the files that script_judge has read for `l`. */
void script_forget(struct scan *l);

/* ---- recognise: Whether a source file is a benchmark, and of which kind, from its includes or imports. Pure. ---- */

/** Whether files with this suffix, such as ".cu", may be benchmarks. */
bool recognise_suffix(const char *suffix);
/** Recognise from p->path and p->text; fills kind, why, output, uses_gpu. */
bool recognise(struct scan_program *p);
/** The first call or definition of the function or macro `name`, also as an attribute, in `text`; NULL: none. Shape: text[len]. */
const char *recognise_call(const char *text, size_t len, const char *name);
/** Whether `text` names something of CUDA, or a library that uses it. */
bool recognise_gpu(const char *text);
/** Remove the comments of C and C++ from `text`. */
void recognise_without_comments(const char *text, struct buf *out);
/**
 * The argument of `option` in `text`, after a space or "=": the file of "--export-json FILE". False: it is missing, or computed
 * by the shell. Shape: out[size].
 */
bool recognise_option(const char *text, const char *option, char *out, size_t size);

/*
 * ---- remote: Whether two addresses name the same git repository in different notations. Pure except for links in local paths.
 * ----
 */

/**
 * Whether `a` and `b` name one repository: ssh://, https://, git:// and scp's HOST:PATH, with and without user, password, default
 * port, `.git` and trailing slashes; hosts in any case. Ports are compared if both use the same scheme. Local paths, also as
 * file://, are equal if they resolve to the same path; a checkout and its .git folder are the same.
 */
bool remote_is_same(const char *a, const char *b);

/* ---- report: A comparison on a terminal. ---- */

/**
 * Print a comparison (the API's body): head line, one table per group and direction, then a warning for every cell whose
 * regression is beyond its threshold or that has no verdict. Absent numbers are dashes.
 */
void report_comparison(const json_t *comparison, FILE *out);
/**
 * Print the conditions of a comparison and the limits of its result, a line each: settings, noise, cells without a pair.
 * `is_base_known`: why it has no base was printed for another comparison.
 */
void report_notes(const json_t *comparison, bool is_base_known, FILE *out);
/** Whether an earlier comparison of the list has the same reason to have no base. */
bool report_is_base_known(const json_t *comparisons, size_t at);
/** Write the flags of a cell that a reader has to know, by comma. Shape: out[size]. */
void report_flags(const json_t *cell, char *out, size_t size);

/* ---- service: System objects that an installed service needs: units, users, groups, user namespaces. ---- */

/**
 * Check below `root` ("" this system) and append what exists and what is missing; nothing if flopwatch is not installed as a
 * service there.
 */
void service_check(struct answers *a, const char *root);

/* ---- progress: The current step of a long command, with its time, on standard error. ---- */

enum { PROGRESS_TEXT_SIZE = 320 };

enum progress_style {
	PROGRESS_NONE,    /* --quiet */
	PROGRESS_CHANGES, /* on a terminal: one line, which changes */
	PROGRESS_RARE,    /* in a pipe, where each line is stored: the begin of each part, and one line a minute */
	PROGRESS_STEPS    /* --progress: a line for each step */
};

struct progress {
	FILE *out;
	enum progress_style style;
	int64_t begun_ns;
	int64_t next_ns;               /* of PROGRESS_RARE: no line earlier than this */
	char step[PROGRESS_TEXT_SIZE]; /* "" none is shown */
};

/** Show steps on `out`, in the style that --quiet, --progress and `out` require. */
void progress_start(struct progress *p, const struct options *o, FILE *out);
/** Show the first step of a part of the work, such as a suite: a pipe gets it at once. */
void progress_begin(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Show a step in place of the previous one; its time begins now, unless it is the same. */
void progress_step(struct progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Show the time of the step; to be called about once a second. */
void progress_tick(struct progress *p);
/** Remove the line, so that other output can follow. */
void progress_clear(struct progress *p);

/* ---- session: One job, sent to a flopwatch-worker of this machine in place of the daemon. ---- */

struct session_request {
	const struct tree *tree;
	const char *device;    /* kind or uuid; NULL: the best local device */
	const char *read_only; /* a folder that branch code may read; NULL none */
	struct msg_job *job;   /* as sent, except the device */
	const char *label;     /* of the suite or benchmark, for steps */
	bool builds_only;      /* nothing is measured; `device` is a kind, which need not exist */
	struct progress *progress;
};

/** The device of this kind or uuid; NULL `wanted`: the worker's first, which is its best, but not sim. NULL: there is none. */
const struct msg_device *session_device(const struct msg_hello *h, const char *wanted);

/** Run the job to its end. Err: the worker cannot be started, has no such device, or ended early, with its last line. */
int session_run(const struct session_request *request, struct outcome *out, struct fw_err *err);

/* ---- summary: A verdict in a few lines: the finding first, the worst five cells, the cause, the next command last. ---- */

/**
 * Print the finding, and without --long the worst cells, the reasons of cells without a clear result, and notes. `comparisons`:
 * their bodies, not empty.
 */
void summary_begin(struct client *c, const struct options *o, const json_t *verdict, const json_t *comparisons);
/** Write the finding of one comparison (the API's body). */
void summary_finding(const json_t *comparison, char out[FINDING_SIZE]);
enum { SUMMARY_WHY_SIZE = 1200 };
/** Write why the cause of a comparison without a profile is not known. Returns whether it times a benchmark program. */
bool summary_unprofiled(const json_t *comparison, char out[SUMMARY_WHY_SIZE]);
/** Print the cause of a regression, the numbers of the objects, and the next command. */
void summary_end(struct client *c, const struct options *o, const json_t *verdict, const json_t *comparisons);

/* ---- table: Columns for a terminal. ---- */

enum { TABLE_COLUMNS_MAX = 12 };

/**
 * Rows of cells, aligned when printed. A column whose title begins with '>' is right-aligned; one with '~' before that is dropped
 * if the terminal is too narrow, the last such column first. Without any title there is no line of titles.
 */
struct table {
	int n_column;
	struct buf cells; /* NUL-separated, row by row, titles first */
};

/** Shape: titles[n_column]. */
void table_init(struct table *t, int n_column, const char *const *titles);
/** Append one cell; a row is complete after n_column cells. Control characters are made visible. */
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Append one cell, "-" if its value is not known. */
void table_cell_if(struct table *t, bool is_known, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Append four significant digits, "-" if `v` is not finite. */
void table_figure(struct table *t, double v);
/**
 * Print all rows, aligned. On a terminal (terminal.c) they fit its width: columns are dropped, then the widest text is truncated;
 * verdicts and states are coloured. Err: if a cell is missing, since memory is exhausted or a limit is exceeded, it prints one
 * line on stderr and ends the program with EXIT_ERROR.
 */
void table_print(struct table *t, FILE *out);
void table_fini(struct table *t);

/** A column. Its cells are the row's text, integer or percentage of that key, the result of `text`, or appended by `cell`. */
struct column {
	const char *title, *key, *integer, *percent;
	int cut;        /* maximum bytes of a text, 0 unlimited */
	int digits;     /* of a percentage */
	bool is_change; /* the percentage has a sign */
	const char *(*text)(const json_t *row);
	void (*cell)(struct table *t, const json_t *row);
};
/** Print a table with a line for each of `rows`. Shape: column[n_column]. */
void table_print_rows(const json_t *rows, int n_column, const struct column *column, FILE *out);

/* ---- terminal: Capabilities of the terminal: its width and whether to use colours. ---- */

/** Set --color: "auto", "always" or "never". Err: -1 any other text. */
int terminal_choose(const char *when);
/** Columns of `out`; 0: it is not a terminal, so that the width is unlimited. COLUMNS takes precedence. */
int terminal_width(FILE *out);
/** Whether to colour output to `out`: a terminal, TERM not dumb, NO_COLOR not set, unless --color overrides this. */
bool terminal_colors(FILE *out);
/** The sequence that begins the colour of a verdict or state ("" none); TERMINAL_PLAIN ends it. Own: a constant. */
const char *terminal_tone(const char *word);
#define TERMINAL_BOLD  "\033[1m"
#define TERMINAL_PLAIN "\033[0m"

/*
 * ---- torchao ----
 * A comparison of linear layers in the columns of torchao's microbenchmarks, so that its scripts can read it.
 *
 * One file per side, and another for cases that were also timed backward. Our kernels are compiled: their times are in the
 * columns of compiled models. Times of eager models are 0, which means not measured. So is a total that was not timed as one
 * call, because a separate forward is that of inference. A failure is a row, with its reason in an additional last column.
 */

/**
 * Append the file of a side ("base", "target") of a comparison from the API. Returns the number of rows; 0: nothing is appended.
 * `artefacts`: folder of artefacts_profile, whose traces and files of memory are named where they exist; NULL none.
 */
int torchao_write(const json_t *comparison, const char *side, bool is_training, const char *artefacts, struct buf *out);

/* ---- trial_report: A trial as text or as JSON. ---- */

/** One trial, of a suite or of a benchmark. */
struct report {
	const char *name; /* of the suite or benchmark */
	const struct tree *tree;
	const struct outcome *outcome;
	const struct benchmark *run; /* NULL: modules */
	const struct rule *rule;
	double budget_s;
	const struct hints *hints;
	bool is_long;  /* also print the cost of a turn */
	bool is_alone; /* no other suite or benchmark is tried: the total has its cost */
};

/**
 * Estimate the device time of a comparison of two such commits: `least` if its runs agree. Cells whose runs vary get more runs
 * until the budget ends, and later runs may take longer than the timed one, so only the budget is an upper bound: `most`, also if
 * `least` is more. Units: s. False: nothing was timed.
 */
bool report_cost(const struct report *r, double *least, double *most);
/** The first words of the note about turns, which only interleaved programs have; printed with --long only. */
extern const char report_turns[];
void report_print(const struct report *r, bool is_quiet, FILE *out);

/** Device time of one comparison, summed over suites and benchmarks. */
struct report_total {
	int n_cells; /* with a time */
	double least_s, most_s;
	int n_untimed; /* suites and benchmarks without a time */
	bool is_part;  /* a push measures more suites */
};

void report_add(const struct report *r, struct report_total *t);
/** Print the sum as one line; nothing if no cell has a time. */
void report_print_total(const struct report_total *t, FILE *out);
/** Own: json_decref. */
json_t *report_json(const struct report *r);

/* ---- value: Read the daemon's answers: values by key, with a default if one is absent or null. ---- */

/** "" when absent. Own: `o`. */
const char *value_text(const json_t *o, const char *key);
/** NAN when absent. */
double value_number(const json_t *o, const char *key);
/** 0 when absent. */
long long value_integer(const json_t *o, const char *key);
enum { VALUE_BEHIND_SIZE = 96 };
/** Write what a queued job waits for: "behind J7 (bisect) and 2 queued jobs"; "" if that is not known. */
void value_behind(const json_t *job, char text[VALUE_BEHIND_SIZE]);
/** VERDICT_NONE when absent. */
enum verdict value_verdict(const json_t *o);
/** The rate that the cell's family shows: "tflops", "gb_s"; NULL: only the time. */
const char *value_rate(const json_t *cell);
/** Whether the cell is a row of a benchmark program, not of a kernel family. */
bool value_is_program(const json_t *cell);
enum { VALUE_AGE_SIZE = 32, VALUE_LABEL_SIZE = 64 };
/** Write a name with spaces instead of underscores; "" when absent. Shape: out[VALUE_LABEL_SIZE]. */
void value_label(const json_t *o, const char *key, char out[VALUE_LABEL_SIZE]);
/** Write the age of a time: "6 h ago"; "" when absent. Shape: out[VALUE_AGE_SIZE]. */
void value_age(const json_t *o, const char *key, char out[VALUE_AGE_SIZE]);
/** Display name of a branch, which may differ from its key. */
const char *value_branch(const json_t *o);

/* ---- watch: Draw again after each event of the daemon. ---- */

typedef void watch_draw_fn(struct client *c, const struct options *o);
/**
 * Call `draw` now and after each change, on an empty screen if standard output is a terminal, until Ctrl-C or --timeout; NULL:
 * as the verb watch. Returns the exit status.
 */
int watch_redraw(struct client *c, const struct options *o, watch_draw_fn *draw);

/* ---- why: Print a profile: what explains each cell's difference, and its kernels side by side. ---- */

/**
 * Print an answer of GET /api/v1/profiles/{id}, after the finding of its alert or comparison; `cell` NULL: all of its cells, the
 * worst first. Returns the exit status.
 */
int why_print(struct client *c, const struct options *o, const json_t *profile, const char *cell);
/**
 * The object that a profile explains: "alert" or "comparison", by its `kind` or, if that is "", by the letter of its number.
 * NULL: it has no number. *id gets the digits. Own: constants and `number`.
 */
const char *why_object(const char *kind, const char *number, const char **id);

/* ---- write: A proposal as the text of .flopwatch.yaml, with comments that explain the guesses. Pure. ---- */

enum { WRITE_WORD_MAX = 250 }; /* maximum bytes of one argument of a command in a manifest */

void write_manifest(const struct proposal *p, struct buf *out);
/** Append the build as one shell command line. */
void write_shell(const struct proposal *p, struct buf *out);

/* ---- wait: The verdict of a branch, commit or job. ---- */

/**
 * Find where to read the verdict of `what`, a branch, commit or job, after the daemon has read its repository. `is_patient`: wait
 * for an unknown one until `end_ns` with --timeout, else for five seconds, and then set ERR_NOT_FOUND; otherwise *path is "" if
 * the daemon has no job for it. Own: the caller owns *path, also after an error. Err: ERR_CONFLICT several have that name.
 */
int wait_find(struct client *c, const struct options *o, const char *what, int64_t end_ns, bool is_patient, struct buf *path,
	struct fw_err *err);

#endif
