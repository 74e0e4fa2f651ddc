// Writes the SDK's table of contents: a class per resource, a method per operation, all prose from the contract. A method
// is one line of data for packages/sdk/src/transport.ts; how it is sent stands there.
import type { OpenApiDocument } from './openapi.ts'
import { changeDocs, methodDocs } from './sdk-docs.ts'
import { describeMethod, type Method, pascal } from './sdk-methods.ts'

export interface Resource {
	/** `['invoices', 'clientLink']` for `remit.invoices.clientLink`. */
	path: string[]
	methods: Method[]
	children: Resource[]
}

/** The root, which has no methods, and every resource after the one that holds it. */
export function resourcesOf(document: OpenApiDocument): Resource[] {
	const root: Resource = { path: [], methods: [], children: [] }
	for (const [path, operations] of Object.entries(document.paths)) {
		for (const [verb, operation] of Object.entries(operations)) {
			if (operation['x-alias-of']) continue
			const names = operation.operationId.split('.').slice(0, -1)
			names.reduce(child, root).methods.push(describeMethod(document, verb.toUpperCase(), path, operation))
		}
	}
	return [root, ...descendants(root)]
}

export function writeResources(document: OpenApiDocument, banner: string): string {
	const resources = resourcesOf(document)
	const methods = resources.flatMap((resource) => resource.methods)
	return `// ${banner}\n${[imports(methods), models(document), ...resources.map(resourceClass)].join('\n\n')}\n`
}

function child(parent: Resource, name: string): Resource {
	const found = parent.children.find((resource) => resource.path.at(-1) === name)
	if (found) return found
	const added: Resource = { path: [...parent.path, name], methods: [], children: [] }
	parent.children.push(added)
	return added
}

const descendants = (resource: Resource): Resource[] => resource.children.flatMap((next) => [next, ...descendants(next)])

// ── Reading an operation of the contract ─────────────────────────────────────────────────────────────────────────────

function methodText(method: Method): string {
	const { operation, verb, path, ids, body, query, queryInOptions, narrowed, options, isConditionalRead, repeat, answer } = method
	const names = ids.map(({ name }) => name)
	const hasQuery = query && queryInOptions.length === 0
	const parameters = (ofQuery: string) =>
		[
			...names.map((name) => `${name}: string`),
			...(body ? [`body${body.required ? '' : '?'}: ${body.model}`] : []),
			...(hasQuery ? [ofQuery] : []),
			`options?: ${options.join(' & ')}`,
		].join(', ')
	const call = [
		...(ids.length > 0 ? [`path: { ${names.join(', ')} }`] : []),
		...(hasQuery ? ['query'] : []),
		...(queryInOptions.length > 0 ? [`query: { ${queryInOptions.map((name) => `${name}: options?.${name}`).join(', ')} }`] : []),
		...(body ? ['body'] : []),
		'options',
		...(repeat ? [`repeat: '${repeat}'`] : []),
		...(answer.pageSize ? [`pageSize: ${answer.pageSize}`] : []),
	]
	const target = [...(answer.kind === 'page' ? [] : [verb]), path, ...(answer.file ? [answer.file] : [])]
	const name = operation.operationId.split('.').at(-1)
	const general = `${name}(${parameters(`query?: ${query}`)}): ${answer.type}`
	const unchanged = general
		.replace(`options?: ${options.join(' & ')}`, `options: ${[...options, 'IfNoneMatch'].join(' & ')}`)
		.replace(/>$/, ' | undefined>')
	const overloads = [
		...narrowed.map(({ query, type }) => `${name}(${parameters(query)}): ${type}`),
		...(isConditionalRead ? [unchanged] : []),
	]
	const declared = overloads.length > 0 ? [...overloads, general].map((text) => `\n\t${text}`).join('') : ''
	return `${methodDocs(method)}${declared}
	${general} {
		return this.#transport.${answer.kind}(${target.map((text) => `'${text}'`).join(', ')}, { ${call.join(', ')} })
	}`
}

// ── Writing the file ─────────────────────────────────────────────────────────────────────────────────────────────────

/** What its methods do; of a resource that has none, the names of those in it. */
function resourceDocs({ path, methods, children }: Resource): string {
	if (path.length === 0) return '/** Every resource of the API. */'
	const summaries = methods.map(({ operation }) => operation.summary.replace(/^./, (first) => first.toLowerCase()))
	const parts = summaries.length > 0 ? summaries : children.map((next) => next.path.at(-1))
	return `/** \`remit.${path.join('.')}\`: ${parts.join(', ')}. */`
}

