/** web/api/api.h - the REST API. */
#ifndef WEB_API_API_H
#define WEB_API_API_H

#include "db/db.h"
#include "web/http/http.h"

/* ---- api: REST v1 under /api/v1 (and /healthz, /metrics), one file for each resource. ---- */

http_handler_fn api_repos, api_branches, api_fetch, api_fetch_post;
http_handler_fn api_pulls, api_pull_approve;
http_handler_fn api_comparisons, api_comparison, api_comparison_csv, api_comparison_md, api_comparison_svg;
http_handler_fn api_badge, api_compare, api_compare_files, api_commit;
http_handler_fn api_commit_verdict, api_job_verdict;
http_handler_fn api_comparison_judge;
http_handler_fn api_report;
http_handler_fn api_comparison_ffa, api_comparison_reproduce;
http_handler_fn api_import_post;
http_handler_fn api_cells, api_history;
http_handler_fn api_jobs, api_job, api_job_log, api_job_post, api_job_cancel, api_job_retry;
http_handler_fn api_bisects, api_bisect, api_bisect_post, api_bisect_cancel;
http_handler_fn api_alerts, api_alert, api_alert_change;
http_handler_fn api_calibration, api_calibrate, api_calibration_forget;
http_handler_fn api_peers, api_peer_post;
http_handler_fn api_devices, api_device_change, api_workers;
http_handler_fn api_index, api_openapi, page_api, api_events, api_healthz, api_metrics, api_backup, api_samples,
	api_samples_month;
http_handler_fn api_notifications, api_redeliver, api_receiver_test;
http_handler_fn api_hook;
http_handler_fn api_audit;
http_handler_fn api_tokens, api_token_post, api_token_revoke;

/* ---- openapi: The API from the table of routes: a page, and the OpenAPI 3.1 document, with web/openapi/. ---- */

/**
 * The description of one route. Names are those of web/openapi/components.json. The document adds what follows from
 * the row: method, path, scope, a parameter for each path segment and each argument, and the refusals common to such routes.
 */
struct api_operation {
	const char *id, *tag, *summary;
	const char *answer;      /* schema of a JSON answer; NULL: no JSON */
	const char *types;       /* other media types of the answer, separated by spaces */
	const char *result;      /* describes the answer; NULL: "OK" */
	const char *description; /* details; NULL: none */
	const char *parameters;  /* headers, and "ARGUMENT=PARAMETER" where the names differ; separated by spaces */
	const char *body;        /* schema of the request's body; NULL: none */
	const char *example;     /* example of the body, JSON */
	const char *refusals;    /* further refusals, which do not follow from the row, separated by spaces */
	struct {
		int status; /* 0: none */
		const char *result;
	} other;    /* a second answer, of the same type */
	int status; /* of the answer; 0: 200 */
	bool is_body_optional;
	bool is_json_only; /* the body may not be a form */
	bool is_multipart; /* the body is a form with files, never JSON */
	bool has_location; /* the answer has the address of the new object */
};

/* ---- review: A comparison as a comment on a review. ---- */

/**
 * Append the comment as Markdown, fewer than 25 lines: verdict, the five worst cells, cause, certainty, link and next step.
 * `address`: of the pages, without a final slash; "": no link. Err: ERR_NOT_FOUND.
 */
int review_write(struct db *db, const char *address, int64_t comparison, struct buf *out, struct fw_err *err);

#endif
