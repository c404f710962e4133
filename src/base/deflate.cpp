#include "base/deflate.hpp"

#include <zlib.h>

#include <algorithm>

#include "base/dynlib.hpp"
#include "wattle/error.hpp"

namespace wattle {
namespace {

/// The functions of the library that are used.
struct Zlib {
  DynamicLibrary library = DynamicLibrary::open("libz.so.1");
  decltype(&::deflateInit2_) deflate_init = library.find("deflateInit2_");
  decltype(&::deflateSetDictionary) deflate_dictionary = library.find("deflateSetDictionary");
  decltype(&::deflateBound) bound = library.find("deflateBound");
  decltype(&::deflate) deflate = library.find("deflate");
  decltype(&::deflateEnd) deflate_end = library.find("deflateEnd");
  decltype(&::inflateInit2_) inflate_init = library.find("inflateInit2_");
  decltype(&::inflateSetDictionary) inflate_dictionary = library.find("inflateSetDictionary");
  decltype(&::inflate) inflate = library.find("inflate");
  decltype(&::inflateEnd) inflate_end = library.find("inflateEnd");
};

/// Null if it cannot be loaded.
const Zlib* zlib() {
  static const Zlib library;
  return library.library.has_all() ? &library : nullptr;
}

constexpr int kRawDeflate = -15;  ///< no header, the largest window
constexpr int kStreamBytes = static_cast<int>(sizeof(z_stream));

// zlib takes its input as pointers to mutable bytes, but does not change them.
Bytef* zlib_bytes(std::string_view text) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast,cppcoreguidelines-pro-type-const-cast)
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
}

}  // namespace

std::optional<std::string> compress(std::string_view text, std::string_view dictionary) {
  const Zlib* const lib = zlib();
  if (lib == nullptr) return std::nullopt;
  z_stream stream{};
  constexpr int kMemory = 8;  // zlib's default
  if (lib->deflate_init(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRawDeflate, kMemory,
                        Z_DEFAULT_STRATEGY, ZLIB_VERSION, kStreamBytes) != Z_OK) {
    return std::nullopt;
  }
  std::string bytes(lib->bound(&stream, text.size()), '\0');
  stream.next_in = zlib_bytes(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = zlib_bytes(bytes);
  stream.avail_out = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  if (!dictionary.empty()) {
    result = lib->deflate_dictionary(&stream, zlib_bytes(dictionary),
                                     static_cast<uInt>(dictionary.size()));
  }
  if (result == Z_OK) result = lib->deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  lib->deflate_end(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return bytes;
}

std::optional<std::string> decompress(std::string_view bytes, std::string_view dictionary,
                                      std::size_t most_bytes) {
  const Zlib* const lib = zlib();
  if (lib == nullptr) {
    throw Error("cannot read compressed records: libz.so.1 cannot be loaded; install zlib1g");
  }
  z_stream stream{};
  if (lib->inflate_init(&stream, kRawDeflate, ZLIB_VERSION, kStreamBytes) != Z_OK)
    return std::nullopt;
  stream.next_in = zlib_bytes(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  if (!dictionary.empty()) {
    result = lib->inflate_dictionary(&stream, zlib_bytes(dictionary),
                                     static_cast<uInt>(dictionary.size()));
  }
  std::string text;
  while (result == Z_OK && text.size() < most_bytes) {
    constexpr std::size_t kFirstBytes = std::size_t{16} << 10U;
    const std::size_t had = text.size();
    text.resize(std::min(most_bytes, std::max(kFirstBytes, 2 * had)));
    stream.next_out = zlib_bytes(text) + had;
    stream.avail_out = static_cast<uInt>(text.size() - had);
    result = lib->inflate(&stream, Z_NO_FLUSH);
  }
  text.resize(stream.total_out);
  lib->inflate_end(&stream);
  if (result != Z_STREAM_END) return std::nullopt;
  return text;
}

}  // namespace wattle
