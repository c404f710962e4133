// Reads hw_samples.csv as somebody does who knows no more of it than what its page says: a table of
// time, device, index, uuid, quantity, value, with a header and commas.
#pragma once

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "original_reader.hpp"

namespace wattle::samples_reader {

struct Sample {
  std::string time;
  std::string index;
  std::string uuid;
  double value = 0.0;
};

/// By device and quantity, in the order of the rows.
using Samples = std::map<std::pair<std::string, std::string>, std::vector<Sample>>;

/// Throws for a row that has not all cells, or no number in the last.
inline Samples read(const std::filesystem::path& path) {
  const std::vector<std::string> lines = original_reader::lines_of(path);
  if (lines.empty() || lines.front() != "time,device,index,uuid,quantity,value") {
    throw std::runtime_error("another header");
  }
  Samples samples;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = original_reader::split(lines[i], ',');
    std::size_t read = 0;
    if (cells.size() != 6) throw std::runtime_error("another number of cells: " + lines[i]);
    const double value = std::stod(cells[5], &read);
    if (read != cells[5].size()) throw std::runtime_error("no number: " + lines[i]);
    samples[{cells[1], cells[4]}].push_back(
        {.time = cells[0], .index = cells[2], .uuid = cells[3], .value = value});
  }
  return samples;
}

}  // namespace wattle::samples_reader
