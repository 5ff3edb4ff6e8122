#include "gradus/tensor.h"

#include <cstring>
#include <new>

#include "base/check.h"
#include "tensor/allocator.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constexpr std::size_t kHeader = sizeof(TensorImpl);

// Bytes for the elements of a shape; refuses what cannot exist before anything overflows.
std::size_t bytes_for(DType dtype, const Shape& shape, std::int64_t* count) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 47;
  std::int64_t n = 1;
  bool empty = false, huge = false;
  for (std::int64_t size : shape) {
    if (size < 0) fail<InvalidArgumentError>("negative size ", size, " in shape ", shape);
    empty |= size == 0;
    huge |= __builtin_mul_overflow(n, size == 0 ? 1 : size, &n) || n > kLimit;
  }
  if (empty) n = 0;
  if (huge) {  // also if it is empty: the other sizes are multiplied all over
    fail<ResourceExhaustedError>("a tensor of shape ", shape, " and dtype ", name_of(dtype),
                                 " does not fit into memory");
  }
  *count = n;
  return static_cast<std::size_t>(n) * size_of(dtype);
}

TensorImpl* make_header(DType dtype, const Shape& shape, std::size_t bytes) {
  auto* impl = new (allocate(kHeader + bytes))
      TensorImpl{.dtype = dtype, .count = 0, .data = nullptr, .base = nullptr, .shape = shape};
  return impl;
}

std::size_t block_bytes(const TensorImpl* impl) {
  const bool has_elements = impl->kind == ValueKind::concrete && !impl->base &&
                            !(impl->extra() && impl->extra()->foreign);
  return kHeader +
         (has_elements ? static_cast<std::size_t>(impl->count) * size_of(impl->dtype) : 0);
}

template <class T>
Tensor scalar(T x) {
  Tensor t = make_tensor(dtype_v<T>, {});
  *mutable_data<T>(t) = x;
  return t;
}

template <class T>
Tensor from_nested(std::initializer_list<NestedList<T>> rows) {
  const NestedList<T> list(rows);
  if constexpr (std::is_same_v<T, bool>) {
    Tensor t = make_tensor(bool_, list.shape());
    std::copy(list.values().begin(), list.values().end(), mutable_data<bool>(t));
    return t;
  } else {
    return Tensor::from(list.values(), list.shape());
  }
}

}  // namespace

TensorExtra::~TensorExtra() {
  while (tangents) delete std::exchange(tangents, tangents->next);
}

TensorExtra& TensorImpl::ensure_extra() {
  TensorExtra* found = extra();
  if (found) return *found;
  auto* made = new TensorExtra;
  if (rare.compare_exchange_strong(found, made, std::memory_order_acq_rel)) return *made;
  delete made;
  return *found;
}

namespace detail {

void retain(TensorImpl* impl) noexcept { impl->refs.fetch_add(1, std::memory_order_relaxed); }

// A chain of views frees itself in a loop: no recursion, however long the chain.
void release(TensorImpl* impl) noexcept {
  while (impl) {
    // The last owner need not lock the bus: nobody else can touch the count any more.
    if (impl->refs.load(std::memory_order_acquire) != 1 &&
        impl->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      return;
    }
    TensorImpl* base = impl->base;
    const std::size_t bytes = block_bytes(impl);
    delete impl->extra();
    deallocate(impl, bytes);
    impl = base;
  }
}

}  // namespace detail

Tensor make_tensor(DType dtype, const Shape& shape) {
  std::int64_t count;
  const std::size_t bytes = bytes_for(dtype, shape, &count);
  TensorImpl* impl = make_header(dtype, shape, bytes);
  impl->count = count;
  impl->data = reinterpret_cast<char*>(impl) + kHeader;
  return Tensor::adopt(impl);
}

Tensor make_view(const Tensor& base, const Shape& shape, std::int64_t first_element) {
  TensorImpl* source = base.impl();
  TensorImpl* impl = make_header(source->dtype, shape, 0);
  impl->kind = source->kind;
  impl->count = shape.is_known() ? std::int64_t{shape.num_elements()} : -1;
  if (source->data) {
    impl->data = static_cast<char*>(source->data) + first_element * size_of(source->dtype);
    impl->base = source->base ? source->base : source;
    detail::retain(impl->base);
  }
  if (source->kind != ValueKind::concrete) {
    TensorExtra& extra = impl->ensure_extra();
    extra.graph = source->extra()->graph;
    extra.value = source->extra()->value;
    extra.inner = source->extra()->inner;
    extra.level = source->extra()->level;
    impl->set(kNotConcrete);
  }
  return Tensor::adopt(impl);
}

Tensor make_placeholder(ValueKind kind, DType dtype, const Shape& shape) {
  TensorImpl* impl = make_header(dtype, shape, 0);
  impl->kind = kind;
  impl->count = shape.is_known() ? std::int64_t{shape.num_elements()} : -1;
  impl->ensure_extra();
  impl->set(kNotConcrete);
  return Tensor::adopt(impl);
}

Tensor make_foreign(DType dtype, const Shape& shape, void* data, std::shared_ptr<void> owner) {
  std::int64_t count;
  bytes_for(dtype, shape, &count);
  TensorImpl* impl = make_header(dtype, shape, 0);
  impl->count = count;
  impl->data = data;
  impl->ensure_extra().foreign = std::move(owner);
  return Tensor::adopt(impl);
}

Tensor make_weak(double x) {
  Tensor t(x);
  t.impl()->set(kWeak);
  return t;
}

