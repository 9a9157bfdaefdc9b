#include "printing.h"
#include <algorithm>
#include <mutex>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

using namespace cudaperf;

static int print(const char *text, int count, size_t room) {
    if (count < 0) return -1;
    size_t size = static_cast<size_t>(count) < room ? static_cast<size_t>(count) : room - 1;
    std::lock_guard<std::mutex> lock(printing);
    if (printed.size() + size <= most) printed.append(text, size);
    return count;
}

extern "C" {
int cudaperf_printf(const char *format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int count = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return print(line, count, sizeof line);
}

// The arguments lie packed as variadic ones are on the device: each at its own alignment, floats as doubles.
int cudaperf_vprintf(const char *format, const unsigned char *arguments) {
    std::string line;
    size_t offset = 0;
    int count = 0;
    auto take = [&](auto value) {
        offset = (offset + sizeof value - 1) / sizeof value * sizeof value;
        memcpy(&value, arguments + offset, sizeof value);
        offset += sizeof value;
        return value;
    };
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            line += *p;
            continue;
        }
        std::string piece = "%";
        bool wide = false;
        for (p++; *p && strchr("-+ #0123456789.*hlLzjt", *p); p++) {
            if (*p == '*') {
                piece += std::to_string(take(int()));
                continue;
            }
            wide |= strchr("lLzjt", *p) != nullptr;
            piece += *p;
        }
        if (!*p) break;
        piece += *p;
        char text[1024];
        int size = 0;
        if (*p == '%')
            size = snprintf(text, sizeof text, "%%");
        else if (strchr("eEfFgGaA", *p))
            size = snprintf(text, sizeof text, piece.c_str(), take(double()));
        else if (*p == 's')
            size = snprintf(text, sizeof text, piece.c_str(), reinterpret_cast<const char *>(take(uint64_t())));
        else if (wide || *p == 'p')
            size = snprintf(text, sizeof text, piece.c_str(), take(uint64_t()));
        else
            size = snprintf(text, sizeof text, piece.c_str(), take(uint32_t()));
        line.append(text, static_cast<size_t>(std::min<int>(size, sizeof text - 1)));
        count += *p != '%';
    }
    print(line.data(), static_cast<int>(line.size()), line.size() + 1);
    return count;
}
}
