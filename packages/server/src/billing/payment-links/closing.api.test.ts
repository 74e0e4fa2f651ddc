// Retired payment links: which changes retire them, and that the server deactivates them at the processor in the end.
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import {
	accountsOf,
	askForLink,
	createInvoice,
	linksOf,
	paymentsOf,
	post,
	processorOf,
	type StripeServer,
	startWithStripe,
} from '../../../test/payments.ts'
import type { PaymentProcessor } from '../../platform/outside/payments/processor.ts'
import { Worker } from '../../platform/work/jobs.ts'
import { listJobs } from '../../platform/work/jobs-store.ts'
import { jobKinds } from '../../platform/work/kinds.ts'
import type { PaymentLink } from '../invoices/payment-link-store.ts'
import { closeLink } from './closing.ts'

let server: StripeServer
beforeAll(async () => {
	// The server looks for jobs twice a second; fake timers let the tests decide when.
	vi.useFakeTimers({ toFake: ['setInterval'] })
	server = await startWithStripe()
})
afterAll(async () => {
	vi.useRealTimers()
	await server.close()
})

/** An invoice with a live link. */
async function withLink(tenant: Tenant = server) {
	const id = await createInvoice(tenant)
	await askForLink(tenant, id)
	const links = () => linksOf(server.db, tenant, id)
	const [link] = (await links()) as [PaymentLink]
	const change = (body: object, method = 'PATCH') => tenant.ask(method, `/api/invoices/${id}`, { body })
	const session = () => server.stripe.sessions.get(link.externalId)?.status
	return { id, link, links, change, session }
}

/** Lets the background work run and waits for these statuses. */
const serverCloses = async (links: () => Promise<PaymentLink[]>, statuses: string[]) => {
	vi.advanceTimersByTime(5_000)
	await vi.waitFor(async () => expect((await links()).map(({ status }) => status)).toEqual(statuses))
}

describe('a link is to be closed', () => {
	it.each<[string, string, object]>([
		['the invoice is cancelled', 'PATCH', { status: 'cancelled' }],
		['it is paid by hand', 'PATCH', { status: 'paid' }],
		['another amount is owed', 'PUT', { totalCents: 5_001 }],
		['lines make another amount', 'PATCH', { lineItems: [{ unitPriceCents: 4_000 }] }],
		['nothing is owed', 'PATCH', { totalCents: 0 }],
		['its currency changes', 'PATCH', { currency: 'EUR' }],
		['it is deleted', 'DELETE', {}],
	])('when %s', async (_, method, body) => {
		const { id, links, change } = await withLink()
		expect((await change(body, method)).status).toBe(200)
		expect(await links()).toMatchObject([{ status: 'closing' }])
		if (method !== 'DELETE') expect((await server.ask('GET', `/api/invoices/${id}/payment-link`)).status).toBe(404)
		await serverCloses(links, ['closed'])
	})

	it.each<[string, object]>([
		['what is written on it changes', { notes: 'Thank you', dueDate: '2030-01-01', invoiceNumber: 'OTHER-1' }],
		['lines make the same amount', { lineItems: [{ unitPriceCents: 5_000 }] }],
		['it is sent', { status: 'sent' }],
		['nothing changes', { totalCents: 5_000, currency: 'USD' }],
	])('but not when %s', async (_, body) => {
		const { links, link, change } = await withLink()
		expect((await change(body)).status).toBe(200)
		expect(await links()).toEqual([link])
	})

	it('of its own invoice alone', async () => {
		const [other, { change }] = [await withLink(), await withLink()]
		await change({ status: 'cancelled' })
		expect(await other.links()).toEqual([other.link])
	})
})

describe('closing', () => {
	const log = pino({ level: 'silent' })
	const closeWith = (processor: PaymentProcessor | undefined) => {
		const handlers = { [jobKinds.closeLink]: closeLink(server.db, accountsOf(processor)) }
		return new Worker({ db: server.db, handlers, now: () => server.clock.now, log }).drain()
	}
	const close = (timeoutMs = 1_000) => closeWith(processorOf(server.stripe, timeoutMs))

	it('ends the pages at the processor, of every organization, and leaves the others open', async () => {
		const made = [await withLink(), await withLink(await server.newTenant()), await withLink()] as const
		for (const { change } of made.slice(0, 2)) await change({ status: 'cancelled' })
		for (const { links } of made.slice(0, 2)) await serverCloses(links, ['closed'])
		expect(made.map(({ session }) => session())).toEqual(['expired', 'expired', 'open'])
		expect(await made[2].links()).toEqual([made[2].link])
	})

	it('is tried again after a failure, which does not keep it from the other links', async () => {
		const made = [await withLink(), await withLink()]
		for (const { change } of made) await change({ status: 'cancelled' })
		const statuses = async () => (await Promise.all(made.map(({ links }) => links()))).flat().map(({ status }) => status)
		server.stripe.failures.push({ status: 403, error: { type: 'invalid_request_error', message: 'Not with this key' } })
		await close()
		expect((await statuses()).sort()).toEqual(['closed', 'closing'])
		const [failed, ...others] = await listJobs(server.db, { kind: jobKinds.closeLink }, 10)
		expect(failed).toMatchObject({ resourceId: expect.stringMatching(/^plk_/), attempt: 1, lastError: expect.any(String) })
		expect(others).toEqual([])
		server.clock.now += 10_000
		await close()
		expect(await statuses()).toEqual(['closed', 'closed'])
		const asked = server.stripe.requests.length
		await close()
		expect(server.stripe.requests).toHaveLength(asked)
	})

	it('is done for a page that expired by itself', async () => {
		const { change, links, link } = await withLink()
		await change({ status: 'cancelled' })
		Object.assign(server.stripe.sessions.get(link.externalId) ?? {}, { status: 'expired' })
		await close()
		expect(await links()).toMatchObject([{ status: 'closed' }])
	})

	it('leaves a link paid that is paid meanwhile', async () => {
		const { id, link, links, change } = await withLink()
		await change({ totalCents: 6_000 })
		server.stripe.complete(link.externalId)
		server.stripe.failures.push('hang')
		const closing = close(100)
		const webhook = server.stripe.deliver('checkout.session.completed', link.externalId, server.clock.now)
		expect((await post(`${server.url}/payments/stripe/webhook`, webhook)).status).toBe(200)
		await closing
		expect(await links()).toMatchObject([{ status: 'paid' }])
		const payments = await paymentsOf(server.db, server.organizationId)
		expect(payments).toMatchObject([{ invoiceId: id, outcome: 'applied' }])
	})

	it('only forgets a link of a processor that is not set up any more', async () => {
		const { change, links, session } = await withLink()
		await change({ status: 'cancelled' })
		await closeWith(undefined)
		expect(await links()).toMatchObject([{ status: 'closed' }])
		expect(session()).toBe('open')
	})
})
