/* init: scans a checkout and writes its .flopwatch.yaml. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "cli/internal.h"

enum { MANIFEST_MAX = 256 << 10 };

static const char file_name[] = ".flopwatch.yaml";

/* The checkout that contains `dir`, or the folder itself if there is none. Shape: root[PATH_MAX]. */
static int find_root(const char *dir, char *root, bool *is_checkout, struct fw_err *err)
{
	char at[PATH_MAX];

	if (!realpath(dir, root))
		return err_sys(err, "%s", dir);
	snprintf(at, sizeof at, "%s", root);
	*is_checkout = checkout_climb(at);
	if (*is_checkout)
		snprintf(root, PATH_MAX, "%s", at);
	return 0;
}

/* Create the file; fails if it exists: a user's file is never overwritten. */
static int store(const char *path, const struct buf *text, struct fw_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

	if (fd < 0 && errno == EEXIST)
		return err_set(err, ERR_CONFLICT,
			"%s already exists and is never overwritten: change it by hand and run flopwatch try, or move it away "
			"and run flopwatch init again",
			path);
	if (fd < 0)
		return err_sys(err, "%s", path);
	if (fd_write(fd, text->data, text->len) != 0) {
		err_sys(err, "%s", path);
		close(fd);
		unlink(path);
		return -1;
	}
	return close(fd) == 0 ? 0 : err_sys(err, "%s", path);
}

static void print_json(const char *path, const struct proposal *p, const struct buf *text)
{
	struct buf out;
	struct jsonw j;

	buf_init(&out, (size_t)4 * MANIFEST_MAX);
	jsonw_init(&j, &out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "file", path);
	jsonw_kv_string(&j, "kind", p->module[0] ? "module" : "benchmarks");
	jsonw_kv_array(&j, "found");
	if (p->module[0])
		jsonw_string(&j, p->module_why);
	for (int i = 0; i < p->n_benchmarks; i++)
		jsonw_string(&j, p->benchmark[i].why);
	jsonw_array_end(&j);
	jsonw_kv_array(&j, "notes");
	for (int i = 0; i < p->n_notes; i++)
		jsonw_string(&j, p->note[i]);
	jsonw_array_end(&j);
	jsonw_kv_string(&j, "environment", p->environment);
	jsonw_kv_array(&j, "missing");
	for (int i = 0; i < p->n_missing; i++)
		jsonw_string(&j, p->missing[i]);
	jsonw_array_end(&j);
	jsonw_kv_array(&j, "left_out");
	for (int i = 0; i < p->n_left; i++) {
		jsonw_object(&j);
		jsonw_kv_string(&j, "file", p->left[i].path);
		jsonw_kv_string(&j, "why", p->left[i].why);
		jsonw_object_end(&j);
	}
	for (int i = 0; i < p->n_more; i++) {
		jsonw_object(&j);
		jsonw_kv_string(&j, "file", p->more[i].path);
		jsonw_kv_string(&j, "why", "is one more like those; flopwatch init --all names it, too");
		jsonw_object_end(&j);
	}
	jsonw_array_end(&j);
	jsonw_kv_string(&j, "text", text->data);
	jsonw_object_end(&j);
	puts(out.data);
	buf_fini(&out);
}

/* Names come from the checkout, which may not be the user's own. */
static void print_left(const struct proposal *p, FILE *out, const char *before)
{
	for (int i = 0; i < p->n_left; i++)
		plain_line(out, "%s%s: left out: %s", before, p->left[i].path, p->left[i].why);
}

/* Benchmarks that the file does not name, on one line. */
static void print_more(const struct proposal *p)
{
	enum { NAMED = 3 };
	char names[NAMED * (SCAN_PATH_SIZE + 2)] = "";

	for (int i = 0; i < p->n_more && i < NAMED; i++) {
		size_t used = strlen(names);

		snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", p->more[i].path);
	}
	if (p->n_more)
		plain_line(stdout,
			"  %d more like these are not measured: %s%s; to measure all, remove the file and run flopwatch init --all",
			p->n_more, names, p->n_more > NAMED ? " and others that the file lists" : "");
}

/* Where the modules may be that the sandbox's Python does not have. */
static void print_virtual_environment(void)
{
	const char *folder = getenv("VIRTUAL_ENV"), *at = folder && *folder ? folder : getenv("CONDA_PREFIX");

	if (!at || !*at)
		at = "/opt/bench";
	plain_line(stdout,
		"  modules in a virtual environment: write its Python in `command`, such as %s/bin/python3, and run flopwatch try "
		"--read-only %s",
		at, at);
}

