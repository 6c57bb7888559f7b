/* sass.c - line parser: section headers begin a function, addresses in a comment begin an instruction. */
#include "profile/profile.h"

#include <ctype.h>
#include <stdlib.h>

enum { INSTRUCTIONS_MAX = 1 << 21, FUNCTIONS_MAX = 1 << 16, LINE_MAX_BYTES = 1 << 16 };

static const size_t strings_max_bytes = (size_t)512 << 20;

/* A slice of a line; not NUL-terminated. */
struct span {
	const char *p, *end;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_space(struct span *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t'))
		s->p++;
}

static bool take(struct span *s, const char *word)
{
	size_t len = strlen(word);
	if ((size_t)(s->end - s->p) < len || memcmp(s->p, word, len) != 0)
		return false;
	s->p += len;
	return true;
}

/* "R12" and the like at `s`: returns the length of its plain form, with its own length in *len. 0: none. */
static size_t numbered(const struct span *s, size_t *len)
{
	static const char *const kinds[] = { "UR", "UP", "SB", "R", "P", "B" };
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		struct span rest = *s;
		if (!take(&rest, kinds[k]))
			continue;
		const char *digits = rest.p;
		while (rest.p < rest.end && isdigit((unsigned char)*rest.p))
			rest.p++;
		if (rest.p == digits || (rest.p < rest.end && is_word(*rest.p)))
			continue;
		*len = (size_t)(rest.p - s->p);
		return strlen(kinds[k]);
	}
	return 0;
}

static bool is_jump(const char *opcode)
{
	static const char *const jumps[] = { "BRA", "BRX", "BRXU", "BSSY", "CALL", "JMP", "JMX", "JMXU", "RET", "WARPSYNC",
		"BREAK" };
	size_t len = strcspn(opcode, ".");
	for (size_t k = 0; k < sizeof jumps / sizeof jumps[0]; k++)
		if (strlen(jumps[k]) == len && memcmp(opcode, jumps[k], len) == 0)
			return true;
	return false;
}

static bool take_word(struct span *s, const char *word)
{
	struct span rest = *s;
	if (!*word || !take(&rest, word) || (rest.p < rest.end && is_word(*rest.p)))
		return false;
	*s = rest;
	return true;
}

static void skip_word(struct span *s)
{
	while (s->p < s->end && is_word(*s->p))
		s->p++;
}

/* `symbol`: the function's own, which may contain a file's numbers. */
static void add_plain(struct buf *out, struct span s, const char *symbol, bool jumps)
{
	const char *begin = s.p;
	bool in_word = false;
	while (s.p < s.end) {
		size_t len, stays;
		bool is_modifier = s.p > begin && s.p[-1] == '.';
		if (*s.p == '.' && take_word(&s, ".reuse"))
			continue;
		if (take(&s, ".L_")) {
			skip_word(&s);
			buf_puts(out, ".L");
		} else if (!in_word && take_word(&s, symbol)) {
			buf_putc(out, '@');
		} else if (!in_word && jumps && take(&s, "0x")) {
			skip_word(&s);
			buf_puts(out, ".L");
		} else if (!in_word && !is_modifier && (stays = numbered(&s, &len)) > 0) {
			buf_append(out, s.p, stays);
			s.p += len;
		} else {
			in_word = is_word(*s.p);
			buf_putc(out, *s.p++);
			continue;
		}
		in_word = false;
	}
}

static void *grown(void *list, size_t n, size_t max, size_t each)
{
	if (n & (n - 1))
		return list;
	return n < max ? reallocarray(list, n ? 2 * n : 1, each) : NULL;
}

static uint32_t add_string(struct sass *s, struct span what)
{
	size_t at = s->strings.len;
	buf_append(&s->strings, what.p, (size_t)(what.end - what.p));
	buf_append(&s->strings, "", 1);
	return (uint32_t)at;
}

/* Padding at the end of a function is no instruction. */
static void end_function(struct sass *s)
{
	struct sass_function *f = s->n_functions ? &s->function[s->n_functions - 1] : NULL;
	while (f && f->n > 0 && strcmp(sass_string(s, s->instruction[s->n_instructions - 1].opcode), "NOP") == 0) {
		f->n--;
		s->n_instructions--;
	}
}

/* .section	.text.K,"ax",@progbits */
static int add_function(struct sass *s, struct span name, struct fw_err *err)
{
	end_function(s);
	void *more = grown(s->function, s->n_functions, FUNCTIONS_MAX, sizeof *s->function);
	if (!more)
		return err_set(err, ERR_FULL, "machine code of more than %zu functions", s->n_functions);
	s->function = more;
	s->function[s->n_functions++] = (struct sass_function){ .symbol = add_string(s, name), .first = s->n_instructions };
	return 0;
}

