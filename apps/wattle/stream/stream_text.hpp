// The tables of `wattle stream`: powers that are kept up to date, and totals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/text/text_style.hpp"
#include "stream/stream_lines.hpp"

namespace wattle::app {

enum class StreamOrder : std::uint8_t { name, power };

/// The contents of a table.
struct StreamTable {
  bool shows_energy = false;              ///< since the start, beside the powers
  bool by_node = false;                   ///< a row for each server alone
  StreamOrder order = StreamOrder::name;  ///< `power`: the highest first
};

/// Powers now, with the sum of each server and of all. No line is wider than the style, and there
/// are at most `height`. Server names are above the numbers if there is no room beside them.
[[nodiscard]] std::string table_of(const StreamedPower& power, const StreamTable& table,
                                   const TextStyle& style, std::size_t height);

/// The end: energy and mean power of each device, of each server, of all.
[[nodiscard]] std::string totals_of(const StreamedPower& total, const StreamTable& table,
                                    const TextStyle& style);

}  // namespace wattle::app
