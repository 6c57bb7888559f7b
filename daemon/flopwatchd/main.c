/* main.c - command line of flopwatchd; the daemon starts in server.c. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "flopwatchd/internal.h"

static const char usage[] =
	"usage: flopwatchd --config FILE [--check-config | --probe]\n"
	"       flopwatchd --backup DATABASE FILE\n"
	"       flopwatchd --check DATABASE\n"
	"  --config FILE   settings, see the commented flopwatchd.yml\n"
	"  --check-config  print every mistake in FILE and exit\n"
	"  --probe         check the folders, repositories and workers of FILE, a line of JSON each; see `flopwatch config check`\n"
	"  --backup        copy DATABASE, in use or not, to FILE and exit; `flopwatch backup` uses it\n"
	"  --check         check DATABASE, in use or not, for damage, ten seconds at most; the daemon does so at its start\n"
	"  --help, --version\n"
	"Signals: HUP reads FILE again, TERM ends the daemon. Exit 0 done, 1 error, 2 usage or configuration,\n"
	"3 damaged database, or one of another version.\n";

enum { OPT_CHECK = 256, OPT_PROBE, OPT_BACKUP, OPT_CHECK_DATABASE, OPT_VERSION };

static int usage_error(const char *what, const char *word)
{
	fprintf(stderr, "flopwatchd: %s%s\n%s", what, word, usage);
	return 2;
}

/* An entry that only builds belongs to the previous worker. */
static int count_workers(const struct config *c)
{
	int n = 0;
	for (int i = 0; i < c->n_workers; i++)
		n += !c->worker[i].builds;
	return n;
}

static int check_config(const char *path, bool look)
{
	struct config *config = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes;
	buf_init(&mistakes, 1 << 20);
	int result = config_read(path, &config, &mistakes, &err) == 0 ? 0 : 2;
	if (result == 0 && look)
		check_config_names(config);
	else if (result == 0)
		printf("%s: fine; %d repositories, %d workers, %d webhooks\n", path, config->n_repos, count_workers(config),
			config->n_webhooks);
	else
		fprintf(stderr, "%sflopwatchd: %s\n", mistakes.data, err.text);
	buf_fini(&mistakes);
	config_free(config);
	return result;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check-config", no_argument, NULL, OPT_CHECK },
		{ "probe", no_argument, NULL, OPT_PROBE },
		{ "backup", no_argument, NULL, OPT_BACKUP },
		{ "check", no_argument, NULL, OPT_CHECK_DATABASE },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ 0 },
	};
	const char *path = NULL;
	bool check = false, look = false, backup = false, check_database = false;
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			path = optarg;
			break;
		case OPT_CHECK:
			check = true;
			break;
		case OPT_PROBE:
			look = true;
			break;
		case OPT_BACKUP:
			backup = true;
			break;
		case OPT_CHECK_DATABASE:
			check_database = true;
			break;
		case 'h':
			return fputs(usage, stdout) < 0;
		case OPT_VERSION:
			return puts("flopwatchd " FW_VERSION) < 0;
		default:
			return usage_error("unknown option, or missing value:  ", argv[optind - 1]);
		}
	}
	if (backup && !path && argc - optind == 2)
		return backup_run(argv[optind], argv[optind + 1]);
	if (check_database && !path && !backup && argc - optind == 1)
		return check_run(argv[optind]);
	if (check_database)
		return usage_error("--check takes one argument, DATABASE, and no other option", "");
	if (backup)
		return usage_error("--backup takes two arguments, DATABASE and FILE, and no other option", "");
	if (optind < argc)
		return usage_error("unexpected argument:  ", argv[optind]);
	if (!path)
		return usage_error("--config FILE is missing", "");
	if (check || look)
		return check_config(path, look);
	log_open("flopwatchd", getenv("FLOPWATCH_DEBUG") ? LOG_DEBUG : LOG_INFO);
	return server_run(path);
}
