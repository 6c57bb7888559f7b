/**
 * fixture_cluster.h - a queue whose workers use a simulated Slurm: programs that act as srun, squeue and scancel, on folders.
 *
 * gpus/PARTITION/NODE/UUID is a GPU; while it is allocated, it contains a folder `taken`. srun takes the first free one, in the
 * order of their names, as Slurm does. A job holds its GPU as long as there is a file hold-UUID.
 */
#ifndef TESTS_FIXTURE_CLUSTER_H
#define TESTS_FIXTURE_CLUSTER_H

#include "fixture_daemon.h"

#include "flopwatchd/job/job.h"
#include "flopwatchd/schedule/schedule.h"
#include "model/model.h"

static struct queue *queue;

static inline int cluster_setup(void **state)
{
	static char path[PATH_MAX + 64];
	queue = NULL;
	if (fixture_setup(state) != 0)
		return -1;
	gitrepo_write("srun",
		"#!/bin/sh\ncd \"${0%/*}\"\nexec 3<&0; name= node=* part=\n"
		"for word; do case $word in --job-name=*) name=${word#*=};; --nodelist=*) node=${word#*=};; --partition=*) part=${word#*=};; "
		"esac; done\n"
		"echo \"$part $node\" >>requested; mine=; trap 'kill $child; wait; [ -z \"$mine\" ] || rmdir $mine; rm -f queue-$name; exit 1' TERM\n"
		"echo \"$$|PENDING|Resources|$name\" >queue-$name\n"
		"while [ -z \"$mine\" ]; do for gpu in gpus/$part/$node/*; do\n"
		"[ -d $gpu ] && mkdir $gpu/taken 2>/dev/null && { mine=$gpu/taken; break; }; done; [ -n \"$mine\" ] || sleep 0.02; done\n"
		"rm -f queue-$name; echo \"$gpu\" >>had; at=${gpu%/*}\n"
		"./worker ${gpu##*/} ${at##*/} <&3 & child=$!; wait $child; rmdir $mine\n");
	gitrepo_write("worker",
		"#!/bin/sh\n"
		"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"location\":{\"host\":\"'$2'\",\"user\":\"u\","
		"\"runner\":\"/r\",\"modules\":\"/m\"},\"devices\":[{\"kind\":\"sim\",\"uuid\":\"'$1'\",\"name\":\"s\",\"driver\":\"\","
		"\"toolkit\":\"x\"}]}'\nread job || exit 0\n"
		"while [ -e hold-$1 ]; do sleep 0.02; done\n"
		"echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'\n"
		"echo '{\"t\":\"build\",\"role\":\"target\",\"state\":\"failed\",\"exit\":2,\"signal\":0,\"duration_ms\":5,"
		"\"modules\":{},\"toolchain\":\"x\",\"detail\":\"make: exit 2\",\"log_b64\":\"\"}'\n"
		"echo '{\"t\":\"done\",\"gpu_s\":0,\"wall_s\":1,\"cancelled\":false}'\n");
	gitrepo_write("squeue", "#!/bin/sh\ncd \"${0%/*}\"\ncat queue-* 2>/dev/null\nexit 0\n");
	gitrepo_write("scancel", "#!/bin/sh\nexit 0\n");
	GITREPO_RUN(".", "chmod", "+x", "srun", "worker", "squeue", "scancel");
	if (!path[0])
		snprintf(path, sizeof path, "%s", getenv("PATH"));
	char with[sizeof path + PATH_MAX + 2];
	snprintf(with, sizeof with, "%s:%s", gitrepo_root, path);
	setenv("PATH", with, 1);
	return 0;
}

static inline int cluster_teardown(void **state)
{
	queue_stop(queue);
	return fixture_teardown(state);
}

/** "PARTITION/NODE/UUID" */
static inline void cluster_gpu(const char *gpu)
{
	char path[256];
	snprintf(path, sizeof path, "gpus/%s", gpu);
	GITREPO_RUN(".", "mkdir", "-p", path);
}

/** Another user has allocated it, or has released it. */
static inline void cluster_take(const char *gpu, bool take)
{
	char path[256];
	snprintf(path, sizeof path, "gpus/%s/taken", gpu);
	GITREPO_RUN(".", take ? "mkdir" : "rmdir", path);
}

