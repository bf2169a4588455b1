# The paper in R: domains, coefficients, scales, the minimum and whole releases.  Answers the flat form of the vectors.

refuse <- function(why) stop(structure(list(message = why), class = c("refused", "error", "condition")))
skip <- function(why) stop(structure(list(message = why), class = c("skipped", "error", "condition")))

value <- function(text) {
  parts <- strsplit(text, "/", fixed = TRUE)[[1]]
  if (parts[1] %in% c("NaN", "Infinity", "-Infinity")) refuse("no finite number")
  found <- as.numeric(parts)
  if (length(found) == 2) found[1] / found[2] else found
}
words <- function(text) if (is.null(text)) character(0) else strsplit(text, ",", fixed = TRUE)[[1]]
numbers <- function(text) vapply(words(text), value, 0, USE.NAMES = FALSE)
rows <- function(text) strsplit(text, ";", fixed = TRUE)[[1]]
table_of <- function(text) do.call(rbind, lapply(rows(text), numbers))
shown <- function(x) paste(sprintf("%.17g", x), collapse = ",")

# --- records ---------------------------------------------------------------------------------------------------

encode <- function(q) {
  for (name in c("y", "z")) if (!all(words(q[[name]]) %in% c("0", "1"))) refuse("not 0 or 1")
  if (q$encoded == "1") {
    x <- table_of(q$rows)
    if (q$norm != "symmetric_ball" && min(x) < 0) refuse("negative entry")
    size <- if (q$norm == "unit_box") max(x) else max(rowSums(x^2))
    if (size > 1 + (ncol(x) + 2) * .Machine$double.eps) refuse("outside the norm")
    return(x)
  }
  kinds <- words(q$kinds); lower <- numbers(q$lower); upper <- numbers(q$upper)
  if (any(lower >= upper)) refuse("no interval")
  z <- numbers(q$z)
  count <- length(kinds) + (q$intercept == "1") + (q$keepGroup == "1")
  encoded <- lapply(seq_along(rows(q$rows)), function(i) {
    raw <- numbers(rows(q$rows)[i])
    row <- if (q$intercept == "1") 1 else numeric(0)
    for (k in seq_along(kinds)) {
      v <- raw[k]
      if (kinds[k] == "numeric") {
        if (q$clip != "1" && (v < lower[k] || v > upper[k])) refuse("out of bounds")
        row <- c(row, (min(max(v, lower[k]), upper[k]) - lower[k]) / (upper[k] - lower[k]))
      } else {
        if (v != round(v) || v < 0 || v > upper[k]) refuse("unknown category")
        row <- c(row, if (kinds[k] == "ordinal") v / upper[k] else as.numeric(0:upper[k] == v))
      }
    }
    if (q$keepGroup == "1") c(row, z[i]) else row
  })
  do.call(rbind, encoded) * (if (q$norm == "unit_box") 1 else 1 / sqrt(count))
}

# --- equation (6) ------------------------------------------------------------------------------------------------

# the monomials row by row, a column (e, l) each
monomials <- function(d, basis) {
  all <- t(as.matrix(expand.grid(l = 1:d, e = 1:d)[, c("e", "l")]))
  if (basis == "matrix") all else all[, all[1, ] <= all[2, ], drop = FALSE]
}

coefficients <- function(x, q) {
  y <- numbers(q$y); n <- nrow(x); d <- ncol(x)
  g <- if (q$fairness == "none") rep(0, n) else numbers(q$z) - mean(numbers(q$z))
  fair <- switch(q$fairness, absolute = abs(g), covariance = g, rep(0, n))
  linear <- colSums((1 / 2 - y + value(q$fairnessWeight) * fair) * x)
  el <- monomials(d, q$basis)
  twice <- if (q$basis == "monomial") ifelse(el[1, ] == el[2, ], 1, 2) else 1
  quadratic <- twice * colSums(x[, el[1, ], drop = FALSE] * x[, el[2, ], drop = FALSE]) / 8
  list(linear = linear, quadratic = quadratic, covariance = if (q$fairness == "separate") colSums(g * x))
}

