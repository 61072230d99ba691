/*
 * The clauses of engines/engine.h, each a function over one engine. engine_conformance.c lists
 * which engines must answer which.
 */
#ifndef IOSTUDY_TESTS_ENGINE_CLAUSES_H
#define IOSTUDY_TESTS_ENGINE_CLAUSES_H

#include "tests/engine_bed.h"

/* clauses_data.c: what the operations do */
void clause_nop(const struct engine_ops *ops);
void clause_file_round_trip(const struct engine_ops *ops);
void clause_file_short_read(const struct engine_ops *ops);
void clause_file_foreign_memory(const struct engine_ops *ops);
void clause_bad_descriptor(const struct engine_ops *ops);
void clause_known_descriptors(const struct engine_ops *ops);
void clause_stream_pipe(const struct engine_ops *ops);
void clause_stream_eventfd(const struct engine_ops *ops);
void clause_socket_round_trip(const struct engine_ops *ops);
void clause_socket_both_ways(const struct engine_ops *ops);
void clause_socket_end(const struct engine_ops *ops);
void clause_socket_reset(const struct engine_ops *ops);
void clause_accept_connect(const struct engine_ops *ops);
void clause_connect_refused(const struct engine_ops *ops);
void clause_unserved(const struct engine_ops *ops);

/* clauses_wait.c: how reap waits */
void clause_look(const struct engine_ops *ops);
void clause_timeout(const struct engine_ops *ops);
void clause_signal(const struct engine_ops *ops);
void clause_min_max(const struct engine_ops *ops);
void clause_timer(const struct engine_ops *ops);
void clause_timer_order(const struct engine_ops *ops);
void clause_timer_past(const struct engine_ops *ops);

/* clauses_life.c: slots, depth, ends */
void clause_storm(const struct engine_ops *ops);
void clause_turns(const struct engine_ops *ops);
void clause_depth(const struct engine_ops *ops);
void clause_prefix(const struct engine_ops *ops);
void clause_refusal(const struct engine_ops *ops);
void clause_descriptor_reuse(const struct engine_ops *ops);

/* clauses_threads.c: several threads at one engine */
void clause_two_sided(const struct engine_ops *ops);
void clause_hooks(const struct engine_ops *ops);

/* clauses_close.c: what ends a request and an engine */
void clause_close_idle(const struct engine_ops *ops);
void clause_close_untaken(const struct engine_ops *ops);
void clause_close_timer(const struct engine_ops *ops);
void clause_close_recv(const struct engine_ops *ops);
void clause_close_after_shutdown(const struct engine_ops *ops);
void clause_close_file(const struct engine_ops *ops);
void clause_shutdown_recv(const struct engine_ops *ops);
void clause_shutdown_accept(const struct engine_ops *ops);
void clause_shutdown_connect(const struct engine_ops *ops);

/* clauses_weather.c: what happens to the whole process */
void clause_signal_storm(const struct engine_ops *ops);
void clause_no_descriptor(const struct engine_ops *ops);

#endif
