/**
 * The Living Map: every page a dot, its area its importance, its colour fading with the probability that the copy is still
 * the page; a ring when it is fetched, a spark when it had changed.
 */
import { ask } from "./api.js";
import { count, fill, link, percent } from "./words.js";

const RING_S = 0.9;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** @typedef {{url: string, x: number, y: number, r: number, fresh: number | null, rate: number, at: number, ring: number, changed: boolean, importance: number}} Dot */

/**
 * Rectangles of areas in proportion to weights, as near to squares as may be (a squarified treemap).
 * @param {number[]} weights descending
 * @param {number} width
 * @param {number} height
 */
export function squarified(weights, width, height) {
  const total = weights.reduce((sum, each) => sum + each, 0) || 1;
  const areas = weights.map((each) => (each / total) * width * height);
  /** @type {{x: number, y: number, w: number, h: number}[]} */
  const found = [];
  let [x, y, w, h] = [0, 0, width, height];
  for (let start = 0; start < areas.length; ) {
    const side = Math.min(w, h);
    let end = start;
    let sum = 0;
    let worst = Infinity;
    while (end < areas.length) {
      const more = sum + areas[end];
      const ratio = Math.max((side * side * areas[start]) / (more * more), (more * more) / (side * side * areas[end] || 1e-9));
      if (ratio > worst) break;
      [worst, sum, end] = [ratio, more, end + 1];
    }
    const depth = sum / side || 0;
    let along = 0;
    for (let i = start; i < end; i++) {
      const length = areas[i] / depth || 0;
      found.push(w >= h ? { x, y: y + along, w: depth, h: length } : { x: x + along, y, w: length, h: depth });
      along += length;
    }
    if (w >= h) [x, w] = [x + depth, w - depth];
    else [y, h] = [y + depth, h - depth];
    start = end;
  }
  return found;
}

/**
 * Place dots: sites as rectangles, their pages in a sunflower, the most important in the middle.
 * @param {any} found as the server has it
 * @param {number} width
 * @param {number} height
 * @returns {Dot[]}
 */
function laid(found, width, height) {
  /** @type {any[][]} */
  const bySite = found.sites.map(() => []);
  for (const page of found.pages) bySite[page[1]].push(page);
  const sums = bySite.map((pages) => pages.reduce((sum, page) => sum + page[2] + 1e-6, 0));
  const beyond = new Map((found.others ?? []).map((/** @type {[string, number, number]} */ [name, pages, weight]) => [name, { pages, weight }]));
  const order = sums.map((_, i) => i).sort((a, b) => sums[b] - sums[a]);
  const boxes = squarified(order.map((i) => sums[i]), width, height);
  const scale = Math.sqrt((0.45 * width * height) / (Math.PI * (sums.reduce((a, b) => a + b, 0) || 1)));
  return order.flatMap((site, place) => {
    const box = boxes[place];
    const pages = bySite[site];
    const side = Math.min(box.w, box.h);
    const radii = pages.map((page) => Math.max(1.2, Math.min(scale * Math.sqrt(page[2]), side / 3)));
    const areas = radii.map((r) => r * r);
    const total = areas.reduce((sum, area) => sum + area, 0);
    let within = 0;
    const dots = pages.map((page, i) => {
      const far = i ? Math.sqrt((within + areas[i] / 2) / total) * 0.92 : 0;
      within += areas[i];
      const turn = i * 2.399963;
      return {
        url: page[0], x: box.x + box.w / 2 + (far * Math.cos(turn) * (box.w - 2 * radii[i])) / 2, y: box.y + box.h / 2 + (far * Math.sin(turn) * (box.h - 2 * radii[i])) / 2,
        r: radii[i], fresh: page[3], rate: page[4], at: found.at_s, ring: 0, changed: false, importance: page[2],
      };
    });
    const rest = /** @type {{pages: number, weight: number} | undefined} */ (beyond.get(found.sites[site]));
    if (rest) dots.unshift({ url: "", x: box.x + box.w / 2, y: box.y + box.h / 2, r: Math.min(Math.max(scale * Math.sqrt(rest.weight), 3), side / 2.1), fresh: null, rate: 0, at: found.at_s, ring: 0, changed: false, importance: rest.weight });
    return dots;
  });
}

