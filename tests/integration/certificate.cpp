#include "certificate.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

namespace wattle::integration {
namespace {

/// Calls the function that frees what a pointer points to.
template <auto free_it>
struct Freed {
  template <class Thing>
  void operator()(Thing* thing) const noexcept {
    (void)free_it(thing);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<&X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<&X509_EXTENSION_free>>;
using File = std::unique_ptr<std::FILE, Freed<&std::fclose>>;

File file_to_write(const std::string& path) {
  File file(std::fopen(path.c_str(), "we"));
  EXPECT_NE(file, nullptr) << path;
  return file;
}

void add_names(X509* certificate, const std::string& names) {
  const Extension extension(
      ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()));
  EXPECT_NE(extension, nullptr) << names;
  EXPECT_EQ(::X509_add_ext(certificate, extension.get(), -1), 1);
}

}  // namespace

void write_certificate(const std::string& certificate_path, const std::string& key_path,
                       const std::string& names) {
  const Key key(::EVP_EC_gen("P-256"));
  const Certificate certificate(::X509_new());
  constexpr long kDayS = 86'400;
  ::X509_set_version(certificate.get(), X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate.get()), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate.get()), -kDayS);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate.get()), kDayS);
  ::X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* const name = ::X509_get_subject_name(certificate.get());
  constexpr unsigned char kName[] = "node";
  ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, kName, -1, -1, 0);
  ::X509_set_issuer_name(certificate.get(), name);
  add_names(certificate.get(), names);
  EXPECT_GT(::X509_sign(certificate.get(), key.get(), ::EVP_sha256()), 0);

  const File to_certificate = file_to_write(certificate_path);
  EXPECT_EQ(::PEM_write_X509(to_certificate.get(), certificate.get()), 1);
  const File to_key = file_to_write(key_path);
  EXPECT_EQ(::PEM_write_PrivateKey(to_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr),
            1);
}

}  // namespace wattle::integration
