/** forge.h - requests that set a commit status at GitHub, GitLab, Gitea or Forgejo. Pure. */
#ifndef FLOPWATCHD_NOTIFICATION_FORGE_H
#define FLOPWATCHD_NOTIFICATION_FORGE_H

#include "lib/buf.h"
#include "flopwatchd/config/config.h"

enum { FORGE_DESCRIPTION_MAX = 140 }; /* characters, GitHub's limit */

/**
 * A commit status. `state` is one of flopwatch's, which forges map differently:
 *   pending running     waits; is being measured
 *   success failure     no loss; a loss, or a failing branch
 *   neutral             nothing was decided: Gitea "warning", GitLab "canceled", GitHub "success" with a description
 *   error               flopwatch failed
 *   cancelled           not measured: GitLab "canceled", Gitea "warning", GitHub "error"
 */
struct forge_word {
	const char *sha, *state, *context, *description;
	const char *target_url; /* "": none */
};

/** Append the URL and the body of the POST. Err: ERR_INVALID an unknown state. */
int forge_request(
	const struct config_status *forge, const struct forge_word *word, struct buf *url, struct buf *body, struct fw_err *err);
/** Make the header with the access token. Shape: *name is a constant, value[size]. */
void forge_token(const struct config_status *forge, const char **name, char *value, size_t size);

#endif