function resourceClass(resource: Resource): string {
	const { path, methods, children } = resource
	const hasMethods = methods.length > 0
	const fields = children.map((next) => `\t${resourceDocs(next)}\n\treadonly ${next.path.at(-1)}: ${className(next.path)}`)
	const nested = children.map((next) => `\t\tthis.${next.path.at(-1)} = new ${className(next.path)}(transport)`)
	const head = [
		...(hasMethods ? ['\treadonly #transport: Transport'] : []),
		...fields,
		'',
		'\tconstructor(transport: Transport) {',
	]
	const setup = [...head, ...(hasMethods ? ['\t\tthis.#transport = transport'] : []), ...nested, '\t}'].join('\n')
	return `${methods.map(queryInterface).join('')}${resourceDocs(resource)}
export class ${className(path)} {
${[setup, ...methods.map(methodText), ...changeText(methods)].join('\n\n')}
}`
}

/** What `change` calls; undefined for a resource that has none. */
export function changed(methods: Method[]) {
	const named = (verb: string) => methods.find(({ operation }) => operation.operationId.split('.').at(-1) === verb)
	const [get, update] = [named('get'), named('update')]
	if (!get?.isConditionalRead || !update?.body || !update.options.includes('ConditionalRequestOptions')) return undefined
	return { get, update, body: update.body }
}

/** `change`, of a resource whose records are read and updated by their versions. */
function changeText(methods: Method[]): string[] {
	const found = changed(methods)
	if (!found) return []
	const { get, update, body } = found
	const id = get.ids[0]?.name
	const [record] = get.answer.models
	const result = /^ApiPromise<(.*)>$/.exec(update.answer.type)?.[1]
	const own = id ? `${id}, ` : ''
	return [
		`${changeDocs(get, body.example)}
	change(${id ? `${id}: string, ` : ''}change: ChangeOf<${record}, ${body.model}>, options?: RequestOptions): Promise<${result} | undefined> {
		return changeRecord(() => this.get(${own}options), (patch, ifMatch) => this.update(${own}patch, { ...options, maxRetries: 0, ifMatch }), change)
	}`,
	]
}

function queryInterface({ operation: { operationId }, query, hasList }: Method): string {
	if (!query) return ''
	const type = `NonNullable<operations['${operationId}']['parameters']['query']>`
	return `/** The query of \`remit.${operationId}\`. */\nexport interface ${query} extends ${hasList ? `OneOrMore<${type}>` : type} {}\n\n`
}

function imports(methods: Method[]): string {
	const promises = (name: string) => methods.flatMap(({ answer }) => (answer.type.startsWith(name) ? [name] : []))
	const contract = methods.flatMap(({ operation, body, query, answer }) => [
		...(body ? [body.model] : []),
		...(query ? ['operations'] : []),
		...answer.models,
		...modelsOf(operation['x-answer-by'] ?? {}),
	])
	const from: Record<string, string[]> = {
		'../api-promise.ts': promises('ApiPromise'),
		'../options.ts': methods.flatMap(({ options, query, hasList, isConditionalRead }) => [
			...options.filter((name) => name !== query),
			...(hasList ? ['OneOrMore'] : []),
			...(isConditionalRead ? ['IfNoneMatch'] : []),
		]),
		'../page.ts': promises('PagePromise'),
		'../sync-run.ts': promises('SyncRunPromise'),
		'../transport.ts': ['Transport'],
		'./contract.ts': contract,
	}
	const used = Object.entries(from).filter(([, names]) => names.length > 0)
	const types = used.map(([file, names]) => `import type { ${[...new Set(names)].sort().join(', ')} } from '${file}'`)
	return ["import { type ChangeOf, changeRecord } from '../change.ts'", ...types].join('\n')
}

const modelsOf = (by: object): string[] =>
	Object.values(by).flatMap((model) => (typeof model === 'string' ? model : modelsOf(model as object)))

/** Exports every model but the bare strings and numbers: objects, enums and unions. */
function models(document: OpenApiDocument): string {
	const exported = Object.entries(document.components.schemas).filter(
		([, schema]) => schema.type === 'object' || schema.enum || schema.anyOf,
	)
	return `export type {\n${exported.map(([name]) => `\t${name},\n`).join('')}} from './contract.ts'`
}

/** With a suffix, because the resource `session` and the model `Session` would otherwise have one name. */
const className = (path: string[]) => (path.length > 0 ? `${pascal(path)}Resource` : 'Resources')
