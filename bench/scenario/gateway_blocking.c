/* A call that blocks its thread, over a connection of the thread's own: see gateway_parts.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bench/scenario/gateway_parts.h"
#include "bench/witness.h"

static bool is_over(const struct gateway *g)
{
	return gateway_stage(g) >= GATEWAY_CUT;
}

static void drop(struct gateway_thread *t)
{
	pthread_mutex_lock(&t->lock);
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
	pthread_mutex_unlock(&t->lock);
}

void gateway_call_interrupt(struct gateway_thread *t)
{
	pthread_mutex_lock(&t->lock);
	if (t->fd >= 0)
		shutdown(t->fd, SHUT_RDWR);
	if (t->waits)
		witness_wake(t->waits);
	pthread_mutex_unlock(&t->lock);
}

void gateway_call_finish(struct gateway_thread *t)
{
	drop(t);
}

/* 0, or -errno. */
static int connect_own(struct gateway_thread *t)
{
	const struct gateway_config *config = &t->gateway->config;
	const struct timeval most = {
	    .tv_sec = (time_t)(config->call_timeout_ns / 1000000000),
	    .tv_usec = (suseconds_t)(config->call_timeout_ns % 1000000000 / 1000)};
	int fd;

	if (t->fd >= 0)
		return 0;
	if (!config->service.length)
		return -EDESTADDRREQ;
	fd = address_connect(&config->service);
	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
	pthread_mutex_lock(&t->lock);
	t->fd = fd;
	pthread_mutex_unlock(&t->lock);
	return 0;
}

/* What a call on the socket did: 0, or -errno. */
static int outcome(ssize_t n, size_t wanted)
{
	if (n == (ssize_t)wanted)
		return 0;
	if (n >= 0)
		return -ECONNRESET;
	return errno == EAGAIN ? -ETIMEDOUT : -errno;
}

static int exchange(struct gateway_thread *t, struct message *m)
{
	const struct message asked = *m;
	int error = outcome(send(t->fd, m, sizeof *m, MSG_NOSIGNAL), sizeof *m);

	if (!error)
		error = outcome(recv(t->fd, m, sizeof *m, MSG_WAITALL), sizeof *m);
	if (!error && (!message_is_valid(m, true) || m->id != asked.id || m->seed != asked.seed))
		error = -EPROTO;
	return error;
}

int gateway_call_blocking(struct gateway_thread *t, uint64_t delay_ns)
{
	struct message m = {
	    .id = ++t->calls, .seed = t->gateway->config.seed, .delay_ns = delay_ns};
	const bool fresh = t->fd < 0;
	int error;

	m.check = message_check(&m, false);
	gateway_doing(t, DOING_CALL);
	error = is_over(t->gateway) ? -ECANCELED : connect_own(t);
	if (!error)
		error = exchange(t, &m);
	if (error)
		drop(t);
	/* The service may have hung up since the last call: that is no failure of this one. */
	if (error && !fresh && error != -ETIMEDOUT && !is_over(t->gateway))
		return gateway_call_blocking(t, delay_ns);
	gateway_doing(t, DOING_NOTHING);
	return error;
}

static void wait_on(struct gateway_thread *t, uint32_t *futex)
{
	pthread_mutex_lock(&t->lock);
	t->waits = futex;
	pthread_mutex_unlock(&t->lock);
}

void gateway_call_release(struct gateway_call *call)
{
	if (__atomic_fetch_sub(&call->holders, 1, __ATOMIC_ACQ_REL) == 1)
		free(call);
}

void gateway_call_tell(struct gateway_call *call)
{
	witness_signal(&call->ended, 1);
	gateway_call_release(call);
}

int gateway_call_await(struct gateway_thread *t, struct gateway_call *call)
{
	const uint64_t end_ns = witness_now_ns() + t->gateway->config.call_timeout_ns;
	uint64_t now_ns;
	int error = -ETIMEDOUT;

	gateway_doing(t, DOING_RESULT);
	wait_on(t, &call->ended);
	while (!__atomic_load_n(&call->ended, __ATOMIC_ACQUIRE) && !is_over(t->gateway) &&
	       (now_ns = witness_now_ns()) < end_ns)
		witness_wait(&call->ended, 0, (int64_t)(end_ns - now_ns));
	wait_on(t, NULL);
	if (__atomic_load_n(&call->ended, __ATOMIC_ACQUIRE))
		error = call->error;
	else if (is_over(t->gateway))
		error = -ECANCELED;
	gateway_call_release(call);
	gateway_doing(t, DOING_NOTHING);
	return error;
}
