// VAT identification numbers. Those of the European Union, the United Kingdom, Switzerland and Norway have check digits, which
// `stdnum` knows; but of Bulgaria and Czechia it refuses valid ones. Whether a number is registered is known to the authorities alone.
import { createRequire } from 'node:module'
import { fieldError } from './errors.ts'

/** The rule of each prefix, as a module of `stdnum`. Together they load in a fifth of a second, so each is loaded when it is asked. */
const rules = {
	AT: 'at/uid',
	BE: 'be/vat',
	CH: 'ch/uid',
	CY: 'cy/vat',
	DE: 'de/vat',
	DK: 'dk/cvr',
	EE: 'ee/kmkr',
	EL: 'gr/vat',
	ES: 'es/nif',
	FI: 'fi/alv',
	FR: 'fr/tva',
	GB: 'gb/vat',
	HR: 'hr/oib',
	HU: 'hu/anum',
	IE: 'ie/vat',
	IT: 'it/iva',
	LT: 'lt/pvm',
	LU: 'lu/tva',
	LV: 'lv/pvn',
	MT: 'mt/vat',
	NL: 'nl/btw',
	NO: 'no/mva',
	PL: 'pl/nip',
	PT: 'pt/nif',
	RO: 'ro/cif',
	SE: 'se/vat',
	SI: 'si/ddv',
	SK: 'sk/dph',
	// Northern Ireland has British numbers.
	XI: 'gb/vat',
} as const

type Prefix = keyof typeof rules

const require = createRequire(import.meta.url)

const isValid = (prefix: Prefix, number: string): boolean => require(`stdnum/lib/cjs/${rules[prefix]}`).validate(number).isValid

/** The number without blanks, dots and hyphens, in capitals; throws 422 when its check digits are wrong. */
export function requireVatId(written: string, pointer: string): string {
	const vatId = written.toUpperCase().replace(/[\s.-]/g, '')
	if (!/^[A-Z]{2}[A-Z0-9]{2,}$/.test(vatId))
		throw invalid(pointer, 'A VAT ID begins with the two letters of its country, such as DE or XI, and has letters and digits.')
	const [prefix, number] = split(vatId)
	if (prefix in rules && !isValid(prefix as Prefix, number))
		throw invalid(pointer, `${vatId} is not a valid VAT ID of ${countryOf(prefix)}: its length or its check digits are wrong.`)
	return vatId
}

const regions = new Intl.DisplayNames('en', { type: 'region' })
const others: Readonly<Record<string, string>> = { EL: 'Greece', XI: 'Northern Ireland' }
const countryOf = (prefix: string) => others[prefix] ?? regions.of(prefix)

/** Swiss numbers begin with CHE, and may end with the name of the tax in a language of the country. Greece has EL, and GR by mistake. */
function split(vatId: string): [prefix: string, number: string] {
	const prefix = vatId.slice(0, 2)
	if (prefix === 'CH') return ['CH', vatId.replace(/(MWST|TVA|IVA|TPV)$/, '')]
	return [prefix === 'GR' ? 'EL' : prefix, vatId.slice(2)]
}

const invalid = (pointer: string, detail: string) => fieldError('invalid_vat_id', pointer, detail)
