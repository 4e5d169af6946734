/** The probability that hits are fresh, as time goes by and visits come in. */
import { percent, span } from "./words.js";

const EVERY_MS = 1000;

/** @typedef {{meter: HTMLMeterElement | null, still: Element | null, time: HTMLTimeElement | null, fresh: number, rate: number, seen: number, since: number}} Line */

/** @type {Map<string, Line>} */
const lines = new Map();
for (const line of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-fading]"))) {
  const meter = line.querySelector("meter");
  lines.set(line.dataset.fading ?? "", {
    meter, still: line.querySelector(".still"), time: line.querySelector("time"), fresh: meter ? meter.value : 0,
    rate: Number(line.dataset.rate), seen: Date.parse(line.dataset.at ?? "") / 1000, since: Date.now() / 1000,
  });
}

function fade() {
  const now = Date.now() / 1000;
  for (const line of lines.values()) {
    const still = line.fresh * Math.exp(-line.rate * Math.max(now - line.since, 0));
    if (line.meter) line.meter.value = still;
    if (line.still) line.still.textContent = percent(still);
    if (line.time) line.time.textContent = `${span(now - line.seen)} ago`;
  }
}

document.addEventListener("state", (event) => {
  for (const visit of /** @type {CustomEvent} */ (event).detail.recent) {
    const line = lines.get(visit.url);
    if (line && visit.at_s > line.seen && !visit.error) [line.fresh, line.seen, line.since] = [1, visit.at_s, visit.at_s];
  }
});
if (lines.size) setInterval(fade, EVERY_MS);
