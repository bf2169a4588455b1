# A port of the paper's mechanisms and of the repaired one, for the vectors of README.md. Base R, flat exchange.
#   python -m audit conformance --exchange flat --program "Rscript --vanilla port.R"
refuse <- function(why) stop(structure(class = c("refusal", "error", "condition"), list(message = why, call = NULL)))
skip <- function(why) stop(structure(class = c("skipped", "error", "condition"), list(message = why, call = NULL)))
num <- function(s) {
  one <- function(t) { p <- as.numeric(strsplit(t, "/", fixed = TRUE)[[1]]); if (length(p) == 2) p[1] / p[2] else p[1] }
  vapply(s, one, 0, USE.NAMES = FALSE)
}
words <- function(s) if (is.null(s) || s == "") character(0) else strsplit(s, ",", fixed = TRUE)[[1]]
nums <- function(s) num(words(s))
mat <- function(s, d = 0) {                                     # a list of lists: rows with semicolons
  if (is.null(s) || s == "") return(matrix(0, 0, d))
  rows <- lapply(strsplit(s, ";", fixed = TRUE)[[1]], nums)
  if (length(unique(lengths(rows))) != 1) refuse("ragged rows")
  do.call(rbind, rows)
}
text <- function(v) {                                           # 17 digits are the double
  if (is.character(v)) return(paste(v, collapse = ","))
  if (is.matrix(v)) return(paste(apply(v, 1, function(r) paste(sprintf("%.17g", r), collapse = ",")), collapse = ";"))
  paste(sprintf("%.17g", v), collapse = ",")
}
one <- function(i, name, default = NULL) if (is.null(i[[name]])) default else num(i[[name]])
yes <- function(i, name) !is.null(i[[name]]) && i[[name]] == "1"
binary <- function(v) all(v %in% c(0, 1))

# ---- Domain
Domain <- function(i) {
  rows <- mat(i$rows); y <- nums(i$y); z <- nums(i$z); norm <- i$norm
  if (!all(is.finite(rows))) refuse("values are not finite")
  if (!binary(y) || !binary(z)) refuse("labels and groups are 0 or 1")
  if (length(y) != nrow(rows) || (!is.null(i$z) && length(z) != nrow(rows))) refuse("lengths differ")
  if (yes(i, "encoded")) {
    if (norm != "symmetric_ball" && any(rows < -1e-12)) refuse("negative entry")
    if (norm == "unit_box" && any(rows > 1 + 1e-12)) refuse("entry above 1")
    if (norm != "unit_box" && any(rowSums(rows^2) > 1 + 1e-12)) refuse("row outside the ball")
    return(list(dimension = ncol(rows), x = rows, y = y))
  }
  kinds <- words(i$kinds); lower <- nums(i$lower); upper <- nums(i$upper); n <- nrow(rows)
  if (ncol(rows) != length(kinds)) refuse("columns and declaration differ")
  if (!all(is.finite(c(lower, upper))) || any(lower >= upper)) refuse("bounds")
  x <- if (yes(i, "intercept")) matrix(1, n, 1) else matrix(0, n, 0)
  for (k in seq_along(kinds)) {
    v <- rows[, k]
    if (kinds[k] == "numeric") {
      if (yes(i, "clip")) v <- pmin(pmax(v, lower[k]), upper[k])
      if (any(v < lower[k] | v > upper[k])) refuse("value outside its bounds")
      x <- cbind(x, (v - lower[k]) / (upper[k] - lower[k]))
    } else {
      if (any(v != round(v) | v < 0 | v > upper[k])) refuse("undeclared category")
      x <- cbind(x, if (kinds[k] == "ordinal") v / upper[k] else outer(v, 0:upper[k], "==") * 1)
    }
  }
  if (yes(i, "keepGroup")) x <- cbind(x, z)
  m <- length(kinds) + yes(i, "intercept") + yes(i, "keepGroup")
  if (norm != "unit_box") x <- x / sqrt(m)
  list(dimension = ncol(x), x = unname(x), y = y)
}

