/* Two modules compared: which functions correspond, what is reported of each, and a disassembler that misbehaves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cubin_write.h"
#include "tmp_folder.h"
#include "worker/internal.h"

enum { FUNCTIONS = 6 };

/* A cubin of functions; `code` is a byte of the instructions of each, 0: the function is absent. */
struct side {
	const char *name; /* of the file, and in it, where the fake disassembler finds it */
	const char *private_symbol;
	char code[FUNCTIONS];
};

static const char *const symbols[FUNCTIONS] = { "same", "renamed", "moved", "changed", "came", "went" };
static const struct side old_side = { "old", "_ZN36_GLOBAL__N__3c4aacd4_4_a_cu_73fc6ea75alphaE", { 'a', 'b', 'c', 'd', 0, 'f' } };
static const struct side new_side = { "new", "_ZN36_GLOBAL__N__00000001_4_a_cu_000000025alphaE", { 'a', 'B', 'C', 'D', 'e', 0 } };

static const char old_text[] =
	"\t.section\t.text.renamed,\"ax\"\n/*0000*/ MOV R1, R2 ;\n/*0010*/ EXIT ;\n"
	"\t.section\t.text.moved,\"ax\"\n/*0000*/ MOV R1, R2 ;\n/*0010*/ FADD R3, R3, 1 ;\n/*0020*/ EXIT ;\n"
	"\t.section\t.text.changed,\"ax\"\n/*0000*/ LDG.E.128 R4, [R2] ;\n/*0010*/ EXIT ;\n";
static const char new_text[] =
	"\t.section\t.text.renamed,\"ax\"\n/*0000*/ MOV R5, R7 ;\n/*0010*/ EXIT ;\n"
	"\t.section\t.text.moved,\"ax\"\n/*0000*/ FADD R3, R3, 1 ;\n/*0010*/ MOV R1, R2 ;\n/*0020*/ EXIT ;\n"
	"\t.section\t.text.changed,\"ax\"\n/*0000*/ LDG.E R4, [R2] ;\n/*0010*/ LDG.E R5,\x1b[R2+4] ;\n"
	"/*0020*/ EXIT ;\n";

static struct tmp_folder folder;

static const char *at(const char *name)
{
	static char path[4][200];
	static int next;
	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", folder.path, name);
	return path[next];
}

static void add_function(struct elf_write *w, const char *symbol, char code)
{
	char name[200], body[256];
	memset(body, code, sizeof body);
	snprintf(name, sizeof name, ".text.%s", symbol);
	int text = elf_add(w, name, SHT_PROGBITS, 0, body, sizeof body);
	int entry = elf_symbol(w, symbol, STT_FUNC, text);
	((Elf64_Sym *)(void *)w->symbols.data)[entry].st_other = 0x10;
}

static void write_side(const struct side *s)
{
	struct elf_write w;
	struct buf file;
	uint32_t flags = 90 << 8;
	char label[64];
	buf_init(&file, 1 << 20);
	elf_begin(&w);
	for (int i = 0; i < FUNCTIONS; i++)
		if (s->code[i])
			add_function(&w, symbols[i], s->code[i]);
	add_function(&w, s->private_symbol, 'p');
	int n = snprintf(label, sizeof label, "this is %s", s->name);
	elf_add(&w, ".label", SHT_PROGBITS, 0, label, (size_t)n + 1);
	elf_end(&w, &file);
	file.data[EI_ABIVERSION] = 8;
	memcpy(file.data + offsetof(Elf64_Ehdr, e_flags), &flags, sizeof flags);
	FILE *f = fopen(at(s->name), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(file.data, 1, file.len, f), file.len);
	assert_int_equal(fclose(f), 0);
	buf_fini(&file);
}

static void disassembler(const char *script)
{
	unlink(at("nvdisasm"));
	assert_true(!script || tmp_folder_write(&folder, "nvdisasm", script, 0755) == 0);
}

/* It knows the two files of this test by any name. */
static void good_disassembler(void)
{
	char script[1000];
	snprintf(script, sizeof script,
		"#!/bin/sh\n[ \"$1\" = -c ] && [ $# = 2 ] || exit 9\nfor side in old new; do\n"
		"grep -q \"this is $side\" \"$2\" && exec cat %s/$side.sass\ndone\nexit 8\n",
		folder.path);
	disassembler(script);
}

