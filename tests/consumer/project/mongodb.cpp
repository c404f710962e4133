// Uses the component wattle::mongodb; exits with 0 if all is as documented.
#include <chrono>
#include <cstdio>
#include <string>
#include <wattle/mongodb.hpp>
#include <wattle/wattle.hpp>

namespace {

/// True if no connection to `uri` comes about, for that reason. Caught as the type that another
/// library throws.
bool fails(const std::string& uri, wattle::DatabaseError::Cause cause) {
  try {
    wattle::MongoHandler handler({.uri = uri,
                                  .database = "wattle",
                                  .collection = "traces",
                                  .connect_timeout = std::chrono::milliseconds(50),
                                  .trace_name_prefix = "trace_"});
  } catch (const wattle::DatabaseError& error) {
    std::printf("%s\n", error.what());
    return error.cause() == cause;
  }
  return false;
}

}  // namespace

int main() {
  using Cause = wattle::DatabaseError::Cause;
  std::string heard;
  wattle::set_log([&heard](std::string_view message) { heard = message; });
  // Port 9 is "discard": nobody listens there.
  const bool holds =
      fails("no uri", Cause::bad_uri) && fails("mongodb://127.0.0.1:9", Cause::unreachable) &&
      fails("mongodb://127.0.0.1:9/?noSuchOption=1", Cause::unreachable) && !heard.empty();
  wattle::set_log({});
  return holds ? 0 : 1;
}
