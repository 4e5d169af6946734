/** Orders to the crawl, and the log of them. */
import { ask, mayWrite, order } from "./api.js";
import { fill, place, span } from "./words.js";

async function renew() {
  const found = await ask("orders?limit=30");
  const now = Date.now() / 1000;
  place("paused").textContent = found.trouble || (found.paused_at_s ? `Paused for ${span(now - found.paused_at_s)}.` : "");
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
    /** @type {Record<string, unknown>} */
    const told = { do: form.dataset.do, wait_s: 5 };
    if (given.has("url")) told.urls = [text("url")];
    if (given.has("pattern")) told.pattern = text("pattern");
    if (given.has("factor")) [told.factor, told.lasts_s] = [Number(text("factor")), 3600 * Number(text("hours"))];
    if (given.has("name")) [told.name, told.values] = [text("name"), [text("value")]];
    place("said").textContent = "…";
    try {
      const found = await order(told);
      place("said").textContent = `${form.dataset.do}: ${found.state}, ${found.result}`;
    } catch (error) {
      place("said").textContent = error instanceof Error ? error.message : String(error);
    }
    renew().catch(() => {});
  });
}

place("locked").hidden = mayWrite();
/** @type {HTMLFieldSetElement} */ (place("orders")).disabled = !mayWrite();
const again = () => renew().catch(() => {}).finally(() => setTimeout(again, 2000));
again();
