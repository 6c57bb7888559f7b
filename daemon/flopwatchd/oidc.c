/* oidc.c - the log-in by an OpenID Connect provider. flopwatch-send makes all requests to it and checks its answers. */
#include "flopwatchd/internal.h"

#include <jansson.h>
#include <sys/random.h>

#include "web/answer/answer.h"

enum { LOG_INS_MAX = 4, CHECKS_MAX = 4, DEADLINE_MS = 50000, PRINTED_MAX = 256 << 10, ENDPOINT_SIZE = 1024 };
enum { KEY_BYTES = 32, COOKIE_RANDOM_BYTES = 16, NEXT_MAX = 80, USED_MAX = 256 };

static const int64_t begin_ms = 10 * 60000;                   /* a user has this time to log in at the provider */
static const int64_t endpoint_ms = 10 * 60000;                /* how long the provider's description is used */
static const int64_t check_ms = 5 * 60000;                    /* the groups of a user are requested again after this time, */
static const int64_t check_again_ms = 60000;                  /* after a failed request after this one */
static const int64_t unchecked_ms = 10 * 60000;               /* a log-in that cannot be checked ends then */
static const int64_t answered_ms = INT64_C(24) * 3600 * 1000; /* a provider that answers must send the groups in this time */
static const int64_t wake_ms = 60000;                         /* the clock may be set while the timer waits */
static const char callback_path[] = "/login/oidc/callback", logged_out_path[] = "/login/oidc/logged-out",
		  check_path[] = "/login/oidc/check";

/* A request of a browser that waits for the provider. */
struct log_in {
	struct oidc *all;
	const void *request; /* NULL: free */
	struct child *child; /* NULL: it has ended */
	char client[HTTP_CLIENT_MAX];
	bool is_code;   /* exchanges a code; otherwise reads the provider's description */
	json_t *answer; /* the user, until the account is stored; NULL: none */
	struct fw_err why;
	struct site_user user;
	struct buf log_out; /* of user.log_out */
};

struct check {
	struct oidc *all;
	struct child *child;               /* NULL: free */
	struct store_account_due *account; /* as it was when the check began; NULL: free */
};

struct oidc {
	struct loop *loop;
	const struct config *config;
	struct db *db;
	const struct oidc_hooks *hooks;
	struct loop_source *timer;
	unsigned char key[KEY_BYTES]; /* of the values that bind a log-in to its browser */
	char endpoint[ENDPOINT_SIZE]; /* where browsers log in; "": not known yet */
	int64_t endpoint_ns;
	struct log_in log_in[LOG_INS_MAX];
	char used[USED_MAX][HASH_HEX]; /* states whose code was exchanged: a ring */
	int next_used;
	struct check check[CHECKS_MAX];
	bool is_ending;             /* no further check is started */
	void (*drained)(void *arg); /* called when none is in progress; NULL: no caller waits for that */
	void *drained_arg;
};

/* ---- requests of the child --------------------------------------------------------------------------------------------- */

struct request_text {
	const char *step, *code, *verifier, *redirect_uri, *nonce, *refresh_token, *subject; /* NULL: none */
};

static int start_child(
	struct oidc *o, const struct request_text *text, child_fn *fn, void *arg, struct child **child, struct fw_err *err)
{
	static const char *const args[] = { "log-in", NULL };
	const struct config_oidc *c = &o->config->oidc;
	struct buf in;
	struct jsonw j;
	buf_init(&in, PRINTED_MAX);
	jsonw_init(&j, &in);
	jsonw_format(&j,
		"{ step=%s issuer=%s client_id=%s client_secret=%s allow_internal=%i ca_file?=%s groups_claim=%s code?=%s "
		"verifier?=%s redirect_uri?=%s nonce?=%s refresh_token?=%s subject?=%s }",
		text->step, c->issuer, c->client_id, c->client_secret, c->allow_internal, c->ca_file, c->groups_claim, text->code,
		text->verifier, text->redirect_uri, text->nonce, text->refresh_token, text->subject);
	const struct child_spec spec = { .program = "flopwatch-send",
		.args = args,
		.in = &in,
		.out_fd = -1,
		.out_max = PRINTED_MAX,
		.deadline_ms = DEADLINE_MS };
	int result = in.failed ? err_set(err, ERR_INVALID, "the request to the provider does not fit")
			       : child_start(o->loop, &spec, fn, arg, child, err);
	if (in.data)
		explicit_bzero(in.data, in.len);
	buf_fini(&in);
	return result;
}

