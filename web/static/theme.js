// Runs before anything is drawn: the light that the reader chose, else the one that the system asks for.
try {
	const light = localStorage.getItem("light");
	if (light) document.documentElement.dataset.theme = light;
} catch { /* no storage: the system's light */ }
