#include "lib/lib.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* Parse a number below CPU_SETSIZE; -1. */
static int number(const char **at)
{
	char *end;
	if (!isdigit((unsigned char)**at))
		return -1;
	long v = strtol(*at, &end, 10);
	*at = end;
	return v < CPU_SETSIZE ? (int)v : -1;
}

bool cores_read(const char *text, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (const char *at = text;;) {
		int first = number(&at), last = first;
		if (*at == '-') {
			at++;
			last = number(&at);
		}
		if (first < 0 || last < first)
			return false;
		for (int i = first; i <= last; i++)
			CPU_SET(i, set);
		if (*at == '\0')
			return true;
		if (*at++ != ',')
			return false;
	}
}

bool cores_is_plan(const char *text)
{
	cpu_set_t ignored;
	return strcmp(text, "auto") == 0 || strcmp(text, "shared") == 0 || cores_read(text, &ignored);
}

/* Read a list of cores from a file of the system. Returns false if the file has none. */
static bool read_file(const char *path, cpu_set_t *set)
{
	char text[CORES_TEXT] = "";
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	bool is_read = fgets(text, sizeof text, file) != NULL;
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return is_read && cores_read(text, set);
}

/* Add the hardware threads of a core. They share its execution units, so all must serve or all measure. Unknown: only `core`. */
static void add_siblings(int core, cpu_set_t *set)
{
	char path[96];
	cpu_set_t siblings;
	CPU_SET(core, set);
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", core);
	if (read_file(path, &siblings))
		CPU_OR(set, set, &siblings);
}

static int plan_auto(const cpu_set_t *allowed, struct cores *out)
{
	int first = 0;
	if (CPU_COUNT(allowed) < CORES_SEPARATE_MIN)
		return 0;
	while (!CPU_ISSET(first, allowed))
		first++;
	CPU_ZERO(&out->serve);
	add_siblings(first, &out->serve);
	CPU_AND(&out->serve, &out->serve, allowed);
	CPU_XOR(&out->measure, allowed, &out->serve);
	out->separate = CPU_COUNT(&out->measure) > 0;
	if (!out->separate)
		out->measure = out->serve = *allowed;
	return 0;
}

int cores_plan(const char *how, struct cores *out, struct fw_err *err)
{
	cpu_set_t allowed, both;
	char ours[CORES_TEXT];
	CPU_ZERO(&allowed);
	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return err_sys(err, "cannot read the allowed cores");
	*out = (struct cores){ .measure = allowed, .serve = allowed };
	if (strcmp(how, "shared") == 0)
		return 0;
	if (strcmp(how, "auto") == 0)
		return plan_auto(&allowed, out);
	if (!cores_read(how, &out->measure))
		return err_set(err, ERR_INVALID, "cores: %s is neither auto, shared nor a list as 2-7,10", how);
	cores_text(&allowed, ours);
	CPU_AND(&both, &out->measure, &allowed);
	if (!CPU_EQUAL(&both, &out->measure))
		return err_set(err, ERR_INVALID, "cores: %s names a core that is not among ours, %s", how, ours);
	CPU_XOR(&out->serve, &allowed, &out->measure);
	if (CPU_COUNT(&out->serve) == 0)
		return err_set(err, ERR_INVALID, "cores: %s leaves none of %s to serve", how, ours);
	out->separate = true;
	return 0;
}

int cores_use(const cpu_set_t *set, struct fw_err *err)
{
	return sched_setaffinity(0, sizeof *set, set) == 0 ? 0 : err_sys(err, "cannot set the cores of the process");
}

void cores_text(const cpu_set_t *set, char text[CORES_TEXT])
{
	size_t used = 0;
	text[0] = '\0';
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, set))
			continue;
		int last = i;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
			last++;
		int n = last > i ? snprintf(text + used, CORES_TEXT - used, "%s%d-%d", used ? "," : "", i, last)
				 : snprintf(text + used, CORES_TEXT - used, "%s%d", used ? "," : "", i);
		if (n < 0 || used + (size_t)n >= CORES_TEXT)
			return;
		used += (size_t)n;
		i = last;
	}
}

