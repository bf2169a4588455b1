/* The paper in C: scales, noise, privacy, coefficients and metrics.  Answers the flat form of the vectors, a line
   each: fields name=value with tabs between, commas in a list, semicolons between the rows of a matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 512
#define FIELDS 64

typedef struct { int rows, columns; double at[MOST]; } Numbers;

static char *names[FIELDS], *values[FIELDS];
static int fields;

static const char *text(const char *name) {
    for (int i = 0; i < fields; i++) if (strcmp(names[i], name) == 0) return values[i];
    return "";
}
static int given(const char *name) { return *text(name) != 0; }
static int is(const char *name, const char *value) { return strcmp(text(name), value) == 0; }

static double parse(const char *start, char **end) {
    double top = strtod(start, end);
    if (**end == '/') { double bottom = strtod(*end + 1, end); return top / bottom; }
    return top;
}
static double number(const char *name) { char *end; return parse(text(name), &end); }
static int whole(const char *name) { return atoi(text(name)); }

static Numbers numbers(const char *name) {
    Numbers found = {1, 0, {0}};
    int count = 0;
    for (char *at = (char *)text(name); *at && count < MOST; ) {
        char *end;
        found.at[count++] = parse(at, &end);
        if (*end == ';') found.rows++;
        if (end == at || *end == 0) break;
        at = end + 1;
    }
    found.columns = count / found.rows;
    return found;
}

static void say(const char *name, double value) { printf("\t%s=%.17g", name, value); }
static void list(const char *name, const double *value, int count) {
    printf("\t%s=", name);
    for (int i = 0; i < count; i++) printf(i ? ",%.17g" : "%.17g", value[i]);
}
static void refuse(const char *why) { printf("\terror=%s", why); }
static void skip(const char *why) { printf("\tskip=%s", why); }

/* --- equation (6) ------------------------------------------------------------------------------------------- */

static int pairs(int d, int matrix, int e[], int l[]) {
    int count = 0;
    for (int i = 0; i < d; i++) for (int j = matrix ? 0 : i; j < d; j++) { e[count] = i; l[count++] = j; }
    return count;
}

static void coefficients(void) {
    Numbers x = numbers("x"), y = numbers("y"), z = numbers("z");
    int e[MOST], l[MOST], n = x.rows, d = x.columns, none = is("fairness", "none");
    double linear[MOST] = {0}, covariance[MOST] = {0}, quadratic[MOST] = {0}, zbar = 0;
    for (int i = 0; i < n && !none; i++) zbar += z.at[i] / n;
    int count = pairs(d, is("basis", "matrix"), e, l);
    for (int i = 0; i < n; i++) {
        const double *row = x.at + i * d;
        double g = none ? 0 : z.at[i] - zbar;
        double fair = is("fairness", "absolute") ? fabs(g) : is("fairness", "covariance") ? g : 0;
        for (int j = 0; j < d; j++) {
            linear[j] += (0.5 - y.at[i] + number("fairnessWeight") * fair) * row[j];
            covariance[j] += g * row[j];
        }
        for (int k = 0; k < count; k++) {
            double both = is("basis", "monomial") && e[k] != l[k] ? 2 : 1;
            quadratic[k] += both * row[e[k]] * row[l[k]] / 8;
        }
    }
    list("linear", linear, d);
    list("quadratic", quadratic, count);
    if (is("fairness", "separate")) list("covariance", covariance, d);
}

/* --- sensitivities and scales --------------------------------------------------------------------------------- */

static double delta_1(double d) { return d * d / 4 + (is("fairness", "none") ? d : 3 * d); }
static double delta_2_squared(double d) { return d * d / 16 + (is("fairness", "none") ? d : 9 * d); }

/* Theorem 2; NAN where it is not defined */
static double extended_sigma(double squared, double epsilon, double delta) {
    if (!(epsilon > 0) || !(delta > 0)) return NAN;
    double logarithm = 0.5 * log(2 / acos(-1.0)) - log(delta);
    if (logarithm < 0) return NAN;
    return sqrt(2 * squared) / (2 * epsilon) * (sqrt(logarithm) + sqrt(logarithm + epsilon));
}

static double tail(double x) { return erfc(x / sqrt(2.0)) / 2; }

/* the exact delta of a Gaussian shift mu */
static double gaussian_delta(double mu, double epsilon) {
    return tail(epsilon / mu - mu / 2) - exp(epsilon) * tail(epsilon / mu + mu / 2);
}

static double gaussian_epsilon(double mu, double delta) {
    double low = 0, high = 1;
    if (gaussian_delta(mu, 0) <= delta) return 0;
    while (gaussian_delta(mu, high) > delta) high *= 2;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        if (gaussian_delta(mu, middle) > delta) low = middle; else high = middle;
    }
    return high;
}

static double analytic_sigma(double squared, double epsilon, double delta) {
    double low = 1e-6, high = 1e12;
    for (int i = 0; i < 300; i++) {
        double middle = sqrt(low * high);
        if (gaussian_delta(1 / middle, epsilon) > delta) low = middle; else high = middle;
    }
    return high * sqrt(squared);
}

static double mechanism_scale(const char *part) {
    char epsilon[16], delta[16];
    double d = number("dimension");
    snprintf(epsilon, sizeof epsilon, "epsilon%s", part);
    snprintf(delta, sizeof delta, "delta%s", part);
    if (is("mechanism", "pdfc") || is("mechanism", "functional")) return delta_1(d) / number(epsilon);
    return extended_sigma(delta_2_squared(d), number(epsilon), number(delta));
}

