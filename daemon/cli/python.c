/* python.c - documented in internal.h. Reads lines, not expressions: an argument that a program computes is not found. */
#include "cli/internal.h"

#include <ctype.h>

static const char word_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* ---- statements ---------------------------------------------------------------------------------------------------------- */

/* Copy the string that begins at `at`; a text of three quotes becomes "". Returns the position after it. */
static const char *copy_string(const char *at, struct buf *out)
{
	char quote = *at;
	const char three[] = { quote, quote, quote, '\0' };

	if (strncmp(at, three, 3) == 0) {
		const char *end = strstr(at + 3, three);

		buf_puts(out, "\"\"");
		return end ? end + 3 : at + strlen(at);
	}
	buf_putc(out, *at++);
	while (*at && *at != quote && *at != '\n') {
		if (*at == '\\' && at[1] && at[1] != '\n')
			buf_putc(out, *at++);
		buf_putc(out, *at++);
	}
	buf_putc(out, quote);
	return *at == quote ? at + 1 : at;
}

/* Copy one statement, which may take several lines, without comments. Returns the position after its end of line. */
static const char *copy_statement(const char *at, struct buf *out)
{
	for (int depth = 0; *at;) {
		if (*at == '"' || *at == '\'') {
			at = copy_string(at, out);
		} else if (*at == '#') {
			at += strcspn(at, "\n");
		} else if (*at == '\\' && at[1] == '\n') {
			buf_putc(out, ' ');
			at += 2;
		} else if (*at == '\n' && depth == 0) {
			return at + 1;
		} else {
			depth += strchr("([{", *at) ? 1 : strchr(")]}", *at) && depth ? -1 : 0;
			buf_putc(out, *at == '\n' || *at == '\t' || *at == '\r' ? ' ' : *at);
			at++;
		}
	}
	return at;
}

void python_statements(const char *text, struct buf *out)
{
	struct buf one;

	buf_init(&one, out->max);
	while (*text) {
		int indent = 0;

		for (; *text == ' ' || *text == '\t'; text++)
			indent += *text == '\t' ? 8 : 1;
		buf_clear(&one);
		text = copy_statement(text, &one);
		const char *first = one.data + strspn(one.data, "rRbBuUfF");

		if (one.len == 0 || *first == '"' || *first == '\'' || strspn(one.data, " ") == one.len)
			continue; /* blank, a comment or a docstring */
		buf_printf(out, "%*s%s\n", indent, "", one.data);
	}
	buf_fini(&one);
}

/* The next statement. False: none. Shape: line[len], without its indentation. */
static bool next_statement(const char **text, const char **line, size_t *len, size_t *indent)
{
	if (!**text)
		return false;
	*indent = strspn(*text, " ");
	*line = *text + *indent;
	*len = strcspn(*line, "\n");
	*text = *line + *len + ((*line)[*len] == '\n');
	return true;
}

static bool begins_with(const char *line, const char *word)
{
	return strncmp(line, word, strlen(word)) == 0;
}

static bool holds(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word)) != NULL;
}

/* ---- timers -------------------------------------------------------------------------------------------------------------- */

static bool calls_triton(const char *code, size_t len)
{
	static const char *const names[] = { "do_bench", "do_bench_cudagraph", "perf_report", NULL };

	for (const char *const *n = names; *n; n++)
		if (recognise_call(code, len, *n))
			return true;
	return false;
}

static bool calls_timer(const char *code, size_t len)
{
	return calls_triton(code, len) || recognise_call(code, len, "Timer");
}

const char *python_timer(const char *statements)
{
	size_t len = strlen(statements);
	bool has_torch = strstr(statements, "torch.utils.benchmark") || strstr(statements, "torch.utils import benchmark");

	if (strstr(statements, "triton") && calls_triton(statements, len))
		return "triton.testing";
	return has_torch && recognise_call(statements, len, "Timer") ? "torch.utils.benchmark" : NULL;
}

enum { FUNCTIONS_MAX = 128, ROUNDS = 4 };

struct function {
	char name[64];
	const char *body;
	size_t len;
	bool times;
};

static int list_functions(const char *statements, struct function *list)
{
	const char *line;
	size_t len, indent;
	int n = 0;

	while (next_statement(&statements, &line, &len, &indent)) {
		if (indent == 0 && n)
			list[n - 1].len = list[n - 1].len ? list[n - 1].len : (size_t)(line - list[n - 1].body);
		if (indent || !begins_with(line, "def ") || n == FUNCTIONS_MAX)
			continue;
		list[n] = (struct function){ .body = line + len };
		snprintf(list[n++].name, sizeof list->name, "%.*s", (int)strspn(line + 4, word_letters), line + 4);
	}
	if (n && list[n - 1].len == 0)
		list[n - 1].len = strlen(list[n - 1].body);
	return n;
}

