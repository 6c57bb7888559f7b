/* catalog.c - the tables of verbs and options; see internal.h. */
#include "cli/internal.h"

#define JOB_STATES      "open queued assigned building checking measuring done failed cancelled superseded target_missing"
#define TEXT(member)    .at = offsetof(struct options, member)
#define FLAG(member)    TEXT(member), .holds = CATALOG_FLAG
#define COUNT(member)   TEXT(member), .holds = CATALOG_COUNT
#define PERCENT(member) TEXT(member), .holds = CATALOG_PERCENT

const struct catalog_option catalog_options[] = {
	{ "repo", "NAME", "the repository, if the daemon watches several", TEXT(repo), .kind = CATALOG_REQUESTED,
		.words = "repos" },
	{ "suite", "NAME", "the suite, if the repository has several", TEXT(suite) },
	{ "cells", "GLOB", "only cells with a matching key: '*/forward'", TEXT(cells), .kind = CATALOG_REQUESTED,
		.words = "cells" },
	{ "branch", "NAME", "only this branch", TEXT(branch), .kind = CATALOG_REQUESTED, .words = "branches" },
	{ "device", "UUID", "the device, or kind of device: cuda, cpu, sim", TEXT(device), .kind = CATALOG_REQUESTED,
		.words = "devices" },
	{ "state", "STATE", "only this state", TEXT(state), .kind = CATALOG_CHOICES,
		.words = JOB_STATES " acknowledged accepted resolved invalid waiting" },
	{ "limit", "N", "at most N rows", COUNT(limit) },
	{ "quick", NULL, "one run a cell: a first estimate, not a verdict", FLAG(quick) },
	{ "timeout", "S", "stop waiting after S seconds; the job continues", COUNT(timeout_s) },
	{ "reason", "TEXT", "reason, for the alert's history", TEXT(reason) },
	{ "runs", "N", "number of comparisons", COUNT(runs) },
	{ "provider", "NAME", "provider of the module to compare with; default: the repository's peers", TEXT(provider) },
	{ "base-provider", "NAME", "run the base with this provider of its module", TEXT(base_provider) },
	{ "target-provider", "NAME", "run the target with this provider of its module", TEXT(target_provider) },
	{ "base-config", "CONFIG", "run the base's provider with these values of its configuration: 'BLOCK_M=128 STAGES=2'",
		TEXT(base_config) },
	{ "target-config", "CONFIG", "run the target's provider in this configuration", TEXT(target_config) },
	{ "base-toolchain", "DIR", "build the base with the compilers of this folder on the worker: /usr/local/cuda-12.9",
		TEXT(base_toolchain) },
	{ "target-toolchain", "DIR", "build the target with the compilers of this folder", TEXT(target_toolchain) },
	{ "base-flags", "FLAGS", "flags appended to the base's compiler commands: '--base-flags=-O2'", TEXT(base_flags) },
	{ "target-flags", "FLAGS", "flags appended to the target's compiler commands", TEXT(target_flags) },
	{ "all", NULL, "all repositories, branches, requests, tables or benchmarks, not only the usual ones", FLAG(all) },
	{ "zstd", NULL, "compress each file with zstd", FLAG(zstd) },
	{ "strict", NULL, "count accepted slowdowns as regressions, with exit status 3", FLAG(strict) },
	{ "again", NULL, "use stored samples", FLAG(again) },
	{ "commit", "SHA", "full hash of the measured commit", TEXT(commit) },
	{ "base", "SHA", "full hash of the base commit", TEXT(base) },
	{ "format", "F", "format of a file: " FORMAT_NAMES, TEXT(format), .kind = CATALOG_CHOICES,
		.words = "flopwatch ffa nvbench google-benchmark hyperfine triton torchao ncu nsys cutlass rocprof "
			 "hipblaslt liger pytest-benchmark asv criterion jmh llama-bench tritonbench torch-compare catch2" },
	{ "history", NULL, "the files have results of many commits: " HISTORY_FORMATS, FLAG(history) },
	{ "unit", "U", "unit of a triton file without units: ms us ns s TFLOPS GB/s", TEXT(unit), .kind = CATALOG_CHOICES,
		.words = "ms us ns s TFLOPS GB/s" },
	{ "results", "COLUMNS", "result columns of a triton file, by comma; the columns before them are sizes", TEXT(results) },
	{ "metric", "NAMES",
		"metrics of ncu files to read in addition to times, by comma: 'dram__bytes_*'; default: of memory traffic",
		TEXT(metric) },
	{ "kernel", "GLOB", "only kernels of ncu files with a matching name: 'copy<*'", TEXT(kernel) },
	{ "ids", "LIST", "only kernel launches of ncu files with these IDs: 3-5,9", TEXT(ids) },
	{ "launches", "N", "only kernels with N launches, of ncu files and of programs under ncu", COUNT(launches) },
	{ "warmup", "W", "skip the first W launches of each kernel of ncu files and of programs under ncu", COUNT(warmup) },
	{ "artefacts", "DIR", "write the files of profilers to this folder", TEXT(artefacts), .kind = CATALOG_FILE },
	{ "stdin", "BYTES", "read both files from standard input, the first BYTES as the first; the arguments are their names",
		TEXT(stdin_bytes) },
	{ "threshold", "PCT", "list rows of two files that differ by more; default 1.5", PERCENT(threshold_pct) },
	{ "time", "WHICH", "time of a google-benchmark file: real (default) or cpu", TEXT(time), .kind = CATALOG_CHOICES,
		.words = "real cpu" },
	{ "read-only", "DIR", "a folder that builds and programs may read in the sandbox: /opt/conda", TEXT(read_only),
		.kind = CATALOG_FILE },
	{ "output", "FILE", "write to this file instead of standard output; -o FILE", TEXT(output), .kind = CATALOG_FILE },
	{ "export", "DIR", "also write the results as other benchmarks' CSV files to this folder", TEXT(export),
		.kind = CATALOG_FILE },
	{ "scope", "SCOPE", "permission of a token: read, trigger or admin", TEXT(scope), .kind = CATALOG_CHOICES,
		.words = "read trigger admin" },
	{ "expires", "WHEN", "end of a token: how long from now (30d, 12h), or a day (2027-01-31); default never",
		TEXT(expires) },
	{ "build", NULL, "also print the text of builds that succeeded", FLAG(build) },
	{ "watch", NULL, "print again after each change, until Ctrl-C or --timeout", FLAG(watch) },
	{ "all-servers", NULL, "of all servers that `flopwatch servers` lists", FLAG(all_servers) },
	{ "server", "URL",
		"address of flopwatchd, or a name of `flopwatch servers` (or FLOPWATCH_SERVER); default http://127.0.0.1:8451",
		TEXT(server), .everywhere = true, .kind = CATALOG_REQUESTED, .words = "servers" },
	{ "token-file", "FILE", "file with the access token on its first line (or FLOPWATCH_TOKEN)", TEXT(token_file),
		.kind = CATALOG_FILE, .everywhere = true },
	{ "ca-file", "FILE", "certificates of the private authority of an https:// server (or FLOPWATCH_CA_FILE)", TEXT(ca_file),
		.kind = CATALOG_FILE, .everywhere = true },
	{ "long", NULL, "print every cell, wide columns and further details", FLAG(is_long), .everywhere = true },
	{ "json", NULL, "print the API's answer instead of text", FLAG(json), .everywhere = true },
	{ "progress", NULL, "print one line a step, from the start", FLAG(progress), .everywhere = true },
	{ "color", "WHEN", "auto (default: on a terminal, without NO_COLOR), always or never", TEXT(color),
		.kind = CATALOG_CHOICES, .words = "auto always never", .everywhere = true },
	{ "quiet", NULL, "print no progress", FLAG(quiet), .everywhere = true },
	{ "help", NULL, "print this help", FLAG(help), .everywhere = true },
	{ "version", NULL, "print the version", FLAG(version), .everywhere = true },
	{ 0 },
};

