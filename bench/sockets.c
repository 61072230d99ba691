/* The TCP sockets of a process: see sockets.h. */
#include "bench/sockets.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATE_LISTENS = 10 };

static int by_inode(const void *left, const void *right)
{
	const struct tcp_socket *a = left, *b = right;

	return (a->inode > b->inode) - (a->inode < b->inode);
}

/* Room for one more, at the end; NULL: there is none. */
static struct tcp_socket *add(struct sockets *s)
{
	struct tcp_socket *grown = s->all;

	if (s->count == SOCKETS_MAX)
		return NULL;
	if (!(s->count & (s->count - 1))) /* the room is a power of two */
		grown = realloc(s->all, (s->count ? 2 * s->count : 1) * sizeof *grown);
	if (!grown)
		return NULL;
	s->all = grown;
	s->all[s->count] = (struct tcp_socket){0};
	return &s->all[s->count++];
}

/* The numbers of the sockets that the process has open. */
static void read_numbers(struct sockets *s, uint32_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *all;

	snprintf(path, sizeof path, "/proc/%u/fd", pid);
	all = opendir(path);
	while (all && (entry = readdir(all))) {
		char link[64], name[64];
		struct tcp_socket *socket;
		unsigned long inode;
		ssize_t length;

		snprintf(link, sizeof link, "/proc/%u/fd/%.20s", pid, entry->d_name);
		length = readlink(link, name, sizeof name - 1);
		name[length > 0 ? length : 0] = 0;
		if (sscanf(name, "socket:[%lu]", &inode) != 1)
			continue;
		socket = add(s);
		if (socket)
			socket->inode = inode;
	}
	if (all)
		closedir(all);
}

/* One table. Who is in none stays without a port. */
static void read_table(struct sockets *s, uint32_t pid, const char *protocol)
{
	char path[64], line[512];
	FILE *table;

	snprintf(path, sizeof path, "/proc/%u/net/%s", pid, protocol);
	table = fopen(path, "re");
	while (table && fgets(line, sizeof line, table)) {
		unsigned port, state, waiting;
		unsigned long inode;
		struct tcp_socket *socket;

		if (sscanf(line, " %*u: %*[0-9A-F]:%x %*s %x %*x:%x %*s %*s %*u %*u %lu", &port,
		           &state, &waiting, &inode) != 4)
			continue;
		socket = (struct tcp_socket *)(uintptr_t)sockets_find(s, inode);
		if (!socket)
			continue;
		socket->port = (uint16_t)port;
		socket->listens = state == STATE_LISTENS;
		socket->waiting = waiting;
	}
	if (table)
		fclose(table);
}

static void find_clients(struct sockets *s)
{
	bool *served = calloc(UINT16_MAX + 1, sizeof *served);

	for (uint32_t i = 0; served && i < s->count; i++)
		served[s->all[i].port] |= s->all[i].listens;
	for (uint32_t i = 0; served && i < s->count; i++)
		s->all[i].client = !s->all[i].listens && served[s->all[i].port];
	free(served);
}

void sockets_read(struct sockets *s, uint32_t pid)
{
	*s = (struct sockets){0};
	read_numbers(s, pid);
	if (!s->count)
		return;
	qsort(s->all, s->count, sizeof *s->all, by_inode);
	read_table(s, pid, "tcp");
	read_table(s, pid, "tcp6");
	find_clients(s);
}

void sockets_free(struct sockets *s)
{
	free(s->all);
}

const struct tcp_socket *sockets_find(const struct sockets *s, uint64_t inode)
{
	const struct tcp_socket key = {.inode = inode};

	return s->count ? bsearch(&key, s->all, s->count, sizeof key, by_inode) : NULL;
}

uint32_t sockets_clients(const struct sockets *s)
{
	uint32_t clients = 0;

	for (uint32_t i = 0; i < s->count; i++)
		clients += s->all[i].client;
	return clients;
}
