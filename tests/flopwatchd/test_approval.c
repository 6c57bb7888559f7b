/* Approvals by users of a forge: which events state one, of which commit, and which permission is enough. */
#include "fixture_db.h"

#include "flopwatchd/notify/internal.h"

#define HEAD  "1111111111111111111111111111111111111111"
#define OTHER "2222222222222222222222222222222222222222"

static struct config_repo *repo;
static struct forge_approval one;

static int setup(void **state)
{
	(void)state;
	repo = mem_alloc_zero(1, sizeof *repo);
	snprintf(repo->status.kind, sizeof repo->status.kind, "github");
	snprintf(repo->status.project, sizeof repo->status.project, "team/kernels");
	snprintf(repo->pulls.approve_by.label, sizeof repo->pulls.approve_by.label, "measure");
	snprintf(repo->pulls.approve_by.comment, sizeof repo->pulls.approve_by.comment, "/flopwatch approve");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(repo);
	return 0;
}

/* Append an event to the file that FORGE_EVENTS names, if it does: test_forge_schemas.sh checks the members of each. */
static void record(const char *event)
{
	const char *path = getenv("FORGE_EVENTS");
	FILE *file = path ? fopen(path, "a") : NULL;
	json_t *root = json_loads(event, 0, NULL);
	if (file && (json_object_get(root, "action") || json_object_get(root, "object_kind")))
		fprintf(file, "%s\n", event);
	json_decref(root);
	if (file)
		fclose(file);
}

static bool states(const char *event)
{
	record(event);
	return forge_event_read(repo, event, strlen(event), &one);
}

#define GITHUB_LABEL(action, label, project)                                                                                     \
	"{\"action\":\"" action "\",\"label\":{\"name\":\"" label "\"},\"pull_request\":{\"number\":7,\"head\":{\"sha\":\"" HEAD \
	"\"},\"labels\":[{\"name\":\"measure\"}]},\"repository\":{\"full_name\":\"" project                                      \
	"\"},\"sender\":{\"login\":\"ann\"}}"

#define GITHUB_PUSH                                                                                                              \
	"{\"action\":\"synchronize\",\"pull_request\":{\"number\":7,\"head\":{\"sha\":\"" HEAD "\"},\"labels\":[{\"name\":"      \
	"\"measure\"}]},\"repository\":{\"full_name\":\"team/kernels\"},\"sender\":{\"login\":\"ann\"}}"

static void a_label_of_github_approves_the_head_of_its_event(void **state)
{
	(void)state;
	assert_true(states(GITHUB_LABEL("labeled", "measure", "team/kernels")));
	assert_int_equal(one.number, 7);
	assert_string_equal(one.head, HEAD);
	assert_string_equal(one.who, "ann");
	assert_false(states(GITHUB_LABEL("unlabeled", "measure", "team/kernels")));
	assert_false(states(GITHUB_PUSH)); /* to a request that has the label */
	assert_false(states(GITHUB_LABEL("labeled", "bug", "team/kernels")));
	assert_false(states(GITHUB_LABEL("labeled", "measure", "mallory/kernels"))); /* a fork with the same secret */
	repo->pulls.approve_by.label[0] = '\0';
	assert_false(states(GITHUB_LABEL("labeled", "", "team/kernels")));
}

#define COMMENT_BY(action, issue, author, text)                                                                                  \
	"{\"action\":\"" action "\",\"issue\":" issue ",\"comment\":{\"body\":\"" text "\",\"user\":{\"login\":\"" author        \
	"\"}},\"repository\":{\"full_name\":\"team/kernels\"},\"sender\":{\"login\":\"ann\"}}"
#define COMMENT(text) COMMENT_BY("created", "{\"number\":7,\"pull_request\":{}}", "ann", text)

