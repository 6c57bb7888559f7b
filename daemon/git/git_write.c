/* git_write.c - fetches, pushes and writes; documented in internal.h. */
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "git/internal.h"

#define NOTES_REF "refs/notes/flopwatch"
static const char FETCH_SPEC[] = "+refs/heads/*:refs/heads/*";

enum { TOKEN_SIZE = 1024, HOST_BYTES = 300, DESCRIPTORS = 1024 /* number of descriptors that are checked */ };
static const struct git_access no_access;

/* Limits of the data that a hostile or broken server may send before the connection is closed. */
static const size_t RECEIVED_MAX_BYTES = (size_t)2 << 30;
static const unsigned OBJECTS_MAX = 20000000;

/* ---- fetching ---- */

struct transfer {
	const struct git_access *access;
	const char *url;
	int requested; /* number of times the server requested credentials */
	struct fw_err *err;
};

static int on_progress(const git_indexer_progress *p, void *payload)
{
	struct transfer *t = payload;

	if (p->received_bytes <= RECEIVED_MAX_BYTES && p->total_objects <= OBJECTS_MAX)
		return 0;
	err_set(t->err, ERR_UNSUPPORTED, "the server sends more than %zu MiB or %u objects", RECEIVED_MAX_BYTES >> 20,
		OBJECTS_MAX);
	return GIT_EUSER;
}

/* Report a missing local file as ERR_IO, not as a missing commit: a retry may succeed. */
static int lacks_file(struct fw_err *err)
{
	if (err->code == ERR_NOT_FOUND)
		err->code = ERR_IO;
	return GIT_EUSER;
}

static int give_key(git_credential **out, const char *user, const struct transfer *t)
{
	int fd = secret_open(t->access->ssh_key, t->err);

	if (fd < 0)
		return lacks_file(t->err);
	close(fd); /* libssh2 opens the key by its path */
	return git_credential_ssh_key_new(out, user, NULL, t->access->ssh_key, "");
}

static int give_token(git_credential **out, const struct transfer *t)
{
	char token[TOKEN_SIZE];
	int rc = secret_read(t->access->token_file, token, sizeof token, t->err);

	if (rc == 0)
		rc = git_credential_userpass_plaintext_new(out, t->access->token_user ? t->access->token_user : "git", token);
	else
		rc = lacks_file(t->err);
	explicit_bzero(token, sizeof token);
	return rc;
}

static int on_credential(git_credential **out, const char *url, const char *user, unsigned allowed, void *payload)
{
	struct transfer *t = payload;
	const struct git_access *a = t->access;

	(void)url; /* the repository's URL: redirects are not followed */
	if (!user)
		user = "git";
	/* libgit2 requests credentials after each refusal, without limit: allow one request for the name and one for the key. */
	if (++t->requested > (allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT && a->token_file ? 1 : 2)) {
		if (a->token_file)
			err_set(t->err, ERR_INVALID, "the server refused the token of %s (see doc/troubleshooting.md#token)",
				a->token_file);
		else
			err_set(t->err, ERR_INVALID, "the server refused the key %s (see doc/troubleshooting.md#ssh-key)",
				a->ssh_key ? a->ssh_key : "");
		return GIT_EUSER;
	}
	if (allowed & GIT_CREDENTIAL_USERNAME)
		return git_credential_username_new(out, user);
	if ((allowed & GIT_CREDENTIAL_SSH_KEY) && a->ssh_key)
		return give_key(out, user, t);
	if ((allowed & GIT_CREDENTIAL_USERPASS_PLAINTEXT) && a->token_file && strncmp(t->url, "https://", 8) == 0)
		return give_token(out, t);
	if (allowed & GIT_CREDENTIAL_SSH_KEY)
		err_set(t->err, ERR_INVALID,
			"the server requires a key; set ssh_key of this repository to an ed25519 deploy key (see doc/troubleshooting.md#ssh-key)");
	else if (strncmp(t->url, "https://", 8) == 0)
		err_set(t->err, ERR_INVALID,
			"the server requires a token; set token_file of this repository (see doc/troubleshooting.md#token)");
	else
		err_set(t->err, ERR_INVALID, "the server requires a password, which is not supported; use a deploy key");
	return GIT_EUSER;
}

