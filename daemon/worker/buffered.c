/* buffered.c - storage of a profile's records. */
#include "worker/internal.h"

void buffered_init(struct buffered *k, struct bench *b, const int *cell, int n)
{
	*k = (struct buffered){ .bench = b, .n = n < EVIDENCE_CELLS_MAX ? n : EVIDENCE_CELLS_MAX };
	for (int i = 0; i < k->n; i++)
		k->cell[i].cell = cell[i];
}

void buffered_clear(struct buffered_process *p)
{
	for (int i = 0; i < p->n; i++)
		free(p->kernel[i].value);
	free(p->kernel);
	*p = (struct buffered_process){ 0 };
}

void buffered_clear_stalls(struct buffered_stalls *s)
{
	for (int i = 0; i < s->n; i++)
		free(s->kernel[i].line);
	free(s->kernel);
	*s = (struct buffered_stalls){ 0 };
}

void buffered_free(struct buffered *k)
{
	for (int i = 0; i < k->n; i++)
		for (int side = 0; side < BUFFERED_SIDES; side++) {
			buffered_clear_stalls(&k->cell[i].stalls[side]);
			for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
				buffered_clear(&k->cell[i].process[side][repeat]);
			tried_fini(&k->cell[i].tried[side]);
		}
	*k = (struct buffered){ 0 };
}

struct buffered_cell *buffered_find(struct buffered *k, int cell)
{
	for (int i = 0; i < k->n; i++)
		if (k->cell[i].cell == cell)
			return &k->cell[i];
	return NULL;
}

int buffered_kernel(struct buffered_process *p, struct msg_kernel *kernel, struct fw_err *err)
{
	if (p->n == EVIDENCE_KERNELS_MAX)
		return err_set(err, ERR_PROTOCOL, "the runner sent more than %d kernels of a call", EVIDENCE_KERNELS_MAX);
	p->kernel = mem_grow(p->kernel, (size_t)p->n + 1, sizeof *p->kernel);
	p->kernel[p->n++] = *kernel;
	kernel->value = NULL;
	kernel->n_values = 0;
	return 0;
}

void buffered_copy(struct buffered_process *to, const struct buffered_process *from, int repeat)
{
	buffered_clear(to);
	to->kernel = mem_alloc((size_t)from->n * sizeof *to->kernel);
	for (; to->n < from->n; to->n++) {
		struct msg_kernel *mine = &to->kernel[to->n];
		*mine = from->kernel[to->n];
		mine->repeat = repeat;
		mine->value = NULL;
		mine->n_values = 0;
		mine->ms = -1;
	}
	memcpy(to->config, from->config, sizeof to->config);
	to->is_there = true;
}

int buffered_add_stalls(struct buffered_stalls *s, struct msg_stalls *stalls, struct fw_err *err)
{
	if (s->n == EVIDENCE_KERNELS_MAX)
		return err_set(err, ERR_PROTOCOL, "samples of more than %d kernels", s->n);
	s->kernel = mem_grow(s->kernel, (size_t)s->n + 1, sizeof *s->kernel);
	s->kernel[s->n++] = *stalls;
	stalls->line = NULL;
	stalls->n = 0;
	return 0;
}

void buffered_why(struct buffered_cell *c, const char *format, ...)
{
	char text[BUFFERED_WHY_SIZE];
	size_t used = strlen(c->why);
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (!strstr(c->why, text))
		snprintf(c->why + used, sizeof c->why - used, "%s%s", used ? "; " : "", text);
}

bool buffered_is_counted(const struct buffered_cell *c)
{
	for (int side = 0; side < BUFFERED_SIDES; side++)
		for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
			if (!c->process[side][repeat].is_counted)
				return false;
	return true;
}

bool buffered_is_timed(const struct buffered_cell *c)
{
	for (int side = 0; side < BUFFERED_SIDES; side++)
		for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
			if (!c->process[side][repeat].is_timed)
				return false;
	return true;
}
