// What the tool says about one difference, and the law that most verdicts follow.
import { get, type Json, type Obj, type Place, same } from './document.ts'

export type Level = 'breaking' | 'additive' | 'docs'
/** `request`: the caller writes it and the server reads it. `response`: the other way round. */
export type Direction = 'request' | 'response'
/** What happened to the set of values that are allowed; `changed`: some went and some came, or nobody can tell. */
export type Effect = 'narrowed' | 'widened' | 'changed'

export interface Finding {
	readonly level: Level
	/** The name under which docs/contract-diff.md explains it. */
	readonly rule: string
	readonly direction?: Direction
	/** For people: `response 200 data.total`. */
	readonly where: string
	/** In the newer document; in the older one for what is gone. */
	readonly pointer: string
	readonly message: string
}

export interface Change extends Finding {
	/** `GET /api/invoices`, `webhook invoice.paid`, or '' for the document as a whole. */
	readonly operation: string
	readonly operationId: string
}

/** The comparison of one operation: both documents, and what has been said and seen of it so far. */
export interface Walk {
	readonly base: Obj
	readonly head: Obj
	readonly direction: Direction
	readonly where: string
	/** Pairs of places already compared: the guard against cycles, and against saying a thing twice. */
	readonly seen: Set<string>
	readonly report: (finding: Finding) => void
}

/** Who writes may be offered more, who reads may be sent less; the reverse breaks, and so does what cannot be judged. */
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

/** Prose, examples, and the deprecation mark: semver §7 asks a minor version for a new one. */
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
