// Who uses the machine: rows of groups of processes whose shares add up to 100 %.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/energy_share.hpp"
#include "top/observation.hpp"
#include "top/top_key.hpp"

namespace wattle::app {

/// The name of the group of a control group: its path, container or pod; "no container", "no pod"
/// where the path names none.
[[nodiscard]] std::string name_in_cgroup(const std::string& cgroup, TopKey key);

/// The total that the shares are parts of. Only a measured power is measured; its division never
/// is.
enum class ShareOf : std::uint8_t { power, estimate, cpu_time };

struct GroupRow {
  enum class RowKind : std::uint8_t {
    group,
    idle,       ///< what the idle machine draws
    rest,       ///< interrupts, and processes that ended
    undivided,  ///< power whose users are not known
    hidden,     ///< rows for which a table has no room, together
  };
  RowKind kind = RowKind::group;
  std::string name{};
  std::size_t processes = 0;
  pid_t pid = 0;                ///< of rows for one process
  std::size_t depth = 0;        ///< in a tree of processes
  Seconds cpu{0};               ///< CPU time in the period, where it is known
  std::size_t unknown_cpu = 0;  ///< processes whose CPU time is not known
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<double> gpu_percent{};  ///< of GPUs: 200 is two of them all the time
  std::optional<std::uint64_t> gpu_memory_bytes{};
  std::optional<EnergyRange> energy{};  ///< its part of the energy of the period; not measured
  std::optional<double> share{};        ///< percent; absent where it is not known
};

/// The row of the CPU time that no process has: of interrupts, and of processes that ended.
[[nodiscard]] inline GroupRow no_rest() {
  return {.kind = GroupRow::RowKind::rest, .name = "interrupts, and processes that ended"};
}

struct GroupTable {
  ShareOf share_of = ShareOf::cpu_time;
  std::vector<GroupRow> groups{};
  std::vector<GroupRow> others{};  ///< rows of other kinds
  std::optional<Seconds> length{};
  std::vector<std::string> notes{};  ///< power that no row shows, and why it is not divided
};

/// The shares that are known add up to 100, if there are any. For `TopKey::process` a row for each
/// process. Energy is divided as docs/estimates.md describes: above the idle power by CPU time; a
/// GPU's goes to who uses it. What cannot be divided has a row for each reason.
[[nodiscard]] GroupTable group_rows(const TopObservation& seen, TopKey key);

/// The energy of CPUs and their memory in a window: what is above idle is divided by CPU time.
struct DividedCpus {
  Seconds wall{0};
  Joules measured{0};
  IdleRange idle{};
  Seconds cpu{0};  ///< CPU time of everything
};
[[nodiscard]] Joules idle_part(const DividedCpus& cpus);
/// The energy of a part of the CPU time. All parts and `idle_part` add up to what was measured.
[[nodiscard]] EnergyRange part_of(const DividedCpus& cpus, Seconds cpu);

/// Several rows as one of this kind.
[[nodiscard]] GroupRow sum_of(const std::vector<const GroupRow*>& rows, GroupRow::RowKind kind,
                              std::string name);

/// Puts the rows of processes into the order of a tree, each after its parent; siblings stay in
/// their order. Parents that are not there, and circles, end at the root.
void order_as_tree(std::vector<GroupRow>& rows, const std::vector<TopProcess>& processes);

/// Rounds the shares that are known to one decimal, so that they add up to their sum as printed.
void round_shares(std::vector<GroupRow>& rows);

}  // namespace wattle::app
