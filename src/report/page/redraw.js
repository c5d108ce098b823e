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
  // on paper colours are those of the light theme: the marks, which have theirs as attributes, are drawn again with them
  function printing(now) {
    document.documentElement.classList.toggle("printing", now);
    redraw();
  }
  window.addEventListener("beforeprint", function () { printing(true); });
  window.addEventListener("afterprint", function () { printing(false); });
}
