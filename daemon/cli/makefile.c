/* makefile.c - documented in internal.h. */
#include "cli/internal.h"

enum { VARIABLES_MAX = 128, RULES_MAX = 256, NAME_SIZE = 64, VALUE_SIZE = 1024, DEPTH_MAX = 6, RECIPE_MAX = 8 << 10 };

struct make_rule {
	char targets[VALUE_SIZE], needs[VALUE_SIZE];
	struct buf recipe;
};

struct makefile {
	int n_variables, n_rules;
	struct {
		char name[NAME_SIZE], value[VALUE_SIZE];
	} variable[VARIABLES_MAX];
	struct make_rule rule[RULES_MAX];
	bool knows_device;
};

static const char spaces[] = " \t\r\n";

static const char *value_of(const struct makefile *m, const char *name, size_t len)
{
	for (int i = m->n_variables; i-- > 0;)
		if (strlen(m->variable[i].name) == len && memcmp(m->variable[i].name, name, len) == 0)
			return m->variable[i].value;
	return NULL;
}

/* Expand the variables of `text`; anything else after $ becomes "?", which no file name contains. */
static void expand(struct makefile *m, const char *text, int depth, struct buf *out)
{
	while (*text) {
		if (*text != '$' || !text[1]) {
			buf_putc(out, *text++);
			continue;
		}
		char close = text[1] == '(' ? ')' : text[1] == '{' ? '}' : '\0';

		if (!close) { /* automatic variables such as $@ */
			buf_putc(out, text[1] == '$' ? '$' : '?');
			text += 2;
			continue;
		}
		const char *name = text + 2;
		size_t len = strcspn(name, "(){} \t");
		const char *value = value_of(m, name, len);

		if (name[len] != close) { /* a function, or nested functions */
			int open = 1;

			for (text += 2; *text && open; text++)
				open += *text == '(' || *text == '{' ? 1 : *text == ')' || *text == '}' ? -1 : 0;
			buf_putc(out, '?');
			continue;
		}
		if (len == strlen("DEVICE") && memcmp(name, "DEVICE", len) == 0) {
			m->knows_device = true;
			buf_puts(out, "{device}");
		} else if (value && depth < DEPTH_MAX) {
			expand(m, value, depth + 1, out);
		} else if (!value) {
			buf_putc(out, '?');
		}
		text = name + len + 1;
	}
}

static void expand_to(struct makefile *m, const char *text, char *out, size_t size)
{
	struct buf b;

	buf_init(&b, size - 1);
	expand(m, text, 0, &b);
	snprintf(out, size, "%s", b.data);
	buf_fini(&b);
}

/* "NAME := value". False: the line is not an assignment. */
static bool take_variable(struct makefile *m, const char *line)
{
	size_t len = strcspn(line, " \t:?+=#");
	const char *at = line + len + strspn(line + len, spaces);
	bool adds = *at == '+';

	if (len == 0 || len >= NAME_SIZE)
		return false;
	at += strspn(at, ":?+");
	if (*at != '=')
		return false;
	at++;
	at += strspn(at, spaces);
	if (m->n_variables == VARIABLES_MAX || adds)
		return true;
	snprintf(m->variable[m->n_variables].name, NAME_SIZE, "%.*s", (int)len, line);
	snprintf(m->variable[m->n_variables].value, VALUE_SIZE, "%.*s", (int)strcspn(at, "#"), at);
	m->n_variables++;
	return true;
}

static struct make_rule *take_rule(struct makefile *m, const char *line)
{
	const char *colon = line;

	/* the colon that ends the targets, outside of $(...) */
	for (int open = 0; *colon && (*colon != ':' || open); colon++)
		open += *colon == '(' ? 1 : *colon == ')' ? -1 : 0;
	if (!*colon || colon[1] == '=' || m->n_rules == RULES_MAX || *line == '.' || *line == '#')
		return NULL;
	struct make_rule *r = &m->rule[m->n_rules++];
	char targets[VALUE_SIZE];

	snprintf(targets, sizeof targets, "%.*s", (int)(colon - line), line);
	expand_to(m, targets, r->targets, sizeof r->targets);
	colon += strspn(colon, ":");
	snprintf(targets, sizeof targets, "%.*s", (int)strcspn(colon, "#"), colon);
	expand_to(m, targets, r->needs, sizeof r->needs);
	buf_init(&r->recipe, RECIPE_MAX);
	return r;
}

/* The next line, joined with its continuation lines. False: none. */
static bool next_line(const char **text, struct buf *line)
{
	buf_clear(line);
	if (!**text)
		return false;
	for (;;) {
		size_t n = strcspn(*text, "\n");
		bool goes_on = n > 0 && (*text)[n - 1] == '\\' && (*text)[n];

		buf_append(line, *text, goes_on ? n - 1 : n);
		*text += n + ((*text)[n] == '\n');
		if (!goes_on || !**text)
			return true;
		buf_putc(line, ' ');
	}
}

struct makefile *makefile_read(const char *text)
{
	struct makefile *m = mem_alloc_zero(1, sizeof *m);
	struct make_rule *rule = NULL;
	struct buf line;

