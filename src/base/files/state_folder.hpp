// Where programs keep what should outlive them, and whether other machines may use the file system
// there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace wattle {

/// Wattle's folder, which need not exist, in the one that `variable` names, or else in `in_home` of
/// the home folder. Throws `Error`, which calls it `what`, where there is neither. A program with
/// privileges of its own (setuid) has none. Threads: none that changes variables.
[[nodiscard]] std::filesystem::path own_folder(std::string_view what, const char* variable,
                                               const char* in_home);
/// "$XDG_STATE_HOME/wattle", or in ~/.local/state.
[[nodiscard]] std::filesystem::path state_folder();

/// The name of this machine as it was when the program first asked, printable; empty where it has
/// none.
[[nodiscard]] std::string this_host();
/// The file in which something is kept of a machine: homes may be shared by machines.
/// "$XDG_STATE_HOME/wattle/WHAT/HOST.json". Throws as `state_folder`.
[[nodiscard]] std::string host_state_file(std::string_view what, std::string_view host);
/// Makes the folder of `path`. Throws `WriteError`.
void make_folder_of(const std::string& path);
/// Writes the whole file (`WholeFile`), in a folder that need not exist. Throws `WriteError`.
void put_in_state_folder(const std::string& path, std::string_view content);

/// The path of a file that does not exist yet, in the folder `what` of Wattle's state folder, which
/// is made: "$XDG_STATE_HOME/wattle/usage/4711-1763690000123-0.jsonl". Throws `WriteError` where
/// the folder cannot be made, and as `state_folder`. Threads: any.
[[nodiscard]] std::filesystem::path new_state_file(std::string_view what,
                                                   std::string_view extension);

/// True for the kind (`f_type` of statfs) of a file system that other machines may use at the same
/// time: NFS, SMB, Lustre, GPFS ... Also for FUSE, which can be anything (sshfs).
[[nodiscard]] bool is_network_kind(std::uint32_t kind) noexcept;
/// The same of the file system of an existing file or folder; false where its kind is not known.
/// Threads: any.
[[nodiscard]] bool is_on_network(const std::filesystem::path& path) noexcept;

}  // namespace wattle
