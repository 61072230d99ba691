/* The peer of a run: see peer.h. */
#include "bench/peer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/child.h"

static void peer_main(const struct service *service, int listener)
{
	struct server server;

	child_close_others(&listener, 1);
	if (server_open(&server, service, listener) == 0)
		server_run(&server, NULL, NULL);
	_exit(1);
}

int peer_start(struct peer *peer, struct plan *plan, const struct service *service,
               char why[PLAN_WHY_SIZE])
{
	int listener, err = 0;

	peer->pid = 0;
	if (plan->transport == TRANSPORT_TCP)
		address_loopback(&plan->peer);
	else
		address_local(&plan->peer);
	listener = address_listen(&plan->peer);
	if (listener < 0) {
		err = listener;
	} else {
		const pid_t pid = child_fork("iostudy-peer");

		if (pid == 0)
			peer_main(service, listener);
		close(listener);
		err = pid < 0 ? (int)pid : 0;
		peer->pid = pid < 0 ? 0 : pid;
	}
	if (err)
		snprintf(why, PLAN_WHY_SIZE, "cannot start the peer: %s%s", strerror(-err),
		         child_limits(err));
	return err;
}

void peer_stop(struct peer *peer)
{
	if (peer->pid > 0)
		child_end(peer->pid, 0);
	peer->pid = 0;
}