/* The highest role of the user's groups. */
static enum token_scope scope_of(const struct oidc *o, const json_t *user)
{
	enum token_scope highest = TOKEN_NONE;
	size_t i;
	json_t *group;
	json_array_foreach(json_object_get(user, "groups"), i, group)
	{
		const char *name = json_string_value(group);
		enum token_scope scope = name ? config_oidc_scope(&o->config->oidc, name) : TOKEN_NONE;
		highest = scope > highest ? scope : highest;
	}
	return highest;
}

static const char *scope_word(enum token_scope scope)
{
	return scope == TOKEN_ADMIN ? "admin" : scope == TOKEN_TRIGGER ? "trigger" : "read";
}

/* The name of the account's token: no made token can have it, and it is plain in addresses and logs. */
static void name_account(const char *name, char out[64])
{
	snprintf(out, 64, "oidc~%s", name);
	for (char *c = out; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *c))
			*c = '~';
}

static void record(struct oidc *o, const char *who, const char *path, int status)
{
	struct fw_err err = { 0 };
	if (store_audit_add(o->db, who, path, status, clock_utc_ms(), &err) != 0)
		log_warning("audit", "path=%s who=%s err=%s", path, who, log_quote(err.text));
}

/* ---- checks of the groups of users who are logged in ----------------------------------------------------------------------- */

static void wake(void *arg);

static void schedule(struct oidc *o, int64_t delay_ms)
{
	loop_remove(o->loop, o->timer);
	loop_after(o->loop, delay_ms, wake, o, &o->timer);
}

static void end_account(struct check *k, const char *why)
{
	struct oidc *o = k->all;
	struct fw_err err = { 0 };
	bool is_current = false;
	const char *name = k->account->name;
	if (store_account_end(o->db, k->account, &is_current, &err) != 0)
		log_error("login.end", "who=%s err=%s", name, log_quote(err.text));
	if (!is_current)
		return;
	log_info("login.ended", "who=%s why=%s", name, log_quote(why));
	record(o, name, check_path, 403);
	o->hooks->end_streams(o->hooks->arg);
}

static int seal_refresh(const struct check *k, const json_t *answer, struct buf *sealed, struct fw_err *err)
{
	const char *refresh = json_string_value(json_object_get(answer, "refresh_token"));
	return seal_text(k->all->config->oidc.client_secret, k->account->subject, refresh ? refresh : "", sealed, err);
}

static int store_check(struct check *k, const json_t *user, enum token_scope scope, bool *is_current, struct fw_err *err)
{
	struct oidc *o = k->all;
	struct buf sealed;
	buf_init(&sealed, STORE_REFRESH_MAX - 1);
	int result = seal_refresh(k, user, &sealed, err);
	if (result == 0)
		result = store_account_check(o->db, k->account, scope_word(scope), sealed.data, clock_utc_ms(), is_current, err);
	buf_fini(&sealed);
	return result;
}

static void take_check(struct check *k, const json_t *user)
{
	struct oidc *o = k->all;
	struct fw_err err = { 0 };
	bool is_current = false;
	enum token_scope scope = scope_of(o, user);
	const struct store_account_due *a = k->account;
	if (scope == TOKEN_NONE) {
		end_account(k, "the user is in no group of oidc.roles");
		return;
	}
	if (store_check(k, user, scope, &is_current, &err) != 0)
		log_warning("login.check", "who=%s err=%s", a->name, log_quote(err.text));
	if (!is_current || strcmp(scope_word(scope), a->scope) == 0)
		return;
	log_info("login.role", "who=%s was=%s is=%s", a->name, a->scope, scope_word(scope));
	record(o, a->name, check_path, 200);
	o->hooks->end_streams(o->hooks->arg);
}

/* The groups are not known. The log-in stays as it is, but not for long where the provider answers. */
static void take_failure(struct check *k, const json_t *answer, const char *why)
{
	struct fw_err err = { 0 };
	struct buf sealed;
	log_warning("login.check", "who=%s err=%s", k->account->name, log_quote(why));
	if (json_is_true(json_object_get(answer, "answered")) && clock_utc_ms() - k->account->checked_at > answered_ms) {
		end_account(k, "the provider answers, but has sent no groups for 24 hours");
		return;
	}
	if (!json_is_string(json_object_get(answer, "refresh_token")))
		return;
	buf_init(&sealed, STORE_REFRESH_MAX - 1);
	if (seal_refresh(k, answer, &sealed, &err) != 0 || store_account_renew(k->all->db, k->account, sealed.data, &err) != 0)
		log_warning("login.check", "who=%s err=%s", k->account->name, log_quote(err.text));
	buf_fini(&sealed);
}

