/*
 * A fake engine with faults from a seed: it serves as the contract says, but late, out of order,
 * with back-pressure and early returns; and it can break a clause, or fail a chosen call, so
 * that the wrappers and whoever uses an engine are seen to notice.
 */
#ifndef IOSTUDY_TESTS_FAKE_ENGINE_H
#define IOSTUDY_TESTS_FAKE_ENGINE_H

#include "engines/engine.h"

enum fake_fault {
	FAKE_SOUND,           /* within the contract */
	FAKE_REQUEST_ERRORS,  /* some requests of READ, WRITE, RECV, SEND result in -EIO */
	FAKE_REPEATS_SLOT,    /* the rest break the contract: a slot comes back twice */
	FAKE_STRANGE_SLOT,    /* a slot comes back that was never submitted */
	FAKE_BEYOND_SLOTS,    /* a slot that does not exist */
	FAKE_MORE_THAN_MAX,   /* reap says more than max */
	FAKE_MORE_THAN_GIVEN, /* submit says more than n */
	FAKE_WITHOUT_REASON,  /* open fails and does not say why */
	FAKE_IGNORES_NEED,    /* open succeeds although it cannot serve */
};

struct fake_faults {
	uint16_t seed;
	uint8_t fault;     /* enum fake_fault */
	uint8_t fail_call; /* open, submit and reap are counted from 1; this one fails. 0: none */
};

/* The operations of a fake with these faults, to be had as a constant: each call makes another
 * copy of the same table with its variant set. */
struct engine_ops fake_engine(struct fake_faults faults);

/* After a failed or finished run: how many calls the open engine has seen. */
uint32_t fake_engine_calls(const struct engine *e);

#endif
