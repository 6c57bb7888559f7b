/* flopwatch: the command line. One option parser for all verbs of the catalog. */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <unistd.h>

#include "cli/internal.h"

enum { FIRST_OPTION = 256 /* for getopt: above all characters */, TOKEN_MS = 20000, REASONS_MAX_BYTES = 128 << 10 };

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

/* Own: names are the catalog's; out[CATALOG_OPTIONS_MAX]. */
static void long_options(struct option *out)
{
	const struct catalog_option *o = catalog_options;
	for (int i = 0; o[i].name; i++)
		out[i] = (struct option){ o[i].name, o[i].value ? required_argument : no_argument, NULL, FIRST_OPTION + i };
}

static int find_option(const char *name)
{
	int i = 0;
	while (strcmp(catalog_options[i].name, name) != 0)
		i++;
	return i;
}

/* Convert `text` to the option's member of `to`. False: invalid value, and a line was printed. */
static bool set_option(const struct catalog_option *option, const char *text, struct options *to)
{
	void *at = (char *)to + option->at;
	switch (option->holds) {
	case CATALOG_TEXT:
		*(const char **)at = text;
		return true;
	case CATALOG_FLAG:
		*(bool *)at = true;
		return true;
	case CATALOG_COUNT:
		if ((*(int *)at = number(text)) > 0)
			return true;
		fprintf(stderr, "flopwatch: --%s takes a whole number above 0\n", option->name);
		return false;
	case CATALOG_PERCENT:
		if ((*(double *)at = percentage(text)) > 0)
			return true;
		fprintf(stderr, "flopwatch: --%s takes a percentage above 0 and below 100\n", option->name);
		return false;
	}
	return false;
}

/* Own: given[CATALOG_OPTIONS_MAX], by index in the catalog. False: usage error, and a line was printed. */
static bool parse(int argc, char **argv, struct options *o, bool *given)
{
	struct option options[CATALOG_OPTIONS_MAX] = { 0 };
	long_options(options);
	for (int letter; (letter = getopt_long(argc, argv, "ho:", options, NULL)) != -1;) {
		if (letter == 'h') {
			o->help = true;
			continue;
		}
		if (letter == 'o')
			letter = FIRST_OPTION + find_option("output");
		if (letter < FIRST_OPTION || !set_option(&catalog_options[letter - FIRST_OPTION], optarg, o))
			return false;
		given[letter - FIRST_OPTION] = true;
	}
	if (!o->color || terminal_choose(o->color) == 0)
		return true;
	fputs("flopwatch: --color takes auto, always or never\n", stderr);
	return false;
}

/* An option that the verb does not use is an error: ignoring it could hide a mistake. */
static bool takes_all(const struct catalog_verb *verb, const bool *given)
{
	for (int i = 0; catalog_options[i].name; i++)
		if (given[i] && !catalog_takes(verb, &catalog_options[i])) {
			fprintf(stderr, "flopwatch: %s takes no --%s; see flopwatch help %s\n", verb->name,
				catalog_options[i].name, verb->name);
			return false;
		}
	return true;
}

