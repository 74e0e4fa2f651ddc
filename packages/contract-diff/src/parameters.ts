// Compares the parameters of path, query, header and cookie.
import { compareContent, compareSerialization, pairs } from './bodies.ts'
import { code, compareNotes, judge, say, type Walk } from './change.ts'
import { child, entries, follow, get, type Obj, type Place, text } from './document.ts'
import { compareSchemas } from './schemas.ts'

/** The parameters by location and name, as `query limit`; an operation's own win over its path's. Header names ignore case. */
export function parametersOf(doc: Obj, item: Place, operation: Place): Map<string, Place> {
	const all = [item, operation].flatMap((owner) => entries(child(owner, 'parameters')))
	return new Map(
		all.map(([, place]) => {
			const parameter = follow(doc, place)
			const location = text(get(parameter.node, 'in')) ?? ''
			const name = text(get(parameter.node, 'name')) ?? ''
			return [`${location} ${location === 'header' ? name.toLowerCase() : name}`, parameter]
		}),
	)
}

export function compareParameters(walk: Walk, base: Map<string, Place>, head: Map<string, Place>): void {
	for (const [key, { base: before, head: after }] of pairs(base, head)) {
		const [location = '', ...name] = key.split(' ')
		const here = { ...walk, where: `${location} parameter ${code(name.join(' '))}` }
		if (before && after) compareParameter(here, before, after, location)
		else if (before) say(here, 'breaking', 'parameter-removed', before.pointer, 'parameter removed')
		else if (after) {
			const needed = get(after.node, 'required') === true
			say(
				here,
				needed ? 'breaking' : 'additive',
				'parameter-added',
				after.pointer,
				`${needed ? 'required' : 'optional'} parameter added`,
			)
		}
	}
}

function compareParameter(walk: Walk, before: Place, after: Place, location: string): void {
	const [was, is] = [get(before.node, 'required') === true, get(after.node, 'required') === true]
	if (was !== is) {
		const level = judge('request', is ? 'narrowed' : 'widened')
		say(walk, level, 'parameter-required', after.pointer, is ? 'is required now' : 'is optional now')
	}
	compareNotes(walk, before, after)
	compareSerialization(walk, before, after, location)
	compareLeniency(walk, before, after)
	compareContent(walk, before, after)
	compareSchemas(walk, child(before, 'schema'), child(after, 'schema'), '')
}

/** A reader decodes a reserved character and its percent-encoding to the same value; an empty value is one that was not allowed before. */
function compareLeniency(walk: Walk, before: Place, after: Place): void {
	const says = (place: Place, keyword: string) => get(place.node, keyword) === true
	if (says(before, 'allowReserved') !== says(after, 'allowReserved'))
		say(walk, 'docs', 'docs', after.pointer, '`allowReserved` changed')
	const [was, is] = [says(before, 'allowEmptyValue'), says(after, 'allowEmptyValue')]
	if (was === is) return
	const effect = is ? 'widened' : 'narrowed'
	say(walk, judge('request', effect), `empty-value-${effect}`, after.pointer, is ? 'may be empty now' : 'may no longer be empty')
}
