// The rules that hold for every operation of the contract. A new operation in the document is tested here without a change;
// samples.ts says what to send.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../src/generated/contract.ts'
import { scopes as allScopes, mayCall } from '../src/platform/auth/keys.ts'
import { newToken } from '../src/platform/auth/session-cookie.ts'
import { contractOperations, documentedOf, resolved } from '../src/platform/contract/document.ts'
import { type Operation, operations } from '../src/platform/contract/routes.ts'
import { documentedAnswers, documents, seen } from './contract.ts'
import { failAtDatabase } from './failing-database.ts'
import { failAtOthers } from './failing-others.ts'
import { type Answer, type AskOptions, holdWrites, startTestServer, type Tenant, type TestServer } from './harness.ts'
import { secret } from './leaks.ts'
import { answerByTheirSettings } from './other-settings.ts'
import { newRequest, pathOf, sampleOf } from './samples.ts'

let server: TestServer
let limited: TestServer
let metered: TestServer
let full: TestServer
beforeAll(async () => {
	server = await startTestServer()
	full = await startTestServer({ SHED_ABOVE_REQUESTS: 0 })
	limited = await startTestServer({ INVOICING_RATE_LIMIT: 1, INTEGRATION_RATE_LIMIT: 1 })
	metered = await startTestServer({ STORED_MB_PER_DAY: 1 })
})
afterAll(async () => {
	await server.close()
	await limited.close()
	await metered.close()
	await full.close()
})

/** What a browser says of a page of the server. */
const ofPage = { 'sec-fetch-site': 'same-origin' }

/** Registers a test only for the operations that it applies to. */
const when = (applies: boolean) => (name: string, test: () => Promise<void>) => {
	if (applies) it(name, test)
}

const takes = (operation: Operation, header: string) =>
	contractOperations.get(operation.id)?.parameters.some(({ name }) => name === header) ?? false
const answers = (operation: Operation, status: number) => operation.statuses.includes(status as never)
const bodyFields = ({ id }: Operation): object => {
	const schema = contractOperations.get(id)?.requestBody?.content['application/json']?.schema
	return (schema && (resolved(schema).properties as object | undefined)) ?? {}
}
/** Whether the operation changes anything: a POST that needs only a read scope, such as a preview, does not. */
const changes = ({ writes, ownTransactions, changesNothing, method }: Operation) =>
	writes || (ownTransactions === true && !changesNothing && method !== 'GET')
const success = ({ statuses }: Operation) => statuses.find((status) => status < 300)

