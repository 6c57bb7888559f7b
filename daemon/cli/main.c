/* flopwatch: the command line. A table of verbs, one parser of options for all of them. */
#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "core/reading.h"

static const struct verb {
	const char *name;
	int min_arg, max_arg;
	int (*run)(struct client *, const struct options *);
	const char *usage, *what;
} verbs[] = {
	{ "status", 0, 0, verb_status, "status [--repo R]", "branches, their verdicts and jobs" },
	{ "compare", 2, 2, verb_compare, "compare BASE TARGET [--repo R] [--suite S] [--cells GLOB] [--quick]",
		"measure TARGET against BASE and print the tables; \".\" is the uncommitted tree" },
	{ "compare", 2, 2, verb_compare, "compare FILE FILE [--format F] [--unit U]",
		"show two benchmark outputs side by side, without the daemon and without a verdict" },
	{ "run", 1, 1, verb_run, "run TARGET [--repo R] [--suite S]", "queue a branch or commit against its base" },
	{ "wait", 1, 1, verb_wait, "wait BRANCH|COMMIT|JOB [--repo R]", "wait for its newest job and print the tables" },
	{ "bisect", 2, 3, verb_bisect, "bisect GOOD BAD [CELL] [--repo R] [--suite S]",
		"find the commit between two that lost; CELL is a pattern, default all" },
	{ "import", 1, 2, verb_import,
		"import FILE [BASE_FILE] --repo R --commit SHA [--base SHA] [--branch B] [--suite NAME] [--format F]",
		"store what another benchmark wrote; the same again stores nothing" },
	{ "export", 1, 2, verb_export, "export COMPARISON [DIR]", "write a comparison as MagiAttention's CSV files" },
	{ "history", 1, 1, verb_history, "history CELL [--repo R] [--branch B] [--device UUID]", "one cell over time" },
	{ "jobs", 0, 0, verb_jobs, "jobs [--state S] [--repo R]", "the queue and what ended lately" },
	{ "log", 1, 1, verb_log, "log JOB", "what happened to a job, and its build logs" },
	{ "cancel", 1, 1, verb_cancel, "cancel JOB", "end a job" },
	{ "retry", 1, 1, verb_retry, "retry JOB", "queue the same comparison again" },
	{ "alerts", 0, 2, verb_alerts,
		"alerts [--state S] [--repo R] | alerts acknowledge|accept|resolve|invalidate ID --reason TEXT",
		"losses that wait for a person" },
	{ "deliveries", 0, 0, verb_deliveries, "deliveries [--state S]", "who was told what, and how each attempt ended" },
	{ "redeliver", 1, 1, verb_redeliver, "redeliver DELIVERY", "send it again, under the same id" },
	{ "devices", 0, 0, verb_devices, "devices", "what measures" },
	{ "pause", 1, 1, verb_pause, "pause DEVICE", "give a device no more jobs" },
	{ "resume", 1, 1, verb_resume, "resume DEVICE", "give it jobs again; one that is quarantined is tried first" },
	{ "judge", 0, 1, verb_judge, "judge --again [COMPARISON]",
		"compute verdicts anew from stored samples, of one comparison or of all history" },
	{ "calibrate", 0, 1, verb_calibrate, "calibrate [show] [--repo R] [--suite S] [--device UUID|cuda|cpu|sim] [--runs N]",
		"compare main with itself, to learn how much each cell scatters; show: what is known" },
	{ "backup", 1, 1, verb_backup, "backup FILE", "copy the daemon's database" },
	{ "token", 1, 2, verb_token, "token add NAME --scope read|trigger|admin | token list | token revoke NAME",
		"who may ask, where the daemon wants to know" },
	{ "config", 1, 2, verb_config, "config check [FILE]", "read a configuration and say what is wrong" },
};
enum { N_VERB = sizeof verbs / sizeof verbs[0] };

