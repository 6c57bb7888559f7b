/* main.c - flopwatch-worker: arguments and start. */

#include "worker/internal.h"

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
	"serve    do the job that flopwatchd sends on standard input; the daemon starts it, see workers in man flopwatchd.yml\n"
	"compare  check and time two built modules on this machine, and print the tables; for branches: flopwatch compare\n"
	"profile  explain the difference of two modules: counters of every kernel, machine code, configurations; no verdict\n"
	"probe    print what this worker offers and exit\n"
	"kernels  print the CUDA kernels in a module or cubin: a hash of the compiled code, registers, shared memory, stack, ...\n"
	"sassdiff compare the machine code of two modules or cubins, kernel by kernel; needs nvdisasm, and no GPU\n"
	"\n"
	"  --cache DIR        the folder of builds, modules and outcomes of checks\n"
	"                     (default $XDG_CACHE_HOME/flopwatch, ~/.cache/flopwatch or, for root, /var/cache/flopwatch-worker)\n"
	"  --cores WHICH      cores of builds and runs: shared (default) uses all; auto leaves one to other work if there are four\n"
	"                     or more; or a list: 2-7,10\n"
	"  --build-jobs N     concurrent builds of this cache (default: one for each eight cores)\n"
	"  --build-only       serve only: a job ends with its builds; this machine need not have the device of --device\n"
	"  --sandbox WHEN     auto: bubblewrap if it works, else none; required: refuse to start without it; none: code of\n"
	"                     branches runs with the rights of this user\n"
	"  --read-only DIR    a folder that builds and runs may read in the sandbox, such as /opt/conda; up to 16 times\n"
	"  --toolchain DIR    preferred compilers of builds, in DIR or its bin: /usr/local/cuda-12.9\n"
	"  --device D         auto, cuda, cpu, sim, or one device: cuda:0 or a uuid\n"
	"  --suite FILE       the cells to compare on\n"
	"  --base, --target   modules with the ABI of fw_kernel.h\n"
	"  --base-provider, --target-provider NAME   (default: the first that supports the cell)\n"
	"  --base-config, --target-config CONFIG     (default: the provider's choice)\n"
	"  --cells GLOB       only cells whose key matches\n"
	"  --budget-s N       limit of device seconds (default: the suite's)\n"
	"  --path PATH        profile only: how to count: range (default) in the runner, ncu, or code: only machine code\n"
	"  --build            probe only: build a module of a few lines in the sandbox and run it there\n"
	"  --counters         probe only: whether counters can be read inside the sandbox, and what to change\n"
	"  --quick            one run a cell, without a reliable verdict\n"
	"  --json             the result as JSON\n"
	"  --help, --version\n"
	"\n"
	"exit status: 0 done, 1 error, 2 usage; compare: 0 no regression, 3 regression, 7 undecided or nothing to compare,\n"
	"             1 a side is broken; sassdiff: 0 the same code, 3 not\n";

static int wrong(const char *what, const char *about)
{
	fprintf(stderr, "flopwatch-worker: %s%s; see flopwatch-worker --help\n", what, about);
	return EXIT_USAGE;
}

static struct {
	enum evidence_path path;
	bool want_counters, want_build;
	struct serve_options serve;
	struct two_modules_options compare;
} given = { .serve = { .device = "auto", .tools_dir = "" },
	.compare = { .provider_base = "", .provider_target = "", .config_base = "", .config_target = "" } };

static int take_sandbox(const char *text)
{
	return sandbox_want(text, &given.serve.sandbox) == 0 ? OPTION_NEXT
							     : wrong("--sandbox is auto, required or none, not ", text);
}

static int take_read_only(const char *text)
{
	if (given.serve.n_shown == READONLY_MAX)
		return wrong("--read-only is given more than 16 times: ", text);
	given.serve.shown[given.serve.n_shown++] = text;
	return OPTION_NEXT;
}

static int take_toolchain(const char *text)
{
	given.serve.tools_dir = text;
	return toolchain_override_wrong_dir(text) ? wrong("--toolchain takes the absolute path of a folder, not ", text)
						  : OPTION_NEXT;
}

static int take_cores(const char *text)
{
	struct fw_err err = { 0 };
	struct cores cores;

	return cores_plan(text, &cores, &err) != 0 || cores_use(&cores.measure, &err) != 0 ? wrong(err.text, "") : OPTION_NEXT;
}

static int take_build_jobs(const char *text)
{
	char *end;

	given.serve.build_jobs = (int)strtol(text, &end, 10);
	if (*end || given.serve.build_jobs < 1 || given.serve.build_jobs > BUILD_JOBS_MAX)
		return wrong("--build-jobs takes a number from 1 to 64, not ", text);
	return OPTION_NEXT;
}

static int take_config(const char *text, const char **out)
{
	*out = text;
	return strlen(text) < sizeof((struct bench_pin *)0)->config
		       ? OPTION_NEXT
		       : wrong("a configuration is longer than any that a provider reports: ", text);
}

