#include "devices/device_search.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace wattle::daemon {

DeviceSearch::DeviceSearch(Loop& loop, Wanted wanted, Find find, Take take)
    : loop_(loop),
      wanted_(std::move(wanted)),
      find_(std::move(find)),
      take_(std::make_shared<Take>(std::move(take))),
      timer_(loop.make_timer()) {}

void DeviceSearch::start() {
  timer_->start(loop_.now() + period_, [this] { search(); });
}

void DeviceSearch::search() {
  const DomainKinds wanted = wanted_();
  if (!wanted.overlaps(DomainKinds::all())) return;
  period_ = std::min(2 * period_, kLongestPeriod);
  start();
  if (*is_searching_) return;  // the driver hangs
  const auto work = [find = find_, wanted, is_searching = is_searching_,
                     take = std::weak_ptr<Take>(take_), post = loop_.poster()] {
    auto found = std::make_shared<Survey>();
    try {
      *found = find(wanted);
    } catch (const std::exception&) {
      // Out of memory: the next search may find them.
    }
    post([found, is_searching, take] {
      *is_searching = false;
      if (const auto receiver = take.lock()) (*receiver)(std::move(*found));
    });
  };
  *is_searching_ = worker_.add(work);
}

}  // namespace wattle::daemon
