#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/privileges.hpp"
#include "cli/waiting.hpp"
#include "sensors/domain_traits.hpp"
#include "sensors/kept_updates.hpp"
#include "sensors/providers.hpp"
#include "top/observer.hpp"
#include "top/sources/source.hpp"

namespace wattle::app {
namespace {

/// This machine, once a period.
class LocalSource : public TopSource {
 public:
  explicit LocalSource(const TopOptions& options)
      : observer_(options, with_kept_updates(with_privileges([&] {
                    return survey(options.system, machine_clock(), DomainKinds::all());
                  }))),
        ticker_(machine_clock().now(), options.length, options.length) {}

  [[nodiscard]] int fd() const noexcept override { return ticker_.fd(); }
  [[nodiscard]] std::optional<TopObservation> take() override {
    if (!ticker_.ends_interval()) return std::nullopt;
    return observer_.observe();
  }
  void reset() override { observer_.reset(); }

 private:
  TopObserver observer_;
  Ticker ticker_;
};

}  // namespace

std::unique_ptr<TopSource> make_source(const TopOptions& options) {
  if (!options.replay.empty()) return make_replay(options.replay, options.speed);
  if (!options.servers.empty()) return make_stream(options);
  return std::make_unique<LocalSource>(options);
}

}  // namespace wattle::app
