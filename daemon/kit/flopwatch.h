/*
 * flopwatch.h - timed calls for C99 and C++: one header, nothing to link.
 * SPDX-License-Identifier: MIT-0  (take it into any project, changed or not, without any notice)
 *
 *     #include "kit/flopwatch.h"
 *
 *     FLOPWATCH("sum/4096", 4096.0, 16384.0) { total = sum(x, 4096); }
 *
 * The braces are one call of the cell "sum/4096", with its number of FLOPs and of bytes (0 if unknown). The macro repeats the
 * call as often as needed. Run alone, the program prints a JSON line per cell on standard output and a table on standard error.
 * Run by flopwatch, its calls alternate with those of another version of the program, and it prints nothing (doc/interleave.md).
 * For a GPU, if <cuda_runtime_api.h> exists,
 *
 *     FLOPWATCH_CUDA("gemm/4096", flops, bytes, stream) { gemm<<<grid, block, 0, stream>>>(a, b, c); }
 *
 * measures device time and the clock during the call, which the device begins when the host has queued all of it. Options of the
 * next cell, to be set before it:
 *
 *     flopwatch_check(function, argument);   called after the first call: returns an error of its result, NULL none
 *     flopwatch_output(address, bytes);      host memory with the result, which is compared between versions
 *     flopwatch_config("TILE=64 STAGES=2");  the configuration that a search of the program chose; shown with the times
 *     flopwatch_keep_cache();                do not displace the device's cache before each call
 *
 * A check may use flopwatch_compare(got, wanted, n, relative, absolute), which reports the worst of n floats. A cell must not be
 * left by break, goto or an exception. Include this header first, or compile with GNU extensions. For Google Benchmark see
 * flopwatch_benchmark.h.
 */
#ifndef FLOPWATCH_H
#define FLOPWATCH_H

#if !defined(_GNU_SOURCE) && !defined(_XOPEN_SOURCE)
#define _XOPEN_SOURCE 700
#endif

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FLOPWATCH_KIT "flopwatch.h 0.1.0"

/* One state per program, also if several of its files include this header. */
#define FLOPWATCH_SHARED __attribute__((weak))

enum { FLOPWATCH_KEY_SIZE = 160, FLOPWATCH_AHEAD = 2, FLOPWATCH_SLOTS = 4, FLOPWATCH_ALONE_MAX = 400, FLOPWATCH_ALONE_MIN = 10 };

enum { FLOPWATCH_PROBES = 5 /* calls that measure the host */, FLOPWATCH_PLAIN_PROBES = 2 /* those of them without a spin */ };

/* Units: us. The device waits for the host for at most the first time, ahead of calls that are queued within the second one. */
#define FLOPWATCH_SPIN_MAX_US 10000.0
#define FLOPWATCH_HOST_MAX_US 8000.0
#define FLOPWATCH_PROBE_US    500000.0 /* a call of this length measures the host only once */

/* Functions that time a device's calls. Shape: slots 0 to FLOPWATCH_SLOTS - 1 of calls in flight. */
struct flopwatch_ops {
	void (*open)(void);
	double (*idle_us)(void *stream); /* waits until the device is idle; returns how long */
	void (*scrub)(void *stream);     /* displaces its cache */
	int (*can_spin)(void);
	void (*spin)(void *stream, double us); /* keeps it busy for that time, in which the host can queue the next call */
	void (*start)(void *stream, int slot);
	int (*stop)(void *stream, int slot); /* whether the device began the call before it was queued, despite a spin */
	void (*finish)(int slot, double *ms, double *mhz); /* waits for the call */
	void (*wait)(void *stream);
};

struct flopwatch_state {
	int is_open, fd, is_list, in_turn, rows, waits /* file descriptor, once it is open */;
	pid_t pid; /* the process that is connected to flopwatch */
	size_t n_out, n_in;
	char out[1024], in[256];
	/* options of the next cell */
	const char *(*check)(void *argument);
	void *argument;
	const void *output;
	size_t output_bytes;
	char config[FLOPWATCH_KEY_SIZE];
	int keeps_cache;
};

FLOPWATCH_SHARED struct flopwatch_state flopwatch_now;

/*
 * How long the device is kept busy ahead of the timed calls of a cell: twice the time in which the host queued recent ones.
 * Otherwise the device would wait for the host during the call, and the wait would count as time of the call. Some extra calls
 * measure the host first. A call that waits for the device cannot be primed: its host time contains the spin.
 */
struct flopwatch_spin {
	int step;            /* extra calls so far */
	const char *why_not; /* why the calls are not primed; NULL: they are, after the extra calls */
	double host_us;      /* until a recent call was queued */
	double factor;       /* grows with late calls */
	double probe_us;     /* ahead of the current extra call */
	double least_us;     /* ahead of each call of this turn */
};

