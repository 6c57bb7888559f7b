/* hardware.c - devices as branch code sees them. */
#include "worker/internal.h"

#include <gnu/libc-version.h>
#include <pwd.h>

/* ---- image: Operating system and C library of the worker. ---- */

enum { FILE_SIZE = 4096, WORD_SIZE = 32 };

static void value_of(const char *text, const char *key, char out[WORD_SIZE])
{
	size_t n = strlen(key);
	out[0] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (strncmp(line, key, n) != 0 || line[n] != '=')
			continue;
		const char *value = line + n + 1 + (line[n + 1] == '"');
		snprintf(out, WORD_SIZE, "%.*s", (int)strcspn(value, "\"\n"), value);
	}
}

void image_text(const char *os_release, const char *point_release, char *out, size_t size)
{
	char id[WORD_SIZE], version[WORD_SIZE];
	value_of(os_release, "ID", id);
	value_of(os_release, "VERSION_ID", version);
	if (strcmp(id, "debian") == 0 && point_release[0] >= '0' && point_release[0] <= '9')
		snprintf(version, sizeof version, "%.*s", (int)strcspn(point_release, "\n"), point_release);
	snprintf(out, size, "%s%s%s%sglibc %s", id, *id && *version ? " " : "", version, *id || *version ? ", " : "",
		gnu_get_libc_version());
}

void image_describe(char *out, size_t size)
{
	char os_release[FILE_SIZE], point_release[FILE_SIZE];
	fd_read_text("/etc/os-release", os_release, sizeof os_release);
	fd_read_text("/etc/debian_version", point_release, sizeof point_release);
	image_text(os_release, point_release, out, size);
}

/* ---- hardware ---- */

static bool is_named(const struct msg_device *d, const char *name)
{
	char address[32];

	snprintf(address, sizeof address, "%s:%d", device_kind_name(d->kind), d->index);
	if (strcmp(name, "auto") == 0) /* the simulated device must be requested by name */
		return d->kind != DEVICE_SIM;
	return strcmp(name, device_kind_name(d->kind)) == 0 || strcmp(name, address) == 0 || strcmp(name, d->uuid) == 0;
}

static int count_gpus(const struct msg_device *d, int n)
{
	int found = 0, i;

	for (i = 0; i < n; i++)
		found += d[i].kind == DEVICE_CUDA;
	return found;
}

/* List devices inside the sandbox, or outside if the GPU does not work inside and isolation is optional. */
static int list(struct sandbox *s, enum sandbox_want want, struct msg_device *out, struct fw_err *err)
{
	struct msg_device outside[PROTOCOL_DEVICES_MAX];
	struct fw_err e = { 0 };
	int n = runner_child_devices(s, true, out, PROTOCOL_DEVICES_MAX, err), m;

	if (!s->active || want == SANDBOX_REQUIRED || (n >= 0 && (count_gpus(out, n) > 0 || access("/dev/nvidiactl", F_OK) != 0)))
		return n;
	m = runner_child_devices(s, false, outside, PROTOCOL_DEVICES_MAX, &e);
	if (m < 0 || (n >= 0 && count_gpus(outside, m) == 0))
		return n;
	s->active = s->drops_root = false;
	snprintf(s->why, sizeof s->why, "%.255s",
		n < 0 ? err->text : "the GPU does not work inside bubblewrap here (see doc/troubleshooting.md#gpu-in-sandbox)");
	memcpy(out, outside, sizeof outside);
	err_clear(err);
	return m;
}

static void begin_hello(const struct sandbox *s, struct msg_hello *hello)
{
	memset(hello, 0, sizeof *hello);
	hello->protocol = PROTOCOL_VERSION;
	snprintf(hello->version, sizeof hello->version, "%s", FW_VERSION);
	snprintf(hello->isolation, sizeof hello->isolation, "%s", sandbox_isolation(s));
	hello->n_read_only = s->n_shown;
	memcpy(hello->read_only, s->shown, sizeof hello->read_only);
}

int hardware_builder(
	const struct sandbox *s, const char *kind, const char *tools_dir, struct msg_hello *hello, struct fw_err *err)
{
	struct msg_device *d = &hello->device[0];
	enum device_kind of = device_kind_from_name(kind);

	begin_hello(s, hello);
	if (of == DEVICE_ANY || of == DEVICE_KINDS)
		return err_set(err, ERR_INVALID, "--build-only needs --device cuda, cpu or sim, not %s", kind);
	hello->builds_only = true;
	hello->n_devices = 1;
	d->kind = of;
	snprintf(d->uuid, sizeof d->uuid, PROTOCOL_BUILDER);
	image_describe(d->image, sizeof d->image);
	toolchain_describe(NULL, of, tools_dir, "", d->toolkit, sizeof d->toolkit);
	return 0;
}

int hardware_hello(struct sandbox *s, enum sandbox_want want, const char *kind, const char *tools_dir, struct msg_hello *hello,
	struct fw_err *err)
{
	struct msg_device all[PROTOCOL_DEVICES_MAX];
	int n = list(s, want, all, err), i;

	if (n < 0)
		return -1;
	begin_hello(s, hello);
	for (i = 0; i < n; i++) {
		struct msg_device *d = &hello->device[hello->n_devices];

		if (!is_named(&all[i], kind))
			continue;
		*d = all[i];
		image_describe(d->image, sizeof d->image);
		toolchain_describe(NULL, d->kind, tools_dir, "", d->toolkit, sizeof d->toolkit);
		hello->n_devices++;
	}
	return hello->n_devices ? 0 : err_set(err, ERR_NOT_FOUND, "no device \"%s\" on this machine", kind);
}

const struct msg_device *hardware_find(const struct msg_hello *hello, const char *name, struct fw_err *err)
{
	char present[600] = "";
	size_t used = 0;
	int i;

	for (i = 0; i < hello->n_devices; i++) {
		const struct msg_device *d = &hello->device[i];
		int n;

		if (is_named(d, name))
			return d;
		n = snprintf(present + used, sizeof present - used, "%s%s:%d (%s)", used ? ", " : "", device_kind_name(d->kind),
			d->index, d->uuid);
		if (n > 0 && (size_t)n < sizeof present - used)
			used += (size_t)n;
	}
	err_set(err, ERR_NOT_FOUND, "no device \"%s\" here; there are: %s", name, *present ? present : "none");
	return NULL;
}

void hardware_location(const char *cache_dir, struct msg_location *out)
{
	enum { USER_ID_MIN = 1000 }; /* lower user ids are system accounts */
	struct fw_err unknown = { 0 };
	char buffer[4096];
	struct passwd owner, *found = NULL;
	uid_t me = geteuid();

	memset(out, 0, sizeof *out);
	const char *node = getenv("SLURMD_NODENAME"); /* the cluster's node, which a user requests for the same machine */
	if (!node)
		node = getenv("FLOPWATCH_NODE"); /* the host name in a pod is the pod's */
	if (node)
		snprintf(out->host, sizeof out->host, "%s", node);
	else if (gethostname(out->host, sizeof out->host - 1) != 0)
		out->host[0] = '\0';
	if (getpwuid_r(me, &owner, buffer, sizeof buffer, &found) == 0 && found)
		snprintf(out->user, sizeof out->user, "%.32s", owner.pw_name);
	out->is_system = me != 0 && me < USER_ID_MIN;
	if (proc_sibling("flopwatch-runner", out->runner, sizeof out->runner, &unknown) != 0 ||
		(size_t)snprintf(out->modules, sizeof out->modules, "%s/modules", cache_dir) >= sizeof out->modules)
		memset(out, 0, sizeof *out);
}
