#include "fakes/powercap_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>

namespace wattle::fakes {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIntelServer =
    "processor\t: 0\n"
    "vendor_id\t: GenuineIntel\n"
    "model name\t: Intel(R) Xeon(R) Test CPU @ 2.00GHz\n"
    "flags\t\t: fpu vme de pse tsc msr\n"
    "\n";

}  // namespace

PowercapTree::PowercapTree() {
  fs::create_directories(folder_.path() / "sys/class/powercap");
  set_cpu_info(kIntelServer);
}

fs::path PowercapTree::zone_path(const std::string& directory) const {
  const std::string control = directory.substr(0, directory.find(':'));
  fs::path path = folder_.path() / "sys/devices/virtual/powercap" / control;
  const std::size_t second = directory.find(':', control.size() + 1);
  if (second != std::string::npos) path /= directory.substr(0, second);
  return path / directory;
}

void PowercapTree::add_zone(const std::string& directory, std::string_view name,
                            const KernelUnit& unit, std::uint64_t ticks) {
  const fs::path path = zone_path(directory);
  fs::create_directories(path);
  fs::create_directory_symlink(path, folder_.path() / "sys/class/powercap" / directory);
  write_file(directory, "name", std::string(name) + "\n");
  write_file(directory, "max_energy_range_uj", std::to_string(unit.range_uj()) + "\n");
  write_file(directory, "energy_uj", "");
  set_energy_uj(path, unit.energy_uj(ticks));
}

void PowercapTree::write_file(const std::string& directory, std::string_view file,
                              std::string_view content) {
  folder_.write(fs::relative(zone_path(directory), folder_.path()) / file, content);
}

void PowercapTree::remove_file(const std::string& directory, std::string_view file) {
  fs::remove(zone_path(directory) / file);
}

void PowercapTree::set_cpu_info(std::string_view text) { write_proc("cpuinfo", text); }

void PowercapTree::write_proc(const std::string& file, std::string_view content) {
  folder_.write("proc/" + file, content);
}

System PowercapTree::system() const { return folder_.system(); }

void set_energy_uj(const fs::path& zone, std::uint64_t energy_uj) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%020llu\n",
                                   static_cast<unsigned long long>(energy_uj));
  const std::string path = (zone / "energy_uj").string();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const ssize_t written =
      fd < 0 ? -1 : ::pwrite(fd, text.data(), static_cast<std::size_t>(length), 0);
  if (fd >= 0) ::close(fd);
  if (written != length) throw std::runtime_error("cannot write " + path);
}

}  // namespace wattle::fakes
