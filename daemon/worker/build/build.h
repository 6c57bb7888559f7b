/**
 * build.h - from a subject's sources to a module whose hash names it.
 *
 * The cache key covers everything that can change the result: the inputs' object names, the command, the device kind, the
 * compilers, the system, the isolation. A side may name the module that it had before instead, which is then kept or gone. What is linked in
 * from elsewhere has no name in the key: beside a module of before, the other side is built anew where the cache has that very module. A miss
 * unpacks the inputs into <cache>/job or job-N (which the sandbox shows as /job), runs the command, strips the output of names and build ids
 * so that equal sources hash alike, and keeps it as <cache>/modules/<sha256>.so.
 * A build that fails is a result, not an error: struct msg_build says how, in words.
 */
#ifndef WORKER_BUILD_BUILD_H
#define WORKER_BUILD_BUILD_H

#include "base/hash.h"
#include "core/protocol/protocol.h"
#include "worker/build/cache.h"
#include "worker/box/peer.h"
#include "worker/box/sandbox.h"

struct build_context {
	struct peer *peer;
	const struct cache *cache;
	const struct sandbox *sandbox;
	enum device_kind device;                     /* DEVICE_CUDA or DEVICE_CPU: what {device} becomes */
	char tools_dir[TOOLCHAIN_OVERRIDE_DIR_SIZE]; /* whose compilers come first unless a side has its own; "" the system's */
	char toolchain[ROLES][TOOLCHAIN_TEXT_SIZE];  /* of each role's side */
	char image[64];                              /* what the system is that they run on */
	char kept[HASH_HEX]; /* module that a side had before, and that another is built anew beside; "" none */
	double timeout_s;    /* upper limit; the manifest may ask for less */
	int64_t log_bytes;   /* kept of what it prints */
	int64_t print_max;   /* bytes printed that end it; 0: 64 MiB */
	int process_max;     /* processes at once that end it; 0: as procs_of_a_build says */
	char family[16];     /* whose module is wanted */
	int place;           /* of the build among those that run at once */
	char sides[64];      /* where sides that are programs of their own are built and stay: <cache>/<sides>-<role> */
};

/** Where the archive of an input is. Returns a descriptor at offset 0 (closed by the build), or -1. */
typedef int build_tree_fn(void *arg, const char *oid, struct fw_err *err);

/** Say what builds each side, by asking its compilers. `usual` is the worker's own toolchain as text. */
void build_tools(struct build_context *c, const struct msg_job *job, const char *usual);
/** Name of this subject's build in the cache. */
void build_key(const struct build_context *c, const struct msg_subject *s, char key[HASH_HEX]);

/**
 * Look a build up. 1: `out` is "cached" with the module's hash and `*module_fd` its sealed copy (own: close); 0: not kept, or it is to be
 * built anew.
 */
int build_lookup(const struct build_context *c, const struct msg_subject *s, struct msg_build *out, int *module_fd);

/** The module that a side's build makes, as its manifest calls it; "" it names none. */
void build_output(const struct build_context *c, const struct msg_subject *s, char *out, size_t size);

/** Name, below the cache, of the folder in which a side that is a program of its own is built and run. Shape: name[128]. */
void build_side(const struct build_context *c, const struct msg_subject *s, char name[128]);

/** The name of a folder of this build's place: "job", or where others build beside it "job-2". Shape: name[128]. */
void build_folder(const struct build_context *c, const char *what, char name[128]);

/**
 * Build. `out` becomes "ok" (then `*module_fd` is the sealed module) or "failed" with detail; its log is owned by the caller.
 * The work folder is gone afterwards. Of a side that is a program of its own it stays (build_side), *module_fd is -1, and the hash is
 * that of all its files. Err: -1 only for what is not the build's fault: cancelled, a full disk, a missing tree.
 */
int build_make(const struct build_context *c, const struct msg_subject *s, build_tree_fn *tree, void *arg, struct msg_build *out,
	int *module_fd, struct fw_err *err);

#endif
