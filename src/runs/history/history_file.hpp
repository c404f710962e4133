// The file of a history: whose it is, and its tables.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace wattle {

/// Marks an SQLite file as a history of Wattle (PRAGMA application_id): "Wttl".
inline constexpr int kHistoryMark = 0x5774746c;

/// SQL that makes the tables of each version from those of the version before; the first makes the
/// first ones. A released one never changes.
inline constexpr std::array<std::string_view, 5> kHistoryVersions = {
    R"(
CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE commands (id INTEGER PRIMARY KEY, line TEXT NOT NULL UNIQUE);
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  id INTEGER NOT NULL UNIQUE,
  started REAL NOT NULL,
  wall REAL NOT NULL,
  command INTEGER NOT NULL REFERENCES commands,
  host INTEGER NOT NULL REFERENCES hosts,
  exit_code INTEGER,
  signal INTEGER,
  energy REAL,
  uncertainty REAL,
  cpu REAL,
  memory INTEGER,
  git_commit TEXT,
  git_dirty INTEGER);
CREATE INDEX runs_by_start ON runs (started);
CREATE INDEX runs_by_command ON runs (command, started);
CREATE TABLE tags (
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  run INTEGER NOT NULL REFERENCES runs,
  PRIMARY KEY (key, value, run)) WITHOUT ROWID;
CREATE INDEX tags_by_run ON tags (run);
CREATE TABLE dictionaries (
  id INTEGER PRIMARY KEY,
  host INTEGER NOT NULL REFERENCES hosts,
  version TEXT NOT NULL,
  bytes BLOB NOT NULL,
  UNIQUE (host, version));
CREATE TABLE records (
  run INTEGER PRIMARY KEY REFERENCES runs,
  dictionary INTEGER REFERENCES dictionaries,
  record BLOB NOT NULL,
  directory TEXT,
  worktree TEXT,
  git_branch TEXT,
  git_unknown TEXT,
  series BLOB);
)",
    // A list of one host's runs need not read every run.
    R"(
DROP INDEX runs_by_start;
CREATE INDEX runs_by_start ON runs (started, host);
)",
    // Whether the energy is a lower bound; of runs that are there already it is found in their
    // records.
    R"(
ALTER TABLE runs ADD COLUMN lower_bound INTEGER;
)",
    // A hash of what a list shows of the run: a damaged row is noticed.
    R"(
ALTER TABLE runs ADD COLUMN seal INTEGER;
)",
    // The same of what is shown of a run beside its record and its row, and of its power over time.
    R"(
ALTER TABLE records ADD COLUMN seal INTEGER;
ALTER TABLE records ADD COLUMN series_seal INTEGER;
ALTER TABLE runs ADD COLUMN flags INTEGER;
)"};

/// The kind of a file, by its first bytes. The file is only read.
enum class HistoryFileKind : std::uint8_t { missing, empty, history, foreign };
/// Throws `Error` if it is there and cannot be read.
[[nodiscard]] HistoryFileKind kind_of_history_file(const std::filesystem::path& path);

/// Why this user's records must not go there: somebody else owns the file or folder, or may write
/// to it. A record holds command lines, which may hold secrets. Empty: they may; also where it does
/// not exist.
[[nodiscard]] std::string why_not_own(const std::filesystem::path& path);
/// The same of a history, with the files that SQLite keeps beside it, which hold records too. In a
/// folder where others may rename files, nobody knows whose those are.
[[nodiscard]] std::string why_not_own_history(const std::filesystem::path& path);

/// The folder of `path`, or the nearest folder above it that exists.
[[nodiscard]] std::filesystem::path nearest_folder(const std::filesystem::path& path);
/// False if that folder lies on a file system that other machines may use at the same time
/// (NFS, SMB, Lustre, GPFS ...). There SQLite's log (WAL), which needs shared memory, is not safe.
[[nodiscard]] bool is_on_this_machine(const std::filesystem::path& path);

}  // namespace wattle
