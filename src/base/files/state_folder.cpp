#include "base/files/state_folder.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <system_error>

#include "base/clock.hpp"
#include "base/files/whole_file.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

namespace fs = std::filesystem;

/// Empty where it is not set, not absolute, or somebody else's to set.
fs::path folder_in(const char* variable) {
  const char* const value = ::secure_getenv(variable);
  const fs::path folder = value != nullptr ? value : "";
  return folder.is_absolute() ? folder : fs::path();
}

// Those that are not in linux/magic.h, by their own sources.
constexpr std::uint32_t kBeeGfs = 0x19830326;
constexpr std::uint32_t kGfs2 = 0x01161970;
constexpr std::uint32_t kGpfs = 0x47504653;
constexpr std::uint32_t kLustre = 0x0BD00BD0;
constexpr std::uint32_t kPanFs = 0xAAD7AAEA;

}  // namespace

fs::path own_folder(std::string_view what, const char* variable, const char* in_home) {
  if (const fs::path folder = folder_in(variable); !folder.empty()) return folder / "wattle";
  if (const fs::path home = folder_in("HOME"); !home.empty()) return home / in_home / "wattle";
  throw Error(fmt::format("there is no {} folder: neither {} nor HOME is set", what, variable));
}

fs::path state_folder() { return own_folder("state", "XDG_STATE_HOME", ".local/state"); }

std::string this_host() {
  static const std::string host = [] {
    std::array<char, 256> name{};
    const bool has_name = ::gethostname(name.data(), name.size() - 1) == 0;
    return has_name ? printable(name.data()) : std::string();
  }();
  return host;
}

std::string host_state_file(std::string_view what, std::string_view host) {
  std::string name(host.empty() ? "unknown" : host);
  std::ranges::replace(name, '/', '_');
  return (state_folder() / what / (name + ".json")).string();
}

void make_folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw WriteError(folder.string(), error.value());
}

void put_in_state_folder(const std::string& path, std::string_view content) {
  make_folder_of(path);
  WholeFile(path, WholeFile::Mode::replace).write(content);
}

fs::path new_state_file(std::string_view what, std::string_view extension) {
  static std::atomic<unsigned> number{0};
  const fs::path folder = state_folder() / what;
  make_folder_of((folder / "file").string());
  std::error_code error;
  for (;;) {
    // Process numbers come again, and are those of other machines too where homes are shared.
    const auto moment = static_cast<unsigned long long>(to_unix(machine_clock().now()) * 1e3);
    fs::path path = folder / fmt::format("{}-{}-{}{}", ::getpid(), moment, number++, extension);
    if (!fs::exists(path, error)) return path;
  }
}

bool is_network_kind(std::uint32_t kind) noexcept {
  constexpr std::array<std::uint32_t, 14> kNetworks = {AFS_SUPER_MAGIC,
                                                       CEPH_SUPER_MAGIC,
                                                       CIFS_SUPER_MAGIC,
                                                       FUSE_SUPER_MAGIC,
                                                       NFS_SUPER_MAGIC,
                                                       SMB_SUPER_MAGIC,
                                                       SMB2_SUPER_MAGIC,
                                                       OCFS2_SUPER_MAGIC,
                                                       V9FS_MAGIC,
                                                       kBeeGfs,
                                                       kGfs2,
                                                       kGpfs,
                                                       kLustre,
                                                       kPanFs};
  return std::ranges::find(kNetworks, kind) != kNetworks.end();
}

bool is_on_network(const std::filesystem::path& path) noexcept {
  struct statfs system {};
  return ::statfs(path.c_str(), &system) == 0 &&
         is_network_kind(static_cast<std::uint32_t>(system.f_type));
}

}  // namespace wattle
