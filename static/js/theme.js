// Sets the colour theme before the first paint: the person's choice, or that of the device.
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const choice = root.dataset.theme;
    root.dataset.bsTheme = choice === "dark" || (choice !== "light" && dark.matches) ? "dark" : "light";
    document.dispatchEvent(new Event("themechange"));
  };
  dark.addEventListener("change", apply);
  document.addEventListener("themechoice", (event) => {
    root.dataset.theme = event.detail;
    apply();
  });
  apply();
})();
