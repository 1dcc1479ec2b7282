// What plain C reaches on given CPUs: arithmetic on registers alone, and passes over memory. `ceilings.py` builds and
// runs it, once for each width of a vector (BYTES).
//
//     ceilings MS CPU[,CPU...] [arithmetic] [NAME=BYTES ...]
//
// Each kernel runs for MS milliseconds, a thread on each CPU; NAME=BYTES is a working set over all threads. A rate is
// the best window of a millisecond in which every thread ran. Prints one JSON object, in FLOP/s and bytes/s.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

// Memory holds floats and is walked over as any of these.
typedef float floats __attribute__((vector_size(BYTES), may_alias));
typedef double doubles __attribute__((vector_size(BYTES), may_alias));
typedef uint32_t words __attribute__((vector_size(BYTES), may_alias));
enum { LANES = BYTES / 4, MOST = 1 << 16, SLICE_NS = 70000, CHUNK = 2 << 20, LARGE_PAGE = 2 << 20, SKEW = 1280 };

#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#if defined __AVX512F__ || defined __aarch64__  // 32 registers
#define CHAINS 24
#define EACH(X) EIGHT(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#else
#define CHAINS 12
#define EACH(X) EIGHT(X) X(8) X(9) X(10) X(11)
#endif

#if defined __x86_64__
#include <immintrin.h>
#if BYTES == 64
#define STREAM(p, v) _mm512_stream_si512((void *)(p), (__m512i)(v))
#define DOT(v, x, y) _mm512_dpbf16_ps((__m512)(v), (__m512bh)(x), (__m512bh)(y))
#elif BYTES == 32
#define STREAM(p, v) _mm256_stream_si256((void *)(p), (__m256i)(v))
#define DOT(v, x, y) _mm256_dpbf16_ps((__m256)(v), (__m256bh)(x), (__m256bh)(y))
#else
#define STREAM(p, v) _mm_stream_si128((void *)(p), (__m128i)(v))
#endif
#define PAST(p, v, w) STREAM(p, v), STREAM(p + 1, w)
#elif defined __aarch64__
#include <arm_neon.h>
#define PAST(p, v, w) __asm__ volatile("stnp %q0, %q1, [%2]" ::"w"(v), "w"(w), "r"(p) : "memory")  // in pairs only
#define DOT(v, x, y) vbfdotq_f32((float32x4_t)(v), (bfloat16x8_t)(x), (bfloat16x8_t)(y))
#define MATRIX(v, x, y) vbfmmlaq_f32((float32x4_t)(v), (bfloat16x8_t)(x), (bfloat16x8_t)(y))
#endif
#if defined DOT && (defined __AVX512BF16__ || defined __ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define BF16
#endif

// Goes over n vectors of each array, or n times over registers; what it returns is compared with what it has to be.
#define BODY(NAME) static uint32_t NAME(words *restrict a, const words *b, const words *c, long n)
typedef uint32_t body(words *restrict a, const words *b, const words *c, long n);

// Each chain goes to another number and back, without rounding: any difference at the end is a wrong result.
volatile float minus_one = -1, three = 3;  // volatile: not known to the compiler
volatile uint32_t ones = 0x3f803f80, minus_ones = 0xbf80bf80;  // two bf16 each
#define ARITHMETIC(NAME, START, X, Y, GO, BACK)                                             \
    BODY(NAME) {                                                                            \
        uint32_t wrong = 0;                                                                 \
        X; Y;                                                                               \
        EACH(START)                                                                         \
        for (long i = 0; i < n; i++) { EACH(GO) EACH(BACK) }                                \
        EACH(END)                                                                           \
        return wrong;                                                                       \
    }
#define SINGLE(k) floats v##k = (k + 1) / 32.0f + (floats){0};
#define DOUBLE(k) doubles v##k = (k + 1) / 32.0 + (doubles){0};
#define END(k) for (unsigned l = 0; l < BYTES / sizeof v##k[0]; l++) wrong += v##k[l] != (k + 1) / 32.0f;
#define FMA(k) v##k = x * v##k + y;
#define ADD(k) v##k = (floats)DOT(v##k, x, x);
#define TAKE(k) v##k = (floats)DOT(v##k, x, y);
#define ADD_MATRIX(k) v##k = (floats)MATRIX(v##k, x, x);
#define TAKE_MATRIX(k) v##k = (floats)MATRIX(v##k, x, y);
ARITHMETIC(fp32, SINGLE, floats x = minus_one + (floats){0}, floats y = three + (floats){0}, FMA, FMA)
ARITHMETIC(fp64, DOUBLE, doubles x = minus_one + (doubles){0}, doubles y = three + (doubles){0}, FMA, FMA)
#ifdef BF16
ARITHMETIC(bf16, SINGLE, words x = ones + (words){0}, words y = minus_ones + (words){0}, ADD, TAKE)
#ifdef MATRIX
ARITHMETIC(matrix, SINGLE, words x = ones + (words){0}, words y = minus_ones + (words){0}, ADD_MATRIX, TAKE_MATRIX)
#endif
#endif