/* Return the port in an address; 0: not a TCP address. */
static int port_of(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)address)->sin_port);
	return address->ss_family == AF_INET6 ? ntohs(((const struct sockaddr_in6 *)address)->sin6_port) : 0;
}

/*
 * Check that all connections of this process lead to the port of the URL. Even if redirects are disabled, libgit2 follows those
 * within a host, with the token, also to other ports, where another server may run. Its callbacks receive the host, not the port.
 */
static int check_server(struct transfer *t, const char *host)
{
	char name[HOST_BYTES];
	struct sockaddr_storage address = { 0 };
	int port;

	if (url_server(t->url, name, sizeof name, &port, t->err) != 0)
		return GIT_ECERTIFICATE;
	for (int fd = 3; fd < DESCRIPTORS; fd++) {
		socklen_t len = sizeof address;
		int is = getpeername(fd, (struct sockaddr *)&address, &len) == 0 ? port_of(&address) : 0;

		if ((is && is != port) || strcasecmp(host, name) != 0)
			return err_set(t->err, ERR_INVALID,
				       "%s port %d redirects to %s port %d, and redirects to another server are not followed; "
				       "write the address that it names as url",
				       name, port, host, is ? is : port),
			       GIT_ECERTIFICATE;
	}
	return 0;
}

/* Check the key of an ssh server, of which libgit2 only reports that it is unknown. libgit2 checks certificates of https://. */
static int on_certificate(git_cert *cert, int valid, const char *host, void *payload)
{
	struct transfer *t = payload;
	const git_cert_hostkey *key = (const git_cert_hostkey *)cert;

	if (cert->cert_type != GIT_CERT_HOSTKEY_LIBSSH2) {
		if (valid)
			return check_server(t, host);
		err_set(t->err, ERR_INVALID,
			"the certificate of %s cannot be verified: it is not signed by an authority that this machine trusts, is for "
			"another name, or is out of date; name its authority by ca_file of this repository",
			host);
		return GIT_ECERTIFICATE;
	}
	if (!(key->type & GIT_CERT_SSH_RAW))
		return err_set(t->err, ERR_UNSUPPORTED, "libgit2 does not pass on the host key of %s", host), GIT_ECERTIFICATE;
	if (hostkey_check(t->access, t->url, (const unsigned char *)key->hostkey, key->hostkey_len, t->err) == 0)
		return 0;
	lacks_file(t->err);
	return GIT_ECERTIFICATE;
}

/* Trust the CA file. The setting applies to the whole process, which connects to one server. */
static int trust_authority(const struct git_access *a, struct fw_err *err)
{
	int fd = a->ca_file ? regular_open("", a->ca_file, err) : -1;

	if (!a->ca_file)
		return 0;
	if (fd < 0) {
		lacks_file(err);
		return -1;
	}
	close(fd);
	int rc = git_libgit2_opts(GIT_OPT_SET_SSL_CERT_LOCATIONS, a->ca_file, NULL);
	return rc < 0 ? git_lib_fail(err, rc, "read the certificates in %s", a->ca_file) : 0;
}

static void set_callbacks(git_remote_callbacks *calls, struct transfer *t)
{
	calls->credentials = on_credential;
	calls->certificate_check = on_certificate;
	calls->transfer_progress = on_progress;
	calls->payload = t;
}

static int open_remote(struct git_repo *r, const char *url, git_remote **out, struct fw_err *err)
{
	int rc = git_remote_lookup(out, r->lib, "origin");

	if (rc == GIT_ENOTFOUND) {
		rc = git_remote_create_with_fetchspec(out, r->lib, "origin", url, FETCH_SPEC);
	} else if (rc == 0 && strcmp(git_remote_url(*out) ? git_remote_url(*out) : "", url) != 0) {
		git_remote_free(*out);
		*out = NULL;
		rc = git_remote_set_url(r->lib, "origin", url);
		if (rc == 0)
			rc = git_remote_lookup(out, r->lib, "origin");
	}
	return rc < 0 ? git_lib_fail(err, rc, "set the url of %s", r->path) : 0;
}

