/** The bar at the top of every page: whether the crawl runs, and keys. */
import { listen } from "./api.js";
import { count, percent } from "./words.js";

const state = /** @type {HTMLElement} */ (document.getElementById("state"));
let last = { at_s: 0, visits: 0 };

listen(
  (now) => {
    const seconds = now.at_s - last.at_s;
    const rate = last.at_s && seconds > 0.2 ? ` · ${((now.visits - last.visits) / seconds).toFixed(1)} visits/s` : "";
    state.textContent = now.trouble || `${now.running ? "running" : "not running"} · ${count(now.fetched)} pages${now.running ? rate : ""}`;
    if (seconds > 0.2) last = now;
    document.dispatchEvent(new CustomEvent("state", { detail: now }));
  },
  (trouble) => {
    state.textContent = `no answer: ${trouble}`;
  },
);

let before = "";
const GO = { d: "/dashboard", s: "/" };
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("find")?.focus();
  } else if (before === "g" && event.key in GO) {
    location.href = GO[/** @type {keyof typeof GO} */ (event.key)];
  }
  before = event.key;
});

export { percent };
