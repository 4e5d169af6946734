/** The sites, by importance. */
import { ask } from "./api.js";
import { count, fill, percent, place } from "./words.js";

const AGAIN_MS = 2000;

function look() {
  ask("sites?limit=200").then(
    ({ sites, pending }) => {
      place("pending").hidden = !pending;
      if (pending) setTimeout(look, AGAIN_MS);
      else fill(place("sites"), sites.map((/** @type {any} */ site) => [site.site, percent(site.importance), percent(site.of_pages), count(site.linking), count(site.known), count(site.read)]));
    },
    (error) => (place("trouble").textContent = error.message),
  );
}

look();