static int follow_default_branch(struct git_repo *r, git_remote *remote, struct fw_err *err)
{
	git_buf name = GIT_BUF_INIT;
	int rc = git_remote_default_branch(&name, remote);

	/* a server without commits has no default branch */
	if (rc == 0 && strncmp(name.ptr, "refs/heads/", sizeof "refs/heads/" - 1) == 0)
		rc = git_repository_set_head(r->lib, name.ptr);
	git_buf_dispose(&name);
	return rc < 0 && rc != GIT_ENOTFOUND ? git_lib_fail(err, rc, "set HEAD of %s", r->path) : 0;
}

/* Set the options of a connection: only these credentials, no proxy, no redirects. */
static int prepare(git_remote_connect_options *connect, struct transfer *t, const char *url)
{
	int rc = git_remote_connect_options_init(connect, GIT_REMOTE_CONNECT_OPTIONS_VERSION);

	if (rc < 0)
		return git_lib_fail(t->err, rc, "prepare to connect to %s", url);
	if (trust_authority(t->access, t->err) != 0)
		return -1;
	set_callbacks(&connect->callbacks, t);
	connect->proxy_opts.type = GIT_PROXY_NONE;
	connect->follow_redirects = GIT_REMOTE_REDIRECT_NONE;
	return 0;
}

static int report_heads(git_remote *remote, const char *url, git_branch_fn *each, void *arg, struct fw_err *err)
{
	static const char branches[] = "refs/heads/";
	const git_remote_head **head;
	char commit[GIT_HEX];
	size_t i, n;
	int rc = git_remote_ls(&head, &n, remote), result = 0;

	if (rc < 0)
		return git_lib_fail(err, rc, "read the branches of %s", url);
	for (i = 0; i < n && result == 0; i++) {
		if (strncmp(head[i]->name, branches, sizeof branches - 1) != 0)
			continue;
		git_oid_tostr(commit, sizeof commit, &head[i]->oid);
		result = each(arg, head[i]->name + sizeof branches - 1, commit, "", err);
	}
	return result;
}

/*
 * Reject a local repository with a file that is not regular, and a shallow clone: its history cannot be fetched, and libgit2
 * would only report a missing object. A server reports a shallow clone when this process connects.
 */
static int refuse_unreadable(const char *url, struct fw_err *err)
{
	git_repository *repo = NULL;
	struct buf path;
	bool is_shallow = false;
	int result = 0;

	if (strncmp(url, "file://", 7) != 0 && url[0] != '/')
		return 0;
	buf_init(&path, 8192);
	buf_puts(&path, url[0] == '/' ? url : url + 7);
	if (url[0] != '/' && !path.failed) {
		percent_decode(path.data, path.data);
	}
	if (!path.failed)
		result = layout_check(path.data, false, true, err);
	if (!path.failed && result == 0 && git_repository_open_ext(&repo, path.data, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL) == 0)
		is_shallow = git_repository_is_shallow(repo) == 1;
	git_repository_free(repo);
	buf_fini(&path);
	if (is_shallow)
		result = err_set(err, ERR_UNSUPPORTED,
			"%s is a shallow clone, whose history cannot be fetched; complete it with `git fetch --unshallow`", url);
	return result;
}

int git_server_branches(const char *url, const struct git_access *access, git_branch_fn *each, void *arg, struct fw_err *err)
{
	git_remote_connect_options connect;
	struct transfer t = { .access = access ? access : &no_access, .url = url, .err = err };
	git_remote *remote = NULL;
	int rc, result = -1;

	if (refuse_unreadable(url, err) != 0 || prepare(&connect, &t, url) != 0)
		return -1;
	if ((rc = git_remote_create_detached(&remote, url)) < 0)
		return git_lib_fail(err, rc, "prepare to connect to %s", url);
	if ((rc = git_remote_connect_ext(remote, GIT_DIRECTION_FETCH, &connect)) < 0)
		git_lib_fail(err, rc, "connect to %s", url);
	else
		result = report_heads(remote, url, each, arg, err);
	git_remote_disconnect(remote);
	git_remote_free(remote);
	return result;
}

/* Refs to fetch from a connected server: its branches, and the selected requests. */
struct wanted_refs {
	char text[PULLS_WANTED_MAX][128];
	char *spec[1 + PULLS_WANTED_MAX];
	git_strarray list;
};

