/* sockets.c - the seccomp filter. */
#include "worker/sandbox/internal.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/socket.h>

enum { FAMILIES = 64 /* more than exist */ };

static bool is_allowed(int family)
{
	return family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
}

/* A rule compares an argument once, so "none of these" takes a rule for each other family. */
static int refuse_families(scmp_filter_ctx filter, int call)
{
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1, SCMP_A0(SCMP_CMP_GE, FAMILIES));

	for (int family = 0; rc == 0 && family < FAMILIES; family++)
		if (!is_allowed(family))
			rc = seccomp_rule_add(
				filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family));
	return rc;
}

/* Programs of other word sizes that this kernel also runs. */
static int add_architectures(scmp_filter_ctx filter)
{
	static const uint32_t beside_x86_64[] = { SCMP_ARCH_X86, SCMP_ARCH_X32 }, beside_aarch64[] = { SCMP_ARCH_ARM };
	uint32_t native = seccomp_arch_native();
	const uint32_t *others = native == SCMP_ARCH_X86_64 ? beside_x86_64 : beside_aarch64;
	size_t n = native == SCMP_ARCH_X86_64 ? 2 : native == SCMP_ARCH_AARCH64 ? 1 : 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = seccomp_arch_add(filter, others[i]);
	return rc;
}

static int fill(scmp_filter_ctx filter)
{
	int rc = add_architectures(filter);

	/* 32-bit programs also have socketcall, whose family is in memory, which no filter reads */
	rc = rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socketcall), 0) : rc;
	rc = rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_uring_setup), 0) : rc;
	rc = rc == 0 ? refuse_families(filter, SCMP_SYS(socket)) : rc;
	return rc == 0 ? refuse_families(filter, SCMP_SYS(socketpair)) : rc;
}

int sockets_limit(struct fw_err *err)
{
	static bool is_limited;
	scmp_filter_ctx filter = is_limited ? NULL : seccomp_init(SCMP_ACT_ALLOW);

	if (is_limited)
		return 0;
	if (!filter)
		return err_set(err, ERR_FULL, "out of memory");
	int rc = fill(filter);
	rc = rc == 0 ? seccomp_load(filter) : rc; /* sets no_new_privs */
	seccomp_release(filter);
	if (rc != 0) {
		errno = -rc;
		err_sys(err, "limit the sockets of branches' code (seccomp)");
		err->code = ERR_UNSUPPORTED;
		return -1;
	}
	is_limited = true;
	return 0;
}
