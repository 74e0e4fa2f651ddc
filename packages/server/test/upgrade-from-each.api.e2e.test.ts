// A database of every earlier migration, with records in it, is brought up to this version and serves them.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import knexFactory, { type Knex } from 'knex'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { migrations } from '../migrations/index.ts'
import { readConfig } from '../src/config.ts'
import type { CurrencySummary } from '../src/generated/contract.ts'
import { openDatabase } from '../src/platform/db/drivers/open.ts'
import { startServer } from '../src/server.ts'
import { checkAnswer } from './contract.ts'
import { newDatabase, type TestDatabase } from './databases.ts'
import { startTestServer, type TestServer } from './harness.ts'
import { secret } from './leaks.ts'

/** A server of this version, whose records an older database gets as far as it has columns for them. */
let server: TestServer
/** What each older database is made in. */
let database: TestDatabase
let source: Knex
/** What this version sums of the invoices. */
let owed: unknown[]
beforeAll(async () => {
	server = await startTestServer()
	database = await newDatabase(inject('database'), inject('template'))
	source = connect(server.settings)
	const { remit } = server
	const { id: companyId } = await remit.companies.create({ name: 'Acme' })
	const { id: contactId } = await remit.contacts.create({ name: 'Ada', companyId })
	const dealId = await server.newDeal({ companyId, contactId })
	const { id: taxRateId } = await remit.taxRates.create({ name: 'VAT', percent: '19' })
	const lineItems = [{ description: 'Work', unitPriceCents: 100, taxRateId }]
	const { id } = await remit.invoices.create({ dealId, companyId, lineItems })
	await server.newTimeEntry({ dealId })
	await remit.invoices.clientLink.create(id)
	await remit.webhooks.endpoints.create({ url: 'https://receiver.example', eventTypes: ['*'] })
	await remit.connections.create({
		provider: 'stripe',
		name: 'Stripe',
		authType: 'api_key',
		credentials: { apiKey: secret('key') },
	})
	await remit.invoices.send(id, { to: 'billing@acme.example' })
	const late = { status: 'sent', dueDate: '2020-01-01' } as const
	await remit.invoices.create({ ...late, totalCents: 0 })
	const { id: risen } = await remit.invoices.create({ ...late, totalCents: 5 })
	await remit.invoices.update(risen, { status: 'paid' })
	await remit.invoices.update(risen, { totalCents: 9 })
	owed = (await remit.reports.summary()).currencies.map(({ outstanding, overdue, drafts }) => [outstanding, overdue, drafts])
})
afterAll(async () => {
	await source.destroy()
	await server.close()
	await database.drop()
})

/** The tables with records, each after those to which it refers, and the list that shows them. */
const lists: Record<string, string | undefined> = {
	organizations: undefined,
	api_keys: '/api-keys',
	companies: '/api/companies',
	contacts: '/api/contacts',
	pipelines: '/api/pipelines',
	deals: '/api/deals',
	invoices: '/api/invoices',
	tax_rates: '/api/tax-rates',
	time_entries: '/api/time-entries',
	client_links: undefined,
	events: '/webhooks/events',
	webhook_endpoints: '/webhooks/endpoints',
	connections: '/connections',
	mails: undefined,
	audit_log: '/api/audit',
}

const connect = ({ DATABASE_URL, DATA_DIR }: Partial<TestDatabase['settings']>): Knex =>
	DATABASE_URL
		? knexFactory({ client: 'pg', connection: DATABASE_URL })
		: knexFactory({
				client: 'better-sqlite3',
				connection: { filename: join(DATA_DIR as string, 'remit.db') },
				useNullAsDefault: true,
			})

/** Makes the database as the version with so many migrations left it; returns the tables that have records. */
async function goBackTo(version: number): Promise<string[]> {
	const { DATABASE_URL, DATA_DIR } = database.settings
	if (!DATABASE_URL) for (const end of ['', '-wal', '-shm']) rmSync(join(DATA_DIR, `remit.db${end}`), { force: true })
	const knex = connect(database.settings)
	if (DATABASE_URL) await knex.raw('drop schema public cascade; create schema public')
	await knex.raw('create table "migrations" ("number" integer primary key, "name" text, "appliedAt" bigint)')
	for (const [index, { name, up }] of migrations.slice(0, version).entries()) {
		await up(knex, false)
		await knex('migrations').insert({ number: index + 1, name, appliedAt: 0 })
	}
	const tables = []
	for (const table of Object.keys(lists)) {
		if (!(await knex.schema.hasTable(table))) continue
		await copyRows(table, knex)
		tables.push(table)
	}
	await knex.destroy()
	return tables
}

async function copyRows(table: string, to: Knex): Promise<void> {
	// In older versions PostgreSQL computes this column.
	const columns = Object.keys(await to(table).columnInfo()).filter((name) => name !== 'searchVector')
	const rows = await source(table).where({ organizationId: server.organizationId }).select(columns)
	if (rows.length === 0) throw new Error(`${table} has no record to copy`)
	await to(table).insert(rows.map(asStored))
}

/** A driver reads JSON as an object, and writes it as a text. */
const asStored = (row: Record<string, unknown>) =>
	Object.fromEntries(
		Object.entries(row).map(([name, value]) => [name, typeof value === 'object' && value ? JSON.stringify(value) : value]),
	)

/** A server of this version on the older database. */
async function serve() {
	const log = pino({ level: 'silent' })
	const config = { ...readConfig({ PORT: '0', NODE_ENV: 'test' }), ...server.settings, ...database.settings }
	const { url, close } = await startServer({ db: await openDatabase(config, log), config, log })
	const ask = async (method: string, path: string, body?: object) => {
		const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
		const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
		const bytes = new Uint8Array(await response.arrayBuffer())
		const text = new TextDecoder().decode(bytes)
		const answer = { status: response.status, headers: response.headers, text, bytes, body: JSON.parse(text) }
		checkAnswer(method, path, answer)
		return answer
	}
	return { ask, close }
}

/** CI asks each; otherwise those of the last weeks, and every eighth before them. */
const versions = migrations
	.slice(0, -1)
	.map(({ name }, index) => [name, index + 1] as const)
	.filter(([, version]) => process.env.UPGRADE_TEST === 'full' || version >= migrations.length - 8 || version % 8 === 1)

it.each(versions)('a database at %s starts with this version, shows its records and takes new ones', async (_, version) => {
	const tables = await goBackTo(version)
	const { ask, close } = await serve()
	if (!tables.includes('api_keys')) {
		const knex = connect(database.settings)
		await copyRows('api_keys', knex)
		await knex.destroy()
	}
	for (const table of tables) {
		const path = lists[table]
		if (path) expect([table, (await ask('GET', path)).body.data.length]).not.toEqual([table, 0])
	}
	const { currencies } = (await ask('GET', '/api/reports/summary')).body.data
	const summed = currencies.map(({ outstanding, overdue, drafts }: CurrencySummary) => [outstanding, overdue, drafts])
	// The first versions of invoices did not say what is paid of them.
	if (tables.includes('audit_log')) expect(summed).toEqual(owed)
	const { id } = (await ask('POST', '/api/invoices', {})).body
	expect((await ask('PATCH', `/api/invoices/${id}`, { status: 'sent' })).status).toBe(200)
	await close()
})