Tensor make_weak(std::int64_t x) {
  Tensor t(x);
  t.impl()->set(kWeak);
  return t;
}

Tensor::Tensor(float x) : Tensor(scalar(x)) {}
Tensor::Tensor(double x) : Tensor(scalar(x)) {}
Tensor::Tensor(bool x) : Tensor(scalar(x)) {}
Tensor::Tensor(int x) : Tensor(scalar(static_cast<std::int32_t>(x))) {}
Tensor::Tensor(std::int64_t x) : Tensor(scalar(x)) {}
Tensor::Tensor(std::complex<float> x) : Tensor(scalar(x)) {}
Tensor::Tensor(std::complex<double> x) : Tensor(scalar(x)) {}

Tensor::Tensor(std::initializer_list<NestedList<float>> rows) : Tensor(from_nested(rows)) {}
Tensor::Tensor(std::initializer_list<NestedList<double>> rows) : Tensor(from_nested(rows)) {}
Tensor::Tensor(std::initializer_list<NestedList<int>> rows) : Tensor(from_nested(rows)) {}
Tensor::Tensor(std::initializer_list<NestedList<bool>> rows) : Tensor(from_nested(rows)) {}

template <class T>
void NestedList<T>::append(std::initializer_list<NestedList> rows) {
  if (rows.size() > 0) shape_ = rows.begin()->shape_;
  for (const NestedList& row : rows) {
    if (row.shape_ != shape_) {
      fail<InvalidArgumentError>("a nested list must be rectangular, but rows of shapes ", shape_,
                                 " and ", row.shape_, " stand side by side");
    }
    values_.insert(values_.end(), row.values_.begin(), row.values_.end());
  }
  shape_.insert(0, static_cast<std::int64_t>(rows.size()));
}

template class NestedList<float>;
template class NestedList<double>;
template class NestedList<int>;
template class NestedList<bool>;

Tensor Tensor::copy_of(const void* values, std::size_t count, DType dtype, const Shape& shape) {
  Tensor t = make_tensor(dtype, shape);
  if (static_cast<std::size_t>(t.num_elements()) != count) {
    fail<InvalidArgumentError>("[Tensor::from] got ", count, " elements for shape ", shape,
                               ", which needs ", t.num_elements());
  }
  if (count > 0) std::memcpy(t.impl()->data, values, t.num_bytes());
  return t;
}

Tensor Tensor::unwritten(DType dtype, const Shape& shape, void** elements) {
  Tensor t = make_tensor(dtype, shape);
  *elements = t.impl()->data;
  return t;
}

namespace {

const TensorImpl& checked(const TensorImpl* impl) {
  if (!impl) {
    fail<InvalidArgumentError>(
        "an undefined tensor was used; it was default-constructed or moved "
        "from, or it is a gradient that does not exist");
  }
  return *impl;
}

}  // namespace

DType Tensor::dtype() const { return checked(impl_).dtype; }
const Shape& Tensor::shape() const { return checked(impl_).shape; }
std::int64_t Tensor::num_elements() const {
  const TensorImpl& impl = checked(impl_);
  return impl.count >= 0 ? impl.count : std::int64_t{impl.shape.num_elements()};
}
std::size_t Tensor::num_bytes() const {
  return static_cast<std::size_t>(num_elements()) * size_of(dtype());
}

const void* Tensor::raw_data() const {
  if (checked(impl_).kind != ValueKind::concrete) {
    fail<InvalidArgumentError>("the value of a ",
                               impl_->kind == ValueKind::traced ? "traced" : "batched",
                               " tensor of shape ", impl_->shape,
                               " was asked for; it has none "
                               "while a function is traced or mapped. Compute with ops instead, or "
                               "return the tensor and look at the result");
  }
  return impl_->data;
}

const void* Tensor::checked_data(DType wanted) const {
  if (dtype() != wanted) {
    fail<InvalidArgumentError>("data<", name_of(wanted), ">() of a ", name_of(dtype()),
                               " tensor; cast it first");
  }
  return raw_data();
}

void Tensor::convert_item(DType to, void* value) const {
  const void* data = raw_data();
  if (num_elements() != 1) {
    fail<InvalidArgumentError>("item() needs a tensor with one element, got shape ", shape());
  }
  visit_dtype(dtype(), [&](auto from_zero) {
    using From = decltype(from_zero);
    From from;
    std::memcpy(&from, data, sizeof from);
    visit_dtype(to, [&](auto to_zero) {
      using To = decltype(to_zero);
      constexpr bool from_complex = is_complex(dtype_v<From>), to_complex = is_complex(dtype_v<To>);
      constexpr bool from_half = sizeof(From) == 2 && is_floating(dtype_v<From>);
      if constexpr (from_complex && !to_complex) {
        fail<InvalidArgumentError>("item() of a ", name_of(dtype()), " tensor as ", name_of(to));
      } else if constexpr (from_complex) {
        *static_cast<To*>(value) = To(from);
      } else if constexpr (to_complex) {
        using Real = typename To::value_type;
        *static_cast<To*>(value) = To(static_cast<Real>(from));
      } else if constexpr (from_half && !std::is_same_v<From, To>) {
        *static_cast<To*>(value) = static_cast<To>(static_cast<float>(from));
      } else if constexpr (is_floating(dtype_v<To>) && sizeof(To) == 2) {
        *static_cast<To*>(value) = To(static_cast<float>(from));
      } else {
        *static_cast<To*>(value) = static_cast<To>(from);
      }
    });
  });
}

}  // namespace gradus
