/* program.c - command line and environment of a benchmark program. */
#include "worker/internal.h"

static const int64_t file_max_bytes = 2LL << 30;

/* Prevent idle threads from spinning, which would look like work in the other side's turn. */
static const char *const interleave_env[] = { INTERLEAVE_VARIABLE "=3", "OMP_WAIT_POLICY=passive", "KMP_BLOCKTIME=0", NULL };
static const char fork_env[] = INTERLEAVE_FORK_VARIABLE "=1";
_Static_assert(PROGRAM_INTERLEAVE_FD == 3, "interleave_env names it");

const char program_timeout_remedy[] =
	" (timeout_s): raise it, or select fewer rows in `command` (see doc/troubleshooting.md#benchmark-timeout)";

int program_prepare(struct program *p, const struct bench *b, const struct build_context *c, const struct msg_side *s,
	enum program_use use, struct fw_err *err)
{
	bool gpu = s->benchmark.gpu && b->device.kind == DEVICE_CUDA;
	char side[128], argument[BENCHMARK_TEXT_SIZE + 16];
	const char *more[12] = { NULL };
	int n = 0;

	build_program_folder(c, s, side);
	snprintf(p->job, sizeof p->job, "%s/%s", c->cache->dir, side);
	snprintf(p->cwd, sizeof p->cwd, "%s/%s", p->job, s->build.dir);
	if (c->sandbox->kit[0]) { /* for `python3 -m flopwatch` */
		snprintf(p->path, sizeof p->path, "PYTHONPATH=%s", c->sandbox->kit);
		more[n++] = p->path;
	}
	/* containers put the driver's libraries there; the sandbox adds these itself */
	const char *libraries = gpu && !c->sandbox->active ? getenv("LD_LIBRARY_PATH") : NULL;

	if (libraries &&
		(size_t)snprintf(p->libraries, sizeof p->libraries, "LD_LIBRARY_PATH=%s", libraries) < sizeof p->libraries)
		more[n++] = p->libraries;
	if (gpu) { /* show only the job's GPU */
		snprintf(p->device, sizeof p->device, "CUDA_VISIBLE_DEVICES=%s", b->device.uuid);
		more[n++] = p->device;
	}
	for (int i = 0; use != PROGRAM_WHOLE && interleave_env[i]; i++)
		more[n++] = interleave_env[i];
	if (use == PROGRAM_FORKED)
		more[n++] = fork_env;
	more[n] = NULL;
	sandbox_benchmark(c->sandbox, &p->words, p->job, s->build.dir, gpu, more);
	for (int i = 0; i < s->benchmark.n_command; i++) {
		manifest_expand(s->benchmark.command[i], device_kind_name(c->device), argument, sizeof argument);
		sandbox_arg(&p->words, argument);
	}
	sandbox_environment(c->sandbox, more, &p->environment);
	p->spec = (struct proc_spec){ .argv = p->words.arg,
		.env = p->environment.list,
		.cwd = c->sandbox->active ? NULL : p->cwd,
		.file_size_bytes = file_max_bytes };
	return sandbox_end(&p->words, err);
}

int program_blame(struct command_failure *t, const struct output_tail *w, const char *failure, const char *what)
{
	char quoted[OUTPUT_TAIL_QUOTE];

	output_tail_quote(w, quoted);
	snprintf(t->failure, sizeof t->failure, "%s", failure);
	snprintf(t->detail, sizeof t->detail, "the benchmark %.280s%s", what, quoted);
	t->words = *w;
	return 0;
}

bool program_fills_disk(const struct build_context *c, const struct msg_side *s, char text[256])
{
	char side[128];
	struct disk_space disk;

	if (!disk_space_read(c->cache->fd, &disk) || !disk_space_is_low(&disk))
		return false;
	build_program_folder(c, s, side);
	struct disk_usage took = workdir_usage(c->cache->fd, side);

	if (!disk_usage_exceeds_share(&disk, took))
		return false;
	snprintf(text, 256, "filled the disk of the cache: %lld MiB and %lld files", (long long)(took.bytes >> 20),
		(long long)took.files);
	return true;
}

/* Exit status of a shell that does not find a program, and of the loader without a library. */
enum { EXIT_NOT_FOUND = 127 };

int program_end(const struct build_context *c, const struct msg_side *s, const struct proc_exit *how, const struct output_tail *w,
	struct command_failure *t, struct fw_err *err)
{
	char side[128], ended[64], what[256];
	struct disk_space disk;

	if (how->status == 0)
		return 1;
	proc_describe(how, ended);
	if (proc_is_outside(how))
		return err_set(err, ERR_BUSY,
			"the benchmark of the %s: %s; out of memory, or killed by another process on this machine",
			role_name(s->role), ended);
	build_program_folder(c, s, side);
	if (disk_space_read(c->cache->fd, &disk) && disk_space_is_low(&disk) &&
		!disk_usage_exceeds_share(&disk, workdir_usage(c->cache->fd, side))) {
		disk_space_describe(&disk, c->cache->dir, what, sizeof what);
		return err_set(err, ERR_FULL, "the benchmark of the %s %s while only %s", role_name(s->role), ended, what);
	}
	snprintf(what, sizeof what, "%s%s%s", how->signal ? "was " : "ended with ", ended,
		how->status == EXIT_NOT_FOUND && c->sandbox->active ? ": a program or library may be missing in the sandbox "
								      "(see doc/troubleshooting.md#not-in-the-sandbox)"
								    : "");
	return program_blame(t, w, "crash", what);
}
