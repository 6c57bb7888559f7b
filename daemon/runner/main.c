/* main.c - flopwatch-runner: arguments and the choice of a mode. */

#include "runner/internal.h"

enum { RECORDS_FD = 3, EXIT_USAGE = 2, CALLS_MAX = 1000000 };

static const char help[] =
	"usage: flopwatch-runner                    one `task` line on stdin, records on descriptor 3\n"
	"       flopwatch-runner --list             the devices of this machine, as a hello line\n"
	"       flopwatch-runner --counters [--device cuda:0]\n"
	"                                           whether its counters can be read here, as a profile line\n"
	"       flopwatch-runner --capture CELL --module M.so [--suite FILE] [--calls N] [--warmup M]\n"
	"                        [--device cuda:0] [--provider P] [--config C] [--memory] [--trace]\n"
	"                                           N calls between cudaProfilerStart and Stop, for ncu and nsys;\n"
	"                                           CELL is a key in FILE, or a cell as JSON. `flopwatch reproduce`\n"
	"                                           prints such lines\n"
	"       flopwatch-runner --help | --version\n"
	"\n"
	"Exit status: 0 done, 1 error, 2 usage, 3 a kernel lost the device (the fault record names its side).\n"
	"FLOPWATCH_CPU_THREADS sets the threads of device cpu, FLOPWATCH_CPU_CACHE_MIB the size of its cache.\n";

static int usage_error(const char *what)
{
	fprintf(stderr, "flopwatch-runner: %s; see flopwatch-runner --help\n", what);
	return EXIT_USAGE;
}

static struct capture_options capture = { .device = "cpu", .provider = "", .config = "", .calls = 10, .warmup = 3 };
static const char *device;
static bool list, counters;

static int take_device(const char *text)
{
	capture.device = device = text;
	return OPTION_NEXT;
}

static int take_number(const char *text, int least, int *out, const char *wrong)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	if (errno || !*text || *end || n < least || n > CALLS_MAX)
		return usage_error(wrong);
	*out = (int)n;
	return OPTION_NEXT;
}

static int take_calls(const char *text)
{
	return take_number(text, 1, &capture.calls, "--calls takes a number from 1 on");
}

static int take_warmup(const char *text)
{
	return take_number(text, 0, &capture.warmup, "--warmup takes a number from 0 on");
}

static int take_provider(const char *text)
{
	capture.provider = text;
	return strlen(text) < PEERS_PROVIDER_SIZE ? OPTION_NEXT : usage_error("--provider takes a name of at most 47 bytes");
}

static const struct option_row options[] = {
	{ "list", .flag = &list },
	{ "counters", .flag = &counters },
	{ "capture", .text = &capture.cell },
	{ "module", .text = &capture.module },
	{ "suite", .text = &capture.suite },
	{ "calls", .take = take_calls },
	{ "memory", .flag = &capture.memory },
	{ "trace", .flag = &capture.trace },
	{ "warmup", .take = take_warmup },
	{ "device", .take = take_device },
	{ "provider", .take = take_provider },
	{ "config", .text = &capture.config },
	{ "help", .print = help },
	{ "version", .print = "flopwatch-runner " FW_VERSION "\n" },
	{ .name = NULL },
};

int main(int argc, char **argv)
{
	int status = option_read(argc, argv, options);

	if (status != OPTION_NEXT)
		return status;
	if (optind < argc)
		return usage_error("unexpected argument");
	/* Set before any use of CUDA: kernels that load at their first call would be timed while they load. */
	if (setenv("CUDA_MODULE_LOADING", "EAGER", 1) != 0)
		return 1;
	signal(SIGPIPE, SIG_IGN);
	if (list)
		return task_list();
	if (counters)
		return mode_counters_run(device);
	if (!capture.cell)
		return task_run(STDIN_FILENO, RECORDS_FD);
	if (!capture.module || (!capture.suite && capture.cell[0] != '{'))
		return usage_error("--capture needs --module, and --suite unless the cell is given as JSON");
	return mode_capture_run(&capture);
}
