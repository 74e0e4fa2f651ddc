// Places in the feed on PostgreSQL: each organization counts by itself, whichever server gives them.
import knexFactory, { type Knex } from 'knex'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { up } from '../../../migrations/0055-feed-places.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'

let server: TestServer
let other: TestServer
let knex: Knex
let tenant: Tenant
beforeAll(async () => {
	server = await startTestServer()
	other = await startTestServer(server.settings)
	knex = knexFactory({ client: 'pg', connection: server.settings.DATABASE_URL as string })
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(async () => {
	await knex.destroy()
	await other.close()
	await server.close()
})

const create = ({ remit }: Tenant, ...names: string[]) =>
	names.reduce<Promise<unknown>>((before, name) => before.then(() => remit.companies.create({ name })), Promise.resolve())
const list = async (at: TestServer, { key }: Tenant, query = '') => {
	const { data, meta } = (await at.ask('GET', `/webhooks/events?limit=100&${query}`, { key })).body
	return { names: data.map((event: { data: { name: string } }) => event.data.name), cursor: Number(meta.nextCursor) }
}
const placesOf = async ({ organizationId }: Tenant) =>
	(await knex('events').where({ organizationId }).orderBy('place').pluck('place')).map(Number)

it('each organization counts from 1, and reading what has its places writes nothing', async () => {
	const neighbour = await server.newTenant()
	for (const name of ['a', 'b', 'c']) for (const one of [tenant, neighbour]) await create(one, name)
	for (const one of [tenant, neighbour]) expect((await list(server, one)).cursor).toBe(3)
	expect([await placesOf(tenant), await placesOf(neighbour)]).toEqual([
		[1, 2, 3],
		[1, 2, 3],
	])
	const version = () => knex('feed_places').where({ organizationId: tenant.organizationId }).first(knex.raw('xmin, xmax, last'))
	const before = await version()
	expect((await list(server, tenant, 'cursor=3')).names).toEqual([])
	expect(await version()).toEqual(before)
})

it('two servers that give places at once give each event one, and no reader of either misses any', async () => {
	let writing = true
	const writers = Promise.all(
		Array.from({ length: 8 }, async (_, writer) => {
			for (let round = 0; round < 10; round++)
				await [server, other][round % 2]?.ask('POST', '/api/companies', { key: tenant.key, body: { name: `${writer} ${round}` } })
		}),
	).finally(() => {
		writing = false
	})
	const read = async (at: TestServer) => {
		let [cursor, seen] = [0, [] as string[]]
		const more = async () => {
			const page = await list(at, tenant, `cursor=${cursor}`)
			cursor = page.cursor
			seen = [...seen, ...page.names]
		}
		while (writing) await more()
		await expect.poll(async () => more().then(() => seen.length), { interval: 20, timeout: 10_000 }).toBe(80)
		return seen
	}
	const readers = await Promise.all([server, other, server, other].map(read))
	await writers
	for (const seen of readers) expect(new Set(seen).size).toBe(80)
	expect(new Set(await placesOf(tenant)).size).toBe(80)
})

it('a server that finds another giving places does not wait for it', async () => {
	await create(tenant, 'a')
	await list(server, tenant)
	await create(tenant, 'b')
	const { organizationId } = tenant
	await knex.transaction(async (tx) => {
		await tx('feed_places').where({ organizationId }).forUpdate()
		expect((await list(other, tenant)).names).toEqual(['a'])
	})
	expect((await list(other, tenant)).names).toEqual(['a', 'b'])
})

it('a place is not given again when its event is removed', async () => {
	await create(tenant, 'a', 'b')
	const { cursor } = await list(server, tenant)
	await knex('events').where({ organizationId: tenant.organizationId }).delete()
	await create(tenant, 'c')
	expect((await list(server, tenant, `cursor=${cursor}`)).names).toEqual(['c'])
})

/** How a server of the version before gave places. */
const byTheSequence = (organizationId: string) => ({
	name: 'before',
	text: `with first as materialized (
			select id from events where "organizationId" = $1 and place is null order by position limit 1000
		), next as materialized (select id, nextval('event_places') as place from first)
		update events set place = next.place from next where events."organizationId" = $1 and events.id = next.id`,
	values: [organizationId],
})

it('places of the version before stay, later ones are higher, and a server of that version gives none beside the counter', async () => {
	await knex.raw('drop table feed_places; create sequence event_places start 41')
	const before = new pg.Client(server.settings.DATABASE_URL)
	await before.connect()
	const neighbour = await server.newTenant()
	await create(tenant, 'a', 'b')
	await before.query(byTheSequence(tenant.organizationId))
	await create(neighbour, 'a')
	await before.query(byTheSequence(neighbour.organizationId))
	await create(tenant, 'c')
	await before.query('begin')
	await before.query(byTheSequence(tenant.organizationId))

	const migrating = knex.transaction(up)
	const isWaiting = async () =>
		(await before.query('select 1 from pg_locks where relation = $1::regclass and not granted', ['event_places'])).rowCount
	await expect.poll(isWaiting, { interval: 10, timeout: 10_000 }).toBeGreaterThan(0)
	await before.query('commit')
	await migrating
	expect((await list(server, tenant)).cursor).toBe(44)
	await create(tenant, 'd')
	await create(neighbour, 'b', 'c')
	await expect(before.query(byTheSequence(tenant.organizationId))).rejects.toMatchObject({ code: '42P01' })
	await before.end()
	expect(await list(server, tenant, 'cursor=42')).toEqual({ names: ['c', 'd'], cursor: 45 })
	expect(await list(server, neighbour, 'cursor=43')).toEqual({ names: ['b', 'c'], cursor: 46 })
	expect([await placesOf(tenant), await placesOf(neighbour)]).toEqual([
		[41, 42, 44, 45],
		[43, 45, 46],
	])
})
