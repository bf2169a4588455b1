/* A port of the mechanisms of the paper, from paper.tex and README.md.  Lines of `--exchange flat`.  cc -O1 -o port port.c -lm */
#include "exchange.h"
static double dot(const double *a, const double *b, int d) { double s = 0; while (d--) s += a[d] * b[d]; return s; }
static double clip(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }
static double mean(M z) { double s = 0; for (int i = 0; i < z.n * z.d; i++) s += z.v[i]; return z.d ? s / (z.n * z.d) : 0; }
static int fairness(void) { return is("fairness", "absolute") ? ABSOLUTE : is("fairness", "covariance") ? COVARIANCE
    : is("fairness", "separate") ? SEPARATE : is("fairness", "none") || !get("fairness") ? NONE : ABSOLUTE; }

/* ---- Domain ---- */
static M encode(void) {
    M r = mat("rows"), y = mat("y"), z = mat("z"), lo, up, x; int ball = !is("norm", "unit_box"), k = 0, d, t = is("intercept", "1"), g = is("keepGroup", "1");
    for (int i = 0; i < y.d; i++) if (!(y.v[i] == 0 || y.v[i] == 1)) refuse("label");
    for (int i = 0; i < z.d; i++) if (!(z.v[i] == 0 || z.v[i] == 1)) refuse("group");
    if (r.ragged || y.d != r.n || (get("z") && z.d != r.n)) refuse("shape");
    for (int i = 0; i < r.n * r.d; i++) if (!isfinite(r.v[i])) refuse("not finite");
    if (is("encoded", "1")) {
        for (int i = 0; i < r.n; i++) {
            double *q = r.v + i * r.d;
            if (ball && dot(q, q, r.d) > 1 + 1e-12) refuse("outside the ball");
            for (int e = 0; e < r.d; e++) if ((!is("norm", "symmetric_ball") && q[e] < -1e-12) || q[e] > 1 + 1e-12) refuse("outside the domain");
        }
        return r;
    }
    lo = mat("lower"); up = mat("upper"); d = t + g;
    char kind[64]; const char *s = get("kinds");
    for (; s && *s && k < 64; k++) { kind[k] = s[0] == 'o' && s[1] == 'n' ? 'h' : s[0]; s += strcspn(s, ","); s += *s == ','; }
    if (lo.d != k || up.d != k || (r.n && r.d != k)) refuse("shape");
    for (int j = 0; j < k; j++) {
        if (!isfinite(lo.v[j]) || !isfinite(up.v[j]) || lo.v[j] >= up.v[j]) refuse("bounds");
        d += kind[j] == 'h' ? (int)up.v[j] + 1 : 1;
    }
    x = new(r.n, d);
    for (int i = 0; i < r.n; i++) {
        double *q = x.v + i * d, root = ball ? sqrt(k + t + g) : 1; int c = 0;
        if (t) q[c++] = 1;
        for (int j = 0; j < k; j++) {
            double v = r.v[i * k + j];
            if (kind[j] == 'n') {
                if (v < lo.v[j] || v > up.v[j]) { if (is("clip", "1")) v = clip(v, lo.v[j], up.v[j]); else refuse("outside its bounds"); }
                q[c++] = (v - lo.v[j]) / (up.v[j] - lo.v[j]);
            } else {
                if (v != floor(v) || v < 0 || v > up.v[j]) refuse("category");
                if (kind[j] == 'h') { q[c + (int)v] = 1; c += (int)up.v[j] + 1; } else q[c++] = v / up.v[j];
            }
        }
        if (g) q[c++] = z.v[i];
        for (int e = 0; e < d; e++) q[e] /= root;
    }
    return x;
}

/* ---- Coefficients, Grouping: linear d, quadratic, covariance d ---- */
static int coefficients(M x, M y, M z, int f, double alpha, int mono, double *c) {
    int d = x.d, k = d; double zbar = mean(z);
    memset(c, 0, sizeof(double) * (2 * d + d * d));
    for (int i = 0; i < x.n; i++) {
        double *q = x.v + i * d, g = f ? z.v[i] - zbar : 0, a = f == ABSOLUTE ? fabs(g) : f == COVARIANCE ? g : 0; k = d;
        for (int e = 0; e < d; e++) c[e] += (0.5 - y.v[i] + alpha * a) * q[e];
        for (int e = 0; e < d; e++) for (int l = mono ? e : 0; l < d; l++) c[k++] += q[e] * q[l] / (mono && l > e ? 4 : 8);
        if (f == SEPARATE) for (int e = 0; e < d; e++) c[k++] += g * q[e];
    }
    return d + (mono ? d * (d + 1) / 2 : d * d) + (f == SEPARATE ? d : 0);
}
static int grouping(int d, int s, int mono, int f, double *in) {
    int k = 0;
    for (int e = 0; e < d; e++) in[k++] = e == s;
    for (int e = 0; e < d; e++) for (int l = mono ? e : 0; l < d; l++) in[k++] = e == s || l == s;
    if (f == SEPARATE) for (int e = 0; e < d; e++) in[k++] = e == s;
    return k;
}

