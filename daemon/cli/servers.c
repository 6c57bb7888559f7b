/* servers.c - the named servers of the user: servers.yml in the configuration folder. Each token is in a separate file. */
#include "cli/internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/lib.h"

enum { FILE_MAX_BYTES = 1 << 16 };

static void find_file(char *path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (config && config[0] == '/')
		snprintf(path, size, "%s/flopwatch/servers.yml", config);
	else
		snprintf(path, size, "%s/.config/flopwatch/servers.yml", home && *home ? home : "");
}

static bool is_name(const char *text)
{
	if (!*text || *text == '-' || *text == '.')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("._-", *text))
			return false;
	return true;
}

static bool is_url(const char *text)
{
	return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

/* Read a text of an entry; false if it is absent or does not fit, which is a mistake. */
static bool read_text(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	const char *text = NULL;
	struct yaml_node *n = yaml_get(y, map, key);
	if (yaml_string(y, n, &text) != 0 || !text)
		return false;
	if ((size_t)snprintf(out, size, "%s", text) < size)
		return true;
	yaml_mistake(y, n, "is longer than %zu bytes", size - 1);
	return false;
}

/* A relative path begins at the folder of the file. */
static void read_path(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	char text[400] = "";
	const char *folder_end = strrchr(yaml_file(y), '/');
	if (!read_text(y, map, key, text, sizeof text))
		return;
	int len = text[0] == '/' || !folder_end ? 0 : (int)(folder_end - yaml_file(y)) + 1;
	if ((size_t)snprintf(out, size, "%.*s%s", len, yaml_file(y), text) >= size)
		yaml_mistake(y, yaml_get(y, map, key), "is longer than %zu bytes with its folder", size - 1);
}

static void read_server(struct yaml *y, struct yaml_node *map, struct servers *all)
{
	struct server *s = &all->server[all->n];
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. {name: bench, url: \"https://bench.example.org\"}");
		return;
	}
	int before = yaml_mistakes(y);
	bool is_read = read_text(y, map, "name", s->name, sizeof s->name);
	if ((!is_read || !is_name(s->name)) && yaml_mistakes(y) == before)
		yaml_mistake(y, map, "needs `name`, of letters, digits and . _ -");
	if (s->name[0] && servers_find(all, s->name))
		yaml_mistake(y, yaml_get(y, map, "name"), "there is another server named %s", s->name);
	before = yaml_mistakes(y);
	is_read = read_text(y, map, "url", s->url, sizeof s->url);
	if ((!is_read || !is_url(s->url)) && yaml_mistakes(y) == before)
		yaml_mistake(y, map, "needs `url`, which begins with http:// or https://");
	if (strchr(s->url, '@'))
		yaml_mistake(y, yaml_get(y, map, "url"), "holds a user name or password; name a token_file instead");
	if (yaml_has(map, "token"))
		yaml_mistake(y, yaml_get(y, map, "token"),
			"does not belong here; write it into a file of mode 600, and name that: token_file");
	read_path(y, map, "token_file", s->token_file, sizeof s->token_file);
	read_path(y, map, "ca_file", s->ca_file, sizeof s->ca_file);
	yaml_finish(y, map);
	all->n++;
}

static void read_document(struct yaml *y, struct servers *all)
{
	struct yaml_node *root = yaml_root(y), *list = yaml_get(y, root, "servers");
	char name[sizeof all->server[0].name] = "";
	if (!root)
		return;
	if (!yaml_is_map(root) || !list) {
		yaml_mistake(
			y, root, "needs `servers`, a list; e.g. servers: [{name: bench, url: \"https://bench.example.org\"}]");
		return;
	}
	int n = yaml_list(y, list, 1, SERVERS_MAX, "is not a list of 1 to %d servers", SERVERS_MAX);
	for (int i = 0; i < n; i++)
		read_server(y, yaml_item(y, list, i), all);
	if (read_text(y, root, "default", name, sizeof name) && !(all->usual = servers_find(all, name)) && n > 0)
		yaml_mistake(y, yaml_get(y, root, "default"), "there is no server named %s", name);
	yaml_finish(y, root);
}

