// A difference between two contracts, and the law that most verdicts follow (README.md).
import { get, type Json, type Obj, type Place, same } from './document.ts'

export type Level = 'breaking' | 'additive' | 'docs'
/** `request`: the caller writes it and the server reads it. `response`: the other way round. */
export type Direction = 'request' | 'response'
/** What happened to the set of allowed values; `changed`: some were removed and some added, or the tool cannot tell. */
export type Effect = 'narrowed' | 'widened' | 'changed'

export interface Finding {
	readonly level: Level
	/** The rule's name in README.md. */
	readonly rule: string
	readonly direction?: Direction
	/** For people, such as `response 200 data.total`. */
	readonly where: string
	/** Into the newer document; into the older one when the element was removed. */
	readonly pointer: string
	readonly message: string
}

export interface Change extends Finding {
	/** `GET /api/invoices`, `webhook invoice.paid`, or '' for the document as a whole. */
	readonly operation: string
	readonly operationId: string
}

/** The comparison of one operation: both documents, the current place, and the places compared so far. */
export interface Walk {
	readonly base: Obj
	readonly head: Obj
	readonly direction: Direction
	readonly where: string
	/** Pairs of places already compared: guards against cycles and repeated findings. */
	readonly seen: Set<string>
	readonly report: (finding: Finding) => void
}

/** Writers may be allowed more values, readers may be sent fewer. The reverse breaks, and so does a change that is unclear. */
export function judge(direction: Direction, effect: Effect): Level {
	return effect === (direction === 'request' ? 'widened' : 'narrowed') ? 'additive' : 'breaking'
}

export function say(walk: Walk, level: Level, rule: string, pointer: string, message: string, path = ''): void {
	const where = path === '' ? walk.where : `${walk.where} ${code(path)}`
	walk.report({ level, rule, direction: walk.direction, where, pointer, message })
}

const DOCS = [
	'description',
	'summary',
	'title',
	'example',
	'examples',
	'externalDocs',
	'tags',
	'discriminator',
	'xml',
	'$comment',
]

export function isProse(keyword: string): boolean {
	return DOCS.includes(keyword)
}

/** Compares prose, examples and the deprecation mark: semver §7 requires a minor version for a new deprecation. */
export function compareNotes(walk: Walk, base: Place, head: Place, path = ''): void {
	const keys = DOCS.filter((key) => !same(get(base.node, key), get(head.node, key)))
	if (keys.length > 0) say(walk, 'docs', 'docs', head.pointer, `${keys.join(', ')} changed`, path)
	const before = get(base.node, 'deprecated') === true
	const after = get(head.node, 'deprecated') === true
	if (before !== after) {
		const message = after ? 'is deprecated now' : 'is no longer deprecated'
		say(walk, after ? 'additive' : 'docs', 'deprecated', head.pointer, message, path)
	}
}

/** A value as Markdown code, whatever it contains. */
export function code(value: string): string {
	const plain = value.replaceAll(/\s+/g, ' ')
	return plain.includes('`') ? `\`\` ${plain} \`\`` : `\`${plain}\``
}

export function show(value: Json | undefined): string {
	if (value === undefined) return 'none'
	const written = typeof value === 'string' ? value : JSON.stringify(value)
	return code(written.length > 80 ? `${written.slice(0, 79)}…` : written)
}