# ---- Coefficients
pairs <- function(d, basis) {                                   # (e, l, factor), row by row
  g <- expand.grid(l = seq_len(d), e = seq_len(d))
  if (basis == "monomial") g <- g[g$e <= g$l, ]
  list(e = g$e, l = g$l, f = if (basis == "monomial") ifelse(g$e == g$l, 1, 2) / 8 else rep(1 / 8, nrow(g)))
}
coefficients <- function(x, y, z, fairness, alpha, basis) {
  dz <- if (fairness == "none") 0 * y else if (length(z)) z - mean(z) else numeric(0)
  g <- switch(fairness, none = , separate = 0 * y, absolute = abs(dz), covariance = dz)
  p <- pairs(ncol(x), basis)
  out <- list(linear = colSums((0.5 - y + alpha * g) * x),
              quadratic = p$f * colSums(x[, p$e, drop = FALSE] * x[, p$l, drop = FALSE]))
  if (fairness == "separate") out$covariance <- colSums(dz * x)
  out
}
Coefficients <- function(i) coefficients(mat(i$x), nums(i$y), nums(i$z), i$fairness, one(i, "fairnessWeight", 1), i$basis)
grouping <- function(d, s, basis, fairness) {                   # s from 1
  p <- pairs(d, basis)
  c(seq_len(d) == s, p$e == s | p$l == s, if (fairness == "separate") seq_len(d) == s) * 1
}
selectable <- function(d, i) { v <- seq_len(d) - 1
  if (yes(i, "intercept")) v <- v[v != 0]
  if (yes(i, "keepGroup")) v <- v[v != d - 1]
  v }
Grouping <- function(i) {
  d <- one(i, "dimension"); s <- one(i, "xS")
  inS <- grouping(d, s + 1, i$basis, i$fairness)
  list(size = length(inS), inS = inS, selectable = selectable(d, i))
}

# ---- Sensitivity
published <- function(d, fairness, p) { fair <- fairness != "none"
  if (p == 1) d^2 / 4 + (if (fair) 3 else 1) * d else d^2 / 16 + (if (fair) 9 else 1) * d }
