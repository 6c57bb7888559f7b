/* service.c - see service.c. */
#include "cli/internal.h"

#include <unistd.h>

enum { PATH_BYTES = 1024, LINE_BYTES = 1024 };

static bool exists(const char *root, const char *folder, const char *name)
{
	char path[PATH_BYTES];
	snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
	return access(path, F_OK) == 0;
}

/* Whether a line of /etc/passwd or /etc/group begins with the name. */
static bool is_listed(const char *root, const char *file, const char *name)
{
	char path[PATH_BYTES], line[LINE_BYTES];
	size_t len = strlen(name);
	bool found = false;
	snprintf(path, sizeof path, "%s/etc/%s", root, file);
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof line, f))
		found = strncmp(line, name, len) == 0 && line[len] == ':';
	if (f)
		fclose(f);
	return found;
}

static void check_units(struct answers *a, const char *root)
{
	static const char *const names[] = { "flopwatchd.service", "flopwatch-worker.socket", "flopwatch-worker@.service" };
	static const char *const folders[] = { "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
		"/usr/lib/systemd/system", "/lib/systemd/system" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		bool found = false;
		for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++)
			found = found || exists(root, folders[k], names[i]);
		if (!found)
			answers_add(a, FAIL, "unit", "install it: make install, or the package; then systemctl daemon-reload",
				"%s is in no folder of systemd", names[i]);
	}
}

static void check_accounts(struct answers *a, const char *root)
{
	static const char *const users[] = { "flopwatch", "flopwatch-run" };
	static const char *const groups[] = { "video", "render" };
	for (size_t i = 0; i < 2; i++)
		if (!is_listed(root, "passwd", users[i]))
			answers_add(a, FAIL, "user", "systemd-sysusers makes it from flopwatch.sysusers",
				"there is no user %s, as whom %s runs", users[i], i ? "the worker" : "the daemon");
	for (size_t i = 0; i < 2; i++)
		if (!is_listed(root, "group", groups[i]))
			answers_add(a, FAIL, "group", "groupadd --system NAME; it may stay empty",
				"there is no group %s, which flopwatch-worker@.service names, so that no worker starts",
				groups[i]);
}

/* Ubuntu's setting, under which bubblewrap works only with a profile of its own. */
static void check_namespaces(struct answers *a, const char *root)
{
	static const char *const profiles[] = { "bwrap", "bwrap-userns-restrict", "usr.bin.bwrap" };
	char path[PATH_BYTES], value = '0';
	snprintf(path, sizeof path, "%s/proc/sys/kernel/apparmor_restrict_unprivileged_userns", root);
	FILE *f = fopen(path, "re");
	if (f && fread(&value, 1, 1, f) != 1)
		value = '0';
	if (f)
		fclose(f);
	bool has_profile = false;
	for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
		has_profile = has_profile || exists(root, "/etc/apparmor.d", profiles[i]);
	if (value == '1' && !has_profile)
		answers_add(a, FAIL, "sandbox",
			"add an AppArmor profile with `userns,` for /usr/bin/bwrap in /etc/apparmor.d (see "
			"doc/troubleshooting.md#namespaces)",
			"AppArmor blocks user namespaces of bubblewrap (kernel.apparmor_restrict_unprivileged_userns=1), so that no "
			"worker with `sandbox: required` starts");
}

void service_look(struct answers *a, const char *root)
{
	int before = a->n;
	if (!exists(root, "/etc/flopwatch", "flopwatchd.yml") || !exists(root, "/run/systemd", "system"))
		return;
	check_units(a, root);
	check_accounts(a, root);
	check_namespaces(a, root);
	if (a->n == before)
		answers_add(a, OK, "service", "", "units, users and groups are there");
}
