#include "web/web.h"

#include <stdio.h>

#include "web/answer/answer.h"
#include "web/api/api.h"
#include "web/page/page.h"

/* A row with its description for /api/v1/openapi.json. */
#define API(method, path, handler, scope, query, name, ...)                                                                      \
	{                                                                                                                        \
		method, path, handler, scope, query, &(const struct api_operation)                                               \
		{                                                                                                                \
			.id = name, __VA_ARGS__                                                                                  \
		}                                                                                                                \
	}

/* A page that is read from the cache until something that it shows changes. */
#define CACHED(page)                                                                                                             \
	static int cached_##page(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)  \
	{                                                                                                                        \
		return page_get(site, r, response, page, err);                                                                   \
	}

/* clang-format off */
CACHED(page_overview)
CACHED(page_branches)
CACHED(page_repo)
CACHED(page_comparisons)
CACHED(page_compare)
CACHED(page_history)
CACHED(page_jobs)
CACHED(page_job)
CACHED(page_alerts)
CACHED(page_alert)
CACHED(page_bisects)
CACHED(page_bisect)
CACHED(page_devices)
CACHED(page_peers)
CACHED(page_heat)
CACHED(page_commit)
CACHED(page_help)
CACHED(page_glossary)
CACHED(page_reference)
CACHED(page_reference_entry)
CACHED(page_troubleshooting)
CACHED(page_api)
CACHED(page_notifications)
CACHED(feed_alerts)
CACHED(feed_comparisons)
CACHED(page_search)

