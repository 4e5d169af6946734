/** Elements of drawings. */
const NS = "http://www.w3.org/2000/svg";

/**
 * @param {string} name
 * @param {Record<string, string | number>} [attributes]
 * @param {(Node | string)[]} children
 */
export function made(name, attributes = {}, ...children) {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, typeof value === "number" ? String(+value.toFixed(3)) : value);
  element.append(...children);
  return element;
}
