// Tracked time becomes an invoice: one line a task, in the deal's currency, for its company, with a page for the client.
import { writeFile } from 'node:fs/promises'
import { Remit, type TimeEntriesInvoice } from '@remit/sdk'

const remit = new Remit()

const company = await remit.companies.create({ name: 'Northwind Ltd', billingEmail: 'accounts@northwind.example' })
const deal = await remit.deals.create({
	name: 'Web shop relaunch',
	companyId: company.id,
	currency: 'EUR',
	hourlyRateCents: 11_000,
})
const day = (daysAgo: number, time: string) =>
	`${new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)}T${time}Z`
await remit.timeEntries.create({ dealId: deal.id, taskName: 'Checkout', startedAt: day(3, '09:00:00'), durationSeconds: 5_400 })
await remit.timeEntries.create({ dealId: deal.id, taskName: 'Checkout', startedAt: day(2, '13:00:00'), durationSeconds: 9_000 })
await remit.timeEntries.create({ dealId: deal.id, taskName: 'Search', startedAt: day(1, '10:00:00'), durationSeconds: 3_600 })

// What nobody has been charged for yet, of all pages.
const open = await remit.timeEntries.list({ dealId: deal.id, status: 'open' }).toArray({ limit: 1_000 })
const vat = await remit.taxRates.create({ name: 'VAT', percent: '19' })
const input: TimeEntriesInvoice = {
	dealId: deal.id,
	timeEntryIds: open.map(({ id }) => id),
	groupBy: 'task',
	taxRateId: vat.id,
	dueDate: Date.now() + 30 * 86_400_000,
}
const { totalCents } = await remit.invoices.previewFromTimeEntries(input)
console.log(`This will be ${(totalCents / 100).toFixed(2)} EUR.`)

const { id, invoiceNumber } = await remit.invoices.createFromTimeEntries(input)
const { url } = await remit.invoices.clientLink.create(id)
await writeFile(`${invoiceNumber}.pdf`, await remit.invoices.pdf(id))
console.log(`${invoiceNumber}.pdf is written, and the client sees it at ${url}`)
