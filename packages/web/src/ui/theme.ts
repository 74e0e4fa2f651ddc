export type Theme = 'system' | 'light' | 'dark'

const name = 'remit theme'
const themes: readonly Theme[] = ['system', 'light', 'dark']

export const currentTheme = (): Theme => themes.find((theme) => theme === localStorage.getItem(name)) ?? 'system'

export function applyTheme(theme = currentTheme()): void {
	localStorage.setItem(name, theme)
	if (theme === 'system') delete document.documentElement.dataset.theme
	else document.documentElement.dataset.theme = theme
}
