/* pointer.c - see pointer.c. */
#include "git/internal.h"

static const char WHAT_TO_DO[] = "is not in the commit; commit the file itself, or leave it out of `inputs`";

static bool begins_with(const char *data, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(data, with, strlen(with)) == 0;
}

/* Digits at `at`, which ends at `end`. Returns how many; 0 where none are, or so many that they state no size. */
static int digits(const char *at, const char *end)
{
	int n = 0;

	while (at + n < end && at[n] >= '0' && at[n] <= '9')
		n++;
	return n <= 18 ? n : 0;
}

static void describe(struct buf *out, const char *what, const char *size, int size_digits)
{
	if (size_digits > 0)
		buf_printf(out, "is a %s, and its content (%.*s bytes) %s", what, size_digits, size, WHAT_TO_DO);
	else
		buf_printf(out, "is a %s, and its content %s", what, WHAT_TO_DO);
}

/* The size in a key of git-annex, BACKEND-s1234--NAME: its field -s comes before the double hyphen. */
static void describe_annex(struct buf *out, const char *what, const char *key, const char *end)
{
	const char *field = key;

	while (field < end && *field != '-')
		field++;
	for (; field + 1 < end && field[0] == '-' && field[1] != '-'; field += 1 + strcspn(field + 1, "-"))
		if (field[1] == 's') {
			describe(out, what, field + 2, digits(field + 2, end));
			return;
		}
	describe(out, what, NULL, 0);
}

static const char *last_slash(const char *begin, const char *end)
{
	while (end > begin && end[-1] != '/')
		end--;
	return end;
}

bool pointer_of_file(const char *data, size_t len, struct buf *out)
{
	static const char annex[] = "/annex/objects/", size_line[] = "\nsize ";
	const char *end = data + len, *size;

	if (len > POINTER_MAX_BYTES || memchr(data, '\0', len))
		return false;
	if (begins_with(data, len, "version https://git-lfs.github.com/spec/") ||
		begins_with(data, len, "version https://hawser.github.com/spec/")) {
		if (!memmem(data, len, "\noid ", 5))
			return false;
		size = memmem(data, len, size_line, sizeof size_line - 1);
		describe(out, "git-LFS pointer", size ? size + sizeof size_line - 1 : NULL,
			size ? digits(size + sizeof size_line - 1, end) : 0);
		return true;
	}
	if (!begins_with(data, len, annex))
		return false;
	const char *line_end = memchr(data, '\n', len);
	line_end = line_end ? line_end : end;
	describe_annex(out, "git-annex pointer", last_slash(data, line_end), line_end);
	return true;
}

bool pointer_of_link(const char *target, struct buf *out)
{
	const char *end = target + strlen(target);

	if (!strstr(target, ".git/annex/objects/"))
		return false;
	describe_annex(out, "git-annex link", last_slash(target, end), end);
	return true;
}