static const struct http_route routes[] = {
	{ "GET", "/", cached_page_overview, HTTP_READ, NULL, NULL },
	{ "GET", "/branches", cached_page_branches, HTTP_READ, NULL, NULL },
	{ "GET", "/repos/{repo}", cached_page_repo, HTTP_READ, NULL, NULL },
	{ "GET", "/comparisons", cached_page_comparisons, HTTP_READ, NULL, NULL },
	{ "GET", "/comparisons/{id}", page_comparison, HTTP_READ, NULL, NULL },
	{ "GET", "/compare", cached_page_compare, HTTP_READ, NULL, NULL },
	{ "POST", "/compare", page_compare_files, HTTP_READ, "", NULL },
	{ "GET", "/history", cached_page_history, HTTP_READ, NULL, NULL },
	{ "GET", "/jobs", cached_page_jobs, HTTP_READ, NULL, NULL },
	{ "GET", "/jobs/{id}", cached_page_job, HTTP_READ, NULL, NULL },
	{ "GET", "/alerts", cached_page_alerts, HTTP_READ, NULL, NULL },
	{ "GET", "/alerts/{id}", cached_page_alert, HTTP_READ, NULL, NULL },
	{ "GET", "/bisects", cached_page_bisects, HTTP_READ, NULL, NULL },
	{ "GET", "/bisects/{id}", cached_page_bisect, HTTP_READ, NULL, NULL },
	{ "GET", "/devices", cached_page_devices, HTTP_READ, NULL, NULL },
	{ "GET", "/peers", cached_page_peers, HTTP_READ, NULL, NULL },
	{ "GET", "/heat", cached_page_heat, HTTP_READ, NULL, NULL },
	{ "GET", "/commits/{sha}", cached_page_commit, HTTP_READ, NULL, NULL },
	{ "GET", "/help", cached_page_help, HTTP_READ, NULL, NULL },
	{ "GET", "/glossary", cached_page_glossary, HTTP_READ, NULL, NULL },
	{ "GET", "/reference", cached_page_reference, HTTP_READ, NULL, NULL },
	{ "GET", "/reference/{page}", cached_page_reference_entry, HTTP_READ, NULL, NULL },
	{ "GET", "/troubleshooting", cached_page_troubleshooting, HTTP_READ, NULL, NULL },
	{ "GET", "/api", cached_page_api, HTTP_READ, NULL, NULL },
	{ "GET", "/notifications", cached_page_notifications, HTTP_READ, NULL, NULL },
	{ "GET", "/settings", page_settings, HTTP_ADMIN, NULL, NULL },
	{ "GET", "/alerts.atom", cached_feed_alerts, HTTP_READ, NULL, NULL },
	{ "GET", "/comparisons.atom", cached_feed_comparisons, HTTP_READ, NULL, NULL },
	{ "GET", "/search", cached_page_search, HTTP_READ, NULL, NULL },
	{ "GET", "/static/{file}", page_static, HTTP_OPEN, NULL, NULL },
	{ "GET", "/login", page_login, HTTP_OPEN, NULL, NULL },
	{ "POST", "/login", page_login_post, HTTP_OPEN, NULL, NULL },
	{ "GET", "/login/oidc", page_login_oidc, HTTP_OPEN, NULL, NULL },
	{ "GET", "/login/oidc/callback", page_login_callback, HTTP_OPEN, NULL, NULL },
	{ "GET", "/login/oidc/logged-out", page_logged_out, HTTP_OPEN, NULL, NULL },
	{ "POST", "/logout", page_logout, HTTP_OPEN, NULL, NULL },

	API("GET", "/api/v1", api_index, HTTP_READ, "", "index", "daemon", "Index of all addresses", "index"),
	{ "GET", "/api/v1/", api_index, HTTP_READ, "", NULL },
	API("GET", "/api/v1/openapi.json", api_openapi, HTTP_READ, "",
		"openapi", "daemon", "This document", "openapi", .result = "OpenAPI 3.1"),
	API("GET", "/api/v1/repos", api_repos, HTTP_READ, "", "repos", "repositories", "Watched repositories", "repo_list"),
	API("GET", "/api/v1/branches", api_branches, HTTP_READ, "repo branch watched strict limit cursor",
		"branches", "repositories", "Branches with tip, verdict and job, by repository and name", "branch_list"),
	API("GET", "/api/v1/commits/{sha}", api_commit, HTTP_READ, "",
		"commit", "repositories", "Commits with this prefix, and their comparisons", "commit_answer"),
	API("GET", "/api/v1/commits/{sha}/verdict", api_commit_verdict, HTTP_READ, "repo branch strict waits",
		"commit_verdict", "repositories", "Verdict of a commit: the worst over all its suites and benchmarks", "commit_verdict",
		.parameters = "sha=one_sha", .refusals = "ambiguous",
		.description = "Also for a commit that was just pushed. With `branch`, from the measurements of that branch."),
	API("GET", "/api/v1/comparisons", api_comparisons, HTTP_READ, "repo branch verdict since until limit cursor",
		"comparisons", "comparisons", "Finished comparisons", "comparison_list"),
	API("GET", "/api/v1/comparisons/{id}.csv", api_comparison_csv, HTTP_READ, "",
		"comparison_csv", "comparisons", "The cells of a comparison as a table", NULL, .types = "text/csv",
		.result = "RFC 4180, with a header row."),
	API("GET", "/api/v1/comparisons/{id}.md", api_comparison_md, HTTP_READ, "",
		"comparison_md", "comparisons", "A comparison as a comment for a review", NULL, .types = "text/markdown",
		.result = "Verdict first, then a table; unchanged cells are folded."),
	API("GET", "/api/v1/comparisons/{id}.svg", api_comparison_svg, HTTP_READ, "",
		"comparison_svg", "comparisons", "A comparison as a picture for a README", NULL, .types = "image/svg+xml",
		.result = "Each cell's change with its interval, with fixed colors."),
	API("GET", "/api/v1/comparisons/{id}/reproduce", api_comparison_reproduce, HTTP_READ, "cell",
		"comparison_reproduce", "comparisons", "Commands that rerun one cell", "reproduce",
		.parameters = "cell=optional_cell"),
	API("GET", "/api/v1/comparisons/{id}/ffa/{file}.csv", api_comparison_ffa, HTTP_READ, "",
		"comparison_ffa", "comparisons", "Cells in the columns of MagiAttention's profile_ffa", NULL,
		.types = "text/csv",
		.result = "`file` is profile_dense_SIDE, profile_block_sparse_SIDE, compare_BASE_TARGET_dense or compare_BASE_TARGET_block_sparse, with names of sides, or base and target. Missing values are -1; changes of an identical comparison are `identical`. Latency is that of the deciding series; the target's is computed from the base's and the judged change. 404: the comparison has no times of this kind of attention."),
	API("GET", "/api/v1/badge.svg", api_badge, HTTP_READ, "repo branch",
		"badge", "comparisons", "Verdict of a branch for a README: the worst over its suites", NULL,
		.types = "image/svg+xml", .result = "A badge.", .parameters = "repo=required_repo branch=badge_branch"),
	API("GET", "/api/v1/comparisons/{id}", api_comparison, HTTP_READ, "v",
		"comparison", "comparisons", "One comparison with every cell", "comparison", .types = "text/csv text/markdown",
		.parameters = "v=version"),
	API("GET", "/api/v1/compare", api_compare, HTTP_READ, "repo base target suite",
		"compare", "comparisons", "The newest comparison of two commits or tips of branches: the worst over its suites", "comparison",
		.description = "A comparison of all cells of a suite precedes a newer one that was quick, requested only some cells, a provider or a toolchain, or belongs to a bisect, the history or a test of a suspected change; these are answered only for a pair without another.",
		.parameters = "repo=required_repo"),
	API("POST", "/api/v1/compare", api_compare_files, HTTP_READ, "",
		"compare_files", "comparisons", "Two files of results side by side, without a verdict", "file_comparison",
		.body = "file_pair", .is_multipart = true, .refusals = "unreadable not_now",
		.description = "As `flopwatch compare FILE FILE --json`. A file has at most 16 MiB. Scope read suffices: nothing is stored. A child process reads the files; it has no network, and limits of memory and time. A token has one comparison at a time."),
	API("GET", "/api/v1/report", api_report, HTTP_READ, "repo branch verdict since until limit cursor format",
		"report", "comparisons", "Changes by commit, with their cells", "report", .types = "text/csv text/markdown",
		.description = "Comparisons of commits and imported results, newest first, without those of bisects, calibrations and peers. Each has the cells with the requested verdict; without one, all that are neither unchanged nor identical. A page also ends when its comparisons have 10000 cells. CSV has one row per cell, Markdown a table; the Link header has the address of their next page."),
	API("GET", "/api/v1/cells", api_cells, HTTP_READ, "repo",
		"cells", "history", "Cells of a repository's newest comparisons with each suite, or with each shard of a suite", "cell_list"),
	API("GET", "/api/v1/history", api_history, HTTP_READ, "cell repo branch device metric since until limit",
		"history", "history", "History of a cell", "history", .parameters = "limit=history_limit"),
	API("GET", "/api/v1/history.svg", page_history_svg, HTTP_READ, "cell repo branch device metric axis",
		"history_svg", "history", "History of a cell as a picture for a README", NULL, .types = "image/svg+xml",
		.result = "The newest 200 points, with fixed colors."),
	API("GET", "/api/v1/alerts", api_alerts, HTTP_READ, "state repo since until limit cursor",
		"alerts", "alerts", "Alerts with every change of their state", "alert_list",
		.parameters = "state=alert_state"),
	API("GET", "/api/v1/alerts/{id}", api_alert, HTTP_READ, "",
		"alert", "alerts", "One alert with every change of its state", "alert"),
	API("GET", "/api/v1/bisects", api_bisects, HTTP_READ, "repo since until limit cursor",
		"bisects", "bisects", "Bisects", "bisect_list"),
	API("GET", "/api/v1/bisects/{id}", api_bisect, HTTP_READ, "", "bisect", "bisects", "One bisect", "bisect"),
	API("GET", "/api/v1/profiles", api_profiles, HTTP_READ, "alert comparison repo limit cursor",
		"profiles", "profiles", "Profiles with their states", "profile_list"),
	API("GET", "/api/v1/profiles/{id}.csv", api_profile_csv, HTTP_READ, "",
		"profile_csv", "profiles", "Every number of a profile as a table: cell, side, process, kernel, metric, value", NULL,
		.types = "text/csv", .result = "RFC 4180, with a header row."),
	API("GET", "/api/v1/profiles/{id}.md", api_profile_md, HTTP_READ, "",
		"profile_md", "profiles", "A profile as a comment for a review", NULL, .types = "text/markdown",
		.result = "A summary first, then causes and kernels of each cell; machine code is folded."),
	API("GET", "/api/v1/profiles/{id}/configurations.csv", api_profile_configurations_csv, HTTP_READ, "",
		"profile_configurations_csv", "profiles", "Configurations of a profile as a table", NULL, .types = "text/csv",
		.result = "One row for each side of a cell: configuration, ms, TFLOP/s, counters, speedup."),
	API("GET", "/api/v1/profiles/{id}/configurations.md", api_profile_configurations_md, HTTP_READ, "",
		"profile_configurations_md", "profiles", "Configurations of a profile as a comment for a review", NULL,
		.types = "text/markdown", .result = "The same rows, and TFLOP/s of the longest over the shortest of each mask."),
	API("GET", "/api/v1/profiles/{id}", api_profile, HTTP_READ, "",
		"profile", "profiles", "A profile: causes, kernels of both sides, counters, machine code", "profile",
		.types = "text/csv text/markdown"),
	API("GET", "/api/v1/jobs", api_jobs, HTTP_READ, "state repo since until limit cursor",
		"jobs", "jobs", "Queued and past jobs", "job_list", .parameters = "state=job_state"),
	API("GET", "/api/v1/jobs/{id}", api_job, HTTP_READ, "", "job", "jobs", "One job", "job"),
	API("GET", "/api/v1/jobs/{id}/log", api_job_log, HTTP_READ, "",
		"job_log", "jobs", "Log of a job, with its build logs", NULL, .types = "text/plain",
		.result = "The printed bytes."),
	API("GET", "/api/v1/jobs/{id}/verdict", api_job_verdict, HTTP_READ, "strict",
		"job_verdict", "jobs", "Verdict of a job's request: the worst over all its suites", "commit_verdict",
		.description = "For the first job of a request with several jobs, the verdict of all of them; for another job, only that of the job."),
	API("GET", "/api/v1/devices", api_devices, HTTP_READ, "", "devices", "devices", "Devices", "device_list"),
	API("GET", "/api/v1/workers", api_workers, HTTP_READ, "",
		"workers", "devices", "Workers of the daemon, with their failures", "worker_list"),
	API("GET", "/api/v1/calibration", api_calibration, HTTP_READ, "repo device",
		"calibration", "devices", "Noise of each cell, from comparisons of equal builds", "calibration_list"),
	API("GET", "/api/v1/peers", api_peers, HTTP_READ, "repo device",
		"peers", "comparisons", "Speed of repositories against their peers", "peer_list"),
	API("GET", "/api/v1/events", api_events, HTTP_READ, "",
		"events", "daemon", "Events as they happen", NULL, .types = "text/event-stream",
		.result = "Server-sent events: job.queued job.resolved job.state job.progress job.done branch.moved branch.gone alert.opened alert.extended alert.named alert.explained alert.acknowledged alert.accepted alert.invalid alert.resolved bisect.ended profile.done device.state worker.pending baseline_period.started baseline_period.reference_set baseline_period.reference_moved; after \"resync\" a client has missed events and must read everything again.",
		.parameters = "last_event_id", .refusals = "not_now"),

	API("GET", "/api/v1/repos/{repo}/fetches/{id}", api_fetch, HTTP_READ, "",
		"fetch_state", "repositories", "State of a fetch, and the result of the newest one", "fetch",
		.parameters = "repo=path_repo id=fetch"),
	/* a client that may read a verdict may check whether it is the newest one */
	API("POST", "/api/v1/repos/{repo}/fetches", api_fetch_post, HTTP_READ, "",
		"fetch", "repositories", "Fetch a repository now", "fetch_begun", .status = 202,
		.result = "The daemon will fetch.", .parameters = "repo=path_repo",
		.description = "The answer has the number of a fetch that begins after the request, so it includes every push that ended before the request. Scope read suffices."),
	API("GET", "/api/v1/repos/{repo}/pulls", api_pulls, HTTP_READ, "all",
		"pulls", "repositories", "Pull and merge requests that wait for approval", "pull_list", .parameters = "repo=path_repo all=all_pulls",
		.description = "The newest 1000. A request is `own` if its head is the tip of a branch of the repository; others need an approval of their head."),
	API("POST", "/api/v1/repos/{repo}/pulls/{number}/approvals", api_pull_approve, HTTP_TRIGGER, "",
		"approve_pull", "repositories", "Approve one commit of a request", "pull_approved", .parameters = "repo=path_repo number=pull_number",
		.body = "approval_request", .example = "{\"commit\": \"0123456789abcdef0123456789abcdef01234567\"}",
		.description = "It holds for this commit only. The name of the token must be among `pull_requests.approvers`."),
	API("POST", "/api/v1/jobs", api_job_post, HTTP_TRIGGER, "",
		"request_job", "jobs", "Measure two commits", "accepted_job", .status = 201, .result = "Queued.",
		.has_location = true, .parameters = "idempotency_key", .body = "job_request",
		.example = "{\"repo\": \"kernels\", \"target\": \"team/tiles\", \"base\": \"main\", \"quick\": true}",
		.refusals = "not_found not_now"),
	API("POST", "/api/v1/calibrate", api_calibrate, HTTP_TRIGGER, "",
		"calibrate", "devices", "Compare main with itself, to measure the noise", "calibrating", .status = 201,
		.result = "The jobs.", .parameters = "idempotency_key", .body = "calibrate_request",
		.example = "{\"repo\": \"kernels\", \"runs\": 4}", .is_body_optional = true, .refusals = "not_found not_now"),
	API("POST", "/api/v1/calibration/forget", api_calibration_forget, HTTP_ADMIN, "",
		"forget", "devices", "Delete the calibration of cells", "forgotten", .result = "Done.",
		.body = "forget_request", .example = "{\"repo\": \"kernels\", \"cells\": \"*/backward\"}",
		.is_body_optional = true, .refusals = "not_found",
		.description = "Deletes the measured noise of cells; the comparisons stay."),
	API("POST", "/api/v1/peers", api_peer_post, HTTP_TRIGGER, "",
		"peer", "comparisons", "Compare a commit with its peers", "calibrating", .status = 201,
		.result = "The jobs, one per peer.", .parameters = "idempotency_key", .body = "peer_request",
		.example = "{\"repo\": \"kernels\", \"provider\": \"cudnn\"}", .is_body_optional = true,
		.refusals = "not_found not_now"),
	API("POST", "/api/v1/jobs/{id}/cancel", api_job_cancel, HTTP_TRIGGER, "",
		"cancel_job", "jobs", "Cancel a job", "accepted_job", .refusals = "conflict"),
	API("POST", "/api/v1/jobs/{id}/retry", api_job_retry, HTTP_TRIGGER, "",
		"retry_job", "jobs", "Queue the same comparison again", "accepted_job", .status = 201,
		.result = "The new job.", .has_location = true, .parameters = "idempotency_key", .refusals = "conflict"),
	API("POST", "/api/v1/imports", api_import_post, HTTP_TRIGGER, "",
		"import", "comparisons", "Store results of another benchmark", "imported", .status = 201,
		.result = "A new comparison.", .other = { 200, "Already stored." }, .has_location = true,
		.parameters = "idempotency_key", .body = "import",
		.example = "{\"repo\": \"kernels\", \"commit\": \"0123456789012345678901234567890123456789\", \"name\": \"nvbench\", \"rows\": [{\"cell\": \"copy/forward\", \"ms\": 0.25}]}",
		.is_json_only = true, .refusals = "not_found"),
	API("POST", "/api/v1/bisects", api_bisect_post, HTTP_TRIGGER, "",
		"request_bisect", "bisects", "Bisect the commits between a good and a bad one", "accepted_bisect",
		.status = 201, .result = "Started.", .has_location = true, .parameters = "idempotency_key",
		.body = "bisect_request", .example = "{\"repo\": \"kernels\", \"good\": \"v1.4\", \"bad\": \"main\"}",
		.refusals = "not_found not_now"),
	API("POST", "/api/v1/bisects/{id}/cancel", api_bisect_cancel, HTTP_TRIGGER, "",
		"cancel_bisect", "bisects", "Cancel a bisect", "accepted_bisect", .refusals = "conflict"),
	API("POST", "/api/v1/profiles", api_profile_post, HTTP_TRIGGER, "",
		"request_profile", "profiles", "Request a profile of an alert, of a comparison, or of two commits", "accepted_profile",
		.status = 201, .result = "Queued behind all other jobs.", .has_location = true,
		.parameters = "idempotency_key", .body = "profile_request", .example = "{\"alert\": 3}",
		.refusals = "not_found conflict not_now"),
	API("POST", "/api/v1/alerts/{id}/acknowledge", api_alert_change, HTTP_TRIGGER, "",
		"acknowledge_alert", "alerts", "Acknowledge an alert", "changed_alert", .body = "reason",
		.example = "{\"reason\": \"the new layout costs this much\"}", .is_body_optional = true,
		.refusals = "conflict"),
	API("POST", "/api/v1/alerts/{id}/accept", api_alert_change, HTTP_TRIGGER, "",
		"accept_alert", "alerts", "Accept a regression: later commits are expected to have it", "changed_alert",
		.body = "reason", .example = "{\"reason\": \"the new layout costs this much\"}", .is_body_optional = true,
		.refusals = "conflict"),
	API("POST", "/api/v1/alerts/{id}/resolve", api_alert_change, HTTP_TRIGGER, "",
		"resolve_alert", "alerts", "Resolve an alert", "changed_alert", .body = "reason",
		.example = "{\"reason\": \"the new layout costs this much\"}", .is_body_optional = true,
		.refusals = "conflict"),
	API("POST", "/api/v1/alerts/{id}/invalidate", api_alert_change, HTTP_TRIGGER, "",
		"invalidate_alert", "alerts", "Mark an alert as a false alarm", "changed_alert", .body = "reason",
		.example = "{\"reason\": \"the new layout costs this much\"}", .is_body_optional = true,
		.refusals = "conflict"),
	API("POST", "/api/v1/devices/{uuid}/pause", api_device_change, HTTP_ADMIN, "",
		"pause_device", "devices", "Stop giving jobs to a device", "changed_device"),
	API("POST", "/api/v1/devices/{uuid}/resume", api_device_change, HTTP_ADMIN, "",
		"resume_device", "devices", "Give jobs to a device again", "changed_device"),
	API("POST", "/api/v1/comparisons/{id}/judge", api_comparison_judge, HTTP_ADMIN, "",
		"judge", "comparisons", "Compute the verdict again from the stored samples", "judged"),
	API("GET", "/api/v1/notifications", api_notifications, HTTP_READ, "state since until limit cursor",
		"notifications", "alerts", "Notifications: webhooks, commit statuses and git notes, with every attempt", "notification_list",
		.parameters = "state=notification_state"),
	API("POST", "/api/v1/notifications/{id}/redeliver", api_redeliver, HTTP_TRIGGER, "",
		"redeliver", "alerts", "Send a notification again, under the same id", "changed_notification"),
	API("POST", "/api/v1/receivers/{name}/test", api_receiver_test, HTTP_TRIGGER, "",
		"test_receiver", "alerts", "Send a test message to a receiver", "changed_notification", .parameters = "name=path_receiver",
		.description = "The answer has the id of the notification; GET /api/v1/notifications reports its attempts. Quiet hours do not delay it."),
	API("GET", "/api/v1/samples", api_samples, HTTP_READ, "",
		"samples", "daemon", "Archived single times by month", "samples_list",
		.description = "`state` is `damaged` if the file is missing or its end cannot be read; `why` has the reason. `mark` distinguishes it from another daemon's file of the same month."),
	API("GET", "/api/v1/samples/{month}.zst", api_samples_month, HTTP_ADMIN, "",
		"samples_month", "daemon", "The file of a month; data are only appended", NULL, .types = "application/zstd",
		.result = "Frames of zstd.", .other = { 206, "The requested range." }, .refusals = "range",
		.description = "With `Range: bytes=N-` only the bytes from N on."),
	API("POST", "/api/v1/backup", api_backup, HTTP_ADMIN, "",
		"backup", "daemon", "A consistent copy of the database", NULL, .types = "application/vnd.sqlite3",
		.result = "An SQLite file.", .refusals = "conflict not_now",
		.description = "The daemon copies in the background and answers when the copy is complete, for a large database after minutes. Only one backup runs at a time."),
	API("POST", "/api/v1/hooks/{repo}", api_hook, HTTP_OPEN, NULL,
		"hook", "daemon", "Webhook of a forge after a push or an approval", NULL, .types = "text/plain",
		.result = "Answer to a ping.", .other = { 202, "The fetch started." }, .parameters = "repo=path_repo",
		.refusals = "no_token",
		.description = "The raw body is signed with the repository's secret: X-Hub-Signature-256, X-Gitea-Signature, X-Forgejo-Signature, webhook-signature (Standard Webhooks) or X-Gitlab-Token. The payload of a push is not used; a label or a comment may approve a commit of a request (pull_requests.approve_by). A body or delivery id that was already received starts no fetch (the daemon stores the last 20,000 deliveries of half a year). A script without a payload sends X-Gitlab-Token without a body."),
	API("GET", "/api/v1/audit", api_audit, HTTP_ADMIN, "since until limit cursor",
		"audit", "access", "Requests of users that may have changed something", "audit_list",
		.description = "Time, user (the token's name, local without tokens), address and status of each request; never the contents. Rows older than 400 days are deleted."),
	API("GET", "/api/v1/tokens", api_tokens, HTTP_ADMIN, "", "tokens", "access", "Access tokens", "token_list"),
	API("POST", "/api/v1/tokens", api_token_post, HTTP_ADMIN, "",
		"new_token", "access", "Create an access token", "new_token", .status = 201, .result = "Shown only once.",
		.body = "token_request", .example = "{\"name\": \"ci\", \"scope\": \"trigger\"}", .refusals = "conflict",
		.description = "An Idempotency-Key is refused with 400: an answer with a secret is not stored. 409 if the name is in use, or if no token is required (access: local)."),
	API("POST", "/api/v1/tokens/{name}/revoke", api_token_revoke, HTTP_ADMIN, "",
		"revoke_token", "access", "Delete a token and end its sessions", "revoked_token"),

	API("GET", "/healthz", api_healthz, HTTP_OPEN, "",
		"healthz", "daemon", "Health of the daemon", NULL, .types = "text/plain",
		.result = "A first line `ok`, then a line `warning: ...` for each problem that a user must fix.",
		.refusals = "not_now"),
	API("GET", "/metrics", api_metrics, HTTP_READ, "",
		"metrics", "daemon", "Counters and gauges for Prometheus", NULL, .types = "text/plain application/openmetrics-text",
		.result = "Text format 0.0.4, or OpenMetrics 1.0 with the newest jobs as exemplars if Accept names it."),
};
/* clang-format on */

