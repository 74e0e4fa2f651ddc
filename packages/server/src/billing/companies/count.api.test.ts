// The number of an organization's companies, which triggers count.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestServer, type Tenant, type TestServer } from '../../../test/harness.ts'
import { connect } from '../../../test/plans.ts'
import type { Ask } from '../../../test/tables.ts'
import { createCompany } from './store.ts'

let server: TestServer
let tenant: Tenant
let ask: Ask
let end: () => unknown
beforeAll(async () => {
	server = await startTestServer()
	;({ ask, end } = await connect(server.settings))
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(async () => {
	await end()
	await server.close()
})

const total = async (of = tenant): Promise<number> => (await of.ask('GET', '/api/companies?limit=1')).body.meta.total
const create = async (of = tenant): Promise<string> =>
	(await of.ask('POST', '/api/companies', { body: { name: 'Acme' } })).body.id

it('follows what is created and deleted, in each organization by itself', async () => {
	const other = await server.newTenant()
	expect(await total()).toBe(0)
	const ids = [await create(), await create(), await create()]
	await create(other)
	await tenant.ask('PATCH', `/api/companies/${ids[0]}`, { body: { name: 'Other', phone: '1' } })
	await tenant.ask('DELETE', `/api/companies/${ids[1]}`)
	await tenant.ask('DELETE', `/api/companies/${ids[1]}`)
	expect([await total(), await total(other)]).toEqual([2, 1])
})

it('counts nothing that is rolled back', async () => {
	const failed = server.db.transaction(async (tx) => {
		await createCompany(tenant.writing(tx), { name: 'Acme' })
		await tx
			.attempt(async () => {
				await createCompany(tenant.writing(tx), { name: 'Acme' })
				throw new Error('part')
			})
			.catch(() => undefined)
		throw new Error('whole')
	})
	await expect(failed).rejects.toThrow('whole')
	expect(await total()).toBe(0)
	await server.db.transaction(async (tx) => {
		await createCompany(tenant.writing(tx), { name: 'Acme' })
		await tx
			.attempt(async () => {
				await createCompany(tenant.writing(tx), { name: 'Acme' })
				throw new Error('part')
			})
			.catch(() => undefined)
	})
	expect(await total()).toBe(1)
})

it('is exact after many writers of one organization at once, some of which create and delete in one transaction', async () => {
	const writers = Array.from({ length: 24 }, async (_, n) => {
		const id = await create()
		if (n % 3 === 0) await tenant.ask('DELETE', `/api/companies/${id}`)
		await server.db.transaction(async (tx) => {
			for (let made = 0; made < 3; made++) await createCompany(tenant.writing(tx), { name: `${n} ${made}` })
		})
	})
	await Promise.all(writers)
	expect(await total()).toBe(24 - 8 + 72)
})

it('follows rows that are written without the server: deleted, brought back, and removed for good', async () => {
	const [first, second] = [await create(), await create()]
	await ask(`update companies set "deletedAt" = 1 where id = '${first}'`)
	expect(await total()).toBe(1)
	await ask(`update companies set "deletedAt" = 2 where id = '${first}'`)
	expect(await total()).toBe(1)
	await ask(`update companies set "deletedAt" = null where id = '${first}'`)
	expect(await total()).toBe(2)
	await ask(`update companies set "deletedAt" = 1 where id = '${first}'`)
	await ask(`delete from companies where id in ('${first}', '${second}')`)
	expect(await total()).toBe(0)
})
