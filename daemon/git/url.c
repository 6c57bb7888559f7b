/* url.c - check of URLs by an allow-list, because a URL determines the server or the files that this process accesses. */
#include "git/internal.h"

#include <ctype.h>
#include <stdio.h>

enum { PORT_MAX = 65535 };

static int check_bytes(const char *url, struct fw_err *err)
{
	const unsigned char *c;

	if (!*url)
		return err_set(err, ERR_INVALID, "the repository's url is empty");
	if (strlen(url) > 2000)
		return err_set(err, ERR_INVALID, "the repository's url is longer than 2000 bytes");
	for (c = (const unsigned char *)url; *c; c++)
		if (*c <= 0x20 || *c == 0x7f)
			return err_set(err, ERR_INVALID, "url %s: has a blank or control byte; percent-encode it", url);
	return 0;
}

/* Check the text between "//" and the path, which ends at *path. */
static int check_authority(const char *url, const char *authority, size_t len, int user_allowed, struct fw_err *err)
{
	const char *at = memchr(authority, '@', len);
	const char *host = at ? at + 1 : authority;
	size_t user_len = at ? (size_t)(at - authority) : 0;

	if (at && memchr(authority, ':', user_len))
		return err_set(err, ERR_INVALID,
			"url: a password does not belong in it; use a deploy key (ssh://) or token_file (https://) instead");
	if (at && (!user_allowed || !user_len)) /* it may be a token, so the message does not show the URL */
		return err_set(err, ERR_INVALID,
			"url: a user name or token does not belong in it; use token_file and token_user instead");
	if (host == authority + len || *host == ':' || *host == '-' || *authority == '-')
		return err_set(err, ERR_INVALID, "url %s: has no host name", url);
	if (memchr(host, '@', (size_t)(authority + len - host)))
		return err_set(err, ERR_INVALID, "url %s: has more than one @", url);
	return 0;
}

static int check_remote(const char *url, const char *rest, int is_ssh, struct fw_err *err)
{
	const char *path = strchr(rest, '/');

	if (!path || !path[1])
		return err_set(err, ERR_INVALID, "url %s: has no path to a repository", url);
	if (check_authority(url, rest, (size_t)(path - rest), is_ssh, err) != 0)
		return -1;
	/* the path of an ssh URL becomes a part of a remote command line */
	if (is_ssh && (strpbrk(path, "'!`$\\\"") || path[1] == '-'))
		return err_set(err, ERR_INVALID, "url %s: the path has a byte that a shell would interpret", url);
	return 0;
}

/* Check user@host:path, with plain characters only. */
static int is_short_ssh(const char *url)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t user = strspn(url, plain);
	size_t host = url[user] == '@' ? strspn(url + user + 1, plain) : 0;
	const char *path = url + user + 1 + host;

	return user && host && url[0] != '-' && url[user + 1] != '-' && path[0] == ':' && path[1] && path[1] != '-' &&
	       strncmp(path, "://", 3) != 0 && !strpbrk(path, "'!`$\\\"");
}

bool url_is_remote(const char *url)
{
	return url[0] != '/' && strncmp(url, "file:///", 8) != 0;
}

int url_check(const char *url, struct fw_err *err)
{
	if (check_bytes(url, err) != 0)
		return -1;
	if (!url_is_remote(url))
		return 0;
	if (strncmp(url, "https://", 8) == 0)
		return check_remote(url, url + 8, 0, err);
	if (strncmp(url, "ssh://", 6) == 0)
		return check_remote(url, url + 6, 1, err);
	if (is_short_ssh(url))
		return 0;
	return err_set(err, ERR_INVALID, "url %s: must be https://, ssh://, user@host:path, file:/// or an absolute path", url);
}

/* Parse a port; 0: invalid. */
static int read_port(const char *text, const char *end)
{
	int port = 0;

	for (; text < end && isdigit((unsigned char)*text) && port <= PORT_MAX; text++)
		port = port * 10 + (*text - '0');
	return text == end && port <= PORT_MAX ? port : 0;
}

int url_server(const char *url, char *host, size_t size, int *port, struct fw_err *err)
{
	size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "ssh://", 6) == 0 ? 6 : 0;
	const char *authority = url + scheme;
	size_t len = strcspn(authority, scheme ? "/" : ":"); /* user@host:path has no port */
	const char *end = authority + len, *at = memchr(authority, '@', len), *begin = at ? at + 1 : authority;
	const char *bracket = *begin == '[' ? memchr(begin, ']', (size_t)(end - begin)) : NULL;
	const char *rest = bracket ? bracket + 1 : begin;
	const char *colon = memchr(rest, ':', (size_t)(end - rest));
	const char *name_end = bracket ? bracket : colon ? colon : end;

	*port = scheme == 8 ? 443 : 22;
	if (colon && colon + 1 < end)
		*port = read_port(colon + 1, end);
	if (!*port)
		return err_set(err, ERR_INVALID, "url %s: the port is not a number from 1 to 65535", url);
	begin += bracket != NULL;
	if (name_end <= begin || (size_t)snprintf(host, size, "%.*s", (int)(name_end - begin), begin) >= size)
		return err_set(err, ERR_INVALID, "url %s: has no host name", url);
	return 0;
}
