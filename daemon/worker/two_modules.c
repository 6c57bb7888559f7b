/* two_modules.c - setup of a bench from the command line. */
#include "worker/internal.h"

enum { SUITE_BYTES_MAX = 1 << 20 };

/* Own: suite_fini. */
static int read_suite(const char *path, const char *glob, struct suite *suite, struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result;
	struct buf text;

	if (fd < 0)
		return err_sys(err, "suite %s", path);
	buf_init(&text, SUITE_BYTES_MAX);
	result = buf_read_fd(&text, fd);
	close(fd);
	if (result != 0 || text.failed)
		result = err_set(err, ERR_INVALID, "suite %s cannot be read", path);
	else
		result = suite_parse_local(text.data, text.len, path, suite, err);
	buf_fini(&text);
	if (result == 0 && suite_choose(suite, glob, 0, err) != 0) {
		suite_fini(suite);
		return err_context(err, "%s", path);
	}
	return result;
}

/* `config`: the provider's configuration for every cell; "" it chooses. */
static int add(struct bench *b, enum role role, const char *provider, const char *config, const char *path, struct fw_err *err)
{
	char sha[HASH_HEX];
	int fd = sealed_open(path, sha, err);

	if (fd < 0 || bench_add_side(b, role, provider, path, fd, sha, err) != 0)
		return -1;
	bench_request_config(b, config);
	return 0;
}

/* Bind the folders of files that the suite's cases need into the sandbox. */
static int show_files(struct sandbox *s, const struct suite *suite, struct fw_err *err)
{
	for (int i = 0; i < suite->n_cells; i++) {
		const struct family *f = case_family(&suite->cell[i]);
		const char *path = f->file ? f->file(suite->cell[i].shape.bytes) : "", *slash = strrchr(path, '/');
		char folder[PATH_MAX];
		const char *shown = folder;

		snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
		if (!path[0] || sandbox_shows(s, folder))
			continue;
		if (sandbox_show(s, &shown, 1, NULL, err) != 0)
			return err_context(err, "the runner cannot read %s: let every user read its folder", path);
	}
	return 0;
}

static int run_on(const struct two_modules_options *o, const struct two_modules_task *t, const struct suite *suite,
	const struct sandbox *sandbox, const struct msg_device *device, struct fw_err *err)
{
	struct peer alone;
	struct bench b;
	int result;

	if (bench_init(&b, suite->cell, suite->n_cells, err) != 0)
		return -1;
	peer_init(&alone, -1, -1);
	b.peer = &alone;
	b.sandbox = sandbox;
	b.device = *device;
	b.emit = t->emit;
	b.emit_arg = t->arg;
	rule_default(&b.rule, suite->n_cells);
	b.limits = (struct msg_limits){ .check_s = 900, .run_s = 600, .wait_s = 600, .budget_s = suite->budget_s };
	if (add(&b, ROLE_BASE, o->provider_base, o->config_base, o->base, err) != 0 ||
		add(&b, ROLE_TARGET, o->provider_target, o->config_target, o->target, err) != 0 || bench_ready(&b, err) != 0)
		result = -1;
	else
		result = t->run(&b, o, suite->name, t->arg, err);
	bench_fini(&b);
	peer_fini(&alone);
	return result;
}

int two_modules_run(const struct two_modules_options *o, const struct two_modules_task *t, struct fw_err *err)
{
	const struct msg_device *device = NULL;
	struct sandbox sandbox;
	struct msg_hello hello;
	struct suite suite;
	int result = -1;

	if (read_suite(o->suite, o->cells, &suite, err) != 0)
		return -1;
	if (sandbox_open(&sandbox, o->sandbox, err) == 0 && sandbox_show(&sandbox, o->shown, o->n_shown, NULL, err) == 0 &&
		show_files(&sandbox, &suite, err) == 0 && hardware_hello(&sandbox, o->sandbox, o->device, "", &hello, err) == 0)
		device = hardware_find(&hello, o->device, err);
	if (device)
		result = run_on(o, t, &suite, &sandbox, device, err);
	suite_fini(&suite);
	return result;
}
