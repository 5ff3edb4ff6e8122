#include "gradus/dlpack.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "gradus/error.h"
#include "gradus/memory.h"
#include "tensor/dlpack_abi.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using dlpack::Managed, dlpack::ManagedVersioned;

Managed* seen(DLManagedTensor* m) { return reinterpret_cast<Managed*>(m); }
ManagedVersioned* seen(DLManagedTensorVersioned* m) {
  return reinterpret_cast<ManagedVersioned*>(m);
}

// A library that lends us an array and counts how often it gets it back.
struct Lender {
  std::vector<float> memory;
  std::vector<std::int64_t> shape, strides;
  int returned = 0;
  Managed managed{};

  Lender(std::vector<float> values, std::vector<std::int64_t> sizes,
         std::vector<std::int64_t> steps = {})
      : memory(std::move(values)), shape(std::move(sizes)), strides(std::move(steps)) {
    managed.array = {memory.data(),
                     {dlpack::kCpu, 0},
                     static_cast<std::int32_t>(shape.size()),
                     {dlpack::kFloat, 32, 1},
                     shape.data(),
                     strides.empty() ? nullptr : strides.data(),
                     0};
    managed.context = this;
    managed.deleter = [](Managed* m) { ++static_cast<Lender*>(m->context)->returned; };
  }
  DLManagedTensor* lend() { return reinterpret_cast<DLManagedTensor*>(&managed); }
};

TEST(Dlpack, ExportsEveryDtypeWithoutACopy) {
  const std::size_t before = memory_stats().live;
  for (int i = 0; i < kDTypeCount; ++i) {
    Tensor t = make_tensor(static_cast<DType>(i), {2, 3, 4});
    const void* elements = t.raw_data();
    DLManagedTensor* managed = to_dlpack(t);
    DLManagedTensorVersioned* versioned = to_dlpack_versioned(t);
    t = Tensor();  // the consumers keep the elements alive
    for (const dlpack::Array* a : {&seen(managed)->array, &seen(versioned)->array}) {
      EXPECT_EQ(a->data, elements);
      EXPECT_EQ(a->rank, 3);
      EXPECT_EQ(a->dtype.bits, 8 * size_of(static_cast<DType>(i)));
      EXPECT_EQ(a->dtype.lanes, 1);
      EXPECT_EQ(a->device.type, dlpack::kCpu);
      EXPECT_EQ(std::vector(a->shape, a->shape + 3), (std::vector<std::int64_t>{2, 3, 4}));
      EXPECT_EQ(std::vector(a->strides, a->strides + 3), (std::vector<std::int64_t>{12, 4, 1}));
    }
    EXPECT_EQ(seen(versioned)->major, 1u);
    EXPECT_EQ(seen(versioned)->flags, dlpack::kReadOnly);
    // There and back: the same elements, the same dtype.
    const Tensor back = from_dlpack(managed), again = from_dlpack(versioned);
    EXPECT_EQ(back.raw_data(), elements);
    EXPECT_EQ(again.raw_data(), elements);
    EXPECT_EQ(back.dtype(), static_cast<DType>(i));
    EXPECT_EQ(again.shape(), (Shape{2, 3, 4}));
  }
  release_dlpack(to_dlpack(Tensor(1.0f)));
  release_dlpack(to_dlpack_versioned(Tensor(1.0f)));
  EXPECT_EQ(memory_stats().live, before);
  EXPECT_THROW(to_dlpack(Tensor()), InvalidArgumentError);
  EXPECT_THROW(to_dlpack(make_placeholder(ValueKind::traced, float32, {2})), InvalidArgumentError);
}

TEST(Dlpack, BorrowsRowMajorMemoryAndReturnsItOnce) {
  for (const std::vector<std::int64_t>& strides :
       {std::vector<std::int64_t>{}, std::vector<std::int64_t>{3, 777, 1}}) {
    Lender lender({1, 2, 3, 4, 5, 6}, {2, 1, 3}, strides);
    {
      Tensor t = from_dlpack(lender.lend());
      EXPECT_EQ(t.raw_data(), lender.memory.data());
      EXPECT_EQ(t.shape(), (Shape{2, 1, 3}));
      const Tensor view = make_view(t, {3}, 3);
      t = Tensor();
      EXPECT_EQ(lender.returned, 0);
      EXPECT_EQ(view.to_vector<float>(), (std::vector<float>{4, 5, 6}));
    }
    EXPECT_EQ(lender.returned, 1);
  }
}

