#include "report.h"
#include <mutex>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

namespace cudaperf {

static int output = -1;
static uintptr_t base;
static std::mutex writing;

void open_report(int descriptor, uintptr_t code_base) {
    output = descriptor;
    base = code_base;
}

static std::string formatted(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    std::string result(static_cast<size_t>(vsnprintf(nullptr, 0, format, arguments)), '\0');
    vsnprintf(&result[0], result.size() + 1, format, again);
    va_end(again);
    return result;
}

std::string text(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string result = formatted(format, arguments);
    va_end(arguments);
    return result;
}

void report(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string line = formatted(format, arguments) + "\n";
    va_end(arguments);
    std::lock_guard<std::mutex> lock(writing);
    for (size_t done = 0; done < line.size();) {
        ssize_t n = write(output, line.data() + done, line.size() - done);
        if (n <= 0) _exit(1);
        done += static_cast<size_t>(n);
    }
}

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

unsigned long code_offset(const void *site) { return reinterpret_cast<uintptr_t>(site) - base; }

const void *code_at(unsigned long offset) { return reinterpret_cast<const void *>(base + offset); }

void report_finding(const char *rule, const char *severity, int line, const std::vector<const void *> &sites,
                    const std::string &message) {
    std::string places;
    for (const void *site : sites) places += (places.empty() ? "" : ",") + std::to_string(code_offset(site));
    report(R"({"event":"finding","rule":"%s","severity":"%s","line":%d,"sites":[%s],"message":%s})", rule,
           severity, line, places.c_str(), quoted(message).c_str());
}

void report_host_finding(const char *rule, const void *site, const std::string &message) {
    report(
        R"({"event":"finding","rule":"%s","severity":"error","line":0,"sites":[],"host_site":%lu,"message":%s})",
        rule, reinterpret_cast<uintptr_t>(site), quoted(message).c_str());
}

void (*last_words)();

void fail(const char *kind) {
    if (auto words = last_words) last_words = nullptr, words();
    report(R"({"event":"failure","kind":"%s"})", kind);
    _exit(3);
}

}  // namespace cudaperf
