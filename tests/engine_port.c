/* The completion port beyond its being an engine: who is released, how many, and how they end. */
#include "engines/port.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/engine_bed.h"

enum { PORT_SLOTS = 16, PORT_THREADS = 8, PORT_POSTS = 256, POSTED = PORT_SLOTS };

/* A port with threads that wait at it. */
struct harbour {
	struct port port;
	struct io_req requests[PORT_SLOTS];
	struct quay {
		struct harbour *harbour;
		pthread_t thread;
		struct port_thread place;
		uint32_t served;
	} quays[PORT_THREADS];
	void (*handle)(struct quay *quay, const struct port_packet *packet);
	uint32_t started, served, running, running_max, wrong;
	uint32_t gate;
};

static void *take_packets(void *argument)
{
	struct quay *quay = argument;
	struct harbour *h = quay->harbour;
	struct port_packet packet;
	int n;

	while ((n = port_get(&h->port, &quay->place, &packet, 1, -1)) >= 0) {
		if (n == 0)
			continue;
		h->handle(quay, &packet);
		__atomic_fetch_add(&quay->served, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&h->served, 1, __ATOMIC_RELEASE);
	}
	if (n != -ECANCELED)
		__atomic_fetch_add(&h->wrong, 1, __ATOMIC_RELAXED);
	return NULL;
}

static bool harbour_open(struct harbour *h, uint32_t concurrency, uint32_t threads,
                         void (*handle)(struct quay *quay, const struct port_packet *packet))
{
	const struct port_config config = {
	    .engine = {.requests = h->requests, .slots = PORT_SLOTS, .need = ENGINE_SOCKETS},
	    .concurrency = concurrency,
	    .posts = PORT_POSTS,
	};
	char why[ENGINE_WHY_SIZE];

	if (port_open(&h->port, &config, why) != 0) {
		test_skip(__FILE__, __LINE__, "%s", why);
		return false;
	}
	h->handle = handle;
	for (; h->started < threads; h->started++) {
		h->quays[h->started].harbour = h;
		CHECK(pthread_create(&h->quays[h->started].thread, NULL, take_packets,
		                     &h->quays[h->started]) == 0);
	}
	return true;
}

static void harbour_close(struct harbour *h)
{
	port_stop(&h->port);
	for (uint32_t i = 0; i < h->started; i++)
		pthread_join(h->quays[i].thread, NULL);
	port_close(&h->port);
	CHECK_EQUAL(h->wrong, 0);
	free(h);
}

/* Waits until so many packets were served and so many threads wait; only a hang fails it. */
static bool await(struct harbour *h, uint32_t served, uint32_t waiting)
{
	const uint64_t begin_ns = bed_now_ns();

	while (__atomic_load_n(&h->served, __ATOMIC_ACQUIRE) < served ||
	       port_waiting(&h->port) < waiting) {
		if (bed_now_ns() - begin_ns > BED_HANG_MS * 1000000ull) {
			CHECK_MESSAGE(false, "%u of %u served, %u of %u wait", h->served, served,
			              port_waiting(&h->port), waiting);
			return false;
		}
		usleep(200);
	}
	return true;
}

static void do_nothing(struct quay *quay, const struct port_packet *packet)
{
	(void)quay;
	(void)packet;
}

TEST(engine_port_threads, releases_the_last_that_came_and_lets_the_others_sleep)
{
	struct harbour *h = calloc(1, sizeof *h);
	uint32_t busy = 0;

	if (!harbour_open(h, 2, PORT_THREADS, do_nothing))
		return;
	await(h, 0, PORT_THREADS);
	for (uint32_t i = 0; i < 100; i++) {
		CHECK(port_post(&h->port, (struct port_packet){.slot = POSTED}) == 0);
		await(h, i + 1, PORT_THREADS);
	}
	for (uint32_t i = 0; i < PORT_THREADS; i++)
		busy += h->quays[i].served > 0;
	CHECK_EQUAL(busy, 1);
	harbour_close(h);
}

