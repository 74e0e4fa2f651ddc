// The organization as its form has it: an account and origins as texts of their own, so that each can be wrong, and merged, by itself.
import type { OrganizationSettings, OrganizationSettingsUpdate } from '@remit/sdk'
import { accountName, routingName } from '../../generated/bank-labels.ts'
import { BankAccountInput, OrganizationSettingsUpdate as updateRules } from '../../generated/fields.ts'

/** What each field is called; the order is that of the page. */
export const labels = {
	name: 'Name',
	contactName: 'Contact person',
	email: 'E-mail',
	phone: 'Phone',
	addressLine1: 'Address',
	addressLine2: 'Address, second line',
	postalCode: 'Postal code',
	city: 'City',
	state: 'State',
	country: 'Country',
	vatId: 'VAT ID',
	taxId: 'Tax number',
	registration: 'Registered at',
	holder: 'Account holder',
	bankName: 'Bank',
	iban: 'IBAN',
	bic: 'BIC',
	accountNumber: 'Account number',
	routingNumber: 'Routing number',
	accentColor: 'Accent colour',
	invoiceNumberPrefix: 'Numbers begin with',
	invoiceNumberDigits: 'Digits of a number',
	numberOnIssue: 'A draft gets its number when it is issued',
	publishDrafts: 'A draft’s client link works, and it can be paid',
	paymentTerms: 'Payment terms',
	footer: 'Footer',
	language: 'Language of invoices',
	locale: 'Amounts and dates',
	timeZone: 'Time zone',
	defaultCurrency: 'Currency',
	taxRounding: 'Tax is rounded',
	hourlyRateCents: 'Hourly rate',
	timeRounding: 'Time on invoices',
	timeRoundingMinutes: 'Rounded to',
	connectReturnOrigins: 'Where connecting may lead back to',
} as const

/** What a bank calls them in the country of the address, as invoices do. */
export const bankLabels = ({ country, accountNumber }: { country?: string | null; accountNumber?: string | null }) => ({
	accountNumber: accountName(country, accountNumber) ?? labels.accountNumber,
	routingNumber: routingName(country) ?? labels.routingNumber,
})

const bankFields = ['holder', 'bankName', 'iban', 'bic', 'accountNumber', 'routingNumber'] as const
const numberFields = ['invoiceNumberDigits', 'timeRoundingMinutes'] as const

type BankField = (typeof bankFields)[number]
type NumberField = (typeof numberFields)[number]
type TextField = Exclude<keyof typeof labels, BankField | NumberField | 'connectReturnOrigins'>

export type Values = Pick<OrganizationSettings, TextField> &
	Record<BankField, string | null> &
	Record<NumberField, string> & {
		/** One on each line. */
		connectReturnOrigins: string | null
	}

/** But of the fields that the form holds as another type than the contract: numbers are chosen from a list, origins are lines. */
const { connectReturnOrigins: _, invoiceNumberDigits: _digits, timeRoundingMinutes: _minutes, ...asTheyAre } = updateRules
export const rules = { ...asTheyAre, ...BankAccountInput }

export function valuesOf(organization: OrganizationSettings): Values {
	const one = (name: keyof typeof labels) => {
		if (isBankField(name)) return organization.bankAccount?.[name] ?? null
		if (isNumberField(name)) return String(organization[name])
		if (name === 'connectReturnOrigins') return organization.connectReturnOrigins.join('\n') || null
		return organization[name]
	}
	return Object.fromEntries(Object.keys(labels).map((name) => [name, one(name as keyof typeof labels)])) as unknown as Values
}

const isBankField = (name: string): name is BankField => bankFields.some((field) => field === name)
const isNumberField = (name: string): name is NumberField => numberFields.some((field) => field === name)

/** The PATCH of what changed; an account is written as a whole. */
export function bodyOf(changed: Partial<Values>, all: Values): OrganizationSettingsUpdate {
	const body = Object.entries(changed).flatMap(([name, value]): [string, unknown][] => {
		if (isBankField(name)) return [['bankAccount', accountOf(all)]]
		if (isNumberField(name)) return [[name, Number(value)]]
		if (name === 'connectReturnOrigins') return [[name, (value as string | null)?.split(/\s+/).filter(Boolean) ?? []]]
		return [[name, value]]
	})
	return Object.fromEntries(body)
}

function accountOf(all: Values) {
	const account = { ...pick(all, bankFields), bic: all.bic?.replaceAll(/\s/g, '').toUpperCase() || null }
	return Object.values(account).every((value) => !value) ? null : account
}

const pick = <Name extends keyof Values>(values: Values, names: readonly Name[]) =>
	Object.fromEntries(names.map((name) => [name, values[name]])) as Pick<Values, Name>

/** The name in the form of a field of the contract, such as `iban` of `bankAccount.iban`. */
export const nameOf = (name: string): string => name.replace(/^bankAccount\./, '').replace(/^(connectReturnOrigins)\..*/, '$1')

/** The number of an invoice as it will look, such as `INV-0042`. */
export const numberLike = (prefix: string, digits: number, year: number): string =>
	prefix.replace('{year}', String(year)) + '42'.padStart(digits, '0')
