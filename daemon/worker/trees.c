/* trees.c - reception and storage of sources. */
#include "worker/internal.h"

enum { TREE_WAIT_MS = 600 * 1000 };

static const int64_t tree_max_bytes = 3LL << 29; /* 1.5 GiB: the limit of unpack, plus headers */

int trees_open(void *arg, const char *oid, struct fw_err *err)
{
	const int *folder = arg;
	int fd = oid_is_whole(oid) ? openat(*folder, oid, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;

	return fd < 0 ? err_set(err, ERR_PROTOCOL, "tree %.64s was not received", oid) : fd;
}

static bool is_listed(const struct msg_need *need, const char *oid)
{
	int i;

	for (i = 0; i < need->n; i++)
		if (strcmp(need->oid[i], oid) == 0)
			return true;
	return false;
}

static int list_needed(const struct build_context *c, const struct msg_job *request, struct msg_need *need, struct fw_err *err)
{
	int i, k, fd;

	for (i = 0; i < request->n_sides; i++) {
		const struct msg_side *s = &request->side[i];
		struct msg_build known;
		int cached = build_lookup(c, s, &known, &fd);

		buf_fini(&known.log);
		fd_close(&fd);
		for (k = 0; !cached && !s->tools.module[0] && k < s->n_inputs; k++) {
			if (!oid_is_whole(s->input[k].oid))
				return err_set(err, ERR_PROTOCOL, "input %s has no object name", s->input[k].path);
			if (is_listed(need, s->input[k].oid))
				continue;
			if (need->n == PROTOCOL_NEED_MAX)
				return err_set(err, ERR_INVALID, "more than %d inputs", PROTOCOL_NEED_MAX);
			snprintf(need->oid[need->n], sizeof need->oid[0], "%s", s->input[k].oid);
			need->n++;
		}
	}
	return 0;
}

static int receive_tree(struct peer *peer, int folder, const struct msg_need *need, struct fw_err *err)
{
	struct msg m;
	struct msg_tree tree = { .bytes = 0 };
	enum msg_type type;
	int fd, result;

	if (peer_receive(peer, TREE_WAIT_MS, &m, err) != 0)
		return -1;
	type = m.t;
	if (type == MSG_TREE)
		tree = m.u.tree;
	msg_fini(&m);
	if (type != MSG_TREE || !is_listed(need, tree.oid))
		return err_set(err, ERR_PROTOCOL, "unexpected message from the daemon: expected a requested tree");
	if (tree.bytes < 0 || tree.bytes > tree_max_bytes)
		return err_set(err, ERR_INVALID, "tree %s is larger than %lld MiB", tree.oid, (long long)(tree_max_bytes >> 20));
	fd = openat(folder, tree.oid, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "store tree %s", tree.oid);
	result = peer_payload(peer, tree.bytes, TREE_WAIT_MS, fd, err);
	close(fd);
	return result;
}

int trees_fetch(struct peer *peer, const struct cache *cache, const struct build_context *c, const struct msg_job *request,
	int *folder, struct fw_err *err)
{
	struct msg m = { .t = MSG_NEED };
	char name[128];
	int result, i;

	if (list_needed(c, request, &m.u.need, err) != 0)
		return -1;
	if (m.u.need.n == 0)
		return 0;
	build_folder(c, "trees", name);
	*folder = workdir_fresh(cache->fd, name, err);
	result = *folder < 0 ? -1 : peer_send(peer, &m, err);
	for (i = 0; i < m.u.need.n && result == 0; i++)
		result = receive_tree(peer, *folder, &m.u.need, err);
	return result;
}
