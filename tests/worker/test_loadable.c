/* loadable.c: content that only debuggers read does not change the hash; all other content of a file does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/lib.h"
#include "tmp_folder.h"
#include "worker/sandbox/internal.h"

static struct tmp_folder folder;
static char program[200], changed[200], original[HASH_HEX];

static void run(const char *const *argv)
{
	struct proc_spec spec = { .argv = argv };
	struct proc_exit how = { .status = -1 };
	struct fw_err err = { 0 };

	if (proc_run(&spec, NULL, NULL, NULL, 60000, &how, &err) != 0 || how.status != 0)
		fail_msg("%s: exit %d %s", argv[0], how.status, err.text);
}

static void hash_of(const char *path, char hex[HASH_HEX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct fw_err err = { 0 };

	assert_true(fd >= 0);
	assert_int_equal(loadable_hash(fd, hex, &err), 0);
	close(fd);
}

static void write_file(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static int open_program(void **state)
{
	static const char text[] = "#include <stdio.h>\nint main(void) { return puts(\"seven\") < 0; }\n";
	char source[200];

	(void)state;
	if (tmp_folder_open(&folder) != 0)
		return -1;
	snprintf(source, sizeof source, "%s/seven.c", folder.path);
	snprintf(program, sizeof program, "%s/seven", folder.path);
	snprintf(changed, sizeof changed, "%s/changed", folder.path);
	write_file(source, text, sizeof text - 1);
	run((const char *const[]){ "gcc", "-g", "-Wl,--build-id", "-o", program, source, NULL });
	hash_of(program, original);
	return 0;
}

static int close_program(void **state)
{
	(void)state;
	tmp_folder_close(&folder);
	return 0;
}

static void differs(bool wanted, const char *what)
{
	char hex[HASH_HEX];

	hash_of(changed, hex);
	if ((strcmp(hex, original) != 0) != wanted)
		fail_msg("%s: the hash %s", what, wanted ? "is the same" : "differs");
}

static void debug_sections_do_not_count(void **state)
{
	struct stat whole, stripped;

	(void)state;
	run((const char *const[]){ "strip", "-g", "-o", changed, program, NULL });
	assert_int_equal(stat(program, &whole) | stat(changed, &stripped), 0);
	assert_true(stripped.st_size < whole.st_size);
	differs(false, "without debug sections");
	run((const char *const[]){ "strip", "-s", "-R", ".comment", "-o", changed, program, NULL });
	differs(false, "without symbols and notes of the compiler");
}

static void other_sections_count(void **state)
{
	char extra[220], option[240];

	(void)state;
	snprintf(extra, sizeof extra, "%s/extra", folder.path);
	write_file(extra, "payload", 7);
	snprintf(option, sizeof option, ".payload=%s", extra);
	run((const char *const[]){ "objcopy", "--add-section", option, program, changed, NULL });
	differs(true, "a section of its own");
	run((const char *const[]){ "cp", program, changed, NULL });
	differs(false, "a copy");
	FILE *f = fopen(changed, "ae");

	assert_true(f && fputs("appended", f) >= 0 && fclose(f) == 0);
	differs(true, "an archive behind it");
}

/* A section that only claims to be loaded, since no segment has it, can be read by the program from its own file. */
static void sections_outside_of_segments_count(void **state)
{
	static char text[1 << 20];
	char extra[220], option[240], first[HASH_HEX], other[HASH_HEX];
	Elf64_Ehdr head;
	Elf64_Shdr section;
	int n = 0;

	(void)state;
	snprintf(extra, sizeof extra, "%s/extra", folder.path);
	write_file(extra, "payload", 7);
	snprintf(option, sizeof option, ".payload=%s", extra);
	run((const char *const[]){ "objcopy", "--add-section", option, program, changed, NULL });
	FILE *f = fopen(changed, "re");

	assert_non_null(f);
	size_t len = fread(text, 1, sizeof text, f);

	fclose(f);
	assert_true(len > sizeof head && len < sizeof text);
	memcpy(&head, text, sizeof head);
	for (int i = 0; i < head.e_shnum; i++) {
		char *at = text + head.e_shoff + (size_t)i * sizeof section;

		memcpy(&section, at, sizeof section);
		if (section.sh_size != 7 || memcmp(text + section.sh_offset, "payload", 7) != 0)
			continue;
		section.sh_flags |= SHF_ALLOC;
		memcpy(at, &section, sizeof section);
		n++;
		write_file(changed, text, len);
		hash_of(changed, first);
		text[section.sh_offset] = 'P';
		write_file(changed, text, len);
		hash_of(changed, other);
		assert_string_not_equal(first, other);
	}
	assert_int_equal(n, 1);
}

