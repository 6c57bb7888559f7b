/* trial_build.c - a small module and program, built like those of a job. */
#include "worker/internal.h"

enum { STEP_MS = 60000, OUTPUT_MAX_BYTES = 64 << 10 };

static const char source[] = "#ifdef MODULE\n"
			     "int answer(void) { return 42; }\n"
			     "#else\n"
			     "#include <dlfcn.h>\n"
			     "int main(void)\n"
			     "{\n"
			     "\tvoid *module = dlopen(\"./module.so\", RTLD_NOW);\n"
			     "\tint (*answer)(void) = module ? (int (*)(void))dlsym(module, \"answer\") : 0;\n"
			     "\treturn answer && answer() == 42 ? 0 : 1;\n"
			     "}\n"
			     "#endif\n";

static int write_source(const char *folder, struct fw_err *err)
{
	char path[128];
	snprintf(path, sizeof path, "%s/trial.c", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "cannot create %s", path);
	int result =
		write(fd, source, sizeof source - 1) == (ssize_t)sizeof source - 1 ? 0 : err_sys(err, "cannot write %s", path);
	close(fd);
	return result;
}

static int run(const struct sandbox *s, const char *folder, const char *step, const char *const *argv, struct fw_err *err)
{
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	struct sandbox_environment env;
	struct proc_exit how = { 0 };
	struct buf output;
	char ended[64];
	buf_init(&output, OUTPUT_MAX_BYTES);
	sandbox_build(s, v, folder, ".");
	for (; *argv; argv++)
		sandbox_arg(v, *argv);
	sandbox_environment(s, NULL, &env);
	int result = sandbox_end(v, err);
	if (result == 0)
		result = proc_run(&(struct proc_spec){ .argv = v->arg, .cwd = s->active ? NULL : folder, .env = env.list }, NULL,
			&output, &output, STEP_MS, &how, err);
	if (result == 0 && how.status != 0) {
		proc_describe(&how, ended);
		result = err_set(err, ERR_IO, "%s: %s%s%.*s", step, ended, output.len ? ": " : "",
			(int)strcspn(output.data, "\n"), output.data);
	}
	buf_fini(&output);
	free(v);
	return result;
}

int trial_build(enum sandbox_want want, struct fw_err *err)
{
	static const char *const names[] = { "trial.c", "module.so", "trial" };
	static const char *const module[] = { "cc", "-DMODULE", "-shared", "-fPIC", "-o", "module.so", "trial.c", NULL };
	static const char *const program[] = { "cc", "-o", "trial", "trial.c", "-ldl", NULL };
	static const char *const trial[] = { "./trial", NULL };
	struct sandbox sandbox;
	char folder[] = "/tmp/flopwatch-trial-XXXXXX", path[128];
	if (sandbox_open(&sandbox, want, err) != 0)
		return -1;
	if (!mkdtemp(folder))
		return err_sys(err, "cannot create a folder in /tmp");
	/* writable for all, since the sandbox builds as another user; the folder is removed below */
	int result = sandbox.drops_root && chmod(folder, 0777) < 0 ? err_sys(err, "cannot open %s to the sandbox", folder) : 0;
	if (result == 0)
		result = write_source(folder, err);
	if (result == 0 && (run(&sandbox, folder, "build a module", module, err) != 0 ||
				   run(&sandbox, folder, "build a program", program, err) != 0 ||
				   run(&sandbox, folder, "run it", trial, err) != 0))
		result = -1;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		unlink(path);
	}
	rmdir(folder);
	if (result == 0)
		printf("{\"build\":\"ok\",\"isolation\":\"%s\"}\n", sandbox_isolation(&sandbox));
	return result == 0 && fflush(stdout) != 0 ? err_sys(err, "standard output") : result;
}
