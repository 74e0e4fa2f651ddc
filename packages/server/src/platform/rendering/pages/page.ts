// The frame of all hosted pages: HTML and one style sheet, without scripts. In ghtml's templates `${}` is escaped and `!${}` is
// not: use `!${}` only for HTML that another template made.
import { html } from 'ghtml'
import type { Language } from '../../../generated/contract.ts'
import { accentStyle, style } from './style.ts'

export interface Page {
	readonly language: Language
	readonly title: string
	/** `#rrggbb`; null: Remit's. */
	readonly accent?: string | null
	/** HTML. */
	readonly main: string
}

/** The whole HTML document. */
export function page({ language, title, accent = null, main }: Page): string {
	return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>!${style}</style>!${accent ? html`<style>!${accentStyle(accent)}</style>` : ''}
</head>
<body>
!${main}
</body>
</html>
`
}

/** A button that posts an empty form: the server knows the amount, and must not take it from the browser. */
export function postButton(url: string, label: string): string {
	return html`<form method="post" action="${url}"><button class="button primary">${label}</button></form>`
}
