/*
 * After a run that has written: its files are read back, and every block looked at must be what
 * the ledger says was written there last. Outside of the window, and bounded in time.
 */
#ifndef IOSTUDY_READBACK_H
#define IOSTUDY_READBACK_H

#include <signal.h>
#include <stdint.h>

#include "bench/plan.h"

enum { READBACK_NS = 500000000 }; /* no further piece is begun after so long */

struct readback {
	uint64_t written; /* blocks that the run has written, those in flight at its end left out */
	uint64_t checked; /* of them, spread over the files */
	uint64_t wrong;   /* of them and of their neighbours that were not written */
};

/* Checks as many as the time allows, past the page cache if the run was so. 0, or -errno with why:
 * a block is wrong (-EILSEQ), or the files cannot be read. *stop != 0 ends it early. */
int readback_check(const struct plan *plan, const volatile sig_atomic_t *stop,
                   struct readback *readback, char why[PLAN_WHY_SIZE]);

#endif
