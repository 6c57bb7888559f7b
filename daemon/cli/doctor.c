/* doctor: checks all requirements of measurements. One check per function; each returns ok, warn or fail, and advice. */
#include "cli/internal.h"

#include <errno.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

/* ---- service ---- */

enum { SERVICE_PATH_BYTES = 1024, LINE_BYTES = 1024 };

static bool exists(const char *root, const char *folder, const char *name)
{
	char path[SERVICE_PATH_BYTES];
	snprintf(path, sizeof path, "%s%s/%s", root, folder, name);
	return access(path, F_OK) == 0;
}

static const char shortage_advice[] = "end other programs on this machine, then run it again";

/* Whether a line of /etc/passwd or /etc/group begins with the name. Returns 1, 0, -1 the file cannot be read. */
static int is_listed(const char *root, const char *file, const char *name, struct fw_err *err)
{
	char path[SERVICE_PATH_BYTES], line[LINE_BYTES];
	size_t len = strlen(name);
	int found = 0;
	snprintf(path, sizeof path, "%s/etc/%s", root, file);
	FILE *f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? 0 : err_sys(err, "cannot read %s", path);
	while (!found && fgets(line, sizeof line, f))
		found = strncmp(line, name, len) == 0 && line[len] == ':';
	if (!found && ferror(f))
		found = err_sys(err, "cannot read %s", path);
	fclose(f);
	return found;
}

static void check_account(struct answers *a, const char *root, const char *file, const char *what, const char *name,
	const char *advice, const char *use)
{
	struct fw_err err = { 0 };
	int found = is_listed(root, file, name, &err);
	if (found < 0)
		answers_add(a, FAIL, what, err.is_shortage ? shortage_advice : "let this user read it", "%s", err.text);
	else if (!found)
		answers_add(a, FAIL, what, advice, "there is no %s %s, which %s", what, name, use);
}

static void check_units(struct answers *a, const char *root)
{
	static const char *const names[] = { "flopwatchd.service", "flopwatch-worker.socket", "flopwatch-worker@.service" };
	static const char *const folders[] = { "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
		"/usr/lib/systemd/system", "/lib/systemd/system" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		bool found = false;
		for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++)
			found = found || exists(root, folders[k], names[i]);
		if (!found)
			answers_add(a, FAIL, "unit", "install it: make install, or the package; then systemctl daemon-reload",
				"%s is in no folder of systemd", names[i]);
	}
}

static void check_accounts(struct answers *a, const char *root)
{
	static const char *const users[] = { "flopwatch", "flopwatch-run" };
	static const char *const groups[] = { "video", "render" };
	for (size_t i = 0; i < 2; i++)
		check_account(a, root, "passwd", "user", users[i], "systemd-sysusers makes it from flopwatch.sysusers",
			i ? "the worker runs as" : "the daemon runs as");
	for (size_t i = 0; i < 2; i++)
		check_account(a, root, "group", "group", groups[i], "groupadd --system NAME; it may stay empty",
			"flopwatch-worker@.service names, so no worker can start");
}

/* Ubuntu's setting that allows bubblewrap only with an AppArmor profile. */
static void check_namespaces(struct answers *a, const char *root)
{
	static const char *const profiles[] = { "bwrap", "bwrap-userns-restrict", "usr.bin.bwrap" };
	char path[SERVICE_PATH_BYTES], value = '0';
	snprintf(path, sizeof path, "%s/proc/sys/kernel/apparmor_restrict_unprivileged_userns", root);
	FILE *f = fopen(path, "re");
	if (!f && errno != ENOENT)
		answers_add(a, FAIL, "sandbox", err_is_shortage(errno) ? shortage_advice : "let this user read it",
			"cannot read %s: %s", path, strerror(errno));
	if (f && fread(&value, 1, 1, f) != 1)
		value = '0';
	if (f)
		fclose(f);
	bool has_profile = false;
	for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
		has_profile = has_profile || exists(root, "/etc/apparmor.d", profiles[i]);
	if (value == '1' && !has_profile)
		answers_add(a, FAIL, "sandbox",
			"add an AppArmor profile with `userns,` for /usr/bin/bwrap in /etc/apparmor.d (see "
			"doc/troubleshooting.md#namespaces)",
			"AppArmor blocks user namespaces of bubblewrap (kernel.apparmor_restrict_unprivileged_userns=1), so that "
			"no worker with `sandbox: required` starts");
}

