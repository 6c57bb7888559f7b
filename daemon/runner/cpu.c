/* cpu.c - the host as a device: memory from malloc, the stream is program order, marks are the raw monotonic clock. */
#include "runner/internal.h"

#include <fenv.h>
#include <malloc.h>
#include <omp.h>
#include <strings.h>
#include <time.h>

/* Below WORTH_THREADS elements a barrier on a busy machine costs more than the work. */
enum {
	ALIGN = 4096,
	CPU_BUFFERS_MAX = 128,
	SCRUB_MAX = 64 << 20,
	WORTH_THREADS = 1 << 19,
	NAP_NS = 2000000,
	HEAP_SLACK = 1 << 20
};

/* Upper bounds of a core: its clock, and its cache bandwidth. */
#define CLOCK_GHZ 6.0
#define CORE_GB_S 400.0

struct cpu_buffer {
	unsigned char *block; /* redzone, data, redzone */
	size_t bytes;         /* of data */
};

struct device {
	int threads;
	struct cpu_buffer buffer[CPU_BUFFERS_MAX]; /* block NULL: free entry */
	unsigned char *scrub;
	size_t scrub_bytes;
	int64_t mark_ns[DEVICE_MARKS_MAX];
};

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int cpu_threads(void)
{
	const char *text = getenv("FLOPWATCH_CPU_THREADS");
	if (text) {
		char *end;
		long n = strtol(text, &end, 10);
		if (*text && !*end && n >= 1 && n <= 1024)
			return (int)n;
	}
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : (int)n;
}

/* Size of the last-level cache; not every kernel shows it. */
static size_t cache_bytes(void)
{
	long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
	if (l3 <= 0)
		l3 = sysconf(_SC_LEVEL2_CACHE_SIZE);
	return l3 <= 0 ? (size_t)8 << 20 : (size_t)l3;
}

static void cpu_model(char *out, size_t size)
{
	snprintf(out, size, "unknown cpu");
	FILE *f = fopen("/proc/cpuinfo", "re");
	if (!f)
		return;
	char line[512];
	while (fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		char *text = colon + 1 + strspn(colon + 1, " \t");
		text[strcspn(text, "\n")] = '\0';
		snprintf(out, size, "%s", text);
		break;
	}
	fclose(f);
}

/*
 * Upper bound of one core's FLOPs in one cycle, by the widest vector unit that the system reports. Generous: too high a limit
 * misses a forgery, too low a limit rejects an honest kernel.
 */
static double core_flops(void)
{
	static const struct {
		const char *flag;
		double flops;
	} unit[] = { { " amx_tile", 2048 }, { " avx512f", 256 }, { " avx2", 64 } };
	double flops = 32;
	char line[16384];
	FILE *f = fopen("/proc/cpuinfo", "re");
	bool seen = false;
	while (f && !seen && fgets(line, sizeof line, f)) {
		seen = strncmp(line, "flags", 5) == 0;
		for (size_t i = 0; seen && i < sizeof unit / sizeof unit[0]; i++)
			if (strstr(line, unit[i].flag) && flops < unit[i].flops)
				flops = unit[i].flops;
	}
	if (f)
		fclose(f);
	return seen ? flops : 256; /* other architectures list their units under other names */
}

static int cpu_describe(int index, struct msg_device *out, struct fw_err *err)
{
	if (index != 0)
		return err_set(err, ERR_NOT_FOUND, "no device cpu:%d", index);
	memset(out, 0, sizeof *out);
	out->kind = DEVICE_CPU;
	cpu_model(out->name, sizeof out->name);
	char hex[HASH_HEX];
	hash_hex(out->name, strlen(out->name), hex);
	snprintf(out->uuid, sizeof out->uuid, "cpu-%.12s", hex);
	snprintf(out->toolkit, sizeof out->toolkit, "cpu");
	out->cores = cpu_threads();
	out->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	out->l2_bytes = (int64_t)cache_bytes();
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	out->peak_tflops = (double)(online < 1 ? 1 : online) * core_flops() * CLOCK_GHZ * 1e-3;
	out->peak_gb_s = (double)(online < 1 ? 1 : online) * CORE_GB_S;
	return 0;
}

