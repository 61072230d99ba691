/* Who makes a request and goes on with its result: see caller.h. */
#include "bench/scenario/caller.h"

#include "bench/scenario/board.h"

int caller_open(struct caller *c)
{
	char why[ENGINE_WHY_SIZE];
	const struct engine_config config = {
	    .requests = &c->request, .slots = 1, .need = ENGINE_NEEDS};

	c->carrier = NULL;
	return engine_open(&c->engine, engine_find("blocking"), &config, why);
}

void caller_close(struct caller *c)
{
	engine_close(&c->engine);
}

int32_t caller_do(struct caller *c, struct io_req request)
{
	const uint32_t slot = 0;
	struct io_done done = {0};
	int error;

	if (c->carrier)
		return carrier_do(c->carrier, request);
	c->request = request;
	board_doing(DOING_CALL);
	error = engine_submit(&c->engine, &slot, 1);
	board_doing(DOING_NOTHING);
	if (error >= 0)
		error = engine_reap(&c->engine, &done, 1, 1, 0);
	return error < 0 ? error : done.result;
}
