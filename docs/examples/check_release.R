# Checks the numbers of a release file from docs/files.md alone, without this project's code or a package:
#
#     Rscript check_release.R release.json
#
# Exit 0: all agree; 1: one differs; 2: not covered here.
text <- paste(readLines(commandArgs(trailingOnly = TRUE)[1], encoding = "UTF-8", warn = FALSE), collapse = "\n")
pattern <- '"([^"\\\\]|\\\\.)*"|[-+.0-9a-zA-Z]+|[][{}:,]'
tokens <- regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1]]
at <- 0
take <- function() tokens[at <<- at + 1]

# objects become lists with names, arrays lists without, all else text; null becomes NA
value <- function() {
  token <- take()
  if (!token %in% c("{", "[")) return(if (token == "null") NA else gsub('^"|"$', "", token))
  end <- if (token == "{") "}" else "]"
  found <- list()
  while (tokens[at + 1] != end) {
    if (tokens[at + 1] == ",") take()
    if (token == "{") {
      name <- value()
      take()
      found[[name]] <- value()
    } else found[[length(found) + 1]] <- value()
  }
  take()
  found
}

number <- function(text) Reduce(`/`, as.numeric(strsplit(text, "/", fixed = TRUE)[[1]]))
release <- value()
budget <- release$budget
noise <- release$noise
readings <- release$readings
published <- release$privacy$published
covered <- release$mechanism %in% c("functional", "pdfc", "relaxed_functional", "adfc")
if (!covered || !is.list(published) || readings$fairness == "separate") {
  message("not covered: see the formulas in docs/files.md")
  quit(status = 2)
}

d <- number(readings$dimension)
k <- if (readings$fairness == "none") 1 else 3
part <- function(name, end) number(c(budget[[paste0(name, end)]], budget[[name]])[1])
u <- if (is.null(noise$steps)) 0 else 1 / number(noise$steps)
matrix_basis <- readings$basis == "matrix"
m <- if (matrix_basis) 2 * d else d + 1
q <- if (matrix_basis) d + d^2 else d * (d + 3) / 2
same <- TRUE

compare <- function(what, here, there) {
  agrees <- isTRUE(abs(here - there) <= 1e-9 * abs(here))
  same <<- same && agrees
  cat(sprintf("%s: %.17g here, %.17g in the file: %s\n", what, here, there, if (agrees) "agree" else "DIFFER"))
}

scale <- function(end) {
  epsilon <- part("epsilon", end)
  if (noise$kind == "laplace") return((d^2 / 4 + k * d + d * m * u) / epsilon)
  l <- log(sqrt(2 / pi) / part("delta", end))
  delta2 <- sqrt(d^2 / 16 + k^2 * d) + sqrt(q) * u
  sqrt(2) * delta2 * (sqrt(l) + sqrt(l + epsilon)) / (2 * epsilon)
}

compare("scale_s", scale("_s"), number(noise$scale_s))
compare("scale_n", scale("_n"), number(noise$scale_n))
epsilon <- part("epsilon", "_s") / d + part("epsilon", "_n") * (d - 1) / d
compare("epsilon", epsilon, number(published$epsilon_exact))
if (!is.null(budget$delta_s) && noise$kind == "gaussian") {
  delta <- 1 - (1 - part("delta", "_s")) * (1 - part("delta", "_n"))
  compare("delta", delta, number(published$delta))
}
# a weight for every column, or none at all
weights <- if (release$status == "unbounded") 0 else length(release$columns)
compare("weights", weights, sum(is.finite(as.numeric(unlist(release$w)))))
quit(status = if (same) 0 else 1)
