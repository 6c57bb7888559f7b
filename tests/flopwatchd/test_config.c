/* flopwatchd.yml: accepted keys and values, and the exact line for each mistake. */
#include "config_file.h"

#include <sys/xattr.h>

#include "flopwatchd/config/config.h"
#include "lib/lib.h"

static void test_an_empty_file_is_the_installed_default(void **state)
{
	(void)state;
	struct config *c = good("");
	assert_string_equal(c->state_dir, "/var/lib/flopwatch");
	assert_string_equal(c->cache_dir, "/var/cache/flopwatch");
	assert_string_equal(c->suites_dir, "/usr/share/flopwatch/suites");
	assert_string_equal(c->listen_host, "127.0.0.1");
	assert_int_equal(c->listen_port, 8451);
	assert_string_equal(c->sandbox, "auto");
	assert_true(c->build_s == 900 && c->check_s == 300 && c->run_s == 300);
	assert_int_equal(c->job_timeout_ms, 3600000);
	assert_int_equal(c->offline_after_ms, 900000);
	assert_int_equal(c->retry_after_ms, 600000);
	assert_int_equal(c->queue_max, 10000);
	assert_int_equal(c->keep_samples_ms, INT64_C(14) * 24 * 3600 * 1000);
	assert_int_equal(c->keep_archive_ms, 0);
	assert_int_equal(c->n_repos, 0);
	assert_int_equal(c->n_workers, 1);
	assert_string_equal(c->worker[0].name, "local");
	assert_string_equal(c->worker[0].command[0], "flopwatch-worker");
	assert_string_equal(c->worker[0].command[1], "serve");
	assert_int_equal(c->worker[0].n_command, 2);
	assert_int_equal(c->worker[0].device, DEVICE_ANY);
	config_free(c);
}

static void test_everything_set(void **state)
{
	(void)state;
	char text[4096], secret[160];
	snprintf(secret, sizeof secret, "%s/secret", folder);
	write_file(secret, "It's a Secret to Everybody\n");
	assert_int_equal(chmod(secret, 0600), 0);
	snprintf(text, sizeof text,
		"state_dir: /srv/fw\n"
		"cache_dir: /srv/cache\n"
		"suites_dir: /srv/suites\n"
		"keep_samples: 2 d\n"
		"keep_archive: 36h\n"
		"listen: \"[::1]:0\"\n"
		"sandbox: required\n"
		"limits: {build: 10 min, check: 90 s, run: 500000 ms, job: 2 h, queue: 7}\n"
		"workers:\n"
		"  - {name: local, command: [flopwatch-worker, serve], device: sim}\n"
		"  - {name: gpu, socket: /run/flopwatch/worker.sock}\n"
		"repos:\n"
		"  - {name: kernels, url: /srv/git/kernels.git, branches: [main, \"team/*\"], upstream: trunk, suites: [ffa, "
		"ffa-smoke],\n"
		"     poll: 5 s, fetch_timeout: 20 s, secret_file: %s}\n"
		"  - {name: far, url: \"git@example.org:team/far.git\", suites: ffa, notes: push, status: {kind: github, "
		"project: "
		"team/far, token_file: %s}}\n"
		"public_url: https://bench.example.org//\n"
		"webhooks:\n"
		"  - {name: chat, url: \"https://chat.example.org/x\", kind: slack, comparisons: true}\n"
		"  - {name: near, url: \"http://10.0.0.1/x\", allow_internal: true}\n"
		"  - {name: team, url: \"smtp://mail.example.org:587\", kind: mail, from: fw@example.org, to: [a@example.org, "
		"b@example.org], user: fw, password_file: %s, group: 5 min, quiet: \"22:00-07:00\"}\n"
		"  - {name: room, url: \"https://matrix.example.org\", kind: matrix, room: \"!a:example.org\", token_file: %s}\n",
		secret, secret, secret, secret);
	struct config *c = good(text);
	assert_string_equal(c->state_dir, "/srv/fw");
	assert_string_equal(c->listen_host, "::1");
	assert_int_equal(c->listen_port, 0);
	assert_string_equal(c->sandbox, "required");
	assert_true(c->build_s == 600 && c->check_s == 90 && c->run_s == 500);
	assert_int_equal(c->job_timeout_ms, 7200000);
	assert_int_equal(c->queue_max, 7);
	assert_int_equal(c->n_workers, 2);
	assert_int_equal(c->worker[0].device, DEVICE_SIM);
	assert_string_equal(c->worker[1].socket, "/run/flopwatch/worker.sock");
	assert_int_equal(c->worker[1].n_command, 0);
	assert_int_equal(c->n_repos, 2);
	assert_true(c->repo[0].is_local);
	assert_string_equal(c->repo[0].upstream, "trunk");
	assert_int_equal(c->repo[0].n_branches, 2);
	assert_string_equal(c->repo[0].branch[1], "team/*");
	assert_int_equal(c->repo[0].n_suites, 2);
	assert_string_equal(c->repo[0].suite[1], "ffa-smoke");
	assert_int_equal(c->repo[0].poll_ms, 5000);
	assert_int_equal(c->repo[0].fetch_timeout_ms, 20000);
	assert_string_equal(c->repo[0].secret, "It's a Secret to Everybody");
	assert_false(c->repo[1].is_local);
	assert_string_equal(c->repo[1].upstream, "main");
	assert_int_equal(c->repo[1].n_branches, 1);
	assert_string_equal(c->repo[1].branch[0], "*");
	assert_string_equal(c->repo[1].suite[0], "ffa");
	assert_int_equal(c->repo[1].poll_ms, 60000);
	assert_string_equal(c->repo[1].secret, "");
	assert_int_equal(c->n_webhooks, 4);
	assert_false(c->webhook[0].allow_internal);
	assert_true(c->webhook[1].allow_internal);
	assert_int_equal(c->webhook[0].kind, RECEIVER_SLACK);
	assert_int_equal(c->webhook[1].kind, RECEIVER_PROGRAM);
	assert_true(c->webhook[0].comparisons && !c->webhook[1].comparisons);
	const struct config_webhook *mail = &c->webhook[2];
	assert_int_equal(mail->kind, RECEIVER_MAIL);
	assert_int_equal(mail->n_to, 2);
	assert_string_equal(mail->to[1], "b@example.org");
	assert_string_equal(mail->secret, "It's a Secret to Everybody");
	assert_false(mail->plain);
	assert_int_equal(mail->group_ms, 300000);
	assert_int_equal(mail->quiet_from, 22 * 60);
	assert_int_equal(mail->quiet_to, 7 * 60);
	assert_int_equal(c->webhook[3].kind, RECEIVER_MATRIX);
	assert_string_equal(c->public_url, "https://bench.example.org");
	assert_string_equal(c->repo[0].notes, "none");
	assert_string_equal(c->repo[0].status.kind, "");
	assert_string_equal(c->repo[1].notes, "push");
	assert_string_equal(c->repo[1].status.api, "https://api.github.com");
	assert_string_equal(c->repo[1].status.token, "It's a Secret to Everybody");
	assert_int_equal(config_repo_find(c, "far"), 1);
	assert_int_equal(config_repo_find(c, "fa"), -1);
	assert_int_equal(config_webhook_find(c, "near"), 1);
	assert_int_equal(config_webhook_find(c, "chats"), -1);
	config_free(c);
	config_free(NULL);
}

