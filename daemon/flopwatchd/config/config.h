/** config.h - the configuration: read and check. */
#ifndef FLOPWATCHD_CONFIG_CONFIG_H
#define FLOPWATCHD_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "lib/lib.h"
#include "model/model.h"

/* ---- config: The settings of flopwatchd.yml, and the operations on them. ---- */

enum { CONFIG_SECRET_SIZE = 256 };
enum {
	CONFIG_REPOS_MAX = 64,
	CONFIG_LIST_MAX = 32,
	CONFIG_WORKERS_MAX = 256,
	CONFIG_WAYS_MAX = 2 * CONFIG_WORKERS_MAX,
	CONFIG_DEVICES_MAX = 64,
	CONFIG_JOBS_MAX = 256, /* concurrent, of one worker */
	CONFIG_HOOKS_MAX = 32,
	CONFIG_MAILS_MAX = 16
};

/** The forge that receives commit statuses. */
struct config_status {
	char kind[12];                  /* "github" "gitlab" "gitea" "forgejo"; "" nowhere */
	char api[512];                  /* "https://api.github.com", "https://git.example.org/api/v1" */
	char project[256];              /* "owner/name" */
	char token[CONFIG_SECRET_SIZE]; /* from token_file */
	bool allow_internal;            /* accept an address in a private network */
	bool checks;                    /* write check runs of GitHub instead of statuses */
};

/** Approvals by users of the forge, which its webhook reports; comments are also read at intervals. */
struct config_approve_by {
	char label[128];   /* a user sets it; "": none */
	char comment[128]; /* a user writes it, followed by the full hash of the commit; "": none */
	int n_users;
	char user[CONFIG_LIST_MAX][128]; /* names at the forge who may approve */
	char permission[8];              /* "write" or "admin": users with it in the forge's repository may approve; "": none */
	int64_t poll_ms;                 /* between two requests for the comments of requests that wait; 0: never */
};

/** Watching of pull and merge requests, which anyone may open. */
struct config_pulls {
	char refs[16];      /* "pull" or "merge-requests": refs/REFS/N/head; "": requests are not watched */
	bool measure_merge; /* measure the forge's merge result, not the head */
	int n_approvers;
	char approver[CONFIG_LIST_MAX]
		     [128];     /* names of access tokens that may approve a fork's commit; "local": without a token */
	int64_t job_ms, day_ms; /* device time of a fork's job, and of all jobs of forks in 24 hours */
	struct config_approve_by approve_by;
	bool comment; /* write the result as a comment on the request */
};

struct config_repo {
	char file[512]; /* the configuration file, and the index in `repos`: used in messages that the daemon writes later */
	int index;
	char name[128];
	char url[1024];                       /* absolute path, file://, https://, ssh:// or user@host:path */
	bool is_local;                        /* a path on this machine: read in place */
	char upstream[256];                   /* "main" */
	struct yaml_position at, upstream_at; /* of the entry; `upstream_at` is zero if the entry leaves `upstream` out */
	int n_branches;
	char branch[CONFIG_LIST_MAX]
		   [256]; /* globs; the last that matches decides, "!" excludes (branch_patterns.c); default "*" */
	int n_suites;
	char suite[MANIFEST_SUITES_MAX][64]; /* "": the manifest decides */
	struct yaml_position suite_at[MANIFEST_SUITES_MAX];
	bool has_peers; /* false: the manifest decides */
	struct peers peers;
	int64_t poll_ms; /* default: remote 60 s, local 30 s (inotify reports earlier) */
	int64_t fetch_timeout_ms;
	char secret[CONFIG_SECRET_SIZE]; /* of its webhook, from secret_file; "": no webhook */
	/* Credentials and keys of its server; "": none. flopwatch-git reads the files at each use. */
	char ssh_key[512], known_hosts[512], host_keys[512]; /* host_keys: fingerprints, joined by commas */
	char token_file[512], token_user[128], ca_file[512];
	struct config_status status;
	struct config_pulls pulls;
	char notes[8]; /* git notes on judged commits: "none", "write" (to the local repository or mirror), "push" */
};

enum worker_kind { WORKER_COMMAND, WORKER_SOCKET, WORKER_SSH, WORKER_SLURM, WORKER_KUBERNETES };

/** The other host, on which `command` runs. Empty texts and port 0 leave the choice to ssh. */
struct config_ssh {
	char host[256], user[64];
	int port;
	char key[512], known_hosts[512]; /* paths of files */
};

