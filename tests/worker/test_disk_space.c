/* disk_space.c: whether a build fits on the disk, and which build filled it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tmp_folder.h"

#define MB INT64_C(1048576)
#define GB (1024 * MB)

static void a_disk_keeps_a_reserve(void **state)
{
	struct disk_space r = { .size_bytes = 100 * GB, .files = 1000000, .free_files = 1000 };

	(void)state;
	r.free_bytes = 256 * MB;
	assert_false(disk_space_is_low(&r));
	r.free_bytes--;
	assert_true(disk_space_is_low(&r));
	r.free_bytes = GB;
	r.free_files--;
	assert_true(disk_space_is_low(&r));
	r.files = 0; /* without a limit */
	assert_false(disk_space_is_low(&r));
	/* a sixteenth of a small disk, and a twentieth of few files */
	r = (struct disk_space){ .size_bytes = 160 * MB, .free_bytes = 10 * MB, .files = 2000, .free_files = 100 };
	assert_false(disk_space_is_low(&r));
	r.free_files--;
	assert_true(disk_space_is_low(&r));
	r.free_files++;
	r.free_bytes--;
	assert_true(disk_space_is_low(&r));
}

static void a_build_may_use_its_share(void **state)
{
	struct disk_space r = { .size_bytes = 100 * GB, .files = 10000000 };

	(void)state;
	assert_false(disk_usage_exceeds_share(&r, (struct disk_usage){ .bytes = GB - 1, .files = 199999 }));
	assert_true(disk_usage_exceeds_share(&r, (struct disk_usage){ .bytes = GB }));
	assert_true(disk_usage_exceeds_share(&r, (struct disk_usage){ .files = 200000 }));
	assert_true(disk_usage_exceeds_share(&r, (struct disk_usage){ .is_partial = true })); /* what it hid may be any size */
	r.files = 0;
	assert_false(disk_usage_exceeds_share(&r, (struct disk_usage){ .files = 200000 }));
	/* a quarter of a small disk */
	r = (struct disk_space){ .size_bytes = 100 * MB, .files = 1000 };
	assert_false(disk_usage_exceeds_share(&r, (struct disk_usage){ .bytes = 25 * MB - 1, .files = 249 }));
	assert_true(disk_usage_exceeds_share(&r, (struct disk_usage){ .bytes = 25 * MB }));
	assert_true(disk_usage_exceeds_share(&r, (struct disk_usage){ .files = 250 }));
}

static void free_space_is_named(void **state)
{
	struct disk_space r = { .size_bytes = GB, .free_bytes = 412 * MB + 5, .files = 100000, .free_files = 7 };
	char text[400];

	(void)state;
	disk_space_describe(&r, "/var/cache", text, sizeof text);
	assert_string_equal(text, "412 MiB and 7 files are free on the disk of /var/cache");
	r.free_files = 5000; /* enough */
	disk_space_describe(&r, "/var/cache", text, sizeof text);
	assert_string_equal(text, "412 MiB are free on the disk of /var/cache");
	r.free_files = 4999;
	disk_space_describe(&r, "/var/cache", text, sizeof text);
	assert_string_equal(text, "412 MiB and 4999 files are free on the disk of /var/cache");
	r.files = r.free_files = 0;
	disk_space_describe(&r, "/var/cache", text, sizeof text);
	assert_string_equal(text, "412 MiB are free on the disk of /var/cache");
}

static void a_disk_is_read(void **state)
{
	struct tmp_folder t;
	struct disk_space r;
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(tmp_folder_open(&t), 0);
	assert_true(disk_space_read(t.fd, &r));
	assert_true(r.size_bytes > MB && r.free_bytes <= r.size_bytes && r.free_files <= r.files);
	tmp_folder_close(&t);
	assert_false(disk_space_read(-1, &r));
	assert_int_equal(disk_space_check(-1, "x", &err), 0); /* unknown is not full */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_keeps_a_reserve),
		cmocka_unit_test(a_build_may_use_its_share),
		cmocka_unit_test(free_space_is_named),
		cmocka_unit_test(a_disk_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
