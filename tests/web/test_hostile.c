/*
 * Text from git, a build or a worker may contain anything: with hostile texts in every field, each page has the
 * same elements and attributes as with harmless ones, JSON stays valid, tables keep their columns, and no text is hidden.
 */
/* Left to `make check`: takes seconds. */
#include "site_run.h"

#include <math.h>

#include "db/db.h"
#include "lib/lib.h"

static const char *const harmless = "text";
static const char *const payloads[] = {
	"<script>alert(1)</script>",
	"</td></tr></table><img src=x onerror=alert(1)>",
	"\" onmouseover=\"alert(1)\" x=\"",
	"' autofocus onfocus='alert(1)",
	"</title></h1></textarea></pre><svg/onload=alert(1)>",
	"<!-- unfinished",
	"&lt;b&gt; &#x3c;i&#x3e; &amp",
	"javascript:alert(1)",
	"a\nb\r\nSet-Cookie: x=1\r\n\r\n<b>",
	"\xe2\x80\xae"
	"gnp.exe \xe2\x81\xa6x\xe2\x81\xa9 \xef\xbb\xbf",
	"\x1b[2J\x1b]0;title\x07\x7f\xc2\x9b",
	"\xff\xfe \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82",
	"=cmd|' /C calc'!A0",
	"+1+1, \"quoted\"",
	"@SUM(A1)\t-2",
	"\\u003cb\\u003e \\ \" ' ` $(id) ${x} %s %n %00 %2e",
	"{\"a\":1}]}\\",
};
enum { N_PAYLOAD = sizeof payloads / sizeof payloads[0] };

#define CELL "attention/dense/full/s384/hq8/hk2/d64/bf16/forward"

static char *encoded(const char *bytes) /* every byte percent-encoded, as an address may have it */
{
	static char key[1024];
	size_t len = 0;
	for (; *bytes; bytes++)
		len += (size_t)snprintf(key + len, sizeof key - len, "%%%02X", (unsigned char)*bytes);
	return key;
}

/* The stored key of a branch: percent-encoded, with letters, digits and a few others as they are. */
static void branch_key_of(const char *bytes, char key[BRANCH_KEY_MAX])
{
	struct buf text;
	buf_init(&text, BRANCH_KEY_MAX - 1);
	percent_encode(&text, bytes, strlen(bytes), "-._~/");
	snprintf(key, BRANCH_KEY_MAX, "%s", text.data);
	buf_fini(&text);
}

/* The fields of the cell's profile with free text. */
static void fill_profile(struct fixture *f, int64_t comparison, int64_t alert, const char *text)
{
	struct store_job job = { .repo = f->repo, .kind = JOBKIND_PROFILE, .origin = "alert", .base_how = "given" };
	struct store_profile p = { .comparison = comparison, .alert = alert };
	struct msg_profile end = { .path = EVIDENCE_RANGE, .passes = 4 };
	struct evidence_value value = { "dram__bytes_read.sum", 1e6 };
	struct msg_code *code = calloc(1, sizeof *code);
	assert_non_null(code);
	snprintf(job.base_sha, sizeof job.base_sha, "%s", fixture_sha(0xb1));
	snprintf(job.target_sha, sizeof job.target_sha, "%s", fixture_sha(0xb2));
	snprintf(end.why, sizeof end.why, "%s", text);
	snprintf(end.tool, sizeof end.tool, "%s", text);
	snprintf(end.base_config, sizeof end.base_config, "TILE=2");
	ok(store_job_insert(f->db, &job, 7600, &err));
	p.job = job.id;
	ok(store_profile_insert(f->db, &p, &err));
	ok(store_job_done(f->db, job.id, 7700, &err));
	struct store_profile_cell cell = { .profile = p.id, .key = CELL, .why = text, .end = &end, .base_ms = 1, .target_ms = 2 };
	ok(store_profile_cell_put(f->db, &cell, &err));
	for (int side = 0; side < 2; side++) {
		struct msg_kernel k = { .role = side ? ROLE_TARGET : ROLE_BASE, .ms = 1 + side, .n_values = 1, .value = &value };
		snprintf(k.kernel, sizeof k.kernel, "%s", text);
		snprintf(k.phase, sizeof k.phase, "%s", text);
		ok(store_profile_kernel_put(f->db, cell.id, &k, &err));
	}
	*code = (struct msg_code){ .what = EVIDENCE_CODE_CHANGED, .n_opcodes = 1 };
	snprintf(code->base, sizeof code->base, "%s", text);
	snprintf(code->target, sizeof code->target, "%s", text);
	snprintf(code->opcode[0].opcode, sizeof code->opcode[0].opcode, "%s", text);
	snprintf(code->hunks, sizeof code->hunks, "%s", text);
	ok(store_profile_code_put(f->db, cell.id, code, &err));
	free(code);
	const struct store_profile_cause cause = {
		.code = text, .kernel = text, .sentence = text, .explained_ms = 0.5, .of_ms = 1, .confidence = text
	};
	ok(store_profile_cause_put(f->db, cell.id, &cause, &err));
}