void service_check(struct answers *a, const char *root)
{
	int before = a->n;
	if (!exists(root, "/etc/flopwatch", "flopwatchd.yml") || !exists(root, "/run/systemd", "system"))
		return;
	check_units(a, root);
	check_accounts(a, root);
	check_namespaces(a, root);
	if (a->n == before)
		answers_add(a, OK, "service", "", "units, users and groups are there");
}

/* ---- doctor ---- */

enum { REQUEST_MS = 20000, BUILD_MS = 200000, DISK_WARN_MIB = 4096, DISK_FAIL_MIB = 128 };

struct doctor {
	struct client *c;
	struct answers answers;
};

/*
 * Run a program and get its output without trailing line ends. Returns 1, 0 it cannot be run, or failed; -1 this machine lacks
 * memory or descriptors for it, which says nothing about the program. Shape: out is a buf.
 */
static int request(const char *const *argv, struct buf *out, struct fw_err *err)
{
	struct proc_spec spec = { .argv = argv };
	struct proc_exit how;
	struct fw_err why = { 0 };
	if (proc_run(&spec, NULL, out, NULL, REQUEST_MS, &how, &why) == 0)
		return how.status == 0 && !out->failed;
	if (!why.is_shortage)
		return 0;
	*err = why;
	return -1;
}

/* ---- this machine ------------------------------------------------------------------------------------------------------ */

static void check_devices(struct doctor *d)
{
	char program[4096];
	struct fw_err err = { 0 };
	struct buf out;
	json_t *hello = NULL, *device;
	size_t i;
	bool cuda = false;
	buf_init(&out, 1 << 20);
	const char *argv[] = { program, "probe", NULL };
	if (proc_sibling("flopwatch-worker", program, sizeof program, &err) == 0 && request(argv, &out, &err) == 1)
		hello = json_loadb(out.data, out.len, JSON_DISABLE_EOF_CHECK, NULL);
	if (!hello) {
		answers_add(&d->answers, FAIL, "worker",
			err.is_shortage ? shortage_advice : "install flopwatch-worker next to this program", "%s",
			err.is_shortage ? err.text : "flopwatch-worker does not answer");
		buf_fini(&out);
		return;
	}
	json_array_foreach(json_object_get(hello, "devices"), i, device)
	{
		const char *kind = value_text(device, "kind"), *driver = value_text(device, "driver");
		cuda = cuda || strcmp(kind, "cuda") == 0;
		if (strcmp(kind, "sim") != 0)
			answers_add(&d->answers, OK, strcmp(kind, "cuda") == 0 ? "GPU" : kind, "", "%s%s%s, %s",
				value_text(device, "name"), *driver ? ", driver " : "", driver, value_text(device, "toolkit"));
	}
	if (!cuda && access("/proc/driver/nvidia/version", R_OK) == 0)
		answers_add(&d->answers, FAIL, "GPU", "run nvidia-smi; after a driver update, reload its kernel module",
			"the driver is loaded, but no device answers");
	else if (!cuda)
		answers_add(&d->answers, WARN, "GPU", "fine where another machine measures; else install the driver",
			"none on this machine");
	bool sandboxed = strcmp(value_text(hello, "isolation"), "bwrap") == 0;
	answers_add(&d->answers, sandboxed ? OK : WARN, "sandbox",
		sandboxed ? "" : "install bubblewrap, and allow user namespaces (see doc/troubleshooting.md#namespaces)", "%s",
		sandboxed ? "bubblewrap works"
			  : "bubblewrap is missing or may not create namespaces: results have isolation none");
	json_decref(hello);
	buf_fini(&out);
}

/* Build and run a minimal module in the same way as those of a push. */
static void check_build(struct doctor *d)
{
	char program[4096];
	struct fw_err err = { 0 };
	struct proc_exit how = { 0 };
	struct buf out, errors;
	buf_init(&out, 1 << 16);
	buf_init(&errors, 1 << 16);
	const char *argv[] = { program, "probe", "--build", "--sandbox", "required", NULL };
	struct proc_spec spec = { .argv = argv };
	int result = proc_sibling("flopwatch-worker", program, sizeof program, &err);
	if (result == 0)
		result = proc_run(&spec, NULL, &out, &errors, BUILD_MS, &how, &err);
	if (result == 0 && how.status != 0)
		result = err_set(
			&err, ERR_IO, "%.*s", (int)strcspn(errors.data, "\n"), how.timed_out ? "it did not end" : errors.data);
	if (result == 0)
		answers_add(&d->answers, OK, "build", "", "a module was built in the sandbox, and run there");
	else
		answers_add(&d->answers, WARN, "build",
			err.is_shortage
				? shortage_advice
				: "if this machine measures: install a C compiler (package gcc) and bubblewrap, and follow the message",
			"%s", strncmp(err.text, "flopwatch-worker: ", 18) == 0 ? err.text + 18 : err.text);
	buf_fini(&out);
	buf_fini(&errors);
}

