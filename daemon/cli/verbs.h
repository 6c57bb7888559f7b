/** verbs.h - the verbs of the command line; each returns the exit status of the program. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include <stdbool.h>

#include "cli/client.h"
#include "verdict/verdict.h"

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

/** What the command line said. */
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
/** Print an answer of the API as it is, for --json. */
void verb_print_json(const json_t *answer);
typedef void verb_print_fn(const json_t *items);
/** GET the list at `path` and print it: as it is with --json, as the line `none` (NULL: no such line) where it is empty, else by `print`. */
int verb_show(struct client *c, const struct options *o, const struct buf *path, verb_print_fn *print, const char *none);
/** The same of an answer that is more than a list: `print` gets all of it. */
int verb_show_whole(struct client *c, const struct options *o, const struct buf *path, verb_print_fn *print);
/** Print the API's answer about a job that was just queued. */
void verb_new_job(const json_t *job, const struct options *o);
/** POST `wish` to `path` and print the jobs that were queued by it. */
int verb_request_jobs(struct client *c, const struct options *o, const char *path, const struct buf *request);

/* token add NAME | list | revoke NAME */
int verb_token(struct client *c, const struct options *o);
/** Where a verdict leaves the program: 0, 1, 3 or 7. */
int verb_status_of_verdict(enum verdict verdict);

/** init [FOLDER]; needs no daemon. */
int verb_init(struct client *c, const struct options *o);
/** try [FOLDER]; needs no daemon. */
int verb_try(struct client *c, const struct options *o);
int verb_bisect(struct client *c, const struct options *o);
int verb_compare(struct client *c, const struct options *o);
/** compare on two files; needs no daemon. */
int verb_compare_files(const struct options *o);
int verb_import(struct client *c, const struct options *o);
/** suite import FILE; needs no daemon. */
int verb_suite(struct client *c, const struct options *o);
int verb_export(struct client *c, const struct options *o);
int verb_reproduce(struct client *c, const struct options *o);
int verb_wait(struct client *c, const struct options *o);
int verb_submit(struct client *c, const struct options *o);
int verb_status(struct client *c, const struct options *o);
int verb_jobs(struct client *c, const struct options *o);
int verb_log(struct client *c, const struct options *o);
int verb_cancel(struct client *c, const struct options *o);
int verb_retry(struct client *c, const struct options *o);
int verb_history(struct client *c, const struct options *o);
int verb_alerts(struct client *c, const struct options *o);
int verb_notifications(struct client *c, const struct options *o);
int verb_redeliver(struct client *c, const struct options *o);
int verb_devices(struct client *c, const struct options *o);
int verb_pause(struct client *c, const struct options *o);
int verb_resume(struct client *c, const struct options *o);
int verb_judge(struct client *c, const struct options *o);
int verb_backup(struct client *c, const struct options *o);
int verb_calibrate(struct client *c, const struct options *o);
/** peer [TARGET] | show */
int verb_peer(struct client *c, const struct options *o);
/** profile BASE TARGET | ALERT | comparison COMPARISON */
int verb_profile(struct client *c, const struct options *o);
/** why ALERT [CELL] | comparison COMPARISON [CELL] */
int verb_why(struct client *c, const struct options *o);
int verb_watch(struct client *c, const struct options *o);
int verb_open(struct client *c, const struct options *o);
int verb_doctor(struct client *c, const struct options *o);
int verb_completion(struct client *c, const struct options *o);
int verb_help(struct client *c, const struct options *o);
int verb_config(struct client *c, const struct options *o);

#endif