bool python_calls_timer_of(const char *statements, const char *helper)
{
	struct function list[FUNCTIONS_MAX];
	int n = python_timer(helper) ? list_functions(helper, list) : 0;

	for (int i = 0; i < n; i++)
		list[i].times = calls_timer(list[i].body, list[i].len);
	for (int round = 0; round < ROUNDS; round++) /* functions that call them */
		for (int i = 0; i < n; i++)
			for (int k = 0; k < n && !list[i].times; k++)
				list[i].times = list[k].times && recognise_call(list[i].body, list[i].len, list[k].name);
	for (int i = 0; i < n; i++)
		if (list[i].times && recognise_call(statements, strlen(statements), list[i].name))
			return true;
	return false;
}

/* ---- arguments ------------------------------------------------------------------------------------------------------------ */

/* The next argument of a call, without spaces around it; `at` is behind the opening bracket. False: none. */
static bool next_argument(const char **at, char *out, size_t size)
{
	const char *begin = *at + strspn(*at, " ,"), *end = begin;
	char quote = '\0';

	for (int depth = 0; *end && *end != '\n' && (quote || depth || (*end != ',' && *end != ')')); end++) {
		if (quote && *end == '\\' && end[1])
			end++;
		else if (quote)
			quote = *end == quote ? '\0' : quote;
		else if (*end == '"' || *end == '\'')
			quote = *end;
		else
			depth += strchr("([{", *end) ? 1 : strchr(")]}", *end) ? -1 : 0;
	}
	*at = end;
	while (end > begin && end[-1] == ' ')
		end--;
	snprintf(out, size, "%.*s", (int)(end - begin), begin);
	return end > begin;
}

/* A string or number at `at`. Returns its length in the text, 0: it is neither. */
static size_t read_literal(const char *at, char *out, size_t size)
{
	size_t n;

	if (*at == '"' || *at == '\'') {
		const char *end = strchr(at + 1, *at);

		n = end ? (size_t)(end - at) - 1 : 0;
		snprintf(out, size, "%.*s", (int)n, at + 1);
		return end && n < size ? n + 2 : 0;
	}
	n = strspn(at, "0123456789.-");
	snprintf(out, size, "%.*s", (int)n, at);
	return isdigit((unsigned char)*at) && n < size ? n : 0;
}

/* Literals of a list, tuple or set, and the keys of a dictionary. */
static void read_list(const char *at, struct python_need *need)
{
	char item[sizeof need->first];

	while (*at && *at != '\n' && !strchr(")]}", *at)) {
		at += strspn(at, " ,([{");
		size_t n = read_literal(at, item, sizeof item);

		if (n && item[0]) {
			size_t used = strlen(need->choices);

			snprintf(need->choices + used, sizeof need->choices - used, "%s%s", used ? ", " : "", item);
			if (!need->first[0])
				snprintf(need->first, sizeof need->first, "%s", item);
		}
		for (int depth = 0; at[n] && at[n] != '\n' && (depth || !strchr(",)]}", at[n])); n++)
			depth += strchr("([{", at[n]) ? 1 : strchr(")]}", at[n]) ? -1 : 0;
		at += n;
	}
}

/* The choices of an argument: a list, or the name of one that a statement assigns. */
static void read_choices(const char *statements, const char *value, struct python_need *need)
{
	static const char *const around[] = { "list(", "sorted(", "tuple(", "click.Choice(", "Choice(", NULL };
	const char *line;
	size_t len, indent;

	for (const char *const *a = around; *a; a++)
		if (begins_with(value, *a))
			value += strlen(*a);
	if (strchr("([{", *value)) {
		read_list(value, need);
		return;
	}
	size_t n = strspn(value, word_letters);

	while (n && next_statement(&statements, &line, &len, &indent)) {
		const char *equal = line + n + strspn(line + n, " ");

		if (indent == 0 && strncmp(line, value, n) == 0 && *equal == '=' && equal[1] != '=') {
			equal += 1 + strspn(equal + 1, " ");
			for (const char *const *a = around; *a; a++)
				if (begins_with(equal, *a))
					equal += strlen(*a);
			if (strchr("([{", *equal))
				read_list(equal, need);
			return;
		}
	}
}