static void free_check(struct check *k)
{
	child_cancel(k->child);
	free(k->account);
	*k = (struct check){ .all = k->all };
}

static bool is_checking(const struct oidc *o)
{
	for (int i = 0; i < CHECKS_MAX; i++)
		if (o->check[i].account)
			return true;
	return false;
}

static void on_checked(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct check *k = arg;
	json_t *user = json_loadb(out->data, out->len, JSON_DISABLE_EOF_CHECK, NULL);
	k->child = NULL;
	if (json_is_true(json_object_get(user, "refused")))
		end_account(k, "the provider refuses to send the groups");
	else if (failed)
		take_failure(k, user, failed->text);
	else if (json_is_object(user))
		take_check(k, user);
	json_decref(user);
	free_check(k);
	struct oidc *o = k->all;
	if (!o->is_ending)
		schedule(o, 0);
	else if (o->drained && !is_checking(o))
		o->drained(o->drained_arg);
}

/* Own: takes over `due`. */
static void start_check(struct check *k, struct store_account_due *due)
{
	struct oidc *o = k->all;
	struct fw_err err = { 0 };
	struct buf refresh;
	k->account = due;
	buf_init(&refresh, STORE_REFRESH_MAX);
	if (seal_open(o->config->oidc.client_secret, due->subject, due->refresh, &refresh, &err) != 0) {
		end_account(k, "the client's secret was changed");
	} else {
		const struct request_text text = { .step = "refresh", .refresh_token = refresh.data, .subject = due->subject };
		if (start_child(o, &text, on_checked, k, &k->child, &err) != 0)
			log_warning("login.check", "who=%s err=%s", due->name, log_quote(err.text));
	}
	if (refresh.data)
		explicit_bzero(refresh.data, refresh.len);
	buf_fini(&refresh);
	if (!k->child)
		free_check(k);
}

static struct check *find_free_check(struct oidc *o)
{
	for (int i = 0; i < CHECKS_MAX; i++)
		if (!o->check[i].account)
			return &o->check[i];
	return NULL;
}

static bool is_in_progress(const struct oidc *o, int64_t account)
{
	for (int i = 0; i < CHECKS_MAX; i++)
		if (o->check[i].account && o->check[i].account->id == account)
			return true;
	return false;
}

/* Start the checks that are due. Without a user who is logged in there is no timer. */
static void wake(void *arg)
{
	struct oidc *o = arg;
	struct check *k;
	bool is_started = true;
	o->timer = NULL;
	while (is_started && (k = find_free_check(o))) {
		struct fw_err err = { 0 };
		struct store_account_due *due = mem_alloc(sizeof *due);
		int64_t now_ms = clock_utc_ms();
		int found = store_account_due(o->db, check_ms, check_again_ms, now_ms, due, &err);
		is_started = found == 1 && due->at <= now_ms && store_account_try(o->db, due->id, now_ms, &err) == 0;
		if (is_started && !is_in_progress(o, due->id)) { /* it may be, if the clock was set meanwhile */
			start_check(k, due);
			continue;
		}
		if (err.code)
			log_warning("login.check", "err=%s", log_quote(err.text));
		if (!is_started && (err.code || found == 1))
			schedule(o, err.code || due->at - now_ms > wake_ms ? wake_ms : due->at - now_ms);
		free(due);
	}
}

void oidc_wake(struct oidc *o)
{
	if (o && !o->is_ending)
		schedule(o, 0);
}

void oidc_stop_checks(struct oidc *o)
{
	if (!o)
		return;
	loop_remove(o->loop, o->timer);
	o->timer = NULL;
	o->is_ending = true;
}

void oidc_drain(struct oidc *o, void (*done)(void *arg), void *arg)
{
	if (!o || !is_checking(o)) {
		done(arg);
		return;
	}
	o->drained = done;
	o->drained_arg = arg;
}

/* ---- log-ins of browsers ---------------------------------------------------------------------------------------------------- */

