/* config_oidc.c - the log-in by an OpenID Connect provider. */
#include "flopwatchd/config/internal.h"

/* Whether the address is on this machine, where http:// cannot be read by others. */
static bool is_loopback(const char *url)
{
	static const char *const hosts[] = { "http://127.0.0.1", "http://localhost", "http://[::1]" };
	for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
		const char *rest = config_after_prefix(url, hosts[i]);
		if (rest && (!*rest || *rest == ':' || *rest == '/'))
			return true;
	}
	return false;
}

static void read_issuer(struct yaml *y, struct yaml_node *map, struct config_oidc *o)
{
	struct yaml_node *n = yaml_get(y, map, "issuer");
	config_text_required(y, map, "issuer", o->issuer, sizeof o->issuer);
	if (!o->issuer[0])
		return;
	int before = yaml_mistakes(y);
	config_web_url_check(y, n, o->issuer, "the client's secret belongs into client_secret_file");
	if (yaml_mistakes(y) > before)
		return;
	if (!config_after_prefix(o->issuer, "https://") && !is_loopback(o->issuer))
		yaml_mistake(y, n, "does not begin with https://");
	else if (strpbrk(o->issuer, "?#"))
		yaml_mistake(y, n, "holds a query or fragment; write the `issuer` of the provider's description");
}

static void read_scopes(struct yaml *y, struct yaml_node *map, struct config_oidc *o)
{
	char list[CONFIG_LIST_MAX][64];
	struct yaml_node *n = yaml_get(y, map, "scopes");
	bool has_openid = !n;
	int count = config_text_list(y, map, "scopes", list[0], sizeof list[0], CONFIG_LIST_MAX);
	if (!n)
		snprintf(o->scopes, sizeof o->scopes, "openid profile offline_access");
	for (int i = 0; i < count; i++) {
		size_t len = strlen(o->scopes);
		has_openid |= strcmp(list[i], "openid") == 0;
		if (strpbrk(list[i], " \"\\"))
			yaml_mistake(y, n, "%s is not one scope; write a list: [openid, profile]", list[i]);
		else if (len + strlen(list[i]) + 2 > sizeof o->scopes)
			yaml_mistake(y, n, "is longer than %zu bytes", sizeof o->scopes - 1);
		else
			snprintf(o->scopes + len, sizeof o->scopes - len, "%s%s", len ? " " : "", list[i]);
	}
	if (!has_openid)
		yaml_mistake(y, n, "lacks openid, without which the provider names no user");
}

static void read_roles(struct yaml *y, struct yaml_node *map, struct config_oidc *o)
{
	struct yaml_node *n = yaml_get(y, map, "roles");
	if (!n) {
		yaml_mistake(y, map, "needs `roles`; e.g. roles: {kernel-team: trigger}");
		return;
	}
	int count = yaml_map(y, n, 1, CONFIG_LIST_MAX, "is not a mapping of 1 to %d groups to roles; e.g. {kernel-team: trigger}",
		CONFIG_LIST_MAX);
	for (int i = 0; i < count; i++) {
		struct config_role *role = &o->role[o->n_roles];
		const char *group;
		struct yaml_node *value = yaml_pair(y, n, i, &group);
		char scope[16] = "";
		if (!config_text_node(y, value, scope, sizeof scope))
			continue;
		role->scope = token_scope_of(scope);
		if (role->scope == TOKEN_NONE)
			yaml_mistake(y, value, "is not one of read, trigger, admin");
		else if (!*group || strlen(group) >= sizeof role->group)
			yaml_mistake(y, value, "belongs to a group whose name is empty or longer than %zu bytes",
				sizeof role->group - 1);
		else
			snprintf(o->role[o->n_roles++].group, sizeof role->group, "%s", group);
	}
	yaml_finish(y, n);
}

void config_oidc_read(struct yaml *y, struct yaml_node *root, struct config *c)
{
	struct yaml_node *map = yaml_get(y, root, "oidc");
	struct config_oidc *o = &c->oidc;
	if (!map || yaml_map(y, map, 1, CONFIG_LIST_MAX, "is not a mapping; e.g. {issuer: \"https://id.example.org\", ...}") < 0)
		return;
	read_issuer(y, map, o);
	config_text_required(y, map, "client_id", o->client_id, sizeof o->client_id);
	if (!yaml_get(y, map, "client_secret_file"))
		yaml_mistake(y, map, "needs `client_secret_file`, a file with the client's secret on its first line");
	config_secret(y, map, "client_secret_file", o->client_secret, sizeof o->client_secret);
	read_scopes(y, map, o);
	snprintf(o->groups_claim, sizeof o->groups_claim, "groups");
	config_text(y, map, "groups_claim", o->groups_claim, sizeof o->groups_claim);
	read_roles(y, map, o);
	o->has_consent = true;
	yaml_bool(y, yaml_get(y, map, "consent"), &o->has_consent);
	o->has_log_out = true;
	yaml_bool(y, yaml_get(y, map, "log_out"), &o->has_log_out);
	yaml_bool(y, yaml_get(y, map, "allow_internal"), &o->allow_internal);
	config_file(y, map, "ca_file", o->ca_file, sizeof o->ca_file);
	if (!c->needs_token)
		yaml_mistake(y, map, "needs `access: token`; otherwise no request needs a log-in");
	if (!c->public_url[0])
		yaml_mistake(y, map, "needs `public_url`, the address to which the provider returns the browser");
	yaml_finish(y, map);
}

enum token_scope config_oidc_scope(const struct config_oidc *o, const char *group)
{
	for (int i = 0; i < o->n_roles; i++)
		if (strcmp(o->role[i].group, group) == 0)
			return o->role[i].scope;
	return TOKEN_NONE;
}
