/* Users as coroutines on one thread: see load.h. */
#include "bench/scenario/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/random.h"
#include "bench/scenario/carrier.h"
#include "bench/scenario/http.h"
#include "bench/witness.h"

enum {
	SPARE_FDS = 100,
	RECEIVE_BYTES = 2048,
	REQUEST_BYTES = 512,
	LOOKS = 20, /* for time-outs, in the time of one */
	PAGE_PAUSE_MS = 100,
};

static const uint64_t ms_ns = 1000000;

struct crowd;

struct user {
	struct crowd *crowd;
	uint32_t index;
	int fd;               /* -1: not connected */
	bool asks, timed_out; /* a request is under way; it took too long */
	uint64_t deadline_ns;
	char target[64];
	struct http_reader reader; /* last: its pages are taken when they are needed */
};

struct crowd {
	struct board_side *side;
	const struct load *load;
	struct carrier carrier;
	struct user *users;        /* [load->users], and one who looks at the page */
	uint64_t begin_ns, end_ns; /* end: of the window */
	uint32_t gone;
};

int load_check(uint32_t users, char why[SCENARIO_WHY_SIZE])
{
	unsigned first = 0, last = 0;
	struct rlimit files;
	FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

	if (file && fscanf(file, "%u %u", &first, &last) != 2)
		first = last = 0;
	if (file)
		fclose(file);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < users + (rlim_t)SPARE_FDS) {
		snprintf(why, SCENARIO_WHY_SIZE,
		         "%u users need %u descriptors: RLIMIT_NOFILE is %llu; raise it with "
		         "ulimit -n, or use at most %llu users",
		         users, users + SPARE_FDS, (unsigned long long)files.rlim_cur,
		         (unsigned long long)(files.rlim_cur > SPARE_FDS
		                                  ? files.rlim_cur - SPARE_FDS
		                                  : 0));
		return -EMFILE;
	}
	if (last <= first || users <= last - first + 1)
		return 0;
	snprintf(why, SCENARIO_WHY_SIZE,
	         "%u users need as many ports between two addresses: net.ipv4.ip_local_port_range "
	         "is %u to %u, %u ports; widen it with sysctl, or use fewer users",
	         users, first, last, last - first + 1);
	return -EMFILE;
}

static int32_t do_io(struct user *u, struct io_req request)
{
	return carrier_do(&u->crowd->carrier, request);
}

static const char *reason_of(const struct user *u, int32_t result)
{
	if (u->timed_out)
		return "no answer in time";
	return result < 0 ? strerror(-result) : "the connection was closed without an answer";
}

static const char *connect_user(struct user *u)
{
	const struct address *server = &u->crowd->load->server;
	const int32_t fd = do_io(u, (struct io_req){.op = IO_CONNECT,
	                                            .data = (void *)&server->any,
	                                            .length = server->length});

	if (fd < 0)
		return reason_of(u, fd);
	u->fd = fd;
	http_reader_open(&u->reader, HTTP_RESPONSE, 1 << 20);
	return NULL;
}

static const char *send_request(struct user *u)
{
	char data[REQUEST_BYTES];
	const struct http_request request = {
	    .method = HTTP_GET, .target = u->target, .host = "gateway"};
	const int length = http_request_write(data, sizeof data, &request);

	for (int sent = 0; sent < length;) {
		const int32_t n = do_io(u, (struct io_req){.op = IO_SEND,
		                                           .fd = u->fd,
		                                           .data = data + sent,
		                                           .length = (uint32_t)(length - sent)});
		if (n <= 0)
			return reason_of(u, n);
		sent += n;
	}
	return length > 0 ? NULL : "the request is too long";
}

static const char *status_reason(uint16_t status)
{
	switch (status) {
	case 200:
		return NULL;
	case 502:
		return "answered 502: the service could not be called";
	case 503:
		return "answered 503: the server has no room";
	case 504:
		return "answered 504: the service did not answer the server in time";
	default:
		return "answered with an error";
	}
}

static const char *receive_answer(struct user *u)
{
	char data[RECEIVE_BYTES];

	for (;;) {
		const int32_t n = do_io(
		    u, (struct io_req){
			   .op = IO_RECV, .fd = u->fd, .data = data, .length = sizeof data});
		const char *at = data;
		size_t left = n > 0 ? (size_t)n : 0;
		enum http_event event;

		if (n <= 0)
			return reason_of(u, n);
		do
			event = http_reader_next(&u->reader, &at, &left);
		while (event == HTTP_HAS_HEAD || event == HTTP_HAS_BODY);
		if (event == HTTP_IS_BAD)
			return "the answer is not HTTP";
		if (event == HTTP_HAS_END)
			return status_reason(u->reader.status);
	}
}

static const char *request_once(struct user *u)
{
	const char *reason = u->fd < 0 ? connect_user(u) : NULL;

	if (!reason)
		reason = send_request(u);
	return reason ? reason : receive_answer(u);
}

/* The moment at which a user is to come. */
static uint64_t moment_of(const struct crowd *c, uint32_t index)
{
	const struct load *load = c->load;

	return c->begin_ns + load->silence_ns +
	       (uint64_t)((double)load->ramp_ns * index / load->users);
}

uint64_t load_delay_ns(const struct load *load, uint32_t user, uint32_t request)
{
	const uint64_t low = load->delay_min_ns / ms_ns, high = load->delay_max_ns / ms_ns;
	uint64_t random = random_stream(load->seed, (uint64_t)user << 32 | request);

	return (low + random_below(&random, high - low + 1)) * ms_ns;
}

