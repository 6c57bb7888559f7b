/**
 * err.h - one error, owned by the caller, reported once.
 *
 * Every function that can fail returns 0 or -1 and takes a `struct fw_err *` last. The place that first sees the failure
 * writes the message; callers above may put context in front of it but never replace it; whoever stops passing it on
 * reports it. There is no global last error.
 */
#ifndef LIB_ERR_H
#define LIB_ERR_H

#include <stdarg.h>

enum err_code {
	ERR_NONE = 0,
	ERR_INTERNAL, /* our own fault, or one that no caller tells apart */
	ERR_INVALID,  /* what a person or a peer gave us is wrong */
	ERR_NOT_FOUND,
	ERR_CONFLICT, /* the thing's state forbids it: it has ended, it exists already */
	ERR_BUSY,     /* again later */
	ERR_TIMEOUT,
	ERR_IO,       /* the operating system said no */
	ERR_FULL,     /* a limit of ours or a full disk */
	ERR_PROTOCOL, /* a peer broke the protocol */
	ERR_UNSUPPORTED,
	ERR_DAMAGED, /* what was stored cannot be read any more */
	ERR_CANCELLED,
	ERR_CRASHED /* a program of ours ended by a fault of its own: SIGSEGV, SIGABRT */
};

struct fw_err {
	enum err_code code;
	char text[1024]; /* one line, no newline at its end */
};

/** Set code and message unless an error is already there. Returns -1, so that `return err_set(...)` reads well. `e` may be NULL. */
int err_set(struct fw_err *e, enum err_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** As err_set with ERR_IO (ERR_FULL for ENOSPC and EDQUOT, ERR_NOT_FOUND for ENOENT), adding ": " and the text of errno. */
int err_sys(struct fw_err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Put "context: " in front of the message. Returns -1. */
int err_context(struct fw_err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Forget the error. */
void err_clear(struct fw_err *e);

/** The code in words: "invalid", "not_found". */
const char *err_name(enum err_code code);

#endif