/* The current cell. */
struct flopwatch_run {
	char key[FLOPWATCH_KEY_SIZE];
	double flops, bytes;
	const struct flopwatch_ops *ops; /* NULL: the host's clock */
	void *stream;
	const char *(*check)(void *argument);
	void *argument;
	const void *output;
	size_t output_bytes;
	char config[FLOPWATCH_KEY_SIZE];
	int keeps_cache;
	int warm, calls, is_sustained; /* calls of this turn that remain */
	int is_single; /* in this turn each call is made once, also by libraries that otherwise choose a number of repetitions */
	int made, issued, finished, is_over;
	int is_probe, is_primed; /* the current call measures the host; the device spins ahead of it */
	struct flopwatch_spin spin;
	int64_t spin_ns; /* when the current call began, its spin included */
	int64_t start_ns[FLOPWATCH_SLOTS];
	double host_us[FLOPWATCH_SLOTS], idle_us, first_ms;
	double reported_ms[FLOPWATCH_SLOTS]; /* time of a call by another clock; 0: use this header's; below 0: no time */
	long repeats[FLOPWATCH_SLOTS];       /* repetitions that a library chose, of which the time is the mean; 0: one call */
	long switches;
	int64_t opened_ns, waited_ns, cpu_ns; /* before the clock starts: time, waiting and processor time of this thread */
	int is_cut[FLOPWATCH_SLOTS];          /* another task took the processor during the call */
	int is_early[FLOPWATCH_SLOTS];        /* the device began a primed call before it was queued: it has no time */
	/* state of a program that runs alone */
	int n, n_untimed, n_late;
	double ms[FLOPWATCH_ALONE_MAX], queued_us[FLOPWATCH_ALONE_MAX], spent_ms;
};

static inline int64_t flopwatch_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Number of involuntary context switches: of all threads, or with a device of the thread that enqueues. */
static inline long flopwatch_switches(const struct flopwatch_run *r)
{
	struct rusage u;

	return getrusage(r->ops ? 1 /* RUSAGE_THREAD */ : RUSAGE_SELF, &u) == 0 ? u.ru_nivcsw : 0;
}

/* Time during which this thread was runnable without a processor. Units: ns; 0 if the system does not report it. */
static inline int64_t flopwatch_waited_ns(void)
{
	char text[96];
	const char *space;
	ssize_t n;

	if (flopwatch_now.waits == 0) {
		flopwatch_now.waits = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
		if (flopwatch_now.waits == 0)
			flopwatch_now.waits = -1;
	}
	n = flopwatch_now.waits > 0 ? pread(flopwatch_now.waits, text, sizeof(text) - 1, 0) : -1;
	if (n <= 0)
		return 0;
	text[n] = '\0';
	space = strchr(text, ' ');
	return space ? (int64_t)strtoll(space + 1, NULL, 10) : 0;
}

/* Processor time of this thread. Units: ns. */
static inline int64_t flopwatch_cpu_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : 0;
}

/*
 * Time of a call without the time that other tasks took. The counter of waiting is read outside of the two clock readings, so a
 * wait may be in the gaps between counter and clock instead of in the call. Therefore at most the call's time minus its processor
 * time is subtracted, and a call is dropped if the uncertainty of the subtraction exceeds half of its remaining time. Units: ns:
 * of the call, of this thread's processor time in it, of its waiting, and of the gaps on both sides; `off` gets the subtracted
 * time. Returns 0 if the call has no valid time.
 */
static inline int64_t flopwatch_without_waits(int64_t call, int64_t cpu, int64_t waited, int64_t gaps, int64_t *off)
{
	int64_t most = call > cpu ? call - cpu : 0, least = waited > gaps ? waited - gaps : 0;

	most = waited < most ? waited : most;
	most = most > 0 ? most : 0;
	least = least < most ? least : most;
	*off = most;
	return call - most <= 0 || 2 * (most - least) > call - most ? 0 : call - most;
}

/* ---- protocol ------------------------------------------------------------------------------------------------------------ */

static inline void flopwatch_flush(void)
{
	struct flopwatch_state *s = &flopwatch_now;
	size_t at = 0;

	while (at < s->n_out) {
		ssize_t n = write(s->fd, s->out + at, s->n_out - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1); /* the peer closed the socket */
		at += (size_t)n;
	}
	s->n_out = 0;
}

static inline void flopwatch_send_line(const char *line)
{
	struct flopwatch_state *s = &flopwatch_now;
	size_t n = strlen(line);

	if (s->n_out + n > sizeof(s->out))
		flopwatch_flush();
	memcpy(s->out + s->n_out, line, n);
	s->n_out += n;
}

static inline void flopwatch_send_fact(const char *name, double value)
{
	char line[96];

	if (value > 0) {
		snprintf(line, sizeof(line), "fact %s %.9g\n", name, value);
		flopwatch_send_line(line);
	}
}

/* The next line of the answer. Shape: line[size]. */
static inline void flopwatch_receive(char *line, size_t size)
{
	struct flopwatch_state *s = &flopwatch_now;
	char *end;

	flopwatch_flush();
	while (!(end = (char *)memchr(s->in, '\n', s->n_in))) {
		ssize_t n = s->n_in < sizeof(s->in) ? read(s->fd, s->in + s->n_in, sizeof(s->in) - s->n_in) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		s->n_in += (size_t)n;
	}
	snprintf(line, size, "%.*s", (int)(end - s->in), s->in);
	s->n_in -= (size_t)(end + 1 - s->in);
	memmove(s->in, end + 1, s->n_in);
}

static inline void flopwatch_close(void)
{
	if (flopwatch_now.fd < 0 || flopwatch_now.pid != getpid()) /* a forked child does not use the connection */
		return;
	if (flopwatch_now.in_turn)
		flopwatch_send_line("fail reported the program ended in the middle of a cell\n");
	flopwatch_send_line("bye\n");
	flopwatch_flush();
	flopwatch_now.fd = -1;
}

