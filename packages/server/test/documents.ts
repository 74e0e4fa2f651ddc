// Presented invoices for the tests of rendering: their amounts add up, and each shows something that the others do not.
import type { DocumentLabels, DocumentPassage, InvoiceDocument } from '../src/generated/contract.ts'

/** Notes and payment terms as a document has them. */
export const passages = ({ notes, terms }: { notes?: string; terms?: string }): DocumentPassage[] => [
	...(notes === undefined ? [] : [{ title: 'Notes', text: notes }]),
	...(terms === undefined ? [] : [{ title: 'Payment terms', text: terms }]),
]

/** The headings of English documents. */
export const labels: DocumentLabels = {
	billedTo: 'Billed to',
	description: 'Description',
	quantity: 'Quantity',
	unitPrice: 'Unit price',
	discount: 'Discount',
	tax: 'Tax',
	amount: 'Amount',
}

/** To be paid, with rates and a timesheet. */
export const openInvoice: InvoiceDocument = {
	language: 'en',
	locale: 'en-IE',
	title: 'Invoice',
	number: 'INV-0042',
	status: { key: 'sent', label: 'Open' },
	seller: ['Nordlicht Studio GmbH', 'Große Elbstraße 68', '22767 Hamburg', 'Germany', 'VAT ID DE 811 907 980'],
	buyer: ['Okafor & Daughters Ltd', 'Ada Okafor', '14 Merrion Square', 'Dublin D02 X658', 'Ireland'],
	facts: [
		{ label: 'Issued', value: '15 Nov 2026' },
		{ label: 'Due', value: '15 Dec 2026' },
		{ label: 'Reference', value: 'PO 4500017' },
	],
	labels,
	columns: { discount: false, tax: false },
	lines: [
		line('Interface design\nCheckout, October 2026', '6 hour', '€125.00', '€750.00'),
		line('Accessibility audit', '4 hour', '€150.00', '€600.00'),
		line('Both as agreed in our call of 2 October', '', '', ''),
	],
	totals: [
		{ label: 'Subtotal', value: '€1,350.00', kind: 'plain' },
		{ label: 'VAT 19% on €1,350.00', value: '€256.50', kind: 'plain' },
		{ label: 'Total', value: '€1,606.50', kind: 'total' },
		{ label: 'Amount due', value: '€1,606.50', kind: 'due' },
	],
	due: '€1,606.50',
	passages: passages({
		notes: 'Thank you for your trust.\nThe design files are in the shared folder.',
		terms: 'Payable within 30 days without deduction.',
	}),
	footer: null,
	viewUrl: 'https://billing.example/view/invoice/token',
	paymentUrl: 'https://billing.example/view/invoice/token',
	rates: {
		title: 'Hours by rate',
		columns: [number('Rate'), number('Hours'), number('Amount')],
		rows: [
			['€125.00', '6.00', '€750.00'],
			['€150.00', '4.00', '€600.00'],
		],
		sum: ['Total', '10.00', '€1,350.00'],
	},
	timesheet: {
		title: 'Timesheet',
		columns: [column('Date'), column('Task'), column('Description'), number('Hours')],
		rows: [
			['5 Oct 2026', 'Interface design', 'Basket and address', '4.00'],
			['6 Oct 2026', 'Interface design', '', '2.00'],
			['8 Oct 2026', 'Accessibility audit', 'Checkout with keyboard and screen reader, on a phone and on a desktop', '4.00'],
		],
		sum: ['Total', '', '', '10.00'],
	},
}

const plain: InvoiceDocument = { ...openInvoice, rates: null, timesheet: null, passages: [] }

/** Paid in part and late, with discounts, taxes by line and a credit. */
export const overdueInvoice: InvoiceDocument = {
	...plain,
	language: 'en',
	locale: 'en-US',
	number: '2026-0107',
	status: { key: 'overdue', label: 'Overdue' },
	seller: ['Maple Street Photography', '210 Maple Street', 'Rochester, NY 14623', 'USA'],
	buyer: ['Blue Heron Catering', '8 Harbor Road', 'Sodus Point, NY 14555'],
	facts: [
		{ label: 'Issued', value: 'Oct 1, 2026' },
		{ label: 'Due', value: 'Oct 31, 2026' },
	],
	columns: { discount: true, tax: true },
	lines: [
		{ ...line('Menu and team photographs', '12 hour', '$150.00', '$1,620.00'), discount: '-10%', tax: 'Sales tax 8%' },
		{ ...line('Stock photographs', '3 piece', '$40.00', '$120.00'), tax: 'Sales tax 8%' },
		line('Credit for invoice 2026-0098', '1', '-$200.00', '-$200.00'),
	],
	totals: [
		{ label: 'Subtotal', value: '$1,540.00', kind: 'plain' },
		{ label: 'Sales tax 8% on $1,740.00', value: '$139.20', kind: 'plain' },
		{ label: 'Total', value: '$1,679.20', kind: 'total' },
		{ label: 'Amount paid', value: '$500.00', kind: 'plain' },
		{ label: 'Amount due', value: '$1,179.20', kind: 'due' },
	],
	due: '$1,179.20',
	passages: passages({ terms: 'Late payments bear interest of 1% per month.' }),
}

export const paidInvoice: InvoiceDocument = {
	...plain,
	language: 'en',
	locale: 'en-GB',
	number: 'INV-0040',
	status: { key: 'paid', label: 'Paid' },
	facts: [
		{ label: 'Issued', value: '15 Oct 2026' },
		{ label: 'Due', value: '14 Nov 2026' },
		{ label: 'Paid', value: '3 Nov 2026' },
		{ label: 'Paid by', value: 'Bank transfer' },
	],
	lines: [line('Brand guidelines', '1 piece', '£480.00', '£480.00')],
	totals: [
		{ label: 'Subtotal', value: '£480.00', kind: 'plain' },
		{ label: 'VAT 20% on £480.00', value: '£96.00', kind: 'plain' },
		{ label: 'Total', value: '£576.00', kind: 'total' },
		{ label: 'Amount paid', value: '£576.00', kind: 'plain' },
		{ label: 'Amount due', value: '£0.00', kind: 'due' },
	],
	due: null,
	paymentUrl: null,
}

/** Without a buyer, and with totals only. */
export const cancelledInvoice: InvoiceDocument = {
	...plain,
	number: 'INV-0039',
	status: { key: 'cancelled', label: 'Cancelled' },
	buyer: [],
	facts: [{ label: 'Issued', value: '1 Oct 2026' }],
	lines: [],
	totals: [
		{ label: 'Subtotal', value: '€300.00', kind: 'plain' },
		{ label: 'Total', value: '€300.00', kind: 'total' },
	],
	due: null,
	paymentUrl: null,
}

function line(description: string, quantity: string, unitPrice: string, amount: string): InvoiceDocument['lines'][number] {
	return { description, quantity, unitPrice, discount: '', tax: '', amount }
}

function column(label: string) {
	return { label, numeric: false }
}

function number(label: string) {
	return { label, numeric: true }
}
