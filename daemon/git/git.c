/* git.c - reads repositories by libgit2; documented in internal.h. */
#include "git/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

#include <git2/sys/alloc.h>

enum { HEX_DIGITS = 40, HEADS_LEN = 11 /* length of "refs/heads/" */ };

/*
 * Map a libgit2 error: ERR_INVALID or ERR_DAMAGED if the repository's contents are wrong; ERR_IO, ERR_FULL or ERR_BUSY if the
 * system, the network or another writer caused the failure, so that a retry may succeed.
 */
static enum err_code code_of(int rc, const git_error *last)
{
	if (rc == GIT_ELOCKED)
		return ERR_BUSY;
	switch (last ? last->klass : GIT_ERROR_NONE) {
	case GIT_ERROR_NOMEMORY:
		return ERR_FULL;
	case GIT_ERROR_OS:
	case GIT_ERROR_NET:
	case GIT_ERROR_SSL:
	case GIT_ERROR_SSH:
	case GIT_ERROR_HTTP:
	case GIT_ERROR_FILESYSTEM:
	case GIT_ERROR_THREAD:
		return ERR_IO;
	case GIT_ERROR_CONFIG:
	case GIT_ERROR_OBJECT:
	case GIT_ERROR_ODB:
	case GIT_ERROR_REFERENCE:
	case GIT_ERROR_REPOSITORY:
	case GIT_ERROR_TREE:
	case GIT_ERROR_ZLIB:
		return ERR_DAMAGED;
	default:
		return ERR_INVALID;
	}
}

/*
 * Return an explanation for a repository format that libgit2 cannot read, of which it reports only a name; NULL: another error.
 * libgit2 cannot read the ref lines of a server with SHA-256 objects, or of one that lists the ends of its shallow history.
 */
static const char *explain_format(const char *message)
{
	static const struct {
		const char *word, *sentence;
	} known[] = {
		{ "unsupported extension name extensions.objectformat",
			"it stores SHA-256 objects (extensions.objectFormat), which flopwatch cannot read; watch a repository of "
			"SHA-1 objects, e.g. one that `git fast-export --all | git fast-import` makes" },
		{ "object format",
			"it stores objects of another hash than SHA-1 (extensions.objectFormat), which flopwatch cannot read; "
			"watch a repository of SHA-1 objects, e.g. one that `git fast-export --all | git fast-import` makes" },
		{ "unsupported extension name extensions.refstorage",
			"it stores refs as reftable (extensions.refStorage), which flopwatch cannot read; run `git refs migrate "
			"--ref-format=files` there, or watch a clone with `--ref-format=files`" },
		{ "unsupported extension name",
			"it uses an extension of git's repository format that flopwatch does not support; watch a clone of it" },
		{ "error parsing REF pkt-line",
			"it is a shallow clone, or stores SHA-256 objects, which cannot be fetched; complete it with `git fetch "
			"--unshallow`, or watch a full clone of SHA-1 objects" },
	};

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strstr(message, known[i].word))
			return known[i].sentence;
	return NULL;
}

int git_lib_fail(struct fw_err *err, int rc, const char *format, ...)
{
	const git_error *last = git_error_last();
	const char *reason = last && last->message ? last->message : "", *sentence = explain_format(reason);
	char what[600];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	if (sentence)
		return err_set(err, ERR_UNSUPPORTED, "%s: %s (libgit2: %s)", what, sentence, reason);
	return err_set(err, code_of(rc, last), "%s: %s", what, *reason ? reason : "git gives no reason");
}

/* ---- memory of libgit2, which without it crashes, or reports objects as missing and values as invalid ---- */

enum { SMALL_BYTES = 1 << 20 }; /* a larger object has its own error, which names it */

static void *lib_malloc(size_t n, const char *file, int line)
{
	(void)file, (void)line;
	return n > SMALL_BYTES ? malloc(n) : mem_alloc(n);
}

static void *lib_realloc(void *old, size_t n, const char *file, int line)
{
	(void)file, (void)line;
	return n > SMALL_BYTES ? realloc(old, n) : mem_grow(old, n, 1);
}

#if LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR < 6
static void *lib_mallocarray(size_t n, size_t size, const char *file, int line)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : lib_malloc(bytes, file, line);
}

static void *lib_calloc(size_t n, size_t size, const char *file, int line)
{
	size_t bytes;

	(void)file, (void)line;
	return __builtin_mul_overflow(n, size, &bytes) ? NULL
	       : bytes > SMALL_BYTES                   ? calloc(1, bytes)
						       : mem_alloc_zero(1, bytes ? bytes : 1);
}

static void *lib_reallocarray(void *old, size_t n, size_t size, const char *file, int line)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : lib_realloc(old, bytes, file, line);
}