project <- function(x, norm) {
  if (norm == "unit_ball") x <- pmax(x, 0)
  x / pmax(1, sqrt(rowSums(x^2)))
}
lattice <- function(d, low) as.matrix(expand.grid(rep(list(low:1), d)))
# The supremum of the change, each coefficient weighted; with the records a, b, o, labels y, y' and the sign of F.
supremum <- function(i, p, weight = NULL) {
  d <- one(i, "dimension"); fairness <- i$fairness; norm <- i$norm; add <- i$adjacency == "add_or_remove_one"
  alpha <- one(i, "fairnessWeight", 1); pr <- pairs(d, i$basis); sep <- fairness == "separate"
  nu <- if (i$records == "limit") 1 else (one(i, "records") - 1) / one(i, "records")
  if (is.null(weight)) weight <- rep(1, d + length(pr$e) + sep * d)
  wl <- weight[1:d]; wq <- weight[d + seq_along(pr$e)] * pr$f; wc <- if (sep) weight[d + length(pr$e) + 1:d]
  inl <- if (fairness %in% c("absolute", "covariance")) alpha * nu else 0
  so <- if (fairness == "absolute") 1 else -1                   # F = sign nu (a + so o)
  signs <- if (fairness %in% c("covariance", "separate")) c(1, -1) else 1
  change <- function(g, a, b, o) {                              # one row for each of the combinations
    Fa <- g$s * (a + so * o)
    list(v = sweep(g$h2 * a - g$h1 * b + inl * Fa, 2, wl, "*"), c = if (sep) sweep(nu * Fa, 2, wc, "*") else 0 * a,
         q = sweep(a[, pr$e, drop = FALSE] * a[, pr$l, drop = FALSE] - b[, pr$e, drop = FALSE] * b[, pr$l, drop = FALSE], 2, wq, "*"))
  }
  value <- function(k) rowSums(if (p == 1) abs(cbind(k$v, k$q, k$c)) else cbind(k$v, k$q, k$c)^2)
  best <- function(g, a, b, o) { f <- value(change(g, a, b, o)); k <- which.max(f)
    list(value = f[k], a = a[k, ], b = b[k, ], o = o[k, ], y = 0.5 - g$h1[k], y2 = 0.5 - g$h2[k], s = g$s[k]) }
  corner <- lattice(d, if (norm == "symmetric_ball") -1 else 0); nc <- nrow(corner)
  if (norm == "unit_box" || d == 1) {
    g <- expand.grid(a = 1:nc, b = if (add) 1 else 1:nc, o = if (fairness == "none") 1 else 1:nc, h1 = c(.5, -.5), h2 = c(.5, -.5), s = signs)
    b <- corner[g$b, , drop = FALSE]
    return(best(g, corner[g$a, , drop = FALSE], if (add) 0 * b else b, corner[g$o, , drop = FALSE]))
  }
  corner <- corner / pmax(1, sqrt(rowSums(corner^2)))
  if (p == 2) {                                                 # climb from many starts
    set.seed(1); K <- 250; cases <- expand.grid(h1 = if (add) .5 else c(.5, -.5), h2 = c(.5, -.5), s = signs)
    g <- cases[rep(seq_len(nrow(cases)), each = K), ]; n <- nrow(g)
    start <- function() { x <- matrix(rnorm(n * d), n); if (norm == "unit_ball") x <- abs(x)
      x <- x / sqrt(rowSums(x^2)); k <- runif(n) < 0.5; x[k, ] <- corner[sample(nc, sum(k), TRUE), ]; x }
    a <- start(); b <- if (add) matrix(0, n, d) else start(); o <- start()
    step <- 1 / (2 * max(wl, wc)^2 * ((.5 + inl)^2 + .25 + inl^2 + sep * 2 * nu^2) + 12 * d * max(wq)^2)
    E <- outer(pr$e, 1:d, "=="); L <- outer(pr$l, 1:d, "==")
    for (t in 1:700) {
      k <- change(g, a, b, o); v <- 2 * sweep(k$v, 2, wl, "*"); q <- 2 * sweep(k$q, 2, wq, "*")
      Fg <- g$s * (inl * v + if (sep) 2 * nu * sweep(k$c, 2, wc, "*") else 0)
      slope <- function(x) (q * x[, pr$l, drop = FALSE]) %*% E + (q * x[, pr$e, drop = FALSE]) %*% L
      ga <- g$h2 * v + Fg + slope(a); gb <- -g$h1 * v - slope(b)
      a <- project(a + step * ga, norm); if (!add) b <- project(b + step * gb, norm); o <- project(o + step * so * Fg, norm)
      if (t %in% c(60, 200)) { f <- value(change(g, a, b, o)); k <- order(-f)[seq_len(max(50, length(f) %/% 8))]
        g <- g[k, ]; a <- a[k, , drop = FALSE]; b <- b[k, , drop = FALSE]; o <- o[k, , drop = FALSE] }
    }
    return(best(g, a, b, o))
  }
  # l1: for fixed signs of all coefficients the change is a sum of a function of a, one of b and one of o.
  up <- which(pr$e <= pr$l); nq <- length(up)
  wu <- vapply(up, function(k) sum(wq[(pr$e == pr$e[k] & pr$l == pr$l[k]) | (pr$e == pr$l[k] & pr$l == pr$e[k])]), 0)
  sg <- as.matrix(expand.grid(rep(list(c(1, -1)), d + nq + sep * d)))
  g <- expand.grid(k = seq_len(nrow(sg)), h1 = if (add) .5 else c(.5, -.5), h2 = c(.5, -.5), s = signs)
  sl <- sweep(sg[g$k, 1:d, drop = FALSE], 2, wl, "*"); sq <- sweep(sg[g$k, d + 1:nq, drop = FALSE], 2, wu, "*")
  sF <- g$s * (inl * sl + if (sep) nu * sweep(sg[g$k, d + nq + 1:d, drop = FALSE], 2, wc, "*") else 0)
  quad <- function(P, Q) {                                      # max of p.x + x'Qx in the ball, for every row
    key <- drop(round(cbind(P, Q) * 2^30) %*% (pi^(seq_len(d + nq)) %% 1)); first <- which(!duplicated(key)); to <- match(key, key[first])
    P <- P[first, , drop = FALSE]; Q <- Q[first, , drop = FALSE]; K <- nrow(P)
    id <- rep(1:K, each = nc); x <- corner[rep(1:nc, K), , drop = FALSE]; e <- pr$e[up]; l <- pr$l[up]
    E <- outer(e, 1:d, "=="); L <- outer(l, 1:d, "=="); step <- 1 / (2 * sqrt(max(rowSums(Q^2))))
    for (t in 1:400) {
      Qi <- Q[id, , drop = FALSE]
      x <- project(x + step * (P[id, , drop = FALSE] + (Qi * x[, l, drop = FALSE]) %*% E + (Qi * x[, e, drop = FALSE]) %*% L), norm)
      if (t == 15 || t == 400) {
        f <- rowSums(P[id, , drop = FALSE] * x) + rowSums(Qi * x[, e, drop = FALSE] * x[, l, drop = FALSE])
        k <- order(id, -f); k <- k[!duplicated(id[k])]; x <- x[k, , drop = FALSE]; id <- id[k]; f <- f[k]
      }
    }
    list(f = f[to], x = x[to, , drop = FALSE])
  }
  A <- quad(g$h2 * sl + sF, sq); B <- if (add) list(f = 0, x = 0 * A$x) else quad(-g$h1 * sl, -sq)
  po <- so * sF; if (norm == "unit_ball") po <- pmax(po, 0)
  len <- sqrt(rowSums(po^2)); k <- order(-(A$f + B$f + len))[1:50]
  best(g[k, ], A$x[k, , drop = FALSE], B$x[k, , drop = FALSE], (po / pmax(len, 1e-300))[k, , drop = FALSE])
}
Sensitivity <- function(i) {
  p <- if (grepl("l2", i$kind)) 2 else 1
  switch(i$kind,
    published_l1 = , published_l2 = list(value = published(one(i, "dimension"), i$fairness, p)),
    exact_l1 = , exact_l2 = , ball_l1 = , ball_l2 = list(value = supremum(i, p)$value),
    attaining_l1 = , attaining_l2 = {
      r <- supremum(i, p); N <- one(i, "records"); add <- i$adjacency == "add_or_remove_one"; zo <- if (r$s < 0) 1 else 0
      others <- matrix(rep(r$o, each = N - 1), N - 1, length(r$o))
      out <- list(x = rbind(others, r$a), y = c(rep(0, N - 1), r$y2), z = c(rep(zo, N - 1), 1 - zo),
                  xNeighbour = rbind(others, if (!add) r$b), yNeighbour = c(rep(0, N - 1), if (!add) r$y), zNeighbour = rep(zo, N - add))
      if (i$fairness == "none") out$z <- out$zNeighbour <- NULL
      out },
    worst_pair = {
      f <- function(x, y, z) unlist(coefficients(x, y, z, i$fairness, one(i, "fairnessWeight", 1), i$basis))
      x <- mat(i$x); x2 <- mat(i$xNeighbour)
      d <- max(ncol(x), ncol(x2)); if (!nrow(x)) x <- matrix(0, 0, d); if (!nrow(x2)) x2 <- matrix(0, 0, d)
      k <- f(x, nums(i$y), nums(i$z)) - f(x2, nums(i$yNeighbour), nums(i$zNeighbour))
      list(l1Change = sum(abs(k)), l2ChangeSquared = sum(k^2)) },
    skip("kind"))
}

