// The list of event types: any JSON Schema library can use its schemas, and every event that is sent fits its schema.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type Tenant } from '../../../test/harness.ts'
import { secret } from '../../../test/leaks.ts'
import { startMailServer } from '../../../test/mail-server.ts'
import { paidAtStripe, post, type StripeServer, startWithStripe } from '../../../test/payments.ts'
import { newPeopleSync } from '../../../test/people-api.ts'
import { FakeProvider } from '../../../test/provider.ts'
import { Sink } from '../../../test/sink.ts'
import { invoiceTime } from '../../../test/time.ts'
import { eventTypes } from '../../generated/tables.ts'

interface Described {
	readonly type: string
	readonly description: string
	readonly schema: Record<string, unknown>
	readonly example: Record<string, unknown>
}

const mails = mkdtempSync(join(tmpdir(), 'remit-event-types-'))
let server: StripeServer
let described: readonly Described[]
const validators = new Map<string, ValidateFunction>()
beforeAll(async () => {
	server = await startWithStripe({
		SMTP_URL: `file:${mails}`,
		MAIL_FROM: 'invoices@remit.example',
		WEBHOOK_RETRY_SECONDS: [0, 60],
	})
	described = (await server.ask('GET', '/webhooks/event-types?limit=100')).body.data
	// As a receiver would set it up: a library ignores formats and keywords that it does not know (JSON Schema Core §4.3.1).
	const ajv = new Ajv2020({ strict: false, validateFormats: false })
	for (const { type, schema } of described) validators.set(type, ajv.compile(schema))
})
afterAll(async () => {
	await server.close()
	rmSync(mails, { recursive: true, force: true })
})

/** The violations of an event against the schema of its type. */
function faults(event: { type: string }): string[] {
	const validate = validators.get(event.type)
	if (!validate) return [`there is no type ${event.type}`]
	const valid: boolean = validate(event)
	return valid ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${event.type}${instancePath} ${message}`)
}

describe('the list of event types', () => {
	it('has every type, in pages', async () => {
		expect(described.map(({ type }) => type)).toEqual(Object.keys(eventTypes))
		const total = described.length
		const { data, meta } = (await server.ask('GET', '/webhooks/event-types?limit=2&offset=3')).body
		expect(meta).toEqual({ total, limit: 2, offset: 3, hasMore: true, nextCursor: expect.any(String) })
		expect(data).toEqual(described.slice(3, 5))
		expect((await server.ask('GET', `/webhooks/event-types?offset=${total}`)).body).toEqual({
			data: [],
			meta: { total, limit: 50, offset: total, hasMore: false, nextCursor: null },
		})
		const iterated: string[] = []
		for await (const { type } of server.remit.webhooks.eventTypes.list({ limit: 5 })) iterated.push(type)
		expect(iterated).toEqual(described.map(({ type }) => type))
	})

	it('is the same for every caller', async () => {
		const { key } = await server.newKey(['read'])
		expect((await server.ask('GET', '/webhooks/event-types?limit=100', { key })).body.data).toEqual(described)
	})

	it('has only types that an endpoint can subscribe to', async () => {
		const tenant = await server.newTenant()
		const types = described.map(({ type }) => type)
		await tenant.remit.webhooks.endpoints.create({ url: 'https://acme.example/hook', eventTypes: types })
	})
})

describe('the schema of an event type', () => {
	it('refers to nothing outside itself', () => {
		for (const { type, schema } of described) {
			const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref as string)
			const defined = Object.keys(schema.$defs as object).map((name) => `#/$defs/${name}`)
			expect({ type, unknown: refs.filter((ref) => !defined.includes(ref)) }).toEqual({ type, unknown: [] })
			expect({ type, unused: defined.filter((name) => !refs.includes(name)) }).toEqual({ type, unused: [] })
			expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
		}
	})

	it('accepts its example, and no event of another type', () => {
		for (const { type, example } of described) {
			expect(example.type).toBe(type)
			expect(faults(example as { type: string })).toEqual([])
			const accepting = [...validators].filter(([, validate]) => validate(example)).map(([name]) => name)
			expect(accepting).toEqual([type])
		}
	})

	it('rejects an event that lacks a field, or has one of another type, and takes one with more, as later versions may have', () => {
		for (const { type, example } of described) {
			const { sequence, ...without } = example
			for (const wrong of [without, { ...example, sequence: String(sequence) }, { ...example, data: {} }])
				expect(faults({ ...wrong, type })).not.toEqual([])
			const later = { ...example, type, more: 1 }
			expect(faults(later)).toEqual([])
		}
	})
})

