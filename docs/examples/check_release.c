/* Checks the numbers of a release file from docs/files.md alone, without this project's code or a library:
 *
 *     cc -O1 -o check_release check_release.c -lm && ./check_release release.json
 *
 * Exit 0: all agree; 1: one differs; 2: not covered here. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000, PATH = 400 };

static char *paths[MOST], *values[MOST], *next;
static int count, same = 1;

static void leave(const char *why) {
    fprintf(stderr, "not covered: %s\n", why);
    exit(2);
}

static char *copy(const char *from, size_t length) {
    char *made = malloc(length + 1);
    if (!made) leave("no memory");
    memcpy(made, from, length);
    made[length] = 0;
    return made;
}

static char *token(void) {
    char *from = next, *end;
    if (*from == '"') {
        for (end = ++from; *end && *end != '"'; end++) if (*end == '\\' && end[1]) end++;
        next = *end ? end + 1 : end;
    } else {
        for (end = from; *end && !strchr(",]}: \t\r\n", *end); end++) {}
        next = end;
    }
    return copy(from, (size_t)(end - from));
}

static char space(void) {
    while (isspace((unsigned char)*next) || *next == ',' || *next == ':') next++;
    return *next;
}

/* Every text and number gets a path: "budget.epsilon_s", "w.0". */
static void read_value(const char *path, int depth) {
    char first = space(), inner[PATH];
    if (depth > 50 || count == MOST || !first) leave("no release file that this program can read");
    if (first != '{' && first != '[') {
        paths[count] = copy(path, strlen(path));
        values[count++] = token();
        return;
    }
    next++;
    for (int index = 0; space() != '}' && *next != ']'; index++) {
        char *name = NULL;
        if (!*next) leave("the file ends early");
        if (first == '{') name = token();
        const char *dot = *path ? "." : "";
        int length = name ? snprintf(inner, PATH, "%s%s%s", path, dot, name)
                          : snprintf(inner, PATH, "%s%s%d", path, dot, index);
        if (length >= PATH) leave("a name is too long");
        free(name);
        read_value(inner, depth + 1);
    }
    next++;
}

static const char *get(const char *path) {
    for (int i = 0; i < count; i++) if (!strcmp(paths[i], path)) return values[i];
    return NULL;
}

static int is(const char *path, const char *value) {
    const char *found = get(path);
    return found && !strcmp(found, value);
}

static double number(const char *text) {
    if (!text) leave("a number is missing");
    const char *slash = strchr(text, '/');
    return slash ? atof(text) / atof(slash + 1) : atof(text);
}

static double part(const char *name, const char *end) {
    char path[PATH];
    snprintf(path, PATH, "budget.%s%s", name, end);
    const char *found = get(path);
    snprintf(path, PATH, "budget.%s", name);
    return number(found ? found : get(path));
}

static void compare(const char *what, double here, double there) {
    int agrees = fabs(here - there) <= 1e-9 * fabs(here);
    same = same && agrees;
    printf("%s: %.17g here, %.17g in the file: %s\n", what, here, there, agrees ? "agree" : "DIFFER");
}

static double scale(const char *end, double d, double k, double u) {
    const double pi = 3.14159265358979323846;
    int matrix = is("readings.basis", "matrix");
    double m = matrix ? 2 * d : d + 1, q = matrix ? d + d * d : d * (d + 3) / 2;
    double epsilon = part("epsilon", end);
    if (is("noise.kind", "laplace")) return (d * d / 4 + k * d + d * m * u) / epsilon;
    double l = log(sqrt(2 / pi) / part("delta", end));
    double delta2 = sqrt(d * d / 16 + k * k * d) + sqrt(q) * u;
    return sqrt(2) * delta2 * (sqrt(l) + sqrt(l + epsilon)) / (2 * epsilon);
}

static int numbers(const char *list) {
    char path[PATH];
    int found = 0;
    for (;; found++) {
        snprintf(path, PATH, "%s.%d", list, found);
        if (!get(path)) return found;
    }
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END)) leave("no file");
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) leave("the file cannot be read");
    next = text;
    read_value("", 0);

    int pair = is("mechanism", "pdfc") || is("mechanism", "adfc");
    int single = is("mechanism", "functional") || is("mechanism", "relaxed_functional");
    const char *epsilon = get("privacy.published.epsilon_exact");
    if (!(pair || single) || !epsilon || is("readings.fairness", "separate")) leave("see the formulas in docs/files.md");
    double d = number(get("readings.dimension")), k = is("readings.fairness", "none") ? 1 : 3;
    double u = get("noise.steps") ? 1 / number(get("noise.steps")) : 0;
    compare("scale_s", scale("_s", d, k, u), number(get("noise.scale_s")));
    compare("scale_n", scale("_n", d, k, u), number(get("noise.scale_n")));
    compare("epsilon", part("epsilon", "_s") / d + part("epsilon", "_n") * (d - 1) / d, number(epsilon));
    if (get("budget.delta_s") && is("noise.kind", "gaussian")) {
        double delta = 1 - (1 - part("delta", "_s")) * (1 - part("delta", "_n"));
        compare("delta", delta, number(get("privacy.published.delta")));
    }
    /* a weight for every column, or none at all */
    compare("weights", is("status", "unbounded") ? 0 : numbers("columns"), numbers("w"));
    return same ? 0 : 1;
}
