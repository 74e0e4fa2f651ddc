// Names that an older version has stored are trimmed, where that changes no document and makes no two alike.
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { up } from '../../../migrations/0097-trimmed-names.ts'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connect } from '../../../test/plans.ts'
import { Worker } from '../../platform/work/jobs.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import { trimNames } from './trim-store.ts'

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

it('The migration trims names, but those of issued invoices and where two would be alike, and says so in the log', async () => {
	const post = async (path: string, body: object): Promise<string> => (await tenant.ask('POST', path, { body })).body.id
	const company = await post('/api/companies', { name: 'Acme' })
	const entry = await tenant.newTimeEntry({ userId: 'u1' })
	const alone = await post('/api/invoices', { invoiceNumber: 'ZZ-1' })
	const first = await post('/api/invoices', { invoiceNumber: 'ZZ-2' })
	const second = await post('/api/invoices', { invoiceNumber: 'ZZ-3' })
	const issued = await post('/api/invoices', { invoiceNumber: 'ZZ-4', status: 'sent' })
	await database.ask(`update companies set name = ' Acme ', "sortName" = ' acme ' where id = '${company}'`)
	await database.ask(`update time_entries set "userId" = 'u1 ' where id = '${entry}'`)
	for (const [id, number] of [
		[alone, 'ZZ-1\u00a0'],
		[second, 'ZZ-2 '],
		[issued, 'ZZ-4 '],
	])
		await database.ask(`update invoices set "invoiceNumber" = '${number}' where id = '${id}'`)
	const lines: { id: string; why?: string }[] = []
	const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
	const worker = new Worker({
		db: server.db,
		handlers: { trimHere: trimNames(server.db, log) },
		now: () => server.clock.now,
		log,
	})
	// Under another kind, so that the server's own worker leaves it to this one.
	const here = (sql: string) => sql.replace('?', String(server.clock.now)).replace(jobKinds.trimNames, 'trimHere')
	await up({ raw: (sql: string) => database.ask(here(sql)) } as never)
	await worker.drain()
	const row = async (table: string, id: string) => (await database.ask(`select * from ${table} where id = '${id}'`))[0]
	expect(await row('companies', company)).toMatchObject({ name: 'Acme', sortName: 'acme' })
	expect(Number((await row('companies', company))?.version)).toBe(2)
	expect(await row('time_entries', entry)).toMatchObject({ userId: 'u1' })
	expect(await row('invoices', alone)).toMatchObject({ invoiceNumber: 'ZZ-1' })
	expect(await row('invoices', first)).toMatchObject({ invoiceNumber: 'ZZ-2' })
	expect(await row('invoices', second)).toMatchObject({ invoiceNumber: 'ZZ-2 ' })
	expect(await row('invoices', issued)).toMatchObject({ invoiceNumber: 'ZZ-4 ' })
	expect(Object.fromEntries(lines.map(({ id, why }) => [id, why]))).toEqual({
		...{ [company]: undefined, [entry]: undefined, [alone]: undefined },
		...{ [second]: 'another has that text', [issued]: 'it is issued' },
	})
	expect((await tenant.ask('GET', `/api/companies/${company}/history`)).body.data[0]).toMatchObject({
		...{ action: 'updated', operation: 'jobs.trimNames', actor: { type: 'system' } },
		...{ before: { name: ' Acme ' }, after: { name: 'Acme' } },
	})
	const entries = 'select "resourceId" from audit_log where operation = \'jobs.trimNames\''
	expect((await database.ask(entries)).map(({ resourceId }) => resourceId).sort()).toEqual([company, entry, alone].sort())
	// A server of before goes on for a while, and writes behind the walk.
	await database.ask(`update companies set name = 'Acme ' where id = '${company}'`)
	server.clock.now += 86_400_000
	await worker.drain()
	expect(await row('companies', company)).toMatchObject({ name: 'Acme' })
})
