// The matrix instructions of a warp: mma, wmma, ldmatrix, stmatrix, movmatrix. All 32 lanes meet, and one of them works
// for all on what each has brought. Products are exact, and a sum is rounded once, to the accumulator's type: hardware
// promises no more than single precision inside, in an order of its own.
// Source: NVIDIA, "Parallel Thread Execution ISA", section "Warp Level Matrix Multiply-Accumulate Instructions".
#pragma once
#include "ptx.h"
#include "small_bytes.h"

namespace ptx {

// Calls T::compute once for the warp, on a T of each lane.
template <typename T> PTX_INLINE void together(T &mine, int line) { cudaperf_together(T::compute, &mine, line); }

// Types of elements: `packed` of them share a register.
template <typename V, typename R, int count> struct ElementType {
    using Value = V;
    using Register = R;
    static constexpr int packed = count, bits = sizeof(R) * 8 / count;
    static PTX_INLINE R part(R held, int i) { return count == 1 ? held : held >> (i * bits) & ((R(1) << bits) - 1); }
};
struct F16 : ElementType<double, u32, 2> {
    static double get(u32 held) { return from_half(static_cast<u16>(held)); }
    static u32 put(double value) { return to_half(value); }
};
struct BF16 : ElementType<double, u32, 2> {
    static double get(u32 held) { return from_bfloat(static_cast<u16>(held)); }
};
// Hardware ignores the last 13 bits.
struct TF32 : ElementType<double, u32, 1> {
    static double get(u32 held) { return as<float>(held & 0xffffe000u); }
};
struct F32 : ElementType<double, u32, 1> {
    static double get(u32 held) { return as<float>(held); }
    static u32 put(double value) { return as<u32>(static_cast<float>(value)); }
};
struct F64 : ElementType<double, u64, 1> {
    static double get(u64 held) { return as<double>(held); }
    static u64 put(double value) { return as<u64>(value); }
};
struct E4M3 : ElementType<double, u32, 4> {
    static double get(u32 held) { return cudaperf::from_e4m3(static_cast<u8>(held)); }
};
struct E5M2 : ElementType<double, u32, 4> {
    static double get(u32 held) { return cudaperf::from_e5m2(static_cast<u8>(held)); }
};
struct S8 : ElementType<i64, u32, 4> {
    static i64 get(u32 held) { return static_cast<i8>(held); }
};
struct U8 : ElementType<i64, u32, 4> {
    static i64 get(u32 held) { return static_cast<u8>(held); }
};
struct S32 : ElementType<i64, u32, 1> {
    static i64 get(u32 held) { return static_cast<i32>(held); }
    static u32 put(i64 value) { return static_cast<u32>(value); }
};

// A lane's share of a matrix, which lies in core matrices of eight rows, one below the other and then side by side. In
// a core matrix four lanes share a row, and each has `pair` neighbours: as many as fill a register of a factor, two
// of an accumulator. That is the layout of mma ("Matrix Fragments for mma.m16n8k16" and its like); that of wmma is
// nobody's business, and so the same.
template <typename T, int rows, int columns, int pair> struct Fragment {
    using Type = T;
    static constexpr int elements = rows * columns / 32, registers = elements / T::packed, neighbours = pair;
    typename T::Register held[registers];

    static PTX_INLINE int row(int lane, int i) { return lane / 4 + 8 * (i / pair % (rows / 8)); }
    static PTX_INLINE int column(int lane, int i) {
        return 4 * pair * (i / pair / (rows / 8)) + lane % 4 * pair + i % pair;
    }
    typename T::Value get(int i) const { return T::get(T::part(held[i / T::packed], i % T::packed)); }
    void put_bits(int i, typename T::Register bits) {
        int place = i % T::packed * T::bits;
        held[i / T::packed] = (place ? held[i / T::packed] : 0) | bits << place;
    }
};
// Factors of a product of m by n, summed over k; the second one is kept as its transpose.
template <typename T, int m, int, int k> using FactorA = Fragment<T, m, k, T::packed>;
template <typename T, int, int n, int k> using FactorB = Fragment<T, n, k, T::packed>;
template <typename T, int m, int n, int> using Accumulator = Fragment<T, m, n, 2>;

// d = a * b + c
template <int m, int n, int k, typename A, typename B, typename C, typename D, bool saturating> struct Product {
    FactorA<A, m, n, k> a;
    FactorB<B, m, n, k> b;
    Accumulator<C, m, n, k> c;
    Accumulator<D, m, n, k> d;

    static void compute(void *const *lanes) {
        using Value = typename D::Value;
        Value x[m][k], y[k][n], sum[m][n];
        for (int lane = 0; lane < 32; lane++) {
            const Product &p = *static_cast<const Product *>(lanes[lane]);
            for (int i = 0; i < p.a.elements; i++) x[p.a.row(lane, i)][p.a.column(lane, i)] = p.a.get(i);
            for (int i = 0; i < p.b.elements; i++) y[p.b.column(lane, i)][p.b.row(lane, i)] = p.b.get(i);
            for (int i = 0; i < p.c.elements; i++) sum[p.c.row(lane, i)][p.c.column(lane, i)] = p.c.get(i);
        }
        for (int row = 0; row < m; row++)
            for (int q = 0; q < k; q++)
                for (int column = 0; column < n; column++)
                    if constexpr (sizeof(typename A::Register) == 8)
                        sum[row][column] = __builtin_fma(x[row][q], y[q][column], sum[row][column]);
                    else
                        sum[row][column] += x[row][q] * y[q][column];
        for (int lane = 0; lane < 32; lane++) {
            Product &p = *static_cast<Product *>(lanes[lane]);
            for (int i = 0; i < p.d.elements; i++) {
                Value value = sum[p.d.row(lane, i)][p.d.column(lane, i)];
                p.d.put_bits(i, D::put(saturating ? clamped<i32>(value) : value));
            }
        }
    }
};

// wmma.load and wmma.store of a Fragment: `along` is the distance in elements of two neighbours in a row of it, `down` of
// two in a column. (A matrix whose last register is not filled repeats its elements.)
template <typename Share, bool loads> struct Transfer {
    using Type = typename Share::Type;
    static constexpr int bytes = Type::bits / 8;
    Share share;
    unsigned char *matrix;
    i64 along, down;

    unsigned char *place(int lane, int i) const {
        return matrix + bytes * (share.row(lane, i) * down + share.column(lane, i) * along);
    }
    PTX_INLINE void check(int lane) const {
        int step = along == 1 ? Share::neighbours : 1;
        for (int i = 0; i < share.elements; i += step) PTX_ACCESS(place(lane, i), bytes * step, loads ? 0 : 1, 0);
    }
    static void compute(void *const *lanes) {
        for (int lane = 0; lane < 32; lane++) {
            Transfer &t = *static_cast<Transfer *>(lanes[lane]);
            for (int i = 0; i < t.share.elements; i++) {
                typename Type::Register held = 0;
                if (loads) {
                    memcpy(&held, t.place(lane, i), bytes);
                    t.share.put_bits(i, held);
                } else {
                    held = Type::part(t.share.held[i / Type::packed], i % Type::packed);
                    memcpy(t.place(lane, i), &held, bytes);
                }
            }
        }
    }
};

// ldmatrix and stmatrix of `count` matrices of 8 rows of 8 halfwords; lane i brings the address of row i, counted through
// all matrices. In each, a lane holds two neighbours of a row, or of a column where they are transposed.
template <int count, bool transposed, bool loads> struct Rows {
    unsigned char *row;
    u32 held[count];

    PTX_INLINE void check(u32 lane) const {
        if (lane < 8 * count) PTX_ACCESS(row, 16, loads ? 0 : 1, 0);
    }
    static void compute(void *const *lanes) {
        for (int matrix = 0; matrix < count; matrix++)
            for (int lane = 0; lane < 32; lane++)
                for (int i = 0; i < 2; i++) {
                    int first = lane / 4, second = lane % 4 * 2 + i;
                    const Rows &owner = *static_cast<Rows *>(lanes[8 * matrix + (transposed ? second : first)]);
                    unsigned char *place = owner.row + 2 * (transposed ? first : second);
                    u32 &held = static_cast<Rows *>(lanes[lane])->held[matrix];
                    if (loads)
                        held = (i ? held : 0) | u32(load<u16>(place)) << (16 * i);
                    else
                        store<u16>(place, static_cast<u16>(held >> (16 * i)));
                }
    }
};

// movmatrix: one matrix from registers to registers.
struct Transposition {
    u32 from, to;

    static void compute(void *const *lanes) {
        for (int lane = 0; lane < 32; lane++) {
            u32 to = 0;
            for (int i = 0; i < 2; i++) {
                int row = lane % 4 * 2 + i, column = lane / 4;
                u32 from = static_cast<Transposition *>(lanes[4 * row + column / 2])->from;
                to |= (from >> (16 * (column % 2)) & 0xffff) << (16 * i);
            }
            static_cast<Transposition *>(lanes[lane])->to = to;
        }
    }
};

}  // namespace ptx
