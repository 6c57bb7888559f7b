/* crash_location.c - frames of a crash resolved by addr2line. */
#include "worker/internal.h"

enum { DEADLINE_MS = 20000, NAMES_FD = 10, PRINTED_MAX = 16 << 10, MODULE_FD = 10 };

static const int64_t memory_max_bytes = (int64_t)4 << 30;
/* binutils up to 2.40 prints wrong file names for DWARF 5: only its function names are used. */
static const char exact[] = "/usr/bin/eu-addr2line", fallback[] = "/usr/bin/addr2line";
static const char mark[] = "flopwatch: crash in /proc/self/fd/";

void crash_location_parse(struct crash_location *p, struct output_tail *words)
{
	size_t left = 0;

	p->n = 0;
	for (size_t at = 0, next; at < words->n; at = next) {
		const char *end = memchr(words->text + at, '\n', words->n - at);
		char line[128];
		int fd;
		unsigned long long offset;

		next = end ? (size_t)(end - words->text) + 1 : words->n;
		snprintf(line, sizeof line, "%.*s", (int)(next - at), words->text + at);
		if (strncmp(line, mark, sizeof mark - 1) == 0 &&
			sscanf(line + sizeof mark - 1, "%d at %llx", &fd, &offset) == 2) {
			if (p->n < CRASH_LOCATION_FRAMES_MAX) {
				p->frame[p->n].module = fd - MODULE_FD;
				p->frame[p->n++].offset = offset;
			}
			continue;
		}
		memmove(words->text + left, words->text + at, next - at);
		left += next - at;
	}
	words->n = left;
}

/* Run `addr2line` for the frames in one module; it prints two lines per frame, function and file:line. Returns 0 or -1. */
static int run_addr2line(
	const struct bench *b, const char *addr2line, int names_fd, const struct crash_location *p, struct buf *printed)
{
	char name[32], address[CRASH_LOCATION_FRAMES_MAX][24];
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	struct fw_err err = { 0 };
	struct proc_exit how = { 0 };
	struct proc_spec spec = {
		.fd = { { names_fd, NAMES_FD } }, .n_fd = 1, .address_space_bytes = memory_max_bytes, .cpu_s = DEADLINE_MS / 1000
	};

	snprintf(name, sizeof name, "/proc/self/fd/%d", NAMES_FD);
	sandbox_run(b->sandbox, v, addr2line, false);
	sandbox_arg(v, "-fC");
	sandbox_arg(v, "-e");
	sandbox_arg(v, name);
	for (int i = 0; i < p->n; i++) {
		if (p->frame[i].module != p->frame[0].module)
			continue;
		snprintf(address[i], sizeof address[i], "0x%llx", p->frame[i].offset);
		sandbox_arg(v, address[i]);
	}
	spec.argv = v->arg;
	int result = sandbox_end(v, &err);
	if (result == 0)
		result = proc_run(&spec, NULL, printed, NULL, DEADLINE_MS, &how, &err);
	free(v);
	return result == 0 && how.status == 0 && !how.timed_out && !printed->failed ? 0 : -1;
}

static char *take_line(char **text)
{
	char *line = *text, *end = line + strcspn(line, "\n");

	*text = *end ? end + 1 : end;
	*end = '\0';
	for (char *c = line; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return line;
}

/* Format "sum_rows (kernel.c:42)" from the two lines, without the folders of the removed build. */
static void name_frame(const char *function, char *source, bool is_exact, char *out, size_t size)
{
	const char *file = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;

	source[strcspn(source, " ")] = '\0'; /* drop a discriminator */
	if (!is_exact || *file == '?' || strstr(file, ":?") || strstr(file, ":0"))
		snprintf(out, size, "%.80s", function);
	else
		snprintf(out, size, "%.80s (%.80s)", function, file);
}

static void write_names(const struct crash_location *p, char *printed, bool is_exact, char *out)
{
	size_t used = 0;

	for (int i = 0; i < p->n && used + 1 < CRASH_LOCATION_SIZE && *printed; i++) {
		char frame[176];

		if (p->frame[i].module != p->frame[0].module)
			continue;
		const char *function = take_line(&printed);
		char *source = take_line(&printed);
		if (*function == '?' && i > 0)
			break;
		if (*function == '?')
			snprintf(frame, sizeof frame, "offset 0x%llx of the module", p->frame[i].offset);
		else
			name_frame(function, source, is_exact, frame, sizeof frame);
		int n = snprintf(out + used, CRASH_LOCATION_SIZE - used, "%s%s", used ? ", called from " : "", frame);
		if (used + (size_t)n >= CRASH_LOCATION_SIZE) { /* drop a frame that does not fit completely */
			out[used] = '\0';
			break;
		}
		used += (size_t)n;
	}
}

/*
 * Open the module with symbols; -1: the cache has none. Any user can open the copy, because addr2line runs as another user in
 * the sandbox.
 */
static int open_names(const struct bench *b, const struct bench_side *s)
{
	int cached = b->cache ? cache_open_names(b->cache, s->sha256) : -1, copy = -1;
	char sha256[HASH_HEX];

	if (cached >= 0) {
		copy = sealed_copy(cached, "symbols", sha256, NULL);
		close(cached);
	}
	return copy;
}

void crash_location_format(const struct bench *b, const int *side, int n, const struct crash_location *p, char *out)
{
	int module = p->n > 0 ? p->frame[0].module : -1;
	struct buf printed;

	out[0] = '\0';
	if (module < 0 || module >= n)
		return;
	const struct bench_side *s = &b->side[side[module]];
	int names = open_names(b, s);
	buf_init(&printed, PRINTED_MAX);
	bool is_exact = access(exact, X_OK) == 0;
	if (run_addr2line(b, is_exact ? exact : fallback, names >= 0 ? names : s->fd, p, &printed) == 0 && printed.data)
		write_names(p, printed.data, is_exact, out);
	else
		snprintf(out, CRASH_LOCATION_SIZE, "offset 0x%llx of the module", p->frame[0].offset);
	buf_fini(&printed);
	fd_close(&names);
}