# ---- Scale and Privacy
extended <- function(l2sq, eps, delta) {
  if (!(eps > 0) || !(delta > 0) || delta > sqrt(2 / pi)) refuse("budget")
  k <- log(sqrt(2 / pi) / delta); sqrt(2) * sqrt(l2sq) / (2 * eps) * (sqrt(k) + sqrt(k + eps))
}
gaussDelta <- function(mu, eps) if (mu == 0) 0 else pnorm(mu / 2 - eps / mu) - exp(eps + pnorm(-mu / 2 - eps / mu, log.p = TRUE))
bisect <- function(low, high, goesUp) {                         # the last middle; goesUp(middle): the answer is above
  for (t in 1:2000) { m <- (low + high) / 2; if (m == low || m == high) break; if (goesUp(m)) low <- m else high <- m }
  high
}
analytic <- function(l2sq, eps, delta) {
  if (!(eps > 0) || !(delta > 0) || delta >= 1) refuse("budget")
  if (delta < 1e-11) skip("needs many digits")
  high <- 1; while (gaussDelta(1 / high, eps) > delta) high <- 2 * high
  low <- high; while (gaussDelta(1 / low, eps) <= delta) low <- low / 2
  sqrt(l2sq) * bisect(low, high, function(s) gaussDelta(1 / s, eps) > delta)
}
gaussEpsilon <- function(mu2, delta) {
  if (!(delta > 0 && delta < 1)) refuse("delta")
  mu <- sqrt(mu2); if (gaussDelta(mu, 0) <= delta) return(0)
  if (delta <= 1e-12) skip("needs many digits")
  high <- 1; while (gaussDelta(mu, high) > delta) high <- 2 * high
  bisect(0, high, function(e) gaussDelta(mu, e) > delta)
}
laplace <- function(l1, eps) { if (!(eps > 0)) refuse("budget"); l1 / eps }
mechanism <- function(i, d) {
  gauss <- i$mechanism %in% c("relaxed_functional", "adfc"); two <- i$mechanism %in% c("pdfc", "adfc")
  if (!(gauss || i$mechanism %in% c("functional", "pdfc"))) skip("mechanism")
  e <- if (two) c(one(i, "epsilonS"), one(i, "epsilonN")) else rep(one(i, "epsilon"), 2)
  t <- if (two) c(one(i, "deltaS", 0), one(i, "deltaN", 0)) else rep(one(i, "delta", 0), 2)
  f <- function(k) if (gauss) extended(published(d, i$fairness, 2), e[k], t[k]) else laplace(published(d, i$fairness, 1), e[k])
  claim <- if (two) c(e[1] / d + e[2] * (d - 1) / d, t[1] + t[2] - t[1] * t[2]) else c(e[1], t[1])
  list(scaleS = function() f(1), scaleN = function() f(2), two = two, noise = if (gauss) "gaussian" else "laplace", claim = claim)
}
Scale <- function(i) switch(i$kind,
  laplace = list(scale = laplace(one(i, "l1Sensitivity"), one(i, "epsilon"))),
  extended_gaussian = list(scale = extended(one(i, "l2SensitivitySquared"), one(i, "epsilon"), one(i, "delta"))),
  analytic_gaussian = list(scale = analytic(one(i, "l2SensitivitySquared"), one(i, "epsilon"), one(i, "delta"))),
  mechanism = { m <- mechanism(i, one(i, "dimension")); list(scaleS = m$scaleS(), scaleN = m$scaleN()) },
  skip("kind"))
