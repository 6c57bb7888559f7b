/* catalog.c - the tables; see catalog.h. */
#include "cli/catalog.h"

#include <stddef.h>
#include <string.h>

#include "base/similar.h"
#include "core/reading/reading.h"

#define JOB_STATES "open queued sent building checking measuring done failed cancelled superseded gone"
#define AT(member) offsetof(struct options, member)

const struct catalog_option catalog_options[] = {
	{ "repo", "NAME", "the repository, where several are watched", CATALOG_ASKED, "repos", false, CATALOG_TEXT, AT(repo) },
	{ "suite", "NAME", "the suite, where a repository has several", CATALOG_NONE, "", false, CATALOG_TEXT, AT(suite) },
	{ "cells", "GLOB", "only cells whose key fits: '*/forward'", CATALOG_ASKED, "cells", false, CATALOG_TEXT, AT(cells) },
	{ "branch", "NAME", "of this branch", CATALOG_ASKED, "branches", false, CATALOG_TEXT, AT(branch) },
	{ "device", "UUID", "on this device, or kind of device: cuda, cpu, sim", CATALOG_ASKED, "devices", false, CATALOG_TEXT,
		AT(device) },
	{ "state", "STATE", "in this state", CATALOG_WORDS, JOB_STATES " acknowledged accepted resolved invalid waiting", false,
		CATALOG_TEXT, AT(state) },
	{ "limit", "N", "at most N rows", CATALOG_NONE, "", false, CATALOG_COUNT, AT(limit) },
	{ "quick", NULL, "one launch a cell: a first look, not a verdict", CATALOG_NONE, "", false, CATALOG_FLAG, AT(quick) },
	{ "timeout", "S", "stop waiting after S seconds; the job goes on", CATALOG_NONE, "", false, CATALOG_COUNT,
		AT(timeout_s) },
	{ "progress", NULL, "one line a step, from the first moment on", CATALOG_NONE, "", false, CATALOG_FLAG, AT(progress) },
	{ "reason", "TEXT", "why, for the alert's history", CATALOG_NONE, "", false, CATALOG_TEXT, AT(reason) },
	{ "runs", "N", "how many comparisons", CATALOG_NONE, "", false, CATALOG_COUNT, AT(runs) },
	{ "provider", "NAME", "the module's provider that is the peer; default: the repository's peers", CATALOG_NONE, "", false,
		CATALOG_TEXT, AT(provider) },
	{ "base-provider", "NAME", "run the base by this provider of its module", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(base_provider) },
	{ "target-provider", "NAME", "run the target by this provider of its module", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_provider) },
	{ "base-config", "CONFIG", "run the base's provider in this configuration: 'BLOCK_M=128 STAGES=2'", CATALOG_NONE, "",
		false, CATALOG_TEXT, AT(base_config) },
	{ "target-config", "CONFIG", "run the target's provider in this configuration", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_config) },
	{ "base-toolchain", "DIR", "build the base with the compilers of this folder of the worker: /usr/local/cuda-12.9",
		CATALOG_NONE, "", false, CATALOG_TEXT, AT(base_toolchain) },
	{ "target-toolchain", "DIR", "build the target with the compilers of this folder", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_toolchain) },
	{ "base-flags", "FLAGS", "words that the base's compilers get last: '--base-flags=-O2'", CATALOG_NONE, "", false,
		CATALOG_TEXT, AT(base_flags) },
	{ "target-flags", "FLAGS", "words that the target's compilers get last", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(target_flags) },
	{ "all", NULL, "of every repository, also branches that are not watched", CATALOG_NONE, "", false, CATALOG_FLAG,
		AT(all) },
	{ "strict", NULL, "as if nobody had accepted a loss: it is a regression, and status 3", CATALOG_NONE, "", false,
		CATALOG_FLAG, AT(strict) },
	{ "again", NULL, "from stored samples", CATALOG_NONE, "", false, CATALOG_FLAG, AT(again) },
	{ "commit", "SHA", "the commit that was measured, in full", CATALOG_NONE, "", false, CATALOG_TEXT, AT(commit) },
	{ "base", "SHA", "the commit it is compared with, in full", CATALOG_NONE, "", false, CATALOG_TEXT, AT(base) },
	{ "format", "F", "what a file holds: " READING_FORMATS, CATALOG_WORDS,
		"flopwatch ffa nvbench google-benchmark hyperfine triton torchao ncu", false, CATALOG_TEXT, AT(format) },
	{ "unit", "U", "of a triton file whose columns do not say: ms us ns s TFLOPS GB/s", CATALOG_WORDS,
		"ms us ns s TFLOPS GB/s", false, CATALOG_TEXT, AT(unit) },
	{ "results", "COLUMNS", "of a triton file: the columns that are results, by comma; those before them are sizes",
		CATALOG_NONE, "", false, CATALOG_TEXT, AT(results) },
	{ "metric", "NAMES", "of ncu files: figures beside the times, by comma, such as 'dram__bytes_read.sum' or 'dram__*'",
		CATALOG_NONE, "", false, CATALOG_TEXT, AT(metric) },
	{ "kernel", "GLOB", "of ncu files: only kernels whose name fits: 'copy<*'", CATALOG_NONE, "", false, CATALOG_TEXT,
		AT(kernel) },
	{ "ids", "LIST", "of ncu files: only launches of these IDs: 3-5,9", CATALOG_NONE, "", false, CATALOG_TEXT, AT(ids) },
	{ "launches", "N", "of ncu files: only kernels that were launched N times", CATALOG_NONE, "", false, CATALOG_COUNT,
		AT(launches) },
	{ "warmup", "W", "of ncu files: leave the first W launches of each kernel out", CATALOG_NONE, "", false, CATALOG_COUNT,
		AT(warmup) },
	{ "threshold", "PCT", "of two files: name rows that differ by more; default 1.5", CATALOG_NONE, "", false,
		CATALOG_PERCENT, AT(threshold_pct) },
	{ "time", "WHICH", "of a google-benchmark file: real (default) or cpu", CATALOG_WORDS, "real cpu", false, CATALOG_TEXT,
		AT(time) },
	{ "read-only", "DIR", "a folder that builds and programs may read in the sandbox, such as /opt/conda", CATALOG_FILE, "",
		false, CATALOG_TEXT, AT(read_only) },
	{ "output", "FILE", "write this file instead of to standard output; -o FILE", CATALOG_FILE, "", false, CATALOG_TEXT,
		AT(output) },
	{ "scope", "SCOPE", "what a token allows: read, trigger or admin", CATALOG_WORDS, "read trigger admin", false,
		CATALOG_TEXT, AT(scope) },
	{ "browser", NULL, "open the address too, with xdg-open", CATALOG_NONE, "", false, CATALOG_FLAG, AT(browser) },
	{ "server", "URL", "where flopwatchd listens (or FLOPWATCH_SERVER); default http://127.0.0.1:8451", CATALOG_NONE, "",
		true, CATALOG_TEXT, AT(server) },
	{ "token-file", "FILE", "access token on its first line (or FLOPWATCH_TOKEN)", CATALOG_FILE, "", true, CATALOG_TEXT,
		AT(token_file) },
	{ "json", NULL, "the API's answer instead of tables", CATALOG_NONE, "", true, CATALOG_FLAG, AT(json) },
	{ "color", "WHEN", "auto (default: on a terminal, without NO_COLOR), always or never", CATALOG_WORDS, "auto always never",
		true, CATALOG_TEXT, AT(color) },
	{ "quiet", NULL, "no progress", CATALOG_NONE, "", true, CATALOG_FLAG, AT(quiet) },
	{ "help", NULL, "this text", CATALOG_NONE, "", true, CATALOG_FLAG, AT(help) },
	{ "version", NULL, "the version", CATALOG_NONE, "", true, CATALOG_FLAG, AT(version) },
	{ 0 },
};

