// Puts plots that can be zoomed and read off in the place of the page's drawings. Without it, or where
// it fails, the page is complete as it is.
import "uplot/dist/uPlot.min.css";

import {readOff} from "./dots";
import {LivePlot} from "./plot";

const plots: LivePlot[] = [];

/// Plots of one group show the same time.
function replaceGroup(group: HTMLElement, key: string): void {
  const members: LivePlot[] = [];
  let isFollowing = false;
  const showEverywhere = (from: number, to: number): void => {
    if (isFollowing) return;
    isFollowing = true;
    for (const plot of members) plot.show(from, to);
    isFollowing = false;
  };
  for (const figure of group.querySelectorAll<HTMLElement>("figure.power")) {
    const plot = LivePlot.replace(figure, key, showEverywhere);
    if (plot) members.push(plot);
  }
  plots.push(...members);
}

const groups = [...document.querySelectorAll<HTMLElement>(".plots")].filter(
  (group) => group.querySelector("figure.power") !== null,
);
groups.forEach((group, i) => replaceGroup(group, `power-${i}`));

/// How to use what the script made, above it.
function addHelp(place: Element | null | undefined, text: string): void {
  const help = document.createElement("p");
  help.className = "note";
  help.textContent = text;
  place?.before(help);
}

if (plots.length > 0) {
  addHelp(
    groups[0],
    "Point at a plot, or use the arrow keys in it, to read off values. Drag, or press plus or minus, to " +
      "zoom; double-click, or press 0, to see all again.",
  );
}
const dotted = [...document.querySelectorAll<HTMLElement>("figure.values")].filter(readOff);
addHelp(dotted[0]?.closest(".plots"), "Point at a dot, or use the arrow keys in a plot, to read off a value.");

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const plot of plots) plot.redraw();
});
document.documentElement.classList.add("has-script");