static void scale(void) {
    if (is("kind", "mechanism")) {
        int split = given("epsilonS");
        say("scaleS", mechanism_scale(split ? "S" : ""));
        say("scaleN", mechanism_scale(split ? "N" : ""));
        return;
    }
    double epsilon = number("epsilon"), squared = number("l2SensitivitySquared"), delta = number("delta");
    double found = NAN;
    if (epsilon > 0 && is("kind", "laplace")) found = number("l1Sensitivity") / epsilon;
    if (is("kind", "extended_gaussian")) found = extended_sigma(squared, epsilon, delta);
    if (is("kind", "analytic_gaussian")) {
        if (delta < 1e-12) { skip("tails far out"); return; }
        found = analytic_sigma(squared, epsilon, delta);
    }
    if (isnan(found)) refuse("not defined"); else say("scale", found);
}

static void sensitivity(void) {
    if (is("kind", "published_l1")) say("value", delta_1(number("dimension")));
    else if (is("kind", "published_l2")) say("value", delta_2_squared(number("dimension")));
    else skip("published bounds only");
}

static void perturbation(void) {
    Numbers value = numbers("values"), member = numbers("inS"), variate = numbers("unitVariates");
    for (int i = 0; i < value.columns; i++)
        value.at[i] += number(member.at[i] ? "scaleS" : "scaleN") * variate.at[i];
    list("noisy", value.at, value.columns);
}

/* --- privacy and metrics --------------------------------------------------------------------------------------- */

static void privacy(void) {
    double d = number("dimension"), delta = number("delta");
    if (is("kind", "claimed")) {
        int split = given("epsilonS");
        say("epsilon", split ? number("epsilonS") / d + number("epsilonN") * (d - 1) / d : number("epsilon"));
        say("delta", split ? 1 - (1 - number("deltaS")) * (1 - number("deltaN")) : delta);
    } else if (is("kind", "gaussian_delta") && number("epsilon") < 16 * number("squaredShift")) {
        say("delta", gaussian_delta(sqrt(number("squaredShift")), number("epsilon")));
    } else if (is("kind", "gaussian_epsilon")) {
        if (!(delta > 0 && delta < 1)) refuse("delta");
        else if (delta < 1e-8) skip("tails far out");
        else say("epsilon", gaussian_epsilon(sqrt(number("squaredShift")), delta));
    } else skip("no suprema, no tails far out");
}

static double total(Numbers found) {
    double sum = 0;
    for (int i = 0; i < found.columns; i++) sum += found.at[i];
    return sum;
}

static void accounting(void) {
    if (is("kind", "basic")) {
        say("epsilon", total(numbers("epsilons")));
        say("delta", fmin(1, total(numbers("deltas"))));
        return;
    }
    double moved = number("bound") * (is("adjacency", "replace_one") ? 2 : 1) / number("scale");
    double delta = number("delta");
    if (is("kind", "laplace")) say("epsilon", number("count") * moved);
    else if (!(delta > 0 && delta < 1)) refuse("delta");
    else say("epsilon", gaussian_epsilon(sqrt(number("count")) * moved, delta));
}

static void rate(const char *name, double part, double all) {
    if (all > 0) say(name, part / all); else printf("\t%s=none", name);
}

static void metrics(void) {
    Numbers x = numbers("x"), y = numbers("y"), z = numbers("z"), w = numbers("w");
    double right = 0, ones[2] = {0, 0}, members[2] = {0, 0}, covariance = 0, zbar = total(z) / x.rows;
    for (int i = 0; i < x.rows; i++) {
        double score = 0;
        for (int j = 0; j < x.columns; j++) score += x.at[i * x.columns + j] * w.at[j];
        int one = score > 0, group = (int)z.at[i];
        right += one == (y.at[i] == 1);
        ones[group] += one;
        members[group] += 1;
        covariance += (z.at[i] - zbar) * score;
    }
    rate("accuracy", right, x.rows);
    rate("positiveRate", ones[0] + ones[1], x.rows);
    rate("positiveRateGroup0", ones[0], members[0]);
    rate("positiveRateGroup1", ones[1], members[1]);
    if (members[0] && members[1]) say("riskDifference", fabs(ones[1] / members[1] - ones[0] / members[0]));
    else printf("\triskDifference=none");
    say("boundaryCovariance", covariance);
}

static void grouping(void) {
    int e[MOST], l[MOST], d = whole("dimension"), s = whole("xS"), count = pairs(d, is("basis", "matrix"), e, l);
    int separate = is("fairness", "separate") ? d : 0, first = whole("intercept");
    double member[MOST], selectable[MOST];
    for (int i = 0; i < d; i++) member[i] = member[d + count + i] = i == s;
    for (int k = 0; k < count; k++) member[d + k] = e[k] == s || l[k] == s;
    for (int i = first; i < d; i++) selectable[i - first] = i;
    say("size", d + count + separate);
    list("inS", member, d + count + separate);
    list("selectable", selectable, d - first - whole("keepGroup"));
}

int main(void) {
    static char line[1 << 16];
    static const struct { const char *type; void (*answer)(void); } known[] = {
        {"Coefficients", coefficients}, {"Scale", scale}, {"Sensitivity", sensitivity}, {"Perturbation", perturbation},
        {"Privacy", privacy}, {"Accounting", accounting}, {"FairnessMetric", metrics}, {"Grouping", grouping}};
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        fields = 0;
        for (char *part = strtok(line, "\t"); part && fields < FIELDS; part = strtok(NULL, "\t")) {
            char *equals = strchr(part, '=');
            if (!equals) continue;
            *equals = 0;
            names[fields] = part;
            values[fields++] = equals + 1;
        }
        printf("tcId=%s", text("tcId"));
        unsigned i = 0;
        while (i < sizeof known / sizeof *known && !is("type", known[i].type)) i++;
        if (i < sizeof known / sizeof *known) known[i].answer(); else skip("not in this port");
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
