/* gitread.c - conversion of flopwatch-git's JSON lines; a missing key or wrong type is a protocol error. */
#include "flopwatchd/watch/watch.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOB_BYTES_MAX = 1 << 20 };

static int set_error(struct fw_err *err, const char *key)
{
	return err_set(err, ERR_PROTOCOL, "flopwatch-git printed no valid `%s`", key);
}

static int read_sha(const json_t *object, const char *key, char sha[65], struct fw_err *err)
{
	const char *text = json_string_value(json_object_get(object, key));
	if (!oid_is_whole(text))
		return set_error(err, key);
	memcpy(sha, text, strlen(text) + 1);
	return 0;
}

static void read_truncated(const json_t *object, const char *key, char *out, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));
	snprintf(out, size, "%s", text ? text : "");
	if (text)
		out[utf8_cut(text, strlen(text), size - 1)] = 0;
}

static json_t *read_object(const struct buf *out, struct fw_err *err)
{
	json_t *object = json_loadb(out->data, out->len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(object)) {
		json_decref(object);
		err_set(err, ERR_PROTOCOL, "flopwatch-git printed no JSON object");
		return NULL;
	}
	return object;
}

static int read_blobs(json_t *blobs, struct gitread_commit *c, struct fw_err *err)
{
	const char *path;
	json_t *value;
	json_object_foreach(blobs, path, value)
	{
		if (c->n_blobs == GITREAD_BLOBS_MAX || strlen(path) >= sizeof c->blob[0].path)
			return set_error(err, "blobs");
		int i = c->n_blobs++;
		snprintf(c->blob[i].path, sizeof c->blob[i].path, "%s", path);
		buf_init(&c->blob[i].text, BLOB_BYTES_MAX);
		if (json_is_null(value))
			continue;
		const char *text = json_string_value(value);
		if (!text || buf_unbase64(&c->blob[i].text, text, strlen(text)) != 0)
			return set_error(err, "blobs");
		if (c->blob[i].text.is_out_of_memory)
			return err_memory(err, "cannot read %s", path);
		if (c->blob[i].text.failed)
			return err_set(err, ERR_INVALID, "%s is larger than %d bytes", path, BLOB_BYTES_MAX);
		c->blob[i].present = true;
	}
	return 0;
}

static int read_oids(json_t *oids, struct gitread_commit *c, struct fw_err *err)
{
	const char *path;
	json_t *value;
	json_object_foreach(oids, path, value)
	{
		if (c->n_oids == MANIFEST_LIST_MAX || strlen(path) >= sizeof c->oid[0].path)
			return set_error(err, "oids");
		int i = c->n_oids++;
		snprintf(c->oid[i].path, sizeof c->oid[i].path, "%s", path);
		if (!json_is_null(value) && read_sha(value, "oid", c->oid[i].oid, err) != 0)
			return -1;
	}
	return 0;
}

static int read_commit(const json_t *object, struct gitread_commit *c, struct fw_err *err)
{
	if (read_sha(object, "commit", c->commit.sha, err) != 0 || read_sha(object, "tree", c->commit.tree, err) != 0)
		return -1;
	const json_t *parents = json_object_get(object, "parents");
	if (!json_is_array(parents))
		return set_error(err, "parents");
	const char *parent = json_string_value(json_array_get(parents, 0));
	if (json_array_size(parents) && !oid_is_whole(parent))
		return set_error(err, "parents");
	snprintf(c->commit.first_parent, sizeof c->commit.first_parent, "%s", parent ? parent : "");
	read_truncated(object, "author", c->commit.author, sizeof c->commit.author);
	read_truncated(object, "subject", c->commit.subject, sizeof c->commit.subject);
	read_truncated(object, "problem", c->problem, sizeof c->problem);
	c->commit.committed_at = json_integer_value(json_object_get(object, "committed_at_ms"));
	if (read_blobs(json_object_get(object, "blobs"), c, err) != 0)
		return -1;
	return read_oids(json_object_get(object, "oids"), c, err);
}

int gitread_tree(const struct buf *out, struct gitread_commit **commit, struct fw_err *err)
{
	json_t *object = read_object(out, err);
	if (!object)
		return -1;
	struct gitread_commit *c = mem_alloc_zero(1, sizeof *c);
	int result = read_commit(object, c, err);
	json_decref(object);
	if (result != 0)
		gitread_commit_free(c);
	else
		*commit = c;
	return result;
}

