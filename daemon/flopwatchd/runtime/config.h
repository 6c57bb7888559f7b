/** config.h - flopwatchd.yml: one table row a setting, all mistakes at once, each with file:line:col. */
#ifndef FLOPWATCHD_RUNTIME_CONFIG_H
#define FLOPWATCHD_RUNTIME_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cores.h"
#include "base/err.h"
#include "core/suite/peers.h"
#include "core/suite/readonly.h"

enum { CONFIG_SECRET_SIZE = 256 };
enum {
	CONFIG_REPOS_MAX = 64,
	CONFIG_LIST_MAX = 32,
	CONFIG_WORKERS_MAX = 256,
	CONFIG_WAYS_MAX = 2 * CONFIG_WORKERS_MAX,
	CONFIG_DEVICES_MAX = 64,
	CONFIG_JOBS_MAX = 256, /* of a worker at once */
	CONFIG_HOOKS_MAX = 32
};

/** Where a forge takes statuses of commits. */
struct config_status {
	char kind[12];                  /* "github" "gitlab" "gitea" "forgejo"; "" nowhere */
	char api[512];                  /* "https://api.github.com", "https://git.example.org/api/v1" */
	char project[256];              /* "owner/name" */
	char token[CONFIG_SECRET_SIZE]; /* from token_file */
	bool allow_internal;            /* may lead to a private address */
};

struct config_repo {
	char file[512]; /* the configuration, and its place in `repos`: for messages about what is known only later */
	int index;
	char name[128];
	char url[1024];                    /* absolute path, file://, https://, ssh:// or user@host:path */
	bool is_local;                     /* a path: read in place */
	char upstream[256];                /* "main" */
	struct yaml_place at, upstream_at; /* of the entry; nowhere where it leaves `upstream` out */
	int n_branches;
	char branch[CONFIG_LIST_MAX]
		   [256]; /* globs, "!" excludes, the last that matches decides (branch_patterns.h); default "*" */
	int n_suites;
	char suite[8][64]; /* "": what the manifest says */
	struct yaml_place suite_at[8];
	bool has_peers; /* else the manifest says */
	struct peers peers;
	int64_t poll_ms; /* remotes 60 s, local 30 s behind inotify */
	int64_t fetch_timeout_ms;
	char secret[CONFIG_SECRET_SIZE]; /* of its webhook, from secret_file; "" no webhook */
	/* How its server is reached and recognised; "" none. Files are read by flopwatch-git at each use. */
	char ssh_key[512], known_hosts[512], host_keys[512]; /* the last: fingerprints, joined by commas */
	char token_file[512], token_user[128], ca_file[512];
	struct config_status status;
	char notes[8]; /* git notes on judged commits: "none", "write" (in place or in the mirror), "push" */
};

enum worker_kind { WORKER_COMMAND, WORKER_SOCKET, WORKER_SSH, WORKER_SLURM };

/** Where `command` runs on another host. Texts "", port 0: as ssh says. */
struct config_ssh {
	char host[256], user[64];
	int port;
	char key[512], known_hosts[512]; /* files */
};

/** What `command` is started with by srun. Texts "", numbers 0: as the cluster says. */
struct config_slurm {
	char partition[128], gres[128], account[128], qos[128];
	bool exclusive; /* the whole node */
	int cpus;
	int64_t time_ms;
	int n_options;
	char option[8][256]; /* of srun, for what is not above */
};

struct config_worker {
	char name[64];
	enum worker_kind kind;
	int n_command;
	char command[CONFIG_LIST_MAX][512]; /* argument vector */
	char socket[108];                   /* or a unix socket */
	struct config_ssh ssh;
	struct config_slurm slurm;
	bool builds_separate;    /* an entry of its name, behind it, has the allocations in which its jobs are built */
	bool builds;             /* and this is such an entry: nothing is measured in its allocations */
	enum device_kind device; /* DEVICE_ANY: "auto" */
	int n_devices;           /* 0: all of that kind */
	char devices[CONFIG_DEVICES_MAX][64]; /* numbers and uuids */
	int max_jobs;                         /* at once; 0: one for each device */
	int build_jobs;                       /* that run at once there; 0: as the worker thinks best */
	char cache[512];                      /* "": cache_dir for a command on this machine, else what the worker takes */
};

struct config_webhook {
	char name[64];
	char url[1024];                  /* https://, or http:// */
	char kind[12];                   /* "webhook": our JSON; "slack": {"text"} */
	char secret[CONFIG_SECRET_SIZE]; /* signs each notification; "" unsigned */
	bool comparisons;                /* is told of finished comparisons too, not only of alerts */
	bool allow_internal;             /* may lead to a private address */
};