/* Values that only the browser with this cookie can know or cause: state, nonce, verifier. */
static void derive(const struct oidc *o, const char *purpose, const char *cookie, char hex[HASH_HEX])
{
	struct buf text;
	unsigned char mac[32];
	buf_init(&text, 1024);
	buf_printf(&text, "%s %s", purpose, cookie);
	hash_hmac(o->key, sizeof o->key, text.data, text.len, mac);
	hash_to_hex(mac, sizeof mac, hex);
	buf_fini(&text);
}

/* The slot of a request; NULL: a free one. */
static struct log_in *find(struct oidc *o, const void *request)
{
	for (int i = 0; i < LOG_INS_MAX; i++)
		if (o->log_in[i].request == request)
			return &o->log_in[i];
	return NULL;
}

/* One address has at most one slot: a client cannot take them all. */
static struct log_in *take_slot(struct oidc *o, const void *request, const char *client, struct fw_err *err)
{
	struct log_in *l = find(o, NULL);
	for (int i = 0; i < LOG_INS_MAX; i++)
		if (client[0] && o->log_in[i].request && strcmp(o->log_in[i].client, client) == 0) {
			err_set(err, ERR_BUSY,
				"another log-in of your address waits for the provider; try again in a few seconds");
			return NULL;
		}
	if (!l) {
		err_set(err, ERR_BUSY, "%d log-ins wait for the provider already; try again in a few seconds", LOG_INS_MAX);
		return NULL;
	}
	*l = (struct log_in){ .all = o, .request = request };
	snprintf(l->client, sizeof l->client, "%s", client);
	return l;
}

static bool is_used(const struct oidc *o, const char *state)
{
	for (int i = 0; i < USED_MAX; i++)
		if (strcmp(o->used[i], state) == 0)
			return true;
	return false;
}

static void note_used(struct oidc *o, const char *state)
{
	snprintf(o->used[o->next_used], HASH_HEX, "%s", state);
	o->next_used = (o->next_used + 1) % USED_MAX;
}

static bool knows_endpoint(const struct oidc *o)
{
	return o->endpoint[0] && clock_mono_ns() - o->endpoint_ns < endpoint_ms * 1000000;
}

static void take_endpoint(struct log_in *l, const json_t *answer)
{
	struct oidc *o = l->all;
	const char *url = json_string_value(json_object_get(answer, "authorization_endpoint"));
	if (!url || strlen(url) >= sizeof o->endpoint) {
		err_set(&l->why, ERR_IO, "the provider's description has no usable authorization_endpoint");
		return;
	}
	snprintf(o->endpoint, sizeof o->endpoint, "%s", url);
	o->endpoint_ns = clock_mono_ns();
}

static void name_log_out(int64_t token, char out[48])
{
	snprintf(out, 48, "log-out of %lld", (long long)token);
}

/* Seal the provider's address for log-outs and the ID token, a line each, for the session. */
static int seal_log_out(struct log_in *l, const json_t *user, struct fw_err *err)
{
	const struct config_oidc *c = &l->all->config->oidc;
	const char *url = json_string_value(json_object_get(user, "end_session_endpoint")),
		   *id_token = json_string_value(json_object_get(user, "id_token"));
	struct buf text;
	char about[48];
	if (!url || !c->has_log_out)
		return 0;
	name_log_out(l->user.token, about);
	buf_init(&text, STORE_REFRESH_MAX);
	buf_init(&l->log_out, STORE_REFRESH_MAX);
	buf_printf(&text, "%s\n%s", url, id_token ? id_token : "");
	int result = text.failed ? err_set(err, ERR_IO, "the provider sent an ID token that is too long")
				 : seal_text(c->client_secret, about, text.data, &l->log_out, err);
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_fini(&text);
	l->user.log_out = l->log_out.data;
	return result;
}

