// The properties of HubSpot's companies, each value of which is text.
import type { Stored } from './records.ts'

export interface Property {
	name: string
	label: string
	type: 'string' | 'number' | 'datetime' | 'enumeration'
	fieldType: string
	groupName?: string
	hasUniqueValue?: boolean
	modificationMetadata?: { readOnlyValue: boolean }
}

const text = (name: string, label: string): Property => ({ name, label, type: 'string', fieldType: 'text' })

const readOnly = (name: string, label: string, type: 'datetime' | 'number'): Property => ({
	name,
	label,
	type,
	fieldType: type === 'number' ? 'number' : 'date',
	modificationMetadata: { readOnlyValue: true },
})

export const companyProperties: readonly Property[] = [
	text('name', 'Company name'),
	text('domain', 'Company Domain Name'),
	text('phone', 'Phone Number'),
	text('address', 'Street Address'),
	text('address2', 'Street Address 2'),
	text('city', 'City'),
	text('state', 'State/Region'),
	text('zip', 'Postal Code'),
	text('country', 'Country/Region'),
	text('website', 'Website URL'),
	text('description', 'Description'),
	{ name: 'industry', label: 'Industry', type: 'enumeration', fieldType: 'select' },
	{ name: 'numberofemployees', label: 'Number of Employees', type: 'number', fieldType: 'number' },
	{ name: 'annualrevenue', label: 'Annual Revenue', type: 'number', fieldType: 'number' },
	{ ...text('remit_company_id', 'Remit company id'), hasUniqueValue: true },
	readOnly('createdate', 'Create Date', 'datetime'),
	readOnly('hs_lastmodifieddate', 'Last Modified Date', 'datetime'),
	readOnly('hs_object_id', 'Record ID', 'number'),
]

/** A property's value as HubSpot has it: text, or null without any. */
export function propertyOf({ id, createdAt, updatedAt, data }: Stored, name: string): string | null {
	if (name === 'hs_object_id') return id
	if (name === 'createdate') return new Date(createdAt).toISOString()
	if (name === 'hs_lastmodifieddate') return new Date(updatedAt).toISOString()
	const value = data[name]
	return value === undefined || value === null || value === '' ? null : String(value)
}

/** Those that were asked for; an unknown name is passed over. */
export function propertiesOf(
	company: Stored,
	asked: readonly string[],
	known: readonly Property[],
): Record<string, string | null> {
	const names = asked.filter((asked) => known.some(({ name }) => name === asked))
	return Object.fromEntries(names.map((name) => [name, propertyOf(company, name)]))
}
