// A vector whose first N elements live inside it: for the short lists on hot paths (inputs,
// outputs, axes). Grows onto the heap when it must.
#pragma once
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace gradus {

template <class T, int N>
class SmallVector {
 public:
  SmallVector() = default;
  explicit SmallVector(std::size_t n) { resize(n); }
  SmallVector(std::initializer_list<T> values) {
    reserve(values.size());
    for (const T& v : values) push_back(v);
  }
  template <class I>
  SmallVector(I first, I last) {
    for (; first != last; ++first) push_back(*first);
  }
  SmallVector(const SmallVector& o) {
    reserve(o.size_);
    for (const T& v : o) push_back(v);
  }
  SmallVector(SmallVector&& o) noexcept { steal(o); }
  SmallVector& operator=(SmallVector o) noexcept {
    clear_storage();
    steal(o);
    return *this;
  }
  ~SmallVector() { clear_storage(); }

  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

  template <class... A>
  T& emplace_back(A&&... a) {
    if (size_ == capacity_) {
      T value(std::forward<A>(a)...);  // may refer into the old storage
      reserve(capacity_ * 2);
      return *std::construct_at(data_ + size_++, std::move(value));
    }
    return *std::construct_at(data_ + size_++, std::forward<A>(a)...);
  }
  void push_back(const T& v) { emplace_back(v); }
  void push_back(T&& v) { emplace_back(std::move(v)); }
  void pop_back() { std::destroy_at(data_ + --size_); }
  void resize(std::size_t n) {
    reserve(n);
    while (size_ > n) pop_back();
    while (size_ < n) std::construct_at(data_ + size_++);
  }
  void clear() { resize(0); }
  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    auto* moved = static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
    std::uninitialized_move(begin(), end(), moved);
    std::destroy(begin(), end());
    free_heap();
    data_ = moved;
    capacity_ = n;
  }

  operator std::span<T>() { return {data_, size_}; }
  operator std::span<const T>() const { return {data_, size_}; }

 private:
  T* local() { return std::launder(reinterpret_cast<T*>(storage_)); }
  void free_heap() {
    if (data_ != local()) ::operator delete(data_, std::align_val_t(alignof(T)));
  }
  void clear_storage() {
    std::destroy(begin(), end());
    free_heap();
    data_ = local();
    size_ = 0;
    capacity_ = N;
  }
  void steal(SmallVector& o) {
    if (o.data_ != o.local()) {
      data_ = std::exchange(o.data_, o.local());
      capacity_ = std::exchange(o.capacity_, N);
      size_ = std::exchange(o.size_, 0);
    } else {
      std::uninitialized_move(o.begin(), o.end(), local());
      size_ = o.size_;
      o.clear();
    }
  }

  alignas(T) std::byte storage_[N * sizeof(T)];
  T* data_ = local();
  std::size_t size_ = 0, capacity_ = N;
};

}  // namespace gradus
