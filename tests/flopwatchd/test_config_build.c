/* `build` of a worker: separate allocations for the builds of a cluster. */
#include "config_file.h"

#include "flopwatchd/config/config.h"

static void test_builds_of_a_cluster(void **state)
{
	(void)state;
	struct config *c = good("workers:\n"
				"  - {name: cluster, slurm: {partition: gpu, gres: \"gpu:1\", account: k}, max_jobs: 8,\n"
				"     build: {partition: cpu, cpus: 16, time: 20 min, options: [--mem=1G]}}\n"
				"  - {name: near, command: [flopwatch-worker, serve]}\n");
	assert_int_equal(c->n_workers, 3);
	const struct config_worker *w = &c->worker[0], *b = &c->worker[1];
	assert_true(w->builds_separate && !w->builds && b->builds && !b->builds_separate);
	assert_string_equal(b->name, "cluster");
	assert_string_equal(b->slurm.partition, "cpu");
	assert_string_equal(b->slurm.gres, "");
	assert_string_equal(b->slurm.account, "k"); /* the account of the entry that configures both */
	assert_false(b->slurm.exclusive);
	assert_int_equal(b->slurm.cpus, 16);
	assert_int_equal(b->slurm.time_ms, 20 * 60000);
	assert_string_equal(b->slurm.option[0], "--mem=1G");
	assert_int_equal(b->max_jobs, 8);
	assert_int_equal(b->build_jobs, 8); /* all of them share a cache */
	assert_string_equal(w->slurm.partition, "gpu");
	assert_int_equal(w->build_jobs, 0);
	assert_false(c->worker[2].builds_separate || c->worker[2].builds);
	struct config_worker other = *b;
	assert_true(config_worker_same(&other, b));
	other.slurm.cpus++;
	assert_false(config_worker_same(&other, b));
	assert_false(config_worker_same(w, b));
	config_free(c);
	bad("workers: [{name: a, socket: /x, build: {partition: cpu}}]\n",
		"1:40: workers[0].build: applies only to a worker with `slurm`, `kubernetes` or only a `command`\n");
	bad("workers: [{name: a, build: {cores: 8-15}}]\n", /* not also that it has no `serve` */
		"1:11: workers[0]: needs one of `command`, `socket`, `ssh`, `slurm` and `kubernetes`, and a command next to it only with the last three\n");
	bad("workers: [{name: a, slurm: {partition: x}, build: {cpus: 0, gres: \"gpu:1\", partitoin: y}}]\n",
		"1:58: workers[0].build.cpus: 0 is out of range; must be 1 to 4096\n"
		"1:61: workers[0].build.gres: unknown key; did you mean `cpus`?\n"
		"1:76: workers[0].build.partitoin: unknown key; did you mean `partition`?\n");
	bad("workers: [{name: a, slurm: {partition: x}, build: cpu}, {name: b, slurm: {}, build: {}, command: [x, y]}]\n",
		"1:51: workers[0].build: is not a mapping; e.g. {partition: cpu, cpus: 16}\n"
		"1:85: workers[1].build: needs a command that ends in `serve`, so that --build-only can follow\n");
}

static void test_builds_in_pods(void **state)
{
	(void)state;
	struct config *c =
		good("workers:\n"
		     "  - {name: pods, cache: /shared/cache, max_jobs: 4, kubernetes: {image: i, namespace: bench, context: c,\n"
		     "     resources: [nvidia.com/gpu=1], node_selector: [pool=gpu], time: 2h},\n"
		     "     build: {resources: [cpu=16], node_selector: [pool=cpu], time: 20 min}}\n");
	assert_int_equal(c->n_workers, 2);
	const struct config_worker *w = &c->worker[0], *b = &c->worker[1];
	assert_true(w->builds_separate && !w->builds && b->builds && !b->builds_separate);
	assert_string_equal(b->kubernetes.image, "i"); /* of the entry that configures both */
	assert_string_equal(b->kubernetes.namespace, "bench");
	assert_string_equal(b->kubernetes.context, "c");
	assert_int_equal(b->kubernetes.n_resources, 1);
	assert_string_equal(b->kubernetes.resource[0], "cpu=16");
	assert_int_equal(b->kubernetes.n_selectors, 1);
	assert_string_equal(b->kubernetes.selector[0], "pool=cpu");
	assert_int_equal(b->kubernetes.time_ms, 20 * 60000);
	assert_string_equal(b->kubernetes.template, "");
	assert_int_equal(b->build_jobs, 4);
	assert_string_equal(w->kubernetes.selector[0], "pool=gpu");
	struct config_worker other = *b;
	assert_true(config_worker_same(&other, b));
	other.kubernetes.selector[0][0] = 'P';
	assert_false(config_worker_same(&other, b));
	config_free(c);
	c = good("workers: [{name: pods, cache: /c, kubernetes: {image: i}, build: {image: j}}]\n");
	assert_string_equal(c->worker[0].kubernetes.resource[0], "nvidia.com/gpu=1");
	assert_int_equal(c->worker[1].kubernetes.n_resources, 0); /* a build needs no device */
	assert_string_equal(c->worker[1].kubernetes.image, "j");
	config_free(c);
	bad("workers: [{name: a, kubernetes: {image: i}, build: {namespace: x}}, {name: b, kubernetes: {image: i}, build: x}]\n",
		"1:53: workers[0].build.namespace: unknown key; remove it\n"
		"1:52: workers[0].build: needs `cache` in the entry: a folder on a volume that the templates of both kinds of pods mount\n"
		"1:110: workers[1].build: is not a mapping; e.g. {resources: [cpu=16, memory=32Gi], template: /etc/flopwatch/build-pod.json}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_builds_of_a_cluster), cmocka_unit_test(test_builds_in_pods) };
	return cmocka_run_group_tests_name("config build", tests, make_folder, remove_folder);
}
