/*
 * nvdisasm.c - the disassembler's process. It reads input by name only, so the code is in a memory file with a name in /proc.
 * Output goes into another memory file with a size limit of the system, so that endless output ends before the deadline.
 */
#include "worker/internal.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/lib.h"

enum { DEADLINE_MS = 120000, ERRORS_MAX = 4096, CODE_FD = 3 };

static const int64_t text_max_bytes = (int64_t)256 << 20;
static const int64_t memory_max_bytes = (int64_t)4 << 30;

static int memory_file(const void *data, size_t len, struct fw_err *err)
{
	int fd = memfd_create("code.cubin", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "a file in memory");
	for (size_t at = 0; at < len;) {
		ssize_t n = write(fd, (const char *)data + at, len - at);
		if (n <= 0) {
			err_sys(err, "a file in memory of %zu bytes", len);
			close(fd);
			return -1;
		}
		at += (size_t)n;
	}
	return fd;
}

static int run_disassembler(const char *path, int code_fd, int text_fd, struct fw_err *err)
{
	char name[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", CODE_FD);
	const char *argv[] = { path, "-c", name, NULL };
	struct proc_spec spec = { .argv = argv,
		.fd = { { code_fd, CODE_FD }, { text_fd, STDOUT_FILENO } },
		.n_fd = 2,
		.file_size_bytes = text_max_bytes,
		.address_space_bytes = memory_max_bytes,
		.cpu_s = DEADLINE_MS / 1000 };
	struct proc_exit how;
	struct buf errors;
	char words[64];
	buf_init(&errors, ERRORS_MAX);
	int result = proc_run(&spec, NULL, NULL, &errors, DEADLINE_MS, &how, err);
	if (result == 0 && how.signal == SIGXFSZ) {
		result = err_set(err, ERR_FULL, "%s printed more than %lld bytes", path, (long long)text_max_bytes);
	} else if (result == 0 && (how.status != 0 || how.timed_out)) {
		proc_describe(&how, words);
		errors.data[strcspn(errors.data, "\r\n")] = '\0';
		result = err_set(err, ERR_INVALID, "%s: %s%s%.400s", path, words, errors.data[0] ? ": " : "", errors.data);
	}
	buf_fini(&errors);
	return result;
}

static int parse(int text_fd, struct sass *out, struct fw_err *err)
{
	struct stat st;
	if (fstat(text_fd, &st) != 0)
		return err_sys(err, "the output of the disassembler");
	if (st.st_size == 0)
		return sass_parse(out, "", 0, err);
	void *text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, text_fd, 0);
	if (text == MAP_FAILED)
		return err_sys(err, "the output of the disassembler");
	int result = sass_parse(out, text, (size_t)st.st_size, err);
	munmap(text, (size_t)st.st_size);
	return result;
}

int nvdisasm_run(const char *path, const void *elf, size_t len, struct sass *out, struct fw_err *err)
{
	*out = (struct sass){ 0 };
	int code_fd = memory_file(elf, len, err), text_fd = code_fd < 0 ? -1 : memory_file(NULL, 0, err);
	int result = text_fd < 0 ? -1 : run_disassembler(path, code_fd, text_fd, err);
	if (result == 0)
		result = parse(text_fd, out, err);
	if (code_fd >= 0)
		close(code_fd);
	if (text_fd >= 0)
		close(text_fd);
	return result;
}
