/* command.c - documented in internal.h. */
#include "cli/internal.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=+-";

void command_add(struct command *c, const char *word)
{
	if (c->n < COMMAND_WORDS_MAX)
		snprintf(c->word[c->n++], COMMAND_WORD_SIZE, "%.*s", COMMAND_WORD_SIZE - 1, word);
}

bool command_is_same(const struct command *a, const struct command *b)
{
	for (int i = 0; i < a->n && a->n == b->n; i++)
		if (strcmp(a->word[i], b->word[i]) != 0)
			return false;
	return a->n == b->n;
}

bool command_is_plain(const char *word)
{
	return *word && strspn(word, plain) == strlen(word);
}

void command_put_shell(const struct command *c, struct buf *out)
{
	for (int i = 0; i < c->n; i++) {
		bool is_quoted = strspn(c->word[i], plain) != strlen(c->word[i]) && !strstr(c->word[i], "$FLOPWATCH_KIT");

		buf_printf(out, "%s%s%s%s", i ? " " : "", is_quoted ? "'" : "", c->word[i], is_quoted ? "'" : "");
	}
}

void command_put_word(const char *word, struct buf *out)
{
	static const char *const others[] = { "true", "false", "null", "yes", "no", "on", "off", NULL };
	/* begins like a path, an option or a name and contains no other YAML syntax */
	bool is_plain = word[0] && strspn(word, plain) == strlen(word) &&
			(strchr(letters, word[0]) || strncmp(word, "./", 2) == 0 || strcmp(word, ".") == 0 ||
				(word[0] == '-' && word[1] && (word[1] == '-' || strchr(letters, word[1]))));

	for (const char *const *o = others; *o; o++)
		is_plain = is_plain && strcmp(word, *o) != 0;
	if (is_plain) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '"');
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *word);
	}
	buf_putc(out, '"');
}

void command_put_yaml(const struct command *c, struct buf *out)
{
	buf_putc(out, '[');
	for (int i = 0; i < c->n; i++) {
		buf_puts(out, i ? ", " : "");
		command_put_word(c->word[i], out);
	}
	buf_putc(out, ']');
}