static void cpu_close(struct device *d)
{
	if (!d)
		return;
	for (int i = 0; i < CPU_BUFFERS_MAX; i++)
		free(d->buffer[i].block);
	free(d->scrub);
	free(d);
}

static int cpu_open(int index, uint64_t seed, struct device **out, struct fw_err *err)
{
	(void)seed;
	if (index != 0)
		return err_set(err, ERR_NOT_FOUND, "no device cpu:%d", index);
	struct device *d = mem_alloc_zero(1, sizeof *d);
	d->threads = cpu_threads();
	omp_set_num_threads(d->threads);
	d->scrub_bytes = 2 * cache_bytes();
	if (d->scrub_bytes > SCRUB_MAX)
		d->scrub_bytes = SCRUB_MAX;
	d->scrub = malloc(d->scrub_bytes);
	if (!d->scrub) {
		cpu_close(d);
		return err_set(err, ERR_FULL, "no memory for %zu bytes that displace the cache", 2 * cache_bytes());
	}
	*out = d;
	return 0;
}

static int cpu_plan_index(const struct device *d)
{
	return d->threads;
}

static void lay_zone(unsigned char *zone)
{
	for (size_t i = 0; i < DEVICE_REDZONE_BYTES; i++)
		zone[i] = device_redzone_byte(i);
}

static bool zone_intact(const unsigned char *zone)
{
	for (size_t i = 0; i < DEVICE_REDZONE_BYTES; i++)
		if (zone[i] != device_redzone_byte(i))
			return false;
	return true;
}

static int cpu_alloc(struct device *d, size_t bytes, void **out, struct fw_err *err)
{
	for (int i = 0; i < CPU_BUFFERS_MAX; i++) {
		struct cpu_buffer *b = &d->buffer[i];
		if (b->block)
			continue;
		void *block;
		if (posix_memalign(&block, ALIGN, bytes + 2 * DEVICE_REDZONE_BYTES) != 0)
			return err_set(err, ERR_FULL, "no memory for a buffer of %zu bytes", bytes);
		b->block = block;
		b->bytes = bytes;
		lay_zone(b->block);
		lay_zone(b->block + DEVICE_REDZONE_BYTES + bytes);
		*out = b->block + DEVICE_REDZONE_BYTES;
		return 0;
	}
	return err_set(err, ERR_FULL, "more than %d buffers", CPU_BUFFERS_MAX);
}

static void cpu_release(struct device *d, void *data)
{
	for (int i = 0; data && i < CPU_BUFFERS_MAX; i++) {
		if (d->buffer[i].block && d->buffer[i].block + DEVICE_REDZONE_BYTES == data) {
			free(d->buffer[i].block);
			d->buffer[i] = (struct cpu_buffer){ 0 };
			return;
		}
	}
}

static int cpu_guards(struct device *d, void **which, struct fw_err *err)
{
	void *damaged = NULL;
	for (int i = 0; i < CPU_BUFFERS_MAX; i++) {
		struct cpu_buffer *b = &d->buffer[i];
		if (!b->block)
			continue;
		unsigned char *behind = b->block + DEVICE_REDZONE_BYTES + b->bytes;
		if (zone_intact(b->block) && zone_intact(behind))
			continue;
		if (!damaged)
			damaged = b->block + DEVICE_REDZONE_BYTES;
		lay_zone(b->block);
		lay_zone(behind);
	}
	if (!damaged)
		return 0;
	*which = damaged;
	return err_set(err, ERR_INVALID, "bytes beside a buffer were written");
}

static int cpu_copy(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err)
{
	(void)d, (void)err;
	memcpy(to, from, bytes);
	return 0;
}

static int cpu_checksum(struct device *d, const void *data, size_t bytes, uint64_t *sum, struct fw_err *err)
{
	(void)d, (void)err;
	const uint64_t *word = data;
	const int64_t n = (int64_t)(bytes / sizeof *word);
	uint64_t total = 0, rest = 0;
#pragma omp parallel for reduction(+ : total) schedule(static) if (n > WORTH_THREADS)
	for (int64_t i = 0; i < n; i++)
		total += inputs_summand(word[i], (uint64_t)i);
	memcpy(&rest, word + n, bytes % sizeof *word);
	*sum = total + inputs_summand(rest, (uint64_t)n);
	return 0;
}

