/* profile.c - profiles: the list, the state of each, and users' requests. */
#include "web/page/internal.h"

/* ---- profile_json ---- */

/* Write the request and the state of a profile, as in lists, into an open object. */
static void profile_json_row(void *arg, const struct view_profile *row)
{
	jsonw_format(arg,
		"id=%lld job=%lld comparison?=%lld alert?=%lld state=%s state_why?=%s answer=%s sentence?=%s repo=%s base?=%s target=%s base_provider?=%s target_provider?=%s base_config?=%s target_config?=%s suite?=%s requested_cells?=%s device?=%s origin=%s queued_at=%lld{time} started_at=%lld{time} ended_at=%lld{time}",
		(long long)row->id, (long long)row->job, (long long)row->comparison, (long long)row->alert,
		jobstate_name(row->state), row->state_why, row->answer, row->sentence, row->repo, row->base, row->target,
		row->base_provider, row->target_provider, row->base_config, row->target_config, row->suite, row->cells_glob,
		row->device, row->origin, (long long)row->queued_at, (long long)row->started_at, (long long)row->ended_at);
}

static void diagnostic_row(void *arg, const struct profile_diagnostic *row)
{
	jsonw_format(arg, "{ change=%s kind=%s code?=%s kernel?=%s what=%s }", row->change, row->kind, row->code, row->kernel,
		row->what);
}

/* Write `"diagnostics": [...]`: ptxas diagnostics of one build that the other build does not have. */
static int profile_json_diagnostics(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err)
{
	jsonw_kv_array(j, "diagnostics");
	int result = view_profile_diagnostics(db, profile, diagnostic_row, j, err);
	jsonw_array_end(j);
	return result;
}

/* ---- cell ---------------------------------------------------------------------------------------------------------- */

struct cells {
	struct db *db;
	struct jsonw *j;
	struct fw_err *err;
	int64_t profile;
	int result;
};

static void cause_row(void *arg, const struct view_cause *row)
{
	jsonw_format(arg, "{ rank=%d cause=%s kernel?=%s explained_ms=%f of_ms=%f confidence=%s sentence=%s }", row->rank,
		row->code, row->kernel, row->explained_ms, row->of_ms, row->confidence, row->sentence);
}

static void write_side(struct jsonw *j, const char *key, const struct kernel_side *s)
{
	jsonw_key(j, key);
	if (!s->times) {
		jsonw_null(j);
		return;
	}
	jsonw_format(j, "{ ms=%f registers=%d local_bytes=%d shared_bytes=%d ctas_per_sm=%d }", s->ms, s->registers,
		s->local_bytes, s->shared_bytes, s->ctas_per_sm);
}

