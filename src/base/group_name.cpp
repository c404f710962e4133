#include "base/group_name.hpp"

#include <grp.h>

#include <array>

#include "base/text/text.hpp"

namespace wattle {

std::string group_name(gid_t gid) {
  group entry{};
  group* found = nullptr;
  std::array<char, 4096> room;
  (void)::getgrgid_r(gid, &entry, room.data(), room.size(), &found);
  return found != nullptr ? printable(entry.gr_name) : std::to_string(gid);
}

}  // namespace wattle
