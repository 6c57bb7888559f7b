/* trace.c - documented in internal.h. The format is Chrome's Trace Event Format, which chrome://tracing and Perfetto read. */
#include "runner/internal.h"

enum { CALLS = 5, PHASES_MAX = 32, TRACE_TEXT_MAX = 1 << 20, PROCESS = 1, HOST = 1, DEVICE = 2 };

/* Moments of one call. Units: ns of the monotonic clock; ms since mark 0 on the device. */
struct traced_call {
	int n; /* phases */
	uint32_t phase[PHASES_MAX];
	int64_t begin_ns[PHASES_MAX], end_ns[PHASES_MAX]; /* of its enqueue */
	int64_t marked_ns, waited_ns;                     /* mark 0 was recorded; the device was waited for */
	double at_ms[PHASES_MAX + 1];                     /* device: begin of each phase, end of the last one */
};

static int take_call(struct runner *r, struct side *u, struct traced_call *c, struct failure *f)
{
	c->n = 0;
	if (prepare_call(r, u, f) != 0)
		return -1;
	c->marked_ns = clock_mono_ns();
	if (side_mark(u, 0, f) != 0)
		return -1;
	for (uint32_t bit = 1; bit < FW_ALL && c->n < PHASES_MAX; bit <<= 1) {
		if (!(u->phases & u->timed & bit))
			continue;
		c->phase[c->n] = bit;
		c->begin_ns[c->n] = clock_mono_ns();
		if (side_enqueue(u, bit, f) != 0 || side_mark(u, c->n + 1, f) != 0)
			return -1;
		c->end_ns[c->n++] = clock_mono_ns();
	}
	if (side_wait(u, f) != 0)
		return -1;
	c->waited_ns = clock_mono_ns();
	for (int i = 0; i <= c->n; i++)
		c->at_ms[i] = i ? (double)r->ops->elapsed_ms(r->dev, 0, i) : 0;
	return 0;
}

static void put_name(struct jsonw *j, const char *what, int thread, const char *name)
{
	jsonw_format(j, "{ name=%s ph=%s pid=%d tid=%d args={ name=%s } }", what, "M", PROCESS, thread, name);
}

/* Units: us since the trace began. */
static void put_event(struct jsonw *j, int thread, const char *name, double at_us, double took_us, int call)
{
	jsonw_object(j);
	jsonw_format(j, "name=%s ph=%s pid=%d tid=%d", name, "X", PROCESS, thread);
	jsonw_kv_double(j, "ts", at_us);
	jsonw_kv_double(j, "dur", took_us);
	jsonw_format(j, "args={ call=%d }", call);
	jsonw_object_end(j);
}

static void put_call(struct jsonw *j, const struct problem *p, const struct traced_call *c, int call, int64_t begin_ns)
{
	char name[32];
	double marked_us = (double)(c->marked_ns - begin_ns) * 1e-3, waited_us = (double)(c->waited_ns - begin_ns) * 1e-3;
	snprintf(name, sizeof name, "call %d", call);
	put_event(j, HOST, name, marked_us, waited_us - marked_us, call);
	for (int i = 0; i < c->n; i++) {
		double at_us = (double)(c->begin_ns[i] - begin_ns) * 1e-3;
		const char *phase = problem_phase_name(p, c->phase[i]);
		put_event(j, HOST, phase, at_us, (double)(c->end_ns[i] - c->begin_ns[i]) * 1e-3, call);
		put_event(j, DEVICE, phase, marked_us + c->at_ms[i] * 1e3, (c->at_ms[i + 1] - c->at_ms[i]) * 1e3, call);
	}
}

static void print(const struct side *u, const struct problem *p, const struct traced_call *call, const char *device)
{
	struct buf text;
	struct jsonw j;
	char name[320];
	buf_init(&text, TRACE_TEXT_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_array(&j, "traceEvents");
	snprintf(name, sizeof name, "%.200s %.80s", p->cell.key, u->provider->name);
	put_name(&j, "process_name", 0, name);
	put_name(&j, "thread_name", HOST, "host");
	put_name(&j, "thread_name", DEVICE, device);
	for (int i = 0; i < CALLS; i++)
		put_call(&j, p, &call[i], i, call[0].marked_ns);
	jsonw_array_end(&j);
	jsonw_format(&j, "displayTimeUnit=%s otherData={ cell=%s provider=%s device=%s placed=%s }", "ms", p->cell.key,
		u->provider->name, device, "device times are relative to the mark before the call, where the host recorded it");
	jsonw_object_end(&j);
	printf("%s\n", text.data);
	buf_fini(&text);
}

int trace_print(struct runner *r, struct side *u, const struct problem *p, const char *device, struct failure *f)
{
	struct traced_call call[CALLS];
	for (int i = 0; i < CALLS; i++)
		if (take_call(r, u, &call[i], f) != 0)
			return -1;
	print(u, p, call, device);
	return 0;
}
