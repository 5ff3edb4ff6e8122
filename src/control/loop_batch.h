// vmap of loops: one loop over whole batches. Where examples stop at different times, it runs until
// the last one has stopped, and the others keep what they had.
#pragma once
#include "control/loop.h"

namespace gradus {

Tensors batch_while(const WhileLoop& loop, const BatchCall& c);
Tensors batch_counted(const CountedLoop& loop, Size count, const BatchCall& c);

}  // namespace gradus
