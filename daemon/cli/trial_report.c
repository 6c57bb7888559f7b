/* trial_report.c - documented in internal.h. */
#include "cli/internal.h"

#include <math.h>

enum { LOG_LINES = 12, KEY_COLUMNS_MAX = 90 };

bool report_cost(const struct report *r, double *least, double *most)
{
	const struct outcome *o = r->outcome;
	int first = r->rule->programs ? INTERIM_PROGRAMS_MIN : r->rule->runs_ok_min;

	if (o->runs == 0)
		return false;
	*least = o->check_s + first * o->run_s;
	*most = r->budget_s;
	return true;
}

/* The end of a log, where compilers print the cause. */
static void print_tail(const struct buf *log, FILE *out)
{
	const char *at = log->data + log->len;
	int lines = 0;

	while (at > log->data && (at[-1] != '\n' || at == log->data + log->len || lines++ < LOG_LINES))
		at--;
	while (*at) {
		size_t n = strcspn(at, "\n");

		fputs("    ", out);
		for (size_t i = 0; i < n; i++)
			fputc((unsigned char)at[i] >= ' ' && at[i] != 127 ? at[i] : '?', out);
		fputc('\n', out);
		at += n + (at[n] == '\n');
	}
}

static void print_build(const struct report *r, FILE *out)
{
	const struct outcome *o = r->outcome;

	if (!o->build_state[0])
		return;
	if (strcmp(o->build_state, "failed") == 0) {
		fprintf(out, "  build    failed: %s\n", o->build_detail);
		print_tail(&o->log, out);
	} else if (r->tree->manifest.build.n_command == 0) {
		fputs("  build    none\n", out);
	} else if (strcmp(o->build_state, "cached") == 0) {
		fputs("  build    ok, cached\n", out);
	} else {
		fprintf(out, "  build    ok, %.1f s\n", o->build_s);
	}
}

static double tflops_of(const struct outcome_cell *c)
{
	return isfinite(c->flops) && c->flops > 0 ? c->flops / c->ms * 1e-9 : NAN;
}

/* One unit for all cells. */
static struct unit unit_of(const struct outcome *o)
{
	double most = NAN;

	for (int i = 0; i < o->n_cells; i++)
		most = unit_max(most, tflops_of(&o->cell[i]));
	return unit_of_rates(most);
}

/* The time of a call; below 100 ns in ns, as four decimals of a ms would show no digit. */
static void print_time(double ms, FILE *out)
{
	if (ms < 1e-4)
		fprintf(out, "%10.4g ns", ms * 1e6);
	else
		fprintf(out, "%10.4f ms", ms);
}

static void print_cells(const struct outcome *o, FILE *out)
{
	struct unit unit = unit_of(o);
	int width = 4;

	for (int i = 0; i < o->n_cells; i++)
		if ((int)strlen(o->cell[i].key) > width)
			width = (int)strlen(o->cell[i].key);
	width = width > KEY_COLUMNS_MAX ? KEY_COLUMNS_MAX : width;
	for (int i = 0; i < o->n_cells; i++) {
		const struct outcome_cell *c = &o->cell[i];

		fprintf(out, "  %-*s  ", width, c->key);
		if (c->failure[0])
			fprintf(out, "%s%s%s\n", c->failure, *c->detail ? ": " : "", c->detail);
		else if (!isfinite(c->ms))
			fputs("no time\n", out);
		if (c->failure[0] || !isfinite(c->ms))
			continue;
		print_time(c->ms, out);
		if (isfinite(c->bytes))
			fprintf(out, "  %9.4g GB/s", c->bytes / c->ms * 1e-6);
		else if (isfinite(c->flops) && c->flops > 0)
			fprintf(out, "  %9.4g %s", tflops_of(c) * unit.factor, unit.name);
		fputc('\n', out);
	}
}

const char report_turns[] = "interleaved programs: ";

