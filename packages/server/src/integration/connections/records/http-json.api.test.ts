// APIs that a connection describes.
import type { IncomingMessage } from 'node:http'
import type { ConnectionConfig } from '@remit/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Tenant } from '../../../../test/harness.ts'
import { secret } from '../../../../test/leaks.ts'
import { FakeProvider } from '../../../../test/provider.ts'
import { failureOf, idsOf, type RecordServer, readAll, startRecordServer } from '../../../../test/record-context.ts'
import { CannotFind, findRecords, type ObjectKey, readPage, readRecord, removeRecord, writeRecord } from './records.ts'

type Described = NonNullable<ConnectionConfig['objects']>[0]
interface Item {
	id: number
	email: string
	updatedAt: number
	gone?: boolean
}

let provider: FakeProvider
let records: RecordServer
let tenant: Tenant
let items: Item[] = []
beforeAll(async () => {
	provider = await new FakeProvider().start()
	records = await startRecordServer()
	tenant = await records.server.newTenant()
})
beforeEach(() => {
	items = Array.from({ length: 23 }, (_, n) => ({ id: n + 1, email: `${n + 1}@acme.example`, updatedAt: 1_700_000_000 + n }))
	provider.requests.length = 0
})
afterAll(async () => {
	await records.close()
	await provider.stop()
})

const key = async (object: Partial<Described> & Pick<Described, 'pagination'>): Promise<ObjectKey> => {
	const described = { name: 'customers', path: '/customers?live=1', idField: 'id', ...object }
	const config = { baseUrl: `${provider.url}/v1/`, objects: [described] }
	const connectionId = await records.newConnection(tenant, {
		provider: 'http_json',
		credentials: { apiKey: secret('k-0123456789') },
		config,
	})
	return { organizationId: tenant.organizationId, connectionId, object: 'customers' }
}
const queryOf = ({ url = '' }: IncomingMessage) => new URL(url, provider.url).searchParams
/** Answers pages of ten. */
const answers = (
	page: (query: URLSearchParams, at: number) => { from: number; answer: (some: Item[]) => object; link?: string },
) => {
	provider.answer = (req, res) => {
		const query = queryOf(req)
		const { from, answer, link } = page(query, provider.requests.length)
		if (link) res.setHeader('link', link)
		res.end(JSON.stringify(answer(items.slice(from, from + 10))))
	}
}

