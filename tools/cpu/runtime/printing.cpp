#include "printing.h"
#include <mutex>
#include <stdarg.h>
#include <stdio.h>

namespace cudaperf {

// As large as CUDA's own buffer is by default (cudaLimitPrintfFifoSize); what comes after is lost.
constexpr size_t most = 1 << 20;

static std::string printed;
static std::mutex printing;

std::string take_printed() {
    std::lock_guard<std::mutex> lock(printing);
    std::string taken;
    taken.swap(printed);
    return taken;
}

}  // namespace cudaperf

extern "C" int cudaperf_printf(const char *format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (count < 0) return -1;
    size_t size = static_cast<size_t>(count) < sizeof line ? static_cast<size_t>(count) : sizeof line - 1;
    std::lock_guard<std::mutex> lock(cudaperf::printing);
    if (cudaperf::printed.size() + size <= cudaperf::most) cudaperf::printed.append(line, size);
    return count;
}