static void check_nvcc(struct doctor *d)
{
	static const char *const positions[] = { "nvcc", "/usr/local/cuda/bin/nvcc" };
	struct buf out;
	struct fw_err err = { 0 };
	int found = 0;
	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < 2 && !found; i++) {
		buf_clear(&out);
		found = request((const char *const[]){ positions[i], "--version", NULL }, &out, &err);
	}
	const char *release = found > 0 ? strstr(out.data, "release ") : NULL;
	if (found < 0)
		answers_add(&d->answers, FAIL, "nvcc", shortage_advice, "%s", err.text);
	else if (found)
		answers_add(&d->answers, OK, "nvcc", "", "%.*s", release ? (int)strcspn(release, "\n") : 5,
			release ? release : "found");
	else
		answers_add(&d->answers, WARN, "nvcc",
			"where CUDA kernels are built: install the CUDA toolkit, and put nvcc into PATH", "not found");
	buf_fini(&out);
}

/* Count one kernel in the same way as a profile: inside the sandbox, by the account of the user. */
static void check_counters(struct doctor *d)
{
	char program[4096];
	struct fw_err err = { 0 };
	struct buf out;
	if (access("/proc/driver/nvidia/params", F_OK) != 0)
		return;
	buf_init(&out, 1 << 16);
	const char *argv[] = { program, "probe", "--counters", "--device", "cuda", NULL };
	bool answered = proc_sibling("flopwatch-worker", program, sizeof program, &err) == 0 && request(argv, &out, &err) == 1;
	json_t *line = answered ? json_loads(out.data, 0, NULL) : NULL;
	const char *why = value_text(line, "why");
	if (strcmp(value_text(line, "path"), "range") == 0)
		answers_add(&d->answers, OK, "counters", "", "%s reads them inside the sandbox", value_text(line, "tool"));
	else
		answers_add(&d->answers, WARN, "counters",
			err.is_shortage
				? shortage_advice
				: "causes of alerts then come from machine code alone (see doc/troubleshooting.md#counters)",
			"not read inside the sandbox: %s",
			*why              ? why
			: err.is_shortage ? err.text
					  : "no answer");
	json_decref(line);
	buf_fini(&out);
}

static void check_disk(struct doctor *d)
{
	static const char *const folders[] = { "/var/lib/flopwatch", "/var/cache/flopwatch", "/tmp" };
	for (size_t i = 0; i < 3; i++) {
		struct statvfs fs;
		if (statvfs(folders[i], &fs) != 0)
			continue; /* not used here */
		unsigned long long mib = (unsigned long long)fs.f_bavail * fs.f_frsize >> 20;
		answers_add(&d->answers,
			mib < DISK_FAIL_MIB   ? FAIL
			: mib < DISK_WARN_MIB ? WARN
					      : OK,
			"disk",
			mib < DISK_WARN_MIB
				? "free some space; no job begins with less than 64 MiB for the database, or 1.25 GiB for the cache"
				: "",
			"%llu MiB free in %s", mib, folders[i]);
	}
}

static void check_clock(struct doctor *d)
{
	struct timex clock = { .modes = 0 };
	int state = adjtimex(&clock);
	if (state == TIME_ERROR || (clock.status & STA_UNSYNC))
		answers_add(&d->answers, WARN, "clock", "start systemd-timesyncd or chrony; times and signatures depend on it",
			"no time service is active");
	else
		answers_add(&d->answers, OK, "clock", "", "synchronised");
}

/* ---- the daemon -------------------------------------------------------------------------------------------------------- */

static const char *advice_for(const char *class)
{
	if (!*class)
		return "flopwatch log JOB prints the log of each; flopwatch try does the same with a local checkout";
	if (strcmp(class, "build") == 0)
		return "builds run in a sandbox on the worker's machine, which must have their dependencies; flopwatch try "
		       "builds a checkout alike";
	if (strcmp(class, "no result") == 0)
		return "check .flopwatch.yaml, its suites and the messages of the worker; flopwatch log JOB prints them";
	return "flopwatch log JOB prints all messages; flopwatch try does the same with a local checkout";
}

