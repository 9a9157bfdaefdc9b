#include "context.h"

#ifdef __APPLE__
#define SWITCH "_cudaperf_switch"
#else
#define SWITCH "cudaperf_switch"
#endif

#if defined(__x86_64__)
asm(".text\n.globl " SWITCH "\n" SWITCH ":\n"
    "pushq %rbp\npushq %rbx\npushq %r15\npushq %r14\npushq %r13\npushq %r12\n"
    "movq %rsp, (%rdi)\n"
    "movq %rsi, %rsp\n"
    "popq %r12\npopq %r13\npopq %r14\npopq %r15\npopq %rbx\npopq %rbp\n"
    "ret\n");
#elif defined(__aarch64__)
asm(".text\n.globl " SWITCH "\n" SWITCH ":\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp, #0]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\n"
    "stp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x2, sp\nstr x2, [x0]\n"
    "mov sp, x1\n"
    "ldp x19, x20, [sp, #0]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\n"
    "ldp x25, x26, [sp, #48]\nldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\n"
    "ret\n");
#endif
