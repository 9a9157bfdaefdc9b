// Catching the signals that end a program by its own fault.
#pragma once
#include <initializer_list>
#include <signal.h>
#include <stdint.h>
#include <initializer_list>
#include <ucontext.h>

namespace cudaperf {

// Calls the handler once, on the signal stack where the thread has one.
inline void watch_signals(void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action{};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
}

// The instruction at which the signal came; 0 where this machine's layout is not known.
inline uintptr_t program_counter([[maybe_unused]] void *context) {
#if defined(__linux__) && defined(__x86_64__)
    return static_cast<uintptr_t>(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__linux__) && defined(__aarch64__)
    return static_cast<ucontext_t *>(context)->uc_mcontext.pc;
#else
    return 0;
#endif
}

// The stack pointer at that instruction; 0 where this machine's layout is not known.
inline uintptr_t stack_pointer([[maybe_unused]] void *context) {
#if defined(__linux__) && defined(__x86_64__)
    return static_cast<uintptr_t>(static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__linux__) && defined(__aarch64__)
    return static_cast<ucontext_t *>(context)->uc_mcontext.sp;
#else
    return 0;
#endif
}

}  // namespace cudaperf
