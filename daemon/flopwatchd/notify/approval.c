/* approval.c - approvals by users of the forge: events of its webhook, and users that may approve. */
#include "flopwatchd/notify/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { EVENT_MAX = 1 << 20 };

/* ---- events ---- */

/* The value at a path of keys "a.b.c"; NULL: none. */
static const json_t *find_value(const json_t *root, const char *path)
{
	char key[64];
	while (root && *path) {
		size_t n = strcspn(path, ".");
		snprintf(key, sizeof key, "%.*s", (int)n, path);
		root = json_object_get(root, key);
		path += n + (path[n] == '.');
	}
	return root;
}

static const char *find_text(const json_t *root, const char *path)
{
	const char *text = json_string_value(find_value(root, path));
	return text ? text : "";
}

static int64_t find_integer(const json_t *root, const char *path)
{
	return (int64_t)json_integer_value(find_value(root, path));
}

/* The number of a request; 0: none. */
static int find_number(const json_t *root, const char *path)
{
	int64_t n = find_integer(root, path);
	return n > 0 && n <= INT32_MAX ? (int)n : 0;
}

/* Copy a name; "" if it does not fit, because its beginning may be another user's name. */
static void copy_name(char out[128], const char *name)
{
	snprintf(out, 128, "%s", strlen(name) < 128 ? name : "");
}

/* Whether a list of labels has one of this name, at key `name` or `title`. */
static bool has_label(const json_t *list, const char *key, const char *label)
{
	const json_t *one;
	size_t i;
	json_array_foreach(list, i, one)
	{
		if (strcmp(find_text(one, key), label) == 0)
			return true;
	}
	return false;
}

/* Find a line "TEXT HASH" in a comment. Without the hash, a push after the user read the commit would be approved. */
static bool find_commit(const char *comment, const char *text, char head[65])
{
	size_t len = strlen(text);
	for (const char *line = comment; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *rest = line + len;
		if (strncmp(line, text, len) != 0 || *rest != ' ')
			continue;
		rest++; /* one space, as in the line that flopwatch-send finds */
		size_t n = strspn(rest, "0123456789abcdef"), end = strspn(rest + n, " \r");
		if (n >= 65 || (rest[n + end] && rest[n + end] != '\n'))
			continue;
		snprintf(head, 65, "%.*s", (int)n, rest);
		if (oid_is_whole(head))
			return true;
	}
	return false;
}

/* GitHub, Gitea and Forgejo. The event's name is in a header, which the signature does not cover, so the body decides. */
static bool read_github(const struct config_approve_by *by, const json_t *event, struct forge_approval *out)
{
	const char *action = find_text(event, "action"), *who = find_text(event, "sender.login");
	const json_t *pull = find_value(event, "pull_request"), *issue = find_value(event, "issue");
	bool is_label = strcmp(action, "labeled") == 0 && strcmp(find_text(event, "label.name"), by->label) == 0;
	bool is_labels =
		strcmp(action, "label_updated") == 0 && has_label(find_value(event, "changes.added_labels"), "name", by->label);
	copy_name(out->who, who);
	if (by->label[0] && json_is_object(pull) && !issue && (is_label || is_labels)) {
		out->number = find_number(pull, "number");
		snprintf(out->head, sizeof out->head, "%s", find_text(pull, "head.sha"));
		return true;
	}
	if (!by->comment[0] || !json_is_object(find_value(issue, "pull_request")) || strcmp(action, "created") != 0 ||
		strcmp(find_text(event, "comment.user.login"), who) != 0)
		return false;
	out->number = find_number(issue, "number");
	return find_commit(find_text(event, "comment.body"), by->comment, out->head);
}

static bool read_gitlab(const struct config_approve_by *by, const json_t *event, struct forge_approval *out)
{
	const char *kind = find_text(event, "object_kind"), *action = find_text(event, "object_attributes.action");
	copy_name(out->who, find_text(event, "user.username"));
	out->who_id = find_integer(event, "user.id");
	if (by->label[0] && strcmp(kind, "merge_request") == 0 && strcmp(action, "update") == 0 &&
		has_label(find_value(event, "changes.labels.current"), "title", by->label) &&
		!has_label(find_value(event, "changes.labels.previous"), "title", by->label)) {
		out->number = find_number(event, "object_attributes.iid");
		snprintf(out->head, sizeof out->head, "%s", find_text(event, "object_attributes.last_commit.id"));
		return true;
	}
	/* older versions name no action of a note */
	if (!by->comment[0] || strcmp(kind, "note") != 0 || (*action && strcmp(action, "create") != 0) ||
		strcmp(find_text(event, "object_attributes.noteable_type"), "MergeRequest") != 0 ||
		find_integer(event, "object_attributes.author_id") != out->who_id)
		return false;
	out->number = find_number(event, "merge_request.iid");
	return find_commit(find_text(event, "object_attributes.note"), by->comment, out->head);
}

bool forge_event_read(const struct config_repo *repo, const char *body, size_t len, struct forge_approval *out)
{
	const struct config_approve_by *by = &repo->pulls.approve_by;
	bool is_gitlab = strcmp(repo->status.kind, "gitlab") == 0, found = false;
	*out = (struct forge_approval){ .number = 0 };
	if ((!by->label[0] && !by->comment[0]) || len > EVENT_MAX)
		return false;
	json_t *event = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
	/* webhooks of several projects may have one secret */
	const char *project = find_text(event, is_gitlab ? "project.path_with_namespace" : "repository.full_name");
	if (event && strcasecmp(project, repo->status.project) == 0)
		found = is_gitlab ? read_gitlab(by, event, out) : read_github(by, event, out);
	json_decref(event);
	return found && out->number > 0 && oid_is_whole(out->head) && out->who[0];
}

