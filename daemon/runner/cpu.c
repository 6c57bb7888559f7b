/*
 * cpu.c - the host as a device: memory from malloc, the stream is program order, marks are the raw monotonic clock; and the
 * simulated device, which differs in its clocks only.
 */
#include "runner/internal.h"

#include <fenv.h>
#include <malloc.h>
#include <math.h>
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
	size_t bytes;         /* size of the data */
};

struct device {
	int threads;
	struct cpu_buffer buffer[CPU_BUFFERS_MAX]; /* block NULL: free entry */
	unsigned char *scrub;
	size_t scrub_bytes;
	int64_t mark_ns[DEVICE_MARKS_MAX];
	/* only of the simulated device, to the end */
	uint64_t seed;
	uint64_t calls;
	double slower;   /* factor by which its driver lengthens every call */
	double swing;    /* initial oscillation, as a share of the frequency */
	unsigned at;     /* position in the trace */
	double now_ns;   /* the device's clock */
	double host_ns;  /* the host's clock */
	double call_mhz; /* clock during the last call */
	double draw_w;   /* mean of the last calls at the trace's frequency */
	double energy_j;
	double sim_mark_ns[DEVICE_MARKS_MAX];
	float stamp_mhz[DEVICE_STAMPS_MAX];
};

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Return the number from 1 to 1,024 in an environment variable; 0: none. */
static int given_number(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;
	return text && *text && !*end && n >= 1 && n <= 1024 ? (int)n : 0;
}

static int cpu_threads(void)
{
	int given = given_number("FLOPWATCH_CPU_THREADS");
	long n = given ? given : sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : (int)n;
}

/* Return the size of the last-level cache. Some kernels do not show it, and virtual machines may show the whole host's. */
static size_t cache_bytes(void)
{
	int given = given_number("FLOPWATCH_CPU_CACHE_MIB");
	if (given)
		return (size_t)given << 20;
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
	return seen ? flops : 256; /* other architectures have other names */
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
		if (posix_memalign(&block, ALIGN, bytes + (size_t)2 * DEVICE_REDZONE_BYTES) != 0)
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

static int cpu_check_redzones(struct device *d, void **which, struct fw_err *err)
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
	return err_set(err, ERR_INVALID, "bytes outside of a buffer were written");
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

/* Reports no late work if threads spin: these cannot be distinguished from working ones. */
static int cpu_wait_all(struct device *d, double *late_us, struct fw_err *err)
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
	(void)d, (void)out;
}

enum { SETTING_THREADS, SETTING_DYNAMIC, SETTING_LEVELS, SETTING_ROUNDING, SETTING_DENORMALS, SETTING_HEAP, SETTINGS };

/* Flush-to-zero and denormals-are-zero make later arithmetic of any side faster. */
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
			ours += (int64_t)d->buffer[i].bytes + INT64_C(2) * DEVICE_REDZONE_BYTES;
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

/* Return the resident memory: buffers count after the first write. */
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
		resident -= d->buffer[i].block ? (long long)(d->buffer[i].bytes + (size_t)2 * DEVICE_REDZONE_BYTES) : 0;
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
	.check_redzones = cpu_check_redzones,
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
	.wait_all = cpu_wait_all,
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

/*
 * ---- sim_trace ----
 * Noise of a real GPU: 256 calls in a row of cuDNN's attention forward (64:8 heads, headdim 128, 8192 tokens) on
 * an H200 at its power limit, five key lengths interleaved and scaled to one level. Never edited manually.
 */

enum { SIM_TRACE_CALLS = 256 };

struct sim_call {
	int16_t log_e5; /* 1e5 ln(time / running median of 101 calls) */
	uint16_t mhz;   /* SM clock that the driver reported during the call */
};