static char *lib_substrdup(const char *text, size_t n, const char *file, int line)
{
	char *copy = lib_malloc(n + 1, file, line);

	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

static char *lib_strdup(const char *text, const char *file, int line)
{
	return lib_substrdup(text, strlen(text), file, line);
}

static char *lib_strndup(const char *text, size_t n, const char *file, int line)
{
	return lib_substrdup(text, strnlen(text, n), file, line);
}
#endif

static git_allocator allocator = {
	.gmalloc = lib_malloc,
	.grealloc = lib_realloc,
	.gfree = free,
#if LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR < 6
	.gcalloc = lib_calloc,
	.gstrdup = lib_strdup,
	.gstrndup = lib_strndup,
	.gsubstrdup = lib_substrdup,
	.greallocarray = lib_reallocarray,
	.gmallocarray = lib_mallocarray,
#endif
};

/*
 * When libgit2 starts, it parses all certificates that the machine trusts, without an option to disable this. If no connection is
 * needed, start it while this process can open no file, so that it finds no certificates.
 */
static int start_without_certificates(void)
{
	struct rlimit files, none;
	int rc;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return -1;
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = files.rlim_max };
	if (setrlimit(RLIMIT_NOFILE, &none) < 0)
		return -1;
	rc = git_libgit2_init();
	git_error_clear();
	return setrlimit(RLIMIT_NOFILE, &files) < 0 ? -1 : rc;
}

int git_repo_library_start(const char *url, struct fw_err *err)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_PROGRAMDATA };
	/* These extensions concern work trees, or the objects that git may delete, and never the format of objects and refs. */
	static const char *extensions[] = { "noop", "partialclone", "preciousobjects", "worktreeconfig", "relativeworktrees" };
	bool has_started = git_libgit2_opts(GIT_OPT_SET_ALLOCATOR, &allocator) >= 0 &&
			   (url && url_is_remote(url) ? git_libgit2_init() : start_without_certificates()) >= 0 &&
			   git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, sizeof extensions / sizeof extensions[0]) >= 0;

	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
		has_started = has_started && git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "") >= 0;
	/* A watched repository usually belongs to another user. This process only reads objects and refs, and runs no program. */
	has_started = has_started && git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0) >= 0 &&
		      git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1) >= 0;
	/* Map packs in small windows, so that address space can be limited. */
	has_started = has_started && git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, (size_t)64 << 20) >= 0 &&
		      git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)512 << 20) >= 0;
#if LIBGIT2_VER_MAJOR > 1 || (LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR >= 7)
	has_started = has_started && git_libgit2_opts(GIT_OPT_SET_SERVER_TIMEOUT, 30000) >= 0 &&
		      git_libgit2_opts(GIT_OPT_SET_SERVER_CONNECT_TIMEOUT, 15000) >= 0;
#endif
	/* which depends on this machine alone */
	return has_started ? 0
			   : err_set(err, ERR_IO, "start libgit2: %s; free memory on this machine and try again",
				     git_error_last() ? git_error_last()->message : "git gives no reason");
}

void git_repo_library_stop(void)
{
	git_libgit2_shutdown();
}

static struct git_repo *wrap(git_repository *lib, const char *path)
{
	struct git_repo *r = mem_alloc(sizeof *r);

	*r = (struct git_repo){ .lib = lib, .path = mem_copy_text(path) };
	return r;
}

int git_repo_open(const char *path, bool search, struct git_repo **out, struct fw_err *err)
{
	git_repository *lib = NULL;
	int rc;

	if (layout_check(path, search, false, err) != 0)
		return -1;
	rc = git_repository_open_ext(&lib, path, search ? 0 : GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
	if (rc == GIT_ENOTFOUND) /* temporary: the folder is being moved, or its disk is not mounted yet */
		return err_set(err, ERR_BUSY,
			"%s: no git repository there; check the path (see doc/troubleshooting.md#no-repository)", path);
	if (rc < 0)
		return git_lib_fail(err, rc, "open repository %s", path);
	*out = wrap(lib, path);
	return 0;
}

int git_repo_create(const char *path, struct git_repo **out, struct fw_err *err)
{
	git_repository_init_options opts;
	git_repository *lib = NULL;
	int rc = git_repository_init_options_init(&opts, GIT_REPOSITORY_INIT_OPTIONS_VERSION);

	opts.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
	opts.initial_head = "main";
	if (rc == 0)
		rc = git_repository_init_ext(&lib, path, &opts);
	if (rc < 0)
		return git_lib_fail(err, rc, "create repository %s", path);
	*out = wrap(lib, path);
	return 0;
}

bool git_repo_is_there(const struct git_repo *r)
{
	return git_repository_open_ext(NULL, r->path, 0, NULL) == 0;
}

void git_repo_close(struct git_repo *r)
{
	if (!r)
		return;
	git_repository_free(r->lib);
	free(r->path);
	free(r);
}

/* ---- hashes ---- */

static int parse_oid(const char *hex, git_oid *oid, struct fw_err *err)
{
	if (strlen(hex) != HEX_DIGITS || strspn(hex, "0123456789abcdef") != HEX_DIGITS || git_oid_fromstr(oid, hex) < 0)
		return err_set(err, ERR_INVALID, "`%.80s` is not a full hash (40 lower-case hex digits)", hex);
	return 0;
}

void git_lib_format_oid(char *hex, const git_oid *oid)
{
	git_oid_tostr(hex, GIT_HEX, oid);
}

int git_lib_commit(struct git_repo *r, const char *sha, git_commit **out, struct fw_err *err)
{
	git_oid oid;
	int rc;

	if (parse_oid(sha, &oid, err) != 0)
		return -1;
	limits_object(sha);
	rc = git_commit_lookup(out, r->lib, &oid);
	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_NOT_FOUND, "commit %s is not in %s; a force push may have removed it", sha, r->path);
	return rc < 0 ? git_lib_fail(err, rc, "read commit %s", sha) : 0;
}

