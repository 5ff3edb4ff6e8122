#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "gradus/error.h"
#include "gradus/io.h"
#include "gradus/memory.h"
#include "io/files.h"
#include "io/npy_header.h"

namespace gradus {
namespace {

namespace fs = std::filesystem;

class Npy : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "gradus-npy-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string get(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string size(version == 1 ? 2 : 4, '\0');
  size[0] = static_cast<char>(dictionary.size() & 0xff);
  size[1] = static_cast<char>(dictionary.size() >> 8);
  return std::string("\x93NUMPY") + version + '\0' + size + dictionary + data;
}

std::string dictionary(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

std::string unhex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.num_bytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0);
}

Tensor random_tensor(DType dtype, const Shape& shape, unsigned seed = 1) {
  return Tensor::filled_by(dtype, shape, [&](void* elements) {
    std::mt19937 random(seed);
    auto* p = static_cast<unsigned char*>(elements);
    const auto bytes = static_cast<std::size_t>(shape.num_elements()) * size_of(dtype);
    for (std::size_t i = 0; i < bytes; ++i)
      p[i] = static_cast<unsigned char>(random() % (dtype == bool_ ? 2 : 256));
  });
}

// What np.savez_compressed(w=np.arange(6, dtype=np.float32).reshape(2, 3), b=[True, False]) wrote.
const std::string kNumPyArchive = unhex(
    "504b03042d0000000800000021004fe9002affffffffffffffff05001400772e6e7079010010009800000000000000"
    "55000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91a463a0ac69a3a0ab50a64032e063068b007120e4004c40d40bcc0010050"
    "4b03042d000000080000002100ee19bb5dffffffffffffffff05001400622e6e707901001000820000000000000046"
    "000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9364a8aea3a09e965f54529498179f5f9492"
    "0a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e460600504b01022d032d0000000800000021004f"
    "e9002a5500000098000000050000000000000000000000800100000000772e6e7079504b01022d032d000000080000"
    "002100ee19bb5d460000008200000005000000000000000000000080018c000000622e6e7079504b05060000000002"
    "00020066000000090100000000");

TEST_F(Npy, EveryDtypeAndShapeComesBack) {
  for (int i = 0; i < kDTypeCount; ++i)
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{2, 3}, Shape{0}, Shape{2, 0, 3},
                               Shape{2, 1, 3, 1, 2, 1, 2, 1, 2}}) {
      const Tensor t = random_tensor(static_cast<DType>(i), shape);
      save_npy(path("t.npy"), t);
      EXPECT_TRUE(same(load_npy(path("t.npy")), t)) << name_of(t.dtype()) << shape;
    }
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(Npy, TheHeaderIsWhatNumPyWrites) {
  save_npy(path("t.npy"), Tensor{{1.0f, 2.0f, 3.0f}});
  const std::string bytes = get("t.npy");
  EXPECT_EQ(bytes.size(), 128u + 12u);
  EXPECT_EQ(bytes.substr(0, 69),
            std::string("\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), "
                        "}",
                        69));
  EXPECT_EQ(bytes[127], '\n');
  save_npy(path("t.npy"), Tensor::from(std::vector<bfloat>{bfloat(1.0f)}));
  EXPECT_NE(get("t.npy").find("'<V2'"), std::string::npos);
  save_npy(path("t.npy"), Tensor{true});
  EXPECT_NE(get("t.npy").find("'descr': '|b1', 'fortran_order': False, 'shape': (1,), }"),
            std::string::npos);
}

TEST_F(Npy, ReadsFortranOrder) {
  const std::string data("\0\1\2\3\4\5", 6);
  const Tensor t = load_npy(put("f.npy", npy(dictionary("|i1", true, "(2, 3)"), data)));
  EXPECT_EQ(t.to_vector<std::int8_t>(), (std::vector<std::int8_t>{0, 2, 4, 1, 3, 5}));
  // Element (i, j, k) of a Fortran array of shape (2, 3, 2) is number i + 2 j + 6 k.
  std::string numbers;
  for (char c = 0; c < 12; ++c) numbers += c;
  const Tensor u = load_npy(put("g.npy", npy(dictionary("|i1", true, "(2, 3, 2)"), numbers)));
  const auto v = u.to_vector<std::int8_t>();
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k) EXPECT_EQ(v[i * 6 + j * 2 + k], i + 2 * j + 6 * k);
  EXPECT_EQ(load_npy(put("h.npy", npy(dictionary("<f4", true, "(0, 3)"), ""))).shape(),
            (Shape{0, 3}));
}

TEST_F(Npy, ReadsBigEndian) {
  const Tensor t = load_npy(put(
      "t.npy", npy(dictionary(">f4", false, "(2,)"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8))));
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{1.0f, -2.0f}));
  const Tensor c = load_npy(
      put("c.npy", npy(dictionary(">c8", false, "()"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8))));
  EXPECT_EQ(c.item<std::complex<float>>(), std::complex<float>(1.0f, -2.0f));
  const Tensor i = load_npy(put("i.npy", npy(dictionary(">i2", true, "(2, 1)"), "\1\2\3\4")));
  EXPECT_EQ(i.to_vector<std::int16_t>(), (std::vector<std::int16_t>{0x0102, 0x0304}));
}