static int list_wanted(git_remote *remote, struct pulls *pulls, struct wanted_refs *out, struct fw_err *err)
{
	const git_remote_head **head;
	char sha[GIT_HEX];
	size_t n;
	int rc = git_remote_ls(&head, &n, remote), n_text = 0;

	if (rc < 0)
		return git_lib_fail(err, rc, "read the refs of %s", git_remote_url(remote));
	out->list = (git_strarray){ .strings = out->spec, .count = 1 };
	out->spec[0] = (char *)FETCH_SPEC;
	pulls_clear(pulls);
	for (size_t i = 0; i < n; i++) {
		git_oid_tostr(sha, sizeof sha, &head[i]->oid);
		pulls_add(pulls, head[i]->name, sha);
	}
	pulls_sort(pulls);
	for (int i = 0; i < pulls->n && n_text < PULLS_WANTED_MAX; i++)
		if (pulls_spec(pulls, i, out->text[n_text], sizeof out->text[0]))
			out->spec[out->list.count++] = out->text[n_text++];
	return 0;
}

int git_repo_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct pulls *pulls, struct fw_err *err)
{
	git_remote_connect_options connect;
	git_fetch_options fetch;
	struct wanted_refs refs = { .list = { .count = 0 } };
	struct transfer t = { .access = access ? access : &no_access, .url = url, .err = err };
	git_remote *remote = NULL;
	int rc, result = -1;

	if (refuse_unreadable(url, err) != 0 || prepare(&connect, &t, url) != 0)
		return -1;
	if ((rc = git_fetch_options_init(&fetch, GIT_FETCH_OPTIONS_VERSION)) < 0)
		return git_lib_fail(err, rc, "prepare to fetch from %s", url);
	if (open_remote(r, url, &remote, err) != 0)
		return -1;
	fetch.callbacks = connect.callbacks;
	fetch.proxy_opts = connect.proxy_opts;
	fetch.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
	fetch.update_fetchhead = 0;
	fetch.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	if ((rc = git_remote_connect_ext(remote, GIT_DIRECTION_FETCH, &connect)) < 0) {
		git_lib_fail(err, rc, "connect to %s", url);
		goto out;
	}
	if (pulls && list_wanted(remote, pulls, &refs, err) != 0)
		goto out;
	if ((rc = git_remote_download(remote, pulls ? &refs.list : NULL, &fetch)) < 0) {
		git_lib_fail(err, rc, "fetch from %s", url);
		goto out;
	}
	/* delete old branches first: an old branch `a` would block a new branch `a/b` */
	if ((rc = git_remote_prune(remote, &connect.callbacks)) < 0 ||
		(rc = git_remote_update_tips(remote, &connect.callbacks, 0, GIT_REMOTE_DOWNLOAD_TAGS_NONE, NULL)) < 0) {
		git_lib_fail(err, rc, "update the branches from %s", url);
		goto out;
	}
	result = follow_default_branch(r, remote, err);
out:
	git_remote_disconnect(remote);
	git_remote_free(remote);
	return result;
}

/* ---- refs that flopwatch writes into repositories ---- */

static int finish_ref(struct refwrite *w, const git_oid *to, struct fw_err *err)
{
	char hex[GIT_HEX];

	git_lib_format_oid(hex, to);
	return refwrite_commit(w, hex, err);
}

/* Set one of flopwatch's refs to `to`, whatever its old value. */
static int set_ref(struct git_repo *r, const char *name, const git_oid *to, struct fw_err *err)
{
	struct refwrite w;
	git_reference *ref = NULL;
	int rc, locked = refwrite_begin(git_repository_commondir(r->lib), name, &w, err);

	if (locked <= 0)
		return locked < 0 ? -1 : finish_ref(&w, to, err);
	rc = git_reference_create(&ref, r->lib, name, to, 1, "flopwatch");
	git_reference_free(ref);
	return rc < 0 ? git_lib_fail(err, rc, "write %s of %s", name, r->path) : 0;
}

/* Write a commit with the note on top of the existing notes; the caller updates the ref. */
static int add_note(struct git_repo *r, const git_commit *about, const git_signature *who, const char *text, git_oid *out)
{
	git_commit *before = NULL;
	git_oid oid;
	int rc = git_lib_ref(r, NOTES_REF, &oid);

	if (rc == 0)
		rc = git_commit_lookup(&before, r->lib, &oid);
	else if (rc == GIT_ENOTFOUND)
		rc = 0;
	if (rc == 0)
		rc = git_note_commit_create(out, NULL, r->lib, before, who, who, git_commit_id(about), text, 1);
	git_commit_free(before);
	return rc;
}