static int look_up_tree(struct git_repo *r, const char *sha, git_tree **out, struct fw_err *err)
{
	git_oid oid;
	int rc;

	if (parse_oid(sha, &oid, err) != 0)
		return -1;
	limits_object(sha);
	rc = git_tree_lookup(out, r->lib, &oid);
	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_DAMAGED,
			"tree %s of a commit is missing in %s, which is damaged or a partial clone (see doc/troubleshooting.md#partial-clone)",
			sha, r->path);
	return rc < 0 ? git_lib_fail(err, rc, "read tree %s", sha) : 0;
}

/* ---- branches ---- */

enum {
	NAMES_MAX_BYTES = 64 << 20,
	PACKED_MAX_BYTES = 256 << 20,
	SYMBOLIC_MAX = 5 /* the depth of refs that name a ref, as in git */,
	DEPTH_MAX = 64,
	LINKS_MAX = 5
};

/*
 * Return whether the file of a ref is not a regular file, so that it must not be opened; libgit2's last error then describes it.
 */
static bool is_no_file(struct git_repo *r, const char *name)
{
	struct buf path, text;
	struct stat st;
	bool is_own = strncmp(name, "refs/", 5) != 0; /* HEAD and similar refs belong to one worktree */
	bool wrong;

	buf_init(&path, 8192);
	buf_printf(&path, "%s%s", is_own ? git_repository_path(r->lib) : git_repository_commondir(r->lib), name);
	wrong = !path.failed && stat(path.data, &st) == 0 && !S_ISDIR(st.st_mode) && regular_wrong(&st);
	if (wrong) {
		buf_init(&text, 16384);
		buf_printf(&text, "%s is %s, not a file", name, regular_wrong(&st));
		git_error_set_str(GIT_ERROR_REFERENCE, text.data);
		buf_fini(&text);
	}
	buf_fini(&path);
	return wrong;
}

int git_lib_ref(struct git_repo *r, const char *name, git_oid *out)
{
	git_reference *ref = NULL, *next;
	int rc, depth = 0;

	if (is_no_file(r, name))
		return GIT_ERROR;
	rc = git_reference_lookup(&ref, r->lib, name);
	while (rc == 0 && git_reference_type(ref) == GIT_REFERENCE_SYMBOLIC) {
		const char *target = git_reference_symbolic_target(ref);

		if (++depth > SYMBOLIC_MAX) {
			git_error_set_str(GIT_ERROR_REFERENCE, "it names another ref, which names another, without an end");
			rc = GIT_ERROR;
		} else if (is_no_file(r, target)) {
			rc = GIT_ERROR;
		} else {
			next = NULL;
			rc = git_reference_lookup(&next, r->lib, target);
			git_reference_free(ref);
			ref = next;
		}
	}
	if (rc == 0)
		git_oid_cpy(out, git_reference_target(ref));
	git_reference_free(ref);
	return rc;
}

/* True if libgit2 failed because this process lacks memory or descriptors. */
static bool is_shortage(const git_error *last)
{
	static const int numbers[] = { ENOMEM, EMFILE, ENFILE };

	if (last && last->klass == GIT_ERROR_NOMEMORY)
		return true;
	for (size_t i = 0; last && last->klass == GIT_ERROR_OS && i < sizeof numbers / sizeof numbers[0]; i++)
		if (strstr(last->message, strerror(numbers[i])))
			return true;
	return false;
}

/*
 * Read a branch: its commit, or "" with the reason in `problem`. Returns 0 if it is not a branch: git does not allow its name, or
 * its file was removed meanwhile. Shape: sha[GIT_HEX], problem[size]. Err: this process lacks memory or descriptors.
 */