TEST_F(Npy, ReadsOtherSpellingsOfTheHeader) {
  const std::string data("\1\0\0\0", 4);
  for (const std::string& text :
       {std::string("{'shape': (1,), 'descr': \"<i4\", 'fortran_order': False}"),
        std::string("{'descr':'<i4','fortran_order':False,'shape':(1L,)}   \n"),
        std::string("{ 'descr' : '=i4' , 'fortran_order' : True , 'shape' : ( 1 , ) , } ")})
    for (const char version : {1, 2, 3})
      EXPECT_EQ(load_npy(put("t.npy", npy(text, data, version))).item<int>(), 1) << text;
  EXPECT_EQ(load_npy(put("t.npy", npy(dictionary("|V2", false, "()"), "\x80\x3f"))).dtype(),
            bfloat16);
  const Tensor b =
      load_npy(put("t.npy", npy(dictionary("|b1", false, "(3,)"), std::string("\0\1\7", 3))));
  const auto* bytes = static_cast<const unsigned char*>(b.raw_data());
  EXPECT_EQ(bytes[2], 1);
}

TEST_F(Npy, WhatNoTensorCanHoldIsAnInvalidArgument) {
  for (const char* descr : {"|O", "<U5", "|S3", "<f16", "<M8[ns]", "<V4", "", "<"})
    EXPECT_THROW(
        load_npy(put("t.npy", npy(dictionary(descr, false, "(1,)"), "12345678901234567890"))),
        InvalidArgumentError)
        << descr;
  EXPECT_THROW(load_npy(put("t.npy", npy("{'descr': [('a', '<f4')], 'fortran_order': False, "
                                         "'shape': (1,), }",
                                         "1234"))),
               InvalidArgumentError);
  EXPECT_THROW(load_npy(put("t.npy", npy(dictionary("|i1", false, "(1,1,1,1,1,1,1,1,1,1)"), "1"))),
               InvalidArgumentError);
}

TEST_F(Npy, DamagedFilesAreDataLoss) {
  const std::string good = npy(dictionary("<f4", false, "(2,)"), "12345678");
  for (std::size_t n = 0; n < good.size(); ++n)
    EXPECT_THROW(load_npy(put("t.npy", good.substr(0, n))), DataLossError) << n;
  EXPECT_NO_THROW(load_npy(put("t.npy", good + "more")));  // as NumPy: arrays one after the other
  for (const char* shape :
       {"(3,)", "(-1,)", "(9223372036854775807, 9223372036854775807)", "(4611686018427387904, 2)",
        "(99999999999999999999,)", "(1.5,)", "2", "(2", "(2,,)", "[2]", "(1000000000000,)"})
    EXPECT_THROW(load_npy(put("t.npy", npy(dictionary("<f4", false, shape), "12345678"))),
                 DataLossError)
        << shape;
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4', 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr: '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x"})
    EXPECT_THROW(load_npy(put("t.npy", npy(text, "12345678"))), DataLossError) << text;
  EXPECT_THROW(load_npy(put("t.npy", "PK\3\4 something else entirely")), DataLossError);
  EXPECT_THROW(load_npy(put("t.npy", npy(dictionary("<f4", false, "(2,)"), "12345678", 9))),
               DataLossError);
}

TEST_F(Npy, FilesThatCannotBeReadOrWritten) {
  EXPECT_THROW(load_npy(path("missing.npy")), NotFoundError);
  EXPECT_THROW(load_npz(path("missing.npz")), NotFoundError);
  EXPECT_THROW(load_npy(path(".")), InvalidArgumentError);
  EXPECT_THROW(save_npy(path("no/such/folder.npy"), Tensor(1.0f)), NotFoundError);
  fs::create_directory(path("folder"));
  EXPECT_THROW(save_npy(path("folder"), Tensor(1.0f)), FailedPreconditionError);
  EXPECT_THROW(save_npy(path("t.npy"), Tensor()), InvalidArgumentError);
  EXPECT_EQ(file_count(), 1u);
  EXPECT_THROW(save_npy("/dev/full/x", Tensor(1.0f)), Error);
}

TEST_F(Npy, AFailedWriteLeavesTheOldFile) {
  save_npz(path("t.npz"), {{"a", Tensor(1.0f)}});
  const std::string before = get("t.npz");
  EXPECT_THROW(save_npz(path("t.npz"), {{"a", Tensor(2.0f)}, {"b", Tensor()}}),
               InvalidArgumentError);
  {
    io::AtomicFile unfinished(path("t.npz"));
    unfinished.write("half", 4);
  }
  EXPECT_EQ(get("t.npz"), before);
  EXPECT_EQ(file_count(), 1u);
}

TEST_F(Npy, KeepsTheModeAndFollowsLinks) {
  save_npy(path("t.npy"), Tensor(1.0f));
  fs::permissions(path("t.npy"), fs::perms(0640));
  fs::create_symlink("t.npy", path("link.npy"));
  save_npy(path("link.npy"), Tensor(2.0f));
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_EQ(load_npy(path("t.npy")).item<float>(), 2.0f);
  EXPECT_EQ(fs::status(path("t.npy")).permissions(), fs::perms(0640));
  const mode_t mask = umask(022);
  save_npy(path("new.npy"), Tensor(1.0f));
  umask(mask);
  EXPECT_EQ(fs::status(path("new.npy")).permissions(), fs::perms(0644));
}

