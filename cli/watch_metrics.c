/* The figures of a watch for whoever asks over HTTP: see watch.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/watch.h"
#include "bench/address.h"
#include "bench/scenario/http.h"
#include "bench/server.h"
#include "cli/watch.h"

enum { HEAD_BYTES = HTTP_WRITTEN_MAX, BODY_LIMIT = 4096 };

struct watch_metrics {
	struct server server;
	int listener;
};

/* The service's. */
struct source {
	struct observation *observation;
};

/* The window so far. NULL: memory is short, or nobody lives any more to be looked at. */
static char *render(struct observation *o)
{
	json_t *watch = observe_end(o) == 0 ? observe_json(o, "ok", NULL, json_object()) : NULL;
	char *text = watch && watch_conclude(watch) == 0 ? watch_metrics(watch) : NULL;

	json_decref(watch);
	return text;
}

static bool answer(struct server *s, uint32_t connection, const struct http_reader *r,
                   uint16_t status, const char *type, const char *text)
{
	const bool keeps = r->event != HTTP_IS_BAD && r->keep_alive;
	const struct http_answer head = {
	    .status = status, .type = type, .close = !keeps, .body_bytes = strlen(text)};
	char data[HEAD_BYTES];
	const int n = http_answer_write(data, sizeof data, &head);

	if (n < 0 || !server_send(s, connection, data, (size_t)n) ||
	    (!http_reader_is(r, HTTP_HEAD) && !server_send(s, connection, text, strlen(text))))
		return false;
	if (!keeps)
		server_finish(s, connection);
	return true;
}

static bool answer_request(struct server *s, uint32_t connection, const struct http_reader *r)
{
	const struct source *source = s->state;
	const bool reads = http_reader_is(r, HTTP_GET) || http_reader_is(r, HTTP_HEAD);
	char *text;
	bool good;

	if (!reads)
		return answer(s, connection, r, 405, NULL, "GET /metrics is served\n");
	if (strcmp(http_reader_target(r), "/metrics") != 0)
		return answer(s, connection, r, 404, NULL, "GET /metrics is served\n");
	text = render(source->observation);
	good = text ? answer(s, connection, r, 200,
	                     "application/openmetrics-text; version=1.0.0; charset=utf-8", text)
	            : answer(s, connection, r, 503, NULL, "nothing can be read at the moment\n");
	free(text);
	return good;
}

static bool take(struct server *s, uint32_t connection, const void *data, size_t bytes)
{
	struct http_reader *r = s->connections[connection].own;
	const uint64_t number = s->connections[connection].number;
	const char *at = data;
	enum http_event event;

	if (!r->body_limit)
		http_reader_open(r, HTTP_REQUEST, BODY_LIMIT);
	for (;;) {
		event = http_reader_next(r, &at, &bytes);
		if (event == HTTP_WANTS_BYTES)
			return true;
		if (event == HTTP_IS_BAD)
			return answer(s, connection, r, r->status, NULL, "not to be understood\n");
		if (event == HTTP_HAS_END && !answer_request(s, connection, r))
			return false;
		if (s->connections[connection].fd < 0 ||
		    s->connections[connection].number != number || s->connections[connection].ended)
			return true; /* it has been answered for the last time */
	}
}

static const struct service metrics = {
    .name = "metrics",
    .summary = "the figures of a watch, as OpenMetrics text",
    .size = sizeof(struct source),
    .connection_size = sizeof(struct http_reader),
    .take = take,
};

/* "9100" and ":9100" are on this machine alone. */
static int parse(struct address *address, const char *text, char why[OBSERVE_WHY_SIZE])
{
	const size_t digits = strspn(text + (*text == ':'), "0123456789");
	char local[64], reason[ADDRESS_WHY_SIZE];
	int error;

	snprintf(local, sizeof local, "127.0.0.1:%.40s", text + (*text == ':'));
	error = address_parse(address, text[(*text == ':') + digits] ? text : local, reason);
	if (error)
		snprintf(why, OBSERVE_WHY_SIZE, "--metrics %.280s", reason);
	return error;
}

int watch_metrics_open(struct watch_metrics **opened, struct observation *o, const char *where,
                       char why[OBSERVE_WHY_SIZE])
{
	struct watch_metrics *m = calloc(1, sizeof *m);
	struct address address;
	char text[ADDRESS_TEXT_SIZE];
	int error = m ? parse(&address, where, why) : -ENOMEM;

	if (error) {
		free(m);
		return error;
	}
	m->listener = address_listen(&address);
	error = m->listener < 0 ? m->listener : server_open(&m->server, &metrics, m->listener);
	if (error) {
		snprintf(why, OBSERVE_WHY_SIZE, "--metrics: cannot listen on %s: %s",
		         address_text(&address, text), strerror(-error));
		if (m->listener >= 0)
			close(m->listener);
		free(m);
		return error;
	}
	((struct source *)m->server.state)->observation = o;
	fprintf(stderr, "iostudy: metrics at http://%s/metrics\n", address_text(&address, text));
	*opened = m;
	return 0;
}

int watch_metrics_fd(const struct watch_metrics *m)
{
	return m->server.epoll;
}

void watch_metrics_serve(struct watch_metrics *m)
{
	server_look(&m->server);
}

void watch_metrics_close(struct watch_metrics *m)
{
	if (!m)
		return;
	server_close(&m->server);
	close(m->listener);
	free(m);
}
