#include "expr/emitter.h"

namespace gradus::expr {

bool supported(Isa isa) { return isa == Isa::interpreter; }
Emitted emit(const Program&, const Schedule&, Isa) { return {}; }

}  // namespace gradus::expr
