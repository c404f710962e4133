// Where files lie.
#pragma once

#include <cstdint>
#include <filesystem>

namespace wattle {

/// True for the kind (`f_type` of statfs) of a file system that other machines may use at the same
/// time: NFS, SMB, Lustre, GPFS ... Also for FUSE, which can be anything (sshfs).
[[nodiscard]] bool is_network_kind(std::uint32_t kind) noexcept;
/// The same of the file system of an existing file or folder; false where its kind is not known.
/// Threads: any.
[[nodiscard]] bool is_on_network(const std::filesystem::path& path) noexcept;

}  // namespace wattle
