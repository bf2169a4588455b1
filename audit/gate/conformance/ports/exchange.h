/* Reads and writes the lines of `--exchange flat` for port.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <setjmp.h>
#define PI 3.14159265358979323846264338327950288L
typedef struct { int n, d, ragged; double *v; } M;
enum { NONE, ABSOLUTE, COVARIANCE, SEPARATE };
static char line[1 << 22], out[1 << 22], *key[128], *val[128];
static int fields, at;
static jmp_buf again;

/* ---- reading and writing ---- */
static const char *get(const char *k) { for (int i = 0; i < fields; i++) if (!strcmp(key[i], k)) return val[i]; return NULL; }
static int is(const char *k, const char *v) { const char *s = get(k); return s && !strcmp(s, v); }
static void stop(const char *how, const char *why) {
    at = sprintf(out, "tcId=%s\t%s=%s", get("tcId"), how, why); longjmp(again, 1);
}
static void refuse(const char *why) { stop("error", why); }
static double number(const char *s) {
    char *e; double p = strtod(s, &e);
    if (e == s) refuse("not a number");
    return *e == '/' ? p / strtod(e + 1, NULL) : p;
}
static double num(const char *k) { const char *s = get(k); if (!s) refuse("an input is missing"); return number(s); }
static double num0(const char *k) { return get(k) ? num(k) : 0; }
static M new(int n, int d) { M m = { n, d, 0, calloc(n * d + 1, sizeof(double)) }; return m; }
static M mat(const char *k) {
    const char *s = get(k); M m = { 0, 0, 0, NULL }; int c = 0, i = 0, cols = 0;
    if (!s || !*s) return new(0, 0);
    for (const char *p = s; *p; p++) c += *p == ',' || *p == ';';
    m = new(1, c + 1); m.d = 0;
    for (const char *p = s;; p++) {
        m.v[i++] = number(p); cols++;
        p += strcspn(p, ",;");
        if (*p != ',') { if (!m.d) m.d = cols; m.ragged |= cols != m.d; cols = 0; if (*p) m.n++; else return m; }
    }
}
static void words(const char *k, const char *v) { at += sprintf(out + at, "\t%s=%s", k, v); }
static void put(double v) { at += sprintf(out + at, "%.17g", v); }
static void table(const char *k, const double *v, int n, int d) {
    words(k, "");
    for (int i = 0; i < n * d; i++) { if (i) out[at++] = i % d ? ',' : ';'; put(v[i]); }
}
static void list(const char *k, const double *v, int n) { table(k, v, 1, n); }
static void one(const char *k, double v) { list(k, &v, 1); }
