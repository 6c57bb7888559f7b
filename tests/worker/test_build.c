/* build.c: a module is built and found again; every way in which a build misbehaves ends with a message and leaves nothing
 * behind. */
/* Left to `make check`: takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "tar_write.h"
#include "tmp_folder.h"
#include "worker/sandbox/sandbox.h"

static const char source[] = "__attribute__((visibility(\"default\"))) int answer(void) { return 42; }\n";
static const char oid[] = "0123456789012345678901234567890123456789";

struct scene {
	struct tmp_folder folder;
	struct cache cache;
	struct sandbox sandbox;
	struct peer peer;
	struct build_context context;
	struct msg_side side;
	struct msg_build result;
	struct buf tar;
	int module;
	int trees_requested;
	struct fw_err err;
};

static int open_scene(void **state, enum sandbox_want want)
{
	struct scene *s = calloc(1, sizeof *s);
	char dir[100];

	*state = s;
	if (!s || tmp_folder_open(&s->folder) != 0 || sandbox_open(&s->sandbox, want, &s->err) != 0)
		return -1;
	snprintf(dir, sizeof dir, "%s/cache", s->folder.path);
	if (cache_open(&s->cache, dir, &s->err) != 0)
		return -1;
	procs_adopt();
	procs_end_all(); /* processes started by the sandbox probe may still be ending */
	peer_init(&s->peer, -1, -1);
	buf_init(&s->tar, 1 << 20);
	s->module = -1;
	s->context = (struct build_context){ .peer = &s->peer,
		.cache = &s->cache,
		.sandbox = &s->sandbox,
		.device = DEVICE_CPU,
		.toolchain = { [ROLE_BASE] = "gcc test", [ROLE_TARGET] = "gcc test" },
		.family = "attention",
		.timeout_s = 60,
		.log_bytes = 2000 };
	s->side.role = ROLE_TARGET;
	s->side.n_inputs = 1;
	snprintf(s->side.input[0].path, sizeof s->side.input[0].path, "kernels");
	snprintf(s->side.input[0].oid, sizeof s->side.input[0].oid, "%s", oid);
	struct manifest usual;

	manifest_default(&usual);
	s->side.build = usual.build;
	return 0;
}

static int setup(void **state)
{
	return open_scene(state, SANDBOX_AUTO);
}

static int setup_open(void **state)
{
	return open_scene(state, SANDBOX_NONE);
}

static int teardown(void **state)
{
	struct scene *s = *state;

	if (s->module >= 0)
		close(s->module);
	buf_fini(&s->result.log);
	buf_fini(&s->tar);
	peer_fini(&s->peer);
	cache_close(&s->cache);
	tmp_folder_close(&s->folder);
	free(s);
	return 0;
}

static int give_tree(void *arg, const char *requested, struct fw_err *err)
{
	struct scene *s = arg;

	s->trees_requested++;
	bool is_program = s->side.benchmark.name[0] && strcmp(requested, s->side.input[0].oid) == 0;
	return is_program || strcmp(requested, oid) == 0 ? tar_fd(&s->tar) : err_set(err, ERR_NOT_FOUND, "no tree %s", requested);
}

static void project(struct scene *s, const char *makefile)
{
	tar_file(&s->tar, "Makefile", makefile);
	tar_file(&s->tar, "m.c", source);
	tar_end(&s->tar);
}

static void build(struct scene *s)
{
	buf_fini(&s->result.log);
	if (build_make(&s->context, &s->side, give_tree, s, &s->result, &s->module, &s->err) != 0)
		fail_msg("%s", s->err.text);
}

static void expect_failure(struct scene *s, const char *words)
{
	struct stat st;

	build(s);
	assert_string_equal(s->result.state, "failed");
	assert_int_equal(s->module, -1);
	assert_string_equal(s->result.module_sha256, "");
	if (!strstr(s->result.detail, words))
		fail_msg("\"%s\" does not say \"%s\"; log: %s", s->result.detail, words, s->result.log.data);
	assert_int_equal(fstatat(s->cache.fd, "job", &st, AT_SYMLINK_NOFOLLOW), -1);
	assert_int_equal(procs_count(), 0);
}

