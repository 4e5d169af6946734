/** The hosts that must not be visited now, and what the running crawl waits for, renewed every second. */
import { ask } from "./api.js";
import { count, fill, place, span } from "./words.js";

/** @type {Record<string, string>} */
const REASONS = { robots: "for their robots.txt", resting: "between two visits", "back-off": "after failures", dns: "for their address" };

/** @param {any} progress as the crawl tells it; null where none runs */
function summary(progress) {
  if (progress === null) return "No running crawl responds.";
  const waits = Object.entries(progress.waiting).map(([why, hosts]) => `${count(hosts)} ${REASONS[why] ?? why}`);
  const next = progress.next_url ? ` Next is ${progress.next_url}, in ${span(Math.max(progress.next_at_s - Date.now() / 1000, 0))}.` : "";
  return `The crawl makes ${progress.rate_per_s.toFixed(1)} visits a second; ${count(progress.in_flight)} are under way, and ${count(progress.queue)} pages are unread. ${waits.length ? `Hosts that wait: ${waits.join(", ")}.` : "No host waits."}${next}${progress.names_trouble ? ` ${progress.names_trouble}.` : ""}${progress.disk_full ? " The disk is full." : ""}`;
}

async function renew() {
  try {
    const [{ hosts }, { progress }] = await Promise.all([ask("waits"), ask("progress")]);
    const now = Date.now() / 1000;
    fill(place("waits"), hosts.map((/** @type {any} */ host) => [host.host, host.why, host.since_s === undefined ? "–" : `${span(now - host.since_s)} ago`, host.until_s === undefined ? "robots.txt can be fetched" : `in ${span(host.until_s - now)}`, host.pages === null ? "" : count(host.pages)]));
    place("none").hidden = hosts.length > 0;
    place("progress").textContent = summary(progress);
    place("trouble").textContent = "";
  } catch (error) {
    place("trouble").textContent = error instanceof Error ? error.message : String(error);
  }
  setTimeout(renew, 1000);
}
renew();
