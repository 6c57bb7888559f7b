/**
 * jsonr.h - read JSON of our own making: in place, where one walk over the text fills a struct, or as a tree.
 *
 * For texts that jsonw wrote and that are read again and again, such as a comparison's stored body. What others send is
 * parsed by jansson, which checks everything; here a text that is no JSON sets `failed`, and nothing is read beyond its end.
 */
#ifndef LIB_JSONR_H
#define LIB_JSONR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** A value as it stands in the text, quotes and brackets included. Own: the text's. */
struct jsonr_span {
	const char *text;
	size_t len;
};

struct jsonr {
	const char *at, *end;
	char *room; /* where texts go, NUL-ended; they need at most as much as the JSON has */
	bool failed;
};

enum jsonr_kind {
	JSONR_TEXT,   /* const char *; kept as it was where the value is no text */
	JSONR_NUMBER, /* double; likewise */
	JSONR_WHOLE,  /* int; likewise */
	JSONR_ID,     /* int64_t; likewise */
	JSONR_TRUE,   /* bool: whether it is true */
	JSONR_WORDS,  /* const char *: a list of texts, with a space between them */
	JSONR_SPAN,   /* struct jsonr_span */
	JSONR_OBJECT, /* `inner` says what is taken from it, at offsets from the same struct */
	JSONR_SKIP,   /* stepped over: it stands in the list for what follows it to be found at once */
	JSONR_NAME,   /* `name` is told the text, and sets what it names; not told of another value */
	JSONR_OTHER   /* `read` reads it */
};

/** Which value goes where. Lists of fields are in the order in which they are written, which makes them found soonest. */
struct jsonr_field {
	const char *key; /* by JSONR_KEY, without characters that JSON escapes; NULL ends the list */
	size_t len;      /* of the key */
	enum jsonr_kind kind;
	size_t offset; /* in the struct */
	const struct jsonr_field *inner;
	void (*name)(const char *text, void *into); /* `into` is the whole struct */
	void (*read)(struct jsonr *r, void *into);  /* reads or steps over one value; `into` likewise */
};

#define JSONR_KEY(name) .key = (name), .len = sizeof(name) - 1

/** Begin. Own: `room` has `len` bytes, and outlives every text that is read; NULL where no texts are asked for. */
void jsonr_init(struct jsonr *r, const char *text, size_t len, char *room);
/** Read an object into `into`; keys that are not in the list, and the whole of another kind of value, are stepped over. */
void jsonr_object(struct jsonr *r, const struct jsonr_field *field, void *into);
/** Step into an array; false where the value is none, which is stepped over. Then jsonr_item until it says false. */
bool jsonr_array(struct jsonr *r);
/** Whether another item follows; it is to be read or stepped over before the next call. */
bool jsonr_item(struct jsonr *r);
/** Step over a value. */
struct jsonr_span jsonr_value(struct jsonr *r);
/** A value as jansson's tree, a fifth of what jansson takes, which looks at each character by itself. Own: json_decref. NULL: no JSON. */
json_t *jsonr_tree(const char *text, size_t len);

#endif
