#include "gradus/hdf5.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "gradus/error.h"
#include "gradus/io.h"
#include "gradus/memory.h"
#include "io/checksums.h"

namespace gradus {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(const std::string& s) { return std::as_bytes(std::span(s)); }
std::span<const unsigned char> view(const std::string& s) {
  return {reinterpret_cast<const unsigned char*>(s.data()), s.size()};
}
Hdf5Node parsed(const std::string& s) { return parse_hdf5(bytes_of(s), "test"); }

Tensor counting(DType dtype, std::vector<std::int64_t> shape) {
  return Tensor::filled_by(dtype, Shape(std::span(shape)), [&](void* p) {
    std::size_t count = size_of(dtype);
    for (const std::int64_t n : shape) count *= static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < count; ++i)
      static_cast<unsigned char*>(p)[i] =
          static_cast<unsigned char>(dtype == DType::bool_ ? i % 2 : i * 7 % 127);
  });
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.num_bytes() == 0 || std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0);
}
bool same_tensors(const Hdf5Node& a, const Hdf5Node& b) {
  const auto* x = std::get_if<Tensor>(&a.value);
  const auto* y = std::get_if<Tensor>(&b.value);
  if ((x == nullptr) != (y == nullptr) || (x && !same(*x, *y))) return false;
  if (a.children.size() != b.children.size()) return false;
  for (const auto& [name, child] : a.children)
    if (!b.children.count(name) || !same_tensors(child, b.children.at(name))) return false;
  return true;
}

Hdf5Node tree() {
  Hdf5Node root;
  root.attributes["title"] = std::string("gr\xc3\xbc\xc3\x9f");
  root.attributes["names"] = std::vector<std::string>{"a", "", "long name"};
  root.attributes["numbers"] = counting(DType::int64, {3});
  auto& group = root.children["layers"].children["dense"].children["vars"];
  group.attributes["name"] = std::string("dense");
  group.children["0"].value = counting(DType::float32, {40, 30});
  group.children["1"].value = counting(DType::float32, {30});
  root.children["scalar"].value = counting(DType::int64, {});
  root.children["empty"].value = counting(DType::float64, {3, 0, 2});
  root.children["odd"].value = counting(DType::uint8, {5001});
  root.children["texts"].value = std::vector<std::string>{"x", "yy"};
  return root;
}

// Opens, or says that it cannot; anything else (a crash, another exception) fails the test.
bool opens(const std::string& bytes, Hdf5Node* node = nullptr) {
  try {
    const Hdf5Node read = parsed(bytes);
    if (node) *node = read;
    return true;
  } catch (const DataLossError&) {
  } catch (const UnimplementedError&) {
  }
  return false;
}

TEST(Hdf5, RoundTrip) {
  Hdf5Node root = tree();
  for (const DType dtype : {DType::bool_, DType::int8, DType::int16, DType::int32, DType::int64,
                            DType::uint8, DType::uint16, DType::uint32, DType::uint64,
                            DType::float16, DType::float32, DType::float64}) {
    root.children["small " + std::string(name_of(dtype))].value = counting(dtype, {3, 5});
    root.children["large " + std::string(name_of(dtype))].value = counting(dtype, {67, 129});
  }
  root.children["half"].value = counting(DType::bfloat16, {5});
  root.children["half"].attributes["dtype"] = std::string("bfloat16");
  const Hdf5Node back = parsed(hdf5_bytes(root));
  EXPECT_TRUE(same_tensors(root, back));
  EXPECT_EQ(std::get<std::string>(back.attributes.at("title")), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(std::get<std::vector<std::string>>(back.attributes.at("names")),
            (std::vector<std::string>{"a", "", "long name"}));
  EXPECT_EQ(std::get<std::vector<std::string>>(back.children.at("texts").value),
            (std::vector<std::string>{"x", "yy"}));
  EXPECT_TRUE(same(std::get<Tensor>(back.attributes.at("numbers")), counting(DType::int64, {3})));
}

TEST(Hdf5, ManyLinksAndTexts) {
  Hdf5Node root;
  for (int i = 0; i < 3000; ++i) {
    Hdf5Node& child = root.children["child " + std::to_string(i)];
    child.value = Tensor(static_cast<float>(i));
    child.attributes["name"] = "text " + std::to_string(i);
  }
  const Hdf5Node back = parsed(hdf5_bytes(root));
  EXPECT_TRUE(same_tensors(root, back));
  EXPECT_EQ(std::get<std::string>(back.children.at("child 2999").attributes.at("name")),
            "text 2999");
}

TEST(Hdf5, FilesAreMemory) {
  const std::string path = (fs::temp_directory_path() / "gradus-hdf5-test.h5").string();
  save_hdf5(path, tree());
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(bytes, hdf5_bytes(tree()));
  EXPECT_TRUE(same_tensors(load_hdf5(path), tree()));
  fs::remove(path);
  EXPECT_THROW(load_hdf5(path), NotFoundError);
}

TEST(Hdf5, NamesThatCannotBe) {
  Hdf5Node root;
  root.children["a/b"].value = Tensor(1.0f);
  EXPECT_THROW(hdf5_bytes(root), InvalidArgumentError);
  Hdf5Node complex_root;
  complex_root.children["z"].value = counting(DType::complex64, {2});
  EXPECT_THROW(hdf5_bytes(complex_root), UnimplementedError);
}

// Every flipped bit is found, or hits text or padding and changes no tensor.
TEST(Hdf5, FlippedBitsAreFound) {
  const Hdf5Node root = tree();
  const std::string good = hdf5_bytes(root);
  int found = 0, harmless = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    Hdf5Node read;
    if (!opens(bad, &read)) {
      ++found;
    } else {
      ++harmless;
      ASSERT_TRUE(same_tensors(root, read)) << "byte " << at;
    }
  }
  EXPECT_GT(found, 11000);    // all of the data and the object headers
  EXPECT_LT(harmless, 4200);  // the collection of text has no checksum
}