describe('pages', () => {
	const all = () => items.map(({ id }) => String(id)).sort()

	it.each<[string, Described['pagination'], number, (query: URLSearchParams) => ReturnType<Parameters<typeof answers>[0]>]>([
		[
			'cursors',
			{ style: 'cursor', parameter: 'after', next: 'meta.next' },
			3,
			(query) => {
				const from = Number(query.get('after') ?? 0)
				return { from, answer: (data) => ({ data, meta: { next: from + 10 < items.length ? from + 10 : null } }) }
			},
		],
		[
			'numbers of pages',
			{ style: 'page', parameter: 'p', first: 0 },
			4,
			(query) => ({ from: Number(query.get('p')) * 10, answer: (data) => ({ data }) }),
		],
		[
			'offsets',
			{ style: 'offset', parameter: 'skip' },
			4,
			(query) => ({ from: Number(query.get('skip')), answer: (data) => ({ data }) }),
		],
		[
			'links',
			{ style: 'link' },
			3,
			(query) => {
				const from = Number(query.get('from') ?? 0)
				const next = `</v1/customers?from=${from + 10}&secret=a>; title="a, b"; rel="last next"`
				return {
					from,
					answer: (data) => ({ data }),
					link: from + 10 < items.length ? `</>; rel=prev, ${next}` : '</>; rel=first',
				}
			},
		],
	])('that go on by %s are read to the end', async (_, pagination, count, page) => {
		answers(page)
		const read = await readAll(
			records.context,
			await key({ pagination, records: 'data', pageSize: { parameter: 'limit', size: 10 } }),
		)
		expect([idsOf(read.records), read.pages]).toEqual([all(), count])
		expect(provider.requests[0]?.url).toMatch(/^\/v1\/customers\?live=1&/)
	})

	it('of which there is one are the answer itself', async () => {
		provider.answers(items)
		expect((await readAll(records.context, await key({ pagination: { style: 'none' } }))).pages).toBe(1)
	})

	it('that go on to another origin are not read: the credentials stay where they are', async () => {
		answers(() => ({ from: 0, answer: (data) => data, link: '<http://evil.example/customers>; rel="next"' }))
		const read = await failureOf(
			readPage(records.context, await key({ pagination: { style: 'link' } }), { cursor: null, since: null, fields: [] }),
		)
		expect(read.slice(0, 2)).toEqual(['rejected', 'unsafe_url'])
		expect(provider.requests).toHaveLength(1)
	})

	it.each<Described['pagination']>([
		{ style: 'page', parameter: 'p' },
		{ style: 'offset', parameter: 'skip' },
		{ style: 'cursor', parameter: 'after', next: 'next' },
		{ style: 'link' },
	])('that are one page for ever end ($style)', async (pagination) => {
		answers(() => ({ from: 0, answer: (data) => ({ data, next: 'same' }), link: '</v1/customers?live=1&again>; rel=next' }))
		const read = readAll(records.context, await key({ pagination, records: 'data' }))
		expect(await failureOf(read)).toEqual(['rejected', 'invalid_answer', expect.stringContaining('again and again')])
		expect(provider.requests.length).toBeLessThan(4)
	})

	it('have ids and cursors of 64 bits as they are written', async () => {
		const ids = ['9007199254740992', '9007199254740993', '-9223372036854775808']
		provider.answer = (req, res) => {
			const isFirst = queryOf(req).get('after') === null
			const data = isFirst ? `{"id":${ids[0]}},{"id":${ids[1]}}` : `{"id":${ids[2]},"after":"${queryOf(req).get('after')}"}`
			res.end(`{"data":[${data}],"next":${isFirst ? 9007199254740995n : null}}`)
		}
		const read = await readAll(
			records.context,
			await key({ pagination: { style: 'cursor', parameter: 'after', next: 'next' }, records: 'data' }),
		)
		expect(read.records.map(({ id, data }) => [id, data.after])).toEqual([
			[ids[0], undefined],
			[ids[1], undefined],
			[ids[2], '9007199254740995'],
		])
	})

	it.each([{ after: 'p2' }, ['p2'], true])(
		'that name the next page by no text (%j) are not taken for the last one',
		async (next) => {
			answers(() => ({ from: 0, answer: (data) => ({ data, next }) }))
			const read = readAll(
				records.context,
				await key({ pagination: { style: 'cursor', parameter: 'after', next: 'next' }, records: 'data' }),
			)
			expect(await failureOf(read)).toEqual([
				'rejected',
				'invalid_answer',
				'The provider names the next page at next by what is no text.',
			])
		},
	)

	it('of what changed are asked for by a time in the form of the API', async () => {
		provider.answers(items)
		const changed = { changedField: 'updatedAt', changedFormat: 'unix_s', sinceParameter: 'since', deletedField: 'gone' } as const
		items[1] = { ...(items[1] as Item), gone: true }
		const read = await readAll(records.context, await key({ pagination: { style: 'none' }, ...changed }), {
			since: 1_700_000_003_900,
		})
		expect(queryOf(provider.requests[0] as IncomingMessage).get('since')).toBe('1700000003')
		expect(read.records[1]).toMatchObject({ id: '2', changedAt: 1_700_000_001_000, isDeleted: true })
		expect(read.records[2]).toMatchObject({ isDeleted: false })
	})
})