_Static_assert(sizeof catalog_options / sizeof *catalog_options <= CATALOG_OPTIONS_MAX, "CATALOG_OPTIONS_MAX");

static bool always(const struct options *o)
{
	(void)o;
	return true;
}

const struct catalog_verb catalog_verbs[] = {
	{ "status", 0, 0, verb_status, "status", "list branches with their verdicts, the most urgent first",
		"A line has the verdict, the worst change, the slower cells, the cause, the alert and the age. A verdict is the worst over all suites and benchmarks of the commit in the same row; a branch is a regression while an alert of its slower cells is open or acknowledged, unless its newest push failed or was rejected; --json has the verdict of the newest push. Inside a checkout of a repository that the "
		"daemon does not watch, the exit status is 4, unless --repo or --all is given.",
		"repo all strict watch timeout all-servers",
		.example = "flopwatch status  # every watched branch with its verdict\n"
			   "flopwatch status --watch  # again after each change\n"
			   "flopwatch status --all-servers  # of each named server\n"
			   "flopwatch status --long --all  # with tips and jobs, also branches that are not watched any more" },
	{ "compare", 2, 3, verb_compare, "compare BASE TARGET\ncompare FILE FILE [OUT.csv]",
		"measure TARGET against BASE and print the finding",
		"BASE and TARGET are branches or commits. A TARGET of \".\" is the uncommitted tree of the current checkout, if the daemon "
		"reads that; else the checked-out commit, which must be pushed (else 4, and nothing is queued). With two files it prints two benchmark outputs side by side, without the daemon and without "
		"a verdict: it lists the rows that differ by over 1.5 %, and writes OUT.csv. The exit status is then 7 if a row is slower, missing or failed in "
		"the second file only, if a metric of --metric is missing there, or if no row has a time or a metric in both, else 0.\nTwo providers (implementations in one module) or two configurations are compared without a "
		"verdict: this sets no commit status, opens no alert, and exits 0 even if slower. A provider that cannot run "
		"the given configuration counts as failed. Two toolchains or two sets of flags set no commit status either, but a slowdown has exit status 3.\n"
		"With --export DIR it writes the CSV files of export, and output.txt: everything that --long prints. Several suites have a "
		"folder each.",
		"repo suite cells device quick timeout format unit results time metric kernel ids launches warmup threshold stdin base-provider target-provider base-config target-config "
		"base-toolchain target-toolchain base-flags target-flags export",
		.example =
			"flopwatch compare main my-branch  # measure a branch against main\n"
			"flopwatch compare main my-branch --export out  # and write its files, as export does, and output.txt\n"
			"flopwatch compare main . --quick  # a quick estimate of this checkout\n"
			"flopwatch compare main main --base-provider hopper.v1  # one commit, two providers\n"
			"flopwatch compare main main --base-config TILE=3 --target-config TILE=2  # one commit, two configurations\n"
			"flopwatch compare main main --base-toolchain /usr/local/cuda-12.9  # one commit, two toolchains\n"
			"flopwatch compare main main --base-flags=-O3 --target-flags=-O2  # one commit, two sets of flags\n"
			"flopwatch compare before.csv after.csv out.csv  # two files, no daemon\n"
			"flopwatch compare a.csv b.csv --launches 15 --warmup 5 --metric 'dram__bytes_*'  # two exports of ncu --csv",
		.kind = CATALOG_FILE, .is_local = compare_is_local, .completes = "branches branches" },
	{ "submit", 1, 1, verb_submit, "submit TARGET", "queue a comparison of a branch or commit with its base, without waiting",
		"Prints the job; `flopwatch wait JOB` prints its finding. With --export or -o it measures TARGET alone, against itself, waits, and writes profiles of this one side: "
		"profile_dense_TARGET.csv and profile_block_sparse_TARGET.csv, or the one kind that --cells selects to FILE.",
		"repo suite cells device quick export output timeout",
		.example = "flopwatch submit my-branch  # prints the job\n"
			   "flopwatch submit my-branch --export out  # profile_dense_my-branch.csv and others\n"
			   "flopwatch submit my-branch --cells 'attention/dense*' -o dense.csv  # one kind, one file",
		.completes = "branches" },
	{ "ci", 0, 1, verb_ci, "ci [COMMIT]", "submit the checked-out commit unless it has a job, wait, and print the finding",
		"For steps of CI and hooks. COMMIT is a full hash, default the commit that is checked out. The daemon first fetches the "
		"repository. A commit without a job, as of a branch that is not watched, is queued against its default base, for which the "
		"token needs the scope trigger. Prints the finding as wait does, with the same exit statuses; 4 also if the "
		"daemon's repository does not have the commit. If GITHUB_STEP_SUMMARY is set, it appends the results of all suites to that "
		"file as Markdown.",
		"repo timeout strict",
		.example = "flopwatch ci --timeout 1800 --long  # the checked-out commit\n"
			   "flopwatch ci \"$CI_COMMIT_SHA\" --repo kernels  # a commit of CI" },
	{ "wait", 1, 1, verb_wait, "wait BRANCH|COMMIT|JOB",
		"wait for the verdict of a branch, commit or job and print the finding",
		"Prints the finding, the worst five cells, the cause and the next command; --long prints all cells. "
		"For scripts and hooks: the exit status is the verdict, the worst over all suites and benchmarks of the branch's tip or of the "
		"commit, once all jobs have ended; for a job, the verdict of the jobs of the same request. 3 for a regression, unless a user "
		"accepted it (alerts accept) and --strict is not given. The daemon first fetches the repository, so that the newest push counts. "
		"For a branch or commit that the daemon does not know yet it waits five seconds, or --timeout. If the daemon cannot read the "
		"repository, the exit status is 1. Inside a checkout, the repository is that of the checkout or of its remotes; if the "
		"daemon does not watch it, the exit status is 4, unless --repo is given. A name that several repositories have needs "
		"--repo: the exit status is 2, with a list of them.",
		"repo timeout strict",
		.example = "flopwatch wait my-branch  # 0 no regression, 3 regression, 7 undecided\n"
			   "flopwatch wait \"$(git rev-parse HEAD)\" --timeout 900 --quiet  # in a hook",
		.completes = "branches" },
	{ "watch", 0, 0, verb_watch, "watch", "follow jobs and alerts as they happen",
		"On a terminal it redraws the running jobs; in a pipe it writes a line for each event. Ends with Ctrl-C or after "
		"--timeout.",
		"repo timeout", .example = "flopwatch watch  # running jobs\nflopwatch watch | tee log  # a line an event" },
	{ "open", 0, 2, verb_open, "open [A3|C32|J32|COMMIT]\nopen comparison|job|alert|commit|cell|device ID",
		"print the address of a page, and open it on a desktop",
		"A3 is an alert, C32 a comparison, J32 a job. Without an argument: the dashboard. If standard output is a terminal and there is a "
		"display, it also opens the address with xdg-open.",
		"repo branch",
		.example = "flopwatch open C17  # http://127.0.0.1:8451/comparisons/17\n"
			   "flopwatch open cell attention/dense/full/s8192/hq64/hk8/d128/bf16/forward",
		.kind = CATALOG_CHOICES, .words = "comparison job alert commit cell device", .completes = "alerts" },
	{ "bisect", 2, 3, verb_bisect, "bisect GOOD BAD [CELL]", "find the commit between two that made cells slower",
		"Queues the measurements and waits for them. It follows first parents from GOOD to BAD; CELL is a pattern, default all cells. "
		"The exit status is 3 for a slowdown, 1 for a failed build or a wrong result.",
		"repo suite device timeout", .example = "flopwatch bisect v1.4 main '*/forward'  # the slow commit",
		.completes = "branches branches cells" },
	{ "profile", 0, 2, verb_profile,
		"profile BASE TARGET\nprofile [BASE TARGET] --suite SUITE\nprofile ALERT|COMPARISON\nprofile --suite BENCHMARK\nprofile [BASE "
		"TARGET] --suite SUITE --artefacts DIR",
		"find the causes of a slowdown, from counters and machine code",
		"Runs the kernels of at most three cells again on both sides, after all other jobs, and prints the causes, as why does: the worst "
		"cells of the alert or comparison, or those that --cells names. The daemon does the same after an alert (profile: on).\nWith "
		"--suite it times and profiles every cell, one run a cell, and prints tables of configurations: ms, TFLOP/s, speedup, counters, "
		"allocated MB, the longest over the shortest. Both sides are then the upstream branch unless they are named. It is no verdict.\nWhere --suite names "
		"benchmarks of the working tree's manifest, or matches some, it runs these programs on this machine under ncu, and prints the memory "
		"traffic of a call: DRAM, L2 and L1 MB and hit rates of each program and kernel. Programs with the kit make 15 calls, 5 of them "
		"warm-up, or --launches and --warmup; others make their own, so both must be given. Kernels with another number of launches are "
		"left out and named. It writes profile_NAME.csv, ncu's own output, and traffic.csv.\nWith --artefacts it builds the working tree, or two "
		"commits of this checkout, and runs every cell of the suite on both sides under ncu and nsys on this machine. It writes their reports "
		"as files and as text, the memory before and after the calls with a picture, and scripts with the commands, to DIR, a new folder. A "
		"tool that is not installed is reported, and the rest is written. Status 1: a tool failed for some cell; 7: no cell could run.",
		"repo suite cells device timeout base-provider target-provider base-config target-config launches warmup artefacts read-only",
		.example =
			"flopwatch profile main my-branch --cells '*/backward'  # of two commits\n"
			"flopwatch profile --suite ws --base-provider hopper.v1 --target-provider hopper  # configurations, cell by cell\n"
			"flopwatch profile --suite 'attention-*' --artefacts traffic  # programs of the working tree, under ncu\n"
			"flopwatch profile --suite ws --base-provider hopper.v1 --target-provider hopper --artefacts ws-files  # reports of ncu and nsys\n"
			"flopwatch profile A3  # of an alert\nflopwatch profile C17  # of a comparison",
		.kind = CATALOG_CHOICES, .words = "alert comparison", .completes = "branches branches" },
	{ "why", 1, 3, verb_why, "why ALERT|COMPARISON|BRANCH|COMMIT [CELL]",
		"print the causes of a slowdown in milliseconds, and the kernels of both sides",
		"For a branch or commit the command uses its open or acknowledged alert, without one the comparison that decides its verdict. Reads the newest profile of the cell. "
		"The exit status is 7 while the profile is not done, 4 if there is none: flopwatch profile requests one.",
		"repo", .example = "flopwatch why A3\nflopwatch why my-branch\nflopwatch why C17 --json", .kind = CATALOG_CHOICES,
		.words = "alert comparison", .completes = "alerts_and_branches cells" },
	{ "import", 1, 4096, verb_import, "import FILE [BASE_FILE]\nimport --history FILE...",
		"store results that another tool has measured",
		"The daemon stores a comparison of kind import, whose cells are undecided: medians alone cannot decide. The same file again "
		"stores nothing. With --history the files have results of many commits, and each commit is compared with the one before "
		"it. A mistake in a file is printed with its line and column, and nothing is stored.",
		"repo commit base branch suite format history unit results time kernel ids launches warmup",
		.example =
			"flopwatch import after.json before.json --repo kernels --commit \"$(git rev-parse HEAD)\"  # with a base",
		.kind = CATALOG_FILE },
	{ "export", 1, 2, verb_export, "export COMPARISON [DIR]\nexport --all DIR",
		"write a comparison as other benchmarks' CSV files, or all results as CSV tables",
		"File names contain the names of the sides. --format ffa, the default: MagiAttention's files, for attention only. torchao: the columns "
		"of torchao's microbenchmarks, for cells with recipes: the speedup over baseline in the runs that timed both, in "
		"columns of compiled models; a failed cell is a row with its reason in the last column; with --artefacts the paths of the traces and memory files "
		"that profile wrote to that folder. --all: repositories, branches, jobs, "
		"alerts, bisects, devices, comparisons and their cells, for databases and notebooks; with --repo only the rows of one repository, while "
		"the tables of repositories and devices stay complete.",
		"format all zstd repo artefacts",
		.example = "flopwatch export C17 out  # profile_dense_main.csv and others\n"
			   "flopwatch export C18 --format torchao  # results_main.csv, results_my-branch.csv",
		.completes = "comparisons" },
	{ "suite", 2, 2, verb_suite, "suite import FILE", "write a suite from a public suite's configuration",
		"Reads a benchmark_config.yml of torchao's microbenchmarks unchanged, and writes a suite of the linear family with the same "
		"cells. Comments list keys without a meaning here, such as torch_compile_mode, with their lines. "
		"The exit status is 2 for mistakes in FILE, each printed with its position. Needs no daemon.",
		"suite output",
		.example =
			"flopwatch suite import benchmark_config.yml -o etc/suites/linear.yaml  # then: flopwatch try --suite linear",
		.kind = CATALOG_CHOICES, .words = "import", .is_local = always },
	{ "reproduce", 1, 2, verb_reproduce, "reproduce COMPARISON [CELL]",
		"print commands that rerun a cell, alone or under ncu or nsys",
		"Default: the worst cell. The commands name the device, the provider and the modules that were measured, and run "
		"on the worker's machine.",
		"", .example = "flopwatch reproduce C17 | less", .completes = "comparisons cells" },
	{ "history", 1, 1, verb_history, "history CELL", "print the history of a cell",
		"CELL is a whole key, as `flopwatch wait BRANCH --long` prints it. A line has a comparison, the newest first: its commit, time, "
		"change against the base and verdict. Changes of the environment follow.",
		"repo branch device limit",
		.example = "flopwatch history attention/dense/full/s8192/hq64/hk8/d128/bf16/forward --branch main",
		.completes = "cells" },
	{ "jobs", 0, 0, verb_jobs, "jobs", "list queued and recent jobs, with the reasons of waiting",
		"Running jobs come first. Below the table, one line for each obstacle: a full queue, a repository that cannot be read, a worker that is down, a device "
		"that is paused, quarantined or used by other processes, a full disk.",
		"state repo limit", .example = "flopwatch jobs --state open  # queued and running jobs" },
	{ "log", 1, 1, verb_log, "log JOB|BRANCH", "print what a job did, and the text of a failed build",
		"For a branch it prints its newest job. Consecutive runs share one line; --long prints a line for each. --build also prints the text of builds that succeeded.",
		"build repo", .example = "flopwatch log J12\nflopwatch log my-branch  # its newest job", .completes = "jobs" },
	{ "cancel", 1, 1, verb_cancel, "cancel JOB|BRANCH", "cancel a job",
		"A queued job is removed from the queue, a running one is stopped and stores no verdict. Of a branch it is the only job that "
		"has not ended; several are listed, with exit status 2. Prints nothing, of a branch the job.",
		"repo", .example = "flopwatch cancel J12\nflopwatch cancel my-branch  # its open job", .completes = "jobs" },
	{ "retry", 1, 1, verb_retry, "retry JOB|BRANCH", "queue the same comparison again",
		"JOB, of a branch its newest job, has to have ended, in any way. Prints the new job.", "repo",
		.example = "flopwatch retry J12", .completes = "jobs" },
	{ "approve", 0, 2, verb_approve, "approve\napprove NUMBER COMMIT",
		"list pull requests that wait for approval, or approve a commit of one",
		"COMMIT is the full hash of the request's head; the approval holds for this commit only. The token must be one that "
		"pull_requests.approvers of the repository names. Without arguments: requests of forks whose head is not approved; --all: all "
		"requests.",
		"repo all",
		.example =
			"flopwatch approve  # which wait\n"
			"flopwatch approve 7 \"$(git rev-parse FETCH_HEAD)\"  # after git fetch origin pull/7/head, and a review" },
	{ "alerts", 0, 2, verb_alerts, "alerts\nalerts acknowledge|accept|resolve|invalidate ID", "list alerts, or answer one",
		"The first line is the worst open alert. An alert has two lines: its finding, and its repository, culprit, age and answer. Answers: accept, the slowdown is intended; resolve, it is fixed; invalidate, the measurement is wrong; acknowledge, you work on it. accept and invalidate need a --reason. Inside a checkout of a repository that the daemon does not watch, the exit status of the list is 4, "
		"unless --repo or --all is given.",
		"state repo all limit reason",
		.example = "flopwatch alerts --state open\nflopwatch alerts accept A3 --reason 'wider tiles, worth it'",
		.kind = CATALOG_CHOICES, .words = "acknowledge accept resolve invalidate", .completes = "- alerts" },
	{ "notifications", 0, 0, verb_notifications, "notifications", "list notifications and their delivery attempts", "",
		"state limit", .example = "flopwatch notifications --state failed  # undelivered ones" },
	{ "redeliver", 1, 1, verb_redeliver, "redeliver NOTIFICATION", "send a notification again, under the same id", "", "",
		.example = "flopwatch redeliver 42" },
	{ "notify", 2, 2, verb_notify, "notify test NAME", "send a test message to a receiver, and wait for its answer",
		"NAME is the receiver's name under webhooks of flopwatchd.yml. Quiet hours do not delay the message. The exit status is 1 if it was not delivered.",
		"", .example = "flopwatch notify test chat", .kind = CATALOG_CHOICES, .words = "test" },
	{ "devices", 0, 0, verb_devices, "devices", "list devices",
		"A line has the device's UUID, by which other verbs name it, its state, and why it gets no jobs or only some.",
		"", .example = "flopwatch devices" },
	{ "pause", 1, 1, verb_pause, "pause DEVICE", "stop giving jobs to a device",
		"DEVICE is its UUID, as `flopwatch devices` prints it. A running job continues; queued ones wait for `flopwatch resume "
		"DEVICE`, or for another device. Prints nothing.",
		"", .example = "flopwatch pause GPU-1a2b", .completes = "devices" },
	{ "resume", 1, 1, verb_resume, "resume DEVICE",
		"give jobs to a device again; a quarantined one gets a health check first", "", "",
		.example = "flopwatch resume GPU-1a2b", .completes = "devices" },
	{ "judge", 0, 1, verb_judge, "judge --again [COMPARISON]", "compute verdicts again from stored samples",
		"Of one comparison, or of the whole history: after an update that judges in another way. It measures nothing, and prints how many "
		"verdicts changed; --json lists them.",
		"again", .example = "flopwatch judge --again C17", .completes = "comparisons" },
	{ "calibrate", 0, 1, verb_calibrate, "calibrate\ncalibrate show\ncalibrate forget",
		"compare main with itself, to measure the noise of each cell",
		"Queues the comparisons; `flopwatch wait JOB` waits for one. show: the noise of each cell over the last 30 days, and the smallest slowdown that can be detected. forget: start again, after "
		"a machine was busy.",
		"repo suite device cells runs",
		.example =
			"flopwatch calibrate --runs 3\nflopwatch calibrate show\nflopwatch calibrate forget --cells '*/backward'",
		.kind = CATALOG_CHOICES, .words = "show forget" },
	{ "peer", 0, 1, verb_peer, "peer [BRANCH|COMMIT]\npeer show", "compare a branch with its peers, such as NVIDIA's library",
		"Queues one comparison for each peer: the same commit with another provider of its module. The daemon does the same for the upstream "
		"branch while the queue is empty, for the peers in flopwatchd.yml or .flopwatch.yaml. show: the speed of each "
		"repository against its peers.",
		"repo suite device cells provider",
		.example = "flopwatch peer  # main against the repository's peers\nflopwatch peer my-branch --provider "
			   "cudnn\nflopwatch peer show",
		.kind = CATALOG_CHOICES, .words = "show", .completes = "branches" },
	{ "init", 0, 1, verb_init, "init [FOLDER]", "scan a checkout and write its .flopwatch.yaml",
		"Finds modules (sources that export fw_entry), programs with flopwatch.h or flopwatch.py, Google Benchmark, nvbench, Catch2 and hyperfine, scripts that time with Triton or PyTorch, "
		"tests with pytest-benchmark, and their builds by Makefile or CMakeLists.txt. Benchmarks that this machine can run come first, then the most certain and best known; of "
		"more than twelve benchmarks it writes eight, with --all up to 64. "
		"Prints the Python environment that they need, missing modules and programs, and each similar file that it left out, with "
		"the reason. It never overwrites an existing file and runs nothing of the checkout. The exit status is 4 if it finds no "
		"benchmark. Needs no daemon.",
		"all",
		.example = "flopwatch init  # then: flopwatch try\n"
			   "flopwatch init --all ../kernels  # another checkout, with all of its benchmarks",
		.kind = CATALOG_FILE, .is_local = always },
	{ "try", 0, 1, verb_try, "try [FOLDER]", "build, check and run the working tree once, without a daemon or a commit",
		"Takes the files that a push would hold, tracked or new, and runs a worker on this machine with them, as for a push: prints "
		"the cells, the device time of a comparison, failures with their position, and how to fix them; at the end the number of cells and "
		"the device time of a push. The exit status is 0 if every supported cell "
		"has a time, 1 if something failed, 4 without a manifest, 7 if there is nothing to compare.",
		"suite cells device read-only",
		.example = "flopwatch try  # try this checkout\nflopwatch try --suite ffa-smoke --device cpu",
		.kind = CATALOG_FILE, .is_local = always },
	{ "doctor", 0, 1, verb_doctor, "doctor [FILE]", "check this machine and the daemon, and print how to fix problems",
		"Checks units and users of an installed service; the contents of FILE (/etc/flopwatch/flopwatchd.yml) as `flopwatch config check` "
		"does, with repositories and their credentials; a module that is built and run in the sandbox; GPU and driver, nvcc, performance "
		"counters, disk, clock; the daemon, its repositories, failures of all their newest jobs, and its workers. The "
		"exit status is 1 if a check fails, else 0.",
		"", .example = "flopwatch doctor  # a line a check: ok, warn or fail", .is_local = always },
	{ "backup", 1, 1, verb_backup, "backup FILE", "copy the daemon's database, and its archive of single times",
		"FILE is a complete database or does not exist. Months of single times go to the folder samples next to FILE; only new ones are copied.",
		"", .example = "flopwatch backup flopwatch-$(date +%F).db", .kind = CATALOG_FILE },
	{ "audit", 0, 0, verb_audit, "audit", "list the requests of users that may have changed something",
		"Prints the time, the user (the name of the token), the address and the status. Needs a token of scope admin.",
		"limit", .example = "flopwatch audit --limit 20" },
	{ "servers", 0, 0, verb_servers, "servers", "list the named servers of the user",
		"They are in servers.yml of the user's configuration folder: name, url, token_file, ca_file and a default. --server NAME "
		"addresses one of them, and --all-servers all.",
		"", .example = "flopwatch servers\nflopwatch --server bench2 jobs  # a server by its name" },
	{ "token", 1, 2, verb_token, "token add NAME\ntoken list\ntoken revoke NAME", "manage access tokens",
		"add needs a --scope; the token is printed only once.", "scope expires",
		.example = "flopwatch token add alice --scope trigger --expires 90d", .kind = CATALOG_CHOICES,
		.words = "add list revoke" },
	{ "config", 1, 2, verb_config, "config check [FILE]", "check a configuration and the things that it names",
		"Prints every mistake with its position; the exit status is then 2. Otherwise it checks, as the current user and without changes, the "
		"port, folders, suites, programs, repositories and their upstream branches, workers and their devices, and prints a line for each, "
		"with the fix. The exit status is 1 if a check fails.",
		"", .example = "flopwatch config check  # /etc/flopwatch/flopwatchd.yml", .kind = CATALOG_CHOICES,
		.words = "check", .is_local = always },
	{ "completion", 1, 1, verb_completion, "completion bash|zsh|fish", "print completions for a shell",
		"They request names of branches, cells, alerts, jobs, comparisons, devices and repositories from the daemon, for at most 1.5 "
		"seconds; without the daemon they offer none. Names of servers are those of `flopwatch servers`.",
		"repo", .example = "source <(flopwatch completion bash)", .kind = CATALOG_CHOICES, .words = "bash zsh fish",
		.is_local = always },
	{ "help", 0, 1, verb_help, "help [VERB]", "print this help, or the help of a verb", "", "",
		.example = "flopwatch help wait", .is_local = always },
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