int git_repo_note(struct git_repo *r, const char *sha, const char *text, struct fw_err *err)
{
	git_commit *commit;
	git_signature *who = NULL;
	git_oid oid;
	struct refwrite ref;
	int rc, locked;

	if (git_lib_commit(r, sha, &commit, err) != 0)
		return -1;
	locked = refwrite_begin(git_repository_commondir(r->lib), NOTES_REF, &ref, err);
	rc = git_signature_now(&who, "flopwatch", "flopwatch@localhost");
	if (rc == 0 && locked == 0)
		rc = add_note(r, commit, who, text, &oid);
	else if (rc == 0 && locked == 1)
		rc = git_note_create(&oid, r->lib, NOTES_REF, who, who, git_commit_id(commit), text, 1);
	git_signature_free(who);
	git_commit_free(commit);
	if (rc < 0 && locked >= 0)
		git_lib_fail(err, rc, "write the note of %s in %s", sha, r->path);
	if (rc < 0 && locked == 0)
		refwrite_cancel(&ref);
	if (rc < 0 || locked < 0)
		return -1;
	return locked == 0 ? finish_ref(&ref, &oid, err) : 0;
}

/* Open a connection for the notes, with the same checks as for a fetch. */
static int notes_remote(struct git_repo *r, const char *url, struct transfer *t, git_remote **remote, git_remote_callbacks *calls,
	struct fw_err *err)
{
	int rc = git_remote_init_callbacks(calls, GIT_REMOTE_CALLBACKS_VERSION);

	if (trust_authority(t->access, err) != 0)
		return -1;
	if (rc == 0)
		rc = git_remote_create_anonymous(remote, r->lib, url);
	set_callbacks(calls, t);
	return rc < 0 ? git_lib_fail(err, rc, "prepare the notes of %s", url) : 0;
}

/*
 * Set the local ref to the remote ref of that name; if the remote has none, the local one does not change. The remote must be, or
 * have been, connected.
 */
static int take_notes(struct git_repo *r, git_remote *remote, const char *url, struct fw_err *err)
{
	const git_remote_head **head;
	size_t n, i;
	int rc = git_remote_ls(&head, &n, remote);

	if (rc < 0)
		return git_lib_fail(err, rc, "list the refs of %s", url);
	for (i = 0; i < n; i++)
		if (strcmp(head[i]->name, NOTES_REF) == 0)
			return set_ref(r, NOTES_REF, &head[i]->oid, err);
	return 0;
}

/* Write the note, then update the ref: libgit2 would lock the ref, and leave the lock if this process is killed. */
int git_repo_notes_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err)
{
	char spec[] = NOTES_REF, *specs[] = { spec };
	const git_strarray refs = { specs, 1 };
	struct transfer t = { .access = access ? access : &no_access, .url = url, .err = err };
	git_remote *remote = NULL;
	git_fetch_options options;
	int rc = git_fetch_options_init(&options, GIT_FETCH_OPTIONS_VERSION);

	if (rc < 0)
		return git_lib_fail(err, rc, "prepare to fetch from %s", url);
	if (notes_remote(r, url, &t, &remote, &options.callbacks, err) != 0)
		return -1;
	options.proxy_opts.type = GIT_PROXY_NONE;
	options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
	options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	options.update_fetchhead = 0;
	rc = git_remote_download(remote, &refs, &options);
	if (rc < 0 && !err->code) /* otherwise a callback has set a better message */
		git_lib_fail(err, rc, "fetch the notes from %s", url);
	else if (rc == 0)
		rc = take_notes(r, remote, url, err);
	git_remote_free(remote);
	return rc < 0 ? -1 : 0;
}

/* Receive the server's answer for one pushed ref. `refusal` NULL: accepted. */
static int on_pushed(const char *ref, const char *refusal, void *payload)
{
	struct transfer *t = payload;

	if (!refusal)
		return 0;
	err_set(t->err, ERR_BUSY, "the server rejected %s: %s", ref, refusal);
	return GIT_EUSER;
}

