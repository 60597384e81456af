// The theme: the system's, or the one that was chosen.

import { useEffect } from 'react';
import { usePreference } from '../data/preference.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function useTheme(): Theme {
  const chosen = usePreference('theme');
  const theme = THEMES.find((each) => each === chosen) ?? 'system';
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return theme;
}
