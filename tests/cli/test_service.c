/* The doctor's checks of an installed service: units, users, groups and AppArmor, below a folder that replaces the root. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/internal.h"

static char root[] = "/tmp/fw-service-XXXXXX";

static int delete_one(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)st, (void)flag, (void)where;
	return remove(path);
}

static int remove_root(void **state)
{
	(void)state;
	return nftw(root, delete_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s", root, name);
	for (char *slash = path + sizeof root; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Number of entries of `health` that name `what` and contain `text`. */
static int count(enum health health, const char *what, const char *text)
{
	struct answers a = { 0 };
	int n = 0;
	service_check(&a, root);
	for (int i = 0; i < a.n; i++)
		n += a.answer[i].health == health && strcmp(a.answer[i].what, what) == 0 && strstr(a.answer[i].text, text);
	answers_fini(&a);
	return n;
}

static int count_all(void)
{
	struct answers a = { 0 };
	service_check(&a, root);
	int n = a.n;
	answers_fini(&a);
	return n;
}

static void test_service(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(count_all(), 0); /* no service is installed */
	put("etc/flopwatch/flopwatchd.yml", "repos: []\n");
	put("run/systemd/system/x", "");
	put("etc/passwd", "root:x:0:0::/root:/bin/sh\nflopwatch-runner:x:1:1::/:/bin/false\n");
	put("etc/group", "root:x:0:\nvideo:x:44:\n");
	assert_int_equal(count(FAIL, "unit", "flopwatchd.service is in no folder of systemd"), 1);
	assert_int_equal(count(FAIL, "unit", "is in no folder of systemd"), 3);
	assert_int_equal(count(FAIL, "user", "there is no user flopwatch, which the daemon runs as"), 1);
	assert_int_equal(count(FAIL, "user", "there is no user flopwatch-run, which the worker runs as"), 1);
	assert_int_equal(count(FAIL, "group", "there is no group render"), 1);
	assert_int_equal(count(FAIL, "group", "there is no group video"), 0);
	assert_int_equal(count(FAIL, "user", "cannot read"), 0);
	char path[600];
	snprintf(path, sizeof path, "%s/etc/passwd", root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0); /* it cannot be read, which is no missing user */
	assert_int_equal(count(FAIL, "user", "there is no user"), 0);
	assert_int_equal(count(FAIL, "user", "/etc/passwd: Is a directory"), 2);
	assert_int_equal(rmdir(path), 0);
	put("etc/systemd/system/flopwatchd.service", "");
	put("usr/lib/systemd/system/flopwatch-worker.socket", "");
	put("usr/local/lib/systemd/system/flopwatch-worker@.service", "");
	put("etc/passwd", "flopwatch:x:1:1::/:/bin/false\nflopwatch-run:x:2:2::/:/bin/false\n");
	put("etc/group", "render:x:105:\nvideo:x:44:\n");
	assert_int_equal(count_all(), 1);
	assert_int_equal(count(OK, "service", ""), 1);
	put("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
	assert_int_equal(count(FAIL, "sandbox", "kernel.apparmor_restrict_unprivileged_userns=1"), 1);
	put("etc/apparmor.d/bwrap", "profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }\n");
	assert_int_equal(count(OK, "service", ""), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_service) };
	return cmocka_run_group_tests(tests, NULL, remove_root);
}
