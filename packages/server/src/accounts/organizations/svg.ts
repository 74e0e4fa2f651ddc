// An SVG that only draws: no script, nothing to load, nothing that grows while it is shown. What is not known to draw is refused.
import sax from 'sax'
import { fieldError } from '../../platform/base/errors.ts'
import { drawnElements, referencesOf, type SvgElement } from './svg-size.ts'

const drawing = new Set(
	[
		...['svg', 'g', 'defs', 'symbol', 'title', 'desc', 'style', 'clipPath', 'linearGradient', 'radialGradient', 'stop'],
		...['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan'],
	].map((name) => name.toLowerCase()),
)

/** Each may show as much as the whole. */
const maxUses = 12
const maxElements = 5_000
/** With those that are drawn again by `use` and clip paths. */
const maxDrawn = 20_000

const refused = (detail: string) => fieldError('invalid_logo', '/data', `The SVG ${detail}`)

export function requireSafeSvg(bytes: Uint8Array): void {
	const parser = sax.parser(true, { xmlns: false, lowercase: false })
	const root: SvgElement = { children: [], refersTo: [] }
	const open = [root]
	const byId = new Map<string, SvgElement[]>()
	let elements = 0
	let uses = 0
	/** The text of the style sheet that is being read. */
	let sheet: string | undefined
	parser.onerror = (error) => {
		throw refused(`is no XML: ${error.message.split('\n')[0]}.`)
	}
	parser.ondoctype = () => {
		throw refused('has a DOCTYPE; save it without one.')
	}
	parser.onprocessinginstruction = ({ name }) => {
		if (name !== 'xml') throw refused(`has the instruction <?${name}?>.`)
	}
	parser.onopentag = ({ name, attributes }) => {
		const element = name.toLowerCase()
		if (sheet !== undefined) throw refused(`has <${name}> within <style>.`)
		if (element === 'use') uses++
		else if (!drawing.has(element)) throw refused(`has the element <${name}>; export it as plain SVG with shapes only.`)
		if (++elements > maxElements || uses > maxUses)
			throw refused(`has more than ${maxElements} elements, or ${maxUses} of <use>.`)
		if (element === 'style') sheet = ''
		const read = { children: [], refersTo: checkAttributes(element, attributes) }
		open.at(-1)?.children.push(read)
		open.push(read)
		const id = attributes.id ?? attributes['xml:id']
		if (id !== undefined) byId.set(String(id).trim(), [...(byId.get(String(id).trim()) ?? []), read])
	}
	parser.onclosetag = () => {
		open.pop()
		// Checked as a whole: comments and CDATA divide it into pieces.
		if (sheet !== undefined) checkSheet(sheet)
		sheet = undefined
	}
	const readText = (text: string) => {
		if (sheet !== undefined) sheet += text
	}
	parser.ontext = readText
	parser.oncdata = readText
	parser.write(decoded(bytes)).close()
	if (drawnElements(root, byId) > maxDrawn) throw refused(`draws more than ${maxDrawn} shapes with its <use> and clip paths.`)
}

function decoded(bytes: Uint8Array): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
	} catch {
		throw refused('is not in UTF-8.')
	}
}

/** Returns the ids of what the element refers to for more to be drawn. */
function checkAttributes(element: string, attributes: Record<string, unknown>): string[] {
	return Object.entries(attributes).flatMap(([key, content]) => {
		const [name, value] = [key.toLowerCase(), String(content)]
		checkAttribute(name, value)
		const ids = referencesOf(element, name, value)
		if (!ids) throw refused(`has a ${name} that is no plain reference: ${value.slice(0, 80)}`)
		return ids
	})
}

function checkAttribute(name: string, value: string): void {
	if (name.startsWith('on')) throw refused(`has the event handler ${name}.`)
	if ((name === 'href' || name.endsWith(':href')) && !value.trim().startsWith('#'))
		throw refused('refers to something outside of it.')
	if (name === 'xml:base') throw refused('has an xml:base.')
	if (costly.test(name)) throw refused(`has a ${name}, which is slow to draw; export it without effects.`)
	if (name === 'style') checkDeclarations(value)
	if (!name.startsWith('xmlns')) checkStyle(value)
}

/** Blurs and masks take seconds to draw. */
const costly = /^(?:-webkit-)?(?:filter|backdrop-filter|mask.*)$/

function checkSheet(text: string): void {
	checkStyle(text)
	checkDeclarations(text)
	// It could clip all elements, those of clip paths too.
	if (/clip-path/i.test(text)) throw refused('has clip-path in <style>; export it with attributes in place of a style sheet.')
}

/** What is costly, and what would bring it, or a reference, from elsewhere. */
function checkDeclarations(text: string): void {
	if (/filter|mask/i.test(text)) throw refused('has a style with filter or mask, which are slow to draw; export it without.')
	if (/\bvar\s*\(|\ball\s*(?::|\/\*)/i.test(text)) throw refused('has a style with var() or all.')
}

/** CSS can hide a function's name behind escapes. */
function checkStyle(text: string): void {
	if (/\\|@|expression\s*\(|javascript:/i.test(text)) throw refused('has a style with @, \\ or a script.')
	if (/(?:url|image|image-set|src)\s*\(\s*(?!["']?\s*#)/i.test(text)) throw refused('refers to something outside of it.')
}
