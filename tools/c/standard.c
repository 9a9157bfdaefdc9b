/* What device code needs of C's library and its headers lack: complex numbers and classes of characters.
 *
 * Complex products and quotients follow C99's plain formulas; annex G's treatment of infinities is left out, as it
 * is with gcc's -fcx-limited-range. Characters are classified as in the locale "C".
 */
#include <math.h>

#define COMPLEX(real, name, f)                                                                              \
    typedef struct {                                                                                        \
        real re, im;                                                                                        \
    } name;                                                                                                 \
    static name name##_add(name a, name b) { return (name){a.re + b.re, a.im + b.im}; }                     \
    static name name##_add_real(name a, real b) { return (name){a.re + b, a.im}; }                          \
    static name name##_sub(name a, name b) { return (name){a.re - b.re, a.im - b.im}; }                     \
    static name name##_sub_real(name a, real b) { return (name){a.re - b, a.im}; }                          \
    static name name##_real_sub(real a, name b) { return (name){a - b.re, -b.im}; }                         \
    static name name##_mul(name a, name b) {                                                                \
        return (name){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                                \
    }                                                                                                       \
    static name name##_mul_real(name a, real b) { return (name){a.re * b, a.im * b}; }                      \
    static name name##_div_real(name a, real b) { return (name){a.re / b, a.im / b}; }                      \
    static name name##_div(name a, name b) {                                                                \
        real ratio, size;                                                                                   \
        if (fabs##f(b.re) >= fabs##f(b.im)) {                                                               \
            ratio = b.im / b.re;                                                                            \
            size = b.re + b.im * ratio;                                                                     \
            return (name){(a.re + a.im * ratio) / size, (a.im - a.re * ratio) / size};                      \
        }                                                                                                   \
        ratio = b.re / b.im;                                                                                \
        size = b.re * ratio + b.im;                                                                         \
        return (name){(a.re * ratio + a.im) / size, (a.im * ratio - a.re) / size};                          \
    }                                                                                                       \
    static name name##_real_div(real a, name b) { return name##_div((name){a, 0}, b); }                     \
    static name name##_neg(name a) { return (name){-a.re, -a.im}; }                                         \
    static name name##_conj(name a) { return (name){a.re, -a.im}; }                                         \
    static int name##_eq(name a, name b) { return a.re == b.re && a.im == b.im; }                           \
    static int name##_nonzero(name a) { return a.re != 0 || a.im != 0; }                                    \
    static real name##_abs(name a) { return hypot##f(a.re, a.im); }                                         \
    static real name##_arg(name a) { return atan2##f(a.im, a.re); }                                         \
    static name name##_exp(name a) {                                                                        \
        const real size = exp##f(a.re);                                                                     \
        return (name){size * cos##f(a.im), size * sin##f(a.im)};                                            \
    }                                                                                                       \
    static name name##_log(name a) { return (name){log##f(name##_abs(a)), name##_arg(a)}; }                 \
    static name name##_sqrt(name a) {                                                                       \
        const real size = name##_abs(a);                                                                    \
        if (size == 0) return (name){0, a.im};                                                              \
        const real root = sqrt##f((size + fabs##f(a.re)) / 2);                                              \
        if (a.re >= 0) return (name){root, a.im / (2 * root)};                                              \
        return (name){fabs##f(a.im) / (2 * root), copysign##f(root, a.im)};                                 \
    }                                                                                                       \
    static name name##_pow(name a, name b) {                                                                \
        if (!name##_nonzero(a)) return (name){name##_nonzero(b) ? 0 : 1, 0};                                \
        return name##_exp(name##_mul(b, name##_log(a)));                                                    \
    }

COMPLEX(float, complex_float, f)
COMPLEX(double, complex_double, )

static complex_double complex_double_of(complex_float a) { return (complex_double){a.re, a.im}; }
static complex_float complex_float_of(complex_double a) { return (complex_float){(float)a.re, (float)a.im}; }

static int c_isdigit(int c) { return c >= '0' && c <= '9'; }
static int c_isupper(int c) { return c >= 'A' && c <= 'Z'; }
static int c_islower(int c) { return c >= 'a' && c <= 'z'; }
static int c_isalpha(int c) { return c_isupper(c) || c_islower(c); }
static int c_isalnum(int c) { return c_isalpha(c) || c_isdigit(c); }
static int c_isspace(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static int c_isblank(int c) { return c == ' ' || c == '\t'; }
static int c_isxdigit(int c) { return c_isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static int c_isgraph(int c) { return c > ' ' && c < 127; }
static int c_isprint(int c) { return c >= ' ' && c < 127; }
static int c_iscntrl(int c) { return (c >= 0 && c < ' ') || c == 127; }
static int c_ispunct(int c) { return c_isgraph(c) && !c_isalnum(c); }
static int c_toupper(int c) { return c_islower(c) ? c - 'a' + 'A' : c; }
static int c_tolower(int c) { return c_isupper(c) ? c - 'A' + 'a' : c; }
