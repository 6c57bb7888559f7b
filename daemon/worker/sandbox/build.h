/**
 * build.h - the build of a side: from its sources to a module named by its hash.
 *
 * The cache key covers all inputs that can change the result: the inputs' object names, the command, the device kind, the
 * compilers, the system, the isolation. A side may name an earlier module instead, which is in the cache or gone. The key does
 * not cover external libraries: next to an earlier module, the other side is built again where the cache has that very module.
 * A miss unpacks the inputs into <cache>/job or job-N (shown as /job in the sandbox), runs the command, strips names and build
 * ids so that equal sources hash alike, and stores <cache>/modules/<sha256>.so. A failed build is a result, not an error:
 * struct msg_build has the reason.
 */
#ifndef WORKER_SANDBOX_BUILD_H
#define WORKER_SANDBOX_BUILD_H

#include "lib/hash.h"
#include "protocol/protocol.h"
#include "worker/sandbox/cache.h"
#include "worker/sandbox/peer.h"
#include "worker/sandbox/sandbox.h"

struct build_context {
	struct peer *peer;
	const struct cache *cache;
	const struct sandbox *sandbox;
	enum device_kind device; /* DEVICE_CUDA or DEVICE_CPU: the value of {device} */
	char tools_dir
		[TOOLCHAIN_OVERRIDE_DIR_SIZE]; /* folder of the preferred compilers for a side without its own; "" the system's */
	char toolchain[ROLES][TOOLCHAIN_TEXT_SIZE]; /* toolchain text of each role's side */
	char image[64];                             /* operating system of the worker */
	char kept[HASH_HEX]; /* earlier module of a side, next to which the other is built again; "" none */
	double timeout_s;    /* upper limit; the manifest may set less */
	int64_t log_bytes;   /* stored bytes of the output */
	int64_t print_max;   /* output bytes that end it; 0: 64 MiB */
	int process_max;     /* concurrent processes that end it; 0: procs_of_a_build */
	char family[16];     /* required family of the module */
	int position;        /* slot of this build among concurrent builds */
	char sides[64];      /* benchmark programs are built and run in <cache>/<sides>-<role> */
};

/** Return a descriptor of an input's archive at offset 0 (closed by the build), or -1. */
typedef int build_tree_fn(void *arg, const char *oid, struct fw_err *err);

/** Describe each side's toolchain by running its compilers. `usual`: text of the worker's own toolchain. */
void build_tools(struct build_context *c, const struct msg_job *job, const char *usual);
void build_key(const struct build_context *c, const struct msg_subject *s, char key[HASH_HEX]);

/**
 * Look a build up. Returns 1: `out` is "cached" with the module's hash and `*module_fd` its sealed copy (own: close); 0: not
 * cached, or to be built again.
 */
int build_lookup(const struct build_context *c, const struct msg_subject *s, struct msg_build *out, int *module_fd);

/** Return the path of a side's module, as in its manifest; "" if it names none. */
void build_output(const struct build_context *c, const struct msg_subject *s, char *out, size_t size);

/** Return the folder, below the cache, in which a benchmark program is built and run. Shape: name[128]. */
void build_side(const struct build_context *c, const struct msg_subject *s, char name[128]);

/** Return the name of a folder of this build's slot: "job", or with concurrent builds "job-2". Shape: name[128]. */
void build_folder(const struct build_context *c, const char *what, char name[128]);

/**
 * Build. `out` becomes "ok" (then `*module_fd` is the sealed module) or "failed" with detail; the caller owns its log. The work
 * folder is removed. A benchmark program keeps its folder (build_side): *module_fd is -1, and the hash covers all its files.
 * Err: -1 only if the build is not at fault: cancelled, a full disk, a missing tree.
 */
int build_make(const struct build_context *c, const struct msg_subject *s, build_tree_fn *tree, void *arg, struct msg_build *out,
	int *module_fd, struct fw_err *err);

#endif
