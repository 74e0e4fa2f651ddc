// What must hold for every operation of the contract, whichever it is: a new operation is walked here by being in the
// document. It only has to say below how one of its records is made.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopes as allScopes } from '../src/auth/keys.ts'
import { type ContractOperation, contractOperations } from '../src/contract/document.ts'
import { type Operation, operations } from '../src/contract/routes.ts'
import { seen } from './contract.ts'
import { type Answer, type AskOptions, holdWrites, startTestServer, type Tenant, type TestServer } from './harness.ts'

/** How a record of each kind is made, and a body that its operations take. */
const kinds: Record<string, { make(tenant: Tenant): Promise<string>; body: object; broken: object | undefined }> = {
	invoices: {
		make: async ({ ask }) => (await ask('POST', '/api/invoices')).body.id,
		body: { notes: 'Thank you.' },
		broken: { lineItems: [{ unitPriceCents: 100 }], totalCents: 1 },
	},
	companies: {
		make: async ({ ask }) => (await ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id,
		body: { name: 'Acme' },
		broken: undefined,
	},
}

let server: TestServer
let limited: TestServer
beforeAll(async () => {
	server = await startTestServer()
	limited = await startTestServer({ INVOICING_RATE_LIMIT: 1 })
})
afterAll(async () => {
	await server.close()
	await limited.close()
})

/** Registers a test only where it has a meaning. */
const when = (applies: boolean) => (name: string, test: () => Promise<void>) => {
	if (applies) it(name, test)
}

const kindOf = (operation: Operation) => kinds[operation.id.split('.')[0] as string] as (typeof kinds)[string]
const contractOf = (operation: Operation) => contractOperations.get(operation.id) as ContractOperation
const takes = (operation: Operation, header: string) => contractOf(operation).parameters.some(({ name }) => name === header)
const fill = (operation: Operation, id: string) => operation.path.replace('{id}', id)
const answers = (operation: Operation, status: number) => operation.statuses.includes(status)

/** Asks a valid request, on a new record where one is needed. */
async function request(operation: Operation, tenant: Tenant, options: AskOptions & { search?: string } = {}): Promise<Answer> {
	const id = operation.path.includes('{id}') ? await kindOf(operation).make(server) : ''
	const body = operation.body === 'none' ? undefined : kindOf(operation).body
	return tenant.ask(operation.method, fill(operation, id) + (options.search ?? ''), { body, ...options })
}

describe.each(operations)('$id', (operation) => {
	it('answers a valid request', async () => {
		expect((await request(operation, server)).status).toBeLessThan(300)
	})

	it('answers 401 without a key, or with one that is malformed, unknown, expired or revoked', async () => {
		const none = await request(operation, server, { key: null })
		expect(none).toMatchObject({ status: 401, body: { code: 'missing_credentials' } })
		expect(none.headers.get('www-authenticate')).toBe('Bearer realm="remit"')
		const expired = await server.newKey(allScopes, { expiresAt: server.clock.now })
		for (const key of ['nonsense', `${server.key.slice(0, -1)}!`, 'rmt_00000000000000000000000000000000000000', expired.key]) {
			expect(await request(operation, server, { key })).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
		}
	})

	it('answers 403 to a key without its scope', async () => {
		const others = allScopes.filter((scope) => scope.split(':')[0] !== operation.scopes[0]?.split(':')[0])
		const { key } = await server.newKey(others)
		const refused = await request(operation, server, { key })
		expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
		expect(refused.body.detail).toContain(operation.scopes[0])
	})

	it('answers 400 to an unknown query parameter and names it', async () => {
		const { status, body } = await request(operation, server, { search: '?unexpected=1' })
		expect(status).toBe(400)
		expect(body.errors).toEqual([expect.objectContaining({ parameter: 'unexpected', code: 'unknown_parameter' })])
	})

	it('answers 429 with Retry-After once the limit is reached', async () => {
		const { key } = await limited.newKey(allScopes)
		await limited.ask('GET', '/api/invoices', { key })
		const refused = await limited.ask(operation.method, fill(operation, 'x'), {
			key,
			body: operation.body === 'none' ? undefined : {},
		})
		expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
		expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
	})

	when(answers(operation, 404))('answers 404 to a record of another organization, as to an unknown one', async () => {
		const other = await server.newTenant()
		const foreign = await kindOf(operation).make(other)
		const body = operation.body === 'none' ? undefined : kindOf(operation).body
		const [first, second] = await Promise.all(
			[foreign, 'unknown'].map(async (id) => {
				const { status, text } = await server.ask(operation.method, fill(operation, id), { body })
				const { requestId, ...same } = JSON.parse(text.replaceAll(id, 'ID'))
				return { status, same }
			}),
		)
		expect(first?.status).toBe(404)
		expect(first).toEqual(second)
	})

	when(operation.body !== 'none')('answers 400 to an unknown field and names it', async () => {
		const { status, body } = await request(operation, server, { body: { ...kindOf(operation).body, unexpected: 1 } })
		expect(status).toBe(400)
		expect(body.errors).toEqual([expect.objectContaining({ pointer: '/unexpected', code: 'unknown_field' })])
	})

	when(operation.body !== 'none')('answers 413 to a body of 1 MB and 415 to one that is not JSON', async () => {
		expect(await request(operation, server, { body: ' '.repeat(1_000_000) })).toMatchObject({ status: 413 })
		expect(await request(operation, server, { body: 'a=1', headers: { 'content-type': 'text/plain' } })).toMatchObject({
			status: 415,
		})
	})

	when(operation.body === 'required')('answers 400 without a body', async () => {
		expect(await request(operation, server, { body: undefined })).toMatchObject({ status: 400, body: { code: 'body_required' } })
	})

	when(takes(operation, 'If-Match'))('answers 412 to a stale If-Match and changes nothing', async () => {
		const refused = await request(operation, server, { headers: { 'if-match': '"99"' } })
		expect(refused).toMatchObject({ status: 412, body: { code: 'version_mismatch' } })
		expect((await request(operation, server, { headers: { 'if-match': '"1"' } })).status).toBe(200)
	})

	when(takes(operation, 'If-None-Match'))('answers 304 to the ETag that the record has', async () => {
		const path = fill(operation, await kindOf(operation).make(server))
		const etag = (await server.ask('GET', path)).headers.get('etag') as string
		const unchanged = await server.ask('GET', path, { headers: { 'if-none-match': etag } })
		expect(unchanged).toMatchObject({ status: 304, text: '' })
		expect(unchanged.headers.get('etag')).toBe(etag)
	})

	when(operation.idempotent)(
		'repeats its answer to the same Idempotency-Key, for 24 hours, and refuses another body',
		async () => {
			const headers = { 'idempotency-key': `key of ${operation.id}` }
			const first = await request(operation, server, { headers })
			const again = await request(operation, server, { headers })
			expect(again).toMatchObject({ status: first.status, text: first.text })
			expect(again.headers.get('idempotent-replayed')).toBe('true')
			const other = await request(operation, server, { headers, body: { ...kindOf(operation).body, notes: 'other' } })
			expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
			server.clock.now += 24 * 3_600_000
			expect((await request(operation, server, { headers })).text).not.toBe(first.text)
		},
	)

	when(operation.idempotent)('answers 409 while the first request with an Idempotency-Key is under way', async () => {
		const release = await holdWrites(server)
		const headers = { 'idempotency-key': `busy ${operation.id}` }
		const both = [request(operation, server, { headers }), request(operation, server, { headers })]
		const first = await Promise.race(both)
		expect(first).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
		await release()
		expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([201, 409])
	})

	when(kindOf(operation).broken !== undefined && operation.body !== 'none')(
		'answers 422 to a body that breaks a rule',
		async () => {
			expect(await request(operation, server, { body: kindOf(operation).broken })).toMatchObject({ status: 422 })
		},
	)
})

describe('the contract', () => {
	it('documents 409 for a number that is taken', async () => {
		const first = await server.ask('POST', '/api/invoices')
		const id = await kinds.invoices?.make(server)
		for (const method of ['PATCH', 'PUT']) {
			const taken = await server.ask(method, `/api/invoices/${id}`, { body: { invoiceNumber: first.body.invoiceNumber } })
			expect(taken).toMatchObject({ status: 409, body: { code: 'invoice_number_taken' } })
		}
	})

	it('documents every status that was answered, and every status that it documents was answered', () => {
		const documented = operations.flatMap(({ id, statuses }) => statuses.map((status) => `${id} ${status}`))
		const missing = documented.filter((name) => !seen.has(name))
		console.log(
			`coverage: ${documented.length - missing.length} of ${documented.length} statuses of ${operations.length} operations`,
		)
		expect(missing).toEqual([])
	})
})
