/*
 * case.c - names and useful work of cells, delegated to their family.
 *
 * Only families count FLOPs, from the exact work of a shape, so a branch cannot claim more work than its problem has.
 */
#include "model/model.h"

#include <math.h>
#include <stdio.h>

const struct family *case_family(const struct cell *c)
{
	return family_find(c->family);
}

void case_name(struct cell *c)
{
	const struct family *f = case_family(c);
	struct family_label label = { 0 };
	const char *direction = direction_name(c->direction);

	f->label(c->shape.bytes, &label);
	snprintf(c->case_key, sizeof c->case_key, "%s", label.key);
	snprintf(c->group, sizeof c->group, "%s", label.group);
	snprintf(c->title, sizeof c->title, "%s", label.title);
	snprintf(c->line, sizeof c->line, "%s", label.line);
	c->size = label.size;
	c->pieces = label.pieces;
	snprintf(c->key, sizeof c->key, "%.*s/%s", (int)sizeof c->case_key - 10, c->case_key, direction);
	snprintf(c->baseline, sizeof c->baseline, label.baseline[0] ? "%.*s/%s" : "", (int)sizeof c->baseline - 10,
		label.baseline, direction);
}

double case_flops(const struct cell *c)
{
	const struct family *f = case_family(c);
	double flops = f ? f->flops(c->shape.bytes, c->direction) : c->flops;

	return flops > 0 ? flops : NAN;
}

static double every_buffer(const struct family *f, const struct cell *c)
{
	struct fw_tensor t;
	double sum = 0;

	for (int i = 0; i < f->n_slots; i++)
		if (f->use(c->shape.bytes, c->direction, i) != SLOT_UNUSED)
			sum += (double)f->lay_out(c->shape.bytes, i, &t);
	return sum;
}

double case_bytes(const struct cell *c)
{
	const struct family *f = case_family(c);

	return !f ? NAN : f->bytes ? f->bytes(c->shape.bytes, c->direction) : every_buffer(f, c);
}

enum family_metric case_metric(const struct cell *c)
{
	const struct family *f = case_family(c);

	return !f ? METRIC_TFLOPS : c->direction == DIRECTION_ONCE ? METRIC_GBPS : f->metric;
}

bool case_is_irregular(const struct cell *c)
{
	return family_group_is_irregular(c->group);
}

void case_problem(const struct cell *c, void *shape, struct fw_problem *out)
{
	const struct family *f = case_family(c);

	if (f->abi)
		f->abi(c->shape.bytes, c->direction, shape);
	else
		memcpy(shape, c->shape.bytes, f->abi_bytes);
	*out = (struct fw_problem){
		.struct_size = sizeof *out,
		.family = f->number,
		.direction = c->direction == DIRECTION_ONCE ? FW_FORWARD : (int32_t)c->direction,
		.flags = f->flags ? f->flags(c->shape.bytes, c->direction) : 0,
		.shape = shape,
		.shape_size = (uint32_t)f->abi_bytes,
	};
}

static bool has_direction(const struct family *f, enum direction d)
{
	for (const enum direction *at = f->direction; *at; at++)
		if (*at == d)
			return true;
	return false;
}

int case_check(const struct cell *c, struct fw_err *err)
{
	const struct family *f = case_family(c);

	if (!f)
		return err_set(err, ERR_INVALID, "family \"%s\" is unknown", c->family);
	if (!has_direction(f, c->direction))
		return err_set(err, ERR_INVALID, "%s has no direction %s (%d)", f->name, direction_name(c->direction),
			(int)c->direction);
	if (!(c->threshold_pct > 0 && c->threshold_pct < 100))
		return err_set(err, ERR_INVALID, "threshold %g %% must lie between 0 and 100", c->threshold_pct);
	return f->check(c->shape.bytes, c->direction, err);
}