Privacy <- function(i) {
  exact <- function(p) { d <- one(i, "dimension")
    supremum(i, p, ifelse(grouping(d, 1, i$basis, i$fairness) == 1, 1 / one(i, "scaleS"), 1 / one(i, "scaleN")))$value }
  switch(i$kind,
    claimed = { m <- mechanism(i, one(i, "dimension")); list(epsilon = m$claim[1], delta = m$claim[2]) },
    exact_laplace = list(epsilon = exact(1)), exact_shift = list(squaredShift = exact(2)),
    gaussian_delta = { if (one(i, "epsilon") > 16 * one(i, "squaredShift")) skip("needs many digits")
      list(delta = gaussDelta(sqrt(one(i, "squaredShift")), one(i, "epsilon"))) },
    gaussian_epsilon = list(epsilon = gaussEpsilon(one(i, "squaredShift"), one(i, "delta"))), skip("kind"))
}
Accounting <- function(i) {
  moved <- function() one(i, "bound") * if (i$adjacency == "replace_one") 2 else 1
  switch(i$kind,
    laplace = list(epsilon = one(i, "count") * moved() / one(i, "scale")),
    gaussian = list(epsilon = gaussEpsilon(one(i, "count") * (moved() / one(i, "scale"))^2, one(i, "delta"))),
    basic = list(epsilon = sum(nums(i$epsilons)), delta = min(1, sum(nums(i$deltas)))), skip("kind"))
}