/* Byte by byte: all loaded bytes count, and every file has a hash, however broken. */
static void every_loaded_byte(void **state)
{
	FILE *f = fopen(program, "re");
	static char text[1 << 20];
	size_t len = fread(text, 1, sizeof text, f);
	Elf64_Ehdr head;
	Elf64_Phdr load = { 0 };
	int n = 0;

	(void)state;
	fclose(f);
	assert_true(len > sizeof head && len < sizeof text);
	memcpy(&head, text, sizeof head);
	for (int i = 0; i < head.e_phnum; i++) {
		memcpy(&load, text + head.e_phoff + (size_t)i * sizeof load, sizeof load);
		if (load.p_type != PT_LOAD || !(load.p_flags & PF_X))
			continue;
		for (size_t at = load.p_offset; at < load.p_offset + load.p_filesz; at += 17, n++) {
			text[at] ^= 1;
			write_file(changed, text, len);
			differs(true, "a byte of its code");
			text[at] ^= 1;
		}
	}
	assert_true(n > 5);
	for (size_t cut = 0; cut < len; cut += 1 + len / 50) {
		write_file(changed, text, cut);
		differs(true, "a cut file");
	}
	for (size_t at = 0; at < sizeof head; at++) {
		char kept = text[at];

		text[at] = (char)0xff;
		write_file(changed, text, len);
		hash_of(changed, (char[HASH_HEX]){ 0 });
		text[at] = kept;
	}
}

static void other_files_are_their_bytes(void **state)
{
	char a[HASH_HEX], b[HASH_HEX];

	(void)state;
	write_file(changed, "x = 1  # a comment\n", 19);
	hash_of(changed, a);
	write_file(changed, "x = 1  # a comment \n", 20);
	hash_of(changed, b);
	assert_string_not_equal(a, b);
	write_file(changed, "", 0);
	hash_of(changed, a);
	assert_string_not_equal(a, b);
}

/* Compile `text` to an object file `to`. */
static void compile_object(const char *text, const char *to)
{
	char source[200];

	snprintf(source, sizeof source, "%s/object.c", folder.path);
	write_file(source, text, strlen(text));
	run((const char *const[]){ "gcc", "-g", "-O1", "-c", "-o", to, source, NULL });
}

static void objects_are_compared_without_lines(void **state)
{
	char first[200], hex[HASH_HEX], other[HASH_HEX];

	(void)state;
	snprintf(first, sizeof first, "%s/first.o", folder.path);
	compile_object("int seven(void);\nint f(void) { return seven(); }\n", first);
	hash_of(first, hex);
	compile_object("/* Lines\n of a comment. */\nint seven(void);\nint f(void) { return seven(); }\n", changed);
	hash_of(changed, other);
	assert_string_equal(hex, other);
	compile_object("int eight(void);\nint f(void) { return eight(); }\n", changed);
	hash_of(changed, other);
	assert_string_not_equal(hex, other);
	compile_object("int seven(void);\nint g(void) { return seven(); }\n", changed);
	hash_of(changed, other);
	assert_string_not_equal(hex, other);
	compile_object("int seven(void);\nint f(void) { return 1 + seven(); }\n", changed);
	hash_of(changed, other);
	assert_string_not_equal(hex, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(debug_sections_do_not_count),
		cmocka_unit_test(other_sections_count),
		cmocka_unit_test(sections_outside_of_segments_count),
		cmocka_unit_test(every_loaded_byte),
		cmocka_unit_test(other_files_are_their_bytes),
		cmocka_unit_test(objects_are_compared_without_lines),
	};

	return cmocka_run_group_tests(tests, open_program, close_program);
}
