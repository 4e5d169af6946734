/** The dashboard: figures, the map, what visits came to, what comes next, what came last; of the crawl or of one site. */
import { ask } from "./api.js";
import { living } from "./map.js";
import { bytes, count, figures, fill, link, percent, place, span } from "./words.js";

const SHOWN = 20;
const site = new URLSearchParams(location.search).get("site") ?? "";
const of = site ? `&site=${encodeURIComponent(site)}` : "";
/** @type {any[]} */
let next = [];
/** @type {any[]} */
let last = [];
let pace = "–";
let received = "–";
/** @type {number | null} */
let price = null;
/** Of the visits seen here: to pages that were read for the first time, and to others. */
const kinds = { first: 0, again: 0, errors: 0 };

/** @param {any} status */
function whole(status) {
  const measured = status.measured_by_importance;
  const found = measured ? `${percent(measured.fresh_low)} to ${percent(measured.fresh_high)}` : "–";
  figures(place("figures"), [
    ["pages a second", pace],
    ["received", received],
    ["fresh, expected", percent(status.fresh_by_importance)],
    ["fresh, as measured", found],
    ["price of a visit", price === null ? "–" : price.toPrecision(2)],
    ["pages stored", count(status.fetched)],
    ["URLs known", count(status.known)],
    ["changes found", count(status.changes)],
  ]);
  const classes = Object.entries(status.classes).sort((a, b) => b[1] - a[1]);
  const total = classes.reduce((sum, [, pages]) => sum + pages, 0) || 1;
  place("classes-bar").replaceChildren(
    ...classes.map(([name, pages]) => {
      const part = document.createElement("span");
      part.className = `class-${name}`;
      part.style.flexGrow = String(pages / total);
      return part;
    }),
  );
  place("classes").replaceChildren(
    ...classes.map(([name, pages]) => {
      const item = document.createElement("li");
      const key = document.createElement("span");
      key.className = `key class-${name}`;
      item.append(key, ` ${name} ${count(pages)} (${percent(pages / total)})`);
      return item;
    }),
  );
}

/** @param {any[]} sites */
function one(sites) {
  const found = sites.find((each) => each.site === site);
  place("trouble").textContent = found ? "" : `The crawl knows no site ${site}; the page of sites lists them.`;
  if (!found) return;
  figures(place("figures"), [
    ["importance", percent(found.importance)],
    ["fresh, expected", percent(found.fresh ?? null)],
    ["changes a day", found.changes_per_day === undefined ? "–" : count(+found.changes_per_day.toPrecision(3))],
    ["pages stored", count(found.read)],
    ["URLs known", count(found.known)],
    ["last visit failed", count(found.errors ?? 0)],
    ["hosts not visited", `${count(found.away ?? 0)} of ${count(found.hosts ?? 0)}`],
  ]);
}

async function renew() {
  const [told, coming] = await Promise.all([site ? ask("sites?limit=5000") : ask("status"), ask(`next?limit=${SHOWN}${of}`)]);
  next = coming.pages;
  if (!site) whole(told);
  else if (!told.pending) one(told.sites);
  count_down();
}

function count_down() {
  const now = Date.now() / 1000;
  fill(place("next"), next.map((page) => [page.due_at_s <= now ? "due" : `in ${span(page.due_at_s - now)}`, link(page.url), percent(page.fresh)]));
}

document.addEventListener("state", (event) => {
  const now = /** @type {CustomEvent} */ (event).detail;
  price = now.price;
  if (now.before && now.at_s > now.before.at_s) {
    const seconds = now.at_s - now.before.at_s;
    pace = ((now.visits - now.before.visits) / seconds).toFixed(1);
    received = `${bytes((now.received_bytes - now.before.received_bytes) / seconds)}/s`;
  }
  for (const visit of now.recent) kinds[visit.error ? "errors" : visit.first ? "first" : "again"]++;
  const seen = kinds.first + kinds.again + kinds.errors;
  if (!site && seen) place("kinds").textContent = `Of the ${count(seen)} visits since this page was opened, ${percent(kinds.first / seen)} were first visits, ${percent(kinds.again / seen)} were to pages read before, and ${percent(kinds.errors / seen)} failed.`;
  if (site) return;
  shown(now.recent);
});

/** @param {any[]} visits oldest first */
function shown(visits) {
  const newest = last.length ? last[0].sequence : -1;
  last = [...visits.filter((each) => each.sequence > newest).reverse(), ...last].slice(0, SHOWN);
  fill(place("recent"), last.map((visit) => [new Date(visit.at_s * 1000).toLocaleTimeString("en-GB"), link(visit.url), visit.changed ? "changed" : visit.error || visit.outcome]));
}

/** Visits by minute as bars, those that found a change darker. */
async function minutely() {
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
  fill(place("minutes"), [...minutes].reverse().map((/** @type {any} */ each) => [new Date(each.at_s * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }), count(each.visits), count(each.changes), count(each.errors), count(each.bytes)]));
  const sum = (/** @type {string} */ name) => minutes.reduce((/** @type {number} */ total, /** @type {any} */ each) => total + each[name], 0);
  place("pace-said").textContent = `${count(sum("visits"))} visits: ${count(sum("changes"))} found a change, ${count(sum("errors"))} failed. The busiest minute had ${count(most)}.`;
}

/** @param {() => Promise<void>} what @param {number} every_ms */
const repeat = (what, every_ms) => what().catch(() => {}).finally(() => setTimeout(() => repeat(what, every_ms), every_ms));
if (!site) repeat(minutely, 10000);
if (site) repeat(async () => shown((await ask(`visits?limit=${SHOWN}${of}`)).visits.reverse()), 1000);
repeat(renew, 2000);
setInterval(count_down, 1000);
living(/** @type {HTMLCanvasElement} */ (place("map")), place("map-caption"), place("dots"), of.replace("&", "?")).catch((error) => (place("map-caption").textContent = error.message));