static int take_provider(const char *text, const char **out)
{
	*out = text;
	return strlen(text) < sizeof((struct bench_side *)0)->provider
		       ? OPTION_NEXT
		       : wrong("a provider's name has at most 47 bytes, unlike ", text);
}

static int take_base_provider(const char *text)
{
	return take_provider(text, &given.compare.provider_base);
}

static int take_target_provider(const char *text)
{
	return take_provider(text, &given.compare.provider_target);
}

static int take_base_config(const char *text)
{
	return take_config(text, &given.compare.config_base);
}

static int take_target_config(const char *text)
{
	return take_config(text, &given.compare.config_target);
}

static int take_budget(const char *text)
{
	char *end;

	given.compare.budget_s = strtod(text, &end);
	if (*end || end == text || !(given.compare.budget_s > 0))
		return wrong("--budget-s takes seconds, not ", text);
	return OPTION_NEXT;
}

static int take_path(const char *text)
{
	for (int i = 0; i < EVIDENCE_PATHS; i++)
		if (strcmp(evidence_path_names[i], text) == 0 && i != EVIDENCE_ACTIVITY) {
			given.path = (enum evidence_path)i;
			return OPTION_NEXT;
		}
	return wrong("--path is range, ncu or code, not ", text);
}

static const struct option_row options[] = {
	{ "cache", .text = &given.serve.cache },
	{ "sandbox", .take = take_sandbox },
	{ "read-only", .take = take_read_only },
	{ "toolchain", .take = take_toolchain },
	{ "device", .text = &given.serve.device },
	{ "cores", .take = take_cores },
	{ "build-jobs", .take = take_build_jobs },
	{ "build-only", .flag = &given.serve.build_only },
	{ "suite", .text = &given.compare.suite },
	{ "base", .text = &given.compare.base },
	{ "target", .text = &given.compare.target },
	{ "base-provider", .take = take_base_provider },
	{ "target-provider", .take = take_target_provider },
	{ "base-config", .take = take_base_config },
	{ "target-config", .take = take_target_config },
	{ "cells", .text = &given.compare.cells },
	{ "budget-s", .take = take_budget },
	{ "quick", .flag = &given.compare.quick },
	{ "counters", .flag = &given.want_counters },
	{ "build", .flag = &given.want_build },
	{ "path", .take = take_path },
	{ "json", .flag = &given.compare.json },
	{ "help", .print = usage },
	{ "version", .print = "flopwatch-worker " FW_VERSION "\n" },
	{ .name = NULL },
};

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
	struct fw_err err = { 0 };
	const char *verb;
	int status = option_read(argc, argv, options);

	if (status >= 0)
		return status;
	json_set_alloc_funcs(mem_alloc, free); /* jansson itself omits bytes for which it has no memory */
	if (optind < argc && strcmp(argv[optind], "serve") != 0)
		mem_end_program("flopwatch-worker", EXIT_ERROR);
	if (optind + 2 == argc && strcmp(argv[optind], "kernels") == 0)
		return print_code((const char *const *)argv + optind + 1, false, given.compare.json);
	if (optind + 3 == argc && strcmp(argv[optind], "sassdiff") == 0)
		return print_code((const char *const *)argv + optind + 1, true, given.compare.json);
	if (optind < argc && strcmp(argv[optind], "sassdiff") == 0)
		return wrong("sassdiff needs two modules or cubins", "");
	if (optind + 1 != argc)
		return optind < argc ? wrong("unexpected argument ", argv[optind + 1])
				     : wrong("missing verb: serve, compare, profile, probe, kernels or sassdiff", "");
	verb = argv[optind];
	log_open("flopwatch-worker", LOG_INFO);
	peer_signals();
	procs_adopt();
	given.compare.device = given.serve.device;
	given.compare.sandbox = given.serve.sandbox;
	given.compare.n_shown = given.serve.n_shown;
	given.compare.shown = given.serve.shown;
	if (!given.serve.build_jobs)
		given.serve.build_jobs = build_jobs_of(cores_count());
	if (strcmp(verb, "serve") == 0) {
		status = serve_run(&given.serve, STDIN_FILENO, STDOUT_FILENO, &err);
	} else if (strcmp(verb, "probe") == 0) {
		status = given.want_build      ? trial_build(given.serve.sandbox, &err)
			 : given.want_counters ? profile_alone_probe(&given.compare, &err)
					       : serve_probe(&given.serve, STDOUT_FILENO, &err);
	} else if (strcmp(verb, "profile") == 0 || strcmp(verb, "compare") == 0) {
		if (!given.compare.suite || !given.compare.base || !given.compare.target)
			return wrong(verb, " needs --suite, --base and --target");
		status = *verb == 'p' ? profile_alone_run(&given.compare, given.path, &err)
				      : compare_alone_run(&given.compare, &err);
	} else if (strcmp(verb, "kernels") == 0) {
		return wrong("kernels needs a module", "");
	} else {
		return wrong("unknown verb ", verb);
	}
	if (status >= 0)
		return status;
	fprintf(stderr, "flopwatch-worker: %s\n", err.text);
	return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_ERROR;
}
