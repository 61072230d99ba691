// The C++ side of the shim over googletest: see test.h.
#include "tests/test.h"

#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdio>
#include <string>

namespace
{
struct entry {
	std::string suite, name;
	void (*function)(const void *);
	const void *argument;
	const char *file;
	int line;
};

std::vector<entry> &entries()
{
	static std::vector<entry> all;
	return all;
}

std::string build_directory;

class c_test : public testing::Test
{
      public:
	explicit c_test(const entry &e) : e_(e)
	{
	}
	void TestBody() override
	{
		e_.function(e_.argument);
	}

      private:
	const entry e_;
};

std::string formatted(const char *format, va_list arguments)
{
	char text[4096];
	vsnprintf(text, sizeof text, format, arguments);
	return text;
}
} // namespace

extern "C" void test_register(const char *suite, const char *name, void (*function)(const void *),
                              const void *argument, const char *file, int line)
{
	entries().push_back({suite, name, function, argument, file, line});
}

extern "C" void test_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	GTEST_MESSAGE_AT_(file, line, formatted(format, arguments).c_str(),
	                  testing::TestPartResult::kNonFatalFailure);
	va_end(arguments);
}

extern "C" void test_skip(const char *file, int line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const std::string reason = formatted(format, arguments);
	va_end(arguments);
	const testing::TestInfo *info = testing::UnitTest::GetInstance()->current_test_info();
	printf("skip: %s.%s: %s\n", info->test_suite_name(), info->name(), reason.c_str());
	fflush(stdout);
	GTEST_MESSAGE_AT_(file, line, reason.c_str(), testing::TestPartResult::kSkip);
}

extern "C" bool test_has_failed(void)
{
	return testing::Test::HasFailure();
}

extern "C" const char *test_build_directory(void)
{
	return build_directory.c_str();
}

int main(int argc, char **argv)
{
	const std::string self = argv[0];
	const size_t slash = self.rfind("/tests/");
	build_directory = slash == std::string::npos ? ".." : self.substr(0, slash);
	for (const entry &e : entries())
		testing::RegisterTest(e.suite.c_str(), e.name.c_str(), nullptr, nullptr, e.file,
		                      e.line, [&e]() -> testing::Test * { return new c_test(e); });
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
