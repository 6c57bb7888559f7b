/*
 * fuzz_names.c - arbitrary bytes as what a git server or a pusher chooses: names of refs and branches, addresses, options with
 * hashes. A name survives its stored form, and its displayed form hides nothing.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/names by default).
 *
 * Attacks: daemon/git daemon/lib
 */
#include "fuzz_replay.h"
#include "git/internal.h"

enum { DISPLAY_MAX = 300 };

static void must_be_clean(const struct buf *text, size_t most)
{
	must(!text->failed && text->len <= most, "a displayed name is too long");
	for (size_t at = 0, n; at < text->len; at += n) {
		uint32_t code;
		n = utf8_next(text->data + at, text->len - at, &code);
		must(code != UTF8_INVALID && !utf8_is_hidden(code), "a displayed name hides something");
	}
}

static void check_name(const char *name, size_t len)
{
	struct buf key, back;
	char same[BRANCH_KEY_MAX];

	buf_init(&key, 3 * len + 1);
	buf_init(&back, 16 * len + DISPLAY_MAX);
	name_encode(&key, name, len);
	must(!key.failed && strspn(key.data, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/%") == key.len,
		"a key has other characters");
	must(name_decode(&back, key.data) == 0 && back.len == len && memcmp(back.data, name, len) == 0, "a name is another one");
	branch_key(key.data, same);
	must(strcmp(same, key.len < sizeof same ? key.data : "%") == 0, "a key is another one");
	buf_clear(&back);
	branch_text(&back, key.data);
	must_be_clean(&back, 16 * len + 1);
	buf_clear(&back);
	name_display(&back, name, len, DISPLAY_MAX);
	must_be_clean(&back, DISPLAY_MAX);
	buf_fini(&key);
	buf_fini(&back);
}

/* What people type: a key, a name, or a broken key. */
static void check_given(const char *given)
{
	char key[BRANCH_KEY_MAX], again[BRANCH_KEY_MAX];
	struct buf out;

	branch_key(given, key);
	branch_key(key, again);
	must(strcmp(key, "%") == 0 || strcmp(key, again) == 0, "the key of a key is another one");
	buf_init(&out, 16 * strlen(given) + 64);
	branch_text(&out, given);
	must_be_clean(&out, 16 * strlen(given) + 64);
	buf_clear(&out);
	if (name_decode(&out, given) == 0)
		must(out.len <= strlen(given), "a name grows when it is decoded");
	buf_fini(&out);
}

static void check_url(const char *url)
{
	struct fw_err err = { 0 };
	char host[256];
	int port;

	if (url_check(url, &err) != 0) {
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
		return;
	}
	must(strlen(url) <= 2000, "an address that is too long");
	must(strncmp(url + strspn(url, "abcdefghijklmnopqrstuvwxyz"), "::", 2) != 0, "an address of another transport");
	must(url[0] != '-', "an address that is an option");
	if (url_is_remote(url) && url_server(url, host, sizeof host, &port, &err) == 0)
		must(host[0] && host[0] != '-' && !strchr(host, '@'), "a host that is none");
}

/* One line is an option or "REF HASH". */
static void check_pulls(char *text)
{
	static const char *const kinds[] = { "pull:head", "pull:merge", "merge-requests:head" };
	struct fw_err err = { 0 };
	struct pulls p;
	char spec[256], *line = text, *rest = NULL;
	const char *wanted[1] = { line };

	line = strtok_r(text, "\n", &rest);
	if (!line)
		return;
	if (pulls_begin(&p, line, NULL, 0, &err) != 0)
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
	pulls_fini(&p);
	wanted[0] = line;
	err_clear(&err);
	if (pulls_begin(&p, kinds[strlen(line) % 3], wanted, 1, &err) != 0) {
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
		p.n_wanted = 0;
	}
	while ((line = strtok_r(NULL, "\n", &rest))) {
		char *sha = strchr(line, ' ');
		if (sha)
			*sha++ = '\0';
		pulls_add(&p, line, sha ? sha : "");
	}
	pulls_sort(&p);
	for (int i = 0; i < p.n; i++) {
		must(p.pull[i].number > 0 && (i == 0 || p.pull[i].number <= p.pull[i - 1].number), "requests out of order");
		if (pulls_spec(&p, i, spec, sizeof spec))
			must(strlen(spec) + 1 < sizeof spec && !strpbrk(spec, " \n*"), "a refspec of more than one ref");
	}
	pulls_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL, "out of memory");
	memcpy(text, data, size);
	text[size] = '\0';
	check_name(text, strlen(text)); /* git allows every byte but NUL */
	check_given(text);
	check_url(text);
	check_pulls(text);
	free(text);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/names", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
