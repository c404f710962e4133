#include "energy/mongodb/document.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/text.hpp"
#include "energy/handlers/handler.hpp"

namespace wattle::mongodb {
namespace {

/// No length: up to the NUL at the end of a literal.
constexpr int kWhole = -1;

int length_of(std::string_view text) noexcept { return static_cast<int>(text.size()); }

struct AppendEnergy {
  bson_t* out;
  std::string_view key;
  void operator()(std::monostate) const { ::bson_append_null(out, key.data(), length_of(key)); }
  void operator()(double value) const {
    ::bson_append_double(out, key.data(), length_of(key), value);
  }
  void operator()(std::int64_t value) const {
    ::bson_append_int64(out, key.data(), length_of(key), value);
  }
};

void append_text(bson_t* out, const char* key, std::string_view text) {
  const std::string valid = valid_utf8(text);
  ::bson_append_utf8(out, key, kWhole, valid.data(), length_of(valid));
}

/// Keys end at a NUL.
std::string key_of(std::string_view domain) {
  std::string key = valid_utf8(domain);
  std::ranges::replace(key, '\0', '?');
  return key;
}

void append_energies(bson_t* out, const EnergySample& sample, SampleDetails details) {
  bson_t energies;
  ::bson_append_document_begin(out, "energy", kWhole, &energies);
  for (std::size_t i = 0; i < sample.energies().size(); ++i) {
    const std::string key = key_of((*sample.domains())[i]);
    std::visit(AppendEnergy{&energies, key}, micro_joules(sample, i, details));
  }
  ::bson_append_document_end(out, &energies);
}

void append_flags(bson_t* out, const Flags& flags) {
  bson_t names;
  ::bson_append_array_begin(out, "flags", kWhole, &names);
  std::uint32_t index = 0;
  flags.each([&](std::string_view name) {
    const std::string key = std::to_string(index++);
    ::bson_append_utf8(&names, key.data(), length_of(key), name.data(), length_of(name));
  });
  ::bson_append_array_end(out, &names);
}

void append_details(bson_t* out, const EnergySample& sample) {
  bson_t all;
  ::bson_append_document_begin(out, "details", kWhole, &all);
  for (std::size_t i = 0; i < sample.energies().size(); ++i) {
    const MeasuredEnergy& energy = sample.energies()[i];
    const std::string domain = key_of((*sample.domains())[i]);
    bson_t fields;
    ::bson_append_document_begin(&all, domain.data(), length_of(domain), &fields);
    std::visit(AppendEnergy{&fields, "uncertainty"}, uncertainty_micro_joules(energy));
    ::bson_append_double(&fields, "unknown_s", kWhole, energy.unknown.count());
    append_flags(&fields, energy.flags);
    ::bson_append_document_end(&all, &fields);
  }
  ::bson_append_document_end(out, &all);
}

void append_sample(bson_t* out, std::uint32_t index, const EnergySample& sample,
                   SampleDetails details) {
  std::array<char, 16> room;
  const char* key = nullptr;
  const std::size_t key_size = ::bson_uint32_to_string(index, &key, room.data(), room.size());
  bson_t fields;
  ::bson_append_document_begin(out, key, static_cast<int>(key_size), &fields);
  ::bson_append_double(&fields, "timestamp", kWhole, sample.timestamp_unix_s());
  append_text(&fields, "tag", sample.tag());
  ::bson_append_double(&fields, "duration", kWhole, sample.duration().count());
  append_energies(&fields, sample, details);
  if (details.details) append_details(&fields, sample);
  ::bson_append_document_end(out, &fields);
}

/// Bytes that a sample has at least. Texts of gigabytes must not come near libbson, whose sizes are
/// 32 bits wide.
std::size_t least_bytes(const EnergySample& sample) noexcept {
  std::size_t bytes = sample.tag().size();
  for (const std::string& domain : *sample.domains()) bytes += domain.size();
  return bytes;
}

}  // namespace

std::optional<Bson> make_document(const bson_oid_t& id, const std::string& name,
                                  const EnergyTrace& trace, SampleDetails details) {
  if (name.size() > kMaxDocumentBytes) return std::nullopt;
  Bson document;
  ::bson_append_oid(document.get(), "_id", kWhole, &id);
  append_text(document.get(), "name", name);
  bson_t samples;
  ::bson_append_array_begin(document.get(), "trace", kWhole, &samples);
  std::uint32_t index = 0;
  bool fits = true;
  for (const EnergySample& sample : trace) {
    fits = least_bytes(sample) <= kMaxDocumentBytes;
    if (fits) append_sample(&samples, index++, sample, details);
    fits = fits && samples.len <= kMaxDocumentBytes;
    if (!fits) break;
  }
  ::bson_append_array_end(document.get(), &samples);
  if (!fits || document.get()->len > kMaxDocumentBytes) return std::nullopt;
  return document;
}

}  // namespace wattle::mongodb
