/* open: prints the address of a page; --browser also opens it. */
#include <unistd.h>

#include "cli/internal.h"
#include "lib/lib.h"

enum { BROWSER_MS = 10000 };

/* Page for `flopwatch open WHAT ID`, and the API's path to check that the object exists ("" no check). */
static const struct {
	const char *what, *page, *api;
} positions[] = {
	{ "comparison", "/comparisons/", "/api/v1/comparisons/" },
	{ "job", "/jobs/", "/api/v1/jobs/" },
	{ "commit", "/commits/", "/api/v1/commits/" },
	{ "alert", "/alerts/", "/api/v1/alerts/" },
	{ "device", "/devices", "" },
	{ "cell", "/history?cell=", "" },
};
enum { N_POSITION = sizeof positions / sizeof positions[0] };

static int is_there(struct client *c, const char *api, const char *id, struct fw_err *err)
{
	json_t *answer = NULL;
	int result = client_get_at(c, api, id, "", &answer, err);
	json_decref(answer);
	return result;
}

static int start_browser(const char *address, struct fw_err *err)
{
	const char *argv[] = { "/usr/bin/xdg-open", address, NULL };
	struct proc_spec spec = { .argv = argv, .env = (const char *const *)environ }; /* the browser needs the display's name */
	struct proc_exit how;
	int result = proc_run(&spec, NULL, NULL, NULL, BROWSER_MS, &how, err);
	return result == 0 && how.status != 0 ? err_set(err, ERR_IO, "xdg-open ended with %d", how.status) : result;
}

static void print_json(const char *address)
{
	json_t *answer = json_pack("{s:s}", "address", address);
	verb_print_json(answer);
	json_decref(answer);
}

int verb_open(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf address;
	int at = 0;
	buf_init(&address, 16384);
	buf_puts(&address, client_server(c));
	if (o->n_arg > 0) {
		while (at < N_POSITION && strcmp(positions[at].what, o->arg[0]) != 0)
			at++;
		if (at == N_POSITION || o->n_arg != 2) {
			fputs("usage: flopwatch open [comparison|job|alert|commit|cell|device ID]\n", stderr);
			buf_fini(&address);
			return EXIT_USAGE;
		}
		buf_puts(&address, positions[at].page);
		if (positions[at].page[strlen(positions[at].page) - 1] != 's')
			client_argument(&address, o->arg[1]);
		for (int i = 0; i < 2 && strcmp(o->arg[0], "cell") == 0; i++) {
			const char *value = i ? o->branch : o->repo;
			if (value) {
				buf_printf(&address, "&%s=", i ? "branch" : "repo");
				client_argument(&address, value);
			}
		}
	} else {
		buf_putc(&address, '/');
	}
	int result = o->n_arg && *positions[at].api ? is_there(c, positions[at].api, o->arg[1], &err) : 0;
	if (result == 0 && o->json)
		print_json(address.data);
	else if (result == 0)
		puts(address.data);
	if (result == 0 && o->browser && start_browser(address.data, &err) != 0) {
		buf_fini(&address);
		return verb_fail_here(&err);
	}
	buf_fini(&address);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}
