/** torchao_inside.h - a configuration of torchao while it is read: what its files share. */
#ifndef FAMILIES_LINEAR_TORCHAO_INSIDE_H
#define FAMILIES_LINEAR_TORCHAO_INSIDE_H

#include "families/linear/torchao_shapes.h"

enum { IMPORT_NAME_SIZE = 64 };

struct import {
	struct yaml *y;
	struct buf notes; /* comment lines */
	bool is_training, is_exact, by_row;
	const char *granularity; /* NULL: not given */
	int32_t plain;           /* operands whose scaling is disabled */
	bool takes[LINEAR_RECIPES];
	char name[IMPORT_NAME_SIZE]; /* "" not known yet */
	struct torchao_shapes shapes;
};

/** Append a comment with the place of `at`: "# line 3:5: what". */
void import_note(struct import *p, const struct yaml_node *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** The same where `key` is given and not off, of a key whose purpose has another place here; once, however many models have it. */
void import_note_key(struct import *p, struct yaml_node *map, const char *key, const char *why);

/** Keys of the whole configuration: benchmark_mode, how operands are scaled, recipes, sparsities. */
void import_read_options(struct import *p, struct yaml_node *root);

#endif
