// The values of a drawing, one by one: under the pointer, and by the arrow keys.
import {decimalsOf} from "./format";

interface Dot {
  x: number;
  y: number;
  text: string;
}

function numberOf(element: Element, name: string): number {
  return Number(element.getAttribute(`data-${name}`) ?? "0");
}

/// The dots of all rows, from the first run of the first row on.
function readDots(figure: HTMLElement): Dot[] {
  const [low, high] = [numberOf(figure, "low"), numberOf(figure, "high")];
  const [left, width] = [numberOf(figure, "left"), numberOf(figure, "width")];
  const unit = figure.getAttribute("data-unit") ?? "";
  // A tenth of a pixel is as fine as the drawing is.
  const decimals = decimalsOf((high - low) / width / 10);
  const dots: Dot[] = [];
  for (const path of figure.querySelectorAll("path.dots")) {
    const name = path.getAttribute("data-name") ?? "";
    const places = [...(path.getAttribute("d") ?? "").matchAll(/M(-?[\d.]+) (-?[\d.]+)h0/g)];
    const runs = numberOf(path, "runs");
    places.forEach(([, x = "0", y = "0"], i) => {
      const value = low + ((Number(x) - left) / width) * (high - low);
      // Of many runs only some are drawn.
      const run = runs === places.length ? `, run ${i + 1} of ${runs}` : "";
      dots.push({x: Number(x), y: Number(y), text: `${name}${run}: ${value.toFixed(decimals)} ${unit}`});
    });
  }
  return dots;
}

export function readOff(figure: HTMLElement): boolean {
  const drawing = figure.querySelector<SVGSVGElement>("svg.drawing");
  const dots = readDots(figure);
  if (!drawing || dots.length === 0) return false;
  const group = document.createElement("div");
  group.className = "readable";
  group.tabIndex = 0;
  group.setAttribute("role", "group");
  const name = figure.querySelector("figcaption")?.textContent ?? "";
  group.setAttribute("aria-label", `${name}: arrow keys read off values`);
  const readout = document.createElement("p");
  readout.className = "readout";
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("class", "ring");
  ring.setAttribute("r", "5");
  drawing.before(group);
  group.append(drawing, readout);

  let shown = -1;
  const show = (index: number) => {
    shown = index;
    const dot = dots[index];
    readout.textContent = dot?.text ?? "";
    if (!dot) return ring.remove();
    ring.setAttribute("cx", `${dot.x}`);
    ring.setAttribute("cy", `${dot.y}`);
    drawing.append(ring);
  };
  group.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const scale = drawing.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    let nearest = -1;
    let least = 20 ** 2;
    dots.forEach((dot, i) => {
      const distance = (dot.x - x) ** 2 + (dot.y - y) ** 2;
      if (distance < least) [nearest, least] = [i, distance];
    });
    show(nearest);
  });
  group.addEventListener("pointerleave", () => show(-1));
  group.addEventListener("keydown", (event) => {
    const last = dots.length - 1;
    const targets: Record<string, number> = {
      ArrowRight: Math.min(shown + 1, last), ArrowDown: Math.min(shown + 1, last),
      ArrowLeft: Math.max(shown - 1, 0), ArrowUp: Math.max(shown - 1, 0), Home: 0, End: last,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    show(target);
    event.preventDefault();
  });
  // Read out what the keyboard asks for, not each move of a mouse.
  group.addEventListener("focus", () => readout.setAttribute("aria-live", "polite"));
  group.addEventListener("blur", () => readout.removeAttribute("aria-live"));
  return true;
}
