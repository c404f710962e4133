// The plan of faults as a test holds it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fault.hpp"
#include "process.hpp"

namespace wattle::faults {

/// What fails in a program. Threads: one at a time.
struct Fault {
  Call call = Call::open;
  int error = 0;             ///< 0: nothing fails
  std::uint64_t number = 0;  ///< of the call among those of its kind, from 1
  bool sticky = false;       ///< all later ones too
};
/// "read 3: EIO, sticky"
[[nodiscard]] std::string to_string(const Fault& fault);

/// The file that the preloaded library maps. Threads: one at a time.
class FaultPlan {
 public:
  explicit FaultPlan(std::filesystem::path path);
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;
  ~FaultPlan();

  /// For the next program; all counts start again.
  void set(const Fault& fault) noexcept;
  /// Calls of a kind since then.
  [[nodiscard]] std::uint64_t count(Call call) const noexcept;
  /// True if a call has failed since then.
  [[nodiscard]] bool has_failed() const noexcept;
  /// Adds what loads the library.
  [[nodiscard]] integration::Start applied_to(integration::Start start) const;

 private:
  std::filesystem::path path_;
  Plan* plan_;
};

}  // namespace wattle::faults
