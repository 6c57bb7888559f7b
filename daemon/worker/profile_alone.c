/* profile_alone.c - a profile without a daemon: a few cells at a time, as in a job; each cell is printed when complete. */
#include "worker/internal.h"

#include <math.h>

/*
 * ---- profile_report ----
 * Text of a profile. It shows means of the two processes of a side, and marks a difference that exceeds the one between equal
 * processes.
 */

enum { WIDTH = 44, HUNK_LINES = 40, HOT_LINES = 5, TRIED_SHOWN = 8 };

/* Minimum ratio of the difference between sides to the difference within a side. */
#define SEPARATE 3.0

static void profile_report_take(struct profile_report *r, const struct msg *m)
{
	if (m->t == MSG_KERNEL) {
		r->kernel = mem_grow(r->kernel, (size_t)r->n_kernels + 1, sizeof *r->kernel);
		struct msg_kernel *k = &r->kernel[r->n_kernels++];
		*k = m->u.kernel;
		k->value = mem_alloc_zero((size_t)k->n_values + 1, sizeof *k->value);
		if (k->n_values)
			memcpy(k->value, m->u.kernel.value, (size_t)k->n_values * sizeof *k->value);
	} else if (m->t == MSG_CODE) {
		r->code = mem_grow(r->code, (size_t)r->n_codes + 1, sizeof *r->code);
		r->code[r->n_codes++] = *m->u.code;
	} else if (m->t == MSG_COUNTERFACTUAL) {
		r->has_swap = true;
		r->swap = m->u.counterfactual;
	} else if (m->t == MSG_PROFILE) {
		r->end = m->u.profile;
	}
}

/* Free all records. Accepts zeros. */
static void profile_report_clear(struct profile_report *r)
{
	for (int i = 0; i < r->n_kernels; i++)
		free(r->kernel[i].value);
	free(r->kernel);
	free(r->code);
	*r = (struct profile_report){ 0 };
}

static void show(struct buf *out, const char *text, int width)
{
	size_t before = out->len;
	utf8_show(out, text, strlen(text) > WIDTH && width ? WIDTH : strlen(text), "");
	for (size_t n = out->len - before; n < (size_t)width; n++)
		buf_putc(out, ' ');
}

static const struct msg_kernel *kernel_of(const struct profile_report *r, enum role role, int repeat, int n)
{
	for (int i = 0; i < r->n_kernels; i++)
		if (r->kernel[i].role == role && r->kernel[i].repeat == repeat && r->kernel[i].n == n)
			return &r->kernel[i];
	return NULL;
}

static double value_of(const struct msg_kernel *k, const char *metric)
{
	for (int i = 0; k && i < k->n_values; i++)
		if (strcmp(k->value[i].metric, metric) == 0)
			return k->value[i].value;
	return NAN;
}

static double ms_of(const struct profile_report *r, enum role role, int n)
{
	double sum = 0;
	for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++) {
		const struct msg_kernel *k = kernel_of(r, role, repeat, n);
		if (!k || k->ms < 0)
			return NAN;
		sum += k->ms / EVIDENCE_REPEATS;
	}
	return sum;
}

static void print_number(struct buf *out, double v, int width)
{
	if (isnan(v))
		buf_printf(out, " %*s", width, "-");
	else
		buf_printf(out, " %*.5g", width, v);
}

static void print_kernels(const struct profile_report *r, struct buf *out)
{
	buf_printf(out, "%-*s %-7s %10s %9s %9s %9s %7s\n", WIDTH, "kernel", "side", "ms", "registers", "local B", "shared B",
		"CTAs/SM");
	for (int s = 0; s < 2; s++) {
		enum role role = s ? ROLE_TARGET : ROLE_BASE;
		for (int i = 0; i < r->n_kernels; i++) {
			const struct msg_kernel *k = &r->kernel[i];
			if (k->role != role || k->repeat != 0)
				continue;
			show(out, k->kernel, WIDTH);
			buf_printf(out, " %-7s", role_name(role));
			print_number(out, ms_of(r, role, k->n), 10);
			buf_printf(out, " %9d %9d %9d %7d\n", k->registers, k->local_bytes, k->shared_bytes, k->ctas_per_sm);
		}
	}
}