static void a_comment_approves_the_commit_that_it_names(void **state)
{
	(void)state;
	assert_true(states(COMMENT("/flopwatch approve " OTHER)));
	assert_string_equal(one.head, OTHER);
	assert_int_equal(one.number, 7);
	assert_true(states(COMMENT("looks good\\r\\n/flopwatch approve " OTHER "\\r\\nthanks")));
	assert_false(states(COMMENT("/flopwatch approve"))); /* of which commit? */
	assert_false(states(COMMENT("/flopwatch approve 222222222222")));
	assert_false(states(COMMENT("/flopwatch approve  " OTHER))); /* flopwatch-send finds no such line either */
	assert_true(states(COMMENT("/flopwatch approve " OTHER "  ")));
	assert_false(states(COMMENT("/flopwatch approve " OTHER "2")));
	assert_false(states(COMMENT("/flopwatch approve " OTHER " please")));
	assert_false(states(COMMENT("> /flopwatch approve " OTHER))); /* a quotation */
	assert_false(states(COMMENT("/flopwatch approved " OTHER)));
	assert_false(states(COMMENT_BY("edited", "{\"number\":7,\"pull_request\":{}}", "ann", "/flopwatch approve " OTHER)));
	assert_false(states(COMMENT_BY("created", "{\"number\":7}", "ann", "/flopwatch approve " OTHER))); /* no request */
	assert_false(states(COMMENT_BY("created", "{\"number\":7,\"pull_request\":{}}", "mallory", "/flopwatch approve " OTHER)));
	assert_false(
		states(COMMENT_BY("created", "{\"number\":4294967303,\"pull_request\":{}}", "ann", "/flopwatch approve " OTHER)));
	repo->pulls.approve_by.comment[0] = '\0';
	assert_false(states(COMMENT(" " OTHER)));
}

#define GITEA_LABELS(changes)                                                                                                    \
	"{\"action\":\"label_updated\",\"number\":7,\"pull_request\":{\"number\":7,\"head\":{\"sha\":\"" HEAD                    \
	"\"},\"labels\":[{\"name\":\"measure\"}]}," changes                                                                      \
	"\"repository\":{\"full_name\":\"team/kernels\"},\"sender\":{\"login\":\"ann\"}}"

static void a_label_of_gitea_approves_when_it_is_added(void **state)
{
	(void)state;
	snprintf(repo->status.kind, sizeof repo->status.kind, "gitea");
	assert_true(states(GITEA_LABELS("\"changes\":{\"added_labels\":[{\"name\":\"measure\"}]},")));
	assert_string_equal(one.head, HEAD);
	assert_false(states(GITEA_LABELS("\"changes\":{\"added_labels\":[{\"name\":\"bug\"}]},"))); /* it was set before */
	assert_false(states(GITEA_LABELS("\"changes\":{\"removed_labels\":[{\"name\":\"measure\"}]},")));
	assert_false(states(GITEA_LABELS(""))); /* an older server does not report which one is new */
}

#define GITLAB_LABELS(previous, current)                                                                                         \
	"{\"object_kind\":\"merge_request\",\"user\":{\"id\":5,\"username\":\"ann\"},\"project\":{\"path_with_namespace\":"      \
	"\"team/kernels\"},\"object_attributes\":{\"iid\":7,\"action\":\"update\",\"last_commit\":{\"id\":\"" HEAD               \
	"\"}},\"changes\":{\"labels\":{\"previous\":[" previous "],\"current\":[" current "]}}}"
#define MEASURE "{\"title\":\"measure\"}"
#define GITLAB_NOTE(type, author, text)                                                                                          \
	"{\"object_kind\":\"note\",\"user\":{\"id\":5,\"username\":\"ann\"},\"project\":"                                        \
	"{\"path_with_namespace\":\"team/kernels\"},\"merge_request\":{\"iid\":7},\"object_attributes\":"                        \
	"{\"author_id\":" author ",\"noteable_type\":\"" type "\",\"note\":\"" text "\"}}"