/* Addresses that take two files. */
static const char *const uploads[] = { "/compare", "/api/v1/compare", NULL };

static bool is_upload(const char *path)
{
	const char *const *one = uploads;
	while (*one && strcmp(*one, path) != 0)
		one++;
	return *one;
}

static int no_route(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	char detail[512];
	const char *known, *unknown = response->status == 400 ? http_unknown(r, &known) : NULL;
	(void)site;
	if (err->code)
		return answer_error(r, response, err);
	if (unknown)
		snprintf(detail, sizeof detail, "this address has no argument %.60s; %s%s", unknown,
			*known ? "known: " : "it has none", known);
	else if (response->status == 413 && is_upload(http_path(r)))
		snprintf(detail, sizeof detail, "the body is too large; each of the two files may have at most %d MiB",
			HTTP_UPLOAD_FILE_MAX >> 20);
	else
		return answer_problem(r, response, response->status, NULL);
	return answer_problem(r, response, response->status, detail);
}

int site_start(struct site *site, const char *host, int port, struct http **out, struct fw_err *err)
{
	struct http_config config = {
		.host = host,
		.port = port,
		.tls = site->tls,
		.route = routes,
		.n_route = sizeof routes / sizeof routes[0],
		.site = site,
		.no_route = no_route,
		.names = site->names,
		.requests_per_minute = site->requests_per_minute,
		.uploads = uploads,
		.guard = access_allows,
		.after = access_record,
	};
	return http_start(&config, out, err);
}
