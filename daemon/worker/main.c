/* main.c - flopwatch-worker: arguments and start. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/lib.h"
#include "worker/internal.h"
#include "worker/sandbox/sandbox.h"

enum {
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_DIFFERENT = 3,
	CODE_OUTPUT_MAX = 256 << 20,
	BUILD_JOBS_MAX = 64,
	CORES_OF_A_BUILD = 8
};

static const char usage[] =
	"usage: flopwatch-worker serve [--cache DIR] [--sandbox auto|required|none] [--read-only DIR]...\n"
	"                             [--device auto|cuda|cpu|sim] [--cores auto|shared|LIST]\n"
	"                             [--build-jobs N] [--build-only] [--toolchain DIR]\n"
	"       flopwatch-worker compare --suite FILE --base A.so --target B.so [options]\n"
	"       flopwatch-worker profile --suite FILE --base A.so --target B.so [--cells GLOB] [--path range|ncu|code] [--json]\n"
	"       flopwatch-worker probe [--sandbox ...] [--device ...] [--counters | --build]\n"
	"       flopwatch-worker kernels MODULE.so [--json]\n"
	"       flopwatch-worker sassdiff A.so B.so [--json]\n"
	"\n"
	"serve    one job of flopwatchd over standard input and output\n"
	"compare  check and time two modules of this machine, print the tables\n"
	"profile  explain the difference of two modules: counters of every kernel, machine code, configurations; no verdict\n"
	"probe    print what this worker offers and exit\n"
	"kernels  print the CUDA kernels in a module or cubin: a hash of the compiled code, registers, shared memory, stack, ...\n"
	"sassdiff compare the machine code of two modules or cubins, kernel by kernel; instructions by nvdisasm\n"
	"\n"
	"  --cache DIR        builds, modules and outcomes of checks\n"
	"                     (default $XDG_CACHE_HOME/flopwatch, ~/.cache/flopwatch or, for root, /var/cache/flopwatch-worker)\n"
	"  --cores WHICH      for measuring: auto reserves one for other work if there are four or more; shared (default); a list\n"
	"  --build-jobs N     concurrent builds of this cache (default: one for each eight cores)\n"
	"  --build-only       serve only: a job ends with its builds; this machine need not have the device of --device\n"
	"  --sandbox WHEN     auto: bubblewrap if it works; required: or refuse to start; none\n"
	"  --read-only DIR    a folder that builds and runs may read in the sandbox, such as /opt/conda; up to 16 times\n"
	"  --toolchain DIR    preferred compilers of builds, in DIR or its bin: /usr/local/cuda-12.9\n"
	"  --device D         auto, cuda, cpu, sim, or one device: cuda:0 or a uuid\n"
	"  --suite FILE       the cells to compare on\n"
	"  --base, --target   modules with the ABI of fw_kernel.h\n"
	"  --base-provider, --target-provider NAME   (default: the first that supports the cell)\n"
	"  --base-config, --target-config CONFIG     (default: the provider's choice)\n"
	"  --cells GLOB       only cells whose key matches\n"
	"  --budget-s N       limit of device seconds (default: the suite's)\n"
	"  --path PATH        profile only: preferred way of counting (default: range)\n"
	"  --build            probe only: build a module of a few lines in the sandbox and run it there\n"
	"  --counters         probe only: whether counters can be read inside the sandbox, and what to change\n"
	"  --quick            one run a cell, without a reliable verdict\n"
	"  --json             the result as JSON\n"
	"  --help, --version\n"
	"\n"
	"exit status: 0 done, 1 error, 2 usage; compare: 0 no regression, 3 regression, 7 undecided or nothing to compare, 1 a "
	"side is broken;\n"
	"             sassdiff: 0 the same code, 3 not\n";

enum option_name {
	OPT_CACHE = 256,
	OPT_SANDBOX,
	OPT_READ_ONLY,
	OPT_TOOLCHAIN,
	OPT_CORES,
	OPT_BUILD_JOBS,
	OPT_BUILD_ONLY,
	OPT_DEVICE,
	OPT_SUITE,
	OPT_BASE,
	OPT_TARGET,
	OPT_BASE_PROVIDER,
	OPT_TARGET_PROVIDER,
	OPT_BASE_CONFIG,
	OPT_TARGET_CONFIG,
	OPT_CELLS,
	OPT_BUDGET,
	OPT_QUICK,
	OPT_PATH,
	OPT_COUNTERS,
	OPT_BUILD,
	OPT_JSON,
	OPT_HELP,
	OPT_VERSION
};

static const struct option options[] = {
	{ "cache", required_argument, NULL, OPT_CACHE },
	{ "sandbox", required_argument, NULL, OPT_SANDBOX },
	{ "read-only", required_argument, NULL, OPT_READ_ONLY },
	{ "toolchain", required_argument, NULL, OPT_TOOLCHAIN },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "cores", required_argument, NULL, OPT_CORES },
	{ "build-jobs", required_argument, NULL, OPT_BUILD_JOBS },
	{ "build-only", no_argument, NULL, OPT_BUILD_ONLY },
	{ "suite", required_argument, NULL, OPT_SUITE },
	{ "base", required_argument, NULL, OPT_BASE },
	{ "target", required_argument, NULL, OPT_TARGET },
	{ "base-provider", required_argument, NULL, OPT_BASE_PROVIDER },
	{ "target-provider", required_argument, NULL, OPT_TARGET_PROVIDER },
	{ "base-config", required_argument, NULL, OPT_BASE_CONFIG },
	{ "target-config", required_argument, NULL, OPT_TARGET_CONFIG },
	{ "cells", required_argument, NULL, OPT_CELLS },
	{ "budget-s", required_argument, NULL, OPT_BUDGET },
	{ "quick", no_argument, NULL, OPT_QUICK },
	{ "counters", no_argument, NULL, OPT_COUNTERS },
	{ "build", no_argument, NULL, OPT_BUILD },
	{ "path", required_argument, NULL, OPT_PATH },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static int wrong(const char *what, const char *about)
{
	fprintf(stderr, "flopwatch-worker: %s%s; see flopwatch-worker --help\n", what, about);
	return EXIT_USAGE;
}

struct arguments {
	enum evidence_path path;
	bool want_counters, want_build;
	struct serve_options serve;
	struct two_modules_options compare;
};

static int read_path(const char *word, enum evidence_path *out)
{
	for (int i = 0; i < EVIDENCE_PATHS; i++)
		if (strcmp(evidence_path_names[i], word) == 0 && i != EVIDENCE_ACTIVITY) {
			*out = (enum evidence_path)i;
			return 0;
		}
	return -1;
}

enum { NEXT = -1, NOT_ONE = -2 };

/* Take an option of `serve`. Returns NEXT, NOT_ONE of these, or an exit status. */
static int take_serve(int c, struct arguments *a)
{
	struct fw_err err = { 0 };
	struct cores cores;
	char *end;

	switch (c) {
	case OPT_CACHE:
		a->serve.cache = optarg;
		return NEXT;
	case OPT_SANDBOX:
		if (sandbox_want(optarg, &a->serve.sandbox) != 0)
			return wrong("--sandbox is auto, required or none, not ", optarg);
		return NEXT;
	case OPT_READ_ONLY:
		if (a->serve.n_shown == READONLY_MAX)
			return wrong("--read-only is given more than 16 times: ", optarg);
		a->serve.shown[a->serve.n_shown++] = optarg;
		return NEXT;
	case OPT_TOOLCHAIN:
		if (toolchain_override_wrong_dir(optarg))
			return wrong("--toolchain takes the absolute path of a folder, not ", optarg);
		a->serve.tools_dir = optarg;
		return NEXT;
	case OPT_DEVICE:
		a->serve.device = optarg;
		return NEXT;
	case OPT_CORES:
		if (cores_plan(optarg, &cores, &err) != 0 || cores_use(&cores.measure, &err) != 0)
			return wrong(err.text, "");
		return NEXT;
	case OPT_BUILD_JOBS:
		a->serve.build_jobs = (int)strtol(optarg, &end, 10);
		if (*end || a->serve.build_jobs < 1 || a->serve.build_jobs > BUILD_JOBS_MAX)
			return wrong("--build-jobs takes a number from 1 to 64, not ", optarg);
		return NEXT;
	case OPT_BUILD_ONLY:
		a->serve.build_only = true;
		return NEXT;
	default:
		return NOT_ONE;
	}
}

