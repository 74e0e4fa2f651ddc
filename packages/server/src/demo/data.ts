import type { CompanyCreate, InvoiceInput, InvoiceStatus, LineItemInput } from '../generated/contract.ts'

export interface DemoInvoice extends InvoiceInput {
	readonly status: InvoiceStatus
	/** When it was written, counted back from the first start. */
	readonly daysAgo: number
	readonly dueInDays?: number
}

interface DemoDeal {
	readonly name: string
	readonly stage: string
	readonly currency: string
	readonly valueCents: number
	readonly hourlyRateCents: number
	readonly invoices: readonly DemoInvoice[]
}

const vat = { taxRate: 19, taxLabel: 'VAT', paymentTerms: 'Payable within 30 days without deduction.' }
const line = (description: string, quantity: string, unit: string, unitPriceCents: number): LineItemInput => ({
	description,
	quantity,
	unit,
	unitPriceCents,
})

export const clients: readonly { company: CompanyCreate; deals: readonly DemoDeal[] }[] = [
	{
		company: {
			name: 'Acme GmbH',
			domain: 'acme.example',
			phone: '+49 30 901820',
			billingContactName: 'Jana Vogel',
			billingAddressLine1: 'Köpenicker Straße 40',
			billingCity: 'Berlin',
			billingPostalCode: '10179',
			billingCountry: 'Germany',
			billingEmail: 'billing@acme.example',
		},
		deals: [
			{
				name: 'Web shop relaunch',
				stage: 'in_progress',
				currency: 'EUR',
				valueCents: 4_800_000,
				hourlyRateCents: 11_000,
				invoices: [
					{
						...vat,
						status: 'paid',
						daysAgo: 95,
						paymentMethod: 'bank transfer',
						paymentReference: 'RF18539007547034',
						lineItems: [line('Discovery workshop', '2', 'day', 118_000), line('Interface audit', '14.5', 'hour', 11_000)],
					},
					{
						...vat,
						status: 'overdue',
						daysAgo: 48,
						lineItems: [
							line('Design system', '62', 'hour', 11_000),
							{ ...line('Loyalty discount', '1', 'item', -25_000), kind: 'discount' },
						],
					},
					{ ...vat, status: 'sent', daysAgo: 9, lineItems: [line('Checkout, first iteration', '71.25', 'hour', 11_000)] },
				],
			},
		],
	},
	{
		company: {
			name: 'Østergaard & Sønner',
			domain: 'ostergaard.example',
			billingCity: 'Aarhus',
			billingCountry: 'Denmark',
			billingEmail: 'faktura@ostergaard.example',
		},
		deals: [
			{
				name: 'Brand refresh',
				stage: 'invoiced',
				currency: 'DKK',
				valueCents: 18_000_000,
				hourlyRateCents: 95_000,
				invoices: [
					{
						status: 'sent',
						daysAgo: 14,
						taxRate: 25,
						taxLabel: 'Moms',
						lineItems: [line('Logotype and wordmark', '1', 'item', 6_500_000), line('Guidelines', '24', 'hour', 95_000)],
					},
					{
						status: 'cancelled',
						daysAgo: 60,
						taxRate: 25,
						taxLabel: 'Moms',
						lineItems: [line('Print templates', '1', 'item', 1_200_000)],
						notes: 'Cancelled: the client prints elsewhere.',
					},
				],
			},
		],
	},
	{
		company: {
			name: 'Kōen Robotics',
			domain: 'koen.example',
			billingContactName: '佐藤 結衣',
			billingCity: '東京',
			billingCountry: 'Japan',
			billingEmail: 'keiri@koen.example',
		},
		deals: [
			{
				name: 'Operator console',
				stage: 'won',
				currency: 'JPY',
				valueCents: 9_600_000,
				hourlyRateCents: 16_000,
				invoices: [
					{
						status: 'paid',
						daysAgo: 70,
						taxRate: 10,
						taxLabel: '消費税',
						paymentMethod: 'bank transfer',
						lineItems: [line('Field study in Osaka', '5', 'day', 128_000)],
					},
					{
						status: 'draft',
						daysAgo: 2,
						taxRate: 10,
						taxLabel: '消費税',
						lineItems: [
							line('Console, sprint 1', '80', 'hour', 16_000),
							{ kind: 'text', description: 'Sprint 2 follows in January.' },
						],
					},
				],
			},
		],
	},
	{
		company: {
			name: 'Harbor & Pine Books',
			domain: 'harborpine.example',
			phone: '+1 503 555 0134',
			billingCity: 'Portland',
			billingState: 'OR',
			billingPostalCode: '97209',
			billingCountry: 'United States',
			billingEmail: 'accounts@harborpine.example',
		},
		deals: [
			{
				name: 'Reading app',
				stage: 'proposal',
				currency: 'USD',
				valueCents: 2_400_000,
				hourlyRateCents: 12_500,
				invoices: [{ status: 'draft', daysAgo: 1, lineItems: [line('Prototype', '30', 'hour', 12_500)], notes: 'For approval.' }],
			},
		],
	},
]
