/* Comparisons with peers to measure and known ones; the comparison that gives the speed relative to a peer, and its basis. */
#include "fixture_transaction.h"

#include <math.h>

#include "db/db.h"
#include "flopwatchd/job/job.h"

static const char key[] = "attention/dense/full/s64/hq2/hk1/d64/bf16/forward";

/** The row of a build of this module, inserted if it is new. */
static int64_t build_of(struct fixture *f, const char *module)
{
	struct msg_build b = { .state = "ok", .toolchain = "gcc" };
	int64_t id;
	snprintf(b.module_sha256, sizeof b.module_sha256, "%s", module);
	ok(store_build_put(f->db, module, DEVICE_CPU, &b, 1, &id, &err));
	return id;
}

static void run(struct fixture *f, const char *sql, int64_t id, const char *text, int64_t n)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	stmt_int(s, ":id", id);
	stmt_text(s, ":text", text);
	stmt_int(s, ":n", n);
	ok(stmt_run(s, &err));
}

/** A comparison of two modules with one cell whose target takes `times` as long. */
static int64_t compared(
	struct fixture *f, const char *branch, unsigned target, const char *base, const char *module, double times)
{
	int64_t id = fixture_comparison(f, branch, 0xa0, target, VERDICT_UNCHANGED, 1000);
	fixture_cell(f, id, 0, key, log(times), VERDICT_UNCHANGED);
	run(f, "UPDATE comparison SET base_build = :n WHERE id = :id AND :text = ''", id, "", build_of(f, base));
	run(f, "UPDATE comparison SET target_build = :n WHERE id = :id AND :text = ''", id, "", build_of(f, module));
	run(f, "INSERT INTO job_peer (job, n, word) SELECT job, :n, :text FROM comparison WHERE id = :id", id, "naive", 0);
	return id;
}

/** The same of kind peer: `module` takes `times` as long as the provider. */
static int64_t beside(struct fixture *f, unsigned target, const char *provider, const char *module, double times)
{
	int64_t id = compared(f, "", target, module, module, times);
	run(f, "UPDATE comparison SET kind = 'peer' WHERE id = :id AND :text = '' AND :n = 0", id, "", 0);
	run(f,
		"UPDATE job SET kind = 'peer', base_provider = :text, device_class = 1, suite = 'ffa' WHERE id = "
		"(SELECT job FROM comparison WHERE id = :id) AND :n = 0",
		id, provider, 0);
	return id;
}

struct seen {
	int n;
	int64_t comparison;
	char module[65], peers[64];
};

static void see(void *arg, const struct store_peer_target *row)
{
	struct seen *s = arg;
	s->n++;
	s->comparison = row->comparison;
	snprintf(s->module, sizeof s->module, "%s", row->module_sha);
	snprintf(s->peers, sizeof s->peers, "%s", row->peers);
}

static void the_newest_commit_of_main_is_requested(void **state)
{
	struct fixture *f = *state;
	struct seen s = { .n = 0 };
	ok(store_peer_targets(f->db, f->repo, "main", see, &s, &err));
	assert_int_equal(s.n, 0);
	compared(f, "main", 0xb1, "m0", "m1", 1);
	int64_t newest = compared(f, "main", 0xb2, "m1", "m2", 1);
	compared(f, "team", 0xc1, "m1", "m3", 1);
	int64_t quick = compared(f, "main", 0xb3, "m1", "m4", 1);
	run(f, "UPDATE job SET quick = 1 WHERE id = (SELECT job FROM comparison WHERE id = :id) AND :text = '' AND :n = 0", quick,
		"", 0);
	ok(store_peer_targets(f->db, f->repo, "main", see, &s, &err));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.comparison, newest);
	assert_string_equal(s.module, "m2");
	assert_string_equal(s.peers, "naive");
	compared(f, "main", 0xb4, "m2", "", 1);
	s.n = 0;
	ok(store_peer_targets(f->db, f->repo, "main", see, &s, &err));
	assert_int_equal(s.n, 0); /* nothing to run, and the previous comparison is not the newest */
}

static void a_peer_is_requested_once(void **state)
{
	struct fixture *f = *state;
	char sha[65], other[65];
	snprintf(sha, sizeof sha, "%s", fixture_sha(0xb2));
	snprintf(other, sizeof other, "%s", fixture_sha(0xb9));
	struct store_peer_target t = {
		.environment = f->environment, .target_sha = sha, .module_sha = "m2", .suite = "ffa", .device_class = 1
	};
	assert_int_equal(store_peer_is_requested(f->db, f->repo, &t, "naive", &err), 0);
	beside(f, 0xb2, "naive", "m2", 1.1);
	assert_int_equal(store_peer_is_requested(f->db, f->repo, &t, "naive", &err), 1);
	assert_int_equal(store_peer_is_requested(f->db, f->repo, &t, "cudnn", &err), 0);
	t.target_sha = other; /* another commit, the same module */
	assert_int_equal(store_peer_is_requested(f->db, f->repo, &t, "naive", &err), 1);
	t.module_sha = "m9";
	assert_int_equal(store_peer_is_requested(f->db, f->repo, &t, "naive", &err), 0);
	t.target_sha = sha; /* a job without a result is not requested again */
	assert_int_equal(store_peer_is_requested(f->db, f->repo, &t, "naive", &err), 1);
}

