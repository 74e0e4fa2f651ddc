import { describe, expect, test } from 'vitest'
import { json, problem } from '../test/answering-server.ts'
import { failure, farEnd } from '../test/far-end.ts'
import { ConnectionError, PreconditionFailedError } from './index.ts'

const far = farEnd()

/** A far end with a company that others have changed before the first `others` changes arrive. */
function companyAt(version: number, others = 0) {
	let left = others
	far.answer = (response, request) => {
		if (request.method === 'GET') return json(200, { data: { id: 'cmp_1', name: `Acme ${version}`, version } })(response, request)
		if (left-- > 0) version++
		const isCurrent = request.headers['if-match'] === `"${version}"`
		return (isCurrent ? json(200, { ok: true }) : problem(412, 'version_mismatch'))(response, request)
	}
}

const sent = () => far.arrived.map(({ method, headers, body }) => [method, headers['if-match'], body].filter(Boolean).join(' '))

describe('change', () => {
	test('sends what the function makes of the record, with the version that was read', async () => {
		companyAt(3)
		expect(await far.client().companies.change('cmp_1', ({ name }) => ({ name: `${name}!` }))).toEqual({ ok: true })
		expect(sent()).toEqual(['GET', 'PATCH "3" {"name":"Acme 3!"}'])
	})

	test('asks the function again when somebody else was faster', async () => {
		companyAt(3, 2)
		await far.client().companies.change('cmp_1', async ({ name }) => ({ name: `${name}!` }))
		expect(sent()).toEqual([
			'GET',
			'PATCH "3" {"name":"Acme 3!"}',
			'GET',
			'PATCH "4" {"name":"Acme 4!"}',
			'GET',
			'PATCH "5" {"name":"Acme 5!"}',
		])
	})

	test('sends nothing when the function has no changes', async () => {
		companyAt(3)
		expect(await far.client().companies.change('cmp_1', () => undefined)).toBeUndefined()
		expect(sent()).toEqual(['GET'])
	})

	test('gives up after ten others', async () => {
		companyAt(3, Number.POSITIVE_INFINITY)
		const error = await failure(far.client().companies.change('cmp_1', () => ({ name: 'A' })))
		expect(error).toBeInstanceOf(PreconditionFailedError)
		expect(far.arrived).toHaveLength(22)
	})

	test('is not sent again when its answer is lost: it may be stored', async () => {
		const record = json(200, { data: { id: 'cmp_1', version: 3 } })
		far.answer = (response, request) => (request.method === 'GET' ? record(response, request) : void response.destroy())
		const error = await failure(far.client({ maxRetries: 2 }).companies.change('cmp_1', () => ({ name: 'A' })))
		expect(error).toBeInstanceOf(ConnectionError)
		expect(far.arrived).toHaveLength(2)
	})

	test('of what has no id reads and changes the one there is', async () => {
		far.answer = json(200, { data: { version: 7 }, ok: true })
		await far.client().organization.change(() => ({ name: 'Acme' }))
		expect(far.arrived.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /api/organization', 'PATCH /api/organization'])
	})
})

describe('ifNoneMatch', () => {
	test('gives undefined for what has not changed, and else the record', async () => {
		const { companies } = far.client()
		far.answer = (response) => response.writeHead(304, { ETag: '"3"' }).end()
		const unchanged = await companies.get('cmp_1', { ifNoneMatch: 3 }).withResponse()
		expect(unchanged).toMatchObject({ data: undefined, response: { status: 304 } })
		expect(far.arrived[0]?.headers['if-none-match']).toBe('"3"')
		far.answer = json(200, { data: { id: 'cmp_1', version: 4 } })
		expect(await companies.get('cmp_1', { ifNoneMatch: 3 })).toEqual({ id: 'cmp_1', version: 4 })
	})

	test('makes 304 an answer only where it was sent', async () => {
		far.answer = (response) => response.writeHead(304).end()
		expect(await failure(far.client().companies.get('cmp_1'))).toMatchObject({ name: 'ApiError', status: 304 })
	})
})