struct both {
	double base, target, noise; /* noise: the larger difference within a side */
};

static struct both both_of(const struct profile_report *r, int n_base, int n_target, const char *metric)
{
	double v[2][EVIDENCE_REPEATS];
	for (int s = 0; s < 2; s++)
		for (int repeat = 0; repeat < EVIDENCE_REPEATS; repeat++)
			v[s][repeat] = value_of(kernel_of(r, s ? ROLE_TARGET : ROLE_BASE, repeat, s ? n_target : n_base), metric);
	return (struct both){ (v[0][0] + v[0][1]) / 2, (v[1][0] + v[1][1]) / 2,
		fmax(fabs(v[0][0] - v[0][1]), fabs(v[1][0] - v[1][1])) };
}

static void print_counters(
	const struct profile_report *r, const struct msg_kernel *base, const struct msg_kernel *target, struct buf *out)
{
	int rest = 0;
	buf_putc(out, '\n');
	show(out, target->kernel, 0);
	buf_printf(out, "\n  %-70s %14s %14s %10s\n", "counter", "base", "target", "change");
	for (int m = 0; m < base->n_values; m++) {
		struct both v = both_of(r, base->n, target->n, base->value[m].metric);
		double change = v.target - v.base;
		if (isnan(change) || change == 0 || fabs(change) <= SEPARATE * v.noise) {
			rest++;
			continue;
		}
		buf_printf(out, "  %-70s", base->value[m].metric);
		print_number(out, v.base, 14);
		print_number(out, v.target, 14);
		if (v.base != 0)
			buf_printf(out, " %+8.2f %%", 100 * change / v.base);
		buf_putc(out, '\n');
	}
	buf_printf(out, "  %d counters differ by no more than %g times the difference of equal processes\n", rest, SEPARATE);
}

static void print_all_counters(const struct profile_report *r, struct buf *out)
{
	int used_to = -1;
	for (int i = 0; i < r->n_kernels; i++) {
		const struct msg_kernel *base = &r->kernel[i], *target = NULL;
		if (base->role != ROLE_BASE || base->repeat != 0 || base->n_values == 0)
			continue;
		for (int j = 0; j < r->n_kernels && !target; j++)
			if (r->kernel[j].role == ROLE_TARGET && r->kernel[j].repeat == 0 && r->kernel[j].n > used_to &&
				strcspn(r->kernel[j].kernel, "<(") == strcspn(base->kernel, "<(") &&
				strncmp(r->kernel[j].kernel, base->kernel, strcspn(base->kernel, "<(")) == 0)
				target = &r->kernel[j];
		if (!target)
			continue;
		used_to = target->n;
		print_counters(r, base, target, out);
	}
}

static void print_hunks(const char *text, struct buf *out)
{
	int lines = 0;
	for (; *text && lines < HUNK_LINES; lines++) {
		size_t n = strcspn(text, "\n");
		utf8_show(out, text, n, "\t");
		buf_putc(out, '\n');
		text += n + (text[n] == '\n');
	}
	if (*text)
		buf_puts(out, "  ... --json has more, `flopwatch-worker sassdiff` has all\n");
}

static void print_hot(const struct evidence_hot *h, const char *side, struct buf *out)
{
	for (int i = 0; i < h->n && i < HOT_LINES; i++) {
		const struct evidence_stall *s = &h->line[i].stall;
		buf_printf(
			out, "  %-7s %6.1f %% %6x  %-20s ", side, 100.0 * s->samples / (double)h->samples, s->offset, s->reason);
		show(out, h->line[i].text, 0);
		buf_putc(out, '\n');
	}
}

