// The feed of events, as a reader sees it that goes from cursor to cursor while others write.
import { setTimeout as pause } from 'node:timers/promises'
import type { Remit, WebhookEvent } from '@remit/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { eventsOf } from '../../../test/events.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { createCompany } from '../../billing/companies/store.ts'
import type { Db } from '../db/database.ts'

let server: TestServer
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const nameOf = ({ data }: WebhookEvent) => (data as { name: string }).name
const newCompany = (db: Db, name: string) => createCompany(tenant.writing(db), { name }).then(({ id }) => id)

/** A reader of the feed, which continues from its last cursor. */
class Reader {
	readonly seen: WebhookEvent[] = []
	readonly #remit: Remit
	readonly #limit: number
	#cursor: string | undefined

	constructor(remit: Remit, limit = 7) {
		this.#remit = remit
		this.#limit = limit
	}

	async read(): Promise<void> {
		for (let more = true; more; ) {
			const query = { limit: this.#limit, ...(this.#cursor !== undefined && { cursor: this.#cursor }) }
			const { data, meta } = await this.#remit.webhooks.events.list(query)
			this.seen.push(...data)
			this.#cursor = meta.nextCursor ?? undefined
			more = data.length > 0
		}
	}

	/** Repeats reading, because another reader may hold the lock for giving places. */
	async readUntil(count: number): Promise<void> {
		await vi.waitFor(
			async () => {
				await this.read()
				expect(this.seen.length).toBeGreaterThanOrEqual(count)
			},
			{ timeout: 10_000, interval: 20 },
		)
	}
}

describe('the feed of events', () => {
	it('has every event once, oldest first, however the reader pages', async () => {
		for (const name of ['a', 'b', 'c', 'd', 'e']) await tenant.ask('POST', '/api/companies', { body: { name } })
		const whole = new Reader(tenant.remit, 100)
		await whole.readUntil(5)
		expect(whole.seen.map(nameOf)).toEqual(['a', 'b', 'c', 'd', 'e'])
		const stepwise = new Reader(tenant.remit, 2)
		await stepwise.read()
		expect(stepwise.seen).toEqual(whole.seen)
		const iterated: WebhookEvent[] = []
		for await (const event of tenant.remit.webhooks.events.list({ limit: 2 })) iterated.push(event)
		expect(iterated).toEqual(whole.seen)
	})

	it('has a total without a cursor, none with one, and a nextCursor that stays valid at the end', async () => {
		const list = async (query = '') => (await tenant.ask('GET', `/webhooks/events${query}`)).body
		expect(await list()).toEqual({ data: [], meta: { total: 0, limit: 50, offset: 0, hasMore: false, nextCursor: null } })
		for (const name of ['a', 'b', 'c']) await tenant.ask('POST', '/api/companies', { body: { name } })
		await new Reader(tenant.remit).readUntil(3)
		const first = await list('?limit=2')
		expect(first.data.map(nameOf)).toEqual(['a', 'b'])
		expect(first.meta).toEqual({
			...{ total: 3, limit: 2, offset: 0 },
			...{ hasMore: true, nextCursor: expect.stringMatching(/^\d+$/) },
		})
		const second = await list(`?limit=2&cursor=${first.meta.nextCursor}`)
		expect(second.data.map(nameOf)).toEqual(['c'])
		expect(second.meta).toMatchObject({ total: null })
		const end = await list(`?cursor=${second.meta.nextCursor}`)
		expect(end).toEqual({
			data: [],
			meta: { total: null, limit: 50, offset: 0, hasMore: false, nextCursor: second.meta.nextCursor },
		})
		expect((await list('?limit=1&offset=1')).data.map(nameOf)).toEqual(['b'])
	})

	it('can be narrowed to a type, with or without a cursor', async () => {
		const id = (await tenant.ask('POST', '/api/companies', { body: { name: 'a' } })).body.id
		await tenant.ask('PATCH', `/api/companies/${id}`, { body: { name: 'b' } })
		await tenant.ask('PATCH', `/api/companies/${id}`, { body: { name: 'c' } })
		await new Reader(tenant.remit).readUntil(3)
		const list = async (query: string) => (await tenant.ask('GET', `/webhooks/events?type=company.updated${query}`)).body
		const { data, meta } = await list('&limit=1')
		expect({ names: data.map(nameOf), total: meta.total }).toEqual({ names: ['b'], total: 2 })
		expect((await list(`&cursor=${meta.nextCursor}`)).data.map(nameOf)).toEqual(['c'])
		expect((await tenant.ask('GET', '/webhooks/events?type=invoice.paid')).body.meta.total).toBe(0)
	})

	it('can be narrowed to all types of a kind, a kind of records, a record and a time, in either order', async () => {
		const create = async (name: string) => (await tenant.ask('POST', '/api/companies', { body: { name } })).body.id
		const id = await create('a')
		// A write may take minutes: an event may have its place after those that began later.
		server.clock.now += 3_600_000
		const since = server.clock.now
		await tenant.ask('PATCH', `/api/companies/${id}`, { body: { name: 'b' } })
		await create('c')
		await tenant.remit.invoices.create({ totalCents: 1 })
		await new Reader(tenant.remit).readUntil(4)
		const list = async (query: string) => (await tenant.ask('GET', `/webhooks/events?${query}`)).body
		const expectNames = async (query: string, names: (string | undefined)[]) => {
			const { data, meta } = await list(query)
			expect([query, data.map(nameOf), meta.total]).toEqual([query, names, names.length])
			const reversed = (await list(`${query}&order=desc`)).data.map(nameOf)
			expect([query, reversed]).toEqual([query, names.toReversed()])
			const first = await list(`${query}&order=desc&limit=1`)
			const rest = (await list(`${query}&order=desc&cursor=${first.meta.nextCursor ?? 0}`)).data
			expect([query, [...first.data, ...rest].map(nameOf)]).toEqual([query, names.toReversed()])
		}
		await expectNames('type=company.*', ['a', 'b', 'c'])
		await expectNames('type=*', ['a', 'b', 'c', undefined])
		await expectNames('resourceType=company', ['a', 'b', 'c'])
		await expectNames('resourceType=invoice&type=company.*', [])
		await expectNames(`resourceId=${id}`, ['a', 'b'])
		await expectNames(`resourceId=${id}&type=company.*`, ['a', 'b'])
		await expectNames(`resourceId=${id}&type=invoice.*`, [])
		await expectNames(`since=${since}`, ['b', 'c', undefined])
		await expectNames(`since=${since}&type=company.*`, ['b', 'c'])
		await expectNames(`since=${since}&resourceId=${id}`, ['b'])
		await expectNames(`since=${since + 1}`, [])
		expect((await list(`since=${since}&limit=1&offset=1`)).data.map(nameOf)).toEqual(['c'])
	})

	it('begins from now on with the cursor `now`', async () => {
		const list = async (query: string) => (await tenant.ask('GET', `/webhooks/events?${query}`)).body
		expect((await list('cursor=now')).meta).toMatchObject({ total: null, nextCursor: '0' })
		for (const name of ['a', 'b']) await tenant.ask('POST', '/api/companies', { body: { name } })
		const { data, meta } = await list('cursor=now')
		expect(data).toEqual([])
		await tenant.ask('POST', '/api/companies', { body: { name: 'c' } })
		expect((await list(`cursor=${meta.nextCursor}`)).data.map(nameOf)).toEqual(['c'])
		expect((await list('cursor=now&order=desc&limit=1')).data.map(nameOf)).toEqual(['c'])
	})

	it('answers one event as the list has it', async () => {
		await tenant.ask('POST', '/api/companies', { body: { name: 'Zoë "株式会社" \\ 🧾' } })
		const reader = new Reader(tenant.remit)
		await reader.readUntil(1)
		const [event] = reader.seen as [WebhookEvent]
		expect((await tenant.ask('GET', `/webhooks/events/${event.id}`)).body).toEqual({ data: event })
		expect(event.data).toEqual((await tenant.ask('GET', `/api/companies/${event.resource.id}`)).body.data)
		const unknown = await tenant.ask('GET', '/webhooks/events/evt_unknown')
		expect(unknown).toMatchObject({ status: 404, body: { code: 'event_not_found' } })
	})

	it('keeps organizations apart', async () => {
		await tenant.ask('POST', '/api/companies', { body: { name: 'mine' } })
		const reader = new Reader(tenant.remit)
		await reader.readUntil(1)
		const stranger = await server.newTenant()
		expect((await stranger.ask('GET', '/webhooks/events?cursor=0')).body.data).toEqual([])
		expect((await stranger.ask('GET', '/webhooks/events')).body.meta.total).toBe(0)
		expect((await stranger.ask('GET', `/webhooks/events/${reader.seen[0]?.id}`)).status).toBe(404)
	})

	it('loses and repeats nothing while twenty write at the same time', async () => {
		const reader = new Reader(tenant.remit)
		let writing = true
		const writers = Promise.all(
			Array.from({ length: 20 }, async (_, writer) => {
				const id = await tenant.remit.companies.create({ name: `${writer}` })
				for (const name of ['b', 'c', 'd']) await tenant.remit.companies.update(id.id, { name: `${writer}${name}` })
			}),
		).finally(() => {
			writing = false
		})
		while (writing) await reader.read()
		await writers
		await reader.readUntil(80)
		expect(new Set(reader.seen.map(({ id }) => id)).size).toBe(reader.seen.length)
		expect(reader.seen).toHaveLength((await eventsOf(server, tenant)).length)
		for (const [, events] of Map.groupBy(reader.seen, ({ resource }) => resource.id)) {
			expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4])
		}
	})
})

