#include "tensor/block_span.h"

#include <new>

namespace gradus {

void SpanList::link(Span* span) {
  span->next = first_;
  span->before = nullptr;
  if (first_ != nullptr) first_->before = span;
  first_ = span;
}

void SpanList::unlink(Span* span) {
  (span->before != nullptr ? span->before->next : first_) = span->next;
  if (span->next != nullptr) span->next->before = span->before;
}

void SpanList::add(void* run, std::size_t block_size) {
  const auto blocks = static_cast<std::uint32_t>((kSpanBytes - sizeof(Span)) / block_size);
  link(new (run) Span{nullptr, nullptr, nullptr, 0, 0, blocks});
}

FreeBlock* SpanList::take(std::size_t block_size) {
  Span* span = first_;
  if (span == nullptr) return nullptr;
  FreeBlock* block = span->free;
  if (block != nullptr) {
    span->free = block->next;
  } else {
    block = reinterpret_cast<FreeBlock*>(reinterpret_cast<std::byte*>(span + 1) +
                                         span->cut++ * block_size);
  }
  if (++span->used == span->blocks) unlink(span);
  return block;
}

void SpanList::give(FreeBlock* block, PageHeap& runs) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  auto* span = reinterpret_cast<Span*>(address & ~(kSpanBytes - 1));
  block->next = span->free;
  span->free = block;
  if (span->used-- == span->blocks) link(span);
  if (span->used == 0 && (span->next != nullptr || span->before != nullptr)) {
    unlink(span);
    runs.give(span);
  }
}

void SpanList::release_empty(PageHeap& runs) noexcept {
  for (Span *span = first_, *next; span != nullptr; span = next) {
    next = span->next;
    if (span->used != 0) continue;
    unlink(span);
    runs.give(span);
  }
}

}  // namespace gradus
