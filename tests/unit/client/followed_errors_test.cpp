// The messages about servers that cannot be followed.
#include <gtest/gtest.h>

#include "client/followed.hpp"
#include "power/heard_log.hpp"
#include "report/golden.hpp"

namespace wattle::client_test {
namespace {

std::string lines_of(const power_test::HeardLog& log) {
  std::string lines;
  for (const std::string& message : log.messages()) lines += message + "\n";
  return lines;
}

/// The log about a server with these answers to its streams.
std::string said_of_streams(int status, const std::string& body) {
  const power_test::HeardLog log;
  Followed followed;
  followed.answers["/gpu/stream_power"] = {{.status = status, .body = body}};
  followed.answers["/cpu/stream_power"] = {{.status = status, .body = body}};
  followed.start();
  followed.advance(30s);
  return lines_of(log);
}

TEST(AServerThatDenies, IsReportedByDefaultWhereTheTokenIsNotAccepted) {
  testing_support::expect_golden("stream_denied_401.txt",
                                 said_of_streams(401, R"({"error":"Token has expired."})"));
}

TEST(AServerThatDenies, IsReportedByDefaultWhereTheScopeIsMissing) {
  testing_support::expect_golden(
      "stream_denied_403.txt",
      said_of_streams(403, R"({"error":"Token for user 'u' lacks required scope 'gpu-read'."})"));
}

TEST(AServerThatDenies, IsReportedByDefaultWhereTheGroupIsOff) {
  testing_support::expect_golden(
      "stream_denied_404.txt",
      said_of_streams(404, R"({"error":"API group 'gpu-read' is not enabled on this server."})"));
}

TEST(AServerThatDenies, IsReportedByDefaultWhereDiscoveryShowsThatAGroupIsOff) {
  const power_test::HeardLog log;
  Followed followed;
  followed.discovery.enabled_api_groups = {"gpu-read"};
  followed.start();
  followed.advance(30s);
  testing_support::expect_golden("stream_group_off.txt", lines_of(log));
}

TEST(AServerThatIsNotThere, IsReportedByDefault) {
  const power_test::HeardLog log;
  Followed followed;
  followed.transport.is_reachable = false;
  followed.start();
  followed.advance(30s);
  testing_support::expect_golden("server_unreachable.txt", lines_of(log));
}

TEST(AServerThatShowsCpusInPart, IsReportedByDefault) {
  const power_test::HeardLog log;
  Followed followed;
  followed.discovery.cpu_limit =
      wire::CpuLimit{.period_s = 1, .quantum_j = 1, .reason = "REASON", .remedy = "REMEDY"};
  followed.start();
  testing_support::expect_golden("cpu_limit.txt", lines_of(log));
}

}  // namespace
}  // namespace wattle::client_test
