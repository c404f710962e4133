// What an ordinary user may not do, tested as root too.
#pragma once

#include <unistd.h>

namespace wattle::fakes {

/// While it lives, this process acts as the user "nobody" if it is root's. Threads: one.
class Unprivileged {
 public:
  Unprivileged() noexcept : changed_(::geteuid() == 0 && ::seteuid(kNobody) == 0) {}
  ~Unprivileged() {
    if (changed_) (void)!::seteuid(0);
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;

  /// False where root cannot become anybody else (a container without the capability).
  [[nodiscard]] bool holds() const noexcept { return ::geteuid() != 0; }

 private:
  static constexpr uid_t kNobody = 65534;
  bool changed_;
};

}  // namespace wattle::fakes
