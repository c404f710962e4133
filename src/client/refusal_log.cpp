#include "client/refusal_log.hpp"

#include "base/log.hpp"
#include "base/text/text.hpp"

namespace wattle::client {

void RefusalLog::note(TimePoint now, const std::string& whose, std::string_view what,
                      std::string_view sample) {
  ++count_;
  if (reported_ > 0 && now < next_) return;
  std::string message = whose + ": an event " + std::string(what) + " and is passed over";
  if (!sample.empty()) message += ": " + printable(sample, 100);
  if (const std::uint64_t unreported = count_ - reported_ - 1; unreported > 0) {
    message += " (and " + std::to_string(unreported) + " before)";
  }
  reported_ = count_;
  next_ = now + kPause;
  log(message);
}

}  // namespace wattle::client
