/*
 * fuzz_arguments.c - arbitrary bytes as the parts of a request: path, query, form, cookie, header, parts of an upload. Values
 * are inside the request, and paths with another meaning for a proxy are refused. Names of users as Markdown stay in their cell.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/arguments by default).
 *
 * Attacks: web/http web/answer web/html daemon/lib
 */
#include "fuzz_replay.h"
#include "web/answer/answer.h"
#include "web/html/html.h"
#include "web/http/http.h"
#include "web/http/internal.h"

/* The bytes end where their memory ends, so that a sanitizer reports a read beyond it. */
static char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL, "out of memory");
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void check_pairs(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	struct pairs p;

	if (pairs_split(&p, text) == 0) {
		must(p.n <= PAIRS_MAX, "too many arguments");
		for (int i = 0; i < p.n; i++) {
			const char *name = p.pair[i].name, *value = p.pair[i].value;
			must(name >= text && value >= text && name + strlen(name) <= text + size &&
					value + strlen(value) <= text + size,
				"an argument is outside of the query");
			must(pairs_get(&p, name) != NULL, "an argument that is not found");
		}
		pairs_unknown(&p, "repo branch limit cursor since until");
	}
	free(text);
}

static void check_path(const char *path)
{
	static const char *const patterns[] = { "/", "/jobs/{id}", "/api/v1/comparisons/{id}/ffa/{file}.csv",
		"/api/v1/repos/{repo}/pulls/{number}/approvals", "/static/{file}", "/{a}/{b}/{c}/{d}", "/a{b}c{d}" };
	struct route_parts parts;

	if (!route_is_plain(path))
		return;
	must(path[0] == '/' && !strpbrk(path, "%\\?#;\"<> ") && !strstr(path, "..") && strlen(path) < ROUTE_PATH_MAX,
		"a path with another meaning");
	for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
		if (route_match(patterns[i], path, &parts))
			for (int k = 0; k < parts.n; k++)
				must(parts.part[k][0] && !strchr(parts.part[k], '/') && strstr(path, parts.part[k]),
					"a segment that is not in the path");
}

static void check_words(const char *text)
{
	char client[RATE_KEY_MAX];
	double quality = media_quality(text, "text/html; charset=utf-8");

	must(quality >= 0 && quality <= 1, "a weight is out of range");
	media_accepts_gzip(text);
	must(answer_number(text) >= -1 && answer_id(text, "job") >= -1 && period_age(text) >= 0, "a number is out of range");
	rate_key_of_address(NULL, text, client);
	must(strlen(client) < sizeof client, "a client without an end");
	write_is_readable(text, "\n\t");
}

/* The type of the body in the first line, or a fixed one. */
static void check_parts(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	char *line = text_of(data, end ? (size_t)(end - data) : 0);
	const char *types[] = { "multipart/form-data; boundary=b", line };

	for (int i = 0; i < 2; i++) {
		size_t skip = i && end ? strlen(line) + 1 : 0, len = size - skip, at = 0, n = 0;
		char *body = text_of(data + skip, len);
		struct multipart_part part;

		while (multipart_next(types[i], body, len, &at, &part) == 1) {
			must(part.data >= body && part.data + part.len <= body + len && at <= len,
				"a part is outside of the body");
			must(strlen(part.name) < sizeof part.name && strlen(part.file) < sizeof part.file,
				"a name without an end");
			must(++n <= len, "parts without an end");
		}
		free(body);
	}
	free(line);
}

static void check_markdown(const char *text)
{
	struct buf out;

	buf_init(&out, 32 * strlen(text) + 64);
	markdown_code(&out, text);
	markdown_text(&out, text);
	must(!out.failed && !strpbrk(out.data, "\n\r\033"), "a name is no clean line");
	for (const char *at = out.data; (at = strchr(at, '|')); at++)
		must(at > out.data && at[-1] == '\\', "a name ends its cell");
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);

	check_pairs(data, size);
	check_path(text);
	check_words(text);
	check_parts(data, size);
	check_markdown(text);
	free(text);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/arguments", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
