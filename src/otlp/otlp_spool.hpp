// Requests that wait to be sent: a file each in a folder, so that they outlive this process; or in
// memory. Bounded: the oldest go first.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd.hpp"
#include "otlp/otlp_values.hpp"

namespace wattle::otlp {

/// The content of a file, and back. Absent: it is damaged.
[[nodiscard]] std::string spool_file_of(const OtlpBatch& batch);
[[nodiscard]] std::optional<OtlpBatch> parse_spool_file(std::string_view bytes);

/// Threads: one at a time.
class OtlpSpool {
 public:
  static constexpr std::uint64_t kMostFileBytes = std::uint64_t{32} << 20U;

  /// `folder`: made if it is missing (its parent must be there); empty: in memory. Takes over what
  /// an earlier process left there. Throws `Error` for a folder that others own or write to, or
  /// that another process uses.
  OtlpSpool(const std::string& folder, std::uint64_t most_bytes);

  /// A file that cannot be written is kept in memory.
  void add(OtlpBatch batch);
  /// The oldest; null: there is none. Skips damaged files. Good until the next call.
  [[nodiscard]] const OtlpBatch* front();
  /// Forgets what `front` returned.
  void pop();

  [[nodiscard]] std::size_t waiting() const noexcept { return entries_.size(); }
  /// Waiting data points and spans, by their files.
  [[nodiscard]] std::uint64_t waiting_items() const noexcept;
  [[nodiscard]] bool is_on_disk() const noexcept { return folder_.get() >= 0; }

  /// The losses since the last call.
  struct Losses {
    std::uint64_t items = 0;           ///< removed to make room
    std::vector<std::string> damaged;  ///< names of files
    std::string write_failure;         ///< why a file could not be written; empty: all were
  };
  [[nodiscard]] Losses take_losses();

 private:
  struct WaitingBatch {
    std::string name;  ///< of its file; empty: in memory
    std::uint64_t bytes = 0;
    std::uint64_t items = 0;
    OtlpBatch batch;  ///< without a body if it is in a file
  };

  void take_over();
  [[nodiscard]] bool write(const std::string& name, std::string_view bytes);
  [[nodiscard]] std::optional<std::string> read(const std::string& name, std::size_t most) const;
  void make_room();
  void drop_front();

  std::string path_;
  Fd folder_;
  Fd lock_;
  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t last_number_ = 0;
  std::deque<WaitingBatch> entries_;
  std::optional<OtlpBatch> front_;  ///< read from its file
  Losses losses_;
};

}  // namespace wattle::otlp
