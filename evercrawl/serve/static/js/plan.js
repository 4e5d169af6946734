/** The plan: freshness by budget, and what one more fetch a second would add. */
import { ask } from "./api.js";
import { lineChart, mark } from "./curve.js";
import { count, fill, percent, place, span } from "./words.js";

const DAY_S = 86400;
const AGAIN_MS = 2000;
const form = /** @type {HTMLFormElement} */ (place("asked"));
const slider = /** @type {HTMLInputElement} */ (place("budget"));
const curve = /** @type {SVGElement} */ (/** @type {unknown} */ (place("curve")));
/** @type {any[]} */
let points = [];
let unit = "fetches";
/** @type {(budget: number) => number} */
let across = () => 0;
let asked = 0;

/** @param {number} value */
const short = (value) => (value >= 100 ? count(Math.round(value)) : String(+value.toPrecision(3)));
/** @param {number} perSecond */
const daily = (perSecond) => short(perSecond * DAY_S);

/** What is between two points of the curve, in the logarithm of the budget. @param {number} budget */
function between(budget) {
  const next = Math.max(points.findIndex((point) => point.budget >= budget), 1);
  const [low, high] = [points[next - 1], points[next] ?? points[next - 1]];
  const part = high.budget > low.budget ? Math.min(Math.max(Math.log(budget / low.budget) / Math.log(high.budget / low.budget), 0), 1) : 0;
  const mix = (/** @type {string} */ name) => low[name] + part * (high[name] - low[name]);
  return { freshness: mix("freshness"), marginal: mix("marginal") };
}

function render() {
  const [low, high] = [Math.log(points[0].budget), Math.log(points[points.length - 1].budget)];
  const budget = Math.exp(low + (Number(slider.value) / 1000) * (high - low));
  const { freshness, marginal } = between(budget);
  const bytes = unit === "bytes";
  const more = bytes ? 1e6 : 1;
  const added = Math.min(marginal * more, 1 - freshness);
  place("here").textContent = `With ${daily(budget)} ${unit} a day (${short(budget)} a second), ${percent(freshness)} of the copies are fresh. One more ${bytes ? "megabyte" : "fetch"} a second adds at most ${percent(added)}; one more an hour adds ${(100 * marginal * (more / 3600)).toPrecision(2)} %.`;
  slider.setAttribute("aria-valuetext", `${daily(budget)} ${unit} a day`);
  mark(curve, across(budget));
}

/** @param {any} plan */
function present(plan) {
  points = [...plan.points, ...(plan.now ? [plan.now] : [])].filter((point) => point.budget > 0).sort((a, b) => a.budget - b.budget);
  unit = plan.unit;
  place("said").textContent = `${count(plan.copies)} copies${plan.site ? ` of ${plan.site}` : ""} are stored; weighted by importance, ${percent(plan.fresh)} are expected to be fresh now. ${plan.now ? `Visits to pages read before have recently taken ${daily(plan.spent.budget)} ${unit} a day, which keeps ${percent(plan.now.freshness)} fresh in the long run.` : "No page was visited twice recently, so the budget of the crawl is not known."} Computed ${span(Date.now() / 1000 - plan.at_s)} ago.`;
  place("found").hidden = points.length < 2;
  if (points.length < 2) return;
  const { x } = lineChart(curve, [{ name: "", class: "error", points: points.map((point) => [point.budget * DAY_S, point.freshness]) }], { x: `${unit} a day`, linear: true });
  across = (budget) => x(budget * DAY_S);
  const [low, high] = [Math.log(points[0].budget), Math.log(points[points.length - 1].budget)];
  if (plan.now) slider.value = String(Math.round((1000 * (Math.log(plan.now.budget) - low)) / (high - low)));
  fill(place("points"), points.map((point) => [daily(point.budget), percent(point.freshness), percent(Math.min(point.marginal * (unit === "bytes" ? 1e6 : 1), 1 - point.freshness)), daily(point.visits_per_s), count(Math.round(point.left_alone))]));
  render();
}

async function show() {
  const number = ++asked;
  const site = String(new FormData(form).get("site") ?? "").trim();
  history.replaceState(null, "", site ? `?site=${encodeURIComponent(site)}` : location.pathname);
  place("trouble").textContent = "";
  place("said").textContent = "Planning …";
  for (;;) {
    try {
      const plan = await ask(`plan${site ? `?site=${encodeURIComponent(site)}` : ""}`);
      if (number === asked) plan.pending ? 0 : present(plan);
      if (number !== asked || !plan.pending) return;
    } catch (error) {
      if (number !== asked) return;
      place("said").textContent = "";
      place("found").hidden = true;
      place("trouble").textContent = error instanceof Error ? error.message : String(error);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  show();
});
slider.addEventListener("input", render);
show();
