// Before the first paint, so that nothing flashes: the theme that was chosen, if any.
const chosen = localStorage.getItem("kedge-theme");
if (chosen) document.documentElement.dataset.theme = chosen;
