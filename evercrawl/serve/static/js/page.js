/** One page: why it is visited when it is, as a picture and in words. */
import { ask } from "./api.js";
import { made } from "./svg.js";
import { count, diff, figures, fill, link, percent, place, span } from "./words.js";

const url = new URLSearchParams(location.search).get("url") ?? "";
const query = `url=${encodeURIComponent(url)}`;
const NS = "http://www.w3.org/2000/svg";

/** @param {number} seconds */
const every = (seconds) => (seconds < 2 ? `${seconds.toPrecision(2)} s` : span(seconds));

/** @param {number} value */
const times = (value) => (value >= 1 ? count(+value.toPrecision(2)) : value.toPrecision(2));

const RENEW_MS = 5000;
const ROW = 13;
const SHOWN = 60;
/** @param {string} url */
const shortened = (url) => (url.length > SHOWN ? `${url.slice(0, SHOWN)}…` : url);

/** In-links as ribbons, as wide as what they bring. @param {{url: string, gives: number}[]} feeders */
function ribbons(feeders) {
  const drawing = place("ribbons");
  const most = Math.max(...feeders.map((each) => each.gives), 1e-12);
  const heights = feeders.map((each) => Math.max((each.gives / most) * 24, 1.5));
  const total = heights.reduce((sum, each) => sum + Math.max(each + 6, ROW), 0);
  drawing.setAttribute("viewBox", `0 0 640 ${Math.max(total, 10)}`);
  drawing.replaceChildren();
  let from = 0;
  let to = total / 2 - heights.reduce((sum, each) => sum + each, 0) / 2;
  for (const [i, height] of heights.entries()) {
    const path = document.createElementNS(NS, "path");
    const [a, b, c, d] = [from, from + height, to + height, to];
    path.setAttribute("d", `M0 ${a} C320 ${a} 320 ${d} 620 ${d} L620 ${c} C320 ${c} 320 ${b} 0 ${b} Z`);
    const words = document.createElementNS(NS, "text");
    words.setAttribute("x", "6");
    words.setAttribute("y", String(from + Math.max(height / 2 + 3, 9)));
    words.textContent = `${percent(feeders[i].gives)}  ${shortened(feeders[i].url)}`;
    drawing.append(path, words);
    from += Math.max(height + 6, ROW);
    to += height;
  }
}

/** @type {Record<string, string>} */
const STATES = {
  waiting: "Never fetched",
  held: "A copy is stored",
  alias: "An alias",
  "near-duplicate": "Nearly the same",
  gone: "Gone when last visited",
  retired: "Gone, and no longer visited",
  error: "The last visit failed",
  refused: "Refused",
  redirect: "A redirect",
  excluded: "Excluded by a rule",
  "out of scope": "Out of scope",
  unknown: "Unknown to this crawl",
};

/** @param {any} why */
function explain(why) {
  place("summary").textContent = `${STATES[why.state] ?? `State: ${why.state}`}${why.alias ? ` of ${why.alias}` : ""}.`;
  place("reasons").replaceChildren(
    ...why.reasons.map((/** @type {string} */ reason) => {
      const item = document.createElement("li");
      item.textContent = reason;
      return item;
    }),
  );
  const boxes = /** @type {[string, string][]} */ ([]);
  if (why.weight) boxes.push(["importance", percent(why.weight.share)], ["times the mean", why.weight.times_mean.toFixed(2)]);
  if (why.change) boxes.push(["changes about every", every(1 / why.change.rate_per_s)]);
  if (why.change && why.change.fresh !== null) boxes.push(["fresh", percent(why.change.fresh)]);
  if (why.history) boxes.push(["visits", count(why.history.visits)], ["changes seen", count(why.history.changes)]);
  if (why.history) for (const [name, value] of rpuc(why.use)) boxes.push([name, value]);
  figures(place("figures"), boxes);
  if (why.worth) place("reasons").append(...worth(why.worth));
  const feeders = why.weight ? why.weight.feeders : [];
  ribbons(feeders);
  fill(place("feeders"), feeders.map((/** @type {any} */ each) => [link(each.url), percent(each.gives)]));
}

/** Retrieval, importance, update and click: what the policy rpuc goes by. @param {any} use @returns {[string, string][]} */
function rpuc(use) {
  return [
    ["R, times shown per visit", use.R.toPrecision(2)],
    ["P, importance", use.P === null ? "unknown" : use.P.toPrecision(2)],
    ["U, changes found", use.U.toPrecision(2)],
    ["C, opened when shown", use.C.toPrecision(2)],
  ];
}