static void fill(struct run *run, const char *text)
{
	struct fixture *f = run->f;
	char branch[BRANCH_KEY_MAX];
	branch_key_of(text, branch);
	struct store_commit commit = { .committed_at = 5000 };
	struct msg_build build = { .role = ROLE_TARGET, .state = "failed", .exit = 2, .duration_ms = 1500 };
	struct msg_device device = fixture_device();
	bool is_new;
	snprintf(commit.sha, sizeof commit.sha, "%s", fixture_sha(0xb2));
	snprintf(commit.author, sizeof commit.author, "%s", text);
	snprintf(commit.subject, sizeof commit.subject, "%s", text);
	snprintf(device.name, sizeof device.name, "%s", text);
	snprintf(device.driver, sizeof device.driver, "%s", text);
	snprintf(device.toolkit, sizeof device.toolkit, "%s", text);
	snprintf(build.toolchain, sizeof build.toolchain, "%s", text);
	snprintf(build.detail, sizeof build.detail, "%s", text);
	buf_init(&build.log, 4096);
	buf_puts(&build.log, text);
	struct store_comparison c = { .repo = f->repo,
		.suite = f->suite,
		.environment = f->environment,
		.device = f->device,
		.kind = JOBKIND_COMPARE,
		.base_how = "merge-base",
		.rule_json = "{}",
		.verdict = VERDICT_FAILED,
		.finished_at = 7000 };
	struct store_cell cell = { .group = "dense",
		.title = "full",
		.shape = "{\"mask\":\"full\",\"seqlen\":0}",
		.direction = "forward",
		.threshold_pct = 1.5,
		.flops = 1e9,
		.m = 0.1,
		.m_raw = 0.1,
		.se = 0.01,
		.beta = NAN,
		.base_median_ms = 1,
		.target_median_ms = 2,
		.change_pct = -10,
		.ci_low_pct = -11,
		.ci_high_pct = -9,
		.mde_pct = 1,
		.verdict = VERDICT_REGRESSION,
		.failure = "wrong" };
	snprintf(cell.key, sizeof cell.key, "%s", CELL);
	snprintf(cell.reason, sizeof cell.reason, "%s", text);
	ok(db_begin(f->db, &err));
	ok(store_commit_put(f->db, f->repo, &commit, &err));
	ok(store_tip_put(f->db, f->repo, branch, text, fixture_sha(0xb2), true, 4000, &err));
	ok(store_repo_state(f->db, f->repo, "error", text, &err));
	ok(store_device_put(f->db, &device, 2000, &f->device, &err));
	ok(store_device_state(f->db, f->device, DEVICESTATE_PAUSED, text, 1, &err));
	c.job = fixture_job(f, branch, 0xb1, 0xb2, 6000);
	snprintf(c.branch, sizeof c.branch, "%s", branch);
	snprintf(c.base_sha, sizeof c.base_sha, "%s", fixture_sha(0xb1));
	snprintf(c.target_sha, sizeof c.target_sha, "%s", fixture_sha(0xb2));
	ok(store_build_put(f->db, "1nputs", DEVICE_SIM, &build, 6500, &c.target_build, &err));
	ok(store_comparison_insert(f->db, &c, &err));
	cell.comparison = c.id;
	ok(store_cell_insert(f->db, &cell, &err));
	struct buf named; /* a phase and a kernel with names from the module */
	struct jsonw j;
	buf_init(&named, 65536);
	buf_printf(&named, "phase.%s.base_ms", text);
	ok(store_metric(f->db, cell.id, named.data, text, 1, &err));
	buf_clear(&named);
	jsonw_init(&j, &named);
	jsonw_object(&j);
	jsonw_key(&j, "changed");
	jsonw_array(&j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "phase", text);
	jsonw_kv_string(&j, "kernel", text);
	jsonw_object_end(&j);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	ok(store_artifact(f->db, "cell", cell.id, "nodes_changed", named.data, named.len, &err));
	buf_fini(&named);
	ok(store_comparison_verdict(f->db, c.id, VERDICT_REGRESSION, &err));
	ok(body_store(f->db, c.id, &err));
	ok(store_job_log(f->db, c.job, 6500, text, &err));
	ok(store_job_done(f->db, c.job, 7000, &err));
	struct store_alert alert = { .repo = f->repo,
		.comparison = c.id,
		.worst_pct = -10,
		.cells_json = "[{\"cell\":\"" CELL "\",\"change_pct\":-10,\"borderline\":true}]" };
	snprintf(alert.branch, sizeof alert.branch, "%s", branch);
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(0xb2));
	ok(store_alert_open(f->db, &alert, 7000, &is_new, &err));
	ok(store_alert_change(f->db, alert.id, ALERTSTATE_ACKNOWLEDGED, text, text, 7500, &err));
	fill_profile(f, c.id, alert.id, text);
	int64_t second = fixture_job(f, branch, 0xb1, 0xb3, 8000); /* ends with a free text; and one that still runs */
	ok(store_job_state(f->db, second, JOBSTATE_FAILED, text, 8500, &err));
	fixture_job(f, branch, 0xb1, 0xb4, 9000);
	ok(db_commit(f->db, &err));
	buf_fini(&build.log);
}

