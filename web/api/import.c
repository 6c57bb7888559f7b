/*
 * import.c - results of other benchmarks: POST /api/v1/imports
 * {"repo","commit","base","branch","name","rows":[{"cell","ms","failure","base_ms","tflops","base_tflops"}]}.
 * Equal results are stored as one comparison: 201 the first time, 200 after that.
 */

#include "web/api/internal.h"

#include "readers/readers.h"

enum { TEXT_MAX = 1023, BODY_BYTES_MAX = 1 << 20, FAILURE_MAX = 400 };

static const char *const figures_keys[] = { "repo", "commit", "base", "branch", "name", "rows", NULL };
static const char *const row_keys[] = { "cell", "ms", "failure", "base_ms", "tflops", "base_tflops", NULL };

/* Return the first key that is not in `known`; NULL: none. A mistyped "branch" must not store results without a branch. */
static const char *unknown_key(json_t *object, const char *const *known)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value)
	{
		const char *const *word = known;
		while (*word && strcmp(*word, key) != 0)
			word++;
		if (!*word)
			return key;
	}
	return NULL;
}

/* Return a number of a row, 0 if absent; set *wrong if it is not a number from 0 to 1e9. */
static double number(const json_t *row, const char *key, const char **wrong)
{
	const json_t *v = json_object_get(row, key);
	if (!v || json_is_null(v))
		return 0;
	double x = json_is_number(v) ? json_number_value(v) : -1;
	if (!(x >= 0 && x <= 1e9))
		*wrong = key;
	return x;
}

/* Read all rows. Shape: out[n]. Err: describes the first invalid row. */
static int read_rows(const json_t *rows, struct foreign_row *out, struct fw_err *err)
{
	size_t i;
	json_t *row;
	json_array_foreach(rows, i, row)
	{
		const char *wrong = NULL;
		out[i] = (struct foreign_row){ .cell = write_text(row, "cell", CASE_KEY_SIZE - 1, &wrong),
			.failure = write_text(row, "failure", FAILURE_MAX, &wrong),
			.target_ms = number(row, "ms", &wrong),
			.base_ms = number(row, "base_ms", &wrong),
			.target_tflops = number(row, "tflops", &wrong),
			.base_tflops = number(row, "base_tflops", &wrong) };
		if (!wrong)
			wrong = unknown_key(row, row_keys);
		if (!wrong && (!out[i].cell || !out[i].cell[0]))
			wrong = "cell";
		if (!wrong && !write_is_readable(out[i].cell, ""))
			wrong = "cell (it contains an invisible character)";
		if (!wrong && !write_is_readable(out[i].failure, ""))
			wrong = "failure (it contains an invisible character)";
		if (!wrong && !out[i].failure && out[i].target_ms == 0 && out[i].base_ms == 0)
			wrong = "ms";
		if (!wrong && out[i].failure && (!out[i].failure[0] || out[i].target_ms > 0))
			wrong = "failure (a row that failed has no ms)";
		for (size_t k = 0; k < i && !wrong; k++)
			if (strcmp(out[k].cell, out[i].cell) == 0)
				wrong = "cell (it appears twice)";
		if (wrong)
			return err_set(err, ERR_INVALID,
				"rows[%zu].%.60s: a row is {\"cell\":text,\"ms\":number}, or \"failure\":text instead of ms, "
				"with base_ms, tflops and base_tflops if known",
				i, wrong);
	}
	return 0;
}

static int store(struct site *site, struct http_response *response, const struct foreign_results *results, struct fw_err *err)
{
	int64_t id;
	bool is_new;
	if (site->act->import(site->control, results, &id, &is_new, err) != 0)
		return -1;
	answer_with(response, "comparison=%lld new=%i", (long long)id, is_new);
	response->status = is_new ? 201 : 200;
	snprintf(response->location, sizeof response->location, "/api/v1/comparisons/%lld", (long long)id);
	return 0;
}

static int import_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	size_t len;
	const char *body = http_body(r, &len), *wrong = NULL;
	if (!write_is_json(r, response))
		return -1;
	if (answer_is_form(r))
		return answer_problem(
			r, response, 415, "a form cannot contain rows; send JSON, with Content-Type: application/json");
	json_t *root = len <= BODY_BYTES_MAX ? json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const json_t *rows = json_object_get(root, "rows");
	struct foreign_results results = { .repo = write_text(root, "repo", TEXT_MAX, &wrong),
		.branch = write_text(root, "branch", TEXT_MAX, &wrong),
		.commit = write_text(root, "commit", 64, &wrong),
		.base = write_text(root, "base", 64, &wrong),
		.name = write_text(root, "name", 63, &wrong),
		.n = (int)json_array_size(rows) };
	struct foreign_row *row = mem_alloc_zero((size_t)results.n + 1, sizeof *row);
	const char *unknown = unknown_key(root, figures_keys);
	int result;
	results.row = row;
	if (!json_is_object(root))
		result = err_set(err, ERR_INVALID, "the body must be a JSON object of at most 1 MiB");
	else if (unknown)
		result =
			err_set(err, ERR_INVALID, "key %.60s is unknown; known: repo, commit, base, branch, name, rows", unknown);
	else if (wrong || !results.repo || !results.commit || !results.name)
		result = err_set(
			err, ERR_INVALID, "repo, commit and name are required, branch and base optional; all are strings");
	else if (results.n < 1 || results.n > JOB_CELLS_MAX)
		result = err_set(err, ERR_INVALID, "rows must have 1 to 400 elements");
	else if (read_rows(rows, row, err) != 0)
		result = -1;
	else
		result = store(site, response, &results, err);
	free(row);
	json_decref(root);
	return result;
}

int api_import_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return idempotent_run(site, r, response, import_post, err);
}
