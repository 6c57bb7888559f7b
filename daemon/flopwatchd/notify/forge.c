#include "flopwatchd/notify/internal.h"

#include <stdio.h>

#include "lib/lib.h"

static const struct {
	const char *state, *github, *gitlab, *gitea;
} states[] = {
	{ "pending", "pending", "pending", "pending" },
	{ "running", "pending", "running", "pending" },
	{ "success", "success", "success", "success" },
	{ "failure", "failure", "failed", "failure" },
	{ "neutral", "success", "canceled", "warning" },
	{ "error", "error", "failed", "error" },
	{ "cancelled", "error", "canceled", "warning" },
};

static bool is_kind(const struct config_status *forge, const char *kind)
{
	return strcmp(forge->kind, kind) == 0;
}

static const char *map_state(const struct config_status *forge, const char *state)
{
	for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
		if (strcmp(states[i].state, state) == 0)
			return is_kind(forge, "github")   ? states[i].github
			       : is_kind(forge, "gitlab") ? states[i].gitlab
							  : states[i].gitea;
	return NULL;
}

/* Write at most FORGE_DESCRIPTION_MAX characters, the last an ellipsis if the text is longer. */
static void write_description(struct jsonw *j, const char *text)
{
	char cut[4 * FORGE_DESCRIPTION_MAX + 8];
	size_t n = 0, len = 0, keep = 0;
	for (; text[len]; len++) {
		if (((unsigned char)text[len] & 0xc0) == 0x80)
			continue;
		if (n == FORGE_DESCRIPTION_MAX - 1)
			keep = len;
		if (++n > FORGE_DESCRIPTION_MAX)
			break;
	}
	if (n > FORGE_DESCRIPTION_MAX && keep < sizeof cut - 4) {
		snprintf(cut, sizeof cut, "%.*s\xe2\x80\xa6", (int)keep, text);
		text = cut;
	}
	jsonw_kv_string(j, "description", text);
}

int forge_request(
	const struct config_status *forge, const struct forge_word *word, struct buf *url, struct buf *body, struct fw_err *err)
{
	const char *state = map_state(forge, word->state);
	struct jsonw j;
	if (!state)
		return err_set(err, ERR_INVALID, "%.40s is not a state of a commit", word->state);
	buf_printf(url, "%s/%s/", forge->api, is_kind(forge, "gitlab") ? "projects" : "repos");
	for (const char *c = forge->project; *c; c++) /* GitLab needs one path component, the others two */
		if (*c == '/' && is_kind(forge, "gitlab"))
			buf_puts(url, "%2F");
		else
			buf_putc(url, *c);
	buf_printf(url, "/statuses/%s", word->sha);
	jsonw_init(&j, body);
	jsonw_object(&j);
	jsonw_kv_string(&j, "state", state);
	if (word->target_url[0])
		jsonw_kv_string(&j, "target_url", word->target_url);
	write_description(&j, word->description);
	jsonw_kv_string(&j, is_kind(forge, "gitlab") ? "name" : "context", word->context);
	jsonw_object_end(&j);
	return 0;
}

void forge_token(const struct config_status *forge, const char **name, char *value, size_t size)
{
	bool gitlab = is_kind(forge, "gitlab"), github = is_kind(forge, "github");
	*name = gitlab ? "PRIVATE-TOKEN" : "Authorization";
	snprintf(value, size, "%s%s", gitlab ? "" : github ? "Bearer " : "token ", forge->token);
}
