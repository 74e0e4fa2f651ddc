// An invoice as a client expects it: for a company with an address, due in two weeks, with tax; sent as PDF by e-mail. Each call has a key
// of its own, made from the order: run twice for one order within a day, the program writes and sends one invoice.
import { ApiError, Remit } from '@remit/sdk'

const remit = new Remit()
const order = process.argv[2] ?? '1042'

const company = await remit.companies.create(
	{
		name: 'Acme GmbH',
		billingContactName: 'Ada Lovelace',
		billingAddressLine1: 'Unter den Linden 1',
		billingPostalCode: '10117',
		billingCity: 'Berlin',
		billingCountry: 'Germany',
		billingEmail: 'ada@acme.example',
		vatId: 'DE811907980',
	},
	{ idempotencyKey: `order-${order}-company` },
)

const inTwoWeeks = new Date(Date.now() + 14 * 86_400_000).toISOString().slice(0, 10)
const vat = [{ label: 'VAT', percent: '19' }]
const { id } = await remit.invoices.create(
	{
		companyId: company.id,
		currency: 'EUR',
		dueDate: inTwoWeeks,
		paymentTerms: 'Payable within 14 days without deduction.',
		lineItems: [
			{ description: 'Design workshop', quantity: '1.5', unitPriceCents: 90_000, taxes: vat },
			{ description: 'Travel', quantity: '1', unitPriceCents: 12_000, taxes: vat },
		],
	},
	{ idempotencyKey: `order-${order}-invoice` },
)

try {
	const mail = { to: 'ada@acme.example', message: 'Thank you for a good day in Berlin.' }
	await remit.invoices.send(id, mail, { idempotencyKey: `order-${order}-mail` })
} catch (error) {
	// Of all that can go wrong, this alone is not to be tried again without a look into the mailbox.
	if (error instanceof ApiError && error.code === 'email_outcome_unknown') console.error('The mail was perhaps sent.')
	throw error
}

const { invoiceNumber, status, currency, totalCents, taxCents } = await remit.invoices.get(id)
const money = (cents: number) => (cents / 100).toLocaleString('en', { style: 'currency', currency })
console.log(`${invoiceNumber} is ${status}: ${money(totalCents)}, of it ${money(taxCents)} tax.`)