/** srun options for `command`. Empty texts and zeros leave the choice to the cluster. */
struct config_slurm {
	char partition[128], gres[128], account[128], qos[128];
	bool exclusive; /* the whole node */
	int cpus;
	int64_t time_ms;
	int n_options;
	char option[8][256]; /* further srun options */
};

enum { CONFIG_PAIR_SIZE = 384 /* the longest label: a name of 317 bytes, a value of 63 */ };

/** The pods in which `command` runs. */
struct config_kubernetes {
	char image[512], namespace[128], context[128]; /* context "": the current one */
	int n_resources, n_selectors;
	char resource[8][CONFIG_PAIR_SIZE]; /* limits, "NAME=QUANTITY" */
	char selector[8][CONFIG_PAIR_SIZE]; /* labels of its nodes, "NAME=VALUE" */
	int64_t time_ms;                    /* 0: no limit */
	char template[512];                 /* file with a pod in JSON; "": none */
};

struct config_worker {
	char name[64];
	enum worker_kind kind;
	int n_command;
	char command[CONFIG_LIST_MAX][512]; /* argument vector */
	char socket[108];                   /* or a Unix socket */
	struct config_ssh ssh;
	struct config_slurm slurm;
	struct config_kubernetes kubernetes;
	bool builds_separate; /* the next entry, of the same name, builds its jobs: in other allocations, or on build_cores */
	bool builds;          /* such an entry: it only builds */
	char build_cores[CORES_TEXT];         /* list of cores for its builds, which measurements do not use; "": none */
	enum device_kind device;              /* DEVICE_ANY: "auto" */
	int n_devices;                        /* 0: all of this kind */
	char devices[CONFIG_DEVICES_MAX][64]; /* indices and UUIDs */
	int max_jobs;                         /* concurrent jobs; 0: one for each device */
	int build_jobs;                       /* concurrent build processes; 0: the worker decides */
	char cache[512];                      /* "": cache_dir for a command on this machine, else the worker's default */
};

/* The receivers under `webhooks`. All kinds but RECEIVER_PROGRAM show messages to people. */
enum receiver_kind { RECEIVER_PROGRAM, RECEIVER_SLACK, RECEIVER_TEAMS, RECEIVER_DISCORD, RECEIVER_MATRIX, RECEIVER_MAIL };

struct config_webhook {
	char name[64];
	char url[1024]; /* https://, or http://; of a mail server smtp:// or smtps:// */
	enum receiver_kind kind;
	char secret[CONFIG_SECRET_SIZE]; /* signs each notification; of mail the password, of Matrix the access token; "": none */
	bool comparisons;                /* also send finished comparisons, not only alerts */
	bool allow_internal;             /* accept an address in a private network */
	char ca_file[512];               /* certificates of a private authority; "": the system's */
	char room[256];                  /* of Matrix */
	bool forum;                      /* the Discord channel is a forum, whose posts are threads */
	char from[256], user[128];       /* of mail; user "": no login */
	int n_to;
	char to[CONFIG_MAILS_MAX][256];
	bool plain;               /* mail without TLS */
	int64_t group_ms;         /* an alert waits this long for others of its culprit */
	int quiet_from, quiet_to; /* minutes of the local day in which nothing is sent; equal: none */
};

/** HTTPS by the daemon itself. The files are read at each use. */
struct config_tls {
	char certificate[512]; /* "": plain HTTP */
	char key_file[512];
	int64_t hsts_ms;
	struct yaml_position at;
};

/** A group of the provider, and what its members may do. */
struct config_role {
	char group[128];
	enum token_scope scope;
};

/** The log-in by an OpenID Connect provider. */
struct config_oidc {
	char issuer[512]; /* "": none */
	char client_id[256], client_secret[CONFIG_SECRET_SIZE];
	char scopes[512];      /* separated by spaces */
	char groups_claim[64]; /* "groups"; also a path such as realm_access.roles */
	bool has_log_out;      /* a log-out also ends the session at the provider, if it offers that */
	bool has_consent;      /* request prompt=consent with offline_access, as OpenID Connect Core requires */
	bool allow_internal;   /* accept an address in a private network */
	char ca_file[512];     /* certificates of a private authority; "": the system's */
	int n_roles;
	struct config_role role[CONFIG_LIST_MAX];
};

