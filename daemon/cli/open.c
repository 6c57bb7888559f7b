/* open: prints the address of a page, and opens it on a desktop. */
#include <unistd.h>

#include "cli/internal.h"

#define BROWSER "/usr/bin/xdg-open"
enum { BROWSER_MS = 10000, COMMIT_MIN = 7 };

/* Page for `flopwatch open WHAT ID`, the API's path that shows whether the object exists ("" none), the letter of its number. */
static const struct {
	const char *what, *page, *api;
	char letter; /* 0: none */
} positions[] = {
	{ "commit", "/commits/", "/api/v1/commits/", 0 }, /* first: seven digits may begin with the letter of a number */
	{ "comparison", "/comparisons/", "/api/v1/comparisons/", 'C' },
	{ "job", "/jobs/", "/api/v1/jobs/", 'J' },
	{ "alert", "/alerts/", "/api/v1/alerts/", 'A' },
	{ "device", "/devices", "", 0 },
	{ "cell", "/history?cell=", "", 0 },
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
	const char *argv[] = { BROWSER, address, NULL };
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

/* Whether a program of the desktop can be started for the user: the output is a terminal, and there is a display. */
static bool has_desktop(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	return isatty(STDOUT_FILENO) && ((x11 && *x11) || (wayland && *wayland)) && access(BROWSER, X_OK) == 0;
}

/* The kind of an object from its short name: "A3", "C32", "J32", or a commit. N_POSITION: none. */
static int find_position(const char *name, const char **id)
{
	for (int at = 0; at < N_POSITION; at++) {
		*id = positions[at].letter ? verb_id(name, positions[at].letter) : name;
		if (*id != name || (at == 0 && oid_is_prefix(name, COMMIT_MIN)))
			return at;
	}
	return N_POSITION;
}

/* The page of a kind and an id: its number may have its letter. */
static int find_kind(const char *what, const char *name, const char **id)
{
	int at = 0;
	while (at < N_POSITION && strcmp(positions[at].what, what) != 0)
		at++;
	*id = at < N_POSITION && positions[at].letter ? verb_id(name, positions[at].letter) : name;
	return at;
}

static void put_page(struct buf *address, int at, const char *id, const struct options *o)
{
	buf_puts(address, positions[at].page);
	if (positions[at].page[strlen(positions[at].page) - 1] != 's')
		client_argument(address, id);
	if (strcmp(positions[at].what, "cell") != 0)
		return;
	for (int i = 0; i < 2; i++) {
		const char *value = i ? o->branch : o->repo;
		if (value) {
			buf_printf(address, "&%s=", i ? "branch" : "repo");
			client_argument(address, value);
		}
	}
}

int verb_open(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf address;
	const char *id = "";
	int at = N_POSITION, result = 0;
	if (o->n_arg > 0)
		at = o->n_arg == 1 ? find_position(o->arg[0], &id) : find_kind(o->arg[0], o->arg[1], &id);
	if (o->n_arg > 0 && at == N_POSITION)
		return verb_usage(
			"flopwatch: open takes A3 (an alert), C32 (a comparison), J32 (a job), a commit, or comparison, job, "
			"alert, commit, cell or device with its ID");
	buf_init(&address, 16384);
	buf_puts(&address, client_server(c));
	if (at == N_POSITION)
		buf_putc(&address, '/');
	else
		put_page(&address, at, id, o);
	if (at < N_POSITION && *positions[at].api)
		result = is_there(c, positions[at].api, id, &err);
	if (result == 0 && o->json)
		print_json(address.data);
	else if (result == 0)
		puts(address.data);
	int status = result == 0 ? EXIT_OK : verb_fail(&err);
	if (result == 0 && !o->json && has_desktop() && start_browser(address.data, &err) != 0)
		status = verb_fail_here(&err);
	buf_fini(&address);
	return status;
}
