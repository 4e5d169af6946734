/** The dashboard: figures, what comes next, what came last. */
import { ask } from "./api.js";
import { living } from "./map.js";
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

/** Visits by minute as bars, those that found a change darker. */
async function pace() {
  const { minutes } = await ask("minutes?since=1h");
  const most = Math.max(...minutes.map((/** @type {any} */ each) => each.visits), 1);
  const first = Math.floor(Date.now() / 60000) - 59;
  place("pace").replaceChildren(
    ...minutes.flatMap((/** @type {any} */ each) =>
      ["visits", "changes"].map((name) => {
        const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
        const height = (each[name] / most) * 86;
        const at = Math.round(each.at_s / 60) - first;
        for (const [key, value] of Object.entries({ x: (at * 640) / 60, width: 9, y: 90 - height, height, class: name })) bar.setAttribute(key, String(value));
        return bar;
      }),
    ),
  );
  const sum = (/** @type {string} */ name) => minutes.reduce((/** @type {number} */ total, /** @type {any} */ each) => total + each[name], 0);
  place("pace-said").textContent = `${count(sum("visits"))} visits, ${count(sum("changes"))} of them found a change, ${count(sum("errors"))} failed; at most ${count(most)} in a minute.`;
}

const slowly = () => pace().catch(() => {}).finally(() => setTimeout(slowly, 10000));
slowly();
living(/** @type {HTMLCanvasElement} */ (place("map")), place("map-caption")).catch((error) => (place("map-caption").textContent = error.message));

const again = () => renew().catch(() => {}).finally(() => setTimeout(again, 2000));
again();
