#include "auth/stream_rights.hpp"

#include <utility>

namespace wattle::daemon {

std::shared_ptr<const StreamRight> StreamRights::open(StreamRight right) {
  std::size_t& count = (*counts_)[right.token_id];
  if (count >= most_per_token_) return nullptr;
  ++count;
  const auto close = [counts = counts_](const StreamRight* ended) {
    const auto found = counts->find(ended->token_id);
    if (--found->second == 0) counts->erase(found);
    delete ended;  // NOLINT(cppcoreguidelines-owning-memory): a deleter
  };
  return {new StreamRight(std::move(right)), close};
}

}  // namespace wattle::daemon
