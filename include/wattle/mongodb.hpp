// Traces into MongoDB: its own component, `wattle::mongodb`.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {

/// The database could not be used; `cause` is the reason. Threads: a value type.
class WATTLE_EXPORT DatabaseError : public Error {
 public:
  enum class Cause {
    bad_uri,      ///< the URI cannot be understood
    unreachable,  ///< its name is unknown, no server answered in time, or it hung up
    server,       ///< the server refused: authentication, rights, a full disk ...
  };
  DatabaseError(Cause cause, const std::string& message);
  ~DatabaseError() override;
  [[nodiscard]] Cause cause() const noexcept { return cause_; }

 private:
  Cause cause_;
};

/// Where traces go. `database` and `collection` must be set. Threads: a value type.
struct MongoOptions {
  std::string uri = "mongodb://localhost:27017";
  std::string database;
  std::string collection;
  /// How long it tries to reach a server, the first time and after the server hung up. It retries,
  /// since the server may be about to start. What else the URI asks for holds.
  std::chrono::milliseconds connect_timeout{30'000};
  /// A trace's document is named so, and its number.
  std::string trace_name_prefix = "trace_";
  /// With details each sample has, beside "energy", its uncertainty and flags:
  ///
  ///   "details": {"package_0": {"uncertainty": 61.0, "unknown_s": 0.5, "flags": ["reset"]}}
  SampleDetails details{};
};

/// Keeps traces until they are saved, one document each:
///
///   {"name": "trace_0", "trace": [{"timestamp": 1669000000.1, "tag": "a", "duration": 0.5,
///                                  "energy": {"package_0": 123456.0, "nvidia_gpu_0": 4000}}]}
///
/// and an `_id`. Numbers count from 0 for each handler. An unknown energy is null, and so is,
/// without details, a lower bound (`EnergySample::is_complete`), which is reported to the log.
/// Bytes of a tag that are not UTF-8 are replaced by U+FFFD. A document holds 16 MiB: a trace of
/// about 100,000 samples of two domains, 50,000 with details. If it is destroyed with unsaved
/// traces, it logs that (`set_log`).
///
/// libmongoc's warnings go to the log as well. A program that wants them elsewhere calls
/// `mongoc_log_set_handler` after it made the first MongoHandler. After `fork` the child needs a
/// handler of its own. Threads: any; `process` does not wait for a `save_data`.
class WATTLE_EXPORT MongoHandler final : public EnergyHandler {
 public:
  /// Connects. Throws `DatabaseError`; `InvalidArgument` for an empty database or collection, and
  /// a timeout that is not above 0.
  explicit MongoHandler(MongoOptions options);
  ~MongoHandler() override;
  void process(const EnergyTrace& trace) override;
  /// Inserts a document for each trace, and forgets those. Throws `NoSampleProcessed` if there is
  /// no trace; `DatabaseError` if not all could be inserted. The others stay, and can be saved
  /// again under the same names. None is inserted twice, even where the server hung up before it
  /// answered. A document that the server refuses does not keep others from being inserted.
  void save_data();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wattle
