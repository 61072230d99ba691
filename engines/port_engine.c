/*
 * port: the completion port as an engine, for one thread that takes its packets (port.h is for
 * more). It shows what the layer costs over the ring beneath it.
 */
#include "engines/port.h"

#include <stdlib.h>

#include "engines/internal.h"

enum { PORT_TAKE = 256 }; /* packets of one reap */

struct port_engine {
	struct port port;
	struct port_thread reaper;
};

static int port_engine_open(struct engine *e, char why[ENGINE_WHY_SIZE])
{
	struct port_engine *s = e->state;
	const struct port_config config = {.engine = e->config, .concurrency = 1};

	return port_open(&s->port, &config, why);
}

static int port_engine_submit(struct engine *e, const uint32_t *slots, uint32_t n)
{
	struct port_engine *s = e->state;

	return port_submit(&s->port, slots, n);
}

static int port_engine_reap(struct engine *e, struct io_done *done, uint32_t min, uint32_t max,
                            int64_t timeout_ns)
{
	struct port_engine *s = e->state;
	struct port_packet packets[PORT_TAKE];
	const int n = port_get(&s->port, &s->reaper, packets, max < PORT_TAKE ? max : PORT_TAKE,
	                       min ? timeout_ns : 0);

	for (int i = 0; i < n; i++)
		done[i] = (struct io_done){.slot = packets[i].slot, .result = packets[i].result};
	return n;
}

static void port_engine_close(struct engine *e)
{
	struct port_engine *s = e->state;

	port_close(&s->port);
}

const struct engine_ops engine_port = {
    .name = "port",
    .summary = "a completion port over io_uring: last in, first out, few run at once",
    .size = sizeof(struct port_engine),
    .caps = ENGINE_NEEDS | ENGINE_TWO_SIDED | ENGINE_QUICK_LOOK,
    .open = port_engine_open,
    .submit = port_engine_submit,
    .reap = port_engine_reap,
    .close = port_engine_close,
};
