/*
 * What sleeping in a system call means, by its number.
 */
#include <string.h>
#include <sys/syscall.h>

#include "probes/bpf.h"

static const struct {
	uint16_t number;
	uint8_t class;
} table[] = {
    {SYS_read, CLASS_DIRECT},
    {SYS_write, CLASS_DIRECT},
    {SYS_open, CLASS_DIRECT}, /* of a FIFO, of a file on a slow disk */
    {SYS_openat, CLASS_DIRECT},
    {SYS_openat2, CLASS_DIRECT},
    {SYS_creat, CLASS_DIRECT},
    {SYS_close, CLASS_DIRECT}, /* which may write back */
    {SYS_pread64, CLASS_DIRECT},
    {SYS_pwrite64, CLASS_DIRECT},
    {SYS_readv, CLASS_DIRECT},
    {SYS_writev, CLASS_DIRECT},
    {SYS_preadv, CLASS_DIRECT},
    {SYS_pwritev, CLASS_DIRECT},
    {SYS_preadv2, CLASS_DIRECT},
    {SYS_pwritev2, CLASS_DIRECT},
    {SYS_sendfile, CLASS_DIRECT},
    {SYS_splice, CLASS_DIRECT},
    {SYS_tee, CLASS_DIRECT},
    {SYS_vmsplice, CLASS_DIRECT},
    {SYS_copy_file_range, CLASS_DIRECT},
    {SYS_connect, CLASS_DIRECT},
    {SYS_accept, CLASS_DIRECT},
    {SYS_accept4, CLASS_DIRECT},
    {SYS_sendto, CLASS_DIRECT},
    {SYS_recvfrom, CLASS_DIRECT},
    {SYS_sendmsg, CLASS_DIRECT},
    {SYS_recvmsg, CLASS_DIRECT},
    {SYS_sendmmsg, CLASS_DIRECT},
    {SYS_recvmmsg, CLASS_DIRECT},
    {SYS_fsync, CLASS_DIRECT},
    {SYS_fdatasync, CLASS_DIRECT},
    {SYS_sync, CLASS_DIRECT},
    {SYS_syncfs, CLASS_DIRECT},
    {SYS_sync_file_range, CLASS_DIRECT},
    {SYS_msync, CLASS_DIRECT},
    {SYS_truncate, CLASS_DIRECT},
    {SYS_ftruncate, CLASS_DIRECT},
    {SYS_fallocate, CLASS_DIRECT},
    {SYS_readahead, CLASS_DIRECT},
    {SYS_fadvise64, CLASS_DIRECT},
    {SYS_getdents, CLASS_DIRECT},
    {SYS_getdents64, CLASS_DIRECT},
    {SYS_io_submit, CLASS_DIRECT}, /* asynchronous in name only, where it sleeps */
    {SYS_io_uring_enter, CLASS_WAITER_RING},
    {SYS_io_getevents, CLASS_WAITER_RING},
    {SYS_io_pgetevents, CLASS_WAITER_RING},
    {SYS_epoll_wait, CLASS_WAITER_POLL},
    {SYS_epoll_pwait, CLASS_WAITER_POLL},
    {SYS_epoll_pwait2, CLASS_WAITER_POLL},
    {SYS_poll, CLASS_WAITER_POLL},
    {SYS_ppoll, CLASS_WAITER_POLL},
    {SYS_select, CLASS_WAITER_POLL},
    {SYS_pselect6, CLASS_WAITER_POLL},
    {SYS_futex, CLASS_FUTEX},
    {SYS_futex_waitv, CLASS_FUTEX},
    {455 /* futex_wait */, CLASS_FUTEX},
    {SYS_nanosleep, CLASS_SLEEP},
    {SYS_clock_nanosleep, CLASS_SLEEP},
};

static const uint16_t aio_calls[] = {SYS_read,     SYS_write, SYS_pread64,
                                     SYS_pwrite64, SYS_fsync, SYS_fdatasync};

static const struct {
	uint16_t number;
	uint8_t object;
} objects_table[] = {
    {SYS_read, CALL_FD},
    {SYS_write, CALL_FD},
    {SYS_close, CALL_FD},
    {SYS_pread64, CALL_FD},
    {SYS_pwrite64, CALL_FD},
    {SYS_readv, CALL_FD},
    {SYS_writev, CALL_FD},
    {SYS_preadv, CALL_FD},
    {SYS_pwritev, CALL_FD},
    {SYS_preadv2, CALL_FD},
    {SYS_pwritev2, CALL_FD},
    {SYS_sendfile, CALL_FD_SECOND}, /* what is read; the other end is a socket mostly */
    {SYS_splice, CALL_FD},
    {SYS_copy_file_range, CALL_FD},
    {SYS_connect, CALL_FD},
    {SYS_accept, CALL_FD},
    {SYS_accept4, CALL_FD},
    {SYS_sendto, CALL_FD},
    {SYS_recvfrom, CALL_FD},
    {SYS_sendmsg, CALL_FD},
    {SYS_recvmsg, CALL_FD},
    {SYS_sendmmsg, CALL_FD},
    {SYS_recvmmsg, CALL_FD},
    {SYS_fsync, CALL_FD},
    {SYS_fdatasync, CALL_FD},
    {SYS_syncfs, CALL_FD},
    {SYS_sync_file_range, CALL_FD},
    {SYS_ftruncate, CALL_FD},
    {SYS_fallocate, CALL_FD},
    {SYS_readahead, CALL_FD},
    {SYS_fadvise64, CALL_FD},
    {SYS_getdents, CALL_FD},
    {SYS_getdents64, CALL_FD},
    {SYS_io_uring_enter, CALL_FD},
    {SYS_epoll_wait, CALL_FD},
    {SYS_epoll_pwait, CALL_FD},
    {SYS_epoll_pwait2, CALL_FD},
    {SYS_ioctl, CALL_FD},
    {SYS_flock, CALL_FD},
    {SYS_fcntl, CALL_FD},
    {SYS_futex, CALL_FUTEX},
    {SYS_futex_waitv, CALL_FUTEX},
    {455 /* futex_wait */, CALL_FUTEX},
};

void bpf_objects_fill(uint8_t objects[PARK_SYSCALLS])
{
	memset(objects, CALL_NOTHING, PARK_SYSCALLS);
	for (size_t i = 0; i < sizeof objects_table / sizeof objects_table[0]; i++)
		objects[objects_table[i].number] = objects_table[i].object;
}

void bpf_classes_fill(uint8_t classes[PARK_SYSCALLS], uint8_t transfers[PARK_SYSCALLS])
{
	memset(classes, CLASS_OTHER, PARK_SYSCALLS);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		classes[table[i].number] = table[i].class;
	memset(transfers, 0, PARK_SYSCALLS);
	for (size_t i = 0; i < sizeof aio_calls / sizeof aio_calls[0]; i++)
		transfers[aio_calls[i]] = 1;
}