/* Connect to the process that grants turns, if there is one. */
static inline void flopwatch_open(void)
{
	const char *descriptor = getenv("FLOPWATCH_INTERLEAVE");
	char line[64];

	if (flopwatch_now.is_open)
		return;
	flopwatch_now.is_open = 1;
	flopwatch_now.fd = descriptor ? atoi(descriptor) : -1;
	if (flopwatch_now.fd < 0)
		return;
	/* no child process may use the descriptor */
	flopwatch_now.pid = getpid();
	unsetenv("FLOPWATCH_INTERLEAVE");
	fcntl(flopwatch_now.fd, F_SETFD, FD_CLOEXEC);
	flopwatch_send_line("flopwatch 1 " FLOPWATCH_KIT "\n");
	flopwatch_receive(line, sizeof(line));
	flopwatch_now.is_list = strcmp(line, "welcome 1 list") == 0;
	atexit(flopwatch_close);
}

/* Request a turn. 0: no turns remain for the cell. */
static inline int flopwatch_request_turn(struct flopwatch_run *r)
{
	char line[FLOPWATCH_KEY_SIZE + 16];
	const char *spin;

	snprintf(line, sizeof(line), "turn %s\n", r->key);
	flopwatch_send_line(line);
	flopwatch_now.in_turn = 0;
	flopwatch_receive(line, sizeof(line));
	if (sscanf(line, "go %d %d", &r->warm, &r->calls) != 2)
		return 0;
	flopwatch_now.in_turn = 1;
	r->is_sustained = r->calls > 1;
	r->is_single = strstr(line, " repeats=1") != NULL;
	spin = strstr(line, " spin_us=");
	r->spin.least_us = spin ? atof(spin + 9) : 0;
	r->idle_us = r->ops ? r->ops->idle_us(r->stream) : 0;
	return 1;
}

/* ---- results ------------------------------------------------------------------------------------------------------------- */

static inline void flopwatch_check(const char *(*check)(void *argument), void *argument)
{
	flopwatch_now.check = check;
	flopwatch_now.argument = argument;
}

static inline void flopwatch_output(const void *address, size_t bytes)
{
	flopwatch_now.output = address;
	flopwatch_now.output_bytes = bytes;
}

/** Copy the text. Longer ones are cut, and control characters become spaces. */
static inline void flopwatch_config(const char *text)
{
	size_t i;

	snprintf(flopwatch_now.config, sizeof(flopwatch_now.config), "%s", text);
	for (i = 0; flopwatch_now.config[i]; i++)
		if ((unsigned char)flopwatch_now.config[i] < ' ' || flopwatch_now.config[i] == 0x7f)
			flopwatch_now.config[i] = ' ';
}

static inline void flopwatch_keep_cache(void)
{
	flopwatch_now.keeps_cache = 1;
}

/*
 * Description of the worst element, if its error exceeds `absolute` plus `relative` times the wanted value; NULL none. The text
 * is valid until the next call.
 */
static inline const char *flopwatch_compare(const float *got, const float *wanted, size_t n, double relative, double absolute)
{
	static char text[128];
	double worst = 1;
	size_t at = n, i;

	for (i = 0; i < n; i++) {
		/* equal values are correct, also with a tolerance of 0, and if infinite */
		double off = got[i] == wanted[i]
				     ? 0
				     : fabs((double)got[i] - (double)wanted[i]) / (absolute + relative * fabs((double)wanted[i]));

		if (!(off <= worst)) { /* also true for NaN */
			at = i;
			worst = off == off ? off : HUGE_VAL;
		}
	}
	if (at == n)
		return NULL;
	snprintf(text, sizeof(text), "worst element [%zu]: %.9g instead of %.9g, %.3g times what is allowed", at, (double)got[at],
		(double)wanted[at], worst);
	return text;
}

/* FNV-1a, twice with different seeds: only needs to be equal for equal results. */
static inline void flopwatch_send_output(const void *address, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)address;
	uint64_t a = 14695981039346656037u, b = 1099511628211u;
	char line[64];
	size_t i;

	for (i = 0; i < bytes; i++) {
		a = (a ^ p[i]) * 1099511628211u;
		b = (b ^ p[i]) * 6364136223846793005u + 1;
	}
	snprintf(line, sizeof(line), "fact output %016llx%016llx\n", (unsigned long long)a, (unsigned long long)b);
	flopwatch_send_line(line);
}