static void check_jobs(struct doctor *d, const json_t *repo)
{
	const json_t *f = json_object_get(repo, "failing");
	const char *class = value_text(f, "class");
	if (json_is_object(f))
		answers_add(&d->answers, FAIL, "jobs", advice_for(class),
			"%s: its last %lld jobs all failed%s%s; the newest, J%lld: %s", value_text(repo, "name"),
			value_integer(f, "jobs"), *class ? " alike, " : ", in several ways", class, value_integer(f, "job"),
			value_text(f, "reason"));
}

static void check_repos(struct doctor *d, const json_t *repos)
{
	size_t i;
	json_t *repo;
	json_array_foreach(json_object_get(repos, "items"), i, repo)
	{
		bool broken = strcmp(value_text(repo, "state"), "error") == 0;
		answers_add(&d->answers, broken ? FAIL : OK, "repository",
			broken ? "fix its url, key or permissions; flopwatch config check" : "", "%s%s%s",
			value_text(repo, "name"), broken ? ": " : " is read", broken ? value_text(repo, "error") : "");
		check_jobs(d, repo);
	}
	if (i == 0)
		answers_add(&d->answers, WARN, "repository", "add one under repos: in flopwatchd.yml", "none is watched");
}

static void check_daemon_devices(struct doctor *d, const json_t *devices)
{
	size_t i;
	json_t *device;
	json_array_foreach(json_object_get(devices, "items"), i, device)
	{
		const char *state = value_text(device, "state");
		enum devicestate is = devicestate_from_name(state);
		answers_add(&d->answers, is == DEVICESTATE_OK ? OK : WARN, "device",
			is == DEVICESTATE_OK ? ""
			: is == DEVICESTATE_ABSENT
				? "nothing where it was taken out; else see doc/howto/several-machines.md#absent-devices"
				: "flopwatch resume DEVICE gives it jobs again",
			"%s is %s%s%s", value_text(device, "uuid"), state, *value_text(device, "state_why") ? ": " : "",
			value_text(device, "state_why"));
		if (*value_text(device, "outlier"))
			answers_add(&d->answers, WARN, "device",
				"check its clocks, its memory and other processes; it gets no jobs until it agrees again",
				"%s is an outlier of its class: %s", value_text(device, "uuid"), value_text(device, "outlier"));
	}
	if (i == 0)
		answers_add(&d->answers, WARN, "device",
			"check workers: in flopwatchd.yml; a device is listed once its worker has connected",
			"the daemon has no device");
}

/* ", shows /opt/conda": folders that branch code may read on the worker. Shape: out[size]. */
static void print_shown(const json_t *worker, char *out, size_t size)
{
	size_t i, used = 0;
	json_t *path;
	out[0] = '\0';
	json_array_foreach(json_object_get(worker, "read_only"), i, path)
	{
		int n = snprintf(out + used, size - used, "%s%s", i ? ", " : ", shows ", json_string_value(path));
		used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
	}
}

static void check_workers(struct doctor *d, const json_t *workers)
{
	size_t i;
	json_t *worker;
	json_array_foreach(json_object_get(workers, "items"), i, worker)
	{
		bool down = strcmp(value_text(worker, "state"), "down") == 0;
		char shown[200];
		print_shown(worker, shown, sizeof shown);
		answers_add(&d->answers, down ? FAIL : OK, "worker",
			down ? "fix its command or socket under workers: in flopwatchd.yml; it is tried again" : "",
			"%s is %s%s%s%s", value_text(worker, "name"), value_text(worker, "state"), down ? ": " : "",
			value_text(worker, "why"), shown);
	}
}

/* Archived months of single times. */
static void check_samples(struct doctor *d, const json_t *months)
{
	size_t i;
	json_t *month;
	long long bytes = 0;
	json_array_foreach(json_object_get(months, "items"), i, month)
	{
		bytes += value_integer(month, "bytes");
		if (strcmp(value_text(month, "state"), "ok") != 0)
			answers_add(&d->answers, FAIL, "archive",
				"single times of that month cannot be judged again or shown until then", "%s",
				value_text(month, "why"));
	}
	if (i > 0)
		answers_add(&d->answers, OK, "archive", "", "%zu month%s of single times, %lld MiB", i, i == 1 ? "" : "s",
			bytes >> 20);
}

/* The lines of /healthz after the first one. */
static void check_warnings(struct doctor *d, char *health)
{
	static const char mark[] = "warning: ";
	char *line;
	(void)strsep(&health, "\n");
	while ((line = strsep(&health, "\n")))
		if (strncmp(line, mark, sizeof mark - 1) == 0)
			answers_add(&d->answers, WARN, "daemon",
				strstr(line, "certificate") ? "see doc/howto/https.md" : "see `flopwatch notifications`", "%s",
				line + sizeof mark - 1);
}