/* One call of add_argument, click.option or click.argument: nothing, if the program runs without the argument. */
static void read_need(const char *statements, const char *call, bool is_argument, struct python_script *s)
{
	char one[1024], name[sizeof s->need->name] = "";
	struct python_need need = { .name = "" };
	bool is_required = false, is_optional = false;
	const char *choices = NULL;
	char choices_text[sizeof one];

	while (next_argument(&call, one, sizeof one)) {
		size_t key = strspn(one, word_letters);

		if (read_literal(one, name, sizeof name) && (!need.name[0] || begins_with(name, "--"))) {
			snprintf(need.name, sizeof need.name, "%s", name);
		} else if (key && one[key] == '=') {
			const char *value = one + key + 1;

			is_required = is_required || strcmp(one, "required=True") == 0;
			is_optional = is_optional || strcmp(one, "required=False") == 0 || begins_with(one, "default=") ||
				      strcmp(one, "nargs=\"?\"") == 0 || strcmp(one, "nargs=\"*\"") == 0 ||
				      strcmp(one, "nargs='?'") == 0 || strcmp(one, "nargs='*'") == 0 ||
				      strcmp(one, "nargs=-1") == 0 || strstr(one, "REMAINDER") ||
				      strstr(one, "action=\"version\"");
			if (begins_with(one, "choices=") || (begins_with(one, "type=") && strstr(one, "Choice("))) {
				snprintf(choices_text, sizeof choices_text, "%s", value);
				choices = choices_text;
			}
		}
	}
	if (!need.name[0] || !(is_required || (need.name[0] != '-' && is_argument && !is_optional)))
		return;
	if (choices)
		read_choices(statements, choices, &need);
	if (s->n_needs < PYTHON_NEEDS_MAX)
		s->need[s->n_needs++] = need;
}

static void read_needs(const char *statements, const char *line, size_t len, struct python_script *s)
{
	static const struct {
		const char *name;
		bool is_argument; /* a name without a dash is required */
	} calls[] = { { "add_argument", true }, { "click.argument", true }, { "click.option", false } };

	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
		for (const char *at = line; (at = recognise_call(at, (size_t)(line + len - at), calls[i].name)); at++)
			read_need(statements, at + strlen(calls[i].name) + 1, calls[i].is_argument, s);
	bool is_group = holds(line, len, "add_mutually_exclusive_group(") || holds(line, len, "add_subparsers(");

	if (is_group && holds(line, len, "required=True") && s->n_needs < PYTHON_NEEDS_MAX)
		snprintf(s->need[s->n_needs++].name, sizeof s->need->name, "%s",
			holds(line, len, "add_subparsers(") ? "COMMAND" : "(one of a group)");
}

/* ---- metadata of packages --------------------------------------------------------------------------------------------------- */

enum { READERS_MAX = 16, TRIES_MAX = 16 };

/* Functions that read them, by the names that the file gives them. */
struct readers {
	int n;
	char name[READERS_MAX][64];
};

static const char *const metadata_modules[] = { "importlib.metadata", "importlib_metadata", "pkg_resources",
	"from importlib import metadata", NULL };

static bool imports_metadata(const char *line, size_t len)
{
	bool is_import = begins_with(line, "import ") || begins_with(line, "from ");

	for (const char *const *m = metadata_modules; is_import && *m; m++)
		if (holds(line, len, *m))
			return true;
	return false;
}

/* Add the names of "from importlib.metadata import version as own_version". */
static void add_readers(const char *line, size_t len, struct readers *out)
{
	for (const char *at = line; (at = memmem(at, (size_t)(line + len - at), " as ", 4)) && out->n < READERS_MAX; at += 4)
		snprintf(out->name[out->n++], sizeof out->name[0], "%.*s", (int)strspn(at + 4, word_letters), at + 4);
}

static int add_distributions(const char *line, size_t len, const struct readers *readers, char (*name)[64], int n, int max)
{
	for (int i = 0; i < readers->n; i++)
		for (const char *at = line; (at = recognise_call(at, (size_t)(line + len - at), readers->name[i])); at++) {
			const char *from = at + strlen(readers->name[i]) + 1;
			char one[128], literal[64];
			bool is_own = next_argument(&from, one, sizeof one) &&
				      (strcmp(one, "__name__") == 0 || strcmp(one, "__package__") == 0);
			bool is_literal =
				!is_own && strchr("\"'", one[0]) && read_literal(one, literal, sizeof literal) == strlen(one);

			if ((is_own || is_literal) && n < max)
				snprintf(name[n++], sizeof *name, "%.63s", is_own ? one : literal);
		}
	return n;
}

int python_distributions(const char *statements, char (*name)[64], int max)
{
	struct readers readers = { .n = 7,
		.name = { "version", "metadata", "distribution", "requires", "files", "get_distribution", "require" } };
	size_t tries[TRIES_MAX], len, indent;
	bool is_known = false;
	const char *line;
	int n = 0, n_tries = 0;

	while (next_statement(&statements, &line, &len, &indent)) {
		while (n_tries && tries[n_tries - 1] >= indent)
			n_tries--;
		if (begins_with(line, "try:") && n_tries < TRIES_MAX)
			tries[n_tries++] = indent;
		if (imports_metadata(line, len)) {
			is_known = true;
			add_readers(line, len, &readers);
		} else if (is_known && n_tries == 0) { /* a call in a try has an answer for a package that is not installed */
			n = add_distributions(line, len, &readers, name, n, max);
		}
	}
	return n;
}