const LISTED = 20;

/**
 * Draw the map into a canvas, from now on.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLElement} caption
 * @param {HTMLElement} table gets the largest dots in words
 * @param {string} [of] the query that narrows the map to a site
 */
export async function living(canvas, caption, table, of = "") {
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {Dot[]} */
  let dots = [];
  /** @type {Map<string, Dot>} */
  let byUrl = new Map();
  let known = -1;
  let frames = 0;

  async function load() {
    const found = await ask(`map${of}`);
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = canvas;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const rings = byUrl;
    dots = laid(found, width, height);
    byUrl = new Map(dots.filter((dot) => dot.url).map((dot) => [dot.url, dot]));
    const largest = [...byUrl.values()].sort((a, b) => b.importance - a.importance).slice(0, LISTED);
    fill(table, largest.map((dot) => [link(dot.url), percent(dot.importance), percent(dot.fresh)]));
    for (const [url, dot] of rings) {
      const now = byUrl.get(url);
      if (now) [now.ring, now.changed] = [dot.ring, dot.changed];
    }
    const more = (found.others ?? []).reduce((/** @type {number} */ sum, /** @type {[string, number, number]} */ each) => sum + each[1], 0);
    caption.textContent = `${count(byUrl.size)} pages of ${count(found.sites.length)} ${found.sites.length === 1 ? "site" : "sites"}${more ? `, and ${count(more)} less important ones as discs behind them` : ""}. The area of a dot shows importance, and its colour the probability that the copy is fresh. A ring marks a visit, a spark a change.`;
  }

  document.addEventListener("state", (event) => {
    for (const visit of /** @type {CustomEvent} */ (event).detail.recent) {
      if (visit.sequence <= known) continue;
      known = visit.sequence;
      const dot = byUrl.get(visit.url);
      if (dot) [dot.fresh, dot.at, dot.ring, dot.changed] = [1, visit.at_s, performance.now() / 1000, visit.changed];
    }
  });

  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const hit = dots.find((dot) => dot.url && (dot.x - x) ** 2 + (dot.y - y) ** 2 <= (dot.r + 2) ** 2);
    if (hit) location.href = `/page?url=${encodeURIComponent(hit.url)}`;
  });

  function draw() {
    const style = getComputedStyle(canvas);
    const [stale, fresh, ink] = ["--stale", "--accent", "--ink"].map((name) => style.getPropertyValue(name));
    const [now, clock] = [Date.now() / 1000, performance.now() / 1000];
    pen.clearRect(0, 0, canvas.width, canvas.height);
    for (const pass of [0, 1]) {
      pen.fillStyle = pass ? fresh : stale;
      for (const dot of dots) {
        const still = dot.fresh === null ? 0 : dot.fresh * Math.exp(-dot.rate * Math.max(now - dot.at, 0));
        pen.globalAlpha = pass ? still : dot.fresh === null ? 0.35 : 1;
        if (!pen.globalAlpha) continue;
        pen.beginPath();
        pen.arc(dot.x, dot.y, dot.r, 0, 6.2832);
        pen.fill();
      }
    }
    for (const dot of dots) {
      const age = (clock - dot.ring) / RING_S;
      if (!dot.ring || age > 1) continue;
      pen.globalAlpha = 1 - age;
      pen.strokeStyle = dot.changed ? "#f0a020" : ink;
      pen.lineWidth = dot.changed ? 3 : 1.5;
      pen.beginPath();
      pen.arc(dot.x, dot.y, dot.r + 2 + age * (dot.changed ? 12 : 7), 0, 6.2832);
      pen.stroke();
    }
    pen.globalAlpha = 1;
    canvas.dataset.frames = String(++frames);
    if (calm.matches) setTimeout(() => requestAnimationFrame(draw), 1000);
    else requestAnimationFrame(draw);
  }

  await load();
  requestAnimationFrame(draw);
  setInterval(() => load().catch(() => {}), 10000);
  addEventListener("resize", () => load().catch(() => {}));
}