static int store_user(struct log_in *l, const json_t *user, struct fw_err *err)
{
	struct oidc *o = l->all;
	const struct config_oidc *c = &o->config->oidc;
	unsigned char random[KEY_BYTES];
	char hash[HASH_HEX];
	struct buf sealed;
	const char *subject = json_string_value(json_object_get(user, "subject")),
		   *name = json_string_value(json_object_get(user, "name")),
		   *refresh = json_string_value(json_object_get(user, "refresh_token"));
	enum token_scope scope = scope_of(o, user);
	if (!subject || !name)
		return err_set(err, ERR_IO, "flopwatch-send printed no user");
	l->user.is_named = true;
	name_account(name, l->user.name);
	if (scope == TOKEN_NONE)
		return err_set(err, ERR_CONFLICT, "%s is in no group that has a role here; ask an admin of this flopwatch",
			l->user.name);
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return err_sys(err, "cannot read random bytes");
	hash_to_hex(random, sizeof random, hash);
	buf_init(&sealed, STORE_REFRESH_MAX - 1);
	int result = refresh ? seal_text(c->client_secret, subject, refresh, &sealed, err) : 0;
	snprintf(l->user.scope, sizeof l->user.scope, "%s", scope_word(scope));
	l->user.session_ms = refresh ? (int64_t)ACCESS_SESSION_DAYS * 24 * 3600 * 1000 : unchecked_ms;
	const struct store_account account = { .issuer = c->issuer,
		.subject = subject,
		.name = l->user.name,
		.scope = l->user.scope,
		.hash = hash,
		.refresh = refresh ? sealed.data : "" };
	if (result == 0)
		result = store_account_put(o->db, &account, &l->user.token, clock_utc_ms(), err);
	if (result == 0)
		result = seal_log_out(l, user, err);
	buf_fini(&sealed);
	if (result == 0 && !refresh)
		log_warning("login.unchecked",
			"who=%s why=\"the provider sends no refresh token, so this log-in ends after 10 minutes; see oidc.scopes\"",
			l->user.name);
	return result;
}

static void on_log_in_end(void *arg, const struct buf *out, const struct fw_err *failed)
{
	struct log_in *l = arg;
	struct oidc *o = l->all;
	json_t *answer = json_loadb(out->data, out->len, JSON_DISABLE_EOF_CHECK, NULL);
	l->child = NULL;
	if (json_is_true(json_object_get(answer, "refused")))
		err_set(&l->why, ERR_CONFLICT, "the provider does not accept the code of this log-in; log in again");
	else if (failed)
		err_set(&l->why, ERR_IO, "%s", failed->text);
	else if (!l->is_code)
		take_endpoint(l, answer);
	else
		l->answer = json_incref(answer);
	if (l->why.code)
		log_warning("login.failed", "err=%s", log_quote(l->why.text));
	json_decref(answer);
	o->hooks->answered(o->hooks->arg);
}

static void free_log_in(struct log_in *l)
{
	child_cancel(l->child);
	json_decref(l->answer);
	buf_fini(&l->log_out);
	*l = (struct log_in){ .all = l->all };
}

int oidc_begin(struct oidc *o, const void *request, const char *client, struct fw_err *err)
{
	struct log_in *l = take_slot(o, request, client, err);
	if (!l)
		return -1;
	if (knows_endpoint(o) || start_child(o, &(struct request_text){ .step = "begin" }, on_log_in_end, l, &l->child, err) == 0)
		return 0;
	*l = (struct log_in){ .all = o };
	return -1;
}

static void put_argument(struct buf *url, const char *name, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
	buf_printf(url, "%s%s=", strchr(url->data, '?') ? "&" : "?", name);
	for (; *value; value++)
		if (strchr(plain, *value))
			buf_append(url, value, 1);
		else
			buf_printf(url, "%%%02X", (unsigned char)*value);
}

/* S256 of PKCE: base64url of the verifier's SHA-256, without padding. */
static void write_challenge(const char *verifier, char out[64])
{
	unsigned char digest[32];
	struct buf text;
	buf_init(&text, 64);
	hash_bytes(verifier, strlen(verifier), digest);
	buf_base64(&text, digest, sizeof digest);
	snprintf(out, 64, "%s", text.data);
	for (char *c = out; *c; c++)
		*c = (char)(*c == '+' ? '-' : *c == '/' ? '_' : *c == '=' ? '\0' : *c);
	buf_fini(&text);
}

static void write_redirect_uri(const struct oidc *o, char *out, size_t size)
{
	snprintf(out, size, "%s%s", o->config->public_url, callback_path);
}