/* Check and report the result after the first call of a cell in this program. */
static inline void flopwatch_check_result(struct flopwatch_run *r)
{
	const char *wrong = NULL;
	char line[512];

	if (r->ops && (r->check || r->output))
		r->ops->wait(r->stream);
	if (r->check)
		wrong = r->check(r->argument);
	if (flopwatch_now.fd < 0) {
		if (wrong) {
			printf("{\"cell\":\"%s\",\"error\":\"", r->key);
			for (; *wrong; wrong++)
				if ((unsigned char)*wrong >= ' ')
					printf("%s%c", *wrong == '"' || *wrong == '\\' ? "\\" : "", *wrong);
			printf("\"}\n");
			r->is_over = 2;
		}
		return;
	}
	if (flopwatch_now.is_list) {
		flopwatch_send_fact("flops", r->flops);
		flopwatch_send_fact("bytes", r->bytes);
		flopwatch_send_fact("first_ms", r->first_ms);
		if (r->config[0]) {
			snprintf(line, sizeof(line), "fact config %s\n", r->config);
			flopwatch_send_line(line);
		}
		if (r->output)
			flopwatch_send_output(r->output, r->output_bytes);
	}
	if (wrong) {
		snprintf(line, sizeof(line), "fail wrong %.*s\n",
			(int)strcspn(wrong, "\n") < 400 ? (int)strcspn(wrong, "\n") : 400, wrong);
		flopwatch_send_line(line);
		r->warm = r->calls = 0;
		r->spin.step = FLOPWATCH_PROBES;
	}
}

/* ---- spin ---------------------------------------------------------------------------------------------------------------- */

static inline int flopwatch_is_probing(const struct flopwatch_run *r)
{
	return r->ops && r->ops->can_spin() && r->made > 0 && r->spin.step < FLOPWATCH_PROBES;
}

static inline double flopwatch_spin_limit(double us)
{
	return us < FLOPWATCH_SPIN_MAX_US ? us : FLOPWATCH_SPIN_MAX_US;
}

static inline double flopwatch_spin_us(const struct flopwatch_spin *s)
{
	return flopwatch_spin_limit(2 * s->host_us * s->factor + 20);
}

static inline void flopwatch_begin_probe(struct flopwatch_run *r)
{
	static const struct {
		double times, more_us;
	} spins[FLOPWATCH_PROBES] = { { 0, 0 }, { 0, 0 }, { 2, 200 }, { 4, 1000 }, { 3, 2000 } };
	struct flopwatch_spin *s = &r->spin;

	s->probe_us = flopwatch_spin_limit(spins[s->step].times * s->host_us + spins[s->step].more_us);
	r->spin_ns = flopwatch_ns();
	if (s->probe_us > 0)
		r->ops->spin(r->stream, s->probe_us);
}

/* Note an extra call: the host's time with its spin, and the time until the device was idle again. The last one decides. */
static inline void flopwatch_end_probe(struct flopwatch_run *r, double host_us, double all_us)
{
	struct flopwatch_spin *s = &r->spin;
	int is_long = all_us > FLOPWATCH_PROBE_US, is_plain = ++s->step <= FLOPWATCH_PLAIN_PROBES;
	char line[96];

	if (is_plain) {
		s->host_us = s->host_us > 0 && s->host_us < host_us ? s->host_us : host_us;
		if ((is_long || s->step == FLOPWATCH_PLAIN_PROBES) && s->host_us > FLOPWATCH_HOST_MAX_US)
			s->why_not = "the call keeps the host for more than 8 ms";
		if (is_long || s->why_not) /* a long call that is queued at once does not wait at its end */
			s->step = FLOPWATCH_PROBES;
	} else if (host_us < 0.9 * s->probe_us) {
		s->step = FLOPWATCH_PROBES; /* queued while the device was still busy */
	} else if (s->step == FLOPWATCH_PROBES) {
		s->why_not = "the call waits for the device";
	}
	if (s->step < FLOPWATCH_PROBES || !s->why_not)
		return;
	if (flopwatch_now.fd < 0) {
		fprintf(stderr, "%s: not primed: %s\n", r->key, s->why_not);
	} else if (flopwatch_now.is_list) {
		snprintf(line, sizeof(line), "fact unprimed %s\n", s->why_not);
		flopwatch_send_line(line);
	}
}

static inline void flopwatch_note_spin(struct flopwatch_spin *s, double host_us, int is_late)
{
	s->host_us = host_us > 0.9 * s->host_us ? host_us : 0.9 * s->host_us;
	if (!is_late)
		s->factor = s->factor > 1 / 0.95 ? 0.95 * s->factor : 1;
	else if (flopwatch_spin_us(s) < FLOPWATCH_SPIN_MAX_US)
		s->factor *= 2;
}

/* ---- program run alone -------------------------------------------------------------------------------------------------- */

static inline int flopwatch_by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** Number of calls of each cell if a profiler gives it, which are then not timed; else 0. */
static inline int flopwatch_fixed_calls(void)
{
	const char *text = getenv("FLOPWATCH_CALLS");

	int n = flopwatch_now.fd < 0 && text ? atoi(text) : 0;

	return n < 1 ? 0 : n < FLOPWATCH_ALONE_MAX ? n : FLOPWATCH_ALONE_MAX;
}

/* Whether to make another call: some for warm-up, then half a second of timed calls. */
static inline int flopwatch_alone(struct flopwatch_run *r)
{
	int fixed = flopwatch_fixed_calls();

	if (fixed > 0) {
		r->calls = 1;
		r->is_over = r->made == fixed ? 2 : r->is_over; /* prints no times */
		return !r->is_over;
	}
	if (r->is_over || (r->n >= FLOPWATCH_ALONE_MIN && r->spent_ms > 500) || r->n == FLOPWATCH_ALONE_MAX ||
		r->n_untimed + r->n_late >= FLOPWATCH_ALONE_MAX)
		return 0;
	r->warm = r->made > 0 && r->made < 1000 && r->n == 0 && r->spent_ms < 50;
	r->calls = 1;
	return 1;
}