static int cpu_fill_inputs(struct device *d, void *to, uint64_t seed, uint32_t tensor, size_t n, struct fw_err *err)
{
	(void)d, (void)err;
	enum { CHUNK = 1 << 16 };
	const int64_t chunks = (int64_t)((n + CHUNK - 1) / CHUNK);
#pragma omp parallel for schedule(static) if (n > WORTH_THREADS)
	for (int64_t c = 0; c < chunks; c++) {
		size_t first = (size_t)c * CHUNK, left = n - first;
		inputs_fill(seed, tensor, first, left < CHUNK ? left : CHUNK, (uint16_t *)to + first);
	}
	return 0;
}

static int cpu_fill_bytes(struct device *d, void *to, int value, size_t bytes, struct fw_err *err)
{
	(void)d, (void)err;
	memset(to, value, bytes);
	return 0;
}

static int cpu_scrub(struct device *d, struct fw_err *err)
{
	(void)err;
	/* A volatile pass over the lines: the compiler may not drop these unread writes. */
	volatile unsigned char *p = d->scrub;
	unsigned char next = (unsigned char)(p[0] + 1);
	for (size_t i = 0; i < d->scrub_bytes; i += 64)
		p[i] = next;
	return 0;
}

static void *cpu_stream(struct device *d)
{
	(void)d;
	return NULL;
}

static int cpu_mark(struct device *d, int slot, struct fw_err *err)
{
	(void)err;
	d->mark_ns[slot] = now_ns();
	return 0;
}

static int cpu_stamp(struct device *d, int slot, int end, struct fw_err *err)
{
	(void)d, (void)slot, (void)end, (void)err;
	return 0;
}

static int cpu_wait_mark(struct device *d, int slot, struct fw_err *err)
{
	(void)d, (void)slot, (void)err;
	return 0;
}

static int cpu_wait(struct device *d, struct fw_err *err)
{
	(void)d, (void)err;
	return 0;
}

static int64_t clock_us(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Spinning threads look like working threads: then nothing is reported about them. */
static int cpu_settle(struct device *d, double *late_us, struct fw_err *err)
{
	const char *policy = getenv("OMP_WAIT_POLICY");
	const struct timespec nap = { .tv_nsec = NAP_NS };
	int64_t all = clock_us(CLOCK_PROCESS_CPUTIME_ID), mine = clock_us(CLOCK_THREAD_CPUTIME_ID);
	(void)d, (void)err;
	nanosleep(&nap, NULL);
	mine = clock_us(CLOCK_THREAD_CPUTIME_ID) - mine;
	all = clock_us(CLOCK_PROCESS_CPUTIME_ID) - all;
	*late_us = policy && strcasecmp(policy, "passive") == 0 ? (double)(all - mine) : 0;
	return 0;
}

static float cpu_elapsed_ms(struct device *d, int from_slot, int to_slot)
{
	return (float)((double)(d->mark_ns[to_slot] - d->mark_ns[from_slot]) * 1e-6);
}

static float cpu_clock_mhz(struct device *d, int slot)
{
	(void)d, (void)slot;
	return 0.0f;
}

static double cpu_host_us(struct device *d)
{
	(void)d;
	return (double)now_ns() * 1e-3;
}

static int cpu_capture(struct device *d, int (*enqueue)(void *arg, void *stream), void *arg, device_node_fn *node, void *node_arg,
	struct fw_err *err)
{
	(void)d, (void)node, (void)node_arg;
	if (enqueue(arg, NULL) != 0)
		return err_set(err, ERR_INVALID, "enqueue failed");
	return 0;
}

static void cpu_profiler(struct device *d, bool start)
{
	(void)d, (void)start;
}

static void cpu_device_check(struct device *d, struct msg_device_check *out)
{
	(void)d, (void)out; /* no driver */
}

enum { SETTING_THREADS, SETTING_DYNAMIC, SETTING_LEVELS, SETTING_ROUNDING, SETTING_DENORMALS, SETTING_HEAP, SETTINGS };

/* Flush-to-zero and denormals-are-zero make later arithmetic of any subject faster. */
#ifdef __SSE2__
#define DENORMAL_BITS 0x8040u
static int64_t denormals(void)
{
	return __builtin_ia32_stmxcsr() & DENORMAL_BITS;
}

static void set_denormals(int64_t value)
{
	__builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~DENORMAL_BITS) | (unsigned)value);
}
#else
static int64_t denormals(void)
{
	return 0;
}