/** Takes a record of each kind through all its events, except those that need days to pass. */
async function live(tenant: Tenant): Promise<void> {
	const { remit } = tenant
	const company = await remit.companies.create({ name: 'Zoë & Söhne 🧾', billingEmail: 'billing@acme.example' })
	await remit.companies.update(company.id, { name: 'Zoë', domain: 'acme.example' })
	const dealId = await tenant.newDeal({ stage: 'won', hourlyRateCents: 100 })
	const [hour, other] = [await tenant.newTimeEntry({ dealId }), await tenant.newTimeEntry({ dealId })]
	await remit.timeEntries.update(other, { taskName: 'Review' })
	await remit.timeEntries.delete(other)
	const invoice = (await invoiceTime(tenant, { dealId, timeEntryIds: [hour] })).body.id
	await remit.invoices.update(invoice, { notes: 'Thanks', companyId: company.id, dueDate: '2026-01-05', taxRate: 19 })
	await remit.invoices.send(invoice, { to: 'billing@acme.example' })
	const { url } = await remit.invoices.clientLink.create(invoice)
	await tenant.ask('GET', `/api/invoices/public/${url.split('/').at(-1)}`, { key: null })
	await remit.invoices.update(invoice, { status: 'overdue' })
	await remit.invoices.update(invoice, { status: 'paid', paymentMethod: 'transfer' })
	const bare = await remit.invoices.create({})
	await remit.invoices.update(bare.id, { status: 'cancelled' })
	await remit.invoices.delete(bare.id)
	const contact = await remit.contacts.create({ name: 'Ada', companyId: company.id })
	await remit.contacts.update(contact.id, { phone: '1' })
	await remit.contacts.delete(contact.id)
	await remit.deals.update(dealId, { name: 'Shop' })
	await remit.deals.delete(dealId)
	const rate = await remit.taxRates.create({ name: 'VAT', percent: '19' })
	await remit.taxRates.update(rate.id, { isDefault: true })
	await remit.taxRates.delete(rate.id)
	const [source, target] = [
		{ system: 'http_json', object: 'people' },
		{ system: 'internal', object: 'company' },
	]
	const mapping = await remit.mappings.create({ name: 'People', source, target, fields: [{ target: 'name', source: 'name' }] })
	await remit.mappings.update(mapping.id, { match: { keys: ['name'], onMultiple: 'first' } })
	await remit.mappings.delete(mapping.id)
	const unused = await remit.companies.create({ name: 'Gone' })
	await remit.companies.delete(unused.id)
}

/** Pays an invoice in parts, takes one of them back, and pays another one that owes less by now. */
async function pays(tenant: Tenant): Promise<void> {
	const { remit } = tenant
	const invoiceId = (await remit.invoices.create({ totalCents: 5_000 })).id
	const payment = await remit.payments.create({ amountCents: 2_000, currency: 'USD', invoiceId })
	await remit.payments.update(payment.id, { notes: 'by transfer' })
	await remit.payments.reverse(payment.id, { reason: 'The bank returned it.' })
	const { id, webhook } = await paidAtStripe(server, tenant)
	await remit.invoices.update(id, { totalCents: 4_000 })
	await post(`${server.url}/payments/stripe/webhook`, webhook())
}

