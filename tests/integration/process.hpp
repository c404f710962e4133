// Starts programs as a shell does, feeds them, listens to them, and says what became of them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"

namespace wattle::integration {

/// No wait in these tests lasts longer; on a machine that works, none comes near it.
inline constexpr std::chrono::seconds kDeadline{60};

/// True as soon as `condition` is, asked every millisecond; false at the deadline.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

/// An absent value takes the variable away.
using Environment = std::map<std::string, std::optional<std::string>>;

/// What to start, and in which surroundings.
struct Start {
  std::vector<std::string> command;
  /// Added to the test's own variables, from which everything that Wattle looks at is taken away.
  Environment environment{};
  std::filesystem::path folder{};  ///< empty: the test's own
  /// Called in the new process last before the exec; there it may do anything to itself. All
  /// signals are unblocked and have their default dispositions by then, and 0 to 2 are pipes.
  std::function<void()> prepare{};
};

/// How a process ended, and what it said.
struct Outcome {
  int status = -1;  ///< as of waitpid; -1: it did not end in time
  std::string out;
  std::string err;

  /// Absent where a signal ended it.
  [[nodiscard]] std::optional<int> code() const noexcept;
  /// Absent where it exited by itself.
  [[nodiscard]] std::optional<int> signal() const noexcept;
  [[nodiscard]] bool core_dumped() const noexcept;
};

/// A process that was started. Whatever takes longer than `kDeadline` is a failure of the test and
/// gives up. Threads: one at a time.
class Process {
 public:
  explicit Process(const Start& start);
  /// Kills it if it was not waited for.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send(int signal) const noexcept;

  /// Goes to its stdin as it takes it, while one of the functions below waits.
  void write_input(std::string_view text);
  /// Ends its stdin behind what was written.
  void close_input();
  /// Nobody reads its stdout from now on.
  void close_output() noexcept { out_.fd.reset(); }

  /// Looks for a moment at what it does; false once it has ended.
  [[nodiscard]] bool is_running();
  /// True if anything stands in its stdout so far.
  [[nodiscard]] bool has_printed() const noexcept { return !out_.text.empty(); }
  /// Waits until `text` stands in its stdout.
  [[nodiscard]] bool prints(std::string_view text);
  /// The number that its stdout begins with; 0 and a failure of the test where that is none.
  [[nodiscard]] pid_t number_printed() const;
  /// Waits until it is stopped.
  [[nodiscard]] bool stops();
  /// Waits for its end; not for that of others who hold its stdout or stderr.
  [[nodiscard]] Outcome wait();
  /// Reads on until everybody has closed its stdout: also those that outlived it.
  [[nodiscard]] std::string rest_of_output();

 private:
  struct Stream {
    Fd fd;
    std::string text;
    /// Takes what is there; closes at the end.
    void take();
  };

  /// Moves data for a moment, or until the process has ended.
  void pump();
  void feed();
  [[nodiscard]] bool has_ended() const noexcept;
  [[nodiscard]] bool pump_until(const std::function<bool()>& condition, std::string_view awaited);

  pid_t pid_ = -1;
  Fd end_;  ///< readable when the process has ended
  Fd in_;
  std::string input_;  ///< not yet taken
  bool input_ends_ = false;
  Stream out_;
  Stream err_;
  bool waited_ = false;
};

/// The user that root becomes where a test needs one without any privileges.
inline constexpr uid_t kNobody = 65534;
/// For `Start::prepare`: the process is that of an ordinary user from now on.
void become_ordinary_user();

/// Starts it, gives it `input` and waits for its end.
[[nodiscard]] Outcome run(const Start& start, std::string_view input = {});

/// In a child that is about to execute: `folder` is an empty file system in memory, for it and its
/// descendants alone. `options`: "size=64k", or null. False where that is not permitted.
[[nodiscard]] bool mount_memory(const std::string& folder, const char* options);

}  // namespace wattle::integration