static inline void flopwatch_print(struct flopwatch_run *r)
{
	double ms, low, high;
	int i;

	if (r->n == 0) {
		if (r->n_untimed + r->n_late > 0)
			printf("{\"cell\":\"%s\",\"error\":\"all of its calls %s, so none has a time\"}\n", r->key,
				r->n_late > 0 ? "began before they were queued" : "were interrupted");
		return;
	}
	printf("{\"cell\":\"%s\",\"ms\":[", r->key);
	for (i = 0; i < r->n; i++)
		printf("%s%.9g", i ? "," : "", r->ms[i]);
	qsort(r->ms, (size_t)r->n, sizeof(r->ms[0]), flopwatch_by_size);
	ms = r->ms[r->n / 2];
	low = r->ms[r->n / 10];
	high = r->ms[r->n - 1 - r->n / 10];
	printf("]");
	if (r->flops > 0)
		printf(",\"tflops\":%.6g", r->flops / (ms * 1e9));
	if (r->ops && r->ops->can_spin()) {
		qsort(r->queued_us, (size_t)r->n, sizeof(r->queued_us[0]), flopwatch_by_size);
		printf(",\"host_us\":%.6g,\"late\":%d,\"primed\":%s", r->queued_us[r->n / 2], r->n_late,
			r->spin.step == FLOPWATCH_PROBES && !r->spin.why_not ? "true" : "false");
	}
	printf("}\n");
	fflush(stdout);
	if (flopwatch_now.rows++ == 0)
		fprintf(stderr, "%-40s %10s %21s %6s %10s %10s %10s\n", "cell", "ms", "10 % .. 90 %", "calls", "TFLOP/s", "GB/s",
			"first ms");
	fprintf(stderr, "%-40s %10.4f %9.4f .. %9.4f %6d", r->key, ms, low, high, r->n);
	if (r->flops > 0)
		fprintf(stderr, " %10.4g", r->flops / (ms * 1e9));
	else
		fprintf(stderr, " %10s", "-");
	if (r->bytes > 0)
		fprintf(stderr, " %10.4g", r->bytes / (ms * 1e6));
	else
		fprintf(stderr, " %10s", "-");
	fprintf(stderr, " %10.4g\n", r->first_ms);
}

/* ---- calls --------------------------------------------------------------------------------------------------------------- */

/* Names contain only visible characters. A longer one ends with a hash of all of it, so that names stay different. */
static inline void flopwatch_set_key(struct flopwatch_run *r, const char *key)
{
	size_t n = strlen(key), end = sizeof(r->key) - 1, i;
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)key[i]) * 16777619u;
	if (n > end)
		for (end -= 9; ((unsigned char)key[end] & 0xc0) == 0x80;) /* not inside a character */
			end--;
	for (i = 0; i < n && i < end; i++)
		r->key[i] = (unsigned char)key[i] <= ' ' || key[i] == '"' || key[i] == '\\' || key[i] == 127 ? '_' : key[i];
	if (n > end)
		snprintf(r->key + end, 10, "~%08x", (unsigned)hash);
}

static inline struct flopwatch_run flopwatch_begin_on(
	const char *key, double flops, double bytes, const struct flopwatch_ops *ops, void *stream)
{
	struct flopwatch_state *s = &flopwatch_now;
	struct flopwatch_run r;

	memset(&r, 0, sizeof(r));
	flopwatch_open();
	if (flopwatch_fixed_calls() > 0)
		ops = NULL; /* a profiler counts kernels, so that a clock must launch none */
	if (ops)
		ops->open();
	flopwatch_set_key(&r, key);
	r.flops = flops;
	r.bytes = bytes;
	r.ops = ops;
	r.stream = stream;
	r.check = s->check;
	r.argument = s->argument;
	r.output = s->output;
	r.output_bytes = s->output_bytes;
	r.keeps_cache = s->keeps_cache;
	r.spin.factor = 1;
	memcpy(r.config, s->config, sizeof(r.config));
	s->check = NULL;
	s->output = NULL;
	s->config[0] = '\0';
	s->keeps_cache = 0;
	return r;
}

/** Begin a cell that is timed by the host's clock. */
static inline struct flopwatch_run flopwatch_begin(const char *key, double flops, double bytes)
{
	return flopwatch_begin_on(key, flops, bytes, NULL, NULL);
}

/** Whether to make another call; after it, call flopwatch_done. */
static inline int flopwatch_call(struct flopwatch_run *r)
{
	int slot = r->issued % FLOPWATCH_SLOTS;

	r->is_probe = r->warm == 0 && r->calls == 0 && !r->is_over && flopwatch_is_probing(r);
	if (r->is_probe) {
		flopwatch_begin_probe(r);
		return 1;
	}
	if (flopwatch_now.fd < 0) {
		if (!flopwatch_alone(r)) {
			if (r->is_over != 2)
				flopwatch_print(r);
			return 0;
		}
	} else if (r->warm == 0 && r->calls == 0 && !flopwatch_request_turn(r)) {
		return 0;
	}
	if (r->warm == 0) {
		if (r->ops && !r->is_sustained && !r->keeps_cache)
			r->ops->scrub(r->stream);
		r->switches = flopwatch_switches(r);
		r->is_primed =
			r->ops && r->ops->can_spin() && !r->is_sustained && r->spin.step == FLOPWATCH_PROBES && !r->spin.why_not;
		r->spin_ns = flopwatch_ns();
		if (r->is_primed) {
			double us = flopwatch_spin_us(&r->spin);

			r->ops->spin(r->stream, flopwatch_spin_limit(us > r->spin.least_us ? us : r->spin.least_us));
		}
		if (r->ops) {
			r->ops->start(r->stream, slot);
		} else {
			r->opened_ns = flopwatch_ns();
			r->waited_ns = flopwatch_waited_ns();
			r->cpu_ns = flopwatch_cpu_ns();
		}
	}
	r->start_ns[slot] = flopwatch_ns();
	return 1;
}

