/** The lab: asks for what visits do to a small web, and plays it. What is asked for stands in the address. */
import { ask } from "./api.js";
import { lineChart, mark } from "./curve.js";
import { grid, spread } from "./layout.js";
import { made } from "./svg.js";
import { webDrawing } from "./web.js";
import { figures, link, place } from "./words.js";

/** @typedef {import("./layout.js").Point} Point */
const VIRTUAL = -1;
const MOST_PAGES = 60;
const AGAIN_MS = 2000; // the history of a crawl is read first
const SPEEDS = [0.5, 1, 2, 4, 8, 16, 32];
const ARTICLE = { toy: { order: "random", virtual: "none" }, "scale-free": { order: "greedy", virtual: "link" } };

const form = /** @type {HTMLFormElement} */ (place("asked"));
const scrub = /** @type {HTMLInputElement} */ (place("scrub"));
const curve = /** @type {SVGElement} */ (/** @type {unknown} */ (place("curve")));
const given = new URLSearchParams(location.search);

/** @type {any} what the server answered */
let trace = null;
/** @type {{at: Point[], links: [number, number][], names: string[]}} */
let web = { at: [], links: [], names: [] };
let step = Number(given.get("step")) || 0;
let speed = SPEEDS.includes(Number(given.get("speed"))) ? Number(given.get("speed")) : 2;
let show = ["cash", "history", "estimate"].includes(given.get("show") ?? "") ? String(given.get("show")) : "cash";
let timer = 0;
let asked = 0;
/** @type {(step: number) => number} */
let across = () => 0;

const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));
const isDrawn = () => field("graph").value === "drawn";

/** What is asked of the server. */
function question() {
  const wanted = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== "" && !field(name).closest("label")?.hidden) wanted.set(name, String(value));
  if (isDrawn()) {
    wanted.set("pages", String(Math.max(web.at.length, 1)));
    wanted.set("links", web.links.map(([from, to]) => `${from + 1}-${to + 1}`).join("."));
  }
  return wanted;
}

/** Put all that is shown into the address. */
function remember() {
  const wanted = question();
  if (isDrawn()) wanted.set("at", web.at.map(([x, y]) => `${Math.round(x)}.${Math.round(y)}`).join("_"));
  for (const [name, value, usual] of [["step", step, 0], ["speed", speed, 2], ["show", show, "cash"]]) if (value !== usual) wanted.set(String(name), String(value));
  history.replaceState(null, "", `?${wanted}`);
}

/** Only what plays a part is shown. */
function arrange() {
  const value = (/** @type {string} */ name) => field(name).value;
  const push = value("order") === "push";
  if (push && value("virtual") === "none") field("virtual").value = "tax";
  const parts = { url: value("graph") === "site", seed: value("order") === "random", tax: value("virtual") === "tax", spends: !push, window: !push, size: !push && !["all", "history", "identity"].includes(value("window")) };
  for (const [name, wanted] of Object.entries(parts)) /** @type {HTMLElement} */ (field(name).closest("label")).hidden = !wanted;
}

/** @param {string} text */
const trouble = (text) => (place("trouble").textContent = text);

async function renew() {
  arrange();
  pause();
  const number = ++asked;
  try {
    const found = await ask(`lab?${question()}`);
    if (number !== asked) return;
    trace = found;
    trouble("");
  } catch (error) {
    if (number !== asked) return;
    trouble(error instanceof Error ? error.message : String(error));
    if (/** @type {any} */ (error).status === 503) setTimeout(() => number === asked && renew(), AGAIN_MS);
    return;
  }
  const same = isDrawn() && web.at.length === trace.names.length;
  const at = same ? web.at : field("graph").value === "toy" ? grid(trace.names.length) : spread(trace.names.length, trace.links);
  web = { at, links: trace.links, names: trace.names };
  drawing.draw(web);
  scrub.max = String(trace.visits.length);
  step = Math.min(step, trace.visits.length);
  chart();
  render();
}

function chart() {
  const { step: steps, error, bound, bounded } = trace.states;
  const line = (/** @type {(number | null)[]} */ values) => /** @type {[number, number][]} */ (steps.map((/** @type {number} */ each, /** @type {number} */ i) => [each, values[i] ?? 0]));
  const { x } = lineChart(curve, [{ name: "error", class: "error", points: line(error) }, { name: "bound", class: "bound", points: line(bound) }], { x: "visits" });
  across = x;
  const last = steps.length - 1;
  place("curve-said").textContent = `After ${steps[last]} visits the errors of all shares sum to ${round(error[last])}. ${bound[last] === null ? "Without a virtual page to which every page gives, no bound of the error can be proved" : `The ledger alone proves that the error of ${field("order").value === "push" ? "the values" : "H / G"} is at most ${round(bound[last])}; it is ${round(bounded[last])}`}.`;
  const every = Math.max(Math.ceil(steps.length / 100), 1);
  place("steps").replaceChildren(
    ...steps.flatMap((/** @type {number} */ each, /** @type {number} */ i) => {
      if (!each || (i % every && i !== last)) return [];
      const row = document.createElement("tr");
      for (const text of [each, pageName(trace.visits[each - 1]), round(trace.moved[each - 1]), round(trace.states.clock[i]), round(error[i]), round(bounded[i]), round(bound[i])]) row.insertCell().textContent = String(text);
      return [row];
    }),
  );
}