static int write_kernels(struct db *db, int64_t cell, struct jsonw *j, struct fw_err *err)
{
	struct kernels k;
	int result = kernels_read(db, cell, &k, err);
	jsonw_kv_array(j, "kernels");
	for (int i = 0; i < k.n && result == 0; i++) {
		int same = kernels_same_code(&k.row[i]);
		jsonw_object(j);
		jsonw_format(j, "phase=%s kernel=%s", k.row[i].phase, k.row[i].name);
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

/* Write a kernel of one process, with its counters. */
static void process_row(void *arg, const struct view_profile_kernel *row)
{
	struct cells *c = arg;
	struct jsonw *j = c->j;
	jsonw_object(j);
	jsonw_format(j, "side=%s repeat=%d n=%d phase=%s kernel=%s code_sha?=%s ms=%f", row->side, row->repeat, row->n,
		row->phase, row->kernel, row->code_sha, row->ms);
	write_numbers(j, "grid", row->grid);
	write_numbers(j, "block", row->block);
	jsonw_key(j, "values");
	jsonw_object(j);
	if (c->result == 0)
		c->result = view_profile_values(c->db, row->id, value_row, j, c->err);
	jsonw_object_end(j);
	jsonw_object_end(j);
}

static void code_row(void *arg, const struct view_profile_code *row)
{
	jsonw_format(arg,
		"{ base?=%s target?=%s what=%s opcodes=%s{json} base_takes=%s{json} target_takes=%s{json} base_stalls=%s{json} target_stalls=%s{json} hunks=%s }",
		row->base, row->target, row->what, row->opcodes_json, row->base_takes_json, row->target_takes_json,
		*row->base_stalls_json ? row->base_stalls_json : "null",
		*row->target_stalls_json ? row->target_stalls_json : "null", row->hunks);
}

static void write_with(struct jsonw *j, const struct view_profile_cell *row)
{
	jsonw_key(j, "counterfactual");
	if (!row->has_with) {
		jsonw_null(j);
		return;
	}
	jsonw_format(j, "{ config=%s base_ms=%f target_ms=%f with_ms=%f }", row->with_config, row->with_base_ms,
		row->with_target_ms, row->with_ms);
}

/* Write the answer of a cell. Cells exist once the job is done. */
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
	jsonw_format(j, "cell=%s state=%s why?=%s", row->key, row->state, row->why);
	if (write_answer(c, row->key) != 0)
		c->result = -1;
	jsonw_format(j,
		"path?=%s tool?=%s passes=%d stalls_why?=%s base_ms=%f target_ms=%f gpu_s=%f base_config?=%s target_config?=%s base_tried=%s{json} target_tried=%s{json}",
		row->path, row->tool, row->passes, row->stalls_why, row->base_ms, row->target_ms, row->gpu_s, row->base_config,
		row->target_config, row->base_tried_json, row->target_tried_json);
	write_with(j, row);
	jsonw_kv_array(j, "causes");
	c->result = view_profile_causes(c->db, row->id, cause_row, j, c->err);
	jsonw_array_end(j);
	if (c->result == 0)
		c->result = write_kernels(c->db, row->id, j, c->err);
	jsonw_kv_array(j, "code");
	if (c->result == 0)
		c->result = view_profile_codes(c->db, row->id, code_row, j, c->err);
	jsonw_array_end(j);
	jsonw_kv_array(j, "processes");
	if (c->result == 0 && view_profile_kernels(c->db, row->id, process_row, c, c->err) != 0)
		c->result = -1;
	jsonw_array_end(j);
	jsonw_object_end(j);
}

/* Write "cells": all results, one object per cell. */
static int profile_json_cells(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err)
{
	struct cells c = { .db = db, .j = j, .err = err, .profile = profile };
	jsonw_kv_array(j, "cells");
	int result = view_profile_cells(db, profile, cell_row, &c, err);
	jsonw_array_end(j);
	return result ? result : c.result;
}

/* ---- profile ---- */

/* ---- reading ------------------------------------------------------------------------------------------------------- */

static void list_row(void *arg, const struct view_profile *row)
{
	struct answer_list *list = arg;
	if (!answer_list_take(list, row->id, row->queued_at, row->repo))
		return;
	jsonw_object(&list->j);
	profile_json_row(&list->j, row);
	jsonw_object_end(&list->j);
}

/* Read a number that filters the list; 0: absent. */
static int64_t filter(struct http_request *r, const char *name, struct fw_err *err)
{
	const char *text = http_query(r, name);
	if (!text || !*text)
		return 0;
	int64_t id = answer_id(text, name);
	if (id > 0 && id <= INT32_MAX)
		return id;
	return err_set(err, ERR_INVALID, "%s must be a number", name);
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
		return answer_problem(r, response, 400, "alert and comparison exclude each other");
	if (answer_list_begin(site->db, r, response, &list, &f.before, err) != 0)
		return -1;
	do {
		f.limit = list.rows;
		result = view_profiles(site->db, &f, list_row, &list, err);
	} while (result == 0 && answer_list_more(&list, &f.before));
	return answer_list_end(r, response, &list, result);
}

int api_profile(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	enum answer_format format = answer_format_wanted(r);
	struct jsonw j;
	if (format != ANSWER_JSON)
		return (format == ANSWER_CSV ? api_profile_csv : api_profile_md)(site, r, response, err);
	int64_t id = answer_path_id(r, "profile", err);
	if (id < 0)
		return -1;
	answer_json(response, &j);
	jsonw_object(&j);
	int result = view_profile(site->db, id, profile_json_row, &j, err) || profile_json_diagnostics(site->db, id, &j, err) ||
				     configurations_json(site->db, id, &j, err) || profile_json_cells(site->db, id, &j, err)
			     ? -1
			     : 0;
	jsonw_object_end(&j);
	return result;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

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
	int result =
		is_unclear ? err_set(err, ERR_INVALID, "exactly one is required: alert, comparison, or repo with base and target")
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
