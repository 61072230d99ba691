/*
 * The short protocol between socket-delay and its peer: a request of 32 bytes names a delay, the
 * reply of 32 bytes comes after it and repeats who asked. Both ends are this program, on one
 * byte order. The check word makes garbage, a shifted byte and another's reply visible.
 */
#ifndef IOSTUDY_MESSAGE_H
#define IOSTUDY_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/random.h"

struct message {
	uint64_t id;       /* of the request: never used twice in a run */
	uint64_t seed;     /* of the run */
	uint64_t delay_ns; /* from the request's arrival at the peer to its reply */
	uint64_t check;
};

static inline uint64_t message_check(const struct message *m, bool reply)
{
	const uint64_t key = random_mix(m->id + random_mix(m->seed + random_mix(m->delay_ns + 1)));

	return reply ? ~key : key;
}

static inline bool message_is_valid(const struct message *m, bool reply)
{
	return m->check == message_check(m, reply);
}

#endif
