/* The blocking call that serves a request: what the engines that park a thread have in common. */
#include "engines/internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static long call_once(struct io_req *r)
{
	const int fd = r->fd;
	const bool stream = r->offset == UINT64_MAX;
	struct timespec deadline;
	int error;

	switch ((enum io_op)r->op) {
	case IO_NOP:
		return 0;
	case IO_READ:
		return stream ? read(fd, r->data, r->length)
		              : pread(fd, r->data, r->length, (off_t)r->offset);
	case IO_WRITE:
		return stream ? write(fd, r->data, r->length)
		              : pwrite(fd, r->data, r->length, (off_t)r->offset);
	case IO_FSYNC:
		return fsync(fd);
	case IO_RECV:
		return recv(fd, r->data, r->length, 0);
	case IO_SEND:
		return send(fd, r->data, r->length, MSG_NOSIGNAL);
	case IO_ACCEPT:
		return accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	case IO_CONNECT:
		/* Linux takes a blocking connect up again where a signal ended it. */
		return connect(fd, r->data, r->length);
	case IO_TIMEOUT:
		deadline.tv_sec = (time_t)(r->deadline_ns / 1000000000);
		deadline.tv_nsec = (long)(r->deadline_ns % 1000000000);
		error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
		errno = error;
		return error ? -1 : 0;
	case IO_OP_COUNT:
		break;
	}
	errno = EOPNOTSUPP;
	return -1;
}

int32_t engine_call(struct io_req *r, const bool *stop)
{
	int32_t result;

	if (r->op == IO_CONNECT && r->fd < 0)
		return r->fd;
	do {
		if (stop && __atomic_load_n(stop, __ATOMIC_ACQUIRE)) {
			result = -ECANCELED;
			break;
		}
		const long moved = call_once(r);

		result = moved < 0 ? -errno : (int32_t)moved;
	} while (result == -EINTR);
	if (r->op != IO_CONNECT)
		return result;
	if (result < 0) {
		close(r->fd);
		return result;
	}
	return r->fd;
}