static int write_address(struct oidc *o, const char *next, struct site_login *out, struct fw_err *err)
{
	unsigned char random[COOKIE_RANDOM_BYTES];
	char digits[2 * COOKIE_RANDOM_BYTES + 1], state[HASH_HEX], nonce[HASH_HEX], verifier[HASH_HEX], challenge[64], back[600];
	struct buf url;
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return err_sys(err, "cannot read random bytes");
	hash_to_hex(random, sizeof random, digits);
	snprintf(out->cookie, sizeof out->cookie, "%lld-%s~%s", (long long)clock_utc_ms(), digits,
		strlen(next) <= NEXT_MAX ? next : "/");
	derive(o, "state", out->cookie, state);
	derive(o, "nonce", out->cookie, nonce);
	derive(o, "verifier", out->cookie, verifier);
	write_challenge(verifier, challenge);
	write_redirect_uri(o, back, sizeof back);
	buf_init(&url, sizeof out->location - 1);
	buf_puts(&url, o->endpoint);
	put_argument(&url, "response_type", "code");
	put_argument(&url, "client_id", o->config->oidc.client_id);
	put_argument(&url, "redirect_uri", back);
	put_argument(&url, "scope", o->config->oidc.scopes);
	put_argument(&url, "state", state);
	put_argument(&url, "nonce", nonce);
	put_argument(&url, "code_challenge", challenge);
	put_argument(&url, "code_challenge_method", "S256");
	if (o->config->oidc.has_consent && strstr(o->config->oidc.scopes, "offline_access"))
		put_argument(&url, "prompt", "consent");
	int result = url.failed ? err_set(err, ERR_IO, "the provider's address is too long") : 0;
	snprintf(out->location, sizeof out->location, "%s", url.data);
	buf_fini(&url);
	return result;
}

int oidc_address(struct oidc *o, const void *request, const char *next, struct site_login *out, struct fw_err *err)
{
	const struct log_in *l = find(o, request);
	if (!l)
		return err_set(err, ERR_INTERNAL, "this request has no log-in in progress");
	if (l->child)
		return 1;
	if (l->why.code)
		return err_set(err, l->why.code, "%s", l->why.text);
	return write_address(o, next, out, err);
}

/* Whether the browser that began the log-in returned with this state, in time. */
static bool is_begun_here(const struct oidc *o, const char *cookie, const char *state)
{
	char wanted[HASH_HEX];
	char *end;
	if (!cookie || !state || strlen(state) != HASH_HEX - 1)
		return false;
	derive(o, "state", cookie, wanted);
	int64_t age_ms = clock_utc_ms() - strtoll(cookie, &end, 10);
	return hash_equal(wanted, state, HASH_HEX - 1) && *end == '-' && age_ms >= 0 && age_ms <= begin_ms;
}

int oidc_exchange(struct oidc *o, const void *request, const struct site_code *code, struct fw_err *err)
{
	char nonce[HASH_HEX], verifier[HASH_HEX], back[600];
	if (!is_begun_here(o, code->cookie, code->state))
		return err_set(
			err, ERR_INVALID, "this log-in was not begun in this browser, or more than 10 minutes ago; log in again");
	if (code->issuer && strcmp(code->issuer, o->config->oidc.issuer) != 0)
		return err_set(err, ERR_INVALID, "another provider than that of oidc.issuer sent the browser back (iss)");
	if (code->error || !code->code) {
		log_warning("login.failed", "err=\"the provider refused it\" why=%s", log_quote(code->error ? code->error : ""));
		return err_set(
			err, ERR_CONFLICT, "the provider refused the log-in: %.60s", code->error ? code->error : "no code");
	}
	if (is_used(o, code->state))
		return err_set(err, ERR_INVALID, "this log-in was used already, perhaps by a reload of its page; log in again");
	struct log_in *l = take_slot(o, request, code->client, err);
	if (!l)
		return -1;
	l->is_code = true;
	const char *next = strchr(code->cookie, '~');
	snprintf(l->user.next, sizeof l->user.next, "%s", next ? access_next(next + 1) : "/");
	derive(o, "nonce", code->cookie, nonce);
	derive(o, "verifier", code->cookie, verifier);
	write_redirect_uri(o, back, sizeof back);
	const struct request_text text = {
		.step = "code", .code = code->code, .verifier = verifier, .redirect_uri = back, .nonce = nonce
	};
	if (start_child(o, &text, on_log_in_end, l, &l->child, err) == 0) {
		note_used(o, code->state);
		return 0;
	}
	*l = (struct log_in){ .all = o };
	return -1;
}

