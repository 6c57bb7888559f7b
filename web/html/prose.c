#include "web/html/internal.h"

enum { PART_BYTES = 256 };

const char *prose_take(const char *at, const char *end, const char *before, const char *after, char *out, size_t size)
{
	const char *from = memmem(at, (size_t)(end - at), before, strlen(before));
	from = from ? from + strlen(before) : NULL;
	const char *to = from ? memmem(from, (size_t)(end - from), after, strlen(after)) : NULL;
	if (!to)
		return NULL;
	snprintf(out, size, "%.*s", (int)(to - from), from);
	return to + strlen(after);
}

void prose_text(struct buf *out, const char *at, const char *end)
{
	char *copy = strndup(at, (size_t)(end - at));
	if (copy)
		emit_text(out, copy);
	else
		out->failed = true;
	free(copy);
}

static void link_to(struct buf *out, const char *target, const char *label, bool names_files)
{
	static const char glossary[] = "glossary.md#";
	bool is_word = strncmp(target, glossary, sizeof glossary - 1) == 0;
	if (*target == '#')
		emit_rawf(out, "<a href=\"%s\">", target);
	else if (is_word)
		emit_rawf(out, "<a href=\"/glossary#%s\">", target + sizeof glossary - 1);
	emit_text(out, label);
	if (*target == '#' || is_word)
		emit_raw(out, "</a>");
	else if (names_files)
		emit_rawf(out, " (<code>doc/%s</code>)", target);
}

/* Returns the position after the link that begins here; `at` where none does. */
static const char *draw_link(struct buf *out, const char *at, const char *end, bool names_files)
{
	char label[PART_BYTES], target[PART_BYTES];
	const char *behind = prose_take(at, end, "[", "](", label, sizeof label);
	behind = behind ? prose_take(behind - 1, end, "(", ")", target, sizeof target) : NULL;
	if (!behind)
		return at;
	link_to(out, target, label, names_files);
	return behind;
}

/* Returns the position after the code that begins here, which ends with as many backticks. */
static const char *draw_code(struct buf *out, const char *at, const char *end)
{
	size_t ticks = strspn(at, "`");
	const char *from = at + ticks, *to = memmem(from, (size_t)(end - from), at, ticks);
	emit_raw(out, "<code>");
	prose_text(out, from, to ? to : end);
	emit_raw(out, "</code>");
	return to ? to + ticks : end;
}

/* Returns the position after the emphasis that begins here: "*word*", with no space inside its ends; `at` where none does. */
static const char *draw_emphasis(struct buf *out, const char *at, const char *end)
{
	const char *to = at + 1 < end && at[1] != ' ' && at[1] != '*' ? memchr(at + 1, '*', (size_t)(end - at - 1)) : NULL;
	if (!to || to[-1] == ' ')
		return at;
	emit_raw(out, "<em>");
	prose_text(out, at + 1, to);
	emit_raw(out, "</em>");
	return to + 1;
}

void prose_draw(struct buf *out, const char *at, const char *end, bool names_files)
{
	while (at < end) {
		const char *behind = *at == '`'   ? draw_code(out, at, end)
				     : *at == '[' ? draw_link(out, at, end, names_files)
				     : *at == '*' ? draw_emphasis(out, at, end)
						  : at;
		if (behind == at) {
			for (behind = at + 1; behind < end && *behind != '[' && *behind != '`' && *behind != '*';)
				behind++;
			prose_text(out, at, behind);
		}
		at = behind;
	}
}
