/** Light or dark, as the host has it: JupyterLab's own mark on the page where there is one, else the system's setting. */
import { palettes, type Theme } from '../draw/theme.ts';

/** Calls back now and whenever the theme changes; returns what stops it. */
export function followTheme(changed: (theme: Theme) => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const now = (): Theme => {
    const mark = document.body.dataset.jpThemeLight;
    return mark === undefined ? (system.matches ? 'dark' : 'light') : mark === 'false' ? 'dark' : 'light';
  };
  let last: Theme | null = null;
  const tell = (): void => {
    const theme = now();
    if (theme !== last) {
      last = theme;
      changed(theme);
    }
  };
  const observer = new MutationObserver(tell);
  observer.observe(document.body, { attributes: true, attributeFilter: ['data-jp-theme-light'] });
  system.addEventListener('change', tell);
  tell();
  return () => {
    observer.disconnect();
    system.removeEventListener('change', tell);
  };
}

/** Gives an element the colours of a theme, for what the style sheet says of it. */
export function dress(root: HTMLElement, theme: Theme): void {
  root.dataset.theme = theme;
  for (const [role, colour] of Object.entries(palettes[theme])) {
    root.style.setProperty(`--jv-${role}`, colour);
  }
}