/** Tests a connection while its provider works, fails, works again, and does not take the credentials. */
async function connects({ remit }: Tenant): Promise<void> {
	const provider = await new FakeProvider().start()
	const credentials = { apiKey: secret('key') }
	const config = { baseUrl: provider.url }
	const { id } = await remit.connections.create({ provider: 'http_json', name: 'Acme', authType: 'api_key', credentials, config })
	for (const answer of [{}, 503, {}, 401]) {
		provider.answers(answer)
		await remit.connections.test(id)
	}
	await remit.connections.update(id, { name: 'Acme, EU' })
	await remit.connections.delete(id)
	await provider.stop()
}

/** Runs a sync whose provider fails, has one bad record, loses one for a while, lists all, and then nobody. */
async function synchronizes(tenant: Tenant): Promise<void> {
	const { remit } = tenant
	const provider = await new FakeProvider().start()
	provider.answers([{ id: 1, name: 'Ada' }])
	const sync = await newPeopleSync(tenant, provider.url, { deletePolicy: 'delete' })
	const run = async (answer: unknown, mode: 'full' | 'incremental' = 'full') => {
		provider.answers(answer)
		await remit.syncs.run(sync.id, { mode })
		await server.runJobs()
	}
	const [ada, bob] = [1, 2].map((id) => ({ id, name: `Person ${id}` }))
	for (const people of [[ada, bob], [ada], [ada, bob], [ada, bob, { id: 3 }]]) await run(people)
	await run(404)
	await run([])
	await remit.syncs.cancel(sync.id)
	await remit.syncs.update(sync.id, { name: 'Others', schedule: { type: 'interval', minutes: 1 } })
	await remit.connections.update(sync.connectionId, { status: 'disabled' })
	server.clock.now += 60_000
	await server.runJobs()
	await remit.syncs.delete(sync.id)
	await provider.stop()
}

/** Sends an invoice by way of a mail server that takes no recipient, and then hangs up instead of answering. */
async function failsToSend(tenant: Tenant): Promise<void> {
	let isOpen = false
	const mail = await startMailServer({ onRcptTo: (_, __, callback) => callback(isOpen ? null : new Error('No such user')) })
	mail.beforeAnswer = () => mail.hangUp()
	const other = await startTestServer({ ...server.settings, SMTP_URL: mail.url, MAIL_FROM: 'invoices@remit.example' })
	const { id } = await tenant.remit.invoices.create({})
	const send = () => other.ask('POST', `/api/invoices/${id}/send`, { key: tenant.key, body: { to: 'billing@acme.example' } })
	await send()
	isOpen = true
	await send()
	await other.close()
	await mail.close()
}

describe('every event of a whole life', () => {
	it('fits the schema of its type, as it is delivered and as the feed has it', async () => {
		const tenant = await server.newTenant()
		const sink = await new Sink().start()
		const id = await sink.subscribe(tenant.remit, '*')
		// An endpoint that fails for days and then answers 410 causes the events about endpoints.
		const failing = await new Sink().start()
		const other = await failing.subscribe(tenant.remit, 'webhook.test')
		const attempted = async (count: number) => {
			await tenant.remit.webhooks.endpoints.test(other)
			await failing.events(count)
			await expect
				.poll(() => tenant.remit.webhooks.deliveries.list({ status: 'delivering' }), { timeout: 10_000 })
				.toMatchObject({ data: [] })
		}
		failing.answer = { status: 500 }
		await attempted(1)
		server.clock.now += 25 * 3_600_000
		await failing.events(2)
		await sink.events(1)
		failing.answer = { status: 410 }
		await attempted(3)
		await tenant.remit.webhooks.endpoints.test(id)
		await live(tenant)
		await failsToSend(tenant)
		await pays(tenant)
		await connects(tenant)
		await synchronizes(tenant)
		const kinds = () => new Set(sink.received.map(({ event }) => event.type))
		await expect.poll(() => [...kinds()].sort(), { timeout: 10_000 }).toEqual(Object.keys(eventTypes).sort())
		expect(sink.received.flatMap(({ event }) => faults(event))).toEqual([])
		for await (const event of tenant.remit.webhooks.events.list()) expect(faults(event)).toEqual([])
		expect([...sink.problems, ...failing.problems]).toEqual([])
		await sink.stop()
		await failing.stop()
	})
})