static void test_all_mistakes_at_once(void **state)
{
	(void)state;
	bad("stat_dir: /srv/fw\n"
	    "access: local\n"
	    "sandbox: on\n"
	    "limits: {build: 15, jobs: 1 h}\n"
	    "repos:\n"
	    "  - {name: a, url: /srv/a, branch: [main]}\n"
	    "  - {name: a, url: \"http://example.org/a\"}\n"
	    "  - {url: /srv/b, poll: often}\n",
		"3:10: sandbox: is not one of auto, required, none\n"
		"4:17: limits.build: `15` is not a duration; write a number with its unit (ms, s, min, h, d), such as 30s\n"
		"4:21: limits.jobs: unknown key; did you mean `job`?\n"
		"6:28: repos[0].branch: unknown key; did you mean `branches`?\n"
		"7:12: repos[1].name: there is another repository named a\n"
		"7:20: repos[1].url: is none of: an absolute path, file://, https://, ssh://, user@host:path\n"
		"8:5: repos[2]: needs `name`\n"
		"8:25: repos[2].poll: `often` is not a duration; write a number with its unit (ms, s, min, h, d), such as 30s\n"
		"1:1: stat_dir: unknown key; did you mean `state_dir`?\n");
}

static void test_addresses_to_listen_on(void **state)
{
	(void)state;
	bad("listen: localhost:80\n", "1:9: listen: needs an address in numbers; e.g. 127.0.0.1:8451 or [::1]:8451\n");
	bad("listen: 127.0.0.1\n", "1:9: listen: is not ADDRESS:PORT; e.g. 127.0.0.1:8451\n");
	bad("listen: 127.0.0.1:65536\n", "1:9: listen: is not ADDRESS:PORT; e.g. 127.0.0.1:8451\n");
	bad("listen: \"[::]:1\"\naccess: local\n", "2:9: access: is local, but `listen` accepts other machines: write access: "
						   "token, or listen on 127.0.0.1\n");
	bad("requests_per_minute: -1\n", "1:22: requests_per_minute: -1 is out of range; must be 0 to 1000000\n");
	bad("access: everybody\n", "1:9: access: is not one of local, token\n");
	bad("names: [\"http://gpu1\"]\n", "1:8: names: http://gpu1 is not HOST or HOST:PORT\n");
	struct config *c = good("listen: 127.0.0.2:1\n");
	assert_string_equal(c->listen_host, "127.0.0.2");
	assert_false(c->needs_token);
	config_free(c);
	c = good("listen: 192.168.1.2:8451\nnames: [gpu1, \"gpu1:8451\"]\n");
	assert_true(c->needs_token);
	assert_int_equal(c->n_names, 2);
	assert_int_equal(c->per_minute, 1200);
	assert_string_equal(c->name[1], "gpu1:8451");
	config_free(c);
	c = good("access: token\n");
	assert_true(c->needs_token);
	config_free(c);
}

static void one_url(const char *url, const char *what)
{
	char text[512], line[512];
	snprintf(text, sizeof text, "repos:\n  - name: a\n    url: \"%s\"\n", url);
	if (!what) {
		config_free(good(text));
		return;
	}
	snprintf(line, sizeof line, "3:10: repos[0].url: %s\n", what);
	bad(text, line);
}

static void test_addresses_of_repositories(void **state)
{
	(void)state;
	one_url("/srv/git/a.git", NULL);
	one_url("file:///srv/git/a.git", NULL);
	one_url("https://example.org:8443/a.git", NULL);
	one_url("ssh://git@example.org:2222/a.git", NULL);
	one_url("git@example.org:team/a.git", NULL);
	const char *none = "is none of: an absolute path, file://, https://, ssh://, user@host:path";
	one_url("git/a.git", none);
	one_url("http://example.org/a", none);
	one_url("git://example.org/a", none);
	one_url("ext::sh -c id", none);
	one_url("a@ext::sh -c id", none);
	one_url("git@-oProxyCommand=id:x", none);
	one_url("git@example.org:-x", none);
	one_url("--upload-pack=id", "begins with '-', which git would take for an option");
	one_url("file://host/a", "needs an absolute path: file:///srv/git/name.git");
	one_url("https://me:pw@example.org/a", "holds a password; use a key or a credential of the system instead");
	one_url("ssh://me:pw@example.org/a", "holds a password; use a key or a credential of the system instead");
	one_url("https://token@example.org/a", "holds a user name; use a credential of the system instead");
	one_url("https:///a", "has no host");
	one_url("ssh://-oProxyCommand=id/a", "has no host");
	one_url("https://example.org", "has no path");
	one_url("ssh://git@example.org/a'b", "holds ' or !, which some ssh servers pass to a shell");
	one_url("git@example.org:a!b", "holds ' or !, which some ssh servers pass to a shell");
	one_url("/srv/a\\nb", "holds a control byte");
	one_url("", "is empty");
}