/* ---- suprema over neighbours ---- */
typedef struct { int d, f, mono, l1, add, box, sym, label, label2, count; double alpha, nu, sign, weight[32]; } Problem;
static double change(const Problem *q, const double *p, double *grad) {
    int d = q->d, k = 0; const double *a = p, *b = p + d, *o = p + 2 * d; double s = 0, u = 0.5 - q->label2, v = 0.5 - q->label, c, m;
    double so = q->f == ABSOLUTE ? 1 : -1, n = q->f ? q->sign * q->nu : 0, w = q->f == SEPARATE ? 0 : q->alpha * n;
    if (grad) memset(grad, 0, sizeof(double) * 3 * d);
#define TERM(x) (c = (x) * q->weight[k++], s += q->l1 ? fabs(c) : c * c, m = (q->l1 ? (c > 0) - (c < 0) : 2 * c) * q->weight[k - 1])
    for (int e = 0; e < d; e++) {
        TERM(u * a[e] - v * b[e] + w * (a[e] + so * o[e]));
        if (grad) { grad[e] += m * (u + w); grad[d + e] -= m * v; grad[2 * d + e] += m * w * so; }
    }
    for (int e = 0; e < d; e++) for (int l = q->mono ? e : 0; l < d; l++) {
        double h = q->mono && l > e ? 0.25 : 0.125;
        TERM(h * (a[e] * a[l] - b[e] * b[l]));
        if (grad) { grad[e] += m * h * a[l]; grad[l] += m * h * a[e]; grad[d + e] -= m * h * b[l]; grad[d + l] -= m * h * b[e]; }
    }
    if (q->f == SEPARATE) for (int e = 0; e < d; e++) {
        TERM(n * (a[e] + so * o[e]));
        if (grad) { grad[e] += m * n; grad[2 * d + e] += m * n * so; }
    }
    return s;
}
static double uniform(void) { static unsigned long long s = 88172645463325252ULL; s ^= s << 13; s ^= s >> 7; s ^= s << 17; return (s >> 11) * 0x1p-53; }
static void project(const Problem *q, double *p) {
    for (int b = 0; b < 3; b++) {
        double *x = p + b * q->d, r;
        if (!q->sym) for (int e = 0; e < q->d; e++) if (x[e] < 0) x[e] = 0;
        r = sqrt(dot(x, x, q->d));
        if (r > 1) for (int e = 0; e < q->d; e++) x[e] /= r;
        if (b == 1 && q->add) memset(x, 0, sizeof(double) * q->d);
    }
}
static double supremum(Problem *best, double *where) {
    Problem q = *best; int d = q.d; double top = -1, p[32], t[32], g[32];
    for (int c = 0; c < 8; c++) {
        q.label = c & 1; q.label2 = c >> 1 & 1; q.sign = c & 4 ? -1 : 1;
        if (q.sign < 0 && (q.f == NONE || q.f == ABSOLUTE)) continue;
        for (int s = 0; s < (q.box ? 1 << 3 * d : 60); s++) {
            for (int e = 0; e < 3 * d; e++) p[e] = q.box ? s >> e & 1 : s % 3 ? 2 * uniform() - (q.sym ? 1 : 0) : floor(3 * uniform()) - 1;
            if (q.box && q.add) memset(p + d, 0, sizeof(double) * d);
            if (!q.box) project(&q, p);
            double f = change(&q, p, g), eta = 1;
            for (int i = 0; !q.box && i < 4000 && eta > 1e-10; i++) {
                for (int e = 0; e < 3 * d; e++) t[e] = p[e] + eta * g[e];
                project(&q, t);
                double n = change(&q, t, NULL);
                if (n > f) { memcpy(p, t, sizeof p); f = change(&q, p, g); eta *= 1.5; } else eta /= 2;
            }
            if (f > top) { top = f; *best = q; memcpy(where, p, sizeof p); }
        }
    }
    return top;
}
static Problem problem(int l1) {
    Problem q; memset(&q, 0, sizeof q); double in[64], s = num("dimension");
    q.d = (int)s; q.f = fairness(); q.mono = !is("basis", "matrix"); q.l1 = l1; q.add = is("adjacency", "add_or_remove_one");
    q.box = is("norm", "unit_box"); q.sym = is("norm", "symmetric_ball"); q.alpha = num("fairnessWeight");
    q.nu = is("records", "limit") ? 1 : (num("records") - 1) / num("records");
    if (q.d < 1 || q.d > 3) stop("skip", "dimension");
    q.count = grouping(q.d, 0, q.mono, q.f, in);
    for (int k = 0; k < q.count; k++) q.weight[k] = get("scaleS") ? 1 / num(in[k] ? "scaleS" : "scaleN") : 1;
    return q;
}
static void attaining(void) {
    double p[32]; Problem q = problem(!!strstr(get("kind"), "l1")); supremum(&q, p);
    int n = (int)num("records"), d = q.d; M x = new(n, d), y = new(1, n), z = new(1, n), v = new(n, d), u = new(1, n), t = new(1, n);
    for (int i = 0; i < n; i++) {
        memcpy(x.v + i * d, i == n - 1 ? p : p + 2 * d, sizeof(double) * d); memcpy(v.v + i * d, i == n - 1 ? p + d : p + 2 * d, sizeof(double) * d);
        if (i == n - 1) { y.v[i] = q.label2; u.v[i] = q.label; }
        z.v[i] = (i == n - 1) == (q.sign > 0); t.v[i] = q.sign < 0;
    }
    table("x", x.v, n, d); list("y", y.v, n); table("xNeighbour", v.v, n - q.add, d); list("yNeighbour", u.v, n - q.add);
    if (q.f) { list("z", z.v, n); list("zNeighbour", t.v, n - q.add); }
}

