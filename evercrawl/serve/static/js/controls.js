/** Orders to the crawl, and the log of them. */
import { ask, mayWrite, order } from "./api.js";
import { fill, place, span } from "./words.js";

let held = "";

/** Rules and boosts, each with how to lift it. @param {any} found */
function holding(found) {
  const now_held = JSON.stringify([found.rules, found.boosts]);
  if (now_held === held) return;  // whoever is about to press a button keeps it
  held = now_held;
  const rules = found.rules.flatMap((/** @type {any} */ each) => {
    const since = `since ${span(Date.now() / 1000 - each.since_s)}`;
    const kind = /^(exclude|include) = /.exec(each.rule)?.[1] ?? "";
    const patterns = kind ? [...each.rule.matchAll(/'([^']*)'|"([^"]*)"/g)].map((match) => (match[1] ?? match[2]).replaceAll("\\\\", "\\")) : [""];
    return patterns.map((pattern) => ({ said: `${kind ? `${kind} ${pattern}` : each.rule}, ${since}`, kind, pattern }));
  });
  const boosts = found.boosts.map((/** @type {any} */ each) => ({ said: `boost ${each.pattern} ${each.factor} times${each.until_s ? `, for ${span(each.until_s - Date.now() / 1000)} more` : ""}`, kind: "boost", pattern: each.pattern }));
  const all = [...rules, ...boosts];
  place("holding").replaceChildren(
    ...(all.length ? all : [{ said: "No rule and no boost.", kind: "", pattern: "" }]).map((each) => {
      const item = document.createElement("li");
      item.append(`${each.said} `);
      if (mayWrite() && ["exclude", "include", "boost"].includes(each.kind)) {
        const lift = document.createElement("button");
        lift.textContent = "Lift";
        lift.setAttribute("aria-label", `Lift ${each.kind} ${each.pattern}`);
        lift.addEventListener("click", () => give({ do: each.kind, pattern: each.pattern, lift: true, wait_s: 5 }));
        item.append(lift);
      }
      return item;
    }),
  );
}

/** @param {import("../api.js").Tellings["orders"]} told */
async function give(told) {
  place("said").textContent = "…";
  try {
    const found = await order(told);
    place("said").textContent = `${told.do}: ${found.state}, ${found.result}`;
  } catch (error) {
    place("said").textContent = error instanceof Error ? error.message : String(error);
  }
  renew().catch(() => {});
}

async function renew() {
  const found = await ask("orders?limit=30");
  const now = Date.now() / 1000;
  place("paused").textContent = found.trouble || (found.paused_at_s ? `Paused for ${span(now - found.paused_at_s)}.` : "");
  holding(found);
  place("none").hidden = found.orders.length > 0;
  fill(
    place("log"),
    found.orders.map((/** @type {any} */ each) => [`${span(now - each.at_s)} ago`, each.by, `${each.do} ${each.what}`, each.state, each.result]),
  );
}

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll("form[data-do]"))) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const text = (/** @type {string} */ name) => String(given.get(name) ?? "");
    /** @type {import("../api.js").Tellings["orders"]} */
    const told = { do: form.dataset.do ?? "", wait_s: 5 };
    if (given.has("url")) told.urls = [text("url")];
    if (given.has("what")) [told.what, told.wait_s] = [[text("what")], 30];
    if (given.has("pattern")) told.pattern = text("pattern");
    if (given.has("factor")) [told.factor, told.lasts_s] = [Number(text("factor")), 3600 * Number(text("hours"))];
    if (given.has("name")) [told.name, told.values] = [text("name"), [text("value")]];
    await give(told);
  });
}

place("locked").hidden = mayWrite();
/** @type {HTMLFieldSetElement} */ (place("orders")).disabled = !mayWrite();
const again = () => renew().catch(() => {}).finally(() => setTimeout(again, 2000));
again();
