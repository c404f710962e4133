#include <cerrno>
#include <cstdio>
#include <ios>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>

#include "base/text/piece.hpp"
#include "base/text/python_repr.hpp"
#include "base/text/text.hpp"
#include "energy/handlers/handler.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

/// Whole, however long it is: a reader could not see that a part is missing.
void append_name(std::string& out, std::string_view name) { out += printable(name, name.size()); }

/// " (+- 61.0, unknown 0.5 s, reset)"
void append_details(std::string& out, const MeasuredEnergy& energy) {
  out += " (";
  if (energy.energy) {
    out += "+- ";
    append_micro_joules(out, uncertainty_micro_joules(energy), "");
    out += ", ";
  }
  out += "unknown ";
  append_python_repr(out, energy.unknown.count());
  out += " s";
  energy.flags.each([&](std::string_view name) {
    out += ", ";
    out += name;
  });
  out += ')';
}

void append_line(std::string& out, const EnergySample& sample, SampleDetails details) {
  out += "begin timestamp : ";
  append_python_repr(out, sample.timestamp_unix_s());
  out += "; tag : ";
  append_name(out, sample.tag());
  out += "; duration : ";
  append_python_repr(out, sample.duration().count());
  for (std::size_t i = 0; i < sample.energies().size(); ++i) {
    const std::string& domain = (*sample.domains())[i];
    out += "; ";
    append_name(out, domain);
    out += " : ";
    append_micro_joules(out, micro_joules(sample, i, details), "None");
    if (details.details) append_details(out, sample.energies()[i]);
  }
  out += '\n';
}

/// While it lives, no other thread writes to the C stream.
class StreamLock {
 public:
  explicit StreamLock(std::FILE* stream) noexcept : stream_(stream) { ::flockfile(stream_); }
  ~StreamLock() { ::funlockfile(stream_); }
  StreamLock(const StreamLock&) = delete;
  StreamLock& operator=(const StreamLock&) = delete;

 private:
  std::FILE* stream_;
};

/// Calls `write(piece)` with the lines of a trace, piece by piece.
template <class Write>
void write_lines(const EnergyTrace& trace, SampleDetails details, Write write) {
  std::string piece;
  for (const EnergySample& sample : trace) {
    append_line(piece, sample, details);
    if (piece.size() < kPieceBytes) continue;
    write(piece);
    piece.clear();
  }
  if (!piece.empty()) write(piece);
}

[[noreturn]] void fail(int error_number) { throw WriteError("standard output", error_number); }

/// Through the C library's stream, which std::cout shares by default: so the lines are in order
/// with the program's own, and <iostream> need not be initialized.
void print_to_standard_output(const EnergyTrace& trace, SampleDetails details) {
  const StreamLock lock(stdout);
  write_lines(trace, details, [](const std::string& piece) {
    if (std::fwrite(piece.data(), 1, piece.size(), stdout) != piece.size()) fail(errno);
  });
  // A full disk shows here at the latest.
  if (std::fflush(stdout) != 0) fail(errno);
}

void print_to(std::ostream& out, const EnergyTrace& trace, SampleDetails details) {
  // A stream does not report why it failed. It may be set to throw its own exception.
  const auto fail = [] { throw WriteError("the stream", EIO); };
  try {
    write_lines(trace, details, [&out](const std::string& piece) {
      out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    });
    out.flush();
  } catch (const std::ios_base::failure&) {
    fail();
  }
  if (!out) fail();
}

}  // namespace

struct PrintHandler::State {
  std::ostream* out = nullptr;  ///< null: standard output
  SampleDetails details;
  std::mutex mutex;
};

PrintHandler::PrintHandler(SampleDetails details) : state_(std::make_unique<State>()) {
  state_->details = details;
}

PrintHandler::PrintHandler(std::ostream& out, SampleDetails details) : PrintHandler(details) {
  state_->out = &out;
}

PrintHandler::~PrintHandler() = default;

void PrintHandler::process(const EnergyTrace& trace) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->out == nullptr) {
      print_to_standard_output(trace, state_->details);
    } else {
      print_to(*state_->out, trace, state_->details);
    }
  }
  if (state_->details.details) return;
  warn_of_lower_bounds(trace, state_->out == nullptr ? "standard output" : "the stream");
}

}  // namespace wattle