struct config {
	char file[512];      /* that it was read from */
	char restart[256];   /* settings of the file that need a restart, joined by commas (config_update); "" none */
	struct buf settings; /* of the file: config_settings_each */
	char state_dir[512]; /* database, mirrors */
	char cache_dir[512];
	char suites_dir[512];
	char listen_host[64];
	int listen_port; /* 0: any free port; the daemon writes it to state_dir/port */
	struct config_tls tls;
	int per_minute;       /* `requests_per_minute` of a token, or of an address without one; 0: no limit */
	bool needs_token;     /* `access: token`, or other machines can reach the port */
	char public_url[512]; /* address of the pages, without a final slash; "": unknown */
	struct config_oidc oidc;
	int n_names;
	char name[CONFIG_LIST_MAX][128]; /* further accepted Host values: "gpu1.example.org", "gpu1:8451" */
	int n_repos;
	struct config_repo repo[CONFIG_REPOS_MAX];
	int n_workers; /* includes entries that only build */
	struct config_worker worker[CONFIG_WAYS_MAX];
	int n_webhooks;
	struct config_webhook webhook[CONFIG_HOOKS_MAX];
	double build_s, check_s, run_s; /* limits sent with a job, in seconds */
	double wait_s;                  /* limit sent with a job: wait for other processes to leave the device */
	int64_t job_timeout_ms;         /* from the start of the measurement */
	int64_t hello_ms;               /* from the start of the worker to its hello */
	int64_t retry_after_ms;         /* delay before a retry of an underpowered comparison; 0: no retry */
	int64_t offline_after_ms;       /* a device that sends nothing for this time while jobs wait is offline */
	int queue_max;                  /* most queued jobs */
	bool calibrate_idle;            /* run A/A comparisons on each device at intervals while no job waits */
	int64_t calibrate_every_ms;
	struct {
		bool is_idle;           /* whenever no job waits */
		int from, to;           /* minutes of the local day; equal: never */
	} off_peak;                     /* off-peak hours: measure the cells of large suites that no push measures */
	bool split;                     /* partition a comparison over all idle devices of its class */
	bool confirm_elsewhere;         /* a regression must also show on another free device of the class */
	int64_t keep_samples_ms;        /* age at which single times move from the database to the archive */
	int64_t keep_archive_ms;        /* age at which they leave the archive; 0: never */
	bool profile;                   /* profile every alert automatically */
	char measure_cores[CORES_TEXT]; /* argument of cores_plan */
	struct cores cores;             /* its result at start */
	char sandbox[16];               /* "auto" "required" "none": passed to workers that the daemon starts */
	int n_read_only; /* folders that branch code may read; passed to workers that the daemon starts, required of others */
	char read_only[READONLY_MAX][READONLY_PATH_SIZE];
};

/**
 * Read `path`. Err: ERR_INVALID with every mistake, one a line, in `mistakes`; ERR_NOT_FOUND no such file. Own: config_free.
 * The structure takes megabytes, mostly untouched: never put it on the stack.
 */
int config_read(const char *path, struct config **out, struct buf *mistakes, struct fw_err *err);
void config_free(struct config *c);
/**
 * Copy the settings that may change while the daemon runs: repositories, webhooks, limits, calibrate, off_peak, profile, split,
 * confirm, keep_samples, keep_archive, suites_dir, and the files of `tls` if it was there at the start. `restart` gets the names of changed settings that need a restart, "" none.
 * Shape: restart[size].
 */
void config_update(struct config *live, const struct config *fresh, char *restart, size_t size);
/** Write a setting's position as the start of a message: "FILE:7:12: repos[0].suites[1]: ", "" unknown. Shape: text[size]. */
void config_position(
	const struct config_repo *r, struct yaml_position at, const char *setting, int item, char *text, size_t size);
/** Write the message for a repository without its `upstream` branch. Shape: text[size]. */
void config_no_upstream(const struct config_repo *r, char *text, size_t size);
/** Index of a repository or webhook by name, -1 if there is none. */
int config_repo_find(const struct config *c, const char *name);
int config_webhook_find(const struct config *c, const char *name);
/** End of the receiver's quiet hours that contain `now_ms`, in ms UTC; 0: it is not quiet. Quiet hours are in local time. */
int64_t config_quiet_until(const struct config_webhook *w, int64_t now_ms);

enum { CONFIG_ACCESS_ARGS = 12 };
/**
 * Append the options with which flopwatch-git reaches a repository's server; returns their number. Shape:
 * args[CONFIG_ACCESS_ARGS], no final NULL. Own: the texts belong to the configuration.
 */
