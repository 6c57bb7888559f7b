/* environment.c - documented in internal.h. */
#include "cli/internal.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

enum { NAMES_MAX = 24, NAME_SIZE = 48 };

struct names {
	int n;
	char name[NAMES_MAX][NAME_SIZE];
};

static void add_name(struct names *names, const char *at, size_t len)
{
	if (len && len < NAME_SIZE && names->n < NAMES_MAX)
		snprintf(names->name[names->n++], NAME_SIZE, "%.*s", (int)len, at);
}

/* Keys of the table `section` of a TOML file. */
static void read_toml(const char *text, const char *section, struct names *out)
{
	bool is_inside = false;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *line = text + strspn(text, " \t\"'");
		size_t n = strspn(line, letters);

		if (*text == '[')
			is_inside = strncmp(text, section, strlen(section)) == 0;
		else if (is_inside && line[n + strspn(line + n, " \t\"'")] == '=')
			add_name(out, line, n);
	}
}

/* Keys of the dictionary extras_require of a setup.py. */
static void read_setup(const char *text, struct names *out)
{
	const char *at = strstr(text, "extras_require");
	int depth = 0;

	for (at = at ? strchr(at, '{') : NULL; at && *at && (depth || *at != '}'); at++) {
		depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
		if (depth || (*at != '"' && *at != '\''))
			continue;
		size_t n = strspn(at + 1, letters);

		if (at[n + 1] == *at && at[n + 2 + strspn(at + n + 2, " ")] == ':')
			add_name(out, at + 1, n);
		at += n + (at[n + 1] != '\0');
	}
}

static const char *find_name(const struct names *names, const char *const *words)
{
	for (const char *const *w = words; *w; w++)
		for (int i = 0; i < names->n; i++)
			if (strstr(names->name[i], *w))
				return names->name[i];
	return NULL;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_requirements(const char *path)
{
	return strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".txt") == 0;
}

/* Requirements of benchmarks, else those of tests if they are wanted, else those of the project; NULL none. */
static const char *find_requirements(const struct scan *l, bool is_tests)
{
	const char *best = NULL;
	int rank = 0;

	for (int i = 0; i < l->n_environments; i++) {
		const char *path = l->environment[i], *name = name_of(path);
		bool is_test = strstr(name, "test") || strstr(name, "dev");
		bool is_near = !strchr(path, '/') || strncmp(path, "requirements/", strlen("requirements/")) == 0;
		int here = 0;

		if (is_requirements(path) && script_position(path) == SCRIPT_BENCHMARKS)
			here = 3;
		else if (is_requirements(path) && is_near && is_test)
			here = is_tests ? 2 : 0;
		else if (is_requirements(path) && strcmp(path, "requirements.txt") == 0)
			here = 1;

		if (here > rank) {
			best = path;
			rank = here;
		}
	}
	return best;
}

static const char *find_lock(const struct scan *l)
{
	for (int i = 0; i < l->n_environments; i++)
		if (!is_requirements(l->environment[i]) && !strchr(l->environment[i], '/'))
			return l->environment[i];
	return NULL;
}

void environment_describe(const struct scan *l, bool is_tests, char *line, size_t size)
{
	static const char *const bench[] = { "bench", "perf", NULL }, *const tests[] = { "test", "dev", NULL };
	const struct scan_builder *toml = scan_builder(l, ".", "pyproject.toml"), *setup = scan_builder(l, ".", "setup.py");
	struct names extras = { 0 }, groups = { 0 };

	if (toml) {
		read_toml(toml->text.data, "[project.optional-dependencies]", &extras);
		read_toml(toml->text.data, "[tool.poetry.extras]", &extras);
		read_toml(toml->text.data, "[dependency-groups]", &groups);
	}
	if (setup)
		read_setup(setup->text.data, &extras);
	const char *extra = find_name(&extras, bench), *group = find_name(&groups, bench);
	const char *requirements = find_requirements(l, is_tests), *lock = find_lock(l);

	if (is_tests && !extra && !group) {
		extra = find_name(&extras, tests);
		group = extra ? NULL : find_name(&groups, tests);
	}
	struct buf out;

	buf_init(&out, size - 1);
	if (extra || group || requirements)
		buf_puts(&out, "pip install");
	else if (!lock && (toml || setup))
		buf_puts(&out, "pip install .");
	if (requirements)
		buf_printf(&out, " -r %s", requirements);
	if (extra)
		buf_printf(&out, " '.[%s]'", extra);
	if (group)
		buf_printf(&out, " --group %s", group);
	if (lock)
		buf_printf(&out, "%s%s pins the versions", out.len ? "; " : "", lock);
	snprintf(line, size, "%s", out.data);
	buf_fini(&out);
}
