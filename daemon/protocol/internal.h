/** internal.h - the tables that describe messages, and their reader and writer. */
#ifndef PROTOCOL_INTERNAL_H
#define PROTOCOL_INTERNAL_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lib.h"
#include "protocol/protocol.h"

/*
 * ---- table ----
 * A table describes a JSON object and the struct that stores it: an array of rows, one for each key, in the order in which they
 * are written. One reader and one writer process all tables. The reader needs a zeroed struct.
 *
 * A macro defines each row: struct, member, key, need, bounds. The last row has no key; its `check`, if any, validates the struct
 * after all keys are read.
 */

enum row_kind {
	KIND_INT,    /* integer of any width, or bool */
	KIND_ENUM,   /* one of `choices`, stored as its index */
	KIND_DOUBLE, /* a finite number */
	KIND_SEED,   /* 64 bits as a decimal string, because JSON readers round large numbers */
	KIND_TOKEN,  /* exact text of `set`, of at least `least` bytes */
	KIND_DIGEST, /* hex digits of a hash */
	KIND_TEXT,   /* text for display, cut to its member; always optional */
	KIND_LINES,  /* as KIND_TEXT, with line breaks */
	KIND_CHOICE, /* one of `choices`, stored as text */
	KIND_INTS,   /* array of integers */
	KIND_TEXTS,  /* array of texts */
	KIND_LIST,   /* array of objects with their own table */
	KIND_OBJECT, /* a member with its own table */
	KIND_CUSTOM  /* the row's functions `read` and `write` */
};

enum row_need {
	REQUIRED,
	OPTIONAL, /* always written; a received key may be missing or null */
	SPARSE,   /* written unless it has its absent value, or is below zero; may be missing or null */
	NULLABLE  /* written as null if it has its absent value, or is below zero; may be missing or null */
};

enum row_width { WIDTH_BOOL, WIDTH_CHAR, WIDTH_INT, WIDTH_UNSIGNED, WIDTH_LONG, WIDTH_DOUBLE };

struct row {
	const char *key; /* NULL ends the table */
	enum row_kind kind;
	enum row_need need;
	enum row_width width;
	size_t offset, size;          /* of the member; of an array the size of an item */
	int64_t min, max;             /* bounds of integers, or of indices of `choices` */
	double real_min, real_max;    /* bounds of a double */
	double absent;                /* value for a missing key */
	enum field_set set;           /* characters of a token */
	bool is_sha256, may_be_empty; /* of a digest */
	const char *const *choices;   /* ends with NULL */
	const struct row *table;      /* of an object, or of the items of a list */
	size_t least, most;           /* number of items of an array; KIND_INTS: if equal, there is no count */
	size_t count;                 /* offset of the number of items, an int */
	size_t index;                 /* offset of a pointer to owned ints, the items' key "i"; 0: none */
	int n_owned;                  /* number of pointers at `offset` that table_free frees; KIND_LIST: the items */
	size_t gate;                  /* 1 + offset of a number: the row is written only if it is above 0; 0: no gate */
	enum row_width gate_width;
	int gate_value;                         /* not 0: the gate's number must have this value */
	const char *(*wrong)(const char *text); /* why a token or an item of texts is invalid, as a predicate; NULL: valid */
	/* receive the whole struct; `read` returns 0, or -1 with an error; `write` also writes the key */
	int (*read)(struct fields *f, const struct row *r, void *message);
	void (*write)(struct jsonw *j, const struct row *r, const void *message);
	int (*check)(struct fields *f, void *message); /* of the last row: 0, or -1 with an error */
};

#define ROW_MEMBER(s, m) ((s *)0)->m
#define ROW_WIDTH(s, m)                                                                                                          \
	_Generic(ROW_MEMBER(s, m), bool                                                                                          \
		 : WIDTH_BOOL, char                                                                                              \
		 : WIDTH_CHAR, int                                                                                               \
		 : WIDTH_INT, unsigned                                                                                           \
		 : WIDTH_UNSIGNED, long                                                                                          \
		 : WIDTH_LONG, long long                                                                                         \
		 : WIDTH_LONG, unsigned long                                                                                     \
		 : WIDTH_LONG, double                                                                                            \
		 : WIDTH_DOUBLE)
#define ROW_AT(s, m, name, is, how)                                                                                              \
	.key = name, .kind = is, .need = how, .offset = offsetof(s, m), .size = sizeof(ROW_MEMBER(s, m))
/* A member of the wrong type does not compile. */
#define ROW_CHARS(s, m, name, is, how) ROW_AT(s, m, name, is, how), .width = _Generic(ROW_MEMBER(s, m)[0], char : WIDTH_CHAR)
#define ROW_COUNT(s, n)                .count = offsetof(s, n) * _Generic(ROW_MEMBER(s, n), int : (size_t)1)
#define ROW_OF(s, m, type, name, is, how)                                                                                        \
	.key = name, .kind = is, .need = how, .offset = offsetof(s, m), .size = _Generic(ROW_MEMBER(s, m), type : sizeof(type))
#define ROW_ITEMS(s, m, name, is, how, from)                                                                                     \
	.key = name, .kind = is, .need = how, .offset = offsetof(s, m), .size = sizeof(ROW_MEMBER(s, m)[0]), .least = from,      \
	.most = sizeof(ROW_MEMBER(s, m)) / sizeof(ROW_MEMBER(s, m)[0])

#define ROW_INT(s, m, name, how, from, to) ROW_AT(s, m, name, KIND_INT, how), .width = ROW_WIDTH(s, m), .min = from, .max = to
/* Accepts the names with the indices `from` to `to` of `list`. */
#define ROW_ENUM(s, m, name, how, list, from, to)                                                                                \
	ROW_AT(s, m, name, KIND_ENUM, how), .width = ROW_WIDTH(s, m), .choices = list, .min = from, .max = to
