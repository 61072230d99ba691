/* Connections to the peer: see connections.h. */
#include "bench/connections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Sockets that have ended and keep their ports for a minute; -1: not known. */
static int count_time_wait(void)
{
	FILE *file = fopen("/proc/net/sockstat", "re");
	char line[256];
	int count = -1;

	while (file && fgets(line, sizeof line, file)) {
		const char *at = strstr(line, " tw ");

		if (strncmp(line, "TCP:", 4) == 0 && at)
			count = atoi(at + 4);
	}
	if (file)
		fclose(file);
	return count;
}

static void explain_ports(char text[PLAN_WHY_SIZE])
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	int low = 0, high = 0;

	if (file && fscanf(file, "%d %d", &low, &high) != 2)
		low = high = 0;
	if (file)
		fclose(file);
	snprintf(text, PLAN_WHY_SIZE,
	         "no local port is free: net.ipv4.ip_local_port_range is %d to %d, and %d sockets"
	         " are in TIME_WAIT; widen it with sysctl, wait a minute, or use a smaller"
	         " --depth or --transport unix",
	         low, high, count_time_wait());
}

static void explain_connect(struct workload *w, uint32_t n, uint32_t count, int err)
{
	char address[ADDRESS_TEXT_SIZE], text[PLAN_WHY_SIZE];
	struct rlimit files = {0};

	snprintf(text, sizeof text, "%s", strerror(-err));
	if (err == -EADDRNOTAVAIL || (err == -EAGAIN && w->plan->peer.any.sa_family != AF_UNIX)) {
		explain_ports(text);
	} else if (err == -EMFILE) {
		getrlimit(RLIMIT_NOFILE, &files);
		snprintf(text, sizeof text,
		         "RLIMIT_NOFILE is %llu and every descriptor is taken; raise it with"
		         " ulimit -n, or use a smaller --depth",
		         (unsigned long long)files.rlim_cur);
	} else if (w->plan->peer_named) {
		snprintf(text, sizeof text, "%s; start it there with: iostudy serve %s --listen %s",
		         strerror(-err), w->ops->peer->name, address_text(&w->plan->peer, address));
	}
	snprintf(w->why, sizeof w->why, "connection %u of %u to the peer at %s: %.250s", n, count,
	         address_text(&w->plan->peer, address), text);
}

int connections_open(struct connections *c, struct workload *w, uint32_t count)
{
	int fd = -ENOMEM;

	*c = (struct connections){.fds = calloc(count, sizeof *c->fds)};
	while (c->fds && c->count < count) {
		fd = address_connect(&w->plan->peer);
		if (fd < 0)
			break;
		c->fds[c->count++] = fd;
	}
	if (c->count < count) {
		explain_connect(w, c->count + 1, count, fd);
		connections_close(c);
		return fd;
	}
	w->fds = c->fds;
	w->fd_count = count;
	return 0;
}

void connections_stop(const struct connections *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		shutdown(c->fds[i], SHUT_RDWR);
}

void connections_close(struct connections *c)
{
	while (c->count)
		close(c->fds[--c->count]);
	free(c->fds);
	c->fds = NULL;
}

void connections_explain(struct workload *w, uint32_t n, const char *call, int32_t result)
{
	snprintf(w->why, sizeof w->why, "connection %u: %s: %s", n, call,
	         result ? strerror(-result) : "the peer has closed the connection (has it died?)");
}
