#include "flopwatchd/config/internal.h"

#include <ctype.h>
#include <unistd.h>

enum { TOKEN_SIZE = 1024, HOST_KEYS_MAX = 8, FINGERPRINT_LEN = 50 /* of "SHA256:" and 43 digits */ };

/* systemd's folder for the service's credentials: `flopwatch config check` runs outside the service. */
#define SERVICE_CREDENTIALS "/run/credentials/flopwatchd.service"

static bool is_credential_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	return name[0] && name[0] != '.';
}

/* Replace `credential:NAME` in `path` by its path. Shape: path[size]. */
static bool find_credential(struct yaml *y, struct yaml_node *n, char *path, size_t size)
{
	const char *name = config_after_prefix(path, "credential:"), *env_dir = getenv("CREDENTIALS_DIRECTORY");
	const char *dir = env_dir && env_dir[0] == '/'             ? env_dir
			  : access(SERVICE_CREDENTIALS, X_OK) == 0 ? SERVICE_CREDENTIALS
								   : NULL;
	char full[1024];
	if (!name)
		return true;
	if (!is_credential_name(name))
		yaml_mistake(y, n, "is not credential:NAME, with letters, digits and . _ - in NAME");
	else if (!dir)
		yaml_mistake(y, n,
			"names a systemd credential, but the service has none: add LoadCredential=%s:FILE to flopwatchd.service "
			"by `systemctl edit flopwatchd` and restart it",
			name);
	else if ((size_t)snprintf(full, sizeof full, "%s/%s", dir, name) >= size)
		yaml_mistake(y, n, "is longer than %zu bytes", size - 1);
	else if (access(full, F_OK) != 0)
		yaml_mistake(y, n,
			"no credential %s in %s: add LoadCredential=%s:FILE to flopwatchd.service by `systemctl edit flopwatchd` "
			"and restart it",
			name, dir, name);
	else {
		memcpy(path, full, strlen(full) + 1);
		return true;
	}
	return false;
}

/* Read the path that a setting names; the caller checks that it is readable. */
static bool read_path(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	struct yaml_node *n = yaml_get(y, map, key);
	if (!config_text(y, map, key, out, size))
		return false;
	if (!find_credential(y, n, out, size)) {
		out[0] = '\0';
		return false;
	}
	if (out[0] == '/')
		return true;
	yaml_mistake(y, n, "is neither an absolute path nor credential:NAME");
	out[0] = '\0';
	return false;
}

bool config_file_path(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	return read_path(y, map, key, out, size);
}

bool config_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	struct fw_err err = { 0 };
	if (!read_path(y, map, key, out, size))
		return false;
	int fd = regular_open("", out, &err);
	if (fd < 0) {
		yaml_mistake(y, yaml_get(y, map, key), "%s", err.text);
		out[0] = '\0';
		return false;
	}
	close(fd);
	return true;
}

/* Describe the fault of a private key, NULL none. An OpenSSH key names its cipher at its start, in base64: `none`. */
static const char *key_wrong(const char *text)
{
	static const char openssh[] = "b3BlbnNzaC1rZXktdjEAAAAA", none[] = "BG5vbmUAAAA";
	const char *body = strstr(text, openssh);
	if (strncmp(text, "-----BEGIN ", 11) != 0 || !strstr(text, "PRIVATE KEY-----"))
		return "is not an ssh private key; name the file without .pub";
	if (strstr(text, "ENCRYPTED") || (body && strncmp(body + sizeof openssh - 1, none, sizeof none - 1) != 0))
		return "has a passphrase; make a key without one: ssh-keygen -t ed25519 -N \"\"";
	return NULL;
}

void config_key_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size)
{
	struct fw_err err = { 0 };
	char text[512];
	if (!read_path(y, map, key, out, size))
		return;
	int fd = secret_open(out, &err);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd < 0) {
		yaml_mistake(y, yaml_get(y, map, key), "%s", err.text);
		return;
	}
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *wrong = key_wrong(text);
	if (wrong)
		yaml_mistake(y, yaml_get(y, map, key), "%s %s", out, wrong);
	explicit_bzero(text, sizeof text);
}

void config_secret(struct yaml *y, struct yaml_node *map, const char *key, char *secret, size_t size)
{
	struct fw_err err = { 0 };
	char path[512] = "";
	if (read_path(y, map, key, path, sizeof path) && secret_read(path, secret, size, &err) != 0)
		yaml_mistake(y, yaml_get(y, map, key), "%s", err.text);
}

static bool is_fingerprint(const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	return strlen(text) == FINGERPRINT_LEN && strncmp(text, "SHA256:", 7) == 0 &&
	       strspn(text + 7, digits) == FINGERPRINT_LEN - 7;
}

static void read_host_keys(struct yaml *y, struct yaml_node *map, struct config_repo *r)
{
	char list[HOST_KEYS_MAX][64];
	int n = config_text_list(y, map, "host_keys", list[0], sizeof list[0], HOST_KEYS_MAX);
	for (int i = 0; i < n; i++)
		if (!is_fingerprint(list[i]))
			yaml_mistake(y, yaml_get(y, map, "host_keys"),
				"%s is not a fingerprint as `ssh-keygen -lf` prints it: SHA256:...", list[i]);
		else
			snprintf(r->host_keys + strlen(r->host_keys), sizeof r->host_keys - strlen(r->host_keys), "%s%s",
				r->host_keys[0] ? "," : "", list[i]);
}

static void read_token(struct yaml *y, struct yaml_node *map, struct config_repo *r)
{
	struct fw_err err = { 0 };
	char token[TOKEN_SIZE];
	if (read_path(y, map, "token_file", r->token_file, sizeof r->token_file) &&
		secret_read(r->token_file, token, sizeof token, &err) != 0)
		yaml_mistake(y, yaml_get(y, map, "token_file"), "%s", err.text);
	explicit_bzero(token, sizeof token);
	if (config_text(y, map, "token_user", r->token_user, sizeof r->token_user) && strchr(r->token_user, ':'))
		yaml_mistake(y, yaml_get(y, map, "token_user"), "holds a colon, which separates the user from the password");
	if (r->token_user[0] && !yaml_get(y, map, "token_file"))
		yaml_mistake(y, yaml_get(y, map, "token_user"), "needs `token_file`, a file with the token on its first line");
}

void config_access(struct yaml *y, struct yaml_node *map, struct config_repo *r)
{
	static const struct {
		const char *key;
		bool is_ssh;
	} row[] = { { "ssh_key", true }, { "known_hosts", true }, { "host_keys", true }, { "token_file", false },
		{ "token_user", false }, { "ca_file", false } };
	bool is_https = config_after_prefix(r->url, "https://") != NULL;
	bool is_ssh = !is_https && r->url[0] && r->url[0] != '/' && !config_after_prefix(r->url, "file://");
	config_key_file(y, map, "ssh_key", r->ssh_key, sizeof r->ssh_key);
	config_file(y, map, "known_hosts", r->known_hosts, sizeof r->known_hosts);
	read_host_keys(y, map, r);
	read_token(y, map, r);
	config_file(y, map, "ca_file", r->ca_file, sizeof r->ca_file);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
		if (yaml_has(map, row[i].key) && r->url[0] && !(row[i].is_ssh ? is_ssh : is_https))
			yaml_mistake(y, yaml_get(y, map, row[i].key), "applies only to a `url` of the form %s",
				row[i].is_ssh ? "ssh:// and user@host:path" : "https://");
}
