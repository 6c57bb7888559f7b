/**
 * artifacts.h - removal of all files of a built program except the `artifacts` that its manifest declares.
 *
 * Without the other files, sources above all, two folders with the same hash run the same, so a push that changed a comment is
 * `identical`.
 */
#ifndef WORKER_SANDBOX_ARTIFACTS_H
#define WORKER_SANDBOX_ARTIFACTS_H

#include "worker/sandbox/build.h"

/**
 * Reduce the folder `name` of the cache to the artifacts of `s`, at their paths, and the empty folders that its outputs need.
 * Returns 1 done; 0 an artifact is missing or neither file nor folder, see `detail` (detail[size]); -1 error of the worker.
 */
int artifacts_keep(const struct build_context *c, const struct msg_subject *s, const char *name, char *detail, size_t size,
	struct fw_err *err);
/**
 * Extend the hash of a side's folder by how the program is run and its output read: the identity of the side. Shape:
 * hex[HASH_HEX], in and out.
 */
void artifacts_name(const struct msg_subject *s, char hex[HASH_HEX]);

#endif
