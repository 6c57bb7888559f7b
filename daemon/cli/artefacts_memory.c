/* artefacts_memory.c - the memory of a cell's calls as JSON, as flopwatch-runner --memory prints it, and as a picture. */
#include "cli/internal.h"

#include <ctype.h>

enum { WIDTH = 860, ROW = 34, LEFT = 150, BAR = 560, TOP = 70, MOMENTS_MAX = 8, PARTS = 3 };
#define MB 1e-6

/* Parts of a bar, from the left; colours that differ also in lightness. */
static const struct {
	const char *key, *name, *colour;
} parts[PARTS] = { { "tensor_bytes", "tensors", "#1f5a96" }, { "workspace_bytes", "workspaces", "#e08a1e" },
	{ "other_bytes", "other", "#b8bec6" } };

static const struct {
	const char *moment, *title;
} titles[] = { { "before", "before" }, { "inputs", "with inputs" }, { "plan", "with the plan" }, { "after", "after the calls" } };

int artefacts_path_name(const char *text, char *out, size_t size)
{
	size_t n = 0;
	for (; *text && n + 1 < size; text++)
		out[n++] = isalnum((unsigned char)*text) || *text == '.' || *text == '-' ? *text : '_';
	out[n] = '\0';
	return *text ? -1 : 0;
}

static bool write_path(
	const char *folder, const char *kind, const char *side, const char *key, const char *suffix, char *out, size_t size)
{
	char word[CASE_KEY_SIZE];
	if (artefacts_path_name(key, word, sizeof word) != 0)
		return false;
	int n = snprintf(out, size, "%s%s%s_%s_%s.%s", folder, *folder ? "/" : "", kind, side, word, suffix);
	return n > 0 && (size_t)n < size;
}

bool artefacts_memory_path(const char *folder, const char *side, const char *key, const char *suffix, char *out, size_t size)
{
	return write_path(folder, "memory_profiler/memory", side, key, suffix, out, size);
}

bool artefacts_trace_path(const char *folder, const char *side, const char *key, char *out, size_t size)
{
	return write_path(folder, "traces/trace", side, key, "json", out, size);
}

static void put_text(struct buf *svg, const char *text)
{
	for (; *text; text++)
		if (strchr("&<>\"", *text))
			buf_printf(svg, "&#%d;", *text);
		else
			buf_putc(svg, *text);
}

static const char *title_of(const char *moment)
{
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
		if (strcmp(titles[i].moment, moment) == 0)
			return titles[i].title;
	return moment;
}

/* Unknown bytes count as none. */
static double bytes_of(const json_t *moment, int part)
{
	double bytes = value_number(moment, parts[part].key);
	return bytes > 0 ? bytes : 0;
}

static double sum_of(const json_t *moment)
{
	double sum = 0;
	for (int i = 0; i < PARTS; i++)
		sum += bytes_of(moment, i);
	return sum;
}

static void put_legend(struct buf *svg)
{
	for (int i = 0; i < PARTS; i++) {
		int x = LEFT + i * 110;
		buf_printf(svg, "<rect x=\"%d\" y=\"36\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x, parts[i].colour);
		buf_printf(svg, "<text x=\"%d\" y=\"46\">%s</text>\n", x + 18, parts[i].name);
	}
}

static void put_bar(const json_t *moment, int y, double most, struct buf *svg)
{
	double x = LEFT;
	buf_printf(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT - 10, y + 16);
	put_text(svg, title_of(value_text(moment, "moment")));
	buf_puts(svg, "</text>\n");
	for (int i = 0; i < PARTS; i++) {
		double width = most > 0 ? BAR * bytes_of(moment, i) / most : 0;
		buf_printf(svg,
			"<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"22\" fill=\"%s\"><title>%s %.3f MB</title></rect>\n",
			x, y, width, parts[i].colour, parts[i].name, bytes_of(moment, i) * MB);
		x += width;
	}
	buf_printf(svg, "<text x=\"%.2f\" y=\"%d\">%.3f MB</text>\n", x + 8, y + 16, sum_of(moment) * MB);
}

void artefacts_picture(const json_t *memory, const char *side, struct buf *svg)
{
	const json_t *moments = json_object_get(memory, "moments"), *moment;
	int height = TOP + ROW * (int)json_array_size(moments) + 10;
	double most = 0;
	size_t i;
	json_array_foreach(moments, i, moment)
	{
		double sum = sum_of(moment);
		most = sum > most ? sum : most;
	}
	buf_printf(svg,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<text x=\"10\" y=\"20\" font-size=\"12\">",
		WIDTH, height);
	put_text(svg, side);
	buf_puts(svg, ": ");
	put_text(svg, value_text(memory, "cell"));
	buf_puts(svg, "</text>\n");
	put_legend(svg);
	json_array_foreach(moments, i, moment) put_bar(moment, TOP + ROW * (int)i, most, svg);
	buf_puts(svg, "</svg>\n");
}
