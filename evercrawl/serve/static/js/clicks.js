/** Tells the server that the results were seen for a second, and which were opened; the links are the pages' own. */
const SEEN_MS = 1000;

/** @param {string} path @param {Record<string, string | undefined>} body */
const tell = (path, body) => navigator.sendBeacon(`/api/v1/${path}`, JSON.stringify(body));

const list = /** @type {HTMLElement | null} */ (document.querySelector("[data-retrieval]"));
const retrieval = list?.dataset.retrieval;
if (retrieval) {
  let timer = 0;
  const watch = () => {
    clearTimeout(timer);
    if (document.visibilityState !== "visible") return;
    timer = setTimeout(() => {
      document.removeEventListener("visibilitychange", watch);
      tell("retrievals", { ticket: retrieval });
    }, SEEN_MS);
  };
  document.addEventListener("visibilitychange", watch);
  watch();
}

for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-ticket]"))) {
  link.href = link.dataset.url ?? link.href;
  const opened = () => tell("clicks", retrieval ? { ticket: link.dataset.ticket, retrieval } : { ticket: link.dataset.ticket });
  link.addEventListener("click", opened);
  link.addEventListener("auxclick", (event) => {
    if (event.button === 1) opened();
  });
}
