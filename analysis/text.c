/*
 * The head of the screen, and the names that it shares with others.
 */
#include "analysis/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *engine_label(const char *engine)
{
	static const char *const labels[][2] = {
	    {"uring", "io_uring"},
	    {"uring-defer", "io_uring (DEFER_TASKRUN)"},
	    {"uring-sqpoll", "io_uring (SQPOLL)"},
	    {"uring-iopoll", "io_uring (IOPOLL)"},
	    {"uring-async", "io_uring (IOSQE_ASYNC)"},
	    {"posix-aio", "POSIX AIO"},
	    {"posix-aio-signal", "POSIX AIO with signals"},
	    {"libaio", "libaio"},
	    {"blocking", "Blocking calls"},
	    {"pool", "A pool of threads"},
	    {"epoll-offload", "epoll with a pool"},
	    {"port", "A completion port"},
	};

	for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
		if (name_is(engine, labels[i][0]))
			return labels[i][1];
	return engine ? engine : "An unnamed engine";
}

static const char *probe_quality(const char *name)
{
	if (name_is(name, "bpf"))
		return "BPF: exact";
	if (name_is(name, "perf"))
		return "perf: exact switches, blind to system calls";
	if (name_is(name, "schedstat"))
		return "schedstat: exact totals, no moments";
	if (name_is(name, "proc"))
		return "samples of /proc: estimates";
	return "another probe";
}

void probe_sentence(const struct groups *g, char *out, size_t size)
{
	const char *first = NULL;
	bool mixed = false, none = false;
	double lost = 0;

	for (size_t i = 0; i < g->cell_count; i++) {
		const struct view_probe *probe = view_headline(&g->cells[i].view);

		if (!g->cells[i].measured)
			continue;
		none |= !probe;
		if (!probe)
			continue;
		mixed |= first && !name_is(probe->name, first);
		first = first ? first : probe->name ? probe->name : "";
		lost += probe->lost > 0 ? probe->lost : 0;
	}
	if (!first)
		snprintf(out, size, "No probe: threads were not counted.");
	else
		snprintf(out, size, "Threads counted by %s%s%s, %s %s lost.", probe_quality(first),
		         mixed ? ", and by another probe in some runs" : "",
		         none ? ", in some runs not at all" : "", format_count(lost).text,
		         lost == 1 ? "event" : "events");
}

static double common_depth(const struct groups *g)
{
	double depth = g->cell_count ? g->cells[0].view.depth : NAN;

	for (size_t i = 1; i < g->cell_count; i++)
		if (g->cells[i].view.depth != depth)
			return NAN;
	return depth;
}

/* The engines of the cells, counted once each. */
static size_t engines_count(const struct groups *g)
{
	size_t count = 0;

	for (size_t i = 0; i < g->cell_count; i++) {
		size_t before = 0;

		while (before < i &&
		       !name_is(g->cells[before].view.engine, g->cells[i].view.engine))
			before++;
		count += before == i;
	}
	return count;
}

static void headline_file(struct text *out, const struct groups *g, const struct text_style *style)
{
	char file[80], filesystem[40], device[40];

	for (size_t i = 0; i < g->cell_count; i++) {
		const struct run_view *v = &g->cells[i].view;
		const bool memory = name_is(v->filesystem, "tmpfs") ||
		                    name_is(v->filesystem, "ramfs");
		if (!v->file || (!v->filesystem && !v->device))
			continue;
		text_add(out, "File %s", format_name(file, sizeof file, v->file, 40, style->ascii));
		if (v->filesystem)
			text_add(
			    out, " on %s",
			    format_name(filesystem, sizeof filesystem, v->filesystem, 12, true));
		else
			text_add(out, ", a device");
		if (v->device && !memory)
			text_add(out, " (%s)",
			         format_name(device, sizeof device, v->device, 12, true));
		if (memory)
			text_add(out,
			         ", which is memory.\nName a place on a disk with --directory.\n");
		else if (name_is(v->filesystem, "overlay"))
			text_add(
			    out,
			    ", a container's layer.\nIo_uring reads there through worker threads; "
			    "name a disk with --directory.\n");
		else
			text_add(out, ".\n");
		return;
	}
}

