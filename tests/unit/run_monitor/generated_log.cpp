#include "generated_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace wattle::test {
namespace {

/// The distributions of the standard library differ from one to another.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 0x1234567U) {}
  /// 0 to 1
  double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double log_between(double low, double high) {
    return low * std::exp(unit() * std::log(high / low));
  }
  std::size_t below(std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(unit() * static_cast<double>(count)));
  }
  bool chance(double probability) { return unit() < probability; }
  double normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += unit();
    return sum;
  }
  template <class T, std::size_t N>
  T one_of(const T (&values)[N]) {
    return values[below(N)];
  }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

/// A GPU and what it does.
struct Board {
  double total_mib = 81559;
  double used_mib = 1000;
  double other_used_mib = 1000;  ///< of its second job
  double idle_c = 40;
  double c_per_w = 0.08;
  double low_w = 100;
  double high_w = 300;
  int course = 0;  ///< steady, steps, any power in each row, waves
  double skew_ms = 3;
  double jitter_ms = 1;
  // of the moment
  double temperature = 40;
  double power_w = 100;
  double until_s = 0;
  bool is_high = false;
};

struct Row {
  double time_ms = 0;
  std::size_t gpu = 0;
  double power_w = 0;
  int temperature = 0;
  int used_mib = 0;
  int util = 0;
  bool is_torn = false;
};

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed) {}

  GeneratedLog write() {
    const std::size_t n = choose();
    kind_ = static_cast<Irregularity>(random_.below(kDrawnIrregularities));
    while (n == 1 && (kind_ == Irregularity::leaves || kind_ == Irregularity::comes_late ||
                      kind_ == Irregularity::leaves_and_returns)) {
      kind_ = static_cast<Irregularity>(random_.below(kDrawnIrregularities));
    }
    return log_of(n);
  }

  GeneratedLog write_swapped() {
    std::size_t n = choose();
    while (n == 1) n = choose();
    kind_ = Irregularity::two_swap;
    return log_of(n);
  }

 private:
  GeneratedLog log_of(std::size_t n) {
    GeneratedLog log;
    write_rows();
    log.may_be_mixed = kind_ == Irregularity::two_swap && are_alike_;
    log.kind = kind_;
    cut();
    const std::vector<Row> written = rows_;
    damage();
    log.gpus = truth_of(written);
    for (const Row& row : rows_) log.lines.push_back(line(row));
    if (torn_) log.lines.push_back(line(*torn_));
    log.description =
        fmt::format("{}, {} GPUs {}, period {} ms, {}, jitter {:.2f} ms, skew {:.1f} ms, {} rows",
                    kIrregularities[static_cast<std::size_t>(kind_)], n, likeness_text_, period_ms_,
                    is_absolute_ ? "absolute" : "relative", boards_[0].jitter_ms,
                    boards_[0].skew_ms, rows_.size());
    return log;
  }

  std::size_t choose() {
    const std::size_t n = random_.chance(0.5) ? 1 + random_.below(16)
                                              : random_.one_of<std::size_t>({1, 2, 2, 4, 4, 8, 8});
    period_ms_ = random_.one_of({100.0, 200.0, 500.0, 1000.0, 1000.0, 2000.0, 5000.0});
    is_absolute_ = random_.chance(0.5);
    boards_.resize(n);
    const std::size_t likeness = random_.one_of<std::size_t>({0, 1, 2, 3, 3});
    constexpr std::array<const char*, 4> kTexts = {"alike", "in warm and cool places",
                                                   "of two models", "with own jobs"};
    likeness_text_ = kTexts[likeness];
    const double skew_ms = random_.log_between(0.2, 12.0);
    const double jitter_ms = random_.log_between(0.1, 3.0);
    const double idle_c = random_.between(28, 50);
    const double used = std::floor(random_.between(500, 70000));
    const int course = static_cast<int>(random_.below(4));
    const bool is_one_job = random_.chance(0.5);
    double sum_ms = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Board& board = boards_[i];
      board.idle_c = idle_c + random_.between(0, 1);
      board.used_mib = used;
      board.other_used_mib = random_.chance(0.3) ? std::floor(used * random_.unit()) : used;
      if (likeness == 1) board.idle_c = idle_c + random_.between(0, 20);
      if (likeness == 2 && i % 2 == 1) board.total_mib = 23034;
      if (likeness == 2) board.idle_c = idle_c + random_.between(0, 6);
      if (likeness == 3) board.used_mib = std::floor(random_.between(500, 70000));
      if (likeness == 3) board.other_used_mib = board.used_mib;
      board.used_mib = std::min(board.used_mib, board.total_mib);
      board.other_used_mib = std::min(board.other_used_mib, board.total_mib);
      board.course = is_one_job ? course : static_cast<int>(random_.below(4));
      board.low_w = random_.between(30, 120);
      board.high_w = random_.between(150, 650);
      board.c_per_w = random_.between(0.04, 0.09);
      board.skew_ms = skew_ms * random_.between(0.5, 1.5);
      board.jitter_ms = jitter_ms * random_.between(0.7, 1.4);
      board.temperature = board.idle_c + board.c_per_w * board.low_w;
      sum_ms += board.skew_ms;
    }
    const double most_ms = period_ms_ * random_.between(0.3, 0.9);
    if (sum_ms > most_ms) {
      for (Board& board : boards_) board.skew_ms *= most_ms / sum_ms;
    }
    return n;
  }

  void step(Board& board, double now_s, double dt_s) {
    if (now_s >= board.until_s) {
      board.is_high = random_.chance(0.5);
      board.until_s = now_s + random_.between(5, 60);
    }
    switch (board.course) {
      case 0:
        board.power_w = board.high_w * 0.7;
        break;
      case 1:
        board.power_w = board.is_high ? board.high_w : board.low_w;
        break;
      case 2:
        board.power_w = random_.between(board.low_w, board.high_w);
        break;
      default:
        board.power_w = board.low_w + (board.high_w - board.low_w) *
                                          (0.5 + 0.5 * std::sin(now_s * 0.2 + board.low_w));
    }
    board.power_w *= 1.0 + 0.01 * random_.normal();
    const double steady = board.idle_c + board.c_per_w * board.power_w;
    board.temperature += (steady - board.temperature) * (1 - std::exp(-dt_s / 40.0));
  }

  void add_row(double time_ms, std::size_t gpu) {
    const Board& board = boards_[gpu];
    const bool is_busy = board.power_w > 0.5 * (board.low_w + board.high_w);
    rows_.push_back({.time_ms = std::floor(time_ms),
                     .gpu = gpu,
                     .power_w = std::round(board.power_w * 100) / 100,
                     .temperature = static_cast<int>(board.temperature),
                     .used_mib = static_cast<int>(is_busy ? board.used_mib : board.other_used_mib),
                     .util = is_busy ? 97 : 3});
  }

  void write_rows() {
    const std::size_t n = boards_.size();
    const auto fewest = static_cast<double>(std::max<std::size_t>(12, 60 / n));
    const double most = std::min(400.0, 2400.0 / static_cast<double>(n));
    const auto rounds = static_cast<std::size_t>(random_.log_between(std::min(fewest, most), most));
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<bool> is_there(n, true);
    const std::size_t changes_at = rounds / 5 + random_.below(rounds * 3 / 5 + 1);
    const std::size_t returns_at = changes_at + 1 + random_.below(rounds - changes_at);
    const std::size_t who = random_.below(n);
    const bool is_restart =
        kind_ == Irregularity::restart || kind_ == Irregularity::restart_in_other_order;
    if (kind_ == Irregularity::comes_late) is_there[who] = false;
    double start_ms = 0;
    double now_ms = 0;
    double last_s = 0;
    const std::size_t late_at = random_.below(n * rounds);
    for (std::size_t round = 0; round < rounds; ++round) {
      now_ms = start_ms;
      if (round == changes_at) {
        if (kind_ == Irregularity::leaves || kind_ == Irregularity::leaves_and_returns) {
          is_there[who] = false;
        }
        if (kind_ == Irregularity::comes_late) is_there[who] = true;
      }
      if (kind_ == Irregularity::leaves_and_returns && round == returns_at) is_there[who] = true;
      if (kind_ == Irregularity::two_swap && round == changes_at) swap_two(order, who);
      const bool ends_here = is_restart && round == changes_at;
      const std::size_t last_of_round = ends_here ? random_.below(n) : n;
      for (Board& board : boards_) step(board, now_ms * 1e-3, now_ms * 1e-3 - last_s);
      last_s = now_ms * 1e-3;
      for (std::size_t k = 0; k < n; ++k) {
        const std::size_t gpu = order[k];
        if (k >= last_of_round) break;
        const Board& board = boards_[gpu];
        double jitter = std::abs(board.jitter_ms * random_.normal());
        if (random_.chance(0.03)) jitter += board.jitter_ms * -5 * std::log(1 - random_.unit());
        if (is_there[gpu]) {
          const bool is_late = (kind_ == Irregularity::one_late && round * n + k == late_at) ||
                               (kind_ == Irregularity::percent_late && random_.chance(0.01));
          if (is_late) jitter += random_.between(20, std::min(400.0, 0.9 * period_ms_));
          now_ms += jitter;
          add_row(now_ms, gpu);
          now_ms += board.skew_ms;
        }
      }
      start_ms = is_absolute_ ? std::max(start_ms + period_ms_, now_ms) : now_ms + pause_ms();
      if (ends_here) {
        start_ms = now_ms + random_.log_between(1000, 300'000);
        if (kind_ == Irregularity::restart_in_other_order) {
          for (std::size_t i = n; i-- > 1;) std::swap(order[i], order[random_.below(i + 1)]);
        }
      }
    }
  }

  void swap_two(std::vector<std::size_t>& order, std::size_t place) {
    const std::size_t other = (place + 1 + random_.below(order.size() - 1)) % order.size();
    std::swap(order[place], order[other]);
    const Board& one = boards_[order[place]];
    const Board& two = boards_[order[other]];
    const double most_mib = std::max(one.used_mib, two.used_mib);
    const bool has_steady_memory =
        one.used_mib == one.other_used_mib && two.used_mib == two.other_used_mib;
    are_alike_ = one.total_mib == two.total_mib &&
                 !(has_steady_memory && std::abs(one.used_mib - two.used_mib) > 0.05 * most_mib);
  }

  [[nodiscard]] double pause_ms() const {
    double sum_ms = 0;
    for (const Board& board : boards_) sum_ms += board.skew_ms;
    return std::max(period_ms_ - sum_ms, 0.05 * period_ms_);
  }

  /// Of what was written, from the first to the last row of each GPU that the file still has.
  [[nodiscard]] std::vector<GeneratedLog::Gpu> truth_of(const std::vector<Row>& written) const {
    std::vector<GeneratedLog::Gpu> gpus(boards_.size());
    std::vector<std::optional<Row>> last(boards_.size());
    std::vector<std::pair<double, double>> there_ms(boards_.size(), {1e18, -1.0});
    for (const Row& row : rows_) {
      auto& [first_ms, last_ms] = there_ms[row.gpu];
      first_ms = std::min(first_ms, row.time_ms);
      last_ms = std::max(last_ms, row.time_ms);
    }
    for (const Row& row : written) {
      const auto& [first_ms, last_ms] = there_ms[row.gpu];
      if (row.time_ms < first_ms || row.time_ms > last_ms) continue;
      GeneratedLog::Gpu& gpu = gpus[row.gpu];
      gpu.most_w = std::max(gpu.most_w, row.power_w);
      if (const auto& before = last[row.gpu]; before) {
        const double gap_ms = row.time_ms - before->time_ms;
        if (gap_ms < 10 * period_ms_) gpu.energy_j += before->power_w * gap_ms * 1e-3;
        if (gap_ms > 2 * period_ms_ + 500 && gap_ms < 25 * period_ms_) {
          gpu.doubt_j += before->power_w * gap_ms * 1e-3;
        }
      }
      last[row.gpu] = row;
    }
    return gpus;
  }

  /// What was never written is not in the truth either.
  void cut() {
    const std::size_t n = boards_.size();
    if (kind_ == Irregularity::any_first_row) {
      rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(random_.below(n)));
    }
    if (kind_ != Irregularity::cut_at_end) return;
    rows_.resize(rows_.size() - random_.below(n));
    if (!random_.chance(0.5)) return;
    torn_ = rows_.back();
    torn_->is_torn = true;
    rows_.pop_back();
  }

  void damage() {
    const std::size_t at = 1 + random_.below(rows_.size() - 2);
    const auto it = rows_.begin() + static_cast<std::ptrdiff_t>(at);
    switch (kind_) {
      case Irregularity::one_missing:
        rows_.erase(it);
        break;
      case Irregularity::one_doubled:
        rows_.insert(it, *it);
        break;
      case Irregularity::one_torn:
        it->is_torn = true;
        break;
      case Irregularity::percent_missing:
        std::erase_if(rows_, [&](const Row&) { return random_.chance(0.01); });
        break;
      default:
        break;
    }
  }

  std::string line(const Row& row) {
    const auto ms = static_cast<std::int64_t>(row.time_ms) + 3'600'000;
    const Board& board = boards_[row.gpu];
    std::string text =
        fmt::format("2026/03/02 {:02}:{:02}:{:02}.{:03}, {}, 5, {}, {:.0f}, {:.2f}, {}, 1410, 1593",
                    ms / 3'600'000, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000, row.util,
                    row.used_mib, board.total_mib, row.power_w, row.temperature);
    if (row.is_torn) text.resize(1 + random_.below(text.size() - 12));
    return text;
  }

  Random random_;
  Irregularity kind_{};
  double period_ms_ = 1000;
  bool is_absolute_ = true;
  const char* likeness_text_ = "";
  bool are_alike_ = false;  ///< two that change places
  std::vector<Board> boards_;
  std::vector<Row> rows_;
  std::optional<Row> torn_;  ///< after the last one
};

}  // namespace

GeneratedLog generated_log(std::uint64_t seed) { return Writer(seed).write(); }

GeneratedLog swapped_log(std::uint64_t seed) { return Writer(seed).write_swapped(); }

}  // namespace wattle::test
