// The system calls of the perf provider as a table, so that tests run without a PMU.
#pragma once

#include <sys/types.h>

#include <cstddef>

// Defined in <linux/perf_event.h>.
struct perf_event_attr;

namespace wattle::perf {

/// Each function answers as the kernel does: -1 with `errno` set where it fails.
struct SystemCalls {
  /// An event that counts everything on one CPU, close-on-exec; joins the group that the event
  /// `group` leads, or leads one of its own where that is -1. Gives a descriptor, to be closed.
  int (*open_event)(const perf_event_attr& event, int cpu, int group) noexcept;
  ssize_t (*read)(int fd, void* buffer, std::size_t bytes) noexcept;
};

/// The machine's own.
[[nodiscard]] const SystemCalls& kernel_calls() noexcept;

}  // namespace wattle::perf