/** What a visit is worth, in sentences. @param {any} worth */
function worth(worth) {
  const said = [`The policy is ${worth.policy}.`];
  if (worth.price !== null && worth.value !== null) said.push(`A visit now is worth ${times(worth.value / worth.price)} times the price of a ${worth.unit}.`);
  if (worth.ahead) said.push(worth.ahead === 1 ? `One page that could be visited now is worth more, ${worth.ahead_on_host ? "on its host" : "on another host"}.` : `${count(worth.ahead)} pages that could be visited now are worth more, ${count(worth.ahead_on_host)} of them on its host.`);
  if (worth.wanted !== 1) said.push(`A visit counts ${times(worth.wanted)} times as much as by importance alone (${worth.because}).`);
  if (worth.given_up) said.push("As things stand, it will not be visited again.");
  if (worth.earliest_at_s && worth.earliest_at_s > Date.now() / 1000) said.push(`It may be visited again in ${span(worth.earliest_at_s - Date.now() / 1000)} at the earliest.`);
  return said.map((sentence) => {
    const item = document.createElement("li");
    item.textContent = sentence;
    return item;
  });
}

/** @type {{due: number, low: number, high: number} | null} */
let booked = null;

/** @param {number} at seconds since 1970 */
const clock = (at) => new Date(at * 1000).toLocaleTimeString("en-GB");

/** The next visit, counted down, with how well such announcements were kept. @param {any} told */
function appointment(told) {
  booked = told && told.due_at_s ? { due: told.due_at_s, low: told.low_at_s ?? NaN, high: told.high_at_s ?? NaN } : null;
  place("appointment").hidden = !booked;
  if (!booked) return;
  const kept = told.judged >= 20 ? ` Of ${count(told.judged)} visits predicted so far, ${percent(told.kept)} came within their interval; the goal is ${percent(told.wanted)}.` : "";
  place("appointment").dataset.kept = kept;
  tick();
}

function tick() {
  if (!booked) return;
  const now = Date.now() / 1000;
  const left = booked.due - now;
  const within = Number.isNaN(booked.low) ? "" : `, between ${clock(booked.low)} and ${clock(booked.high)} in four of five cases`;
  const said = left > 0 ? `Next visit at ${clock(booked.due)}, in ${span(left)}${within}.` : `It is due: it is visited at the next turn of its host${within}.`;
  place("appointment").textContent = said + (place("appointment").dataset.kept ?? "");
}

/** @param {string} id @param {{at_s: number, value: number | null}[]} points @param {number} price @param {number | null} due */
function rise(id, points, price, due) {
  const drawing = place(id);
  const known = points.filter((point) => point.value !== null);
  const most = Math.max(...known.map((point) => /** @type {number} */ (point.value) / price), 1.25);
  const [from, to] = [points[0].at_s, points[points.length - 1].at_s];
  const x = (/** @type {number} */ at) => 50 + ((at - from) / (to - from)) * 575;
  const y = (/** @type {number} */ prices) => 150 - (prices / most) * 135;
  const line = known.map((point) => `${x(point.at_s).toFixed(1)} ${y(/** @type {number} */ (point.value) / price).toFixed(1)}`).join(" L");
  const now = Date.now() / 1000;
  drawing.replaceChildren(
    made("path", { class: "axis", d: `M50 ${y(0)} H625` }),
    made("path", { class: "most", d: `M50 ${y(1)} H625` }),
    made("text", { x: 46, y: y(1) + 4, "text-anchor": "end" }, "price"),
    ...(y(0) - y(1) > 14 ? [made("text", { x: 46, y: y(0) + 4, "text-anchor": "end" }, "0")] : []),
    made("path", { class: "error", d: `M${line}` }),
    made("text", { x: 50, y: 170 }, `last visit ${clock(from)}`),
  );
  if (now < to) drawing.append(made("path", { class: "here", d: `M${x(now)} 8 V150` }), made("text", { x: x(now), y: 170, "text-anchor": x(now) > 500 ? "end" : "middle" }, "now"));
  if (due && due < to) drawing.append(made("circle", { class: "dot", cx: x(due), cy: y(1), r: 5 }), made("text", { x: Math.min(x(due), 600), y: y(1) - 10, "text-anchor": x(due) > 500 ? "end" : "middle" }, clock(due)));
  fill(place("rise-points"), known.map((point) => [clock(point.at_s), (/** @type {number} */ (point.value) / price).toPrecision(3)]));
}

const SQRT_TAU = Math.sqrt(2 * Math.PI);
/** The logarithm of the gamma function, by Stirling's series. @param {number} z */
function lnGamma(z) {
  let shift = 0;
  for (; z < 9; z++) shift += Math.log(z);
  return (z - 0.5) * Math.log(z) - z + Math.log(SQRT_TAU) + 1 / (12 * z) - 1 / (360 * z ** 3) - shift;
}