/* Read until the deadline: data from a pipe may be late, and a FIFO without a writer never ends. Shape: text[size]. */
static int read_briefly(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	ssize_t n = fd < 0 ? -1 : 0;
	size_t len = 0;
	while (fd >= 0 && len < size - 1 && !memchr(text, '\n', len)) {
		if (poll(&ready, 1, TOKEN_MS) == 0) {
			errno = ETIMEDOUT;
			n = -1;
			break;
		}
		n = read(fd, text + len, size - 1 - len);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

/* Read the token from the first line of a file. */
static int read_token(const char *path, char *token, size_t size, struct fw_err *err)
{
	if (read_briefly(path, token, size) != 0)
		return err_sys(err, "cannot read the token in %s", path);
	token[strcspn(token, "\r\n")] = '\0';
	return token[0] ? 0 : err_set(err, ERR_NOT_FOUND, "there is no token on the first line of %s", path);
}

static const char *text_or(const char *text, const char *other)
{
	return text && *text ? text : other;
}

/* Find the server of the options, the environment or the file: an option counts most. EXIT_OK, else `why` has the reason. */
static int find_server(const struct servers *all, const struct options *o, struct server *out, struct buf *why)
{
	const char *wanted = text_or(o->server, text_or(getenv("FLOPWATCH_SERVER"), NULL));
	const struct server *named = !wanted ? all->usual : strstr(wanted, "://") ? NULL : servers_find(all, wanted);
	*out = (struct server){ .name = "" };
	if (named)
		*out = *named;
	else if (wanted && !strstr(wanted, "://"))
		buf_printf(
			why, "there is no server named %s in %s; an address begins with http:// or https://", wanted, all->path);
	else if ((size_t)snprintf(out->url, sizeof out->url, "%s", wanted ? wanted : "http://127.0.0.1:8451") >= sizeof out->url)
		buf_printf(why, "server: the address is longer than %zu bytes", sizeof out->url - 1);
	return why->len ? EXIT_USAGE : EXIT_OK;
}

/* Open a client with the token and the certificates of the options, the named server or the environment. As above. */
static int open_client(const struct server *s, const struct options *o, struct client **out, struct buf *why)
{
	struct fw_err err = { 0 };
	const char *ca_file = text_or(o->ca_file, s->ca_file[0] ? s->ca_file : getenv("FLOPWATCH_CA_FILE"));
	char token[SERVERS_TOKEN_SIZE] = "";
	int status = EXIT_OK;
	if (o->token_file ? read_token(o->token_file, token, sizeof token, &err) != 0
			  : s->token_file[0] && secret_read(s->token_file, token, sizeof token, &err) != 0)
		status = EXIT_ERROR;
	/* the token of the environment is that of another server where the named one has its own */
	else if (client_open(s->url, token[0] ? token : text_or(getenv("FLOPWATCH_TOKEN"), NULL), out, &err) != 0 ||
		 (ca_file && *ca_file && strncmp(s->url, "https://", 8) == 0 && client_trust(*out, ca_file, &err) != 0))
		status = err.is_shortage ? EXIT_ERROR : EXIT_USAGE;
	explicit_bzero(token, sizeof token);
	if (status == EXIT_OK)
		return status;
	client_close(*out);
	*out = NULL;
	buf_puts(why, err.text);
	return status;
}

/*
 * Open the client of a verb. One that needs no server gets a client that refuses its requests where the server is not known: their
 * error is a line of its report. Own: server, for the options. EXIT_OK, else the reasons were printed, a line each.
 */
static int choose_server(const struct servers *all, const struct catalog_verb *verb, struct options *o, struct server *server,
	struct client **out, struct buf *why)
{
	bool is_local = verb->is_local && verb->is_local(o);
	int status = why->len ? EXIT_USAGE : find_server(all, o, server, why);
	o->server = server->url;
	if (status == EXIT_OK)
		status = open_client(server, o, out, why);
	if (status == EXIT_OK || !is_local)
		return status;
	client_open_refusing(why->data ? why->data : "", out);
	return EXIT_OK;
}

/* A line each, with the name of the program before the first. */
static int print_reasons(int status, const struct buf *why)
{
	for (const char *line = why->data; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		plain_line(stderr, "%s%.*s", line == why->data ? "flopwatch: " : "", (int)strcspn(line, "\n"), line);
	return status;
}

static int run_on_all(const struct servers *all, const struct catalog_verb *verb, const struct options *o)
{
	if (o->server || o->token_file || o->ca_file || o->watch)
		return verb_usage("flopwatch: --all-servers is used without --server, --token-file, --ca-file and --watch");
	if (all->n == 0)
		return verb_usage("flopwatch: there is no server in %s", all->path);
	return servers_run(all, verb, o);
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
	json_set_alloc_funcs(mem_alloc, free);    /* a value without memory must not look like one that an answer lacks */
	mem_end_program("flopwatch", EXIT_ERROR); /* nor a row like one that there is not */
	struct options o = { 0 };
	bool given[CATALOG_OPTIONS_MAX] = { 0 };
	if (!parse(argc, argv, &o, given))
		return EXIT_USAGE;
	if (o.version) {
		puts("flopwatch " FW_VERSION);
		return EXIT_OK;
	}
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
	if (!takes_all(verb, given))
		return EXIT_USAGE;
	if (o.n_arg < verb->min_arg || o.n_arg > verb->max_arg)
		return verb_usage(
			"usage: flopwatch %.*s\nsee flopwatch help %s", (int)strcspn(verb->usage, "\n"), verb->usage, verb->name);
	struct fw_err err = { 0 };
	struct client *client = NULL;
	if (!client_start()) {
		err_set(&err, ERR_INTERNAL, "libcurl did not start");
		return verb_fail(&err);
	}
	struct servers servers;
	struct server server = { .name = "" };
	struct buf why;
	buf_init(&why, REASONS_MAX_BYTES);
	int status = servers_read(&servers, &why) == 0 ? EXIT_OK : EXIT_USAGE;
	o.servers = &servers;
	if (status == EXIT_OK && o.all_servers) {
		buf_fini(&why);
		return run_on_all(&servers, verb, &o);
	}
	status = choose_server(&servers, verb, &o, &server, &client, &why);
	if (status != EXIT_OK)
		return print_reasons(status, &why);
	buf_fini(&why);
	status = verb->run(client, &o);
	client_close(client);
	curl_global_cleanup();
	return status;
}
