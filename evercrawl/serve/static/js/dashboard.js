/** The dashboard: figures, what comes next, what came last. */
import { ask } from "./api.js";
import { count, figures, fill, link, percent, place, span } from "./words.js";

async function renew() {
  const [status, next] = await Promise.all([ask("status"), ask("next?limit=20")]);
  figures(place("figures"), [
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
