#include "flopwatchd/config/config.h"

#include <fnmatch.h>
#include <stdio.h>

static const char GLOB_HINT[] = "patterns are globs (`*`, `?`, `[a-z]`), and a leading `!` excludes";

bool branch_pattern_matches(const char *pattern, const char *name, const char *display)
{
	const char *glob = pattern + (pattern[0] == '!');
	char raw[BRANCH_NAME_SIZE];

	if (strlen(name) >= sizeof raw)
		return false;
	percent_decode(name, raw);
	return fnmatch(glob, raw, 0) == 0 || fnmatch(glob, display, 0) == 0;
}

bool branch_patterns_watch(const struct config_repo *conf, const char *name, const char *display)
{
	bool is_watched = false;

	for (int i = 0; i < conf->n_branches; i++)
		if (branch_pattern_matches(conf->branch[i], name, display))
			is_watched = conf->branch[i][0] != '!';
	return is_watched;
}

/* Find a byte that git allows in no ref name, outside of a bracket expression, in which `^` negates; 0: none. */
static char forbidden_byte(const char *glob)
{
	for (const char *c = glob; *c; c++) {
		if (*c == '[' && c[1] == '^' && strchr(c, ']'))
			c++;
		else if (*c == '\\' && c[1])
			c++;
		else if (strchr("~^: \t", *c))
			return *c;
	}
	return '\0';
}

bool branch_pattern_is_wrong(const char *pattern, char *why, size_t size)
{
	const char *glob = pattern + (pattern[0] == '!');
	char byte = forbidden_byte(glob);

	why[0] = '\0';
	if (glob[0] == '\0')
		snprintf(why, size, "names no branch; %s", GLOB_HINT);
	else if (strncmp(glob, "refs/", 5) == 0)
		snprintf(why, size, "is matched against the names of branches, which begin after refs/heads/; %s", GLOB_HINT);
	else if (byte)
		snprintf(why, size, "matches no branch, because git allows no `%c` in a branch name; %s", byte, GLOB_HINT);
	else if (glob[0] == '-' || glob[0] == '/' || glob[0] == '!')
		snprintf(why, size, "matches no branch, because no branch name begins with `%c`; %s", glob[0], GLOB_HINT);
	else if (strstr(glob, "..") || strstr(glob, "@{") || strstr(glob, "//"))
		snprintf(why, size, "matches no branch, because git allows no `%s` in a branch name; %s",
			strstr(glob, "..")   ? ".."
			: strstr(glob, "@{") ? "@{"
					     : "//",
			GLOB_HINT);
	return why[0] != '\0';
}
