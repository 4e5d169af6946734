/** Numbers and times as people read them. */
const NUMBER = new Intl.NumberFormat("en");

/** @param {number} value */
export const count = (value) => NUMBER.format(value);

/** @param {number | null} share */
export const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`);

/** @param {number} seconds */
export function span(seconds) {
  const of = Math.abs(seconds);
  for (const [size, unit] of /** @type {[number, string][]} */ ([[86400, "d"], [3600, "h"], [60, "min"]])) {
    if (of >= 2 * size) return `${Math.round(of / size)} ${unit}`;
  }
  return `${Math.round(of)} s`;
}

/**
 * Fill a table with rows of cells; a cell is a text or a node.
 * @param {HTMLElement} body
 * @param {(string | Node)[][]} rows
 */
export function fill(body, rows) {
  body.replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(
        ...cells.map((cell) => {
          const made = document.createElement("td");
          made.append(cell);
          return made;
        }),
      );
      return row;
    }),
  );
}

/** @param {string} url */
export function link(url) {
  const made = document.createElement("a");
  made.href = `/page?url=${encodeURIComponent(url)}`;
  made.textContent = url;
  return made;
}