static void test_ways_to_a_worker(void **state)
{
	(void)state;
	struct config *c =
		good("workers:\n"
		     "  - {name: cluster, slurm: {partition: gpu, gres: \"gpu:h200:1\", account: k, time: 30 min}, max_jobs: 8}\n"
		     "  - {name: far, ssh: {host: gpu1, user: bench, port: 2222}, devices: [0, 2, GPU-12-3], build_jobs: 4}\n"
		     "  - {name: near, command: [flopwatch-worker, serve], devices: all}\n"
		     "limits: {hello: 20 s}\n");
	const struct config_worker *w = &c->worker[0];
	assert_int_equal(w->kind, WORKER_SLURM);
	assert_int_equal(w->device, DEVICE_CUDA);
	assert_string_equal(w->slurm.partition, "gpu");
	assert_string_equal(w->slurm.gres, "gpu:h200:1");
	assert_string_equal(w->slurm.account, "k");
	assert_true(w->slurm.exclusive);
	assert_int_equal(w->slurm.time_ms, 30 * 60000);
	assert_int_equal(w->max_jobs, 8);
	assert_string_equal(w->command[0], "flopwatch-worker");
	assert_string_equal(w->command[1], "serve");
	w = &c->worker[1];
	assert_int_equal(w->kind, WORKER_SSH);
	assert_string_equal(w->ssh.host, "gpu1");
	assert_int_equal(w->ssh.port, 2222);
	assert_int_equal(w->build_jobs, 4);
	assert_true(config_worker_wants(w, DEVICE_CUDA, 2, "GPU-x"));
	assert_true(config_worker_wants(w, DEVICE_CUDA, 7, "GPU-12-3"));
	assert_false(config_worker_wants(w, DEVICE_CUDA, 1, "GPU-x"));
	assert_true(config_worker_wants(&c->worker[2], DEVICE_CUDA, 7, "GPU-x"));
	assert_int_equal(c->hello_ms, 20000);
	config_free(c);
	bad("workers: [{name: a, ssh: {host: -oProxyCommand=x}, command: [\"sh -c x\", serve], devices: [x]}]\n",
		"1:33: workers[0].ssh.host: is not the name or address of a host\n"
		"1:61: workers[0].command: the shell of the other host would change the argument sh -c x; put the command into a script there\n"
		"1:91: workers[0].devices[0]: is neither all, the number of a device nor a uuid\n");
	bad("workers: [{name: a, kubernetes: {namespace: x, resources: [gpu]}}, {name: b, kubernetes: x}]\n",
		"1:33: workers[0].kubernetes: needs `image`\n"
		"1:60: workers[0].kubernetes.resources[0]: gpu is not NAME=QUANTITY; e.g. nvidia.com/gpu=1\n"
		"1:90: workers[1].kubernetes: is not a mapping; e.g. {image: registry.example.org/flopwatch, namespace: bench}\n");
	bad("workers: [{name: a, kubernetes: {image: x, node_selector: [\"a/b=\", \"=c\"]}}]\n",
		"1:68: workers[0].kubernetes.node_selector[1]: =c is not LABEL=VALUE; e.g. nvidia.com/gpu.product=NVIDIA-H200\n");
	bad("workers: [{name: a, slurm: {partition: x, options: [-x]}}, {name: b, slurm: x, socket: /y}]\n",
		"1:53: workers[0].slurm.options[0]: -x is not an option of srun; e.g. --constraint=h200\n"
		"1:60: workers[1]: needs one of `command`, `socket`, `ssh`, `slurm` and `kubernetes`, and a command next to it only with the last three\n"
		"1:77: workers[1].slurm: is not a mapping; e.g. {partition: gpu, gres: \"gpu:1\", time: 30 min}\n");
}

static void test_options_that_hide_a_request_are_refused(void **state)
{
	(void)state;
	config_free(
		good("workers: [{name: a, slurm: {options: [--time-min=5, --nodes=1, --exclude=n1, --mem=0, --overcommit]}}]\n"));
	bad("workers: [{name: a, slurm: {options: [--job-name=mine, --clusters=b, -J, --array=1-4]}}]\n",
		"1:39: workers[0].slurm.options[0]: --job-name=mine gives the request another name than that by which the daemon finds it\n"
		"1:56: workers[0].slurm.options[1]: --clusters=b sends the request to another cluster; the daemon does not read its queue\n"
		"1:70: workers[0].slurm.options[2]: -J is not an option of srun; e.g. --constraint=h200\n"
		"1:74: workers[0].slurm.options[3]: --array=1-4 is an option of sbatch\n");
	bad("workers: [{name: a, slurm: {options: --job-n=x}}, {name: b, slurm: {}, build: {options: [--partition, cpu, --]}}]\n",
		"1:38: workers[0].slurm.options: --job-n=x is short for --job-name, which gives the request another name than that by which the daemon finds it\n"
		"1:90: workers[1].build.options[0]: --partition sends the request to a partition that the daemon does not query; use the key `partition`\n"
		"1:103: workers[1].build.options[1]: cpu is not an option of srun; e.g. --constraint=h200\n"
		"1:108: workers[1].build.options[2]: -- is not an option of srun; e.g. --constraint=h200\n");
}

