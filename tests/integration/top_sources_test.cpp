// What `wattle top` gets from GPUs, and from the client that follows other machines.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "base/files/fd.hpp"
#include "fakes/nvml/control.hpp"
#include "top_command.hpp"
#include "usage/tree/process_tree.hpp"

namespace wattle::integration {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Json last_line_of(std::string text) {
  if (!text.empty()) text.pop_back();
  return parse_json(text.substr(text.rfind('\n') + 1));
}

/// The watts of the rows whose names start so.
double watts_of(const Json& line, std::string_view start) {
  double joules = 0.0;
  for (const Json& row : line["groups"]) {
    const auto name = row["name"].get<std::string>();
    const Json& share = row["share"];
    if (name.starts_with(start) && share.is_object()) joules += share["typical_j"].get<double>();
  }
  return joules / line["length_s"].get<double>();
}

/// Of this process, as the kernel shows it.
std::string own_name() {
  std::string name = content_of("/proc/self/comm");
  name.pop_back();
  return name;
}

TEST_F(TopCommand, DividesThePowerOfEightGpus) {
  if (!sees_machine_pids()) GTEST_SKIP() << "this is a container with process numbers of its own";
  // Of this process: 0 to 3. Of nobody, but in use: 4 and 5. Idle: 6. Of two: 7.
  std::string script = "driver 550.54.15\n";
  for (int i = 0; i < 8; ++i) {
    script += fmt::format("gpu NVIDIA H100 PCIe\npower step 0 {}\nutilization {} 0\n", 100 + i,
                          i == 6 ? 0 : 80);
    if (i < 4 || i == 7) script += fmt::format("process compute {} 1000\n", ::getpid());
    if (i == 7) script += fmt::format("process compute {} 1000\n", ::getppid());
  }
  const fakes::FakeNvml fake(script);
  Start start = wattle({"top", "--json", "--period", "0.5", "--by", "process", "--sysfs",
                        path("none").string(), "--nvml-library", fake.library_path()});
  start.environment = {{"WATTLE_FAKE_NVML", fake.script_path()}};
  Process process(start);
  ASSERT_TRUE(process.prints("it is in use, but no process is listed"));
  ASSERT_TRUE(eventually([&] { return process.prints("\n"); }));
  process.send(SIGINT);
  const Json line = last_line_of(process.wait().out);
  EXPECT_EQ(line["devices"].size(), 8U);
  EXPECT_EQ(line["share_of"], "power");
  const auto power_w = [&](std::vector<std::size_t> gpus) {
    double sum_w = 0.0;
    for (const std::size_t i : gpus) sum_w += line["devices"][i]["power_w"].get<double>();
    return sum_w;
  };
  const auto expect_row = [&](const std::string& name, std::vector<std::size_t> gpus) {
    EXPECT_NEAR(watts_of(line, name), power_w(std::move(gpus)), 1e-6) << name;
  };
  expect_row(own_name(), {0, 1, 2, 3});
  expect_row("idle machine", {6});
  expect_row("not divided: nvidia_gpu_4, nvidia_gpu_5: it is in use", {4, 5});
  expect_row("not divided: nvidia_gpu_7: the driver does not report who", {7});
  EXPECT_NEAR(line["total"]["power_w"].get<double>(), power_w({0, 1, 2, 3, 4, 5, 6, 7}), 1e-6);
  double shares = 0.0;
  for (const Json& row : line["groups"]) {
    if (row["share_percent"].is_number()) shares += row["share_percent"].get<double>();
  }
  EXPECT_NEAR(shares, 100.0, 1e-6);
}

TEST_F(TopCommand, WritesTheLastLineToItsEnd) {
  // A line of more bytes than a pipe holds.
  Json line = parse_json(recording().substr(recording().rfind("{\"time")));
  for (int i = 0; i < 2000; ++i) {
    line["processes"].push_back(
        {{"pid", 1000 + i}, {"command", fmt::format("p{}", i)}, {"cpu_s", 0.1}});
  }
  const std::string text = recording();
  const std::string file =
      replayed(text.substr(0, text.find('\n') + 1) + line.dump() + "\n" + line.dump() + "\n");
  ASSERT_EQ(::mkfifo(path("out").c_str(), 0600), 0);
  Start start = wattle({"top", "--json", "--replay", file, "--speed", "0.015625"});
  const std::string out = path("out").string();
  start.prepare = [out] { ::dup2(::open(out.c_str(), O_WRONLY), STDOUT_FILENO); };
  Process process(start);
  const Fd reader(::open(out.c_str(), O_RDONLY));
  char byte = 0;
  ASSERT_EQ(::read(reader.get(), &byte, 1), 1) << "a part of it is written";
  process.send(SIGINT);
  std::string read(1, byte);
  std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t count = ::read(reader.get(), bytes.data(), bytes.size());
    if (count <= 0) break;
    read.append(bytes.data(), static_cast<std::size_t>(count));
  }
  EXPECT_EQ(process.wait().code(), 0);
  ASSERT_GT(read.size(), 100'000U);
  EXPECT_EQ(read.back(), '\n');
}

/// `wattle top` with another program in the place of its client.
class TopClient : public TopCommand {
 protected:
  [[nodiscard]] Start with_client(const std::string& script) const {
    std::filesystem::copy_file(wattle_program(), path("wattle"));
    std::ofstream(path("wattle-stream")) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path("wattle-stream"), std::filesystem::perms::owner_all);
    return {.command = {path("wattle").string(), "top", "--json", "node1:4747"}};
  }
};

constexpr const char* kReading =
    R"({"schema":"wattle.stream/1","type":"reading","elapsed_s":1.0,"server":"node1:4747",)"
    R"("gpus":{"status":"off"},"cpus":{"status":"live"},"devices":[]})";
constexpr const char* kTwoMessages =
    "echo 'wattle stream: node1 was late' >&2\necho 'wattle stream: node1 is gone' >&2\nexit 2\n";

TEST_F(TopClient, MayWriteAsManyMessagesAsItWants) {
  ASSERT_EQ(::mkfifo(path("wait").c_str(), 0600), 0);
  Process process(with_client(
      fmt::format("head -c 300000 /dev/zero | tr '\\0' x >&2\necho '{}'\nread wait < {}\nexit 2\n",
                  kReading, path("wait").string())));
  EXPECT_TRUE(process.prints("\"name\":\"node1:4747\""));
  process.send(SIGTERM);
  EXPECT_EQ(process.wait().code(), 0);
}

TEST_F(TopClient, SaysWithItsFirstMessageWhyItCannotStart) {
  constexpr int kNothing = 2;
  const Outcome outcome = run(with_client(kTwoMessages));
  EXPECT_EQ(outcome.code(), kNothing);
  EXPECT_EQ(outcome.err, "wattle top: node1 was late\n");
}

TEST_F(TopClient, SaysWithItsLastMessageWhyItEnds) {
  ASSERT_EQ(::mkfifo(path("wait").c_str(), 0600), 0);
  Process process(with_client(
      fmt::format("echo '{}'\nread wait < {}\n{}", kReading, path("wait").string(), kTwoMessages)));
  ASSERT_TRUE(process.prints("node1:4747"));
  std::ofstream(path("wait")) << "go on\n";
  EXPECT_EQ(process.wait().err, "wattle top: node1 is gone\n");
}

}  // namespace
}  // namespace wattle::integration
