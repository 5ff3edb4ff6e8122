// Tensors shared with other libraries through DLPack, without a copy.
//
// The structures are those of dlpack.h, which is not needed here but may be included too. The older
// one is what most libraries pass around; the versioned one (DLPack 1.0) can say that the memory
// must not be written to, which is so for every tensor of ours.
#pragma once
#include "gradus/tensor.h"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace gradus {

// The consumer calls the deleter when it is done; until then the elements stay where they are. It
// must not write to them.
DLManagedTensor* to_dlpack(const Tensor& tensor);
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

// A tensor over the memory of somebody else, who must not change it any more; a copy if it is not
// row-major or not aligned to its elements. The structure is taken over: its deleter is called
// exactly once, when no tensor uses the memory any more, or before an exception leaves (memory of
// another device, more than kMaxRank axes, element types that we do not have).
Tensor from_dlpack(DLManagedTensor* managed);
Tensor from_dlpack(DLManagedTensorVersioned* managed);

// Calls the deleter of a structure that nobody took.
void release_dlpack(DLManagedTensor* managed) noexcept;
void release_dlpack(DLManagedTensorVersioned* managed) noexcept;

}  // namespace gradus