static void count_running(struct quay *quay, const struct port_packet *packet)
{
	struct harbour *h = quay->harbour;
	const uint32_t now = __atomic_add_fetch(&h->running, 1, __ATOMIC_ACQ_REL);
	uint32_t most = __atomic_load_n(&h->running_max, __ATOMIC_RELAXED);

	(void)packet;
	while (most < now && !__atomic_compare_exchange_n(&h->running_max, &most, now, false,
	                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
	usleep(500);
	__atomic_fetch_sub(&h->running, 1, __ATOMIC_ACQ_REL);
}

TEST(engine_port_threads, run_no_more_at_once_than_the_concurrency)
{
	struct harbour *h = calloc(1, sizeof *h);

	if (!harbour_open(h, 2, PORT_THREADS, count_running))
		return;
	for (uint32_t i = 0; i < 200; i++)
		CHECK(port_post(&h->port, (struct port_packet){.slot = POSTED, .key = i}) == 0);
	await(h, 200, PORT_THREADS);
	CHECK_EQUAL(h->running_max, 2);
	harbour_close(h);
}

/* The first packet's thread blocks until the second is served, which only another can do. */
static void block_for_another(struct quay *quay, const struct port_packet *packet)
{
	struct harbour *h = quay->harbour;

	if (packet->key == 1) {
		port_block(&h->port, &quay->place);
		while (!__atomic_load_n(&h->gate, __ATOMIC_ACQUIRE))
			usleep(200);
		port_unblock(&h->port, &quay->place);
	} else {
		__atomic_store_n(&h->gate, 1, __ATOMIC_RELEASE);
	}
}

TEST(engine_port_threads, give_their_place_to_another_while_they_block)
{
	struct harbour *h = calloc(1, sizeof *h);

	if (!harbour_open(h, 1, 2, block_for_another))
		return;
	CHECK(port_post(&h->port, (struct port_packet){.slot = POSTED, .key = 1}) == 0);
	CHECK(port_post(&h->port, (struct port_packet){.slot = POSTED, .key = 2}) == 0);
	await(h, 2, 2);
	harbour_close(h);
}

TEST(engine_port_threads, have_the_key_of_the_descriptor)
{
	struct harbour *h = calloc(1, sizeof *h);
	const uint32_t slot = 3;
	struct port_thread me = {0};
	struct port_packet packet = {0};
	char byte = 0;
	int pair[2];

	if (!bed_pair(pair, false) || !harbour_open(h, 1, 0, do_nothing))
		return;
	CHECK_EQUAL(port_associate(&h->port, -1, 1), -EBADF);
	CHECK_EQUAL(port_associate(&h->port, pair[0], 77), 0);
	h->requests[slot] = (struct io_req){
	    .op = IO_RECV, .fd = pair[0], .data = &byte, .length = 1};
	CHECK_EQUAL(port_submit(&h->port, &slot, 1), 1);
	CHECK_EQUAL(port_get(&h->port, &me, &packet, 1, 0), 0);
	CHECK_EQUAL(send(pair[1], "x", 1, 0), 1);
	while (port_get(&h->port, &me, &packet, 1, -1) == 0)
		;
	CHECK_EQUAL(packet.key, 77);
	CHECK_EQUAL(packet.slot, slot);
	CHECK_EQUAL(packet.result, 1);
	harbour_close(h);
	close(pair[0]);
	close(pair[1]);
}

TEST(engine_port_threads, take_several_packets_at_once_in_their_order)
{
	struct harbour *h = calloc(1, sizeof *h);
	struct port_thread me = {0};
	struct port_packet packets[8];

	if (!harbour_open(h, 1, 0, do_nothing))
		return;
	for (uint32_t i = 0; i < 5; i++)
		CHECK(port_post(&h->port, (struct port_packet){.slot = POSTED, .key = i}) == 0);
	CHECK_EQUAL(port_get(&h->port, &me, packets, 3, -1), 3);
	CHECK_EQUAL(packets[0].key, 0);
	CHECK_EQUAL(packets[2].key, 2);
	CHECK_EQUAL(port_get(&h->port, &me, packets, 8, -1), 2);
	CHECK_EQUAL(packets[1].key, 4);
	harbour_close(h);
}

TEST(engine_port_threads, post_no_more_than_there_is_room_for)
{
	struct harbour *h = calloc(1, sizeof *h);
	struct port_thread me = {0};
	struct port_packet packets[2];

	if (!harbour_open(h, 1, 0, do_nothing))
		return;
	for (uint32_t i = 0; i < PORT_POSTS; i++)
		CHECK(port_post(&h->port, (struct port_packet){.slot = POSTED}) == 0);
	CHECK_EQUAL(port_post(&h->port, (struct port_packet){.slot = POSTED}), -EAGAIN);
	CHECK_EQUAL(port_get(&h->port, &me, packets, 2, 0), 2);
	CHECK_EQUAL(port_post(&h->port, (struct port_packet){.slot = POSTED}), 0);
	harbour_close(h);
}

TEST(engine_port_threads, end_when_the_port_is_stopped)
{
	for (int i = 0; i < 20; i++) {
		struct harbour *h = calloc(1, sizeof *h);

		if (!harbour_open(h, 1, PORT_THREADS, do_nothing))
			return;
		if (i % 2)
			await(h, 0, PORT_THREADS);
		harbour_close(h);
	}
}