/* ---- scales and budgets ---- */
static int precise; /* where doubles lose what is asked: delta = int_0^inf phi(u - a) (1 - exp(-mu u)) du, without cancellation */
static long double gaussian_delta(long double mu2, long double eps) {
    long double mu = sqrtl(mu2), a = mu / 2 - eps / mu, b = -mu / 2 - eps / mu, sum = 0, lo, hi, h = 1.0L / 32;
    if (mu2 <= 0) return 0;
    if (!precise && eps < 600) return erfc(-(double)a / sqrt(2)) / 2 - exp((double)eps) * erfc(-(double)b / sqrt(2)) / 2;
    lo = a > 12 ? a - 12 : 0; hi = a > 0 ? a + 12 : a + sqrtl(a * a + 150);
    for (int i = -144; i <= 144; i++) {
        long double t = i * h, x = 1 / (1 + expl(-PI * sinhl(t))), y = 1 / (1 + expl(PI * sinhl(t))), u = lo + (hi - lo) * x;
        sum += PI * coshl(t) * x * y * expl(-(u - a) * (u - a) / 2) * -expm1l(-mu * u);
    }
    return sum * h * (hi - lo) / sqrtl(2 * PI);
}
static double smallest_sigma(double eps, double delta) { /* for Delta_2 = 1 */
    long double lo = 0, hi = 1; precise = delta < 1e-11;
    while (gaussian_delta(1 / (hi * hi), eps) > delta) hi *= 2;
    while (gaussian_delta(4 / (hi * hi), eps) <= delta) hi /= 2;
    for (lo = hi / 2; ;) { long double m = (lo + hi) / 2; if (m <= lo || m >= hi || hi - lo < 1e-18L * hi) return hi; if (gaussian_delta(1 / (m * m), eps) > delta) lo = m; else hi = m; }
}
static double gaussian_epsilon(double mu2, double delta) {
    long double lo = 0, hi = 1; if (!(delta > 0 && delta < 1)) refuse("delta");
    precise = delta <= 1e-12;
    if (gaussian_delta(mu2, 0) <= delta) return 0;
    while (gaussian_delta(mu2, hi) > delta) hi *= 2;
    for (int i = 0; i < 120; i++) { long double m = (lo + hi) / 2; if (gaussian_delta(mu2, m) > delta) lo = m; else hi = m; }
    return hi;
}
static double published(int l1, double d, int f) { return l1 ? d * d / 4 + (f ? 3 : 1) * d : d * d / 16 + (f ? 9 : 1) * d; }
static double laplace(double l1, double eps) { if (!(eps > 0)) refuse("epsilon"); return l1 / eps; }
static void budget(double eps, double delta) { if (!(eps > 0)) refuse("epsilon"); if (!(delta > 0 && delta <= sqrt(2 / (double)PI))) refuse("delta"); }
static double theorem2(double l2sq, double eps, double delta) {
    budget(eps, delta);
    double l = log(sqrt(2 / (double)PI) / delta); if (l < 0) l = 0;
    return sqrt(2) * sqrt(l2sq) / (2 * eps) * (sqrt(l) + sqrt(l + eps));
}
static int split(void) { return is("mechanism", "pdfc") || is("mechanism", "adfc"); }
static int pure(void) { return is("mechanism", "pdfc") || is("mechanism", "functional"); }
static void mechanism(double d, double *s) {
    if (!pure() && !is("mechanism", "adfc") && !is("mechanism", "relaxed_functional")) stop("skip", "mechanism");
    for (int i = 0; i < 2; i++) {
        double eps = num(!split() ? "epsilon" : i ? "epsilonN" : "epsilonS"), delta = num0(!split() ? "delta" : i ? "deltaN" : "deltaS");
        s[i] = pure() ? laplace(published(1, d, fairness()), eps) : theorem2(published(0, d, fairness()), eps, delta);
    }
}
static void claimed(double d) {
    double a = num0("deltaS"), b = num0("deltaN");
    if (!split()) { one("epsilon", num("epsilon")); one("delta", num0("delta")); return; }
    one("epsilon", num("epsilonS") / d + num("epsilonN") * (d - 1) / d); one("delta", pure() ? 0 : a + b - a * b);
}

