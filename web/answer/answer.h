/** answer.h - code shared by pages and API: access, arguments, errors, lists. */
#ifndef WEB_ANSWER_ANSWER_H
#define WEB_ANSWER_ANSWER_H

#include <stdlib.h>
#include <stdio.h>
#include <jansson.h>
#include <stdbool.h>

#include "db/db.h"
#include "lib/lib.h"
#include "model/model.h"
#include "web/http/http.h"

/*
 * ---- access ----
 * Permissions. Over loopback every client has all of them. Otherwise a client needs an access token: a program sends it as
 * `Authorization: Bearer`, a browser uses a session that /login opens.
 */

enum { ACCESS_SESSION_DAYS = 30 };
enum { ACCESS_TOKEN_BYTES = 32, ACCESS_TOKEN_TEXT = 4 + 2 * ACCESS_TOKEN_BYTES + 1 };

/** The http_config.guard of the daemon: redirects a browser to /login, answers 401 or 403 to a program. */
bool access_allows(struct site *site, struct http_request *r, struct http_response *response, enum http_scope scope);
/** The http_config.after of the daemon: adds requests that need more than HTTP_READ to the audit log. */
void access_record(struct site *site, struct http_request *r, const struct http_response *response, enum http_scope scope);

/** Generate a random token ("fwt_" and 64 hexadecimal digits). Err: ERR_INTERNAL no random bytes. */
int access_new_token(char token[ACCESS_TOKEN_TEXT], struct fw_err *err);

/** Return the path to which a log-in redirects: `next` if it is a path of this server, else "/". */
const char *access_next(const char *next);

http_handler_fn page_login, page_login_post, page_logout;
/** The log-in at an OpenID Connect provider (login.c): redirects to the provider, and requests that return from it. */
http_handler_fn page_login_oidc, page_login_callback, page_logged_out;

/** Open a session of a token for `session_ms`, and set its cookie in the response. `log_out`: as in struct site_user. */
int access_open_session(struct site *site, int64_t token, const char *log_out, int64_t session_ms, struct http_response *response,
	struct fw_err *err);
/** Write the page with the log-in form. `diagnostic`: why a log-in failed; NULL: it did not. */
void access_draw_login(const struct site *site, struct http_response *response, const char *next, const char *diagnostic);
/** Return "; Secure", an attribute of cookies, if browsers must send them only encrypted; else "". */
const char *access_secure(const struct site *site);

/* ---- period: ?since= and ?until= of a list. ---- */

enum { PERIOD_SLACK_MS = 24 * 3600 * 1000 }; /* tolerated step back of the clock between two consecutive rows */

/** A period. Units: ms UTC; 0: open on that side. */
struct period {
	int64_t since, until; /* since <= time < until */
};

/**
 * Read both arguments. Each is a time or day (clock_parse), or an age: a number and m, h, d or w; "" counts as missing. Err:
 * ERR_INVALID for another text, or if `until` is not after `since`.
 */
int period_read(struct http_request *r, struct period *out, struct fw_err *err);
/** Return an age such as "7d" or "90m" in ms; 0: `text` is not an age. */
int64_t period_age(const char *text);
/** Return whether a period contains a time. */
bool period_holds(const struct period *p, int64_t at);

/* ---- answer: Responses: JSON, a list with its cursor, a problem document, an error page. ---- */

/** Set the type to application/json and initialise `j` as a writer into the response's body. */
void answer_json(struct http_response *response, struct jsonw *j);

/**
 * Replace the body by a problem document (RFC 9457) under /api, or by an error page elsewhere and for a form of a page. `detail`
 * states what failed, where, and what to do; NULL: the default text of the status. Returns -1, for handlers to return.
 */
int answer_problem(struct http_request *r, struct http_response *response, int status, const char *detail);

/**
 * Write an error as answer_problem: not found with status 404, invalid 400, conflict 409, busy, full, timeout, I/O and damaged
 * 503, others 500. Returns -1.
 */
