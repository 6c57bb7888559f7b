/*
 * difference.c - machine code of a cell's kernels. Kernels with the same name are compared as in sassdiff; kernels that only one
 * side launches are paired in order if their names differ only in template arguments.
 */
#include "worker/internal.h"

/*
 * ---- hot ----
 * Stall samples by instruction. Addresses of nvdisasm and offsets of samples both count from the start of a function.
 */

#define NOTED_SHARE 0.002
#define TRIFLE      0.02

/* Return the samples of one kernel; NULL: not sampled. Own: borrowed from `s`. */
static const struct msg_stalls *hot_find(const struct buffered_stalls *s, const char *symbol_sha256)
{
	for (int i = 0; i < s->n && symbol_sha256[0]; i++)
		if (strcmp(s->kernel[i].symbol_sha256, symbol_sha256) == 0 && s->kernel[i].samples > 0)
			return &s->kernel[i];
	return NULL;
}

/* Return whether the kernel has a relevant share of all samples. */
static bool hot_matters(const struct buffered_stalls *s, const struct msg_stalls *kernel)
{
	double sum = 0;
	for (int i = 0; i < s->n; i++)
		sum += (double)s->kernel[i].samples;
	return (double)kernel->samples > TRIFLE * sum;
}

static int by_offset(const void *key, const void *line)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct evidence_stall *)line)->offset;
	return (a > b) - (a < b);
}

static void hot_note(void *arg, int side, uint32_t address, char *note)
{
	const struct msg_stalls *s = ((const struct hot_sides *)arg)->of[side];
	const struct evidence_stall *line =
		s && s->n ? bsearch(&address, s->line, (size_t)s->n, sizeof *s->line, by_offset) : NULL;
	if (line && line->samples >= NOTED_SHARE * (double)s->samples)
		snprintf(note, SASSDIFF_NOTE_SIZE, "%.1f %% %s", 100.0 * line->samples / (double)s->samples, line->reason);
}

static const char *text_at(const struct sass *sass, const struct sass_function *code, uint32_t offset)
{
	for (size_t i = 0; sass && i < code->n; i++)
		if (sass->instruction[code->first + i].address == offset)
			return sass_string(sass, sass->instruction[code->first + i].text);
	return "";
}

/* Fill in the instructions with the most samples; `sass` and `code` give their text, NULL: no text. */
static void hot_fill(
	struct evidence_hot *h, const struct msg_stalls *kernel, const struct sass *sass, const struct sass_function *code)
{
	*h = (struct evidence_hot){ .samples = kernel->samples };
	for (int i = 0; i < kernel->n; i++) {
		int at = h->n;
		while (at > 0 && h->line[at - 1].stall.samples < kernel->line[i].samples)
			at--;
		if (at == EVIDENCE_HOT_MAX)
			continue;
		int moved = (h->n < EVIDENCE_HOT_MAX ? h->n : EVIDENCE_HOT_MAX - 1) - at;
		memmove(&h->line[at + 1], &h->line[at], (size_t)moved * sizeof h->line[0]);
		h->line[at].stall = kernel->line[i];
		h->n += h->n < EVIDENCE_HOT_MAX;
	}
	for (int i = 0; i < h->n; i++)
		snprintf(h->line[i].text, sizeof h->line[i].text, "%.95s", text_at(sass, code, h->line[i].stall.offset));
}

/* ---- difference ---- */

enum { HUNK_LINES = 400, HUNKS_BYTES_MAX = 256 << 10 };

static const enum evidence_code words[] = {
	[SASSDIFF_SAME] = EVIDENCE_CODE_SAME,
	[SASSDIFF_RENAMED] = EVIDENCE_CODE_RENAMED,
	[SASSDIFF_RESCHEDULED] = EVIDENCE_CODE_RESCHEDULED,
	[SASSDIFF_CHANGED] = EVIDENCE_CODE_CHANGED,
	[SASSDIFF_DIFFERS] = EVIDENCE_CODE_DIFFERS,
	[SASSDIFF_ADDED] = EVIDENCE_CODE_ADDED,
	[SASSDIFF_REMOVED] = EVIDENCE_CODE_REMOVED,
};

