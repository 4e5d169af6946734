/** Numbers and times as people read them. */
const NUMBER = new Intl.NumberFormat("en");

/** @param {number} value */
export const count = (value) => NUMBER.format(value);

/** @param {number | null} share */
export const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(share > 0.995 || share < 0.1 ? 1 : 0)} %`);

/** @param {number} value */
export function bytes(value) {
  for (const [size, unit] of /** @type {[number, string][]} */ ([[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])) {
    if (value >= size) return `${+(value / size).toPrecision(3)} ${unit}`;
  }
  return `${Math.round(value)} B`;
}

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
          if (typeof cell === "string" && /^(first|–|[\d,]+(\.\d+)?( %)?)$/.test(cell)) made.className = "number";
          made.append(cell);
          return made;
        }),
      );
      return row;
    }),
  );
}

/**
 * A link to what is known of a page.
 * @param {string} url
 * @param {string} [text]
 */
export function link(url, text = url) {
  const made = document.createElement("a");
  made.href = `/page?url=${encodeURIComponent(url)}`;
  made.textContent = text;
  return made;
}

/** @param {string} id */
export const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Show figures with their names.
 * @param {HTMLElement} list
 * @param {[string, string][]} named
 */
export function figures(list, named) {
  list.replaceChildren(
    ...named.map(([name, value]) => {
      const box = document.createElement("div");
      const term = document.createElement("dt");
      const text = document.createElement("dd");
      term.textContent = name;
      text.textContent = value;
      box.append(term, text);
      return box;
    }),
  );
}

const TAGS = { came: "ins", went: "del", same: "span" };

/**
 * Words that went and came.
 * @param {{pieces: ["same" | "went" | "came", string][], cut: boolean}} found
 */
export function diff(found) {
  const made = document.createElement("p");
  made.className = "diff";
  for (const [what, words] of found.pieces) {
    const part = document.createElement(TAGS[what]);
    part.textContent = words;
    made.append(part, " ");
  }
  if (found.cut) made.append("…");
  return made;
}
