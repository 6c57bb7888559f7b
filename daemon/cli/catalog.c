/* catalog.c - the tables; see catalog.c. */
#include "cli/internal.h"

#include "lib/lib.h"
#include "readers/readers.h"

#define JOB_STATES "open queued assigned building checking measuring done failed cancelled superseded target_missing"
#define AT(member) offsetof(struct options, member)

const struct catalog_option catalog_options[] = {
	{ "repo", "NAME", "the repository, if the daemon watches several", CATALOG_REQUESTED, "repos", false, CATALOG_TEXT,
		AT(repo) },
	{ "suite", "NAME", "the suite, if the repository has several", CATALOG_NONE, "", false, CATALOG_TEXT, AT(suite) },
	{ "cells", "GLOB", "only cells with a matching key: '*/forward'", CATALOG_REQUESTED, "cells", false, CATALOG_TEXT,
		AT(cells) },
	{ "branch", "NAME", "only this branch", CATALOG_REQUESTED, "branches", false, CATALOG_TEXT, AT(branch) },
	{ "device", "UUID", "the device, or kind of device: cuda, cpu, sim", CATALOG_REQUESTED, "devices", false, CATALOG_TEXT,
		AT(device) },
	{ "state", "STATE", "only this state", CATALOG_WORDS, JOB_STATES " acknowledged accepted resolved invalid waiting", false,
		CATALOG_TEXT, AT(state) },
	{ "limit", "N", "at most N rows", CATALOG_NONE, "", false, CATALOG_COUNT, AT(limit) },
	{ "quick", NULL, "one run a cell: a first estimate, not a verdict", CATALOG_NONE, "", false, CATALOG_FLAG, AT(quick) },
	{ "timeout", "S", "stop waiting after S seconds; the job continues", CATALOG_NONE, "", false, CATALOG_COUNT,
		AT(timeout_s) },
	{ "progress", NULL, "print one line a step, from the start", CATALOG_NONE, "", false, CATALOG_FLAG, AT(progress) },
	{ "reason", "TEXT", "reason, for the alert's history", CATALOG_NONE, "", false, CATALOG_TEXT, AT(reason) },
	{ "runs", "N", "number of comparisons", CATALOG_NONE, "", false, CATALOG_COUNT, AT(runs) },
	{ "provider", "NAME", "provider of the module to compare with; default: the repository's peers", CATALOG_NONE, "", false,
		CATALOG_TEXT, AT(provider) },
	{ "base-provider", "NAME", "run the base with this provider of its module", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(base_provider) },
	{ "target-provider", "NAME", "run the target with this provider of its module", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_provider) },
	{ "base-config", "CONFIG", "run the base's provider in this configuration: 'BLOCK_M=128 STAGES=2'", CATALOG_NONE, "",
		false, CATALOG_TEXT, AT(base_config) },
	{ "target-config", "CONFIG", "run the target's provider in this configuration", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_config) },
	{ "base-toolchain", "DIR", "build the base with the compilers of this folder on the worker: /usr/local/cuda-12.9",
		CATALOG_NONE, "", false, CATALOG_TEXT, AT(base_toolchain) },
	{ "target-toolchain", "DIR", "build the target with the compilers of this folder", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_toolchain) },
	{ "base-flags", "FLAGS", "flags appended to the base's compiler commands: '--base-flags=-O2'", CATALOG_NONE, "", false,
		CATALOG_TEXT, AT(base_flags) },
	{ "target-flags", "FLAGS", "flags appended to the target's compiler commands", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_flags) },
	{ "all", NULL, "every repository, also branches that are not watched", CATALOG_NONE, "", false, CATALOG_FLAG, AT(all) },
	{ "strict", NULL, "count accepted losses as regressions, with exit status 3", CATALOG_NONE, "", false, CATALOG_FLAG,
		AT(strict) },
	{ "again", NULL, "use stored samples", CATALOG_NONE, "", false, CATALOG_FLAG, AT(again) },
	{ "commit", "SHA", "full hash of the measured commit", CATALOG_NONE, "", false, CATALOG_TEXT, AT(commit) },
	{ "base", "SHA", "full hash of the base commit", CATALOG_NONE, "", false, CATALOG_TEXT, AT(base) },
	{ "format", "F", "format of a file: " FORMAT_NAMES, CATALOG_WORDS,
		"flopwatch ffa nvbench google-benchmark hyperfine triton torchao ncu", false, CATALOG_TEXT, AT(format) },
	{ "unit", "U", "unit of a triton file without units: ms us ns s TFLOPS GB/s", CATALOG_WORDS, "ms us ns s TFLOPS GB/s",
		false, CATALOG_TEXT, AT(unit) },
	{ "results", "COLUMNS", "result columns of a triton file, by comma; the columns before them are sizes", CATALOG_NONE, "",
		false, CATALOG_TEXT, AT(results) },
	{ "metric", "NAMES", "metrics of ncu files to read besides times, by comma: 'dram__bytes_read.sum' or 'dram__*'",
		CATALOG_NONE, "", false, CATALOG_TEXT, AT(metric) },
	{ "kernel", "GLOB", "only kernels of ncu files with a matching name: 'copy<*'", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(kernel) },
	{ "ids", "LIST", "only kernel launches of ncu files with these IDs: 3-5,9", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(ids) },
	{ "launches", "N", "only kernels of ncu files with N launches", CATALOG_NONE, "", false, CATALOG_COUNT, AT(launches) },
	{ "warmup", "W", "skip the first W launches of each kernel of ncu files", CATALOG_NONE, "", false, CATALOG_COUNT,
		AT(warmup) },
	{ "threshold", "PCT", "list rows of two files that differ by more; default 1.5", CATALOG_NONE, "", false, CATALOG_PERCENT,
		AT(threshold_pct) },
	{ "time", "WHICH", "time of a google-benchmark file: real (default) or cpu", CATALOG_WORDS, "real cpu", false,
		CATALOG_TEXT, AT(time) },
	{ "read-only", "DIR", "a folder that builds and programs may read in the sandbox: /opt/conda", CATALOG_FILE, "", false,
		CATALOG_TEXT, AT(read_only) },
	{ "output", "FILE", "write to this file instead of standard output; -o FILE", CATALOG_FILE, "", false, CATALOG_TEXT,
		AT(output) },
	{ "scope", "SCOPE", "permission of a token: read, trigger or admin", CATALOG_WORDS, "read trigger admin", false,
		CATALOG_TEXT, AT(scope) },
	{ "browser", NULL, "also open the address, with xdg-open", CATALOG_NONE, "", false, CATALOG_FLAG, AT(browser) },
	{ "server", "URL", "address of flopwatchd (or FLOPWATCH_SERVER); default http://127.0.0.1:8451", CATALOG_NONE, "", true,
		CATALOG_TEXT, AT(server) },
	{ "token-file", "FILE", "file with the access token on its first line (or FLOPWATCH_TOKEN)", CATALOG_FILE, "", true,
		CATALOG_TEXT, AT(token_file) },
	{ "json", NULL, "print the API's answer instead of tables", CATALOG_NONE, "", true, CATALOG_FLAG, AT(json) },
	{ "color", "WHEN", "auto (default: on a terminal, without NO_COLOR), always or never", CATALOG_WORDS, "auto always never",
		true, CATALOG_TEXT, AT(color) },
	{ "quiet", NULL, "print no progress", CATALOG_NONE, "", true, CATALOG_FLAG, AT(quiet) },
	{ "help", NULL, "print this help", CATALOG_NONE, "", true, CATALOG_FLAG, AT(help) },
	{ "version", NULL, "print the version", CATALOG_NONE, "", true, CATALOG_FLAG, AT(version) },
	{ 0 },
};