int servers_read(struct servers *all, struct buf *why)
{
	struct fw_err err = { 0 };
	struct buf text;
	*all = (struct servers){ .n = 0 };
	find_file(all->path, sizeof all->path);
	if (access(all->path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	buf_init(&text, FILE_MAX_BYTES);
	int fd = open(all->path, O_RDONLY | O_CLOEXEC);
	int result = fd >= 0 && buf_read_fd(&text, fd) == 0 ? 0 : err_sys(&err, "cannot read %s", all->path);
	if (fd >= 0)
		close(fd);
	struct yaml *y = result == 0 ? yaml_new(text.data ? text.data : "", text.len, all->path) : NULL;
	if (result == 0 && !y)
		result = err_set(&err, ERR_INTERNAL, "cannot read %s: out of memory", all->path);
	buf_puts(why, err.text);
	if (y) {
		read_document(y, all);
		int n = yaml_mistakes(y);
		buf_puts(why, yaml_mistake_text(y));
		for (const char *line = yaml_mistake_text(y); (line = strchr(line, '\n')); line++)
			n--;
		if (n > 0) /* yaml.c lists only the first of many */
			buf_printf(why, "%s has more mistakes than these\n", all->path);
		result = yaml_mistakes(y) ? -1 : 0;
		yaml_free(y);
	}
	buf_fini(&text);
	return result;
}

const struct server *servers_find(const struct servers *all, const char *name)
{
	for (int i = 0; i < all->n; i++)
		if (!strcmp(all->server[i].name, name))
			return &all->server[i];
	return NULL;
}

int servers_open(const struct server *s, struct client **out, struct fw_err *err)
{
	char token[SERVERS_TOKEN_SIZE] = "";
	if (s->token_file[0] && secret_read(s->token_file, token, sizeof token, err) != 0)
		return -1;
	int result = client_open(s->url, token[0] ? token : NULL, out, err);
	explicit_bzero(token, sizeof token);
	if (result == 0 && s->ca_file[0] && client_trust(*out, s->ca_file, err) != 0) {
		client_close(*out);
		return -1;
	}
	return result;
}

/* ---- commands for all servers ---- */

/* Run the verb with what it prints collected, as one value of JSON. Own: the caller owns *text. */
static int run_collected(const struct catalog_verb *verb, struct client *c, const struct options *o, char **text)
{
	size_t size = 0;
	FILE *usual = stdout, *to = open_memstream(text, &size);
	if (!to)
		return EXIT_ERROR;
	stdout = to;
	int status = verb->run(c, o);
	stdout = usual;
	return fclose(to) == 0 ? status : EXIT_ERROR;
}

static int run_on(const struct server *s, const struct catalog_verb *verb, const struct options *o, json_t *answers)
{
	struct fw_err err = { 0 };
	struct client *c = NULL;
	struct options here = *o;
	char *text = NULL;
	here.server = s->url;
	if (!o->json) {
		printf("%s%s (%s)\n", s == o->servers->server ? "" : "\n", s->name, s->url);
		fflush(stdout);
	}
	int status = servers_open(s, &c, &err) == 0 ? EXIT_OK : verb_fail(&err);
	if (c && !o->json)
		status = verb->run(c, &here);
	else if (c)
		status = run_collected(verb, c, &here, &text);
	if (o->json) {
		json_t *answer = text ? json_loads(text, 0, NULL) : NULL;
		json_array_append_new(answers, json_pack("{s: s, s: s, s: i, s: o}", "server", s->name, "url", s->url,
						       "exit_status", status, "answer", answer ? answer : json_null()));
	}
	free(text);
	client_close(c);
	return status;
}

int servers_run(const struct servers *all, const struct catalog_verb *verb, const struct options *o)
{
	json_t *answers = json_array();
	int first = EXIT_OK;
	for (int i = 0; i < all->n; i++) {
		int status = run_on(&all->server[i], verb, o, answers);
		first = first ? first : status;
	}
	if (o->json) {
		json_t *whole = json_pack("{s: O}", "servers", answers);
		verb_print_json(whole);
		json_decref(whole);
	}
	json_decref(answers);
	return first;
}

int verb_servers(struct client *c, const struct options *o)
{
	static const char *const titles[] = { "~default", "name", "address", "~token" };
	struct table t;
	(void)c;
	if (o->json) {
		json_t *list = json_array(), *whole = json_pack("{s: o}", "servers", list);
		for (int i = 0; i < o->servers->n; i++) {
			const struct server *s = &o->servers->server[i];
			json_array_append_new(
				list, json_pack("{s: s, s: s, s: b, s: b}", "name", s->name, "url", s->url, "default",
					      s == o->servers->usual, "token", s->token_file[0] != '\0'));
		}
		verb_print_json(whole);
		json_decref(whole);
		return EXIT_OK;
	}
	if (o->servers->n == 0) {
		printf("There are no named servers. Write them to %s.\n", o->servers->path);
		return EXIT_OK;
	}
	table_init(&t, 4, titles);
	for (int i = 0; i < o->servers->n; i++) {
		const struct server *s = &o->servers->server[i];
		table_cell_if(&t, s == o->servers->usual, "default");
		table_cell(&t, "%s", s->name);
		table_cell(&t, "%s", s->url);
		table_cell_if(&t, s->token_file[0], "%s", s->token_file); /* the file, never the token */
	}
	table_print(&t, stdout);
	table_fini(&t);
	return EXIT_OK;
}