/** The posterior of the rate of change, over the time between changes. @param {any} change */
function belief(change) {
  const drawing = place("belief");
  const { shape, scale_s: scale } = change;
  const [slow, fast] = [Math.max(1 / change.low_per_s, 1e-3) * 3, Math.max(1 / change.high_per_s, 1e-6) / 3];
  const steps = 120;
  const at = (/** @type {number} */ i) => Math.exp(Math.log(fast) + ((Math.log(slow) - Math.log(fast)) * i) / steps);
  const density = Array.from({ length: steps + 1 }, (_, i) => {
    const rate = 1 / at(i);
    return Math.exp(shape * Math.log(rate * scale) - rate * scale - lnGamma(shape));
  });
  const most = Math.max(...density);
  const x = (/** @type {number} */ seconds) => 10 + ((Math.log(seconds) - Math.log(fast)) / (Math.log(slow) - Math.log(fast))) * 620;
  const line = density.map((value, i) => `${x(at(i)).toFixed(1)} ${(100 - (value / most) * 90).toFixed(1)}`).join(" L");
  drawing.replaceChildren(made("path", { class: "under", d: `M10 100 L${line} L630 100 Z` }), made("path", { class: "axis", d: "M10 100 H630" }));
  for (const [seconds, name] of /** @type {[number, string][]} */ ([[1 / change.high_per_s, ""], [1 / change.rate_per_s, "mean"], [1 / change.low_per_s, ""]])) {
    drawing.append(made("path", { class: "here", d: `M${x(seconds)} 8 V100` }), made("text", { x: x(seconds), y: 118, "text-anchor": "middle" }, `${name} ${every(seconds)}`.trim()));
  }
  place("belief-said").textContent = `It changes about every ${every(1 / change.rate_per_s)}; with a probability of 90 %, the interval is between ${every(1 / change.high_per_s)} and ${every(1 / change.low_per_s)}.`;
}

/** @param {any[]} visits the newest first */
function timeline(visits) {
  const drawing = place("timeline");
  const [from, to] = [visits[visits.length - 1].at_s, Date.now() / 1000];
  const x = (/** @type {number} */ at) => 12 + ((at - from) / Math.max(to - from, 1)) * 616;
  drawing.replaceChildren(
    made("path", { class: "axis", d: "M12 24 H628" }),
    ...[...visits].reverse().map((visit) => made("circle", { class: visit.changed ? "changed" : visit.outcome === "error" ? "failed" : "same", cx: x(visit.at_s), cy: 24, r: visit.changed ? 7 : 4.5 })),
    made("text", { x: 12, y: 50 }, `${span(to - from)} ago`),
    made("text", { x: 628, y: 50, "text-anchor": "end" }, "now"),
  );
  const changed = visits.filter((visit) => visit.changed).length;
  place("timeline-said").textContent = `${visits.length === 1 ? "One visit" : `The last ${count(visits.length)} visits`}: ${count(changed)} found a change (large), ${count(visits.filter((visit) => visit.outcome === "error").length)} failed (red).`;
  fill(place("visits"), visits.map((visit) => [new Date(visit.at_s * 1000).toLocaleString("en-GB"), visit.changed ? "changed" : visit.outcome, String(visit.status), count(visit.bytes)]));
}

/** What changes as time goes by: the value, the price, the appointment. */
async function renew() {
  const [why, curve, { visits }] = await Promise.all([ask(`why?${query}`), ask(`rise?${query}`), ask(`visits?limit=200&${query}`)]);
  explain(why);
  appointment(why.appointment);
  place("rising").hidden = !(curve.points.length && curve.price);
  if (curve.points.length && curve.price) {
    rise("rise", curve.points, curve.price, curve.due_at_s ?? null);
    place("rise-said").textContent = `A visit is worth ${why.worth && why.worth.value !== null ? times(why.worth.value / curve.price) : "–"} times the price now. ${curve.due_at_s ? `It is due at ${new Date(curve.due_at_s * 1000).toLocaleString("en-GB")}` : "As things stand, it does not reach the price"}.`;
  }
  place("believed").hidden = !why.change || why.history === null;
  if (why.change && why.history !== null) belief(why.change);
  place("visited").hidden = !visits.length;
  if (visits.length) timeline(visits);
}

/** @param {string} at an instant @returns {HTMLAnchorElement} */
function copyOf(at) {
  const copy = document.createElement("a");
  copy.href = `/api/v1/content?${query}&at=${encodeURIComponent(at)}`;
  copy.textContent = "show";
  return copy;
}

async function show() {
  const copy = /** @type {HTMLAnchorElement} */ (place("copy"));
  copy.href = `/api/v1/content?${query}`;
  /** @type {HTMLAnchorElement} */ (place("around")).href = `/lab?graph=site&${query}`;
  await renew();
  setInterval(tick, 1000);
  setInterval(() => renew().catch(() => {}), RENEW_MS);
  const [versions, inlinks] = await Promise.all([ask(`versions?${query}`), ask(`inlinks?${query}&limit=50`)]);
  const now = Date.now() / 1000;
  fill(
    place("versions"),
    versions.versions.map((/** @type {any} */ each) => [`${span(now - each.at_s)} ago`, `${span(now - each.seen_at_s)} ago`, count(each.visits), count(each.size_bytes), each.extent === null ? "first" : percent(each.extent), copyOf(each.seen_at)]),
  );
  if (versions.diff && versions.diff.pieces.length) place("diff").replaceChildren(diff(versions.diff));
  place("inlinks").replaceChildren(
    ...inlinks.pages.map((/** @type {any} */ each) => {
      const item = document.createElement("li");
      item.append(link(each.url));
      return item;
    }),
  );
}

show().catch((error) => (place("trouble").textContent = error.message));
