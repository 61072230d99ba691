/* The call for a request without waiting: what the engines of readiness have in common. */
#include "engines/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* A read or write of a stream. Kernels before 6.4 know RWF_NOWAIT on no pipe: there the call is
 * made when epoll says that it will not wait, and a write then is one that always fits. */
static long try_stream(const struct io_req *r, uint32_t events)
{
	const struct iovec data = {.iov_base = r->data, .iov_len = r->length};
	const bool reads = r->op == IO_READ;
	const long moved = reads ? preadv2(r->fd, &data, 1, -1, RWF_NOWAIT)
	                         : pwritev2(r->fd, &data, 1, -1, RWF_NOWAIT);

	if (moved >= 0 || errno != EOPNOTSUPP)
		return moved;
	if (!events) {
		errno = EAGAIN;
		return -1;
	}
	return reads ? read(r->fd, r->data, r->length)
	             : write(r->fd, r->data, r->length < PIPE_BUF ? r->length : PIPE_BUF);
}

static long try_accept(const struct io_req *r, uint32_t events)
{
	const int flags = fcntl(r->fd, F_GETFL);
	int fd;

	if (flags >= 0 && !(flags & O_NONBLOCK))
		fcntl(r->fd, F_SETFL, flags | O_NONBLOCK);
	fd = accept4(r->fd, NULL, NULL, SOCK_CLOEXEC);
	/* A Unix listener that was shut down says EAGAIN for ever to who does not wait. */
	if (fd < 0 && errno == EAGAIN && events & (EPOLLHUP | EPOLLRDHUP))
		errno = EINVAL;
	return fd;
}

/* Begins a connection (its socket does not wait), or looks what has become of it. */
static int32_t try_connect(struct io_req *r, uint32_t events)
{
	struct sockaddr_storage peer;
	socklen_t peer_length = sizeof peer;
	int error = 0, off = 0;
	socklen_t length = sizeof error;

	if (!events) {
		if (connect(r->fd, r->data, r->length) != 0)
			error = errno;
		if (error == EINPROGRESS)
			return ENGINE_WOULD_WAIT;
	} else if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) {
		error = errno;
	} else if (!error && getpeername(r->fd, (struct sockaddr *)&peer, &peer_length) != 0) {
		if (!(events & EPOLLHUP))
			return ENGINE_WOULD_WAIT;
		error = ECONNABORTED; /* ended by shutdown */
	}
	if (error) {
		close(r->fd);
		return -error;
	}
	ioctl(r->fd, FIONBIO, &off);
	return r->fd;
}

int32_t engine_try(struct io_req *r, uint32_t events)
{
	long moved;

	do {
		switch ((enum io_op)r->op) {
		case IO_NOP:
			return 0;
		case IO_READ:
		case IO_WRITE:
			if (r->offset != UINT64_MAX)
				return -EOPNOTSUPP;
			moved = try_stream(r, events);
			break;
		case IO_RECV:
			moved = recv(r->fd, r->data, r->length, MSG_DONTWAIT);
			break;
		case IO_SEND:
			moved = send(r->fd, r->data, r->length, MSG_DONTWAIT | MSG_NOSIGNAL);
			break;
		case IO_ACCEPT:
			moved = try_accept(r, events);
			break;
		case IO_CONNECT:
			return try_connect(r, events);
		default:
			return -EOPNOTSUPP;
		}
	} while (moved < 0 && errno == EINTR);
	if (moved >= 0)
		return (int32_t)moved;
	return errno == EAGAIN ? ENGINE_WOULD_WAIT : -errno;
}
