/**
 * sides.h - operands of providers that need no special memory layout: rounded copies are stored as bf16.
 *
 * Every 8-bit or 4-bit value is exact in bf16, so a rounded side is a copy in bf16 that is multiplied like any other, with a
 * factor for each row, or for each row and block of depth. The copy of W is in persist, the others in the workspace.
 */
#ifndef LINEAR_SIDES_H
#define LINEAR_SIDES_H

#include "linear/operands.h"

/**
 * One side of a product, element (row, d) at value[row * row_step + d * depth_step], times factor[row] if factor is not NULL, or
 * times factor[row * blocks + d / FW_LINEAR_SCALE_BLOCK] if there are blocks.
 */
struct side {
	const uint16_t *value; /* bf16 */
	const float *factor;   /* [rows] or [rows][blocks], or NULL: 1 */
	int64_t row_step, depth_step;
	int32_t rows;
	int32_t blocks; /* of the depth; 0: a row has one factor */
};

/** The rounded copy of a side. */
struct rounded {
	uint16_t *copy; /* NULL: multiplied as given */
	float *factor;  /* as in struct side; NULL: included in the values */
};

/** The tensors of a bound problem and their copies. */
struct sides {
	struct contract_matrix left, right, bias, out; /* left before its prologue */
	uint16_t *normalised;                          /* X after the prologue, packed; NULL without one */
	struct rounded rounded_left, rounded_right;
};

/** Allocate the next array at `*at`, and advance `*at`; starting at 0 only to get the size. */
static inline void *sides_place(uintptr_t *at, int64_t bytes)
{
	void *const p = (void *)*at;
	*at += (uintptr_t)contract_align(bytes);
	return p;
}

static inline struct rounded sides_place_rounded(const struct operand *o, uintptr_t *at)
{
	struct rounded r = { NULL, NULL };
	if (contract_is_plain(&o->as))
		return r;
	r.copy = (uint16_t *)sides_place(at, (int64_t)o->rows * o->depth * (int64_t)sizeof *r.copy);
	if (o->as.dtype != FW_I4)
		r.factor = (float *)sides_place(at, (int64_t)o->rows * operand_spans(o) * (int64_t)sizeof *r.factor);
	return r;
}

/** Lay out all copies from two addresses on, which are advanced. */
static inline void sides_lay_out(const struct product *p, struct sides *s, uintptr_t *workspace, uintptr_t *persist)
{
	s->normalised = NULL;
	if (p->shape.prologue)
		s->normalised =
			(uint16_t *)sides_place(workspace, (int64_t)p->shape.m * p->shape.k * (int64_t)sizeof *s->normalised);
	s->rounded_left = sides_place_rounded(&p->left, workspace);
	s->rounded_right = sides_place_rounded(&p->right, p->right.slot == FW_LINEAR_W ? persist : workspace);
}

/** The phase in which the right side is rounded. */
static inline uint32_t sides_right_phase(const struct product *p)
{
	return p->right.slot == FW_LINEAR_W ? FW_LINEAR_QUANTISE_WEIGHT : FW_LINEAR_QUANTISE_ACTIVATION;
}

/** The phases of a product that rounds before it multiplies. */
static inline uint32_t sides_phases(const struct product *p)
{
	uint32_t phases = FW_LINEAR_RUN;
	if (p->shape.prologue)
		phases |= FW_LINEAR_NORMALISE;
	if (!contract_is_plain(&p->left.as))
		phases |= FW_LINEAR_QUANTISE_ACTIVATION;
	if (!contract_is_plain(&p->right.as))
		phases |= sides_right_phase(p);
	return phases;
}

/** Number of columns of the tensor of a side. */
static inline int32_t sides_columns(const struct operand *o)
{
	return o->is_transposed ? o->rows : o->depth;
}

/** Get every tensor of a product from the bound slots. Err: as matrix_take. */
static inline int sides_bind(const struct product *p, const struct fw_io *io, struct sides *s, char *error)
{
	int status = matrix_take(io, p->left.slot, sides_columns(&p->left), &s->left, error);
	if (status == FW_OK)
		status = matrix_take(io, p->right.slot, sides_columns(&p->right), &s->right, error);
	if (status == FW_OK)
		status = matrix_take(io, p->out, p->right.rows, &s->out, error);
	if (status == FW_OK && p->shape.bias)
		status = matrix_take(io, FW_LINEAR_BIAS, p->shape.n, &s->bias, error);
	return status;
}

/** The left tensor as it is rounded or multiplied: after the prologue, if there is one. */
static inline struct contract_matrix sides_left(const struct product *p, const struct sides *s)
{
	const struct contract_matrix normalised = { s->normalised, p->shape.k };
	return s->normalised ? normalised : s->left;
}

/** A side as it is multiplied; `tensor` if it is not rounded. */
static inline struct side sides_side(const struct operand *o, const struct rounded *r, struct contract_matrix tensor)
{
	if (r->copy) {
		tensor.data = r->copy;
		tensor.stride = sides_columns(o);
	}
	const struct side side = { (const uint16_t *)tensor.data, r->factor, o->is_transposed ? 1 : tensor.stride,
		o->is_transposed ? tensor.stride : 1, o->rows, o->as.scaling == FW_LINEAR_BY_BLOCK ? operand_spans(o) : 0 };
	return side;
}

#endif