/* Report the time of the oldest call in flight. */
static inline void flopwatch_finish(struct flopwatch_run *r)
{
	int slot = r->finished++ % FLOPWATCH_SLOTS, is_late;
	double ms = r->host_us[slot] * 1e-3, mhz = 0;
	char line[200], more[40] = "";

	if (r->ops)
		r->ops->finish(slot, &ms, &mhz);
	if (r->reported_ms[slot] != 0)
		ms = r->reported_ms[slot];
	is_late = r->is_early[slot] && !r->is_cut[slot];
	if (r->is_early[slot])
		ms = 0;
	else if (!(ms > 0)) { /* without a time the call is not counted */
		ms = 0;
		r->is_cut[slot] = 1;
	}
	if (flopwatch_now.fd < 0) {
		if (ms > 0) {
			r->queued_us[r->n] = r->host_us[slot];
			r->ms[r->n++] = ms;
		} else if (is_late) {
			r->n_late++;
		} else {
			r->n_untimed++;
		}
		r->spent_ms += ms;
		return;
	}
	if (r->repeats[slot] > 0)
		snprintf(more, sizeof(more), " repeats=%ld", r->repeats[slot]);
	if (r->is_primed)
		snprintf(more, sizeof(more), " spin_us=%.6g", flopwatch_spin_us(&r->spin));
	snprintf(line, sizeof(line), "done %.9g%s%s\n", ms, more, r->is_cut[slot] ? " cut=1" : "");
	if (r->ops)
		snprintf(line, sizeof(line), "done %.9g%s host_us=%.6g mhz=%.7g idle_us=%.6g%s%s\n", ms, is_late ? " late=1" : "",
			r->host_us[slot], mhz, r->idle_us, r->is_cut[slot] ? " cut=1" : "", more);
	flopwatch_send_line(line);
}

/* Set the time of the call in `slot`, which ended at `end_ns` of the host's clock, without the time that other tasks took. */
static inline void flopwatch_close_host(struct flopwatch_run *r, int slot, int64_t end_ns)
{
	int64_t cpu_ns = flopwatch_cpu_ns() - r->cpu_ns, waited_ns = flopwatch_waited_ns() - r->waited_ns;
	int64_t gaps_ns = r->start_ns[slot] - r->opened_ns + flopwatch_ns() - end_ns;
	int64_t call_ns = end_ns - r->start_ns[slot], off_ns;

	r->host_us[slot] = (double)flopwatch_without_waits(call_ns, cpu_ns, waited_ns, gaps_ns, &off_ns) * 1e-3;
	r->is_cut[slot] = r->is_cut[slot] || 2 * off_ns > call_ns;
}

/** End of a call. */
static inline void flopwatch_done(struct flopwatch_run *r)
{
	int slot = r->issued % FLOPWATCH_SLOTS, is_first = r->made++ == 0;
	int64_t end_ns = flopwatch_ns();

	if (r->is_probe) {
		r->ops->wait(r->stream);
		flopwatch_end_probe(r, (double)(end_ns - r->spin_ns) * 1e-3, (double)(flopwatch_ns() - r->spin_ns) * 1e-3);
		return;
	}
	r->host_us[slot] = (double)(end_ns - r->start_ns[slot]) * 1e-3;
	if (r->warm > 0) {
		r->warm--;
		if (flopwatch_now.fd < 0) {
			if (r->ops)
				r->ops->wait(r->stream);
			r->spent_ms += (double)(flopwatch_ns() - r->start_ns[slot]) * 1e-6;
			if (r->spent_ms >= 50)
				r->spent_ms = 50;
			return;
		}
	} else {
		r->is_cut[slot] = r->is_early[slot] = 0;
		if (r->ops)
			r->is_early[slot] = r->ops->stop(r->stream, slot) && r->is_primed;
		else
			flopwatch_close_host(r, slot, end_ns);
		r->is_cut[slot] = r->is_cut[slot] || flopwatch_switches(r) != r->switches;
		if (r->is_primed && !r->is_cut[slot])
			flopwatch_note_spin(&r->spin, (double)(end_ns - r->spin_ns) * 1e-3, r->is_early[slot]);
		r->issued++;
		r->calls--;
		while (r->issued - r->finished > (r->calls > 0 ? FLOPWATCH_AHEAD : 0))
			flopwatch_finish(r);
	}
	if (!is_first)
		return;
	if (r->ops)
		r->ops->wait(r->stream);
	r->first_ms = (double)(flopwatch_ns() - r->start_ns[slot]) * 1e-6;
	if (flopwatch_now.fd < 0) {
		r->n = r->n_untimed = r->n_late = 0; /* a cold call: reported separately */
		r->spent_ms = 0;
	}
	flopwatch_check_result(r);
}