void report_print(const struct report *r, bool is_quiet, FILE *out)
{
	const struct outcome *o = r->outcome;
	int timed, unsupported, failed;
	double least, most;

	outcome_count(o, &timed, &unsupported, &failed);
	fprintf(out, "%s, %s, on %s\n", r->name, r->run ? "a benchmark program" : "modules",
		o->device.name[0] ? o->device.name : device_kind_name(o->device.kind));
	print_build(r, out);
	if (o->n_cells && strcmp(o->build_state, "failed") != 0)
		print_cells(o, out);
	for (int i = 0; i < o->n_faults; i++)
		if (strcmp(o->fault[i].failure, "build") != 0)
			fprintf(out, "  %s: %s\n", o->fault[i].failure, o->fault[i].detail);
	for (int i = 0; i < o->n_notes && !is_quiet; i++)
		if (r->is_long || strncmp(o->note[i], report_turns, sizeof report_turns - 1) != 0)
			fprintf(out, "  note: %s\n", o->note[i]);
	if (o->n_left)
		fprintf(out, "  and %d more faults or notes, which are not shown\n", o->n_left);
	for (int i = 0; i < r->hints->n; i++)
		fprintf(out, "  hint: %s\n", r->hints->text[i]);
	if (!report_cost(r, &least, &most))
		return;
	fprintf(out, "  %d of %d cells have a time", timed, o->n_cells);
	if (!r->is_alone && least > most)
		fprintf(out, "; a comparison needs about %.0f s, more than its budget_s of %.0f s", ceil(least), most);
	else if (!r->is_alone)
		fprintf(out, "; a comparison holds the device for about %.0f s, at most %.0f s", ceil(least), ceil(most));
	fputc('\n', out);
}

void report_add(const struct report *r, struct report_total *t)
{
	int timed, unsupported, failed;
	double least, most;

	outcome_count(r->outcome, &timed, &unsupported, &failed);
	if (timed && report_cost(r, &least, &most)) {
		t->n_cells += timed;
		t->least_s += least;
		t->most_s += most;
	} else {
		t->n_untimed++;
	}
}

/* "120 s", above ten minutes "11 min". Shape: text[size]. */
static const char *duration(double s, char *text, size_t size)
{
	snprintf(text, size, s <= 600 ? "%.0f s" : "%.0f min", s <= 600 ? ceil(s) : ceil(s / 60));
	return text;
}

void report_print_total(const struct report_total *t, FILE *out)
{
	char least[32], most[32];

	if (t->n_cells == 0)
		return;
	fprintf(out, "%d cell%s: %s %s about %s if its runs agree; after %s (budget_s) no further run begins", t->n_cells,
		t->n_cells == 1 ? "" : "s", t->is_part ? "a comparison of them" : "a push",
		t->least_s > t->most_s ? "needs the device for" : "holds the device for",
		duration(t->least_s, least, sizeof least), duration(t->most_s, most, sizeof most));
	if (t->least_s > t->most_s)
		fputs(", so cells remain undecided", out);
	if (t->n_untimed)
		fprintf(out, "; %d other suite%s or benchmark%s without a time", t->n_untimed, t->n_untimed == 1 ? "" : "s",
			t->n_untimed == 1 ? "" : "s");
	fputc('\n', out);
}

static json_t *cells_json(const struct outcome *o)
{
	json_t *list = json_array();

	for (int i = 0; i < o->n_cells; i++) {
		const struct outcome_cell *c = &o->cell[i];
		json_t *one = json_pack("{s:s, s:o, s:o, s:s*, s:s*}", "cell", c->key, "ms",
			isfinite(c->ms) ? json_real(c->ms) : json_null(), "flops",
			isfinite(c->flops) ? json_real(c->flops) : json_null(), "failure", c->failure[0] ? c->failure : NULL,
			"detail", c->detail[0] ? c->detail : NULL);

		json_array_append_new(list, one);
	}
	return list;
}

json_t *report_json(const struct report *r)
{
	const struct outcome *o = r->outcome;
	json_t *notes = json_array(), *hints = json_array(), *faults = json_array();
	double least, most;
	bool is_timed = report_cost(r, &least, &most);

	for (int i = 0; i < o->n_notes; i++)
		json_array_append_new(notes, json_string(o->note[i]));
	for (int i = 0; i < r->hints->n; i++)
		json_array_append_new(hints, json_string(r->hints->text[i]));
	for (int i = 0; i < o->n_faults; i++)
		json_array_append_new(
			faults, json_pack("{s:s, s:s}", "failure", o->fault[i].failure, "detail", o->fault[i].detail));
	json_t *build = json_pack("{s:s, s:f, s:s, s:s}", "state", o->build_state, "duration_s", o->build_s, "detail",
		o->build_detail, "log", o->log.data);

	return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "suite", r->name, "kind",
		r->run ? "program" : "modules", "device", "kind", device_kind_name(o->device.kind), "uuid", o->device.uuid,
		"name", o->device.name, "build", build ? build : json_null(), "cells", cells_json(o), "faults", faults, "notes",
		notes, "hints", hints, "comparison_s", is_timed ? json_real(least) : json_null(), "comparison_max_s",
		is_timed ? json_real(most) : json_null());
}
