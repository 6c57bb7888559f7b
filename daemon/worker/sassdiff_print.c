/*
 * sassdiff_print.c - text and JSON of a comparison. Numbers that differ are printed as "before>after". Symbols and instructions
 * come from branch code and are untrusted text.
 */
#include "worker/internal.h"

enum { OPCODES_MAX = 12, HUNK_LINES_MAX = 300, CELL_BYTES = 48, NOTE_COLUMN = 76, NEAR = 8 };

static const struct modulecode_function *either(const struct sassdiff_pair *p)
{
	return p->target ? p->target : p->base;
}

static void show(struct buf *out, const char *text)
{
	utf8_show(out, text, strlen(text), "");
}

enum column { REGISTERS, SHARED, STACK, CODE, CTAS, INSTRUCTIONS, COLUMNS };

static int64_t value(const struct sassdiff_pair *p, int side, enum column c)
{
	const struct modulecode_function *f = side ? p->target : p->base;
	struct occupancy o;
	if (!f)
		return -1;
	switch (c) {
	case REGISTERS:
		return f->resources.registers;
	case SHARED:
		return f->resources.shared_bytes;
	case STACK:
		return f->resources.stack_bytes;
	case CODE:
		return f->resources.code_bytes;
	case CTAS:
		return f->resources.is_kernel && occupancy_of(f->sm, &f->resources, &o) ? o.ctas : -1;
	default:
		return p->sass[0] ? (int64_t)p->code[side]->n : -1;
	}
}

static void figure_text(int64_t v, char text[CELL_BYTES])
{
	if (v < 0)
		snprintf(text, CELL_BYTES, "-");
	else
		snprintf(text, CELL_BYTES, "%lld", (long long)v);
}

static void cell(struct buf *out, const struct sassdiff_pair *p, enum column c, int width)
{
	char before[CELL_BYTES], after[CELL_BYTES], both[2 * CELL_BYTES + 2];
	figure_text(value(p, 0, c), before);
	figure_text(value(p, 1, c), after);
	if (!p->base || !p->target || strcmp(before, after) == 0)
		snprintf(both, sizeof both, "%s", p->target ? after : before);
	else
		snprintf(both, sizeof both, "%s>%s", before, after);
	buf_printf(out, " %*s", width, both);
}

static void print_table(const struct sassdiff *d, struct buf *out)
{
	static const char *const heads[COLUMNS] = { "registers", "shared B", "stack B", "code B", "CTAs/SM", "instructions" };
	buf_printf(out, "%-11s", "verdict");
	for (int c = 0; c < COLUMNS; c++)
		buf_printf(out, " %13s", heads[c]);
	buf_puts(out, "  function\n");
	for (size_t i = 0; i < d->n; i++) {
		const struct sassdiff_pair *p = &d->pair[i];
		buf_printf(out, "%-11s", sassdiff_verdict_name(p->verdict));
		for (int c = 0; c < COLUMNS; c++)
			cell(out, p, (enum column)c, 13);
		buf_printf(out, "  sm_%d ", either(p)->sm);
		show(out, either(p)->symbol);
		buf_puts(out, either(p)->resources.is_kernel ? "\n" : " (only called)\n");
	}
}

static const struct sass_instruction *instruction(const struct sassdiff_pair *p, int side, size_t i)
{
	return &p->sass[side]->instruction[p->code[side]->first + i];
}

struct diff_lines {
	const struct sassdiff_pair *pair;
	sassdiff_note_fn *note;
	void *note_arg;
	size_t left;
	struct buf *out;
};

static void print_line(struct diff_lines *l, char sign, int side, size_t i, const char *note)
{
	struct buf *out = l->out;
	const struct sass_instruction *in = instruction(l->pair, side, i);
	size_t begin = out->len;
	buf_printf(out, "  %c %04x  ", sign, in->address);
	show(out, sass_string(l->pair->sass[side], in->text));
	if (note[0]) {
		size_t used = out->len - begin;
		buf_printf(out, "%*s  <- %s", used < NOTE_COLUMN ? (int)(NOTE_COLUMN - used) : 0, "", note);
	}
	buf_putc(out, '\n');
	l->left--;
}

