/* Hashes against published vectors, clocks, log quoting, UTF-8: the small components of lib. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/lib.h"

static void sha256_vectors(void **state)
{
	static const char million[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"; /* FIPS 180-2 */
	char hex[HASH_HEX], again[HASH_HEX], block[1000];
	struct hash_state s;
	int i;

	(void)state;
	hash_hex("abc", 3, hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hash_hex("", 0, hex);
	assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	memset(block, 'a', sizeof block);
	hash_begin(&s);
	for (i = 0; i < 1000; i++)
		hash_update(&s, block, sizeof block);
	hash_end(&s, hex);
	assert_string_equal(hex, million);
	hash_begin(&s);
	hash_update(&s, "a", 1);
	hash_update(&s, "bc", 2);
	hash_end(&s, again);
	hash_hex("abc", 3, hex);
	assert_string_equal(hex, again);
}

static void hmac_vector_of_the_forges(void **state)
{
	static const char key[] = "It's a Secret to Everybody", body[] = "Hello, World!";
	unsigned char mac[32], other[32];
	char hex[HASH_HEX];

	(void)state;
	hash_hmac(key, strlen(key), body, strlen(body), mac);
	hash_to_hex(mac, sizeof mac, hex);
	assert_string_equal(hex, "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17");
	memcpy(other, mac, sizeof mac);
	assert_true(hash_equal(mac, other, sizeof mac));
	other[31] ^= 1;
	assert_false(hash_equal(mac, other, sizeof mac));
}

static void files_hash_as_their_bytes(void **state)
{
	char path[] = "/tmp/flopwatch-hash-XXXXXX", hex[HASH_HEX];
	struct fw_err err = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "xabc", 4), 4);
	assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
	assert_int_equal(hash_fd(fd, hex, &err), 0);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	close(fd);
	assert_int_equal(hash_file(path, hex, &err), 0);
	assert_string_not_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	unlink(path);
	assert_int_equal(hash_file(path, hex, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, path));
	err_clear(&err);
	assert_int_equal(hash_file("/", hex, &err), -1);
	assert_int_equal(err.code, ERR_IO);
}