static void test_names_lists_and_shapes(void **state)
{
	(void)state;
	bad("repos: {name: a}\n", "1:8: repos: is not a list; begin each entry with \"- \"\n");
	bad("repos: [a]\n", "1:9: repos[0]: is not a mapping; e.g. {name: ...}\n");
	bad("repos: [{name: a/b, url: /a}, {name: .git, url: /b}]\n",
		"1:16: repos[0].name: may hold letters, digits and . _ - only, and begins with none of . -\n"
		"1:38: repos[1].name: may hold letters, digits and . _ - only, and begins with none of . -\n");
	bad("repos: [{name: a, url: /a, peers: [cudnn, x@y]}]\n",
		"1:43: repos[0].peers[1]: names no kind of device after the @; it is cuda, cpu or sim\n");
	bad("repos: [{name: a, url: /a, suites: [ffa, ffa]}]\n", "1:42: repos[0].suites[1]: is named twice\n");
	bad("repos: [{name: a, url: /a, upstream: refs/heads/trunk}]\n",
		"1:38: repos[0].upstream: is the name of a branch; write trunk\n");
	bad("repos: [{name: a, url: /a, suites: [../x]}]\n",
		"1:36: repos[0].suites: ../x is not the name of a suite; e.g. ffa\n");
	bad("repos: [{name: a, url: /a, branches: [\"\"]}]\n", "1:39: repos[0].branches[0]: is empty\n");
	bad("repos: [{name: a, url: /a, branches: []}]\nworkers: [{name: a, command: []}]\n",
		"2:30: workers[0].command: is empty; name at least one, or leave `command` out\n"
		"1:38: repos[0].branches: is empty; name at least one, or leave `branches` out\n");
	bad("workers: []\n", "1:10: workers: is empty, so no job would run; name a worker, or leave `workers` out\n");
	bad("cores: {mesure: shared}\n", "1:9: cores.mesure: unknown key; did you mean `measure`?\n");
	bad("workers: [{name: a}, {name: a, command: [x], socket: /y, device: gpu}]\n",
		"1:11: workers[0]: needs one of `command`, `socket`, `ssh`, `slurm` and `kubernetes`, and a command next to it only with the last three\n"
		"1:29: workers[1].name: there is another worker named a\n"
		"1:22: workers[1]: needs one of `command`, `socket`, `ssh`, `slurm` and `kubernetes`, and a command next to it only with the last three\n"
		"1:66: workers[1].device: is not one of auto, cuda, cpu, sim\n");
	bad("webhooks: [{name: a, url: \"ftp://x\"}, {name: a, url: \"https://x\"}]\n",
		"1:27: webhooks[0].url: is not an https:// or http:// address\n"
		"1:46: webhooks[1].name: there is another webhook named a\n");
	bad("webhooks: [{name: a, url: \"https://me:pw@x/hook\"}, {name: b, url: \"http://me@x\"}, {name: c, url: "
	    "\"https://\"}]\n",
		"1:27: webhooks[0].url: holds a user name or password; sign notifications with secret_file instead\n"
		"1:67: webhooks[1].url: holds a user name or password; sign notifications with secret_file instead\n"
		"1:98: webhooks[2].url: has no host\n");
	bad("public_url: https://me:pw@bench.example.org\n",
		"1:13: public_url: holds a user name or password; users log in on the page\n");
	bad("repos: [{name: a, url: /a, status: {kind: gitea, api: \"https://me:pw@x/api/v1\", project: a/b}}]\n",
		"1:55: repos[0].status.api: holds a user name or password; put the forge's token into token_file\n"
		"1:36: repos[0].status: needs `token_file`, a file with the forge's access token on its first line\n");
	bad("webhooks: [{name: a, url: \"https://x\", kind: fax}]\npublic_url: bench\n",
		"2:13: public_url: is not an https:// or http:// address\n"
		"1:46: webhooks[0].kind: is not one of webhook, slack, teams, discord, matrix, mail\n");
	bad("webhooks: [{name: a, url: \"https://x\", kind: mail}, {name: b, url: \"smtp://me@x\", kind: mail, from: x, to: y@z}]\n",
		"1:27: webhooks[0].url: is not the address of a mail server: smtp://HOST:PORT, or smtps://HOST:PORT\n"
		"1:12: webhooks[0]: needs `from`\n"
		"1:12: webhooks[0]: needs `to`\n"
		"1:68: webhooks[1].url: holds a user name or password; use `user` and `password_file` instead\n"
		"1:101: webhooks[1].from: is not an address such as flopwatch@example.org\n");
	bad("webhooks: [{name: a, url: \"https://x\", quiet: \"22:00-07:00\", room: \"!r\"}, {name: b, url: \"https://x\", kind: teams, "
	    "quiet: night}]\n",
		"1:68: webhooks[0].room: does not apply to kind webhook\n"
		"1:47: webhooks[0].quiet: does not apply to kind webhook\n"
		"1:123: webhooks[1].quiet: \"night\" is not two times of the day such as \"22:00-07:00\"\n");
	bad("repos: [{name: a, url: /a, notes: push, status: {kind: gitea, project: ../x}}]\n",
		"1:49: repos[0].status: needs `api`; e.g. https://git.example.org/api/v1\n"
		"1:72: repos[0].status.project: is not OWNER/NAME\n"
		"1:49: repos[0].status: needs `token_file`, a file with the forge's access token on its first line\n"
		"1:35: repos[0].notes: is push, but this repository is local: use write\n");
	bad("state_dir: here\n", "1:12: state_dir: is not an absolute path\n");
	bad("limits: 15 min\n", "1:9: limits: must be a mapping (`key: value` lines)\n");
	bad("off_peak: 6 h\n",
		"1:11: off_peak: \"6 h\" is neither off, idle, nor two times of the day such as \"00:00-06:00\"\n");
	bad("off_peak: \"25:00-06:00\"\n",
		"1:11: off_peak: \"25:00-06:00\" is neither off, idle, nor two times of the day such as \"00:00-06:00\"\n");
	bad("# what is measured\nsuite: ffa\nfamily: attention\n",
		"2:1: is a suite, not a configuration; `flopwatch config check` reads those in the configuration's suites_dir, "
		"`flopwatch try` those of a checkout\n");
	bad("suites: /a\n", "1:1: suites: unknown key; remove it\n");
	bad("- a\n", "1:1: is not a mapping; e.g. state_dir: /var/lib/flopwatch\n");
	bad("repos: [\n", "2:1: did not find expected node content\n");
}

/* A mistake that is only found later is reported with its position, too. */
static void test_positions_of_settings(void **state)
{
	(void)state;
	char position[640], want[640];
	struct config *c =
		good("repos:\n  - {name: a, url: /a, upstream: trunk, suites: [ffa, x],\n     peers: [naive, \"cudnn@cuda\"]}\n"
		     "  - {name: b, url: /b, suites: y}\n");
	const struct config_repo *a = &c->repo[0], *b = &c->repo[1];
	config_position(a, a->suite_at[1], "suites", 1, position, sizeof position);
	snprintf(want, sizeof want, "%s:2:55: repos[0].suites[1]: ", path);
	assert_string_equal(position, want);
	config_position(a, a->peers.of[1].at, "peers", 1, position, sizeof position);
	snprintf(want, sizeof want, "%s:3:21: repos[0].peers[1]: ", path);
	assert_string_equal(position, want);
	config_position(b, b->suite_at[0], "suites", -1, position, sizeof position);
	snprintf(want, sizeof want, "%s:4:32: repos[1].suites: ", path);
	assert_string_equal(position, want);
	config_no_upstream(a, position, sizeof position);
	snprintf(want, sizeof want,
		"%s:2:34: repos[0].upstream: there is no branch trunk to compare others with; push it, or set `upstream` of this "
		"repository",
		path);
	assert_string_equal(position, want);
	config_no_upstream(b, position, sizeof position);
	snprintf(want, sizeof want,
		"%s:4:5: repos[1].upstream: there is no branch main to compare others with, the default of `upstream`; push it, or set `upstream` of this repository",
		path);
	assert_string_equal(position, want);
	config_free(c);
}

static void test_secrets(void **state)
{
	(void)state;
	char secret[160], text[512], line[512];
	snprintf(secret, sizeof secret, "%s/secret", folder);
	snprintf(text, sizeof text, "repos: [{name: a, url: /a, secret_file: %s}]\n", secret);
	unlink(secret);
	snprintf(line, sizeof line, "1:41: repos[0].secret_file: cannot read %s: No such file or directory\n", secret);
	bad(text, line);
	write_file(secret, "correct horse\n");
	static const int open_modes[] = { 0644, 0640, 0660, 0602 };
	for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
		assert_int_equal(chmod(secret, (mode_t)open_modes[i]), 0);
		snprintf(line, sizeof line,
			"1:41: repos[0].secret_file: %s may be read or written by others than its owner (mode %04o); chown it to the "
			"user of this program and chmod 600 it\n",
			secret, (unsigned)open_modes[i]);
		bad(text, line);
	}
	assert_int_equal(chmod(secret, 0600), 0);
	write_file(secret, "short\n");
	snprintf(line, sizeof line, "1:41: repos[0].secret_file: the secret in %s has 5 bytes; 8 to 255 are fine\n", secret);
	bad(text, line);
}

