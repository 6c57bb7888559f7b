/** internal.h - declarations that the files of this folder share. */
#ifndef LIB_INTERNAL_H
#define LIB_INTERNAL_H

#include "lib/lib.h"

/* ---- mem: of a buf and other memory whose lack is usually an error of the caller ---- */

/** End the program after mem_end_program, as mem_alloc does; else return. `size`: bytes, 0 unknown. */
void mem_end_if_asked(size_t size);

/* ---- yaml_node: Shared by yaml.c and yaml_value.c; no other file includes it. ---- */

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	int line, column; /* from 1 */
	struct yaml_node *parent, *next, *first_child, *last_child, *all_next;
	int count, index; /* children; position in the parent */
	char *key;        /* in a mapping */
	int key_line, key_column;
	char *text; /* YAML_TEXT */
	bool plain; /* written without quotes */
	bool known; /* it was requested */
	bool complained;
	char *pending_key; /* a mapping's key whose value is not yet read */
	int pending_line, pending_column;
	char **requested; /* keys requested from a mapping */
	int n_requested;
};

struct yaml {
	struct yaml_node *root, *all;
	char *file;
	struct buf mistakes;
	int n_mistakes, n_nodes;
	bool is_out_of_memory;
};

#endif
