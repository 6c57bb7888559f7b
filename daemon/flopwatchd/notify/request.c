
#include "flopwatchd/notify/internal.h"

#include <stdio.h>

/* ---- forge ---- */

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

/* Write at most FORGE_DESCRIPTION_MAX characters; the last one is an ellipsis if the text is longer. */
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
	jsonw_format(&j, "{ state=%s target_url~=%s", state, word->target_url);
	write_description(&j, word->description);
	jsonw_kv_string(&j, is_kind(forge, "gitlab") ? "name" : "context", word->context);
	jsonw_object_end(&j);
	return 0;
}

/* Write the header with the access token. Shape: *name is a constant, value[size]. */
static void forge_token(const struct config_status *forge, const char **name, char *value, size_t size)
{
	bool gitlab = is_kind(forge, "gitlab"), github = is_kind(forge, "github");
	*name = gitlab ? "PRIVATE-TOKEN" : "Authorization";
	snprintf(value, size, "%s%s", gitlab ? "" : github ? "Bearer " : "token ", forge->token);
}

/* ---- request ---- */

enum { NOTIFICATION_MAX = 4 << 20, BODY_MAX = 1 << 20 };

static const char *get_text(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));
	return text ? text : "";
}

int deliver_sign(
	const char *secret, const char *id, int64_t timestamp_s, const struct buf *body, struct buf *out, struct fw_err *err)
{
	struct buf key, text;
	unsigned char mac[32];
	buf_init(&key, 4096);
	buf_init(&text, NOTIFICATION_MAX);
	int result = 0;
	if (strncmp(secret, "whsec_", 6) == 0)
		result = buf_unbase64(&key, secret + 6, strlen(secret + 6));
	else
		buf_puts(&key, secret);
	buf_printf(&text, "%s.%lld.", id, (long long)timestamp_s);
	buf_append(&text, body->data, body->len);
	if (result != 0 || key.failed || text.failed) {
		result = err_set(err, ERR_INVALID, "the secret after whsec_ is not base64");
	} else {
		hash_hmac(key.data, key.len, text.data, text.len, mac);
		buf_puts(out, "v1,");
		buf_base64(out, mac, sizeof mac);
	}
	explicit_bzero(key.data, key.len);
	buf_fini(&key);
	buf_fini(&text);
	return result;
}

/* Slack treats &, < and > as markup. */
static void write_slack_text(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '&')
			buf_puts(out, "&amp;");
		else if (*text == '<')
			buf_puts(out, "&lt;");
		else if (*text == '>')
			buf_puts(out, "&gt;");
		else
			buf_putc(out, *text);
}

static void write_slack_position(struct buf *out, const json_t *m)
{
	if (*get_text(m, "device"))
		buf_puts(out, " device "), write_slack_text(out, get_text(m, "device"));
	if (!*get_text(m, "repo"))
		return;
	buf_putc(out, ' ');
	write_slack_text(out, get_text(m, "repo"));
	buf_putc(out, ' ');
	write_slack_text(out, get_text(m, "branch"));
	buf_printf(out, " %.10s", get_text(m, "target"));
	if (*get_text(m, "subject"))
		buf_puts(out, " \""), write_slack_text(out, get_text(m, "subject")), buf_putc(out, '"');
}

static void write_slack_commit(struct buf *out, const json_t *m)
{
	const json_t *unfinished = json_object_get(m, "unfinished"), *name;
	const char *verdict = get_text(m, "commit_verdict");
	size_t i;
	if (*verdict && strcmp(verdict, get_text(m, "verdict")) != 0)
		buf_printf(out, ", the commit: %s", verdict);
	json_array_foreach(unfinished, i, name)
	{
		buf_puts(out, i ? ", " : ", waits for ");
		write_slack_text(out, json_string_value(name));
	}
}

/* Write one sentence: event, location, change and link. */
static void write_slack_body(const json_t *m, struct buf *out)
{
	const char *event = get_text(m, "event");
	const json_t *worst = json_object_get(m, "worst_pct");
	struct buf text;
	struct jsonw j;
	buf_init(&text, BODY_MAX);
	if (strcmp(event, "job.done") == 0)
		buf_printf(&text, "*%s* of suite ", get_text(m, "verdict")), write_slack_text(&text, get_text(m, "suite")),
			buf_puts(&text, " in");
	else
		buf_printf(&text, "*%s* %s", get_text(m, "kind"), strncmp(event, "alert.", 6) == 0 ? event + 6 : event);
	/* an automatic end has no user */
	if (*get_text(m, "by") && strcmp(get_text(m, "by"), "flopwatch") != 0)
		buf_puts(&text, " by "), write_slack_text(&text, get_text(m, "by"));
	write_slack_position(&text, m);
	if (*get_text(m, "title"))
		buf_puts(&text, ": "), write_slack_text(&text, get_text(m, "title"));
	if (json_is_number(worst))
		buf_printf(&text, ", worst %+.2f %%", json_number_value(worst));
	write_slack_commit(&text, m);
	if (*get_text(json_object_get(m, "why"), "sentence"))
		buf_puts(&text, ". Why: "), write_slack_text(&text, get_text(json_object_get(m, "why"), "sentence"));
	if (*get_text(m, "reason"))
		buf_puts(&text, " ("), write_slack_text(&text, get_text(m, "reason")), buf_putc(&text, ')');
	if (*get_text(m, "url"))
		buf_printf(&text, " <%s|look>", get_text(m, "url"));
	jsonw_init(&j, out);
	jsonw_format(&j, "{ text=%s }", text.data);
	out->failed |= text.failed;
	buf_fini(&text);
}

