/** What changed, largest and most important first, with the words that went and came. */
import { ask } from "./api.js";
import { count, diff, link, percent, place, span } from "./words.js";

/** @param {any} change */
function shown(change) {
  const item = document.createElement("li");
  const head = document.createElement("h2");
  head.append(change.kind, " ", link(change.url, change.title || change.url));
  const about = document.createElement("p");
  about.className = "quiet";
  const times = change.times > 1 ? `, ${count(change.times)} times` : "";
  const extent = change.kind === "changed" ? `, ${percent(change.extent)} of the page` : "";
  about.textContent = `${change.url} · ${span(Date.now() / 1000 - change.at_s)} ago${times}${extent}${change.noise ? ", only times, counters or tokens" : ""}`;
  item.append(head, about);
  const copy = document.createElement("a");
  copy.href = `/api/v1/content?url=${encodeURIComponent(change.url)}&at=${encodeURIComponent(change.at)}`;
  copy.textContent = "the copy";
  about.append(" · ", copy);
  if (change.diff && change.diff.pieces.length) item.append(diff(change.diff));
  return item;
}

const form = /** @type {HTMLFormElement} */ (document.getElementById("asked"));

async function show() {
  const wanted = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]).filter(([, value]) => value));
  history.replaceState(null, "", `?${wanted}`);
  wanted.set("diff", "1");
  place("counts").textContent = "…";
  newer = 0;
  place("newer").hidden = true;
  try {
    const found = await ask(`changes?${wanted}`);
    const kinds = Object.entries(found.pages).map(([kind, pages]) => `${count(pages)} ${kind}`);
    place("counts").textContent = (kinds.join(", ") || "Nothing changed in that time.") + (found.noise ? `; ${count(found.noise)} not shown, which changed only in times, counters or tokens` : "");
    place("changes").replaceChildren(...found.changes.map(shown));
    place("trouble").textContent = "";
  } catch (error) {
    place("counts").textContent = "";
    place("trouble").textContent = error instanceof Error ? error.message : String(error);
  }
}

/** Visits that found a change since the list was made. */
let newer = 0;
const button = /** @type {HTMLButtonElement} */ (place("newer"));
document.addEventListener("state", (event) => {
  newer += /** @type {CustomEvent} */ (event).detail.before ? /** @type {CustomEvent} */ (event).detail.recent.filter((/** @type {any} */ visit) => visit.changed).length : 0;
  button.hidden = !newer;
  button.textContent = `${count(newer)} newer ${newer === 1 ? "change" : "changes"}: show`;
});
button.addEventListener("click", () => show());

form.addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
show();
