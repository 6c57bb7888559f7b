/**
 * artifacts.h - of a built program only what it runs from stays: what a manifest declares as `artifacts`.
 *
 * With everything else gone, sources above all, two folders of one hash cannot be told apart by what runs in them; that is what lets a
 * push that changed a comment be `identical`.
 */
#ifndef WORKER_BUILD_ARTIFACTS_H
#define WORKER_BUILD_ARTIFACTS_H

#include "worker/build/build.h"

/**
 * Make the folder `name` of the cache hold nothing but the artifacts of `s`, at their places, and the empty folders that its outputs need.
 * 1 done; 0 one is missing or no file or folder, told in `detail` (detail[size]); -1 a fault of ours.
 */
int artifacts_keep(const struct build_context *c, const struct msg_subject *s, const char *name, char *detail, size_t size,
	struct fw_err *err);
/** What tells two sides apart: a hash over the folder's, and over how it is run and read. Shape: hex[HASH_HEX], in and out. */
void artifacts_name(const struct msg_subject *s, char hex[HASH_HEX]);

#endif
