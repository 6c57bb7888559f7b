/* profile_alone.c - a profile without a daemon: a few cells at a time, as in a job, each printed when complete. */
#include "worker/internal.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/lib.h"

enum { PROBE_MS = 30000 };

struct sink {
	const struct bench *bench;
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
	if (profile_report_take(&s->report, m, err) != 0)
		return -1;
	if (m->t != MSG_PROFILE)
		return 0;
	profile_report_print(&s->report, s->bench->cells[m->u.profile.cell].key, &s->line);
	profile_report_clear(&s->report);
	return flush(s, err);
}

/* `arg`: the best path to try. */
static int run(const struct two_modules_options *o, const struct suite *suite, const struct sandbox *sandbox,
	const struct msg_device *device, void *arg, struct fw_err *err)
{
	const enum evidence_path *path = arg;
	struct peer alone;
	struct bench b;
	struct sink sink = { .bench = &b, .as_json = o->json, .shown = isatty(STDERR_FILENO) };
	int result;

	if (bench_init(&b, suite->cell, suite->n_cells, err) != 0)
		return -1;
	peer_init(&alone, -1, -1);
	buf_init(&sink.line, 4 << 20);
	b.peer = &alone;
	b.sandbox = sandbox;
	b.device = *device;
	b.emit = on_record;
	b.emit_arg = &sink;
	b.seed = 1;
	rule_default(&b.rule, suite->n_cells);
	b.limits = (struct msg_limits){ .check_s = 900, .run_s = 600, .wait_s = 600, .budget_s = suite->budget_s };
	result = two_modules_add(&b, o, err);
	for (int from = 0; from < suite->n_cells && result == 0; from += EVIDENCE_CELLS_MAX) {
		int list[EVIDENCE_CELLS_MAX], n = 0;

		while (n < EVIDENCE_CELLS_MAX && from + n < suite->n_cells) {
			list[n] = from + n;
			n++;
		}
		result = profile_run(&b, list, n, *path, err);
	}
	profile_report_clear(&sink.report);
	buf_fini(&sink.line);
	bench_fini(&b);
	peer_fini(&alone);
	return result;
}

int profile_alone_run(const struct two_modules_options *o, enum evidence_path path, struct fw_err *err)
{
	return two_modules_run(o, run, &path, err);
}

static int request_runner(const struct sandbox *sandbox, const struct msg_device *device, struct buf *said, struct fw_err *err)
{
	struct sandbox_argv *v = malloc(sizeof *v);
	char runner[PATH_MAX], errors_text[200], name[32];
	struct buf errors;
	struct proc_exit how;
	int result = -1;

	if (!v)
		return err_set(err, ERR_INTERNAL, "out of memory");
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
		result = proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, said, &errors, PROBE_MS, &how, err);
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
	struct buf said;
	int result = -1;

	buf_init(&said, PROTOCOL_LINE_MAX);
	if (sandbox_open(&sandbox, o->sandbox, err) == 0 && hardware_hello(&sandbox, o->sandbox, o->device, "", &hello, err) == 0)
		device = hardware_find(&hello, o->device, err);
	if (device)
		result = request_runner(&sandbox, device, &said, err);
	if (result == 0 && (fwrite(said.data, 1, said.len, stdout) != said.len || fflush(stdout) != 0))
		result = err_sys(err, "standard output");
	buf_fini(&said);
	return result;
}
