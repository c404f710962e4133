// Where a report goes: opened before the command starts, written after it ended.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/failure.hpp"
#include "base/files/fd.hpp"
#include "base/files/whole_file.hpp"

namespace wattle::app {

/// Descriptors 0 to 2 that are closed get a placeholder, so that no file of ours takes their
/// place; the command finds them closed as before. The first thing a program must do.
void open_closed_standard_descriptors() noexcept;

/// Stdout, for who writes by himself. Throws `WriteError`, and `Error` where it is closed.
[[nodiscard]] Fd open_stdout();

/// True if stdout is a file that is empty or ends with a line end. False for anything else.
[[nodiscard]] bool is_stdout_at_a_line_begin() noexcept;

/// Where one text goes, after `safe_output`: nothing that came from outside moves a terminal's
/// cursor. A regular file is there whole or not at all: until `write` it is as it was. Threads: one
/// at a time.
class Output {
 public:
  /// "-" and "/dev/stdout" are stdout; "/dev/fd/N" is a descriptor that was inherited. With
  /// `append` the text is added to what a file holds. Throws `WriteError` where the file cannot be
  /// written, `Error` for a closed stdout.
  static Output open(const std::string& path, bool append);

  /// Once. Throws `WriteError`.
  void write(std::string_view text);

 private:
  struct OpenStream {
    std::string name;
    Fd fd;
  };
  explicit Output(std::variant<OpenStream, WholeFile> target) : target_(std::move(target)) {}

  std::variant<OpenStream, WholeFile> target_;
};

/// True for "-" and other names of stdout.
[[nodiscard]] bool is_stdout(const std::string& path);

/// `text` as a part of stdout may be, for who writes by himself: see `safe_output`.
[[nodiscard]] std::string safe_for(int fd, std::string_view text);

/// After `safe_output`. Ignores failures: there is no other place for the text.
void write_to_stderr(std::string_view text) noexcept;

/// Writes "wattle COMMAND: MESSAGE" or "wattle COMMAND: MESSAGE: CAUSE" as one line to stderr.
/// After `safe_output`. Allocates nothing where the message is safe, and ignores failures.
void print_message(std::string_view command, std::string_view message,
                   std::string_view cause = {}) noexcept;

/// Calls `write`. False: it threw, and a message is printed. One result that cannot be written
/// keeps no other back.
template <class Write>
[[nodiscard]] bool write_or_report(std::string_view command, const Write& write) noexcept {
  try {
    write();
    return true;
  } catch (const std::exception& failed) {
    print_message(command, failure_text(failed));
    return false;
  }
}

}  // namespace wattle::app