_Static_assert(sizeof catalog_options / sizeof *catalog_options <= CATALOG_OPTIONS_MAX, "CATALOG_OPTIONS_MAX");

const struct catalog_verb catalog_verbs[] = {
	{ "status", 0, 0, verb_status, "status", "list branches with their verdicts and jobs",
		"A verdict is the worst over all suites and benchmarks of the commit in the same row. Inside a checkout of a repository that the "
		"daemon does not watch: status 4, unless --repo or --all is given.",
		"repo all strict",
		"flopwatch status  # every watched branch with its tip and verdict\n"
		"flopwatch status --all  # also branches that are not watched any more",
		CATALOG_NONE, "", NULL },
	{ "compare", 2, 3, verb_compare, "compare BASE TARGET\ncompare FILE FILE [OUT.csv]",
		"measure TARGET against BASE and print the tables",
		"BASE and TARGET are branches or commits. A TARGET of \".\" is the uncommitted tree of the current checkout, which must be the "
		"repository that the daemon reads. With two files it prints two benchmark outputs side by side, without the daemon and without "
		"a verdict: it lists the rows that differ by over 1.5 %, and writes OUT.csv; status 7 when a row is slower, missing or failed in "
		"the second file only, or when no row has a time in both, else 0.\nTwo providers or two configurations are compared without a "
		"verdict: this sets no commit status, opens no alert, and exits 0 even if slower. A provider that does not run its given "
		"configuration has failed. Two toolchains or two sets of flags set no commit status either, but a loss is status 3.",
		"repo suite cells device quick timeout progress format unit results time metric kernel ids launches warmup threshold base-provider target-provider base-config target-config "
		"base-toolchain target-toolchain base-flags target-flags",
		"flopwatch compare main my-branch  # measure a branch against main\n"
		"flopwatch compare main . --quick  # a quick estimate of the uncommitted tree\n"
		"flopwatch compare main main --base-provider hopper.v1  # one commit, two stages\n"
		"flopwatch compare main main --base-config TILE=3 --target-config TILE=2  # one commit, two configurations\n"
		"flopwatch compare main main --base-toolchain /usr/local/cuda-12.9  # one commit, two toolchains\n"
		"flopwatch compare main main --base-flags=-O3 --target-flags=-O2  # one commit, two sets of flags\n"
		"flopwatch compare before.csv after.csv out.csv  # two files, no daemon\n"
		"flopwatch compare a.csv b.csv --launches 15 --warmup 5 --metric 'dram__bytes_*'  # two exports of ncu --csv",
		CATALOG_FILE, "", "branches branches" },
	{ "submit", 1, 1, verb_submit, "submit TARGET", "queue a comparison of a branch or commit with its base, without waiting",
		"", "repo suite cells device quick", "flopwatch submit my-branch  # prints the job", CATALOG_NONE, "",
		"branches" },
	{ "wait", 1, 1, verb_wait, "wait BRANCH|COMMIT|JOB",
		"wait for the verdict of a branch, commit or job and print the tables",
		"For scripts and hooks: the exit status is the verdict, the worst over all suites and benchmarks of the branch's tip or of the "
		"commit, once all jobs have ended; for a job, the verdict of the jobs of the same request. 3 for a regression, unless a user "
		"accepted it (alerts accept) and --strict is not given. The daemon first fetches the repository, so that the newest push counts. "
		"For a branch or commit that the daemon does not know yet it waits five seconds, or --timeout; if the daemon cannot read the "
		"repository: status 1. Inside a checkout, the repository is that of the checkout or of its remotes; if the daemon watches "
		"another: status 4. --repo overrides it. A name that several repositories have needs --repo: status 2 lists them.",
		"repo timeout progress strict",
		"flopwatch wait my-branch  # 0 no regression, 3 regression, 7 undecided\n"
		"flopwatch wait \"$(git rev-parse HEAD)\" --timeout 900 --quiet  # in a hook",
		CATALOG_NONE, "", "branches" },
	{ "watch", 0, 0, verb_watch, "watch", "follow jobs and alerts as they happen",
		"On a terminal it redraws the running jobs; in a pipe it writes one line an event. Ends with Ctrl-C or after "
		"--timeout.",
		"repo timeout", "flopwatch watch  # running jobs\nflopwatch watch | tee log  # a line an event", CATALOG_NONE, "",
		NULL },
	{ "open", 0, 2, verb_open, "open [comparison|job|alert|commit|cell|device ID]", "print the address of a page",
		"Without an argument: the dashboard.", "repo branch browser",
		"flopwatch open comparison 17  # http://127.0.0.1:8451/comparisons/17\n"
		"flopwatch open cell attention/dense/full/s8192/hq64/hk8/d128/bf16/forward --browser",
		CATALOG_WORDS, "comparison job alert commit cell device", NULL },
	{ "bisect", 2, 3, verb_bisect, "bisect GOOD BAD [CELL]", "find the commit between two that made cells slower",
		"Along first parents; CELL is a pattern, default all. Exits 3 for a slowdown, 1 for a failed build or a "
		"wrong result.",
		"repo suite device timeout progress", "flopwatch bisect v1.4 main '*/forward'  # the slow commit", CATALOG_NONE,
		"", "branches branches cells" },
	{ "profile", 0, 2, verb_profile,
		"profile BASE TARGET\nprofile [BASE TARGET] --suite SUITE\nprofile ALERT\nprofile comparison COMPARISON",
		"find the causes of a slowdown, from counters and machine code",
		"Runs the kernels of at most three cells again on both sides, after all other jobs, and prints the causes, as why does: the worst "
		"cells of the alert or comparison, or those that --cells names. The daemon does the same after an alert (profile: on).\nWith "
		"--suite it times and profiles every cell, one run a cell, and prints a table of configurations: ms, TFLOP/s, speedup, counters, "
		"the longest over the shortest. Both sides are then the upstream branch unless they are named. It is no verdict.",
		"repo suite cells device timeout progress base-provider target-provider base-config target-config",
		"flopwatch profile main my-branch --cells '*/backward'  # of two commits\n"
		"flopwatch profile --suite ws --base-provider hopper.v1 --target-provider hopper  # configurations, cell by cell\n"
		"flopwatch profile 3  # of an alert\nflopwatch profile comparison 17",
		CATALOG_WORDS, "alert comparison", "branches branches" },
	{ "why", 1, 3, verb_why, "why ALERT [CELL]\nwhy comparison COMPARISON [CELL]",
		"print the causes of a slowdown in milliseconds, and the kernels of both sides",
		"Reads the newest profile of the cell. Status 7 while the profile is not done, 4 if there is none.", "",
		"flopwatch why 3\nflopwatch why comparison 17 --json", CATALOG_WORDS, "alert comparison", "alerts cells" },
	{ "import", 1, 2, verb_import, "import FILE [BASE_FILE]", "store results of another benchmark",
		"Stored as a comparison of kind import; its cells are undecided. The same file again stores nothing.",
		"repo commit base branch suite format unit results time kernel ids launches warmup",
		"flopwatch import after.json before.json --repo kernels --commit \"$(git rev-parse HEAD)\"  # with a base",
		CATALOG_FILE, "", NULL },
	{ "export", 1, 2, verb_export, "export COMPARISON [DIR]", "write a comparison as other benchmarks' CSV files",
		"File names contain the names of the sides. --format ffa, the default: MagiAttention's files, for attention only. torchao: the columns "
		"of torchao's microbenchmarks, for cells with recipes: the speedup over baseline in the runs that timed both, in columns "
		"of compiled models; a failed cell is a row with its reason in the last column.",
		"format",
		"flopwatch export 17 out  # profile_dense_main.csv and others\n"
		"flopwatch export 18 --format torchao  # results_main.csv, results_my-branch.csv",
		CATALOG_NONE, "", "comparisons" },
	{ "suite", 2, 2, verb_suite, "suite import FILE", "write a suite from a public suite's configuration",
		"Reads a benchmark_config.yml of torchao's microbenchmarks unchanged, and writes a suite of the linear family with the same "
		"cells. Comments list keys without a meaning here, such as torch_compile_mode, with their lines. "
		"Status 2 for mistakes in FILE, each with its position; needs no daemon.",
		"suite output",
		"flopwatch suite import benchmark_config.yml -o etc/suites/linear.yaml  # then: flopwatch try --suite linear",
		CATALOG_WORDS, "import", NULL },
	{ "reproduce", 1, 2, verb_reproduce, "reproduce COMPARISON [CELL]",
		"print commands that rerun a cell, alone or under ncu or nsys",
		"Default: the worst cell. The commands name the device, the provider and the modules that were measured, and run on the "
		"worker's machine.",
		"", "flopwatch reproduce 17 | less", CATALOG_NONE, "", "comparisons cells" },
	{ "history", 1, 1, verb_history, "history CELL", "print the history of a cell", "", "repo branch device limit",
		"flopwatch history attention/dense/full/s8192/hq64/hk8/d128/bf16/forward --branch main", CATALOG_NONE, "",
		"cells" },
	{ "jobs", 0, 0, verb_jobs, "jobs", "list queued and recent jobs, with the reasons of waiting",
		"Below the table, one line for each obstacle: a full queue, a repository that cannot be read, a worker that is down, a device "
		"that is paused, quarantined or used by other processes, a full disk.",
		"state repo limit", "flopwatch jobs --state open  # queued and running jobs", CATALOG_NONE, "", NULL },
	{ "log", 1, 1, verb_log, "log JOB", "print the log of a job, and its build logs", "", "", "flopwatch log 12",
		CATALOG_NONE, "", "jobs" },
	{ "cancel", 1, 1, verb_cancel, "cancel JOB", "cancel a job", "", "", "flopwatch cancel 12", CATALOG_NONE, "", "jobs" },
	{ "retry", 1, 1, verb_retry, "retry JOB", "queue the same comparison again", "", "", "flopwatch retry 12", CATALOG_NONE,
		"", "jobs" },
	{ "alerts", 0, 2, verb_alerts, "alerts\nalerts acknowledge|accept|resolve|invalidate ID", "list alerts, or answer one",
		"accept and invalidate need a --reason. Inside a checkout of a repository that the daemon does not watch the list is status 4, "
		"unless --repo or --all is given.",
		"state repo all limit reason",
		"flopwatch alerts --state open\nflopwatch alerts accept 3 --reason 'wider tiles, worth it'", CATALOG_WORDS,
		"acknowledge accept resolve invalidate", "- alerts" },
	{ "notifications", 0, 0, verb_notifications, "notifications", "list notifications and their delivery attempts", "",
		"state limit", "flopwatch notifications --state failed  # undelivered ones", CATALOG_NONE, "", NULL },
	{ "redeliver", 1, 1, verb_redeliver, "redeliver NOTIFICATION", "send a notification again, under the same id", "", "",
		"flopwatch redeliver 42", CATALOG_NONE, "", NULL },
	{ "devices", 0, 0, verb_devices, "devices", "list devices", "", "", "flopwatch devices", CATALOG_NONE, "", NULL },
	{ "pause", 1, 1, verb_pause, "pause DEVICE", "stop giving jobs to a device", "", "", "flopwatch pause GPU-1a2b",
		CATALOG_NONE, "", "devices" },
	{ "resume", 1, 1, verb_resume, "resume DEVICE",
		"give jobs to a device again; a quarantined one gets a health check first", "", "", "flopwatch resume GPU-1a2b",
		CATALOG_NONE, "", "devices" },
	{ "judge", 0, 1, verb_judge, "judge --again [COMPARISON]", "compute verdicts again from stored samples",
		"For one comparison or the whole history.", "again", "flopwatch judge --again 17", CATALOG_NONE, "",
		"comparisons" },
	{ "calibrate", 0, 1, verb_calibrate, "calibrate\ncalibrate show\ncalibrate forget",
		"compare main with itself, to measure the noise of each cell",
		"show: the noise of each cell over the last 30 days, and the smallest loss that can be detected. forget: start again, after "
		"a machine was busy.",
		"repo suite device cells runs",
		"flopwatch calibrate --runs 3\nflopwatch calibrate show\nflopwatch calibrate forget --cells '*/backward'",
		CATALOG_WORDS, "show forget", NULL },
	{ "peer", 0, 1, verb_peer, "peer [BRANCH|COMMIT]\npeer show", "compare a branch with its peers, such as NVIDIA's library",
		"Queues one comparison a peer: the same commit with another provider of its module. The daemon does the same for the upstream "
		"branch while the queue is empty, for the peers in flopwatchd.yml or .flopwatch.yaml. show: the speed of each repository "
		"against its peers.",
		"repo suite device cells provider",
		"flopwatch peer  # main against the repository's peers\nflopwatch peer my-branch --provider cudnn\nflopwatch peer "
		"show",
		CATALOG_WORDS, "show", "branches" },
	{ "init", 0, 1, verb_init, "init [FOLDER]", "scan a checkout and write its .flopwatch.yaml",
		"Finds modules, programs with the kit, Google Benchmark, nvbench, hyperfine, Triton and PyTorch by their includes, "
		"and their builds by Makefile or CMakeLists.txt. It never overwrites an existing file. Status 4 if it finds no benchmark; "
		"needs no daemon.",
		"", "flopwatch init  # then: flopwatch try", CATALOG_FILE, "", NULL },
	{ "try", 0, 1, verb_try, "try [FOLDER]", "build, check and run the working tree once, without a daemon or a commit",
		"Takes the files that a push would hold, tracked or new, and runs a worker on this machine with them, as for a push: prints "
		"the cells, the device time of a comparison, failures with their position, and how to fix them. Status 0 if every supported cell "
		"has a time, 1 if something failed, 7 if there is nothing to compare.",
		"suite cells device read-only",
		"flopwatch try  # try this checkout\nflopwatch try --suite ffa-smoke --device cpu", CATALOG_FILE, "", NULL },
	{ "doctor", 0, 1, verb_doctor, "doctor [FILE]", "check this machine and the daemon, and print how to fix problems",
		"Checks units and users of an installed service; the contents of FILE (/etc/flopwatch/flopwatchd.yml) as `flopwatch config check` "
		"does, with repositories and their credentials; a module that is built and run in the sandbox; GPU and driver, nvcc, performance "
		"counters, disk, clock; the daemon, its repositories, failures of all their newest jobs, and its workers. Status 1 when "
		"something fails, else 0.",
		"", "flopwatch doctor  # a line a check: ok, warn or fail", CATALOG_NONE, "", NULL },
	{ "backup", 1, 1, verb_backup, "backup FILE", "copy the daemon's database, and its archive of single times",
		"FILE is a complete database or does not exist. Months of single times go to the folder samples next to FILE; only new ones are copied.",
		"", "flopwatch backup flopwatch-$(date +%F).db", CATALOG_FILE, "", NULL },
	{ "token", 1, 2, verb_token, "token add NAME\ntoken list\ntoken revoke NAME", "manage access tokens",
		"add needs a --scope; the token is printed only once.", "scope", "flopwatch token add alice --scope trigger",
		CATALOG_WORDS, "add list revoke", NULL },
	{ "config", 1, 2, verb_config, "config check [FILE]", "check a configuration and the things that it names",
		"Prints every mistake with its position (status 2). Then checks, as the current user and without changes: the port, folders, "
		"suites, programs, repositories and their upstream branches, workers and their devices; one line each, with the fix. Status 1 "
		"when something fails.",
		"", "flopwatch config check  # /etc/flopwatch/flopwatchd.yml", CATALOG_WORDS, "check", NULL },
	{ "completion", 1, 1, verb_completion, "completion bash|zsh|fish", "print completions for a shell",
		"They request names of branches, cells, alerts, jobs, comparisons, devices and repositories from the daemon, for at most 1.5 "
		"seconds; without the daemon they offer none.",
		"repo", "source <(flopwatch completion bash)", CATALOG_WORDS, "bash zsh fish", NULL },
	{ "help", 0, 1, verb_help, "help [VERB]", "print this help, or the help of a verb", "", "", "flopwatch help wait",
		CATALOG_NONE, "", NULL },
	{ 0 },
};

const struct catalog_verb *catalog_find(const char *name)
{
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

const struct catalog_verb *catalog_nearest(const char *name)
{
	const struct catalog_verb *nearest = NULL;
	int least = 3;
	for (const struct catalog_verb *v = catalog_verbs; v->name; v++) {
		int d = similar_distance(name, v->name);
		if (d < least) {
			least = d;
			nearest = v;
		}
	}
	return nearest;
}

bool catalog_takes(const struct catalog_verb *verb, const struct catalog_option *option)
{
	size_t len = strlen(option->name);
	if (option->everywhere)
		return true;
	for (const char *at = verb->options; (at = strstr(at, option->name)); at += len)
		if ((at == verb->options || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}
