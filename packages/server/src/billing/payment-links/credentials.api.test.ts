// Organizations with an account of their own at Stripe: where their money goes, who may report it, and that keys stay secret.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Tenant } from '../../../test/harness.ts'
import { stripeSecret } from '../../../test/leaks.ts'
import {
	askForLink,
	createInvoice,
	linksOf,
	paymentsOf,
	post,
	readInvoice,
	type StripeServer,
	startWithStripe,
} from '../../../test/payments.ts'
import { query } from '../../platform/db/database.ts'

const path = '/api/organization/payment-credentials'
const keys = { secretKey: stripeSecret('rk_test'), webhookSecret: stripeSecret('whsec', 'OwnSecret0123456789') }
const completed = 'checkout.session.completed'

let server: StripeServer
let tenant: Tenant
beforeAll(async () => {
	server = await startWithStripe()
	server.stripe.otherKeys.push(keys.secretKey)
})
beforeEach(async () => {
	tenant = await server.newTenant()
})
afterAll(() => server.close())

const set = (who = tenant, body: object = keys) => who.ask('PUT', path, { body })
const read = async (who = tenant) => (await who.ask('GET', path)).body.data
/** Of the last link: an older one may be closed after it was made. */
const lastKey = () => server.stripe.requests.findLast(({ path }) => path === '/v1/checkout/sessions')?.headers.authorization
const ownWebhook = (who = tenant) => `${server.url}/payments/stripe/webhook/${who.organizationId}`

async function linkOf(who: Tenant) {
	const id = await createInvoice(who, { totalCents: 5_000, status: 'sent' })
	await askForLink(who, id)
	const [link] = await linksOf(server.db, who, id)
	if (!link) throw new Error('there is no link')
	server.stripe.complete(link.externalId)
	const report = (secret: string) => server.stripe.deliver(completed, link.externalId, server.clock.now, secret)
	return { id, link, report }
}

it('keys are kept sealed and are never shown again, but for their last four characters', async () => {
	expect(await read()).toMatchObject({ account: 'server', configured: false, secretKeyLastFour: null, updatedAt: null })
	expect((await set()).body).toEqual({ ok: true })
	expect(await read()).toEqual({
		account: 'organization',
		configured: true,
		secretKeyLastFour: '6789',
		webhookSecretLastFour: '6789',
		webhookUrl: ownWebhook(),
		updatedAt: server.clock.now,
	})
	const rows = await server.db.all(
		query<object, object>((knex) => knex('payment_credentials').select('*')),
		{},
	)
	expect(JSON.stringify(rows)).not.toMatch(/OwnAccount|OwnSecret/)
})

it('money goes to the organization’s own account from the next link on, and back to the server’s when its keys are deleted', async () => {
	const id = await createInvoice(tenant, { totalCents: 5_000 })
	await askForLink(tenant, id)
	expect(lastKey()).toBe(`Bearer ${server.stripe.secretKey}`)
	await set()
	await askForLink(tenant, id)
	expect(lastKey()).toBe(`Bearer ${keys.secretKey}`)
	expect((await linksOf(server.db, tenant, id)).map(({ processor, status }) => [processor, status]).sort()).toEqual([
		['stripe', expect.stringMatching(/^clos/)],
		['stripe:organization', 'live'],
	])
	expect((await tenant.ask('DELETE', path)).body).toEqual({ ok: true })
	expect((await askForLink(tenant, id)).status).toBe(200)
	expect(lastKey()).toBe(`Bearer ${server.stripe.secretKey}`)
	expect(await read()).toMatchObject({ account: 'server', configured: false })
})

it('a payment is reported at the organization’s address, with its own secret alone, once', async () => {
	await set()
	const { id, report } = await linkOf(tenant)
	expect(await post(ownWebhook(), report(server.stripe.webhookSecret))).toMatchObject({ status: 400 })
	expect(await post(`${server.url}/payments/stripe/webhook`, report(keys.webhookSecret))).toMatchObject({ status: 400 })
	expect(await readInvoice(tenant, id)).toMatchObject({ status: 'sent' })
	for (let time = 1; time <= 2; time++)
		expect(await post(ownWebhook(), report(keys.webhookSecret))).toMatchObject({ status: 200, body: { received: true } })
	expect(await readInvoice(tenant, id)).toMatchObject({ status: 'paid', paymentMethod: 'card' })
	expect(await paymentsOf(server.db, tenant.organizationId)).toMatchObject([
		{ outcome: 'applied', processor: 'stripe:organization' },
	])
})

it('an account cannot report payments of another organization, nor of links by the server’s account', async () => {
	const victim = await linkOf(server)
	await set()
	expect((await post(ownWebhook(), victim.report(keys.webhookSecret))).status).toBe(200)
	expect(await readInvoice(server, victim.id)).toMatchObject({ status: 'sent' })
	expect(await paymentsOf(server.db, server.organizationId)).toEqual([])

	const other = await server.newTenant()
	const before = await linkOf(other)
	await set(other)
	expect((await post(ownWebhook(other), before.report(keys.webhookSecret))).status).toBe(200)
	expect(await readInvoice(other, before.id)).toMatchObject({ status: 'sent' })
	expect(await paymentsOf(server.db, other.organizationId)).toMatchObject([{ outcome: 'unknown_link' }])
})

it('an address of an organization without keys is 404, and other methods than POST are 405', async () => {
	const webhook = server.stripe.deliver(completed, (await linkOf(tenant)).link.externalId, server.clock.now)
	for (const url of [
		ownWebhook(),
		`${server.url}/payments/stripe/webhook/org_unknown`,
		`${server.url}/payments/stripe/webhook/%ff`,
	])
		expect((await post(url, webhook)).status).toBeGreaterThanOrEqual(400)
	expect((await post(ownWebhook(), webhook)).status).toBe(404)
	expect((await post(ownWebhook(), webhook, 'PUT')).status).toBe(405)
})

it('without the fallback only organizations with keys of their own take payments', async () => {
	const other = await startWithStripe({ PAYMENT_FALLBACK: 'off' })
	other.stripe.otherKeys.push(keys.secretKey)
	const id = await createInvoice(other)
	expect(await askForLink(other, id)).toMatchObject({ status: 409, body: { code: 'payment_processor_not_configured' } })
	expect(await read(other)).toMatchObject({ account: 'none' })
	await set(other)
	expect((await askForLink(other, id)).status).toBe(200)
	expect(other.stripe.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${keys.secretKey}`])
	await other.close()
})

it('keys that are none are refused, and an unreadable set takes no money elsewhere', async () => {
	for (const body of [
		{},
		{ secretKey: stripeSecret('pk_test'), webhookSecret: keys.webhookSecret },
		{ ...keys, webhookSecret: 'x' },
	])
		expect((await set(tenant, body)).status).toBe(400)
	const other = await server.newTenant()
	await set(other)
	await set()
	const copy = query<{ from: string; to: string }>((knex, { from, to }) =>
		knex('payment_credentials')
			.where({ organizationId: to })
			.update({ sealed: knex('payment_credentials').where({ organizationId: from }).select('sealed') as never }),
	)
	await server.db.transaction((tx) => tx.run(copy, { from: other.organizationId, to: tenant.organizationId }))
	const id = await createInvoice(tenant)
	const asked = server.stripe.requests.length
	expect(await askForLink(tenant, id)).toMatchObject({ status: 502, body: { code: 'payment_processor_failed' } })
	expect(server.stripe.requests).toHaveLength(asked)
	expect((await tenant.ask('GET', `/api/invoices/${id}/pdf`)).status).toBe(200)
})