#define RULE "all:\n\tmkdir -p build/$(DEVICE)\n"
#define LINK "\tgcc -g -shared -fPIC -o build/$(DEVICE)/libattention.so m.c\n"

/* A library is not included in a build's name: combined with the earlier module a side is a different one. */
static void a_side_next_to_an_earlier_module_is_built_again(void **state)
{
	struct scene *s = *state;

	project(s, RULE LINK);
	build(s);
	assert_string_equal(s->result.state, "ok");
	close(s->module);
	buf_fini(&s->result.log);
	assert_int_equal(build_lookup(&s->context, &s->side, &s->result, &s->module), 1);
	close(s->module);
	snprintf(s->context.earlier, sizeof s->context.earlier, "%s", s->result.module_sha256);
	assert_int_equal(build_lookup(&s->context, &s->side, &s->result, &s->module), 0);
	assert_string_equal(s->result.state, "start");
	assert_int_equal(s->module, -1);
	build(s);
	assert_string_equal(s->result.state, "ok");
	assert_int_equal(s->trees_requested, 2);
	assert_string_equal(s->result.module_sha256, s->context.earlier);
	snprintf(s->side.tools.module, sizeof s->side.tools.module, "%s", s->context.earlier);
	close(s->module);
	buf_fini(&s->result.log);
	assert_int_equal(build_lookup(&s->context, &s->side, &s->result, &s->module), 1); /* the side that it belongs to */
}