static void help(FILE *out)
{
	fputs("flopwatch, regression tracking for GPU kernels\n\n"
	      "  flopwatch compare main my-branch      measure a branch against main\n"
	      "  flopwatch compare main . --quick      a first look at the uncommitted tree\n"
	      "  flopwatch status                      every branch with its verdict\n\n",
		out);
	for (int i = 0; i < N_VERB; i++)
		fprintf(out, "  %s\n      %s\n", verbs[i].usage, verbs[i].what);
	fputs("\n  --server URL  where flopwatchd listens (or FLOPWATCH_SERVER; default http://127.0.0.1:8451)\n"
	      "  --token-file FILE  access token on its first line (or FLOPWATCH_TOKEN), where the daemon asks for one\n"
	      "  --json        the API's answer instead of tables      --timeout S  stop waiting after S seconds\n"
	      "  --progress    one line a step, also in a pipe         --quiet      no progress\n"
	      "  --format F    what a file holds: " READING_FORMATS "\n"
	      "  --limit N     at most N rows                          --help --version\n\n"
	      "exit status: 0 no regression, 1 error, 2 usage, 3 regression, 4 not found, 5 daemon unreachable, 6 timeout, 7 "
	      "undecided\n",
		out);
}

/* Letters to add, drop or change between two words. */
static int distance(const char *a, const char *b)
{
	int row[64];
	int n = (int)strlen(b);
	if (n > 62)
		return 99;
	for (int j = 0; j <= n; j++)
		row[j] = j;
	for (int i = 1; a[i - 1]; i++) {
		int corner = row[0];
		row[0] = i;
		for (int j = 1; j <= n; j++) {
			int best = corner + (a[i - 1] != b[j - 1]);
			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

static const struct verb *find_verb(const char *name)
{
	const struct verb *nearest = NULL;
	int least = 3;
	for (int i = 0; i < N_VERB; i++) {
		int d = distance(name, verbs[i].name);
		if (d == 0)
			return &verbs[i];
		if (d < least) {
			least = d;
			nearest = &verbs[i];
		}
	}
	fprintf(stderr, "flopwatch: there is no verb %s%s%s%s; see flopwatch --help\n", name, nearest ? "; did you mean " : "",
		nearest ? nearest->name : "", nearest ? "?" : "");
	return NULL;
}

enum {
	OPTION_SERVER = 256,
	OPTION_TOKEN_FILE,
	OPTION_SCOPE,
	OPTION_REPO,
	OPTION_FORMAT,
	OPTION_UNIT,
	OPTION_COMMIT,
	OPTION_BASE,
	OPTION_SUITE,
	OPTION_CELLS,
	OPTION_BRANCH,
	OPTION_DEVICE,
	OPTION_STATE,
	OPTION_REASON,
	OPTION_TIMEOUT,
	OPTION_RUNS,
	OPTION_LIMIT,
	OPTION_JSON,
	OPTION_QUICK,
	OPTION_PROGRESS,
	OPTION_AGAIN,
	OPTION_QUIET,
	OPTION_HELP,
	OPTION_VERSION
};

static const struct option long_options[] = {
	{ "server", required_argument, NULL, OPTION_SERVER },
	{ "token-file", required_argument, NULL, OPTION_TOKEN_FILE },
	{ "scope", required_argument, NULL, OPTION_SCOPE },
	{ "repo", required_argument, NULL, OPTION_REPO },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "unit", required_argument, NULL, OPTION_UNIT },
	{ "commit", required_argument, NULL, OPTION_COMMIT },
	{ "base", required_argument, NULL, OPTION_BASE },
	{ "suite", required_argument, NULL, OPTION_SUITE },
	{ "cells", required_argument, NULL, OPTION_CELLS },
	{ "branch", required_argument, NULL, OPTION_BRANCH },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "state", required_argument, NULL, OPTION_STATE },
	{ "reason", required_argument, NULL, OPTION_REASON },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "runs", required_argument, NULL, OPTION_RUNS },
	{ "limit", required_argument, NULL, OPTION_LIMIT },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "quick", no_argument, NULL, OPTION_QUICK },
	{ "again", no_argument, NULL, OPTION_AGAIN },
	{ "progress", no_argument, NULL, OPTION_PROGRESS },
	{ "quiet", no_argument, NULL, OPTION_QUIET },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ 0 },
};

/* A whole positive number, or -1. */
static int number(const char *text)
{
	char *end;
	long v = strtol(text, &end, 10);
	return *text && !*end && v > 0 && v < 1000000 ? (int)v : -1;
}

