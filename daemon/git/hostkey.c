/* hostkey.c - fingerprints, and lines of known_hosts as in sshd(8); documented in internal.h. */
#include "git/internal.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 4 << 20, NAME_BYTES = 300, TYPE_BYTES = 64, POSITION_BYTES = 640, SHA1_BYTES = 20 };
#define SYSTEM_FILE "/etc/ssh/ssh_known_hosts"

struct shown {
	const char *name; /* as written by name_server */
	const unsigned char *key;
	size_t len;
	char type[TYPE_BYTES]; /* "ssh-ed25519" */
	char fingerprint[64];  /* "SHA256:..." */
	bool is_known, is_revoked;
	char other[POSITION_BYTES]; /* FILE:LINE with another key of this type for this server; "": none */
	char kin[POSITION_BYTES];   /* FILE:LINE with a key of another type; "": none */
};

/* ---- the server's name ---- */

/* Write the form of known_hosts: "host", or "[host]:port" if the port is not 22. Shape: name[NAME_BYTES]. */
static int name_server(const char *url, char *name, struct fw_err *err)
{
	char host[NAME_BYTES - 16];
	int port;

	if (url_server(url, host, sizeof host, &port, err) != 0)
		return -1;
	if (port == 22)
		snprintf(name, NAME_BYTES, "%s", host);
	else
		snprintf(name, NAME_BYTES, "[%s]:%d", host, port);
	for (char *c = name; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return 0;
}

/* ---- known_hosts ---- */

/* Return whether a hashed name, |1|SALT|HASH in base64, is that of the server. */
static bool is_hashed_name(const char *field, size_t len, const char *name)
{
	const char *salt = field + 3, *bar = len > 3 ? memchr(salt, '|', len - 3) : NULL;
	unsigned char mac[SHA1_BYTES];
	struct buf key, hash;
	bool same = false;

	if (!bar)
		return false;
	buf_init(&key, NAME_BYTES);
	buf_init(&hash, NAME_BYTES);
	if (buf_unbase64(&key, salt, (size_t)(bar - salt)) == 0 &&
		buf_unbase64(&hash, bar + 1, len - (size_t)(bar + 1 - field)) == 0 && hash.len == sizeof mac) {
		hash_hmac_sha1(key.data, key.len, name, strlen(name), mac);
		same = memcmp(mac, hash.data, sizeof mac) == 0;
	}
	buf_fini(&key);
	buf_fini(&hash);
	return same;
}

/* Match a list of patterns. A pattern with ! that matches excludes the host, whatever the others. */
static bool names_match(const char *field, size_t len, const char *name)
{
	bool found = false;

	if (len > 3 && strncmp(field, "|1|", 3) == 0)
		return is_hashed_name(field, len, name);
	while (len) {
		const char *comma = memchr(field, ',', len);
		size_t n = comma ? (size_t)(comma - field) : len;
		bool excludes = n && *field == '!';
		char pattern[NAME_BYTES], plain[2 * NAME_BYTES];
		size_t used = 0;

		snprintf(pattern, sizeof pattern, "%.*s", (int)(n - excludes), field + excludes);
		for (const char *c = pattern; *c && used + 2 < sizeof plain; c++) { /* brackets are no ranges here */
			if (*c == '[' || *c == ']' || *c == '\\')
				plain[used++] = '\\';
			plain[used++] = *c;
		}
		plain[used] = '\0';
		if (n && fnmatch(plain, name, FNM_CASEFOLD) == 0) {
			if (excludes)
				return false;
			found = true;
		}
		field += comma ? n + 1 : n;
		len -= comma ? n + 1 : n;
	}
	return found;
}

static const char *next_field(const char **at, size_t *len)
{
	const char *field = *at + strspn(*at, " \t");

	*len = strcspn(field, " \t\r");
	*at = field + *len;
	return field;
}

static bool is_same_key(const char *text, size_t len, const struct shown *s)
{
	struct buf key;
	bool same;

	buf_init(&key, FILE_BYTES_MAX);
	same = buf_unbase64(&key, text, len) == 0 && key.len == s->len && memcmp(key.data, s->key, s->len) == 0;
	buf_fini(&key);
	return same;
}

static void read_line(const char *line, const char *path, int number, struct shown *s)
{
	size_t names_len, type_len, key_len, mark_len = 0;
	const char *at = line, *names = next_field(&at, &names_len), *mark = NULL;

	if (!names_len || *names == '#')
		return;
	if (*names == '@') {
		mark = names;
		mark_len = names_len;
		names = next_field(&at, &names_len);
	}
	const char *type = next_field(&at, &type_len), *key = next_field(&at, &key_len);
	if (!type_len || !key_len || !names_match(names, names_len, s->name))
		return;
	if (mark && (mark_len != 8 || strncmp(mark, "@revoked", mark_len) != 0))
		return; /* a certificate authority: libssh2 does not support host certificates */
	bool same = is_same_key(key, key_len, s);
	if (mark)
		s->is_revoked = s->is_revoked || same;
	else if (same)
		s->is_known = true;
	else {
		bool is_of_type = type_len == strlen(s->type) && strncmp(type, s->type, type_len) == 0;
		char *position = is_of_type ? s->other : s->kin;
		if (!position[0])
			snprintf(position, POSITION_BYTES, "%s:%d", path, number);
	}
}

static int read_file(const char *path, struct shown *s, struct fw_err *err)
{
	struct buf text;
	int fd = regular_open("", path, err), number = 0, result = 0;
	char *rest, *line;

	if (fd < 0)
		return -1;
	buf_init(&text, FILE_BYTES_MAX);
	if (buf_read_fd(&text, fd) != 0)
		result = err_sys(err, "cannot read %s", path);
	else if (text.failed)
		result = err_set(err, ERR_UNSUPPORTED, "%s is larger than %d bytes", path, FILE_BYTES_MAX);
	for (rest = text.data; result == 0 && (line = strsep(&rest, "\n"));)
		read_line(line, path, ++number, s);
	buf_fini(&text);
	close(fd);
	return result;
}

/* Read the named file; without one, the files of the user and of the system, if they exist. */
static int read_files(const struct git_access *a, struct shown *s, struct fw_err *err)
{
	char own[POSITION_BYTES];
	const char *home = getenv("HOME");
	int n = snprintf(own, sizeof own, "%s/.ssh/known_hosts", home ? home : "");

	if (a->known_hosts)
		return read_file(a->known_hosts, s, err);
	if (a->host_keys)
		return 0;
	if (home && home[0] == '/' && n < (int)sizeof own && access(own, F_OK) == 0 && read_file(own, s, err) != 0)
		return -1;
	return access(SYSTEM_FILE, F_OK) == 0 ? read_file(SYSTEM_FILE, s, err) : 0;
}

/* ---- the key ---- */

/* Copy the type of the key, which begins with the length and the text of its type. */
static void describe(struct shown *s)
{
	unsigned char digest[32];
	struct buf text;
	size_t len = s->len > 4 ? (size_t)s->key[0] << 24 | s->key[1] << 16 | s->key[2] << 8 | s->key[3] : 0;

	snprintf(s->type, sizeof s->type, "unknown type");
	if (len && len < sizeof s->type && len + 4 <= s->len)
		snprintf(s->type, sizeof s->type, "%.*s", (int)len, (const char *)s->key + 4);
	for (char *c = s->type; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	hash_bytes(s->key, s->len, digest);
	buf_init(&text, sizeof s->fingerprint);
	buf_base64(&text, digest, sizeof digest);
	snprintf(s->fingerprint, sizeof s->fingerprint, "SHA256:%.*s", (int)strcspn(text.data, "="), text.data);
	buf_fini(&text);
}

static bool is_listed(const char *list, const char *fingerprint)
{
	size_t len = strlen(fingerprint);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == len && strncmp(at, fingerprint, len) == 0)
			return true;
	return false;
}

int hostkey_check(const struct git_access *a, const char *url, const unsigned char *key, size_t len, struct fw_err *err)
{
	char name[NAME_BYTES];
	struct shown s = { .name = name, .key = key, .len = len };

	if (name_server(url, name, err) != 0)
		return -1;
	describe(&s);
	if (read_files(a, &s, err) != 0)
		return -1;
	if (s.is_revoked)
		return err_set(err, ERR_INVALID, "%s shows the host key %s (%s), which known_hosts revokes", name, s.fingerprint,
			s.type);
	if (s.is_known || is_listed(a->host_keys, s.fingerprint))
		return 0;
	return err_set(err, ERR_INVALID,
		"%s shows the host key %s (%s), which %s%s; compare it with the fingerprint that the server's administrator "
		"publishes, then write host_keys: [\"%s\"] at this repository (see doc/troubleshooting.md#host-key)",
		name, s.fingerprint, s.type,
		s.other[0]     ? "is another one than in "
		: s.kin[0]     ? "is not listed, but a key of another type is, by "
		: a->host_keys ? "is not among host_keys"
			       : "is not known",
		s.other[0] ? s.other : s.kin, s.fingerprint);
}
