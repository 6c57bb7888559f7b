#include "web/html/internal.h"

#include <ctype.h>
#include <strings.h>

extern const char _binary_doc_glossary_md_start[], _binary_doc_glossary_md_end[];

enum { ENTRIES_MAX = 320, WORDS_MAX = 480, SLOTS = 2048, WORD_BYTES = 40, REFERENCE_BYTES = 64, TERM_BYTES = 96 };
#define BEGIN_ENTRY "- <a id=\""

struct entry {
	char reference[REFERENCE_BYTES], term[TERM_BYTES];
	const char *text, *end; /* in the file's text */
};

struct word {
	char text[WORD_BYTES]; /* lower case */
	size_t first_len;      /* length of its first word */
	size_t rest_len;       /* length of the text after it */
	int entry;
};

/* Read once; constant afterwards. */
static struct glossary {
	struct entry entry[ENTRIES_MAX];
	struct word word[WORDS_MAX];
	uint16_t slot[SLOTS]; /* 1 + index of a term, by the hash of its first word; terms of the same slot are adjacent */
	char lower[256];      /* lower case of characters that occur in terms; 0 for all others */
	bool begins[256];     /* a term begins with this character, in lower case; most text, such as numbers, does not */
	int n, n_words;
} glossary;

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

enum { HASH_BEGIN = 5381 };

static uint32_t hash_on(uint32_t hash, char c)
{
	return hash * 33 ^ (unsigned char)c;
}

static uint32_t hash_of(const char *text, size_t len)
{
	uint32_t hash = HASH_BEGIN;
	for (size_t i = 0; i < len; i++)
		hash = hash_on(hash, text[i]);
	return hash;
}

static void add_word(struct glossary *g, const char *text, size_t len, int entry)
{
	if (len == 0 || len >= WORD_BYTES || g->n_words == WORDS_MAX)
		return;
	struct word *w = &g->word[g->n_words++];
	w->entry = entry;
	for (size_t i = 0; i < len; i++)
		w->text[i] = (char)tolower((unsigned char)text[i]);
	w->first_len = strcspn(w->text, " ");
	w->rest_len = len - w->first_len;
	g->begins[(unsigned char)w->text[0]] = true;
	unsigned at = hash_of(w->text, w->first_len) % SLOTS;
	while (g->slot[at])
		at = (at + 1) % SLOTS;
	g->slot[at] = (uint16_t)g->n_words;
}

/* "removed, added" are two terms of one entry. */
static void add_words(struct glossary *g, int entry)
{
	const char *term = g->entry[entry].term;
	while (*term) {
		size_t len = strcspn(term, ",");
		add_word(g, term, len, entry);
		term += len;
		term += strspn(term, ", ");
	}
}

static const struct glossary *known(void)
{
	struct glossary *g = &glossary;
	const char *end = _binary_doc_glossary_md_end;
	const char *at = g->n ? NULL
			      : memmem(_binary_doc_glossary_md_start, (size_t)(end - _binary_doc_glossary_md_start), BEGIN_ENTRY,
					strlen(BEGIN_ENTRY));
	for (int c = 0; at && c < 256; c++)
		g->lower[c] = isalnum(c) || c == '/' || c == '-' ? (char)tolower(c) : 0;
	while (at && g->n < ENTRIES_MAX) {
		const char *next = memmem(at + 1, (size_t)(end - at - 1), "\n" BEGIN_ENTRY, strlen("\n" BEGIN_ENTRY));
		struct entry *e = &g->entry[g->n];
		const char *text = prose_take(at, end, BEGIN_ENTRY, "\"", e->reference, sizeof e->reference);
		text = text ? prose_take(text, end, "**", "**: ", e->term, sizeof e->term) : NULL;
		if (text) {
			e->text = text;
			e->end = next ? next : end;
			add_words(g, g->n++);
		}
		at = next ? next + 1 : NULL;
	}
	return g;
}

/* ---- the page --------------------------------------------------------------------------------------------------------- */

void glossary_draw(struct buf *out)
{
	const struct glossary *g = known();
	emit_raw(out, "<dl class=\"facts card words\">\n");
	for (int i = 0; i < g->n; i++) {
		emit_format(out, "<dt id=\"%-s\">%s</dt><dd>", g->entry[i].reference, g->entry[i].term);
		prose_draw(out, g->entry[i].text, g->entry[i].end, false);
		emit_raw(out, "</dd>\n");
	}
	emit_raw(out, "</dl>\n");
}

/* ---- the foot --------------------------------------------------------------------------------------------------------- */

static const char *after(const char *at, const char *end, const char *close)
{
	const char *found = strstr(at, close); /* glibc's memmem takes three times as long */
	return found ? found + strlen(close) : end;
}