#define FLOPWATCH_LOOP(begin)                                                                                                    \
	for (struct flopwatch_run flopwatch_cell = (begin); flopwatch_call(&flopwatch_cell); flopwatch_done(&flopwatch_cell))
#define FLOPWATCH(key, flops, bytes) FLOPWATCH_LOOP(flopwatch_begin(key, flops, bytes))

/* ---- CUDA ---------------------------------------------------------------------------------------------------------------- */

#if defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#define FLOPWATCH_HAS_CUDA 1
#endif
#endif

#ifdef FLOPWATCH_HAS_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>

enum { FLOPWATCH_SMS = 256 };

struct flopwatch_cuda {
	int is_open, sms, value;
	size_t scrub_bytes;
	void *scrub, *stamps, *kernel, *spinner;
	cudaEvent_t idle, event[FLOPWATCH_SLOTS][2];
	int (*query)(
		void *event); /* the driver's: the runtime would store that the event is not ready as an error of the program */
	int (*launch)(void *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
		void *stream, void **parameters, void **extra);
};

FLOPWATCH_SHARED struct flopwatch_cuda flopwatch_gpu;

static inline void flopwatch_cuda_must(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "flopwatch.h: %s: %s (%s)\n", what, cudaGetErrorString(e), cudaGetErrorName(e));
	exit(1);
}

/*
 * Each SM writes its cycle counter and the time: two such stamps give the clock in between. A second kernel only waits; its loop
 * ends after 2^22 readings, more than 10 ms take, if the timer stops. If the driver does not accept the kernels:
 * no clocks, and no wait.
 */
static inline void flopwatch_cuda_stamps(struct flopwatch_cuda *d)
{
	static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
				  ".visible .entry flopwatch_stamp(.param .u64 table)\n{\n"
				  ".reg .pred %p; .reg .b32 %r<3>; .reg .b64 %d<5>;\n"
				  "mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 0; @%p bra END;\n"
				  "mov.u32 %r2, %smid; setp.ge.u32 %p, %r2, 256; @%p bra END;\n"
				  "ld.param.u64 %d1, [table]; cvta.to.global.u64 %d1, %d1;\n"
				  "mul.wide.u32 %d2, %r2, 16; add.s64 %d1, %d1, %d2;\n"
				  "mov.u64 %d3, %globaltimer; mov.u64 %d4, %clock64;\n"
				  "st.global.v2.u64 [%d1], {%d4, %d3};\nEND:\nret;\n}\n"
				  ".visible .entry flopwatch_spin(.param .u64 ns)\n{\n"
				  ".reg .pred %p; .reg .b32 %r1; .reg .b64 %d<5>;\n"
				  "ld.param.u64 %d1, [ns]; mov.u64 %d2, %globaltimer; mov.u32 %r1, 4194304;\nWAIT:\n"
				  "mov.u64 %d3, %globaltimer; sub.s64 %d4, %d3, %d2; sub.s32 %r1, %r1, 1;\n"
				  "setp.lt.s64 %p, %d4, %d1; setp.gt.and.s32 %p, %r1, 0, %p; @%p bra WAIT;\nret;\n}\n";
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *module = NULL;
	int (*load)(void **module, const void *image);
	int (*find)(void **function, void *module, const char *name);

	if (!driver)
		return;
	*(void **)&load = dlsym(driver, "cuModuleLoadData");
	*(void **)&find = dlsym(driver, "cuModuleGetFunction");
	*(void **)&d->launch = dlsym(driver, "cuLaunchKernel");
	*(void **)&d->query = dlsym(driver, "cuEventQuery");
	if (!load || !find || !d->launch || !d->query || load(&module, ptx) != 0 ||
		find(&d->kernel, module, "flopwatch_stamp") != 0)
		d->kernel = NULL;
	if (d->kernel && find(&d->spinner, module, "flopwatch_spin") != 0)
		d->spinner = NULL;
	if (d->kernel)
		flopwatch_cuda_must(cudaMalloc(&d->stamps, FLOPWATCH_SLOTS * 2 * FLOPWATCH_SMS * 16), "memory for clocks");
}

static inline void flopwatch_cuda_open(void)
{
	struct flopwatch_cuda *d = &flopwatch_gpu;
	int device = 0, l2 = 0, i;

	if (d->is_open)
		return;
	d->is_open = 1;
	flopwatch_cuda_must(cudaGetDevice(&device), "no device");
	flopwatch_cuda_must(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device), "size of the cache");
	flopwatch_cuda_must(cudaDeviceGetAttribute(&d->sms, cudaDevAttrMultiProcessorCount, device), "number of SMs");
	d->scrub_bytes = 2 * (size_t)(l2 > 0 ? l2 : 64 << 20);
	flopwatch_cuda_must(cudaMalloc(&d->scrub, d->scrub_bytes), "memory to displace the cache");
	flopwatch_cuda_must(cudaEventCreateWithFlags(&d->idle, cudaEventDisableTiming), "event");
	for (i = 0; i < 2 * FLOPWATCH_SLOTS; i++)
		flopwatch_cuda_must(cudaEventCreateWithFlags(&d->event[i / 2][i % 2], cudaEventDefault), "event");
	flopwatch_cuda_stamps(d);
}