static void request(const struct diff_lines *l, int side, size_t i, char note[SASSDIFF_NOTE_SIZE])
{
	note[0] = '\0';
	if (l->note)
		l->note(l->note_arg, side, instruction(l->pair, side, i)->address, note);
}

static void print_lines(struct diff_lines *l, int side, size_t from, size_t n)
{
	for (size_t i = from; i < from + n && l->left > 0; i++) {
		char note[SASSDIFF_NOTE_SIZE];
		request(l, side, i, note);
		print_line(l, side ? '+' : '-', side, i, note);
	}
}

/* Print the next instructions with notes on both sides, since added or removed instructions make warps wait a little later. */
static void print_near(struct diff_lines *l, size_t base, size_t target, size_t n)
{
	for (size_t i = 0; i < n && i < NEAR && l->left > 0; i++) {
		char note[2][SASSDIFF_NOTE_SIZE], both[2 * SASSDIFF_NOTE_SIZE + 16];
		request(l, 0, base + i, note[0]);
		request(l, 1, target + i, note[1]);
		snprintf(both, sizeof both, "%s, before: %s", note[1][0] ? note[1] : "0 %", note[0][0] ? note[0] : "0 %");
		if (note[0][0] || note[1][0])
			print_line(l, ' ', 1, target + i, both);
	}
}

static void print_opcodes(struct buf *out, const struct sassdelta *d)
{
	if (d->n_opcodes == 0)
		return;
	buf_puts(out, "  opcodes: ");
	for (size_t i = 0; i < d->n_opcodes && i < OPCODES_MAX; i++) {
		buf_puts(out, i ? ", " : "");
		show(out, d->opcode[i].opcode);
		buf_printf(out, " %zu>%zu", d->opcode[i].base, d->opcode[i].target);
	}
	if (d->n_opcodes > OPCODES_MAX)
		buf_printf(out, ", and %zu more", d->n_opcodes - OPCODES_MAX);
	buf_putc(out, '\n');
}

size_t sassdiff_print_hunks(
	const struct sassdiff_pair *p, size_t lines_max, sassdiff_note_fn *note, void *note_arg, struct buf *out)
{
	struct diff_lines l = { .pair = p, .note = note, .note_arg = note_arg, .left = lines_max, .out = out };
	size_t lines = 0;
	if (!p->delta.is_aligned)
		buf_puts(out, "  too different to be compared side by side\n");
	for (size_t i = 0; i < p->delta.n_hunks; i++) {
		const struct sassdelta_hunk *h = &p->delta.hunk[i];
		lines += h->base_n + h->target_n;
		if (l.left == 0)
			continue;
		buf_printf(out, "  @@ -%zu,%zu +%zu,%zu @@\n", h->base_from, h->base_n, h->target_from, h->target_n);
		print_lines(&l, 0, h->base_from, h->base_n);
		print_lines(&l, 1, h->target_from, h->target_n);
		size_t end = i + 1 < p->delta.n_hunks ? h[1].base_from : p->code[0]->n;
		if (note)
			print_near(&l, h->base_from + h->base_n, h->target_from + h->target_n, end - (h->base_from + h->base_n));
	}
	return lines;
}

static void print_pair(struct buf *out, const struct sassdiff_pair *p)
{
	const struct sassdelta *d = &p->delta;
	buf_printf(out, "\nsm_%d ", either(p)->sm);
	show(out, either(p)->symbol);
	buf_printf(out, ": %s", sassdiff_verdict_name(p->verdict));
	if (p->verdict == SASSDIFF_CHANGED)
		buf_printf(out, ", instructions: %zu removed, %zu added", d->removed, d->added);
	buf_putc(out, '\n');
	print_opcodes(out, d);
	size_t lines = sassdiff_print_hunks(p, HUNK_LINES_MAX, NULL, NULL, out);
	if (lines > HUNK_LINES_MAX)
		buf_printf(out, "  and %zu lines more: --json has all\n", lines - HUNK_LINES_MAX);
}

