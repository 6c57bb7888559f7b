/* import.c - import of another benchmark's output as a comparison of kind import. */
#include <math.h>

#include "cli/internal.h"
#include "lib/lib.h"

static void write_row(struct jsonw *j, const struct reading_row *target, const struct reading_row *base)
{
	jsonw_object(j);
	jsonw_kv_string(j, "cell", target ? target->key : base->key);
	if (target && target->failure[0])
		jsonw_kv_string(j, "failure", target->failure);
	else if (target)
		jsonw_kv_double(j, "ms", target->median_ms);
	if (target && !isnan(target->tflops))
		jsonw_kv_double(j, "tflops", target->tflops);
	if (base && base->n > 0)
		jsonw_kv_double(j, "base_ms", base->median_ms);
	if (base && !isnan(base->tflops))
		jsonw_kv_double(j, "base_tflops", base->tflops);
	jsonw_object_end(j);
}

/* base` may be an empty string. */
static void import_body(struct buf *out, const struct options *o, const struct reading *target, const struct reading *base)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", o->repo);
	jsonw_kv_string(&j, "commit", o->commit);
	if (o->branch)
		jsonw_kv_string(&j, "branch", o->branch);
	if (o->base)
		jsonw_kv_string(&j, "base", o->base);
	jsonw_kv_string(&j, "name", o->suite ? o->suite : target->format);
	jsonw_kv_array(&j, "rows");
	for (int i = 0; i < target->n_rows; i++)
		write_row(&j, &target->row[i], files_counterpart(target, &target->row[i], base));
	for (int i = 0; i < base->n_rows; i++)
		if (!files_counterpart(base, &base->row[i], target) && base->row[i].n > 0)
			write_row(&j, NULL, &base->row[i]);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
}

/* The files: reading[0] is the base, which may be missing. */
static int read_files(const struct options *o, struct reading reading[2], struct buf *warnings, struct fw_err *err)
{
	int unpaired;
	memset(reading, 0, 2 * sizeof *reading);
	return o->n_arg == 2
		       ? files_read_pair((const char *const[]){ o->arg[1], o->arg[0] }, o, reading, warnings, &unpaired, err)
		       : files_read(o->arg[0], o, &reading[1], err);
}

int verb_import(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct reading reading[2], *base = &reading[0], *target = &reading[1];
	json_t *answer = NULL;
	struct buf body, warnings;
	FILE *aloud = o->json ? stderr : stdout; /* stderr, so that a JSON answer on stdout stays valid */
	if (!o->repo || !o->commit)
		return verb_usage("flopwatch: name the measured commit: --repo NAME --commit SHA");
	buf_init(&warnings, 16 << 20);
	if (read_files(o, reading, &warnings, &err) != 0) {
		buf_fini(&warnings);
		return verb_fail_here(&err);
	}
	buf_init(&body, 8 << 20);
	import_body(&body, o, target, base);
	int result = client_post(c, "/api/v1/imports", body.data, &answer, &err);
	buf_fini(&body);
	if (result == 0)
		files_print_warnings(&warnings, aloud);
	if (result == 0 && o->n_arg == 2)
		files_warn_of_both(reading, (const char *const[]){ o->arg[1], o->arg[0] }, aloud);
	else if (result == 0)
		files_warn_of_timeless(target, o->arg[0], aloud);
	if (result == 0)
		json_object_set_new(answer, "left_out", json_integer(target->n_left + base->n_left));
	if (result == 0 && o->json)
		verb_print_json(answer);
	else if (result == 0)
		printf("%d rows %s as C%lld\n", target->n_rows,
			json_is_true(json_object_get(answer, "new")) ? "stored" : "were stored before",
			value_integer(answer, "comparison"));
	reading_fini(target);
	reading_fini(base);
	buf_fini(&warnings);
	json_decref(answer);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}
