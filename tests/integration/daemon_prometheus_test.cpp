// A real Prometheus scrapes the daemon: its sums of power and of energy's rates agree.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "daemon.hpp"
#include "fakes/hwmon_tree.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;

constexpr const char* kPrometheus = "/usr/bin/prometheus";
constexpr std::string_view kScrapeKey = "daemon-prometheus-test-signing-key-of-43-by";

/// A port of this machine that nobody uses now.
std::uint16_t free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT
  EXPECT_EQ(::bind(fd.get(), generic, size), 0);
  EXPECT_EQ(::getsockname(fd.get(), generic, &size), 0);
  return ::ntohs(address.sin_port);
}

bool listens_at(std::uint16_t port) {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(port);
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  return ::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;  // NOLINT
}

std::string url_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      encoded += c;
    } else {
      encoded += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return encoded;
}

/// Two packages of 50 W and a memory of 50 W, a GPU of 75 W with a counter, one of 120 W without,
/// and a meter of 250 W that overlaps them.
class DaemonPrometheus : public DaemonTest {
 protected:
  static constexpr double kAdditive = 50.0 + 50.0 + 50.0 + 75.0 + 120.0;
  static constexpr double kMeter = 250.0;

  void SetUp() override {
    if (::access(kPrometheus, X_OK) != 0) {
      GTEST_SKIP() << "prometheus is not installed: run scripts/setup test";
    }
    meters_.add_power_meter(0, 0);
    std::filesystem::create_directory_symlink(meters_.system().sysfs / "class/hwmon",
                                              tree_.system().sysfs / "class/hwmon");
    play(50.0);
    serve({"--signing-key-path", key_file(kScrapeKey)});
    start_prometheus();
  }

  void start_prometheus() {
    std::ofstream(path("prometheus.yml"))
        << "global: {scrape_interval: 500ms, scrape_timeout: 500ms}\n"
           "scrape_configs:\n"
           "- job_name: wattled\n"
           "  authorization: {credentials: '"
        << token("prometheus", "gpu-read,cpu-read") << "'}\n"
        << "  static_configs: [{targets: ['127.0.0.1:" << port_ << "']}]\n";
    // Another program may take the port first: then it ends.
    for (int attempt = 0; attempt < 3 && !has_started_; ++attempt) {
      web_port_ = free_port();
      prometheus_ = std::make_unique<Process>(
          Start{.command = {kPrometheus, "--config.file=" + path("prometheus.yml").string(),
                            "--storage.tsdb.path=" + path("data").string(),
                            "--web.listen-address=127.0.0.1:" + std::to_string(web_port_),
                            "--log.level=error"}});
      has_started_ =
          eventually([&] { return listens_at(web_port_) || !prometheus_->is_running(); }) &&
          prometheus_->is_running();
    }
    ASSERT_TRUE(has_started_);
  }

  /// The one value of an expression; absent: there is none yet.
  [[nodiscard]] std::optional<double> query(std::string_view expression) const {
    HttpClient client = HttpClient::at_port(web_port_);
    client.send("GET /api/v1/query?query=" + url_encoded(expression) +
                " HTTP/1.1\r\nHost: localhost\r\n\r\n");  // not compressed
    const HttpAnswer answer = client.read_answer();
    if (answer.status != 200) return std::nullopt;
    const Json json = parse_json(answer.body);
    const Json& result = json["data"]["result"];
    if (result.size() != 1) return std::nullopt;
    return std::stod(result[0]["value"][1].get<std::string>());
  }

  fakes::HwmonTree meters_;
  std::unique_ptr<Process> prometheus_;
  std::uint16_t web_port_ = 0;
  bool has_started_ = false;
};

TEST_F(DaemonPrometheus, SumsPowerAndTheRateOfEnergyToTheSame) {
  const std::string additive = R"({additive="true"})";
  std::optional<double> power;
  std::optional<double> rate;
  const auto agrees = [](std::optional<double> value, double truth) {
    return value && std::abs(*value - truth) < 0.01 * truth;
  };
  // Every scrape has all domains, so one more of them cannot hide one that lacks its energy. A
  // loaded machine may be late once: the windows move on.
  EXPECT_TRUE(eventually([&] {
    ::usleep(200'000);
    power = query("sum(avg_over_time(wattle_power_watts" + additive + "[4s]))");
    rate = query("sum(rate(wattle_energy_joules_total" + additive + "[4s]))");
    return agrees(power, kAdditive) && agrees(rate, power.value_or(0.0));
  })) << power.value_or(NAN)
      << " W, by energy " << rate.value_or(NAN) << " W";
  EXPECT_TRUE(eventually([&] {
    ::usleep(200'000);
    rate =
        query(R"(sum(rate(wattle_energy_joules_total{additive="false",domain=~"hwmon.*"}[4s])))");
    return agrees(rate, kMeter);
  })) << rate.value_or(NAN);
  EXPECT_EQ(query("count(wattle_power_watts" + additive + ")"), 5.0);
  EXPECT_EQ(query("count(wattle_energy_joules_total" + additive + ")"), 5.0);
  EXPECT_EQ(query("count(wattle_energy_joules_total{source='integrated'})"), 2.0);
  EXPECT_EQ(query("min(wattle_sensor_up)"), 1.0);
  // A model for each GPU, found by a join.
  EXPECT_EQ(query(R"(count(wattle_power_watts * on(domain, device) group_left(model, uuid, pci)
                     wattle_device_info{model=~".+",uuid=~"GPU.+",pci=~".+"}))"),
            2.0);
}

}  // namespace
}  // namespace wattle::integration
