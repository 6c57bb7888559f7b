#include "flopwatchd/notify/internal.h"

/* ---- forge ---- */

enum { GITLAB_URL_MAX = 255 };
enum { ANNOTATION_TITLE_MAX = 255 /* characters, of GitHub */ };

/* GitHub and some versions of Gitea know no "warning". */
static const struct {
	const char *state, *github, *gitlab, *forgejo;
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
			return is_kind(forge, "gitlab")    ? states[i].gitlab
			       : is_kind(forge, "forgejo") ? states[i].forgejo
							   : states[i].github;
	return NULL;
}

/* Write at most `max` characters, 255 at most; the last one is an ellipsis if the text is longer. */
static void write_cut(struct jsonw *j, const char *key, const char *text, size_t max)
{
	char cut[4 * ANNOTATION_TITLE_MAX + 8];
	size_t n = 0, len = 0, cut_at = 0;
	for (; text[len]; len++) {
		if (((unsigned char)text[len] & 0xc0) == 0x80)
			continue;
		if (n == max - 1)
			cut_at = len;
		if (++n > max)
			break;
	}
	if (n > max && cut_at < sizeof cut - 4) {
		snprintf(cut, sizeof cut, "%.*s\xe2\x80\xa6", (int)cut_at, text);
		text = cut;
	}
	jsonw_kv_string(j, key, text);
}

/* Append the address of the project, with a final slash. */
static void put_project(const struct config_status *forge, struct buf *url)
{
	buf_printf(url, "%s/%s/", forge->api, is_kind(forge, "gitlab") ? "projects" : "repos");
	for (const char *c = forge->project; *c; c++) /* GitLab needs one path component, the others two */
		if (*c == '/' && is_kind(forge, "gitlab"))
			buf_puts(url, "%2F");
		else
			buf_putc(url, *c);
	buf_putc(url, '/');
}

int forge_request(const struct config_status *forge, const struct forge_status *status, struct buf *url, struct buf *body,
	struct fw_err *err)
{
	const char *state = map_state(forge, status->state);
	/* GitLab refuses a status with a longer address */
	bool has_page = !is_kind(forge, "gitlab") || strlen(status->target_url) <= GITLAB_URL_MAX;
	struct jsonw j;
	if (!state)
		return err_set(err, ERR_INVALID, "%.40s is not a state of a commit", status->state);
	put_project(forge, url);
	buf_printf(url, "statuses/%s", status->sha);
	jsonw_init(&j, body);
	jsonw_format(&j, "{ state=%s target_url~=%s", state, has_page ? status->target_url : "");
	write_cut(&j, "description", status->description, FORGE_DESCRIPTION_MAX);
	jsonw_kv_string(&j, is_kind(forge, "gitlab") ? "name" : "context", status->context);
	jsonw_object_end(&j);
	return 0;
}

enum { SUMMARY_MAX = 60000 /* characters; GitHub accepts 65535 */ };

/* A check run ends with a conclusion; NULL: it has not ended. "error" is a failure of flopwatch itself, for an administrator. */
static const struct {
	const char *state, *status, *conclusion;
} check_runs[] = {
	{ "pending", "queued", NULL },
	{ "running", "in_progress", NULL },
	{ "success", "completed", "success" },
	{ "failure", "completed", "failure" },
	{ "neutral", "completed", "neutral" },
	{ "error", "completed", "action_required" },
	{ "cancelled", "completed", "cancelled" },
};

static int find_check_run(const char *state)
{
	for (int i = 0; i < (int)(sizeof check_runs / sizeof check_runs[0]); i++)
		if (strcmp(check_runs[i].state, state) == 0)
			return i;
	return -1;
}

bool forge_check_run_has_ended(const char *state)
{
	int at = find_check_run(state);
	return at >= 0 && check_runs[at].conclusion;
}

void forge_put_code_line(struct buf *out, const char *text)
{
	buf_puts(out, "    ");
	for (; *text; text++)
		buf_putc(out, *text == '\n' || *text == '\r' ? ' ' : *text);
	buf_puts(out, "\n");
}

