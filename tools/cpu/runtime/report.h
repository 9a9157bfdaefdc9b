// What the harness tells the tool: one JSON object a line, on a descriptor that no candidate code holds.
#pragma once
#include <stdint.h>
#include <string>
#include <vector>

namespace cudaperf {

void open_report(int descriptor, uintptr_t code_base);

// printf-style; the text must be one JSON object.
__attribute__((format(printf, 1, 2))) void report(const char *format, ...);

std::string quoted(const std::string &text);

// A return address in device code as an offset into its library.
unsigned long code_offset(const void *site);
const void *code_at(unsigned long offset);

// A finding. `{0}`, `{1}` in the message stand for the places of `sites` (return addresses in device code);
// the finding's own place is the first site, or `line` where there is none.
void report_finding(const char *rule, const char *severity, int line, const std::vector<const void *> &sites,
                    const std::string &message);

// The same for a place in the host part, given as an offset into its library.
void report_host_finding(const char *rule, const void *site, const std::string &message);

// Ends the process: the case failed, and what it left behind cannot be trusted to go on. `last_words` are called
// before, where there are any.
extern void (*last_words)();
[[noreturn]] void fail(const char *kind);

__attribute__((format(printf, 1, 2))) std::string text(const char *format, ...);

}  // namespace cudaperf
