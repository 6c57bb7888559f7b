/* main.c - flopwatch-runner: arguments and the choice of a mode. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runner/internal.h"

enum { RECORDS_FD = 3, EXIT_USAGE = 2, CALLS_MAX = 1000000 };

static const char help[] =
	"usage: flopwatch-runner                    one `run` line on stdin, records on descriptor 3\n"
	"       flopwatch-runner --list             the devices of this machine, as a hello line\n"
	"       flopwatch-runner --counters [--device cuda:0]\n"
	"                                           whether its counters can be read here, as a profile line\n"
	"       flopwatch-runner --capture CELL --module M.so [--suite FILE] [--calls N] [--warmup M]\n"
	"                        [--device cuda:0] [--provider P] [--config C]\n"
	"                                           N calls between cudaProfilerStart and Stop, for ncu and nsys;\n"
	"                                           CELL is a key in FILE, or a cell as JSON. `flopwatch reproduce`\n"
	"                                           prints such lines\n"
	"       flopwatch-runner --help | --version\n"
	"\n"
	"Exit status: 0 done, 1 error, 2 usage, 3 a kernel lost the device (the fault record names its side).\n"
	"FLOPWATCH_CPU_THREADS sets the threads of device cpu.\n";

static int usage_error(const char *what)
{
	fprintf(stderr, "flopwatch-runner: %s; see flopwatch-runner --help\n", what);
	return EXIT_USAGE;
}

static int count_argument(const char *text, int least, int *out)
{
	char *end;
	errno = 0;
	long n = strtol(text, &end, 10);
	if (errno || !*text || *end || n < least || n > CALLS_MAX)
		return -1;
	*out = (int)n;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "counters", no_argument, NULL, 'C' },
		{ "capture", required_argument, NULL, 'c' },
		{ "module", required_argument, NULL, 'm' },
		{ "suite", required_argument, NULL, 's' },
		{ "calls", required_argument, NULL, 'n' },
		{ "warmup", required_argument, NULL, 'w' },
		{ "device", required_argument, NULL, 'd' },
		{ "provider", required_argument, NULL, 'p' },
		{ "config", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	struct capture_options capture = { .device = "cpu", .provider = "", .config = "", .calls = 10, .warmup = 3 };
	int choice, list = 0, counters = 0;
	const char *device = NULL;

	while ((choice = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (choice) {
		case 'l':
			list = 1;
			break;
		case 'C':
			counters = 1;
			break;
		case 'c':
			capture.cell = optarg;
			break;
		case 'm':
			capture.module = optarg;
			break;
		case 's':
			capture.suite = optarg;
			break;
		case 'n':
			if (count_argument(optarg, 1, &capture.calls) != 0)
				return usage_error("--calls takes a number from 1 on");
			break;
		case 'w':
			if (count_argument(optarg, 0, &capture.warmup) != 0)
				return usage_error("--warmup takes a number from 0 on");
			break;
		case 'd':
			capture.device = device = optarg;
			break;
		case 'p':
			capture.provider = optarg;
			break;
		case 'g':
			capture.config = optarg;
			break;
		case 'h':
			return fputs(help, stdout) < 0 ? 1 : 0;
		case 'V':
			return puts("flopwatch-runner " FW_VERSION) < 0 ? 1 : 0;
		default:
			return EXIT_USAGE;
		}
	}
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
