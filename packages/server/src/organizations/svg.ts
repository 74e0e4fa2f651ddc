// An SVG that only draws: no script, nothing to load, nothing that grows while it is shown. What is not known to draw is refused.
import sax from 'sax'
import { fieldError } from '../base/errors.ts'

const drawing = new Set(
	[
		...['svg', 'g', 'defs', 'symbol', 'title', 'desc', 'style', 'clipPath', 'linearGradient', 'radialGradient', 'stop'],
		...['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan'],
	].map((name) => name.toLowerCase()),
)

/** A `use` may show another `use`, so that a few of them would show millions of shapes. */
const maxUses = 12
const maxElements = 5_000

const refused = (detail: string) => fieldError('invalid_logo', '/data', `The SVG ${detail}`)

export function requireSafeSvg(bytes: Uint8Array): void {
	const parser = sax.parser(true, { xmlns: false, lowercase: false })
	let elements = 0
	let uses = 0
	let inStyle = false
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
		if (element === 'use') uses++
		else if (!drawing.has(element)) throw refused(`has the element <${name}>; export it as plain SVG with shapes only.`)
		if (++elements > maxElements || uses > maxUses)
			throw refused(`has more than ${maxElements} elements, or ${maxUses} of <use>.`)
		inStyle = element === 'style'
		for (const [attribute, value] of Object.entries(attributes)) checkAttribute(attribute.toLowerCase(), String(value))
	}
	parser.onclosetag = () => {
		inStyle = false
	}
	const checkText = (text: string) => {
		if (inStyle) checkStyle(text)
	}
	parser.ontext = checkText
	parser.oncdata = checkText
	parser.write(decoded(bytes)).close()
}

function decoded(bytes: Uint8Array): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
	} catch {
		throw refused('is not in UTF-8.')
	}
}

function checkAttribute(name: string, value: string): void {
	if (name.startsWith('on')) throw refused(`has the event handler ${name}.`)
	if ((name === 'href' || name.endsWith(':href')) && !value.trim().startsWith('#'))
		throw refused('refers to something outside of it.')
	if (name === 'xml:base') throw refused('has an xml:base.')
	if (!name.startsWith('xmlns')) checkStyle(value)
}

/** CSS can hide a function's name behind escapes. */
function checkStyle(text: string): void {
	if (/\\|@|expression\s*\(|javascript:/i.test(text)) throw refused('has a style with @, \\ or a script.')
	if (/(?:url|image|image-set|src)\s*\(\s*(?!["']?\s*#)/i.test(text)) throw refused('refers to something outside of it.')
}
