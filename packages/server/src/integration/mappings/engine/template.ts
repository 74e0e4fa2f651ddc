// Templates: text with paths in braces, as `{firstName} {lastName}`. `{{` and `}}` are braces.
import { InvalidPath, type Path, parsePath, readPath } from './path.ts'
import { type Budget, isAbsent, textOf } from './values.ts'

export type Template = readonly (string | Path)[]

const maxLength = 500
const part = /([^{}]|\{\{|\}\})+|\{([^{}]+)\}/y

/** Throws InvalidPath for a text that is no template. */
export function parseTemplate(text: string): Template {
	if (text.length > maxLength) throw new InvalidPath(`A template has at most ${maxLength} characters.`)
	const parts: (string | Path)[] = []
	for (let at = 0; at < text.length; at = part.lastIndex) {
		part.lastIndex = at
		const found = part.exec(text)
		if (!found) throw new InvalidPath(`The template has a brace without its other one at character ${at + 1}.`)
		parts.push(found[2] === undefined ? found[0].replaceAll('{{', '{').replaceAll('}}', '}') : parsePath(found[2]))
	}
	return parts
}

/** The text of a record; undefined when the record has none of the template's paths. */
export function fill(template: Template, record: unknown, budget: Budget): string | undefined {
	let found = false
	const parts = template.map((piece) => {
		if (typeof piece === 'string') return piece
		const value = readPath(piece, record, budget)
		if (isAbsent(value)) return ''
		found = true
		return textOf(value)
	})
	return found || template.every((piece) => typeof piece === 'string') ? parts.join('') : undefined
}
