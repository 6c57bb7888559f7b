/* Descriptions of what changed around a device. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/lib.h"

static void is_said(const char *json, size_t size, const char *wanted)
{
	char text[200];
	changed_text(json, text, size);
	assert_string_equal(text, wanted);
}

static void changes_have_texts(void **state)
{
	(void)state;
	is_said("[{\"what\":\"gcc\",\"from\":\"12.2.0\",\"to\":\"12.3.0\"}]", 200, "gcc 12.2.0 to 12.3.0");
	is_said("[{\"what\":\"cuDNN\",\"from\":null,\"to\":\"9.13.2\"},{\"what\":\"driver\",\"from\":\"550\",\"to\":\"560\"}]",
		200, "cuDNN none to 9.13.2, driver 550 to 560");
	is_said("[{\"what\":\"driver\",\"from\":\"550\",\"to\":\"560\"},{\"what\":\"VBIOS\"}]", 20, "driver 550 to 560, ");
	is_said("[]", 200, "environment");
	is_said("no JSON", 200, "environment");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(changes_have_texts) };
	return cmocka_run_group_tests_name("changed", tests, NULL, NULL);
}