# --- scales ------------------------------------------------------------------------------------------------------

extended_sigma <- function(squared, epsilon, delta) {
  if (delta <= 0) refuse("delta")
  logarithm <- log(sqrt(2 / pi)) - log(delta)
  if (logarithm < 0) refuse("delta above sqrt(2/pi)")
  sqrt(2) * sqrt(squared) / (2 * epsilon) * (sqrt(logarithm) + sqrt(logarithm + epsilon))
}

is_split <- function(q) q$mechanism %in% c("pdfc", "adfc")
is_laplace <- function(q) q$mechanism %in% c("pdfc", "functional")

scales <- function(q, d) {
  fair <- q$fairness != "none"
  vapply(if (is_split(q)) c("S", "N") else c("", ""), function(part) {
    epsilon <- value(q[[paste0("epsilon", part)]])
    if (epsilon <= 0) refuse("epsilon")
    if (is_laplace(q)) return((d^2 / 4 + if (fair) 3 * d else d) / epsilon)
    extended_sigma(d^2 / 16 + if (fair) 9 * d else d, epsilon, value(q[[paste0("delta", part)]]))
  }, 0, USE.NAMES = FALSE)
}

scale <- function(q) {
  if (q$kind == "mechanism") {
    found <- scales(q, value(q$dimension))
    return(list(scaleS = found[1], scaleN = found[2]))
  }
  epsilon <- value(q$epsilon)
  if (epsilon <= 0) refuse("epsilon")
  if (q$kind == "laplace") return(list(scale = value(q$l1Sensitivity) / epsilon))
  if (q$kind == "analytic_gaussian") skip("no analytic sigma")
  list(scale = extended_sigma(value(q$l2SensitivitySquared), epsilon, value(q$delta)))
}

# --- the minimum -----------------------------------------------------------------------------------------------------

# c, quadratic and g as they were released; deviation: of the noisier noise
minimise <- function(linear, quadratic, g, q, deviation) {
  d <- length(linear); el <- monomials(d, q$basis); a <- matrix(0, d, d)
  for (k in seq_along(quadratic)) {
    a[el[1, k], el[2, k]] <- a[el[1, k], el[2, k]] + quadratic[k] / 2
    a[el[2, k], el[1, k]] <- a[el[2, k], el[1, k]] + quadratic[k] / 2
  }
  found <- eigen(a, symmetric = TRUE)
  lambda <- found$values + if (q$repair == "shift_and_trim") 4 * deviation else 0
  along <- drop(t(found$vectors) %*% linear)
  value_at <- function(u, h = 0, weight = 0, tau = 0) sum(along * u) + sum(lambda * u^2) + weight * abs(sum(h * u) - tau)
  zero <- 1e-12 * max(abs(lambda)); kept <- lambda > zero
  if (q$repair == "ball") {
    radius <- value(q$ballRadius); start <- max(0, -min(lambda))
    u_at <- function(m) ifelse(along == 0, 0, -along / (2 * (lambda + m)))
    length_at <- function(m) sqrt(sum(u_at(m)^2)) - radius
    if (all(kept) && length_at(0) <= 0) {
      u <- u_at(0)
    } else {
      if (any(abs(along[lambda <= min(lambda) + zero]) < 1e-9 * max(abs(along)))) skip("mirror minimisers")
      high <- sqrt(sum(along^2)) / (2 * radius)
      low <- max(abs(along) / (2 * radius) - lambda) * (1 - 1e-9)
      u <- u_at(uniroot(length_at, c(max(low, start * (1 + 1e-15)), start + high * 2), tol = 1e-15)$root)
    }
    return(list(status = "ok", w = drop(found$vectors %*% u), objective = value_at(u)))
  }
  falls <- !kept & abs(along) > 1e-9 * max(abs(along), 1e-300)
  if (q$repair == "none" && any(lambda < -zero | falls)) return(list(status = "unbounded"))
  solve_at <- function(h) ifelse(kept, -h / (2 * lambda), 0)
  u <- solve_at(along); weight <- value(q$fairnessWeight); tau <- value(q$tau); h <- 0
  if (length(g) && weight > 0) {
    h <- drop(t(found$vectors) %*% g)
    curvature <- sum(ifelse(kept, h^2 / lambda, 0))
    m <- if (curvature > 0) 2 * (sum(h * u) - tau) / curvature else 0
    u <- solve_at(along + max(-weight, min(weight, m)) * h)
    return(list(status = "ok", w = drop(found$vectors %*% u), objective = value_at(u, h, weight, tau)))
  }
  list(status = "ok", w = drop(found$vectors %*% u), objective = value_at(u))
}