int git_repo_notes_push(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err)
{
	char spec[] = NOTES_REF ":" NOTES_REF, *specs[] = { spec };
	const git_strarray refs = { specs, 1 };
	struct transfer t = { .access = access ? access : &no_access, .url = url, .err = err };
	git_remote *remote = NULL;
	git_push_options options;
	bool is_here =
		*url == '/' || strncmp(url, "file://", 7) == 0; /* a local push: this process writes, with locks of libgit2 */
	sigset_t before;
	int rc = git_push_options_init(&options, GIT_PUSH_OPTIONS_VERSION);

	if (rc < 0)
		return git_lib_fail(err, rc, "prepare to push to %s", url);
	if (notes_remote(r, url, &t, &remote, &options.callbacks, err) != 0)
		return -1;
	options.callbacks.push_update_reference = on_pushed;
	options.proxy_opts.type = GIT_PROXY_NONE;
	options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
	if (is_here)
		refwrite_hold_signals(&before);
	rc = git_remote_push(remote, &refs, &options);
	if (is_here)
		sigprocmask(SIG_SETMASK, &before, NULL);
	git_remote_free(remote);
	if (rc < 0 && err->code)
		return -1;
	return rc < 0 ? git_lib_fail(err, rc, "push the notes to %s", url) : 0;
}

/* Find the commit that HEAD names; NULL: there is no commit yet. */
static int head_commit(struct git_repo *r, git_commit **out, struct fw_err *err)
{
	git_oid oid;
	int rc = git_lib_ref(r, "HEAD", &oid);

	*out = NULL;
	if (rc == 0)
		rc = git_commit_lookup(out, r->lib, &oid);
	return rc < 0 && rc != GIT_ENOTFOUND ? git_lib_fail(err, rc, "read HEAD of %s", r->path) : 0;
}

/* Write the worktree as a tree. The index changes only in memory. */
static int worktree_tree(struct git_repo *r, git_tree **out, struct fw_err *err)
{
	git_index *index = NULL;
	git_oid oid;
	int rc = git_repository_index(&index, r->lib);

	if (rc == 0)
		rc = git_index_add_all(index, NULL, GIT_INDEX_ADD_DEFAULT, NULL, NULL);
	if (rc == 0)
		rc = git_index_write_tree(&oid, index);
	if (rc == 0)
		rc = git_tree_lookup(out, r->lib, &oid);
	git_index_free(index);
	return rc < 0 ? git_lib_fail(err, rc, "store the uncommitted files of %s", r->path) : 0;
}

int git_repo_snapshot(struct git_repo *r, char *commit, char *head, struct fw_err *err)
{
	git_commit *parent = NULL;
	git_tree *tree = NULL;
	git_signature *who = NULL;
	git_oid oid;
	int rc, result = -1;

	if (git_repository_is_bare(r->lib))
		return err_set(err, ERR_INVALID, "%s is a bare repository: there are no uncommitted files in it", r->path);
	if (layout_check_tree(git_repository_workdir(r->lib), err) != 0 || head_commit(r, &parent, err) != 0 ||
		worktree_tree(r, &tree, err) != 0)
		goto out;
	head[0] = '\0';
	if (parent)
		git_lib_format_oid(head, git_commit_id(parent));
	if (parent && git_oid_equal(git_tree_id(tree), git_commit_tree_id(parent))) {
		git_lib_format_oid(commit, git_commit_id(parent));
		result = 0;
		goto out;
	}
	/* Use the parent's time, so that the same files give the same commit. */
	rc = git_signature_new(&who, "flopwatch", "flopwatch@localhost", parent ? git_commit_time(parent) : 0, 0);
	if (rc == 0)
		rc = git_commit_create_v(&oid, r->lib, NULL, who, who, NULL, "uncommitted files\n", tree, parent ? 1 : 0, parent);
	if (rc < 0) {
		git_lib_fail(err, rc, "store the uncommitted files of %s", r->path);
		goto out;
	}
	git_lib_format_oid(commit, &oid);
	result = 0; /* no ref names it: a user who pushes all refs must not publish it */
out:
	git_signature_free(who);
	git_tree_free(tree);
	git_commit_free(parent);
	return result;
}