/** The basis, and the target's percent as in the body. Own: the caller reads `text` at once. */
static const char *standing(struct fixture *f, int64_t comparison)
{
	static char text[200];
	struct buf body;
	buf_init(&body, 1 << 20);
	ok(body_comparison(f->db, comparison, &body, &err));
	const char *at = strstr(body.data, "\"peers\":");
	const char *basis = at ? strstr(at, "\"basis\":\"") : NULL, *pct = at ? strstr(at, "\"target_pct\":") : NULL;
	if (!basis)
		snprintf(text, sizeof text, "none");
	else
		snprintf(text, sizeof text, "%.*s %.1f", (int)strcspn(basis + 9, "\""), basis + 9, atof(pct + 13));
	buf_fini(&body);
	return text;
}

static void a_ratio_is_paired_chained_or_scaled(void **state)
{
	struct fixture *f = *state;
	struct store_peer_source s[STORE_PEER_SOURCES_MAX];
	int64_t own = compared(f, "main", 0xb2, "m1", "m2", 1.25), child = compared(f, "team", 0xc1, "m2", "m3", 2);
	int64_t far = compared(f, "team", 0xc2, "m7", "m8", 1);
	assert_string_equal(standing(f, own), "none");
	int64_t old = beside(f, 0xb1, "naive", "m1", 1.6);
	assert_string_equal(standing(f, own), "chained 50.0");
	int64_t peer = beside(f, 0xb2, "naive", "m2", 1.25);
	assert_string_equal(standing(f, own), "paired 80.0");
	assert_string_equal(standing(f, child), "chained 40.0");
	assert_string_equal(standing(f, far), "scaled 100.0"); /* by their medians, which are equal in the fixture */
	assert_string_equal(standing(f, peer), "paired 80.0"); /* its own */
	assert_int_equal(store_peer_sources(f->db, own, s, &err), 2);
	assert_int_equal(s[0].comparison, peer);
	assert_int_equal(s[0].basis, STORE_PEER_PAIRED);
	assert_int_equal(s[1].comparison, old);
	assert_int_equal(s[1].basis, STORE_PEER_CHAINED);
	beside(f, 0xb2, "cudnn", "m2", 3);
	assert_int_equal(store_peer_sources(f->db, own, s, &err), 3);
	assert_string_equal(s[0].provider, "cudnn");
	assert_int_equal(store_peer_sources(f->db, peer, s, &err), 1);
}

static void partial_comparisons_are_no_source(void **state)
{
	struct fixture *f = *state;
	struct store_peer_source s[STORE_PEER_SOURCES_MAX];
	int64_t own = compared(f, "main", 0xb2, "m1", "m2", 1);
	int64_t quick = beside(f, 0xb2, "naive", "m2", 1), some = beside(f, 0xb2, "naive", "m2", 1),
		turned = beside(f, 0xb2, "naive", "m2", 1);
	run(f, "UPDATE job SET quick = 1 WHERE id = (SELECT job FROM comparison WHERE id = :id) AND :text = '' AND :n = 0", quick,
		"", 0);
	run(f, "UPDATE job SET some_cells = 1 WHERE id = (SELECT job FROM comparison WHERE id = :id) AND :text = '' AND :n = 0",
		some, "", 0);
	run(f, "UPDATE job SET target_provider = :text WHERE id = (SELECT job FROM comparison WHERE id = :id) AND :n = 0", turned,
		"other", 0);
	assert_int_equal(store_peer_sources(f->db, own, s, &err), 0);
}

static void comparisons_that_read_a_peer_are_listed(void **state)
{
	struct fixture *f = *state;
	int64_t ids[STORE_PEER_READERS_MAX];
	int64_t own = compared(f, "main", 0xb2, "m1", "m2", 1), child = compared(f, "team", 0xc1, "m2", "m3", 1);
	compared(f, "team", 0xc2, "m7", "m8", 1);
	int64_t peer = beside(f, 0xb2, "naive", "m2", 1);
	assert_int_equal(store_peer_readers(f->db, peer, ids, &err), 2);
	assert_int_equal(ids[0], child);
	assert_int_equal(ids[1], own);
	assert_int_equal(store_peer_readers(f->db, own, ids, &err), 0);
}

struct list {
	int n, current;
	double pct;
};

static void count(void *arg, const struct view_peer *row)
{
	struct list *l = arg;
	l->n++;
	l->current += row->current;
	l->pct = l->n == 1 ? row->geomean_pct : l->pct;
}

static void the_list_knows_which_is_current(void **state)
{
	struct fixture *f = *state;
	struct list l = { .n = 0 };
	beside(f, 0xb1, "naive", "m1", 2);
	beside(f, 0xb2, "naive", "m2", 1.25);
	beside(f, 0xb1, "cudnn", "m1", 1);
	ok(view_peers(f->db, "kernels", NULL, 10, count, &l, &err));
	assert_int_equal(l.n, 3);
	assert_int_equal(l.current, 2);
	assert_true(fabs(l.pct - 100) < 1e-9); /* cudnn: newest first */
	l.n = 0;
	ok(view_peers(f->db, "others", NULL, 10, count, &l, &err));
	assert_int_equal(l.n, 0);
}

#define PEER_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(the_newest_commit_of_main_is_requested),
		PEER_TEST(a_peer_is_requested_once),
		PEER_TEST(a_ratio_is_paired_chained_or_scaled),
		PEER_TEST(partial_comparisons_are_no_source),
		PEER_TEST(comparisons_that_read_a_peer_are_listed),
		PEER_TEST(the_list_knows_which_is_current),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