/* A file of the folder that remove_folder does not know: the test removes it. */
static const char *make_file(const char *name, const char *text, int mode)
{
	static char file[4][160];
	static int turn;
	char *f = file[turn++ % 4];
	snprintf(f, sizeof file[0], "%s/%s", folder, name);
	write_file(f, text);
	assert_int_equal(chmod(f, (mode_t)mode), 0);
	return f;
}

#define OPENSSH_KEY "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA"
#define PRINT       "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static void test_access_to_servers(void **state)
{
	(void)state;
	char text[2048];
	const char *args[CONFIG_ACCESS_ARGS];
	const char *key = make_file("key", OPENSSH_KEY "BG5vbmUAAAAEbm9uZQ\n", 0600);
	const char *token = make_file("token", "ghp_0123456789\n", 0600), *hosts = make_file("hosts", "# none\n", 0644);
	snprintf(text, sizeof text,
		"repos:\n"
		"- {name: a, url: \"ssh://git@example.org/a.git\", ssh_key: %s, known_hosts: %s, host_keys: [\"" PRINT
		"\", \"" PRINT "\"]}\n"
		"- {name: b, url: \"https://example.org/b.git\", token_file: %s, token_user: deploy, ca_file: %s}\n"
		"- {name: c, url: \"https://example.org/c.git\"}\n",
		key, hosts, token, hosts);
	struct config *c = good(text);
	assert_int_equal(config_repo_access(&c->repo[0], args), 6);
	assert_string_equal(args[0], "--ssh-key");
	assert_string_equal(args[1], key);
	assert_string_equal(args[4], "--host-keys");
	assert_string_equal(args[5], PRINT "," PRINT);
	assert_int_equal(config_repo_access(&c->repo[1], args), 6);
	assert_string_equal(args[0], "--token-file");
	assert_string_equal(args[1], token);
	assert_string_equal(args[3], "deploy");
	assert_string_equal(args[5], hosts);
	assert_int_equal(config_repo_access(&c->repo[2], args), 0);
	config_free(c);
	unlink(key);
	unlink(token);
	unlink(hosts);
}

/* `why` follows the value if it begins with a blank. */
static void bad_setting(const char *url, const char *setting, const char *why, const char *value)
{
	char text[1024], line[1024];
	snprintf(text, sizeof text, "repos:\n- name: a\n  url: %s\n  %s: %s\n", url, setting, value);
	snprintf(line, sizeof line, "4:%zu: repos[0].%s: %s%s\n", strlen(setting) + 5, setting, *why == ' ' ? value : "", why);
	bad(text, line);
}

static void test_access_that_cannot_work(void **state)
{
	(void)state;
	static const char ssh[] = "git@example.org:a.git", https[] = "https://example.org/a.git";
	static const char open_key[] =
		" may be read or written by others than its owner (mode 0640); chown it to the user of this program and chmod 600 it";
	char want[300];
	const char *key = make_file("key", OPENSSH_KEY "BG5vbmUAAAAEbm9uZQ\n", 0640);
	bad_setting(ssh, "ssh_key", open_key, key);
	bad_setting(https, "token_file", open_key, key);
	chmod(key, 0600);
	bad_setting(https, "ssh_key", "applies only to a `url` of the form ssh:// and user@host:path", key);
	bad_setting(ssh, "token_file", "applies only to a `url` of the form https://", key);
	bad_setting("/srv/a.git", "known_hosts", "applies only to a `url` of the form ssh:// and user@host:path", key);
	make_file("key", OPENSSH_KEY "CmFlczI1Ni1jdHIAAAAGYmNyeXB0\n", 0600);
	bad_setting(ssh, "ssh_key", " has a passphrase; make a key without one: ssh-keygen -t ed25519 -N \"\"", key);
	make_file("key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 me\n", 0600);
	bad_setting(ssh, "ssh_key", " is not an ssh private key; name the file without .pub", key);
	unlink(key);
	snprintf(want, sizeof want, "cannot read %s: No such file or directory", key);
	bad_setting(ssh, "ssh_key", want, key);
	assert_int_equal(mkfifo(key, 0600), 0);
	bad_setting(ssh, "ssh_key", " is a FIFO, not a file", key);
	bad_setting(ssh, "known_hosts", " is a FIFO, not a file", key);
	bad_setting(https, "token_file", " is a FIFO, not a file", key);
	bad_setting(https, "ca_file", " is a FIFO, not a file", key);
	bad_setting("/srv/a.git", "secret_file", " is a FIFO, not a file", key);
	unlink(key);
	bad_setting(ssh, "host_keys", " is not a fingerprint as `ssh-keygen -lf` prints it: SHA256:...", "SHA256:AAAA");
	bad_setting(ssh, "host_keys", " is not a fingerprint as `ssh-keygen -lf` prints it: SHA256:...", "16:27:ac:a5");
	bad_setting(https, "token_user", "needs `token_file`, a file with the token on its first line", "deploy");
	bad_setting(ssh, "ssh_key", "is neither an absolute path nor credential:NAME", "keys/id");
	unsetenv("CREDENTIALS_DIRECTORY");
}

static void test_credentials_of_systemd(void **state)
{
	(void)state;
	char position[300], want[600];
	const char *token = make_file("token", "ghp_0123456789\n", 0400);
	static const char https[] = "https://example.org/a.git";
	setenv("CREDENTIALS_DIRECTORY", folder, 1);
	struct config *c = good(
		"repos: [{name: a, url: \"https://example.org/a.git\", token_file: \"credential:token\", secret_file: \"credential:token\"}]\n");
	snprintf(position, sizeof position, "%s/token", folder);
	assert_string_equal(c->repo[0].token_file, position);
	assert_string_equal(c->repo[0].secret, "ghp_0123456789");
	config_free(c);
	bad_setting(https, "token_file", "is not credential:NAME, with letters, digits and . _ - in NAME", "credential:../token");
	snprintf(want, sizeof want,
		"no credential other in %s: add LoadCredential=other:FILE to flopwatchd.service by `systemctl edit "
		"flopwatchd` and restart it",
		folder);
	bad_setting(https, "token_file", want, "credential:other");
	unsetenv("CREDENTIALS_DIRECTORY");
	bad_setting(https, "token_file",
		"names a systemd credential, but the service has none: add LoadCredential=token:FILE to flopwatchd.service by "
		"`systemctl edit flopwatchd` and restart it",
		"credential:token");
	unlink(token);
}

