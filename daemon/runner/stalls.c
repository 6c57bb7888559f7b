/* stalls.c - stall samples of a call. A record has the hash of the kernel's symbol, by which the worker finds its code. */
#include "runner/internal.h"

/*
 * ---- sampler ----
 * Samples added up by function, instruction and stall. An instruction takes 16 bytes on all GPUs since Volta.
 */

enum {
	RECORDS = 4096,
	FUNCTIONS_MAX = 256,
	INSTRUCTIONS_MAX = 1 << 16,
	SAMPLER_INSTRUCTION_BYTES = 16,
	SCRATCH_BYTES = 8 << 20,
	GETS_MAX = 1000
};

static void make_data(struct sampling_data *d, size_t reasons)
{
	*d = (struct sampling_data){ .size = sizeof *d, .capacity = RECORDS };
	d->pc = mem_alloc_zero(RECORDS, sizeof *d->pc);
	struct sampling_reason *reason = mem_alloc_zero(RECORDS * reasons, sizeof *reason);
	for (size_t i = 0; i < RECORDS; i++) {
		d->pc[i].size = sizeof d->pc[i];
		d->pc[i].reason = &reason[i * reasons];
	}
}

static void free_data(struct sampling_data *d)
{
	if (d->pc)
		free(d->pc[0].reason);
	free(d->pc);
}

static int name_reasons(struct sampler *s, uint32_t index[SAMPLER_REASONS_MAX], struct fw_err *err)
{
	char text[SAMPLER_REASONS_MAX][SAMPLING_NAME_SIZE] = { 0 }, *name[SAMPLER_REASONS_MAX];
	struct sampling_count count = { .size = CUPTI_SIZE(struct sampling_count, n), .context = s->context, .n = &s->n_names };
	if (cupti_check(s->cupti->count(&count), "cuptiPCSamplingGetNumStallReasons", err) != 0)
		return -1;
	if (s->n_names == 0 || s->n_names > SAMPLER_REASONS_MAX)
		return err_set(err, ERR_UNSUPPORTED, "the GPU reports %zu reasons for stalls; 1 to %d were expected", s->n_names,
			SAMPLER_REASONS_MAX);
	for (size_t i = 0; i < s->n_names; i++)
		name[i] = text[i];
	struct sampling_names names = { .size = CUPTI_SIZE(struct sampling_names, name),
		.context = s->context,
		.n = s->n_names,
		.index = index,
		.name = name };
	if (cupti_check(s->cupti->names(&names), "cuptiPCSamplingGetStallReasons", err) != 0)
		return -1;
	memset(s->of_index, -1, sizeof s->of_index);
	for (size_t i = 0; i < s->n_names; i++) {
		text[i][SAMPLING_NAME_SIZE - 1] = '\0';
		if (index[i] < SAMPLER_REASONS_MAX && stallname_of_sample(text[i], s->reason[s->reasons]))
			s->of_index[index[i]] = (int)s->reasons++;
	}
	return s->reasons ? 0 : err_set(err, ERR_UNSUPPORTED, "the GPU reports no known stall reason");
}

static int set(struct sampler *s, uint32_t *index, struct fw_err *err)
{
	struct sampling_attribute attribute[] = {
		{ .type = SAMPLING_MODE, .as.number = SAMPLING_SERIALIZED },
		{ .type = SAMPLING_REASONS, .as.reasons = { s->n_names, index } },
		{ .type = SAMPLING_SCRATCH_BYTES, .as.bytes = SCRATCH_BYTES },
		{ .type = SAMPLING_START_STOP, .as.number = 1 },
		{ .type = SAMPLING_BUFFER, .as.buffer = &s->unread },
	};
	struct sampling_setting setting = { .size = CUPTI_SIZE(struct sampling_setting, attribute),
		.context = s->context,
		.n = sizeof attribute / sizeof attribute[0],
		.attribute = attribute };
	return cupti_check(s->cupti->set(&setting), "cuptiPCSamplingSetConfigurationAttribute", err);
}

static int call_cupti(struct sampler *s, int (*function)(struct sampling_on *), const char *name, struct fw_err *err)
{
	struct sampling_on on = { .size = CUPTI_SIZE(struct sampling_on, context), .context = s->context };
	return cupti_check(function(&on), name, err);
}

/* Prepare on a driver context. Own: sampler_close, also after -1. Err: ERR_UNSUPPORTED with a message for the user. */
static int sampler_open(struct sampler *s, void *context, struct fw_err *err)
{
	uint32_t index[SAMPLER_REASONS_MAX] = { 0 };
	*s = (struct sampler){ .context = context };
	if (cupti_sampling_open(&s->cupti, err) != 0 || call_cupti(s, s->cupti->enable, "cuptiPCSamplingEnable", err) != 0)
		return -1;
	s->is_enabled = true;
	if (name_reasons(s, index, err) != 0)
		return -1;
	make_data(&s->got, s->n_names);
	make_data(&s->unread, s->n_names);
	return set(s, index, err);
}

/* Sample the next work on the context. */
static int sampler_begin(struct sampler *s, struct fw_err *err)
{
	return call_cupti(s, s->cupti->start, "cuptiPCSamplingStart", err);
}

