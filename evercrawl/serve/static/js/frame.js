/** The bar at the top of every page: how the crawl is, suggestions in the search box, and keys. */
import { ask, listen } from "./api.js";
import { count, percent } from "./words.js";

const SUGGEST_MS = 150;
const BEHIND_S = 3;
const state = /** @type {HTMLElement} */ (document.getElementById("state"));
/** @type {any} */
let last = null;
let pace = "";

/** @param {any} now */
function condition(now) {
  if (now.trouble) return now.trouble;
  const what = !now.running ? "stopped" : now.paused_at_s ? "paused" : "running";
  return now.behind_s > BEHIND_S ? `${what}, shown ${Math.round(now.behind_s)} s behind` : what;
}

listen(
  (now) => {
    const seconds = last ? now.at_s - last.at_s : 0;
    if (seconds > 0.2) pace = ` · ${((now.visits - last.visits) / seconds).toFixed(1)} pages/s`;
    const fresh = now.fresh_by_importance === null ? "" : ` · ${percent(now.fresh_by_importance)} fresh`;
    state.textContent = now.trouble ? condition(now) : `${condition(now)} · ${count(now.fetched)} pages${fresh}${now.running ? pace : ""}`;
    document.dispatchEvent(new CustomEvent("state", { detail: { ...now, before: seconds > 0.2 ? last : null } }));
    if (!last || seconds > 0.2) last = now;
  },
  (trouble) => {
    state.textContent = `no answer: ${trouble}`;
  },
);

const find = /** @type {HTMLInputElement} */ (document.getElementById("find"));
const suggested = /** @type {HTMLElement} */ (document.getElementById("suggested"));
let timer = 0;
let asked = "";

async function suggest() {
  const text = find.value;
  if (text === asked || text.length < 2) return;
  asked = text;
  try {
    const { suggestions } = await ask(`suggest?q=${encodeURIComponent(text)}`);
    if (text !== find.value) return;
    suggested.replaceChildren(
      ...suggestions.map((/** @type {string} */ each) => Object.assign(document.createElement("option"), { value: each })),
    );
  } catch {
    suggested.replaceChildren();
  }
}

find.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(suggest, SUGGEST_MS);
});

const help = /** @type {HTMLDialogElement} */ (document.getElementById("help"));
const open = /** @type {HTMLButtonElement} */ (document.getElementById("ask-help"));
open.hidden = false;
open.addEventListener("click", () => help.showModal());

let before = "";
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
  if (event.key === "/") {
    event.preventDefault();
    find.focus();
  } else if (event.key === "?") {
    if (!help.open) help.showModal();
  } else if (before === "g" && /^[a-z]$/.test(event.key)) {
    const to = /** @type {HTMLAnchorElement | null} */ (document.querySelector(`[data-key="${event.key}"]`));
    if (to) location.href = to.href;
  }
  before = event.key;
});
