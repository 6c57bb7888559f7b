/* The version of cuDNN, read from a library that stands in for it (tests/modules/fake_cudnn.c), and how it is sent to the
 * daemon. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/protocol.h"
#include "runner/internal.h"

static void the_library_is_requested(void **state)
{
	char version[24] = "?";
	(void)state;
	void *real = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_LOCAL);
	bool is_here = real || access("/usr/local/cuda/lib64/libcudnn.so.9", F_OK) == 0;
	cudnn_version(version, sizeof version);
	assert_true(is_here ? strncmp(version, "9.", 2) == 0 && strspn(version, "0123456789.") == strlen(version) : !version[0]);
	if (real) {
		dlclose(real);
		return; /* the stand-in cannot replace it */
	}
	void *fake = dlopen("build/tests/modules/fake_cudnn.so", RTLD_NOW | RTLD_LOCAL);
	assert_non_null(fake);
	cudnn_version(version, sizeof version);
	assert_string_equal(version, "9.13.2");
	dlclose(fake);
}

/* A hello of a worker that sends it, and of one that was built before it was requested. */
static void hello_carries_it(void **state)
{
	static const char device[] = "{\"kind\":\"cuda\",\"uuid\":\"GPU-1\",\"name\":\"n\",\"driver\":\"d\",\"toolkit\":\"t\"%s}";
	static const char *const given[] = { ",\"cudnn\":\"9.13.2\"", "" }, *const wanted[] = { "9.13.2", "" };
	(void)state;
	for (int i = 0; i < 2; i++) {
		char one[200], line[400];
		struct msg m;
		struct buf out;
		struct fw_err err = { 0 };
		snprintf(one, sizeof one, device, given[i]);
		snprintf(line, sizeof line,
			"{\"t\":\"hello\",\"protocol\":1,\"version\":\"1\",\"isolation\":\"none\",\"devices\":[%s]}", one);
		assert_int_equal(protocol_parse(line, strlen(line), &m, &err), 0);
		assert_string_equal(m.u.hello.device[0].cudnn, wanted[i]);
		buf_init(&out, 4096);
		protocol_write(&out, &m);
		assert_true((strstr(out.data, "\"cudnn\":\"9.13.2\"") != NULL) == (i == 0));
		buf_fini(&out);
		msg_fini(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_library_is_requested), cmocka_unit_test(hello_carries_it) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
