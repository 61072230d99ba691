/*
 * Work that is ready for the observed processes and that none of their threads has taken: TCP
 * connections that wait to be accepted, and bytes that wait to be read. As the kernel tells at the
 * end of the window.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/json_text.h"
#include "bench/observe.h"

enum { PROCESSES = 32, LISTED_MAX = 50, STATE_LISTENS = 10 };

/* The numbers of the sockets that a process has, as names of an object. */
static json_t *sockets_of(uint32_t pid)
{
	json_t *sockets = json_object();
	struct dirent *entry;
	char path[64];
	DIR *all;

	snprintf(path, sizeof path, "/proc/%u/fd", pid);
	all = opendir(path);
	while (all && (entry = readdir(all))) {
		char link[64], name[64];
		ssize_t length;

		snprintf(link, sizeof link, "/proc/%u/fd/%.20s", pid, entry->d_name);
		length = readlink(link, name, sizeof name - 1);
		name[length > 0 ? length : 0] = 0;
		if (strncmp(name, "socket:[", 8) == 0)
			json_object_set_new(sockets, name + 8, json_true());
	}
	if (all)
		closedir(all);
	return sockets;
}

/* One file of the kernel's table of sockets in the process's network namespace. */
static void add_ready(json_t *list, uint32_t pid, const char *protocol, const json_t *sockets)
{
	char path[64], line[512], name[64];
	FILE *table;

	snprintf(path, sizeof path, "/proc/%u/net/%s", pid, protocol);
	table = fopen(path, "re");
	while (table && fgets(line, sizeof line, table)) {
		unsigned port, state, waiting;
		unsigned long inode;

		if (sscanf(line, " %*u: %*[0-9A-F]:%x %*s %x %*x:%x %*s %*s %*u %*u %lu", &port,
		           &state, &waiting, &inode) != 4 ||
		    !waiting || json_array_size(list) >= LISTED_MAX)
			continue;
		snprintf(name, sizeof name, "%lu]", inode);
		if (json_object_get(sockets, name))
			json_array_append_new(
			    list, json_pack("{s:I, s:i, s:s, s:o}", "pid", (json_int_t)pid, "port",
			                    (int)port, "waits",
			                    state == STATE_LISTENS ? "connections" : "bytes",
			                    "count", json_count(waiting)));
	}
	if (table)
		fclose(table);
}

json_t *observe_ready_json(const struct observation *o)
{
	json_t *list = json_array();
	uint32_t last = 0, processes = 0;

	for (size_t i = 0; i < o->now.thread_count && processes < PROCESSES; i++) {
		json_t *sockets;

		if (o->now.threads[i].pid == last)
			continue;
		last = o->now.threads[i].pid;
		processes++;
		sockets = sockets_of(last);
		if (json_object_size(sockets)) {
			add_ready(list, last, "tcp", sockets);
			add_ready(list, last, "tcp6", sockets);
		}
		json_decref(sockets);
	}
	return list;
}
