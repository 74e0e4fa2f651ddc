// The tables cut into parts by organization, with partitions of PostgreSQL: every operation works, and a request reaches one part alone.
// `TEST_PARTITIONS=4 pnpm test --project postgres` runs all other tests on such tables, too.
import pg from 'pg'
import { expect, inject, it, vi } from 'vitest'
import { newDatabase } from './databases.ts'
import { startTestServer, type Tenant } from './harness.ts'
import { partitionTables } from './partitions.ts'

const parts = 4

/** Writes and reads records of most kinds. */
async function useAll({ remit }: Tenant): Promise<void> {
	await remit.webhooks.endpoints.create({ url: 'https://receiver.example/hooks', eventTypes: ['*'] })
	const company = await remit.companies.create({ name: 'Acme', billingEmail: 'billing@acme.example' })
	await remit.contacts.create({ companyId: company.id, name: 'Ann' })
	const deal = await remit.deals.create({ companyId: company.id, name: 'Roof' })
	await remit.timeEntries.create({
		dealId: deal.id,
		description: 'Work',
		startedAt: 1_700_000_000_000,
		endedAt: 1_700_003_600_000,
	})
	await remit.taxRates.create({ name: 'VAT', percent: 19 })
	const lineItems = [{ description: 'Work', quantity: 1, unitPriceCents: 10_000 }]
	const invoice = await remit.invoices.create({ companyId: company.id, lineItems })
	await remit.invoices.update(invoice.id, { notes: 'Thank you' })
	await remit.invoices.list({ search: 'acme' })
	await remit.companies.list({ search: 'acme' })
	await remit.search.list({ q: 'acme' })
	await remit.reports.summary({})
	await remit.invoices.history(invoice.id)
	await remit.webhooks.deliveries.list()
	await remit.webhooks.events.list()
	await remit.invoices.delete(invoice.id)
}

interface Statement {
	readonly text: string
	readonly values: unknown[]
}

/** What the servers of this process send, each text once. */
function watchStatements() {
	const seen = new Map<string, Statement>()
	const { query } = pg.Client.prototype
	const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...given: unknown[]) {
		const [config] = given as [Partial<Statement>]
		if (config.text && config.values) seen.set(config.text, { text: config.text, values: config.values })
		return (query as (...given: unknown[]) => unknown).apply(this, given) as never
	})
	return { seen, end: () => spy.mockRestore() }
}

interface Plan {
	readonly Schema?: string
	readonly 'Actual Loops'?: number
	readonly Plans?: readonly Plan[]
}

const schemasOf = (plan: Plan): string[] => [
	...(plan['Actual Loops'] && /^part\d/.test(plan.Schema ?? '') ? [plan.Schema as string] : []),
	...(plan.Plans ?? []).flatMap(schemasOf),
]

/** The parts that a statement reads or writes when it runs. */
async function partsOf(client: pg.Client, { text, values }: Statement): Promise<string[]> {
	await client.query('begin')
	try {
		const { rows } = await client.query(`explain (analyze, verbose, costs off, timing off, format json) ${text}`, values)
		return [...new Set(schemasOf(rows[0]['QUERY PLAN'][0].Plan))]
	} catch (error) {
		// The row is there already, in its part.
		if ((error as pg.DatabaseError).code === '23505') return []
		throw error
	} finally {
		await client.query('rollback')
	}
}

const isExplained = /^\s*(select|insert|update|delete|with)\b/

it('A statement that names an organization reads and writes its part alone', async () => {
	const database = await newDatabase(inject('database'), inject('template'))
	const DATABASE_URL = database.settings.DATABASE_URL as string
	await partitionTables(DATABASE_URL, parts)
	const server = await startTestServer({ DATABASE_URL })
	for (let n = 0; n < 3; n++) await server.newTenant()
	const watched = watchStatements()
	await useAll(server)
	await server.runJobs()
	watched.end()
	const client = new pg.Client(DATABASE_URL)
	await client.connect()
	expect(await partsOf(client, { text: 'select name from companies', values: [] })).toHaveLength(parts)
	const found: string[] = []
	let count = 0
	for (const statement of watched.seen.values()) {
		if (!isExplained.test(statement.text) || !statement.values.includes(server.organizationId)) continue
		count++
		const reached = await partsOf(client, statement)
		if (reached.length > 1) found.push(`${reached.join(', ')}: ${statement.text}`)
	}
	await client.end()
	await server.close()
	await database.drop()
	expect(count).toBeGreaterThan(40)
	expect(found).toEqual([])
})
