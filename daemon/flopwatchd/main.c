/* main.c - command line of flopwatchd; the daemon starts in server.c. */
#include <getopt.h>

#include "flopwatchd/internal.h"
#include "web/http/http.h"

static const char usage[] =
	"usage: flopwatchd --config FILE [--check-config | --probe]\n"
	"       flopwatchd --backup DATABASE FILE\n"
	"       flopwatchd --check DATABASE\n"
	"The daemon of flopwatch: it watches repositories, queues jobs, runs workers, and serves the pages and the REST API.\n\n"
	"  --config FILE   read the settings from FILE, such as /etc/flopwatch/flopwatchd.yml; every key: man flopwatchd.yml\n"
	"  --check-config  print every mistake in FILE and exit\n"
	"  --probe         check the folders, repositories and workers of FILE, and print a line of JSON for each;\n"
	"                  `flopwatch config check` prints them as a report\n"
	"  --backup        copy DATABASE, in use or not, to FILE and exit; `flopwatch backup` does it for a running daemon\n"
	"  --check         check DATABASE, in use or not, for damage, for at most ten seconds; the daemon does so at its start\n"
	"  --help, --version\n"
	"\nSignals: HUP reads FILE again, TERM ends the daemon.\n"
	"Exit status: 0 done, 1 error, 2 usage or configuration, 3 the database is damaged or of another version.\n";

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

static void print_counts(const char *path, const struct config *config)
{
	int n_workers = count_workers(config);
	printf("%s: fine; %d %s, %d worker%s, %d webhook%s\n", path, config->n_repos,
		config->n_repos == 1 ? "repository" : "repositories", n_workers, n_workers == 1 ? "" : "s", config->n_webhooks,
		config->n_webhooks == 1 ? "" : "s");
}

/* Check the files of HTTPS, which the daemon reads at each use. Appends a mistake. */
static int check_certificate(const struct config *c, struct buf *mistakes, struct fw_err *err)
{
	const struct http_tls tls = { c->tls.certificate, c->tls.key_file, 0 };
	struct fw_err wrong = { 0 };
	int64_t expires_at;
	if (!tls.certificate[0] || http_check_tls(&tls, &expires_at, &wrong) == 0)
		return 0;
	buf_printf(mistakes, "%s:%d:%d: tls: %s\n", c->file, c->tls.at.line, c->tls.at.column, wrong.text);
	return err_set(err, ERR_INVALID, "1 mistake in %s", c->file);
}

static int check_config(const char *path, bool probe)
{
	struct config *config = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes;
	buf_init(&mistakes, 1 << 20);
	int result = config_read(path, &config, &mistakes, &err) == 0 ? 0 : err.is_shortage ? 1 : 2;
	if (result == 0 && !probe && check_certificate(config, &mistakes, &err) != 0)
		result = 2;
	if (result == 0 && probe)
		check_config_names(config);
	else if (result == 0)
		print_counts(path, config);
	else
		fprintf(stderr, "%sflopwatchd: %s\n", mistakes.data, err.text);
	if ((fflush(stdout) != 0 || ferror(stdout)) && result == 0) {
		fputs("flopwatchd: cannot write all results to standard output\n", stderr);
		result = 1;
	}
	buf_fini(&mistakes);
	config_free(config);
	return result;
}

int main(int argc, char **argv)
{
	json_set_alloc_funcs(mem_alloc, free); /* jansson itself omits bytes for which it has no memory */
	const char *path = NULL;
	bool check = false, probe = false, backup = false, check_database = false;
	const struct option_row options[] = {
		{ "config", .text = &path },
		{ "check-config", .flag = &check },
		{ "probe", .flag = &probe },
		{ "backup", .flag = &backup },
		{ "check", .flag = &check_database },
		{ "help", .print = usage },
		{ "version", .print = "flopwatchd " FW_VERSION "\n" },
		{ .name = NULL },
	};
	int status = option_read(argc, argv, options);
	if (status != OPTION_NEXT)
		return status;
	if (check || probe || backup || check_database)
		mem_end_program("flopwatchd", 1);
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
	if (check || probe)
		return check_config(path, probe);
	log_open("flopwatchd", getenv("FLOPWATCH_DEBUG") ? LOG_DEBUG : LOG_INFO);
	return server_run(path);
}
