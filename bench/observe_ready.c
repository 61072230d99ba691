/*
 * Work that is ready for the observed processes and that none of their threads has taken: TCP
 * connections that wait to be accepted, and bytes that wait to be read. As the kernel tells at the
 * end of the window.
 */
#include "bench/json_text.h"
#include "bench/observe.h"
#include "bench/sockets.h"

enum { PROCESSES = 32, LISTED_MAX = 50 };

static void add_ready(json_t *list, uint32_t pid)
{
	struct sockets sockets;

	sockets_read(&sockets, pid);
	for (uint32_t i = 0; i < sockets.count && json_array_size(list) < LISTED_MAX; i++) {
		const struct tcp_socket *socket = &sockets.all[i];

		if (socket->waiting)
			json_array_append_new(
			    list, json_pack("{s:I, s:i, s:s, s:o}", "pid", (json_int_t)pid, "port",
			                    (int)socket->port, "waits",
			                    socket->listens ? "connections" : "bytes", "count",
			                    json_count(socket->waiting)));
	}
	sockets_free(&sockets);
}

json_t *observe_ready_json(const struct observation *o)
{
	json_t *list = json_array();
	uint32_t last = 0, processes = 0;

	for (size_t i = 0; i < o->now.thread_count && processes < PROCESSES; i++) {
		if (o->now.threads[i].pid == last)
			continue;
		last = o->now.threads[i].pid;
		processes++;
		add_ready(list, last);
	}
	return list;
}
