/**
 * sockets.h - limit on the sockets of branch code: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, which all end at its network
 * namespace.
 *
 * A network namespace does not contain other families: AF_VSOCK reaches the host of a virtual machine, AF_ALG and others reach
 * the kernel. io_uring makes sockets without the system call socket, so it is refused as well.
 */
#ifndef WORKER_SANDBOX_SOCKETS_H
#define WORKER_SANDBOX_SOCKETS_H

#include "lib/err.h"

/**
 * Install a seccomp filter in this process, inherited by its children and permanent: other families fail with EAFNOSUPPORT,
 * io_uring with ENOSYS. Sets no_new_privs. A second call does nothing. Err: ERR_UNSUPPORTED, the kernel has no seccomp filters,
 * or the filter does not know this architecture.
 */
int sockets_limit(struct fw_err *err);

#endif
