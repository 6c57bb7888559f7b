/* builder.c - documented in internal.h. */
#include "cli/internal.h"

#include <fnmatch.h>

static void stem_of(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

	snprintf(out, size, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

/* Folder above `dir`. False: that is the root. */
static bool go_up(char *dir)
{
	char above[SCAN_PATH_SIZE];

	if (strcmp(dir, ".") == 0)
		return false;
	scan_dir(dir, above, sizeof above);
	memcpy(dir, above, sizeof above);
	return true;
}

/* ---- make ----------------------------------------------------------------------------------------------------------------- */

static int by_make(const struct scan *l, const struct scan_program *program, struct builder_step *step, char *file)
{
	char dir[SCAN_PATH_SIZE], stem[SCAN_PATH_SIZE], target[COMMAND_WORD_SIZE], made[COMMAND_WORD_SIZE];
	const char *inside;
	bool is_found = false, device = false;

	stem_of(program->path, stem, sizeof stem);
	scan_dir(program->path, dir, sizeof dir);
	do {
		const struct scan_builder *b = scan_builder(l, dir, "Makefile");
		struct makefile *m = b ? makefile_read(b->text.data) : NULL;

		inside = strcmp(dir, ".") == 0 ? program->path : program->path + strlen(dir) + 1;
		target[0] = '\0';
		if (m && program->kind == SCAN_MODULE)
			is_found = makefile_module(m, made, sizeof made);
		else if (m)
			is_found = makefile_program(m, stem, inside, target, made, sizeof made);
		device = is_found && makefile_knows_device(m);
		makefile_free(m);
	} while (!is_found && go_up(dir));
	if (!is_found || made[0] == '/')
		return 0;
	*step = (struct builder_step){ 0 };
	command_add(&step->command, "make");
	if (strcmp(dir, ".") != 0) {
		command_add(&step->command, "-C");
		command_add(&step->command, dir);
	}
	if (device)
		command_add(&step->command, "DEVICE={device}");
	if (target[0]) {
		step->n_before_targets = step->command.n;
		command_add(&step->command, target);
	}
	scan_join(dir, strncmp(made, "./", 2) == 0 ? made + 2 : made, file, COMMAND_WORD_SIZE);
	char shown[SCAN_PATH_SIZE];

	scan_join(dir, "Makefile", shown, sizeof shown);
	snprintf(step->why, sizeof step->why, "%.150s builds %.150s", shown, made);
	return 1;
}

/* ---- CMake ---------------------------------------------------------------------------------------------------------------- */

static const char spaces[] = " \t\r\n";

/* One call in a CMakeLists.txt. */
struct cmake_call {
	char name[48];
	const char *text; /* text[len], its arguments */
	size_t len;
};

/* The next call. False: none. */
static bool next_call(const char **at, struct cmake_call *out)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	for (const char *open = *at; (open = strchr(open, '(')); open++) {
		const char *end = open, *begin;

		while (end > *at && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		for (begin = end; begin > *at && strchr(letters, begin[-1]); begin--) {
		}
		if (begin == end || (size_t)(end - begin) >= sizeof out->name)
			continue;
		snprintf(out->name, sizeof out->name, "%.*s", (int)(end - begin), begin);
		out->text = open + 1;
		out->len = 0;
		for (int depth = 1; out->text[out->len]; out->len++) {
			depth += out->text[out->len] == '(' ? 1 : out->text[out->len] == ')' ? -1 : 0;
			if (depth == 0)
				break;
		}
		*at = out->text + out->len;
		return true;
	}
	return false;
}

/* Argument `i` of a call, without quotes. False: there are fewer. */
static bool get_argument(const struct cmake_call *c, int i, char *out, size_t size)
{
	const char *at = c->text, *end = c->text + c->len;

	for (;; i--) {
		at += strspn(at, " \t\r\n\"");
		size_t n = strcspn(at, " \t\r\n\")");

		if (at >= end || n == 0 || n >= size)
			return false;
		snprintf(out, size, "%.*s", (int)n, at);
		if (i == 0)
			return true;
		at += n;
	}
}

/* Whether `word` is an argument, also the end of a path. */
static bool has_argument(const struct cmake_call *c, const char *word)
{
	size_t n = strlen(word);
	const char *end = c->text + c->len;

	for (const char *at = c->text; (at = memmem(at, (size_t)(end - at), word, n)); at += n)
		if ((at == c->text || strchr(" \t\r\n\"/;", at[-1])) && strchr(" \t\r\n\");", at[n]))
			return true;
	return false;
}

/* Commands of CMake, and functions of the project that make benchmarks by their names. */
static bool makes_program(const char *name)
{
	size_t n = strlen(name), end = strlen("add_executable");

	if (strcasecmp(name, "target_sources") == 0 || (n >= end && strcasecmp(name + n - end, "add_executable") == 0))
		return true;
	return strcasestr(name, "bench") != NULL;
}

/* "bench_${name}" with the file's stem in place of the variable. False: there are several variables, or none. */
static bool fill_variable(const char *pattern, const char *stem, char *out, size_t size)
{
	const char *open = strstr(pattern, "${"), *close = open ? strchr(open, '}') : NULL;

	if (!close || strchr(close, '$'))
		return false;
	return (size_t)snprintf(out, size, "%.*s%s%s", (int)(open - pattern), pattern, stem, close + 1) < size;
}

/* The variable that holds `source`, as "${NAME}". False: none. */
static bool find_variable(const char *text, const char *source, char *out, size_t size)
{
	char name[64];
	struct cmake_call c;

	while (next_call(&text, &c)) {
		int position = strcmp(c.name, "set") == 0 ? 0 : strcmp(c.name, "list") == 0 ? 1 : -1;

		if (position >= 0 && has_argument(&c, source) && get_argument(&c, position, name, sizeof name)) {
			snprintf(out, size, "${%s}", name);
			return true;
		}
	}
	return false;
}

/* Whether file(GLOB ...) finds `source`. */
static bool is_globbed(const char *text, const char *source)
{
	const char *slash = strrchr(source, '/'), *begin;
	char pattern[256];
	struct cmake_call c;

	while (next_call(&text, &c)) {
		bool is_recursive = memmem(c.text, c.len, "GLOB_RECURSE", strlen("GLOB_RECURSE")) != NULL;

		if (strcmp(c.name, "file") != 0 || !memmem(c.text, c.len, "GLOB", strlen("GLOB")))
			continue;
		for (int i = 2; get_argument(&c, i, pattern, sizeof pattern); i++) {
			begin = strrchr(pattern, '}');
			begin = begin ? begin + 1 + strspn(begin + 1, "/") : pattern;
			if (fnmatch(begin, source, FNM_PATHNAME) == 0)
				return true;
			begin = strrchr(begin, '/') ? strrchr(begin, '/') + 1 : begin;
			if (is_recursive && fnmatch(begin, slash ? slash + 1 : source, 0) == 0)
				return true;
		}
	}
	return false;
}

/*
 * The target that a CMakeLists.txt makes from `source`: a call names the file, or a variable with it, or the call is in a loop
 * over files or names. Shape: name[size].
 */
static bool cmake_target(const char *text, bool is_module, const char *source, char *name, size_t size)
{
	char variable[80], names[80], stem[128], first[96];
	bool has_variable = find_variable(text, source, variable, sizeof variable), has_loop = false;
	const char *at = text;
	struct cmake_call c;

	stem_of(source, stem, sizeof stem);
	bool has_names = find_variable(text, stem, names, sizeof names), has_glob = is_globbed(text, source);

	while (next_call(&at, &c)) {
		bool makes = is_module ? strcmp(c.name, "add_library") == 0 : makes_program(c.name);

		if (strcmp(c.name, "foreach") == 0)
			has_loop = has_glob || has_argument(&c, source) || has_argument(&c, stem) ||
				   (has_variable && has_argument(&c, variable)) || (has_names && has_argument(&c, names));
		if (!makes || !get_argument(&c, 0, first, sizeof first) || strstr(first, "::"))
			continue;
		if ((strcmp(first, "NAME") == 0 || strcmp(first, "TARGET") == 0) && !get_argument(&c, 1, first, sizeof first))
			continue; /* a keyword of a function */
		bool is_named = has_argument(&c, source) || (has_variable && has_argument(&c, variable));

		if (is_named && !strchr(first, '$') && strlen(first) < size) {
			snprintf(name, size, "%s", first);
			return true;
		}
		if (has_loop && fill_variable(first, stem, name, size))
			return true;
	}
	return false;
}

/* Whether option() is on without a request: its last argument is the default. */
static bool is_on(const struct cmake_call *c)
{
	const char *end = c->text + c->len;

	while (end > c->text && strchr(spaces, end[-1]))
		end--;
	return (end - c->text > 3 && strncmp(end - 3, " ON", 3) == 0) || (end - c->text > 5 && strncmp(end - 5, " TRUE", 5) == 0);
}

/* Add the options of the project that enable benchmarks, unless they are on: "-DX_BUILD_BENCHMARKS=ON". */
static void add_options(struct command *c, const struct scan *l)
{
	for (int i = 0; i < l->n_builders; i++) {
		const char *at = l->builder[i].text.data;
		struct cmake_call call;
		char name[80], word[COMMAND_WORD_SIZE];

		while (strcmp(l->builder[i].name, "CMakeLists.txt") == 0 && next_call(&at, &call)) {
			bool depends = strcmp(call.name, "cmake_dependent_option") == 0, is_there = false;

			if ((!depends && (strcmp(call.name, "option") != 0 || is_on(&call))) ||
				!get_argument(&call, 0, name, sizeof name) || !strcasestr(name, "bench") ||
				strcasestr(name, "test") || strchr(name, '$'))
				continue;
			snprintf(word, sizeof word, "-D%s=ON", name);
			for (int k = 0; k < c->n; k++)
				is_there = is_there || strcmp(c->word[k], word) == 0;
			if (!is_there)
				command_add(c, word);
		}
	}
}

/* The topmost folder above `dir` that contains a project() call. */
static bool cmake_root(const struct scan *l, const char *dir, char *root)
{
	char at[SCAN_PATH_SIZE];
	bool is_found = false;

	snprintf(at, sizeof at, "%s", dir);
	do {
		const struct scan_builder *b = scan_builder(l, at, "CMakeLists.txt");

		if (b && strstr(b->text.data, "project")) {
			snprintf(root, SCAN_PATH_SIZE, "%s", at);
			is_found = true;
		}
	} while (go_up(at));
	return is_found;
}

static int by_cmake(const struct scan *l, const struct scan_program *program, struct builder_step *step, char *file)
{
	bool is_module = program->kind == SCAN_MODULE;
	char dir[SCAN_PATH_SIZE], root[SCAN_PATH_SIZE], name[64] = "", made[COMMAND_WORD_SIZE];

	scan_dir(program->path, dir, sizeof dir);
	do {
		const struct scan_builder *b = scan_builder(l, dir, "CMakeLists.txt");
		const char *source = strcmp(dir, ".") == 0 ? program->path : program->path + strlen(dir) + 1;

		if (b && !cmake_target(b->text.data, is_module, source, name, sizeof name))
			name[0] = '\0';
	} while (!name[0] && go_up(dir));
	if (!name[0] || !cmake_root(l, dir, root))
		return 0;
	const struct scan_builder *top = scan_builder(l, root, "CMakeLists.txt");
	const char *below = strcmp(dir, root) == 0 ? "" : strcmp(root, ".") == 0 ? dir : dir + strlen(root) + 1;

	if (top && strstr(top->text.data, "RUNTIME_OUTPUT_DIRECTORY") && strstr(top->text.data, "/bin") && !is_module)
		below = "bin";
	snprintf(made, sizeof made, "build/%.120s%s%s%.60s%s", below, *below ? "/" : "", is_module ? "lib" : "", name,
		is_module ? ".so" : "");
	snprintf(file, COMMAND_WORD_SIZE, "%s", made);
	step[0] = step[1] = (struct builder_step){ 0 };
	const char *configure[] = { "cmake", "-S", root, "-B", "build", "-DCMAKE_BUILD_TYPE=Release" };
	const char *make[] = { "cmake", "--build", "build", "--parallel", "2", "--target", name };

	for (size_t i = 0; i < sizeof configure / sizeof configure[0]; i++)
		command_add(&step[0].command, configure[i]);
	for (size_t i = 0; i < sizeof make / sizeof make[0]; i++)
		command_add(&step[1].command, make[i]);
	add_options(&step[0].command, l);
	step[1].n_before_targets = step[1].command.n - 1;
	snprintf(step[1].why, sizeof step[1].why, "CMakeLists.txt in %.100s has the target %.60s", dir, name);
	if (top && strstr(top->text.data, "FetchContent"))
		snprintf(step[0].why, sizeof step[0].why,
			"FetchContent downloads, and builds have no network: have it found on the machine, or in the repository");
	return 2;
}

/* ---- a compiler alone ------------------------------------------------------------------------------------------------------ */

/* Sources in the program's folder of which it includes the header. */
static void add_neighbours(struct command *c, const struct scan *l, const struct scan_program *program)
{
	static const char *const suffixes[] = { ".c", ".cc", ".cpp", ".cu", NULL };
	char dir[SCAN_PATH_SIZE], name[128], path[SCAN_PATH_SIZE + 160];

	scan_dir(program->path, dir, sizeof dir);
	for (const char *at = program->text.data; (at = strstr(at, "#include \"")); at++) {
		const char *from = at + strlen("#include \"");
		size_t n = strcspn(from, "\".\n");

		if (n == 0 || n >= sizeof name)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)n, from);
		for (const char *const *s = suffixes; *s; s++) {
			char source[160];

			snprintf(source, sizeof source, "%s%s", name, *s);
			scan_join(dir, source, path, sizeof path);
			if (strcmp(path, program->path) != 0 && scan_is_there(l, path))
				command_add(c, path);
		}
	}
}

