// Kills a server while a processor reports payments to it: every payment that it answered is stored, and a payment that is
// reported again is applied once.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import { expectBalanced } from '../../../test/ledger.ts'
import {
	eventsOfPayments,
	paidAtStripe,
	paymentsOf,
	post,
	type StripeServer,
	startWithStripe,
	stripeSettings,
	type Webhook,
} from '../../../test/payments.ts'
import { Remit } from '../../../test/remit.ts'

const count = 50
const folder = mkdtempSync(join(tmpdir(), 'remit-crash-'))

let server: StripeServer
let tenant: Tenant
/** Runs the server as a process, on the same database. */
let remit: Remit
beforeAll(async () => {
	server = await startWithStripe()
	tenant = await server.newTenant()
	const { DATABASE_URL = '', DATA_DIR = '', ENCRYPTION_KEYS = '' } = server.settings
	remit = new Remit({ DATABASE_URL, DATA_DIR, ENCRYPTION_KEYS, ...stripeSettings(server.stripe) }, folder)
})
afterAll(async () => {
	remit.stop()
	await server.close()
	rmSync(folder, { recursive: true, force: true })
})

interface Delivery {
	readonly id: string
	readonly webhook: Webhook
}

/** Posts the webhooks, five at a time, to a process that it kills after `answers`; returns the ids that were answered 200. */
async function killAmid(deliveries: readonly Delivery[], answers: number): Promise<string[]> {
	const process = await remit.serve()
	const waiting = [...deliveries]
	const received: string[] = []
	const enough = Promise.withResolvers<void>()
	const lane = async () => {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			const { id, webhook } = next
			const answer = await post(`${process.url}/payments/stripe/webhook`, webhook).catch(() => undefined)
			if (answer?.status === 200) received.push(id)
			if (received.length >= answers) enough.resolve()
		}
	}
	const lanes = Promise.all(Array.from({ length: 5 }, lane))
	await enough.promise
	await process.end('SIGKILL')
	await lanes
	return received
}

async function paidInvoices(): Promise<{ id: string; version: number }[]> {
	const { body } = await tenant.ask('GET', '/api/invoices?status=paid&limit=100')
	return body.data.map(({ id, version }: { id: string; version: number }) => ({ id, version }))
}

it('every invoice is paid once, whenever the server is killed', async () => {
	const dealId = await tenant.newDeal({ stage: 'invoiced' })
	const made = await Promise.all(Array.from({ length: count }, () => paidAtStripe(server, tenant, { totalCents: 5_000, dealId })))
	const deliveries = made.map(({ id, webhook }) => ({ id, webhook: webhook() }))

	for (const [sent, answers] of [
		[deliveries, 3],
		[deliveries.toReversed(), 12],
	] as const) {
		const received = await killAmid(sent, answers)
		expect(received.length).toBeLessThan(count)
		expect((await paidInvoices()).map(({ id }) => id)).toEqual(expect.arrayContaining(received))
	}

	const { url, end } = await remit.serve()
	for (const again of [1, 2]) {
		const answers = await Promise.all(deliveries.map(({ webhook }) => post(`${url}/payments/stripe/webhook`, webhook)))
		expect([again, ...answers.map(({ status }) => status)]).toEqual([again, ...Array(count).fill(200)])
	}
	await end('SIGTERM')

	expect(await paidInvoices()).toEqual(expect.arrayContaining(made.map(({ id }) => ({ id, version: 2 }))))
	const payments = await paymentsOf(server.db, tenant.organizationId)
	expect(payments.map(({ invoiceId, outcome }) => `${invoiceId} ${outcome}`).sort()).toEqual(
		made.map(({ id }) => `${id} applied`).sort(),
	)
	const events = (await eventsOfPayments(server.db, tenant.organizationId)).map(({ type, resourceId }) => `${type} ${resourceId}`)
	const { data: ledger } = (await tenant.ask('GET', '/api/payments?limit=100')).body
	expect(ledger).toHaveLength(count)
	await expectBalanced(server.db, tenant.organizationId)
	const received = ledger.map(({ id }: { id: string }) => `payment.received ${id}`)
	const once = [...received, ...made.flatMap(({ id }) => [`invoice.updated ${id}`, `invoice.paid ${id}`])]
	expect(events.sort()).toEqual([...once, `deal.updated ${dealId}`, `deal.stage_changed ${dealId}`].sort())
})
