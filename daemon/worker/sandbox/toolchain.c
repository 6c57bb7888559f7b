/*
 * toolchain.c - compiler versions. Different versions generate different machine code, so the versions are stored with each
 * result.
 */
#include "worker/sandbox/sandbox.h"

static const char system_nvcc[] = "/usr/local/cuda/bin/nvcc";

void toolchain_path(const char *dir, char *path)
{
	if (dir[0])
		snprintf(path, TOOLCHAIN_PATH_SIZE, "%.*s/bin:%.*s:%s", TOOLCHAIN_OVERRIDE_DIR_SIZE, dir,
			TOOLCHAIN_OVERRIDE_DIR_SIZE, dir, sandbox_build_path);
	else
		snprintf(path, TOOLCHAIN_PATH_SIZE, "%s", sandbox_build_path);
}

/* Return whether the path is a program, not a folder with the name of a compiler such as /usr/share/gcc. */
static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Find a program in `dir` or `bin` in it; `path` is "" if it is missing or `dir` is "". Shape: path[PATH_MAX]. */
static void find(const char *dir, const char *program, char *path)
{
	snprintf(path, PATH_MAX, "%s/bin/%s", dir, program);
	if (dir[0] && is_program(path))
		return;
	snprintf(path, PATH_MAX, "%s/%s", dir, program);
	if (!dir[0] || !is_program(path))
		*path = '\0';
}

bool toolchain_has_nvcc(const char *dir)
{
	char path[PATH_MAX];

	find(dir, "nvcc", path);
	return *path != '\0';
}

bool toolchain_is_in(const char *dir)
{
	static const char *const compilers[] = { "nvcc", "gcc", "g++", "cc", "c++" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof compilers / sizeof compilers[0]; i++) {
		find(dir, compilers[i], path);
		if (*path)
			return true;
	}
	return false;
}

/*
 * Run a program with one option and copy its output; "" if it fails. Uses the environment of builds, so that it finds the same
 * program as a build. Shape: out[size].
 */
static void read_version(
	const struct sandbox *s, const char *dir, const char *program, const char *option, char *out, size_t size)
{
	char own[PATH_MAX];
	char path[TOOLCHAIN_PATH_SIZE], variable[TOOLCHAIN_PATH_SIZE + 8];
	const char *more[] = { variable, NULL };
	static const struct sandbox none = { .active = false };
	const struct sandbox_more with = { .variable = more, .folder = "" };
	struct sandbox_argv *v = mem_alloc_zero(1, sizeof *v);
	struct sandbox_environment environment;
	struct proc_exit how;
	struct buf output;

	find(dir, program, own);
	toolchain_path(dir, path);
	snprintf(variable, sizeof variable, "PATH=%s", path);
	sandbox_environment(&none, more, &environment);
	if (s && s->active)
		sandbox_build_with(s, v, "/usr", "bin", &with);
	sandbox_arg(v, *own ? own : program);
	sandbox_arg(v, option);
	out[0] = '\0';
	buf_init(&output, 4096);
	struct proc_spec spec = { .argv = v->arg, .env = environment.list };
	if (sandbox_end(v, NULL) == 0 && proc_run(&spec, NULL, &output, NULL, 10000, &how, NULL) == 0 && how.status == 0)
		snprintf(out, size, "%s", output.data);
	buf_fini(&output);
	free(v);
}

void toolchain_nvcc_version(const char *text, char *out, size_t size)
{
	const char *release = strstr(text, "release ");
	const char *version = release ? strstr(release, ", V") : NULL;

	out[0] = '\0';
	if (version)
		snprintf(out, size, "%.*s", (int)strspn(version + 3, "0123456789."), version + 3);
}

/* Find the version of nvcc, "13.0.88", and that of ptxas if it differs; nvcc runs the ptxas in its own folder. */
static void describe_nvcc(const struct sandbox *s, const char *dir, char nvcc[32], char ptxas[32])
{
	char program[PATH_MAX], output[4096];

	find(dir, "nvcc", program);
	if (!*program)
		snprintf(program, sizeof program, "%s", access(system_nvcc, X_OK) == 0 ? system_nvcc : "nvcc");
	read_version(s, dir, program, "--version", output, sizeof output);
	toolchain_nvcc_version(output, nvcc, 32);
	char *name = strrchr(program, '/');
	if (name && (size_t)(name - program) + sizeof "/ptxas" < sizeof program)
		snprintf(name, sizeof "/ptxas", "/ptxas");
	else
		snprintf(program, sizeof program, "ptxas");
	read_version(s, dir, program, "--version", output, sizeof output);
	toolchain_nvcc_version(output, ptxas, 32);
	if (strcmp(ptxas, nvcc) == 0)
		*ptxas = '\0';
}

void toolchain_describe(
	const struct sandbox *s, enum device_kind kind, const char *dir, const char *flags, char *out, size_t size)
{
	char gcc[64], nvcc[32] = "", ptxas[32] = "";
	int n;

	read_version(s, dir, "gcc", "-dumpfullversion", gcc, sizeof gcc);
	gcc[strcspn(gcc, "\n")] = '\0';
	if (kind == DEVICE_CUDA)
		describe_nvcc(s, dir, nvcc, ptxas);
	if (*nvcc)
		n = snprintf(out, size, "nvcc %s%s%s%s%s", nvcc, *ptxas ? " ptxas " : "", ptxas, *gcc ? " gcc " : "", gcc);
	else
		n = snprintf(out, size, "%s%s", *gcc ? "gcc " : "none", gcc);
	if (n > 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n, "%s%s%s%s", *dir ? " in " : "", dir, *flags ? " with " : "", flags);
}