static inline double flopwatch_cuda_idle_us(void *stream)
{
	int64_t began = flopwatch_ns();

	flopwatch_cuda_must(cudaEventRecord(flopwatch_gpu.idle, (cudaStream_t)stream), "event");
	flopwatch_cuda_must(cudaEventSynchronize(flopwatch_gpu.idle), "the device");
	return (double)(flopwatch_ns() - began) * 1e-3;
}

static inline void flopwatch_cuda_scrub(void *stream)
{
	struct flopwatch_cuda *d = &flopwatch_gpu;

	d->value = (d->value + 1) & 0xff;
	flopwatch_cuda_must(cudaMemsetAsync(d->scrub, d->value, d->scrub_bytes, (cudaStream_t)stream), "displace the cache");
}

static inline void flopwatch_cuda_stamp(void *stream, int slot, int end)
{
	struct flopwatch_cuda *d = &flopwatch_gpu;
	char *table = (char *)d->stamps + (size_t)(2 * slot + end) * FLOPWATCH_SMS * 16;
	void *parameters[1];

	if (!d->kernel)
		return;
	parameters[0] = &table;
	if (end == 0)
		flopwatch_cuda_must(cudaMemsetAsync(table, 0, 2 * FLOPWATCH_SMS * 16, (cudaStream_t)stream), "clear clocks");
	if (d->launch(d->kernel, 2 * (unsigned)d->sms, 1, 1, 32, 1, 1, 0, stream, parameters, NULL) != 0)
		d->kernel = NULL;
}

static inline int flopwatch_cuda_can_spin(void)
{
	return flopwatch_gpu.spinner != NULL;
}

static inline void flopwatch_cuda_spin(void *stream, double us)
{
	struct flopwatch_cuda *d = &flopwatch_gpu;
	uint64_t ns = (uint64_t)(1e3 * us);
	void *parameters[1];

	parameters[0] = &ns;
	if (d->launch(d->spinner, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL) != 0)
		d->spinner = NULL;
}

static inline void flopwatch_cuda_start(void *stream, int slot)
{
	flopwatch_cuda_stamp(stream, slot, 0);
	flopwatch_cuda_must(cudaEventRecord(flopwatch_gpu.event[slot][0], (cudaStream_t)stream), "event");
}

static inline int flopwatch_cuda_stop(void *stream, int slot)
{
	struct flopwatch_cuda *d = &flopwatch_gpu;
	int has_begun;

	flopwatch_cuda_must(cudaEventRecord(d->event[slot][1], (cudaStream_t)stream), "event");
	has_begun = d->spinner && d->query(d->event[slot][0]) == 0;
	flopwatch_cuda_stamp(stream, slot, 1);
	return has_begun;
}

static inline double flopwatch_cuda_mhz(int slot)
{
	struct flopwatch_cuda *d = &flopwatch_gpu;
	uint64_t table[2][FLOPWATCH_SMS][2];
	double mhz[FLOPWATCH_SMS];
	int n = 0, i;

	if (!d->kernel)
		return 0;
	flopwatch_cuda_must(
		cudaMemcpy(table, (char *)d->stamps + (size_t)slot * sizeof(table), sizeof(table), cudaMemcpyDeviceToHost),
		"clocks");
	for (i = 0; i < FLOPWATCH_SMS; i++)
		if (table[0][i][1] && table[1][i][1] > table[0][i][1] && table[1][i][0] > table[0][i][0])
			mhz[n++] = (double)(table[1][i][0] - table[0][i][0]) / (double)(table[1][i][1] - table[0][i][1]) * 1e3;
	qsort(mhz, (size_t)n, sizeof(mhz[0]), flopwatch_by_size);
	return n ? mhz[n / 2] : 0;
}

static inline void flopwatch_cuda_finish(int slot, double *ms, double *mhz)
{
	float elapsed = 0;

	flopwatch_cuda_must(cudaEventSynchronize(flopwatch_gpu.event[slot][1]), "the call");
	flopwatch_cuda_must(
		cudaEventElapsedTime(&elapsed, flopwatch_gpu.event[slot][0], flopwatch_gpu.event[slot][1]), "time of the call");
	*ms = (double)elapsed;
	*mhz = flopwatch_cuda_mhz(slot);
}

static inline void flopwatch_cuda_wait(void *stream)
{
	flopwatch_cuda_must(cudaStreamSynchronize((cudaStream_t)stream), "the call");
}

/** Begin a cell of kernels on a stream. */
static inline struct flopwatch_run flopwatch_begin_cuda(const char *key, double flops, double bytes, cudaStream_t stream)
{
	static const struct flopwatch_ops ops = { flopwatch_cuda_open, flopwatch_cuda_idle_us, flopwatch_cuda_scrub,
		flopwatch_cuda_can_spin, flopwatch_cuda_spin, flopwatch_cuda_start, flopwatch_cuda_stop, flopwatch_cuda_finish,
		flopwatch_cuda_wait };

	return flopwatch_begin_on(key, flops, bytes, &ops, (void *)stream);
}

#define FLOPWATCH_CUDA(key, flops, bytes, stream) FLOPWATCH_LOOP(flopwatch_begin_cuda(key, flops, bytes, stream))
#endif /* FLOPWATCH_HAS_CUDA */

#endif