#define ZERO(u) words r##u = {0};
#define OR(u) r##u |= a[i + u];
#define JOIN(u) all |= r##u;
BODY(read_all) {
    words all = {0};
    EIGHT(ZERO)
    for (long i = 0; i < n; i += 8) { EIGHT(OR) }
    EIGHT(JOIN)
    for (int l = 1; l < LANES; l++) all[0] |= all[l];
    return all[0];
}
#define WRITTEN -7.0f  // not zero: some processors write lines of zeros past their caches several times as fast
#define SEVENS ((words)(WRITTEN + (floats){0}))
#define WALK(NAME, STEPS)  /* the barrier: or a loop of stores becomes a call of memset or memcpy */ \
    BODY(NAME) {                                                                            \
        for (long i = 0; i < n; i += 8) { STEPS __asm__ volatile("" ::: "memory"); }        \
        return 0;                                                                           \
    }
#define FLIP(u) a[i + u] ^= 0x80000000u;
#define WRITE(u) a[i + u] = SEVENS;
#define COPY(u) a[i + u] = b[i + u];
#define TRIAD(u) a[i + u] = (words)((floats)b[i + u] + 0.5f * (floats)c[i + u]);
#define WRITE_PAST(u) PAST(a + i + u, SEVENS, SEVENS);
#define COPY_PAST(u) PAST(a + i + u, b[i + u], b[i + u + 1]);
#define PAIRS(X) X(0) X(2) X(4) X(6)
WALK(update, EIGHT(FLIP))
WALK(write_all, EIGHT(WRITE))
WALK(copy, EIGHT(COPY))
WALK(triad, EIGHT(TRIAD))
WALK(write_past, PAIRS(WRITE_PAST))
WALK(copy_past, PAIRS(COPY_PAST))

static const struct kernel {
    const char *what, *name;  // what: compute mode; none for passes over memory
    body *run;
    int arrays;
    double per;  // FLOP of a turn, or counted bytes for each byte of the arrays
} KERNELS[] = {
    {"fp32", "FMA", fp32, 0, 4.0 * CHAINS * LANES}, {"fp64", "FMA", fp64, 0, 2.0 * CHAINS * LANES},
#ifdef BF16
    {"bf16", "dot product", bf16, 0, 8.0 * CHAINS * LANES},
#ifdef MATRIX
    {"bf16", "matrix product", matrix, 0, 16.0 * CHAINS * LANES},
#endif
#endif
    {0, "read", read_all, 1, 1}, {0, "update", update, 1, 2}, {0, "write", write_all, 1, 1}, {0, "copy", copy, 2, 1},
    {0, "triad", triad, 3, 1}, {0, "streaming write", write_past, 1, 1}, {0, "streaming copy", copy_past, 2, 1},
};

struct job {  // of a thread
    const struct kernel *kernel;
    pthread_barrier_t *together;
    char *memory;
    size_t share;  // bytes of the working set
    int cpu, slices;
    int64_t ns, *stamps;
    double work;  // of a slice
    long wrong;
};

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static float value(int array, long i) { return array + 0.5f + (i & 127) / 256.0f; }

static float expected(body *run, long i, long visits) {
    if (run == read_all || !visits) return value(0, i);
    if (run == update) return visits & 1 ? -value(0, i) : value(0, i);
    if (run == copy || run == copy_past) return value(1, i);
    return run == triad ? value(1, i) + 0.5f * value(2, i) : WRITTEN;
}

static void *work(void *argument) {
    struct job *j = argument;
    const struct kernel *k = j->kernel;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(j->cpu, &set);
    j->wrong = pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0;

    // Large working sets are gone over in chunks, a slice each; a small one is gone over as often as a slice takes.
    long chunks = j->share > 2 * CHUNK ? j->share / CHUNK : 1, n = 4096, *visits = calloc(chunks, sizeof(long));
    if (k->arrays) n = j->share / k->arrays / chunks / (8 * BYTES) * 8;  // vectors of an array in a chunk
    words *at[3];
    for (int x = 0; x < 3; x++) {  // skewed, so that arrays do not meet in the same sets of a cache
        at[x] = (words *)(j->memory + (x < k->arrays) * x * (n * chunks * BYTES + SKEW));
        if (x < k->arrays)  // every page is written, so none is the shared page of zeros
            for (long i = 0; i < n * chunks * LANES; i++) ((float *)at[x])[i] = value(x, i);
    }
    uint32_t seen = 0, word, all = 0;
    long repeats = 1;
#define RUN(C) do {                                                                                            \
        for (long r = 0; r < repeats; r++) seen |= k->run(at[0] + n * (C), at[1] + n * (C), at[2] + n * (C), n); \
        visits[C] += repeats;                                                                                  \
    } while (0)
    for (int64_t t = now(); chunks == 1; t = now(), repeats *= 2) {
        RUN(0);
        if (now() - t > SLICE_NS) break;
    }
    pthread_barrier_wait(j->together);
    int s = 0;
    j->stamps[0] = now();
    do {
        RUN(s % chunks);
        j->stamps[++s] = now();
    } while (j->stamps[s] - j->stamps[0] < j->ns && s < MOST);
    j->slices = s;
    j->work = repeats * k->per * n * (k->arrays ? k->arrays * BYTES : 1);

    for (long i = 0; i < 128; i++) {
        float v = value(0, i);
        memcpy(&word, &v, sizeof word);
        all |= word;
    }
    j->wrong += seen != (k->run == read_all ? all : 0);
    for (long chunk = 0; chunk < chunks && k->arrays; chunk++)
        for (long i = chunk * n * LANES; i < (chunk + 1) * n * LANES; i++)
            j->wrong += ((float *)at[0])[i] != expected(k->run, i, visits[chunk]);
    free(visits);
    return 0;
}

