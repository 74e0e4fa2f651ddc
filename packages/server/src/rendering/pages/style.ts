// The only style sheet of the hosted pages. It stands in the page itself, and the Content-Security-Policy allows exactly this
// text by its hash: a browser loads no other style, font, image or script.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const sheet = readFileSync(new URL('style.css', import.meta.url), 'utf8')

/** Without the comments and the indentation, which every page would carry. */
export const style = sheet.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s+/g, ' ')

/** The source expression that allows the style sheet, for `style-src`. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
