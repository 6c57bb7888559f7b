/** server.h - the whole daemon: starts its parts, reads the configuration again, ends in order. */
#ifndef FLOPWATCHD_SERVER_H
#define FLOPWATCHD_SERVER_H

/** Run until SIGTERM or SIGINT. Returns the exit status, said on standard error: 0, 1 an error, 2 the configuration, 3 the database. */
int server_run(const char *config_path);

#endif
