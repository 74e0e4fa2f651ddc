// Ten calls of the packed SDK in whatever runtime this is, through a far end that fails twice; plain JavaScript, as every runtime takes it.
import {
	NotFoundError,
	PreconditionFailedError,
	Remit,
	signTestWebhook,
	verifyWebhook,
	WebhookVerificationError,
} from '@remit/sdk'

function check(what, found, expected) {
	if (JSON.stringify(found) !== JSON.stringify(expected))
		throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
}

const rejection = (promise) =>
	promise.then(
		() => undefined,
		(error) => error,
	)

export async function calls(options) {
	const remit = new Remit(options)
	const name = `Acme ${crypto.randomUUID().replaceAll('-', '')}`

	// The answer is lost after its effect: sent again with the same key, there is one company.
	const { id } = await remit.companies.create({ name, domain: 'acme.example' })
	check('companies with the name', (await remit.companies.list({ search: name }).toArray({ limit: 10 })).length, 1)
	const company = await remit.companies.get(id)
	check('a company', [company.name, company.version], [name, 1])
	check('an unchanged company', await remit.companies.get(id, { ifNoneMatch: 1 }), undefined)
	await remit.companies.update(id, { phone: '030' }, { ifMatch: 1 })
	const stale = await rejection(remit.companies.update(id, { phone: '031' }, { ifMatch: 1 }))
	check('a stale change', stale instanceof PreconditionFailedError && stale.code, 'version_mismatch')

	const line = { description: 'Workshop', quantity: '1.5', unitPriceCents: 90_000, taxes: [{ label: 'VAT', percent: '19' }] }
	// The far end answers 503 once.
	const invoice = await remit.invoices.create({ companyId: id, currency: 'EUR', lineItems: [line] })
	const { data, response } = await remit.invoices.get(invoice.id).withResponse()
	check('an invoice', [data.totalCents, response.headers.get('etag')], [160_650, '"1"'])
	const pdf = await remit.invoices.pdf(invoice.id)
	check('a PDF', new TextDecoder().decode(pdf.subarray(0, 5)), '%PDF-')
	const missing = await rejection(remit.invoices.get('inv_unknown'))
	check('an error', missing instanceof NotFoundError && [missing.code, missing.attempts], ['invoice_not_found', 1])
	check('the name of its class', missing.constructor.name, 'NotFoundError')

	const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
	const signed = await signTestWebhook({ id: 'evt_1', type: 'invoice.paid', data: { totalCents: 1 } }, secret)
	check('a webhook', (await verifyWebhook(signed.body, signed.headers, secret)).type, 'invoice.paid')
	const forged = await rejection(verifyWebhook(`${signed.body} `, signed.headers, secret))
	check('a forged webhook', forged instanceof WebhookVerificationError && forged.code, 'no_match')
	return 'ten calls'
}
