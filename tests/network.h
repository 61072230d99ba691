/*
 * Networks of a test's own: one or two network namespaces, the two joined by a pair of virtual
 * cards. Each is held by a process that does nothing, and gone with it.
 */
#ifndef IOSTUDY_TESTS_NETWORK_H
#define IOSTUDY_TESTS_NETWORK_H

#include <stdbool.h>
#include <sys/types.h>

#define NETWORK_HERE  "10.77.0.1"
#define NETWORK_THERE "10.77.0.2"

struct network {
	pid_t here, there; /* live in them; 0: none */
};

/* One with nothing but its loopback. False: why it cannot be had here. */
bool network_open(struct network *network, char why[200]);

/* Two, at the addresses above; what arrives is worked on by steer's CPUs (a mask as in
 * /sys/class/net/../rps_cpus), whoever has sent it. */
bool network_open_pair(struct network *network, const char *steer, char why[200]);

void network_close(struct network *network);

/* Writes a setting such as net/ipv4/tcp_tw_reuse in the namespace of that process. */
bool network_set(pid_t inside, const char *setting, const char *value);

#endif
