/*
 * fuzz_unpack.c - arbitrary bytes as an archive: no file may appear outside the folder into which it is unpacked, and no link in
 * it may lead out.
 *
 * As a test it changes a good archive 4,000 times (fixed seed), or replays the files and folders
 * given as arguments.
 *
 * Attacks: daemon/worker/sandbox/unpack.c daemon/worker/sandbox/workdir.c daemon/lib
 */
/* Left to `make check`: takes seconds, only computes. */
#include <dirent.h>

#include "fuzz_replay.h"
#include "model/model.h"
#include "tar_write.h"
#include "tmp_folder.h"
#include "worker/sandbox/internal.h"

/* Every link below `fd` ends inside `root`. A build could read through a link that does not. */
static void check_links(int fd, const char *root, int depth)
{
	DIR *dir = fdopendir(dup(fd));
	struct dirent *entry;
	char path[4200], target[4096];

	must(dir != NULL, "a folder cannot be read");
	while ((entry = readdir(dir))) {
		struct stat st;
		int child;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		must(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode),
			"something else than file, folder or link");
		if (S_ISLNK(st.st_mode) && fstatat(fd, entry->d_name, &st, 0) == 0) {
			snprintf(path, sizeof path, "/proc/self/fd/%d/%s", fd, entry->d_name);
			must(realpath(path, target) && strncmp(target, root, strlen(root)) == 0, "a link leads out");
		} else if (S_ISDIR(st.st_mode) && depth < 80) {
			child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			must(child >= 0, "a folder cannot be opened");
			check_links(child, root, depth + 1);
			close(child);
		}
	}
	closedir(dir);
}

static struct tmp_folder folder;

static void close_folder(void)
{
	tmp_folder_close(&folder);
}

static void unpack(const uint8_t *data, size_t size, bool is_signed)
{
	static const struct unpack_limits limits = { .file_bytes = 1 << 20, .total_bytes = 4 << 20, .entries = 200 };
	char root_path[128];
	struct fw_err err = { 0 };
	struct buf bytes;
	struct stat st;
	int tar, root;

	if (!folder.path[0])
		must(tmp_folder_open(&folder) == 0 && atexit(close_folder) == 0, "no folder");
	root = workdir_fresh(folder.fd, "root", &err);
	must(root >= 0, err.text);
	buf_init(&bytes, 8 << 20);
	buf_append(&bytes, data, size);
	for (size_t at = 0; is_signed && at + TAR_BLOCK <= bytes.len; at += TAR_BLOCK)
		if (memcmp(bytes.data + at + 257, "ustar", 5) == 0)
			tar_checksum(bytes.data + at);
	tar = tar_fd(&bytes);
	must(tar >= 0, "no archive");
	if (unpack_tar(tar, root, "in", &limits, &err) != 0)
		must(err.code != ERR_NONE && err.text[0], "a refusal without words");
	else
		must(err.code == ERR_NONE, "an unpacked archive left an error");
	snprintf(root_path, sizeof root_path, "%s/root", folder.path);
	check_links(root, root_path, 0);
	must(fstatat(folder.fd, "outside", &st, AT_SYMLINK_NOFOLLOW) < 0, "a file outside");
	close(tar);
	close(root);
	buf_fini(&bytes);
	err_clear(&err);
	must(workdir_remove(folder.fd, "root", &err) == 0, err.text);
}

/* With its checksums as they are, and right: a search rarely finds a right one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unpack(data, size, false);
	unpack(data, size, true);
	return 0;
}

static void write_archive(struct buf *good)
{
	tar_entry(good, "d/", '5', 0755, NULL, NULL);
	tar_entry(good, "d/l", '2', 0777, "../e", NULL);
	tar_entry(good, "e/", '5', 0755, NULL, NULL);
	tar_file(good, "e/f", "content");
	tar_entry(good, "d/m", '2', 0777, "l/f", NULL);
	tar_end(good);
}

#ifdef FUZZ_SEARCH
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct buf good;

	(void)argc, (void)argv;
	buf_init(&good, 1 << 20);
	write_archive(&good);
	fuzz_first_input("archive", good.data, good.len);
	buf_fini(&good);
	return 0;
}
#else
int main(int argc, char **argv)
{
	static const char *const words[] = { "../", "../../../outside", "../../..", "../..", "/etc", "/", ".", "..", "d/l", "d",
		"blob", "\xff", "ustar" };
	struct buf good, bad;
	uint64_t random = 1;

	if (argc > 1)
		return fuzz_replay_main(argc, argv, NULL);

	buf_init(&good, 1 << 20);
	buf_init(&bad, 1 << 20);
	write_archive(&good);
	for (int round = 0; round < 4000; round++) {
		int changes = 1 + round % 3;

		buf_clear(&bad);
		buf_append(&bad, good.data, good.len);
		while (changes--) {
			random = inputs_mix(random);
			size_t block = random % (good.len / TAR_BLOCK) * TAR_BLOCK;
			const char *word = words[(random >> 16) % (sizeof words / sizeof words[0])];
			static const size_t fields[] = { 0, 100, 124, 156, 157, 257, 345, 0, 157 };
			size_t at = block + fields[(random >> 32) % (sizeof fields / sizeof fields[0])];

			if ((random >> 40) % 2)
				memcpy(bad.data + at, word, strlen(word));
			else
				bad.data[at] = (char)(random >> 48);
			tar_checksum(bad.data + block);
		}
		unpack((const uint8_t *)bad.data, bad.len, false);
	}
	buf_fini(&good);
	buf_fini(&bad);
	printf("ok 1 - 4000 changed archives stay inside\n1..1\n");
	return 0;
}
#endif
