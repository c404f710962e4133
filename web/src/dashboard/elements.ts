// Elements of the page. Foreign text goes in as text, never as HTML.
import {kUnknownCell, kUnknownWord} from "../format";

export function byId<E extends HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, className = "", text = "",
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/// Changes a text only where it differs: a page that stays open for days does no work for nothing. A node that changes
/// costs the browser less than a new one.
export function setText(element: Element, text: string): void {
  const node = element.firstChild;
  if (text === "" || !(node instanceof Text) || node.nextSibling !== null) {
    if (element.textContent !== text) element.textContent = text;
  } else if (node.data !== text) {
    node.data = text;
  }
}

/// A number with a small unit; a dash where there is none.
export function setNumber(element: HTMLElement, parts: [string, string] | null, prefix = ""): void {
  const key = parts ? `${prefix}${parts[0]} ${parts[1]}` : kUnknownCell;
  if (element.dataset["shown"] === key) return;
  element.dataset["shown"] = key;
  if (!parts) {
    const dash = make("span", "", kUnknownCell);
    dash.setAttribute("aria-hidden", "true");
    element.replaceChildren(dash, make("span", "visually-hidden", kUnknownWord));
    return;
  }
  const [number, unit] = [element.firstChild, element.lastChild];
  if (prefix === "" && number instanceof Text && number.nextSibling === unit && unit instanceof HTMLElement) {
    number.data = parts[0];
    setText(unit, ` ${parts[1]}`);
    return;
  }
  element.replaceChildren(...(prefix ? [make("span", "prefix", prefix)] : []), parts[0], make("span", "unit", ` ${parts[1]}`));
}

/// As many children as `items`, each made once and shown with `show`.
export function showList<T>(
  place: HTMLElement, items: readonly T[], makeOne: () => HTMLElement, show: (element: HTMLElement, item: T, index: number) => void,
): void {
  while (place.children.length > items.length) place.lastChild!.remove();
  items.forEach((item, i) => show((place.children[i] ?? place.appendChild(makeOne())) as HTMLElement, item, i));
}
