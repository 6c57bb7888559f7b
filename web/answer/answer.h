/** answer.h - what every handler does at its end: JSON, a list with its cursor, a problem document, a page of refusal. */
#ifndef WEB_ANSWER_ANSWER_H
#define WEB_ANSWER_ANSWER_H

#include <stdbool.h>

#include "lib/err.h"
#include "lib/jsonw.h"
#include "db/db.h"
#include "db/seek.h"
#include "web/answer/period.h"
#include "web/http/http.h"

/** Type application/json; a writer over the response's body. */
void answer_json(struct http_response *response, struct jsonw *j);

/**
 * A problem document (RFC 9457) under /api, a page elsewhere and for a form of one of our pages. `detail` says what, where and
 * what to do (NULL: what the status says). Replaces whatever the body held.
 */
void answer_problem(struct http_request *r, struct http_response *response, int status, const char *detail);

/** The status that an error deserves: not found 404, invalid 400, conflict 409, busy, full and timeout 503, else 500. */
void answer_error(struct http_request *r, struct http_response *response, const struct fw_err *err);
/** The body is a form's. */
bool answer_is_form(const struct http_request *r);
/** It is, and who sent it would rather read a page than JSON: a browser, from one of our pages. */
bool answer_wants_page(const struct http_request *r);

/** What the same thing can be sent as. */
enum answer_form { ANSWER_JSON, ANSWER_CSV, ANSWER_MARKDOWN };
/** The form that the Accept header likes best, JSON where it does not care. */
enum answer_form answer_form_wanted(const struct http_request *r);

/** Times as RFC 3339; 0 is null. */
void answer_time(struct jsonw *j, const char *key, int64_t utc_ms);
/** "" and NULL are null. */
void answer_text(struct jsonw *j, const char *key, const char *text);
/** 0 is null. */
void answer_id(struct jsonw *j, const char *key, int64_t id);
/** "branch" (its key) and "branch_display" (what people read); both null for "". */
void answer_branch(struct jsonw *j, const char *key);

/** {"id":ID,"state":STATE}: where a thing stands after what was asked of it. */
void answer_state(struct http_response *response, int64_t id, const char *state);
/** The same of a thing that was just made: 201, with its address /api/v1/COLLECTION/ID. */
void answer_new(struct http_response *response, const char *collection, int64_t id, const char *state);
/** Jobs that were queued together: 201, {"jobs":[ID,...]}. Shape: jobs[n]. */
void answer_new_jobs(struct http_response *response, const int64_t *jobs, int n);

/** Whether ?repo= names one that there is, or is not given. Err: -1 and the problem is written: an empty list would be taken for good news. */
int answer_repo(struct db *db, struct http_request *r, struct http_response *response);
/** Likewise of ?device=, by its uuid. */
int answer_device(struct db *db, struct http_request *r, struct http_response *response);

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
/** Read ?limit=, ?cursor=, ?since=, ?until= and ?repo= and begin. Err: -1 and the problem is written. Shape: *before gets the cursor, 0 none. */
int answer_list_begin(
	struct db *db, struct http_request *r, struct http_response *response, struct answer_list *list, int64_t *before);
/**
 * Begin a list with a period where its rows may lie in it: *before becomes the id that view_seek gives. Err: -1 and the problem is
 * written.
 */
int answer_list_seek(struct db *db, struct http_request *r, struct http_response *response, const struct answer_list *list,
	enum view_list rows, int64_t *before);
/**
 * For each of the `rows` that the view gives: whether to write its object. `at`: its time, which rises with the ids (0 where the
 * list has no period). `repo`: whose it is, NULL where the view has filtered.
 */
bool answer_list_take(struct answer_list *list, int64_t id, int64_t at, const char *repo);
/** For a row that the view gives and the list does not want, in place of answer_list_take. */
void answer_list_pass(struct answer_list *list, int64_t id);
/** After a page of rows: whether another is needed to fill the list. Then *before is where it goes on. */
bool answer_list_more(struct answer_list *list, int64_t *before);
/** The end, or `err` as the answer where `result` (of the view) is not 0. */
void answer_list_end(
	struct http_request *r, struct http_response *response, struct answer_list *list, int result, const struct fw_err *err);

/** A list that is always whole: {"items":[...],"next_cursor":null}. */
void answer_items_begin(struct http_response *response, struct jsonw *j);
void answer_items_end(struct jsonw *j);

/** ?cursor=, 0 when absent. Err: -1 and the problem is written. */
int answer_cursor(struct http_request *r, struct http_response *response, int64_t *before);
/**
 * A filter that takes one of `words` (separated by spaces); *value is NULL when absent or "". Err: -1 and the problem, which
 * lists them, is written.
 */
int answer_choice(
	struct http_request *r, struct http_response *response, const char *name, const char *words, const char **value);

/** A positive whole number; -1 when `text` (may be NULL) is none. */
int64_t answer_number(const char *text);
/** The number in the path. `what` names the thing: "job". Err: -1 and the problem (404) is written. */
int64_t answer_path_id(struct http_request *r, struct http_response *response, const char *what);

/* Values of the parameters "state" and "verdict" of lists, divided by spaces; "open" stands for each state before the end. */
#define ANSWER_VERDICTS                                                                                                          \
	"failed rejected regression undecided not_comparable improvement unchanged identical removed added unsupported"
#define ANSWER_NOTIFICATION_STATES "waiting sent failed superseded"
const char *answer_job_states(void);
const char *answer_alert_states(void);

#endif
