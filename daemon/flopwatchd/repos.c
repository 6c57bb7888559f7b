/* repos.c - checks of repositories and their branches; see probe.c. */
#include "flopwatchd/internal.h"

#include <stdio.h>

#include "flopwatchd/config/config.h"
#include "flopwatchd/watch/watch.h"
#include "lib/lib.h"

enum { REQUEST_MS = 60000, TIPS_MAX_BYTES = 64 << 20, ERRORS_MAX_BYTES = 1 << 16, NAME_BYTES = 1024 };

/* Set the error to the first line of flopwatch-git's errors, without the program's name. */
static int set_error(const struct buf *errors, enum err_code code, struct fw_err *err)
{
	static const char own_name[] = "flopwatch-git: ";
	const char *line = errors->len ? errors->data : "flopwatch-git failed";
	if (strncmp(line, own_name, sizeof own_name - 1) == 0)
		line += sizeof own_name - 1;
	return err_set(err, code, "%.*s", (int)strcspn(line, "\n"), line);
}

static int read_branches(const struct config_repo *r, struct buf *out, struct fw_err *err)
{
	char program[4096];
	struct proc_exit how;
	struct buf errors;
	int n = 1;
	if (proc_sibling("flopwatch-git", program, sizeof program, err) != 0)
		return -1;
	const char *argv[5 + CONFIG_ACCESS_ARGS] = { program };
	argv[n++] = r->is_local ? "tips" : "heads";
	argv[n++] = r->is_local ? "--repo" : "--url";
	argv[n++] = r->url;
	if (!r->is_local)
		n += config_repo_access(r, argv + n);
	struct proc_spec spec = { .argv = argv };
	buf_init(&errors, ERRORS_MAX_BYTES);
	int result = proc_run(&spec, NULL, out, &errors, REQUEST_MS, &how, err);
	if (result == 0 && how.timed_out)
		result = err_set(err, ERR_TIMEOUT, "the server did not answer within %d s", REQUEST_MS / 1000);
	else if (result == 0 && how.status != 0)
		result = set_error(&errors, how.status == PROC_EXIT_AGAIN ? ERR_IO : ERR_INVALID, err);
	else if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the list of branches is too large");
	buf_fini(&errors);
	return result;
}

/* True for a local repository with truncated history, which git marks by the file `shallow`. */
static bool is_shallow(const struct config_repo *r)
{
	static const char *const file[] = { "/.git/shallow", "/shallow" };
	char path[sizeof r->url + 16];
	struct stat st;

	for (size_t i = 0; r->is_local && i < sizeof file / sizeof file[0]; i++) {
		snprintf(path, sizeof path, "%s%s", r->url, file[i]);
		if (stat(path, &st) == 0 && st.st_size > 0)
			return true;
	}
	return false;
}

struct branches {
	int n;
	bool has_upstream;
	bool is_matched[CONFIG_LIST_MAX]; /* by pattern of `branches` */
};

static void read_lines(const struct config_repo *r, char *lines, const char *upstream, struct branches *out)
{
	char *line;

	*out = (struct branches){ 0 };
	while ((line = strsep(&lines, "\n"))) {
		json_t *tip = *line ? json_loads(line, 0, NULL) : NULL;
		const char *name = json_string_value(json_object_get(tip, "name"));
		const char *display = json_string_value(json_object_get(tip, "display"));

		if (name) {
			out->n++;
			out->has_upstream = out->has_upstream || !strcmp(name, upstream);
			for (int i = 0; i < r->n_branches; i++)
				if (branch_pattern_matches(r->branch[i], name, display ? display : name))
					out->is_matched[i] = true;
		}
		json_decref(tip);
	}
}

static void check_patterns(const struct config_repo *r, const struct branches *b)
{
	for (int i = 0; i < r->n_branches; i++)
		if (!b->is_matched[i])
			probe_print(PROBE_WARN, "branches",
				"no change needed if the branch will be pushed; else correct the pattern",
				"%s: `%s` %s no existing branch", r->name, r->branch[i],
				r->branch[i][0] == '!' ? "excludes" : "matches");
}

static void check_repo(const struct config_repo *r)
{
	struct fw_err err = { 0 };
	struct buf out;
	char upstream[NAME_BYTES], why[NAME_BYTES];
	struct branches branches;
	buf_init(&out, TIPS_MAX_BYTES);
	if (read_branches(r, &out, &err) != 0 || gitread_encode(r->upstream, upstream, sizeof upstream, &err) != 0) {
		probe_print(PROBE_FAIL, "repository",
			err.code == ERR_INVALID ? "" /* flopwatch-git's message says what to do */
			: r->is_local           ? "correct its url, or let the daemon's user read it"
						: "correct its url, its key, or the way to the server",
			"%s: %s", r->name, err.text);
		buf_fini(&out);
		return;
	}
	read_lines(r, out.data, upstream, &branches);
	int n = branches.n;
	config_no_upstream(r, why, sizeof why);
	if (n == 0)
		probe_print(PROBE_WARN, "repository", "push one", "%s can be read, but has no branch yet", r->name);
	else if (!branches.has_upstream)
		probe_print(PROBE_FAIL, "branch", "", "%s: %s", r->name, why);
	else
		probe_print(PROBE_OK, "repository", "", "%s can be read: %d branch%s, %s among them", r->name, n,
			n == 1 ? "" : "es", r->upstream);
	if (is_shallow(r))
		probe_print(PROBE_WARN, "repository", "complete it with `git fetch --unshallow`",
			"%s: %s is a shallow clone; commits whose merge-base is not in it fail", r->name, r->url);
	if (n > 0)
		check_patterns(r, &branches);
	buf_fini(&out);
}

void check_repos(const struct config *c)
{
	for (int i = 0; i < c->n_repos; i++)
		check_repo(&c->repo[i]);
	if (c->n_repos == 0)
		probe_print(PROBE_WARN, "repository", "add one under repos:", "none is watched");
}
