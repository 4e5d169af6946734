/** "Check now": one conditional request through the running crawl, and what it found. */
import { mayWrite, order } from "./api.js";

for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-check]"))) {
  button.hidden = !mayWrite() || !button.dataset.check;
  button.addEventListener("click", async () => {
    const said = document.createElement("output");
    said.className = "quiet";
    button.replaceWith(said);
    said.textContent = "checking …";
    try {
      const found = await order({ do: "check", urls: [button.dataset.check ?? ""], wait_s: 20 });
      said.textContent = `${found.state}: ${found.result}`;
    } catch (error) {
      said.textContent = error instanceof Error ? error.message : String(error);
    }
  });
}
