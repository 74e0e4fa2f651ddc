import type { MappingCreate, MappingField } from '../../../generated/contract.ts'

const contacts = { system: 'xero', object: 'contacts' }
const invoices = { system: 'xero', object: 'invoices' }
const company = { system: 'internal', object: 'company' }
const invoice = { system: 'internal', object: 'invoice' }

/** Of the address to which Xero sends invoices. */
const address: readonly (readonly [company: string, line: string])[] = [
	['billingAddressLine1', 'AddressLine1'],
	['billingAddressLine2', 'AddressLine2'],
	['billingCity', 'City'],
	['billingState', 'Region'],
	['billingPostalCode', 'PostalCode'],
	['billingCountry', 'Country'],
]

const amount = (target: string, source: string): MappingField => ({
	target,
	source,
	transforms: [{ name: 'toCents', currencyPath: 'CurrencyCode' }],
})

const day = (target: string, source: string): MappingField => ({
	target,
	source,
	transforms: [{ name: 'parseDate', format: 'xero' }],
})

const inbound: readonly MappingCreate[] = [
	{
		name: 'Xero contacts to Remit',
		...{ source: contacts, target: company },
		fields: [
			{ target: 'name', source: 'Name', required: true },
			{ target: 'billingEmail', source: 'EmailAddress' },
			{ target: 'taxId', source: 'TaxNumber' },
			{ target: 'phone', source: 'Phones[PhoneType=DEFAULT].PhoneNumber' },
			...address.map(([target, line]) => ({ target, source: `Addresses[AddressType=POBOX].${line}` })),
		],
		match: { keys: ['name'], onMultiple: 'conflict' },
		status: 'active',
	},
	{
		name: 'Xero invoices to Remit',
		...{ source: invoices, target: invoice },
		fields: [
			{ target: 'companyId', source: 'Contact.ContactID', transforms: [{ name: 'lookupLink', object: 'contacts' }] },
			{ target: 'invoiceNumber', source: 'InvoiceNumber' },
			{
				target: 'status',
				source: 'Status',
				transforms: [
					{
						name: 'enumMap',
						values: {
							DRAFT: 'draft',
							SUBMITTED: 'draft',
							AUTHORISED: 'sent',
							PAID: 'paid',
							VOIDED: 'cancelled',
							DELETED: 'cancelled',
						},
					},
				],
			},
			{ target: 'currency', source: 'CurrencyCode', required: true },
			day('issuedDate', 'Date'),
			day('dueDate', 'DueDate'),
			day('paidDate', 'FullyPaidOnDate'),
			amount('subtotalCents', 'SubTotal'),
			amount('taxCents', 'TotalTax'),
			amount('totalCents', 'Total'),
		],
		match: { keys: ['invoiceNumber'], onMultiple: 'conflict' },
		status: 'active',
	},
]

/** Xero takes amounts as numbers, which have all their decimal places in JSON. */
const decimal = (target: string, source: string): MappingField => ({
	target,
	source,
	transforms: [{ name: 'fromCents', currencyPath: 'currency' }, { name: 'toNumber' }],
})

const outbound: readonly MappingCreate[] = [
	{
		name: 'Companies to Xero contacts',
		...{ source: company, target: contacts },
		fields: [
			{ target: 'Name', source: 'name' },
			{ target: 'EmailAddress', source: 'billingEmail' },
			{ target: 'TaxNumber', source: 'taxId' },
			{ target: 'Phones[0].PhoneType', constant: 'DEFAULT' },
			{ target: 'Phones[0].PhoneNumber', source: 'phone' },
			{ target: 'Addresses[0].AddressType', constant: 'POBOX' },
			...address.map(([source, line]) => ({ target: `Addresses[0].${line}`, source })),
		],
		status: 'active',
	},
	{
		// One line with the sums: what a line of Xero is booked on, Remit does not know. Without a status it is a draft, and stays what it is.
		name: 'Invoices to Xero',
		...{ source: invoice, target: invoices },
		fields: [
			{ target: 'Type', constant: 'ACCREC' },
			{
				target: 'Contact.ContactID',
				source: 'companyId',
				transforms: [{ name: 'lookupLink', object: 'contacts' }],
				required: true,
			},
			{ target: 'InvoiceNumber', source: 'invoiceNumber' },
			{ target: 'Date', source: 'issuedDate', transforms: [{ name: 'formatDate', format: 'day' }] },
			{ target: 'DueDate', source: 'dueDate', transforms: [{ name: 'formatDate', format: 'day' }] },
			{ target: 'CurrencyCode', source: 'currency' },
			{ target: 'LineAmountTypes', constant: 'Exclusive' },
			{ target: 'LineItems[0].Description', template: 'Invoice {invoiceNumber}' },
			{ target: 'LineItems[0].Quantity', constant: 1 },
			decimal('LineItems[0].UnitAmount', 'subtotalCents'),
			decimal('LineItems[0].TaxAmount', 'taxCents'),
		],
		status: 'active',
	},
]

export const xeroMappings: readonly MappingCreate[] = [...inbound, ...outbound]
