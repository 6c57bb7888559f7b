/**
 * sockets.h - which sockets code of a branch may make: AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, all of which end at its own network namespace.
 *
 * A network namespace holds no other family: AF_VSOCK reaches the host of a virtual machine, AF_ALG and others reach the kernel. io_uring makes
 * sockets without the system call socket, so it is refused as well.
 */
#ifndef WORKER_BOX_SOCKETS_H
#define WORKER_BOX_SOCKETS_H

#include "base/err.h"

/**
 * Install a seccomp filter in this process, which everything that it starts inherits and nothing can take off again: any other family ends with
 * EAFNOSUPPORT, io_uring with ENOSYS. Sets no_new_privs. A second call does nothing.
 * Err: ERR_UNSUPPORTED, the kernel has no seccomp filters; the machine is none for which the filter knows the system calls.
 */
int sockets_limit(struct fw_err *err);

#endif
