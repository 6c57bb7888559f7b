/* progress.c - documented in internal.h. */
#include "cli/internal.h"

enum { SHOW_ELAPSED_S = 2, LINE_SIZE = PROGRESS_TEXT_SIZE + 32 };

static const int64_t line_every_ns = INT64_C(60000000000);

/* "12 s  sums: running". Shape: line[LINE_SIZE]. */
static void describe(const struct progress *p, char *line)
{
	long elapsed_s = (long)((clock_mono_ns() - p->begun_ns) / 1000000000);

	if (elapsed_s >= SHOW_ELAPSED_S)
		snprintf(line, LINE_SIZE, "%ld s  %s", elapsed_s, p->step);
	else
		snprintf(line, LINE_SIZE, "%s", p->step);
}

static void print(const struct progress *p, const char *before, const char *line, const char *after)
{
	struct buf shown;

	buf_init(&shown, 8 * LINE_SIZE);
	utf8_show(&shown, line, strlen(line), "");
	fprintf(p->out, "%s%s%s", before, shown.data, after);
	fflush(p->out);
	buf_fini(&shown);
}

static void draw(const struct progress *p)
{
	int width = terminal_width(p->out);
	char line[LINE_SIZE];

	describe(p, line);
	if (width > 1 && width <= LINE_SIZE) /* a second line would stay on the screen */
		line[width - 1] = '\0';
	print(p, "\r\033[K", line, "");
}

/* Write the step as a separate line. */
static void write_line(struct progress *p)
{
	char line[LINE_SIZE];

	describe(p, line);
	print(p, "", line, "\n");
	p->next_ns = clock_mono_ns() + line_every_ns;
}

void progress_start(struct progress *p, const struct options *o, FILE *out)
{
	*p = (struct progress){ .out = out, .next_ns = clock_mono_ns() + line_every_ns };
	p->style = o->quiet                  ? PROGRESS_NONE
		   : o->progress             ? PROGRESS_STEPS
		   : terminal_width(out) > 0 ? PROGRESS_CHANGES
					     : PROGRESS_RARE;
}

/* Returns whether the step is another one. */
static bool set_step(struct progress *p, const char *format, va_list args)
{
	char step[PROGRESS_TEXT_SIZE];

	vsnprintf(step, sizeof step, format, args);
	if (strcmp(step, p->step) == 0)
		return false;
	memcpy(p->step, step, sizeof step);
	p->begun_ns = clock_mono_ns();
	return true;
}

static void show_step(struct progress *p, bool is_begin)
{
	if (p->style == PROGRESS_CHANGES)
		draw(p);
	else if (p->style == PROGRESS_STEPS || is_begin || clock_mono_ns() >= p->next_ns)
		write_line(p);
}

void progress_begin(struct progress *p, const char *format, ...)
{
	va_list args;

	if (p->style == PROGRESS_NONE)
		return;
	va_start(args, format);
	if (set_step(p, format, args))
		show_step(p, true);
	va_end(args);
}

void progress_step(struct progress *p, const char *format, ...)
{
	va_list args;

	if (p->style == PROGRESS_NONE)
		return;
	va_start(args, format);
	if (set_step(p, format, args))
		show_step(p, false);
	else if (p->style == PROGRESS_RARE) /* equal steps may follow each other so fast that no one waits between them */
		progress_tick(p);
	va_end(args);
}

void progress_tick(struct progress *p)
{
	if (!p->step[0])
		return;
	if (p->style == PROGRESS_CHANGES)
		draw(p);
	else if (p->style == PROGRESS_RARE && clock_mono_ns() >= p->next_ns)
		write_line(p);
}

void progress_clear(struct progress *p)
{
	if (p->style == PROGRESS_CHANGES && p->step[0]) {
		fputs("\r\033[K", p->out);
		fflush(p->out);
	}
	p->step[0] = '\0';
}
