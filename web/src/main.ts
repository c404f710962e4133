// Puts plots that can be zoomed and read off in the place of the page's drawings. Without it, or where
// it fails, the page is complete as it is.
import "uplot/dist/uPlot.min.css";

import {LivePlot} from "./plot";

const plots: LivePlot[] = [];
let isFollowing = false;

/// All plots show the same time.
function showEverywhere(from: number, to: number): void {
  if (isFollowing) return;
  isFollowing = true;
  for (const plot of plots) plot.show(from, to);
  isFollowing = false;
}

for (const figure of document.querySelectorAll<HTMLElement>("figure.power")) {
  const plot = LivePlot.replace(figure, showEverywhere);
  if (plot) plots.push(plot);
}

if (plots.length > 0) {
  const help = document.createElement("p");
  help.className = "note";
  help.textContent =
    "Point at a plot, or use the arrow keys in it, to read off values. Drag, or press plus or minus, to " +
    "zoom; double-click, or press 0, to see all again.";
  document.querySelector(".plots")?.before(help);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const plot of plots) plot.redraw();
});
document.documentElement.classList.add("has-script");