TEST_F(Npy, ArchivesComeBack) {
  std::map<std::string, Tensor> tensors;
  for (int i = 0; i < kDTypeCount; ++i)
    tensors[name_of(static_cast<DType>(i))] = random_tensor(static_cast<DType>(i), {5, 3});
  tensors["layer/0/w\xc3\xa4"] = random_tensor(float64, {100, 100});
  tensors["empty"] = random_tensor(float32, {0, 4});
  tensors["zeros"] = Tensor::filled_by(float32, {1 << 18},
                                       [](void* p) { std::memset(p, 0, std::size_t{1} << 20); });
  tensors[""] = Tensor(3);
  for (const bool compressed : {false, true}) {
    save_npz(path("t.npz"), tensors, compressed);
    const auto back = load_npz(path("t.npz"));
    ASSERT_EQ(back.size(), tensors.size());
    for (const auto& [name, t] : tensors) EXPECT_TRUE(same(back.at(name), t)) << name;
    EXPECT_EQ(fs::file_size(path("t.npz")) < 200000, compressed);
  }
  save_npz(path("none.npz"), {});
  EXPECT_TRUE(load_npz(path("none.npz")).empty());
}

// Zeros pack so well that nobody would believe the archive, so they are packed less well.
TEST_F(Npy, CompressedZerosAreBelieved) {
  std::map<std::string, Tensor> tensors;
  for (int i = 0; i < 4; ++i)
    tensors["zeros" + std::to_string(i)] = Tensor::filled_by(
        uint8, {40 << 20}, [](void* p) { std::memset(p, 0, std::size_t{40} << 20); });
  tensors["noise"] = random_tensor(float32, {1 << 16});
  save_npz(path("t.npz"), tensors, true);
  EXPECT_LT(fs::file_size(path("t.npz")), 8u << 20);
  const auto back = load_npz(path("t.npz"));
  for (const auto& [name, t] : tensors) EXPECT_TRUE(same(back.at(name), t)) << name;
}

TEST_F(Npy, EqualTensorsGiveEqualBytes) {
  save_npz(path("a.npz"), {{"x", random_tensor(float32, {10})}}, true);
  save_npz(path("b.npz"), {{"x", random_tensor(float32, {10})}}, true);
  EXPECT_EQ(get("a.npz"), get("b.npz"));
}

TEST_F(Npy, ReadsWhatNumPyWrote) {
  const auto tensors = load_npz(put("t.npz", kNumPyArchive));
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_EQ(tensors.at("w").shape(), (Shape{2, 3}));
  EXPECT_EQ(tensors.at("w").to_vector<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(tensors.at("b").dtype(), bool_);
  // A comment behind the archive and other files in it do no harm.
  std::string with_comment = kNumPyArchive;
  with_comment[with_comment.size() - 2] = 5;
  EXPECT_EQ(load_npz(put("t.npz", with_comment + "hello")).size(), 2u);
  std::string renamed = kNumPyArchive;
  for (std::size_t at; (at = renamed.find("b.npy")) != std::string::npos;)
    renamed.replace(at, 5, "b.txt");
  EXPECT_EQ(load_npz(put("t.npz", renamed)).size(), 1u);
}

// Whatever happens to the bytes: the same tensors, or an Error, and never much memory.
TEST_F(Npy, NoDamageCrashes) {
  save_npz(path("stored.npz"), {{"w", random_tensor(float32, {3})}, {"b", Tensor(1)}});
  for (const std::string& good : {get("stored.npz"), kNumPyArchive}) {
    const auto survives = [&](const std::string& bytes) {
      reset_peak_memory();
      const std::size_t before = memory_stats().peak;
      try {
        load_npz(put("t.npz", bytes));
      } catch (const Error&) {
      }
      EXPECT_LT(memory_stats().peak - before, std::size_t{1} << 20);
    };
    for (std::size_t n = 0; n < good.size(); n += 5)
      EXPECT_THROW(load_npz(put("t.npz", good.substr(0, n))), DataLossError) << n;
    std::mt19937 random(5);
    for (std::size_t n = 0; n < good.size(); ++n) {
      std::string bad = good;
      bad[n] = static_cast<char>(bad[n] ^ (1 + random() % 255));
      for (int more = static_cast<int>(n % 3); more > 0; --more)
        bad[random() % bad.size()] = static_cast<char>(random());
      survives(bad);
    }
  }
}

TEST_F(Npy, DamageInsideTheDataIsNoticed) {
  save_npz(path("t.npz"), {{"w", random_tensor(float32, {100})}});
  std::string bytes = get("t.npz");
  bytes[300] = static_cast<char>(bytes[300] ^ 4);
  EXPECT_THROW(load_npz(put("t.npz", bytes)), DataLossError);
}

}  // namespace
}  // namespace gradus