/* ---- structure of a page ------------------------------------------------------------------------------------------------ */

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '/' || c == '!' ||
	       c == ':';
}

/* Tags with the names of their attributes, in order, as a browser parses them; without texts and values. */
/* The page's list of glossary terms is skipped: it depends on all text of the page, and has text of the glossary only. */
static void skeleton(const char *html, struct buf *out)
{
	static const char words[] = "<details class=words ", end_of_words[] = "</details>";
	for (const char *s = html; (s = strchr(s, '<'));) {
		if (strncmp(s, words, sizeof words - 1) == 0) {
			s = strstr(s, end_of_words);
			assert_non_null(s);
			s += sizeof end_of_words - 1;
			continue;
		}
		s++;
		if (!is_name(*s))
			continue; /* "<" before anything else is text */
		while (*s && *s != '>') {
			while (is_name(*s))
				buf_putc(out, *s++);
			buf_putc(out, ' ');
			if (*s == '=') {
				s++;
				if (*s == '"' || *s == '\'') {
					const char *end = strchr(s + 1, *s);
					assert_non_null(end);
					s = end + 1;
				} else {
					s += strcspn(s, " >");
				}
			}
			if (*s && *s != '>' && !is_name(*s))
				s++;
		}
		buf_putc(out, '\n');
	}
}