/* GitHub shows an annotation at a line of a file; a cell has none but the manifest that lists what is measured. */
static void write_annotations(struct jsonw *j, const json_t *findings)
{
	const json_t *one;
	size_t i;
	jsonw_kv_array(j, "annotations");
	json_array_foreach(findings, i, one)
	{
		const char *cell = json_string_value(json_object_get(one, "cell"));
		const char *text = json_string_value(json_object_get(one, "text"));
		jsonw_format(j, "{ path=%s start_line=%d end_line=%d annotation_level=%s", ".flopwatch.yaml", 1, 1,
			json_is_true(json_object_get(one, "is_loss")) ? "failure" : "notice");
		write_cut(j, "title", cell ? cell : "", ANNOTATION_TITLE_MAX);
		jsonw_format(j, "message=%s }", text ? text : "");
	}
	jsonw_array_end(j);
}

int forge_check_run(const struct config_status *forge, const struct forge_status *status, const json_t *findings,
	const char *sent_id, const char **method, struct buf *url, struct buf *body, struct fw_err *err)
{
	int at = find_check_run(status->state);
	struct buf summary;
	struct jsonw j;
	if (at < 0)
		return err_set(err, ERR_INVALID, "%.40s is not a state of a commit", status->state);
	*method = *sent_id ? "PATCH" : "POST";
	put_project(forge, url);
	buf_printf(url, "check-runs%s%s", *sent_id ? "/" : "", sent_id);
	jsonw_init(&j, body);
	jsonw_format(&j, "{ name=%s", status->context);
	if (!*sent_id)
		jsonw_format(&j, "head_sha=%s", status->sha);
	jsonw_format(&j, "status=%s conclusion~=%s details_url~=%s output={", check_runs[at].status,
		check_runs[at].conclusion ? check_runs[at].conclusion : "", status->target_url);
	write_cut(&j, "title", status->description, FORGE_DESCRIPTION_MAX);
	buf_init(&summary, SUMMARY_MAX);
	forge_put_code_line(&summary, status->description); /* GitHub interprets a summary as Markdown, but no title */
	jsonw_kv_string(&j, "summary", summary.data);
	body->failed |= summary.failed;
	buf_fini(&summary);
	if (json_array_size(findings))
		write_annotations(&j, findings);
	jsonw_format(&j, "} }");
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

enum { NOTIFICATION_MAX = 4 << 20, BODY_MAX = MESSAGE_TEXT_MAX };

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

/* Write the request of a program: the event as it is, or for Slack a sentence, both signed. */
static int prepare_program(const struct config_webhook *to, const struct deliver_content *what, int64_t now_ms,
	struct deliver *out, struct fw_err *err)
{
	char timestamp[24];
	struct buf body, signature;
	struct jsonw j;
	int result = 0;
	buf_init(&body, BODY_MAX);
	buf_init(&signature, 128);
	if (to->kind == RECEIVER_SLACK)
		result = message_slack(what, &body, err);
	else
		buf_append(&body, what->payload->data, what->payload->len);
	snprintf(timestamp, sizeof timestamp, "%lld", (long long)(now_ms / 1000));
	if (result == 0 && to->secret[0])
		result = deliver_sign(to->secret, what->id, now_ms / 1000, &body, &signature, err);
	jsonw_init(&j, &out->in);
	jsonw_format(&j, "{ url=%s ca_file~=%s headers={ Content-Type=%s webhook-id=%s webhook-timestamp=%s", to->url,
		to->ca_file, "application/json", what->id, timestamp);
	if (signature.len)
		jsonw_kv_string(&j, "webhook-signature", signature.data);
	jsonw_format(&j, "} body=%s allow_internal=%i }", body.data, to->allow_internal);
	out->in.failed |= body.failed;
	buf_fini(&body);
	buf_fini(&signature);
	return result;
}

static int prepare_webhook(const struct config *config, const struct store_outbox *row, const struct deliver_content *what,
	int64_t now_ms, struct deliver *out, struct fw_err *err)
{
	int at = config_webhook_find(config, row->target);
	if (at < 0)
		return err_set(err, ERR_NOT_FOUND, "webhook %s is no longer configured", row->target);
	const struct config_webhook *to = &config->webhook[at];
	out->program = "flopwatch-send";
	if (to->kind == RECEIVER_PROGRAM || to->kind == RECEIVER_SLACK)
		return prepare_program(to, what, now_ms, out, err);
	return message_request(to, what, now_ms, out, err);
}

static int require_forge(const struct config_repo *repo, struct fw_err *err)
{
	return repo->status.kind[0] ? 0 : err_set(err, ERR_NOT_FOUND, "repository %s no longer has a status", repo->name);
}

/* Requested parts of a response of the forge. */
struct wanted {
	const char *answer; /* member of the response to store; "" none */
	const char *line;   /* comments with this line; "" none */
	const char *etag;   /* of an earlier response, which is still known; "" none */
};

/* Write the input of flopwatch-send for a request to the forge. */
static void write_call(const struct config_status *forge, const char *method, const struct wanted *wanted, const struct buf *url,
	const struct buf *body, struct deliver *out)
{
	const char *header;
	char token[CONFIG_SECRET_SIZE + 16];
	struct jsonw j;
	forge_token(forge, &header, token, sizeof token);
	jsonw_init(&j, &out->in);
	jsonw_format(&j, "{ url=%s method=%s answer~=%s line~=%s headers={ Content-Type=%s Accept=%s If-None-Match~=%s",
		url->data, method, wanted->answer, wanted->line, "application/json",
		is_kind(forge, "github") ? "application/vnd.github+json" : "application/json", wanted->etag);
	jsonw_kv_string(&j, header, token);
	jsonw_format(&j, "} body=%s allow_internal=%i }", body->data, forge->allow_internal);
	out->in.failed |= url->failed || body->failed;
	out->program = "flopwatch-send";
	explicit_bzero(token, sizeof token);
}

/* Append the address of the comments on a request; of GitLab one of them has the same beginning. */
static void put_comments(const struct config_status *forge, long long number, struct buf *url)
{
	put_project(forge, url);
	buf_printf(url, is_kind(forge, "gitlab") ? "merge_requests/%lld/notes" : "issues/%lld/comments", number);
}

/*
 * List a page of the comments on a request; `more`: further arguments, "&NAME=VALUE". Gitea and Forgejo return all comments and
 * know no pages of them.
 */
static void prepare_list(const struct config_status *forge, long long number, int page, const char *more,
	const struct wanted *wanted, struct deliver *out)
{
	struct buf url, body;
	buf_init(&url, 2048);
	buf_init(&body, 16);
	put_comments(forge, number, &url);
	if (is_kind(forge, "github") || is_kind(forge, "gitlab"))
		buf_printf(&url, "?per_page=50&page=%d%s", page, more);
	else if (*more)
		buf_printf(&url, "?%s", more + 1);
	write_call(forge, "GET", wanted, &url, &body, out);
	out->is_search = true;
	buf_fini(&url);
	buf_fini(&body);
}

/* One comment on the request, which later results replace. */
static int prepare_comment(const struct config_repo *repo, const json_t *m, const struct deliver_content *what,
	struct deliver *out, struct fw_err *err)
{
	const struct config_status *forge = &repo->status;
	bool is_gitlab = is_kind(forge, "gitlab"), is_update = what->sent_id && *what->sent_id;
	long long number = (long long)json_integer_value(json_object_get(m, "number"));
	struct buf url, body;
	struct jsonw j;
	if (require_forge(repo, err) != 0)
		return -1;
	if (!is_update && what->mark) { /* an earlier one may be there: its answer did not arrive */
		prepare_list(forge, number, what->page, is_gitlab ? "&order_by=created_at&sort=asc" : "",
			&(struct wanted){ "", what->mark, "" }, out);
		return 0;
	}
	buf_init(&url, 2048);
	buf_init(&body, BODY_MAX);
	if (is_update && !is_gitlab) {
		put_project(forge, &url);
		buf_printf(&url, "issues/comments/%s", what->sent_id);
	} else {
		put_comments(forge, number, &url);
		if (is_update)
			buf_printf(&url, "/%s", what->sent_id);
	}
	jsonw_init(&j, &body);
	jsonw_format(&j, "{ body=%s }", what->text ? what->text->data : "");
	write_call(forge, !is_update ? "POST" : is_gitlab ? "PUT" : "PATCH", &(struct wanted){ "id", "", "" }, &url, &body, out);
	buf_fini(&url);
	buf_fini(&body);
	return 0;
}

int deliver_prepare_poll(const struct config_repo *repo, const struct deliver_poll *poll, struct deliver *out, struct fw_err *err)
{
	char line[256], since[32], more[64];
	memset(out, 0, sizeof *out);
	buf_init(&out->in, NOTIFICATION_MAX);
	if (require_forge(repo, err) != 0)
		return -1;
	clock_format(poll->since_ms, since);
	if (is_kind(&repo->status, "gitlab"))
		snprintf(more, sizeof more, "&order_by=created_at&sort=desc");
	else
		snprintf(more, sizeof more, "&since=%.19sZ", since);
	snprintf(line, sizeof line, "%s %s", repo->pulls.approve_by.comment, poll->head);
	prepare_list(&repo->status, poll->number, poll->page, more, &(struct wanted){ "", line, poll->etag }, out);
	return out->in.failed ? err_set(err, ERR_FULL, "the request does not fit") : 0;
}

/* Request from the forge the permission of the user who approves. */
static int prepare_approval(const struct config_repo *repo, const char *payload, struct deliver *out, struct fw_err *err)
{
	const struct config_status *forge = &repo->status;
	struct forge_approval one;
	struct buf url, body;
	if (require_forge(repo, err) != 0 || approval_read(payload, &one, err) != 0)
		return -1;
	bool is_gitlab = is_kind(forge, "gitlab");
	if (is_gitlab && one.who_id < 1)
		return err_set(err, ERR_INVALID, "the event has no number of the user %.100s", one.who);
	if (strspn(one.who, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != strlen(one.who) ||
		strspn(one.who, ".") == strlen(one.who))
		return err_set(err, ERR_INVALID, "`%.100s` is not a name of a user", one.who);
	buf_init(&url, 2048);
	buf_init(&body, 16);
	put_project(forge, &url);
	if (is_gitlab)
		buf_printf(&url, "members/all/%lld", (long long)one.who_id);
	else
		buf_printf(&url, "collaborators/%s/permission", one.who);
	write_call(forge, "GET", &(struct wanted){ is_gitlab ? "access_level" : "permission", "", "" }, &url, &body, out);
	buf_fini(&url);
	buf_fini(&body);
	return 0;
}

static int prepare_status(const struct config *config, const struct config_repo *repo, const json_t *m,
	const struct deliver_content *what, struct deliver *out, struct fw_err *err)
{
	const struct config_status *forge = &repo->status;
	const char *method = "POST", *sent_id = what->sent_id ? what->sent_id : "";
	char target_url[700] = "";
	struct buf url, body;
	int result;
	if (require_forge(repo, err) != 0)
		return -1;
	if (config->public_url[0])
		snprintf(target_url, sizeof target_url, "%s%s", config->public_url, get_text(m, "page"));
	struct forge_status status = { get_text(m, "sha"), get_text(m, "state"), get_text(m, "context"),
		get_text(m, "description"), target_url };
	buf_init(&url, 2048);
	buf_init(&body, BODY_MAX);
	bool had_ended = *sent_id && what->sent_state && forge_check_run_has_ended(what->sent_state);
	/* a check run that has ended cannot begin again; it has its annotations, and GitHub would append them again */
	if (had_ended && !forge_check_run_has_ended(status.state))
		sent_id = "";
	if (forge->checks)
		result = forge_check_run(
			forge, &status, had_ended ? NULL : json_object_get(m, "findings"), sent_id, &method, &url, &body, err);
	else
		result = forge_request(forge, &status, &url, &body, err);
	out->may_be_400 = is_kind(forge, "gitlab") && (!strcmp(status.state, "pending") || !strcmp(status.state, "running"));
	write_call(forge, method,
		&(struct wanted){ forge->checks     ? "id"
				  : out->may_be_400 ? "message"
						    : "",
			"", "" },
		&url, &body, out);
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

int deliver_prepare(const struct config *config, const struct store_outbox *row, const struct deliver_content *what,
	int64_t now_ms, struct deliver *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	buf_init(&out->in, NOTIFICATION_MAX);
	int at = config_repo_find(config, row->target), result;
	if (strcmp(row->kind, "webhook") == 0) {
		result = prepare_webhook(config, row, what, now_ms, out, err);
	} else if (at < 0) {
		result = err_set(err, ERR_NOT_FOUND, "repository %s is no longer configured", row->target);
	} else {
		json_t *message = json_loadb(what->payload->data, what->payload->len, 0, NULL);
		const struct config_repo *repo = &config->repo[at];
		result = !message                             ? err_set(err, ERR_INVALID, "the notification is not JSON")
			 : strcmp(row->kind, "status") == 0   ? prepare_status(config, repo, message, what, out, err)
			 : strcmp(row->kind, "comment") == 0  ? prepare_comment(repo, message, what, out, err)
			 : strcmp(row->kind, "approval") == 0 ? prepare_approval(repo, what->payload->data, out, err)
							      : prepare_note(config, repo, message, out, err);
		json_decref(message);
	}
	if (result == 0 && out->in.failed)
		result = err_set(err, ERR_FULL, "the notification does not fit");
	return result;
}

void deliver_fini(struct deliver *d)
{
	explicit_bzero(d->in.data, d->in.len); /* it may contain a token */
	buf_fini(&d->in);
}