/** @param {number | null} value */
const round = (value) => (value === null || value === undefined ? "–" : String(+value.toPrecision(3)));
/** @param {number} page */
const pageName = (page) => (page === VIRTUAL ? "virtual page" : web.names[page]);
/** Credits: all the cash is 100. @param {number} value */
const credits = (value) => (100 * value).toFixed(1).replace(/^-(0\.0)$/, "$1");

function render() {
  if (!trace) return;
  const state = Math.min(Math.ceil(step / trace.every), trace.states.step.length - 1);
  step = trace.states.step[state];
  const of = (/** @type {string} */ name) => trace.states[name][state];
  const visited = step ? trace.visits[step - 1] : -2;
  const zeros = trace.names.map(() => 0);
  const values = (show === "estimate" ? of("estimate") : of(show)) ?? zeros;
  const push = field("order").value === "push";
  drawing.show({ values, texts: values.map((/** @type {number} */ value) => (show === "estimate" ? value.toFixed(3) : credits(value))), visited, virtual: field("virtual").value === "none" && !of("virtual") && visited !== VIRTUAL ? "" : credits(of("virtual")) });
  place("told").textContent = step ? `Visit ${step}: ${visited === VIRTUAL ? "the virtual page" : `page ${pageName(visited)}`} ${push ? "pushes" : "moves"} ${credits(trace.moved[step - 1])} credits.` : `At the start ${push ? "each page's source waits to be pushed" : "the 100 credits are spread evenly"}. ${trace.about}`;
  figures(place("figures"), [["visits", String(step)], ["G", round(of("clock"))], ["error", round(of("error"))], ["bound", round(of("bound"))]]);
  const most = Math.max(...trace.exact, ...(of("estimate") ?? []));
  place("pages").replaceChildren(
    ...trace.names.map((/** @type {string} */ name, /** @type {number} */ i) => {
      const row = document.createElement("tr");
      const estimate = of("estimate")?.[i] ?? null;
      row.insertCell().append(...(name.includes(":") ? [`${i + 1} `, link(name)] : [name]));
      for (const text of [credits(of("cash")[i]), credits(of("history")[i]), estimate === null ? "–" : estimate.toFixed(4), trace.exact[i].toFixed(4)]) Object.assign(row.insertCell(), { className: "number", textContent: text });
      const bar = (/** @type {number} */ value, /** @type {number} */ y, /** @type {string} */ kind) => made("rect", { x: 0, y, height: 7, width: (112 * value) / most, class: `bar-${kind}` });
      row.insertCell().append(made("svg", { viewBox: "0 0 112 16", "aria-hidden": "true" }, bar(estimate ?? 0, 0, "estimate"), bar(trace.exact[i], 8, "exact")));
      return row;
    }),
  );
  if (step) mark(curve, across(step));
  scrub.value = String(step);
  scrub.setAttribute("aria-valuetext", `${step} of ${trace.visits.length} visits`);
  place("speed").textContent = `${speed} a second`;
  remember();
}

/** @param {number} next */
function go(next) {
  step = Math.min(Math.max(next, 0), trace ? trace.visits.length : 0);
  render();
}

/** @param {number} sign */
const onward = (sign) => go(sign > 0 ? step + trace.every : Math.max(step - trace.every, 0));

function pause() {
  clearTimeout(timer);
  timer = 0;
  place("play").textContent = "Play";
  place("play").setAttribute("aria-pressed", "false");
}

function play() {
  if (timer) return pause();
  if (!trace) return undefined;
  if (step >= trace.visits.length) step = 0;
  place("play").textContent = "Pause";
  place("play").setAttribute("aria-pressed", "true");
  place("told").setAttribute("aria-live", "off");
  const tick = () => {
    onward(1);
    if (step >= trace.visits.length) {
      place("told").setAttribute("aria-live", "polite");
      return pause();
    }
    timer = window.setTimeout(tick, 1000 / speed);
  };
  return tick();
}