static inline struct config_worker *cluster_worker(const char *partition, int max_jobs)
{
	struct config_worker *w = &config->worker[config->n_workers++];
	snprintf(w->name, sizeof w->name, "on-%.40s", partition);
	w->kind = WORKER_SLURM;
	w->device = DEVICE_SIM;
	w->max_jobs = max_jobs;
	snprintf(w->slurm.partition, sizeof w->slurm.partition, "%.60s", partition);
	snprintf(w->command[0], sizeof w->command[0], "worker");
	w->n_command = 1;
	return w;
}

static inline void cluster_begin(void)
{
	ok(queue_start(loop, config, db, NULL, NULL, &queue, &err));
}

static inline void cluster_stop(void)
{
	queue_stop(queue);
	queue = NULL;
}

static inline void cluster_state(const char *uuid, enum devicestate state)
{
	ok(devicestate_set(queue_txn(queue), uuid, state, "a test", "me", &err));
}

/** A device that once existed on this node. */
static inline int64_t cluster_device(const char *worker, const char *node, const char *uuid)
{
	struct msg_device d = { .kind = DEVICE_SIM };
	int64_t id;
	snprintf(d.uuid, sizeof d.uuid, "%s", uuid);
	snprintf(d.name, sizeof d.name, "s");
	snprintf(d.toolkit, sizeof d.toolkit, "x");
	ok(db_begin(db, &err));
	ok(store_device_put(db, &d, 1, &id, &err));
	ok(store_device_through(db, id, worker, node, true, &err));
	ok(db_commit(db, &err));
	return id;
}

/** Queue a job for one device only, or ("") for any. */
static inline int64_t cluster_job(const char *branch, const char *sha, const char *uuid, int priority)
{
	struct store_job j = { .repo = repo_id, .kind = JOBKIND_COMPARE, .origin = "api", .priority = priority };
	snprintf(j.branch, sizeof j.branch, "%s", branch);
	snprintf(j.target_sha, sizeof j.target_sha, "%s", sha);
	snprintf(j.device_uuid, sizeof j.device_uuid, "%s", uuid);
	ok(db_begin(db, &err));
	ok(store_job_insert(db, &j, clock_utc_ms(), &err));
	ok(db_commit(db, &err));
	if (queue)
		queue_wake(queue);
	return j.id;
}

/** Contents of a file of the cluster, "" there is none; until the next call. */
static inline const char *cluster_said(const char *file)
{
	int status;
	const char *text = GITREPO_TRY(".", &status, "cat", file);
	return status == 0 ? text : "";
}

static inline void cluster_note(void *to, const struct worker_status *w)
{
	struct buf *out = to;
	buf_printf(out, "%s %s%s%s | ", w->name, w->state, *w->why ? ": " : "", w->why);
}

/** The states of all slots. Own: a static buffer, until the next call. */
static inline const char *cluster_workers(void)
{
	static char text[8192];
	struct buf out;
	buf_init(&out, sizeof text - 1);
	queue_workers(queue, cluster_note, &out);
	snprintf(text, sizeof text, "%s", out.len ? out.data : "");
	buf_fini(&out);
	return text;
}

static struct {
	bool (*is_so)(void);
	int64_t until_ns;
} cluster_goal;

static inline void cluster_look(void *arg)
{
	(void)arg;
	if (cluster_goal.is_so() || clock_mono_ns() > cluster_goal.until_ns)
		loop_stop(loop);
	else
		loop_after(loop, FIXTURE_TICK_MS, cluster_look, NULL, NULL);
}

/** Run the loop until the condition is true. */
static inline void cluster_until(bool (*is_so)(void), const char *what)
{
	cluster_goal.is_so = is_so;
	cluster_goal.until_ns = clock_mono_ns() + FIXTURE_DEVICE_CHECK_NS;
	loop_after(loop, 0, cluster_look, NULL, NULL);
	ok(loop_run(loop, &err));
	if (!is_so())
		fail_msg("it never came true: %s; %s", what, cluster_workers());
}
#define CLUSTER_UNTIL(is_so) cluster_until(is_so, #is_so)

#endif
