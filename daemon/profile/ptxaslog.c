/* ptxaslog.c - line parser; text of ptxas may start anywhere in a line, because build systems prefix lines. */
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>

enum { SYMBOL_MAX = 4096, SYMBOLS_MAX = 4 << 20 };

const char *const ptxas_kind_names[PTXAS_KINDS + 1] = { "serial", "setmaxnreg", "spills", "other", NULL };

struct span {
	const char *at;
	size_t len;
};

/* Parser state: a line may refer to the function named by the line before. */
struct reading {
	struct ptxaslog *log;
	struct fw_err *err;
	int architecture;   /* of the last entry function */
	long line_function; /* function of the line before, -1 none */
};

static bool find(struct span line, const char *word, struct span *behind)
{
	size_t len = strlen(word);
	const char *at = memmem(line.at, line.len, word, len);

	if (!at)
		return false;
	*behind = (struct span){ at + len, line.len - (size_t)(at - line.at) - len };
	return true;
}

static bool begins(struct span s, const char *word)
{
	return s.len >= strlen(word) && memcmp(s.at, word, strlen(word)) == 0;
}

static struct span until(struct span s, const char *marks)
{
	size_t n = 0;

	while (n < s.len && !strchr(marks, s.at[n]))
		n++;
	return (struct span){ s.at, n };
}

/* Parse the number before `word`: "88 bytes spill stores". -1 none. */
static long number_before(struct span line, const char *word)
{
	struct span behind;
	long n = 0, position = 1;

	if (!find(line, word, &behind))
		return -1;
	const char *end = behind.at - strlen(word), *at = end;

	for (; at > line.at && at[-1] >= '0' && at[-1] <= '9' && position <= 100000000; position *= 10)
		n += (*--at - '0') * position;
	return at == end ? -1 : n;
}

static int add_symbol(struct reading *r, struct span s, size_t *symbol)
{
	char text[SYMBOL_MAX];
	struct ptxaslog *l = r->log;

	snprintf(text, sizeof text, "%.*s", (int)(s.len < sizeof text ? s.len : sizeof text - 1), s.at);
	*symbol = l->symbols.len;
	cubin_steady_symbol(text, &l->symbols);
	buf_append(&l->symbols, "", 1);
	buf_append(&l->symbols, text, strlen(text) + 1);
	return l->symbols.failed ? err_set(r->err, ERR_FULL, "the symbols in a build's log do not fit") : 0;
}

/* Grow for one more of at most `max`; NULL without a failure: too many. */
static void *grow(void *list, size_t n, size_t max, size_t size, struct reading *r, int *result)
{
	if (n == max) {
		r->log->is_whole = false;
		return NULL;
	}
	if ((n & (n - 1)) != 0) /* full at every power of two */
		return list;
	void *bigger = realloc(list, (n ? 2 * n : 1) * size);

	if (!bigger)
		*result = err_set(r->err, ERR_INTERNAL, "out of memory for a build's log");
	return bigger;
}

static int add_diagnostic(struct reading *r, const struct ptxaslog_diagnostic *c, struct span symbol)
{
	struct ptxaslog *l = r->log;
	struct ptxaslog_diagnostic new = *c;
	size_t before = l->symbols.len;
	int result = add_symbol(r, symbol, &new.symbol);

	if (result != 0)
		return -1;
	for (size_t i = 0; i < l->n_diagnostics; i++) {
		struct ptxaslog_diagnostic *old = &l->diagnostic[i];

		if (old->kind != new.kind || strcmp(old->code, new.code) != 0 || strcmp(old->what, new.what) != 0 ||
			strcmp(ptxaslog_symbol(l, old->symbol), ptxaslog_symbol(l, new.symbol)) != 0)
			continue;
		old->times++;
		l->symbols.len = before;
		return 0;
	}
	struct ptxaslog_diagnostic *list =
		grow(l->diagnostic, l->n_diagnostics, PTXASLOG_DIAGNOSTICS_MAX, sizeof *list, r, &result);

	if (!list)
		return result;
	l->diagnostic = list;
	list[l->n_diagnostics++] = new;
	return 0;
}

/* Find or add the function for the current architecture, and make it current. */
static int begin_function(struct reading *r, struct span name)
{
	struct ptxaslog *l = r->log;
	size_t before = l->symbols.len, symbol;
	int result = add_symbol(r, name, &symbol);

	if (result != 0)
		return -1;
	for (size_t i = 0; i < l->n_functions; i++)
		if (l->function[i].architecture == r->architecture &&
			strcmp(ptxaslog_symbol(l, l->function[i].symbol), ptxaslog_symbol(l, symbol)) == 0) {
			r->line_function = (long)i;
			l->symbols.len = before;
			return 0;
		}
	struct ptxaslog_function *list = grow(l->function, l->n_functions, PTXASLOG_FUNCTIONS_MAX, sizeof *list, r, &result);

	if (!list)
		return result;
	l->function = list;
	r->line_function = (long)l->n_functions;
	list[l->n_functions++] = (struct ptxaslog_function){ symbol, r->architecture, -1, -1, -1, -1 };
	return 0;
}

/* Causes of serial products, in the terms of ptxas and of flopwatch. */
static const char *const reasons[][2] = {
	{ "insufficient register resources", "because there are too few registers" },
	{ "Extern calls", "because of calls out of its file" },
	{ "crossing function boundary", "because a function call is between wgmma in flight" },
	{ "defining input registers", "because inputs of products in flight are written" },
	{ "reading accumulator registers", "because accumulators of products in flight are read" },
	{ "defining accumulator registers", "because accumulators of products in flight are written" },
	{ "ill formed pipeline stage", "because a stage is not begun and ended on every way through it" },
	{ "compiler-inserted", "because fences would be on divergent paths of warps" },
};