describe.each(operations)('$id', (operation) => {
	const { rejected = {}, altered: other } = sampleOf(operation)
	const hasBody = operation.body !== 'none'
	const isPublic = operation.public === true
	/** Who has the link, which is in the path, needs no key. */
	const isByLink = operation.path.includes('{token}')
	const takesKeys = !isPublic && !operation.sessionOnly
	/** Of this operation alone, as an organization may have so many records of a kind. */
	let tenant: Tenant
	beforeAll(async () => {
		tenant = await server.newTenant()
	})
	const ask = (path: string, options?: AskOptions) => tenant.ask(operation.method, path, options)

	/** Sends a valid request about a new record, with these options instead of the valid ones. */
	const request = async ({ search = '', ...options }: AskOptions & { search?: string } = {}): Promise<Answer> => {
		const { path, body } = await newRequest(operation, tenant)
		return ask(path + search, { body, ...options })
	}

	it('answers a valid request', async () => {
		expect((await request()).status).toBe(success(operation))
	})

	when(!isPublic)('answers 401 without a key, or with one that is malformed, unknown, expired or revoked', async () => {
		const { path, body } = await newRequest(operation, tenant)
		const none = await ask(path, { body, key: null })
		expect(none).toMatchObject({ status: 401, body: { code: 'missing_credentials' } })
		expect(none.headers.get('www-authenticate')).toBe('Bearer realm="remit"')
		const expired = await tenant.newKey(allScopes, { expiresAt: server.clock.now })
		for (const key of ['nonsense', `${tenant.key.slice(0, -1)}!`, 'rmt_00000000000000000000000000000000000000', expired.key]) {
			expect(await ask(path, { body, key })).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } })
		}
	})

	when(!isPublic)('answers 400 to two keys, and 401 to a session that has ended', async () => {
		const { path, body } = await newRequest(operation, tenant)
		const two = await ask(path, { body, key: tenant.key, headers: { 'x-api-key': 'another' } })
		expect(two).toMatchObject({ status: 400, body: { code: 'ambiguous_credentials' } })
		const ended = await ask(path, { body, key: null, headers: { cookie: `remit=${newToken()}` } })
		expect(ended).toMatchObject({ status: 401, body: { code: 'session_ended' } })
	})

	when(!isPublic && operation.method !== 'GET')('answers 403 to a person on a page of another site', async () => {
		const { path, body } = await newRequest(operation, tenant)
		const person = await tenant.newPerson()
		const refused = await person.ask(operation.method, path, { body, headers: { 'sec-fetch-site': 'cross-site' } })
		expect(refused).toMatchObject({ status: 403, body: { code: 'cross_site_request' } })
	})

	when(operation.sessionOnly === true)('answers 403 to a key', async () => {
		expect(await request({ key: tenant.key })).toMatchObject({ status: 403, body: { code: 'session_required' } })
	})

	when(takesKeys)('answers 403 to a key without its scope', async () => {
		const others = allScopes.filter((scope) => !mayCall(new Set([scope]), { ...operation, anyScope: true }))
		const { key } = await tenant.newKey(others)
		const refused = await request({ key })
		expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
		expect(refused.body.detail).toContain(operation.scopes[0])
	})

	when(isPublic)('needs no key, and ignores one that is wrong', async () => {
		for (const key of [null, 'nonsense', 'rmt_00000000000000000000000000000000000000']) {
			expect((await request({ key, headers: ofPage })).status).toBe(success(operation))
		}
	})

	when(isPublic && hasBody)('answers 403 to a page of another site', async () => {
		const refused = await request({ headers: { 'sec-fetch-site': 'cross-site' } })
		expect(refused).toMatchObject({ status: 403, body: { code: 'cross_site_request' } })
	})

	when(isPublic && hasBody && answers(operation, 404))('answers 404 to the secret of no link', async () => {
		const { path, body } = await newRequest(operation, tenant)
		expect((await ask(path, { body: { ...body, token: 'x'.repeat(43) } })).status).toBe(404)
	})

	when(isPublic && hasBody && answers(operation, 401))('answers 401 to a wrong password', async () => {
		const { path, body } = await newRequest(operation, tenant)
		expect((await ask(path, { body: { ...body, password: secret('wrong') } })).status).toBe(401)
	})

	when(isByLink)('answers 404 to a token that never existed, as to a revoked one', async () => {
		const id = (await tenant.ask('POST', '/api/invoices')).body.id
		const link = `/api/invoices/${id}/client-link`
		const token = (await tenant.ask('POST', link)).body.url.split('/').at(-1)
		await tenant.ask('DELETE', link)
		const [revoked, unknown] = await Promise.all(
			[token, 'x'.repeat(token.length)].map(async (tried) => {
				const { status, headers, text } = await ask(pathOf(operation, tried), { key: null })
				const { requestId, ...body } = JSON.parse(text.replaceAll(tried, 'TOKEN'))
				return { status, body, names: [...headers.keys()] }
			}),
		)
		expect(revoked).toMatchObject({ status: 404, body: { code: 'client_link_not_found' } })
		expect(revoked).toEqual(unknown)
	})

	when(isByLink)('is for no cache, no search engine and no next site, whether it is found or not', async () => {
		for (const { headers } of [await request({ key: null }), await ask(pathOf(operation, 'unknown'), { key: null })]) {
			expect(headers.get('cache-control')).toBe('no-store')
			expect(headers.get('referrer-policy')).toBe('no-referrer')
			expect(headers.get('x-robots-tag')).toContain('noindex')
		}
	})

	it('answers 400 to an unknown query parameter and names it', async () => {
		const { status, body } = await request({ search: '?unexpected=1' })
		expect(status).toBe(400)
		expect(body.errors).toEqual([expect.objectContaining({ parameter: 'unexpected', code: 'unknown_parameter' })])
	})

	it('answers 503 with Retry-After while the server has no room', async () => {
		const refused = await full.ask(operation.method, pathOf(operation, 'x'), { body: hasBody ? {} : undefined })
		expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
		expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
	})

	when(answers(operation, 404) && !isPublic)(
		'answers 404 to a record of another organization, as to an unknown one',
		async () => {
			const foreign = [(await sampleOf(operation).make?.(await server.newTenant())) ?? []].flat()
			const { body } = await newRequest(operation, tenant)
			const [first, second] = await Promise.all(
				[foreign, foreign.map((_, at) => `unknown${at}`)].map(async (ids) => {
					const { status, text } = await ask(pathOf(operation, ids), { body })
					const { requestId, ...same } = JSON.parse(ids.reduce((said, id) => said.replaceAll(`${id}`, 'ID'), text))
					return { status, same }
				}),
			)
			expect(first?.status).toBe(404)
			expect(first).toEqual(second)
		},
	)

	when(answers(operation, 404) && operation.path.split('{').length > 2)(
		'answers 404 to what a record of its own has not',
		async () => {
			const [of = '', part = ''] = (await sampleOf(operation).make?.(tenant)) ?? []
			const { body } = await newRequest(operation, tenant)
			const missing = await ask(pathOf(operation, [of, 'unknown']), { body })
			expect(missing.status).toBe(404)
			expect(missing.body.code).not.toBe((await ask(pathOf(operation, ['unknown', part]), { body })).body.code)
		},
	)

	const references = Object.keys(bodyFields(operation)).flatMap((field) => {
		const [, kind] = /^(\w+)Id$/.exec(field) ?? []
		const code = `unknown_${kind}`
		return kind && documents(operation, code) && !(code in rejected) ? [{ field, code }] : []
	})
	when(references.length > 0)('answers 422 to a record that it cannot refer to, and names the field', async () => {
		for (const { field, code } of references) {
			const { path, body } = await newRequest(operation, tenant)
			const refused = await ask(path, { body: { ...body, [field]: 'unknown' } })
			expect(refused).toMatchObject({ status: 422, body: { code, errors: [{ pointer: `/${field}` }] } })
		}
	})

	when(hasBody)('answers 400 to an unknown field and names it', async () => {
		const { path, body: valid } = await newRequest(operation, tenant)
		const { status, body } = await ask(path, { body: { ...valid, unexpected: 1 } })
		expect(status).toBe(400)
		expect(body.errors).toEqual([expect.objectContaining({ pointer: '/unexpected', code: 'unknown_field' })])
	})

	when(hasBody)('answers 413 to a body that is too large and 415 to one that is not JSON', async () => {
		expect(await request({ body: ' '.repeat((operation.bodyLimit ?? 512 * 1024) + 1) })).toMatchObject({ status: 413 })
		expect(await request({ body: 'a=1', headers: { 'content-type': 'text/plain' } })).toMatchObject({ status: 415 })
	})

	when(hasBody)('answers 400 to a body that is cut', async () => {
		expect(await request({ body: '{"name":' })).toMatchObject({ status: 400, body: { code: 'invalid_json' } })
	})

	when(operation.body === 'required')('answers 400 without a body', async () => {
		expect(await request({ body: undefined })).toMatchObject({ status: 400, body: { code: 'body_required' } })
	})

	when(takes(operation, 'If-Match'))('answers 412 to a stale If-Match and changes nothing', async () => {
		const { path, body } = await newRequest(operation, tenant)
		const before = await tenant.ask('GET', path)
		const refused = await ask(path, { body, headers: { 'if-match': '"99999"' } })
		expect(refused).toMatchObject({ status: 412, body: { code: 'version_mismatch' } })
		expect((await tenant.ask('GET', path)).text).toBe(before.text)
		const current = { 'if-match': before.headers.get('etag') as string }
		expect((await ask(path, { body, headers: current })).status).toBe(200)
	})

	when(takes(operation, 'If-None-Match'))('answers 304 to the ETag that the record has', async () => {
		const { path } = await newRequest(operation, tenant)
		const etag = (await ask(path)).headers.get('etag') as string
		const unchanged = await ask(path, { headers: { 'if-none-match': etag } })
		expect(unchanged).toMatchObject({ status: 304, text: '' })
		expect(unchanged.headers.get('etag')).toBe(etag)
	})

	when(operation.idempotent)('repeats its answer to the same Idempotency-Key, and refuses another request with it', async () => {
		const headers = { 'idempotency-key': `key of ${operation.id}` }
		const { path, body } = await newRequest(operation, tenant)
		const first = await ask(path, { body, headers })
		expect(first.headers.get('idempotent-replayed')).toBeNull()
		const again = await ask(path, { body, headers })
		expect(again).toMatchObject({ status: success(operation), text: first.text })
		expect(again.headers.get('idempotent-replayed')).toBe('true')
		const names = (name: string) => [first.headers.get(name), again.headers.get(name)]
		for (const [sent, repeated] of [names('etag'), names('location')]) expect(repeated).toBe(sent)
		const others = [
			...(body ? [{ path, body: other ?? altered(body) }] : []),
			...(path === operation.path ? [] : [{ ...(await newRequest(operation, tenant)), body }]),
		]
		for (const asked of others) {
			const refused = await ask(asked.path, { body: asked.body, headers })
			expect(refused).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
		}
	})

	when(operation.idempotent)('forgets an Idempotency-Key after 24 hours', async () => {
		const headers = { 'idempotency-key': `old key of ${operation.id}` }
		const { path, body } = await newRequest(operation, tenant)
		await ask(path, { body, headers })
		server.clock.now += 24 * 3_600_000
		expect((await ask(path, { body, headers })).headers.get('idempotent-replayed')).toBeNull()
	})

	when(operation.idempotent)('answers 409 while the first request with an Idempotency-Key is under way', async () => {
		const { path, body } = await newRequest(operation, tenant)
		const release = await holdWrites(server)
		const headers = { 'idempotency-key': `busy ${operation.id}` }
		const both = [ask(path, { body, headers }), ask(path, { body, headers })]
		const first = await Promise.race(both)
		expect(first).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } })
		await release()
		expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([success(operation), 409])
	})

	/** The entries of the audit log that a request has left. */
	const entriesOf = async ({ ask }: Tenant, { headers }: Answer) => {
		const { data } = (await ask('GET', '/api/audit?limit=100')).body
		return data.filter(({ requestId }: { requestId: string }) => requestId === headers.get('x-request-id'))
	}

	when(changes(operation) && takesKeys)('leaves its entries in the audit log', async () => {
		const { id, key } = await tenant.newKey(allScopes)
		const entries = await entriesOf(tenant, await request({ key }))
		expect(entries).not.toEqual([])
		const who = { operation: operation.id, actor: { type: 'api_key', id }, address: '127.0.0.1', erasedAt: null }
		for (const entry of entries) expect(entry).toMatchObject(who)
	})

	const rejections = documentedOf(operation).flatMap(({ status, code }) => {
		const sample = rejected[code as ErrorCode]
		return sample ? [{ status, code, sample }] : []
	})
	it.each(rejections)('answers $status $code, and leaves nothing in the audit log', async ({ status, code, sample }) => {
		const own = await server.newTenant()
		const { path, body } = await newRequest(operation, own)
		const { id, search = '', key, body: sent = body } = await sample(own)
		const at = id === undefined ? path : pathOf(operation, id)
		const answer = await own.ask(operation.method, at + search, { body: hasBody ? sent : undefined, ...(key && { key }) })
		expect(answer).toMatchObject({ status, body: { code } })
		expect(await entriesOf(own, answer)).toEqual([])
	})
})

