// The only style sheet of the hosted pages. It stands in the page itself, and the Content-Security-Policy allows exactly this
// text by its hash, and the colour of an organization by another: a browser loads no other style, font, image or script.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sheet = readFileSync(new URL('style.css', import.meta.url), 'utf8')

/** Without the comments and the indentation, which every page would carry. */
export const style = sheet.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s+/g, ' ')

const sourceOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** The source expression that allows the style sheet, for `style-src`. */
export const styleHash = sourceOf(style)

/** What an organization's colour changes; empty for anything but `#rrggbb`. White is readable on it, in the dark too. */
export const accentStyle = (color: string): string =>
	/^#[0-9a-f]{6}$/i.test(color) ? `:root{--accent:${color};--on-accent:#fff;--hover:color-mix(in srgb,${color} 80%,#000)}` : ''

export const accentHash = (color: string): string => sourceOf(accentStyle(color))