TEST(Hdf5, CutOffFilesAreRefused) {
  const std::string good = hdf5_bytes(tree());
  for (std::size_t size = 0; size < good.size(); size += size < 600 ? 1 : 37)
    EXPECT_FALSE(opens(good.substr(0, size))) << size;
}

// A file by h5py with symbol tables, trees of chunks, filters and heaps, none of which has
// checksums for its structure: damage may go unnoticed there, but must not do anything else.
class Hdf5Foreign : public ::testing::Test {
 protected:
  void SetUp() override {
    for (fs::path folder = fs::current_path(); good_.empty(); folder = folder.parent_path()) {
      std::ifstream file(folder / "tests/python/data/h5py_features.h5", std::ios::binary);
      good_.assign(std::istreambuf_iterator<char>(file), {});
      if (!folder.has_relative_path()) break;
    }
    if (good_.empty()) GTEST_SKIP() << "not run from within the source tree";
  }
  std::string good_;
};

TEST_F(Hdf5Foreign, IsRead) {
  const Hdf5Node root = parsed(good_);
  EXPECT_EQ(root.children.at("many").children.size(), 40u);
  const auto at = [&](const char* name) { return std::get<Tensor>(root.children.at(name).value); };
  EXPECT_TRUE(same(at("plain"), at("packed")));
  EXPECT_TRUE(same(at("plain"), at("big_endian")));
  EXPECT_TRUE(same(at("plain"), at("summed")));
  EXPECT_EQ(at("bool").dtype(), DType::bool_);
  EXPECT_EQ(std::get<std::string>(root.attributes.at("title")), "features");
}

TEST_F(Hdf5Foreign, DamageIsNoCrash) {
  std::mt19937 random(7);
  const auto memory_before = memory_stats().live;
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good_;
    for (int i = static_cast<int>(random() % 4); i >= 0; --i) {
      // Mostly structure: the data of the file comes last.
      const std::size_t at = random() % (round % 4 ? bad.size() / 2 : bad.size());
      switch (random() % 4) {
        case 0:
          bad[at] = static_cast<char>(random());
          break;
        case 1:
          bad[at] = static_cast<char>(0xff);
          break;
        case 2:
          bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
          break;
        default:
          for (std::size_t j = at; j < std::min(bad.size(), at + 8); ++j)
            bad[j] = static_cast<char>(random() % 3 ? 0xff : 0);
      }
    }
    if (round % 16 == 0) bad.resize(random() % bad.size());
    reset_peak_memory();
    opens(bad);
    ASSERT_LT(memory_stats().peak - memory_before, 2000 * good_.size());
  }
}

TEST(Hdf5, NoFileAtAll) {
  EXPECT_FALSE(opens(""));
  EXPECT_FALSE(opens("PK\x03\x04 this is something else"));
  EXPECT_FALSE(opens(std::string(5000, 'x')));
  EXPECT_FALSE(opens(std::string(5000, '\0')));
}

TEST(Checksums, KnownValues) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(io::lookup3(view("")), 0xdeadbeefu);
  EXPECT_EQ(io::lookup3(view("Four score and seven years ago")), 0x17770551u);
  EXPECT_EQ(io::fletcher32(view("")), 0u);
  EXPECT_EQ(io::fletcher32(view("ab")), 0x61626162u);
}

}  // namespace
}  // namespace gradus
