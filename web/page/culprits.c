/* culprits.c - documented in internal.h. */
#include "web/page/internal.h"

#include <math.h>

/* A few runs do not determine more digits than these. */
#define PROBABILITY_SHOWN 0.9999

void culprit_name(struct buf *out, const json_t *culprit)
{
	json_int_t commits = json_integer_value(json_object_get(culprit, "commits"));
	if (commits > 1)
		emit_format(
			out, "one of %lld commits after %s{commit} up to ", (long long)commits, comparison_text(culprit, "from"));
	emit_format(out, "%s{commit} %s", comparison_text(culprit, "to"), comparison_text(culprit, "subject"));
}

bool culprit_sure(struct buf *out, const json_t *culprit)
{
	double probability = comparison_number(culprit, "probability");
	bool is_unsure = json_is_false(json_object_get(culprit, "confirmed"));
	if (isfinite(probability))
		emit_rawf(out, "named with probability %s%.4f", probability > PROBABILITY_SHOWN ? "above " : "",
			fmin(probability, PROBABILITY_SHOWN));
	else if (is_unsure)
		emit_raw(out, "the measurements do not confirm a commit");
	return isfinite(probability) || is_unsure;
}

static void show_one(struct buf *out, const json_t *culprit)
{
	json_int_t comparison = json_integer_value(json_object_get(culprit, "comparison"));
	double change = comparison_number(culprit, "change_pct");
	struct buf sure;
	buf_init(&sure, 1 << 10);
	emit_raw(out, "<p><b>Culprit:</b> ");
	culprit_name(out, culprit);
	if (isfinite(change))
		emit_format(out, " %f{change}", change);
	if (culprit_sure(&sure, culprit))
		emit_format(out, "%-s%-s", isfinite(comparison_number(culprit, "probability")) ? ", " : ", but ", sure.data);
	size_t cells = json_array_size(json_object_get(culprit, "cells"));
	if (cells)
		emit_format(out, "; %lld cell%-s, the first is <code>%s</code>", (long long)cells, cells == 1 ? "" : "s",
			json_string_value(json_array_get(json_object_get(culprit, "cells"), 0)));
	if (comparison)
		emit_format(out, " %lld{comparison}", (long long)comparison);
	emit_raw(out, "</p>");
	out->failed |= sure.failed;
	buf_fini(&sure);
}

void culprits_show(struct buf *out, const char *culprits_json)
{
	size_t i;
	json_t *culprit, *culprits = json_loads(culprits_json, 0, NULL);
	json_array_foreach(culprits, i, culprit) show_one(out, culprit);
	json_decref(culprits);
}

bool culprits_single(const char *culprits_json, char sha[65], char subject[160])
{
	json_t *culprits = json_loads(culprits_json, 0, NULL);
	const json_t *culprit = json_array_get(culprits, 0);
	bool is_single = json_array_size(culprits) == 1 && json_integer_value(json_object_get(culprit, "commits")) == 1;
	if (is_single) {
		snprintf(sha, 65, "%s", comparison_text(culprit, "to"));
		snprintf(subject, 160, "%s", comparison_text(culprit, "subject"));
	}
	json_decref(culprits);
	return is_single;
}