static void print_code(const struct msg_code *c, struct buf *out)
{
	buf_puts(out, "machine code: ");
	show(out, c->base[0] ? c->base : c->target, 0);
	buf_printf(out, ": %s", evidence_code_names[c->what]);
	for (int i = 0; i < c->n_opcodes; i++) {
		buf_puts(out, i ? ", " : "; ");
		show(out, c->opcode[i].opcode, 0);
		buf_printf(out, " %d>%d", c->opcode[i].base, c->opcode[i].target);
	}
	buf_putc(out, '\n');
	if (c->hot[0].n + c->hot[1].n > 0)
		buf_printf(out, "  %-7s %8s %6s  %-20s %s\n", "side", "samples", "offset", "most wait for", "instruction");
	for (int side = 0; side < 2; side++)
		print_hot(&c->hot[side], side ? "target" : "base", out);
	if (c->what == EVIDENCE_CODE_CHANGED)
		print_hunks(c->hunks, out);
}

static void print_tried(const char *side, const struct tried *t, const char *chosen, struct buf *out)
{
	if (t->n == 0)
		return;
	buf_printf(out, "the %s tried %d configurations:", side, t->of);
	for (int i = 0; i < t->n && i < TRIED_SHOWN; i++) {
		buf_puts(out, i ? ", " : " ");
		show(out, t->config[i].config, 0);
		if (t->config[i].ms > 0)
			buf_printf(out, " %.4g ms", t->config[i].ms);
		if (strcmp(t->config[i].config, chosen) == 0)
			buf_puts(out, " (chosen)");
	}
	buf_puts(out, t->n > TRIED_SHOWN ? ", ...\n" : "\n");
}

/* Print the cell. Call it after the cell's `profile` record arrived. */
static void profile_report_print(const struct profile_report *r, const char *cell, struct buf *out)
{
	const struct msg_profile *end = &r->end;
	buf_printf(out, "%s: ", cell);
	if (end->path == EVIDENCE_RANGE || end->path == EVIDENCE_NCU)
		buf_printf(out, "counted by %s", end->tool);
	else
		buf_puts(out, end->path == EVIDENCE_ACTIVITY ? "timed, not counted" : "not counted");
	if (end->passes)
		buf_printf(out, ", %d replays of a call", end->passes);
	if (end->why[0]) {
		buf_puts(out, ": ");
		show(out, end->why, 0);
	}
	buf_putc(out, '\n');
	if (end->stalls_why[0]) {
		buf_puts(out, "warp stalls are unknown: ");
		show(out, end->stalls_why, 0);
		buf_putc(out, '\n');
	}
	if (strcmp(end->base_config, end->target_config) != 0) {
		buf_puts(out, "configuration: ");
		show(out, end->base_config, 0);
		buf_puts(out, " > ");
		show(out, end->target_config, 0);
		buf_putc(out, '\n');
	}
	print_tried("base", &end->base_tried, end->base_config, out);
	print_tried("target", &end->target_tried, end->target_config, out);
	if (r->has_swap)
		buf_printf(out, "base %.5g ms, target %.5g ms, target with the base's configuration %.5g ms\n", r->swap.base_ms,
			r->swap.target_ms, r->swap.with_ms);
	if (r->n_kernels)
		print_kernels(r, out);
	print_all_counters(r, out);
	if (r->n_codes)
		buf_putc(out, '\n');
	for (int i = 0; i < r->n_codes; i++)
		print_code(&r->code[i], out);
	buf_putc(out, '\n');
}

/* ---- profile_alone ---- */

enum { PROBE_MS = 30000 };

struct sink {
	const struct bench *bench;
	enum evidence_path path; /* the best available path */
	bool as_json, shown;
	struct profile_report report;
	struct buf line;
};

static int flush(struct sink *s, struct fw_err *err)
{
	bool good = !s->line.failed && fwrite(s->line.data, 1, s->line.len, stdout) == s->line.len && fflush(stdout) == 0;

	buf_clear(&s->line);
	return good ? 0 : err_sys(err, "standard output");
}