static int read_branch(
	struct git_repo *r, git_odb *odb, const char *ref, char *sha, char *problem, size_t size, struct fw_err *err)
{
	git_oid oid;
	int rc = git_lib_ref(r, ref, &oid);

	sha[0] = problem[0] = '\0';
	if (rc == GIT_EINVALIDSPEC)
		return 0;
	if (rc < 0 && is_shortage(git_error_last()))
		return git_lib_fail(err, rc, "read %s", ref);
	if (rc < 0)
		snprintf(problem, size, "%s", git_error_last() ? git_error_last()->message : "cannot be read");
	else if (!git_odb_exists(odb, &oid))
		snprintf(problem, size, "its commit is missing");
	else
		git_lib_format_oid(sha, &oid);
	return 1;
}

/*
 * Names of branches. libgit2's iterator skips files that it cannot read, as if their branches were deleted, and opens the target
 * of a link, which may be a FIFO. So the names are listed here, and each is looked up only if it is a regular file.
 */
struct ref_names {
	struct buf text; /* each with its terminator */
	char **name;     /* sorted, without duplicates */
	size_t n;
	int unread; /* errno of a folder that was not listed for a reason that may pass; 0: none */
};

static bool may_pass(int number)
{
	return err_is_shortage(number) || number == EIO || number == EINTR;
}

/* Add the names of the files in folder `name` of `common`. Links to folders are followed, up to the depth of libgit2. */
static void add_loose(struct ref_names *names, const char *common, const char *name, int depth, int links)
{
	struct buf path;
	struct dirent *e;
	DIR *dir;

	buf_init(&path, PATH_MAX);
	buf_printf(&path, "%s%s", common, name);
	errno = 0;
	dir = depth < DEPTH_MAX && links < LINKS_MAX && !path.failed ? opendir(path.data) : NULL;
	if (!dir && may_pass(errno))
		names->unread = errno;
	while (dir && (errno = 0, e = readdir(dir))) {
		size_t len = strlen(e->d_name);
		struct stat st, link;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			(len > 5 && strcmp(e->d_name + len - 5, ".lock") == 0) || fstatat(dirfd(dir), e->d_name, &st, 0) != 0)
			continue;
		buf_clear(&path);
		buf_printf(&path, "%s/%s", name, e->d_name);
		if (path.failed)
			continue;
		if (!S_ISDIR(st.st_mode))
			buf_append(&names->text, path.data, path.len + 1);
		else if (fstatat(dirfd(dir), e->d_name, &link, AT_SYMLINK_NOFOLLOW) == 0)
			add_loose(names, common, path.data, depth + 1, links + S_ISLNK(link.st_mode));
	}
	if (dir && may_pass(errno))
		names->unread = errno;
	if (dir)
		closedir(dir);
	buf_fini(&path);
}

/*
 * Add the names in packed-refs, lines "HASH NAME", that begin with `folder` and a slash. Invalid lines are ignored here: libgit2
 * reads the same file for the first ref that is looked up, and rejects them.
 */