/** Opens a transaction that runs one of its steps on each call of `step`; the call after the last step commits. */
function openTransaction(...steps: ((tx: Db) => Promise<unknown>)[]) {
	const gates = [...steps, undefined].map(() => Promise.withResolvers<void>())
	const done = [...steps, undefined].map(() => Promise.withResolvers<void>())
	const whole = server.db.transaction(async (tx) => {
		for (const [index, step] of steps.entries()) {
			await gates[index]?.promise
			await step(tx)
			done[index]?.resolve()
		}
		await gates[steps.length]?.promise
	})
	let next = 0
	return {
		async step() {
			const index = next++
			gates[index]?.resolve()
			await (index === steps.length ? whole : Promise.race([done[index]?.promise, whole]))
		},
	}
}

// On SQLite transactions run one after the other.
if (inject('database') === 'postgres') {
	describe('the feed, while transactions overlap,', () => {
		it('does not wait for an open one, and has its events when it ends', async () => {
			const slow = openTransaction((tx) => newCompany(tx, 'slow'))
			await slow.step()
			await tenant.remit.companies.create({ name: 'quick' })
			const reader = new Reader(tenant.remit)
			await reader.read()
			expect(reader.seen.map(nameOf)).toEqual(['quick'])
			await slow.step()
			await reader.read()
			expect(reader.seen.map(nameOf)).toEqual(['quick', 'slow'])
		})

		it('loses nothing of one that began later, wrote first and ends last', async () => {
			const early = openTransaction(
				(tx) => newCompany(tx, 'early 1'),
				(tx) => newCompany(tx, 'early 2'),
			)
			const late = openTransaction((tx) => newCompany(tx, 'late'))
			await early.step()
			await late.step()
			await early.step()
			await early.step()
			const reader = new Reader(tenant.remit)
			await reader.read()
			await late.step()
			await reader.readUntil(3)
			expect(reader.seen.map(nameOf).sort()).toEqual(['early 1', 'early 2', 'late'])
		})

		it('loses nothing of transactions of any length', async () => {
			const reader = new Reader(tenant.remit, 3)
			let writing = true
			const writers = Promise.all(
				Array.from({ length: 8 }, async (_, writer) => {
					for (let round = 0; round < 10; round++) {
						await server.db.transaction(async (tx) => {
							await newCompany(tx, `${writer} ${round} begins`)
							await pause((writer * 7 + round * 3) % 11)
							await newCompany(tx, `${writer} ${round} ends`)
						})
					}
				}),
			).finally(() => {
				writing = false
			})
			while (writing) await reader.read()
			await writers
			await reader.readUntil(160)
			const expected = (await eventsOf(server, tenant)).map(({ data }) => data.name)
			expect(reader.seen.map(nameOf).sort()).toEqual(expected.sort())
		})
	})
}
