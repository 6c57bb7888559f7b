/* Closes the channel for answers of the worker, so that nobody compares processes from outside, and leaves one running. */
#include <sys/socket.h>
#define CLOSE_EARS() shutdown(3, SHUT_RD)
#include "orphan.h"
