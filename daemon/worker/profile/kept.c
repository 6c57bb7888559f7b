/* cached_build.c - see cached_build.h. */
#include "worker/profile/kept.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kept_init(struct kept *k, struct bench *b, const int *cell, int n)
{
	*k = (struct kept){ .bench = b, .n = n < EVIDENCE_CELLS_MAX ? n : EVIDENCE_CELLS_MAX };
	for (int i = 0; i < k->n; i++)
		k->cell[i].cell = cell[i];
}

void kept_clear(struct kept_process *p)
{
	for (int i = 0; i < p->n; i++)
		free(p->kernel[i].value);
	free(p->kernel);
	*p = (struct kept_process){ 0 };
}

void kept_clear_stalls(struct kept_stalls *s)
{
	for (int i = 0; i < s->n; i++)
		free(s->kernel[i].line);
	free(s->kernel);
	*s = (struct kept_stalls){ 0 };
}

void kept_free(struct kept *k)
{
	for (int i = 0; i < k->n; i++)
		for (int side = 0; side < KEPT_SIDES; side++) {
			kept_clear_stalls(&k->cell[i].stalls[side]);
			for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
				kept_clear(&k->cell[i].process[side][repeat]);
			tried_fini(&k->cell[i].tried[side]);
		}
	*k = (struct kept){ 0 };
}

struct kept_cell *kept_find(struct kept *k, int cell)
{
	for (int i = 0; i < k->n; i++)
		if (k->cell[i].cell == cell)
			return &k->cell[i];
	return NULL;
}

static struct msg_kernel *add(struct kept_process *p, struct fw_err *err)
{
	if (p->n == EVIDENCE_KERNELS_MAX) {
		err_set(err, ERR_PROTOCOL, "the runner sent more than %d kernels of a call", EVIDENCE_KERNELS_MAX);
		return NULL;
	}
	struct msg_kernel *more = reallocarray(p->kernel, (size_t)p->n + 1, sizeof *more);
	if (!more) {
		err_set(err, ERR_INTERNAL, "out of memory for %d kernels", p->n + 1);
		return NULL;
	}
	p->kernel = more;
	return &p->kernel[p->n++];
}

int kept_kernel(struct kept_process *p, struct msg_kernel *kernel, struct fw_err *err)
{
	struct msg_kernel *mine = add(p, err);
	if (!mine)
		return -1;
	*mine = *kernel;
	kernel->value = NULL;
	kernel->n_values = 0;
	return 0;
}

int kept_copy(struct kept_process *to, const struct kept_process *from, int repeat, struct fw_err *err)
{
	kept_clear(to);
	for (int i = 0; i < from->n; i++) {
		struct msg_kernel *mine = add(to, err);
		if (!mine)
			return -1;
		*mine = from->kernel[i];
		mine->repeat = repeat;
		mine->value = NULL;
		mine->n_values = 0;
		mine->ms = -1;
	}
	memcpy(to->config, from->config, sizeof to->config);
	to->is_there = true;
	return 0;
}

int kept_add_stalls(struct kept_stalls *s, struct msg_stalls *stalls, struct fw_err *err)
{
	struct msg_stalls *more = s->n < EVIDENCE_KERNELS_MAX ? reallocarray(s->kernel, (size_t)s->n + 1, sizeof *more) : NULL;
	if (!more)
		return err_set(
			err, s->n < EVIDENCE_KERNELS_MAX ? ERR_INTERNAL : ERR_PROTOCOL, "samples of more than %d kernels", s->n);
	s->kernel = more;
	more[s->n++] = *stalls;
	stalls->line = NULL;
	stalls->n = 0;
	return 0;
}

void kept_why(struct kept_cell *c, const char *format, ...)
{
	char text[KEPT_WHY_SIZE];
	size_t used = strlen(c->why);
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (!strstr(c->why, text))
		snprintf(c->why + used, sizeof c->why - used, "%s%s", used ? "; " : "", text);
}

bool kept_is_counted(const struct kept_cell *c)
{
	for (int side = 0; side < KEPT_SIDES; side++)
		for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
			if (!c->process[side][repeat].is_counted)
				return false;
	return true;
}

bool kept_is_timed(const struct kept_cell *c)
{
	for (int side = 0; side < KEPT_SIDES; side++)
		for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
			if (!c->process[side][repeat].is_timed)
				return false;
	return true;
}
