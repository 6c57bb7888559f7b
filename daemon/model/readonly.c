/* readonly.c - tables of closed paths. */
#include "model/model.h"

/* Closed folders, with all of their contents. */
static const char *const closed[] = { "/proc", "/dev", "/sys", "/run", "/boot", "/etc", "/job", "/var/run", "/var/log",
	"/var/spool", "/var/mail" };
/* Closed folders; their contents may be read. */
static const char *const too_much[] = { "/", "/home", "/root", "/var", "/var/lib", "/var/cache", "/var/tmp", "/tmp", "/srv",
	"/mnt", "/media" };
/* Closed names at any position in a path. */
static const char *const keys[] = { ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".netrc", ".pki",
	".mozilla", ".password-store", ".git-credentials" };

bool readonly_lies_in(const char *inner, const char *outer)
{
	size_t n = strlen(outer);

	if (strcmp(outer, "/") == 0)
		return true;
	return strncmp(inner, outer, n) == 0 && (inner[n] == '\0' || inner[n] == '/');
}

static bool is_plain(const char *path)
{
	for (const char *part = path; *part; part += strcspn(part, "/")) {
		size_t n = strcspn(++part, "/");

		if (n == 0 || (n == 1 && part[0] == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
			return false;
	}
	return true;
}

static bool is_home(const char *path)
{
	return strncmp(path, "/home/", 6) == 0 && !strchr(path + 6, '/');
}

static bool holds_keys(const char *path)
{
	for (const char *part = path; *part; part += strcspn(part, "/")) {
		size_t n = strcspn(++part, "/");

		for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
			if (n == strlen(keys[i]) && strncmp(part, keys[i], n) == 0)
				return true;
	}
	return false;
}

const char *readonly_wrong(const char *path)
{
	if (path[0] != '/')
		return "is not an absolute path";
	if (strlen(path) >= READONLY_PATH_SIZE)
		return "is longer than 511 bytes";
	for (size_t i = 0; i < sizeof too_much / sizeof too_much[0]; i++)
		if (strcmp(path, too_much[i]) == 0)
			return "is too much; name the folder of the toolchain in it";
	if (!is_plain(path))
		return "must be written plainly: without //, . or .., and without a slash at its end";
	if (strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+@/-") != strlen(path))
		return "may hold letters, digits and . _ + @ - / only";
	for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
		if (readonly_lies_in(path, closed[i]))
			return "belongs to the system and stays closed";
	if (is_home(path))
		return "is a whole home; name the folder of the toolchain in it";
	return holds_keys(path) ? "is a folder of keys" : NULL;
}
