/* Numbers and names as people read them. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/format.h"
#include "tests/test.h"

TEST(format, numbers_carry_units_and_three_digits)
{
	CHECK_STRING(format_count(84800).text, "84,800");
	CHECK_STRING(format_count(0).text, "0");
	CHECK_STRING(format_count(999.6).text, "1,000");
	CHECK_STRING(format_count(1234567).text, "1,234,567");
	CHECK_STRING(format_count(12345678).text, "12.3M");
	CHECK_STRING(format_fixed(0.745, 2).text, "0.75");
	CHECK_STRING(format_fixed(-0.001, 2).text, "0.00");
	CHECK_STRING(format_mean(32).text, "32.0");
	CHECK_STRING(format_mean(0.74).text, "0.74");
	CHECK_STRING(format_mean(9.996).text, "10.0");
	CHECK_STRING(format_mean(1024).text, "1,024");
	CHECK_STRING(format_amount(32).text, "32");
	CHECK_STRING(format_amount(0.74).text, "0.74");
	CHECK_STRING(format_ratio(0.029).text, "0.029");
	CHECK_STRING(format_ratio(34.4).text, "34.4");
	CHECK_STRING(format_time(362000).text, "362us");
	CHECK_STRING(format_time(3).text, "3ns");
	CHECK_STRING(format_time(20.1e6).text, "20.1ms");
	CHECK_STRING(format_time(999.6e3).text, "1.00ms");
	CHECK_STRING(format_time(2e9).text, "2.00s");
	CHECK_STRING(format_bytes(4096).text, "4 KiB");
	CHECK_STRING(format_bytes(1536).text, "1.5 KiB");
	CHECK_STRING(format_bytes(512).text, "512 B");
}

TEST(format, all_is_said_of_all_and_of_nothing_less)
{
	CHECK_STRING(format_percent(1).text, "100 %");
	CHECK_STRING(format_percent(0.999999999).text, "99.99 %");
	CHECK_STRING(format_percent(0.9993).text, "99.93 %");
	CHECK_STRING(format_percent(0.77).text, "77 %");
	CHECK_STRING(format_percent(0).text, "0 %");
	CHECK_STRING(format_percent(0.00001).text, "under 0.1 %");
}

TEST(format, what_is_no_number_is_a_dash)
{
	CHECK_STRING(format_count(NAN).text, "-");
	CHECK_STRING(format_time(INFINITY).text, "-");
	CHECK_STRING(format_ratio(-INFINITY).text, "-");
	CHECK_STRING(format_percent(NAN).text, "-");
	CHECK_STRING(format_bytes(NAN).text, "-");
}

TEST(format, huge_numbers_stay_short)
{
	double x = 1;

	for (int i = 0; i < 350; i++, x *= 7) {
		CHECK(strlen(format_count(x).text) <= 9);
		CHECK(strlen(format_mean(x).text) <= 9);
		CHECK(strlen(format_time(x).text) <= 8);
		CHECK(strlen(format_compact(x).text) <= 6);
	}
}

TEST(format, is_the_same_in_every_locale)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
	bool found = false;

	for (size_t i = 0; i < 3 && !found; i++)
		found = setlocale(LC_ALL, names[i]) != NULL;
	if (!found)
		SKIP("no locale with a decimal comma is installed here");
	CHECK_STRING(format_fixed(0.74, 2).text, "0.74");
	CHECK_STRING(format_time(20.1e6).text, "20.1ms");
	setlocale(LC_ALL, "C");
}

TEST(format, names_cannot_move_the_cursor)
{
	static const struct {
		const char *name, *shown;
	} rows[] = {
	    {"disk-randread", "disk-randread"},
	    {"a\nb\tc", "a\\x0ab\\x09c"},
	    {"\033[31mred", "\\x1b[31mred"},
	    {"\xff\xfe", "\\xff\\xfe"},
	    {"half\xe2\x82", "half\\xe2\\x82"},
	    {"caf\xc3\xa9", "caf\xc3\xa9"},
	    {"\xe2\x80\xae"
	     "evil",
	     "\\u202eevil"},
	    {"\xc0\xaf", "\\xc0\\xaf"},
	    {"", ""},
	};
	char out[100];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		CHECK_STRING(format_name(out, sizeof out, rows[i].name, 50, false), rows[i].shown);
	CHECK_STRING(format_name(out, sizeof out, "caf\xc3\xa9", 50, true), "caf\\u00e9");
	CHECK_STRING(format_name(out, sizeof out, NULL, 50, true), "-");
	CHECK_STRING(format_name(out, sizeof out, "0123456789", 5, true), "0123~");
	CHECK_STRING(format_name(out, 4, "0123456789", 50, true), "01~");
}

TEST(format, paragraphs_fit_their_width)
{
	struct text text = {0};
	text_wrap(&text, 0, 4, 20,
	          "One thread waited for thirty-two requests in flight, "
	          "andaverylongwordthatfitsnoline ends it.");
	const char *line = text.data;
	while (line && *line) {
		const size_t length = strcspn(line, "\n");
		CHECK_MESSAGE(length <= 20, "%zu characters: %.*s", length, (int)length, line);
		line += length + 1;
	}
	CHECK_CONTAINS(text.data, "One thread waited\n    for thirty-two\n");
	text_free(&text);
}
