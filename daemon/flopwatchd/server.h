/** server.h - the daemon: starts its modules, reloads the configuration, stops. */
#ifndef FLOPWATCHD_SERVER_H
#define FLOPWATCHD_SERVER_H

/** Run until SIGTERM or SIGINT. Returns the exit status: 0, 1 error, 2 configuration, 3 database. */
int server_run(const char *config_path);

#endif
