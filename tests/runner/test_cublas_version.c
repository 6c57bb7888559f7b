/* The version of cuBLAS, where it is installed; and how the environment of a device is sent to the daemon. */
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

static bool is_here(void)
{
	static const char *const names[] = { "libcublas.so.13", "libcublas.so.12" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
		if (library) {
			dlclose(library);
			return true;
		}
	}
	return access("/usr/local/cuda/lib64/libcublas.so", F_OK) == 0;
}

static void the_library_is_requested(void **state)
{
	char version[24] = "?";
	(void)state;
	cublas_version(version, sizeof version);
	assert_int_equal(version[0] != '\0', is_here());
	assert_int_equal(strspn(version, "0123456789."), strlen(version));
}

static void hello_lists_host_and_libraries(void **state)
{
	static const char line[] =
		"{\"t\":\"hello\",\"protocol\":1,\"version\":\"1\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"cuda\",\"uuid\":"
		"\"GPU-1\",\"name\":\"n\",\"driver\":\"d\",\"toolkit\":\"t\",\"cublas\":\"13.1.0\",\"image\":\"debian 12.5\",\"vbios\":"
		"\"96.00\"}]}";
	struct msg m;
	struct buf out;
	struct fw_err err = { 0 };
	(void)state;
	assert_int_equal(protocol_parse(line, sizeof line - 1, &m, &err), 0);
	buf_init(&out, 4096);
	protocol_write(&out, &m);
	msg_fini(&m);
	assert_int_equal(protocol_parse(out.data, out.len, &m, &err), 0);
	assert_string_equal(m.u.hello.device[0].cublas, "13.1.0");
	assert_string_equal(m.u.hello.device[0].image, "debian 12.5");
	assert_string_equal(m.u.hello.device[0].vbios, "96.00");
	msg_fini(&m);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(the_library_is_requested),
		cmocka_unit_test(hello_lists_host_and_libraries) };
	return cmocka_run_group_tests_name("cublas_version", tests, NULL, NULL);
}
