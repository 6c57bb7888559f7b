/**
 * client.h - calls of the daemon's REST API.
 *
 * Err, the same for every call: ERR_IO the daemon cannot be reached; ERR_TIMEOUT it did not answer; ERR_NOT_FOUND, ERR_CONFLICT, ERR_INVALID,
 * ERR_BUSY, ERR_INTERNAL what it refused, with its own words; ERR_FULL the answer does not fit; ERR_PROTOCOL it makes no sense.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include <jansson.h>

#include "lib/buf.h"
#include "lib/err.h"

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

/** Append `text` percent-encoded as a query argument. */
void client_argument(struct buf *out, const char *text);
/** Append NAME=value to the query of `path`; nothing where `value` is NULL. */
void client_query(struct buf *path, const char *name, const char *value);

#endif
