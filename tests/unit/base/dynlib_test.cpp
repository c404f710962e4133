#include "base/dynlib.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace wattle {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kMathLibrary = "libm.so.6";

TEST(DynamicLibrary, ThatExistsGivesItsFunctionsAndItsFile) {
  const DynamicLibrary library = DynamicLibrary::open(kMathLibrary);
  ASSERT_TRUE(library) << library.error();
  auto* const cube_root = library.find<double(double)>("cbrt");
  ASSERT_NE(cube_root, nullptr);
  EXPECT_DOUBLE_EQ(cube_root(27.0), 3.0);
  EXPECT_THAT(library.path(), StartsWith("/"));
  EXPECT_THAT(library.path(), EndsWith(kMathLibrary));
  EXPECT_THAT(library.error(), IsEmpty());
}

TEST(DynamicLibrary, ThatDoesNotExistIsEmptyAndSaysWhy) {
  const DynamicLibrary library = DynamicLibrary::open("/nonexistent/libnothing.so.1");
  EXPECT_FALSE(library);
  EXPECT_THAT(library.error(), HasSubstr("/nonexistent/libnothing.so.1"));
  EXPECT_THAT(library.path(), IsEmpty());
  EXPECT_EQ(library.find<void()>("anything"), nullptr);
}

TEST(DynamicLibrary, ThatIsNoLibraryIsEmptyAndSaysWhy) {
  const DynamicLibrary library = DynamicLibrary::open("/proc/self/status");
  EXPECT_FALSE(library);
  EXPECT_THAT(library.error(), HasSubstr("/proc/self/status"));
}

TEST(DynamicLibrary, GivesNullForAFunctionThatItLacks) {
  const DynamicLibrary library = DynamicLibrary::open(kMathLibrary);
  EXPECT_EQ(library.find<void()>("wattle_has_no_such_function"), nullptr);
}

TEST(DynamicLibrary, KnowsWhetherItHadAllThatWasLookedFor) {
  EXPECT_FALSE(DynamicLibrary().has_all());
  DynamicLibrary library = DynamicLibrary::open(kMathLibrary);
  EXPECT_TRUE(library.has_all());
  double (*const cube_root)(double) = library.find("cbrt");
  EXPECT_NE(cube_root, nullptr);
  EXPECT_TRUE(library.has_all());
  void (*const nothing)() = library.find("wattle_has_no_such_function");
  EXPECT_EQ(nothing, nullptr);
  EXPECT_FALSE(library.has_all());
}

TEST(DynamicLibrary, MovesItsOwnership) {
  DynamicLibrary library = DynamicLibrary::open(kMathLibrary);
  const DynamicLibrary taken = std::move(library);
  EXPECT_TRUE(taken);
  EXPECT_FALSE(library);  // NOLINT(bugprone-use-after-move): that it is empty is the point
}

}  // namespace
}  // namespace wattle
