/*
 * How many requests a foreign process has given to the C library's POSIX AIO for one file: glibc
 * keeps them in a list, at whose head the helper that serves the file is, and which its stack leads
 * to. Read from its memory, where each entry must prove itself; nothing of the process is changed.
 */
#ifndef IOSTUDY_AIO_QUEUE_H
#define IOSTUDY_AIO_QUEUE_H

#include <stdint.h>
#include <sys/types.h>

/* The requests of the file that this helper serves, that one included; 0: it serves none now, or
 * it cannot be told. stack_pointer: the helper's own, in its last system call. */
uint32_t aio_queue_length(pid_t pid, uint64_t stack_pointer);

#endif
