import type {
	CompanyCreate,
	ContactCreate,
	InvoiceInput,
	InvoiceStatus,
	LineItemInput,
	TaxRateCreate,
	TimeEntryCreate,
} from '../../generated/contract.ts'

export interface DemoInvoice extends InvoiceInput {
	readonly status: InvoiceStatus
	/** How many days before the demo is created the invoice was written. */
	readonly daysAgo: number
	readonly dueInDays?: number
}

export interface DemoTime extends Pick<TimeEntryCreate, 'taskName' | 'description' | 'hourlyRateCents' | 'billable'> {
	readonly daysAgo: number
	/** In UTC. */
	readonly startHour: number
	readonly hours: number
}

export interface DemoDeal {
	readonly name: string
	readonly stage: string
	readonly currency: string
	readonly valueCents: number
	readonly hourlyRateCents: number
	readonly invoices: readonly DemoInvoice[]
	readonly time?: readonly DemoTime[]
}

interface DemoClient {
	readonly company: CompanyCreate
	readonly contact: ContactCreate
	readonly deals: readonly DemoDeal[]
}

export const agency = {
	name: 'Northlight Studio',
	contactName: 'Mara Lindqvist',
	addressLine1: 'Lindenallee 7',
	postalCode: '10115',
	city: 'Berlin',
	country: 'Germany',
	email: 'hello@northlight.example',
	phone: '+49 30 5550170',
	vatId: 'DE136695976',
	registration: 'HRB 123456 B, Amtsgericht Charlottenburg',
	bankAccount: { bankName: 'Musterbank', iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' },
	timeZone: 'Europe/Berlin',
	locale: 'en-GB',
	defaultCurrency: 'EUR',
	hourlyRateCents: 11_000,
	paymentTerms: 'Payable within 30 days without deduction.',
}

export const vatRate: TaxRateCreate = { name: 'Germany, standard', label: 'VAT', percent: '19', isDefault: true }

const vat = { taxRate: 19, taxLabel: 'VAT' }
const line = (description: string, quantity: string, unit: string, unitPriceCents: number): LineItemInput => ({
	description,
	quantity,
	unit,
	unitPriceCents,
})

const worked = (daysAgo: number, startHour: number, hours: number, taskName: string, description: string): DemoTime => ({
	daysAgo,
	startHour,
	hours,
	taskName,
	description,
})

/** Who works at the agency. None of them can sign in: whoever opens the set-up page becomes one more. */
export const people = [
	{ name: 'Mara Lindqvist', email: 'mara@northlight.example', role: 'admin' },
	{ name: 'Tomasz Wrona', email: 'tomasz@northlight.example', role: 'manager' },
	{ name: 'Leila Haidari', email: 'leila@northlight.example', role: 'member' },
] as const

/** A year of monthly invoices, the oldest first, with the hours that were worked beside the fixed price. */
const extraHours = [2, 6, 4, 9, 3, 12, 7, 15, 5, 11, 8, 14]
const retainers = extraHours.map((hours, month): DemoInvoice => {
	const lineItems = [line('Website care, one month', '1', 'month', 145_000), line('Small changes', `${hours}`, 'h', 11_000)]
	return { status: 'paid', daysAgo: 30 * (extraHours.length - month), ...vat, paymentMethod: 'bank transfer', lineItems }
})

export const clients: readonly DemoClient[] = [
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
		contact: { name: 'Jana Vogel', email: 'jana@acme.example', phone: '+49 30 901821' },
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
						lineItems: [line('Discovery workshop', '2', 'day', 118_000), line('Interface audit', '14.5', 'h', 11_000)],
					},
					{
						...vat,
						status: 'overdue',
						daysAgo: 48,
						lineItems: [
							line('Design system', '62', 'h', 11_000),
							{ ...line('Loyalty discount', '1', 'item', -25_000), kind: 'discount' },
						],
					},
					{ ...vat, status: 'sent', daysAgo: 9, lineItems: [line('Checkout, first iteration', '71.25', 'h', 11_000)] },
				],
				time: [
					worked(20, 8, 3.5, 'Checkout', 'Address form, with look-up'),
					worked(19, 8, 4.25, 'Checkout', 'Payment methods'),
					worked(19, 13, 1.5, 'Search', 'Facets: sketches'),
					worked(18, 9, 5, 'Search', 'Facets: prototype and test with five customers'),
					{ ...worked(17, 9, 2, 'Review', 'Review by a senior designer'), hourlyRateCents: 14_000 },
					worked(2, 8, 3, 'Checkout', 'Error states'),
					{ ...worked(1, 14, 0.5, 'Team', 'Weekly call'), billable: false },
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
		contact: { name: 'Søren Østergaard', email: 'soren@ostergaard.example' },
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
						lineItems: [line('Logotype and wordmark', '1', 'item', 6_500_000), line('Guidelines', '24', 'h', 95_000)],
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
		contact: { name: '佐藤 結衣', email: 'sato@koen.example' },
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
							line('Console, sprint 1', '80', 'h', 16_000),
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
		contact: { name: 'Noor Haddad', email: 'noor@harborpine.example' },
		deals: [
			{
				name: 'Reading app',
				stage: 'proposal',
				currency: 'USD',
				valueCents: 2_400_000,
				hourlyRateCents: 12_500,
				invoices: [{ status: 'draft', daysAgo: 1, lineItems: [line('Prototype', '30', 'h', 12_500)], notes: 'For approval.' }],
			},
		],
	},
	{
		company: {
			name: 'Feldmann Architekten',
			domain: 'feldmann.example',
			phone: '+49 40 5550123',
			billingAddressLine1: 'Elbchaussee 12',
			billingPostalCode: '22765',
			billingCity: 'Hamburg',
			billingCountry: 'Germany',
			billingEmail: 'buero@feldmann.example',
		},
		contact: { name: 'Ruth Feldmann', email: 'ruth@feldmann.example' },
		deals: [
			{
				name: 'Website care',
				stage: 'won',
				currency: 'EUR',
				valueCents: 2_400_000,
				hourlyRateCents: 11_000,
				invoices: retainers,
			},
		],
	},
]
