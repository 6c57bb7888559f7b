/* kernels.c - list of kernels. Lines begin with architecture, hash and symbol, so that truncated lines still contain them. */
#include "worker/internal.h"

static int add_line(void *arg, int sm, const struct cubin_function *f, struct fw_err *err)
{
	struct buf *out = arg;
	(void)err;
	buf_printf(out, "sm_%d %s ", sm, f->code_sha256);
	utf8_show(out, f->symbol, strlen(f->symbol), "");
	buf_puts(out, "  ");
	resources_text(out, sm, f->resources);
	buf_putc(out, '\n');
	return 0;
}

static int add_object(void *arg, int sm, const struct cubin_function *f, struct fw_err *err)
{
	struct jsonw *j = arg;
	(void)err;
	jsonw_object(j);
	jsonw_kv_int(j, "sm", sm);
	jsonw_kv_string(j, "symbol", f->symbol);
	jsonw_kv_string(j, "code_sha256", f->code_sha256);
	resources_json(j, sm, f->resources);
	jsonw_object_end(j);
	return 0;
}

int kernels_list(const char *path, bool as_json, struct buf *out, struct fw_err *err)
{
	struct jsonw j;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err_sys(err, "cannot be read");
		return err_context(err, "%s", path);
	}
	int result;
	if (as_json) {
		jsonw_init(&j, out);
		jsonw_object(&j);
		jsonw_kv_array(&j, "kernels");
		result = kernelcode_each(fd, add_object, &j, err);
		jsonw_array_end(&j);
		jsonw_object_end(&j);
		buf_putc(out, '\n');
	} else {
		result = kernelcode_each(fd, add_line, out, err);
	}
	close(fd);
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "more than %zu bytes to print", out->max);
	return result != 0 ? err_context(err, "%s", path) : 0;
}