# ---- Perturbation, Minimiser
perturb <- function(values, inS, s, n, u) values + ifelse(inS == 1, s, n) * u
Perturbation <- function(i) list(noisy = perturb(nums(i$values), nums(i$inS), one(i, "scaleS"), one(i, "scaleN"), nums(i$unitVariates)))
minimise <- function(c0, quadratic, g, basis, repair, radius, s, alpha, tau) {
  d <- length(c0); p <- pairs(d, basis); A <- matrix(0, d, d)
  for (k in seq_along(p$e)) A[p$e[k], p$l[k]] <- quadratic[k]
  A <- (A + t(A)) / 2; if (repair == "shift_and_trim") A <- A + 4 * s * diag(d)
  eg <- eigen(A, symmetric = TRUE); lam <- eg$values; V <- eg$vectors; zero <- 1e-12 * max(abs(lam)); keep <- lam > zero
  if (repair == "ball" && !is.null(g)) refuse("covariance in a ball")
  m <- NULL
  if (repair == "none") {
    cf <- drop(crossprod(V, c0))[!keep]; gf <- if (is.null(g) || alpha == 0) 0 * cf else drop(crossprod(V, g))[!keep]
    bounds <- !is.null(g) && any(abs(gf) > 1e-9 * max(abs(g))); if (bounds) m <- -sum(cf * gf) / sum(gf^2)
    if (any(lam < -zero) || (bounds && abs(m) > alpha) || any(abs(cf + if (bounds) m * gf else 0) > 1e-9 * max(abs(c0)))) return(list(status = "unbounded"))
  }
  plain <- function(c1) { u <- ifelse(keep, -drop(crossprod(V, c1)) / (2 * lam), 0); drop(V %*% u) }
  ball <- function(c1) {
    if (all(keep)) { w <- plain(c1); if (sum(w^2) <= radius^2) return(w) }
    h <- drop(crossprod(V, c1)); low <- min(lam); m0 <- max(0, -low); flat <- lam - low <= max(zero, 1e-300) * 2
    at <- function(m) ifelse(h == 0, 0, -h / (2 * (lam + m)))
    if (low <= zero && all(abs(h[flat]) <= 1e-9 * max(abs(c1)))) {
      u <- ifelse(flat, 0, -h / (2 * (lam + m0))); rest <- radius^2 - sum(u^2)
      if (rest >= 0) { if (low < -zero) u[which(flat)[1]] <- sqrt(rest); return(drop(V %*% u)) }
    }
    high <- m0 + 1; while (sum(at(high)^2) > radius^2) high <- m0 + 2 * (high - m0)
    drop(V %*% at(m0 + bisect(0, high - m0, function(m) sum(at(m0 + m)^2) > radius^2)))
  }
  solve1 <- if (repair == "ball") ball else plain
  if (!is.null(m)) { w <- plain(c0 + m * g); w <- w + drop(V[, !keep, drop = FALSE] %*% gf) * (tau - sum(g * w)) / sum(gf^2)   # flat along g: to tau
  } else if (is.null(g)) { w <- solve1(c0) } else {
    side <- function(m) sum(g * solve1(c0 + m * g)) - tau
    m <- if (side(alpha) >= 0) alpha else if (side(-alpha) <= 0) -alpha else {
      lo <- side(-alpha); hi <- side(alpha); alpha * (lo + hi) / (lo - hi) }   # it is linear
    w <- solve1(c0 + m * g)
  }
  list(status = "ok", w = w, objective = sum(c0 * w) + drop(w %*% A %*% w) + if (is.null(g)) 0 else alpha * abs(sum(g * w) - tau))
}
Minimiser <- function(i) minimise(nums(i$linear), nums(i$quadratic), if (!is.null(i$covariance)) nums(i$covariance), i$basis, i$repair,
  one(i, "ballRadius", 10), max(one(i, "scaleS"), one(i, "scaleN")) * if (i$noise == "laplace") sqrt(2) else 1, one(i, "fairnessWeight", 1), one(i, "tau", 0))

# ---- FairnessMetric, Release
FairnessMetric <- function(i) {
  x <- mat(i$x); y <- nums(i$y); z <- nums(i$z); xw <- drop(x %*% nums(i$w)); p <- (xw > 0) * 1
  rate <- function(v) if (length(v)) mean(v) else "none"
  r0 <- rate(p[z == 0]); r1 <- rate(p[z == 1])
  list(accuracy = mean(p == y), positiveRate = mean(p), positiveRateGroup0 = r0, positiveRateGroup1 = r1,
       riskDifference = if (is.character(r0) || is.character(r1)) "none" else abs(r0 - r1), boundaryCovariance = sum((z - mean(z)) * xw))
}
Release <- function(i) {
  data <- Domain(i); d <- data$dimension; m <- mechanism(i, d); alpha <- one(i, "fairnessWeight", 1)
  s <- if (m$two) one(i, "xS") else 0
  inS <- if (m$two) grouping(d, s + 1, i$basis, i$fairness) else 0 * grouping(d, 1, i$basis, i$fairness)
  k <- coefficients(data$x, data$y, nums(i$z), i$fairness, alpha, i$basis)
  sS <- m$scaleS(); sN <- m$scaleN()
  noisy <- perturb(unlist(k, use.names = FALSE), inS, sS, sN, nums(i$unitVariates)); nq <- length(k$quadratic)
  used <- max(c(if (any(inS == 1)) sS, if (any(inS == 0)) sN))
  r <- minimise(noisy[1:d], noisy[d + 1:nq], if (i$fairness == "separate") noisy[d + nq + 1:d], i$basis, i$repair, one(i, "ballRadius", 10),
                used * if (m$noise == "laplace") sqrt(2) else 1, alpha, one(i, "tau", 0))
  c(list(dimension = d, scaleN = sN, noisy = noisy, status = r$status, epsilon = m$claim[1], delta = m$claim[2]),
    if (m$two) list(scaleS = sS), if (r$status == "ok") list(w = r$w))
}