/* 0 go on, 1 help or version was printed, -1 usage. */
static int parse(int argc, char **argv, struct options *o)
{
	for (int letter; (letter = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
		switch (letter) {
		case OPTION_SERVER:
			o->server = optarg;
			break;
		case OPTION_TOKEN_FILE:
			o->token_file = optarg;
			break;
		case OPTION_SCOPE:
			o->scope = optarg;
			break;
		case OPTION_REPO:
			o->repo = optarg;
			break;
		case OPTION_FORMAT:
			o->format = optarg;
			break;
		case OPTION_UNIT:
			o->unit = optarg;
			break;
		case OPTION_COMMIT:
			o->commit = optarg;
			break;
		case OPTION_BASE:
			o->base = optarg;
			break;
		case OPTION_SUITE:
			o->suite = optarg;
			break;
		case OPTION_CELLS:
			o->cells = optarg;
			break;
		case OPTION_BRANCH:
			o->branch = optarg;
			break;
		case OPTION_DEVICE:
			o->device = optarg;
			break;
		case OPTION_STATE:
			o->state = optarg;
			break;
		case OPTION_REASON:
			o->reason = optarg;
			break;
		case OPTION_JSON:
			o->json = true;
			break;
		case OPTION_QUICK:
			o->quick = true;
			break;
		case OPTION_AGAIN:
			o->again = true;
			break;
		case OPTION_PROGRESS:
			o->progress = true;
			break;
		case OPTION_QUIET:
			o->quiet = true;
			break;
		case OPTION_TIMEOUT:
			o->timeout_s = number(optarg);
			break;
		case OPTION_RUNS:
			o->runs = number(optarg);
			break;
		case OPTION_LIMIT:
			o->limit = number(optarg);
			break;
		case OPTION_HELP:
			help(stdout);
			return 1;
		case OPTION_VERSION:
			puts("flopwatch " FW_VERSION);
			return 1;
		default:
			return -1;
		}
	}
	if (o->timeout_s < 0 || o->limit < 0 || o->runs < 0) {
		fputs("flopwatch: --timeout, --limit and --runs take a whole number above 0\n", stderr);
		return -1;
	}
	return 0;
}

/* The token on the first line of a file. 0, -1 and the line is printed. */
static int read_token(const char *path, char *token, size_t size)
{
	FILE *f = fopen(path, "re");
	if (!f) {
		fprintf(stderr, "flopwatch: cannot read the token in %s: %s\n", path, strerror(errno));
		return -1;
	}
	char *line = fgets(token, (int)size, f);
	fclose(f);
	if (line)
		token[strcspn(token, "\r\n")] = '\0';
	if (line && token[0])
		return 0;
	fprintf(stderr, "flopwatch: there is no token on the first line of %s\n", path);
	return -1;
}

int main(int argc, char **argv)
{
	const char *server = getenv("FLOPWATCH_SERVER");
	struct options o = { .server = server && *server ? server : "http://127.0.0.1:8451" };
	int parsed = parse(argc, argv, &o);
	if (parsed != 0)
		return parsed > 0 ? EXIT_OK : EXIT_USAGE;
	if (optind == argc) {
		help(stderr);
		return EXIT_USAGE;
	}
	const struct verb *verb = find_verb(argv[optind]);
	if (!verb)
		return EXIT_USAGE;
	o.n_arg = argc - optind - 1;
	o.arg = argv + optind + 1;
	if (o.n_arg < verb->min_arg || o.n_arg > verb->max_arg) {
		fprintf(stderr, "usage: flopwatch %s\n", verb->usage);
		return EXIT_USAGE;
	}
	struct fw_err err = { 0 };
	struct client *client = NULL;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		err_set(&err, ERR_INTERNAL, "libcurl did not start");
		return verb_fail(&err);
	}
	char token[200] = "";
	const char *given = getenv("FLOPWATCH_TOKEN");
	if (o.token_file && read_token(o.token_file, token, sizeof token) != 0)
		return EXIT_ERROR;
	if (client_open(o.server, token[0] ? token : given && *given ? given : NULL, &client, &err) != 0) {
		(void)verb_fail(&err);
		return EXIT_USAGE;
	}
	int status = verb->run(client, &o);
	client_close(client);
	curl_global_cleanup();
	return status;
}
