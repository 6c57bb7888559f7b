/** server.h - the whole daemon: starts its parts, reads the configuration again, ends in order. */
#ifndef FLOPWATCHD_SERVER_H
#define FLOPWATCHD_SERVER_H

/** Run until SIGTERM or SIGINT. Returns the exit status: 0, 1 an error, 2 the configuration; said on standard error. */
int server_run(const char *config_path);

#endif
