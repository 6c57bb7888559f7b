/** answer.h - what pages and API share: access, arguments, errors, lists. */
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
 * Who may do what. On loopback everybody who reaches the daemon; elsewhere users with an access token: programs as
 * `Authorization: Bearer`, browsers through a session that /login opens.
 */

enum { ACCESS_SESSION_DAYS = 30 };
enum { ACCESS_TOKEN_BYTES = 32, ACCESS_TOKEN_TEXT = 4 + 2 * ACCESS_TOKEN_BYTES + 1 };

/** The guard of http.c. A page's reader is sent to /login, a program gets 401 or 403. */
bool access_allows(struct site *site, struct http_request *r, struct http_response *response, enum http_scope scope);

/** A new random token ("fwt_" and 64 digits). Err: ERR_INTERNAL no random bytes. */
int access_new_token(char token[ACCESS_TOKEN_TEXT], struct fw_err *err);

/** Where a reader may be sent after logging in: `next` when it is a path of ours, else "/". */
const char *access_next(const char *next);

http_handler_fn page_login, page_login_post, page_logout;

/* ---- period: ?since= and ?until= of a list: from when to when. ---- */

enum { PERIOD_SLACK_MS = 24 * 3600 * 1000 }; /* how far a clock may have been set back between two rows that follow each other */

/** Units: ms since 1970-01-01 UTC; 0: open on that side. */
struct period {
	int64_t since, until; /* from `since` on, and before `until` */
};

/**
 * Read both: each a time or day (clock_parse), or how long ago: a number and m, h, d or w. "" is as if it were not there.
 * Err: ERR_INVALID: neither form, or an end that lies before the beginning.
 */
int period_read(struct http_request *r, struct period *out, struct fw_err *err);
bool period_holds(const struct period *p, int64_t at);

/* ---- answer: What every handler does at its end: JSON, a list with its cursor, a problem document, a page of refusal. ---- */

/** Type application/json; a writer over the response's body. */
void answer_json(struct http_response *response, struct jsonw *j);

/**
 * A problem document (RFC 9457) under /api, a page elsewhere and for a form of one of our pages. `detail` says what, where and
 * what to do (NULL: what the status says). Replaces whatever the body held. -1, for handlers to return.
 */
int answer_problem(struct http_request *r, struct http_response *response, int status, const char *detail);

/** The status that an error deserves: not found 404, invalid 400, conflict 409, busy, full and timeout 503, else 500. Always -1. */
int answer_error(struct http_request *r, struct http_response *response, const struct fw_err *err);
/** The body is a form's. */
bool answer_is_form(const struct http_request *r);
/** It is, and who sent it would rather read a page than JSON: a browser, from one of our pages. */
bool answer_wants_page(const struct http_request *r);

/** What the same thing can be sent as. */
enum answer_form { ANSWER_JSON, ANSWER_CSV, ANSWER_MARKDOWN };
/** The form that the Accept header likes best, JSON where it does not care. */
enum answer_form answer_form_wanted(const struct http_request *r);