/* ---- a script ------------------------------------------------------------------------------------------------------------- */

static void add_import(struct python_script *s, const char *module, size_t n, const char *name, size_t name_len)
{
	if (n == 0 || s->n_imports == PYTHON_IMPORTS_MAX)
		return;
	snprintf(s->import[s->n_imports++], sizeof s->import[0], "%.*s%s%.*s", (int)n, module, name_len ? "." : "", (int)name_len,
		name);
}

/* "import a.b as c, d" and "from a.b import c, d", which may name the modules a.b and a.b.c. */
static void read_import(const char *line, size_t len, struct python_script *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	bool is_from = begins_with(line, "from ");
	const char *end = line + len, *at = line + strlen(is_from ? "from " : "import "), *module = at;
	size_t module_len = strspn(at, letters);

	if (is_from && *at == '.') {
		s->is_relative = true;
		return;
	}
	if (is_from) {
		add_import(s, module, module_len, "", 0);
		at = memmem(at, (size_t)(end - at), " import ", strlen(" import "));
		at = at ? at + strlen(" import ") : end;
	}
	while (at < end) {
		at += strspn(at, " (,");
		size_t n = strspn(at, letters);

		if (n == 0)
			break;
		if (is_from)
			add_import(s, module, module_len, at, n);
		else
			add_import(s, at, n, "", 0);
		at += n;
		at += strcspn(at, ",\n");
	}
}

/* A statement outside of functions that does work: a loop, a timed call, or a call that does not only configure a module. */
static bool does_work(const char *line, size_t len)
{
	static const char *const modules[] = { "sys.", "os.", "torch.", "logging.", "warnings.", "random.", "np.", "numpy.",
		"pytest.", "matplotlib.", "plt.", "jax.config", NULL };
	static const char *const keywords[] = { "if", "elif", "with", "assert", "del", NULL };
	size_t n = strspn(line, word_letters);

	if (begins_with(line, "for ") || begins_with(line, "while "))
		return true;
	if (*line != '@' && (recognise_call(line, len, "do_bench") || recognise_call(line, len, "timeit") ||
				    recognise_call(line, len, "blocked_autorange")))
		return true;
	for (const char *const *m = modules; *m; m++)
		if (begins_with(line, *m))
			return false;
	for (const char *const *k = keywords; *k; k++)
		if (n == strlen(*k) && begins_with(line, *k))
			return false;
	while (n && line[n] == '.')
		n += 1 + strspn(line + n + 1, word_letters);
	return n && line[n] == '(';
}

/* def test_x(benchmark): pytest-benchmark passes its timer. */
static bool takes_fixture(const char *line, size_t len)
{
	const char *at = begins_with(line, "def test") || begins_with(line, "async def test") ? strchr(line, '(') : NULL;
	char one[256];

	if (!at || at > line + len)
		return false;
	for (at++; next_argument(&at, one, sizeof one);) {
		size_t n = strspn(one, word_letters);

		if (n == strlen("benchmark") && begins_with(one, "benchmark"))
			return true;
	}
	return false;
}

void python_read(const char *statements, struct python_script *out)
{
	const char *text = statements, *line;
	bool is_other_fixture = false;
	size_t len, indent;

	memset(out, 0, sizeof *out);
	while (next_statement(&text, &line, &len, &indent)) {
		if (indent == 0 && begins_with(line, "if ") && holds(line, len, "__name__") && holds(line, len, "__main__"))
			out->has_guard = true;
		else if (indent == 0 && (begins_with(line, "import ") || begins_with(line, "from ")))
			read_import(line, len, out);
		else if (indent == 0 && does_work(line, len))
			out->has_work = true;
		out->has_fixture = out->has_fixture || takes_fixture(line, len);
		is_other_fixture = is_other_fixture || begins_with(line, "def benchmark(") ||
				   (recognise_call(line, len, "parametrize") && holds(line, len, "\"benchmark\""));
		read_needs(statements, line, len, out);
	}
	out->has_fixture = out->has_fixture && !is_other_fixture;
	if (strstr(statements, "sys.argv[1]") && !strstr(statements, "len(sys.argv)") && out->n_needs < PYTHON_NEEDS_MAX)
		snprintf(out->need[out->n_needs++].name, sizeof out->need->name, "sys.argv[1]");
}
