// Files and folders that a start makes, and removes.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "http/listening.hpp"

namespace wattle::daemon {

/// The missing folders of files that the daemon makes. Removes them at its end, if they are empty
/// and its rights permit it.
class NewFolders {
 public:
  NewFolders(std::initializer_list<std::filesystem::path> files) {
    std::error_code ignored;
    for (const std::filesystem::path& file : files) {
      for (auto folder = file.parent_path(); !folder.empty() && !exists(folder, ignored);
           folder = folder.parent_path()) {
        missing_.push_back(folder);
      }
    }
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  ~NewFolders() {
    for (const std::filesystem::path& folder : missing_) ::rmdir(folder.c_str());
  }

 private:
  std::vector<std::filesystem::path> missing_;  ///< innermost first
};

/// Removes the socket files if the start fails before the server owns them.
class SocketFiles {
 public:
  explicit SocketFiles(const std::vector<ListeningSocket>& listeners) : listeners_(listeners) {}
  SocketFiles(const SocketFiles&) = delete;
  SocketFiles& operator=(const SocketFiles&) = delete;
  ~SocketFiles() {
    for (const ListeningSocket& listener : listeners_) remove_socket_file(listener);
  }

 private:
  const std::vector<ListeningSocket>& listeners_;
};

}  // namespace wattle::daemon
