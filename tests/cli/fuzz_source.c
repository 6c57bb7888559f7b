/*
 * fuzz_source.c - arbitrary bytes as the files that `flopwatch init` reads in somebody's checkout: a Makefile, a Python script, a
 * source in C or CUDA, the address of its remote. What is found is in the file, and printed it moves no cursor.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/source by default).
 *
 * Attacks: daemon/cli/makefile.c daemon/cli/python.c daemon/cli/recognise.c daemon/cli/remote.c daemon/cli/plain.c daemon/lib
 */
#include "cli/internal.h"
#include "fuzz_replay.h"

enum { NAME = 128 };

static void must_end(const char *text, size_t size)
{
	must(memchr(text, 0, size) != NULL, "a text without an end");
}

static void read_makefile(const char *text)
{
	static const char *const stems[] = { "bench", "a", "bench_gemm" };
	char target[NAME], file[NAME];
	const char *recipe;
	struct makefile *m = makefile_read(text);

	must(m != NULL, "no memory");
	makefile_knows_device(m);
	for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++)
		for (int source = 0; source < 2; source++)
			if (makefile_program(m, stems[i], source ? "bench/bench_gemm.cu" : NULL, target, file, NAME)) {
				must_end(target, NAME);
				must_end(file, NAME);
			}
	if (makefile_module(m, file, NAME))
		must_end(file, NAME);
	if (makefile_recipe(m, "nvcc", target, NAME, &recipe))
		must(strstr(recipe, "nvcc") != NULL, "a recipe without the word");
	makefile_free(m);
}

static void read_python(const char *text, size_t size)
{
	static struct python_script script;
	char name[4][64];
	struct buf statements;

	buf_init(&statements, 8 * size + 64); /* a tab is eight columns */
	python_statements(text, &statements);
	must(!statements.failed, "statements are longer than their text");
	memset(&script, 0, sizeof script);
	python_read(statements.data, &script);
	must(script.n_imports >= 0 && script.n_imports <= PYTHON_IMPORTS_MAX && script.n_needs >= 0 &&
			script.n_needs <= PYTHON_NEEDS_MAX,
		"a count is out of range");
	for (int i = 0; i < script.n_imports; i++)
		must_end(script.import[i], sizeof script.import[i]);
	for (int i = 0; i < script.n_needs; i++) {
		must_end(script.need[i].name, sizeof script.need[i].name);
		must_end(script.need[i].first, sizeof script.need[i].first);
		must_end(script.need[i].choices, sizeof script.need[i].choices);
	}
	python_timer(statements.data);
	python_calls_timer_of(statements.data, statements.data);
	int n = python_distributions(statements.data, name, 4);
	must(n >= 0 && n <= 4, "a count is out of range");
	buf_fini(&statements);
}

static void read_source(const char *text, size_t size)
{
	static const char *const paths[] = { "bench/a.cu", "bench.py", "a.cpp", "run.sh" };
	static struct scan_program p;
	char option[NAME];

	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		memset(&p, 0, sizeof p);
		snprintf(p.path, sizeof p.path, "%s", paths[i]);
		buf_init(&p.text, 2 * size + 64);
		recognise_without_comments(text, &p.text);
		must(!p.text.failed && p.text.len <= size + 1, "a text grows without its comments");
		if (recognise(&p)) {
			must_end(p.why, sizeof p.why);
			must_end(p.output, sizeof p.output);
		}
		buf_fini(&p.text);
	}
	const char *call = recognise_call(text, strlen(text), "main");
	must(!call || (call >= text && call < text + size), "a call outside of the text");
	recognise_gpu(text);
	if (recognise_option(text, "--export-json", option, NAME))
		must_end(option, NAME);
}

static void print(const char *text, size_t size)
{
	char *shown = NULL;
	size_t len = 0;
	struct fw_err err = { 0 };
	FILE *out = open_memstream(&shown, &len);

	must(out != NULL, "no memory");
	plain_print(out, text);
	fflush(out);
	must(!strpbrk(shown, "\n\r\033\b"), "a printed line moves the cursor");
	if (plain_print_lines(out, text, size, &err) != 0)
		must(err.code == ERR_FULL, "a text that is not printed");
	fclose(out);
	must(!strpbrk(shown, "\r\033\b"), "a printed text moves the cursor");
	free(shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL, "no memory");
	memcpy(text, data, size);
	text[size] = '\0';
	read_makefile(text);
	read_python(text, size);
	read_source(text, size);
	print(text, size);
	char *line = strchr(text, '\n');
	if (line) {
		*line++ = '\0';
		line[strcspn(line, "\n")] = '\0';
		must(remote_is_same(text, line) == remote_is_same(line, text), "an address that is the same only one way");
		must(!text[0] || text[0] == '-' || remote_is_same(text, text), "an address that is not itself");
	}
	free(text);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/source", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
