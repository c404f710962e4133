#include "energy/handlers/csv_handler.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/files/appended_file.hpp"
#include "base/text/piece.hpp"
#include "base/text/python_repr.hpp"
#include "base/text/split.hpp"
#include "base/text/text.hpp"
#include "energy/handlers/handler.hpp"
#include "wattle/error.hpp"
#include "wattle/handlers.hpp"

namespace wattle {
namespace {

bool ends_cell(char c) noexcept { return c == ';' || c == '\n' || c == '\r'; }

void require_header(const AppendedFile& file, const std::string& path, const std::string& header) {
  const std::string beginning = file.read(0, std::max(header.size() + 1, kPieceBytes));
  if (begins_with_header(beginning, header)) return;
  std::string_view rest = beginning;
  throw FormatError(path, std::string(take_line(rest)), header);
}

bool ends_inside_quotes(const AppendedFile& file) {
  QuotedCells cells;
  for (std::uint64_t offset = 0; offset < file.size_before(); offset += kPieceBytes) {
    cells.read(file.read(offset, kPieceBytes));
  }
  return cells.is_open();
}

/// Ends the last line, where a crash or a full disk cut it off: it stays, and damages no other.
void end_last_line(AppendedFile& file) {
  // Whatever the last byte is: within quotes a line end ends no line.
  if (ends_inside_quotes(file)) {
    file.write("\"\n");
  } else if (file.read(file.size_before() - 1, 1) != "\n") {
    file.write("\n");
  }
}

void append_rows(const std::string& path, const std::list<EnergyTrace>& traces,
                 SampleDetails details) {
  const DomainNames& domains = traces.front()[0].domains();
  for (const EnergyTrace& trace : traces) require_same_domains(domains, trace);
  const std::string header = csv_header(*domains, details);
  AppendedFile file(path);
  if (file.size_before() == 0) {
    file.write(header + '\n');
  } else {
    require_header(file, path, header);
    end_last_line(file);
  }
  std::string row;
  for (const EnergyTrace& trace : traces) {
    for (const EnergySample& sample : trace) {
      row.clear();
      append_csv_row(row, sample, details);
      file.write(row);
    }
  }
  file.commit();
}

}  // namespace

void append_csv_cell(std::string& out, std::string_view text) { out += csv_cell(text, ';'); }

std::string csv_header(const std::vector<std::string>& domains, SampleDetails details) {
  std::string header = "timestamp;tag;duration";
  if (domains.empty()) header += ';';
  for (const std::string& domain : domains) {
    header += ';';
    append_csv_cell(header, domain);
    if (!details.details) continue;
    for (const char* what : {"_uncertainty", "_unknown_s", "_flags"}) {
      header += ';';
      append_csv_cell(header, domain + what);
    }
  }
  return header;
}

void append_csv_row(std::string& out, const EnergySample& sample, SampleDetails details) {
  append_python_repr(out, sample.timestamp_unix_s());
  out += ';';
  append_csv_cell(out, sample.tag());
  out += ';';
  append_python_repr(out, sample.duration().count());
  if (sample.energies().empty()) out += ';';
  for (std::size_t i = 0; i < sample.energies().size(); ++i) {
    out += ';';
    append_micro_joules(out, micro_joules(sample, i, details), "");
    if (!details.details) continue;
    out += ';';
    append_sample_details(out, sample.energies()[i], ";");
  }
  out += '\n';
}

bool begins_with_header(std::string_view beginning, std::string_view header) noexcept {
  if (!beginning.starts_with(header)) return false;
  return beginning.size() == header.size() || beginning[header.size()] == '\n';
}

void QuotedCells::read(std::string_view piece) noexcept {
  if (piece.empty()) return;
  for (std::size_t at = piece.find('"'); at != std::string_view::npos;
       at = piece.find('"', at + 1)) {
    const char before = at == 0 ? last_ : piece[at - 1];
    const bool opens = ends_cell(before) || (before == '"' && last_quote_closed_);
    last_quote_closed_ = open_;
    open_ = !open_ && opens;
  }
  last_ = piece.back();
}

struct CsvHandler::State {
  std::string path;
  SampleDetails details;
  std::mutex saving;
  Unsaved<EnergyTrace> unsaved;  ///< none of them empty
};

CsvHandler::CsvHandler(std::filesystem::path path, SampleDetails details)
    : state_(std::make_unique<State>()) {
  state_->path = std::move(path).string();
  state_->details = details;
}

CsvHandler::~CsvHandler() {
  std::size_t samples = 0;
  for (const EnergyTrace& trace : state_->unsaved.at_end()) samples += trace.size();
  if (samples > 0) log_unsaved(samples, "samples", state_->path);
}

void CsvHandler::process(const EnergyTrace& trace) {
  if (!trace.empty()) state_->unsaved.add([&trace] { return trace; });
}

void CsvHandler::save_data() {
  const std::lock_guard lock(state_->saving);
  Unsaved<EnergyTrace>::Batch batch(state_->unsaved);
  if (batch.items().empty()) {
    throw NoSampleProcessed("cannot save to " + state_->path +
                            ": the handler was given no sample since it was last saved");
  }
  append_rows(state_->path, batch.items(), state_->details);
  if (!state_->details.details) {
    for (const EnergyTrace& trace : batch.items()) warn_of_lower_bounds(trace, state_->path);
  }
  batch.items().clear();
}

}  // namespace wattle
