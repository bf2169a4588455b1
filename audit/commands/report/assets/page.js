"use strict";
// The ledger: search, filters, opening.  Everything is readable without this script.
(() => {
  const form = document.getElementById("filters");
  const claims = [...document.querySelectorAll("details.claim")];
  const shown = document.getElementById("shown");
  const none = document.getElementById("none-shown");
  for (const note of document.querySelectorAll(".no-script")) note.remove();

  function filter() {
    // a subscript has no underscore on the page
    const plain = (text) => text.toLowerCase().replace(/[_^]/g, "");
    const words = plain(form.search.value).split(/\s+/).filter(Boolean);
    const verdicts = new Set([...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value));
    const only = [...form.querySelectorAll("[name=only]:checked")].map((box) => box.value);
    let count = 0;
    for (const claim of claims) {
      const flags = claim.dataset.flags.split(" ");
      const fits = verdicts.has(claim.dataset.verdict) && only.every((flag) => flags.includes(flag))
        && words.every((word) => plain(claim.dataset.words).includes(word));
      claim.parentElement.hidden = !fits;
      count += fits;
    }
    shown.textContent = `${count} of ${claims.length} claims`;
    none.hidden = count > 0;
  }

  function linked() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null;  // not the code of any text
    }
  }

  // a link to a claim or a theorem opens what it stands in
  function follow() {
    const target = linked();
    if (!target) return;
    if (target.matches("details.claim") && target.parentElement.hidden) { form.reset(); filter(); }
    for (let part = target; part; part = part.parentElement) if (part.matches?.("details")) part.open = true;
    target.scrollIntoView();
    if (target.matches("details.claim")) target.querySelector("summary").focus({ preventScroll: true });
  }

  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  const all = (open) => () => claims.forEach((claim) => { if (!claim.parentElement.hidden) claim.open = open; });
  document.getElementById("open-all").addEventListener("click", all(true));
  document.getElementById("close-all").addEventListener("click", all(false));
  addEventListener("hashchange", follow);
  // the same link again changes no hash
  addEventListener("click", (event) => { if (event.target.closest("a")?.hash === location.hash) follow(); });

  const folded = [...document.querySelectorAll("details")];
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = folded.filter((part) => part.open);
    for (const part of folded) part.open = part.matches(".open-in-print");
  });
  addEventListener("afterprint", () => { for (const part of folded) part.open = opened.includes(part); });
  if (matchMedia("(max-width: 62rem)").matches) document.querySelector("nav details").open = false;
  filter();
  follow();
})();