static int add_packed(struct git_repo *r, const char *folder, struct ref_names *names, struct fw_err *err)
{
	struct buf path, text;
	char *rest, *line;
	size_t len = strlen(folder);
	int fd = -1, result = 0;

	buf_init(&path, 8192);
	buf_init(&text, PACKED_MAX_BYTES);
	buf_printf(&path, "%spacked-refs", git_repository_commondir(r->lib));
	if (path.failed || access(path.data, F_OK) != 0)
		goto out;
	fd = regular_open("", path.data, err);
	if (fd < 0 || buf_read_fd(&text, fd) != 0)
		result = fd < 0 ? -1 : err_sys(err, "read %s", path.data);
	else if (text.failed)
		result = err_set(err, ERR_UNSUPPORTED, "%s is larger than %d MiB", path.data, PACKED_MAX_BYTES >> 20);
	for (rest = text.data; result == 0 && (line = strsep(&rest, "\n"));) {
		size_t hash = strspn(line, "0123456789abcdef");

		line[strcspn(line, "\r")] = '\0';
		if (hash == HEX_DIGITS && line[hash] == ' ' && strncmp(line + hash + 1, folder, len) == 0 &&
			line[hash + 1 + len] == '/')
			buf_append(&names->text, line + hash + 1, strlen(line + hash + 1) + 1);
	}
out:
	if (fd >= 0)
		close(fd);
	buf_fini(&path);
	buf_fini(&text);
	return result;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* List the refs below `folder` ("refs/heads"). Own: names_fini, also after an error. */
static int list_names(struct git_repo *r, const char *folder, struct ref_names *names, struct fw_err *err)
{
	size_t n = 0;

	buf_init(&names->text, NAMES_MAX_BYTES);
	add_loose(names, git_repository_commondir(r->lib), folder, 0, 0);
	if (add_packed(r, folder, names, err) != 0)
		return -1;
	if (names->unread) {
		errno = names->unread;
		return err_sys(err, "list the refs of %s", r->path);
	}
	if (names->text.failed)
		return err_set(err, ERR_UNSUPPORTED, "%s has more branches than can be read", r->path);
	for (size_t at = 0; at < names->text.len; at += strlen(names->text.data + at) + 1)
		n++;
	names->name = malloc((n + 1) * sizeof *names->name);
	if (!names->name)
		return err_set(err, ERR_FULL, "out of memory for the branches of %s", r->path);
	n = 0;
	for (size_t at = 0; at < names->text.len; at += strlen(names->text.data + at) + 1)
		names->name[n++] = names->text.data + at;
	qsort(names->name, n, sizeof *names->name, compare_names);
	for (size_t i = 0; i < n; i++)
		if (!names->n || strcmp(names->name[names->n - 1], names->name[i]) != 0)
			names->name[names->n++] = names->name[i];
	return 0;
}

static void names_fini(struct ref_names *names)
{
	buf_fini(&names->text);
	free(names->name);
}

int git_repo_branches(struct git_repo *r, git_branch_fn *each, void *arg, struct fw_err *err)
{
	struct ref_names names = { 0 };
	git_odb *odb = NULL;
	char sha[GIT_HEX], problem[256];
	int rc, status = list_names(r, "refs/heads", &names, err);

	if (status == 0 && (rc = git_repository_odb(&odb, r->lib)) < 0)
		status = git_lib_fail(err, rc, "read the objects of %s", r->path);
	for (size_t i = 0; status == 0 && i < names.n; i++) {
		int found = read_branch(r, odb, names.name[i], sha, problem, sizeof problem, err);

		if (found != 0)
			status = found < 0 || each(arg, names.name[i] + HEADS_LEN, sha, problem, err) < 0 ? -1 : 0;
	}
	git_odb_free(odb);
	names_fini(&names);
	return status;
}

int git_repo_pulls(struct git_repo *r, struct pulls *p, struct fw_err *err)
{
	struct ref_names names = { 0 };
	git_odb *odb = NULL;
	char folder[32], sha[GIT_HEX], problem[256];
	int rc, status;

	snprintf(folder, sizeof folder, "refs/%s", p->space);
	status = list_names(r, folder, &names, err);
	if (status == 0 && (rc = git_repository_odb(&odb, r->lib)) < 0)
		status = git_lib_fail(err, rc, "read the objects of %s", r->path);
	pulls_clear(p);
	for (size_t i = 0; status == 0 && i < names.n; i++) {
		int found = read_branch(r, odb, names.name[i], sha, problem, sizeof problem, err);

		if (found > 0)
			pulls_add(p, names.name[i], sha);
		status = found < 0 ? -1 : 0;
	}
	pulls_sort(p);
	git_odb_free(odb);
	names_fini(&names);
	return status;
}

int git_repo_branch(struct git_repo *r, const char *branch, char *sha, struct fw_err *err)
{
	struct buf ref;
	git_oid oid;
	int rc;

	buf_init(&ref, 8192);
	buf_printf(&ref, "refs/heads/%s", branch);
	rc = ref.failed ? GIT_EINVALIDSPEC : git_lib_ref(r, ref.data, &oid);
	buf_fini(&ref);
	if (rc == GIT_ENOTFOUND || rc == GIT_EINVALIDSPEC)
		return err_set(err, ERR_NOT_FOUND, "there is no branch %.200s", branch);
	if (rc < 0)
		return git_lib_fail(err, rc, "read branch %.200s", branch);
	git_lib_format_oid(sha, &oid);
	return 0;
}

/* ---- commits ---- */

#define COMPLETE "complete it with `git fetch --unshallow`"

int git_repo_whole(struct git_repo *r, const char *sha, struct fw_err *err)
{
	struct buf path, ends;
	int fd, result = 0;

	if (git_repository_is_shallow(r->lib) != 1)
		return 0;
	buf_init(&path, 8192);
	buf_init(&ends, 64 << 20);
	buf_printf(&path, "%s/shallow", git_repository_commondir(r->lib));
	fd = regular_open("", path.data, err);
	if (fd < 0 || buf_read_fd(&ends, fd) != 0)
		result = fd < 0 ? -1 : err_sys(err, "read %s", path.data);
	else if (strstr(ends.data, sha))
		result = err_set(
			err, ERR_UNSUPPORTED, "%s is a shallow clone, which ends at commit %.12s; " COMPLETE, r->path, sha);
	if (fd >= 0)
		close(fd);
	buf_fini(&path);
	buf_fini(&ends);
	return result;
}

int git_repo_merge_base(struct git_repo *r, const char *a, const char *b, char *sha, struct fw_err *err)
{
	git_commit *one = NULL, *two = NULL;
	git_oid base;
	int rc, result = -1;

	if (git_lib_commit(r, a, &one, err) != 0 || git_lib_commit(r, b, &two, err) != 0)
		goto out;
	rc = git_merge_base(&base, r->lib, git_commit_id(one), git_commit_id(two));
	if (rc < 0 && git_repository_is_shallow(r->lib) == 1) {
		err_set(err, ERR_UNSUPPORTED,
			"%s is a shallow clone, in which %.12s and %.12s have no common ancestor; " COMPLETE, r->path, a, b);
		goto out;
	}
	if (rc < 0 && rc != GIT_ENOTFOUND) {
		git_lib_fail(err, rc, "find the common ancestor of %s and %s", a, b);
		goto out;
	}
	sha[0] = '\0';
	if (rc == 0)
		git_lib_format_oid(sha, &base);
	result = 0;
out:
	git_commit_free(one);
	git_commit_free(two);
	return result;
}

struct tips {
	git_oid *oid;
	size_t n;
};

static int add_tip(void *arg, const char *name, const char *commit, const char *problem, struct fw_err *err)
{
	struct tips *tips = arg;
	git_oid oid;

	(void)name;
	(void)err;
	if (*problem || git_oid_fromstr(&oid, commit) < 0)
		return 0;
	tips->oid = mem_grow_one(tips->oid, tips->n, sizeof *tips->oid);
	tips->oid[tips->n++] = oid;
	return 0;
}

int git_repo_on_branch(struct git_repo *r, const char *sha, bool *is_on_branch, struct fw_err *err)
{
	struct tips tips = { .n = 0 };
	git_commit *commit = NULL;
	int rc = 0, result = git_lib_commit(r, sha, &commit, err);

	if (result == 0)
		result = git_repo_branches(r, add_tip, &tips, err);
	if (result == 0 && tips.n)
		rc = git_graph_reachable_from_any(r->lib, git_commit_id(commit), tips.oid, tips.n);
	if (rc < 0)
		result = git_lib_fail(err, rc, "find the branches of %s that contain %s", r->path, sha);
	*is_on_branch = rc == 1;
	free(tips.oid);
	git_commit_free(commit);
	return result;
}

void git_commit_info_fini(struct git_commit_info *c)
{
	buf_fini(&c->author);
	buf_fini(&c->subject);
}

/*
 * Append text of a commit as UTF-8. `from`: its encoding; NULL: UTF-8. A byte that is invalid in the encoding becomes U+FFFD. If
 * iconv does not know the encoding, the text is appended unchanged, and callers escape it.
 */
static void append_utf8(struct buf *out, const char *text, const char *from)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *in = (char *)text, chunk[256];
	size_t left = strlen(text);
	iconv_t converter = from ? iconv_open("UTF-8", from) : (iconv_t)-1;

	if (converter == (iconv_t)-1) {
		buf_puts(out, text);
		return;
	}
	while (left > 0 && !out->failed) {
		char *at = chunk;
		size_t output_size = sizeof chunk;
		size_t rc = iconv(converter, &in, &left, &at, &output_size);

		buf_append(out, chunk, (size_t)(at - chunk));
		if (rc == (size_t)-1 && errno != E2BIG && left > 0) {
			buf_append(out, replacement, sizeof replacement - 1);
			in++;
			left--;
		}
	}
	iconv_close(converter);
}

