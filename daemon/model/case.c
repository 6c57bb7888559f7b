/*
 * case.c - names and useful work of cells, delegated to their family.
 *
 * Only families count FLOPs, from the exact work of a shape, so a branch cannot claim more work than its problem has.
 */
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a case's name and its configuration; "/" and the direction follow. */
enum { DIRECTION_BYTES = 10, CASE_KEY_MAX = CASE_KEY_SIZE - DIRECTION_BYTES - 2 };

const struct family *case_family(const struct cell *c)
{
	return family_find(c->family);
}

/* "/ISA=v3,TILE=2" for the configuration "ISA=v3 TILE=2"; "" for none. Shape: out[CELL_CONFIG_SIZE + 1]. */
static void name_config(const char *config, char *out)
{
	size_t n = 0;

	if (*config)
		out[n++] = '/';
	for (; *config && n < CELL_CONFIG_SIZE; config++)
		out[n++] = *config == ' ' ? ',' : *config;
	out[n] = '\0';
}

/* Append ", ISA=v3,TILE=2" to a name, cut to fit; nothing to "". */
static void add_config(char *name, size_t size, const char *config)
{
	size_t used = strlen(name);

	if (used > 0 && *config)
		snprintf(name + used, size - used, ", %s", config + 1);
}

void case_name(struct cell *c)
{
	const struct family *f = case_family(c);
	struct family_label label = { 0 };
	const char *direction = direction_name(c->direction);
	char config[CELL_CONFIG_SIZE + 1];

	f->label(c->shape.bytes, &label);
	name_config(c->config, config);
	snprintf(c->case_key, sizeof c->case_key, "%s%s", label.key, config);
	snprintf(c->group, sizeof c->group, "%s", label.group);
	snprintf(c->title, sizeof c->title, "%s", label.title);
	snprintf(c->line, sizeof c->line, "%s", label.line);
	add_config(c->title, sizeof c->title, config);
	add_config(c->line, sizeof c->line, config);
	c->size = label.size;
	c->pieces = label.pieces;
	snprintf(c->key, sizeof c->key, "%.*s/%s", (int)sizeof c->case_key - DIRECTION_BYTES, c->case_key, direction);
	snprintf(c->baseline, sizeof c->baseline, label.baseline[0] ? "%.*s%s/%s" : "",
		(int)(sizeof c->baseline - DIRECTION_BYTES - strlen(config)), label.baseline, config, direction);
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

	if (!f)
		return METRIC_TFLOPS;
	for (const struct family_group *g = f->group; g->name; g++)
		if (g->is_by_bytes && strcmp(g->name, c->group) == 0)
			return METRIC_GBPS;
	return c->direction == DIRECTION_ONCE ? METRIC_GBPS : f->metric;
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

static int check_config(const struct family *f, const struct cell *c, struct fw_err *err)
{
	struct family_label label = { 0 };

	if (!*c->config)
		return 0;
	f->label(c->shape.bytes, &label);
	if (strlen(label.key) + strlen(c->config) > CASE_KEY_MAX)
		return err_set(err, ERR_INVALID,
			"%s with the configuration %s has a name of more than %d bytes; shorten the configuration", label.key,
			c->config, CASE_KEY_MAX);
	return 0;
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
	return f->check(c->shape.bytes, c->direction, err) != 0 ? -1 : check_config(f, c, err);
}
