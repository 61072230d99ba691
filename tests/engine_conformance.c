/*
 * The conformance suite: every clause of engines/engine.h over every engine of the table and
 * over the fake one. A row is a clause and what an engine must be able to do to answer it.
 */
#include "tests/engine_clauses.h"
#include "tests/fake_engine.h"

#include <errno.h>
#include <stdio.h>

struct clause {
	const char *name;
	void (*function)(const struct engine_ops *ops);
	uint32_t need; /* of enum engine_caps: all of these */
	uint32_t not ; /* and none of these */
};

/* Has nothing that stays in flight while its user looks on. */
#define WAITS_NEVER (ENGINE_SYNCHRONOUS | ENGINE_NO_IO)

static const struct clause clauses[] = {
    {"completes_a_nop", clause_nop, 0, 0},
    {"writes_and_reads_back_a_file", clause_file_round_trip, ENGINE_FILES, ENGINE_NO_IO},
    {"reads_short_at_the_end_of_a_file", clause_file_short_read, ENGINE_FILES, ENGINE_NO_IO},
    {"reads_anywhere_in_its_memory", clause_file_foreign_memory, ENGINE_FILES, ENGINE_NO_IO},
    {"gives_a_request_its_error", clause_bad_descriptor, 0, ENGINE_NO_IO},
    {"takes_descriptors_known_in_advance", clause_known_descriptors, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"reads_and_writes_a_pipe", clause_stream_pipe, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"reads_an_eventfd", clause_stream_eventfd, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"sends_and_receives", clause_socket_round_trip, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"serves_both_ways_of_a_socket_at_once", clause_socket_both_ways, ENGINE_SOCKETS,
     ENGINE_NO_IO | ENGINE_SYNCHRONOUS},
    {"receives_the_end", clause_socket_end, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"survives_a_reset", clause_socket_reset, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"accepts_and_connects", clause_accept_connect, ENGINE_CONNECTIONS, ENGINE_NO_IO},
    {"gives_a_refused_connection_its_error", clause_connect_refused, ENGINE_CONNECTIONS,
     ENGINE_NO_IO},
    {"gives_what_it_cannot_serve_an_error", clause_unserved, 0, ENGINE_NO_IO},
    {"looks_without_waiting", clause_look, 0, WAITS_NEVER},
    {"waits_for_its_time", clause_timeout, 0, WAITS_NEVER},
    {"wait_is_ended_by_a_signal", clause_signal, 0, WAITS_NEVER},
    {"returns_no_more_than_asked", clause_min_max, 0, 0},
    {"timer_is_never_early", clause_timer, ENGINE_TIMERS, ENGINE_NO_IO},
    {"timers_together_are_never_early", clause_timer_order, ENGINE_TIMERS, ENGINE_NO_IO},
    {"timer_of_the_past_completes", clause_timer_past, ENGINE_TIMERS, ENGINE_NO_IO},
    {"gives_each_slot_back_once", clause_storm, 0, 0},
    {"fails_nothing_in_a_storm_of_signals", clause_signal_storm, 0, 0},
    {"gives_a_connection_without_a_descriptor_its_error", clause_no_descriptor, ENGINE_CONNECTIONS,
     ENGINE_NO_IO},
    {"serves_one_descriptor_in_turns", clause_turns, ENGINE_SOCKETS, WAITS_NEVER},
    {"serves_its_full_depth", clause_depth, 0, 0},
    {"accepts_a_prefix", clause_prefix, 0, 0},
    {"serves_two_threads", clause_two_sided, ENGINE_SOCKETS | ENGINE_TWO_SIDED, 0},
    {"tells_of_its_threads", clause_hooks, 0, 0},
    {"refuses_what_it_cannot_serve", clause_refusal, 0, 0},
    {"knows_a_descriptor_that_comes_again", clause_descriptor_reuse, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"close_leaves_nothing", clause_close_idle, 0, 0},
    {"close_closes_what_nobody_took", clause_close_untaken, ENGINE_CONNECTIONS, ENGINE_NO_IO},
    {"close_ends_long_timers", clause_close_timer, ENGINE_TIMERS, WAITS_NEVER},
    {"close_ends_blocked_requests", clause_close_recv, ENGINE_SOCKETS,
     WAITS_NEVER | ENGINE_HIDDEN_THREADS},
    {"close_ends_requests_shut_down", clause_close_after_shutdown, ENGINE_SOCKETS, WAITS_NEVER},
    {"close_writes_no_memory_after", clause_close_file, ENGINE_FILES, ENGINE_NO_IO},
    {"shutdown_brings_back_recv", clause_shutdown_recv, ENGINE_SOCKETS, ENGINE_NO_IO},
    {"shutdown_brings_back_accept", clause_shutdown_accept, ENGINE_CONNECTIONS, ENGINE_NO_IO},
    {"shutdown_brings_back_connect", clause_shutdown_connect, ENGINE_CONNECTIONS, WAITS_NEVER},
};

