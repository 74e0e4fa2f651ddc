import { describe, expect, test } from 'vitest'
import { json } from '../test/answering-server.ts'
import { failure, farEnd } from '../test/far-end.ts'
import { RemitError } from './errors.ts'

const far = farEnd()

/** Answers as the server does, from a list of `count` records. */
function store(count: number, { withMeta = false, total = count } = {}): void {
	const records = Array.from({ length: count }, (_, index) => ({ id: `r${index}` }))
	far.answer = (response, request) => {
		const query = new URL(request.url, far.url).searchParams
		const [limit, offset] = [Number(query.get('limit') ?? 50), Number(query.get('offset') ?? 0)]
		const data = records.slice(offset, offset + limit)
		json(200, withMeta ? { data, meta: { total, limit, offset } } : { data })(response, request)
	}
}

const asked = () => far.arrived.map(({ url }) => url.replace(/^.*\?/, ''))

describe('a list without meta', () => {
	test.each([
		[0, ['limit=2']],
		[1, ['limit=2']],
		[2, ['limit=2', 'limit=2&offset=2']],
		[5, ['limit=2', 'limit=2&offset=2', 'limit=2&offset=4']],
		[6, ['limit=2', 'limit=2&offset=2', 'limit=2&offset=4', 'limit=2&offset=6']],
	])('of %i records gives all of them', async (count, requests) => {
		store(count)
		const ids: string[] = []
		for await (const invoice of far.client().invoices.list({ limit: 2 })) ids.push(invoice.id)
		expect(ids).toEqual(Array.from({ length: count }, (_, index) => `r${index}`))
		expect(asked()).toEqual(requests)
	})

	test('sends the contract’s limit when none is given', async () => {
		store(60)
		const page = await far.client().invoices.list({ status: 'sent' })
		expect(page.data).toHaveLength(50)
		expect(page.hasNextPage).toBe(true)
		expect(asked()).toEqual(['status=sent&limit=50'])
	})
})

describe('a list with meta', () => {
	test.each([
		[0, 1],
		[2, 1],
		[4, 2],
		[5, 3],
	])('of %i records takes %i requests of 2', async (count, requests) => {
		store(count, { withMeta: true })
		let seen = 0
		for await (const _ of far.client().companies.list({ limit: 2 })) seen++
		expect(seen).toBe(count)
		expect(far.arrived).toHaveLength(requests)
	})

	test('shows its meta', async () => {
		store(5, { withMeta: true })
		const page = await far.client().companies.list({ limit: 2, offset: 2 })
		expect(page.meta).toEqual({ total: 5, limit: 2, offset: 2 })
		expect(page.data.map(({ id }) => id)).toEqual(['r2', 'r3'])
	})

	test('whose total is too high ends with the empty page', async () => {
		store(3, { withMeta: true, total: 1000 })
		let seen = 0
		for await (const _ of far.client().companies.list({ limit: 2 })) seen++
		expect(seen).toBe(3)
	})
})

describe('pages', () => {
	test('can be read one by one, from any offset, with the same query and options', async () => {
		store(5)
		const lengths: number[] = []
		const list = far.client().invoices.list({ limit: 2, offset: 1, status: 'paid' }, { headers: { 'X-Job': '1' } })
		for (let page = await list; page; ) {
			lengths.push(page.data.length)
			const next = await page.nextPage()
			if (!next) break
			page = next
		}
		expect(lengths).toEqual([2, 2, 0])
		expect(far.arrived[2]).toMatchObject({ url: '/api/invoices?limit=2&offset=5&status=paid', headers: { 'x-job': '1' } })
	})

	test('can be looped over, and asked for with options of their own', async () => {
		store(5)
		const list = far.client().invoices.list({ limit: 2 }, { headers: { 'X-Job': '1', 'X-Kept': '1' } })
		const lengths: number[] = []
		for await (const { data } of list.pages()) lengths.push(data.length)
		expect(lengths).toEqual([2, 2, 1])
		await (await list).nextPage({ headers: { 'X-Job': '2' } })
		expect(far.arrived.at(-1)).toMatchObject({ url: '/api/invoices?limit=2&offset=2', headers: { 'x-job': '2' } })
		expect(await failure((await list).nextPage({ signal: AbortSignal.abort() }) as never)).toHaveProperty('name', 'AbortError')
	})

	test.each([
		[0, [], 1],
		[3, ['r0', 'r1', 'r2'], 2],
		[4, ['r0', 'r1', 'r2', 'r3'], 2],
		[Infinity, ['r0', 'r1', 'r2', 'r3', 'r4'], 3],
	])('come as an array of at most %s, and no more are asked for', async (limit, ids, requests) => {
		store(5)
		const records = await far.client().invoices.list({ limit: 2 }).toArray({ limit })
		expect(records.map(({ id }) => id)).toEqual(ids)
		expect(far.arrived).toHaveLength(requests)
	})

	test.each([
		[undefined, /limit must be a number from 0; it is undefined/],
		[{}, /limit must be a number from 0; it is undefined/],
		[{ limit: -1 }, /limit must be a number from 0; it is -1/],
	])('as an array with %j are a mistake, and their failure is no unhandled rejection', async (options, message) => {
		const unhandled: unknown[] = []
		const listener = (reason: unknown) => unhandled.push(reason)
		process.on('unhandledRejection', listener)
		try {
			const asked = Promise.withResolvers<void>()
			const fetch = async () => {
				asked.resolve()
				throw new TypeError('fetch failed')
			}
			const error = await failure(
				far
					.client({ fetch })
					.invoices.list()
					.toArray(options as { limit: number }),
			)
			expect(error).toBeInstanceOf(RemitError)
			expect(error.message).toMatch(message)
			await asked.promise
			// Node looks for unhandled rejections after the microtasks of a turn.
			await new Promise(setImmediate)
			expect(unhandled).toEqual([])
		} finally {
			process.off('unhandledRejection', listener)
		}
	})

	test('are no longer requested when the loop is left', async () => {
		store(100)
		for await (const invoice of far.client().invoices.list({ limit: 2 })) if (invoice.id === 'r1') break
		expect(far.arrived).toHaveLength(1)
	})

	test('that fail end the loop with the error', async () => {
		store(100)
		const answer = far.answer
		far.answer = (response, request) => (far.arrived.length > 1 ? json(500, {}) : answer)(response, request)
		const ids: string[] = []
		const loop = async () => {
			for await (const { id } of far.client().invoices.list({ limit: 2 })) ids.push(id)
		}
		expect(await failure(loop())).toHaveProperty('status', 500)
		expect(ids).toEqual(['r0', 'r1'])
	})

	test('come with their response', async () => {
		store(1)
		const { data, response } = await far.client().invoices.list().withResponse()
		expect(response.status).toBe(200)
		expect(data.data).toEqual([{ id: 'r0' }])
		expect(JSON.parse(JSON.stringify(data))).toEqual({ data: [{ id: 'r0' }] })
	})
})

