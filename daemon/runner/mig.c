/* mig.c - MIG instances by CUDA_VISIBLE_DEVICES, which CUDA reads once, at its first call. */
#include "runner/internal.h"

#include <sys/wait.h>

static const char variable[] = "CUDA_VISIBLE_DEVICES";

static bool is_instance(const char *uuid)
{
	return strncmp(uuid, "MIG-", 4) == 0;
}

static bool has_instance(const struct mig_names *names)
{
	for (int i = 0; i < names->n; i++)
		if (is_instance(names->uuid[i]))
			return true;
	return false;
}

/* Parse the variable's list. A list with numbers, which are CUDA's, is ignored: CUDA handles it. */
static void split(const char *list, struct mig_names *out)
{
	while (*list && out->n < PROTOCOL_DEVICES_MAX) {
		int length = (int)strcspn(list, ",");
		if (length > 0 && length < (int)sizeof out->uuid[0])
			snprintf(out->uuid[out->n++], sizeof out->uuid[0], "%.*s", length, list);
		list += length + (list[length] == ',');
	}
}

void mig_names(struct mig_names *out)
{
	const char *given = getenv(variable);
	memset(out, 0, sizeof *out);
	if (given)
		split(given, out);
	else
		out->n = nvml_list(out->uuid, PROTOCOL_DEVICES_MAX);
	if (!has_instance(out))
		out->n = 0;
}

/* Describe an instance in a child process, whose first call of CUDA this is. */
static _Noreturn void describe_alone(const struct mig_names *names, int which, mig_describe_fn *describe, int fd)
{
	struct msg_device about;
	struct fw_err err = { 0 };
	bool ok = mig_enter(names, which, &err) == 0 && describe(0, &about, &err) == 0 &&
		  write(fd, &about, sizeof about) == (ssize_t)sizeof about;
	_exit(ok ? 0 : 1);
}

static bool describe_one(const struct mig_names *names, int which, mig_describe_fn *describe, struct msg_device *out)
{
	int pipe_fd[2], status;
	if (pipe2(pipe_fd, O_CLOEXEC) != 0)
		return false;
	pid_t pid = fork();
	if (pid == 0)
		describe_alone(names, which, describe, pipe_fd[1]);
	close(pipe_fd[1]);
	size_t have = 0;
	for (ssize_t n = 1; pid > 0 && n != 0 && have<sizeof *out; have += n> 0 ? (size_t)n : 0) {
		n = read(pipe_fd[0], (char *)out + have, sizeof *out - have);
		if (n < 0 && errno != EINTR)
			break;
	}
	close(pipe_fd[0]);
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return have == sizeof *out;
}

int mig_list(const struct mig_names *names, mig_describe_fn *describe, struct msg_device *out, int max)
{
	int n = 0;
	fflush(NULL); /* otherwise a child would print the buffer again */
	for (int i = 0; i < names->n && n < max; i++) {
		if (!describe_one(names, i, describe, &out[n]))
			continue;
		out[n++].index = i;
	}
	return n;
}

int mig_find(const struct mig_names *names, const char *name)
{
	for (int i = 0; i < names->n; i++) {
		char address[24];
		snprintf(address, sizeof address, "cuda:%d", i);
		if ((i == 0 && strcmp(name, "cuda") == 0) || strcmp(name, address) == 0 || strcmp(name, names->uuid[i]) == 0)
			return i;
	}
	return -1;
}

int mig_enter(const struct mig_names *names, int which, struct fw_err *err)
{
	if (setenv(variable, names->uuid[which], 1) != 0)
		return err_set(err, ERR_FULL, "no memory to name device %s", names->uuid[which]);
	return 0;
}

bool mig_own(char *uuid, int size)
{
	const char *given = getenv(variable);
	if (!given || !is_instance(given) || strchr(given, ',') || (int)strlen(given) >= size)
		return false;
	snprintf(uuid, (size_t)size, "%s", given);
	return true;
}
