// A turned phone, another theme, printing: plots are drawn again for their new place.
function keepDrawn(layOut, redraw) {
  var lastWidth = document.documentElement.clientWidth;
  window.addEventListener("resize", function () {
    var width = document.documentElement.clientWidth;
    if (width === lastWidth) return;
    lastWidth = width;
    layOut();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", redraw);
  window.addEventListener("afterprint", redraw);
}
