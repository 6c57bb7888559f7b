/* diagnostic.c - matching of kernel names. */
#include "profile/profile.h"

#define UNNAMED "(anonymous namespace)::"

struct plain {
	char text[CAUSE_NAME_SIZE * 2];
	size_t stem; /* length without template arguments */
};

/* "void (anonymous namespace)::f<128, (queries)1>(job)" becomes "f<128,1>". */
static void strip(const char *name, struct plain *out)
{
	size_t n = 0;
	int depth = 0;

	out->stem = 0;
	for (const char *at = name; *at && n < sizeof out->text - 1; at++) {
		if (strncmp(at, UNNAMED, sizeof UNNAMED - 1) == 0) {
			at += sizeof UNNAMED - 2;
		} else if (*at == '(') {
			if (depth == 0 || !strchr(at, ')'))
				break;
			at = strchr(at, ')');
		} else if (*at == ' ' && depth == 0) {
			n = 0;
		} else if (*at != ' ') {
			depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
			if (*at == '<' && depth == 1)
				out->stem = n;
			out->text[n++] = *at;
		}
	}
	out->text[n] = '\0';
	if (n == 0 || out->text[n - 1] != '>')
		out->stem = n;
}

bool diagnostic_names(const char *kernel, const char *logged)
{
	struct plain a, b;

	strip(kernel, &a);
	strip(logged, &b);
	if (b.stem > 0 && strcmp(b.text + b.stem, "<...>") == 0)
		return a.stem == b.stem && strncmp(a.text, b.text, a.stem) == 0;
	return b.text[0] && strcmp(a.text, b.text) == 0;
}

const struct cause_diagnostic *diagnostic_of(
	const struct cause_evidence *e, const struct kernel_pair *p, double sign, bool of_serial)
{
	const struct cause_kernel *k = pair_kernel(p, sign > 0);

	for (size_t i = 0; k && k->name && i < e->n_diagnostics; i++) {
		const struct cause_diagnostic *c = &e->diagnostic[i];

		if (c->is_worse == (sign > 0) && (of_serial ? c->is_serial : c->is_spill) && diagnostic_names(k->name, c->kernel))
			return c;
	}
	return NULL;
}