/* Stores the account only now: the caller inserts the session at once, so no other writer deletes the tokens in between. */
int oidc_user(struct oidc *o, const void *request, struct site_user *out, struct fw_err *err)
{
	struct log_in *l = find(o, request);
	if (!l)
		return err_set(err, ERR_INTERNAL, "this request has no log-in in progress");
	if (l->child)
		return 1;
	json_t *user = l->answer;
	l->answer = NULL;
	if (user && store_user(l, user, &l->why) != 0)
		log_warning("login.failed", "err=%s", log_quote(l->why.text));
	else if (user)
		log_info("login", "who=%s scope=%s", l->user.name, l->user.scope);
	json_decref(user);
	*out = l->user;
	return l->why.code ? err_set(err, l->why.code, "%s", l->why.text) : 0;
}

void oidc_finish(struct oidc *o, const void *request)
{
	struct log_in *l = o ? find(o, request) : NULL;
	if (!l)
		return;
	if (l->user.token) /* the session exists now */
		oidc_wake(o);
	free_log_in(l);
}

/* ---- log-outs ------------------------------------------------------------------------------------------------------------ */

int oidc_log_out(struct oidc *o, int64_t token, const char *sealed, struct buf *location, struct fw_err *err)
{
	const struct config_oidc *c = &o->config->oidc;
	char about[48], back[600], cause[64], mac[HASH_HEX];
	struct buf text;
	if (!c->has_log_out)
		return 0;
	name_log_out(token, about);
	buf_init(&text, STORE_REFRESH_MAX);
	int result = seal_open(c->client_secret, about, sealed, &text, err);
	if (result == 0) {
		char *id_token = text.data, *url = strsep(&id_token, "\n");
		snprintf(cause, sizeof cause, "%lld", (long long)clock_utc_ms());
		derive(o, "log-out", cause, mac);
		snprintf(back, sizeof back, "%s%s", o->config->public_url, logged_out_path);
		buf_puts(location, url);
		if (id_token && *id_token)
			put_argument(location, "id_token_hint", id_token);
		put_argument(location, "client_id", c->client_id);
		put_argument(location, "post_logout_redirect_uri", back);
		buf_printf(location, "&state=%s-%s", cause, mac);
		explicit_bzero(text.data, text.len);
	}
	buf_fini(&text);
	return result == 0 && location->failed ? err_set(err, ERR_IO, "the address of the log-out is too long") : result;
}

bool oidc_is_logged_out(const struct oidc *o, const char *state)
{
	char cause[64] = "", mac[HASH_HEX], *end;
	size_t len = state ? strcspn(state, "-") : 0;
	if (!len || len >= sizeof cause || strlen(state + len) != HASH_HEX)
		return false;
	snprintf(cause, sizeof cause, "%.*s", (int)len, state);
	derive(o, "log-out", cause, mac);
	int64_t age_ms = clock_utc_ms() - strtoll(cause, &end, 10);
	return hash_equal(mac, state + len + 1, HASH_HEX - 1) && !*end && age_ms >= 0 && age_ms <= begin_ms;
}

/* ---- start and stop ------------------------------------------------------------------------------------------------------- */

int oidc_start(struct loop *l, const struct config *c, struct db *db, const struct oidc_hooks *hooks, struct oidc **out,
	struct fw_err *err)
{
	*out = NULL;
	/* all users are due: oidc.roles may have changed */
	if (store_account_end_others(db, c->oidc.issuer, clock_utc_ms(), err) != 0 ||
		store_account_hurry(db, clock_utc_ms() - check_ms, err) != 0)
		return -1;
	if (!c->oidc.issuer[0])
		return 0;
	struct oidc *o = mem_alloc_zero(1, sizeof *o);
	*o = (struct oidc){ .loop = l, .config = c, .db = db, .hooks = hooks };
	for (int i = 0; i < LOG_INS_MAX; i++)
		o->log_in[i].all = o;
	for (int i = 0; i < CHECKS_MAX; i++)
		o->check[i].all = o;
	if (getrandom(o->key, sizeof o->key, 0) != (ssize_t)sizeof o->key) {
		free(o);
		return err_sys(err, "cannot read random bytes");
	}
	oidc_wake(o);
	*out = o;
	return 0;
}

void oidc_stop(struct oidc *o)
{
	if (!o)
		return;
	loop_remove(o->loop, o->timer);
	for (int i = 0; i < LOG_INS_MAX; i++)
		free_log_in(&o->log_in[i]);
	for (int i = 0; i < CHECKS_MAX; i++)
		free_check(&o->check[i]);
	explicit_bzero(o->key, sizeof o->key);
	free(o);
}