static int name_symbols(struct difference *d, int side, const struct modulecode *m, struct fw_err *err)
{
	d->symbol[side] = calloc(m->n + 1, sizeof *d->symbol[side]);
	if (!d->symbol[side])
		return err_set(err, ERR_INTERNAL, "out of memory for %zu symbols", m->n);
	for (size_t i = 0; i < m->n; i++)
		hash_hex(m->function[i].symbol, strlen(m->function[i].symbol), d->symbol[side][i]);
	return 0;
}

int difference_open(struct difference *d, const struct bench *b, struct fw_err *err)
{
	char base[40], target[40];
	struct fw_err unread = { 0 };
	*d = (struct difference){ 0 };
	snprintf(base, sizeof base, "/proc/self/fd/%d", b->side[b->base].fd);
	snprintf(target, sizeof target, "/proc/self/fd/%d", b->side[b->target].fd);
	if (sassdiff_make(&d->diff, base, target, b->sandbox, &unread) != 0) {
		if (unread.code == ERR_INTERNAL || unread.code == ERR_FULL)
			return err_set(err, unread.code, "%s", unread.text);
		snprintf(d->note, sizeof d->note, "the modules hold no device code that can be read here");
		return 0;
	}
	snprintf(d->note, sizeof d->note, "%.399s", d->diff.note);
	d->is_there = true;
	return name_symbols(d, 0, d->diff.base, err) == 0 && name_symbols(d, 1, d->diff.target, err) == 0 ? 0 : -1;
}

void difference_close(struct difference *d)
{
	sassdiff_fini(&d->diff);
	free(d->symbol[0]);
	free(d->symbol[1]);
	*d = (struct difference){ 0 };
}

struct launched {
	const struct msg_kernel *kernel;
	const struct modulecode_function *function; /* NULL: not found in its module */
	bool is_reported;
};

static int list_launched(const struct difference *d, const struct buffered_cell *c, int side, struct launched *out)
{
	const struct buffered_process *p = &c->process[side][0];
	const struct modulecode *m = side ? d->diff.target : d->diff.base;
	int n = 0;
	for (int i = 0; i < p->n; i++) {
		const struct msg_kernel *k = &p->kernel[i];
		bool seen = !k->symbol_sha256[0];
		for (int j = 0; j < n && !seen; j++)
			seen = strcmp(out[j].kernel->symbol_sha256, k->symbol_sha256) == 0;
		if (seen)
			continue;
		out[n] = (struct launched){ .kernel = k };
		for (size_t f = 0; d->is_there && f < m->n && !out[n].function; f++)
			if (m->function[f].sm == k->sm && strcmp(d->symbol[side][f], k->symbol_sha256) == 0)
				out[n].function = &m->function[f];
		n++;
	}
	return n;
}

static struct evidence_takes takes_of(const struct launched *l)
{
	if (!l)
		return (struct evidence_takes){ -1, -1, -1, -1 };
	struct evidence_takes t = { l->kernel->registers > 0 ? l->kernel->registers : -1, l->kernel->local_bytes,
		l->kernel->shared_bytes, l->kernel->ctas_per_sm > 0 ? l->kernel->ctas_per_sm : -1 };
	if (l->function && l->function->resources.registers >= 0)
		t.registers = l->function->resources.registers;
	return t;
}

