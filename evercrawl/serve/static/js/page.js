/** One page: why it is visited when it is, as a picture and in words. */
import { ask } from "./api.js";
import { count, diff, figures, fill, link, percent, place, span } from "./words.js";

const url = new URLSearchParams(location.search).get("url") ?? "";
const query = `url=${encodeURIComponent(url)}`;
const NS = "http://www.w3.org/2000/svg";

/** @param {number} seconds */
const every = (seconds) => (seconds < 2 ? `${seconds.toPrecision(2)} s` : span(seconds));

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

/** @param {any} why */
function explain(why) {
  place("summary").textContent = `It is ${why.state}${why.alias ? ` of ${why.alias}` : ""}.`;
  place("reasons").replaceChildren(
    ...why.reasons.map((/** @type {string} */ reason) => {
      const item = document.createElement("li");
      item.textContent = reason;
      return item;
    }),
  );
  const boxes = /** @type {[string, string][]} */ ([]);
  if (why.weight) boxes.push(["importance, of all", percent(why.weight.share)], ["times the mean page's", why.weight.times_mean.toFixed(2)]);
  if (why.change) boxes.push(["changes about every", every(1 / why.change.rate_per_s)]);
  if (why.change && why.change.fresh !== null) boxes.push(["still so", percent(why.change.fresh)]);
  if (why.history) boxes.push(["visits", count(why.history.visits)], ["changes seen", count(why.history.changes)]);
  if (why.history) for (const [name, value] of rpuc(why.use)) boxes.push([name, value]);
  figures(place("figures"), boxes);
  if (why.worth) place("reasons").append(...worth(why.worth));
  const due = why.worth && why.worth.due_at_s;
  if (due) appointment(due);
  const feeders = why.weight ? why.weight.feeders : [];
  ribbons(feeders);
  fill(place("feeders"), feeders.map((/** @type {any} */ each) => [link(each.url), percent(each.gives)]));
}

/** Retrieval, importance, update and click: what the policy rpuc goes by. @param {any} use @returns {[string, string][]} */
function rpuc(use) {
  return [
    ["R, shown a visit", use.R.toPrecision(2)],
    ["P, importance", use.P === null ? "unknown" : use.P.toPrecision(2)],
    ["U, changes found", use.U.toPrecision(2)],
    ["C, opened when shown", use.C.toPrecision(2)],
  ];
}

/** What a visit is worth, in sentences. @param {any} worth */
function worth(worth) {
  const said = [`The policy is ${worth.policy}.`];
  if (worth.price !== null && worth.value !== null) said.push(`A visit now is worth ${(worth.value / worth.price).toPrecision(2)} times the price, which a ${worth.unit} of the budget has to earn.`);
  if (worth.ahead) said.push(worth.ahead === 1 ? `One page that could be visited now is worth more, ${worth.ahead_on_host ? "on its host" : "on another host"}.` : `${count(worth.ahead)} pages that could be visited now are worth more, ${count(worth.ahead_on_host)} of them on its host.`);
  if (worth.wanted !== 1) said.push(`A visit counts ${worth.wanted.toPrecision(2)} times as much as its importance says, ${worth.because}.`);
  if (worth.given_up) said.push("As things are, it is not visited again.");
  if (worth.earliest_at_s && worth.earliest_at_s > Date.now() / 1000) said.push(`It is left alone for ${span(worth.earliest_at_s - Date.now() / 1000)} more in any case.`);
  return said.map((sentence) => {
    const item = document.createElement("li");
    item.textContent = sentence;
    return item;
  });
}

/** The next visit, counted down. @param {number} due seconds since 1970 */
function appointment(due) {
  const line = document.createElement("p");
  place("summary").parentElement?.after(line);
  const tick = () => {
    const left = due - Date.now() / 1000;
    const at = new Date(due * 1000).toLocaleTimeString("en-GB");
    line.textContent = left > 0 ? `Next visit at ${at}, in ${span(left)}, when its value crosses the price.` : "It is due: its host's turn and the pace decide when.";
  };
  tick();
  setInterval(tick, 1000);
}

async function show() {
  const copy = /** @type {HTMLAnchorElement} */ (place("copy"));
  copy.href = `/api/v1/content?${query}`;
  /** @type {HTMLAnchorElement} */ (place("around")).href = `/lab?graph=site&${query}`;
  explain(await ask(`why?${query}`));
  const [versions, inlinks] = await Promise.all([ask(`versions?${query}`), ask(`inlinks?${query}&limit=50`)]);
  const now = Date.now() / 1000;
  fill(
    place("versions"),
    versions.versions.map((/** @type {any} */ each) => [`${span(now - each.at_s)} ago`, `${span(now - each.seen_at_s)} ago`, count(each.visits), count(each.size_bytes), each.extent === null ? "first" : percent(each.extent)]),
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