// A refusal by a limit takes a quarter of a second (platform/http/steps/hold-refusals.ts), which the tests of all operations wait for together.
// Each has a key or an organization of its own, and no other test uses their servers.
describe.concurrent('a limit', () => {
	describe.each(operations)('$id', (operation) => {
		when(documents(operation, 'storage_limit_reached'))(
			'answers 429 to an organization that has stored its share of the day',
			async () => {
				const full = await metered.newTenant()
				const { path, body } = await newRequest(operation, full)
				const stored = '{}'.padEnd(500_000)
				for (let times = 0; times < 3; times++) await full.ask('PATCH', '/api/organization', { body: stored })
				const refused = await full.ask(operation.method, path, { body })
				expect(refused).toMatchObject({ status: 429, body: { code: 'storage_limit_reached' } })
			},
		)

		it('answers 429 with Retry-After once the limit is reached', async () => {
			const key = operation.public ? null : (await limited.newKey(allScopes)).key
			await limited.ask('GET', operation.rateClass === 'integration' ? '/api-keys' : '/api/invoices', { key })
			const refused = await limited.ask(operation.method, pathOf(operation, 'x'), {
				key,
				body: operation.body === 'none' ? undefined : {},
			})
			expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
			expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
		})
	})
})

/** The body with another value in its first text or number, or a list in it with its items twice. */
function altered(body: object): object {
	const [name, value] = (Object.entries(body).find(([, field]) => ['string', 'number'].includes(typeof field)) ??
		Object.entries(body).find(([, field]) => Array.isArray(field))) as [string, unknown]
	if (Array.isArray(value)) return { ...body, [name]: [...value, ...value] }
	return { ...body, [name]: typeof value === 'number' ? value + 1 : `${value}x` }
}

describe('what others fail at', failAtOthers)

describe('a server', answerByTheirSettings)

describe('what a database fails at', failAtDatabase)

describe('the contract', () => {
	it('documents every answer that was seen, and every answer that it documents was seen here', () => {
		const documented = operations.flatMap(documentedAnswers)
		expect(documented.filter((name) => !seen.has(name))).toEqual([])
		console.log(`coverage: ${documented.length} answers (status and code) of ${operations.length} operations`)
	})
})
