/* record.c - one write(2) per record, by the protocol's writer. */
#include "runner/internal.h"

#include <poll.h>
#include <sys/socket.h>

enum { ANSWER_MS = 20000 };

int records_init(struct records *r, int fd, int run, struct fw_err *err)
{
	struct stat st;

	memset(r, 0, sizeof *r);
	r->fd = fd;
	r->waits = fd >= 0 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
	r->run = run;
	buf_init(&r->line, PROTOCOL_LINE_MAX + SIGNATURE_ROOM);
	if (fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
		return err_sys(err, "descriptor %d, where records go", fd);
	return 0;
}

void records_signature(struct records *r, const char *signature)
{
	snprintf(r->signature, sizeof r->signature, "%s", signature);
	r->n = 0;
}

void records_fini(struct records *r)
{
	buf_fini(&r->line);
}

/* Leave space for the MAC, which depends on the line. */
static void write_line(struct records *r, const struct msg *m)
{
	buf_clear(&r->line);
	if (r->signature[0])
		buf_printf(&r->line, "%*s %llu ", SIGNATURE_MAC, "", r->n++);
	protocol_write(&r->line, m);
	if (!r->signature[0] || r->line.failed)
		return;
	char mac[SIGNATURE_MAC + 1];
	signature_make(r->signature, r->line.data + SIGNATURE_MAC + 1, r->line.len - SIGNATURE_MAC - 2, mac);
	memcpy(r->line.data, mac, SIGNATURE_MAC);
}

void record_send(struct records *r, const struct msg *m)
{
	if (r->fd < 0 || r->failed)
		return;
	write_line(r, m);
	if (r->line.failed) {
		fprintf(stderr, "flopwatch-runner: a record does not fit a line of %u bytes and is dropped\n", PROTOCOL_LINE_MAX);
		return;
	}
	r->failed = fd_write(r->fd, r->line.data, r->line.len) != 0;
}

void record_at(struct records *r, int cell, enum role role, const char *step)
{
	struct msg m = { .t = MSG_AT, .u.at = { .run = r->run, .cell = cell } };
	m.u.at.role = role;
	snprintf(m.u.at.step, sizeof m.u.at.step, "%s", step);
	record_send(r, &m);
}

void record_request_inspection(struct records *r, int cell, enum role role)
{
	struct pollfd answer = { .fd = r->fd, .events = POLLIN };
	char byte;
	int ready;
	ssize_t n;

	if (!r->waits || r->failed)
		return;
	while (recv(r->fd, &byte, 1, MSG_DONTWAIT) == 1) /* late answers to earlier records */
		continue;
	record_at(r, cell, role, "inspect");
	do
		ready = poll(&answer, 1, ANSWER_MS);
	while (ready < 0 && errno == EINTR);
	do /* without an answer in time: the worker was slow, or a module intercepted its answer */
		n = ready == 1 ? recv(r->fd, &byte, 1, MSG_DONTWAIT) : 1;
	while (n < 0 && errno == EINTR);
	r->failed = n == 0; /* the worker has exited, or a module closed this end */
}

void record_fault(struct records *r, int cell, enum role role, const char *failure, const char *detail)
{
	struct msg m = { .t = MSG_FAULT, .u.fault = { .cell = cell } };
	m.u.fault.role = role;
	snprintf(m.u.fault.failure, sizeof m.u.fault.failure, "%s", failure);
	snprintf(m.u.fault.detail, sizeof m.u.fault.detail, "%.511s", detail);
	record_send(r, &m);
}

void record_note(struct records *r, int cell, enum role role, const char *text)
{
	struct msg m = { .t = MSG_NOTE, .u.note = { .cell = cell } };
	m.u.note.role = role;
	snprintf(m.u.note.text, sizeof m.u.note.text, "%s", text);
	record_send(r, &m);
}
