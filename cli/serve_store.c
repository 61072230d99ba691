/* `iostudy serve store`: an object store as a command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/scenario/object_store.h"
#include "bench/units.h"
#include "cli/serve.h"

enum {
	KEY_DIRECTORY = SERVE_KEY_OWN,
	KEY_DELAY,
	KEY_SYNC,
	KEY_ENGINE,
	KEY_CONNECTIONS,
	KEY_TIMEOUT,
	KEY_BODY,
};

static const struct argp_option options[] = {
    {"directory", KEY_DIRECTORY, "DIR", 0, "where the objects are kept [iostudy.objects]", 1},
    {"delay", KEY_DELAY, "TIME", 0, "what each answer waits for when the store is done [0]", 1},
    {"sync", KEY_SYNC, "object|none", 0,
     "fsync each object and its name before the answer: then a crash of the machine loses none; "
     "without, only the store's own end does not [object]",
     1},
    {"engine", KEY_ENGINE, "NAME", 0, "over which engine [uring, else epoll-offload]", 1},
    {"connections", KEY_CONNECTIONS, "N", 0, "at once; more wait in the kernel's queue [1024]", 1},
    {"timeout", KEY_TIMEOUT, "TIME", 0,
     "for a request to come whole, for its answer to be taken, and of an idle connection [30s]", 1},
    {"body-limit", KEY_BODY, "SIZE", 0, "of one object [64m]", 1},
    {0},
};

static int set_engine(struct object_store_config *config, const char *name,
                      char why[SERVE_WHY_SIZE])
{
	config->engine = engine_find(name);
	if (config->engine && (config->engine->caps & ENGINE_NEEDS) == ENGINE_NEEDS &&
	    !(config->engine->caps & (ENGINE_NO_IO | ENGINE_SYNCHRONOUS)))
		return 0;
	snprintf(why, SERVE_WHY_SIZE,
	         "--engine '%.40s': it takes one that serves files, connections and timers: "
	         "uring, epoll-offload, pool ...",
	         name);
	return -EINVAL;
}

static int set_sync(struct object_store_config *config, const char *value, char why[SERVE_WHY_SIZE])
{
	config->sync = strcmp(value, "object") == 0;
	if (config->sync || strcmp(value, "none") == 0)
		return 0;
	snprintf(why, SERVE_WHY_SIZE, "--sync '%.40s': it takes object or none", value);
	return -EINVAL;
}

static int set(void *own, int key, const char *value, char why[SERVE_WHY_SIZE])
{
	static const struct serve_number connections = {"connections", "1 to 10000",
	                                                units_parse_count, 1,
	                                                OBJECT_CONNECTIONS_MAX},
					 delay = {"delay", "0 to 1h", units_parse_time, 0,
	                                          3600000000000},
					 timeout = {"timeout", "10ms to 1h", units_parse_time,
	                                            10000000, 3600000000000},
					 body = {"body-limit", "0 to 1024g", units_parse_size, 0,
	                                         1ull << 40};
	struct object_store_config *config = own;
	uint64_t number = 0;
	int error;

	switch (key) {
	case KEY_DIRECTORY:
		config->directory = value;
		return 0;
	case KEY_DELAY:
		return serve_number_take(&delay, value, &config->delay_ns, why);
	case KEY_SYNC:
		return set_sync(config, value, why);
	case KEY_ENGINE:
		return set_engine(config, value, why);
	case KEY_TIMEOUT:
		return serve_number_take(&timeout, value, &config->timeout_ns, why);
	case KEY_BODY:
		return serve_number_take(&body, value, &config->body_limit_bytes, why);
	default:
		error = serve_number_take(&connections, value, &number, why);
		if (!error)
			config->connections = (uint32_t)number;
		return error;
	}
}

static int announce(void *scene)
{
	return serve_announce(scene);
}

static void defaults(void *own)
{
	object_store_defaults(own);
}

static int run(const struct serve_scene *scene)
{
	struct object_store_config config = *(const struct object_store_config *)scene->own;

	/* It looks at the clock, and for signals, many times a second. */
	pthread_sigmask(SIG_SETMASK, scene->wait, NULL);
	config.ready = announce;
	config.context = (void *)(uintptr_t)scene;
	return object_store_run(&config, scene->listener, scene->came, scene->why);
}

const struct serve_entry serve_store = {
    .name = "store",
    .summary = "keeps objects: PUT, GET and HEAD of /bucket/key over HTTP",
    .run = run,
    .options = options,
    .own_bytes = sizeof(struct object_store_config),
    .defaults = defaults,
    .set = set,
};
