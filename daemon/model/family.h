/**
 * family.h - what can be measured: a family of problems that differ in their shape. Everything that flopwatch knows of one kind of
 * kernel stands in daemon/families/NAME/, behind the struct below; what a result has to be, in daemon/families/NAME/reference/.
 *
 * Families are found by their folders: NAME/ defines `const struct family family_NAME`. doc/families.md says how one is written.
 *
 * A shape is the family's own struct, of plain values without pointers, so that it can be copied and compared. A family owns
 * nothing else and decides nothing: it answers questions about shapes.
 */
#ifndef MODEL_FAMILY_H
#define MODEL_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "lib/jsonw.h"
#include "model/direction.h"
#include "lib/field.h"
#include "model/reader.h"
#include "kernels/fw_kernel.h"

enum {
	FAMILY_SHAPE_BYTES = 1152, /* most that a shape may take */
	FAMILY_ABI_BYTES = 128,    /* and its struct in the kernel ABI */
	FAMILY_KEY_SIZE = 160,
	FAMILY_SLOTS_MAX = 16,
	FAMILY_PHASES_MAX = 6,
	FAMILY_GROUPS_MAX = 4
};

/** By what a cell is shown to be fast. */
enum family_metric { METRIC_TFLOPS, METRIC_GBPS, METRIC_US };

/** A table of a comparison. */
struct family_group {
	const char *name, *title; /* "block_sparse", "block-sparse" */
	bool is_irregular;        /* runs noise more: wider intervals are still an answer */
};

/** How a case is called. */
struct family_label {
	char key[FAMILY_KEY_SIZE];      /* readable, stable, and opaque to everyone: histories hang on it */
	char group[16];                 /* one of the family's */
	char title[48];                 /* of its row, without what its whole table shares and without the size: "causal" */
	int64_t size;                   /* the one number that grows along a line of cases, 0 none: tokens, rows */
	char line[48];                  /* what cells share whose times lie on one line over their pieces; "" none */
	double pieces;                  /* that the work consists of: kept blocks */
	char baseline[FAMILY_KEY_SIZE]; /* case that it is held against where a suite has both; "" none */
};

/** Where the contents of a buffer come from in a direction. */
enum slot_use {
	SLOT_UNUSED = 0,
	SLOT_INPUT,
	SLOT_OUTPUT,
	SLOT_FORWARD /* an input that the forward of the same case has left */
};

/** How an input is filled, and what of it changes from call to call. */
enum slot_fill {
	SLOT_DRAWN, /* bf16, by model/inputs.h */
	SLOT_LAID   /* laid out by the family on the host, which a module gets for count() */
};
enum slot_change {
	SLOT_STAYS,
	SLOT_ROLLS,       /* by whole rows, within them where they are few, in every call */
	SLOT_ROLLS_FIRST, /* the same; it alone changes where one input has to do, and what is done once does not see it */
	SLOT_ROLLS_FORWARD /* likewise where nothing is SLOT_FORWARD; else it belongs to what the forward has left, and is rolled for it */
};

struct family_slot {
	const char *name;  /* "dQ" */
	const char *words; /* of what is no tensor, "sequence offsets"; NULL: its name */
	enum slot_fill fill;
};

struct family {
	int32_t number; /* as its kernels/fw_NAME.h defines it */
	const char *name;
	size_t shape_bytes, abi_bytes; /* of its struct here and in the kernel ABI */
	bool is_default;               /* of a manifest that names no module; one family is */
	enum family_metric metric;
	enum direction direction[DIRECTIONS];             /* that it has; ends with 0 */
	int n_on_request;                                 /* the last so many are measured where a suite names them */
	struct family_group group[FAMILY_GROUPS_MAX + 1]; /* ends with a NULL name */
	const char *phase[FAMILY_PHASES_MAX];             /* names, lowest bit first */
	uint32_t main_phase;                              /* the one that takes most of the time */
	int n_slots;
	const struct family_slot *slot; /* slot[n_slots], as the kernel ABI numbers them */

