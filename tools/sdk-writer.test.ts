import { expect, test } from 'vitest'
import type { JsonObject, OpenApiDocument, Operation } from './openapi.ts'
import { writeResources } from './sdk-writer.ts'

const json = (schema: JsonObject) => ({ 'application/json': { schema } })

function operation(operationId: string, more: Partial<Operation> = {}): Operation {
	const responses = {
		200: { description: 'Done.', content: json({ $ref: '#/components/schemas/Ok' }) },
		404: { description: 'No.' },
	}
	return { operationId, summary: 'Do it', description: 'Do it well.', tags: [], responses, ...more }
}

function write(paths: OpenApiDocument['paths'], schemas: Record<string, JsonObject> = {}): string {
	const ok: JsonObject = { type: 'object', description: 'Done.', properties: { ok: { type: 'boolean' } } }
	const info = { title: 'T', version: '1' }
	return writeResources({ openapi: '3.1.0', info, paths, components: { schemas: { Ok: ok, ...schemas } } }, 'Generated.')
}

const id = { name: 'id', in: 'path', required: true, description: 'The id.', schema: { type: 'string' } } as const

test('a dotted operation id becomes a nested resource', () => {
	const text = write({
		'/a': { get: operation('invoices.ping') },
		'/a/{id}/link': { post: operation('invoices.clientLink.create', { parameters: [id] }) },
	})
	expect(text).toContain('readonly invoices: InvoicesResource\n')
	expect(text).toContain('readonly clientLink: InvoicesClientLinkResource\n')
	expect(text).toContain('this.clientLink = new InvoicesClientLinkResource(transport)')
	expect(text).toContain("return this.#transport.send('POST', '/a/{id}/link', { path: { id }, options })")
})

test('a resource without operations of its own holds only its nested resources', () => {
	const text = write({ '/a': { get: operation('invoices.link.get') } })
	expect(text).toContain(
		'export class InvoicesResource {\n\t/** `remit.invoices.link`: do it. */\n\treadonly link: InvoicesLinkResource\n',
	)
	expect(text.match(/#transport: Transport/g)).toHaveLength(1)
})

test('a resource says what it is for where it is used and where it is declared', () => {
	const text = write({
		'/a': { get: operation('webhooks.events.list', { summary: 'List events' }) },
		'/a/{id}': { get: operation('webhooks.events.get', { summary: 'Read an event', parameters: [id] }) },
	})
	const sentence = '/** `remit.webhooks.events`: list events, read an event. */'
	expect(text).toContain(`\t${sentence}\n\treadonly events: WebhooksEventsResource`)
	expect(text).toContain(`${sentence}\nexport class WebhooksEventsResource`)
	expect(text).toContain('\t/** `remit.webhooks`: events. */\n\treadonly webhooks: WebhooksResource')
})

test('an alias has no method', () => {
	const text = write({ '/a': { patch: operation('a.update'), put: operation('a.replace', { 'x-alias-of': 'a.update' }) } })
	expect(text).toContain('update(')
	expect(text).not.toContain('replace')
})

test('a header without an option of the SDK stops the generator', () => {
	const header = { name: 'X-New', in: 'header', schema: { type: 'string' } } as const
	expect(() => write({ '/a': { get: operation('a.get', { parameters: [header] }) } })).toThrow('no option for the header X-New')
})

test('an answer without a named model stops the generator', () => {
	const responses = { 200: { description: 'A text.', content: json({ type: 'string' }) } }
	expect(() => write({ '/a': { get: operation('a.get', { responses }) } })).toThrow('the answer of a.get must be JSON')
})

test('an answer that is not JSON is returned as a file', () => {
	const responses = { 200: { description: 'A file.', content: { 'application/pdf': { schema: {} } } } }
	const text = write({ '/a/{id}/pdf': { get: operation('a.pdf', { responses, parameters: [id] }) } })
	expect(text).toContain('pdf(id: string, options?: RequestOptions): ApiPromise<Uint8Array> {')
	expect(text).toContain("return this.#transport.bytes('GET', '/a/{id}/pdf', 'application/pdf', { path: { id }, options })")
	expect(text).toContain("@returns The file's bytes: application/pdf.")
})

test('an answer that is a run of a sync can be followed', () => {
	const responses = { 200: { description: 'The run.', content: json({ $ref: '#/components/schemas/SyncRunData' }) } }
	const run: JsonObject = { type: 'object', description: 'A run.' }
	const data: JsonObject = { type: 'object', properties: { data: { $ref: '#/components/schemas/SyncRun' } } }
	const schemas = { SyncRun: run, SyncRunData: data }
	const text = write({ '/a/{id}/run': { post: operation('a.run', { responses, parameters: [id] }) } }, schemas)
	expect(text).toContain('run(id: string, options?: RequestOptions): SyncRunPromise {')
	expect(text).toContain("return this.#transport.run('POST', '/a/{id}/run', { path: { id }, options })")
	expect(text).toContain("import type { SyncRunPromise } from '../sync-run.ts'")
})

test('an operation that needs no key is a method like any other, and throws no AuthenticationError', () => {
	const text = write({ '/a/{token}': { get: operation('a.get', { security: [], parameters: [{ ...id, name: 'token' }] }) } })
	expect(text).toContain('get(token: string, options?: RequestOptions): ApiPromise<Ok> {')
	expect(text).not.toContain('AuthenticationError')
})

test('an action takes an idempotency key', () => {
	const header = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } } as const
	const text = write({ '/a/{id}/send': { post: operation('a.send', { parameters: [id, header] }) } })
	expect(text).toContain('send(id: string, options?: IdempotentRequestOptions): ApiPromise<Ok> {')
})

test('the TSDoc has the words of the contract, and they cannot end the comment', () => {
	const Input: JsonObject = {
		type: 'object',
		description: 'What to write. More.',
		examples: [{ name: "O'Neil", 'x-y': [1, null] }],
	}
	const requestBody = { required: true, content: json({ $ref: '#/components/schemas/Input' }) }
	const text = write({ '/a': { post: operation('a.create', { requestBody, description: 'Ends */ here.' }) } }, { Input })
	expect(text).toContain('\t * Ends *\\/ here.\n\t *\n\t * @param body - What to write.\n')
	expect(text).toContain("await remit.a.create({ name: 'O\\'Neil', 'x-y': [1, null] })")
	expect(text).toContain('@throws `NotFoundError` (404)')
	expect(text).toContain('create(body: Input, options?: RequestOptions): ApiPromise<Ok> {')
})
