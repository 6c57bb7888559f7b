/* listen.c - documented in http.h. */
#include "web/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int http_listen(const char *host, int port, int *bound, struct fw_err *err)
{
	struct sockaddr_storage address = { 0 };
	struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
	socklen_t len;
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
		len = sizeof *v4;
	} else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
		len = sizeof *v6;
	} else {
		return err_set(err, ERR_INVALID, "cannot listen on %s: not an address; write 127.0.0.1 or ::1", host);
	}
	int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, "socket");
	int on = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&address, len) != 0 || listen(fd, 512) != 0) {
		int code = errno;
		close(fd);
		errno = code;
		if (code == EADDRINUSE)
			return err_set(err, ERR_BUSY,
				"port %d on %s is in use by another program; set another `listen` in the configuration", port,
				host);
		return err_sys(err, "cannot listen on %s port %d", host, port);
	}
	len = sizeof address;
	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
		close(fd);
		return err_sys(err, "getsockname");
	}
	*bound = ntohs(address.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
	return fd;
}
