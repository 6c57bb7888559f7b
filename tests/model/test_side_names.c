/* side_names.c: names of files of a comparison's sides. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/model.h"

static void names_are(struct side_label base, struct side_label target, const char *first, const char *second)
{
	char name[2][SIDE_NAME_SIZE];

	side_names((const struct side_label[]){ base, target }, name);
	assert_string_equal(name[0], first);
	assert_string_equal(name[1], second);
}

#define ONE "0123456789abcdef0123456789abcdef01234567"
#define TWO "fedcba9876543210fedcba9876543210fedcba98"

static void names_of_sides(void **state)
{
	char longest[200], shown[100];

	(void)state;
	names_are((struct side_label){ "main", ONE, "" }, (struct side_label){ "", TWO, "" }, "main", "fedcba987654");
	names_are((struct side_label){ "", ONE, "flash" }, (struct side_label){ "v1.0_a-b", TWO, "cudnn" }, "0123456789ab-flash",
		"v1.0_a-b-cudnn");
	/* parts of a path, options and hidden files are none */
	names_are((struct side_label){ "a/b c\n", ONE, "" }, (struct side_label){ "../etc", TWO, "" }, "a-b-c-", "-.-etc");
	names_are((struct side_label){ ".", ONE, "x/y" }, (struct side_label){ "\xc3\xa9", TWO, "" }, "--x-y", "--");
	memset(longest, 'x', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	memset(shown, 'x', 70);
	shown[70] = '\0';
	names_are((struct side_label){ longest, ONE, "" }, (struct side_label){ "b", TWO, "" }, shown, "b");
}

static void equal_names_are_made_different(void **state)
{
	(void)state;
	names_are((struct side_label){ "main", ONE, "" }, (struct side_label){ "main", TWO, "" }, "main", "main-fedcba987654");
	names_are((struct side_label){ "main", ONE, "" }, (struct side_label){ "main", ONE, "" }, "main", "main-again");
	names_are((struct side_label){ "main", ONE, "a" }, (struct side_label){ "main", ONE, "b" }, "main-a", "main-b");
	names_are((struct side_label){ "a/b", ONE, "" }, (struct side_label){ "a-b", TWO, "" }, "a-b", "a-b-fedcba987654");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_sides),
		cmocka_unit_test(equal_names_are_made_different),
	};
	return cmocka_run_group_tests_name("side_names", tests, NULL, NULL);
}