describe('a record', () => {
	const object: Partial<Described> & Pick<Described, 'pagination'> = {
		pagination: { style: 'none' },
		...{ readPath: '/customers/{id}', wrap: 'customer', lookUpFields: ['email'] },
		create: { method: 'POST', path: '/customers' },
		update: { method: 'PUT', path: '/customers/{id}' },
		remove: { method: 'DELETE', path: '/customers/{id}' },
	}

	it('is written and read again, within what is around it', async () => {
		const sent: unknown[] = []
		provider.answer = async (req, res) => {
			sent.push([
				req.method,
				req.url,
				req.method === 'GET' ? null : JSON.parse((await req.setEncoding('utf8').toArray()).join('')),
			])
			if (req.method === 'GET') res.end(JSON.stringify({ customer: { id: 7, name: 'Acme', vat: 'x' } }))
			else res.writeHead(201, { location: '/v1/customers/7' }).end()
		}
		const at = await key(object)
		const write = { data: { name: 'Acme' }, idempotencyKey: 'k', fields: [] }
		const whole = { id: '7', data: { id: 7, name: 'Acme', vat: 'x' } }
		expect(await writeRecord(records.context, at, { ...write, externalId: null })).toMatchObject(whole)
		expect(await writeRecord(records.context, at, { ...write, externalId: 'a/7' })).toMatchObject(whole)
		expect(sent).toEqual([
			['POST', '/v1/customers', { customer: { name: 'Acme' } }],
			['GET', '/v1/customers/7', null],
			['PUT', '/v1/customers/a%2F7', { customer: { name: 'Acme' } }],
			['GET', '/v1/customers/a%2F7', null],
		])
	})

	it('that was stored is no failure when it cannot be read again', async () => {
		provider.answer = (req, res) => (req.method === 'GET' ? res.writeHead(500).end() : res.end('{"customer":{"id":9}}'))
		const write = { externalId: null, data: { name: 'Acme' }, idempotencyKey: 'k', fields: [] }
		expect(await writeRecord(records.context, await key(object), write)).toMatchObject({ id: '9' })
	})

	it('is never at a path that its id makes', async () => {
		const at = await key(object)
		for (const id of ['..', '.', '']) {
			expect((await failureOf(removeRecord(records.context, at, id)))[0]).toBe('rejected')
			expect((await failureOf(readRecord(records.context, at, id, [])))[0]).toBe('rejected')
		}
		expect(provider.requests).toEqual([])
	})

	it('that is gone is read as none, and removed', async () => {
		const at = await key(object)
		for (const status of [404, 410]) {
			provider.answers(status)
			expect(await readRecord(records.context, at, '1', [])).toBeUndefined()
			await removeRecord(records.context, at, '1')
		}
	})

	it('is looked up by a field, unless the API does not filter', async () => {
		const at = await key(object)
		provider.answer = (req, res) => res.end(JSON.stringify(items.filter(({ email }) => email === queryOf(req).get('email'))))
		expect(idsOf(await findRecords(records.context, at, { email: '7@acme.example' }, []))).toEqual(['7'])
		provider.answers(items)
		await expect(findRecords(records.context, at, { email: '7@acme.example' }, [])).rejects.toBeInstanceOf(CannotFind)
	})
})

it.each<[Partial<Described>, string]>([
	[{ idField: 'a.__proto__' }, 'idField'],
	[{ records: 'constructor' }, 'records'],
	[{ path: '/a#b' }, 'path'],
	[{ pagination: { style: 'page' } }, 'pagination/parameter'],
	[{ pagination: { style: 'cursor', parameter: 'a' } }, 'pagination/next'],
	[{ sinceParameter: 'since' }, 'changedField'],
])('an object %j is refused', async (change, field) => {
	const described = { name: 'a', path: '/a', idField: 'id', pagination: { style: 'none' }, ...change }
	const config = { baseUrl: provider.url, objects: [described] }
	const input = { provider: 'http_json', name: 'Acme', authType: 'api_key', credentials: { apiKey: secret('k') }, config }
	const { status, body } = await tenant.ask('POST', '/connections', { body: input })
	expect([status, body.errors?.[0].pointer]).toEqual([422, `/config/objects/0/${field}`])
})

it('objects may be changed without the credentials, and the connection stays as it is', async () => {
	provider.answers(items)
	const at = await key({ pagination: { style: 'none' } })
	await readAll(records.context, at)
	const { config, status } = await tenant.remit.connections.get(at.connectionId)
	expect(status).toBe('active')
	const objects = [
		...(config.objects ?? []),
		{ name: 'others', path: '/others', idField: 'id', pagination: { style: 'none' as const } },
	]
	expect(await tenant.remit.connections.update(at.connectionId, { config: { ...config, objects } })).toBeDefined()
	expect(await tenant.remit.connections.get(at.connectionId)).toMatchObject({ status: 'active', config: { objects } })
	expect((await tenant.remit.connections.objects.schema(at.connectionId, 'others')).name).toBe('others')
	const stripe = { provider: 'stripe', name: 'a', authType: 'api_key', credentials: { apiKey: secret('k') }, config: { objects } }
	expect((await tenant.ask('POST', '/connections', { body: stripe })).body.errors?.[0].pointer).toBe('/config/objects')
})
