#include "output/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <span>

#include "base/text/parse.hpp"
#include "base/text/printable_text.hpp"
#include "base/text/text.hpp"
#include "wattle/error.hpp"

namespace wattle::app {
namespace {

/// Which of 0 to 2 were closed when the program started.
std::array<bool, 3>& closed_at_start() noexcept {
  static std::array<bool, 3> closed{};
  return closed;
}

/// The number of the descriptor that a path such as /proc/self/fd/N names. Its file must not be
/// replaced: other programs may write to it as well.
std::optional<int> descriptor_of(std::string_view path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const auto number = parse_unsigned<unsigned>(path.substr(folder.size()));
    if (number && std::in_range<int>(*number)) return static_cast<int>(*number);
  }
  return std::nullopt;
}

/// Colours are for terminals; `style_of` makes none elsewhere.
Colors colors_of(int fd) noexcept { return ::isatty(fd) == 1 ? Colors::own : Colors::none; }

/// Puts the message together before it is made safe: it needs memory.
void write_unsafe_message(std::span<const std::string_view> parts) noexcept {
  try {
    write_to_stderr(joined(parts, ""));
  } catch (const std::exception&) {
    write_to_stderr("wattle: a message cannot be shown: out of memory\n");
  }
}

}  // namespace

void open_closed_standard_descriptors() noexcept {
  closed_at_start() = wattle::open_closed_standard_descriptors();
}

Fd open_stdout() {
  if (closed_at_start().at(STDOUT_FILENO)) {
    throw Error("cannot write the report to stdout: it is closed");
  }
  Fd copy(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!copy) throw WriteError("stdout", errno);
  return copy;
}

bool is_stdout_at_a_line_begin() noexcept {
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const bool at_end = (::fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND) != 0;
  const off_t next = at_end ? status.st_size : ::lseek(STDOUT_FILENO, 0, SEEK_CUR);
  if (next == 0) return true;
  // A shell opens it for writing only.
  const Fd file(::open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  char last = '\0';
  return ::pread(file.get(), &last, 1, next - 1) == 1 && last == '\n';
}

bool is_stdout(const std::string& path) {
  return path == "-" || descriptor_of(path) == STDOUT_FILENO;
}

Output Output::open(const std::string& path, bool append) {
  const std::optional<int> number = is_stdout(path) ? STDOUT_FILENO : descriptor_of(path);
  if (number == STDOUT_FILENO) return Output(OpenStream{.name = "stdout", .fd = open_stdout()});
  if (number) {
    Fd copy(::fcntl(*number, F_DUPFD_CLOEXEC, 3));
    if (!copy) throw WriteError(path, errno);
    return Output(OpenStream{.name = path, .fd = std::move(copy)});
  }
  using Mode = WholeFile::Mode;
  return Output(WholeFile(path, append ? Mode::extend : Mode::replace));
}

std::string safe_for(int fd, std::string_view text) { return safe_output(text, colors_of(fd)); }

void Output::write(std::string_view text) {
  if (auto* const file = std::get_if<WholeFile>(&target_)) {
    return file->write(safe_output(text, Colors::none));
  }
  auto& stream = std::get<OpenStream>(target_);
  int error = write_all(stream.fd.get(), safe_for(stream.fd.get(), text));
  // Some file systems report only now that the disk is full.
  if (::close(stream.fd.release()) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error != 0) throw WriteError(stream.name, error);
}

void write_to_stderr(std::string_view text) noexcept {
  const Colors colors = colors_of(STDERR_FILENO);
  if (is_safe_output(text, colors)) return static_cast<void>(write_all(STDERR_FILENO, text));
  try {
    (void)write_all(STDERR_FILENO, safe_output(text, colors));
  } catch (const std::exception&) {
    (void)write_all(STDERR_FILENO, "(a text that cannot be shown)\n");
  }
}

void print_message(std::string_view command, std::string_view message,
                   std::string_view cause) noexcept {
  const std::array<std::string_view, 7> parts = {
      "wattle ", command, ": ", message, cause.empty() ? "" : ": ", cause, "\n"};
  const bool is_safe = std::ranges::all_of(
      parts, [](std::string_view part) { return is_safe_output(part, Colors::none); });
  if (!is_safe) return write_unsafe_message(parts);
  std::array<iovec, parts.size()> pieces{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the kernel only reads them
    pieces.at(i) = {.iov_base = const_cast<char*>(parts.at(i).data()),
                    .iov_len = parts.at(i).size()};
  }
  // In one call, so that other programs' lines do not come in between.
  auto written = static_cast<std::size_t>(std::max<ssize_t>(
      ::writev(STDERR_FILENO, pieces.data(), static_cast<int>(pieces.size())), 0));
  for (const std::string_view part : parts) {
    const std::size_t skipped = std::min(written, part.size());
    written -= skipped;
    write_to_stderr(part.substr(skipped));
  }
}

}  // namespace wattle::app
