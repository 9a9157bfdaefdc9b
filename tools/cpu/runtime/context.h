// Stack switching: a few instructions where we know the machine, ucontext elsewhere.
#pragma once
#include <stddef.h>
#include <stdint.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace cudaperf {

#if defined(__x86_64__) || defined(__aarch64__)

struct Context {
    void *stack_pointer;
};

extern "C" void cudaperf_switch(void **save, void *restore);

inline void switch_context(Context &from, Context &to) {
    cudaperf_switch(&from.stack_pointer, to.stack_pointer);
}

// Makes a context that begins in `entry`, which must never return.
inline void prepare(Context &context, char *, char *stack_top, void (*entry)()) {
    uintptr_t top = reinterpret_cast<uintptr_t>(stack_top) & ~uintptr_t{15};
#ifdef __x86_64__
    constexpr int saved = 8, first = 6;  // six registers, the entry, and a return address of zero
#else
    constexpr int saved = 20, first = 11;  // x19 to x29, x30 = entry, d8 to d15
#endif
    void **frame = reinterpret_cast<void **>(top) - saved;
    for (int i = 0; i < saved; i++) frame[i] = nullptr;
    frame[first] = reinterpret_cast<void *>(entry);
    context.stack_pointer = frame;
}

#else
struct Context {
    ucontext_t state;
};

inline void switch_context(Context &from, Context &to) { swapcontext(&from.state, &to.state); }

inline void prepare(Context &context, char *stack, char *stack_top, void (*entry)()) {
    getcontext(&context.state);
    context.state.uc_stack.ss_sp = stack;
    context.state.uc_stack.ss_size = static_cast<size_t>(stack_top - stack);
    context.state.uc_link = nullptr;
    makecontext(&context.state, entry, 0);
}

#endif

}  // namespace cudaperf
