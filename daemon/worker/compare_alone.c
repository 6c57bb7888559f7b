/* compare_alone.c - comparison of two shared objects without a daemon. */
#include "worker/internal.h"

enum { EXIT_REGRESSION = 3, EXIT_UNDECIDED = 7 };

struct progress {
	const struct bench *bench;
	bool shown;
	int run;
};

static int on_record(void *arg, const struct msg *m, struct fw_err *err)
{
	struct progress *p = arg;
	const struct msg_at *at = &m->u.at;

	(void)err;
	if (m->t == MSG_RUN)
		p->run = m->u.run->run;
	if (m->t == MSG_FAULT && strcmp(m->u.fault.failure, "lost") == 0)
		fprintf(stderr, "%snote: device: %s\n", p->shown ? "\r\033[K" : "", m->u.fault.detail);
	if (m->t == MSG_NOTE)
		fprintf(stderr, "%snote: %s%s%s\n", p->shown ? "\r\033[K" : "", role_name(m->u.note.role),
			m->u.note.role != ROLE_NONE ? ": " : "", m->u.note.text);
	if (!p->shown || m->t != MSG_AT || at->cell < 0 || at->cell >= p->bench->n_cells)
		return 0;
	if (p->run)
		fprintf(stderr, "\r\033[Krun %d: %s %s", p->run, at->step, p->bench->cells[at->cell].key);
	else
		fprintf(stderr, "\r\033[Kcheck of %s: %s", role_name(at->role), p->bench->cells[at->cell].key);
	return 0;
}

/* Derive the seed from the arguments, so that equal arguments give equal inputs. */
static uint64_t seed_of(const struct bench *b)
{
	uint64_t seed = 0;
	int i;

	for (i = 0; i < 16; i++)
		seed = inputs_mix(seed ^ (uint64_t)b->side[b->base].sha256[i] << 8 ^ (uint64_t)b->side[b->target].sha256[i]);
	return seed;
}

static int status_of(const struct bench *b)
{
	enum verdict v = report_verdict(b);

	if (v == VERDICT_REGRESSION)
		return EXIT_REGRESSION;
	if (v == VERDICT_UNDECIDED || verdict_is_absence(v))
		return EXIT_UNDECIDED;
	return v == VERDICT_FAILED || v == VERDICT_REJECTED || v == VERDICT_NOT_COMPARABLE || v == VERDICT_NONE;
}

static int compare(struct bench *b, const struct two_modules_options *o, const char *suite, void *arg, struct fw_err *err)
{
	struct progress *progress = arg;
	int status = 0;

	progress->bench = b;
	b->quick = o->quick;
	if (o->quick) {
		b->rule.runs_max = 1;
		b->rule.confirm = false;
	}
	if (o->budget_s > 0)
		b->limits.budget_s = o->budget_s;
	if (!bench_identical(b)) {
		b->seed = seed_of(b);
		status = acceptance_run(b, err);
		if (status == 0)
			status = measure_run(b, err);
	}
	if (progress->shown)
		fputs("\r\033[K", stderr);
	if (status != 0)
		return status;
	return (o->json ? report_json : report_text)(b, suite, stdout) < 0 ? err_sys(err, "standard output") : status_of(b);
}

int compare_alone_run(const struct two_modules_options *o, struct fw_err *err)
{
	struct progress progress = { .shown = isatty(STDERR_FILENO) };

	return two_modules_run(o, &(struct two_modules_task){ compare, on_record, &progress }, err);
}