static void times_are_utc(void **state)
{
	char text[32];
	int64_t a, b;

	(void)state;
	/* against the C library, over leap years and both sides of 1970 */
	for (int64_t t = -INT64_C(2000000000); t < INT64_C(8000000000); t += 12345678) {
		char want[32];
		struct tm tm;
		time_t seconds = (time_t)t;
		assert_non_null(gmtime_r(&seconds, &tm));
		strftime(want, sizeof want, "%Y-%m-%dT%H:%M:%S.007Z", &tm);
		clock_format(t * 1000 + 7, text);
		assert_string_equal(text, want);
	}
	clock_format(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000Z");
	clock_format(1790000000123, text);
	assert_string_equal(text, "2026-09-21T14:13:20.123Z");
	clock_format(-1, text);
	assert_string_equal(text, "1969-12-31T23:59:59.999Z");
	clock_format(INT64_MAX, text);
	assert_string_equal(text, "invalid-time");
	clock_format(INT64_MIN, text);
	assert_string_equal(text, "invalid-time");
	a = clock_mono_ns();
	b = clock_mono_ns();
	assert_true(b >= a);
	assert_true(clock_utc_ms() > 1700000000000);
}

/* A reader that does not read must not block a process that logs, and is notified of what it missed. */
static void a_blocked_log_reader_blocks_no_writer(void **state)
{
	static char text[1 << 17];
	int ends[2], own = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	for (int i = 0; i < 5000; i++)
		log_info("unread", "text=%0100d", i);
	ssize_t first = read(ends[0], text, sizeof text - 1);
	log_info("read", "again=1");
	ssize_t second = read(ends[0], text + first, sizeof text - 1 - (size_t)first);
	dup2(own, STDERR_FILENO);
	close(own);
	close(ends[0]);
	close(ends[1]);
	assert_true(first > 4096 && second > 0);
	text[first + second] = '\0';
	assert_non_null(strstr(text + first, "ev=log.lost "));
	assert_non_null(strstr(text + first, "ev=read "));
	assert_int_equal(text[first - 1], '\n'); /* no line is cut */
}

static void log_values_stay_one_word(void **state)
{
	char name[2000];
	const char *quoted;

	(void)state;
	assert_string_equal(log_quote("feature/x-1"), "feature/x-1");
	assert_string_equal(log_quote(""), "\"\"");
	assert_string_equal(log_quote("a b"), "\"a b\"");
	assert_string_equal(log_quote("a=b"), "\"a=b\"");
	assert_string_equal(log_quote("a\nb\x1b"), "\"a\\x0ab\\x1b\"");
	assert_string_equal(log_quote("a\"\\"), "\"a\\\"\\\\\"");
	assert_string_equal(log_quote("\xe2\x80\xae"
				      "x"),
		"\"\\xe2\\x80\\xaex\"");
	assert_string_equal(log_quote("\xff"), "\"\\xff\"");
	assert_string_equal(log_quote("\xc3\xa4"), "\xc3\xa4");
	memset(name, '\n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	quoted = log_quote(name);
	assert_true(strlen(quoted) <= 255);
	assert_string_equal(quoted + strlen(quoted) - 4, "...\"");
}

static void one_event_is_one_line(void **state)
{
	char path[] = "/tmp/flopwatch-log-XXXXXX", text[9000];
	int fd = mkstemp(path), old = dup(STDERR_FILENO);
	char longer[6000];
	ssize_t len;

	(void)state;
	assert_true(fd >= 0 && old >= 0);
	memset(longer, 'y', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	dup2(fd, STDERR_FILENO);
	log_open("test", LOG_INFO);
	log_debug("not.shown", "x=%d", 1);
	log_info("job.queued", "job=%d text=%s", 7, "a\nb");
	log_warning("long", "text=%s", longer);
	dup2(old, STDERR_FILENO);
	close(old);
	len = pread(fd, text, sizeof text - 1, 0);
	close(fd);
	unlink(path);
	assert_true(len > 0);
	text[len] = '\0';
	assert_memory_equal(text, "<6>ev=job.queued ", 17);
	assert_non_null(strstr(text, "job=7 text=a?b\n<4>ev=long "));
	assert_null(strstr(text, "not.shown"));
	assert_ptr_equal(strrchr(text, '\n'), text + len - 1);
}

static void hidden_characters(void **state)
{
	static const uint32_t hidden[] = { 0, 0x1b, 0x7f, 0x85, 0x200b, 0x200e, 0x202e, 0x2066, 0x2069, 0xfeff, 0x61c, 0xe0001,
		0x3164, 0x115f, 0xffa0, 0x2800, 0x34f, 0x17b4 };
	static const uint32_t shown[] = { ' ', 'a', 0xe4, 0x20ac, 0x5d0, 0x1100, 0x2801, 0xfe0f, 0x1f600 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
		assert_true(utf8_is_hidden(hidden[i]));
	for (i = 0; i < sizeof shown / sizeof shown[0]; i++)
		assert_false(utf8_is_hidden(shown[i]));
}

static void a_cut_text_ends_with_a_whole_character(void **state)
{
	static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"; /* 1, 2, 3 and 4 bytes */
	static const size_t whole[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };

	(void)state;
	for (size_t max = 0; max < sizeof whole / sizeof whole[0]; max++)
		assert_int_equal(utf8_cut(text, strlen(text), max), whole[max]);
	assert_int_equal(utf8_cut("\x80\x80", 2, 1), 0); /* no character at all */
}

static void a_sealed_text_opens_only_with_its_secret(void **state)
{
	struct buf sealed, again, open;
	struct fw_err err = { 0 };

	(void)state;
	buf_init(&sealed, 1024);
	buf_init(&again, 1024);
	buf_init(&open, 1024);
	assert_int_equal(seal_text("secret of a client", "ann", "refresh1", &sealed, &err), 0);
	assert_int_equal(seal_text("secret of a client", "ann", "refresh1", &again, &err), 0);
	assert_string_not_equal(sealed.data, again.data); /* no nonce is used twice */
	assert_int_equal(seal_open("secret of a client", "ann", sealed.data, &open, &err), 0);
	assert_string_equal(open.data, "refresh1");
	buf_clear(&open);
	assert_int_equal(seal_open("another secret", "ann", sealed.data, &open, &err), -1);
	assert_int_equal(seal_open("secret of a client", "bob", sealed.data, &open, &err), -1);
	assert_int_equal(seal_open("secret of a client", "ann", "", &open, &err), -1);
	assert_int_equal(seal_open("secret of a client", "ann", "AAAA", &open, &err), -1);
	for (size_t i = 0; i < sealed.len; i++) { /* no byte can be changed; 36 bytes have no unused bits in base64 */
		char was = sealed.data[i];
		sealed.data[i] = was == 'A' ? 'B' : 'A';
		assert_int_equal(seal_open("secret of a client", "ann", sealed.data, &open, &err), -1);
		sealed.data[i] = was;
	}
	assert_int_equal(open.len, 0);
	buf_fini(&sealed);
	buf_fini(&again);
	buf_fini(&open);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sha256_vectors), cmocka_unit_test(hmac_vector_of_the_forges),
		cmocka_unit_test(files_hash_as_their_bytes), cmocka_unit_test(times_are_utc),
		cmocka_unit_test(a_blocked_log_reader_blocks_no_writer), cmocka_unit_test(log_values_stay_one_word),
		cmocka_unit_test(one_event_is_one_line), cmocka_unit_test(a_sealed_text_opens_only_with_its_secret),
		cmocka_unit_test(hidden_characters), cmocka_unit_test(a_cut_text_ends_with_a_whole_character) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
