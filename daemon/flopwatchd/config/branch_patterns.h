/** branch_patterns.h - the globs of `branches`, which select the branches that the daemon watches. */
#ifndef FLOPWATCHD_CONFIG_BRANCH_PATTERNS_H
#define FLOPWATCHD_CONFIG_BRANCH_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "flopwatchd/config/config.h"

enum { BRANCH_NAME_SIZE = 1024 /* bytes, encoded; as a job's branch */ };

/**
 * True if the daemon watches a branch: the last pattern that matches decides, and one that begins with `!` excludes. `*` also
 * matches a slash. `name` is the percent-encoded branch name, `display` its readable form (invalid UTF-8 replaced); a match of
 * either counts. Names of BRANCH_NAME_SIZE bytes or more match nothing.
 */
bool branch_patterns_watch(const struct config_repo *conf, const char *name, const char *display);

/** True if one pattern matches a branch; its `!` is ignored. Arguments as above. */
bool branch_pattern_matches(const char *pattern, const char *name, const char *display);

/**
 * True if a pattern can never match a branch because it is a regular expression, an option or a ref. `why` then gets a clause
 * that follows the pattern, else "". Shape: why[size].
 */
bool branch_pattern_is_wrong(const char *pattern, char *why, size_t size);

#endif
