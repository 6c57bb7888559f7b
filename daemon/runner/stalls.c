/* stalls.c - stall samples of a call. Records name a kernel by the hash of its symbol, by which the worker finds its code. */
#include "runner/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/lib.h"

enum { CALLS = 20, INSTRUCTION_BYTES = 16 };

/* Long calls are sampled fewer times: each gives enough samples. */
#define ENOUGH_MS 1000.0

static int sample(const struct stalls_call *c, struct sampler *s, struct failure *f, struct fw_err *err)
{
	double sum_ms = 0;
	for (int call = 0; call < CALLS && (call == 0 || sum_ms < ENOUGH_MS); call++, sum_ms += c->call_ms) {
		if (settle_state(c->runner, c->subject, f) != 0)
			return -1;
		runner_at(c->runner, c->i, c->subject, "sample");
		if (sampler_begin(s, err) != 0)
			return -1;
		if (subject_timed(c->subject, f) != 0 || subject_wait(c->subject, f) != 0)
			return -1;
		if (sampler_end(s, err) != 0)
			return -1;
	}
	return 0;
}

static int clip(unsigned long long n)
{
	return n < INT32_MAX ? (int)n : INT32_MAX;
}

/* "selected" only leads if no other reason was sampled: such a warp does not wait. */
static struct evidence_stall stall_of(const struct sampler *s, const uint32_t *count, size_t at)
{
	struct evidence_stall e = { .offset = (uint32_t)(at * INSTRUCTION_BYTES) };
	unsigned long long sum = 0;
	size_t lead = s->reasons;
	for (size_t r = 0; r < s->reasons; r++) {
		sum += count[r];
		bool waits = strcmp(s->reason[r], "selected") != 0;
		bool lead_waits = lead < s->reasons && strcmp(s->reason[lead], "selected") != 0;
		if (count[r] && (lead == s->reasons || (waits && (!lead_waits || count[r] > count[lead]))))
			lead = r;
	}
	e.samples = clip(sum);
	if (lead < s->reasons) {
		snprintf(e.reason, sizeof e.reason, "%s", s->reason[lead]);
		e.of_reason = clip(count[lead]);
	}
	return e;
}

/* Drop the least sampled instructions of very long kernels. */
static int send_record(const struct stalls_call *c, const struct sampler *s, const struct sampler_function *f, struct fw_err *err)
{
	struct msg_stalls m = { .cell = c->runner->run->index[c->i], .role = c->subject->role, .samples = (long long)f->samples };
	struct evidence_stall *line = calloc(f->n + 1, sizeof *line);
	int n = 0;
	if (!line)
		return err_set(err, ERR_FULL, "no memory for samples of %zu instructions", f->n);
	for (size_t at = 0; at < f->n; at++) {
		struct evidence_stall e = stall_of(s, &f->count[at * s->reasons], at);
		if (e.samples > 0)
			line[n++] = e;
	}
	for (int least = 2; n > EVIDENCE_STALLS_MAX; least *= 2) {
		int to = 0;
		for (int i = 0; i < n; i++)
			if (line[i].samples >= least)
				line[to++] = line[i];
		n = to;
	}
	hash_hex(f->symbol, strlen(f->symbol), m.symbol_sha256);
	m.n = n;
	m.line = line;
	record_stalls(c->runner->records, &m);
	free(line);
	return 0;
}

static bool is_launched(const struct launched *l, const char *symbol)
{
	char sha[HASH_HEX];
	hash_hex(symbol, strlen(symbol), sha);
	for (int k = 0; k < l->n; k++)
		if (strcmp(l->node[k].symbol_sha256, sha) == 0)
			return true;
	return false;
}

int stalls_take(const struct stalls_call *c, struct failure *f, struct fw_err *err)
{
	struct runner *r = c->runner;
	struct sampler s = { 0 };
	int driver_index = 0, reported = 0;
	void *context = r->ops->context ? r->ops->context(r->dev, &driver_index) : NULL;
	if (!context)
		return err_set(err, ERR_UNSUPPORTED, "device %s has no counters", device_kind_name(r->ops->kind));
	runner_at(r, c->i, c->subject, "sample");
	int result = sampler_open(&s, context, err);
	if (result == 0)
		result = sample(c, &s, f, err);
	for (size_t i = 0; i < s.n && result == 0; i++)
		if (s.function[i].samples && is_launched(c->kernels, s.function[i].symbol)) {
			result = send_record(c, &s, &s.function[i], err);
			reported++;
		}
	if (result == 0 && reported == 0)
		result = err_set(err, ERR_UNSUPPORTED, "no warp of the call's kernels was sampled");
	if (!f->lost) /* a lost context returns nothing */
		sampler_close(&s);
	return result;
}