bool forge_comment_read(const struct config_repo *repo, const json_t *comment, int number, const char *head, int64_t *id,
	struct forge_approval *out)
{
	bool is_gitlab = strcmp(repo->status.kind, "gitlab") == 0;
	const char *created = find_text(comment, "created_at");
	*id = find_integer(comment, "id");
	*out = (struct forge_approval){ .number = number };
	snprintf(out->head, sizeof out->head, "%s", head);
	copy_name(out->who, find_text(comment, is_gitlab ? "author.username" : "user.login"));
	out->who_id = is_gitlab ? find_integer(comment, "author.id") : 0;
	/* an administrator of the project can change the text of every user */
	bool is_unchanged = created[0] && strcmp(created, find_text(comment, "updated_at")) == 0;
	return *id > 0 && number > 0 && is_unchanged && !json_is_true(find_value(comment, "system")) &&
	       json_is_false(find_value(comment, "imported")) && out->who[0] && oid_is_whole(out->head);
}

/* ---- the outbox ---- */

enum { STRANGERS_MAX = 8 }; /* approvals of a request that wait for the forge's answer about their users */

enum admission { FAILED = -1, ADMITTED, REFUSED, TOO_MANY };

/* Anyone can comment: whether to drop the approval of a user who is not listed, without a request to the forge. */
static enum admission admit(struct db *db, const struct config_repo *repo, const struct forge_approval *one, struct fw_err *err)
{
	const struct config_approve_by *by = &repo->pulls.approve_by;
	const char *why = "pull_requests.approve_by does not name this user";
	enum admission result = REFUSED;
	char prefix[16];
	int64_t n = 0;
	if (approval_is_listed(by, one->who))
		return ADMITTED;
	if (by->permission[0]) {
		snprintf(prefix, sizeof prefix, "%d ", one->number);
		if (store_outbox_waiting(db, "approval", repo->name, prefix, &n, err) != 0)
			return FAILED;
		if (n < STRANGERS_MAX)
			return ADMITTED;
		result = TOO_MANY;
		why = "too many approvals of this request wait for an answer of the forge";
	}
	log_warning("pull.refused", "repo=%s pull=%d commit=%s who=%s err=%s", log_quote(repo->name), one->number, one->head,
		log_quote(one->who), log_quote(why));
	return result;
}

int approval_enqueue_one(
	struct db *db, const struct config_repo *repo, const struct forge_approval *one, int64_t now_ms, struct fw_err *err)
{
	char subject[260];
	struct buf payload;
	struct jsonw j;
	enum admission admission = admit(db, repo, one, err);
	if (admission != ADMITTED)
		return admission == FAILED ? -1 : admission == TOO_MANY;
	/* not the commit: of a user's approvals of a request the newest counts, and a stranger has one row at most */
	snprintf(subject, sizeof subject, "%d %s", one->number, one->who);
	buf_init(&payload, 4096);
	jsonw_init(&j, &payload);
	jsonw_format(&j, "{ number=%d head=%s who=%s who_id=%ld at=%ld }", one->number, one->head, one->who, one->who_id,
		now_ms); /* a user who was refused may try again */
	int result = payload.failed ? err_set(err, ERR_FULL, "the approval of request %d does not fit", one->number)
				    : store_outbox_replace(db, "approval", repo->name, subject, payload.data, now_ms, err);
	buf_fini(&payload);
	return result;
}

int approval_enqueue(
	struct db *db, const struct config_repo *repo, const char *body, size_t len, int64_t now_ms, struct fw_err *err)
{
	struct forge_approval one;
	return forge_event_read(repo, body, len, &one) && approval_enqueue_one(db, repo, &one, now_ms, err) < 0 ? -1 : 0;
}

int approval_read(const char *payload, struct forge_approval *out, struct fw_err *err)
{
	json_t *root = json_loads(payload, 0, NULL);
	*out = (struct forge_approval){ .number = find_number(root, "number"), .who_id = find_integer(root, "who_id") };
	snprintf(out->head, sizeof out->head, "%s", find_text(root, "head"));
	copy_name(out->who, find_text(root, "who"));
	json_decref(root);
	return out->number > 0 && oid_is_whole(out->head) && out->who[0]
		       ? 0
		       : err_set(err, ERR_INVALID, "the row is not an approval");
}

bool approval_is_listed(const struct config_approve_by *by, const char *who)
{
	for (int i = 0; i < by->n_users; i++)
		if (strcmp(by->user[i], who) == 0)
			return true;
	return false;
}

bool approval_is_enough(const struct config_repo *repo, const char *permission)
{
	enum { GITLAB_WRITE = 30 /* developer */, GITLAB_ADMIN = 40 /* maintainer */ };
	const char *wanted = repo->pulls.approve_by.permission;
	bool wants_admin = strcmp(wanted, "admin") == 0;
	if (!wanted[0])
		return false;
	if (strcmp(repo->status.kind, "gitlab") == 0)
		return strspn(permission, "0123456789") == strlen(permission) &&
		       strtol(permission, NULL, 10) >= (wants_admin ? GITLAB_ADMIN : GITLAB_WRITE);
	return strcmp(permission, "admin") == 0 || strcmp(permission, "owner") == 0 ||
	       (!wants_admin && strcmp(permission, "write") == 0);
}