deviation <- function(laplace, used) (if (laplace) sqrt(2) else 1) * max(used)

minimiser <- function(q) {
  used <- c(value(q$scaleS), value(q$scaleN))
  minimise(numbers(q$linear), numbers(q$quadratic), numbers(q$covariance), q, deviation(q$noise == "laplace", used))
}

release <- function(q) {
  x <- encode(q); d <- ncol(x); b <- scales(q, d); exact <- coefficients(x, q); el <- monomials(d, q$basis)
  s <- if (is_split(q)) value(q$xS) + 1 else 0
  used <- ifelse(c(1:d == s, el[1, ] == s | el[2, ] == s), b[1], b[2])
  noisy <- c(exact$linear, exact$quadratic) + used * numbers(q$unitVariates)
  found <- minimise(noisy[1:d], noisy[-(1:d)], NULL, q, deviation(is_laplace(q), used))
  stated <- if (is_split(q)) {
    list(epsilon = value(q$epsilonS) / d + value(q$epsilonN) * (d - 1) / d,
         delta = 1 - (1 - value(q$deltaS)) * (1 - value(q$deltaN)))
  } else list(epsilon = value(q$epsilon), delta = value(q$delta))
  c(list(dimension = d, scaleS = b[1], scaleN = b[2], noisy = noisy), found, stated)
}

perturbation <- function(q) {
  scale <- ifelse(numbers(q$inS) == 1, value(q$scaleS), value(q$scaleN))
  list(noisy = numbers(q$values) + scale * numbers(q$unitVariates))
}

metrics <- function(q) {
  x <- table_of(q$x); y <- numbers(q$y); z <- numbers(q$z)
  score <- drop(x %*% numbers(q$w)); one <- as.numeric(score > 0)
  rate <- function(found) if (length(found)) mean(found) else "none"
  of <- lapply(0:1, function(group) rate(one[z == group]))
  list(accuracy = mean(one == y), positiveRate = mean(one),
       positiveRateGroup0 = of[[1]], positiveRateGroup1 = of[[2]],
       riskDifference = if (is.character(of[[1]]) || is.character(of[[2]])) "none" else abs(of[[2]] - of[[1]]),
       boundaryCovariance = sum((z - mean(z)) * score))
}

domain <- function(q) {
  x <- encode(q)
  list(dimension = ncol(x), x = paste(apply(x, 1, shown), collapse = ";"), y = numbers(q$y))
}

answers <- list(Domain = domain, Coefficients = function(q) coefficients(table_of(q$x), q), Scale = scale,
                Perturbation = perturbation, Minimiser = minimiser, FairnessMetric = metrics, Release = release)

for (line in readLines(file("stdin"))) {
  fields <- strsplit(line, "\t", fixed = TRUE)[[1]]
  at <- regexpr("=", fields, fixed = TRUE)
  q <- as.list(setNames(substring(fields, at + 1), substring(fields, 1, at - 1)))
  found <- tryCatch(if (is.null(answers[[q$type]])) skip("not in this port") else answers[[q$type]](q),
                    refused = function(why) list(error = why$message),
                    skipped = function(why) list(skip = why$message))
  found <- Filter(Negate(is.null), found)
  texts <- vapply(found, function(v) if (is.character(v)) v else shown(v), "")
  cat(paste(c(paste0("tcId=", q$tcId), paste0(names(texts), "=", texts)), collapse = "\t"), "\n", sep = "")
}
