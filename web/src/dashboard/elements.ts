// Elements of the page. Foreign text goes in as text, never as HTML.

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

/// Changes a text only where it differs: a page that stays open for days does no work for nothing.
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/// A number with a small unit; a dash where there is none.
export function setNumber(element: HTMLElement, parts: [string, string] | null, prefix = ""): void {
  const key = parts ? `${prefix}${parts[0]} ${parts[1]}` : "-";
  if (element.dataset["shown"] === key) return;
  element.dataset["shown"] = key;
  if (!parts) {
    const dash = make("span", "", "–");
    dash.setAttribute("aria-hidden", "true");
    element.replaceChildren(dash, make("span", "visually-hidden", "unknown"));
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
