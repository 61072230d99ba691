/*
 * How a request is laid down for io_uring: what is registered is named by its index.
 */
#include "engines/uring.h"

/* Whether the data lies in one registered buffer; which, in *index. */
static bool uring_buffer(const struct engine *e, const struct io_req *r, uint16_t *index)
{
	const struct uring *u = e->state;
	const size_t begin = (size_t)((char *)r->data - (char *)e->config.memory);
	const size_t end = begin + r->length;

	if (!u->buffers || begin >= e->config.memory_bytes || end > e->config.memory_bytes ||
	    !r->length)
		return false;
	*index = (uint16_t)(begin >> URING_BUFFER_SHIFT);
	return (end - 1) >> URING_BUFFER_SHIFT == *index;
}

static void uring_prepare_transfer(struct engine *e, struct io_uring_sqe *sqe,
                                   const struct io_req *r)
{
	const bool read = r->op == IO_READ;
	uint16_t index;

	if (uring_buffer(e, r, &index)) {
		io_uring_prep_rw(read ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED, sqe, r->fd,
		                 r->data, r->length, r->offset);
		sqe->buf_index = index;
	} else {
		io_uring_prep_rw(read ? IORING_OP_READ : IORING_OP_WRITE, sqe, r->fd, r->data,
		                 r->length, r->offset);
	}
}

bool uring_unserved(const struct engine *e, const struct io_req *r)
{
	return uring_is(e, URING_IOPOLL) && r->op != IO_READ && r->op != IO_WRITE &&
	       r->op != IO_NOP;
}

void uring_prepare(struct engine *e, struct io_uring_sqe *sqe, uint32_t slot)
{
	struct uring *u = e->state;
	struct io_req *r = &e->config.requests[slot];

	switch (uring_unserved(e, r) ? IO_NOP : (enum io_op)r->op) {
	case IO_READ:
	case IO_WRITE:
		uring_prepare_transfer(e, sqe, r);
		break;
	case IO_FSYNC:
		io_uring_prep_fsync(sqe, r->fd, 0);
		break;
	case IO_RECV:
		io_uring_prep_recv(sqe, r->fd, r->data, r->length, 0);
		break;
	case IO_SEND:
		io_uring_prep_send(sqe, r->fd, r->data, r->length, MSG_NOSIGNAL);
		break;
	case IO_ACCEPT:
		io_uring_prep_accept(sqe, r->fd, NULL, NULL, SOCK_CLOEXEC);
		break;
	case IO_CONNECT:
		io_uring_prep_connect(sqe, r->fd, r->data, r->length);
		break;
	case IO_TIMEOUT:
		u->deadlines[slot].tv_sec = (long long)(r->deadline_ns / 1000000000);
		u->deadlines[slot].tv_nsec = (long long)(r->deadline_ns % 1000000000);
		io_uring_prep_timeout(sqe, &u->deadlines[slot], 0, IORING_TIMEOUT_ABS);
		break;
	default:
		io_uring_prep_nop(sqe);
		break;
	}
	if (sqe->opcode != IORING_OP_TIMEOUT && sqe->opcode != IORING_OP_NOP &&
	    (uint32_t)r->fd < u->fd_limit && u->fixed_fds[r->fd] >= 0) {
		sqe->fd = u->fixed_fds[r->fd];
		sqe->flags |= IOSQE_FIXED_FILE;
	}
	if (uring_is(e, URING_ASYNC))
		sqe->flags |= IOSQE_ASYNC;
	sqe->user_data = slot;
}
