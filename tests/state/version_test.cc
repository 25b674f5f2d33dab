// The version says the same everywhere: to the build, to a program, to the compiler.
#include <elc.h>

#include <string>

#include "helper.h"

#if !(ELC_VERSION >= 100) || ELC_VERSION < ELC_VERSION_MAJOR * 10000
#error "ELC_VERSION cannot be compared"
#endif

TEST_CASE("the version is that of the build") {
  CHECK(std::string(ELC_VERSION_STRING) == BUILD_VERSION);
  CHECK(std::string(ELC_Version()) == BUILD_VERSION);
  CHECK(std::to_string(ELC_VERSION_MAJOR) + "." + std::to_string(ELC_VERSION_MINOR) + "." +
            std::to_string(ELC_VERSION_PATCH) == BUILD_VERSION);
  CHECK(ELC_VERSION == ELC_VERSION_MAJOR * 10000 + ELC_VERSION_MINOR * 100 + ELC_VERSION_PATCH);
}
