/* Remote addresses of the same repository, and of different ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/internal.h"

static void one_repository_is_written_in_many_ways(void **state)
{
	static const char *const same[] = { "git@Example.org:team/kernels.git", "ssh://git@example.org/team/kernels",
		"ssh://example.org:22/team/kernels.git/", "https://example.org/team/kernels.git",
		"https://user:word@example.org:443/team/kernels/", "http://example.org/team//kernels.git",
		"git+ssh://example.org/team/kernels", "example.org:/team/kernels.git",
		"ssh://git@example.org:2222/team/kernels" };
	(void)state;
	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
			bool other_port = (i == 8 && (k == 1 || k == 2 || k == 0 || k == 7)) ||
					  (k == 8 && (i == 1 || i == 2 || i == 0 || i == 7));
			bool git_ssh = (i == 8 && k == 6) || (k == 8 && i == 6);
			if (remote_is_same(same[i], same[k]) != !(other_port || git_ssh))
				fail_msg("%s and %s", same[i], same[k]);
		}
}

static void different_repositories_stay_separate(void **state)
{
	static const char *const pairs[][2] = { { "git@example.org:team/kernels.git", "git@example.org:team/kernel.git" },
		{ "git@example.org:team/kernels.git", "git@example.com:team/kernels.git" },
		{ "git@example.org:a/kernels.git", "git@example.org:b/kernels.git" },
		{ "http://127.0.0.1:3000/a.git", "http://127.0.0.1:3001/a.git" }, { "/srv/git/a.git", "/srv/git/b.git" },
		{ "/srv/git/a.git", "ssh://example.org/srv/git/a.git" }, { "", "/srv/git/a.git" }, { "a/kernels", "b/kernels" },
		{ "https://example.org/Team/kernels", "https://example.org/team/kernels" } };
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (remote_is_same(pairs[i][0], pairs[i][1]))
			fail_msg("%s and %s", pairs[i][0], pairs[i][1]);
}

static void links_of_local_paths_are_followed(void **state)
{
	char folder[] = "/tmp/flopwatch-test-XXXXXX", real[64], link[64], git[80], file[80], bare[80];
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(real, sizeof real, "%s/real.git", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	snprintf(git, sizeof git, "%s/.git", real);
	snprintf(file, sizeof file, "file://%s/", link);
	snprintf(bare, sizeof bare, "%s/real", folder);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(mkdir(git, 0700), 0);
	assert_int_equal(symlink(real, link), 0);
	assert_true(remote_is_same(real, link));
	assert_true(remote_is_same(file, real));
	assert_true(remote_is_same(git, link));
	assert_true(remote_is_same(bare, real));
	assert_false(remote_is_same(folder, real));
	(void)unlink(link);
	(void)rmdir(git);
	(void)rmdir(real);
	(void)rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_repository_is_written_in_many_ways),
		cmocka_unit_test(different_repositories_stay_separate),
		cmocka_unit_test(links_of_local_paths_are_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
