/* Names of the worker's system: distributions, their point releases, and none. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>

#include "worker/internal.h"

static void is_called(const char *os_release, const char *point_release, const char *wanted)
{
	char text[64], whole[96];
	image_text(os_release, point_release, text, sizeof text);
	snprintf(whole, sizeof whole, "%sglibc %s", wanted, gnu_get_libc_version());
	assert_string_equal(text, whole);
}

static void operating_systems_have_names(void **state)
{
	(void)state;
	is_called("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\nVERSION_ID=\"12\"\n", "12.5\n", "debian 12.5, ");
	is_called("ID=debian\nVERSION_ID=\"12\"\n", "bookworm/sid\n", "debian 12, ");
	is_called("VERSION_ID=\"24.04\"\nID=ubuntu\n", "trixie/sid\n", "ubuntu 24.04, ");
	is_called("ID=\"rolling\"\n", "", "rolling, ");
	is_called("", "", "");
}

static void this_system_has_a_name(void **state)
{
	char text[64];
	(void)state;
	image_describe(text, sizeof text);
	assert_non_null(strstr(text, "glibc "));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(operating_systems_have_names),
		cmocka_unit_test(this_system_has_a_name) };
	return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