struct config {
	char state_dir[512]; /* database, mirrors */
	char cache_dir[512];
	char suites_dir[512];
	char listen_host[64];
	int listen_port;      /* 0: any; the one taken is then written to state_dir/port */
	bool needs_token;     /* required by `access: token`, and wherever other machines can reach the port */
	char public_url[512]; /* where people reach the pages, without a slash at its end; "" not known */
	int n_names;
	char name[CONFIG_LIST_MAX][128]; /* further values of Host: "gpu1.example.org", "gpu1:8451" */
	int n_repos;
	struct config_repo repo[CONFIG_REPOS_MAX];
	int n_workers; /* with entries that build for another */
	struct config_worker worker[CONFIG_WAYS_MAX];
	int n_webhooks;
	struct config_webhook webhook[CONFIG_HOOKS_MAX];
	double build_s, check_s, run_s; /* limits sent with a job */
	double wait_s;                  /* likewise: for other processes to leave the device */
	int64_t job_timeout_ms;         /* from the start of measuring */
	int64_t hello_ms;               /* from when a worker runs until it says what it measures on */
	int64_t again_ms;               /* what noise alone left undecided is asked again after so long; 0: never */
	int64_t offline_after_ms;       /* a device of which nothing is heard for so long, while jobs wait, has fallen silent */
	int queue_max;                  /* jobs that may wait */
	bool calibrate_idle;            /* run A/A comparisons while nothing waits, on each device every so often */
	int64_t calibrate_every_ms;
	struct {
		bool is_idle;           /* whenever nothing waits */
		int from, to;           /* minutes of the local day; equal: never */
	} night;                        /* when what no push measures of a large suite is measured */
	bool split;                     /* cells of a comparison go to all devices of a class that have nothing else to do */
	bool confirm_elsewhere;         /* a loss has to show on another device of the class, where one is free */
	int64_t keep_samples_ms;        /* single times stay in the database for so long, then in the archive */
	int64_t keep_archive_ms;        /* and there for so long; 0: for ever */
	bool profile;                   /* an alert asks why by itself */
	char measure_cores[CORES_TEXT]; /* what cores_plan is asked for */
	struct cores cores;             /* what came of it, at the start */
	char sandbox[16];               /* "auto" "required" "none": passed to workers started as children */
	int n_read_only; /* folders that branch code may read on every worker; likewise, and demanded of the others */
	char read_only[READONLY_MAX][READONLY_PATH_SIZE];
};

/**
 * Read `path`. Err: ERR_INVALID with every mistake, one a line (in `mistakes`), ERR_NOT_FOUND no such file.
 * Own: config_free, which accepts NULL. It is megabytes, mostly untouched: never on the stack.
 */
int config_read(const char *path, struct config **out, struct buf *mistakes, struct fw_err *err);
void config_free(struct config *c);
/**
 * Take over what may change while the daemon runs: repositories, webhooks, limits, calibrate, night, profile, split, confirm, keep_samples,
 * keep_archive, suites_dir. Names the settings that differ but need a restart, "" none. Shape: restart[size].
 */
void config_update(struct config *live, const struct config *fresh, char *restart, size_t size);
/**
 * Where a repository's setting stands, as the beginning of a message: "FILE:7:12: repos[0].suites[1]: ". "" where that is not known.
 * Shape: text[size].
 */
void config_place(const struct config_repo *r, struct yaml_place at, const char *setting, int item, char *text, size_t size);
/** What to say where the repository has no such branch as its `upstream`. Shape: text[size]. */
void config_no_upstream(const struct config_repo *r, char *text, size_t size);
/** Position of a repository or webhook by name, -1 if there is none. */
int config_repo_find(const struct config *c, const char *name);
int config_webhook_find(const struct config *c, const char *name);

enum { CONFIG_ACCESS_ARGS = 12 };
/**
 * Append the options by which flopwatch-git reaches the server of a repository. Shape: args[CONFIG_ACCESS_ARGS], not ended by NULL.
 * Own: the texts are the configuration's. Returns how many there are.
 */
int config_repo_access(const struct config_repo *r, const char **args);

/** Where flopwatch-git finds a repository: its own path when local, else its mirror. Shape: path[size]. Err: ERR_FULL too long. */
int config_repo_path(const struct config *c, const struct config_repo *r, char *path, size_t size, struct fw_err *err);

#endif
