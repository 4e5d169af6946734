/** A crawl in several partitions: its state in the bar of every page, and the table of all partitions. */
import { ask } from "./api.js";
import { count, figures, fill, place } from "./words.js";

const EVERY_MS = 2000;
const TOP_MS = 30000;
const shown = document.getElementById("parts") !== null;

/** @param {any} part */
function condition(part) {
  if (part.waits) return part.waits;
  if (!part.up) return part.lives ? "restarting" : "–";
  if (part.opening) return "opening its directory";
  if (part.silent_s) return `hung for ${count(Math.round(part.silent_s))} s (process ${part.pid || "unknown"})`;
  const again = part.lives > 1 ? `, started ${part.lives} times` : "";
  const refused = part.refused ? `, refused ${count(part.refused)} messages` : "";
  return `${part.at_rest ? "idle" : "crawling"}${again}${refused}`;
}

/** @param {any[]} parts @param {string} name */
const sum = (parts, name) => parts.reduce((whole, part) => whole + part[name], 0);

/** @param {any} now */
function table(now) {
  const { parts } = now;
  figures(place("figures"), [
    ["partitions", count(parts.length)],
    ["connected", count(sum(parts, "up"))],
    ["known URLs", count(sum(parts, "known"))],
    ["pages stored", count(sum(parts, "fetched"))],
    ["visits in this run", count(sum(parts, "visits"))],
    ["messages in flight", count(sum(parts, "under_way"))],
    ["addresses leased", count(sum(parts, "let"))],
  ]);
  fill(place("parts"), parts.map((/** @type {any} */ part) => [
    String(part.number), condition(part), part.where || "–", count(part.known), count(part.unread), count(part.fetched), count(part.visits),
    part.rate_per_s.toFixed(1), count(part.elsewhere), count(part.letters), count(part.under_way), count(part.leases), count(part.let),
  ]));
  place("note").textContent = now.note ?? "";
}

/** @param {unknown} error */
const sentence = (error) => (error instanceof Error ? error.message : String(error));

async function renew() {
  try {
    const now = await ask("partitions");
    const up = sum(now.parts, "up");
    const hung = now.parts.filter((/** @type {any} */ part) => part.silent_s && !part.opening).length;
    if (now.running && !now.parts.length) place("state").textContent = "the crawl is running but does not respond";
    else place("state").textContent = now.running
      ? `${count(up)} of ${count(now.parts.length)} partitions run · ${count(sum(now.parts, "fetched"))} pages · ${sum(now.parts, "rate_per_s").toFixed(1)} pages/s${hung ? ` · ${count(hung)} hung` : ""}`
      : `stopped · ${count(sum(now.parts, "fetched"))} pages`;
    if (shown) {
      table(now);
      place("trouble").textContent = "";
    }
  } catch (error) {
    place("state").textContent = `no answer: ${sentence(error)}`;
  }
  setTimeout(renew, EVERY_MS);
}

async function rank() {
  try {
    const { pages } = await ask("top?limit=20");
    fill(place("top"), pages.map((/** @type {any} */ page) => [String(page.rank), page.url, page.times_mean.toFixed(1)]));
  } catch (error) {
    place("trouble").textContent = sentence(error);
  }
  setTimeout(rank, TOP_MS);
}

renew();
if (shown) rank();