static int prepare_webhook(const struct config *config, const struct store_outbox *row, const struct buf *payload, int64_t now_ms,
	struct deliver *out, struct fw_err *err)
{
	int at = config_webhook_find(config, row->target);
	if (at < 0)
		return err_set(err, ERR_NOT_FOUND, "webhook %s is no longer configured", row->target);
	const struct config_webhook *to = &config->webhook[at];
	char timestamp[24];
	struct buf body, signature;
	struct jsonw j;
	int result = 0;
	buf_init(&body, BODY_MAX);
	buf_init(&signature, 128);
	json_t *message = strcmp(to->kind, "slack") == 0 ? json_loadb(payload->data, payload->len, 0, NULL) : NULL;
	if (message)
		write_slack_body(message, &body);
	else
		buf_append(&body, payload->data, payload->len);
	json_decref(message);
	snprintf(timestamp, sizeof timestamp, "%lld", (long long)(now_ms / 1000));
	if (to->secret[0])
		result = deliver_sign(to->secret, row->message_id, now_ms / 1000, &body, &signature, err);
	jsonw_init(&j, &out->in);
	jsonw_format(&j, "{ url=%s headers={ Content-Type=%s webhook-id=%s webhook-timestamp=%s", to->url, "application/json",
		row->message_id, timestamp);
	if (signature.len)
		jsonw_kv_string(&j, "webhook-signature", signature.data);
	jsonw_format(&j, "} body=%s allow_internal=%i }", body.data, to->allow_internal);
	out->in.failed |= body.failed;
	out->program = "flopwatch-send";
	buf_fini(&body);
	buf_fini(&signature);
	return result;
}

static int prepare_status(
	const struct config *config, const struct config_repo *repo, const json_t *m, struct deliver *out, struct fw_err *err)
{
	const struct config_status *forge = &repo->status;
	const char *header;
	char target_url[700] = "", token[CONFIG_SECRET_SIZE + 16];
	struct buf url, body;
	struct jsonw j;
	if (!forge->kind[0])
		return err_set(err, ERR_NOT_FOUND, "repository %s no longer has a status", repo->name);
	if (config->public_url[0])
		snprintf(target_url, sizeof target_url, "%s%s", config->public_url, get_text(m, "page"));
	struct forge_word word = { get_text(m, "sha"), get_text(m, "state"), get_text(m, "context"), get_text(m, "description"),
		target_url };
	buf_init(&url, 2048);
	buf_init(&body, BODY_MAX);
	int result = forge_request(forge, &word, &url, &body, err);
	forge_token(forge, &header, token, sizeof token);
	jsonw_init(&j, &out->in);
	jsonw_format(&j, "{ url=%s headers={ Content-Type=%s Accept=%s", url.data, "application/json",
		strcmp(forge->kind, "github") == 0 ? "application/vnd.github+json" : "application/json");
	jsonw_kv_string(&j, header, token);
	jsonw_format(&j, "} body=%s allow_internal=%i }", body.data, forge->allow_internal);
	out->in.failed |= url.failed || body.failed;
	out->program = "flopwatch-send";
	explicit_bzero(token, sizeof token);
	buf_fini(&url);
	buf_fini(&body);
	return result;
}

static int prepare_note(
	const struct config *config, const struct config_repo *repo, const json_t *m, struct deliver *out, struct fw_err *err)
{
	int n = 0;
	if (config_repo_path(config, repo, out->path, sizeof out->path, err) != 0)
		return -1;
	snprintf(out->sha, sizeof out->sha, "%.64s", get_text(m, "sha"));
	buf_puts(&out->in, get_text(m, "text"));
	out->program = "flopwatch-git";
	out->args[n++] = "note";
	out->args[n++] = "--repo";
	out->args[n++] = out->path;
	out->args[n++] = "--commit";
	out->args[n++] = out->sha;
	out->args[n++] = "--file";
	out->args[n++] = "/dev/stdin";
	if (strcmp(repo->notes, "push") == 0) {
		out->args[n++] = "--push";
		out->args[n++] = repo->url;
	}
	if (strcmp(repo->notes, "push") == 0)
		n += config_repo_access(repo, out->args + n);
	out->args[n] = NULL;
	return 0;
}

int deliver_prepare(const struct config *config, const struct store_outbox *row, const struct buf *payload, int64_t now_ms,
	struct deliver *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	buf_init(&out->in, NOTIFICATION_MAX);
	if (strcmp(row->kind, "webhook") == 0)
		return prepare_webhook(config, row, payload, now_ms, out, err);
	int at = config_repo_find(config, row->target);
	if (at < 0)
		return err_set(err, ERR_NOT_FOUND, "repository %s is no longer configured", row->target);
	json_t *message = json_loadb(payload->data, payload->len, 0, NULL);
	int result = !message                           ? err_set(err, ERR_INVALID, "the notification is not JSON")
		     : strcmp(row->kind, "status") == 0 ? prepare_status(config, &config->repo[at], message, out, err)
							: prepare_note(config, &config->repo[at], message, out, err);
	json_decref(message);
	if (result == 0 && out->in.failed)
		result = err_set(err, ERR_FULL, "the notification does not fit");
	return result;
}

void deliver_fini(struct deliver *d)
{
	explicit_bzero(d->in.data, d->in.len); /* it may contain a token */
	buf_fini(&d->in);
}
