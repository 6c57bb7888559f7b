/** task.h - one whole runner process: read the `run` line, do it, report all results. */
#ifndef RUNNER_TASK_H
#define RUNNER_TASK_H

/**
 * Read one `run` line from `in_fd`, write records to `records_fd`. Returns the exit status: 0 all was reported, 1 error, 2 the
 * line is no task, 3 a kernel lost the device and a fault record names its side.
 */
int task_run(int in_fd, int records_fd);

/** Print the devices of this machine on stdout as a `hello` line. Returns the exit status. */
int task_list(void);

#endif