/* Return the advice if the daemon does not answer /healthz. */
static const char *remedy_of(const struct fw_err *err)
{
	if (err->is_shortage)
		return shortage_advice;
	if (strstr(err->text, "is not trusted"))
		return "see doc/troubleshooting.md#untrusted: the end of the message has the reason";
	if (strstr(err->text, "servers.yml"))
		return "correct it; `flopwatch servers` lists the servers that it names";
	if (strstr(err->text, "accepts only HTTPS"))
		return "name its address with https://: --server URL or FLOPWATCH_SERVER";
	if (err->code == ERR_IO || err->code == ERR_TIMEOUT)
		return "start it: flopwatchd --config FILE, or where it is installed as a service: systemctl start flopwatchd; if it "
		       "runs elsewhere, name its address: --server URL or FLOPWATCH_SERVER";
	if (strstr(err->text, "in PEM in"))
		return "name the file of a private authority: --ca-file FILE or FLOPWATCH_CA_FILE";
	return "see its log: journalctl -u flopwatchd, or the output of a daemon started by hand";
}

/* Return a list that an older daemon does not have; NULL: without it. Own: json_decref. */
static json_t *get_newer(struct doctor *d, const char *what, const char *path)
{
	struct fw_err err = { 0 };
	json_t *list = NULL;
	if (client_get(d->c, path, &list, &err) != 0 && err.code != ERR_NOT_FOUND)
		answers_add(&d->answers, FAIL, what, remedy_of(&err), "%s", err.text);
	return list;
}

static void check_daemon(struct doctor *d)
{
	struct fw_err err = { 0 };
	struct buf text;
	json_t *repos = NULL, *devices = NULL, *workers = NULL, *months = NULL;
	buf_init(&text, 1 << 16);
	if (client_get_raw(d->c, "/healthz", &text, &err) != 0) {
		answers_add(&d->answers, FAIL, "daemon", remedy_of(&err), "%s", err.text);
	} else if (client_get(d->c, "/api/v1/repos", &repos, &err) != 0 ||
		   client_get(d->c, "/api/v1/devices", &devices, &err) != 0) {
		answers_add(&d->answers, FAIL, "daemon",
			err.is_shortage ? shortage_advice : "show it an access token: --token-file FILE",
			"%s answers, but not to us: %s", client_server(d->c), err.text);
	} else {
		answers_add(&d->answers, OK, "daemon", "", "%s answers and can store results", client_server(d->c));
		check_warnings(d, text.data);
		check_repos(d, repos);
		if ((workers = get_newer(d, "worker", "/api/v1/workers")))
			check_workers(d, workers);
		check_daemon_devices(d, devices);
		if ((months = get_newer(d, "archive", "/api/v1/samples")))
			check_samples(d, months);
	}
	json_decref(repos);
	json_decref(devices);
	json_decref(workers);
	json_decref(months);
	buf_fini(&text);
}

/* ---- all checks -------------------------------------------------------------------------------------------------------- */

/* The daemon's check of its configuration: folders, repositories with their credentials, and workers. */
static void check_config_names(struct doctor *d, const struct options *o)
{
	struct fw_err err = { 0 };
	const char *file = o->n_arg ? o->arg[0] : CONFIG_USUAL;
	if (!o->n_arg && access(file, F_OK) != 0) {
		answers_add(&d->answers, WARN, "config",
			"fine where another machine has the daemon; else copy the commented etc/flopwatchd.yml of the sources there, name a repository in it, then flopwatch config check",
			"there is no %s", file);
		return;
	}
	if (!o->n_arg && access(file, R_OK) != 0) {
		answers_add(&d->answers, WARN, "config", "sudo flopwatch doctor",
			"this user may not read %s, so nothing in it is tried", file);
		return;
	}
	if (config_check_objects(file, &d->answers, &err) != 0)
		answers_add(&d->answers, FAIL, "config",
			err.is_shortage ? shortage_advice : "flopwatch config check FILE names every mistake", "%s: %s", file,
			err.text);
}

int verb_doctor(struct client *c, const struct options *o)
{
	struct doctor d = { .c = c };
	service_check(&d.answers, "");
	check_config_names(&d, o);
	check_devices(&d);
	check_build(&d);
	check_nvcc(&d);
	check_counters(&d);
	check_disk(&d);
	check_clock(&d);
	check_daemon(&d);
	bool good = answers_print(&d.answers, o->json);
	answers_fini(&d.answers);
	return good ? EXIT_OK : EXIT_ERROR;
}