void text_headline(struct text *out, const struct groups *g, const struct text_style *style)
{
	char sentence[240], line[400], name[60];
	const double depth = common_depth(g);
	int at;

	headline_file(out, g, style);
	if (g->many_engines)
		at = snprintf(line, sizeof line, "%zu engines", engines_count(g));
	else
		at = snprintf(
		    line, sizeof line, "%s",
		    format_name(name, sizeof name,
		                engine_label(g->cell_count ? g->cells[0].view.engine : NULL), 40,
		                style->ascii));
	if (!isnan(depth))
		at += snprintf(line + at, sizeof line - (size_t)at, ", %s %s wanted in flight",
		               format_count(depth).text, depth == 1 ? "request" : "requests");
	snprintf(line + at, sizeof line - (size_t)at, ".");
	text_wrap(out, 0, 0, TEXT_COLUMNS, line);
	probe_sentence(g, sentence, sizeof sentence);
	text_wrap(out, 0, 0, TEXT_COLUMNS, sentence);
}

/* A file's file system, or the device itself; NULL: unknown. */
static const char *place_of(const struct run_view *v)
{
	return v->filesystem ? v->filesystem : v->device;
}

static bool places_differ(const struct groups *g, const struct run_view *v)
{
	for (size_t i = 0; place_of(v) && i < g->cell_count; i++)
		if (place_of(&g->cells[i].view) &&
		    strcmp(place_of(v), place_of(&g->cells[i].view)) != 0)
			return true;
	return false;
}

void group_title(const struct groups *g, const struct group *group, char *out, size_t size)
{
	const struct run_view *v = &g->cells[group->first].view;
	char workload[40], wait[20], transport[20], place[40];
	int at = 0;

	out[0] = '\0';
#define ADD(...) (at < (int)size ? at += snprintf(out + at, size - (size_t)at, __VA_ARGS__) : 0)
	if (g->many_engines) {
		for (size_t i = 0; i < g->cell_count && v->synchronous == VIEW_TRUE; i++)
			if (&g->groups[g->cells[i].group] == group &&
			    g->cells[i].view.synchronous != VIEW_TRUE)
				v = &g->cells[i].view; /* its --wait names the group */
		ADD("%s", format_name(workload, sizeof workload, v->workload, 30, true));
		if (v->wait)
			ADD(", --wait %s", format_name(wait, sizeof wait, v->wait, 10, true));
	} else {
		ADD("%s wanted in flight", format_count(v->depth).text);
	}
	const bool disk = v->workload && strncmp(v->workload, "disk-", 5) == 0;
	if (v->block_bytes > 0 && (disk || name_is(v->workload, "socket-echo")))
		ADD(", %s%s%s", format_bytes(v->block_bytes).text,
		    v->direct == VIEW_TRUE    ? " direct"
		    : v->direct == VIEW_FALSE ? " buffered"
		                              : "",
		    name_is(v->cache, "hot")    ? " (hot)"
		    : name_is(v->cache, "cold") ? " (cold)"
		                                : "");
	if (disk && places_differ(g, v))
		ADD(", on %s", format_name(place, sizeof place, place_of(v), 30, true));
	if (v->files > 1)
		ADD(", %s files", format_count(v->files).text);
	if (!isnan(v->read_percent))
		ADD(", %s %% reads", format_fixed(v->read_percent, 0).text);
	if (v->fsync_every > 1)
		ADD(", fsync every %s writes", format_count(v->fsync_every).text);
	else if (v->fsync_every == 1)
		ADD(", fsync every write");
	if (v->connections > 0)
		ADD(", %s connections", format_count(v->connections).text);
	if (v->transport)
		ADD(", %s", format_name(transport, sizeof transport, v->transport, 10, true));
	if (v->delay_max_ns > 0 && v->delay_min_ns == v->delay_max_ns)
		ADD(", answered after %s", format_time(v->delay_max_ns).text);
	else if (v->delay_max_ns > 0)
		ADD(", answered after %s to %s", format_time(v->delay_min_ns).text,
		    format_time(v->delay_max_ns).text);
	if (v->rate_per_s > 0)
		ADD(", %s per s asked%s", format_count(v->rate_per_s).text,
		    name_is(v->arrival, "poisson") ? " (Poisson)" : "");
#undef ADD
}