# ---- The repaired mechanism
RepairedBudget <- function(i) {
  eps <- one(i, "epsilon"); delta <- one(i, "delta"); size <- function() sqrt(if (one(i, "attributes") > 0) one(i, "attributes") else one(i, "dimension"))
  switch(i$kind,
    change = { z <- one(i, "zbar", 0.5); z <- max(z, 1 - z)
      switch(i$sum, gradient = list(l1 = size(), l2Squared = 1), group_count = list(l1 = 1, l2Squared = 1),
        label_sums = list(l1 = 2 * size(), l2Squared = if (i$norm == "symmetric_ball") 4 else 2),
        imbalance = list(l1 = z, l2Squared = z^2), skip("sum")) },
    scale = { q <- one(i, "share"); if (!(eps > 0) || !(delta >= 0) || !(q > 0)) refuse("budget")
      list(scale = if (delta == 0) one(i, "l1") / (q * eps) else analytic(1, eps, delta) * sqrt(one(i, "l2Squared") / q)) },
    schedule = { n <- one(i, "records"); d <- one(i, "dimension"); s <- if (delta > 0) analytic(1, eps, delta)
      if (i$fairness == "none") { label <- 1; group <- count <- probes <- 0 } else {
        p <- if (delta > 0) (300 * s / n)^2 else 300 * sqrt(2) / (n * eps)
        count <- 1 / 50; probes <- max(1 / 20, min(2 / 5, floor(p * 100 + 0.5) / 100)); rest <- 1 - count - probes
        group <- if (yes(i, "keepGroup")) 0 else rest / 4; label <- rest - group }
      rounds <- function(q) { if (q == 0) return(0)
        signal <- n / (d * if (delta > 0) s / sqrt(q) else sqrt(2) * size() / (q * eps))
        min(40, max(2, floor(signal^(if (delta > 0) 1 / 2 else 1 / 3) + 0.5))) }
      list(labelModel = label, groupModel = group, groupCount = count, probes = probes, labelRounds = rounds(label), groupRounds = rounds(group)) },
    account = list(loss = if (delta == 0) sum(nums(i$l1) / nums(i$scales)) else sum(nums(i$l2Squared) / nums(i$scales)^2)),
    skip("kind"))
}
RepairedDescent <- function(i) {
  x <- mat(i$x); t <- nums(i$target); n <- nrow(x); d <- ncol(x)
  gradient <- function(w) { r <- 1 / (1 + exp(-drop(x %*% w))) - t; colSums(trunc(pmin(0.5, pmax(-0.5, r)) * 2^20) / 2^20 * x) }
  if (is.null(i$widths)) return(list(gradient = gradient(nums(i$w))))
  widths <- c(if (yes(i, "intercept")) 1, nums(i$widths)); of <- rep(seq_along(widths), widths); f <- 1 / sqrt(length(widths))
  rounds <- one(i, "rounds"); u <- nums(i$unitVariates); sg <- one(i, "scaleGradient")
  counts <- c(colSums(t * x), colSums((1 - t) * x)) + one(i, "scaleCounts") * u[1:(2 * d)]
  total <- pmin(n * f, pmax(0, counts[1:d] + counts[d + 1:d]))
  for (k in which(widths > 1)) { c <- of == k; total[c] <- if (sum(total[c]) > 0) total[c] * (n * f / sum(total[c])) else n * f / widths[k] }
  M <- outer(total, total) / n; M[outer(of, of, "==")] <- 0; diag(M) <- f * total
  spread <- if (i$noise == "laplace") sqrt(2) else 1; D <- sg * spread / sqrt(rounds); K <- diag(d); bins <- c(if (yes(i, "intercept")) 0, nums(i$bins))
  for (k in which(bins > 2)) { c <- which(of == k)[1:bins[k]]; K[c, c] <- 0.5^abs(outer(c, c, "-")) }
  P <- solve(M / 4 + 2 * D * solve(K), tol = 0)
  g <- (counts[d + 1:d] - counts[1:d]) / 2; s <- w <- drop(-P %*% g); all <- matrix(w, 1)
  a <- one(i, "scaleCounts") * spread / sqrt(2); b <- sg * spread
  for (r in seq_len(rounds - 1)) {
    h <- gradient(w) + sg * u[(1 + r) * d + 1:d]
    if (sum(s * h) - a^2 * sum(diag(P %*% (M / 4) %*% P)) > -sum(s * g) / 4 + 2 * sqrt(sum(s^2) * (a^2 + b^2))) P <- P / 2
    g <- h; a <- b; s <- drop(-P %*% g); w <- w + s; all <- rbind(all, w)
  }
  last <- max(1, floor(0.4 * rounds + 1e-9))
  list(counts = counts, secondMoments = M, iterates = unname(all), w = colMeans(all[rounds - last + 1:last, , drop = FALSE]))
}
RepairedThreshold <- function(i) switch(i$kind,
  share = { c <- min(1 / 16, ceiling(one(i, "deviation") / one(i, "records") * 2^20) / 2^20)
    list(zbar = min(1 - c, max(c, round(one(i, "noisyCount") / one(i, "records") * 2^20) / 2^20))) },
  imbalance = list(sum = sum((nums(i$z) - one(i, "zbar")) * (nums(i$prediction) - 0.5))),
  margins = { x <- mat(i$x); a <- drop(x %*% nums(i$w))
    if (is.null(i$groupWeights)) list(advantage = a, belonging = nums(i$z) - one(i, "zbar")) else {
      P <- function(s) { p <- 1 / (3 - 2 / (1 + exp(-abs(s)))); ifelse(s >= 0, p, 1 - p) }
      list(advantage = P(a) - 0.5, belonging = P(drop(x %*% nums(i$groupWeights))) - one(i, "zbar")) } },
  `next` = { a <- nums(i$advantage); b <- nums(i$belonging); g <- nums(i$members)
    share <- function(v) if (length(v)) mean(v) else 0
    curve <- function(m) { v <- a > m * b; share(v[g == 1]) - share(v[g == 0]) }
    diff <- pmin(1, pmax(-1, nums(i$differences))); slack <- one(i, "slack"); level <- max(-slack, min(slack, diff[1]))
    pr <- 1 / (nums(i$deviations)^2 + (0.3 * (diff - level))^2 + 1e-12); cv <- vapply(nums(i$multipliers), curve, 0)
    X <- cbind(1, cv); beta <- solve(crossprod(X, pr * X) + diag(c(1 / 0.2^2, 1 / 0.7^2)), crossprod(X, pr * (diff - cv)), tol = 0)
    k <- min(4, max(0.3, 1 + beta[2])); e <- sum(pr * (diff - k * cv)) / (sum(pr) + 1 / 0.2^2)
    lo <- -32; hi <- 32
    for (t in 1:30) { m <- (lo + hi) / 2; if (curve(m) > (level - e) / k) lo <- m else hi <- m }
    list(multiplier = (lo + hi) / 2) },
  skip("kind"))

