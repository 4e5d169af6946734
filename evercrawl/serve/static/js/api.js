/** Asks the server; the token of the link is kept for the tab alone. */
const KEY = "evercrawl-token";

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.search);
}

/** @returns {Record<string, string>} */
export function credentials() {
  const token = sessionStorage.getItem(KEY);
  return token ? { authorization: `Bearer ${token}` } : {};
}

/**
 * Ask for one resource.
 * @param {string} path after /api/v1/
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
export async function ask(path, options = {}) {
  const answer = await fetch(`/api/v1/${path}`, { ...options, headers: { ...credentials(), ...options.headers } });
  const body = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(body.detail || answer.statusText), { status: answer.status });
  return body;
}

/** @returns {boolean} whether this tab may change the crawl */
export const mayWrite = () => sessionStorage.getItem(KEY) !== null;

/**
 * Give an order, and return what became of it.
 * @param {import("../api.js").Tellings["orders"]} order
 * @returns {Promise<{state: string, result: string}>}
 */
export const order = (order) => ask("orders", { method: "POST", body: JSON.stringify(order) });

/**
 * Listen to what is new, for as long as the page is open; a stream that breaks is begun again.
 * @param {(state: any) => void} told
 * @param {(trouble: string) => void} broken
 */
export async function listen(told, broken) {
  let last = "";
  for (let wait = 500; ; wait = Math.min(wait * 2, 15000)) {
    try {
      const answer = await fetch("/api/v1/events", { headers: { ...credentials(), ...(last ? { "last-event-id": last } : {}) } });
      if (!answer.ok || !answer.body) throw new Error((await answer.json()).detail);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop() ?? "";
        for (const part of parts) {
          for (const line of part.split("\n")) {
            if (line.startsWith("id: ")) last = line.slice(4);
            if (line.startsWith("data: ")) told(JSON.parse(line.slice(6)));
          }
        }
        wait = 500;
      }
    } catch (error) {
      broken(error instanceof Error ? error.message : String(error));
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
