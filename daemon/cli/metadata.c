/* metadata.c - documented in internal.h. */
#include "cli/internal.h"

#include <ctype.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static const char *const positions[] = { "src", "python", ".", NULL };

/* The name as Python compares it: small letters, and one _ for each run of other characters. */
static void normalise(const char *name, char *out, size_t size)
{
	size_t n = 0;

	for (; *name && n + 1 < size; name++) {
		bool is_mark = strchr("-_.", *name) != NULL;

		if (!is_mark || n == 0 || out[n - 1] != '_')
			out[n++] = is_mark ? '_' : (char)tolower((unsigned char)*name);
	}
	out[n] = '\0';
}

static bool is_same_name(const char *a, const char *b)
{
	char x[64], y[64];

	normalise(a, x, sizeof x);
	normalise(b, y, sizeof y);
	return x[0] && strcmp(x, y) == 0;
}

/* ---- names that the project declares ---------------------------------------------------------------------------------------- */

/* "name = VALUE" with or without quotes; `at` is behind "name". Shape: out[size]. */
static bool read_value(const char *at, char *out, size_t size)
{
	at += strspn(at, " \t");
	if (*at != '=')
		return false;
	at += 1 + strspn(at + 1, " \t\"'");
	size_t n = strspn(at, letters);

	snprintf(out, size, "%.*s", (int)n, at);
	return n > 0 && n < size;
}

/* The key `name` of the table `section` of a TOML or INI file. */
static bool read_table(const char *text, const char *section, char *out, size_t size)
{
	bool is_inside = false;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (*text == '[')
			is_inside = strncmp(text, section, strlen(section)) == 0;
		else if (is_inside && strncmp(text, "name", 4) == 0 && read_value(text + 4, out, size))
			return true;
	}
	return false;
}

/* The argument name="..." of setup(). */
static bool read_setup(const char *text, char *out, size_t size)
{
	const char *at = strstr(text, "setup(");

	for (; at && (at = strstr(at, "name")); at++) {
		const char *value = at + 4 + strspn(at + 4, " \t");

		if (strchr("( \t\n,", at[-1]) && *value == '=' && strchr("\"'", value[1 + strspn(value + 1, " \t")]) &&
			read_value(at + 4, out, size))
			return true;
	}
	return false;
}

/* The name that the files of folder `dir` declare. False: none. */
static bool read_name(const struct scan *l, const char *dir, char *out, size_t size)
{
	const struct scan_builder *toml = scan_builder(l, dir, "pyproject.toml"), *setup = scan_builder(l, dir, "setup.py");
	char path[SCAN_PATH_SIZE];
	struct buf ini;

	if (toml &&
		(read_table(toml->text.data, "[project]", out, size) || read_table(toml->text.data, "[tool.poetry]", out, size)))
		return true;
	scan_join(dir, "setup.cfg", path, sizeof path);
	scan_read(l, path, &ini);
	bool result = read_table(ini.data, "[metadata]", out, size);

	buf_fini(&ini);
	return result || (setup && read_setup(setup->text.data, out, size));
}

/* Whether `name` is a package of this project. Shape: declared[size], as the project spells it. */
static bool is_own(const struct scan *l, const char *name, char *declared, size_t size)
{
	for (const char *const *p = positions; *p; p++)
		if (read_name(l, *p, declared, size) && is_same_name(name, declared))
			return true;
	return false;
}

/* ---- public ---------------------------------------------------------------------------------------------------------------- */

/* Whether the script is `path`, or imports it or a package that contains it. Shape: item[SCAN_PATH_SIZE], what it imports. */
static bool imports_file(const struct scan_program *program, const char *path, char item[SCAN_PATH_SIZE])
{
	snprintf(item, SCAN_PATH_SIZE, "%s", program->path);
	if (strcmp(program->path, path) == 0)
		return true;
	for (const char *at = program->packages; *at; at += strcspn(at, " "), at += *at == ' ') {
		size_t n = strcspn(at, " ");

		if (strncmp(path, at, n) == 0 && (path[n] == '/' || path[n] == '.')) {
			snprintf(item, SCAN_PATH_SIZE, "%.*s", (int)n, at);
			return true;
		}
	}
	return false;
}

/* Find the folder that contains the package, else the folder of the imported module: Python searches both. */
static void find_dir(const struct scan *l, const char *name, const char *item, char *dir, size_t size)
{
	char package[64], path[SCAN_PATH_SIZE];

	normalise(name, package, sizeof package);
	for (const char *const *p = positions; *p; p++) {
		scan_join(*p, package, path, sizeof path);
		if (scan_is_there(l, path)) {
			snprintf(dir, size, "%s", *p);
			return;
		}
	}
	scan_dir(item, dir, size);
}

static void write_steps(const char *path, struct metadata *m)
{
	char package[64], folder[sizeof package + 16], made[sizeof m->step[0].output - 16], line[96];
	struct command *c = &m->step[0].command;

	m->step[0] = m->step[1] = (struct builder_step){ 0 };
	normalise(m->name, package, sizeof package);
	snprintf(folder, sizeof folder, "%s-0.dist-info", package);
	scan_join(m->dir, folder, made, sizeof made);
	command_add(c, "mkdir");
	command_add(c, "-p");
	command_add(c, made);
	c = &m->step[1].command;
	command_add(c, "printf");
	command_add(c, "%s\\n");
	command_add(c, "Metadata-Version: 2.1");
	snprintf(line, sizeof line, "Name: %s", m->name);
	command_add(c, line);
	command_add(c, "Version: 0");
	snprintf(m->step[1].output, sizeof m->step[1].output, "%s/METADATA", made);
	snprintf(m->step[1].why, sizeof m->step[1].why,
		"%.100s reads the metadata of the package %s, which only an installed package has; the build writes it, with version 0",
		path, m->name);
}

bool metadata_find(const struct scan *l, const struct scan_program *program, struct metadata *out)
{
	char item[SCAN_PATH_SIZE];

	for (int i = 0; i < l->n_distributions; i++) {
		const struct scan_distribution *d = &l->distribution[i];

		if (!imports_file(program, d->path, item) || !is_own(l, d->name, out->name, sizeof out->name))
			continue;
		find_dir(l, out->name, item, out->dir, sizeof out->dir);
		if (!command_is_plain(out->dir)) /* a shell reads it, in PYTHONPATH and as the name of a file */
			return false;
		write_steps(d->path, out);
		return true;
	}
	return false;
}