/** The answer is an object of the members that `format` names as for jsonw_format. Returns 0. */
int answer_with(struct http_response *response, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** {"id":ID,"state":STATE}: where a thing stands after what was asked of it. */
void answer_state(struct http_response *response, int64_t id, const char *state);
/** The same of a thing that was just made: 201, with its address /api/v1/COLLECTION/ID. */
void answer_new(struct http_response *response, const char *collection, int64_t id, const char *state);
/** Jobs that were queued together: 201, {"jobs":[ID,...]}. Shape: jobs[n]. */
void answer_new_jobs(struct http_response *response, const int64_t *jobs, int n);

/** Whether ?repo= names one that there is, or is not given: an empty list would be taken for good news. Err: ERR_NOT_FOUND. */
int answer_repo(struct db *db, struct http_request *r, struct fw_err *err);
/** Likewise of ?device=, by its uuid. */
int answer_device(struct db *db, struct http_request *r, struct fw_err *err);

/** A list under way: {"items":[ ... ],"next_cursor":...}. */
struct answer_list {
	struct jsonw j;
	const char *repo; /* ?repo=, NULL: every one */
	struct period period;
	int limit, n; /* objects wanted, objects written */
	int rows;     /* to ask a view for at once: one more than wanted shows whether there are more */
	int read;     /* rows of the page that was asked for last, written or not */
	int scanned;  /* rows of the pages before it */
	bool more;    /* a row was left over */
	bool past;    /* rows are so old that none of the period follows */
	bool cut;     /* enough was looked at: the reader may go on from here */
	int64_t seen; /* id of the last row that was looked at */
	int64_t last; /* id of the last one that was not left over: the cursor */
};
/** Read ?limit=, ?cursor=, ?since=, ?until= and ?repo= and begin. Err: ERR_INVALID. Shape: *before gets the cursor, 0 none. */
int answer_list_begin(struct db *db, struct http_request *r, struct http_response *response, struct answer_list *list,
	int64_t *before, struct fw_err *err);
/** Begin a list with a period where its rows may lie in it: *before becomes the id that view_seek gives. Err: the database. */
int answer_list_seek(struct db *db, const struct answer_list *list, enum view_list rows, int64_t *before, struct fw_err *err);
/**
 * For each of the `rows` that the view gives: whether to write its object. `at`: its time, which rises with the ids (0 where the
 * list has no period). `repo`: whose it is, NULL where the view has filtered.
 */
bool answer_list_take(struct answer_list *list, int64_t id, int64_t at, const char *repo);
/** For a row that the view gives and the list does not want, in place of answer_list_take. */
void answer_list_pass(struct answer_list *list, int64_t id);
/** After a page of rows: whether another is needed to fill the list. Then *before is where it goes on. */
bool answer_list_more(struct answer_list *list, int64_t *before);
/** The end, unless `result` (of the view) is not 0, which is returned. */
int answer_list_end(struct http_request *r, struct http_response *response, struct answer_list *list, int result);

/** A list that is always whole: {"items":[...],"next_cursor":null}. */
void answer_items_begin(struct http_response *response, struct jsonw *j);
/** Returns `result` (of the view), and leaves out the end where that is not 0. */
int answer_items_end(struct jsonw *j, int result);

/** ?cursor=, 0 when absent. Err: ERR_INVALID. */
int answer_cursor(struct http_request *r, int64_t *before, struct fw_err *err);
/** A filter that takes one of `words` (separated by spaces); *value is NULL when absent or "". Err: ERR_INVALID, which lists them. */
int answer_choice(struct http_request *r, const char *name, const char *words, const char **value, struct fw_err *err);

/** A positive whole number; -1 when `text` (may be NULL) is none. */
int64_t answer_number(const char *text);
/** The number in the path. `what` names the thing: "job". Err: ERR_NOT_FOUND. */
int64_t answer_path_id(struct http_request *r, const char *what, struct fw_err *err);

/* Values of the parameters "state" and "verdict" of lists, divided by spaces; "open" stands for each state before the end. */
#define ANSWER_VERDICTS                                                                                                          \
	"failed rejected regression undecided not_comparable improvement unchanged identical removed added unsupported"
#define ANSWER_NOTIFICATION_STATES "waiting sent failed superseded"
const char *answer_job_states(void);
const char *answer_alert_states(void);

/* ---- site: What every handler knows: the database, and the few things that the outside may ask of the daemon. ---- */

struct control; /* the daemon, as far as the outside may ask of it; nobody in web looks inside */
struct page_cache;
struct captures;

enum { SITE_PEERS_MAX = 8 };
enum { SITE_CALIBRATIONS = 2, SITE_CALIBRATIONS_MAX = 50 }; /* A/A comparisons asked for at once */

/** What may be asked of it, each with `control` of the site. Err: as flopwatchd/control.c says. */
struct site_actions {
	int (*enqueue)(struct control *c, const struct job_request *request, int64_t *job, struct fw_err *err);
	/** `runs` comparisons of main with itself; the request's device_kind may also name one device. Shape: jobs[runs]. */
	int (*calibrate)(struct control *c, const struct job_request *request, int runs, int64_t *jobs, struct fw_err *err);
	/** Forget what is remembered of cells; as for calibrate, device_kind may also name one device. *n counts cells. */
	int (*forget)(struct control *c, const struct job_request *request, const char *who, int *n, struct fw_err *err);
	int (*cancel)(struct control *c, int64_t job, const char *who, struct fw_err *err);
	int (*retry)(struct control *c, int64_t job, int64_t *new_job, struct fw_err *err);
	/** A client waits for the verdict of a commit: its queued pushes go before profiles. */
	int (*await)(struct control *c, int64_t repo, const char *target_sha, struct fw_err *err);
	int (*pause)(struct control *c, const char *uuid, bool paused, const char *who, struct fw_err *err);
	/** Look at a repository now; *look (may be NULL) numbers the look. */
	int (*trigger)(struct control *c, const char *repo, int64_t *look, struct fw_err *err);
	/** Whether that look has ended, and how the newest did: `held` names branches, one a line. Own: the texts are the daemon's. */
	int (*looked)(struct control *c, const char *repo, int64_t look, bool *ended, const char **held, const char **error,
		struct fw_err *err);
	int (*secret)(struct control *c, const char *repo, const char **secret, struct fw_err *err);
	int (*health)(struct control *c, struct fw_err *err);
	/** Search the commits from request->base (good) to request->target (bad). */
	int (*bisect)(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err);
	/** Store figures. `is_new` false: the same were stored before, as `comparison`. */
	int (*import)(
		struct control *c, const struct foreign_figures *figures, int64_t *comparison, bool *is_new, struct fw_err *err);
	/** Ask why: of request->alert, of request->comparison, or of base and target. */
	int (*profile)(struct control *c, const struct job_request *request, int64_t *id, struct fw_err *err);
	int (*cancel_bisect)(struct control *c, int64_t id, const char *who, struct fw_err *err);
	int (*judge)(struct control *c, int64_t comparison, bool *changed, struct fw_err *err);
	int (*redeliver)(struct control *c, int64_t notification, struct fw_err *err);
	/** A person's step with an alert; `state` acknowledged, accepted, resolved or invalid, `reason` "" none. */
	int (*alert)(
		struct control *c, int64_t id, enum alertstate state, const char *who, const char *reason, struct fw_err *err);
	/** Each worker of the configuration, in its order. */
	void (*workers)(const struct control *c, worker_status_fn *each, void *to);
	/** Each queued job (`job` 0: of all) that no worker has a device for. NULL: nobody knows. */
	int (*unschedulable)(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err);
	/**
	 * The target, missing: the upstream branch, beside base_provider, missing: each of the repository's peers; device_kind as above.
	 * Shape: jobs[SITE_PEERS_MAX], *n of them.
	 */
	int (*peer)(struct control *c, const struct job_request *request, int64_t *jobs, int *n, struct fw_err *err);
	/** Begin to copy the database beside everything else; site's owner calls http_notify at its end. Err: ERR_CONFLICT one is being made. */
	int (*backup)(struct control *c, struct fw_err *err);
	/** 1 it is being made, 0 it is whole and lies at `path`, -1 it failed. */
	int (*backup_take)(struct control *c, char *path, size_t size, struct fw_err *err);
	/** It was sent, or nobody waits for it any more. */
	void (*backup_over)(struct control *c);
};

struct site {
	struct db *db;
	const struct site_actions *act;
	struct control *control;
	bool needs_token;          /* every request shows an access token, or the session of a browser that did */
	struct page_cache *pages;  /* drawn comparisons; NULL: each is drawn again */
	struct captures *captures; /* cells of suites; NULL: each suite is read again */
	const char *public_url;    /* where people reach the pages; NULL or "": as the request came */
	const char *const *names;  /* further values of Host that are ours, NULL-ended; NULL: none */
};

/*
 * ---- unschedulable ----
 * Why queued jobs wait, wherever they are shown: no worker has a device, or the daemon begins no job. Asked once an answer.
 */

/** What is known of the jobs of an answer; zeroed but for the first two. */
struct unschedulable {
	const struct site *site;
	int64_t job; /* the only one that is asked about; 0 all */
	json_t *why; /* a line by the job's number; NULL: not asked yet */
	bool has_hold;
	char hold[512]; /* with has_hold: why the daemon begins no job */
};

/**
 * Say what a queued job waits for that no worker has, and what to do; "" it does not wait so, or nobody knows, which is logged. The
 * first call asks. Own: the line lives until unschedulable_fini.
 */
const char *unschedulable_of(struct unschedulable *l, int64_t job);
/** Say why the daemon begins no job, such as a full disk; "" it does. Such a reason cannot be stored with the job. Own: as unschedulable_of. */
const char *unschedulable_hold(struct unschedulable *l);
/** Forget what was asked. */
void unschedulable_fini(struct unschedulable *l);
/** Count the queued jobs that wait so, 0 where nobody knows. Err: the database. */
int unschedulable_count(const struct site *site, int *n, struct fw_err *err);

/*
 * ---- forecast ----
 * When what waits is expected to begin: each job takes the device of its kind that is free first, for as long as such jobs
 * take. The order of the queue is about the one that the daemon follows, so this is an estimate.
 */

enum { FORECAST_WAITING_MAX = 100 /* jobs of the queue that are looked at */ };

struct forecast;

/**
 * Of all that runs and waits now, on the devices that are in order. One whose job has no usual time is free nobody knows when, and so is an
 * idle one while a worker is down or waits for an allocation; what lacks a device takes none. Own: forecast_free. NULL: the database, or no
 * memory.
 */
struct forecast *forecast_new(struct unschedulable *unschedulable, int64_t now_ms, struct fw_err *err);
/** Accepts NULL. */
void forecast_free(struct forecast *f);

/** How long jobs like this one take. Units: s; 0 unknown. */
double forecast_usual_s(struct forecast *f, const struct view_job *row);
/** Until a job of the queue begins. Units: s; -1 nobody knows. *device: the uuid of whose turn that is, as long as `f` lives; NULL with -1. */
double forecast_start_s(const struct forecast *f, int64_t job, const char **device);
/** Whether a job that comes now would begin at once: a device has nothing to do, and nothing waits for one. */
bool forecast_is_idle(const struct forecast *f);
/** Whether that job waits, alone or behind others, for one that runs longer than such jobs take, so that nobody knows when it begins. */
bool forecast_is_late(const struct forecast *f, int64_t job);

/*
 * ---- idempotent ----
 * A POST that carries an Idempotency-Key happens once: who asks again with the same key and the same body gets the
 * first answer again, however often the network made him repeat himself.
 */

/**
 * Do the work, or answer in its place where its key was used: with the first answer, 422 (for another request), 400 (no key). What it writes
 * and its answer, where that is 2xx, are one transaction: after a crash there are both or neither. Without a key it is just done.
 */
int idempotent_run(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *work, struct fw_err *err);

/* ---- scope: Which repository and branch a request is about. ---- */

struct scope {
	char repo[128];
	char branch[BRANCH_KEY_MAX]; /* "": every branch */
};

/**
 * Read ?repo= and ?branch=. Without ?repo= the only configured repository is meant.
 * Err: ERR_NOT_FOUND for an unknown repository, ERR_INVALID when there are several to choose from.
 */
int scope_read(struct site *site, struct http_request *r, struct scope *out, struct fw_err *err);

/**
 * As scope_read for a page that offers the choice itself: without ?repo= the first configured repository, "" when there is none;
 * without ?branch= its upstream branch. Err: ERR_NOT_FOUND for an unknown repository.
 */
int scope_offer(struct site *site, struct http_request *r, struct scope *out, struct fw_err *err);

/** ?branch= as the key that is stored, NULL if absent. Shape: key[BRANCH_KEY_MAX]. Own: `key` itself. */
const char *scope_branch(struct http_request *r, char *key);

/* ---- write: What every writing handler does: read the JSON of a POST, and lead the reader of a page back to one. ---- */

/** Whether the body, if there is one, says that it is JSON or a form. False: the problem (415) is written. */
bool write_is_json(struct http_request *r, struct http_response *response);

/** A key that a request's object may have. Its value goes to the one place that is given. */
struct write_key {
	const char *name;  /* NULL ends a list of them; texts stand first */
	const char **text; /* what is too long for its purpose the daemon refuses */
	bool *flag;
	int *number, number_max; /* from 1 */
	size_t text_max;         /* bytes; 0: 1023 */
};

/**
 * Read the body, a JSON object or the fields of a form, and put every value into its place; what is absent (or null, of a text or
 * flag, or an empty field) leaves its place as it is. An empty body is an empty object. Own: the caller's reference; the texts are the object's. Err: NULL and the problem, which names a key that cannot be taken
 * and lists the known ones, is written.
 */
json_t *write_take(struct http_request *r, struct http_response *response, const struct write_key *known);
/** The same of a request for jobs, whose object has the keys of `words` and then `more` (NULL: none). Own: as write_take. */
json_t *write_take_request(struct http_request *r, struct http_response *response, const char *words,
	const struct write_key *more, struct job_request *out);
/** What says of which sides and cells it is. */
#define WRITE_SIDES                                                                                                              \
	"repo base target suite device cells base_provider target_provider base_config target_config base_toolchain "            \
	"target_toolchain base_flags target_flags"

/** A key's text, NULL if absent or null. One that is no text or longer than `max` bytes sets *wrong to its key. */
const char *write_text(const json_t *root, const char *key, size_t max, const char **wrong);

/** Valid UTF-8 without characters that hide or reorder what people read; those of `keep` (ASCII, e.g. "\n") may be there. NULL is. */
bool write_is_readable(const char *text, const char *keep);

/** The reader of a page wants it back: answer it with the way back to `page`. False: the caller answers as an API. */
bool write_back_to(struct http_request *r, struct http_response *response, const char *page);

#endif
