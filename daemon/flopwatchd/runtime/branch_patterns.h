/** branch_patterns.h - the globs of `branches`: which branches of a repository the daemon watches. */
#ifndef FLOPWATCHD_RUNTIME_BRANCH_PATTERNS_H
#define FLOPWATCHD_RUNTIME_BRANCH_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "flopwatchd/runtime/config.h"

enum { BRANCH_NAME_SIZE = 1024 /* bytes, encoded; as a job's branch */ };

/**
 * Whether the daemon watches a branch: the last pattern that matches it decides, and one that begins with `!` excludes. `*` also matches a
 * slash. `name` is the branch's name, percent-encoded, `display` its readable form (invalid UTF-8 replaced); a match of either counts. Names of
 * BRANCH_NAME_SIZE bytes and more match nothing.
 */
bool branch_patterns_watch(const struct config_repo *conf, const char *name, const char *display);

/** Whether one pattern, without regard to its `!`, matches a branch. Arguments as above. */
bool branch_pattern_matches(const char *pattern, const char *name, const char *display);

/**
 * Why no branch can ever match a pattern: it is no glob of a branch name, but a regular expression, an option or a ref.
 * Shape: why[size], a sentence that follows the pattern. Returns false, and why is "", where one can.
 */
bool branch_pattern_is_wrong(const char *pattern, char *why, size_t size);

#endif