void gitread_commit_free(struct gitread_commit *c)
{
	for (int i = 0; c && i < c->n_blobs; i++)
		buf_fini(&c->blob[i].text);
	free(c);
}

const struct buf *gitread_blob(const struct gitread_commit *c, const char *path)
{
	for (int i = 0; i < c->n_blobs; i++)
		if (c->blob[i].present && !strcmp(c->blob[i].path, path))
			return &c->blob[i].text;
	return NULL;
}

bool gitread_oid(const struct gitread_commit *c, const char *path, const char **oid)
{
	for (int i = 0; i < c->n_oids; i++)
		if (!strcmp(c->oid[i].path, path)) {
			*oid = c->oid[i].oid;
			return true;
		}
	return false;
}

int gitread_log(const struct buf *out, gitread_log_fn *each, void *arg, struct fw_err *err)
{
	struct gitread_commit *c = mem_alloc(sizeof *c);
	int result = 0;
	for (const char *at = out->data; result == 0 && *at;) {
		size_t len = strcspn(at, "\n");
		json_t *object = json_loadb(at, len, JSON_REJECT_DUPLICATES, NULL);
		memset(c, 0, sizeof *c);
		result = json_is_object(object) ? read_commit(object, c, err)
						: err_set(err, ERR_PROTOCOL, "flopwatch-git printed no JSON object");
		if (result == 0)
			result = each(arg, &c->commit, err);
		json_decref(object);
		at += len + (at[len] == '\n');
	}
	free(c);
	return result < 0 ? -1 : 0;
}

int gitread_base(const struct buf *out, struct gitread_base *base, struct fw_err *err)
{
	memset(base, 0, sizeof *base);
	json_t *object = read_object(out, err);
	if (!object)
		return -1;
	const json_t *list = json_object_get(object, "first_parents");
	int result = 0;
	if (!json_is_null(json_object_get(object, "merge_base")))
		result = read_sha(object, "merge_base", base->merge_base, err);
	if (result == 0 && json_is_string(json_object_get(object, "upstream")))
		result = read_sha(object, "upstream", base->upstream, err);
	for (size_t i = 0; result == 0 && i < json_array_size(list) && i < GITREAD_PARENTS_MAX; i++) {
		const char *sha = json_string_value(json_array_get(list, i));
		if (oid_is_whole(sha))
			memcpy(base->first_parent[base->n_first_parents++], sha, strlen(sha) + 1);
		else
			result = set_error(err, "first_parents");
	}
	json_decref(object);
	return result;
}

int gitread_contains(const struct buf *out, bool *is_on_branch, struct fw_err *err)
{
	json_t *object = read_object(out, err);
	if (!object)
		return -1;
	const json_t *value = json_object_get(object, "on_branch");
	int result = json_is_boolean(value) ? 0 : set_error(err, "on_branch");
	*is_on_branch = json_is_true(value);
	json_decref(object);
	return result;
}

int gitread_changes(const struct buf *out, char *paths_json, size_t size, int *number, struct fw_err *err)
{
	json_t *object = read_object(out, err);
	if (!object)
		return -1;
	const json_t *paths = json_object_get(object, "paths"), *n = json_object_get(object, "number"), *path;
	bool is_valid = json_is_array(paths) && json_is_integer(n);
	size_t i;
	json_array_foreach(paths, i, path) is_valid = is_valid && json_is_string(path);
	size_t len = is_valid ? json_dumpb(paths, paths_json, size - 1, JSON_COMPACT) : 0;
	int result = len && len < size ? 0 : set_error(err, "paths");
	paths_json[result == 0 ? len : 0] = '\0';
	*number = result == 0 ? (int)json_integer_value(n) : 0;
	json_decref(object);
	return result;
}

int gitread_encode(const char *name, char *out, size_t size, struct fw_err *err)
{
	struct buf text;
	buf_init(&text, size - 1);
	percent_encode(&text, name, strlen(name), "-._~/");
	int result = text.is_out_of_memory ? err_memory(err, "cannot encode the branch name %.200s", name)
		     : text.failed ? err_set(err, ERR_INVALID, "the branch name is longer than %zu bytes when encoded", size)
				   : 0;
	snprintf(out, size, "%s", text.data);
	buf_fini(&text);
	return result;
}
