// What start and stop of an energy meter cost over four counters, beside the reads they need and
// beside a meter that opens, reads and closes each file in Python.
//
// usage: energy_meter_bench PEER.PY [rounds]
//
// The three take turns. The counters are those of a powercap tree whose `energy_uj` are links to a
// real sysfs attribute that holds a number, as in counter_read_bench.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/files/fd.hpp"
#include "base/text/parse.hpp"
#include "count_allocations.hpp"
#include "wattle/energy_meter.hpp"

namespace {

namespace fs = std::filesystem;
using wattle::Seconds;

constexpr const char* kFile = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";
constexpr int kCalls = 20'000;

/// Two sockets with a package and a DRAM counter each.
class Tree {
 public:
  Tree() : root_(fs::temp_directory_path() / fmt::format("wattle-bench-{}", ::getpid())) {
    for (int socket = 0; socket < 2; ++socket) {
      add_zone(fmt::format("intel-rapl:{}", socket), fmt::format("package-{}", socket));
      add_zone(fmt::format("intel-rapl:{}:0", socket), "dram");
    }
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }
  [[nodiscard]] wattle::System system() const { return {.sysfs = root_, .procfs = "/proc"}; }

 private:
  void add_zone(const std::string& zone, const std::string& name) {
    const fs::path folder = root_ / "class" / "powercap" / zone;
    fs::create_directories(folder);
    std::ofstream(folder / "name") << name << '\n';
    std::ofstream(folder / "max_energy_range_uj") << "262143328850\n";
    fs::create_symlink(kFile, folder / "energy_uj");
    files_.push_back(folder / "energy_uj");
  }

  fs::path root_;
  std::vector<std::string> files_;
};

template <class Body>
double seconds_of(int calls, Body body) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) body();
  return Seconds(std::chrono::steady_clock::now() - begin).count() / calls;
}

double peer_seconds(const std::string& peer, const std::vector<std::string>& files) {
  std::string command = fmt::format("python3 '{}' 2000", peer);
  for (const std::string& file : files) command += fmt::format(" '{}'", file);
  const std::unique_ptr<FILE, int (*)(FILE*)> out(::popen(command.c_str(), "r"), ::pclose);
  double seconds = 0.0;
  if (!out || std::fscanf(out.get(), "%lf", &seconds) != 1) std::abort();
  return seconds;
}

/// Bytes that the meter keeps of a record for each domain, after so many that the rest vanishes.
double kept_bytes(const Tree& tree) {
  constexpr int kRecords = 100'000;
  const auto in_use = [] {
    const struct mallinfo2 heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd);
  };
  wattle::EnergyMeter meter({.system = tree.system()});
  const double before = in_use();
  meter.reserve(kRecords + 1);
  meter.start();
  for (int i = 1; i < kRecords; ++i) meter.record("part");
  meter.stop();
  return (in_use() - before) / kRecords / static_cast<double>(tree.files().size());
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): it may end so
  if (argc < 2 || ::access(kFile, R_OK) != 0) {
    fmt::print(stderr, "usage: energy_meter_bench PEER.PY [rounds]; needs {}\n", kFile);
    return 1;
  }
  const unsigned rounds = argc > 2 ? wattle::parse_unsigned<unsigned>(argv[2]).value_or(9) : 9;
  const Tree tree;
  std::vector<wattle::Fd> fds;
  for (const std::string& file : tree.files()) {
    fds.push_back(wattle::open_for_reading(file));
  }
  std::array<char, 32> text{};
  const auto read_all = [&] {
    for (const wattle::Fd& fd : fds) {
      if (::pread(fd.get(), text.data(), text.size(), 0) <= 0) std::abort();
    }
  };
  wattle::EnergyMeter meter({.system = tree.system()});
  meter.reserve(2);
  std::vector<double> bare_s;
  std::vector<double> meter_s;
  std::vector<double> peer_s;
  std::uint64_t allocated = 0;
  for (unsigned round = 0; round < std::max(1U, rounds); ++round) {
    bare_s.push_back(seconds_of(kCalls, [&] {
      read_all();
      read_all();
    }));
    meter.start();
    meter.stop();
    const std::uint64_t before = allocations();
    const double seconds = seconds_of(kCalls, [&] {
      meter.start();
      meter.stop();
    });
    allocated += allocations() - before;
    meter_s.push_back(seconds);
    peer_s.push_back(peer_seconds(argv[1], tree.files()));
  }
  const double bare = median(bare_s);
  const double own = median(meter_s);
  fmt::print("8 bare reads                    {:8.2f} us\n", bare * 1e6);
  fmt::print("start + stop, 4 counters        {:8.2f} us  {:.2f} times the reads, {} allocations\n",
             own * 1e6, own / bare, allocated);
  fmt::print("open, read and close in Python  {:8.2f} us  {:.1f} times start + stop\n",
             median(peer_s) * 1e6, median(peer_s) / own);
  fmt::print("a record keeps                  {:8.1f} bytes a domain\n", kept_bytes(tree));
}
