/**
 * peer.h - the daemon at the other end of standard input and output.
 *
 * Every wait of the worker also waits for the daemon: it may cancel at any time, its silence is fine, its absence (end of
 * input) means cancel, and it must hear a ping every 10 s. A worker that works alone has a peer without descriptors: then
 * only a signal (SIGINT, SIGTERM) cancels.
 */
#ifndef WORKER_BOX_PEER_H
#define WORKER_BOX_PEER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/lines.h"
#include "core/protocol/protocol.h"

struct peer {
	int in, out; /* -1: alone */
	struct lines lines;
	struct buf sending;
	int64_t next_ping_ns;
	bool cancelled;
	bool stays;        /* it is for one job alone that it is cancelled: the daemon has another */
	struct fw_err why; /* why it is cancelled */
};

/** SIGTERM and SIGINT become a cancel; SIGPIPE an error of write. Once per process, before peer_init. */
void peer_signals(void);
/** `in` and `out` -1: alone. Not closed by the peer. */
void peer_init(struct peer *p, int in, int out);
void peer_fini(struct peer *p);
/** Whether the daemon, having cancelled a job, waits for a hello to send another: if so nothing is cancelled any more. */
bool peer_go_on(struct peer *p);

/** Send one message. Err: the daemon is gone or has not read for 30 s; the job is then cancelled. */
int peer_send(struct peer *p, const struct msg *m, struct fw_err *err);
/** Wait for the next message. Own: msg_fini. Err: ERR_TIMEOUT after `timeout_ms`, ERR_CANCELLED at end of input, ERR_PROTOCOL. */
int peer_receive(struct peer *p, int64_t timeout_ms, struct msg *out, struct fw_err *err);
/** After a tree line: write its `bytes` of payload to `fd`. */
int peer_payload(struct peer *p, int64_t bytes, int64_t timeout_ms, int fd, struct fw_err *err);

/** For waits elsewhere: what to poll (fd -1 when alone) and the most ms to wait. */
void peer_poll(const struct peer *p, struct pollfd *fd, int *wait_ms);
/** After that poll: read what came, ping when due. Err: ERR_CANCELLED when the job must end (and ever after). */
int peer_attend(struct peer *p, const struct pollfd *fd, struct fw_err *err);

#endif