# ---- Lines
types <- list(Domain = Domain, Coefficients = Coefficients, Grouping = Grouping, Sensitivity = Sensitivity, Scale = Scale, Perturbation = Perturbation,
  Minimiser = Minimiser, Privacy = Privacy, Accounting = Accounting, FairnessMetric = FairnessMetric, Release = Release,
  RepairedBudget = RepairedBudget, RepairedDescent = RepairedDescent, RepairedThreshold = RepairedThreshold)
input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1, warn = FALSE))) {
  if (line == "") next
  f <- strsplit(line, "\t", fixed = TRUE)[[1]]; at <- regexpr("=", f, fixed = TRUE)
  i <- list2env(setNames(as.list(substring(f, at + 1)), substring(f, 1, at - 1)))   # in a list, $ would match beginnings of names
  answer <- tryCatch(if (is.null(types[[i$type]])) list(skip = "type") else types[[i$type]](i),
    refusal = function(e) list(error = conditionMessage(e)), skipped = function(e) list(skip = conditionMessage(e)),
    error = function(e) { cat(i$tcId, conditionMessage(e), "\n", file = stderr()); list(skip = paste("BUG", conditionMessage(e))) })
  cat(paste(c(paste0("tcId=", i$tcId), paste0(names(answer), "=", vapply(answer, text, ""))), collapse = "\t"), "\n", sep = "")
  flush(stdout())
}