static void add_libraries(struct command *c, const struct scan_program *program)
{
	bool is_google = program->kind == SCAN_GOOGLE || program->kind == SCAN_KIT_GOOGLE;

	if (is_google && program->kind == SCAN_GOOGLE && !strstr(program->text.data, "BENCHMARK_MAIN") &&
		!strstr(program->text.data, "main("))
		command_add(c, "-lbenchmark_main");
	if (is_google) {
		command_add(c, "-lbenchmark");
		command_add(c, "-lpthread");
	}
	if (program->kind == SCAN_CATCH2 && strstr(program->text.data, "catch_benchmark")) { /* Catch2 2 has only a header */
		if (!strstr(program->text.data, "main("))
			command_add(c, "-lCatch2Main");
		command_add(c, "-lCatch2");
	}
	if (strstr(program->text.data, "omp.h") || strstr(program->text.data, "#pragma omp"))
		command_add(c, strstr(program->path, ".cu") ? "-Xcompiler=-fopenmp" : "-fopenmp");
	if (!strstr(program->path, ".cu"))
		command_add(c, "-lm");
}

static int by_compiler(const struct scan *l, const struct scan_program *program, struct builder_step *step, char *file)
{
	const char *suffix = strrchr(program->path, '.');
	bool is_cuda = strcmp(suffix, ".cu") == 0, is_module = program->kind == SCAN_MODULE;
	struct command *c = &step->command;

	if (program->kind == SCAN_NVBENCH || strpbrk(program->path, " '\"$`\\"))
		return 0; /* nvbench is built with CMake */
	*step = (struct builder_step){ 0 };
	snprintf(file, COMMAND_WORD_SIZE, "%.*s%s", (int)(suffix - program->path), program->path, is_module ? ".so" : "");
	if (scan_is_there(l, file)) /* a folder of that name */
		snprintf(file, COMMAND_WORD_SIZE, "%.*s.%s", (int)(suffix - program->path), program->path,
			is_module ? "module.so" : "out");
	command_add(c, is_cuda ? "nvcc" : strcmp(suffix, ".c") == 0 ? "gcc" : "g++");
	command_add(c, "-O3");
	if (is_cuda) {
		command_add(c, "-std=c++17");
		command_add(c, "-gencode=arch=compute_80,code=[compute_80,sm_80]");
		command_add(c, "-gencode=arch=compute_90,code=sm_90");
	}
	if (is_module) {
		command_add(c, "-shared");
		command_add(c, is_cuda ? "-Xcompiler=-fPIC,-fvisibility=hidden" : "-fPIC");
	}
	command_add(c, "-I.");
	if (scan_is_there(l, "include"))
		command_add(c, "-Iinclude");
	if (program->kind == SCAN_KIT_C || program->kind == SCAN_KIT_GOOGLE) {
		command_add(c, "-I\"$FLOPWATCH_KIT\"");
		c->is_shell = true;
	}
	command_add(c, "-o");
	command_add(c, file);
	command_add(c, program->path);
	add_neighbours(c, l, program);
	add_libraries(c, program);
	snprintf(step->why, sizeof step->why, "no Makefile or CMakeLists.txt names %.150s, so %.40s builds it alone",
		program->path, c->word[0]);
	return 1;
}

int builder_find(
	const struct scan *l, const struct scan_program *program, struct builder_step *step, char file[COMMAND_WORD_SIZE])
{
	int n = by_make(l, program, step, file);

	if (n == 0)
		n = by_cmake(l, program, step, file);
	return n ? n : by_compiler(l, program, step, file);
}

bool builder_python(const struct scan *l, struct builder_step *step)
{
	const struct scan_builder *b = scan_builder(l, ".", "setup.py");

	if (!b || (!strstr(b->text.data, "ext_modules") && !strstr(b->text.data, "Extension(")))
		return false;
	const char *words[] = { "python3", "setup.py", "build_ext", "--inplace" };

	*step = (struct builder_step){ .why = "setup.py has extensions" };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		command_add(&step->command, words[i]);
	return true;
}
