export type Theme = 'system' | 'light' | 'dark'

const name = 'remit theme'
const themes: readonly Theme[] = ['system', 'light', 'dark']

export const currentTheme = (): Theme => themes.find((theme) => theme === localStorage.getItem(name)) ?? 'system'

/** That which is chosen stays for this browser. */
export function applyTheme(chosen?: Theme): void {
	if (chosen) localStorage.setItem(name, chosen)
	const theme = chosen ?? currentTheme()
	if (theme === 'system') delete document.documentElement.dataset.theme
	else document.documentElement.dataset.theme = theme
}
