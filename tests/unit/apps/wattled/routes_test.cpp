#include "api/routes.hpp"

#include <gtest/gtest.h>

#include <set>

namespace wattle::daemon {
namespace {

TEST(Routes, AreEachThereOnce) {
  std::set<std::string_view> paths;
  for (const Route& route : routes()) EXPECT_TRUE(paths.insert(route.path).second) << route.path;
}

TEST(Routes, OfDevicesNeedTheScopeOfTheirGroup) {
  for (const Route& route : routes()) {
    const auto* const scope = std::get_if<TokenScope>(&route.needed);
    if (route.path.starts_with("/gpu/")) {
      const bool reads = route.path.starts_with("/gpu/get_") || route.path == "/gpu/stream_power";
      ASSERT_NE(scope, nullptr) << route.path;
      EXPECT_EQ(*scope, reads ? TokenScope::gpu_read : TokenScope::gpu_control) << route.path;
    } else if (route.path.starts_with("/cpu/")) {
      ASSERT_NE(scope, nullptr) << route.path;
      EXPECT_EQ(*scope, TokenScope::cpu_read) << route.path;
    }
  }
}

TEST(Routes, ForEverybodyAreThese) {
  std::set<std::string_view> open;
  for (const Route& route : routes()) {
    if (route.needed == RouteRequirement(RouteAccess::everybody)) open.insert(route.path);
  }
  EXPECT_EQ(open, (std::set<std::string_view>{"/", "/discover", "/health", "/time"}));
}

TEST(Routes, AreFoundByTheirWholePathAlone) {
  EXPECT_NE(find_route("/gpu/get_power"), nullptr);
  for (const char* const path : {"", "/gpu/get_power/", "/gpu/get_powe", "/GPU/get_power",
                                 "gpu/get_power", "/gpu/get_power?x", "/gpu//get_power"}) {
    EXPECT_EQ(find_route(path), nullptr) << path;
  }
}

TEST(Routes, ThatAreNotThereNeedWhatTheirNeighboursDo) {
  EXPECT_EQ(requirement_of("/gpu/get_weather"), RouteRequirement(TokenScope::gpu_read));
  EXPECT_EQ(requirement_of("/gpu/"), RouteRequirement(TokenScope::gpu_read));
  EXPECT_EQ(requirement_of("/gpu/set_weather"), RouteRequirement(TokenScope::gpu_control));
  EXPECT_EQ(requirement_of("/gpu/reset_weather"), RouteRequirement(TokenScope::gpu_control));
  EXPECT_EQ(requirement_of("/cpu/get_weather"), RouteRequirement(TokenScope::cpu_read));
  EXPECT_EQ(requirement_of("/auth/login"), RouteRequirement(RouteAccess::token_if_key_is_set));
  for (const char* const path : {"", "//", "/gpu", "/GPU/get_power", "/discover/", "/time%2F"}) {
    EXPECT_EQ(requirement_of(path), RouteRequirement(RouteAccess::any_token)) << path;
  }
}

}  // namespace
}  // namespace wattle::daemon