static void assert_clean_text(const char *target, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t code;
		size_t n = utf8_next(text + i, len - i, &code);
		if (code == UTF8_INVALID)
			fail_msg("%s: byte %02x at %zu is not UTF-8", target, (unsigned char)text[i], i);
		if (utf8_is_hidden(code) && !strchr("\r\n\t", (int)(code < 0x80 ? code : 'x')))
			fail_msg("%s: hidden character %x at %zu: %.200s", target, (unsigned)code, i,
				text + (i > 100 ? i - 100 : 0));
		i += n;
	}
}

static const char *const pages[] = { "/", "/comparisons", "/comparisons/1", "/history?cell=" CELL, "/jobs", "/jobs/1", "/jobs/2",
	"/jobs/3", "/alerts", "/alerts/1", "/devices", "/comparisons?repo=kernels&verdict=regression" };
enum { N_PAGE = sizeof pages / sizeof pages[0] };

static void draw(const char *text, struct buf *skeletons)
{
	void *state;
	assert_int_equal(run_setup(&state), 0);
	struct run *run = state;
	fill(run, text);
	for (int i = 0; i < N_PAGE; i++) {
		struct answer a = get(run, pages[i]);
		if (a.status != 200)
			fail_msg("%s: %d: %s", pages[i], a.status, a.body);
		assert_non_null(strstr(header_of(&a, "Content-Security-Policy"), "default-src 'none'"));
		assert_clean_text(pages[i], a.body, a.body_len);
		buf_init(&skeletons[i], 1 << 20);
		skeleton(a.body, &skeletons[i]);
		answer_free(&a);
	}
	run_teardown(&state);
}

static void test_pages(void **state)
{
	(void)state;
	struct buf plain[N_PAGE], hostile[N_PAGE];
	draw(harmless, plain);
	for (int p = 0; p < N_PAYLOAD; p++) {
		draw(payloads[p], hostile);
		for (int i = 0; i < N_PAGE; i++) {
			size_t same = 0; /* the text before the difference shows its position */
			while (plain[i].data[same] && plain[i].data[same] == hostile[i].data[same])
				same++;
			if (strcmp(plain[i].data, hostile[i].data) != 0)
				fail_msg("%s with %s has other elements: %.200s instead of %.200s", pages[i], payloads[p],
					hostile[i].data + (same > 100 ? same - 100 : 0),
					plain[i].data + (same > 100 ? same - 100 : 0));
			buf_fini(&hostile[i]);
		}
	}
	for (int i = 0; i < N_PAGE; i++)
		buf_fini(&plain[i]);
}

/* The texts are displayed, not dropped. */
static void test_pages_show_it(void **state)
{
	(void)state;
	void *run;
	assert_int_equal(run_setup(&run), 0);
	fill(run, "<b>\"\xe2\x80\xae\xff");
	static const char *const with_branch[] = { "/", "/comparisons", "/comparisons/1", "/jobs", "/jobs/1", "/alerts" };
	for (size_t i = 0; i < sizeof with_branch / sizeof with_branch[0]; i++) {
		struct answer a = get(run, with_branch[i]);
		if (!strstr(a.body, "&lt;b&gt;\"\\u"))
			fail_msg("%s: %s", with_branch[i], a.body);
		answer_free(&a);
	}
	run_teardown(&run);
}

/* ---- API -------------------------------------------------------------------------------------------------------------- */

static const char *const objects[] = { "/api/v1/repos", "/api/v1/branches?repo=kernels", "/api/v1/comparisons",
	"/api/v1/comparisons/1", "/api/v1/commits/00000", "/api/v1/history?cell=" CELL, "/api/v1/alerts", "/api/v1/jobs",
	"/api/v1/jobs/1", "/api/v1/jobs/2", "/api/v1/devices" };