	/* A suite file. */
	/** Read the family's own keys of a suite and add each case (reader_add). False after a mistake that hides others. */
	bool (*read)(struct reader *r, struct yaml_node *root);
	const char *keys; /* what holds cases, for a suite that has none: "dense or block_sparse" */
	/**
	 * Append the suite that measures what a public suite's configuration of this family says; what has no meaning here stands in its
	 * comments. Mistakes are collected in `y`, and then nothing is appended. `name` NULL: as the configuration is called. NULL: none is read.
	 */
	void (*import)(struct yaml *y, struct yaml_node *root, const char *name, struct buf *out);

	/* A shape. */
	int (*check)(const void *shape, enum direction d, struct fw_err *err); /* in words a person can act on */
	/** Whether anybody can compute it, whatever a module says; a case that nobody can is unsupported for this reason. NULL: all. */
	int (*fits)(const void *shape, enum direction d, struct fw_err *err);
	void (*label)(const void *shape, struct family_label *out);
	/** Its members, in one order: with the braces around them, the canonical JSON. */
	void (*write)(const void *shape, struct jsonw *j);
	void (*parse)(struct fields *f, void *shape);
	/** What of it no key says, for the hash of a suite; NULL: the canonical JSON. */
	void (*digest)(const void *shape, uint64_t seed, struct buf *out);
	double (*flops)(const void *shape, enum direction d); /* useful ones of a call; 0 where they say nothing */
	double (*bytes)(
		const void *shape, enum direction d); /* that every implementation moves at least; NULL: every buffer once */
	int32_t (*multiplied)(
		const void *shape, enum direction d); /* enum fw_dtype of what is multiplied: its peak; NULL: bf16 */

	/* A problem of that shape. */
	/** Phases that depend on weights alone and whose time is none of a call's, where the provider says so too; NULL: none. */
	uint32_t (*once)(const void *shape, enum direction d);
	int32_t (*flags)(const void *shape, enum direction d); /* enum fw_problem_flag; NULL: none */
	void (*abi)(const void *shape, enum direction d,
		void *out); /* the kernel ABI's struct, out[abi_bytes]; NULL: the shape is it */
	enum slot_use (*use)(const void *shape, enum direction d, int slot);
	/** Of an input of the direction; what only the forward reads, of one that needs it, rolls for that wherever it rolls there. */
	enum slot_change (*change)(const void *shape, enum direction d, int slot);
	bool keeps_rows; /* rows are never rolled within: a tensor of one stays as it is */
	/** Strides and type of a used slot; returns its bytes. */
	size_t (*lay_out)(const void *shape, int slot, struct fw_tensor *t);
	/** Fill a SLOT_LAID slot. Shape: out[bytes of lay_out]. NULL where there is none. */
	void (*lay)(const void *shape, uint64_t seed, int slot, void *out);
	/** Whether there is another problem of these sizes, which a plan is not told of; NULL: none. */
	bool (*has_second)(const void *shape);
	const char *second_words; /* "another mask of the same size" */
	/** Turn the shape into it; asked again with the next `attempt` while its laid slots come out as they were. */
	void (*second)(void *shape, int attempt);
	/** What the laid slots keep, of how much, counted in the buffers themselves; NULL: all. Shape: laid[n_slots]. */
	int64_t (*kept)(const void *shape, const void *const *laid, int64_t *of);
};

/** NULL for a name that is none. */
const struct family *family_find(const char *name);
/** All of them, in alphabetical order; NULL behind the last. */
const struct family *family_at(int i);
/** That of a manifest which names no module. */
const struct family *family_default(void);
/** The table of that name of any family; NULL: none. */
const struct family_group *family_group(const char *name);
/** Whether cells of that table noise more than others. */
bool family_group_is_irregular(const char *name);
/** "dQ" of a slot, "run" of a bit of the phases. */
const char *family_slot_name(const struct family *f, int slot);
const char *family_phase_name(const struct family *f, uint32_t phase);
/** Whether a direction of this shape starts from what the forward has left. */
bool family_needs_forward(const struct family *f, const void *shape, enum direction d);
/** The canonical JSON of a shape. Own: `out` is the caller's, and grows. */
void family_json(const struct family *f, const void *shape, struct buf *out);
/** "bf16" */
const char *family_dtype_name(int32_t dtype);
/** Bytes of an element. */
size_t family_element_bytes(int32_t dtype);

#endif