/* Return the encoding that a commit names; NULL: UTF-8, or the text is not a plain name, such as one with options for iconv. */
static const char *encoding_of(const git_commit *commit)
{
	const char *name = git_commit_message_encoding(commit);
	size_t plain = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-") : 0;

	if (!name || plain == 0 || name[plain] || plain > 40 || strcasecmp(name, "UTF-8") == 0 || strcasecmp(name, "utf8") == 0)
		return NULL;
	return name;
}

int git_repo_commit(struct git_repo *r, const char *sha, struct git_commit_info *out, struct fw_err *err)
{
	git_commit *commit;
	const git_signature *who;
	const char *subject, *encoding;
	unsigned i;

	if (git_lib_commit(r, sha, &commit, err) != 0)
		return -1;
	encoding = encoding_of(commit);
	memset(out, 0, sizeof *out);
	git_lib_format_oid(out->sha, git_commit_id(commit));
	git_lib_format_oid(out->tree, git_commit_tree_id(commit));
	for (i = 0; i < git_commit_parentcount(commit) && i < sizeof out->parent / sizeof out->parent[0]; i++)
		git_lib_format_oid(out->parent[out->n_parents++], git_commit_parent_id(commit, i));
	buf_init(&out->author, 1 << 20);
	buf_init(&out->subject, 1 << 20);
	who = git_commit_author(commit);
	if (who) {
		append_utf8(&out->author, who->name ? who->name : "", encoding);
		buf_puts(&out->author, " <");
		append_utf8(&out->author, who->email ? who->email : "", encoding);
		buf_putc(&out->author, '>');
	}
	subject = git_commit_summary(commit);
	if (subject)
		append_utf8(&out->subject, subject, encoding);
	out->committed_at_ms = (int64_t)git_commit_time(commit);
	/* Times are free text in git; values beyond the year 9999 are invalid. */
	if (out->committed_at_ms < 0 || out->committed_at_ms > 253402300799)
		out->committed_at_ms = 0;
	out->committed_at_ms *= 1000;
	git_commit_free(commit);
	return 0;
}

