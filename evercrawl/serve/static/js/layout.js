/** Where the pages of a small web are drawn. */

/** @typedef {[number, number]} Point */
export const WIDTH = 640;
export const HEIGHT = 480;
const TOP = 56; // above is the virtual page

/** Rows of three and more, in order. @param {number} count @returns {Point[]} */
export function grid(count) {
  const columns = Math.ceil(Math.sqrt(count));
  const rows = Math.ceil(count / columns);
  return Array.from({ length: count }, (_, i) => [((i % columns) + 0.5) * (WIDTH / columns), TOP + (Math.floor(i / columns) + 0.5) * ((HEIGHT - TOP) / rows)]);
}

/**
 * Pages push each other away and links draw them together, from a circle, the same each time (Fruchterman, Reingold 1991).
 * @param {number} count
 * @param {[number, number][]} links
 * @returns {Point[]}
 */
export function spread(count, links) {
  const at = Array.from({ length: count }, (_, i) => /** @type {Point} */ ([WIDTH / 2 + 200 * Math.cos((i / count) * 2 * Math.PI + 0.1 * (i % 3)), HEIGHT / 2 + 170 * Math.sin((i / count) * 2 * Math.PI)]));
  const length = Math.sqrt((WIDTH * HEIGHT) / Math.max(count, 1)) * 0.75;
  for (let turn = 0; turn < 300; turn++) {
    const pull = at.map(() => /** @type {Point} */ ([0, 0]));
    /** @param {number} a @param {number} b @param {(distance: number) => number} force */
    const act = (a, b, force) => {
      const [dx, dy] = [at[a][0] - at[b][0], at[a][1] - at[b][1]];
      const distance = Math.max(Math.hypot(dx, dy), 1);
      const by = force(distance) / distance;
      pull[a][0] += dx * by;
      pull[a][1] += dy * by;
      pull[b][0] -= dx * by;
      pull[b][1] -= dy * by;
    };
    for (let a = 0; a < count; a++) for (let b = 0; b < a; b++) act(a, b, (distance) => length ** 2 / distance);
    for (const [a, b] of links) if (a !== b) act(a, b, (distance) => -(distance ** 2) / length);
    const most = 40 * (1 - turn / 300) + 0.5;
    for (let i = 0; i < count; i++) {
      pull[i][0] += (WIDTH / 2 - at[i][0]) * 0.6;
      pull[i][1] += ((HEIGHT + TOP) / 2 - at[i][1]) * 0.8;
      const size = Math.max(Math.hypot(...pull[i]), 1e-9);
      at[i][0] = Math.min(Math.max(at[i][0] + (pull[i][0] / size) * Math.min(size, most), 38), WIDTH - 38);
      at[i][1] = Math.min(Math.max(at[i][1] + (pull[i][1] / size) * Math.min(size, most), TOP + 30), HEIGHT - 54);
    }
  }
  return at;
}
