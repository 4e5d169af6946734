/** A line chart with logarithmic axes. */
import { made } from "./svg.js";
import { count } from "./words.js";

const WIDTH = 480;
const HEIGHT = 240;
const LEFT = 44;
const BOTTOM = 38;
const LONG = 7; // letters of a number between which there is no room for others

/** @typedef {{name: string, class: string, points: [number, number][]}} Line */

/** @param {number} value */
export const power = (value) => (value >= 0.01 && value < 1000 ? String(+value.toPrecision(2)) : value >= 1000 ? count(+value.toPrecision(2)) : value.toExponential(0).replace("e", "·10^"));

/**
 * Draw lines; what is not above 0 is left out. Returns where on x a value is drawn, and what value is at a place.
 * @param {SVGElement} drawing
 * @param {Line[]} lines
 * @param {{x: string, linear?: boolean}} axes `linear`: y from 0 to 1
 */
export function lineChart(drawing, lines, axes) {
  const kept = lines.map((line) => ({ ...line, points: line.points.filter(([x, y]) => x > 0 && (axes.linear || y > 1e-15)) }));
  const all = kept.flatMap((line) => line.points);
  drawing.replaceChildren();
  if (!all.length) return { x: () => LEFT, value: () => 1 };
  const range = (/** @type {number[]} */ values) => [Math.log(Math.min(...values)), Math.log(Math.max(...values))];
  const [minX, maxX] = range(all.map(([x]) => x));
  const [minY, maxY] = axes.linear ? [0, 1] : range(all.map(([, y]) => y));
  const x = (/** @type {number} */ value) => LEFT + ((Math.log(value) - minX) / Math.max(maxX - minX, 1e-9)) * (WIDTH - LEFT - 12);
  const y = (/** @type {number} */ value) => 10 + (1 - ((axes.linear ? value : Math.log(value)) - minY) / Math.max(maxY - minY, 1e-9)) * (HEIGHT - BOTTOM - 16);
  for (let i = 0; i <= 4; i++) {
    const value = axes.linear ? i / 4 : Math.exp(minY + ((maxY - minY) * i) / 4);
    drawing.append(made("path", { class: "axis", d: `M${LEFT} ${y(value)} H${WIDTH - 12}` }), made("text", { x: LEFT - 4, y: y(value) + 4, "text-anchor": "end" }, axes.linear ? `${25 * i} %` : power(value)));
    const across = Math.exp(minX + ((maxX - minX) * i) / 4);
    const far = power(Math.exp(maxX)).length > LONG;
    if (!far || i % 2 === 0) drawing.append(made("text", { x: x(across), y: HEIGHT - 22, "text-anchor": i === 4 ? "end" : "middle" }, power(across)));
  }
  drawing.append(made("text", { x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, axes.x));
  for (const line of kept) {
    if (!line.points.length) continue;
    drawing.append(made("path", { class: line.class, d: `M${line.points.map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join(" L")}` }));
    const [px, py] = line.points[Math.floor(line.points.length ** 0.4)];
    if (line.name) drawing.append(made("text", { x: x(px), y: y(py) - 6, class: `${line.class}-text` }, line.name));
  }
  const value = (/** @type {number} */ place) => Math.exp(minX + ((place - LEFT) / (WIDTH - LEFT - 12)) * (maxX - minX));
  drawing.append(made("path", { class: "here", id: `${drawing.id}-here` }));
  return { x, value };
}

/** Mark a place on x. @param {SVGElement} drawing @param {number} x */
export function mark(drawing, x) {
  drawing.querySelector(".here")?.setAttribute("d", `M${x.toFixed(1)} 6 V${HEIGHT - BOTTOM}`);
}
