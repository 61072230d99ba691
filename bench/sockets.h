/* The TCP sockets that a process has, as the kernel's tables tell of them (proc_net_tcp(5)). */
#ifndef IOSTUDY_SOCKETS_H
#define IOSTUDY_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

enum { SOCKETS_MAX = 1 << 16 }; /* of one process; what is beyond is left out */

struct tcp_socket {
	uint64_t inode;
	uint16_t port; /* its own */
	bool listens;
	bool client; /* somebody else has opened it: its port is one at which the process listens */
	uint32_t waiting; /* connections to be accepted, or bytes to be read */
};

struct sockets {
	struct tcp_socket *all; /* by inode */
	uint32_t count;
};

/* Of a process in our own view, in its network namespace. Nothing where it may not be looked at. */
void sockets_read(struct sockets *s, uint32_t pid);
void sockets_free(struct sockets *s);

/* NULL: the process has none of that number. */
const struct tcp_socket *sockets_find(const struct sockets *s, uint64_t inode);

/* How many clients the process has. */
uint32_t sockets_clients(const struct sockets *s);

#endif
