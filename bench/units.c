/* Numbers with units: see units.h. Independent of the locale: no strtod. */
#include "bench/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},
    {"b", 1},
    {"k", 1ull << 10},
    {"kb", 1ull << 10},
    {"kib", 1ull << 10},
    {"m", 1ull << 20},
    {"mb", 1ull << 20},
    {"mib", 1ull << 20},
    {"g", 1ull << 30},
    {"gb", 1ull << 30},
    {"gib", 1ull << 30},
    {"t", 1ull << 40},
    {"tb", 1ull << 40},
    {"tib", 1ull << 40},
    {NULL, 0},
};

static const struct unit time_units[] = {
    {"", 1000000000ull},
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", 1000000000ull},
    {"m", 60 * 1000000000ull},
    {"h", 3600 * 1000000000ull},
    {NULL, 0},
};

/* digits [. digits] unit, exactly; what a fraction leaves below one is an error. */
static int parse(const char *text, const struct unit *units, uint64_t *value)
{
	unsigned __int128 number = 0, scale = 1;
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		number = number * 10 + (unsigned)(*p - '0');
		if (number > UINT64_MAX)
			return -ERANGE;
	}
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return -EINVAL;
		for (; isdigit((unsigned char)*p); p++) {
			if (scale >= 1000000000000ull)
				return -EINVAL;
			number = number * 10 + (unsigned)(*p - '0');
			scale *= 10;
		}
	}
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strcasecmp(p, unit->name) != 0)
			continue;
		number *= unit->factor;
		if (number % scale != 0)
			return -EINVAL;
		number /= scale;
		if (number > UINT64_MAX)
			return -ERANGE;
		*value = (uint64_t)number;
		return 0;
	}
	return -EINVAL;
}

int units_parse_count(const char *text, uint64_t *value)
{
	return parse(text, size_units, value);
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	return parse(text, size_units, bytes);
}

int units_parse_time(const char *text, uint64_t *time_ns)
{
	return parse(text, time_units, time_ns);
}

static const char *format(uint64_t value, const struct unit *units, uint32_t n, const char *zero,
                          char buffer[32])
{
	for (uint32_t i = 0; i < n; i++) {
		if (value == 0 || value % units[i].factor != 0)
			continue;
		snprintf(buffer, 32, "%llu%s", (unsigned long long)(value / units[i].factor),
		         units[i].name);
		return buffer;
	}
	snprintf(buffer, 32, "%s", zero);
	return buffer;
}

const char *units_format_size(uint64_t bytes, char buffer[32])
{
	static const struct unit largest_first[] = {
	    {"t", 1ull << 40}, {"g", 1ull << 30}, {"m", 1ull << 20}, {"k", 1ull << 10}, {"", 1},
	};
	return format(bytes, largest_first, 5, "0", buffer);
}

const char *units_format_time(uint64_t time_ns, char buffer[32])
{
	static const struct unit largest_first[] = {
	    {"s", 1000000000ull},
	    {"ms", 1000000},
	    {"us", 1000},
	    {"ns", 1},
	};
	return format(time_ns, largest_first, 4, "0s", buffer);
}
