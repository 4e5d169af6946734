/** The sites, by importance, renewed as the crawl goes on. */
import { ask } from "./api.js";
import { count, fill, percent, place } from "./words.js";

const AGAIN_MS = 2000;
const RENEW_MS = 10000;

/** @param {string} site */
function dashboard(site) {
  const made = document.createElement("a");
  made.href = `/dashboard?site=${encodeURIComponent(site)}`;
  made.textContent = site;
  return made;
}

/** @param {any} site @returns {(string | Node)[]} */
const row = (site) => [
  dashboard(site.site), percent(site.importance), percent(site.of_pages), count(site.linking), count(site.known), count(site.read),
  percent(site.fresh ?? null), site.changes_per_day === undefined ? "–" : count(+site.changes_per_day.toPrecision(2)), count(site.errors ?? 0), site.away ? `${count(site.away)} of ${count(site.hosts)}` : "none",
];

async function look() {
  let wait = RENEW_MS;
  try {
    const { sites, pending } = await ask("sites?limit=200");
    place("pending").hidden = !pending;
    if (pending) wait = AGAIN_MS;
    else fill(place("sites"), sites.map(row));
    place("trouble").textContent = "";
  } catch (error) {
    place("trouble").textContent = error instanceof Error ? error.message : String(error);
  }
  setTimeout(look, wait);
}

look();