/* Follow first parents directly: libgit2's sorted walk would first read the whole history, and fail in a shallow one. */
static int log_first_parents(struct git_repo *r, git_commit *from, int count, git_log_fn *each, void *arg, struct fw_err *err)
{
	git_commit *at = NULL, *next;
	char sha[GIT_HEX];
	int n, rc = git_commit_dup(&at, from), status = 0;

	for (n = 0; rc == 0 && status == 0 && n < count; n++) {
		git_lib_format_oid(sha, git_commit_id(at));
		status = each(arg, sha, err);
		if (!git_commit_parentcount(at))
			break;
		rc = git_commit_parent(&next, at, 0);
		if (rc == GIT_ENOTFOUND && git_repository_is_shallow(r->lib) == 1) {
			rc = 0;
			break;
		}
		if (rc == 0) {
			git_commit_free(at);
			at = next;
		}
	}
	if (rc < 0)
		status = git_lib_fail(err, rc, "walk from %s", git_oid_tostr_s(git_commit_id(from)));
	git_commit_free(at);
	return status;
}

int git_repo_log(struct git_repo *r, const char *from, const char *without, int count, bool first_parent, git_log_fn *each,
	void *arg, struct fw_err *err)
{
	git_revwalk *walk = NULL;
	git_commit *start, *end = NULL;
	git_oid oid;
	char sha[GIT_HEX];
	int rc, n, status = -1;

	if (git_lib_commit(r, from, &start, err) != 0)
		return -1;
	if (first_parent) {
		status = log_first_parents(r, start, count, each, arg, err);
		git_commit_free(start);
		return status;
	}
	if (without && git_lib_commit(r, without, &end, err) != 0)
		goto out;
	if ((rc = git_revwalk_new(&walk, r->lib)) < 0 || (rc = git_revwalk_push(walk, git_commit_id(start))) < 0 ||
		(end && (rc = git_revwalk_hide(walk, git_commit_id(end))) < 0) ||
		(rc = git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME)) < 0) {
		git_lib_fail(err, rc, "walk from %s", from);
		goto out;
	}
	for (n = 0; n < count; n++) {
		rc = git_revwalk_next(&oid, walk);
		if (rc == GIT_ITEROVER)
			break;
		if (rc < 0) {
			git_lib_fail(err, rc, "walk from %s", from);
			goto out;
		}
		git_lib_format_oid(sha, &oid);
		if (each(arg, sha, err) < 0)
			goto out;
	}
	status = 0;
out:
	git_revwalk_free(walk);
	git_commit_free(end);
	git_commit_free(start);
	return status;
}

static int tree_of_commit(struct git_repo *r, const char *sha, git_tree **out, struct fw_err *err)
{
	git_commit *commit;
	char tree[GIT_HEX];

	if (git_lib_commit(r, sha, &commit, err) != 0)
		return -1;
	git_lib_format_oid(tree, git_commit_tree_id(commit));
	git_commit_free(commit);
	return look_up_tree(r, tree, out, err);
}

int git_repo_changes(
	struct git_repo *r, const char *from, const char *to, int count, git_changes_fn *each, void *arg, struct fw_err *err)
{
	git_tree *old = NULL, *now = NULL;
	git_diff *diff = NULL;
	int rc, n = -1;

	if (tree_of_commit(r, from, &old, err) != 0 || tree_of_commit(r, to, &now, err) != 0)
		goto out;
	rc = git_diff_tree_to_tree(&diff, r->lib, old, now, NULL);
	if (rc < 0) {
		git_lib_fail(err, rc, "compare %s with %s", from, to);
		goto out;
	}
	n = (int)git_diff_num_deltas(diff);
	for (int i = 0; i < n && i < count; i++) {
		const git_diff_delta *d = git_diff_get_delta(diff, (size_t)i);
		each(arg, d->status == GIT_DELTA_DELETED ? d->old_file.path : d->new_file.path);
	}
out:
	git_diff_free(diff);
	git_tree_free(now);
	git_tree_free(old);
	return n;
}

/* ---- trees and blobs ---- */

