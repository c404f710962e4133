// The screens of `wattle top` after every key and at every size, compared with those of a file.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "base/files/file.hpp"
#include "command.hpp"

namespace wattle::integration {

/// A terminal of any kind.
struct ScreenedTerminal {
  std::function<std::string(std::size_t columns, std::size_t lines)> shown;
  std::function<void(const std::string& keys)> type;
  std::function<void(unsigned short columns, unsigned short lines)> resize;
};

/// Threads: one at a time.
class Screens {
 public:
  enum class Golden : std::uint8_t { is_read_only, may_be_written };

  /// With `may_be_written` UPDATE_GOLDEN writes the file again.
  Screens(ScreenedTerminal terminal, Golden golden)
      : terminal_(std::move(terminal)),
        is_updating_(golden == Golden::may_be_written && std::getenv("UPDATE_GOLDEN") != nullptr),
        expected_(read_file(path()).value_or("")) {}
  ~Screens() {
    if (is_updating_) std::ofstream(path()) << all_;
  }
  Screens(const Screens&) = delete;
  Screens& operator=(const Screens&) = delete;

  /// Types every key, at 80x24, and shows five more sizes.
  void play() {
    expect("start", 80, 24);
    int number = 0;
    for (const char* const keys : kKeys) {
      terminal_.type(keys);
      std::string name;
      for (const char* c = keys; *c != '\0'; ++c) {
        name += *c < ' ' || *c == '\x7f' ? fmt::format("\\x{:02x}", static_cast<unsigned>(*c))
                                         : std::string(1, *c);
      }
      expect(fmt::format("{}: {}", ++number, name), 80, 24);
    }
    for (const auto& [columns, lines] : kSizes) resize_to(columns, lines);
  }
  void resize_to(unsigned short columns, unsigned short lines) {
    terminal_.resize(columns, lines);
    expect(fmt::format("{}x{}", columns, lines), columns, lines);
  }

 private:
  static constexpr std::array<const char*, 46> kKeys = {"s",
                                                        "s",
                                                        "s",
                                                        "s",
                                                        "s",
                                                        "o",
                                                        "o",
                                                        "g",
                                                        "g",
                                                        "g",
                                                        "g",
                                                        "g",
                                                        "g",
                                                        "t",
                                                        "j",
                                                        "k",
                                                        "\x1b[6~",
                                                        "\x1b[5~",
                                                        "\x1b[F",
                                                        "\x1b[H",
                                                        "\x1b[B",
                                                        "\x1b[A",
                                                        "t",
                                                        "/",
                                                        "g",
                                                        "c",
                                                        "c",
                                                        "\x7f",
                                                        "\r",
                                                        "/",
                                                        "x",
                                                        "\x1b",
                                                        "u",
                                                        "u",
                                                        "u",
                                                        "u",
                                                        "p",
                                                        " ",
                                                        "?",
                                                        "h",
                                                        "<",
                                                        ">",
                                                        "\x0c",
                                                        "\x1b[<0;4;11M",
                                                        "\x1b[<65;4;11M",
                                                        "r"};
  static constexpr std::array<std::pair<unsigned short, unsigned short>, 4> kSizes = {
      {{40, 10}, {120, 40}, {200, 50}, {400, 100}}};

  /// Waits until the screen is as in the file.
  void expect(const std::string& title, std::size_t columns, std::size_t lines) {
    const std::string head = fmt::format("== {}\n", title);
    std::string wanted = expected_.substr(std::min(expected_.find(head), expected_.size()));
    if (const auto next = wanted.find("\n== "); next != std::string::npos) wanted.resize(next + 1);
    std::string shown;
    int same = 0;
    constexpr int kSettled = 300;
    const bool is_as_expected = eventually([&] {
      const std::string before = std::exchange(shown, head + terminal_.shown(columns, lines));
      same = before == shown ? same + 1 : 0;
      return is_updating_ ? same > kSettled : shown == wanted;
    });
    EXPECT_TRUE(is_as_expected) << "shown:\n" << shown << "expected:\n" << wanted;
    all_ += shown;
  }
  static std::string path() { return std::string(WATTLE_FIXTURES) + "/golden/top/keys.txt"; }

  ScreenedTerminal terminal_;
  bool is_updating_;
  std::string expected_;
  std::string all_;
};

}  // namespace wattle::integration
