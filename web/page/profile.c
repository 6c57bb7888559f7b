/* profile.c - profiles: the list, each one as it stands, and what a person may ask for. */
#include "web/page/internal.h"

#include <stdlib.h>

#include "db/db.h"
#include "web/answer/answer.h"

/* ---- profile_json ---- */

/* What was asked for and how it stands, as lists have it: keys of an object that is open. */
static void profile_json_row(struct jsonw *j, const struct view_profile *row)
{
	jsonw_kv_int(j, "id", row->id);
	jsonw_kv_int(j, "job", row->job);
	answer_id(j, "comparison", row->comparison);
	answer_id(j, "alert", row->alert);
	jsonw_kv_string(j, "state", jobstate_name(row->state));
	answer_text(j, "state_why", row->state_why);
	jsonw_kv_string(j, "answer", row->answer);
	answer_text(j, "sentence", row->sentence);
	jsonw_kv_string(j, "repo", row->repo);
	answer_text(j, "base", row->base);
	jsonw_kv_string(j, "target", row->target);
	answer_text(j, "base_provider", row->base_provider);
	answer_text(j, "target_provider", row->target_provider);
	answer_text(j, "base_config", row->base_config);
	answer_text(j, "target_config", row->target_config);
	answer_text(j, "suite", row->suite);
	answer_text(j, "requested_cells", row->cells_glob);
	answer_text(j, "device", row->device);
	jsonw_kv_string(j, "origin", row->origin);
	answer_time(j, "queued_at", row->queued_at);
	answer_time(j, "started_at", row->started_at);
	answer_time(j, "ended_at", row->ended_at);
}

static void diagnostic_row(void *arg, const struct profile_diagnostic *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_string(j, "change", row->change);
	jsonw_kv_string(j, "kind", row->kind);
	answer_text(j, "code", row->code);
	answer_text(j, "kernel", row->kernel);
	jsonw_kv_string(j, "what", row->what);
	jsonw_object_end(j);
}

/* `"diagnostics": [...]`: what ptxas says of one build and not of the other. */
static int profile_json_diagnostics(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err)
{
	jsonw_key(j, "diagnostics");
	jsonw_array(j);
	int result = view_profile_diagnostics(db, profile, diagnostic_row, j, err);
	jsonw_array_end(j);
	return result;
}

/* ---- one cell ------------------------------------------------------------------------------------------------------------ */

struct cells {
	struct db *db;
	struct jsonw *j;
	struct fw_err *err;
	int64_t profile;
	int result;
};

static void cause_row(void *arg, const struct view_cause *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	jsonw_kv_int(j, "rank", row->rank);
	jsonw_kv_string(j, "cause", row->code);
	answer_text(j, "kernel", row->kernel);
	jsonw_kv_double(j, "explained_ms", row->explained_ms);
	jsonw_kv_double(j, "of_ms", row->of_ms);
	jsonw_kv_string(j, "confidence", row->confidence);
	jsonw_kv_string(j, "sentence", row->sentence);
	jsonw_object_end(j);
}

static void write_side(struct jsonw *j, const char *key, const struct kernel_side *s)
{
	jsonw_key(j, key);
	if (!s->times) {
		jsonw_null(j);
		return;
	}
	jsonw_object(j);
	jsonw_kv_double(j, "ms", s->ms);
	jsonw_kv_int(j, "registers", s->registers);
	jsonw_kv_int(j, "local_bytes", s->local_bytes);
	jsonw_kv_int(j, "shared_bytes", s->shared_bytes);
	jsonw_kv_int(j, "ctas_per_sm", s->ctas_per_sm);
	jsonw_object_end(j);
}

