"""What converted code calls, under the name ag__."""
from ._builtins import call, iterated  # noqa: F401
from ._convert import mark  # noqa: F401
from ._expressions import and_, assert_stmt, if_exp, not_, or_  # noqa: F401
from ._loops import for_stmt, options, while_stmt  # noqa: F401
from ._branches import if_stmt, no_value, read, returned, undefined  # noqa: F401
