/* Where a peer listens: see address.h. */
#include "bench/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HOST_SIZE = 256 };

/* Parts "HOST:PORT" at its last colon; brackets around the host are taken off. */
static int split(const char *text, char host[HOST_SIZE], const char **port)
{
	const char *colon = strrchr(text, ':'), *begin = text, *end = colon;

	if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
		return -EINVAL;
	if (*begin == '[' && end > begin + 1 && end[-1] == ']') {
		begin++;
		end--;
	} else if (memchr(begin, ':', (size_t)(end - begin))) {
		return -EINVAL; /* an IPv6 address without its brackets */
	}
	if (end == begin || end - begin >= HOST_SIZE)
		return -EINVAL;
	snprintf(host, HOST_SIZE, "%.*s", (int)(end - begin), begin);
	*port = colon + 1;
	return 0;
}

int address_parse(struct address *address, const char *text, char why[ADDRESS_WHY_SIZE])
{
	const struct addrinfo hints = {
	    .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *found;
	char host[HOST_SIZE];
	const char *port;
	int err;

	if (split(text, host, &port) != 0) {
		snprintf(why, ADDRESS_WHY_SIZE,
		         "'%.60s' is no HOST:PORT, such as 192.0.2.1:4000, [::1]:4000 or "
		         "localhost:4000",
		         text);
		return -EINVAL;
	}
	if (strlen(port) > 5 || strtoul(port, NULL, 10) > UINT16_MAX) {
		snprintf(why, ADDRESS_WHY_SIZE, "'%.60s': the port is out of range: 0 to 65535",
		         text);
		return -EINVAL;
	}
	err = getaddrinfo(host, port, &hints, &found);
	if (err) {
		snprintf(why, ADDRESS_WHY_SIZE, "'%.60s': the host is not known: %s", text,
		         gai_strerror(err));
		return -EINVAL;
	}
	memset(address, 0, sizeof *address);
	memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
	address->length = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

void address_loopback(struct address *address)
{
	const struct sockaddr_in tcp = {.sin_family = AF_INET,
	                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	memset(address, 0, sizeof *address);
	memcpy(&address->storage, &tcp, sizeof tcp);
	address->length = sizeof tcp;
}

void address_local(struct address *address)
{
	struct sockaddr_un local = {.sun_family = AF_UNIX};
	struct timespec now;
	int length;

	clock_gettime(CLOCK_MONOTONIC, &now);
	length = snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "iostudy-%d-%llx-%lx",
	                  getpid(), (unsigned long long)now.tv_sec, now.tv_nsec);
	memset(address, 0, sizeof *address);
	memcpy(&address->storage, &local, sizeof local);
	address->length = (uint32_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (uint32_t)length;
}

static int open_socket(const struct address *address)
{
	const int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int address_listen(struct address *address)
{
	socklen_t length = sizeof address->storage;
	int fd = open_socket(address), on = 1, err;

	if (fd < 0)
		return fd;
	/* A port that a server left a moment ago is free for the next. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, &address->any, address->length) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, &address->any, &length) == 0) {
		address->length = length;
		return fd;
	}
	err = -errno;
	close(fd);
	return err;
}

int address_connect(const struct address *address)
{
	int fd = open_socket(address), on = 1, err;

	if (fd < 0)
		return fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on a Unix socket */
	/* Linux takes a blocking connect up again where a signal ended it. */
	do {
		err = connect(fd, &address->any, address->length) ? -errno : 0;
	} while (err == -EINTR);
	if (err == 0 || err == -EISCONN)
		return fd;
	close(fd);
	return err;
}

uint16_t address_port(const struct address *address)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return ntohs(((const struct sockaddr_in *)&address->storage)->sin_port);
	case AF_INET6:
		return ntohs(((const struct sockaddr_in6 *)&address->storage)->sin6_port);
	default:
		return 0;
	}
}

const char *address_text(const struct address *address, char text[ADDRESS_TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN] = "";

	if (address->any.sa_family == AF_UNIX) {
		snprintf(text, ADDRESS_TEXT_SIZE, "unix:%s",
		         ((const struct sockaddr_un *)&address->storage)->sun_path + 1);
		return text;
	}
	getnameinfo(&address->any, address->length, host, sizeof host, NULL, 0, NI_NUMERICHOST);
	snprintf(text, ADDRESS_TEXT_SIZE, address->any.sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u",
	         host, address_port(address));
	return text;
}
