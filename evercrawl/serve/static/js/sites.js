/** The sites, by importance. */
import { ask } from "./api.js";
import { count, fill, percent, place } from "./words.js";

ask("sites?limit=200").then(
  ({ sites }) => fill(place("sites"), sites.map((/** @type {any} */ site) => [site.site, percent(site.importance), percent(site.of_pages), count(site.linking), count(site.known), count(site.read)])),
  (error) => (place("trouble").textContent = error.message),
);