static void set_denormals(int64_t value)
{
	(void)value;
}
#endif

static int cpu_settings(struct device *d, bool quick, struct device_setting *out)
{
	int64_t ours = 0;
	out[SETTING_THREADS] = (struct device_setting){ "OpenMP threads", omp_get_max_threads(), 0, true };
	out[SETTING_DYNAMIC] = (struct device_setting){ "whether OpenMP adjusts threads", omp_get_dynamic(), 0, true };
	out[SETTING_LEVELS] = (struct device_setting){ "OpenMP levels", omp_get_max_active_levels(), 0, true };
	out[SETTING_ROUNDING] = (struct device_setting){ "rounding mode", fegetround(), 0, true };
	out[SETTING_DENORMALS] = (struct device_setting){ "whether denormal numbers count as zero", denormals(), 0, true };
	if (quick)
		return SETTING_HEAP;
	struct mallinfo2 heap = mallinfo2();
	for (int i = 0; i < CPU_BUFFERS_MAX; i++)
		if (d->buffer[i].block)
			ours += (int64_t)d->buffer[i].bytes + 2 * DEVICE_REDZONE_BYTES;
	out[SETTING_HEAP] =
		(struct device_setting){ "heap bytes", (int64_t)(heap.uordblks + heap.hblkhd) - ours, HEAP_SLACK, false };
	return SETTINGS;
}

static void cpu_set_back(struct device *d, int which, int64_t value)
{
	(void)d;
	if (which == SETTING_THREADS)
		omp_set_num_threads((int)value);
	else if (which == SETTING_DYNAMIC)
		omp_set_dynamic((int)value);
	else if (which == SETTING_LEVELS)
		omp_set_max_active_levels((int)value);
	else if (which == SETTING_ROUNDING)
		fesetround((int)value);
	else if (which == SETTING_DENORMALS)
		set_denormals(value);
}

/* Resident memory: buffers count once they were written to. */
static int64_t cpu_taken_bytes(struct device *d)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long long resident = -1;
	if (!f)
		return -1;
	if (fscanf(f, "%*d %lld", &resident) != 1)
		resident = -1;
	fclose(f);
	if (resident < 0)
		return -1;
	resident *= sysconf(_SC_PAGESIZE);
	for (int i = 0; i < CPU_BUFFERS_MAX; i++)
		resident -= d->buffer[i].block ? (long long)(d->buffer[i].bytes + 2 * DEVICE_REDZONE_BYTES) : 0;
	return resident;
}

const struct device_ops device_cpu = {
	.kind = DEVICE_CPU,
	.abi_device = FW_CPU,
	.describe = cpu_describe,
	.open = cpu_open,
	.close = cpu_close,
	.plan_index = cpu_plan_index,
	.alloc = cpu_alloc,
	.release = cpu_release,
	.guards = cpu_guards,
	.upload = cpu_copy,
	.download = cpu_copy,
	.checksum = cpu_checksum,
	.fill_inputs = cpu_fill_inputs,
	.fill_bytes = cpu_fill_bytes,
	.copy = cpu_copy,
	.scrub = cpu_scrub,
	.stream = cpu_stream,
	.mark = cpu_mark,
	.stamp = cpu_stamp,
	.wait_mark = cpu_wait_mark,
	.wait = cpu_wait,
	.settle = cpu_settle,
	.elapsed_ms = cpu_elapsed_ms,
	.clock_mhz = cpu_clock_mhz,
	.host_us = cpu_host_us,
	.capture = cpu_capture,
	.profiler = cpu_profiler,
	.device_check = cpu_device_check,
	.settings = cpu_settings,
	.set_back = cpu_set_back,
	.taken_bytes = cpu_taken_bytes,
};