TEST(Dlpack, CopiesOtherLayoutsAndReturnsTheMemoryAtOnce) {
  {
    Lender lender({1, 2, 3, 4, 5, 6}, {3, 2}, {1, 3});  // a transpose
    const Tensor t = from_dlpack(lender.lend());
    EXPECT_EQ(lender.returned, 1);
    EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  }
  {
    Lender lender({1, 2, 3, 4}, {2, 2, 2}, {0, -2, -1});  // broadcast and backwards
    lender.managed.array.byte_offset = 3 * sizeof(float);
    const Tensor t = from_dlpack(lender.lend());
    EXPECT_EQ(lender.returned, 1);
    EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{4, 3, 2, 1, 4, 3, 2, 1}));
  }
  {
    Lender lender({0, 0, 0}, {2});  // not aligned
    auto* bytes = reinterpret_cast<char*>(lender.memory.data()) + 1;
    const float values[2] = {1.5f, -2.5f};
    std::memcpy(bytes, values, sizeof values);
    lender.managed.array.data = bytes;
    const Tensor t = from_dlpack(lender.lend());
    EXPECT_EQ(lender.returned, 1);
    EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{1.5f, -2.5f}));
  }
}

TEST(Dlpack, EmptyAndScalar) {
  Lender empty({}, {0, 3});
  empty.managed.array.data = nullptr;
  EXPECT_EQ(from_dlpack(empty.lend()).shape(), (Shape{0, 3}));
  EXPECT_EQ(empty.returned, 1);
  Lender scalar({7}, {});
  scalar.managed.array.shape = nullptr;
  EXPECT_EQ(from_dlpack(scalar.lend()).item<float>(), 7);
  EXPECT_EQ(scalar.returned, 1);
}

TEST(Dlpack, RefusalsReturnTheMemoryToo) {
  const auto refused = [](auto change) {
    Lender lender({1, 2}, {2});
    change(lender.managed.array);
    EXPECT_THROW(from_dlpack(lender.lend()), InvalidArgumentError);
    EXPECT_EQ(lender.returned, 1);
  };
  refused([](dlpack::Array& a) { a.device.type = 2; });  // CUDA
  refused([](dlpack::Array& a) { a.dtype.lanes = 4; });
  refused([](dlpack::Array& a) { a.dtype.code = dlpack::kOpaque; });
  refused([](dlpack::Array& a) { a.dtype.bits = 4; });
  refused([](dlpack::Array& a) { a.data = nullptr; });
  refused([](dlpack::Array& a) { a.shape = nullptr; });
  refused([](dlpack::Array& a) { a.shape[0] = -1; });
  refused([](dlpack::Array& a) { a.rank = -1; });
  Lender broadcast({1}, {std::int64_t{1} << 40, std::int64_t{1} << 40}, {0, 0});
  EXPECT_THROW(from_dlpack(broadcast.lend()), InvalidArgumentError);
  EXPECT_EQ(broadcast.returned, 1);
  Lender deep({1}, std::vector<std::int64_t>(kMaxRank + 1, 1));
  EXPECT_THROW(from_dlpack(deep.lend()), InvalidArgumentError);
  EXPECT_EQ(deep.returned, 1);
  EXPECT_THROW(from_dlpack(static_cast<DLManagedTensor*>(nullptr)), InvalidArgumentError);

  DLManagedTensorVersioned* future = to_dlpack_versioned(Tensor(1.0f));
  seen(future)->major = 2;
  EXPECT_THROW(from_dlpack(future), InvalidArgumentError);
}

TEST(Dlpack, AStructureWithoutDeleterIsFine) {
  Lender lender({1, 2}, {2});
  lender.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(lender.lend()).to_vector<float>(), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace gradus