static void gitlab_has_the_same_rules(void **state)
{
	(void)state;
	snprintf(repo->status.kind, sizeof repo->status.kind, "gitlab");
	assert_true(states(GITLAB_LABELS("", MEASURE)));
	assert_int_equal(one.number, 7);
	assert_int_equal(one.who_id, 5);
	assert_string_equal(one.head, HEAD);
	assert_false(states(GITLAB_LABELS(MEASURE, MEASURE)));
	assert_false(states(GITLAB_LABELS(MEASURE, "")));
	assert_true(states(GITLAB_NOTE("MergeRequest", "5", "/flopwatch approve " OTHER)));
	assert_string_equal(one.head, OTHER);
	assert_false(states(GITLAB_NOTE("Issue", "5", "/flopwatch approve " OTHER)));
	assert_false(states(GITLAB_NOTE("MergeRequest", "6", "/flopwatch approve " OTHER)));
	assert_false(states(GITHUB_LABEL("labeled", "measure", "team/kernels")));
}

#define LISTED(id, who, created, updated)                                                                                        \
	"{\"line\":0,\"imported\":false,\"id\":" id ",\"created_at\":\"" created "\",\"updated_at\":\"" updated                  \
	"\",\"user\":{\"login\":\"" who "\"},\"author\":{}}"

/* Whether a comment from the forge's list approves HEAD of request 7. */
static bool lists(const char *comment)
{
	int64_t id;
	json_t *root = json_loads(comment, 0, NULL);
	assert_non_null(root);
	bool approves = forge_comment_read(repo, root, 7, HEAD, &id, &one);
	json_decref(root);
	return approves && id == 81;
}

static void an_unedited_listed_comment_approves(void **state)
{
	(void)state;
	assert_true(lists(LISTED("81", "ann", "2026-11-21T02:46:00Z", "2026-11-21T02:46:00Z")));
	assert_int_equal(one.number, 7);
	assert_string_equal(one.head, HEAD);
	assert_string_equal(one.who, "ann");
	assert_false(lists(LISTED("81", "ann", "2026-11-21T02:46:00Z", "2026-11-21T02:46:01Z"))); /* perhaps by another user */
	assert_false(lists(LISTED("81", "ann", "", "")));
	assert_false(lists(LISTED("81", "", "2026-11-21T02:46:00Z", "2026-11-21T02:46:00Z")));
	assert_false(lists(LISTED("-1", "ann", "2026-11-21T02:46:00Z", "2026-11-21T02:46:00Z")));
	assert_false(lists("{\"id\":81,\"user\":{\"login\":\"ann\"}}"));
	snprintf(repo->status.kind, sizeof repo->status.kind, "gitlab");
	assert_false(lists(LISTED("81", "ann", "2026-11-21T02:46:00Z", "2026-11-21T02:46:00Z"))); /* it has no author */
	assert_true(lists(
		"{\"id\":81,\"imported\":false,\"created_at\":\"t\",\"updated_at\":\"t\",\"system\":false,\"author\":{\"id\":5,\"username\":\"ann\"}}"));
	assert_int_equal(one.who_id, 5);
	assert_false(lists(
		"{\"id\":81,\"imported\":false,\"created_at\":\"t\",\"updated_at\":\"t\",\"system\":true,\"author\":{\"id\":5,\"username\":\"ann\"}}"));
	assert_false(lists(/* a migration wrote it, in the name of another user */
		"{\"id\":81,\"imported\":true,\"created_at\":\"t\",\"updated_at\":\"t\",\"author\":{\"id\":5,\"username\":\"ann\"}}"));
}

static void a_permission_must_be_enough(void **state)
{
	(void)state;
	static const struct {
		const char *kind, *wanted, *reported;
		bool enough;
	} cases[] = { { "github", "write", "write", true }, { "github", "write", "admin", true },
		{ "github", "write", "read", false }, { "github", "write", "none", false }, { "github", "admin", "write", false },
		{ "github", "", "admin", false }, { "gitea", "admin", "owner", true }, { "gitea", "write", "", false },
		{ "gitlab", "write", "30", true }, { "gitlab", "write", "20", false }, { "gitlab", "admin", "30", false },
		{ "gitlab", "admin", "50", true }, { "gitlab", "write", "none", false }, { "gitlab", "write", "", false } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		snprintf(repo->status.kind, sizeof repo->status.kind, "%s", cases[i].kind);
		snprintf(repo->pulls.approve_by.permission, sizeof repo->pulls.approve_by.permission, "%s", cases[i].wanted);
		if (approval_is_enough(repo, cases[i].reported) != cases[i].enough)
			fail_msg("%s: %s is wanted, %s is reported", cases[i].kind, cases[i].wanted, cases[i].reported);
	}
}

