/* Laplace noise on a number: cc -O2 -o laplace laplace.c -lm; ./laplace SCALE.  Answers in JSON or binary.

   Reads requests with strstr, which is enough here: the auditor writes them in one form ("key": value, in the order
   op, input, count, seed, binary), and the input of this mechanism is a number. */

#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *entropy;

static uint64_t random_bits(void)
{
    uint64_t bits;
    if (fread(&bits, sizeof bits, 1, entropy) != 1) {
        fputs("no entropy\n", stderr);
        exit(1);
    }
    return bits;
}

static double laplace(double scale)
{
    /* 52 bits make a number strictly between 0 and 1, one more bit the sign */
    uint64_t bits = random_bits();
    double uniform = ((double)(bits >> 12) + 0.5) / 4503599627370496.0;
    double size = -scale * log(uniform);
    return bits & 1 ? size : -size;
}

static double number_after(const char *request, const char *key)
{
    const char *place = strstr(request, key);
    return place ? strtod(place + strlen(key), NULL) : NAN;
}

/* the lowest byte first, whatever the machine */
static void write_little_endian(uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        putchar((int)(value >> (8 * i) & 255));
}

static void write_binary(double input, long count, double scale)
{
    fwrite("F64\x01", 1, 4, stdout);
    write_little_endian(1, 4);
    write_little_endian((uint64_t)count, 8);
    for (long i = 0; i < count; i++) {
        double draw = input + laplace(scale);
        uint64_t bits;
        memcpy(&bits, &draw, sizeof bits);
        write_little_endian(bits, 8);
    }
}

static void write_json(double input, long count, double scale)
{
    fputs("{\"values\": [", stdout);
    for (long i = 0; i < count; i++)
        /* 17 digits are enough to keep every bit */
        printf("%s[%.17g]", i ? ", " : "", input + laplace(scale));
    fputs("]}\n", stdout);
}

int main(int argc, char **argv)
{
    double scale = argc > 1 ? atof(argv[1]) : 1;
    char *request = NULL;
    size_t room = 0;

    entropy = fopen("/dev/urandom", "rb");
    if (!entropy) {
        perror("/dev/urandom");
        return 1;
    }
    while (getline(&request, &room, stdin) > 0) {
        double input = number_after(request, "\"input\": ");
        double count = number_after(request, "\"count\": ");
        if (strstr(request, "\"op\": \"inputs\""))
            puts("{\"left\": 0, \"right\": 1, \"adjacency\": \"replace_one\"}");
        else if (!strstr(request, "\"op\": \"sample\"") || isnan(input) || !(count >= 1))
            puts("{\"error\": \"not understood\"}");
        else if (strstr(request, "\"binary\": true"))
            write_binary(input, (long)count, scale);
        else
            write_json(input, (long)count, scale);
        fflush(stdout);
    }
    free(request);
    return 0;
}