static bool is_plain(const char *opcode)
{
	return strspn(opcode, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:+") == strlen(opcode);
}

/* Write the hunks with the notes of each line, cut after a whole line. */
static void put_hunks(const struct sassdiff_pair *p, struct hot_sides *notes, char out[EVIDENCE_HUNKS_MAX + 1])
{
	struct buf text;
	buf_init(&text, HUNKS_BYTES_MAX);
	sassdiff_print_hunks(p, HUNK_LINES, hot_note, notes, &text);
	size_t n = text.len;
	while (n > EVIDENCE_HUNKS_MAX || (n > 0 && n < text.len && text.data[n - 1] != '\n'))
		n--;
	memcpy(out, text.data, n);
	out[n] = '\0';
	buf_fini(&text);
}

/* Write the instructions of one side's kernel with the most stalls. Rarely sampled kernels are not disassembled. */
static const struct msg_stalls *put_hot(struct difference *d, const struct buffered_cell *c, const struct sassdiff_pair *p,
	const struct launched *l, int side, struct evidence_hot *out)
{
	const struct buffered_stalls *all = &c->stalls[side];
	const struct msg_stalls *s = l ? hot_find(all, l->kernel->symbol_sha256) : NULL;
	const struct sass *sass = p ? p->sass[side] : NULL;
	const struct sass_function *code = p ? p->code[side] : NULL;
	char nvdisasm[4096];
	struct fw_err unread = { 0 };
	if (!s)
		return NULL;
	if (!sass && l->function && hot_matters(all, s) && cudatool_find("nvdisasm", nvdisasm, sizeof nvdisasm) &&
		modulecode_sass(side ? d->diff.target : d->diff.base, l->function, nvdisasm, &sass, &code, &unread) != 0)
		sass = NULL;
	hot_fill(out, s, sass, code);
	return s;
}

static int send_pair(struct difference *d, struct bench *b, const struct buffered_cell *c, const struct sassdiff_pair *p,
	const struct launched *base, const struct launched *target, enum evidence_code what, struct fw_err *err)
{
	struct msg m = { .t = MSG_CODE };
	struct hot_sides notes;
	m.u.code = mem_alloc_zero(1, sizeof *m.u.code);
	m.u.code->cell = c->cell;
	m.u.code->what = what;
	snprintf(m.u.code->base, sizeof m.u.code->base, "%s", base ? base->kernel->kernel : "");
	snprintf(m.u.code->target, sizeof m.u.code->target, "%s", target ? target->kernel->kernel : "");
	m.u.code->base_takes = takes_of(base);
	m.u.code->target_takes = takes_of(target);
	for (size_t i = 0; p && p->sass[0] && i < p->delta.n_opcodes && m.u.code->n_opcodes < EVIDENCE_OPCODES_MAX; i++) {
		const struct sassdelta_opcode *o = &p->delta.opcode[i];
		if (strlen(o->opcode) >= sizeof m.u.code->opcode[0].opcode || !is_plain(o->opcode))
			continue;
		snprintf(m.u.code->opcode[m.u.code->n_opcodes].opcode, sizeof m.u.code->opcode[0].opcode, "%s", o->opcode);
		m.u.code->opcode[m.u.code->n_opcodes].base = (int)o->base;
		m.u.code->opcode[m.u.code->n_opcodes++].target = (int)o->target;
	}
	notes.of[0] = put_hot(d, c, p, base, 0, &m.u.code->hot[0]);
	notes.of[1] = put_hot(d, c, p, target, 1, &m.u.code->hot[1]);
	if (p && p->sass[0])
		put_hunks(p, &notes, m.u.code->hunks);
	int result = bench_send(b, &m, err);
	msg_fini(&m);
	return result;
}

static struct launched *launched_as(struct launched *list, int n, const struct modulecode_function *f)
{
	for (int i = 0; i < n; i++)
		if (f && list[i].function == f)
			return &list[i];
	return NULL;
}

static int send_same_names(struct difference *d, struct bench *b, const struct buffered_cell *c, struct launched *base,
	int n_base, struct launched *target, int n_target, struct fw_err *err)
{
	for (size_t i = 0; i < d->diff.n; i++) {
		const struct sassdiff_pair *p = &d->diff.pair[i];
		struct launched *x = launched_as(base, n_base, p->base), *y = launched_as(target, n_target, p->target);
		if (!x || !y)
			continue;
		x->is_reported = y->is_reported = true;
		if (send_pair(d, b, c, p, x, y, words[p->verdict], err) != 0)
			return -1;
	}
	return 0;
}

/* Return whether both have the same base name: "void forward<128>(job)" and "void forward<64>(job)". */
static bool has_name_of(const struct launched *a, const struct launched *b)
{
	size_t n = strcspn(a->kernel->kernel, "<("), m = strcspn(b->kernel->kernel, "<(");
	return n == m && memcmp(a->kernel->kernel, b->kernel->kernel, n) == 0;
}

static void compare_instructions(struct difference *d, struct sassdiff_pair *p)
{
	static const enum sassdiff_verdict verdicts[] = { [SASSDELTA_RENAMED] = SASSDIFF_RENAMED,
		[SASSDELTA_RESCHEDULED] = SASSDIFF_RESCHEDULED,
		[SASSDELTA_CHANGED] = SASSDIFF_CHANGED };
	char nvdisasm[4096];
	struct fw_err unread = { 0 };
	if (!cudatool_find("nvdisasm", nvdisasm, sizeof nvdisasm) ||
		modulecode_sass(d->diff.base, p->base, nvdisasm, &p->sass[0], &p->code[0], &unread) != 0 ||
		modulecode_sass(d->diff.target, p->target, nvdisasm, &p->sass[1], &p->code[1], &unread) != 0 ||
		sassdelta_make(&p->delta, p->sass[0], p->code[0], p->sass[1], p->code[1], &unread) != 0) {
		p->sass[0] = p->sass[1] = NULL;
		return;
	}
	p->verdict = verdicts[p->delta.kind];
}

static int send_other_names(struct difference *d, struct bench *b, const struct buffered_cell *c, struct launched *base,
	int n_base, struct launched *target, int n_target, struct fw_err *err)
{
	for (int i = 0; i < n_base; i++) {
		struct launched *x = &base[i], *y = NULL;
		for (int j = 0; j < n_target && !x->is_reported && !y; j++)
			if (!target[j].is_reported && has_name_of(x, &target[j]))
				y = &target[j];
		if (x->is_reported || !y)
			continue;
		x->is_reported = y->is_reported = true;
		struct sassdiff_pair p = { .verdict = SASSDIFF_DIFFERS, .base = x->function, .target = y->function };
		if (p.base && p.target && strcmp(p.base->code_sha256, p.target->code_sha256) == 0)
			p.verdict = SASSDIFF_SAME;
		else if (p.base && p.target)
			compare_instructions(d, &p);
		int result = send_pair(d, b, c, &p, x, y, words[p.verdict], err);
		sassdelta_fini(&p.delta);
		if (result != 0)
			return -1;
	}
	return 0;
}

int difference_send(struct difference *d, struct bench *b, const struct buffered_cell *c, struct fw_err *err)
{
	struct launched *base = mem_alloc_zero(EVIDENCE_KERNELS_MAX, sizeof *base),
			*target = mem_alloc_zero(EVIDENCE_KERNELS_MAX, sizeof *target);
	int n_base = list_launched(d, c, 0, base), n_target = list_launched(d, c, 1, target);
	int result = send_same_names(d, b, c, base, n_base, target, n_target, err);
	if (result == 0)
		result = send_other_names(d, b, c, base, n_base, target, n_target, err);
	for (int i = 0; i < n_base && result == 0; i++)
		if (!base[i].is_reported)
			result = send_pair(d, b, c, NULL, &base[i], NULL, EVIDENCE_CODE_REMOVED, err);
	for (int i = 0; i < n_target && result == 0; i++)
		if (!target[i].is_reported)
			result = send_pair(d, b, c, NULL, NULL, &target[i], EVIDENCE_CODE_ADDED, err);
	free(base);
	free(target);
	return result;
}
