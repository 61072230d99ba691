/* The figures by which expectations are tested, each of one run; NaN: not measured there. */
#ifndef IOSTUDY_EXPECTATION_FIGURES_H
#define IOSTUDY_EXPECTATION_FIGURES_H

#include "analysis/run_view.h"
#include "analysis/summary.h"

#define FIGURE(name)                                                                               \
	double figure_##name(const struct run_view *v, const struct summary *s, const json_t *run)

FIGURE(parks);  /* per operation */
FIGURE(held);   /* threads, per request in flight */
FIGURE(parked); /* the same */
FIGURE(threads_parked);
FIGURE(served); /* requests */
FIGURE(held_per_served);
FIGURE(nobody);            /* the share of completions */
FIGURE(rate);              /* operations a second */
FIGURE(posted_interrupt);  /* shares */
FIGURE(posted_submitter);  /* shares */
FIGURE(arrived_interrupt); /* shares; soft and hard, and hard alone */
FIGURE(arrived_hardirq);   /* shares; soft and hard, and hard alone */
FIGURE(over_subject);      /* share */
FIGURE(sleeps);            /* in submission, per operation */
FIGURE(tag_sleeps);        /* how many */
FIGURE(punted);            /* of submitted; per operation */
FIGURE(punted_fsync);      /* of submitted; per operation */
FIGURE(workers_parked);    /* threads */
FIGURE(worker_parks);      /* per operation */
FIGURE(sqpoll_running);    /* CPUs */
FIGURE(pool_parked);       /* threads */
FIGURE(block_requests);    /* per operation */
FIGURE(says_page_cache);   /* 1 or 0 */
FIGURE(refused);           /* 1 or 0 */

#endif