// clang-format off
static const struct sim_call sim_trace[SIM_TRACE_CALLS] = {
	{ 422, 1665 }, { 300, 1665 }, { 309, 1665 }, { 885, 1665 }, { 840, 1665 }, { 1312, 1665 }, { 998, 1665 }, { 995, 1665 },
	{ 894, 1665 }, { 904, 1665 }, { 821, 1665 }, { 899, 1665 }, { 836, 1665 }, { 975, 1665 }, { 820, 1665 }, { 725, 1665 },
	{ -126, 1665 }, { -391, 1665 }, { 50, 1665 }, { 623, 1665 }, { 680, 1665 }, { 847, 1665 }, { 783, 1665 }, { 614, 1665 },
	{ -303, 1665 }, { -606, 1665 }, { -533, 1665 }, { -495, 1665 }, { -617, 1665 }, { -652, 1665 }, { -506, 1665 }, { -720, 1665 },
	{ -653, 1665 }, { -739, 1665 }, { -98, 1665 }, { 407, 1665 }, { 343, 1665 }, { 326, 1665 }, { 525, 1665 }, { 632, 1665 },
	{ 924, 1665 }, { 389, 1665 }, { -491, 1665 }, { -350, 1665 }, { -480, 1665 }, { -156, 1665 }, { -314, 1665 }, { -524, 1665 },
	{ -261, 1665 }, { -545, 1665 }, { -627, 1665 }, { -425, 1665 }, { -554, 1665 }, { -511, 1665 }, { -580, 1665 }, { -565, 1665 },
	{ 159, 1665 }, { 96, 1665 }, { -473, 1665 }, { 1444, 1665 }, { -50, 1665 }, { 981, 1665 }, { 863, 1665 }, { 2366, 1665 },
	{ 575, 1665 }, { 845, 1665 }, { 594, 1665 }, { 3757, 1665 }, { 2390, 1665 }, { 680, 1665 }, { 798, 1665 }, { -254, 1665 },
	{ 1177, 1665 }, { 395, 1665 }, { 320, 1665 }, { 255, 1665 }, { 1503, 1665 }, { -148, 1665 }, { 73, 1665 }, { -76, 1665 },
	{ -44, 1665 }, { 1593, 1665 }, { -84, 1665 }, { 94, 1665 }, { -109, 1665 }, { 1472, 1665 }, { -85, 1665 }, { 104, 1665 },
	{ 83, 1665 }, { 2316, 1665 }, { -177, 1665 }, { 165, 1665 }, { 33, 1665 }, { 1707, 1665 }, { -140, 1695 }, { -431, 1695 },
	{ 9, 1695 }, { -227, 1695 }, { 1213, 1695 }, { -378, 1695 }, { -94, 1695 }, { -109, 1695 }, { 1014, 1695 }, { -67, 1695 },
	{ -236, 1695 }, { -298, 1695 }, { -403, 1695 }, { 798, 1695 }, { -1163, 1695 }, { -866, 1695 }, { -1100, 1695 }, { -71, 1695 },
	{ -1334, 1695 }, { -609, 1695 }, { -301, 1695 }, { -393, 1695 }, { 1435, 1695 }, { -485, 1695 }, { -102, 1695 }, { -208, 1695 },
	{ 997, 1695 }, { -286, 1695 }, { 151, 1695 }, { 626, 1695 }, { 2566, 1695 }, { 867, 1695 }, { -313, 1695 }, { -674, 1695 },
	{ -721, 1695 }, { 411, 1695 }, { -583, 1695 }, { -957, 1695 }, { -1059, 1695 }, { 316, 1695 }, { -1029, 1695 }, { -1183, 1695 },
	{ -1036, 1695 }, { -1320, 1695 }, { 254, 1695 }, { -864, 1695 }, { -49, 1695 }, { -243, 1695 }, { 881, 1695 }, { -317, 1695 },
	{ -15, 1695 }, { -509, 1695 }, { 887, 1695 }, { -1318, 1680 }, { -1380, 1680 }, { -1336, 1680 }, { -1277, 1680 }, { 245, 1680 },
	{ -1384, 1680 }, { -1193, 1680 }, { -2031, 1680 }, { 442, 1680 }, { 970, 1680 }, { 1020, 1680 }, { 451, 1680 }, { 1803, 1680 },
	{ 1737, 1680 }, { 1920, 1680 }, { 1751, 1680 }, { 2869, 1680 }, { 1562, 1680 }, { 1735, 1680 }, { 1582, 1680 }, { 3733, 1680 },
	{ 2071, 1680 }, { 1925, 1680 }, { 1663, 1680 }, { 3610, 1680 }, { 1990, 1575 }, { 1919, 1575 }, { 1658, 1575 }, { 5374, 1575 },
	{ 7132, 1575 }, { 5786, 1575 }, { 6354, 1575 }, { 5557, 1575 }, { 5013, 1575 }, { 4883, 1575 }, { 4274, 1575 }, { 7276, 1575 },
	{ 4096, 1575 }, { 2262, 1575 }, { 1830, 1575 }, { 1763, 1575 }, { 3077, 1575 }, { 2899, 1575 }, { 4337, 1575 }, { 4062, 1575 },
	{ 5058, 1575 }, { 4125, 1575 }, { 4255, 1575 }, { 3781, 1575 }, { 4814, 1545 }, { 2187, 1545 }, { 2164, 1545 }, { 1848, 1545 },
	{ 3046, 1545 }, { 3384, 1545 }, { 2581, 1545 }, { 2842, 1545 }, { -359, 1545 }, { -442, 1545 }, { -269, 1545 }, { 2666, 1545 },
	{ 1472, 1545 }, { -2714, 1545 }, { -2640, 1545 }, { -3096, 1545 }, { -1268, 1545 }, { -1898, 1545 }, { -2349, 1545 }, { -2638, 1545 },
	{ -1151, 1545 }, { -2029, 1545 }, { -2063, 1545 }, { -1859, 1545 }, { -1804, 1545 }, { -176, 1545 }, { -1416, 1665 }, { -1300, 1665 },
	{ -1557, 1665 }, { 0, 1665 }, { -1345, 1665 }, { -970, 1665 }, { -1439, 1665 }, { 1441, 1665 }, { -1322, 1665 }, { -2385, 1665 },
	{ -2197, 1665 }, { -2067, 1665 }, { -710, 1665 }, { -1930, 1665 }, { 1640, 1665 }, { 1157, 1665 }, { -9, 1665 }, { -1656, 1665 },
	{ 768, 1665 }, { -919, 1665 }, { -1421, 1665 }, { -1686, 1665 }, { -1342, 1665 }, { 544, 1665 }, { -1265, 1665 }, { -1240, 1665 },
	{ -1342, 1695 }, { 753, 1695 }, { -980, 1695 }, { -989, 1695 }, { -1166, 1695 }, { 11, 1695 }, { 902, 1695 }, { -802, 1695 },
};
// clang-format on