static int set_up(void **state)
{
	char path[300];
	(void)state;
	if (tmp_folder_open(&folder) != 0)
		return -1;
	write_side(&old_side);
	write_side(&new_side);
	snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder.path);
	unsetenv("CUDA_HOME");
	return setenv("PATH", path, 1) != 0 || tmp_folder_write(&folder, "old.sass", old_text, 0600) != 0 ||
	       tmp_folder_write(&folder, "new.sass", new_text, 0600) != 0;
}

static int tear_down(void **state)
{
	(void)state;
	tmp_folder_close(&folder);
	return 0;
}

static void make(struct sassdiff *d, const char *base, const char *target)
{
	struct fw_err err = { 0 };
	if (sassdiff_make(d, at(base), at(target), NULL, &err) != 0)
		fail_msg("%s", err.text);
}

static enum sassdiff_verdict verdict(const struct sassdiff *d, const char *symbol)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp((d->pair[i].base ? d->pair[i].base : d->pair[i].target)->symbol, symbol) == 0)
			return d->pair[i].verdict;
	fail_msg("no %s", symbol);
	return SASSDIFF_SAME;
}

static void each_function_gets_its_verdict(void **state)
{
	(void)state;
	struct sassdiff d;
	good_disassembler();
	make(&d, "old", "new");
	assert_int_equal(d.n, 7);
	assert_string_equal(d.note, "");
	assert_int_equal(verdict(&d, "same"), SASSDIFF_SAME);
	assert_int_equal(verdict(&d, "renamed"), SASSDIFF_RENAMED);
	assert_int_equal(verdict(&d, "moved"), SASSDIFF_RESCHEDULED);
	assert_int_equal(verdict(&d, "changed"), SASSDIFF_CHANGED);
	assert_int_equal(verdict(&d, "came"), SASSDIFF_ADDED);
	assert_int_equal(verdict(&d, "went"), SASSDIFF_REMOVED);
	/* its name contains numbers of a file that changed */
	assert_int_equal(verdict(&d, old_side.private_symbol), SASSDIFF_SAME);
	assert_false(sassdiff_is_same(&d));
	sassdiff_fini(&d);
	make(&d, "new", "new");
	assert_true(sassdiff_is_same(&d));
	sassdiff_fini(&d);
}

static void people_get_a_table_and_hunks(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct buf text;
	buf_init(&text, 1 << 20);
	good_disassembler();
	assert_int_equal(sassdiff_show(at("old"), at("new"), false, &text, &err), 0);
	assert_non_null(strstr(text.data, "changed, instructions: 1 removed, 2 added\n  opcodes: LDG.E 0>2, LDG.E.128 1>0\n"
					  "  @@ -0,1 +0,2 @@\n  - 0000  LDG.E.128 R4, [R2]\n  + 0000  LDG.E R4, [R2]\n"));
	assert_non_null(strstr(text.data, "LDG.E R5,\\x1b[R2+4]\n")); /* it moves no cursor */
	assert_non_null(strstr(text.data, "2>3  sm_90 changed\n"));
	assert_null(strchr(text.data, '\x1b'));
	buf_clear(&text);
	assert_int_equal(sassdiff_show(at("old"), at("old"), false, &text, &err), 1);
	assert_null(strstr(text.data, "@@"));
	buf_fini(&text);
}

static void programs_get_json(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct buf text;
	json_error_t where;
	buf_init(&text, 1 << 20);
	good_disassembler();
	assert_int_equal(sassdiff_show(at("old"), at("new"), true, &text, &err), 0);
	json_t *all = json_loads(text.data, JSON_REJECT_DUPLICATES, &where), *one;
	assert_non_null(all);
	assert_true(json_is_false(json_object_get(all, "same")));
	size_t i, n_hunks = 0;
	json_array_foreach(json_object_get(all, "functions"), i, one)
	{
		const char *said = json_string_value(json_object_get(one, "verdict"));
		if (strcmp(said, "changed") != 0)
			continue;
		json_t *hunk = json_array_get(json_object_get(one, "hunks"), 0);
		assert_int_equal(json_array_size(json_object_get(hunk, "target")), 2);
		assert_int_equal(json_integer_value(json_object_get(json_object_get(one, "target"), "instructions")), 3);
		assert_true(json_is_null(json_object_get(json_object_get(one, "target"), "registers")));
		n_hunks++;
	}
	assert_int_equal(n_hunks, 1);
	json_decref(all);
	buf_fini(&text);
}

