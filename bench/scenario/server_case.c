/* The gateway under load, as a case: see server_case.h. */
#include "bench/scenario/server_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/scenario/measure.h"

struct backend {
	struct peer peer;
	struct address address;
	uint64_t kept;
};

int server_case_prepare(struct scenario_run *run)
{
	struct backend *backend = run->own = calloc(1, sizeof *backend);

	if (!backend) {
		snprintf(run->why, sizeof run->why, "no memory for the scenario");
		return -ENOMEM;
	}
	return measure_peer(run, &backend->peer, &serve_delay, &backend->address);
}

void server_case_finish(struct scenario_run *run)
{
	struct backend *backend = run->own;

	if (backend)
		peer_stop(&backend->peer);
	free(backend);
}

void server_case_defaults(struct server_case *c, const struct scenario_run *run, uint32_t users)
{
	struct backend *backend = run->own;

	memset(c, 0, sizeof *c);
	gateway_defaults(&c->gateway);
	c->gateway.service = backend->address;
	c->gateway.seed = run->seed;
	if (c->gateway.connections < users)
		c->gateway.connections = users;
	c->kept = &backend->kept;
	c->load.seed = run->seed;
	c->load.users = users;
	c->load.requests = 1;
}

static int serve(struct board_side *side)
{
	const struct server_case *c = side->own;
	struct server_shared *shared = side->shared;
	struct gateway_config config = c->gateway;
	char why[GATEWAY_WHY_SIZE] = "";
	struct gateway *gateway;
	int listener, error;

	address_loopback(&shared->address);
	listener = address_listen(&shared->address);
	config.marks = side->marks;
	config.counts = &shared->counts;
	error = listener < 0 ? listener : gateway_open(&gateway, &config, listener, why);
	if (error) {
		board_break(side, error == -EOPNOTSUPP, *why ? why : strerror(-error));
		return error;
	}
	board_ready(side);
	board_doing(DOING_IDLE);
	error = gateway_wait(gateway, -1, why); /* it serves until the process is ended */
	board_break(side, false, *why ? why : strerror(-error));
	return error;
}

static int make_load(struct board_side *side)
{
	const struct server_case *c = side->own;
	struct server_shared *shared = side->shared;
	struct load load = c->load;

	load.server = shared->address;
	load.tally = load.window_ns || load.page ? &shared->tally : NULL;
	return load_make(side, &load);
}

int server_case_measure(struct scenario_run *run, const struct server_case *c,
                        struct measure_work *work)
{
	const struct load *load = &c->load;

	work->own = c;
	work->shared_bytes = sizeof(struct server_shared);
	work->body = serve;
	work->load = make_load;
	work->limit_ns = load->silence_ns + load->ramp_ns + load->window_ns +
	                 load->timeout_ns * load->requests + 60000000000;
	return measure_case(run, work);
}

uint64_t server_case_percentile(const struct histogram *histogram, double share)
{
	uint64_t all = 0, below = 0;

	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		all += histogram->counts[i];
	for (uint32_t i = 0; all && i < HISTOGRAM_BUCKETS; i++) {
		below += histogram->counts[i];
		if ((double)below >= share * (double)all)
			return histogram_lowest(i);
	}
	return 0;
}

double server_case_share_under(const struct board *board, uint64_t time_ns)
{
	const uint32_t last = histogram_bucket(time_ns);
	uint64_t count = 0;

	for (uint32_t i = 0; i < last; i++)
		count += board->latency.counts[i];
	return board->calls ? (double)count / (double)board->calls : 0;
}
