#include "gradus/dlpack.h"

#include <cstring>
#include <memory>

#include "base/check.h"
#include "tensor/dlpack_abi.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

using dlpack::Managed, dlpack::ManagedVersioned;

dlpack::DataType type_of(DType t) {
  const dlpack::TypeCode code = is_bool(t)             ? dlpack::kBool
                                : is_unsigned(t)       ? dlpack::kUInt
                                : is_integer(t)        ? dlpack::kInt
                                : t == DType::bfloat16 ? dlpack::kBfloat
                                : is_complex(t)        ? dlpack::kComplex
                                                       : dlpack::kFloat;
  return {code, static_cast<std::uint8_t>(8 * size_of(t)), 1};
}

DType dtype_of(dlpack::DataType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    const dlpack::DataType ours = type_of(t);
    if (ours.code == type.code && ours.bits == type.bits && type.lanes == 1) return t;
  }
  fail<InvalidArgumentError>("[from_dlpack] got elements of DLPack type code ", int{type.code},
                             " with ", int{type.bits}, " bits and ", type.lanes,
                             " lanes; no dtype is like that");
}

// What the consumer holds; the tensor in it keeps the elements alive.
template <class Structure>
struct Exported {
  Structure managed{};
  Tensor tensor;
  std::int64_t shape[kMaxRank], strides[kMaxRank];
};

template <class Structure>
Structure* exported(const Tensor& tensor) {
  auto out = std::make_unique<Exported<Structure>>();
  dlpack::Array& array = out->managed.array;
  array.data = const_cast<void*>(tensor.raw_data());
  array.device = {dlpack::kCpu, 0};
  array.rank = tensor.rank();
  array.dtype = type_of(tensor.dtype());
  array.shape = out->shape;
  array.strides = out->strides;
  array.byte_offset = 0;
  std::int64_t step = 1;
  for (int axis = tensor.rank() - 1; axis >= 0; --axis) {
    out->shape[axis] = tensor.shape()[axis];
    out->strides[axis] = step;
    step *= tensor.shape()[axis];
  }
  out->tensor = tensor;
  out->managed.context = out.get();
  out->managed.deleter = [](Structure* m) { delete static_cast<Exported<Structure>*>(m->context); };
  return &out.release()->managed;
}

template <class Structure>
void release(Structure* managed) noexcept {
  if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
}

bool is_row_major(const dlpack::Array& array, const Shape& shape) {
  if (array.strides == nullptr) return true;
  std::int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] != 1 && array.strides[axis] != step) return false;
    step *= shape[axis];
  }
  return true;
}

// Elements need only be readable; `from` may not be aligned. Sizes are all positive.
void copy_strided(const std::byte* from, const std::int64_t* strides, std::byte* to,
                  const Shape& shape, std::size_t size) {
  const int last = shape.rank() - 1;
  const auto unit = static_cast<std::int64_t>(size);
  std::int64_t index[kMaxRank] = {};
  for (std::int64_t rows = shape.num_elements() / shape[last]; rows > 0; --rows) {
    const std::byte* source = from;
    for (int axis = 0; axis < last; ++axis) source += index[axis] * strides[axis] * unit;
    for (std::int64_t i = 0; i < shape[last]; ++i, to += size)
      std::memcpy(to, source + i * strides[last] * unit, size);
    for (int axis = last - 1; axis >= 0 && ++index[axis] == shape[axis]; --axis) index[axis] = 0;
  }
}

Tensor imported(const dlpack::Array& array, std::shared_ptr<void> owner) {
  const std::int32_t device = array.device.type;
  if (device != dlpack::kCpu && device != dlpack::kCudaHost && device != dlpack::kRocmHost)
    fail<InvalidArgumentError>("[from_dlpack] got memory of a device of DLPack type ", device,
                               "; only the memory of the CPU can be shared, copy it there first");
  if (array.rank < 0 || (array.rank > 0 && array.shape == nullptr))
    fail<InvalidArgumentError>("[from_dlpack] got a structure without a shape");
  const DType dtype = dtype_of(array.dtype);
  const Shape shape(
      std::span<const std::int64_t>(array.shape, static_cast<std::size_t>(array.rank)));
  std::int64_t count = 1;  // may overflow: a broadcast array can have any size
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      fail<InvalidArgumentError>("[from_dlpack] got the shape ", shape, "; no tensor is like that");
  if (count == 0) return make_tensor(dtype, shape);
  if (array.data == nullptr) fail<InvalidArgumentError>("[from_dlpack] got no data");

  auto* data = static_cast<std::byte*>(array.data) + array.byte_offset;
  const std::size_t unit = size_of(dtype), alignment = is_complex(dtype) ? unit / 2 : unit;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
  const bool row_major = is_row_major(array, shape);
  if (aligned && row_major) return make_foreign(dtype, shape, data, std::move(owner));
  Tensor copy = make_tensor(dtype, shape);
  if (row_major) {
    std::memcpy(mutable_data(copy), data, copy.num_bytes());
  } else {
    copy_strided(data, array.strides, mutable_data<std::byte>(copy), shape, unit);
  }
  return copy;
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  return reinterpret_cast<DLManagedTensor*>(exported<Managed>(tensor));
}

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
  auto* managed = exported<ManagedVersioned>(tensor);
  managed->major = 1;
  managed->minor = 0;
  managed->flags = dlpack::kReadOnly;
  return reinterpret_cast<DLManagedTensorVersioned*>(managed);
}

Tensor from_dlpack(DLManagedTensor* managed) {
  auto* structure = reinterpret_cast<Managed*>(managed);
  if (structure == nullptr) fail<InvalidArgumentError>("[from_dlpack] got a null pointer");
  return imported(structure->array, std::shared_ptr<void>(structure, [](void* p) {
                    release(static_cast<Managed*>(p));
                  }));
}

Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  auto* structure = reinterpret_cast<ManagedVersioned*>(managed);
  if (structure == nullptr) fail<InvalidArgumentError>("[from_dlpack] got a null pointer");
  std::shared_ptr<void> owner(structure,
                              [](void* p) { release(static_cast<ManagedVersioned*>(p)); });
  if (structure->major != 1)
    fail<InvalidArgumentError>("[from_dlpack] got version ", structure->major,
                               " of DLPack; expected version 1");
  return imported(structure->array, std::move(owner));
}

void release_dlpack(DLManagedTensor* managed) noexcept {
  release(reinterpret_cast<Managed*>(managed));
}

void release_dlpack(DLManagedTensorVersioned* managed) noexcept {
  release(reinterpret_cast<ManagedVersioned*>(managed));
}

}  // namespace gradus
