/* symbolname.c - the subset of the Itanium C++ ABI's mangling that kernels use. */
#include "profile/profile.h"

#include <ctype.h>
#include <stdio.h>

enum { DEPTH_MAX = 16 };

struct name_reader {
	const char *at;
	char *out;
	size_t used;
	int depth;
};

static bool read_type(struct name_reader *r);
static bool read_arguments(struct name_reader *r);

static void put(struct name_reader *r, const char *text, size_t len)
{
	size_t left = SYMBOLNAME_SIZE - 1 - r->used;

	len = len < left ? len : left;
	memcpy(r->out + r->used, text, len);
	r->used += len;
	r->out[r->used] = '\0';
}

static void puts_to(struct name_reader *r, const char *text)
{
	put(r, text, strlen(text));
}

static bool take(struct name_reader *r, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(r->at, word, len) != 0)
		return false;
	r->at += len;
	return true;
}

/* "4gemm"; `is_hidden` becomes true for the unnamed namespace of a file. */
static bool read_word(struct name_reader *r, const char **word, size_t *len, bool *is_hidden)
{
	size_t n = 0;

	for (; isdigit((unsigned char)*r->at); r->at++) {
		n = n * 10 + (size_t)(*r->at - '0');
		if (n > 4096)
			return false;
	}
	if (n == 0 || strnlen(r->at, n) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)r->at[i]) && r->at[i] != '_')
			return false;
	*word = r->at;
	*len = n;
	*is_hidden = strncmp(r->at, "_GLOBAL__N_", 11) == 0 || strncmp(r->at, "_INTERNAL_", 10) == 0;
	r->at += n;
	return true;
}

/* The component from "N" to "E". */
static bool read_nested(struct name_reader *r)
{
	const char *word;
	size_t len;
	bool is_hidden, is_first = true;

	while (*r->at && strchr("rVKRO", *r->at))
		r->at++;
	while (*r->at && *r->at != 'E') {
		if (*r->at == 'I') {
			if (is_first || !read_arguments(r))
				return false;
			continue;
		}
		if (is_first && take(r, "St")) {
			puts_to(r, "std");
			is_first = false;
			continue;
		}
		(void)take(r, "L");
		if (!read_word(r, &word, &len, &is_hidden))
			return false;
		if (is_hidden)
			continue;
		if (!is_first)
			puts_to(r, "::");
		put(r, word, len);
		is_first = false;
	}
	return !is_first && take(r, "E");
}

/* A name without its template arguments, or with all of them if nested. */
static bool read_name(struct name_reader *r)
{
	const char *word;
	size_t len;
	bool is_hidden;

	if (take(r, "N"))
		return read_nested(r);
	if (take(r, "St"))
		puts_to(r, "std::");
	(void)take(r, "L");
	if (!read_word(r, &word, &len, &is_hidden))
		return false;
	put(r, word, len);
	return true;
}

static bool read_builtin(struct name_reader *r)
{
	static const struct {
		char letter;
		const char *name;
	} types[] = { { 'v', "void" }, { 'b', "bool" }, { 'c', "char" }, { 'a', "signed char" }, { 'h', "unsigned char" },
		{ 's', "short" }, { 't', "unsigned short" }, { 'i', "int" }, { 'j', "unsigned int" }, { 'l', "long" },
		{ 'm', "unsigned long" }, { 'x', "long long" }, { 'y', "unsigned long long" }, { 'f', "float" },
		{ 'd', "double" } };

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (*r->at == types[i].letter) {
			r->at++;
			puts_to(r, types[i].name);
			return true;
		}
	return false;
}

static bool read_type(struct name_reader *r)
{
	const char *behind = take(r, "P") ? "*" : take(r, "R") ? "&" : take(r, "O") ? "&&" : take(r, "K") ? " const" : NULL;
	bool is_read;

	if (++r->depth > DEPTH_MAX)
		return false;
	if (behind) {
		is_read = read_type(r);
		puts_to(r, behind);
	} else {
		is_read = read_builtin(r) || (read_name(r) && (*r->at != 'I' || read_arguments(r)));
	}
	r->depth--;
	return is_read;
}

/* The text after "L": the type, which only an integer's suffix shows, and the value. */
static bool read_literal(struct name_reader *r)
{
	static const struct {
		char letter;
		const char *suffix;
	} suffixes[] = { { 'i', "" }, { 'j', "u" }, { 'l', "l" }, { 'm', "ul" }, { 'x', "ll" }, { 'y', "ull" } };
	const char *suffix = "";
	size_t used = r->used;
	bool is_bool = *r->at == 'b';

	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
		if (*r->at == suffixes[i].letter)
			suffix = suffixes[i].suffix;
	if (!read_type(r))
		return false;
	r->used = used;
	r->out[used] = '\0';
	if (take(r, "n"))
		puts_to(r, "-");
	size_t len = strspn(r->at, "0123456789");

	if (len == 0)
		return false;
	if (is_bool)
		puts_to(r, *r->at == '0' ? "false" : "true");
	else
		put(r, r->at, len);
	puts_to(r, suffix);
	r->at += len;
	return take(r, "E");
}

static bool read_arguments(struct name_reader *r)
{
	size_t from = r->used;
	int packs = 0;
	bool is_first = true;

	if (++r->depth > DEPTH_MAX || !take(r, "I"))
		return false;
	puts_to(r, "<");
	while (*r->at && !(packs == 0 && *r->at == 'E')) {
		if (take(r, "J")) {
			packs++;
			continue;
		}
		if (packs > 0 && take(r, "E")) {
			packs--;
			continue;
		}
		if (!is_first)
			puts_to(r, ", ");
		is_first = false;
		if (!(take(r, "L") ? read_literal(r) : read_type(r))) {
			r->used = from;
			return false;
		}
	}
	puts_to(r, ">");
	r->depth--;
	return take(r, "E");
}

void symbolname(const char *symbol, char *out)
{
	const char *plain = cubin_plain_symbol(symbol);
	struct name_reader r = { .at = plain, .out = out };
	bool is_read = take(&r, "_Z") && read_name(&r);

	if (is_read && *r.at == 'I' && !read_arguments(&r))
		puts_to(&r, "<...>");
	if (!is_read || r.used == 0)
		snprintf(out, SYMBOLNAME_SIZE, "%s", plain);
}