describe('a list that is read by cursor', () => {
	const deliveries = Array.from({ length: 5 }, (_, n) => ({ id: `whd_${n}` }))

	/** Answers as the server does: with a total at first, without one after a cursor. */
	const answer = (limit: number, end: string | null = null) => {
		far.answer = (response, { url }) => {
			const { searchParams } = new URL(url, 'http://x')
			const cursor = searchParams.get('cursor')
			const from = cursor === null ? Number(searchParams.get('offset') ?? 0) : deliveries.findIndex(({ id }) => id === cursor) + 1
			const data = deliveries.slice(from, from + limit)
			const meta = { total: cursor === null ? 5 : null, limit, offset: 0, nextCursor: data.at(-1)?.id ?? end }
			json(200, { data, meta })(response, far.arrived[0] as never)
		}
	}

	test('continues from the cursor of each page, not from an offset', async () => {
		answer(2)
		const ids: string[] = []
		for await (const { id } of far.client().webhooks.deliveries.list({ limit: 2, offset: 1, status: 'skipped' })) ids.push(id)
		expect(ids).toEqual(['whd_1', 'whd_2', 'whd_3', 'whd_4'])
		expect(far.arrived.map(({ url }) => url)).toEqual([
			'/webhooks/deliveries?limit=2&offset=1&status=skipped',
			'/webhooks/deliveries?limit=2&offset=0&status=skipped&cursor=whd_2',
			'/webhooks/deliveries?limit=2&offset=0&status=skipped&cursor=whd_4',
		])
	})

	test('ends with a page that is empty or not full, although it has a cursor for later', async () => {
		answer(5, 'whd_4')
		const page = await far.client().webhooks.deliveries.list({ limit: 5, cursor: 'whd_4' })
		expect(page).toMatchObject({ data: [], meta: { total: null, nextCursor: 'whd_4' }, hasNextPage: false })
	})
})

describe('a list whose pages name the next', () => {
	const records = Array.from({ length: 5 }, (_, n) => ({ id: `r${n}` }))

	/** Answers as the server does: by cursor, in the header alone where there is no meta. */
	const answer = (limit: number, withMeta: boolean) => {
		far.answer = (response, { url }) => {
			const query = new URL(url, 'http://x').searchParams
			const from = Number(query.get('cursor') ?? 0) + Number(query.get('offset') ?? 0)
			const data = records.slice(from, from + limit)
			const hasMore = from + limit < records.length
			const nextCursor = hasMore ? String(from + limit) : null
			if (hasMore) response.setHeader('Link', `</x?limit=${limit}&status=paid&cursor=${nextCursor}>; rel="next"`)
			const meta = { total: null, limit, offset: 0, hasMore, nextCursor }
			json(200, withMeta ? { data, meta } : { data })(response, far.arrived[0] as never)
		}
	}

	test.each([true, false])('is read by cursor to its end, and no further (meta: %s)', async (withMeta) => {
		for (const limit of [1, 2, 5, 6]) {
			far.arrived.length = 0
			answer(limit, withMeta)
			const list = withMeta ? far.client().contacts.list({ limit }) : far.client().invoices.list({ limit, status: 'paid' })
			const ids: string[] = []
			for await (const { id } of list) ids.push(id)
			expect(ids).toEqual(records.map(({ id }) => id))
			expect(far.arrived).toHaveLength(Math.ceil(records.length / limit) + (!withMeta && limit === 5 ? 1 : 0))
			if (limit === 2) expect(asked()[1]).toBe(`limit=2&${withMeta ? '' : 'status=paid&'}offset=0&cursor=2`)
		}
	})

	test('goes on after an empty page that says so', async () => {
		far.answer = (response, { url }) => {
			const isFirst = !url.includes('cursor=')
			const meta = { total: null, limit: 2, offset: 0, hasMore: isFirst, nextCursor: isFirst ? 'a' : null }
			json(200, { data: isFirst ? [] : [{ id: 'r0' }], meta })(response, far.arrived[0] as never)
		}
		const ids: string[] = []
		for await (const { id } of far.client().contacts.list({ limit: 2 })) ids.push(id)
		expect(ids).toEqual(['r0'])
	})
})
