import type { DateFormat, FieldTransform, TransformName } from '@remit/sdk'
import { words } from '../format/names.ts'

export type Parameter = Exclude<keyof FieldTransform, 'name'>

interface Transform {
	readonly label: string
	readonly parameters: readonly Parameter[]
}

const plain = (label: string): Transform => ({ label, parameters: [] })

/** Those that a person may choose, with what each is told besides; another one, of a newer server, is shown and kept. */
export const transforms: Readonly<Record<string, Transform>> = {
	trim: plain('Trim blanks'),
	lower: plain('Lower case'),
	upper: plain('Upper case'),
	toString: plain('As text'),
	toInteger: plain('As whole number'),
	toNumber: plain('As number'),
	toBoolean: plain('As yes or no'),
	parseDate: { label: 'Read a date', parameters: ['format'] },
	formatDate: { label: 'Write a date', parameters: ['format'] },
	toCents: { label: 'Decimal amount to minor units', parameters: ['currency', 'currencyPath'] },
	fromCents: { label: 'Minor units to decimal amount', parameters: ['currency', 'currencyPath'] },
	enumMap: { label: 'Replace values', parameters: ['values', 'otherwise'] },
	concat: { label: 'Join with other fields', parameters: ['paths', 'separator'] },
	split: { label: 'Split', parameters: ['separator', 'index'] },
	coalesce: { label: 'First that is not empty', parameters: ['paths'] },
	domainFromUrl: plain('Domain of URL'),
	countryCode: plain('Country code'),
	truncate: { label: 'Cut to a length', parameters: ['length'] },
	lookupLink: { label: 'Id of the linked record', parameters: ['object'] },
} satisfies Record<TransformName, Transform>

export const dateFormats: Readonly<Record<DateFormat, string>> = {
	iso: '2026-03-31T10:00:00Z',
	day: '2026-03-31',
	dmy: '31/03/2026',
	mdy: '03/31/2026',
	dmy_dots: '31.03.2026',
	unix_seconds: 'Seconds since 1970',
	unix_milliseconds: 'Milliseconds since 1970',
	xero: '/Date(1774915200000+0000)/',
}

/** `Cut to a length (length: 20)`: the parameters stand behind the name. */
export function showTransform({ name, ...parameters }: FieldTransform): string {
	const label = transforms[name]?.label ?? words(name)
	const given = Object.entries(parameters).map(
		([key, value]) => `${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`,
	)
	return given.length > 0 ? `${label} (${given.join(', ')})` : label
}
