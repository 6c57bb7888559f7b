/* remote.c - splits an address into scheme, host, port, path. */
#include "cli/internal.h"

#include <ctype.h>
#include <strings.h>

enum { ADDRESS_MAX = 4096 };

struct address {
	char scheme[16]; /* "" a local path */
	char host[256];
	char port[8]; /* "" the scheme's default port */
	char path[ADDRESS_MAX];
};

/*
 * Remove suffixes that do not change the repository: slashes, a checkout's .git folder, and .git unless that is another folder.
 */
static void trim_end(char *path, bool with_suffix)
{
	for (;;) {
		size_t len = strlen(path);
		if (len > 1 && path[len - 1] == '/')
			path[len - 1] = '\0';
		else if (len > 5 && strcmp(path + len - 5, "/.git") == 0)
			path[len - 5] = '\0';
		else if (with_suffix && len > 4 && strcmp(path + len - 4, ".git") == 0 && path[len - 5] != '/')
			path[len - 4] = '\0';
		else
			return;
	}
}

/* The path with its links resolved; a path that does not exist is unchanged, also with .git appended, which git tries as well. */
static void read_local(const char *path, struct address *out)
{
	char with[ADDRESS_MAX + 8];
	char *real = realpath(path, NULL);
	if (!real) {
		snprintf(with, sizeof with, "%s.git", path);
		real = realpath(with, NULL);
	}
	snprintf(out->path, sizeof out->path, "%s", real ? real : path);
	trim_end(out->path, !real); /* next to what.git there may be what, a checkout of it */
	free(real);
}

static bool is_default_port(const char *scheme, const char *port)
{
	static const struct {
		const char *scheme, *port;
	} usual[] = { { "ssh", "22" }, { "https", "443" }, { "http", "80" }, { "git", "9418" } };
	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (strcmp(usual[i].scheme, scheme) == 0)
			return strcmp(usual[i].port, port) == 0;
	return false;
}

/* Split "user@host:port" into host and port. A host in brackets is an IPv6 address. */
static void read_authority(const char *text, size_t len, bool has_port, struct address *out)
{
	char whole[512];
	snprintf(whole, sizeof whole, "%.*s", (int)(len < sizeof whole ? len : sizeof whole - 1), text);
	char *at = strrchr(whole, '@'), *host = at ? at + 1 : whole;
	char *colon = *host == '[' ? strstr(host, "]:") : strchr(host, ':');
	if (colon && *host == '[')
		colon++;
	if (has_port && colon) {
		*colon = '\0';
		if (!is_default_port(out->scheme, colon + 1))
			snprintf(out->port, sizeof out->port, "%.7s", colon + 1);
	}
	snprintf(out->host, sizeof out->host, "%.255s", host);
}

static void read_path(const char *path, struct address *out)
{
	size_t n = 0;
	for (; *path && n + 1 < sizeof out->path; path++)
		if (*path != '/' || (n && out->path[n - 1] != '/')) /* not at the beginning, and never two in a row */
			out->path[n++] = *path;
	out->path[n] = '\0';
	out->path[strcspn(out->path, "?#")] = '\0';
	trim_end(out->path, true);
}

static void read_address(const char *text, struct address *out)
{
	const char *scheme_end = strstr(text, "://"), *colon = strchr(text, ':'), *slash = strchr(text, '/');
	*out = (struct address){ .path = "" };
	if (strncasecmp(text, "file://", 7) == 0) {
		const char *path = strchr(text + 7, '/');
		read_local(path ? path : text + 7, out);
	} else if (scheme_end) {
		const char *rest = scheme_end + 3, *end = rest + strcspn(rest, "/");
		size_t n = (size_t)(scheme_end - text);
		if (n > 4 && strncasecmp(text, "git+", 4) == 0) { /* git+ssh:// is ssh:// */
			text += 4;
			n -= 4;
		}
		for (size_t i = 0; i < n && i + 1 < sizeof out->scheme; i++)
			out->scheme[i] = (char)tolower((unsigned char)text[i]);
		read_authority(rest, (size_t)(end - rest), true, out);
		read_path(end, out);
	} else if (colon && (!slash || colon < slash)) { /* HOST:PATH, distinguished from a local path as git does */
		snprintf(out->scheme, sizeof out->scheme, "ssh");
		read_authority(text, (size_t)(colon - text), false, out);
		read_path(colon + 1, out);
	} else {
		read_local(text, out);
	}
}

bool remote_is_same(const char *a, const char *b)
{
	struct address x, y;
	if (!*a || !*b)
		return false;
	read_address(a, &x);
	read_address(b, &y);
	if (!x.scheme[0] != !y.scheme[0])
		return false;
	bool is_one_scheme = strcmp(x.scheme, y.scheme) == 0;
	return strcasecmp(x.host, y.host) == 0 && strcmp(x.path, y.path) == 0 && (!is_one_scheme || strcmp(x.port, y.port) == 0);
}