static enum git_kind kind_of(const git_tree_entry *e)
{
	switch (git_tree_entry_filemode_raw(e) & 0170000) {
	case 0040000:
		return GIT_KIND_TREE;
	case 0120000:
		return GIT_KIND_LINK;
	case 0160000:
		return GIT_KIND_SUBMODULE;
	default:
		return git_tree_entry_filemode_raw(e) & 0100 ? GIT_KIND_EXECUTABLE : GIT_KIND_BLOB;
	}
}

int git_repo_find(struct git_repo *r, const char *tree, const char *path, struct git_item *out, struct fw_err *err)
{
	git_tree *root;
	git_tree_entry *e = NULL;
	int rc;

	out->name = NULL;
	if (look_up_tree(r, tree, &root, err) != 0)
		return -1;
	if (!*path) {
		out->kind = GIT_KIND_TREE;
		git_lib_format_oid(out->oid, git_tree_id(root));
		git_tree_free(root);
		return 1;
	}
	rc = git_tree_entry_bypath(&e, root, path);
	git_tree_free(root);
	if (rc == GIT_ENOTFOUND)
		return 0;
	if (rc < 0)
		return git_lib_fail(err, rc, "look up %s", path);
	out->kind = kind_of(e);
	git_lib_format_oid(out->oid, git_tree_entry_id(e));
	git_tree_entry_free(e);
	return 1;
}

/* Returns 0, GIT_ENOTFOUND, or -1 with the error set. */
static int read_header(struct git_repo *r, const char *oid, size_t *len, git_object_t *type, struct fw_err *err)
{
	git_odb *odb = NULL;
	git_oid id;
	int rc;

	if (parse_oid(oid, &id, err) != 0)
		return -1;
	limits_object(oid);
	rc = git_repository_odb(&odb, r->lib);
	if (rc == 0)
		rc = git_odb_read_header(len, type, odb, &id);
	git_odb_free(odb);
	return rc < 0 && rc != GIT_ENOTFOUND ? git_lib_fail(err, rc, "read object %s", oid) : rc;
}

int git_repo_kind(struct git_repo *r, const char *oid, enum git_kind *out, struct fw_err *err)
{
	git_object_t type = GIT_OBJECT_INVALID;
	size_t len;
	int rc = read_header(r, oid, &len, &type, err);

	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_NOT_FOUND, "object %s is not in %s", oid, r->path);
	if (rc < 0)
		return -1;
	if (type != GIT_OBJECT_TREE && type != GIT_OBJECT_BLOB)
		return err_set(err, ERR_INVALID, "object %s is a %s, not a tree or a file", oid, git_object_type2string(type));
	*out = type == GIT_OBJECT_TREE ? GIT_KIND_TREE : GIT_KIND_BLOB;
	return 0;
}

int git_repo_tree(struct git_repo *r, const char *tree, int (*each)(void *arg, const struct git_item *item, struct fw_err *err),
	void *arg, struct fw_err *err)
{
	git_tree *t;
	size_t i, n;
	int status = 0;

	if (look_up_tree(r, tree, &t, err) != 0)
		return -1;
	n = git_tree_entrycount(t);
	for (i = 0; i < n && status == 0; i++) {
		const git_tree_entry *e = git_tree_entry_byindex(t, i);
		struct git_item item = { .name = git_tree_entry_name(e), .kind = kind_of(e) };

		git_lib_format_oid(item.oid, git_tree_entry_id(e));
		status = each(arg, &item, err);
	}
	git_tree_free(t);
	return status;
}

int git_repo_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err)
{
	git_blob *blob;
	git_oid id;
	git_object_size_t len;
	int rc;

	if (parse_oid(oid, &id, err) != 0)
		return -1;
	limits_object(oid);
	rc = git_blob_lookup(&blob, r->lib, &id);
	if (rc == GIT_ENOTFOUND)
		return err_set(err, ERR_DAMAGED,
			"file %s of a commit is missing in %s, which is damaged or a partial clone (see doc/troubleshooting.md#partial-clone)",
			oid, r->path);
	if (rc < 0)
		return git_lib_fail(err, rc, "read file %s", oid);
	len = git_blob_rawsize(blob);
	if (len <= max)
		buf_append(out, git_blob_rawcontent(blob), (size_t)len);
	git_blob_free(blob);
	if (len > max)
		return err_set(err, ERR_UNSUPPORTED, "a file of %llu bytes is larger than the limit of %zu",
			(unsigned long long)len, max);
	return out->failed ? err_set(err, ERR_FULL, "out of memory for a file of %llu bytes", (unsigned long long)len) : 0;
}

int git_repo_small_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err)
{
	git_object_t type;
	size_t len = 0;
	int rc = read_header(r, oid, &len, &type, err);

	if (rc < 0 && rc != GIT_ENOTFOUND)
		return -1;
	if (rc == 0 && len > max)
		return 0;
	return git_repo_blob(r, oid, max, out, err) != 0 ? -1 : 1; /* the caller reports a missing one */
}
