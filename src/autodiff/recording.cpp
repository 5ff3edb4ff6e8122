#include "autodiff/recording.h"

#include <cstring>

#include "base/check.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

std::uint32_t next_serial() {
  static std::atomic<std::uint32_t> serial{0};
  std::uint32_t s;
  do s = serial.fetch_add(1, std::memory_order_relaxed) + 1;
  while (s == 0);
  return s;
}

std::uint64_t track_of(std::uint32_t serial, Recording::Id id) {
  return std::uint64_t{serial} << 32 | id;
}

bool has_any_differentiable(std::span<Tensor> out) {
  for (const Tensor& t : out)
    if (is_differentiable(t.impl()->dtype)) return true;
  return false;
}

}  // namespace

Recording::Recording() : serial_(next_serial()) {}

void Recording::clear() {
  serial_ = next_serial();
  bits_ = forward_bits_ = 0;
  nodes_.clear();
  edges_.clear();
  followers_.clear();
  words_.clear();
  saved_.clear();
  variable_reads_.clear();
  assignments_.clear();
  held_.clear();
  elsewhere_.clear();
  watched_late_.clear();
  watched_.clear();
}

Recording::Followers Recording::take_bit() {
  const Followers unused = ~bits_ & (bits_ + 1);
  if (unused == 0) {
    fail<ResourceExhaustedError>("64 tapes that share a recording are alive; let some go");
  }
  bits_ |= unused;
  return unused;
}

void Recording::give_bit_back(Followers bit) {
  bits_ &= ~bit;
  forward_bits_ &= ~bit;
  if (bits_ == 0) return;  // nobody is left to follow anything
  for (Followers& f : followers_) f &= ~bit;
  std::erase_if(watched_late_, [&](auto& entry) { return (entry.second &= ~bit) == 0; });
}

Recording::Id Recording::find(const Tensor& t) const {
  const std::uint64_t track = t.impl()->track.load(std::memory_order_relaxed);
  if (track >> 32 == serial_) return static_cast<Id>(track);
  if (!elsewhere_.empty()) {
    const auto found = elsewhere_.find(t.impl());
    if (found != elsewhere_.end()) return found->second;
  }
  return kNone;
}

Recording::Id Recording::add_values(std::size_t count, Followers tapes) {
  const auto first = static_cast<Id>(followers_.size());
  if (followers_.size() + count >= kNone) {
    fail<ResourceExhaustedError>("a tape holds at most ", kNone - 1, " values; use several tapes");
  }
  for (std::size_t i = 0; i < count; ++i) followers_.push_back(tapes);
  return first;
}

void Recording::add_leaf(Id id) {
  nodes_.push_back({.op = nullptr,
                    .where = thread_context.where,
                    .attrs = 0,
                    .avals = 0,
                    .first_edge = 0,
                    .first_saved = static_cast<std::uint32_t>(saved_.size()),
                    .first_out = id,
                    .in_count = 0,
                    .out_count = 1,
                    .saved_in = 0,
                    .saved_out = 0,
                    .cut = false});
}

Recording::Id Recording::watch(const Tensor& t, Followers tapes) {
  Id id = find(t);
  if (id != kNone) {
    if (const Followers late = tapes & ~followers_[id]) watched_late_.emplace_back(id, late);
    followers_[id] |= tapes;
    return id;
  }
  id = add_values(1, tapes);
  add_leaf(id);
  std::uint64_t untracked = 0;
  if (!t.impl()->track.compare_exchange_strong(untracked, track_of(serial_, id),
                                               std::memory_order_relaxed)) {
    elsewhere_.emplace(t.impl(), id);
  }
  watched_.push_back(t);
  t.impl()->set(kTracked);
  return id;
}

void Recording::read_variable(VariableState& variable, const Tensor& alias, Followers tapes,
                              Place place) {
  const Id id = add_values(1, tapes);
  add_leaf(id);
  track(alias, id, place);
  variable_reads_.push_back({variable.shared_from_this(), id});
}

void Recording::track(const Tensor& t, Id id, Place place) {
  if (place == Place::alone) {
    t.impl()->track.store(track_of(serial_, id), std::memory_order_relaxed);
  } else {  // its header has the number of the other recording
    elsewhere_.insert_or_assign(t.impl(), id);
    watched_.push_back(t);  // as long as it is there, no other tensor can be where it is
  }
  t.impl()->set(kTracked);
}

void Recording::note_assignment(VariableState& variable, const Tensor& value) {
  const Id id = value.impl()->has(kTracked) ? find(value) : kNone;
  if (id == kNone) return;
  assignments_.push_back({variable.shared_from_this(), id, thread_context.where});
}

std::int64_t* Recording::Words::grow(std::size_t count) {
  if (size_ + count > capacity_) {
    if (size_ + count >= std::size_t{1} << 32) {
      fail<ResourceExhaustedError>("a tape's recording is full; use several tapes");
    }
    const std::size_t larger = std::max(size_ + count, std::max<std::size_t>(1024, 2 * capacity_));
    auto moved = std::make_unique_for_overwrite<std::int64_t[]>(larger);
    std::copy(data(), data() + size_, moved.get());
    words_ = std::move(moved);
    capacity_ = larger;
  }
  return data() + std::exchange(size_, size_ + count);
}