/** @param {number} by */
function hasten(by) {
  speed = SPEEDS[Math.min(Math.max(SPEEDS.indexOf(speed) + by, 0), SPEEDS.length - 1)];
  render();
}

/** Change the web: from now on it is a drawn one. @param {() => void} change @param {boolean} [moved] */
function edit(change, moved = false) {
  field("graph").value = "drawn";
  web = { at: web.at.map(([x, y]) => [x, y]), links: web.links.map(([from, to]) => [from, to]), names: web.at.map((_, i) => String(i + 1)) };
  change();
  web.names = web.at.map((_, i) => String(i + 1));
  if (!moved) step = 0;
  const chosen = drawing.chosen();
  const inside = place("web").contains(document.activeElement);
  renew().then(() => inside && drawing.choose(Math.min(chosen, web.at.length - 1)));
}

const drawing = webDrawing(/** @type {SVGSVGElement} */ (/** @type {unknown} */ (place("web"))), {
  link: (from, to) =>
    edit(() => {
      const kept = web.links.filter(([a, b]) => a !== from || b !== to);
      web.links = kept.length < web.links.length ? kept : [...kept, [from, to]];
    }),
  move: (page, x, y) => edit(() => (web.at[page] = [x, y]), true),
  add: (x, y) => {
    if (web.at.length >= MOST_PAGES) return void trouble(`a web here has ${MOST_PAGES} pages at most`);
    const [px, py] = grid(MOST_PAGES)[web.at.length];
    return edit(() => web.at.push([x ?? px, y ?? py]));
  },
  remove: (page) => {
    if (web.at.length < 2) return void trouble("the last page stays");
    const less = (/** @type {number} */ other) => (other > page ? other - 1 : other);
    return edit(() => {
      web.at.splice(page, 1);
      web.links = web.links.filter(([from, to]) => from !== page && to !== page).map(([from, to]) => [less(from), less(to)]);
    });
  },
});

/** @type {Record<string, () => void>} */
const BUTTONS = {
  reset: () => (pause(), go(0)),
  back: () => (pause(), onward(-1)),
  play,
  step: () => (pause(), onward(1)),
  slower: () => hasten(-1),
  faster: () => hasten(1),
  add: () => place("web").dispatchEvent(new KeyboardEvent("keydown", { key: "+" })),
  remove: () => place("web").dispatchEvent(new KeyboardEvent("keydown", { key: "-" })),
  link: () => {
    const from = drawing.link();
    place("link").textContent = from >= 0 ? `Link page ${from + 1} to the chosen one` : "Link from here";
    place("link").setAttribute("aria-pressed", String(from >= 0));
  },
};
for (const [id, act] of Object.entries(BUTTONS)) place(id).addEventListener("click", act);
scrub.addEventListener("input", () => (pause(), go(Number(scrub.value))));
place("show").addEventListener("change", (event) => {
  show = /** @type {HTMLInputElement} */ (event.target).value;
  render();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", (event) => {
  const name = /** @type {HTMLInputElement} */ (event.target).name;
  const usual = name === "graph" ? ARTICLE[/** @type {keyof typeof ARTICLE} */ (field("graph").value)] : undefined;
  for (const [each, value] of Object.entries(usual ?? {})) field(each).value = value;
  if (name !== "steps") step = 0;
  renew();
});
document.addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT|BUTTON|SUMMARY|A)$/.test(target.tagName)) return;
  /** @type {Record<string, () => void>} */
  const keys = { " ": play, ArrowRight: BUTTONS.step, ArrowLeft: BUTTONS.back, Home: BUTTONS.reset, "+": () => hasten(1), "-": () => hasten(-1) };
  if (!(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

for (const [name, value] of given) {
  const control = form.elements.namedItem(name);
  if (control instanceof HTMLInputElement || control instanceof HTMLSelectElement) control.value = value;
}
if (!given.has("graph")) for (const [each, value] of Object.entries(ARTICLE.toy)) field(each).value = value;
if (isDrawn()) {
  const at = (given.get("at") ?? "").split("_").map((each) => each.split(".").map(Number)).filter((each) => each.length === 2 && each.every(Number.isFinite));
  const links = (given.get("links") ?? "").split(".").filter(Boolean).map((each) => /** @type {[number, number]} */ (each.split("-").map((page) => Number(page) - 1)));
  const count = Math.min(Math.max(at.length, Number(given.get("pages")) || 1), MOST_PAGES);
  web = { at: at.length === count ? /** @type {Point[]} */ (at) : grid(count), links, names: [] };
}
for (const each of document.querySelectorAll("[name=show]")) /** @type {HTMLInputElement} */ (each).checked = /** @type {HTMLInputElement} */ (each).value === show;
renew();
