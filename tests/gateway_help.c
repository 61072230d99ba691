/* The ways in which `iostudy serve gateway` is tried: see gateway_help.h. */
#include "tests/gateway_help.h"

#include "tests/test.h"

const char *const gateway_ways[GATEWAY_WAYS][SERVED_OPTIONS_MAX] = {
    {"--handler", "callback", NULL},
    {"--handler", "coroutine", NULL},
    {"--handler", "coroutine", "--engine", "uring", "--loops", "2", NULL},
    {"--handler", "callback", "--engine", "epoll-offload", NULL},
    {"--handler", "blocking", NULL},
    {"--handler", "blocking", "--threads", "8", NULL},
    {"--handler", "blocking-wait", "--threads", "8", NULL},
    {"--handler", "sync-over-async", NULL},
    {"--handler", "sync-over-async", "--threads", "8", "--loops", "2", NULL},
};

json_t *gateway_threads(struct talk *t)
{
	CHECK_EQUAL(talk_ask(t, HTTP_GET, "/threads.json", "", 0), 200);
	return t->body ? json_loads(t->body, 0, NULL) : NULL;
}
