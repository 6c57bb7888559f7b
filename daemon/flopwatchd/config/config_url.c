#include "flopwatchd/config/internal.h"

#include <ctype.h>

const char *config_after_prefix(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncmp(text, prefix, n) ? NULL : text + n;
}

void config_web_url_check(struct yaml *y, struct yaml_node *n, const char *url, const char *instead)
{
	const char *rest = config_after_prefix(url, "https://");
	if (!rest)
		rest = config_after_prefix(url, "http://");
	size_t len = rest ? strcspn(rest, "/?#\\") : 0;
	if (!rest)
		yaml_mistake(y, n, "is not an https:// or http:// address");
	else if (memchr(rest, '@', len))
		yaml_mistake(y, n, "holds a user name or password; %s", instead);
	else if (!isalnum((unsigned char)*rest) && *rest != '[')
		yaml_mistake(y, n, "has no host");
}

/* Describe the fault of "[user[:password]@]host[:port]/path", NULL none. */
static const char *check_authority(const char *rest, bool user_allowed)
{
	size_t len = strcspn(rest, "/");
	const char *at = memchr(rest, '@', len);
	if (at && memchr(rest, ':', (size_t)(at - rest)))
		return "holds a password; use a key or a credential of the system instead";
	if (at && !user_allowed)
		return "holds a user name; use a credential of the system instead";
	const char *host = at ? at + 1 : rest;
	if (!isalnum((unsigned char)*host) && *host != '[')
		return "has no host";
	if (rest[len] != '/' || !rest[len + 1])
		return "has no path";
	return NULL;
}

/* True for user@host:path, the form used by git and ssh. The user is required, so that `ext::command` is rejected. */
static bool is_scp_like(const char *url)
{
	size_t user = strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
	if (!user || url[user] != '@')
		return false;
	const char *host = url + user + 1;
	size_t len = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");
	return len && host[0] != '-' && host[len] == ':' && host[len + 1] && host[len + 1] != ':' && host[len + 1] != '-';
}

const char *config_repo_url_wrong(const char *url)
{
	const char *rest;
	if (url[0] == '-')
		return "begins with '-', which git would take for an option";
	if (url[0] == '/')
		return NULL;
	if ((rest = config_after_prefix(url, "file://")))
		return rest[0] == '/' ? NULL : "needs an absolute path: file:///srv/git/name.git";
	if ((rest = config_after_prefix(url, "https://")))
		return check_authority(rest, false);
	if ((rest = config_after_prefix(url, "ssh://")) || is_scp_like(url)) {
		if (strpbrk(url, "'!"))
			return "holds ' or !, which some ssh servers pass to a shell";
		return rest ? check_authority(rest, true) : NULL;
	}
	return "is none of: an absolute path, file://, https://, ssh://, user@host:path";
}