int config_repo_access(const struct config_repo *r, const char **args);

/** Path of a repository for flopwatch-git: its own path if local, else its mirror. Shape: path[size]. Err: ERR_FULL too long. */
int config_repo_path(const struct config *c, const struct config_repo *r, char *path, size_t size, struct fw_err *err);

/** Return the scope of the members of a group; TOKEN_NONE: `roles` does not name the group. */
enum token_scope config_oidc_scope(const struct config_oidc *o, const char *group);

/* ---- config_settings: The settings of the file as text, for a page. ---- */

/** `name`: "repos[0].url"; `value`: a list is joined by commas, the file of a secret is "set"; `line`: in the file. */
typedef void config_setting_fn(void *arg, const char *name, const char *value, int line);
/** Pass each setting that the file has, in its order. Own: the texts are valid inside the callback only. */
void config_settings_each(const struct config *c, config_setting_fn *each, void *arg);

/* ---- branch_patterns: The globs of `branches`, which select the branches that the daemon watches. ---- */

enum { BRANCH_NAME_SIZE = 1024 /* bytes, encoded; as a job's branch */ };

/**
 * True if the daemon watches a branch: the last pattern that matches decides, and one that begins with `!` excludes. `*` also
 * matches a slash. `name` is the percent-encoded branch name, `display` its readable form (invalid UTF-8 replaced); a match of
 * either counts. Names of BRANCH_NAME_SIZE bytes or more match nothing.
 */
bool branch_patterns_watch(const struct config_repo *conf, const char *name, const char *display);

/** True if one pattern matches a branch; its `!` is ignored. Arguments as above. */
bool branch_pattern_matches(const char *pattern, const char *name, const char *display);

/**
 * True if a pattern can never match a branch because it is a regular expression, an option or a ref. `why` then gets a clause
 * that follows the pattern, else "". Shape: why[size].
 */
bool branch_pattern_is_wrong(const char *pattern, char *why, size_t size);

/* ---- config_worker: One entry of `workers`: its connection, allocations and devices. ---- */

/** Append an entry to c->worker, and a second one after it if its builds run in separate allocations. Mistakes go to `y`. */
void config_worker_read(struct yaml *y, struct yaml_node *map, struct config *c);

/** True if a scheduler starts the worker, so that its devices are known only while it has an allocation. */
static inline bool config_worker_is_on_call(const struct config_worker *w)
{
	return w->kind == WORKER_SLURM || w->kind == WORKER_KUBERNETES;
}

static inline bool config_worker_is_kubernetes(const struct config_worker *w)
{
	return w->kind == WORKER_KUBERNETES;
}

/** The time limit of an allocation. Units: ms; 0: none. */
static inline int64_t config_worker_time_ms(const struct config_worker *w)
{
	return w->kind == WORKER_KUBERNETES ? w->kubernetes.time_ms : w->slurm.time_ms;
}

static inline bool config_worker_is_slurm(const struct config_worker *w)
{
	return w->kind == WORKER_SLURM;
}

/** True if the entry measures on this device of its machine: `devices` lists it, or is empty. */
bool config_worker_wants(const struct config_worker *w, enum device_kind kind, int index, const char *uuid);

bool config_worker_same(const struct config_worker *a, const struct config_worker *b);

/* ---- txn: Write transactions of the daemon, each with its events, and the state of the database: writable or not. ---- */

struct txn {
	struct db *db;
	const struct config *config; /* receivers of notifications; NULL: none */
	void (*on_event)(void *arg); /* called after a transaction that may have written events; may be NULL */
	void *arg;
	bool is_broken; /* the last write failed for a reason other than the job */
	struct fw_err why;
	int64_t written;  /* rows at the start of the open transaction: a transaction without writes is no evidence */
	int64_t tried_ns; /* last attempt of txn_is_well */
};

int txn_begin(struct txn *txn, struct fw_err *err);
/** Commit if `result` is 0, else roll back and return -1 with `err` unchanged. Updates is_broken and logs its changes. */
int txn_end(struct txn *txn, int result, struct fw_err *err);
/** True if the database is writable. After a failed write, tries at most once a second. */
bool txn_is_well(struct txn *txn);
/** True if the failure is due to disk or database, so that the same write may succeed later. */
bool txn_is_outage(const struct fw_err *err);

#endif
