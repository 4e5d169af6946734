/** A small web as a drawing that can be changed: by pointer, or page by page with keys. */
import { HEIGHT, WIDTH } from "./layout.js";
import { made } from "./svg.js";

/** @typedef {{at: [number, number][], links: [number, number][], names: string[]}} Web */
/** @typedef {{values: number[], texts: string[], visited: number, virtual: string}} Shown */
/** @typedef {{link: (from: number, to: number) => void, move: (page: number, x: number, y: number) => void, add: (x?: number, y?: number) => void, remove: (page: number) => void}} Edits */

const VIRTUAL = -1;
const LEAST = 9;
const MOST = 34;
const CROWDED = 130; // of the largest page, times the root of how many there are

/**
 * @param {SVGSVGElement} drawing
 * @param {Edits} edits
 */
export function webDrawing(drawing, edits) {
  /** @type {Web} */
  let web = { at: [], links: [], names: [] };
  let chosen = 0;
  let linking = -1;
  /** @type {{page: number, moved: boolean} | null} */
  let drag = null;
  /** @type {SVGElement[]} */
  let nodes = [];
  /** @type {SVGElement[]} */
  let edges = [];
  /** @type {number[]} */
  let radii = [];
  let hidden = made("g");
  const rubber = made("line", { class: "drag" });

  /** @param {Web} next */
  function draw(next) {
    web = next;
    chosen = Math.min(chosen, Math.max(web.at.length - 1, 0));
    const tip = (/** @type {string} */ id) => made("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, made("path", { d: "M0 0 L8 4 L0 8 Z" }));
    edges = web.links.map(() => made("path", { class: "edge" }));
    nodes = web.at.map(([x, y], i) => {
      const node = made("g", { class: "page", role: "button", tabindex: i === chosen ? 0 : -1, "data-page": i }, made("circle", { r: LEAST }), made("text", { class: "name" }, web.names[i].length > 3 ? String(i + 1) : web.names[i]), made("text", { class: "value" }), made("title", {}, web.names[i]));
      node.setAttribute("transform", `translate(${x} ${y})`);
      return node;
    });
    hidden = made("g", { class: "hidden-page", transform: `translate(${WIDTH - 70} 30)` }, made("circle", { r: 14 }), made("text", { y: 32 }, "virtual page"));
    drawing.replaceChildren(made("defs", {}, tip("tip"), tip("tip-paid")), ...edges, hidden, ...nodes);
  }

  /** @param {Shown} shown */
  function show(shown) {
    const most = Math.max(...shown.values.map(Math.abs), 1e-12);
    const largest = Math.min(MOST, CROWDED / Math.sqrt(Math.max(nodes.length, 1)));
    radii = shown.values.map((value) => Math.max(largest * Math.sqrt(Math.abs(value) / most), LEAST));
    nodes.forEach((node, i) => {
      const [circle, name, value] = /** @type {any} */ (node.children);
      circle.setAttribute("r", radii[i].toFixed(1));
      circle.setAttribute("fill-opacity", (0.15 + 0.75 * (Math.abs(shown.values[i]) / most)).toFixed(2));
      name.setAttribute("y", 5);
      value.setAttribute("y", (radii[i] + 14).toFixed(1));
      value.textContent = shown.texts[i];
      node.setAttribute("aria-label", `page ${web.names[i]}: ${shown.texts[i]}`);
      node.classList.toggle("visited", i === shown.visited);
      node.classList.toggle("from", i === linking);
    });
    edges.forEach((edge, i) => {
      const [from, to] = web.links[i];
      const paid = from === shown.visited;
      edge.setAttribute("d", curve(web.at[from], web.at[to], radii[to] + 2));
      edge.classList.toggle("paid", paid);
      edge.setAttribute("marker-end", `url(#${paid ? "tip-paid" : "tip"})`);
    });
    hidden.setAttribute("visibility", shown.virtual ? "visible" : "hidden");
    hidden.classList.toggle("visited", shown.visited === VIRTUAL);
    /** @type {any} */ (hidden.lastChild).textContent = `virtual page ${shown.virtual}`;
  }

  /** @param {number} page */
  function choose(page) {
    nodes[chosen]?.setAttribute("tabindex", "-1");
    chosen = page;
    nodes[page]?.setAttribute("tabindex", "0");
    nodes[page]?.focus();
  }

  /** Start a link at the chosen page, or end it there; return the page it starts from, -1 for none. */
  function link() {
    if (linking >= 0 && linking !== chosen) {
      const from = linking;
      linking = -1;
      edits.link(from, chosen);
    } else linking = linking === chosen ? -1 : chosen;
    for (const [i, node] of nodes.entries()) node.classList.toggle("from", i === linking);
    return linking;
  }

  /** @param {PointerEvent | MouseEvent} event @returns {[number, number]} */
  const point = (event) => {
    const box = drawing.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
  };
  /** @param {EventTarget | null} target */
  const pageOf = (target) => {
    const node = target instanceof Element ? target.closest("[data-page]") : null;
    return node ? Number(node.getAttribute("data-page")) : -1;
  };
  drawing.addEventListener("pointerdown", (event) => {
    const page = pageOf(event.target);
    if (page < 0) return;
    drag = { page, moved: false };
    choose(page);
    drawing.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  drawing.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [x, y] = point(event);
    const [fromX, fromY] = web.at[drag.page];
    drag.moved ||= Math.hypot(x - fromX, y - fromY) > radii[drag.page] + 4;
    if (!drag.moved) return;
    for (const [key, value] of Object.entries({ x1: fromX, y1: fromY, x2: x, y2: y })) rubber.setAttribute(key, String(value));
    drawing.append(rubber);
  });
  drawing.addEventListener("pointerup", (event) => {
    const was = drag;
    drag = null;
    rubber.remove();
    if (!was?.moved) return;
    const [x, y] = point(event);
    const over = web.at.findIndex(([px, py], i) => i !== was.page && Math.hypot(px - x, py - y) < radii[i] + 8);
    if (over >= 0) edits.link(was.page, over);
    else edits.move(was.page, Math.min(Math.max(x, 20), WIDTH - 20), Math.min(Math.max(y, 20), HEIGHT - 20));
  });
  drawing.addEventListener("pointercancel", () => {
    drag = null;
    rubber.remove();
  });
  drawing.addEventListener("dblclick", (event) => pageOf(event.target) < 0 && edits.add(...point(event)));
  drawing.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !nodes.length) return;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowRight: () => choose((chosen + 1) % nodes.length),
      ArrowDown: () => choose((chosen + 1) % nodes.length),
      ArrowLeft: () => choose((chosen + nodes.length - 1) % nodes.length),
      ArrowUp: () => choose((chosen + nodes.length - 1) % nodes.length),
      l: link,
      "+": () => edits.add(),
      "-": () => edits.remove(chosen),
      Delete: () => edits.remove(chosen),
    };
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  });
  return { draw, show, choose, link, chosen: () => chosen };
}

/** A link as a curve that ends at the rim of its target. @param {number[]} from @param {number[]} to @param {number} rim */
function curve([x, y], [toX, toY], rim) {
  const [dx, dy] = [toX - x, toY - y];
  const [midX, midY] = [(x + toX) / 2 - dy * 0.12, (y + toY) / 2 + dx * 0.12];
  const length = Math.max(Math.hypot(toX - midX, toY - midY), 1);
  const [endX, endY] = [toX - ((toX - midX) / length) * rim, toY - ((toY - midY) / length) * rim];
  return `M${x.toFixed(1)} ${y.toFixed(1)} Q${midX.toFixed(1)} ${midY.toFixed(1)} ${endX.toFixed(1)} ${endY.toFixed(1)}`;
}