#define ROW_DOUBLE(s, m, name, how, from, to)         ROW_OF(s, m, double, name, KIND_DOUBLE, how), .real_min = from, .real_max = to
#define ROW_BOOL(s, m, name, how)                     ROW_OF(s, m, bool, name, KIND_INT, how), .width = WIDTH_BOOL
#define ROW_SEED(s, m, name)                          ROW_OF(s, m, uint64_t, name, KIND_SEED, REQUIRED)
#define ROW_TOKEN(s, m, name, how, characters, bytes) ROW_CHARS(s, m, name, KIND_TOKEN, how), .set = characters, .least = bytes
#define ROW_DIGEST(s, m, name, how)                                                                                              \
	.key = name, .kind = KIND_DIGEST, .need = how, .offset = offsetof(s, m),                                                 \
	.size = sizeof(char[sizeof(ROW_MEMBER(s, m)) == HASH_HEX ? HASH_HEX : -1])
#define ROW_SHA256(s, m, name, how)       ROW_DIGEST(s, m, name, how), .is_sha256 = true
#define ROW_TEXT(s, m, name, how)         ROW_CHARS(s, m, name, KIND_TEXT, how)
#define ROW_LINES(s, m, name, how)        ROW_CHARS(s, m, name, KIND_LINES, how)
#define ROW_CHOICE(s, m, name, how, list) ROW_CHARS(s, m, name, KIND_CHOICE, how), .choices = list
/* An array of fixed length. */
#define ROW_SIZES(s, m, name)               ROW_ITEMS(s, m, name, KIND_INTS, REQUIRED, sizeof(ROW_MEMBER(s, m)) / sizeof(int)), .max = INT_MAX
#define ROW_INTS(s, m, n, name, to)         ROW_ITEMS(s, m, name, KIND_INTS, REQUIRED, 0), ROW_COUNT(s, n), .max = to
#define ROW_TEXTS(s, m, n, name, how, from) ROW_ITEMS(s, m, name, KIND_TEXTS, how, from), ROW_COUNT(s, n)
#define ROW_LIST(s, m, n, name, from, rows) ROW_ITEMS(s, m, name, KIND_LIST, REQUIRED, from), ROW_COUNT(s, n), .table = rows
#define ROW_OWNED_LIST(s, m, n, name, how, from, to, rows)                                                                       \
	.key = name, .kind = KIND_LIST, .need = how, .offset = offsetof(s, m), .size = sizeof(ROW_MEMBER(s, m)[0]),              \
	.least = from, .most = to, .n_owned = 1, ROW_COUNT(s, n), .table = rows
#define ROW_OBJECT(s, m, name, how, rows) ROW_AT(s, m, name, KIND_OBJECT, how), .table = rows
/* An object whose values are stored in the same struct. */
#define ROW_PART(name, how, rows)                   .key = name, .kind = KIND_OBJECT, .need = how, .table = rows
#define ROW_CUSTOM(s, m, name, how, reader, writer) ROW_AT(s, m, name, KIND_CUSTOM, how), .read = reader, .write = writer
#define ROW_CLASSES(s, m, name)                     ROW_CUSTOM(s, m, name, OPTIONAL, protocol_read_classes, protocol_write_classes)
/* Follows another macro: the row is written only if member `m` is above 0. */
#define ROW_IF(s, m) .gate = offsetof(s, m) + 1, .gate_width = ROW_WIDTH(s, m)

/** Read the keys of f->object into the zeroed `into`. Own: table_free, also after a failure. Err: ERR_PROTOCOL names the key. */
int table_read(struct fields *f, const struct row *table, void *into);
/** Read the object at the required `key` in the same way. Own, Err: as table_read. */
int table_read_object(struct fields *f, const char *key, const struct row *table, void *into);
/** Free all memory that a struct owns. */
void table_free(const struct row *table, void *message);

/** Write the keys and values of a struct, without the braces. */
void table_write(struct jsonw *j, const struct row *table, const void *from);
/** Write a struct as one JSON object. */
void table_write_object(struct jsonw *j, const struct row *table, const void *from);

/* ---- messages: Tables for protocol.c. ---- */

extern const struct row protocol_job_rows[], protocol_sides_rows[], protocol_task_rows[], protocol_rule_rows[],
	protocol_cell_rows[];
extern const struct row protocol_hello_rows[], protocol_need_rows[], protocol_tree_rows[], protocol_build_rows[],
	protocol_check_rows[], protocol_found_rows[], protocol_run_rows[], protocol_at_rows[], protocol_samples_rows[],
	protocol_work_rows[], protocol_node_rows[], protocol_fault_rows[], protocol_done_rows[], protocol_ping_rows[],
	protocol_cancel_rows[], protocol_note_rows[], protocol_same_rows[], protocol_reported_kernels_rows[],
	protocol_state_rows[], protocol_health_check_rows[], protocol_audit_rows[], protocol_location_rows[],
	protocol_device_check_rows[];
extern const struct row protocol_kernel_rows[], protocol_code_rows[], protocol_counterfactual_rows[], protocol_profile_rows[];
extern const struct row protocol_stalls_rows[], protocol_hot_rows[], protocol_tried_rows[];

/* Read and write a sentinel_set: ["forward","backward irregular"]; an empty set is not written. */
int protocol_read_classes(struct fields *f, const struct row *r, void *message);
void protocol_write_classes(struct jsonw *j, const struct row *r, const void *message);

#endif
