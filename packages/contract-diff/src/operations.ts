// Compares whole documents: operations by method and path, webhooks by event.
import { compareHeaders, compareRequestBody, compareResponses } from './bodies.ts'
import { type Change, compareNotes, type Finding, say, show, type Walk } from './change.ts'
import { child, entries, follow, get, isObject, type Obj, type Place, same, text } from './document.ts'
import { compareParameters, parametersOf } from './parameters.ts'
import { compareSecurity } from './security.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

interface Operation {
	readonly place: Place
	/** The path item, which may hold parameters for all its methods. */
	readonly item: Place
}

function operationsOf(doc: Obj, section: 'paths' | 'webhooks'): Map<string, Operation> {
	const items = entries(child({ node: doc, pointer: '#' }, section))
	const found = items.flatMap(([name, reference]) => {
		const item = follow(doc, reference)
		return entries(item)
			.filter(([method]) => METHODS.includes(method))
			.map(([method, place]): [string, Operation] => [nameOf(section, method, name), { place, item }])
	})
	return new Map(found)
}

function nameOf(section: string, method: string, name: string): string {
	if (section === 'paths') return `${method.toUpperCase()} ${name}`
	return method === 'post' ? `webhook ${name}` : `webhook ${name} ${method.toUpperCase()}`
}

/** Every difference, each once for its place: paths before webhooks, and in each of them the removed operations first. */
export function compareDocuments(base: Obj, head: Obj): Change[] {
	const changes = new Map<string, Change>()
	const walkFor = (operation: string, operationId: string): Walk => {
		const report = (finding: Finding) => {
			const key = [operation, finding.direction, finding.rule, finding.pointer, finding.message].join('\n')
			if (!changes.has(key)) changes.set(key, { ...finding, operation, operationId })
		}
		return { base, head, direction: 'request', where: 'operation', seen: new Set(), report }
	}
	compareDocumentFields({ ...walkFor('', ''), where: 'document' })
	for (const section of ['paths', 'webhooks'] as const) {
		const [before, after] = [operationsOf(base, section), operationsOf(head, section)]
		for (const [name, operation] of before) {
			if (!after.has(name))
				say(walkFor(name, idOf(operation)), 'breaking', 'operation-removed', operation.place.pointer, 'removed')
		}
		for (const [name, operation] of after) {
			const walk = walkFor(name, idOf(operation))
			const earlier = before.get(name)
			if (!earlier) say(walk, 'additive', 'operation-added', operation.place.pointer, 'added')
			else if (section === 'paths') compareOperation(walk, earlier, operation)
			else compareWebhook(walk, earlier, operation)
		}
	}
	return [...changes.values()]
}

function idOf(operation: Operation): string {
	return text(get(operation.place.node, 'operationId')) ?? ''
}

function compareDocumentFields(walk: Walk): void {
	const info = (doc: Obj): Obj => {
		const node = doc.info
		return isObject(node) ? { ...node, version: '' } : {}
	}
	const changed = ['tags', 'servers', 'externalDocs'].filter((key) => !same(get(walk.base, key), get(walk.head, key)))
	if (!same(info(walk.base), info(walk.head))) changed.unshift('info')
	if (changed.length > 0) say(walk, 'docs', 'docs', '#', `${changed.join(', ')} changed`)
}

function compareCommon(walk: Walk, base: Operation, head: Operation): void {
	if (idOf(base) !== idOf(head)) {
		say(walk, 'breaking', 'operation-id', head.place.pointer, `operationId ${show(idOf(base))} → ${show(idOf(head))}`)
	}
	compareNotes(walk, base.place, head.place)
}

function compareOperation(walk: Walk, base: Operation, head: Operation): void {
	compareCommon(walk, base, head)
	compareSecurity(walk, base.place, head.place)
	compareParameters(walk, parametersOf(walk.base, base.item, base.place), parametersOf(walk.head, head.item, head.place))
	compareRequestBody({ ...walk, where: 'request body' }, child(base.place, 'requestBody'), child(head.place, 'requestBody'))
	compareResponses({ ...walk, direction: 'response' }, child(base.place, 'responses'), child(head.place, 'responses'))
}

/** The server sends a webhook: customers read its body and headers as they read a response. */
function compareWebhook(walk: Walk, base: Operation, head: Operation): void {
	const payload: Walk = { ...walk, direction: 'response', where: 'payload' }
	compareCommon(walk, base, head)
	compareHeaders(payload, parametersOf(walk.base, base.item, base.place), parametersOf(walk.head, head.item, head.place))
	compareRequestBody(payload, child(base.place, 'requestBody'), child(head.place, 'requestBody'))
}
