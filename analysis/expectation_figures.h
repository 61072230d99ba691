/* The figures by which expectations are tested, each of one run; NaN: not measured there. */
#ifndef IOSTUDY_EXPECTATION_FIGURES_H
#define IOSTUDY_EXPECTATION_FIGURES_H

#include "analysis/run_view.h"
#include "analysis/summary.h"

#define FIGURE(name)                                                                               \
	double name(const struct run_view *v, const struct summary *s, const json_t *run)

FIGURE(figure_parks);  /* per operation */
FIGURE(figure_held);   /* threads, per request in flight */
FIGURE(figure_parked); /* the same */
FIGURE(figure_threads_parked);
FIGURE(figure_served); /* requests */
FIGURE(figure_held_per_served);
FIGURE(figure_nobody);            /* the share of completions */
FIGURE(figure_rate);              /* operations a second */
FIGURE(figure_posted_interrupt);  /* shares */
FIGURE(figure_posted_submitter);  /* shares */
FIGURE(figure_arrived_interrupt); /* shares; soft and hard, and hard alone */
FIGURE(figure_arrived_hardirq);   /* shares; soft and hard, and hard alone */
FIGURE(figure_over_subject);      /* share */
FIGURE(figure_sleeps);            /* in submission, per operation */
FIGURE(figure_tag_sleeps);        /* how many */
FIGURE(figure_punted);            /* of submitted; per operation */
FIGURE(figure_punted_fsync);      /* of submitted; per operation */
FIGURE(figure_workers_parked);    /* threads */
FIGURE(figure_worker_parks);      /* per operation */
FIGURE(figure_sqpoll_running);    /* CPUs */
FIGURE(figure_iowait);            /* CPUs */
FIGURE(figure_pool_parked);       /* threads */
FIGURE(figure_block_requests);    /* per operation */
FIGURE(figure_says_page_cache);   /* 1 or 0 */
FIGURE(figure_refused);           /* 1 or 0 */

#endif
