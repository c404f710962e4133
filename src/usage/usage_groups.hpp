// The groups of resource usage that are about the machine and the processes.
#pragma once

#include "usage/machine.hpp"
#include "usage/tree/tree_reader.hpp"
#include "wattle/tracker.hpp"

namespace wattle {

/// The use of the whole machine, in the units in `usage`.
void fill_machine(ResourceUsage& usage, const MachineUsage& machine);
/// Wattle's own figures of a tree, and where figures come from.
void fill_tree(ResourceUsage& usage, const TreeReader& tree);
/// Input and output of a tree, and why they are unknown where they are.
void fill_io(ResourceUsage& usage, const TreeReader& tree);
/// `mechanisms` of the groups alone.
void fill_mechanisms(ResourceUsage& usage, const TreeReader& tree);

}  // namespace wattle