static struct sampler_function *find(struct sampler *s, const char *symbol, struct fw_err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->function[i].symbol, symbol) == 0)
			return &s->function[i];
	struct sampler_function *more = s->n < FUNCTIONS_MAX ? reallocarray(s->function, s->n + 1, sizeof *more) : NULL;
	char *copy = more ? strdup(symbol) : NULL;
	if (more)
		s->function = more;
	if (!copy) {
		err_set(err, ERR_FULL, "no memory for samples of more than %zu functions", s->n);
		return NULL;
	}
	more[s->n] = (struct sampler_function){ .symbol = copy };
	return &more[s->n++];
}

static int add(struct sampler *s, const struct sampling_pc *pc, struct fw_err *err)
{
	size_t at = pc->offset / SAMPLER_INSTRUCTION_BYTES;
	struct sampler_function *f = pc->name ? find(s, pc->name, err) : NULL;
	if (!f)
		return pc->name ? -1 : 0; /* code without a name cannot be found in a module */
	if (at >= INSTRUCTIONS_MAX)
		return 0;
	if (at >= f->n) {
		size_t n = at + at / 2 + 64;
		f->count = mem_grow(f->count, n * s->reasons, sizeof *f->count);
		memset(f->count + f->n * s->reasons, 0, (n - f->n) * s->reasons * sizeof *f->count);
		f->n = n;
	}
	for (size_t i = 0; i < pc->n_reasons && i < s->n_names; i++) {
		int reason = pc->reason[i].index < SAMPLER_REASONS_MAX ? s->of_index[pc->reason[i].index] : -1;
		if (reason < 0)
			continue;
		f->count[at * s->reasons + (size_t)reason] += pc->reason[i].samples;
		f->samples += pc->reason[i].samples;
	}
	return 0;
}

/* Add the samples of completed work. */
static int sampler_end(struct sampler *s, struct fw_err *err)
{
	if (call_cupti(s, s->cupti->stop, "cuptiPCSamplingStop", err) != 0)
		return -1;
	for (int get = 0; get < GETS_MAX; get++) {
		struct sampling_get data = {
			.size = CUPTI_SIZE(struct sampling_get, data), .context = s->context, .data = &s->got
		};
		s->got.n = s->got.remaining = 0;
		if (cupti_check(s->cupti->get(&data), "cuptiPCSamplingGetData", err) != 0)
			return -1;
		if (s->got.is_full)
			return err_set(err, ERR_UNSUPPORTED, "the GPU's buffer of samples overflowed");
		for (size_t i = 0; i < s->got.n && i < s->got.capacity; i++)
			if (add(s, &s->got.pc[i], err) != 0)
				return -1;
		s->dropped += s->got.dropped;
		if (s->got.remaining == 0 || s->got.n == 0)
			return 0;
	}
	return err_set(
		err, ERR_UNSUPPORTED, "the library of counters has more than %d portions of samples of one call", GETS_MAX);
}

static void sampler_close(struct sampler *s)
{
	struct fw_err ignored = { 0 };
	if (s->is_enabled)
		(void)call_cupti(s, s->cupti->disable, "cuptiPCSamplingDisable", &ignored); /* earlier samples stay valid */
	for (size_t i = 0; i < s->n; i++) {
		free(s->function[i].symbol);
		free(s->function[i].count);
	}
	free(s->function);
	free_data(&s->got);
	free_data(&s->unread);
	*s = (struct sampler){ 0 };
}

/* ---- stalls ---- */

enum { CALLS = 20, INSTRUCTION_BYTES = 16 };

/* Total length of sampled calls: few long calls give enough samples. */
#define ENOUGH_MS 1000.0

static int sample(const struct stalls_call *c, struct sampler *s, struct failure *f, struct fw_err *err)
{
	double sum_ms = 0;
	for (int call = 0; call < CALLS && (call == 0 || sum_ms < ENOUGH_MS); call++) {
		if (prepare_call(c->runner, c->side, f) != 0)
			return -1;
		runner_at(c->runner, c->i, c->side, "sample");
		if (sampler_begin(s, err) != 0)
			return -1;
		if (side_timed(c->side, f) != 0 || side_wait(c->side, f) != 0)
			return -1;
		if (sampler_end(s, err) != 0)
			return -1;
		sum_ms += c->call_ms;
	}
	return 0;
}

static int clip(unsigned long long n)
{
	return n < INT32_MAX ? (int)n : INT32_MAX;
}

/* Return the stall with the most samples; "selected" only without other samples: such a warp does not wait. */
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
static void send_record(const struct stalls_call *c, const struct sampler *s, const struct sampler_function *f)
{
	struct msg_stalls m = { .cell = c->runner->task->index[c->i], .role = c->side->role, .samples = (long long)f->samples };
	struct evidence_stall *line = mem_alloc_zero(f->n + 1, sizeof *line);
	int n = 0;
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
	record_send(c->runner->records, &(struct msg){ .t = MSG_STALLS, .u.stalls = m });
	free(line);
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
	runner_at(r, c->i, c->side, "sample");
	int result = sampler_open(&s, context, err);
	if (result == 0)
		result = sample(c, &s, f, err);
	for (size_t i = 0; i < s.n && result == 0; i++)
		if (s.function[i].samples && is_launched(c->kernels, s.function[i].symbol)) {
			send_record(c, &s, &s.function[i]);
			reported++;
		}
	if (result == 0 && reported == 0)
		result = err_set(err, ERR_UNSUPPORTED, "no warp of the call's kernels was sampled");
	if (!f->lost) /* a failed context returns nothing */
		sampler_close(&s);
	return result;
}
