/* What the gateway tells of its threads: see gateway.h. */
#include <inttypes.h>
#include <stdio.h>

#include "bench/scenario/gateway_parts.h"

/* Threads of a kind, by what they do. */
struct tally {
	uint32_t all, free, parked;
};

static void tally_add(struct tally *tally, const struct gateway_thread *t)
{
	const uint32_t doing = __atomic_load_n(&t->doing, __ATOMIC_RELAXED);

	tally->all++;
	tally->free += doing == DOING_IDLE || doing == DOING_WAIT;
	tally->parked += doing == DOING_CALL || doing == DOING_RESULT;
}

static struct tally tally_crew(const struct gateway_crew *crew)
{
	const uint32_t count = __atomic_load_n(&crew->count, __ATOMIC_ACQUIRE);
	struct tally tally = {0};

	for (uint32_t i = 0; i < count; i++)
		tally_add(&tally, &crew->threads[i]);
	return tally;
}

static uint64_t now(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

static int kind_json(char *text, size_t size, const char *name, const struct tally *t)
{
	return snprintf(text, size, "\"%s\": {\"threads\": %u, \"free\": %u, \"parked\": %u}", name,
	                t->all, t->free, t->parked);
}

static void write_json(const struct gateway *g, const struct tally kinds[4], char *text,
                       size_t size)
{
	static const char *const names[] = {"all", "loops", "pool", "helpers"};
	size_t at = (size_t)snprintf(text, size, "{");

	for (size_t i = 0; i < 4; i++) {
		at += (size_t)kind_json(text + at, size - at, names[i], &kinds[i]);
		at += (size_t)snprintf(text + at, size - at, ", ");
	}
	snprintf(text + at, size - at,
	         "\"handler\": \"%s\", \"engine\": \"%s\", \"connections\": %" PRIu64
	         ", \"in_flight\": %" PRIu64 ", \"requests\": %" PRIu64 ", \"answered\": %" PRIu64
	         ", \"failed\": %" PRIu64 "}\n",
	         gateway_handler_names[g->config.handler], g->config.engine->name,
	         now(&g->counts->connections), now(&g->counts->in_flight),
	         now(&g->counts->requests), now(&g->counts->answered), now(&g->counts->failed));
}

static void write_html(const struct gateway *g, const struct tally kinds[4], char *text,
                       size_t size)
{
	static const char *const names[] = {"all", "event loops", "pool", "helpers"};
	size_t at = (size_t)snprintf(
	    text, size,
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	    "<meta http-equiv=\"refresh\" content=\"1\"><title>Threads of the gateway</title>"
	    "<style>body{font:16px sans-serif;margin:2em}td,th{padding:.2em 1em;text-align:right}"
	    "th:first-child{text-align:left}</style></head><body>\n"
	    "<h1>Threads of the gateway</h1>\n<p>Requests are handled by <b>%s</b>; %" PRIu64
	    " are in flight, %" PRIu64 " were answered, %" PRIu64 " failed.</p>\n"
	    "<table><tr><th>threads</th><th>in all</th><th>free</th><th>parked in a call</th>"
	    "</tr>\n",
	    gateway_handler_names[g->config.handler], now(&g->counts->in_flight),
	    now(&g->counts->answered), now(&g->counts->failed));

	for (size_t i = 0; i < 4; i++)
		at += (size_t)snprintf(text + at, size - at,
		                       "<tr><th>%s</th><td>%u</td><td>%u</td><td>%u</td></tr>\n",
		                       names[i], kinds[i].all, kinds[i].free, kinds[i].parked);
	snprintf(text + at, size - at,
	         "</table>\n<p>Free: waits for work. Parked: waits for the service, and can do "
	         "nothing else meanwhile.</p>\n</body></html>\n");
}

void gateway_page(const struct gateway *g, bool json, char *text, size_t size)
{
	struct tally kinds[4] = {{0}, {0}, tally_crew(&g->pool), tally_crew(&g->helpers)};

	for (uint32_t i = 0; i < g->config.loops; i++)
		tally_add(&kinds[1], &g->loops[i].thread);
	for (size_t i = 1; i < 4; i++) {
		kinds[0].all += kinds[i].all;
		kinds[0].free += kinds[i].free;
		kinds[0].parked += kinds[i].parked;
	}
	if (json)
		write_json(g, kinds, text, size);
	else
		write_html(g, kinds, text, size);
}