/*
 * ---- sim ----
 * A device with a simulated clock, for tests of all code that uses times.
 *
 * Modules compute on the CPU, but time passes only through work(): FLOPs at a fixed rate, times the noise of one recorded call.
 * The noise comes in runs of neighbouring calls, so drift and outliers are those of a real GPU. It depends on the run's seed
 * and the number of calls so far, never on the side.
 *
 * There are two clocks: the device's, which work and scrubs advance, and the host's, which runs ahead of it until it waits. A
 * call that names its power draw changes the device's frequency: a governor holds the mean draw of the last GOVERNOR_MS at the
 * power limit, with power as the cube of the frequency. A real GPU's frequency oscillates before it stabilises:
 * FLOPWATCH_SIM_ENVIRONMENT="swing=0.1" starts like that.
 */

enum { NUMBERS_MAX = 1000 };
enum { RUN_OF_CALLS = 64 }; /* neighbours in the trace that also follow each other here */

#define FLOPS_PER_NS 100.0 /* a call of the smoke suite takes milliseconds */
#define SCRUB_NS     1e6
#define LEAST_FLOPS  1000.0
#define HOST_US      3.0   /* time of an enqueue */
#define LIMIT_W      700.0 /* power limit of the GPU in the trace, which was at it */
#define GOVERNOR_MS  20.0
#define SWING_NS     1e9 /* time in which a swing falls to a third, as on H100 */
#define SWING_ENDS   4.5e9
#define IDLE_W       90.0

enum { SIM_NONE = -1, SIM_BROKEN = -2 };

