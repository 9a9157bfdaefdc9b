// What only the compiler knows: an array's own length, and the alignment that a type needs.
#pragma once

namespace cudaperf::checks::typed {
void begin_case();
}
