/**
 * forge.h - the request that sets the status of a commit at GitHub, GitLab, Gitea or Forgejo. Pure.
 */
#ifndef FLOPWATCHD_NOTIFICATION_FORGE_H
#define FLOPWATCHD_NOTIFICATION_FORGE_H

#include "base/buf.h"
#include "flopwatchd/runtime/config.h"

enum { FORGE_DESCRIPTION_MAX = 140 }; /* characters, which is what GitHub takes */

/**
 * What is said of a commit. `state` is ours, and each forge has its own word for it:
 *   pending running     waits; is being measured
 *   success failure     no loss; a loss, or a branch that broke
 *   neutral             nothing was decided: Gitea "warning", GitLab "canceled"; GitHub has no such word and shows "success",
 *                       whose description says it
 *   error               flopwatch could not do its work
 *   cancelled           nobody measured it: GitLab "canceled", Gitea "warning", GitHub "error"
 */
struct forge_word {
	const char *sha, *state, *context, *description;
	const char *target_url; /* "" none */
};

/** Append the address and the body of the POST. Err: ERR_INVALID a state that is none. */
int forge_request(
	const struct config_status *forge, const struct forge_word *word, struct buf *url, struct buf *body, struct fw_err *err);
/** The header that carries the access token. Shape: *name is a constant, value[size]. */
void forge_token(const struct config_status *forge, const char **name, char *value, size_t size);

#endif