int answer_error(struct http_request *r, struct http_response *response, const struct fw_err *err);
/** Return whether the body is a form. */
bool answer_is_form(const struct http_request *r);
/** Return whether the body is a form and the client prefers HTML to JSON: a browser that submitted a form of a page. */
bool answer_wants_page(const struct http_request *r);

/** Representations of the same data. */
enum answer_format { ANSWER_JSON, ANSWER_CSV, ANSWER_MARKDOWN };
/** Return the representation that the Accept header prefers; JSON if it has no preference. */
enum answer_format answer_format_wanted(const struct http_request *r);

/** Write an object with the members that `format` names, as for jsonw_format. Returns 0. */
int answer_with(struct http_response *response, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Write the state of an object after the request: {"id":ID,"state":STATE}. */
void answer_state(struct http_response *response, int64_t id, const char *state);
/** Write the same for a new object, with status 201 and its address /api/v1/COLLECTION/ID. */
void answer_new(struct http_response *response, const char *collection, int64_t id, const char *state);
/** Write the ids of jobs that were queued together, {"jobs":[ID,...]}, with status 201. Shape: jobs[n]. */
void answer_new_jobs(struct http_response *response, const int64_t *jobs, int n);

/**
 * Check that ?repo= is missing or names a repository, since an empty list would suggest that nothing happened. Err:
 * ERR_NOT_FOUND.
 */
int answer_repo(struct db *db, struct http_request *r, struct fw_err *err);
/** Check the same of ?device=, a uuid. */
int answer_device(struct db *db, struct http_request *r, struct fw_err *err);

/** A list that is being written: {"items":[ ... ],"next_cursor":...}. */
struct answer_list {
	struct jsonw j;
	const char *repo; /* ?repo=, NULL: every repository */
	struct period period;
	int limit, n; /* objects requested, objects written */
	int rows;     /* rows of a page to request from the view: one more than `limit`, to detect that there are more */
	int read;     /* rows read of the current page, written or not */
	int scanned;  /* rows of the pages before it */
	bool more;    /* a row did not fit */
	bool past;    /* rows are older than the period: none of it can follow */
	bool cut;     /* the scan limit was reached: the client may continue from `seen` */
	int64_t seen; /* id of the last row that was read */
	int64_t last; /* id of the last row that fitted: the cursor */
};
/**
 * Read ?limit=, ?cursor=, ?since=, ?until= and ?repo= and begin the list. `*before` receives the cursor, 0: none.
 * Err: ERR_INVALID, ERR_NOT_FOUND no such repository.
 */
int answer_list_begin(struct db *db, struct http_request *r, struct http_response *response, struct answer_list *list,
	int64_t *before, struct fw_err *err);
/** Skip rows newer than the list's period: lower *before to the id that view_seek returns. Err: the database. */
int answer_list_seek(struct db *db, const struct answer_list *list, enum view_list rows, int64_t *before, struct fw_err *err);
/**
 * Return whether to write the object of a row. Call it for each row of the view. `at`: time of the row, which increases with the
 * ids; 0 if the list has no period. `repo`: the row's repository; NULL: the view has filtered by it.
 */
bool answer_list_take(struct answer_list *list, int64_t id, int64_t at, const char *repo);
/** Skip a row of the view that does not belong to the list, instead of answer_list_take. */
void answer_list_pass(struct answer_list *list, int64_t id);
/** Return, after a page of rows, whether another page is needed to fill the list. If so, `*before` receives its cursor. */
bool answer_list_more(struct answer_list *list, int64_t *before);
/** End the list. If `result` (of the view) is not 0, write nothing and return -1. */
int answer_list_end(struct http_request *r, struct http_response *response, struct answer_list *list, int result);

/** Begin a list without pages: {"items":[...],"next_cursor":null}. */
void answer_items_begin(struct http_response *response, struct jsonw *j);
/** End that list. If `result` (of the view) is not 0, write nothing and return -1. */
int answer_items_end(struct jsonw *j, int result);

/** Read ?cursor= into `*before`; 0: it is missing. Err: ERR_INVALID. */
int answer_cursor(struct http_request *r, int64_t *before, struct fw_err *err);
/** Read a filter that takes one of `words` (separated by spaces); *value is NULL if absent or "". Err: ERR_INVALID. */
int answer_choice(struct http_request *r, const char *name, const char *words, const char **value, struct fw_err *err);

/** Parse a whole number of at most 18 digits; -1 if `text` (may be NULL) is not one. */
int64_t answer_number(const char *text);
/**
 * Parse the id of an object: its number, alone or as pages show it, after the capital of `what`, its kind: "32" and "C32" are
 * comparison 32. Returns -1 for another text, or NULL.
 */
int64_t answer_id(const char *text, const char *what);
/** Return the id in the path, or -1. `what`: the kind of object, "job". Err: ERR_NOT_FOUND if it is not an id. */
int64_t answer_path_id(struct http_request *r, const char *what, struct fw_err *err);

/* Values of the parameters "state" and "verdict" of lists, separated by spaces; "open" means every state that is not final. */
#define ANSWER_VERDICTS                                                                                                          \
	"failed rejected regression undecided not_comparable improvement unchanged identical removed added unsupported"
#define ANSWER_NOTIFICATION_STATES "waiting sent failed superseded"
const char *answer_job_states(void);
const char *answer_alert_states(void);

/* ---- site: The context of every handler: the database, and the operations of the daemon that requests may start. ---- */

struct control; /* the daemon's control; opaque in web/ */
struct page_cache;
struct captures;

enum { SITE_PEERS_MAX = 8 };
enum { SITE_CALIBRATIONS = 2, SITE_CALIBRATIONS_MAX = 50 }; /* A/A comparisons of one request */

/** A receiver of notifications. */
struct site_receiver {
	const char *name, *kind, *address; /* kind: webhook, status or note, as of its notifications */
	bool has_secret;
};

/** The configuration. The caller sets the callbacks and their arguments, the daemon the other members. */
struct site_settings {
	const char *file, *folder;       /* that was read; state_dir. Own: the daemon's */
	const char *restart;             /* changed settings that apply after a restart, "": none */
	int64_t free_bytes, total_bytes; /* of the disk of `folder` */
	void (*setting)(void *to, const char *name, const char *value, int line);
	void (*receiver)(void *to_receiver, const struct site_receiver *row);
	void *to, *to_receiver;
};

enum { SITE_COMPARISON_MAX = 16 << 20 /* bytes of the comparison of two files, as JSON */ };

/** Two files of results that a client posted. The texts are "" if not given. */
struct site_files {
	const char *client; /* name of its token; "" if none is required */
	char format[32], unit[16], metric[512];
	struct {
		char name[256]; /* for messages: readable, without folders */
		const char *data;
		size_t len;
	} file[2]; /* base, target */
};

/** Where a browser goes to log in at the provider, and the cookie that binds the log-in to it. */
struct site_login {
	char location[2000], cookie[160];
};

/** Values that the browser returns from the provider. NULL: absent. */
struct site_code {
	const char *code, *state, *issuer, *error, *cookie;
	const char *client; /* name of the address; "" a program on this machine */
};

/** A user whom the provider has named. */
struct site_user {
	int64_t token; /* row of the account */
	char name[64], scope[16];
	bool is_named; /* the provider has named a user; set also where the log-in failed */
	int64_t session_ms;
	char next[96];
	const char *log_out; /* for the log-out at the provider, encrypted; NULL: none. Own: valid until login_finish */
};

/** Operations of the daemon; each gets `control` of the site. Err: see flopwatchd/control.c. */
struct site_actions {
	int (*enqueue)(struct control *c, const struct job_request *request, int64_t *job, struct fw_err *err);
	/** Queue `runs` comparisons of main with itself; device_kind may also name one device. Shape: jobs[runs]. */
	int (*calibrate)(struct control *c, const struct job_request *request, int runs, int64_t *jobs, struct fw_err *err);
	/** Delete the calibration of cells; as for calibrate, device_kind may also name one device. *n: number of cells. */
	int (*forget)(struct control *c, const struct job_request *request, const char *who, int *n, struct fw_err *err);
	int (*cancel)(struct control *c, int64_t job, const char *who, struct fw_err *err);
	int (*retry)(struct control *c, int64_t job, int64_t *new_job, struct fw_err *err);
	/** Approve one commit of a request for `who`; *is_allowed false: the configuration does not let `who` approve. */
	int (*approve)(struct control *c, const char *repo, int number, const char *commit, const char *who, bool *is_allowed,
		struct fw_err *err);
	/** A client waits for the verdict of a commit: run its queued pushes before profiles. */
	int (*raise_commit)(struct control *c, int64_t repo, const char *target_sha, struct fw_err *err);
	int (*pause)(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *err);
	/** Fetch a repository now; *fetch (may be NULL) gets the number of the fetch. */
	int (*trigger)(struct control *c, const char *repo, int64_t *fetch, struct fw_err *err);
	/**
	 * Whether the fetch with number `fetch` has ended, and the result of the newest one; `held`: branch names, one a line.
	 * Own: the daemon's strings.
	 */
	int (*fetch_result)(struct control *c, const char *repo, int64_t fetch, bool *ended, const char **held,
		const char **error, struct fw_err *err);
	int (*secret)(struct control *c, const char *repo, const char **secret, struct fw_err *err);
	/** An event of the forge with a valid signature: it may approve a request's commit. In a transaction. NULL: not known. */
	int (*forge_event)(struct control *c, const char *repo, const char *body, size_t len, struct fw_err *err);
	int (*health)(struct control *c, struct fw_err *err);
	/** Bisect the commits from request->base (good) to request->target (bad). */
	int (*bisect)(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err);
	/** Store imported results. `is_new` false: the same results were stored before, as `comparison`. */
	int (*import)(
		struct control *c, const struct foreign_results *results, int64_t *comparison, bool *is_new, struct fw_err *err);
	/** Queue a profile of request->alert, of request->comparison, or of base and target. */
	int (*profile)(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err);
	int (*cancel_bisect)(struct control *c, int64_t id, const char *who, struct fw_err *err);
	int (*judge)(struct control *c, int64_t comparison, bool *changed, struct fw_err *err);
	int (*redeliver)(struct control *c, int64_t notification, struct fw_err *err);
	/** Send a test message to a receiver; *notification gets its id. NULL: not known. */
	int (*test_receiver)(struct control *c, const char *name, int64_t *notification, struct fw_err *err);
	/** Change an alert for a user; `state` acknowledged, accepted, resolved or invalid, `reason` "": none. */
	int (*alert)(
		struct control *c, int64_t id, enum alertstate state, const char *who, const char *reason, struct fw_err *err);
	/** Call `each` for each worker of the configuration, in its order. */
	void (*workers)(const struct control *c, worker_status_fn *each, void *to);
	/** Call `each` for each queued job (`job` 0: of all) that no worker has a device for. NULL: not known. */
	int (*unschedulable)(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err);
	/** Report the configuration, without secrets. NULL: not known. */
	int (*settings)(const struct control *c, struct site_settings *out, struct fw_err *err);
	/**
	 * Compare the target (absent: the upstream branch) with base_provider (absent: each of the repository's peers);
	 * device_kind as for calibrate. Shape: jobs[SITE_PEERS_MAX], *n of them.
	 */
	int (*peer)(struct control *c, const struct job_request *request, int64_t *jobs, int *n, struct fw_err *err);
	/**
	 * Start to copy the database in the background; the owner of the site calls http_notify at its end.
	 * Err: ERR_CONFLICT a copy is in progress.
	 */
	int (*backup)(struct control *c, struct fw_err *err);
	/** 1: the copy is in progress, 0: it is complete, at `path`, -1: it failed. */
	int (*backup_take)(struct control *c, char *path, size_t size, struct fw_err *err);
	/** The copy was sent, or its client is gone. */
	void (*backup_discard)(struct control *c);
	/**
	 * Start to compare two files in the background; the owner of the site calls http_notify at its end. `request` identifies
	 * the comparison. Err: ERR_BUSY too many are in progress.
	 */
	int (*compare_files)(struct control *c, const struct site_files *files, const void *request, struct fw_err *err);
	/**
	 * 1: in progress; 0: done, *json is the comparison, valid until compare_files_finish; -1. Err: ERR_INVALID a file cannot
	 * be read, ERR_CRASHED it made its reader fail.
	 */
	int (*compared_files)(struct control *c, const void *request, const struct buf **json, struct fw_err *err);
	/** The comparison was read, or its request has ended. */
	void (*compare_files_finish)(struct control *c, const void *request);
	/**
	 * Begin a log-in at the provider; as compare_files, `request` identifies it. `client`: as in struct site_code. Err:
	 * ERR_NOT_FOUND no provider, ERR_BUSY.
	 */
	int (*login_begin)(struct control *c, const void *request, const char *client, struct fw_err *err);
	/** 1: in progress; 0: done; -1. `next`: the page to show after the log-in. Err: ERR_IO the provider. */
	int (*login_address)(
		struct control *c, const void *request, const char *next, struct site_login *out, struct fw_err *err);
	/** The browser is back. Err: ERR_INVALID it did not begin this log-in, ERR_CONFLICT the provider refused it, ERR_BUSY. */
	int (*login_code)(struct control *c, const void *request, const struct site_code *code, struct fw_err *err);
	/** 1: in progress; 0: done; -1. Err: ERR_IO the provider, ERR_CONFLICT the user has no role. */
	int (*login_user)(struct control *c, const void *request, struct site_user *out, struct fw_err *err);
	/** Append the address at which the browser logs out of the provider. Err: ERR_INVALID of another configuration. */
	int (*log_out)(struct control *c, int64_t token, const char *sealed, struct buf *location, struct fw_err *err);
	/** Return whether the provider returned the browser from a log-out that log_out began. */
	bool (*is_logged_out)(struct control *c, const char *state);
	/** The request has ended. */
	void (*login_finish)(struct control *c, const void *request);
};

/* A certificate that expires within this time is a warning. */
#define SITE_CERTIFICATE_WARN_MS (INT64_C(14) * 24 * 3600 * 1000)

struct site {
	struct db *db;
	const struct site_actions *act;
	struct control *control;
	int requests_per_minute;    /* of a token, or of an address without one; 0: no limits */
	bool needs_token;           /* every request must carry an access token, or the session of a browser that sent one */
	struct page_cache *pages;   /* rendered comparisons; NULL: no cache */
	struct captures *captures;  /* cells of suites; NULL: no cache */
	const struct http_tls *tls; /* NULL: plain HTTP */
	struct {
		int64_t expires_at; /* ms UTC; 0: no TLS */
		bool is_rejected;   /* the files contain another certificate, which cannot be used */
	} certificate;
	const char *public_url;   /* public address of the pages; NULL or "": that of the request */
	const char *provider;     /* issuer at which users log in; NULL: none */
	const char *const *names; /* further accepted values of Host, NULL-terminated; NULL: none */
};

/*
 * ---- unschedulable ----
 * Why queued jobs wait: no worker has a device, or the daemon starts no jobs. Queried once for an answer.
 */

/** The reasons for the jobs of one answer. The caller sets the first two members and zeroes the others. */
struct unschedulable {
	const struct site *site;
	int64_t job; /* the only job to query; 0: all */
	json_t *why; /* reason by job number; NULL: not queried yet */
	bool has_hold;
	char hold[512]; /* with has_hold: why the daemon starts no jobs, "" it does */
};

/**
 * The reason why no worker has a device for a queued job, and what to do; "" if a worker has one, or if the query failed, which
 * is logged. The first call queries the daemon. Own: the string is valid until unschedulable_fini.
 */
const char *unschedulable_of(struct unschedulable *l, int64_t job);
/**
 * Why the daemon starts no jobs, such as a full disk; "" if it does. Such a reason cannot be stored with the job. 
 * Own: the string is in `l`.
 */
const char *unschedulable_hold(struct unschedulable *l);
/** Free the queried reasons. */
void unschedulable_fini(struct unschedulable *l);
/** Count the queued jobs that no worker has a device for; 0 if that is not known. Err: the database. */
int unschedulable_count(const struct site *site, int *n, struct fw_err *err);

/*
 * ---- forecast ----
 * When queued jobs are expected to start. Each job takes the device of its kind that is free first, for the usual time of such
 * jobs. This is an estimate: the daemon does not follow the order of the queue exactly.
 */

enum { FORECAST_WAITING_MAX = 100 /* queued jobs that are considered */ };

struct forecast;

/**
 * Forecast from all running and queued jobs, on the devices in state ok. It is unknown when a device becomes free whose job has
 * no usual time, and when an idle device takes a job while a worker is down or waits for an allocation. Unschedulable jobs take
 * no device.
 * Own: forecast_free; `unschedulable` must outlive it. NULL: the database.
 */
struct forecast *forecast_new(struct unschedulable *unschedulable, int64_t now_ms, struct fw_err *err);
/** Accepts NULL. */
void forecast_free(struct forecast *f);

/** Usual duration of jobs like this one. Units: s; 0: unknown. */
double forecast_usual_s(struct forecast *f, const struct view_job *row);
/**
 * Time until a queued job starts. Units: s; -1 unknown. *device: uuid of the device that takes it, valid as long as `f`; NULL
 * with -1.
 */
double forecast_start_s(const struct forecast *f, int64_t job, const char **device);
/** The jobs before a queued job. */
struct forecast_behind {
	int64_t job; /* that its device runs; 0: the device is idle */
	enum jobkind kind;
	int queued; /* jobs that the same device takes before it */
};
/** False: no device is expected to take the job. */
bool forecast_behind(const struct forecast *f, int64_t job, struct forecast_behind *out);
/** The queued job that a device takes next; 0: none. */
int64_t forecast_next(const struct forecast *f, const char *uuid);
/** Return whether a new job would start at once: a device is idle and no job waits. */
bool forecast_is_idle(const struct forecast *f);
/** Return whether the job's start is unknown because the job that it waits for runs longer than its usual time. */
bool forecast_is_late(const struct forecast *f, int64_t job);

/*
 * ---- files ----
 * The comparison of two posted files, for the page and the API: a form of type multipart/form-data with the files `base` and
 * `target`, and the texts `format`, `unit` and `metric`, which may be absent or empty.
 */

/**
 * Read the form and start the comparison; `later` then becomes the deferred handler, which calls files_take. The refusal of a
 * form is written: 400 malformed, 413 a file is larger than HTTP_UPLOAD_FILE_MAX, 415 another type. Err: ERR_BUSY.
 */
int files_begin(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *later, struct fw_err *err);
/**
 * For a deferred handler `later`: 1 the answer is still deferred, or (`response` NULL) the request has ended; 0 done, the
 * comparison was appended to `json`, as of `flopwatch compare --json`; -1 the refusal (422) is written, or `err` is set. The
 * comparison then counts no longer, even if its client reads the answer slowly.
 */
int files_take(struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *later,
	struct buf *json, struct fw_err *err);

/*
 * ---- idempotent ----
 * A POST with an Idempotency-Key is carried out once: a client that repeats it with the same key and the same body gets the first
 * answer again.
 */

/**
 * Call `work`, unless the request's key was used before: then answer with the first answer, or 422 if the key was used for
 * another request. 400: malformed key. The writes of `work` and its answer, if that is 2xx, are one transaction: after a crash
 * both are stored or neither. Without a key, only call `work`.
 */
int idempotent_run(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *work, struct fw_err *err);

/* ---- scope: The repository and branch of a request. ---- */

struct scope {
	char repo[128];
	char branch[BRANCH_KEY_MAX]; /* "": every branch */
};

/**
 * Read ?repo= and ?branch=. Without ?repo=, the only watched repository.
 * Err: ERR_NOT_FOUND unknown repository, ERR_INVALID not exactly one is watched.
 */
int scope_read(struct site *site, struct http_request *r, struct scope *out, struct fw_err *err);

/**
 * As scope_read, for a page with its own selection: without ?repo= the first watched repository, "" if there is none; without
 * ?branch= the upstream branch of the repository. Err: ERR_NOT_FOUND unknown repository.
 */
int scope_offer(struct site *site, struct http_request *r, struct scope *out, struct fw_err *err);

/** ?branch= as the stored key, NULL if absent. Shape: key[BRANCH_KEY_MAX]. Own: returns `key`. */
const char *scope_branch(struct http_request *r, char *key);

/* ---- commit: The commit that a request names. ---- */

struct answer_commit {
	int n; /* matching branches or commits; the texts are known if it is 1 */
	char sha[65], subject[200];
};

/**
 * Find a commit of repository `repo`, whose row is `id`: the name of a branch, also as it is displayed, selects its tip; other
 * texts are the first digits of a hash, at least four. An empty text matches none. Err: the database.
 */
int answer_find_commit(
	struct db *db, int64_t id, const char *repo, const char *text, struct answer_commit *out, struct fw_err *err);

/* ---- write: For handlers of writes: read the JSON of a POST, and redirect a browser back to a page. ---- */

/**
 * Return whether the body is empty, or is JSON or a form by its Content-Type (absent: JSON). False: the problem (415) is written.
 */
bool write_is_json(struct http_request *r, struct http_response *response);

/** A key that a request's object may have. Exactly one of text, flag and number is set and gets the value. */
struct write_key {
	const char *name;  /* NULL ends a list of keys; keys of texts come first */
	const char **text; /* the daemon refuses a text that is too long for its use */
	bool *flag;
	int *number, number_max; /* 1 to number_max */
	size_t text_max;         /* bytes; 0: 1023 */
};

/**
 * Read the body, a JSON object or the fields of a form, and store every value in the variable of its key. A key that is absent
 * (or null, for a text or flag, or an empty field) leaves its variable unchanged. An empty body is an empty object. Own: the
 * caller owns the returned reference; the texts belong to the object. Err: NULL, and the problem is written, which names the
 * refused key and lists the known ones.
 */
json_t *write_take(struct http_request *r, struct http_response *response, const struct write_key *known);
/** The same for a request of jobs, whose object has the keys named in `words`, and `more` (NULL: none). Own: as write_take. */
json_t *write_take_request(struct http_request *r, struct http_response *response, const char *words,
	const struct write_key *more, struct job_request *out);
/** Keys that select the sides and cells. */
#define WRITE_SIDES                                                                                                              \
	"repo base target suite device cells base_provider target_provider base_config target_config base_toolchain "            \
	"target_toolchain base_flags target_flags"

/** A key's text, NULL if absent or null. A value that is not a text, or longer than `max` bytes, sets *wrong to `key`. */
const char *write_text(const json_t *root, const char *key, size_t max, const char **wrong);

/**
 * Return whether `text` is valid UTF-8 without characters that are invisible or reorder the displayed text, except those of
 * `keep` (ASCII, e.g. "\n"). NULL: true.
 */
bool write_is_readable(const char *text, const char *keep);

/** Redirect (303) to `page` after a form of a browser (answer_wants_page). False: not one; the caller answers with JSON. */
bool write_back_to(struct http_request *r, struct http_response *response, const char *page);

#endif