static int on_record(void *arg, const struct msg *m, struct fw_err *err)
{
	struct sink *s = arg;
	const struct msg_at *at = &m->u.at;

	if (m->t == MSG_AT && s->shown && at->cell >= 0 && at->cell < s->bench->n_cells)
		fprintf(stderr, "\r\033[K%s of %s: %s", at->step, role_name(at->role), s->bench->cells[at->cell].key);
	if (m->t == MSG_NOTE)
		fprintf(stderr, "%snote: %s%s%s\n", s->shown ? "\r\033[K" : "", role_name(m->u.note.role),
			m->u.note.role != ROLE_NONE ? ": " : "", m->u.note.text);
	if (m->t == MSG_FAULT)
		fprintf(stderr, "%snote: %s: %s\n", s->shown ? "\r\033[K" : "", role_name(m->u.fault.role), m->u.fault.detail);
	if (m->t != MSG_KERNEL && m->t != MSG_CODE && m->t != MSG_COUNTERFACTUAL && m->t != MSG_PROFILE)
		return 0;
	if (s->shown)
		fputs("\r\033[K", stderr);
	if (s->as_json) {
		protocol_write(&s->line, m);
		return flush(s, err);
	}
	profile_report_take(&s->report, m);
	if (m->t != MSG_PROFILE)
		return 0;
	profile_report_print(&s->report, s->bench->cells[m->u.profile.cell].key, &s->line);
	profile_report_clear(&s->report);
	return flush(s, err);
}

static int run(struct bench *b, const struct two_modules_options *o, const char *suite, void *arg, struct fw_err *err)
{
	struct sink *s = arg;
	int result = 0;

	(void)o;
	(void)suite;
	s->bench = b;
	b->seed = 1;
	for (int from = 0; from < b->n_cells && result == 0; from += EVIDENCE_CELLS_MAX) {
		int list[EVIDENCE_CELLS_MAX], n = 0;

		for (; n < EVIDENCE_CELLS_MAX && from + n < b->n_cells; n++)
			list[n] = from + n;
		result = profile_run(b, list, n, s->path, err);
	}
	return result;
}

int profile_alone_run(const struct two_modules_options *o, enum evidence_path path, struct fw_err *err)
{
	struct sink sink = { .path = path, .as_json = o->json, .shown = isatty(STDERR_FILENO) };
	int result;

	buf_init(&sink.line, 4 << 20);
	result = two_modules_run(o, &(struct two_modules_task){ run, on_record, &sink }, err);
	profile_report_clear(&sink.report);
	buf_fini(&sink.line);
	return result;
}

static int request_runner(const struct sandbox *sandbox, const struct msg_device *device, struct buf *output, struct fw_err *err)
{
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	char runner[PATH_MAX], errors_text[200], name[32];
	struct buf errors;
	struct proc_exit how;
	int result = -1;

	buf_init(&errors, 4096);
	snprintf(name, sizeof name, "%s:%d", device_kind_name(device->kind), device->index);
	if (proc_sibling("flopwatch-runner", runner, sizeof runner, err) == 0) {
		sandbox_count(sandbox, v, runner, device->kind == DEVICE_CUDA);
		sandbox_arg(v, "--counters");
		sandbox_arg(v, "--device");
		sandbox_arg(v, name);
		result = sandbox_end(v, err);
	}
	if (result == 0)
		result = proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, output, &errors, PROBE_MS, &how, err);
	snprintf(errors_text, sizeof errors_text, "%.*s", (int)strcspn(errors.data, "\n"), errors.data);
	if (result == 0 && how.timed_out)
		result = err_set(err, ERR_TIMEOUT, "counting one kernel did not end within %d s", PROBE_MS / 1000);
	else if (result == 0 && how.status != 0)
		result = err_set(
			err, ERR_IO, "%s --counters: %s", runner, errors_text[0] ? errors_text : "failed without a message");
	buf_fini(&errors);
	free(v);
	return result;
}

int profile_alone_probe(const struct two_modules_options *o, struct fw_err *err)
{
	const struct msg_device *device = NULL;
	struct sandbox sandbox;
	struct msg_hello hello;
	struct buf output;
	int result = -1;

	buf_init(&output, PROTOCOL_LINE_MAX);
	if (sandbox_open(&sandbox, o->sandbox, err) == 0 && hardware_hello(&sandbox, o->sandbox, o->device, "", &hello, err) == 0)
		device = hardware_find(&hello, o->device, err);
	if (device)
		result = request_runner(&sandbox, device, &output, err);
	if (result == 0 && (fwrite(output.data, 1, output.len, stdout) != output.len || fflush(stdout) != 0))
		result = err_sys(err, "standard output");
	buf_fini(&output);
	return result;
}