/* ---- Minimiser ---- */
static void eigen(int d, double *a, double *v) { /* Jacobi; eigenvalues on the diagonal of a, eigenvectors in the rows of v */
    for (int i = 0; i < d * d; i++) v[i] = i % (d + 1) == 0;
    for (int sweep = 0; sweep < 60; sweep++) for (int p = 0; p < d; p++) for (int q = p + 1; q < d; q++) {
        if (a[p * d + q] == 0) continue;
        double th = (a[q * d + q] - a[p * d + p]) / (2 * a[p * d + q]), t = (th < 0 ? -1 : 1) / (fabs(th) + sqrt(th * th + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < d; k++) { double x = a[k * d + p], y = a[k * d + q]; a[k * d + p] = c * x - s * y; a[k * d + q] = s * x + c * y; }
        for (int k = 0; k < d; k++) { double x = a[p * d + k], y = a[q * d + k]; a[p * d + k] = c * x - s * y; a[q * d + k] = s * x + c * y; }
        for (int k = 0; k < d; k++) { double x = v[p * d + k], y = v[q * d + k]; v[p * d + k] = c * x - s * y; v[q * d + k] = s * x + c * y; }
        a[p * d + q] = a[q * d + p] = 0;
    }
}
static void free_minimum(int d, const double *lam, const double *v, const int *keep, const double *c, double *w) {
    memset(w, 0, sizeof(double) * d);
    for (int i = 0; i < d; i++) if (keep[i]) { double u = -dot(v + i * d, c, d) / (2 * lam[i]); for (int e = 0; e < d; e++) w[e] += u * v[i * d + e]; }
}
static void ball_minimum(int d, const double *lam, const double *v, double zero, double R, const double *c, double *w) {
    double low = lam[0], big = 0, t, lo = 0, hi, u[16], s; int least = 0;
    for (int i = 1; i < d; i++) if (lam[i] < low) { low = lam[i]; least = i; }
    for (int i = 0; i < d; i++) big = fmax(big, fabs(c[i]));
    double m0 = low < 0 ? -low : 0; hi = sqrt(dot(c, c, d)) / (2 * R);
    for (int k = 0; k <= 300; k++) {
        t = k == 300 ? hi : k ? (lo + hi) / 2 : 0; s = 0;
        for (int i = 0; i < d; i++) {
            double vc = dot(v + i * d, c, d), den = lam[i] + m0 + t; if (fabs(vc) <= 1e-12 * big) vc = 0;
            u[i] = vc == 0 ? 0 : k == 0 && den <= zero ? INFINITY : -vc / (2 * den); s += u[i] * u[i];
        }
        if (k == 0 && s <= R * R) { if (low < -zero) u[least] = sqrt(R * R - s); break; }
        if (s > R * R) lo = t; else hi = t;
    }
    memset(w, 0, sizeof(double) * d);
    for (int i = 0; i < d; i++) for (int e = 0; e < d; e++) w[e] += u[i] * v[i * d + e];
}
static int minimise(int d, const double *c, const double *quad, const double *g, double deviation, double *w, double *objective) {
    double a[256], b[256], v[256], lam[16], zero = 0, big = 0, alpha = num("fairnessWeight"), tau = num0("tau"), R = num0("ballRadius"), cm[16]; int keep[16], k = 0, mono = !is("basis", "matrix"), ball = is("repair", "ball"), trim = is("repair", "trim") || is("repair", "shift_and_trim");
    memset(a, 0, sizeof a);
    for (int e = 0; e < d; e++) for (int l = mono ? e : 0; l < d; l++, k++) { a[e * d + l] += quad[k] / 2; a[l * d + e] += quad[k] / 2; }
    if (is("repair", "shift_and_trim")) for (int e = 0; e < d; e++) a[e * d + e] += 4 * deviation;
    memcpy(b, a, sizeof a); eigen(d, b, v);
    for (int i = 0; i < d; i++) { lam[i] = b[i * d + i]; zero = fmax(zero, 1e-12 * fabs(lam[i])); big = fmax(big, fabs(c[i])); }
    int positive = 1; double bigG = 0, c0g0 = 0, g0g0 = 0, lo = -alpha, hi = alpha, m = 0;
    if (ball && g) refuse("covariance in a ball");
    for (int e = 0; e < d && g; e++) bigG = fmax(bigG, fabs(g[e]));
    for (int i = 0; i < d; i++) {
        double gi = g && alpha > 0 ? dot(v + i * d, g, d) : 0; keep[i] = lam[i] > zero; positive &= keep[i];
        if (!trim && !ball && lam[i] < -zero) return 0;
        if (!keep[i] && !trim && fabs(gi) > 1e-9 * bigG) { c0g0 += gi * dot(v + i * d, c, d); g0g0 += gi * gi; }
    }
    if (g0g0 > 0) m = -c0g0 / g0g0;
    for (int e = 0; e < d; e++) cm[e] = c[e] + (m == 0 ? 0 : m * g[e]);
    for (int i = 0; i < d; i++) if (!trim && !ball && !keep[i] && (fabs(m) > alpha || fabs(dot(v + i * d, cm, d)) > 1e-9 * big)) return 0;
    if (g0g0 > 0) { /* flat along g: w moves there to tau */
        free_minimum(d, lam, v, keep, cm, w); double gap = tau - dot(g, w, d);
        for (int i = 0; i < d; i++) for (int e = 0; e < d && !keep[i]; e++) w[e] += gap / g0g0 * dot(v + i * d, g, d) * v[i * d + e];
    } else for (int i = 0; i < (g ? 200 : 1); i++) { /* g.w(m) falls as m grows */
        m = !g ? 0 : i == 0 ? -alpha : i == 1 ? alpha : (lo + hi) / 2;
        for (int e = 0; e < d; e++) cm[e] = c[e] + (g ? m * g[e] : 0);
        free_minimum(d, lam, v, keep, cm, w);
        if (ball && (!positive || dot(w, w, d) > R * R)) ball_minimum(d, lam, v, zero, R, cm, w);
        if (g) { double s = dot(g, w, d); if ((i == 0 && s <= tau) || (i == 1 && s >= tau)) break; if (s > tau) lo = m; else hi = m; }
    }
    *objective = dot(c, w, d) + (g ? alpha * fabs(dot(g, w, d) - tau) : 0);
    for (int e = 0; e < d; e++) *objective += w[e] * dot(a + e * d, w, d);
    return 1;
}

/* ---- the repaired mechanism ---- */
static void gradient(M x, M t, const double *w, double *g) {
    memset(g, 0, sizeof(double) * x.d);
    for (int i = 0; i < x.n; i++) {
        double r = trunc(clip(1 / (1 + exp(-dot(x.v + i * x.d, w, x.d))) - t.v[i], -0.5, 0.5) * 0x1p20) * 0x1p-20;
        for (int e = 0; e < x.d; e++) g[e] += r * x.v[i * x.d + e];
    }
}
static void descent(M x, M t) {
    M wd = mat("widths"), bins = mat("bins"), u = mat("unitVariates"); int d = x.d, n = x.n, T = (int)num("rounds"), ic = is("intercept", "1"), group[64], place[64], last = 4 * T / 10 < 1 ? 1 : 4 * T / 10, c = ic;
    double sc = num("scaleCounts"), sg = num("scaleGradient"), f = 1 / sqrt(wd.d + ic), nf = n * f, spread = is("noise", "laplace") ? sqrt(2) : 1, D = sg * spread / sqrt(T);
    double before = sc * spread / sqrt(2), after = sg * spread, trace = 0, cut = 1;
    M cnt = new(1, 2 * d), tot = new(1, d), S = new(d, d), A = new(d, d), P = new(d, d), R = new(d, d), it = new(T, d), w = new(1, d), g = new(1, d), h = new(1, d), s = new(1, d);
    if (u.d < 2 * d + (T - 1) * d || d > 64) refuse("shape");
    for (int i = 0; i < n; i++) for (int e = 0; e < d; e++) cnt.v[t.v[i] == 1 ? e : d + e] += x.v[i * d + e];
    for (int e = 0; e < 2 * d; e++) cnt.v[e] += sc * u.v[e];
    for (int e = 0; e < d; e++) { tot.v[e] = clip(cnt.v[e] + cnt.v[d + e], 0, nf); g.v[e] = (cnt.v[d + e] - cnt.v[e]) / 2; }
    group[0] = place[0] = -1;
    for (int j = 0; j < wd.d; j++) {
        int k = (int)wd.v[j]; double s = 0;
        for (int e = c; e < c + k; e++) { group[e] = j; s += tot.v[e]; place[e] = bins.v[j] > 2 && e - c < bins.v[j] ? e - c : -1; }
        if (k > 1) for (int e = c; e < c + k; e++) tot.v[e] = s > 0 ? tot.v[e] * (nf / s) : nf / k;
        c += k;
    }
    if (c != d) refuse("shape");
    for (int e = 0; e < d; e++) { /* the inverse of 0.5^|i - j| within bins, else 1 */
        int left = place[e] > 0, right = place[e] >= 0 && e + 1 < d && group[e + 1] == group[e] && place[e + 1] > 0;
        R.v[e * d + e] = place[e] < 0 ? 1 : (left && right ? 1.25 : 1) / 0.75;
        if (right) R.v[e * d + e + 1] = R.v[(e + 1) * d + e] = -0.5 / 0.75;
    }
    for (int e = 0; e < d; e++) for (int l = 0; l < d; l++) {
        S.v[e * d + l] = e == l ? f * tot.v[e] : group[e] == group[l] ? 0 : tot.v[e] * tot.v[l] / n;
    }
    for (int i = 0; i < d * d; i++) { A.v[i] = S.v[i] / 4 + 2 * D * R.v[i]; P.v[i] = i % (d + 1) == 0; }
    for (int p = 0; p < d; p++) { /* P = (S/4 + 2 D R)^-1 */
        double m = A.v[p * d + p];
        for (int e = 0; e < d; e++) { A.v[p * d + e] /= m; P.v[p * d + e] /= m; }
        for (int q = 0; q < d; q++) if (q != p) {
            m = A.v[q * d + p];
            for (int e = 0; e < d; e++) { A.v[q * d + e] -= m * A.v[p * d + e]; P.v[q * d + e] -= m * P.v[p * d + e]; }
        }
    }
    for (int e = 0; e < d; e++) for (int k = 0; k < d; k++) for (int l = 0; l < d; l++) trace += P.v[e * d + k] * S.v[k * d + l] / 4 * P.v[l * d + e];
    for (int r = 0; r < T; r++) {
        if (r) { /* did the step s go too far? */
            gradient(x, t, w.v, h.v); for (int e = 0; e < d; e++) h.v[e] += sg * u.v[2 * d + (r - 1) * d + e];
            double noise = 2 * sqrt(dot(s.v, s.v, d)) * hypot(before, after);
            if (dot(s.v, h.v, d) - before * before * trace * cut * cut > -dot(s.v, g.v, d) / 4 + noise) cut /= 2;
            memcpy(g.v, h.v, sizeof(double) * d); before = after;
        }
        for (int e = 0; e < d; e++) { s.v[e] = -cut * dot(P.v + e * d, g.v, d); it.v[r * d + e] = w.v[e] += s.v[e]; }
    }
    memset(w.v, 0, sizeof(double) * d);
    for (int r = T - last; r < T; r++) for (int e = 0; e < d; e++) w.v[e] += it.v[r * d + e] / last;
    list("counts", cnt.v, 2 * d); table("secondMoments", S.v, d, d); table("iterates", it.v, T, d); list("w", w.v, d);
}
static double rounds(double q, int pureNoise, double s, double L, double eps, double n, double d) {
    if (q <= 0) return 0;
    double signal = n / (d * (pureNoise ? sqrt(2) * L / (q * eps) : s / sqrt(q)));
    return clip(rint(pureNoise ? cbrt(signal) : sqrt(signal)), 2, 40);
}
static void repaired_budget(void) {
    int lap = get("delta") && num("delta") == 0; double L = num0("attributes") > 0 ? sqrt(num("attributes")) : sqrt(num0("dimension")), loss = 0, z;
    if (is("kind", "change")) {
        double l1 = 1, l2 = 1;
        if (is("sum", "gradient")) l1 = L;
        else if (is("sum", "label_sums")) { l1 = 2 * L; l2 = is("norm", "symmetric_ball") ? 4 : 2; }
        else if (is("sum", "imbalance")) { z = num("zbar"); l1 = fmax(z, 1 - z); l2 = l1 * l1; }
        else if (!is("sum", "group_count")) stop("skip", "sum");
        one("l1", l1); one("l2Squared", l2); return;
    }
    if (is("kind", "account")) {
        M a = mat(lap ? "l1" : "l2Squared"), s = mat("scales");
        for (int i = 0; i < a.d; i++) loss += lap ? a.v[i] / s.v[i] : a.v[i] / (s.v[i] * s.v[i]);
        one("loss", loss); return;
    }
    double eps = num("epsilon"), delta = num("delta"), s = 0, n, d, lm = 1, gm = 0, gc = 0, pr = 0;
    if (!(eps > 0) || delta < 0 || delta >= 1) refuse("budget");
    if (!lap) s = smallest_sigma(eps, delta);
    if (is("kind", "scale")) { one("scale", lap ? num("l1") / (num("share") * eps) : s * sqrt(num("l2Squared") / num("share"))); return; }
    if (!is("kind", "schedule")) stop("skip", "kind");
    n = num("records"); d = num("dimension");
    if (!is("fairness", "none")) {
        double p = lap ? 300 * sqrt(2) / (n * eps) : 300 * s / n * (300 * s / n);
        gc = 0.02; pr = clip(rint(100 * p) / 100, 0.05, 0.4); lm = 1 - gc - pr;
        if (!is("keepGroup", "1")) { gm = lm / 4; lm -= gm; }
    }
    one("labelModel", lm); one("groupModel", gm); one("groupCount", gc); one("probes", pr);
    one("labelRounds", rounds(lm, lap, s, L, eps, n, d)); one("groupRounds", rounds(gm, lap, s, L, eps, n, d));
}
static double probability(double s) { double p = 1 / (3 - 2 / (1 + exp(-fabs(s)))); return s >= 0 ? p : 1 - p; }
static double curve(M a, M b, M m, double lam) {
    double n[2] = { 0, 0 }, c[2] = { 0, 0 };
    for (int i = 0; i < a.d; i++) { int k = m.v[i] == 1; n[k]++; c[k] += a.v[i] > lam * b.v[i]; }
    return (n[1] ? c[1] / n[1] : 0) - (n[0] ? c[0] / n[0] : 0);
}
static void repaired_threshold(void) {
    M x = mat("x"), w = mat("w"), z = mat("z"), v = mat("groupWeights"), p = mat("prediction"); double s = 0, zbar = num0("zbar");
    if (is("kind", "share")) {
        double c = fmin(1. / 16, ceil(num("deviation") / num("records") * 0x1p20) * 0x1p-20);
        one("zbar", clip(rint(num("noisyCount") / num("records") * 0x1p20) * 0x1p-20, c, 1 - c)); return; }
    if (is("kind", "imbalance")) { for (int i = 0; i < z.d; i++) s += (z.v[i] - zbar) * (p.v[i] - 0.5); one("sum", s); return; }
    if (is("kind", "margins")) {
        M a = new(1, x.n), b = new(1, x.n);
        for (int i = 0; i < x.n; i++) {
            double *q = x.v + i * x.d, t = dot(q, w.v, x.d);
            a.v[i] = v.d ? probability(t) - 0.5 : t; b.v[i] = (v.d ? probability(dot(q, v.v, x.d)) : z.v[i]) - zbar;
        }
        list("advantage", a.v, x.n); list("belonging", b.v, x.n); return;
    }
    if (!is("kind", "next")) stop("skip", "kind");
    M l = mat("multipliers"), df = mat("differences"), dv = mat("deviations"), a = mat("advantage"), b = mat("belonging"), m = mat("members");
    double level, s0 = 25, s1 = 0, s2 = 1 / 0.49, r0 = 0, r1 = 0, k, e = 0, slack = num("slack"), lo = -32, hi = 32, sp = 0; M c = new(1, l.d), pr = new(1, l.d);
    for (int i = 0; i < l.d; i++) { df.v[i] = clip(df.v[i], -1, 1); c.v[i] = curve(a, b, m, l.v[i]); }
    level = clip(df.v[0], -slack, slack);
    for (int i = 0; i < l.d; i++) {
        double h = 0.3 * (df.v[i] - level), q = pr.v[i] = 1 / (dv.v[i] * dv.v[i] + h * h + 1e-12), r = df.v[i] - c.v[i];
        sp += q; s0 += q; s1 += q * c.v[i]; s2 += q * c.v[i] * c.v[i]; r0 += q * r; r1 += q * r * c.v[i];
    }
    k = clip(1 + (s0 * r1 - s1 * r0) / (s0 * s2 - s1 * s1), 0.3, 4);
    for (int i = 0; i < l.d; i++) e += pr.v[i] * (df.v[i] - k * c.v[i]) / (sp + 25);
    for (int i = 0; i < 30; i++) { double mid = (lo + hi) / 2; if (curve(a, b, m, mid) > (level - e) / k) lo = mid; else hi = mid; }
    one("multiplier", (lo + hi) / 2);
}

/* ---- the rest ---- */
static void metric(void) {
    M w = mat("w"), x = mat("x"), y = mat("y"), z = mat("z"); double n[2] = { 0, 0 }, p[2] = { 0, 0 }, right = 0, cov = 0, zbar = mean(z);
    for (int i = 0; i < x.n; i++) {
        double s = dot(x.v + i * x.d, w.v, x.d); int g = z.v[i] == 1;
        n[g]++; p[g] += s > 0; right += (s > 0) == (y.v[i] == 1); cov += (z.v[i] - zbar) * s;
    }
    if (x.n) { one("accuracy", right / x.n); one("positiveRate", (p[0] + p[1]) / x.n); } else { words("accuracy", "none"); words("positiveRate", "none"); }
    if (n[0]) one("positiveRateGroup0", p[0] / n[0]); else words("positiveRateGroup0", "none");
    if (n[1]) one("positiveRateGroup1", p[1] / n[1]); else words("positiveRateGroup1", "none");
    if (n[0] && n[1]) one("riskDifference", fabs(p[0] / n[0] - p[1] / n[1])); else words("riskDifference", "none");
    one("boundaryCovariance", cov);
}
static void release(void) {
    M x = encode(), y = mat("y"), z = mat("z"), u = mat("unitVariates"); int d = x.d, f = fairness(), mono = !is("basis", "matrix"), s = split() ? (int)num("xS") : -1, k;
    double *c = new(1, d * d + 2 * d).v, *in = new(1, d * d + 2 * d).v, w[16], obj, scale[2], dev;
    if (d > 16) stop("skip", "dimension");
    if (split() && (s < 0 || s >= d)) refuse("xS");
    k = coefficients(x, y, z, f, num("fairnessWeight"), mono, c); mechanism(d, scale); grouping(d, s, mono, f, in);
    if (u.d != k) refuse("variates");
    for (int i = 0; i < k; i++) c[i] += scale[!in[i]] * u.v[i];
    dev = (d == 1 && split() ? scale[0] : fmax(scale[0], scale[1])) * (pure() ? sqrt(2) : 1);
    int ok = minimise(d, c, c + d, f == SEPARATE ? c + k - d : NULL, dev, w, &obj);
    one("dimension", d); one("scaleN", scale[1]); if (split()) one("scaleS", scale[0]);
    list("noisy", c, k); words("status", ok ? "ok" : "unbounded"); if (ok) list("w", w, d);
    claimed(d);
}
static void answer(void) {
    double p[32], s[2]; Problem q; at = sprintf(out, "tcId=%s", get("tcId"));
    int mono = !is("basis", "matrix"), f = fairness(), d = get("dimension") ? (int)num("dimension") : 0, k; const char *kind = get("kind");
    if (is("type", "Domain")) { M x = encode(), y = mat("y"); one("dimension", x.d); table("x", x.v, x.n, x.d); list("y", y.v, y.d); }
    else if (is("type", "Coefficients")) {
        M x = mat("x"); double *c = new(1, x.d * x.d + 2 * x.d).v; k = coefficients(x, mat("y"), mat("z"), f, num("fairnessWeight"), mono, c);
        list("linear", c, x.d); list("quadratic", c + x.d, mono ? x.d * (x.d + 1) / 2 : x.d * x.d); if (f == SEPARATE) list("covariance", c + k - x.d, x.d);
    } else if (is("type", "Grouping")) {
        double *in = new(1, d * d + 2 * d).v, *sel = new(1, d).v; int n = 0; k = grouping(d, (int)num("xS"), mono, f, in);
        for (int e = is("intercept", "1"); e < d - is("keepGroup", "1"); e++) sel[n++] = e;
        one("size", k); list("inS", in, k); list("selectable", sel, n);
    } else if (is("type", "Sensitivity")) {
        if (!strncmp(kind, "published", 9)) one("value", published(!!strstr(kind, "l1"), d, f));
        else if (!strncmp(kind, "exact_l", 7) || !strncmp(kind, "ball_l", 6)) { q = problem(!!strstr(kind, "_l1")); one("value", supremum(&q, p)); }
        else if (!strncmp(kind, "attaining", 9)) attaining();
        else if (!strcmp(kind, "worst_pair")) {
            M a = mat("x"), b = mat("xNeighbour"); int m = a.d > b.d ? a.d : b.d; a.d = b.d = m; double *c = new(1, m * m + 2 * m).v, *e = new(1, m * m + 2 * m).v, l1 = 0, l2 = 0, al = num("fairnessWeight");
            k = coefficients(a, mat("y"), mat("z"), f, al, mono, c); coefficients(b, mat("yNeighbour"), mat("zNeighbour"), f, al, mono, e);
            for (int i = 0; i < k; i++) { l1 += fabs(c[i] - e[i]); l2 += (c[i] - e[i]) * (c[i] - e[i]); }
            one("l1Change", l1); one("l2ChangeSquared", l2);
        } else stop("skip", "kind");
    } else if (is("type", "Scale")) {
        if (is("kind", "laplace")) one("scale", laplace(num("l1Sensitivity"), num("epsilon")));
        else if (is("kind", "extended_gaussian")) one("scale", theorem2(num("l2SensitivitySquared"), num("epsilon"), num("delta")));
        else if (is("kind", "analytic_gaussian")) { if (num("delta") >= 1) refuse("delta"); budget(num("epsilon"), fmin(num("delta"), 0.5)); one("scale", sqrt(num("l2SensitivitySquared")) * smallest_sigma(num("epsilon"), num("delta"))); }
        else if (is("kind", "mechanism")) { mechanism(d, s); one("scaleS", s[0]); one("scaleN", s[1]); }
        else stop("skip", "kind");
    } else if (is("type", "Perturbation")) {
        M v = mat("values"), in = mat("inS"), u = mat("unitVariates");
        for (int i = 0; i < v.d; i++) v.v[i] += num(in.v[i] ? "scaleS" : "scaleN") * u.v[i];
        list("noisy", v.v, v.d);
    } else if (is("type", "Minimiser")) {
        M c = mat("linear"), a = mat("quadratic"), g = mat("covariance"); double w[16], obj;
        int ok = minimise(c.d, c.v, a.v, get("covariance") ? g.v : NULL, fmax(num0("scaleS"), num0("scaleN")) * (is("noise", "laplace") ? sqrt(2) : 1), w, &obj);
        words("status", ok ? "ok" : "unbounded"); if (ok) { list("w", w, c.d); one("objective", obj); }
    } else if (is("type", "Privacy")) {
        if (is("kind", "claimed")) claimed(d);
        else if (is("kind", "exact_laplace")) { q = problem(1); one("epsilon", supremum(&q, p)); }
        else if (is("kind", "exact_shift")) { q = problem(0); one("squaredShift", supremum(&q, p)); }
        else if (is("kind", "gaussian_delta")) { precise = num("epsilon") > 16 * num("squaredShift"); words("delta", ""); at += sprintf(out + at, "%.21Lg", gaussian_delta(num("squaredShift"), num("epsilon"))); }
        else if (is("kind", "gaussian_epsilon")) one("epsilon", gaussian_epsilon(num("squaredShift"), num("delta")));
        else stop("skip", "kind");
    } else if (is("type", "Accounting")) {
        double moved = num0("bound") * (is("adjacency", "replace_one") ? 2 : 1), r = get("scale") ? moved / num("scale") : 0, e = 0, t = 0;
        if (is("kind", "laplace")) one("epsilon", num("count") * r);
        else if (is("kind", "gaussian")) one("epsilon", gaussian_epsilon(num("count") * r * r, num("delta")));
        else if (is("kind", "basic")) { M a = mat("epsilons"), b = mat("deltas"); for (int i = 0; i < a.d; i++) { e += a.v[i]; t += b.v[i]; } one("epsilon", e); one("delta", fmin(t, 1)); }
        else stop("skip", "kind");
    } else if (is("type", "FairnessMetric")) metric();
    else if (is("type", "Release")) release();
    else if (is("type", "RepairedBudget")) repaired_budget();
    else if (is("type", "RepairedDescent")) {
        M x = mat("x"), t = mat("target"), w = mat("w"); double *g = new(1, x.d).v;
        if (is("kind", "gradient")) { gradient(x, t, w.v, g); list("gradient", g, x.d); } else if (is("kind", "descent")) descent(x, t); else stop("skip", "kind");
    } else if (is("type", "RepairedThreshold")) repaired_threshold();
    else stop("skip", "type");
}
int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\r\n")] = 0; fields = 0;
        for (char *s = line; s && *s && fields < 128;) {
            char *e = strchr(s, '\t'), *v; if (e) *e++ = 0;
            if ((v = strchr(s, '='))) { *v = 0; key[fields] = s; val[fields++] = v + 1; }
            s = e;
        }
        if (!get("tcId")) continue;
        if (!setjmp(again)) answer();
        out[at] = 0; puts(out); fflush(stdout);
    }
    return 0;
}
