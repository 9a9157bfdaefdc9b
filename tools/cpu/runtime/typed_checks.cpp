// Checked builds compile with -fsanitize=bounds,alignment, which call these handlers in place of libubsan's:
// an index beyond its array (local arrays too, which no memory range could tell), and a pointer that is not
// aligned to its type, which a GPU refuses and a CPU does not.
// The data's layout: compiler-rt/lib/ubsan/ubsan_value.h and ubsan_handlers.h, which gcc follows.
#include "typed_checks.h"
#include "checks.h"
#include "report.h"
#include <set>

namespace cudaperf::checks::typed {

struct Place {
    const char *file;
    uint32_t line, column;
};

struct Type {
    uint16_t kind, info;
    char name[];
};

struct BadIndex {
    Place place;
    const Type *array, *index;
};

struct BadPointer {
    Place place;
    const Type *type;
    unsigned char log_alignment, kind;
};

static std::set<const Place *> reported;

void begin_case() { reported.clear(); }

static void tell(const char *rule, const Place &place, const std::string &what) {
    if (!active || !options.bounds || !position.launch || reported.size() > 20) return;
    if (reported.insert(&place).second)
        report_finding(rule, "error", static_cast<int>(place.line), {},
                       name_thread(*position.launch, position.block, position.thread) + what);
}

static std::string index_text(const Type &type, uintptr_t value) {
    unsigned int bits = 1u << (type.info >> 1);
    bool is_signed = type.info & 1;
    if (!is_signed || bits > 64) return std::to_string(value);
    return std::to_string(static_cast<int64_t>(value << (64 - bits)) >> (64 - bits));
}

}  // namespace cudaperf::checks::typed

using namespace cudaperf::checks::typed;

extern "C" {
void __ubsan_handle_out_of_bounds(const BadIndex *bad, uintptr_t index) {
    tell("out-of-bounds", bad->place,
         " uses index " + index_text(*bad->index, index) + " of an array of type " + bad->array->name);
}

void __ubsan_handle_type_mismatch_v1(const BadPointer *bad, uintptr_t address) {
    tell("misaligned-access", bad->place,
         cudaperf::text(" accesses the address 0x%lx as %s, which must be aligned to %u bytes",
                        static_cast<unsigned long>(address), bad->type->name, 1u << bad->log_alignment));
}
}
