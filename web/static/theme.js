// Runs before the first paint: apply the theme that the user chose, else the system's.
try {
	const light = localStorage.getItem("light");
	if (light) document.documentElement.dataset.theme = light;
} catch { /* no storage: the system's theme */ }
