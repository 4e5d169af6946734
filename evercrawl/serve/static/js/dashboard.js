/** The dashboard: figures, what comes next, what came last. */
import { ask } from "./api.js";
import { count, fill, link, percent, span } from "./words.js";

const place = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {[string, string][]} figures */
function show(figures) {
  place("figures").replaceChildren(
    ...figures.map(([name, value]) => {
      const box = document.createElement("div");
      const term = document.createElement("dt");
      const text = document.createElement("dd");
      term.textContent = name;
      text.textContent = value;
      box.append(term, text);
      return box;
    }),
  );
}

async function renew() {
  const [status, next] = await Promise.all([ask("status"), ask("next?limit=20")]);
  show([
    ["pages held", count(status.fetched)],
    ["URLs known", count(status.known)],
    ["hosts", count(status.hosts)],
    ["visits", count(status.visits)],
    ["changes found", count(status.changes)],
    ["fresh, by importance", percent(status.fresh_by_importance)],
  ]);
  const now = Date.now() / 1000;
  fill(place("next"), next.pages.map((/** @type {any} */ page) => [page.due_at_s <= now ? "due" : `in ${span(page.due_at_s - now)}`, link(page.url), percent(page.fresh)]));
}

document.addEventListener("state", (event) => {
  const now = /** @type {CustomEvent} */ (event).detail;
  const visits = [...now.recent].reverse().slice(0, 20);
  fill(place("recent"), visits.map((visit) => [new Date(visit.at_s * 1000).toLocaleTimeString("en-GB"), link(visit.url), visit.changed ? "changed" : visit.error || visit.outcome]));
});

const again = () => renew().catch(() => {}).finally(() => setTimeout(again, 2000));
again();