/* Take any other option, as take_serve. */
static int take_compare(int c, struct arguments *a)
{
	char *end;

	switch (c) {
	case OPT_SUITE:
		a->compare.suite = optarg;
		return NEXT;
	case OPT_BASE:
		a->compare.base = optarg;
		return NEXT;
	case OPT_TARGET:
		a->compare.target = optarg;
		return NEXT;
	case OPT_BASE_PROVIDER:
		a->compare.provider_base = optarg;
		return NEXT;
	case OPT_TARGET_PROVIDER:
		a->compare.provider_target = optarg;
		return NEXT;
	case OPT_BASE_CONFIG:
	case OPT_TARGET_CONFIG:
		if (strlen(optarg) >= sizeof((struct bench_pin *)0)->config)
			return wrong("a configuration is longer than any that a provider reports: ", optarg);
		*(c == OPT_BASE_CONFIG ? &a->compare.config_base : &a->compare.config_target) = optarg;
		return NEXT;
	case OPT_CELLS:
		a->compare.cells = optarg;
		return NEXT;
	case OPT_BUDGET:
		a->compare.budget_s = strtod(optarg, &end);
		if (*end || end == optarg || !(a->compare.budget_s > 0))
			return wrong("--budget-s takes seconds, not ", optarg);
		return NEXT;
	case OPT_QUICK:
		a->compare.quick = true;
		return NEXT;
	case OPT_PATH:
		if (read_path(optarg, &a->path) != 0)
			return wrong("--path is range, ncu or code, not ", optarg);
		return NEXT;
	case OPT_COUNTERS:
		a->want_counters = true;
		return NEXT;
	case OPT_BUILD:
		a->want_build = true;
		return NEXT;
	case OPT_JSON:
		a->compare.json = true;
		return NEXT;
	case OPT_HELP:
		return fputs(usage, stdout) < 0 ? EXIT_ERROR : 0;
	case OPT_VERSION:
		return puts("flopwatch-worker " FW_VERSION) < 0 ? EXIT_ERROR : 0;
	default:
		return EXIT_USAGE;
	}
}

