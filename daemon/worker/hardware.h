/**
 * hardware.h - devices that a worker offers, and the choice among them.
 *
 * The runner lists them, since only it may load CUDA. The worker adds the compilers of each kind, and may disable the sandbox
 * where the GPU does not work inside.
 */
#ifndef WORKER_HARDWARE_H
#define WORKER_HARDWARE_H

#include "protocol/protocol.h"
#include "worker/sandbox/sandbox.h"

/**
 * Fill `hello` (version, isolation, devices of `kind`: "auto" all real ones, "cuda" "cpu" "sim" those, or one "cuda:0" or
 * uuid). `tools_dir`: folder of the preferred compilers, "" the system's. With `want` auto the sandbox is disabled when a GPU
 * is visible only outside. Err: no runner, or no such device.
 */
int hardware_hello(struct sandbox *s, enum sandbox_want want, const char *kind, const char *tools_dir, struct msg_hello *hello,
	struct fw_err *err);
/**
 * Fill `hello` of a worker that only builds for a `kind` of device ("cuda" "cpu" "sim"), which this machine may lack. Err:
 * another kind.
 */
int hardware_builder(
	const struct sandbox *s, const char *kind, const char *tools_dir, struct msg_hello *hello, struct fw_err *err);
/** Find the device `name` (uuid, "cuda:0", "cuda"; "auto": the first). Returns NULL with `err`, which lists the devices. */
const struct msg_device *hardware_find(const struct msg_hello *hello, const char *name, struct fw_err *err);
/** Report where, and as which user, modules of this cache can be run by hand. Unknown parts stay empty. */
void hardware_location(const char *cache_dir, struct msg_location *out);

#endif