static void other_bodies_state_no_approval(void **state)
{
	(void)state;
	static const char *const bodies[] = { "", "{", "[]", "7", "{\"repository\":7}", "payload=%7B%7D",
		"{\"repository\":{\"full_name\":\"team/kernels\"},\"ref\":\"refs/heads/main\",\"after\":\"" HEAD "\"}" };
	for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
		assert_false(states(bodies[i]));
}

static int db_setup(void **state)
{
	return fixture_setup(state) != 0 || setup(NULL) != 0 ? -1 : 0;
}

static int db_teardown(void **state)
{
	(void)teardown(NULL);
	return fixture_teardown(state);
}

/* Take a comment by a user, and return the number of approvals that wait. */
static int64_t take(struct fixture *f, const char *who, const char *head)
{
	char event[600];
	snprintf(event, sizeof event,
		"{\"action\":\"created\",\"issue\":{\"number\":7,\"pull_request\":{}},\"comment\":{\"body\":\"/flopwatch approve "
		"%s\",\"user\":{\"login\":\"%s\"}},\"repository\":{\"full_name\":\"team/kernels\"},\"sender\":{\"login\":\"%s\"}}",
		head, who, who);
	ok(approval_enqueue(f->db, repo, event, strlen(event), 1, &err));
	return fixture_number(f, "SELECT count(*) FROM outbox WHERE kind = 'approval' AND state = 'waiting'");
}

static void strangers_cause_few_requests(void **state)
{
	struct fixture *f = *state;
	char who[16];
	snprintf(repo->name, sizeof repo->name, "kernels");
	snprintf(repo->pulls.approve_by.user[0], sizeof repo->pulls.approve_by.user[0], "ann");
	repo->pulls.approve_by.n_users = 1;
	assert_int_equal(take(f, "mallory", HEAD), 0); /* without `permission` only listed users may approve */
	assert_int_equal(take(f, "ann", HEAD), 1);
	snprintf(repo->pulls.approve_by.permission, sizeof repo->pulls.approve_by.permission, "write");
	assert_int_equal(take(f, "mallory", HEAD), 2);
	assert_int_equal(take(f, "mallory", OTHER), 2); /* instead of the one before */
	for (int i = 0; i < 20; i++) {
		snprintf(who, sizeof who, "mallory%d", i);
		assert_true(take(f, who, HEAD) <= 8);
	}
	assert_int_equal(take(f, "ann", OTHER), 8);
	one = (struct forge_approval){ .number = 7, .head = HEAD, .who = "carol" };
	assert_int_equal(approval_enqueue_one(f->db, repo, &one, 1, &err), 1); /* too many wait: a poll reads it again */
	snprintf(one.who, sizeof one.who, "ann");
	assert_int_equal(approval_enqueue_one(f->db, repo, &one, 1, &err), 0);
	snprintf(one.head, sizeof one.head, "%s", OTHER);
	assert_int_equal(approval_enqueue_one(f->db, repo, &one, 1, &err), 0);
	assert_int_equal(fixture_number(f, "SELECT payload ->> 'head' = '" OTHER
					   "' FROM outbox WHERE subject = '7 ann' AND state = 'waiting'"),
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_label_of_github_approves_the_head_of_its_event, setup, teardown),
		cmocka_unit_test_setup_teardown(a_comment_approves_the_commit_that_it_names, setup, teardown),
		cmocka_unit_test_setup_teardown(a_label_of_gitea_approves_when_it_is_added, setup, teardown),
		cmocka_unit_test_setup_teardown(gitlab_has_the_same_rules, setup, teardown),
		cmocka_unit_test_setup_teardown(an_unedited_listed_comment_approves, setup, teardown),
		cmocka_unit_test_setup_teardown(a_permission_must_be_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(other_bodies_state_no_approval, setup, teardown),
		cmocka_unit_test_setup_teardown(strangers_cause_few_requests, db_setup, db_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