	buf_init(&line, 64 << 10);
	while (next_line(&text, &line)) {
		if (line.data[0] == '\t' && rule) {
			expand(m, line.data, 0, &rule->recipe);
			buf_putc(&rule->recipe, '\n');
		} else if (line.data[strspn(line.data, " \t\r")] && line.data[0] != '#') {
			struct make_rule *begun = take_variable(m, line.data) ? NULL : take_rule(m, line.data);

			rule = begun ? begun : rule;
		}
	}
	buf_fini(&line);
	return m;
}

void makefile_free(struct makefile *m)
{
	for (int i = 0; m && i < m->n_rules; i++)
		buf_fini(&m->rule[i].recipe);
	free(m);
}

bool makefile_knows_device(const struct makefile *m)
{
	return m->knows_device || value_of(m, "DEVICE", strlen("DEVICE"));
}

/* Next item of a list. False: none. Shape: word[VALUE_SIZE]. */
static bool next_word(const char **list, char *word)
{
	*list += strspn(*list, spaces);
	size_t n = strcspn(*list, spaces);

	snprintf(word, VALUE_SIZE, "%.*s", (int)n, *list);
	*list += n;
	return n > 0;
}

static bool ends_in(const char *path, const char *name)
{
	size_t n = strlen(path), k = strlen(name);

	return n >= k && strcmp(path + n - k, name) == 0 && (n == k || path[n - k - 1] == '/') && !strchr(path, '?') &&
	       !strchr(path, '%');
}

/* Apply a pattern rule to the source: "build/%" of "build/%: src/%.c" and "src/sums.c" is "build/sums". */
static bool matches(const char *pattern, const char *need, const char *source, char *out, size_t size)
{
	const char *mark = strchr(need, '%'), *position = strchr(pattern, '%');
	size_t head = mark ? (size_t)(mark - need) : 0, tail = mark ? strlen(mark + 1) : 0, n = strlen(source);

	if (!mark || !position || n <= head + tail || strncmp(source, need, head) != 0 ||
		strcmp(source + n - tail, mark + 1) != 0)
		return false;
	snprintf(
		out, size, "%.*s%.*s%s", (int)(position - pattern), pattern, (int)(n - head - tail), source + head, position + 1);
	return !strchr(out, '?') && !strstr(out, ".o");
}

static bool rule_program(const struct make_rule *r, const char *stem, const char *source, char *target, char *file, size_t size)
{
	char word[VALUE_SIZE], need[VALUE_SIZE], made[VALUE_SIZE];
	const char *list = r->targets;

	while (next_word(&list, word)) {
		const char *needs = r->needs;

		snprintf(target, size, "%s", word);
		snprintf(file, size, "%s", word);
		if (ends_in(word, stem))
			return true;
		while (source && next_word(&needs, need))
			if (matches(word, need, source, target, size) && snprintf(file, size, "%s", target) > 0)
				return true;
	}
	/* a target of another name that is built from this source, and is not an object file */
	list = r->targets;
	for (const char *needs = r->needs;
		source && strstr(r->recipe.data, "-o ") && !strstr(r->recipe.data, "-c ") && next_word(&needs, need);)
		if (strcmp(need, source) == 0 && next_word(&list, word) && !strpbrk(word, "?%")) {
			snprintf(target, size, "%s", word);
			snprintf(file, size, "%s", word);
			return true;
		}
	/* `gcc -o build/sums`, under a target of another name */
	list = r->targets;
	for (const char *at = r->recipe.data; (at = strstr(at, "-o ")); at++) {
		const char *rest = at + 2;

		if (next_word(&rest, made) && ends_in(made, stem) && next_word(&list, word) && !strchr(word, '?')) {
			snprintf(target, size, "%s", word);
			snprintf(file, size, "%s", made);
			return true;
		}
	}
	return false;
}

bool makefile_program(const struct makefile *m, const char *stem, const char *source, char *target, char *file, size_t size)
{
	for (int i = 0; i < m->n_rules; i++)
		if (rule_program(&m->rule[i], stem, source, target, file, size))
			return true;
	for (int i = 0; i < m->n_rules; i++) { /* built by one of make's implicit rules */
		const char *needs = m->rule[i].needs;
		char word[VALUE_SIZE];

		while (next_word(&needs, word))
			if (ends_in(word, stem)) {
				snprintf(target, size, "%s", word);
				snprintf(file, size, "%s", word);
				return true;
			}
	}
	return false;
}

bool makefile_module(const struct makefile *m, char *file, size_t size)
{
	char word[VALUE_SIZE];

	for (int i = 0; i < m->n_rules; i++) {
		const char *lists[] = { m->rule[i].targets, m->rule[i].recipe.data };

		for (int k = 0; k < 2; k++)
			for (const char *at = lists[k]; next_word(&at, word);) {
				size_t n = strlen(word);

				if (n > 3 && strcmp(word + n - 3, ".so") == 0 && !strpbrk(word, "?%$*")) {
					snprintf(file, size, "%s", word);
					return true;
				}
			}
	}
	return false;
}

bool makefile_recipe(const struct makefile *m, const char *word, char *target, size_t size, const char **recipe)
{
	for (int i = 0; i < m->n_rules; i++) {
		const char *list = m->rule[i].targets;
		char first[VALUE_SIZE];

		if (!strstr(m->rule[i].recipe.data, word) || !next_word(&list, first) || strpbrk(first, "?%"))
			continue;
		snprintf(target, size, "%s", first);
		*recipe = m->rule[i].recipe.data;
		return true;
	}
	return false;
}
