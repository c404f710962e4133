#include "energy/handlers/csv_text.hpp"

#include "base/text/python_repr.hpp"
#include "base/text/text.hpp"
#include "energy/handlers/handler.hpp"

namespace wattle {
namespace {

bool ends_cell(char c) noexcept { return c == ';' || c == '\n' || c == '\r'; }

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

}  // namespace wattle