/* The verdict makes no claim beyond what is known, and states the reason. */
static void not_compared(const char *why)
{
	struct sassdiff d;
	make(&d, "old", "new");
	assert_int_equal(verdict(&d, "changed"), SASSDIFF_DIFFERS);
	assert_int_equal(verdict(&d, "renamed"), SASSDIFF_DIFFERS);
	assert_int_equal(verdict(&d, "same"), SASSDIFF_SAME);
	assert_int_equal(verdict(&d, "went"), SASSDIFF_REMOVED);
	assert_non_null(strstr(d.note, "instructions are not compared: "));
	assert_non_null(strstr(d.note, why));
	assert_false(sassdiff_is_same(&d));
	sassdiff_fini(&d);
}

static void without_a_disassembler_hashes_decide(void **state)
{
	(void)state;
	disassembler(NULL);
	not_compared("nvdisasm"); /* none, or one that cannot read the files of this test */
}

static void a_disassembler_that_fails_is_reported(void **state)
{
	(void)state;
	disassembler("#!/bin/sh\necho 'nvdisasm fatal   : unknown format' >&2\nexit 255\n");
	not_compared("exit 255: nvdisasm fatal   : unknown format");
	disassembler("#!/bin/sh\nkill -SEGV $$\n");
	not_compared("SIGSEGV");
	disassembler("#!/bin/sh\necho nothing to see\n");
	not_compared("printed no instructions of ");
	disassembler("#!/bin/sh\nexec cat /dev/zero\n"); /* more than is read */
	not_compared("printed more than ");
}

/* Device code is that of a branch, and a mistake of the disassembler must not be one of the worker. Last: it limits this process. */
static void a_disassembler_runs_inside(void **state)
{
	(void)state;
	struct sandbox *s = mem_alloc_zero(1, sizeof *s);
	struct sassdiff d;
	struct fw_err err = { 0 };
	char script[600];
	if (sandbox_open(s, SANDBOX_AUTO, &err) != 0 || !s->active) {
		puts("# needs bubblewrap");
		free(s);
		skip();
	}
	assert_int_equal(chmod(folder.path, 0777) | chmod(at("old.sass"), 0644) | chmod(at("new.sass"), 0644), 0);
	snprintf(script, sizeof script, "#!/bin/sh\necho escaped >%s/escaped\nexit 8\n", folder.path);
	disassembler(script);
	assert_int_equal(sassdiff_make(&d, at("old"), at("new"), s, &err), 0);
	assert_non_null(strstr(d.note, "instructions are not compared"));
	assert_int_equal(access(at("escaped"), F_OK), -1);
	sassdiff_fini(&d);
	good_disassembler();
	assert_int_equal(sassdiff_make(&d, at("old"), at("new"), s, &err), 0);
	assert_int_equal(verdict(&d, "renamed"), SASSDIFF_RENAMED);
	assert_int_equal(verdict(&d, "changed"), SASSDIFF_CHANGED);
	sassdiff_fini(&d);
	free(s);
}

static void what_cannot_be_read_is_one_line(void **state)
{
	(void)state;
	struct sassdiff d;
	struct fw_err err = { 0 };
	assert_int_equal(sassdiff_make(&d, at("old"), at("nowhere"), NULL, &err), -1);
	assert_non_null(strstr(err.text, "/nowhere: "));
	sassdiff_fini(&d);
	err_clear(&err);
	assert_int_equal(tmp_folder_write(&folder, "text", "no module", 0600), 0);
	assert_int_equal(sassdiff_make(&d, at("text"), at("old"), NULL, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	sassdiff_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_gets_its_verdict),
		cmocka_unit_test(people_get_a_table_and_hunks),
		cmocka_unit_test(programs_get_json),
		cmocka_unit_test(without_a_disassembler_hashes_decide),
		cmocka_unit_test(a_disassembler_that_fails_is_reported),
		cmocka_unit_test(what_cannot_be_read_is_one_line),
		cmocka_unit_test(a_disassembler_runs_inside),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
