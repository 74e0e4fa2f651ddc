// Records that an older version has written are found by the spellings of today.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { up } from '../../../../migrations/0094-spellings.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../../test/harness.ts'
import { connect } from '../../../../test/plans.ts'
import { listJobs } from '../../../platform/work/jobs-store.ts'
import { jobKinds } from '../../../platform/work/kinds.ts'

let server: TestServer
let tenant: Tenant
let database: Awaited<ReturnType<typeof connect>>
beforeAll(async () => {
	server = await startTestServer()
	tenant = await server.newTenant()
	database = await connect(server.settings)
})
afterAll(async () => {
	await database.end()
	await server.close()
})

const found = async (path: string, text: string) =>
	(await tenant.ask('GET', `${path}?${new URLSearchParams({ search: text })}`)).body.data.map(({ id }: { id: string }) => id)

it('The migration makes their words anew, a part at a time, and again a day later, and leaves what is as it should be', async () => {
	const post = async (path: string, body: object): Promise<string> => (await tenant.ask('POST', path, { body })).body.id
	const company = await post('/api/companies', { name: "Müller & O'Brien" })
	const contact = await post('/api/contacts', { name: 'Jörg Bäcker' })
	const entry = await tenant.newTimeEntry({ taskName: 'Überarbeitung' })
	const deal = await post('/api/deals', { name: 'Große Brücke' })
	for (let n = 0; n < 250; n++) await post('/api/contacts', { name: `Person ${n}` })
	await database.ask(`update companies set "searchText" = 'muller o brien' where id = '${company}'`)
	await database.ask(`update contacts set "searchText" = 'jorg backer' where id = '${contact}'`)
	await database.ask(`update time_entries set "searchText" = '/ uberarbeitung' where id = '${entry}'`)
	// Of before there was a search.
	await database.ask(`update deals set "searchText" = null where id = '${deal}'`)
	const versions = () =>
		database.ask('select id, "searchText", version, "updatedAt" from contacts where "name" like \'Person%\' order by id')
	const before = await versions()
	const searches = async () => [
		await found('/api/companies', 'mueller'),
		await found('/api/companies', 'obrien'),
		await found('/api/contacts', 'joerg baecker'),
		await found('/api/time-entries', 'ueberarb'),
		await found('/api/deals', 'bruecke'),
	]
	expect(await searches()).toEqual([[], [], [], [], []])
	await up({ raw: (sql: string) => database.ask(sql.replace('?', String(server.clock.now))) } as never)
	await server.runJobs()
	expect(await searches()).toEqual([[company], [company], [contact], [entry], [deal]])
	expect(await versions()).toEqual(before)
	// A server of before goes on for a while, and writes behind the walk.
	await database.ask(`update contacts set "searchText" = 'jorg backer' where id = '${contact}'`)
	await server.runJobs()
	expect(await found('/api/contacts', 'joerg baecker')).toEqual([])
	server.clock.now += 86_400_000
	await server.runJobs()
	expect(await found('/api/contacts', 'joerg baecker')).toEqual([contact])
	expect(await listJobs(server.db, { kind: jobKinds.searchTexts }, 1)).toEqual([])
})