int cores_count(void)
{
	cpu_set_t set;
	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

void cores_near(const char *pci, cpu_set_t *out)
{
	char path[128];
	CPU_ZERO(out);
	if (!*pci || strchr(pci, '/'))
		return;
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%.40s/local_cpulist", pci);
	if (!read_file(path, out))
		CPU_ZERO(out);
}

/* Restrict `near` to the usable cores; without any, use all. */
static void usable(const cpu_set_t *all, const cpu_set_t *near, cpu_set_t *out)
{
	CPU_AND(out, all, near);
	if (CPU_COUNT(out) == 0)
		*out = *all;
}

/* Remove the whole core of `i` from `left`, and return its removed threads. */
static cpu_set_t take_core(int i, cpu_set_t *left)
{
	cpu_set_t whole;
	CPU_ZERO(&whole);
	add_siblings(i, &whole);
	CPU_AND(&whole, &whole, left);
	CPU_XOR(left, left, &whole);
	return whole;
}

static int count_cores(const cpu_set_t *set)
{
	cpu_set_t left = *set;
	int n = 0;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &left)) {
			take_core(i, &left);
			n++;
		}
	return n;
}

/* Divide the cores among `n` processes, and add those of process `k`. A process gets neighbouring cores. */
static void share_cores(const cpu_set_t *set, int n, int k, cpu_set_t *out)
{
	cpu_set_t left = *set;
	int n_cores = count_cores(set), dealt = 0;
	for (int i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &left))
			continue;
		cpu_set_t whole = take_core(i, &left);
		if ((n_cores < n ? dealt : dealt * n / n_cores) == k)
			CPU_OR(out, out, &whole);
		dealt++;
	}
}

/* Return the jobs that may use core `i`, a bit each. */
static cpu_set_t get_candidates(const cpu_set_t *may, int n, int i)
{
	cpu_set_t who;
	CPU_ZERO(&who);
	for (int k = 0; k < n; k++)
		if (CPU_ISSET(i, &may[k]))
			CPU_SET(k, &who);
	return who;
}

/*
 * Divide the cores that exactly the jobs `who` may use among them; if there are too few, among the jobs that may use no others.
 */
static void divide(const cpu_set_t *group, const cpu_set_t *may, const cpu_set_t *who, int k, cpu_set_t *out)
{
	int n = 0, rank = 0, n_only = 0, rank_only = 0, n_cores = count_cores(group);
	for (int i = 0; i < CORES_JOBS_MAX; i++) {
		if (!CPU_ISSET(i, who))
			continue;
		bool is_all = CPU_EQUAL(&may[i], group);
		rank += i < k;
		rank_only += i < k && is_all;
		n_only += is_all;
		n++;
	}
	if (n_cores >= n || n_only == 0)
		share_cores(group, n, rank, out);
	else if (!CPU_EQUAL(&may[k], group))
		return;
	else if (n_cores >= n_only)
		share_cores(group, n_only, rank_only, out);
	else
		CPU_OR(out, out, group);
}

void cores_share(const cpu_set_t *all, const cpu_set_t *near, int n, int k, cpu_set_t *out)
{
	cpu_set_t may[CORES_JOBS_MAX], left;
	CPU_ZERO(out);
	n = n < CORES_JOBS_MAX ? n : CORES_JOBS_MAX;
	for (int i = 0; i < n; i++)
		usable(all, &near[i], &may[i]);
	left = may[k];
	for (int i = 0; i < CPU_SETSIZE; i++) {
		cpu_set_t group, who = get_candidates(may, n, i);
		if (!CPU_ISSET(i, &left))
			continue;
		CPU_ZERO(&group);
		for (int c = i; c < CPU_SETSIZE; c++) {
			cpu_set_t other = get_candidates(may, n, c);
			if (CPU_EQUAL(&other, &who))
				CPU_SET(c, &group);
		}
		CPU_XOR(&left, &left, &group);
		divide(&group, may, &who, k, out);
	}
	if (CPU_COUNT(out) == 0) /* no core remained for it */
		*out = may[k];
}
