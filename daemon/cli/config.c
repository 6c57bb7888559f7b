/* config check: flopwatchd parses the configuration and reports every error; then it checks that the named objects exist. */

#include "cli/internal.h"

enum { READ_MS = 10000, PROBE_MS = 30 * 60 * 1000, OUTPUT_MAX_BYTES = 16 << 20 };

static const char *file_of(const struct options *o)
{
	return o->n_arg == 2 ? o->arg[1] : CONFIG_USUAL;
}

struct environment {
	char text[4][4096];
	const char *list[6];
};

/* PATH as every child process gets it, and the folder of systemd's credentials, which a configuration may name. */
static void fill_environment(struct environment *env)
{
	static const char *const names[] = { "PATH", "HOME", "TZ", "CREDENTIALS_DIRECTORY" };
	int n = 0;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = getenv(names[i]);
		if (value && (size_t)snprintf(env->text[i], sizeof env->text[i], "%s=%s", names[i], value) < sizeof env->text[i])
			env->list[n++] = env->text[i];
	}
	env->list[n++] = "LANG=C.UTF-8";
	env->list[n] = NULL;
}

/* Run flopwatchd --config FILE with this option to its end. Own: the caller owns out and errors, which may be the same. */
static int run(const char *file, const char *option, int deadline_ms, struct buf *out, struct buf *errors, struct proc_exit *how,
	struct fw_err *err)
{
	char program[4096], text[64];
	if (proc_sibling("flopwatchd", program, sizeof program, err) != 0)
		return -1;
	const char *argv[] = { program, "--config", file, option, NULL };
	struct environment env;
	fill_environment(&env);
	struct proc_spec spec = { .argv = argv, .env = env.list };
	if (proc_run(&spec, NULL, out, errors, deadline_ms, how, err) != 0)
		return -1;
	if (how->status >= 0)
		return 0;
	proc_describe(how, text);
	return err_set(err, ERR_INTERNAL, "%s: %s", program, text);
}

/* EXIT_OK: no errors; else they were printed. */
static int check_file(const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf out;
	struct proc_exit how = { 0 };
	buf_init(&out, OUTPUT_MAX_BYTES);
	int result = run(file_of(o), "--check-config", READ_MS, &out, &out, &how, &err);
	bool good = result == 0 && how.status == 0;
	if (result == 0 && out.failed)
		result = err_set(&err, ERR_FULL, "flopwatchd printed more than %d bytes", OUTPUT_MAX_BYTES);
	if (!good || !o->json)
		fwrite(out.data, 1, out.len, good ? stdout : stderr);
	buf_fini(&out);
	if (result != 0)
		return verb_fail_here(&err);
	return good ? EXIT_OK : how.status == 2 ? EXIT_USAGE : EXIT_ERROR;
}

static int take_lines(char *lines, struct answers *out, struct fw_err *err)
{
	char *line;
	int result = 0;
	while ((line = strsep(&lines, "\n"))) {
		json_t *one = *line ? json_loads(line, 0, NULL) : NULL;
		enum health health = health_from_name(value_text(one, "health"));
		if (one && health != HEALTH_N)
			answers_add(
				out, health, value_text(one, "what"), value_text(one, "advice"), "%s", value_text(one, "text"));
		else if (*line)
			result = err_set(err, ERR_PROTOCOL, "flopwatchd printed `%.200s`, which is not a check", line);
		json_decref(one);
	}
	return result;
}

int config_check_objects(const char *file, struct answers *answers, struct fw_err *err)
{
	struct buf out, errors;
	struct proc_exit how = { 0 };
	buf_init(&out, OUTPUT_MAX_BYTES);
	buf_init(&errors, OUTPUT_MAX_BYTES);
	int result = run(file, "--probe", PROBE_MS, &out, &errors, &how, err);
	if (result == 0 && how.status != 0)
		result = err_set(err, ERR_INVALID, "%.*s", (int)strcspn(errors.data, "\n"), errors.data);
	if (result == 0 && out.failed)
		result = err_set(err, ERR_FULL, "flopwatchd printed more than %d bytes", OUTPUT_MAX_BYTES);
	if (take_lines(out.data, answers, err) != 0)
		result = -1;
	buf_fini(&out);
	buf_fini(&errors);
	return result;
}

static int check_objects(const struct options *o)
{
	struct fw_err err = { 0 };
	struct answers answers = { 0 };
	int result = config_check_objects(file_of(o), &answers, &err);
	bool good = answers_print(&answers, o->json);
	answers_fini(&answers);
	return result != 0 ? verb_fail_here(&err) : good ? EXIT_OK : EXIT_ERROR;
}

int verb_config(struct client *c, const struct options *o)
{
	(void)c;
	if (strcmp(o->arg[0], "check") != 0)
		return verb_usage("flopwatch: write: flopwatch config check [FILE]");
	int status = check_file(o);
	return status == EXIT_OK ? check_objects(o) : status;
}