/* Copy the text of ptxas without its fixed phrases and non-printable bytes. */
static void clean(struct span s, char *out)
{
	static const char *const ends[] = { " in the function '", " for the function '", " in function '" };
	struct span behind;
	size_t n = 0;

	if (find(s, "Potential Performance Loss:", &behind))
		s = behind;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (find(s, ends[i], &behind))
			s.len = (size_t)(behind.at - s.at) - strlen(ends[i]);
	while (s.len > 0 && s.at[0] == ' ')
		s = (struct span){ s.at + 1, s.len - 1 };
	for (size_t i = 0; i < s.len && n < PTXASLOG_WHAT_SIZE - 1; i++)
		out[n++] = s.at[i] >= ' ' && s.at[i] <= '~' ? s.at[i] : '?';
	while (n > 0 && (out[n - 1] == ' ' || out[n - 1] == '.'))
		n--;
	out[n] = '\0';
}

static bool find_code(struct span line, struct ptxaslog_diagnostic *c)
{
	struct span behind;

	if (!find(line, "(C75", &behind) || behind.len < 3 || behind.at[2] != ')' || behind.at[0] < '0' || behind.at[0] > '9' ||
		behind.at[1] < '0' || behind.at[1] > '9')
		return false;
	snprintf(c->code, sizeof c->code, "C75%.2s", behind.at);
	return true;
}

static int read_diagnostic(struct reading *r, struct span line, bool *is_one)
{
	struct ptxaslog_diagnostic c = { .kind = PTXAS_OTHER, .times = 1 };
	struct span text = line, behind, symbol = { "", 0 };
	bool has_code = find_code(line, &c), is_ignored = find(line, "'setmaxnreg' ignored", &behind);

	*is_one = has_code || is_ignored;
	if (!*is_one)
		return 0;
	if (is_ignored) {
		char why[PTXASLOG_WHAT_SIZE];

		c.kind = PTXAS_SETMAXNREG;
		clean(behind, why);
		snprintf(c.what, sizeof c.what, "setmaxnreg is ignored%s%.130s", *why == ';' || !*why ? "" : " ", why);
	} else {
		(void)find(line, ") ", &text);
		clean(text, c.what);
	}
	if (find(line, "are serialized due to", &behind)) {
		c.kind = PTXAS_SERIAL;
		for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
			if (find(line, reasons[i][0], &text)) {
				snprintf(c.what, sizeof c.what, "wgmma is serialised %s", reasons[i][1]);
				break;
			}
	}
	if (find(line, "function '", &behind))
		symbol = until(behind, "'");
	return add_diagnostic(r, &c, symbol);
}

static int read_function(struct reading *r, struct span line)
{
	struct span behind;
	long line_function = r->line_function;

	r->line_function = -1;
	if (find(line, "Compiling entry function '", &behind)) {
		r->architecture = 0;
		if (find(behind, "' for 'sm_", &behind))
			for (; behind.len > 0 && behind.at[0] >= '0' && behind.at[0] <= '9' && r->architecture < 10000;
				behind = (struct span){ behind.at + 1, behind.len - 1 })
				r->architecture = r->architecture * 10 + (behind.at[0] - '0');
		return 0;
	}
	if (find(line, "Function properties for ", &behind))
		return begin_function(
			r, until(begins(behind, "'") ? (struct span){ behind.at + 1, behind.len - 1 } : behind, " ':\r"));
	if (find(line, "Registers are spilled to local memory in function '", &behind)) {
		if (begin_function(r, until(behind, "'")) != 0)
			return -1;
		line_function = r->line_function;
		r->line_function = -1;
	}
	if (line_function < 0)
		return 0;
	struct ptxaslog_function *f = &r->log->function[line_function];

	if (find(line, " bytes spill stores", &behind)) {
		long stack = number_before(line, " bytes stack frame");

		f->stack_bytes = stack >= 0 ? stack : f->stack_bytes;
		f->store_bytes = number_before(line, " bytes spill stores");
		f->load_bytes = number_before(line, " bytes spill loads");
		r->line_function = line_function; /* the next line has its registers */
	} else if (find(line, "Used ", &behind)) {
		f->registers = (int)number_before(line, " registers");
	}
	return 0;
}

int ptxaslog_read(struct ptxaslog *l, const char *text, size_t len, struct fw_err *err)
{
	struct reading r = { .log = l, .err = err, .line_function = -1 };
	int result = 0;

	*l = (struct ptxaslog){ .is_whole = true };
	buf_init(&l->symbols, SYMBOLS_MAX);
	for (const char *at = text, *end = text + len; at < end && result == 0;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		struct span line = { at, (size_t)((stop ? stop : end) - at) }, behind;
		bool is_diagnostic = false;

		at += line.len + 1;
		if (begins(line, "[... ") && find(line, " bytes left out ...]", &behind))
			l->is_whole = false;
		result = read_diagnostic(&r, line, &is_diagnostic);
		if (result == 0 && !is_diagnostic)
			result = read_function(&r, line);
	}
	return result;
}

void ptxaslog_fini(struct ptxaslog *l)
{
	free(l->diagnostic);
	free(l->function);
	buf_fini(&l->symbols);
	*l = (struct ptxaslog){ 0 };
}

const char *ptxaslog_symbol(const struct ptxaslog *l, size_t symbol)
{
	return l->symbols.data + symbol;
}

const char *ptxaslog_mangled(const struct ptxaslog *l, size_t symbol)
{
	const char *steady = ptxaslog_symbol(l, symbol);

	return steady + strlen(steady) + 1;
}