static double done(const struct job *j, double t) {  // work of a thread until t
    int s = 0;
    while (s < j->slices - 1 && j->stamps[s + 1] < t) s++;
    return j->work * (s + (t - j->stamps[s]) / (j->stamps[s + 1] - j->stamps[s]));
}

static double best(const struct job *jobs, int threads) {  // of the windows in which all threads ran
    double start = 0, end = 1e300, most = 0;
    for (int i = 0; i < threads; i++) {
        if (jobs[i].stamps[0] > start) start = jobs[i].stamps[0];
        if (jobs[i].stamps[jobs[i].slices] < end) end = jobs[i].stamps[jobs[i].slices];
    }
    for (double t = start; t + 1e6 <= end; t += 1e6) {
        double sum = 0;
        for (int i = 0; i < threads; i++) sum += done(jobs + i, t + 1e6) - done(jobs + i, t);
        if (sum > most) most = sum;
    }
    return most * 1e3;  // a millisecond's
}

int main(int count, char **given) {
    enum { THREADS = 1024 };
    static struct job jobs[THREADS];
    static pthread_t threads[THREADS];
    if (count < 4) return fprintf(stderr, "ceilings MS CPU[,CPU...] [arithmetic] [NAME=BYTES ...]\n"), 2;
    int n = 0;
    size_t sizes[64] = {0}, largest = 0;  // 0: arithmetic
    for (char *cpu = strtok(given[2], ","); cpu && n < THREADS; cpu = strtok(0, ",")) jobs[n++].cpu = atoi(cpu);
    for (int w = 3; w < count && w < 64; w++) {
        strtok(given[w], "=");
        char *size = strtok(0, "=");
        if (size) sizes[w] = strtoull(size, 0, 10);
        if (sizes[w] > largest) largest = sizes[w];
    }
    pthread_barrier_t together;
    pthread_barrier_init(&together, 0, n);
    for (int i = 0; i < n; i++) {
        size_t room = largest / n + 4 * SKEW + 2 * LARGE_PAGE;
        char *map = mmap(0, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED) return perror("mmap"), 1;
        madvise(map, room, MADV_HUGEPAGE);  // where there are none, small pages do
        jobs[i].memory = (char *)(((uintptr_t)map + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
        jobs[i].stamps = malloc((MOST + 1) * sizeof(int64_t));
        jobs[i].together = &together, jobs[i].ns = atoi(given[1]) * 1000000ll;
    }
    printf("{\"compiler\": \"%s\", \"bits\": %d, \"threads\": %d, \"kernels\": [", __VERSION__, 8 * BYTES, n);
    const char *comma = "";
    for (int w = 3; w < count && w < 64; w++)
        for (const struct kernel *k = KERNELS; k < KERNELS + sizeof KERNELS / sizeof *KERNELS; k++) {
            if (!sizes[w] != !k->arrays) continue;
            long wrong = 0;
            for (int i = 0; i < n; i++) {
                jobs[i].kernel = k, jobs[i].share = sizes[w] / n;
                if (pthread_create(threads + i, 0, work, jobs + i)) return perror("pthread_create"), 1;
            }
            for (int i = 0; i < n; i++) pthread_join(threads[i], 0), wrong += jobs[i].wrong;
            if (wrong) return fprintf(stderr, "%s, %s: %ld wrong results\n", given[w], k->name, wrong), 1;
            printf("%s\n {\"what\": \"%s\", \"mix\": \"%s\", \"name\": \"%s %d-bit\", \"rate\": %.6g}", comma,
                   k->what ? k->what : given[w], k->what ? "" : k->name, k->name, 8 * BYTES, best(jobs, n));
            comma = ",";
        }
    printf("]}\n");
    return 0;
}