/* Parse the list of simulated devices, "0,broken,2": returns the number of the one at `index`, or none, or broken. */
static int sim_number(int index)
{
	const char *list = getenv("FLOPWATCH_SIM_DEVICES");
	char *end;
	if (!list)
		list = "0";
	for (; index > 0 && list; index--) {
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	if (list && index == 0 && strncmp(list, "broken", 6) == 0)
		return SIM_BROKEN;
	long number = list && index == 0 ? strtol(list, &end, 10) : -1;
	return number >= 0 && number < NUMBERS_MAX && end != list ? (int)number : SIM_NONE;
}

/*
 * Find a setting in FLOPWATCH_SIM_ENVIRONMENT, "driver=551.2 vbios=96 power_w=650 slower=1.05 swing=0.1"; "" none. Shape:
 * out[32].
 */
static void sim_setting(const char *name, char *out)
{
	const char *text = getenv("FLOPWATCH_SIM_ENVIRONMENT");
	size_t n = strlen(name);
	out[0] = '\0';
	for (; text && *text; text += strcspn(text, " "), text += strspn(text, " "))
		if (strncmp(text, name, n) == 0 && text[n] == '=')
			snprintf(out, 32, "%.*s", (int)strcspn(text + n + 1, " "), text + n + 1);
}

static int sim_describe(int index, struct msg_device *out, struct fw_err *err)
{
	int number = sim_number(index);
	if (number == SIM_BROKEN)
		return err_set(err, ERR_IO, "cannot describe the device: it is broken");
	if (number < 0)
		return err_set(err, ERR_NOT_FOUND, "no device sim:%d", index);
	if (cpu_describe(0, out, err) != 0)
		return -1;
	out->kind = DEVICE_SIM;
	out->index = index;
	snprintf(out->uuid, sizeof out->uuid, "sim-%d", number);
	snprintf(out->name, sizeof out->name, "simulated device");
	snprintf(out->toolkit, sizeof out->toolkit, "cpu");
	out->clock_max_mhz = 1980;
	char word[32];
	sim_setting("driver", word);
	snprintf(out->driver, sizeof out->driver, "%s", word);
	sim_setting("vbios", out->vbios);
	sim_setting("cublas", word);
	snprintf(out->cublas, sizeof out->cublas, "%.23s", word);
	sim_setting("power_w", word);
	out->power_limit_w = word[0] ? strtod(word, NULL) : 0;
	out->peak_tflops = out->peak_gb_s = 0; /* its times come from work that modules claim */
	return 0;
}

static int sim_open(int index, uint64_t seed, struct device **out, struct fw_err *err)
{
	if (sim_number(index) < 0)
		return err_set(err, ERR_NOT_FOUND, "no device sim:%d", index);
	if (cpu_open(0, seed, out, err) != 0)
		return -1;
	struct device *d = *out;
	char word[32];
	d->seed = seed;
	sim_setting("slower", word);
	d->slower = word[0] ? strtod(word, NULL) : 1;
	sim_setting("swing", word);
	d->swing = strtod(word, NULL);
	d->draw_w = LIMIT_W;
	/* One thread: the same order of sums on every machine, and no barrier on a busy one. */
	omp_set_num_threads(1);
	return 0;
}

static int sim_plan_index(const struct device *d)
{
	(void)d;
	return 1;
}

/* There is no cache to displace; time passes so that a warm-up by time ends. */
static int sim_scrub(struct device *d, struct fw_err *err)
{
	(void)err;
	d->now_ns += SCRUB_NS;
	d->energy_j += IDLE_W * SCRUB_NS * 1e-9;
	return 0;
}

static int sim_mark(struct device *d, int slot, struct fw_err *err)
{
	(void)err;
	d->sim_mark_ns[slot] = d->now_ns;
	return 0;
}

static int sim_stamp(struct device *d, int slot, int end, struct fw_err *err)
{
	(void)err;
	if (end == 1)
		d->stamp_mhz[slot] = (float)d->call_mhz;
	return 0;
}

static int sim_wait_mark(struct device *d, int slot, struct fw_err *err)
{
	(void)err;
	d->host_ns = fmax(d->host_ns, d->sim_mark_ns[slot]);
	return 0;
}

static int sim_wait(struct device *d, struct fw_err *err)
{
	(void)err;
	d->host_ns = fmax(d->host_ns, d->now_ns);
	return 0;
}

static int sim_wait_all(struct device *d, double *late_us, struct fw_err *err)
{
	(void)d, (void)err;
	*late_us = 0;
	return 0;
}

static float sim_elapsed_ms(struct device *d, int from_slot, int to_slot)
{
	return (float)((d->sim_mark_ns[to_slot] - d->sim_mark_ns[from_slot]) * 1e-6);
}

static float sim_clock_mhz(struct device *d, int slot)
{
	return d->stamp_mhz[slot];
}

static double sim_host_us(struct device *d)
{
	return d->host_ns * 1e-3;
}

/* Return the governor's frequency over that of the trace. */
static double governed(struct device *d, double power_w, double ms)
{
	double share = 1 - exp(-ms / GOVERNOR_MS);
	double swing = d->swing * exp(-d->now_ns / SWING_ENDS) * cos(2 * M_PI * d->now_ns / SWING_NS);
	d->draw_w += share * (power_w - d->draw_w);
	return cbrt(LIMIT_W / d->draw_w) * (1 + swing);
}

static void sim_work(struct device *d, const struct device_work *w)
{
	d->host_ns += (w->host_us > 0 ? w->host_us : HOST_US) * 1e3;
	d->now_ns = fmax(d->now_ns, d->host_ns); /* a device with an empty queue has waited for the host */
	if (d->calls % RUN_OF_CALLS == 0)
		d->at = (unsigned)(inputs_mix(d->seed + inputs_mix(d->calls)) % SIM_TRACE_CALLS);
	else
		d->at = (d->at + 1) % SIM_TRACE_CALLS;
	d->calls++;
	double ns = fmax(w->flops, LEAST_FLOPS) / FLOPS_PER_NS * d->slower * exp(sim_trace[d->at].log_e5 * 1e-5);
	double chance = (double)(inputs_mix(d->seed ^ inputs_mix(d->calls + 0x51)) >> 11) * 0x1p-53;
	if (chance < w->slow_share)
		ns *= w->slow_factor;
	double power_w = w->power_w > 0 ? w->power_w : LIMIT_W, clock = governed(d, power_w, ns * 1e-6);
	d->now_ns += ns / clock;
	d->energy_j += power_w * clock * clock * clock * ns / clock * 1e-9;
	d->call_mhz = sim_trace[d->at].mhz * clock;
}

static void sim_device_check(struct device *d, struct msg_device_check *out)
{
	out->sm_mhz = d->call_mhz > 0 ? d->call_mhz : -1;
	out->power_w = d->calls ? fmin(d->draw_w, LIMIT_W) : -1;
	out->energy_j = d->energy_j;
	snprintf(out->regime, sizeof out->regime, "%s", d->draw_w < LIMIT_W ? "boost" : "power_limited");
}

static double sim_energy_j(struct device *d)
{
	return d->energy_j;
}

const struct device_ops device_sim = {
	.kind = DEVICE_SIM,
	.abi_device = FW_CPU,
	.clocks = true,
	.describe = sim_describe,
	.open = sim_open,
	.close = cpu_close,
	.plan_index = sim_plan_index,
	.alloc = cpu_alloc,
	.release = cpu_release,
	.check_redzones = cpu_check_redzones,
	.upload = cpu_copy,
	.download = cpu_copy,
	.checksum = cpu_checksum,
	.fill_inputs = cpu_fill_inputs,
	.fill_bytes = cpu_fill_bytes,
	.copy = cpu_copy,
	.scrub = sim_scrub,
	.stream = cpu_stream,
	.mark = sim_mark,
	.stamp = sim_stamp,
	.wait_mark = sim_wait_mark,
	.wait = sim_wait,
	.wait_all = sim_wait_all,
	.elapsed_ms = sim_elapsed_ms,
	.clock_mhz = sim_clock_mhz,
	.host_us = sim_host_us,
	.work = sim_work,
	.capture = cpu_capture,
	.profiler = cpu_profiler,
	.device_check = sim_device_check,
	.energy_j = sim_energy_j,
	.settings = cpu_settings,
	.set_back = cpu_set_back,
};