static void test_json(void **state)
{
	(void)state;
	for (int p = 0; p < N_PAYLOAD; p++) {
		void *run;
		assert_int_equal(run_setup(&run), 0);
		fill(run, payloads[p]);
		for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
			json_decref(get_json(run, objects[i]));
		/* the key finds its branch again, whatever bytes the name has */
		char target[4096];
		struct buf argument;
		json_t *root = get_json(run, "/api/v1/branches"), *item = json_array_get(json_object_get(root, "items"), 0);
		buf_init(&argument, sizeof target);
		for (const char *s = text_at(item, "name"); *s; s++)
			buf_printf(&argument, *s == '%' ? "%%25" : "%c", *s);
		snprintf(target, sizeof target, "/api/v1/comparisons?repo=kernels&branch=%s", argument.data);
		buf_fini(&argument);
		json_decref(root);
		root = get_json(run, target);
		assert_int_equal(json_array_size(json_object_get(root, "items")), 1);
		json_decref(root);
		run_teardown(&run);
	}
}

/* Cells of one record; quoted ones may hold anything. Returns the start of the next record. */
static const char *record(const char *s, int *n)
{
	for (*n = 1;; (*n)++) {
		if (*s == '"') {
			assert_null(strchr("=+-@\t\r", s[1]) && s[1] ? s : NULL);
			for (s++; *s != '"' || s[1] == '"'; s += *s == '"' ? 2 : 1)
				assert_true(*s);
			s++;
		} else {
			/* only numbers of the daemon may begin with a sign */
			if (*s == '=' || *s == '@' || *s == '\t')
				fail_msg("a formula: %s", s);
			s += strcspn(s, ",\r");
		}
		if (*s != ',')
			break;
		s++;
	}
	assert_true(s[0] == '\r' && s[1] == '\n');
	return s + 2;
}

static void test_csv(void **state)
{
	(void)state;
	for (int p = 0; p < N_PAYLOAD; p++) {
		void *run;
		int columns, n;
		assert_int_equal(run_setup(&run), 0);
		fill(run, payloads[p]);
		struct answer a = get(run, "/api/v1/comparisons/1.csv");
		assert_int_equal(a.status, 200);
		assert_clean_text("csv", a.body, a.body_len);
		const char *s = record(a.body, &columns);
		s = record(s, &n);
		assert_int_equal(n, columns);
		assert_int_equal(*s, '\0');
		answer_free(&a);
		run_teardown(&run);
	}
}

static int request_for(struct run *run, const char *path, const char *name, const char *value, struct buf *elements)
{
	struct buf target;
	buf_init(&target, 65536);
	buf_printf(&target, "%s%s=%s", path, name, encoded(value));
	struct answer a = get(run, target.data);
	int status = a.status;
	if (status != 200 && status != 400 && status != 404)
		fail_msg("%s: %d", target.data, status);
	assert_null(strstr(a.head, "Set-Cookie"));
	buf_clear(elements);
	if (strncmp(path, "/api/", 5) == 0) {
		json_decref(json_of(&a));
	} else {
		assert_clean_text(target.data, a.body, a.body_len);
		skeleton(a.body, elements);
		answer_free(&a);
	}
	buf_fini(&target);
	return status;
}

/* Foreign bytes in a request are returned as text, never as markup or headers. */
static void test_requests(void **state)
{
	(void)state;
	static const char *const names[] = { "cell", "repo", "branch", "verdict", "state", "cursor", "limit", "device" };
	static const char *const paths[] = { "/history?cell=x&", "/history?", "/comparisons?", "/jobs?", "/alerts?",
		"/api/v1/history?cell=x&", "/api/v1/comparisons?", "/api/v1/jobs?", "/api/v1/branches?", "/api/v1/compare?" };
	void *run;
	struct buf plain, hostile;
	assert_int_equal(run_setup(&run), 0);
	buf_init(&plain, 1 << 20);
	buf_init(&hostile, 1 << 20);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
			int status = request_for(run, paths[i], names[k], harmless, &plain);
			for (int p = 0; p < N_PAYLOAD; p++) {
				assert_int_equal(request_for(run, paths[i], names[k], payloads[p], &hostile), status);
				assert_string_equal(hostile.data, plain.data);
			}
		}
	}
	buf_fini(&plain);
	buf_fini(&hostile);
	run_teardown(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_pages_show_it),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_requests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
