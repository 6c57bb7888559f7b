/**
 * hardware.h - the devices a worker offers, and the choice among them.
 *
 * The runner lists them, since only it may load CUDA; the worker adds the compilers of each kind and may have to give up the
 * sandbox where the GPU does not work inside it.
 */
#ifndef WORKER_BENCH_HARDWARE_H
#define WORKER_BENCH_HARDWARE_H

#include "core/protocol/protocol.h"
#include "worker/box/sandbox.h"

/**
 * Fill `hello` (version, isolation, devices of `kind`: "auto" all real ones, "cuda" "cpu" "sim" those, or one "cuda:0" or uuid). With
 * `tools_dir`: whose compilers come first, "" the system's. With
 * `want` auto the sandbox is switched off when a GPU is visible only outside of it. Err: no runner, or no such device.
 */
int hardware_hello(struct sandbox *s, enum sandbox_want want, const char *kind, const char *tools_dir, struct msg_hello *hello,
	struct fw_err *err);
/** Fill `hello` of a worker that only builds for a `kind` of device ("cuda" "cpu" "sim"), which need not be here. Err: another kind. */
int hardware_builder(
	const struct sandbox *s, const char *kind, const char *tools_dir, struct msg_hello *hello, struct fw_err *err);
/** The device called `name` (uuid, "cuda:0", "cuda"; "auto": the first). NULL with `err`, saying which there are. */
const struct msg_device *hardware_find(const struct msg_hello *hello, const char *name, struct fw_err *err);
/** Say where the modules of this cache can be run by hand, and as whom. What cannot be found out is not said. */
void hardware_place(const char *cache_dir, struct msg_place *out);

#endif