static void ok_then_cached(void **state)
{
	struct scene *s = *state;
	char first[HASH_HEX];
	struct stat st;

	project(s, RULE LINK "\t@echo built for $(DEVICE)\n");
	assert_int_equal(build_lookup(&s->context, &s->side, &s->result, &s->module), 0);
	assert_string_equal(s->result.state, "start");
	build(s);
	if (strcmp(s->result.state, "ok") != 0)
		fail_msg("%s: %s", s->result.detail, s->result.log.data);
	assert_non_null(strstr(s->result.log.data, "built for cpu"));
	assert_int_equal(strlen(s->result.module_sha256), 64);
	assert_true(s->module >= 0);
	assert_int_equal(fcntl(s->module, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	assert_int_equal(fstatat(s->cache.fd, "job", &st, AT_SYMLINK_NOFOLLOW), -1);
	strcpy(first, s->result.module_sha256);
	close(s->module);

	buf_fini(&s->result.log);
	assert_int_equal(build_lookup(&s->context, &s->side, &s->result, &s->module), 1);
	assert_string_equal(s->result.state, "cached");
	assert_string_equal(s->result.module_sha256, first);
	close(s->module);

	/* rebuilt in the same folder, it is the same file */
	build(s);
	assert_string_equal(s->result.module_sha256, first);
}

static void damaged_module_is_built_again(void **state)
{
	struct scene *s = *state;
	char name[80];
	int fd;

	project(s, RULE LINK);
	build(s);
	assert_string_equal(s->result.state, "ok");
	close(s->module);
	snprintf(name, sizeof name, "%s.so", s->result.module_sha256);
	fd = openat(s->cache.modules_fd, name, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "X", 1, 100), 1);
	close(fd);
	buf_fini(&s->result.log);
	assert_int_equal(build_lookup(&s->context, &s->side, &s->result, &s->module), 0);
	assert_int_equal(s->module, -1);
}

static void key_covers_what_can_change_the_result(void **state)
{
	struct scene *s = *state;
	char before[HASH_HEX], key[HASH_HEX];
	struct msg_side other = s->side;

	build_key(&s->context, &s->side, before);
	snprintf(other.commit, sizeof other.commit, "c0ffee");
	other.role = ROLE_BASE;
	build_key(&s->context, &other, key);
	assert_string_equal(key, before); /* neither commit nor role */
	other.input[0].oid[0] = 'f';
	build_key(&s->context, &other, key);
	assert_string_not_equal(key, before);
	other = s->side;
	snprintf(other.build.command[1], sizeof other.build.command[1], "DEVICE={device} O=2");
	build_key(&s->context, &other, key);
	assert_string_not_equal(key, before);
	snprintf(s->context.toolchain[ROLE_TARGET], sizeof s->context.toolchain[0], "gcc 13");
	build_key(&s->context, &s->side, key);
	assert_string_not_equal(key, before);
	snprintf(s->context.toolchain[ROLE_TARGET], sizeof s->context.toolchain[0], "gcc test");
	s->context.device = DEVICE_CUDA;
	build_key(&s->context, &s->side, key);
	assert_string_not_equal(key, before);
}

/* A word of the command is no output, and an output is no reader. */
static void programs_run_equally(void **state)
{
	struct scene *s = *state;
	struct msg_side a = s->side, b;

	a.benchmark.n_command = 2;
	snprintf(a.benchmark.command[0], BENCHMARK_TEXT_SIZE, "one");
	snprintf(a.benchmark.command[1], BENCHMARK_TEXT_SIZE, "two");
	snprintf(a.benchmark.output[0], BENCHMARK_TEXT_SIZE, "two");
	a.benchmark.n_outputs = 0;
	snprintf(a.benchmark.reader, sizeof a.benchmark.reader, "three");
	snprintf(a.benchmark.unit, sizeof a.benchmark.unit, "ms");
	b = a;
	assert_true(build_runs_equally(&a, &b));
	b.benchmark.n_command = b.benchmark.n_outputs = 1;
	assert_false(build_runs_equally(&a, &b));
	a = b;
	snprintf(b.benchmark.output[0], BENCHMARK_TEXT_SIZE, "three");
	assert_false(build_runs_equally(&a, &b));
	b = a;
	snprintf(b.benchmark.reader, sizeof b.benchmark.reader, "four");
	assert_false(build_runs_equally(&a, &b));
	b = a;
	snprintf(b.benchmark.unit, sizeof b.benchmark.unit, "s");
	assert_false(build_runs_equally(&a, &b));
	b = a;
	snprintf(b.build.dir, sizeof b.build.dir, "elsewhere");
	assert_false(build_runs_equally(&a, &b));
	b = a;
	snprintf(b.commit, sizeof b.commit, "c0ffee");
	b.role = ROLE_BASE;
	assert_true(build_runs_equally(&a, &b));
}

static void flags_reach_the_compiler_last(void **state)
{
	struct scene *s = *state;

	tar_file(&s->tar, "m.c",
		"#if ANSWER != 42\n#error ANSWER\n#endif\n__attribute__((visibility(\"default\"))) int answer(void) { return ANSWER; }\n");
	tar_file(&s->tar, "Makefile", RULE "\tgcc -DANSWER=41 -shared -fPIC -o build/$(DEVICE)/libattention.so m.c\n");
	tar_end(&s->tar);
	expect_failure(s, "make DEVICE=cpu: exit 2");
	snprintf(s->side.tools.flags, sizeof s->side.tools.flags, "-UANSWER -DANSWER=42");
	build(s);
	if (strcmp(s->result.state, "ok") != 0)
		fail_msg("%s; %s", s->result.detail, s->result.log.data);
}

static void a_folder_of_compilers_comes_first(void **state)
{
	struct scene *s = *state;
	char tools[120], gcc[160];

	snprintf(tools, sizeof tools, "%s/tools", s->folder.path);
	snprintf(gcc, sizeof gcc, "%s/gcc", tools);
	assert_int_equal(mkdir(tools, 0755), 0);
	project(s, RULE LINK);
	snprintf(s->side.tools.dir, sizeof s->side.tools.dir, "%s", tools);
	expect_failure(s, "is not visible to builds; add it to sandbox.read_only");
	const char *shown = s->folder.path;
	if (chmod(s->folder.path, 0755) != 0 || sandbox_show(&s->sandbox, &shown, 1, NULL, &s->err) != 0)
		fail_msg("%s", s->err.text);
	procs_end_all(); /* processes started by the check of its readability may still be ending */
	expect_failure(s, "has neither nvcc nor gcc");
	int fd = open(gcc, O_WRONLY | O_CREAT, 0755);
	static const char script[] = "#!/bin/sh\necho this gcc is ours; exit 7\n";
	assert_int_equal(write(fd, script, sizeof script - 1), (int)sizeof script - 1);
	assert_int_equal(fchmod(fd, 0755) | close(fd), 0);
	expect_failure(s, "make DEVICE=cpu: exit 2");
	assert_non_null(strstr(s->result.log.data, "this gcc is ours"));
}

static void a_cached_module_is_not_built_again(void **state)
{
	struct scene *s = *state;
	struct msg_build kept;
	int fd;

	project(s, RULE LINK);
	build(s);
	snprintf(s->side.tools.module, sizeof s->side.tools.module, "%s", s->result.module_sha256);
	snprintf(s->side.tools.made_by, sizeof s->side.tools.made_by, "gcc 4.2");
	assert_int_equal(build_lookup(&s->context, &s->side, &kept, &fd), 1);
	assert_string_equal(kept.state, "cached");
	assert_string_equal(kept.module_sha256, s->result.module_sha256);
	buf_fini(&kept.log);
	close(fd);
	memset(s->side.tools.module, '0', 64);
	s->trees_requested = 0;
	close(s->module);
	expect_failure(s, "module 000000000000, built by gcc 4.2, is no longer in the cache of this worker");
	assert_int_equal(s->trees_requested, 0);
}

static void failing_command(void **state)
{
	struct scene *s = *state;

	project(s, "all:\n\t@echo no luck; exit 3\n");
	expect_failure(s, "make DEVICE=cpu: exit 2");
	assert_int_equal(s->result.exit, 2);
	assert_non_null(strstr(s->result.log.data, "no luck"));
}

static void killed_command(void **state)
{
	struct scene *s = *state;

	project(s, "all:\n\t@kill -KILL $$PPID\n");
	assert_int_equal(build_make(&s->context, &s->side, give_tree, s, &s->result, &s->module, &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY); /* indistinguishable from lack of memory */
	assert_string_equal(s->err.text,
		"make DEVICE=cpu of the target: killed by SIGKILL; out of memory, or killed by another process on this machine");
}

static void missing_program(void **state)
{
	struct scene *s = *state;

	project(s, RULE);
	snprintf(s->side.build.command[0], sizeof s->side.build.command[0], "no-such-program");
	build(s);
	assert_string_equal(s->result.state, "failed");
	assert_true(strstr(s->result.detail, "no-such-program") || strstr(s->result.log.data, "no-such-program"));
}

/* The message has the beginning of a long command up to a word, with dots. */
static void a_long_command_is_shortened(void **state)
{
	struct scene *s = *state;

	project(s, "all:\n\t@exit 1\n");
	snprintf(s->side.build.command[2], sizeof s->side.build.command[2], "A=%080d", 0);
	snprintf(s->side.build.command[3], sizeof s->side.build.command[3], "B=2");
	s->side.build.n_command = 4;
	expect_failure(s, "0000 B=2: exit 2"); /* it still fits */
	snprintf(s->side.build.command[3], sizeof s->side.build.command[3], "B=%030d", 0);
	expect_failure(s, "0000 ...: exit 2");
}

static void hanging_build_and_what_it_started(void **state)
{
	struct scene *s = *state;

	project(s, "all:\n\t@setsid sleep 1000 & sleep 1000\n");
	s->side.build.timeout_s = 0.5;
	expect_failure(s, "ran past 0.5 s");
}

static void endless_log(void **state)
{
	struct scene *s = *state;

	s->context.print_max = 4 << 20;
	project(s, "all:\n\t@echo first words; yes a line of no use | head -c 1000000000\n");
	expect_failure(s, "build printed more than 4 MiB");
	assert_true(s->result.log.len <= 2200);
	assert_non_null(strstr(s->result.log.data, "first words"));
	assert_non_null(strstr(s->result.log.data, "bytes left out"));
}

static void fork_bomb(void **state)
{
	struct scene *s = *state;

	s->context.process_max = 100;
	project(s, "SHELL = /bin/bash\nall:\n\t@for i in $$(seq 400); do sleep 30 & done; wait\n");
	expect_failure(s, "build ran more than 100 processes");
}

static void large_file(void **state)
{
	struct scene *s = *state;

	project(s, "all:\n\t@truncate -s 3G big\n");
	expect_failure(s, "make DEVICE=cpu");
}

static void wrong_outputs(void **state)
{
	struct scene *s = *state;

	project(s, "all:\n\t@true\n");
	expect_failure(s, "output build/cpu/libattention.so is missing");
	buf_clear(&s->tar);
	project(s, RULE "\t@ln -s /etc/passwd build/cpu/libattention.so\n");
	expect_failure(s, "symbolic link");
	buf_clear(&s->tar);
	project(s, RULE "\t@mkfifo build/cpu/libattention.so\n");
	expect_failure(s, "not a regular file");
	buf_clear(&s->tar);
	project(s, "all:\n\t@ln -s /tmp build\n");
	expect_failure(s, "output build/cpu/libattention.so");
	buf_clear(&s->tar);
	project(s, RULE "\t@touch build/cpu/libattention.so\n");
	expect_failure(s, "is empty");
	buf_clear(&s->tar);
	project(s, RULE "\t@echo no elf > build/cpu/libattention.so\n");
	expect_failure(s, "is not a shared object: strip rejects it, exit 1");
}

static void hostile_archive_is_the_builds_fault(void **state)
{
	struct scene *s = *state;

	tar_file(&s->tar, "../escape", "x");
	tar_end(&s->tar);
	expect_failure(s, "leads out of the tree");
	buf_clear(&s->tar);
	project(s, RULE);
	snprintf(s->side.build.dir, sizeof s->side.build.dir, "elsewhere");
	expect_failure(s, "folder elsewhere");
}

static void unremovable_leftovers_are_removed(void **state)
{
	struct scene *s = *state;

	project(s, "SHELL = /bin/bash\nall:\n\t@mkdir -p x/y; touch x/y/z; chmod 0 x/y x; "
		   "for i in {1..150}; do mkdir d; cd d; done; exit 1\n");
	expect_failure(s, "exit 2");
}

static void missing_tree_is_ours(void **state)
{
	struct scene *s = *state;

	snprintf(s->side.input[0].oid, sizeof s->side.input[0].oid, "%040d", 7);
	assert_int_equal(build_make(&s->context, &s->side, give_tree, s, &s->result, &s->module, &s->err), -1);
	assert_int_equal(s->err.code, ERR_NOT_FOUND);
}

/* ---- benchmark programs
 * ----------------------------------------------------------------------------------------------------- */

#define MAIN(words) "#include <stdio.h>\n" words "int main(void) { return puts(\"" ANSWER "\") < 0; }\n"
#define ANSWER      "7"

/*
 * Build a program from `text`; its hash is returned. The folder stays in the cache as side-target. Other contents have another
 * name.
 */
static void program(struct scene *s, const char *text, const char *data, char hash[HASH_HEX])
{
	static const char makefile[] = "all:\n\tgcc -g -O1 -o bench bench.c\n\tmkdir -p made\n\tcp data made/data\n";
	char name[HASH_HEX];

	buf_clear(&s->tar);
	tar_file(&s->tar, "Makefile", makefile);
	tar_file(&s->tar, "bench.c", text);
	tar_file(&s->tar, "data", data);
	tar_end(&s->tar);
	hash_hex(s->tar.data, s->tar.len, name);
	snprintf(s->side.input[0].oid, sizeof s->side.input[0].oid, "%.40s", name);
	snprintf(s->context.sides, sizeof s->context.sides, "side");
	s->side.benchmark =
		(struct benchmark){ .name = "sums", .n_command = 1, .n_outputs = 1, .n_artifacts = 2, .reader = "flopwatch" };
	snprintf(s->side.benchmark.command[0], BENCHMARK_TEXT_SIZE, "./bench");
	snprintf(s->side.benchmark.output[0], BENCHMARK_TEXT_SIZE, "out/result.json");
	snprintf(s->side.benchmark.artifact[0], BENCHMARK_TEXT_SIZE, "bench");
	snprintf(s->side.benchmark.artifact[1], BENCHMARK_TEXT_SIZE, "made/data");
	snprintf(s->side.build.command[0], sizeof s->side.build.command[0], "make");
	s->side.build.n_command = 1;
	if (!hash)
		return;
	build(s);
	if (strcmp(s->result.state, "ok") != 0)
		fail_msg("%s: %s", s->result.detail, s->result.log.data);
	strcpy(hash, s->result.module_sha256);
}

static bool is_there(const struct scene *s, const char *path)
{
	char full[200];
	struct stat st;

	snprintf(full, sizeof full, "side-target/kernels/%s", path);
	return fstatat(s->cache.fd, full, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void artifacts_name_a_program(void **state)
{
	struct scene *s = *state;
	char first[HASH_HEX], other[HASH_HEX];

	program(s, MAIN(""), "1", first);
	assert_true(is_there(s, "bench") && is_there(s, "made/data") && is_there(s, "out"));
	assert_false(is_there(s, "bench.c") || is_there(s, "data") || is_there(s, "Makefile") || is_there(s, "out/result.json"));
	program(s, MAIN("/* a comment,\n   and lines that debuggers count */\n\n"), "1", other);
	assert_string_equal(other, first);
	program(s, MAIN(""), "2", other);
	assert_string_not_equal(other, first);
	assert_string_not_equal(other, "");
	program(s, "int main(void) { return 1; }\n", "1", other);
	assert_string_not_equal(other, first);
	/* the commands that run and parse it are included in the hash */
	program(s, MAIN(""), "1", NULL);
	s->side.benchmark.n_command = 2;
	snprintf(s->side.benchmark.command[1], BENCHMARK_TEXT_SIZE, "--fast");
	build(s);
	assert_string_not_equal(s->result.module_sha256, first);
	/* without them every file counts */
	program(s, MAIN(""), "1", NULL);
	s->side.benchmark.n_artifacts = 0;
	build(s);
	strcpy(other, s->result.module_sha256);
	assert_true(is_there(s, "bench.c"));
	program(s, MAIN("// a comment\n"), "1", NULL);
	s->side.benchmark.n_artifacts = 0;
	build(s);
	assert_string_equal(s->result.state, "ok");
	assert_string_not_equal(s->result.module_sha256, other);
}

static void equal_sources_are_built_once(void **state)
{
	struct scene *s = *state;
	char first[HASH_HEX], name[40];

	program(s, MAIN(""), "1", first);
	/* a run may change its folder */
	assert_int_equal(unlinkat(s->cache.fd, "side-target/kernels/bench", 0), 0);
	for (int i = 0; i < 2; i++) {
		build(s);
		assert_string_equal(s->result.state, "cached");
		assert_string_equal(s->result.module_sha256, first);
		assert_true(is_there(s, "bench") && is_there(s, "made/data") && is_there(s, "out"));
		assert_int_equal(s->trees_requested, 1);
	}
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "%d", i + 2);
		program(s, MAIN(""), name, first);
	}
	program(s, MAIN(""), "1", first); /* built: its copy was removed in favour of later ones */
}

static void write_kit(struct scene *s, const char *name, const char *text)
{
	char path[120];

	snprintf(path, sizeof path, "kit/%s", name);
	assert_int_equal(tmp_folder_write(&s->folder, path, text, 0644), 0);
}

/*
 * A program includes the kit, which measures it. If a side had the kit of the day on which its sources were built first, two
 * versions of the kit would be compared after an update, not two commits.
 */
static void another_kit_makes_another_program(void **state)
{
	struct scene *s = *state;
	char first[HASH_HEX];

	assert_int_equal(mkdirat(s->folder.fd, "kit", 0755), 0);
	assert_int_equal(mkdirat(s->folder.fd, "kit/before", 0755), 0);
	snprintf(s->sandbox.kit, sizeof s->sandbox.kit, "%s/kit", s->folder.path);
	write_kit(s, "flopwatch.h", "#define VERSION 1\n");
	write_kit(s, "before/benchmark.h", "#define BEFORE 1\n");
	program(s, MAIN(""), "1", first);
	build(s);
	assert_string_equal(s->result.state, "cached");
	write_kit(s, "flopwatch.h", "#define VERSION 2\n");
	build(s);
	assert_string_equal(s->result.state, "ok");
	build(s);
	assert_string_equal(s->result.state, "cached");
	write_kit(s, "before/benchmark.h", "#define BEFORE 2\n");
	build(s);
	assert_string_equal(s->result.state, "ok");
	/* Python writes there if it may, and that is no other kit */
	assert_int_equal(mkdirat(s->folder.fd, "kit/__pycache__", 0755), 0);
	write_kit(s, "__pycache__/flopwatch.pyc", "1");
	build(s);
	assert_string_equal(s->result.state, "cached");
}

static void a_file_that_is_no_longer_an_artifact_is_gone(void **state)
{
	struct scene *s = *state;

	program(s, MAIN(""), "1", NULL);
	s->side.benchmark.n_outputs = 0;
	build(s);
	assert_true(is_there(s, "bench") && is_there(s, "made/data"));
	s->side.benchmark.n_artifacts = s->side.benchmark.n_outputs = 1;
	snprintf(s->side.benchmark.output[0], BENCHMARK_TEXT_SIZE, "made/data");
	build(s);
	assert_string_equal(s->result.state, "ok");
	assert_true(is_there(s, "bench"));
	assert_false(is_there(s, "made/data"));
}

static void artifacts_that_are_none(void **state)
{
	struct scene *s = *state;

	program(s, MAIN(""), "1", NULL);
	snprintf(s->side.benchmark.artifact[1], BENCHMARK_TEXT_SIZE, "made/elsewhere");
	build(s);
	assert_string_equal(s->result.state, "failed");
	assert_string_equal(
		s->result.detail, "artifact made/elsewhere is missing after the build (see doc/troubleshooting.md#artifact)");
	snprintf(s->side.benchmark.artifact[1], BENCHMARK_TEXT_SIZE, "link");
	snprintf(s->side.build.command[0], sizeof s->side.build.command[0], "sh");
	snprintf(s->side.build.command[1], sizeof s->side.build.command[1], "-c");
	snprintf(s->side.build.command[2], sizeof s->side.build.command[2], "ln -s /etc link; ln -s /usr made; touch bench");
	s->side.build.n_command = 3;
	build(s);
	assert_string_equal(
		s->result.detail, "artifact link is a symbolic link after the build (see doc/troubleshooting.md#artifact)");
	snprintf(s->side.benchmark.artifact[1], BENCHMARK_TEXT_SIZE, "made/bin");
	build(s);
	assert_string_equal(s->result.detail,
		"artifact made/bin is below a symbolic link after the build (see doc/troubleshooting.md#artifact)");
	assert_false(is_there(s, "bench")); /* nothing remains of a side that failed */
}

/* In the sandbox there is no network, no other folder of ours, and only /job and /tmp are writable. */
static void the_sandbox_holds(void **state)
{
	struct scene *s = *state;
	char makefile[1000];

	if (!s->sandbox.active)
		skip();
	assert_int_equal(tmp_folder_write(&s->folder, "secret", "health_check", 0644), 0);
	snprintf(makefile, sizeof makefile,
		"all:\n"
		"\t@test ! -e %s/secret || echo sees-files\n"
		"\t@test ! -e /etc/passwd || echo sees-etc\n"
		"\t@test `ls /sys 2>/dev/null | wc -l` = 0 || echo sees-sys\n"
		"\t@test `tail -n +3 /proc/net/dev | grep -vc lo:` = 0 || echo sees-network\n"
		"\t@! touch /usr/planted 2>/dev/null || echo writes-usr\n"
		"\t@test `ls -d /proc/[0-9]* | wc -l` -lt 12 || echo sees-processes\n"
		"\t@test $$(env | grep -cvE "
		"'^(HOME|USER|LOGNAME|TMPDIR|PATH|LANG|SOURCE_DATE_EPOCH|CUDA_CACHE_DISABLE|PWD|SHLVL|_|OLDPWD|"
		"MAKE.*|MFLAGS|DEVICE|FLOPWATCH_KIT)=') = 0 || env\n"
		"\t@grep -q '^CapEff:.0*$$' /proc/self/status || echo has-capabilities\n"
		"\t@test `id -u` != 0 || test ! -x /usr/bin/setpriv || echo is-root\n"
		"\t@test \"$$PWD\" = /job/kernels || echo wrong-place\n"
		"\t@echo the-end; exit 1\n",
		s->folder.path);
	project(s, makefile);
	build(s);
	assert_non_null(strstr(s->result.log.data, "the-end"));
	if (strncmp(s->result.log.data, "the-end", 7) != 0)
		fail_msg("%s", s->result.log.data);
}

int main(void)
{
#define BOTH(test)                                                                                                               \
	cmocka_unit_test_setup_teardown(test, setup, teardown), cmocka_unit_test_setup_teardown(test, setup_open, teardown)
	const struct CMUnitTest tests[] = {
		BOTH(ok_then_cached),
		BOTH(a_side_next_to_an_earlier_module_is_built_again),
		BOTH(failing_command),
		BOTH(killed_command),
		BOTH(missing_program),
		cmocka_unit_test_setup_teardown(a_long_command_is_shortened, setup, teardown),
		BOTH(hanging_build_and_what_it_started),
		BOTH(endless_log),
		BOTH(fork_bomb),
		BOTH(large_file),
		BOTH(wrong_outputs),
		BOTH(unremovable_leftovers_are_removed),
		BOTH(artifacts_name_a_program),
		BOTH(another_kit_makes_another_program),
		cmocka_unit_test_setup_teardown(a_file_that_is_no_longer_an_artifact_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_module_is_built_again, setup, teardown),
		cmocka_unit_test_setup_teardown(programs_run_equally, setup, teardown),
		cmocka_unit_test_setup_teardown(key_covers_what_can_change_the_result, setup, teardown),
		cmocka_unit_test_setup_teardown(flags_reach_the_compiler_last, setup, teardown),
		cmocka_unit_test_setup_teardown(flags_reach_the_compiler_last, setup_open, teardown),
		cmocka_unit_test_setup_teardown(a_folder_of_compilers_comes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cached_module_is_not_built_again, setup, teardown),
		cmocka_unit_test_setup_teardown(hostile_archive_is_the_builds_fault, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_tree_is_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_sources_are_built_once, setup, teardown),
		cmocka_unit_test_setup_teardown(artifacts_that_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(the_sandbox_holds, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
