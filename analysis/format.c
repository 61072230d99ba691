/*
 * Numbers as text, without printf's %f: a locale would change its decimal point.
 */
#include "analysis/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct number number_none(void)
{
	return (struct number){"-"};
}

/* Beyond this the digits would say more than is known, and a table would burst. */
static const double exact_below = 1e15;

struct number format_fixed(double value, int decimals)
{
	static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
	struct number n;

	if (!isfinite(value))
		return number_none();
	if (decimals < 0)
		decimals = 0;
	if (decimals > 6)
		decimals = 6;
	if (fabs(value) >= exact_below) {
		const int exponent = (int)floor(log10(fabs(value)));
		snprintf(n.text, sizeof n.text, "%se%d", value < 0 ? "-1" : "1", exponent);
		return n;
	}
	if (fabs(value) * powers[decimals] >= exact_below)
		decimals = 0;
	const uint64_t scaled = (uint64_t)(fabs(value) * powers[decimals] + 0.5);
	const uint64_t unit = (uint64_t)powers[decimals];
	const char *sign = value < 0 && scaled ? "-" : "";
	if (decimals)
		snprintf(n.text, sizeof n.text, "%s%" PRIu64 ".%0*" PRIu64, sign, scaled / unit,
		         decimals, scaled % unit);
	else
		snprintf(n.text, sizeof n.text, "%s%" PRIu64, sign, scaled);
	return n;
}

/* 84800 becomes 84,800. */
static struct number number_grouped(const char *digits)
{
	struct number n;
	size_t out = 0;

	for (size_t left = strlen(digits); left && out + 2 < sizeof n.text; left--) {
		n.text[out++] = *digits++;
		if (left > 1 && left % 3 == 1)
			n.text[out++] = ',';
	}
	n.text[out] = '\0';
	return n;
}

/* value with so many decimals that three digits count, then a unit. */
static struct number number_three(double value, const char *unit)
{
	struct number n = format_fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
	const size_t length = strlen(n.text);

	snprintf(n.text + length, sizeof n.text - length, "%s", unit);
	return n;
}

struct number format_compact(double value)
{
	if (!isfinite(value))
		return number_none();
	if (value < 999.5)
		return number_three(value, "");
	if (value < 999.5e3)
		return number_three(value / 1e3, "k");
	if (value < 999.5e6)
		return number_three(value / 1e6, "M");
	if (value < 999.5e9)
		return number_three(value / 1e9, "G");
	return value < 999.5e12 ? number_three(value / 1e12, "T") : format_fixed(value, 0);
}

struct number format_count(double count)
{
	if (!isfinite(count))
		return number_none();
	if (count < 0 || count >= 9999999.5)
		return count < 0 ? format_fixed(count, 0) : format_compact(count);
	return number_grouped(format_fixed(count, 0).text);
}

struct number format_mean(double mean)
{
	if (!isfinite(mean))
		return number_none();
	if (mean >= 999.95)
		return format_count(mean);
	return format_fixed(mean, mean < 9.995 ? 2 : 1);
}

struct number format_amount(double mean)
{
	struct number n = format_mean(mean);
	char *point = strchr(n.text, '.');

	if (point && strspn(point, ".0") == strlen(point))
		*point = '\0';
	return n;
}

struct number format_ratio(double ratio)
{
	if (!isfinite(ratio))
		return number_none();
	if (ratio >= 999.5)
		return format_count(ratio);
	return format_fixed(ratio, ratio < 1.2 ? 3 : ratio < 9.995 ? 2 : 1);
}

struct number format_percent(double share)
{
	struct number n;
	double percent = share * 100;

	if (!isfinite(share))
		return number_none();
	if (percent > 0 && percent < 0.05)
		return (struct number){"under 0.1 %"};
	const bool nearly = percent > 99 && percent < 100;
	if (nearly && percent > 99.99)
		percent = 99.99; /* "100 %" is said of all and of nothing less */
	n = format_fixed(percent, nearly ? 2 : percent < 9.95 && percent > 0 ? 1 : 0);
	const size_t length = strlen(n.text);
	snprintf(n.text + length, sizeof n.text - length, " %%");
	return n;
}

struct number format_time(double time_ns)
{
	if (!isfinite(time_ns))
		return number_none();
	if (time_ns < 999.5) {
		struct number n = format_fixed(time_ns, 0);
		const size_t length = strlen(n.text);
		snprintf(n.text + length, sizeof n.text - length, "ns");
		return n;
	}
	if (time_ns < 999.5e3)
		return number_three(time_ns / 1e3, "us");
	if (time_ns < 999.5e6)
		return number_three(time_ns / 1e6, "ms");
	if (time_ns < 99999.5e9)
		return number_three(time_ns / 1e9, "s");
	struct number n = format_compact(time_ns / 1e9);
	const size_t length = strlen(n.text);
	snprintf(n.text + length, sizeof n.text - length, "s");
	return n;
}

struct number format_bytes(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	if (!isfinite(bytes))
		return number_none();
	while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
		bytes /= 1024;
		unit++;
	}
	struct number n = format_fixed(bytes, bytes == floor(bytes) ? 0 : 1);
	const size_t length = strlen(n.text);
	snprintf(n.text + length, sizeof n.text - length, " %s", units[unit]);
	return n;
}
