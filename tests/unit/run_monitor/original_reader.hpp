// Reads the files as the tool does whose layout they have: by the position of the columns alone.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace wattle::original_reader {

struct Figures {
  double mean = 0.0;
  double max = 0.0;
  int rows = 0;

  void add(double value) {
    mean = (mean * rows + value) / (rows + 1);
    max = rows == 0 ? value : std::max(max, value);
    ++rows;
  }
};

inline std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, separator);) cells.push_back(cell);
  return cells;
}

inline std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

struct Gpus {
  Figures util;
  Figures vram_mib;
  Figures power_w;
};

/// Fewer than nine parts, or no number in one of three columns: the row is left out.
inline Gpus read_gpu_csv(const std::filesystem::path& path) {
  Gpus gpus;
  for (const std::string& line : lines_of(path)) {
    const auto parts = split(line, ',');
    if (parts.size() < 9) continue;
    try {
      const double util = std::stod(parts[1]);
      const double vram = std::stod(parts[3]);
      const double power = std::stod(parts[5]);
      gpus.util.add(util);
      gpus.vram_mib.add(vram);
      gpus.power_w.add(power);
    } catch (const std::invalid_argument&) {  // "[N/A]"
    }
  }
  return gpus;
}

/// The third word is the utilization of the memory.
inline Figures read_dmon(const std::filesystem::path& path) {
  Figures memory_util;
  for (const std::string& line : lines_of(path)) {
    if (line.starts_with('#')) continue;
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.size() < 4 || words[2] == "-") continue;
    memory_util.add(std::stod(words[2]));
  }
  return memory_util;
}

struct Cpu {
  Figures usr;
  Figures idle;
};

inline Cpu read_cpu_csv(const std::filesystem::path& path) {
  Cpu cpu;
  for (const std::string& line : lines_of(path)) {
    const auto parts = split(line, ',');
    if (parts.size() < 3 || parts[0] == "timestamp") continue;
    cpu.usr.add(std::stod(parts[1]));
    cpu.idle.add(std::stod(parts[2]));
  }
  return cpu;
}

}  // namespace wattle::original_reader
