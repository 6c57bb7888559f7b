/* answers.c - documented in internal.h. */
#include "cli/internal.h"

enum { JSON_MAX_BYTES = 16 << 20 };

static const char *const names[HEALTH_N] = { "ok", "warn", "fail" };

void answers_add(struct answers *a, enum health health, const char *what, const char *advice, const char *format, ...)
{
	va_list args;
	a->answer = mem_grow_one(a->answer, (size_t)a->n, sizeof *a->answer);
	struct answer *one = &a->answer[a->n++];
	one->health = health;
	snprintf(one->what, sizeof one->what, "%s", what);
	snprintf(one->advice, sizeof one->advice, "%s", advice);
	va_start(args, format);
	vsnprintf(one->text, sizeof one->text, format, args);
	va_end(args);
}

void answers_fini(struct answers *a)
{
	free(a->answer);
	*a = (struct answers){ 0 };
}

enum health health_from_name(const char *name)
{
	enum health h = 0;
	while (h < HEALTH_N && strcmp(names[h], name) != 0)
		h++;
	return h;
}

static void print_lines(const struct answers *a)
{
	bool colors = terminal_colors(stdout);
	for (int i = 0; i < a->n; i++) {
		const struct answer *one = &a->answer[i];
		const char *word = names[one->health];
		printf("%s%-4s%s  %-10s  ", colors ? terminal_tone(word) : "", word, colors ? TERMINAL_PLAIN : "", one->what);
		plain_print(stdout, one->text);
		if (*one->advice) {
			fputs("\n                  -> ", stdout);
			plain_print(stdout, one->advice);
		}
		putchar('\n');
	}
}

static void print_json(const struct answers *a, bool good)
{
	struct buf out;
	struct jsonw j;
	buf_init(&out, JSON_MAX_BYTES);
	jsonw_init(&j, &out);
	jsonw_object(&j);
	jsonw_kv_bool(&j, "ok", good);
	jsonw_kv_array(&j, "checks");
	for (int i = 0; i < a->n; i++) {
		const struct answer *one = &a->answer[i];
		jsonw_format(
			&j, "{ what=%s health=%s text=%s advice?=%s }", one->what, names[one->health], one->text, one->advice);
	}
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	puts(out.data);
	buf_fini(&out);
}

bool answers_print(const struct answers *a, bool json)
{
	bool good = true;
	for (int i = 0; i < a->n; i++)
		good = good && a->answer[i].health != FAIL;
	if (json)
		print_json(a, good);
	else
		print_lines(a);
	return good;
}
