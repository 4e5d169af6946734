/** The hosts that are left alone, renewed every second. */
import { ask } from "./api.js";
import { fill, place, span } from "./words.js";

async function renew() {
  try {
    const { hosts } = await ask("waits");
    const now = Date.now() / 1000;
    fill(place("waits"), hosts.map((/** @type {any} */ host) => [host.host, host.why, host.until_s === undefined ? "robots.txt can be had" : `in ${span(host.until_s - now)}`]));
    place("none").hidden = hosts.length > 0;
    place("trouble").textContent = "";
  } catch (error) {
    place("trouble").textContent = error instanceof Error ? error.message : String(error);
  }
  setTimeout(renew, 1000);
}
renew();
