import type { MappingCreate } from '../../../generated/contract.ts'
import { currencyCodes } from '../../../platform/base/currencies.ts'

const address: readonly (readonly [company: string, line: string])[] = [
	['billingAddressLine1', 'line1'],
	['billingAddressLine2', 'line2'],
	['billingCity', 'city'],
	['billingState', 'state'],
	['billingPostalCode', 'postal_code'],
	['billingCountry', 'country'],
]

/** Stripe counts these in other units than ISO 4217 does: an amount would be wrong by two places. https://docs.stripe.com/currencies */
const counted = ['ISK', 'MGA', 'UGX']

const values = Object.fromEntries(
	currencyCodes.filter((code) => !counted.includes(code)).map((code) => [code.toLowerCase(), code]),
)

export const stripeMappings: readonly MappingCreate[] = [
	{
		name: 'Stripe customers to Remit',
		source: { system: 'stripe', object: 'customers' },
		target: { system: 'internal', object: 'company' },
		fields: [
			{ target: 'name', source: 'name', transforms: [{ name: 'coalesce', paths: ['email'] }], required: true },
			{ target: 'billingEmail', source: 'email' },
			{ target: 'phone', source: 'phone' },
			...address.map(([target, line]) => ({ target, source: `address.${line}` })),
		],
		match: { keys: ['billingEmail'], onMultiple: 'conflict' },
		status: 'active',
	},
	{
		name: 'Companies to Stripe customers',
		source: { system: 'internal', object: 'company' },
		target: { system: 'stripe', object: 'customers' },
		fields: [
			{ target: 'name', source: 'name' },
			{ target: 'email', source: 'billingEmail' },
			{ target: 'phone', source: 'phone' },
			...address.map(([source, line]) => ({ target: `address.${line}`, source })),
		],
		status: 'active',
	},
	{
		name: 'Stripe invoices to Remit',
		source: { system: 'stripe', object: 'invoices' },
		target: { system: 'internal', object: 'invoice' },
		fields: [
			{ target: 'companyId', source: 'customer', transforms: [{ name: 'lookupLink', object: 'customers' }] },
			{ target: 'invoiceNumber', source: 'number' },
			{
				target: 'status',
				source: 'status',
				transforms: [
					{
						name: 'enumMap',
						values: { draft: 'draft', open: 'sent', uncollectible: 'sent', paid: 'paid', void: 'cancelled' },
					},
				],
			},
			{ target: 'currency', source: 'currency', transforms: [{ name: 'enumMap', values }], required: true },
			{
				target: 'issuedDate',
				source: 'status_transitions.finalized_at',
				transforms: [{ name: 'parseDate', format: 'unix_seconds' }],
			},
			{ target: 'dueDate', source: 'due_date', transforms: [{ name: 'parseDate', format: 'unix_seconds' }] },
			{
				target: 'paidDate',
				source: 'status_transitions.paid_at',
				transforms: [{ name: 'parseDate', format: 'unix_seconds' }],
			},
			// Minor units already.
			{
				target: 'subtotalCents',
				source: 'total_excluding_tax',
				transforms: [{ name: 'coalesce', paths: ['subtotal'] }, { name: 'toInteger' }],
			},
			{
				target: 'taxCents',
				source: 'total_taxes[0].amount',
				transforms: [{ name: 'coalesce', paths: ['tax'] }, { name: 'toInteger' }],
				default: 0,
			},
			{ target: 'totalCents', source: 'total', transforms: [{ name: 'toInteger' }], required: true },
		],
		match: { keys: ['invoiceNumber'], onMultiple: 'conflict' },
		status: 'active',
	},
]
