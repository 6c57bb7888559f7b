/**
 * peer.h - the daemon at the other end of standard input and output.
 *
 * Every wait of the worker also waits for the daemon, which may cancel at any time. The daemon may send nothing for any time;
 * end of input means cancel. The worker sends a ping every 10 s. A worker without a daemon has a peer without descriptors; then
 * only a signal (SIGINT, SIGTERM) cancels.
 */
#ifndef WORKER_SANDBOX_PEER_H
#define WORKER_SANDBOX_PEER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "lib/lines.h"
#include "protocol/protocol.h"

struct peer {
	int in, out; /* -1: no daemon */
	struct lines lines;
	struct buf sending;
	int64_t next_ping_ns;
	bool cancelled;
	bool stays;        /* only the current job is cancelled: the daemon has another */
	struct fw_err why; /* reason of the cancel */
};

/** Turn SIGTERM and SIGINT into a cancel, and SIGPIPE into an error of write. Call once per process, before peer_init. */
void peer_signals(void);
/** Initialise; `in` and `out` -1: no daemon. The peer does not close them. */
void peer_init(struct peer *p, int in, int out);
void peer_fini(struct peer *p);
/** Return whether the daemon cancelled the job to send another and waits for a hello; if so, clear the cancel. */
bool peer_go_on(struct peer *p);

/** Send one message. Err: the daemon is gone or has not read for 30 s; the job is then cancelled. */
int peer_send(struct peer *p, const struct msg *m, struct fw_err *err);
/** Wait for the next message. Own: msg_fini. Err: ERR_TIMEOUT after `timeout_ms`, ERR_CANCELLED, ERR_PROTOCOL. */
int peer_receive(struct peer *p, int64_t timeout_ms, struct msg *out, struct fw_err *err);
/** Write the `bytes` of payload that follow a tree line to `fd`. */
int peer_payload(struct peer *p, int64_t bytes, int64_t timeout_ms, int fd, struct fw_err *err);

/** Give other poll loops the descriptor to poll (fd -1 without a daemon) and the longest wait in ms. */
void peer_poll(const struct peer *p, struct pollfd *fd, int *wait_ms);
/**
 * After that poll, read pending data and send a ping when due. Err: ERR_CANCELLED when the job must end, from then on always.
 */
int peer_attend(struct peer *p, const struct pollfd *fd, struct fw_err *err);

#endif