static int write_kernels(struct db *db, int64_t cell, struct jsonw *j, struct fw_err *err)
{
	struct kernels k;
	int result = kernels_read(db, cell, &k, err);
	jsonw_key(j, "kernels");
	jsonw_array(j);
	for (int i = 0; i < k.n && result == 0; i++) {
		int same = kernels_same_code(&k.row[i]);
		jsonw_object(j);
		jsonw_kv_string(j, "phase", k.row[i].phase);
		jsonw_kv_string(j, "kernel", k.row[i].name);
		write_side(j, "base", &k.row[i].side[KERNELS_BASE]);
		write_side(j, "target", &k.row[i].side[KERNELS_TARGET]);
		jsonw_key(j, "same_code");
		if (same < 0)
			jsonw_null(j);
		else
			jsonw_bool(j, same != 0);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	kernels_free(&k);
	return result;
}

static void value_row(void *arg, const char *metric, double value)
{
	jsonw_kv_double(arg, metric, value);
}

static void write_numbers(struct jsonw *j, const char *key, const char *text)
{
	jsonw_key(j, key);
	jsonw_array(j);
	for (char *end; *text; text = end) {
		long n = strtol(text, &end, 10);
		if (end == text)
			break;
		jsonw_int(j, n);
	}
	jsonw_array_end(j);
}

/* As one process ran it, with its counters. */
static void process_row(void *arg, const struct view_profile_kernel *row)
{
	struct cells *c = arg;
	struct jsonw *j = c->j;
	jsonw_object(j);
	jsonw_kv_string(j, "side", row->side);
	jsonw_kv_int(j, "repeat", row->repeat);
	jsonw_kv_int(j, "n", row->n);
	jsonw_kv_string(j, "phase", row->phase);
	jsonw_kv_string(j, "kernel", row->kernel);
	answer_text(j, "code_sha", row->code_sha);
	jsonw_kv_double(j, "ms", row->ms);
	write_numbers(j, "grid", row->grid);
	write_numbers(j, "block", row->block);
	jsonw_key(j, "values");
	jsonw_object(j);
	if (c->result == 0)
		c->result = view_profile_values(c->db, row->id, value_row, j, c->err);
	jsonw_object_end(j);
	jsonw_object_end(j);
}

static void write_raw(struct jsonw *j, const char *key, const char *json)
{
	jsonw_key(j, key);
	jsonw_raw(j, json, strlen(json));
}

static void code_row(void *arg, const struct view_profile_code *row)
{
	struct jsonw *j = arg;
	jsonw_object(j);
	answer_text(j, "base", row->base);
	answer_text(j, "target", row->target);
	jsonw_kv_string(j, "what", row->what);
	write_raw(j, "opcodes", row->opcodes_json);
	write_raw(j, "base_takes", row->base_takes_json);
	write_raw(j, "target_takes", row->target_takes_json);
	write_raw(j, "base_stalls", *row->base_stalls_json ? row->base_stalls_json : "null");
	write_raw(j, "target_stalls", *row->target_stalls_json ? row->target_stalls_json : "null");
	jsonw_kv_string(j, "hunks", row->hunks);
	jsonw_object_end(j);
}

static void write_with(struct jsonw *j, const struct view_profile_cell *row)
{
	jsonw_key(j, "counterfactual");
	if (!row->has_with) {
		jsonw_null(j);
		return;
	}
	jsonw_object(j);
	jsonw_kv_string(j, "config", row->with_config);
	jsonw_kv_double(j, "base_ms", row->with_base_ms);
	jsonw_kv_double(j, "target_ms", row->with_target_ms);
	jsonw_kv_double(j, "with_ms", row->with_ms);
	jsonw_object_end(j);
}

/* Cells are there once the job is done. */
static int write_answer(struct cells *c, const char *key)
{
	struct profile_answer answer;
	int result = profile_answer(c->db, c->profile, JOBSTATE_DONE, "", key, &answer, c->err);
	jsonw_kv_string(c->j, "answer", answer.text);
	return result;
}

static void cell_row(void *arg, const struct view_profile_cell *row)
{
	struct cells *c = arg;
	struct jsonw *j = c->j;
	if (c->result != 0)
		return;
	jsonw_object(j);
	jsonw_kv_string(j, "cell", row->key);
	jsonw_kv_string(j, "state", row->state);
	answer_text(j, "why", row->why);
	if (write_answer(c, row->key) != 0)
		c->result = -1;
	answer_text(j, "path", row->path);
	answer_text(j, "tool", row->tool);
	jsonw_kv_int(j, "passes", row->passes);
	answer_text(j, "stalls_why", row->stalls_why);
	jsonw_kv_double(j, "base_ms", row->base_ms);
	jsonw_kv_double(j, "target_ms", row->target_ms);
	jsonw_kv_double(j, "gpu_s", row->gpu_s);
	answer_text(j, "base_config", row->base_config);
	answer_text(j, "target_config", row->target_config);
	write_raw(j, "base_tried", row->base_tried_json);
	write_raw(j, "target_tried", row->target_tried_json);
	write_with(j, row);
	jsonw_key(j, "causes");
	jsonw_array(j);
	c->result = view_profile_causes(c->db, row->id, cause_row, j, c->err);
	jsonw_array_end(j);
	if (c->result == 0)
		c->result = write_kernels(c->db, row->id, j, c->err);
	jsonw_key(j, "code");
	jsonw_array(j);
	if (c->result == 0)
		c->result = view_profile_codes(c->db, row->id, code_row, j, c->err);
	jsonw_array_end(j);
	jsonw_key(j, "processes");
	jsonw_array(j);
	if (c->result == 0 && view_profile_kernels(c->db, row->id, process_row, c, c->err) != 0)
		c->result = -1;
	jsonw_array_end(j);
	jsonw_object_end(j);
}

/* "cells": all that came of it, one object a cell. */
static int profile_json_cells(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err)
{
	struct cells c = { .db = db, .j = j, .err = err, .profile = profile };
	jsonw_key(j, "cells");
	jsonw_array(j);
	int result = view_profile_cells(db, profile, cell_row, &c, err);
	jsonw_array_end(j);
	return result ? result : c.result;
}

/* ---- profile ---- */

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static void list_row(void *arg, const struct view_profile *row)
{
	struct answer_list *list = arg;
	if (!answer_list_take(list, row->id, row->queued_at, row->repo))
		return;
	jsonw_object(&list->j);
	profile_json_row(&list->j, row);
	jsonw_object_end(&list->j);
}

/* A number that narrows the list; 0 where it is not given. */
static int64_t filter(struct http_request *r, const char *name, struct fw_err *err)
{
	const char *text = http_query(r, name);
	if (!text || !*text)
		return 0;
	int64_t id = answer_number(text);
	if (id > 0 && id <= INT32_MAX)
		return id;
	return err_set(err, ERR_INVALID, "%s is the number of one", name);
}

int api_profiles(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct answer_list list;
	struct view_profile_filter f = { .alert = filter(r, "alert", err) };
	int result;
	if (f.alert < 0)
		return -1;
	f.comparison = filter(r, "comparison", err);
	if (f.comparison < 0)
		return -1;
	if (f.alert && f.comparison)
		return answer_problem(r, response, 400, "alert or comparison, not both");
	if (answer_list_begin(site->db, r, response, &list, &f.before, err) != 0)
		return -1;
	do {
		f.limit = list.rows;
		result = view_profiles(site->db, &f, list_row, &list, err);
	} while (result == 0 && answer_list_more(&list, &f.before));
	return answer_list_end(r, response, &list, result);
}

static void one_row(void *arg, const struct view_profile *row)
{
	profile_json_row(arg, row);
}

int api_profile(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	enum answer_form form = answer_form_wanted(r);
	struct jsonw j;
	if (form != ANSWER_JSON)
		return (form == ANSWER_CSV ? api_profile_csv : api_profile_md)(site, r, response, err);
	int64_t id = answer_path_id(r, "profile", err);
	if (id < 0)
		return -1;
	answer_json(response, &j);
	jsonw_object(&j);
	int result = view_profile(site->db, id, one_row, &j, err);
	if (result == 0)
		result = profile_json_diagnostics(site->db, id, &j, err);
	if (result == 0)
		result = configurations_json(site->db, id, &j, err);
	if (result == 0)
		result = profile_json_cells(site->db, id, &j, err);
	jsonw_object_end(&j);
	return result;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static int profile_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct job_request request = { 0 };
	int64_t id;
	json_t *root = write_take_request(r, response, WRITE_SIDES " every_cell alert comparison", NULL, &request);
	if (!root)
		return -1;
	bool is_of = request.alert || request.comparison, has_sides = request.repo && request.base && request.target;
	bool is_unclear = (request.alert && request.comparison) || (is_of && (request.repo || request.base || request.target)) ||
			  (!is_of && !has_sides);
	int result = is_unclear ? err_set(err, ERR_INVALID, "an alert, or a comparison, or repo, base and target are needed")
				: site->act->profile(site->control, &request, &id, err);
	if (result == 0 && !write_back_to(r, response, "/jobs"))
		answer_new(response, "profiles", id, jobstate_name(JOBSTATE_QUEUED));
	json_decref(root);
	return result;
}

int api_profile_post(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return idempotent_run(site, r, response, profile_post, err);
}