_Static_assert(sizeof catalog_options / sizeof *catalog_options <= CATALOG_OPTIONS_MAX, "CATALOG_OPTIONS_MAX");

const struct catalog_verb catalog_verbs[] = {
	{ "status", 0, 0, verb_status, "status", "branches, their verdicts and jobs",
		"A verdict is the worst over all suites and benchmarks of the commit that stands beside it. Inside a checkout whose repository the "
		"daemon does not watch it is status 4, unless --repo or --all is given.",
		"repo all strict",
		"flopwatch status  # every watched branch with its tip and verdict\n"
		"flopwatch status --all  # also branches that are not watched any more",
		CATALOG_NONE, "", NULL },
	{ "compare", 2, 3, verb_compare, "compare BASE TARGET\ncompare FILE FILE [OUT.csv]",
		"measure TARGET against BASE and print the tables",
		"BASE and TARGET are branches or commits. A TARGET of \".\" is the uncommitted tree of the checkout around you, "
		"which "
		"must be the one the daemon reads. With two files it shows two benchmark outputs side by side, without the "
		"daemon "
		"and without a verdict: it names the rows that differ by over 1.5 %, and writes OUT.csv; status 7 when a row is "
		"slower, "
		"missing or failed in the second alone, or none has a time in both, else 0.\nSides by two "
		"providers, or in configurations that you name, are set beside each other: it is no commit's verdict, nobody is called, and being "
		"slower is status 0. A provider that does not run the configuration that it was handed has failed. Sides built by two toolchains, or with other flags, are no commit's verdict either, but a "
		"loss is status 3.",
		"repo suite cells device quick timeout progress format unit results time metric kernel ids launches warmup threshold base-provider target-provider base-config target-config "
		"base-toolchain target-toolchain base-flags target-flags",
		"flopwatch compare main my-branch  # measure a branch against main\n"
		"flopwatch compare main . --quick  # a first look at the uncommitted tree\n"
		"flopwatch compare main main --base-provider hopper.v1  # one commit, two stages\n"
		"flopwatch compare main main --base-config TILE=3 --target-config TILE=2  # one commit, two configurations\n"
		"flopwatch compare main main --base-toolchain /usr/local/cuda-12.9  # one commit, built by two toolchains\n"
		"flopwatch compare main main --base-flags=-O3 --target-flags=-O2  # or with two sets of flags\n"
		"flopwatch compare before.csv after.csv out.csv  # two files, no daemon\n"
		"flopwatch compare a.csv b.csv --launches 15 --warmup 5 --metric 'dram__bytes_*'  # two exports of ncu --csv",
		CATALOG_FILE, "", "branches branches" },
	{ "run", 1, 1, verb_run, "run TARGET", "queue a branch or commit against its base, and do not wait", "",
		"repo suite cells device quick", "flopwatch submit my-branch  # prints the job", CATALOG_NONE, "", "branches" },
	{ "wait", 1, 1, verb_wait, "wait BRANCH|COMMIT|JOB", "wait for all its suites and print the tables",
		"For scripts and hooks: the exit status is the verdict, the worst over all suites and benchmarks of the branch's "
		"tip or "
		"of the commit, once all have ended; of a job that of what was asked for with it. 3 wherever one lost, unless a person has accepted that (alerts accept) and --strict is not given. The "
		"daemon first reads the repository again, so that a push that ended before is the one that is waited for. What it has not seen yet is "
		"waited for, five seconds or as long as --timeout says; where it cannot read the repository: status 1. Inside a checkout the "
		"repository is the one that the checkout is, or has as a remote; where the daemon watches another: status 4. --repo names it "
		"instead. A name that is in several repositories wants --repo: status 2 says which they are.",
		"repo timeout progress strict",
		"flopwatch wait my-branch  # 0 no regression, 3 regression, 7 undecided\n"
		"flopwatch wait \"$(git rev-parse HEAD)\" --timeout 900 --quiet  # in a hook",
		CATALOG_NONE, "", "branches" },
	{ "watch", 0, 0, verb_watch, "watch", "follow jobs and alerts as they happen",
		"On a terminal it redraws what is running; in a pipe it writes one line an event. Ends with Ctrl-C or after "
		"--timeout.",
		"repo timeout", "flopwatch watch  # what happens now\nflopwatch watch | tee log  # a line an event", CATALOG_NONE,
		"", NULL },
	{ "open", 0, 2, verb_open, "open [comparison|job|alert|commit|cell|device ID]", "print the address of a page",
		"Without an argument that of the dashboard.", "repo branch browser",
		"flopwatch open comparison 17  # http://127.0.0.1:8451/comparisons/17\n"
		"flopwatch open cell attention/dense/full/s8192/hq64/hk8/d128/bf16/forward --browser",
		CATALOG_WORDS, "comparison job alert commit cell device", NULL },
	{ "bisect", 2, 3, verb_bisect, "bisect GOOD BAD [CELL]", "find the commit between two that lost",
		"Along first parents; CELL is a pattern, default all. Ends with 3 where throughput was lost, with 1 where a "
		"build or "
		"result broke.",
		"repo suite device timeout progress", "flopwatch bisect v1.4 main '*/forward'  # who slowed it down",
		CATALOG_NONE, "", "branches branches cells" },
	{ "profile", 0, 2, verb_profile,
		"profile BASE TARGET\nprofile [BASE TARGET] --suite SUITE\nprofile ALERT\nprofile comparison COMPARISON",
		"find out why cells lost, from counters and machine code",
		"Runs the kernels of three cells at most once more on both sides, after everything else that waits, and prints what that shows, as why does: "
		"the worst cells of the alert or comparison, or those that --cells names. The daemon does so by itself after an alert (profile: on).\nWith --suite every cell of it is timed, "
		"one launch a cell, and looked at, and a table of configurations is printed: ms, TFLOP/s, speedup, what was counted, the longest "
		"over the shortest. Both sides are then the upstream branch unless they are named. It is no verdict.",
		"repo suite cells device timeout progress base-provider target-provider base-config target-config",
		"flopwatch profile main my-branch --cells '*/backward'  # of two commits\n"
		"flopwatch profile --suite ws --base-provider hopper.v1 --target-provider hopper  # configurations, cell by cell\n"
		"flopwatch profile 3  # of an alert\nflopwatch profile comparison 17",
		CATALOG_WORDS, "alert comparison", "branches branches" },
	{ "why", 1, 3, verb_why, "why ALERT [CELL]\nwhy comparison COMPARISON [CELL]",
		"why cells lost: causes by the milliseconds that they explain, and the kernels of both sides",
		"What the newest profile that knows it says. Status 7 while it is not done, 4 where nobody has asked.", "",
		"flopwatch why 3\nflopwatch why comparison 17 --json", CATALOG_WORDS, "alert comparison", "alerts cells" },
	{ "import", 1, 2, verb_import, "import FILE [BASE_FILE]", "store what another benchmark wrote",
		"As a comparison of kind import, whose cells are undecided by nature. The same again stores nothing.",
		"repo commit base branch suite format unit results time kernel ids launches warmup",
		"flopwatch import after.json before.json --repo kernels --commit \"$(git rev-parse HEAD)\"  # with a base",
		CATALOG_FILE, "", NULL },
	{ "export", 1, 2, verb_export, "export COMPARISON [DIR]", "write a comparison as other benchmarks' CSV files",
		"Named by what its sides were called. --format ffa, the default: MagiAttention's files, which only attention has. torchao: the columns "
		"of torchao's microbenchmarks, for cells with recipes: how much faster than baseline in the launches that timed both, in columns "
		"of compiled models; what failed is a row, with its reason in the last column.",
		"format",
		"flopwatch export 17 out  # profile_dense_main.csv and others\n"
		"flopwatch export 18 --format torchao  # results_main.csv, results_my-branch.csv",
		CATALOG_NONE, "", "comparisons" },
	{ "suite", 2, 2, verb_suite, "suite import FILE", "write a suite from a public suite's configuration",
		"Reads a benchmark_config.yml of torchao's microbenchmarks as it is, and writes the suite of the linear family that measures "
		"the same cells. What has no meaning here, such as torch_compile_mode, is said in its comments, with the line it stands at. "
		"Status 2 for what is wrong in FILE, each with its place; needs no daemon.",
		"suite output",
		"flopwatch suite import benchmark_config.yml -o etc/suites/linear.yaml  # then: flopwatch try --suite linear",
		CATALOG_WORDS, "import", NULL },
	{ "reproduce", 1, 2, verb_reproduce, "reproduce COMPARISON [CELL]",
		"lines to paste that look closer at a cell: ncu, nsys, run it alone",
		"Of the worst cell, where none is named. They hold the device, the provider and the modules that were measured, "
		"and run on the worker's "
		"machine.",
		"", "flopwatch reproduce 17 | less", CATALOG_NONE, "", "comparisons cells" },
	{ "history", 1, 1, verb_history, "history CELL", "one cell over time", "", "repo branch device limit",
		"flopwatch history attention/dense/full/s8192/hq64/hk8/d128/bf16/forward --branch main", CATALOG_NONE, "",
		"cells" },
	{ "jobs", 0, 0, verb_jobs, "jobs", "the queue and what ended lately, and why nothing moves",
		"Below the table a line for whatever keeps jobs from coming or going on: a full queue, a repository that cannot be read, "
		"a worker that is down, a device that is paused, in quarantine or used by other processes, a full disk.",
		"state repo limit", "flopwatch jobs --state open  # what waits and what runs", CATALOG_NONE, "", NULL },
	{ "log", 1, 1, verb_log, "log JOB", "what happened to a job, and its build logs", "", "", "flopwatch log 12",
		CATALOG_NONE, "", "jobs" },
	{ "cancel", 1, 1, verb_cancel, "cancel JOB", "end a job", "", "", "flopwatch cancel 12", CATALOG_NONE, "", "jobs" },
	{ "retry", 1, 1, verb_retry, "retry JOB", "queue the same comparison again", "", "", "flopwatch retry 12", CATALOG_NONE,
		"", "jobs" },
	{ "alerts", 0, 2, verb_alerts, "alerts\nalerts acknowledge|accept|resolve|invalidate ID", "losses that wait for a person",
		"accept and invalidate want a --reason. Inside a checkout whose repository the daemon does not watch the list is status 4, unless "
		"--repo or --all is given.",
		"state repo all limit reason",
		"flopwatch alerts --state open\nflopwatch alerts accept 3 --reason 'wider tiles, worth it'", CATALOG_WORDS,
		"acknowledge accept resolve invalidate", "- alerts" },
	{ "notifications", 0, 0, verb_notifications, "notifications", "who was told what, and how each attempt ended", "",
		"state limit", "flopwatch notifications --state failed  # receivers that heard nothing", CATALOG_NONE, "", NULL },
	{ "redeliver", 1, 1, verb_redeliver, "redeliver DELIVERY", "send it again, under the same id", "", "",
		"flopwatch redeliver 42", CATALOG_NONE, "", NULL },
	{ "devices", 0, 0, verb_devices, "devices", "what measures", "", "", "flopwatch devices", CATALOG_NONE, "", NULL },
	{ "pause", 1, 1, verb_pause, "pause DEVICE", "give a device no more jobs", "", "", "flopwatch pause GPU-1a2b",
		CATALOG_NONE, "", "devices" },
	{ "resume", 1, 1, verb_resume, "resume DEVICE", "give it jobs again; one that is quarantined is tried first", "", "",
		"flopwatch resume GPU-1a2b", CATALOG_NONE, "", "devices" },
	{ "judge", 0, 1, verb_judge, "judge --again [COMPARISON]", "compute verdicts anew from stored samples",
		"Of one comparison or of all history.", "again", "flopwatch judge --again 17", CATALOG_NONE, "", "comparisons" },
	{ "calibrate", 0, 1, verb_calibrate, "calibrate\ncalibrate show\ncalibrate forget",
		"compare main with itself, to learn how much each cell varies",
		"show: what the last 30 days have shown of each cell, and the smallest loss that is called with it. forget: "
		"begin anew, "
		"where a machine was busy.",
		"repo suite device cells runs",
		"flopwatch calibrate --runs 3\nflopwatch calibrate show\nflopwatch calibrate forget --cells '*/backward'",
		CATALOG_WORDS, "show forget", NULL },
	{ "peer", 0, 1, verb_peer, "peer [BRANCH|COMMIT]\npeer show",
		"measure a branch beside its peers, such as NVIDIA's library",
		"Queues one comparison a peer: the same commit by another provider of its module. The daemon does so by itself "
		"with "
		"the upstream branch, while nothing waits, for the peers in flopwatchd.yml or .flopwatch.yaml. show: how fast "
		"each "
		"repository is beside its peers.",
		"repo suite device cells provider",
		"flopwatch peer  # main beside the repository's peers\nflopwatch peer my-branch --provider cudnn\nflopwatch peer "
		"show",
		CATALOG_WORDS, "show", "branches" },
	{ "init", 0, 1, verb_init, "init [FOLDER]", "look at a checkout and write its .flopwatch.yaml",
		"Finds modules, programs with the kit, Google Benchmark, nvbench, hyperfine, Triton and PyTorch by what they include, "
		"and how they are built by their Makefile or CMakeLists.txt. A file that is there is never overwritten. Status 4 where "
		"nothing is known; needs no daemon.",
		"", "flopwatch init  # then: flopwatch try", CATALOG_FILE, "", NULL },
	{ "try", 0, 1, verb_try, "try [FOLDER]", "build, check and launch the working tree once, without a daemon or a commit",
		"Takes the files that a push would hold, tracked or new, as they are now, and has a worker of this machine do with them "
		"what it does with a push: says which cells there are, how long a comparison would hold the device, what failed and where, "
		"and what to do. Status 0 where every cell that is supported has a time, 1 where something failed, 7 where nothing is to compare.",
		"suite cells device read-only",
		"flopwatch try  # what would happen to this checkout\nflopwatch try --suite ffa-smoke --device cpu", CATALOG_FILE,
		"", NULL },
	{ "doctor", 0, 1, verb_doctor, "doctor [FILE]", "is everything there that measuring needs, and what to do if not",
		"Tries this machine and the daemon: units and users of an installed service, what FILE (/etc/flopwatch/flopwatchd.yml) "
		"names as `flopwatch config check` does, repositories with their credentials among it; a module that is built and run in the "
		"sandbox; GPU and driver, nvcc, performance counters, disk, clock, the "
		"daemon, its repositories, why all of a repository's newest jobs failed, and its workers. Status 1 when something fails, "
		"else 0.",
		"", "flopwatch doctor  # a line a question: ok, warn or fail", CATALOG_NONE, "", NULL },
	{ "backup", 1, 1, verb_backup, "backup FILE", "copy the daemon's database, and its archive of single times",
		"The database is whole or not there. Months of single times go into samples beside it, and only what is new of them.",
		"", "flopwatch backup flopwatch-$(date +%F).db", CATALOG_FILE, "", NULL },
	{ "token", 1, 2, verb_token, "token add NAME\ntoken list\ntoken revoke NAME",
		"who may ask, where the daemon wants to know", "add wants a --scope; the token is shown this once.", "scope",
		"flopwatch token add alice --scope trigger", CATALOG_WORDS, "add list revoke", NULL },
	{ "config", 1, 2, verb_config, "config check [FILE]", "read a configuration, and look whether what it names is there",
		"Every mistake with its place (status 2). Then, as the user who runs it and without changing anything: the port, folders, suites, "
		"programs, repositories and their upstream branches, workers and their devices; a line each, with what to do. Status 1 when "
		"something fails.",
		"", "flopwatch config check  # /etc/flopwatch/flopwatchd.yml", CATALOG_WORDS, "check", NULL },
	{ "completion", 1, 1, verb_completion, "completion bash|zsh|fish", "completions for a shell, to source or install",
		"They ask the daemon for names of branches, cells, alerts, jobs, comparisons, devices and repositories, for a second and a "
		"half at most; without it they offer none.",
		"repo", "source <(flopwatch completion bash)", CATALOG_WORDS, "bash zsh fish", NULL },
	{ "help", 0, 1, verb_help, "help [VERB]", "this, or what a verb does and takes", "", "", "flopwatch help wait",
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