/* A fast check, since every tag is tested and nearly none is one of those below. */
static bool may_be_skipped(const char *tag)
{
	switch (tag[1]) {
	case 'c':
		return tag[2] == 'o';
	case 'o':
		return tag[2] == 'l';
	case 'p':
		return tag[2] == 'r';
	case 's':
		return tag[2] == 'v' || tag[2] == 'c' || tag[2] == 't' || tag[2] == 'e';
	case 't':
		return tag[2] == 'e' || tag[2] == 'b';
	default:
		return false;
	}
}

/* Returns the position after an element whose text is ignored, else after its tag. */
static const char *skip_tag(const char *at, const char *end)
{
	static const struct {
		char open[20], close[16];
	} unread[] = {
		{ "<code", "</code>" },
		{ "<pre", "</pre>" },
		{ "<svg", "</svg>" },
		{ "<script", "</script>" },
		{ "<style", "</style>" },
		{ "<select", "</select>" },
		{ "<textarea", "</textarea>" },
		/* most of a comparison: its terms are in the head, the tabs and the title, too */
		{ "<tbody class=rows", "</tbody>" },
		{ "<ol class=rows", "</ol>" },
	};
	const char *tag_end = memchr(at, '>', (size_t)(end - at));
	if (!tag_end)
		return end;
	bool may_be = tag_end - at > 2 && may_be_skipped(at);
	for (size_t i = 0; may_be && i < sizeof unread / sizeof unread[0]; i++) {
		size_t len = strlen(unread[i].open);
		if ((size_t)(tag_end - at) >= len && memcmp(at, unread[i].open, len) == 0 && !isalnum((unsigned char)at[len]))
			return after(tag_end, end, unread[i].close);
	}
	return tag_end + 1;
}

/* Mark the terms that begin with this word, in lower case. */
static void look_up(
	const struct glossary *g, uint32_t hash, const char *first, size_t len, const char *at, const char *end, bool *seen)
{
	for (unsigned slot = hash % SLOTS; g->slot[slot]; slot = (slot + 1) % SLOTS) {
		const struct word *w = &g->word[g->slot[slot] - 1];
		if (w->first_len != len || memcmp(w->text, first, len) != 0)
			continue;
		if (w->rest_len == 0 || ((size_t)(end - at) >= w->rest_len && strncasecmp(at, w->text + len, w->rest_len) == 0))
			seen[w->entry] = true;
	}
}

/* Runs for each drawn page, so it reads most bytes only once: hashes are computed while a word is read. */
static void find_words(const struct glossary *g, const char *at, const char *end, bool *seen)
{
	while (at < end) {
		if (*at == '<') {
			at = skip_tag(at, end);
			continue;
		}
		char c = g->lower[(unsigned char)*at];
		if (!g->begins[(unsigned char)c]) {
			for (at++; c && at < end && g->lower[(unsigned char)*at];)
				at++;
			continue;
		}
		char word[WORD_BYTES];
		uint32_t hash[WORD_BYTES + 1]; /* hash of the first n letters */
		size_t len = 0;
		hash[0] = HASH_BEGIN;
		for (; at < end && (c = g->lower[(unsigned char)*at]); at++) {
			if (len == sizeof word)
				continue;
			hash[len + 1] = hash_on(hash[len], c);
			word[len++] = c;
		}
		if (len == sizeof word)
			continue;
		look_up(g, hash[len], word, len, at, end, seen);
		if (len > 2 && word[len - 1] == 's') /* may be a plural */
			look_up(g, hash[len - 1], word, len - 1, at, end, seen);
		if (len > 3 && word[len - 1] == 's' && word[len - 2] == 'e')
			look_up(g, hash[len - 2], word, len - 2, at, end, seen);
	}
}

void glossary_foot(struct buf *out, size_t begin)
{
	const struct glossary *g = known();
	bool seen[ENTRIES_MAX] = { false };
	int n = 0, n_seen = 0;
	find_words(g, out->data + begin, out->data + out->len, seen);
	for (int i = 0; i < g->n; i++)
		n_seen += seen[i];
	for (int i = 0; i < g->n && 4 * n_seen < 3 * g->n; i++) { /* a page with nearly all terms is the glossary itself */
		if (!seen[i])
			continue;
		if (n++ == 0)
			emit_raw(out, "<details class=words id=words><summary>Terms on this page</summary><p>");
		emit_format(out, "<a href=\"/glossary#%-s\">%s</a> ", g->entry[i].reference, g->entry[i].term);
	}
	if (n)
		emit_raw(out, "</p></details>");
}