/* Returns NEXT when all were taken, or an exit status. */
static int read_options(int argc, char **argv, struct arguments *a)
{
	int c, status = NEXT;

	while (status == NEXT && (c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		status = take_serve(c, a);
		if (status == NOT_ONE)
			status = take_compare(c, a);
	}
	return status;
}

static int print_code(const char *const *path, bool want_difference, bool as_json)
{
	struct fw_err err = { 0 };
	struct buf text;
	buf_init(&text, CODE_OUTPUT_MAX);
	int status = EXIT_ERROR;
	int result = want_difference ? sassdiff_show(path[0], path[1], as_json, &text, &err)
				     : kernels_list(path[0], as_json, &text, &err);
	if (result >= 0 && (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0))
		err_sys(&err, "standard output");
	else if (result >= 0)
		status = want_difference && result == 0 ? EXIT_DIFFERENT : 0;
	buf_fini(&text);
	if (status == EXIT_ERROR)
		fprintf(stderr, "flopwatch-worker: %s\n", err.text);
	return status;
}

static int build_jobs_of(int n_cores)
{
	int n = n_cores / CORES_OF_A_BUILD;
	return n < 1 ? 1 : n > BUILD_JOBS_MAX ? BUILD_JOBS_MAX : n;
}

int main(int argc, char **argv)
{
	struct arguments a = { .serve = { .device = "auto", .tools_dir = "" },
		.compare = { .provider_base = "", .provider_target = "", .config_base = "", .config_target = "" } };
	struct fw_err err = { 0 };
	const char *verb;
	int status = read_options(argc, argv, &a);

	if (status >= 0)
		return status;
	if (optind + 2 == argc && strcmp(argv[optind], "kernels") == 0)
		return print_code((const char *const *)argv + optind + 1, false, a.compare.json);
	if (optind + 3 == argc && strcmp(argv[optind], "sassdiff") == 0)
		return print_code((const char *const *)argv + optind + 1, true, a.compare.json);
	if (optind < argc && strcmp(argv[optind], "sassdiff") == 0)
		return wrong("sassdiff needs two modules or cubins", "");
	if (optind + 1 != argc)
		return optind < argc ? wrong("unexpected argument ", argv[optind + 1])
				     : wrong("missing verb: serve, compare, profile, probe, kernels or sassdiff", "");
	verb = argv[optind];
	log_open("flopwatch-worker", LOG_INFO);
	peer_signals();
	procs_adopt();
	a.compare.device = a.serve.device;
	a.compare.sandbox = a.serve.sandbox;
	a.compare.n_shown = a.serve.n_shown;
	a.compare.shown = a.serve.shown;
	if (!a.serve.build_jobs)
		a.serve.build_jobs = build_jobs_of(cores_count());
	if (strcmp(verb, "serve") == 0) {
		status = serve_run(&a.serve, STDIN_FILENO, STDOUT_FILENO, &err);
	} else if (strcmp(verb, "probe") == 0) {
		status = a.want_build      ? trial_build(a.serve.sandbox, &err)
			 : a.want_counters ? profile_alone_probe(&a.compare, &err)
					   : serve_probe(&a.serve, STDOUT_FILENO, &err);
	} else if (strcmp(verb, "profile") == 0) {
		if (!a.compare.suite || !a.compare.base || !a.compare.target)
			return wrong("profile needs --suite, --base and --target", "");
		status = profile_alone_run(&a.compare, a.path, &err);
	} else if (strcmp(verb, "compare") == 0) {
		if (!a.compare.suite || !a.compare.base || !a.compare.target)
			return wrong("compare needs --suite, --base and --target", "");
		status = compare_alone_run(&a.compare, &err);
	} else if (strcmp(verb, "kernels") == 0) {
		return wrong("kernels needs a module", "");
	} else {
		return wrong("unknown verb ", verb);
	}
	if (status < 0)
		fprintf(stderr, "flopwatch-worker: %s\n", err.text);
	if (status < 0)
		return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_ERROR;
	return status;
}