static int add_instruction(struct sass *s, uint32_t address, struct span text, struct fw_err *err)
{
	struct sass_function *f = &s->function[s->n_functions - 1];
	struct sass_instruction i = { .address = address };
	void *more = grown(s->instruction, s->n_instructions, INSTRUCTIONS_MAX, sizeof *s->instruction);
	if (!more)
		return err_set(err, ERR_FULL, "machine code of more than %zu instructions", s->n_instructions);
	s->instruction = more;
	i.text = add_string(s, text);
	struct span opcode = text;
	if (take(&opcode, "@")) {
		while (opcode.p < opcode.end && *opcode.p != ' ')
			opcode.p++;
		skip_space(&opcode);
	}
	const char *begin = opcode.p;
	while (opcode.p < opcode.end && *opcode.p != ' ')
		opcode.p++;
	i.opcode = add_string(s, (struct span){ begin, opcode.p });
	i.plain = (uint32_t)s->strings.len;
	struct buf plain;
	buf_init(&plain, LINE_MAX_BYTES);
	add_plain(&plain, text, sass_string(s, f->symbol), is_jump(sass_string(s, i.opcode)));
	buf_append(&s->strings, plain.data, plain.len);
	buf_append(&s->strings, "", 1);
	bool failed = plain.failed || s->strings.failed;
	buf_fini(&plain);
	if (failed)
		return err_set(err, ERR_FULL, "machine code of more than %zu bytes", s->strings.len);
	s->instruction[s->n_instructions++] = i;
	f->n++;
	return 0;
}

static bool take_address(struct span *s, uint32_t *address)
{
	size_t n = 0;
	*address = 0;
	if (!take(s, "/*"))
		return false;
	for (; s->p < s->end && isxdigit((unsigned char)*s->p); s->p++, n++)
		*address = *address << 4 | (uint32_t)(isdigit((unsigned char)*s->p) ? *s->p - '0' : (*s->p | 0x20) - 'a' + 10);
	return n >= 4 && n <= 8 && take(s, "*/");
}

static int read_line(struct sass *s, struct span line, bool *is_inside, struct fw_err *err)
{
	uint32_t address;
	skip_space(&line);
	if (take(&line, ".section")) {
		skip_space(&line);
		*is_inside = take(&line, ".text.");
		struct span name = { line.p, line.p };
		while (name.end < line.end && *name.end != ',' && *name.end != ' ' && *name.end != '\t')
			name.end++;
		*is_inside = *is_inside && name.end > name.p;
		return *is_inside ? add_function(s, name, err) : 0;
	}
	if (!*is_inside || !take_address(&line, &address))
		return 0;
	skip_space(&line);
	for (const char *p = line.p; p < line.end; p++)
		if (*p == ';')
			line.end = p;
	while (line.end > line.p && isspace((unsigned char)line.end[-1]))
		line.end--;
	return line.end > line.p ? add_instruction(s, address, line, err) : 0;
}

int sass_parse(struct sass *s, const char *text, size_t len, struct fw_err *err)
{
	const char *p = text, *end = text + len;
	bool is_inside = false;
	*s = (struct sass){ 0 };
	buf_init(&s->strings, strings_max_bytes);
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		struct span line = { p, stop ? stop : end };
		/* real lines are shorter, and a NUL would end a string */
		bool is_text = line.end - line.p < LINE_MAX_BYTES / 2 && !memchr(line.p, 0, (size_t)(line.end - line.p));
		if (is_text && read_line(s, line, &is_inside, err) != 0)
			return -1;
		p = stop ? stop + 1 : end;
	}
	end_function(s);
	return s->strings.failed ? err_set(err, ERR_FULL, "machine code of more than %zu bytes", s->strings.len) : 0;
}

void sass_fini(struct sass *s)
{
	free(s->function);
	free(s->instruction);
	buf_fini(&s->strings);
	*s = (struct sass){ 0 };
}

const struct sass_function *sass_find(const struct sass *s, const char *symbol)
{
	for (size_t i = 0; i < s->n_functions; i++)
		if (strcmp(sass_string(s, s->function[i].symbol), symbol) == 0)
			return &s->function[i];
	return NULL;
}

const char *sass_string(const struct sass *s, uint32_t at)
{
	return s->strings.data + at;
}
