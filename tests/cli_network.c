/*
 * Runs in networks of their own: a peer behind a pair of virtual cards, whose answers come in a
 * soft interrupt of another CPU than the sender's; and one that has few local ports.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cli_runs.h"
#include "tests/network.h"
#include "tests/served.h"
#include "tests/test.h"

static json_t *runs_inside(pid_t network_of, const char *const *arguments, int status)
{
	return cli_runs((struct process){.argv = arguments, .network_of = network_of}, status);
}

/* The sender is held to CPU 0; CPU 1 works on what arrives, and there the subject spins. So it
 * comes over the subject, where on loopback it would come over the sender and nobody else. */
static void check_arrivals(const json_t *run)
{
	const double softirq = cli_number(run, "probes.0.completions.arrived_in.softirq");
	const double over_subject = cli_number(run, "probes.0.completions.arrived_over.subject");

	CHECK_STRING(cli_text(run, "status"), "ok");
	CHECK(cli_number(run, "measured.operations") > 0);
	CHECK_EQUAL(cli_number(run, "measured.wrong"), 0);
	CHECK(softirq > 0);
	CHECK_EQUAL(cli_number(run, "probes.0.completions.arrived_in.task"), 0);
	CHECK_MESSAGE(over_subject > 0, "%s: %g in soft interrupts, none over the subject",
	              cli_text(run, "plan.engine"), softirq);
	CHECK(!cli_finding(run, "NO-INTERRUPT"));
}

TEST(network, answers_over_virtual_cards_come_in_a_soft_interrupt_that_is_not_the_senders)
{
	struct network network;
	struct served served;
	cpu_set_t all, one;
	char why[200];
	json_t *runs;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("one CPU: whatever arrives is worked on by the sender's");
	if (!network_open_pair(&network, "2", why))
		SKIP("%s", why);
	if (served_begin_inside(&served, "delay", NETWORK_THERE ":0", network.there, 0)) {
		const char *const arguments[] = {
		    "--engine",     "uring,epoll", "--workload", "socket-delay", "--peer",
		    served.address, "--depth",     "8",          "--delay",      "2ms",
		    "--runtime",    "500ms",       "--warmup",   "100ms",        "--wait",
		    "spin",         NULL};

		sched_getaffinity(0, sizeof all, &all);
		CPU_ZERO(&one);
		CPU_SET(1, &one);
		sched_setaffinity(0, sizeof one, &one);
		runs = runs_inside(network.here, arguments, 0);
		sched_setaffinity(0, sizeof all, &all);
		CHECK_EQUAL(json_array_size(runs), 2);
		for (size_t i = 0; i < json_array_size(runs); i++)
			check_arrivals(json_array_get(runs, i));
		json_decref(runs);
		CHECK_EQUAL(served_end(&served, SIGTERM), 0);
	}
	network_close(&network);
}

TEST(network, every_engine_is_served_by_a_peer_in_another_network)
{
	struct network network;
	struct served served;
	char why[200];
	json_t *runs;

	if (!network_open_pair(&network, "0", why))
		SKIP("%s", why);
	if (served_begin_inside(&served, "echo", NETWORK_THERE ":0", network.there, -1)) {
		const char *const arguments[] = {
		    "--engine",     "all",     "--workload", "socket-echo",  "--peer",
		    served.address, "--depth", "4",          "--operations", "100",
		    "--wait",       "park",    "--probe",    "none",         NULL};

		runs = runs_inside(network.here, arguments, 0);
		for (size_t i = 0; i < json_array_size(runs); i++) {
			const json_t *run = json_array_get(runs, i);

			if (strcmp(cli_text(run, "status"), "skipped") == 0)
				continue;
			CHECK_EQUAL(cli_number(run, "measured.operations"), 100);
			CHECK_EQUAL(cli_number(run, "measured.wrong"), 0);
		}
		json_decref(runs);
		CHECK_EQUAL(served_end(&served, SIGTERM), 0);
	}
	network_close(&network);
}

static bool open_few_ports(struct network *network, char why[200])
{
	return network_open(network, why) &&
	       network_set(network->here, "net/ipv4/ip_local_port_range", "40000 40011") &&
	       network_set(network->here, "net/ipv4/tcp_tw_reuse", "0");
}

static void check_ports(const json_t *runs, const char *held)
{
	const char *why = cli_text(json_array_get(runs, 0), "why");

	CHECK_CONTAINS(why,
	               "no local port is free: net.ipv4.ip_local_port_range is 40000 to 40011");
	CHECK_CONTAINS(why, held);
	CHECK_CONTAINS(why, "widen it with sysctl");
	CHECK_CONTAINS(why, "a smaller --depth");
}

/* Twelve ports. What the second run opens first stays for a minute, as its peer lives on. */
TEST(network, a_lack_of_local_ports_is_named_with_its_range_and_what_holds_them)
{
	struct network network;
	struct served served;
	char why[200];
	json_t *runs;

	if (!open_few_ports(&network, why))
		SKIP("%s", why);
	if (served_begin_inside(&served, "delay", "127.0.0.1:4000", network.here, -1)) {
		const char *const many[] = {
		    "--engine",     "epoll",   "--workload", "socket-delay", "--peer",
		    served.address, "--depth", "64",         "--runtime",    "100ms",
		    "--wait",       "park",    NULL};
		const char *const few[] = {
		    "--engine",     "epoll",   "--workload", "socket-delay", "--peer",
		    served.address, "--depth", "8",          "--operations", "8",
		    "--wait",       "park",    "--probe",    "none",         NULL};

		json_decref(runs_inside(network.here, few, 0));
		runs = runs_inside(network.here, few, 1);
		check_ports(runs, "8 sockets are in TIME_WAIT");
		json_decref(runs);
		runs = runs_inside(network.here, many, 1);
		check_ports(runs, "are in TIME_WAIT");
		json_decref(runs);
		CHECK_EQUAL(served_end(&served, SIGTERM), 0);
	}
	network_close(&network);
}
