#include "fakes/temp_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace wattle::fakes {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "wattle-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed: " + name);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TempFolder::write(const std::filesystem::path& relative, std::string_view content) const {
  const std::filesystem::path path = path_ / relative;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

System TempFolder::system() const {
  System system;
  system.daemon_socket.clear();
  system.sysfs = path_ / "sys";
  system.procfs = path_ / "proc";
  return system;
}

}  // namespace wattle::fakes
