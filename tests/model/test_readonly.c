/* readonly.c: which folders of the machine builds may read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"

static void wrong(const char *path, const char *why)
{
	const char *said = readonly_wrong(path);

	if (!said || !strstr(said, why))
		fail_msg("%s: %s instead of %s", path, said ? said : "allowed", why);
}

static void folders_of_toolchains_are_allowed(void **state)
{
	static const char *const paths[] = { "/opt/conda", "/home/ada/tools", "/home/ada/.hidden", "/root/x", "/var/lib/tools",
		"/var/cache/x", "/srv/a+b@c_d-e.f", "/tmp/x", "/mnt/x", "/media/x", "/procs", "/etcetera", "/homes", "/..a",
		"/opt/.sshd", "/opt/a.ssh", "/var/log2" };

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (readonly_wrong(paths[i]))
			fail_msg("%s: %s", paths[i], readonly_wrong(paths[i]));
}

static void paths_are_plain(void **state)
{
	char longest[READONLY_PATH_SIZE + 1];

	(void)state;
	wrong("opt", "not an absolute path");
	wrong("", "not an absolute path");
	wrong("/opt/../etc", "plainly");
	wrong("/opt/..", "plainly");
	wrong("/opt/./x", "plainly");
	wrong("/opt/.", "plainly");
	wrong("/opt//x", "plainly");
	wrong("/opt/", "plainly");
	wrong("//", "plainly");
	wrong("/opt/a b", "may hold letters");
	wrong("/opt/a:b", "may hold letters");
	memset(longest, 'x', sizeof longest);
	longest[0] = '/';
	longest[READONLY_PATH_SIZE] = '\0';
	wrong(longest, "longer than 511 bytes");
	longest[READONLY_PATH_SIZE - 1] = '\0';
	assert_null(readonly_wrong(longest));
}

static void the_systems_folders_stay_closed(void **state)
{
	static const char *const all[] = { "/proc", "/dev", "/sys", "/run", "/boot", "/etc", "/job", "/var/run", "/var/log",
		"/var/spool", "/var/mail" };
	static const char *const too_much[] = { "/", "/home", "/root", "/var", "/var/lib", "/var/cache", "/var/tmp", "/tmp",
		"/srv", "/mnt", "/media" };
	static const char *const keys[] = { ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".netrc", ".pki",
		".mozilla", ".password-store", ".git-credentials" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		wrong(all[i], "belongs to the system");
		snprintf(path, sizeof path, "%s/x/y", all[i]);
		wrong(path, "belongs to the system");
	}
	for (size_t i = 0; i < sizeof too_much / sizeof *too_much; i++)
		wrong(too_much[i], "is too much");
	wrong("/home/ada", "a whole home");
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		snprintf(path, sizeof path, "/home/ada/%s", keys[i]);
		wrong(path, "a folder of keys");
		snprintf(path, sizeof path, "/opt/%s/x", keys[i]);
		wrong(path, "a folder of keys");
	}
}

static void a_folder_lies_in_another(void **state)
{
	(void)state;
	assert_true(readonly_lies_in("/opt/a", "/opt/a"));
	assert_true(readonly_lies_in("/opt/a/b", "/opt/a"));
	assert_true(readonly_lies_in("/opt", "/"));
	assert_false(readonly_lies_in("/opt/ab", "/opt/a"));
	assert_false(readonly_lies_in("/opt", "/opt/a"));
	assert_false(readonly_lies_in("/", "/opt"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_of_toolchains_are_allowed),
		cmocka_unit_test(paths_are_plain),
		cmocka_unit_test(the_systems_folders_stay_closed),
		cmocka_unit_test(a_folder_lies_in_another),
	};
	return cmocka_run_group_tests_name("readonly", tests, NULL, NULL);
}
