// Sets the chosen theme before the first paint, so that nothing flashes.
const chosen = localStorage.getItem("kedge-theme");
if (chosen) document.documentElement.dataset.theme = chosen;