/* The steps after a trial: the daemon's configuration, and CI. */
static void print_steps(const char *root)
{
	const char *slash = strrchr(root, '/');
	char url[1024], branch[256];
	struct buf name, address, upstream;
	checkout_origin(root, url, sizeof url);
	checkout_upstream(root, branch, sizeof branch);
	buf_init(&upstream, 8192);
	command_put_word(branch, &upstream);
	buf_init(&name, 8192);
	buf_init(&address, 8192);
	command_put_word(slash && slash[1] ? slash + 1 : root, &name);
	command_put_word(url[0] ? url : root, &address);
	puts("to watch it, under repos: in flopwatchd.yml (man flopwatchd.yml):");
	plain_line(stdout, "  - {name: %s, url: %s, upstream: %s}", name.data, address.data, upstream.data);
	puts("to wait for the verdict of a push in CI, with status 3 for a regression:\n"
	     "  flopwatch ci --timeout 900");
	buf_fini(&name);
	buf_fini(&address);
	buf_fini(&upstream);
}

static void print_text(const char *root, const char *path, const struct proposal *p, bool is_checkout)
{
	printf("wrote %s\n", path);
	if (p->module[0])
		printf("  module %s: %s\n", p->module, p->module_why);
	for (int i = 0; i < p->n_benchmarks; i++)
		plain_line(stdout, "  benchmark %s: %s", p->benchmark[i].name, p->benchmark[i].why);
	print_more(p);
	for (int i = 0; i < p->n_reasons; i++)
		plain_line(stdout, "  build: %s", p->why[i]);
	if (p->environment[0])
		plain_line(stdout, "  environment: %s", p->environment);
	for (int i = 0; i < p->n_missing; i++)
		plain_line(stdout, "  %s", p->missing[i]);
	if (p->lacks_modules)
		print_virtual_environment();
	for (int i = 0; i < p->n_notes; i++)
		plain_line(stdout, "  note: %s", p->note[i]);
	print_left(p, stdout, "  ");
	if (is_checkout)
		print_steps(root);
	puts(is_checkout ? "next: flopwatch try" : "next: git init, because this is not a checkout yet; then flopwatch try");
}

static int write_file(const struct scan *l, const struct proposal *p, bool is_checkout, const struct options *o)
{
	char path[PATH_MAX + sizeof file_name];
	struct manifest manifest;
	struct fw_err err = { 0 };
	struct buf text;

	snprintf(path, sizeof path, "%s/%s", l->root, file_name);
	buf_init(&text, MANIFEST_MAX);
	write_manifest(p, &text);
	int result = manifest_parse(text.data, text.len, file_name, &manifest, &err);

	if (result != 0)
		err_context(&err, "the scan found no valid manifest; write it by hand");
	else
		result = store(path, &text, &err);
	if (result == 0 && o->json)
		print_json(path, p, &text);
	else if (result == 0)
		print_text(l->root, path, p, is_checkout);
	buf_fini(&text);
	return result == 0 ? EXIT_OK : verb_fail_here(&err);
}

int verb_init(struct client *c, const struct options *o)
{
	struct proposal *p = mem_alloc(sizeof *p);
	struct scan *l = mem_alloc(sizeof *l);
	char root[PATH_MAX], path[PATH_MAX + sizeof file_name];
	struct fw_err err = { 0 };
	bool is_checkout = false;
	int status = EXIT_ERROR;

	(void)c;
	l->n_programs = l->n_builders = l->n_helpers = 0;
	if (find_root(o->n_arg ? o->arg[0] : ".", root, &is_checkout, &err) != 0) {
		status = verb_fail_here(&err);
	} else if (snprintf(path, sizeof path, "%s/%s", root, file_name) > 0 && access(path, F_OK) == 0) {
		struct buf none;

		buf_init(&none, 1);
		(void)store(path, &none, &err);
		status = verb_fail_here(&err);
		buf_fini(&none);
	} else if (scan_at(l, root, &err) != 0) {
		status = verb_fail_here(&err);
	} else if (missing_search(l), propose(l, o->all, p)) {
		missing_find(l, p);
		status = write_file(l, p, is_checkout, o);
	} else {
		fprintf(stderr,
			"flopwatch: nothing in %s is a known kind of benchmark: no module with fw_entry, no program with flopwatch.h, "
			"flopwatch.py, Google Benchmark, nvbench or Catch2, no script around hyperfine, Triton's or PyTorch's timers, no test "
			"with pytest-benchmark; doc/howto/add-a-repository.md lists the benchmarks of a branch\n",
			root);
		for (int i = 0; i < p->n_notes; i++)
			fprintf(stderr, "flopwatch: %s\n", p->note[i]);
		print_left(p, stderr, "flopwatch: ");
		status = EXIT_NOT_FOUND;
	}
	scan_free(l);
	free(l);
	free(p);
	return status;
}