bool Recording::record(const Op& op, const void* attrs, std::span<const Tensor* const> in,
                       std::span<Tensor> out, Followers tapes, Place place) {
  SmallVector<Id, 8> ids;
  Followers followers = 0;
  std::uint32_t wanted = 0;
  bool known = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Id id = in[i]->impl()->has(kTracked) ? find(*in[i]) : kNone;
    ids.push_back(id);
    if (id == kNone) continue;
    known = true;
    const Followers f = followers_[id] & tapes;
    if (f && op.is_differentiable_in(static_cast<int>(i))) {
      followers |= f;
      wanted |= position(i);
    }
  }
  if (!known) return false;
  const bool cut = !followers || !has_any_differentiable(out);
  if (cut) followers = 0;

  Node node{.op = &op,
            .where = thread_context.where,
            .attrs = 0,
            .avals = 0,
            .first_edge = static_cast<std::uint32_t>(edges_.size()),
            .first_saved = static_cast<std::uint32_t>(saved_.size()),
            .first_out = add_values(out.size(), followers),
            .in_count = static_cast<std::uint32_t>(in.size()),
            .out_count = static_cast<std::uint32_t>(out.size()),
            .saved_in = 0,
            .saved_out = 0,
            .cut = cut};
  edges_.insert(edges_.end(), ids.begin(), ids.end());
  if (!cut) {
    const std::size_t attr_words = (op.attrs().bytes + 7) / 8;
    std::size_t words = attr_words + in.size();
    for (const Tensor* t : in) words += static_cast<std::size_t>(t->impl()->shape.rank());
    std::int64_t* at = words_.grow(words);
    node.attrs = static_cast<std::uint32_t>(at - words_.data());
    node.avals = node.attrs + static_cast<std::uint32_t>(attr_words);
    if (attr_words > 0) std::memcpy(at, attrs, op.attrs().bytes);
    if (op.attrs().holds) held_.push_back(op.attrs().held(attrs));
    at += attr_words;
    for (const Tensor* t : in) {
      const TensorImpl& impl = *t->impl();
      *at++ = static_cast<std::int64_t>(impl.dtype) << 32 | impl.shape.rank();
      const auto rank = static_cast<std::size_t>(impl.shape.rank());
      std::memcpy(at, impl.shape.begin(), rank * sizeof(Size));
      at += rank;
    }
    Reads reads = op.reads(attrs, wanted, static_cast<int>(in.size()));
    if ((followers & forward_bits_) && op.info.reads) reads = {~0u, ~0u};
    node.saved_in = reads.in;
    node.saved_out = reads.out;
    for (std::size_t i = 0; i < in.size(); ++i)
      if (has_position(reads.in, i)) saved_.push_back(*in[i]);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (has_position(reads.out, i)) saved_.push_back(out[i]);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Id id = node.first_out + static_cast<Id>(i);
    if (!is_differentiable(out[i].impl()->dtype)) followers_[id] = 0;
    track(out[i], id, place);
  }
  nodes_.push_back(node);
  return true;
}

void Recording::load(const Node& n, SmallVector<Tensor, 8>& in, SmallVector<Tensor, 4>& out,
                     SmallVector<Aval, 4>& avals) const {
  in.resize(n.in_count);
  out.resize(n.out_count);
  avals.resize(n.in_count);
  const std::int64_t* at = words_.data() + n.avals;
  const Tensor* saved = saved_.data() + n.first_saved;
  for (std::size_t i = 0; i < n.in_count; ++i) {
    const std::int64_t head = *at++;
    const auto rank = static_cast<std::size_t>(head & 0xff);
    avals[i].dtype = static_cast<DType>(head >> 32);
    avals[i].shape = Shape(std::span(reinterpret_cast<const Size*>(at), rank));
    at += rank;
    in[i] = has_position(n.saved_in, i) ? *saved++ : Tensor();
  }
  for (std::size_t i = 0; i < n.out_count; ++i)
    out[i] = has_position(n.saved_out, i) ? *saved++ : Tensor();
}

namespace {

template <class F>
void for_each_saved(const Recording::Node& n, F f) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n.in_count; ++i) count += has_position(n.saved_in, i);
  for (std::size_t i = 0; i < n.out_count; ++i) count += has_position(n.saved_out, i);
  for (std::size_t i = 0; i < count; ++i) f(n.first_saved + i);
}

}  // namespace

void Recording::release(const Node& n) {
  for_each_saved(n, [&](std::size_t i) { saved_[i] = Tensor(); });
}

std::size_t Recording::saved_bytes(const Node& n) const {
  std::size_t bytes = 0;
  for_each_saved(n, [&](std::size_t i) {
    if (saved_[i].defined() && is_concrete(saved_[i])) bytes += saved_[i].num_bytes();
  });
  return bytes;
}

std::size_t Recording::own_bytes() const {
  return nodes_.size() * sizeof(Node) + edges_.size() * sizeof(Id) +
         followers_.size() * sizeof(Followers) + words_.size() * sizeof(std::int64_t) +
         saved_.size() * sizeof(Tensor);
}

}  // namespace gradus