enum { ROWS_MAX = 2048, FAKE_SEEDS = 5 };

struct row {
	const struct engine_ops *ops;
	const struct clause *clause;
};

static void run_row(const void *argument)
{
	const struct row *row = argument;

	row->clause->function(row->ops);
}

#ifdef __SANITIZE_THREAD__
static void skip_hidden_threads(const void *argument)
{
	(void)argument;
	SKIP("the C library starts these threads unseen by ThreadSanitizer, which crashes in them");
}
#endif

static int try_all_needs(const struct engine_ops *ops, char why[ENGINE_WHY_SIZE])
{
	const struct engine_config config = {.slots = 4, .need = ops->caps & ENGINE_NEEDS};
	struct bed b;
	const int error = bed_try(&b, ops, config, why);

	if (!error)
		bed_close(&b);
	return error;
}

/* What cannot serve here: its reason, once. */
static void skip_refused(const void *argument)
{
	char why[ENGINE_WHY_SIZE];

	if (try_all_needs(argument, why))
		SKIP("%s", why);
}

static void register_engine(const struct engine_ops *ops, const char *suite)
{
	static struct row rows[ROWS_MAX];
	static uint32_t count;
	char why[ENGINE_WHY_SIZE];

#ifdef __SANITIZE_THREAD__
	if (ops->caps & ENGINE_HIDDEN_THREADS) {
		test_register(suite, "all", skip_hidden_threads, NULL, __FILE__, __LINE__);
		return;
	}
#endif
	if (try_all_needs(ops, why) == -EOPNOTSUPP) {
		test_register(suite, "all", skip_refused, ops, __FILE__, __LINE__);
		return;
	}
	for (uint32_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++) {
		const struct clause *clause = &clauses[i];

		if (count == ROWS_MAX || (ops->caps & clause->need) != clause->need ||
		    ops->caps & clause->not )
			continue;
		rows[count] = (struct row){.ops = ops, .clause = clause};
		test_register(suite, clause->name, run_row, &rows[count++], __FILE__, __LINE__);
	}
}

/* Of CONTRIBUTING.md; no engine of the product. */
extern const struct engine_ops engine_example;

__attribute__((constructor)) static void register_all(void)
{
	register_engine(&engine_example, "engine_example");
	for (uint32_t i = 0; engine_table[i]; i++) {
		char suite[64];

		/* A filter of googletest takes "-" for "without". */
		snprintf(suite, sizeof suite, "engine_%s", engine_table[i]->name);
		for (char *c = suite; *c; c++)
			if (*c == '-')
				*c = '_';
		register_engine(engine_table[i], suite);
	}
	for (uint32_t seed = 1; seed <= FAKE_SEEDS; seed++) {
		static struct engine_ops fakes[FAKE_SEEDS];
		char suite[64];

		fakes[seed - 1] = fake_engine((struct fake_faults){.seed = seed});
		snprintf(suite, sizeof suite, "engine_fake_%u", seed);
		register_engine(&fakes[seed - 1], suite);
	}
}