/* systemd grants access to its user by an access control list, whose mask is shown as the group's permission. */
static void test_access_control_lists(void **state)
{
	(void)state;
	unsigned char list[] = { 2, 0, 0, 0,     /* version */
		1, 0, 4, 0, 255, 255, 255, 255,  /* owner: r */
		2, 0, 4, 0, 0, 0, 0, 0,          /* one user: r */
		4, 0, 0, 0, 255, 255, 255, 255,  /* group: - */
		16, 0, 4, 0, 255, 255, 255, 255, /* mask: r */
		32, 0, 0, 0, 255, 255, 255, 255 };
	const uid_t me = geteuid();
	const char *token = make_file("token", "ghp_0123456789\n", 0400);
	struct stat st;
	char text[64];
	struct fw_err err = { 0 };
	memcpy(list + 16, &me, 4); /* little-endian, like all supported machines */
	if (setxattr(token, "system.posix_acl_access", list, sizeof list, 0) != 0) {
		unlink(token);
		skip();
	}
	assert_int_equal(stat(token, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0440);
	assert_int_equal(secret_read(token, text, sizeof text, &err), 0);
	assert_string_equal(text, "ghp_0123456789");
	list[22] = 4; /* the group as well */
	assert_int_equal(setxattr(token, "system.posix_acl_access", list, sizeof list, 0), 0);
	assert_int_equal(secret_read(token, text, sizeof text, &err), -1);
	assert_string_equal(text, "");
	unlink(token);
}

static void test_tls(void **state)
{
	(void)state;
	char restart[128];
	bad("tls: yes\n",
		"1:6: tls: is not a mapping; e.g. {certificate: /etc/flopwatch/tls.pem, key_file: /etc/flopwatch/tls.key}\n");
	bad("tls: {certificate: tls.pem, key_file: /k}\n",
		"1:20: tls.certificate: is neither an absolute path nor credential:NAME\n");
	bad("tls: {certificate: /c}\n", "1:6: tls: needs `key_file`, a file with the private key of the certificate\n");
	bad("tls: {key_file: /k}\n", "1:6: tls: needs `certificate`, a file with the certificate and those of its issuers\n");
	struct config *plain = good("{}\n");
	struct config *live = good("tls: {certificate: /c, key_file: /k}\n");
	struct config *fresh = good("\n\ntls: {certificate: /c2, key_file: /k2, hsts: 0 s}\n");
	assert_string_equal(plain->tls.certificate, "");
	assert_int_equal(live->tls.hsts_ms, 180 * INT64_C(86400000));
	assert_int_equal(fresh->tls.at.line, 3);
	config_update(live, fresh, restart, sizeof restart); /* the files may change */
	assert_string_equal(restart, "");
	assert_string_equal(live->tls.certificate, "/c2");
	assert_string_equal(live->tls.key_file, "/k2");
	assert_int_equal(live->tls.hsts_ms, 0);
	config_update(live, plain, restart, sizeof restart); /* the port speaks TLS, or it does not */
	assert_string_equal(restart, "tls");
	assert_string_equal(live->tls.certificate, "/c2");
	config_update(plain, fresh, restart, sizeof restart);
	assert_string_equal(restart, "tls");
	assert_string_equal(plain->tls.certificate, "");
	config_free(plain);
	config_free(live);
	config_free(fresh);
}

static void test_what_may_change_at_run_time(void **state)
{
	(void)state;
	char restart[128];
	struct config *live = good("repos: [{name: a, url: /a}, {name: b, url: /b}]\n");
	struct config *fresh = good("repos: [{name: b, url: /b, upstream: dev}]\nlimits: {job: 5 min, queue: 3}\nsuites_dir: /s\n"
				    "webhooks: [{name: w, url: \"https://x\"}]\n");
	config_update(live, fresh, restart, sizeof restart);
	assert_string_equal(restart, "");
	assert_int_equal(live->n_repos, 1);
	assert_string_equal(live->repo[0].upstream, "dev");
	assert_int_equal(live->job_timeout_ms, 300000);
	assert_int_equal(live->queue_max, 3);
	assert_string_equal(live->suites_dir, "/s");
	assert_int_equal(config_webhook_find(live, "w"), 0);
	config_free(fresh);
	fresh = good("state_dir: /x\nlisten: 127.0.0.1:1\nworkers: [{name: local, command: [flopwatch-worker, serve, -x]}]\n");
	config_update(live, fresh, restart, sizeof restart);
	assert_string_equal(restart, "state_dir, listen, workers");
	assert_string_equal(live->state_dir, "/var/lib/flopwatch");
	assert_int_equal(live->n_repos, 0);
	config_free(fresh);
	config_free(live);
}

static void test_a_missing_file_is_named(void **state)
{
	(void)state;
	struct config *c = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes;
	buf_init(&mistakes, 1024);
	assert_int_equal(config_read("/nowhere/f.yml", &c, &mistakes, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_string_equal(err.text,
		"cannot read the configuration /nowhere/f.yml: No such file or directory; copy the commented "
		"etc/flopwatchd.yml of the sources there (an installation has it as /etc/flopwatch/flopwatchd.yml), name a repository "
		"in it, then try it: flopwatch config check FILE");
	buf_fini(&mistakes);
}

static void test_a_fifo_is_not_waited_for(void **state)
{
	(void)state;
	struct config *c = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes;
	char want[300];
	buf_init(&mistakes, 1024);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(60); /* ends a test that hangs */
	assert_int_equal(config_read(path, &c, &mistakes, &err), -1);
	alarm(0);
	snprintf(want, sizeof want, "the configuration %s is a FIFO, not a file", path);
	assert_string_equal(err.text, want);
	buf_fini(&mistakes);
	unlink(path);
}

static void test_folders_that_are_shown(void **state)
{
	(void)state;
	char text[2000], conda[160];
	snprintf(conda, sizeof conda, "%s/conda", folder);
	assert_int_equal(mkdir(conda, 0755), 0);
	snprintf(text, sizeof text, "sandbox: {mode: required, read_only: [%s, /usr/lib]}\n", conda);
	struct config *c = good(text), *fresh = good("sandbox: {mode: required, read_only: [/usr/lib]}\n");
	char restart[200];
	assert_string_equal(c->sandbox, "required");
	assert_int_equal(c->n_read_only, 2);
	assert_string_equal(c->read_only[0], conda);
	config_update(c, fresh, restart, sizeof restart);
	assert_string_equal(restart, "sandbox");
	config_free(c);
	config_free(fresh);
	/* files of another machine cannot be checked here */
	c = good("sandbox: {read_only: [/opt/of-that-host]}\nworkers: [{name: far, command: [ssh, far, flopwatch-worker, "
		 "serve]}]\n");
	assert_string_equal(c->sandbox, "auto");
	assert_int_equal(c->n_read_only, 1);
	config_free(c);
	bad("sandbox: {mode: on, read_only: [/]}\n",
		"1:17: sandbox.mode: is not one of auto, required, none\n"
		"1:33: sandbox.read_only[0]: / is too much; name the folder of the toolchain in it\n");
	bad("state_dir: /srv/fw/state\n"
	    "cache_dir: /srv/cache\n"
	    "workers: [{name: far, command: [ssh, far, flopwatch-worker, serve]}]\n"
	    "sandbox:\n"
	    "  read_only: [opt, /proc/1, /etc/ssl, /opt/../etc, /home/alice, /home/alice/.ssh, /srv/fw, /srv/cache/x, \"/opt/a "
	    "b\"]\n",
		"5:15: sandbox.read_only[0]: opt is not an absolute path\n"
		"5:20: sandbox.read_only[1]: /proc/1 belongs to the system and stays closed\n"
		"5:29: sandbox.read_only[2]: /etc/ssl belongs to the system and stays closed\n"
		"5:39: sandbox.read_only[3]: /opt/../etc must be written plainly: without //, . or .., and without a slash at "
		"its end\n"
		"5:52: sandbox.read_only[4]: /home/alice is a whole home; name the folder of the toolchain in it\n"
		"5:65: sandbox.read_only[5]: /home/alice/.ssh is a folder of keys\n"
		"5:83: sandbox.read_only[6]: /srv/fw overlaps state_dir or cache_dir\n"
		"5:92: sandbox.read_only[7]: /srv/cache/x overlaps state_dir or cache_dir\n"
		"5:106: sandbox.read_only[8]: /opt/a b may hold letters, digits and . _ + @ - / only\n");
	bad("sandbox: {read_only: [/opt/not-there]}\n",
		"1:23: sandbox.read_only[0]: /opt/not-there does not exist on this machine\n");
	bad("sandbox: {read_only: /opt, shown: 1}\n",
		"1:22: sandbox.read_only: is not a list of at most 16 folders; e.g. [/opt/conda]\n"
		"1:28: sandbox.shown: unknown key; remove it\n");
	assert_int_equal(rmdir(conda), 0);
}

static void test_the_installed_example_is_right(void **state)
{
	(void)state;
	struct config *c = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes;
	buf_init(&mistakes, 65536);
	const char *root = getenv("FW_SOURCE");
	char file[512];
	snprintf(file, sizeof file, "%s/etc/flopwatchd.yml", root ? root : ".");
	if (config_read(file, &c, &mistakes, &err) != 0)
		fail_msg("%s: %s", err.text, mistakes.data);
	assert_string_equal(c->state_dir, "/var/lib/flopwatch");
	assert_string_equal(c->sandbox, "required");
	assert_string_equal(c->worker[0].socket, "/run/flopwatch-worker.sock");
	buf_fini(&mistakes);
	config_free(c);
}

#define CASE(name) cmocka_unit_test(name)

static void test_profiles_are_on_by_default(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool profile;
	} cases[] = { { "repos: []\n", true }, { "profile: on\n", true }, { "profile: off\n", false } };
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct config *c = good(cases[i].text), *live = good("repos: []\n");
		char restart[256];
		assert_int_equal(c->profile, cases[i].profile);
		config_update(live, c, restart, sizeof restart); /* a reload applies it */
		assert_int_equal(live->profile, cases[i].profile);
		config_free(c);
		config_free(live);
	}
	bad("profile: sometimes\n", "1:10: profile: is not one of on, off\n");
}

static void test_requests_are_watched_if_configured(void **state)
{
	(void)state;
	struct config *c =
		good("repos:\n"
		     "  - {name: a, url: /a}\n"
		     "  - {name: b, url: /b, pull_requests: {}}\n"
		     "  - {name: c, url: /c, pull_requests: {measure: head, refs: merge-requests, approvers: [alice, bob], "
		     "device_time: {job: 30s, day: 5min}}}\n");
	assert_string_equal(c->repo[0].pulls.refs, "");
	assert_string_equal(c->repo[1].pulls.refs, "pull");
	assert_false(c->repo[1].pulls.measure_merge);      /* not every server stores merge results */
	assert_int_equal(c->repo[1].pulls.n_approvers, 0); /* no one may approve a fork */
	assert_int_equal(c->repo[1].pulls.job_ms, 600000);
	assert_int_equal(c->repo[1].pulls.day_ms, 7200000);
	assert_string_equal(c->repo[2].pulls.refs, "merge-requests");
	assert_false(c->repo[2].pulls.measure_merge);
	assert_int_equal(c->repo[2].pulls.n_approvers, 2);
	assert_string_equal(c->repo[2].pulls.approver[1], "bob");
	assert_int_equal(c->repo[2].pulls.job_ms, 30000);
	assert_int_equal(c->repo[2].pulls.day_ms, 300000);
	config_free(c);
	bad("repos: [{name: a, url: /a, pull_requests: yes}]\n",
		"1:43: repos[0].pull_requests: is not a mapping; e.g. {measure: merge, approvers: [alice]}\n");
	bad("repos: [{name: a, url: /a, pull_requests: {measure: both}}]\n",
		"1:53: repos[0].pull_requests.measure: is not one of merge, head\n");
	bad("repos: [{name: a, url: /a, pull_requests: {device_time: 5min}}]\n",
		"1:57: repos[0].pull_requests.device_time: is not a mapping; e.g. {job: 10min, day: 2h}\n");
	bad("repos: [{name: a, url: /a, status: {kind: gitea, api: \"https://x/api/v1\", project: a/b}, pull_requests: "
	    "{measure: merge}}]\n",
		"1:36: repos[0].status: needs `token_file`, a file with the forge's access token on its first line\n"
		"1:115: repos[0].pull_requests.measure: is merge, but gitea stores no merge results; use head\n");
}

static void test_approvals_at_the_forge_need_a_webhook_and_users(void **state)
{
	(void)state;
	bad("repos: [{name: a, url: /a, pull_requests: {approve_by: {}}}]\n",
		"1:56: repos[0].pull_requests.approve_by: needs `label` or `comment`; e.g. {comment: /flopwatch approve, permission: "
		"write}\n"
		"1:56: repos[0].pull_requests.approve_by: needs `users` or `permission`, or no user could approve\n"
		"1:56: repos[0].pull_requests.approve_by: needs `status` of the repository, which names the forge and its project\n");
	bad("repos: [{name: a, url: /a, pull_requests: {approve_by: {label: measure, users: [ada]}}}]\n",
		"1:56: repos[0].pull_requests.approve_by: needs `status` of the repository, which names the forge and its project\n"
		"1:56: repos[0].pull_requests.approve_by: needs `secret_file` of the repository, because the forge's webhook reports "
		"approvals\n");
	/* comments are also read at intervals, labels are not */
	bad("repos: [{name: a, url: /a, pull_requests: {approve_by: {comment: /go, users: [ada]}}}]\n",
		"1:56: repos[0].pull_requests.approve_by: needs `status` of the repository, which names the forge and its project\n");
	bad("repos: [{name: a, url: /a, pull_requests: {approve_by: {comment: /go, users: [ada], poll: 0s}}}]\n",
		"1:56: repos[0].pull_requests.approve_by: needs `status` of the repository, which names the forge and its project\n"
		"1:56: repos[0].pull_requests.approve_by: needs `secret_file` of the repository, because the forge's webhook reports "
		"approvals\n");
	bad("repos: [{name: a, url: /a, status: {kind: forgejo, api: https://f/api/v1, project: a/b}, pull_requests: {approve_by: "
	    "{comment: /go, users: [ada]}}}]\n", /* not read at intervals unless `poll` says so */
		"1:36: repos[0].status: needs `token_file`, a file with the forge's access token on its first line\n"
		"1:118: repos[0].pull_requests.approve_by: needs `secret_file` of the repository, because the forge's webhook "
		"reports approvals\n");
	bad("repos: [{name: a, url: /a, status: {kind: forgejo, api: https://f/api/v1, project: a/b}, pull_requests: {approve_by: "
	    "{comment: /go, users: [ada], poll: 5min}}}]\n",
		"1:36: repos[0].status: needs `token_file`, a file with the forge's access token on its first line\n");
	bad("repos: [{name: a, url: /a, pull_requests: {comment: true}}]\n",
		"1:53: repos[0].pull_requests.comment: needs `status` of the repository, which names the forge\n");
	bad("repos: [{name: a, url: /a, status: {kind: gitlab, project: a/b, checks: true}}]\n",
		"1:36: repos[0].status: needs `token_file`, a file with the forge's access token on its first line\n"
		"1:73: repos[0].status.checks: is true, but only github has check runs\n");
}

static void test_log_ins_by_a_provider(void **state)
{
	(void)state;
	char text[2048], secret[160], lines[512];
	snprintf(secret, sizeof secret, "%s/secret", folder);
	write_file(secret, "client-secret\n");
	assert_int_equal(chmod(secret, 0600), 0);
	snprintf(text, sizeof text,
		"access: token\npublic_url: https://bench.example.org\noidc:\n  issuer: https://id.example.org/realms/x\n"
		"  client_id: flopwatch\n  client_secret_file: %s\n  roles: {kernels: trigger, \"ops team\": admin, all: read}\n",
		secret);
	struct config *c = good(text);
	assert_string_equal(c->oidc.issuer, "https://id.example.org/realms/x");
	assert_string_equal(c->oidc.client_secret, "client-secret");
	assert_string_equal(c->oidc.scopes, "openid profile offline_access");
	assert_string_equal(c->oidc.groups_claim, "groups");
	assert_true(c->oidc.has_consent && !c->oidc.allow_internal);
	assert_int_equal(config_oidc_scope(&c->oidc, "ops team"), TOKEN_ADMIN);
	assert_int_equal(config_oidc_scope(&c->oidc, "kernels"), TOKEN_TRIGGER);
	assert_int_equal(config_oidc_scope(&c->oidc, "others"), TOKEN_NONE);
	config_free(c);
	c = good("");
	assert_string_equal(c->oidc.issuer, "");
	config_free(c);
	bad("oidc: {issuer: \"http://id.example.org\", scopes: [profile, \"a b\"], roles: {ops: root}, client: x}\n",
		"1:16: oidc.issuer: does not begin with https://\n"
		"1:7: oidc: needs `client_id`\n"
		"1:7: oidc: needs `client_secret_file`, a file with the client's secret on its first line\n"
		"1:49: oidc.scopes: a b is not one scope; write a list: [openid, profile]\n"
		"1:49: oidc.scopes: lacks openid, without which the provider names no user\n"
		"1:80: oidc.roles.ops: is not one of read, trigger, admin\n"
		"1:7: oidc: needs `access: token`; otherwise no request needs a log-in\n"
		"1:7: oidc: needs `public_url`, the address to which the provider returns the browser\n"
		"1:87: oidc.client: unknown key; did you mean `client_id`?\n");
	snprintf(text, sizeof text,
		"access: token\npublic_url: https://b.example.org\noidc: {issuer: \"https://id.example.org/?a\", client_id: x, "
		"client_secret_file: %s}\n",
		secret);
	snprintf(lines, sizeof lines,
		"3:16: oidc.issuer: holds a query or fragment; write the `issuer` of the provider's description\n"
		"3:7: oidc: needs `roles`; e.g. roles: {kernel-team: trigger}\n");
	bad(text, lines);
	bad("oidc: x\n", "1:7: oidc: is not a mapping; e.g. {issuer: \"https://id.example.org\", ...}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_requests_are_watched_if_configured),
		CASE(test_approvals_at_the_forge_need_a_webhook_and_users),
		cmocka_unit_test(test_profiles_are_on_by_default),
		CASE(test_an_empty_file_is_the_installed_default),
		CASE(test_everything_set),
		CASE(test_all_mistakes_at_once),
		CASE(test_folders_that_are_shown),
		CASE(test_addresses_to_listen_on),
		CASE(test_addresses_of_repositories),
		CASE(test_ways_to_a_worker),
		CASE(test_options_that_hide_a_request_are_refused),
		CASE(test_names_lists_and_shapes),
		CASE(test_positions_of_settings),
		CASE(test_secrets),
		CASE(test_log_ins_by_a_provider),
		CASE(test_access_to_servers),
		CASE(test_access_that_cannot_work),
		CASE(test_credentials_of_systemd),
		CASE(test_access_control_lists),
		CASE(test_tls),
		CASE(test_what_may_change_at_run_time),
		CASE(test_a_missing_file_is_named),
		CASE(test_a_fifo_is_not_waited_for),
		CASE(test_the_installed_example_is_right),
	};
	return cmocka_run_group_tests_name("config", tests, make_folder, remove_folder);
}
