export type Theme = "system" | "light" | "dark";

const THEME_ENTRY = "antiphon.theme";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

/** The theme that was chosen in this browser. */
export function storedTheme(): Theme {
  const stored = localStorage.getItem(THEME_ENTRY);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

/** Shows the page in this theme. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
}

/** Shows the page in this theme, now and later. */
export function chooseTheme(theme: Theme): void {
  localStorage.setItem(THEME_ENTRY, theme);
  applyTheme(theme);
}