static void sassdiff_print(const struct sassdiff *d, struct buf *out)
{
	print_table(d, out);
	for (size_t i = 0; i < d->n; i++)
		if (d->pair[i].sass[0] && d->pair[i].verdict != SASSDIFF_RENAMED)
			print_pair(out, &d->pair[i]);
	if (d->note[0]) {
		buf_putc(out, '\n');
		show(out, d->note);
		buf_putc(out, '\n');
	}
}

static void side_json(struct jsonw *j, const char *key, const struct sassdiff_pair *p, int side)
{
	const struct modulecode_function *f = side ? p->target : p->base;
	jsonw_key(j, key);
	if (!f) {
		jsonw_null(j);
		return;
	}
	jsonw_object(j);
	jsonw_kv_string(j, "symbol", f->symbol);
	jsonw_kv_string(j, "code_sha256", f->code_sha256);
	resources_json(j, f->sm, &f->resources);
	if (p->sass[0])
		jsonw_kv_int(j, "instructions", (int64_t)p->code[side]->n);
	else
		jsonw_kv_null(j, "instructions");
	jsonw_object_end(j);
}

static void lines_json(struct jsonw *j, const char *key, const struct sassdiff_pair *p, int side, size_t from, size_t n)
{
	jsonw_kv_array(j, key);
	for (size_t i = from; i < from + n; i++) {
		const struct sass_instruction *in = instruction(p, side, i);
		jsonw_object(j);
		jsonw_kv_int(j, "address", in->address);
		jsonw_kv_string(j, "text", sass_string(p->sass[side], in->text));
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void delta_json(struct jsonw *j, const struct sassdiff_pair *p)
{
	const struct sassdelta *d = &p->delta;
	jsonw_kv_int(j, "removed", (int64_t)d->removed);
	jsonw_kv_int(j, "added", (int64_t)d->added);
	jsonw_kv_array(j, "opcodes");
	for (size_t i = 0; i < d->n_opcodes; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "opcode", d->opcode[i].opcode);
		jsonw_kv_int(j, "base", (int64_t)d->opcode[i].base);
		jsonw_kv_int(j, "target", (int64_t)d->opcode[i].target);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_key(j, "hunks");
	if (!d->is_aligned) {
		jsonw_null(j);
		return;
	}
	jsonw_array(j);
	for (size_t i = 0; i < d->n_hunks; i++) {
		const struct sassdelta_hunk *h = &d->hunk[i];
		jsonw_object(j);
		lines_json(j, "base", p, 0, h->base_from, h->base_n);
		lines_json(j, "target", p, 1, h->target_from, h->target_n);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void sassdiff_print_json(const struct sassdiff *d, struct buf *out)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_bool(&j, "same", sassdiff_is_same(d));
	jsonw_kv_string(&j, "note", d->note);
	jsonw_kv_array(&j, "functions");
	for (size_t i = 0; i < d->n; i++) {
		const struct sassdiff_pair *p = &d->pair[i];
		jsonw_object(&j);
		jsonw_kv_string(&j, "verdict", sassdiff_verdict_name(p->verdict));
		jsonw_kv_int(&j, "sm", either(p)->sm);
		jsonw_kv_string(&j, "symbol", either(p)->symbol);
		side_json(&j, "base", p, 0);
		side_json(&j, "target", p, 1);
		if (p->sass[0])
			delta_json(&j, p);
		jsonw_object_end(&j);
	}
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	buf_putc(out, '\n');
}

int sassdiff_show(const char *base, const char *target, bool as_json, struct buf *out, struct fw_err *err)
{
	struct sassdiff d;
	int result = sassdiff_make(&d, base, target, NULL, err);
	if (result == 0) {
		(as_json ? sassdiff_print_json : sassdiff_print)(&d, out);
		result = out->failed ? err_set(err, ERR_FULL, "more than %zu bytes to print", out->max) : sassdiff_is_same(&d);
	}
	sassdiff_fini(&d);
	return result;
}
