/* flopwatch: the command line. One parser of options for all verbs of the catalog. */
#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/catalog.h"
#include "cli/help.h"
#include "cli/output/terminal.h"

enum {
	OPTION_SERVER = 256,
	OPTION_TOKEN_FILE,
	OPTION_SCOPE,
	OPTION_REPO,
	OPTION_FORMAT,
	OPTION_UNIT,
	OPTION_THRESHOLD,
	OPTION_TIME,
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
	OPTION_PROVIDER,
	OPTION_BASE_PROVIDER,
	OPTION_TARGET_PROVIDER,
	OPTION_JSON,
	OPTION_QUICK,
	OPTION_PROGRESS,
	OPTION_AGAIN,
	OPTION_QUIET,
	OPTION_COLOR,
	OPTION_BROWSER,
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
	{ "threshold", required_argument, NULL, OPTION_THRESHOLD },
	{ "time", required_argument, NULL, OPTION_TIME },
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
	{ "provider", required_argument, NULL, OPTION_PROVIDER },
	{ "base-provider", required_argument, NULL, OPTION_BASE_PROVIDER },
	{ "target-provider", required_argument, NULL, OPTION_TARGET_PROVIDER },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "quick", no_argument, NULL, OPTION_QUICK },
	{ "again", no_argument, NULL, OPTION_AGAIN },
	{ "progress", no_argument, NULL, OPTION_PROGRESS },
	{ "quiet", no_argument, NULL, OPTION_QUIET },
	{ "color", required_argument, NULL, OPTION_COLOR },
	{ "browser", no_argument, NULL, OPTION_BROWSER },
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

/* A percentage above 0 and below 100, or -1. */
static double percentage(const char *text)
{
	char *end;
	double v = strtod(text, &end);
	return *text && !*end && v > 0 && v < 100 ? v : -1;
}

/* 0 go on, 1 the version was printed, -1 usage. */
static int parse(int argc, char **argv, struct options *o)
{
	for (int letter; (letter = getopt_long(argc, argv, "h", long_options, NULL)) != -1;) {
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
		case OPTION_THRESHOLD:
			o->threshold_pct = percentage(optarg);
			break;
		case OPTION_TIME:
			o->time = optarg;
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
		case OPTION_PROVIDER:
			o->provider = optarg;
			break;
		case OPTION_BASE_PROVIDER:
			o->base_provider = optarg;
			break;
		case OPTION_TARGET_PROVIDER:
			o->target_provider = optarg;
			break;
		case OPTION_COLOR:
			if (terminal_choose(optarg) == 0)
				break;
			fputs("flopwatch: --color takes auto, always or never\n", stderr);
			return -1;
		case OPTION_BROWSER:
			o->browser = true;
			break;
		case 'h':
		case OPTION_HELP:
			o->help = true;
			break;
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
	if (o->threshold_pct < 0) {
		fputs("flopwatch: --threshold takes a percentage above 0 and below 100\n", stderr);
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

static const struct catalog_verb *find_verb(const char *name)
{
	const struct catalog_verb *verb = catalog_find(name), *nearest = verb ? NULL : catalog_nearest(name);
	if (!verb)
		fprintf(stderr, "flopwatch: there is no verb %s%s%s%s; see flopwatch --help\n", name,
			nearest ? "; did you mean " : "", nearest ? nearest->name : "", nearest ? "?" : "");
	return verb;
}

int main(int argc, char **argv)
{
	const char *server = getenv("FLOPWATCH_SERVER");
	struct options o = { .server = server && *server ? server : "http://127.0.0.1:8451" };
	int parsed = parse(argc, argv, &o);
	if (parsed != 0)
		return parsed > 0 ? EXIT_OK : EXIT_USAGE;
	if (optind == argc) {
		help_all(o.help ? stdout : stderr);
		return o.help ? EXIT_OK : EXIT_USAGE;
	}
	const struct catalog_verb *verb = find_verb(argv[optind]);
	if (!verb)
		return EXIT_USAGE;
	o.n_arg = argc - optind - 1;
	o.arg = argv + optind + 1;
	if (o.help) {
		help_verb(verb, stdout);
		return EXIT_OK;
	}
	if (o.n_arg < verb->min_arg || o.n_arg > verb->max_arg) {
		fprintf(stderr, "usage: flopwatch %.*s\nsee flopwatch help %s\n", (int)strcspn(verb->usage, "\n"), verb->usage,
			verb->name);
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
