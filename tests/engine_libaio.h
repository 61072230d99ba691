/* The io_submit of the test program, which stands before the library's: see engine_libaio.c. */
#ifndef IOSTUDY_TESTS_ENGINE_LIBAIO_H
#define IOSTUDY_TESTS_ENGINE_LIBAIO_H

#include <libaio.h>

int io_submit(io_context_t context, long count, struct iocb **blocks);

#endif
