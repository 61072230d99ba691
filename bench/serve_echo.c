/* The echo: what comes goes back, byte for byte. */
#include "bench/server.h"

static bool echo_take(struct server *s, uint32_t connection, const void *data, size_t bytes)
{
	return server_send(s, connection, data, bytes);
}

const struct service serve_echo = {
    .name = "echo",
    .summary = "sends back what comes: the peer of socket-echo",
    .take = echo_take,
};