uint64_t load_ideal(const struct load *load)
{
	uint64_t answered = 0;

	for (uint32_t user = 0; user < load->users; user++) {
		uint64_t at_ns = load->silence_ns + load->ramp_ns * user / load->users;

		for (uint32_t i = 0; at_ns += load_delay_ns(load, user, i),
		              at_ns <= load->silence_ns + load->window_ns;
		     i++)
			answered++;
	}
	return answered;
}

static void choose_target(struct user *u, uint32_t request)
{
	const struct load *load = u->crowd->load;

	if (*load->target)
		snprintf(u->target, sizeof u->target, "%s", load->target);
	else
		snprintf(u->target, sizeof u->target, "/delay/%llu",
		         (unsigned long long)(load_delay_ns(load, u->index, request) / ms_ns));
}

/* Whether a user asks once more. */
static bool asks_again(const struct crowd *c, uint32_t request)
{
	return c->load->window_ns ? witness_now_ns() < c->end_ns : request < c->load->requests;
}

static void live(void *argument)
{
	struct user *u = argument;
	struct crowd *c = u->crowd;
	uint64_t since_ns = moment_of(c, u->index);
	const char *reason = NULL;

	do_io(u, (struct io_req){.op = IO_TIMEOUT, .deadline_ns = since_ns});
	for (uint32_t i = 0; !reason && asks_again(c, i); i++) {
		const uint64_t start_ns = board_call_begin(c->side);

		if (i)
			since_ns = start_ns;
		u->deadline_ns = (c->load->window_ns ? c->end_ns : since_ns) + c->load->timeout_ns;
		choose_target(u, i);
		u->asks = true;
		reason = request_once(u);
		u->asks = false;
		board_call_end(c->side, start_ns, since_ns, reason);
		if (c->load->tally && !reason && witness_now_ns() <= c->end_ns)
			c->load->tally->in_window++;
	}
	if (u->fd >= 0)
		close(u->fd);
	c->gone++;
}

/* Until the users have gone, or the window has ended. */
static void look_at_page(void *argument)
{
	struct user *u = argument;
	struct crowd *c = u->crowd;
	struct load_tally *tally = c->load->tally;
	const char *reason = NULL;

	snprintf(u->target, sizeof u->target, "%s", c->load->page);
	while (!reason && c->gone < c->load->users &&
	       (!c->load->window_ns || witness_now_ns() < c->end_ns)) {
		const uint64_t start_ns = witness_now_ns();

		u->deadline_ns = start_ns + c->load->timeout_ns;
		u->asks = true;
		reason = request_once(u);
		u->asks = false;
		if (!reason) {
			tally->looks++;
			histogram_add(&tally->page_latency, witness_now_ns() - start_ns, false);
		}
		do_io(u, (struct io_req){.op = IO_TIMEOUT,
		                         .deadline_ns = start_ns + PAGE_PAUSE_MS * ms_ns});
	}
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
}

/* A request has no time-out of its own: it is brought back by the end of its connection. One that
 * connects has its socket in the request. */
static void bring_back(struct crowd *c, struct user *u)
{
	u->timed_out = true;
	shutdown(u->fd >= 0 ? u->fd : c->carrier.requests[u->index].fd, SHUT_RDWR);
}

static void watch_time(void *argument)
{
	struct crowd *c = argument;
	const uint64_t pause_ns = c->load->timeout_ns / LOOKS + 1;

	while (c->gone < c->load->users || c->users[c->load->users].asks) {
		const uint64_t now_ns = witness_now_ns();

		for (uint32_t i = 0; i <= c->load->users; i++)
			if (c->users[i].asks && c->users[i].deadline_ns <= now_ns)
				bring_back(c, &c->users[i]);
		carrier_do(
		    &c->carrier,
		    (struct io_req){.op = IO_TIMEOUT,
		                    .deadline_ns = now_ns +
		                                   (pause_ns < 100000000 ? pause_ns : 100000000)});
	}
}

static void start_users(struct crowd *c)
{
	const uint32_t users = c->load->users;

	for (uint32_t i = 0; i <= users; i++) {
		c->users[i].crowd = c;
		c->users[i].index = i;
		c->users[i].fd = -1;
	}
	for (uint32_t i = 0; i < users; i++)
		carrier_start(&c->carrier, i, live, &c->users[i]);
	if (c->load->page)
		carrier_start(&c->carrier, users, look_at_page, &c->users[users]);
}

int load_make(struct board_side *side, const struct load *load)
{
	char why[COROUTINE_WHY_SIZE] = "";
	struct crowd c = {.side = side, .load = load};
	int error = carrier_open(&c.carrier, engine_find("epoll"), load->users + 2,
	                         ENGINE_SOCKETS | ENGINE_CONNECTIONS | ENGINE_TIMERS, why);

	if (error) {
		board_break(side, error == -EOPNOTSUPP, why);
		return error;
	}
	c.users = calloc(load->users + 1, sizeof *c.users);
	c.begin_ns = witness_now_ns();
	if (c.users) {
		side->board->begin_ns = c.begin_ns;
		c.end_ns = c.begin_ns + load->silence_ns + load->window_ns;
		start_users(&c);
		carrier_start(&c.carrier, load->users + 1, watch_time, &c);
		error = carrier_run(&c.carrier);
	} else {
		error = -ENOMEM;
	}
	carrier_close(&c.carrier);
	free(c.users);
	return error;
}
